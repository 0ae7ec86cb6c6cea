/* From bitcode to the compiled form: the part of compiling that is LLVM's and
 * ours. It runs in a task, so that no kernel makes it run for ever or ends the
 * process. */
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/task.h"
#include "sim/compiler/front/budget.h"
#include "sim/compiler/host/hostcode.h"
#include "sim/compiler/middle/middle.h"
#include "sim/compiler/store/artifact_priv.h"
#include "sim/compiler/store/codegen.h"
#include "sim/compiler/store/jit.h"
#include "sim/compiler/store/sizes.h"
#include "sim/ir/ir.h"
#include "sim/shave/shave.h"

/* --- layout of program-scope data ---------------------------------------- */

typedef struct {
    uint8_t *out;
    LLVMTargetDataRef td;
    bool failed;
} flattener;

static void flatten(flattener *f, LLVMValueRef v, uint64_t at)
{
    LLVMTypeRef t = LLVMTypeOf(v);

    if (LLVMIsNull(v) || LLVMIsUndef(v))
        return; /* zero-filled */
    switch (LLVMGetTypeKind(t)) {
    case LLVMIntegerTypeKind: {
        uint64_t x = LLVMConstIntGetZExtValue(v);

        memcpy(f->out + at, &x, LLVMStoreSizeOfType(f->td, t));
        return;
    }
    case LLVMHalfTypeKind:
    case LLVMFloatTypeKind: {
        LLVMBool lost;
        double d = LLVMConstRealGetDouble(v, &lost);

        if (LLVMGetTypeKind(t) == LLVMFloatTypeKind) {
            float x = (float)d;

            memcpy(f->out + at, &x, 4);
        } else {
            __extension__ _Float16 x = (_Float16)d;

            memcpy(f->out + at, &x, 2);
        }
        return;
    }
    case LLVMArrayTypeKind:
    case LLVMVectorTypeKind: {
        bool array = LLVMGetTypeKind(t) == LLVMArrayTypeKind;
        uint64_t n = array ? LLVMGetArrayLength2(t) : LLVMGetVectorSize(t);
        uint64_t step = LLVMABISizeOfType(f->td, LLVMGetElementType(t));

        for (uint64_t i = 0; i < n; i++)
            flatten(f, LLVMGetAggregateElement(v, (unsigned)i), at + i * step);
        return;
    }
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(t); i++)
            flatten(f, LLVMGetAggregateElement(v, i),
                    at + LLVMOffsetOfElement(f->td, t, i));
        return;
    default:
        f->failed = true;
    }
}

/* Behind each __local array, of code that does not look for overruns itself or
 * shows memory to a person; none of very many. */
static uint32_t guard_of(const artifact_job *job, LLVMModuleRef m)
{
    uint32_t n = 0;

    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g))
        n += LLVMGetPointerAddressSpace(LLVMTypeOf(g)) == AS_LOCAL;
    return job->checking || job->debug || n > SIM_MAX_GUARDS ? 0
                                                             : SIM_LOCAL_GUARD;
}

static bool is_twice(const middle_unit *u, LLVMValueRef array)
{
    for (uint32_t i = 0; i < u->n_twice; i++)
        if (u->twice[i] == array)
            return true;
    return false;
}

