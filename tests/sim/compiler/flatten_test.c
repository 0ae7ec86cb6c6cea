/* Short conditions: results against C on both engines, with and without a
 * branch; and where there must be none, or one. */
#include <check.h>
#include <math.h>

#include "tests/support/rig.h"

enum { ITEMS = 24, N = 19 };

/* Of one item: v = its n floats, t = a threshold. */
typedef float host_item(const float *v, int n, float t);

#define KERNEL(body)                                                \
    "__kernel void k(__global const float *restrict a,\n"           \
    "                __global float *restrict out, int n, float t)" \
    "{\n"                                                           \
    "    __global const float *v = a + get_global_id(0) * n;\n"     \
    "    float s = 0; int c = 0;\n"                                 \
    "    for (int k = 0; k < n; k++) {" body "}\n"                  \
    "    out[get_global_id(0)] = s + c;\n"                          \
    "}\n"

#define HOST(name, body)                              \
    static float name(const float *v, int n, float t) \
    {                                                 \
        float s = 0;                                  \
        int c = 0;                                    \
                                                      \
        (void)v, (void)t;                             \
        for (int k = 0; k < n; k++) {                 \
            body                                      \
        }                                             \
        return s + (float)c;                          \
    }
#define BOTH(name, ...)     \
    HOST(name, __VA_ARGS__) \
    static const char name##_cl[] = KERNEL(#__VA_ARGS__);

/* clang-format off */
BOTH(diamond,
     if (v[k] > t) { float d = v[k] - t; s += d * d * 0.5f + v[k]; c += k; }
     else { s -= v[k] * t; c ^= 3; })
BOTH(triangle, if (v[k] <= t) { s += v[k] * 2.0f; c = c * 5 + k; })
BOTH(triangle_else, if (v[k] > t) ; else { s = s * 0.25f - v[k]; c |= k; })
BOTH(nested,
     if (v[k] > t) { if (k & 1) { s += v[k]; c -= k; } else { s -= t; c += 7; } }
     else { s *= 0.5f; })
BOTH(shifts, s += v[k]; if (k < 31) { c += (7 << k) ^ (c >> k); s += t; })
/* Access behind the condition: the rest of the row is not there to be read. */
BOTH(guarded, if (k + 3 < n) { s += v[k + 3]; c++; })
BOTH(far_away, if (n > 1000) { s += v[k * 100000000]; } c += k;)
/* clang-format on */

static const struct {
    host_item *host;
    const char *source;
    bool is_flat; /* the loop must be one block */
} cases[] = {{diamond, diamond_cl, true},
             {triangle, triangle_cl, true},
             {triangle_else, triangle_else_cl, true},
             {nested, nested_cl, true},
             {shifts, shifts_cl, true},
             {guarded, guarded_cl, false},
             {far_away, far_away_cl, false}};

/* Loops of one block that read global memory. */
static unsigned small_loops(rig *r)
{
    const isa_function *f[SIM_N_VARIANTS];
    unsigned found = 0;

    ck_assert_int_eq(kernel_programs(r->kernel, r->arena, f, &r->err), VPU_OK);
    for (uint32_t b = 0; b < f[SIM_SCALAR]->n_blocks; b++) {
        const isa_block *x = &f[SIM_SCALAR]->blocks[b];
        bool loads = false, loops = false;

        for (uint32_t i = x->first; i < x->first + x->n_instrs; i++) {
            const isa_instr *in = &f[SIM_SCALAR]->instrs[i];

            loads |=
                isa_ops[in->op].flags & ISA_F_LOAD && in->sub == ISA_GLOBAL;
            loops |= in->op == ISA_OP_brc && (uint32_t)in->imm == b;
        }
        found += loads && loops;
    }
    return found;
}

START_TEST(short_conditions)
{
    float *a, *out;
    rig r;

    rig_open(&r);
    r.both_engines = true;
    rig_compile(&r, cases[_i].source, "k");
    a = rig_buffer(&r, ITEMS * N * sizeof *a);
    out = rig_buffer(&r, ITEMS * sizeof *out);
    for (uint32_t i = 0; i < ITEMS * N; i++)
        a[i] = (float)(int32_t)rig_noise(i) * 0x1p-31f;
    a[5] = NAN; /* no comparison holds */
    a[40] = 0.125f;
    rig_int(&r, N);
    rig_float(&r, 0.125f);
    rig_run_1d(&r, 3, ITEMS / 3);
    for (int i = 0; i < ITEMS; i++) {
        float want = cases[_i].host(a + i * N, N, 0.125f);

        ck_assert_msg(out[i] == want || (isnan(out[i]) && isnan(want)),
                      "item %d: %a, not %a", i, (double)out[i], (double)want);
    }
    if (cases[_i].is_flat)
        ck_assert_uint_ge(small_loops(&r), 1);
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kernels: short conditions");
    TCase *c = tcase_create("without branches");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, short_conditions, 0, sizeof cases / sizeof *cases);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
