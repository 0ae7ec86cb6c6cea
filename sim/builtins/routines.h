/* Host code and SHAVE cost of the mathematical routines in routines.def. */
#ifndef VPU_SIM_BUILTINS_ROUTINES_H
#define VPU_SIM_BUILTINS_ROUTINES_H

#include <stdint.h>

/* The device's half; _Float16 is what compilers call it before C23. */
__extension__ typedef _Float16 builtin_half;

typedef enum {
    SIM_T_OF_T,   /* T (T, …) */
    SIM_T_OF_INT, /* T (T, int) */
    SIM_INT_OF_T  /* int (T, …) */
} builtin_routine_form;

typedef struct {
    const char *name;
    builtin_routine_form form;
    uint32_t n_args;
    uint32_t cost16, cost32; /* SHAVE cycles of a scalar call */
    void *fn16, *fn32; /* of half and of float; types as in routines.def */
} builtin_routine;

extern const builtin_routine builtin_routines[];
extern const uint32_t builtin_n_routines;

/* Functions of the VALUE rows of calls.def. Roundings with a direction: float
 * to half, and 64-bit integers to float without rounding twice. */
builtin_half builtin_half_to_zero(float x);
builtin_half builtin_half_up(float x);
builtin_half builtin_half_down(float x);
float builtin_float_i64_to_zero(int64_t x);
float builtin_float_i64_up(int64_t x);
float builtin_float_i64_down(int64_t x);
float builtin_float_u64_to_zero(uint64_t x);
float builtin_float_u64_up(uint64_t x);
float builtin_float_u64_down(uint64_t x);
builtin_half builtin_half_nextafter(builtin_half x, builtin_half y);

#endif
