/* Work-groups on the interpreter: the finished SHAVE program, bundle
 * by bundle, with the hooks compiled code has. For holding the two against each
 * other, and for who wants to see the program itself run. */
#ifndef VPU_SIM_EXEC_INTERP_H
#define VPU_SIM_EXEC_INTERP_H

#include "base/arena.h"
#include "base/err.h"
#include "isa/interp.h"
#include "sim/compiler/abi/hostabi.h"

typedef struct interp_code interp_code;
struct profile_shave;

/* What is told while a group runs; NULL: nothing. */
typedef struct {
    struct profile_shave *profile; /* which block and line is at work */
    /* As exec_observer.bundle. */
    void (*bundle)(void *user, const isa_function *f, uint64_t cycle,
                   const isa_instr *in, uint32_t n);
    void *user;
} interp_watch;

/* f with its callees found, in the arena; f must stay. args_bytes: of the
 * packed argument block.
 * VPU_ERR_PARSE     it loads arguments or words of the group behind the last
 * VPU_ERR_INTERNAL  a callee nobody knows, named (a defect of ours) */
vpu_status interp_prepare(const isa_function *f, uint32_t args_bytes, arena *a,
                          interp_code **out, vpu_error *err);
/* Before groups run; what does not run needs none. watched: interp_watch.bundle
 * is to be called. */
void interp_make_steps(interp_code *c, bool watched, arena *a);

/* What a group runs with: as a sim_wg_fn gets it, and what the interpreter
 * adds. Borrowed. */
typedef struct {
    const sim_hooks *hooks;
    sim_wg *wg;
    uint8_t *window;
    const uint8_t *args; /* the packed argument block */
    uint64_t *log;
    void *scratch; /* interp_scratch_size bytes, aligned for anything; a
                      thread's own */
    interp_watch watch;
} interp_job;

/* What a sim_wg_fn does. Returns the issue cycles. */
uint64_t interp_group(const interp_code *c, const interp_job *job);
const isa_function *interp_function(const interp_code *c);
size_t interp_scratch_size(const interp_code *c);

#endif
