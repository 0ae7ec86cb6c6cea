/* The list of traces that `vpu view` opens, through the keys and the mouse of
 * the control, without a window; a reading that is watched and ended early. */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/trace/writer.h"
#include "tests/support/terminal.h"
#include "visualizer/control.h"
#include "visualizer/load.h"
#include "visualizer/state.h"

static terminal p;
static chooser list;
static control k;
static tl_timeline tl;
static view v;

/* A file of this size, changed at that second. */
static void put(const char *name, size_t bytes, time_t changed)
{
    char *data = arena_push(p.arena, bytes + 1, 1, 1);
    const char *path = arena_printf(p.arena, "%s/%s", p.dir, name);
    struct timespec times[2] = {{.tv_sec = changed}, {.tv_sec = changed}};

    terminal_file(&p, name, data, bytes);
    ck_assert(!utimensat(AT_FDCWD, path, times, 0));
}

static void folder(const char *name)
{
    ck_assert(!mkdir(arena_printf(p.arena, "%s/%s", p.dir, name), 0700));
}

static void setup(void)
{
    vpu_error err;
    const char *dir;

    terminal_open(&p);
    folder("traces");
    folder("traces/older runs");
    put("traces/first.pftrace", 2048, 1000);
    put("traces/second run.pftrace", 10, 3000);
    put("traces/third.perfetto-trace", 10, 2000);
    put("traces/notes.txt", 10, 4000);
    put("traces/.hidden.pftrace", 10, 5000);
    put("traces/older runs/old.pftrace", 10, 10);
    dir = arena_printf(p.arena, "%s/traces", p.dir);
    ck_assert(!tl_init(&tl, &err));
    tl_finish(&tl);
    ck_assert(!view_init(&v, &tl, &err)); /* of nothing at all */
    control_init(&k, &v, "none", NULL, "");
    list = (chooser){0};
    k.choose = &list;
    chooser_open(&list, dir, NULL, 0);
}

static void teardown(void)
{
    chooser_close(&list);
    view_free(&v);
    tl_free(&tl);
    terminal_close(&p);
}

/* Names as listed, with commas between. */
static const char *listed(void)
{
    str s = {.arena = p.arena};

    for (uint32_t i = 0; i < list.n_shown; i++)
        str_printf(&s, "%s%s", i ? ", " : "", list.entries[list.shown[i]].name);
    return str_text(&s);
}

static const char *at(void)
{
    return list.entries[list.shown[list.at]].name;
}

static void expect_chosen(const char *name)
{
    const char *want = arena_printf(p.arena, "%s/%s", p.dir, name);
    char *got = list.chosen ? realpath(list.chosen, NULL) : NULL;
    char *whole = realpath(want, NULL);

    ck_assert_msg(got && whole && !strcmp(got, whole), "%s, not %s",
                  list.chosen ? list.chosen : "nothing", want);
    free(got);
    free(whole);
    list.chosen = NULL;
}

/* Folders by name, traces by age; nothing else, nothing hidden. */
START_TEST(order)
{
    ck_assert_str_eq(listed(), ".., older runs, second run.pftrace, "
                               "third.perfetto-trace, first.pftrace");
    ck_assert_str_eq(at(), "older runs"); /* not the folder above */
}
END_TEST

START_TEST(keys)
{
    control_key(&k, KEY_DOWN, 0);
    ck_assert_str_eq(at(), "second run.pftrace");
    control_key(&k, KEY_PAGE_DOWN, 0);
    ck_assert_str_eq(at(), "first.pftrace");
    control_key(&k, KEY_DOWN, 0);
    ck_assert_str_eq(at(), "first.pftrace");
    control_key(&k, KEY_HOME, 0);
    ck_assert_str_eq(at(), "..");
    control_key(&k, KEY_DOWN, 0);
    control_key(&k, KEY_ENTER, 0); /* the folder */
    ck_assert_str_eq(listed(), ".., old.pftrace");
    control_key(&k, KEY_ENTER, 0);
    expect_chosen("traces/older runs/old.pftrace");
    control_key(&k, KEY_BACKSPACE, 0); /* the folder above */
    ck_assert_uint_eq(list.n_shown, 5);
}
END_TEST

