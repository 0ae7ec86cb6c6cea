/* Follows addresses back to ids and counters; see boxes.h. Values are
 * polynomials of degree one in the pitches, with coordinates as coefficients.
 */
#include "sim/compiler/middle/boxes.h"

#include <inttypes.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

#include "sim/ir/ir.h"

enum {
    MAX_PARTS = 6,   /* of a value: a number, an offset, four pitches */
    MAX_VARS = 6,    /* of a coordinate */
    MAX_TEXT = 1000, /* of an expression */
    MAX_DEPTH = 64,  /* of a value's operands */
    MAX_RANGES = 32, /* ids and loops of a kernel */
    NO_SYMBOL = -1
};

/* text + add. Without text it is a number. */
typedef struct {
    const char *text;
    int64_t add;
    bool fixed; /* the same in all groups: value is its value */
    int64_t value;
} expr;

/* base + sum of by[i] * (a number from 0 to below the count of range[i]). */
typedef struct {
    expr base;
    struct {
        uint8_t range;
        expr by; /* fixed */
    } vars[MAX_VARS];
    uint32_t n_vars;
} coordinate;

/* Sum of symbols times coordinates; symbol: an argument, or NO_SYMBOL. */
typedef struct {
    struct {
        int symbol;
        coordinate c;
    } parts[MAX_PARTS];
    uint32_t n;
    int pointer;     /* the argument it points behind; -1: a number */
    const char *why; /* not known: the reason */
} value;

/* What a variable runs through: 0 to below count. */
typedef struct {
    expr count;
    LLVMValueRef phi; /* of a loop; NULL: a local id */
    uint32_t loop;    /* its number */
} range;

typedef struct {
    uint32_t header, latch;
    ir_word *blocks;
} loop;

typedef struct {
    const boxes_job *job;
    arena *a;
    LLVMValueRef fn;
    ir_cfg cfg;
    loop *loops;
    size_t n_loops, cap_loops;
    range ranges[MAX_RANGES]; /* the first three: local ids */
    uint32_t n_ranges;
    ir_map known; /* instruction -> value */
    unsigned depth;
} finder;

/* --- expressions --------------------------------------------------------- */

static expr number(int64_t n)
{
    return (expr){.add = n, .fixed = true, .value = n};
}

static bool is_number(const expr *e)
{
    return !e->text;
}

static const char *text_of(const finder *f, const expr *e)
{
    if (!e->text)
        return arena_printf(f->a, "%" PRId64, e->add);
    if (!e->add)
        return e->text;
    return arena_printf(f->a, "(%s %c %" PRId64 ")", e->text,
                        e->add < 0 ? '-' : '+', e->add < 0 ? -e->add : e->add);
}

/* A product of two values below 2^31 fits; what does not is refused. */
static bool fits(int64_t n)
{
    return n >= INT32_MIN && n <= INT32_MAX;
}

static bool is_sound(const expr *e)
{
    return fits(e->add) && (!e->fixed || fits(e->value)) &&
           (!e->text || strlen(e->text) <= MAX_TEXT);
}

static expr plus(const finder *f, const expr *x, const expr *y)
{
    expr r = {.add = x->add + y->add,
              .fixed = x->fixed && y->fixed,
              .value = x->value + y->value};

    r.text = !x->text   ? y->text
             : !y->text ? x->text
                        : arena_printf(f->a, "(%s + %s)", x->text, y->text);
    return r;
}

static expr times(const finder *f, const expr *x, const expr *y)
{
    expr r = {.fixed = x->fixed && y->fixed, .value = x->value * y->value};

    if (is_number(x) && is_number(y))
        return number(x->add * y->add);
    if ((is_number(x) && !x->add) || (is_number(y) && !y->add))
        return number(0);
    if (is_number(x) && x->add == 1)
        return *y;
    if (is_number(y) && y->add == 1)
        return *x;
    if (is_number(x)) {
        const expr *swap = x;

        x = y;
        y = swap;
    }
    if (is_number(y)) {
        r.text = arena_printf(f->a, "%s * %" PRId64, x->text, y->add);
        if (y->add < 0)
            r.text = arena_printf(f->a, "%s * (%" PRId64 ")", x->text, y->add);
        r.text = arena_printf(f->a, "(%s)", r.text);
        r.add = x->add * y->add;
        return r;
    }
    r.text = arena_printf(f->a, "(%s * %s)", text_of(f, x), text_of(f, y));
    return r;
}

static expr minus(const finder *f, const expr *x, const expr *y)
{
    const expr negative = number(-1);
    expr n;

    if (x->text && y->text && !strcmp(x->text, y->text))
        return number(x->add - y->add);
    n = times(f, y, &negative);
    return plus(f, x, &n);
}

