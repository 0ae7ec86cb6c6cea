/* What kernels written for GPUs use and a VPU lacks: rows of lacking.def, found
 * by the names that kernels have for it. Any thread; allocates nothing. */
#ifndef VPU_SIM_BUILTINS_LACKING_H
#define VPU_SIM_BUILTINS_LACKING_H

/* A message says "a VPU has no NAME (WHY): INSTEAD". */
typedef struct {
    const char *name;    /* what it is called: "images" */
    const char *why;     /* in a few words why there is none */
    const char *instead; /* what to do */
} lacking_row;

#define LACKING_FORMAT "a VPU has no %s (%s): %s"

/* The row of an identifier; NULL when it is none of these. Each row has one
 * address. */
const lacking_row *lacking_find(const char *identifier);

/* The row of what a compiler's message quotes, "use of undeclared identifier
 * 'read_imagef'" or "use of type '__private double4'"; the first of several.
 * Names that it only proposes ("; did you mean") do not count. NULL: none. */
const lacking_row *lacking_in_message(const char *message);

#endif
