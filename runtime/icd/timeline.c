/* --trace: what host threads and queues do, beside the device's own rows.
 *
 * All of it on the device's clock, so that the same program gives the same
 * file: a call that waits for nothing takes no time. */
#include <stdio.h>
#include <unistd.h>

#include "runtime/icd/icd.h"

/* With the device's lock. */
static struct {
    bool begun; /* or it cannot be */
    bool open;
    pid_t pid; /* of the process that began; a fork's child writes nothing */
    uint32_t threads; /* that have a row */
    uint64_t commands;
} state;

/* The row of this thread; 0: it has none yet. */
static _Thread_local uint32_t own_row;
/* Where it ends: rows do not go back in time. */
static _Thread_local uint64_t own_end;

/* False: there is none. */
static bool begin(cl_context c)
{
    arena *a;
    vpu_error err;

    if (state.begun)
        return state.open && state.pid == getpid();
    state.begun = true;
    state.pid = getpid();
    a = arena_create(0);
    state.open = !icd_device.core->trace(
        icd_device.machine, icd_record_path(a, icd_setting()->trace, "trace"),
        icd_setting()->trace_level, &err);
    if (!state.open)
        icd_tell(c, err.msg);
    arena_destroy(a);
    return state.open;
}

uint64_t icd_timeline_clock(void)
{
    uint64_t ns;

    if (!icd_setting()->trace) /* nobody marks anything */
        return 0;
    pthread_mutex_lock(&icd_mutex);
    ns = icd_device.clock;
    pthread_mutex_unlock(&icd_mutex);
    return ns;
}

/* In the row of this thread, until now. */
static void mark_thread(core_mark *m)
{
    if (!own_row)
        own_row = ++state.threads;
    m->thread = own_row;
    m->end_ns = icd_timeline_clock();
    if (m->begin_ns < own_end)
        m->begin_ns = own_end;
    own_end = m->end_ns;
    icd_device.core->mark(icd_device.machine, m);
}

/* As people say it. */
static const char *name_of(const icd_command *c)
{
    static const struct {
        cl_command_type type;
        const char *name;
    } names[] = {
        {CL_COMMAND_NATIVE_KERNEL, "native kernel"},
        {CL_COMMAND_READ_BUFFER, "read"},
        {CL_COMMAND_WRITE_BUFFER, "write"},
        {CL_COMMAND_COPY_BUFFER, "copy"},
        {CL_COMMAND_READ_BUFFER_RECT, "read box"},
        {CL_COMMAND_WRITE_BUFFER_RECT, "write box"},
        {CL_COMMAND_COPY_BUFFER_RECT, "copy box"},
        {CL_COMMAND_FILL_BUFFER, "fill"},
        {CL_COMMAND_MAP_BUFFER, "map"},
        {CL_COMMAND_UNMAP_MEM_OBJECT, "unmap"},
        {CL_COMMAND_MIGRATE_MEM_OBJECTS, "migrate"},
        {CL_COMMAND_MARKER, "marker"},
        {CL_COMMAND_BARRIER, "barrier"},
    };

    if (c->event->type == CL_COMMAND_NDRANGE_KERNEL ||
        c->event->type == CL_COMMAND_TASK)
        return c->data.kernel.launch.name;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].type == c->event->type)
            return names[i].name;
    return "command";
}

static uint64_t bytes_of(const icd_command *c)
{
    const size_t *r = c->data.copy.region;

    switch (c->event->type) {
    case CL_COMMAND_READ_BUFFER:
    case CL_COMMAND_WRITE_BUFFER:
    case CL_COMMAND_COPY_BUFFER:
    case CL_COMMAND_READ_BUFFER_RECT:
    case CL_COMMAND_WRITE_BUFFER_RECT:
    case CL_COMMAND_COPY_BUFFER_RECT:
        return r[0] * r[1] * r[2];
    case CL_COMMAND_FILL_BUFFER:
        return c->data.fill.bytes;
    case CL_COMMAND_MAP_BUFFER:
    case CL_COMMAND_UNMAP_MEM_OBJECT:
        return c->data.map.bytes;
    }
    return 0;
}

static core_mark mark_of(const icd_command *c)
{
    return (core_mark){.name = name_of(c),
                       .flow = c->traced,
                       .bytes = bytes_of(c),
                       .queue = c->queue->traced};
}

/* A queue's number is the order in which queues have got commands. */
void icd_timeline_enqueue(icd_command *c)
{
    static uint32_t queues; /* with the device's lock */
    core_mark m;

    if (!icd_setting()->trace)
        return;
    pthread_mutex_lock(&icd_device.lock);
    if (begin(c->queue->context)) {
        if (!c->queue->traced)
            c->queue->traced = ++queues;
        c->traced = ++state.commands;
        m = mark_of(c);
        m.begin_ns = icd_timeline_clock();
        mark_thread(&m);
    }
    pthread_mutex_unlock(&icd_device.lock);
}

void icd_timeline_ran(const icd_command *c, cl_int status, uint64_t begin_ns,
                      uint64_t end_ns)
{
    core_mark m;

    if (!icd_setting()->trace || !c->traced)
        return;
    pthread_mutex_lock(&icd_device.lock);
    m = mark_of(c);
    m.begin_ns = begin_ns;
    m.end_ns = end_ns;
    m.queued_ns = c->event->times[0];
    m.status = status;
    if (state.open && state.pid == getpid())
        icd_device.core->mark(icd_device.machine, &m);
    pthread_mutex_unlock(&icd_device.lock);
}

void icd_timeline_waited(const char *call, uint64_t begin_ns)
{
    core_mark m = {.name = call, .begin_ns = begin_ns};

    if (!icd_setting()->trace)
        return;
    pthread_mutex_lock(&icd_device.lock);
    if (state.open && state.pid == getpid())
        mark_thread(&m);
    pthread_mutex_unlock(&icd_device.lock);
}

void icd_timeline_end(void)
{
    vpu_error err;

    if (state.open && icd_device.core->end_trace(icd_device.machine, &err))
        fprintf(stderr, "vpusim: %s\n", err.msg);
    state.open = false;
}
