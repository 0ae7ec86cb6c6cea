/* vpu trace, and copies of traces: a converted trace is what the run itself
 * would have written; a slice of one holds exactly what the whole holds there;
 * foreign and damaged ones. */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/trace/copy.h"
#include "base/trace/writer.h"
#include "tests/support/add_layer.h"
#include "tests/support/terminal.h"
#include "visualizer/load.h"

enum { MHZ = 700, SHAVES = 3, GROUPS = 60 };

static terminal p;
static vpu_error err;
static uint64_t seed;

static uint64_t next_random(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

static void setup(void)
{
    terminal_open(&p);
}

static void teardown(void)
{
    terminal_close(&p);
}

static const char *file(const char *name)
{
    return arena_printf(p.arena, "%s/%s", p.dir, name);
}

/* --- a made-up run, written in all forms at once ------------------------- */

static void phase(trc_writer *w, trc_track shave, uint64_t *t, uint64_t group,
                  trc_flow flow)
{
    static const char *const causes[] = {"issue", "DDR stall", "DMA wait",
                                         "idle"};
    trc_arg args[] = {TRC_UINT("group", group), TRC_TEXT("launch", "k \"1\""),
                      TRC_REAL("x", (double)group / 3)};
    trc_arg sums[] = {TRC_UINT("issue", 5)};

    trc_begin(w, shave, *t,
              &(trc_event){.name = next_random(2) ? "comp" : "pre",
                           .numbered = true,
                           .number = group,
                           .args = args,
                           .n_args = 3,
                           .flow = flow,
                           .flow_id = group + 1});
    for (uint64_t k = next_random(5); k; k--) {
        uint64_t length = next_random(3) ? next_random(900) : 0;
        uint64_t c = next_random(4);

        trc_slice(w, shave, *t, *t + length,
                  &(trc_event){.name = causes[c], .idle = c == 3});
        *t += length;
    }
    trc_end(w, shave, *t, sums, next_random(2));
    *t += next_random(200);
}

static void write_run(trc_writer *w)
{
    trc_track device = trc_track_group(w, 0, "device"), shave[SHAVES];
    trc_track host = trc_track_group(w, 0, "host"), compile, ddr, active;
    uint64_t t[SHAVES] = {0}, c = 0;
    char name[24];

    for (int i = 0; i < SHAVES; i++) {
        snprintf(name, sizeof name, "SHAVE %d", i);
        shave[i] = trc_track_slices(w, device, name, TRC_CYCLES);
    }
    ddr = trc_track_counter(w, device, "DDR bytes/cycle", TRC_CYCLES,
                            TRC_UNIT_BYTES);
    active = trc_track_counter(w, device, "active SHAVEs", TRC_CYCLES,
                               TRC_UNIT_COUNT);
    compile = trc_track_slices(w, host, "compile", TRC_NS);
    trc_note(w, "layer", "made up by a test");
    trc_slice(w, compile, 3, 12345, &(trc_event){.name = "clang 007"});
    for (uint64_t g = 0; g < GROUPS; g++) {
        uint64_t i = next_random(SHAVES);

        phase(w, shave[i], &t[i], g, TRC_FLOW_START);
        phase(w, shave[i], &t[i], g, TRC_FLOW_END);
        c += next_random(500);
        trc_count_real(w, ddr, c, (double)next_random(1000) / 8);
        trc_count(w, active, c, (int64_t)next_random(SHAVES + 1));
        if (!next_random(8))
            trc_instant(w, shave[i], t[i], &(trc_event){.name = "mark"});
    }
}

static void make(int how)
{
    trc_config cfg = {.level = TRC_FULL, .clk_mhz = MHZ};
    trc_writer *w;

    seed = (uint64_t)how * 7919 + 1;
    ck_assert(!trc_writer_create(&cfg, &w, &err));
    ck_assert(!trc_writer_add(w, TRC_PERFETTO, file("a.pftrace"), &err));
    ck_assert(!trc_writer_add(w, TRC_CHROME_JSON, file("a.json"), &err));
    ck_assert(!trc_writer_add(w, TRC_VCD, file("a.vcd"), &err));
    write_run(w);
    ck_assert(!trc_writer_commit(w, &err));
}

static void expect_same(const char *a, const char *b)
{
    char *x, *y;
    size_t n, m;

    ck_assert(!file_read(file(a), 1 << 26, p.arena, &x, &n, &err));
    ck_assert(!file_read(file(b), 1 << 26, p.arena, &y, &m, &err));
    ck_assert_uint_eq(n, m);
    ck_assert_mem_eq(x, y, n);
}

START_TEST(converted_is_what_the_run_would_have_written)
{
    make(_i);
    terminal_run(&p, "trace convert a.pftrace --to b.pftrace");
    ck_assert_msg(!p.status && !*p.err, "%s", p.err);
    expect_same("a.pftrace", "b.pftrace");
    terminal_run(&p, "trace convert a.pftrace --to b.json");
    ck_assert_msg(!p.status, "%s", p.err);
    expect_same("a.json", "b.json");
    terminal_run(&p, "trace convert a.pftrace --to b.vcd");
    ck_assert_msg(!p.status, "%s", p.err);
    expect_same("a.vcd", "b.vcd");
}
END_TEST

/* Products of an arrow's number and the number that hash functions often take
 * all begin with 32 zeros, so by such a hash all arrows meet: to copy them took
 * some minutes, and each twice as many four times as long. */
START_TEST(arrows_whose_numbers_were_made_to_meet)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t inverse = odd;
    trc_config cfg = {.level = TRC_FULL, .clk_mhz = MHZ};
    trc_track row;
    trc_writer *w;

    for (int k = 0; k < 6; k++)
        inverse *= 2 - odd * inverse;
    ck_assert(!trc_writer_create(&cfg, &w, &err));
    ck_assert(!trc_writer_add(w, TRC_PERFETTO, file("a.pftrace"), &err));
    row = trc_track_slices(w, trc_track_group(w, 0, "device"), "SHAVE 0",
                           TRC_CYCLES);
    for (uint64_t i = 1; i <= UINT64_C(1) << 19; i++)
        trc_slice(w, row, 2 * i, 2 * i + 1,
                  &(trc_event){.name = "issue",
                               .flow = TRC_FLOW_START,
                               .flow_id = i * inverse});
    ck_assert(!trc_writer_commit(w, &err));
    terminal_run(&p, "trace convert a.pftrace --to b.pftrace");
    ck_assert_msg(!p.status && !*p.err, "%s", p.err);
    expect_same("a.pftrace", "b.pftrace");
}
END_TEST

