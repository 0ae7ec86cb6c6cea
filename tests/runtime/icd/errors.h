/* Rows of tests: a call with one thing wrong, and the error that OpenCL has for
 * it. All rows of a test run; those that answer otherwise are told at its end.
 * Calls may name h, a handle that is none of its kind. */
#ifndef VPU_TESTS_RUNTIME_ICD_ERRORS_H
#define VPU_TESTS_RUNTIME_ICD_ERRORS_H

#include <stdio.h>
#include <string.h>

#include "tests/runtime/icd/icd_rig.h"

/* What no call gives back: outputs are set to it before. */
enum { UNSET = 4711, N_BAD = 16 };
#define UNSET_HANDLE ((void *)(uintptr_t)0xabababababababab)

/* Objects of each kind that are there: in context, and in another one. */
static cl_context other_context;
static cl_command_queue other_queue;
static cl_mem mem, other_mem;
static cl_program program;
static cl_kernel scale;
static cl_event event, other_event;
/* Handles that are none of the kind: NULL first, then memory that is no object,
 * a released one, and the objects of other kinds. */
static void *bad[ICD_EVENT + 1][N_BAD];
static size_t n_bad[ICD_EVENT + 1];
static void *released[ICD_EVENT + 1];

static char wrong[3072]; /* Check takes 4 KiB as a message */
static unsigned n_rows;

static inline void tell_wrong(int line, const char *call, const char *what)
{
    size_t n = strlen(wrong);

    snprintf(wrong + n, sizeof wrong - n, "\nline %d: %.200s: %s", line, call,
             what);
}

static inline void row(int line, const char *call, cl_int want, cl_int got)
{
    char text[64];

    n_rows++;
    if (got == want)
        return;
    snprintf(text, sizeof text, "%d, not %d", got, want);
    tell_wrong(line, call, text);
}

static inline void holds(int line, const char *what, bool yes)
{
    n_rows++;
    if (!yes)
        tell_wrong(line, what, "does not hold");
}

#define ROW(want, ...) row(__LINE__, #__VA_ARGS__, want, __VA_ARGS__)
#define HOLDS(...) holds(__LINE__, #__VA_ARGS__, __VA_ARGS__)

/* A function that makes something: it gives NULL and says why, where there is a
 * place for that. */
#define MADE(want, f, ...)                                     \
    do {                                                       \
        rc = UNSET;                                            \
        holds(__LINE__, "!" #f "(" #__VA_ARGS__ ", &rc)",      \
              !CL->f(__VA_ARGS__, &rc));                       \
        row(__LINE__, #f "(" #__VA_ARGS__ ", &rc)", want, rc); \
        holds(__LINE__, "!" #f "(" #__VA_ARGS__ ", NULL)",     \
              !CL->f(__VA_ARGS__, NULL));                      \
    } while (0)

/* With every h that is none of the kind, from the first on. */
#define EACH_FROM(first, kind, ...)                       \
    do {                                                  \
        for (size_t i_ = first; i_ < n_bad[kind]; i_++) { \
            void *h = bad[kind][i_];                      \
                                                          \
            __VA_ARGS__;                                  \
        }                                                 \
    } while (0)
#define BAD(kind, want, ...) EACH_FROM(0, kind, ROW(want, __VA_ARGS__))
#define BAD_BUT_NULL(kind, want, ...) EACH_FROM(1, kind, ROW(want, __VA_ARGS__))
#define BAD_MADE(kind, want, f, ...) \
    EACH_FROM(0, kind, MADE(want, f, __VA_ARGS__))

static inline bool all_are(const unsigned char *p, size_t n, unsigned char c)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != c)
            return false;
    return true;
}

/* A query of `bytes` bytes: its size, too little room, just enough, nothing
 * asked for. */
#define ASK(bytes, f, ...)                                           \
    do {                                                             \
        unsigned char room_[512];                                    \
        size_t size_ = UNSET, bytes_ = bytes;                        \
                                                                     \
        memset(room_, 0xab, sizeof room_);                           \
        ROW(CL_SUCCESS, CL->f(__VA_ARGS__, 0, NULL, &size_));        \
        HOLDS(size_ == bytes_);                                      \
        ROW(CL_SUCCESS, CL->f(__VA_ARGS__, 0, NULL, NULL));          \
        size_ = UNSET;                                               \
        if (bytes_) {                                                \
            ROW(CL_INVALID_VALUE,                                    \
                CL->f(__VA_ARGS__, bytes_ - 1, room_, &size_));      \
            HOLDS(size_ == UNSET);                                   \
            HOLDS(all_are(room_, sizeof room_, 0xab));               \
        }                                                            \
        ROW(CL_SUCCESS, CL->f(__VA_ARGS__, bytes_, room_, &size_));  \
        HOLDS(size_ == bytes_);                                      \
        HOLDS(all_are(room_ + bytes_, sizeof room_ - bytes_, 0xab)); \
    } while (0)

