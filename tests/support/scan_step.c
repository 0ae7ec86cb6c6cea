/* What one instruction that is no jump or call does to what is known. */
#include "tests/support/scan_walk.h"

#include <string.h>

/* --- operands ------------------------------------------------------------ */

static void write_register(scan *x, int r, scan_value v)
{
    if (!v.name) {
        v.name = scan_new_name(x, r);
        scan_forget_name(&x->s, v.name);
    }
    x->s.reg[r] = v;
}

/* The width of what an operand says, in bits. */
static unsigned bits_of(const scan_operand *o)
{
    return o->kind == SCAN_REGISTER ? (unsigned)o->bits : o->bytes * 8;
}

scan_value scan_read_operand(scan *x, const scan_operand *o, unsigned bits)
{
    const scan_relocation *r;

    switch (o->kind) {
    case SCAN_REGISTER:
        if (o->high)
            return scan_any_number(8);
        return scan_low(x->s.reg[o->reg], (unsigned)o->bits);
    case SCAN_IMMEDIATE:
        r = scan_relocation_of(x);
        if (r)
            return scan_immediate_relocation(x, r);
        return scan_low(scan_number(o->number, o->number), bits);
    case SCAN_MEMORY:
        return scan_load(x, scan_address_of(x, o), o->bytes);
    default:
        return bits < 64 ? scan_any_number(bits) : scan_unknown();
    }
}

/* Eight or sixteen bits of a register. */
static scan_value mixed(scan_value old, scan_value v, const scan_operand *o)
{
    int64_t most = (INT64_C(1) << o->bits) - 1;

    if (!o->high && scan_is_within(old, 0, most))
        return v;
    if (scan_is_within(old, 0, SCAN_U32))
        return scan_any_number(old.hi <= 0xffff ? 16 : 32);
    return old.base == SCAN_NUMBER ? scan_any_number(64) : scan_unknown();
}

static void write_operand(scan *x, const scan_operand *o, scan_value v)
{
    if (o->kind == SCAN_MEMORY) {
        scan_store(x, scan_address_of(x, o), o->bytes,
                   o->bytes < 8 ? scan_low(v, o->bytes * 8) : v, false);
    } else if (o->kind == SCAN_REGISTER) {
        v = scan_low(v, (unsigned)o->bits);
        write_register(x, o->reg,
                       o->bits < 32 ? mixed(x->s.reg[o->reg], v, o) : v);
    }
}

/* --- flags --------------------------------------------------------------- */

static void set_compared(scan *x, scan_value a, scan_value b, unsigned bits)
{
    x->s.flags =
        (scan_flags){.compared = true, .bits = bits, .left = a, .right = b};
}

static void set_result(scan *x, const scan_operand *o)
{
    if (o->kind != SCAN_REGISTER || o->bits < 32)
        return;
    x->s.flags.made = true;
    x->s.flags.bits = (unsigned)o->bits;
    x->s.flags.result = scan_low(x->s.reg[o->reg], (unsigned)o->bits);
}

/* a and b, as they are when the condition holds; all places learn. */
static void learn_pair(scan *x, const char *c, scan_value a, scan_value b,
                       unsigned bits)
{
    const char *swapped = scan_swapped(c);
    scan_value left = scan_refine(a, c, b, bits), right = b;

    if (swapped)
        right = scan_refine(b, swapped, a, bits);
    scan_learn(&x->s, left);
    scan_learn(&x->s, right);
}

void scan_learn_branch(scan *x, const char *c)
{
    const scan_flags f = x->s.flags;

    if (f.made && (!strcmp(c, "e") || !strcmp(c, "ne")))
        learn_pair(x, c, f.result, scan_number(0, 0), f.bits);
    if (f.compared)
        learn_pair(x, c, f.left, f.right, f.bits);
}

/* Condition names have several spellings. */
const char *scan_condition_of(const char *c)
{
    static const char *const other[][2] = {
        {"nae", "b"}, {"c", "b"},   {"nb", "ae"}, {"nc", "ae"}, {"z", "e"},
        {"nz", "ne"}, {"na", "be"}, {"nbe", "a"}, {"nge", "l"}, {"nl", "ge"},
        {"ng", "le"}, {"nle", "g"}, {"pe", "p"},  {"po", "np"}};

    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
        if (!strcmp(c, other[k][0]))
            return other[k][1];
    return scan_opposite(c) ? c : NULL;
}

/* --- instructions -------------------------------------------------------- */

typedef scan_value combine(scan_value a, scan_value b);

static scan_value shift_right(scan_value a, scan_value b)
{
    return scan_shift_right(a, b, false);
}

