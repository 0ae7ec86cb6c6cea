/* Bundle by bundle, cycle by cycle, with every operation looked up and every
 * result on its way in a list. */
#include "tests/isa/plain.h"

#include <string.h>

#include "isa/semantics.h"
#include "isa/results.h"

/* A global access that was made but not reported yet. */
typedef struct {
    int64_t iteration; /* of a software-pipelined loop, else 0 */
    uint32_t seq, line, addr, bytes;
    bool store;
} isa_access;

/* Results on their way: each unit owes at most two a cycle. */
enum { MAX_PENDING = ISA_N_UNITS * ISA_MAX_DST * ISA_MAX_WAIT };

typedef struct {
    uint64_t at; /* cycle in which it can be read */
    isa_operand dst;
    isa_value value;
} pending;

typedef struct {
    const isa_function *f;
    const isa_env *env;
    uint64_t now;
    isa_value i[ISA_N_IREGS], v[ISA_N_VREGS];
    pending owed[MAX_PENDING]; /* in order of issue */
    uint32_t n_owed;
    uint32_t args[ISA_MAX_CALL_ARGS], n_args, ret[ISA_MAX_CALL_RETS];
    isa_access *log; /* by iteration, then seq */
    size_t n_log;
    int64_t step; /* of a pipelined loop, at the start of the block */
    const isa_block *b;
    /* How the block ends. */
    bool taken, returned, stopped;
    uint32_t target, repeat;
} machine;

/* --- registers ----------------------------------------------------------- */

static void start_registers(machine *m)
{
    static const uint8_t pattern[4] = {0xef, 0xbe, 0xad, 0xde};

    for (unsigned r = 0; r < ISA_N_IREGS; r++)
        for (unsigned b = 0; b < ISA_VECTOR_BYTES; b++)
            m->i[r].byte[b] = pattern[b % 4];
    memcpy(m->v, m->i, sizeof m->v);
}

static isa_value word_value(uint32_t x)
{
    isa_value v = {{0}};

    memcpy(v.byte, &x, 4);
    return v;
}

static isa_value read(const machine *m, isa_operand x)
{
    switch (x.kind) {
    case ISA_I:
        return m->i[x.number];
    case ISA_V:
        return m->v[x.number];
    case ISA_SP:
        return word_value(m->env->sp);
    default:
        return word_value(x.number);
    }
}

static uint32_t read_word(const machine *m, isa_operand x)
{
    isa_value v = read(m, x);

    return isa_word(&v);
}

static void owe(machine *m, isa_operand dst, uint32_t lat, isa_value v)
{
    m->owed[m->n_owed++] = (pending){m->now + lat, dst, v};
}

/* What is due by now gets its register. Of two that are, the one issued later
 * stays. */
static void land(machine *m)
{
    uint32_t left = 0;

    for (uint32_t k = 0; k < m->n_owed; k++) {
        const pending *o = &m->owed[k];

        if (o->at > m->now)
            m->owed[left++] = *o;
        else if (o->dst.kind == ISA_I)
            m->i[o->dst.number] = o->value;
        else
            m->v[o->dst.number] = o->value;
    }
    m->n_owed = left;
}

/* --- global accesses in program order ------------------------------------ */

/* Cycles of one step of the pipelined loop that the block belongs to. */
static uint32_t step_cycles(const isa_block *b)
{
    return b->kind == ISA_PROLOGUE ? b[1].cycles
           : b->kind == ISA_KERNEL ? b->cycles
                                   : b[-1].cycles;
}

static int64_t iteration(const machine *m, const isa_instr *in)
{
    const isa_block *b = m->b;
    uint32_t ii, pad = 0;

    if (b->kind == ISA_PLAIN)
        return 0;
    ii = step_cycles(b);
    if (b->kind == ISA_PROLOGUE)
        pad = b->cycles - (b->n_stages - 1) * ii;
    if (in->cycle < pad)
        return -1;
    return m->step + (in->cycle - pad) / ii - in->stage;
}

static bool before(const isa_access *a, const isa_access *b)
{
    return a->iteration != b->iteration ? a->iteration < b->iteration
                                        : a->seq < b->seq;
}

static void note(machine *m, const isa_instr *in, uint32_t addr, bool store)
{
    isa_access a = {iteration(m, in),
                    in->seq,
                    in->line,
                    addr,
                    isa_access_bytes((isa_op)in->op, (isa_type)in->type),
                    store};
    size_t k = m->n_log;

    if (in->sub != ISA_GLOBAL || !m->env->global)
        return;
    for (; k && before(&a, &m->log[k - 1]); k--)
        m->log[k] = m->log[k - 1];
    m->log[k] = a;
    m->n_log++;
}

