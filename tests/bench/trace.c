/* Writing a full-level trace: the processor's time of whole processes with and
 * without it, all their threads, the least of several as others share the
 * processors. The second share leaves out what a process takes for a launch of
 * nothing: starting, reading the layer, loading the kernel. */
#include "tests/bench/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/proc.h"
#include "tests/bench/rows.h"

enum { RUNS = 25, GRN = 0, MATMUL = 2, STENCIL = 6, REDUCTION = 7, TINY = 8 };

#define NOTHING                                              \
    "tests/bench/layer.xml --layer Tiny --shape in0=1x1x1x1" \
    ":f32"

typedef struct {
    double nothing, plain, traced; /* seconds */
    double mib;
} trace_times;

static void keep_least(const char *vpu, const char *run, const char *options,
                       double *least)
{
    static proc_result r;
    char words[1024];

    snprintf(words, sizeof words, "%s run %s --quiet%s", vpu, run, options);
    proc_run(words, &r);
    if (!*least || r.cpu_s < *least)
        *least = r.cpu_s;
}

static trace_times time_row(const char *vpu, const char *run)
{
    char path[] = "/tmp/vpu-bench-XXXXXX", options[128];
    int fd = mkstemp(path);
    trace_times t = {0};
    struct stat s;

    if (fd < 0) {
        perror(path);
        exit(1);
    }
    snprintf(options, sizeof options, " --trace %s --trace-level full", path);
    for (int i = 0; i < RUNS; i++) { /* in turns, as the machine changes */
        keep_least(vpu, NOTHING, "", &t.nothing);
        keep_least(vpu, run, "", &t.plain);
        keep_least(vpu, run, options, &t.traced);
    }
    t.mib = stat(path, &s) ? 0 : (double)s.st_size / (1 << 20);
    unlink(path);
    close(fd);
    return t;
}

json_t *bench_trace(const char *vpu)
{
    static const int chosen[] = {GRN, MATMUL, STENCIL, REDUCTION, TINY};
    json_t *all = json_array();

    printf("\n%-34s %11s %11s %9s %9s %9s\n", "writing a full-level trace",
           "without", "with", "share", "of launch", "MiB");
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        const bench_row *k = &bench_rows[chosen[i]];
        trace_times t = time_row(vpu, k->run);
        double more = t.traced - t.plain;

        printf("%-34s %8.2f ms %8.2f ms %8.1f%% %8.1f%% %9.1f\n", k->name,
               t.plain * 1e3, t.traced * 1e3, 100 * more / t.plain,
               100 * more / fmax(t.plain - t.nothing, 1e-9), t.mib);
        fflush(stdout);
        json_array_append_new(all, json_pack("{s:s,s:f,s:f,s:f,s:f}", "name",
                                             k->name, "cpu_seconds", t.plain,
                                             "traced_cpu_seconds", t.traced,
                                             "nothing_cpu_seconds", t.nothing,
                                             "mib", t.mib));
    }
    return all;
}
