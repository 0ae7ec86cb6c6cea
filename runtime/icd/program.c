/* Programs: OpenCL C, built as a whole, or compiled and linked. */
#include <stdlib.h>
#include <string.h>

#include "runtime/icd/icd.h"

/* --- options -------------------------------------------------------------- */

/* Of OpenCL 1.2, as clang knows them; -D and -I besides, with what follows. */
static const char *const known[] = {
    "-w",
    "-Werror",
    "-cl-std=CL1.0",
    "-cl-std=CL1.1",
    "-cl-std=CL1.2",
    "-cl-single-precision-constant",
    "-cl-denorms-are-zero",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-opt-disable",
    "-cl-strict-aliasing",
    "-cl-mad-enable",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only",
    "-cl-fast-relaxed-math",
    "-cl-kernel-arg-info",
};

static bool is_known(const char *word)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(word, known[i]))
            return true;
    return false;
}

/* What clang need not be told: its default, or what it has no other form of. */
static bool is_idle(const char *word)
{
    return !strncmp(word, "-cl-std=", 8) ||
           !strcmp(word, "-cl-strict-aliasing") ||
           !strcmp(word, "-cl-opt-disable") ||
           !strcmp(word, "-cl-kernel-arg-info");
}

/* Of a language that is a part of 1.2's: the compiler takes 1.2, and says to
 * programs what they asked for. */
static bool is_old_version(const char *word)
{
    return !strcmp(word, "-cl-std=CL1.0") || !strcmp(word, "-cl-std=CL1.1");
}

/* Words for the compiler from a program's options; *n of them, in a. */
static cl_int read_options(const char *text, arena *a, const char ***out,
                           uint32_t *n)
{
    char *rest = arena_strdup(a, text), *word;
    size_t count = 0, cap = 0;
    const char **list = NULL;

    while ((word = icd_next_word(&rest))) {
        bool takes = !strcmp(word, "-D") || !strcmp(word, "-I");
        bool joined =
            (!strncmp(word, "-D", 2) || !strncmp(word, "-I", 2)) && word[2];

        if (takes) {
            const char *value = icd_next_word(&rest);

            if (!value)
                return CL_INVALID_BUILD_OPTIONS;
            word = arena_printf(a, "%s%s", word, value);
        } else if (!joined && !is_known(word)) {
            return CL_INVALID_BUILD_OPTIONS;
        }
        if (is_old_version(word)) {
            *arena_append(a, list, count, cap) = "-U__OPENCL_C_VERSION__";
            word = arena_printf(a, "-D__OPENCL_C_VERSION__=1%c0", word[12]);
        }
        if (!is_idle(word))
            *arena_append(a, list, count, cap) = word;
    }
    *out = list;
    *n = (uint32_t)count;
    return CL_SUCCESS;
}

/* --- making --------------------------------------------------------------- */

static cl_int check_devices(cl_uint n, const cl_device_id *devices)
{
    if (!n != !devices)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < n; i++)
        if (!icd_is(devices[i], ICD_DEVICE))
            return CL_INVALID_DEVICE;
    return CL_SUCCESS;
}

/* source: its own, or NULL. */
static cl_program make(cl_context context, char *source, cl_int *error)
{
    cl_program p = icd_object_new(ICD_PROGRAM, sizeof *p);

    if (p) {
        p->context = icd_use(context);
        p->source = source;
        p->status = CL_BUILD_NONE;
    } else {
        free(source);
    }
    icd_say(error, p ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY);
    return p;
}

cl_program icd_clCreateProgramWithSource(cl_context context, cl_uint n,
                                         const char **texts,
                                         const size_t *lengths, cl_int *error)
{
    size_t bytes = 0;
    char *all, *to;
    bool bad = !n || !texts;

    for (cl_uint i = 0; i < n && !bad; i++) {
        bad = !texts[i];
        if (!bad)
            bytes += lengths && lengths[i] ? lengths[i] : strlen(texts[i]);
    }
    if (!icd_is(context, ICD_CONTEXT) || bad) {
        icd_say(error, bad ? CL_INVALID_VALUE : CL_INVALID_CONTEXT);
        return NULL;
    }
    all = to = malloc(bytes + 1);
    for (cl_uint i = 0; i < n && all; i++) {
        size_t k = lengths && lengths[i] ? lengths[i] : strlen(texts[i]);

        memcpy(to, texts[i], k);
        to += k;
    }
    if (!all) {
        icd_say(error, CL_OUT_OF_HOST_MEMORY);
        return NULL;
    }
    *to = 0;
    return make(context, all, error);
}

