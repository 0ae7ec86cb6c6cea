/* Contexts, devices, programs, kernels, and what every function refuses. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "sim/compiler/kernel.h"
#include "sim/compiler/store/object.h"
#include "tests/kernels/program.h"
#include "tests/runtime/api/api.h"

/* --- version and statuses ------------------------------------------------- */

START_TEST(header_and_library_are_of_one_version)
{
    char text[32];

    snprintf(text, sizeof text, "%d.%d.%d", VPU_VERSION_MAJOR,
             VPU_VERSION_MINOR, VPU_VERSION_PATCH);
    ck_assert_str_eq(vpu_version(), text);
    ck_assert_uint_eq(vpu_api_version(), VPU_API_VERSION);
}
END_TEST

START_TEST(statuses_have_texts)
{
    ck_assert_str_eq(vpu_status_text(VPU_OK), "ok");
    for (int s = VPU_ERR_STOPPED; s < VPU_OK; s++)
        ck_assert_str_ne(vpu_status_text((vpu_status)s), "unknown status");
    ck_assert_str_eq(vpu_status_text((vpu_status)(VPU_ERR_STOPPED - 1)),
                     "unknown status");
}
END_TEST

/* --- devices -------------------------------------------------------------- */

START_TEST(devices_are_listed)
{
    vpu_devices *d;
    size_t n;
    bool found = false;

    api_ok(vpu_devices_create(&d, &api_err));
    n = vpu_devices_count(d);
    for (size_t i = 0; i < n; i++) {
        ck_assert_ptr_nonnull(vpu_devices_id(d, i));
        ck_assert_ptr_nonnull(vpu_devices_name(d, i));
        if (!strcmp(vpu_devices_id(d, i), "sim")) {
            found = true;
            ck_assert_ptr_null(vpu_devices_why_not(d, i));
            ck_assert_ptr_nonnull(strstr(vpu_devices_name(d, i), "SHAVE"));
        }
        if (!strcmp(vpu_devices_id(d, i), "npy"))
            ck_assert_ptr_nonnull(strstr(vpu_devices_why_not(d, i), "npy:DIR"));
    }
    ck_assert(found);
    ck_assert_ptr_null(vpu_devices_id(d, n));
    vpu_devices_free(d);
}
END_TEST

/* --- contexts ------------------------------------------------------------- */

START_TEST(backends_say_what_they_can)
{
    vpu_context *sim = api_context(NULL), *null = api_context("null");

    ck_assert_str_eq(vpu_context_backend(sim), "sim");
    ck_assert_uint_eq(vpu_context_capabilities(sim),
                      VPU_CAN_COUNT_CYCLES | VPU_CAN_TRACE | VPU_CAN_PROFILE |
                          VPU_CAN_CHECK | VPU_CAN_SHARE | VPU_CAN_RUN_PARTS);
    ck_assert_uint_eq(vpu_context_capabilities(null), 0);
    vpu_context_free(sim);
    vpu_context_free(null);
}
END_TEST

static void refused(const vpu_context_options *o, vpu_status st,
                    const char *words)
{
    vpu_context *c = (vpu_context *)&api_err;

    api_fails(vpu_context_create(&c, o, &api_err), st, words);
    ck_assert_ptr_null(c);
}

