/* Random kernels under the checkers, once with runs of stores (runs.c) and once
 * without: the same findings, of the same bytes, as often. A byte that two
 * buffers have is what keeps a session from runs. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check/session_priv.h"
#include "tests/support/rig.h"

enum {
    SEEDS = 24,
    STEPS = 5,
    ELEMENTS = 300,
    ROW_SEEDS = 24,
    ROW_ELEMENTS = 1100,
    MAX_BYTES = ROW_ELEMENTS * 4 + 4
};

/* Of a launch's buffers and groups. */
typedef struct {
    uint32_t bytes, elements, local[2];
    bool full; /* buffer b is, from the start */
} size;

typedef struct {
    uint64_t state;
    str text;
} program;

static uint32_t below(program *p, uint32_t n)
{
    p->state = p->state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(p->state >> 33) % n;
}

/* Of 32 items in groups of 8, and a j from 0 to 3. */
static const char *index_of(program *p)
{
    static const char *const texts[] = {
        "i",          "i",         "i",          "i * 4 + j", "j * 32 + i",
        "i * 4 + j",  "31 - i",    "i + 3",      "i ^ 1",     "i / 2",
        "i * 7 % 64", "j",         "i + j",      "i * 9 + j", "i % 8 * 40 + j",
        "l * 4 + j",  "l + g * 8", "g * 16 + l", "i * 10 + j"};

    return texts[below(p, sizeof texts / sizeof *texts)];
}

static const char *buffer_of(program *p)
{
    return below(p, 3) ? "a" : "b";
}

static void add_step(program *p)
{
    static const char *const conditions[] = {
        "", "", "", "if (i % 3) ", "if (g == 1) ", "if (l < 4) "};
    const char *when = conditions[below(p, 6)], *to = buffer_of(p);
    const char *at = index_of(p);
    bool loop = below(p, 2);

    if (below(p, 5) == 0)
        str_printf(&p->text, "    barrier(CLK_%s_MEM_FENCE);\n",
                   below(p, 2) ? "GLOBAL" : "LOCAL");
    str_printf(&p->text, "    for (int j = 0; j < %d; j++)\n        %s",
               loop ? 4 : 1, when);
    switch (below(p, 8)) {
    case 0:
        str_printf(&p->text, "%s[%s] = %s[%s];\n", to, at, buffer_of(p),
                   index_of(p));
        break;
    case 1:
        str_printf(&p->text, "vstore4((V)(i), %s, %s);\n", at, to);
        break;
    case 2:
        str_printf(&p->text, "%s[%s] += 1;\n", to, at);
        break;
    case 3:
        str_printf(&p->text,
                   "atomic_add((volatile __global int *)a + (%s) / 4, j);\n",
                   at);
        break;
    default:
        str_printf(&p->text, "%s[%s] = i + j;\n", to, at);
    }
}

static void write_program(program *p, uint64_t seed, uint32_t bytes)
{
    static const char *const types[] = {"", "uchar", "ushort", "", "uint"};

    p->state = seed;
    str_printf(&p->text,
               "typedef %s T;\ntypedef %s4 V;\n"
               "__kernel void k(__global T *a, __global T *b, __local T *t)\n"
               "{\n    int i = get_global_id(0), l = get_local_id(0),\n"
               "        g = get_group_id(0);\n    t[l] = i;\n",
               types[bytes], types[bytes]);
    for (int k = 0; k < STEPS; k++)
        add_step(p);
    if (below(p, 3) == 0)
        str_printf(&p->text,
                   "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                   "    event_t e = async_work_group_copy(a + g * %u, t, 8, 0);"
                   "\n    wait_group_events(1, &e);\n",
                   5 + below(p, 5));
    str_printf(&p->text, "}\n");
}

static void compile(rig *r, const char *text, bool taint)
{
    const sim_checking how = {.taint = taint};
    const kernel_compile_config cfg = {.checking = &how, .hooks = &check_hooks};
    const kernel_source source = {
        .path = arena_printf(r->arena, "%s/k.cl", r->dir), .entry = "k"};

    ck_assert_msg(
        !kernel_compile(&source, &cfg, r->arena, &r->checked[taint], &r->err),
        "%s\n%s", r->err.msg, text);
}