/* A query of an object for what is no question, and of what is no object. */
#define ASK_WRONG(kind, want, f, object, what)                        \
    do {                                                              \
        unsigned char room_[512];                                     \
        size_t size_ = UNSET;                                         \
                                                                      \
        memset(room_, 0xab, sizeof room_);                            \
        BAD(kind, want, CL->f(h, what, sizeof room_, room_, &size_)); \
        ROW(CL_INVALID_VALUE,                                         \
            CL->f(object, 0x4321, sizeof room_, room_, &size_));      \
        HOLDS(size_ == UNSET && all_are(room_, sizeof room_, 0xab));  \
    } while (0)

static inline void add_bad(icd_kind kind, void *h)
{
    bad[kind][n_bad[kind]++] = h;
}

static const char scale_text[] =
    "typedef struct { float a, b; } pair;\n"
    "__kernel void scale(__global float *o, float f, __local float *t, pair p,\n"
    "                    __constant float *c)\n"
    "{ int i = get_global_id(0); t[i] = f; o[i] *= f + p.a + c[0]; }\n"
    "__kernel __attribute__((reqd_work_group_size(4, 1, 1)))\n"
    "void four(__global float *o) { o[0] = 1; }\n";

static inline cl_mem buffer_in(cl_context c)
{
    cl_mem m = CL->clCreateBuffer(c, CL_MEM_READ_WRITE, 1024, NULL, &rc);

    OK(rc);
    return m;
}

/* An object that is in use, so that its place in memory is not taken again, but
 * has no handle any more. */
#define RELEASED(kind, release, object)   \
    do {                                  \
        released[kind] = icd_use(object); \
        OK(release(released[kind]));      \
    } while (0)

static inline void setup_errors(void)
{
    static char no_object[1024];
    const cl_float f = 2, two[2] = {1, 2};

    setup();
    other_context = CL->clCreateContext(NULL, 1, &device, NULL, NULL, &rc);
    OK(rc);
    other_queue = CL->clCreateCommandQueue(other_context, device, 0, &rc);
    OK(rc);
    mem = buffer_in(context);
    other_mem = buffer_in(other_context);
    program = built(scale_text, "-cl-kernel-arg-info");
    scale = kernel(program, "scale");
    set(scale, 0, sizeof mem, &mem);
    set(scale, 1, sizeof f, &f);
    set(scale, 2, 64, NULL);
    set(scale, 3, sizeof two, two);
    set(scale, 4, sizeof mem, &mem);
    event = CL->clCreateUserEvent(context, &rc);
    OK(rc);
    other_event = CL->clCreateUserEvent(other_context, &rc);
    OK(rc);
    RELEASED(ICD_CONTEXT, CL->clReleaseContext,
             CL->clCreateContext(NULL, 1, &device, NULL, NULL, &rc));
    RELEASED(ICD_QUEUE, CL->clReleaseCommandQueue,
             CL->clCreateCommandQueue(context, device, 0, &rc));
    RELEASED(ICD_MEMORY, CL->clReleaseMemObject, buffer_in(context));
    RELEASED(ICD_PROGRAM, CL->clReleaseProgram, source(scale_text));
    RELEASED(ICD_KERNEL, CL->clReleaseKernel, kernel(program, "scale"));
    RELEASED(ICD_EVENT, CL->clReleaseEvent,
             CL->clCreateUserEvent(context, &rc));
    for (icd_kind k = ICD_PLATFORM; k <= ICD_EVENT; k++) {
        void *all[] = {NULL, platform, device, context, queue,
                       mem,  program,  scale,  event};

        add_bad(k, NULL);
        add_bad(k, no_object);
        if (released[k])
            add_bad(k, released[k]);
        for (icd_kind i = ICD_PLATFORM; i <= ICD_EVENT; i++)
            if (i != k)
                add_bad(k, all[i]);
    }
}

static inline void teardown_errors(void)
{
    CL->clSetUserEventStatus(event, CL_COMPLETE);
    OK(CL->clFinish(queue));
    OK(CL->clReleaseEvent(event));
    OK(CL->clReleaseEvent(other_event));
    OK(CL->clReleaseKernel(scale));
    OK(CL->clReleaseProgram(program));
    OK(CL->clReleaseMemObject(mem));
    OK(CL->clReleaseMemObject(other_mem));
    OK(CL->clReleaseCommandQueue(other_queue));
    OK(CL->clReleaseContext(other_context));
    for (icd_kind k = ICD_CONTEXT; k <= ICD_EVENT; k++)
        icd_drop(released[k]);
    teardown();
    ck_assert_msg(!*wrong, "%s", wrong);
}

static inline int run_errors(Suite *s)
{
    SRunner *runner = srunner_create(s);
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

#endif
