/* Copies that become phases (sim/compiler/middle/hoist.h): which do, and that
 * no result depends on it. Random kernels of copies, waits and accesses are run
 * against a model that does one statement after the other for all items; the
 * engines must agree, and code for checking, in which nothing moves, finds
 * nothing and leaves the same bytes.
 *
 * VPU_SEEDS=FIRST:COUNT runs other random kernels; VPU_SHOW=1 prints them. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/rig.h"

enum { ITEMS = 8, ELEMENTS = 32, ARRAYS = 3, SLOTS = 4, GROUPS = 5, ROWS = 8 };

/* --- random kernels -------------------------------------------------------- */

typedef enum { COPY_IN, COPY_OUT, STORE, ADD, PUT, GET, N_OPS } op;

/* How often a statement happens, and how its address is made. */
typedef enum {
    PLAIN,
    WHERE_TRUE,
    WHERE_FALSE,
    IN_LOOP,
    BY_MEMORY,
    N_MODES
} mode;

typedef struct {
    op op;
    mode mode;
    uint32_t array, row, slot, k;
    bool back; /* COPY_IN: of the slot, not of the row */
} statement;

typedef struct {
    uint64_t seed, at;
    str text;
    statement list[24];
    uint32_t n;
    bool written[ARRAYS], put[SLOTS]; /* hold values */
    /* Since items last met: 1 read, 2 written by items. */
    uint8_t arrays[ARRAYS], slots[SLOTS];
    /* Copies not waited for: the event's number + 1, 0 = none. */
    struct {
        uint32_t event;
        bool in, back;
        uint32_t array, slot;
    } pending[24];
    uint32_t n_pending, n_events;
} generator;

static uint32_t pick(generator *g, uint32_t n)
{
    return (uint32_t)(rig_noise(g->seed * 4096 + g->at++) >> 8) % n;
}

static void meet(generator *g)
{
    str_puts(&g->text, "    barrier(CLK_LOCAL_MEM_FENCE | "
                       "CLK_GLOBAL_MEM_FENCE);\n");
    memset(g->arrays, 0, sizeof g->arrays);
    memset(g->slots, 0, sizeof g->slots);
}

static void drop_event(generator *g, uint32_t event)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_pending; i++)
        if (g->pending[i].event != event)
            g->pending[n++] = g->pending[i];
    g->n_pending = n;
}

/* For the copies of one event, sometimes of a second one in the same call. */
static void wait(generator *g, uint32_t event)
{
    uint32_t other = 0;

    drop_event(g, event);
    if (g->n_pending && pick(g, 2))
        other = g->pending[0].event;
    if (other) {
        drop_event(g, other);
        str_printf(&g->text,
                   "    {\n        event_t both[2] = {e%u, e%u};\n"
                   "        wait_group_events(2, both);\n    }\n",
                   event, other);
    } else {
        str_printf(&g->text, "    wait_group_events(1, &e%u);\n", event);
    }
}

/* Before a statement that reads or writes an array or a slot. */
static void settle(generator *g, int array, int slot, bool writes, bool by_copy)
{
    uint8_t against = writes ? 3 : 2;

    for (uint32_t i = 0; i < g->n_pending; i++)
        if ((array >= 0 && g->pending[i].array == (uint32_t)array &&
             (writes || g->pending[i].in)) ||
            (slot >= 0 &&
             (!g->pending[i].in || (g->pending[i].back && writes)) &&
             g->pending[i].slot == (uint32_t)slot)) {
            wait(g, g->pending[i].event);
            i = UINT32_MAX;
        }
    if ((array >= 0 && g->arrays[array] & against) ||
        (slot >= 0 && g->slots[slot] & against))
        meet(g);
    if (array >= 0 && !by_copy)
        g->arrays[array] |= writes ? 2 : 1;
    if (slot >= 0 && !by_copy)
        g->slots[slot] |= writes ? 2 : 1;
}

/* &in[row of the group] or &out[slot of the group], and how many elements on.
 */
