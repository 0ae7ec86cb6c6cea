/* The driver's table of the simulator. */
#include "runtime/icd/core/core_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/oom.h"
#include "base/temp.h"
#include "runtime/backend/locate.h"
#include "runtime/backend/trace_source.h"
#include "runtime/report/listing.h"

/* --- the device ----------------------------------------------------------- */

static void machine_close(core_machine *m)
{
    if (!m)
        return;
    trc_writer_abandon(m->trace);
    while (m->told) {
        core_told *x = m->told;

        m->told = x->next;
        free(x);
    }
    exec_threads_destroy(m->threads);
    exec_scratch_free(&m->scratch);
    memory_destroy(m->mem);
    arena_destroy(m->arena);
}

typedef struct {
    const mach_desc *desc;
    core_machine *made;
} opening;

static vpu_status open_machine(void *user, vpu_error *err)
{
    opening *o = user;
    arena *a = arena_create(0);
    core_machine *m = arena_new(a, core_machine);
    vpu_status st;

    m->arena = a;
    m->desc = *o->desc;
    st = memory_create(&m->desc, &m->mem, err);
    if (!st)
        m->threads = exec_threads_create();
    if (st)
        arena_destroy(a);
    else
        o->made = m;
    return st;
}

static vpu_status machine_open(const mach_desc *desc, core_machine **out,
                               vpu_error *err)
{
    opening o = {.desc = desc};
    vpu_status st = oom_guard(open_machine, &o, err);

    *out = o.made;
    return st;
}

static vpu_status trace(core_machine *m, const char *path, trc_level level,
                        vpu_error *err)
{
    const trc_config cfg = {.level = level,
                            .clk_mhz = (uint32_t)m->desc.clk_mhz};
    vpu_status st = trc_writer_create(&cfg, &m->trace, err);

    if (!st)
        st = trc_writer_add(m->trace, TRC_PERFETTO, path, err);
    if (st) {
        trc_writer_abandon(m->trace);
        m->trace = NULL;
    }
    return st;
}

static vpu_status end_trace(core_machine *m, vpu_error *err)
{
    trc_writer *w = m->trace;

    m->trace = NULL;
    return w ? trc_writer_commit(w, err) : VPU_OK;
}

/* Flows of commands, beside those of groups. */
#define COMMAND_FLOWS (1ull << 63)

static void mark(core_machine *m, const core_mark *x)
{
    const bool thread = x->thread > 0;
    trc_arg args[4];
    trc_event e = {.name = x->name, .args = args};
    trc_track row;
    char name[32];

    if (trc_writer_level(m->trace) == TRC_SUMMARY)
        return;
    snprintf(name, sizeof name, "%s %u", thread ? "thread" : "queue",
             thread ? x->thread : x->queue);
    row = trc_track_slices(m->trace, trc_track_group(m->trace, 0, "program"),
                           name, TRC_NS);
    if (x->flow) {
        e.flow = thread ? TRC_FLOW_START : TRC_FLOW_END;
        e.flow_id = COMMAND_FLOWS + x->flow;
    }
    if (thread && x->queue)
        args[e.n_args++] = TRC_UINT("queue", x->queue);
    if (x->bytes)
        args[e.n_args++] = TRC_UINT("bytes", x->bytes);
    if (!thread)
        args[e.n_args++] = TRC_UINT("queued ns", x->queued_ns);
    if (x->status < 0)
        args[e.n_args++] = TRC_UINT("error", (uint64_t)-x->status);
    trc_slice(m->trace, row, x->begin_ns, x->end_ns, &e);
}

static uint8_t *window(const core_machine *m)
{
    return memory_window(m->mem);
}

typedef struct {
    core_machine *m;
    const char *name;
    uint64_t bytes;
    uint32_t align, *address;
} allocation;

static vpu_status allocate(void *user, vpu_error *err)
{
    const allocation *x = user;

    return memory_alloc_aligned(x->m->mem, x->name, x->bytes, x->align,
                                x->address, err);
}

static vpu_status machine_alloc(core_machine *m, const char *name,
                                uint64_t bytes, uint32_t align,
                                uint32_t *address, vpu_error *err)
{
    return oom_guard(allocate, &(allocation){m, name, bytes, align, address},
                     err);
}

static void give_back(core_machine *m, uint32_t address)
{
    memory_free(m->mem, address);
}

/* --- programs ------------------------------------------------------------- */

static void unit_release(core_unit *u)
{
    if (!u)
        return;
    for (core_made *k = u->kernels; k; k = k->next)
        kernel_release(k->kernel);
    arena_destroy(u->arena);
}

