/* Kanata logs. The format goes forward in time only, so what an operation does
 * later (latency begins, result lands) waits in a queue by time until the clock
 * is there.
 *
 *   issue cycle   T-2   T-1    T    T+1 ... T+lat
 *   stage         Wt    Wt    LSU0  Lt       retired
 */
#include "runtime/report/kanata.h"

#include <inttypes.h>
#include <string.h>

#include "isa/text.h"

enum {
    MAX_OP = 256,
    NOBODY = 0 /* ids in writer[][] are one more than in the file */
};

typedef enum { FLIGHT, LANDS, RETIRES } event_kind;

typedef struct {
    uint64_t at, id;
    event_kind kind;
    isa_operand dst; /* LANDS */
    const char *stage;
} event;

struct kanata {
    FILE *f;
    uint64_t group;
    exec_observer observer;
    uint64_t left; /* bundles */
    const isa_function *fn;
    mach_phase phase;
    uint64_t base;       /* of the phase, on the file's clock */
    uint64_t now;        /* written so far */
    uint64_t free_since; /* the cycle behind the last bundle */
    uint64_t next_id, retired;
    event *events; /* by time, then order of arrival */
    size_t n_events, cap_events;
    arena *a;
    bool stopped; /* max_bundles reached */
    uint64_t writer[2][ISA_N_IREGS > ISA_N_VREGS ? ISA_N_IREGS : ISA_N_VREGS];
};

static void go_to(kanata *k, uint64_t t)
{
    if (t > k->now)
        fprintf(k->f, "C\t%" PRIu64 "\n", t - k->now);
    k->now = t > k->now ? t : k->now;
}

/* NULL: x is no register. */
static uint64_t *writer_of(kanata *k, isa_operand x)
{
    if (x.kind != ISA_I && x.kind != ISA_V)
        return NULL;
    return &k->writer[x.kind == ISA_V][x.number];
}

static void happen(kanata *k, const event *e)
{
    switch (e->kind) {
    case FLIGHT:
        fprintf(k->f, "S\t%" PRIu64 "\t0\t%s\n", e->id, e->stage);
        break;
    case LANDS:
        *writer_of(k, e->dst) = e->id + 1;
        break;
    case RETIRES:
        fprintf(k->f, "R\t%" PRIu64 "\t%" PRIu64 "\t0\n", e->id, k->retired++);
    }
}

/* Everything that happens up to t, in its order. */
static void advance(kanata *k, uint64_t t)
{
    size_t n = 0;

    for (; n < k->n_events && k->events[n].at <= t; n++) {
        go_to(k, k->events[n].at);
        happen(k, &k->events[n]);
    }
    k->n_events -= n;
    if (n)
        memmove(k->events, k->events + n, k->n_events * sizeof *k->events);
    go_to(k, t);
}

static void later(kanata *k, event e)
{
    size_t at = k->n_events;

    (void)arena_append(k->a, k->events, k->n_events, k->cap_events);
    for (; at && k->events[at - 1].at > e.at; at--)
        k->events[at] = k->events[at - 1];
    k->events[at] = e;
}

/* The id of in is known; its name and where it stands. */
static void introduce(kanata *k, uint64_t id, const isa_instr *in)
{
    static const char *const phases[] = {"preload", "compute", "postwrite"};
    uint32_t index = (uint32_t)(in - k->fn->instrs), block = 0;
    char op[MAX_OP];

    while (index - k->fn->blocks[block].first >= k->fn->blocks[block].n_instrs)
        block++;
    isa_print_op(in, op, sizeof op);
    fprintf(k->f, "I\t%" PRIu64 "\t%u\t0\n", id, index);
    fprintf(k->f, "L\t%" PRIu64 "\t0\t%u.%u: %s\n", id, block, in->cycle, op);
    fprintf(k->f, "L\t%" PRIu64 "\t1\t%s, block %u, cycle %u", id,
            phases[k->phase], block, in->cycle);
    if (in->line)
        fprintf(k->f, ", line %u:%u", in->line, in->col);
    fputs("\n", k->f);
}

