/* Commands that run code, and those that only order others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/icd/icd.h"

static void print(void *user, const char *text, size_t n)
{
    (void)user;
    fwrite(text, 1, n, stdout);
    fflush(stdout);
}

/* --- sizes ---------------------------------------------------------------- */

static cl_int check_sizes(cl_uint dims, const size_t *offset,
                          const size_t *global, const size_t *local)
{
    size_t items = 1;

    if (dims < 1 || dims > 3)
        return CL_INVALID_WORK_DIMENSION;
    for (cl_uint d = 0; d < dims; d++) {
        if (!global || !global[d] || global[d] > UINT32_MAX)
            return CL_INVALID_GLOBAL_WORK_SIZE;
        if (offset && (offset[d] > UINT32_MAX ||
                       offset[d] + global[d] > (size_t)UINT32_MAX + 1))
            return CL_INVALID_GLOBAL_OFFSET;
        if (!local)
            continue;
        if (!local[d] || global[d] % local[d])
            return CL_INVALID_WORK_GROUP_SIZE;
        if (local[d] > ICD_GROUP)
            return CL_INVALID_WORK_ITEM_SIZE;
        items *= local[d];
    }
    return items > ICD_GROUP ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
}

static bool fits(cl_kernel k, const core_launch *l)
{
    return icd_kernel_local_bytes(k, l, NULL) <= icd_desc()->ocl_local_budget;
}

/* Where the host leaves it to us: a divisor of dimension 0, a multiple of the
 * vectorizer's factor if there is one, so small that all SHAVEs have groups. */
static void choose_local(cl_kernel k, const size_t *global, core_launch *l)
{
    const sim_variant *v = &k->sim->variants[SIM_VECTORIZED];
    uint32_t factor = v->present ? v->factor : 1;
    size_t most = global[0] / icd_setting()->shaves, best = 1;

    most = most < factor ? factor : most > ICD_GROUP ? ICD_GROUP : most;
    for (uint32_t pass = 0; pass < 2 && best == 1; pass++)
        for (size_t n = most < global[0] ? most : global[0]; n > 1; n--) {
            if (global[0] % n || (!pass && n % factor))
                continue;
            l->local[0] = (uint32_t)n;
            if (fits(k, l)) {
                best = n;
                break;
            }
        }
    l->local[0] = (uint32_t)best;
}

static cl_int take_sizes(cl_kernel k, cl_uint dims, const size_t *offset,
                         const size_t *global, const size_t *local,
                         core_launch *l)
{
    const uint32_t *reqd = k->sim->reqd_local;
    cl_int rc = check_sizes(dims, offset, global, local);

    if (rc)
        return rc;
    l->work_dim = dims;
    for (cl_uint d = 0; d < 3; d++) {
        l->local[d] = d < dims && local   ? (uint32_t)local[d]
                      : reqd[d] && !local ? reqd[d]
                                          : 1;
        l->offset[d] = d < dims && offset ? (uint32_t)offset[d] : 0;
        if (reqd[d] && l->local[d] != reqd[d])
            return CL_INVALID_WORK_GROUP_SIZE;
        if (d < dims && global[d] % l->local[d])
            return CL_INVALID_WORK_GROUP_SIZE;
    }
    if (!local && !reqd[0])
        choose_local(k, global, l);
    for (cl_uint d = 0; d < 3; d++)
        l->groups[d] =
            d < dims ? (uint32_t)global[d] / l->local[d] : 1 / l->local[d];
    if (!l->groups[1] || !l->groups[2])
        return CL_INVALID_WORK_GROUP_SIZE;
    return fits(k, l) ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

static void tell_memory(cl_kernel k, const core_launch *l, str *s)
{
    str list = {0};
    uint32_t n = icd_kernel_local_bytes(k, l, &list);

    str_printf(s,
               "a work-group needs %u bytes of local memory, %llu are "
               "there:\n%s",
               n, (unsigned long long)icd_desc()->ocl_local_budget,
               str_text(&list));
    str_free(&list);
}

/* The sizes as they were asked for, or who needs the memory. */
static void tell_refusal(cl_kernel k, cl_int rc, const size_t *local,
                         const core_launch *l)
{
    const uint32_t *reqd = k->sim->reqd_local;
    str s = {0};

    if (rc == CL_INVALID_WORK_GROUP_SIZE && reqd[0] && local)
        str_printf(&s,
                   "a local size of %zu…, but reqd_work_group_size is "
                   "%ux%ux%u",
                   local[0], reqd[0], reqd[1], reqd[2]);
    else if (rc == CL_INVALID_WORK_GROUP_SIZE)
        str_printf(&s,
                   "the local size does not divide the global one, or a "
                   "work-group has more than %d work-items",
                   ICD_GROUP);
    else
        tell_memory(k, l, &s);
    icd_watch_refused(k->program->context, k, rc == CL_INVALID_WORK_GROUP_SIZE,
                      str_text(&s));
    str_free(&s);
}

/* --- kernels -------------------------------------------------------------- */

/* The structures into the device's memory, for as long as the launch. With the
 * machine's lock. */
static vpu_status place_structures(icd_command *c, vpu_error *err)
{
    const sim_kernel *k = c->data.kernel.kernel->sim;
    uint8_t *window = icd_device.core->window(icd_device.machine);
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < k->n_args && !st; i++) {
        uint32_t *at = &c->data.kernel.own[c->data.kernel.n_own];

        if (!k->args[i].object_bytes)
            continue;
        st =
            icd_device.core->alloc(icd_device.machine, k->args[i].name,
                                   k->args[i].object_bytes, ICD_ALIGN, at, err);
        if (st)
            break;
        memcpy(window + *at, c->data.kernel.structures[i],
               k->args[i].object_bytes);
        c->data.kernel.values[i].as.address = *at;
        c->data.kernel.n_own++;
    }
    return st;
}