static kernel_compile_config config_of(const core_unit *u, const log_sink *log)
{
    return (kernel_compile_config){.user = {.options = u->sources->options,
                                            .n_options = u->sources->n_options,
                                            .structures = true},
                                   .hooks = &exec_hooks,
                                   .log = log};
}

typedef struct {
    const core_source *source;
    str *log;
    core_unit *made;
    char *folder; /* of the headers; NULL = none */
} building;

static void keep_line(void *user, log_level level, const char *text)
{
    str *log = user;

    (void)level;
    str_printf(log, "%s\n", text);
}

/* Names with folders in them are beside one another, too; what leads out of the
 * folder is no name of a header. */
static vpu_status put_header(const core_source *s, uint32_t i, char *folder,
                             arena *a, vpu_error *err)
{
    const char *path = file_join(a, folder, s->names[i]);
    vpu_status st;

    if (*s->names[i] == '/' || strstr(s->names[i], ".."))
        return err_set(err, VPU_ERR_INVALID,
                       "'%s' is no name of a header: expected one below the "
                       "program's",
                       s->names[i]);
    st = file_mkdirs(file_dirname(a, path), err);
    return st ? st
              : file_write(path, s->headers[i], strlen(s->headers[i]), err);
}

vpu_status core_put_headers(core_source *s, arena *a, char **folder,
                            vpu_error *err)
{
    const char **more;
    vpu_status st;

    *folder = NULL;
    if (!s->n_headers)
        return VPU_OK;
    st = temp_dir(a, "vpu-cl-", folder, err);
    for (uint32_t i = 0; i < s->n_headers && !st; i++)
        st = put_header(s, i, *folder, a, err);
    if (st)
        return st;
    more = arena_array(a, const char *, s->n_options + 1);
    memcpy(more, s->options, s->n_options * sizeof *more);
    more[s->n_options++] = arena_printf(a, "-I%s", *folder);
    s->options = more;
    return VPU_OK;
}

static core_unit *unit_new(void)
{
    arena *a = arena_create(0);
    core_unit *u = arena_new(a, core_unit);

    u->arena = a;
    return u;
}

static const char *const *copy_texts(arena *a, const char *const *list,
                                     uint32_t n)
{
    const char **out = arena_array(a, const char *, n + 1);

    for (uint32_t i = 0; i < n; i++)
        out[i] = arena_strdup(a, list[i]);
    return out;
}

/* The header that clang reads first defines macros of extensions that the
 * device has not. */
#define WITHOUT                                                       \
    "#undef cl_khr_3d_image_writes\n#undef cl_khr_depth_images\n"     \
    "#undef cl_khr_gl_msaa_sharing\n"                                 \
    "#undef cl_khr_int64_base_atomics\n"                              \
    "#undef cl_khr_int64_extended_atomics\n#undef cl_amd_media_ops\n" \
    "#undef cl_amd_media_ops2\n#undef cl_intel_subgroups\n"           \
    "#undef cl_intel_subgroups_short\n"                               \
    "#undef cl_intel_device_side_avc_motion_estimation\n"             \
    "#undef __IMAGE_SUPPORT__\n#define __OPENCL_VERSION__ 120\n"

const char *core_text(const char *text, const char *name, arena *a)
{
    return arena_printf(a, WITHOUT "#line 1 \"%s\"\n%s", name, text);
}

static core_source copy_source(arena *a, const core_source *s)
{
    return (core_source){.text = arena_strdup(a, s->text),
                         .options = copy_texts(a, s->options, s->n_options),
                         .n_options = s->n_options,
                         .names = copy_texts(a, s->names, s->n_headers),
                         .headers = copy_texts(a, s->headers, s->n_headers),
                         .n_headers = s->n_headers};
}

/* With the extensions' macros, as of any extension. */
static void keep_source(core_unit *u, const core_source *s)
{
    arena *a = u->arena;
    const char **options = arena_array(a, const char *, s->n_options + 2);

    u->sources = arena_new(a, core_source);
    u->n_sources = 1;
    *u->sources = copy_source(a, s);
    if (s->n_options)
        memcpy(options, u->sources->options, s->n_options * sizeof *options);
    options[s->n_options] = "-Dcl_vpusim_shave=1";
    options[s->n_options + 1] = "-Dcl_vpusim_queries=1";
    u->sources->options = options;
    u->sources->n_options += 2;
}

