/* What a run's trace tells about stages, local memory, source lines and the
 * time between phases, against the run's other outputs. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/terminal.h"
#include "visualizer/control.h"
#include "visualizer/load.h"
#include "visualizer/paint.h"
#include "visualizer/text.h"
#include "visualizer/view.h"

static terminal p;
static tl_timeline tl;
static view v;
static char root[1024];

static void setup(void)
{
    terminal_open(&p);
    ck_assert(getcwd(root, sizeof root) != NULL);
}

static void teardown(void)
{
    terminal_close(&p);
}

static void run(const char *layer, const char *options)
{
    terminal_run(&p, arena_printf(p.arena,
                                  "run %s/kernels/grn/layer.xml --layer %s "
                                  "--shape in0=1x4x32x64 --param bias=1.0 "
                                  "--shaves 3 --input 0=random:1 %s",
                                  root, layer, options));
    ck_assert_msg(!p.status, "%s", p.err);
}

static void load(const char *name)
{
    vpu_error err;

    ck_assert(
        !load_file(arena_printf(p.arena, "%s/%s", p.dir, name), &tl, &err));
    ck_assert(!view_init(&v, &tl, &err));
}

static void unload(void)
{
    view_free(&v);
    tl_free(&tl);
}

static const tl_row *row(const char *name)
{
    for (uint32_t i = 0; i < tl.n_rows; i++)
        if (!strcmp(tl.rows[i].name, name))
            return &tl.rows[i];
    return NULL;
}

/* Begin and end of a group's phases on a SHAVE, its transfers out included. */
static void group_span(const tl_row *shave, uint32_t group, uint64_t *begin,
                       uint64_t *end)
{
    const tl_lane *l = &shave->lanes[0];

    *begin = UINT64_MAX;
    *end = 0;
    for (uint64_t i = 0; i < l->n_slices; i++)
        if (tl_number(l, i) == group) {
            uint64_t last = tl_end(l, i);

            *begin = tl_begin(l, i) < *begin ? tl_begin(l, i) : *begin;
            *end = last > *end ? last : *end;
        }
    for (uint32_t k = 0; k < tl.n_rows; k++)
        for (uint64_t i = 0;
             tl.rows[k].kind == TL_ROW_DMA && i < tl.rows[k].lanes[0].n_slices;
             i++) {
            const tl_lane *d = &tl.rows[k].lanes[0];
            uint64_t last = tl_end(d, i);

            if (tl_number(d, i) == group && last > *end)
                *end = last;
        }
}

START_TEST(double_buffers_hold_a_group_each)
{
    uint64_t all = 0;

    run("GRNDma", "--trace t.pftrace");
    load("t.pftrace");
    ck_assert_uint_eq(v.facts.n_stages, 1);
    ck_assert_str_eq(v.facts.stages[0].name, "GRNDma");
    ck_assert_str_eq(v.facts.stages[0].kernel, "grn_dma");
    ck_assert_uint_eq(v.facts.stages[0].local_budget, 102400);
    ck_assert_double_gt(facts_capacity(&v.facts), 1);
    for (uint32_t s = 0; s < 3; s++) {
        const tl_row *shave = row(arena_printf(p.arena, "SHAVE %u", s));
        uint64_t seen = 0;

        for (uint32_t k = 0; k < 2; k++) {
            const tl_row *r =
                row(arena_printf(p.arena, "SHAVE %u local %u", s, k));
            const tl_lane *l;

            ck_assert(r && r->kind == TL_ROW_LOCAL);
            l = &r->lanes[0];
            /* Two tensors of 4 x 64 halves. */
            ck_assert_uint_eq(v.facts.row_bytes[r - tl.rows], 2 * 4 * 64 * 2);
            for (uint64_t i = 0; i < l->n_slices; i++, seen++) {
                uint64_t begin, end;

                group_span(shave, tl_number(l, i), &begin, &end);
                /* The next preload may begin while results leave. */
                if (i + 1 < l->n_slices && end > tl_begin(l, i + 1))
                    end = tl_begin(l, i + 1);
                ck_assert_uint_eq(tl_begin(l, i), begin);
                ck_assert_uint_eq(tl_end(l, i), end);
            }
        }
        all += seen;
    }
    ck_assert_uint_eq(all, 32);
    unload();
}
END_TEST

