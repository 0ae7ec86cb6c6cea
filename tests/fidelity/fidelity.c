/* fidelity [OPTIONS] VPU: the published performance ratios beside ours.
 *
 *   --json FILE      the ratios as JSON
 *   --pin FILE       the ratios and the curve as tests/fidelity/pinned.txt has
 *                    them
 *   --doc FILE       replace the table between the marker comments of FILE
 *   --sensitivity    every parameter with a published range at both its ends
 *   --with WORDS     options added to every run, "--set ddr_load_stall=200"
 *   --small          small shapes: for tests of this program, not for reading
 *
 * Every experiment is a plain `vpu run` of the default machine; kernels that
 * are not samples are in tests/fidelity/kernels. docs/timing.md says which
 * shapes were chosen, and why. */
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    GRN_16,
    DMA_16,
    GRN_7,
    DMA_7,
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
    [GRN_16] = {GRN "GRN", R2_SHAPE},
    [DMA_16] = {GRN "GRNDma", R2_SHAPE},
    [GRN_7] = {GRN "GRN --shaves 7", R2_SHAPE},
    [DMA_7] = {GRN "GRNDma --shaves 7", R2_SHAPE},
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

static const char *vpu;
static bool small;

static void fail(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fputs("fidelity: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(1);
}

/* What a run took: cycles with the layer's fixed time, and of those the cycles
 * in which the SHAVEs issued, all SHAVEs together. */
typedef struct {
    double cycles, issue;
} outcome;

static outcome measure(const experiment *x, const char *more)
{
    char command[2048];
    json_error_t e;
    json_t *report, *stage;
    outcome o;
    FILE *f;

    snprintf(command, sizeof command, "'%s' run --quiet --json %s %s %s", vpu,
             x->run, small ? x->small : x->shape, more);
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

static void measure_all(const char *more, outcome out[N_EXPERIMENTS])
{
    for (int i = 0; i < N_EXPERIMENTS; i++) {
        if (isatty(2))
            fprintf(stderr, "\r\033[K%d/%d %s", i + 1, N_EXPERIMENTS, more);
        out[i] = measure(&experiments[i], more);
    }
    if (isatty(2))
        fprintf(stderr, "\r\033[K");
}

/* --- ratios -------------------------------------------------------------- */

typedef struct {
    const char *id, *what;
    double low, high; /* 0, 0: reported, without a window */
} ratio;

enum { N_RATIOS = 22 };

static const ratio ratios[N_RATIOS] = {
    {"R1", "local / DDR throughput, 16 SHAVEs, DDR by DMA", 20, 24},
    {"R1/loads", "the same, DDR by the SHAVEs' own loads", 0, 0},
    {"R1/indexed", "R1, local addresses from a counter", 0, 0},
    {"R2", "GRN 1x16x256x512, DDR form / DMA form, 16 SHAVEs", 18, 22},
    {"R2/7", "the same, 7 SHAVEs", 18, 22},
    {"R3", "GRN on DDR, 1x24x135x240, rolled / unrolled by 4", 1.3, 1.5},
    {"R3/6", "the same, unrolled by 6 / by 4", 0.97, 1.03},
    {"R4", "the same, unrolled by 4, without / with restrict", 1.1, 1.2},
    {"R5", "reorg per element, scalar at 26 / vectorised at 32", 1.2, 1.4},
    {"R6", "reorg at 26, clamped index / scalar", 0.95, 1.05},
    {"R7", "reorg at 26, early exit / none", 1.5, 2.0},
    {"R8", "reorg at 32, time, line-wise / vectorised", 0.60, 0.75},
    {"R9", "reorg at 26, cycles, unrolled by stride / line-wise", 0.55, 0.70},
    {"R10", "float to half, vstore_half / convert_half", 0, 0},
    {"R3/test", "R3 where planes share L2 sets, 1x24x128x224", 1.3, 1.5},
    {"R4/test", "R4 there", 1.1, 1.2},
    {"R3/issue", "R3 in issue cycles: what it were without stalls", 0, 0},
    {"R4/issue", "R4 in issue cycles", 0, 0},
    {"R5/raw", "R5 in time of the layer, not per element", 0, 0},
    {"R5/three", "R5 with three divisions an item, not six", 0, 0},
    {"R6/three", "R6 likewise", 0, 0},
    {"R7/three", "R7 likewise", 0, 0},
};

/* c: cycles of all experiments. NaN is never made: measure fails first. */
static void compute(const outcome *c, double out[N_RATIOS])
{
    const double passes = small ? 2 : 16, halves = small ? 393216 : 4718592;
    double local =
        LOCAL_BYTES(passes) / (c[LOCAL_2].cycles - c[LOCAL_1].cycles);
    double indexed =
        LOCAL_BYTES(passes) / (c[INDEXED_2].cycles - c[INDEXED_1].cycles);
    double ddr = halves * 2 / (c[DDR_2].cycles - c[DDR_1].cycles);
    double load = halves * 2 / (c[LOAD_2].cycles - c[LOAD_1].cycles);
    const double values[N_RATIOS] = {
        local / ddr,
        local / load,
        indexed / ddr,
        c[GRN_16].cycles / c[DMA_16].cycles,
        c[GRN_7].cycles / c[DMA_7].cycles,
        c[ROLLED].cycles / c[UNROLL_4].cycles,
        c[UNROLL_6].cycles / c[UNROLL_4].cycles,
        c[NO_RESTRICT].cycles / c[UNROLL_4].cycles,
        c[REORG_26].cycles / 26 / (c[REORG_32].cycles / 32),
        c[CLAMP_26].cycles / c[REORG_26].cycles,
        c[EXIT_26].cycles / c[REORG_26].cycles,
        c[LINE_32].cycles / c[REORG_32].cycles,
        c[UNROLLED_26].cycles / c[LINE_26].cycles,
        c[VSTORE].cycles / c[CONVERT].cycles,
        c[ROLLED_TEST].cycles / c[UNROLL_4_TEST].cycles,
        c[NO_RESTRICT_TEST].cycles / c[UNROLL_4_TEST].cycles,
        c[ROLLED].issue / c[UNROLL_4].issue,
        c[NO_RESTRICT].issue / c[UNROLL_4].issue,
        c[REORG_26].cycles / c[REORG_32].cycles,
        c[THREE_26].cycles / 26 / (c[THREE_32].cycles / 32),
        c[THREE_CLAMP].cycles / c[THREE_26].cycles,
        c[THREE_EXIT].cycles / c[THREE_26].cycles,
    };

    memcpy(out, values, sizeof values);
}

static bool within(const ratio *r, double v)
{
    return v >= r->low && v <= r->high;
}

/* --- curve --------------------------------------------------------------- */

enum { MAX_SHAVES = 16 };

static void measure_curve(double out[MAX_SHAVES])
{
    char more[32];

    for (int n = 1; n <= MAX_SHAVES; n++) {
        snprintf(more, sizeof more, "--shaves %d", n);
        out[n - 1] = measure(&experiments[GRN_16], more).cycles;
    }
}

/* --- output -------------------------------------------------------------- */

static void print_table(FILE *f, const double *v, const double *curve)
{
    fprintf(f, "| id | what | value | window | within |\n"
               "|---|---|---:|---|---|\n");
    for (int i = 0; i < N_RATIOS; i++) {
        const ratio *r = &ratios[i];

        fprintf(f, "| %s | %s | %.3f |", r->id, r->what, v[i]);
        if (r->high > 0)
            fprintf(f, " %.2f to %.2f | %s |\n", r->low, r->high,
                    within(r, v[i]) ? "yes" : "no");
        else
            fprintf(f, " | |\n");
    }
    fprintf(f, "\nGRN on DDR, 1x16x256x512, by number of SHAVEs:\n\n"
               "| SHAVEs | cycles | speed-up | |\n|---:|---:|---:|---|\n");
    for (int n = 1; n <= MAX_SHAVES; n++) {
        double s = curve[0] / curve[n - 1];

        fprintf(f, "| %d | %.0f | %.2f | `%.*s` |\n", n, curve[n - 1], s,
                (int)(2 * s + 0.5), "################################");
    }
}

static void write_json(const char *path, const double *v, const double *curve)
{
    json_t *list = json_array(), *points = json_array();

    for (int i = 0; i < N_RATIOS; i++) {
        const ratio *r = &ratios[i];
        json_t *o = json_pack("{s:s,s:s,s:f}", "id", r->id, "what", r->what,
                              "value", v[i]);

        if (r->high > 0)
            json_object_update_new(o, json_pack("{s:f,s:f,s:b}", "low", r->low,
                                                "high", r->high, "within",
                                                within(r, v[i])));
        json_array_append_new(list, o);
    }
    for (int n = 1; n <= MAX_SHAVES; n++)
        json_array_append_new(points,
                              json_pack("{s:i,s:f,s:f}", "shaves", n, "cycles",
                                        curve[n - 1], "speed_up",
                                        curve[0] / curve[n - 1]));
    json_array_append_new(list,
                          json_pack("{s:s,s:s,s:o}", "id", "curve", "what",
                                    "GRN on DDR, 1x16x256x512, by SHAVEs",
                                    "points", points));
    if (json_dump_file(list, path, JSON_INDENT(2) | JSON_REAL_PRECISION(10)))
        fail("cannot write %s", path);
    json_decref(list);
}

/* All of it with the digits that tell two results apart, a line each. */
static void write_pin(const char *path, const double *v, const double *curve)
{
    FILE *f = fopen(path, "w");

    if (!f)
        fail("cannot write %s", path);
    for (int i = 0; i < N_RATIOS; i++)
        fprintf(f, "%-9s %.9f\n", ratios[i].id, v[i]);
    for (int n = 1; n <= MAX_SHAVES; n++)
        fprintf(f, "curve/%-3d %.0f\n", n, curve[n - 1]);
    if (ferror(f) | fclose(f))
        fail("cannot write %s", path);
}

/* --- sensitivity --------------------------------------------------------- */

/* docs/hardware.md, "Parameter ranges". */
static const struct {
    const char *name;
    double value[2];
} parameters[] = {
    {"clk_mhz", {600, 700}},         {"l1d_bytes", {1024, 4096}},
    {"l1_hit_stall", {0, 2}},        {"l2_ways", {2, 8}},
    {"l2_partition", {0, 1}},        {"l2_hit_stall", {10, 40}},
    {"ddr_load_stall", {120, 400}},  {"ddr_eff_bw", {6, 10}},
    {"dma_channels", {1, 4}},        {"dma_bus_bytes", {8, 32}},
    {"dma_setup", {100, 1000}},      {"dma_first_byte", {100, 700}},
    {"dma_line_overhead", {0, 32}},  {"wg_dispatch", {100, 2000}},
    {"layer_fixed", {14000, 56000}}, {"ddr_banks", {8, 16}},
    {"ddr_row_bytes", {2048, 4096}}, {"ddr_row_cycle", {48, 72}},
    {"ddr_row_switch", {30, 44}},    {"shave_start", {10, 200}},
};

static void print_values(FILE *f, const double *v, const double *base)
{
    for (int i = 0; i < N_RATIOS; i++) {
        if (!ratios[i].high)
            continue;
        if (isnan(v[i]))
            fprintf(f, " |");
        else if (base && v[i] / base[i] > 0.995 && v[i] / base[i] < 1.005)
            fprintf(f, " · |");
        else if (within(&ratios[i], v[i]))
            fprintf(f, " **%.*f** |", v[i] < 9.95 ? 2 : 1, v[i]);
        else
            fprintf(f, " %.*f |", v[i] < 9.95 ? 2 : 1, v[i]);
    }
    fprintf(f, "\n");
    fflush(f);
}

static void print_sensitivity(FILE *f)
{
    double base[N_RATIOS], v[N_RATIOS];
    outcome c[N_EXPERIMENTS];
    char more[64];

    fprintf(f, "| parameter |");
    for (int i = 0; i < N_RATIOS; i++)
        if (ratios[i].high)
            fprintf(f, " %s |", ratios[i].id);
    fprintf(f, "\n|---|");
    for (int i = 0; i < N_RATIOS; i++)
        if (ratios[i].high)
            fprintf(f, "---:|");
    fprintf(f, "\n| (as described) |");
    measure_all("", c);
    compute(c, base);
    print_values(f, base, NULL);
    /* R1 has as many groups as the machine has SHAVEs: no sense with fewer. */
    fprintf(f, "| (7 SHAVEs) |");
    measure_all("--shaves 7", c);
    compute(c, v);
    v[0] = NAN;
    print_values(f, v, NULL);
    for (size_t p = 0; p < sizeof parameters / sizeof *parameters; p++)
        for (int end = 0; end < 2; end++) {
            snprintf(more, sizeof more, "--set %s=%g", parameters[p].name,
                     parameters[p].value[end]);
            measure_all(more, c);
            compute(c, v);
            fprintf(f, "| %s = %g |", parameters[p].name,
                    parameters[p].value[end]);
            print_values(f, v, base);
        }
}

/* --- documents ----------------------------------------------------------- */

static char *read_all(FILE *f, size_t *n)
{
    char *text = NULL;
    size_t cap = 0;

    *n = 0;
    do {
        cap = 2 * cap + 4096;
        text = realloc(text, cap);
        if (!text)
            fail("out of memory");
        *n += fread(text + *n, 1, cap - *n - 1, f);
    } while (*n == cap - 1);
    text[*n] = 0;
    return text;
}

/* Put text between <!-- name:begin --> and <!-- name:end --> of a file. */
static void replace(const char *path, const char *name, const char *text)
{
    char begin[64], end[64], *all, *from, *to;
    FILE *f = fopen(path, "r");
    size_t n;

    if (!f)
        fail("cannot read %s", path);
    all = read_all(f, &n);
    fclose(f);
    snprintf(begin, sizeof begin, "<!-- %s:begin -->\n", name);
    snprintf(end, sizeof end, "<!-- %s:end -->", name);
    from = strstr(all, begin);
    to = from ? strstr(from, end) : NULL;
    if (!to)
        fail("%s has no markers of %s", path, name);
    from += strlen(begin);
    f = fopen(path, "w");
    if (!f || fprintf(f, "%.*s%s%s", (int)(from - all), all, text, to) < 0 ||
        fclose(f))
        fail("cannot write %s", path);
    free(all);
}

typedef struct {
    const char *json, *doc, *pin;
    bool sensitivity;
    const char *with;
} options;

static options parse(int argc, char **argv)
{
    options o = {0};

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--small"))
            small = true;
        else if (!strcmp(argv[i], "--sensitivity"))
            o.sensitivity = true;
        else if (!strcmp(argv[i], "--with") && i + 1 < argc)
            o.with = argv[++i];
        else if (!strcmp(argv[i], "--json") && i + 1 < argc)
            o.json = argv[++i];
        else if (!strcmp(argv[i], "--pin") && i + 1 < argc)
            o.pin = argv[++i];
        else if (!strcmp(argv[i], "--doc") && i + 1 < argc)
            o.doc = argv[++i];
        else if (argv[i][0] != '-' && !vpu)
            vpu = argv[i];
        else
            fail("what is %s?", argv[i]);
    }
    if (!vpu)
        fail("usage: fidelity [--json FILE] [--doc FILE] [--pin FILE] "
             "[--sensitivity] [--with WORDS] [--small] VPU");
    return o;
}

int main(int argc, char **argv)
{
    options o = parse(argc, argv);
    double v[N_RATIOS], curve[MAX_SHAVES];
    outcome c[N_EXPERIMENTS];
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    if (!f)
        fail("out of memory");
    if (o.sensitivity)
        print_sensitivity(f);
    else {
        measure_all(o.with ? o.with : "", c);
        compute(c, v);
        measure_curve(curve);
        print_table(f, v, curve);
        if (o.json)
            write_json(o.json, v, curve);
        if (o.pin)
            write_pin(o.pin, v, curve);
    }
    fclose(f);
    fputs(text, stdout);
    if (o.doc)
        replace(o.doc, o.sensitivity ? "sensitivity" : "fidelity", text);
    free(text);
    return 0;
}
