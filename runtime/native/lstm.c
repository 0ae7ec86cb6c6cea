/* LSTMCell: one step, or all of a sequence. Gates are in the order f, i, c, o;
 * the weights of the input come first, then those of the state. */
#include "runtime/native/native_priv.h"

enum { GATES = 4, FIRST_OUTPUT = 5, MOST = 1 << 24 };

typedef struct {
    bool forward, keeps_cell;
    uint32_t steps, batch, in, state, outputs;
    bool last_only; /* output 0 is the last state alone */
} lstm;

void native_make_lstm(native_maker *m)
{
    lstm *s = arena_new(m->arena, lstm);
    uint64_t items, states;

    m->op->state = s;
    s->forward = native_i32(m, "forward", 0, 1);
    s->steps = (uint32_t)native_i32(m, "nCells", 1, MOST);
    s->batch = (uint32_t)native_i32(m, "nBatches", 1, MOST);
    s->keeps_cell = native_i32(m, "useCellState", 0, 1);
    s->outputs = (uint32_t)native_i32(m, "nOutputs", 1, 3);
    if (!m->st && m->op->n_tensors !=
                      FIRST_OUTPUT + s->outputs + (s->steps > 1 ? 1u : 0u))
        native_bad(m, "%u buffers of %u outputs and %u steps", m->op->n_tensors,
                   s->outputs, s->steps);
    for (uint32_t i = 0; i < FIRST_OUTPUT + s->outputs && !m->st; i++)
        if (native_at(m, i)->present)
            native_need_type(m, i, NATIVE_TYPE(BLOB_F16));
    if (m->st)
        return;
    items = (uint64_t)s->steps * s->batch;
    s->in = (uint32_t)(native_at(m, 0)->n / items);
    s->state = (uint32_t)(native_at(m, 1)->n / s->batch);
    if (!s->in || !s->state) {
        native_bad(m, "%u steps of %u sequences, of fewer values", s->steps,
                   s->batch);
        return;
    }
    states = (uint64_t)s->batch * s->state;
    native_need_elements(m, 0, items * s->in);
    native_need_elements(m, 1, states);
    native_need_elements(m, 2, states);
    native_need_elements(
        m, 3,
        native_times((uint64_t)GATES * s->state, (uint64_t)s->in + s->state));
    if (native_at(m, 4)->present)
        native_need_elements(m, 4, (uint64_t)GATES * s->state);
    s->last_only = native_at(m, FIRST_OUTPUT)->n != items * s->state;
    if (s->last_only)
        native_need_elements(m, FIRST_OUTPUT, states);
    for (uint32_t i = 1; i < s->outputs; i++)
        if (native_at(m, FIRST_OUTPUT + i)->present)
            native_need_elements(m, FIRST_OUTPUT + i, states);
}

double native_lstm_products(const native_op *op)
{
    const lstm *s = op->state;

    return (double)s->steps * s->batch * GATES * s->state * (s->in + s->state);
}

typedef struct {
    const lstm *s;
    const float *in, *weights, *biases;
    float *h, *c, *next, *out;
    uint32_t step;
} job;

static float dot(const float *a, const float *b, uint32_t n)
{
    float sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* One number of the next state, of one sequence. */
static void run_number(void *arg, uint64_t first, uint64_t end)
{
    const job *g = arg;
    const lstm *s = g->s;
    const float *of_state = g->weights + (uint64_t)GATES * s->state * s->in;

    for (uint64_t k = first; k < end; k++) {
        uint64_t b = k / s->state, i = k % s->state;
        const float *x = g->in + (b * s->steps + g->step) * s->in;
        const float *h = g->h + b * s->state;
        float v[GATES];

        for (uint32_t q = 0; q < GATES; q++) {
            uint64_t row = q * (uint64_t)s->state + i;

            v[q] = dot(g->weights + row * s->in, x, s->in) +
                   dot(of_state + row * s->state, h, s->state) +
                   (g->biases ? g->biases[row] : 0);
        }
        g->c[k] = native_sigmoid(v[0]) * g->c[k] +
                  native_sigmoid(v[1]) * (float)tanh((double)v[2]);
        g->next[k] = native_sigmoid(v[3]) * (float)tanh((double)g->c[k]);
    }
}

/* Between steps state and cell are in memory, in halves. */
static void keep(const float *from, float *to, uint64_t n)
{
    uint16_t half;

    for (uint64_t k = 0; k < n; k++) {
        native_to_half(&from[k], &half, 1);
        native_from_half(&half, &to[k], 1);
    }
}

static void run_step(const native_job *j, job *g, uint32_t step)
{
    const lstm *s = g->s;
    uint64_t n = (uint64_t)s->batch * s->state;
    uint32_t cost = GATES * (s->in + s->state);

    g->step = step;
    native_ranges(j, n, 65536 / cost + 1, run_number, g);
    keep(g->next, g->h, n);
    keep(g->c, g->c, n);
    for (uint64_t k = 0; k < n; k++) {
        uint64_t at = k / s->state * s->steps + step;

        g->out[s->last_only ? k : at * s->state + k % s->state] = g->next[k];
    }
}

/* Outputs behind the first: the cell of two, the state and the cell of three
 * [?]. */
static void store_more(const native_job *j, const job *g)
{
    for (uint32_t i = 1; i < g->s->outputs; i++)
        if (native_of(j, FIRST_OUTPUT + i)->present)
            native_store(j, FIRST_OUTPUT + i,
                         i + 1 == g->s->outputs ? g->c : g->h);
}

void native_run_lstm(const native_job *j)
{
    const lstm *s = j->op->state;
    uint64_t n = (uint64_t)s->batch * s->state;
    job g = {.s = s,
             .in = native_load(j, 0),
             .h = native_load(j, 1),
             .c = native_load(j, 2),
             .weights = native_load(j, 3),
             .biases = native_load(j, 4),
             .next = native_room(j, n),
             .out = native_room(j, native_of(j, FIRST_OUTPUT)->n)};

    for (uint32_t k = 0; k < s->steps; k++)
        run_step(j, &g, s->forward ? k : s->steps - 1 - k);
    native_store(j, FIRST_OUTPUT, g.out);
    store_more(j, &g);
}
