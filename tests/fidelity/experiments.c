/* See experiments.h. */
#include "tests/fidelity/experiments.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fail(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fputs("fidelity: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(1);
}

/* --- runs ---------------------------------------------------------------- */

#define OWN "tests/fidelity/kernels/layer.xml --layer "
#define GRN "kernels/grn/layer.xml --param bias=1.0 --layer "
#define REORG "kernels/reorg/layer.xml --param stride=2 --layer "
#define CVT "kernels/cvtf32f16/layer.xml --layer "

typedef struct {
    const char *run, *shape, *small;
} experiment;

/* 24 channels divide by 4 and by 6. The planes of the first shape spread over
 * the sets of L2; those of the second, the shape of the vendor's own GRN test,
 * are 7 * 8 KiB and share the same few. */
#define GRN_FREE                                 \
    "--shape in0=1x24x135x240 --param bias=1.0", \
        "--shape in0=1x24x16x40 --param bias=1.0"
#define GRN_TEST                                 \
    "--shape in0=1x24x128x224 --param bias=1.0", \
        "--shape in0=1x24x16x32 --param bias=1.0"
#define R2_SHAPE "--shape in0=1x16x256x512", "--shape in0=1x16x32x64"
/* 26 and 32 items in a work-group, as in the vendor's example. */
#define W26                                           \
    "--shape in0=1x16x52x52 --shape out0=1x64x26x26", \
        "--shape in0=1x16x4x52 --shape out0=1x64x2x26"
#define W32                                           \
    "--shape in0=1x16x52x64 --shape out0=1x64x26x32", \
        "--shape in0=1x16x4x64 --shape out0=1x64x2x32"
#define FLOATS                                                  \
    "--shape in0=1x3x256x512:f32 --shape out0=1x3x256x512:f16", \
        "--shape in0=1x3x16x64:f32 --shape out0=1x3x16x64:f16"

enum {
    LOCAL_1,
    LOCAL_2,
    INDEXED_1,
    INDEXED_2,
    DDR_1,
    DDR_2,
    LOAD_1,
    LOAD_2,
    GRN_DDR,
    GRN_DMA,
    ROLLED,
    UNROLL_4,
    UNROLL_6,
    NO_RESTRICT,
    ROLLED_TEST,
    UNROLL_4_TEST,
    NO_RESTRICT_TEST,
    THREE_26,
    THREE_32,
    THREE_CLAMP,
    THREE_EXIT,
    REORG_26,
    REORG_32,
    CLAMP_26,
    EXIT_26,
    LINE_32,
    LINE_26,
    UNROLLED_26,
    CONVERT,
    VSTORE,
    N_EXPERIMENTS
};

#define LOCAL_BYTES(passes) (16.0 * 32768 * (passes))

