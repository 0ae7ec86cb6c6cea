/* Compiles the kernel, places buffers in device memory and runs it on one
 * engine or both. */
#include "tests/support/rig.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

void rig_open(rig *r)
{
    const char *base = getenv("TMPDIR");

    *r = (rig){.arena = arena_create(0), .n_shaves = 3, .n_threads = 1};
    r->both_engines = true;
    snprintf(r->dir, sizeof r->dir, "%.20s/rig-XXXXXX",
             base && *base && strlen(base) <= 20 ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(r->dir));
    ck_assert_msg(!mach_desc_load(NULL, r->arena, &r->desc, &r->err), "%s",
                  r->err.msg);
    ck_assert_msg(!memory_create(&r->desc, &r->mem, &r->err), "%s", r->err.msg);
}

void rig_heavy(rig *r)
{
    r->both_engines = getenv("VPU_BOTH") != NULL;
}

void rig_close(rig *r)
{
    unlink(arena_printf(r->arena, "%s/k.cl", r->dir));
    rmdir(r->dir);
    kernel_release(r->kernel);
    for (int k = 0; k < 2; k++)
        kernel_release(r->checked[k]);
    memory_destroy(r->mem);
    arena_destroy(r->arena);
}

static const kernel_compile_config plain = {
    .user = {.no_cache = true, .structures = true}, .hooks = &exec_hooks};

static const char *write_source(rig *r, const char *source)
{
    const char *path = arena_printf(r->arena, "%s/k.cl", r->dir);

    ck_assert_msg(!file_write(path, source, strlen(source), &r->err), "%s",
                  r->err.msg);
    return path;
}

static void forget_kernel(rig *r, const char *entry)
{
    kernel_release(r->kernel);
    r->kernel = NULL;
    for (int k = 0; k < 2; k++) {
        kernel_release(r->checked[k]);
        r->checked[k] = NULL;
    }
    r->entry = entry;
    r->n_values = 0;
}

vpu_status rig_try_compile(rig *r, const char *source, const char *entry)
{
    const kernel_source of = {.path = write_source(r, source), .entry = entry};

    forget_kernel(r, entry);
    return kernel_compile(&of, &plain, r->arena, &r->kernel, &r->err);
}

vpu_status rig_try_open_unit(rig *r, const char *source)
{
    return kernel_unit_open(write_source(r, source), &plain, r->arena, &r->unit,
                            &r->err);
}

vpu_status rig_try_unit_kernel(rig *r, const char *entry)
{
    forget_kernel(r, entry);
    return kernel_of_unit(r->unit, entry, &plain, r->arena, &r->kernel,
                          &r->err);
}

void rig_compile(rig *r, const char *source, const char *entry)
{
    vpu_status st = rig_try_compile(r, source, entry);

    ck_assert_msg(!st, "%s\n%s", r->err.msg, source);
}

static exec_value *next_value(rig *r)
{
    ck_assert_uint_lt(r->n_values, RIG_MAX_ARGS);
    r->values[r->n_values] = (exec_value){.as.bytes = 0};
    r->buffer_bytes[r->n_values] = 0;
    return &r->values[r->n_values++];
}

void *rig_buffer(rig *r, uint64_t bytes)
{
    exec_value *v = next_value(r);
    vpu_status st;

    st = memory_alloc(r->mem, arena_printf(r->arena, "arg%u", r->n_values - 1),
                      bytes, &v->as.address, &r->err);
    ck_assert_msg(!st, "%s", r->err.msg);
    r->buffer_bytes[r->n_values - 1] = bytes;
    return memory_window(r->mem) + v->as.address;
}

void rig_raw(rig *r, const void *v, uint32_t bytes)
{
    memcpy(next_value(r)->as.raw, v, bytes);
}

void rig_int(rig *r, int32_t v)
{
    rig_raw(r, &v, sizeof v);
}

void rig_float(rig *r, float v)
{
    rig_raw(r, &v, sizeof v);
}

void rig_local(rig *r, uint32_t bytes)
{
    next_value(r)->as.bytes = bytes;
}

/* All buffers' bytes one after the other; put back when given. */
static uint8_t *copy_buffers(rig *r, const uint8_t *back)
{
    uint64_t n = 0, at = 0;
    uint8_t *all;

    for (uint32_t k = 0; k < r->n_values; k++)
        n += r->buffer_bytes[k];
    all = malloc(n + 1);
    for (uint32_t k = 0; k < r->n_values; at += r->buffer_bytes[k++]) {
        uint8_t *p = memory_window(r->mem) + r->values[k].as.address;

        if (!r->buffer_bytes[k])
            continue;
        memcpy(all + at, p, r->buffer_bytes[k]);
        if (back)
            memcpy(p, back + at, r->buffer_bytes[k]);
    }
    return all;
}

