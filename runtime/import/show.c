/* Blobs for people. */
#include "runtime/import/show.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/blob/hw.h"
#include "runtime/blob/release.h"
#include "runtime/blob/stage.h"
#include "runtime/import/import.h"
#include "runtime/native/native.h"

/* A tensor of a stage, and whether it is written. */
typedef struct {
    const blob_buffer *f;
    bool written;
} operand;

static void add_native(const native_op *op, arena *a, operand **list,
                       uint32_t *n)
{
    *n = native_n_operands(op);
    *list = arena_array(a, operand, *n + 1);
    for (uint32_t i = 0; i < *n; i++) {
        const native_operand *o = native_operand_at(op, i);

        (*list)[i] = (operand){o->buffer, o->written};
    }
}

/* Inputs, the last of them the kernel's file; outputs; a temporary. */
static bool is_written_by_custom(const blob_stage *s, uint32_t i, arena *a)
{
    stage_custom u;

    return stage_custom_read(s, a, &u) && i > stage_custom_elf(&u);
}

static void tensors_of(const blob *b, const blob_stage *s, arena *a,
                       operand **list, uint32_t *n)
{
    native_op *op;

    if (s->type != STAGE_CUSTOM && s->type != STAGE_OLD_CUSTOM &&
        !native_make(b, s, a, &op, NULL)) {
        add_native(op, a, list, n);
        return;
    }
    *n = 0;
    *list = arena_array(a, operand, s->n_buffers + 1);
    for (uint32_t i = 0; i < s->n_buffers; i++)
        if (s->buffers[i].location != BLOB_NOWHERE)
            (*list)[(*n)++] =
                (operand){&s->buffers[i], s->type == STAGE_LOOP_END ? i % 2 == 0
                                          : s->type == STAGE_LOOP_START
                                              ? i % 2 == 1
                                              : is_written_by_custom(s, i, a)};
}

/* --- words --------------------------------------------------------------- */

static const char *name_of(uint32_t type, arena *a)
{
    const char *name = stage_name(type);

    return name ? name : arena_printf(a, "stage type %u", type);
}

/* Names come from outside: what could end a text or a line is left out. */
static const char *safe(const char *text, arena *a)
{
    char *p = arena_strdup(a, text);

    for (char *c = p; *c; c++)
        if ((unsigned char)*c < ' ' || *c == '"' || *c == '\\' || *c == 0x7f)
            *c = '_';
    return p;
}

static const char *place_text(const blob *b, const blob_buffer *f, arena *a)
{
    const char *where = blob_location_name(f->location);

    if (f->location == BLOB_INPUT && f->data.index < b->n_inputs)
        where = b->inputs[f->data.index].name;
    if (f->location == BLOB_OUTPUT && f->data.index < b->n_outputs)
        where = b->outputs[f->data.index].name;
    return arena_printf(a, "%s+%u", safe(where ? where : "nowhere", a),
                        f->offset);
}

static const char *shape_text(const blob_desc *d, arena *a)
{
    str s = {0};
    const char *type = blob_type_name(d->type), *text;

    str_printf(&s, "%s ", type ? type : "?");
    for (uint32_t i = d->rank; i-- > 0;)
        str_printf(&s, "%u%s", d->dims[i], i ? "x" : "");
    str_printf(&s, " %s", stage_order_name(d->order, a));
    text = arena_strdup(a, str_text(&s));
    str_free(&s);
    return text;
}

/* Where each network has it: the shape of data, the size of constants. */
static const char *tensor_text(const blob *b, const blob_buffer *f, arena *a)
{
    if (f->location == BLOB_CONST)
        return arena_printf(a, "const+%u (%" PRIu64 " B)", f->offset,
                            blob_desc_span(&f->desc));
    return arena_printf(a, "%s %s", place_text(b, f, a),
                        shape_text(&f->desc, a));
}

