/* Follows addresses back to ids and counters; see boxes.h. */
#include <llvm-c/Target.h>
#include <string.h>

#include "sim/compiler/middle/boxes_priv.h"
#include "sim/compiler/middle/middle_priv.h"

/* But for the number added. */
static bool same_text(const boxes_expr *x, const boxes_expr *y)
{
    return x->text && y->text ? !strcmp(x->text, y->text) : x->text == y->text;
}

static bool same_expr(const boxes_expr *x, const boxes_expr *y)
{
    return x->add == y->add && same_text(x, y);
}

/* The least and the number of values of a coordinate. */
static void bound(const boxes_finder *f, const boxes_coordinate *c,
                  boxes_expr *base, boxes_expr *extent)
{
    const boxes_expr one = boxes_number(1);

    *base = c->base;
    *extent = boxes_number(1);
    for (uint32_t i = 0; i < c->n_vars; i++) {
        const boxes_range *r = &f->ranges[c->vars[i].range];
        boxes_expr last = boxes_minus(f, &r->count, &one), way = c->vars[i].by;

        if (way.value < 0) {
            boxes_expr down = boxes_times(f, &way, &last);

            *base = boxes_plus(f, base, &down);
            way = boxes_times(
                f, &way,
                &(const boxes_expr){.add = -1, .fixed = true, .value = -1});
        }
        way = boxes_times(f, &way, &last);
        *extent = boxes_plus(f, extent, &way);
    }
}

typedef struct {
    boxes_expr base[4], extent[4];
    bool any;
    /* Of the first access, and the first store, that touches all of its own
     * part always. */
    bool full, full_store;
    boxes_expr full_base[2][4], full_extent[2][4];
} span;

/* The coordinates of an address of tensor t. NULL: fine, else the reason. */
static const char *coordinates(const boxes_tensor *t, const boxes_value *v,
                               boxes_coordinate out[4])
{
    const boxes_expr one = boxes_number(1);
    bool offset = false;

    for (int d = 0; d < 4; d++)
        out[d] = (boxes_coordinate){.base = boxes_number(0)};
    for (uint32_t i = 0; i < v->n; i++) {
        const boxes_coordinate *c = &v->parts[i].c;
        int d = 0;

        if (v->parts[i].symbol == (int)t->offset) {
            if (c->n_vars || !boxes_is_number(&c->base) ||
                c->base.add != one.add)
                return "the offset counts more than once";
            offset = true;
            continue;
        }
        while (d < 4 && v->parts[i].symbol != (int)t->pitches[d])
            d++;
        if (d < 4)
            out[d] = *c;
        else if (v->parts[i].symbol != BOXES_NO_SYMBOL || c->n_vars ||
                 !boxes_is_number(&c->base) || c->base.add)
            return "it is not made of this tensor's pitches alone";
    }
    return offset ? NULL : "the tensor's offset is not in it";
}

/* Both must be the same text plus a number, or numbers. */
static bool join_bounds(const boxes_finder *f, boxes_expr *base,
                        boxes_expr *extent, const boxes_expr *base2,
                        const boxes_expr *extent2)
{
    boxes_expr low, reach, reach2, distance;

    if (!same_text(base, base2))
        return false;
    low = base->add <= base2->add ? *base : *base2;
    distance = boxes_number(base->add - low.add);
    reach = boxes_plus(f, extent, &distance);
    distance = boxes_number(base2->add - low.add);
    reach2 = boxes_plus(f, extent2, &distance);
    *base = low;
    if (same_text(&reach, &reach2)) {
        *extent = reach.add >= reach2.add ? reach : reach2;
    } else {
        *extent = (boxes_expr){
            .text = arena_printf(f->a, "max(%s, %s)", boxes_text(f, &reach),
                                 boxes_text(f, &reach2)),
            .fixed = true,
            .value = reach.value >= reach2.value ? reach.value : reach2.value};
    }
    return true;
}

/* Whether coordinates with these variables take every value of their spans:
 * each variable in one of them alone, and in each, from the smallest step on,
 * a step is what those below it fill. */
static bool fills(const boxes_finder *f, const boxes_coordinate c[4])
{
    uint32_t used[BOXES_RANGES] = {0};

    for (int d = 0; d < 4; d++) {
        bool taken[BOXES_VARS] = {false};
        boxes_expr reach = boxes_number(1);

        for (uint32_t n = 0; n < c[d].n_vars; n++) {
            uint32_t k = 0;

            while (k < c[d].n_vars &&
                   (taken[k] || c[d].vars[k].by.value != reach.value ||
                    !same_expr(&c[d].vars[k].by, &reach)))
                k++;
            if (k == c[d].n_vars || used[c[d].vars[k].range]++)
                return false;
            taken[k] = true;
            reach =
                boxes_times(f, &reach, &f->ranges[c[d].vars[k].range].count);
        }
    }
    return true;
}

