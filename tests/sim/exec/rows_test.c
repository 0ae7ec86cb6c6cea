/* Many short groups: the fast ways (several groups with one call of compiled
 * code, groups that share a step, or are not looked up) against each group
 * alone, which it is where an observer looks at groups. Drawn kernels; outputs,
 * cycles and all that the launch counted are the same, on any number of
 * threads. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "tests/support/rig.h"

enum { KERNELS = 40, N = 1 << 15 };

static uint32_t state;

static uint32_t draw(uint32_t n)
{
    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)state * n >> 32);
}

static const char *pick(const char *const *list, uint32_t n)
{
    return list[draw(n)];
}
#define PICK(list) pick(list, sizeof(list) / sizeof *(list))

/* A place in a buffer of N elements. */
static void draw_index(str *out)
{
    static const char *const forms[] = {
        "g",        "g",        "g * 2u",   "g * 3u + 1u",      "g * 16u",
        "(g ^ 5u)", "(g >> 3)", "gid",      "(gid * 7u + lid)", "lid",
        "(~g)",     "17u",      "gid * 9u", "(g + (gid & 12u))"};

    str_printf(out, "(%s) & %uu", PICK(forms), N - 1);
}

/* An item's own element: no other item writes it. */
static void draw_statement(str *out, int k)
{
    static const char *const conditions[] = {
        "(gid & 3u) == 0u", "gid % 5u == 2u", "(in[(g * 3u) & 1023u] & 4) != 0",
        "lid == 0u",        "gid > 40u",      "(in[gid & 1023u] & 1) != 0"};

    static const char *const rounds[] = {"(gid & 3u)", "5u", "300u",
                                         "(gid >> 2 & 31u)", "(gid & 31u)"};

    switch (draw(5)) {
    case 0:
        str_printf(out, "    x += in[");
        draw_index(out);
        str_printf(out, "];\n");
        break;
    case 1:
        str_printf(out, "    if (%s) x = x * 3 + in[", PICK(conditions));
        draw_index(out);
        str_printf(out, "];\n");
        break;
    case 2:
        str_printf(out, "    if (%s) out[g + %uu] = x;\n", PICK(conditions),
                   (uint32_t)k * N);
        break;
    case 3:
        str_printf(out,
                   "    for (uint j = 0; j < %s; j++) x ^= in[(g * %uu + j) & "
                   "%uu] + (int)j;\n",
                   PICK(rounds), 1 + draw(20), N - 1);
        break;
    default:
        str_printf(out, "    out[g + %uu] = x ^ %u;\n", (uint32_t)k * N,
                   draw(100));
    }
}

enum { STATEMENTS = 6 };

static void draw_from(str *out, void (*draw_one)(str *out, int k))
{
    uint32_t n = 1 + draw(STATEMENTS - 1);

    str_printf(out, "__kernel void k(__global const int *in, __global int *out,"
                    " int n)\n"
                    "{\n"
                    "    uint g = get_global_id(0) + get_global_size(0) * "
                    "get_global_id(1);\n"
                    "    uint gid = get_group_id(0), lid = get_local_id(0);\n"
                    "    int x = (int)g + n;\n"
                    "    (void)lid; (void)gid;\n");
    for (uint32_t k = 0; k < n; k++)
        draw_one(out, (int)k);
    str_printf(out, "    out[g + %uu] = x;\n}\n", STATEMENTS * N - N);
}

static void draw_kernel(str *out)
{
    draw_from(out, draw_statement);
}

/* What all groups do alike, each so many bytes behind the one before it. */
static void draw_regular_index(str *out)
{
    static const char *const forms[] = {"g",
                                        "gid + lid",
                                        "gid * 3u + lid",
                                        "lid",
                                        "gid * 16u + 5u",
                                        "2000u * 3u - gid * 3u + lid",
                                        "17u",
                                        "gid * (uint)(n & 7)",
                                        "8000u - gid - lid",
                                        "gid << 2",
                                        "lid * gid",
                                        "20000u - gid * 9u",
                                        "9000u - gid * 2u"};

    str_printf(out, "(%s)", PICK(forms));
}

