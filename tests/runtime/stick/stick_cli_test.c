/* vpu stick and the backend usb from outside: samples on a virtual stick
 * against the simulator, logs, traces, wrong input, signals. */
#include <check.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/trace/reader.h"
#include "tests/support/terminal.h"

static terminal host, stick; /* each in a folder of its own */
static pid_t pid;            /* of the stick; 0 = it does not run */
static char root[512], address[128];

static void setup(void)
{
    ck_assert(getcwd(root, sizeof root));
    terminal_open(&host);
    terminal_open(&stick);
    snprintf(address, sizeof address, "unix:%s/s", stick.dir);
    pid = 0;
}

static void end_stick(int sig)
{
    if (!pid)
        return;
    kill(pid, sig);
    terminal_wait(&stick, pid);
    pid = 0;
}

static void teardown(void)
{
    end_stick(SIGKILL);
    terminal_close(&host);
    terminal_close(&stick);
}

/* Waits until it listens. */
static void start_stick(const char *options)
{
    pid =
        terminal_start(&stick, arena_printf(stick.arena, "stick --listen %s %s",
                                            address, options));
    for (int i = 0; i < 3000 && !terminal_has(&stick, "s"); i++)
        usleep(10000);
    ck_assert(terminal_has(&stick, "s"));
}

static void expect(int status, const char *fragment)
{
    ck_assert_msg(host.status == status, "exit status %d, expected %d\n%s%s",
                  host.status, status, host.err, host.out);
    ck_assert_msg(strstr(host.out, fragment) || strstr(host.err, fragment),
                  "'%s' is not in\n%s%s", fragment, host.err, host.out);
}

/* command LAYER...: with the sample's path, the device behind `option`. */
static void run(const char *command, const char *folder, const char *words,
                const char *option, const char *more)
{
    terminal_run(&host, arena_printf(host.arena,
                                     "%s %s/kernels/%s/layer.xml %s %s usb:%s "
                                     "%s",
                                     command, root, folder, words, option,
                                     address, more));
}

#define GRN "--layer GRN --shape in0=1x16x32x64 --param bias=1.0"

/* DMA with companions, two stages, several inputs, orders that are converted,
 * element types that are. */
static const struct {
    const char *folder, *words;
} samples[] = {
    {"grn", "--layer GRNDma --shape in0=1x16x32x64 --param bias=1.0"},
    {"grn", "--layer GRNFloat --shape in0=1x16x32x64:f32 --param bias=1.0"},
    {"mvn", "--shape in0=1x8x24x32 --param eps=0.001"},
    {"ctc", "--shape in0=22x1x71 --shape in1=22x1 --shape out0=1x22x1x1"},
    {"cvtu8f16", NULL},
    {"softmax", NULL},
    {"region", NULL},
    {"correlation", NULL}};
enum { N_SAMPLES = sizeof samples / sizeof *samples };

/* Samples whose words are those of a case file. */
static const char *const cases[][2] = {
    {"cvtu8f16", "cvtu8-host.case"},
    {"softmax", "softmax-channels-host.case"},
    {"region", "region-softmax-host.case"},
    {"correlation", "correlation-host.case"}};

static const char *read_case(const char *folder, const char *name)
{
    const char *path =
        arena_printf(host.arena, "%s/kernels/%s/%s", root, folder, name);
    const char *words = "";
    vpu_error err;
    char *rest, *line;
    size_t n;

    ck_assert(!file_read(path, 1 << 16, host.arena, &rest, &n, &err));
    while ((line = strtok_r(rest, "\n", &rest)))
        if (*line == '-' && strncmp(line, "--b ", 4) &&
            strncmp(line, "--tolerance", 11))
            words = arena_printf(host.arena, "%s %s", words, line);
    return words;
}

static const char *case_words(const char *folder)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(cases[i][0], folder))
            return read_case(folder, cases[i][1]);
    ck_abort();
}

