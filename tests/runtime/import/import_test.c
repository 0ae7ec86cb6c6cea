/* Blobs run: through the program, as a user has them, and on a virtual stick.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "runtime/graph/npy.h"
#include "tests/kernels/program.h"
#include "tests/support/small_net.h"

static arena *a;
static char *dir;

static void setup(void)
{
    a = arena_create(0);
    dir = program_temp_dir(a);
}

static void teardown(void)
{
    program_remove_dir(dir);
    arena_destroy(a);
}

static const char *in(const char *name)
{
    return file_join(a, dir, name);
}

static void write_blob(const blob *b, const char *name, const char *front)
{
    const uint8_t *data;
    size_t n;
    str all = {0};

    small_bytes(b, a, &data, &n);
    str_puts(&all, front);
    str_add(&all, data, n);
    ck_assert_int_eq(file_write(in(name), all.data, all.n, NULL), VPU_OK);
    str_free(&all);
}

static uint16_t *write_input(const char *name, const tensor_desc *d,
                             uint32_t seed)
{
    uint64_t n = tensor_elements(d);
    uint16_t *x = arena_array(a, uint16_t, n);

    for (uint64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = tensor_f32_to_f16((float)((int)(seed >> 20) - 2048) / 1024);
    }
    ck_assert_int_eq(npy_write(in(name), &(tensor){*d, x}, NULL), VPU_OK);
    return x;
}

static tensor_desc desc(uint32_t n, uint32_t c)
{
    return (tensor_desc){TENSOR_F16, 4, {n, c, SMALL_H, SMALL_W}, TENSOR_PLAIN};
}

static int run(program_args *p)
{
    return program_run(p, dir);
}

static const char *said(const char *name)
{
    size_t n;

    return program_file(a, dir, name, &n);
}

static const uint16_t *output(const char *folder, const char *name,
                              const tensor_desc *d)
{
    tensor t;
    vpu_error err = {0};
    const char *path = file_join(a, in(folder), name);

    ck_assert_msg(!npy_read(path, a, &t, &err), "%s", err.msg);
    ck_assert_uint_eq(t.desc.rank, d->rank);
    ck_assert_mem_eq(t.desc.dims, d->dims, d->rank * sizeof *d->dims);
    return t.data;
}

static void expect_items(const uint16_t *x, const uint16_t *got, uint32_t n)
{
    float expected[SMALL_OUTPUTS];

    for (uint32_t item = 0; item < n; item++) {
        small_net_expected(x + (size_t)item * SMALL_INPUTS, expected);
        for (uint32_t i = 0; i < SMALL_OUTPUTS; i++)
            ck_assert_double_eq_tol(
                (double)tensor_f16_to_f32(got[item * SMALL_OUTPUTS + i]),
                (double)expected[i], 4e-3);
    }
}

/* Raw, and behind the header that the host library's cache puts in front; the
 * same bytes whatever the threads. */
START_TEST(a_blob_is_run)
{
    static const char cache[] = "<?xml version=\"1.0\"?><compiled_blob "
                                "ie_version=\"x\" file_info=\"1\"/>\n";
    static const char *const threads[] = {"1", "2", "5"};
    tensor_desc from = desc(1, SMALL_IN), to = desc(1, SMALL_OUT);
    uint16_t *x = write_input("x.npy", &from, 7);
    const uint16_t *first;
    program_args p;
    blob b;

    small_net(a, 1, &b);
    write_blob(&b, "net.blob", "");
    write_blob(&b, "cached.blob", cache);
    program_args_init(&p, a, "run", in("net.blob"), "--input", NULL);
    program_args_add(&p, "0=%s", in("x.npy"));
    program_args_add(&p, "--output");
    program_args_add(&p, "%s", in("o"));
    ck_assert_msg(run(&p) == 0, "%s", said("stderr"));
    ck_assert_ptr_nonnull(strstr(said("stdout"), "MyriadXHwOp"));
    ck_assert_ptr_nonnull(strstr(said("stdout"), "NCE"));
    first = output("o", "out0.npy", &to);
    expect_items(x, first, 1);
    for (size_t i = 0; i < 3; i++) {
        program_args_init(&p, a, "run", in("cached.blob"), "--threads",
                          threads[i], "--input", NULL);
        program_args_add(&p, "0=%s", in("x.npy"));
        program_args_add(&p, "--output");
        program_args_add(&p, "%s", in("o"));
        ck_assert_int_eq(run(&p), 0);
        ck_assert_mem_eq(output("o", "out0.npy", &to), first,
                         2 * SMALL_OUTPUTS);
    }
}
END_TEST