static void draw_regular_statement(str *out, int k)
{
    static const char *const conditions[] = {
        "lid == 0u", "(n & 1) == 0", "lid < (uint)n % 5u",
        "lid + 1u < get_local_size(0)", "get_num_groups(0) > 40u"};
    static const char *const choices[] = {"n & 3", "(int)lid", "n - (int)lid"};
    uint32_t kind = draw(6);

    if (kind == 5) {
        str_printf(out,
                   "    switch (%s) {\n"
                   "    case 0: case 2: x += in[g]; break;\n"
                   "    case 1: x ^= in[gid]; break;\n"
                   "    case 3: case 5: x += 7;\n"
                   "    case 4: x = out[g + %uu]; break;\n"
                   "    case 6: case 7: case 9: x -= in[lid];\n"
                   "    default: x++;\n"
                   "    }\n",
                   PICK(choices), (uint32_t)k * N);
        return;
    }
    if (kind >= 3)
        str_printf(out, "    if (%s)\n    ", PICK(conditions));
    if (kind % 3 == 2) {
        str_printf(out, "    out[g + %uu] = x;\n", (uint32_t)k * N);
    } else {
        str_puts(out, kind % 3 ? "    x ^= vload2(0, in + " : "    x += (in[");
        draw_regular_index(out);
        str_puts(out, kind % 3 ? ").y;\n" : "]);\n");
    }
}

static void draw_regular_kernel(str *out)
{
    draw_from(out, draw_regular_statement);
}

static void look(void *user, sim_wg *wg)
{
    (void)user, (void)wg;
}

static exec_launch launch_of(rig *r, const uint32_t groups[3], uint32_t local)
{
    exec_launch l = {.name = "test",
                     .kernel = r->kernel,
                     .values = r->values,
                     .local = {local, 1, 1},
                     .how.n_shaves = r->n_shaves,
                     .how.n_threads = r->n_threads,
                     .how.max_cycles = r->max_cycles};

    memcpy(l.groups, groups, sizeof l.groups);
    return l;
}

typedef struct {
    vpu_status st;
    exec_result result;
    vpu_error err;
    uint8_t *out;
    mach_record *record;
    char *trace; /* of runs with one */
    size_t n_trace;
} outcome;

static void forget(outcome *o)
{
    free(o->out);
    mach_record_free(o->record);
}

static outcome run_seen(rig *r, exec_launch l, exec_observer seen)
{
    const exec_observer *const list = &seen;
    uint8_t *out = memory_window(r->mem) + r->values[1].as.address;
    outcome o = {.record = seen.steps};

    l.observers = &list;
    l.n_observers = 1;
    memset(out, 0, r->buffer_bytes[1]);
    o.st = exec_run(r->mem, &r->desc, &l, &o.result, &o.err);
    o.out = malloc(r->buffer_bytes[1]);
    memcpy(o.out, out, r->buffer_bytes[1]);
    return o;
}

static exec_observer observer(bool alone)
{
    return (exec_observer){.name = "a look", .group_end = alone ? look : NULL};
}

static outcome run(rig *r, exec_launch l, bool alone)
{
    exec_observer seen = observer(alone);

    seen.steps = mach_record_create(UINT64_C(1) << 30);
    return run_seen(r, l, seen);
}

static outcome run_traced(rig *r, exec_launch l, bool alone)
{
    const trc_config cfg = {.level = TRC_FULL};
    const char *path = arena_printf(r->arena, "%s/trace", r->dir);
    exec_observer seen = observer(alone);
    outcome o;

    seen.needs = EXEC_TRACE_NEEDS;
    ck_assert(!trc_writer_create(&cfg, &seen.trace, &r->err));
    ck_assert(!trc_writer_add(seen.trace, TRC_PERFETTO, path, &r->err));
    o = run_seen(r, l, seen);
    ck_assert(!trc_writer_commit(seen.trace, &r->err));
    ck_assert(
        !file_read(path, SIZE_MAX, r->arena, &o.trace, &o.n_trace, &r->err));
    unlink(path);
    return o;
}

static void assert_same_steps(const mach_record *a, const mach_record *b,
                              uint32_t n_shaves)
{
    ck_assert(mach_record_complete(a) && mach_record_complete(b));
    for (uint32_t i = 0; i < n_shaves; i++) {
        mach_record_cursor ca = mach_record_steps(a, i),
                           cb = mach_record_steps(b, i);
        mach_step sa, sb;
        bool more;

        do {
            more = mach_record_next(&ca, &sa);
            ck_assert_int_eq(more, mach_record_next(&cb, &sb));
            ck_assert(!more || !memcmp(&sa, &sb, sizeof sa));
        } while (more);
    }
}