START_TEST(groups_leave_no_time_out)
{
    run(_i ? "GRNDma" : "GRN", "--trace-level groups --trace t.pftrace");
    load("t.pftrace");
    for (uint32_t s = 0; s < 3; s++) {
        const tl_row *shave = row(arena_printf(p.arena, "SHAVE %u", s));
        uint64_t sums[TL_N_CLASSES], all = 0;

        tl_sums(&tl, &shave->lanes[1], 0, tl.end, sums);
        for (int c = 0; c < TL_N_CAUSES; c++)
            all += sums[c];
        ck_assert_uint_eq(all, v.facts.stages[0].end);
    }
    unload();
}
END_TEST

/* The folded stacks name the same lines with the same cycles. */
START_TEST(lines_cost_what_the_profile_says)
{
    char *folded, *save = NULL;
    uint64_t lines = 0, in_trace = 0, all = 0;
    vpu_error err;
    size_t n;

    run("GRNDma", "--profile --folded f.txt --trace t.pftrace");
    load("t.pftrace");
    ck_assert(!file_read(arena_printf(p.arena, "%s/f.txt", p.dir), 1 << 20,
                         p.arena, &folded, &n, &err));
    for (char *l = strtok_r(folded, "\n", &save); l;
         l = strtok_r(NULL, "\n", &save)) {
        const char *at = strstr(l, "grn_dma.cl:");
        const char *phase = strstr(l, ";preload;")   ? "pre"
                            : strstr(l, ";compute;") ? "comp"
                                                     : "post";
        facts_cost c;
        char *cause;
        uint64_t cycles = strtoull(strrchr(l, ' '), NULL, 10);
        tl_class class;

        if (!at)
            continue;
        lines++;
        all += cycles;
        c = facts_cost_of(&v.facts, &v.facts.stages[0], phase, "grn_dma.cl",
                          (uint32_t)strtoul(at + 11, &cause, 10));
        *strrchr(cause, ' ') = 0;
        class = tl_class_of(&tl, tl_intern(&tl, cause + 1, strlen(cause + 1)));
        ck_assert_uint_lt(class, TL_N_CAUSES);
        ck_assert_uint_eq(c.cause[class], cycles);
    }
    for (uint32_t i = 0; i < v.facts.n_costs; i++)
        in_trace += v.facts.costs[i].total;
    ck_assert_uint_gt(lines, 5);
    ck_assert_uint_eq(in_trace, all);
    ck_assert(strstr(facts_text(&v.facts, "grn_dma.cl", 39), "sum +="));
    unload();
}
END_TEST

/* A source's lines come as they can be shown: blanks for what controls, none at
 * the end, at most 240 bytes and no part of a letter. */
START_TEST(lines_as_they_can_be_shown)
{
    char *many = arena_push(p.arena, 301, 1, 1);

    memset(many, 'a', 300);
    many[300] = 0;
    terminal_text(
        &p, "odd.cl",
        arena_printf(p.arena,
                     "// tab\there,\x7f delete,\x01 control \t \r\n"
                     "//%s\n"
                     "//%.237s\xc3\xa9%s\n"
                     "\n"
                     "__kernel void k(__global half *dst) { dst[0] = 1; }",
                     many, many, many));
    terminal_text(
        &p, "odd.xml",
        "<CustomLayer name=\"L\" type=\"MVCL\" version=\"1\">"
        "<Kernel entry=\"k\"><Source filename=\"odd.cl\"/><Parameters>"
        "<Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" "
        "format=\"BFYX\"/></Parameters><WorkSizes dim=\"input,0\" "
        "global=\"1\" local=\"1\"/></Kernel></CustomLayer>");
    terminal_run(&p, "run odd.xml --shape in0=1x1x1x1 --trace t.pftrace");
    ck_assert_msg(!p.status, "%s", p.err);
    load("t.pftrace");
    ck_assert_str_eq(facts_text(&v.facts, "odd.cl", 1),
                     "// tab here,  delete,  control");
    ck_assert_str_eq(facts_text(&v.facts, "odd.cl", 2),
                     arena_printf(p.arena, "//%.238s", many));
    ck_assert_str_eq(facts_text(&v.facts, "odd.cl", 3),
                     arena_printf(p.arena, "//%.237s", many));
    ck_assert_str_eq(facts_text(&v.facts, "odd.cl", 4), "");
    ck_assert(
        !strncmp(facts_text(&v.facts, "odd.cl", 5), "__kernel void k(", 16));
    unload();
}
END_TEST