START_TEST(filter)
{
    control_text(&k, "RUN");
    ck_assert_str_eq(listed(), "older runs, second run.pftrace");
    control_text(&k, " sec");
    ck_assert_str_eq(listed(), "second run.pftrace");
    control_text(&k, "\xc3\xa4"); /* one character */
    ck_assert_uint_eq(list.n_shown, 0);
    control_key(&k, KEY_ENTER, 0);
    ck_assert_ptr_null(list.chosen);
    control_key(&k, KEY_BACKSPACE, 0);
    ck_assert_str_eq(listed(), "second run.pftrace");
    control_key(&k, KEY_ENTER, 0);
    expect_chosen("traces/second run.pftrace");
    control_key(&k, KEY_ESCAPE, 0);
    ck_assert_uint_eq(list.n_shown, 5);
    ck_assert(control_chooses(&k));
    control_key(&k, KEY_ESCAPE, 0);
    ck_assert(!control_chooses(&k));
}
END_TEST

START_TEST(paths)
{
    control_text(&k, arena_printf(p.arena, "%s/traces/notes.txt", p.dir));
    control_key(&k, KEY_ENTER, 0);
    expect_chosen("traces/notes.txt"); /* the reader says what it is */
    control_key(&k, KEY_ESCAPE, 0);
    control_text(&k, "/no/such/file");
    control_key(&k, KEY_ENTER, 0);
    ck_assert_ptr_null(list.chosen);
    ck_assert_msg(strstr(list.message, "/no/such/file: No such file") != NULL,
                  "%s", list.message);
    chooser_open(&list, "/no/such/folder", NULL, 0);
    ck_assert_msg(strstr(list.message, "No such file") != NULL, "%s",
                  list.message);
    /* There is no end to what may be typed but this one. */
    control_key(&k, KEY_ESCAPE, 0);
    chooser_open(&list, p.dir, NULL, 0);
    for (int i = 0; i < 2 * CHOOSER_TEXT; i++)
        control_text(&k, "x");
    ck_assert_uint_eq(strlen(list.typed), CHOOSER_TEXT - 1);
}
END_TEST

START_TEST(recent)
{
    const char *before[] = {
        arena_printf(p.arena, "%s/traces/older runs/old.pftrace", p.dir),
        "/gone/away.pftrace"};

    chooser_open(&list, arena_printf(p.arena, "%s/traces", p.dir), before, 2);
    ck_assert_str_eq(at(), before[0]);
    ck_assert_uint_eq(list.n_shown, 6); /* that one is not there */
    control_key(&k, KEY_ENTER, 0);
    expect_chosen("traces/older runs/old.pftrace");
}
END_TEST

/* A path is remembered once, the last one first, VIEWER_RECENT of them. */
START_TEST(remembered)
{
    size_t n;
    const char *const *all;
    char *first;

    setenv("XDG_STATE_HOME", p.dir, 1);
    ck_assert_uint_eq((viewer_state_recent(p.arena, &n), n), 0);
    for (int i = 0; i < VIEWER_RECENT + 3; i++) {
        const char *name = arena_printf(p.arena, "t%d.pftrace", i);

        put(name, 1, 1);
        viewer_state_opened(arena_printf(p.arena, "%s/%s", p.dir, name));
    }
    viewer_state_opened(arena_printf(p.arena, "%s/t9.pftrace", p.dir));
    all = viewer_state_recent(p.arena, &n);
    ck_assert_uint_eq(n, VIEWER_RECENT);
    first = realpath(arena_printf(p.arena, "%s/t9.pftrace", p.dir), NULL);
    ck_assert_str_eq(all[0], first);
    for (size_t i = 1; i < n; i++)
        ck_assert_str_ne(all[i], first);
    free(first);
}
END_TEST

