/* Transfers: their shape and memory, what happens to it while they may be under
 * way, and the waits for them. */
#include <string.h>

#include "sim/check/session_priv.h"

/* Operands of sim_hooks.dma. */
enum {
    DST,
    SRC,
    TO_CMX,
    BYTES,
    SRC_WIDTH,
    DST_WIDTH,
    SRC_PITCH,
    DST_PITCH,
    PLANES,
    SRC_PLANE,
    DST_PLANE,
    SITE
};

/* One side of a transfer as pieces of memory, in the order of its bytes. */
typedef struct {
    uint64_t base; /* of the plane */
    uint32_t width, pitch, plane_pitch, plane_bytes, planes;
    uint32_t plane, done; /* planes, and bytes of this one */
} side;

static side side_of(const uint32_t *a, bool dst)
{
    return (side){.base = a[dst ? DST : SRC],
                  .width = a[dst ? DST_WIDTH : SRC_WIDTH],
                  .pitch = a[dst ? DST_PITCH : SRC_PITCH],
                  .plane_pitch = a[dst ? DST_PLANE : SRC_PLANE],
                  .plane_bytes = a[BYTES],
                  .planes = a[BYTES] ? a[PLANES] : 0};
}

/* Address of the next bytes, 1 to *n in a row. False: that was all. */
static bool next_piece(const side *p, uint64_t *addr, uint32_t *n)
{
    uint32_t in_line, left;

    if (p->plane == p->planes)
        return false;
    in_line = p->done % p->width;
    left = p->plane_bytes - p->done;
    *addr = p->base + (uint64_t)p->plane * p->plane_pitch +
            (uint64_t)(p->done / p->width) * p->pitch + in_line;
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

/* --- shape ---------------------------------------------------------------- */

static bool check_side(check_session *s, const uint32_t *a, bool dst,
                       bool *overlaps)
{
    side p = side_of(a, dst);
    const char *which = dst ? "destination" : "source";
    uint32_t lines;

    if (!p.planes)
        return true;
    if (!p.width) {
        finding_add(s, CHECK_DMA_SHAPE, a[SITE], NULL, 0,
                    "a transfer of %u bytes with a %s width of 0", a[BYTES],
                    which);
        return false;
    }
    lines = (p.plane_bytes + p.width - 1) / p.width;
    if (lines > 1 && p.plane_bytes % p.width)
        finding_add(s, CHECK_DMA_SHAPE, a[SITE], NULL, 1u + dst,
                    "%u bytes are not a whole number of lines of %u bytes (%s)",
                    p.plane_bytes, p.width, which);
    if (dst && lines > 1 && p.pitch < p.width) {
        *overlaps = true;
        finding_add(s, CHECK_DMA_SHAPE, a[SITE], NULL, 3,
                    "lines of %u bytes every %u bytes overlap in the "
                    "destination",
                    p.width, p.pitch);
    }
    if (dst && p.planes > 1 && p.plane_pitch < p.plane_bytes &&
        p.plane_pitch < (uint64_t)p.pitch * (lines - 1) + p.width) {
        *overlaps = true;
        finding_add(s, CHECK_DMA_SHAPE, a[SITE], NULL, 4,
                    "planes every %u bytes overlap in the destination",
                    p.plane_pitch);
    }
    return true;
}

/* --- memory --------------------------------------------------------------- */

static bool find_memory(check_session *s, const uint32_t *a, bool dst,
                        check_extent *p)
{
    const sim_site *at = &s->sites->sites[a[SITE]];
    const sim_object *o = &s->sites->objects[dst ? at->object : at->from];
    uint32_t root = 0;

    /* Arrays are found by address: a transfer knows of no roots. */
    if (o->kind == SIM_MEM_ARG)
        root = a[dst ? DST : SRC];
    return memory_find(s, dst ? at->object : at->from, root, a[dst ? DST : SRC],
                       p);
}

static bool check_extents(check_session *s, const uint32_t *a, bool dst,
                          check_extent *p)
{
    side w = side_of(a, dst);
    const char *verb = dst ? "writes" : "reads";
    uint64_t addr;
    uint32_t n;

    if (!w.planes)
        return true;
    if (!find_memory(s, a, dst, p)) {
        finding_add(s, CHECK_BOUNDS, a[SITE], NULL, dst,
                    "a transfer %s 0x%08x, which no buffer and no array has",
                    verb, a[dst ? DST : SRC]);
        return false;
    }
    for (; next_piece(&w, &addr, &n); advance(&w, n)) {
        int64_t off = (int64_t)addr - p->base;
        check_extent e = *p;

        if (off >= 0 && off + (int64_t)n <= p->m.bytes)
            continue;
        e.m.offset = off < 0 || off > p->m.bytes ? off : p->m.bytes;
        finding_add(s, CHECK_BOUNDS, a[SITE], &e, 2u + dst,
                    "a transfer of %llu bytes %s %s",
                    (unsigned long long)a[BYTES] * a[PLANES], verb,
                    off < 0 ? "in front of" : "past the end of");
        return false;
    }
    return true;
}

static void set_kind(check_session *s, const uint32_t *a, bool dst,
                     shadow_kind kind, const check_side_of *m)
{
    uint32_t now = session_clock(s, m->cmx)->now << s->tag_shift;
    uint32_t keep = SHADOW_INIT | SHADOW_OLD_READ | SHADOW_WRITTEN, n;
    side w = side_of(a, dst);
    uint64_t addr;

    if (m->private) { /* its words have no tags */
        keep = SHADOW_INIT;
        now = 0;
    }
    for (; next_piece(&w, &addr, &n); advance(&w, n))
        for (uint32_t i = 0; i < n && !m->constant; i++) {
            uint32_t *at = &s->shadow[(uint32_t)addr + i];
            uint32_t is = *at & SHADOW_KIND;

            /* Read by two transfers at once is fine: the first end says so. */
            if (kind != SHADOW_NONE || is == SHADOW_INCOMING ||
                is == SHADOW_OUTGOING)
                *at = (*at & keep) | kind | now;
        }
}

/* What is undefined in the source is so in the destination. True: some is. */
static bool pass_undefined(check_session *s, const uint32_t *a,
                           const check_extent *from, bool global)
{
    side src = side_of(a, false), dst = side_of(a, true);
    uint64_t sa, da;
    uint32_t n, m;
    bool any = false;

    if (from->m.kind == SIM_MEM_CONSTANT)
        return false;
    while (next_piece(&src, &sa, &n) && next_piece(&dst, &da, &m)) {
        n = n < m ? n : m;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = (uint32_t)sa + i, w = s->shadow[at];

            if (w & SHADOW_INIT &&
                !(from->cmx && !from->private &&
                  session_tag(s, w) < session_clock(s, true)->group))
                continue;
            any = true;
            if (global) /* that is told here, once */
                continue;
            s->shadow[(uint32_t)da + i] &= ~(uint32_t)SHADOW_INIT;
        }
        advance(&src, n);
        advance(&dst, n);
    }
    return any;
}