START_TEST(host_work_only_when_asked_for)
{
    char *a, *b;
    size_t na, nb;
    vpu_error err;

    run("GRNDma", "--trace a.pftrace");
    run("GRNDma", "--trace b.pftrace");
    ck_assert(!file_read(arena_printf(p.arena, "%s/a.pftrace", p.dir), 1 << 24,
                         p.arena, &a, &na, &err));
    ck_assert(!file_read(arena_printf(p.arena, "%s/b.pftrace", p.dir), 1 << 24,
                         p.arena, &b, &nb, &err));
    ck_assert_uint_eq(na, nb);
    ck_assert_mem_eq(a, b, na);
    load("a.pftrace");
    ck_assert(!row("host work"));
    unload();
    run("GRNDma", "--trace-host --trace t.pftrace");
    load("t.pftrace");
    ck_assert(row("host work") && row("host work")->lanes[0].n_slices == 3);
    unload();
}
END_TEST

static uint64_t number_of(const tl_lane *l, uint64_t i, const char *key)
{
    tl_arg a;

    ck_assert_msg(tl_slice_arg(&tl, l, i, key, &a), "no %s", key);
    ck_assert_int_eq(a.kind, TL_ARG_UINT);
    return a.number;
}

static const char *text_of(const tl_lane *l, uint64_t i, const char *key)
{
    tl_arg a;

    return tl_slice_arg(&tl, l, i, key, &a) && a.kind == TL_ARG_TEXT
               ? tl_text(&tl, a.text)
               : "";
}

static bool has_group(const tl_row *local, uint32_t group)
{
    for (uint64_t i = 0; local && i < local->lanes[0].n_slices; i++)
        if (tl_number(&local->lanes[0], i) == group)
            return true;
    return false;
}

/* A group of GRNDma is one row of each of 4 channels of 32 x 64 halves: so its
 * transfers are 4 lines of a row, a channel apart, from the group's row on. In
 * local memory they begin where the array does, in the buffer that the group
 * has. */
START_TEST(transfers_say_what_they_move)
{
    enum { ROW = 64 * 2, CHANNEL = 32 * ROW };
    uint64_t n[2] = {0};

    run("GRNDma",
        _i ? "--trace t.pftrace --trace-level groups" : "--trace t.pftrace");
    load("t.pftrace");
    for (uint32_t k = 0; k < tl.n_rows; k++)
        for (uint64_t i = 0;
             tl.rows[k].kind == TL_ROW_DMA && i < tl.rows[k].lanes[0].n_slices;
             i++) {
            const tl_lane *l = &tl.rows[k].lanes[0];
            bool out = !strcmp(text_of(l, i, "direction"), "out");
            uint64_t first = (uint64_t)tl_number(l, i) * ROW;
            uint64_t last = first + 3 * CHANNEL + ROW - 1;

            ck_assert_str_eq(text_of(l, i, "tensor"), out ? "out0" : "in0");
            ck_assert_str_eq(text_of(l, i, "argument"), out ? "dst" : "src");
            ck_assert_uint_eq(number_of(l, i, "first byte"), first);
            ck_assert_uint_eq(number_of(l, i, "last byte"), last);
            ck_assert_uint_eq(number_of(l, i, "first element"), first / 2);
            ck_assert_uint_eq(number_of(l, i, "last element"), last / 2);
            ck_assert_uint_eq(number_of(l, i, "lines"), 4);
            ck_assert_uint_eq(number_of(l, i, "line bytes"), ROW);
            ck_assert_uint_eq(number_of(l, i, "line stride"), CHANNEL);
            ck_assert_str_eq(text_of(l, i, "local array"),
                             out ? "row_out" : "row_in");
            ck_assert_uint_eq(number_of(l, i, "local byte"), 0);
            ck_assert(has_group(
                row(arena_printf(p.arena, "SHAVE %u local %u",
                                 (unsigned)number_of(l, i, "shave"),
                                 (unsigned)number_of(l, i, "local buffer"))),
                tl_number(l, i)));
            n[out]++;
        }
    ck_assert_uint_eq(n[0], 32);
    ck_assert_uint_eq(n[1], 32);
    unload();
}
END_TEST

