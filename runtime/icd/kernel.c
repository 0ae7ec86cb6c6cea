/* Kernels and their arguments. */
#include <stdlib.h>
#include <string.h>

#include "runtime/icd/icd.h"

static cl_kernel make(cl_program program, const char *name, cl_int *error)
{
    const core_table *core = icd_device.core;
    const sim_kernel *sim = NULL;
    const sim_signature *kernels;
    uint32_t n, i = 0;
    cl_kernel k;
    vpu_error err;
    vpu_status st;

    kernels = core->kernels(program->unit, &n);
    while (i < n && strcmp(kernels[i].name, name))
        i++;
    if (i == n) {
        icd_say(error, CL_INVALID_KERNEL_NAME);
        return NULL;
    }
    pthread_mutex_lock(&icd_device.lock);
    st = core->kernel(program->unit, name, &sim, &err);
    pthread_mutex_unlock(&icd_device.lock);
    k = st ? NULL : icd_object_new(ICD_KERNEL, sizeof *k);
    if (k)
        k->arguments = calloc(sim->n_args + 1, sizeof *k->arguments);
    if (!k || !k->arguments) {
        free(k);
        icd_say(error, CL_OUT_OF_HOST_MEMORY);
        return NULL;
    }
    k->program = icd_use(program);
    k->sim = sim;
    pthread_mutex_lock(&icd_mutex);
    program->kernels++;
    pthread_mutex_unlock(&icd_mutex);
    icd_say(error, CL_SUCCESS);
    return k;
}

cl_kernel icd_clCreateKernel(cl_program program, const char *name,
                             cl_int *error)
{
    cl_int rc = !icd_is(program, ICD_PROGRAM) ? CL_INVALID_PROGRAM
                : !icd_program_runs(program)  ? CL_INVALID_PROGRAM_EXECUTABLE
                : !name                       ? CL_INVALID_VALUE
                                              : CL_SUCCESS;

    if (!rc)
        return make(program, name, error);
    icd_say(error, rc);
    return NULL;
}

cl_int icd_clCreateKernelsInProgram(cl_program program, cl_uint room,
                                    cl_kernel *list, cl_uint *count)
{
    const sim_signature *kernels;
    uint32_t n;
    cl_int rc = CL_SUCCESS;

    if (!icd_is(program, ICD_PROGRAM))
        return CL_INVALID_PROGRAM;
    if (!icd_program_runs(program))
        return CL_INVALID_PROGRAM_EXECUTABLE;
    kernels = icd_device.core->kernels(program->unit, &n);
    if (list && room < n)
        return CL_INVALID_VALUE;
    for (uint32_t i = 0; i < n && list && !rc; i++)
        list[i] = make(program, kernels[i].name, &rc);
    if (count)
        *count = n;
    return rc;
}

cl_int icd_clRetainKernel(cl_kernel kernel)
{
    return icd_retain(kernel, ICD_KERNEL, CL_INVALID_KERNEL);
}

cl_int icd_clReleaseKernel(cl_kernel kernel)
{
    return icd_release(kernel, ICD_KERNEL, CL_INVALID_KERNEL);
}

void icd_kernel_end(cl_kernel k)
{
    for (uint32_t i = 0; i < k->sim->n_args; i++)
        free(k->arguments[i].value);
    free(k->arguments);
    pthread_mutex_lock(&icd_mutex);
    k->program->kernels--;
    pthread_mutex_unlock(&icd_mutex);
    icd_drop(k->program);
}

/* A buffer's handle, NULL for none. */
static cl_int set_memory(icd_argument *x, size_t bytes, const void *value)
{
    cl_mem m = NULL;

    if (bytes != sizeof m)
        return CL_INVALID_ARG_SIZE;
    if (value)
        memcpy(&m, value, sizeof m);
    if (m && !icd_is(m, ICD_MEMORY))
        return CL_INVALID_MEM_OBJECT;
    x->memory = m; /* the program keeps it until the launch */
    return CL_SUCCESS;
}

static cl_int set_value(icd_argument *x, uint32_t wanted, size_t bytes,
                        const void *value)
{
    if (bytes != wanted)
        return CL_INVALID_ARG_SIZE;
    if (!value)
        return CL_INVALID_ARG_VALUE;
    if (!x->value && !(x->value = malloc(wanted)))
        return CL_OUT_OF_HOST_MEMORY;
    memcpy(x->value, value, wanted);
    return CL_SUCCESS;
}

