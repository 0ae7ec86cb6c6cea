#include "tests/support/rig.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/file.h"

void rig_open(rig *r)
{
    const char *base = getenv("TMPDIR");

    *r = (rig){.a = arena_create(0), .n_shaves = 3, .n_threads = 1};
    snprintf(r->dir, sizeof r->dir, "%.20s/rig-XXXXXX",
             base && *base && strlen(base) <= 20 ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(r->dir));
    ck_assert_msg(!mach_desc_load(NULL, r->a, &r->desc, &r->err), "%s",
                  r->err.msg);
    ck_assert_msg(!memory_create(&r->desc, &r->mem, &r->err), "%s", r->err.msg);
}

void rig_close(rig *r)
{
    unlink(arena_printf(r->a, "%s/k.cl", r->dir));
    rmdir(r->dir);
    sim_kernel_release(r->kernel);
    memory_destroy(r->mem);
    arena_destroy(r->a);
}

vpu_status rig_try_compile(rig *r, const char *source, const char *entry)
{
    const char *path = arena_printf(r->a, "%s/k.cl", r->dir);
    sim_compile_config cfg = {.no_cache = true, .hooks = &exec_hooks};

    sim_kernel_release(r->kernel);
    r->kernel = NULL;
    r->n_values = 0;
    ck_assert_msg(!file_write(path, source, strlen(source), &r->err), "%s",
                  r->err.msg);
    return sim_kernel_compile(path, entry, &cfg, r->a, &r->kernel, &r->err);
}

void rig_compile(rig *r, const char *source, const char *entry)
{
    vpu_status st = rig_try_compile(r, source, entry);

    ck_assert_msg(!st, "%s\n%s", r->err.msg, source);
}

static exec_value *next_value(rig *r)
{
    ck_assert_uint_lt(r->n_values, RIG_MAX_ARGS);
    r->values[r->n_values] = (exec_value){.u.bytes = 0};
    return &r->values[r->n_values++];
}

void *rig_buffer(rig *r, uint64_t bytes)
{
    exec_value *v = next_value(r);
    vpu_status st;

    st = memory_alloc(r->mem, arena_printf(r->a, "arg%u", r->n_values - 1),
                      bytes, &v->u.address, &r->err);
    ck_assert_msg(!st, "%s", r->err.msg);
    return memory_window(r->mem) + v->u.address;
}

void rig_raw(rig *r, const void *v, uint32_t bytes)
{
    memcpy(next_value(r)->u.raw, v, bytes);
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
    next_value(r)->u.bytes = bytes;
}

vpu_status rig_run(rig *r, const uint32_t groups[3], const uint32_t local[3])
{
    exec_launch l = {.name = "test",
                     .kernel = r->kernel,
                     .values = r->values,
                     .n_shaves = r->n_shaves,
                     .n_threads = r->n_threads,
                     .order = r->order,
                     .seed = r->seed,
                     .max_cycles = r->max_cycles,
                     .timeout_s = r->timeout_s};
    const memory_buffer *hurt;
    uint32_t at;
    vpu_status st;

    ck_assert_uint_eq(r->n_values, r->kernel->n_args);
    memcpy(l.groups, groups, sizeof l.groups);
    memcpy(l.local, local, sizeof l.local);
    st = exec_run(r->mem, &r->desc, &l, &r->result, &r->err);
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