/* One launch after the other in a session. */
static check_session *session(rig *r, bool runs, const size *z, int taint_at)
{
    const check_config cfg = {.enabled = ~(check_set)0};
    exec_launch l = {.name = "test",
                     .values = r->values,
                     .groups = {4, 1, 1},
                     .local = {z->local[0], z->local[1], 1},
                     .how.n_shaves = 2,
                     .how.n_threads = 1};
    check_session *s;

    ck_assert(!check_open(r->mem, &cfg, &s, &r->err));
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t at = r->values[k].as.address;
        bool full = k && z->full;

        memset(memory_window(r->mem) + at, 0, r->buffer_bytes[k]);
        check_buffer(s, k ? "b" : "a", k, at, z->elements * z->bytes, full);
        if (!runs)
            check_buffer(s, "same", 2 + k, at, 1, full);
        ck_assert_int_eq(s->buffers[runs ? k : 2 * k].runs != NULL,
                         runs && !full);
    }
    for (uint32_t k = 0; k < 2; k++) {
        l.kernel = r->checked[(int)k == taint_at];
        ck_assert_msg(!check_launch(s, &r->desc, &l, k, &r->err), "%s",
                      r->err.msg);
    }
    for (uint32_t k = 0; k < 2; k++)
        check_written(s, k, z->bytes);
    return s;
}

static void same_party(const check_party *a, const check_party *b)
{
    ck_assert_int_eq(a->at != NULL, b->at != NULL);
    if (a->at) {
        ck_assert_uint_eq(a->at->line, b->at->line);
        ck_assert_uint_eq(a->at->col, b->at->col);
    }
    ck_assert_int_eq(a->has_group, b->has_group);
    ck_assert_int_eq(a->has_item, b->has_item);
    ck_assert_uint_eq(a->group, b->group);
    ck_assert_uint_eq(a->item, b->item);
}

static void same_finding(const check_finding *a, const check_finding *b)
{
    ck_assert_int_eq(a->kind, b->kind);
    ck_assert_uint_eq(a->launch, b->launch);
    ck_assert_str_eq(a->text, b->text);
    same_party(&a->by, &b->by);
    same_party(&a->other, &b->other);
    ck_assert_str_eq(a->memory.name, b->memory.name);
    ck_assert_int_eq(a->memory.offset, b->memory.offset);
    ck_assert_int_eq(a->memory.bytes, b->memory.bytes);
    ck_assert_uint_eq(a->memory.address, b->memory.address);
    ck_assert_uint_eq(a->count, b->count);
    ck_assert_uint_eq(a->elements, b->elements);
    ck_assert_int_eq(a->note, b->note);
}

static void same_findings(const check_session *a, const check_session *b,
                          const char *text)
{
    size_t n, m;
    const check_finding *f = check_findings(a, &n), *g = check_findings(b, &m);

    ck_assert_msg(n == m, "%zu findings, %zu without runs:\n%s", n, m, text);
    for (size_t k = 0; k < n; k++)
        same_finding(&f[k], &g[k]);
}

/* The same was found, and the same bytes are written. */
static void same(const check_session *a, const check_session *b, const size *z,
                 const char *text)
{
    same_findings(a, b, text);
    for (uint32_t k = 0; k < 2; k++) {
        uint8_t p[MAX_BYTES / 8 + 1] = {0}, q[MAX_BYTES / 8 + 1] = {0};

        check_written_bits(a, k, p);
        check_written_bits(b, k, q);
        for (uint32_t i = 0; i < z->elements * z->bytes; i++)
            ck_assert_msg(!((p[i / 8] ^ q[i / 8]) >> i % 8 & 1),
                          "byte %u of buffer %u\n%s", i, k, text);
    }
    for (uint32_t k = 0; k < 2; k++)
        ck_assert_int_eq(check_needs_taint(a, k), check_needs_taint(b, k));
    ck_assert_int_eq(check_needs_again(a), check_needs_again(b));
}

START_TEST(random_kernels)
{
    const size z = {1u << _i % 3, ELEMENTS, {8, 1}, false};
    program p = {.text = {0}};
    check_session *a, *b;
    rig r;

    rig_open(&r);
    write_program(&p, (uint64_t)_i + 1, z.bytes);
    rig_compile(&r, str_text(&p.text), "k");
    compile(&r, str_text(&p.text), false);
    compile(&r, str_text(&p.text), true);
    rig_buffer(&r, MAX_BYTES);
    rig_buffer(&r, MAX_BYTES);
    rig_local(&r, 64);
    for (int taint_at = -1; taint_at < 2; taint_at++) {
        a = session(&r, true, &z, taint_at);
        b = session(&r, false, &z, taint_at);
        same(a, b, &z, str_text(&p.text));
        check_close(a);
        check_close(b);
    }
    str_free(&p.text);
    rig_close(&r);
}
END_TEST

