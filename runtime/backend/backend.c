/* The list of backends, and looking one up. */
#include "runtime/backend/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/oom.h"
#include "base/str.h"

const backend_ops *const backend_all[] = {
#define BACKEND(name) &backend_##name##_ops,
#include "runtime/backend/backends.def"
    NULL, /* the end */
};

vpu_status backend_find(const char *id, const backend_ops **ops,
                        const char **device, vpu_error *err)
{
    size_t n = strcspn(id, ":");
    char word[NEAREST_LONGEST + 2];
    nearest like = {.word = word};
    str names = {0};

    snprintf(word, sizeof word, "%.*s", (int)n, id);
    for (int i = 0; backend_all[i]; i++) {
        const char *name = backend_all[i]->name;

        nearest_offer(&like, name);
        if (strlen(name) == n && !strncmp(name, id, n)) {
            *ops = backend_all[i];
            *device = id + n + (id[n] == ':');
            str_free(&names);
            return VPU_OK;
        }
        str_printf(&names, "%s%s", i ? ", " : "", name);
    }
    err_set(err, VPU_ERR_INVALID, "no backend '%s'; %s%s%sthere are %s",
            like.word, like.best ? "did you mean '" : "",
            like.best ? like.best : "", like.best ? "'? " : "",
            str_text(&names));
    str_free(&names);
    return VPU_ERR_INVALID;
}

uint32_t backend_extras(const backend_ops *ops)
{
    return ops->extras | (ops->trace ? BACKEND_TRACE : 0) |
           (ops->inspect ? BACKEND_INSPECT : 0) |
           (ops->observe ? BACKEND_OBSERVE : 0) |
           (ops->order ? BACKEND_ORDER : 0) | (ops->stick ? BACKEND_STICK : 0);
}

const backend_ops *backend_offering(uint32_t extras)
{
    for (int i = 0; backend_all[i]; i++)
        if (!(extras & ~backend_extras(backend_all[i])))
            return backend_all[i];
    return NULL;
}

void backend_with(backend_extra extra, str *out)
{
    bool any = false;

    for (int i = 0; backend_all[i]; i++)
        if (backend_extras(backend_all[i]) & extra) {
            str_printf(out, "%s%s", any ? " and " : "", backend_all[i]->called);
            any = true;
        }
}

/* cfg wants the extra, which the backend does not offer. */
static vpu_status refuse(const backend_ops *ops, const char *what,
                         backend_extra extra, vpu_error *err)
{
    str with = {0};
    vpu_status st;

    backend_with(extra, &with);
    st = err_set(err, VPU_ERR_UNSUPPORTED, "backend %s: %s is about %s",
                 ops->name, what, str_text(&with));
    str_free(&with);
    return st;
}

/* --- with memory that may be short --------------------------------------- */

typedef struct {
    const backend_ops *ops;
    const backend_config *cfg;
    const graph *g;
    void **self;
} opening;

static vpu_status open_guarded(void *user, vpu_error *err)
{
    const opening *o = user;

    return o->ops->open(o->cfg, o->g, o->self, err);
}

typedef struct {
    const backend *b;
    uint32_t first, n;
    backend_result *results;
} running;

static vpu_status run_guarded(void *user, vpu_error *err)
{
    const running *r = user;

    return r->b->ops->run(r->b->self, r->first, r->n, r->results, err);
}

vpu_status backend_run(const backend *b, uint32_t first, uint32_t n,
                       backend_result *results, vpu_error *err)
{
    return oom_guard(run_guarded, &(running){b, first, n, results}, err);
}

vpu_status backend_open(const backend_ops *ops, const backend_config *cfg,
                        const graph *g, backend *out, vpu_error *err)
{
    const struct {
        bool wanted;
        backend_extra extra;
        const char *what;
    } wants[] = {{cfg->trace != NULL, BACKEND_TRACE, "a timeline"},
                 {cfg->debug != NULL, BACKEND_OBSERVE, "code for a debugger"},
                 {cfg->check != NULL, BACKEND_ORDER, "code for checking"}};

    *out = (backend){.ops = ops};
    for (uint32_t i = 0; i < g->n_launches; i++)
        if (g->launches[i].window.n[0] &&
            !(backend_extras(ops) & BACKEND_WINDOW))
            return err_set(err, VPU_ERR_UNSUPPORTED,
                           "%s runs on a part of its work-groups, and backend "
                           "%s runs launches whole",
                           g->launches[i].name, ops->name);
    for (uint32_t i = 0; i < g->n_launches; i++)
        if (g->launches[i].native && !(backend_extras(ops) & BACKEND_NATIVE))
            return err_set(err, VPU_ERR_UNSUPPORTED,
                           "%s is a stage of a network, %s, and backend %s "
                           "runs kernels alone",
                           g->launches[i].name, g->launches[i].type, ops->name);
    for (uint32_t i = 0; i < g->n_launches; i++)
        if (g->launches[i].program && !(backend_extras(ops) & BACKEND_PROGRAM))
            return err_set(err, VPU_ERR_UNSUPPORTED,
                           "%s is a launch of an OpenCL program, and backend "
                           "%s runs those of layers alone",
                           g->launches[i].name, ops->name);
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
        if (wants[i].wanted && !(backend_extras(ops) & wants[i].extra))
            return refuse(ops, wants[i].what, wants[i].extra, err);
    return oom_guard(open_guarded, &(opening){ops, cfg, g, &out->self}, err);
}

void backend_close(backend *b)
{
    if (b->ops)
        b->ops->close(b->self);
    *b = (backend){NULL, NULL};
}

vpu_status backend_run_one(const backend *b, uint32_t i, vpu_error *err)
{
    backend_result ignored;

    return backend_run(b, i, 1, &ignored, err);
}

vpu_status backend_run_all(const backend *b, const graph *g, vpu_error *err)
{
    backend_result *ignored = calloc(g->n_launches + 1, sizeof *ignored);
    vpu_status st = ignored
                        ? backend_run(b, 0, g->n_launches, ignored, err)
                        : err_set(err, VPU_ERR_NOMEM,
                                  "no memory for %u launches", g->n_launches);

    free(ignored);
    return st;
}

vpu_status backend_machine(const char *file, const char *const *settings,
                           size_t n, uint32_t shaves, arena *a, mach_desc *out,
                           vpu_error *err)
{
    vpu_status st = mach_desc_load(file, a, out, err);

    for (size_t i = 0; i < n && !st; i++)
        st = mach_desc_set(out, a, arena_strdup(a, settings[i]), err);
    if (!st && shaves > out->num_shaves)
        st = err_set(err, VPU_ERR_INVALID, "shaves %u: the machine has %llu",
                     shaves, (unsigned long long)out->num_shaves);
    return st;
}

uint64_t backend_cycle_limit(const mach_desc *desc)
{
    return desc->clk_mhz * 1000000 * BACKEND_DEVICE_SECONDS;
}