static vpu_status place_globals(const middle_unit *u, const artifact_job *job,
                                arena *a, sim_kernel *k, shave_layout *layout,
                                vpu_error *err)
{
    LLVMModuleRef m = u->module;
    LLVMTargetDataRef td = LLVMGetModuleDataLayout(m);
    size_t n = 0, cap = 0, nl = 0, cl = 0, len;
    shave_global *globals = NULL;
    flattener f = {.td = td};
    uint64_t local = 0, constant = 0, placed = 0, most = 0;

    k->guard = guard_of(job, m);
    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g)) {
        LLVMTypeRef t = LLVMGlobalGetValueType(g);
        uint64_t bytes = LLVMABISizeOfType(td, t), *at;
        uint64_t align = ir_place_align(g);

        unsigned as = LLVMGetPointerAddressSpace(LLVMTypeOf(g));
        const char *name = LLVMGetValueName2(g, &len);

        if (as != AS_LOCAL && as != AS_CONSTANT)
            return err_at(err, VPU_ERR_UNSUPPORTED, job->path, 0, 0,
                          "program-scope variable '%s' is neither __constant "
                          "nor __local",
                          name);
        at = as == AS_LOCAL ? &local : &constant;
        /* What lies between local arrays counts nowhere (cmx.h). */
        if (as == AS_LOCAL)
            *at = (*at + 15) & ~UINT64_C(15);
        else
            *at = (*at + align - 1) & ~(align - 1);
        if (sizes_check_global(ir_plain_name(g), as == AS_LOCAL, bytes,
                               *at + bytes, err))
            return VPU_ERR_LIMIT;
        *at += bytes;
        if (as == AS_LOCAL) {
            placed = (placed + align - 1) & ~(align - 1);
            *arena_append(a, globals, n, cap) =
                (shave_global){g, (uint32_t)placed, (uint32_t)bytes};
            *arena_append(a, k->locals, nl, cl) = (sim_local_array){
                arena_strdup(a, ir_plain_name(g)), (uint32_t)placed,
                (uint32_t)bytes, is_twice(u, g)};
            placed = ((placed + bytes + 15) & ~UINT64_C(15)) + k->guard;
        } else {
            most = align > most ? align : most;
            *arena_append(a, globals, n, cap) = (shave_global){
                g, (uint32_t)(constant - bytes), (uint32_t)bytes};
        }
    }
    k->local_span = (uint32_t)placed;
    k->n_locals = (uint32_t)nl;
    k->local_bytes = (uint32_t)((local + 15) & ~UINT64_C(15));
    if (most > SIM_ALIGN) /* where it lies follows from its size */
        constant = (constant + most - 1) & ~(most - 1);
    k->const_bytes = (uint32_t)constant;
    f.out = arena_push(a, constant + 8, 1, 16);
    for (size_t i = 0; i < n; i++)
        if (LLVMGetPointerAddressSpace(LLVMTypeOf(globals[i].global)) ==
                AS_CONSTANT &&
            LLVMGetInitializer(globals[i].global))
            flatten(&f, LLVMGetInitializer(globals[i].global),
                    globals[i].offset);
    if (f.failed)
        return err_at(err, VPU_ERR_UNSUPPORTED, job->path, 0, 0,
                      "a __constant initializer holds an address");
    k->const_data = f.out;
    layout->globals = globals;
    layout->n_globals = (uint32_t)n;
    return VPU_OK;
}

/* --- the parts ----------------------------------------------------------- */

/* A cycle a block, so that limits of cycles and time end loops here, too. */
static shave_program without_program(LLVMValueRef fn, arena *a)
{
    unsigned n = LLVMCountBasicBlocks(fn);
    shave_program p = {.costs = arena_array(a, shave_cost, n + 1)};

    for (unsigned b = 0; b < n; b++)
        p.costs[b].cycles = 1;
    return p;
}

/* What the variants of a kernel become. */
typedef struct {
    const middle_unit *unit;
    const shave_layout *layout;
    artifact_host kind;
    const sim_sites *sites;
    arena *a;
    sim_kernel *k;
    isa_function programs[SIM_N_VARIANTS];
    uint32_t n_programs;
    uint8_t *object;
    size_t n_object;
} code;

/* The SHAVE program of a variant and its function in hm, as c->kind says. */
static vpu_status make_variant(code *c, int v, LLVMModuleRef hm, vpu_error *err)
{
    static const hostcode_kind kinds[] = {
        [ARTIFACT_NO_HOST] = HOSTCODE_PLAIN,
        [ARTIFACT_HOST] = HOSTCODE_PLAIN,
        [ARTIFACT_HOST_LINES] = HOSTCODE_LINES,
        [ARTIFACT_HOST_DEBUG] = HOSTCODE_DEBUG,
        [ARTIFACT_HOST_CHECKED] = HOSTCODE_CHECKED};
    LLVMValueRef fn = c->unit->variants[v].fn;
    sim_variant *out = &c->k->variants[v];
    shave_program p;
    char symbol[32];
    const hostcode_source source = {.fn = fn,
                                    .name = symbol,
                                    .kind = kinds[c->kind],
                                    .program = &p,
                                    .layout = c->layout,
                                    .sites = c->sites};
    uint32_t stack;
    vpu_status st;

    artifact_symbol((sim_variant_kind)v, symbol);
    out->item_bytes = c->unit->variants[v].item_bytes;
    if (source.kind == HOSTCODE_DEBUG || source.kind == HOSTCODE_CHECKED) {
        p = without_program(fn, c->a);
        return hostcode_add(hm, &source, c->a, &out->stack_bytes, err);
    }
    st = shave_build(fn, sim_variant_name((sim_variant_kind)v), c->layout, c->a,
                     &p, err);
    if (st)
        return st;
    c->programs[c->n_programs++] = p.fn;
    for (uint32_t b = 0; b < p.fn.n_blocks; b++)
        out->n_bundles += p.fn.blocks[b].cycles;
    out->stack_bytes = p.fn.private_bytes;
    return hostcode_add(hm, &source, c->a, &stack, err);
}

