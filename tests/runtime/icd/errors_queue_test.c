/* Each error that OpenCL 1.2 documents for queues, commands and events, one at
 * a time. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/icd/errors.h"

/* --- what all commands have ----------------------------------------------- */

/* A command whose other arguments are valid. */
typedef struct {
    cl_command_queue q;
    cl_mem m;
    cl_uint n;
    const cl_event *list;
    cl_event *event;
} command;

static char host[1024];
static cl_mem second; /* in context, too */
static void *mapped;
static const size_t one[3] = {1, 1, 1}, zero[3] = {0}, box[3] = {16, 2, 2};

static void CL_CALLBACK native(void *args)
{
    (void)args;
}

/* A function of the driver with a command's parts. */
#define ENQUEUE(name, function, ...)                                     \
    static cl_int name(const command *c)                                 \
    {                                                                    \
        return CL->function(c->q, __VA_ARGS__, c->n, c->list, c->event); \
    }
ENQUEUE(read, clEnqueueReadBuffer, c->m, CL_TRUE, 0, 64, host)
ENQUEUE(write, clEnqueueWriteBuffer, c->m, CL_TRUE, 0, 64, host)
ENQUEUE(copy_from, clEnqueueCopyBuffer, c->m, second, 0, 0, 64)
ENQUEUE(copy_to, clEnqueueCopyBuffer, second, c->m, 0, 0, 64)
ENQUEUE(read_rect, clEnqueueReadBufferRect, c->m, CL_TRUE, zero, zero, box, 0,
        0, 0, 0, host)
ENQUEUE(write_rect, clEnqueueWriteBufferRect, c->m, CL_TRUE, zero, zero, box, 0,
        0, 0, 0, host)
ENQUEUE(copy_rect_from, clEnqueueCopyBufferRect, c->m, second, zero, zero, box,
        0, 0, 0, 0)
ENQUEUE(copy_rect_to, clEnqueueCopyBufferRect, second, c->m, zero, zero, box, 0,
        0, 0, 0)
ENQUEUE(fill, clEnqueueFillBuffer, c->m, "fill", 4, 0, 64)
ENQUEUE(unmap, clEnqueueUnmapMemObject, c->m, mapped)
ENQUEUE(migrate, clEnqueueMigrateMemObjects, 2, ((cl_mem[]){second, c->m}), 0)
ENQUEUE(launch, clEnqueueNDRangeKernel, scale, 1, NULL, one, NULL)
ENQUEUE(task, clEnqueueTask, scale)
ENQUEUE(call_native, clEnqueueNativeKernel, native, NULL, 0, 0, NULL, NULL)

static cl_int marker(const command *c)
{
    return CL->clEnqueueMarkerWithWaitList(c->q, c->n, c->list, c->event);
}

static cl_int barrier(const command *c)
{
    return CL->clEnqueueBarrierWithWaitList(c->q, c->n, c->list, c->event);
}

static cl_int map(const command *c)
{
    void *at = CL->clEnqueueMapBuffer(c->q, c->m, CL_TRUE, CL_MAP_READ, 0, 64,
                                      c->n, c->list, c->event, &rc);

    HOLDS(!at == (rc != CL_SUCCESS));
    return rc;
}

/* Its code has no place to be told. */
static cl_int map_silently(const command *c)
{
    void *at = CL->clEnqueueMapBuffer(c->q, c->m, CL_TRUE, CL_MAP_READ, 0, 64,
                                      c->n, c->list, c->event, NULL);

    map(c);
    HOLDS(!at == (rc != CL_SUCCESS));
    return rc;
}

/* What a function takes besides the queue and the list. */
enum { CONTEXT = 1, MEMORY = 2, BLOCKS = 4 };

