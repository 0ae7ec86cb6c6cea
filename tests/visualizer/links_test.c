/* What waits for what: arrows of a written trace against the list that it was
 * written from, and of a real run against a search through all its slices. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/trace/writer.h"
#include "tests/support/terminal.h"
#include "visualizer/control.h"
#include "visualizer/links.h"
#include "visualizer/load.h"

static terminal p;
static tl_timeline tl;
static view v;

static void open_trace(const char *name)
{
    vpu_error err;

    ck_assert_msg(
        !load_file(arena_printf(p.arena, "%s/%s", p.dir, name), &tl, &err),
        "%s", err.msg);
    ck_assert(!view_init(&v, &tl, &err));
}

/* --- a trace that is written here ----------------------------------------- */

static trc_writer *writer;

static void put(trc_track track, const char *name, uint64_t number,
                uint64_t from, uint64_t to, int shave)
{
    trc_arg args[] = {TRC_UINT("group", number), TRC_TEXT("launch", "k"),
                      TRC_UINT("bytes", 700), TRC_UINT("shave", shave)};

    trc_slice(writer, track, from, to,
              &(trc_event){.name = name,
                           .numbered = true,
                           .number = number,
                           .args = args,
                           .n_args = shave < 0 ? 2 : 4});
}

static void put_cause(trc_track track, const char *name, uint64_t from,
                      uint64_t to)
{
    trc_slice(writer, track, from, to, &(trc_event){.name = name});
}

/* Group 3 on SHAVE 0: two transfers in, one inside its work, one out, beside
 * one of SHAVE 1; then a second launch with a group of that number. */
static void write_trace(void)
{
    trc_track device, stages, shave, other, dma[2];
    vpu_error err;

    ck_assert(!trc_writer_create(NULL, &writer, &err));
    ck_assert(!trc_writer_add(writer, TRC_PERFETTO,
                              arena_printf(p.arena, "%s/t.pftrace", p.dir),
                              &err));
    device = trc_track_group(writer, 0, "device");
    stages = trc_track_slices(writer, device, "stages", TRC_CYCLES);
    put_cause(stages, "first", 0, 1000);
    put_cause(stages, "second", 1000, 2000);
    shave = trc_track_slices(writer, device, "SHAVE 0", TRC_CYCLES);
    trc_begin(writer, shave, 0,
              &(trc_event){.name = "pre", .numbered = true, .number = 3});
    put_cause(shave, "DMA setup", 0, 20);
    trc_end(writer, shave, 20, NULL, 0);
    put_cause(shave, "DMA wait", 20, 300);
    trc_begin(writer, shave, 300,
              &(trc_event){.name = "comp", .numbered = true, .number = 3});
    put_cause(shave, "issue", 300, 400);
    put_cause(shave, "DMA wait", 400, 450);
    put_cause(shave, "issue", 450, 600);
    trc_end(writer, shave, 600, NULL, 0);
    trc_begin(writer, shave, 600,
              &(trc_event){.name = "post", .numbered = true, .number = 3});
    put_cause(shave, "DMA setup", 600, 610);
    trc_end(writer, shave, 610, NULL, 0);
    put_cause(shave, "idle", 610, 1000);
    trc_begin(writer, shave, 1000,
              &(trc_event){.name = "comp", .numbered = true, .number = 3});
    put_cause(shave, "issue", 1000, 2000);
    trc_end(writer, shave, 2000, NULL, 0);
    other = trc_track_slices(writer, device, "SHAVE 1", TRC_CYCLES);
    put_cause(other, "DMA wait", 0, 500); /* for none of its own */
    for (int i = 0; i < 2; i++)
        dma[i] =
            trc_track_slices(writer, device, i ? "DMA 1" : "DMA 0", TRC_CYCLES);
    put(dma[0], "in", 3, 30, 200, 0);
    put(dma[0], "in", 9, 200, 310, 1);
    put(dma[0], "in", 3, 410, 450, 0);
    put(dma[1], "in", 3, 40, 300, 0);
    put(dma[1], "out", 3, 700, 800, 0);
    put(dma[1], "in", 3, 1100, 1200, 0); /* of the second launch */
    ck_assert(!trc_writer_commit(writer, &err));
}

static view_slice slice(const char *row, uint32_t lane, uint64_t begin)
{
    for (uint32_t k = 0; k < tl.n_rows; k++) {
        view_slice s = {.row = k, .lane = lane};

        if (strcmp(tl.rows[k].name, row) || lane >= tl.rows[k].n_lanes)
            continue;
        ck_assert(tl_slice_at(&tl.rows[k].lanes[lane], begin, &s.slice));
        ck_assert_uint_eq(tl_begin(&tl.rows[k].lanes[lane], s.slice), begin);
        return s;
    }
    ck_abort_msg("no row %s", row);
}