static const char *global_end(generator *g, const statement *s, char *at,
                              size_t n)
{
    static const char *const rows[] = {
        "in + (g + %u) * 32", "in + (g + %u) * get_local_size(0) * 4",
        "&in[32 * (get_num_groups(0) - 5 + g) + 32 * %u]"};
    static const char *const slots[] = {
        "out + (g * 4 + %u) * 32",
        "out + g * 16 * get_local_size(0) + %u * (n + 29)"};

    if (s->op == COPY_IN && !s->back && s->mode == BY_MEMORY)
        snprintf(at, n, "in + 32 * index[g + %u]", s->row);
    else if (s->op == COPY_IN && !s->back)
        snprintf(at, n, rows[pick(g, 3)], s->row);
    else if (s->mode == BY_MEMORY)
        snprintf(at, n, "out + 32 * (4 * index[g] + %u)", s->slot);
    else
        snprintf(at, n, slots[pick(g, 2)], s->slot);
    return at;
}

static void write_copy(generator *g, const statement *s)
{
    char global[96], local[16];
    const char *dst = s->op == COPY_IN ? local : global;
    const char *src = s->op == COPY_IN ? global : local;
    uint32_t event = ++g->n_events, joined = 0;

    global_end(g, s, global, sizeof global);
    snprintf(local, sizeof local, "a%u", s->array);
    if (s->mode == WHERE_TRUE || s->mode == WHERE_FALSE)
        str_printf(&g->text,
                   "    if (n %c 2) {\n"
                   "        event_t e = async_work_group_copy(%s, %s, 32, 0);\n"
                   "        wait_group_events(1, &e);\n    }\n",
                   s->mode == WHERE_TRUE ? '>' : '<', dst, src);
    else if (s->mode == IN_LOOP)
        str_printf(&g->text,
                   "    for (int t = 0; t < n - 1; t++) {\n"
                   "        event_t e = async_work_group_copy(%s + 16 * t, "
                   "%s + 16 * t, 16, 0);\n"
                   "        wait_group_events(1, &e);\n    }\n",
                   dst, src);
    if (s->mode != PLAIN && s->mode != BY_MEMORY)
        return;
    if (g->n_pending && !pick(g, 3))
        joined = g->pending[g->n_pending - 1].event;
    g->pending[g->n_pending].event = joined ? joined : event;
    g->pending[g->n_pending].in = s->op == COPY_IN;
    g->pending[g->n_pending].back = s->back;
    g->pending[g->n_pending].array = s->array;
    g->pending[g->n_pending++].slot = s->slot;
    str_printf(&g->text, "    event_t e%u = ", event);
    if (pick(g, 2))
        str_printf(&g->text,
                   "async_work_group_copy_2D2D(%s, %s, n + 5, n + 1, "
                   "0, 0, ",
                   dst, src);
    else
        str_printf(&g->text, "async_work_group_copy(%s, %s, 32, ", dst, src);
    str_printf(&g->text, joined ? "e%u);\n" : "0);\n", joined);
}

static void add(generator *g, statement s)
{
    bool on_array = s.op != PUT && s.op != GET, on_slot = !on_array;
    bool copy = s.op == COPY_IN || s.op == COPY_OUT, happens;

    s.back = s.op == COPY_IN && g->put[s.slot] && !pick(g, 3);
    on_slot |= s.op == COPY_OUT || s.back;
    if (copy)
        s.mode = pick(g, 2) ? PLAIN : (mode)pick(g, N_MODES);
    happens = s.mode != WHERE_FALSE;
    if (((s.op == COPY_OUT || s.op == ADD) && !g->written[s.array]) ||
        (s.op == GET && !g->put[s.slot]))
        return;
    settle(g, on_array ? (int)s.array : -1, -1,
           s.op == COPY_IN || s.op == STORE, copy);
    settle(g, -1, on_slot ? (int)s.slot : -1, s.op == COPY_OUT || s.op == PUT,
           copy);
    if (copy)
        write_copy(g, &s);
    else if (s.op == STORE)
        str_printf(&g->text,
                   "    for (int k = 0; k < 4; k++)\n"
                   "        a%u[l + 8 * k] = sum * 3 + %u + k;\n",
                   s.array, s.k);
    else if (s.op == ADD)
        str_printf(&g->text, "    sum += a%u[(l * 5 + %u) %% 32];\n", s.array,
                   s.k);
    else if (s.op == PUT)
        str_printf(&g->text,
                   "    for (int k = 0; k < 4; k++)\n"
                   "        out[(g * 4 + %u) * 32 + l + 8 * k] = sum + k;\n",
                   s.slot);
    else
        str_printf(&g->text,
                   "    sum += out[(g * 4 + %u) * 32 + (l + %u) %% 8];\n",
                   s.slot, s.k);
    g->written[s.array] |= (s.op == COPY_IN || s.op == STORE) && happens;
    g->put[s.slot] |= (s.op == COPY_OUT || s.op == PUT) && happens;
    g->list[g->n++] = s;
}

