#include "tests/bench/quiet.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

enum { ROUNDS = 4000, LOOKS = 3, IN_A_ROW = 3, MOST_TIMES = 5, MOST_CPUS = 64 };
static const double hardly_longer = 1.25, most_at_once_s = 5, most_s = 300,
                    long_s = 1;
/* A host may give a processor that begins to work a place beside others first.
 */
static const double settles_s = 0.005;

static double least_share = INFINITY; /* wide_seconds by chain_seconds */
static quiet_report told;

/* Each product waits for the one before it. That takes as long whoever else is
 * on the core: only its clock changes it. */
static double chain_seconds(volatile uint64_t *result)
{
    double begin = clock_seconds();
    uint64_t x = 3;

    for (int i = 0; i < ROUNDS; i++)
        x = x * x + 1;
    *result = x;
    return clock_seconds() - begin;
}

/* Sums and shifts that fill a core's units for integers: what another thread
 * on the same core takes is missing here. */
static double wide_seconds(volatile uint64_t *result)
{
    uint64_t x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, sum = 0;
    double begin = clock_seconds();

    for (int i = 0; i < ROUNDS; i++)
        for (int k = 0; k < 8; k++)
            x[k] = x[k] * 3 + (x[k] >> 7);
    for (int k = 0; k < 8; k++)
        sum += x[k];
    *result = sum;
    return clock_seconds() - begin;
}

/* Of each loop the fastest of some looks, since one may be interrupted. */
static double look(void)
{
    double chain = INFINITY, wide = INFINITY;
    volatile uint64_t result;

    for (int i = 0; i < LOOKS; i++) {
        chain = fmin(chain, chain_seconds(&result));
        wide = fmin(wide, wide_seconds(&result));
    }
    return wide / chain;
}

/* A thread on each processor, all looking all the time. */
typedef struct {
    int cpu;
    pthread_t thread;
    bool lives;
    _Atomic double share; /* of the last look */
    atomic_bool *stop;
} looker;

static void stay_on(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void *keep_looking(void *arg)
{
    looker *l = arg;

    stay_on(l->cpu);
    while (!*l->stop)
        l->share = look();
    return NULL;
}

static uint32_t start_lookers(const cpu_set_t *all, looker *lookers,
                              atomic_bool *stop)
{
    uint32_t n = 0;

    for (int cpu = 0; cpu < CPU_SETSIZE && n < MOST_CPUS; cpu++) {
        looker *l = &lookers[n];

        if (!CPU_ISSET(cpu, all))
            continue;
        *l = (looker){.cpu = cpu, .share = INFINITY, .stop = stop};
        l->lives = n && !pthread_create(&l->thread, NULL, keep_looking, l);
        n++;
    }
    return n;
}

/* All processors are quiet a few looks in a row, before so many seconds are
 * over. This thread looks on the first one. */
bool quiet_within(double seconds)
{
    double end = clock_seconds() + seconds;
    looker lookers[MOST_CPUS];
    atomic_bool stop = false;
    cpu_set_t all;
    uint32_t n, in_a_row = 0;

    if (sched_getaffinity(0, sizeof all, &all))
        return true;
    n = start_lookers(&all, lookers, &stop);
    if (n)
        stay_on(lookers[0].cpu);
    while (in_a_row < IN_A_ROW && clock_seconds() < end) {
        double greatest = 0;

        lookers[0].share = look();
        for (uint32_t i = 0; i < n; i++) {
            if (i && !lookers[i].lives)
                continue;
            least_share = fmin(least_share, lookers[i].share);
            greatest = fmax(greatest, lookers[i].share);
        }
        in_a_row = greatest <= hardly_longer * least_share ? in_a_row + 1 : 0;
    }
    stop = true;
    for (uint32_t i = 0; i < n; i++)
        if (lookers[i].lives)
            pthread_join(lookers[i].thread, NULL);
    sched_setaffinity(0, sizeof all, &all);
    return in_a_row == IN_A_ROW;
}

bool quiet_wait(void)
{
    double begin = clock_seconds();
    double left = most_s - told.waited_s;
    bool quiet = quiet_within(fmin(most_at_once_s, fmax(left, settles_s)));

    told.waited_s += clock_seconds() - begin;
    return quiet;
}

bool quiet_stayed(double seconds, uint32_t times, bool *alone)
{
    bool quiet = seconds > long_s || quiet_within(settles_s);
    bool again = !quiet && times < MOST_TIMES && told.waited_s < most_s;

    *alone = quiet;
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
