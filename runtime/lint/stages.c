/* Goes through the stages of a binding file. Compiling takes nearly all of the
 * time and stages do not depend on each other, so several are looked at side
 * by side; what is told is told in the order of the file, whatever ended first.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/oom.h"
#include "runtime/lint/lint_priv.h"

/* Each has a clang of its own at times, of up to some hundred MB. */
enum { MAX_THREADS = 8 };

typedef struct {
    log_level level;
    const char *text;
} told_line;

/* One stage, and what was found in it. */
typedef struct {
    const config_layer *layer;
    const config_kernel *kernel;
    lint_config cfg; /* with log */
    log_sink log;    /* keeps lines until it is the stage's turn */
    arena *arena;    /* its own: an arena is for one thread at a time */
    lint_state state;
    bool *used;
    told_line *lines;
    size_t n_lines, cap_lines;
    vpu_status st;
    vpu_error err;
} stage_job;

typedef struct {
    const lint_config *cfg;
    stage_job *jobs;
    size_t n;
    pthread_mutex_t lock; /* guards what follows, and the caller's log */
    size_t next, done;
    size_t failed; /* the first job that failed; none behind it is begun */
} walk;

static int by_place(const void *x, const void *y)
{
    const lint_finding *a = x, *b = y;
    int c = strcmp(a->path, b->path);

    if (c)
        return c;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->col != b->col)
        return a->col < b->col ? -1 : 1;
    if (a->check != b->check)
        return a->check < b->check ? -1 : 1;
    return strcmp(a->text, b->text);
}

static vpu_status check_used(const lint_config *c, const bool *used,
                             const lint_result *out, vpu_error *err)
{
    if (!out->n_layers)
        return err_set(err, VPU_ERR_INVALID, "%s: no CustomLayer named '%s'",
                       c->binding->path, c->layer);
    for (uint32_t i = 0; i < c->n_sources; i++)
        if (!used[i])
            return err_set(err, VPU_ERR_INVALID, "%s: no kernel of %s is in it",
                           c->sources[i], c->binding->path);
    return VPU_OK;
}

static void keep_line(void *user, log_level level, const char *text)
{
    stage_job *j = user;

    *arena_append(j->arena, j->lines, j->n_lines, j->cap_lines) =
        (told_line){level, arena_strdup(j->arena, text)};
}

static vpu_status look(void *user, vpu_error *err)
{
    stage_job *j = user;

    return lint_look(&j->state, j->layer, j->kernel, j->used, err);
}

static stage_job *begin(walk *w)
{
    stage_job *j = NULL;

    pthread_mutex_lock(&w->lock);
    if (w->next < w->n && w->next < w->failed)
        j = &w->jobs[w->next++];
    pthread_mutex_unlock(&w->lock);
    return j;
}

static void end(walk *w, const stage_job *j)
{
    size_t i = (size_t)(j - w->jobs);

    pthread_mutex_lock(&w->lock);
    if (j->st && i < w->failed)
        w->failed = i;
    w->done++;
    log_progress(w->cfg->log,
                 &(log_step){w->cfg->binding->path, "kernels", w->done, w->n});
    pthread_mutex_unlock(&w->lock);
}

static void *work(void *arg)
{
    walk *w = arg;

    for (stage_job *j = begin(w); j; j = begin(w)) {
        j->st = oom_guard(look, j, &j->err);
        end(w, j);
    }
    return NULL;
}

/* Kernels are compiled in copies of this process. AddressSanitizer's allocator
 * may be locked in a copy that is made while another thread allocates, and the
 * copy then waits for ever: no thread besides then. */
#ifdef __has_feature
#define SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* The calling thread works, too; a thread that cannot be had is not missed. */
static void work_side_by_side(walk *w)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[MAX_THREADS];
    size_t most = w->n < MAX_THREADS ? w->n : MAX_THREADS, n = 0;

    if (cpus > 0 && most > (size_t)cpus)
        most = (size_t)cpus;
    if (SANITIZED)
        most = 1;
    pthread_mutex_init(&w->lock, NULL);
    while (n + 1 < most && !pthread_create(&threads[n], NULL, work, w))
        n++;
    work(w);
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&w->lock);
}

static void add_stages(walk *w, arena *a, lint_result *out)
{
    const lint_config *c = w->cfg;
    size_t cap = 0;

    for (size_t i = 0; i < c->binding->n_layers; i++) {
        const config_layer *x = &c->binding->layers[i];

        if (c->layer && !config_layer_is_for(x, c->layer))
            continue;
        out->n_layers++;
        for (size_t k = 0; k < x->n_kernels; k++)
            *arena_append(a, w->jobs, w->n, cap) =
                (stage_job){.layer = x, .kernel = &x->kernels[k]};
    }
    out->n_kernels = (uint32_t)w->n;
    w->failed = w->n;
}

static void prepare(walk *w, arena *a)
{
    for (size_t i = 0; i < w->n; i++) {
        stage_job *j = &w->jobs[i];

        j->used = arena_array(a, bool, w->cfg->n_sources + 1);
        j->log = (log_sink){.line = keep_line, .user = j};
        j->cfg = *w->cfg;
        j->cfg.log = w->cfg->log ? &j->log : NULL;
        j->state.cfg = &j->cfg;
    }
    for (size_t i = 0; i < w->n; i++)
        w->jobs[i].state.arena = w->jobs[i].arena = arena_create(0);
}

/* What one stage said and found, to the whole. */
static void gather(const stage_job *j, const lint_config *c, lint_state *all,
                   bool *used)
{
    for (size_t i = 0; i < j->n_lines; i++)
        c->log->line(c->log->user, j->lines[i].level, j->lines[i].text);
    for (size_t i = 0; i < j->state.n_findings; i++) {
        lint_finding f = j->state.findings[i];

        f.path = arena_strdup(all->arena, f.path);
        f.text = arena_strdup(all->arena, f.text);
        lint_add(all, f);
    }
    for (uint32_t i = 0; i < c->n_sources; i++)
        used[i] |= j->used[i];
    all->sizes |= j->state.sizes;
}

vpu_status lint_run(const lint_config *cfg, arena *a, lint_result *out,
                    vpu_error *err)
{
    lint_state all = {.cfg = cfg, .arena = a};
    bool *used = arena_array(a, bool, cfg->n_sources + 1);
    walk w = {.cfg = cfg};
    vpu_status st = VPU_OK;

    *out = (lint_result){.checks = cfg->checks};
    add_stages(&w, a, out);
    prepare(&w, a);
    work_side_by_side(&w);
    for (size_t i = 0; i < w.n && i <= w.failed; i++)
        gather(&w.jobs[i], cfg, &all, used);
    if (w.failed < w.n) {
        st = w.jobs[w.failed].st;
        if (err)
            *err = w.jobs[w.failed].err;
    }
    for (size_t i = 0; i < w.n; i++)
        arena_destroy(w.jobs[i].arena);
    if (!st)
        st = check_used(cfg, used, out, err);
    for (uint32_t i = 0; i < cfg->n_measured && lint_is_on(&all, LINT_ADVICE);
         i++)
        lint_add(&all, cfg->measured[i]);
    if (all.n_findings)
        qsort(all.findings, all.n_findings, sizeof *all.findings, by_place);
    out->findings = all.findings;
    out->n_findings = (uint32_t)all.n_findings;
    out->sizes = all.sizes;
    return st;
}