cl_program icd_clCreateProgramWithBinary(cl_context context, cl_uint n,
                                         const cl_device_id *devices,
                                         const size_t *lengths,
                                         const unsigned char **binaries,
                                         cl_int *status, cl_int *error)
{
    cl_program p;
    bool good;

    if (!icd_is(context, ICD_CONTEXT)) {
        icd_say(error, CL_INVALID_CONTEXT);
        return NULL;
    }
    if (!n || !devices || !lengths || !binaries || n > 1) {
        icd_say(error, CL_INVALID_VALUE);
        return NULL;
    }
    if (!icd_is(*devices, ICD_DEVICE)) {
        icd_say(error, CL_INVALID_DEVICE);
        return NULL;
    }
    if (!*lengths || !*binaries) {
        icd_say(status, CL_INVALID_VALUE);
        icd_say(error, CL_INVALID_VALUE);
        return NULL;
    }
    p = make(context, NULL, error);
    if (!p)
        return NULL;
    good = icd_binary_read(p, *binaries, *lengths);
    icd_say(status, good ? CL_SUCCESS : CL_INVALID_BINARY);
    if (!good) {
        icd_say(error, CL_INVALID_BINARY);
        icd_release(p, ICD_PROGRAM, 0);
        p = NULL;
    }
    return p;
}

cl_program icd_clCreateProgramWithBuiltInKernels(cl_context context, cl_uint n,
                                                 const cl_device_id *devices,
                                                 const char *names,
                                                 cl_int *error)
{
    cl_int rc = !icd_is(context, ICD_CONTEXT) ? CL_INVALID_CONTEXT
                : !n || !devices || !names    ? CL_INVALID_VALUE
                                              : check_devices(n, devices);

    icd_say(error, rc ? rc : CL_INVALID_VALUE); /* no kernel has that name */
    return NULL;
}

cl_int icd_clRetainProgram(cl_program program)
{
    return icd_retain(program, ICD_PROGRAM, CL_INVALID_PROGRAM);
}

cl_int icd_clReleaseProgram(cl_program program)
{
    return icd_release(program, ICD_PROGRAM, CL_INVALID_PROGRAM);
}

void icd_program_end(cl_program p)
{
    if (p->unit)
        icd_device.core->release(p->unit);
    free(p->source);
    str_free(&p->texts.bytes);
    free(p->options);
    free(p->log);
    icd_drop(p->context);
}

/* --- building ------------------------------------------------------------- */

/* All of its kernels, so that what fails fails here. */
static vpu_status make_kernels(core_unit *u, str *log)
{
    const core_table *core = icd_device.core;
    uint32_t n;
    const sim_signature *kernels = core->kernels(u, &n);
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < n && !st; i++) {
        const sim_kernel *k;
        vpu_error err;

        st = core->kernel(u, kernels[i].name, &k, &err);
        if (st)
            str_printf(log, "%s\n", err.msg);
    }
    return st;
}

/* What came of it. */
static void settle(cl_program p, vpu_status st, core_unit *u,
                   cl_program_binary_type type, const char *options, str *log)
{
    free(p->options);
    free(p->log);
    p->options = strdup(options);
    p->log = strdup(str_text(log));
    str_free(log);
    if (p->unit)
        icd_device.core->release(p->unit);
    p->unit = u;
    p->type = u ? type : CL_PROGRAM_BINARY_TYPE_NONE;
    p->status = st ? CL_BUILD_ERROR : CL_BUILD_SUCCESS;
}

static cl_int code_of(vpu_status st, cl_int options, cl_int failure)
{
    return st == VPU_OK            ? CL_SUCCESS
           : st == VPU_ERR_NOMEM   ? CL_OUT_OF_HOST_MEMORY
           : st == VPU_ERR_INVALID ? options
                                   : failure;
}

typedef struct {
    cl_uint n;
    const cl_program *list;
    const char **names;
} header_list;

/* The codes of what may go wrong, one set for each of the two functions. */
typedef struct {
    cl_program_binary_type made;
    cl_int options, failure;
} translation;