START_TEST(a_batch_is_its_items)
{
    tensor_desc from = desc(3, SMALL_IN), to = desc(3, SMALL_OUT);
    uint16_t *x = write_input("x.npy", &from, 11);
    program_args p;
    blob b;

    small_net(a, 3, &b);
    write_blob(&b, "net.blob", "");
    program_args_init(&p, a, "run", in("net.blob"), "--input", NULL);
    program_args_add(&p, "0=%s", in("x.npy"));
    program_args_add(&p, "--output");
    program_args_add(&p, "%s", in("o"));
    ck_assert_msg(run(&p) == 0, "%s", said("stderr"));
    expect_items(x, output("o", "out0.npy", &to), 3);
}
END_TEST

START_TEST(a_loop_is_its_iterations)
{
    tensor_desc d = desc(1, 1);
    uint16_t *x = write_input("x.npy", &d, 13);
    const uint16_t *got;
    program_args p;
    blob b;

    small_loop(a, &b);
    write_blob(&b, "net.blob", "");
    program_args_init(&p, a, "run", in("net.blob"), "--input", NULL);
    program_args_add(&p, "0=%s", in("x.npy"));
    program_args_add(&p, "--output");
    program_args_add(&p, "%s", in("o"));
    ck_assert_msg(run(&p) == 0, "%s", said("stderr"));
    got = output("o", "out0.npy", &d);
    for (uint32_t r = 0; r < SMALL_H; r++)
        for (uint32_t c = 0; c < SMALL_W; c++)
            ck_assert_uint_eq(
                got[(SMALL_H - 1 - r) * SMALL_W + c],
                tensor_f32_to_f16(2 * tensor_f16_to_f32(x[r * SMALL_W + c]) +
                                  1));
}
END_TEST

/* The stick gets the blob as it is. */
START_TEST(a_stick_gives_the_same_bytes)
{
    const char *address = arena_printf(a, "usb:unix:%s", in("stick"));
    tensor_desc from = desc(2, SMALL_IN);
    program_args p, q;
    pid_t pid;
    blob b;

    write_input("x.npy", &from, 17);
    small_net(a, 2, &b);
    write_blob(&b, "net.blob", "");
    program_args_init(&q, a, "stick", "--xlink", "B", "--once", "--quiet",
                      "--listen", NULL);
    program_args_add(&q, "unix:%s", in("stick"));
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (!pid) {
        freopen("/dev/null", "w", stdout);
        execv(q.argv[0], (char *const *)(uintptr_t)q.argv);
        _exit(127);
    }
    for (int i = 0; i < 200 && access(in("stick"), F_OK); i++)
        usleep(50000);
    program_args_init(&p, a, "diff", in("net.blob"), "--a", "sim", "--b",
                      address, "--xlink", "B", "--input", NULL);
    program_args_add(&p, "0=%s", in("x.npy"));
    ck_assert_msg(run(&p) == 0, "%s%s", said("stdout"), said("stderr"));
    ck_assert_ptr_nonnull(strstr(said("stdout"), "bit for bit"));
}
END_TEST

/* --- looking ------------------------------------------------------------- */