/* --- slices -------------------------------------------------------------- */

static const tl_row *row_named(const tl_timeline *tl, const char *name)
{
    for (uint32_t i = 0; i < tl->n_rows; i++)
        if (!strcmp(tl->rows[i].name, name))
            return &tl->rows[i];
    return NULL;
}

static void expect_counter(const tl_timeline *whole, const tl_timeline *part,
                           const char *name, uint64_t a, uint64_t b)
{
    const tl_row *r = row_named(whole, name), *q = row_named(part, name);
    double mean[2], high[2];

    ck_assert_ptr_nonnull(q);
    tl_mean(r->counter, a, b, &mean[0], &high[0]);
    if (!q->counter) {
        ck_assert_double_eq(mean[0], 0);
        return;
    }
    tl_mean(q->counter, a, b, &mean[1], &high[1]);
    ck_assert(fabs(mean[0] - mean[1]) <= 1e-9 * (1 + fabs(mean[0])));
    ck_assert_double_eq(high[0], high[1]);
}

START_TEST(a_slice_holds_what_the_whole_holds_there)
{
    tl_timeline whole, part;

    make(_i);
    ck_assert(!load_file(file("a.pftrace"), &whole, &err));
    for (int k = 0; k < 8; k++) {
        uint64_t a = next_random(whole.end), b = a + 1 + next_random(whole.end);

        terminal_run(
            &p, arena_printf(p.arena,
                             "trace slice a.pftrace --range %llu..%llu "
                             "--to s.pftrace",
                             (unsigned long long)a, (unsigned long long)b));
        ck_assert_msg(!p.status && !*p.err, "%s", p.err);
        ck_assert(!load_file(file("s.pftrace"), &part, &err));
        ck_assert_uint_eq(part.clk_mhz, MHZ);
        ck_assert_uint_le(part.end, b);
        for (int i = 0; i < SHAVES; i++) {
            const char *name = arena_printf(p.arena, "SHAVE %d", i);
            const tl_row *r = row_named(&whole, name);
            const tl_row *q = row_named(&part, name);

            ck_assert_ptr_nonnull(q);
            for (uint32_t l = 0; l < r->n_lanes; l++) {
                uint64_t want[TL_N_CLASSES], got[TL_N_CLASSES] = {0};

                tl_sums(&whole, &r->lanes[l], a, b, want);
                if (q->lanes)
                    tl_sums(&part, &q->lanes[l], 0, part.end + 1, got);
                ck_assert_mem_eq(want, got, sizeof want);
            }
        }
        expect_counter(&whole, &part, "DDR bytes/cycle", a, b);
        expect_counter(&whole, &part, "active SHAVEs", a, b);
        tl_free(&part);
    }
    tl_free(&whole);
}
END_TEST

