/* Queues and events; running commands, and the thread that calls back.
 *
 * Commands run in the threads that wait for them, not beside the program: what
 * a program of one thread sees (times, where buffers lie, and so cycles) is the
 * same in every run. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/icd/icd.h"

/* More commands than these do not wait for a program to wait for them. */
enum { MOST_WAITING = 1024 };

/* Commands of all queues that are not begun, in the order they were enqueued.
 * With icd_mutex. */
static struct {
    icd_command *first, **last;
    uint64_t search;
    cl_uint n;    /* of them, and of the one that runs */
    pid_t pid;    /* of the process that enqueued first; 0 = none has */
    bool running; /* one is, by this thread: */
    pthread_t runner;
    icd_callback *calls, **last_call;
    bool calling; /* the thread for them is there */
} work = {.last = &work.first, .last_call = &work.calls};

/* --- callbacks ------------------------------------------------------------ */

static void *call_back(void *unused)
{
    pthread_mutex_lock(&icd_mutex);
    for (;;) {
        icd_callback *c = work.calls;

        if (!c) {
            pthread_cond_wait(&icd_changed, &icd_mutex);
            continue;
        }
        work.calls = c->next;
        if (!work.calls)
            work.last_call = &work.calls;
        pthread_mutex_unlock(&icd_mutex);
        c->call(c->event, c->status, c->user);
        icd_drop(c->event);
        free(c);
        pthread_mutex_lock(&icd_mutex);
    }
    return unused;
}

/* Those whose time has come. With the lock. */
static void move_callbacks(cl_event e)
{
    icd_callback **at = &e->callbacks;

    while (*at) {
        icd_callback *c = *at;

        if (e->status > c->on) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        c->next = NULL;
        c->status = e->status < 0 ? e->status : c->on;
        *work.last_call = c;
        work.last_call = &c->next;
    }
}

static bool start_thread(void *(*run)(void *))
{
    pthread_attr_t attr;
    pthread_t t;
    bool ok;

    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    ok = !pthread_create(&t, &attr, run, NULL);
    pthread_attr_destroy(&attr);
    return ok;
}