/* As kernels are written: copies in, computation, copies out; or anything. */
static op pick_op(generator *g, uint32_t i, uint32_t n, bool shaped)
{
    static const op inner[] = {STORE, ADD, STORE, ADD, ADD, GET};

    if (!shaped)
        return (op)pick(g, N_OPS);
    return i < n / 3       ? COPY_IN
           : i < 2 * n / 3 ? inner[pick(g, sizeof inner / sizeof *inner)]
                           : COPY_OUT;
}

static void generate(generator *g, uint64_t seed)
{
    bool shaped, as_arguments;
    uint32_t n;

    *g = (generator){.seed = seed};
    shaped = pick(g, 4);
    as_arguments = pick(g, 3) == 0;
    n = 4 + pick(g, 10);
    str_printf(&g->text,
               "__kernel void k(__global int *out, __global const int *in,\n"
               "                __global const int *index, int n%s)\n{\n%s"
               "    int l = get_local_id(0), g = get_group_id(0), sum = l;\n",
               as_arguments ? ", __local int *a0, __local int *a1, "
                              "__local int *a2"
                            : "",
               as_arguments ? "" : "    __local int a0[32], a1[32], a2[32];\n");
    for (uint32_t i = 0; i < n; i++)
        add(g, (statement){.op = pick_op(g, i, n, shaped),
                           .array = pick(g, ARRAYS),
                           .row = pick(g, ROWS - GROUPS + 1),
                           .slot = pick(g, SLOTS),
                           .k = pick(g, 16)});
    if (!memcmp(g->put, (bool[SLOTS]){false}, sizeof g->put))
        add(g, (statement){.op = PUT, .slot = pick(g, SLOTS)});
    while (g->n_pending)
        wait(g, g->pending[0].event);
    str_puts(&g->text, "}\n");
}

/* --- the model ------------------------------------------------------------- */

typedef struct {
    int32_t out[GROUPS * SLOTS * ELEMENTS];
    int32_t arrays[ARRAYS][ELEMENTS], sums[ITEMS];
} model;

static int32_t in_element(uint32_t i)
{
    return (int32_t)(rig_noise(i + 77) % 100000);
}

static void do_statement(model *m, const statement *s, uint32_t group)
{
    int32_t *slot = &m->out[(group * SLOTS + s->slot) * ELEMENTS];
    int32_t *array = m->arrays[s->array];

    for (uint32_t i = 0; i < ELEMENTS && s->mode != WHERE_FALSE; i++)
        if (s->op == COPY_IN && s->back)
            array[i] = slot[i];
        else if (s->op == COPY_IN)
            array[i] = in_element((group + s->row) * ELEMENTS + i);
        else if (s->op == COPY_OUT)
            slot[i] = array[i];
        else if (s->op == STORE)
            array[i] =
                (int32_t)((uint32_t)m->sums[i % ITEMS] * 3 + s->k + i / ITEMS);
        else if (s->op == PUT)
            slot[i] = (int32_t)((uint32_t)m->sums[i % ITEMS] + i / ITEMS);
    for (uint32_t l = 0; l < ITEMS; l++)
        if (s->op == ADD)
            m->sums[l] = (int32_t)((uint32_t)m->sums[l] +
                                   (uint32_t)array[(l * 5 + s->k) % ELEMENTS]);
        else if (s->op == GET)
            m->sums[l] = (int32_t)((uint32_t)m->sums[l] +
                                   (uint32_t)slot[(l + s->k) % ITEMS]);
}

