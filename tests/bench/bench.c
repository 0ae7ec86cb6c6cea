/* bench VPU CLHOST RESULTS.json: the simulator beside Oclgrind and PoCL.
 * bench --ways VPU: the fast ways of its cache model alone (ways.c).
 * bench --trace VPU: what writing a trace costs, alone (trace.c).
 * bench --element VPU: an element of GRN beside plain C, alone (element.c).
 * bench --threads VPU: what more host threads gain, alone (threads.c).
 * bench --interpreter VPU, --growth VPU, --compile VPU: how it grows (scale.c).
 *
 * Kernel rows compare the time a launch takes, without compilation, of one
 * source in all three; the simulator runs with its timing model, on all host
 * threads, as PoCL does. Oclgrind would take minutes, so it gets a part of the
 * work-items, and its time is scaled by their number. Other rows are whole
 * processes. Every figure is the median of several runs. */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/bench/element.h"
#include "tests/bench/link.h"
#include "tests/bench/proc.h"
#include "tests/bench/quiet.h"
#include "tests/bench/rows.h"
#include "tests/bench/scale.h"
#include "tests/bench/sweep.h"
#include "tests/bench/threads.h"
#include "tests/bench/trace.h"

enum { RUNS = 7, PROCESSES = 7, OCLGRIND_RUNS = 5, MOST_SECONDS_MORE = 240 };

#define RUN_SMALL                                                  \
    "run kernels/grn/layer.xml --layer GRN --shape in0=1x16x8x16 " \
    "--param bias=1.0"
#define LINT "lint kernels/grn/layer.xml"
#define CHECK_CORRELATION                                                 \
    "check kernels/correlation/layer.xml --shape in0=1x16x24x32 --shape " \
    "in1=1x16x24x32 --shape out0=1x25x24x32"

static const char *vpu, *clhost;
static json_t *rows, *model_rows, *check_rows, *driver_rows;
static double peak_mib; /* above the buffers, of all kernel rows */
static const char *peak_name;

static void progress(const char *name)
{
    if (isatty(2))
        fprintf(stderr, "\r\033[K%s...", name);
}

static json_t *ratio(double theirs, double ours)
{
    return isnan(theirs) ? json_null() : json_real(theirs / ours);
}

static void print_time(double s)
{
    if (isnan(s))
        printf(" %11s", "-");
    else
        printf(" %8.2f ms", s * 1e3);
}

static void print_ratio(double theirs, double ours)
{
    if (isnan(theirs))
        printf(" %9s", "-");
    else
        printf(" %8.*fx", theirs < ours * 10 ? 2 : 0, theirs / ours);
}

static void add_row(const char *name, double ours, double oclgrind, double pocl)
{
    json_t *o = json_object();

    json_object_set_new(o, "name", json_string(name));
    json_object_set_new(o, "seconds", json_real(ours));
    json_object_set_new(o, "vs_oclgrind", ratio(oclgrind, ours));
    json_object_set_new(o, "vs_pocl", ratio(pocl, ours));
    json_array_append_new(rows, o);
    if (isatty(2))
        fprintf(stderr, "\r\033[K");
    printf("%-34s", name);
    print_time(ours);
    print_time(oclgrind);
    print_time(pocl);
    print_ratio(oclgrind, ours);
    print_ratio(pocl, ours);
    printf("\n");
    fflush(stdout);
}

/* --- kernels ------------------------------------------------------------- */

static void vpu_words(const bench_row *k, char *words, size_t n)
{
    snprintf(words, n, "%s run %s --quiet --json --repeat %d", vpu, k->run,
             RUNS);
}

static double kernel_seconds(const bench_row *k, const proc_result *r)
{
    double above = (double)r->peak_kib / 1024 - k->buffer_mib;

    if (above > peak_mib) {
        peak_mib = above;
        peak_name = k->name;
    }
    return bench_report_seconds(r->out);
}

static double time_vpu(const bench_row *k)
{
    static proc_result r;
    double s[PROCESSES];
    char words[1024];

    vpu_words(k, words, sizeof words);
    for (int i = 0; i < PROCESSES; i++) {
        proc_run(words, &r);
        s[i] = kernel_seconds(k, &r);
    }
    return proc_median(s, PROCESSES);
}

static double time_clhost(const char *prefix, const char *platform, int runs,
                          const char *host)
{
    static proc_result r;
    double s[RUNS] = {0};
    char words[1024], *at = r.out;

    if (!host)
        return NAN;
    snprintf(words, sizeof words, "%s%s %s %d %s", prefix, clhost, platform,
             runs, host);
    proc_run(words, &r);
    for (int i = 0; i < runs; i++)
        s[i] = strtod(at, &at);
    return proc_median(s, (size_t)runs);
}

