/* Copies, compares and joins states, and keeps what stack slots hold. */
#include "tests/support/scan_state.h"

#include <string.h>

void scan_copy(scan_state *to, const scan_state *from, arena *a)
{
    scan_slot *slots = to->slots;
    size_t cap = to->cap_slots;

    if (from->n_slots > cap) {
        cap = from->n_slots * 2;
        slots = arena_array(a, scan_slot, cap);
    }
    *to = *from;
    to->slots = slots;
    to->cap_slots = cap;
    if (from->n_slots)
        memcpy(slots, from->slots, from->n_slots * sizeof *slots);
}

static bool same_value(scan_value a, scan_value b)
{
    return scan_same(a, b) && a.name == b.name;
}

static bool same_flags(const scan_flags *a, const scan_flags *b)
{
    return a->compared == b->compared && a->made == b->made &&
           a->bits == b->bits && same_value(a->left, b->left) &&
           same_value(a->right, b->right) && same_value(a->result, b->result);
}

bool scan_equal(const scan_state *a, const scan_state *b)
{
    if (a->reached != b->reached || a->n_slots != b->n_slots ||
        a->lowest != b->lowest || !same_value(a->log_n, b->log_n) ||
        !same_flags(&a->flags, &b->flags))
        return false;
    for (int r = 0; r < SCAN_N_REGISTERS; r++)
        if (!same_value(a->reg[r], b->reg[r]))
            return false;
    for (size_t k = 0; k < a->n_slots; k++)
        if (a->slots[k].base != b->slots[k].base ||
            a->slots[k].at != b->slots[k].at ||
            a->slots[k].bytes != b->slots[k].bytes ||
            !same_value(a->slots[k].value, b->slots[k].value))
            return false;
    return true;
}

/* --- names --------------------------------------------------------------- */

/* Every place there is: registers, log_n, the slots, the flags. */
static scan_value *place(scan_state *s, size_t k)
{
    if (k < SCAN_N_REGISTERS)
        return &s->reg[k];
    k -= SCAN_N_REGISTERS;
    if (k < s->n_slots)
        return &s->slots[k].value;
    k -= s->n_slots;
    return k == 0   ? &s->log_n
           : k == 1 ? &s->flags.left
           : k == 2 ? &s->flags.right
           : k == 3 ? &s->flags.result
                    : NULL;
}

void scan_forget_name(scan_state *s, uint32_t name)
{
    scan_value *v;

    for (size_t k = 0; (v = place(s, k)); k++)
        if (v->name == name)
            v->name = 0;
}

void scan_learn(scan_state *s, scan_value v)
{
    scan_value *p;

    for (size_t k = 0; v.name && (p = place(s, k)); k++)
        if (p->name == v.name)
            *p = v;
}

/* --- slots --------------------------------------------------------------- */

void scan_forget_slots(scan_state *s, scan_base base, int64_t lo, int64_t hi)
{
    size_t n = 0;

    for (size_t k = 0; k < s->n_slots; k++) {
        const scan_slot *slot = &s->slots[k];

        if (slot->base != base || slot->at >= hi ||
            slot->at + (int64_t)slot->bytes <= lo)
            s->slots[n++] = *slot;
    }
    s->n_slots = n;
}

static bool is_before(const scan_slot *s, scan_base base, int64_t at)
{
    return s->base != base ? s->base < base : s->at < at;
}

