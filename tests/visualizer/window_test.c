/* A real window, real keys and mouse: zoom, select, search, measure, source,
 * export, compare. Each step's screen is compared with a reference picture
 * (make window-references writes them anew; look at them then).
 *
 * The traces are written here, so nothing but the viewer can change what is
 * seen. A step waits until its picture is there; every reference differs from
 * the one before, so a key without effect fails. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/trace/writer.h"
#include "tests/support/terminal.h"
#include "tests/visualizer/screen.h"
#include "visualizer/display.h"
#include "visualizer/load.h"

static terminal p;
static screen s;
static small_picture last;

/* --- traces -------------------------------------------------------------- */

enum { N_SHAVES = 4, N_GROUPS = 6 };

static void add_group(trc_writer *w, trc_track shave, uint64_t t, uint64_t id,
                      uint64_t issue, uint64_t stall)
{
    trc_arg args[] = {TRC_UINT("group", id), TRC_TEXT("launch", "norm"),
                      TRC_UINT("local bytes", 65536)};

    trc_begin(w, shave, t,
              &(trc_event){.name = "comp",
                           .numbered = true,
                           .number = id,
                           .args = args,
                           .n_args = 3});
    trc_slice(w, shave, t, t + issue, &(trc_event){.name = "issue"});
    trc_slice(w, shave, t + issue, t + issue + stall,
              &(trc_event){.name = "DDR stall"});
    trc_end(w, shave, t + issue + stall, NULL, 0);
}

static void add_source(trc_writer *w, trc_track source)
{
    static const char *const lines[] = {"__kernel void norm(__global half *x)",
                                        "{",
                                        "    float sum = 0;",
                                        "    for (int i = 0; i < 64; i++)",
                                        "        sum += x[i];",
                                        "    x[64] = sum;",
                                        "}"};

    for (uint64_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        trc_arg text[] = {TRC_TEXT("file", "norm.cl"), TRC_UINT("line", i + 1),
                          TRC_TEXT("text", lines[i])};

        trc_instant(w, source, 0,
                    &(trc_event){.name = "text", .args = text, .n_args = 3});
    }
    for (uint64_t i = 4; i < 7; i++) {
        trc_arg cost[] = {TRC_TEXT("stage", "norm"),
                          TRC_TEXT("file", "norm.cl"),
                          TRC_UINT("line", i),
                          TRC_TEXT("phase", "comp"),
                          TRC_UINT("executions", 64),
                          TRC_UINT("issue", 900 * i),
                          TRC_UINT("DDR stall", i == 5 ? 9000 : 0)};

        trc_instant(w, source, 0,
                    &(trc_event){.name = "cost", .args = cost, .n_args = 7});
    }
}

/* All groups of the last SHAVE. */
static void add_path(trc_writer *w, trc_track device)
{
    trc_track lane = trc_track_slices(w, device, "critical path", TRC_CYCLES);
    uint64_t t = 0, shave = N_SHAVES - 1;

    for (uint64_t k = 0; k < N_GROUPS; k++) {
        uint64_t end = 200 * shave + (1750 + 50 * shave) * (k + 1);
        trc_arg args[] = {TRC_UINT("shave", shave), TRC_UINT("issue", 800)};

        trc_slice(w, lane, t, end,
                  &(trc_event){.name = "SHAVE 3 group",
                               .numbered = true,
                               .number = shave * N_GROUPS + k,
                               .args = args,
                               .n_args = 2});
        t = end;
    }
}

/* Four operations on four lines, again and again; SHAVE 1 has work-group 8 from
 * cycle 3800 on, and waits for DDR in the middle. */
