/* How the simulator grows: with bundles, work-groups, work-items, lines and
 * cases. The processors are shared, and what others take from a process is not
 * ours: of several processes the fastest counts. */
#include "tests/bench/scale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/proc.h"
#include "tests/bench/rows.h"

enum { RUNS = 5 };

/* --- the interpreter ----------------------------------------------------- */

/* Cycles in which SHAVEs issued: a bundle each, empty ones included. */
static double issue_cycles(const char *report)
{
    json_t *r = json_loads(report, 0, NULL), *stage;
    double n = 0;
    size_t i;

    json_array_foreach(json_object_get(r, "stages"), i, stage) n +=
        json_number_value(json_object_get(
            json_object_get(stage, "shave_cycles_by_cause"), "issue"));
    json_decref(r);
    return n;
}

json_t *bench_interpreter(const char *vpu)
{
    static const int chosen[] = {0, 3, 4, 6};
    static proc_result r;
    json_t *all = json_array();
    char words[1024];

    printf("\n%-34s %11s %11s %9s\n", "interpreter, M bundles/s", "compiled",
           "--profile", "M/s");
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        const bench_row *k = &bench_rows[chosen[i]];
        double compiled = INFINITY, profiled = INFINITY, rate;

        for (int n = 0; n < RUNS; n++) { /* in turns, as the machine changes */
            snprintf(words, sizeof words,
                     "%s run %s --quiet --json --threads 1", vpu, k->run);
            proc_run(words, &r);
            compiled = fmin(compiled, bench_report_seconds(r.out));
            snprintf(words, sizeof words,
                     "%s run %s --quiet --json --threads 1 --profile", vpu,
                     k->run);
            proc_run(words, &r);
            profiled = fmin(profiled, bench_report_seconds(r.out));
        }
        rate = issue_cycles(r.out) / profiled * 1e-6;
        printf("%-34s %8.2f ms %8.2f ms %9.1f\n", k->name, compiled * 1e3,
               profiled * 1e3, rate);
        fflush(stdout);
        json_array_append_new(all, json_pack("{s:s,s:f,s:f,s:f}", "name",
                                             k->name, "compiled_seconds",
                                             compiled, "profile_seconds",
                                             profiled, "mbundles_per_s", rate));
    }
    return all;
}

/* --- work-groups and work-items ------------------------------------------ */

/* layer: a printf format that gets an int, of which each makes `per` units. */
static void growth(const char *vpu, const char *unit, const char *layer,
                   const double *counts, size_t n_counts, double per,
                   json_t *all)
{
    static proc_result r;
    char run[512], words[1024];
    double before = 0;

    for (size_t i = 0; i < n_counts; i++) {
        double seconds = INFINITY, mib = INFINITY, n = counts[i];
        int times = (int)(n / per);

        snprintf(run, sizeof run, layer, times);
        snprintf(words, sizeof words, "%s run %s --quiet --json", vpu, run);
        for (int k = 0; k < (n < 1e8 ? RUNS : 1); k++) {
            proc_run(words, &r);
            seconds = fmin(seconds, bench_report_seconds(r.out));
            mib = fmin(mib, (double)r.peak_kib / 1024);
        }
        printf("%11.0f %-20s %10.2f ms %9.2f ns each %9.1f MiB", n, unit,
               seconds * 1e3, seconds / n * 1e9, mib);
        if (before > 0)
            printf(", %.1f times the row above", seconds / before);
        printf("\n");
        fflush(stdout);
        json_array_append_new(all,
                              json_pack("{s:s,s:f,s:f,s:f}", "unit", unit, "n",
                                        n, "seconds", seconds, "mib", mib));
        before = seconds;
    }
}

json_t *bench_growth(const char *vpu)
{
    static const double groups[] = {1e5, 1e6, 1e7}, items[] = {1e8, 1e9, 1e10};
    json_t *all = json_array();

    growth(vpu, "one-item groups",
           "tests/bench/layer.xml --layer Tiny --shape in0=1x1x1x%d:f32",
           groups, 3, 1, all);
    growth(vpu, "items, 1000 a group",
           "tests/bench/layer.xml --layer Same --shape in0=1x1x%dx1000:f32",
           items, 3, 1e8, all);
    return all;
}

/* --- compilation --------------------------------------------------------- */