/* x op y, "/" or "%", as the kernel computes it. */
static expr divide(const finder *f, LLVMOpcode op, const expr *x, const expr *y)
{
    bool is_signed = op == LLVMSDiv || op == LLVMSRem;
    bool rest = op == LLVMURem || op == LLVMSRem;
    expr r = {.fixed = x->fixed && y->fixed && y->value};

    if (r.fixed)
        r.value = rest ? x->value % y->value : x->value / y->value;
    if (is_number(x) && is_number(y) && r.fixed)
        return number(r.value);
    if (is_number(y) && y->add == 1)
        return rest ? number(0) : *x;
    r.text = is_signed
                 ? arena_printf(f->a, "(%s %c %s)", text_of(f, x),
                                rest ? '%' : '/', text_of(f, y))
                 : arena_printf(f->a, "(int)((uint)%s %c (uint)%s)",
                                text_of(f, x), rest ? '%' : '/', text_of(f, y));
    return r;
}

/* --- values -------------------------------------------------------------- */

static value unknown(const char *why)
{
    return (value){.pointer = -1, .why = why};
}

static value of_coordinate(const coordinate *c)
{
    value v = {.pointer = -1, .n = 1};

    v.parts[0].symbol = NO_SYMBOL;
    v.parts[0].c = *c;
    return v;
}

static value of_expr(const expr *e)
{
    const coordinate c = {.base = *e};

    return of_coordinate(&c);
}

static value of_symbol(int symbol)
{
    const coordinate one = {.base = number(1)};
    value v = of_coordinate(&one);

    v.parts[0].symbol = symbol;
    return v;
}

/* The coordinate that a value without pitches is; NULL: it has some. */
static const coordinate *plain(const value *v)
{
    static const coordinate zero = {.base = {.fixed = true}};

    if (v->why || v->pointer >= 0)
        return NULL;
    if (!v->n)
        return &zero;
    return v->n == 1 && v->parts[0].symbol == NO_SYMBOL ? &v->parts[0].c : NULL;
}

static const expr *uniform(const value *v)
{
    const coordinate *c = plain(v);

    return c && !c->n_vars ? &c->base : NULL;
}

static bool add_coordinate(const finder *f, coordinate *to,
                           const coordinate *from)
{
    to->base = plus(f, &to->base, &from->base);
    for (uint32_t i = 0; i < from->n_vars; i++) {
        uint32_t k = 0;

        while (k < to->n_vars && to->vars[k].range != from->vars[i].range)
            k++;
        if (k == MAX_VARS)
            return false;
        if (k == to->n_vars) {
            to->vars[to->n_vars++] = from->vars[i];
        } else {
            to->vars[k].by = plus(f, &to->vars[k].by, &from->vars[i].by);
            if (is_number(&to->vars[k].by) && !to->vars[k].by.add)
                to->vars[k] = to->vars[--to->n_vars];
        }
    }
    return is_sound(&to->base);
}

static value add_values(const finder *f, const value *x, const value *y)
{
    value r = *x;

    if (x->why)
        return *x;
    if (y->why)
        return *y;
    if (x->pointer >= 0 && y->pointer >= 0)
        return unknown("it is made of two pointers");
    if (y->pointer >= 0)
        r.pointer = y->pointer;
    for (uint32_t i = 0; i < y->n; i++) {
        uint32_t k = 0;

        while (k < r.n && r.parts[k].symbol != y->parts[i].symbol)
            k++;
        if (k == MAX_PARTS)
            return unknown("it mixes the pitches of several tensors");
        if (k == r.n)
            r.parts[r.n++] = y->parts[i];
        else if (!add_coordinate(f, &r.parts[k].c, &y->parts[i].c))
            return unknown("its expression is too long");
    }
    return r;
}

/* A coordinate times something that is the same for the whole group. */
static bool scale(const finder *f, coordinate *c, const expr *by)
{
    if (c->n_vars && !by->fixed)
        return false;
    c->base = times(f, &c->base, by);
    for (uint32_t i = 0; i < c->n_vars; i++)
        c->vars[i].by = times(f, &c->vars[i].by, by);
    return is_sound(&c->base);
}

static value scale_value(const finder *f, const value *v, const expr *by)
{
    value r = *v;

    for (uint32_t i = 0; i < r.n; i++)
        if (!scale(f, &r.parts[i].c, by))
            return unknown("it is multiplied by what differs between groups");
    return r;
}

static value multiply(const finder *f, const value *x, const value *y)
{
    const expr *by = uniform(y);
    const coordinate *c;
    value r;

    if (x->why)
        return *x;
    if (y->why)
        return *y;
    if (by)
        return scale_value(f, x, by);
    by = uniform(x);
    if (by)
        return scale_value(f, y, by);
    /* A pitch times a coordinate. */
    c = plain(y);
    r = *x;
    if (!c) {
        c = plain(x);
        r = *y;
    }
    if (c && r.n == 1 && !r.parts[0].c.n_vars &&
        r.parts[0].symbol != NO_SYMBOL && r.parts[0].c.base.fixed) {
        const expr factor = r.parts[0].c.base;

        r.parts[0].c = *c;
        return scale(f, &r.parts[0].c, &factor)
                   ? r
                   : unknown("its expression is too long");
    }
    return unknown("it is a product of what differs between items");
}

