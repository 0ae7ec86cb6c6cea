/* Kernels that want more registers than there are: results against C, on both
 * engines, and what holding them back may cost. */
#include <check.h>

#include "tests/support/rig.h"

enum { W = 21, H = 6, C = 37, O = 2, TAPS = 9 };

/* Nine taps with pointers of their own: the eight copies of the body that
 * unrolling makes differ in addresses the loop does not change. */
static const char taps[] =
    "#define IN(k) p##k[c * plane]\n"
    "#define W(k) q##k[c]\n"
    "#define TAP(k) popcount((uchar)(IN(k) ^ W(k)))\n"
    "#define WEIGHTS(k) weights + (o * 9 + k) * C\n"
    "__kernel void taps(__global const uchar *restrict src,\n"
    "    __global const uchar *restrict weights, __global int *restrict dst,\n"
    "    int C, int H, int W)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1), o = "
    "get_global_id(2);\n"
    "    int up = max(y - 1, 0), down = min(y + 1, H - 1);\n"
    "    int left = max(x - 1, 0), right = min(x + 1, W - 1);\n"
    "    int plane = W * H, sum = 0;\n"
    "    __global const uchar *p0 = src + up * W + left,\n"
    "        *p1 = src + up * W + x, *p2 = src + up * W + right,\n"
    "        *p3 = src + y * W + left, *p4 = src + y * W + x,\n"
    "        *p5 = src + y * W + right, *p6 = src + down * W + left,\n"
    "        *p7 = src + down * W + x, *p8 = src + down * W + right;\n"
    "    __global const uchar *q0 = WEIGHTS(0), *q1 = WEIGHTS(1),\n"
    "        *q2 = WEIGHTS(2), *q3 = WEIGHTS(3), *q4 = WEIGHTS(4),\n"
    "        *q5 = WEIGHTS(5), *q6 = WEIGHTS(6), *q7 = WEIGHTS(7),\n"
    "        *q8 = WEIGHTS(8);\n"
    "    UNROLL\n"
    "    for (int c = 0; c < C; c++)\n"
    "        sum += TAP(0) + TAP(1) + TAP(2) + TAP(3) + TAP(4) + TAP(5) +\n"
    "               TAP(6) + TAP(7) + TAP(8);\n"
    "    dst[(o * H + y) * W + x] = sum;\n"
    "}\n";

/* Many values at once, all needed at the end, in vectors and in scalars. */
static const char crowd[] =
    "__kernel void crowd(__global const T *restrict a,\n"
    "                    __global T *restrict out, int n)\n"
    "{\n"
    "    T v[48];\n"
    "    int g = get_global_id(0);\n"
    "    __attribute__((opencl_unroll_hint(48)))\n"
    "    for (int k = 0; k < 48; k++) v[k] = a[g * 48 + k];\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        __attribute__((opencl_unroll_hint(48)))\n"
    "        for (int k = 0; k < 48; k++)\n"
    "            v[k] = v[k] * (T)3 + v[(k + 7) % 48];\n"
    "    }\n"
    "    __attribute__((opencl_unroll_hint(48)))\n"
    "    for (int k = 0; k < 48; k++) out[g * 48 + k] = v[k];\n"
    "}\n";

static int at_edge(int v, int n)
{
    return v < 0 ? 0 : v >= n ? n - 1 : v;
}

static int expected(const unsigned char *src, const unsigned char *weights,
                    int x, int y, int o)
{
    int sum = 0;

    for (int c = 0; c < C; c++)
        for (int k = 0; k < TAPS; k++) {
            int sy = at_edge(y + k / 3 - 1, H), sx = at_edge(x + k % 3 - 1, W);

            sum += __builtin_popcount(src[(c * H + sy) * W + sx] ^
                                      weights[(o * TAPS + k) * C + c]);
        }
    return sum;
}

