#include "sim/machine/cache_bank.h"

#include <string.h>

static bool is_ddr(const repeat_op *o)
{
    return o->kind >= OP_LOADED && o->kind <= OP_BACK;
}

/* Lines from r->moved on for which no line leaves its row. */
static uint32_t lines_in_rows(const repetition *r, cache_geometry g)
{
    uint32_t row = 1u << g.banks.row, n = UINT32_MAX / 2;

    for (uint32_t i = 0; i < r->late.ops.n; i++) {
        const repeat_op *o = &r->late.ops.list[i];
        uint32_t left = row - ((o->line + r->moved) & (row - 1));

        if (is_ddr(o) && left < n)
            n = left;
    }
    return n;
}

static void list_lines(repetition *r)
{
    repeat_sums *s = &r->sums;

    for (uint32_t i = 0; i < r->late.ops.n && s->n_list <= REPEAT_MAX_SITES;
         i++) {
        const repeat_op *o = &r->late.ops.list[i];
        uint32_t k = 0;

        if (!is_ddr(o))
            continue;
        while (k < s->n_list && s->list[k] != o->line)
            k++;
        if (k == s->n_list)
            s->list[s->n_list++] = o->line;
    }
}

/* Has the hash only made other banks of all, `by` their difference, since the
 * sums were made, and are lines as far into their rows? Then the same lines
 * share banks, and only those are others. */
static bool are_renamed(const repetition *r, cache_geometry g, uint32_t *by)
{
    const repeat_sums *s = &r->sums;
    bool same = s->n_lines && s->n_list && s->n_list <= REPEAT_MAX_SITES &&
                !((r->moved - s->from) & ((1u << g.banks.row) - 1));

    *by = same ? cache_bank_of_line(g, s->list[0] + r->moved) ^
                     cache_bank_of_line(g, s->list[0] + s->from)
               : 0;
    for (uint32_t i = 1; same && i < s->n_list; i++)
        same = (cache_bank_of_line(g, s->list[i] + r->moved) ^
                cache_bank_of_line(g, s->list[i] + s->from)) == *by;
    return same;
}

/* by: less than there are banks. */
static void rename_banks(repetition *r, cache_geometry g, uint32_t by)
{
    uint32_t *n[2] = {r->sums.fills, r->sums.backs};

    for (int k = 0; k < 2; k++)
        for (uint32_t b = 0; b <= g.banks.mask; b++) {
            uint32_t other = b ^ by, had = n[k][b];

            if (b < other) {
                n[k][b] = n[k][other];
                n[k][other] = had;
            }
        }
    r->sums.from = r->moved;
}

/* Known accesses to DDR while their sums are made. */
typedef struct {
    cache_ddr_banks banks;
    cache_ddr_loads loads;
    /* Since the last lookup: the op that stands for several accesses (OP_PASS);
     * the place behind the last load fill among the ops, 0 if there was none.
     */
    repeat_op *pass;
    uint32_t rest;
} summing;

static uint32_t bank_of(const repetition *r, cache_geometry g, uint32_t line)
{
    return cache_bank_of_line(g, line + r->moved);
}

/* Adds a load fill that follows another one, and the store fills between the
 * two. */
static void add_to_pass(repetition *r, cache_geometry g, summing *s,
                        uint32_t line)
{
    repeat_ops *to = &r->sums.ops;
    uint32_t behind = s->loads.loads_behind, before = s->loads.lines_before;

    cache_loaded_line(&s->banks, &s->loads, bank_of(r, g, line));
    r->sums.fills[bank_of(r, g, line)]++;
    for (; to->n > s->rest; to->n--)
        r->sums.fills[bank_of(r, g, to->list[to->n - 1].line)]++;
    if (!s->pass) {
        s->pass = &to->list[to->n++];
        *s->pass = (repeat_op){.kind = OP_PASS};
        s->rest = to->n;
    }
    s->pass->line++;
    s->pass->behind += s->loads.loads_behind - behind;
    s->pass->waiting += s->loads.lines_before - before;
}

static void copy_op(repetition *r, cache_geometry g, summing *s,
                    const repeat_op *o)
{
    repeat_ops *to = &r->sums.ops;

    to->list[to->n++] = *o;
    if (o->kind == OP_STORED) {
        cache_stored_line(&s->banks, &s->loads, bank_of(r, g, o->line));
    } else if (o->kind == OP_LOADED) {
        cache_loaded_line(&s->banks, &s->loads, bank_of(r, g, o->line));
        s->rest = to->n;
    } else {
        s->rest = 0;
        s->pass = NULL;
    }
}

/* Takes known accesses to DDR with no lookup between them. The first load fill
 * among them waits for accesses before them, and the store fills behind the
 * last one delay a later load fill. So these stay ops of their own. The
 * accesses between add the same numbers in each round and become one OP_PASS.
 */
static void make_sums(repetition *r, cache_geometry g)
{
    summing s = {.loads = {.load_number = 1}};

    if (!r->sums.n_list)
        list_lines(r);
    r->sums.from = r->moved;
    r->sums.n_lines = lines_in_rows(r, g);
    if (r->sums.n_lines < REPEAT_WORTH_SUMS * r->step) {
        r->sums.n_lines = 0;
        return;
    }
    memset(r->sums.fills, 0, sizeof r->sums.fills);
    memset(r->sums.backs, 0, sizeof r->sums.backs);
    r->sums.ops.n = 0;
    for (uint32_t i = 0; i < r->late.ops.n; i++) {
        const repeat_op *o = &r->late.ops.list[i];

        if (o->kind == OP_BACK)
            r->sums.backs[bank_of(r, g, o->line)]++;
        else if (o->kind == OP_LOADED && s.rest)
            add_to_pass(r, g, &s, o->line);
        else
            copy_op(r, g, &s, o);
    }
}

bool repeat_sums_fit(repetition *r, cache_geometry g, uint32_t n)
{
    uint32_t by;

    if (r->moved - r->sums.from >= r->sums.n_lines && n >= REPEAT_WORTH_SUMS) {
        if (are_renamed(r, g, &by))
            rename_banks(r, g, by);
        else
            make_sums(r, g);
    }
    return r->moved - r->sums.from < r->sums.n_lines;
}

uint32_t repeat_sums_add(const repetition *r, cache_batch *b, uint32_t n)
{
    uint32_t left = r->sums.n_lines - (r->moved - r->sums.from);
    uint32_t rounds = (left + r->step - 1) / r->step;

    n = n < rounds ? n : rounds;
    for (uint32_t k = 0; k <= b->g.banks.mask; k++) {
        b->banks->fills[k] += n * r->sums.fills[k];
        b->banks->backs[k] += n * r->sums.backs[k];
    }
    return n;
}
