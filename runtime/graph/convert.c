/* Carries convert.cl inside the program and lays out its launches. */
#include "runtime/graph/convert.h"

#include <string.h>

__asm__(".section .rodata\n"
        "vpu_convert_start:\n"
        ".incbin \"runtime/graph/convert.cl\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char vpu_convert_start[];

enum { MAX_LOCAL = 512, LINE = 64 /* bytes one item moves */ };

static const char *const source_name[] = {"<vpusim>/convert.cl"};

uint32_t graph_local_size(uint32_t global, uint32_t factor)
{
    uint32_t divides = 1;

    for (uint32_t n = MAX_LOCAL; n > 1; n--) {
        if (global % n)
            continue;
        if (n % factor == 0)
            return n;
        divides = divides > n ? divides : n;
    }
    return divides;
}

static uint32_t local_for(uint32_t global)
{
    return graph_local_size(global, 1);
}

/* A launch of one of the kernels, from a buffer to another one. */
typedef struct {
    const char *entry;
    uint32_t src, dst;
    uint32_t sizes[2], n_sizes; /* rows and columns, for kernels that ask */
    uint32_t global[3];
} conversion;

static void set_up(arena *a, const conversion *c, graph_launch *out)
{
    graph_arg *args = arena_array(a, graph_arg, 2 + c->n_sizes);

    args[0] =
        (graph_arg){.name = "src", .kind = GRAPH_ARG_BUFFER, .buffer = c->src};
    args[1] = (graph_arg){.name = "dst",
                          .kind = GRAPH_ARG_BUFFER,
                          .buffer = c->dst,
                          .written = true};
    *out = (graph_launch){.entry = c->entry,
                          .text = vpu_convert_start,
                          .sources = source_name,
                          .n_sources = 1,
                          .args = args,
                          .n_args = 2 + c->n_sizes,
                          .local = {local_for(c->global[0]), 1, 1}};
    for (int i = 0; i < 3; i++)
        out->global[i] = c->global[i];
    /* Dims fit 32 bits, but not always a sign: the kernel reads them as uint.
     */
    for (uint32_t i = 0; i < c->n_sizes; i++)
        args[2 + i] = (graph_arg){.name = i ? "cols" : "rows",
                                  .kind = GRAPH_ARG_INT,
                                  .integer = (int32_t)c->sizes[i]};
}

void graph_permute(arena *a, const tensor_desc *from, uint32_t src,
                   uint32_t dst, graph_launch *out)
{
    uint32_t channel_dim = from->rank > 3 ? 1 : 0;
    uint32_t channels = from->dims[channel_dim], inner = 1;
    uint32_t outer = channel_dim ? from->dims[0] : 1;
    uint32_t bytes = tensor_dtype_bytes(from->dtype), per_item = LINE / bytes;
    bool to_minor = from->layout == TENSOR_PLAIN;
    uint32_t rows, cols;

    for (uint32_t i = channel_dim + 1; i < from->rank; i++)
        inner *= from->dims[i];
    rows = to_minor ? channels : inner;
    cols = to_minor ? inner : channels;
    set_up(
        a,
        &(const conversion){.entry = arena_printf(a, "permute_%u", bytes),
                            .src = src,
                            .dst = dst,
                            .sizes = {rows, cols},
                            .n_sizes = 2,
                            .global = {rows, (cols - 1) / per_item + 1, outer}},
        out);
}

/* B and F are one dimension of the launch. */
void graph_reorder(arena *a, const graph_reordering *r, uint32_t src,
                   uint32_t dst, graph_launch *out)
{
    static const char *const names[] = {
        "features", "from", "from_b", "from_f", "from_y", "from_x",
        "to",       "to_b", "to_f",   "to_y",   "to_x"};
    enum { N = sizeof names / sizeof *names };
    uint32_t values[N] = {r->dims[1], r->from.offset, 0, 0, 0, 0, r->to.offset};
    graph_arg *args = arena_array(a, graph_arg, 2 + N);

    memcpy(values + 2, r->from.pitches, sizeof r->from.pitches);
    memcpy(values + 7, r->to.pitches, sizeof r->to.pitches);
    args[0] =
        (graph_arg){.name = "src", .kind = GRAPH_ARG_BUFFER, .buffer = src};
    args[1] = (graph_arg){.name = "dst",
                          .kind = GRAPH_ARG_BUFFER,
                          .buffer = dst,
                          .written = true};
    for (int i = 0; i < N; i++)
        args[2 + i] = (graph_arg){.name = names[i],
                                  .kind = GRAPH_ARG_INT,
                                  .integer = (int32_t)values[i]};
    *out = (graph_launch){
        .entry = arena_printf(a, "reorder_%u", tensor_dtype_bytes(r->dtype)),
        .text = vpu_convert_start,
        .sources = source_name,
        .n_sources = 1,
        .args = args,
        .n_args = 2 + N,
        .global = {r->dims[3], r->dims[2], r->dims[0] * r->dims[1]},
        .local = {local_for(r->dims[3]), 1, 1}};
}

bool graph_can_retype(tensor_dtype from, tensor_dtype to)
{
    return from == TENSOR_F16
               ? to == TENSOR_F32
               : to == TENSOR_F16 && (from == TENSOR_U8 || from == TENSOR_F32);
}

void graph_retype(arena *a, const tensor_desc *from, tensor_dtype to,
                  uint32_t src, uint32_t dst, graph_launch *out)
{
    uint32_t row = from->rank ? from->dims[from->rank - 1] : 1;

    set_up(a,
           &(const conversion){
               .entry = arena_printf(a, "convert_%s_%s",
                                     tensor_dtype_name(from->dtype),
                                     tensor_dtype_name(to)),
               .src = src,
               .dst = dst,
               .global = {row, (uint32_t)(tensor_elements(from) / row), 1}},
           out);
}

/* --- launches that are conversions --------------------------------------- */

void graph_conversion_of(const graph_launch *l, graph_conversion *out)
{
    *out = (graph_conversion){0};
    if (l->text != vpu_convert_start)
        return;
    *out = (graph_conversion){.entry = l->entry,
                              .src = l->args[0].buffer,
                              .dst = l->args[1].buffer,
                              .numbers = l->args + 2,
                              .n_numbers = l->n_args - 2};
    memcpy(out->global, l->global, sizeof out->global);
}

static uint32_t count_args(const char *entry)
{
    static const struct {
        const char *begin;
        uint32_t n;
    } rows[] = {{"permute_", 4}, {"reorder_", 13}, {"convert_", 2}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strncmp(entry, rows[i].begin, strlen(rows[i].begin)))
            return rows[i].n;
    return 0;
}

bool graph_restore_conversion(graph_launch *l)
{
    if (!l->n_args || l->n_args != count_args(l->entry))
        return false;
    for (uint32_t i = 0; i < l->n_args; i++) {
        const graph_arg *x = &l->args[i];

        if (i >= 2 ? x->kind != GRAPH_ARG_INT
                   : x->kind != GRAPH_ARG_BUFFER || x->written != (i == 1))
            return false;
    }
    l->text = vpu_convert_start;
    l->sources = source_name;
    l->n_sources = 1;
    return true;
}

bool graph_same_conversion(const graph_conversion *p, const graph_conversion *q)
{
    bool same = !strcmp(p->entry, q->entry) && p->n_numbers == q->n_numbers &&
                !memcmp(p->global, q->global, sizeof p->global);

    for (uint32_t i = 0; i < p->n_numbers && same; i++)
        same = p->numbers[i].integer == q->numbers[i].integer;
    return same;
}

/* A matrix transposed twice; a half that was a float for a while. What a
 * reorder leaves out, around a tensor, is not known to come back. */
bool graph_undoes_conversion(const graph_conversion *p,
                             const graph_conversion *q)
{
    if (!strcmp(p->entry, "convert_f16_f32"))
        return !strcmp(q->entry, "convert_f32_f16");
    return !strncmp(p->entry, "permute_", 8) && !strcmp(p->entry, q->entry) &&
           p->numbers[0].integer == q->numbers[1].integer &&
           p->numbers[1].integer == q->numbers[0].integer &&
           p->global[2] == q->global[2];
}