START_TEST(tables_and_pictures)
{
    program_args p;
    blob b;

    small_net(a, 1, &b);
    write_blob(&b, "net.blob", "");
    program_args_init(&p, a, "blob", "show", in("net.blob"), NULL);
    ck_assert_int_eq(run(&p), 0);
    ck_assert_ptr_nonnull(
        strstr(said("stdout"), "CONV 3x3 padded, mode 1x256, ReLU"));
    ck_assert_ptr_nonnull(strstr(said("stdout"), "prob+0 FP16 1x8x6x16 NCHW"));
    program_args_init(&p, a, "blob", "show", "--dot", in("net.blob"), NULL);
    ck_assert_int_eq(run(&p), 0);
    ck_assert_ptr_nonnull(strstr(said("stdout"), "in0 -> s0;"));
    ck_assert_ptr_nonnull(strstr(said("stdout"), "s0 -> s1 ["));
    ck_assert_ptr_nonnull(strstr(said("stdout"), "s1 -> out0;"));
    program_args_init(&p, a, "blob", "verify", in("net.blob"), NULL);
    ck_assert_int_eq(run(&p), 0);
}
END_TEST

/* --- what is refused ----------------------------------------------------- */

static void refused(const char *name, int status, const char *text)
{
    program_args p;

    program_args_init(&p, a, "run", in(name), NULL);
    ck_assert_int_eq(run(&p), status);
    ck_assert_msg(strstr(said("stderr"), text), "%s", said("stderr"));
}

START_TEST(blobs_that_are_refused)
{
    blob_stage stages[2];
    uint32_t params[32];
    program_args p;
    blob b;

    small_net(a, 1, &b);
    memcpy(stages, b.stages, sizeof stages);
    b.stages = stages;
    stages[1].type = 69;
    write_blob(&b, "net.blob", "");
    refused("net.blob", 5, "stage 1: stage type 69, MTCNN, is not run");
    stages[1].type = 250;
    write_blob(&b, "net.blob", "");
    refused("net.blob", 5, "stage 1: stage type 250, unknown, is not run");
    small_net(a, 1, &b);
    memcpy(stages, b.stages, sizeof stages);
    b.stages = stages;
    params[0] = 9;
    stages[1].params = params;
    write_blob(&b, "net.blob", "");
    refused("net.blob", 2, "stage 1: SoftMax: axis is 9, expected 0 to 3");
    small_loop(a, &b);
    memcpy(params, b.stages[0].params, 7 * sizeof *params);
    params[4] = 2; /* the last iterations begin behind the end */
    memcpy(stages, b.stages, sizeof stages);
    {
        blob_stage three[3];

        memcpy(three, b.stages, sizeof three);
        three[0].params = params;
        b.stages = three;
        write_blob(&b, "net.blob", "");
    }
    refused("net.blob", 2, "LoopStart, rule 0: iteration 4 takes 1 elements");
    ck_assert_int_eq(file_write(in("short.blob"),
                                "\177elf\0\0\0\0\0\0\0\0\0\0"
                                "\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                "\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                "\0\0\0\0\0\0\0\0\0\0\0\0",
                                52, NULL),
                     VPU_OK);
    refused("short.blob", 2, "short.blob");
    small_net(a, 1, &b);
    write_blob(&b, "net.blob", "");
    program_args_init(&p, a, "run", in("net.blob"), "--shape", "in0=1x2", NULL);
    ck_assert_int_eq(run(&p), 2);
    ck_assert_ptr_nonnull(strstr(said("stderr"), "leave out shapes"));
    program_args_init(&p, a, "run", in("net.blob"), "--custom", "x.xml", NULL);
    ck_assert_int_eq(run(&p), 2);
    ck_assert_ptr_nonnull(strstr(said("stderr"), "compiled into it"));
    program_args_init(&p, a, "run", in("net.blob"), "--backend", "null", NULL);
    ck_assert_int_eq(run(&p), 5);
    ck_assert_ptr_nonnull(strstr(said("stderr"), "runs kernels alone"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("blobs that run");
    TCase *t = tcase_create("import");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_blob_is_run);
    tcase_add_test(t, a_batch_is_its_items);
    tcase_add_test(t, a_loop_is_its_iterations);
    tcase_add_test(t, a_stick_gives_the_same_bytes);
    tcase_add_test(t, tables_and_pictures);
    tcase_add_test(t, blobs_that_are_refused);
    tcase_set_timeout(t, 120);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
