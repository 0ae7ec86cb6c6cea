/* What every function of libvpusim that can fail returns and fills; a part of
 * vpu.h, which says more. */
#ifndef VPUSIM_STATUS_H
#define VPUSIM_STATUS_H

#include <stdint.h>

/* Numbers stay what they are. */
typedef enum vpu_status {
    VPU_OK = 0,
    VPU_ERR_INVALID = -1,     /* an argument, option or file says something that
                                 cannot be */
    VPU_ERR_NOMEM = -2,       /* the host's memory is short */
    VPU_ERR_IO = -3,          /* a file, device or connection fails */
    VPU_ERR_PARSE = -4,       /* a file or text is malformed */
    VPU_ERR_UNSUPPORTED = -5, /* well-formed, but not on this backend */
    VPU_ERR_FAULT = -6,      /* a kernel does what the device would not survive:
                                an access outside of its memory */
    VPU_ERR_LIMIT = -7,      /* a limit is reached: time, cycles, memory of the
                                host or of the device */
    VPU_ERR_COMPILE = -8,    /* a kernel does not compile */
    VPU_ERR_MISMATCH = -9,   /* things that must agree do not: a kernel and what
                                is bound to it, shapes, element types */
    VPU_ERR_UNDEFINED = -10, /* a kernel does what has no meaning on the device
                              */
    VPU_ERR_UNTESTED = -11,  /* a part of the model that nothing has tested */
    VPU_ERR_INTERNAL = -12,  /* a defect of this library */
    VPU_ERR_PLUGIN = -13,    /* a plug-in (backend host) failed */
    VPU_ERR_STOPPED = -14    /* vpu_graph_cancel */
} vpu_status;

/* What went wrong; the caller's. */
typedef struct vpu_error {
    int32_t code;       /* a vpu_status */
    uint32_t line, col; /* from 1, in `file`; 0 = not known */
    char file[512];     /* "" = none; names that are longer are cut off */
    char msg[4096];     /* what was found, what was expected, what to do; place
                           in front. One line, but for a compiler's diagnostics
                           and lists of what fills a memory */
} vpu_error;

#endif