/* For queries of cl_vpusim.h. */
static void keep_figures(icd_command *c, const exec_result *r)
{
    const mach_profile *p = &r->profile;
    icd_figures *f;

    if (!(c->queue->properties & CL_QUEUE_PROFILING_ENABLE))
        return;
    c->event->figures = f = calloc(1, sizeof *f);
    if (!f)
        return;
    *f = (icd_figures){.cycles = p->cycles,
                       .load = p->load_bytes,
                       .store = p->store_bytes,
                       .dma = p->dma_in_bytes + p->dma_out_bytes,
                       .ddr = p->ddr_bytes,
                       .shaves = c->data.kernel.launch.n_shaves,
                       .factor = r->variant == SIM_VECTORIZED ? r->factor : 1,
                       .cmx = r->local_bytes};
    for (uint32_t i = 0; i < MACH_MAX_SHAVES; i++)
        for (uint32_t k = 0; k < MACH_N_CAUSES; k++)
            f->causes[k] += p->by_cause[i][k];
}

static cl_int run_kernel(icd_command *c, uint64_t *ns)
{
    exec_result result;
    vpu_error err;
    vpu_status st;

    pthread_mutex_lock(&icd_device.lock);
    st = place_structures(c, &err);
    if (!st)
        icd_watch_launch(c);
    if (!st)
        st = icd_device.core->run(icd_device.machine, &c->data.kernel.launch,
                                  &result, &err);
    icd_watch_ran(c, !st);
    for (uint32_t i = 0; i < c->data.kernel.n_own; i++)
        icd_device.core->give_back(icd_device.machine, c->data.kernel.own[i]);
    pthread_mutex_unlock(&icd_device.lock);
    icd_record_launch(&c->data.kernel.launch, st ? NULL : &result);
    if (st) {
        icd_tell(c->queue->context, err.msg);
        return CL_OUT_OF_RESOURCES;
    }
    keep_figures(c, &result);
    *ns = (uint64_t)((double)result.profile.cycles * 1e3 /
                     (double)icd_desc()->clk_mhz) +
          1;
    return CL_COMPLETE;
}

static void end_kernel(icd_command *c)
{
    cl_kernel k = c->data.kernel.kernel;

    for (cl_uint i = 0; i < c->data.kernel.n_memories; i++)
        icd_drop(c->data.kernel.memories[i]);
    for (uint32_t i = 0; k && i < k->sim->n_args; i++)
        if (c->data.kernel.structures)
            free((void *)c->data.kernel.structures[i]);
    free(c->data.kernel.memories);
    free(c->data.kernel.values);
    free(c->data.kernel.own);
    free((void *)c->data.kernel.structures);
    icd_drop(k);
}

