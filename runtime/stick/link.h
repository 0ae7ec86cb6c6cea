/* The speed of a link: a transport that sleeps. */
#ifndef VPU_RUNTIME_STICK_LINK_H
#define VPU_RUNTIME_STICK_LINK_H

#include <stdbool.h>

#include "runtime/link/transport.h"

typedef enum {
#define STICK_LINK(name, ...) STICK_LINK_##name,
#include "runtime/stick/link.def"
    STICK_N_LINKS
} stick_link;

/* "none", "usb3", "usb2". */
bool stick_link_parse(const char *text, stick_link *out);

/* Wrap: each transfer takes its bytes over the rate, and so much more. inner
 * stays the caller's and outlives the result. VPU_ERR_NOMEM. */
vpu_status stick_link_wrap(transport *inner, stick_link link, transport **out,
                           vpu_error *err);

#endif
