/* A stick's firmware: the stream of commands its ROM executes while it boots
 * (an .mvcmd file), and what the host changes in it before it sends it.
 *
 * The grammar was derived from published Myriad 2 images [I]; the images for
 * Myriad X of OpenVINO 2021.4.0, .1, .2 and 2022.2 follow it to their last byte
 * (docs/usb.md). Pure functions, any thread. */
#ifndef VPU_RUNTIME_USB_FIRMWARE_H
#define VPU_RUNTIME_USB_FIRMWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "runtime/link/xlink_wire.h"

typedef struct {
    bool complete;       /* the last command is there: the ROM starts it */
    uint32_t entry;      /* its address, once complete */
    size_t n_commands;   /* whole ones */
    size_t end;          /* byte behind the last whole one */
    size_t execute_at;   /* of the last command, once complete */
    size_t last_call_at; /* of the last call, 0 = none yet */
    uint32_t last_call;  /* its address */
    size_t reads;        /* the last whole command but for padding asks for so
                            many bytes of memory; 0 = it is another one */
} firmware_info;

/* Follow the commands of the first n bytes, which may be the beginning of a
 * longer image (out->complete says).
 *
 * VPU_ERR_PARSE  not an image: "byte N: command 0x.. is not known" */
vpu_status firmware_scan(const uint8_t *data, size_t n, firmware_info *out,
                         vpu_error *err);

typedef struct {
    bool watchdog;    /* the stick reboots when pings stay away */
    uint8_t ddr_type; /* 0 finds out, 1 Micron 2 GB, 2 Samsung 2 GB, 3 Hynix
                         2 GB, 4 Micron 1 GB */
} firmware_options;

/* The image as its own release's host sends it: commands more, each a byte
 * written to memory the firmware looks at. One whose last call no host is known
 * to look for gets the DDR type only when one is asked for; one without a call
 * never does.
 *
 * VPU_ERR_INVALID  ddr_type above 4
 * VPU_ERR_PARSE    not a whole image (message: what is missing) */
vpu_status firmware_patch(const uint8_t *data, size_t n,
                          const firmware_options *o, str *out, vpu_error *err);

/* The layout that the host libraries published with this very image speak.
 * False for images that are not known: then the user has to say. *release (may
 * be NULL) is set to its name. */
bool firmware_layout(const uint8_t *data, size_t n, xlink_layout *out,
                     const char **release);

#endif