static vpu_status make_code(code *c, vpu_error *err)
{
    LLVMModuleRef hm = LLVMModuleCreateWithNameInContext(
        "kernel", LLVMGetModuleContext(c->unit->module));
    bool debug = c->kind == ARTIFACT_HOST_DEBUG;
    vpu_status st = VPU_OK;

    if (debug)
        hostcode_begin_debug(hm, c->unit->module);
    for (int v = 0; v < SIM_N_VARIANTS && !st; v++)
        if (c->unit->variants[v].fn)
            st = make_variant(c, v, hm, err);
    if (!st && c->kind != ARTIFACT_NO_HOST)
        st = codegen_object(hm, debug, c->a, &c->object, &c->n_object, err);
    LLVMDisposeModule(hm);
    return st;
}

static vpu_status build_module(const artifact_job *job, LLVMModuleRef m,
                               arena *a, artifact *out, vpu_error *err)
{
    sim_sites sites = {0};
    str lines = {0};
    sim_kernel k = {.source = job->path, .name = job->entry};
    const middle_job middle = {.path = job->path,
                               .entry = k.name,
                               .local = job->local,
                               .mode = {.debug = job->debug,
                                        .checking = job->checking,
                                        .sites = &sites,
                                        .sites_arena = a,
                                        .structures = job->structures,
                                        .lines = &lines},
                               .a = a,
                               .kernel = &k};
    artifact_parts parts = {.kernel = &k};
    shave_layout layout = {0};
    middle_unit mu = {0};
    code c = {
        .unit = &mu, .layout = &layout, .kind = job->kind, .a = a, .k = &k};
    uint32_t *offsets;
    vpu_status st = middle_build(m, &middle, &mu, err);

    if (job->checking)
        parts.sites = &sites;
    if (!st)
        st = place_globals(&mu, job, a, &k, &layout, err);
    if (!st) {
        offsets = arena_array(a, uint32_t, k.n_args + 1);
        for (uint32_t i = 0; i < k.n_args; i++)
            offsets[i] = k.args[i].offset;
        layout.arg_offsets = offsets;
        c.sites = parts.sites;
        st = make_code(&c, err);
    }
    parts.programs = c.programs;
    parts.n_programs = c.n_programs;
    parts.object = c.object;
    parts.n_object = c.n_object;
    parts.lines = &lines;
    if (!st)
        artifact_pack(job, &parts, a, out);
    str_free(&lines);
    if (mu.module)
        LLVMDisposeModule(mu.module);
    return st;
}

static vpu_status build_in(LLVMContextRef c, const artifact_job *job, arena *a,
                           artifact *out, vpu_error *err)
{
    artifact_job named = *job;
    LLVMModuleRef m;
    vpu_status st = ir_parse(c, job->bitcode, job->n_bytes, job->path, &m, err);

    if (st)
        return st;
    if (!named.entry)
        st = middle_only_kernel(m, job->path, a, &named.entry, err);
    if (!st)
        st = sizes_check_private(m, job->path, err);
    if (st) {
        LLVMDisposeModule(m);
        return st;
    }
    st = build_module(&named, m, a, out, err);
    return st && st != VPU_ERR_COMPILE
               ? err_in(err, st, "%s: kernel '%s'", job->path, named.entry)
               : st;
}

/* --- apart from the process ---------------------------------------------- */

/* A job, and what the process it is built in needs besides. */
typedef struct {
    artifact_job job;
    task_input input; /* write_input's */
    bool is_ready;
} apart;

