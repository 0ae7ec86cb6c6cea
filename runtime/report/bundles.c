/* The interpreter tells which bundles a phase issues, and in which of its issue
 * cycles; the engine, later, at which of the SHAVE's cycles these are:
 *
 *   interpreter   bundle at issue cycle   0  1  4  5 | 6  7
 *   engine        issue x 6, DDR stall x 9, issue x 2
 *   the SHAVE     cycle of the bundle     0  1  4  5 | 15 16
 *
 * So a phase's bundles are kept from the one until the other. */
#include "base/file.h"
#include "runtime/report/bundles.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "isa/text.h"
#include "runtime/report/waits.h"

enum {
    MAX_OP = 256,
    MAX_NAME = 200,
    MAX_OPS = 16, /* of a bundle; there are fewer units */
    N_REGISTERS = ISA_N_IREGS > ISA_N_VREGS ? ISA_N_IREGS : ISA_N_VREGS,
    NOBODY = 0 /* numbers in `writer` are one more than a bundle's */
};

typedef struct {
    uint64_t cycle; /* of issue, from the phase's start */
    const isa_instr *in;
    uint32_t n;
} issued;

typedef struct {
    const isa_function *f;
    issued *list;
    size_t n, cap;
    bool cut;
} phase_code;

/* A result on its way to its register. */
typedef struct {
    uint64_t at, writer;
    isa_operand to;
} landing;

struct bundles {
    trc_writer *w;
    arena *a;
    uint64_t group, most;
    exec_observer observer;
    mach_watch watch;
    /* Told by the interpreter. */
    uint64_t left;
    mach_phase runs;
    phase_code code[MACH_N_PHASES];
    /* Told by the engine. */
    const char *file;
    uint64_t start, at[MACH_MAX_SHAVES]; /* of the launch; in it */
    bool open, noted;                    /* a phase of the group is; cut off */
    uint32_t shave;
    mach_phase phase;
    trc_track track;
    uint64_t done;                  /* issue cycles of the phase */
    size_t next;                    /* bundle of the phase */
    uint64_t stalls[MACH_N_CAUSES]; /* since the last bundle */
    uint64_t number;                /* bundles of the group before this one */
    uint64_t free_since;            /* the issue cycle behind the last one */
    landing *ways;
    size_t n_ways, cap_ways;
    uint64_t writer[2][N_REGISTERS];
};

/* --- told by the interpreter --------------------------------------------- */

static void on_phase_begin(void *user, sim_wg *wg, mach_phase phase,
                           const isa_function *f)
{
    bundles *b = user;
    phase_code *c = &b->code[phase];

    (void)wg;
    b->runs = phase;
    c->f = f;
    c->n = 0;
    c->cut = false;
}

static void on_bundle(void *user, const isa_function *f, uint64_t cycle,
                      const isa_instr *in, uint32_t n)
{
    bundles *b = user;
    phase_code *c = &b->code[b->runs];

    (void)f;
    if (!b->left) {
        c->cut = true;
        return;
    }
    b->left--;
    *arena_append(b->a, c->list, c->n, c->cap) = (issued){cycle, in, n};
}

/* --- results on their way ------------------------------------------------ */

/* NULL: x is no register. */
static uint64_t *writer_of(bundles *b, isa_operand x)
{
    if ((x.kind != ISA_I && x.kind != ISA_V) || x.number >= N_REGISTERS)
        return NULL;
    return &b->writer[x.kind == ISA_V][x.number];
}

/* In the order in which they were asked for. */
static void land(bundles *b, uint64_t t)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n_ways; i++)
        if (b->ways[i].at <= t)
            *writer_of(b, b->ways[i].to) = b->ways[i].writer;
        else
            b->ways[n++] = b->ways[i];
    b->n_ways = n;
}

static void expect(bundles *b, const issued *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        for (unsigned d = 0; d < isa_n_dst((isa_op)s->in[i].op); d++)
            if (writer_of(b, s->in[i].dst[d]))
                *arena_append(b->a, b->ways, b->n_ways, b->cap_ways) =
                    (landing){s->cycle + (d ? 1 : isa_ops[s->in[i].op].lat),
                              b->number + 1, s->in[i].dst[d]};
}