static value negate(const finder *f, const value *v)
{
    const expr minus_one = number(-1);

    return v->why ? *v : scale_value(f, v, &minus_one);
}

/* What differs between items can be divided by nothing; a number that is the
 * same for the group can. */
static value divide_values(const finder *f, LLVMOpcode op, const value *x,
                           const value *y)
{
    const expr *n = uniform(x), *d = uniform(y);
    expr r;

    if (x->why)
        return *x;
    if (y->why)
        return *y;
    if (!n || !d)
        return unknown("what differs between items is divided");
    r = divide(f, op, n, d);
    return is_sound(&r) ? of_expr(&r) : unknown("its expression is too long");
}

/* --- loops --------------------------------------------------------------- */

static void find_loops(finder *f)
{
    uint32_t *order = arena_array(f->a, uint32_t, f->cfg.n_blocks);
    ir_word *seen = ir_bits(f->a, f->cfg.n_blocks);
    uint32_t n = ir_post_order(&f->cfg, order, seen);
    uint32_t *place = arena_array(f->a, uint32_t, f->cfg.n_blocks);

    for (uint32_t i = 0; i < n; i++)
        place[order[i]] = i;
    /* From a block to one that comes after it in post-order: backwards. */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t b = order[i];

        for (uint32_t s = 1; s <= f->cfg.succs[b][0]; s++) {
            uint32_t h = f->cfg.succs[b][s];
            uint32_t *stack, top = 0;
            loop l = {.header = h, .latch = b};

            if (place[h] < place[b])
                continue;
            l.blocks = ir_bits(f->a, f->cfg.n_blocks);
            stack = arena_array(f->a, uint32_t, f->cfg.n_blocks + 1);
            ir_bit_set(l.blocks, h);
            if (b != h) {
                ir_bit_set(l.blocks, b);
                stack[top++] = b;
            }
            while (top) {
                uint32_t x = stack[--top];

                for (uint32_t p = 1; p <= f->cfg.preds[x][0]; p++) {
                    uint32_t y = f->cfg.preds[x][p];

                    if (ir_bit(l.blocks, y) || !ir_bit(seen, y))
                        continue;
                    ir_bit_set(l.blocks, y);
                    stack[top++] = y;
                }
            }
            *arena_append(f->a, f->loops, f->n_loops, f->cap_loops) = l;
        }
    }
}

static value follow(finder *f, LLVMValueRef v);

/* The loop that phi counts; NULL: none, or none with one way back. */
static const loop *loop_of(const finder *f, LLVMValueRef phi, uint32_t *number)
{
    uint32_t b = ir_cfg_number(&f->cfg, LLVMGetInstructionParent(phi));
    const loop *found = NULL;

    for (size_t i = 0; i < f->n_loops; i++)
        if (f->loops[i].header == b) {
            if (found)
                return NULL;
            found = &f->loops[i];
            *number = (uint32_t)i;
        }
    return found;
}

/* How the loop goes on while `phi`, or what it is next, compares with *bound.
 */
typedef struct {
    LLVMIntPredicate pred;
    LLVMValueRef bound;
    bool of_next; /* the value compared is the next one */
    bool at_end;  /* the comparison is behind the body */
} condition;

static LLVMIntPredicate inverse(LLVMIntPredicate p)
{
    switch (p) {
    case LLVMIntEQ:
        return LLVMIntNE;
    case LLVMIntNE:
        return LLVMIntEQ;
    case LLVMIntUGT:
        return LLVMIntULE;
    case LLVMIntUGE:
        return LLVMIntULT;
    case LLVMIntULT:
        return LLVMIntUGE;
    case LLVMIntULE:
        return LLVMIntUGT;
    case LLVMIntSGT:
        return LLVMIntSLE;
    case LLVMIntSGE:
        return LLVMIntSLT;
    case LLVMIntSLT:
        return LLVMIntSGE;
    default:
        return LLVMIntSGT;
    }
}

static LLVMIntPredicate swapped(LLVMIntPredicate p)
{
    switch (p) {
    case LLVMIntUGT:
        return LLVMIntULT;
    case LLVMIntUGE:
        return LLVMIntULE;
    case LLVMIntULT:
        return LLVMIntUGT;
    case LLVMIntULE:
        return LLVMIntUGE;
    case LLVMIntSGT:
        return LLVMIntSLT;
    case LLVMIntSGE:
        return LLVMIntSLE;
    case LLVMIntSLT:
        return LLVMIntSGT;
    case LLVMIntSLE:
        return LLVMIntSGE;
    default:
        return p;
    }
}

