/* A debugger for editors: the Debug Adapter Protocol over runtime/debug.
 *
 * Messages come and go through two file descriptors. One thread reads them, so
 * that what a client wants while a kernel runs is there at the kernel's next
 * event; everything else, and every answer, is of the caller's thread. */
#ifndef VPU_RUNTIME_DAP_DAP_H
#define VPU_RUNTIME_DAP_DAP_H

#include "runtime/debug/debug.h"

/* Messages that are longer are not taken. */
enum { DAP_MAX_MESSAGE = 16 << 20 };

/* What a launch request asks for. */
typedef struct {
    const char *const *words; /* as behind `vpu debug`, NULL at the end */
    uint32_t n_words;
    const char *cwd; /* the folder that files are named from; NULL: this one */
} dap_launch;

typedef struct {
    int in, out; /* borrowed */
    /* Makes what a session runs: *out without control, interrupt and log, which
     * are the server's. It is valid until close. May be NULL in close alone. */
    vpu_status (*open)(void *user, const dap_launch *l, const log_sink *log,
                       debug_config *out, vpu_error *err);
    /* After the session, whether open did it or not; NULL: nothing is done. */
    void (*close)(void *user);
    /* In the thread that reads, when the input has ended, or a while after
     * `disconnect`, and dap_serve has not returned for `patience` seconds: a
     * compiler may be at work. NULL: it is waited for. */
    void (*late)(void *user);
    double patience;
    void *user;
} dap_config;

/* Until `disconnect` or the end of the input. What clients do wrong is told to
 * them and is no error.
 *
 * VPU_ERR_IO  no thread or pipe could be made */
vpu_status dap_serve(const dap_config *cfg, vpu_error *err);

#endif