/* The arguments as they are now. */
static cl_int take_arguments(cl_kernel k, icd_command *c)
{
    uint32_t n = k->sim->n_args;

    c->data.kernel.kernel = icd_use(k);
    c->data.kernel.values = calloc(n + 1, sizeof(exec_value));
    c->data.kernel.memories = calloc(n + 1, sizeof(cl_mem));
    c->data.kernel.own = calloc(n + 1, sizeof(uint32_t));
    c->data.kernel.structures = calloc(n + 1, sizeof(void *));
    if (!c->data.kernel.values || !c->data.kernel.memories ||
        !c->data.kernel.own || !c->data.kernel.structures)
        return CL_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        const icd_argument *x = &k->arguments[i];
        const sim_arg *g = &k->sim->args[i];
        exec_value *v = &c->data.kernel.values[i];

        if (!x->set)
            return CL_INVALID_KERNEL_ARGS;
        if (g->object_bytes) {
            void *copy = malloc(g->object_bytes);

            if (!copy)
                return CL_OUT_OF_HOST_MEMORY;
            c->data.kernel.structures[i] =
                memcpy(copy, x->value, g->object_bytes);
        } else if (g->space == SIM_ARG_LOCAL) {
            v->as.bytes = (uint32_t)x->bytes;
        } else if (g->space == SIM_ARG_SCALAR) {
            memcpy(v->as.raw, x->value, g->bytes);
        } else if (x->memory) {
            if (!icd_is(x->memory, ICD_MEMORY))
                return CL_INVALID_KERNEL_ARGS;
            v->as.address = x->memory->address;
            c->data.kernel.memories[c->data.kernel.n_memories++] =
                icd_use(x->memory);
        }
    }
    return CL_SUCCESS;
}

static cl_int enqueue_kernel(cl_command_queue q, cl_kernel k, cl_uint dims,
                             const size_t *offset, const size_t *global,
                             const size_t *local, cl_command_type type,
                             const icd_waiting *w)
{
    icd_command *c;
    core_launch *l;
    cl_int rc = icd_command_new(q, w, type, &c);

    if (rc)
        return rc;
    c->run = run_kernel;
    c->end = end_kernel;
    l = &c->data.kernel.launch;
    rc = !icd_is(k, ICD_KERNEL)              ? CL_INVALID_KERNEL
         : k->program->context != q->context ? CL_INVALID_CONTEXT
                                             : take_arguments(k, c);
    if (!rc) {
        *l = (core_launch){.name = k->sim->name,
                           .unit = k->program->unit,
                           .kernel = k->sim,
                           .values = c->data.kernel.values,
                           .n_shaves = icd_setting()->shaves,
                           .max_cycles = icd_setting()->max_cycles,
                           .timeout_s = icd_setting()->timeout_s,
                           .print = print};
        rc = take_sizes(k, dims, offset, global, local, l);
        if (rc == CL_INVALID_WORK_GROUP_SIZE || rc == CL_OUT_OF_RESOURCES)
            tell_refusal(k, rc, local, l);
    }
    if (!rc)
        return icd_enqueue(c, w, false);
    icd_command_give_up(c);
    return rc;
}

cl_int icd_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dims,
                                  const size_t *offset, const size_t *global,
                                  const size_t *local, cl_uint n,
                                  const cl_event *list, cl_event *event)
{
    const icd_waiting w = {n, list, event};

    return enqueue_kernel(q, k, dims, offset, global, local,
                          CL_COMMAND_NDRANGE_KERNEL, &w);
}

cl_int icd_clEnqueueTask(cl_command_queue q, cl_kernel k, cl_uint n,
                         const cl_event *list, cl_event *event)
{
    static const size_t one = 1;
    const icd_waiting w = {n, list, event};

    return enqueue_kernel(q, k, 1, NULL, &one, &one, CL_COMMAND_TASK, &w);
}

/* --- functions of the host ------------------------------------------------ */

static cl_int run_native(icd_command *c, uint64_t *ns)
{
    (void)ns;
    c->data.native.call(c->data.native.args);
    return CL_COMPLETE;
}