/* What the counter of DDR shows over the whole run are the report's bytes, for
 * windows of all lengths; never more than the interface moves. */
START_TEST(traffic_adds_up)
{
    static const struct {
        const char *layer, *more;
    } runs[] = {{"GRN", ""},
                {"GRNDma", ""},
                {"GRN", "--shape in0=1x4x900x64"},
                {"GRNDma", "--shape in0=1x4x2000x64 --shaves 1"},
                {"GRNFloat", "--shape in0=1x16x256x512:f32 --shaves 16"},
                {"GRN", "--shape in0=1x4x32x64 --timing transaction"},
                {"GRNDma", "--shape in0=1x4x32x64 --timing transaction"}};
    double mean, high, bytes;
    const tl_row *ddr;
    json_t *report;

    terminal_run(&p, arena_printf(p.arena,
                                  "run %s/kernels/grn/layer.xml --layer %s %s "
                                  "--param bias=1.0 --quiet --json "
                                  "--trace t.pftrace",
                                  root, runs[_i].layer,
                                  *runs[_i].more ? runs[_i].more
                                                 : "--shape in0=1x4x32x64"));
    ck_assert_msg(!p.status, "%s", p.err);
    report = json_loads(p.out, 0, NULL);
    bytes = (double)json_integer_value(json_object_get(
        json_array_get(json_object_get(report, "stages"), 0), "ddr_bytes"));
    json_decref(report);
    load("t.pftrace");
    ddr = row("DDR bytes/cycle");
    ck_assert(ddr && ddr->counter);
    tl_mean(ddr->counter, 0, tl.end, &mean, &high);
    ck_assert_double_eq_tol(mean * (double)tl.end, bytes, bytes * 1e-3);
    /* ddr_peak_bw at clk_mhz; line by line all of a line comes at once. */
    if (!strstr(runs[_i].more, "transaction"))
        ck_assert_double_le(high, 12.8 / 0.7);
    unload();
}
END_TEST

/* Bytes that a counter of the group "buffers" says; NULL: all of them. */
static double bytes_moved(const char *name)
{
    const tl_row *group = row("buffers");
    double sum = 0, mean, high;

    for (uint32_t i = 0; group && i < tl.n_rows; i++) {
        const tl_row *r = &tl.rows[i];

        if (r->parent != group->uuid || (name && strcmp(r->name, name)))
            continue;
        tl_mean(r->counter, 0, tl.end, &mean, &high);
        sum += mean * (double)tl.end;
    }
    return sum;
}

/* A form with DMA reads each element once and writes each once; a form without
 * reads through the caches, whose lines have tensors at transaction level
 * alone, in whole lines. All together are the bytes of the report. */
