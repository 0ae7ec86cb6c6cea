/* The error record: formatting only, no allocation, so that it works when
 * memory is short. */
#include "base/err.h"

#include <stdio.h>
#include <string.h>

const char *err_status_text(vpu_status code)
{
    switch (code) {
#define X(name, text) \
    case VPU_##name:  \
        return text;
#include "base/status.def"
    }
    return "unknown status";
}

vpu_status err_vset(vpu_error *e, vpu_status code, const char *fmt, va_list ap)
{
    if (!e)
        return code;
    e->code = code;
    e->line = e->col = 0;
    e->file[0] = 0;
    vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    return code;
}

vpu_status err_set(vpu_error *e, vpu_status code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    err_vset(e, code, fmt, ap);
    va_end(ap);
    return code;
}

vpu_status err_at(vpu_error *e, vpu_status code, const char *path,
                  uint32_t line, uint32_t col, const char *fmt, ...)
{
    const char *kind = code == VPU_ERR_FAULT ? "" : "error: ";
    va_list ap;
    int n;

    if (!e)
        return code;
    e->code = code;
    e->line = line;
    e->col = col;
    snprintf(e->file, sizeof e->file, "%s", path);
    if (line && col)
        n = snprintf(e->msg, sizeof e->msg, "%s:%u:%u: %s", path, line, col,
                     kind);
    else if (line)
        n = snprintf(e->msg, sizeof e->msg, "%s:%u: %s", path, line, kind);
    else
        n = snprintf(e->msg, sizeof e->msg, "%s: %s", path, kind);
    if (n < 0 || (size_t)n >= sizeof e->msg)
        return code;
    va_start(ap, fmt);
    vsnprintf(e->msg + n, sizeof e->msg - (size_t)n, fmt, ap);
    va_end(ap);
    return code;
}

vpu_status err_in(vpu_error *e, vpu_status code, const char *fmt, ...)
{
    char old[sizeof e->msg];
    va_list ap;
    int n;

    if (!e)
        return code;
    memcpy(old, e->msg, sizeof old);
    old[sizeof old - 1] = '\0';
    va_start(ap, fmt);
    n = vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n + 2 < sizeof e->msg) {
        size_t room = sizeof e->msg - (size_t)n - 3, len = strlen(old);

        memcpy(e->msg + n, ": ", 2);
        memcpy(e->msg + n + 2, old, len < room ? len : room);
        e->msg[(size_t)n + 2 + (len < room ? len : room)] = '\0';
    }
    e->code = code;
    return code;
}
