#include "sim/exec/cmx.h"

#include <string.h>

static uint64_t up_to(uint64_t n, uint64_t align)
{
    return (n + align - 1) / align * align;
}

static uint64_t up(uint64_t n)
{
    return up_to(n, SIM_ALIGN);
}

/* Where local_data of that type may begin from there on. */
static uint64_t place_of(uint64_t at, const sim_arg *x)
{
    uint64_t align = SIM_ALIGN;

    while (align < x->element_bytes && align < SIM_MOST_ALIGN)
        align *= 2;
    return up_to(at, align);
}

bool cmx_has_phases(const sim_kernel *k)
{
    return k->variants[SIM_PRELOAD].present ||
           k->variants[SIM_POSTWRITE].present;
}

static uint64_t group_items(const exec_launch *l, uint32_t factor)
{
    return (uint64_t)l->local[0] * l->local[1] * l->local[2] / factor;
}

/* --- what a group needs --------------------------------------------------- */

/* Private arrays and values kept across barriers: the most of any phase. */
static void add_private(const exec_launch *l, sim_variant_kind variant,
                        cmx_layout *c)
{
    const sim_variant_kind parts[] = {variant, SIM_PRELOAD, SIM_POSTWRITE};

    for (int p = 0; p < 3; p++) {
        const sim_variant *v = &l->kernel->variants[parts[p]];
        uint64_t items;

        if (!v->present)
            continue;
        items = group_items(l, v->factor) * v->item_bytes;
        if (v->stack_bytes > c->private_bytes)
            c->private_bytes = v->stack_bytes;
        if (items > c->kept_bytes)
            c->kept_bytes = items;
    }
}

/* What groups take turns in: local_data of a kernel with phases in its source,
 * what the copies touch that a kernel's phases were made of. Those arrays of
 * the program lie there once: groups run one behind the other here, and what a
 * group leaves in them no other one reads. */
static bool is_twice(const sim_kernel *k, uint32_t arg)
{
    return k->args[arg].space == SIM_ARG_LOCAL &&
           (k->hoisted ? k->args[arg].twice : cmx_has_phases(k));
}

/* Of local_data that is there twice, or once. */
static uint64_t arg_bytes(const exec_launch *l, bool twice)
{
    const sim_kernel *k = l->kernel;
    uint64_t n = 0;

    for (uint32_t i = 0; i < k->n_args; i++)
        if (k->args[i].space == SIM_ARG_LOCAL && is_twice(k, i) == twice)
            n += up(l->values[i].as.bytes);
    return n;
}

/* Where they end that begin there, each with its guard behind it. */
static uint64_t args_end(const exec_launch *l, bool twice, uint64_t at,
                         uint32_t guard)
{
    const sim_kernel *k = l->kernel;

    for (uint32_t i = 0; i < k->n_args; i++)
        if (k->args[i].space == SIM_ARG_LOCAL && is_twice(k, i) == twice)
            at = place_of(at, &k->args[i]) + up(l->values[i].as.bytes) + guard;
    return at;
}

static uint64_t twice_bytes(const exec_launch *l)
{
    const sim_kernel *k = l->kernel;
    uint64_t n = arg_bytes(l, true);

    for (uint32_t i = 0; i < k->n_locals; i++)
        if (k->locals[i].twice)
            n += up(k->locals[i].bytes);
    return n;
}

static void place(const exec_launch *l, cmx_layout *c)
{
    const uint64_t most = SIM_MOST_ALIGN;

    c->once = up_to(l->kernel->local_span, most);
    c->slot[0] = up_to(args_end(l, false, c->once, c->guard), most);
    c->slot[1] = c->slot[0];
    c->stack = up_to(args_end(l, true, c->slot[0], c->guard), most);
    if (c->copies > 1) {
        c->slot[1] = c->stack;
        c->stack = up_to(args_end(l, true, c->slot[1], c->guard), most);
    }
    c->kept = up_to(c->stack + c->private_bytes, most);
    c->span = c->kept + c->kept_bytes;
}

/* copies: of arrays that groups take turns in, 1 or 2. */
static cmx_layout lay_with(const exec_launch *l, sim_variant_kind variant,
                           unsigned copies)
{
    const sim_kernel *k = l->kernel;
    cmx_layout c = {.copies = copies, .guard = k->guard};

    add_private(l, variant, &c);
    c.total = k->local_bytes + arg_bytes(l, false) + arg_bytes(l, true) +
              (copies - 1) * twice_bytes(l) + up(c.private_bytes) +
              c.kept_bytes;
    place(l, &c);
    return c;
}

