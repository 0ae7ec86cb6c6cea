/* Counting by line, and dividing what the engine says between lines. */
#include "sim/exec/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/oom.h"
#include "isa/lines.h"

/* --- what does not change while a launch runs ---------------------------- */

typedef struct {
    uint32_t row;
    uint64_t cycles;
} block_share;

/* One phase's program. */
typedef struct {
    const isa_function *f;
    uint32_t *lines; /* ascending, 0 first */
    uint32_t n_lines, first_row;
    block_share *shares;
    uint32_t *first_share; /* of each block; n_blocks + 1 */
} code;

/* --- what a SHAVE did and the engine has not replayed yet ---------------- */

typedef enum { ITEM_PHASE, ITEM_RUN, ITEM_DMA, ITEM_WAIT, ITEM_MEM } item_kind;

typedef struct {
    item_kind kind;
    uint32_t row;        /* DMA, WAIT, MEM */
    uint64_t group;      /* PHASE */
    uint64_t weights[3]; /* MEM: of L2, DDR and store stalls */
} item;

enum { W_L2, W_DDR, W_STORE, N_WEIGHTS };

typedef struct {
    item *items;
    size_t n, cap, head;
} fifo;

/* Rows that are no line's; after them come the lines'. */
enum {
    ROW_DISPATCH,
    ROW_WAIT, /* one in front of each phase, and one for the end */
    ROW_FLUSH = ROW_WAIT + MACH_N_PHASES + 1,
    ROW_IDLE,
    N_FIXED_ROWS
};

struct profile_shave {
    profile_launch *p;
    exec_profile_row *rows;
    uint64_t *blocks[MACH_N_PHASES]; /* how often each ran */
    fifo steps[MACH_N_PHASES];
    /* Running: */
    mach_phase phase;
    uint32_t row; /* of the current line */
    uint32_t logged[SIM_LOG_ENTRIES];
    mach_mem_counts sum;    /* since the last step */
    mach_mem_counts *mem;   /* likewise, by row */
    uint32_t *used, n_used; /* rows with something in mem */
    bool *in_use;
    /* Replaying: */
    bool open;           /* inside a phase */
    mach_phase replayed; /* the last one that began */
    uint64_t run_at;     /* common clock of the current RUN step */
    uint64_t waited;     /* for transfers since the last phase ended */
};

struct profile_launch {
    const mach_desc *desc;
    code codes[MACH_N_PHASES];
    profile_shave *shaves;
    uint32_t n_shaves, n_rows;
    mach_watch watch;
};

/* --- setting up ---------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void collect_lines(code *c, arena *a)
{
    const isa_function *f = c->f;
    uint32_t n = 1;

    c->lines = arena_array(a, uint32_t, f->n_instrs + 1);
    for (uint32_t k = 0; k < f->n_instrs; k++)
        c->lines[k + 1] = f->instrs[k].line;
    qsort(c->lines, f->n_instrs + 1, sizeof *c->lines, ascending);
    for (uint32_t k = 1; k <= f->n_instrs; k++)
        if (c->lines[k] != c->lines[n - 1])
            c->lines[n++] = c->lines[k];
    c->n_lines = n;
}

static uint32_t row_of(const code *c, uint32_t line)
{
    const uint32_t *at =
        bsearch(&line, c->lines, c->n_lines, sizeof line, ascending);

    return c->first_row + (at ? (uint32_t)(at - c->lines) : 0);
}

static void share_blocks(code *c, arena *a)
{
    const isa_function *f = c->f;
    size_t n = 0, cap = 0;
    uint32_t longest = 1, *lines;

    for (uint32_t b = 0; b < f->n_blocks; b++)
        if (f->blocks[b].cycles > longest)
            longest = f->blocks[b].cycles;
    lines = arena_array(a, uint32_t, longest);
    c->first_share = arena_array(a, uint32_t, f->n_blocks + 1);
    for (uint32_t b = 0; b < f->n_blocks; b++) {
        c->first_share[b] = (uint32_t)n;
        isa_cycle_lines(f, b, lines);
        qsort(lines, f->blocks[b].cycles, sizeof *lines, ascending);
        for (uint32_t t = 0; t < f->blocks[b].cycles; t++) {
            if (!t || lines[t] != lines[t - 1])
                *arena_append(a, c->shares, n, cap) =
                    (block_share){.row = row_of(c, lines[t])};
            c->shares[n - 1].cycles++;
        }
    }
    c->first_share[f->n_blocks] = (uint32_t)n;
}

static void set_up_shave(profile_launch *p, profile_shave *s, arena *a)
{
    s->p = p;
    s->rows = arena_array(a, exec_profile_row, p->n_rows);
    s->mem = arena_array(a, mach_mem_counts, p->n_rows);
    s->used = arena_array(a, uint32_t, p->n_rows);
    s->in_use = arena_array(a, bool, p->n_rows);
    for (int k = 0; k < MACH_N_PHASES; k++)
        if (p->codes[k].f)
            s->blocks[k] =
                arena_array(a, uint64_t, p->codes[k].f->n_blocks + 1);
}

/* --- running ------------------------------------------------------------- */

