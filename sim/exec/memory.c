/* Reserves the window and places buffers in it. */
#include "sim/exec/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/compiler/abi/types.h"

/* Host pages: the mapping is done in units of the largest in common use so that
 * layouts, and with them cache behaviour, do not depend on the host. */
enum {
    PAGE = MACH_PAGE_SIZE,
    ALIGN = MEMORY_ALIGN,
    FILL = 0xa5,
    FRONT_FILL = 0xff,
    LARGE_PAGE = 2 << 20
};

/* Guards, and what arrays need to lie in line. */
enum { GUARD_ROOM = 4 * SIM_MAX_GUARDS * SIM_LOCAL_GUARD };

enum { NULL_END = 0x10000 }; /* addresses below are null pointers to us */

#define WINDOW (UINT64_C(1) << 32)
#define PLACES_BYTES ((WINDOW >> MACH_PAGE_SHIFT) * sizeof(uint32_t))

typedef struct {
    uint64_t begin, end;
} span;

/* What is taken, in order; nothing fits in front of number `full`. */
typedef struct {
    span *list;
    size_t n, cap, full;
} spans;

struct memory {
    arena *a;
    uint8_t *window; /* may be address 0 */
    void *reserved;
    size_t reserved_bytes;
    memory_buffer *buffers;
    size_t n, cap;
    uint64_t ddr_base, ddr_bytes, used;
    spans pages, packed; /* of addresses, of places on the device */
    uint32_t *places;
    uint32_t cmx_base, cmx_bytes, cmx_span, slice_bytes, n_shaves;
};

static uint64_t up(uint64_t n)
{
    return (n + PAGE - 1) / PAGE * PAGE;
}

/* lazy: pages come as they are touched, small ones. So do those of all that is
 * smaller than a large page: of a small layer's buffers, and of the CMX of 16
 * SHAVEs, most bytes are never touched, and to zero them took a fifth of a
 * cached run. */
static vpu_status map(memory *m, uint64_t at, uint64_t bytes, bool lazy,
                      vpu_error *err)
{
    if (mprotect(m->window + at, up(bytes), PROT_READ | PROT_WRITE))
        return err_set(err, VPU_ERR_NOMEM, "%llu bytes of device memory: %s",
                       (unsigned long long)bytes, strerror(errno));
    if (lazy || bytes < LARGE_PAGE)
        return VPU_OK;
    /* Planes of a tensor are far apart: fewer, larger pages for large buffers.
     */
    madvise(m->window + at, up(bytes), MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
    /* All pages in one call instead of a fault each; older kernels refuse. */
    madvise(m->window + at, up(bytes), MADV_POPULATE_WRITE);
#endif
    return VPU_OK;
}

/* Kernels with sliding windows load a vector that begins a few elements before
 * their first local array and drop those lanes. The device has CMX there: a
 * page that can be read, not written. */
static vpu_status map_front(memory *m, uint32_t cmx, vpu_error *err)
{
    uint8_t *page = m->window + cmx - PAGE;

    if (cmx < NULL_END + PAGE ||
        (cmx > m->cmx_base && m->slice_bytes < up(m->cmx_span) + PAGE))
        return VPU_OK;
    if (mprotect(page, PAGE, PROT_READ | PROT_WRITE))
        return err_set(err, VPU_ERR_NOMEM, "%d bytes of device memory: %s",
                       PAGE, strerror(errno));
    memset(page, FRONT_FILL, PAGE);
    mprotect(page, PAGE, PROT_READ);
    return VPU_OK;
}

/* More CMX for each SHAVE, as far as there are addresses. */
static void make_room(memory *m)
{
    uint64_t most = 4 << 20, slice;

    if (!m->n_shaves || m->ddr_base <= m->cmx_base)
        return;
    slice = (m->ddr_base - m->cmx_base) / m->n_shaves / PAGE * PAGE;
    slice = slice > most ? most : slice;
    if (slice <= m->slice_bytes)
        return;
    m->slice_bytes = (uint32_t)slice;
    m->cmx_bytes = (uint32_t)slice - PAGE - GUARD_ROOM;
}

/* Guards are no memory of the device's: where a work-group may have a whole
 * slice, slices lie further apart. */
static void make_guard_room(memory *m)
{
    m->cmx_span = m->cmx_bytes + GUARD_ROOM;
    if (m->cmx_bytes <= m->slice_bytes && m->slice_bytes < up(m->cmx_span))
        m->slice_bytes = (uint32_t)up(m->cmx_span);
}

/* The window; with at_zero so that both kinds of address are the same. The
 * first pages are never given out there, and never mapped here. */
static bool reserve(memory *m, bool at_zero)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *at = MAP_FAILED, *want = (void *)(uintptr_t)NULL_END;

    m->reserved_bytes = MEMORY_RESERVED - NULL_END;
    if (at_zero)
        at = mmap(want, m->reserved_bytes, PROT_NONE,
                  flags | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != MAP_FAILED && at != want) { /* kernels before 4.17 */
        munmap(at, m->reserved_bytes);
        at = MAP_FAILED;
    }
    m->reserved = at;
    m->window = NULL;
    if (at != MAP_FAILED)
        return true;
    m->reserved_bytes = MEMORY_RESERVED;
    m->reserved = mmap(NULL, m->reserved_bytes, PROT_NONE, flags, -1, 0);
    if (m->reserved == MAP_FAILED) {
        m->reserved = NULL;
        return false;
    }
    m->window = m->reserved;
    return true;
}