/* Whether block b leaves loop l depending on a comparison of phi or next. */
static bool leaves_by(const finder *f, const loop *l, uint32_t b,
                      LLVMValueRef phi, LLVMValueRef next, condition *out)
{
    LLVMValueRef t = LLVMGetBasicBlockTerminator(f->cfg.blocks[b]), cmp, x, y;
    uint32_t yes, no;

    if (!t || !LLVMIsABranchInst(t) || !LLVMIsConditional(t))
        return false;
    cmp = LLVMGetCondition(t);
    if (!LLVMIsAICmpInst(cmp))
        return false;
    yes = ir_cfg_number(&f->cfg, LLVMGetSuccessor(t, 0));
    no = ir_cfg_number(&f->cfg, LLVMGetSuccessor(t, 1));
    if (ir_bit(l->blocks, yes) == ir_bit(l->blocks, no))
        return false;
    x = LLVMGetOperand(cmp, 0);
    y = LLVMGetOperand(cmp, 1);
    out->pred = LLVMGetICmpPredicate(cmp);
    if (y == phi || y == next) {
        LLVMValueRef swap = x;

        x = y;
        y = swap;
        out->pred = swapped(out->pred);
    }
    if (x != phi && x != next)
        return false;
    out->bound = y;
    out->of_next = x == next;
    if (!ir_bit(l->blocks, yes))
        out->pred = inverse(out->pred);
    out->at_end = b != l->header || b == l->latch;
    return true;
}

/* The number of rounds of a loop that counts up from start by step. */
static bool count_rounds(finder *f, const condition *c, const expr *start,
                         const expr *step, expr *out)
{
    value v = follow(f, c->bound);
    const expr *bound = uniform(&v);
    expr span, extra;

    if (!bound || step->value < 1 || !is_number(step))
        return false;
    span = minus(f, bound, start);
    switch (c->pred) {
    case LLVMIntSLT:
    case LLVMIntULT:
        break;
    case LLVMIntSLE:
    case LLVMIntULE:
        extra = number(1);
        span = plus(f, &span, &extra);
        break;
    case LLVMIntNE:
        if (step->add != 1)
            return false;
        break;
    default:
        return false;
    }
    if (step->add != 1) {
        extra = number(step->add - 1);
        span = plus(f, &span, &extra);
        span = divide(f, LLVMSDiv, &span, step);
    }
    /* Compared behind the body, before the step: a round more. */
    if (c->at_end && !c->of_next) {
        extra = number(1);
        span = plus(f, &span, &extra);
    }
    *out = span;
    return span.fixed && is_sound(&span) && span.value >= 1;
}

static value follow_phi(finder *f, LLVMValueRef phi)
{
    static const char why[] = "it comes from a loop without a known count";
    LLVMValueRef first = NULL, next = NULL, other;
    uint32_t number_of_loop = 0;
    const loop *l = loop_of(f, phi, &number_of_loop);
    value start, step_value, v;
    const expr *step;
    condition c;
    expr rounds;
    coordinate k = {.base = number(0), .n_vars = 1};

    if (!l || LLVMCountIncoming(phi) != 2)
        return unknown("which of several values it is depends on a condition");
    for (unsigned i = 0; i < 2; i++) {
        uint32_t b = ir_cfg_number(&f->cfg, LLVMGetIncomingBlock(phi, i));

        if (b == l->latch)
            next = LLVMGetIncomingValue(phi, i);
        else
            first = LLVMGetIncomingValue(phi, i);
    }
    if (!first || !next || !LLVMIsABinaryOperator(next) ||
        LLVMGetInstructionOpcode(next) != LLVMAdd)
        return unknown(why);
    other = LLVMGetOperand(next, LLVMGetOperand(next, 0) == phi ? 1 : 0);
    if (LLVMGetOperand(next, 0) != phi && LLVMGetOperand(next, 1) != phi)
        return unknown(why);
    start = follow(f, first);
    step_value = follow(f, other);
    step = uniform(&step_value);
    if (start.why)
        return start;
    if (!step || !uniform(&start) || f->n_ranges == MAX_RANGES ||
        (!leaves_by(f, l, l->header, phi, next, &c) &&
         !leaves_by(f, l, l->latch, phi, next, &c)) ||
        !count_rounds(f, &c, uniform(&start), step, &rounds))
        return unknown(why);
    f->ranges[f->n_ranges] = (range){rounds, phi, number_of_loop};
    k.vars[0].range = (uint8_t)f->n_ranges++;
    k.vars[0].by = *step;
    v = of_coordinate(&k);
    return add_values(f, &start, &v);
}

/* --- instructions -------------------------------------------------------- */

/* A built-in of one dimension, -1: another one. */
static int dimension(LLVMValueRef call, const char *name)
{
    ir_signature s;
    LLVMValueRef d;

    ir_demangle(ir_callee(call), &s);
    if (strlen(name) != s.name_len || strncmp(s.name, name, s.name_len) ||
        LLVMGetNumArgOperands(call) != 1)
        return -1;
    d = LLVMGetOperand(call, 0);
    return LLVMIsAConstantInt(d) && LLVMConstIntGetZExtValue(d) < 3
               ? (int)LLVMConstIntGetZExtValue(d)
               : -1;
}

