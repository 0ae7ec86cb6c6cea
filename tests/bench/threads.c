/* Two large launches on 1, 2, 4 … host threads, as many as the machine has
 * processors.
 *
 * The serial share is counted, on one thread: the time of a run in which no
 * group runs (the launch is set up, the event engine advances the clock). If it
 * is s, and everything else divides, n threads take s + (1 - s) / n of the time
 * of one. The rule is neither the best nor the worst: with several threads the
 * engine runs beside groups, but threads share the machine's memory. */
#include "tests/bench/threads.h"

#include <stdio.h>
#include <unistd.h>

#include "tests/bench/proc.h"
#include "tests/bench/rows.h"

enum { PROCESSES = 5, MOST = 16, MAX_COUNTS = 5 };

static const struct {
    const char *name, *run;
} large[] = {{"GRN half, DDR, 1x16x1024x2048",
              "kernels/grn/layer.xml --layer GRN --shape in0=1x16x1024x2048 "
              "--param bias=1.0"},
             {"matmul half, tiled, 1024x1024x1024",
              "kernels/matmul/layer.xml --layer MatMul --shape in0=1024x1024 "
              "--shape in1=1024x1024 --shape out0=1024x1024"}};

/* Of each process its serial share; of all the shortest run. */
typedef struct {
    double run, shares[PROCESSES];
    int n;
} times;

static void once(const char *vpu, const char *run, int threads, times *all)
{
    static proc_result r;
    char words[1024];
    double t;

    snprintf(words, sizeof words,
             "%s run %s --quiet --json --repeat 7 --threads %d", vpu, run,
             threads);
    proc_run(words, &r);
    t = bench_report_seconds(r.out);
    all->shares[all->n++] = bench_report_engine_seconds(r.out) / t;
    if (!all->run || t < all->run)
        all->run = t;
}

/* Fills counts with 1, 2, 4 … up to the machine's processors. */
static int thread_counts(int counts[MAX_COUNTS])
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int n = 0;

    for (int k = 1; k <= MOST && (k <= processors || k == 1); k *= 2)
        counts[n++] = k;
    return n;
}

static json_t *bench_one(const char *vpu, const char *name, const char *run,
                         const int *counts, int n_counts)
{
    times least[MAX_COUNTS] = {0};
    json_t *o = json_pack("{s:s}", "name", name), *all = json_array();
    double s;

    for (int i = 0; i < PROCESSES; i++) /* in turns, as the machine changes */
        for (int k = 0; k < n_counts; k++)
            once(vpu, run, counts[k], &least[k]);
    /* Parts of a millisecond, of which others may take one away. */
    s = proc_median(least[0].shares, PROCESSES);
    printf("%-34s %8.2f ms  serial %5.2f %%, %d threads by it: %.1fx; measured",
           name, least[0].run * 1e3, 100 * s, MOST, 1 / (s + (1 - s) / MOST));
    for (int k = 1; k < n_counts; k++)
        printf(" %d: %.2fx", counts[k], least[0].run / least[k].run);
    printf("\n");
    fflush(stdout);
    for (int k = 0; k < n_counts; k++)
        json_array_append_new(all, json_pack("{s:i,s:f}", "threads", counts[k],
                                             "seconds", least[k].run));
    json_object_set_new(o, "times", all);
    json_object_set_new(o, "serial_share", json_real(s));
    return o;
}

json_t *bench_threads(const char *vpu)
{
    json_t *all = json_array();
    int counts[MAX_COUNTS], n = thread_counts(counts);

    printf("\n%-34s %11s  gain of several\n", "serial share", "one thread");
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        json_array_append_new(
            all, bench_one(vpu, large[i].name, large[i].run, counts, n));
    return all;
}
