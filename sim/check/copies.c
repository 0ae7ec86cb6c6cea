/* Transfers: their shape and memory, what happens to it while they may be under
 * way, and the waits for them. */
#include <stdlib.h>
#include <string.h>

#include "sim/check/session_priv.h"

/* One side of a transfer as pieces of memory, in the order of its bytes. Lines
 * and planes may go backwards. */
typedef struct {
    uint64_t base; /* of the plane */
    uint32_t width, plane_bytes, planes;
    int32_t pitch, plane_pitch;
    uint32_t plane, done; /* planes, and bytes of this one */
} side;

static side side_of(const sim_dma *a, bool dst)
{
    return (side){.base = dst ? a->dst : a->src,
                  .width = dst ? a->dst_width : a->src_width,
                  .pitch = (int32_t)(dst ? a->dst_pitch : a->src_pitch),
                  .plane_pitch = (int32_t)(dst ? a->dst_plane : a->src_plane),
                  .plane_bytes = a->bytes,
                  .planes = a->bytes ? a->planes : 0};
}

/* Address of the next bytes, 1 to *n in a row. False: that was all. */
static bool next_piece(const side *p, uint64_t *addr, uint32_t *n)
{
    uint32_t in_line, left;

    if (p->plane == p->planes)
        return false;
    in_line = p->done % p->width;
    left = p->plane_bytes - p->done;
    *addr = p->base + (uint64_t)((int64_t)p->plane * p->plane_pitch) +
            (uint64_t)((int64_t)(p->done / p->width) * p->pitch) + in_line;
    *n = p->width - in_line < left ? p->width - in_line : left;
    return true;
}

static void advance(side *p, uint32_t n)
{
    p->done += n;
    if (p->done == p->plane_bytes) {
        p->done = 0;
        p->plane++;
    }
}

/* --- shape --------------------------------------------------------------- */

static bool check_side(check_session *s, const sim_dma *a, bool dst,
                       bool *overlaps)
{
    side p = side_of(a, dst);
    bool alike = a->src_width == a->dst_width; /* told of both at once */
    const char *which = dst ? "destination" : "source";
    uint32_t lines;

    if (!p.planes)
        return true;
    if (!p.width) {
        check_finding_add(s, CHECK_DMA_SHAPE, a->line, NULL, 0,
                          "a transfer of %u bytes with a %s width of 0",
                          a->bytes, which);
        return false;
    }
    lines = (p.plane_bytes + p.width - 1) / p.width;
    if (lines > 1 && p.plane_bytes % p.width && !(dst && alike))
        check_finding_add(
            s, CHECK_DMA_SHAPE, a->line, NULL, 1u + dst,
            "%u bytes are not a whole number of lines of %u bytes (%s)",
            p.plane_bytes, p.width, alike ? "source and destination" : which);
    if (dst && lines > 1 && llabs(p.pitch) < p.width) {
        *overlaps = true;
        check_finding_add(s, CHECK_DMA_SHAPE, a->line, NULL, 3,
                          "lines of %u bytes every %d bytes overlap in the "
                          "destination",
                          p.width, p.pitch);
    }
    if (dst && p.planes > 1 && llabs(p.plane_pitch) < p.plane_bytes &&
        llabs(p.plane_pitch) < llabs(p.pitch) * (lines - 1) + p.width) {
        *overlaps = true;
        check_finding_add(s, CHECK_DMA_SHAPE, a->line, NULL, 4,
                          "planes every %d bytes overlap in the destination",
                          p.plane_pitch);
    }
    return true;
}

/* --- memory -------------------------------------------------------------- */

static bool find_memory(check_session *s, const sim_dma *a, bool dst,
                        check_extent *p)
{
    const sim_site *at = &s->sites->sites[a->line];
    const sim_object *o = &s->sites->objects[dst ? at->object : at->from];
    uint32_t root = 0;

    /* Arrays are found by address: a transfer knows of no roots. */
    if (o->kind == SIM_MEM_ARG)
        root = dst ? a->dst : a->src;
    return bounds_find(s, dst ? at->object : at->from, root,
                       dst ? a->dst : a->src, p);
}

