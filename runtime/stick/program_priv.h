/* What building and running a program share. */
#ifndef VPU_RUNTIME_STICK_PROGRAM_PRIV_H
#define VPU_RUNTIME_STICK_PROGRAM_PRIV_H

#include "runtime/blob/blob.h"
#include "runtime/stick/move.h"
#include "runtime/stick/program.h"

/* The device's memory, a buffer of the graph each. */
typedef enum {
    AREA_INPUT,
    AREA_OUTPUT,
    AREA_SCRATCH,
    AREA_CONST,
    N_AREAS
} stick_area;

typedef struct {
    enum { STEP_NOTHING, STEP_LAUNCH, STEP_MOVE } kind;
    uint32_t launch;
    stick_area from, to; /* MOVE */
    stick_move move;
} stick_step;

struct stick_program {
    arena *arena;
    stick_program_config cfg;
    blob blob;
    graph graph;
    mach_desc desc;
    backend_config run;
    backend sim;
    stick_step *steps; /* a step per stage */
};

/* The makers of native.def: the step for a stage, and the launch it runs. */
#define NATIVE(number, maker, how)                                            \
    vpu_status maker(stick_program *p, const blob_stage *s, const char *name, \
                     stick_step *out, vpu_error *err);
#include "runtime/stick/native.def"

/* Where a buffer of the blob is; false: in none of the areas, or outside. */
bool stick_place(const blob *b, const blob_buffer *f, uint64_t bytes,
                 stick_area *at, uint32_t *offset);

/* The launch that does what a step's move does, when one of the simulator's
 * own kernels can: whole tensors, from one order or type to the other. */
bool stick_convert(stick_program *p, const blob_stage *s, const stick_step *t,
                   const char *name, graph_launch *out);
/* The launch of a custom stage. s is in p->blob. */
vpu_status stick_custom(stick_program *p, const blob_stage *s, const char *name,
                        graph_launch *out, vpu_error *err);

#endif