/* Pages of the table that nobody has written take no memory. */
static bool reserve_places(memory *m)
{
    void *at = mmap(NULL, PLACES_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    m->places = at == MAP_FAILED ? NULL : at;
    return m->places;
}

static vpu_status create(const mach_desc *d, bool roomy, memory **out,
                         vpu_error *err)
{
    arena *a = arena_create(0);
    memory *m = arena_new(a, memory);
    vpu_status st = VPU_OK;

    *out = NULL;
    m->a = a;
    m->ddr_base = d->ddr_base;
    m->ddr_bytes = d->ddr_bytes;
    m->cmx_base = (uint32_t)d->cmx_base;
    m->slice_bytes = (uint32_t)d->cmx_slice_bytes;
    m->cmx_bytes = (uint32_t)d->ocl_local_budget;
    m->n_shaves = (uint32_t)d->num_shaves;
    if (roomy)
        make_room(m);
    make_guard_room(m);
    if (!reserve(m, roomy) || !reserve_places(m))
        st = err_set(err, VPU_ERR_NOMEM,
                     "cannot reserve 8 GiB of address space: %s",
                     strerror(errno));
    if (!st &&
        (m->cmx_bytes > m->slice_bytes ||
         m->cmx_base + (uint64_t)m->n_shaves * m->slice_bytes > m->ddr_base))
        st = err_set(err, VPU_ERR_INVALID,
                     "machine description: CMX and DDR overlap, or "
                     "ocl_local_budget is above cmx_slice_bytes");
    for (uint32_t s = 0; s < m->n_shaves && !st; s++) {
        st = map(m, memory_cmx(m, s), m->cmx_span, roomy, err);
        if (!st)
            st = map_front(m, memory_cmx(m, s), err);
    }
    if (st) {
        memory_destroy(m);
        return st;
    }
    *out = m;
    return VPU_OK;
}

vpu_status memory_create(const mach_desc *d, memory **out, vpu_error *err)
{
    return create(d, false, out, err);
}

vpu_status memory_create_roomy(const mach_desc *d, memory **out, vpu_error *err)
{
    return create(d, true, out, err);
}

void memory_destroy(memory *m)
{
    if (!m)
        return;
    if (m->reserved)
        munmap(m->reserved, m->reserved_bytes);
    if (m->places)
        munmap(m->places, PLACES_BYTES);
    for (size_t i = 0; i < m->n; i++)
        free((char *)m->buffers[i].name);
    free(m->buffers);
    free(m->pages.list);
    free(m->packed.list);
    arena_destroy(m->a);
}

static vpu_status too_much(const memory *m, const char *name, uint64_t bytes,
                           vpu_error *err)
{
    str s = {0};
    vpu_status st;

    for (size_t i = 0; i < m->n; i++)
        str_printf(&s, "\n  %12llu  %s",
                   (unsigned long long)m->buffers[i].bytes, m->buffers[i].name);
    str_printf(&s, "\n  %12llu  %s", (unsigned long long)bytes, name);
    st = err_set(err, VPU_ERR_LIMIT,
                 "buffers need %llu bytes, the device has %llu bytes of DDR:%s",
                 (unsigned long long)(m->used + bytes),
                 (unsigned long long)m->ddr_bytes, str_text(&s));
    str_free(&s);
    return st;
}

/* --- holes --------------------------------------------------------------- */

/* Where the first hole begins that has `bytes` and, on both sides, `margin`;
 * *before: the number of the span behind it. */
static uint64_t first_hole(spans *s, uint64_t base, uint64_t bytes,
                           uint64_t margin, size_t *before)
{
    size_t i = s->full;
    uint64_t at = (i ? s->list[i - 1].end : base) + margin;
    bool passed = false;

    for (; i < s->n && at + bytes + margin > s->list[i].begin; i++) {
        /* Smaller ones may fit in what is passed. */
        passed |= at + margin < s->list[i].begin;
        at = s->list[i].end + margin;
        if (!passed)
            s->full = i + 1;
    }
    *before = i;
    return at;
}

static bool reserve_span(spans *s)
{
    size_t cap = s->cap ? 2 * s->cap : 16;
    span *list;

    if (s->n < s->cap)
        return true;
    list = realloc(s->list, cap * sizeof *list);
    if (!list)
        return false;
    s->list = list;
    s->cap = cap;
    return true;
}

/* After reserve_span. */
static void take_span(spans *s, size_t at, span what)
{
    memmove(s->list + at + 1, s->list + at, (s->n - at) * sizeof *s->list);
    s->list[at] = what;
    s->n++;
}

static void give_span(spans *s, uint64_t begin)
{
    size_t lo = 0, hi = s->n;

    while (lo + 1 < hi) {
        size_t middle = lo + (hi - lo) / 2;

        if (s->list[middle].begin <= begin)
            lo = middle;
        else
            hi = middle;
    }
    s->n--;
    memmove(s->list + lo, s->list + lo + 1, (s->n - lo) * sizeof *s->list);
    if (s->full > lo)
        s->full = lo;
}

/* --- buffers ------------------------------------------------------------- */

static void place(memory *m, uint64_t at, uint64_t whole, uint32_t delta)
{
    for (uint64_t page = at; page < at + whole; page += PAGE)
        m->places[page >> MACH_PAGE_SHIFT] = delta;
}

/* All that may be short of memory, before anything is changed; the name.
 * Launches place constants without an oom_scope. */
static char *reserve_entry(memory *m, const char *name)
{
    size_t cap = m->cap ? 2 * m->cap : 16;

    if (m->n == m->cap) {
        memory_buffer *list = realloc(m->buffers, cap * sizeof *list);

        if (!list)
            return NULL;
        m->buffers = list;
        m->cap = cap;
    }
    return reserve_span(&m->pages) && reserve_span(&m->packed) ? strdup(name)
                                                               : NULL;
}

static uint64_t page_of(const memory_buffer *b)
{
    return b->address / PAGE * PAGE;
}

/* As first_hole, where the place is given. False: it is none. */
static bool given_hole(const memory *m, uint64_t at, uint64_t bytes,
                       size_t *before)
{
    size_t i = 0;

    while (i < m->packed.n && m->packed.list[i].end <= at)
        i++;
    *before = i;
    return at % ALIGN == 0 && at >= m->ddr_base &&
           at + bytes <= m->ddr_base + m->ddr_bytes &&
           (i == m->packed.n || at + bytes <= m->packed.list[i].begin);
}

vpu_status memory_alloc_at(memory *m, const memory_wanted *w, uint32_t *address,
                           vpu_error *err)
{
    const char *name = w->name;
    const uint64_t bytes = w->bytes;
    uint64_t whole = up(bytes), at, packed;
    uint64_t lines = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    size_t before, packed_before;
    vpu_status st;
    char *own;

    if (!bytes)
        return err_set(err, VPU_ERR_INVALID, "buffer '%s' has no bytes", name);
    if (bytes > m->ddr_bytes || m->used > m->ddr_bytes - bytes)
        return too_much(m, name, bytes, err);
    at = first_hole(&m->pages, m->ddr_base, whole, PAGE, &before);
    if (!w->place)
        packed = first_hole(&m->packed, m->ddr_base, lines, 0, &packed_before);
    else if (given_hole(m, packed = *w->place, lines, &packed_before))
        m->packed.full = 0;
    else
        return err_set(err, VPU_ERR_INVALID,
                       "buffer '%s' cannot be at 0x%llx: expected a multiple "
                       "of %d in the DDR where no other buffer is",
                       name, (unsigned long long)packed, ALIGN);
    if (at + whole + PAGE > WINDOW || packed + lines > WINDOW)
        return err_set(err, VPU_ERR_LIMIT,
                       "%zu buffers leave no address space for '%s'", m->n,
                       name);
    own = reserve_entry(m, name);
    if (!own)
        return err_set(err, VPU_ERR_NOMEM, "no memory for buffer '%s'", name);
    st = map(m, at, whole, false, err);
    if (st) {
        free(own);
        return st;
    }
    *address = (uint32_t)(at + (whole - bytes) / w->align * w->align);
    memset(m->window + at, FILL, *address - at);
    m->buffers[m->n++] = (memory_buffer){own, *address, bytes, packed};
    take_span(&m->pages, before, (span){at, at + whole});
    take_span(&m->packed, packed_before, (span){packed, packed + lines});
    place(m, at, whole, (uint32_t)packed - *address);
    m->used += bytes;
    return VPU_OK;
}

vpu_status memory_alloc_aligned(memory *m, const char *name, uint64_t bytes,
                                uint32_t align, uint32_t *address,
                                vpu_error *err)
{
    return memory_alloc_at(m, &(memory_wanted){name, bytes, align, NULL},
                           address, err);
}

vpu_status memory_alloc(memory *m, const char *name, uint64_t bytes,
                        uint32_t *address, vpu_error *err)
{
    return memory_alloc_aligned(m, name, bytes, ALIGN, address, err);
}

static void free_at(memory *m, size_t i)
{
    memory_buffer b = m->buffers[i];

    madvise(m->window + page_of(&b), up(b.bytes), MADV_DONTNEED);
    mprotect(m->window + page_of(&b), up(b.bytes), PROT_NONE);
    give_span(&m->pages, page_of(&b));
    give_span(&m->packed, b.packed);
    m->used -= b.bytes;
    free((char *)b.name);
    m->n--;
    memmove(m->buffers + i, m->buffers + i + 1,
            (m->n - i) * sizeof *m->buffers);
}

void memory_free(memory *m, uint32_t address)
{
    for (size_t i = m->n; i-- > 0;)
        if (m->buffers[i].address == address) {
            free_at(m, i);
            return;
        }
}

void memory_release(memory *m, size_t n_buffers)
{
    while (m->n > n_buffers)
        free_at(m, m->n - 1);
}

size_t memory_count(const memory *m)
{
    return m->n;
}

const memory_buffer *memory_buffer_at(const memory *m, size_t i)
{
    return &m->buffers[i];
}

uint8_t *memory_window(const memory *m)
{
    return m->window;
}

mach_places memory_places(const memory *m)
{
    return m->places;
}

uint32_t memory_cmx(const memory *m, uint32_t shave)
{
    return m->cmx_base + shave * m->slice_bytes;
}

uint32_t memory_cmx_bytes(const memory *m)
{
    return m->cmx_bytes;
}

uint32_t memory_cmx_span(const memory *m)
{
    return m->cmx_span;
}

static const memory_buffer *nearest(const memory *m, uint64_t at,
                                    uint64_t *distance)
{
    const memory_buffer *best = NULL;

    for (size_t i = 0; i < m->n; i++) {
        const memory_buffer *b = &m->buffers[i];
        uint64_t d = at < b->address               ? b->address - at
                     : at >= b->address + b->bytes ? at - b->address - b->bytes
                                                   : 0;

        if (!best || d < *distance) {
            best = b;
            *distance = d;
        }
    }
    return best;
}

bool memory_readable(const memory *m, uint32_t address, uint64_t bytes)
{
    uint64_t end = address + bytes;

    for (uint32_t i = 0; i < m->n_shaves; i++) {
        uint64_t cmx = m->cmx_base + (uint64_t)i * m->slice_bytes;

        if (address >= cmx && end <= cmx + m->cmx_bytes)
            return true;
    }
    for (size_t i = 0; i < m->n; i++)
        if (address >= m->buffers[i].address &&
            end <= m->buffers[i].address + m->buffers[i].bytes)
            return true;
    return false;
}

void memory_describe(const memory *m, uint32_t address, str *out)
{
    uint64_t cmx = (uint64_t)m->n_shaves * m->slice_bytes, d = 0;
    const memory_buffer *b = nearest(m, address, &d);

    if (address < m->cmx_base && m->cmx_base - address <= PAGE)
        str_printf(out, "%u bytes before the CMX of SHAVE 0",
                   m->cmx_base - address);
    else if (address >= m->cmx_base && address < m->cmx_base + cmx)
        str_printf(out,
                   "CMX of SHAVE %u + %u (%u bytes are there for a "
                   "work-group)",
                   (address - m->cmx_base) / m->slice_bytes,
                   (address - m->cmx_base) % m->slice_bytes, m->cmx_bytes);
    else if (address < NULL_END)
        str_puts(out, "a null pointer");
    else if (!b)
        str_puts(out, "no buffer");
    else if (address < b->address)
        str_printf(out, "%llu bytes before %s (%llu bytes)",
                   (unsigned long long)(b->address - address), b->name,
                   (unsigned long long)b->bytes);
    else if (address >= b->address + b->bytes)
        str_printf(out, "byte %llu behind the end of %s (%llu bytes)",
                   (unsigned long long)(address - b->address - b->bytes + 1),
                   b->name, (unsigned long long)b->bytes);
    else
        str_printf(out, "%s + %u", b->name, address - b->address);
}

/* The first byte that is not `fill`; n: all are. */
static uint64_t first_other(const uint8_t *p, uint64_t n, uint8_t fill)
{
    uint64_t i = 0;

    if (!n || (*p == fill && !memcmp(p, p + 1, n - 1)))
        return n;
    while (p[i] == fill)
        i++;
    return i;
}

/* On both sides of it, on its pages. */
static bool intact(const memory *m, const memory_buffer *b, uint32_t *address)
{
    uint32_t page = b->address / PAGE * PAGE;
    uint64_t end = b->address + b->bytes, n = b->address - page, i;

    i = first_other(m->window + page, n, FILL);
    *address = page + (uint32_t)i;
    if (i < n)
        return false;
    n = up(end) - end;
    i = first_other(m->window + end, n, 0);
    *address = (uint32_t)(end + i);
    return i == n;
}

const memory_buffer *memory_check(const memory *m, uint32_t *address)
{
    for (size_t i = 0; i < m->n; i++)
        if (!intact(m, &m->buffers[i], address))
            return &m->buffers[i];
    return NULL;
}

void memory_mend(memory *m)
{
    for (size_t i = 0; i < m->n; i++) {
        const memory_buffer *b = &m->buffers[i];
        uint32_t page = b->address / PAGE * PAGE, at;
        uint64_t end = b->address + b->bytes;

        if (intact(m, b, &at))
            continue;
        memset(m->window + page, FILL, b->address - page);
        memset(m->window + end, 0, up(end) - end);
    }
}