START_TEST(tensors_add_up)
{
    static const struct {
        const char *layer, *more;
        double in, out, caches; /* 1: as much as that, 0: none, 2: or more */
    } runs[] = {
        {"GRNDma", "", 1, 1, 0},
        {"GRNDma", "--trace-level groups", 1, 1, 0},
        {"GRNDma", "--timing transaction", 1, 1, 0},
        {"GRN", "", 0, 0, 2},
        {"GRN", "--timing transaction", 2, 2, 0},
    };
    const double bytes = 4 * 32 * 64 * 2;
    double moved;
    json_t *report;

    run(runs[_i].layer,
        arena_printf(p.arena, "--trace t.pftrace --quiet --json %s",
                     runs[_i].more));
    report = json_loads(p.out, 0, NULL);
    moved = (double)json_integer_value(json_object_get(
        json_array_get(json_object_get(report, "stages"), 0), "ddr_bytes"));
    json_decref(report);
    load("t.pftrace");
    ck_assert_double_gt(moved, 0);
    ck_assert_double_eq_tol(bytes_moved(NULL), moved, 0.1);
    if (runs[_i].in < 2) {
        ck_assert_double_eq_tol(bytes_moved("in0 read"), runs[_i].in * bytes,
                                0.1);
        ck_assert_double_eq_tol(bytes_moved("out0 written"),
                                runs[_i].out * bytes, 0.1);
    } else {
        ck_assert_double_ge(bytes_moved("in0 read"), bytes - 0.1);
        ck_assert_double_ge(bytes_moved("out0 written"), bytes - 0.1);
    }
    ck_assert_double_eq_tol(bytes_moved("in0 written"), 0, 0.1);
    if (runs[_i].caches > 1)
        ck_assert_double_ge(bytes_moved("caches read"), bytes - 0.1);
    else
        ck_assert(!row("caches read"));
    ck_assert(!row("others read") && !row("others written"));
    unload();
}
END_TEST

/* A SHAVE's lane of the heat map "local memory" says, over the whole run, what
 * its slices do. */
START_TEST(local_memory_in_use)
{
    const tl_row *heat;

    run(_i ? "GRNDma" : "GRN", "--trace t.pftrace");
    load("t.pftrace");
    heat = row("local memory");
    ck_assert(heat && heat->kind == TL_ROW_HEAT && heat->n_heat == 3);
    for (uint32_t s = 0; s < 3; s++) {
        const tl_counter *c = tl.rows[heat->heat[s]].counter;
        double bytes = 0, mean, high;

        for (uint32_t i = 0; i < tl.n_rows; i++) {
            const tl_row *r = &tl.rows[i];
            const tl_lane *l = r->lanes;

            for (uint64_t k = 0;
                 r->kind == TL_ROW_LOCAL && r->index == s && k < l->n_slices;
                 k++)
                bytes += (double)(tl_length(l, k) * number_of(l, k, "bytes"));
        }
        tl_mean(c, 0, tl.end, &mean, &high);
        ck_assert_double_gt(bytes, 0);
        ck_assert_double_eq_tol(mean * 102400 * (double)tl.end, bytes,
                                bytes * 1e-9);
        ck_assert_double_le(high, 1);
    }
    unload();
}
END_TEST

/* Slack as the trace's tracks have it: of how many groups, least, most. */
static uint32_t slack_of_groups(uint64_t *least, uint64_t *most)
{
    uint32_t n = 0;

    *least = UINT64_MAX;
    *most = 0;
    for (uint32_t i = 0; i < tl.n_rows; i++) {
        const tl_lane *l = tl.rows[i].lanes;

        for (uint64_t k = 0; tl.rows[i].kind == TL_ROW_SLACK && k < l->n_slices;
             k++, n++) {
            tl_arg slack, on;

            ck_assert(tl_slice_arg(&tl, l, k, "slack", &slack));
            ck_assert(tl_slice_arg(&tl, l, k, "on critical path", &on));
            ck_assert(!slack.number || !on.number);
            *least = slack.number < *least ? slack.number : *least;
            *most = slack.number > *most ? slack.number : *most;
        }
    }
    return n;
}

/* The text of the register that an operation of the bundle writes, "i3", is
 * read by another's. */
static bool writes_for(const view_bundle *from, const view_bundle *to)
{
    static const char blanks[] = " ,[]";
    char text[sizeof from->text], *save, *w;

    memcpy(text, from->text, sizeof text);
    for (w = strtok_r(text, blanks, &save); w;
         w = strtok_r(NULL, blanks, &save))
        if ((*w == 'i' || *w == 'v') && w[1] >= '0' && w[1] <= '9') {
            const char *at = to->text;
            size_t n = strlen(w);

            for (; (at = strstr(at, w)); at += n)
                if (!strchr("0123456789", at[n]) || !at[n])
                    return true;
        }
    return false;
}

