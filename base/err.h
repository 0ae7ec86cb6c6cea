/* Status codes and the error record every fallible function can fill.
 *
 * The function that finds a problem writes the message, with the values that
 * make it understandable; its callers may put a prefix in front (err_in).
 * Libraries neither print nor end the program; base/oom.h says what happens
 * when memory is short. Thread safety: a vpu_error belongs to one thread at a
 * time. */
#ifndef VPU_BASE_ERR_H
#define VPU_BASE_ERR_H

#include <stdarg.h>
#include <stdint.h>

#include "include/vpusim/status.h"

#define VPU_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

/* Short text of a status; never NULL, "unknown status" for strangers. */
const char *err_status_text(vpu_status code);

/* Fill *e (NULL is fine) and return code. Clears line, col and file. */
vpu_status err_set(vpu_error *e, vpu_status code, const char *fmt, ...)
    VPU_PRINTF(3, 4);
vpu_status err_vset(vpu_error *e, vpu_status code, const char *fmt, va_list ap);

/* As err_set, with a position; the message becomes "path:line:col: error: text"
 * (col, then line, left out when 0), the form that editors look
 * for. VPU_ERR_FAULT is of a run, not of the text: without "error: ". */
vpu_status err_at(vpu_error *e, vpu_status code, const char *path,
                  uint32_t line, uint32_t col, const char *fmt, ...)
    VPU_PRINTF(6, 7);

/* Put "what: " in front of the message already there; returns code. */
vpu_status err_in(vpu_error *e, vpu_status code, const char *fmt, ...)
    VPU_PRINTF(3, 4);

#endif