static void add_bundles(trc_writer *w, trc_track device)
{
    static const struct {
        const char *name, *unit, *text;
        uint64_t line, latency, waited, reads;
    } ops[] = {{"ld.u16.global", "LSU0", "ld.u16.global i1, [i2]", 5, 7, 0, 1},
               {"iadd", "IAU", "iadd i2, i2, 2", 4, 1, 0, 4},
               {"vfmul32", "VAU", "vfmul32 v1, v1, i1", 5, 3, 5, 2},
               {"bra", "BRU", "bra block[1]", 4, 1, 2, 3}};
    trc_track row = trc_track_slices(w, device, "SHAVE 1 bundles", TRC_CYCLES);
    uint64_t cycle = 0;

    for (uint64_t i = 0; i < 60; i++, cycle++) {
        uint64_t k = i % 4, stall = i >= 30 ? 200 : 0;
        trc_arg args[] = {TRC_TEXT(ops[k].unit, ops[k].text),
                          TRC_UINT("bundle", i),
                          TRC_UINT("group", 8),
                          TRC_UINT("issue cycle", cycle += ops[k].waited),
                          TRC_TEXT("place", "1.7"),
                          TRC_TEXT("file", "norm.cl"),
                          TRC_UINT("line", ops[k].line),
                          TRC_UINT("latency", ops[k].latency),
                          TRC_UINT("waited", ops[k].waited),
                          TRC_UINT("reads", i < 4 ? 0 : i - ops[k].reads),
                          TRC_TEXT("because", "waits for i1 (ld at 0, 7)"),
                          TRC_UINT("DDR stall", 200)};

        trc_slice(w, row, 3800 + cycle + stall, 3801 + cycle + stall,
                  &(trc_event){.name = ops[k].name,
                               .args = args,
                               .n_args = i == 30 ? 12 : 11});
    }
}

typedef struct {
    bool slow; /* one group waits longer than in the other trace */
    bool path; /* it is told */
    bool advice;
    bool bundles; /* of work-group 8 */
} trace_form;

/* Two findings of the stage, the first with a line. */
static void add_advice(trc_writer *w)
{
    trc_track track = trc_track_slices(w, trc_track_group(w, 0, "vpusim"),
                                       "advice", TRC_CYCLES);

    for (uint64_t i = 1; i <= 2; i++) {
        trc_arg args[] = {
            TRC_UINT("rank", i),
            TRC_TEXT("stage", "norm"),
            TRC_TEXT("rule", i == 1 ? "dma-form" : "work-groups"),
            TRC_TEXT("file", i == 1 ? "norm.cl" : ""),
            TRC_UINT("line", i == 1 ? 5 : 0),
            TRC_TEXT("cause", i == 1 ? "DDR stall" : "issue"),
            TRC_UINT("cycles", 12000),
            TRC_UINT("estimate", 6000 * i - 1000),
            TRC_TEXT("text", i == 1 ? "55 % of the SHAVEs' time waits for "
                                      "loads; copy what a work-group needs by "
                                      "DMA, beside the work on its neighbours"
                                    : "a work-group is short"),
            TRC_TEXT("knob", i == 1 ? "dma-form" : "groups")};

        trc_instant(w, track, 0,
                    &(trc_event){.name = "advice", .args = args, .n_args = 10});
    }
}

