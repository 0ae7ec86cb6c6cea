/* Several devices in one process, each used from its own thread: layers bound,
 * compiled, run and checked at the same time come to the same bits, cycles and
 * findings as one after the other. CI runs this under ThreadSanitizer, too. */
#include <check.h>
#include <pthread.h>
#include <string.h>

#include "runtime/check/layer.h"
#include "tests/runtime/backend/bound.h"

enum { N = 8, TURNS = 2 };

static const bound_request layers[N] = {
    {.folder = "grn",
     .layer = "GRN",
     .shapes = {"in0=1x5x3x24"},
     .params = {"bias=0.5"}},
    {.folder = "grn",
     .layer = "GRNDma",
     .shapes = {"in0=1x16x3x24"},
     .params = {"bias=1"}},
    {.folder = "mvn",
     .layer = "MVN",
     .shapes = {"in0=2x5x7x13"},
     .params = {"eps=0.001"}},
    {.folder = "softmax",
     .layer = "SoftMax",
     .shapes = {"in0=2x7x5x13"},
     .params = {"axis=1"}},
    {.folder = "matmul",
     .layer = "MatMul",
     .shapes = {"in0=16x48", "in1=48x32", "out0=16x32"}},
    {.folder = "shuffle_channels",
     .layer = "ShuffleChannels",
     .shapes = {"in0=2x12x5x13"},
     .params = {"group=4"}},
    {.folder = "resample",
     .layer = "Resample",
     .shapes = {"in0=2x3x6x8", "out0=2x3x15x20"}},
    {.folder = "copy_item_dma",
     .layer = "CopyItemDma",
     .shapes = {"in0=2x5x7x257"}}};

/* What came of one layer. */
typedef struct {
    arena *a;
    const bound_request *q;
    bound b;
    uint64_t cycles;
    uint32_t findings;
    vpu_status st;
    vpu_error err;
} work;

static vpu_status fill(void *user, const backend *b, vpu_error *err)
{
    const work *w = user;

    (void)err;
    for (uint32_t i = 0; i < w->b.graph->n_buffers; i++)
        if (w->b.graph->buffers[i].role == GRAPH_INPUT)
            memcpy(backend_buffer(b, i), w->b.data[i],
                   w->b.graph->buffers[i].bytes);
    return VPU_OK;
}

static void simulate(work *w)
{
    const backend_config cfg = {.device = "",
                                .desc = &w->b.desc,
                                .how.n_threads = 2,
                                .compile.no_cache = true};
    backend sim = {0};

    w->st = backend_open(backend_offering(BACKEND_INSPECT), &cfg, w->b.graph,
                         &sim, &w->err);
    if (!w->st)
        fill(w, &sim, NULL);
    for (int turn = 0; turn < TURNS && !w->st; turn++)
        w->st = backend_run_all(&sim, w->b.graph, &w->err);
    for (uint32_t i = 0; i < w->b.graph->n_launches && !w->st; i++)
        w->cycles += backend_launch_of(&sim, i)->exec.profile.cycles;
    for (uint32_t i = 0; i < w->b.graph->n_buffers && !w->st; i++)
        memcpy(w->b.data[i], backend_buffer(&sim, i),
               w->b.graph->buffers[i].bytes);
    backend_close(&sim);
}

static void check(work *w)
{
    const layer_check_config cfg = {.run = {.device = "", .desc = &w->b.desc},
                                    .enabled = check_default(),
                                    .fill = fill,
                                    .fill_user = w};
    layer_check_report r;

    w->st = layer_check(&cfg, w->b.graph, w->a, &r, &w->err);
    w->findings = w->st ? 0 : r.n_findings;
}

static void *run(void *user)
{
    work *w = user;

    w->a = arena_create(0);
    bound_layer(w->a, w->q, &w->b);
    check(w);
    if (!w->st)
        simulate(w);
    return NULL;
}

static void same(const work *x, const work *y)
{
    const char *name = x->q->layer;

    ck_assert_msg(!x->st && !y->st, "%s: %s%s", name, x->err.msg, y->err.msg);
    ck_assert_uint_eq(x->findings, 0);
    ck_assert_uint_eq(y->findings, 0);
    ck_assert_msg(x->cycles && x->cycles == y->cycles,
                  "%s: %llu cycles alone, %llu beside others", name,
                  (unsigned long long)x->cycles, (unsigned long long)y->cycles);
    for (uint32_t i = 0; i < x->b.graph->n_buffers; i++)
        ck_assert_msg(
            !memcmp(x->b.data[i], y->b.data[i], x->b.graph->buffers[i].bytes),
            "%s: buffer %u differs", name, i);
}

START_TEST(each_from_its_own_thread)
{
    pthread_t threads[N];
    work alone[N], beside[N];

    memset(alone, 0, sizeof alone);
    memset(beside, 0, sizeof beside);
    for (int i = 0; i < N; i++) {
        alone[i].q = beside[i].q = &layers[i];
        run(&alone[i]);
    }
    for (int i = 0; i < N; i++)
        ck_assert(!pthread_create(&threads[i], NULL, run, &beside[i]));
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < N; i++) {
        same(&alone[i], &beside[i]);
        arena_destroy(alone[i].a);
        arena_destroy(beside[i].a);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("threads");
    TCase *c = tcase_create("threads");
    SRunner *runner = srunner_create(s);
    int failed;

    tcase_set_timeout(c, 300);
    tcase_add_test(c, each_from_its_own_thread);
    suite_add_tcase(s, c);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
