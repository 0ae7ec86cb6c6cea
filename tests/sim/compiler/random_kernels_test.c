/* Random kernels on the device against the same text compiled as C, for group
 * sizes that reach both variants, on both engines: the same bytes, and the same
 * cycles of the two.
 *
 * VPU_SEEDS=FIRST:COUNT runs other seeds than the default ones, with two group
 * sizes a kernel and without the checkers; VPU_SHOW=1 prints the kernels. */
#include <check.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/kernel_gen.h"
#include "tests/support/rig.h"

static const int locals[][2] = {{16, 1}, {8, 3}, {5, 2}, {1, 1}, {4, 16}};
enum { N_LOCALS = sizeof locals / sizeof *locals };

enum { IN_A_FILE = 8, N_FILES = 6 };

static bool whole(void)
{
    return !getenv("VPU_SEEDS");
}

static uint64_t first_seed(void)
{
    return whole() ? 0 : strtoull(getenv("VPU_SEEDS"), NULL, 10);
}

static int n_files(void)
{
    const char *colon = whole() ? NULL : strchr(getenv("VPU_SEEDS"), ':');

    return colon ? (atoi(colon + 1) + IN_A_FILE - 1) / IN_A_FILE : N_FILES;
}

typedef struct {
    unsigned out[GEN_ITEMS * GEN_OUTPUTS];
    unsigned short hout[GEN_ITEMS];
    unsigned char bout[GEN_ITEMS];
} outputs;

typedef struct {
    unsigned in[GEN_ITEMS];
    float fin[GEN_ITEMS];
    unsigned short hin[GEN_ITEMS];
    unsigned char bin[GEN_ITEMS];
} inputs;

static void make_inputs(inputs *x, uint64_t seed)
{
    for (unsigned i = 0; i < GEN_ITEMS; i++) {
        uint32_t r = rig_noise(seed * GEN_ITEMS + i);

        x->in[i] = r >> (r & 3) * 8;
        x->fin[i] = (float)(int32_t)r * 0x1p-24f;
        x->hin[i] = (unsigned short)(r >> 16 & 0xcfff);
        x->bin[i] = (unsigned char)(r >> 8);
    }
}

static const char *check_words(const char *name, const void *got,
                               const void *want, size_t n, size_t size,
                               size_t *at)
{
    for (*at = 0; *at < n; ++*at)
        if (memcmp((const char *)got + *at * size,
                   (const char *)want + *at * size, size))
            return name;
    return NULL;
}

/* What the kernels of one file share: buffers are put back between launches. */
typedef struct {
    rig r;
    void *so;
    inputs in;
    outputs want;
    void *got[3];
} bench;

static void compile_c(bench *b, const str *text)
{
    rig *r = &b->r;
    const char *src = arena_printf(r->arena, "%s/g.c", r->dir);
    const char *lib = arena_printf(r->arena, "%s/g.so", r->dir);

    ck_assert(!file_write(src, text->data, text->n, &r->err));
    ck_assert_msg(!system(arena_printf(r->arena,
                                       "cc -O1 -ffp-contract=off -fwrapv -w "
                                       "-shared -fPIC -o %s %s -lm",
                                       lib, src)),
                  "cc refused %s", src);
    b->so = dlopen(lib, RTLD_NOW);
    ck_assert_msg(b->so != NULL, "%s", dlerror());
    unlink(src);
    unlink(lib);
}

static void bind(bench *b, uint64_t seed)
{
    rig *r = &b->r;

    rig_int(r, (int)(seed % 11));
    memcpy(rig_buffer(r, sizeof b->in.in), b->in.in, sizeof b->in.in);
    memcpy(rig_buffer(r, sizeof b->in.fin), b->in.fin, sizeof b->in.fin);
    memcpy(rig_buffer(r, sizeof b->in.hin), b->in.hin, sizeof b->in.hin);
    memcpy(rig_buffer(r, sizeof b->in.bin), b->in.bin, sizeof b->in.bin);
    b->got[0] = rig_buffer(r, sizeof b->want.out);
    b->got[1] = rig_buffer(r, sizeof b->want.hout);
    b->got[2] = rig_buffer(r, sizeof b->want.bout);
    rig_local(r, 4 * 64);
    rig_local(r, 2 * 64);
}