static void write_trace(const char *name, trace_form form)
{
    trc_arg stage[] = {
        TRC_TEXT("kernel", "norm"), TRC_UINT("local budget", 102400),
        TRC_UINT("local bytes", 65536), TRC_REAL("DDR capacity", 10)};
    trc_arg bytes = TRC_UINT("bytes", 32768);
    trc_track device, stages, ddr, shave, local;
    trc_writer *w;
    vpu_error err;

    ck_assert(!trc_writer_create(NULL, &w, &err));
    ck_assert(!trc_writer_add(
        w, TRC_PERFETTO, arena_printf(p.arena, "%s/%s", p.dir, name), &err));
    device = trc_track_group(w, 0, "device");
    stages = trc_track_slices(w, device, "stages", TRC_CYCLES);
    trc_slice(w, stages, 0, form.slow ? 14000 : 12000,
              &(trc_event){.name = "norm", .args = stage, .n_args = 4});
    for (uint64_t i = 0; i < N_SHAVES; i++) {
        char text[32];
        uint64_t t = 200 * i;

        snprintf(text, sizeof text, "SHAVE %u", (unsigned)i);
        shave = trc_track_slices(w, device, text, TRC_CYCLES);
        snprintf(text, sizeof text, "SHAVE %u local 0", (unsigned)i);
        local = trc_track_slices(w, device, text, TRC_CYCLES);
        for (uint64_t k = 0; k < N_GROUPS; k++) {
            uint64_t stall =
                900 + 50 * i + (form.slow && i == 1 && k == 2 ? 1600 : 0);

            add_group(w, shave, t, i * N_GROUPS + k, 800, stall);
            trc_slice(w, local, t, t + 800 + stall,
                      &(trc_event){.name = "group",
                                   .numbered = true,
                                   .number = i * N_GROUPS + k,
                                   .args = &bytes,
                                   .n_args = 1});
            t += 850 + stall;
        }
    }
    ddr = trc_track_counter(w, device, "DDR bytes/cycle", TRC_CYCLES,
                            TRC_UNIT_NONE);
    for (uint64_t t = 0; t < 12000; t += 1000)
        trc_count_real(w, ddr, t, t % 3000 ? 10 : 4);
    trc_count_real(w, ddr, 12000, 0);
    add_source(w, trc_track_slices(w, trc_track_group(w, 0, "vpusim"), "source",
                                   TRC_CYCLES));
    if (form.path)
        add_path(w, device);
    if (form.advice)
        add_advice(w);
    if (form.bundles)
        add_bundles(w, device);
    ck_assert(!trc_writer_commit(w, &err));
}

/* --- steps --------------------------------------------------------------- */

static const char *reference(const char *name)
{
    return arena_printf(p.arena, "tests/visualizer/references/%s.png", name);
}

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

/* What is on the screen once it holds still. */
static small_picture settled(void)
{
    small_picture now, before;

    screen_look(&s, &now);
    do {
        before = now;
        pause_ms(400);
        screen_look(&s, &now);
    } while (memcmp(&before, &now, sizeof now) != 0);
    return now;
}

static void expect(const char *name)
{
    small_picture want, got;

    if (getenv("VPU_WRITE_REFERENCES")) {
        got = settled();
        small_save(reference(name), &got);
    }
    ck_assert_msg(small_load(reference(name), &want),
                  "%s: not there, or of another size", reference(name));
    ck_assert_msg(!small_same(&want, &last),
                  "%s cannot be told from the step before", name);
    for (int i = 0; i < 300; i++) {
        screen_look(&s, &got);
        if (small_same(&want, &got)) {
            last = want;
            return;
        }
        pause_ms(50);
    }
    small_save(arena_printf(p.arena, "/tmp/window_test-%s.png", name), &got);
    ck_abort_msg("'%s' does not look like its reference; see "
                 "/tmp/window_test-%s.png",
                 name, name);
}

static void setup(void)
{
    memset(&last, 0, sizeof last);
    terminal_open(&p);
    setenv("XDG_STATE_HOME", p.dir, 1);
    unsetenv("SDL_VIDEODRIVER");
    unsetenv("WAYLAND_DISPLAY");
    /* Under the address sanitizer: what SDL's drivers leave behind cannot be
     * told apart, they are unloaded by then. model_test has our own leaks. */
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    write_trace("before.pftrace", (trace_form){.path = false});
    write_trace("after.pftrace", (trace_form){.slow = true});
    write_trace("path.pftrace", (trace_form){.path = true});
    write_trace("advised.pftrace", (trace_form){.path = true, .advice = true});
    write_trace("bundles.pftrace", (trace_form){.bundles = true});
    screen_open(&s, p.dir);
}

static void teardown(void)
{
    screen_close(&s);
    terminal_close(&p);
}

static void quit(pid_t pid)
{
    screen_do(&s, "key q");
    terminal_wait(&p, pid);
    ck_assert_msg(!p.status, "status %d: %s", p.status, p.err);
}

