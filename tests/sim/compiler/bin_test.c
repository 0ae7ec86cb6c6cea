/* A .bin carries its kernel as preprocessed text: what it says is what the
 * source says, and nothing else can be said with it. */
#include <check.h>
#include <ctype.h>
#include <elf.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "isa/text.h"
#include "sim/compiler/front/source.h"
#include "sim/compiler/kernel.h"
#include "sim/compiler/store/object.h"
#include "tests/kernels/program.h"

static arena *a;
static char *dir;
static vpu_error err;

static void setup(void)
{
    a = arena_create(0);
    dir = program_temp_dir(a);
    err = (vpu_error){0};
}

static void teardown(void)
{
    program_remove_dir(dir);
    arena_destroy(a);
}

static const char *put(const char *name, const char *text)
{
    char *path = file_join(a, dir, name);

    ck_assert_msg(!file_write(path, text, strlen(text), &err), "%s", err.msg);
    return path;
}

/* --- it says what the source says ---------------------------------------- */

/* "@26:53" becomes "@26": macros move columns. */
static char *without_columns(char *text)
{
    char *to = text;

    for (const char *from = text; *from;) {
        bool place = *from == '@';

        *to++ = *from++;
        while (place && isdigit((unsigned char)*from))
            *to++ = *from++;
        if (place && *from == ':')
            from += 1 + strspn(from + 1, "0123456789");
    }
    *to = 0;
    return text;
}

static const char *program_text(const sim_kernel *k)
{
    const isa_function *fs[SIM_N_VARIANTS];
    const char *text = "";

    ck_assert_msg(!kernel_programs(k, a, fs, &err), "%s", err.msg);
    for (int v = 0; v < SIM_N_VARIANTS; v++) {
        size_t n = fs[v] ? isa_print(fs[v], NULL, 0) : 0;
        char *one = arena_push(a, n + 1, 1, 1);

        if (fs[v])
            isa_print(fs[v], one, n + 1);
        text = arena_printf(a, "%s%s", text, without_columns(one));
    }
    return text;
}

static sim_kernel *direct(const char *path, const char *entry,
                          const kernel_compile_config *cfg)
{
    const kernel_source source = {.path = path, .entry = entry};
    sim_kernel *k;

    ck_assert_msg(!kernel_compile(&source, cfg, a, &k, &err), "%s", err.msg);
    return k;
}

/* A copy, which a test may change. */
static uint8_t *built(const char *path, const char *entry,
                      const kernel_compile_config *cfg, size_t *n)
{
    const kernel_source source = {.path = path, .entry = entry};
    kernel_bin bin;

    ck_assert_msg(!kernel_build_bin(&source, cfg, a, &bin, &err), "%s",
                  err.msg);
    *n = bin.n;
    return arena_memdup(a, bin.bytes, bin.n);
}

static vpu_status load(const uint8_t *file, size_t n, const char *entry,
                       const kernel_compile_config *cfg, sim_kernel **k)
{
    const kernel_source bin = {
        .path = "k.bin", .entry = entry, .bin = file, .bin_bytes = n};

    return kernel_compile(&bin, cfg, a, k, &err);
}

static const char *text_of(const uint8_t *file, size_t n)
{
    const uint8_t *text;
    size_t n_text;

    ck_assert(object_find(file, n, ".vpusim.source", &text, &n_text));
    return arena_strndup(a, (const char *)text, n_text);
}

/* options: of the source; the .bin needs none of them. */
static void same_program(const char *path, const char *entry,
                         const kernel_compile_config *cfg)
{
    const kernel_compile_config plain = {.user.no_cache = true};
    sim_kernel *k, *of_source = direct(path, entry, cfg);
    size_t n;
    uint8_t *file = built(path, of_source->name, cfg, &n);

    ck_assert_msg(!load(file, n, of_source->name, &plain, &k), "%s: %s", path,
                  err.msg);
    ck_assert_msg(!strcmp(program_text(of_source), program_text(k)),
                  "%s: another program", path);
    ck_assert_uint_eq(of_source->n_args, k->n_args);
    ck_assert_uint_eq(of_source->const_bytes, k->const_bytes);
}

static glob_t samples;

START_TEST(samples_are_the_same)
{
    const char *path = samples.gl_pathv[_i];
    const kernel_compile_config cfg = {.user.no_cache = true};

    same_program(path, NULL, &cfg);
}
END_TEST