static void cannot(boxes_box *box, LLVMValueRef inst, const char *why)
{
    if (!box->known)
        return;
    box->known = false;
    box->why = why;
    box->line = ir_line_near(inst);
}

static void keep_full(span *s, bool writes, const boxes_expr base[4],
                      const boxes_expr extent[4])
{
    for (int w = 0; w <= writes; w++) {
        if (w ? s->full_store : s->full)
            continue;
        *(w ? &s->full_store : &s->full) = true;
        memcpy(s->full_base[w], base, 4 * sizeof *base);
        memcpy(s->full_extent[w], extent, 4 * sizeof *extent);
    }
}

/* Whether one access (w = 1: one store) touches all that any of them does. */
static bool one_does_all(const span *s, int w)
{
    bool all = w ? s->full_store : s->full;

    for (int d = 0; d < 4 && all; d++)
        all = same_expr(&s->full_base[w][d], &s->base[d]) &&
              same_expr(&s->full_extent[w][d], &s->extent[d]);
    return all;
}

static void meet_access(boxes_finder *f, LLVMValueRef inst,
                        LLVMValueRef pointer, LLVMTypeRef type, bool writes,
                        boxes_box *boxes, span *spans)
{
    LLVMTargetDataRef td = LLVMGetModuleDataLayout(LLVMGetGlobalParent(f->fn));
    boxes_value v = boxes_follow(f, pointer);
    uint32_t k = 0;
    boxes_coordinate c[4];
    boxes_expr base_of[4], extent_of[4];
    uint32_t block = ir_cfg_number(&f->cfg, LLVMGetInstructionParent(inst));
    const char *why;
    boxes_box *box;

    while (k < f->job->n_tensors &&
           (v.pointer < 0 || (int)f->job->tensors[k].pointer != v.pointer))
        k++;
    if (k == f->job->n_tensors)
        return; /* told by who made the pointer, in spoil_unknown */
    box = &boxes[k];
    box->touched = true;
    box->read |= !writes;
    box->written |= writes;
    if (LLVMABISizeOfType(td, type) != f->job->tensors[k].element_bytes) {
        cannot(box, inst, "several elements are accessed at once");
        return;
    }
    why = coordinates(&f->job->tensors[k], &v, c);
    if (why) {
        cannot(box, inst, why);
        return;
    }
    for (int d = 0; d < 4; d++) {
        if (!boxes_counts_in(f, &c[d], block)) {
            cannot(box, inst, "it uses a counter outside of the loop's body");
            return;
        }
        bound(f, &c[d], &base_of[d], &extent_of[d]);
        if (!spans[k].any) {
            spans[k].base[d] = base_of[d];
            spans[k].extent[d] = extent_of[d];
        } else if (!join_bounds(f, &spans[k].base[d], &spans[k].extent[d],
                                &base_of[d], &extent_of[d])) {
            cannot(box, inst,
                   "accesses begin at places that have nothing to "
                   "do with each other");
            return;
        }
        if (!boxes_is_sound(&spans[k].base[d]) ||
            !boxes_is_sound(&spans[k].extent[d])) {
            cannot(box, inst, "its expression is too long");
            return;
        }
    }
    why = !fills(f, c) ? "elements between those it stores stay as they are"
          : !boxes_always_runs(f, block) ? "it stores under a condition"
                                         : NULL;
    if (!why)
        keep_full(&spans[k], writes, base_of, extent_of);
    if (writes && why)
        box->not_filled = why;
    spans[k].any = true;
}

/* The argument that a pointer is behind, however it is computed; -1: none. */
static int root(const boxes_finder *f, LLVMValueRef p, unsigned depth)
{
    if (LLVMIsAArgument(p)) {
        int i = 0;

        while (LLVMGetParam(f->fn, (unsigned)i) != p)
            i++;
        return i;
    }
    if (!LLVMIsAInstruction(p) || depth == BOXES_DEPTH)
        return -1;
    return LLVMIsAGetElementPtrInst(p) || LLVMIsACastInst(p)
               ? root(f, LLVMGetOperand(p, 0), depth + 1)
               : -1;
}

/* A use of a tensor's pointer that is no load, store or step: what happens
 * there is not known. */