static const struct {
    const char *name;
    cl_int (*call)(const command *);
    unsigned has;
} functions[] = {
    {"clEnqueueReadBuffer", read, CONTEXT | MEMORY | BLOCKS},
    {"clEnqueueWriteBuffer", write, CONTEXT | MEMORY | BLOCKS},
    {"clEnqueueCopyBuffer, from", copy_from, CONTEXT | MEMORY},
    {"clEnqueueCopyBuffer, to", copy_to, CONTEXT | MEMORY},
    {"clEnqueueReadBufferRect", read_rect, CONTEXT | MEMORY | BLOCKS},
    {"clEnqueueWriteBufferRect", write_rect, CONTEXT | MEMORY | BLOCKS},
    {"clEnqueueCopyBufferRect, from", copy_rect_from, CONTEXT | MEMORY},
    {"clEnqueueCopyBufferRect, to", copy_rect_to, CONTEXT | MEMORY},
    {"clEnqueueFillBuffer", fill, CONTEXT | MEMORY},
    {"clEnqueueMapBuffer", map, CONTEXT | MEMORY | BLOCKS},
    {"clEnqueueMapBuffer, no code", map_silently, CONTEXT | MEMORY | BLOCKS},
    {"clEnqueueUnmapMemObject", unmap, CONTEXT | MEMORY},
    {"clEnqueueMigrateMemObjects", migrate, CONTEXT | MEMORY},
    {"clEnqueueNDRangeKernel", launch, CONTEXT},
    {"clEnqueueTask", task, CONTEXT},
    {"clEnqueueNativeKernel", call_native, 0},
    {"clEnqueueMarkerWithWaitList", marker, 0},
    {"clEnqueueBarrierWithWaitList", barrier, 0},
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

static cl_uint count_maps(cl_mem m)
{
    cl_uint n;

    OK(CL->clGetMemObjectInfo(m, CL_MEM_MAP_COUNT, sizeof n, &n, NULL));
    return n;
}

/* The command fails, and gives no event. */
static void fails(int i, const char *what, cl_int want, command c)
{
    cl_event e = UNSET_HANDLE;
    char text[128];

    c.event = &e;
    snprintf(text, sizeof text, "%s, %s", functions[i].name, what);
    row(__LINE__, text, want, functions[i].call(&c));
    holds(__LINE__, text, e == UNSET_HANDLE);
}

START_TEST(commands)
{
    cl_event failed = CL->clCreateUserEvent(context, &rc),
             two[2] = {event, other_event};
    cl_uint maps;

    OK(CL->clSetUserEventStatus(failed, -5));
    mapped = CL->clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, 64, 0,
                                    NULL, NULL, &rc);
    OK(rc);
    for (int i = 0; i < N_FUNCTIONS; i++) {
        cl_event e = UNSET_HANDLE;
        const command good = {queue, mem, 0, NULL, &e};
        command c = good;

        EACH_FROM(0, ICD_QUEUE, c.q = h;
                  fails(i, "queue", CL_INVALID_COMMAND_QUEUE, c));
        c.q = other_queue;
        if (functions[i].has & CONTEXT)
            fails(i, "queue of another context", CL_INVALID_CONTEXT, c);
        c = good;
        if (functions[i].has & MEMORY) {
            EACH_FROM(0, ICD_MEMORY, c.m = h;
                      fails(i, "buffer", CL_INVALID_MEM_OBJECT, c));
            c.m = other_mem;
            fails(i, "buffer of another context", CL_INVALID_CONTEXT, c);
        }
        c = good;
        c.n = 1;
        fails(i, "no list", CL_INVALID_EVENT_WAIT_LIST, c);
        EACH_FROM(0, ICD_EVENT, c.list = (cl_event *)&h;
                  fails(i, "event", CL_INVALID_EVENT_WAIT_LIST, c));
        c.list = &other_event;
        fails(i, "event of another context", CL_INVALID_CONTEXT, c);
        c.n = 2;
        c.list = two;
        fails(i, "second event of another context", CL_INVALID_CONTEXT, c);
        c.n = 0;
        c.list = &event;
        fails(i, "empty list", CL_INVALID_EVENT_WAIT_LIST, c);
        c.n = 1;
        c.list = &failed;
        maps = count_maps(mem);
        if (functions[i].has & BLOCKS)
            fails(i, "failed event",
                  CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, c);
        HOLDS(count_maps(mem) == maps);
        row(__LINE__, functions[i].name, CL_SUCCESS, functions[i].call(&good));
        HOLDS(e != UNSET_HANDLE);
        ROW(CL_SUCCESS, CL->clFinish(queue));
        ROW(CL_SUCCESS, CL->clReleaseEvent(e));
    }
    OK(CL->clReleaseEvent(failed));
}
END_TEST

/* --- regions -------------------------------------------------------------- */

START_TEST(regions)
{
    static const struct {
        size_t offset, bytes;
    } rows[] = {{0, 1025}, {1024, 1},     {1025, 1},     {512, 513},
                {0, 0},    {8, SIZE_MAX}, {SIZE_MAX, 8}, {(size_t)-8, 16}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t at = rows[i].offset, n = rows[i].bytes;

        ROW(CL_INVALID_VALUE, CL->clEnqueueReadBuffer(queue, mem, CL_TRUE, at,
                                                      n, host, 0, NULL, NULL));
        ROW(CL_INVALID_VALUE, CL->clEnqueueWriteBuffer(queue, mem, CL_TRUE, at,
                                                       n, host, 0, NULL, NULL));
        ROW(CL_INVALID_VALUE, CL->clEnqueueCopyBuffer(queue, mem, second, at, 0,
                                                      n, 0, NULL, NULL));
        ROW(CL_INVALID_VALUE, CL->clEnqueueCopyBuffer(queue, second, mem, 0, at,
                                                      n, 0, NULL, NULL));
        ROW(CL_INVALID_VALUE,
            CL->clEnqueueFillBuffer(queue, mem, "x", 1, at, n, 0, NULL, NULL));
        HOLDS(!CL->clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, at, n,
                                      0, NULL, NULL, &rc));
        ROW(CL_INVALID_VALUE, rc);
    }
    ROW(CL_INVALID_VALUE, CL->clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 8,
                                                  NULL, 0, NULL, NULL));
    ROW(CL_INVALID_VALUE, CL->clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, 8,
                                                   NULL, 0, NULL, NULL));
    HOLDS(!count_maps(mem));
}
END_TEST

/* A box of the buffer, and the other side's with pitches of its own. */
typedef struct {
    size_t origin[3], region[3], row, slice, other_row, other_slice;
} rect;

#define RECT_ARGS(r) \
    r->origin, zero, r->region, r->row, r->slice, r->other_row, r->other_slice
