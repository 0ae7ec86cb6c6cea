/* Listings of SHAVE programs. */
#include "runtime/report/listing.h"

#include <stdlib.h>
#include <string.h>

#include "isa/text.h"
#include "runtime/report/waits.h"

/* Columns of marks and of reasons, when what stands before leaves room. */
enum { MARKS = 46, REASON = 62, MAX_TEXT = 512 };

/* Spaces up to a column of the current line, one at least. */
static void tab(str *out, size_t line, size_t column)
{
    size_t at = out->n - line;

    str_printf(out, "%*s", at < column ? (int)(column - at) : 1, "");
}

/* --- figures ------------------------------------------------------------- */

static uint32_t count_bits(uint64_t x)
{
    return (uint32_t)__builtin_popcountll(x);
}

static void note_operand(isa_operand x, uint64_t used[2])
{
    if ((x.kind == ISA_I || x.kind == ISA_V) && x.number < 64)
        used[x.kind == ISA_V] |= UINT64_C(1) << x.number;
}

listing_figures listing_count(const isa_function *f)
{
    listing_figures n = {.bundles = 0};
    uint64_t used[2] = {0, 0};

    for (uint32_t b = 0; b < f->n_blocks; b++) {
        const isa_instr *in = f->instrs + f->blocks[b].first;

        n.bundles += f->blocks[b].cycles;
        for (uint32_t k = 0; k < f->blocks[b].n_instrs; k++) {
            n.filled += !k || in[k].cycle != in[k - 1].cycle;
            for (unsigned d = 0; d < ISA_MAX_DST; d++)
                note_operand(in[k].dst[d], used);
            for (unsigned s = 0; s < ISA_MAX_SRC; s++)
                note_operand(in[k].src[s], used);
        }
    }
    n.i_registers = count_bits(used[0]);
    n.v_registers = count_bits(used[1]);
    return n;
}

static void figures(const isa_function *f, str *out)
{
    listing_figures n = listing_count(f);

    str_printf(out,
               "; %llu bundles, %u of them with operations; %u operations: "
               "%.2f per bundle, %.2f per filled one\n",
               (unsigned long long)n.bundles, n.filled, f->n_instrs,
               n.bundles ? (double)f->n_instrs / (double)n.bundles : 0,
               n.filled ? (double)f->n_instrs / n.filled : 0);
    str_printf(out,
               "; registers used: %u of %u I, %u of %u V; %u spilled; private "
               "memory: %u bytes\n",
               n.i_registers, ISA_N_IREGS, n.v_registers, ISA_N_VREGS,
               f->n_spills, f->private_bytes);
}

static const isa_instr *branch_of(const isa_function *f, uint32_t block)
{
    const isa_block *b = &f->blocks[block];

    for (uint32_t k = 0; k < b->n_instrs; k++)
        if (isa_ops[f->instrs[b->first + k].op].flags & ISA_F_BRANCH)
            return &f->instrs[b->first + k];
    return NULL;
}

/* Where control goes: a target, the next block, or nowhere. */
static void next_of(const isa_function *f, uint32_t block, str *out)
{
    const isa_instr *in = branch_of(f, block);
    uint32_t next = block + 1;

    if (in && in->op == ISA_OP_ret)
        str_puts(out, "returns");
    else if (in && in->op == ISA_OP_bra)
        str_printf(out, "%d", in->imm);
    else if (in && in->op == ISA_OP_brc)
        str_printf(out, "%d or %u", in->imm, next);
    else if (in && in->op == ISA_OP_rep)
        str_printf(out, "%u, repeated", next);
    else if (next < f->n_blocks)
        str_printf(out, "%u", next);
    else
        str_puts(out, "the end");
}

static void lines_of(const isa_function *f, uint32_t block, str *out)
{
    const isa_block *b = &f->blocks[block];
    uint32_t low = UINT32_MAX, high = 0;

    for (uint32_t k = 0; k < b->n_instrs; k++) {
        uint32_t line = f->instrs[b->first + k].line;

        if (line && line < low)
            low = line;
        if (line > high)
            high = line;
    }
    if (!high)
        str_puts(out, "-");
    else if (low == high)
        str_printf(out, "%u", low);
    else
        str_printf(out, "%u-%u", low, high);
}