/* --- rows (rows.c) -------------------------------------------------------- */

/* Of four groups, items i of all, l of one, and j from 0 to 3. */
static const char *row_index(program *p, bool regular)
{
    static const char *const texts[] = {
        "i",          "i",           "j * 256 + i", "i + 256 * (3 - j)",
        "i + 3",      "j * 260 + i", "i + 512",     "i + 850",
        "i + j * 64", "l",           "g * 300 + l", "n - i",
        "j * n + i",  "j",           "255 - i",     "i ^ 1",
        "i * 4 + j",  "i + s % 2"};

    return texts[below(p, regular ? 13 : sizeof texts / sizeof *texts)];
}

static void add_row_step(program *p, bool regular, bool barriers)
{
    static const char *const conditions[] = {
        "", "", "if (g == 1) ", "if (j & 1) ", "if (l < 4) ", "if (s & 1) "};
    static const char *const locals[] = {"l",          "63 - l", "l / 2",
                                         "x * 4 + j",  "j",      "l + j",
                                         "y * 16 + j", "l ^ 1",  "l + 40"};
    const char *when = conditions[below(p, regular ? 4 : 6)];
    const char *at = row_index(p, regular);

    if (below(p, 5) == 0 && barriers)
        str_printf(&p->text, "    barrier(CLK_%s_MEM_FENCE);\n",
                   below(p, 2) ? "GLOBAL" : "LOCAL");
    str_printf(&p->text, "    for (int j = 0; j < %s; j++)\n        %s",
               below(p, 2) ? "4" : "n & 3", when);
    switch (below(p, barriers ? 7 : 5)) {
    case 0:
        str_printf(&p->text, "a[%s] = b[%s];\n", at, row_index(p, regular));
        break;
    case 5:
    case 6:
        str_printf(&p->text, "a[%s] = t[%s];\n", at,
                   locals[below(p, sizeof locals / sizeof *locals)]);
        break;
    case 1:
        str_printf(&p->text, "s += b[%s];\n", at);
        break;
    case 2:
        str_printf(&p->text, "a[%s] = s / (j + g);\n", at);
        break;
    default:
        str_printf(&p->text, "a[%s] = i + j;\n", at);
    }
}

/* Without barriers nothing of an item is kept, and its loop may do several
 * items at once. */
static void write_rows(program *p, uint64_t seed, uint32_t bytes, bool plane,
                       bool barriers)
{
    static const char *const types[] = {"", "uchar", "ushort", "", "uint"};

    p->state = seed;
    str_printf(&p->text,
               "typedef %s T;\n"
               "__kernel void k(__global T *a, __global const T *b, int n)\n"
               "{\n    __local T t[80];\n"
               "    int x = get_local_id(0), y = get_local_id(1),\n"
               "        g = get_group_id(0), s = g;\n",
               types[bytes]);
    str_printf(&p->text, plane ? "    int l = y * 16 + x, i = g * 64 + l;\n"
                               : "    int l = x, i = get_global_id(0);\n");
    if (barriers)
        str_printf(&p->text,
                   "    if (n > %u)\n        t[l] = i;\n"
                   "    barrier(CLK_LOCAL_MEM_FENCE);\n",
                   below(p, 4) ? 0 : 1000);
    for (uint32_t k = 1 + below(p, 3); k > 0; k--)
        add_row_step(p, !barriers || below(p, 8) > 0, barriers);
    if (!barriers)
        str_puts(&p->text, "    a[i + 768] = s + y;\n");
    str_printf(&p->text, "}\n");
}

/* Of whole loops at once as of one access after the other: of bytes that two
 * buffers have there are no rows of stores. */
