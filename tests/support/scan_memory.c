/* Memory as a function reaches it: what an address counts from, whether an
 * access is inside that, and what is known of the bytes there. */
#include "tests/support/scan_walk.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/builtins/routines.h"
#include "sim/compiler/abi/hostabi.h"
#include "sim/exec/memory.h"

enum { RED_ZONE = 128 };

void scan_refuse(scan *x, const char *fmt, ...)
{
    char what[200];
    va_list ap;

    if (x->phase != SCAN_JUDGE || x->wrong)
        return;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    x->wrong = arena_printf(x->a, "+0x%llx:%s: %s",
                            (unsigned long long)(x->i ? x->i->at : x->begin),
                            x->i ? x->i->text : "", what);
}

const scan_section *scan_code_of(const scan *x)
{
    return &x->sections[x->code];
}

uint64_t scan_next_of(const scan_instruction *i)
{
    return i->at + i->length;
}

/* --- relocations --------------------------------------------------------- */

const scan_relocation *scan_relocation_at(const scan_section *s, uint64_t from,
                                          uint64_t to)
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

const scan_relocation *scan_relocation_of(const scan *x)
{
    return scan_relocation_at(scan_code_of(x), x->i->at, scan_next_of(x->i));
}

const char *scan_symbol_of(const scan *x, scan_value v)
{
    return scan_code_of(x)->relocations[v.of].symbol;
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
    const scan_relocation *all = scan_code_of(x)->relocations;
    int32_t k = 0;

    while (strcmp(all[k].symbol, r->symbol))
        k++;
    return k;
}

scan_value scan_immediate_relocation(scan *x, const scan_relocation *r)
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
    scan_refuse(x, "relocation of type %u", r->type);
    return scan_unknown();
}

static scan_value rip_address(scan *x, int64_t displacement)
{
    const scan_relocation *r = scan_relocation_of(x);
    int64_t next = (int64_t)scan_next_of(x->i);

    if (!r)
        return scan_at(SCAN_CODE, 0, next + displacement);
    if (r->type == R_X86_64_PC32 && r->section >= 0)
        return place_in(x, r->section, r->addend + next - (int64_t)r->at);
    if ((r->type == R_X86_64_GOTPCREL || r->type == R_X86_64_GOTPCRELX ||
         r->type == R_X86_64_REX_GOTPCRELX) &&
        r->section < 0 && r->addend + next == (int64_t)r->at)
        return scan_at(SCAN_SLOT, symbol_index(x, r), 0);
    scan_refuse(x, "relocation of type %u", r->type);
    return scan_unknown();
}

/* --- memory -------------------------------------------------------------- */

/* Of a section's address the step is that of the index. */
scan_value scan_address_of(scan *x, const scan_operand *o)
{
    scan_value v = scan_number(o->number, o->number), index;

    if (o->reg == SCAN_RIP)
        return rip_address(x, o->number);
    if (scan_relocation_of(x))
        scan_refuse(x, "a relocated displacement");
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
                  {offsetof(sim_wg, line), 8}, /* and col */
                  {offsetof(sim_wg, row.ran), sizeof(((sim_row *)0)->ran)},
                  {offsetof(sim_wg, row.ended), 4}};

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

void scan_check_access(scan *x, scan_value v, uint32_t bytes, bool write)
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
        scan_refuse(x, "an access of unknown size");
    else if (!is_inside(x, v, bytes, write))
        scan_refuse(x, "%s %u bytes at %s + [%lld, %lld]",
                    write ? "writes" : "reads", bytes, bases[v.base],
                    (long long)v.lo, (long long)v.hi);
}

/* A table of relocations, from which a jump takes its target. */
static scan_value load_section(const scan *x, scan_value at, uint32_t bytes)
{
    const scan_section *s = &x->sections[at.of];

    if (!scan_relocation_at(s, at.lo < 0 ? 0 : (uint64_t)at.lo,
                            (uint64_t)at.hi + bytes))
        return scan_any_number(bytes * 8);
    at.base = SCAN_ENTRY;
    at.from = bytes;
    if (at.lo == at.hi)
        at.step = bytes;
    return at.step == bytes ? at : scan_unknown();
}

scan_value scan_load(scan *x, scan_value at, uint32_t bytes)
{
    scan_value any = scan_any_number(bytes * 8);

    scan_check_access(x, at, bytes, false);
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
        scan_refuse(x, "log_n may become [%lld, %lld]", (long long)v.lo,
                    (long long)v.hi);
    x->s.log_n = scan_is_within(v, 0, SIM_LOG_ENTRIES)
                     ? v
                     : scan_number(0, SIM_LOG_ENTRIES);
}

uint32_t scan_new_name(const scan *x, int k)
{
    return (uint32_t)((x->i->at - x->begin) << 5 | (unsigned)k) + 1;
}

/* v: of general registers; UNKNOWN of others, which holds is_vector. */
void scan_store(scan *x, scan_value at, uint32_t bytes, scan_value v,
                bool is_vector)
{
    scan_check_access(x, at, bytes, true);
    if (at.base == SCAN_WINDOW && !is_vector && bytes == 8 &&
        v.base != SCAN_NUMBER)
        scan_refuse(x, "what may be an address goes into the window");
    store_log_n(x, at, bytes, v);
    if (at.base != SCAN_STACK && at.base != SCAN_FRAME)
        return;
    scan_forget_slots(&x->s, at.base, at.lo, at.hi + bytes);
    if (!v.name) {
        v.name = scan_new_name(x, 29);
        scan_forget_name(&x->s, v.name);
    }
    if (!is_vector && at.lo == at.hi && bytes >= 4)
        scan_put_slot(&x->s, at.base, at.lo, bytes, v, x->a);
}