START_TEST(samples_are_the_simulators)
{
    static const char *const layouts[] = {"A", "B", "C"};
    const char *folder = samples[_i].folder, *words = samples[_i].words;
    const char *xlink = arena_printf(host.arena, "--xlink %s", layouts[_i % 3]);

    start_stick(xlink);
    run("diff", folder, words ? words : case_words(folder), "--b", xlink);
    expect(0, "equal, bit for bit");
    end_stick(SIGTERM);
    ck_assert_int_eq(stick.status, 0);
}
END_TEST

/* Seconds of each stage: of the simulator's report, or a stick's. */
static size_t stage_seconds(double *out, size_t room)
{
    json_t *j = json_loads(host.out, 0, NULL), *stages, *s;
    size_t i;

    ck_assert_msg(j != NULL, "%s%s", host.err, host.out);
    stages = json_object_get(j, "stages");
    ck_assert_uint_le(json_array_size(stages), room);
    json_array_foreach(stages, i, s)
    {
        double cycles = json_number_value(json_object_get(s, "cycles"));

        out[i] = json_object_get(s, "seconds")
                     ? json_number_value(json_object_get(s, "seconds"))
                     : cycles /
                           json_number_value(json_object_get(j, "clk_mhz")) *
                           1e-6;
    }
    i = json_array_size(stages);
    json_decref(j);
    return i;
}

/* Reordered, computed, reordered back: the kernel takes what the simulator says
 * it takes, but for where buffers lie and what caches still hold; what is
 * reordered, stages of the device there, takes some time. */
START_TEST(stages_take_time)
{
    static const char words[] =
        "--layer ReorgLastLine --shape in0=1x64x26x26 --param stride=2";
    double here[4], there[4];

    start_stick("--xlink C");
    terminal_run(&host, arena_printf(host.arena,
                                     "run %s/kernels/reorg/layer.xml %s "
                                     "--shaves 7 --report json --quiet",
                                     root, words));
    ck_assert_uint_eq(stage_seconds(here, 4), 3);
    run("run", "reorg", words, "--backend", "--xlink C --report json --quiet");
    ck_assert_uint_eq(stage_seconds(there, 4), 3);
    ck_assert_msg(there[1] > 0.95 * here[1] && there[1] < 1.05 * here[1],
                  "%g s, simulated %g s", there[1], here[1]);
    ck_assert(there[0] > 1e-6 && there[0] < 1e-2);
    ck_assert(there[2] > 1e-6 && there[2] < 1e-2);
}
END_TEST

/* count halves of some pattern, as a file of NumPy. */
static void write_npy(const char *name, uint32_t count)
{
    enum { HEAD = 128 };
    uint8_t *f = arena_array(host.arena, uint8_t, HEAD + 2 * (size_t)count);
    int n;

    memcpy(f, "\x93NUMPY\1\0v\0", 10);
    n = snprintf((char *)f + 10, HEAD - 10,
                 "{'descr': '<f2', 'fortran_order': False, 'shape': (%u,), }",
                 count);
    memset(f + 10 + n, ' ', (size_t)(HEAD - 11 - n));
    f[HEAD - 1] = '\n';
    for (uint32_t i = 0; i < count; i++) {
        f[HEAD + 2 * i] = (uint8_t)(i * 37);
        f[HEAD + 2 * i + 1] = (uint8_t)(0x30 + (i % 3 == 1) * 0x80);
    }
    terminal_file(&host, name, f, HEAD + 2 * (size_t)count);
}

/* Weights: an input of format ANY, whose dim 0 is no batch; or a Data. */
START_TEST(weights)
{
    static const char *const words[][2] = {
        {"convolution1x1", "--shape in0=1x32x14x14 --shape in1=16x32x1x1 "
                           "--shape out0=1x16x14x14"},
        {"convolution3x3", "--layer Convolution3x3 --shape in0=1x8x14x14 "
                           "--shape in1=8x8x3x3 --shape out0=1x8x14x14"},
        {"convolution3x3", "--layer Convolution3x3Model --shape in0=1x8x14x14 "
                           "--shape out0=1x8x14x14 --blob weights=w.npy"}};

    write_npy("w.npy", 8 * 8 * 9);
    start_stick("--xlink B");
    run("diff", words[_i][0], words[_i][1], "--b", "--xlink B");
    expect(0, "equal, bit for bit");
}
END_TEST