static vpu_status compile_unit(void *user, vpu_error *err)
{
    building *b = user;
    core_unit *u = b->made = unit_new();
    arena *a = u->arena;
    const log_sink log = {.line = keep_line, .user = b->log};
    kernel_compile_config cfg;
    core_source with;
    vpu_status st;

    keep_source(u, b->source);
    with = *u->sources;
    with.text = core_text(with.text, CORE_TEXT_NAME, a);
    cfg = config_of(u, &log);
    st = core_put_headers(&with, a, &b->folder, err);
    cfg.user.options = with.options;
    cfg.user.n_options = with.n_options;
    cfg.user.no_cache = b->folder; /* its name is another one each time */
    if (!st)
        st = kernel_unit_of_text(
            &(const kernel_source){.path = CORE_TEXT_NAME, .text = with.text},
            &cfg, a, &u->unit, err);
    return st ? st
              : kernel_unit_kernels(u->unit, a, &u->signatures, &u->n_kernels,
                                    err);
}

static vpu_status compile(const core_source *source, str *log, core_unit **out,
                          vpu_error *err)
{
    building b = {.source = source, .log = log};
    vpu_status st = oom_guard(compile_unit, &b, err);

    if (b.folder)
        temp_dir_remove(b.folder);
    if (st)
        unit_release(b.made);
    *out = st ? NULL : b.made;
    return st;
}

typedef struct {
    core_unit *const *parts;
    uint32_t n;
    core_unit *made;
} linking;

static vpu_status link_units(void *user, vpu_error *err)
{
    linking *l = user;
    core_unit *u = l->made = unit_new();
    const kernel_unit **parts =
        arena_array(u->arena, const kernel_unit *, l->n + 1);
    vpu_status st;

    for (uint32_t i = 0; i < l->n; i++) {
        parts[i] = l->parts[i]->unit;
        u->n_sources += l->parts[i]->n_sources;
    }
    u->sources = arena_array(u->arena, core_source, u->n_sources);
    for (uint32_t i = 0, n = 0; i < l->n; i++)
        for (uint32_t k = 0; k < l->parts[i]->n_sources; k++)
            u->sources[n++] = copy_source(u->arena, &l->parts[i]->sources[k]);
    st = kernel_unit_link(parts, l->n, u->arena, &u->unit, err);
    return st ? st
              : kernel_unit_kernels(u->unit, u->arena, &u->signatures,
                                    &u->n_kernels, err);
}

static vpu_status link_all(core_unit *const *parts, uint32_t n, core_unit **out,
                           vpu_error *err)
{
    linking l = {parts, n, NULL};
    vpu_status st = oom_guard(link_units, &l, err);

    if (st)
        unit_release(l.made);
    *out = st ? NULL : l.made;
    return st;
}

static const sim_signature *unit_kernels(const core_unit *u, uint32_t *n)
{
    *n = u->n_kernels;
    return u->signatures;
}

typedef struct {
    core_unit *u;
    const char *name;
    sim_kernel *made;
} naming;

static vpu_status make_kernel(void *user, vpu_error *err)
{
    naming *x = user;
    const kernel_compile_config cfg = config_of(x->u, NULL);
    core_made *entry = arena_new(x->u->arena, core_made);
    vpu_status st =
        kernel_of_unit(x->u->unit, x->name, &cfg, x->u->arena, &x->made, err);

    if (st)
        return st;
    *entry = (core_made){.next = x->u->kernels, .kernel = x->made};
    x->u->kernels = entry;
    return VPU_OK;
}

static vpu_status unit_kernel(core_unit *u, const char *name,
                              const sim_kernel **out, vpu_error *err)
{
    naming x = {.u = u, .name = name};
    vpu_status st = VPU_OK;

    *out = NULL;
    for (const core_made *k = u->kernels; k && !*out; k = k->next)
        if (!strcmp(k->kernel->name, name))
            *out = k->kernel;
    if (*out)
        return VPU_OK;
    st = oom_guard(make_kernel, &x, err);
    *out = st ? NULL : x.made;
    return st;
}

/* --- launches ------------------------------------------------------------- */

exec_launch core_launch_of(const core_launch *l)
{
    exec_launch x = {.name = l->name,
                     .kernel = l->kernel,
                     .values = l->values,
                     .work_dim = l->work_dim,
                     .start_cycle = l->start_cycle,
                     .how = {.n_shaves = l->n_shaves,
                             .max_cycles = l->max_cycles,
                             .timeout_s = l->timeout_s},
                     .print = l->print,
                     .print_user = l->print_user};

    memcpy(x.groups, l->groups, sizeof x.groups);
    memcpy(x.local, l->local, sizeof x.local);
    memcpy(x.offset, l->offset, sizeof x.offset);
    return x;
}

static uint32_t local_bytes(const core_launch *l, const mach_desc *desc,
                            str *list)
{
    const exec_launch x = core_launch_of(l);

    return exec_local_bytes(&x, sim_pick_variant(l->kernel, l->local),
                            desc->ocl_local_budget, list);
}

