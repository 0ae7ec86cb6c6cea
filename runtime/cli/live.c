#include "runtime/cli/live.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

vpu_status live_prepare(live *l, const char *trace, arena *a, vpu_error *err)
{
    const char *tmp = getenv("TMPDIR");
    char *dir;

    *l = (live){.path = trace};
    if (trace)
        return VPU_OK;
    dir = arena_printf(a, "%s/vpu-view-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        return err_set(err, VPU_ERR_IO, "%s: %s", dir, strerror(errno));
    l->dir = dir;
    l->path = arena_printf(a, "%s/live.pftrace", dir);
    return VPU_OK;
}

vpu_status live_start(live *l, vpu_error *err)
{
    pid_t pid = fork();

    if (pid < 0)
        return err_set(err, VPU_ERR_IO, "--view: %s", strerror(errno));
    if (!pid) {
        execl("/proc/self/exe", "vpu", "view", "--follow", "--", l->path,
              (char *)NULL);
        _exit(127);
    }
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
    if (l->dir) {
        unlink(l->path);
        rmdir(l->dir);
    }
    *l = (live){0};
    return WIFEXITED(status) ? WEXITSTATUS(status) : failed ? 0 : 2;
}
