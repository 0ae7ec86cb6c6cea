/* The form with copies: what a work-group reads and writes goes through local
 * memory, by the phases before and behind it. The kernel finds its elements by
 * the macros it always used; here they speak of the copy. */
#include "runtime/port/port_priv.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "runtime/graph/gpu_defines.h"
#include "sim/compiler/front/frontend.h"

enum { MOST_SIZES = 64, MOST_LINES = 1 << 16 };

/* --- looking ------------------------------------------------------------- */

static int64_t argument_named(const port_state *p, const char *name)
{
    for (size_t i = 0; i < p->n_scalars; i++)
        if (!strcmp(p->scalars[i].name, name))
            return (int64_t)(p->sign.n_params + i);
    return -1;
}

static const char *add_symbol(port_state *p, const char *wish)
{
    const port_scalar s = {
        .name = port_new_name(p, wish), .type = "int", .port = -1};

    *arena_append(p->a, p->scalars, p->n_scalars, p->cap_scalars) = s;
    return s.name;
}

/* Offset and pitches of each tensor as arguments. */
static void add_symbols(port_state *p)
{
    for (size_t i = 0; i < p->n_tensors; i++) {
        port_tensor *t = &p->tensors[i];

        t->offset = add_symbol(p, arena_printf(p->a, "%s_offset", t->word));
        for (int d = 0; d < 4; d++)
            t->pitches[d] =
                add_symbol(p, arena_printf(p->a, "%s_pitch_%d", t->word, d));
    }
}

static vpu_status front(const port_state *p, const char *text, fe_unit *unit)
{
    const fe_job job = {.path = p->files[p->shown].path,
                        .text = text,
                        .options = p->job->compile->options,
                        .n_options = p->job->compile->n_options,
                        .limits = p->job->compile->limits};

    return fe_compile(&job, p->a, unit, p->err);
}

/* For the tensors of a kernel with symbols: one an argument, in their order. */
static vpu_status open_boxes(const port_state *p, const fe_unit *unit,
                             boxes_kernel **out)
{
    uint32_t n_args = p->sign.n_params + (uint32_t)p->n_scalars;
    boxes_arg *args = arena_array(p->a, boxes_arg, n_args);
    boxes_tensor *tensors =
        arena_array(p->a, boxes_tensor, p->kernel->n_bindings);
    boxes_job *job = arena_new(p->a, boxes_job);

    for (uint32_t i = 0; i < p->sign.n_params; i++)
        args[i].name = "";
    for (size_t i = 0; i < p->n_scalars; i++)
        args[p->sign.n_params + i] =
            (boxes_arg){p->scalars[i].name, p->scalars[i].value};
    for (size_t i = 0; i < p->kernel->n_bindings; i++) {
        const port_tensor *t = port_tensor_of(p, &p->kernel->bindings[i]);
        boxes_tensor *x = &tensors[i];

        x->pointer = (uint32_t)i;
        x->offset = (uint32_t)argument_named(p, t->offset);
        x->element_bytes = tensor_dtype_bytes(t->desc.dtype);
        for (int d = 0; d < 4; d++)
            x->pitches[d] = (uint32_t)argument_named(p, t->pitches[d]);
    }
    *job = (boxes_job){.bitcode = unit->bitcode,
                       .n_bytes = unit->n_bytes,
                       .entry = p->kernel->entry,
                       .args = args,
                       .n_args = n_args,
                       .tensors = tensors,
                       .n_tensors = (uint32_t)p->kernel->n_bindings};
    return boxes_open(job, p->a, out, p->err);
}

static void ask_boxes(port_state *p, const boxes_kernel *b,
                      const port_local *local)
{
    boxes_box *found = arena_array(p->a, boxes_box, p->kernel->n_bindings);
    boxes_local sizes[3];

    for (int d = 0; d < 3; d++)
        sizes[d] = (boxes_local){local->texts[d], local->values[d],
                                 local->one_group[d]};
    boxes_ask(b, sizes, found);
    for (size_t i = 0; i < p->kernel->n_bindings; i++)
        port_tensor_of(p, &p->kernel->bindings[i])->box = found[i];
}

/* The dims in which a box has more than one element, from the outermost
 * inwards, and always the one whose elements follow each other. */
