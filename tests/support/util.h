/* What the tests of runtime share: a log that remembers, and an arena. */
#ifndef VPU_TESTS_SUPPORT_UTIL_H
#define VPU_TESTS_SUPPORT_UTIL_H

#include "base/log.h"
#include "base/str.h"

/* Lines "warning: text" and "note: text" go to lines, one each. */
typedef struct {
    log_sink sink;
    str lines;
} test_log;

void test_log_init(test_log *l);
void test_log_fini(test_log *l);
/* Lines that contain text. */
int test_log_count(const test_log *l, const char *text);

#endif