static const translation building = {CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
                                     CL_INVALID_BUILD_OPTIONS,
                                     CL_BUILD_PROGRAM_FAILURE};
static const translation compiling = {CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
                                      CL_INVALID_COMPILER_OPTIONS,
                                      CL_COMPILE_PROGRAM_FAILURE};

static vpu_status compile(const icd_text *t, core_unit **out, str *log,
                          arena *a)
{
    core_source source = {.text = t->source,
                          .names = t->names,
                          .headers = t->headers,
                          .n_headers = t->n_headers};
    const char **words;
    vpu_error err = {0};
    vpu_status st;

    *out = NULL;
    if (read_options(t->options, a, &words, &source.n_options))
        return VPU_ERR_INVALID;
    source.options = words;
    st = icd_device.core->compile(&source, log, out, &err);
    if (st)
        str_printf(log, "%s\n", err.msg);
    return st;
}

/* All texts of a program as one unit. */
static vpu_status compile_texts(const icd_texts *texts, core_unit **out,
                                str *log, arena *a)
{
    const core_table *core = icd_device.core;
    core_unit **parts = arena_array(a, core_unit *, texts->n);
    const icd_text *list = icd_texts_list(texts, a);
    vpu_status st = VPU_OK;
    vpu_error err = {0};

    *out = NULL;
    for (cl_uint i = 0; i < texts->n && !st; i++)
        st = compile(&list[i], &parts[i], log, a);
    if (!st && texts->n == 1) {
        *out = parts[0];
        return st;
    }
    if (!st && (st = core->link(parts, texts->n, out, &err)))
        str_printf(log, "%s\n", err.msg);
    for (cl_uint i = 0; i < texts->n; i++)
        core->release(parts[i]);
    return st;
}

/* A binary's options are those of its texts: others that are given with it are
 * looked at and kept, no more. */
static cl_int translate(cl_program p, const char *options, const header_list *h,
                        const translation *t, arena *a)
{
    const core_table *core = icd_device.core;
    const char **words, **texts = arena_array(a, const char *, h->n + 1);
    const icd_text text = {options ? options : "", p->source, h->n, h->names,
                           texts};
    core_unit *u = NULL;
    str log = {0};
    uint32_t n;
    vpu_status st;

    if (read_options(text.options, a, &words, &n))
        return t->options;
    for (cl_uint i = 0; i < h->n; i++)
        texts[i] = h->list[i]->source;
    if (!p->binary) {
        str_free(&p->texts.bytes);
        p->texts.n = 0;
        icd_texts_add(&p->texts, &text);
    }
    st = compile_texts(&p->texts, &u, &log, a);
    if (!st && t->made == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
        st = make_kernels(u, &log);
    if (st && u) {
        core->release(u);
        u = NULL;
    }
    if (!options)
        options = p->binary ? arena_strdup(a, p->options) : "";
    settle(p, st, u, t->made, options, &log);
    return code_of(st, t->options, t->failure);
}

static cl_int check_headers(const header_list *h)
{
    if (!h->n != !h->list || !h->n != !h->names)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < h->n; i++)
        if (!icd_is(h->list[i], ICD_PROGRAM))
            return CL_INVALID_PROGRAM;
        else if (!h->list[i]->source || !h->names[i])
            return CL_INVALID_VALUE;
    return CL_SUCCESS;
}

typedef void program_notify(cl_program, void *);

static cl_int start(cl_program p, cl_uint n, const cl_device_id *devices,
                    const char *options, const header_list *h,
                    const translation *t, program_notify *notify, void *user)
{
    arena *a;
    cl_int rc;

    if (!icd_is(p, ICD_PROGRAM))
        return CL_INVALID_PROGRAM;
    rc = check_devices(n, devices);
    if (!rc)
        rc = check_headers(h);
    if (!rc && !notify && user)
        rc = CL_INVALID_VALUE;
    if (!rc && (icd_count(&p->kernels) || (!p->source && !p->binary)))
        rc = CL_INVALID_OPERATION;
    if (rc)
        return rc;
    a = arena_create(0);
    rc = translate(p, options, h, t, a);
    arena_destroy(a);
    if (!notify || rc == t->options) /* what has not begun does not end */
        return rc;
    notify(p, user);
    return CL_SUCCESS;
}

