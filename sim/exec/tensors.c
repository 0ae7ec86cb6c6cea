/* See tensors.h. */
#include "sim/exec/tensors.h"

static bool lies_in(uint32_t address, const memory_buffer *b)
{
    return address - b->address < b->bytes;
}

static bool is_told(const exec_launch *l, const memory_buffer *b)
{
    for (uint32_t i = 0; i < l->n_tensors; i++)
        if (lies_in(l->tensors[i].address, b))
            return true;
    return false;
}

static mach_buffer place(const exec_launch *l, const memory *mem,
                         const exec_tensor *t)
{
    const sim_kernel *k = l->kernel;
    mach_buffer b = {
        .name = t->name,
        .place = mach_place_of(memory_places(mem), t->address),
        .bytes = t->bytes,
    };

    for (uint32_t i = 0; i < k->n_args && !b.argument; i++) {
        const sim_arg *x = &k->args[i];

        if ((x->space != SIM_ARG_GLOBAL && x->space != SIM_ARG_CONSTANT) ||
            x->object_bytes || l->values[i].as.address - t->address >= t->bytes)
            continue;
        b.argument = x->name;
        b.element_bytes = x->element_bytes;
    }
    return b;
}

void exec_tensors_place(const exec_launch *l, const memory *mem,
                        mach_launch *ml, arena *a)
{
    size_t n_buffers = memory_count(mem);
    mach_buffer *list = arena_array(a, mach_buffer, n_buffers + l->n_tensors);
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->n_tensors; i++)
        list[n++] = place(l, mem, &l->tensors[i]);
    for (size_t i = 0; i < n_buffers; i++) {
        const memory_buffer *b = memory_buffer_at(mem, i);

        if (!is_told(l, b))
            list[n++] = place(l, mem,
                              &(const exec_tensor){.name = b->name,
                                                   .address = b->address,
                                                   .bytes = b->bytes});
    }
    mach_buffers_sort(list, n);
    ml->buffers = list;
    ml->n_buffers = n;
}