static bool is_nan(const uint8_t *p, unsigned bytes)
{
    uint32_t v = 0;

    memcpy(&v, p, bytes);
    return bytes == 2 ? (v & 0x7fff) > 0x7c00 : (v & 0x7fffffff) > 0x7f800000;
}

/* A NaN is a NaN, whatever its payload: OpenCL leaves that open. */
static void same_buffer(const rig *r, uint32_t k, const uint8_t *compiled,
                        const uint8_t *interpreted)
{
    const char *type = r->kernel->args[k].type;
    unsigned step = !strncmp(type, "half", 4)    ? 2
                    : !strncmp(type, "float", 5) ? 4
                                                 : 0;

    for (uint64_t i = 0; i < r->buffer_bytes[k]; i++) {
        uint64_t e = step ? i / step * step : i;

        if (compiled[i] == interpreted[i] ||
            (step && is_nan(compiled + e, step) &&
             is_nan(interpreted + e, step)))
            continue;
        ck_abort_msg("%s: byte %llu of %s %s: compiled %02x, interpreted %02x",
                     r->who ? r->who : r->entry, (unsigned long long)i, type,
                     r->kernel->args[k].name, compiled[i], interpreted[i]);
    }
}

void rig_check_profile(const exec_profile *lines, const mach_profile *p,
                       uint32_t n_shaves)
{
    uint64_t loaded = 0, stored = 0;

    for (int c = 0; c < MACH_N_CAUSES; c++) {
        uint64_t rows = 0, shaves = 0;

        for (uint32_t k = 0; k < lines->n; k++)
            rows += lines->rows[k].cycles[c];
        for (uint32_t i = 0; i < n_shaves; i++)
            shaves += p->by_cause[i][c];
        ck_assert_msg(rows == shaves, "%s: %llu by line, %llu by SHAVE",
                      mach_cause_name((mach_cause)c), (unsigned long long)rows,
                      (unsigned long long)shaves);
    }
    for (uint32_t k = 0; k < lines->n; k++) {
        loaded += lines->rows[k].load_bytes;
        stored += lines->rows[k].store_bytes;
    }
    ck_assert_uint_eq(loaded, p->load_bytes);
    ck_assert_uint_eq(stored, p->store_bytes);
}

/* The same launch on the interpreter of the SHAVE program, counting by line:
 * the same bytes and the same cycles, and no cycle is lost. */
static void keep(void *user, const exec_profile *p)
{
    const rig_keeper *k = user;

    k->to->n = p->n;
    k->to->rows = arena_memdup(k->arena, p->rows, p->n * sizeof *p->rows);
}

exec_observer rig_profiler(rig_keeper *k)
{
    return (exec_observer){.name = "a profile",
                           .needs = EXEC_NEED_PROGRAM | EXEC_NEED_FLOWS,
                           .user = k,
                           .profile = keep};
}

static void interpret(rig *r, const exec_launch *l, const uint8_t *before)
{
    exec_launch twin = *l;
    exec_profile lines;
    rig_keeper keeper = {&lines, r->arena};
    const exec_observer observer = rig_profiler(&keeper);
    const exec_observer *const list = &observer;
    exec_result result;
    uint8_t *compiled = copy_buffers(r, before), *interpreted;
    vpu_error err = {0};
    uint64_t n = 0;
    vpu_status st;

    twin.how.engine = EXEC_INTERPRETED;
    twin.print = NULL;
    twin.observers = &list;
    twin.n_observers = 1;
    st = exec_run(r->mem, &r->desc, &twin, &result, &err);
    ck_assert_msg(!st, "interpreter: %s", err.msg);
    interpreted = copy_buffers(r, compiled);
    for (uint32_t k = 0; k < r->n_values; n += r->buffer_bytes[k++])
        same_buffer(r, k, compiled + n, interpreted + n);
    ck_assert_msg(r->result.profile.cycles == result.profile.cycles,
                  "%s: compiled %llu cycles, interpreted %llu",
                  r->who ? r->who : r->entry,
                  (unsigned long long)r->result.profile.cycles,
                  (unsigned long long)result.profile.cycles);
    ck_assert_uint_eq(r->result.profile.load_bytes, result.profile.load_bytes);
    ck_assert_uint_eq(r->result.profile.store_bytes,
                      result.profile.store_bytes);
    rig_check_profile(&lines, &result.profile, l->how.n_shaves);
    free(compiled);
    free(interpreted);
}