static void assert_same(const rig *r, const outcome *a, const outcome *b,
                        const char *source)
{
    ck_assert_int_eq(a->st, b->st);
    ck_assert_msg(!strcmp(a->err.msg, b->err.msg), "%s\n%s\n%s", a->err.msg,
                  b->err.msg, source);
    ck_assert_msg(a->result.profile.cycles == b->result.profile.cycles,
                  "%llu cycles, %llu:\n%s",
                  (unsigned long long)a->result.profile.cycles,
                  (unsigned long long)b->result.profile.cycles, source);
    ck_assert_mem_eq(&a->result.profile, &b->result.profile,
                     sizeof a->result.profile);
    ck_assert_uint_eq(a->result.fault_group, b->result.fault_group);
    ck_assert_uint_eq(a->result.n_groups, b->result.n_groups);
    if (!a->st && a->record)
        assert_same_steps(a->record, b->record, r->n_shaves);
    ck_assert_uint_eq(a->n_trace, b->n_trace);
    if (a->trace)
        ck_assert_mem_eq(a->trace, b->trace, a->n_trace);
    if (!a->st)
        ck_assert_msg(!memcmp(a->out, b->out, r->buffer_bytes[1]),
                      "other outputs:\n%s", source);
}

static void draw_machine(rig *r)
{
    static const char *const sets[] = {"wg_dispatch=0",  "wg_split=1",
                                       "l2_bytes=16384", "l1d_bytes=256",
                                       "ddr_eff_bw=1",   "store_buffer=1"};

    for (uint32_t k = draw(3); k; k--)
        ck_assert(!mach_desc_set(&r->desc, r->arena, PICK(sets), &r->err));
}

static void draw_groups(uint32_t groups[3], uint32_t local)
{
    groups[0] = 1 + draw(draw(2) ? 40 : 2000);
    if (groups[0] * local > N)
        groups[0] = N / local;
    groups[1] =
        1 + draw(N / local / groups[0] < 50 ? N / local / groups[0] : 50);
    groups[2] = 1;
}

/* Alone, and in rows on one to three threads. */
static void compare(rig *r, exec_launch l,
                    outcome (*how)(rig *r, exec_launch l, bool alone),
                    const str *source)
{
    outcome alone = how(r, l, true);

    ck_assert_msg(!alone.st, "%s", alone.err.msg);
    for (l.how.n_threads = 1; l.how.n_threads <= 3; l.how.n_threads++) {
        outcome o = how(r, l, false);

        assert_same(r, &alone, &o, str_text(source));
        forget(&o);
    }
    forget(&alone);
}

static void try_kernel(int i, void (*draw_it)(str *out))
{
    uint32_t groups[3], local;
    str source = {0};
    int *in;
    rig r;

    state = (uint32_t)i * 7919 + 1;
    rig_open(&r);
    draw_machine(&r);
    draw_it(&source);
    rig_compile(&r, str_text(&source), "k");
    in = rig_buffer(&r, 2 * N * sizeof *in);
    for (uint32_t k = 0; k < 2 * N; k++)
        in[k] = (int)rig_noise(k);
    rig_buffer(&r, STATEMENTS * N * sizeof *in);
    rig_int(&r, i);
    for (int k = 0; k < 3; k++) {
        r.n_shaves = 1 + draw(16);
        local = 1 + draw(8);
        draw_groups(groups, local);
        compare(&r, launch_of(&r, groups, local), run, &source);
        if (!k)
            compare(&r, launch_of(&r, groups, local), run_traced, &source);
    }
    rig_close(&r);
    str_free(&source);
}

START_TEST(rows_do_what_single_groups_do)
{
    try_kernel(_i, draw_kernel);
}
END_TEST

START_TEST(groups_without_entries_do_what_single_ones_do)
{
    try_kernel(_i, draw_regular_kernel);
}
END_TEST

/* A group that asks for two lines where its neighbours ask for one counts
 * more, though all of them hit. */
START_TEST(a_load_of_two_lines_counts_twice)
{
    const uint32_t groups[3] = {120, 40, 1};
    str source = {0};
    int *in;
    rig r;

    str_puts(&source,
             "__kernel void k(__global const int *in, __global int *out,\n"
             "                int n)\n"
             "{\n"
             "    uint g = get_global_id(0) + 120u * get_global_id(1);\n"
             "    int2 x = vload2(0, in + 1 + get_group_id(0));\n"
             "    out[g + (uint)n] = x.x ^ x.y;\n"
             "}\n");
    rig_open(&r);
    rig_compile(&r, str_text(&source), "k");
    in = rig_buffer(&r, 4096);
    for (uint32_t k = 0; k < 1024; k++)
        in[k] = (int)rig_noise(k);
    rig_buffer(&r, N * sizeof *in);
    rig_int(&r, 5 + _i);
    r.n_shaves = 1 + (uint32_t)_i % 3;
    compare(&r, launch_of(&r, groups, 1), run, &source);
    rig_close(&r);
    str_free(&source);
}
END_TEST