START_TEST(mouse)
{
    cv_canvas c;
    cv_font_set *fonts;
    vpu_error err;
    str out = {0};
    double y;

    ck_assert_msg(!cv_fonts_open(1, &fonts, &err), "%s", err.msg);
    cv_svg(&c, fonts, k.width, k.height, &out);
    control_paint(&k, &c);
    cv_svg_end(&c);
    ck_assert(strstr(str_text(&out), "second run.pftrace") != NULL);
    ck_assert(strstr(str_text(&out), "2.0 KiB") != NULL);
    y = list.list.y + list.list.h / list.n_fit * 4.5; /* the fifth line */
    ck_assert(control_press(&k, list.list.x + 5, y, 1, 1, 0));
    ck_assert_str_eq(at(), "first.pftrace");
    ck_assert_ptr_null(list.chosen);
    ck_assert(control_press(&k, list.list.x + 5, y, 1, 2, 0));
    expect_chosen("traces/first.pftrace");
    /* Below the last one, and beside the list: nothing. */
    ck_assert(!control_press(&k, list.list.x + 5, list.list.y + list.list.h - 1,
                             1, 2, 0));
    ck_assert(!control_press(&k, 1, 1, 1, 2, 0));
    ck_assert_ptr_null(list.chosen);
    str_free(&out);
    cv_fonts_close(fonts);
}
END_TEST

/* While the list is there letters are its own; without one, `o` means nothing.
 */
START_TEST(commands)
{
    control_text(&k, "q");
    ck_assert(!k.quit);
    chooser_close(&list);
    ck_assert(control_key(&k, 'o', 0));
    ck_assert(k.wants_choice);
    k.wants_choice = false;
    k.choose = NULL;
    ck_assert(!control_key(&k, 'o', 0));
    ck_assert(!k.wants_choice);
    k.loading = "1 million events";
    ck_assert(control_key(&k, KEY_ESCAPE, 0));
    ck_assert(k.stop_loading);
}
END_TEST

/* Keys on a trace of nothing. */
START_TEST(empty)
{
    chooser_close(&list);
    for (uint32_t key = ' '; key < 127; key++)
        control_key(&k, key, 0);
    for (uint32_t key = KEY_LEFT; key <= KEY_ESCAPE; key++)
        control_key(&k, key, 0);
    control_press(&k, 300, 200, 1, 1, 0);
    control_motion(&k, 400, 200);
    control_release(&k, 400, 200);
    control_wheel(&k, 0, 3, 0);
}
END_TEST

/* Told to stop, the reader keeps what it has. */
START_TEST(watched)
{
    enum { N = 20000 };
    const char *path = arena_printf(p.arena, "%s/long.pftrace", p.dir);
    load_watch watch = {0};
    tl_timeline whole, part;
    trc_writer *w;
    trc_track lane;
    vpu_error err;

    ck_assert(!trc_writer_create(NULL, &w, &err));
    ck_assert(!trc_writer_add(w, TRC_PERFETTO, path, &err));
    lane = trc_track_slices(w, trc_track_group(w, 0, "device"), "SHAVE 0",
                            TRC_CYCLES);
    for (uint64_t i = 0; i < N; i++)
        trc_slice(w, lane, 2 * i, 2 * i + 1, &(trc_event){.name = "issue"});
    ck_assert(!trc_writer_commit(w, &err));
    ck_assert(!load_file_watched(path, &watch, &whole, &err));
    ck_assert_uint_ge(watch.events, N);
    ck_assert_str_eq(whole.partial, "");
    watch.stop = true;
    ck_assert(!load_file_watched(path, &watch, &part, &err));
    ck_assert_uint_gt(part.n_events, 0);
    ck_assert_uint_lt(part.n_events, whole.n_events);
    ck_assert_msg(strstr(part.partial, "stopped after") != NULL, "%s",
                  part.partial);
    tl_free(&whole);
    tl_free(&part);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("chooser");
    TCase *t = tcase_create("chooser");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, order);
    tcase_add_test(t, keys);
    tcase_add_test(t, filter);
    tcase_add_test(t, paths);
    tcase_add_test(t, recent);
    tcase_add_test(t, remembered);
    tcase_add_test(t, mouse);
    tcase_add_test(t, commands);
    tcase_add_test(t, empty);
    tcase_add_test(t, watched);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