START_TEST(session_of_one_trace)
{
    pid_t pid = terminal_start(&p, "view before.pftrace --size 1000x640 "
                                   "--theme light --scale 1");
    tl_timeline tl;
    vpu_error err;
    size_t n;
    char *csv;

    screen_focus(&s, "before");
    screen_do(&s, "mousemove 300 600");
    expect("start");
    screen_do(&s, "mousemove 300 200 click 4 click 4 click 4 click 4 click 4");
    screen_do(&s, "mousemove 300 600");
    expect("zoomed");
    screen_do(&s, "mousemove 610 18"); /* a button, what it says */
    expect("button");
    screen_do(&s, "click 1 mousemove 300 600");
    expect("start");
    screen_do(&s, "mousemove 300 128 click 1 mousemove 300 600");
    expect("selected");
    screen_do(&s, "key slash");
    screen_do(&s, "type --delay 30 comp");
    screen_do(&s, "key space 1 4 Return");
    expect("found");
    screen_do(&s, "key Escape");
    screen_do(&s, "mousemove 250 150 keydown shift mousedown 1 "
                  "mousemove 300 150 mousemove 420 150 mouseup 1 "
                  "keyup shift mousemove 300 600");
    expect("measured");
    screen_do(&s, "key l");
    expect("source");
    screen_do(&s, "key e");
    for (int i = 0; i < 100 && !terminal_has(&p, "before-1.csv"); i++)
        pause_ms(50);
    quit(pid);
    ck_assert(terminal_has(&p, "before-1.png"));
    ck_assert(terminal_has(&p, "before-1.svg"));
    ck_assert(!file_read(arena_printf(p.arena, "%s/before-1.csv", p.dir),
                         1 << 20, p.arena, &csv, &n, &err));
    /* The marked area, of SHAVE 1, is in the table, the rest is not. */
    ck_assert(strstr(csv, "\"comp 8\""));
    ck_assert(!strstr(csv, "\"comp 11\""));
    ck_assert(!strstr(csv, "\"comp 2\""));
    ck_assert(!load_file(arena_printf(p.arena, "%s/before.pftrace", p.dir), &tl,
                         &err));
    ck_assert_uint_gt(tl.end, 0);
    tl_free(&tl);
}
END_TEST

/* An area marked by the mouse, the table of its slices sorted, and a click that
 * goes to one. */
START_TEST(session_of_an_area)
{
    pid_t pid = terminal_start(&p, "view before.pftrace --size 1000x640 "
                                   "--theme dark --scale 1");

    screen_focus(&s, "before");
    screen_do(&s, "mousemove 250 92 keydown shift mousedown 1 "
                  "mousemove 300 130 mousemove 420 190 mouseup 1 "
                  "keyup shift mousemove 300 600");
    expect("area");
    screen_do(&s, "key g");
    expect("slices");
    /* The fewest first: the first line is another one, which is gone to. */
    screen_do(&s, "mousemove 668 148 click 1 click 1");
    screen_do(&s, "mousemove 668 172 click 1 mousemove 300 600");
    expect("slices-visited");
    screen_do(&s, "mousemove 780 108 click 1 mousemove 300 600");
    expect("slices-phases");
    quit(pid);
}
END_TEST

START_TEST(session_of_two_traces)
{
    pid_t pid = terminal_start(&p, "view before.pftrace --compare "
                                   "after.pftrace --size 1000x640 --theme "
                                   "light --scale 1");

    screen_focus(&s, "before");
    screen_do(&s, "mousemove 300 600");
    expect("compared");
    screen_do(&s, "key bracketright");
    screen_do(&s, "key bracketright");
    expect("change");
    screen_do(&s, "key v");
    expect("only-a");
    screen_do(&s, "key v");
    expect("only-b");
    screen_do(&s, "key v");
    expect("overlay");
    quit(pid);
}
END_TEST