START_TEST(bad_options_are_refused)
{
    static const char *const settings[] = {"num_shaves=0x"};
    arena *a = arena_create(0);
    char *dir = program_temp_dir(a), *torn = file_join(a, dir, "torn.xml");
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;

#define TRY(member, value, st, words)                                    \
    o = (vpu_context_options){.struct_size = sizeof o, .member = value}; \
    refused(&o, st, words)
    TRY(backend, "vulkan", VPU_ERR_INVALID, "vulkan");
    TRY(engine, 3, VPU_ERR_INVALID, "engine is 3");
    TRY(timing, 9, VPU_ERR_INVALID, "timing is 9");
    TRY(order, 4, VPU_ERR_INVALID, "order is 4");
    TRY(shaves, 17, VPU_ERR_INVALID, "the machine has 16");
    TRY(machine, "/nowhere.xml", VPU_ERR_IO, "/nowhere.xml");
    TRY(release, "1999.1", VPU_ERR_INVALID, "1999.1");
    TRY(timeout, (double)NAN, VPU_ERR_INVALID, "timeout");
    TRY(n_settings, 1, VPU_ERR_INVALID, "settings is NULL");
    o.settings = settings;
    refused(&o, VPU_ERR_INVALID, "num_shaves");
    ck_assert(!file_write(torn, "<machine", 8, NULL));
    TRY(machine, torn, VPU_ERR_PARSE, "torn.xml:1");
    ck_assert_int_eq(truncate(torn, (1 << 20) + 1), 0);
    TRY(machine, torn, VPU_ERR_LIMIT, "1048577 bytes, the limit is 1048576");
    program_remove_dir(dir);
    arena_destroy(a);
#undef TRY
}
END_TEST

/* What older programs had of a structure, and what newer ones will. */
START_TEST(structures_of_other_versions)
{
    struct {
        vpu_context_options o;
        char more[16];
    } newer = {.o = VPU_CONTEXT_OPTIONS_INIT};
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_context *c;

    o.struct_size = offsetof(vpu_context_options, machine);
    o.backend = "null";
    o.shaves = 12345; /* not of that version */
    api_ok(vpu_context_create(&c, &o, &api_err));
    ck_assert_str_eq(vpu_context_backend(c), "null");
    vpu_context_free(c);
    o.struct_size = 0;
    refused(&o, VPU_ERR_INVALID, "_INIT");
    newer.o.struct_size = sizeof newer;
    refused(&newer.o, VPU_ERR_INVALID, "newer");
}
END_TEST

START_TEST(nothing_where_an_object_is_needed)
{
    vpu_graph *g;
    vpu_program *p;
    vpu_context *c = api_context("null");

    api_fails(vpu_context_create(NULL, NULL, &api_err), VPU_ERR_INVALID,
              "out is NULL");
    api_fails(vpu_graph_create(&g, NULL, &api_err), VPU_ERR_INVALID,
              "context is NULL");
    ck_assert_ptr_null(g);
    api_fails(vpu_program_create(&p, c, NULL, &api_err), VPU_ERR_INVALID,
              "neither source nor file");
    ck_assert_int_eq(vpu_graph_create(NULL, c, NULL), VPU_ERR_INVALID);
    vpu_context_free(c);
    vpu_context_free(NULL);
    vpu_program_free(NULL);
    vpu_graph_free(NULL);
    vpu_result_free(NULL);
    vpu_findings_free(NULL);
    vpu_diff_free(NULL);
    vpu_devices_free(NULL);
    ck_assert_uint_eq(vpu_context_capabilities(NULL), 0);
    ck_assert_uint_eq(vpu_devices_count(NULL), 0);
    ck_assert_ptr_null(vpu_context_backend(NULL));
}
END_TEST

/* --- programs and kernels ------------------------------------------------- */

static const char two[] =
    "__kernel void first(__global const half *src, __global half *dst,\n"
    "                    __local half *tile, __constant int *table, uint n)\n"
    "{\n"
    "    __local half own[32];\n"
    "    int i = get_global_id(0);\n"
    "    own[i & 31] = src[i];\n"
    "    tile[i] = own[i & 31];\n"
    "    dst[i] = tile[i] + table[n];\n"
    "}\n"
    "__kernel void second(__global int *x) { x[get_global_id(0)] = 1; }\n";

