/* What work-groups print, given on in the order of their linear numbers,
 * whatever SHAVE and thread ran them when. Thread safe but for
 * print_log_deliver and _destroy, which nobody else may be at work beside.
 *
 * Memory: PRINT_LOG_BYTES of text and 24 bytes per group that printed; what is
 * more goes to a temporary file without a name. */
#ifndef VPU_SIM_EXEC_PRINT_LOG_H
#define VPU_SIM_EXEC_PRINT_LOG_H

#include <stddef.h>
#include <stdint.h>

enum { PRINT_LOG_BYTES = 8 << 20 };

typedef struct print_log print_log;

print_log *print_log_create(void);
void print_log_destroy(print_log *p); /* NULL is fine */
/* All that group printed. */
void print_log_add(print_log *p, uint64_t group, const char *text, size_t n);
/* Gives on, and forgets, what groups below that number printed. Text that found
 * no room in the temporary file is replaced by a line that says so. */
void print_log_deliver(print_log *p, uint64_t below,
                       void (*print)(void *user, const char *text, size_t n),
                       void *user);

#endif