static void compile_checked(rig *r, bool taint)
{
    const kernel_source source = {
        .path = arena_printf(r->arena, "%s/k.cl", r->dir), .entry = r->entry};
    const sim_checking how = {.taint = taint, .nan = taint};
    kernel_compile_config cfg = {
        .user.structures = true, .checking = &how, .hooks = &check_hooks};
    vpu_error err = {0};

    if (!r->checked[taint])
        ck_assert_msg(
            !kernel_compile(&source, &cfg, r->arena, &r->checked[taint], &err),
            "for checking: %s", err.msg);
}

/* The same launch under the checkers. */
static void check(rig *r, const exec_launch *l, const uint8_t *before,
                  bool taint)
{
    exec_launch twin = *l;
    const check_config cfg = {.enabled =
                                  check_default() & ~CHECK_BIT(CHECK_HALF)};
    uint8_t *compiled = copy_buffers(r, before), *checked;
    size_t n_buffers = memory_count(r->mem), n_findings;
    const check_finding *f;
    check_session *s;
    vpu_error err = {0};
    uint64_t n = 0;
    vpu_status st;

    compile_checked(r, taint);
    twin.kernel = r->checked[taint];
    twin.print = NULL;
    ck_assert_msg(!check_open(r->mem, &cfg, &s, &err), "%s", err.msg);
    for (uint32_t k = 0; k < r->n_values; k++)
        if (r->buffer_bytes[k])
            check_buffer(s, r->kernel->args[k].name, k, r->values[k].as.address,
                         r->buffer_bytes[k], true);
    st = check_launch(s, &r->desc, &twin, 0, &err);
    /* Arrays kept in memory may be more than CMX holds. */
    ck_assert_msg(!st || st == VPU_ERR_LIMIT, "checked: %s", err.msg);
    checked = copy_buffers(r, compiled);
    for (uint32_t k = 0; k < r->n_values && !st; n += r->buffer_bytes[k++])
        same_buffer(r, k, compiled + n, checked + n);
    f = check_findings(s, &n_findings);
    ck_assert_msg(!r->clean || !n_findings, "line %u: %s: %s",
                  n_findings && f->by.at ? f->by.at->line : 0,
                  n_findings ? check_name(f->kind) : "",
                  n_findings ? f->text : "");
    check_close(s);
    memory_release(r->mem, n_buffers);
    free(compiled);
    free(checked);
}

vpu_status rig_run(rig *r, const uint32_t groups[3], const uint32_t local[3])
{
    exec_launch l = {.name = "test",
                     .kernel = r->kernel,
                     .values = r->values,
                     .offset = {r->offset[0], r->offset[1], r->offset[2]},
                     .work_dim = r->work_dim,
                     .how.n_shaves = r->n_shaves,
                     .how.n_threads = r->n_threads,
                     .how.order = r->order,
                     .how.seed = r->seed,
                     .how.max_cycles = r->max_cycles,
                     .how.timeout_s = r->timeout_s,
                     .how.overruns = r->overruns,
                     .log = r->log};
    const memory_buffer *hurt;
    uint32_t at;
    vpu_status st;

    bool checked = r->clean || (!r->overruns && getenv("VPU_CHECKED"));
    uint8_t *before = NULL;

    ck_assert_uint_eq(r->n_values, r->kernel->n_args);
    memcpy(l.groups, groups, sizeof l.groups);
    memcpy(l.local, local, sizeof l.local);
    if (r->both_engines || checked)
        before = copy_buffers(r, NULL);
    st = exec_run(r->mem, &r->desc, &l, &r->result, &r->err);
    if (!st && r->both_engines)
        interpret(r, &l, before);
    for (int taint = 0; taint < 2 && !st && checked; taint++)
        check(r, &l, before, taint);
    free(before);
    hurt = memory_check(r->mem, &at);
    ck_assert_msg(!hurt, "the kernel wrote beside %s", hurt ? hurt->name : "");
    return st;
}

void rig_run_3d(rig *r, const uint32_t groups[3], const uint32_t local[3])
{
    vpu_status st = rig_run(r, groups, local);

    ck_assert_msg(!st, "%s", r->err.msg);
}

void rig_run_1d(rig *r, uint32_t groups, uint32_t local)
{
    rig_run_3d(r, (uint32_t[]){groups, 1, 1}, (uint32_t[]){local, 1, 1});
}

uint32_t rig_noise(uint64_t n)
{
    uint64_t z = (n + 1) * 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (uint32_t)(z >> 32);
}
