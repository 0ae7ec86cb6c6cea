/* Writes over the end of an array in local memory, in vpu run: which array, how
 * far, in every place and by every width; and none told of where there is none.
 */
#include <check.h>
#include <string.h>

#include "tests/support/rig.h"

/* The n-th write goes over the end of one of five arrays, of the program and of
 * the launch; lengths are such that some end where the next would begin. */
static const char source[] =
    "__kernel void over(__local char *x, __local short *y, __global int *dst,\n"
    "                   int which, int at, int wide)\n"
    "{\n"
    "    __local char a[5];\n"
    "    __local int b[4];\n"
    "    __local float4 c[3];\n"
    "    int l = get_local_id(0);\n"
    "    for (int i = l; i < 5; i += 2) a[i] = 1;\n"
    "    for (int i = l; i < 4; i += 2) b[i] = 2;\n"
    "    for (int i = l; i < 3; i += 2) c[i] = 3;\n"
    "    for (int i = l; i < 7; i += 2) x[i] = 4;\n"
    "    for (int i = l; i < 8; i += 2) y[i] = 5;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (l == 1 && get_group_id(0) == 2) {\n"
    "        __local char *p = which == 0 ? a : which == 1 ? (__local char *)b\n"
    "            : which == 2 ? (__local char *)c\n"
    "            : which == 3 ? x : (__local char *)y;\n"
    "        for (int i = 0; i < wide; i++)\n"
    "            p[at + i] = 9;\n"
    "    }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    dst[get_global_id(0)] = a[0] + b[1] + (int)c[2].x + x[3] + y[7];\n"
    "}\n";

static const struct {
    const char *name;
    int bytes;
} arrays[] = {{"a", 5}, {"b", 16}, {"c", 48}, {"x", 7}, {"y", 16}};
enum { N_ARRAYS = sizeof arrays / sizeof *arrays, REACH = 32 };

static void open_over(rig *r)
{
    rig_open(r);
    rig_compile(r, source, "over");
    r->both_engines = true;
    rig_local(r, 7);
    rig_local(r, 16);
    rig_buffer(r, 4 * 2 * sizeof(int));
    rig_int(r, 0);
    rig_int(r, 0);
    rig_int(r, 0);
}

static vpu_status write_at(rig *r, int which, int at, int wide)
{
    memcpy(r->values[3].as.raw, &which, sizeof which);
    memcpy(r->values[4].as.raw, &at, sizeof at);
    memcpy(r->values[5].as.raw, &wide, sizeof wide);
    return rig_run(r, (const uint32_t[3]){4, 1, 1},
                   (const uint32_t[3]){2, 1, 1});
}

START_TEST(every_place_behind)
{
    rig r;

    open_over(&r);
    for (int wide = 1; wide <= 16; wide *= 2)
        for (int far = 0; far + wide <= REACH; far++) {
            arena *a = r.arena;
            vpu_status st = write_at(&r, _i, arrays[_i].bytes + far, wide);

            ck_assert_int_eq(st, VPU_ERR_FAULT);
            ck_assert_msg(
                strstr(r.err.msg,
                       arena_printf(a,
                                    "work-group (2, 0, 0): local memory '%s' "
                                    "has %d bytes, and byte %d behind its end "
                                    "was written to",
                                    arrays[_i].name, arrays[_i].bytes,
                                    far + 1)) != NULL,
                "%s", r.err.msg);
        }
    rig_close(&r);
}
END_TEST

/* Up to the last byte of each; the same bytes and cycles on both engines. */
START_TEST(nothing_behind)
{
    rig r;

    open_over(&r);
    for (int at = 0; at < arrays[_i].bytes; at++)
        ck_assert_msg(!write_at(&r, _i, at, 1), "%s", r.err.msg);
    /* What the device packs: nothing of it is guard. */
    ck_assert_uint_eq(r.result.local_bytes, 16 + 16 + 48 + 16 + 16);
    rig_close(&r);
}
END_TEST

/* All of the device's memory is the kernel's. */
START_TEST(to_the_last_byte)
{
    static const char text[] =
        "__kernel void all(__local char *x, __local char *y, __global int *d)\n"
        "{\n"
        "    __local int z[1024];\n"
        "    z[get_local_id(0)] = 1;\n"
        "    x[get_local_id(0)] = 2;\n"
        "    y[get_local_id(0)] = 3;\n"
        "    d[get_global_id(0)] = z[0] + x[0] + y[0];\n"
        "}\n";
    rig r;
    int *out;

    rig_open(&r);
    rig_compile(&r, text, "all");
    r.both_engines = true;
    rig_local(&r, (uint32_t)r.desc.ocl_local_budget - 4096 - 160);
    rig_local(&r, 160);
    out = rig_buffer(&r, 4 * sizeof *out);
    rig_run_1d(&r, 4, 1);
    ck_assert_int_eq(out[3], 6);
    ck_assert_uint_eq(r.result.local_bytes, r.desc.ocl_local_budget);
    r.values[1].as.bytes += 1;
    ck_assert_int_eq(
        rig_run(&r, (const uint32_t[3]){4, 1, 1}, (const uint32_t[3]){1, 1, 1}),
        VPU_ERR_LIMIT);
    rig_close(&r);
}
END_TEST