static void compute(model *m, const generator *g)
{
    memset(m, 0, sizeof *m);
    for (uint32_t group = 0; group < GROUPS; group++) {
        for (int32_t l = 0; l < ITEMS; l++)
            m->sums[l] = l;
        for (uint32_t i = 0; i < g->n; i++)
            do_statement(m, &g->list[i], group);
    }
}

/* --- one against the other ------------------------------------------------- */

enum { IN_A_ROW = 5, N_ROWS = 8 };

static uint64_t seeds(uint64_t *first)
{
    const char *s = getenv("VPU_SEEDS"), *colon = s ? strchr(s, ':') : NULL;

    *first = s ? strtoull(s, NULL, 10) : 0;
    return colon ? strtoull(colon + 1, NULL, 10) : (uint64_t)IN_A_ROW * N_ROWS;
}

static void bind(rig *r, int32_t **out)
{
    int32_t *in, *index;

    *out = rig_buffer(r, sizeof((model *)0)->out);
    in = rig_buffer(r, (uint64_t)(ROWS + 1) * ELEMENTS * 4);
    index = rig_buffer(r, (ROWS + 1) * 4);
    for (uint32_t i = 0; i < (ROWS + 1) * ELEMENTS; i++)
        in[i] = in_element(i);
    for (int32_t i = 0; i <= ROWS; i++)
        index[i] = i;
    rig_int(r, 3);
    for (uint32_t i = 4; i < r->kernel->n_args; i++)
        rig_local(r, ELEMENTS * 4);
}

static void try_kernel(uint64_t seed)
{
    static generator g;
    static model m;
    int32_t *out;
    rig r;

    generate(&g, seed);
    if (getenv("VPU_SHOW"))
        printf("/* seed %llu */\n%s", (unsigned long long)seed, g.text.data);
    compute(&m, &g);
    rig_open(&r);
    r.both_engines = true;
    r.clean = true;
    rig_compile(&r, g.text.data, "k");
    for (uint32_t i = 0; i < r.kernel->n_copies && getenv("VPU_SHOW"); i++)
        printf("// line %u: %s\n", r.kernel->copies[i].line,
               r.kernel->copies[i].why ? r.kernel->copies[i].why : "moves");
    bind(&r, &out);
    rig_run_1d(&r, GROUPS, ITEMS);
    for (uint32_t i = 0; i < GROUPS * SLOTS * ELEMENTS; i++)
        ck_assert_msg(
            out[i] == m.out[i], "seed %llu: out[%u] is %d, expected %d\n%s",
            (unsigned long long)seed, i, out[i], m.out[i], g.text.data);
    str_free(&g.text);
    rig_close(&r);
}

START_TEST(results_stay)
{
    uint64_t first, n = seeds(&first);

    for (uint64_t i = (uint64_t)_i * n / N_ROWS;
         i < (uint64_t)(_i + 1) * n / N_ROWS; i++)
        try_kernel(first + i);
}
END_TEST

/* --- which copies move ------------------------------------------------------ */

#define ARGS                                           \
    "(__global int *out, __global const int *in,\n"    \
    " __global const int *index, int n)\n{\n"          \
    " __local int a[32], b[32];\n"                     \
    " int l = get_local_id(0), g = get_group_id(0);\n" \
    " event_t e, f;\n"
#define IN(array) "e = async_work_group_copy(" array ", in + g * 32, 32, 0);\n"
#define OUT(array) \
    "e = async_work_group_copy(out + g * 32, " array ", 32, 0);\n"
#define WAIT "wait_group_events(1, &e);\n"
#define MEET "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
#define FILL(array) "for (int k = l; k < 32; k += 8) " array "[k] = k + g;\n"