cl_int icd_clBuildProgram(cl_program program, cl_uint n,
                          const cl_device_id *devices, const char *options,
                          program_notify *notify, void *user)
{
    return start(program, n, devices, options, &(const header_list){0},
                 &building, notify, user);
}

cl_int icd_clCompileProgram(cl_program program, cl_uint n,
                            const cl_device_id *devices, const char *options,
                            cl_uint n_headers, const cl_program *headers,
                            const char **names, program_notify *notify,
                            void *user)
{
    const header_list h = {n_headers, headers, names};

    if (icd_is(program, ICD_PROGRAM) && program->binary)
        return CL_INVALID_OPERATION;
    return start(program, n, devices, options ? options : "", &h, &compiling,
                 notify, user);
}

/* -create-library makes a library; -enable-link-options, which belongs to it,
 * and those that may be given then, say nothing that the objects have not. */
static cl_int read_link_options(const char *options, bool *library, arena *a)
{
    char *rest = arena_strdup(a, options), *word;
    bool enable = false;

    *library = false;
    while ((word = icd_next_word(&rest)))
        if (!strcmp(word, "-create-library"))
            *library = true;
        else if (!strcmp(word, "-enable-link-options"))
            enable = true;
        else if (strncmp(word, "-cl-", 4) || !is_known(word))
            return CL_INVALID_LINKER_OPTIONS;
    return enable && !*library ? CL_INVALID_LINKER_OPTIONS : CL_SUCCESS;
}

static cl_int check_parts(cl_uint n, const cl_program *programs)
{
    if (!n || !programs)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < n; i++)
        if (!icd_is(programs[i], ICD_PROGRAM))
            return CL_INVALID_PROGRAM;
        else if (programs[i]->type != CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT &&
                 programs[i]->type != CL_PROGRAM_BINARY_TYPE_LIBRARY)
            return CL_INVALID_OPERATION;
    return CL_SUCCESS;
}

/* The unit of a part that came in a binary. */
static vpu_status load(cl_program part, str *log, arena *a)
{
    return part->unit ? VPU_OK
                      : compile_texts(&part->texts, &part->unit, log, a);
}

static void add_texts(cl_program p, cl_program part)
{
    str_add(&p->texts.bytes, str_text(&part->texts.bytes), part->texts.bytes.n);
    p->texts.n += part->texts.n;
}

static cl_int link_into(cl_program p, cl_uint n, const cl_program *programs,
                        const char *options, bool library, arena *a)
{
    const core_table *core = icd_device.core;
    core_unit **parts = arena_array(a, core_unit *, n), *u = NULL;
    str log = {0};
    vpu_error err = {0};
    vpu_status st = VPU_OK;

    for (cl_uint i = 0; i < n && !st; i++) {
        st = load(programs[i], &log, a);
        parts[i] = programs[i]->unit;
        add_texts(p, programs[i]);
    }
    if (!st && (st = core->link(parts, n, &u, &err)))
        str_printf(&log, "%s\n", err.msg);
    if (!st && !library)
        st = make_kernels(u, &log);
    if (st && u) {
        core->release(u);
        u = NULL;
    }
    settle(p, st, u,
           library ? CL_PROGRAM_BINARY_TYPE_LIBRARY
                   : CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
           options, &log);
    return code_of(st, CL_INVALID_LINKER_OPTIONS, CL_LINK_PROGRAM_FAILURE);
}

/* A program whose log says why comes back of a link that failed, too. */
cl_program icd_clLinkProgram(cl_context context, cl_uint n,
                             const cl_device_id *devices, const char *options,
                             cl_uint n_programs, const cl_program *programs,
                             void(CL_CALLBACK *notify)(cl_program, void *),
                             void *user, cl_int *error)
{
    arena *a = arena_create(0);
    cl_program p = NULL;
    bool library;
    cl_int rc = icd_is(context, ICD_CONTEXT) ? check_devices(n, devices)
                                             : CL_INVALID_CONTEXT;

    options = options ? options : "";
    if (!rc)
        rc = check_parts(n_programs, programs);
    if (!rc && !notify && user)
        rc = CL_INVALID_VALUE;
    if (!rc)
        rc = read_link_options(options, &library, a);
    if (!rc && !(p = icd_object_new(ICD_PROGRAM, sizeof *p)))
        rc = CL_OUT_OF_HOST_MEMORY;
    if (!rc) {
        p->context = icd_use(context);
        rc = link_into(p, n_programs, programs, options, library, a);
        if (notify) {
            notify(p, user);
            rc = CL_SUCCESS;
        }
    }
    arena_destroy(a);
    icd_say(error, rc);
    return p;
}

