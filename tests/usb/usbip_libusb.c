/* Preloaded, libusb for a host that is to find one virtual stick: over USB/IP,
 * in this process, without a kernel that has vhci-hcd and without rights.
 *
 *   VPU_USBIP=127.0.0.1:3240 LD_PRELOAD=usbip_libusb.so PROGRAM
 *
 * The connection is the cable: it is made when the device is opened first, and
 * stays until one of both sides goes. One thread reads it and gives each reply
 * to whoever waits for its number, so that transfers on several endpoints wait
 * at once. Written by the USB/IP protocol's and libusb's documentation; calls
 * that are not here are left to libusb itself, which finds nothing of this
 * device. */
#include <arpa/inet.h>
#include <errno.h>
#include <libusb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "runtime/stick/usbip_wire.h"

enum {
    CONNECT_MS = 2000, /* a stick that boots answers when it is back */
    CONTROL_MS = 5000,
    /* Hosts look at the bus without a pause until a device is back. */
    NOBODY_MS = 10,
    MAX_URB = 8 << 20,
    MAX_PORTS = 7,
    EP_IN = LIBUSB_ENDPOINT_IN
};

/* A transfer, on the stack of whoever waits for it. */
typedef struct request {
    struct request *next;
    uint32_t seqnum, unlink; /* unlink: number of the request to take it back */
    uint8_t *in;             /* where bytes from the device go, or NULL */
    uint32_t length, moved;
    int32_t status; /* as on the wire */
    bool done;
    struct async *async; /* the transfer it is of, if nobody waits */
} request;

/* A transfer that its owner is told of by a callback. */
typedef struct async {
    struct async *next; /* of those that are done */
    request r;
    struct libusb_transfer t; /* last: it ends with an array */
} async;

struct libusb_device {
    _Atomic int refs;
    uint8_t bus, address, ports[MAX_PORTS], n_ports;
    char busid[USBIP_BUSID_BYTES];
    uint32_t devid, speed;
    struct libusb_device_descriptor descriptor;
    /* Once it was opened. */
    int fd; /* -1: never, or gone */
    bool imported, gone;
    uint32_t seqnum;
    request *waiting;
    pthread_mutex_t lock, sending;
    pthread_cond_t changed;
    pthread_t reader;
};

struct libusb_device_handle {
    libusb_device *device;
};

struct libusb_context {
    int unused;
};

static struct libusb_context the_context;
/* The device of the last list: the same one while it is plugged in. */
static pthread_mutex_t bus_lock = PTHREAD_MUTEX_INITIALIZER;
static libusb_device *present;
/* Asynchronous transfers that are done, and not told yet. */
static pthread_mutex_t events_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t events_changed = PTHREAD_COND_INITIALIZER;
static async *finished;
static bool interrupted;

static void put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v & 0xffff);
}

static unsigned get16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)get16(p) << 16 | get16(p + 2);
}

/* The connection. */