static const experiment experiments[N_EXPERIMENTS] = {
    [LOCAL_1] = {OWN "LocalStream --shape in0=1x1x1x128", "--param passes=16",
                 "--param passes=2"},
    [LOCAL_2] = {OWN "LocalStream --shape in0=1x1x1x128", "--param passes=32",
                 "--param passes=4"},
    [INDEXED_1] = {OWN "LocalIndexed --shape in0=1x1x1x128",
                   "--param passes=16", "--param passes=2"},
    [INDEXED_2] = {OWN "LocalIndexed --shape in0=1x1x1x128",
                   "--param passes=32", "--param passes=4"},
    [DDR_1] = {OWN "DdrStream --param n=49152", "--shape in0=1x1x1x4718592",
               "--shape in0=1x1x1x393216"},
    [DDR_2] = {OWN "DdrStream --param n=49152", "--shape in0=1x1x1x9437184",
               "--shape in0=1x1x1x786432"},
    [LOAD_1] = {OWN "LoadStream --param n=49152", "--shape in0=1x1x1x4718592",
                "--shape in0=1x1x1x393216"},
    [LOAD_2] = {OWN "LoadStream --param n=49152", "--shape in0=1x1x1x9437184",
                "--shape in0=1x1x1x786432"},
    [GRN_DDR] = {GRN "GRN", R2_SHAPE},
    [GRN_DMA] = {GRN "GRNDma", R2_SHAPE},
    [ROLLED] = {OWN "GrnDdr -D UNROLL=1", GRN_FREE},
    [UNROLL_4] = {OWN "GrnDdr -D UNROLL=4", GRN_FREE},
    [UNROLL_6] = {OWN "GrnDdr -D UNROLL=6", GRN_FREE},
    [NO_RESTRICT] = {OWN "GrnDdr -D UNROLL=4 -D NO_RESTRICT", GRN_FREE},
    [ROLLED_TEST] = {OWN "GrnDdr -D UNROLL=1", GRN_TEST},
    [UNROLL_4_TEST] = {OWN "GrnDdr -D UNROLL=4", GRN_TEST},
    [NO_RESTRICT_TEST] = {OWN "GrnDdr -D UNROLL=4 -D NO_RESTRICT", GRN_TEST},
    [THREE_26] = {OWN "ReorgThree --param stride=2 -D CHECK=0", W26},
    [THREE_32] = {OWN "ReorgThree --param stride=2 -D CHECK=0", W32},
    [THREE_CLAMP] = {OWN "ReorgThreeRounded --param stride=2 -D CHECK=1", W26},
    [THREE_EXIT] = {OWN "ReorgThreeRounded --param stride=2 -D CHECK=2", W26},
    [REORG_26] = {REORG "Reorg", W26},
    [REORG_32] = {REORG "Reorg", W32},
    [CLAMP_26] = {REORG "ReorgClamp", W26},
    [EXIT_26] = {REORG "ReorgExit", W26},
    [LINE_32] = {REORG "ReorgLine", W32},
    [LINE_26] = {REORG "ReorgLine", W26},
    [UNROLLED_26] = {REORG "ReorgUnrolled", W26},
    [CONVERT] = {CVT "CvtF32F16", FLOATS},
    [VSTORE] = {CVT "CvtF32F16Store", FLOATS},
};

/* What a run took: cycles with the layer's fixed time, and of those the cycles
 * in which the SHAVEs issued, all SHAVEs together. */
typedef struct {
    double cycles, issue;
} outcome;

static outcome measure(const bench *b, int experiment_id, int shaves)
{
    const experiment *x = &experiments[experiment_id];
    char command[4096];
    json_error_t e;
    json_t *report, *stage;
    outcome o;
    FILE *f;

    snprintf(command, sizeof command,
             "'%s' run --quiet --json --shaves %d %s %s %s", b->vpu, shaves,
             x->run, b->small ? x->small : x->shape, b->more);
    f = popen(command, "r");
    report = f ? json_loadf(f, 0, &e) : NULL;
    stage = json_array_get(json_object_get(report, "stages"), 0);
    o.cycles = json_number_value(json_object_get(report, "cycles"));
    o.issue = json_number_value(json_object_get(
        json_object_get(stage, "shave_cycles_by_cause"), "issue"));
    if (!f || pclose(f) || o.cycles <= 0 || o.issue <= 0)
        fail("no cycles from: %s", command);
    json_decref(report);
    return o;
}

static void progress(const char *text, const char *more)
{
    if (isatty(2))
        fprintf(stderr, "\r\033[K%s %s", text, more);
}

/* --- ratios -------------------------------------------------------------- */

