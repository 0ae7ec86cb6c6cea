/* Steps of memory, control and time, and the order in which accesses are
 * reported. */
#include "isa/steps.h"

/* --- global accesses in program order ------------------------------------ */

static bool before(const isa_access *a, const isa_access *b)
{
    return a->iteration != b->iteration ? a->iteration < b->iteration
                                        : a->seq < b->seq;
}

/* extra: the access's number. */
static void note(isa_machine *m, const isa_step *s, uint32_t addr)
{
    const isa_noted *n = &m->code->noted[s->extra];
    isa_access a = {
        m->step + n->iteration, n->seq, n->line, addr, n->bytes, n->store};
    size_t k = m->n_log;

    if (!m->env->global)
        return;
    for (; k && before(&a, &m->log[k - 1]); k--)
        m->log[k] = m->log[k - 1];
    m->log[k] = a;
    m->n_log++;
}

void isa_report(isa_machine *m, int64_t last)
{
    size_t n = 0;

    for (; n < m->n_log && m->log[n].iteration <= last; n++)
        m->env->global(m->env->user, m->log[n].line, m->log[n].addr,
                       m->log[n].bytes, m->log[n].store);
    if (!n)
        return;
    m->n_log -= n;
    memmove(m->log, m->log + n, m->n_log * sizeof *m->log);
}

/* --- loads and stores ---------------------------------------------------- */

/* The address from a; b: what a post-increment adds, which c gets. */
ISA_BUILT_IN const isa_step *load(isa_machine *m, const isa_step *s, isa_type t,
                                  unsigned bytes, bool increments, bool global)
{
    uint32_t base = isa_get(m, s->a), addr = base + (uint32_t)s->imm;
    uint32_t next = increments ? base + isa_get(m, s->b) : 0;
    isa_value v = {{0}};

    memcpy(&v, m->window + addr, bytes);
    if (t)
        isa_put(m, s->dst, isa_extended(t, isa_word(&v)));
    else
        isa_put_vector(m, s->dst, v);
    if (increments)
        isa_put(m, s->c, next);
    if (global)
        note(m, s, addr);
    return s + 1;
}

/* The value from a, the address from b; c: the increment, for dst. */
ISA_BUILT_IN const isa_step *store(isa_machine *m, const isa_step *s,
                                   isa_type t, unsigned bytes, bool increments,
                                   bool global)
{
    uint32_t base = isa_get(m, s->b), addr = base + (uint32_t)s->imm;

    if (t) {
        uint32_t bits = isa_get(m, s->a);

        memcpy(m->window + addr, &bits, bytes);
    } else {
        isa_value v = isa_get_vector(m, s->a);

        memcpy(m->window + addr, &v, bytes);
    }
    if (increments)
        isa_put(m, s->dst, base + isa_get(m, s->c));
    if (global)
        note(m, s, addr);
    return s + 1;
}