/* A row of the first table. Others on this host may take part of its processors
 * for minutes, so its processes are run again between the other tables and
 * behind them, until enough of them were alone. */
typedef struct {
    const char *name;
    const bench_row *kernel; /* NULL: of whole processes */
    const char *words;
    bool cold; /* of such: each with a cache of its own, else all with one */
    double oclgrind, pocl;
    double alone[PROCESSES], any[PROCESSES];
    size_t n_alone, n_any;
} first_row;

enum { ENOUGH_ALONE = 3 };

static void remove_tree(const char *dir)
{
    static proc_result r;
    char words[512];

    snprintf(words, sizeof words, "rm -rf %s", dir);
    proc_run_now(words, 0, &r);
}

/* One process of RUN_SMALL and the like; not by env, which takes a tenth of the
 * shortest of them. */
static double process_seconds(const first_row *row, proc_result *r)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    char *before = cache ? strdup(cache) : NULL;
    char dir[] = "/tmp/vpu-bench-XXXXXX", words[512];

    if (!mkdtemp(dir)) {
        perror(dir);
        exit(1);
    }
    snprintf(words, sizeof words, "%s/cache", dir);
    setenv("XDG_CACHE_HOME", words, 1);
    snprintf(words, sizeof words, "%s %s --quiet", vpu, row->words);
    if (!row->cold)
        proc_run_now(words, 1, r);
    proc_run_once(words, 1, UINT32_MAX, r);
    remove_tree(dir);
    if (before)
        setenv("XDG_CACHE_HOME", before, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    free(before);
    return r->wall_s;
}

static void run_row(first_row *row)
{
    static proc_result r;
    char words[1024];
    double s;

    progress(row->name);
    if (row->kernel) {
        vpu_words(row->kernel, words, sizeof words);
        proc_run_once(words, 0, UINT32_MAX, &r);
        s = kernel_seconds(row->kernel, &r);
    } else {
        s = process_seconds(row, &r);
    }
    if (r.alone && row->n_alone < PROCESSES)
        row->alone[row->n_alone++] = s;
    if (row->n_any < PROCESSES)
        row->any[row->n_any++] = s;
}

#define OF_PROCESSES(name, words, cold) \
    {name, NULL, words, cold, NAN, NAN, {0}, {0}, 0, 0}

static first_row first[] = {
    [BENCH_ROWS] =
        OF_PROCESSES("cold compile and run, small layer", RUN_SMALL, true),
    OF_PROCESSES("cached run, small layer", RUN_SMALL, false),
    OF_PROCESSES("lint of 8 layers, cold", LINT, true),
    OF_PROCESSES("lint of 8 layers, cached", LINT, false),
    OF_PROCESSES("check of correlation, cold", CHECK_CORRELATION, true),
    OF_PROCESSES("check of correlation, cached", CHECK_CORRELATION, false),
};

enum { N_FIRST = sizeof first / sizeof *first };

static void begin_first_table(void)
{
    for (size_t i = 0; i < N_FIRST; i++) {
        first_row *row = &first[i];
        const bench_row *k = i < BENCH_ROWS ? &bench_rows[i] : NULL;

        if (k) {
            row->kernel = k;
            row->name = k->name;
            row->pocl = time_clhost("", "Portable", RUNS, k->host);
            row->oclgrind = time_clhost("oclgrind ", "Oclgrind", OCLGRIND_RUNS,
                                        k->host_part) *
                            k->share;
        }
        for (int n = 0; n < PROCESSES; n++)
            run_row(row);
    }
}

/* In as many rounds as begin in a quiet moment within so many seconds. */
static void go_on_with_first_table(double seconds)
{
    double end = clock_seconds() + seconds;
    bool wanted = true;

    while (wanted && quiet_within(fmax(end - clock_seconds(), 0.05))) {
        wanted = false;
        for (size_t i = 0; i < N_FIRST; i++)
            if (first[i].n_alone < PROCESSES) {
                run_row(&first[i]);
                wanted = true;
            }
        if (clock_seconds() > end)
            break;
    }
}

