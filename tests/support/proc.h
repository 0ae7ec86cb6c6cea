/* Other processes, seen through /proc. */
#ifndef VPU_TESTS_SUPPORT_PROC_H
#define VPU_TESTS_SUPPORT_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A child of this process, waited for; the test fails after 20 s. */
pid_t proc_child(pid_t parent);
/* Whether it has ended, waited for by its parent or not; waits 20 s for it. */
bool proc_ends(pid_t pid);
/* Its /proc/PID/status as text. */
void proc_status(pid_t pid, char *out, size_t room);

#endif