/* Below their SHAVE, inside the group's phases, numbered; each says what the
 * source says, and what it reads was written by the bundle it names. */
START_TEST(bundles_below_their_shave)
{
    const tl_row *r = NULL;
    const tl_lane *l, *phases;
    uint64_t read = 0, lines = 0;
    uint32_t at = 0;
    view_slice s = {0}, to;
    view_bundle b, from;
    paint_focus f;

    run("GRNDma", _i ? "--profile --trace-bundles 2 --trace t.pftrace"
                     : "--trace-bundles 2 --trace t.pftrace");
    load("t.pftrace");
    for (uint32_t i = 0; i < v.n_rows; i++)
        if (tl.rows[v.rows[i].row].kind == TL_ROW_BUNDLES) {
            ck_assert_msg(!r, "more than one row");
            r = &tl.rows[v.rows[i].row];
            at = i;
        }
    ck_assert(r && at);
    ck_assert_str_eq(r->name, arena_printf(p.arena, "%s bundles",
                                           tl.rows[v.rows[at - 1].row].name));
    l = &r->lanes[0];
    phases = &tl.rows[v.rows[at - 1].row].lanes[0];
    s.row = v.rows[at].row;
    ck_assert_uint_gt(l->n_slices, 100);
    for (s.slice = 0; s.slice < l->n_slices; s.slice++) {
        uint64_t phase;

        ck_assert(view_bundle_of(&v, &s, &b));
        ck_assert_uint_eq(b.number, s.slice);
        ck_assert_uint_eq(b.group, 2);
        ck_assert(b.text[0] && b.place[0]);
        ck_assert(tl_slice_at(phases, tl_begin(l, s.slice), &phase));
        ck_assert_uint_eq(tl_number(phases, phase), 2);
        if (b.reads) {
            ck_assert(view_bundle_find(&v, &s, b.from, &to));
            ck_assert(view_bundle_of(&v, &to, &from));
            ck_assert_msg(writes_for(&from, &b), "%s reads %s", b.text,
                          from.text);
            read++;
        }
        view_select(&v, &s);
        f = paint_focus_of(&v);
        ck_assert(f.phase &&
                  !strcmp(f.phase, tl_text(&tl, tl_name_of(phases, phase))));
        if (!b.line)
            continue;
        lines++;
        ck_assert(f.has_line && f.line.line == b.line &&
                  !strcmp(f.line.file, b.file));
        ck_assert_str_ne(facts_text(&v.facts, b.file, b.line), "");
        if (_i) /* the profile counted the line in that phase */
            ck_assert_uint_gt(
                facts_cost_of(&v.facts, f.stage, f.phase, b.file, b.line)
                    .executions,
                0);
    }
    ck_assert_uint_gt(read, 50);
    ck_assert_uint_gt(lines, 50);
    unload();
}
END_TEST

/* In a terminal: tenths of each column's cycles in which a bundle issues. */
START_TEST(bundles_as_tenths)
{
    enum { COLUMNS = 40, NAME = 26 }; /* columns in front of the cells */
    str text = {0};
    const char *line;
    const tl_row *r;
    uint64_t first, n = 0;

    run("GRN", "--trace-bundles 2 --trace t.pftrace");
    load("t.pftrace");
    r = row("SHAVE 0 bundles");
    ck_assert(r && r->lanes);
    first = tl_begin(&r->lanes[0], 0);
    v.from = (double)first;
    v.to = v.from + 10 * COLUMNS;
    text_timeline(&v, &(text_options){.columns = NAME + COLUMNS, .title = "t"},
                  &text);
    line = strstr(str_text(&text), "SHAVE 0 bundles");
    ck_assert_ptr_nonnull(line);
    line = strchr(line, '|') + 1;
    for (uint64_t i = 0; i < COLUMNS; i++) {
        uint64_t issued = 0;

        for (uint64_t k = 0; k < r->lanes[0].n_slices; k++)
            if (tl_begin(&r->lanes[0], k) < first + 10 * (i + 1) &&
                tl_begin(&r->lanes[0], k) >= first + 10 * i)
                issued += tl_length(&r->lanes[0], k);
        ck_assert_int_eq(line[i], issued == 0  ? ' '
                                  : issued > 9 ? '9'
                                               : (char)('0' + issued));
        n += issued;
    }
    ck_assert_uint_gt(n, 100);
    str_free(&text);
    unload();
}
END_TEST