/* Everything of a preprocessor in it. */
START_TEST(preprocessor_is_done)
{
    static const char *const options[] = {"-DN=3", "-cl-fast-relaxed-math",
                                          NULL};
    const char *in_dir = arena_printf(a, "-I%s", dir);
    const char *all[] = {options[0], options[1], in_dir};
    const kernel_compile_config cfg = {
        .user.options = all, .user.n_options = 3, .user.no_cache = true};
    const char *path, *text;
    uint8_t *file;
    size_t n;

    put("part.h", "#pragma once\n"
                  "#define TWICE(x) ((x) + \\\n    (x))\n"
                  "#if defined(__VPU__) && N > 2\n"
                  "#define BEGIN 5\n"
                  "#else\n#error\n#endif\n");
    path = put("k.cl",
               "#include <part.h>\n"
               "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
               "#pragma GCC diagnostic ignored \"-Wunused\"\n"
               "/* a comment: # include */\n"
               "__constant char text[] = \"# \\\"??\" \"/* //\";\n"
               "__kernel void k(__global int *d) { // it's\n"
               "    _Pragma(\"unroll 2\")\n"
               "    for (int i = BEGIN; i < TWICE(N * 4); i++)\r\n"
               "        _Pragma(\"unroll 3\") for (int j = 0; j < 2; j++)\n"
               "        d[i] = __LINE__ + text[i & 7] + (int)INFINITY;\n"
               "    barrier(CLK_LOCAL_MEM_FENCE);\n"
               "}\n");
    same_program(path, "k", &cfg);
    file = built(path, "k", &cfg, &n);
    text = text_of(file, n);
    ck_assert_ptr_null(strstr(text, "include"));
    ck_assert_ptr_null(strstr(text, "comment"));
    ck_assert_ptr_null(strstr(text, "diagnostic"));
    ck_assert_ptr_nonnull(strstr(text, "#pragma unroll 2"));
}
END_TEST

START_TEST(options_of_the_text_are_kept)
{
    static const char *const options[] = {"-DA=1", "-cl-opt-disable"};
    const kernel_compile_config cfg = {
        .user.options = options, .user.n_options = 2, .user.no_cache = true};
    const char *path =
        put("k.cl", "__kernel void k(__global int *d) { d[0] = A; }\n");
    sim_kernel *k;
    size_t n;
    uint8_t *file = built(path, "k", &cfg, &n);

    ck_assert(!kernel_describe(
        &(kernel_source){.path = "k.bin", .bin = file, .bin_bytes = n}, a, &k,
        &err));
    ck_assert_uint_eq(k->n_options, 1);
    ck_assert_str_eq(k->options[0], "-cl-opt-disable");
}
END_TEST

/* Kernels without such a form, and what is said. */
static const char *const without[][2] = {
    {"#undef M_PI_F\n__kernel void k(__global int *d) { int M_PI_F = 2; d[0] = "
     "M_PI_F; }\n",
     "another meaning"},
    {"#pragma clang attribute push(__attribute__((noinline)), apply_to = "
     "function)\n"
     "__kernel void k(__global int *d) { d[0] = 2; }\n"
     "#pragma clang attribute pop\n",
     "clang attribute"}};

START_TEST(refused_with_words)
{
    const kernel_compile_config cfg = {.user.no_cache = true};
    const char *path = put("k.cl", without[_i][0]);
    const kernel_source source = {.path = path, .entry = "k"};
    kernel_bin bin;

    direct(path, "k", &cfg);
    ck_assert_int_eq(kernel_build_bin(&source, &cfg, a, &bin, &err),
                     VPU_ERR_UNSUPPORTED);
    ck_assert_msg(strstr(err.msg, without[_i][1]), "%s", err.msg);
    ck_assert_msg(strstr(err.msg, path), "%s", err.msg);
}
END_TEST

/* --- what other hosts read ----------------------------------------------- */

static uint32_t word(const uint8_t *bytes, size_t i)
{
    uint32_t v;

    memcpy(&v, bytes + 4 * i, 4);
    return v;
}

/* docs/formats.md, "Metadata of 2021 and later": bytes of each record, in the
 * order in which the head counts them. */
