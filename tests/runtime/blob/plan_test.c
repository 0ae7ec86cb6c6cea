/* Where a blob's tensors lie, for random networks: scratch memory against a map
 * of its blocks, inputs and outputs against their sorted names, constants and
 * shapes by reading them back. */
#include "runtime/blob/plan.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 300,
    MAX_TENSORS = 24,
    MAX_STAGES = 30,
    MAX_OF_STAGE = 5,
    BLOCK = 64,
    MAX_BLOCKS = 4096
};

typedef struct {
    plan p;
    plan_tensor tensors[MAX_TENSORS];
    plan_stage stages[MAX_STAGES];
    uint32_t lists[MAX_STAGES][MAX_OF_STAGE];
    uint32_t bytes[MAX_TENSORS];
} network;

static arena *a;
static vpu_error err;
static uint64_t state;

static void setup(void)
{
    a = arena_create(0);
    memset(&err, 0, sizeof err);
    state = 1;
}

static void teardown(void)
{
    arena_destroy(a);
}

static uint32_t below(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(state >> 33) % n;
}

/* --- networks ------------------------------------------------------------ */

static const uint32_t orders[] = {0, 0x1, 0x21, 0x321, 0x4321};

static void make_tensor(network *n, uint32_t i)
{
    static const uint32_t widths[] = {2, 1, 4, 4, 1};
    static const blob_location places[] = {BLOB_BSS,   BLOB_BSS,   BLOB_BSS,
                                           BLOB_CONST, BLOB_INPUT, BLOB_OUTPUT};
    plan_tensor *t = &n->tensors[i];
    uint8_t *bytes;

    *t = (plan_tensor){.location = places[below(6)],
                       .type = below(BLOB_N_TYPES),
                       .rank = 1 + below(4)};
    t->order = orders[t->rank];
    n->bytes[i] = widths[t->type];
    for (uint32_t d = 0; d < t->rank; d++) {
        t->dims[d] = 1 + below(d ? 4 : 40);
        n->bytes[i] *= t->dims[d];
    }
    if (t->location == BLOB_INPUT || t->location == BLOB_OUTPUT)
        t->name = arena_printf(a, "%c%.*s%u", 'a' + (char)below(3),
                               (int)below(20), "_some_more_letters__", i);
    if (t->location != BLOB_CONST)
        return;
    /* Few values, so that some constants are equal, and some in part. */
    t->bytes = bytes = arena_push(a, n->bytes[i], 1, 1);
    memset(bytes, (int)below(2), n->bytes[i]);
    bytes[n->bytes[i] - 1] = (uint8_t)below(2);
}

static void make_stage(network *n, uint32_t s)
{
    uint32_t count = 1 + below(MAX_OF_STAGE);

    for (uint32_t k = 0; k < count; k++)
        n->lists[s][k] = below(n->p.n_tensors);
    n->stages[s] =
        (plan_stage){.type = 38, .tensors = n->lists[s], .n_tensors = count};
}

static void make(network *n, config_release release)
{
    n->p = (plan){blob_release_of(release),
                  3,
                  2,
                  n->tensors,
                  1 + below(MAX_TENSORS),
                  n->stages,
                  1 + below(MAX_STAGES)};
    for (uint32_t i = 0; i < n->p.n_tensors; i++)
        make_tensor(n, i);
    for (uint32_t s = 0; s < n->p.n_stages; s++)
        make_stage(n, s);
}

/* --- scratch ------------------------------------------------------------- */

typedef struct {
    bool used[MAX_BLOCKS];
    uint32_t most;
} blocks;

static uint32_t end_of(const blocks *m)
{
    uint32_t end = MAX_BLOCKS;

    while (end && !m->used[end - 1])
        end--;
    return end;
}

/* The smallest gap that is large enough, of equals the first; else the end. */
static uint32_t find_gap(const blocks *m, uint32_t n)
{
    uint32_t end = end_of(m), best = end, best_length = UINT32_MAX;

    for (uint32_t at = 0, next; at < end; at = next + 1) {
        for (next = at; !m->used[next];)
            next++;
        if (next - at >= n && next - at < best_length) {
            best = at;
            best_length = next - at;
        }
    }
    return best;
}

static void mark(blocks *m, uint32_t at, uint32_t n, bool used)
{
    for (uint32_t k = at; k < at + n; k++) {
        ck_assert(m->used[k] != used);
        m->used[k] = used;
    }
    if (m->most < end_of(m))
        m->most = end_of(m);
}

static bool is_named(const network *n, uint32_t s, uint32_t i)
{
    for (uint32_t k = 0; k < n->stages[s].n_tensors; k++)
        if (n->lists[s][k] == i)
            return true;
    return false;
}