/* The list of bundles by key and mouse. */
START_TEST(bundles_by_key_and_mouse)
{
    static control k;
    view_slice s, was;
    view_bundle b;

    run("GRN", "--trace-bundles 2 --trace t.pftrace");
    load("t.pftrace");
    control_init(&k, &v, "t", NULL, NULL);
    control_resize(&k, 1400, 800);
    ck_assert(control_key(&k, 'b', 0) && k.shows == PANEL_PIPELINE);
    ck_assert(control_key(&k, KEY_DOWN, 0) && v.has_selection);
    ck_assert(view_bundle_of(&v, &v.selection, &b));
    v.selection.slice = 100;
    was = v.selection;
    ck_assert(control_key(&k, KEY_DOWN, 0));
    ck_assert_uint_eq(v.selection.slice, was.slice + 1);
    ck_assert(control_key(&k, KEY_UP, 0) && control_key(&k, KEY_UP, 0));
    ck_assert_uint_eq(v.selection.slice, was.slice - 1);
    /* Each line of the list is the next bundle; a click selects it. */
    s = (view_slice){0};
    for (double y = 0, n = 0; y < 800; y += 1) {
        view_slice here;

        if (!paint_bundle_at(&k.pages[0], y, &here))
            continue;
        ck_assert(here.row == was.row);
        ck_assert(!n || here.slice == s.slice || here.slice == s.slice + 1);
        s = here;
        n++;
    }
    ck_assert_uint_gt(s.slice, was.slice + 5);
    for (double y = 799; y > 0; y -= 1)
        if (paint_bundle_at(&k.pages[0], y, &s)) {
            control_press(&k, 1300, y, 1, 1, 0);
            control_release(&k, 1300, y);
            break;
        }
    ck_assert_uint_eq(v.selection.slice, s.slice);
    ck_assert(tl_begin(&tl.rows[s.row].lanes[0], s.slice) < v.to);
    /* The wheel goes along, and stays in the list. */
    control_motion(&k, 1300, 400);
    was = v.selection;
    ck_assert(control_wheel(&k, 0, 1, 0));
    ck_assert_uint_eq(v.selection.slice, was.slice - 3);
    for (int i = 0; i < 60; i++)
        control_wheel(&k, 0, 8, 0);
    ck_assert_uint_eq(v.selection.slice, 0);
    /* i goes to what it reads. */
    while (view_bundle_of(&v, &v.selection, &b) && !b.reads)
        control_key(&k, KEY_DOWN, 0);
    ck_assert(control_key(&k, 'i', 0));
    ck_assert(view_bundle_of(&v, &v.selection, &b));
    was = v.selection;
    /* Its line, and back. */
    while (view_bundle_of(&v, &v.selection, &b) && !b.line)
        control_key(&k, KEY_DOWN, 0);
    ck_assert(control_key(&k, 'l', 0) && k.shows == PANEL_SOURCE);
    ck_assert(control_key(&k, '.', 0) && v.line == b.line);
    ck_assert_str_eq(v.line_file, b.file);
    ck_assert(control_key(&k, 'b', 0) && control_key(&k, 'b', 0));
    ck_assert(k.shows == PANEL_FIGURES);
    /* Now the keys are for rows again. */
    ck_assert(control_key(&k, KEY_UP, 0) && v.selection.row != was.row);
    unload();
}
END_TEST

static uint64_t reported(const json_t *path, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(path, key));
}

/* The path's row and the groups' slack are what the report says, which is a
 * replay, at every level; a phase shows that of its group. */