/* The group that faults, alone as in a row. */
static uint64_t group_that_faults(rig *r, const uint32_t groups[3])
{
    outcome alone = run(r, launch_of(r, groups, 1), true);
    outcome o = run(r, launch_of(r, groups, 1), false);
    uint64_t group = o.result.fault_group;

    ck_assert_int_eq(o.st, VPU_ERR_FAULT);
    ck_assert_uint_eq(group, alone.result.fault_group);
    ck_assert_str_eq(alone.err.msg, o.err.msg);
    forget(&alone);
    forget(&o);
    return group;
}

/* The group that faults is told, wherever it stands in its row. */
START_TEST(a_fault_in_a_row_has_its_group)
{
    const uint32_t groups[3] = {100, 7, 1};
    uint32_t at = 1 + (uint32_t)_i * 97 % 699;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                "__kernel void k(__global const int *in, __global int *out,\n"
                "                int n)\n"
                "{\n"
                "    int g = get_global_id(0) + 100 * get_global_id(1);\n"
                "    out[g == n ? 0x7ffffff : g] = in[g] + 1;\n"
                "}\n",
                "k");
    rig_buffer(&r, 4096);
    rig_buffer(&r, 4096);
    rig_int(&r, (int)at);
    ck_assert_uint_eq(group_that_faults(&r, groups), at);
    rig_close(&r);
}
END_TEST

/* So is one whose accesses go on evenly, to where no memory is. */
START_TEST(a_fault_in_an_even_row_has_its_group)
{
    const uint32_t groups[3] = {900, 2, 1};
    rig r;

    rig_open(&r);
    rig_compile(&r,
                "__kernel void k(__global const int *in, __global int *out,\n"
                "                int n)\n"
                "{\n"
                "    out[get_group_id(0)] = in[get_group_id(0) * (uint)n];\n"
                "}\n",
                "k");
    rig_buffer(&r, 1 << 24);
    rig_buffer(&r, 4096);
    rig_int(&r, 60000 + _i * 9001);
    r.n_shaves = 1; /* of several the one comes first whose round is longer */
    ck_assert_uint_gt(group_that_faults(&r, groups), 16);
    rig_close(&r);
}
END_TEST

/* As many cycles are enough, or too few, as for groups alone. */
START_TEST(limits_hold_in_rows)
{
    const uint32_t groups[3] = {500, 3, 1};
    outcome alone, o;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                "__kernel void k(__global const int *in, __global int *out,\n"
                "                int n)\n"
                "{\n"
                "    int g = get_global_id(0) + 500 * get_global_id(1);\n"
                "    out[g] = in[g] + n;\n"
                "}\n",
                "k");
    rig_buffer(&r, 8192);
    rig_buffer(&r, 8192);
    rig_int(&r, 3);
    for (int timed = 0; timed < 2; timed++) {
        exec_launch l = launch_of(&r, groups, 1);

        l.how.timing = timed ? EXEC_FLOWS : EXEC_NO_TIMING;
        l.how.max_cycles =
            timed ? 500 + (uint32_t)_i * 4001 : 20 + (uint32_t)_i * 397;
        alone = run(&r, l, true);
        o = run(&r, l, false);
        assert_same(&r, &alone, &o, "");
        ck_assert(timed || _i > 40 || o.st == VPU_ERR_LIMIT);
        forget(&alone);
        forget(&o);
    }
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("rows");
    TCase *c = tcase_create("rows");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, rows_do_what_single_groups_do, 0, KERNELS);
    tcase_add_loop_test(c, groups_without_entries_do_what_single_ones_do, 0,
                        KERNELS);
    tcase_add_loop_test(c, a_load_of_two_lines_counts_twice, 0, 12);
    tcase_add_loop_test(c, a_fault_in_a_row_has_its_group, 0, 12);
    tcase_add_loop_test(c, a_fault_in_an_even_row_has_its_group, 0, 8);
    tcase_add_loop_test(c, limits_hold_in_rows, 0, 60);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
