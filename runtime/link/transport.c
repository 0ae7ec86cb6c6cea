/* Sockets, without blocking: every wait is a poll with the time that is left.
 */
#include "runtime/link/transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"

typedef struct {
    transport base;
    int fd;
} socket_link;

struct transport_listener {
    int fd;
    bool is_unix;
    char address[160];
};

typedef struct {
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_un un;
    } u;
    socklen_t n;
} socket_address;

vpu_status transport_read(transport *t, void *buf, size_t n, size_t *got,
                          unsigned timeout_ms, vpu_error *err)
{
    *got = 0;
    return t->ops->read(t, buf, n, got, timeout_ms, err);
}

vpu_status transport_write(transport *t, const void *buf, size_t n, size_t *put,
                           unsigned timeout_ms, vpu_error *err)
{
    *put = 0;
    return t->ops->write(t, buf, n, put, timeout_ms, err);
}

void transport_reset(transport *t)
{
    t->ops->reset(t);
}

void transport_close(transport *t)
{
    if (t)
        t->ops->close(t);
}

/* Whether to try again; false: the time is up. A peer that sends single bytes
 * does not move the deadline. */
static bool wait_for(int fd, short events, int64_t deadline)
{
    struct pollfd p = {.fd = fd, .events = events};
    int64_t left = deadline - clock_ms();

    if (left <= 0)
        return false;
    poll(&p, 1, (int)(left > 1000000 ? 1000000 : left));
    return true;
}

static bool again(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static vpu_status link_read(transport *t, void *buf, size_t n, size_t *got,
                            unsigned timeout_ms, vpu_error *err)
{
    int fd = ((socket_link *)t)->fd;
    int64_t deadline = clock_ms() + timeout_ms;

    while (*got < n) {
        ssize_t rc = recv(fd, (char *)buf + *got, n - *got, 0);

        if (rc > 0) {
            *got += (size_t)rc;
            continue;
        }
        if (rc == 0)
            return err_set(err, VPU_ERR_IO,
                           "the other end closed the link after %zu of %zu "
                           "bytes",
                           *got, n);
        if (!again())
            return err_set(err, VPU_ERR_IO,
                           "reading after %zu of %zu bytes: %s", *got, n,
                           strerror(errno));
        if (!wait_for(fd, POLLIN, deadline))
            return err_set(err, VPU_ERR_LIMIT,
                           "%zu of %zu bytes arrived within %u ms", *got, n,
                           timeout_ms);
    }
    return VPU_OK;
}

static vpu_status link_write(transport *t, const void *buf, size_t n,
                             size_t *put, unsigned timeout_ms, vpu_error *err)
{
    int fd = ((socket_link *)t)->fd;
    int64_t deadline = clock_ms() + timeout_ms;

    while (*put < n) {
        ssize_t rc = send(fd, (const char *)buf + *put, n - *put, MSG_NOSIGNAL);

        if (rc >= 0) {
            *put += (size_t)rc;
            continue;
        }
        if (!again())
            return err_set(err, VPU_ERR_IO,
                           "writing after %zu of %zu bytes: %s", *put, n,
                           strerror(errno));
        if (!wait_for(fd, POLLOUT, deadline))
            return err_set(err, VPU_ERR_LIMIT,
                           "%zu of %zu bytes were taken within %u ms", *put, n,
                           timeout_ms);
    }
    return VPU_OK;
}

static void link_reset(transport *t)
{
    shutdown(((socket_link *)t)->fd, SHUT_RDWR);
}

static void link_close(transport *t)
{
    close(((socket_link *)t)->fd);
    free(t);
}

static const transport_ops socket_ops = {link_read, link_write, link_reset,
                                         link_close};

int transport_socket(const transport *t)
{
    return t->ops == &socket_ops ? ((const socket_link *)t)->fd : -1;
}

/* Takes fd over, also on failure. */
static vpu_status wrap(int fd, transport **out, vpu_error *err)
{
    socket_link *l = malloc(sizeof *l);
    int one = 1;

    if (!l) {
        close(fd);
        return err_set(err, VPU_ERR_NOMEM, "no memory for a link");
    }
    /* Events are small and answered; fails on Unix sockets, which do not wait.
     */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    *l = (socket_link){{&socket_ops}, fd};
    *out = &l->base;
    return VPU_OK;
}

vpu_status transport_pair(transport *ends[2], vpu_error *err)
{
    vpu_status st;
    int fd[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd))
        return err_set(err, VPU_ERR_IO, "a pair of sockets: %s",
                       strerror(errno));
    st = wrap(fd[0], &ends[0], err);
    if (st) {
        close(fd[1]);
        return st;
    }
    st = wrap(fd[1], &ends[1], err);
    if (st)
        transport_close(ends[0]);
    return st;
}

