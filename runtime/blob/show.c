/* A blob as text. */
#include <inttypes.h>
#include <string.h>

#include "runtime/blob/check.h"
#include "runtime/blob/release.h"
#include "runtime/blob/stage.h"

typedef struct {
    const blob *b;
    arena *a;
    str *out;
} printer;

static void print_words(printer *p, const uint32_t *words, uint32_t n,
                        const char *between)
{
    for (uint32_t i = 0; i < n; i++)
        str_printf(p->out, "%s%u", i ? between : "", words[i]);
}

/* Names come from outside. */
static void print_name(printer *p, const char *name)
{
    str_puts(p->out, "'");
    for (; *name; name++)
        if ((unsigned char)*name < ' ' || *name == '\'' || *name == 0x7f)
            str_printf(p->out, "\\x%02x", (unsigned char)*name);
        else
            str_add(p->out, name, 1);
    str_puts(p->out, "'");
}

static void print_desc(printer *p, const blob_desc *d)
{
    const char *type = blob_type_name(d->type);

    str_puts(p->out, type ? type : arena_printf(p->a, "type %u", d->type));
    str_printf(p->out, " %s ", stage_order_name(d->order, p->a));
    if (p->b->major >= 6 && d->dims_location != BLOB_CONST) {
        str_printf(p->out, "%u dims at location %u + %u", d->rank,
                   d->dims_location, d->dims_at);
    } else {
        for (uint32_t i = d->rank; i-- > 0;) /* outermost first */
            str_printf(p->out, "%u%s", d->dims[i], i ? "x" : "");
    }
    str_puts(p->out, " strides ");
    print_words(p, d->strides, d->rank, ",");
    if (p->b->major >= 6)
        str_printf(p->out, " (dims at %u, strides at %u)", d->dims_at,
                   d->strides_at);
}

static void print_ios(printer *p, const char *what, const blob_io *list,
                      uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        str_printf(p->out, "%s %u at byte %u: ", what, i, list[i].at);
        print_name(p, list[i].name);
        str_printf(p->out, " offset %u, ", list[i].offset);
        print_desc(p, &list[i].desc);
        str_puts(p->out, "\n");
    }
}

static float as_float(uint32_t word)
{
    float f;

    memcpy(&f, &word, sizeof f);
    return f;
}

static void print_custom(printer *p, const stage_custom *c, bool old)
{
    str_puts(p->out, old ? "  global " : "  groups ");
    print_words(p, c->groups, 3, ",");
    str_puts(p->out, "  local ");
    print_words(p, c->local, 3, ",");
    str_puts(p->out, "  offset ");
    print_words(p, c->offset, 3, ",");
    str_printf(p->out,
               "  max-shaves %u\n  kernel %s%u in buffer %u, %u inputs and "
               "outputs\n",
               c->max_shaves, old ? "at " : "", c->kernel, stage_custom_elf(c),
               c->n_buffers);
    for (uint32_t i = 0; i < c->n_args; i++) {
        const stage_arg *g = &c->args[i];

        str_printf(p->out, "  argument %u: ", i);
        if (g->tag >= 0)
            str_printf(p->out, "buffer %d + %u\n", g->tag, g->value);
        else if (g->tag == STAGE_ARG_INT)
            str_printf(p->out, "int %d\n", (int32_t)g->value);
        else if (g->tag == STAGE_ARG_FLOAT)
            str_printf(p->out, "float %.9g\n", (double)as_float(g->value));
        else if (g->tag == STAGE_ARG_LOCAL)
            str_printf(p->out, "local %u bytes\n", g->value);
        else
            str_printf(p->out, "tag %d, value %u\n", g->tag, g->value);
    }
}

