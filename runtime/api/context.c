/* Contexts: a backend and how graphs run on it. */
#include <math.h>
#include <string.h>

#include "base/child.h"
#include "base/oom.h"
#include "runtime/api/api_priv.h"
#include "sim/compiler/front/budget.h"

typedef struct {
    const vpu_context_options *o;
    arena *a;
    vpu_context *made;
} making;

static void tell(void *user, log_level level, const char *text)
{
    const vpu_context *c = user;

    if (c->log_user)
        c->log_user(c->user,
                    level == LOG_WARNING ? VPU_LOG_WARNING : VPU_LOG_NOTE,
                    text);
}

static void advance(void *user, const log_step *step)
{
    const vpu_context *c = user;

    c->progress(c->user, step->of, step->units, step->done, step->total);
}

/* Each number of the options as an internal enum counts it: from 0, which is
 * the default. */
static uint32_t or_first(uint32_t value)
{
    return value ? value - 1 : 0;
}

vpu_status api_context_check(const vpu_context_options *o, vpu_error *err)
{
    vpu_status st =
        api_check_enum(o->engine, VPU_ENGINE_INTERPRETED, "engine", err);

    if (!st)
        st = api_check_enum(o->timing, VPU_TIMING_NONE, "timing", err);
    if (!st)
        st = api_check_enum(o->order, VPU_ORDER_RANDOM, "order", err);
    if (!st && o->debugger &&
        (o->timing != VPU_TIMING_NONE || o->engine == VPU_ENGINE_INTERPRETED))
        st = err_set(err, VPU_ERR_INVALID,
                     "debugger: code for one has no time and is no program of "
                     "a SHAVE's; timing VPU_TIMING_NONE, engine "
                     "VPU_ENGINE_COMPILED");
    if (!st && o->stops && !o->debugger)
        st = err_set(err, VPU_ERR_INVALID, "stops: there is no debugger");
    if (!st && (isnan(o->timeout) || isnan(o->compile_timeout)))
        st = err_set(err, VPU_ERR_INVALID, "%s is no number",
                     isnan(o->timeout) ? "timeout" : "compile_timeout");
    if (!st && o->n_settings)
        st = api_need(o->settings, "settings", err);
    if (!st && o->n_build_options)
        st = api_need(o->build_options, "build_options", err);
    return st;
}

exec_options api_context_how(const vpu_context_options *o)
{
    return (exec_options){.n_shaves = o->shaves,
                          .n_threads = o->debugger ? 1 : o->threads,
                          .engine = (exec_engine)or_first(o->engine),
                          .timing = (exec_timing)or_first(o->timing),
                          .order = (exec_order)or_first(o->order),
                          .seed = o->seed,
                          .overruns = o->allow_overruns ? EXEC_OVERRUN_NOTE
                                                        : EXEC_OVERRUN_FAULT,
                          .print_prefix = o->print_prefix,
                          .timeout_s = o->timeout > 0   ? o->timeout
                                       : o->timeout < 0 ? 0
                                                        : BACKEND_HOST_SECONDS};
}

static uint64_t cycle_limit(const vpu_context *c, const vpu_context_options *o)
{
    return o->max_cycles == UINT64_MAX ? 0
           : o->max_cycles             ? o->max_cycles
                                       : backend_cycle_limit(&c->desc);
}

static child_limits compile_limits(const vpu_context_options *o)
{
    child_limits l = budget_or_default(NULL);

    if (o->compile_timeout)
        l.seconds = o->compile_timeout > 0 ? o->compile_timeout : 0;
    if (o->compile_memory)
        l.bytes = o->compile_memory == UINT64_MAX ? 0 : o->compile_memory;
    return l;
}