static bool check_extents(check_session *s, const sim_dma *a, bool dst,
                          check_extent *p)
{
    side w = side_of(a, dst);
    const char *verb = dst ? "writes" : "reads";
    uint64_t addr;
    uint32_t n;

    if (!w.planes)
        return true;
    if (!find_memory(s, a, dst, p)) {
        check_finding_add(
            s, CHECK_BOUNDS, a->line, NULL, dst,
            "a transfer %s 0x%08x, which no buffer and no array has", verb,
            dst ? a->dst : a->src);
        return false;
    }
    for (; next_piece(&w, &addr, &n); advance(&w, n)) {
        int64_t off = (int64_t)addr - p->base;
        check_extent e = *p;

        if (off >= 0 && off + (int64_t)n <= p->memory.bytes)
            continue;
        e.memory.offset =
            off < 0 || off > p->memory.bytes ? off : p->memory.bytes;
        check_finding_add(s, CHECK_BOUNDS, a->line, &e, 2u + dst,
                          "a transfer of %llu bytes %s %s",
                          (unsigned long long)a->bytes * a->planes, verb,
                          off < 0 ? "in front of" : "past the end of");
        return false;
    }
    return true;
}

static void set_kind(check_session *s, const sim_dma *a, bool dst,
                     shadow_kind kind, const check_side_of *m)
{
    uint32_t now = check_session_clock(s, m->cmx)->now << s->tag_shift;
    uint32_t keep = SHADOW_INIT | SHADOW_OLD_READ | SHADOW_WRITTEN, n;
    side w = side_of(a, dst);
    uint64_t addr;

    if (m->private) { /* its words have no tags */
        keep = SHADOW_INIT;
        now = 0;
    }
    for (; next_piece(&w, &addr, &n); advance(&w, n)) {
        runs_make(s, (uint32_t)addr, n);
        for (uint32_t i = 0; i < n && !m->constant; i++) {
            uint32_t *at = &s->shadow[(uint32_t)addr + i];
            uint32_t is = *at & SHADOW_KIND;

            /* Read by two transfers at once is fine: the first end says so. */
            if (kind != SHADOW_NONE || is == SHADOW_INCOMING ||
                is == SHADOW_OUTGOING)
                *at = (*at & keep) | kind | now;
        }
    }
}

/* What is undefined in the source is so in the destination. True: some is. */
static bool pass_undefined(check_session *s, const sim_dma *a,
                           const check_extent *from, bool global)
{
    side src = side_of(a, false), dst = side_of(a, true);
    uint64_t sa, da;
    uint32_t n, m;
    bool any = false;

    if (from->memory.kind == SIM_MEM_CONSTANT)
        return false;
    while (next_piece(&src, &sa, &n) && next_piece(&dst, &da, &m)) {
        n = n < m ? n : m;
        runs_make(s, (uint32_t)sa, n);
        runs_make(s, (uint32_t)da, n);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = (uint32_t)sa + i, w = s->shadow[at];

            if (w & SHADOW_INIT && !(from->cmx && !from->private &&
                                     check_session_tag(s, w) <
                                         check_session_clock(s, true)->group))
                continue;
            if (global && origins_converted(s, at))
                continue;
            any = true;
            if (global) /* that is told here, once */
                continue;
            s->shadow[(uint32_t)da + i] &= ~(uint32_t)SHADOW_INIT;
            if (s->origins)
                s->origins[(uint32_t)da + i] = s->origins[at];
        }
        advance(&src, n);
        advance(&dst, n);
    }
    return any;
}