static scan_value shift_right_signed(scan_value a, scan_value b)
{
    return scan_shift_right(a, b, true);
}

static scan_value add_carry(scan_value a, scan_value b)
{
    return scan_add(scan_add(a, b), scan_number(0, 1));
}

static scan_value subtract_carry(scan_value a, scan_value b)
{
    return scan_subtract(scan_subtract(a, b), scan_number(0, 1));
}

static scan_value any(scan_value a, scan_value b)
{
    (void)a;
    (void)b;
    return scan_any_number(64);
}

/* No more than a, when a is no less than 0. */
static scan_value up_to(scan_value a, scan_value b)
{
    (void)b;
    return scan_is_within(a, 0, INT64_MAX) ? scan_number(0, a.hi)
                                           : scan_any_number(64);
}

static scan_value count_of_bits(scan_value a, scan_value b)
{
    (void)a;
    (void)b;
    return scan_number(0, 64);
}

/* As signed numbers of so many bits. */
static scan_value extended(scan_value v, unsigned bits)
{
    int64_t most = (INT64_C(1) << (bits - 1)) - 1;

    if (bits >= 64 || scan_is_within(v, 0, most))
        return v;
    if (scan_is_within(v, most + 1, most * 2 + 1))
        return scan_number(v.lo - 2 * (most + 1), v.hi - 2 * (most + 1));
    return scan_number(-most - 1, most);
}

/* rsp is aligned: a frame of its own begins. */
static bool align_stack(scan *x)
{
    scan_value *sp = &x->s.reg[SCAN_RSP], mask;

    if (x->i->op[0].kind != SCAN_REGISTER || x->i->op[0].reg != SCAN_RSP)
        return false;
    mask = scan_read_operand(x, &x->i->op[1], 64);
    if (sp->base != SCAN_STACK || sp->lo != sp->hi || x->s.lowest ||
        !scan_is_constant(mask) || mask.lo >= 0 || mask.lo < -4096)
        scan_refuse(x, "the stack's pointer is changed");
    x->s.lowest = sp->lo;
    *sp = scan_at(SCAN_FRAME, 0, 0);
    return true;
}

static void two_operands(scan *x, combine *f, bool keeps_flags)
{
    const scan_operand *to = &x->i->op[0];
    unsigned bits = bits_of(to);
    bool third = x->i->n_ops == 3;
    scan_value a = scan_read_operand(x, &x->i->op[third], bits), b, v;

    if (f == scan_and && align_stack(x))
        return;
    b = x->i->n_ops > 1 ? scan_read_operand(x, &x->i->op[1 + third], bits)
                        : scan_number(1, 1);
    v = f(a, b);
    if (bits < 64)
        v = scan_low(v, bits);
    if (!third && x->i->n_ops == 2 && x->i->op[1].kind == SCAN_REGISTER &&
        to->kind == SCAN_REGISTER && x->i->op[1].reg == to->reg && bits >= 32 &&
        (f == scan_xor || f == scan_subtract))
        v = scan_number(0, 0);
    write_operand(x, to, v);
    if (keeps_flags)
        return;
    x->s.flags = (scan_flags){.compared = false};
    if (f == scan_subtract)
        set_compared(x, a, b, bits);
    set_result(x, to);
}

static void do_compare(scan *x)
{
    unsigned bits = bits_of(&x->i->op[0]);
    scan_value a = scan_read_operand(x, &x->i->op[0], bits);
    scan_value b = scan_read_operand(x, &x->i->op[1], bits);

    set_compared(x, a, b, bits);
}

static void do_test(scan *x)
{
    const scan_operand *o = x->i->op;
    unsigned bits = bits_of(&o[0]);
    scan_value a = scan_read_operand(x, &o[0], bits);

    scan_read_operand(x, &o[1], bits);
    x->s.flags = (scan_flags){.compared = false};
    if (o[0].kind == SCAN_REGISTER && o[1].kind == SCAN_REGISTER &&
        o[0].reg == o[1].reg && o[0].high == o[1].high)
        set_compared(x, a, scan_number(0, 0), bits);
}

static void do_move(scan *x)
{
    write_operand(x, &x->i->op[0],
                  scan_read_operand(x, &x->i->op[1], bits_of(&x->i->op[0])));
}

static void do_move_signed(scan *x)
{
    const scan_operand *from = &x->i->op[1];
    scan_value v = scan_read_operand(x, from, bits_of(from));

    if (v.base == SCAN_ENTRY && x->i->op[0].bits == 64) {
        write_operand(x, &x->i->op[0], v);
        return;
    }
    write_operand(x, &x->i->op[0], extended(v, bits_of(from)));
}