static vpu_status parse_tcp(const char *address, socket_address *out,
                            vpu_error *err)
{
    const char *host = address + strlen("tcp:"), *colon = strrchr(host, ':');
    unsigned long long port;
    char text[64];
    size_t n = colon ? (size_t)(colon - host) : 0;
    bool six = n > 2 && host[0] == '[' && host[n - 1] == ']';

    if (!colon || n >= sizeof text || !str_to_u64(colon + 1, &port) ||
        port > 65535)
        return err_set(err, VPU_ERR_INVALID,
                       "'%s': expected tcp:ADDRESS:PORT, the port 0 to 65535",
                       address);
    snprintf(text, sizeof text, "%.*s", (int)(six ? n - 2 : n), host + six);
    memset(out, 0, sizeof *out);
    if (six && inet_pton(AF_INET6, text, &out->u.in6.sin6_addr) == 1) {
        out->u.in6.sin6_family = AF_INET6;
        out->u.in6.sin6_port = htons((uint16_t)port);
        out->n = sizeof out->u.in6;
    } else if (!six && inet_pton(AF_INET, text, &out->u.in.sin_addr) == 1) {
        out->u.in.sin_family = AF_INET;
        out->u.in.sin_port = htons((uint16_t)port);
        out->n = sizeof out->u.in;
    } else {
        return err_set(err, VPU_ERR_INVALID,
                       "'%s': expected an address in numbers, as 127.0.0.1 or "
                       "[::1]",
                       address);
    }
    return VPU_OK;
}

static vpu_status parse_address(const char *address, socket_address *out,
                                vpu_error *err)
{
    const char *path = address + strlen("unix:");

    if (!strncmp(address, "tcp:", 4))
        return parse_tcp(address, out, err);
    if (strncmp(address, "unix:", 5) || !*path)
        return err_set(err, VPU_ERR_INVALID,
                       "'%s': expected unix:PATH or tcp:ADDRESS:PORT", address);
    memset(out, 0, sizeof *out);
    if (strlen(path) >= sizeof out->u.un.sun_path)
        return err_set(err, VPU_ERR_INVALID,
                       "'%s': the path has %zu bytes, a socket's at most %zu",
                       address, strlen(path), sizeof out->u.un.sun_path - 1);
    out->u.un.sun_family = AF_UNIX;
    strcpy(out->u.un.sun_path, path);
    out->n = sizeof out->u.un;
    return VPU_OK;
}

static vpu_status new_socket(const char *address, socket_address *a, int *fd,
                             vpu_error *err)
{
    vpu_status st = parse_address(address, a, err);

    if (st)
        return st;
    *fd = socket(a->u.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                 0);
    return *fd < 0
               ? err_set(err, VPU_ERR_IO, "%s: %s", address, strerror(errno))
               : VPU_OK;
}

static bool connected_by(int fd, int64_t deadline)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};

    while (poll(&p, 1, 0) <= 0)
        if (!wait_for(fd, POLLOUT, deadline))
            return false;
    return true;
}

/* connect(2) until the deadline; a full queue of a Unix socket is EAGAIN, and
 * nothing to poll for. */
static int connect_until(int fd, const socket_address *a, int64_t deadline)
{
    socklen_t n = sizeof errno;
    int problem = 0;

    while (connect(fd, &a->u.any, a->n)) {
        struct timespec pause = {0, 1000000};

        if (errno == EINPROGRESS) {
            if (!connected_by(fd, deadline))
                return ETIMEDOUT;
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &n);
            return problem;
        }
        if (!again())
            return errno;
        if (clock_ms() >= deadline)
            return ETIMEDOUT;
        nanosleep(&pause, NULL);
    }
    return 0;
}