cl_int icd_clSetEventCallback(cl_event event, cl_int on,
                              void(CL_CALLBACK *call)(cl_event, cl_int, void *),
                              void *user)
{
    icd_callback *c;
    bool ok = true;

    if (!icd_is(event, ICD_EVENT))
        return CL_INVALID_EVENT;
    if (!call || (on != CL_SUBMITTED && on != CL_RUNNING && on != CL_COMPLETE))
        return CL_INVALID_VALUE;
    c = calloc(1, sizeof *c);
    if (!c)
        return CL_OUT_OF_HOST_MEMORY;
    *c = (icd_callback){
        .call = call, .user = user, .event = icd_use(event), .on = on};
    pthread_mutex_lock(&icd_mutex);
    if (!work.calling)
        ok = work.calling = start_thread(call_back);
    c->next = event->callbacks;
    event->callbacks = c;
    move_callbacks(event);
    pthread_cond_broadcast(&icd_changed);
    pthread_mutex_unlock(&icd_mutex);
    return ok ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

/* --- events --------------------------------------------------------------- */

static bool run_next(void);
static void run_until(const cl_int *n, cl_int most);
static void run_all(void);
static cl_int look_at(cl_event e);

static cl_event event_new(cl_context context, cl_command_queue q,
                          cl_command_type type)
{
    cl_event e = icd_object_new(ICD_EVENT, sizeof *e);

    if (!e)
        return NULL;
    e->context = icd_use(context);
    e->queue = icd_use(q);
    e->type = type;
    e->status = q ? CL_QUEUED : CL_SUBMITTED;
    return e;
}

void icd_event_end(cl_event e)
{
    free(e->figures);
    icd_drop(e->queue);
    icd_drop(e->context);
}

void icd_event_set(cl_event e, cl_int status)
{
    e->status = status;
    move_callbacks(e);
    pthread_cond_broadcast(&icd_changed);
}

cl_event icd_clCreateUserEvent(cl_context context, cl_int *error)
{
    cl_int rc = icd_is(context, ICD_CONTEXT) ? CL_SUCCESS : CL_INVALID_CONTEXT;
    cl_event e = rc ? NULL : event_new(context, NULL, CL_COMMAND_USER);

    icd_say(error, rc ? rc : e ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY);
    return e;
}

cl_int icd_clSetUserEventStatus(cl_event event, cl_int status)
{
    cl_int rc = CL_SUCCESS;

    if (!icd_is(event, ICD_EVENT) || event->queue)
        return CL_INVALID_EVENT;
    if (status > CL_COMPLETE)
        return CL_INVALID_VALUE;
    pthread_mutex_lock(&icd_mutex);
    if (event->final)
        rc = CL_INVALID_OPERATION;
    event->final = true;
    if (!rc) {
        icd_event_set(event, status);
        run_all(); /* nobody may be waiting but for a callback */
    }
    pthread_mutex_unlock(&icd_mutex);
    return rc;
}

cl_int icd_clRetainEvent(cl_event event)
{
    return icd_retain(event, ICD_EVENT, CL_INVALID_EVENT);
}

cl_int icd_clReleaseEvent(cl_event event)
{
    return icd_release(event, ICD_EVENT, CL_INVALID_EVENT);
}

static cl_int wait_for(cl_event e)
{
    uint64_t since = icd_timeline_clock();
    cl_int status;

    pthread_mutex_lock(&icd_mutex);
    while (e->status > CL_COMPLETE && !e->queue)
        if (!run_next())
            pthread_cond_wait(&icd_changed, &icd_mutex);
    run_until(&e->status, CL_COMPLETE);
    status = e->status;
    pthread_mutex_unlock(&icd_mutex);
    icd_timeline_waited("wait", since);
    return status;
}

cl_int icd_clWaitForEvents(cl_uint n, const cl_event *list)
{
    cl_int rc = CL_SUCCESS;

    if (!n || !list)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < n; i++) {
        if (!icd_is(list[i], ICD_EVENT))
            return CL_INVALID_EVENT;
        if (list[i]->context != list[0]->context)
            return CL_INVALID_CONTEXT;
    }
    for (cl_uint i = 0; i < n; i++) {
        cl_event e = icd_use(list[i]);

        if (wait_for(e) < 0)
            rc = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        icd_drop(e);
    }
    return rc;
}

cl_int icd_clGetEventInfo(cl_event event, cl_event_info what, size_t room,
                          void *to, size_t *size)
{
    const icd_answer a = {room, to, size};

    if (!icd_is(event, ICD_EVENT))
        return CL_INVALID_EVENT;
    switch (what) {
    case CL_EVENT_COMMAND_QUEUE:
        return ICD_PUT(&a, cl_command_queue, event->queue);
    case CL_EVENT_COMMAND_TYPE:
        return ICD_PUT(&a, cl_command_type, event->type);
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
        return ICD_PUT(&a, cl_int, look_at(event));
    case CL_EVENT_REFERENCE_COUNT:
        return ICD_PUT(&a, cl_uint, icd_count(&event->refs));
    case CL_EVENT_CONTEXT:
        return ICD_PUT(&a, cl_context, event->context);
    }
    return CL_INVALID_VALUE;
}

