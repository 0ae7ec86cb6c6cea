/* Host objects as the code generator writes them, and damaged ones: whatever
 * the bytes are, they are loaded or refused. */
#include <check.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "sim/compiler/store/loader.h"
#include "tests/support/rig.h"

static rig r;

static void setup(void)
{
    /* Constants, a table of jumps, calls out of the kernel. */
    static const char source[] =
        "__constant float c[] = {1.5f, -2, 3, 0.25f};\n"
        "__kernel void k(__global float *o, __local float *t)\n{\n"
        "    int i = get_local_id(0), g = get_global_id(0);\n"
        "    t[i] = exp(o[g]) + c[i & 3];\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    switch (g % 7) {\n"
        "    case 0: o[g] = t[7 - i]; break;\n"
        "    case 1: o[g] = sin(t[i]); break;\n"
        "    case 2: o[g] = t[i] * 0.125f; break;\n"
        "    case 3: o[g] = native_exp(t[i]) - 7; break;\n"
        "    case 4: o[g] = t[i] / 3; break;\n"
        "    case 5: o[g] = -t[i]; break;\n"
        "    default: o[g] = t[i] + 100;\n"
        "    }\n"
        "}\n";

    rig_open(&r);
    rig_compile(&r, source, "k");
    ck_assert(r.kernel->object_bytes > 0);
}

static void teardown(void)
{
    rig_close(&r);
}

static int called;

/* Any name is known, but for one. */
static void *find(void *user, const char *name)
{
    const char *unknown = user;

    called += strlen(name) > 0;
    return unknown && !strcmp(name, unknown) ? NULL : &called;
}

/* An exact copy, so that reading past the end is seen. */
static uint8_t *copy_of(size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);

    ck_assert(copy != NULL);
    memcpy(copy, r.kernel->object, n);
    return copy;
}

START_TEST(as_written)
{
    uint64_t bytes, offset, same;
    loader *l;
    const uint8_t *code;

    called = 0;
    ck_assert_msg(!loader_open(r.kernel->object, r.kernel->object_bytes, find,
                               NULL, &l, &r.err),
                  "%s", r.err.msg);
    ck_assert_int_gt(called, 1); /* exp, sin at least */
    code = loader_code(l, "vpu_scalar", &bytes);
    ck_assert(code && loader_function(l, "vpu_scalar"));
    ck_assert(loader_place(r.kernel->object, r.kernel->object_bytes,
                           "vpu_scalar", &offset, &same));
    ck_assert_uint_eq(same, bytes);
    ck_assert_ptr_eq(loader_function(l, "vpu_scalar"), code + offset);
    ck_assert(!loader_place(r.kernel->object, r.kernel->object_bytes, "exp",
                            &offset, &same));
    ck_assert((const uint8_t *)loader_function(l, "vpu_scalar") < code + bytes);
    /* What lies before a function can be read: sanitizers do. */
    ck_assert_int_eq(code[-8], 0);
    ck_assert(!loader_function(l, "exp") && !loader_function(l, ""));
    ck_assert(!loader_code(l, "nothing", &bytes) && !bytes);
    loader_close(l);
    ck_assert(r.kernel->code && r.kernel->code_bytes);
}
END_TEST

/* Limits of time end a kernel where its thread is in its code: of what LLVM
 * loads for a debugger that is to be known, too. */
START_TEST(code_for_debuggers)
{
    static const sim_debug debug = {.lines = false};
    const kernel_compile_config cfg = {
        .user.no_cache = true, .hooks = &exec_hooks, .debug = &debug};
    const kernel_source source = {
        .path = arena_printf(r.arena, "%s/k.cl", r.dir), .entry = "k"};
    sim_kernel *k;
    const uint8_t *fn;

    ck_assert_msg(!kernel_compile(&source, &cfg, r.arena, &k, &r.err), "%s",
                  r.err.msg);
    fn = (const uint8_t *)(uintptr_t)k->variants[SIM_SCALAR].fn;
    ck_assert(k->code && fn >= k->code && fn < k->code + k->code_bytes);
    kernel_release(k);
}
END_TEST

