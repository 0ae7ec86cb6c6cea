/* What a VPU lacks: which names lead to which row, in messages of a compiler,
 * too, and that a kernel's author reads what to do instead. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "sim/builtins/lacking.h"
#include "tests/support/rig.h"

static const char *name_of(const lacking_row *row)
{
    return row ? row->name : "";
}

/* --- names --------------------------------------------------------------- */

static const struct {
    const char *identifier, *name; /* "": no row */
} names[] = {
    {"image2d_t", "images"},
    {"image2d_array_depth_t", "images"},
    {"image3d_t", "images"},
    {"read_imagef", "images"},
    {"write_imageui", "images"},
    {"get_image_width", "images"},
    {"image4d_t", ""},
    {"image2d", ""},
    {"reread_imagef", ""},
    {"my_read_image", ""},
    {"sampler_t", "samplers"},
    {"sampler_type", ""},
    {"CLK_FILTER_LINEAR", "samplers"},
    {"CLK_LOCAL_MEM_FENCE", ""},
    {"double", "double"},
    {"double16", "double"},
    {"double5", ""},
    {"doubled", ""},
    {"convert_double4_rte", "double"},
    {"cl_khr_fp16", ""},
    {"get_sub_group_size", "sub-groups"},
    {"sub_group_reduce_add", "sub-groups"},
    {"sub_group_", "sub-groups"},
    {"sub_group", ""},
    {"get_sub_groups", ""},
    {"intel_sub_group_block_read8", "sub-groups of Intel's GPUs"},
    {"intel_reqd_sub_group_size", "sub-groups of Intel's GPUs"},
    {"intel_convert_bfloat16", "extensions of GPU vendors"},
    {"cl_intel_subgroups_short", "sub-groups of Intel's GPUs"},
    {"cl_khr_int64_base_atomics", "atomics of 64 bits"},
    {"cl_khr_int64_extended_atomics", "atomics of 64 bits"},
    {"cl_khr_int64_atomics", ""},
    {"atomic_ulong", "atomics of 64 bits"},
    {"atomic_fetch_add_explicit", "atomics of OpenCL 2.0"},
    {"atomic_add", ""},
    {"atomic_xchg", ""},
    {"enqueue_kernel", "queues for kernels to fill"},
    {"ndrange_2D", "queues for kernels to fill"},
    {"read_pipe", "pipes"},
    {"clSVMAlloc", "memory shared with the host"},
    {"__generic", "pointers without an address space"},
    {"to_global", "pointers without an address space"},
    {"work_group_barrier", "work_group_barrier"},
    {"work_group_reduce_max", "functions that combine values of a work-group"},
    {"work_group_size", ""},
    {"get_global_linear_id", "linear ids"},
    {"get_enqueued_local_size", "work-groups of different sizes"},
    {"get_local_size", ""},
    {"dot_acc_sat", "dot products of integers"},
    {"dot", ""},
    {"CL_DEVICE_MAX_WORK_GROUP_SIZE", "limits that a kernel can ask for"},
    {"printf", ""},
    {"", ""},
};
enum { N_NAMES = sizeof names / sizeof *names };

START_TEST(a_name_leads_to_its_row)
{
    ck_assert_msg(
        !strcmp(name_of(lacking_find(names[_i].identifier)), names[_i].name),
        "%s: '%s'", names[_i].identifier,
        name_of(lacking_find(names[_i].identifier)));
}
END_TEST

START_TEST(a_row_has_one_address)
{
    ck_assert_ptr_eq(lacking_find("read_imagef"), lacking_find("image1d_t"));
    ck_assert_ptr_ne(lacking_find("read_imagef"), lacking_find("sampler_t"));
}
END_TEST

/* Nothing is lacking that there is. */
START_TEST(no_builtin_is_lacking)
{
    static const char *const builtins[] = {
#define BUILTIN(name, fn, data, types) #name,
#define FAMILY(name, fn, types) #name,
#include "sim/builtins/builtins.def"
    };

    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        ck_assert_msg(!lacking_find(builtins[i]), "%s", builtins[i]);
}
END_TEST

/* A row that no name leads to would never be read; a name of an earlier row's
 * pattern would lead there. */