#define RECT_ARGS_BACK(r) \
    zero, r->origin, r->region, r->other_row, r->other_slice, r->row, r->slice

static void no_rect(const rect *r)
{
    ROW(CL_INVALID_VALUE,
        CL->clEnqueueReadBufferRect(queue, mem, CL_TRUE, RECT_ARGS(r), host, 0,
                                    NULL, NULL));
    ROW(CL_INVALID_VALUE,
        CL->clEnqueueWriteBufferRect(queue, mem, CL_TRUE, RECT_ARGS(r), host, 0,
                                     NULL, NULL));
    ROW(CL_INVALID_VALUE, CL->clEnqueueCopyBufferRect(
                              queue, mem, second, RECT_ARGS(r), 0, NULL, NULL));
    ROW(CL_INVALID_VALUE,
        CL->clEnqueueCopyBufferRect(queue, second, mem, RECT_ARGS_BACK(r), 0,
                                    NULL, NULL));
}

START_TEST(rects)
{
    static const rect
        good = {{0}, {16, 2, 2}, 0, 0, 0, 0},
        rows[] = {
            {{0}, {0, 2, 2}, 0, 0, 0, 0},
            {{0}, {16, 0, 2}, 0, 0, 0, 0},
            {{0}, {16, 2, 0}, 0, 0, 0, 0},
            /* pitches: less than a row, than a plane, no whole rows */
            {{0}, {16, 2, 2}, 15, 0, 0, 0},
            {{0}, {16, 2, 2}, 16, 31, 0, 0},
            {{0}, {16, 2, 2}, 16, 40, 0, 0},
            {{0}, {16, 2, 2}, 0, 0, 15, 0},
            {{0}, {16, 2, 2}, 0, 0, 16, 31},
            {{0}, {16, 2, 2}, 0, 0, 16, 40},
            /* out of bounds */
            {{0}, {1025, 1, 1}, 0, 0, 0, 0},
            {{1009, 0, 0}, {16, 1, 1}, 0, 0, 0, 0},
            {{0, 63, 0}, {16, 2, 1}, 16, 0, 0, 0},
            {{0, 0, 16}, {16, 2, 1}, 16, 64, 0, 0},
            {{0}, {16, 2, 2}, 512, 0, 0, 0},
            {{0}, {16, 2, 2}, 0, 1024, 0, 0},
            /* what is out of bounds by more than a size_t holds */
            {{(size_t)-8, 0, 0}, {16, 1, 1}, 0, 0, 0, 0},
            {{0, (size_t)1 << 60, 0}, {16, 1, 1}, 16, 0, 0, 0},
            {{0, 0, (size_t)1 << 58}, {16, 2, 1}, 16, 64, 0, 0},
            {{0, (size_t)-1, 0}, {16, 2, 1}, 16, 0, 0, 0},
            {{0}, {16, 1, 2}, 0, (size_t)-16, 0, 0},
            {{0}, {16, ((size_t)1 << 60) + 1, 1}, 0, 0, 0, 0},
            {{0}, {16, 2, 1}, (size_t)1 << 63, 0, 0, 0},
        };
    const rect *r = &good;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        no_rect(&rows[i]);
    ROW(CL_INVALID_VALUE,
        CL->clEnqueueReadBufferRect(queue, mem, CL_TRUE, RECT_ARGS(r), NULL, 0,
                                    NULL, NULL));
    ROW(CL_INVALID_VALUE,
        CL->clEnqueueWriteBufferRect(queue, mem, CL_TRUE, RECT_ARGS(r), NULL, 0,
                                     NULL, NULL));
    /* Within a buffer both sides have the same pitches. */
    ROW(CL_INVALID_VALUE, CL->clEnqueueCopyBufferRect(
                              queue, mem, mem, zero, (size_t[]){512, 0, 0}, box,
                              16, 32, 32, 64, 0, NULL, NULL));
    ROW(CL_SUCCESS, CL->clEnqueueCopyBufferRect(queue, mem, mem, zero,
                                                (size_t[]){512, 0, 0}, box, 32,
                                                64, 32, 64, 0, NULL, NULL));
}
END_TEST

/* Of the size of box, in rows of 32 bytes and planes of 64, beginning there. */
#define COPY_BOX(from, to, a, b)                                             \
    CL->clEnqueueCopyBufferRect(queue, from, to, (size_t[]){a, 0, 0},        \
                                (size_t[]){b, 0, 0}, box, 32, 64, 32, 64, 0, \
                                NULL, NULL)

static bool boxes_meet(size_t a, size_t b)
{
    bool in[1024] = {false}, meet = false;

    for (size_t i = 0; i < 64; i++)
        in[a + i % 16 + i / 16 * 32] = true;
    for (size_t i = 0; i < 64; i++)
        meet |= in[b + i % 16 + i / 16 * 32];
    return meet;
}

START_TEST(overlaps)
{
    cl_mem parts[2];

    for (size_t i = 0; i < 2; i++) {
        parts[i] =
            CL->clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION,
                                  &(cl_buffer_region){128 * i, 256}, &rc);
        OK(rc);
    }