static gen_group_fn *c_function(bench *b, unsigned k)
{
    void *sym = dlsym(b->so, arena_printf(b->r.arena, "group%u", k));
    gen_group_fn *fn;

    ck_assert_ptr_nonnull(sym);
    memcpy(&fn, &sym, sizeof fn);
    return fn;
}

static void run_c(bench *b, gen_group_fn *fn, const int groups[2], const int *L,
                  uint64_t seed)
{
    memset(&b->want, 0, sizeof b->want);
    for (int g = 0; g < groups[0] * groups[1]; g++)
        fn((int[]){g % groups[0], g / groups[0]}, groups, L,
           (unsigned)(seed % 11), b->in.in, b->in.fin, b->in.hin, b->in.bin,
           b->want.out, b->want.hout, b->want.bout);
}

/* One launch of the device, on both engines, and in C. */
static void launch(bench *b, gen_group_fn *fn, const int *L, uint64_t seed)
{
    int groups[2] = {3, GEN_ITEMS / (3 * L[0] * L[1])};
    const char *where;
    size_t at;

    groups[1] = groups[1] > 4 ? 4 : groups[1];
    run_c(b, fn, groups, L, seed);
    memset(b->got[0], 0, sizeof b->want.out);
    memset(b->got[1], 0, sizeof b->want.hout);
    memset(b->got[2], 0, sizeof b->want.bout);
    ck_assert_msg(
        !rig_run(&b->r,
                 (uint32_t[]){(uint32_t)groups[0], (uint32_t)groups[1], 1},
                 (uint32_t[]){(uint32_t)L[0], (uint32_t)L[1], 1}),
        "seed %llu: %s", (unsigned long long)seed, b->r.err.msg);
    where = check_words("out", b->got[0], b->want.out, GEN_ITEMS * GEN_OUTPUTS,
                        4, &at);
    if (!where)
        where = check_words("hout", b->got[1], b->want.hout, GEN_ITEMS, 2, &at);
    if (!where)
        where = check_words("bout", b->got[2], b->want.bout, GEN_ITEMS, 1, &at);
    ck_assert_msg(!where,
                  "seed %llu, groups of %dx%d, %s variant: %s[%zu] differs",
                  (unsigned long long)seed, L[0], L[1],
                  sim_variant_name(b->r.result.variant), where, at);
}

static void try_kernel(bench *b, unsigned k, uint64_t seed)
{
    size_t n_buffers = memory_count(b->r.mem);
    unsigned n = whole() ? N_LOCALS : 2;

    ck_assert_msg(
        !rig_try_unit_kernel(&b->r, arena_printf(b->r.arena, "k%u", k)),
        "seed %llu: %s", (unsigned long long)seed, b->r.err.msg);
    b->r.clean = whole() && seed % 4 == 0;
    b->r.who = arena_printf(b->r.arena, "seed %llu", (unsigned long long)seed);
    make_inputs(&b->in, seed);
    bind(b, seed);
    for (unsigned i = 0; i < n; i++)
        launch(b, c_function(b, k), locals[(seed + i) % N_LOCALS], seed);
    memory_release(b->r.mem, n_buffers);
}

static void try_file(uint64_t seed)
{
    static bench b;
    str opencl, c;

    rig_open(&b.r);
    gen_file(seed, IN_A_FILE, &opencl, &c);
    if (getenv("VPU_SHOW"))
        printf("/* seed %llu */\n%s", (unsigned long long)seed, opencl.data);
    compile_c(&b, &c);
    ck_assert_msg(!rig_try_open_unit(&b.r, opencl.data), "seed %llu: %s",
                  (unsigned long long)seed, b.r.err.msg);
    for (unsigned k = 0; k < IN_A_FILE; k++)
        try_kernel(&b, k, seed + k);
    dlclose(b.so);
    str_free(&opencl);
    str_free(&c);
    rig_close(&b.r);
}

START_TEST(device_equals_c)
{
    try_file(first_seed() + (uint64_t)_i * IN_A_FILE);
}
END_TEST

/* Files of the long run with a kernel that was refused: their vectors, read in
 * part, became loads of 128 bits. */
static const uint64_t found[] = {203016, 207128, 205600};

START_TEST(found_before)
{
    try_file(found[_i]);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kernels: random");
    TCase *c = tcase_create("random");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, device_equals_c, 0, n_files());
    if (whole())
        tcase_add_loop_test(c, found_before, 0, sizeof found / sizeof *found);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
