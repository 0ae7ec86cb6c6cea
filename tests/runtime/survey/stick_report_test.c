/* vpu stick-report against virtual sticks, good ones and ones with faults: what
 * the file says, what stays when the stick fails, that it ends. */
#include <check.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/terminal.h"

static terminal host, stick;
static pid_t pid; /* of the stick; 0 = it does not run */
static char address[128];
static json_t *report; /* the last one read */

static void setup(void)
{
    terminal_open(&host);
    terminal_open(&stick);
    snprintf(address, sizeof address, "unix:%s/s", stick.dir);
    pid = 0;
    report = NULL;
}

static void teardown(void)
{
    if (pid) {
        kill(pid, SIGKILL);
        terminal_wait(&stick, pid);
    }
    json_decref(report);
    terminal_close(&host);
    terminal_close(&stick);
}

static void start_stick(const char *options)
{
    pid =
        terminal_start(&stick, arena_printf(stick.arena, "stick --listen %s %s",
                                            address, options));
    for (int i = 0; i < 500 && !terminal_has(&stick, "s"); i++)
        usleep(10000);
    ck_assert(terminal_has(&stick, "s"));
}

static void read_report(void)
{
    report = json_load_file(arena_printf(host.arena, "%s/r.json", host.dir), 0,
                            NULL);
    ck_assert_msg(report != NULL, "%s%s", host.err, host.out);
}

static void survey(const char *options)
{
    terminal_run(&host, arena_printf(host.arena,
                                     "stick-report usb:%s --to r.json "
                                     "%s",
                                     address, options));
    read_report();
}

/* A member of the entry of that id. */
static const char *of(const char *id, const char *member)
{
    const json_t *e;
    size_t i;

    json_array_foreach(
        json_object_get(report, "entries"), i,
        e) if (!strcmp(json_string_value(json_object_get(e, "id")),
                       id)) return json_string_value(json_object_get(e,
                                                                     member));
    ck_abort_msg("no entry '%s'", id);
}

static unsigned count(const char *session, const char *verdict)
{
    const json_t *e;
    unsigned n = 0;
    size_t i;

    json_array_foreach(json_object_get(report, "entries"), i, e) n +=
        (!session ||
         !strcmp(json_string_value(json_object_get(e, "session")), session)) &&
        !strcmp(json_string_value(json_object_get(e, "verdict")), verdict);
    return n;
}

/* What docs/usb.md says the virtual stick does. */
static const struct {
    const char *id, *verdict, *seen; /* the last: its beginning */
} facts[] = {
    {"link_first_id", "agrees", "10"},
    {"link_streams", "agrees", "none"},
    {"link_acks", "agrees", ""},
    {"device_capabilities", "agrees", "10 graphs, 20 FIFOs, 507510776 bytes"},
    {"device_executors", "agrees", "4"},
    {"device_firmware", "agrees", "444c4454 2480 0 0"},
    {"device_thermal", "agrees", "0, 45; words 00000000 42340000 00000000"},
    /* 8x256x256 halves, then 3x5x7, the latter at a multiple of 64 */
    {"graph_descriptors", "agrees", "in 1, 1, 1048786, 1, 1048786; out 1, 1, "},
    {"graph_trigger", "agrees", ""},
    {"graph_order", "agrees", "in order, each its inputs' copy"},
    {"graph_times", "agrees", ""},
    {"create_same", "agrees", "flags 1, "},
    {"create_larger", "agrees", "flags 40, stream 3735936685"},
    {"verify_magic", "agrees", "9, "},
    {"verify_version", "agrees", "3, "},
    {"allocate_stage", "agrees", "3 packets, 3"},
    {"watchdog_time", "noted", "still there after 1."},
    {"usb_unbooted", "not applicable", NULL},
    {"boot_zlp", "not applicable", NULL}};
enum { N_FACTS = sizeof facts / sizeof *facts };