/* Cycles of the block of the kernel's program that takes most. */
static uint32_t longest_block(rig *r)
{
    const isa_function *f[SIM_N_VARIANTS];
    uint32_t most = 0;

    ck_assert_int_eq(kernel_programs(r->kernel, r->arena, f, &r->err), VPU_OK);
    for (uint32_t b = 0; b < f[SIM_SCALAR]->n_blocks; b++)
        if (f[SIM_SCALAR]->blocks[b].cycles > most)
            most = f[SIM_SCALAR]->blocks[b].cycles;
    return most;
}

/* With everything bound to one item a row, so that the scalar form runs. */
static uint32_t run_taps(const char *unroll, uint32_t local)
{
    rig r;
    unsigned char *src, *weights;
    int *dst;
    uint32_t longest;

    rig_open(&r);
    r.both_engines = true;
    rig_compile(&r,
                arena_printf(r.arena, "#define UNROLL %s\n%s", unroll, taps),
                "taps");
    src = rig_buffer(&r, C * H * W);
    weights = rig_buffer(&r, O * TAPS * C);
    dst = rig_buffer(&r, O * H * W * sizeof *dst);
    for (uint32_t i = 0; i < C * H * W; i++)
        src[i] = (unsigned char)rig_noise(i);
    for (uint32_t i = 0; i < O * TAPS * C; i++)
        weights[i] = (unsigned char)rig_noise(i + 100000);
    rig_int(&r, C);
    rig_int(&r, H);
    rig_int(&r, W);
    rig_run_3d(&r, (uint32_t[]){W / local, H, O}, (uint32_t[]){local, 1, 1});
    for (int o = 0; o < O; o++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W / (int)local * (int)local; x++)
                ck_assert_int_eq(dst[(o * H + y) * W + x],
                                 expected(src, weights, x, y, o));
    longest = longest_block(&r);
    rig_close(&r);
    return longest;
}

START_TEST(unrolling_is_no_loss)
{
    uint32_t rolled = run_taps("", 7),
             unrolled = run_taps("_Pragma(\"unroll 8\")", 7);

    /* Eight iterations in one must not take longer than eight of one; a
     * quarter is left for the reloads of eight times as many addresses. */
    ck_assert_msg(unrolled * 4 <= 8 * rolled * 5,
                  "%u cycles for 8 iterations, %u for one", unrolled, rolled);
    run_taps("_Pragma(\"unroll 8\")", 8);
    run_taps("", 8);
}
END_TEST

static void host_crowd(unsigned *v, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 48; k++)
            v[k] = v[k] * 3 + v[(k + 7) % 48];
}

START_TEST(more_values_than_registers)
{
    static const struct {
        const char *type;
        unsigned lanes;
    } kinds[] = {{"uint", 1}, {"uint4", 4}};
    unsigned lanes = kinds[_i].lanes, *a, *out;
    enum { ITEMS = 16, TIMES = 5 };
    rig r;

    rig_open(&r);
    r.both_engines = true;
    rig_compile(
        &r, arena_printf(r.arena, "#define T %s\n%s", kinds[_i].type, crowd),
        "crowd");
    a = rig_buffer(&r, ITEMS * 48 * lanes * sizeof *a);
    out = rig_buffer(&r, ITEMS * 48 * lanes * sizeof *a);
    for (uint32_t i = 0; i < ITEMS * 48 * lanes; i++)
        a[i] = rig_noise(i);
    rig_int(&r, TIMES);
    rig_run_1d(&r, 2, ITEMS / 2);
    for (uint32_t g = 0; g < ITEMS; g++)
        for (uint32_t l = 0; l < lanes; l++) {
            unsigned v[48];

            for (uint32_t k = 0; k < 48; k++)
                v[k] = a[(g * 48 + k) * lanes + l];
            host_crowd(v, TIMES);
            for (uint32_t k = 0; k < 48; k++)
                ck_assert_uint_eq(out[(g * 48 + k) * lanes + l], v[k]);
        }
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kernels: register pressure");
    TCase *c = tcase_create("more than fits");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_test(c, unrolling_is_no_loss);
    tcase_add_loop_test(c, more_values_than_registers, 0, 2);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
