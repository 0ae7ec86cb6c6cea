/* The cases of a measurement: kernels, their numbers, their work-groups. */
#ifndef VPU_RUNTIME_CALIBRATE_DESIGN_H
#define VPU_RUNTIME_CALIBRATE_DESIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "runtime/graph/graph.h"
#include "sim/machine/desc.h"

enum { DESIGN_MAX_ARGUMENTS = 8 };

typedef enum {
    DESIGN_START,
    DESIGN_L1,
    DESIGN_L2,
    DESIGN_STORES,
    DESIGN_BANKS,
    DESIGN_DMA,
    DESIGN_N_BLOCKS
} design_block;

/* "start", "L1". */
const char *design_block_name(design_block b);

/* A kernel of kernels.def. */
typedef struct {
    const char *name, *text;
    const char *arguments; /* names, a blank between them */
} design_kernel;

/* n_kernels of them. */
const design_kernel *design_kernels(size_t *n_kernels);

typedef struct {
    const char *name; /* "l1_size/256": the family's, and its value */
    const char *family, *about;
    design_block block;
    const design_kernel *kernel;
    uint32_t groups, shaves;
    int32_t arguments[DESIGN_MAX_ARGUMENTS];
} design_case;

/* Those of up to max_shaves SHAVEs, in the order of design.def; in a. */
const design_case *design_cases(uint32_t max_shaves, arena *a, size_t *n);

/* Each case a launch, in this order (indices of cases); a layer of its own.
 * folder: of compiled kernels, NAME.bin each; NULL: the texts. In a. */
graph *design_graph(const design_case *cases, const uint32_t *order, size_t n,
                    const char *folder, arena *a);

/* Writes what the vendor's compiler needs into the folder, which is made: the
 * kernels, and compile.sh, which calls clc for each.
 *
 * VPU_ERR_IO  cannot be written */
vpu_status design_write(const char *folder, arena *a, vpu_error *err);

/* --- parameters ----------------------------------------------------------- */

enum { DESIGN_MAX_CHOICES = 12 };

/* A parameter of params.def. */
typedef struct {
    const char *name;
    design_block block, also; /* also: another one that needs it */
    double low, high;         /* of the search, for a number */
    double choices[DESIGN_MAX_CHOICES];
    uint32_t n_choices; /* 0: a number */
    size_t row;         /* of sim/machine/params.def */
} design_param;

const design_param *design_params(size_t *n);
/* A real number; else a whole one. */
bool design_param_is_real(const design_param *p);
const char *design_param_unit(const design_param *p);
double design_param_get(const design_param *p, const mach_desc *d);
/* Whole numbers are rounded; within the bounds of the machine's table. */
void design_param_set(const design_param *p, mach_desc *d, double value);

#endif
