/* vpu trace: what is in a trace, in numbers; other formats; parts of it. */
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/trace/copy.h"
#include "runtime/cli/cli.h"
#include "visualizer/load.h"
#include "visualizer/stats.h"

typedef struct {
    const char *file, *output, *range;
    trc_stretch stretch;
    bool json;
} options;

/* --- the command line ---------------------------------------------------- */

static bool parse_time(const char *text, size_t n, trc_time *out)
{
    static const struct {
        const char *name;
        double ns; /* 0: cycles */
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 0}};
    size_t digits = 0;
    char number[32];
    double v;

    while (digits < n && text[digits] && strchr("0123456789.", text[digits]))
        digits++;
    if (!digits || digits >= sizeof number)
        return false;
    memcpy(number, text, digits);
    number[digits] = 0;
    if (!str_to_f64(number, &v) || v > 1e18)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        double ns = units[i].ns > 0 ? v * units[i].ns : v;

        if (strlen(units[i].name) != n - digits ||
            strncmp(text + digits, units[i].name, n - digits) != 0)
            continue;
        if (ns > 1e18)
            return false;
        *out = (trc_time){(uint64_t)(ns + 0.5),
                          units[i].ns > 0 ? TRC_TIME_NS : TRC_TIME_CYCLES};
        return true;
    }
    return false;
}

static bool parse_range(options *o, const char *text)
{
    const char *dots = strstr(text, "..");

    o->range = text;
    o->stretch.all = false;
    return dots && parse_time(text, (size_t)(dots - text), &o->stretch.from) &&
           parse_time(dots + 2, strlen(dots + 2), &o->stretch.to);
}

static bool take_range(void *fields, const char *value, arena *a)
{
    (void)a;
    return parse_range(fields, value);
}

#define AT(field) offsetof(options, field)

static const cli_option rows[] = {
    {"range", "TIME..TIME", OPTION_OTHER, .take = take_range,
     .help =
         "times in cycles, or with ns, us, ms behind: 1000..2000, 1us..2.5us"},
    {"output", "OUT", OPTION_TEXT, AT(output),
     .help = "the file to write; its ending says the form"},
    {"to", "OUT", OPTION_TEXT, AT(output), .help = NULL},
    {"json", NULL, OPTION_FLAG, AT(json), .help = "the summary as JSON"}};
static const cli_options own_options = CLI_OPTIONS(rows);
static const cli_table tables[] = {{&own_options, 0}};

static int parse(int argc, char **argv, options *o, arena *a)
{
    options_line line = {.argc = argc, .argv = argv};
    int rc;

    o->stretch.all = true;
    rc = cli_parse(&cli_trace, o, &line, a);
    if (rc)
        return rc;
    if (line.n_words != 1)
        return cli_usage(&cli_trace,
                         !line.n_words ? "which file?" : "one file at a time");
    o->file = line.words[0];
    return CLI_OK;
}

/* --- summary ------------------------------------------------------------- */

static uint64_t ticks(const tl_timeline *tl, const trc_time *t)
{
    if (t->unit == TRC_TIME_CYCLES)
        return t->time;
    return tl->clk_mhz ? trc_ns_to_cycles(tl->clk_mhz, t->time) : t->time;
}

static uint64_t count_slices(const tl_timeline *tl)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < tl->n_rows; i++)
        for (uint32_t k = 0; tl->rows[i].lanes && k < tl->rows[i].n_lanes; k++)
            n += tl->rows[i].lanes[k].n_slices;
    return n;
}

static double share(uint64_t part, uint64_t of)
{
    return of ? 100.0 * (double)part / (double)of : 0;
}

/* What all SHAVEs have of the stretch. */
static uint64_t shave_time(const stats *s)
{
    return (s->to - s->from) * s->n_shaves;
}

static void print_causes(const stats *s)
{
    printf("\n%-14s %14s %7s\n", "all SHAVEs", "cycles", "share");
    for (int c = 0; c < TL_N_CAUSES; c++)
        if (s->cause[c])
            printf("%-14s %14" PRIu64 " %6.1f %%\n", tl_class_name((tl_class)c),
                   s->cause[c], share(s->cause[c], shave_time(s)));
    if (s->uncovered)
        printf("%-14s %14" PRIu64 " %6.1f %%\n", "not recorded", s->uncovered,
               share(s->uncovered, shave_time(s)));
    printf("%-14s %14" PRIu64 "\n", "sum", shave_time(s));
}