static bool receive(int fd, void *buf, size_t n)
{
    char *p = buf;

    while (n) {
        ssize_t got = recv(fd, p, n, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        p += got;
        n -= (size_t)got;
    }
    return true;
}

static bool transmit(int fd, const void *buf, size_t n)
{
    const char *p = buf;

    while (n) {
        ssize_t put = send(fd, p, n, MSG_NOSIGNAL);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        p += put;
        n -= (size_t)put;
    }
    return true;
}

static void set_timeout(int fd, int ms)
{
    struct timeval tv = {.tv_sec = ms / 1000,
                         .tv_usec = (suseconds_t)(ms % 1000) * 1000};

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
}

static int dial(void)
{
    const char *place = getenv("VPU_USBIP");
    struct sockaddr_in at = {.sin_family = AF_INET};
    char address[64];
    unsigned port = USBIP_PORT;
    int one = 1, fd;

    if (!place || sscanf(place, "%63[0-9.]:%u", address, &port) < 1 ||
        inet_pton(AF_INET, address, &at.sin_addr) != 1)
        return -1;
    at.sin_port = htons((uint16_t)port);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    set_timeout(fd, CONNECT_MS);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (struct sockaddr *)&at, sizeof at)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Ask with a request that has n bytes more; -1, or the connection behind the
 * head of a good answer. */
static int ask(uint16_t code, const void *more, size_t n)
{
    uint8_t head[USBIP_OP_BYTES] = {0};
    int fd = dial();

    if (fd < 0)
        return -1;
    put16(head, USBIP_VERSION);
    put16(head + 2, code);
    if (transmit(fd, head, sizeof head) && transmit(fd, more, n) &&
        receive(fd, head, sizeof head) && get16(head + 2) == (code & 0x7fffu) &&
        !get32(head + 4))
        return fd;
    close(fd);
    return -1;
}

static void read_device(libusb_device *d, const uint8_t *p)
{
    enum { BUSID = 256, NUMBERS = BUSID + USBIP_BUSID_BYTES };
    const uint8_t *n = p + NUMBERS;
    const char *port;

    memcpy(d->busid, p + BUSID, sizeof d->busid - 1);
    d->bus = (uint8_t)get32(n);
    d->address = (uint8_t)get32(n + 4);
    d->devid = get32(n) << 16 | get32(n + 4);
    d->speed = get32(n + 8);
    d->descriptor =
        (struct libusb_device_descriptor){.bLength = 18,
                                          .bDescriptorType = LIBUSB_DT_DEVICE,
                                          .bcdUSB = 0x0200,
                                          .idVendor = (uint16_t)get16(n + 12),
                                          .idProduct = (uint16_t)get16(n + 14),
                                          .bcdDevice = (uint16_t)get16(n + 16),
                                          .bDeviceClass = n[18],
                                          .bDeviceSubClass = n[19],
                                          .bDeviceProtocol = n[20],
                                          .bMaxPacketSize0 = 64,
                                          .iManufacturer = 1,
                                          .iProduct = 2,
                                          .iSerialNumber = 3,
                                          .bNumConfigurations = n[22]};
    /* "BUS-PORT.PORT" */
    port = strchr(d->busid, '-');
    while (port && d->n_ports < MAX_PORTS) {
        d->ports[d->n_ports++] = (uint8_t)strtoul(port + 1, NULL, 10);
        port = strchr(port + 1, '.');
    }
}

static libusb_device *device_new(void)
{
    libusb_device *d = calloc(1, sizeof *d);
    pthread_condattr_t attr;

    if (!d)
        return NULL;
    d->refs = 1;
    d->fd = -1;
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->sending, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&d->changed, &attr);
    pthread_condattr_destroy(&attr);
    return d;
}

/* What the server has, not opened; NULL: nothing there. */
static libusb_device *look(void)
{
    uint8_t count[4], bytes[USBIP_DEVICE_BYTES];
    int fd = ask(USBIP_REQ_DEVLIST, NULL, 0);
    libusb_device *d = NULL;

    if (fd < 0)
        return NULL;
    if (receive(fd, count, sizeof count) && get32(count) &&
        receive(fd, bytes, sizeof bytes)) {
        d = device_new();
        if (d)
            read_device(d, bytes);
    }
    close(fd);
    return d;
}

/* Transfers. */

static request *find(libusb_device *d, uint32_t seqnum)
{
    request *r = d->waiting;

    while (r && r->seqnum != seqnum && (!r->unlink || r->unlink != seqnum))
        r = r->next;
    return r;
}

static void tell(async *a)
{
    async **at = &finished;

    pthread_mutex_lock(&events_lock);
    while (*at)
        at = &(*at)->next;
    a->next = NULL;
    *at = a;
    pthread_cond_broadcast(&events_changed);
    pthread_mutex_unlock(&events_lock);
}

/* With the lock. */
static void finish(libusb_device *d, request *r, int32_t status)
{
    request **at = &d->waiting;

    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    r->status = status;
    r->done = true;
    if (r->async)
        tell(r->async);
    else
        pthread_cond_broadcast(&d->changed);
}

/* The bytes of a reply go where its request says, without the lock: a request
 * stays until it is done. */
static bool read_reply(libusb_device *d)
{
    uint8_t head[USBIP_HEADER_BYTES];
    uint32_t command, moved;
    request *r;

    if (!receive(d->fd, head, sizeof head))
        return false;
    command = get32(head);
    moved = get32(head + 24);
    pthread_mutex_lock(&d->lock);
    r = find(d, get32(head + 4));
    pthread_mutex_unlock(&d->lock);
    if (!r)
        return command == USBIP_RET_UNLINK;
    if (command == USBIP_RET_SUBMIT) {
        if (moved > r->length ||
            (r->in && moved && !receive(d->fd, r->in, moved)))
            return false;
        r->moved = moved;
    } else if (command != USBIP_RET_UNLINK) {
        return false;
    }
    pthread_mutex_lock(&d->lock);
    finish(d, r, (int32_t)get32(head + 20));
    pthread_mutex_unlock(&d->lock);
    return true;
}

