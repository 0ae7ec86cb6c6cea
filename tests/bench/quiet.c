#include "tests/bench/quiet.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/clock.h"

enum { ROUNDS = 100000, LOOKS = 3, NAP_NS = 20000000, MOST_TIMES = 3 };
static const double hardly_longer = 1.3, most_at_once_s = 2, most_s = 100,
                    long_s = 1;

static volatile uint64_t result_of_loop;
static double least_s = INFINITY; /* of the loop */
static quiet_report told;

/* Sums and shifts that fill a core's units for integers: what another thread
 * on the same core takes is missing here. */
static double loop_seconds(void)
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

/* The slowest processor's time; on each the fastest of some looks, since one
 * may be interrupted. */
static double look(const cpu_set_t *all)
{
    double slowest = 0;

    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        double fastest = INFINITY;
        cpu_set_t one;

        if (!CPU_ISSET(cpu, all))
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        for (int i = 0; i < LOOKS; i++)
            fastest = fmin(fastest, loop_seconds());
        least_s = fmin(least_s, fastest);
        slowest = fmax(slowest, fastest);
    }
    sched_setaffinity(0, sizeof *all, all);
    return slowest;
}

static bool is_quiet(void)
{
    cpu_set_t all;

    return sched_getaffinity(0, sizeof all, &all) ||
           look(&all) <= hardly_longer * least_s;
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
