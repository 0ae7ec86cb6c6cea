/* Runs graphs on the simulator. */
#include "runtime/backend/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/backend/args.h"
#include "runtime/backend/source.h"
#include "runtime/backend/trace_source.h"
#include "base/clock.h"
#include "base/str.h"

enum { MAX_TIMES = 64 };

typedef struct {
    sim_kernel *kernel;
    source src;
    exec_value *values;
    sim_checking checking; /* as it was compiled */
    sim_kernel *plain;     /* for checking: as the device would run it */
    backend_sim_launch result;
    double times[MAX_TIMES]; /* of the runs so far, ascending */
    uint32_t n_times;
} stage;

struct backend_sim {
    arena *a;
    const backend_sim_config *cfg;
    const graph *g;
    memory *mem;
    uint32_t *addresses;    /* of the graph's buffers */
    check_session *checker; /* NULL = none */
    exec_threads *threads;  /* NULL = each launch has its own */
    stage *stages;
    uint64_t clock; /* cycles so far */
};

/* --- kernels and their arguments
 * --------------------------------------------------- */

/* How launch l is to be compiled for checking; NULL = as always. */
static const sim_checking *checking_of(backend_sim *b, const graph_launch *l)
{
    const backend_sim_check *c = b->cfg->check;
    size_t i = (size_t)(l - b->g->launches);
    sim_checking *x;

    if (!c)
        return NULL;
    x = &b->stages[i].checking;
    x->barriers = c->orders;
    x->taint = c->taint && c->taint[i];
    x->nan = c->enabled & CHECK_BIT(CHECK_NAN);
    return x;
}

static const sim_hooks *hooks_of(const backend_sim_config *cfg)
{
    return !cfg->check          ? &exec_hooks
           : cfg->check->orders ? &order_hooks
                                : &check_hooks;
}

static vpu_status load_as(backend_sim *b, const graph_launch *l,
                          const source *src, bool track_lines,
                          const sim_checking *checking, const sim_hooks *hooks,
                          sim_kernel **out, vpu_error *err)
{
    sim_compile_config cfg = {.options = b->cfg->options,
                              .n_options = b->cfg->n_options,
                              .no_cache = b->cfg->no_cache,
                              .limits = b->cfg->limits,
                              .track_lines = track_lines,
                              .debug = track_lines ? NULL : b->cfg->debug,
                              .checking = checking,
                              .hooks = hooks,
                              .log = b->cfg->log};

    if (l->text) {
        cfg.debug = NULL;  /* in no file */
        cfg.n_options = 0; /* those are for the user's kernels */
        return sim_kernel_compile_text(src->path, l->text, l->entry, &cfg, b->a,
                                       out, err);
    }
    if (src->kind == SOURCE_OUR_BIN)
        return sim_kernel_load(src->path, src->file, src->n_bytes, l->entry,
                               &cfg, b->a, out, err);
    return sim_kernel_compile(src->path, l->entry, &cfg, b->a, out, err);
}

static vpu_status load(backend_sim *b, const graph_launch *l, const source *src,
                       bool track_lines, sim_kernel **out, vpu_error *err)
{
    return load_as(b, l, src, track_lines, checking_of(b, l), hooks_of(b->cfg),
                   out, err);
}

/* The arguments as exec takes them. */
static vpu_status bind_args(backend_sim *b, const graph_launch *l, stage *s,
                            vpu_error *err)
{
    const sim_kernel *k = s->kernel;
    backend_arg *args;
    vpu_status st =
        backend_args_bind(b->g, l, k, b->cfg->log, b->a, &args, err);

    s->values = arena_array(b->a, exec_value, k->n_args + 1);
    for (uint32_t i = 0; i < k->n_args && !st; i++) {
        exec_value *v = &s->values[i];

        switch (args[i].kind) {
        case BACKEND_ARG_SCALAR:
            memcpy(v->u.raw, args[i].raw, sizeof args[i].raw);
            break;
        case BACKEND_ARG_LOCAL:
            v->u.bytes = args[i].bytes;
            break;
        case BACKEND_ARG_BUFFER:
            v->u.address = b->addresses[args[i].buffer] + args[i].offset;
            break;
        }
    }
    return st;
}

/* The first of the launch's files that has the kernel. Concatenated binaries
 * are one file to the device; here each is a source of its own. */