START_TEST(the_path_is_the_report_s)
{
    static const char *const levels[] = {"full", "groups", "summary"};
    const char *layer = _i % 2 ? "GRNDma" : "GRN", *level = levels[_i / 2];
    uint64_t sums[TL_N_CLASSES], least, most, all = 0;
    const json_t *path, *kinds;
    view_slack slack;
    const tl_row *lane;
    view_slice s;
    json_t *report;
    uint32_t n;

    run(layer, arena_printf(p.arena,
                            "--quiet --json --trace-level %s --trace t.pftrace",
                            level));
    report = json_loads(p.out, 0, NULL);
    path = json_object_get(json_array_get(json_object_get(report, "stages"), 0),
                           "critical_path");
    kinds = json_object_get(path, "cycles_by_kind");
    load("t.pftrace");
    lane = row("critical path");
    ck_assert(lane && lane->kind == TL_ROW_PATH && lane->n_lanes == 2);
    tl_sums(&tl, &lane->lanes[1], 0, tl.end, sums);
    for (int c = 0; c < TL_OTHER; c++)
        all += sums[c];
    ck_assert_uint_eq(all, tl.end);
    for (int c = 0; c < TL_DMA_WAIT; c++)
        ck_assert_uint_eq(sums[c], reported(kinds, tl_class_name((tl_class)c)));
    ck_assert_uint_eq(sums[TL_DMA_WAIT] + sums[TL_IN] + sums[TL_OUT],
                      reported(kinds, "transfers") +
                          reported(kinds, "busy channels"));
    n = slack_of_groups(&least, &most);
    if (!strcmp(level, "summary")) {
        ck_assert_uint_eq(n, 0);
        ck_assert_uint_eq(v.facts.n_path, 0);
    } else {
        ck_assert_uint_eq(n, 32);
        ck_assert_uint_eq(least, reported(path, "group_slack_least"));
        ck_assert_uint_eq(most, reported(path, "group_slack_most"));
        ck_assert_uint_gt(v.facts.n_path, 0);
        ck_assert(view_search(&v, "comp 17", 1, &s));
        ck_assert(view_slack_of(&v, &s, &slack) && slack.slack <= most);
    }
    json_decref(report);
    unload();
}
END_TEST

START_TEST(refusals)
{
    static const char *const bad[] = {
        "view a.pftrace --compare-view both", "view a.pftrace --panel changes",
        "view a.pftrace --panel none",
        "view a.pftrace --compare a.pftrace --compare-view c",
        "view a.pftrace --follow --png x.png"};

    run("GRN", "--trace a.pftrace");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        terminal_run(&p, bad[i]);
        ck_assert_int_eq(p.status, 2);
    }
    /* One track without a clock of ours: uuid 7, an instant at 5. */
    terminal_file(&p, "foreign.pftrace",
                  "\x0a\x08\x40\x05\x5a\x04\x48\x03\x58\x07", 10);
    terminal_run(&p, "view foreign.pftrace --unit cycles --png x.png");
    ck_assert_int_eq(p.status, 2);
    ck_assert_msg(strstr(p.err, "no clock to count cycles"), "%s", p.err);
    terminal_run(&p, "view foreign.pftrace --unit ns --png x.png");
    ck_assert_msg(!p.status, "%s", p.err);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("run_trace");
    TCase *tc = tcase_create("run_trace");
    SRunner *sr = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, double_buffers_hold_a_group_each);
    tcase_add_loop_test(tc, groups_leave_no_time_out, 0, 2);
    tcase_add_test(tc, lines_cost_what_the_profile_says);
    tcase_add_test(tc, lines_as_they_can_be_shown);
    tcase_add_test(tc, host_work_only_when_asked_for);
    tcase_add_loop_test(tc, transfers_say_what_they_move, 0, 2);
    tcase_add_loop_test(tc, traffic_adds_up, 0, 7);
    tcase_add_loop_test(tc, tensors_add_up, 0, 5);
    tcase_add_loop_test(tc, local_memory_in_use, 0, 2);
    tcase_add_loop_test(tc, bundles_below_their_shave, 0, 2);
    tcase_add_test(tc, bundles_as_tenths);
    tcase_add_test(tc, bundles_by_key_and_mouse);
    tcase_add_loop_test(tc, the_path_is_the_report_s, 0, 6);
    tcase_add_test(tc, refusals);
    suite_add_tcase(s, tc);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
