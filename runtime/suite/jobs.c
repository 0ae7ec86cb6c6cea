/* Processes side by side. Output goes to anonymous files, so nobody waits for a
 * full pipe. */
#include "base/child.h"
#include "base/clock.h"
#include "runtime/suite/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PARALLEL = 64, MAX_OUTPUT = 16 << 20, GRACE_SECONDS = 2 };

typedef struct {
    pid_t pid; /* 0 = free */
    size_t job;
    FILE *out, *errors;
    double start, asked; /* begun; asked to end */
} slot;

static slot slots[MAX_PARALLEL];

static void kill_all(void)
{
    for (int i = 0; i < MAX_PARALLEL; i++)
        if (slots[i].pid)
            kill(-slots[i].pid, SIGKILL);
}

static void child(const job *j, const slot *s, pid_t parent)
{
    int nothing = open("/dev/null", O_RDONLY);

    child_follow(parent);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0);
    dup2(nothing, 0);
    dup2(fileno(s->out), 1);
    dup2(fileno(s->errors), 2);
    if (chdir(j->dir)) {
        dprintf(2, "%s: %s\n", j->dir, strerror(errno));
        _exit(2);
    }
    execv(j->argv[0], j->argv);
    dprintf(2, "%s: %s\n", j->argv[0], strerror(errno));
    _exit(2);
}

static vpu_status start(slot *s, job *j, size_t i, vpu_error *err)
{
    pid_t parent = getpid(), pid;

    *s = (slot){.job = i, .out = tmpfile(), .errors = tmpfile()};
    if (!s->out || !s->errors) {
        vpu_status st =
            err_set(err, VPU_ERR_IO, "no temporary file: %s", strerror(errno));

        if (s->out)
            fclose(s->out);
        return st;
    }
    s->start = clock_seconds();
    fflush(NULL);
    pid = fork();
    if (pid < 0)
        return err_set(err, VPU_ERR_IO, "no process: %s", strerror(errno));
    if (!pid)
        child(j, s, parent);
    setpgid(pid, pid); /* whoever is first */
    child_add(pid, true);
    s->pid = pid;
    return VPU_OK;
}

static void take(FILE *f, str *out)
{
    static char piece[1 << 16];
    size_t n;

    rewind(f);
    while (out->n < MAX_OUTPUT && (n = fread(piece, 1, sizeof piece, f)))
        str_add(out, piece, n);
    fclose(f);
}

static void finish(slot *s, job *j, int status)
{
    j->seconds = clock_seconds() - s->start;
    j->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    j->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    kill(-s->pid, SIGKILL); /* what it left behind */
    child_forget(s->pid);
    take(s->out, &j->out);
    take(s->errors, &j->errors);
    s->pid = 0;
}

/* Asked first, so that it removes its temporaries, killed when it does not
 * listen. */
static void end_late(job *jobs, unsigned n_slots, double timeout_s)
{
    for (unsigned k = 0; k < n_slots; k++) {
        slot *s = &slots[k];
        double late = clock_seconds() - s->start - timeout_s;

        if (!s->pid || timeout_s <= 0 || late <= 0)
            continue;
        if (!jobs[s->job].timed_out)
            kill(-s->pid, SIGTERM);
        else if (late > GRACE_SECONDS)
            kill(-s->pid, SIGKILL);
        jobs[s->job].timed_out = true;
    }
}

/* All that run, as end_late does with those that are late. */
static void end_all(job *jobs, unsigned n_slots)
{
    for (unsigned k = 0; k < n_slots; k++) {
        slot *s = &slots[k];

        if (!s->pid)
            continue;
        if (!jobs[s->job].interrupted) {
            jobs[s->job].interrupted = true;
            s->asked = clock_seconds();
            kill(-s->pid, SIGTERM);
        } else if (clock_seconds() - s->asked > GRACE_SECONDS) {
            kill(-s->pid, SIGKILL);
        }
    }
}

vpu_status jobs_run(job *jobs, size_t n, const jobs_config *config,
                    vpu_error *err)
{
    unsigned n_parallel = config->n_parallel;
    size_t next = 0, running = 0;
    vpu_status st = VPU_OK;

    if (n_parallel > MAX_PARALLEL)
        n_parallel = MAX_PARALLEL;
    if (!n_parallel)
        n_parallel = 1;
    while ((next < n && !st) || running) {
        bool ended = false;

        if (config->stop && atomic_load(config->stop)) {
            n = next;
            end_all(jobs, n_parallel);
        }

        for (unsigned k = 0; k < n_parallel; k++) {
            int status;

            if (!slots[k].pid && next < n && !st) {
                st = start(&slots[k], &jobs[next], next, err);
                running += !st;
                next += !st;
            } else if (slots[k].pid &&
                       waitpid(slots[k].pid, &status, WNOHANG) > 0) {
                finish(&slots[k], &jobs[slots[k].job], status);
                running--;
                ended = true;
                if (config->done)
                    config->done(config->user, slots[k].job);
            }
        }
        end_late(jobs, n_parallel, config->timeout_s);
        if (st)
            kill_all();
        if (!ended && running)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return st;
}

void job_free(job *j)
{
    str_free(&j->out);
    str_free(&j->errors);
}
