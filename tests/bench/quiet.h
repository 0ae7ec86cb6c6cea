/* Waiting for moments in which this machine is ours. Others on the same host
 * take turns, of milliseconds to minutes, in which a thread gets half of its
 * speed, and what is measured in one of them says nothing of us. A moment is
 * quiet when a loop that fills a core takes hardly longer than it ever did in
 * this process, on each processor it may use: as a share of a loop that waits
 * for itself, since clocks change, too. */
#ifndef VPU_TESTS_BENCH_QUIET_H
#define VPU_TESTS_BENCH_QUIET_H

#include <stdbool.h>
#include <stdint.h>

/* Until a quiet moment; at most five seconds, and five minutes in all. All
 * processors work meanwhile: one that has rested is given a place beside others
 * by some hosts, and one that works a core of its own after a while. False: it
 * has not come. */
bool quiet_wait(void);
/* The same for so many seconds, which count as nothing. */
bool quiet_within(double seconds);

/* Behind something of so many seconds that began in a quiet moment, for the
 * times-th time: false, it was not alone, and is to be measured again. What
 * takes more than a second never is, nor what ran for the fifth time, nor
 * anything when five minutes were lost this way. *alone: nobody took part of a
 * processor, as far as that can be told. */
bool quiet_stayed(double seconds, uint32_t times, bool *alone);

typedef struct {
    double waited_s;      /* in all, with what was measured again */
    uint32_t runs, again; /* measured; of these again */
    uint32_t disturbed;   /* kept though they were not alone */
} quiet_report;

quiet_report quiet_told(void);

#endif
