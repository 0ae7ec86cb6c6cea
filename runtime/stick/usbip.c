/* The server: waits for hosts, or attaches the stick to this machine, and runs
 * one unbooted or booted life of the stick after the other. Each booted life
 * may run in a process of its own (isolate.h). */
#include "runtime/stick/usbip.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/oom.h"
#include "runtime/stick/usbip_wire.h"
#include "runtime/stick/vhci.h"

enum {
    BACK_MS = 300,    /* re-enumeration takes 300 to 500 ms [L] */
    REPLUG_MS = 1000, /* an unplugged stick is plugged in again [I] */
    TOOL_S = 2,       /* for a tool to say what it wants */
    POLL_MS = 50
};

static const char busid[] = "1-1";
static const usbip_place place = {busid, 1, 2};

typedef struct {
    const usbip_config *c;
    gadget g;
    usbip_faults faults; /* those that are still to come */
    int listener, vhci_port;
    bool here, busy; /* can be imported; is */
} server;

static bool stopped(const server *v)
{
    return v->c->stop && *v->c->stop;
}

static bool pause_ms(const server *v, int ms)
{
    for (; ms > 0 && !stopped(v); ms -= POLL_MS)
        usleep(POLL_MS * 1000);
    return !stopped(v);
}

static bool get(int fd, void *buf, size_t n)
{
    return recv(fd, buf, n, MSG_WAITALL) == (ssize_t)n;
}

static bool put(int fd, const void *buf, size_t n)
{
    return send(fd, buf, n, MSG_NOSIGNAL) == (ssize_t)n;
}

static void list(const server *v, int fd)
{
    uint8_t out[USBIP_OP_BYTES + 4 + USBIP_DEVICE_BYTES +
                USBIP_INTERFACE_BYTES] = {0};
    size_t n = USBIP_OP_BYTES + 4;

    usbip_put_op(out, USBIP_REP_DEVLIST, USBIP_OK);
    if (v->here && !v->busy) {
        out[n - 1] = 1;
        usbip_put_device(out + n, &v->g, &place);
        n += USBIP_DEVICE_BYTES;
        usbip_put_interface(out + n, &v->g);
        n += USBIP_INTERFACE_BYTES;
    }
    put(fd, out, n);
}

/* Whether fd carries URBs from now on. */
static bool import(const server *v, int fd)
{
    uint8_t out[USBIP_OP_BYTES + USBIP_DEVICE_BYTES];
    char wanted[USBIP_BUSID_BYTES];
    uint32_t status = USBIP_OK;

    if (!get(fd, wanted, sizeof wanted))
        return false;
    if (strncmp(wanted, busid, sizeof wanted) || !v->here)
        status = USBIP_NOT_THERE;
    else if (v->busy)
        status = USBIP_BUSY;
    usbip_put_op(out, USBIP_REP_IMPORT, status);
    usbip_put_device(out + USBIP_OP_BYTES, &v->g, &place);
    return put(fd, out, status ? USBIP_OP_BYTES : sizeof out) && !status;
}

/* What a tool wants; its socket when it imports, else -1. */
static int answer(const server *v, int timeout_ms)
{
    struct pollfd p = {.fd = v->listener, .events = POLLIN};
    struct timeval tv = {.tv_sec = TOOL_S};
    uint8_t bytes[USBIP_OP_BYTES];
    int one = 1, fd;
    usbip_op op;

    if (poll(&p, 1, timeout_ms) <= 0)
        return -1;
    fd = accept4(v->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (get(fd, bytes, sizeof bytes)) {
        op = usbip_get_op(bytes);
        if (op.code == USBIP_REQ_DEVLIST)
            list(v, fd);
        else if (op.code == USBIP_REQ_IMPORT && import(v, fd))
            return fd;
    }
    close(fd);
    return -1;
}

/* While a session runs: others are told that the stick is taken. */
static void on_tick(void *user)
{
    const server *v = user;

    if (v->listener >= 0)
        answer(v, 0);
}

static vpu_status listen_at(server *v, vpu_error *err)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)(v->c->port ? v->c->port : USBIP_PORT))};
    int one = 1;

    if (v->c->port > 65535 ||
        inet_pton(AF_INET, v->c->address, &at.sin_addr) != 1)
        return err_set(err, VPU_ERR_INVALID,
                       "%s:%u: expected an IPv4 address and a port",
                       v->c->address, v->c->port);
    v->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (v->listener < 0)
        return err_set(err, VPU_ERR_IO, "socket: %s", strerror(errno));
    setsockopt(v->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(v->listener, (struct sockaddr *)&at, sizeof at) ||
        listen(v->listener, 8))
        return err_set(err, VPU_ERR_IO, "%s:%u: %s", v->c->address,
                       ntohs(at.sin_port), strerror(errno));
    return VPU_OK;
}

static vpu_status next_host(server *v, int *fd, vpu_error *err)
{
    v->here = true;
    if (v->listener < 0)
        return vhci_attach(v->g.booted && v->g.super, &v->vhci_port, fd, err);
    do
        *fd = answer(v, POLL_MS);
    while (*fd < 0 && !stopped(v));
    return VPU_OK;
}

typedef struct {
    server *v;
    usbip_session *s;
} booted;

