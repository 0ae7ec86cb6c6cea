/* SHAVE programs as JSON. */
#include "isa/text.h"
#include "runtime/report/listing.h"
#include "runtime/report/waits.h"

enum { MAX_TEXT = 512 };

static json_t *operation(const isa_function *f, uint32_t block, uint32_t k)
{
    const isa_instr *in = &f->instrs[k];
    char text[MAX_TEXT];
    str why = {0};
    json_t *j;

    isa_print_op(in, text, sizeof text);
    j = json_pack("{s:i,s:s}", "cycle", (int)in->cycle, "text", text);
    if (in->line) {
        json_object_set_new(j, "line", json_integer(in->line));
        json_object_set_new(j, "column", json_integer(in->col));
    }
    waits_of_op(f, block, k, &why);
    if (why.n)
        json_object_set_new(j, "reason", json_string(str_text(&why)));
    str_free(&why);
    return j;
}

static json_t *block(const isa_function *f, uint32_t n)
{
    const isa_block *b = &f->blocks[n];
    json_t *ops = json_array();

    for (uint32_t k = b->first; k < b->first + b->n_instrs; k++)
        json_array_append_new(ops, operation(f, n, k));
    return json_pack("{s:s,s:i,s:i,s:o}", "kind", listing_block_kind(b->kind),
                     "cycles", (int)b->cycles, "stages", (int)b->n_stages,
                     "operations", ops);
}

json_t *listing_json(const isa_function *f)
{
    listing_figures n = listing_count(f);
    json_t *blocks = json_array();

    for (uint32_t k = 0; k < f->n_blocks; k++)
        json_array_append_new(blocks, block(f, k));
    return json_pack(
        "{s:{s:I,s:I,s:I,s:I,s:I,s:I,s:I},s:o}", "figures", "bundles",
        (json_int_t)n.bundles, "filled_bundles", (json_int_t)n.filled,
        "operations", (json_int_t)f->n_instrs, "i_registers",
        (json_int_t)n.i_registers, "v_registers", (json_int_t)n.v_registers,
        "spills", (json_int_t)f->n_spills, "private_bytes",
        (json_int_t)f->private_bytes, "blocks", blocks);
}