static void *run_reader(void *arg)
{
    libusb_device *d = arg;

    set_timeout(d->fd, 0);
    while (read_reply(d))
        ;
    pthread_mutex_lock(&d->lock);
    d->gone = true;
    while (d->waiting)
        finish(d, d->waiting, -ENODEV);
    pthread_mutex_unlock(&d->lock);
    shutdown(d->fd, SHUT_RDWR);
    libusb_unref_device(d);
    return NULL;
}

static bool put_command(libusb_device *d, uint32_t command, uint32_t seqnum,
                        uint8_t endpoint, uint32_t word, uint32_t length,
                        const uint8_t *setup, const void *data)
{
    uint8_t head[USBIP_HEADER_BYTES] = {0};
    bool ok;

    put32(head, command);
    put32(head + 4, seqnum);
    put32(head + 8, d->devid);
    put32(head + 12, endpoint & EP_IN ? 1 : 0);
    put32(head + 16, endpoint & 15);
    put32(head + 20, word);
    put32(head + 24, length);
    if (setup)
        memcpy(head + 40, setup, 8);
    pthread_mutex_lock(&d->sending);
    ok = transmit(d->fd, head, sizeof head) &&
         (!data || transmit(d->fd, data, length));
    pthread_mutex_unlock(&d->sending);
    return ok;
}

/* With the lock: until r is done, or the time is up. */
static bool wait_for(libusb_device *d, request *r, unsigned timeout_ms)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    ts.tv_sec += timeout_ms / 1000;
    ts.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    ts.tv_sec += ts.tv_nsec / 1000000000;
    ts.tv_nsec %= 1000000000;
    while (!r->done)
        if (!timeout_ms)
            pthread_cond_wait(&d->changed, &d->lock);
        else if (pthread_cond_timedwait(&d->changed, &d->lock, &ts))
            return r->done;
    return true;
}

static int result_of(int32_t status)
{
    switch (status) {
    case 0:
        return 0;
    case USBIP_EPIPE:
        return LIBUSB_ERROR_PIPE;
    case USBIP_EOVERFLOW:
        return LIBUSB_ERROR_OVERFLOW;
    case USBIP_ECONNRESET:
        return LIBUSB_ERROR_TIMEOUT;
    case -ENODEV:
        return LIBUSB_ERROR_NO_DEVICE;
    }
    return LIBUSB_ERROR_IO;
}

/* Send r on its way; false: the device is gone. r may be done, and an
 * asynchronous one be freed, before this returns. */
static bool submit(libusb_device *d, request *r, uint8_t endpoint,
                   const uint8_t *setup, void *data)
{
    uint32_t seqnum, length = r->length;

    pthread_mutex_lock(&d->lock);
    if (d->gone || d->fd < 0) {
        pthread_mutex_unlock(&d->lock);
        return false;
    }
    r->in = endpoint & EP_IN ? data : NULL;
    seqnum = r->seqnum = ++d->seqnum;
    r->next = d->waiting;
    d->waiting = r;
    pthread_mutex_unlock(&d->lock);
    /* When it fails the reader finds the connection ended, too. */
    if (!put_command(d, USBIP_CMD_SUBMIT, seqnum, endpoint, 0, length, setup,
                     endpoint & EP_IN ? NULL : data))
        shutdown(d->fd, SHUT_RDWR);
    return true;
}

/* Ask for r back. With the lock, which is let go meanwhile. */
static void take_back(libusb_device *d, request *r, uint8_t endpoint)
{
    uint32_t victim = r->seqnum, number = r->unlink = ++d->seqnum;

    pthread_mutex_unlock(&d->lock);
    if (!put_command(d, USBIP_CMD_UNLINK, number, endpoint, victim, 0, NULL,
                     NULL))
        shutdown(d->fd, SHUT_RDWR);
    pthread_mutex_lock(&d->lock);
}