typedef struct {
    int packets, stages;
} seen;

static bool on_event(void *user, const trc_read_event *e)
{
    seen *s = user;

    s->packets += e->kind == TRC_READ_INSTANT && strstr(e->name, "request");
    s->stages += e->kind == TRC_READ_BEGIN && !strcmp(e->name, "GRN");
    return true;
}

START_TEST(report_log_and_trace)
{
    seen s = {0};
    const trc_read_ops ops = {.event = on_event, .user = &s};
    vpu_error err;
    char *log;
    size_t n;

    start_stick("--xlink C --log=packets");
    run("run", "grn", GRN, "--backend",
        "--xlink C --report json --repeat 3 --output out --trace t.pf "
        "--xlink-log=log");
    expect(0, "\"device_clock\": true");
    ck_assert(terminal_has(&host, "out/out0.npy"));
    ck_assert(!file_read(arena_printf(host.arena, "%s/log", host.dir), 1 << 20,
                         host.arena, &log, &n, &err));
    ck_assert(strstr(log, "-> graphMonitor: TRIGGER: WRITE request"));
    ck_assert(strstr(log, "<- graphMonitor: success: WRITE request"));
    ck_assert(strstr(log, "-> RESET request"));
    ck_assert(!trc_read_file(arena_printf(host.arena, "%s/t.pf", host.dir),
                             &ops, &err));
    ck_assert_int_gt(s.packets, 50);
    ck_assert_int_eq(s.stages, 3);
    end_stick(SIGTERM);
    ck_assert(terminal_has(&stick, "packets"));
}
END_TEST

/* A fault of the stick: what was expected, and the last packets. Then a good
 * one at the same address. */
START_TEST(errors_have_the_last_packets)
{
    start_stick("--xlink B --once --fault verify-status:3");
    run("run", "grn", GRN, "--backend", "--xlink B");
    expect(2, "VERIFY: the stick answered 3, unsupported network element");
    expect(2, "last packets:");
    expect(2, "<- graphMonitor: unsupported network element: WRITE request");
    terminal_wait(&stick, pid);
    pid = 0;
    ck_assert_int_eq(stick.status, 0); /* it was reset all the same */
    start_stick("--xlink B --once");
    run("run", "grn", GRN, "--backend", "--xlink B");
    expect(0, "virtual stick");
    terminal_wait(&stick, pid);
    pid = 0;
    start_stick("--xlink B --once --fault vanish:5000");
    run("run", "grn", GRN, "--backend", "--xlink B");
    expect(2, "last packets:");
    terminal_wait(&stick, pid);
    pid = 0;
    ck_assert_int_eq(stick.status, 1);
}
END_TEST

/* The kernel never ends: the first signal ends the session, the stick sees a
 * RESET. */
START_TEST(a_signal_leaves_the_stick_clean)
{
    pid_t running;

    start_stick("--xlink A --once --fault no-result");
    running =
        terminal_start(&host, arena_printf(host.arena,
                                           "run %s/kernels/grn/layer.xml " GRN
                                           " --backend usb:%s --xlink A "
                                           "--xlink-log=log",
                                           root, address));
    for (int i = 0; i < 500; i++) {
        vpu_error err;
        char *log;
        size_t n;

        usleep(20000);
        if (terminal_has(&host, "log") &&
            !file_read(arena_printf(host.arena, "%s/log", host.dir), 1 << 20,
                       host.arena, &log, &n, &err) &&
            strstr(log, "PING"))
            break;
    }
    usleep(1000000); /* lines may still be on their way to the file */
    kill(running, SIGINT);
    terminal_wait(&host, running);
    ck_assert_int_eq(host.status, 128 + SIGINT);
    terminal_wait(&stick, pid);
    pid = 0;
    ck_assert_msg(strstr(stick.err, "reset by the host"), "%s", stick.err);
    ck_assert_int_eq(stick.status, 0);
}
END_TEST