#define COPY(from, to, a, b, n) \
    CL->clEnqueueCopyBuffer(queue, from, to, a, b, n, 0, NULL, NULL)
    ROW(CL_MEM_COPY_OVERLAP, COPY(mem, mem, 0, 0, 8));
    ROW(CL_MEM_COPY_OVERLAP, COPY(mem, mem, 0, 7, 8));
    ROW(CL_MEM_COPY_OVERLAP, COPY(mem, mem, 7, 0, 8));
    ROW(CL_SUCCESS, COPY(mem, mem, 0, 8, 8));
    ROW(CL_MEM_COPY_OVERLAP, COPY(parts[0], parts[1], 128, 0, 8));
    ROW(CL_MEM_COPY_OVERLAP, COPY(parts[1], parts[0], 0, 128, 128));
    ROW(CL_SUCCESS, COPY(parts[0], parts[1], 0, 0, 128));
    for (size_t a = 0; a < 256; a += 51)
        for (size_t b = 0; b < 400; b++)
            ROW(boxes_meet(a, b) ? CL_MEM_COPY_OVERLAP : CL_SUCCESS,
                COPY_BOX(mem, mem, a, b));
    for (size_t b = 0; b <= 256 - 112; b++)
        ROW(boxes_meet(144, 128 + b) ? CL_MEM_COPY_OVERLAP : CL_SUCCESS,
            COPY_BOX(parts[0], parts[1], 144, b));
    for (size_t i = 0; i < 2; i++)
        ROW(CL_SUCCESS, CL->clReleaseMemObject(parts[i]));
}
END_TEST

/* Buffers whose host may not read, may not write, or neither. */
START_TEST(host_access)
{
    static const cl_mem_flags flags[] = {
        CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS};
    static const struct {
        cl_map_flags flags;
        bool reads, writes;
    } maps[] = {{CL_MAP_READ, true, false},
                {CL_MAP_WRITE, false, true},
                {CL_MAP_READ | CL_MAP_WRITE, true, true},
                {CL_MAP_WRITE_INVALIDATE_REGION, false, true}};
    const rect good = {{0}, {16, 2, 2}, 0, 0, 0, 0}, *r = &good;

    for (int i = 0; i < 3; i++) {
        cl_mem m = buffer(flags[i], 1024, NULL);
        cl_int reads = i == 1 ? CL_SUCCESS : CL_INVALID_OPERATION,
               writes = i == 0 ? CL_SUCCESS : CL_INVALID_OPERATION;

        ROW(reads, CL->clEnqueueReadBuffer(queue, m, CL_TRUE, 0, 8, host, 0,
                                           NULL, NULL));
        ROW(reads, CL->clEnqueueReadBufferRect(queue, m, CL_TRUE, RECT_ARGS(r),
                                               host, 0, NULL, NULL));
        ROW(writes, CL->clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, 8, host, 0,
                                             NULL, NULL));
        ROW(writes, CL->clEnqueueWriteBufferRect(
                        queue, m, CL_TRUE, RECT_ARGS(r), host, 0, NULL, NULL));
        for (size_t j = 0; j < sizeof maps / sizeof *maps; j++) {
            cl_int want = (maps[j].reads && reads) || (maps[j].writes && writes)
                              ? CL_INVALID_OPERATION
                              : CL_SUCCESS;

            CL->clEnqueueMapBuffer(queue, m, CL_TRUE, maps[j].flags, 0, 8, 0,
                                   NULL, NULL, &rc);
            ROW(want, rc);
        }
        ROW(CL_SUCCESS, CL->clReleaseMemObject(m));
    }
}
END_TEST

START_TEST(fills_and_maps)
{
    static const struct {
        size_t n, offset, bytes;
    } fills[] = {{0, 0, 8}, {3, 0, 12}, {12, 0, 24},   {256, 0, 512},
                 {4, 2, 8}, {4, 4, 6},  {128, 64, 128}};
    static const cl_map_flags flags[] = {
        1 << 3, CL_MAP_READ | 1 << 4,
        CL_MAP_WRITE_INVALIDATE_REGION | CL_MAP_READ,
        CL_MAP_WRITE_INVALIDATE_REGION | CL_MAP_WRITE};
    const cl_mem two[] = {mem, other_mem};
    char *at, *high;

    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
        ROW(CL_INVALID_VALUE, CL->clEnqueueFillBuffer(
                                  queue, mem, host, fills[i].n, fills[i].offset,
                                  fills[i].bytes, 0, NULL, NULL));
    ROW(CL_INVALID_VALUE,
        CL->clEnqueueFillBuffer(queue, mem, NULL, 4, 0, 8, 0, NULL, NULL));
    for (size_t n = 1; n <= 128; n *= 2)
        ROW(CL_SUCCESS, CL->clEnqueueFillBuffer(queue, mem, host, n, 0, 256, 0,
                                                NULL, NULL));

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        HOLDS(!CL->clEnqueueMapBuffer(queue, mem, CL_TRUE, flags[i], 0, 8, 0,
                                      NULL, NULL, &rc));
        ROW(CL_INVALID_VALUE, rc);
    }
    HOLDS(!count_maps(mem));
    at = CL->clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 64, 64, 0,
                                NULL, NULL, &rc);
    high = at + 8;