static void print_shaves(const tl_timeline *tl, const stats *s)
{
    printf("\n%-14s", "SHAVE");
    for (int c = 0; c < TL_N_CAUSES; c++)
        if (s->cause[c])
            printf(" %12s", tl_class_name((tl_class)c));
    putchar('\n');
    for (uint32_t i = 0; i < s->n_shaves; i++) {
        printf("%-14s", tl->rows[s->shave_row[i]].name);
        for (int c = 0; c < TL_N_CAUSES; c++)
            if (s->cause[c])
                printf(" %12" PRIu64, s->shave_cause[i][c]);
        putchar('\n');
    }
}

static void print_summary(const options *o, const tl_timeline *tl,
                          const stats *s)
{
    uint64_t length = s->to - s->from;

    printf("%s: %" PRIu64 " slices on %u tracks\n", o->file, count_slices(tl),
           tl->n_rows);
    if (tl->partial[0])
        printf("in part: %s\n", tl->partial);
    if (tl->clk_mhz)
        printf("%" PRIu64 " cycles at %u MHz, %.6f ms\n", length, tl->clk_mhz,
               tl_ns(tl, length) * 1e-6);
    else
        printf("%.6f ms\n", tl_ns(tl, length) * 1e-6);
    if (s->has_ddr)
        printf("DDR %.3f bytes per cycle, %.2f GB/s; at most %.3f\n",
               s->ddr_mean, s->ddr_mean * tl->clk_mhz * 1e-3, s->ddr_peak);
    if (s->n_channels)
        printf("DMA channels busy %.1f %%\n",
               share(s->dma_busy, length * s->n_channels));
    if (s->has_overlap && s->transferring)
        printf("DMA while a SHAVE computes %.1f %%\n",
               share(s->overlapped, s->transferring));
    if (s->n_shaves) {
        printf("busiest SHAVE %.1f %% above the mean\n", 100 * s->imbalance);
        print_causes(s);
        print_shaves(tl, s);
    }
}

static json_t *causes_json(const uint64_t cause[TL_N_CAUSES])
{
    json_t *o = json_object();

    for (int c = 0; c < TL_N_CAUSES; c++)
        json_object_set_new(o, tl_class_name((tl_class)c),
                            json_integer((json_int_t)cause[c]));
    return o;
}

static json_t *json_summary(const options *o, const tl_timeline *tl,
                            const stats *s)
{
    json_t *shaves = json_object();
    json_t *out = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:f, s:b}", "file", o->file, "slices",
        (json_int_t)count_slices(tl), "tracks", (json_int_t)tl->n_rows, "from",
        (json_int_t)s->from, "to", (json_int_t)s->to, "ms",
        tl_ns(tl, s->to - s->from) * 1e-6, "partial", tl->partial[0] != 0);

    if (tl->clk_mhz)
        json_object_set_new(out, "clk_mhz", json_integer(tl->clk_mhz));
    if (s->has_ddr)
        json_object_set_new(
            out, "ddr_bytes_per_cycle",
            json_pack("{s:f, s:f}", "mean", s->ddr_mean, "peak", s->ddr_peak));
    if (s->n_channels)
        json_object_set_new(out, "dma_busy_cycles",
                            json_integer((json_int_t)s->dma_busy));
    if (s->has_overlap) {
        json_object_set_new(out, "dma_cycles",
                            json_integer((json_int_t)s->transferring));
        json_object_set_new(out, "dma_cycles_while_computing",
                            json_integer((json_int_t)s->overlapped));
    }
    json_object_set_new(out, "causes", causes_json(s->cause));
    json_object_set_new(out, "not_recorded",
                        json_integer((json_int_t)s->uncovered));
    for (uint32_t i = 0; i < s->n_shaves; i++)
        json_object_set_new(shaves, tl->rows[s->shave_row[i]].name,
                            causes_json(s->shave_cause[i]));
    json_object_set_new(out, "shaves", shaves);
    return out;
}