static bool is_named_in(const network *n, uint32_t from, uint32_t to,
                        uint32_t i)
{
    for (uint32_t s = from; s < to; s++)
        if (is_named(n, s, i))
            return true;
    return false;
}

/* Tensors get their places in the order a stage names them and lose them behind
 * the last stage that does. */
static void expected_scratch(const network *n, uint32_t *at, uint32_t *most)
{
    static blocks m;

    memset(&m, 0, sizeof m);
    for (uint32_t s = 0; s < n->p.n_stages; s++) {
        for (uint32_t k = 0; k < n->stages[s].n_tensors; k++) {
            uint32_t i = n->lists[s][k], length = (n->bytes[i] + 63) / BLOCK;

            if (n->tensors[i].location != BLOB_BSS || at[i] != UINT32_MAX)
                continue;
            at[i] = find_gap(&m, length);
            mark(&m, at[i], length, true);
        }
        for (uint32_t i = 0; i < n->p.n_tensors; i++)
            if (n->tensors[i].location == BLOB_BSS && is_named(n, s, i) &&
                !is_named_in(n, s + 1, n->p.n_stages, i))
                mark(&m, at[i], (n->bytes[i] + 63) / BLOCK, false);
    }
    *most = m.most;
}

START_TEST(scratch_is_best_fit)
{
    static network n;

    for (int round = 0; round < ROUNDS; round++) {
        uint32_t at[MAX_TENSORS], most;
        blob b;

        memset(at, 0xff, sizeof at);
        make(&n, CONFIG_2021_4);
        expected_scratch(&n, at, &most);
        ck_assert_msg(!plan_blob(&n.p, a, &b, &err), "%s", err.msg);
        ck_assert_uint_eq(b.bss_size, most * BLOCK);
        ck_assert_uint_eq(b.n_stages, n.p.n_stages);
        for (uint32_t s = 0; s < b.n_stages; s++)
            for (uint32_t k = 0; k < b.stages[s].n_buffers; k++) {
                uint32_t i = n.lists[s][k];

                if (n.tensors[i].location == BLOB_BSS)
                    ck_assert_uint_eq(b.stages[s].buffers[k].offset,
                                      at[i] * BLOCK);
            }
    }
}
END_TEST

/* --- parts of tensors ----------------------------------------------------- */

/* Half of what stages name becomes a part of it, somewhere in it: everything
 * keeps its place, and the parts lie where they say. */
START_TEST(parts_lie_in_the_whole)
{
    enum { MANY = MAX_TENSORS + MAX_STAGES * MAX_OF_STAGE };
    static network n, m;
    static plan_tensor tensors[MANY];

    for (int round = 0; round < ROUNDS; round++) {
        blob whole, parts;

        make(&n, CONFIG_2021_4);
        m = n;
        memcpy(tensors, n.tensors, sizeof n.tensors);
        m.p.tensors = tensors;
        m.p.stages = m.stages;
        for (uint32_t s = 0; s < n.p.n_stages; s++) {
            m.stages[s].tensors = m.lists[s];
            for (uint32_t k = 0; k < n.stages[s].n_tensors; k++) {
                uint32_t i = n.lists[s][k];
                plan_tensor *t = &tensors[m.p.n_tensors];

                if (below(2))
                    continue;
                *t = n.tensors[i];
                t->name = "";
                t->bytes = NULL;
                t->dims[t->rank - 1] = 1;
                t->part = true;
                t->whole = i;
                t->offset = below(n.bytes[i]);
                m.lists[s][k] = m.p.n_tensors++;
            }
        }
        ck_assert_msg(!plan_blob(&n.p, a, &whole, &err), "%s", err.msg);
        ck_assert_msg(!plan_blob(&m.p, a, &parts, &err), "%s", err.msg);
        ck_assert_uint_eq(whole.bss_size, parts.bss_size);
        ck_assert_uint_eq(whole.n_inputs, parts.n_inputs);
        ck_assert_uint_eq(whole.n_outputs, parts.n_outputs);
        for (uint32_t i = 0; i < whole.n_inputs; i++)
            ck_assert_uint_eq(whole.inputs[i].offset, parts.inputs[i].offset);
        for (uint32_t s = 0; s < n.p.n_stages; s++)
            for (uint32_t k = 0; k < n.stages[s].n_tensors; k++) {
                const blob_buffer *x = &whole.stages[s].buffers[k];
                const blob_buffer *y = &parts.stages[s].buffers[k];
                const plan_tensor *t = &tensors[m.lists[s][k]];

                ck_assert_int_eq(x->location, y->location);
                ck_assert_uint_eq(y->offset,
                                  x->offset + (t->part ? t->offset : 0));
                ck_assert_uint_eq(y->desc.dims[t->rank - 1],
                                  t->dims[t->rank - 1]);
                ck_assert_mem_eq(&x->data, &y->data, sizeof x->data);
            }
    }
}
END_TEST