static void mark_side(check_session *s, const uint32_t *a, bool dst,
                      const check_extent *p)
{
    const sim_site *at = &s->sites->sites[a[SITE]];
    side w = side_of(a, dst);
    bool undefined = s->needs_taint[s->number];
    uint64_t addr;
    uint32_t n;

    for (; next_piece(&w, &addr, &n); advance(&w, n)) {
        check_extent e = *p;

        access_mark(s, a[SITE], p, (uint32_t)addr, n,
                    dst ? SITE_STORE : SITE_LOAD, true);
        e.m.offset = (int64_t)addr - p->base;
        access_argument(s, a[SITE], dst ? at->object : at->from, &e, n, dst);
    }
    s->needs_taint[s->number] = undefined; /* a copy is no use */
}

static bool plain_source(check_session *s, const check_extent *p)
{
    const check_region *r;

    if (p->cmx || s->every_access)
        return false;
    r = memory_region(s, (uint32_t)(p->base + p->m.offset));
    for (uint32_t i = 0; r && i < s->launch->kernel->n_args; i++) {
        const sim_arg *g = &s->launch->kernel->args[i];

        if (g->space != SIM_ARG_SCALAR && g->space != SIM_ARG_LOCAL &&
            s->sites->objects[1 + i].written &&
            memory_region(s, s->launch->values[i].u.address) == r)
            return false;
    }
    return r && r->full;
}

static void check_phase(check_session *s, const uint32_t *a,
                        const check_extent *src, const check_extent *dst)
{
    const sim_site *at = &s->sites->sites[a[SITE]];

    if (s->phase == MACH_PRE && !dst->cmx)
        finding_add(s, CHECK_DMA_PHASE, a[SITE], dst, 0,
                    "preload writes global memory while the group before still "
                    "computes");
    if (s->phase == MACH_POST && !src->cmx && src->m.kind == SIM_MEM_ARG &&
        s->sites->objects[at->from].written)
        finding_add(s, CHECK_DMA_PHASE, a[SITE], src, 1,
                    "postwrite reads global memory while the next group "
                    "computes and may write it");
    if (at->by_item && s->n_items > 1)
        finding_add(s, CHECK_DMA_PHASE, a[SITE], NULL, 2,
                    "a work-item's own transfer in a group of %u work-items: "
                    "the device allows it in groups of one",
                    s->n_items);
}

/* A transfer that is not made: what waits for its bytes is no mistake. */
static void forgive(check_session *s, const uint32_t *a)
{
    side w = side_of(a, true);
    check_extent p;
    uint64_t addr;
    uint32_t n, word;

    if (!w.planes || !w.width || !find_memory(s, a, true, &p))
        return;
    word = SHADOW_INIT;
    if (p.cmx && !p.private)
        word |= session_clock(s, true)->now << s->tag_shift;
    for (; next_piece(&w, &addr, &n); advance(&w, n))
        for (uint64_t at = addr; at < addr + n; at++)
            if (at - (uint64_t)p.base < (uint64_t)p.m.bytes)
                s->shadow[at] = word | (p.cmx ? 0 : s->shadow[at]);
}