static void print_first_table(void)
{
    printf("%-34s %11s %11s %11s %9s %9s\n", "", "vpusim", "Oclgrind", "PoCL",
           "vs O.", "vs PoCL");
    for (size_t i = 0; i < N_FIRST; i++) {
        first_row *row = &first[i];
        bool alone = row->n_alone >= ENOUGH_ALONE;

        add_row(row->name,
                alone ? proc_median(row->alone, row->n_alone)
                      : proc_median(row->any, row->n_any),
                row->oclgrind, row->pocl);
    }
}

/* --- the OpenCL driver --------------------------------------------------- */

/* One host program on all drivers; ours against vpu run of the same kernel,
 * too. Both of ours have timing. */
static void bench_driver(const bench_row *k)
{
    char plain[256], checking[256];
    double ours, run, pocl, oclgrind, checked, racing;
    json_t *o = json_object();

    progress(k->name);
    snprintf(plain, sizeof plain, "%s cl ", vpu);
    snprintf(checking, sizeof checking,
             "%s cl --check --suppress tests/bench/known ", vpu);
    ours = time_clhost(plain, "vpusim", RUNS, k->host);
    run = time_vpu(k);
    pocl = time_clhost("", "Portable", RUNS, k->host);
    oclgrind =
        time_clhost("oclgrind ", "Oclgrind", OCLGRIND_RUNS, k->host_part) *
        k->share;
    checked = time_clhost(checking, "vpusim", OCLGRIND_RUNS, k->host);
    racing = time_clhost("oclgrind --data-races --uninitialized ", "Oclgrind",
                         OCLGRIND_RUNS, k->host_part) *
             k->share;
    json_object_set_new(o, "name", json_string(k->name));
    json_object_set_new(o, "seconds", json_real(ours));
    json_object_set_new(o, "vs_run", ratio(run, ours));
    json_object_set_new(o, "vs_oclgrind", ratio(oclgrind, ours));
    json_object_set_new(o, "vs_pocl", ratio(pocl, ours));
    json_object_set_new(o, "checked_seconds", json_real(checked));
    json_object_set_new(o, "checked_vs_oclgrind", ratio(racing, checked));
    json_array_append_new(driver_rows, o);
    if (isatty(2))
        fprintf(stderr, "\r\033[K");
    printf("%-34s", k->name);
    print_time(ours);
    print_ratio(run, ours);
    print_ratio(oclgrind, ours);
    print_ratio(pocl, ours);
    print_time(checked);
    print_ratio(racing, checked);
    printf("\n");
    fflush(stdout);
}

static void bench_drivers(void)
{
    printf("\n%-34s %11s %9s %9s %9s %11s %9s\n", "the driver (vpu cl)",
           "vpusim", "vs run", "vs O.", "vs PoCL", "--check", "vs O.");
    for (int i = 0; i < BENCH_ROWS; i++)
        if (bench_rows[i].host && bench_rows[i].host_part)
            bench_driver(&bench_rows[i]);
}

/* --- the model's own cost ------------------------------------------------ */

/* A launch of the simulator alone, with options: seconds, and the cycles all
 * its SHAVEs together spent, of them issuing. */
typedef struct {
    double seconds, cycles, issued;
} model_time;

/* One process, whose time counts when it is the fastest: the processors are
 * shared, and what others take from a process is not ours. */
static void time_model_once(const char *run, const char *options, model_time *t)
{
    static proc_result r;
    json_t *report, *stage, *causes;
    char words[1024];
    double seconds;

    snprintf(words, sizeof words, "%s run %s --quiet --json --repeat %d %s",
             vpu, run, RUNS, options);
    proc_run(words, &r);
    seconds = bench_report_seconds(r.out);
    if (!t->seconds || seconds < t->seconds)
        t->seconds = seconds;
    report = json_loads(r.out, 0, NULL);
    stage = json_array_get(json_object_get(report, "stages"), 0);
    causes = json_object_get(stage, "shave_cycles_by_cause");
    t->cycles = 0;
    for (void *it = json_object_iter(causes); it;
         it = json_object_iter_next(causes, it))
        t->cycles += json_number_value(json_object_iter_value(it));
    t->issued = json_number_value(json_object_get(causes, "issue"));
    json_decref(report);
}

static model_time time_model(const char *run, const char *options)
{
    model_time t = {0};

    for (int i = 0; i < PROCESSES; i++)
        time_model_once(run, options, &t);
    return t;
}

/* What timing costs, how it scales over host threads, and how fast simulated
 * time passes. */
