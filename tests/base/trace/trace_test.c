/* Traces: written, read back, and taken apart by hand. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/trace/reader.h"
#include "sim/machine/engine.h"

static arena *mem;
static vpu_error err;
static char pb[64], js[64];

static void setup(void)
{
    mem = arena_create(0);
    snprintf(pb, sizeof pb, "/tmp/trace_test.%d.pb", (int)getpid());
    snprintf(js, sizeof js, "/tmp/trace_test.%d.json", (int)getpid());
}
static void teardown(void)
{
    unlink(pb);
    unlink(js);
    arena_destroy(mem);
}

static trc_writer *open_writer(trc_level level, uint64_t max_groups)
{
    trc_config cfg = {.level = level, .max_groups = max_groups};
    trc_writer *w;

    ck_assert(!trc_writer_create(&cfg, &w, &err));
    ck_assert_msg(!trc_writer_add(w, TRC_PERFETTO, pb, &err), "%s", err.msg);
    ck_assert_msg(!trc_writer_add(w, TRC_CHROME_JSON, js, &err), "%s", err.msg);
    return w;
}

/* --- reading with checks ------------------------------------------------- */

enum { N_TRACKS = 64 };

typedef struct {
    char names[N_TRACKS][64];
    uint64_t last[N_TRACKS], n_events, n_begins, flows, total[N_TRACKS];
    uint64_t cause_sum[N_TRACKS];
    uint64_t n_slices[N_TRACKS], busy_ns[N_TRACKS]; /* outermost ones */
    uint64_t begun[N_TRACKS];
    uint64_t n_slacks, n_on_path;
    int depth[N_TRACKS];
    bool noted_fallback;
} seen;

static bool on_track(void *user, const trc_read_track *t)
{
    seen *s = user;

    ck_assert_uint_lt(t->uuid, N_TRACKS);
    snprintf(s->names[t->uuid], sizeof s->names[0], "%s", t->name);
    return true;
}

/* A group on the path has no slack. */
static void see_slack(seen *s, const trc_read_event *e)
{
    uint64_t slack = 0, on_path = 0;

    for (size_t i = 0; i < e->n_args; i++) {
        if (!strcmp(e->args[i].name, "slack")) {
            slack = e->args[i].number;
            s->n_slacks++;
        }
        if (!strcmp(e->args[i].name, "on critical path"))
            on_path = e->args[i].number;
    }
    ck_assert(!slack || !on_path);
    s->n_on_path += on_path;
}

static bool on_event(void *user, const trc_read_event *e)
{
    seen *s = user;

    s->n_events++;
    ck_assert_uint_ge(e->ns, s->last[e->uuid]); /* so slices nest */
    s->last[e->uuid] = e->ns;
    if (e->kind == TRC_READ_BEGIN && !s->depth[e->uuid]++) {
        s->n_slices[e->uuid]++;
        s->begun[e->uuid] = e->ns;
    }
    if (e->kind == TRC_READ_END && !--s->depth[e->uuid])
        s->busy_ns[e->uuid] += e->ns - s->begun[e->uuid];
    ck_assert_int_ge(s->depth[e->uuid], 0);
    see_slack(s, e);
    s->n_begins += e->kind == TRC_READ_BEGIN;
    s->flows += e->flow != TRC_FLOW_NONE;
    if (!strcmp(e->name, "launch total"))
        for (size_t i = 0; i < e->n_args; i++) {
            if (!strcmp(e->args[i].name, "cycles"))
                s->total[e->uuid] = e->args[i].number;
            else if (strcmp(e->args[i].name, "groups"))
                s->cause_sum[e->uuid] += e->args[i].number;
        }
    for (size_t i = 0; i < e->n_args; i++)
        if (!strcmp(e->args[i].name, "level of launch"))
            s->noted_fallback = true;
    return true;
}

static seen read_back(void)
{
    seen s = {0};
    trc_read_ops ops = {.track = on_track, .event = on_event, .user = &s};

    ck_assert_msg(!trc_read_file(pb, &ops, &err), "%s", err.msg);
    for (int i = 0; i < N_TRACKS; i++)
        ck_assert_int_eq(s.depth[i], 0);
    return s;
}

static json_t *read_json(void)
{
    json_error_t e;
    json_t *j = json_load_file(js, 0, &e);

    ck_assert_msg(j != NULL, "%s:%d", e.text, e.line);
    ck_assert(json_is_array(json_object_get(j, "traceEvents")));
    return j;
}