bool icd_program_runs(cl_program p)
{
    if (p->binary && p->status == CL_BUILD_NONE &&
        p->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
        icd_clBuildProgram(p, 0, NULL, NULL, NULL, NULL);
    return p->unit && p->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
}

/* --- queries -------------------------------------------------------------- */

static cl_int put_names(cl_program p, const icd_answer *a)
{
    uint32_t n;
    const sim_signature *kernels = icd_device.core->kernels(p->unit, &n);
    str s = {0};
    cl_int rc;

    for (uint32_t i = 0; i < n; i++)
        str_printf(&s, "%s%s", i ? ";" : "", kernels[i].name);
    rc = icd_put_text(a, str_text(&s));
    str_free(&s);
    return rc;
}

static cl_int put_binary(cl_program p, const icd_answer *a, bool size)
{
    str bytes = {0};
    cl_int rc = CL_SUCCESS;

    if (p->type != CL_PROGRAM_BINARY_TYPE_NONE)
        icd_binary_make(p, &bytes);
    if (size) {
        rc = ICD_PUT(a, size_t, bytes.n);
    } else {
        if (a->to && a->room < sizeof(unsigned char *))
            rc = CL_INVALID_VALUE;
        else if (a->to && bytes.n && *(unsigned char **)a->to)
            memcpy(*(unsigned char **)a->to, bytes.data, bytes.n);
        if (a->size && !rc)
            *a->size = sizeof(unsigned char *);
    }
    str_free(&bytes);
    return rc;
}

cl_int icd_clGetProgramInfo(cl_program program, cl_program_info what,
                            size_t room, void *to, size_t *size)
{
    const icd_answer a = {room, to, size};
    uint32_t n = 0;

    if (!icd_is(program, ICD_PROGRAM))
        return CL_INVALID_PROGRAM;
    switch (what) {
    case CL_PROGRAM_REFERENCE_COUNT:
        return ICD_PUT(&a, cl_uint, icd_count(&program->refs));
    case CL_PROGRAM_CONTEXT:
        return ICD_PUT(&a, cl_context, program->context);
    case CL_PROGRAM_NUM_DEVICES:
        return ICD_PUT(&a, cl_uint, 1);
    case CL_PROGRAM_DEVICES:
        return ICD_PUT(&a, cl_device_id, &icd_device);
    case CL_PROGRAM_SOURCE:
        return icd_put_text(&a, program->source);
    case CL_PROGRAM_BINARY_SIZES:
        return put_binary(program, &a, true);
    case CL_PROGRAM_BINARIES:
        return put_binary(program, &a, false);
    case CL_PROGRAM_NUM_KERNELS:
        if (!icd_program_runs(program))
            return CL_INVALID_PROGRAM_EXECUTABLE;
        icd_device.core->kernels(program->unit, &n);
        return ICD_PUT(&a, size_t, n);
    case CL_PROGRAM_KERNEL_NAMES:
        return icd_program_runs(program) ? put_names(program, &a)
                                         : CL_INVALID_PROGRAM_EXECUTABLE;
    }
    return CL_INVALID_VALUE;
}

cl_int icd_clGetProgramBuildInfo(cl_program program, cl_device_id device,
                                 cl_program_build_info what, size_t room,
                                 void *to, size_t *size)
{
    const icd_answer a = {room, to, size};

    if (!icd_is(program, ICD_PROGRAM))
        return CL_INVALID_PROGRAM;
    if (!icd_is(device, ICD_DEVICE))
        return CL_INVALID_DEVICE;
    switch (what) {
    case CL_PROGRAM_BUILD_STATUS:
        return ICD_PUT(&a, cl_build_status, program->status);
    case CL_PROGRAM_BUILD_OPTIONS:
        return icd_put_text(&a, program->options);
    case CL_PROGRAM_BUILD_LOG:
        return icd_put_text(&a, program->log);
    case CL_PROGRAM_BINARY_TYPE:
        return ICD_PUT(&a, cl_program_binary_type, program->type);
    }
    return CL_INVALID_VALUE;
}
