/* Children by slot, for a signal handler to read without locks. */
#include "base/child.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A suite's 64 at once, and some. */
enum { MAX_CHILDREN = 80, ROUNDS = 200, ROUND_NS = 10000000 };

typedef struct {
    _Atomic pid_t pid; /* 0 = free */
    atomic_bool group;
    /* Of one that was left, a descriptor and 1, else 0: its number may be
     * another process's, once a host that waits for all children has waited for
     * it. */
    atomic_int left;
} slot;

static slot slots[MAX_CHILDREN];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* With the lock: those that were left. options: waitid's. */
static void wait_for_left(int options)
{
    for (int i = 0; i < MAX_CHILDREN; i++) {
        siginfo_t info = {0};
        int left = slots[i].left, rc;

        if (!left)
            continue;
        do
            rc = waitid(P_PIDFD, (id_t)(left - 1), &info, WEXITED | options);
        while (rc && errno == EINTR);
        if (!rc && !info.si_pid)
            continue;     /* not yet */
        slots[i].pid = 0; /* first: a signal handler may look in between */
        slots[i].left = 0;
        close(left - 1);
    }
}

void child_leave(pid_t pid)
{
    int fd = pidfd_open(pid, 0);
    bool is_kept = false;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_CHILDREN && fd >= 0 && !is_kept; i++)
        if (slots[i].pid == pid && !slots[i].left) {
            slots[i].left = fd + 1;
            is_kept = true;
        }
    pthread_mutex_unlock(&lock);
    if (is_kept)
        return;
    if (fd >= 0)
        close(fd);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    child_forget(pid);
}

void child_settle(void)
{
    pthread_mutex_lock(&lock);
    wait_for_left(0);
    pthread_mutex_unlock(&lock);
}

void child_add(pid_t pid, bool group)
{
    pthread_mutex_lock(&lock);
    wait_for_left(WNOHANG);
    for (int i = 0; i < MAX_CHILDREN; i++)
        if (!slots[i].pid) {
            slots[i].group = group;
            slots[i].pid = pid;
            break;
        }
    pthread_mutex_unlock(&lock);
}

void child_forget(pid_t pid)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_CHILDREN; i++)
        if (slots[i].pid == pid && !slots[i].left)
            slots[i].pid = 0;
    pthread_mutex_unlock(&lock);
}

void child_disown(void)
{
    for (int i = 0; i < MAX_CHILDREN; i++) {
        if (slots[i].left)
            close(slots[i].left - 1);
        slots[i].left = 0;
        slots[i].pid = 0;
    }
}

void child_follow(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
}

static void send(const slot *s, int sig)
{
    pid_t pid = s->pid;
    int left = s->left;

    if (left)
        pidfd_send_signal(left - 1, sig, NULL, 0);
    else if (pid > 0)
        kill(s->group ? -pid : pid, sig);
}

/* Somebody else may be waiting for it, too: then it is gone all the same. */
static bool has_ended(const slot *s)
{
    siginfo_t info = {0};
    pid_t pid = s->pid;
    int left = s->left;

    if (left)
        return waitid(P_PIDFD, (id_t)(left - 1), &info, WEXITED | WNOHANG) ||
               info.si_pid;
    return pid <= 0 || waitpid(pid, NULL, WNOHANG);
}

void child_end_all(void)
{
    const struct timespec nap = {0, ROUND_NS};
    bool ended[MAX_CHILDREN] = {false};
    int left = MAX_CHILDREN;

    for (int i = 0; i < MAX_CHILDREN; i++)
        send(&slots[i], SIGTERM);
    for (int round = 0; left && round < ROUNDS; round++) {
        left = 0;
        for (int i = 0; i < MAX_CHILDREN; i++) {
            ended[i] = ended[i] || has_ended(&slots[i]);
            left += !ended[i];
        }
        if (left)
            nanosleep(&nap, NULL);
    }
    for (int i = 0; i < MAX_CHILDREN; i++)
        send(&slots[i], SIGKILL); /* a group's others, too */
}