START_TEST(session_of_a_critical_path)
{
    pid_t pid = terminal_start(&p, "view path.pftrace --size 1000x640 "
                                   "--theme light --scale 1");

    screen_focus(&s, "path");
    screen_do(&s, "mousemove 300 600");
    expect("path");
    screen_do(&s, "key x");
    expect("path-only");
    screen_do(&s, "key x");
    expect("path");
    quit(pid);
}
END_TEST

/* A click on a finding shows its cause alone, its stage and its line; the other
 * finding has none; Escape ends it. */
START_TEST(session_of_advice)
{
    pid_t pid = terminal_start(&p, "view advised.pftrace --size 1000x640 "
                                   "--theme light --scale 1");

    screen_focus(&s, "advised");
    screen_do(&s, "mousemove 300 600 key y");
    expect("advice");
    screen_do(&s, "mousemove 700 130 click 1 mousemove 300 600");
    expect("advice-chosen");
    screen_do(&s, "key braceright mousemove 300 600");
    expect("advice-second");
    screen_do(&s, "key Escape");
    expect("advice");
    quit(pid);
}
END_TEST

/* From the whole trace to a bundle, through the list, to its line, and from
 * another line to its bundles. */
START_TEST(session_of_bundles)
{
    pid_t pid = terminal_start(&p, "view bundles.pftrace --size 1000x640 "
                                   "--theme light --scale 1");

    screen_focus(&s, "bundles");
    screen_do(&s, "mousemove 300 600");
    expect("bundles");
    screen_do(&s, "key slash");
    screen_do(&s, "type --delay 30 vfmul");
    screen_do(&s, "key Return");
    screen_do(&s, "key Return");
    expect("bundle");
    screen_do(&s, "key b");
    expect("pipeline");
    for (int i = 0; i < 28; i++)
        screen_do(&s, "key Down");
    expect("pipeline-down");
    screen_do(&s, "mousemove 800 300 click 1 mousemove 300 600");
    expect("pipeline-click");
    screen_do(&s, "key l");
    expect("bundle-line");
    screen_do(&s, "key comma");
    expect("line-bundles");
    quit(pid);
}
END_TEST

static const char *remembered(void)
{
    vpu_error err;
    char *text;
    size_t n;

    ck_assert_msg(!file_read(arena_printf(p.arena, "%s/vpusim/window", p.dir),
                             1 << 16, p.arena, &text, &n, &err),
                  "%s", err.msg);
    return text;
}

static void view_and_quit(const char *options, const char *keys)
{
    pid_t pid = terminal_start(
        &p, arena_printf(p.arena, "view before.pftrace %s", options));

    screen_focus(&s, "before");
    if (*keys)
        screen_do(&s, keys);
    quit(pid);
}

static void expect_size(const char *options, int width, int height)
{
    pid_t pid = terminal_start(
        &p, arena_printf(p.arena, "view before.pftrace %s", options));
    int w = 0, h = 0;
    FILE *f;

    screen_focus(&s, "before");
    f = popen("xdotool getwindowfocus getwindowgeometry --shell", "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(
        fscanf(f, "WINDOW=%*d X=%*d Y=%*d WIDTH=%d HEIGHT=%d", &w, &h), 2);
    pclose(f);
    quit(pid);
    ck_assert_int_eq(w, width);
    ck_assert_int_eq(h, height);
}

/* Options are for one window; what is chosen in it, for the next one, too; and
 * a size of a larger display is cut to this one. */
START_TEST(what_is_remembered)
{
    const char *first;

    view_and_quit("", "");
    first = remembered();
    view_and_quit("--size 700x500 --scale 2 --theme dark", "");
    ck_assert_str_eq(remembered(), first);
    view_and_quit("--size 700x500 --theme light", "key t");
    ck_assert_str_ne(remembered(), first);
    ck_assert_ptr_nonnull(strstr(remembered(), "dark 1"));
    ck_assert_ptr_null(strstr(remembered(), "700"));
    terminal_text(&p, "vpusim/window", "size 9000 7000\nscale 1\ndark 0\n");
    expect_size("", SCREEN_W, SCREEN_H);
    ck_assert_ptr_nonnull(strstr(remembered(), "size 9000 7000"));
}
END_TEST

