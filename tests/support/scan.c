/* Follows a function's machine code, with scan_state for what is known. */
#include "tests/support/scan.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/builtins/routines.h"
#include "sim/compiler/abi/hostabi.h"
#include "sim/exec/memory.h"
#include "tests/support/scan_state.h"

enum {
    MAX_LIMITS = 512,
    MAX_ROUNDS = 12,
    MANY_PASSES = 40,
    WIDEN_AFTER = 4,
    RED_ZONE = 128
};

typedef struct {
    uint64_t at;
    scan_state in, next; /* next: of the descending pass */
    bool waits;
    unsigned visits;
} block;

typedef struct {
    const scan_section *sections;
    size_t n_sections;
    int code;
    uint64_t begin, end;
    uint32_t args_bytes;
    arena *a;
    block **blocks; /* by number */
    size_t n_blocks, cap_blocks;
    uint32_t *block_at; /* number + 1, by offset from begin */
    scan_instruction **decoded;
    uint32_t *owner; /* of each byte: offset of its instruction + 1 */
    int64_t limits[MAX_LIMITS];
    size_t n_limits;
    enum { ASCEND, DESCEND, JUDGE } phase;
    bool changed;
    const char *wrong;
    /* While a block is walked. */
    scan_state s, before, was;
    const scan_instruction *i;
} scan;

__attribute__((format(printf, 2, 3))) static void refuse(scan *x,
                                                         const char *fmt, ...)
{
    char what[200];
    va_list ap;

    if (x->phase != JUDGE || x->wrong)
        return;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    x->wrong = arena_printf(x->a, "+0x%llx:%s: %s",
                            (unsigned long long)(x->i ? x->i->at : x->begin),
                            x->i ? x->i->text : "", what);
}

static const scan_section *code_of(const scan *x)
{
    return &x->sections[x->code];
}

static uint64_t next_of(const scan_instruction *i)
{
    return i->at + i->length;
}

/* --- relocations --------------------------------------------------------- */

static const scan_relocation *relocation_at(const scan_section *s,
                                            uint64_t from, uint64_t to)
{
    size_t lo = 0, hi = s->n_relocations;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (s->relocations[mid].at < from)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->n_relocations && s->relocations[lo].at < to
               ? &s->relocations[lo]
               : NULL;
}

static const scan_relocation *relocation_of(const scan *x)
{
    return relocation_at(code_of(x), x->i->at, next_of(x->i));
}

static const char *symbol_of(const scan *x, scan_value v)
{
    return code_of(x)->relocations[v.of].symbol;
}

/* A place in a section. */
static scan_value place_in(const scan *x, int section, int64_t at)
{
    return section == x->code ? scan_at(SCAN_CODE, 0, at)
                              : scan_at(SCAN_SECTION, section, at);
}

/* The first of the relocations with this symbol. */
static int32_t symbol_index(const scan *x, const scan_relocation *r)
{
    const scan_relocation *all = code_of(x)->relocations;
    int32_t k = 0;

    while (strcmp(all[k].symbol, r->symbol))
        k++;
    return k;
}

static scan_value immediate_relocation(scan *x, const scan_relocation *r)
{
    int32_t index = symbol_index(x, r);

    switch (r->type) {
    case R_X86_64_GOTPC64:
        return scan_at(SCAN_GOT_FROM_CODE, 0, r->addend - (int64_t)r->at);
    case R_X86_64_GOTOFF64:
        if (r->section >= 0 && r->section != x->code)
            return scan_at(SCAN_FROM_GOT, r->section, r->addend);
        break;
    case R_X86_64_GOT64:
        if (r->section < 0)
            return scan_at(SCAN_SLOT_FROM_GOT, index, r->addend);
        break;
    case R_X86_64_64:
        if (r->section >= 0)
            return place_in(x, r->section, r->addend);
        if (!r->addend)
            return scan_at(SCAN_SYMBOL, index, 0);
        break;
    default:
        break;
    }
    refuse(x, "relocation of type %u", r->type);
    return scan_unknown();
}

static scan_value rip_address(scan *x, int64_t displacement)
{
    const scan_relocation *r = relocation_of(x);
    int64_t next = (int64_t)next_of(x->i);

    if (!r)
        return scan_at(SCAN_CODE, 0, next + displacement);
    if (r->type == R_X86_64_PC32 && r->section >= 0)
        return place_in(x, r->section, r->addend + next - (int64_t)r->at);
    if ((r->type == R_X86_64_GOTPCREL || r->type == R_X86_64_GOTPCRELX ||
         r->type == R_X86_64_REX_GOTPCRELX) &&
        r->section < 0 && r->addend + next == (int64_t)r->at)
        return scan_at(SCAN_SLOT, symbol_index(x, r), 0);
    refuse(x, "relocation of type %u", r->type);
    return scan_unknown();
}

