/* Arithmetic on intervals, and intervals narrowed by a condition. */
#include "tests/support/scan_value.h"

#include <stddef.h>
#include <string.h>

scan_value scan_number(int64_t lo, int64_t hi)
{
    return (scan_value){.base = SCAN_NUMBER, .lo = lo, .hi = hi};
}

scan_value scan_any_number(unsigned bits)
{
    return bits >= 64 ? scan_number(INT64_MIN, INT64_MAX)
                      : scan_number(0, (INT64_C(1) << bits) - 1);
}

scan_value scan_at(scan_base base, int32_t of, int64_t offset)
{
    return (scan_value){.base = base, .of = of, .lo = offset, .hi = offset};
}

scan_value scan_unknown(void)
{
    return (scan_value){.base = SCAN_UNKNOWN};
}

bool scan_is_within(scan_value v, int64_t lo, int64_t hi)
{
    return v.base == SCAN_NUMBER && v.lo >= lo && v.hi <= hi;
}

bool scan_is_constant(scan_value v)
{
    return v.base == SCAN_NUMBER && v.lo == v.hi;
}

bool scan_same(scan_value a, scan_value b)
{
    return a.base == b.base && a.of == b.of && a.lo == b.lo && a.hi == b.hi &&
           a.step == b.step && a.from == b.from;
}

scan_value scan_low(scan_value v, unsigned bits)
{
    int64_t most = bits >= 64 ? 0 : (INT64_C(1) << bits) - 1;

    if (bits >= 64 || scan_is_within(v, 0, most))
        return v;
    if (v.base == SCAN_NUMBER && v.lo >> bits == v.hi >> bits)
        return scan_number(v.lo & most, v.hi & most);
    return scan_any_number(bits);
}

/* Both moved by lo and hi; unknown numbers where 64 bits do not hold it. */
static scan_value moved(scan_value v, int64_t lo, int64_t hi)
{
    int64_t l, h;

    v.name = 0;
    if (!__builtin_add_overflow(v.lo, lo, &l) &&
        !__builtin_add_overflow(v.hi, hi, &h)) {
        v.lo = l;
        v.hi = h;
    } else {
        v.lo = INT64_MIN;
        v.hi = INT64_MAX;
    }
    return v;
}

/* Pairs that mean something together; *out's base UNKNOWN: they do not. */
static scan_value add_parts(scan_value a, scan_value b)
{
    int64_t at;

    if (a.lo != a.hi || b.lo != b.hi || __builtin_add_overflow(a.lo, b.lo, &at))
        return scan_unknown();
    if (a.base == SCAN_GOT_FROM_CODE && b.base == SCAN_CODE && !at)
        return scan_at(SCAN_GOT, 0, 0);
    if (a.base == SCAN_GOT && !a.lo && b.base == SCAN_FROM_GOT)
        return scan_at(SCAN_SECTION, b.of, b.lo);
    if (a.base == SCAN_GOT && !a.lo && b.base == SCAN_SLOT_FROM_GOT && !b.lo)
        return scan_at(SCAN_SLOT, b.of, 0);
    return scan_unknown();
}

/* An entry of a table, and the table. */
static scan_value add_entry(scan_value entry, scan_value table)
{
    if (entry.base != SCAN_ENTRY || table.base != SCAN_SECTION ||
        entry.of != table.of || table.lo != table.hi)
        return scan_unknown();
    entry.base = SCAN_TARGET;
    entry.from = table.lo;
    entry.name = 0;
    return entry;
}

static bool can_move(scan_value v)
{
    return v.base != SCAN_UNKNOWN && v.base != SCAN_ENTRY &&
           v.base != SCAN_TARGET && v.base != SCAN_CALLER &&
           v.base != SCAN_SYMBOL;
}