START_TEST(every_pattern_leads_to_its_own_row)
{
    static const struct {
        const char *id, *name;
    } rows[] = {
#define LACKING(id, name, why, instead) {#id, name},
#define SPELT(id, pattern)
#include "sim/builtins/lacking.def"
    };
    static const struct {
        const char *id, *pattern;
    } spellings[] = {
#define LACKING(id, name, why, instead)
#define SPELT(id, pattern) {#id, pattern},
#include "sim/builtins/lacking.def"
    };
    char identifier[80];

    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const char *pattern = spellings[i].pattern, *want = NULL;
        size_t head = strcspn(pattern, "*");

        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
            if (!strcmp(rows[k].id, spellings[i].id))
                want = rows[k].name;
        ck_assert_ptr_nonnull(want);
        snprintf(identifier, sizeof identifier, "%.*s%s%s", (int)head, pattern,
                 pattern[head] ? "1x_" : "",
                 pattern[head] ? pattern + head + 1 : "");
        ck_assert_msg(!strchr(identifier, '*'), "%s: two stars", pattern);
        ck_assert_msg(!strcmp(name_of(lacking_find(identifier)), want),
                      "%s: '%s'", identifier,
                      name_of(lacking_find(identifier)));
    }
}
END_TEST

/* --- messages ------------------------------------------------------------ */

static const struct {
    const char *message, *name;
} messages[] = {
    {"a.cl:3:5: error: use of undeclared identifier 'read_imagef'", "images"},
    {"unknown type name 'image2d_t'", "images"},
    {"use of type '__private double4' requires cl_khr_fp64 support", "double"},
    {"type '__private __read_only image2d_t' can only be used", "images"},
    {"cannot convert 'int' to '__global double *'", "double"},
    {"no function 'f' for 'sampler_t' and 'image2d_t'", "samplers"},
    {"OpenCL C version 1.2 does not support the '__generic' type qualifier",
     "pointers without an address space"},
    {"use of undeclared identifier 'sub_groups'; did you mean "
     "'sub_group_all'?",
     ""},
    {"use of undeclared identifier 'double4'; did you mean 'double'?",
     "double"},
    {"'double.h' file not found", ""},
    {"'dir/double' file not found", ""},
    {"double is not quoted", ""},
    {"it isn't closed: 'double", ""},
    {"it isn't closed 'double", ""},
    {"''", ""},
    {"'", ""},
    {"", ""},
    {"use of undeclared identifier 'doubel'", ""},
};
enum { N_MESSAGES = sizeof messages / sizeof *messages };

START_TEST(a_message_leads_to_the_row_it_quotes)
{
    const lacking_row *row = lacking_in_message(messages[_i].message);

    ck_assert_msg(!strcmp(name_of(row), messages[_i].name), "%s: '%s'",
                  messages[_i].message, name_of(row));
}
END_TEST

/* --- kernels ------------------------------------------------------------- */

#define KERNEL(parameters, statements) \
    "__kernel void k(" parameters ")\n{\n" statements "\n}\n"
#define HINT(place, name) place ": note: a VPU has no " name " ("