static void do_address(scan *x)
{
    scan_value v = scan_address_of(x, &x->i->op[1]);

    v.step = 0;
    write_operand(x, &x->i->op[0], v);
}

static void do_not(scan *x)
{
    const scan_operand *o = x->i->op;

    write_operand(x, o,
                  scan_subtract(scan_number(-1, -1),
                                scan_read_operand(x, o, bits_of(o))));
}

static void do_negate(scan *x)
{
    const scan_operand *o = x->i->op;

    write_operand(
        x, o,
        scan_subtract(scan_number(0, 0), scan_read_operand(x, o, bits_of(o))));
    x->s.flags = (scan_flags){.compared = false};
    set_result(x, o);
}

/* rax and rdx, of so many bits; of 8 bits both halves are in ax. */
static void make_pair(scan *x, unsigned bits)
{
    static const int pair[] = {SCAN_RAX, SCAN_RDX};

    for (int k = 0; k < (bits == 8 ? 1 : 2); k++)
        write_register(x, pair[k], scan_any_number(bits < 32 ? 64 : bits));
    x->s.flags = (scan_flags){.compared = false};
}

static void do_multiply(scan *x)
{
    if (x->i->n_ops > 1) {
        two_operands(x, scan_multiply, false);
        x->s.flags = (scan_flags){.compared = false};
        return;
    }
    scan_read_operand(x, x->i->op, bits_of(x->i->op));
    make_pair(x, bits_of(x->i->op));
}

static void do_widen(scan *x)
{
    static const struct {
        const char *name;
        int to;
        unsigned from, bits;
    } rows[] = {{"cdqe", SCAN_RAX, 32, 64},
                {"cwde", SCAN_RAX, 16, 32},
                {"cdq", SCAN_RDX, 0, 32},
                {"cqo", SCAN_RDX, 0, 64}};

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (!strcmp(rows[k].name, x->i->name))
            write_register(x, rows[k].to,
                           rows[k].from
                               ? scan_low(extended(scan_low(x->s.reg[SCAN_RAX],
                                                            rows[k].from),
                                                   rows[k].from),
                                          rows[k].bits)
                               : scan_any_number(rows[k].bits));
}

static void do_exchange(scan *x)
{
    const scan_operand *o = x->i->op;
    scan_value a = scan_read_operand(x, &o[0], bits_of(&o[0]));
    scan_value b = scan_read_operand(x, &o[1], bits_of(&o[1]));

    write_operand(x, &o[0], b);
    write_operand(x, &o[1], a);
}

static void do_exchange_add(scan *x)
{
    const scan_operand *o = x->i->op;
    unsigned bits = bits_of(&o[0]);
    scan_value a = scan_read_operand(x, &o[0], bits);

    write_operand(x, &o[0], scan_any_number(bits));
    write_operand(x, &o[1], a);
    x->s.flags = (scan_flags){.compared = false};
}

static void do_compare_exchange(scan *x)
{
    const scan_operand *o = x->i->op;
    unsigned bits = bits_of(&o[0]);

    scan_read_operand(x, &o[0], bits);
    write_operand(
        x, &o[0],
        scan_hull(scan_any_number(bits), scan_read_operand(x, &o[1], bits)));
    if (bits < 32)
        write_register(x, SCAN_RAX, scan_any_number(64));
    else
        write_register(x, SCAN_RAX, scan_any_number(bits));
    x->s.flags = (scan_flags){.compared = false};
}

static void do_push(scan *x)
{
    scan_value v = scan_read_operand(x, x->i->op, 64);
    scan_value *sp = &x->s.reg[SCAN_RSP];

    *sp = scan_subtract(*sp, scan_number(8, 8));
    scan_store(x, *sp, 8, v, false);
}

static void do_pop(scan *x)
{
    scan_value *sp = &x->s.reg[SCAN_RSP], v = scan_load(x, *sp, 8);

    *sp = scan_add(*sp, scan_number(8, 8));
    write_operand(x, x->i->op, v);
}

static void do_nothing(scan *x)
{
    (void)x;
}

/* Flags of something else than numbers compared. */
static void do_bit_test(scan *x)
{
    const scan_operand *o = x->i->op;
    unsigned bits = bits_of(&o[0]);

    if (o[0].kind == SCAN_MEMORY && o[1].kind != SCAN_IMMEDIATE)
        scan_refuse(x, "a bit far away"); /* the number of the bit moves it */
    scan_read_operand(x, &o[0], bits);
    if (x->i->name[2])
        write_operand(x, &o[0], scan_any_number(bits));
    x->s.flags = (scan_flags){.compared = false};
}