static cl_int put_figures(const icd_figures *f, cl_profiling_info what,
                          const icd_answer *a)
{
    if (!f)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    switch (what) {
    case CL_PROFILING_COMMAND_CYCLES_VPUSIM:
        return ICD_PUT(a, cl_ulong, f->cycles);
    case CL_PROFILING_COMMAND_SHAVE_CYCLES_VPUSIM:
        return icd_put(a, f->causes, sizeof f->causes);
    case CL_PROFILING_COMMAND_LOAD_BYTES_VPUSIM:
        return ICD_PUT(a, cl_ulong, f->load);
    case CL_PROFILING_COMMAND_STORE_BYTES_VPUSIM:
        return ICD_PUT(a, cl_ulong, f->store);
    case CL_PROFILING_COMMAND_DMA_BYTES_VPUSIM:
        return ICD_PUT(a, cl_ulong, f->dma);
    case CL_PROFILING_COMMAND_DDR_BYTES_VPUSIM:
        return ICD_PUT(a, cl_ulong, f->ddr);
    case CL_PROFILING_COMMAND_SHAVES_VPUSIM:
        return ICD_PUT(a, cl_uint, f->shaves);
    case CL_PROFILING_COMMAND_VECTOR_FACTOR_VPUSIM:
        return ICD_PUT(a, cl_uint, f->factor);
    }
    return ICD_PUT(a, cl_uint, f->cmx);
}

cl_int icd_clGetEventProfilingInfo(cl_event event, cl_profiling_info what,
                                   size_t room, void *to, size_t *size)
{
    const icd_answer a = {room, to, size};

    if (!icd_is(event, ICD_EVENT))
        return CL_INVALID_EVENT;
    if (!event->queue ||
        !(event->queue->properties & CL_QUEUE_PROFILING_ENABLE) ||
        (cl_int)icd_count((cl_uint *)&event->status) != CL_COMPLETE)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    if (what >= CL_PROFILING_COMMAND_CYCLES_VPUSIM &&
        what <= CL_PROFILING_COMMAND_CMX_BYTES_VPUSIM)
        return put_figures(event->figures, what, &a);
    if (what < CL_PROFILING_COMMAND_QUEUED || what > CL_PROFILING_COMMAND_END)
        return CL_INVALID_VALUE;
    return ICD_PUT(&a, cl_ulong,
                   event->times[what - CL_PROFILING_COMMAND_QUEUED]);
}

/* --- the list ------------------------------------------------------------- */

static bool waits_are_over(const icd_command *c, bool *failed)
{
    *failed = false;
    for (cl_uint i = 0; i < c->n_waits; i++) {
        if (c->waits[i]->status > CL_COMPLETE)
            return false;
        *failed |= c->waits[i]->status < 0;
    }
    return true;
}

