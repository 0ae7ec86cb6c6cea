/* Stopping a kernel in the middle: memory faults, divergence, limits.
 *
 * Compiled code has no error returns. A thread that runs kernels arms a
 * fault_scope; a fault in the window, or fault_raise from a hook, jumps back to
 * it. Hooks must not be inside malloc or hold locks when they fault.
 *
 * A loop that only counts does not look at the clock. When the launch's time is
 * over its thread gets a signal, and where that finds it in compiled code,
 * which holds nothing, it jumps, too. */
#ifndef VPU_SIM_EXEC_FAULT_H
#define VPU_SIM_EXEC_FAULT_H

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum {
    FAULT_NONE,
    FAULT_ACCESS,       /* address, write */
    FAULT_DIVERGENCE,   /* line */
    FAULT_UNREACHABLE,  /* line */
    FAULT_LOCAL,        /* written behind a local array; address */
    FAULT_COPY,         /* zero width; line */
    FAULT_COPY_OUTSIDE, /* beyond the last address; line */
    FAULT_MISSES,       /* more than can be kept at transaction level */
    FAULT_LIMIT,        /* cycles */
    FAULT_MEMORY,       /* the host is short of it */
    FAULT_STOPPED       /* by exec_leave */
} fault_kind;

typedef struct {
    sigjmp_buf env;
    const uint8_t *window;
    uint64_t reserved;   /* bytes from there that are the device's */
    const uint8_t *code; /* compiled code, for fault_interrupt; NULL: none */
    size_t code_bytes;
    pthread_t thread; /* that armed it last */
    atomic_bool armed, interrupted;
    fault_kind kind;
    uint32_t address, line;
    bool write;
} fault_scope;

/* Installs the handlers; nested calls count. */
void fault_install(void);
void fault_uninstall(void);

/* The calling thread's scope, NULL to disarm. Usage:
 *   if (!sigsetjmp(s->env, 0)) { fault_arm(s); …; }
 *   fault_arm(NULL); look at s->kind */
void fault_arm(fault_scope *s);
fault_scope *fault_armed(void);
/* From any thread, as often as it likes until the scope has ended: ends it with
 * FAULT_LIMIT once its thread is found in compiled code. */
void fault_interrupt(fault_scope *s);
/* From a hook: ends the armed scope. */
_Noreturn void fault_raise(fault_kind kind, uint32_t line);

#endif
