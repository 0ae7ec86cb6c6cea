/* Looks for children and states of processes in /proc. */
#include "tests/support/proc.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 2000, NAP_US = 10000 };

static bool slurp(pid_t pid, const char *what, char *out, size_t room)
{
    char name[64];
    ssize_t n;
    int fd;

    snprintf(name, sizeof name, "/proc/%d/%s", (int)pid, what);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, out, room - 1);
    if (fd >= 0)
        close(fd);
    out[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* State and parent stand behind the name, which may hold anything. */
static bool look(pid_t pid, char *state, int *parent)
{
    char text[512];
    const char *end =
        slurp(pid, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;

    return end && sscanf(end, ") %c %d", state, parent) == 2;
}

static pid_t find_child(pid_t parent)
{
    DIR *d = opendir("/proc");
    const struct dirent *e;
    pid_t found = 0;

    ck_assert_ptr_nonnull(d);
    while (!found && (e = readdir(d))) {
        pid_t pid = (pid_t)atoi(e->d_name);
        int its = 0;
        char state;

        if (pid > 0 && look(pid, &state, &its) && its == parent && state != 'Z')
            found = pid;
    }
    closedir(d);
    return found;
}

pid_t proc_child(pid_t parent)
{
    for (int i = 0; i < TRIES; i++) {
        pid_t pid = find_child(parent);

        if (pid)
            return pid;
        usleep(NAP_US);
    }
    ck_abort_msg("process %d has no child", (int)parent);
    return 0;
}

bool proc_ends(pid_t pid)
{
    for (int i = 0; i < TRIES; i++) {
        int parent;
        char state;

        if (!look(pid, &state, &parent) || state == 'Z')
            return true;
        usleep(NAP_US);
    }
    return false;
}

void proc_status(pid_t pid, char *out, size_t room)
{
    ck_assert(slurp(pid, "status", out, room));
}
