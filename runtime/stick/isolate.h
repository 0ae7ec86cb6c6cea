/* A session of the virtual stick in a process of its own, which has given up
 * its rights (base/confine.h): kernels come from whoever is connected, and
 * what they or the compiler do to their process ends that session alone.
 * docs/sandbox.md, "Isolation of the virtual stick".
 *
 * The process is a fork: the calling one should have no other thread, since a
 * lock that one holds stays locked in the child. One thread, one session at a
 * time. */
#ifndef VPU_RUNTIME_STICK_ISOLATE_H
#define VPU_RUNTIME_STICK_ISOLATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/log.h"

enum { ISOLATE_MAX_VALUE = 99 };

typedef struct {
    const char *kernels; /* a folder sessions read beneath; or NULL */
    const char *cache;   /* a folder they write to; or NULL */
    int log_fd;          /* a file they write to, open; or -1 */
    /* First of all in the child, with signals held back: whose temporaries and
     * children are whose, what a crash does. Or NULL. */
    void (*begin)(void);
    const _Atomic bool *stop; /* set to end a session; the child has a copy, and
                                 gets SIGTERM */
    const log_sink *log;
} isolate_config;

/* A session that runs. */
typedef struct {
    pid_t pid;
    arena *arena;
    char *dir; /* for its temporaries, removed with whatever is in it */
} isolate_session;

/* What the kernel cannot refuse such a process, as one warning; nothing when it
 * can refuse everything. */
void isolate_warn(const isolate_config *c);

/* Start body(arg) in a confined child that has 0 (as /dev/null), 1, 2, link and
 * c->log_fd open. Its value, 0 to ISOLATE_MAX_VALUE, is the session's. The
 * other end of link sees the child's end once the caller, too, has closed or
 * shut down its copy. *out, and c, live until isolate_wait.
 *
 * VPU_ERR_IO  no process, or no folder for temporaries */
vpu_status isolate_start(const isolate_config *c, int link, int (*body)(void *),
                         void *arg, isolate_session *out, vpu_error *err);

/* Until the session's process has ended, with everything it started; its
 * temporaries are gone then. tick, if any, is called some times a second. After
 * *stop it has ten seconds.
 *
 * VPU_ERR_FAULT    it ended by itself: a crash, by which signal; or it could
 *                  not be confined, and said why
 * VPU_ERR_STOPPED  it did not come to an end after *stop */
vpu_status isolate_wait(const isolate_config *c, isolate_session *s,
                        void (*tick)(void *user), void *user, int *value,
                        vpu_error *err);

#endif