static int transfer(libusb_device *d, uint8_t endpoint, const uint8_t *setup,
                    void *data, uint32_t length, uint32_t *moved,
                    unsigned timeout_ms)
{
    request r = {.length = length};

    if (!submit(d, &r, endpoint, setup, data))
        return LIBUSB_ERROR_NO_DEVICE;
    pthread_mutex_lock(&d->lock);
    if (!wait_for(d, &r, timeout_ms)) {
        take_back(d, &r, endpoint);
        wait_for(d, &r, 0);
        /* What had moved came back as a reply; the time was up all the same. */
        if (!r.status && r.moved < length)
            r.status = USBIP_ECONNRESET;
    }
    pthread_mutex_unlock(&d->lock);
    *moved = r.moved;
    return result_of(r.status);
}

/* With bus_lock. */
static int import(libusb_device *d)
{
    uint8_t bytes[USBIP_DEVICE_BYTES], raw[18];
    uint8_t setup[8] = {
        0x80,      LIBUSB_REQUEST_GET_DESCRIPTOR, 0, LIBUSB_DT_DEVICE, 0, 0,
        sizeof raw};
    uint32_t moved = 0;

    if (d->imported)
        return d->gone ? LIBUSB_ERROR_NO_DEVICE : 0;
    d->fd = ask(USBIP_REQ_IMPORT, d->busid, sizeof d->busid);
    libusb_ref_device(d); /* the reader's, until the reader ends */
    if (d->fd < 0 || !receive(d->fd, bytes, sizeof bytes) ||
        pthread_create(&d->reader, NULL, run_reader, d)) {
        libusb_unref_device(d);
        d->gone = true;
        return LIBUSB_ERROR_NO_DEVICE;
    }
    pthread_detach(d->reader);
    d->imported = true;
    if (!transfer(d, EP_IN, setup, raw, sizeof raw, &moved, CONTROL_MS) &&
        moved == sizeof raw) {
        d->descriptor.bcdUSB = (uint16_t)(raw[2] | raw[3] << 8);
        d->descriptor.bMaxPacketSize0 = raw[7];
        d->descriptor.iManufacturer = raw[14];
        d->descriptor.iProduct = raw[15];
        d->descriptor.iSerialNumber = raw[16];
        d->descriptor.bNumConfigurations = raw[17];
    }
    return 0;
}

static bool is_gone(libusb_device *d)
{
    bool gone;

    pthread_mutex_lock(&d->lock);
    gone = d->gone;
    pthread_mutex_unlock(&d->lock);
    return gone;
}

/* The bus. */

int LIBUSB_CALL libusb_init(libusb_context **context)
{
    if (context)
        *context = &the_context;
    return 0;
}

void LIBUSB_CALL libusb_exit(libusb_context *context)
{
    (void)context;
}

int LIBUSB_CALL libusb_set_option(libusb_context *context,
                                  enum libusb_option option, ...)
{
    (void)context, (void)option;
    return 0;
}

void LIBUSB_CALL libusb_set_debug(libusb_context *context, int level)
{
    (void)context, (void)level;
}

int LIBUSB_CALL libusb_has_capability(uint32_t capability)
{
    return capability == LIBUSB_CAP_HAS_CAPABILITY;
}

ssize_t LIBUSB_CALL libusb_get_device_list(libusb_context *context,
                                           libusb_device ***list)
{
    libusb_device **found = calloc(2, sizeof *found);

    (void)context;
    if (!found)
        return LIBUSB_ERROR_NO_MEM;
    pthread_mutex_lock(&bus_lock);
    if (present && (!present->imported || is_gone(present))) {
        libusb_unref_device(present);
        present = NULL;
    }
    if (!present)
        present = look();
    if (present)
        found[0] = libusb_ref_device(present);
    pthread_mutex_unlock(&bus_lock);
    if (!found[0])
        poll(NULL, 0, NOBODY_MS);
    *list = found;
    return found[0] ? 1 : 0;
}

void LIBUSB_CALL libusb_free_device_list(libusb_device **list, int unref)
{
    for (size_t i = 0; list && list[i] && unref; i++)
        libusb_unref_device(list[i]);
    free(list);
}

libusb_device *LIBUSB_CALL libusb_ref_device(libusb_device *d)
{
    d->refs++;
    return d;
}