static void depend(kanata *k, uint64_t id, const isa_instr *in)
{
    for (unsigned s = 0; s < ISA_MAX_SRC; s++) {
        const uint64_t *by = writer_of(k, in->src[s]);
        bool again = !by || *by == NOBODY;

        for (unsigned o = 0; o < s && !again; o++) {
            const uint64_t *other = writer_of(k, in->src[o]);

            again = other && *other == *by;
        }
        if (!again)
            fprintf(k->f, "W\t%" PRIu64 "\t%" PRIu64 "\t0\n", id, *by - 1);
    }
}

static void issue(kanata *k, uint64_t t, uint64_t id, const isa_instr *in)
{
    uint32_t lat = isa_ops[in->op].lat, ends = in->cost > lat ? in->cost : lat;

    fprintf(k->f, "S\t%" PRIu64 "\t0\t%s\n", id,
            isa_ops[in->op].units ? isa_unit_names[in->unit] : "nop");
    ends = ends ? ends : 1;
    if (ends > 1)
        later(k, (event){.at = t + 1,
                         .id = id,
                         .kind = FLIGHT,
                         .stage = in->cost ? "Rt" : "Lt"});
    for (unsigned d = 0; d < isa_n_dst((isa_op)in->op); d++)
        later(k, (event){.at = t + (d ? 1 : lat),
                         .id = id,
                         .kind = LANDS,
                         .dst = in->dst[d]});
    later(k, (event){.at = t + ends, .id = id, .kind = RETIRES});
}

/* --- told by the interpreter --------------------------------------------- */

static void on_phase_begin(void *user, sim_wg *wg, mach_phase phase,
                           const isa_function *f)
{
    kanata *k = user;

    (void)wg;
    k->phase = phase;
    k->fn = f;
    k->free_since = k->base;
    memset(k->writer, 0, sizeof k->writer);
}

static void on_bundle(void *user, const isa_function *f, uint64_t cycle,
                      const isa_instr *in, uint32_t n)
{
    kanata *k = user;
    uint64_t t = k->base + cycle, first = k->next_id;
    bool waits = k->free_since < t;

    (void)f;
    if (!k->left)
        return;
    k->left--;
    k->next_id += n;
    advance(k, k->free_since);
    for (uint32_t i = 0; i < n; i++) {
        introduce(k, first + i, &in[i]);
        if (waits)
            fprintf(k->f, "S\t%" PRIu64 "\t0\tWt\n", first + i);
    }
    advance(k, t);
    for (uint32_t i = 0; i < n; i++)
        depend(k, first + i, &in[i]);
    for (uint32_t i = 0; i < n; i++)
        issue(k, t, first + i, &in[i]);
    k->free_since = t + 1;
}

/* What is still on its way belongs to nobody any more: it retires here. */
static void on_phase_end(void *user, sim_wg *wg, mach_phase phase,
                         uint64_t cycles)
{
    kanata *k = user;
    uint64_t end = k->left ? k->base + cycles : k->free_since;

    (void)wg;
    (void)phase;
    if (k->stopped)
        return;
    for (size_t i = 0; i < k->n_events; i++)
        if (k->events[i].at > end)
            k->events[i].at = end;
    advance(k, end);
    k->base = end;
    k->stopped = !k->left;
}

/* --- life ---------------------------------------------------------------- */

kanata *kanata_create(FILE *f, uint64_t group, uint64_t max_bundles)
{
    arena *a = arena_create(0);
    kanata *k = arena_new(a, kanata);

    k->f = f;
    k->a = a;
    k->left = max_bundles;
    k->group = group;
    k->observer = (exec_observer){.name = "--kanata",
                                  .needs = KANATA_NEEDS,
                                  .group = &k->group,
                                  .user = k,
                                  .phase_begin = on_phase_begin,
                                  .bundle = on_bundle,
                                  .phase_end = on_phase_end};
    fputs("Kanata\t0004\nC=\t0\n", f);
    return k;
}

void kanata_free(kanata *k)
{
    if (k)
        arena_destroy(k->a);
}

const exec_observer *kanata_observer(const kanata *k)
{
    return k ? &k->observer : NULL;
}
