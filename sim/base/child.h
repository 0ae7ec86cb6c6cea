/* Processes we started and that must not outlive us. Those that start one say
 * so here, and whatever ends the program ends them. Thread-safe. */
#ifndef VPU_SIM_BASE_CHILD_H
#define VPU_SIM_BASE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* group: it leads a process group that goes with it. */
void child_add(pid_t pid, bool group);
/* It has ended and was waited for. */
void child_forget(pid_t pid);

/* In a child that is still ours, before it becomes another program: it gets
 * SIGTERM when its parent ends without a word. parent: the parent's number from
 * before the fork; when it is gone already the child ends. */
void child_follow(pid_t parent);

/* Ask all to end, wait two seconds at most, kill the rest; their temporaries
 * are theirs to remove. Async-signal-safe. */
void child_end_all(void);

#endif