static uint32_t sides_of(const port_tensor *t, uint8_t out[4])
{
    const uint8_t *order = graph_gpu_order(t->format);
    uint32_t n = 0;

    for (int i = 3; i >= 0; i--)
        if (!i || strcmp(t->box.sides[order[i]].extent, "1"))
            out[n++] = order[i];
    return n;
}

/* Each tensor that one argument alone is bound to. */
static bool bound_once(const port_state *p, const port_tensor *t)
{
    size_t n = 0;

    for (size_t i = 0; i < p->kernel->n_bindings; i++)
        n += port_tensor_of(p, &p->kernel->bindings[i]) == t;
    return n == 1;
}

/* Of a box with extents; UINT64_MAX: more than a tensor may have. */
static uint64_t tile_bytes(const port_tensor *t)
{
    uint64_t n = tensor_dtype_bytes(t->desc.dtype);

    for (int d = 0; d < 4; d++)
        if (__builtin_mul_overflow(n, (uint64_t)t->box.sides[d].n, &n) ||
            n > TENSOR_MAX_BYTES)
            return UINT64_MAX;
    return n;
}

/* Why a tensor stays where it is; NULL: it can be moved. */
static const char *stays(const port_state *p, const port_tensor *t)
{
    const boxes_box *b = &t->box;
    uint8_t sides[4];

    if (!bound_once(p, t))
        return "two arguments are bound to it";
    if (!b->touched)
        return "the kernel does not touch it";
    if (!b->known)
        return b->line ? arena_printf(p->a, "line %u: %s", b->line, b->why)
                       : b->why;
    if (b->written && b->read)
        return "it is read and written";
    if (b->written && !b->filled)
        return b->not_filled;
    for (int d = 0; d < 4; d++)
        if (b->sides[d].n < 1 || b->sides[d].n > INT32_MAX)
            return "it has no extent";
    if (tile_bytes(t) == UINT64_MAX)
        return "its part for a work-group is too large";
    return sides_of(t, sides) > 3
               ? "its part for a work-group has four dims, a transfer three"
               : NULL;
}

/* A local size, the boxes it gives, and what they take. */
typedef struct {
    port_local local;
    boxes_box *boxes; /* by tensor */
    uint64_t bytes;   /* of a group's tensors in local memory */
    uint64_t cycles;  /* of a SHAVE's transfers, about */
    uint32_t n_moved;
} candidate;

/* About: lines that follow each other in DDR are one. */
static uint64_t transfer_cycles(const port_state *p, const port_tensor *t)
{
    const mach_desc *m = p->job->desc;
    const uint8_t *order = graph_gpu_order(t->format);
    uint64_t lines = 1;
    bool whole = true;

    for (int i = 0; i < 3; i++) {
        uint8_t inner = order[i];

        whole = whole && (inner >= t->desc.rank ||
                          t->box.sides[inner].n == t->desc.dims[inner]);
        if (!whole)
            lines *= (uint64_t)t->box.sides[order[i + 1]].n;
    }
    return m->dma_first_byte + lines * m->dma_line_overhead +
           tile_bytes(t) / m->dma_bus_bytes;
}

/* Groups share the channels; a SHAVE queues its own. */
static void add_cycles(const port_state *p, candidate *c)
{
    const mach_desc *m = p->job->desc;
    uint64_t rounds = (c->local.groups - 1) / m->num_shaves + 1;

    c->cycles = c->cycles * c->local.groups / m->dma_channels +
                rounds * (m->wg_dispatch + c->n_moved * m->dma_setup);
}

static void try_local(port_state *p, const boxes_kernel *b,
                      const uint32_t wanted[3], candidate *out)
{
    port_find_local(p, wanted, &out->local);
    out->bytes = out->cycles = 0;
    out->n_moved = 0;
    out->boxes = arena_array(p->a, boxes_box, p->n_tensors);
    ask_boxes(p, b, &out->local);
    for (size_t i = 0; i < p->n_tensors; i++) {
        port_tensor *t = &p->tensors[i];

        out->boxes[i] = t->box;
        if (stays(p, t))
            continue;
        out->n_moved++;
        out->bytes += tile_bytes(t);
        out->cycles += transfer_cycles(p, t);
    }
    add_cycles(p, out);
}