static void bench_model(const char *name, const char *run)
{
    json_t *o = json_object();
    model_time none = {0}, flow = {0}, lines = {0}, one = {0}, two = {0};

    progress(name);
    for (int i = 0; i < PROCESSES; i++) { /* in turns, as the machine changes */
        time_model_once(run, "--timing none", &none);
        time_model_once(run, "--timing flow", &flow);
        time_model_once(run, "--timing transaction", &lines);
        time_model_once(run, "--threads 1", &one);
        time_model_once(run, "--threads 2", &two);
    }
    json_object_set_new(o, "name", json_string(name));
    json_object_set_new(o, "seconds_untimed", json_real(none.seconds));
    json_object_set_new(o, "flow", json_real(flow.seconds / none.seconds));
    json_object_set_new(o, "transaction",
                        json_real(lines.seconds / none.seconds));
    json_object_set_new(o, "two_threads", json_real(one.seconds / two.seconds));
    json_object_set_new(o, "shave_cycles_per_s",
                        json_real(one.cycles / one.seconds));
    json_object_set_new(o, "issue_cycles_per_s",
                        json_real(one.issued / one.seconds));
    json_array_append_new(model_rows, o);
    if (isatty(2))
        fprintf(stderr, "\r\033[K");
    printf("%-34s %8.2f ms %10.2fx %10.2fx %8.2fx %9.0f %9.0f\n", name,
           none.seconds * 1e3, flow.seconds / none.seconds,
           lines.seconds / none.seconds, one.seconds / two.seconds,
           one.cycles / one.seconds * 1e-6, one.issued / one.seconds * 1e-6);
    fflush(stdout);
}

static void bench_models(void)
{
    static const int chosen[] = {0, 2, 3, 4, 6, 7};

    printf("\n%-34s %11s %11s %11s %9s %9s %9s\n", "the timing model",
           "untimed", "flow", "transaction", "2 threads", "Mcycles/s",
           "issue M/s");
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        bench_model(bench_rows[chosen[i]].name, bench_rows[chosen[i]].run);
    printf("\n");
}

/* --- the checkers -------------------------------------------------------- */

/* Seconds the launches take under all default checkers. */
static double time_check(const bench_row *k)
{
    static proc_result r;
    double s[PROCESSES];
    char words[1024];

    snprintf(words, sizeof words,
             "%s check %s --quiet --times --suppress tests/bench/known", vpu,
             k->run);
    for (int i = 0; i < PROCESSES; i++) {
        const char *at;

        proc_run(words, &r);
        at = strstr(r.out, " launches ");
        for (const char *next = at; next; next = strstr(next + 1, " launches "))
            at = next;
        s[i] = at ? strtod(at + strlen(" launches "), NULL) : NAN;
    }
    return proc_median(s, PROCESSES);
}

static void bench_check(const bench_row *k)
{
    json_t *o = json_object();
    double checked, plain, oclgrind;

    progress(k->name);
    checked = time_check(k);
    plain = time_model(k->run, "--threads 1").seconds;
    oclgrind = time_clhost("oclgrind --data-races --uninitialized ", "Oclgrind",
                           OCLGRIND_RUNS, k->host_part) *
               k->share;
    json_object_set_new(o, "name", json_string(k->name));
    json_object_set_new(o, "seconds", json_real(checked));
    json_object_set_new(o, "vs_unchecked", json_real(checked / plain));
    json_object_set_new(o, "vs_oclgrind", ratio(oclgrind, checked));
    json_array_append_new(check_rows, o);
    if (isatty(2))
        fprintf(stderr, "\r\033[K");
    printf("%-34s", k->name);
    print_time(checked);
    print_time(plain);
    print_time(oclgrind);
    printf(" %8.1fx", checked / plain);
    print_ratio(oclgrind, checked);
    printf("\n");
    fflush(stdout);
}

static void bench_checks(void)
{
    static const int chosen[] = {0, 2, 3, 6, 7};

    printf("\n%-34s %11s %11s %11s %9s %9s\n", "the checkers (vpu check)",
           "checked", "unchecked", "Oclgrind", "slower", "vs O.");
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        bench_check(&bench_rows[chosen[i]]);
    printf("\n");
}

static void add_memory(void)
{
    static const char name[] = "peak memory above the buffers";
    json_t *o = json_object();

    json_object_set_new(o, "name", json_string(name));
    json_object_set_new(o, "seconds", json_null());
    json_object_set_new(o, "mib", json_real(peak_mib));
    json_object_set_new(o, "vs_oclgrind", json_null());
    json_object_set_new(o, "vs_pocl", json_null());
    json_array_append_new(rows, o);
    printf("%-34s %7.1f MiB   (most: %s)\n", name, peak_mib, peak_name);
}

