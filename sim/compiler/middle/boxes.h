/* Which part of a tensor a work-group touches: for a kernel that finds its
 * elements by pitches, the box of coordinates behind each pointer argument.
 *
 * The kernel is compiled with the offset and the four pitches of each tensor as
 * int arguments of their own, so that an element's number is
 *
 *   offset + c0 * pitch0 + c1 * pitch1 + c2 * pitch2 + c3 * pitch3
 *
 * and each coordinate c shows in the code as what its pitch is multiplied by. A
 * coordinate is followed back to work-group ids, local ids, counters of loops
 * with a known count, constants and other int arguments. What comes from
 * memory, from a floating-point value or from another function has no known
 * box. Over a work-group a coordinate then runs from a base, which is the same
 * for all of the group, through an extent, which is the same for all groups.
 *
 * Both are expressions of OpenCL C: of numbers, names of int arguments,
 * get_group_id. An extent is proved for every value of the arguments for which
 * the signs of its parts are those that they have with the values given.
 * Conditions are not looked at: a box may hold elements that no item touches.
 *
 * Reading the kernel costs more than a question: it is opened once and asked
 * for each local size. */
#ifndef VPU_SIM_COMPILER_MIDDLE_BOXES_H
#define VPU_SIM_COMPILER_MIDDLE_BOXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

typedef struct {
    const char *name; /* of a kernel argument */
    int64_t value;    /* of an int argument; not used for others */
} boxes_arg;

/* By numbers of arguments. */
typedef struct {
    uint32_t pointer, offset, pitches[4];
    uint32_t element_bytes;
} boxes_tensor;

typedef struct {
    const char *bitcode; /* of the front end */
    size_t n_bytes;
    const char *entry;
    const boxes_arg *args; /* of the kernel, all */
    uint32_t n_args;
    const boxes_tensor *tensors;
    uint32_t n_tensors;
} boxes_job;

/* The local size in a dimension: as an expression of the args, and its value.
 * one_group: there is one work-group, whatever the args are. */
typedef struct {
    const char *text;
    int64_t value;
    bool one_group;
} boxes_local;

typedef struct {
    const char *base;   /* the least coordinate; int */
    const char *extent; /* int */
    int64_t n;          /* the extent with the values given */
} boxes_side;

typedef struct {
    bool touched, known;
    const char *why; /* not known: the reason */
    unsigned line;   /* of the access it is about; 0 = none */
    bool read, written;
    /* Written: each element of the box is, by each work-group; never where no
     * element is of the tensor. */
    bool filled;
    const char *not_filled; /* else: the reason */
    /* Each element of the box is touched, by each work-group: so all of it is
     * of the tensor. */
    bool inside;
    boxes_side sides[4];
} boxes_box;

typedef struct boxes_kernel boxes_kernel;

/* job and the arena must outlive it; close it also if this fails.
 *
 * VPU_ERR_PARSE    no bitcode
 * VPU_ERR_COMPILE  no such kernel */
vpu_status boxes_open(const boxes_job *job, arena *a, boxes_kernel **out,
                      vpu_error *err);
/* out: n_tensors of them; texts in the arena. */
void boxes_ask(const boxes_kernel *b, const boxes_local local[3],
               boxes_box *out);
void boxes_close(boxes_kernel *b);

#endif