START_TEST(a_slice_of_everything_is_everything)
{
    make(3);
    terminal_run(&p, "trace slice a.pftrace --range 0..1s --to s.pftrace");
    ck_assert_msg(!p.status, "%s", p.err);
    expect_same("a.pftrace", "s.pftrace");
}
END_TEST

/* --- summary ------------------------------------------------------------- */

START_TEST(summary_adds_up)
{
    json_t *j, *cause, *shave, *value;
    json_int_t sum = 0, of_shaves = 0;
    const char *key, *name;
    tl_timeline tl;

    make(5);
    terminal_run(&p, "trace summary a.pftrace --json");
    ck_assert_msg(!p.status, "%s", p.err);
    j = json_loads(p.out, 0, NULL);
    ck_assert_ptr_nonnull(j);
    ck_assert(!load_file(file("a.pftrace"), &tl, &err));
    json_object_foreach(json_object_get(j, "causes"), key, cause) sum +=
        json_integer_value(cause);
    json_object_foreach(json_object_get(j, "shaves"), name, shave)
        json_object_foreach(shave, key, value) of_shaves +=
        json_integer_value(value);
    ck_assert_int_eq(sum, of_shaves);
    ck_assert_int_eq(sum +
                         json_integer_value(json_object_get(j, "not_recorded")),
                     (json_int_t)(tl.end * SHAVES));
    ck_assert_int_eq(json_integer_value(json_object_get(j, "clk_mhz")), MHZ);
    tl_free(&tl);
    json_decref(j);
    terminal_run(&p, "trace summary a.pftrace");
    ck_assert_ptr_nonnull(strstr(p.out, "cycles at 700 MHz"));
}
END_TEST

static json_t *summary_but_names(const char *words)
{
    json_t *j;

    terminal_run(&p, arena_printf(p.arena, "trace summary %s --json", words));
    ck_assert_msg(!p.status, "%s", p.err);
    j = json_loads(p.out, 0, NULL);
    ck_assert_ptr_nonnull(j);
    json_object_del(j, "file");
    json_object_del(j, "slices"); /* of the whole file */
    return j;
}