cl_int icd_clSetKernelArg(cl_kernel kernel, cl_uint i, size_t bytes,
                          const void *value)
{
    const sim_arg *g;
    icd_argument *x;
    cl_int rc = CL_SUCCESS;

    if (!icd_is(kernel, ICD_KERNEL))
        return CL_INVALID_KERNEL;
    if (i >= kernel->sim->n_args)
        return CL_INVALID_ARG_INDEX;
    g = &kernel->sim->args[i];
    x = &kernel->arguments[i];
    if (g->space == SIM_ARG_LOCAL) {
        if (value)
            rc = CL_INVALID_ARG_VALUE;
        else if (!bytes)
            rc = CL_INVALID_ARG_SIZE;
        else
            x->bytes = bytes;
    } else if (g->object_bytes) {
        rc = set_value(x, g->object_bytes, bytes, value);
    } else if (g->space == SIM_ARG_SCALAR) {
        rc = set_value(x, g->bytes, bytes, value);
    } else {
        rc = set_memory(x, bytes, value);
    }
    if (!rc)
        x->set = true;
    return rc;
}

/* --- queries -------------------------------------------------------------- */

/* NULL: its program has no such kernel. */
static const sim_signature *signature_of(cl_kernel k)
{
    uint32_t n;
    const sim_signature *list = icd_device.core->kernels(k->program->unit, &n);

    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(list[i].name, k->sim->name))
            return &list[i];
    return NULL;
}

static cl_kernel_arg_type_qualifier qualifiers_of(cl_kernel k, cl_uint i)
{
    static const struct {
        const char *word;
        cl_kernel_arg_type_qualifier bit;
    } words[] = {{"const", CL_KERNEL_ARG_TYPE_CONST},
                 {"restrict", CL_KERNEL_ARG_TYPE_RESTRICT},
                 {"volatile", CL_KERNEL_ARG_TYPE_VOLATILE}};
    const sim_signature *s = signature_of(k);
    cl_kernel_arg_type_qualifier all = CL_KERNEL_ARG_TYPE_NONE;

    for (size_t w = 0; s && i < s->n_args && w < 3; w++)
        if (strstr(s->qualifiers[i], words[w].word))
            all |= words[w].bit;
    return all;
}

cl_int icd_clGetKernelInfo(cl_kernel kernel, cl_kernel_info what, size_t room,
                           void *to, size_t *size)
{
    const icd_answer a = {room, to, size};
    const sim_signature *s;

    if (!icd_is(kernel, ICD_KERNEL))
        return CL_INVALID_KERNEL;
    switch (what) {
    case CL_KERNEL_FUNCTION_NAME:
        return icd_put_text(&a, kernel->sim->name);
    case CL_KERNEL_NUM_ARGS:
        return ICD_PUT(&a, cl_uint, kernel->sim->n_args);
    case CL_KERNEL_REFERENCE_COUNT:
        return ICD_PUT(&a, cl_uint, icd_count(&kernel->refs));
    case CL_KERNEL_CONTEXT:
        return ICD_PUT(&a, cl_context, kernel->program->context);
    case CL_KERNEL_PROGRAM:
        return ICD_PUT(&a, cl_program, kernel->program);
    case CL_KERNEL_ATTRIBUTES:
        s = signature_of(kernel);
        return icd_put_text(&a, s ? s->attributes : "");
    }
    return CL_INVALID_VALUE;
}

cl_int icd_clGetKernelArgInfo(cl_kernel kernel, cl_uint i,
                              cl_kernel_arg_info what, size_t room, void *to,
                              size_t *size)
{
    static const cl_kernel_arg_address_qualifier spaces[] = {
        [SIM_ARG_SCALAR] = CL_KERNEL_ARG_ADDRESS_PRIVATE,
        [SIM_ARG_GLOBAL] = CL_KERNEL_ARG_ADDRESS_GLOBAL,
        [SIM_ARG_CONSTANT] = CL_KERNEL_ARG_ADDRESS_CONSTANT,
        [SIM_ARG_LOCAL] = CL_KERNEL_ARG_ADDRESS_LOCAL};
    const icd_answer a = {room, to, size};
    const sim_arg *g;

    if (!icd_is(kernel, ICD_KERNEL))
        return CL_INVALID_KERNEL;
    if (i >= kernel->sim->n_args)
        return CL_INVALID_ARG_INDEX;
    if (!icd_texts_have(&kernel->program->texts, "-cl-kernel-arg-info"))
        return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    g = &kernel->sim->args[i];
    switch (what) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
        return ICD_PUT(&a, cl_kernel_arg_address_qualifier,
                       g->object_bytes ? CL_KERNEL_ARG_ADDRESS_PRIVATE
                                       : spaces[g->space]);
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
        return ICD_PUT(&a, cl_kernel_arg_access_qualifier,
                       CL_KERNEL_ARG_ACCESS_NONE);
    case CL_KERNEL_ARG_TYPE_NAME:
        return icd_put_text(&a, g->type);
    case CL_KERNEL_ARG_TYPE_QUALIFIER:
        return ICD_PUT(&a, cl_kernel_arg_type_qualifier,
                       qualifiers_of(kernel, i));
    case CL_KERNEL_ARG_NAME:
        return icd_put_text(&a, g->name);
    }
    return CL_INVALID_VALUE;
}

