/* What each fast way of the cache model gains (sim/machine/fast.def): the rows
 * that make many global accesses, with all ways, without one at a time, and
 * with none. Processes are taken in turns and the fastest of each counts, as
 * others share the processors. One host thread, so that the caches' time is not
 * hidden behind other work. */
#include <stdio.h>

#include "sim/machine/fast.h"
#include "tests/bench/proc.h"
#include "tests/bench/rows.h"

enum { PROCESSES = 45 };

/* Values of fast_cache: all, one way less each, none. */
static const struct {
    const char *name;
    unsigned bits;
} sums[] = {
    {"all ways", MACH_ALL_WAYS},
#define WAY(name, bit, about) {"no " #name, MACH_ALL_WAYS & ~(unsigned)(bit)},
#include "sim/machine/fast.def"
    {"none", 0},
};
enum { N_SUMS = sizeof sums / sizeof *sums };

static double time_once(const char *vpu, const char *run, unsigned fast_cache)
{
    static proc_result r;
    char words[1024];

    snprintf(words, sizeof words,
             "%s run %s --quiet --json --repeat 7 --threads 1 --set "
             "fast_cache=%u",
             vpu, run, fast_cache);
    proc_run(words, &r);
    return bench_report_seconds(r.out);
}

static void bench_row_ways(const char *vpu, const bench_row *row)
{
    double best[N_SUMS] = {0};

    for (int i = 0; i < PROCESSES; i++)
        for (size_t k = 0; k < N_SUMS; k++) {
            double s = time_once(vpu, row->run, sums[k].bits);

            if (!best[k] || s < best[k])
                best[k] = s;
        }
    printf("%-36s %8.2f ms", row->name, best[0] * 1e3);
    for (size_t k = 1; k < N_SUMS; k++)
        printf(" %+10.1f%%", (best[k] / best[0] - 1) * 100);
    printf("\n");
    fflush(stdout);
}

void bench_ways(const char *vpu)
{
    static const int chosen[] = {0, 2, 3, 6, 7};

    printf("%-36s %11s", "fast ways of the cache model", sums[0].name);
    for (size_t k = 1; k < N_SUMS; k++)
        printf(" %11s", sums[k].name);
    printf("\n");
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        bench_row_ways(vpu, &bench_rows[chosen[i]]);
}