static const char *name_of(const view_slice *s)
{
    char name[300];
    const tl_lane *l = &tl.rows[s->row].lanes[s->lane];

    tl_slice_name(&tl, l, s->slice, name, sizeof name);
    return arena_printf(p.arena, "%s@%llu", name,
                        (unsigned long long)tl_begin(l, s->slice));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "kind from>to leaves-arrives", sorted, a line each. */
static const char *links(const char *row, uint32_t lane, uint64_t begin)
{
    static const char *const kinds[] = {"phase", "starts", "brings", "ends"};
    view_slice s = slice(row, lane, begin);
    links_link found[LINKS_MAX];
    const char *lines[LINKS_MAX];
    size_t n = links_of(&v, &s, found);
    str out = {.arena = p.arena};

    for (size_t i = 0; i < n; i++)
        lines[i] =
            arena_printf(p.arena, "%s %s>%s %llu-%llu\n", kinds[found[i].kind],
                         name_of(&found[i].from), name_of(&found[i].to),
                         (unsigned long long)found[i].leaves,
                         (unsigned long long)found[i].arrives);
    qsort(lines, n, sizeof *lines, by_text);
    for (size_t i = 0; i < n; i++)
        str_puts(&out, lines[i]);
    return str_text(&out);
}

#define BRINGS                            \
    "brings in 3@30>comp 3@300 200-300\n" \
    "brings in 3@40>comp 3@300 300-300\n"
#define REST                                \
    "phase comp 3@300>post 3@600 600-600\n" \
    "phase pre 3@0>comp 3@300 20-300\n"     \
    "starts comp 3@300>in 3@410 410-410\n"  \
    "starts post 3@600>out 3@700 610-700\n" \
    "starts pre 3@0>in 3@30 20-30\n"        \
    "starts pre 3@0>in 3@40 20-40\n"
#define GROUP BRINGS REST

static void setup(void)
{
    terminal_open(&p);
}

static void teardown(void)
{
    view_free(&v);
    tl_free(&tl);
    terminal_close(&p);
}

START_TEST(a_group)
{
    write_trace();
    open_trace("t.pftrace");
    ck_assert_str_eq(links("SHAVE 0", 0, 0), GROUP);
    ck_assert_str_eq(links("SHAVE 0", 0, 300), GROUP);
    ck_assert_str_eq(links("SHAVE 0", 0, 600), GROUP);
    ck_assert_str_eq(links("DMA 1", 0, 700), GROUP);
    ck_assert_str_eq(links("DMA 0", 0, 30), GROUP);
    /* The same number in another launch is another group. */
    ck_assert_str_eq(links("SHAVE 0", 0, 1000),
                     "starts comp 3@1000>in 3@1100 1100-1100\n");
}
END_TEST

START_TEST(what_ends_a_wait)
{
    write_trace();
    open_trace("t.pftrace");
    /* The later of its two ended it, not the one of SHAVE 1 that went on. */
    ck_assert_str_eq(links("SHAVE 0", 1, 20),
                     "ends in 3@40>DMA wait@20 300-300\n");
    ck_assert_str_eq(links("SHAVE 0", 1, 400),
                     "ends in 3@410>DMA wait@400 450-450\n");
    ck_assert_str_eq(links("DMA 1", 0, 40),
                     BRINGS "ends in 3@40>DMA wait@20 300-300\n" REST);
    ck_assert_str_eq(links("SHAVE 1", 1, 0),
                     "ends in 9@200>DMA wait@0 310-500\n");
    ck_assert_str_eq(links("SHAVE 0", 1, 300), ""); /* issue */
    ck_assert_str_eq(links("stages", 0, 0), "");
}
END_TEST

START_TEST(keys)
{
    control k;

    write_trace();
    open_trace("t.pftrace");
    control_init(&k, &v, "t", NULL, NULL);
    v.has_selection = true;
    v.selection = slice("SHAVE 0", 0, 600);
    control_key(&k, 'i', 0);
    ck_assert_str_eq(name_of(&v.selection), "comp 3@300");
    control_key(&k, 'i', 0); /* of three it is what ended last */
    ck_assert_str_eq(name_of(&v.selection), "in 3@40");
    control_key(&k, 'i', 0);
    ck_assert_str_eq(name_of(&v.selection), "pre 3@0");
    control_key(&k, 'i', 0);
    ck_assert_str_eq(name_of(&v.selection), "pre 3@0");
    control_key(&k, 'I', 0); /* what begins first */
    ck_assert_str_eq(name_of(&v.selection), "in 3@30");
}
END_TEST

START_TEST(rates_and_groups)
{
    view_slice cause, phase, none;

    write_trace();
    open_trace("t.pftrace");
    cause = slice("DMA 0", 0, 30);
    ck_assert_double_eq_tol(links_rate(&v, &cause), 700 / tl_ns(&tl, 170),
                            1e-9);
    cause = slice("SHAVE 0", 1, 400);
    ck_assert(links_rate(&v, &cause) == 0);
    ck_assert(links_phase_at(&v, &cause, &phase));
    ck_assert_str_eq(name_of(&phase), "comp 3@300");
    none = slice("SHAVE 0", 1, 20); /* between phases */
    ck_assert(!links_phase_at(&v, &none, &phase));
}
END_TEST

/* --- a run ---------------------------------------------------------------- */

/* The last end in (from, to] of the SHAVE's transfers, looked for in all. */
static uint64_t last_end(uint32_t shave, uint64_t from, uint64_t to)
{
    uint64_t best = 0;

    for (uint32_t k = 0; k < tl.n_rows; k++)
        for (uint32_t lane = 0;
             tl.rows[k].kind == TL_ROW_DMA && lane < tl.rows[k].n_lanes;
             lane++) {
            const tl_lane *l = &tl.rows[k].lanes[lane];

            for (uint64_t i = 0; i < l->n_slices; i++) {
                tl_arg a;

                if (tl_slice_arg(&tl, l, i, "shave", &a) && a.number == shave &&
                    tl_end(l, i) > from && tl_end(l, i) <= to &&
                    tl_end(l, i) > best)
                    best = tl_end(l, i);
            }
        }
    return best;
}

static void check_wait(const view_slice *s, const tl_row *r)
{
    const tl_lane *l = &r->lanes[1];
    links_link found[LINKS_MAX];
    size_t n = links_of(&v, s, found);

    ck_assert_uint_eq(n, 1);
    ck_assert_uint_eq(found[0].leaves, last_end(r->index, tl_begin(l, s->slice),
                                                tl_end(l, s->slice)));
    /* The model lets a SHAVE go on at once. */
    ck_assert_uint_eq(found[0].leaves, found[0].arrives);
}

/* 40 rows of 32 pixels, a work-group each, with copies. */
static void run_grn(void)
{
    char root[1024];

    ck_assert(getcwd(root, sizeof root) != NULL);
    terminal_run(&p, arena_printf(p.arena,
                                  "run %s/kernels/grn/layer.xml --layer GRNDma "
                                  "--shape in0=1x4x40x32 --param bias=1.0 "
                                  "--trace t.pftrace",
                                  root));
    terminal_expect(&p, 0, "");
    open_trace("t.pftrace");
}

/* Every group of a kernel with copies has its transfer in, and out; every wait
 * for DMA has what ended it. */
START_TEST(a_run)
{
    uint64_t waits = 0, groups = 0;

    run_grn();
    for (uint32_t k = 0; k < tl.n_rows; k++) {
        const tl_row *r = &tl.rows[k];

        if (r->kind != TL_ROW_SHAVE)
            continue;
        for (uint64_t i = 0; i < r->lanes[1].n_slices; i++)
            if (tl_class_of(&tl, tl_name_of(&r->lanes[1], i)) == TL_DMA_WAIT) {
                check_wait(&(view_slice){k, 1, i}, r);
                waits++;
            }
        for (uint64_t i = 0; i < r->lanes[0].n_slices; i++) {
            view_slice s = {k, 0, i};
            links_link found[LINKS_MAX];
            size_t n = links_of(&v, &s, found), of[4] = {0};

            for (size_t j = 0; j < n; j++)
                of[found[j].kind]++;
            ck_assert_uint_eq(of[LINKS_PHASE], 2);
            ck_assert_uint_eq(of[LINKS_STARTS], 2);
            ck_assert_uint_eq(of[LINKS_BRINGS], 1);
            groups++;
        }
    }
    ck_assert_uint_eq(groups, 3 * 40);
    ck_assert_uint_gt(waits, 0);
}
END_TEST

/* A row of 32 items a group, 40 of them; a group that is not there has none. */
START_TEST(work_items)
{
    uint64_t first[3], last[3];
    const facts_stage *s;
    size_t n;

    run_grn();
    s = &v.facts.stages[0];
    for (uint64_t g = 0; g < 40; g++) {
        ck_assert(facts_items(s, g, first, last));
        ck_assert(first[0] == 0 && last[0] == 31);
        ck_assert(first[1] == g && last[1] == g);
        ck_assert(first[2] == 0 && last[2] == 0);
    }
    ck_assert(!facts_items(s, 40, first, last));
    terminal_run(
        &p,
        "view t.pftrace --rows DMA --select in --size 1600x900 --svg t.svg");
    terminal_expect(&p, 0, "");
    ck_assert_ptr_nonnull(strstr(terminal_bytes(&p, "t.svg", &n),
                                 ">0\xe2\x80\xa6"
                                 "31, 0, 0<"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("links");
    TCase *t = tcase_create("links");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, a_group);
    tcase_add_test(t, what_ends_a_wait);
    tcase_add_test(t, keys);
    tcase_add_test(t, rates_and_groups);
    tcase_add_test(t, a_run);
    tcase_add_test(t, work_items);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