/* A kernel with phases has its arrays twice, or once where they do not fit
 * twice: published shapes need that [assumed: what the firmware does then is
 * not documented]. */
static cmx_layout lay(const exec_launch *l, sim_variant_kind variant,
                      uint64_t budget)
{
    cmx_layout twice = lay_with(l, variant, 2);
    bool two = cmx_has_phases(l->kernel) && twice.total <= budget;

    return two ? twice : lay_with(l, variant, 1);
}

static void list_one(str *list, const char *what, const char *name,
                     uint64_t bytes, bool twice)
{
    str_printf(list, "\n  %8llu  %s '%s'%s",
               (unsigned long long)(twice ? 2 * bytes : bytes), what, name,
               twice ? ", twice for double buffering" : "");
}

static void list_consumers(const exec_launch *l, const cmx_layout *c, str *list)
{
    const sim_kernel *k = l->kernel;

    for (uint32_t i = 0; i < k->n_locals; i++)
        list_one(list, "__local array", k->locals[i].name, k->locals[i].bytes,
                 c->copies > 1 && k->locals[i].twice);
    for (uint32_t i = 0; i < k->n_args; i++)
        if (k->args[i].space == SIM_ARG_LOCAL)
            list_one(list, "local_data", k->args[i].name, l->values[i].as.bytes,
                     c->copies > 1 && is_twice(k, i));
    if (c->private_bytes)
        str_printf(list, "\n  %8llu  private arrays",
                   (unsigned long long)c->private_bytes);
    if (c->kept_bytes)
        str_printf(list, "\n  %8llu  private values kept across barriers",
                   (unsigned long long)c->kept_bytes);
}

uint32_t exec_local_bytes(const exec_launch *l, sim_variant_kind variant,
                          uint64_t budget, str *list)
{
    cmx_layout c = lay(l, variant, budget);

    if (list)
        list_consumers(l, &c, list);
    return c.total > UINT32_MAX ? UINT32_MAX : (uint32_t)c.total;
}

static vpu_status too_much(const exec_launch *l, const cmx_layout *c,
                           uint64_t needed, uint64_t budget, vpu_error *err)
{
    str list = {0};

    list_consumers(l, c, &list);
    err_set(err, VPU_ERR_LIMIT,
            "%s: kernel '%s' needs %llu bytes of local memory per work-group, "
            "the device has %llu:%s",
            l->name, l->kernel->name, (unsigned long long)needed,
            (unsigned long long)budget, str_text(&list));
    str_free(&list);
    return VPU_ERR_LIMIT;
}

vpu_status cmx_lay_out(const exec_launch *l, sim_variant_kind variant,
                       const mach_desc *desc, const memory *mem,
                       cmx_layout *out, vpu_error *err)
{
    uint64_t budget = desc->ocl_local_budget, needed, arrays;

    *out = lay(l, variant, budget);
    arrays = out->total - up(out->private_bytes) - out->kept_bytes;
    needed = out->total;
    /* Code for a debugger keeps every variable in memory, which the device's
     * limit is not about. */
    if (l->kernel->roomy && arrays <= budget)
        budget = memory_cmx_bytes(mem);
    else if (l->kernel->roomy)
        needed = arrays;
    if (needed > budget)
        return too_much(l, out, needed, budget, err);
    /* Very many arrays: those of the program keep their guards. */
    if (out->span > memory_cmx_span(mem)) {
        out->guard = 0;
        place(l, out);
    }
    return out->span <= memory_cmx_span(mem)
               ? VPU_OK
               : too_much(l, out, out->span, memory_cmx_span(mem), err);
}

/* --- where it lies -------------------------------------------------------- */