/* Parts that stand alone: bench OPTION VPU. */
static const struct {
    const char *option;
    json_t *(*run)(const char *vpu);
} parts[] = {
    {"--sweep", bench_sweep},     {"--trace", bench_trace},
    {"--threads", bench_threads}, {"--interpreter", bench_interpreter},
    {"--growth", bench_growth},   {"--compile", bench_compile},
    {"--element", bench_element},
};

/* The part of all with that name, alone. */
static int bench_alone(const char *name, const char *file)
{
    const struct {
        const char *name;
        void (*run)(void);
        json_t *rows;
    } alone[] = {{"driver", bench_drivers, driver_rows},
                 {"checkers", bench_checks, check_rows}};

    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        if (!strcmp(name, alone[i].name)) {
            alone[i].run();
            return json_dump_file(alone[i].rows, file, JSON_INDENT(2)) ? 1 : 0;
        }
    fprintf(stderr, "bench: no part '%s', expected driver or checkers\n", name);
    return 2;
}

/* All tables but the first. What they print goes to *text, since the first one
 * stands before them and is ready behind them. */
static void bench_others(json_t **out, char **text)
{
    FILE *shown = stdout;
    json_t *all = json_object();
    size_t n;

    fflush(stdout);
    stdout = open_memstream(text, &n);
    if (!stdout) {
        perror("memory");
        exit(1);
    }
    bench_models();
    go_on_with_first_table(0);
    json_object_set_new(all, "model", model_rows);
    bench_checks();
    go_on_with_first_table(0);
    json_object_set_new(all, "check", check_rows);
    bench_drivers();
    go_on_with_first_table(0);
    json_object_set_new(all, "driver", driver_rows);
    json_object_set_new(all, "link", bench_link(vpu));
    for (size_t i = sizeof parts / sizeof *parts; i-- > 0;) {
        json_object_set_new(all, parts[i].option + 2, parts[i].run(vpu));
        go_on_with_first_table(0);
    }
    fclose(stdout);
    stdout = shown;
    *out = all;
}

int main(int argc, char **argv)
{
    json_t *others;
    quiet_report quiet;
    char *text;

    for (size_t i = 0; argc == 3 && i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(argv[1], parts[i].option)) {
            json_decref(parts[i].run(argv[2]));
            return 0;
        }
    if (argc == 3 && !strcmp(argv[1], "--ways")) {
        bench_ways(argv[2]);
        return 0;
    }
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: bench VPU CLHOST RESULTS.json "
                        "[driver|checkers]\n"
                        "       bench --ways VPU\n"
                        "       bench --sweep VPU\n"
                        "       bench --trace VPU\n"
                        "       bench --threads VPU\n"
                        "       bench --interpreter VPU\n"
                        "       bench --growth VPU\n"
                        "       bench --compile VPU\n"
                        "       bench --element VPU\n");
        return 2;
    }
    vpu = argv[1];
    clhost = argv[2];
    rows = json_array();
    model_rows = json_array();
    check_rows = json_array();
    driver_rows = json_array();
    if (argc == 5)
        return bench_alone(argv[4], argv[3]);
    begin_first_table();
    bench_others(&others, &text);
    go_on_with_first_table(MOST_SECONDS_MORE);
    print_first_table();
    add_memory();
    fputs(text, stdout);
    free(text);
    json_object_set_new(others, "benchmarks", rows);
    if (json_dump_file(others, argv[3], JSON_INDENT(2))) {
        perror(argv[3]);
        return 1;
    }
    json_decref(others);
    quiet = quiet_told();
    printf(
        "\nKernel times are launches without compilation, repeated on warm "
        "buffers: medians\nof %d runs (Oclgrind: %d), for the simulator of "
        "%d processes of %d runs. Oclgrind\nruns a part of the items (1/32 "
        "to 1/128), scaled up. Ratios are speed-ups: higher\nis better. "
        "Of the timing model, of the fastest process each: how many times as "
        "long\nas untimed; one thread's time by that of two; and cycles of "
        "all SHAVEs, then those\nissued, that one thread simulates in a "
        "second. Written to %s.\n",
        RUNS, OCLGRIND_RUNS, PROCESSES, RUNS, argv[3]);
    printf("Of %u processes %u ran again, as others had taken part of a "
           "processor, and %u did\nnot though they had; %.0f s were waited.\n",
           quiet.runs, quiet.again, quiet.disturbed, quiet.waited_s);
    return 0;
}
