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
    /* One line, no newline. Never NULL in a log that is passed on. */
    void (*line)(void *user, log_level level, const char *text);
    /* Something long advances: done of total (0 = unknown) units of what. May
     * be NULL. Called at most a few times per second of work. */
    void (*progress)(void *user, const char *what, uint64_t done,
                     uint64_t total);
    void *user;
} log_sink;

void log_warn(const log_sink *log, const char *fmt, ...) VPU_PRINTF(2, 3);
void log_note(const log_sink *log, const char *fmt, ...) VPU_PRINTF(2, 3);
void log_progress(const log_sink *log, const char *what, uint64_t done,
                  uint64_t total);

#endif