/* The first that may begin, taken out; NULL: none may. */
static icd_command *take_ready(bool *failed)
{
    uint64_t now = ++work.search;

    for (icd_command **at = &work.first; *at; at = &(*at)->next) {
        icd_command *c = *at;
        cl_command_queue q = c->queue;
        bool in_order =
            !(q->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
        bool behind = q->seen == now;
        bool held =
            in_order ? behind : q->blocks == now || (c->after_all && behind);

        q->seen = now;
        if (c->barrier)
            q->blocks = now;
        if (held || !waits_are_over(c, failed))
            continue;
        *at = c->next;
        if (work.last == &c->next)
            work.last = at;
        return c;
    }
    return NULL;
}

static void command_free(icd_command *c)
{
    if (c->end)
        c->end(c);
    for (cl_uint i = 0; i < c->n_waits; i++)
        icd_drop(c->waits[i]);
    free(c->waits);
    if (c->event)
        icd_drop(c->event);
    icd_drop(c->queue);
    free(c);
}

void icd_command_give_up(icd_command *c)
{
    if (c->event)
        icd_release(c->event, ICD_EVENT, 0);
    command_free(c);
}

/* To the device: it takes what waits for no event, the rest stays queued. */
static void submit(cl_event e)
{
    e->times[1] = icd_device.clock;
    icd_event_set(e, CL_SUBMITTED);
}

/* Runs the first command that may begin, in this thread. With the lock, which
 * is open meanwhile. False: there is none, or another thread runs one. */
static bool run_next(void)
{
    uint64_t ns = 1;
    cl_int status = CL_COMPLETE;
    bool failed;
    icd_command *c =
        work.running || work.pid != getpid() ? NULL : take_ready(&failed);

    if (!c)
        return false;
    work.running = true;
    work.runner = pthread_self();
    if (c->event->status == CL_QUEUED)
        submit(c->event);
    /* No command begins in the nanosecond in which another one ends: programs
     * tell by it that a marker is behind what it marks. */
    c->event->times[2] = ++icd_device.clock;
    icd_event_set(c->event, CL_RUNNING);
    pthread_mutex_unlock(&icd_mutex);
    if (failed)
        status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    else if (c->run)
        status = c->run(c, &ns);
    icd_timeline_ran(c, status, c->event->times[2], c->event->times[2] + ns);
    pthread_mutex_lock(&icd_mutex);
    icd_device.clock += ns;
    c->event->times[3] = icd_device.clock;
    c->queue->pending--;
    work.n--;
    icd_event_set(c->event, status);
    pthread_mutex_unlock(&icd_mutex);
    command_free(c);
    pthread_mutex_lock(&icd_mutex);
    work.running = false;
    pthread_cond_broadcast(&icd_changed);
    return true;
}

/* Runs commands, or waits for who does, until *n is at most `most`. With the
 * lock. In a fork of the process that has the device nothing runs. */
static void run_until(const cl_int *n, cl_int most)
{
    while (*n > most && work.pid == getpid())
        if (!run_next())
            pthread_cond_wait(&icd_changed, &icd_mutex);
}

/* Runs all that may begin. With the lock. */
static void run_all(void)
{
    while (run_next() ||
           (work.running && !pthread_equal(work.runner, pthread_self())))
        if (work.running)
            pthread_cond_wait(&icd_changed, &icd_mutex);
}

static cl_int check_waiting(cl_context context, const icd_waiting *w)
{
    if (!w->n != !w->list)
        return CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint i = 0; i < w->n; i++) {
        if (!icd_is(w->list[i], ICD_EVENT))
            return CL_INVALID_EVENT_WAIT_LIST;
        if (w->list[i]->context != context)
            return CL_INVALID_CONTEXT;
    }
    return CL_SUCCESS;
}