static void print_params(printer *p, const blob_stage *s)
{
    const uint32_t *w = s->params;
    stage_custom c;

    if (stage_custom_read(s, p->a, &c)) {
        print_custom(p, &c, s->type == STAGE_OLD_CUSTOM);
    } else if (s->type == STAGE_CONVERT && s->n_params == 4) {
        str_printf(p->out,
                   "  scale %.9g, bias %.9g, from detection %d, batch %d\n",
                   (double)as_float(w[0]), (double)as_float(w[1]),
                   (int32_t)w[2], (int32_t)w[3]);
    } else if (s->type == STAGE_PERMUTE && s->n_params == 8) {
        str_puts(p->out, "  dims from");
        for (int i = 0; i < 8; i++)
            str_printf(p->out, " %d", (int32_t)w[i]);
        str_puts(p->out, "\n");
    } else if (s->n_params) {
        str_puts(p->out, "  params");
        for (uint32_t i = 0; i < s->n_params; i++)
            str_printf(p->out, " %08x", w[i]);
        str_puts(p->out, "\n");
    }
}

static void print_buffer(printer *p, uint32_t i, const blob_buffer *f)
{
    const char *where = blob_location_name(f->location);

    str_printf(p->out, "  buffer %u at byte %u: %s", i, f->at,
               where ? where : arena_printf(p->a, "location %u", f->location));
    if (f->location == BLOB_INPUT || f->location == BLOB_OUTPUT)
        str_printf(p->out, " %u (%u bytes)", f->data.index, f->data.bytes);
    str_printf(p->out, " + %u, ", f->offset);
    print_desc(p, &f->desc);
    str_puts(p->out, "\n");
}

static void print_stage(printer *p, uint32_t i, const blob_stage *s)
{
    const char *name = stage_name(s->type);

    str_printf(p->out, "stage %u at byte %u: %s (%u), %u SHAVEs\n", i, s->at,
               name ? name : "?", s->type, s->n_shaves);
    print_params(p, s);
    for (uint32_t k = 0; k < s->n_buffers; k++)
        print_buffer(p, k, &s->buffers[k]);
}

static void print_nodes(printer *p, const char *what, const blob_node *list,
                        uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        str_printf(p->out, "%s %u: ", what, i);
        print_name(p, list[i].name);
        str_printf(p->out, " element %d, shape", list[i].element);
        for (uint32_t k = 0; k < list[i].rank; k++)
            str_printf(p->out, " %" PRIu64, list[i].shape[k]);
        for (uint32_t k = 0; k < list[i].n_names; k++) {
            str_puts(p->out, k ? ", " : ", names ");
            print_name(p, list[i].names[k]);
        }
        if (list[i].producer) {
            str_puts(p->out, ", from ");
            print_name(p, list[i].producer);
        }
        str_puts(p->out, "\n");
    }
}

void blob_show(const blob *b, arena *a, str *out)
{
    printer p = {b, a, out};

    str_printf(out, "blob %u.%u (OpenVINO %s)\n", b->major, b->minor,
               blob_version_releases(b->major, b->minor));
    str_printf(out,
               "inputs %u, %u bytes; outputs %u, %u bytes; stages %u; batch "
               "%u\n",
               b->n_inputs, b->inputs_size, b->n_outputs, b->outputs_size,
               b->n_stages, b->batch);
    str_printf(out,
               "scratch %u bytes, const data %u bytes; slices %u, SHAVEs %u; "
               "hardware %u, SHAVE %u, DMA %u\n",
               b->bss_size, b->n_constants, b->n_slices, b->n_shaves, b->has_hw,
               b->has_shave, b->has_dma);
    print_ios(&p, "input", b->inputs, b->n_inputs);
    print_ios(&p, "output", b->outputs, b->n_outputs);
    for (uint32_t i = 0; i < b->n_stages; i++)
        print_stage(&p, i, &b->stages[i]);
    if (b->has_trailer) {
        print_nodes(&p, "parameter", b->parameters, b->n_parameters);
        print_nodes(&p, "result", b->results, b->n_results);
    }
}
