/* The host's monotonic clock. Any thread. Simulated time is never this. */
#ifndef VPU_BASE_CLOCK_H
#define VPU_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

int64_t clock_ms(void);
double clock_seconds(void);
/* The time in so many ms, for pthread_cond_timedwait on a condition of
 * CLOCK_MONOTONIC. */
struct timespec clock_deadline(unsigned ms);

#endif