/* phases: of the copies in their order; p preload, w postwrite, - neither. why:
 * of the first that stays. */
static const struct {
    const char *name, *body, *phases, *why;
} moves[] = {
    {"both ends", IN("a") WAIT "b[l] = a[31 - l];\n" MEET OUT("b") WAIT, "pw",
     NULL},
    {"nothing between", IN("a") WAIT OUT("a") WAIT, "pw", NULL},
    {"two in, one wait",
     IN("a") "f = async_work_group_copy(b, in, 32, e);\n"
             "wait_group_events(1, &f);\n" MEET "a[l] += b[l];\n" MEET OUT("a")
                 WAIT,
     "ppw", NULL},
    {"two in, a list of events",
     IN("a") "f = async_work_group_copy(b, in, 32, 0);\n"
             "event_t both[2] = {e, f};\nwait_group_events(2, both);\n"
             "a[l] += b[l];\n" MEET OUT("a") WAIT,
     "ppw", NULL},
    {"one behind the other's wait",
     IN("a") WAIT "e = async_work_group_copy(b, in, n, 0);\n" WAIT
                  "out[g * 8 + l] = a[l] + b[l];\n",
     "pp", NULL},
    {"parts of one array",
     "e = async_work_group_copy(a, in, 16, 0);\n"
     "e = async_work_group_copy(a + 16, in + n, 16, e);\n" WAIT
     "out[g * 8 + l] = a[l] + a[31 - l];\n",
     "pp", NULL},
    {"in, waited for late",
     IN("a") FILL("b") WAIT "out[g * 8 + l] = a[l] + b[l];\n", "p", NULL},
    {"a condition behind it",
     IN("a") WAIT "if (n > l) out[g * 8 + l] = a[l];\n", "p", NULL},
    {"private memory around it",
     "int p[4]; for (int k = 0; k < 4; k++) p[(k + n) & 3] = k;\n" IN("a") WAIT
     "out[g * 8 + l] = a[l] + p[l & 3];\n",
     "p", NULL},
    {"global memory read before it",
     "int x = index[l];\n" IN("a") WAIT "out[g * 8 + l] = a[l] + x;\n", "p",
     NULL},
    {"behind a condition",
     FILL("a") MEET "if (n > 3) {\n" IN("b") WAIT "a[l] += b[l];\n}\n" MEET
                                                  "out[g * 8 + l] = a[l];\n",
     "-", "it is in a loop or behind a condition"},
    {"in a loop",
     "for (int t = 0; t < n; t++) {\n"
     "e = async_work_group_copy(a + t * 4, in + t * 8, 4, 0);\n" WAIT
     "}\nout[g * 8 + l] = a[l];\n",
     "-", "it is in a loop or behind a condition"},
    {"an address from memory",
     "e = async_work_group_copy(a, in + index[g], 32, 0);\n" WAIT
     "out[g * 8 + l] = a[l];\n",
     "-", "its address or size depends on memory"},
    {"an address from a loop",
     "int at = 0;\nfor (int t = 0; t < n; t++) at = at * 3 ^ t;\n"
     "e = async_work_group_copy(a, in + (at & 7), 32, 0);\n" WAIT
     "out[g * 8 + l] = a[l];\n",
     "-", "its address or size depends on a loop or a condition"},
    {"either of two arrays",
     FILL("a") FILL("b") MEET
     "e = async_work_group_copy(out + g * 32, n > 3 ? a : b, 32, 0);\n" WAIT,
     "-", "its local end is not in one array of local memory"},
    {"an event that is compared",
     IN("a") WAIT "out[g * 8 + l] = a[l] + (e != 0);\n", "-",
     "its event is used for more than waiting"},
    {"events of which one is picked",
     IN("a") "f = async_work_group_copy(b, in, 32, 0);\n"
             "if (n > 3) f = e;\n"
             "wait_group_events(1, &e);\nwait_group_events(1, &f);\n"
             "out[g * 8 + l] = a[l] + b[l];\n",
     "--", "its event is used for more than waiting"},
    {"an array in use",
     FILL("a") MEET "int x = a[31 - l];\n" MEET IN("a") WAIT
     "out[g * 8 + l] = a[l] + x;\n",
     "-", "uses the array before it: 'a'"},
    {"an array copied out before it",
     FILL("a") MEET OUT("a") WAIT IN("a") WAIT
     "b[l] = a[l];\n" MEET
     "f = async_work_group_copy(out + 320 + g * 8, b, 8, 0);\n"
     "wait_group_events(1, &f);\n",
     "--w", "uses global memory behind it"},
    {"what was copied out comes in again",
     FILL("a") MEET OUT("a") WAIT
     "e = async_work_group_copy(b, out + g * 32, 32, 0);\n" WAIT
     "f = async_work_group_copy(out + 320 + g * 32, b, 32, 0);\n"
     "wait_group_events(1, &f);\n",
     "--w", "uses global memory behind it"},
    {"global memory written before it",
     "out[g * 8 + l] = l;\n" IN("a") WAIT "out[320 + g * 8 + l] = a[l];\n", "-",
     "writes to global memory before it"},
    {"waited for behind its use",
     IN("a") "b[l] = a[l];\n" WAIT "out[g * 8 + l] = b[l];\n", "-",
     "uses the array before a wait for the copy: 'a'"},
    {"waited for on one way alone",
     IN("a") "if (n > 3) wait_group_events(1, &e);\n"
             "out[g * 8 + l] = a[l];\n" WAIT,
     "-", "uses the array before a wait for the copy: 'a'"},
    {"global memory written behind it",
     FILL("a") MEET OUT("a") WAIT MEET "out[g * 32 + l] = 7;\n", "-",
     "uses global memory behind it"},
    {"global memory read behind it",
     FILL("a") MEET OUT("a") WAIT MEET
     "b[l] = out[g * 32 + l];\n" MEET
     "f = async_work_group_copy(out + 320 + g * 8, b, 8, 0);\n"
     "wait_group_events(1, &f);\n",
     "-w", "uses global memory behind it"},
    {"an array written behind it",
     FILL("a") MEET OUT("a") WAIT MEET "a[l] = 7;\n" MEET
                                       "if (n > 100) out[l] = a[7 - l];\n",
     "-", "writes to the array behind it: 'a'"},
    {"an atomic behind it",
     FILL("a") MEET OUT("a") WAIT
     "atomic_inc((volatile __global int *)out + 400);\n",
     "-", "uses global memory behind it"},
};
enum { N_MOVES = sizeof moves / sizeof *moves };