#define ACCESS(what, op, type, bytes, increments, global)            \
    static const isa_step *op##_##type##_##global(isa_machine *m,    \
                                                  const isa_step *s) \
    {                                                                \
        return what(m, s, ISA_##type, bytes, increments, global);    \
    }
#define ACCESSES(what, op, type, bytes, increments) \
    ACCESS(what, op, type, bytes, increments, 0)    \
    ACCESS(what, op, type, bytes, increments, 1)
#define TYPES(what, op, increments)        \
    ACCESSES(what, op, S8, 1, increments)  \
    ACCESSES(what, op, U8, 1, increments)  \
    ACCESSES(what, op, S16, 2, increments) \
    ACCESSES(what, op, U16, 2, increments) \
    ACCESSES(what, op, S32, 4, increments) \
    ACCESSES(what, op, U32, 4, increments) \
    ACCESSES(what, op, F16, 2, increments) \
    ACCESSES(what, op, F32, 4, increments)
TYPES(load, ld, false)
TYPES(load, ldp, true)
TYPES(store, st, false)
TYPES(store, stp, true)
ACCESSES(load, ldv64, NO_TYPE, 8, false)
ACCESSES(load, ldv128, NO_TYPE, 16, false)
ACCESSES(load, ldv64p, NO_TYPE, 8, true)
ACCESSES(load, ldv128p, NO_TYPE, 16, true)
ACCESSES(store, stv64, NO_TYPE, 8, false)
ACCESSES(store, stv128, NO_TYPE, 16, false)
ACCESSES(store, stv64p, NO_TYPE, 8, true)
ACCESSES(store, stv128p, NO_TYPE, 16, true)

/* --- calls and arguments ------------------------------------------------- */

/* extra: the type. */
static const isa_step *load_argument(isa_machine *m, const isa_step *s,
                                     const uint8_t *area)
{
    isa_type t = (isa_type)s->extra;
    uint32_t bits = 0;

    memcpy(&bits, area + s->imm, isa_type_bytes(t));
    isa_put(m, s->dst, isa_extended(t, bits));
    return s + 1;
}

static const isa_step *of_args(isa_machine *m, const isa_step *s)
{
    return load_argument(m, s, m->env->args);
}

static const isa_step *of_group(isa_machine *m, const isa_step *s)
{
    return load_argument(m, s, (const uint8_t *)m->env->group);
}

/* extra: the source line. */
static const isa_step *call(isa_machine *m, const isa_step *s)
{
    isa_report(m, INT64_MAX);
    m->stopped |= !m->env->call(m->env->user, (uint32_t)s->imm, m->args,
                                m->n_args, s->extra, m->ret);
    m->n_args = 0;
    return s + 1;
}

static const isa_step *set_argument(isa_machine *m, const isa_step *s)
{
    m->args[s->imm] = isa_get(m, s->a);
    if ((uint32_t)s->imm >= m->n_args)
        m->n_args = (uint32_t)s->imm + 1;
    return s + 1;
}

static const isa_step *load_result(isa_machine *m, const isa_step *s)
{
    isa_put(m, s->dst, m->ret[s->imm]);
    return s + 1;
}

/* --- control ------------------------------------------------------------- */

static const isa_step *repeat(isa_machine *m, const isa_step *s)
{
    m->repeat = isa_get(m, s->a);
    return s + 1;
}

static const isa_step *give_back(isa_machine *m, const isa_step *s)
{
    m->returned = true;
    return s + 1;
}

static const isa_step *branch(isa_machine *m, const isa_step *s)
{
    m->taken = true;
    m->target = (uint32_t)s->imm;
    return s + 1;
}

/* extra: the sense. */
static const isa_step *branch_if(isa_machine *m, const isa_step *s)
{
    m->taken = (isa_get(m, s->a) != 0) == (s->extra != 0);
    m->target = (uint32_t)s->imm;
    return s + 1;
}

const isa_step *isa_step_unless(isa_machine *m, const isa_step *s)
{
    bool happens = (isa_get(m, s->a) != 0) == (s->imm != 0);

    return s + 1 + (happens ? 0 : s->extra);
}

const isa_step *isa_step_skip(isa_machine *m, const isa_step *s)
{
    (void)m;
    return s + 1 + s->extra;
}

const isa_step *isa_step_check(isa_machine *m, const isa_step *s)
{
    return m->stopped ? NULL : s + 1;
}

const isa_step *isa_step_end(isa_machine *m, const isa_step *s)
{
    (void)m, (void)s;
    return NULL;
}

const isa_step *isa_step_watch(isa_machine *m, const isa_step *s)
{
    if (m->env->bundle)
        m->env->bundle(m->env->user, m->start + s->a,
                       &m->code->f->instrs[s->imm], s->extra);
    return s + 1;
}

/* --- results on their way ------------------------------------------------ */

/* What is due in this cycle, in order of issue. */
static void land(isa_machine *m, uint32_t slot)
{
    const isa_owed *o = m->owed + (size_t)slot * m->code->n_owed;

    for (uint32_t k = 0; k < m->n_owed[slot]; k++)
        if (o[k].vector)
            isa_put_vector(m, o[k].to, o[k].value);
        else
            isa_put(m, o[k].to, isa_word(&o[k].value));
    m->owing -= m->n_owed[slot];
    m->n_owed[slot] = 0;
}

const isa_step *isa_step_time(isa_machine *m, const isa_step *s)
{
    uint64_t now = m->start + (uint32_t)s->imm;

    while (m->owing && m->now < now) {
        uint32_t slot = (uint32_t)++m->now & (m->code->n_slots - 1);

        if (m->n_owed[slot])
            land(m, slot);
    }
    m->now = now;
    return s + 1;
}

ISA_BUILT_IN const isa_step *owe(isa_machine *m, const isa_step *s, bool vector)
{
    uint32_t slot = (uint32_t)(m->now + s->extra) & (m->code->n_slots - 1);
    isa_owed *o = &m->owed[(size_t)slot * m->code->n_owed + m->n_owed[slot]++];

    o->value = vector ? isa_get_vector(m, s->a) : isa_scalar(isa_get(m, s->a));
    o->to = s->dst;
    o->vector = vector;
    m->owing++;
    return s + 1;
}

const isa_step *isa_step_owe_word(isa_machine *m, const isa_step *s)
{
    return owe(m, s, false);
}

const isa_step *isa_step_owe_vector(isa_machine *m, const isa_step *s)
{
    return owe(m, s, true);
}

const isa_step *isa_step_move_word(isa_machine *m, const isa_step *s)
{
    isa_put(m, s->dst, isa_get(m, s->a));
    return s + 1;
}

const isa_step *isa_step_move_vector(isa_machine *m, const isa_step *s)
{
    isa_put_vector(m, s->dst, isa_get_vector(m, s->a));
    return s + 1;
}

/* --- which --------------------------------------------------------------- */

/* By operation, type, and whether it is global. */
#define ENTRY(op, type) \
    [ISA_OP_##op][ISA_##type] = {op##_##type##_0, op##_##type##_1}
#define ENTRIES(op)                                               \
    ENTRY(op, S8), ENTRY(op, U8), ENTRY(op, S16), ENTRY(op, U16), \
        ENTRY(op, S32), ENTRY(op, U32), ENTRY(op, F16), ENTRY(op, F32)
static isa_run_step *const accesses[ISA_N_OPS][ISA_N_TYPES][2] = {
    ENTRIES(ld),
    ENTRIES(ldp),
    ENTRIES(st),
    ENTRIES(stp),
    ENTRY(ldv64, NO_TYPE),
    ENTRY(ldv128, NO_TYPE),
    ENTRY(ldv64p, NO_TYPE),
    ENTRY(ldv128p, NO_TYPE),
    ENTRY(stv64, NO_TYPE),
    ENTRY(stv128, NO_TYPE),
    ENTRY(stv64p, NO_TYPE),
    ENTRY(stv128p, NO_TYPE)};

isa_run_step *isa_step_of(const isa_instr *in)
{
    if (isa_ops[in->op].flags & (ISA_F_LOAD | ISA_F_STORE))
        return accesses[in->op][in->type][in->sub == ISA_GLOBAL];
    switch (in->op) {
    case ISA_OP_bra:
        return branch;
    case ISA_OP_brc:
        return branch_if;
    case ISA_OP_ret:
        return give_back;
    case ISA_OP_rep:
        return repeat;
    case ISA_OP_call:
        return call;
    case ISA_OP_ldarg:
        return in->sub == ISA_ARGS ? of_args : of_group;
    case ISA_OP_starg:
        return set_argument;
    case ISA_OP_ldret:
        return load_result;
    default:
        return isa_step_for_result(in);
    }
}