/* A million slices, which the window does not wait for. */
static void write_long(void)
{
    trc_track device, shave[2];
    trc_writer *w;
    vpu_error err;

    ck_assert(!trc_writer_create(NULL, &w, &err));
    ck_assert(!trc_writer_add(w, TRC_PERFETTO,
                              arena_printf(p.arena, "%s/long.pftrace", p.dir),
                              &err));
    device = trc_track_group(w, 0, "device");
    for (int i = 0; i < 2; i++)
        shave[i] =
            trc_track_slices(w, device, i ? "SHAVE 1" : "SHAVE 0", TRC_CYCLES);
    for (uint64_t g = 0; g < 250000; g++)
        for (int i = 0; i < 2; i++)
            add_group(w, shave[i], g * 100, g, 40 + (uint64_t)i * 20, 30);
    ck_assert(!trc_writer_commit(w, &err));
}

/* Read beside the window, with the options of the command line; what is no
 * trace ends the window with its reason. */
START_TEST(a_long_trace)
{
    char *junk;
    pid_t pid;

    write_long();
    pid = terminal_start(&p, "view long.pftrace --size 1000x640 --theme light "
                             "--scale 1 --rows SHAVE --panel slices --unit "
                             "cycles --range 1000..9000");
    screen_focus(&s, "long");
    screen_do(&s, "mousemove 300 600");
    expect("long");
    quit(pid);
    junk = calloc(1, 17 << 20);
    ck_assert(junk != NULL);
    terminal_file(&p, "junk.pftrace", junk, 17 << 20);
    free(junk);
    terminal_run(&p, "view junk.pftrace");
    terminal_expect(&p, 2, "junk.pftrace: byte 1");
    terminal_run(&p, "view long.pftrace --text --memory 1M");
    terminal_expect(&p, 0, "");
    ck_assert_ptr_nonnull(strstr(p.out, "the memory given to it is full"));
    terminal_run(&p, "view long.pftrace --select nothing");
    terminal_expect(&p, 2, "--select: nothing holds 'nothing'");
}
END_TEST

static void put_transfer(trc_writer *w, trc_track dma, const char *name,
                         uint64_t group, uint64_t from, uint64_t to)
{
    trc_arg args[] = {TRC_UINT("group", group), TRC_UINT("shave", 0),
                      TRC_UINT("bytes", 4096), TRC_TEXT("tensor", "in0"),
                      TRC_UINT("first element", 2048 * group)};

    trc_slice(w, dma, from, to,
              &(trc_event){.name = name,
                           .numbered = true,
                           .number = group,
                           .args = args,
                           .n_args = 5});
}

/* A work-group that waits for the transfer it asked for, bytes of its tensor,
 * four banks of which one is busy first and another one last. */