void LIBUSB_CALL libusb_unref_device(libusb_device *d)
{
    if (!d || --d->refs)
        return;
    if (d->fd >= 0)
        close(d->fd);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->sending);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

uint8_t LIBUSB_CALL libusb_get_bus_number(libusb_device *d)
{
    return d->bus;
}

uint8_t LIBUSB_CALL libusb_get_device_address(libusb_device *d)
{
    return d->address;
}

uint8_t LIBUSB_CALL libusb_get_port_number(libusb_device *d)
{
    return d->n_ports ? d->ports[d->n_ports - 1] : 0;
}

int LIBUSB_CALL libusb_get_port_numbers(libusb_device *d, uint8_t *ports, int n)
{
    if (n < d->n_ports)
        return LIBUSB_ERROR_OVERFLOW;
    memcpy(ports, d->ports, d->n_ports);
    return d->n_ports;
}

libusb_device *LIBUSB_CALL libusb_get_parent(libusb_device *d)
{
    (void)d;
    return NULL;
}

int LIBUSB_CALL libusb_get_device_speed(libusb_device *d)
{
    return d->speed == USBIP_SPEED_SUPER ? LIBUSB_SPEED_SUPER
                                         : LIBUSB_SPEED_HIGH;
}

int LIBUSB_CALL libusb_get_device_descriptor(
    libusb_device *d, struct libusb_device_descriptor *out)
{
    *out = d->descriptor;
    return 0;
}

/* A configuration, one interface, its endpoints: in one piece of memory. */
typedef struct {
    struct libusb_config_descriptor config;
    struct libusb_interface interface;
    struct libusb_interface_descriptor setting;
    struct libusb_endpoint_descriptor endpoints[16];
} description;

static void describe(description *x, const uint8_t *raw, size_t n)
{
    for (size_t at = 0; at + 2 <= n && raw[at] >= 2 && at + raw[at] <= n;
         at += raw[at]) {
        const uint8_t *p = raw + at;
        struct libusb_endpoint_descriptor *e =
            &x->endpoints[x->setting.bNumEndpoints];

        if (p[1] == LIBUSB_DT_CONFIG && p[0] >= 9) {
            x->config = (struct libusb_config_descriptor){
                .bLength = p[0],
                .bDescriptorType = p[1],
                .wTotalLength = (uint16_t)(p[2] | p[3] << 8),
                .bNumInterfaces = 1,
                .bConfigurationValue = p[5],
                .iConfiguration = p[6],
                .bmAttributes = p[7],
                .MaxPower = p[8],
                .interface = &x->interface};
        } else if (p[1] == LIBUSB_DT_INTERFACE && p[0] >= 9) {
            x->setting =
                (struct libusb_interface_descriptor){.bLength = p[0],
                                                     .bDescriptorType = p[1],
                                                     .bInterfaceNumber = p[2],
                                                     .bAlternateSetting = p[3],
                                                     .bInterfaceClass = p[5],
                                                     .bInterfaceSubClass = p[6],
                                                     .bInterfaceProtocol = p[7],
                                                     .iInterface = p[8],
                                                     .endpoint = x->endpoints};
            x->interface = (struct libusb_interface){&x->setting, 1};
        } else if (p[1] == LIBUSB_DT_ENDPOINT && p[0] >= 7 &&
                   x->setting.bNumEndpoints < 16) {
            *e = (struct libusb_endpoint_descriptor){
                .bLength = p[0],
                .bDescriptorType = p[1],
                .bEndpointAddress = p[2],
                .bmAttributes = p[3],
                .wMaxPacketSize = (uint16_t)(p[4] | p[5] << 8),
                .bInterval = p[6]};
            x->setting.bNumEndpoints++;
        }
    }
}

int LIBUSB_CALL libusb_get_config_descriptor(
    libusb_device *d, uint8_t index, struct libusb_config_descriptor **out)
{
    uint8_t raw[GADGET_REPLY_MAX];
    uint8_t setup[8] = {
        0x80, LIBUSB_REQUEST_GET_DESCRIPTOR, index, LIBUSB_DT_CONFIG, 0, 0, 0,
        1};
    uint32_t moved = 0;
    description *x;
    int status;

    pthread_mutex_lock(&bus_lock);
    status = import(d);
    pthread_mutex_unlock(&bus_lock);
    if (!status)
        status = transfer(d, EP_IN, setup, raw, sizeof raw, &moved, CONTROL_MS);
    if (status)
        return status;
    x = calloc(1, sizeof *x);
    if (!x)
        return LIBUSB_ERROR_NO_MEM;
    describe(x, raw, moved);
    *out = &x->config;
    return 0;
}

