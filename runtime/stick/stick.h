/* The device's side of a booted stick, as seen through XLink: what OpenVINO's
 * host software talks to. docs/usb.md, "The virtual stick". */
#ifndef VPU_RUNTIME_STICK_STICK_H
#define VPU_RUNTIME_STICK_STICK_H

#include "base/log.h"
#include "runtime/link/transport.h"
#include "runtime/link/xlink.h"
#include "runtime/stick/fault.h"
#include "runtime/stick/link.h"
#include "runtime/stick/noise.h"
#include "sim/machine/desc.h"

typedef enum {
    STICK_RESET,  /* the host sent RESET: a stick reboots */
    STICK_GONE,   /* the link ended, or what came was no XLink */
    STICK_STOPPED /* *stop was set */
} stick_end;

typedef struct {
    xlink_layout layout;
    const char *kernels; /* folder of .cl files, by kernel name; or NULL */
    const stick_fault *faults; /* what it does wrong */
    uint32_t n_faults;
    stick_link link;       /* how fast bytes go */
    uint32_t n_threads;    /* of the host, for running kernels; 0 = all */
    const mach_desc *desc; /* the machine it is; NULL = the default one */
    stick_noise noise;     /* of the times it tells */
    bool no_cache;
    double timeout_s;  /* per stage, host time; 0 = no limit */
    double watchdog_s; /* without a ping of a host that pings: then it reboots;
                          0 = never */
    unsigned timeout_ms;     /* of answers of the host; 0 = 20 s */
    unsigned ping_ms;        /* for its first packet; 0 = for ever */
    const atomic_bool *stop; /* or NULL */
    const xlink_watch *watch;
    const log_sink *log; /* called from one thread at a time */
} stick_config;

/* Serve one session, until it ends. t stays the caller's, to close. *how is
 * always set; an error says why a link ended that no RESET ended.
 *
 * VPU_ERR_IO, VPU_ERR_LIMIT, VPU_ERR_NOMEM  as of xlink.h; not for RESET and
 *                                           *stop */
vpu_status stick_serve(transport *t, const stick_config *c, stick_end *how,
                       vpu_error *err);

#endif