static vpu_status find_kernel(backend_sim *b, const graph_launch *l, stage *s,
                              vpu_error *err)
{
    vpu_status st = VPU_ERR_IO;

    if (l->text) {
        s->src = (source){.path = l->sources[0]};
        return load(b, l, &s->src, false, &s->kernel, err);
    }
    if (l->bin) {
        s->src = (source){SOURCE_OUR_BIN, l->sources[0], l->bin, l->n_bin};
        return load(b, l, &s->src, false, &s->kernel, err);
    }
    for (uint32_t i = 0; i < l->n_sources; i++) {
        st = source_find(l->sources[i], b->cfg->source_dir, b->a, &s->src, err);
        if (!st)
            st = load(b, l, &s->src, false, &s->kernel, err);
        if (!st)
            return VPU_OK;
    }
    return st;
}

static vpu_status prepare(backend_sim *b, vpu_error *err)
{
    const graph *g = b->g;
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < g->n_buffers && !st; i++) {
        const graph_buffer *x = &g->buffers[i];

        st = memory_alloc(b->mem, x->name, x->bytes, &b->addresses[i], err);
        if (!st && x->init)
            memcpy(backend_sim_buffer(b, i), x->init, x->bytes);
        if (!st && b->checker)
            check_buffer(b->checker, x->name, i, b->addresses[i], x->bytes,
                         x->role == GRAPH_INPUT || x->role == GRAPH_CONST);
    }
    for (uint32_t i = 0; i < g->n_launches && !st; i++) {
        stage *s = &b->stages[i];
        double start = clock_seconds();

        st = find_kernel(b, &g->launches[i], s, err);
        s->result.compile_s = clock_seconds() - start;
        s->result.kernel = s->kernel;
        if (!st)
            st = bind_args(b, &g->launches[i], s, err);
        if (!st && b->checker)
            st = load_as(b, &g->launches[i], &s->src, false, NULL, &exec_hooks,
                         &s->plain, err);
    }
    return st;
}

vpu_status backend_sim_open(const backend_sim_config *cfg, const graph *g,
                            backend_sim **out, vpu_error *err)
{
    arena *a = arena_create(0);
    backend_sim *b = arena_new(a, backend_sim);
    vpu_status st;

    *out = NULL;
    b->a = a;
    b->threads = exec_threads_create();
    b->cfg = cfg;
    b->g = g;
    b->addresses = arena_array(a, uint32_t, g->n_buffers + 1);
    b->stages = arena_array(a, stage, g->n_launches + 1);
    st = cfg->debug || cfg->check ? memory_create_roomy(cfg->desc, &b->mem, err)
                                  : memory_create(cfg->desc, &b->mem, err);
    if (!st && cfg->check && !cfg->check->orders)
        st = check_open(b->mem,
                        &(check_config){cfg->check->enabled, cfg->check->again},
                        &b->checker, err);
    if (!st)
        st = prepare(b, err);
    if (st) {
        backend_sim_close(b);
        return st;
    }
    *out = b;
    return VPU_OK;
}

void backend_sim_close(backend_sim *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; i < b->g->n_launches; i++) {
        sim_kernel_release(b->stages[i].kernel);
        sim_kernel_release(b->stages[i].plain);
    }
    check_close(b->checker);
    memory_destroy(b->mem);
    exec_threads_destroy(b->threads);
    arena_destroy(b->a);
}

check_session *backend_sim_checker(backend_sim *b)
{
    return b->checker;
}

void *backend_sim_buffer(backend_sim *b, uint32_t i)
{
    return memory_window(b->mem) + b->addresses[i];
}

uint32_t backend_sim_address(const backend_sim *b, uint32_t i)
{
    return b->addresses[i];
}

const memory *backend_sim_memory(const backend_sim *b)
{
    return b->mem;
}

const backend_sim_launch *backend_sim_result(const backend_sim *b, uint32_t i)
{
    return &b->stages[i].result;
}

/* --- running
 * ------------------------------------------------------------------------ */

/* A run whose results nobody looks at. */
static void silence(exec_launch *l)
{
    l->trace = NULL;
    l->profile = NULL;
    l->group_watch = NULL;
    l->debugger = NULL;
    l->observer = NULL;
    l->n_writers = 0;
    l->log = NULL;
    l->print = NULL;
}

/* Runs the faulting group again with code that tracks source lines; what it
 * writes is not looked at any more. Keeps the first message if it cannot. */
static void find_line(backend_sim *b, const graph_launch *l, const stage *s,
                      const exec_launch *el, vpu_error *err)
{
    exec_launch again = *el;
    exec_result r;
    sim_kernel *k;
    vpu_error with_line;

    if (load(b, l, &s->src, true, &k, NULL))
        return;
    again.kernel = k;
    silence(&again);
    again.only_group = &s->result.exec.fault_group;
    if (exec_run(b->mem, b->cfg->desc, &again, &r, &with_line) == VPU_ERR_FAULT)
        *err = with_line;
    sim_kernel_release(k);
}

