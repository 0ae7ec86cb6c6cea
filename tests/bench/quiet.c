#include "tests/bench/quiet.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/clock.h"

enum { ROUNDS = 20000, LOOKS = 3, NAP_NS = 20000000, MOST_TIMES = 3 };
static const double hardly_longer = 1.25, most_at_once_s = 2, most_s = 100,
                    long_s = 1;

static volatile uint64_t result_of_loop;
static double least_share = INFINITY; /* wide_seconds by chain_seconds */
static quiet_report told;

/* Each product waits for the one before it. That takes as long whoever else is
 * on the core: only its clock changes it. */
static double chain_seconds(void)
{
    double begin = clock_seconds();
    uint64_t x = 3;

    for (int i = 0; i < ROUNDS; i++)
        x = x * x + 1;
    result_of_loop = x;
    return clock_seconds() - begin;
}

/* Sums and shifts that fill a core's units for integers: what another thread
 * on the same core takes is missing here. */
static double wide_seconds(void)
{
    uint64_t x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, sum = 0;
    double begin = clock_seconds();

    for (int i = 0; i < ROUNDS; i++)
        for (int k = 0; k < 8; k++)
            x[k] = x[k] * 3 + (x[k] >> 7);
    for (int k = 0; k < 8; k++)
        sum += x[k];
    result_of_loop = sum;
    return clock_seconds() - begin;
}

/* The greatest share of the processors'; of each loop the fastest of some
 * looks, since one may be interrupted. */
static double look(const cpu_set_t *all)
{
    double greatest = 0;

    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        double chain = INFINITY, wide = INFINITY;
        cpu_set_t one;

        if (!CPU_ISSET(cpu, all))
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        for (int i = 0; i < LOOKS; i++) {
            chain = fmin(chain, chain_seconds());
            wide = fmin(wide, wide_seconds());
        }
        least_share = fmin(least_share, wide / chain);
        greatest = fmax(greatest, wide / chain);
    }
    sched_setaffinity(0, sizeof *all, all);
    return greatest;
}

static bool is_quiet(void)
{
    cpu_set_t all;

    return sched_getaffinity(0, sizeof all, &all) ||
           look(&all) <= hardly_longer * least_share;
}

void quiet_wait(void)
{
    const struct timespec nap = {0, NAP_NS};
    double begin = clock_seconds(), waited = 0;
    bool quiet = is_quiet();

    while (!quiet && waited < most_at_once_s &&
           told.waited_s + waited < most_s) {
        nanosleep(&nap, NULL);
        quiet = is_quiet();
        waited = clock_seconds() - begin;
    }
    told.waited_s += waited;
}

bool quiet_stayed(double seconds, uint32_t times)
{
    bool quiet = seconds > long_s || is_quiet();
    bool again = !quiet && times < MOST_TIMES && told.waited_s < most_s;

    told.runs++;
    told.again += again;
    told.disturbed += !quiet && !again;
    told.waited_s += again ? seconds : 0;
    return !again;
}

quiet_report quiet_told(void)
{
    return told;
}