START_TEST(reset_of_a_stick)
{
    start_stick("--xlink C --once");
    terminal_run(&host,
                 arena_printf(host.arena, "reset usb:%s --xlink C", address));
    ck_assert_msg(host.status == 0, "%s", host.err);
    terminal_wait(&stick, pid);
    pid = 0;
    ck_assert_int_eq(stick.status, 0);
    terminal_run(&host,
                 arena_printf(host.arena, "reset usb:%s --xlink C", address));
    expect(2, "No such file");
}
END_TEST

START_TEST(the_wrong_layout_ends_in_time)
{
    start_stick("--xlink A --once");
    run("run", "grn", GRN, "--backend", "--xlink C");
    expect(2, "no answer to PING");
}
END_TEST

static const struct {
    const char *words, *says;
} wrong[] = {
    {"run L " GRN " --backend usb:unix:/nowhere", "which XLink layout"},
    {"run L " GRN " --backend usb:unix:/nowhere --xlink D", "'D'"},
    {"run L " GRN " --backend usb:unix:/nowhere --xlink A", "/nowhere"},
    {"run L " GRN " --backend usb:tcp:localhost:1 --xlink A", "in numbers"},
    {"run L " GRN " --backend usb:unix:/nowhere --firmware none.mvcmd",
     "none.mvcmd"},
    {"run L " GRN " --backend sim --xlink A", "about sticks"},
    {"run L --layer GRN --shape in0=2x16x8x8 --param bias=1.0 --backend "
     "usb:unix:/nowhere --xlink A --batch whole",
     "is split on a stick: --batch device"},
    {"run L " GRN " --backend usb --xlink A --order reverse", "--order"},
    {"run L " GRN " --backend usb --xlink A --vcd x", "--vcd"},
    {"run L " GRN " --backend usb:unix:/x --xlink A --xlink-log=/no/where",
     "/no/where"},
    {"stick --listen unix:/tmp/x", "--xlink"},
    {"stick --xlink A", "--listen"},
    {"stick --xlink A --listen udp:1", "unix:PATH"},
    {"stick --xlink A --listen tcp:127.0.0.1:0 --fault nothing",
     "there are create-too-big"},
    {"stick --xlink A --listen tcp:127.0.0.1:0 --fault vanish:x", "number"},
    {"stick --xlink A --listen tcp:127.0.0.1:0 --link usb4", "usb4"},
    {"stick --xlink A --listen tcp:127.0.0.1:0 --threads 0", "'0'"},
    {"reset sim --xlink A", "no stick"},
    {"reset usb:unix:/nowhere", "which XLink layout"}};
enum { N_WRONG = sizeof wrong / sizeof *wrong };

START_TEST(wrong_input)
{
    const char *w = wrong[_i].words;

    if (!strncmp(w, "run L ", 6))
        w = arena_printf(host.arena, "run %s/kernels/grn/layer.xml %s", root,
                         w + 6);
    terminal_run(&host, w);
    expect(_i == 6 ? 5 : 2, wrong[_i].says); /* a batch is unsupported */
}
END_TEST

/* A serial number is a USB string: 64 characters at most are taken. */
START_TEST(serials_of_all_lengths)
{
    for (size_t n = 0; n < 70; n++) {
        char *words =
            arena_printf(host.arena, "stick --stages --serial=%*s", (int)n, "");

        memset(words + strlen(words) - n, 'x', n);
        terminal_run(&host, words);
        ck_assert_msg(host.status == (n >= 1 && n <= 64 ? 0 : 2), "%s: %s",
                      words, host.err);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stick_cli");
    TCase *t = tcase_create("stick_cli");
    SRunner *r;
    int bad;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, samples_are_the_simulators, 0, N_SAMPLES);
    tcase_add_loop_test(t, weights, 0, 3);
    tcase_add_test(t, stages_take_time);
    tcase_add_test(t, serials_of_all_lengths);
    tcase_add_test(t, report_log_and_trace);
    tcase_add_test(t, errors_have_the_last_packets);
    tcase_add_test(t, a_signal_leaves_the_stick_clean);
    tcase_add_test(t, reset_of_a_stick);
    tcase_add_test(t, the_wrong_layout_ends_in_time);
    tcase_add_loop_test(t, wrong_input, 0, N_WRONG);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    bad = srunner_ntests_failed(r);
    srunner_free(r);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