/* Bytes per cycle times cycles per second. */
START_TEST(summary_says_bandwidth_twice)
{
    double per_cycle = 0, per_second = 0;
    const char *line;

    make(5);
    terminal_run(&p, "trace summary a.pftrace");
    line = strstr(p.out, "\nDDR ");
    ck_assert_ptr_nonnull(line);
    ck_assert_int_eq(sscanf(line, " DDR %lf bytes per cycle, %lf GB/s",
                            &per_cycle, &per_second),
                     2);
    ck_assert_double_gt(per_cycle, 0);
    ck_assert_double_eq_tol(per_second, per_cycle * MHZ / 1000,
                            0.0051 + 0.0005 * MHZ / 1000);
}
END_TEST

START_TEST(summary_of_a_slice_is_that_of_the_stretch)
{
    tl_timeline tl;

    add_layer_put(&p);
    terminal_run(&p, ADD_RUN "--trace a.pftrace");
    ck_assert_msg(!p.status, "%s", p.err);
    ck_assert(!load_file(file("a.pftrace"), &tl, &err));
    for (int k = 0; k < 12; k++) {
        uint64_t a = next_random(tl.end), b = a + 1 + next_random(tl.end - a);
        char *range =
            arena_printf(p.arena, "--range %llu..%llu", (unsigned long long)a,
                         (unsigned long long)b);
        json_t *whole, *part;

        terminal_run(&p,
                     arena_printf(p.arena,
                                  "trace slice a.pftrace %s --output s.pftrace",
                                  range));
        ck_assert_msg(!p.status, "%s", p.err);
        whole = summary_but_names(arena_printf(p.arena, "a.pftrace %s", range));
        part = summary_but_names("s.pftrace");
        ck_assert_msg(json_equal(whole, part), "%s: %s", range, p.out);
        json_decref(whole);
        json_decref(part);
    }
    tl_free(&tl);
}
END_TEST

/* A stretch of 100 cycles: SHAVE 0 issues for 60 and waits for 40, SHAVE 1
 * issues for 50 and says nothing of the rest; one slice is on no device. */
static void write_stretch(void)
{
    trc_config cfg = {.level = TRC_FULL, .clk_mhz = 1000};
    trc_track top, device, shave;
    trc_writer *w;

    ck_assert(!trc_writer_create(&cfg, &w, &err));
    ck_assert(!trc_writer_add(w, TRC_PERFETTO, file("a.pftrace"), &err));
    top = trc_track_slices(w, 0, "first", TRC_CYCLES);
    trc_slice(w, top, 0, 10, &(trc_event){.name = "alone"});
    device = trc_track_group(w, 0, "device");
    shave = trc_track_slices(w, device, "SHAVE 0", TRC_CYCLES);
    trc_begin(w, shave, 0, &(trc_event){.name = "comp"});
    trc_slice(w, shave, 0, 60, &(trc_event){.name = "issue"});
    trc_slice(w, shave, 60, 100, &(trc_event){.name = "DDR stall"});
    trc_end(w, shave, 100, NULL, 0);
    shave = trc_track_slices(w, device, "SHAVE 1", TRC_CYCLES);
    trc_begin(w, shave, 0, &(trc_event){.name = "comp"});
    trc_slice(w, shave, 0, 50, &(trc_event){.name = "issue"});
    trc_end(w, shave, 50, NULL, 0);
    ck_assert(!trc_writer_commit(w, &err));
}

static json_int_t at(const json_t *j, const char *a, const char *b,
                     const char *c)
{
    j = json_object_get(j, a);
    j = b ? json_object_get(j, b) : j;
    j = c ? json_object_get(j, c) : j;
    ck_assert_msg(json_is_integer(j), "%s %s %s", a, b ? b : "", c ? c : "");
    return json_integer_value(j);
}

static json_t *summary_of(const char *options)
{
    json_t *j;

    terminal_run(&p, arena_printf(p.arena, "trace summary a.pftrace --json %s",
                                  options));
    ck_assert_msg(!p.status, "%s", p.err);
    j = json_loads(p.out, 0, NULL);
    ck_assert_ptr_nonnull(j);
    return j;
}