static void write_moved(void)
{
    trc_track device, shave, dma, group, bank, traffic;
    trc_arg launch = TRC_TEXT("launch", "norm");
    trc_writer *w;
    vpu_error err;

    ck_assert(!trc_writer_create(NULL, &w, &err));
    ck_assert(!trc_writer_add(w, TRC_PERFETTO,
                              arena_printf(p.arena, "%s/moved.pftrace", p.dir),
                              &err));
    device = trc_track_group(w, 0, "device");
    shave = trc_track_slices(w, device, "SHAVE 0", TRC_CYCLES);
    dma = trc_track_slices(w, device, "DMA 0", TRC_CYCLES);
    trc_begin(w, shave, 0,
              &(trc_event){.name = "pre",
                           .numbered = true,
                           .number = 3,
                           .args = &launch,
                           .n_args = 1});
    trc_slice(w, shave, 0, 100, &(trc_event){.name = "DMA setup"});
    trc_end(w, shave, 100, NULL, 0);
    trc_slice(w, shave, 100, 1000, &(trc_event){.name = "DMA wait"});
    add_group(w, shave, 1000, 3, 600, 200);
    trc_slice(w, shave, 1800, 2000, &(trc_event){.name = "idle"});
    put_transfer(w, dma, "in", 9, 50, 400);
    put_transfer(w, dma, "in", 3, 400, 1000);
    put_transfer(w, dma, "out", 3, 1800, 1950);
    group = trc_track_group(w, device, "DDR banks");
    for (uint64_t b = 0; b < 4; b++) {
        bank = trc_track_counter(w, group,
                                 arena_printf(p.arena, "bank %d", (int)b),
                                 TRC_CYCLES, TRC_UNIT_NONE);
        for (uint64_t t = 0; t < 2000; t += 500)
            trc_count_real(w, bank, t, b == t / 500 ? 0.9 : 0.1);
        trc_count_real(w, bank, 2000, 0);
    }
    group = trc_track_group(w, device, "buffers");
    traffic =
        trc_track_counter(w, group, "in0 read", TRC_CYCLES, TRC_UNIT_NONE);
    trc_count_real(w, traffic, 0, 0);
    trc_count_real(w, traffic, 50, 8);
    trc_count_real(w, traffic, 1000, 0);
    trc_count_real(w, traffic, 2000, 0);
    ck_assert(!trc_writer_commit(w, &err));
}

/* In a small window: from a wait back to the transfer, with arrows; what the
 * transfer moves; a place of the heat map. */
START_TEST(session_of_a_transfer)
{
    pid_t pid;

    write_moved();
    pid = terminal_start(&p, "view moved.pftrace --size 700x420 --theme light "
                             "--scale 1");
    screen_focus(&s, "moved");
    screen_do(&s, "mousemove 300 380");
    expect("moved");
    screen_do(&s, "key slash");
    screen_do(&s, "type --delay 30 comp");
    screen_do(&s, "key Return");
    screen_do(&s, "key Return"); /* and to its size */
    expect("moved-group");
    screen_do(&s, "key i");
    expect("moved-transfer");
    screen_do(&s, "key r");
    screen_do(&s, "type --delay 30 bank");
    screen_do(&s, "key Return");
    expect("moved-banks");
    quit(pid);
}
END_TEST