static void write_lines(FILE *f, int n)
{
    fputs("__kernel void lines(__global const float *restrict src,\n"
          "                    __global float *restrict dst)\n{\n"
          "    const int i = get_global_id(0);\n"
          "    float a = src[i], b = 1.0f, c = 2.0f, d = 3.0f;\n",
          f);
    for (int k = 0; k < n; k++)
        fprintf(f, "    %c = %c * %c + %d.25f;\n", 'a' + k % 4,
                'a' + (k + 1) % 4, 'a' + (k + 3) % 4, k % 997);
    fputs("    dst[i] = a + b + c + d;\n}\n", f);
}

/* Cases of one expression each, none of which a table of values can give. */
static void write_cases(FILE *f, int n)
{
    fputs("__kernel void cases(__global const float *restrict src,\n"
          "                    __global float *restrict dst)\n{\n"
          "    const int i = get_global_id(0);\n"
          "    float a = src[i];\n"
          "    switch ((int)a) {\n",
          f);
    for (int k = 0; k < n; k++)
        fprintf(f, "    case %d: a = a * %d.5f + src[%d]; break;\n", k, k,
                k * 7 % 1009);
    fputs("    }\n    dst[i] = a;\n}\n", f);
}

static void write_layer(const char *dir, const char *name, int n,
                        void (*body)(FILE *, int))
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/kernel.cl", dir);
    if (!(f = fopen(path, "w"))) {
        perror(path);
        exit(1);
    }
    body(f, n);
    fclose(f);
    snprintf(path, sizeof path, "%s/layer.xml", dir);
    if (!(f = fopen(path, "w"))) {
        perror(path);
        exit(1);
    }
    fprintf(f,
            "<CustomLayer name=\"L\" type=\"MVCL\" version=\"1\">\n"
            "<Kernel entry=\"%s\"><Source filename=\"kernel.cl\"/>\n"
            "<Parameters><Tensor arg-name=\"src\" type=\"input\" "
            "port-index=\"0\" format=\"BFYX\"/><Tensor arg-name=\"dst\" "
            "type=\"output\" port-index=\"0\" format=\"BFYX\"/></Parameters>\n"
            "<WorkSizes dim=\"input,0\" global=\"X,1,1\" local=\"64,1,1\"/>\n"
            "</Kernel></CustomLayer>\n",
            name);
    fclose(f);
}

/* Kernels of n lines or cases, by ascending n. */
static void compile(const char *vpu, const char *name,
                    void (*body)(FILE *, int), const int *counts,
                    size_t n_counts, json_t *all)
{
    static proc_result r;
    char dir[] = "/tmp/vpu-bench-XXXXXX", words[1024], clear[64];
    double first = 0;

    if (!mkdtemp(dir)) {
        perror(dir);
        exit(1);
    }
    for (size_t i = 0; i < n_counts; i++) {
        double seconds, each;
        uint32_t times = 0;

        write_layer(dir, name, counts[i], body);
        snprintf(clear, sizeof clear, "rm -rf %s/cache", dir);
        snprintf(words, sizeof words,
                 "env XDG_CACHE_HOME=%s/cache %s run %s/layer.xml --shape "
                 "in0=1x1x1x1024:f32 --quiet --compile-timeout 0 "
                 "--compile-memory 0",
                 dir, vpu, dir);
        do /* each time without what the time before has left */
            proc_run_now(clear, 0, &r);
        while (!proc_run_once(words, 0, ++times, &r));
        seconds = r.wall_s;
        each = seconds / counts[i];
        first = first > 0 ? first : each;
        printf("%6d %-27s %11.2f s %8.3f ms each, %.2f times the first's "
               "%9.1f MiB\n",
               counts[i], name, seconds, each * 1e3, each / first,
               (double)r.peak_kib / 1024);
        fflush(stdout);
        json_array_append_new(all, json_pack("{s:s,s:i,s:f,s:f}", "name", name,
                                             "n", counts[i], "seconds", seconds,
                                             "mib", (double)r.peak_kib / 1024));
    }
    snprintf(words, sizeof words, "rm -rf %s", dir);
    proc_run(words, &r);
}

json_t *bench_compile(const char *vpu)
{
    static const int lines[] = {1000, 4000, 16000}, cases[] = {200, 1000, 5000};
    json_t *all = json_array();

    printf("\n%-34s\n", "cold compilation");
    compile(vpu, "lines", write_lines, lines, 3, all);
    compile(vpu, "cases", write_cases, cases, 3, all);
    return all;
}