/* --- hooks ---------------------------------------------------------------- */

static check_side_of of_extent(const check_extent *p)
{
    return (check_side_of){.cmx = p->cmx,
                           .private = p->private,
                           .constant = p->m.kind == SIM_MEM_CONSTANT};
}

static bool check(check_session *s, const uint32_t *a, check_transfer *t)
{
    check_extent src = {.base = 0}, dst = {.base = 0};
    bool overlaps = false;

    if (!check_side(s, a, false, &overlaps) ||
        !check_side(s, a, true, &overlaps))
        return false;
    if (!check_extents(s, a, false, &src) || !check_extents(s, a, true, &dst))
        return false;
    if (!a[BYTES] || !a[PLANES])
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
            finding_add(s, CHECK_UNINIT, a[SITE], &src, 0,
                        "a transfer takes bytes nobody wrote to global memory, "
                        "from");
        set_kind(s, a, false, SHADOW_OUTGOING, &t->src);
    }
    set_kind(s, a, true, SHADOW_INCOMING, &t->dst);
    return true;
}

uint32_t copies_hook(sim_wg *wg, uint64_t *log, const uint32_t *a)
{
    check_session *s = session_of(wg);
    uint32_t plain[12];
    check_transfer now = {.done = false};
    bool fine;

    access_settle(s);
    fine = check(s, a, &now);
    /* Told right before it. */
    if (s->n_events && s->events[0] <= s->n_transfers)
        now.after = s->events[0];
    s->n_events = 0;

    s->same_site = 0;
    memcpy(plain, a, sizeof plain);
    plain[SITE] = s->sites->sites[a[SITE]].at.line;
    if (!fine) {
        forgive(s, a);
        plain[BYTES] = 0;
    }
    if (s->n_transfers < MAX_TRANSFERS) {
        now.done = now.waited = now.refused = !fine;
        memcpy(now.shape, a, sizeof now.shape);
        s->transfers[s->n_transfers++] = now;
    }
    return exec_dma(wg, log, plain);
}

static void end(check_session *s, check_transfer *t)
{
    if (!t->done) {
        set_kind(s, t->shape, false, SHADOW_NONE, &t->src);
        set_kind(s, t->shape, true, SHADOW_NONE, &t->dst);
    }
    t->done = true;
}

/* Its transfers are those of the events it joins, too. */
static void wait_for(check_session *s, uint32_t event)
{
    while (event) {
        check_transfer *t = &s->transfers[event - 1];

        end(s, t);
        t->waited = true;
        event = t->after;
    }
}

void copies_same(sim_wg *wg, uint32_t site, uint32_t hash)
{
    check_session *s = session_of(wg);
    check_finding *f;

    if (s->sites->sites[site].by_item) /* a transfer of its own */
        return;
    if (s->same_site != site) { /* the first item */
        s->same_site = site;
        s->same_hash = hash;
        s->same_item = wg->check.item;
        return;
    }
    if (s->same_hash == hash)
        return;
    f = finding_add(s, CHECK_DIVERGENCE, site, NULL, 1,
                    "work-items of a group give this transfer different "
                    "arguments");
    if (!f)
        return;
    f->by.has_item = true;
    f->other = f->by;
    f->other.item = s->same_item;
    f->other.what = "gives others, and those count";
}

void copies_event(sim_wg *wg, uint32_t event)
{
    check_session *s = session_of(wg);

    if (wg->check.item || s->n_events == sizeof s->events / sizeof *s->events)
        return; /* the first item's stand for all */
    s->events[s->n_events++] = event;
}

void copies_wait(sim_wg *wg, uint64_t *log, uint32_t n)
{
    check_session *s = session_of(wg);
    uint32_t site = wg->check.at;

    for (uint32_t k = 0; k < s->n_events; k++) {
        uint32_t e = s->events[k];

        if (e == UINT32_MAX) {
            for (uint32_t i = 0; i < s->n_transfers; i++) {
                end(s, &s->transfers[i]);
                s->transfers[i].waited = true;
            }
        } else if (e && e <= s->n_transfers) {
            check_transfer *t = &s->transfers[e - 1];

            if (t->waited && t->done && !t->refused)
                finding_add(s, CHECK_DMA_WAIT, site, NULL, 1000 + 1,
                            "waits for an event that was waited for already");
            wait_for(s, e);
        } else if (e) {
            finding_add(s, CHECK_DMA_WAIT, site, NULL, 1000 + 2,
                        "waits for an event that no transfer of this group "
                        "gave");
        }
    }
    s->n_events = 0;
    exec_wait(wg, log, n);
}

void copies_end(check_session *s)
{
    for (uint32_t i = 0; i < s->n_transfers; i++) {
        check_transfer *t = &s->transfers[i];

        if (!t->waited && s->phase == MACH_COMP)
            finding_add(s, CHECK_DMA_WAIT, t->shape[SITE], NULL, 1000 + 3,
                        "the group ends without a wait for this transfer");
        end(s, t);
    }
    s->n_transfers = 0;
}