/* Reports what belongs to iterations up to `last`. */
static void report(machine *m, int64_t last)
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

static size_t global_accesses(const isa_function *f, const isa_block *b)
{
    size_t n = 0;

    for (uint32_t k = 0; k < b->n_instrs; k++) {
        const isa_instr *in = &f->instrs[b->first + k];

        n += isa_ops[in->op].flags & (ISA_F_LOAD | ISA_F_STORE) &&
             in->sub == ISA_GLOBAL;
    }
    return n;
}

static size_t log_size(const isa_function *f)
{
    size_t most = 0;

    for (uint32_t k = 0; k < f->n_blocks; k++) {
        const isa_block *b = &f->blocks[k];
        size_t n = global_accesses(f, b);

        if (b->kind == ISA_KERNEL) { /* all stages, and what frames it */
            n *= b->n_stages + 1;
            n += k ? global_accesses(f, b - 1) : 0;
            n += k + 1 < f->n_blocks ? global_accesses(f, b + 1) : 0;
        }
        most = n > most ? n : most;
    }
    return most;
}

/* --- operations ---------------------------------------------------------- */

static void load(machine *m, const isa_instr *in)
{
    uint32_t base = read_word(m, in->src[0]);
    uint32_t addr = base + (uint32_t)in->imm;
    unsigned n = isa_access_bytes((isa_op)in->op, (isa_type)in->type);
    isa_value v = {{0}};

    memcpy(v.byte, m->env->window + addr, n);
    if (in->type)
        v = word_value(isa_extended((isa_type)in->type, isa_word(&v)));
    owe(m, in->dst[0], isa_ops[in->op].lat, v);
    if (isa_n_dst((isa_op)in->op) > 1)
        owe(m, in->dst[1], 1, word_value(base + read_word(m, in->src[1])));
    note(m, in, addr, false);
}

static void store(machine *m, const isa_instr *in)
{
    uint32_t base = read_word(m, in->src[1]);
    uint32_t addr = base + (uint32_t)in->imm;
    isa_value v = read(m, in->src[0]);

    memcpy(m->env->window + addr, v.byte,
           isa_access_bytes((isa_op)in->op, (isa_type)in->type));
    if (isa_n_dst((isa_op)in->op))
        owe(m, in->dst[0], isa_ops[in->op].lat,
            word_value(base + read_word(m, in->src[2])));
    note(m, in, addr, true);
}

static void load_argument(machine *m, const isa_instr *in)
{
    const uint8_t *area =
        in->sub == ISA_ARGS ? m->env->args : (const uint8_t *)m->env->group;
    isa_value v = {{0}};

    memcpy(v.byte, area + in->imm, isa_type_bytes((isa_type)in->type));
    owe(m, in->dst[0], isa_ops[in->op].lat,
        word_value(isa_extended((isa_type)in->type, isa_word(&v))));
}

static void call(machine *m, const isa_instr *in)
{
    report(m, INT64_MAX);
    m->stopped |= !m->env->call(m->env->user, (uint32_t)in->imm, m->args,
                                m->n_args, in->line, m->ret);
    m->n_args = 0;
}

static void set_argument(machine *m, const isa_instr *in)
{
    m->args[in->imm] = read_word(m, in->src[0]);
    if ((uint32_t)in->imm >= m->n_args)
        m->n_args = (uint32_t)in->imm + 1;
}

static bool sense(const machine *m, const isa_instr *in)
{
    return (read_word(m, in->src[0]) != 0) == (in->sub != 0);
}

static void control(machine *m, const isa_instr *in)
{
    switch (in->op) {
    case ISA_OP_rep:
        m->repeat = read_word(m, in->src[0]);
        break;
    case ISA_OP_ret:
        m->returned = true;
        break;
    default: /* bra, brc */
        m->taken = in->op == ISA_OP_bra || sense(m, in);
        m->target = (uint32_t)in->imm;
    }
}

static void compute(machine *m, const isa_instr *in)
{
    isa_value src[ISA_MAX_SRC];

    for (unsigned k = 0; k < ISA_MAX_SRC; k++)
        src[k] = read(m, in->src[k]);
    owe(m, in->dst[0], isa_ops[in->op].lat,
        isa_evaluate(
            in,
            isa_ops[in->op].flags & ISA_F_TABLE ? m->f->vectors[in->imm] : NULL,
            src));
}