static char phase_letter(const sim_copy *c)
{
    return c->phase == SIM_PRELOAD     ? 'p'
           : c->phase == SIM_POSTWRITE ? 'w'
                                       : '-';
}

START_TEST(copy_moves)
{
    const char *want = moves[_i].phases, *why = NULL;
    char got[8] = "";
    int32_t *out;
    rig r;

    rig_open(&r);
    r.both_engines = true;
    rig_compile(
        &r,
        arena_printf(r.arena, "__kernel void k%s%s}\n", ARGS, moves[_i].body),
        "k");
    for (uint32_t i = 0; i < r.kernel->n_copies && i < 7; i++) {
        const sim_copy *c = &r.kernel->copies[i];

        got[i] = phase_letter(c);
        ck_assert_int_eq(got[i] == '-', c->why != NULL);
        why = why ? why : c->why;
    }
    ck_assert_msg(!strcmp(got, want), "%s: phases are %s, expected %s (%s)",
                  moves[_i].name, got, want, why ? why : "none stays");
    ck_assert_int_eq(why != NULL, moves[_i].why != NULL);
    if (why)
        ck_assert_msg(strstr(why, moves[_i].why), "%s: %s", moves[_i].name,
                      why);
    ck_assert_int_eq(r.kernel->hoisted, strpbrk(want, "pw") != NULL);
    ck_assert_int_eq(r.kernel->variants[SIM_PRELOAD].present,
                     strchr(want, 'p') != NULL);
    ck_assert_int_eq(r.kernel->variants[SIM_POSTWRITE].present,
                     strchr(want, 'w') != NULL);
    bind(&r, &out);
    rig_run_1d(&r, GROUPS, ITEMS);
    rig_close(&r);
}
END_TEST