START_TEST(summary_by_hand)
{
    json_t *j;

    write_stretch();
    j = summary_of("");
    ck_assert_int_eq(at(j, "slices", NULL, NULL), 1 + 3 + 2);
    ck_assert_int_eq(at(j, "from", NULL, NULL), 0);
    ck_assert_int_eq(at(j, "to", NULL, NULL), 100);
    ck_assert_int_eq(at(j, "causes", "issue", NULL), 110);
    ck_assert_int_eq(at(j, "causes", "DDR stall", NULL), 40);
    ck_assert_int_eq(at(j, "not_recorded", NULL, NULL), 50);
    ck_assert_int_eq(at(j, "shaves", "SHAVE 0", "issue"), 60);
    ck_assert_int_eq(at(j, "shaves", "SHAVE 1", "issue"), 50);
    ck_assert_int_eq(at(j, "shaves", "SHAVE 1", "DDR stall"), 0);
    json_decref(j);
    j = summary_of("--range 50..100");
    ck_assert_int_eq(at(j, "from", NULL, NULL), 50);
    ck_assert_int_eq(at(j, "causes", "issue", NULL), 10);
    ck_assert_int_eq(at(j, "causes", "DDR stall", NULL), 40);
    ck_assert_int_eq(at(j, "not_recorded", NULL, NULL), 50);
    json_decref(j);
    terminal_run(&p, "trace summary a.pftrace");
    ck_assert_ptr_nonnull(strstr(p.out, "a.pftrace: 6 slices on "));
    ck_assert_ptr_nonnull(strstr(p.out, "100 cycles at 1000 MHz, 0.000100 ms"));
}
END_TEST

/* --- what others wrote, and what is broken ------------------------------- */

/* Same names under one parent, times that go back, an end too many: packets
 * made by hand. Tracks stay apart, what cannot be kept is counted. */
static void packet(str *out, const char *bytes, size_t n)
{
    char head[2] = {10, (char)n};

    str_add(out, head, 2);
    str_add(out, bytes, n);
}

/* A slice from 5 to 9 on the only track there is. */
START_TEST(summary_of_a_foreign_track)
{
    str out = {0};
    json_t *j;

    packet(&out, "\x40\x05\x5a\x04\x48\x01\x58\x07", 8);
    packet(&out, "\x40\x09\x5a\x04\x48\x02\x58\x07", 8);
    terminal_file(&p, "a.pftrace", str_text(&out), out.n);
    str_free(&out);
    j = summary_of("");
    ck_assert_int_eq(at(j, "tracks", NULL, NULL), 1);
    ck_assert_int_eq(at(j, "slices", NULL, NULL), 1);
    json_decref(j);
}
END_TEST

static void descriptor(str *out, char uuid)
{
    /* sequence 1; track_descriptor 60 {uuid 1, name 2 "T"} */
    char b[] = {0x50, 1, (char)0xe2, 3, 5, 8, uuid, 18, 1, 'T'};

    packet(out, b, sizeof b);
}

static void event(str *out, char time, char type, char uuid)
{
    /* timestamp 8; track_event 11 {type 9, uuid 11, name 23 "e"} */
    char b[] = {0x40, time, 0x50, 1,          0x5a, 8, 0x48,
                type, 0x58, uuid, (char)0xba, 1,    1, 'e'};

    packet(out, b, sizeof b);
}