scan_value scan_add(scan_value a, scan_value b)
{
    scan_value v;

    if (scan_is_constant(a) && !a.lo)
        return b;
    if (scan_is_constant(b) && !b.lo)
        return a;
    if (a.base == SCAN_NUMBER && can_move(b))
        return moved(b, a.lo, a.hi);
    if (b.base == SCAN_NUMBER && can_move(a))
        return moved(a, b.lo, b.hi);
    v = add_parts(a, b);
    if (v.base == SCAN_UNKNOWN)
        v = add_parts(b, a);
    if (v.base == SCAN_UNKNOWN)
        v = add_entry(a, b);
    return v.base == SCAN_UNKNOWN ? add_entry(b, a) : v;
}

scan_value scan_subtract(scan_value a, scan_value b)
{
    bool numbers = b.base == SCAN_NUMBER && can_move(a);
    bool alike = can_move(a) && a.base == b.base && a.of == b.of;
    int64_t lo, hi;

    if (scan_is_constant(b) && !b.lo)
        return a;
    if ((!numbers && !alike) || __builtin_sub_overflow(a.lo, b.hi, &lo) ||
        __builtin_sub_overflow(a.hi, b.lo, &hi))
        return a.base == SCAN_NUMBER && b.base == SCAN_NUMBER
                   ? scan_any_number(64)
                   : scan_unknown();
    if (alike)
        return scan_number(lo, hi);
    a.lo = lo;
    a.hi = hi;
    a.name = 0;
    return a;
}

static bool are_numbers(scan_value a, scan_value b)
{
    return a.base == SCAN_NUMBER && b.base == SCAN_NUMBER;
}

scan_value scan_multiply(scan_value a, scan_value b)
{
    int64_t lo = INT64_MAX, hi = INT64_MIN;

    if (!are_numbers(a, b))
        return scan_unknown();
    if (scan_is_constant(b) && b.lo == 1)
        return a;
    for (int k = 0; k < 4; k++) {
        int64_t v;

        if (__builtin_mul_overflow(k & 1 ? a.lo : a.hi, k & 2 ? b.lo : b.hi,
                                   &v))
            return scan_any_number(64);
        lo = v < lo ? v : lo;
        hi = v > hi ? v : hi;
    }
    return scan_number(lo, hi);
}

scan_value scan_and(scan_value a, scan_value b)
{
    int64_t hi = INT64_MAX;

    if (!are_numbers(a, b))
        return scan_unknown();
    if (a.lo < 0 && b.lo < 0)
        return scan_any_number(64);
    if (a.lo >= 0)
        hi = a.hi;
    if (b.lo >= 0 && b.hi < hi)
        hi = b.hi;
    return scan_number(0, hi);
}

/* The least 2^n - 1 that is no less. */
static int64_t ones_for(int64_t v)
{
    for (int k = 1; k <= 32; k *= 2)
        v |= v >> k;
    return v;
}

scan_value scan_or(scan_value a, scan_value b)
{
    if (!are_numbers(a, b))
        return scan_unknown();
    if (a.lo < 0 || b.lo < 0)
        return scan_any_number(64);
    return scan_number(a.lo > b.lo ? a.lo : b.lo, ones_for(a.hi | b.hi));
}

scan_value scan_xor(scan_value a, scan_value b)
{
    if (!are_numbers(a, b))
        return scan_unknown();
    if (a.lo < 0 || b.lo < 0)
        return scan_any_number(64);
    return scan_number(0, ones_for(a.hi | b.hi));
}

scan_value scan_shift_left(scan_value a, scan_value by)
{
    if (!are_numbers(a, by))
        return scan_unknown();
    if (!scan_is_constant(by) || by.lo < 0 || by.lo > 62)
        return scan_any_number(64);
    return scan_multiply(a,
                         scan_number(INT64_C(1) << by.lo, INT64_C(1) << by.lo));
}

scan_value scan_shift_right(scan_value a, scan_value by, bool is_signed)
{
    if (!are_numbers(a, by))
        return scan_unknown();
    if (!scan_is_constant(by) || by.lo < 0 || by.lo > 63)
        return a.lo >= 0 ? scan_number(0, a.hi) : scan_any_number(64);
    if (!is_signed && a.lo < 0)
        return by.lo ? scan_number(0, (int64_t)(UINT64_MAX >> by.lo)) : a;
    return scan_number(a.lo >> by.lo, a.hi >> by.lo);
}