static void mark_side(check_session *s, const sim_dma *a, bool dst,
                      const check_extent *p)
{
    const sim_site *at = &s->sites->sites[a->line];
    side w = side_of(a, dst);
    bool undefined = s->needs_taint[s->number];
    uint64_t addr;
    uint32_t n;

    for (; next_piece(&w, &addr, &n); advance(&w, n)) {
        check_extent e = *p;

        access_mark(
            s, p,
            &(const check_access){.site = a->line,
                                  .address = (uint32_t)addr,
                                  .n = n,
                                  .use = dst ? CHECK_WRITES : CHECK_READS,
                                  .copy = true});
        e.memory.offset = (int64_t)addr - p->base;
        access_argument(s, a->line, dst ? at->object : at->from, &e, n, dst);
    }
    s->needs_taint[s->number] = undefined; /* a copy is no use */
}

static bool plain_source(check_session *s, const check_extent *p)
{
    const check_region *r;

    if (p->cmx || s->every_access)
        return false;
    r = bounds_region(s, (uint32_t)(p->base + p->memory.offset));
    for (uint32_t i = 0; r && i < s->launch->kernel->n_args; i++) {
        const sim_arg *g = &s->launch->kernel->args[i];

        if (g->space != SIM_ARG_SCALAR && g->space != SIM_ARG_LOCAL &&
            s->sites->objects[1 + i].written &&
            bounds_region(s, s->launch->values[i].as.address) == r)
            return false;
    }
    return r && r->full;
}

static void check_phase(check_session *s, const sim_dma *a,
                        const check_extent *src, const check_extent *dst)
{
    const sim_site *at = &s->sites->sites[a->line];

    if (s->phase == MACH_PRE && !dst->cmx)
        check_finding_add(
            s, CHECK_DMA_PHASE, a->line, dst, 0,
            "preload writes global memory while the group before still "
            "computes");
    if (s->phase == MACH_POST && !src->cmx && src->memory.kind == SIM_MEM_ARG &&
        s->sites->objects[at->from].written)
        check_finding_add(s, CHECK_DMA_PHASE, a->line, src, 1,
                          "postwrite reads global memory while the next group "
                          "computes and may write it");
    if (at->by_item && s->n_items > 1)
        check_finding_add(
            s, CHECK_DMA_PHASE, a->line, NULL, 2,
            "a work-item's own transfer in a group of %u work-items: "
            "the device allows it in groups of one",
            s->n_items);
}

/* A transfer that is not made: what waits for its bytes is no mistake. */
static void forgive(check_session *s, const sim_dma *a)
{
    side w = side_of(a, true);
    check_extent p;
    uint64_t addr;
    uint32_t n, word;

    if (!w.planes || !find_memory(s, a, true, &p))
        return;
    if (!w.width) /* in a row, since no lines are known */
        w.width = w.plane_bytes;
    word = SHADOW_INIT;
    if (p.cmx && !p.private)
        word |= check_session_clock(s, true)->now << s->tag_shift;
    if (!p.cmx) /* nor is it said that nobody writes the output */
        word |= SHADOW_WRITTEN;
    for (; next_piece(&w, &addr, &n); advance(&w, n))
        for (uint64_t at = addr; at < addr + n; at++)
            if (at - (uint64_t)p.base < (uint64_t)p.memory.bytes) {
                runs_make(s, (uint32_t)at, 1);
                s->shadow[at] = word | (p.cmx ? 0 : s->shadow[at]);
            }
}

/* --- hooks --------------------------------------------------------------- */

static check_side_of of_extent(const check_extent *p)
{
    return (check_side_of){.cmx = p->cmx,
                           .private = p->private,
                           .constant = p->memory.kind == SIM_MEM_CONSTANT};
}