/* --- the writer ---------------------------------------------------------- */

static void write_small(trc_writer *w)
{
    trc_track g = trc_track_group(w, 0, "device");
    trc_track t = trc_track_slices(w, g, "SHAVE 0", TRC_CYCLES);
    trc_track n = trc_track_counter(w, g, "load", TRC_CYCLES, TRC_UNIT_COUNT);
    trc_arg args[] = {TRC_UINT("u", UINT64_MAX), TRC_REAL("x", -1.5),
                      TRC_TEXT("s", "a \"b\"\n\\")};

    ck_assert_uint_eq(t, trc_track_slices(w, g, "SHAVE 0", TRC_CYCLES));
    trc_begin(w, t, 10,
              &(trc_event){.name = "comp",
                           .numbered = true,
                           .number = 7,
                           .args = args,
                           .n_args = 3,
                           .flow = TRC_FLOW_START,
                           .flow_id = 5});
    trc_slice(w, t, 10, 12, &(trc_event){.name = "issue"});
    trc_slice(w, t, 12, 12, &(trc_event){.name = "issue"});
    trc_end(w, t, 13, NULL, 0);
    trc_count(w, n, 1, -3);
    trc_count_real(w, n, 2, 2.25);
}

START_TEST(write_and_read_back)
{
    trc_writer *w = open_writer(TRC_FULL, 0);
    seen s;
    json_t *j;

    write_small(w);
    ck_assert_msg(!trc_writer_commit(w, &err), "%s", err.msg);
    s = read_back();
    ck_assert_uint_eq(s.n_begins, 3);
    ck_assert_uint_eq(s.n_events, 2 + 6 + 2);
    ck_assert_uint_eq(s.flows, 1);
    ck_assert_str_eq(s.names[4], "SHAVE 0");
    ck_assert_uint_eq(trc_ns_to_cycles(700, s.last[4]), 13);
    j = read_json();
    json_decref(j);
}
END_TEST

static const char *const numbered_names[] = {"", "a", "nine long", "comp"};

static bool see_width(void *user, const trc_read_event *e)
{
    int *k = user;
    uint64_t bit, value;
    char name[64];

    if (e->kind != TRC_READ_BEGIN)
        return true;
    ck_assert_int_lt(*k, 128);
    bit = UINT64_C(1) << *k / 2;
    value = *k % 2 ? bit : bit - 1;
    snprintf(name, sizeof name, "%s %llu", numbered_names[*k % 4],
             (unsigned long long)value);
    ck_assert_str_eq(e->name, name);
    ck_assert_uint_eq(e->ns, value);
    ck_assert_uint_eq(e->args[0].number, value);
    ck_assert_str_eq(e->args[0].name, "value");
    ck_assert(e->args[0].key && !e->name_key);
    ++*k;
    return true;
}

/* Numbers of every length, as times, as arguments, in names. */
START_TEST(numbers_of_every_width)
{
    int k = 0;
    trc_read_ops ops = {.event = see_width, .user = &k};
    trc_track t;
    trc_writer *w;

    ck_assert(!trc_writer_create(NULL, &w, &err));
    ck_assert(!trc_writer_add(w, TRC_PERFETTO, pb, &err));
    t = trc_track_slices(w, trc_track_group(w, 0, "g"), "t", TRC_NS);
    for (int i = 0; i < 128; i++) {
        uint64_t bit = UINT64_C(1) << i / 2, value = i % 2 ? bit : bit - 1;
        trc_arg arg = TRC_UINT("value", value);

        trc_slice(w, t, value, value,
                  &(trc_event){.name = numbered_names[i % 4],
                               .numbered = true,
                               .number = value,
                               .args = &arg,
                               .n_args = 1});
    }
    ck_assert(!trc_writer_commit(w, &err));
    ck_assert_msg(!trc_read_file(pb, &ops, &err), "%s", err.msg);
    ck_assert_int_eq(k, 128);
}
END_TEST

START_TEST(every_cycle_has_its_nanosecond)
{
    static const uint32_t clocks[] = {1, 333, 600, 700, 999, 1000};

    for (size_t k = 0; k < 6; k++)
        for (uint64_t c = 0; c < 20000; c++) {
            uint64_t far = c + (UINT64_C(1) << 50);

            ck_assert_uint_eq(
                trc_ns_to_cycles(clocks[k], trc_cycles_to_ns(clocks[k], c)), c);
            if (clocks[k] > 300)
                ck_assert_uint_eq(
                    trc_ns_to_cycles(clocks[k],
                                     trc_cycles_to_ns(clocks[k], far)),
                    far);
        }
}
END_TEST