static void try_rows(int i, bool barriers)
{
    static const uint32_t locals[][2] = {{64, 1}, {16, 4}, {40, 1}, {32, 1},
                                         {16, 4}, {8, 1},  {33, 1}, {1, 4},
                                         {16, 4}, {64, 1}};
    const uint32_t *local = locals[i % 10];
    const size z = {
        1u << i % 3, ROW_ELEMENTS, {local[0], local[1]}, i % 7 != 0};
    program p = {.text = {0}};
    check_session *a, *b;
    uint8_t *out;
    rig r;

    rig_open(&r);
    write_rows(&p, (uint64_t)i + 1, z.bytes, local[1] > 1, barriers);
    rig_compile(&r, str_text(&p.text), "k");
    compile(&r, str_text(&p.text), false);
    compile(&r, str_text(&p.text), true);
    rig_buffer(&r, MAX_BYTES);
    rig_buffer(&r, MAX_BYTES);
    rig_int(&r, 255);
    out = malloc(MAX_BYTES);
    for (int taint_at = -1; taint_at < 2; taint_at++) {
        const uint8_t *now = memory_window(r.mem) + r.values[0].as.address;

        a = session(&r, true, &z, taint_at);
        memcpy(out, now, MAX_BYTES);
        b = session(&r, false, &z, taint_at);
        /* else t is what it was */
        if (!barriers || strstr(str_text(&p.text), "n > 0"))
            ck_assert_mem_eq(out, now, MAX_BYTES);
        same(a, b, &z, str_text(&p.text));
        check_close(a);
        check_close(b);
    }
    free(out);
    str_free(&p.text);
    rig_close(&r);
}

START_TEST(random_rows)
{
    try_rows(_i, true);
}
END_TEST

START_TEST(random_rows_without_barriers)
{
    try_rows(_i, false);
}
END_TEST

/* Of how many loops of a launch all accesses are noted at once. */
START_TEST(loops_with_rows)
{
    static const struct {
        const char *body;
        uint32_t local[2];
        uint64_t loops;
    } cases[] = {
        {"a[i] = b[i];", {64, 1}, 4},
        {"for (int j = 0; j < n; j++) a[j * 256 + i] = b[i] + j;", {64, 1}, 4},
        {"if (n > 3) a[i] = i / n;", {64, 1}, 4},
        {"a[i] = 1; barrier(CLK_LOCAL_MEM_FENCE); a[i + 512] = 2;", {64, 1}, 8},
        {"a[y * 80 + i] = b[x];", {16, 4}, 4},
        {"a[g * 64 + y] = b[y];", {1, 64}, 4},
        {"t[x] = i; barrier(CLK_LOCAL_MEM_FENCE); a[i] = t[63 - x] + t[n];",
         {64, 1},
         4},
        {"t[x] = i; barrier(CLK_LOCAL_MEM_FENCE); a[i] = t[x + 1];",
         {64, 1},
         0},                                         /* not written */
        {"t[x] = i; a[i] = t[x];", {64, 1}, 0},      /* who knows when */
        {"a[i] = b[i];", {16, 1}, 0},                /* few items */
        {"a[i] = b[i + 10000];", {64, 1}, 0},        /* outside */
        {"a[i - 1] = 0;", {64, 1}, 3},               /* some are */
        {"a[i * 2] = b[i];", {64, 1}, 0},            /* not side by side */
        {"a[b[i]] = 1;", {64, 1}, 0},                /* nobody knows where */
        {"if (i & 1) a[i] = 1;", {64, 1}, 0},        /* not all items */
        {"a[i] += 1;", {64, 1}, 0},                  /* words matter */
        {"a[i + 256] = 1; a[i] = 1;", {64, 1}, 0},   /* not in order */
        {"a[i] = 1; a[i + 8] = 1;", {64, 1}, 0},     /* in one another */
        {"a[y * 8 + g * 160 + x] = 1;", {16, 4}, 0}, /* the same */
        {"a[g * 64 + (x & 31)] = 1;", {64, 1}, 0},
        {"vstore4((uint4)(1), i, a);", {64, 1}, 4}};
    const size z = {
        4, ROW_ELEMENTS, {cases[_i].local[0], cases[_i].local[1]}, true};
    check_session *s;
    char *text;
    rig r;

    rig_open(&r);
    text = arena_printf(r.arena,
                        "__kernel void k(__global uint *a, __global const uint "
                        "*b, int n) { __local uint t[80]; int i = "
                        "get_global_id(0), g = get_group_id(0), x = "
                        "get_local_id(0), y = get_local_id(1); %s }",
                        cases[_i].body);
    rig_compile(&r, text, "k");
    compile(&r, text, false);
    compile(&r, text, true);
    rig_buffer(&r, MAX_BYTES);
    rig_buffer(&r, MAX_BYTES);
    rig_int(&r, 4);
    s = session(&r, true, &z, 1);
    ck_assert_msg(s->rows.loops == cases[_i].loops, "%s: %u", text,
                  (unsigned)s->rows.loops);
    check_close(s);
    rig_close(&r);
}
END_TEST