static item *push(profile_shave *s, item_kind kind)
{
    fifo *q = &s->steps[s->phase];

    if (q->n == q->cap && q->head > q->cap / 2) {
        q->n -= q->head;
        memmove(q->items, q->items + q->head, q->n * sizeof *q->items);
        q->head = 0;
    } else if (q->n == q->cap) {
        size_t cap = q->cap ? 2 * q->cap : 256;
        q->items = oom_realloc(q->items, cap * sizeof *q->items);
        q->cap = cap;
    }
    q->items[q->n] = (item){.kind = kind};
    return &q->items[q->n++];
}

void profile_phase(profile_shave *s, uint64_t group, mach_phase phase)
{
    s->phase = phase;
    s->row = s->p->codes[phase].first_row;
    push(s, ITEM_PHASE)->group = group;
}

void profile_block(profile_shave *s, uint32_t block)
{
    s->blocks[s->phase][block]++;
}

void profile_line(profile_shave *s, uint32_t line)
{
    const code *c = &s->p->codes[s->phase];

    if (c->lines[s->row - c->first_row] != line)
        s->row = row_of(c, line);
}

void profile_logged(profile_shave *s, uint64_t n)
{
    s->logged[n] = s->row;
}

/* Something is in mem. */
static void use(profile_shave *s, uint32_t row)
{
    if (s->in_use[row])
        return;
    s->in_use[row] = true;
    s->used[s->n_used++] = row;
}

void profile_feed(profile_shave *s, mach_cache *cache, const uint64_t *log,
                  uint64_t n)
{
    mach_mem_counts all;

    for (uint64_t k = 0; k < n; k++) {
        exec_profile_row *r = &s->rows[s->logged[k]];

        use(s, s->logged[k]);
        if (MACH_ACCESS_IS_STORE(log[k]))
            r->store_bytes += MACH_ACCESS_BYTES(log[k]);
        else
            r->load_bytes += MACH_ACCESS_BYTES(log[k]);
    }
    mach_cache_run_owned(cache, log, n, s->logged, s->mem);
    all = mach_cache_take(cache);
    mach_mem_add(&s->sum, &all);
}

void profile_touched(profile_shave *s, mach_cache *cache)
{
    mach_mem_counts n = mach_cache_take(cache);

    use(s, s->row);
    mach_mem_add(&s->sum, &n);
    mach_mem_add(&s->mem[s->row], &n);
    s->rows[s->row].load_bytes += n.load_bytes;
    s->rows[s->row].store_bytes += n.store_bytes;
}

/* As the engine reckons them (cost_of): loads stall by level; a store holds an
 * entry of the buffer as long as a load of its kind would stall. */
static void weigh(const mach_desc *d, const mach_mem_counts *n, item *it)
{
    uint64_t hits = n->stores > n->store_fills ? n->stores - n->store_fills : 0;

    it->weights[W_L2] =
        n->load_l1_hits * d->l1_hit_stall + n->load_l2_hits * d->l2_hit_stall;
    it->weights[W_DDR] = n->load_fills * d->ddr_load_stall +
                         n->lines_before * d->ddr_row_cycle * d->clk_mhz / 1000;
    it->weights[W_STORE] =
        hits * d->l2_hit_stall + n->store_fills * d->ddr_load_stall;
}