cl_int icd_command_new(cl_command_queue q, const icd_waiting *w,
                       cl_command_type type, icd_command **out)
{
    icd_command *c;
    cl_int rc;

    if (!icd_is(q, ICD_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    rc = check_waiting(q->context, w);
    if (rc)
        return rc;
    c = calloc(1, sizeof *c);
    if (!c)
        return CL_OUT_OF_HOST_MEMORY;
    c->queue = icd_use(q);
    c->waits = w->n ? calloc(w->n, sizeof *c->waits) : NULL;
    c->event = event_new(q->context, q, type);
    if (c->event)
        icd_use(c->event);
    if (!c->event || (w->n && !c->waits)) {
        icd_command_give_up(c);
        return CL_OUT_OF_HOST_MEMORY;
    }
    for (cl_uint i = 0; i < w->n; i++)
        c->waits[c->n_waits++] = icd_use(w->list[i]);
    *out = c;
    return CL_SUCCESS;
}

cl_int icd_enqueue(icd_command *c, const icd_waiting *w, bool blocking)
{
    cl_event e = icd_use(c->event);
    cl_int rc = CL_SUCCESS;
    bool failed;

    icd_timeline_enqueue(c);
    pthread_mutex_lock(&icd_mutex);
    if (!work.pid)
        work.pid = getpid();
    if (work.pid != getpid()) /* of a fork, where the device is not */
        rc = CL_OUT_OF_RESOURCES;
    if (!rc) {
        e->times[0] = icd_device.clock;
        if (waits_are_over(c, &failed))
            submit(e);
        c->queue->pending++;
        *work.last = c;
        work.last = &c->next;
        work.n++;
        while (work.n > MOST_WAITING && run_next())
            ;
        pthread_cond_broadcast(&icd_changed);
    }
    pthread_mutex_unlock(&icd_mutex);
    if (rc)
        command_free(c);
    else if (blocking && wait_for(e) < 0)
        rc = e->status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
                 ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
                 : CL_OUT_OF_RESOURCES;
    if (!rc && w->event)
        *w->event = e;
    else
        icd_release(e, ICD_EVENT, 0);
    icd_drop(e);
    return rc;
}

/* Its status for a program that asks again and again instead of waiting. */
static cl_int look_at(cl_event e)
{
    cl_int status;

    pthread_mutex_lock(&icd_mutex);
    status = e->status;
    if (status > CL_COMPLETE && e->queue)
        run_next();
    pthread_mutex_unlock(&icd_mutex);
    return status;
}

/* --- queues --------------------------------------------------------------- */

cl_command_queue icd_clCreateCommandQueue(cl_context context,
                                          cl_device_id device,
                                          cl_command_queue_properties p,
                                          cl_int *error)
{
    const cl_command_queue_properties known =
        CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    cl_command_queue q = NULL;
    cl_int rc = !icd_is(context, ICD_CONTEXT) ? CL_INVALID_CONTEXT
                : !icd_is(device, ICD_DEVICE) ? CL_INVALID_DEVICE
                : p & ~known                  ? CL_INVALID_VALUE
                                              : CL_SUCCESS;

    if (!rc && !(q = icd_object_new(ICD_QUEUE, sizeof *q)))
        rc = CL_OUT_OF_HOST_MEMORY;
    if (q) {
        q->context = icd_use(context);
        q->properties = p;
    }
    icd_say(error, rc);
    return q;
}

cl_int icd_clRetainCommandQueue(cl_command_queue q)
{
    return icd_retain(q, ICD_QUEUE, CL_INVALID_COMMAND_QUEUE);
}

/* The last release flushes. */
cl_int icd_clReleaseCommandQueue(cl_command_queue q)
{
    if (icd_is(q, ICD_QUEUE) && icd_count(&q->refs) == 1)
        icd_clFlush(q);
    return icd_release(q, ICD_QUEUE, CL_INVALID_COMMAND_QUEUE);
}

void icd_queue_end(cl_command_queue q)
{
    icd_drop(q->context);
}

cl_int icd_clGetCommandQueueInfo(cl_command_queue q, cl_command_queue_info what,
                                 size_t room, void *to, size_t *size)
{
    const icd_answer a = {room, to, size};

    if (!icd_is(q, ICD_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    switch (what) {
    case CL_QUEUE_CONTEXT:
        return ICD_PUT(&a, cl_context, q->context);
    case CL_QUEUE_DEVICE:
        return ICD_PUT(&a, cl_device_id, &icd_device);
    case CL_QUEUE_REFERENCE_COUNT:
        return ICD_PUT(&a, cl_uint, icd_count(&q->refs));
    case CL_QUEUE_PROPERTIES:
        return ICD_PUT(&a, cl_command_queue_properties, q->properties);
    }
    return CL_INVALID_VALUE;
}

cl_int icd_clSetCommandQueueProperty(cl_command_queue q,
                                     cl_command_queue_properties p, cl_bool on,
                                     cl_command_queue_properties *before)
{
    (void)p, (void)on, (void)before;
    return icd_is(q, ICD_QUEUE) ? CL_INVALID_OPERATION
                                : CL_INVALID_COMMAND_QUEUE;
}

cl_int icd_clFlush(cl_command_queue q)
{
    uint64_t since = icd_timeline_clock();

    if (!icd_is(q, ICD_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    pthread_mutex_lock(&icd_mutex);
    run_all();
    pthread_mutex_unlock(&icd_mutex);
    icd_timeline_waited("flush", since);
    return CL_SUCCESS;
}

cl_int icd_clFinish(cl_command_queue q)
{
    uint64_t since = icd_timeline_clock();

    if (!icd_is(q, ICD_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    icd_use(q);
    pthread_mutex_lock(&icd_mutex);
    run_until(&q->pending, 0);
    pthread_mutex_unlock(&icd_mutex);
    icd_timeline_waited("finish", since);
    icd_drop(q);
    return CL_SUCCESS;
}
