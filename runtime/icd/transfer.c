/* Commands that move bytes. */
#include <stdlib.h>
#include <string.h>

#include "runtime/icd/icd.h"

/* --- what memory objects allow -------------------------------------------- */

static cl_int check_memory(cl_command_queue q, cl_mem m, size_t offset,
                           size_t bytes)
{
    if (!icd_is(q, ICD_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    if (!icd_is(m, ICD_MEMORY))
        return CL_INVALID_MEM_OBJECT;
    if (m->context != q->context)
        return CL_INVALID_CONTEXT;
    return !bytes || offset > m->bytes || bytes > m->bytes - offset
               ? CL_INVALID_VALUE
               : CL_SUCCESS;
}

static cl_int check_host(cl_mem m, bool reads)
{
    cl_mem_flags no = reads ? CL_MEM_HOST_WRITE_ONLY : CL_MEM_HOST_READ_ONLY;

    return m->flags & (no | CL_MEM_HOST_NO_ACCESS) ? CL_INVALID_OPERATION
                                                   : CL_SUCCESS;
}

/* --- copies --------------------------------------------------------------- */

static size_t at(const size_t origin[3], const size_t pitch[2])
{
    return origin[2] * pitch[1] + origin[1] * pitch[0] + origin[0];
}

static void watch_row(const icd_copy *j, size_t y, size_t z)
{
    size_t from =
        at(j->origin[0], j->pitch[0]) + z * j->pitch[0][1] + y * j->pitch[0][0];
    size_t to =
        at(j->origin[1], j->pitch[1]) + z * j->pitch[1][1] + y * j->pitch[1][0];

    if (!j->to)
        icd_watch_read(j->from, from, j->region[0]);
    else if (!j->from)
        icd_watch_written(j->to, to, j->region[0]);
    else
        icd_watch_copied(j->from, from, j->to, to, j->region[0]);
}

static void watch_copy(const icd_copy *j)
{
    if (!icd_setting()->check)
        return;
    pthread_mutex_lock(&icd_device.lock);
    for (size_t z = 0; z < j->region[2]; z++)
        for (size_t y = 0; y < j->region[1]; y++)
            watch_row(j, y, z);
    pthread_mutex_unlock(&icd_device.lock);
}

/* Beside what the device's lock guards. */
static void watch_piece(void (*tell)(cl_mem m, size_t offset, size_t bytes),
                        cl_mem m, size_t offset, size_t bytes)
{
    if (!icd_setting()->check)
        return;
    pthread_mutex_lock(&icd_device.lock);
    tell(m, offset, bytes);
    pthread_mutex_unlock(&icd_device.lock);
}

static cl_int run_copy(icd_command *c, uint64_t *ns)
{
    const icd_copy *j = &c->data.copy;
    const size_t *r = j->region;
    const uint8_t *from = j->from ? icd_memory_bytes(j->from) : j->source;
    uint8_t *to = j->to ? icd_memory_bytes(j->to) : j->target;

    from += at(j->origin[0], j->pitch[0]);
    to += at(j->origin[1], j->pitch[1]);
    for (size_t z = 0; z < r[2]; z++)
        for (size_t y = 0; y < r[1]; y++)
            memmove(to + z * j->pitch[1][1] + y * j->pitch[1][0],
                    from + z * j->pitch[0][1] + y * j->pitch[0][0], r[0]);
    watch_copy(j);
    *ns = (j->from && j->to ? icd_memory_ns : icd_link_ns)(r[0] * r[1] * r[2]);
    return CL_COMPLETE;
}

static void end_copy(icd_command *c)
{
    icd_drop(c->data.copy.from);
    icd_drop(c->data.copy.to);
}

static cl_int enqueue_copy(cl_command_queue q, const icd_copy *j, bool blocking,
                           cl_command_type type, const icd_waiting *w)
{
    icd_command *c;
    cl_int rc = icd_command_new(q, w, type, &c);

    if (rc)
        return rc;
    c->run = run_copy;
    c->end = end_copy;
    c->data.copy = *j;
    icd_use(j->from);
    icd_use(j->to);
    return icd_enqueue(c, w, blocking);
}

cl_int icd_clEnqueueReadBuffer(cl_command_queue q, cl_mem m, cl_bool blocking,
                               size_t offset, size_t bytes, void *to, cl_uint n,
                               const cl_event *list, cl_event *event)
{
    const icd_waiting w = {n, list, event};
    const icd_copy j = {
        .from = m, .target = to, .origin = {{offset}}, .region = {bytes, 1, 1}};
    cl_int rc = check_memory(q, m, offset, bytes);

    if (!rc)
        rc = to ? check_host(m, true) : CL_INVALID_VALUE;
    return rc ? rc : enqueue_copy(q, &j, blocking, CL_COMMAND_READ_BUFFER, &w);
}

cl_int icd_clEnqueueWriteBuffer(cl_command_queue q, cl_mem m, cl_bool blocking,
                                size_t offset, size_t bytes, const void *from,
                                cl_uint n, const cl_event *list,
                                cl_event *event)
{
    const icd_waiting w = {n, list, event};
    const icd_copy j = {.to = m,
                        .source = from,
                        .origin = {{0}, {offset}},
                        .region = {bytes, 1, 1}};
    cl_int rc = check_memory(q, m, offset, bytes);

    if (!rc)
        rc = from ? check_host(m, false) : CL_INVALID_VALUE;
    return rc ? rc : enqueue_copy(q, &j, blocking, CL_COMMAND_WRITE_BUFFER, &w);
}

cl_int icd_clEnqueueCopyBuffer(cl_command_queue q, cl_mem from, cl_mem to,
                               size_t from_offset, size_t to_offset,
                               size_t bytes, cl_uint n, const cl_event *list,
                               cl_event *event)
{
    const icd_waiting w = {n, list, event};
    const icd_copy j = {.from = from,
                        .to = to,
                        .origin = {{from_offset}, {to_offset}},
                        .region = {bytes, 1, 1}};
    cl_int rc = check_memory(q, from, from_offset, bytes);
    size_t a, b;

    if (!rc)
        rc = check_memory(q, to, to_offset, bytes);
    if (rc)
        return rc;
    a = from->address + from_offset;
    b = to->address + to_offset;
    if (a < b + bytes && b < a + bytes)
        return CL_MEM_COPY_OVERLAP;
    return enqueue_copy(q, &j, false, CL_COMMAND_COPY_BUFFER, &w);
}

/* Bytes up to the end of the region; false: more than a size_t holds. */
static bool find_end(const size_t *origin, const size_t *region,
                     const size_t pitch[2], size_t *end)
{
    const size_t steps[3] = {1, pitch[0], pitch[1]};
    size_t n, bytes;

    *end = 0;
    for (int d = 0; d < 3; d++)
        if (__builtin_add_overflow(origin[d], region[d] - (d > 0), &n) ||
            __builtin_mul_overflow(n, steps[d], &bytes) ||
            __builtin_add_overflow(*end, bytes, end))
            return false;
    return true;
}

/* Pitches of 0 are those of packed rows and planes. */
static cl_int take_pitches(const size_t *origin, const size_t *region,
                           size_t row, size_t slice, size_t pitch[2],
                           size_t *end)
{
    size_t plane;

    if (!region[0] || !region[1] || !region[2])
        return CL_INVALID_VALUE;
    pitch[0] = row ? row : region[0];
    if (__builtin_mul_overflow(region[1], pitch[0], &plane))
        return CL_INVALID_VALUE;
    pitch[1] = slice ? slice : plane;
    if (pitch[0] < region[0] || pitch[1] < plane || pitch[1] % pitch[0] ||
        !find_end(origin, region, pitch, end))
        return CL_INVALID_VALUE;
    return CL_SUCCESS;
}

typedef struct {
    cl_mem memory;
    const size_t *origin;
    size_t row, slice;
} rect_side;

/* side 0 is read, 1 written; memory NULL: the host's. */
static cl_int take_side(cl_command_queue q, const rect_side *s,
                        const size_t *region, int side, icd_copy *j)
{
    size_t end;
    cl_int rc;

    if (!s->origin || !region)
        return CL_INVALID_VALUE;
    memcpy(j->origin[side], s->origin, sizeof j->origin[side]);
    memcpy(j->region, region, sizeof j->region);
    rc =
        take_pitches(s->origin, region, s->row, s->slice, j->pitch[side], &end);
    return rc ? rc : s->memory ? check_memory(q, s->memory, 0, end) : rc;
}

cl_int icd_clEnqueueReadBufferRect(cl_command_queue q, cl_mem m,
                                   cl_bool blocking, const size_t *origin,
                                   const size_t *host_origin,
                                   const size_t *region, size_t row,
                                   size_t slice, size_t host_row,
                                   size_t host_slice, void *to, cl_uint n,
                                   const cl_event *list, cl_event *event)
{
    const icd_waiting w = {n, list, event};
    const rect_side read = {m, origin, row, slice},
                    host = {NULL, host_origin, host_row, host_slice};
    icd_copy j = {.from = m, .target = to};
    cl_int rc = check_memory(q, m, 0, 1);

    if (!rc)
        rc = take_side(q, &read, region, 0, &j);
    if (!rc)
        rc = take_side(q, &host, region, 1, &j);
    if (!rc)
        rc = to ? check_host(m, true) : CL_INVALID_VALUE;
    return rc ? rc
              : enqueue_copy(q, &j, blocking, CL_COMMAND_READ_BUFFER_RECT, &w);
}

cl_int icd_clEnqueueWriteBufferRect(
    cl_command_queue q, cl_mem m, cl_bool blocking, const size_t *origin,
    const size_t *host_origin, const size_t *region, size_t row, size_t slice,
    size_t host_row, size_t host_slice, const void *from, cl_uint n,
    const cl_event *list, cl_event *event)
{
    const icd_waiting w = {n, list, event};
    const rect_side written = {m, origin, row, slice},
                    host = {NULL, host_origin, host_row, host_slice};
    icd_copy j = {.to = m, .source = from};
    cl_int rc = check_memory(q, m, 0, 1);

    if (!rc)
        rc = take_side(q, &host, region, 0, &j);
    if (!rc)
        rc = take_side(q, &written, region, 1, &j);
    if (!rc)
        rc = from ? check_host(m, false) : CL_INVALID_VALUE;
    return rc ? rc
              : enqueue_copy(q, &j, blocking, CL_COMMAND_WRITE_BUFFER_RECT, &w);
}

static size_t distance(size_t a, size_t b)
{
    return a < b ? b - a : a - b;
}

/* Do two boxes with equal pitches, one `far` bytes behind the other, have a
 * byte in common? It lies x bytes, y rows and z planes from both beginnings,
 * each way, so that far is their sum; a row is within its pitch and so is a
 * plane, so that only two z and for each two y come close. */
static bool equal_rects_meet(size_t far, const size_t *region,
                             const size_t pitch[2])
{
    for (size_t z = far / pitch[1]; z <= far / pitch[1] + 1; z++) {
        size_t rows = distance(far, z * pitch[1]);

        for (size_t y = rows / pitch[0]; y <= rows / pitch[0] + 1; y++)
            if (distance(rows, y * pitch[0]) < region[0] && y < region[1] &&
                z < region[2])
                return true;
    }
    return false;
}

/* Of boxes with other pitches it is said where their ranges meet, too. */
static bool rects_meet(const icd_copy *j)
{
    const size_t(*o)[3] = j->origin;
    size_t first[2], last[2];

    for (int k = 0; k < 2; k++) {
        const size_t end[3] = {o[k][0] + j->region[0] - 1,
                               o[k][1] + j->region[1] - 1,
                               o[k][2] + j->region[2] - 1};
        size_t base = k ? j->to->address : j->from->address;

        first[k] = base + at(o[k], j->pitch[k]);
        last[k] = base + at(end, j->pitch[k]);
    }
    if (j->pitch[0][0] == j->pitch[1][0] &&
        (j->pitch[0][1] == j->pitch[1][1] || j->region[2] == 1))
        return equal_rects_meet(distance(first[0], first[1]), j->region,
                                j->pitch[0]);
    return first[0] <= last[1] && first[1] <= last[0];
}

cl_int icd_clEnqueueCopyBufferRect(cl_command_queue q, cl_mem from, cl_mem to,
                                   const size_t *from_origin,
                                   const size_t *to_origin,
                                   const size_t *region, size_t from_row,
                                   size_t from_slice, size_t to_row,
                                   size_t to_slice, cl_uint n,
                                   const cl_event *list, cl_event *event)
{
    const icd_waiting w = {n, list, event};
    const rect_side read = {from, from_origin, from_row, from_slice},
                    written = {to, to_origin, to_row, to_slice};
    icd_copy j = {.from = from, .to = to};
    cl_int rc = check_memory(q, from, 0, 1);

    if (!rc)
        rc = check_memory(q, to, 0, 1);
    if (!rc)
        rc = take_side(q, &read, region, 0, &j);
    if (!rc)
        rc = take_side(q, &written, region, 1, &j);
    if (!rc && from == to && j.pitch[0][0] != j.pitch[1][0] &&
        j.pitch[0][1] != j.pitch[1][1])
        rc = CL_INVALID_VALUE;
    if (!rc && rects_meet(&j))
        rc = CL_MEM_COPY_OVERLAP;
    return rc ? rc
              : enqueue_copy(q, &j, false, CL_COMMAND_COPY_BUFFER_RECT, &w);
}

/* --- fill ----------------------------------------------------------------- */

static cl_int run_fill(icd_command *c, uint64_t *ns)
{
    uint8_t *to = icd_memory_bytes(c->data.fill.to) + c->data.fill.offset;

    for (size_t i = 0; i < c->data.fill.bytes; i += c->data.fill.n)
        memcpy(to + i, c->data.fill.pattern, c->data.fill.n);
    watch_piece(icd_watch_written, c->data.fill.to, c->data.fill.offset,
                c->data.fill.bytes);
    *ns = icd_memory_ns(c->data.fill.bytes);
    return CL_COMPLETE;
}

static void end_fill(icd_command *c)
{
    icd_drop(c->data.fill.to);
}

cl_int icd_clEnqueueFillBuffer(cl_command_queue q, cl_mem m,
                               const void *pattern, size_t n_pattern,
                               size_t offset, size_t bytes, cl_uint n,
                               const cl_event *list, cl_event *event)
{
    const icd_waiting w = {n, list, event};
    icd_command *c;
    cl_int rc = check_memory(q, m, offset, bytes);

    if (rc)
        return rc;
    if (!pattern || !n_pattern || n_pattern > 128 ||
        n_pattern & (n_pattern - 1) || offset % n_pattern || bytes % n_pattern)
        return CL_INVALID_VALUE;
    rc = icd_command_new(q, &w, CL_COMMAND_FILL_BUFFER, &c);
    if (rc)
        return rc;
    c->run = run_fill;
    c->end = end_fill;
    c->data.fill.to = icd_use(m);
    c->data.fill.n = n_pattern;
    c->data.fill.offset = offset;
    c->data.fill.bytes = bytes;
    memcpy(c->data.fill.pattern, pattern, n_pattern);
    return icd_enqueue(c, &w, false);
}

/* --- maps ----------------------------------------------------------------- */

/* Flags of which the bytes come to the host, and go back. */
static const cl_map_flags map_reads = CL_MAP_READ | CL_MAP_WRITE,
                          map_writes =
                              CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

static uint64_t moves_ns(const icd_command *c, cl_map_flags which)
{
    return c->data.map.flags & which ? icd_link_ns(c->data.map.bytes)
                                     : icd_memory_ns(0);
}

/* Where the memory is the device's own there is nothing to move. */
static cl_int run_map(icd_command *c, uint64_t *ns)
{
    cl_mem m = c->data.map.memory;

    if (c->data.map.flags == CL_MAP_READ) /* others may be about to write it */
        watch_piece(icd_watch_read, m, c->data.map.offset, c->data.map.bytes);
    if (m->host && !(c->data.map.flags & CL_MAP_WRITE_INVALIDATE_REGION))
        memcpy(c->data.map.at, icd_memory_bytes(m) + c->data.map.offset,
               c->data.map.bytes);
    *ns = moves_ns(c, map_reads);
    return CL_COMPLETE;
}

static cl_int run_unmap(icd_command *c, uint64_t *ns)
{
    cl_mem m = c->data.map.memory;
    if (c->data.map.flags & map_writes)
        watch_piece(icd_watch_written, m, c->data.map.offset,
                    c->data.map.bytes);
    if (m->host && c->data.map.flags & map_writes)
        memcpy(icd_memory_bytes(m) + c->data.map.offset, c->data.map.at,
               c->data.map.bytes);
    *ns = moves_ns(c, map_writes);
    return CL_COMPLETE;
}

static void end_map(icd_command *c)
{
    icd_drop(c->data.map.memory);
}

static cl_int check_map(cl_command_queue q, cl_mem m, cl_map_flags flags,
                        size_t offset, size_t bytes)
{
    const cl_map_flags known =
        CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    cl_int rc = check_memory(q, m, offset, bytes);

    if (rc)
        return rc;
    if (flags & ~known || (flags & CL_MAP_WRITE_INVALIDATE_REGION &&
                           flags & (CL_MAP_READ | CL_MAP_WRITE)))
        return CL_INVALID_VALUE;
    if (flags & CL_MAP_READ)
        rc = check_host(m, true);
    if (!rc && flags & ~(cl_map_flags)CL_MAP_READ)
        rc = check_host(m, false);
    return rc;
}

static icd_map *take_map(cl_mem m, const void *where)
{
    icd_map *found = NULL;

    pthread_mutex_lock(&icd_mutex);
    for (icd_map **x = &m->maps; *x && !found; x = &(*x)->next)
        if ((*x)->at == where) {
            found = *x;
            *x = found->next;
            break;
        }
    pthread_mutex_unlock(&icd_mutex);
    return found;
}

void *icd_clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool blocking,
                             cl_map_flags flags, size_t offset, size_t bytes,
                             cl_uint n, const cl_event *list, cl_event *event,
                             cl_int *error)
{
    const icd_waiting w = {n, list, event};
    icd_map *map = NULL;
    icd_command *c;
    void *where = NULL;
    cl_int rc = check_map(q, m, flags, offset, bytes);

    if (!rc && !(map = malloc(sizeof *map)))
        rc = CL_OUT_OF_HOST_MEMORY;
    if (!rc)
        rc = icd_command_new(q, &w, CL_COMMAND_MAP_BUFFER, &c);
    if (!rc) {
        where = (m->host ? (uint8_t *)m->host : icd_memory_bytes(m)) + offset;
        c->run = run_map;
        c->end = end_map;
        c->data.map.memory = icd_use(m);
        c->data.map.at = where;
        c->data.map.offset = offset;
        c->data.map.bytes = bytes;
        c->data.map.flags = flags;
        pthread_mutex_lock(&icd_mutex);
        *map = (icd_map){m->maps, where, offset, bytes, flags};
        m->maps = map;
        pthread_mutex_unlock(&icd_mutex);
        map = NULL;
        rc = icd_enqueue(c, &w, blocking);
        if (rc)
            map = take_map(m, where); /* nobody has it to unmap */
    }
    free(map);
    icd_say(error, rc);
    return rc ? NULL : where;
}

cl_int icd_clEnqueueUnmapMemObject(cl_command_queue q, cl_mem m, void *where,
                                   cl_uint n, const cl_event *list,
                                   cl_event *event)
{
    const icd_waiting w = {n, list, event};
    icd_map *map;
    icd_command *c;
    cl_int rc = check_memory(q, m, 0, 1);

    if (!rc)
        rc = icd_command_new(q, &w, CL_COMMAND_UNMAP_MEM_OBJECT, &c);
    if (rc)
        return rc;
    map = take_map(m, where);
    if (!map) {
        icd_command_give_up(c);
        return CL_INVALID_VALUE;
    }
    c->run = run_unmap;
    c->end = end_map;
    c->data.map.memory = icd_use(m);
    c->data.map.at = map->at;
    c->data.map.offset = map->offset;
    c->data.map.bytes = map->bytes;
    c->data.map.flags = map->flags;
    free(map);
    return icd_enqueue(c, &w, false);
}

cl_int icd_clEnqueueMigrateMemObjects(cl_command_queue q, cl_uint n_memories,
                                      const cl_mem *memories,
                                      cl_mem_migration_flags flags, cl_uint n,
                                      const cl_event *list, cl_event *event)
{
    const cl_mem_migration_flags known =
        CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    const icd_waiting w = {n, list, event};
    icd_command *c;
    cl_int rc = CL_SUCCESS;

    if (!n_memories || !memories || flags & ~known)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < n_memories && !rc; i++)
        rc = check_memory(q, memories[i], 0, 1);
    if (!rc)
        rc = icd_command_new(q, &w, CL_COMMAND_MIGRATE_MEM_OBJECTS, &c);
    return rc ? rc : icd_enqueue(c, &w, false);
}