static value local_id(const finder *f, int d)
{
    coordinate c = {.base = number(0)};

    if (f->ranges[d].count.value != 1 || f->ranges[d].count.text) {
        c.n_vars = 1;
        c.vars[0].range = (uint8_t)d;
        c.vars[0].by = number(1);
    }
    return of_coordinate(&c);
}

static value group_id(const finder *f, int d)
{
    expr e = {.text = arena_printf(f->a, "(int)get_group_id(%d)", d)};

    if (f->job->local[d].one_group)
        e = number(0);
    return of_expr(&e);
}

static value global_id(const finder *f, int d)
{
    value v = group_id(f, d), l = local_id(f, d);

    v = scale_value(f, &v, &f->ranges[d].count);
    return add_values(f, &v, &l);
}

static value follow_call(finder *f, LLVMValueRef call)
{
    int d;

    if ((d = dimension(call, "get_global_id")) >= 0)
        return global_id(f, d);
    if ((d = dimension(call, "get_local_id")) >= 0)
        return local_id(f, d);
    if ((d = dimension(call, "get_group_id")) >= 0)
        return group_id(f, d);
    if ((d = dimension(call, "get_local_size")) >= 0)
        return of_expr(&f->ranges[d].count);
    return unknown(
        arena_printf(f->a, "it comes from a call of %s", ir_callee(call)));
}

static value follow_gep(finder *f, LLVMValueRef gep)
{
    LLVMTargetDataRef td = LLVMGetModuleDataLayout(LLVMGetGlobalParent(f->fn));
    LLVMTypeRef t = LLVMGetGEPSourceElementType(gep);
    value p = follow(f, LLVMGetOperand(gep, 0)), i;
    uint32_t bytes = 0;

    if (p.why || p.pointer < 0)
        return p.why ? p : unknown("it is no argument's");
    for (uint32_t k = 0; k < f->job->n_tensors; k++)
        if ((int)f->job->tensors[k].pointer == p.pointer)
            bytes = f->job->tensors[k].element_bytes;
    if (LLVMGetNumOperands(gep) != 2 || LLVMABISizeOfType(td, t) != bytes)
        return unknown("it is taken for one of other elements");
    i = follow(f, LLVMGetOperand(gep, 1));
    return add_values(f, &p, &i);
}

static value follow_argument(const finder *f, LLVMValueRef v)
{
    uint32_t i = 0;

    while (LLVMGetParam(f->fn, i) != v)
        i++;
    for (uint32_t k = 0; k < f->job->n_tensors; k++) {
        const boxes_tensor *t = &f->job->tensors[k];

        if (t->pointer == i)
            return (value){.pointer = (int)i};
        if (t->offset == i)
            return of_symbol((int)i);
        for (int d = 0; d < 4; d++)
            if (t->pitches[d] == i)
                return of_symbol((int)i);
    }
    if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMIntegerTypeKind)
        return unknown("it comes from a floating-point value");
    return of_expr(&(const expr){.text = f->job->args[i].name,
                                 .fixed = true,
                                 .value = f->job->args[i].value});
}

static value follow_shift(finder *f, LLVMValueRef v)
{
    value x = follow(f, LLVMGetOperand(v, 0));
    LLVMValueRef by = LLVMGetOperand(v, 1);
    expr factor;

    if (!LLVMIsAConstantInt(by) || LLVMConstIntGetZExtValue(by) > 30)
        return unknown("it is shifted by what is no number");
    factor = number((int64_t)1 << LLVMConstIntGetZExtValue(by));
    return x.why ? x : scale_value(f, &x, &factor);
}

static value follow_binary(finder *f, LLVMValueRef v, LLVMOpcode op)
{
    value x = follow(f, LLVMGetOperand(v, 0));
    value y = follow(f, LLVMGetOperand(v, 1));

    switch (op) {
    case LLVMAdd:
        return add_values(f, &x, &y);
    case LLVMSub:
        y = negate(f, &y);
        return add_values(f, &x, &y);
    case LLVMMul:
        return multiply(f, &x, &y);
    default:
        return divide_values(f, op, &x, &y);
    }
}

static value follow_inst(finder *f, LLVMValueRef v)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(v);

    switch (op) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMUDiv:
    case LLVMURem:
    case LLVMSDiv:
    case LLVMSRem:
        return follow_binary(f, v, op);
    case LLVMShl:
        return follow_shift(f, v);
    case LLVMPHI:
        return follow_phi(f, v);
    case LLVMCall:
        return follow_call(f, v);
    case LLVMGetElementPtr:
        return follow_gep(f, v);
    case LLVMFreeze:
        return follow(f, LLVMGetOperand(v, 0));
    case LLVMLoad:
        return unknown("it comes from memory");
    case LLVMFPToSI:
    case LLVMFPToUI:
        return unknown("it comes from a floating-point value");
    case LLVMSelect:
        return unknown("which of several values it is depends on a condition");
    default:
        return unknown("it is computed in a way that is not followed");
    }
}