START_TEST(a_good_stick)
{
    static const char *const layouts[] = {"A", "B", "C"};

    start_stick(arena_printf(host.arena, "--xlink %s", layouts[_i]));
    survey(arena_printf(host.arena, "--xlink %s --watchdog 1", layouts[_i]));
    ck_assert_msg(host.status == 0, "%s%s", host.err, host.out);
    ck_assert_str_eq(json_string_value(json_object_get(report, "layout")),
                     layouts[_i]);
    for (int i = 0; i < N_FACTS; i++) {
        const char *seen = of(facts[i].id, "seen");

        ck_assert_msg(!strcmp(of(facts[i].id, "verdict"), facts[i].verdict),
                      "%s: %s, %s", facts[i].id, of(facts[i].id, "verdict"),
                      seen);
        if (facts[i].seen)
            ck_assert_msg(!strncmp(seen, facts[i].seen, strlen(facts[i].seen)),
                          "%s: %s", facts[i].id, seen);
        else
            ck_assert(!seen && of(facts[i].id, "why"));
    }
    ck_assert_uint_eq(count(NULL, "differs"), 0);
    ck_assert_uint_eq(count(NULL, "no answer"), 0);
    ck_assert(strstr(host.out, "0 differ"));
    kill(pid, SIGTERM);
    terminal_wait(&stick, pid);
    pid = 0;
    ck_assert_int_eq(stick.status, 0);
    ck_assert_msg(strstr(stick.err, "reset by the host"), "%s", stick.err);
    ck_assert_msg(!strstr(stick.err, "gone"), "%s", stick.err);
}
END_TEST

/* The time-out (7) or the watchdog (2) ends it, whichever is first. */
enum { NO_ANSWER = -1 };

/* A fault, an entry it changes, how, and one that is answered all the same. */
static const struct {
    const char *fault;
    int status;
    const char *id, *verdict, *text, *other;
} faulty[] = {
    {"verify-status:7", 1, "verify_magic", "differs", "7, ", "create_same"},
    {"trigger-status:9", 1, "graph_trigger", "no answer",
     "TRIGGER: the stick answered 9", "create_same"},
    {"capabilities-size:36", 2, "device_capabilities", "no answer", "36 bytes",
     NULL},
    {"no-result:1", 1, "graph_order", "no answer", "the output",
     "device_thermal"},
    {"fit-status:10", 1, "graph_descriptors", "no answer", "10, out of memory",
     "create_same"},
    {"create-too-big:4", 1, "graph_order", "no answer", "refused",
     "device_capabilities"},
    {"result-size:8", 1, "graph_order", "no answer", "8 bytes",
     "graph_descriptors"},
    {"vanish:6000", 1, "graph_order", "no answer", "", "device_capabilities"},
    {"stall:3000", 1, "graph_order", "no answer", "", "device_capabilities"},
    {"no-release:6", 1, "graph_order", "no answer", "", "device_capabilities"},
    {"no-reset", 1, "reset_answer", "no answer", "RESET", "graph_order"},
    {"corrupt-header:30", 1, "graph_order", "no answer", "",
     "device_capabilities"},
    {"write-no-ack:1", NO_ANSWER, "graph_order", "no answer", "", NULL}};
enum { N_FAULTY = sizeof faulty / sizeof *faulty };

START_TEST(a_faulty_stick)
{
    const char *id = faulty[_i].id, *text;
    time_t start = time(NULL);

    start_stick(
        arena_printf(host.arena, "--xlink C --fault %s", faulty[_i].fault));
    survey("--xlink C --watchdog 1 --timeout 4");
    ck_assert_int_lt(time(NULL) - start, 40);
    ck_assert_msg(host.status == faulty[_i].status ||
                      (faulty[_i].status == NO_ANSWER &&
                       (host.status == 2 || host.status == 7)),
                  "status %d\n%.1000s%.500s", host.status, host.err, host.out);
    ck_assert_msg(!strcmp(of(id, "verdict"), faulty[_i].verdict), "%s: %s", id,
                  of(id, "verdict"));
    text = of(id, strcmp(faulty[_i].verdict, "differs") ? "why" : "seen");
    ck_assert_msg(text && strstr(text, faulty[_i].text), "%s: %s", id, text);
    if (faulty[_i].other)
        ck_assert_msg(of(faulty[_i].other, "seen") != NULL, "%s: %s",
                      faulty[_i].other, of(faulty[_i].other, "why"));
}
END_TEST