/* Barriers of a group until the intervals' numbers begin again, which gives up
 * the runs, also those that compiled code goes on with behind it. */
static const char many_barriers[] =
    "__kernel void k(__global uint *a) {\n"
    "    uint l = get_local_id(0), g = get_group_id(0) * 8192;\n"
    "    a[g + l] = l;\n"
    "    for (int n = 0; n < 20000; n++)\n"
    "        barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "    a[g + 2048 + l] = l;\n"
    "    a[g + (l ^ 1)] = l;\n"
    "    a[g + 4096 + l / 2] = l;\n"
    "}\n";

static check_session *one_launch(rig *r, bool runs)
{
    const check_config cfg = {.enabled = check_default()};
    const exec_launch l = {.name = "test",
                           .kernel = r->checked[0],
                           .values = r->values,
                           .groups = {2, 1, 1},
                           .local = {2048, 1, 1},
                           .how.n_shaves = 2,
                           .how.n_threads = 1};
    uint32_t at = r->values[0].as.address;
    check_session *s;

    ck_assert(!check_open(r->mem, &cfg, &s, &r->err));
    check_buffer(s, "a", 0, at, r->buffer_bytes[0], false);
    if (!runs)
        check_buffer(s, "same", 2, at, 1, false);
    ck_assert_msg(!check_launch(s, &r->desc, &l, 0, &r->err), "%s", r->err.msg);
    ck_assert_ptr_null(s->buffers[0].runs);
    return s;
}

START_TEST(intervals_begin_again)
{
    check_session *a, *b;
    size_t n;
    rig r;

    rig_open(&r);
    rig_compile(&r, many_barriers, "k");
    compile(&r, many_barriers, false);
    rig_buffer(&r, 2 * 8192 * 4);
    a = one_launch(&r, true);
    b = one_launch(&r, false);
    check_findings(a, &n);
    ck_assert_uint_gt(n, 0);
    same_findings(a, b, many_barriers);
    check_close(a);
    check_close(b);
    rig_close(&r);
}
END_TEST

/* --- stores, against a table of words ------------------------------------ */

enum { REGION = 64 * 200 + 24, OPERATIONS = 4000 };

typedef struct {
    check_session *s;
    check_region *r;
    uint32_t model[REGION];
    program random;
    uint32_t at, word; /* of the store before, behind its end */
    uint32_t step;     /* of the words, for a while */
} table;

static void store(table *t)
{
    uint32_t n = 1u << below(&t->random, 5), off = t->at, word = t->word;

    if (below(&t->random, 16) == 0)
        off = below(&t->random, REGION - 16);
    if (below(&t->random, 8))
        n = 4;
    if (off + n > REGION)
        off = 0;
    if (below(&t->random, 16) == 0)
        t->step = below(&t->random, 3) << (below(&t->random, 2) ? 7 : 20);
    word += t->step;
    for (uint32_t i = 0; i < n; i++)
        if (t->model[off + i])
            return; /* of bytes nobody used alone */
    if (!runs_store(t->s, t->r, t->r->address + off, n, word))
        for (uint32_t i = 0; i < n; i++)
            t->s->shadow[t->r->address + off + i] = word;
    for (uint32_t i = 0; i < n; i++)
        t->model[off + i] = word;
    t->at = off + n;
    t->word = word;
}

/* Several stores of a block at once. */
static void store_row(table *t)
{
    uint32_t n = 1u << below(&t->random, 5), off = t->at / n * n, k;
    uint32_t word = t->word + t->step;

    if (below(&t->random, 4) == 0)
        off = below(&t->random, REGION / n - 1) * n;
    k = 1 + below(&t->random, (SIM_RUN_BYTES - off % SIM_RUN_BYTES) / n);
    if (off + k * n > REGION)
        return;
    for (uint32_t i = 0; i < k * n; i++)
        if (t->model[off + i])
            return;
    if (!runs_take(t->r, off, n, k, word, t->step, false))
        return;
    ck_assert(runs_take(t->r, off, n, k, word, t->step, true));
    for (uint32_t i = 0; i < k * n; i++)
        t->model[off + i] = word + i / n * t->step;
    t->at = off + k * n;
    t->word = word + (k - 1) * t->step;
}