/* More arrays than have guards, of a program and of a launch. */
START_TEST(very_many_arrays)
{
    str text = {0};
    rig r;
    int *out;

    str_puts(&text, "__kernel void many(__global int *d)\n{\n"
                    "    int sum = 0, l = get_local_id(0);\n");
    for (int k = 0; k < 200; k++)
        str_printf(&text, "    __local int a%d[3]; a%d[l] = %d;\n", k, k, k);
    str_puts(&text, "    barrier(CLK_LOCAL_MEM_FENCE);\n");
    for (int k = 0; k < 200; k++)
        str_printf(&text, "    sum += a%d[2 - l];\n", k);
    str_puts(&text, "    d[get_global_id(0)] = sum;\n}\n");
    rig_open(&r);
    rig_compile(&r, str_text(&text), "many");
    r.both_engines = true;
    out = rig_buffer(&r, 6 * sizeof *out);
    rig_run_1d(&r, 2, 3);
    ck_assert_int_eq(out[5], 199 * 200 / 2);
    /* With what is kept across the barrier, without guards. */
    ck_assert_uint_lt(r.result.local_bytes, 200 * 16 + SIM_LOCAL_GUARD * 6);
    rig_close(&r);
    str_free(&text);
}
END_TEST

/* A machine whose groups may have all of a slice. */
START_TEST(a_whole_slice)
{
    rig r;

    rig_open(&r);
    rig_close(&r);
    open_over(&r);
    memory_destroy(r.mem);
    r.desc.ocl_local_budget = r.desc.cmx_slice_bytes;
    ck_assert_int_eq(memory_create(&r.desc, &r.mem, &r.err), VPU_OK);
    ck_assert_int_eq(
        memory_alloc(r.mem, "dst", 64, &r.values[2].as.address, &r.err),
        VPU_OK);
    r.both_engines = false;
    ck_assert_int_eq(write_at(&r, 3, 0, 7), VPU_OK);
    ck_assert_int_eq(write_at(&r, 4, 16, 1), VPU_ERR_FAULT);
    rig_close(&r);
}
END_TEST

static void keep(void *user, log_level level, const char *text)
{
    str *all = user;

    (void)level;
    str_printf(all, "%s\n", text);
}

/* As on the device the launch goes on, whatever is there, with the results that
 * the kernel would have if all arrays were that long; the first group is told.
 */
START_TEST(passed_over)
{
    rig r;
    str told = {0};
    log_sink log = {.line = keep, .user = &told};
    const int want[8] = {15, 15, 15, 15, 15, 15, 15, 15};

    for (uint32_t threads = 1; threads <= 2; threads++) {
        open_over(&r);
        r.overruns = EXEC_OVERRUN_NOTE;
        r.log = &log;
        r.n_threads = threads;
        r.both_engines = false;
        ck_assert_msg(!write_at(&r, _i, arrays[_i].bytes, 4), "%s", r.err.msg);
        ck_assert_mem_eq(memory_window(r.mem) + r.values[2].as.address, want,
                         sizeof want);
        ck_assert_str_eq(
            str_text(&told),
            arena_printf(r.arena,
                         "test: kernel 'over', work-group (2, 0, 0): local "
                         "memory '%s' has %d bytes, and byte 1 behind its end "
                         "was written to; vpu check names the line\n",
                         arrays[_i].name, arrays[_i].bytes));
        told.n = 0;
        ck_assert(!write_at(&r, _i, arrays[_i].bytes - 4, 4));
        ck_assert_uint_eq(told.n, 0);
        rig_close(&r);
    }
    str_free(&told);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("local guards");
    TCase *c = tcase_create("guards");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, every_place_behind, 0, N_ARRAYS);
    tcase_add_loop_test(c, nothing_behind, 0, N_ARRAYS);
    tcase_add_loop_test(c, passed_over, 0, N_ARRAYS);
    tcase_add_test(c, to_the_last_byte);
    tcase_add_test(c, very_many_arrays);
    tcase_add_test(c, a_whole_slice);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