static bool check(check_session *s, const sim_dma *a, check_transfer *t)
{
    check_extent src = {.base = 0}, dst = {.base = 0};
    bool overlaps = false;

    if (!check_side(s, a, false, &overlaps) ||
        !check_side(s, a, true, &overlaps))
        return false;
    if (!check_extents(s, a, false, &src) || !check_extents(s, a, true, &dst))
        return false;
    if (!a->bytes || !a->planes)
        return true;
    check_phase(s, a, &src, &dst);
    t->src = of_extent(&src);
    t->dst = of_extent(&dst);
    if (!plain_source(s, &src))
        mark_side(s, a, false, &src);
    if (overlaps) /* with itself, which is told */
        forgive(s, a);
    else
        mark_side(s, a, true, &dst);
    if (!plain_source(s, &src)) {
        if (pass_undefined(s, a, &src, !dst.cmx) && !dst.cmx)
            check_finding_add(
                s, CHECK_UNINIT, a->line, &src, 0,
                "a transfer takes bytes nobody wrote to global memory, "
                "from");
        set_kind(s, a, false, SHADOW_OUTGOING, &t->src);
    }
    set_kind(s, a, true, SHADOW_INCOMING, &t->dst);
    return true;
}

/* --- events -------------------------------------------------------------- */

/* Did a transfer of this phase give this event? */
static bool is_event(const check_session *s, uint32_t event)
{
    return event && event <= s->n_transfers &&
           s->transfers[event - 1].event == event;
}

/* The event of the transfer that is about to be made. */
static uint32_t event_of(check_session *s, const sim_dma *a)
{
    uint32_t given = a->event;

    if (is_event(s, given))
        return given;
    if (given)
        check_finding_add(s, CHECK_DMA_WAIT, a->line, NULL, 1000 + 4,
                          "joins an event that no transfer of this group gave");
    return (uint32_t)s->n_transfers + 1;
}

static check_transfer *add_transfer(check_session *s, const sim_dma *a)
{
    uint32_t event = event_of(s, a);
    check_transfer *t =
        arena_append(s->arena, s->transfers, s->n_transfers, s->cap_transfers);

    *t = (check_transfer){.shape = *a, .event = event};
    return t;
}

uint32_t check_on_dma(sim_wg *wg, uint64_t *log, const sim_dma *a)
{
    check_session *s = check_session_of(wg);
    sim_dma plain = *a;
    check_transfer *now;

    access_settle(s);
    s->same_site = 0;
    now = add_transfer(s, a);
    if (now->event == s->n_transfers)
        plain.event = 0;
    plain.line = s->sites->sites[a->line].at.line;
    if (!check(s, a, now)) {
        forgive(s, a);
        plain.bytes = 0;
        now->done = now->waited = now->refused = true;
    }
    return exec_dma(wg, log, &plain);
}

static void end(check_session *s, check_transfer *t)
{
    if (!t->done) {
        set_kind(s, &t->shape, false, SHADOW_NONE, &t->src);
        set_kind(s, &t->shape, true, SHADOW_NONE, &t->dst);
    }
    t->done = true;
}

/* Ends the transfers of this event. False: they were waited for before. */
static bool wait_for(check_session *s, uint32_t event)
{
    bool any = s->transfers[event - 1].refused;

    for (size_t i = s->first_open; i < s->n_transfers; i++) {
        check_transfer *t = &s->transfers[i];

        if (t->event != event)
            continue;
        any |= !t->waited || t->refused;
        end(s, t);
        t->waited = true;
    }
    while (s->first_open < s->n_transfers && s->transfers[s->first_open].waited)
        s->first_open++;
    return any;
}

/* The first item says what a collective call does: do the others say the same?
 * hash: of what they say. True: it is the first. */
static bool same(check_session *s, uint32_t site, uint32_t hash,
                 const char *text)
{
    check_finding *f;

    if (s->same_site != site) {
        s->same_site = site;
        s->same_hash = hash;
        s->same_item = s->wg->check.item;
        return true;
    }
    if (s->same_hash == hash)
        return false;
    f = check_finding_add(s, CHECK_DIVERGENCE, site, NULL, 1, "%s", text);
    if (!f)
        return false;
    f->by.has_item = true;
    f->other = f->by;
    f->other.item = s->same_item;
    f->other.what = "gives others, and those count";
    return false;
}

void check_on_same(sim_wg *wg, uint32_t site, uint32_t hash)
{
    check_session *s = check_session_of(wg);

    if (s->sites->sites[site].by_item) /* a transfer of its own */
        return;
    same(s, site, hash,
         "work-items of a group give this transfer different arguments");
}