#define UNMAP(m, at) CL->clEnqueueUnmapMemObject(queue, m, at, 0, NULL, NULL)
    ROW(CL_INVALID_VALUE, UNMAP(mem, high));
    ROW(CL_INVALID_VALUE, UNMAP(mem, host));
    ROW(CL_INVALID_VALUE, UNMAP(mem, NULL));
    ROW(CL_INVALID_VALUE, UNMAP(second, at));
    HOLDS(count_maps(mem) == 1);
    ROW(CL_SUCCESS, UNMAP(mem, at));
    ROW(CL_INVALID_VALUE, UNMAP(mem, at));

#define MIGRATE(n, list, flags) \
    CL->clEnqueueMigrateMemObjects(queue, n, list, flags, 0, NULL, NULL)
    ROW(CL_INVALID_VALUE, MIGRATE(0, &mem, 0));
    ROW(CL_INVALID_VALUE, MIGRATE(1, NULL, 0));
    ROW(CL_INVALID_VALUE, MIGRATE(0, NULL, 0));
    ROW(CL_INVALID_VALUE, MIGRATE(1, &mem, 1 << 2));
    ROW(CL_INVALID_CONTEXT, MIGRATE(2, two, 0));
    ROW(CL_SUCCESS, MIGRATE(1, &mem, CL_MIGRATE_MEM_OBJECT_HOST));
}
END_TEST

/* --- kernels -------------------------------------------------------------- */

#define RUN(k, dims, offset, global, local)                                    \
    CL->clEnqueueNDRangeKernel(queue, k, dims, offset, global, local, 0, NULL, \
                               NULL)