int LIBUSB_CALL libusb_get_active_config_descriptor(
    libusb_device *d, struct libusb_config_descriptor **out)
{
    return libusb_get_config_descriptor(d, 0, out);
}

void LIBUSB_CALL
libusb_free_config_descriptor(struct libusb_config_descriptor *config)
{
    free(config); /* the first member of its description */
}

int LIBUSB_CALL libusb_get_max_packet_size(libusb_device *d, unsigned char ep)
{
    (void)ep;
    return d->speed == USBIP_SPEED_SUPER ? 1024 : 512;
}

/* An open device. */

int LIBUSB_CALL libusb_open(libusb_device *d, libusb_device_handle **out)
{
    libusb_device_handle *h = malloc(sizeof *h);
    int status;

    if (!h)
        return LIBUSB_ERROR_NO_MEM;
    pthread_mutex_lock(&bus_lock);
    status = import(d);
    pthread_mutex_unlock(&bus_lock);
    if (status) {
        free(h);
        return status;
    }
    h->device = libusb_ref_device(d);
    *out = h;
    return 0;
}

void LIBUSB_CALL libusb_close(libusb_device_handle *h)
{
    if (!h)
        return;
    libusb_unref_device(h->device);
    free(h);
}

libusb_device *LIBUSB_CALL libusb_get_device(libusb_device_handle *h)
{
    return h->device;
}

int LIBUSB_CALL libusb_control_transfer(libusb_device_handle *h, uint8_t type,
                                        uint8_t code, uint16_t value,
                                        uint16_t index, unsigned char *data,
                                        uint16_t length, unsigned timeout_ms)
{
    uint8_t setup[8] = {type,
                        code,
                        (uint8_t)value,
                        (uint8_t)(value >> 8),
                        (uint8_t)index,
                        (uint8_t)(index >> 8),
                        (uint8_t)length,
                        (uint8_t)(length >> 8)};
    uint32_t moved = 0;
    int status = transfer(h->device, type & EP_IN, setup, data, length, &moved,
                          timeout_ms);

    return status ? status : (int)moved;
}

/* With VPU_USBIP_KEEP=FOLDER the graphs a host sends are kept there, also those
 * that the stick refuses: 0.blob, 1.blob ... Hosts send one in one transfer. */
static void keep(unsigned char endpoint, const unsigned char *data, int n)
{
    static _Atomic unsigned count;
    static const uint8_t magic[] = {0x7f, 'e', 'l', 'f'};
    enum { HEADER_BYTES = 132 }; /* sent by itself, too */
    const char *folder = getenv("VPU_USBIP_KEEP");
    char path[4096];
    FILE *f;

    if (!folder || endpoint & EP_IN || n <= HEADER_BYTES ||
        memcmp(data, magic, sizeof magic))
        return;
    snprintf(path, sizeof path, "%s/%u.blob", folder, count++);
    f = fopen(path, "wb");
    if (!f)
        return;
    fwrite(data, 1, (size_t)n, f);
    fclose(f);
}

int LIBUSB_CALL libusb_bulk_transfer(libusb_device_handle *h,
                                     unsigned char endpoint,
                                     unsigned char *data, int length,
                                     int *actual, unsigned timeout_ms)
{
    uint32_t total = 0, moved, piece;
    int status;

    if (length < 0)
        return LIBUSB_ERROR_INVALID_PARAM;
    keep(endpoint, data, length);
    do {
        piece = (uint32_t)length - total;
        if (piece > MAX_URB)
            piece = MAX_URB;
        moved = 0;
        status = transfer(h->device, endpoint, NULL, data + total, piece,
                          &moved, timeout_ms);
        total += moved;
    } while (!status && moved == piece && total < (uint32_t)length);
    if (actual)
        *actual = (int)total;
    return status;
}