/* --- memory -------------------------------------------------------------- */

/* Of a section's address the step is that of the index. */
static scan_value address_of(scan *x, const scan_operand *o)
{
    scan_value v = scan_number(o->number, o->number), index;

    if (o->reg == SCAN_RIP)
        return rip_address(x, o->number);
    if (relocation_of(x))
        refuse(x, "a relocated displacement");
    if (o->reg != SCAN_NO_REGISTER)
        v = scan_add(x->s.reg[o->reg], v);
    if (o->index == SCAN_NO_REGISTER)
        return v;
    index = scan_multiply(x->s.reg[o->index], scan_number(o->scale, o->scale));
    if (o->scale == 1)
        return scan_add(v, x->s.reg[o->index]);
    if (v.base == SCAN_SECTION && v.lo == v.hi) {
        v = scan_add(v, index);
        v.step = (uint32_t)o->scale;
        return v;
    }
    return scan_add(v, index);
}

/* The least place of the stack that is the function's own. */
static int64_t depth_of(const scan *x, scan_base base)
{
    const scan_value *sp = &x->s.reg[SCAN_RSP];

    if (base == SCAN_STACK && sp->base == SCAN_FRAME)
        return x->s.lowest;
    return (sp->base == base && sp->lo == sp->hi ? sp->lo : 0) - RED_ZONE;
}

static bool is_written_field(int64_t lo, int64_t hi)
{
    static const struct {
        size_t at, bytes;
    } fields[] = {{offsetof(sim_wg, cycles), 8},
                  {offsetof(sim_wg, log_n), 8},
                  {offsetof(sim_wg, line), 8}}; /* and col */

    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
        if (lo >= (int64_t)fields[k].at &&
            hi <= (int64_t)(fields[k].at + fields[k].bytes))
            return true;
    return false;
}

static bool is_inside(const scan *x, scan_value v, uint32_t bytes, bool write)
{
    int64_t lo = v.lo, hi;

    if (__builtin_add_overflow(v.hi, (int64_t)bytes, &hi))
        return false;
    switch (v.base) {
    case SCAN_WG:
        return lo >= 0 && hi <= (int64_t)sizeof(sim_wg) &&
               (!write || is_written_field(lo, hi));
    case SCAN_WINDOW:
        return lo >= 0 && hi <= (int64_t)MEMORY_RESERVED;
    case SCAN_ARGS:
        return lo >= 0 && hi <= (int64_t)x->args_bytes && !write;
    case SCAN_LOG:
        return lo >= 0 && hi <= (int64_t)SIM_LOG_ENTRIES * 8;
    case SCAN_STACK:
        return hi <= 0 && lo >= depth_of(x, SCAN_STACK);
    case SCAN_FRAME:
        return hi <= 0 && lo >= depth_of(x, SCAN_FRAME);
    case SCAN_SECTION:
        return !write && lo >= 0 && hi <= (int64_t)x->sections[v.of].length &&
               x->sections[v.of].present && !x->sections[v.of].executable;
    case SCAN_SLOT:
        return !write && v.lo == 0 && v.hi == 0 && bytes == 8;
    default:
        return false;
    }
}

static void check_access(scan *x, scan_value v, uint32_t bytes, bool write)
{
    static const char *const bases[] = {"anything",
                                        "a number",
                                        "sim_wg",
                                        "the window",
                                        "the arguments",
                                        "the log",
                                        "the stack",
                                        "the frame",
                                        "a register of the caller",
                                        "the code",
                                        "a section",
                                        "a symbol",
                                        "the GOT",
                                        "?",
                                        "?",
                                        "?",
                                        "a GOT entry",
                                        "a table's entry",
                                        "a jump's target"};

    if (!bytes)
        refuse(x, "an access of unknown size");
    else if (!is_inside(x, v, bytes, write))
        refuse(x, "%s %u bytes at %s + [%lld, %lld]",
               write ? "writes" : "reads", bytes, bases[v.base],
               (long long)v.lo, (long long)v.hi);
}

/* A table of relocations, from which a jump takes its target. */
static scan_value load_section(const scan *x, scan_value at, uint32_t bytes)
{
    const scan_section *s = &x->sections[at.of];

    if (!relocation_at(s, at.lo < 0 ? 0 : (uint64_t)at.lo,
                       (uint64_t)at.hi + bytes))
        return scan_any_number(bytes * 8);
    at.base = SCAN_ENTRY;
    at.from = bytes;
    if (at.lo == at.hi)
        at.step = bytes;
    return at.step == bytes ? at : scan_unknown();
}

