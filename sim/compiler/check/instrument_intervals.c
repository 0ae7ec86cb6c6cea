/* Loads of local memory that no store can meet: between two barriers that order
 * local memory, the code has stores to other arrays only. Copies and waits end
 * no interval. */
#include <string.h>

#include "sim/compiler/abi/hostabi.h"
#include "sim/compiler/check/instrument_priv.h"

typedef struct {
    instrument *x;
    ir_cfg cfg;
    ir_word *written;    /* objects stored to in the interval at hand */
    bool anything;       /* so may be all of them */
    LLVMValueRef *loads; /* checks of its loads */
    size_t n_loads, cap_loads;
    ir_word *racy; /* sites a store may meet in some interval */
} intervals;

static sim_site *site_of(const intervals *v, LLVMValueRef i)
{
    return &v->x->sites->sites[LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0))];
}

static bool ends_interval(const intervals *v, LLVMValueRef i)
{
    LLVMValueRef at = LLVMGetPreviousInstruction(i);

    /* The barrier's own site stands in front of it. */
    return ir_call_id(i) == CALL_barrier && at &&
           ir_call_id(at) == CALL_check_at && site_of(v, at)->fences & 1;
}

static void see_store(intervals *v, uint32_t object)
{
    if (object)
        ir_bit_set(v->written, object);
    else
        v->anything = true;
}

static void see(intervals *v, LLVMValueRef i)
{
    call_id id = ir_call_id(i);

    if (call_is_access(id)) {
        const sim_site *s = site_of(v, i);

        if (s->kind == SITE_LOAD)
            *arena_append(v->x->arena, v->loads, v->n_loads, v->cap_loads) = i;
        else
            see_store(v, s->object);
    } else if (id == CALL_check_block) {
        see_store(v, site_of(v, i)->object);
    } else if (id == CALL_dma) {
        uint32_t site =
            (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(i, SIM_DMA_LINE));

        see_store(v, v->x->sites->sites[site].object);
    }
}

/* All code from instruction i of block b up to the next barriers. */
static void walk(intervals *v, uint32_t b, LLVMValueRef i, ir_word *seen)
{
    for (; i; i = LLVMGetNextInstruction(i)) {
        if (ends_interval(v, i))
            return;
        see(v, i);
    }
    for (uint32_t k = 1; k <= v->cfg.succs[b][0]; k++) {
        uint32_t to = v->cfg.succs[b][k];

        if (ir_bit(seen, to))
            continue;
        ir_bit_set(seen, to);
        walk(v, to, LLVMGetFirstInstruction(v->cfg.blocks[to]), seen);
    }
}

static void look_at(intervals *v, uint32_t b, LLVMValueRef first)
{
    uint32_t n_objects = v->x->sites->n_objects;

    v->written = ir_bits(v->x->arena, n_objects);
    v->anything = false;
    v->n_loads = 0;
    walk(v, b, first, ir_bits(v->x->arena, v->cfg.n_blocks));
    for (size_t k = 0; k < v->n_loads; k++) {
        LLVMValueRef i = v->loads[k];
        uint32_t object = site_of(v, i)->object;

        if (v->anything || !object || ir_bit(v->written, object))
            ir_bit_set(v->racy, (uint32_t)LLVMConstIntGetZExtValue(
                                    LLVMGetOperand(i, 0)));
    }
}

/* Elements of arrays that are used in no other unit. Followed values have
 * states of their own, byte by byte. */
void instrument_elements(instrument *x)
{
    sim_sites *all = x->sites;
    bool *mixed = arena_array(x->arena, bool, all->n_objects);

    for (uint32_t i = 1; i < all->n_sites; i++) {
        const sim_site *s = &all->sites[i];
        sim_object *o = &all->objects[s->object];

        if (s->kind == SITE_COPY)
            mixed[s->object] = mixed[s->from] = true;
        else if (s->kind == SITE_BLOCK_WRITE || s->kind == SITE_BLOCK_READ)
            mixed[s->object] = true;
        if (s->kind < SITE_LOAD || s->kind > SITE_ATOMIC)
            continue;
        if (s->align != 1 || (o->element && o->element != s->bytes))
            mixed[s->object] = true;
        o->element = s->bytes;
    }
    /* Object 0 is whatever pointers may point to. */
    for (uint32_t i = 0; i < all->n_objects; i++)
        if (mixed[i] || mixed[0] || all->objects[0].element || all->tainted)
            all->objects[i].element = i ? 0 : all->objects[0].element;
}

void instrument_intervals(instrument *x, LLVMValueRef fn)
{
    intervals v = {.x = x};

    ir_cfg_build(&v.cfg, fn, x->arena);
    v.racy = ir_bits(x->arena, x->sites->n_sites);
    look_at(&v, 0, LLVMGetFirstInstruction(v.cfg.blocks[0]));
    for (uint32_t b = 0; b < v.cfg.n_blocks; b++)
        ir_each_inst(i, v.cfg.blocks[b])
            if (ends_interval(&v, i))
                look_at(&v, b, LLVMGetNextInstruction(i));
    for (uint32_t b = 0; b < v.cfg.n_blocks; b++)
        ir_each_inst(i, v.cfg.blocks[b]) {
            const sim_object *o;
            sim_site *s;

            if (!call_is_access(ir_call_id(i)))
                continue;
            s = site_of(&v, i);
            o = &x->sites->objects[s->object];
            s->only_read = s->kind == SITE_LOAD && sim_object_is_local(o) &&
                           !o->copied && !x->copies_unknown &&
                           !ir_bit(v.racy, (uint32_t)LLVMConstIntGetZExtValue(
                                               LLVMGetOperand(i, 0)));
        }
}