static void add_op(const hw_op *o, str *out)
{
    str_printf(out, "%s %ux%u", hw_kind_name(o->kind), o->kernel_w,
               o->kernel_h);
    if (o->stride > 1)
        str_printf(out, " stride %u", o->stride);
    if (o->kind == HW_POOL)
        str_puts(out, o->pool_type == HW_POOL_MAX ? " max" : " average");
    if (o->pads)
        str_puts(out, " padded");
    str_printf(out, ", mode %s", hw_mode_name(o->mode));
    if (o->relu)
        str_puts(out, o->a0 || o->a1 != 1 ? ", leaky ReLU" : ", ReLU");
    if (o->clamp)
        str_printf(out, ", up to %g", (double)o->clamp_max);
}

/* What the hardware does; "" for other stages. */
static const char *work_text(const blob_stage *s, arena *a)
{
    const hw_op *ops;
    str out = {0};
    const char *text;
    uint32_t n;

    if (s->type != STAGE_HW || hw_stage_read(s, a, &ops, &n, NULL) || !n)
        return "";
    add_op(ops, &out);
    if (n > 1)
        str_printf(&out, ", %u operations", n);
    if (s->injected)
        str_printf(&out, "; beside it %s", name_of(s->injected->type, a));
    text = arena_strdup(a, str_text(&out));
    str_free(&out);
    return text;
}

static const char *unit_text(const blob_stage *s, arena *a)
{
    if (s->type == STAGE_HW)
        return "NCE";
    if (stage_is_dma(s->type))
        return "DMA";
    return s->n_shaves ? arena_printf(a, "%u SHAVE%s", s->n_shaves,
                                      s->n_shaves == 1 ? "" : "s")
                       : "control";
}

/* --- the table ----------------------------------------------------------- */

static void add_tensors(const blob *b, const operand *list, uint32_t n,
                        bool written, arena *a, str *out)
{
    bool any = false;

    for (uint32_t i = 0; i < n; i++) {
        if (list[i].written != written)
            continue;
        str_printf(out, "%s%s", any ? ", " : "", tensor_text(b, list[i].f, a));
        any = true;
    }
}

static void add_stage(const blob *b, uint32_t i, arena *a, str *out)
{
    const blob_stage *s = &b->stages[i];
    const char *work = work_text(s, a);
    operand *list;
    uint32_t n;

    tensors_of(b, s, a, &list, &n);
    str_printf(out, "%4u  %-20s %-9s ", i, name_of(s->type, a),
               unit_text(s, a));
    add_tensors(b, list, n, false, a, out);
    str_puts(out, " -> ");
    add_tensors(b, list, n, true, a, out);
    if (*work)
        str_printf(out, "; %s", work);
    str_puts(out, "\n");
}

static void add_ios(const char *what, const blob_io *list, uint32_t n, arena *a,
                    str *out)
{
    for (uint32_t i = 0; i < n; i++)
        str_printf(out, "%s %u  %s  %s\n", what, i, safe(list[i].name, a),
                   shape_text(&list[i].desc, a));
}

static const char *size_text(uint64_t n, arena *a)
{
    return n < 10240      ? arena_printf(a, "%" PRIu64 " B", n)
           : n < 10 << 20 ? arena_printf(a, "%.1f KiB", (double)n / 1024)
                          : arena_printf(a, "%.1f MiB", (double)n / (1 << 20));
}

void import_table(const blob *b, arena *a, str *out)
{
    str_printf(out,
               "blob %u.%u (OpenVINO %s), batch %u, %u slices of CMX, %u "
               "SHAVEs\n",
               b->major, b->minor, blob_version_releases(b->major, b->minor),
               b->batch, b->n_slices, b->n_shaves);
    str_printf(out, "constants %s, scratch %s\n", size_text(b->n_constants, a),
               size_text(b->bss_size, a));
    add_ios("input ", b->inputs, b->n_inputs, a, out);
    add_ios("output", b->outputs, b->n_outputs, a, out);
    str_printf(out, "%u stages: number, type, unit, reads -> writes\n",
               b->n_stages);
    for (uint32_t i = 0; i < b->n_stages; i++) {
        arena_mark m = arena_save(a);

        add_stage(b, i, a, out);
        arena_restore(a, m);
    }
}