/* Everything but stores. */
static void execute(machine *m, const isa_instr *in)
{
    if (isa_ops[in->op].flags & ISA_F_LOAD) {
        load(m, in);
        return;
    }
    if (isa_ops[in->op].flags & ISA_F_BRANCH) {
        control(m, in);
        return;
    }
    switch (in->op) {
    case ISA_OP_nop:
    case ISA_OP_pred:
        return;
    case ISA_OP_call:
        call(m, in);
        return;
    case ISA_OP_ldarg:
        load_argument(m, in);
        return;
    case ISA_OP_starg:
        set_argument(m, in);
        return;
    case ISA_OP_ldret:
        owe(m, in->dst[0], isa_ops[in->op].lat, word_value(m->ret[in->imm]));
        return;
    default:
        compute(m, in);
    }
}

/* --- bundles and blocks -------------------------------------------------- */

static void bundle(machine *m, const isa_instr *in, uint32_t n)
{
    bool happens = true;

    for (uint32_t k = 0; k < n; k++)
        if (in[k].op == ISA_OP_pred)
            happens = sense(m, &in[k]);
    for (uint32_t k = 0; k < n; k++)
        if (!(isa_ops[in[k].op].flags & ISA_F_STORE) &&
            (happens || !in[k].predicated))
            execute(m, &in[k]);
    for (uint32_t k = 0; k < n; k++)
        if (isa_ops[in[k].op].flags & ISA_F_STORE &&
            (happens || !in[k].predicated))
            store(m, &in[k]);
}

static void run_bundles(machine *m)
{
    const isa_instr *all = m->f->instrs;
    uint32_t at = m->b->first, end = at + m->b->n_instrs;

    for (uint32_t t = 0; t < m->b->cycles && !m->stopped; t++, m->now++) {
        uint32_t n = 0;

        land(m);
        while (at + n < end && all[at + n].cycle == t)
            n++;
        if (n && m->env->bundle)
            m->env->bundle(m->env->user, m->now, &all[at], n);
        if (n)
            bundle(m, &all[at], n);
        at += n;
    }
}

static void enter(machine *m, const isa_block *from)
{
    bool goes_on = (m->b->kind == ISA_KERNEL || m->b->kind == ISA_EPILOGUE) &&
                   from && from->kind != ISA_PLAIN &&
                   from->kind != ISA_EPILOGUE &&
                   (from == m->b || from + 1 == m->b);

    if (goes_on)
        return;
    report(m, INT64_MAX);
    m->step = m->b->kind == ISA_KERNEL ? m->b->n_stages - 1 : 0;
}

/* Reports the iterations that are complete with this block. */
static void leave(machine *m)
{
    int64_t others = (int64_t)m->b->n_stages - 1;

    switch (m->b->kind) {
    case ISA_PROLOGUE:
        report(m, -1);
        m->step = others;
        break;
    case ISA_KERNEL:
        report(m, m->step - others);
        m->step++;
        break;
    default:
        report(m, INT64_MAX);
    }
}

/* Runs a block as often as a rep in front of it said. */
static void run_block(machine *m, const isa_block *from)
{
    uint32_t times = m->repeat ? m->repeat : 1;

    m->repeat = 0;
    m->taken = false;
    for (uint32_t k = 0; k < times && !m->stopped; k++) {
        if (!k || m->b->kind == ISA_PROLOGUE)
            enter(m, from);
        if (m->env->block &&
            !m->env->block(m->env->user, (uint32_t)(m->b - m->f->blocks),
                           m->b->cycles)) {
            m->stopped = true;
            break;
        }
        run_bundles(m);
        leave(m);
    }
}

isa_outcome plain_run(const isa_function *f, const isa_env *env, arena *a)
{
    machine m = {
        .f = f, .env = env, .log = arena_array(a, isa_access, log_size(f) + 1)};
    const isa_block *from = NULL;
    uint32_t n = 0;

    start_registers(&m);
    while (n < f->n_blocks && !m.stopped && !m.returned) {
        m.b = &f->blocks[n];
        run_block(&m, from);
        from = m.b;
        n = m.taken ? m.target : n + 1;
    }
    report(&m, INT64_MAX);
    return m.stopped ? ISA_STOPPED : m.returned ? ISA_DONE : ISA_FELL_OFF;
}
