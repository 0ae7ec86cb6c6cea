/* When memory is short.
 *
 * Arenas, strings and other containers of ours never return NULL: they leave
 * the calling thread's innermost oom_scope instead. Whoever stands at the
 * border of the library (a public function, a thread of its own) opens a scope;
 * below it nothing checks. What was allocated inside a scope and belongs to
 * nobody outside of it yet is lost when the scope is left this way; locks are
 * not held where containers grow, so none stays locked.
 *
 * Scopes belong to their thread. Without a scope a shortage aborts the process:
 * that is a defect of the caller. */
#ifndef VPU_BASE_OOM_H
#define VPU_BASE_OOM_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* `leave` is called with the number of bytes that could not be had, SIZE_MAX
 * for a size that no number holds; it must not return. */
typedef struct oom_scope {
    void (*leave)(struct oom_scope *s, size_t wanted);
    struct oom_scope *outer; /* set by oom_enter */
} oom_scope;

/* Opens and closes a scope of the calling thread, the innermost one. */
void oom_enter(oom_scope *s);
void oom_exit(oom_scope *s);
/* For code that changes stacks within a thread: the innermost scope, and
 * another one in its place. */
oom_scope *oom_innermost(void);
void oom_switch(oom_scope *s);
/* Leaves the innermost scope. */
_Noreturn void oom_raise(size_t wanted);

/* work(user, err) in a scope of its own.
 *
 * VPU_ERR_NOMEM  memory was short on the way (message: bytes wanted)
 * else           what work returned */
vpu_status oom_guard(vpu_status (*work)(void *user, vpu_error *err), void *user,
                     vpu_error *err);

/* work(user, err), then end(user), also when memory is short: the shortage then
 * goes on to the scope around. For what no arena owns: descriptors, objects of
 * other libraries. Returns what work returned. */
vpu_status oom_finally(vpu_status (*work)(void *user, vpu_error *err),
                       void (*end)(void *user), void *user, vpu_error *err);

struct arena;
/* work with an arena of its own, which goes when it ends, also when memory is
 * short: the shortage then goes on to the scope around. Returns what work
 * returned. */
vpu_status oom_scratch(vpu_status (*work)(void *user, struct arena *scratch,
                                          vpu_error *err),
                       void *user, vpu_error *err);

/* For containers: malloc and realloc that oom_raise. aligned: to 64 bytes, and
 * n is rounded up to that. */
void *oom_malloc(size_t n);
void *oom_aligned(size_t n);
void *oom_realloc(void *p, size_t n);

/* For tests: of the calling thread's oom_malloc, oom_aligned and oom_realloc
 * the n-th from now on finds no memory; 0: none any more. */
void oom_fail_at(uint64_t n);

#endif