static int summary(const options *o, vpu_error *err)
{
    tl_timeline tl;
    stats s;
    uint64_t from, to;
    int rc = CLI_OK;

    if (o->output)
        return cli_usage(&cli_trace, "summary writes no file");
    if (load_file(o->file, &tl, err)) {
        tl_free(&tl);
        return cli_fail(err);
    }
    from = tl.first;
    to = tl.end;
    if (!o->stretch.all) {
        from = ticks(&tl, &o->stretch.from);
        to = ticks(&tl, &o->stretch.to);
    }
    if (o->range && (from >= to || (!tl.clk_mhz && !strpbrk(o->range, "nums"))))
        rc = cli_usage(&cli_trace,
                       tl.clk_mhz || from >= to
                           ? "--range: '%s' does not end after it begins"
                           : "--range: '%s': the trace notes no clock: give "
                             "times in ns, us or ms",
                       o->range);
    to = to < tl.end ? to : tl.end;
    if (!rc) {
        stats_of(&tl, from < to ? from : to, to, &s);
        if (o->json) {
            cli_put_json(json_summary(o, &tl, &s), 9);
        } else {
            print_summary(o, &tl, &s);
        }
    }
    tl_free(&tl);
    return rc;
}

/* --- convert, slice ------------------------------------------------------ */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n > m && !strcmp(text + n - m, end);
}

static int copy(const options *o, vpu_error *err)
{
    trc_config cfg = {.level = TRC_FULL, .bare = true};
    trc_format format = ends_with(o->output, ".json")  ? TRC_CHROME_JSON
                        : ends_with(o->output, ".vcd") ? TRC_VCD
                                                       : TRC_PERFETTO;
    trc_copied done;
    trc_writer *w;
    vpu_status st = trc_writer_create(&cfg, &w, err);

    if (st)
        return cli_fail(err);
    st = trc_writer_add(w, format, o->output, err);
    if (!st)
        st = trc_copy(o->file, &o->stretch, w, &done, err);
    if (st) {
        trc_writer_abandon(w);
        return cli_fail(err);
    }
    if (trc_writer_commit(w, err))
        return cli_fail(err);
    if (done.n_skipped)
        fprintf(stderr,
                "vpu: warning: %s: %" PRIu64 " events left out: out of order "
                "or without a begin\n",
                o->file, done.n_skipped);
    return CLI_OK;
}

static int act(const char *what, options *o)
{
    vpu_error err = {0};

    if (!strcmp(what, "summary"))
        return summary(o, &err);
    if (!o->output)
        return cli_usage(&cli_trace, "--output says where");
    if (o->json)
        return cli_usage(&cli_trace, "--json belongs to summary");
    if (!strcmp(what, "slice") && !o->range)
        return cli_usage(&cli_trace, "--range says which part");
    if (!strcmp(what, "convert") && o->range)
        return cli_usage(&cli_trace, "convert takes all; slice a part");
    return copy(o, &err);
}

static int trace_main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    options o = {0};
    arena *a;
    int rc;

    if (strcmp(what, "summary") && strcmp(what, "convert") &&
        strcmp(what, "slice"))
        return cli_usage(&cli_trace, "'%s' is not summary, convert or slice",
                         what);
    a = arena_create(0);
    rc = parse(argc - 1, argv + 1, &o, a);
    if (!rc)
        rc = act(what, &o);
    arena_destroy(a);
    return rc;
}

const cli_command cli_trace = {
    .name = "trace",
    .summary = "a trace in numbers, in other formats, in part",
    .head =
        "usage: vpu trace summary FILE [--range TIME..TIME] [--json]\n"
        "       vpu trace convert FILE --output OUT\n"
        "       vpu trace slice FILE --range TIME..TIME --output OUT\n\n"
        "Traces of vpu run --trace, for scripts; other Perfetto traces as far as they have\n"
        "slices and counters.\n\n"
        "  summary                 what the SHAVEs' time went to, DDR and DMA, in FILE or a\n"
        "                          part of it\n"
        "  convert                 the same trace as OUT: .json is Chrome's form, .vcd a\n"
        "                          value change dump, anything else Perfetto's\n"
        "  slice                   from time A to B alone; slices are cut at the ends\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail =
        "\n"
        "Examples:\n"
        "  vpu trace summary dma.pftrace\n"
        "  vpu trace convert dma.pftrace --output dma.json\n"
        "  vpu trace slice dma.pftrace --range 100us..150us --output part.pftrace\n",
    .main = trace_main};