static vpu_status shape(const sim_kernel *k, sim_variant_kind v,
                        core_shape *out, vpu_error *err)
{
    arena *a = arena_create(0);
    const isa_function *programs[SIM_N_VARIANTS];
    vpu_status st = kernel_programs(k, a, programs, err);

    *out = (core_shape){0};
    if (!st && programs[v]) {
        const listing_figures n = listing_count(programs[v]);

        *out = (core_shape){(uint32_t)n.bundles, n.i_registers, n.v_registers,
                            programs[v]->n_spills,
                            v == SIM_VECTORIZED ? k->variants[v].factor : 1};
    }
    arena_destroy(a);
    return st;
}

typedef struct {
    core_machine *m;
    const core_launch *l;
    exec_launch x;
    exec_result *out;
    arena *lines_of; /* memory of lines; NULL = nobody asks */
    exec_profile lines;
} running;

/* The launch's kernel once more, as code that notes lines. */
static vpu_status track(void *user, sim_kernel **out)
{
    const running *r = user;
    kernel_compile_config cfg = config_of(r->l->unit, NULL);

    cfg.track_lines = true;
    return kernel_of_unit(r->l->unit->unit, r->x.kernel->name, &cfg,
                          r->l->unit->arena, out, NULL);
}

/* Programs' texts under names of their own: their lines are all of
 * CORE_TEXT_NAME. */
static void trace_text(const running *r)
{
    bool again = r->l->unit->traced;
    char name[32];

    if (!again)
        r->l->unit->traced = ++r->m->n_traced;
    snprintf(name, sizeof name, "program-%u.cl", r->l->unit->traced);
    if (r->l->unit->n_sources == 1)
        backend_trace_source(r->m->trace, &(const backend_trace_stage){
                                              .stage = r->x.name,
                                              .path = name,
                                              .text = r->l->unit->sources->text,
                                              .again = again,
                                              .start_cycle = r->x.start_cycle,
                                              .profile = &r->lines});
}

/* The rows of exec end with the launch. */
static void keep_lines(void *user, const exec_profile *p)
{
    running *r = user;

    r->lines.n = p->n;
    r->lines.rows = arena_memdup(r->lines_of, p->rows, p->n * sizeof *p->rows);
}

static vpu_status run_launch(void *user, vpu_error *err)
{
    running *r = user;
    core_machine *m = r->m;
    const exec_observer timeline = {.name = "a trace",
                                    .needs = EXEC_TRACE_NEEDS,
                                    .trace = m->trace},
                        lines = {.name = "--profile",
                                 .needs = EXEC_PROFILE_NEEDS,
                                 .user = r,
                                 .profile = keep_lines};
    const exec_observer *list[2];
    vpu_status st;

    r->x.observers = list;
    if (m->trace)
        list[r->x.n_observers++] = &timeline;
    if (r->lines_of)
        list[r->x.n_observers++] = &lines;
    st = exec_run(m->mem, &m->desc, &r->x, r->out, err);
    if (!st && m->trace)
        trace_text(r);
    if (!st && r->l->counted)
        core_count(m, r->l, r->out);
    if (!st && r->l->profiled)
        core_count_lines(m, r->l, &r->lines);
    if (st) {
        backend_locate(
            &(const backend_stopped){m->mem, &m->desc, &r->x, r->out, track, r},
            st, err);
        memory_mend(m->mem); /* the program goes on */
        return st;
    }
    st = backend_check_guards(m->mem, r->x.name, r->x.kernel->name, err);
    if (st)
        memory_mend(m->mem);
    return st;
}

static vpu_status run(core_machine *m, const core_launch *l, exec_result *out,
                      vpu_error *err)
{
    running r = {.m = m, .l = l, .x = core_launch_of(l), .out = out};
    vpu_status st;

    r.x.threads = m->threads;
    r.x.scratch = &m->scratch;
    if (l->profiled) {
        r.lines_of = arena_create(0);
        r.x.how.engine = EXEC_INTERPRETED; /* whose code has lines */
    }
    st = oom_guard(run_launch, &r, err);
    arena_destroy(r.lines_of);
    return st;
}

const core_table vpusim_icd_core = {.version = VPU_VERSION,
                                    .open = machine_open,
                                    .close = machine_close,
                                    .window = window,
                                    .alloc = machine_alloc,
                                    .give_back = give_back,
                                    .compile = compile,
                                    .link = link_all,
                                    .kernels = unit_kernels,
                                    .kernel = unit_kernel,
                                    .release = unit_release,
                                    .local_bytes = local_bytes,
                                    .cause = mach_cause_name,
                                    .shape = shape,
                                    .run = run,
                                    .trace = trace,
                                    .end_trace = end_trace,
                                    .mark = mark,
                                    .tell = core_tell,
                                    .check = core_check,
                                    .dump = core_dump,
                                    .results = core_results};