static scan_value load(scan *x, scan_value at, uint32_t bytes)
{
    scan_value any = scan_any_number(bytes * 8);

    check_access(x, at, bytes, false);
    switch (at.base) {
    case SCAN_STACK:
    case SCAN_FRAME:
        return at.lo == at.hi ? scan_get_slot(&x->s, at.base, at.lo, bytes)
               : bytes < 8    ? any
                              : scan_unknown();
    case SCAN_WG:
        return at.lo == (int64_t)offsetof(sim_wg, log_n) && at.hi == at.lo &&
                       bytes == 8
                   ? x->s.log_n
                   : any;
    case SCAN_SLOT:
        return scan_at(SCAN_SYMBOL, at.of, 0);
    case SCAN_SECTION:
        return load_section(x, at, bytes);
    case SCAN_WINDOW:
    case SCAN_ARGS:
    case SCAN_LOG:
        return any;
    default:
        return bytes < 8 ? any : scan_unknown();
    }
}

static void store_log_n(scan *x, scan_value at, uint32_t bytes, scan_value v)
{
    const int64_t log_n = offsetof(sim_wg, log_n);

    if (at.base != SCAN_WG || at.hi + bytes <= log_n || at.lo >= log_n + 8)
        return;
    if (at.lo != log_n || bytes != 8 || !scan_is_within(v, 0, SIM_LOG_ENTRIES))
        refuse(x, "log_n may become [%lld, %lld]", (long long)v.lo,
               (long long)v.hi);
    x->s.log_n = scan_is_within(v, 0, SIM_LOG_ENTRIES)
                     ? v
                     : scan_number(0, SIM_LOG_ENTRIES);
}

static uint32_t new_name(const scan *x, int k)
{
    return (uint32_t)((x->i->at - x->begin) << 5 | (unsigned)k) + 1;
}

/* v: of general registers; UNKNOWN of others, which holds is_vector. */
static void store(scan *x, scan_value at, uint32_t bytes, scan_value v,
                  bool is_vector)
{
    check_access(x, at, bytes, true);
    if (at.base == SCAN_WINDOW && !is_vector && bytes == 8 &&
        v.base != SCAN_NUMBER)
        refuse(x, "what may be an address goes into the window");
    store_log_n(x, at, bytes, v);
    if (at.base != SCAN_STACK && at.base != SCAN_FRAME)
        return;
    scan_forget_slots(&x->s, at.base, at.lo, at.hi + bytes);
    if (!v.name) {
        v.name = new_name(x, 29);
        scan_forget_name(&x->s, v.name);
    }
    if (!is_vector && at.lo == at.hi && bytes >= 4)
        scan_put_slot(&x->s, at.base, at.lo, bytes, v, x->a);
}

/* --- operands ------------------------------------------------------------ */

static void write_register(scan *x, int r, scan_value v)
{
    if (!v.name) {
        v.name = new_name(x, r);
        scan_forget_name(&x->s, v.name);
    }
    x->s.reg[r] = v;
}

/* The width of what an operand says, in bits. */
static unsigned bits_of(const scan_operand *o)
{
    return o->kind == SCAN_REGISTER ? (unsigned)o->bits : o->bytes * 8;
}

