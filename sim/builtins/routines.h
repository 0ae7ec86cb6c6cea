/* Host code and SHAVE cost of the mathematical routines in routines.def. */
#ifndef VPU_SIM_BUILTINS_ROUTINES_H
#define VPU_SIM_BUILTINS_ROUTINES_H

#include <stdint.h>

/* The device's half; _Float16 is what compilers call it before C23. */
__extension__ typedef _Float16 sim_half;

typedef enum {
    SIM_T_OF_T,   /* T (T, …) */
    SIM_T_OF_INT, /* T (T, int) */
    SIM_INT_OF_T  /* int (T, …) */
} sim_routine_form;

typedef struct {
    const char *name;
    sim_routine_form form;
    uint32_t n_args;
    uint32_t cost16, cost32; /* SHAVE cycles of a scalar call */
    void *fn16, *fn32; /* of half and of float; types as in routines.def */
} sim_routine;

extern const sim_routine sim_routines[];
extern const uint32_t sim_n_routines;

/* The row, NULL when there is none. Compiled kernels call the routine as
 * "__vpu_" name "_f16" or "_f32"; both spellings and the bare name are found.
 */
const sim_routine *sim_routine_find(const char *name);

/* float -> half with a direction: 'z' to zero, 'p' up, 'n' down. */
sim_half sim_half_directed(float x, int direction);

/* Into float: from double, and from 64-bit integers without rounding twice. */
float sim_float_directed(double x, int direction);
float sim_float_from_i64(int64_t x, int direction);
float sim_float_from_u64(uint64_t x, int direction);
sim_half sim_half_nextafter(sim_half x, sim_half y);

#endif