mach_mem_counts profile_run_step(profile_shave *s)
{
    mach_mem_counts sum = s->sum;

    push(s, ITEM_RUN);
    qsort(s->used, s->n_used, sizeof *s->used, ascending);
    for (uint32_t k = 0; k < s->n_used; k++) {
        uint32_t row = s->used[k];
        item *it = push(s, ITEM_MEM);

        it->row = row;
        weigh(s->p->desc, &s->mem[row], it);
        s->mem[row] = (mach_mem_counts){0};
        s->in_use[row] = false;
    }
    s->n_used = 0;
    s->sum = (mach_mem_counts){0};
    return sum;
}

/* With what accesses left behind the last RUN step. */
mach_mem_counts profile_flush_step(profile_shave *s, mach_cache *cache)
{
    mach_mem_counts n = mach_cache_take(cache);

    mach_mem_add(&s->sum, &n);
    return s->sum;
}

void profile_dma_step(profile_shave *s, uint64_t bytes)
{
    s->rows[s->row].dma_bytes += bytes;
    push(s, ITEM_DMA)->row = s->row;
}

void profile_wait_step(profile_shave *s)
{
    push(s, ITEM_WAIT)->row = s->row;
}

/* --- replaying ----------------------------------------------------------- */

static void on_phase_begin(void *user, uint32_t shave, uint64_t group,
                           mach_phase phase)
{
    profile_shave *s = &((profile_launch *)user)->shaves[shave];
    fifo *q = &s->steps[phase];

    s->open = true;
    s->replayed = phase;
    s->rows[ROW_WAIT + phase].cycles[MACH_CAUSE_DMA_WAIT] += s->waited;
    s->waited = 0;
    while (q->head < q->n && (q->items[q->head].kind != ITEM_PHASE ||
                              q->items[q->head].group != group))
        q->head++;
}

static void on_phase_end(void *user, uint32_t shave)
{
    ((profile_launch *)user)->shaves[shave].open = false;
}

/* The next step of that kind in the running phase; NULL: it has none. */
static const item *advance(profile_shave *s, item_kind kind)
{
    fifo *q = &s->steps[s->replayed];
    size_t at = q->head + 1;

    while (at < q->n && q->items[at].kind != ITEM_PHASE &&
           q->items[at].kind != kind)
        at++;
    if (at >= q->n || q->items[at].kind != kind)
        return NULL;
    q->head = at;
    return &q->items[at];
}

/* floor(a * b / c), which fits */
static uint64_t part(uint64_t a, uint64_t b, uint64_t c)
{
    __extension__ typedef unsigned __int128 wide;

    return (uint64_t)((wide)a * b / c);
}

/* Divide a stall of the current RUN step. False: no line has any of it. */
static bool divide(profile_shave *s, mach_cause cause, uint64_t cycles, int w)
{
    const fifo *q = &s->steps[s->replayed];
    uint64_t all = 0, before = 0, given = 0;

    for (size_t k = q->head + 1; k < q->n && q->items[k].kind == ITEM_MEM; k++)
        all += q->items[k].weights[w];
    if (!all)
        return false;
    for (size_t k = q->head + 1; k < q->n && q->items[k].kind == ITEM_MEM;
         k++) {
        uint64_t upto;

        before += q->items[k].weights[w];
        upto = part(cycles, before, all);
        s->rows[q->items[k].row].cycles[cause] += upto - given;
        given = upto;
    }
    return true;
}

static void memory_stall(profile_shave *s, mach_cause cause, uint64_t cycles,
                         uint64_t now)
{
    static const int weights[MACH_N_CAUSES] = {[MACH_CAUSE_L2] = W_L2,
                                               [MACH_CAUSE_DDR] = W_DDR,
                                               [MACH_CAUSE_STORE] = W_STORE};

    /* Not at the time of a RUN step: what the last group left in the caches. */
    if (!s->open || now != s->run_at) {
        s->rows[ROW_FLUSH].cycles[cause] += cycles;
        return;
    }
    if (divide(s, cause, cycles, weights[cause]))
        return;
    for (int w = 0; w < N_WEIGHTS; w++)
        if (divide(s, cause, cycles, w))
            return;
    s->rows[s->p->codes[s->replayed].first_row].cycles[cause] += cycles;
}