int LIBUSB_CALL libusb_interrupt_transfer(libusb_device_handle *h,
                                          unsigned char endpoint,
                                          unsigned char *data, int length,
                                          int *actual, unsigned timeout_ms)
{
    return libusb_bulk_transfer(h, endpoint, data, length, actual, timeout_ms);
}

/* Asynchronous transfers: without a time-out of their own. */

static async *async_of(struct libusb_transfer *t)
{
    return (async *)((char *)t - offsetof(async, t));
}

struct libusb_transfer *LIBUSB_CALL libusb_alloc_transfer(int packets)
{
    async *a = packets ? NULL : calloc(1, sizeof *a);

    return a ? &a->t : NULL;
}

void LIBUSB_CALL libusb_free_transfer(struct libusb_transfer *t)
{
    if (t)
        free(async_of(t));
}

int LIBUSB_CALL libusb_submit_transfer(struct libusb_transfer *t)
{
    async *a = async_of(t);

    if (t->type == LIBUSB_TRANSFER_TYPE_CONTROL || t->length < 0 ||
        t->length > MAX_URB)
        return LIBUSB_ERROR_NOT_SUPPORTED;
    a->r = (request){.length = (uint32_t)t->length, .async = a};
    return submit(t->dev_handle->device, &a->r, t->endpoint, NULL, t->buffer)
               ? 0
               : LIBUSB_ERROR_NO_DEVICE;
}

int LIBUSB_CALL libusb_cancel_transfer(struct libusb_transfer *t)
{
    libusb_device *d = t->dev_handle->device;
    request *r = &async_of(t)->r;
    bool done;

    pthread_mutex_lock(&d->lock);
    done = r->done;
    if (!done && !r->unlink)
        take_back(d, r, t->endpoint);
    pthread_mutex_unlock(&d->lock);
    return done ? LIBUSB_ERROR_NOT_FOUND : 0;
}

static void complete(async *a)
{
    struct libusb_transfer *t = &a->t;

    t->actual_length = (int)a->r.moved;
    switch (a->r.status) {
    case 0:
        t->status = a->r.unlink && a->r.moved < a->r.length
                        ? LIBUSB_TRANSFER_CANCELLED
                        : LIBUSB_TRANSFER_COMPLETED;
        break;
    case USBIP_ECONNRESET:
        t->status = LIBUSB_TRANSFER_CANCELLED;
        break;
    case USBIP_EPIPE:
        t->status = LIBUSB_TRANSFER_STALL;
        break;
    case USBIP_EOVERFLOW:
        t->status = LIBUSB_TRANSFER_OVERFLOW;
        break;
    case -ENODEV:
        t->status = LIBUSB_TRANSFER_NO_DEVICE;
        break;
    default:
        t->status = LIBUSB_TRANSFER_ERROR;
    }
    t->callback(t);
}

int LIBUSB_CALL libusb_handle_events_timeout_completed(libusb_context *context,
                                                       struct timeval *tv,
                                                       int *completed)
{
    struct timespec ts;
    bool told = false;

    (void)context;
    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_sec += tv->tv_sec;
    ts.tv_nsec += (long)tv->tv_usec * 1000;
    ts.tv_sec += ts.tv_nsec / 1000000000;
    ts.tv_nsec %= 1000000000;
    pthread_mutex_lock(&events_lock);
    while (!told && !interrupted && !(completed && *completed)) {
        while (finished) {
            async *a = finished;

            finished = a->next;
            pthread_mutex_unlock(&events_lock);
            complete(a);
            told = true;
            pthread_mutex_lock(&events_lock);
            pthread_cond_broadcast(&events_changed); /* for *completed */
        }
        if (!told && pthread_cond_timedwait(&events_changed, &events_lock, &ts))
            break;
    }
    interrupted = false;
    pthread_mutex_unlock(&events_lock);
    return 0;
}

int LIBUSB_CALL libusb_handle_events_timeout(libusb_context *context,
                                             struct timeval *tv)
{
    return libusb_handle_events_timeout_completed(context, tv, NULL);
}

int LIBUSB_CALL libusb_handle_events(libusb_context *context)
{
    struct timeval tv = {.tv_sec = 60};

    return libusb_handle_events_timeout_completed(context, &tv, NULL);
}

void LIBUSB_CALL libusb_interrupt_event_handler(libusb_context *context)
{
    (void)context;
    pthread_mutex_lock(&events_lock);
    interrupted = true;
    pthread_cond_broadcast(&events_changed);
    pthread_mutex_unlock(&events_lock);
}