static void do_double_shift(scan *x)
{
    unsigned bits = bits_of(x->i->op);

    scan_read_operand(x, x->i->op, bits);
    write_operand(x, x->i->op, scan_any_number(bits));
    x->s.flags = (scan_flags){.compared = false};
}

static void do_mulx(scan *x)
{
    const scan_operand *o = x->i->op;

    scan_read_operand(x, &o[2], bits_of(&o[2]));
    write_operand(x, &o[1], scan_any_number((unsigned)o[1].bits));
    write_operand(x, &o[0], scan_any_number((unsigned)o[0].bits));
}

/* --- the table of what is known ------------------------------------------ */

static const struct {
    const char *name;
    combine *f; /* of two operands or three */
    void (*special)(scan *x);
    bool keeps_flags;
} known[] = {
    {"mov", NULL, do_move, true},
    {"movabs", NULL, do_move, true},
    {"movzx", NULL, do_move, true},
    {"movsx", NULL, do_move_signed, true},
    {"movsxd", NULL, do_move_signed, true},
    {"lea", NULL, do_address, true},
    {"add", scan_add, NULL, false},
    {"sub", scan_subtract, NULL, false},
    {"inc", scan_add, NULL, false},
    {"dec", scan_subtract, NULL, false},
    {"adc", add_carry, NULL, false},
    {"sbb", subtract_carry, NULL, false},
    {"and", scan_and, NULL, false},
    {"or", scan_or, NULL, false},
    {"xor", scan_xor, NULL, false},
    {"shl", scan_shift_left, NULL, false},
    {"sal", scan_shift_left, NULL, false},
    {"shr", shift_right, NULL, false},
    {"sar", shift_right_signed, NULL, false},
    {"rol", any, NULL, false},
    {"ror", any, NULL, false},
    {"rcl", any, NULL, false},
    {"rcr", any, NULL, false},
    {"rorx", any, NULL, true},
    {"shlx", scan_shift_left, NULL, true},
    {"shrx", shift_right, NULL, true},
    {"sarx", shift_right_signed, NULL, true},
    {"pdep", any, NULL, true},
    {"pext", any, NULL, true},
    {"andn", any, NULL, false},
    {"bextr", any, NULL, false},
    {"bzhi", up_to, NULL, false},
    {"imul", NULL, do_multiply, false},
    {"mul", NULL, do_multiply, false},
    {"div", NULL, do_multiply, false},
    {"idiv", NULL, do_multiply, false},
    {"mulx", NULL, do_mulx, true},
    {"not", NULL, do_not, true},
    {"neg", NULL, do_negate, false},
    {"cdqe", NULL, do_widen, true},
    {"cwde", NULL, do_widen, true},
    {"cdq", NULL, do_widen, true},
    {"cqo", NULL, do_widen, true},
    {"cmp", NULL, do_compare, false},
    {"test", NULL, do_test, false},
    {"bt", NULL, do_bit_test, false},
    {"bts", NULL, do_bit_test, false},
    {"btr", NULL, do_bit_test, false},
    {"btc", NULL, do_bit_test, false},
    {"shld", NULL, do_double_shift, false},
    {"shrd", NULL, do_double_shift, false},
    {"xchg", NULL, do_exchange, true},
    {"xadd", NULL, do_exchange_add, false},
    {"cmpxchg", NULL, do_compare_exchange, false},
    {"push", NULL, do_push, true},
    {"pop", NULL, do_pop, true},
    {"nop", NULL, do_nothing, true},
    {"prefetcht0", NULL, do_nothing, true},
    {"prefetcht1", NULL, do_nothing, true},
    {"prefetcht2", NULL, do_nothing, true},
    {"prefetchnta", NULL, do_nothing, true},
    {"prefetchw", NULL, do_nothing, true},
    {"vzeroupper", NULL, do_nothing, true},
};

/* One source, a result below it. */
static const struct {
    const char *name;
    combine *f;
} counting[] = {{"tzcnt", count_of_bits},
                {"lzcnt", count_of_bits},
                {"popcnt", count_of_bits},
                {"bsf", any},
                {"bsr", any},
                {"blsr", up_to},
                {"blsi", up_to},
                {"blsmsk", any},
                {"bswap", any},
                {"movbe", any}};