START_TEST(abandon_leaves_nothing)
{
    trc_writer *w = open_writer(TRC_FULL, 0);

    write_small(w);
    trc_writer_abandon(w);
    ck_assert(!file_exists(pb) && !file_exists(js));
    ck_assert(!trc_writer_create(NULL, &w, &err));
    ck_assert_int_eq(trc_writer_add(w, TRC_PERFETTO, "/no/dir/x", &err),
                     VPU_ERR_IO);
    trc_writer_abandon(w);
    trc_writer_abandon(NULL);
}
END_TEST

START_TEST(clock_is_bounded)
{
    trc_config cfg = {.clk_mhz = 1001};
    trc_writer *w;

    ck_assert_int_eq(trc_writer_create(&cfg, &w, &err), VPU_ERR_INVALID);
    ck_assert_ptr_null(w);
}
END_TEST

/* --- field numbers, by a walker that shares nothing with protobuf-c ------ */

static const unsigned char *varint(const unsigned char *p, uint64_t *out)
{
    int shift = 0;

    for (*out = 0;; shift += 7) {
        *out |= (uint64_t)(*p & 127) << shift;
        if (!(*p++ & 128))
            return p;
    }
}

/* Field path as in "1.11.9"; each path met is noted with its wire type. */
static void walk(const unsigned char *p, const unsigned char *end, str *paths,
                 const char *prefix)
{
    static const char *const messages =
        " 1 1.11 1.12 1.60 1.11.4 1.12.2 1.12.3 1.60.3 1.60.8 ";

    while (p < end) {
        char path[64], spaced[80];
        uint64_t tag, n = 0;

        p = varint(p, &tag);
        snprintf(path, sizeof path, "%s%s%u", prefix, *prefix ? "." : "",
                 (unsigned)(tag >> 3));
        snprintf(spaced, sizeof spaced, " %s:%u ", path, (unsigned)(tag & 7));
        if (!paths->n || !strstr(str_text(paths), spaced))
            str_puts(paths, spaced);
        if ((tag & 7) == 0) {
            p = varint(p, &n);
        } else if ((tag & 7) == 1) {
            p += 8;
        } else {
            ck_assert_uint_eq(tag & 7, 2);
            p = varint(p, &n);
            snprintf(spaced, sizeof spaced, " %s ", path);
            if (strstr(messages, spaced))
                walk(p, p + n, paths, path);
            p += n;
        }
    }
    ck_assert(p == end);
}

START_TEST(field_numbers)
{
    static const char *const want[] = {
        "1:2",        "1.8:0",      "1.10:0",     "1.13:0",    "1.87:0",
        "1.42:0",     "1.11:2",     "1.12:2",     "1.60:2",    "1.60.1:0",
        "1.60.2:2",   "1.60.5:0",   "1.60.3:2",   "1.60.8:2",  "1.60.3.1:0",
        "1.60.3.6:2", "1.11.9:0",   "1.11.11:0",  "1.11.10:0", "1.11.23:2",
        "1.11.30:0",  "1.11.44:1",  "1.11.47:1",  "1.11.4:2",  "1.11.4.1:0",
        "1.11.4.3:0", "1.11.4.5:1", "1.11.4.6:2", "1.12.2:2",  "1.12.3:2",
        "1.12.2.1:0", "1.12.2.2:2", "1.60.8.3:0"};
    trc_writer *w = open_writer(TRC_FULL, 0);
    str paths = {0};
    char *data;
    size_t n;

    write_small(w);
    ck_assert(!trc_writer_commit(w, &err));
    ck_assert(!file_read(pb, 1 << 20, mem, &data, &n, &err));
    walk((unsigned char *)data, (unsigned char *)data + n, &paths, "");
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        char spaced[80];

        snprintf(spaced, sizeof spaced, " %s ", want[i]);
        ck_assert_msg(strstr(str_text(&paths), spaced), "%s not in %s", want[i],
                      str_text(&paths));
    }
    str_free(&paths);
}
END_TEST

/* The number in field `want` of a packet's outermost level; 0: not there. */
static uint64_t number_of(const unsigned char *p, const unsigned char *end,
                          uint64_t want)
{
    uint64_t tag, n, found = 0;

    while (p < end) {
        p = varint(p, &tag);
        if ((tag & 7) == 1) {
            p += 8;
            continue;
        }
        p = varint(p, &n);
        if (tag == want << 3)
            found = n;
        p += (tag & 7) == 2 ? n : 0;
    }
    return found;
}

