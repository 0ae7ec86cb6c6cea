/* The stick as its USB descriptors: what endpoint 0 answers, before and after
 * the boot (docs/usb.md, "Identity"). Pure functions, any thread. */
#ifndef VPU_RUNTIME_STICK_GADGET_H
#define VPU_RUNTIME_STICK_GADGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GADGET_STALL = -1, GADGET_REPLY_MAX = 256, GADGET_INTERFACES = 1 };

typedef struct {
    bool booted;
    bool super;            /* SuperSpeed, booted only; else high speed */
    const char *serial;    /* of the booted stick, hexadecimal */
    uint8_t configuration; /* 0 until the host sets it */
} gadget;

typedef struct {
    uint16_t vendor, product, release;
    uint8_t class[3];           /* class, subclass, protocol of the device */
    uint8_t interface_class[3]; /* and of its one interface */
} gadget_ids;

gadget_ids gadget_identity(const gadget *g);
/* Bytes of a bulk packet. */
unsigned gadget_packet(const gadget *g);

/* Answer a control request: the bytes for the host in reply, their count
 * returned (0 for requests that carry none), or GADGET_STALL for what a stick
 * does not know. */
int gadget_control(gadget *g, const uint8_t setup[8],
                   uint8_t reply[GADGET_REPLY_MAX]);

#endif