scan_value scan_hull(scan_value a, scan_value b)
{
    if (a.base != b.base || a.of != b.of || a.step != b.step ||
        a.from != b.from)
        return scan_unknown();
    a.lo = a.lo < b.lo ? a.lo : b.lo;
    a.hi = a.hi > b.hi ? a.hi : b.hi;
    if (a.name != b.name)
        a.name = 0;
    return a;
}

/* --- conditions ---------------------------------------------------------- */

static const struct {
    const char *name, *opposite, *swapped;
} conditions[] = {
    {"b", "ae", "a"},  {"ae", "b", "be"}, {"a", "be", "b"},  {"be", "a", "ae"},
    {"e", "ne", "e"},  {"ne", "e", "ne"}, {"l", "ge", "g"},  {"ge", "l", "le"},
    {"g", "le", "l"},  {"le", "g", "ge"}, {"s", "ns", NULL}, {"ns", "s", NULL},
    {"o", "no", NULL}, {"no", "o", NULL}, {"p", "np", NULL}, {"np", "p", NULL}};

const char *scan_opposite(const char *condition)
{
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        if (!strcmp(conditions[i].name, condition))
            return conditions[i].opposite;
    return NULL;
}

const char *scan_swapped(const char *condition)
{
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        if (!strcmp(conditions[i].name, condition))
            return conditions[i].swapped;
    return NULL;
}

/* An empty interval means that control does not come here; what then holds
 * does not matter, and v stays. */
static scan_value between(scan_value v, int64_t lo, int64_t hi)
{
    scan_value w = v;

    w.lo = v.lo > lo ? v.lo : lo;
    w.hi = v.hi < hi ? v.hi : hi;
    return w.lo <= w.hi ? w : v;
}

static scan_value unequal(scan_value a, scan_value b)
{
    if (b.lo != b.hi)
        return a;
    if (a.lo == b.lo && a.lo < a.hi)
        a.lo++;
    else if (a.hi == b.lo && a.lo < a.hi)
        a.hi--;
    return a;
}

/* Both have one meaning as signed and unsigned numbers, or a is anything. */
static scan_value refine_numbers(scan_value a, const char *c, scan_value b)
{
    int64_t least = b.lo == INT64_MAX ? b.lo : b.lo + 1;
    int64_t most = b.hi == INT64_MIN ? b.hi : b.hi - 1;
    bool plain = b.lo >= 0;

    if (!strcmp(c, "e"))
        return between(a, b.lo, b.hi);
    if (!strcmp(c, "ne"))
        return unequal(a, b);
    if (!strcmp(c, "l"))
        return between(a, INT64_MIN, most);
    if (!strcmp(c, "le"))
        return between(a, INT64_MIN, b.hi);
    if (!strcmp(c, "g"))
        return between(a, least, INT64_MAX);
    if (!strcmp(c, "ge"))
        return between(a, b.lo, INT64_MAX);
    if (plain && !strcmp(c, "b"))
        return between(a, 0, most);
    if (plain && !strcmp(c, "be"))
        return between(a, 0, b.hi);
    if (plain && a.lo >= 0 && !strcmp(c, "a"))
        return between(a, least, INT64_MAX);
    if (plain && a.lo >= 0 && !strcmp(c, "ae"))
        return between(a, b.lo, INT64_MAX);
    return a;
}

scan_value scan_refine(scan_value a, const char *condition, scan_value b,
                       unsigned bits)
{
    bool is_signed = *condition == 'l' || *condition == 'g' ||
                     *condition == 's' || !strcmp(condition, "ns");
    int64_t most = bits >= 64 ? INT64_MAX : (INT64_C(1) << bits) - 1;

    if (a.base != b.base || a.of != b.of || a.base == SCAN_UNKNOWN ||
        !can_move(a))
        return a;
    if (bits < 64) {
        b = scan_low(b, bits);
        if (is_signed)
            most >>= 1;
        if (!scan_is_within(a, 0, most) || !scan_is_within(b, 0, most))
            return a;
    }
    return refine_numbers(a, condition, b);
}
