/* Builds the descriptors of the stick and answers control requests on endpoint
 * 0. */
#include "runtime/stick/gadget.h"

#include <string.h>

#include "runtime/usb/device.h"

enum {
    GET_STATUS = 0,
    CLEAR_FEATURE = 1,
    SET_FEATURE = 3,
    GET_DESCRIPTOR = 6,
    GET_CONFIGURATION = 8,
    SET_CONFIGURATION = 9,
    GET_INTERFACE = 10,
    SET_INTERFACE = 11,
    SET_SEL = 0x30, /* SuperSpeed: exit latencies, of no use here */
    SET_ISOCH_DELAY = 0x31
};

enum {
    DEVICE = 1,
    CONFIG = 2,
    STRING = 3,
    INTERFACE = 4,
    ENDPOINT = 5,
    BOS = 15,
    COMPANION = 48
};

enum { TO_HOST = 0x80, RECIPIENT = 0x1f, TO_ENDPOINT = 2 };

typedef struct {
    uint8_t *at, *start;
} writer;

static void put(writer *w, const void *bytes, size_t n)
{
    memcpy(w->at, bytes, n);
    w->at += n;
}

/* The booted strings are those of a Myriad 2 dump; NCS2 firmware may name
 * another maker [U]. */
static const char *text(const gadget *g, unsigned index)
{
    switch (index) {
    case 1:
        return g->booted ? "Movidius" : "Movidius Ltd.";
    case 2:
        return g->booted ? "VSC Loopback Device" : "Movidius MyriadX";
    case 3:
        return g->booted ? g->serial : "03e72485";
    case 4:
        return g->booted ? "Bulk Data" : NULL;
    default:
        return NULL;
    }
}

gadget_ids gadget_identity(const gadget *g)
{
    return (gadget_ids){USB_VENDOR,
                        g->booted ? USB_BOOTED : USB_UNBOOTED,
                        0x0001,
                        {0, 0, 0},
                        {0xff, g->booted ? 0 : 0x11, g->booted ? 0 : 0xff}};
}

unsigned gadget_packet(const gadget *g)
{
    return g->booted && g->super ? 1024 : 512;
}

static void put_device(const gadget *g, writer *w)
{
    gadget_ids id = gadget_identity(g);
    /* bcdUSB of the booted stick: at high speed from a Myriad 2 dump, at
     * SuperSpeed [U]. */
    unsigned usb = !g->booted ? 0x0200 : g->super ? 0x0300 : 0x0210;
    const uint8_t d[18] = {18,
                           DEVICE,
                           (uint8_t)usb,
                           (uint8_t)(usb >> 8),
                           id.class[0],
                           id.class[1],
                           id.class[2],
                           g->booted && g->super ? 9 : 64,
                           (uint8_t)id.vendor,
                           (uint8_t)(id.vendor >> 8),
                           (uint8_t)id.product,
                           (uint8_t)(id.product >> 8),
                           (uint8_t)id.release,
                           (uint8_t)(id.release >> 8),
                           1,
                           2,
                           3,
                           1};

    put(w, d, sizeof d);
}

static void put_config(const gadget *g, writer *w)
{
    static const uint8_t rom[] = {USB_IN, USB_OUT};
    /* Only the first pair is used [L]. */
    static const uint8_t firmware[] = {0x01, 0x81, 0x02, 0x82, 0x03, 0x83};
    gadget_ids id = gadget_identity(g);
    const uint8_t *ends = g->booted ? firmware : rom;
    uint8_t n = g->booted ? sizeof firmware : sizeof rom;
    unsigned packet = gadget_packet(g);
    const uint8_t head[18] = {9,
                              CONFIG,
                              0,
                              0,
                              GADGET_INTERFACES,
                              1,
                              0,
                              g->booted ? 0xc0 : 0x80,
                              g->booted ? 3 : 250,
                              9,
                              INTERFACE,
                              0,
                              0,
                              n,
                              id.interface_class[0],
                              id.interface_class[1],
                              id.interface_class[2],
                              g->booted ? 4 : 0};

    put(w, head, sizeof head);
    for (uint8_t i = 0; i < n; i++) {
        const uint8_t e[7] = {7, ENDPOINT,        ends[i],
                              2, (uint8_t)packet, (uint8_t)(packet >> 8),
                              0};
        const uint8_t companion[6] = {6, COMPANION};

        put(w, e, sizeof e);
        if (g->booted && g->super)
            put(w, companion, sizeof companion);
    }
    w->start[2] = (uint8_t)(w->at - w->start);
}

static void put_string(const gadget *g, unsigned index, writer *w)
{
    const char *s = index ? text(g, index) : NULL;
    uint8_t head[2] = {2, STRING};

    if (!index) {
        const uint8_t languages[4] = {4, STRING, 0x09, 0x04};

        put(w, languages, sizeof languages);
        return;
    }
    if (!s)
        return;
    put(w, head, sizeof head);
    for (; *s && w->at - w->start < GADGET_REPLY_MAX - 2; s++) {
        const uint8_t wide[2] = {(uint8_t)*s, 0};

        put(w, wide, sizeof wide);
    }
    w->start[0] = (uint8_t)(w->at - w->start);
}

static void put_bos(const gadget *g, writer *w)
{
    static const uint8_t bos[22] = {
        5,  BOS, 22, 0, 2,                        /* two capabilities */
        7,  16,  2,  2, 0,    0, 0,               /* USB 2: power management */
        10, 16,  3,  0, 0x0c, 0, 2, 10, 0xff, 7}; /* SuperSpeed */

    if (g->booted)
        put(w, bos, sizeof bos);
}

static int descriptor(const gadget *g, unsigned type, unsigned index,
                      uint8_t *reply)
{
    writer w = {reply, reply};

    if (type == DEVICE)
        put_device(g, &w);
    else if (type == CONFIG && !index)
        put_config(g, &w);
    else if (type == STRING)
        put_string(g, index, &w);
    else if (type == BOS)
        put_bos(g, &w);
    return w.at == reply ? GADGET_STALL : (int)(w.at - reply);
}

static int answer(gadget *g, const uint8_t *setup, uint8_t *reply)
{
    unsigned value = setup[2] | (unsigned)setup[3] << 8;

    reply[0] = reply[1] = 0;
    switch (setup[1]) {
    case GET_STATUS:
        reply[0] = g->booted && !(setup[0] & RECIPIENT); /* own power */
        return 2;
    case GET_DESCRIPTOR:
        return descriptor(g, value >> 8, value & 255, reply);
    case GET_CONFIGURATION:
        reply[0] = g->configuration;
        return 1;
    case GET_INTERFACE:
        return 1;
    case SET_CONFIGURATION:
        if (value > 1)
            return GADGET_STALL;
        g->configuration = (uint8_t)value;
        return 0;
    case SET_INTERFACE:
        return value ? GADGET_STALL : 0;
    case CLEAR_FEATURE:
    case SET_FEATURE:
    case SET_SEL:
    case SET_ISOCH_DELAY:
        return 0;
    default:
        return GADGET_STALL;
    }
}

int gadget_control(gadget *g, const uint8_t setup[8],
                   uint8_t reply[GADGET_REPLY_MAX])
{
    int wanted = setup[6] | setup[7] << 8;
    bool standard = !(setup[0] & 0x60);
    int n = standard ? answer(g, setup, reply) : GADGET_STALL;

    if (n > 0 && !(setup[0] & TO_HOST))
        return GADGET_STALL;
    return n > wanted ? wanted : n;
}