START_TEST(metadata_has_what_its_head_counts)
{
    static const uint32_t record_bytes[] = {132, 28, 0, 8, 8, 4};
    const kernel_compile_config cfg = {.user.no_cache = true};
    const char *path = put("k.cl", "__kernel void k(__local int *t,\n"
                                   "                __global int *d)\n{\n"
                                   "    d[get_global_id(0)] = t[0];\n}\n"
                                   "__kernel void __dma_preload_k(\n"
                                   "    __local int *t, __global int *d)\n{\n"
                                   "    event_t e = "
                                   "async_work_group_copy(t, d, 4, 0);\n"
                                   "    wait_group_events(1, &e);\n}\n");
    const uint8_t *file, *meta;
    size_t n, n_meta, end = 0;

    file = built(path, "k", &cfg, &n);
    ck_assert(object_find(file, n, ".neo_metadata", &meta, &n_meta));
    for (size_t i = 0; i < sizeof record_bytes / sizeof *record_bytes; i++) {
        size_t to = word(meta, 2 + 2 * i) +
                    (size_t)word(meta, 1 + 2 * i) * record_bytes[i];

        end = to > end ? to : end;
    }
    ck_assert_uint_ge(word(meta, 11), 2); /* the kernel's and its preload's */
    ck_assert_uint_eq(n_meta, end);
}
END_TEST

/* Phases that the compiler made of copies: flag 4 of the kernel; each array of
 * the program that they fill or empty is an argument with flag 8 behind the
 * kernel's own, before the last, which is none (docs/formats.md). */
START_TEST(metadata_of_generated_phases)
{
    const kernel_compile_config cfg = {.user.no_cache = true};
    const char *path =
        put("k.cl", "__kernel void k(__global int *d, __global const int *s,\n"
                    "                __local int *t)\n{\n"
                    "    __local int in[8], kept[8], back[8];\n"
                    "    int l = get_local_id(0);\n"
                    "    event_t e = async_work_group_copy(in, s, 8, 0);\n"
                    "    e = async_work_group_copy(t, s + 8, 8, e);\n"
                    "    wait_group_events(1, &e);\n"
                    "    kept[l] = in[l] + t[l];\n"
                    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                    "    back[l] = kept[7 - l];\n"
                    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                    "    e = async_work_group_copy(d, back, 8, 0);\n"
                    "    wait_group_events(1, &e);\n}\n");
    const uint32_t flags[] = {0, 0, 1 | 4, 1 | 4 | 8, 2 | 4 | 8, 0};
    const uint8_t *file, *meta;
    size_t n, n_meta;

    file = built(path, "k", &cfg, &n);
    ck_assert(object_find(file, n, ".neo_metadata", &meta, &n_meta));
    ck_assert_uint_eq(word(meta + 52, 0), 1 | 2 | 4);
    ck_assert_uint_eq(word(meta + 52, 1), 6);
    ck_assert_uint_eq(word(meta, 3), 6);
    for (int k = 0; k < 6; k++)
        ck_assert_uint_eq(word(meta + word(meta, 4) + 28 * k, 0), flags[k]);
}
END_TEST

static const struct {
    const char *type;
    uint32_t bytes;
} elements[] = {{"char", 1},   {"uchar", 1},  {"short", 2},  {"ushort", 2},
                {"int", 4},    {"uint", 4},   {"long", 8},   {"ulong", 8},
                {"half", 2},   {"float", 4},  {"uchar2", 2}, {"half3", 8},
                {"short4", 8}, {"int3", 16},  {"uint8", 32}, {"float16", 64},
                {"long2", 16}, {"ulong4", 32}};

/* An argument's record has the bytes of an element in its fourth word. */
START_TEST(metadata_has_bytes_of_elements)
{
    const kernel_compile_config cfg = {.user.no_cache = true};
    const char *type = elements[_i].type;
    const char *path =
        put("k.cl", arena_printf(a,
                                 "__kernel void k(__global %s *d,\n"
                                 "                __global const %s *s)\n"
                                 "{ d[0] = s[1]; }\n",
                                 type, type));
    const uint8_t *file, *meta;
    size_t n, n_meta;

    file = built(path, "k", &cfg, &n);
    ck_assert(object_find(file, n, ".neo_metadata", &meta, &n_meta));
    for (int k = 0; k < 2; k++)
        ck_assert_uint_eq(word(meta + word(meta, 4) + 28 * k, 3),
                          elements[_i].bytes);
}
END_TEST

/* --- nothing else can be said with it ------------------------------------ */

