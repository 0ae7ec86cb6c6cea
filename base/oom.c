/* Scopes of each thread, and allocation that leaves them. */
#include "base/oom.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/arena.h"

static _Thread_local oom_scope *innermost;
static _Thread_local uint64_t fail_at;

void oom_enter(oom_scope *s)
{
    s->outer = innermost;
    innermost = s;
}

void oom_exit(oom_scope *s)
{
    innermost = s->outer;
}

oom_scope *oom_innermost(void)
{
    return innermost;
}

void oom_switch(oom_scope *s)
{
    innermost = s;
}

void oom_raise(size_t wanted)
{
    oom_scope *s = innermost;

    if (s) {
        innermost = s->outer; /* what the scope does now is outside of it */
        s->leave(s, wanted);
    }
    abort();
}

typedef struct {
    oom_scope scope; /* first: leave gets back from it */
    jmp_buf env;
    volatile size_t wanted; /* set between setjmp and longjmp */
} guard;

static void leave_guard(oom_scope *s, size_t wanted)
{
    guard *g = (guard *)s;

    g->wanted = wanted;
    longjmp(g->env, 1);
}

vpu_status oom_guard(vpu_status (*work)(void *user, vpu_error *err), void *user,
                     vpu_error *err)
{
    guard g = {.scope.leave = leave_guard};
    vpu_status st;

    if (setjmp(g.env))
        return g.wanted == SIZE_MAX
                   ? err_set(err, VPU_ERR_NOMEM,
                             "out of memory (wanted more than there are "
                             "addresses)")
                   : err_set(err, VPU_ERR_NOMEM,
                             "out of memory (wanted %zu bytes)", g.wanted);
    oom_enter(&g.scope);
    st = work(user, err);
    oom_exit(&g.scope);
    return st;
}

vpu_status oom_finally(vpu_status (*work)(void *user, vpu_error *err),
                       void (*end)(void *user), void *user, vpu_error *err)
{
    guard g = {.scope.leave = leave_guard};
    vpu_status st;

    if (setjmp(g.env)) {
        end(user);
        oom_raise(g.wanted);
    }
    oom_enter(&g.scope);
    st = work(user, err);
    oom_exit(&g.scope);
    end(user);
    return st;
}

typedef struct {
    vpu_status (*work)(void *user, arena *scratch, vpu_error *err);
    void *user;
    arena *scratch;
} scratching;

static vpu_status work_with(void *user, vpu_error *err)
{
    const scratching *s = user;

    return s->work(s->user, s->scratch, err);
}

static void end_scratch(void *user)
{
    const scratching *s = user;

    arena_destroy(s->scratch);
}

vpu_status oom_scratch(vpu_status (*work)(void *user, struct arena *scratch,
                                          vpu_error *err),
                       void *user, vpu_error *err)
{
    scratching s = {work, user, arena_create(0)};

    return oom_finally(work_with, end_scratch, &s, err);
}

/* Is this the allocation that a test wants to fail? */
static bool is_to_fail(void)
{
    return fail_at && !--fail_at;
}

static void *or_raise(void *p, size_t n)
{
    if (!p)
        oom_raise(n);
    return p;
}

void *oom_malloc(size_t n)
{
    return or_raise(is_to_fail() ? NULL : malloc(n), n);
}

void *oom_aligned(size_t n)
{
    size_t whole = (n + 63) & ~(size_t)63;

    return or_raise(whole < n || is_to_fail() ? NULL : aligned_alloc(64, whole),
                    n);
}

void *oom_realloc(void *p, size_t n)
{
    return or_raise(is_to_fail() ? NULL : realloc(p, n), n);
}

void oom_fail_at(uint64_t n)
{
    fail_at = n;
}
