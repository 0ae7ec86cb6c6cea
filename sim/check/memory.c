/* Which buffer or array an address belongs to. */
#include <string.h>

#include "sim/check/session_priv.h"

check_region *bounds_region(check_session *s, uint32_t addr)
{
    for (size_t i = 0; i < s->n_buffers; i++) {
        check_region *r = &s->buffers[i];

        if (addr >= r->address && addr - r->address < r->bytes)
            return r;
    }
    return NULL;
}

bool bounds_tracked(check_session *s, uint32_t addr)
{
    return addr - s->wg->local_base < memory_cmx_bytes(s->mem) ||
           bounds_region(s, addr);
}

static void of_region(const check_region *r, const char *arg, check_extent *out)
{
    *out = (check_extent){.memory = {.kind = SIM_MEM_ARG,
                                     .name = r->name,
                                     .arg = arg,
                                     .buffer = r->number,
                                     .bytes = (int64_t)r->bytes},
                          .base = r->address};
}

static void of_local(const char *name, int64_t base, int64_t bytes,
                     sim_mem_kind kind, check_extent *out)
{
    *out = (check_extent){.memory = {.kind = kind,
                                     .local = true,
                                     .name = name,
                                     .arg = "",
                                     .bytes = bytes},
                          .base = base,
                          .cmx = true};
}

static uint32_t arg_address(const check_session *s, uint32_t i)
{
    uint32_t at;

    memcpy(&at, s->args + s->launch->kernel->args[i].offset, 4);
    return at;
}

static bool of_arg(check_session *s, uint32_t i, check_extent *out)
{
    const sim_arg *g = &s->launch->kernel->args[i];
    const check_region *r;

    if (g->space == SIM_ARG_LOCAL) {
        of_local(g->name, arg_address(s, i), s->launch->values[i].as.bytes,
                 SIM_MEM_ARG, out);
        return true;
    }
    r = bounds_region(s, s->launch->values[i].as.address);
    if (r)
        of_region(r, g->name, out);
    return r != NULL;
}

/* A pointer nobody followed: only where it points to is known. */
static bool by_address(check_session *s, uint32_t addr, check_extent *out)
{
    const sim_kernel *k = s->launch->kernel;
    const sim_wg *wg = s->wg;
    const check_region *r = bounds_region(s, addr);

    if (r) {
        of_region(r, "", out);
        return true;
    }
    for (uint32_t i = 0; i < k->n_args; i++) {
        uint32_t at;

        if (k->args[i].space != SIM_ARG_LOCAL)
            continue;
        at = arg_address(s, i);
        if (addr >= at && addr - at < s->launch->values[i].as.bytes)
            return of_arg(s, i, out);
    }
    for (uint32_t i = 0; i < k->n_locals; i++) {
        uint32_t at = wg->local_base + k->locals[i].offset;

        if (addr >= at && addr - at < k->locals[i].bytes) {
            of_local(k->locals[i].name, at, k->locals[i].bytes, SIM_MEM_LOCAL,
                     out);
            return true;
        }
    }
    if (addr >= wg->const_base && addr - wg->const_base < k->const_bytes) {
        *out = (check_extent){.memory = {.kind = SIM_MEM_CONSTANT,
                                         .name = "__constant data",
                                         .arg = "",
                                         .bytes = k->const_bytes},
                              .base = wg->const_base};
        return true;
    }
    if (addr >= wg->stack_base &&
        addr - wg->local_base < memory_cmx_bytes(s->mem)) {
        of_local("", wg->stack_base,
                 (int64_t)memory_cmx_bytes(s->mem) -
                     (wg->stack_base - wg->local_base),
                 SIM_MEM_PRIVATE, out);
        out->private = true;
        return true;
    }
    return false;
}

bool bounds_find(check_session *s, uint32_t object, uint32_t root,
                 uint32_t addr, check_extent *out)
{
    const sim_object *o = &s->sites->objects[object];
    bool found = true;

    switch (root ? o->kind : SIM_MEM_UNKNOWN) {
    case SIM_MEM_ARG:
        found = of_arg(s, o->index, out);
        break;
    case SIM_MEM_LOCAL:
        of_local(o->name, root, o->bytes, o->kind, out);
        break;
    case SIM_MEM_PRIVATE:
        of_local(o->name, root, o->bytes, o->kind, out);
        out->private = true;
        break;
    case SIM_MEM_CONSTANT:
        *out = (check_extent){.memory = {.kind = o->kind,
                                         .name = o->name,
                                         .arg = "",
                                         .bytes = o->bytes},
                              .base = root};
        break;
    default:
        found = by_address(s, addr, out);
    }
    if (found)
        out->memory.offset = (int64_t)addr - out->base;
    return found;
}