/* The first slot not before the place. */
static size_t find(const scan_state *s, scan_base base, int64_t at)
{
    size_t lo = 0, hi = s->n_slots;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (is_before(&s->slots[mid], base, at))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void scan_put_slot(scan_state *s, scan_base base, int64_t at, uint32_t bytes,
                   scan_value v, arena *a)
{
    size_t k;

    scan_forget_slots(s, base, at, at + bytes);
    if (s->n_slots == s->cap_slots) {
        scan_slot *more = arena_array(a, scan_slot, s->cap_slots * 2 + 8);

        if (s->n_slots)
            memcpy(more, s->slots, s->n_slots * sizeof *more);
        s->slots = more;
        s->cap_slots = s->cap_slots * 2 + 8;
    }
    k = find(s, base, at);
    memmove(&s->slots[k + 1], &s->slots[k],
            (s->n_slots - k) * sizeof *s->slots);
    s->slots[k] = (scan_slot){base, at, bytes, v};
    s->n_slots++;
}

scan_value scan_get_slot(const scan_state *s, scan_base base, int64_t at,
                         uint32_t bytes)
{
    size_t k = find(s, base, at);

    if (k < s->n_slots && s->slots[k].base == base && s->slots[k].at == at &&
        bytes <= s->slots[k].bytes)
        return bytes < 8 ? scan_low(s->slots[k].value, bytes * 8)
                         : s->slots[k].value;
    return bytes < 8 ? scan_any_number(bytes * 8) : scan_unknown();
}

/* --- where ways meet ----------------------------------------------------- */

static scan_value widen(scan_value was, scan_value now, const int64_t *limits,
                        size_t n)
{
    size_t k;

    if (now.base == SCAN_UNKNOWN || was.base != now.base)
        return now;
    if (now.lo < was.lo) {
        for (k = n; k-- > 0 && limits[k] > now.lo;)
            ;
        now.lo = k == SIZE_MAX ? INT64_MIN : limits[k];
    }
    if (now.hi > was.hi) {
        for (k = 0; k < n && limits[k] < now.hi; k++)
            ;
        now.hi = k == n ? INT64_MAX : limits[k];
    }
    return now;
}

/* Which pairs of names met, and what the pair is called from now on. */
typedef struct {
    uint32_t a, b, name;
} pair;
typedef struct {
    pair *seen;
    size_t n, room;
    uint32_t block;
} pairs;

/* A pair that keeps its name and one that would get it are not the same. */
static uint32_t name_of_pair(pairs *p, uint32_t a, uint32_t b, size_t place_no)
{
    uint32_t fresh = 0x80000000u | (p->block << 12 & 0x7ffff000u) |
                     ((uint32_t)place_no & 4095);

    if (a && a == b && a >> 12 != fresh >> 12)
        return a;
    if (!a)
        return 0;
    if (!b) /* equal to no other place */
        a = b = UINT32_MAX - (uint32_t)place_no;
    else if (a == b)
        fresh = a;
    for (size_t k = 0; k < p->n; k++)
        if (p->seen[k].a == a && p->seen[k].b == b)
            return p->seen[k].name;
    for (size_t k = 0; k < p->n; k++)
        if (p->seen[k].name == fresh)
            return 0;
    if (p->n == p->room)
        return 0;
    p->seen[p->n] = (pair){a, b, fresh};
    return p->seen[p->n++].name;
}

static scan_value meet(scan_value a, scan_value b, pairs *p, size_t place_no,
                       const int64_t *limits, size_t n_limits)
{
    scan_value v = scan_hull(a, b);

    if (n_limits)
        v = widen(a, v, limits, n_limits);
    v.name = name_of_pair(p, a.name, b.name, place_no);
    return v;
}

/* Numbers a place has whatever slots there are. */
static size_t number_of_slot(const scan_slot *s)
{
    return 32 + (((uint64_t)-s->at >> 2) & 2047) +
           (s->base == SCAN_FRAME ? 2048 : 0);
}

static void join_slots(scan_state *to, const scan_state *from, pairs *p,
                       const int64_t *limits, size_t n_limits)
{
    size_t n = 0, other = 0;

    for (size_t k = 0; k < to->n_slots; k++) {
        scan_slot s = to->slots[k];
        const scan_slot *f;

        while (other < from->n_slots &&
               is_before(&from->slots[other], s.base, s.at))
            other++;
        f = &from->slots[other];
        if (other == from->n_slots || f->base != s.base || f->at != s.at ||
            f->bytes != s.bytes)
            continue;
        s.value =
            meet(s.value, f->value, p, number_of_slot(&s), limits, n_limits);
        if (s.value.base != SCAN_UNKNOWN)
            to->slots[n++] = s;
    }
    to->n_slots = n;
}

void scan_join(scan_state *to, const scan_state *from, uint32_t block,
               const int64_t *limits, size_t n_limits, arena *a)
{
    arena_mark m;
    pairs p = {.block = block, .room = 24 + to->n_slots};

    if (!to->reached) {
        scan_copy(to, from, a);
        return;
    }
    m = arena_save(a);
    p.seen = arena_array(a, pair, p.room);
    for (int r = 0; r < SCAN_N_REGISTERS; r++)
        to->reg[r] =
            meet(to->reg[r], from->reg[r], &p, (size_t)r, limits, n_limits);
    to->log_n = meet(to->log_n, from->log_n, &p, 16, limits, n_limits);
    join_slots(to, from, &p, limits, n_limits);
    if (to->lowest != from->lowest)
        to->lowest = INT64_MAX;
    if (!same_flags(&to->flags, &from->flags))
        to->flags = (scan_flags){.compared = false};
    arena_restore(a, m);
}