START_TEST(kernels_tell_their_signature)
{
    static const struct {
        const char *name, *type;
        uint32_t space;
    } wanted[] = {{"src", "half*", VPU_SPACE_GLOBAL},
                  {"dst", "half*", VPU_SPACE_GLOBAL},
                  {"tile", "half*", VPU_SPACE_LOCAL},
                  {"table", "int*", VPU_SPACE_CONSTANT},
                  {"n", "uint", VPU_SPACE_VALUE}};
    vpu_context *c = api_context(NULL);
    vpu_program *p = api_program(c, two);
    const vpu_kernel *k, *again;

    api_ok(vpu_program_kernel(p, "first", &k, &api_err));
    ck_assert_str_eq(vpu_kernel_name(k), "first");
    ck_assert_uint_eq(vpu_kernel_argument_count(k), 5);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_str_eq(vpu_kernel_argument_name(k, i), wanted[i].name);
        ck_assert_str_eq(vpu_kernel_argument_type(k, i), wanted[i].type);
        ck_assert_uint_eq(vpu_kernel_argument_space(k, i), wanted[i].space);
    }
    ck_assert_ptr_null(vpu_kernel_argument_name(k, 5));
    ck_assert_ptr_null(vpu_kernel_argument_type(k, 5));
    ck_assert_uint_eq(vpu_kernel_argument_space(k, 5), 0);
    ck_assert_uint_eq(vpu_kernel_local_bytes(k), 64);
    ck_assert_int_eq(vpu_kernel_vector_factor(k) == 1,
                     vpu_kernel_not_vectorized(k) != NULL);
    api_ok(vpu_program_kernel(p, "first", &again, &api_err));
    ck_assert_ptr_eq(k, again); /* compiled once */
    vpu_program_free(p);
    vpu_context_free(c);
}
END_TEST

START_TEST(kernels_that_do_not_compile)
{
    vpu_context *c = api_context(NULL);
    vpu_program_options o = VPU_PROGRAM_OPTIONS_INIT;
    vpu_program *p = api_program(c, two), *bad;
    const vpu_kernel *k;

    api_fails(vpu_program_kernel(p, "third", &k, &api_err), VPU_ERR_COMPILE,
              "second");
    ck_assert_ptr_null(k);
    api_fails(vpu_program_kernel(p, NULL, &k, &api_err), VPU_ERR_COMPILE,
              "first");
    o.source = "__kernel void f(__global int *x)\n{\n    x[0] = y;\n}\n";
    o.name = "mine.cl";
    api_ok(vpu_program_create(&bad, c, &o, &api_err));
    api_fails(vpu_program_kernel(bad, "f", &k, &api_err), VPU_ERR_COMPILE,
              "mine.cl:3:12");
    ck_assert_str_eq(api_err.file, "mine.cl");
    ck_assert_uint_eq(api_err.line, 3);
    ck_assert_uint_eq(api_err.col, 12);
    vpu_program_free(bad);
    vpu_program_free(p);
    vpu_context_free(c);
}
END_TEST

/* Of the file, or of the text. */
static vpu_status kernel_of(vpu_context *c, const char *file, const char *text)
{
    vpu_program_options o = VPU_PROGRAM_OPTIONS_INIT;
    const vpu_kernel *k;
    vpu_program *p;
    vpu_status st;

    o.file = file;
    o.source = text;
    api_ok(vpu_program_create(&p, c, &o, &api_err));
    st = vpu_program_kernel(p, NULL, &k, &api_err);
    ck_assert_int_eq(!k, st != VPU_OK);
    vpu_program_free(p);
    return st;
}

static const char small[] = "__kernel void f(__global int *x) { x[0] = 1; }\n";