const ratio ratios[N_RATIOS] = {
    [R1] = {"R1", "local / DDR throughput, DDR by DMA", 20, 24, true},
    [R1_LOADS] = {"R1/loads", "the same, DDR by the SHAVEs' own loads", 0, 0,
                  true},
    [R1_INDEXED] = {"R1/indexed", "R1, local addresses from a counter", 0, 0,
                    true},
    [R2] = {"R2", "GRN 1x16x256x512, DDR form / DMA form", 18, 22, false},
    [R3] = {"R3", "GRN on DDR, 1x24x135x240, rolled / unrolled by 4", 1.3, 1.5,
            false},
    [R3_6] = {"R3/6", "the same, unrolled by 6 / by 4", 0.97, 1.03, false},
    [R4] = {"R4", "the same, unrolled by 4, without / with restrict", 1.1, 1.2,
            false},
    [R5] = {"R5", "reorg per element, scalar at 26 / vectorised at 32", 1.2,
            1.4, false},
    [R6] = {"R6", "reorg at 26, clamped index / scalar", 0.95, 1.05, false},
    [R7] = {"R7", "reorg at 26, early exit / none", 1.5, 2.0, false},
    [R8] = {"R8", "reorg at 32, time, line-wise / vectorised", 0.60, 0.75,
            false},
    [R9] = {"R9", "reorg at 26, cycles, unrolled by stride / line-wise", 0.55,
            0.70, false},
    [R10] = {"R10", "float to half, vstore_half / convert_half", 0, 0, false},
    [R3_TEST] = {"R3/test", "R3 where planes share L2 sets, 1x24x128x224", 1.3,
                 1.5, false},
    [R4_TEST] = {"R4/test", "R4 there", 1.1, 1.2, false},
    [R3_ISSUE] = {"R3/issue", "R3 in issue cycles: what it were without stalls",
                  0, 0, false},
    [R4_ISSUE] = {"R4/issue", "R4 in issue cycles", 0, 0, false},
    [R5_RAW] = {"R5/raw", "R5 in time of the layer, not per element", 0, 0,
                false},
    [R5_THREE] = {"R5/three", "R5 with three divisions an item, not six", 0, 0,
                  false},
    [R6_THREE] = {"R6/three", "R6 likewise", 0, 0, false},
    [R7_THREE] = {"R7/three", "R7 likewise", 0, 0, false},
    [CURVE] = {"curve",
               "R2's DDR form, largest step of efficiency between n and n+1 "
               "SHAVEs",
               1.0, 1.3, true},
};

bool is_within(const ratio *r, double v)
{
    return v >= r->low && v <= r->high;
}

void print_id(goal g, char text[16])
{
    snprintf(text, 16, "%s%s", ratios[g.ratio].id, g.of == OF_7 ? "/7" : "");
}

/* How a ratio is made: of cycles of two experiments times a factor, of issue
 * cycles, or of differences, so that fixed costs cancel. */
typedef struct {
    int above, below; /* experiments; -1: none */
    double times;
    bool of_issue;
    int above_less, below_less; /* to be taken away from those, -1: nothing */
} formula;

/* Bytes of what is local and what is in DDR, one by the other. */
static double bytes_ratio(const bench *b)
{
    return LOCAL_BYTES(b->small ? 2 : 16) /
           ((b->small ? 393216.0 : 4718592.0) * 2);
}

static formula formula_of(const bench *b, ratio_id r)
{
    const double per_element = 32.0 / 26, bytes = bytes_ratio(b);
    const formula all[N_RATIOS] = {
        [R1] = {DDR_2, LOCAL_2, bytes, false, DDR_1, LOCAL_1},
        [R1_LOADS] = {LOAD_2, LOCAL_2, bytes, false, LOAD_1, LOCAL_1},
        [R1_INDEXED] = {DDR_2, INDEXED_2, bytes, false, DDR_1, INDEXED_1},
        [R2] = {GRN_DDR, GRN_DMA, 1, false, -1, -1},
        [R3] = {ROLLED, UNROLL_4, 1, false, -1, -1},
        [R3_6] = {UNROLL_6, UNROLL_4, 1, false, -1, -1},
        [R4] = {NO_RESTRICT, UNROLL_4, 1, false, -1, -1},
        [R5] = {REORG_26, REORG_32, per_element, false, -1, -1},
        [R6] = {CLAMP_26, REORG_26, 1, false, -1, -1},
        [R7] = {EXIT_26, REORG_26, 1, false, -1, -1},
        [R8] = {LINE_32, REORG_32, 1, false, -1, -1},
        [R9] = {UNROLLED_26, LINE_26, 1, false, -1, -1},
        [R10] = {VSTORE, CONVERT, 1, false, -1, -1},
        [R3_TEST] = {ROLLED_TEST, UNROLL_4_TEST, 1, false, -1, -1},
        [R4_TEST] = {NO_RESTRICT_TEST, UNROLL_4_TEST, 1, false, -1, -1},
        [R3_ISSUE] = {ROLLED, UNROLL_4, 1, true, -1, -1},
        [R4_ISSUE] = {NO_RESTRICT, UNROLL_4, 1, true, -1, -1},
        [R5_RAW] = {REORG_26, REORG_32, 1, false, -1, -1},
        [R5_THREE] = {THREE_26, THREE_32, per_element, false, -1, -1},
        [R6_THREE] = {THREE_CLAMP, THREE_26, 1, false, -1, -1},
        [R7_THREE] = {THREE_EXIT, THREE_26, 1, false, -1, -1},
    };

    return all[r];
}