static void set_up_backend(vpu_context *c, const vpu_context_options *o)
{
    arena *a = c->arena;

    c->compile = compile_limits(o);
    c->tuned = arena_strdup(a, o->tuned);
    c->local = arena_strdup(a, o->local);
    c->stick = (backend_stick_options){.firmware = arena_strdup(a, o->firmware),
                                       .layout = arena_strdup(a, o->xlink),
                                       .log = arena_strdup(a, o->xlink_log),
                                       .release = c->release,
                                       .take_booted = o->take_booted,
                                       .stop = &c->stop,
                                       .sessions = &c->sessions,
                                       .n_shaves = o->shaves};
    c->debug.stop = o->stops;
    memcpy(c->debug.at, o->break_at, sizeof c->debug.at);
    c->log = (log_sink){
        .line = tell, .progress = o->progress ? advance : NULL, .user = c};
    c->cfg = (backend_config){
        .device = c->device,
        .source_dir = arena_strdup(a, o->source_dir),
        .compile = {.options =
                        api_copy_list(a, o->build_options, o->n_build_options),
                    .n_options = (uint32_t)o->n_build_options,
                    .no_cache = o->no_cache,
                    .limits = &c->compile},
        .how = api_context_how(o),
        .desc = &c->desc,
        .exact_source = o->exact_source,
        .debug = o->debugger ? &c->debug : NULL,
        .log = o->log || o->progress ? &c->log : NULL,
        .print = o->print,
        .print_user = o->user,
        .stick = &c->stick};
    c->cfg.how.max_cycles = cycle_limit(c, o);
}

static vpu_status make_context(void *user, vpu_error *err)
{
    making *m = user;
    const vpu_context_options *o = m->o;
    vpu_context *c;
    vpu_status st;

    m->a = arena_create(0);
    m->made = c = arena_new(m->a, vpu_context);
    atomic_init(&c->refs, 1);
    atomic_init(&c->stop, false);
    atomic_init(&c->sessions, 0);
    c->arena = m->a;
    pthread_mutex_init(&c->lock, NULL);
    c->id = arena_strdup(m->a, o->backend ? o->backend : "sim");
    c->log_user = o->log;
    c->progress = o->progress;
    c->user = o->user;
    st = backend_find(c->id, &c->ops, &c->device, err);
    if (!st && o->release)
        st = config_release_parse(o->release, &c->release)
                 ? VPU_OK
                 : err_set(err, VPU_ERR_INVALID,
                           "release '%s' is not one of 2019R3 to 2022.3",
                           o->release);
    c->keep_conversions = o->keep_conversions;
    if (!st)
        st = backend_machine(o->machine, o->settings, o->n_settings, o->shaves,
                             c->arena, &c->desc, err);
    if (!st)
        set_up_backend(c, o);
    return st;
}

vpu_status vpu_context_create(vpu_context **out,
                              const vpu_context_options *options,
                              vpu_error *err)
{
    vpu_context_options o;
    making m = {.o = &o};
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_take_options(&o, sizeof o, options, "vpu_context_options", err);
    if (!st)
        st = api_context_check(&o, err);
    if (!st)
        st = oom_guard(make_context, &m, err);
    if (st)
        arena_destroy(m.a);
    else
        *out = m.made;
    return st;
}

vpu_context *api_context_keep(vpu_context *c)
{
    atomic_fetch_add(&c->refs, 1);
    return c;
}

void vpu_context_free(vpu_context *context)
{
    if (!context || atomic_fetch_sub(&context->refs, 1) != 1)
        return;
    api_kinds_free(context);
    pthread_mutex_destroy(&context->lock);
    arena_destroy(context->arena);
    child_settle();
}

const char *vpu_context_backend(const vpu_context *context)
{
    return context ? context->id : NULL;
}

uint32_t vpu_context_capabilities(const vpu_context *context)
{
    static const struct {
        uint32_t extras, can;
    } rows[] = {{BACKEND_MACHINE, VPU_CAN_COUNT_CYCLES},
                {BACKEND_TRACE, VPU_CAN_TRACE},
                {BACKEND_OBSERVE, VPU_CAN_PROFILE},
                {BACKEND_ORDER, VPU_CAN_CHECK},
                {BACKEND_INSPECT, VPU_CAN_SHARE},
                {BACKEND_WINDOW, VPU_CAN_RUN_PARTS}};
    uint32_t extras = context ? backend_extras(context->ops) : 0, can = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (extras & rows[i].extras)
            can |= rows[i].can;
    return can;
}

uint32_t vpu_context_interrupt(vpu_context *context)
{
    int open = context ? atomic_load(&context->sessions) : 0;

    if (open > 0)
        atomic_store(&context->stop, true);
    return open > 0 ? (uint32_t)open : 0;
}