static int standard(libusb_device_handle *h, uint8_t type, uint8_t code,
                    uint16_t value, uint16_t index)
{
    int n = libusb_control_transfer(h, type, code, value, index, NULL, 0,
                                    CONTROL_MS);

    return n < 0 ? n : 0;
}

int LIBUSB_CALL libusb_set_configuration(libusb_device_handle *h, int value)
{
    return standard(h, 0, LIBUSB_REQUEST_SET_CONFIGURATION, (uint16_t)value, 0);
}

int LIBUSB_CALL libusb_get_configuration(libusb_device_handle *h, int *value)
{
    uint8_t byte = 0;
    int n = libusb_control_transfer(h, EP_IN, LIBUSB_REQUEST_GET_CONFIGURATION,
                                    0, 0, &byte, 1, CONTROL_MS);

    *value = byte;
    return n < 0 ? n : 0;
}

int LIBUSB_CALL libusb_clear_halt(libusb_device_handle *h,
                                  unsigned char endpoint)
{
    return standard(h, LIBUSB_RECIPIENT_ENDPOINT, LIBUSB_REQUEST_CLEAR_FEATURE,
                    0, endpoint);
}

int LIBUSB_CALL libusb_get_string_descriptor_ascii(libusb_device_handle *h,
                                                   uint8_t index,
                                                   unsigned char *data, int n)
{
    uint8_t raw[255];
    int got = libusb_control_transfer(h, EP_IN, LIBUSB_REQUEST_GET_DESCRIPTOR,
                                      (uint16_t)(LIBUSB_DT_STRING << 8 | index),
                                      0x0409, raw, sizeof raw, CONTROL_MS);
    int at = 0;

    if (got < 0)
        return got;
    for (int i = 2; i + 1 < got && at < n - 1; i += 2)
        data[at++] = raw[i + 1] || raw[i] > 127 ? '?' : raw[i];
    if (n > 0)
        data[at] = 0;
    return at;
}

int LIBUSB_CALL libusb_reset_device(libusb_device_handle *h)
{
    return is_gone(h->device) ? LIBUSB_ERROR_NOT_FOUND : 0;
}

/* There is no kernel that could have the interface, and no other program. */

int LIBUSB_CALL libusb_claim_interface(libusb_device_handle *h, int n)
{
    (void)n;
    return is_gone(h->device) ? LIBUSB_ERROR_NO_DEVICE : 0;
}

int LIBUSB_CALL libusb_release_interface(libusb_device_handle *h, int n)
{
    return libusb_claim_interface(h, n);
}

int LIBUSB_CALL libusb_kernel_driver_active(libusb_device_handle *h, int n)
{
    (void)h, (void)n;
    return 0;
}

int LIBUSB_CALL libusb_detach_kernel_driver(libusb_device_handle *h, int n)
{
    (void)h, (void)n;
    return LIBUSB_ERROR_NOT_FOUND;
}

int LIBUSB_CALL libusb_attach_kernel_driver(libusb_device_handle *h, int n)
{
    return libusb_detach_kernel_driver(h, n);
}

int LIBUSB_CALL libusb_set_auto_detach_kernel_driver(libusb_device_handle *h,
                                                     int on)
{
    (void)h, (void)on;
    return 0;
}

const char *LIBUSB_CALL libusb_error_name(int code)
{
    switch (code) {
    case 0:
        return "LIBUSB_SUCCESS";
    case LIBUSB_ERROR_PIPE:
        return "LIBUSB_ERROR_PIPE";
    case LIBUSB_ERROR_OVERFLOW:
        return "LIBUSB_ERROR_OVERFLOW";
    case LIBUSB_ERROR_TIMEOUT:
        return "LIBUSB_ERROR_TIMEOUT";
    case LIBUSB_ERROR_NO_DEVICE:
        return "LIBUSB_ERROR_NO_DEVICE";
    case LIBUSB_ERROR_NOT_FOUND:
        return "LIBUSB_ERROR_NOT_FOUND";
    }
    return "LIBUSB_ERROR_IO";
}

const char *LIBUSB_CALL libusb_strerror(int code)
{
    return libusb_error_name(code);
}