static value follow(finder *f, LLVMValueRef v)
{
    value *kept = ir_map_get(&f->known, v), r;

    if (kept)
        return *kept;
    if (LLVMIsAConstantInt(v)) {
        const expr e = number(LLVMConstIntGetSExtValue(v));

        return LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 32 && is_sound(&e)
                   ? of_expr(&e)
                   : unknown("it has more than 32 bits");
    }
    if (LLVMIsAArgument(v))
        return follow_argument(f, v);
    if (!LLVMIsAInstruction(v))
        return unknown("it is no argument's");
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind &&
        LLVMGetIntTypeWidth(LLVMTypeOf(v)) != 32)
        return unknown("it is computed in other than 32 bits");
    if (f->depth == MAX_DEPTH)
        return unknown("its expression is too long");
    f->depth++;
    r = follow_inst(f, v);
    f->depth--;
    kept = arena_new(f->a, value);
    *kept = r;
    ir_map_set(&f->known, v, kept);
    return r;
}

/* --- boxes --------------------------------------------------------------- */

/* Whether one can come from `from` to `to` within blocks (NULL: all) without
 * `without`. */
static bool reaches(const finder *f, uint32_t from, uint32_t to,
                    uint32_t without, const ir_word *blocks)
{
    uint32_t *stack = arena_array(f->a, uint32_t, f->cfg.n_blocks + 1);
    ir_word *seen = ir_bits(f->a, f->cfg.n_blocks);
    uint32_t top = 0;

    if (from == without)
        return false;
    stack[top++] = from;
    ir_bit_set(seen, from);
    while (top) {
        uint32_t b = stack[--top];

        if (b == to)
            return true;
        for (uint32_t s = 1; s <= f->cfg.succs[b][0]; s++) {
            uint32_t n = f->cfg.succs[b][s];

            if (n == without || ir_bit(seen, n) ||
                (blocks && !ir_bit(blocks, n)))
                continue;
            ir_bit_set(seen, n);
            stack[top++] = n;
        }
    }
    return false;
}

/* The innermost loop around block b but those with header `but`. */
static const loop *around(const finder *f, uint32_t b, const loop *inside)
{
    const loop *best = NULL;

    for (size_t i = 0; i < f->n_loops; i++) {
        const loop *l = &f->loops[i];

        if (!ir_bit(l->blocks, b) || l == inside ||
            (inside && !ir_bit(l->blocks, inside->header)) ||
            (inside && ir_bit(inside->blocks, l->header)))
            continue;
        if (!best || ir_bit(best->blocks, l->header))
            best = l;
    }
    return best;
}

/* Whether the block runs in every round of the loops around it, and these in
 * each work-item. Loops are left where they are counted alone. */
static bool always_runs(const finder *f, uint32_t b)
{
    const loop *l = around(f, b, NULL);

    for (; l; b = l->header, l = around(f, b, l)) {
        uint32_t ways = 0;

        if (b != l->header && reaches(f, l->header, l->latch, b, l->blocks))
            return false;
        for (uint32_t i = 0; i < f->cfg.n_blocks; i++)
            for (uint32_t s = 1;
                 ir_bit(l->blocks, i) && s <= f->cfg.succs[i][0]; s++)
                ways += !ir_bit(l->blocks, f->cfg.succs[i][s]);
        if (ways != 1)
            return false;
    }
    for (uint32_t i = 0; i < f->cfg.n_blocks; i++)
        if (!f->cfg.succs[i][0] && i != b && reaches(f, 0, i, b, NULL))
            return false;
    return true;
}

/* The least and the number of values of a coordinate. */
static void bound(const finder *f, const coordinate *c, expr *base,
                  expr *extent)
{
    const expr one = number(1);

    *base = c->base;
    *extent = number(1);
    for (uint32_t i = 0; i < c->n_vars; i++) {
        const range *r = &f->ranges[c->vars[i].range];
        expr last = minus(f, &r->count, &one), way = c->vars[i].by;

        if (way.value < 0) {
            expr down = times(f, &way, &last);

            *base = plus(f, base, &down);
            way = times(f, &way,
                        &(const expr){.add = -1, .fixed = true, .value = -1});
        }
        way = times(f, &way, &last);
        *extent = plus(f, extent, &way);
    }
}

typedef struct {
    expr base[4], extent[4];
    bool any;
    /* Of the first access, and the first store, that touches all of its own
     * part always. */
    bool full, full_store;
    expr full_base[2][4], full_extent[2][4];
} span;

