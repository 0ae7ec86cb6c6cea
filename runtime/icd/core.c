/* The driver's table of the simulator. */
#include "runtime/icd/core.h"

#include <string.h>

#include "base/file.h"
#include "base/oom.h"
#include "base/temp.h"

struct icd_machine {
    arena *arena;
    mach_desc desc;
    memory *mem;
    exec_threads *threads;
    exec_scratch scratch;
};

typedef struct made {
    struct made *next;
    sim_kernel *kernel;
} made;

struct icd_unit {
    arena *arena;
    kernel_unit *unit;
    const char *const *options;
    uint32_t n_options, n_names;
    const char *const *names;
    made *kernels;
};

/* --- the device ----------------------------------------------------------- */

static void machine_close(icd_machine *m)
{
    if (!m)
        return;
    exec_threads_destroy(m->threads);
    exec_scratch_free(&m->scratch);
    memory_destroy(m->mem);
    arena_destroy(m->arena);
}

typedef struct {
    const mach_desc *desc;
    icd_machine *made;
} opening;

static vpu_status open_machine(void *user, vpu_error *err)
{
    opening *o = user;
    arena *a = arena_create(0);
    icd_machine *m = arena_new(a, icd_machine);
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

static vpu_status machine_open(const mach_desc *desc, icd_machine **out,
                               vpu_error *err)
{
    opening o = {.desc = desc};
    vpu_status st = oom_guard(open_machine, &o, err);

    *out = o.made;
    return st;
}

static uint8_t *window(const icd_machine *m)
{
    return memory_window(m->mem);
}

typedef struct {
    icd_machine *m;
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

static vpu_status machine_alloc(icd_machine *m, const char *name,
                                uint64_t bytes, uint32_t align,
                                uint32_t *address, vpu_error *err)
{
    return oom_guard(allocate, &(allocation){m, name, bytes, align, address},
                     err);
}

static void give_back(icd_machine *m, uint32_t address)
{
    memory_free(m->mem, address);
}

/* --- programs ------------------------------------------------------------- */

static void unit_release(icd_unit *u)
{
    if (!u)
        return;
    for (made *k = u->kernels; k; k = k->next)
        kernel_release(k->kernel);
    arena_destroy(u->arena);
}

static kernel_compile_config config_of(const icd_unit *u, const log_sink *log)
{
    return (kernel_compile_config){.user = {.options = u->options,
                                            .n_options = u->n_options,
                                            .structures = true},
                                   .hooks = &exec_hooks,
                                   .log = log};
}

typedef struct {
    const icd_source *source;
    str *log;
    icd_unit *made;
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
static vpu_status put_headers(building *b, arena *a, vpu_error *err)
{
    const icd_source *s = b->source;
    vpu_status st = temp_dir(a, "vpu-cl-", &b->folder, err);

    for (uint32_t i = 0; i < s->n_headers && !st; i++) {
        const char *path = file_join(a, b->folder, s->names[i]);

        if (*s->names[i] == '/' || strstr(s->names[i], ".."))
            return err_set(err, VPU_ERR_INVALID,
                           "'%s' is no name of a header: expected one below "
                           "the program's",
                           s->names[i]);
        st = file_mkdirs(file_dirname(a, path), err);
        if (!st)
            st = file_write(path, s->headers[i], strlen(s->headers[i]), err);
    }
    return st;
}

static icd_unit *unit_new(void)
{
    arena *a = arena_create(0);
    icd_unit *u = arena_new(a, icd_unit);

    u->arena = a;
    return u;
}

static vpu_status compile_unit(void *user, vpu_error *err)
{
    building *b = user;
    const icd_source *s = b->source;
    icd_unit *u = b->made = unit_new();
    arena *a = u->arena;
    const char **options = arena_array(a, const char *, s->n_options + 2);
    const kernel_source source = {.path = "source.cl", .text = s->text};
    const log_sink log = {.line = keep_line, .user = b->log};
    kernel_compile_config cfg;
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < s->n_options; i++)
        options[i] = arena_strdup(a, s->options[i]);
    options[s->n_options] = "-Dcl_vpusim_shave=1"; /* as of any extension */
    u->options = options;
    u->n_options = s->n_options + 1;
    cfg = config_of(u, &log);
    if (s->n_headers)
        st = put_headers(b, a, err);
    if (s->n_headers && !st) {
        const char **more = arena_array(a, const char *, u->n_options + 1);

        memcpy(more, options, u->n_options * sizeof *more);
        more[cfg.user.n_options++] = arena_printf(a, "-I%s", b->folder);
        cfg.user.options = more;
    }
    if (!st)
        st = kernel_unit_of_text(&source, &cfg, a, &u->unit, err);
    return st ? st : kernel_unit_names(u->unit, a, &u->names, &u->n_names, err);
}

static vpu_status compile(const icd_source *source, str *log, icd_unit **out,
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
    icd_unit *const *parts;
    uint32_t n;
    icd_unit *made;
} linking;

static vpu_status link_units(void *user, vpu_error *err)
{
    linking *l = user;
    icd_unit *u = l->made = unit_new();
    const kernel_unit **parts =
        arena_array(u->arena, const kernel_unit *, l->n + 1);
    vpu_status st;

    for (uint32_t i = 0; i < l->n; i++)
        parts[i] = l->parts[i]->unit;
    st = kernel_unit_link(parts, l->n, u->arena, &u->unit, err);
    return st ? st
              : kernel_unit_names(u->unit, u->arena, &u->names, &u->n_names,
                                  err);
}

static vpu_status link_all(icd_unit *const *parts, uint32_t n, icd_unit **out,
                           vpu_error *err)
{
    linking l = {parts, n, NULL};
    vpu_status st = oom_guard(link_units, &l, err);

    if (st)
        unit_release(l.made);
    *out = st ? NULL : l.made;
    return st;
}

static const char *const *unit_names(const icd_unit *u, uint32_t *n)
{
    *n = u->n_names;
    return u->names;
}

typedef struct {
    icd_unit *u;
    const char *name;
    sim_kernel *made;
} naming;

static vpu_status make_kernel(void *user, vpu_error *err)
{
    naming *x = user;
    const kernel_compile_config cfg = config_of(x->u, NULL);
    made *entry = arena_new(x->u->arena, made);
    vpu_status st =
        kernel_of_unit(x->u->unit, x->name, &cfg, x->u->arena, &x->made, err);

    if (st)
        return st;
    *entry = (made){.next = x->u->kernels, .kernel = x->made};
    x->u->kernels = entry;
    return VPU_OK;
}

static vpu_status unit_kernel(icd_unit *u, const char *name,
                              const sim_kernel **out, vpu_error *err)
{
    naming x = {.u = u, .name = name};
    vpu_status st = VPU_OK;

    *out = NULL;
    for (const made *k = u->kernels; k && !*out; k = k->next)
        if (!strcmp(k->kernel->name, name))
            *out = k->kernel;
    if (*out)
        return VPU_OK;
    st = oom_guard(make_kernel, &x, err);
    *out = st ? NULL : x.made;
    return st;
}

/* --- launches ------------------------------------------------------------- */

static exec_launch launch_of(const icd_launch *l)
{
    exec_launch x = {.name = l->name,
                     .kernel = l->kernel,
                     .values = l->values,
                     .work_dim = l->work_dim,
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

static uint32_t local_bytes(const icd_launch *l, const mach_desc *desc,
                            str *list)
{
    const exec_launch x = launch_of(l);

    return exec_local_bytes(&x, exec_pick_variant(l->kernel, l->local),
                            desc->ocl_local_budget, list);
}

typedef struct {
    icd_machine *m;
    exec_launch x;
    exec_result *out;
} running;

static vpu_status run_launch(void *user, vpu_error *err)
{
    running *r = user;

    return exec_run(r->m->mem, &r->m->desc, &r->x, r->out, err);
}

static vpu_status run(icd_machine *m, const icd_launch *l, exec_result *out,
                      vpu_error *err)
{
    running r = {m, launch_of(l), out};

    r.x.threads = m->threads;
    r.x.scratch = &m->scratch;
    return oom_guard(run_launch, &r, err);
}

const icd_core vpusim_icd_core = {.version = VPU_VERSION,
                                  .open = machine_open,
                                  .close = machine_close,
                                  .window = window,
                                  .alloc = machine_alloc,
                                  .give_back = give_back,
                                  .compile = compile,
                                  .link = link_all,
                                  .names = unit_names,
                                  .kernel = unit_kernel,
                                  .release = unit_release,
                                  .local_bytes = local_bytes,
                                  .cause = mach_cause_name,
                                  .run = run};