static void look(table *t)
{
    uint32_t n = 1 + below(&t->random, 90);
    uint32_t off = below(&t->random, REGION - n);
    bool all = true;

    for (uint32_t i = 0; i < n; i++)
        all &= t->model[off + i] != 0;
    if (below(&t->random, 2)) {
        if (runs_hold(t->s, t->r, off, n)) {
            ck_assert(all);
            return;
        }
    } else {
        runs_make(t->s, t->r->address + off, n);
    }
    for (uint32_t i = 0; i < n; i++)
        ck_assert_uint_eq(t->s->shadow[t->r->address + off + i],
                          t->model[off + i]);
}

static void look_at_block(table *t)
{
    uint32_t off = below(&t->random, REGION) / SIM_RUN_BYTES * SIM_RUN_BYTES;

    if (runs_unused(t->s, t->r, off))
        for (uint32_t i = off; i < off + SIM_RUN_BYTES && i < REGION; i++)
            ck_assert_uint_eq(t->model[i], 0);
    else
        for (uint32_t i = off; i < off + SIM_RUN_BYTES && i < REGION; i++)
            ck_assert_uint_eq(t->s->shadow[t->r->address + i], t->model[i]);
}

START_TEST(words)
{
    static table t;
    const check_config cfg = {.enabled = check_default()};
    rig r;

    rig_open(&r);
    rig_compile(&r, "__kernel void k(__global int *a) { *a = 0; }", "k");
    rig_buffer(&r, REGION);
    ck_assert(!check_open(r.mem, &cfg, &t.s, &r.err));
    check_buffer(t.s, "a", 0, r.values[0].as.address, REGION, false);
    t.r = &t.s->buffers[0];
    t.random.state = (uint64_t)_i;
    t.word = SHADOW_WROTE | SHADOW_INIT | SHADOW_WRITTEN | 1u << 20;
    for (int k = 0; k < OPERATIONS; k++) {
        uint32_t what = below(&t.random, 64);

        if (what == 0)
            look(&t);
        else if (what == 1)
            look_at_block(&t);
        else if (what < 8)
            store_row(&t);
        else
            store(&t);
    }
    runs_make_all(t.s, t.r);
    ck_assert_mem_eq(t.s->shadow + t.r->address, t.model, sizeof t.model);
    check_close(t.s);
    rig_close(&r);
}
END_TEST

/* A buffer written from end to end is one whose words are never made; bytes
 * behind the last whole block count. */
START_TEST(filled)
{
    const check_config cfg = {.enabled = check_default()};
    check_session *s;
    rig r;

    rig_open(&r);
    rig_compile(&r, "__kernel void k(__global int *a) { *a = 0; }", "k");
    rig_buffer(&r, REGION);
    ck_assert(!check_open(r.mem, &cfg, &s, &r.err));
    check_buffer(s, "a", 0, r.values[0].as.address, REGION, false);
    for (uint32_t off = 0; off < REGION; off += 4) {
        ck_assert(!runs_fill(&s->buffers[0]));
        ck_assert(
            runs_store(s, &s->buffers[0], s->buffers[0].address + off, 4,
                       SHADOW_INIT | (1 + off / 4 % 64) << SHADOW_ITEM_SHIFT));
        ck_assert_uint_eq(s->shadow[s->buffers[0].address + off], 0);
    }
    ck_assert(runs_fill(&s->buffers[0]));
    runs_make(s, s->buffers[0].address + 4, 1);
    ck_assert(!runs_fill(&s->buffers[0]));
    check_close(s);
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sim/check/runs");
    TCase *t = tcase_create("runs");
    SRunner *r;
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, random_kernels, 0, SEEDS);
    tcase_add_loop_test(t, random_rows, 0, ROW_SEEDS);
    tcase_add_loop_test(t, random_rows_without_barriers, 0, 3 * ROW_SEEDS);
    tcase_add_loop_test(t, loops_with_rows, 0, 21);
    tcase_add_test(t, intervals_begin_again);
    tcase_add_loop_test(t, words, 0, 10);
    tcase_add_test(t, filled);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
