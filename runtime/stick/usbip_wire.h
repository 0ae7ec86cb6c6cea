/* USB/IP on the wire (Linux, Documentation/usb/usbip_protocol.rst): a tool
 * lists and imports a device, then the kernel sends URBs. Big-endian. */
#ifndef VPU_RUNTIME_STICK_USBIP_WIRE_H
#define VPU_RUNTIME_STICK_USBIP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/stick/gadget.h"

enum {
    USBIP_VERSION = 0x0111,
    USBIP_PORT = 3240,
    USBIP_OP_BYTES = 8, /* version, code, status */
    USBIP_BUSID_BYTES = 32,
    USBIP_DEVICE_BYTES = 312,
    USBIP_HEADER_BYTES = 48,
    USBIP_INTERFACE_BYTES = 4
};

enum {
    USBIP_REQ_DEVLIST = 0x8005,
    USBIP_REP_DEVLIST = 0x0005,
    USBIP_REQ_IMPORT = 0x8003,
    USBIP_REP_IMPORT = 0x0003
};

/* Status of an import. */
enum { USBIP_OK = 0, USBIP_NOT_THERE = 1, USBIP_BUSY = 2 };

enum {
    USBIP_CMD_SUBMIT = 1,
    USBIP_CMD_UNLINK = 2,
    USBIP_RET_SUBMIT = 3,
    USBIP_RET_UNLINK = 4
};

/* Linux' numbers, which cross the wire. */
enum {
    USBIP_SHORT_NOT_OK = 1, /* transfer flag */
    USBIP_EPIPE = -32,
    USBIP_EOVERFLOW = -75,
    USBIP_ECONNRESET = -104,
    USBIP_EREMOTEIO = -121,
    USBIP_SPEED_HIGH = 3,
    USBIP_SPEED_SUPER = 5
};

typedef struct {
    uint16_t version, code;
    uint32_t status;
} usbip_op;

/* A message of the kernel. */
typedef struct {
    uint32_t command, seqnum, devid, endpoint;
    bool in;
    /* SUBMIT */
    uint32_t flags, length;
    uint8_t setup[8];
    /* UNLINK */
    uint32_t victim;
} usbip_request;

typedef struct {
    const char *busid; /* "1-1" */
    uint32_t busnum, devnum;
} usbip_place;

void usbip_put_op(uint8_t out[USBIP_OP_BYTES], uint16_t code, uint32_t status);
usbip_op usbip_get_op(const uint8_t in[USBIP_OP_BYTES]);
void usbip_put_device(uint8_t out[USBIP_DEVICE_BYTES], const gadget *g,
                      const usbip_place *at);
void usbip_put_interface(uint8_t out[USBIP_INTERFACE_BYTES], const gadget *g);

usbip_request usbip_get_request(const uint8_t in[USBIP_HEADER_BYTES]);
typedef struct {
    uint32_t command; /* RET_SUBMIT or RET_UNLINK */
    uint32_t seqnum;  /* of the request */
    int32_t status;
    uint32_t moved; /* bytes, of RET_SUBMIT */
} usbip_reply;

void usbip_put_reply(uint8_t out[USBIP_HEADER_BYTES], const usbip_reply *r);

#endif