uint8_t *cmx_args(const exec_launch *l, const cmx_layout *c, int slot,
                  uint32_t cmx, arena *a)
{
    const sim_kernel *k = l->kernel;
    uint64_t once = cmx + c->once, twice = cmx + c->slot[slot];
    uint8_t *block = arena_push(a, k->args_bytes + 16, 1, 64);

    for (uint32_t i = 0; i < k->n_args; i++) {
        const exec_value *v = &l->values[i];
        uint8_t *at = block + k->args[i].offset;

        if (k->args[i].space == SIM_ARG_LOCAL) {
            uint64_t *place = is_twice(k, i) ? &twice : &once;
            uint32_t address = (uint32_t)place_of(*place, &k->args[i]);

            memcpy(at, &address, 4);
            *place = address + up(v->as.bytes) + c->guard;
        } else if (k->args[i].space == SIM_ARG_SCALAR) {
            memcpy(at, v->as.raw, k->args[i].bytes);
        } else {
            memcpy(at, &v->as.address, 4);
        }
    }
    return block;
}

static cmx_guard behind(const char *array, uint64_t at, uint32_t bytes,
                        uint32_t guard)
{
    return (cmx_guard){.from = (uint32_t)at + bytes,
                       .bytes = up(bytes) - bytes + guard,
                       .array = array,
                       .array_bytes = bytes};
}

/* Of local_data from that offset on; returns how many. */
static uint32_t guard_args(const exec_launch *l, const cmx_layout *c,
                           uint64_t at, bool twice, cmx_guard *list)
{
    const sim_kernel *k = l->kernel;
    uint32_t n = 0;

    for (uint32_t i = 0; i < k->n_args; i++)
        if (k->args[i].space == SIM_ARG_LOCAL && is_twice(k, i) == twice) {
            list[n] = behind(k->args[i].name, place_of(at, &k->args[i]),
                             l->values[i].as.bytes, c->guard);
            at = list[n].from + list[n].bytes;
            n++;
        }
    return n;
}

uint32_t cmx_guards(const exec_launch *l, const cmx_layout *c, arena *a,
                    const cmx_guard **out)
{
    const sim_kernel *k = l->kernel;
    cmx_guard *list =
        arena_array(a, cmx_guard, k->n_locals + 2 * k->n_args + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < k->n_locals && k->guard; i++)
        list[n++] = behind(k->locals[i].name, k->locals[i].offset,
                           k->locals[i].bytes, k->guard);
    if (c->guard)
        n += guard_args(l, c, c->once, false, list + n);
    for (unsigned slot = 0; slot < c->copies && c->guard; slot++)
        n += guard_args(l, c, c->slot[slot], true, list + n);
    *out = list;
    return n;
}

/* One of local_data, which begins at *at[slot] or behind that. */
static mach_local part_of(const exec_launch *l, const cmx_layout *c, uint32_t i,
                          uint64_t at[2])
{
    const sim_arg *x = &l->kernel->args[i];
    mach_local part = {.name = x->name,
                       .bytes = (uint32_t)up(l->values[i].as.bytes),
                       .doubled = c->copies > 1 && is_twice(l->kernel, i)};

    for (int slot = 0; slot < 2; slot++) {
        uint64_t place = place_of(at[slot], x);

        part.at[slot] = (uint32_t)place + 1;
        at[slot] = place + part.bytes + c->guard;
    }
    return part;
}

void cmx_name_parts(const exec_launch *l, const cmx_layout *c, mach_launch *ml,
                    arena *a)
{
    const sim_kernel *k = l->kernel;
    mach_local *parts = arena_array(a, mach_local, k->n_locals + k->n_args + 2);
    uint64_t once[2] = {c->once, c->once};
    uint64_t twice[2] = {c->slot[0], c->slot[1]};
    uint32_t n = 0;

    for (uint32_t i = 0; i < k->n_locals; i++)
        parts[n++] = (mach_local){
            .name = k->locals[i].name,
            .bytes = k->locals[i].bytes,
            .doubled = c->copies > 1 && k->locals[i].twice,
            .at = {k->locals[i].offset + 1, k->locals[i].offset + 1}};
    for (uint32_t i = 0; i < k->n_args; i++)
        if (k->args[i].space == SIM_ARG_LOCAL)
            parts[n++] = part_of(l, c, i, is_twice(k, i) ? twice : once);
    if (c->private_bytes)
        parts[n++] = (mach_local){.name = "private arrays",
                                  .bytes = up(c->private_bytes)};
    if (c->kept_bytes)
        parts[n++] = (mach_local){.name = "values kept across barriers",
                                  .bytes = (uint32_t)c->kept_bytes};
    ml->locals = parts;
    ml->n_locals = n;
}