/* The youngest bundle whose result is read; false: none is. */
static bool reads_of(bundles *b, const issued *s, uint64_t *number)
{
    uint64_t last = NOBODY;

    for (uint32_t i = 0; i < s->n; i++)
        for (unsigned k = 0; k < ISA_MAX_SRC; k++) {
            const uint64_t *by = writer_of(b, s->in[i].src[k]);

            if (by && *by > last)
                last = *by;
        }
    *number = last - 1;
    return last != NOBODY;
}

/* --- a bundle ------------------------------------------------------------- */

static uint32_t block_of(const isa_function *f, const isa_instr *in)
{
    uint32_t index = (uint32_t)(in - f->instrs), block = 0;

    while (index - f->blocks[block].first >= f->blocks[block].n_instrs)
        block++;
    return block;
}

/* Cycles until all results are there and the next bundle may issue. */
static uint32_t latency_of(const issued *s, uint32_t *busy)
{
    uint32_t latency = 1;

    *busy = 1;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t lat = isa_ops[s->in[i].op].lat;

        *busy = s->in[i].cost > *busy ? s->in[i].cost : *busy;
        latency = lat > latency ? lat : latency;
    }
    return latency > *busy ? latency : *busy;
}

/* The line of the operation that comes first in the program's order, as in
 * profiles. */
static uint32_t line_of(const issued *s)
{
    const isa_instr *first = NULL;

    for (uint32_t i = 0; i < s->n; i++)
        if (s->in[i].line && (!first || s->in[i].seq < first->seq))
            first = &s->in[i];
    return first ? first->line : 0;
}

/* "ld.u16.global + fmul.f16": operations without units and operands. */
static void name_bundle(const issued *s, char to[MAX_NAME])
{
    size_t n = 0;

    to[0] = 0;
    for (uint32_t i = 0; i < s->n && n < MAX_NAME; i++) {
        char op[MAX_OP];
        const char *at;

        isa_print_op(&s->in[i], op, sizeof op);
        at = isa_ops[s->in[i].op].units ? strchr(op, '.') : NULL;
        at = at ? at + 1 : op;
        n += (size_t)snprintf(to + n, MAX_NAME - n, "%s%.*s", i ? " + " : "",
                              (int)strcspn(at, " "), at);
    }
}

/* By unit: "?" in front where the operation is predicated. */
static size_t operations(const issued *s, char text[MAX_OPS][MAX_OP + 1],
                         trc_arg *args, size_t room)
{
    size_t n = 0;

    for (uint32_t i = 0; i < s->n && i < MAX_OPS && n < room; i++) {
        bool has_unit = isa_ops[s->in[i].op].units != 0;
        const char *unit = has_unit ? isa_unit_names[s->in[i].unit] : "no unit";
        char op[MAX_OP];
        const char *at;

        isa_print_op(&s->in[i], op, sizeof op);
        at = has_unit ? strchr(op, '.') : NULL;
        snprintf(text[i], sizeof text[i], "%s%s",
                 s->in[i].predicated ? "?" : "", at ? at + 1 : op);
        args[n++] = TRC_TEXT(unit, text[i]);
    }
    return n;
}

/* Why nothing issued between the bundle before and this one. */
static void why_empty(const bundles *b, const issued *s, str *out)
{
    const phase_code *c = &b->code[b->phase];
    const issued *before = b->next ? s - 1 : NULL;

    if (before)
        waits_of_gap(c->f, block_of(c->f, before->in), before->in->cycle + 1,
                     out);
}

static void write_bundle(bundles *b, const issued *s, uint64_t t, uint64_t end)
{
    const phase_code *c = &b->code[b->phase];
    uint32_t block = block_of(c->f, s->in), busy, latency, line = line_of(s);
    char name[MAX_NAME], text[MAX_OPS][MAX_OP + 1], place[32];
    trc_arg args[TRC_MAX_ARGS];
    uint64_t from, waited = 0;
    str why = {0};
    size_t n = 0;

    land(b, s->cycle);
    if (s->cycle > b->free_since)
        waited = s->cycle - b->free_since;
    latency = latency_of(s, &busy);
    name_bundle(s, name);
    snprintf(place, sizeof place, "%" PRIu32 ".%" PRIu32, block, s->in->cycle);
    args[n++] = TRC_UINT("bundle", b->number);
    args[n++] = TRC_UINT("group", b->group);
    args[n++] = TRC_UINT("issue cycle", s->cycle);
    args[n++] = TRC_TEXT("place", place);
    if (line && b->file)
        args[n++] = TRC_TEXT("file", b->file);
    if (line)
        args[n++] = TRC_UINT("line", line);
    args[n++] = TRC_UINT("latency", latency);
    if (reads_of(b, s, &from))
        args[n++] = TRC_UINT("reads", from);
    if (waited)
        args[n++] = TRC_UINT("waited", waited);
    if (waited)
        why_empty(b, s, &why);
    if (why.n)
        args[n++] = TRC_TEXT("because", str_text(&why));
    for (int k = 0; k < MACH_N_CAUSES; k++)
        if (b->stalls[k] && n < TRC_MAX_ARGS)
            args[n++] = TRC_UINT(mach_cause_name((mach_cause)k), b->stalls[k]);
    n += operations(s, text, args + n, TRC_MAX_ARGS - n);
    trc_slice(b->w, b->track, t, t + busy < end ? t + busy : end,
              &(trc_event){.name = name, .args = args, .n_args = n});
    str_free(&why);
    expect(b, s);
    memset(b->stalls, 0, sizeof b->stalls);
    b->number++;
    b->free_since = s->cycle + busy;
}