/* How many of the n events the list has. The rest is told here unless the code
 * reads each of them. */
static uint32_t listed(check_session *s, uint32_t site, uint32_t n,
                       uint32_t list, uint32_t root)
{
    const sim_site *at = &s->sites->sites[site];
    check_extent p;
    uint32_t has = 0;

    if (!n)
        return 0;
    if (bounds_find(s, at->object, root, list, &p) && p.memory.offset >= 0 &&
        p.memory.offset < p.memory.bytes)
        has = (uint32_t)(p.memory.bytes - p.memory.offset) / 4;
    if (n <= has)
        return n;
    if (!at->bytes)
        check_finding_add(s, CHECK_BOUNDS, site, NULL, 1,
                          "waits for %d events of a list of %u", (int)n, has);
    return has;
}

/* Stands for an event nobody gave a value. */
#define EVENT_UNDEFINED UINT32_MAX

/* That none has a value is told here unless the code reads each of them. */
static uint32_t read_event(check_session *s, uint32_t site, uint32_t addr)
{
    uint32_t event, init = SHADOW_INIT;

    runs_make(s, addr, sizeof event);
    for (uint32_t i = 0; i < sizeof event; i++)
        init &= s->shadow[addr + i];
    if (!init) {
        if (!s->sites->sites[site].bytes)
            check_finding_add(s, CHECK_UNINIT, site, NULL, 0,
                              "waits for an event nobody gave a value");
        return EVENT_UNDEFINED;
    }
    memcpy(&event, s->window + addr, sizeof event);
    return event;
}

void check_on_events(sim_wg *wg, uint32_t site, uint32_t n, uint32_t list,
                     uint32_t root)
{
    check_session *s = check_session_of(wg);
    uint32_t count = listed(s, site, n, list, root), hash = 2166136261u ^ n;
    size_t before = s->n_events;
    bool first;

    access_settle(s);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = read_event(s, site, list + 4 * i);

        *arena_append(s->arena, s->events, s->n_events, s->cap_events) = event;
        hash = (hash ^ event) * 16777619u;
    }
    first = s->sites->sites[site].by_item /* for a transfer of its own */
                ? wg->check.item == 0
                : same(s, site, hash,
                       "work-items of a group wait for different events");
    if (!first)
        s->n_events = before;
}

/* The k-th event of the list is in it before. */
static bool listed_before(const check_session *s, size_t k)
{
    for (size_t i = 0; i < k; i++)
        if (s->events[i] == s->events[k])
            return true;
    return false;
}

void check_on_wait(sim_wg *wg, uint64_t *log, uint32_t n)
{
    check_session *s = check_session_of(wg);
    uint32_t site = wg->check.at;

    access_settle(s);
    s->same_site = 0;
    for (size_t k = 0; k < s->n_events; k++) {
        uint32_t e = s->events[k];

        if (e == EVENT_UNDEFINED || listed_before(s, k))
            continue;
        if (!e)
            check_finding_add(
                s, CHECK_DMA_WAIT, site, NULL, 1000 + 5,
                "waits for event 0, which no transfer ever gives");
        else if (!is_event(s, e))
            check_finding_add(
                s, CHECK_DMA_WAIT, site, NULL, 1000 + 2,
                "waits for an event that no transfer of this group "
                "gave");
        else if (!wait_for(s, e))
            check_finding_add(s, CHECK_DMA_WAIT, site, NULL, 1000 + 1,
                              "waits for an event that was waited for already");
    }
    s->n_events = 0;
    exec_wait(wg, log, n);
}

void copies_end(check_session *s)
{
    for (size_t i = 0; i < s->n_transfers; i++) {
        check_transfer *t = &s->transfers[i];

        if (!t->waited && s->phase == MACH_COMP)
            check_finding_add(
                s, CHECK_DMA_WAIT, t->shape.line, NULL, 1000 + 3,
                "the group ends without a wait for this transfer");
        end(s, t);
    }
    s->n_transfers = s->first_open = 0;
}