/* The first packet, and no other, says that nothing was before it (42, 87) and
 * that names begin anew (13: 1); events need names of before (13: 2). */
START_TEST(first_packet_of_a_sequence)
{
    trc_writer *w = open_writer(TRC_FULL, 0);
    const unsigned char *p, *end;
    unsigned packets = 0, events = 0;
    char *data;
    size_t n;

    write_small(w);
    ck_assert(!trc_writer_commit(w, &err));
    ck_assert(!file_read(pb, 1 << 20, mem, &data, &n, &err));
    p = (const unsigned char *)data;
    for (end = p + n; p < end; packets++) {
        uint64_t tag, size;

        p = varint(varint(p, &tag), &size);
        ck_assert_uint_eq(tag, 1 << 3 | 2);
        ck_assert_uint_eq(number_of(p, p + size, 10), 1);
        ck_assert_uint_eq(number_of(p, p + size, 87), !packets);
        ck_assert_uint_eq(number_of(p, p + size, 42), !packets);
        if (!packets)
            ck_assert_uint_eq(number_of(p, p + size, 13), 1);
        else
            ck_assert_uint_ne(number_of(p, p + size, 13), 1);
        events += number_of(p, p + size, 13) == 2;
        p += size;
    }
    ck_assert_uint_gt(packets, 5);
    ck_assert_uint_gt(events, 5);
}
END_TEST

START_TEST(hostile_bytes)
{
    trc_writer *w = open_writer(TRC_FULL, 0);
    trc_read_ops ops = {0};
    unsigned char *bytes;
    char *data;
    size_t n;

    write_small(w);
    ck_assert(!trc_writer_commit(w, &err));
    ck_assert(!file_read(pb, 1 << 20, mem, &data, &n, &err));
    bytes = (unsigned char *)data;
    for (size_t i = 0; i < n; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= (unsigned char)(1 << bit);
            trc_read_bytes("bad", bytes, n, &ops, &err);
            bytes[i] ^= (unsigned char)(1 << bit);
        }
    ck_assert_int_eq(trc_read_bytes("cut", bytes, n - 1, &ops, &err),
                     VPU_ERR_PARSE);
    ck_assert_int_eq(trc_read_bytes("text", "hello", 5, &ops, &err),
                     VPU_ERR_PARSE);
    ck_assert_int_eq(trc_read_file("/no/such", &ops, &err), VPU_ERR_IO);
}
END_TEST

/* --- what the engine writes ---------------------------------------------- */

static vpu_status buffered(void *user, mach_queue *q, uint32_t n, vpu_error *e)
{
    uint64_t *left = user;

    (void)e;
    for (uint32_t i = 0; i < n; i++) {
        for (int k = 0; k < 8 && left[i]; k++, left[i]--) {
            mach_queue_push(&q[i], MACH_STEP_GROUP)->id = left[i] * n + i;
            mach_queue_push(&q[i], MACH_STEP_PHASE)->id = MACH_PRE;
            mach_queue_push(&q[i], MACH_STEP_DMA)->detail.dma =
                (mach_transfer){.bytes = 4096, .lines = 4, .to_cmx = true};
            mach_queue_push(&q[i], MACH_STEP_PHASE)->id = MACH_COMP;
            mach_queue_push(&q[i], MACH_STEP_RUN)->issue_cycles = 400;
            mach_queue_push(&q[i], MACH_STEP_PHASE)->id = MACH_POST;
            mach_queue_push(&q[i], MACH_STEP_DMA)->detail.dma =
                (mach_transfer){.bytes = 2048, .lines = 4};
        }
        q[i].ended = !left[i];
    }
    return VPU_OK;
}

static mach_profile run_launch(trc_writer *w, uint64_t groups, uint64_t start)
{
    uint64_t left[] = {groups, groups, groups, groups};
    mach_launch l = {.name = "grn",
                     .n_shaves = 4,
                     .double_buffered = true,
                     .n_groups = 4 * groups,
                     .refill = buffered,
                     .user = left,
                     .start_cycle = start};
    mach_desc d;
    mach_profile p;

    ck_assert(!mach_desc_load(NULL, mem, &d, &err));
    ck_assert(!mach_run(&d, &l, w, &p, &err));
    return p;
}