/* The coordinates of an address of tensor t. NULL: fine, else the reason. */
static const char *coordinates(const boxes_tensor *t, const value *v,
                               coordinate out[4])
{
    const expr one = number(1);
    bool offset = false;

    for (int d = 0; d < 4; d++)
        out[d] = (coordinate){.base = number(0)};
    for (uint32_t i = 0; i < v->n; i++) {
        const coordinate *c = &v->parts[i].c;
        int d = 0;

        if (v->parts[i].symbol == (int)t->offset) {
            if (c->n_vars || !is_number(&c->base) || c->base.add != one.add)
                return "the offset counts more than once";
            offset = true;
            continue;
        }
        while (d < 4 && v->parts[i].symbol != (int)t->pitches[d])
            d++;
        if (d < 4)
            out[d] = *c;
        else if (v->parts[i].symbol != NO_SYMBOL || c->n_vars ||
                 !is_number(&c->base) || c->base.add)
            return "it is not made of this tensor's pitches alone";
    }
    return offset ? NULL : "the tensor's offset is not in it";
}

/* Both must be the same text plus a number, or numbers. */
static bool join_bounds(const finder *f, expr *base, expr *extent,
                        const expr *base2, const expr *extent2)
{
    bool alike = base->text && base2->text ? !strcmp(base->text, base2->text)
                                           : base->text == base2->text;
    expr low, reach, reach2, distance;

    if (!alike)
        return false;
    low = base->add <= base2->add ? *base : *base2;
    distance = number(base->add - low.add);
    reach = plus(f, extent, &distance);
    distance = number(base2->add - low.add);
    reach2 = plus(f, extent2, &distance);
    *base = low;
    if (is_number(&reach) && is_number(&reach2)) {
        *extent = reach.add >= reach2.add ? reach : reach2;
    } else if (reach.text && reach2.text && !strcmp(reach.text, reach2.text)) {
        *extent = reach.add >= reach2.add ? reach : reach2;
    } else {
        *extent = (expr){
            .text = arena_printf(f->a, "max(%s, %s)", text_of(f, &reach),
                                 text_of(f, &reach2)),
            .fixed = true,
            .value = reach.value >= reach2.value ? reach.value : reach2.value};
    }
    return true;
}

/* Whether coordinates with these variables take every value of their spans:
 * each variable in one of them alone, and in each, from the smallest step on,
 * a step is what those below it fill. */