vpu_status transport_connect(const char *address, unsigned timeout_ms,
                             transport **out, vpu_error *err)
{
    socket_address a;
    int fd, problem;
    vpu_status st = new_socket(address, &a, &fd, err);

    if (st)
        return st;
    problem = connect_until(fd, &a, clock_ms() + timeout_ms);
    if (!problem)
        return wrap(fd, out, err);
    close(fd);
    return problem == ETIMEDOUT
               ? err_set(err, VPU_ERR_LIMIT, "%s: no connection within %u ms",
                         address, timeout_ms)
               : err_set(err, VPU_ERR_IO, "%s: %s", address, strerror(problem));
}

/* The address again, with the port that was chosen. */
static void real_address(transport_listener *l, const char *asked)
{
    socket_address a;
    char text[INET6_ADDRSTRLEN];

    a.n = sizeof a.u;
    snprintf(l->address, sizeof l->address, "%s", asked);
    if (l->is_unix || getsockname(l->fd, &a.u.any, &a.n))
        return;
    if (a.u.any.sa_family == AF_INET)
        snprintf(l->address, sizeof l->address, "tcp:%s:%u",
                 inet_ntop(AF_INET, &a.u.in.sin_addr, text, sizeof text),
                 ntohs(a.u.in.sin_port));
    else
        snprintf(l->address, sizeof l->address, "tcp:[%s]:%u",
                 inet_ntop(AF_INET6, &a.u.in6.sin6_addr, text, sizeof text),
                 ntohs(a.u.in6.sin6_port));
}

enum { BACKLOG = 4 };

/* A program that finds the file of a socket may connect at once. So the file
 * gets its name when the socket listens already; before that it has another
 * one, if there is room for it. */
static bool listen_at_file(int fd, const socket_address *at)
{
    const char *path = at->u.un.sun_path;
    socket_address first = *at;
    int n = snprintf(first.u.un.sun_path, sizeof first.u.un.sun_path, "%s.%d",
                     path, (int)getpid());
    int problem = 0;

    if (n < 0 || (size_t)n >= sizeof first.u.un.sun_path)
        return !bind(fd, &at->u.any, at->n) && !listen(fd, BACKLOG);
    if (bind(fd, &first.u.any, first.n))
        return false;
    if (listen(fd, BACKLOG))
        problem = errno;
    else if (link(first.u.un.sun_path, path))
        problem = errno == EEXIST ? EADDRINUSE : errno;
    unlink(first.u.un.sun_path);
    errno = problem;
    return !problem;
}

vpu_status transport_listen(const char *address, transport_listener **out,
                            vpu_error *err)
{
    transport_listener *l;
    socket_address a;
    int fd, one = 1;
    vpu_status st = new_socket(address, &a, &fd, err);

    if (st)
        return st;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (a.u.any.sa_family == AF_UNIX
            ? !listen_at_file(fd, &a)
            : bind(fd, &a.u.any, a.n) || listen(fd, BACKLOG)) {
        err_set(err, VPU_ERR_IO, "%s: %s", address, strerror(errno));
        close(fd);
        return VPU_ERR_IO;
    }
    l = calloc(1, sizeof *l);
    if (!l) {
        close(fd);
        return err_set(err, VPU_ERR_NOMEM, "no memory to listen on %s",
                       address);
    }
    l->fd = fd;
    l->is_unix = a.u.any.sa_family == AF_UNIX;
    real_address(l, address);
    *out = l;
    return VPU_OK;
}

const char *transport_listener_address(const transport_listener *l)
{
    return l->address;
}

vpu_status transport_accept(transport_listener *l, unsigned timeout_ms,
                            transport **out, vpu_error *err)
{
    int64_t deadline = clock_ms() + timeout_ms;

    for (;;) {
        int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0)
            return wrap(fd, out, err);
        /* The one that knocked may be gone already. */
        if (!again() && errno != ECONNABORTED)
            return err_set(err, VPU_ERR_IO, "%s: %s", l->address,
                           strerror(errno));
        if (!wait_for(l->fd, POLLIN, deadline))
            return err_set(err, VPU_ERR_LIMIT,
                           "%s: nobody connected within %u ms", l->address,
                           timeout_ms);
    }
}

void transport_unlisten(transport_listener *l)
{
    if (!l)
        return;
    if (l->is_unix) /* nobody finds a file behind which nobody listens */
        unlink(l->address + strlen("unix:"));
    close(l->fd);
    free(l);
}
