/* Notes for the user from deep inside: warnings and progress.
 *
 * Libraries never print; they tell a log what they noticed and the program
 * decides where it goes. A NULL log swallows everything. Functions may be
 * called from one thread at a time. */
#ifndef VPU_BASE_LOG_H
#define VPU_BASE_LOG_H

#include <stdint.h>

#include "base/err.h"

typedef enum { LOG_WARNING, LOG_NOTE } log_level;

typedef struct {
    const char *of;       /* what advances: a kernel, a file */
    const char *units;    /* what is counted: "work-groups" */
    uint64_t done, total; /* total 0: unknown */
} log_step;

typedef struct {
    /* One line, no newline. Never NULL in a log that is passed on. */
    void (*line)(void *user, log_level level, const char *text);
    /* Something long advances. May be NULL. Called at most a few times per
     * second of work. */
    void (*progress)(void *user, const log_step *step);
    void *user;
} log_sink;

void log_warn(const log_sink *log, const char *fmt, ...) VPU_PRINTF(2, 3);
void log_note(const log_sink *log, const char *fmt, ...) VPU_PRINTF(2, 3);
void log_progress(const log_sink *log, const log_step *step);

#endif
