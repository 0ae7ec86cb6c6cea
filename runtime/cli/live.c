#include "runtime/cli/live.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/temp.h"

vpu_status live_prepare(live *l, const char *trace, arena *a, vpu_error *err)
{
    vpu_status st;
    char *dir;

    *l = (live){.path = trace};
    if (trace)
        return VPU_OK;
    st = temp_dir(a, "vpu-view-", &dir, err);
    if (st)
        return st;
    l->dir = dir;
    l->path = arena_printf(a, "%s/live.pftrace", dir);
    return VPU_OK;
}

vpu_status live_start(live *l, vpu_error *err)
{
    pid_t parent = getpid(), pid = fork();

    if (pid < 0)
        return err_set(err, VPU_ERR_IO, "--view: %s", strerror(errno));
    if (!pid) {
        child_follow(parent);
        execl("/proc/self/exe", "vpu", "view", "--follow", "--", l->path,
              (char *)NULL);
        _exit(127);
    }
    child_add(pid, false);
    l->pid = pid;
    return VPU_OK;
}

int live_end(live *l, bool failed)
{
    int status = 0;

    if (l->pid && failed)
        kill(l->pid, SIGTERM);
    while (l->pid && waitpid(l->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (l->pid)
        child_forget(l->pid);
    if (l->dir)
        temp_dir_remove(l->dir);
    *l = (live){0};
    return WIFEXITED(status) ? WEXITSTATUS(status) : failed ? 0 : 2;
}