START_TEST(unknown_names)
{
    loader *l;

    ck_assert_int_eq(loader_open(r.kernel->object, r.kernel->object_bytes, find,
                                 "__vpu_sin_f32", &l, &r.err),
                     VPU_ERR_COMPILE);
    ck_assert(!l && strstr(r.err.msg, "__vpu_sin_f32"));
}
END_TEST

/* Opens the copy and frees it: a status, and a loader only with VPU_OK. */
static vpu_status try(uint8_t *copy, size_t n)
{
    loader *l = (loader *)&called;
    vpu_status st = loader_open(copy, n, find, NULL, &l, &r.err);
    uint64_t offset, of;

    loader_place(copy, n, "vpu_scalar", &offset, &of);

    ck_assert(st == VPU_OK || st == VPU_ERR_PARSE ||
              st == VPU_ERR_UNSUPPORTED || st == VPU_ERR_NOMEM);
    ck_assert(!l == (st != VPU_OK));
    if (l) {
        uint64_t bytes;

        loader_function(l, "vpu_scalar");
        loader_code(l, "vpu_scalar", &bytes);
    }
    loader_close(l);
    free(copy);
    return st;
}

START_TEST(cut_short)
{
    for (size_t n = 0; n < r.kernel->object_bytes; n += 1 + n / 64)
        ck_assert_int_ne(try(copy_of(n), n), VPU_OK);
}
END_TEST

/* Numbers that matter in such files, at each place that may be one. */
START_TEST(damaged)
{
    static const uint64_t odd[] = {0,
                                   1,
                                   7,
                                   0x7fffffff,
                                   0xffffffff,
                                   UINT64_MAX,
                                   UINT64_MAX - 7,
                                   UINT64_C(1) << 63};
    const size_t n = r.kernel->object_bytes;
    uint64_t refused = 0;

    for (size_t at = 0; at + 8 <= n; at += at < 64 || at > n - 4096 ? 1 : 8)
        for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
            uint8_t *copy = copy_of(n);

            memcpy(copy + at, &odd[k], k % 2 ? 8 : 4);
            refused += try(copy, n) != VPU_OK;
        }
    ck_assert_uint_gt(refused, 100);
}
END_TEST

/* A section's place is wrong, whatever the section is said to be: also one
 * whose bytes are not in the file. */
START_TEST(places_outside)
{
    static const uint64_t far[] = {UINT64_MAX - 7, UINT64_C(1) << 63,
                                   UINT64_C(1) << 40};
    const size_t n = r.kernel->object_bytes;
    Elf64_Ehdr head;

    memcpy(&head, r.kernel->object, sizeof head);
    ck_assert_uint_gt(head.e_shnum, 4);
    for (unsigned i = 0; i < head.e_shnum; i++)
        for (uint32_t type = SHT_NULL; type <= SHT_DYNSYM; type++)
            for (size_t k = 0; k < sizeof far / sizeof *far; k++) {
                const size_t at = head.e_shoff + i * sizeof(Elf64_Shdr);
                uint8_t *copy = copy_of(n);
                Elf64_Shdr s;

                memcpy(&s, copy + at, sizeof s);
                s.sh_type = type;
                s.sh_offset = far[k];
                memcpy(copy + at, &s, sizeof s);
                ck_assert_int_eq(try(copy, n), VPU_ERR_PARSE);
            }
}
END_TEST

int main(void)
{
    SRunner *run;
    Suite *s = suite_create("loader");
    TCase *t = tcase_create("loader");
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, as_written);
    tcase_add_test(t, code_for_debuggers);
    tcase_add_test(t, unknown_names);
    tcase_add_test(t, cut_short);
    tcase_add_test(t, damaged);
    tcase_add_test(t, places_outside);
    suite_add_tcase(s, t);
    run = srunner_create(s);
    srunner_run_all(run, CK_NORMAL);
    failed = srunner_ntests_failed(run);
    srunner_free(run);
    return failed != 0;
}
