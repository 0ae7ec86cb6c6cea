/* XLink over a socket, and inferences of a tiny layer on a virtual stick, which
 * is a process of its own. */
#include "base/clock.h"
#include "tests/bench/link.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "runtime/link/mvnc.h"
#include "tests/bench/proc.h"

enum {
    ECHO_PACKET = 1000000,
    ECHO_PACKETS = 100,
    ECHO_WINDOW = 8,
    INFERENCES = 1000,
    WAIT_MS = 60000
};

static void must(vpu_status st, const vpu_error *err)
{
    if (!st)
        return;
    fprintf(stderr, "bench: %s\n", err->msg);
    exit(1);
}

static double cpu_of(const struct rusage *u)
{
    return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
           (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1e-6;
}

static double cpu(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return cpu_of(&u);
}

/* --- echo ---------------------------------------------------------------- */

typedef struct {
    transport *end;
    sem_t all_done; /* a reset before would meet the last release */
} echoing;

static void *echo(void *arg)
{
    echoing *e = arg;
    xlink_config c = {
        .device = true, .timeout_ms = WAIT_MS, .max_packet = 1 << 30};
    vpu_error err;
    uint32_t stream;
    xlink *x;

    must(xlink_start(e->end, &c, &x, &err), &err);
    must(xlink_find(x, "echo", &stream, WAIT_MS, &err), &err);
    for (int i = 0; i < ECHO_PACKETS; i++) {
        xlink_packet p;

        must(xlink_read(x, stream, &p, WAIT_MS, &err), &err);
        must(xlink_write(x, stream, p.data, p.bytes, WAIT_MS, &err), &err);
        must(xlink_release(x, stream, WAIT_MS, &err), &err);
    }
    sem_post(&e->all_done);
    while (!xlink_was_reset(x))
        usleep(1000);
    xlink_stop(x);
    return NULL;
}

typedef struct {
    xlink *x;
    uint32_t stream;
} taking;

static void *take(void *arg)
{
    taking *t = arg;
    vpu_error err;

    for (int i = 0; i < ECHO_PACKETS; i++) {
        xlink_packet p;

        must(xlink_read(t->x, t->stream, &p, WAIT_MS, &err), &err);
        must(xlink_release(t->x, t->stream, WAIT_MS, &err), &err);
    }
    return NULL;
}

/* Bytes per second that go out and come back. */
static double time_echo(void)
{
    xlink_config c = {.timeout_ms = WAIT_MS, .max_packet = 1 << 30};
    char *data = calloc(1, ECHO_PACKET);
    transport *ends[2];
    echoing other;
    pthread_t device, taker;
    vpu_error err;
    double start;
    taking t;

    must(transport_pair(ends, &err), &err);
    other.end = ends[1];
    sem_init(&other.all_done, 0, 0);
    pthread_create(&device, NULL, echo, &other);
    must(xlink_start(ends[0], &c, &t.x, &err), &err);
    must(xlink_open(t.x, "echo", ECHO_WINDOW * ECHO_PACKET, &t.stream, WAIT_MS,
                    &err),
         &err);
    start = clock_seconds();
    pthread_create(&taker, NULL, take, &t);
    for (int i = 0; i < ECHO_PACKETS; i++)
        must(xlink_write(t.x, t.stream, data, ECHO_PACKET, WAIT_MS, &err),
             &err);
    pthread_join(taker, NULL);
    start = clock_seconds() - start;
    sem_wait(&other.all_done);
    must(xlink_reset(t.x, WAIT_MS, &err), &err);
    pthread_join(device, NULL);
    sem_destroy(&other.all_done);
    xlink_stop(t.x);
    transport_close(ends[0]);
    transport_close(ends[1]);
    free(data);
    return (double)ECHO_PACKET * ECHO_PACKETS / start;
}

/* --- inferences ---------------------------------------------------------- */

typedef struct {
    double each_s, packets;
    double host_share, stick_share; /* of the time on a processor */
} inferences;

/* vpu stick as a process of its own; its socket's path is gone with it. */
static pid_t start_stick(const char *vpu, const char *address, const char *link)
{
    pid_t pid = fork();

    if (pid == 0) {
        int nowhere = open("/dev/null", O_WRONLY); /* stdout may be memory */

        dup2(nowhere, STDOUT_FILENO);
        execl(vpu, vpu, "stick", "--xlink", "A", "--once", "--quiet",
              "--threads", "1", "--listen", address, "--link", link,
              (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 1000 && access(address + strlen("unix:"), F_OK); i++)
        usleep(10000);
    return pid;
}

static void count_packet(void *user, bool sent, const xlink_header *h,
                         const void *payload, uint32_t n)
{
    (void)sent;
    (void)h;
    (void)payload;
    (void)n;
    atomic_fetch_add((atomic_uint *)user, 1);
}

static inferences time_inferences(const char *vpu, const char *file, size_t n,
                                  const char *link)
{
    mvnc_config c = {
        .timeout_ms = WAIT_MS, .ping_ms = 1000, .dead_ms = WAIT_MS};
    char address[64];
    struct rusage stick;
    transport *end;
    pid_t pid;
    atomic_uint count = 0;
    const xlink_watch watch = {count_packet, &count};
    uint8_t *in, *out;
    mvnc_graph *g;
    vpu_error err;
    double start, used, all = clock_seconds();
    uint64_t packets;
    mvnc *m;

    snprintf(address, sizeof address, "unix:/tmp/vpu-bench-%d", (int)getpid());
    pid = start_stick(vpu, address, link);
    must(transport_connect(address, WAIT_MS, &end, &err), &err);
    c.watch = &watch;
    must(mvnc_open(end, &c, &m, &err), &err);
    must(mvnc_graph_create(m, file, n,
                           &(const mvnc_graph_config){1, 2, WAIT_MS}, &g, &err),
         &err);
    in = calloc(1, mvnc_graph_about(g).input.bytes);
    out = calloc(1, mvnc_graph_about(g).output.bytes);
    packets = count;
    start = clock_seconds();
    used = cpu();
    for (int i = 0; i < INFERENCES; i++) {
        must(mvnc_infer(g, in, &err), &err);
        must(mvnc_result(g, out, WAIT_MS, &err), &err);
    }
    start = clock_seconds() - start;
    used = cpu() - used;
    packets = count - packets;
    must(mvnc_close(m, &err), &err);
    transport_close(end);
    wait4(pid, NULL, 0, &stick);
    all = clock_seconds() - all;
    free(in);
    free(out);
    return (inferences){start / INFERENCES, (double)packets / INFERENCES,
                        used / start, cpu_of(&stick) / all};
}

json_t *bench_link(const char *vpu)
{
    static proc_result made;
    char path[] = "/tmp/vpu-bench-XXXXXX", words[512];
    arena *a = arena_create(0);
    inferences fast, usb2;
    vpu_error err;
    double rate;
    char *file;
    size_t n;
    int fd = mkstemp(path);

    if (fd < 0) {
        perror(path);
        exit(1);
    }
    close(fd);
    snprintf(words, sizeof words,
             "%s blob make tests/bench/layer.xml --layer Tiny --shape "
             "in0=1x1x1x64:f32 --release 2021.4 --output %s --quiet",
             vpu, path);
    proc_run(words, &made);
    must(file_read(path, 1 << 24, a, &file, &n, &err), &err);
    unlink(path);
    rate = time_echo();
    fast = time_inferences(vpu, file, n, "none");
    usb2 = time_inferences(vpu, file, n, "usb2");
    arena_destroy(a);
    printf(
        "\necho of %d MB through XLink      %8.2f GB/s there and as much back\n",
        ECHO_PACKET / 1000 * ECHO_PACKETS / 1000, rate * 1e-9);
    printf("an inference on a virtual stick %8.0f us, %.0f packets\n",
           fast.each_s * 1e6, fast.packets);
    printf(
        "the same with --link usb2       %8.0f us; host %.0f %% of the time on "
        "a processor, stick %.0f %%\n\n",
        usb2.each_s * 1e6, usb2.host_share * 100, usb2.stick_share * 100);
    return json_pack("{s:f,s:f,s:f,s:f,s:f,s:f}", "echo_bytes_per_s", rate,
                     "inference_s", fast.each_s, "packets", fast.packets,
                     "usb2_inference_s", usb2.each_s, "usb2_host_share",
                     usb2.host_share, "usb2_stick_share", usb2.stick_share);
}