/* What a group alone may take to show where it is. */
enum { AGAIN_CYCLES = 20000000, AGAIN_SECONDS = 5 };

static VPU_PRINTF(2, 3) void append(vpu_error *err, const char *fmt, ...)
{
    size_t n = strlen(err->msg);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(err->msg + n, sizeof err->msg - n, fmt, ap);
    va_end(ap);
}

/* One group again, alone, with code that tracks source lines: a line of the
 * report on where it is after some time. First: its line goes in front. */
static void locate(backend_sim *b, const exec_launch *el, const sim_kernel *k,
                   unsigned long long group, bool first, vpu_error *err)
{
    exec_launch again = *el;
    const uint32_t *n = el->groups;
    uint64_t only = group;
    exec_result r;
    vpu_status st;

    again.kernel = k;
    again.engine = EXEC_COMPILED;
    again.timing = EXEC_NO_TIMING;
    again.max_cycles = AGAIN_CYCLES;
    again.timeout_s = AGAIN_SECONDS;
    again.only_group = &only;
    st = exec_run(b->mem, b->cfg->desc, &again, &r, NULL);
    if (first && st == VPU_ERR_LIMIT && r.stuck_line) {
        err_in(err, VPU_ERR_LIMIT, "%s:%u:%u", k->source, r.stuck_line,
               r.stuck_col);
        err->line = r.stuck_line;
        err->col = r.stuck_col;
    }
    if (st == VPU_ERR_LIMIT && r.stuck_line)
        append(err,
               "\n  work-group (%llu, %llu, %llu), run again alone: after %d "
               "cycles in line %u:%u",
               group % n[0], group / n[0] % n[1], group / n[0] / n[1],
               AGAIN_CYCLES, r.stuck_line, r.stuck_col);
    else if (!st)
        append(err,
               "\n  work-group (%llu, %llu, %llu), run again alone: ends "
               "within %d cycles, so it is in no endless loop of its own",
               group % n[0], group / n[0] % n[1], group / n[0] / n[1],
               AGAIN_CYCLES);
}

/* Where the groups are that were running when the limit struck. */
static void find_loops(backend_sim *b, const graph_launch *l, const stage *s,
                       const exec_launch *el, vpu_error *err)
{
    exec_launch quiet = *el;
    const exec_result *r = &s->result.exec;
    sim_kernel *k;

    if (!r->n_stuck || s->kernel->debug || load(b, l, &s->src, true, &k, NULL))
        return;
    silence(&quiet);
    for (uint32_t i = 0; i < r->n_stuck; i++)
        locate(b, &quiet, k, r->stuck[i], i == 0, err);
    sim_kernel_release(k);
}

static vpu_status groups_of(const backend_sim *b, const graph_launch *l,
                            exec_launch *el, vpu_error *err)
{
    for (int d = 0; d < 3; d++) {
        el->local[d] = l->local[d];
        el->groups[d] = l->local[d] ? l->global[d] / l->local[d] : 0;
        if (!el->groups[d])
            return err_at(err, VPU_ERR_INVALID, l->file, l->line, 0,
                          "%s: global size %ux%ux%u and local size %ux%ux%u "
                          "make no work-group",
                          l->name, l->global[0], l->global[1], l->global[2],
                          l->local[0], l->local[1], l->local[2]);
    }
    el->n_shaves = b->cfg->n_shaves ? b->cfg->n_shaves
                                    : (uint32_t)b->cfg->desc->num_shaves;
    if (l->max_shaves && l->max_shaves < el->n_shaves)
        el->n_shaves = l->max_shaves;
    return VPU_OK;
}

static void note_time(stage *s, double t)
{
    uint32_t i;

    if (s->n_times == MAX_TIMES)
        return;
    for (i = s->n_times++; i && s->times[i - 1] > t; i--)
        s->times[i] = s->times[i - 1];
    s->times[i] = t;
    s->result.run_s = s->times[s->n_times / 2];
}

static void trace_stage(const backend_sim *b, uint32_t i)
{
    const stage *s = &b->stages[i];
    trace_source_stage t = {.stage = b->g->launches[i].name,
                            .path = s->kernel->source,
                            .text = b->g->launches[i].text,
                            .start_cycle = b->clock,
                            .profile = &s->result.profile};

    for (uint32_t k = 0; k < i && !t.again; k++)
        t.again = !strcmp(b->stages[k].kernel->source, t.path);
    trace_source(b->cfg->trace, &t);
}