START_TEST(foreign_traces)
{
    str t = {0};
    tl_timeline tl;

    descriptor(&t, 1);
    descriptor(&t, 2);
    event(&t, 10, 1, 1);
    event(&t, 12, 1, 2);
    event(&t, 20, 2, 1);
    event(&t, 25, 2, 2);
    event(&t, 26, 2, 2); /* ends nothing */
    event(&t, 5, 1, 1);  /* goes back */
    event(&t, 30, 2, 1);
    ck_assert(!file_write(file("f.pftrace"), t.data, t.n, &err));
    str_free(&t);
    terminal_run(&p, "trace convert f.pftrace --to g.pftrace");
    ck_assert_msg(!p.status, "%s", p.err);
    ck_assert_ptr_nonnull(strstr(p.err, "events left out"));
    ck_assert(!load_file(file("g.pftrace"), &tl, &err));
    ck_assert_uint_eq(tl.clk_mhz, 0);
    ck_assert_uint_eq(tl.n_rows, 2);
    for (uint32_t i = 0; i < 2; i++)
        ck_assert_uint_eq(tl.rows[i].lanes[0].n_slices, 1);
    tl_free(&tl);
    terminal_run(&p, "trace slice f.pftrace --range 1..2 --to g.pftrace");
    ck_assert_int_eq(p.status, 2);
    ck_assert_ptr_nonnull(strstr(p.err, "notes no clock"));
    terminal_run(&p, "trace summary f.pftrace --range 1..2");
    ck_assert_int_eq(p.status, 2);
    terminal_run(&p, "trace slice f.pftrace --range 11ns..22ns --to g.pftrace");
    ck_assert_msg(!p.status, "%s", p.err);
}
END_TEST

/* A trace that breaks off leaves no half of a copy. */
START_TEST(cut_off_traces)
{
    char *x;
    size_t n;

    make(7);
    ck_assert(!file_read(file("a.pftrace"), 1 << 26, p.arena, &x, &n, &err));
    for (size_t k = 1; k < 20; k++) {
        ck_assert(
            !file_write(file("cut.pftrace"), x, n * k / 20 + k % 3, &err));
        terminal_run(&p, "trace convert cut.pftrace --to c.pftrace");
        ck_assert(p.status ? *p.err != 0 : 1);
        ck_assert(p.status == 0 || !file_exists(file("c.pftrace")));
        if (!p.status)
            remove(file("c.pftrace"));
    }
}
END_TEST

START_TEST(wrong_words)
{
    static const struct {
        const char *args, *says;
    } cases[] = {
        {"trace", "not summary, convert or slice"},
        {"trace look a.pftrace", "not summary"},
        {"trace summary", "which file"},
        {"trace summary a b", "one file"},
        {"trace summary none.pftrace", "none.pftrace"},
        {"trace convert a.pftrace", "--output"},
        {"trace slice a.pftrace --to x", "--range"},
        {"trace slice a.pftrace --range 5..5 --to x", "not before"},
        {"trace slice a.pftrace --range 7ns..3ns --to x",
         "7 ns is not before 3 ns"},
        {"trace slice a.pftrace --range 5 --to x", "TIME..TIME"},
        {"trace slice a.pftrace --range 1h..2h --to x", "TIME..TIME"},
        {"trace summary a.pftrace --range 9..3", "does not end"},
        {"trace convert a.pftrace --to no/such/x", "no/such/x"},
        {"trace convert a.pftrace --to x --json", "--json"},
        {"trace convert a.pftrace --to x --range 1..2", "slice"},
    };

    make(1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        terminal_run(&p, cases[k].args);
        ck_assert_msg(p.status == 2 && strstr(p.err, cases[k].says), "%s",
                      p.err);
        ck_assert(!file_exists(file("x")));
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("copy");
    TCase *t = tcase_create("copy");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, converted_is_what_the_run_would_have_written, 0, 6);
    tcase_add_test(t, arrows_whose_numbers_were_made_to_meet);
    tcase_add_loop_test(t, a_slice_holds_what_the_whole_holds_there, 0, 6);
    tcase_add_test(t, a_slice_of_everything_is_everything);
    tcase_add_test(t, summary_adds_up);
    tcase_add_test(t, summary_says_bandwidth_twice);
    tcase_add_test(t, summary_of_a_slice_is_that_of_the_stretch);
    tcase_add_test(t, summary_by_hand);
    tcase_add_test(t, summary_of_a_foreign_track);
    tcase_add_test(t, foreign_traces);
    tcase_add_test(t, cut_off_traces);
    tcase_add_test(t, wrong_words);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