static bool fills(const finder *f, const coordinate c[4])
{
    uint32_t used[MAX_RANGES] = {0};

    for (int d = 0; d < 4; d++) {
        bool taken[MAX_VARS] = {false};
        expr reach = number(1);

        for (uint32_t n = 0; n < c[d].n_vars; n++) {
            uint32_t k = 0;

            while (k < c[d].n_vars &&
                   (taken[k] || c[d].vars[k].by.value != reach.value ||
                    (c[d].vars[k].by.text && reach.text
                         ? strcmp(c[d].vars[k].by.text, reach.text)
                         : c[d].vars[k].by.text != reach.text) ||
                    c[d].vars[k].by.add != reach.add))
                k++;
            if (k == c[d].n_vars || used[c[d].vars[k].range]++)
                return false;
            taken[k] = true;
            reach = times(f, &reach, &f->ranges[c[d].vars[k].range].count);
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

static void keep_full(span *s, bool writes, const expr base[4],
                      const expr extent[4])
{
    for (int w = 0; w <= writes; w++) {
        if (w ? s->full_store : s->full)
            continue;
        *(w ? &s->full_store : &s->full) = true;
        memcpy(s->full_base[w], base, 4 * sizeof *base);
        memcpy(s->full_extent[w], extent, 4 * sizeof *extent);
    }
}

static bool same_expr(const expr *x, const expr *y)
{
    return x->add == y->add && (x->text && y->text ? !strcmp(x->text, y->text)
                                                   : x->text == y->text);
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

static void meet_access(finder *f, LLVMValueRef inst, LLVMValueRef pointer,
                        LLVMTypeRef type, bool writes, boxes_box *boxes,
                        span *spans)
{
    LLVMTargetDataRef td = LLVMGetModuleDataLayout(LLVMGetGlobalParent(f->fn));
    value v = follow(f, pointer);
    uint32_t k = 0;
    coordinate c[4];
    expr base_of[4], extent_of[4];
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
        if (!is_sound(&spans[k].base[d]) || !is_sound(&spans[k].extent[d])) {
            cannot(box, inst, "its expression is too long");
            return;
        }
    }
    why = !fills(f, c) ? "elements between those it stores stay as they are"
          : !always_runs(f,
                         ir_cfg_number(&f->cfg, LLVMGetInstructionParent(inst)))
              ? "it stores under a condition"
              : NULL;
    if (!why)
        keep_full(&spans[k], writes, base_of, extent_of);
    if (writes && why)
        box->not_filled = why;
    spans[k].any = true;
}

/* The argument that a pointer is behind, however it is computed; -1: none. */
static int root(const finder *f, LLVMValueRef p, unsigned depth)
{
    if (LLVMIsAArgument(p)) {
        int i = 0;

        while (LLVMGetParam(f->fn, (unsigned)i) != p)
            i++;
        return i;
    }
    if (!LLVMIsAInstruction(p) || depth == MAX_DEPTH)
        return -1;
    return LLVMIsAGetElementPtrInst(p) || LLVMIsACastInst(p)
               ? root(f, LLVMGetOperand(p, 0), depth + 1)
               : -1;
}

/* A use of a tensor's pointer that is no load, store or step: what happens
 * there is not known. */
static void spoil_unknown(finder *f, LLVMValueRef inst, boxes_box *boxes)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(inst);
    int n = LLVMGetNumOperands(inst);

    for (int i = 0; i < n; i++) {
        LLVMValueRef p = LLVMGetOperand(inst, (unsigned)i);
        bool address = (op == LLVMLoad && i == 0) ||
                       (op == LLVMStore && i == 1) ||
                       (op == LLVMGetElementPtr && i == 0);
        value v = {.pointer = -1};
        int argument;

        if (LLVMGetTypeKind(LLVMTypeOf(p)) != LLVMPointerTypeKind)
            continue;
        argument = root(f, p, 0);
        if (address && op != LLVMGetElementPtr)
            v = follow(f, p);
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

static void find_all(finder *f, boxes_box *out)
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
            out[k].sides[d] = (boxes_side){text_of(f, &spans[k].base[d]),
                                           text_of(f, &spans[k].extent[d]),
                                           spans[k].extent[d].value};
    }
}

/* --- the module ---------------------------------------------------------- */

static void ignore_diagnostic(LLVMDiagnosticInfoRef d, void *user)
{
    (void)d;
    (void)user;
}

/* Everything into the kernel, registers instead of variables, nothing else:
 * addresses stay as they are written. */
static vpu_status prepare(LLVMModuleRef m, LLVMValueRef fn, vpu_error *err)
{
    static const char passes[] =
        "always-inline,globaldce,function(sroa,early-cse<memssa>,instsimplify,"
        "simplifycfg,loop-simplify)";
    LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
    LLVMErrorRef e;
    vpu_status st = VPU_OK;

    for (LLVMValueRef g = LLVMGetFirstFunction(m); g;
         g = LLVMGetNextFunction(g)) {
        if (LLVMIsDeclaration(g))
            continue;
        ir_drop_attr(g, "noinline");
        ir_drop_attr(g, "optnone");
        LLVMSetLinkage(g, g == fn ? LLVMExternalLinkage : LLVMInternalLinkage);
        if (g != fn)
            ir_attr(g, "alwaysinline", 0);
    }
    e = LLVMRunPasses(m, passes, NULL, o);
    LLVMDisposePassBuilderOptions(o);
    if (e) {
        char *msg = LLVMGetErrorMessage(e);

        st = err_set(err, VPU_ERR_COMPILE, "optimiser: %s", msg);
        LLVMDisposeErrorMessage(msg);
    }
    return st;
}

static void begin(finder *f)
{
    ir_map_init(&f->known, f->a);
    ir_cfg_build(&f->cfg, f->fn, f->a);
    find_loops(f);
    for (int d = 0; d < 3; d++) {
        bool is_name = strspn(f->job->local[d].text, "0123456789") !=
                       strlen(f->job->local[d].text);

        f->ranges[d].count = number(f->job->local[d].value);
        if (is_name)
            f->ranges[d].count = (expr){.text = f->job->local[d].text,
                                        .fixed = true,
                                        .value = f->job->local[d].value};
    }
    f->n_ranges = 3;
}

vpu_status boxes_find(const boxes_job *job, arena *a, boxes_box *out,
                      vpu_error *err)
{
    LLVMContextRef c = LLVMContextCreate();
    LLVMMemoryBufferRef buf = LLVMCreateMemoryBufferWithMemoryRangeCopy(
        job->bitcode, job->n_bytes, job->entry);
    LLVMModuleRef m = NULL;
    finder f = {.job = job, .a = a};
    vpu_status st = VPU_OK;

    LLVMContextSetDiagnosticHandler(c, ignore_diagnostic, NULL);
    if (LLVMParseBitcodeInContext2(c, buf, &m)) {
        m = NULL;
        st = err_set(err, VPU_ERR_PARSE, "%s: damaged bitcode", job->entry);
    }
    LLVMDisposeMemoryBuffer(buf);
    f.fn = m ? LLVMGetNamedFunction(m, job->entry) : NULL;
    if (!st && (!f.fn || LLVMCountParams(f.fn) != job->n_args))
        st = err_set(err, VPU_ERR_COMPILE, "no kernel '%s' of %u arguments",
                     job->entry, job->n_args);
    if (!st)
        st = prepare(m, f.fn, err);
    if (!st) {
        begin(&f);
        find_all(&f, out);
    }
    if (m)
        LLVMDisposeModule(m);
    LLVMContextDispose(c);
    return st;
}
