/* A kernel of a few lines for tests of vpu debug, and sessions on it. */
#ifndef VPU_TESTS_RUNTIME_DEBUG_TWIST_H
#define VPU_TESTS_RUNTIME_DEBUG_TWIST_H

#include "tests/support/terminal.h"

/* Three channels of 2 x 16: the first is what the kernel sees. */
#define TWIST_ARGS \
    "layer.xml --shape in0=1x3x2x16 --param bias=0.25 --input 0=ramp"

extern terminal twist;

/* A folder with layer.xml and twist.cl. */
void twist_open(void);
void twist_close(void);
/* What a session with these commands on standard input writes, and its exit
 * status. */
const char *twist_log_of(const char *args, const char *commands, int *status);
/* The same without the lines that show the commands again. */
const char *twist_session_of(const char *args, const char *commands,
                             int *status);
/* The same with TWIST_ARGS; commands that are not done are fine. */
const char *twist_session(const char *commands);
void twist_expect(const char *out, const char *want);
/* In this order, without overlap. NULL ends the list. */
void twist_expect_in_order(const char *out, const char *const *want);
/* Element k of the input, as the half it is. */
double twist_ramp(int k);

#endif
