/* The thread that runs inferences. */
#include "runtime/stick/jobs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    /* For the host to take a result: it holds 64 of them back. The end of the
     * link ends the wait. */
    RESULT_MS = 24 * 3600 * 1000
};

typedef struct {
    stick_loaded *g;
    void *input;
    uint32_t stream;
    uint32_t beside; /* of the same program, whose results the host did not have
                        when it asked for this one */
    struct timespec arrived;
} job;

struct stick_jobs {
    stick_jobs_config c;
    pthread_t thread;
    pthread_mutex_t lock; /* all below */
    pthread_cond_t changed;
    bool stopping, busy;
    const stick_loaded *running; /* until its result is on its way */
    unsigned first, n;
    job list[JOBS_MAX];
    uint32_t n_done;
};

/* The stick's text: only where the host reads it. */
static void tell(const stick_jobs *j, const char *text)
{
    uint32_t console;

    if (!xlink_find(j->c.xlink, "console", &console, 0, NULL))
        xlink_write(j->c.xlink, console, text, (uint32_t)strlen(text), 1000,
                    NULL);
    log_warn(j->c.log, "%s", text);
}

static double since(const struct timespec *t)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t->tv_sec) * 1e3 +
           (double)(now.tv_nsec - t->tv_nsec) * 1e-6;
}

static void sum_up(const job *q, double waited)
{
    uint32_t n = stick_program_about(q->g->program).n_stages;
    float all = 0;

    for (uint32_t i = 0; i < n; i++)
        all += q->g->ms[i];
    q->g->ms[n] = (float)waited;
    q->g->ms[n + 1] = all;
}

/* A result that failed is empty: the host sees at once, and can ask why. What
 * a real stick sends then is not known [U]. */
static void run(stick_jobs *j, const job *q, uint32_t at_once)
{
    stick_program_info about = stick_program_about(q->g->program);
    uint32_t bytes = about.output_bytes;
    double waited = since(&q->arrived);
    void *output = calloc(1, bytes ? bytes : 1);
    vpu_status st = VPU_ERR_NOMEM;
    vpu_error err;

    memset(q->g->message, 0, sizeof q->g->message);
    err_set(&err, st, "no memory for a result");
    if (output)
        st = stick_program_run(q->g->program, q->input, output, at_once,
                               q->g->ms, &err);
    if (st) {
        snprintf(q->g->message, sizeof q->g->message, "%.*s",
                 JOBS_MAX_MESSAGE - 1, err.msg);
        tell(j, err.msg);
        bytes = 0;
    }
    sum_up(q, waited);
    pthread_mutex_lock(&j->lock);
    j->running = NULL; /* the host counts from its result on */
    pthread_mutex_unlock(&j->lock);
    if (j->c.result_bytes < bytes)
        bytes = j->c.result_bytes;
    if (!j->c.no_result || j->n_done + 1 < j->c.no_result)
        xlink_write(j->c.xlink, q->stream, output, bytes, RESULT_MS, NULL);
    free(output);
}

static uint32_t waiting(const stick_jobs *j, const stick_loaded *g)
{
    uint32_t n = 0;

    for (unsigned i = 0; i < j->n; i++)
        n += j->list[(j->first + i) % JOBS_MAX].g == g;
    return n;
}

/* With the lock. Of the program's executors, as many as have an inference
 * beside this one: those that it found, or those that are waiting now. */
static uint32_t busy_executors(const stick_jobs *j, const job *q)
{
    uint32_t n = waiting(j, q->g);

    if (n < q->beside)
        n = q->beside;
    return n + 1 < q->g->executors ? n + 1 : q->g->executors;
}

static void *work(void *arg)
{
    stick_jobs *j = arg;

    pthread_mutex_lock(&j->lock);
    for (;;) {
        uint32_t at_once;
        job q;

        if (j->stopping)
            break;
        if (!j->n) {
            pthread_cond_wait(&j->changed, &j->lock);
            continue;
        }
        q = j->list[j->first];
        j->first = (j->first + 1) % JOBS_MAX;
        j->n--;
        at_once = busy_executors(j, &q);
        j->running = q.g;
        j->busy = true;
        pthread_mutex_unlock(&j->lock);
        run(j, &q, at_once);
        free(q.input);
        pthread_mutex_lock(&j->lock);
        j->busy = false;
        j->n_done++;
        pthread_cond_broadcast(&j->changed);
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

vpu_status stick_jobs_start(const stick_jobs_config *c, stick_jobs **out,
                            vpu_error *err)
{
    stick_jobs *j = calloc(1, sizeof *j);

    if (!j)
        return err_set(err, VPU_ERR_NOMEM, "no memory for inferences");
    j->c = *c;
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->changed, NULL);
    if (pthread_create(&j->thread, NULL, work, j)) {
        free(j);
        return err_set(err, VPU_ERR_NOMEM, "no thread for inferences");
    }
    *out = j;
    return VPU_OK;
}

void stick_jobs_stop(stick_jobs *j)
{
    if (!j)
        return;
    pthread_mutex_lock(&j->lock);
    j->stopping = true;
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->lock);
    pthread_join(j->thread, NULL);
    for (unsigned i = 0; i < j->n; i++)
        free(j->list[(j->first + i) % JOBS_MAX].input);
    pthread_mutex_destroy(&j->lock);
    pthread_cond_destroy(&j->changed);
    free(j);
}

bool stick_jobs_add(stick_jobs *j, stick_loaded *g, void *input,
                    uint32_t output_stream)
{
    uint32_t beside;
    bool room;

    pthread_mutex_lock(&j->lock);
    room = j->n < JOBS_MAX;
    beside = waiting(j, g) + (j->running == g) +
             xlink_unreleased(j->c.xlink, output_stream);
    if (room) {
        job *q = &j->list[(j->first + j->n++) % JOBS_MAX];

        *q = (job){
            .g = g, .input = input, .stream = output_stream, .beside = beside};
        clock_gettime(CLOCK_MONOTONIC, &q->arrived);
    }
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->lock);
    return room;
}

void stick_jobs_wait(stick_jobs *j)
{
    pthread_mutex_lock(&j->lock);
    while (j->n || j->busy) {
        struct timespec t;

        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_sec++;
        pthread_cond_timedwait(&j->changed, &j->lock, &t);
        if (j->c.stop && atomic_load(j->c.stop)) {
            vpu_error why;

            err_set(&why, VPU_ERR_IO, "the stick is being stopped");
            xlink_fail(j->c.xlink, &why);
            break;
        }
    }
    pthread_mutex_unlock(&j->lock);
}