static void on_cause(void *user, uint32_t shave, uint64_t now, uint64_t cycles,
                     mach_cause cause)
{
    profile_shave *s = &((profile_launch *)user)->shaves[shave];
    const item *it;
    uint32_t row = s->p->codes[s->replayed].first_row;

    switch (cause) {
    case MACH_CAUSE_ISSUE: /* counted by block; here only where we are */
        advance(s, ITEM_RUN);
        s->run_at = now;
        return;
    case MACH_CAUSE_L2:
    case MACH_CAUSE_DDR:
    case MACH_CAUSE_STORE:
        memory_stall(s, cause, cycles, now);
        return;
    case MACH_CAUSE_DMA_SETUP:
        it = advance(s, ITEM_DMA);
        row = it ? it->row : row;
        break;
    case MACH_CAUSE_DMA_WAIT:
        if (!s->open) {
            s->waited += cycles;
            return;
        }
        it = advance(s, ITEM_WAIT);
        row = it ? it->row : row;
        break;
    case MACH_CAUSE_IDLE:
        row = ROW_IDLE;
        break;
    default:
        row = ROW_DISPATCH;
    }
    s->rows[row].cycles[cause] += cycles;
}

/* --- life ---------------------------------------------------------------- */

profile_launch *
profile_create(const mach_desc *desc,
               const isa_function *const programs[MACH_N_PHASES],
               uint32_t n_shaves, arena *a)
{
    profile_launch *p = arena_new(a, profile_launch);

    p->desc = desc;
    p->n_shaves = n_shaves;
    p->n_rows = N_FIXED_ROWS;
    p->watch = (mach_watch){.phase_begin = on_phase_begin,
                            .phase_end = on_phase_end,
                            .cause = on_cause,
                            .user = p};
    for (int k = 0; k < MACH_N_PHASES; k++) {
        code *c = &p->codes[k];

        c->first_row = p->n_rows;
        if (!(c->f = programs[k]))
            continue;
        collect_lines(c, a);
        share_blocks(c, a);
        p->n_rows += c->n_lines;
    }
    p->shaves = arena_array(a, profile_shave, n_shaves);
    for (uint32_t i = 0; i < n_shaves; i++)
        set_up_shave(p, &p->shaves[i], a);
    return p;
}

void profile_free(profile_launch *p)
{
    for (uint32_t i = 0; p && i < p->n_shaves; i++)
        for (int k = 0; k < MACH_N_PHASES; k++)
            free(p->shaves[i].steps[k].items);
}

profile_shave *profile_of_shave(profile_launch *p, uint32_t shave)
{
    return p ? &p->shaves[shave] : NULL;
}

const mach_watch *profile_watch(profile_launch *p)
{
    return p ? &p->watch : NULL;
}

/* --- the result ---------------------------------------------------------- */

/* Copies of an operation in a pipelined loop's prologue, kernel and epilogue
 * have its seq: they count as one. */
static uint32_t loop_of(const isa_function *f, uint32_t block)
{
    if (f->blocks[block].kind == ISA_KERNEL)
        return block - (block && f->blocks[block - 1].kind == ISA_PROLOGUE);
    if (f->blocks[block].kind != ISA_EPILOGUE)
        return block;
    return block < 2 ? 0 : block - 2;
}

typedef struct {
    uint32_t row, loop, seq;
    uint64_t times;
} issued;

static int by_operation(const void *a, const void *b)
{
    const issued *x = a, *y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->loop != y->loop)
        return x->loop < y->loop ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static void count_executions(const code *c, const uint64_t *blocks, arena *a,
                             exec_profile_row *rows)
{
    const isa_function *f = c->f;
    issued *list = arena_array(a, issued, f->n_instrs + 1);
    uint32_t n = 0;
    uint64_t times = 0;

    for (uint32_t b = 0; b < f->n_blocks; b++)
        for (uint32_t k = 0; k < f->blocks[b].n_instrs; k++) {
            const isa_instr *in = &f->instrs[f->blocks[b].first + k];

            list[n++] = (issued){row_of(c, in->line), loop_of(f, b), in->seq,
                                 blocks[b]};
        }
    qsort(list, n, sizeof *list, by_operation);
    for (uint32_t k = 0; k < n; k++) {
        exec_profile_row *r = &rows[list[k].row];

        times = k && !by_operation(&list[k], &list[k - 1])
                    ? times + list[k].times
                    : list[k].times;
        if (times > r->executions)
            r->executions = times;
    }
}

