/* Formatting for log.h. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static void emit(const log_sink *log, log_level level, const char *fmt,
                 va_list ap)
{
    char text[2048];

    vsnprintf(text, sizeof text, fmt, ap);
    log->line(log->user, level, text);
}

void log_warn(const log_sink *log, const char *fmt, ...)
{
    va_list ap;

    if (!log)
        return;
    va_start(ap, fmt);
    emit(log, LOG_WARNING, fmt, ap);
    va_end(ap);
}

void log_note(const log_sink *log, const char *fmt, ...)
{
    va_list ap;

    if (!log)
        return;
    va_start(ap, fmt);
    emit(log, LOG_NOTE, fmt, ap);
    va_end(ap);
}

void log_progress(const log_sink *log, const log_step *step)
{
    if (log && log->progress)
        log->progress(log->user, step);
}
