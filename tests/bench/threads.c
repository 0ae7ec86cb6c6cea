/* Two large launches on 1, 2, 4 … host threads, as many as the machine has
 * processors. If a share s of a run is serial and the rest divides, n threads
 * take s + (1 - s) / n of the time of one; s is what the largest n measured
 * tells, and the last column what 16 threads would gain by it. */
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

static double once(const char *vpu, const char *run, int threads)
{
    static proc_result r;
    char words[1024];

    snprintf(words, sizeof words,
             "%s run %s --quiet --json --repeat 3 --threads %d", vpu, run,
             threads);
    proc_run(words, &r);
    return bench_report_seconds(r.out);
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

/* Of a run that takes `of_one` with one thread and `of_n` with n. */
static double serial_share(double of_one, double of_n, int n)
{
    return n < 2 ? 1 : (n * of_n / of_one - 1) / (n - 1);
}

static json_t *bench_one(const char *vpu, const char *name, const char *run,
                         const int *counts, int n_counts)
{
    double least[MAX_COUNTS] = {0}, s, last;
    json_t *o = json_pack("{s:s}", "name", name), *all = json_array();

    for (int i = 0; i < PROCESSES; i++) /* in turns, as the machine changes */
        for (int k = 0; k < n_counts; k++) {
            double t = once(vpu, run, counts[k]);

            least[k] = least[k] && least[k] < t ? least[k] : t;
        }
    last = least[n_counts - 1];
    s = serial_share(least[0], last, counts[n_counts - 1]);
    s = s < 0 ? 0 : s;
    printf("%-34s %8.2f ms", name, least[0] * 1e3);
    for (int k = 1; k < n_counts; k++)
        printf(" %4d: %5.2fx", counts[k], least[0] / least[k]);
    printf("  serial %5.2f %%, 16 threads: %.1fx\n", 100 * s,
           1 / (s + (1 - s) / MOST));
    fflush(stdout);
    for (int k = 0; k < n_counts; k++)
        json_array_append_new(all, json_pack("{s:i,s:f}", "threads", counts[k],
                                             "seconds", least[k]));
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