static void add_issue(const code *c, const uint64_t *blocks,
                      exec_profile_row *rows)
{
    for (uint32_t b = 0; b < c->f->n_blocks; b++)
        for (uint32_t k = c->first_share[b]; k < c->first_share[b + 1]; k++)
            rows[c->shares[k].row].cycles[MACH_CAUSE_ISSUE] +=
                blocks[b] * c->shares[k].cycles;
}

static void add_shave(const profile_launch *p, const profile_shave *s,
                      exec_profile_row *rows, uint64_t *const *blocks)
{
    for (uint32_t r = 0; r < p->n_rows; r++) {
        for (int c = 0; c < MACH_N_CAUSES; c++)
            rows[r].cycles[c] += s->rows[r].cycles[c];
        rows[r].load_bytes += s->rows[r].load_bytes;
        rows[r].store_bytes += s->rows[r].store_bytes;
        rows[r].dma_bytes += s->rows[r].dma_bytes;
    }
    rows[ROW_WAIT + MACH_N_PHASES].cycles[MACH_CAUSE_DMA_WAIT] += s->waited;
    for (int k = 0; k < MACH_N_PHASES; k++)
        for (uint32_t b = 0; p->codes[k].f && b < p->codes[k].f->n_blocks; b++)
            blocks[k][b] += s->blocks[k][b];
}

static void name_rows(const profile_launch *p, exec_profile_row *rows)
{
    rows[ROW_DISPATCH].place = EXEC_AT_DISPATCH;
    for (int k = 0; k <= MACH_N_PHASES; k++) {
        rows[ROW_WAIT + k].place = EXEC_AT_PHASE_WAIT;
        rows[ROW_WAIT + k].phase = (mach_phase)k;
    }
    rows[ROW_FLUSH].place = EXEC_AT_FLUSH;
    rows[ROW_IDLE].place = EXEC_AT_IDLE;
    for (int k = 0; k < MACH_N_PHASES; k++)
        for (uint32_t n = 0; n < p->codes[k].n_lines; n++) {
            exec_profile_row *r = &rows[p->codes[k].first_row + n];

            r->phase = (mach_phase)k;
            r->line = p->codes[k].lines[n];
        }
}

static int by_place(const void *a, const void *b)
{
    const exec_profile_row *x = a, *y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static bool empty(const exec_profile_row *r)
{
    uint64_t any = r->executions | r->load_bytes | r->store_bytes;

    for (int c = 0; c < MACH_N_CAUSES; c++)
        any |= r->cycles[c];
    return !any;
}

vpu_status profile_finish(profile_launch *p, const mach_profile *launch,
                          arena *a, exec_profile *out, vpu_error *err)
{
    exec_profile_row *rows = arena_array(a, exec_profile_row, p->n_rows);
    uint64_t *blocks[MACH_N_PHASES] = {0}, sum = 0;

    for (int k = 0; k < MACH_N_PHASES; k++)
        if (p->codes[k].f)
            blocks[k] = arena_array(a, uint64_t, p->codes[k].f->n_blocks + 1);
    name_rows(p, rows);
    for (uint32_t i = 0; i < p->n_shaves; i++)
        add_shave(p, &p->shaves[i], rows, blocks);
    for (int k = 0; k < MACH_N_PHASES; k++)
        if (p->codes[k].f) {
            add_issue(&p->codes[k], blocks[k], rows);
            count_executions(&p->codes[k], blocks[k], a, rows);
        }
    *out = (exec_profile){.rows = rows};
    for (uint32_t r = 0; r < p->n_rows; r++) {
        if (empty(&rows[r]))
            continue;
        for (int c = 0; c < MACH_N_CAUSES; c++)
            sum += rows[r].cycles[c];
        rows[out->n++] = rows[r];
    }
    qsort(rows, out->n, sizeof *rows, by_place);
    if (sum != launch->cycles * p->n_shaves)
        return err_set(err, VPU_ERR_INTERNAL,
                       "the profile has %llu cycles, %u SHAVEs of the launch "
                       "%llu each (a defect of the simulator)",
                       (unsigned long long)sum, p->n_shaves,
                       (unsigned long long)launch->cycles);
    return VPU_OK;
}