/* What clang makes: the bitcode's length, the bitcode, the names. */
static void write_input(const artifact_job *job, arena *a, task_input *out)
{
    const uint64_t n = job->n_bytes;
    str s = {.arena = a};

    str_add(&s, (const char *)&n, sizeof n);
    str_add(&s, job->bitcode, job->n_bytes);
    for (uint32_t i = 0; i < job->n_deps; i++)
        str_add(&s, job->deps[i], strlen(job->deps[i]) + 1);
    *out = (task_input){(const unsigned char *)s.data, s.n};
}

/* In the same process, or in a copy of it. */
static void read_input(const task_input *in, arena *a, artifact_job *job)
{
    const char *at = (const char *)in->bytes, *end = at + in->n;
    const char **deps = NULL;
    size_t n_deps = 0, cap = 0;
    uint64_t n;

    memcpy(&n, at, sizeof n);
    job->bitcode = at + sizeof n;
    job->n_bytes = (size_t)n;
    for (at = job->bitcode + n; at < end; at += strlen(at) + 1)
        *arena_append(a, deps, n_deps, cap) = at;
    job->deps = deps;
    job->n_deps = (uint32_t)n_deps;
}

static vpu_status get_ready(apart *p, vpu_error *err)
{
    vpu_status st;

    if (p->is_ready)
        return VPU_OK;
    st = jit_begin_llvm(err);
    if (!st)
        codegen_begin();
    p->is_ready = !st;
    return st;
}

static bool prepare(void *user)
{
    const apart *p = user;
    bool ok = !get_ready(user, NULL);

    if (ok && p->job.kind != ARTIFACT_NO_HOST &&
        p->job.kind != ARTIFACT_HOST_DEBUG)
        codegen_warm();
    return ok;
}

static vpu_status build_apart(void *user, arena *a, unsigned char **out,
                              size_t *n, vpu_error *err)
{
    apart *p = user;
    artifact x = {0};
    vpu_status st = get_ready(p, err);

    read_input(&p->input, a, &p->job);
    if (!st) /* the context goes with the process */
        st = build_in(LLVMContextCreate(), &p->job, a, &x, err);
    *out = x.file;
    *n = x.n_bytes;
    return st;
}

static task_job task_of(apart *p)
{
    return (task_job){.work = build_apart,
                      .user = p,
                      .limits = budget_or_default(p->job.limits),
                      .held = jit_lock(),
                      .prepare = prepare,
                      .input = &p->input};
}

task_copy *artifact_begin(const artifact_job *job)
{
    /* To a process that compiles once LLVM is of no use; one that does so again
     * loads it for all the copies to come. */
    static atomic_flag again = ATOMIC_FLAG_INIT;
    apart p = {.job = *job};
    const task_job task = task_of(&p);

    if (atomic_flag_test_and_set(&again) && jit_begin_llvm(NULL))
        return NULL;
    return task_begin(&task);
}

void artifact_give(const artifact_job *job, task_copy *early, arena *a)
{
    apart p = {.job = *job};
    const task_job task = task_of(&p);

    write_input(job, a, &p.input);
    task_give(&task, early);
}

vpu_status artifact_build(const artifact_job *job, task_copy **early, arena *a,
                          artifact *out, vpu_error *err)
{
    apart p = {.job = *job};
    const task_job task = task_of(&p);
    task_copy *made = early ? *early : NULL;
    task_result r;
    vpu_status st = VPU_OK;

    *out = (artifact){0};
    write_input(job, a, &p.input);
    if (!made) /* once, not in each copy */
        st = jit_begin_llvm(err);
    if (st)
        return st;
    if (early)
        *early = NULL;
    st = task_run(&task, made, a, &r, err);
    *out = (artifact){.file = r.bytes, .n_bytes = r.n};
    if (r.end == TASK_DONE)
        return st;
    if (err && r.end != TASK_DIED)
        strncat(err->msg,
                r.end == TASK_TIME ? BUDGET_TIME_ADVICE : BUDGET_MEMORY_ADVICE,
                sizeof err->msg - strlen(err->msg) - 1);
    return err_in(err, st, "%s: compiling %s", job->path,
                  job->entry ? job->entry : "its kernel");
}