/* --- the picture --------------------------------------------------------- */

/* Bytes of the blob's memory that a stage wrote. */
typedef struct {
    uint32_t location, index;
    uint64_t from, to;
    uint32_t stage;
} wrote;

typedef struct {
    const blob *b;
    arena *a;
    str *out;
    wrote *list;
    size_t n, cap;
} picture;

static wrote range_of(const blob_buffer *f, uint32_t stage)
{
    bool owned = f->location == BLOB_INPUT || f->location == BLOB_OUTPUT;

    return (wrote){f->location, owned ? f->data.index : 0, f->offset,
                   f->offset + blob_desc_span(&f->desc), stage};
}

/* The latest writer of some of these bytes, and of what it left untouched the
 * latest before, and so on. */
static void add_edges(picture *p, const blob_buffer *f, uint32_t to)
{
    wrote r = range_of(f, to);
    uint64_t left = r.to - r.from;

    if (f->location == BLOB_INPUT)
        str_printf(p->out, "  in%u -> s%u;\n", f->data.index, to);
    for (size_t i = p->n; i-- > 0 && left;) {
        const wrote *w = &p->list[i];
        uint64_t from = w->from > r.from ? w->from : r.from;
        uint64_t end = w->to < r.to ? w->to : r.to;

        if (w->location != r.location || w->index != r.index || from >= end)
            continue;
        str_printf(p->out, "  s%u -> s%u [label=\"%s\"];\n", w->stage, to,
                   shape_text(&f->desc, p->a));
        left = end - from < left ? left - (end - from) : 0;
    }
}

static void add_node(picture *p, uint32_t i)
{
    const blob_stage *s = &p->b->stages[i];
    const char *work = work_text(s, p->a);
    operand *list;
    uint32_t n;

    str_printf(p->out,
               "  s%u [label=\"%u %s%s%s\", style=filled, fillcolor=\"%s\"];\n",
               i, i, name_of(s->type, p->a), *work ? "\\n" : "", work,
               s->type == STAGE_HW       ? "#cfe8ff"
               : stage_is_dma(s->type)   ? "#eeeeee"
               : s->type == STAGE_CUSTOM ? "#ffd9a8"
                                         : "#dcf3d0");
    tensors_of(p->b, s, p->a, &list, &n);
    for (uint32_t k = 0; k < n; k++)
        if (!list[k].written)
            add_edges(p, list[k].f, i);
    for (uint32_t k = 0; k < n; k++) {
        if (!list[k].written)
            continue;
        *arena_append(p->a, p->list, p->n, p->cap) = range_of(list[k].f, i);
        if (list[k].f->location == BLOB_OUTPUT)
            str_printf(p->out, "  s%u -> out%u;\n", i, list[k].f->data.index);
    }
}

void import_dot(const blob *b, arena *a, str *out)
{
    picture p = {b, a, out, NULL, 0, 0};

    str_puts(out, "digraph blob {\n  node [shape=box, fontname=\"sans\"];\n"
                  "  edge [fontname=\"sans\", fontsize=9];\n");
    for (uint32_t i = 0; i < b->n_inputs; i++)
        str_printf(out, "  in%u [label=\"%s\", shape=ellipse];\n", i,
                   safe(b->inputs[i].name, a));
    for (uint32_t i = 0; i < b->n_outputs; i++)
        str_printf(out, "  out%u [label=\"%s\", shape=ellipse];\n", i,
                   safe(b->outputs[i].name, a));
    for (uint32_t i = 0; i < b->n_stages; i++)
        add_node(&p, i);
    str_puts(out, "}\n");
}