/* The path fills both launches; groups have their slack where they are told
 * apart. */
static void check_path(const seen *s, trc_level level, uint64_t cycles)
{
    uint64_t n_groups = level == TRC_SUMMARY ? 0 : 60, n_slacks = 0;
    bool path = false;

    for (int t = 0; t < N_TRACKS; t++) {
        if (strstr(s->names[t], " slack"))
            n_slacks += s->n_slices[t];
        if (strcmp(s->names[t], "critical path") != 0)
            continue;
        path = true;
        ck_assert_uint_eq(s->busy_ns[t], trc_cycles_to_ns(700, cycles));
        if (level == TRC_SUMMARY)
            ck_assert_uint_le(s->n_slices[t], 2 * 256);
    }
    ck_assert(path);
    ck_assert_uint_eq(n_slacks, n_groups);
    ck_assert_uint_eq(s->n_slacks, n_groups);
    ck_assert_uint_le(s->n_on_path, n_groups);
}

/* Each level: no slice crosses another, causes add up, two launches in one
 * trace, the same bytes twice. */
START_TEST(engine_traces)
{
    char *first = NULL, *again = NULL;
    size_t n_first = 0, n_again = 0;
    seen s;

    for (int round = 0; round < 2; round++) {
        trc_writer *w = open_writer((trc_level)_i, 0);
        mach_profile p = run_launch(w, 10, 0), p2 = run_launch(w, 5, p.cycles);

        ck_assert_msg(!trc_writer_commit(w, &err), "%s", err.msg);
        s = read_back();
        for (int t = 0; t < N_TRACKS; t++)
            if (!strncmp(s.names[t], "SHAVE ", 6) &&
                !strstr(s.names[t], "slack")) {
                ck_assert_uint_eq(s.cause_sum[t], p.cycles + p2.cycles);
                ck_assert_uint_eq(s.total[t], p2.cycles);
            }
        check_path(&s, (trc_level)_i, p.cycles + p2.cycles);
        if (_i != TRC_SUMMARY)
            ck_assert_uint_eq(s.flows, 60 * 3);
        json_decref(read_json());
        ck_assert(!file_read(pb, 1 << 24, mem, round ? &again : &first,
                             round ? &n_again : &n_first, &err));
    }
    ck_assert_uint_eq(n_first, n_again);
    ck_assert_mem_eq(first, again, n_first);
}
END_TEST

START_TEST(many_groups_fall_back_to_summary)
{
    trc_writer *w = open_writer(TRC_FULL, 1000);
    seen s;

    run_launch(w, 20000, 0);
    ck_assert(!trc_writer_commit(w, &err));
    s = read_back();
    ck_assert(s.noted_fallback);
    ck_assert_uint_le(s.n_events, 7 * 2 * 256 + 600);
}
END_TEST

START_TEST(tracks_of_a_group)
{
    trc_writer *w;
    trc_track group, inner;

    ck_assert(!trc_writer_create(NULL, &w, &err));
    group = trc_track_group(w, 0, "g");
    ck_assert_uint_eq(trc_track_children(w, group), 0);
    ck_assert(!trc_track_exists(w, group, "a"));
    inner = trc_track_group(w, group, "inner");
    trc_track_slices(w, group, "a", TRC_CYCLES);
    trc_track_counter(w, inner, "b", TRC_CYCLES, TRC_UNIT_NONE);
    trc_track_slices(w, group, "a", TRC_CYCLES); /* the same again */
    ck_assert_uint_eq(trc_track_children(w, group), 2);
    ck_assert(trc_track_exists(w, group, "a"));
    ck_assert(!trc_track_exists(w, group, "b"));
    ck_assert(trc_track_exists(w, inner, "b"));
    trc_writer_abandon(w);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("trace");
    TCase *t = tcase_create("trace");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, write_and_read_back);
    tcase_add_test(t, numbers_of_every_width);
    tcase_add_test(t, every_cycle_has_its_nanosecond);
    tcase_add_test(t, abandon_leaves_nothing);
    tcase_add_test(t, clock_is_bounded);
    tcase_add_test(t, field_numbers);
    tcase_add_test(t, first_packet_of_a_sequence);
    tcase_add_test(t, hostile_bytes);
    tcase_add_loop_test(t, engine_traces, 0, 3);
    tcase_add_test(t, many_groups_fall_back_to_summary);
    tcase_add_test(t, tracks_of_a_group);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