/* --- inputs, outputs ----------------------------------------------------- */

static int by_name(const void *x, const void *y)
{
    return strcmp((*(const plan_tensor *const *)x)->name,
                  (*(const plan_tensor *const *)y)->name);
}

static void check_io(const network *n, blob_location where, const blob_io *list,
                     uint32_t count, uint32_t size)
{
    const plan_tensor *sorted[MAX_TENSORS];
    uint32_t m = 0, end = 0;

    for (uint32_t i = 0; i < n->p.n_tensors; i++)
        if (n->tensors[i].location == where)
            sorted[m++] = &n->tensors[i];
    qsort(sorted, m, sizeof *sorted, by_name);
    ck_assert_uint_eq(count, m);
    for (uint32_t k = 0; k < m; k++) {
        size_t length = strlen(sorted[k]->name);

        end = (end + 63) / 64 * 64;
        ck_assert_str_eq(list[k].name, sorted[k]->name);
        ck_assert_uint_eq(list[k].offset, end);
        ck_assert_uint_eq(list[k].name_bytes % 16, 0);
        ck_assert_uint_ge(list[k].name_bytes,
                          length + n->p.release->name_terminated);
        ck_assert_uint_lt(list[k].name_bytes,
                          length + n->p.release->name_terminated + 16);
        end += n->bytes[sorted[k] - n->tensors];
    }
    ck_assert_uint_eq(size, end); /* not rounded up */
}

static const config_release releases[] = {CONFIG_2020_4, CONFIG_2021_3,
                                          CONFIG_2021_4, CONFIG_2022_1};

START_TEST(inputs_and_outputs_by_name)
{
    static network n;

    for (int round = 0; round < ROUNDS; round++) {
        blob b;

        make(&n, releases[_i]);
        ck_assert_msg(!plan_blob(&n.p, a, &b, &err), "%s", err.msg);
        check_io(&n, BLOB_INPUT, b.inputs, b.n_inputs, b.inputs_size);
        check_io(&n, BLOB_OUTPUT, b.outputs, b.n_outputs, b.outputs_size);
        ck_assert_uint_eq(b.n_slices, 3);
        ck_assert_uint_eq(b.n_shaves, 2);
    }
}
END_TEST

/* --- constants ----------------------------------------------------------- */

static bool are_equal(const network *n, uint32_t i, uint32_t k)
{
    return n->bytes[i] == n->bytes[k] &&
           !memcmp(n->tensors[i].bytes, n->tensors[k].bytes, n->bytes[i]);
}

START_TEST(constants_read_back)
{
    static network n;

    for (int round = 0; round < ROUNDS; round++) {
        uint32_t at[MAX_TENSORS];
        blob b;

        memset(at, 0xff, sizeof at);
        make(&n, releases[_i]);
        ck_assert_msg(!plan_blob(&n.p, a, &b, &err), "%s", err.msg);
        ck_assert_uint_eq(b.n_constants % 64, 0);
        for (uint32_t s = 0; s < b.n_stages; s++)
            for (uint32_t k = 0; k < b.stages[s].n_buffers; k++) {
                const blob_buffer *f = &b.stages[s].buffers[k];
                uint32_t i = n.lists[s][k];

                ck_assert_uint_eq(f->location, n.tensors[i].location);
                if (f->location != BLOB_CONST)
                    continue;
                at[i] = f->offset;
                ck_assert_uint_eq(f->offset % 64, 0);
                ck_assert_uint_le(f->offset + n.bytes[i], b.n_constants);
                ck_assert_mem_eq(b.constants + f->offset, n.tensors[i].bytes,
                                 n.bytes[i]);
            }
        /* Equal ones once, others apart. */
        for (uint32_t i = 0; i < n.p.n_tensors; i++)
            for (uint32_t k = 0; k < i; k++) {
                if (at[i] == UINT32_MAX || at[k] == UINT32_MAX)
                    continue;
                ck_assert_int_eq(at[i] == at[k], are_equal(&n, i, k));
                ck_assert(at[i] == at[k] || at[i] >= at[k] + n.bytes[k] ||
                          at[k] >= at[i] + n.bytes[i]);
            }
    }
}
END_TEST

int main(void)
{
    enum { N = sizeof releases / sizeof *releases };
    Suite *s = suite_create("plan");
    TCase *c = tcase_create("plan");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, scratch_is_best_fit);
    tcase_add_test(c, parts_lie_in_the_whole);
    tcase_add_loop_test(c, inputs_and_outputs_by_name, 0, N);
    tcase_add_loop_test(c, constants_read_back, 0, N);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