static const struct {
    const char *text, *why; /* NULL: it is fine */
} texts[] = {
    {"", NULL},
    {"# 1 \"k.cl\"\nint x;\n\n#pragma unroll 4\n", NULL},
    {"# 12 \"a b\\\"c\\\\d\\101.cl\"\n", NULL},
    {"# 12 \"three digits, then one\\1017.cl\"\n", NULL},
    {"# 12 \"three digits at the end\\101\"\n", NULL},
    {"# 12 \"two digits\\10.cl\"\n", "a directive"},
    {"# 12 \"no digit\\108.cl\"\n", "a directive"},
    {"char *s = \"# // /* \\\" %:\"; char c = '\"', d = '\\'';\n", NULL},
    {"int a = 7 % 2, b = 6 / 3;\n", NULL},
    {"#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n", NULL},
    {"#include \"/etc/passwd\"\n", "line 1: a directive"},
    {"int x;\n#include </etc/passwd>\n", "line 2: a directive"},
    {" #include \"/etc/passwd\"\n", "a directive"},
    {"\t#\tinclude \"/etc/passwd\"\n", "a directive"},
    {"# include \"/etc/passwd\"\n", "a directive"},
    {"%:include \"/etc/passwd\"\n", "a directive"},
    {"  %: include \"/etc/passwd\"\n", "a directive"},
    {"?\?=include \"/etc/passwd\"\n", "a trigraph"},
    {"char *s = \"?\?/\"; /* \";\n", "a trigraph"},
    {"/**/#include \"/etc/passwd\"\n", "a comment"},
    {"int x; // y\n", "a comment"},
    {"#def\\\nine X\n", "a directive"},
    {"int x\\\n;\n", "a '\\'"},
    {"char *s = \"a\\\n#include b\";\n", "without an end"},
    {"char *s = \"a\n", "without an end"},
    {"char c = '\n", "without an end"},
    {"int x;\r#include \"/etc/passwd\"\n", "control character"},
    {"int x;\f#include \"/etc/passwd\"\n", "control character"},
    {"int x;", "no line feed"},
    {"#define X 1\n", "a directive"},
    {"#undef X\n", "a directive"},
    {"#line 3 \"x\"\n", "a directive"},
    {"#embed \"/etc/passwd\"\n", "a directive"},
    {"#import \"/etc/passwd\"\n", "a directive"},
    {"#\n", "a directive"},
    {"# 1 \"k.cl\" 3\n", "a directive"},
    {"# 1 \"k.cl\n", "a directive"},
    {"# 1 \"k\\x41.cl\"\n", "a directive"},
    {"# 99999999999 \"k.cl\"\n", "a directive"},
    {"#pragma once\n", "a directive"},
    {"#pragma clang module import x\n", "a directive"},
    {"#pragma clang loop unroll(full) \"x\"\n", "a directive"},
    {"#pragma unrollx\n", "a directive"},
    {"#pragma GCC dependency \"/etc/passwd\"\n", "a directive"},
    {"#pragma include_alias(\"a\", \"b\")\n", "a directive"},
};

START_TEST(plain_form)
{
    const char *text = texts[_i].text;
    char *out;
    vpu_status st = source_check(text, strlen(text), a, &out, &err);

    ck_assert_msg((st == VPU_OK) == !texts[_i].why, "'%s': %s", text, err.msg);
    if (st)
        ck_assert_msg(strstr(err.msg, texts[_i].why), "'%s': %s", text,
                      err.msg);
    else
        ck_assert_str_eq(out, text);
}
END_TEST

START_TEST(zero_byte_is_refused)
{
    char *out;

    ck_assert_int_eq(source_check("int x;\0\n", 8, a, &out, &err),
                     VPU_ERR_PARSE);
}
END_TEST

/* A .bin whose text was exchanged for one as long. */
START_TEST(exchanged_text_is_checked)
{
    const kernel_compile_config cfg = {.user.no_cache = true};
    const char *path =
        put("k.cl", "__kernel void k(__global int *d)\n{\n"
                    "    int of_some_length_0123456789 = 3;\n"
                    "    d[0] = of_some_length_0123456789;\n}\n");
    static const char evil[] = "\n#include \"/etc/hostname\"  \n\n";
    sim_kernel *k;
    size_t n;
    uint8_t *file = built(path, "k", &cfg, &n);
    char *at = memmem(file, n, "    int of_some", 15);

    ck_assert_ptr_nonnull(at);
    memcpy(at, evil, sizeof evil - 1);
    ck_assert_int_eq(load(file, n, "k", &cfg, &k), VPU_ERR_PARSE);
    ck_assert_msg(strstr(err.msg, "k.bin") && strstr(err.msg, "a directive"),
                  "%s", err.msg);
}
END_TEST

/* As other programs for ELF files see it, and hosts before 2021, which look for
 * the names by their type. */
/* A .bin of the time before guards lay behind arrays, and one that lies about
 * them. */
static const struct {
    const char *changes[2][2];
    vpu_status st;
} guards[] = {
    {{{"\"guard\"", "\"wards\""}, {"\"offset\":64", "\"offset\":32"}}, VPU_OK},
    {{{"\"guard\":32", "\"guard\":31"}}, VPU_ERR_PARSE},
    {{{"\"local_span\":112", "\"local_span\":111"}}, VPU_ERR_PARSE},
    {{{"\"local_span\":112", "\"local_span\":1e9"}}, VPU_ERR_PARSE},
    {{{"\"offset\":64", "\"offset\":90"}}, VPU_ERR_PARSE}};