/* What was answered stays; each of the others says why. */
START_TEST(a_stick_that_does_not_come_back)
{
    start_stick("--xlink B --once");
    survey("--xlink B --watchdog 1");
    ck_assert_int_eq(host.status, 1);
    ck_assert_uint_eq(count("main", "no answer"), 0);
    ck_assert_uint_eq(count("verify", "no answer"), 4);
    ck_assert(of("verify_magic", "why") && !of("verify_magic", "seen"));
    terminal_wait(&stick, pid);
    pid = 0;
    ck_assert_int_eq(stick.status, 0); /* it was reset */
}
END_TEST

START_TEST(a_signal_keeps_what_was_seen)
{
    int sessions = 0;
    pid_t running;

    start_stick("--xlink C");
    running = terminal_start(
        &host, arena_printf(host.arena,
                            "stick-report usb:%s --to r.json --xlink C "
                            "--watchdog 60 --xlink-log=log",
                            address));
    for (int i = 0; i < 50; i++) { /* until the last session's PING */
        vpu_error err;
        char *log, *at;
        size_t n;

        sessions = 0;
        usleep(200000);
        if (terminal_has(&host, "log") &&
            !file_read(arena_printf(host.arena, "%s/log", host.dir), 1 << 22,
                       host.arena, &log, &n, &err))
            for (at = log; (at = strstr(at, "RESET response")); at++)
                sessions++;
        if (sessions >= 4)
            break;
    }
    ck_assert_int_ge(sessions, 4);
    kill(running, SIGINT);
    terminal_wait(&host, running);
    ck_assert_int_eq(host.status, 128 + SIGINT);
    read_report();
    ck_assert_uint_eq(count("main", "no answer"), 0);
    ck_assert(strstr(of("watchdog_time", "why"), "interrupted"));
}
END_TEST

START_TEST(nobody_there)
{
    survey("--xlink C");
    ck_assert_int_eq(host.status, 2);
    ck_assert(strstr(of("graph_order", "why"), "No such file"));
}
END_TEST

static const struct {
    const char *words, *says;
} wrong[] = {
    {"usb:unix:/nowhere --to r", "which XLink layout"},
    {"usb:unix:/nowhere --xlink C", "--output FILE is missing"},
    {"usb:unix:/nowhere --xlink D --to r", "--xlink does not take 'D'"},
    {"usb:unix:/x usb:unix:/y --xlink C --to r", "one device"},
    {"sim --xlink C --to r", "no stick"},
    {"usb:unix:/x --xlink C --to r --watchdog x", "--watchdog does not take"},
    {"usb:unix:/x --xlink C --to r --timeout 0", "--timeout does not take '0'"},
    {"usb:unix:/nowhere --xlink C --to /no/where", "/no/where"},
    {"usb:unix:/x --xlink C --to r --xlink-log=/no/where", "/no/where"},
    {"usb:unix:/x --to r --firmware none.mvcmd", "none.mvcmd"}};
enum { N_WRONG = sizeof wrong / sizeof *wrong };

START_TEST(wrong_input)
{
    terminal_run(&host,
                 arena_printf(host.arena, "stick-report %s", wrong[_i].words));
    ck_assert_int_eq(host.status, 2);
    ck_assert_msg(strstr(host.err, wrong[_i].says), "%s", host.err);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stick_report");
    TCase *t = tcase_create("stick_report");
    SRunner *r;
    int bad;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, a_good_stick, 0, 3);
    tcase_add_loop_test(t, a_faulty_stick, 0, N_FAULTY);
    tcase_add_test(t, a_stick_that_does_not_come_back);
    tcase_add_test(t, a_signal_keeps_what_was_seen);
    tcase_add_test(t, nobody_there);
    tcase_add_loop_test(t, wrong_input, 0, N_WRONG);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    bad = srunner_ntests_failed(r);
    srunner_free(r);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