START_TEST(files_that_are_no_kernels)
{
    arena *a = arena_create(0);
    char *dir = program_temp_dir(a), *path = file_join(a, dir, "k.bin");
    const kernel_source text = {.path = "k.cl", .text = small};
    const kernel_compile_config how = {.log = NULL};
    vpu_context *c = api_context(NULL);
    const uint8_t *info;
    kernel_bin bin;
    uint8_t *bytes;
    size_t n;

    ck_assert(!kernel_build_bin(&text, &how, a, &bin, NULL));
    ck_assert(!file_write(path, bin.bytes, bin.n, NULL));
    api_ok(kernel_of(c, path, NULL));
    bytes = arena_push(a, bin.n, 1, 8);
    memcpy(bytes, bin.bytes, bin.n);
    ck_assert(object_find(bytes, bin.n, ".vpusim.info", &info, &n));
    bytes[info - bytes] ^= 1;
    ck_assert(!file_write(path, bytes, bin.n, NULL));
    api_fails(kernel_of(c, path, NULL), VPU_ERR_PARSE, "or damaged");
    ck_assert(!file_write(path, "text", 4, NULL));
    api_fails(kernel_of(c, path, NULL), VPU_ERR_PARSE,
              "neither OpenCL C by its name, .cl, nor a compiled kernel");
    ck_assert_int_eq(truncate(path, (64 << 20) + 1), 0);
    api_fails(kernel_of(c, path, NULL), VPU_ERR_LIMIT, "the limit is 67108864");
    /* An ELF file of somebody else's. */
    api_fails(kernel_of(c, "/proc/self/exe", NULL), VPU_ERR_UNSUPPORTED,
              "compiled by the vendor's clc");
    vpu_context_free(c);
    program_remove_dir(dir);
    arena_destroy(a);
}
END_TEST

START_TEST(addresses_in_constants)
{
    vpu_context *c = api_context(NULL);

    api_fails(kernel_of(c, NULL,
                        "__constant int a[2] = {1, 2};\n"
                        "__constant struct { __constant int *p; } q[2] =\n"
                        "    {{a}, {a + 1}};\n"
                        "__kernel void f(__global int *x)\n"
                        "{ x[0] = q[x[1]].p[x[2]]; }\n"),
              VPU_ERR_UNSUPPORTED, "a __constant initializer holds an address");
    vpu_context_free(c);
}
END_TEST

/* Also so little memory that clang cannot even start. */
START_TEST(compiling_is_limited)
{
    static const uint64_t megabytes[] = {1, 3, 9};
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_context *c;

    o.no_cache = 1;
    for (size_t i = 0; i < sizeof megabytes / sizeof *megabytes; i++) {
        o.compile_memory = megabytes[i] << 20;
        api_ok(vpu_context_create(&c, &o, &api_err));
        api_fails(kernel_of(c, NULL, small), VPU_ERR_LIMIT, "MB of memory");
        vpu_context_free(c);
    }
    o.compile_memory = 0;
    o.compile_timeout = 0.05;
    api_ok(vpu_context_create(&c, &o, &api_err));
    api_fails(kernel_of(c, NULL,
                        "#define A x[0] += x[1] * x[x[2]];\n"
                        "#define B A A A A A A A A\n"
                        "#define C B B B B B B B B\n"
                        "#define D C C C C C C C C\n"
                        "#define E D D D D D D D D\n"
                        "__kernel void f(__global int *x) { E E E E }\n"),
              VPU_ERR_LIMIT, "took more than 0.05 s of the processor's time");
    vpu_context_free(c);
}
END_TEST

/* Files in the folder and below. */
static int count_entries(arena *a, const char *dir)
{
    size_t n;
    FILE *f =
        popen(arena_printf(a, "find '%s' -name '*.kernel' | wc -l", dir), "r");
    char text[32];

    ck_assert_ptr_nonnull(f);
    n = fread(text, 1, sizeof text - 1, f);
    text[n] = 0;
    ck_assert_int_eq(pclose(f), 0);
    return atoi(text);
}