const char *listing_block_kind(uint8_t kind)
{
    static const char *const kinds[] = {"plain", "prologue", "kernel",
                                        "epilogue"};

    return kinds[kind];
}

static void table(const isa_function *f, str *out)
{
    str_puts(out, "; block  kind      cycles  operations  lines      then\n");
    for (uint32_t k = 0; k < f->n_blocks; k++) {
        const isa_block *b = &f->blocks[k];
        size_t line = out->n;

        str_printf(out, "; %5u  %-8s  %6u  %10u  ", k,
                   listing_block_kind(b->kind), b->cycles, b->n_instrs);
        lines_of(f, k, out);
        tab(out, line, 48);
        next_of(f, k, out);
        str_puts(out, "\n");
    }
}

/* --- bundles ------------------------------------------------------------- */

static void gap(const isa_function *f, uint32_t block, uint32_t from,
                uint32_t to, str *out)
{
    size_t line = out->n;
    str why = {0};

    if (to <= from)
        return;
    if (to == from + 1)
        str_printf(out, "  %u: -", from);
    else
        str_printf(out, "  %u..%u: -", from, to - 1);
    waits_of_gap(f, block, from, &why);
    if (why.n) {
        tab(out, line, REASON);
        str_printf(out, "; %s", str_text(&why));
    }
    str_puts(out, "\n");
    str_free(&why);
}

static void operation(const isa_function *f, uint32_t block, uint32_t k,
                      bool first, str *out)
{
    const isa_instr *in = &f->instrs[k];
    char text[MAX_TEXT];
    size_t line = out->n;
    str why = {0};

    if (first)
        str_printf(out, "  %u:", in->cycle);
    tab(out, line, 7);
    isa_print_op(in, text, sizeof text);
    str_printf(out, "%s%s", first ? "   " : "|| ", text);
    tab(out, line, MARKS);
    isa_print_marks(in, text, sizeof text);
    str_puts(out, text);
    waits_of_op(f, block, k, &why);
    if (why.n) {
        tab(out, line, REASON);
        str_printf(out, "; %s", str_text(&why));
    }
    str_puts(out, "\n");
    str_free(&why);
}

/* Lines the bundle is the first to come from. */
static void source_lines(const isa_function *f, uint32_t k, uint32_t end,
                         const listing_source *src, bool *shown, str *out)
{
    for (uint32_t cycle = f->instrs[k].cycle;
         k < end && f->instrs[k].cycle == cycle; k++) {
        uint32_t line = f->instrs[k].line;

        if (!line || line > src->n_lines || shown[line - 1])
            continue;
        shown[line - 1] = true;
        str_printf(out, "; %u: %.*s\n", line, (int)src->lengths[line - 1],
                   src->lines[line - 1]);
    }
}

static void block(const isa_function *f, uint32_t n, const listing_source *src,
                  bool *shown, str *out)
{
    const isa_block *b = &f->blocks[n];
    uint32_t next = 0, end = b->first + b->n_instrs;
    char text[MAX_TEXT];

    isa_print_block(f, n, text, sizeof text);
    str_printf(out, "\n%s", text);
    if (b->kind == ISA_KERNEL)
        str_printf(out, "; an iteration every %u cycles, %u at once\n",
                   b->cycles, b->n_stages);
    for (uint32_t k = b->first; k < end; k++) {
        const isa_instr *in = &f->instrs[k];
        bool first = k == b->first || in[-1].cycle != in->cycle;

        if (first) {
            gap(f, n, next, in->cycle, out);
            if (src)
                source_lines(f, k, end, src, shown, out);
        }
        operation(f, n, k, first, out);
        next = in->cycle + 1;
    }
    gap(f, n, next, b->cycles, out);
}

void listing_print(const isa_function *f, const listing_source *src, str *out)
{
    bool *shown = src ? calloc(src->n_lines + 1, sizeof *shown) : NULL;
    size_t n = isa_print_head(f, NULL, 0);
    char *head = malloc(n + 1);

    figures(f, out);
    table(f, out);
    if (head) {
        isa_print_head(f, head, n + 1);
        str_add(out, head, n);
    }
    for (uint32_t k = 0; k < f->n_blocks; k++)
        block(f, k, shown ? src : NULL, shown, out);
    free(head);
    free(shown);
}