static bool do_counting(scan *x)
{
    const scan_instruction *i = x->i;

    for (size_t k = 0; k < sizeof counting / sizeof *counting; k++) {
        const scan_operand *from;
        scan_value v;

        if (strcmp(counting[k].name, i->name))
            continue;
        from = &i->op[i->n_ops - 1];
        v = scan_read_operand(x, from, bits_of(from));
        write_operand(x, i->op, scan_low(counting[k].f(v, v), bits_of(i->op)));
        x->s.flags = (scan_flags){.compared = false};
        return true;
    }
    return false;
}

static void do_conditional_move(scan *x, const char *c)
{
    const scan_operand *o = x->i->op;
    scan_value taken, kept;

    taken = scan_read_operand(x, &o[1], bits_of(&o[0]));
    kept = scan_read_operand(x, &o[0], bits_of(&o[0]));
    scan_copy(&x->before, &x->s, x->a);
    scan_learn_branch(x, c);
    if (o[1].kind == SCAN_REGISTER)
        taken = scan_read_operand(x, &o[1], bits_of(&o[0]));
    scan_copy(&x->s, &x->before, x->a);
    scan_learn_branch(x, scan_opposite(c));
    kept = scan_read_operand(x, &o[0], bits_of(&o[0]));
    scan_copy(&x->s, &x->before, x->a);
    write_operand(x, &o[0], scan_hull(taken, kept));
}

static bool do_conditional(scan *x)
{
    const char *name = x->i->name, *c = NULL;

    if (!strncmp(name, "cmov", 4) && (c = scan_condition_of(name + 4)))
        do_conditional_move(x, c);
    else if (!strncmp(name, "set", 3) && (c = scan_condition_of(name + 3)))
        write_operand(x, x->i->op, scan_number(0, 1));
    return c != NULL;
}

/* Vector instructions: memory, and what they put into general registers. A
 * conversion of a float in memory to an integer names no vector register. */
static bool is_vector(const scan_instruction *i)
{
    if (!strncmp(i->name, "vcvt", 4))
        return true;
    for (int k = 0; k < i->n_ops; k++)
        if (i->op[k].kind == SCAN_VECTOR)
            return true;
    return false;
}

/* Those that write what they do not name. */
static bool is_sly(const char *name)
{
    return strstr(name, "maskmov") == name + 1 ||
           !strncmp(name, "maskmov", 7) || strstr(name, "pcmpestr") ||
           strstr(name, "pcmpistr") || strstr(name, "gather") ||
           strstr(name, "scatter");
}

static void do_vector(scan *x)
{
    const scan_instruction *i = x->i;
    const char *name = i->name;

    if (is_sly(name) && strcmp(name, "vmaskmovps") &&
        strcmp(name, "vmaskmovpd"))
        scan_refuse(x, "an instruction not known here");
    for (int k = 0; k < i->n_ops; k++) {
        const scan_operand *o = &i->op[k];

        if (o->kind == SCAN_STRANGE)
            scan_refuse(x, "an operand not known here");
        if (o->kind == SCAN_MEMORY && !k) {
            scan_store(x, scan_address_of(x, o), o->bytes, scan_unknown(),
                       true);
            if (i->n_ops == 1 || o->bytes == 0)
                scan_refuse(x, "an instruction not known here");
        } else if (o->kind == SCAN_MEMORY) {
            scan_load(x, scan_address_of(x, o), o->bytes);
        } else if (o->kind == SCAN_REGISTER && !k) {
            write_operand(x, o, scan_any_number(bits_of(o)));
        }
    }
    if (strstr(name, "comis") || strstr(name, "test"))
        x->s.flags = (scan_flags){.compared = false};
}

static bool may_be_locked(const char *name)
{
    static const char *const names[] = {"add", "sub",  "and",  "or",
                                        "xor", "inc",  "dec",  "not",
                                        "neg", "xadd", "xchg", "cmpxchg"};

    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!strcmp(names[k], name))
            return true;
    return false;
}

void scan_do_plain(scan *x)
{
    const scan_instruction *i = x->i;

    if (i->rep || (i->lock && !may_be_locked(i->name))) {
        scan_refuse(x, "an instruction not known here");
        return;
    }
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(known[k].name, i->name) || is_vector(i))
            continue;
        for (int o = 0; o < i->n_ops && known[k].special != do_nothing; o++)
            if (i->op[o].kind == SCAN_STRANGE)
                scan_refuse(x, "an operand not known here");
        if (known[k].special)
            known[k].special(x);
        else
            two_operands(x, known[k].f, known[k].keeps_flags);
        return;
    }
    if (is_vector(i))
        do_vector(x);
    else if (!do_conditional(x) && !do_counting(x))
        scan_refuse(x, "an instruction not known here");
}
