/* Work-items against the same text compiled as C: cl/items.def. Local sizes
 * take the scalar and the vectorized form of each. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "runtime/graph/npy.h"
#include "tests/kernels/program.h"
#include "tests/kernels/ref.h"

enum { N = 1200, SEED = 5 };

typedef ref_half half;

#define ITEM(name, T, ...)                               \
    static void item_##name(const T *src, T *dst, int i) \
    {                                                    \
        (void)src;                                       \
        __VA_ARGS__                                      \
    }
#include "tests/kernels/cl/items.def"

#define ITEM(name, T, ...)                             \
    static void all_##name(const void *src, void *dst) \
    {                                                  \
        for (int i = 0; i < N; i++)                    \
            item_##name(src, dst, i);                  \
    }
#include "tests/kernels/cl/items.def"

typedef struct {
    const char *name;
    size_t element;
    void (*all)(const void *src, void *dst);
} item;

static const item items[] = {
#define ITEM(name, T, ...) {#name, sizeof(T), all_##name},
#include "tests/kernels/cl/items.def"
};
enum { N_ITEMS = sizeof items / sizeof *items };

static const char *const local_sizes[] = {"1", "8", "12", "100", "240"};

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

static const char *write_layer(const item *t, const char *local)
{
    char *source = realpath("tests/kernels/cl/items.cl", NULL);
    char *path = file_join(a, dir, "layer.xml"), *text;
    vpu_error err = {0};

    ck_assert_ptr_nonnull(source);
    text = arena_printf(
        a,
        "<CustomLayer name='Item' type='MVCL' version='1'>"
        "<Kernel entry='%s'><Source filename='%s'/><Parameters>"
        "<Tensor arg-name='src' type='input' port-index='0' format='BFYX'/>"
        "<Tensor arg-name='dst' type='output' port-index='0' format='BFYX'/>"
        "</Parameters><WorkSizes dim='input,0' global='X,1,1' "
        "local='%s,1,1'/></Kernel></CustomLayer>",
        t->name, source, local);
    free(source);
    ck_assert_msg(!file_write(path, text, strlen(text), &err), "%s", err.msg);
    return path;
}

static void run(const item *t, const char *local, tensor *out)
{
    vpu_error err = {0};
    program_args p;
    size_t n;
    int status;

    program_args_init(&p, a, "run", write_layer(t, local), "--output", dir,
                      "--quiet", "--shape", NULL);
    program_args_add(&p, "in0=1x1x1x%d:%s", N, t->element == 2 ? "f16" : "f32");
    program_args_add(&p, "--input");
    program_args_add(&p, "0=random:%d", SEED);
    status = program_run(&p, dir);
    ck_assert_msg(status == 0, "%s, local size %s: exit status %d: %s", t->name,
                  local, status, program_file(a, dir, "stderr", &n));
    ck_assert_msg(!npy_read(file_join(a, dir, "out0.npy"), a, out, &err), "%s",
                  err.msg);
}

START_TEST(items_equal_c)
{
    const item *t = &items[_i];
    ref_tensor in = {{1, 1, 1, N}, t->element == 2, NULL}, want = in;
    char text[1024];
    tensor got;

    ref_alloc(&in);
    ref_alloc(&want);
    ref_random(&in, 0, SEED);
    t->all(in.data, want.data);
    for (size_t l = 0; l < sizeof local_sizes / sizeof *local_sizes; l++) {
        size_t differ;

        run(t, local_sizes[l], &got);
        differ = ref_compare(&want, got.data, text, sizeof text);
        ck_assert_msg(differ == 0, "%s, local size %s: %zu elements differ%s",
                      t->name, local_sizes[l], differ, text);
    }
    ref_free(&want);
    ref_free(&in);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("items");
    TCase *tc = tcase_create("the same text as C");
    SRunner *sr;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, items_equal_c, 0, N_ITEMS);
    suite_add_tcase(suite, tc);
    sr = srunner_create(suite);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