START_TEST(launches)
{
    cl_kernel four = kernel(program, "four"), bare = kernel(program, "scale");
    cl_mem gone = buffer(0, 64, NULL);
    const size_t n = (size_t)1 << 32;
    const struct {
        cl_int want;
        cl_uint dims;
        size_t offset[3], global[3], local[3];
    } rows[] = {
        {CL_INVALID_WORK_DIMENSION, 0, {0}, {8, 1, 1}, {8, 1, 1}},
        {CL_INVALID_WORK_DIMENSION, 4, {0}, {8, 1, 1}, {8, 1, 1}},
        {CL_INVALID_GLOBAL_WORK_SIZE, 1, {0}, {0, 1, 1}, {1, 1, 1}},
        {CL_INVALID_GLOBAL_WORK_SIZE, 3, {0}, {8, 1, 0}, {8, 1, 1}},
        {CL_INVALID_GLOBAL_WORK_SIZE, 1, {0}, {n, 1, 1}, {8, 1, 1}},
        {CL_INVALID_GLOBAL_WORK_SIZE, 2, {0}, {8, n, 1}, {8, 1, 1}},
        {CL_INVALID_GLOBAL_OFFSET, 1, {n - 4, 0, 0}, {8, 1, 1}, {8, 1, 1}},
        {CL_INVALID_GLOBAL_OFFSET, 1, {SIZE_MAX, 0, 0}, {8, 1, 1}, {8, 1, 1}},
        {CL_INVALID_GLOBAL_OFFSET, 2, {0, n, 0}, {8, 1, 1}, {8, 1, 1}},
        {CL_INVALID_WORK_GROUP_SIZE, 1, {0}, {8, 1, 1}, {3, 1, 1}},
        {CL_INVALID_WORK_GROUP_SIZE, 1, {0}, {8, 1, 1}, {16, 1, 1}},
        {CL_INVALID_WORK_GROUP_SIZE, 2, {0}, {8, 9, 1}, {8, 2, 1}},
        {CL_INVALID_WORK_GROUP_SIZE, 1, {0}, {8, 1, 1}, {0, 1, 1}},
        {CL_INVALID_WORK_GROUP_SIZE, 2, {0}, {64, 32, 1}, {64, 32, 1}},
        {CL_INVALID_WORK_ITEM_SIZE, 1, {0}, {2048, 1, 1}, {2048, 1, 1}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ROW(rows[i].want, RUN(scale, rows[i].dims, rows[i].offset,
                              rows[i].global, rows[i].local));
    BAD(ICD_KERNEL, CL_INVALID_KERNEL, RUN(h, 1, NULL, one, one));
    ROW(CL_INVALID_GLOBAL_WORK_SIZE, RUN(scale, 1, NULL, NULL, NULL));
    ROW(CL_INVALID_KERNEL_ARGS, RUN(bare, 1, NULL, one, one));
    ROW(CL_INVALID_KERNEL_ARGS, RUN(four, 1, NULL, one, one));
    set(four, 0, sizeof mem, &mem);
    ROW(CL_INVALID_WORK_GROUP_SIZE,
        RUN(four, 1, NULL, ((size_t[]){8}), ((size_t[]){8})));
    ROW(CL_INVALID_WORK_GROUP_SIZE,
        RUN(four, 1, NULL, ((size_t[]){8}), ((size_t[]){2})));
    ROW(CL_SUCCESS, RUN(four, 1, NULL, ((size_t[]){8}), ((size_t[]){4})));

    BAD(ICD_KERNEL, CL_INVALID_KERNEL,
        CL->clEnqueueTask(queue, h, 0, NULL, NULL));
    ROW(CL_INVALID_KERNEL_ARGS, CL->clEnqueueTask(queue, bare, 0, NULL, NULL));
    ROW(CL_INVALID_WORK_GROUP_SIZE,
        CL->clEnqueueTask(queue, four, 0, NULL, NULL));

    /* More local memory than a group has, also than 32 bits hold. */
    set(scale, 2, 1 << 20, NULL);
    ROW(CL_OUT_OF_RESOURCES, RUN(scale, 1, NULL, one, one));
    ROW(CL_OUT_OF_RESOURCES, CL->clEnqueueTask(queue, scale, 0, NULL, NULL));
    set(scale, 2, n + 64, NULL);
    ROW(CL_OUT_OF_RESOURCES, RUN(scale, 1, NULL, one, one));
    set(scale, 2, SIZE_MAX, NULL);
    ROW(CL_OUT_OF_RESOURCES, RUN(scale, 1, NULL, one, one));
    set(scale, 2, 64, NULL);
    set(scale, 0, sizeof gone, &gone);
    icd_use(gone);
    OK(CL->clReleaseMemObject(gone));
    ROW(CL_INVALID_KERNEL_ARGS, RUN(scale, 1, NULL, one, one));
    icd_drop(gone);
    OK(CL->clReleaseKernel(four));
    OK(CL->clReleaseKernel(bare));
}
END_TEST

START_TEST(natives)
{
    struct {
        void *p;
    } args = {NULL};
    const void *place = &args.p, *places[] = {&args.p};
    const cl_mem none = NULL;

#define NATIVE(call, args, bytes, n, list, places)                          \
    CL->clEnqueueNativeKernel(queue, call, args, bytes, n, list, places, 0, \
                              NULL, NULL)
    ROW(CL_INVALID_VALUE, NATIVE(NULL, &args, 8, 1, &mem, &place));
    ROW(CL_INVALID_VALUE, NATIVE(native, NULL, 8, 0, NULL, NULL));
    ROW(CL_INVALID_VALUE, NATIVE(native, NULL, 0, 1, &mem, &place));
    ROW(CL_INVALID_VALUE, NATIVE(native, &args, 0, 0, NULL, NULL));
    ROW(CL_INVALID_VALUE, NATIVE(native, &args, 8, 1, NULL, &place));
    ROW(CL_INVALID_VALUE, NATIVE(native, &args, 8, 1, &mem, NULL));
    ROW(CL_INVALID_VALUE, NATIVE(native, &args, 8, 0, &mem, NULL));
    ROW(CL_INVALID_VALUE, NATIVE(native, &args, 8, 0, NULL, &place));
    BAD_BUT_NULL(ICD_MEMORY, CL_INVALID_MEM_OBJECT,
                 NATIVE(native, &args, 8, 1, (cl_mem *)&h, places));
    /* A buffer may be none. */
    ROW(CL_SUCCESS, NATIVE(native, &args, 8, 1, &none, places));
    ROW(CL_SUCCESS, NATIVE(native, &args, 8, 1, &mem, places));
    ROW(CL_SUCCESS, CL->clFinish(queue));
}
END_TEST

/* --- order, images -------------------------------------------------------- */

START_TEST(older_functions)
{
    cl_event e = UNSET_HANDLE;
    const cl_event two[2] = {event, other_event};

    BAD(ICD_QUEUE, CL_INVALID_COMMAND_QUEUE, CL->clEnqueueMarker(h, &e));
    HOLDS(e == UNSET_HANDLE);
    ROW(CL_INVALID_VALUE, CL->clEnqueueMarker(queue, NULL));
    BAD(ICD_QUEUE, CL_INVALID_COMMAND_QUEUE, CL->clEnqueueBarrier(h));
    ROW(CL_SUCCESS, CL->clEnqueueBarrier(queue));
    BAD(ICD_QUEUE, CL_INVALID_COMMAND_QUEUE,
        CL->clEnqueueWaitForEvents(h, 1, &event));
    ROW(CL_INVALID_VALUE, CL->clEnqueueWaitForEvents(queue, 0, &event));
    ROW(CL_INVALID_VALUE, CL->clEnqueueWaitForEvents(queue, 1, NULL));
    ROW(CL_INVALID_VALUE, CL->clEnqueueWaitForEvents(queue, 0, NULL));
    BAD(ICD_EVENT, CL_INVALID_EVENT,
        CL->clEnqueueWaitForEvents(queue, 1, (cl_event *)&h));
    ROW(CL_INVALID_CONTEXT, CL->clEnqueueWaitForEvents(queue, 1, &other_event));
    ROW(CL_INVALID_CONTEXT, CL->clEnqueueWaitForEvents(queue, 2, two));
    BAD(ICD_QUEUE, CL_INVALID_COMMAND_QUEUE,
        CL->clSetCommandQueueProperty(h, CL_QUEUE_PROFILING_ENABLE, CL_TRUE,
                                      NULL));
    ROW(CL_INVALID_OPERATION,
        CL->clSetCommandQueueProperty(queue, CL_QUEUE_PROFILING_ENABLE, CL_TRUE,
                                      NULL));
}
END_TEST

/* There are none, so that only the queue can be valid. */
START_TEST(images)
{
    cl_event e = UNSET_HANDLE;
    size_t row_pitch = UNSET, slice_pitch = UNSET;

#define IMAGES(q, want)                                                        \
    do {                                                                       \
        ROW(want, CL->clEnqueueReadImage(q, mem, CL_TRUE, zero, one, 0, 0,     \
                                         host, 0, NULL, &e));                  \
        ROW(want, CL->clEnqueueWriteImage(q, mem, CL_TRUE, zero, one, 0, 0,    \
                                          host, 0, NULL, &e));                 \
        ROW(want, CL->clEnqueueCopyImage(q, mem, second, zero, zero, one, 0,   \
                                         NULL, &e));                           \
        ROW(want, CL->clEnqueueCopyImageToBuffer(q, mem, second, zero, one, 0, \
                                                 0, NULL, &e));                \
        ROW(want, CL->clEnqueueCopyBufferToImage(q, mem, second, 0, zero, one, \
                                                 0, NULL, &e));                \
        ROW(want,                                                              \
            CL->clEnqueueFillImage(q, mem, host, zero, one, 0, NULL, &e));     \
        rc = UNSET;                                                            \
        HOLDS(!CL->clEnqueueMapImage(q, mem, CL_TRUE, CL_MAP_READ, zero, one,  \
                                     &row_pitch, &slice_pitch, 0, NULL, &e,    \
                                     &rc));                                    \
        ROW(want, rc);                                                         \
        HOLDS(!CL->clEnqueueMapImage(q, mem, CL_TRUE, CL_MAP_READ, zero, one,  \
                                     &row_pitch, &slice_pitch, 0, NULL, &e,    \
                                     NULL));                                   \
    } while (0)
    EACH_FROM(0, ICD_QUEUE, IMAGES(h, CL_INVALID_COMMAND_QUEUE));
    IMAGES(queue, CL_INVALID_OPERATION);
    HOLDS(e == UNSET_HANDLE && row_pitch == UNSET && slice_pitch == UNSET);
}
END_TEST

/* --- queues, events ------------------------------------------------------- */

START_TEST(queues)
{
    BAD_MADE(ICD_CONTEXT, CL_INVALID_CONTEXT, clCreateCommandQueue, h, device,
             0);
    BAD_MADE(ICD_DEVICE, CL_INVALID_DEVICE, clCreateCommandQueue, context, h,
             0);
    for (cl_command_queue_properties p = 4; p; p <<= 1)
        MADE(CL_INVALID_VALUE, clCreateCommandQueue, context, device, p);
    BAD(ICD_QUEUE, CL_INVALID_COMMAND_QUEUE, CL->clRetainCommandQueue(h));
    BAD(ICD_QUEUE, CL_INVALID_COMMAND_QUEUE, CL->clReleaseCommandQueue(h));
    BAD(ICD_QUEUE, CL_INVALID_COMMAND_QUEUE, CL->clFlush(h));
    BAD(ICD_QUEUE, CL_INVALID_COMMAND_QUEUE, CL->clFinish(h));
    ASK_WRONG(ICD_QUEUE, CL_INVALID_COMMAND_QUEUE, clGetCommandQueueInfo, queue,
              CL_QUEUE_CONTEXT);
    ASK(sizeof(cl_context), clGetCommandQueueInfo, queue, CL_QUEUE_CONTEXT);
    ASK(sizeof(cl_device_id), clGetCommandQueueInfo, queue, CL_QUEUE_DEVICE);
    ASK(sizeof(cl_uint), clGetCommandQueueInfo, queue,
        CL_QUEUE_REFERENCE_COUNT);
    ASK(sizeof(cl_command_queue_properties), clGetCommandQueueInfo, queue,
        CL_QUEUE_PROPERTIES);
}
END_TEST

static void CL_CALLBACK called(cl_event e, cl_int status, void *user)
{
    (void)e, (void)status, (void)user;
}

START_TEST(events)
{
    static const cl_int no_status[] = {CL_QUEUED, 77, -1};
    cl_event user = CL->clCreateUserEvent(context, &rc), e;
    const cl_event two[2] = {event, other_event};

    BAD_MADE(ICD_CONTEXT, CL_INVALID_CONTEXT, clCreateUserEvent, h);
    BAD(ICD_EVENT, CL_INVALID_EVENT, CL->clRetainEvent(h));
    BAD(ICD_EVENT, CL_INVALID_EVENT, CL->clReleaseEvent(h));
    ASK_WRONG(ICD_EVENT, CL_INVALID_EVENT, clGetEventInfo, event,
              CL_EVENT_CONTEXT);
    ASK(sizeof(cl_command_queue), clGetEventInfo, event,
        CL_EVENT_COMMAND_QUEUE);
    ASK(sizeof(cl_command_type), clGetEventInfo, event, CL_EVENT_COMMAND_TYPE);
    ASK(sizeof(cl_int), clGetEventInfo, event,
        CL_EVENT_COMMAND_EXECUTION_STATUS);
    ASK(sizeof(cl_uint), clGetEventInfo, event, CL_EVENT_REFERENCE_COUNT);
    ASK(sizeof(cl_context), clGetEventInfo, event, CL_EVENT_CONTEXT);

    ROW(CL_INVALID_VALUE, CL->clWaitForEvents(0, NULL));
    ROW(CL_INVALID_VALUE, CL->clWaitForEvents(0, &event));
    ROW(CL_INVALID_VALUE, CL->clWaitForEvents(1, NULL));
    BAD(ICD_EVENT, CL_INVALID_EVENT, CL->clWaitForEvents(1, (cl_event *)&h));
    BAD(ICD_EVENT, CL_INVALID_EVENT,
        CL->clWaitForEvents(2, (cl_event[]){event, h}));
    ROW(CL_INVALID_CONTEXT, CL->clWaitForEvents(2, two));

    BAD(ICD_EVENT, CL_INVALID_EVENT,
        CL->clSetEventCallback(h, CL_COMPLETE, called, NULL));
    ROW(CL_INVALID_VALUE,
        CL->clSetEventCallback(event, CL_COMPLETE, NULL, NULL));
    ROW(CL_INVALID_VALUE,
        CL->clSetEventCallback(event, CL_COMPLETE, NULL, host));
    for (size_t i = 0; i < sizeof no_status / sizeof *no_status; i++)
        ROW(CL_INVALID_VALUE,
            CL->clSetEventCallback(event, no_status[i], called, NULL));

    ROW(CL_SUCCESS, CL->clEnqueueMarkerWithWaitList(queue, 1, &user, &e));
    BAD(ICD_EVENT, CL_INVALID_EVENT, CL->clSetUserEventStatus(h, CL_COMPLETE));
    ROW(CL_INVALID_EVENT, CL->clSetUserEventStatus(e, CL_COMPLETE));
    ROW(CL_INVALID_VALUE, CL->clSetUserEventStatus(user, CL_RUNNING));
    ROW(CL_INVALID_VALUE, CL->clSetUserEventStatus(user, CL_SUBMITTED));
    ROW(CL_INVALID_VALUE, CL->clSetUserEventStatus(user, CL_QUEUED));
    ROW(CL_INVALID_VALUE, CL->clSetUserEventStatus(user, INT32_MAX));
    ROW(CL_SUCCESS, CL->clSetUserEventStatus(user, -1));
    ROW(CL_INVALID_OPERATION, CL->clSetUserEventStatus(user, CL_COMPLETE));
    ROW(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
        CL->clWaitForEvents(1, &user));
    ROW(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
        CL->clWaitForEvents(1, &e));
    ROW(CL_SUCCESS, CL->clReleaseEvent(user));
    ROW(CL_INVALID_EVENT, CL->clReleaseEvent(user));
    ROW(CL_SUCCESS, CL->clReleaseEvent(e));
}
END_TEST

START_TEST(profiles)
{
    cl_command_queue plain = CL->clCreateCommandQueue(context, device, 0, &rc);
    cl_event done, waits, unmeasured;
    cl_ulong t = UNSET;
    size_t size = UNSET;

#define PROFILE(e, what) \
    CL->clGetEventProfilingInfo(e, what, sizeof t, &t, &size)
    OK(CL->clEnqueueMarkerWithWaitList(queue, 0, NULL, &done));
    OK(CL->clEnqueueMarkerWithWaitList(plain, 0, NULL, &unmeasured));
    OK(CL->clFinish(queue));
    OK(CL->clFinish(plain));
    OK(CL->clEnqueueMarkerWithWaitList(queue, 1, &event, &waits));
    BAD(ICD_EVENT, CL_INVALID_EVENT, PROFILE(h, CL_PROFILING_COMMAND_END));
    for (cl_uint i = CL_PROFILING_COMMAND_QUEUED; i <= CL_PROFILING_COMMAND_END;
         i++) {
        ROW(CL_PROFILING_INFO_NOT_AVAILABLE, PROFILE(event, i));
        ROW(CL_PROFILING_INFO_NOT_AVAILABLE, PROFILE(waits, i));
        ROW(CL_PROFILING_INFO_NOT_AVAILABLE, PROFILE(unmeasured, i));
        ASK(sizeof t, clGetEventProfilingInfo, done, i);
    }
    ROW(CL_INVALID_VALUE, PROFILE(done, 0x4321));
    ROW(CL_INVALID_VALUE, PROFILE(done, CL_PROFILING_COMMAND_QUEUED - 1));
    HOLDS(t == UNSET && size == UNSET);
    OK(CL->clSetUserEventStatus(event, CL_COMPLETE));
    OK(CL->clReleaseEvent(done));
    OK(CL->clReleaseEvent(waits));
    OK(CL->clReleaseEvent(unmeasured));
    OK(CL->clReleaseCommandQueue(plain));
}
END_TEST

static void setup_commands(void)
{
    setup_errors();
    second = buffer_in(context);
}

static void teardown_commands(void)
{
    OK(CL->clFinish(queue));
    OK(CL->clReleaseMemObject(second));
    teardown_errors();
}

int main(void)
{
    Suite *s = suite_create("errors of the OpenCL driver's commands");
    TCase *t = tcase_create("functions");

    tcase_add_checked_fixture(t, setup_commands, teardown_commands);
    tcase_add_test(t, commands);
    tcase_add_test(t, regions);
    tcase_add_test(t, rects);
    tcase_add_test(t, overlaps);
    tcase_add_test(t, host_access);
    tcase_add_test(t, fills_and_maps);
    tcase_add_test(t, launches);
    tcase_add_test(t, natives);
    tcase_add_test(t, older_functions);
    tcase_add_test(t, images);
    tcase_add_test(t, queues);
    tcase_add_test(t, events);
    tcase_add_test(t, profiles);
    suite_add_tcase(s, t);
    return run_errors(s);
}