START_TEST(places_of_local_arrays)
{
    static const char text[] =
        "__kernel void k(__global int *out)\n{\n"
        "    __local char a[20];\n    __local int b[4];\n"
        "    a[get_local_id(0)] = 1;\n    b[get_local_id(0)] = 2;\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    out[get_global_id(0)] = a[0] + b[0];\n}\n";
    const kernel_compile_config cfg = {.user.no_cache = true};
    size_t n;
    uint8_t *file = built(put("k.cl", text), "k", &cfg, &n);
    sim_kernel *k;

    for (int c = 0; c < 2 && guards[_i].changes[c][0]; c++) {
        const char *from = guards[_i].changes[c][0];
        uint8_t *at = memmem(file, n, from, strlen(from));

        ck_assert_msg(at != NULL, "%s", from);
        memcpy(at, guards[_i].changes[c][1], strlen(guards[_i].changes[c][1]));
    }
    ck_assert_msg(load(file, n, "k", &cfg, &k) == guards[_i].st, "%s", err.msg);
}
END_TEST

START_TEST(sections_have_types)
{
    const kernel_compile_config cfg = {.user.no_cache = true};
    const char *path =
        put("k.cl", "__kernel void k(__global int *d) { *d = 3; }\n");
    size_t n;
    const uint8_t *file = built(path, "k", &cfg, &n);
    const Elf32_Ehdr *head = (const Elf32_Ehdr *)file;
    const Elf32_Shdr *s = (const Elf32_Shdr *)(file + head->e_shoff);

    ck_assert_uint_eq(head->e_shentsize, sizeof *s);
    ck_assert_uint_gt(head->e_shnum, 2);
    for (unsigned i = 0; i < head->e_shnum; i++)
        ck_assert_uint_eq(s[i].sh_type, i == 0                  ? SHT_NULL
                                        : i == head->e_shstrndx ? SHT_STRTAB
                                                                : SHT_PROGBITS);
    ck_assert_str_eq((const char *)file + s[head->e_shstrndx].sh_offset +
                         s[head->e_shstrndx].sh_name,
                     ".shstrtab");
}
END_TEST

static const char *const sections[] = {"-I/etc", "-DX", "-include", "@x"};

START_TEST(exchanged_option_is_checked)
{
    static const char *const options[] = {"-cl-unsafe-math-optimizations"};
    const kernel_compile_config cfg = {
        .user.options = options, .user.n_options = 1, .user.no_cache = true};
    const char *path =
        put("k.cl", "__kernel void k(__global int *d) { *d = 3; }\n");
    const size_t room = strlen(options[0]);
    sim_kernel *k;
    size_t n, used = strlen(sections[_i]);
    uint8_t *file = built(path, "k", &cfg, &n);
    char *at = memmem(file, n, options[0], room);

    ck_assert_ptr_nonnull(at);
    memcpy(at, sections[_i], used);
    memset(at + used, 'x', room - used);
    ck_assert_int_eq(load(file, n, "k", &cfg, &k), VPU_ERR_PARSE);
    ck_assert_msg(strstr(err.msg, "option"), "%s", err.msg);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("bin");
    TCase *c = tcase_create("bin");
    SRunner *r;
    int failed;

    glob("kernels/*/*.cl", 0, NULL, &samples);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, samples_are_the_same, 0, (int)samples.gl_pathc);
    tcase_add_test(c, preprocessor_is_done);
    tcase_add_test(c, options_of_the_text_are_kept);
    tcase_add_loop_test(c, refused_with_words, 0,
                        sizeof without / sizeof *without);
    tcase_add_test(c, metadata_has_what_its_head_counts);
    tcase_add_test(c, metadata_of_generated_phases);
    tcase_add_loop_test(c, metadata_has_bytes_of_elements, 0,
                        sizeof elements / sizeof *elements);
    tcase_add_loop_test(c, plain_form, 0, sizeof texts / sizeof *texts);
    tcase_add_test(c, zero_byte_is_refused);
    tcase_add_test(c, sections_have_types);
    tcase_add_loop_test(c, places_of_local_arrays, 0,
                        sizeof guards / sizeof *guards);
    tcase_add_test(c, exchanged_text_is_checked);
    tcase_add_loop_test(c, exchanged_option_is_checked, 0,
                        sizeof sections / sizeof *sections);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    globfree(&samples);
    return failed != 0;
}