static vpu_status serve(void *user, vpu_error *err)
{
    booted *b = user;
    const usbip_config *c = b->v->c;

    return c->serve(c->user, usbip_session_link(b->s), c->stop, err);
}

static void *run_booted(void *arg)
{
    booted *b = arg;
    const usbip_config *c = b->v->c;
    vpu_error err;

    if (oom_guard(serve, b, &err))
        log_warn(c->log, "stick: %s", err.msg);
    usbip_session_over(b->s);
    return NULL;
}

static usbip_end booted_session(server *v, usbip_session *s)
{
    booted b = {v, s};
    usbip_end end = USBIP_GONE;
    pthread_t thread;

    log_note(v->c->log, "stick: booted");
    if (!pthread_create(&thread, NULL, run_booted, &b)) {
        end = usbip_session_run(s, v->c->stop, on_tick, v);
        pthread_join(thread, NULL);
    }
    log_note(v->c->log, "stick: %s",
             end == USBIP_ENDED ? "reset, boots anew" : "unplugged");
    return end;
}

static usbip_end unbooted_session(server *v, usbip_session *s)
{
    uint64_t hash;
    size_t n;
    usbip_end end;

    log_note(v->c->log, "stick: plugged in");
    end = usbip_session_run(s, v->c->stop, on_tick, v);
    n = usbip_session_firmware(s, &hash);
    if (n >= v->faults.boot_unplug)
        v->faults.boot_unplug = UINT64_MAX;
    if (end == USBIP_BOOTED)
        log_note(v->c->log,
                 "stick: boots after %zu bytes of firmware, XXH64 %016llx", n,
                 (unsigned long long)hash);
    else
        log_note(v->c->log, "stick: unplugged after %zu bytes of firmware", n);
    return end;
}

/* fd is taken over. */
static vpu_status session_here(server *v, int fd, usbip_end *end,
                               vpu_error *err)
{
    usbip_session *s = usbip_session_new(fd, &v->g, &v->faults);

    if (!s)
        return err_set(err, VPU_ERR_NOMEM, "no memory for a session");
    *end = v->g.booted ? booted_session(v, s) : unbooted_session(v, s);
    usbip_session_free(s);
    return VPU_OK;
}

typedef struct {
    server *v;
    int fd;
} apart;

/* In the session's own process: the listener is not there, others are answered
 * by whoever waits for this one. */
static int run_apart(void *arg)
{
    const apart *p = arg;
    usbip_end end = USBIP_GONE;
    vpu_error err;

    p->v->listener = -1;
    if (session_here(p->v, p->fd, &end, &err))
        log_warn(p->v->c->log, "stick: %s", err.msg);
    return (int)end;
}

/* fd is taken over. What the process says of itself ends one session, not the
 * server; the connection of one that crashed is ended in its place. */
static vpu_status session_apart(server *v, int fd, usbip_end *end,
                                vpu_error *err)
{
    const isolate_config *c = v->c->isolate;
    apart p = {v, fd};
    isolate_session session;
    int value = USBIP_GONE;
    vpu_status st = isolate_start(c, fd, run_apart, &p, &session, err);

    if (!st)
        st = isolate_wait(c, &session, on_tick, v, &value, err);
    usbip_hang_up(fd);
    close(fd);
    *end = stopped(v)             ? USBIP_STOPPED
           : value == USBIP_ENDED ? USBIP_ENDED
                                  : USBIP_GONE;
    if (st == VPU_ERR_FAULT)
        log_warn(v->c->log, "stick: unplugged: %s", err->msg);
    return st == VPU_ERR_FAULT || st == VPU_ERR_STOPPED ? VPU_OK : st;
}

static vpu_status one_host(server *v, int fd, bool *done, vpu_error *err)
{
    bool was_booted = v->g.booted;
    usbip_end end;
    vpu_status st;

    v->busy = true;
    st = was_booted && v->c->isolate ? session_apart(v, fd, &end, err)
                                     : session_here(v, fd, &end, err);
    v->busy = v->here = false;
    if (st)
        return st;
    if (was_booted)
        v->faults.stall_in = v->faults.stall_out = UINT64_MAX;
    v->g.booted = end == USBIP_BOOTED;
    v->g.configuration = 0;
    *done = end == USBIP_STOPPED || (was_booted && v->c->once);
    if (!*done)
        pause_ms(v, end == USBIP_GONE ? REPLUG_MS : BACK_MS);
    return VPU_OK;
}

vpu_status usbip_run(const usbip_config *c, vpu_error *err)
{
    server v = {.c = c,
                .g = {.super = c->super, .serial = c->serial},
                .faults = c->faults,
                .listener = -1,
                .vhci_port = -1};
    bool done = false, told = false;
    vpu_status st = c->address ? listen_at(&v, err) : VPU_OK;

    while (!st && !done && !stopped(&v)) {
        int fd = -1;

        if (c->address && !told && c->ready)
            c->ready(c->user);
        told |= c->address != NULL;
        st = next_host(&v, &fd, err);
        if (!st && !told && c->ready)
            c->ready(c->user);
        told = true;
        if (!st && fd >= 0)
            st = one_host(&v, fd, &done, err);
    }
    if (v.listener >= 0)
        close(v.listener);
    return st;
}