/* The second time nothing compiles: there is no clang. */
START_TEST(the_same_program_twice_is_one_entry_of_the_cache)
{
    static const char *const options[] = {"-DN=1"};
    arena *a = arena_create(0);
    char *dir = program_temp_dir(a), *path = arena_strdup(a, getenv("PATH"));
    vpu_program_options o = VPU_PROGRAM_OPTIONS_INIT;
    const vpu_kernel *k;
    vpu_program *p[3];
    vpu_context *c;

    setenv("XDG_CACHE_HOME", dir, 1);
    c = api_context(NULL);
    o.source = "__kernel void f(__global int *x) { x[0] = N; }\n";
    o.build_options = options;
    o.n_build_options = 1;
    api_ok(vpu_program_create(&p[0], c, &o, &api_err));
    ck_assert_int_eq(count_entries(a, dir), 0); /* nothing is compiled yet */
    api_ok(vpu_program_kernel(p[0], NULL, &k, &api_err));
    ck_assert_int_eq(count_entries(a, dir), 1);
    setenv("PATH", "/nowhere", 1);
    api_ok(vpu_program_create(&p[1], c, &o, &api_err));
    api_ok(vpu_program_kernel(p[1], NULL, &k, &api_err));
    o.n_build_options = 0; /* another program */
    api_ok(vpu_program_create(&p[2], c, &o, &api_err));
    api_fails(vpu_program_kernel(p[2], NULL, &k, &api_err), VPU_ERR_IO,
              "clang-19");
    ck_assert_ptr_null(k);
    setenv("PATH", path, 1);
    ck_assert_int_eq(count_entries(a, dir), 1);
    for (int i = 0; i < 3; i++)
        vpu_program_free(p[i]);
    vpu_context_free(c);
    program_remove_dir(dir);
    arena_destroy(a);
}
END_TEST

START_TEST(programs_of_files_and_with_options)
{
    static const char text[] =
        "__kernel void f(__global int *x) { x[0] = ANSWER; }\n";
    static const char *const options[] = {"-DANSWER=42"};
    arena *a = arena_create(0);
    char *dir = program_temp_dir(a);
    char *path = file_join(a, dir, "f.cl");
    vpu_context *c = api_context(NULL);
    vpu_program_options o = VPU_PROGRAM_OPTIONS_INIT;
    const vpu_kernel *k;
    vpu_program *p;

    ck_assert_int_eq(file_write(path, text, sizeof text - 1, NULL), VPU_OK);
    o.file = path;
    o.build_options = options;
    o.n_build_options = 1;
    api_ok(vpu_program_create(&p, c, &o, &api_err));
    api_ok(vpu_program_kernel(p, NULL, &k, &api_err));
    ck_assert_str_eq(vpu_kernel_name(k), "f");
    vpu_program_free(p);
    o.source = text;
    api_fails(vpu_program_create(&p, c, &o, &api_err), VPU_ERR_INVALID,
              "both source and file");
    o.source = NULL;
    o.file = "/nowhere/f.cl";
    api_fails(vpu_program_create(&p, c, &o, &api_err), VPU_ERR_IO,
              "/nowhere/f.cl");
    ck_assert_ptr_null(p);
    vpu_context_free(c);
    program_remove_dir(dir);
    arena_destroy(a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("contexts");
    Suite *suite = suite_create("library: contexts and programs");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_test(t, header_and_library_are_of_one_version);
    tcase_add_test(t, statuses_have_texts);
    tcase_add_test(t, devices_are_listed);
    tcase_add_test(t, backends_say_what_they_can);
    tcase_add_test(t, bad_options_are_refused);
    tcase_add_test(t, structures_of_other_versions);
    tcase_add_test(t, nothing_where_an_object_is_needed);
    tcase_add_test(t, kernels_tell_their_signature);
    tcase_add_test(t, kernels_that_do_not_compile);
    tcase_add_test(t, files_that_are_no_kernels);
    tcase_add_test(t, addresses_in_constants);
    tcase_add_test(t, compiling_is_limited);
    tcase_add_test(t, the_same_program_twice_is_one_entry_of_the_cache);
    tcase_add_test(t, programs_of_files_and_with_options);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