static scan_value read_operand(scan *x, const scan_operand *o, unsigned bits)
{
    const scan_relocation *r;

    switch (o->kind) {
    case SCAN_REGISTER:
        if (o->high)
            return scan_any_number(8);
        return scan_low(x->s.reg[o->reg], (unsigned)o->bits);
    case SCAN_IMMEDIATE:
        r = relocation_of(x);
        if (r)
            return immediate_relocation(x, r);
        return scan_low(scan_number(o->number, o->number), bits);
    case SCAN_MEMORY:
        return load(x, address_of(x, o), o->bytes);
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
        store(x, address_of(x, o), o->bytes,
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

static void learn(scan *x, const char *c)
{
    const scan_flags f = x->s.flags;

    if (f.made && (!strcmp(c, "e") || !strcmp(c, "ne")))
        learn_pair(x, c, f.result, scan_number(0, 0), f.bits);
    if (f.compared)
        learn_pair(x, c, f.left, f.right, f.bits);
}

/* Condition names have several spellings. */
static const char *condition_of(const char *c)
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
    mask = read_operand(x, &x->i->op[1], 64);
    if (sp->base != SCAN_STACK || sp->lo != sp->hi || x->s.lowest ||
        !scan_is_constant(mask) || mask.lo >= 0 || mask.lo < -4096)
        refuse(x, "the stack's pointer is changed");
    x->s.lowest = sp->lo;
    *sp = scan_at(SCAN_FRAME, 0, 0);
    return true;
}

static void two_operands(scan *x, combine *f, bool keeps_flags)
{
    const scan_operand *to = &x->i->op[0];
    unsigned bits = bits_of(to);
    bool third = x->i->n_ops == 3;
    scan_value a = read_operand(x, &x->i->op[third], bits), b, v;

    if (f == scan_and && align_stack(x))
        return;
    b = x->i->n_ops > 1 ? read_operand(x, &x->i->op[1 + third], bits)
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
    scan_value a = read_operand(x, &x->i->op[0], bits);
    scan_value b = read_operand(x, &x->i->op[1], bits);

    set_compared(x, a, b, bits);
}

static void do_test(scan *x)
{
    const scan_operand *o = x->i->op;
    unsigned bits = bits_of(&o[0]);
    scan_value a = read_operand(x, &o[0], bits);

    read_operand(x, &o[1], bits);
    x->s.flags = (scan_flags){.compared = false};
    if (o[0].kind == SCAN_REGISTER && o[1].kind == SCAN_REGISTER &&
        o[0].reg == o[1].reg && o[0].high == o[1].high)
        set_compared(x, a, scan_number(0, 0), bits);
}

static void do_move(scan *x)
{
    write_operand(x, &x->i->op[0],
                  read_operand(x, &x->i->op[1], bits_of(&x->i->op[0])));
}

static void do_move_signed(scan *x)
{
    const scan_operand *from = &x->i->op[1];
    scan_value v = read_operand(x, from, bits_of(from));

    if (v.base == SCAN_ENTRY && x->i->op[0].bits == 64) {
        write_operand(x, &x->i->op[0], v);
        return;
    }
    write_operand(x, &x->i->op[0], extended(v, bits_of(from)));
}

static void do_address(scan *x)
{
    scan_value v = address_of(x, &x->i->op[1]);

    v.step = 0;
    write_operand(x, &x->i->op[0], v);
}

static void do_not(scan *x)
{
    const scan_operand *o = x->i->op;

    write_operand(
        x, o,
        scan_subtract(scan_number(-1, -1), read_operand(x, o, bits_of(o))));
}

static void do_negate(scan *x)
{
    const scan_operand *o = x->i->op;

    write_operand(
        x, o, scan_subtract(scan_number(0, 0), read_operand(x, o, bits_of(o))));
    x->s.flags = (scan_flags){.compared = false};
    set_result(x, o);
}

/* rax and rdx, of so many bits. */
static void make_pair(scan *x, unsigned bits)
{
    static const int pair[] = {SCAN_RAX, SCAN_RDX};

    for (int k = 0; k < 2; k++)
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
    read_operand(x, x->i->op, bits_of(x->i->op));
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
    scan_value a = read_operand(x, &o[0], bits_of(&o[0]));
    scan_value b = read_operand(x, &o[1], bits_of(&o[1]));

    write_operand(x, &o[0], b);
    write_operand(x, &o[1], a);
}

static void do_exchange_add(scan *x)
{
    const scan_operand *o = x->i->op;
    unsigned bits = bits_of(&o[0]);
    scan_value a = read_operand(x, &o[0], bits);

    write_operand(x, &o[0], scan_any_number(bits));
    write_operand(x, &o[1], a);
    x->s.flags = (scan_flags){.compared = false};
}

static void do_compare_exchange(scan *x)
{
    const scan_operand *o = x->i->op;
    unsigned bits = bits_of(&o[0]);

    read_operand(x, &o[0], bits);
    write_operand(
        x, &o[0],
        scan_hull(scan_any_number(bits), read_operand(x, &o[1], bits)));
    if (bits < 32)
        write_register(x, SCAN_RAX, scan_any_number(64));
    else
        write_register(x, SCAN_RAX, scan_any_number(bits));
    x->s.flags = (scan_flags){.compared = false};
}

static void do_push(scan *x)
{
    scan_value v = read_operand(x, x->i->op, 64);
    scan_value *sp = &x->s.reg[SCAN_RSP];

    *sp = scan_subtract(*sp, scan_number(8, 8));
    store(x, *sp, 8, v, false);
}

static void do_pop(scan *x)
{
    scan_value *sp = &x->s.reg[SCAN_RSP], v = load(x, *sp, 8);

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
        refuse(x, "a bit far away"); /* the number of the bit moves it */
    read_operand(x, &o[0], bits);
    if (x->i->name[2])
        write_operand(x, &o[0], scan_any_number(bits));
    x->s.flags = (scan_flags){.compared = false};
}

static void do_double_shift(scan *x)
{
    unsigned bits = bits_of(x->i->op);

    read_operand(x, x->i->op, bits);
    write_operand(x, x->i->op, scan_any_number(bits));
    x->s.flags = (scan_flags){.compared = false};
}

static void do_mulx(scan *x)
{
    const scan_operand *o = x->i->op;

    read_operand(x, &o[2], bits_of(&o[2]));
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
        const scan_operand *from = &i->op[i->n_ops - 1];
        scan_value v;

        if (strcmp(counting[k].name, i->name))
            continue;
        v = read_operand(x, from, bits_of(from));
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

    taken = read_operand(x, &o[1], bits_of(&o[0]));
    kept = read_operand(x, &o[0], bits_of(&o[0]));
    scan_copy(&x->before, &x->s, x->a);
    learn(x, c);
    if (o[1].kind == SCAN_REGISTER)
        taken = read_operand(x, &o[1], bits_of(&o[0]));
    scan_copy(&x->s, &x->before, x->a);
    learn(x, scan_opposite(c));
    kept = read_operand(x, &o[0], bits_of(&o[0]));
    scan_copy(&x->s, &x->before, x->a);
    write_operand(x, &o[0], scan_hull(taken, kept));
}

static bool do_conditional(scan *x)
{
    const char *name = x->i->name, *c = NULL;

    if (!strncmp(name, "cmov", 4) && (c = condition_of(name + 4)))
        do_conditional_move(x, c);
    else if (!strncmp(name, "set", 3) && (c = condition_of(name + 3)))
        write_operand(x, x->i->op, scan_number(0, 1));
    return c != NULL;
}

/* Vector instructions: memory, and what they put into general registers. */
static bool is_vector(const scan_instruction *i)
{
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
        refuse(x, "an instruction not known here");
    for (int k = 0; k < i->n_ops; k++) {
        const scan_operand *o = &i->op[k];

        if (o->kind == SCAN_STRANGE)
            refuse(x, "an operand not known here");
        if (o->kind == SCAN_MEMORY && !k) {
            store(x, address_of(x, o), o->bytes, scan_unknown(), true);
            if (i->n_ops == 1 || o->bytes == 0)
                refuse(x, "an instruction not known here");
        } else if (o->kind == SCAN_MEMORY) {
            load(x, address_of(x, o), o->bytes);
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

static void do_plain(scan *x)
{
    const scan_instruction *i = x->i;

    if (i->rep || (i->lock && !may_be_locked(i->name))) {
        refuse(x, "an instruction not known here");
        return;
    }
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(known[k].name, i->name) || is_vector(i))
            continue;
        for (int o = 0; o < i->n_ops && known[k].special != do_nothing; o++)
            if (i->op[o].kind == SCAN_STRANGE)
                refuse(x, "an operand not known here");
        if (known[k].special)
            known[k].special(x);
        else
            two_operands(x, known[k].f, known[k].keeps_flags);
        return;
    }
    if (is_vector(i))
        do_vector(x);
    else if (!do_conditional(x) && !do_counting(x))
        refuse(x, "an instruction not known here");
}

/* --- calls --------------------------------------------------------------- */

static const char *const functions[] = {"__vpu_half_z",
                                        "__vpu_half_p",
                                        "__vpu_half_n",
                                        "__vpu_float_iz",
                                        "__vpu_float_ip",
                                        "__vpu_float_in",
                                        "__vpu_float_uz",
                                        "__vpu_float_up",
                                        "__vpu_float_un",
                                        "__vpu_nextafter_f16",
                                        "__vpu_nextafter_f32",
                                        "__extendhfsf2",
                                        "__truncsfhf2",
                                        "__truncdfhf2",
                                        "sqrtf",
                                        "fmodf",
                                        "floorf",
                                        "ceilf",
                                        "truncf",
                                        "rintf",
                                        "roundf",
                                        "fminf",
                                        "fmaxf"};

static bool is_function_of_values(const char *name)
{
    char routine[64];

    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        if (!strcmp(functions[k], name))
            return true;
    for (uint32_t k = 0; k < builtin_n_routines; k++)
        for (int half = 0; half < 2; half++) {
            snprintf(routine, sizeof routine, "__vpu_%s_%s",
                     builtin_routines[k].name, half ? "f16" : "f32");
            if (!strcmp(routine, name))
                return true;
        }
    return false;
}

/* Hooks that every kernel may call, and what their arguments are: 'w' sim_wg,
 * 'l' the log, 'd' arguments of a transfer on the stack, '-' a number. */
static const struct {
    const char *name, *arguments;
    bool returns;
} hooks[] = {
    {"vpu_hook_flush", "wl", true},        {"vpu_hook_dma", "wld", true},
    {"vpu_hook_wait", "wl-", true},        {"vpu_hook_touch", "w---", true},
    {"vpu_hook_print", "w---", true},      {"vpu_hook_divergence", "w-", false},
    {"vpu_hook_unreachable", "w-", false}, {"vpu_hook_limit", "w", false}};

static const int arguments[] = {SCAN_RDI, SCAN_RSI, SCAN_RDX, SCAN_RCX};

static void check_argument(scan *x, scan_value v, char what)
{
    scan_base base = what == 'w' ? SCAN_WG : SCAN_LOG;

    if (what == '-')
        return;
    if (what == 'd')
        check_access(x, v, SIM_DMA_N * 4, false);
    if (what == 'd' ? v.base != SCAN_STACK && v.base != SCAN_FRAME
                    : v.base != base || v.lo || v.hi)
        refuse(x, "a hook's argument '%c' is something else", what);
}

static void call_hook(scan *x, size_t k)
{
    for (size_t n = 0; hooks[k].arguments[n]; n++)
        check_argument(x, x->s.reg[arguments[n]], hooks[k].arguments[n]);
    scan_forget_name(&x->s, new_name(x, 30));
    x->s.log_n = scan_number(
        0, strcmp(hooks[k].name, "vpu_hook_flush") ? x->s.log_n.hi : 0);
    x->s.log_n.name = new_name(x, 30);
}

/* A block of memory, of rdx bytes, somewhere in the window. */
static void call_memory(scan *x, const char *name)
{
    int n = strcmp(name, "memset") ? 2 : 1;
    scan_value bytes = x->s.reg[SCAN_RDX];

    for (int k = 0; k < n; k++) {
        scan_value p = x->s.reg[arguments[k]];

        if (p.base != SCAN_WINDOW || p.lo < 0 ||
            !scan_is_within(bytes, 0, SCAN_U32) ||
            p.hi > (int64_t)MEMORY_RESERVED - bytes.hi)
            refuse(x, "%s outside the window", name);
    }
}

static void forget_registers(scan *x)
{
    static const int lost[] = {SCAN_RAX, SCAN_RCX, SCAN_RDX, SCAN_RSI, SCAN_RDI,
                               8,        9,        10,       11};
    scan_value sp = x->s.reg[SCAN_RSP];

    for (size_t k = 0; k < sizeof lost / sizeof *lost; k++)
        x->s.reg[lost[k]] = scan_unknown();
    x->s.flags = (scan_flags){.compared = false};
    if (sp.base == SCAN_STACK || sp.base == SCAN_FRAME)
        scan_forget_slots(&x->s, sp.base, INT64_MIN, sp.lo);
    else
        refuse(x, "a call without a stack");
}

/* Does it come back? */
static bool do_call(scan *x)
{
    const scan_relocation *r = relocation_of(x);
    const scan_operand *o = &x->i->op[0];
    const char *name = NULL;
    bool returns = true;

    if (o->kind == SCAN_IMMEDIATE) {
        if (r && r->section < 0 && r->addend == -4 &&
            (r->type == R_X86_64_PLT32 || r->type == R_X86_64_PC32))
            name = r->symbol;
    } else {
        scan_value v = read_operand(x, o, 64);

        if (v.base == SCAN_SYMBOL)
            name = symbol_of(x, v);
    }
    if (!name) {
        refuse(x, "a call of something unknown");
        return false;
    }
    if (!strcmp(name, "memcpy") || !strcmp(name, "memmove") ||
        !strcmp(name, "memset")) {
        call_memory(x, name);
    } else if (!is_function_of_values(name)) {
        size_t k = 0;

        while (k < sizeof hooks / sizeof *hooks && strcmp(hooks[k].name, name))
            k++;
        if (k == sizeof hooks / sizeof *hooks) {
            refuse(x, "a call of '%s'", name);
            return false;
        }
        call_hook(x, k);
        returns = hooks[k].returns;
    }
    forget_registers(x);
    return returns;
}

static void do_return(scan *x)
{
    static const int kept[] = {SCAN_RBX, SCAN_RBP, 12, 13, 14, 15};
    scan_value sp = x->s.reg[SCAN_RSP];

    if (x->i->n_ops || x->i->rep || sp.base != SCAN_STACK || sp.lo || sp.hi)
        refuse(x, "returns with another stack");
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
        if (x->s.reg[kept[k]].base != SCAN_CALLER ||
            x->s.reg[kept[k]].of != kept[k])
            refuse(x, "a register of the caller is lost");
}

/* --- control ------------------------------------------------------------- */

static block *block_for(scan *x, uint64_t at)
{
    uint32_t *n = &x->block_at[at - x->begin];
    block *b;

    if (*n)
        return x->blocks[*n - 1];
    b = arena_new(x->a, block);
    b->at = at;
    *arena_append(x->a, x->blocks, x->n_blocks, x->cap_blocks) = b;
    *n = (uint32_t)x->n_blocks;
    return b;
}

/* Control may go from the instruction to `at`. */
static void go(scan *x, uint64_t at)
{
    scan_state *to;
    block *b;

    if (at < x->begin || at >= x->end) {
        refuse(x, at == x->end ? "falls off the function's end"
                               : "jumps out of the function");
        return;
    }
    b = block_for(x, at);
    if (x->phase == DESCEND) {
        scan_join(&b->next, &x->s, x->block_at[at - x->begin], NULL, 0, x->a);
        return;
    }
    to = &b->in;
    scan_copy(&x->was, to, x->a);
    scan_join(to, &x->s, x->block_at[at - x->begin], x->limits,
              b->visits > WIDEN_AFTER ? x->n_limits : 0, x->a);
    if (scan_equal(to, &x->was))
        return;
    if (x->phase == JUDGE) {
        scan_copy(to, &x->was, x->a);
        x->changed = true;
        return;
    }
    b->waits = true;
}

/* Every entry of the table between the bounds. */
static void jump_through(scan *x, scan_value v)
{
    const scan_section *s = &x->sections[v.of];

    if (v.base != SCAN_TARGET || v.lo < v.from || v.hi < v.lo ||
        v.hi + v.step > (int64_t)s->length) {
        refuse(x, "a jump to something unknown");
        return;
    }
    for (int64_t at = v.lo; at <= v.hi; at += v.step) {
        const scan_relocation *r =
            relocation_at(s, (uint64_t)at, (uint64_t)at + v.step);
        uint32_t type = v.step == 8 ? R_X86_64_PC64 : R_X86_64_PC32;

        if (!r || r->at != (uint64_t)at || r->type != type ||
            r->section != x->code)
            refuse(x, "a jump's table has an entry that is no place in the "
                      "function");
        else
            go(x, (uint64_t)(r->addend + v.from - at));
    }
}

static void do_jump(scan *x)
{
    const scan_operand *o = &x->i->op[0];

    if (relocation_of(x) && o->kind == SCAN_IMMEDIATE)
        refuse(x, "jumps out of the function");
    else if (o->kind == SCAN_IMMEDIATE)
        go(x, next_of(x->i) + (uint64_t)o->number);
    else
        jump_through(x, read_operand(x, o, 64));
}

static void do_branch(scan *x, const char *c)
{
    const scan_operand *o = &x->i->op[0];

    if (relocation_of(x) || o->kind != SCAN_IMMEDIATE) {
        refuse(x, "jumps out of the function");
        return;
    }
    scan_copy(&x->before, &x->s, x->a);
    learn(x, c);
    go(x, next_of(x->i) + (uint64_t)o->number);
    scan_copy(&x->s, &x->before, x->a);
    learn(x, scan_opposite(c));
    go(x, next_of(x->i));
}

/* Does control go on behind the instruction? */
static bool step(scan *x)
{
    const char *name = x->i->name, *c;

    if (!strcmp(name, "jmp")) {
        do_jump(x);
        return false;
    }
    if (*name == 'j' && (c = condition_of(name + 1))) {
        do_branch(x, c);
        return false;
    }
    if (!strcmp(name, "ret")) {
        do_return(x);
        return false;
    }
    if (!strcmp(name, "call"))
        return do_call(x);
    do_plain(x);
    return true;
}

static const scan_instruction *instruction_at(scan *x, uint64_t at)
{
    scan_instruction **d = &x->decoded[at - x->begin];

    if (!*d) {
        *d = arena_new(x->a, scan_instruction);
        scan_decode(code_of(x)->bytes, x->end, at, *d);
    }
    return *d;
}

/* No byte is part of two instructions. */
static void claim(scan *x)
{
    for (uint64_t k = x->i->at; k < next_of(x->i); k++) {
        uint32_t *o = &x->owner[k - x->begin];
        uint32_t mine = (uint32_t)(x->i->at - x->begin) + 1;

        if (*o && *o != mine)
            refuse(x, "jumps into the middle of an instruction");
        *o = mine;
    }
}

static void walk(scan *x, const block *b)
{
    uint64_t at = b->at;

    scan_copy(&x->s, &b->in, x->a);
    while (!x->wrong) {
        x->i = instruction_at(x, at);
        if (!x->i->length) {
            refuse(x, "no instruction");
            return;
        }
        if (x->phase == JUDGE)
            claim(x);
        if (!step(x))
            return;
        at = next_of(x->i);
        if (at >= x->end || x->block_at[at - x->begin]) {
            go(x, at);
            return;
        }
    }
}

/* --- to a fixed point ---------------------------------------------------- */

static void enter(scan_state *s)
{
    static const int kept[] = {SCAN_RBX, SCAN_RBP, 12, 13, 14, 15};

    *s = (scan_state){
        .reached = true, .slots = s->slots, .cap_slots = s->cap_slots};
    s->reg[SCAN_RDI] = scan_at(SCAN_WG, 0, 0);
    s->reg[SCAN_RSI] = scan_at(SCAN_WINDOW, 0, 0);
    s->reg[SCAN_RDX] = scan_at(SCAN_ARGS, 0, 0);
    s->reg[SCAN_RCX] = scan_at(SCAN_LOG, 0, 0);
    s->reg[SCAN_RSP] = scan_at(SCAN_STACK, 0, 0);
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
        s->reg[kept[k]] = scan_at(SCAN_CALLER, kept[k], 0);
    s->log_n = scan_number(0, SIM_LOG_ENTRIES);
    s->log_n.name = 0x7fffffff;
}

static void ascend(scan *x)
{
    x->phase = ASCEND;
    for (bool any_waits = true; any_waits;) {
        block *next = NULL;

        for (size_t k = 0; k < x->n_blocks; k++)
            if (x->blocks[k]->waits && (!next || x->blocks[k]->at < next->at))
                next = x->blocks[k];
        any_waits = next != NULL;
        if (!next)
            break;
        next->waits = false;
        next->visits++;
        walk(x, next);
    }
}

static void descend(scan *x, int passes)
{
    bool changed = true;

    x->phase = DESCEND;
    for (int pass = 0; pass < passes && changed; pass++) {
        changed = false;
        for (size_t k = 0; k < x->n_blocks; k++)
            x->blocks[k]->next.reached = false;
        enter(&x->blocks[0]->next);
        for (size_t k = 0; k < x->n_blocks; k++)
            if (x->blocks[k]->in.reached)
                walk(x, x->blocks[k]);
        for (size_t k = 0; k < x->n_blocks; k++) {
            block *b = x->blocks[k];

            if (b->in.reached == b->next.reached &&
                (!b->in.reached || scan_equal(&b->in, &b->next)))
                continue;
            scan_copy(&b->in, &b->next, x->a);
            changed = true;
        }
    }
}

/* What was found holds at each instruction, and the rules with it. */
static bool judge(scan *x)
{
    x->phase = JUDGE;
    x->changed = false;
    memset(x->owner, 0, (x->end - x->begin) * sizeof *x->owner);
    for (size_t k = 0; k < x->n_blocks; k++)
        if (x->blocks[k]->in.reached)
            walk(x, x->blocks[k]);
    return !x->changed;
}

static int by_number(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Where growing intervals stop: powers of two, and what code compares with. */
static void find_limits(scan *x)
{
    static const int64_t some[] = {-SCAN_U32 - 1,
                                   -SCAN_U32 / 2 - 1,
                                   -1,
                                   0,
                                   1,
                                   255,
                                   65535,
                                   SCAN_U32 / 2,
                                   SCAN_U32 / 2 + 1,
                                   SCAN_U32,
                                   SCAN_U32 + 1,
                                   2 * SCAN_U32};

    memcpy(x->limits, some, sizeof some);
    x->n_limits = sizeof some / sizeof *some;
    for (uint64_t at = x->begin; at < x->end;) {
        const scan_instruction *i = instruction_at(x, at);

        at += i->length ? i->length : 1;
        if (!strcmp(i->name, "cmp") && i->op[1].kind == SCAN_IMMEDIATE)
            for (int k = -1; k <= 1 && x->n_limits < MAX_LIMITS; k++)
                x->limits[x->n_limits++] = i->op[1].number + k;
    }
    qsort(x->limits, x->n_limits, sizeof *x->limits, by_number);
}

const char *scan_function(const scan_section *sections, size_t n_sections,
                          int code, uint64_t begin, uint64_t n,
                          uint32_t args_bytes, arena *out)
{
    arena *a = arena_create(0);
    scan x = {.sections = sections,
              .n_sections = n_sections,
              .code = code,
              .begin = begin,
              .end = begin + n,
              .args_bytes = args_bytes,
              .a = a,
              .block_at = arena_array(a, uint32_t, n + 1),
              .decoded = arena_array(a, scan_instruction *, n + 1),
              .owner = arena_array(a, uint32_t, n + 1)};
    const char *wrong;
    bool settled = false;

    find_limits(&x);
    enter(&block_for(&x, begin)->in);
    for (int round = 0; round < MAX_ROUNDS && !settled; round++) {
        x.wrong = NULL;
        for (size_t k = 0; k < x.n_blocks; k++)
            x.blocks[k]->waits = x.blocks[k]->in.reached;
        ascend(&x);
        descend(&x,
                round < MAX_ROUNDS / 2 ? MANY_PASSES : MAX_ROUNDS - 1 - round);
        settled = judge(&x);
    }
    if (!settled && !x.wrong)
        refuse(&x, "the analysis does not settle");
    wrong = arena_strdup(out, x.wrong);
    arena_destroy(a);
    return wrong;
}
