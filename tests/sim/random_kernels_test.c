/* Random kernels on the device against the same text compiled as C, for group
 * sizes that reach both variants.
 *
 * VPU_SEEDS=FIRST:COUNT runs other seeds than the default ones and prints their
 * kernels. */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/file.h"
#include "tests/support/kernel_gen.h"
#include "tests/support/rig.h"

static const int locals[][2] = {{16, 1}, {8, 3}, {5, 2}, {1, 1}, {4, 16}};
enum { N_LOCALS = sizeof locals / sizeof *locals };

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

static gen_group_fn *compile_c(rig *r, const str *text, void **so)
{
    const char *src = arena_printf(r->a, "%s/g.c", r->dir);
    const char *lib = arena_printf(r->a, "%s/g.so", r->dir);
    gen_group_fn *fn;
    void *sym;

    ck_assert(!file_write(src, text->data, text->n, &r->err));
    ck_assert_msg(!system(arena_printf(r->a,
                                       "cc -O1 -ffp-contract=off -fwrapv -w "
                                       "-shared -fPIC -o %s %s -lm",
                                       lib, src)),
                  "cc refused %s", src);
    *so = dlopen(lib, RTLD_NOW);
    ck_assert_msg(*so != NULL, "%s", dlerror());
    sym = dlsym(*so, "group");
    ck_assert_ptr_nonnull(sym);
    memcpy(&fn, &sym, sizeof fn);
    unlink(src);
    unlink(lib);
    return fn;
}

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

START_TEST(device_equals_c)
{
    const char *range = getenv("VPU_SEEDS"), *where;
    uint64_t seed = (uint64_t)_i + (range ? strtoull(range, NULL, 10) : 0);
    static inputs x;
    static outputs want;
    unsigned *out;
    unsigned short *hout;
    unsigned char *bout;
    gen_group_fn *fn;
    str opencl, c;
    void *so;
    rig r;

    rig_open(&r);
    r.clean = seed % 4 == 0;
    gen_kernel(seed, &opencl, &c);
    if (range)
        printf("/* seed %llu */\n%s", (unsigned long long)seed, opencl.data);
    fn = compile_c(&r, &c, &so);
    ck_assert_msg(!rig_try_compile(&r, opencl.data, "k"), "seed %llu: %s",
                  (unsigned long long)seed, r.err.msg);
    make_inputs(&x, seed);
    rig_int(&r, (int)(seed % 11));
    memcpy(rig_buffer(&r, sizeof x.in), x.in, sizeof x.in);
    memcpy(rig_buffer(&r, sizeof x.fin), x.fin, sizeof x.fin);
    memcpy(rig_buffer(&r, sizeof x.hin), x.hin, sizeof x.hin);
    memcpy(rig_buffer(&r, sizeof x.bin), x.bin, sizeof x.bin);
    out = rig_buffer(&r, sizeof want.out);
    hout = rig_buffer(&r, sizeof want.hout);
    bout = rig_buffer(&r, sizeof want.bout);
    rig_local(&r, 4 * 64);
    rig_local(&r, 2 * 64);
    for (int k = 0; k < N_LOCALS; k++) {
        const int *L = locals[k];
        int groups[2] = {3, GEN_ITEMS / (3 * L[0] * L[1])};
        size_t at;

        groups[1] = groups[1] > 4 ? 4 : groups[1];
        memset(&want, 0, sizeof want);
        memset(out, 0, sizeof want.out);
        memset(hout, 0, sizeof want.hout);
        memset(bout, 0, sizeof want.bout);
        for (int g = 0; g < groups[0] * groups[1]; g++)
            fn((int[]){g % groups[0], g / groups[0]}, groups, L,
               (unsigned)(seed % 11), x.in, x.fin, x.hin, x.bin, want.out,
               want.hout, want.bout);
        ck_assert_msg(
            !rig_run(&r,
                     (uint32_t[]){(uint32_t)groups[0], (uint32_t)groups[1], 1},
                     (uint32_t[]){(uint32_t)L[0], (uint32_t)L[1], 1}),
            "seed %llu: %s", (unsigned long long)seed, r.err.msg);
        where =
            check_words("out", out, want.out, GEN_ITEMS * GEN_OUTPUTS, 4, &at);
        if (!where)
            where = check_words("hout", hout, want.hout, GEN_ITEMS, 2, &at);
        if (!where)
            where = check_words("bout", bout, want.bout, GEN_ITEMS, 1, &at);
        ck_assert_msg(!where,
                      "seed %llu, groups of %dx%d, %s variant: %s[%zu] "
                      "differs",
                      (unsigned long long)seed, L[0], L[1],
                      sim_variant_name(r.result.variant), where, at);
    }
    dlclose(so);
    str_free(&opencl);
    str_free(&c);
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kernels: random");
    TCase *c = tcase_create("random");
    const char *range = getenv("VPU_SEEDS");
    const char *colon = range ? strchr(range, ':') : NULL;
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, device_equals_c, 0, colon ? atoi(colon + 1) : 50);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