/* The tensors of two groups want to be in local memory at once. */
static bool better(const port_state *p, const candidate *x, const candidate *y)
{
    uint64_t budget = p->job->desc->ocl_local_budget;
    bool x_twice = 2 * x->bytes <= budget, y_twice = 2 * y->bytes <= budget;

    if (x->bytes > budget || y->bytes > budget)
        return x->bytes < y->bytes;
    if (x->n_moved != y->n_moved)
        return x->n_moved > y->n_moved;
    if (x_twice != y_twice)
        return x_twice;
    return x->cycles < y->cycles;
}

/* The divisors of n, from 1 on; at most MOST_SIZES of them, and none of so many
 * lines that local memory could not hold them. */
static uint32_t divisors(uint32_t n, uint32_t out[MOST_SIZES])
{
    uint32_t k = 0;

    for (uint32_t d = 1; d <= n && d <= MOST_LINES && k < MOST_SIZES; d++)
        if (n % d == 0)
            out[k++] = d;
    return k;
}

/* Groups of whole lines: of one, of more, of whole planes of them. */
static vpu_status choose(port_state *p, const fe_unit *unit, candidate *best)
{
    const uint32_t *global = port_launch(p)->global;
    uint32_t lines[MOST_SIZES];
    uint32_t n = p->kernel->local.text ? 1 : divisors(global[1], lines);
    boxes_kernel *b = NULL;
    vpu_status st = open_boxes(p, unit, &b);

    for (uint32_t i = 0; i < n && !st; i++) {
        const uint32_t wanted[3] = {global[0], n > 1 ? lines[i] : 1, 1};
        candidate c;

        try_local(p, b, wanted, &c);
        if (i == 0 || better(p, &c, best))
            *best = c;
        if (i && c.bytes > p->job->desc->ocl_local_budget)
            break;
    }
    boxes_close(b);
    return st;
}

/* Reasons, a tensor each; whether there is something to move. */
static bool take_boxes(port_state *p, const candidate *c, str *reasons)
{
    bool any = false;

    for (size_t i = 0; i < p->n_tensors; i++) {
        port_tensor *t = &p->tensors[i];
        const char *why;

        t->box = c->boxes[i];
        why = stays(p, t);
        t->moved = !why;
        any |= !why;
        if (why)
            str_printf(reasons, "%s%s stays in DDR: %s", reasons->n ? "; " : "",
                       t->word, why);
    }
    return any;
}

/* --- writing ------------------------------------------------------------- */

/* How far neighbours along dim d are apart in the copy, in elements. */
static const char *tile_pitch(const port_state *p, const port_tensor *t, int d)
{
    const char *extents[4];

    for (int i = 0; i < 4; i++)
        extents[i] = t->box.sides[i].extent;
    return port_pitch(p, t, extents, d);
}

static const char *tile_offset(const port_state *p, const port_tensor *t)
{
    const char *text = NULL;

    for (int d = 0; d < 4; d++) {
        const boxes_side *s = &t->box.sides[d];
        const char *one;

        if (!strcmp(s->base, "0"))
            continue;
        one = arena_printf(p->a, "%s * (%s)", s->base, tile_pitch(p, t, d));
        text = text ? arena_printf(p->a, "%s + %s", text, one) : one;
    }
    return text ? arena_printf(p->a, "(-(%s))", text) : "0";
}

/* A group's box cut to what is of the tensor: from low, n elements. */
static void put_limits(const port_tensor *t, str *out)
{
    for (int d = 0; d < 4; d++) {
        const boxes_side *s = &t->box.sides[d];

        if (t->box.inside) {
            str_printf(out, "        const int low%d = %s, n%d = %s;\n", d,
                       s->base, d, s->extent);
            continue;
        }
        str_printf(out,
                   "        const int from%d = %s, low%d = max(from%d, 0);\n",
                   d, s->base, d, d);
        str_printf(out,
                   "        const int n%d = max(min(from%d + %s, %s) - low%d, "
                   "0);\n",
                   d, d, s->extent, t->dims[d], d);
    }
}