static void tell_dots(const char *resources)
{
    char *const argv[] = {"xprop",
                          "-root",
                          "-f",
                          "RESOURCE_MANAGER",
                          "8s",
                          "-set",
                          "RESOURCE_MANAGER",
                          (char *)(uintptr_t)resources,
                          NULL};
    int status = -1;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (!pid) {
        execvp("xprop", argv);
        _exit(127);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(!status, "xprop (scripts/deps)");
}

/* A desktop of two pixels for one: the same page at that scale, which is not
 * remembered, since another display may have another one. */
START_TEST(a_dense_display)
{
    pid_t pid;

    ck_assert(display_dots("*color: 1\nXft.dpi:\t120\n") == 120);
    ck_assert(display_dots("Xft.dpi: 7200\n") == 0);
    ck_assert(display_dots("NoXft.dpi: 96\nXft.dpi:") == 0);
    ck_assert(display_dots(NULL) == 0);
    ck_assert(display_scale_of(0) == 1 && display_scale_of(72) == 1);
    ck_assert(display_scale_of(120) == 1.25 && display_scale_of(163) == 1.75);
    ck_assert(display_scale_of(1000) == 4);
    tell_dots("Xft.antialias:\t1\nXft.dpi:\t192\n");
    pid =
        terminal_start(&p, "view before.pftrace --size 1000x640 --theme light");
    screen_focus(&s, "before");
    screen_do(&s, "mousemove 300 600");
    expect("dense");
    quit(pid);
    ck_assert_ptr_null(strstr(remembered(), "scale"));
    pid = terminal_start(&p, "view before.pftrace --size 1000x640 --scale 1 "
                             "--theme light");
    screen_focus(&s, "before");
    screen_do(&s, "mousemove 300 600");
    expect("start");
    quit(pid);
}
END_TEST

/* The first part of a trace under its temporary name, then all of it. */
START_TEST(a_trace_that_grows)
{
    vpu_error err;
    char *data;
    size_t n;
    pid_t pid;

    ck_assert(!file_read(arena_printf(p.arena, "%s/before.pftrace", p.dir),
                         1 << 20, p.arena, &data, &n, &err));
    terminal_file(&p, "live.pftrace.aB3dE6", data, n / 2);
    pid = terminal_start(&p, "view --follow live.pftrace --size 1000x640 "
                             "--theme light --scale 1");
    screen_focus(&s, "live");
    screen_do(&s, "mousemove 300 600");
    expect("live-half");
    terminal_file(&p, "live.pftrace.aB3dE6", data, n);
    expect("live-whole");
    ck_assert(!rename(arena_printf(p.arena, "%s/live.pftrace.aB3dE6", p.dir),
                      arena_printf(p.arena, "%s/live.pftrace", p.dir)));
    quit(pid);
}
END_TEST

/* vpu run --view: the window is there beside the run, whose results come, too;
 * the run ends with the window. */
START_TEST(beside_a_run)
{
    char root[1024];
    pid_t pid;

    ck_assert(getcwd(root, sizeof root) != NULL);
    pid = terminal_start(
        &p, arena_printf(p.arena,
                         "run %s/kernels/grn/layer.xml --layer GRN --view "
                         "--shape in0=1x4x8x16 --param bias=1.0 --input "
                         "0=random:1 --output out",
                         root));
    screen_focus(&s, "live");
    ck_assert(!waitpid(pid, NULL, WNOHANG));
    quit(pid);
    ck_assert(file_exists(arena_printf(p.arena, "%s/out/out0.npy", p.dir)));
}
END_TEST

/* Without a file the window asks; `o` asks again. A file that is no trace is
 * told, and what was shown stays. */
START_TEST(a_list_of_traces)
{
    pid_t pid;
    size_t n;
    const char *recent;

    terminal_text(&p, "wrong.pftrace", "no trace");
    pid = terminal_start(&p, "view --size 1000x640 --theme light --scale 1");
    screen_focus(&s, "vpusim");
    screen_do(&s, "mousemove 300 600");
    screen_do(&s, "type --delay 30 path");
    screen_do(&s, "key Return");
    screen_focus(&s, "path");
    expect("path");
    screen_do(&s, "key o");
    screen_do(&s, "type --delay 30 before");
    screen_do(&s, "key Return");
    screen_focus(&s, "before");
    expect("start");
    screen_do(&s, "key o");
    screen_do(&s, "type --delay 30 wrong");
    screen_do(&s, "key Return");
    pause_ms(500);
    screen_do(&s, "key Escape Escape");
    screen_do(&s, "mousemove 300 128 click 1 mousemove 300 600");
    expect("selected");
    quit(pid);
    recent = terminal_bytes(&p, "vpusim/recent", &n);
    ck_assert_msg(
        strstr(recent, "/before.pftrace\n") &&
            strstr(strstr(recent, "/before.pftrace\n"), "/path.pftrace\n") &&
            !strstr(recent, "wrong"),
        "%s", recent);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("window");
    TCase *tc = tcase_create("window");
    SRunner *sr = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, session_of_one_trace);
    tcase_add_test(tc, session_of_an_area);
    tcase_add_test(tc, session_of_two_traces);
    tcase_add_test(tc, session_of_a_critical_path);
    tcase_add_test(tc, session_of_advice);
    tcase_add_test(tc, session_of_bundles);
    tcase_add_test(tc, a_trace_that_grows);
    tcase_add_test(tc, beside_a_run);
    tcase_add_test(tc, session_of_a_transfer);
    tcase_add_test(tc, a_long_trace);
    tcase_add_test(tc, what_is_remembered);
    tcase_add_test(tc, a_dense_display);
    tcase_add_test(tc, a_list_of_traces);
    suite_add_tcase(suite, tc);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
