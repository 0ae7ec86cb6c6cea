/* A kernel's text for an OpenCL device: halves promoted where the device has
 * none, the VPU's own functions in front, the three-kernel form in one. */
#ifndef VPU_RUNTIME_BACKEND_OPENCL_TEXT_H
#define VPU_RUNTIME_BACKEND_OPENCL_TEXT_H

#include "base/str.h"
#include "sim/compiler/kernel.h"

typedef struct {
    const char *path;
    const char *entry; /* the kernel: what it does not reach is not looked at */
    const char *text;  /* NULL = the file's */
    const char *const *options;
    uint32_t n_options;
    bool promote; /* half becomes float */
    /* A conversion of our own moves halves as 16-bit words: with promote those
     * words become floats too. */
    bool moves_halves;
} opencl_source;

typedef struct {
    str body;     /* heap; opencl_text_free */
    bool halves;  /* the text names half at all */
    bool copies;  /* functions that start transfers */
    bool min_max; /* min or max */
    /* A cast to a pointer to half, 0 = none: what it points into must have been
     * promoted. */
    uint32_t half_cast_line;
    const char *half_cast_file;
    /* With promote, a copy whose size was counted by hand (opencl_bytes.h); 0 =
     * none. */
    uint32_t bytes_line;
    const char *bytes_file, *bytes; /* the expression */
    const char **half_names;        /* typedefs of half */
    uint32_t n_half_names;
} opencl_text;

/* VPU_ERR_UNSUPPORTED  names file and line of what has no portable meaning: a
 *                      function of the SHAVE we do not know; with promote,
 *                      looking at a half's bits
 * VPU_ERR_COMPILE, VPU_ERR_IO  as preprocess */
vpu_status opencl_text_read(const opencl_source *s, arena *a, opencl_text *out,
                            vpu_error *err);
void opencl_text_free(opencl_text *t);

/* The whole program of kernel k, and the name of the function to launch: the
 * kernel's own, or that of one that calls all three with barriers between. */
void opencl_text_program(const opencl_text *t, const sim_kernel *k,
                         bool promote, arena *a, const char **program,
                         const char **entry);

#endif
