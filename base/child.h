/* Child processes that must not outlive the program, and waiting for a child
 * within limits of time and memory. Code that starts a child adds it here, and
 * the end of the program ends the child, unless SIGKILL ends the program.
 * Thread-safe where a function says nothing else. */
#ifndef VPU_BASE_CHILD_H
#define VPU_BASE_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* group: it leads a process group that goes with it. */
void child_add(pid_t pid, bool group);
/* It has ended and was waited for. */
void child_forget(pid_t pid);

/* In a child that is still ours, before it becomes another program: it gets
 * SIGTERM when its parent ends without a word. parent: the parent's number from
 * before the fork; when it is gone already the child ends. */
void child_follow(pid_t parent);

/* What a child may use; 0: as much as there is. */
typedef struct {
    double seconds; /* of processors' time */
    uint64_t bytes; /* of memory, above what it has when it starts */
    double idle;    /* seconds without work; 0: CHILD_IDLE_SECONDS */
} child_limits;

typedef enum {
    CHILD_ENDED, /* by itself, or by a signal; see status */
    CHILD_TIME,  /* killed: its seconds were over */
    CHILD_IDLE,  /* killed: it did nothing but wait for limits.idle seconds */
    CHILD_DONE,  /* it has not ended, but signs->done says that it will */
    CHILD_LOST /* nobody can wait for it, errno says why; ECHILD: it has ended,
                  and somebody else waited for it */
} child_end;

enum { CHILD_IDLE_SECONDS = 15 };

/* In a child, before anything else: signals do what they do by themselves, and
 * none is held back. Ignored ones stay so. Async-signal-safe. */
void child_default_signals(void);

/* From now on this process cannot get more memory than limits say. Where the
 * system does not let us, nothing happens. */
void child_bound(const child_limits *limits);

/* What may be seen of a child before it ends. */
typedef struct {
    /* Called now and then, until it is true: a millisecond or a fiftieth of the
     * time after it has become so, or not at all when the child has ended by
     * then. NULL: nothing is to be called. */
    bool (*is_past)(void *user);
    void *user;
    int done; /* can be read when it has done all it is to do; -1: none */
} child_signs;

/* Wait until it ends or is done, killing it when its time is over. signs: or
 * NULL. status: waitpid's, of a child that is not CHILD_DONE. */
child_end child_wait(pid_t pid, const child_limits *limits,
                     const child_signs *signs, int *status);

/* One that was added and is done: to end, and to give its memory back, takes it
 * some milliseconds, in which nobody needs to wait. It is waited for when
 * another child is added, by child_settle, or by child_end_all. */
void child_leave(pid_t pid);
/* Waits for those that were left. A library calls it before its user may take
 * it for gone. */
void child_settle(void);

/* In a forked child that runs our own code: forgets the children known so far,
 * which are its parent's. No other thread may be there. */
void child_disown(void);

/* Ask all to end, wait two seconds at most, kill the rest; their temporaries
 * are theirs to remove. Async-signal-safe. */
void child_end_all(void);

#endif
