#include "runtime/tune/key.h"

#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "runtime/backend/identity.h"

/* --- the machine ---------------------------------------------------------- */

/* Each parameter with its name, so that a later one does not stand for another.
 * Modes do not change cycles: they are left out. */
static void add_parameters(const mach_desc *d, str *text)
{
#define INT(name, min, max, unit, about) \
    str_printf(text, #name "=%" PRIu64 "\n", d->name);
#define REAL(name, min, max, unit, about) \
    str_printf(text, #name "=%a\n", d->name);
#define MODE(name, max, value, about)
#include "sim/machine/params.def"
}

static vpu_status add_machine(const backend_config *cfg, arena *a, str *text,
                              vpu_error *err)
{
    const exec_options *how = &cfg->how;
    mach_desc usual;
    const mach_desc *d = cfg->desc;
    vpu_status st = d ? VPU_OK : mach_desc_load(NULL, a, &usual, err);

    d = d ? d : &usual;
    if (st)
        return st;
    str_printf(text, "shaves %" PRIu64 "\n",
               how->n_shaves ? how->n_shaves : d->num_shaves);
    str_printf(text, "timing %s\n", exec_timing_name(how->timing));
    str_printf(text, "order %d %" PRIu64 "\n", (int)how->order,
               how->order == EXEC_RANDOM ? how->seed : 0);
    add_parameters(d, text);
    return VPU_OK;
}

/* --- arguments ------------------------------------------------------------ */

/* Not where in it: the items of a batch are one row. */
static void add_buffer(const graph *g, const graph_arg *x, str *text)
{
    const graph_buffer *b = &g->buffers[x->buffer];

    str_printf(text, "buffer %d", (int)b->desc.dtype);
    for (uint32_t d = 0; d < b->desc.rank; d++)
        str_printf(text, " %" PRIu32, b->desc.dims[d]);
    str_printf(text, " layout %d bytes %" PRIu64, (int)b->desc.layout,
               b->bytes);
    str_printf(text, " of which %" PRIu32, x->bytes);
}

static void add_argument(const graph *g, const graph_arg *x, bool by_index,
                         str *text)
{
    uint32_t bits;

    str_printf(text, "%s = ", by_index ? "" : x->name);
    switch (x->kind) {
    case GRAPH_ARG_BUFFER:
        add_buffer(g, x, text);
        break;
    case GRAPH_ARG_LOCAL:
        str_printf(text, "local %" PRIu32, x->bytes);
        break;
    case GRAPH_ARG_INT:
        str_printf(text, "int %" PRId64, x->integer);
        break;
    case GRAPH_ARG_FLOAT:
        memcpy(&bits, &x->real, sizeof bits);
        str_printf(text, "float %08" PRIx32, bits);
        break;
    case GRAPH_ARG_BYTES:
        str_puts(text, "bytes ");
        for (uint32_t i = 0; i < x->bytes; i++)
            str_printf(text, "%02x", ((const uint8_t *)x->value)[i]);
        break;
    default:
        str_puts(text, "nothing");
    }
    str_puts(text, "\n");
}

static void add_arguments(const graph *g, const graph_launch *l, str *text)
{
    str_printf(text, "%s, at most %" PRIu32 " SHAVEs\n", l->entry,
               l->tuned ? l->bound_shaves : l->max_shaves);
    for (uint32_t i = 0; i < l->n_args; i++)
        add_argument(g, &l->args[i], l->by_index, text);
}

static uint64_t hash_of(const str *text)
{
    return XXH64(str_text(text), text->n, 0);
}

vpu_status tune_key_of(const backend_ops *ops, const backend_config *cfg,
                       const graph *g, const graph_launch *l, arena *a,
                       tune_key *out, vpu_error *err)
{
    str machine = {.arena = a}, arguments = {.arena = a};
    vpu_status st = backend_identity_kernel(cfg, l, a, &out->kernel, err);

    if (!st && backend_extras(ops) & BACKEND_MACHINE)
        st = add_machine(cfg, a, &machine, err);
    else if (!st)
        str_printf(&machine, "%s:%s\n", ops->name,
                   cfg->device ? cfg->device : "");
    if (st)
        return st;
    add_arguments(g, l, &arguments);
    out->machine = hash_of(&machine);
    out->arguments = hash_of(&arguments);
    memcpy(out->global, l->global, sizeof out->global);
    return VPU_OK;
}