static exec_launch launch_of(backend_sim *b, uint32_t i)
{
    const graph_launch *l = &b->g->launches[i];
    const backend_sim_config *cfg = b->cfg;
    stage *s = &b->stages[i];

    return (exec_launch){.name = l->name,
                         .kernel = s->kernel,
                         .values = s->values,
                         .n_threads = cfg->n_threads,
                         .threads = b->threads,
                         .engine = cfg->engine,
                         .timing = cfg->timing,
                         .order = cfg->order,
                         .seed = cfg->seed,
                         .max_cycles = cfg->max_cycles,
                         .timeout_s = cfg->timeout_s,
                         .start_cycle = b->clock,
                         .trace = cfg->trace,
                         .profile = cfg->profile ? &s->result.profile : NULL,
                         .profile_arena = b->a,
                         .group_watch = cfg->group_watch,
                         .log = cfg->log,
                         .debugger = l->text ? NULL : cfg->debugger,
                         .first = l->text ? 0 : cfg->first,
                         .print = cfg->print,
                         .print_user = cfg->print_user,
                         .print_prefix = cfg->print_prefix};
}

static vpu_status run_stage(backend_sim *b, uint32_t i,
                            const exec_writers *writers, vpu_error *err)
{
    const graph_launch *l = &b->g->launches[i];
    const backend_sim_config *cfg = b->cfg;
    stage *s = &b->stages[i];
    exec_launch el = launch_of(b, i);
    const memory_buffer *hurt;
    uint32_t at;
    double start = clock_seconds();
    vpu_status st = groups_of(b, l, &el, err);

    el.writers = writers;
    el.n_writers = writers ? 1 : 0;
    if (st)
        return st;
    s->result.n_shaves = el.n_shaves;
    if (b->checker) {
        exec_launch plain = el;

        plain.kernel = s->plain;
        return check_local_memory(b->checker, cfg->desc, &plain, i)
                   ? check_launch(b->checker, cfg->desc, &el, i, err)
                   : VPU_OK;
    }
    st = exec_run(b->mem, cfg->desc, &el, &s->result.exec, err);
    note_time(s, clock_seconds() - start);
    if (st == VPU_ERR_FAULT && err && !cfg->debugger)
        find_line(b, l, s, &el, err);
    if (st == VPU_ERR_LIMIT && err && !cfg->debugger)
        find_loops(b, l, s, &el, err);
    if (st)
        return st;
    if (cfg->trace)
        trace_stage(b, i);
    b->clock += s->result.exec.profile.cycles;
    hurt = memory_check(b->mem, &at);
    if (hurt) {
        str where = {0};

        memory_describe(b->mem, at, &where);
        st = err_set(err, VPU_ERR_FAULT,
                     "%s: kernel '%s' wrote outside a buffer: %s", l->name,
                     l->entry, str_text(&where));
        str_free(&where);
    }
    return st;
}

vpu_status backend_sim_run_in_order(backend_sim *b, uint32_t i,
                                    const backend_sim_order *o, vpu_error *err)
{
    exec_launch el = launch_of(b, i);
    vpu_status st = groups_of(b, &b->g->launches[i], &el, err);

    el.order = o->order;
    el.seed = o->seed;
    el.list = o->list;
    el.n_list = o->n_list;
    el.turns = o->turns;
    if (o->n_shaves && o->n_shaves < el.n_shaves)
        el.n_shaves = o->n_shaves;
    return st ? st : order_launch(b->mem, b->cfg->desc, &el, o->late, err);
}

vpu_status backend_sim_run(backend_sim *b, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < b->g->n_launches && !st; i++)
        st = backend_sim_run_one(b, i, err);
    return st;
}

vpu_status backend_sim_run_one(backend_sim *b, uint32_t i, vpu_error *err)
{
    if (i == 0)
        b->clock = 0;
    return run_stage(b, i, NULL, err);
}

vpu_status backend_sim_run_noting(backend_sim *b, uint32_t i, uint32_t buffer,
                                  uint32_t *groups, vpu_error *err)
{
    const graph_buffer *x = &b->g->buffers[buffer];
    exec_writers w = {.address = b->addresses[buffer],
                      .bytes = (uint32_t)x->bytes,
                      .element_bytes = tensor_dtype_bytes(x->desc.dtype),
                      .groups = groups};

    return run_stage(b, i, &w, err);
}