/* Work-items of a group whose CMX suffices. */
static size_t most_items(cl_kernel k)
{
    size_t n = ICD_GROUP;

    for (; n > 1; n /= 2) {
        const core_launch l = {.name = "",
                               .kernel = k->sim,
                               .values = NULL,
                               .local = {(uint32_t)n, 1, 1}};

        if (icd_kernel_local_bytes(k, &l, NULL) <= icd_desc()->ocl_local_budget)
            break;
    }
    return n;
}

uint32_t icd_kernel_local_bytes(cl_kernel k, const core_launch *l, str *list)
{
    exec_value *values = calloc(k->sim->n_args + 1, sizeof *values);
    core_launch with = *l;
    uint32_t n = 0;

    if (!values)
        return 0;
    for (uint32_t i = 0; i < k->sim->n_args; i++) {
        size_t bytes = k->arguments[i].bytes;

        values[i].as.bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    }
    with.values = values;
    n = icd_device.core->local_bytes(&with, icd_desc(), list);
    free(values);
    return n;
}

/* Of both programs; queries of cl_vpusim.h. */
static cl_int put_shape(const sim_kernel *k, cl_kernel_work_group_info what,
                        const icd_answer *a)
{
    static const sim_variant_kind forms[2] = {SIM_SCALAR, SIM_VECTORIZED};
    cl_uint n[2];
    core_shape s;

    for (int i = 0; i < 2; i++) {
        if (icd_device.core->shape(k, forms[i], &s, NULL))
            return CL_OUT_OF_RESOURCES;
        n[i] = what == CL_KERNEL_BUNDLES_VPUSIM       ? s.bundles
               : what == CL_KERNEL_I_REGISTERS_VPUSIM ? s.i_registers
               : what == CL_KERNEL_V_REGISTERS_VPUSIM ? s.v_registers
               : what == CL_KERNEL_SPILLS_VPUSIM      ? s.spills
                                                      : s.factor;
    }
    return icd_put(a, n, sizeof n);
}

cl_int icd_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                    cl_kernel_work_group_info what, size_t room,
                                    void *to, size_t *size)
{
    const icd_answer a = {room, to, size};
    const sim_kernel *k;
    cl_ulong local;

    if (!icd_is(kernel, ICD_KERNEL))
        return CL_INVALID_KERNEL;
    if (device && !icd_is(device, ICD_DEVICE))
        return CL_INVALID_DEVICE;
    k = kernel->sim;
    switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE:
        return ICD_PUT(&a, size_t, most_items(kernel));
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE: {
        const size_t sizes[3] = {k->reqd_local[0], k->reqd_local[1],
                                 k->reqd_local[2]};

        return icd_put(&a, sizes, sizeof sizes);
    }
    case CL_KERNEL_LOCAL_MEM_SIZE:
        local = k->local_bytes;
        for (uint32_t i = 0; i < k->n_args; i++)
            local += kernel->arguments[i].bytes;
        return ICD_PUT(&a, cl_ulong, local);
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        return ICD_PUT(&a, size_t,
                       k->variants[SIM_VECTORIZED].present
                           ? k->variants[SIM_VECTORIZED].factor
                           : 1);
    case CL_KERNEL_BUNDLES_VPUSIM:
    case CL_KERNEL_I_REGISTERS_VPUSIM:
    case CL_KERNEL_V_REGISTERS_VPUSIM:
    case CL_KERNEL_SPILLS_VPUSIM:
    case CL_KERNEL_VECTOR_FACTORS_VPUSIM:
        return put_shape(k, what, &a);
    case CL_KERNEL_NOT_VECTORIZED_VPUSIM:
        return icd_put_text(&a, k->not_vectorized);
    case CL_KERNEL_PRIVATE_MEM_SIZE:
        return ICD_PUT(&a, cl_ulong, k->variants[SIM_SCALAR].stack_bytes);
    }
    return CL_INVALID_VALUE;
}