/* Where the box begins, in elements: in the tensor, and in the copy. */
static const char *begin_text(const port_state *p, const port_tensor *t,
                              bool ddr)
{
    const char *text = "";

    for (int d = 0; d < 4; d++) {
        const char *pitch =
            ddr ? port_pitch(p, t, t->dims, d) : tile_pitch(p, t, d);

        text =
            arena_printf(p->a, "%s%s(low%d%s) * (%s)", text, d ? " + " : "", d,
                         ddr ? "" : arena_printf(p->a, " - from%d", d), pitch);
    }
    return !ddr && t->box.inside ? "0" : text;
}

/* One transfer without a branch: a phase with one would run item by item. Lines
 * that follow each other on both sides are one. */
static void put_copy(const port_state *p, const port_tensor *t,
                     const char *argument, str *out)
{
    uint32_t bytes = tensor_dtype_bytes(t->desc.dtype), n;
    uint8_t sides[4];
    const char *ddr[2] = {"0", "0"}, *tile[2] = {"0", "0"};
    const char *counts[2] = {"1", "1"}, *rest = "1";

    n = sides_of(t, sides);
    for (uint32_t i = 0; i + 1 < n && i < 2; i++) {
        uint8_t d = sides[n - 2 - i];

        ddr[i] = arena_printf(p->a, "(%s) * %u", port_pitch(p, t, t->dims, d),
                              bytes);
        tile[i] = arena_printf(p->a, "(%s) * %u", tile_pitch(p, t, d), bytes);
        counts[i] = arena_printf(p->a, "n%d", d);
    }
    for (int d = 0; d < 4; d++)
        if (!memchr(sides, d, n) && !t->box.inside)
            rest = arena_printf(p->a, "%s * n%d", rest, d);
    str_puts(out, "    {\n");
    put_limits(t, out);
    str_printf(out,
               "        const int width = n%d * %u, lines = %s, planes = %s * "
               "(%s);\n",
               sides[n - 1], bytes, counts[0], counts[1], rest);
    str_printf(out,
               "        const int ddr_line = %s, ddr_plane = %s;\n"
               "        const int line = %s, plane = %s;\n",
               ddr[0], ddr[1], tile[0], tile[1]);
    str_puts(out,
             "        const bool one = lines == 1 || (ddr_line == width && "
             "line == width);\n");
    str_printf(out,
               "        __global uchar *ddr = (__global uchar *)(%s + %s);\n",
               t->ddr, begin_text(p, t, true));
    str_printf(out,
               "        __local uchar *tile = (__local uchar *)(%s + %s);\n\n",
               argument, begin_text(p, t, false));
    str_printf(
        out,
        "        WorkGroupDmaCreate3DTransaction(\n            %s, "
        "one ? width * lines : width,\n            one ? width * lines "
        ": width, one ? %s : %s,\n            one ? %s : %s, one ? 1 : "
        "planes, %s, %s,\n            one ? width * lines * planes : "
        "width * lines, 0);\n    }\n",
        t->output ? "tile, ddr" : "ddr, tile",
        t->output ? "plane" : "ddr_plane", t->output ? "line" : "ddr_line",
        t->output ? "ddr_plane" : "plane", t->output ? "ddr_line" : "line",
        t->output ? "plane" : "ddr_plane", t->output ? "ddr_plane" : "plane");
}

static void put_phase(const port_state *p, bool post, str *out)
{
    const char *text = p->files[p->shown].text;

    str_printf(out, "\n__kernel void __dma_%s_%s(%s)\n{\n",
               post ? "postwrite" : "preload", p->kernel->entry,
               port_arguments(p, true));
    for (size_t i = 0; i < p->kernel->n_bindings; i++) {
        const port_tensor *t = port_tensor_of(p, &p->kernel->bindings[i]);
        const lint_source_param *x = &p->sign.params[i];

        if (t->moved && t->output == post)
            put_copy(p, t, arena_strndup(p->a, text + x->name, x->n_name), out);
    }
    str_puts(out, "}\n");
}

/* Dims by their names in the kernel, as one tensor's letters; NULL: they are of
 * several tensors, or no expression of MVCL. */
