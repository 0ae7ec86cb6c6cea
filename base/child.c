/* Children by slot, for a signal handler to read without locks. */
#include "base/child.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A suite's 64 at once, and some. */
enum { MAX_CHILDREN = 80, ROUNDS = 200, ROUND_NS = 10000000 };

typedef struct {
    _Atomic pid_t pid; /* 0 = free */
    atomic_bool group;
} slot;

static slot slots[MAX_CHILDREN];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void child_add(pid_t pid, bool group)
{
    pthread_mutex_lock(&lock);
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
        if (slots[i].pid == pid)
            slots[i].pid = 0;
    pthread_mutex_unlock(&lock);
}

void child_disown(void)
{
    for (int i = 0; i < MAX_CHILDREN; i++)
        slots[i].pid = 0;
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

    if (pid > 0)
        kill(s->group ? -pid : pid, sig);
}

/* Somebody else may be waiting for it, too: then it is gone all the same. */
static bool has_ended(const slot *s)
{
    pid_t pid = s->pid;

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
