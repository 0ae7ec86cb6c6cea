/* Rounds of a repetition whose lines stay in their banks. Between two lookups
 * the known accesses to DDR are the same in each of these rounds, so their sums
 * are made once. */
#include <string.h>

#include "sim/machine/cache_priv.h"

/* Lines from r->moved on for which no line leaves its row. */
static uint32_t lines_in_rows(const repetition *r, cache_geometry g)
{
    uint32_t row = 1u << g.bank, n = UINT32_MAX / 2;

    for (uint32_t i = 0; i < r->late.ops.n; i++) {
        const repeat_op *o = &r->late.ops.list[i];
        uint32_t left = row - ((o->line + r->moved) & (row - 1));

        if (o->kind >= OP_LOADED && o->kind <= OP_BACK && left < n)
            n = left;
    }
    return n;
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
    repeat_ops *to = &r->in_bank.ops;
    uint32_t behind = s->loads.loads_behind, before = s->loads.lines_before;

    cache_loaded_line(&s->banks, &s->loads, bank_of(r, g, line));
    r->in_bank.fills[bank_of(r, g, line)]++;
    for (; to->n > s->rest; to->n--)
        r->in_bank.fills[bank_of(r, g, to->list[to->n - 1].line)]++;
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
    repeat_ops *to = &r->in_bank.ops;

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
void repeat_in_bank(repetition *r, cache_geometry g)
{
    enum { WORTH_IT = 3 };
    summing s = {.loads = {.load_number = 1}};

    r->in_bank.from = r->moved;
    r->in_bank.n_rounds = lines_in_rows(r, g);
    if (r->in_bank.n_rounds < WORTH_IT * r->step) {
        r->in_bank.n_rounds = 0;
        return;
    }
    memset(r->in_bank.fills, 0, sizeof r->in_bank.fills);
    memset(r->in_bank.backs, 0, sizeof r->in_bank.backs);
    r->in_bank.ops.n = 0;
    for (uint32_t i = 0; i < r->late.ops.n; i++) {
        const repeat_op *o = &r->late.ops.list[i];

        if (o->kind == OP_BACK)
            r->in_bank.backs[bank_of(r, g, o->line)]++;
        else if (o->kind == OP_LOADED && s.rest)
            add_to_pass(r, g, &s, o->line);
        else
            copy_op(r, g, &s, o);
    }
}