static const char *as_letters(const port_state *p, const char *text,
                              const port_tensor *of)
{
    const char *out;
    bool fits = true;
    str s = {0};

    while (*text && fits) {
        size_t n = 0;
        const char *word = NULL;

        while (isalnum((unsigned char)text[n]) || text[n] == '_')
            n++;
        for (int d = 0; d < 4 && n && !isdigit((unsigned char)*text); d++)
            for (size_t k = 0; k < p->n_tensors && !word; k++) {
                const port_tensor *t = &p->tensors[k];
                bool same =
                    t->desc.rank == of->desc.rank &&
                    !memcmp(t->desc.dims, of->desc.dims, sizeof t->desc.dims);

                if (same && (uint32_t)d < t->desc.rank &&
                    strlen(t->dims[d]) == n && !strncmp(t->dims[d], text, n))
                    word = arena_printf(p->a, "%c", of->letters[d]);
            }
        for (size_t k = 0; k < p->n_scalars && n && !word; k++)
            if (p->scalars[k].port < 0 && p->scalars[k].source &&
                strlen(p->scalars[k].name) == n &&
                !strncmp(p->scalars[k].name, text, n))
                word = p->scalars[k].source;
        if (n && isdigit((unsigned char)*text))
            word = arena_strndup(p->a, text, n);
        fits = n ? word != NULL : strchr("+-*/%() ", *text) != NULL;
        if (word)
            str_puts(&s, word);
        else if (fits && *text != ' ')
            str_add(&s, text, 1);
        text += n ? n : 1;
    }
    out = fits ? arena_strdup(p->a, str_text(&s)) : NULL;
    str_free(&s);
    return out;
}

const char *port_tile_size(const port_state *p, const port_tensor *t)
{
    uint32_t bytes = tensor_dtype_bytes(t->desc.dtype);
    const char *all = arena_printf(p->a, "%u", bytes);

    for (int d = 0; d < 4; d++)
        if (strcmp(t->box.sides[d].extent, "1"))
            all = arena_printf(p->a, "%s*%s", all, t->box.sides[d].extent);
    for (size_t k = 0; k < p->n_tensors; k++) {
        const port_tensor *of = &p->tensors[k];
        const char *size = as_letters(p, all, of);

        if (size)
            return arena_printf(p->a, "dim=\"%s,%u\" size=\"%s\"",
                                of->output ? "output" : "input", of->port,
                                size);
    }
    return arena_printf(p->a, "dim=\"output,0\" size=\"%" PRIu64 "\"",
                        tile_bytes(t));
}

static bool depends_on_shape(const port_tensor *t)
{
    bool depends = false;

    for (int d = 0; d < 4; d++)
        for (const char *c = t->box.sides[d].extent; *c; c++)
            depends |= isalpha((unsigned char)*c) != 0;
    return depends;
}

/* What the copies in local memory are for other shapes. */
static void note_tiles(port_state *p, const candidate *c)
{
    const graph_launch *l = port_launch(p);

    for (int d = 0; d < 3; d++)
        if (!c->local.one_group[d] && c->local.values[d] > 1 &&
            !p->kernel->local.text)
            port_note(p,
                      "work-groups have %u items along dimension %d: global "
                      "sizes of other shapes must be multiples of it (here %u)",
                      c->local.values[d], d, l->global[d]);
    for (size_t i = 0; i < p->n_tensors; i++) {
        const port_tensor *t = &p->tensors[i];
        const char *size = t->moved ? port_tile_size(p, t) : "";

        if (t->moved && depends_on_shape(t) &&
            !strpbrk(strstr(size, "size=") + 5, "BFYX"))
            port_note(p,
                      "local memory for %s is %" PRIu64
                      " bytes, enough for the shapes given",
                      t->word, tile_bytes(t));
    }
}

static void put_all(const port_state *p, bool local_body, str *out)
{
    bool in = false, post = false;

    for (size_t i = 0; i < p->n_tensors; i++) {
        in |= p->tensors[i].moved && !p->tensors[i].output;
        post |= p->tensors[i].moved && p->tensors[i].output;
    }
    str_printf(out,
               "/* CustomLayer %s, moved from type SimpleGPU to the VPU: what "
               "a work-group\n * reads and writes goes through local memory. "
               "*/\n%s\n",
               p->job->layer->type, str_text(&p->defines));
    port_put_sources(p, port_arguments(p, true), local_body, false, out);
    if (in)
        put_phase(p, false, out);
    if (post)
        put_phase(p, true, out);
}