static void end_native(icd_command *c)
{
    for (cl_uint i = 0; i < c->data.native.n_memories; i++)
        icd_drop(c->data.native.memories[i]);
    free(c->data.native.memories);
    free(c->data.native.args);
}

static cl_int check_native(void *args, size_t bytes, cl_uint n,
                           const cl_mem *memories, const void **places)
{
    if ((!args && (bytes || n)) || (args && !bytes) || (!n) != (!memories) ||
        (!n) != (!places))
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < n; i++)
        if (memories[i] && !icd_is(memories[i], ICD_MEMORY))
            return CL_INVALID_MEM_OBJECT;
    return CL_SUCCESS;
}

cl_int icd_clEnqueueNativeKernel(cl_command_queue q,
                                 void(CL_CALLBACK *call)(void *), void *args,
                                 size_t bytes, cl_uint n_memories,
                                 const cl_mem *memories, const void **places,
                                 cl_uint n, const cl_event *list,
                                 cl_event *event)
{
    const icd_waiting w = {n, list, event};
    icd_command *c;
    cl_int rc = call ? check_native(args, bytes, n_memories, memories, places)
                     : CL_INVALID_VALUE;

    if (!icd_is(q, ICD_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    if (!rc)
        rc = icd_command_new(q, &w, CL_COMMAND_NATIVE_KERNEL, &c);
    if (rc)
        return rc;
    c->run = run_native;
    c->end = end_native;
    c->data.native.call = call;
    c->data.native.args = malloc(bytes + 1);
    c->data.native.memories = calloc(n_memories + 1, sizeof *memories);
    if (!c->data.native.args || !c->data.native.memories) {
        icd_command_give_up(c);
        return CL_OUT_OF_HOST_MEMORY;
    }
    if (args)
        memcpy(c->data.native.args, args, bytes);
    for (cl_uint i = 0; i < n_memories; i++) {
        size_t at = (size_t)((const char *)places[i] - (const char *)args);
        void *p = memories[i] ? icd_memory_bytes(memories[i]) : NULL;

        memcpy((char *)c->data.native.args + at, &p, sizeof p);
        c->data.native.memories[c->data.native.n_memories++] =
            icd_use(memories[i]);
    }
    return icd_enqueue(c, &w, false);
}

/* --- order ---------------------------------------------------------------- */

static cl_int order(cl_command_queue q, cl_command_type type, bool barrier,
                    const icd_waiting *w)
{
    icd_command *c;
    cl_int rc = icd_command_new(q, w, type, &c);

    if (rc)
        return rc;
    c->barrier = barrier;
    c->after_all = !w->n;
    return icd_enqueue(c, w, false);
}

cl_int icd_clEnqueueMarkerWithWaitList(cl_command_queue q, cl_uint n,
                                       const cl_event *list, cl_event *event)
{
    return order(q, CL_COMMAND_MARKER, false, &(icd_waiting){n, list, event});
}

cl_int icd_clEnqueueBarrierWithWaitList(cl_command_queue q, cl_uint n,
                                        const cl_event *list, cl_event *event)
{
    return order(q, CL_COMMAND_BARRIER, true, &(icd_waiting){n, list, event});
}

cl_int icd_clEnqueueMarker(cl_command_queue q, cl_event *event)
{
    if (!event)
        return icd_is(q, ICD_QUEUE) ? CL_INVALID_VALUE
                                    : CL_INVALID_COMMAND_QUEUE;
    return order(q, CL_COMMAND_MARKER, false, &(icd_waiting){.event = event});
}

cl_int icd_clEnqueueWaitForEvents(cl_command_queue q, cl_uint n,
                                  const cl_event *list)
{
    if (!n || !list)
        return icd_is(q, ICD_QUEUE) ? CL_INVALID_VALUE
                                    : CL_INVALID_COMMAND_QUEUE;
    for (cl_uint i = 0; i < n; i++)
        if (!icd_is(list[i], ICD_EVENT))
            return CL_INVALID_EVENT;
    return order(q, CL_COMMAND_BARRIER, true, &(icd_waiting){n, list, NULL});
}

cl_int icd_clEnqueueBarrier(cl_command_queue q)
{
    return order(q, CL_COMMAND_BARRIER, true, &(icd_waiting){0});
}
