/* Fields put into the messages and taken out of them, at the offsets of the
 * protocol. */
#include "runtime/stick/usbip_wire.h"

#include <stdio.h>
#include <string.h>

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

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

void usbip_put_op(uint8_t out[USBIP_OP_BYTES], uint16_t code, uint32_t status)
{
    put16(out, USBIP_VERSION);
    put16(out + 2, code);
    put32(out + 4, status);
}

usbip_op usbip_get_op(const uint8_t in[USBIP_OP_BYTES])
{
    return (usbip_op){(uint16_t)(in[0] << 8 | in[1]),
                      (uint16_t)(in[2] << 8 | in[3]), get32(in + 4)};
}

void usbip_put_device(uint8_t out[USBIP_DEVICE_BYTES], const gadget *g,
                      const usbip_place *at)
{
    enum { PATH = 0, BUSID = 256, NUMBERS = BUSID + USBIP_BUSID_BYTES };
    gadget_ids id = gadget_identity(g);

    memset(out, 0, USBIP_DEVICE_BYTES);
    snprintf((char *)out + PATH, BUSID, "/sys/devices/virtual/vpusim/%s",
             at->busid);
    snprintf((char *)out + BUSID, USBIP_BUSID_BYTES, "%s", at->busid);
    put32(out + NUMBERS, at->busnum);
    put32(out + NUMBERS + 4, at->devnum);
    put32(out + NUMBERS + 8,
          g->booted && g->super ? USBIP_SPEED_SUPER : USBIP_SPEED_HIGH);
    put16(out + NUMBERS + 12, id.vendor);
    put16(out + NUMBERS + 14, id.product);
    put16(out + NUMBERS + 16, id.release);
    memcpy(out + NUMBERS + 18, id.class, 3);
    out[NUMBERS + 21] = g->configuration;
    out[NUMBERS + 22] = 1; /* configurations */
    out[NUMBERS + 23] = GADGET_INTERFACES;
}

void usbip_put_interface(uint8_t out[USBIP_INTERFACE_BYTES], const gadget *g)
{
    memcpy(out, gadget_identity(g).interface_class, 3);
    out[3] = 0;
}

usbip_request usbip_get_request(const uint8_t in[USBIP_HEADER_BYTES])
{
    usbip_request r = {.command = get32(in),
                       .seqnum = get32(in + 4),
                       .devid = get32(in + 8),
                       .in = get32(in + 12) != 0,
                       .endpoint = get32(in + 16)};

    if (r.command == USBIP_CMD_SUBMIT) {
        r.flags = get32(in + 20);
        r.length = get32(in + 24);
        memcpy(r.setup, in + 40, sizeof r.setup);
    } else {
        r.victim = get32(in + 20);
    }
    return r;
}

void usbip_put_reply(uint8_t out[USBIP_HEADER_BYTES], const usbip_reply *r)
{
    memset(out, 0, USBIP_HEADER_BYTES);
    put32(out, r->command);
    put32(out + 4, r->seqnum);
    put32(out + 20, (uint32_t)r->status);
    if (r->command == USBIP_RET_SUBMIT)
        put32(out + 24, r->moved);
}