/* A kernel with a function for a phase keeps its copies. */
START_TEST(phases_of_the_source)
{
    rig r;

    rig_open(&r);
    rig_compile(&r,
                arena_printf(r.arena,
                             "__kernel void __dma_preload_k%s%s}\n"
                             "__kernel void k%s%s}\n",
                             ARGS,
                             "WorkGroupDmaCreateTransaction(in, a, 4, 0);",
                             ARGS, IN("a") WAIT "out[g * 8 + l] = a[l];\n"),
                "k");
    ck_assert_uint_eq(r.kernel->n_copies, 1);
    ck_assert_str_eq(r.kernel->copies[0].why,
                     "the kernel has a preload or postwrite function in its "
                     "source");
    ck_assert(!r.kernel->hoisted);
    rig_close(&r);
}
END_TEST

/* --- arrays that are there twice -------------------------------------------- */

/* Elements of a, which is copied in, and of b, which is not. 102,400 bytes hold
 * 2 a and b, or, in the last row, only one a and b. */
static const struct {
    uint32_t a, b, bytes;
    bool one;
} sizes[] = {
    {1000, 500, 4 * 2500, false},
    {8000, 9600, 4 * 25600, false},
    {8004, 9600, 4 * 17604 + 16, true},
};

static uint64_t up16(uint64_t n)
{
    return (n + 15) / 16 * 16;
}

START_TEST(arrays_are_twice)
{
    uint32_t a = sizes[_i].a, b = sizes[_i].b;
    uint64_t once = up16(4 * (uint64_t)a) + up16(4 * (uint64_t)b);
    bool as_arguments;

    for (int way = 0; way < 2; way++) {
        const char *arrays = way ? "" : "__local int a[%u], b[%u];\n";
        int32_t *out;
        rig r;

        as_arguments = way;
        rig_open(&r);
        rig_compile(
            &r,
            arena_printf(
                r.arena,
                "__kernel void k(__global int *out, __global const int *in,\n"
                "__global const int *index, int n%s) {\n%s"
                " int l = get_local_id(0);\n"
                " event_t e = async_work_group_copy(a, in, 32, 0);\n"
                " wait_group_events(1, &e);\n"
                " b[l] = a[l + 3] * 2;\n"
                " barrier(CLK_LOCAL_MEM_FENCE);\n"
                " out[get_global_id(0)] = b[7 - l];\n}\n",
                as_arguments ? ", __local int *a, __local int *b" : "",
                arena_printf(r.arena, arrays, a, b)),
            "k");
        bind(&r, &out);
        if (as_arguments) {
            r.n_values -= 2;
            rig_local(&r, 4 * a);
            rig_local(&r, 4 * b);
        }
        rig_run_1d(&r, GROUPS, ITEMS);
        ck_assert_int_eq(r.result.one_buffer, sizes[_i].one);
        ck_assert_uint_eq(r.result.local_bytes,
                          sizes[_i].one ? once : once + up16(4 * (uint64_t)a));
        for (uint32_t i = 0; i < GROUPS * ITEMS; i++)
            ck_assert_int_eq(out[i], in_element(10 - i % ITEMS) * 2);
        rig_close(&r);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("copies as phases");
    TCase *t = tcase_create("hoist");
    SRunner *r;
    int failed;

    tcase_set_timeout(t, getenv("VPU_SEEDS") ? 3600 : 120);
    tcase_add_loop_test(t, results_stay, 0, N_ROWS);
    tcase_add_loop_test(t, copy_moves, 0, N_MOVES);
    tcase_add_test(t, phases_of_the_source);
    tcase_add_loop_test(t, arrays_are_twice, 0, sizeof sizes / sizeof *sizes);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
