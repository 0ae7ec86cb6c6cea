/* The interpreter: block by block, step by step. */
#include "isa/steps.h"

/* --- a machine ----------------------------------------------------------- */

/* What lies behind a machine, and where. */
typedef struct {
    size_t owed, log, end;
} extent;

static size_t aligned(size_t n)
{
    const size_t to = _Alignof(max_align_t);

    return (n + to - 1) / to * to;
}

static extent extent_of(const isa_code *c)
{
    extent x;

    x.owed =
        aligned(sizeof(isa_machine) + c->n_immediates * sizeof *c->immediates);
    x.log = x.owed + aligned((size_t)c->n_slots * c->n_owed * sizeof(isa_owed));
    x.end = x.log + c->log_size * sizeof(isa_access);
    return x;
}

size_t isa_scratch_size(const isa_code *c)
{
    return extent_of(c).end;
}

static isa_machine *start(const isa_code *c, const isa_env *env)
{
    /* For steps that only point there. */
    static const uint8_t none[1][ISA_VECTOR_BYTES];
    isa_machine *m = env->scratch;
    extent x = extent_of(c);

    memset(m, 0, sizeof *m);
    for (unsigned r = 0; r < ISA_N_IREGS; r++)
        m->i[r] = 0xdeadbeef;
    for (unsigned r = 0; r < ISA_N_VREGS; r++)
        memcpy(&m->v[r], m->i, sizeof m->v[r]);
    m->sp = env->sp;
    m->window = env->window;
    m->vectors = c->f->vectors
                     ? (const uint8_t(*)[ISA_VECTOR_BYTES])c->f->vectors
                     : none;
    m->env = env;
    m->code = c;
    m->owed = (isa_owed *)((uint8_t *)m + x.owed);
    m->log = (isa_access *)((uint8_t *)m + x.log);
    memcpy(m->behind, c->immediates, c->n_immediates * sizeof *c->immediates);
    return m;
}

/* --- blocks -------------------------------------------------------------- */

static void enter(isa_machine *m, const isa_block *b, const isa_block *from)
{
    bool goes_on = (b->kind == ISA_KERNEL || b->kind == ISA_EPILOGUE) && from &&
                   from->kind != ISA_PLAIN && from->kind != ISA_EPILOGUE &&
                   (from == b || from + 1 == b);

    if (goes_on)
        return;
    isa_report(m, INT64_MAX);
    m->step = b->kind == ISA_KERNEL ? b->n_stages - 1 : 0;
}

/* Reports the iterations that are complete with this block. */
static void leave(isa_machine *m, const isa_block *b)
{
    int64_t others = (int64_t)b->n_stages - 1;

    switch (b->kind) {
    case ISA_PROLOGUE:
        isa_report(m, -1);
        m->step = others;
        break;
    case ISA_KERNEL:
        isa_report(m, m->step - others);
        m->step++;
        break;
    default:
        isa_report(m, INT64_MAX);
    }
}

/* Runs a block as often as a rep in front of it said. */
static void run_block(isa_machine *m, uint32_t n, const isa_block *from)
{
    const isa_block *b = &m->code->f->blocks[n];
    uint32_t times = m->repeat ? m->repeat : 1;

    m->repeat = 0;
    m->taken = false;
    for (uint32_t k = 0; k < times && !m->stopped; k++) {
        const isa_step *s = m->code->blocks[n].steps;

        if (!k || b->kind == ISA_PROLOGUE) /* which never goes on */
            enter(m, b, from);
        if (m->env->block && !m->env->block(m->env->user, n, b->cycles)) {
            m->stopped = true;
            break;
        }
        while (s)
            s = s->run(m, s);
        m->start += b->cycles;
        leave(m, b);
    }
}

isa_outcome isa_run(const isa_code *c, const isa_env *env)
{
    isa_machine *m = start(c, env);
    const isa_block *from = NULL;
    uint32_t n = 0;

    while (n < c->f->n_blocks && !m->stopped && !m->returned) {
        run_block(m, n, from);
        from = &c->f->blocks[n];
        n = m->taken ? m->target : n + 1;
    }
    isa_report(m, INT64_MAX);
    return m->stopped ? ISA_STOPPED : m->returned ? ISA_DONE : ISA_FELL_OFF;
}
