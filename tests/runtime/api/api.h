/* What the tests of the library share: a context, and graphs of one kernel. */
#ifndef VPU_TESTS_RUNTIME_API_API_H
#define VPU_TESTS_RUNTIME_API_API_H

#include <stddef.h>

#include "include/vpusim/vpu.h"

extern vpu_error api_err;

/* Fails the test, with the message, when the status is not what is wanted. */
#define api_ok(call) api_expect(call, VPU_OK, "", #call)
#define api_fails(call, status, words) api_expect(call, status, words, #call)
void api_expect(vpu_status status, vpu_status wanted, const char *words,
                const char *call);

/* A context on that backend, and a program of that text. */
vpu_context *api_context(const char *backend);
vpu_program *api_program(vpu_context *c, const char *source);
/* A one-dimensional tensor, or of n dims. */
vpu_tensor *api_tensor(vpu_graph *g, const char *name, uint32_t role,
                       uint32_t type, uint32_t n);

/* A layer of a binding file in the folder, with this text as its kernel "k",
 * half *x to half *y of 16 elements, which nobody compiles yet; source: the
 * kernel's file there. text NULL: it is there already. */
vpu_operation *api_layer(vpu_graph *g, const char *dir, const char *source,
                         const char *text);

/* y = x * f, of floats: a graph of one operation with tensors x and y. */
extern const char api_scale_source[];
typedef struct {
    vpu_context *context;
    vpu_program *program;
    const vpu_kernel *kernel;
    vpu_graph *graph;
    vpu_tensor *x, *y;
    vpu_operation *operation;
} api_scaling;
/* In the context, which stays the caller's. */
void api_scaling_open(api_scaling *s, vpu_context *c, uint32_t n, double f);
void api_scaling_close(api_scaling *s);

#endif