/* Runs that were made, with 16 SHAVEs and with 7. */
typedef struct {
    const bench *b;
    outcome of[N_COUNTS][N_EXPERIMENTS];
} made;

static const int shaves_of[N_COUNTS] = {[OF_16] = 16, [OF_7] = 7};

static double cycles_of(made *m, shave_count n, int x, bool of_issue)
{
    if (m->of[n][x].cycles <= 0)
        m->of[n][x] = measure(m->b, x, shaves_of[n]);
    return of_issue ? m->of[n][x].issue : m->of[n][x].cycles;
}

static double difference(made *m, shave_count n, int x, int less, bool of_issue)
{
    double all = cycles_of(m, n, x, of_issue);

    return less < 0 ? all : all - cycles_of(m, n, less, of_issue);
}

/* Cycles times SHAVEs would be the same everywhere if the work were shared
 * without loss. The largest quotient of neighbours, whichever is larger. */
static double largest_step(const double *curve)
{
    double largest = 1;

    for (int n = 1; n < MAX_SHAVES; n++) {
        double step = curve[n] * (n + 1) / (curve[n - 1] * n);

        largest = fmax(largest, fmax(step, 1 / step));
    }
    return largest;
}

static void measure_goal(made *m, goal g, outcomes *out)
{
    formula f = formula_of(m->b, g.ratio);
    double *value = &out->value[g.of][g.ratio];

    progress(ratios[g.ratio].id, m->b->more);
    if (g.of != OF_16 && ratios[g.ratio].is_of_16_shaves)
        return;
    if (g.ratio == CURVE) {
        for (int n = 0; n < MAX_SHAVES; n++)
            out->curve[n] = measure(m->b, GRN_DDR, n + 1).cycles;
        *value = largest_step(out->curve);
        return;
    }
    *value = f.times * difference(m, g.of, f.above, f.above_less, f.of_issue) /
             difference(m, g.of, f.below, f.below_less, f.of_issue);
}

void measure_goals(const bench *b, const goal *goals, int n, outcomes *out)
{
    static made m;

    m = (made){.b = b};
    for (int c = 0; c < N_COUNTS; c++)
        for (int r = 0; r < N_RATIOS; r++)
            out->value[c][r] = NAN;
    for (int i = 0; i < n; i++)
        measure_goal(&m, goals[i], out);
    if (isatty(2))
        fprintf(stderr, "\r\033[K");
}

void measure_all(const bench *b, outcomes *out)
{
    goal all[N_COUNTS * N_RATIOS];
    int n = 0;

    for (int c = 0; c < N_COUNTS; c++)
        for (int r = 0; r < N_RATIOS; r++)
            all[n++] = (goal){(ratio_id)r, (shave_count)c};
    measure_goals(b, all, n, out);
}

/* --- parameters ---------------------------------------------------------- */

const parameter parameters[] = {
    {"clk_mhz", 600, 700, WHOLE},
    {"l1d_bytes", 1024, 4096, POWER_OF_TWO},
    {"l1_hit_stall", 0, 2, WHOLE},
    {"l2_ways", 2, 8, POWER_OF_TWO},
    {"l2_partition", 0, 1, WHOLE},
    {"l2_hit_stall", 10, 40, WHOLE},
    {"ddr_load_stall", 120, 400, WHOLE},
    {"ddr_eff_bw", 6, 10, REAL_NUMBER},
    {"dma_channels", 1, 4, WHOLE},
    {"dma_bus_bytes", 8, 32, POWER_OF_TWO},
    {"dma_setup", 100, 1000, WHOLE},
    {"dma_first_byte", 100, 700, WHOLE},
    {"dma_line_overhead", 0, 32, WHOLE},
    {"wg_dispatch", 100, 2000, WHOLE},
    {"layer_fixed", 14000, 56000, WHOLE},
    {"ddr_banks", 8, 16, POWER_OF_TWO},
    {"ddr_row_bytes", 2048, 4096, POWER_OF_TWO},
    {"ddr_bank_hash", 0, 1, WHOLE},
    {"ddr_row_cycle", 48, 72, WHOLE},
    {"ddr_row_switch", 30, 44, WHOLE},
    {"shave_start", 10, 200, WHOLE},
};
const int n_parameters = sizeof parameters / sizeof *parameters;