static const struct {
    const char *text;
    const char *says[2];
    const char *never;
} kernels[] = {
    {KERNEL("__global double *o", "o[0] = 1;"),
     {":1:26: error: use of type 'double' requires cl_khr_fp64 support\n",
      HINT(":1:26", "double")},
     NULL},
    {KERNEL("__global float *o",
            "o[0] = intel_sub_group_shuffle(o[1], 2);\no[1] = unknown;"),
     {HINT(":3:8", "sub-groups of Intel's GPUs"),
      ":4:8: error: use of undeclared identifier 'unknown'"},
     NULL},
    {KERNEL("__global float *o", "o[0] = work_group_reduce_add(o[1]);"),
     {HINT(":3:8", "functions that combine values of a work-group"), ""},
     NULL},
    /* Candidates of images do not help. */
    {KERNEL("__global float *o", "o[0] = read_imagef(o, 1).x;"),
     {":3:8: error: no matching function for call to 'read_imagef'",
      HINT(":3:8", "images")},
     "image2d"},
    /* Those of the kernel's own do, and the name means something else. */
    {"int __attribute__((overloadable)) read_image_row(int x);\n"
     "int __attribute__((overloadable)) read_image_row(int *x);\n" KERNEL(
         "__global int *o", "o[0] = read_image_row(o, 1);"),
     {":5:8: error: no matching function for call to 'read_image_row'",
      ":1:35: note: candidate function not viable"},
     "a VPU"},
    /* Declared by clang, but nothing a SHAVE has. */
    {KERNEL("read_only image2d_t a, __global float *o",
            "o[0] = read_imagef(a, (int2)(0, 0)).x;"),
     {": error: kernel 'k' takes images; a VPU has no images (",
      "As buffers: a: __read_only image2d_t -> __global const half *a, with "
      "a_width and a_height. <vpusim/images.h>"},
     "o:"},
    {KERNEL("write_only image2d_array_t b, sampler_t s", "b;"),
     {"b: __write_only image2d_array_t -> __global half *b, with b_width, "
      "b_height and b_depth; ",
      "s: sampler_t -> const int s. "},
     NULL},
    {KERNEL("__global float *o",
            "const sampler_t s = CLK_FILTER_NEAREST;\no[0] = 1;"),
     {"; a VPU has no samplers (", ""},
     NULL},
    {KERNEL("__global int *o", "o[0] = sub_group_reduce_add(o[1]);"),
     {":3:8: error: function 'sub_group_reduce_add' is neither",
      "; a VPU has no sub-groups ("},
     NULL},
    {KERNEL("__global long *o", "atom_add(o, 1L);"),
     {":3:1: error: 'atom_add': is declared with other types than the "
      "built-in's; a VPU has no atomics of 64 bits (",
      ""},
     NULL},
    /* Nothing is said of what is merely wrong. */
    {KERNEL("__global float *o", "o[0] = sqroot(o[1]);"),
     {"'sqroot'", ""},
     "a VPU"},
};
enum { N_KERNELS = sizeof kernels / sizeof *kernels };

START_TEST(a_kernel_gets_the_hint)
{
    rig r;
    vpu_status st;

    rig_open(&r);
    st = rig_try_compile(&r, kernels[_i].text, "k");
    ck_assert_msg(st == VPU_ERR_COMPILE, "status %d: %s", st, r.err.msg);
    for (int i = 0; i < 2; i++)
        ck_assert_msg(strstr(r.err.msg, kernels[_i].says[i]) != NULL,
                      "%s\nwithout: %s", r.err.msg, kernels[_i].says[i]);
    ck_assert_msg(!kernels[_i].never || !strstr(r.err.msg, kernels[_i].never),
                  "%s", r.err.msg);
    rig_close(&r);
}
END_TEST

/* Once for each thing, behind its first message and the line that this shows.
 */
START_TEST(a_hint_stands_once)
{
    const char *first, *hint, *second;
    rig r;

    rig_open(&r);
    ck_assert_int_eq(rig_try_compile(&r,
                                     KERNEL("__global float *o",
                                            "double a = o[0];\ndouble b = 2;"),
                                     "k"),
                     VPU_ERR_COMPILE);
    first = strstr(r.err.msg, ":3:1: error:");
    hint = strstr(r.err.msg, HINT(":3:1", "double"));
    second = strstr(r.err.msg, ":4:1: error:");
    ck_assert_msg(first && hint && second, "%s", r.err.msg);
    ck_assert_msg(first < hint && hint < second, "%s", r.err.msg);
    ck_assert_msg(strstr(first, "double a = o[0];") < hint, "%s", r.err.msg);
    ck_assert_msg(!strstr(second, "a VPU has no"), "%s", r.err.msg);
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lacking");
    TCase *t = tcase_create("table"), *k = tcase_create("kernels");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_loop_test(t, a_name_leads_to_its_row, 0, N_NAMES);
    tcase_add_test(t, a_row_has_one_address);
    tcase_add_test(t, no_builtin_is_lacking);
    tcase_add_test(t, every_pattern_leads_to_its_own_row);
    tcase_add_loop_test(t, a_message_leads_to_the_row_it_quotes, 0, N_MESSAGES);
    tcase_add_loop_test(k, a_kernel_gets_the_hint, 0, N_KERNELS);
    tcase_add_test(k, a_hint_stands_once);
    tcase_set_timeout(k, 120);
    suite_add_tcase(s, t);
    suite_add_tcase(s, k);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