/* Pointers in the kernel's body are of one memory: __global as written, or
 * __local if everything moves. */
static vpu_status write_kernel(port_state *p, const char **kernel,
                               vpu_error *err)
{
    bool all = true;
    vpu_error why = {0};
    vpu_status st;
    str text = {0};

    for (size_t i = 0; i < p->kernel->n_bindings; i++)
        all &= port_tensor_of(p, &p->kernel->bindings[i])->moved;
    put_all(p, false, &text);
    *kernel = port_take(p->a, &text);
    st = port_compiles(p, *kernel, "kernel.cl", &why);
    if (st == VPU_ERR_COMPILE && all) {
        put_all(p, true, &text);
        *kernel = port_take(p->a, &text);
        st = port_compiles(p, *kernel, "kernel.cl", &why);
    }
    if (st == VPU_ERR_COMPILE)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "the kernel does not compile with tensors in local "
                       "memory:\n%s",
                       why.msg);
    if (st && err)
        *err = why;
    return st;
}

/* The kernel with symbols, and what it touches. */
static vpu_status look(const port_job *job, arena *a, candidate *out,
                       vpu_error *err)
{
    port_state p;
    fe_unit unit = {0};
    str text = {0};
    vpu_status st = port_begin(job, a, err, &p);

    p.all_dims = true;
    if (!st) {
        add_symbols(&p);
        port_macros(&p);
        str_puts(&text, str_text(&p.defines));
        port_put_sources(&p, port_arguments(&p, false), false, true, &text);
        st = front(&p, str_text(&text), &unit);
    }
    if (!st)
        st = choose(&p, &unit, out);
    str_free(&text);
    str_free(&p.defines);
    return st;
}

static vpu_status write_all(const port_job *job, const candidate *c, arena *a,
                            port_result *out, vpu_error *err)
{
    port_state p;
    str reasons = {0}, binding = {0};
    vpu_status st = port_begin(job, a, err, &p);

    p.all_dims = true;
    if (!st && !take_boxes(&p, c, &reasons))
        st = err_set(err, VPU_ERR_UNSUPPORTED, "%s", str_text(&reasons));
    if (!st && c->bytes > job->desc->ocl_local_budget)
        st = err_set(err, VPU_ERR_UNSUPPORTED,
                     "the smallest work-group needs %" PRIu64
                     " bytes of local memory, there are %" PRIu64,
                     c->bytes, (uint64_t)job->desc->ocl_local_budget);
    for (size_t i = 0; i < p.n_tensors && !st; i++) {
        port_tensor *t = &p.tensors[i];

        if (!t->moved)
            continue;
        t->ddr = port_new_name(&p, arena_printf(a, "%s_ddr", t->word));
        t->offset = tile_offset(&p, t);
        for (int d = 0; d < 4; d++)
            t->pitches[d] = tile_pitch(&p, t, d);
    }
    if (!st) {
        port_macros(&p);
        if (reasons.n)
            port_note(&p, "%s", str_text(&reasons));
        note_tiles(&p, c);
        out->name = arena_printf(a, "%s.cl", p.kernel->entry);
        port_put_binding(&p, &c->local.mvcl, out->name, &binding);
        out->binding = port_take(a, &binding);
        out->params = p.params;
        out->n_params = p.n_params;
        out->notes = p.notes;
        out->n_notes = p.n_notes;
        st = write_kernel(&p, &out->kernel, err);
    }
    str_free(&reasons);
    str_free(&p.defines);
    return st;
}

vpu_status port_write_dma(const port_job *job, arena *a, port_result *out,
                          vpu_error *err)
{
    candidate c;
    vpu_error why = {0};
    vpu_status st = look(job, a, &c, &why);

    if (st == VPU_ERR_COMPILE)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "the kernel does not compile with sizes as arguments: "
                       "%s",
                       why.msg);
    if (st && err)
        *err = why;
    return st ? st : write_all(job, &c, a, out, err);
}