static void spoil_unknown(boxes_finder *f, LLVMValueRef inst, boxes_box *boxes)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(inst);
    int n = LLVMGetNumOperands(inst);

    for (int i = 0; i < n; i++) {
        LLVMValueRef p = LLVMGetOperand(inst, (unsigned)i);
        bool address = (op == LLVMLoad && i == 0) ||
                       (op == LLVMStore && i == 1) ||
                       (op == LLVMGetElementPtr && i == 0);
        boxes_value v = {.pointer = -1};
        int argument;

        if (LLVMGetTypeKind(LLVMTypeOf(p)) != LLVMPointerTypeKind)
            continue;
        argument = root(f, p, 0);
        if (address && op != LLVMGetElementPtr)
            v = boxes_follow(f, p);
        for (uint32_t k = 0; k < f->job->n_tensors; k++) {
            if ((int)f->job->tensors[k].pointer != argument ||
                (address && op == LLVMGetElementPtr))
                continue;
            boxes[k].touched = true;
            if (address && v.why)
                cannot(&boxes[k], inst, v.why);
            else if (!address)
                cannot(&boxes[k], inst,
                       op == LLVMCall
                           ? arena_printf(f->a, "its address goes to %s",
                                          ir_callee(inst))
                           : "its address is put elsewhere");
        }
    }
}

static void find_all(boxes_finder *f, boxes_box *out)
{
    span *spans = arena_array(f->a, span, f->job->n_tensors + 1);

    for (uint32_t k = 0; k < f->job->n_tensors; k++)
        out[k] = (boxes_box){.known = true};
    ir_each_block(b, f->fn)
        ir_each_inst(i, b) {
            LLVMOpcode op = LLVMGetInstructionOpcode(i);

            spoil_unknown(f, i, out);
            if (op == LLVMLoad)
                meet_access(f, i, LLVMGetOperand(i, 0), LLVMTypeOf(i), false,
                            out, spans);
            else if (op == LLVMStore)
                meet_access(f, i, LLVMGetOperand(i, 1),
                            LLVMTypeOf(LLVMGetOperand(i, 0)), true, out, spans);
        }
    for (uint32_t k = 0; k < f->job->n_tensors; k++) {
        out[k].known = out[k].known && out[k].touched;
        out[k].inside = one_does_all(&spans[k], 0);
        out[k].filled = out[k].written && one_does_all(&spans[k], 1);
        if (!out[k].filled && !out[k].not_filled)
            out[k].not_filled = "several stores make it up";
        for (int d = 0; d < 4 && out[k].known; d++)
            out[k].sides[d] = (boxes_side){boxes_text(f, &spans[k].base[d]),
                                           boxes_text(f, &spans[k].extent[d]),
                                           spans[k].extent[d].value};
    }
}

/* --- the module ---------------------------------------------------------- */

/* Everything into the kernel, registers instead of variables, nothing else:
 * addresses stay as they are written. */
static const char passes[] =
    "always-inline,globaldce,function(sroa,early-cse<memssa>,instsimplify,"
    "simplifycfg,loop-simplify)";

struct boxes_kernel {
    const boxes_job *job;
    arena *a;
    LLVMContextRef context;
    LLVMModuleRef module;
    boxes_finder found; /* what does not depend on the local size */
};

static vpu_status read_kernel(boxes_kernel *b, vpu_error *err)
{
    const boxes_job *job = b->job;
    vpu_status st = ir_parse(b->context, job->bitcode, job->n_bytes, job->entry,
                             &b->module, err);

    if (st)
        return st;
    b->found.fn = LLVMGetNamedFunction(b->module, job->entry);
    if (!b->found.fn || LLVMCountParams(b->found.fn) != job->n_args)
        return err_set(err, VPU_ERR_COMPILE, "no kernel '%s' of %u arguments",
                       job->entry, job->n_args);
    middle_mark_inline(b->module, &b->found.fn, 1);
    return middle_run_passes(b->module, passes, err);
}

vpu_status boxes_open(const boxes_job *job, arena *a, boxes_kernel **out,
                      vpu_error *err)
{
    boxes_kernel *b = arena_new(a, boxes_kernel);
    vpu_status st = ir_begin(err);

    *out = NULL;
    if (st)
        return st;
    *b = (boxes_kernel){.job = job,
                        .a = a,
                        .context = LLVMContextCreate(),
                        .found = {.job = job, .a = a}};
    *out = b;
    st = read_kernel(b, err);
    if (!st) {
        ir_cfg_build(&b->found.cfg, b->found.fn, a);
        b->found.pdom = ir_post_dominators(&b->found.cfg, a);
        boxes_find_loops(&b->found);
    }
    return st;
}

void boxes_ask(const boxes_kernel *b, const boxes_local local[3],
               boxes_box *out)
{
    boxes_finder f = b->found;

    ir_map_init(&f.known, b->a);
    f.local = local;
    for (int d = 0; d < 3; d++) {
        bool is_name =
            strspn(local[d].text, "0123456789") != strlen(local[d].text);

        f.ranges[d].count = boxes_number(local[d].value);
        if (is_name)
            f.ranges[d].count = (boxes_expr){
                .text = local[d].text, .fixed = true, .value = local[d].value};
    }
    f.n_ranges = 3;
    find_all(&f, out);
}

void boxes_close(boxes_kernel *b)
{
    if (!b)
        return;
    if (b->module)
        LLVMDisposeModule(b->module);
    LLVMContextDispose(b->context);
}