/* --- told by the engine -------------------------------------------------- */

static void on_launch(void *user, const mach_launch *l)
{
    bundles *b = user;

    b->file = l->source ? file_basename(l->source) : NULL;
    b->start = l->start_cycle;
    b->open = false;
    memset(b->at, 0, sizeof b->at);
}

static void on_replayed(void *user, uint32_t shave, uint64_t group,
                        mach_phase phase)
{
    bundles *b = user;
    char name[32];

    if (group != b->group || !b->code[phase].f)
        return;
    b->open = true;
    b->shave = shave;
    b->phase = phase;
    b->done = b->next = b->free_since = 0;
    b->n_ways = 0;
    memset(b->writer, 0, sizeof b->writer);
    memset(b->stalls, 0, sizeof b->stalls);
    snprintf(name, sizeof name, "SHAVE %u bundles", shave);
    b->track = trc_track_slices(b->w, trc_track_group(b->w, 0, "device"), name,
                                TRC_CYCLES);
}

static void on_cause(void *user, uint32_t shave, uint64_t now, uint64_t cycles,
                     mach_cause cause)
{
    bundles *b = user;
    uint64_t at = b->start + b->at[shave];

    (void)now;
    b->at[shave] += cycles;
    if (!b->open || shave != b->shave)
        return;
    if (cause != MACH_CAUSE_ISSUE) {
        b->stalls[cause] += cycles;
        return;
    }
    for (const phase_code *c = &b->code[b->phase];
         b->next < c->n && c->list[b->next].cycle < b->done + cycles; b->next++)
        write_bundle(b, &c->list[b->next],
                     at + c->list[b->next].cycle - b->done, at + cycles);
    b->done += cycles;
}

static void on_replay_end(void *user, uint32_t shave)
{
    bundles *b = user;
    const trc_arg args[] = {TRC_UINT("bundles", b->number)};

    if (!b->open || shave != b->shave)
        return;
    b->open = false;
    if (!b->code[b->phase].cut || b->noted)
        return;
    b->noted = true;
    trc_instant(b->w, b->track, b->start + b->at[shave],
                &(trc_event){.name = "cut off", .args = args, .n_args = 1});
    trc_note(b->w, "bundles",
             "the first %" PRIu64 " of work-group %" PRIu64
             ", what follows is left out",
             b->most, b->group);
}

/* --- life ---------------------------------------------------------------- */

bundles *bundles_create(trc_writer *w, uint64_t group, uint64_t most)
{
    arena *a = arena_create(0);
    bundles *b = arena_new(a, bundles);

    b->w = w;
    b->a = a;
    b->group = group;
    b->left = b->most = most;
    b->watch = (mach_watch){.launch_begin = on_launch,
                            .phase_begin = on_replayed,
                            .phase_end = on_replay_end,
                            .cause = on_cause,
                            .user = b};
    b->observer = (exec_observer){.name = "--trace-bundles",
                                  .needs = BUNDLES_NEEDS,
                                  .group = &b->group,
                                  .watch = &b->watch,
                                  .user = b,
                                  .phase_begin = on_phase_begin,
                                  .bundle = on_bundle};
    return b;
}

void bundles_free(bundles *b)
{
    if (b)
        arena_destroy(b->a);
}

const exec_observer *bundles_observer(const bundles *b)
{
    return b ? &b->observer : NULL;
}
