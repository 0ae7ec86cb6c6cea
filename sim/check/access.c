/* Accesses that compiled code could not settle itself: inside their memory?
 * written before? in whose way? */
#include <string.h>

#include "sim/check/session_priv.h"

/* What is wrong with the bytes of one access; the first byte of each. */
typedef enum {
    WRONG_RACE,       /* another item, this interval */
    WRONG_BOTH_WRITE, /* the same, and both write */
    WRONG_GROUP_RACE, /* another group; one reads */
    WRONG_REWRITTEN,  /* another group; both write */
    WRONG_TRANSFER,   /* one under way */
    WRONG_N
} wrong_kind;

typedef struct {
    uint32_t at[WRONG_N];            /* 0 = not so */
    uint32_t undefined;              /* the first byte nobody wrote, 0 = none */
    uint32_t from;                   /* address of the access */
    uint64_t both[MAX_PENDING / 64]; /* BOTH_WRITE, a bit per byte */
} wrong;

typedef struct {
    check_session *s;
    check_use use;
    bool copy; /* by a transfer: for all items of the group */
    bool cmx;
    uint32_t me; /* item */
    const check_clock *clock;
} user;

static void note(wrong *w, wrong_kind k, uint32_t addr)
{
    uint32_t n = addr - w->from;

    if (!w->at[k])
        w->at[k] = addr;
    if (k == WRONG_BOTH_WRITE && n < MAX_PENDING)
        w->both[n / 64] |= UINT64_C(1) << n % 64;
}

/* Somebody else of this group did it in this interval. */
static bool by_another(const user *u, uint32_t word)
{
    if (u->copy) /* preload and postwrite have one item */
        return u->s->n_items > 1 && u->s->phase == MACH_COMP;
    return check_session_item(u->s, word) != u->me;
}

/* Some item changed it atomically. */
static bool is_atomic(shadow_kind k)
{
    return k == SHADOW_ATOMIC || k == SHADOW_ATOMICS ||
           k == SHADOW_ATOMIC_LOOKED || k == SHADOW_BOTH ||
           k == SHADOW_BOTH_LOOKED;
}

/* Some item read it otherwise than atomically. */
static bool is_read(shadow_kind k)
{
    return k == SHADOW_READ || k == SHADOW_MANY || k == SHADOW_READ_LOOKED ||
           k == SHADOW_BOTH || k == SHADOW_BOTH_LOOKED;
}

/* Some item other than the word's looked at it. */
static bool others_looked(shadow_kind k)
{
    return k & SHADOW_LOOK && k != SHADOW_LOOKED && k != SHADOW_BOTH;
}

/* Is what others did in this interval in the way of this? */
static bool in_the_way(const user *u, shadow_kind k, bool another)
{
    bool atomically = u->use == CHECK_ATOMIC || u->use == CHECK_LOOKS;

    if (u->use == CHECK_WRITES && others_looked(k))
        return true;
    switch (k) {
    case SHADOW_WROTE:
        return another;
    case SHADOW_BOTH:
    case SHADOW_BOTH_LOOKED:
        return another && u->use != CHECK_LOOKS;
    case SHADOW_ATOMIC:
    case SHADOW_ATOMIC_LOOKED:
        return another && !atomically;
    case SHADOW_ATOMICS:
        return !atomically;
    case SHADOW_READ:
    case SHADOW_READ_LOOKED:
        return another && check_changes(u->use);
    case SHADOW_MANY:
        return check_changes(u->use);
    case SHADOW_LOOKED:
        return another && u->use == CHECK_WRITES;
    default:
        return false;
    }
}

static void in_interval(const user *u, uint32_t word, uint32_t addr, wrong *w)
{
    shadow_kind k = word & SHADOW_KIND;

    if (!in_the_way(u, k, by_another(u, word)))
        return;
    note(w,
         k == SHADOW_WROTE && u->use == CHECK_WRITES && !u->copy
             ? WRONG_BOTH_WRITE
             : WRONG_RACE,
         addr);
}

/* The tag is that of an earlier group of this launch. */
static void across_groups(const user *u, uint32_t word, uint32_t addr, wrong *w)
{
    shadow_kind k = word & SHADOW_KIND;
    bool writes = u->use == CHECK_WRITES;
    bool plain = writes || u->use == CHECK_READS;

    if (word & SHADOW_WRITTEN || (is_atomic(k) && plain))
        note(w, writes ? WRONG_REWRITTEN : WRONG_GROUP_RACE, addr);
    else if ((check_changes(u->use) && is_read(k)) ||
             (writes && k & SHADOW_LOOK))
        note(w, WRONG_GROUP_RACE, addr);
}

/* --- what is known then -------------------------------------------------- */

/* The kind behind a read, of what there was in this interval. `mine`: by the
 * item that reads. */
static shadow_kind kind_read(shadow_kind k, bool mine)
{
    switch (k) {
    case SHADOW_LOOKED:
        return mine ? SHADOW_READ : SHADOW_READ_LOOKED;
    case SHADOW_MANY_LOOKED:
        return SHADOW_READ_LOOKED;
    case SHADOW_READ:
    case SHADOW_READ_LOOKED:
        return mine ? k : SHADOW_MANY;
    case SHADOW_ATOMIC:
        return mine ? SHADOW_BOTH : k;
    case SHADOW_ATOMIC_LOOKED:
        return mine ? SHADOW_BOTH_LOOKED : k;
    case SHADOW_NONE:
        return SHADOW_READ;
    default:
        return k;
    }
}

static shadow_kind kind_atomic(shadow_kind k, bool mine)
{
    switch (k) {
    case SHADOW_LOOKED:
        return mine ? SHADOW_ATOMIC : SHADOW_ATOMIC_LOOKED;
    case SHADOW_MANY_LOOKED:
        return SHADOW_ATOMIC_LOOKED;
    case SHADOW_READ:
        return mine ? SHADOW_BOTH : SHADOW_ATOMIC;
    case SHADOW_READ_LOOKED:
        return mine ? SHADOW_BOTH_LOOKED : SHADOW_ATOMIC_LOOKED;
    case SHADOW_WROTE:
        return mine ? k : SHADOW_ATOMIC;
    case SHADOW_ATOMIC:
    case SHADOW_ATOMIC_LOOKED:
        return mine ? k : SHADOW_ATOMICS;
    case SHADOW_BOTH:
    case SHADOW_BOTH_LOOKED: /* another's: that is told, once */
        return mine ? k : SHADOW_ATOMIC;
    case SHADOW_ATOMICS:
        return k;
    default:
        return SHADOW_ATOMIC;
    }
}

static shadow_kind kind_looked(shadow_kind k, bool mine)
{
    switch (k) {
    case SHADOW_NONE:
        return SHADOW_LOOKED;
    case SHADOW_LOOKED:
        return mine ? k : SHADOW_MANY_LOOKED;
    case SHADOW_READ:
        return mine ? k : SHADOW_READ_LOOKED;
    case SHADOW_ATOMIC:
        return mine ? k : SHADOW_ATOMIC_LOOKED;
    case SHADOW_BOTH:
        return mine ? k : SHADOW_BOTH_LOOKED;
    default:
        return k;
    }
}

/* A word of this interval: INIT and what is known of earlier groups. */
static uint32_t kept_bits(const user *u, uint32_t word, uint32_t tag)
{
    uint32_t keep = word & (SHADOW_INIT | SHADOW_OLD_READ);
    bool earlier = tag < u->clock->group && tag >= u->clock->launch;

    if (tag >= u->clock->group)
        keep |= word & SHADOW_WRITTEN;
    else if (earlier && is_read(word & SHADOW_KIND))
        keep |= SHADOW_OLD_READ;
    return keep;
}

static uint32_t word_read(const user *u, uint32_t word, uint32_t tag)
{
    const check_session *s = u->s;
    bool now = tag == u->clock->now,
         mine = check_session_item(s, word) == u->me;
    shadow_kind k = now ? word & SHADOW_KIND : SHADOW_NONE;
    shadow_kind next = kind_read(k, mine);

    if (now && u->copy && next != SHADOW_WROTE && !is_atomic(next))
        next = SHADOW_MANY;
    else if (next == k)
        return word;
    word = check_session_word(s, u->cmx, next) | kept_bits(u, word, tag);
    /* The word compiled code compares with has no item. */
    if (next == SHADOW_MANY)
        word &= ~(check_session_item_mask(s) << SHADOW_ITEM_SHIFT);
    return word;
}

static uint32_t word_atomic(const user *u, uint32_t word, uint32_t tag)
{
    shadow_kind was = word & SHADOW_KIND;
    shadow_kind k = tag == u->clock->now ? was : SHADOW_NONE;
    bool earlier = tag < u->clock->group && tag >= u->clock->launch;
    uint32_t keep = kept_bits(u, word, tag);

    /* Of atomics: an earlier group's were there, too. */
    if (is_atomic(was) && (earlier || keep & SHADOW_OLD_READ))
        keep |= SHADOW_OLD_READ;
    else
        keep &= ~(uint32_t)SHADOW_OLD_READ;
    return check_session_word(
               u->s, u->cmx,
               kind_atomic(k, check_session_item(u->s, word) == u->me)) |
           keep | SHADOW_INIT;
}

/* A look is the weakest use: what says more of global memory stays. */
static uint32_t word_looked(const user *u, uint32_t word, uint32_t tag)
{
    bool now = tag == u->clock->now,
         mine = check_session_item(u->s, word) == u->me;
    shadow_kind was = word & SHADOW_KIND, next;

    if (!now && !u->cmx && tag >= u->clock->launch &&
        (is_read(was) || is_atomic(was)))
        return word;
    next = kind_looked(now ? was : SHADOW_NONE, mine);
    if (now && next != SHADOW_LOOKED)
        return (word & ~(uint32_t)SHADOW_KIND) | next;
    return check_session_word(u->s, u->cmx, next) | kept_bits(u, word, tag);
}

static uint32_t next_word(const user *u, uint32_t word, uint32_t tag)
{
    switch (u->use) {
    case CHECK_WRITES:
        return check_session_word(u->s, u->cmx, SHADOW_WROTE) | SHADOW_INIT;
    case CHECK_ATOMIC:
        return word_atomic(u, word, tag);
    case CHECK_LOOKS:
        return word_looked(u, word, tag);
    default:
        return word_read(u, word, tag);
    }
}

/* An earlier group's use, that one of this group did not hide. */
static bool old_in_the_way(const user *u, uint32_t word, uint32_t tag)
{
    if (!(word & SHADOW_OLD_READ) || u->cmx)
        return false;
    if (is_atomic(word & SHADOW_KIND))
        return tag >= u->clock->group &&
               (u->use == CHECK_READS || u->use == CHECK_WRITES);
    return check_changes(u->use);
}

static void mark_byte(const user *u, uint32_t addr, wrong *w)
{
    uint32_t *at = &u->s->shadow[addr], word = *at;
    uint32_t tag = check_session_tag(u->s, word);
    shadow_kind k = word & SHADOW_KIND;
    bool writes = u->use == CHECK_WRITES;

    if (u->cmx && tag < u->clock->group) {
        if (word & SHADOW_INIT && !writes && u->s->origins)
            u->s->origins[addr] = ORIGIN_STALE;
        word = 0;
    }
    if (!writes && !(word & SHADOW_INIT) && !w->undefined)
        w->undefined = addr;
    if (k == SHADOW_INCOMING ||
        (k == SHADOW_OUTGOING && check_changes(u->use))) {
        if (tag >= u->clock->group) {
            note(w, WRONG_TRANSFER, addr);
            return; /* it stays under way */
        }
    } else if (k == SHADOW_OUTGOING && tag >= u->clock->group) {
        return;
    }
    if (tag == u->clock->now)
        in_interval(u, word, addr, w);
    else if (tag < u->clock->group && tag >= u->clock->launch && !u->cmx)
        across_groups(u, word, addr, w);
    if (old_in_the_way(u, word, tag))
        note(w, WRONG_GROUP_RACE, addr);
    *at = next_word(u, word, tag);
}

/* Both write: whether it is the same value shows when the store is made, which
 * it is when code calls again. */
static void wait_for_store(check_session *s, uint32_t site,
                           const check_extent *p, const wrong *w, uint32_t n)
{
    check_pending *q = &s->pending;

    if (n > MAX_PENDING)
        n = MAX_PENDING;
    *q = (check_pending){.site = site,
                         .at = w->at[WRONG_BOTH_WRITE],
                         .address = w->from,
                         .bytes = n,
                         .item = s->wg->check.item,
                         .where = *p};
    memcpy(q->before, s->window + w->from, n);
    memcpy(q->both, w->both, sizeof q->both);
}

/* What both wrote is as it was. */
static bool is_same(const check_session *s, const check_pending *q)
{
    const uint8_t *now = s->window + q->address;
    bool same = true;

    for (uint32_t i = 0; i < q->bytes; i++)
        if (q->both[i / 64] >> i % 64 & 1)
            same &= now[i] == q->before[i];
    return same;
}

void access_settle(check_session *s)
{
    check_pending *q = &s->pending;
    uint32_t item = s->wg->check.item;
    check_finding *f;
    bool same;

    if (!q->bytes)
        return;
    same = is_same(s, q);
    q->bytes = 0;
    q->where.memory.offset = (int64_t)q->at - q->where.base;
    s->wg->check.item = q->item; /* who it was */
    f = check_finding_add(
        s, same ? CHECK_SAME_WRITE : CHECK_RACE, q->site, &q->where, 0,
        same ? "writes what another work-item writes, with no "
               "barrier between, but the same value"
             : "writes what another work-item uses, with no "
               "barrier between");
    if (f)
        check_finding_other(s, f, q->at, q->where.cmx, false, true);
    s->wg->check.item = item;
}

static void report(check_session *s, uint32_t site, const check_extent *p,
                   const wrong *w, bool write)
{
    static const struct {
        check_kind kind;
        const char *read, *write;
    } texts[WRONG_N] = {
        [WRONG_RACE] = {CHECK_RACE,
                        "reads what another work-item writes, with no barrier "
                        "between",
                        "writes what another work-item uses, with no barrier "
                        "between"},
        [WRONG_GROUP_RACE] = {CHECK_GROUP_RACE,
                              "reads what another work-group writes",
                              "writes what another work-group reads"},
        [WRONG_REWRITTEN] = {CHECK_REWRITTEN, "",
                             "writes what another work-group writes, too"},
        [WRONG_TRANSFER] = {CHECK_DMA_WAIT,
                            "reads what a transfer brings, before the wait for "
                            "it",
                            "writes what a transfer reads or brings, before "
                            "the wait for it"}};

    for (int k = 0; k < WRONG_N; k++) {
        check_extent e = *p;
        check_finding *f;

        if (!w->at[k] || k == WRONG_BOTH_WRITE)
            continue;
        e.memory.offset = (int64_t)w->at[k] - p->base;
        f = check_finding_add(s, texts[k].kind, site, &e, (uint32_t)k, "%s",
                              write ? texts[k].write : texts[k].read);
        if (f)
            check_finding_other(s, f, w->at[k], p->cmx,
                                k == WRONG_GROUP_RACE || k == WRONG_REWRITTEN,
                                !write || k == WRONG_REWRITTEN);
    }
}

static void mark_private(check_session *s, uint32_t site, const check_extent *p,
                         uint32_t addr, uint32_t n, bool write)
{
    wrong w = {.undefined = 0};

    for (uint32_t i = 0; i < n; i++) {
        uint32_t *at = &s->shadow[addr + i];
        shadow_kind k = *at & SHADOW_KIND;

        if (k == SHADOW_INCOMING || (k == SHADOW_OUTGOING && write))
            note(&w, WRONG_TRANSFER, addr + i);
        else if (write)
            *at = SHADOW_INIT;
        else if (!(*at & SHADOW_INIT))
            s->needs_taint[s->number] = true;
    }
    report(s, site, p, &w, write);
}

void access_mark(check_session *s, const check_extent *p, const check_access *x)
{
    uint32_t site = x->site, addr = x->address, n = x->n;
    user u = {.s = s,
              .use = x->use,
              .copy = x->copy,
              .cmx = p->cmx,
              .me = s->wg->check.item & check_session_item_mask(s),
              .clock = check_session_clock(s, p->cmx)};
    wrong w = {.from = addr};

    if (p->memory.kind == SIM_MEM_CONSTANT)
        return;
    if (p->private) {
        mark_private(s, site, p, addr, n, x->use == CHECK_WRITES);
        return;
    }
    if (!p->cmx)
        runs_make(s, addr, n);
    for (uint32_t i = 0; i < n; i++)
        mark_byte(&u, addr + i, &w);
    if (w.undefined)
        s->needs_taint[s->number] = true;
    s->atomic_origin = w.undefined ? origins_of(s, site, w.undefined) : 0;
    report(s, site, p, &w, check_changes(x->use));
    if (w.at[WRONG_BOTH_WRITE] && !w.at[WRONG_RACE])
        wait_for_store(s, site, p, &w, n);
    if (s->n_watches)
        check_finding_watch(s, x, p->cmx);
}

/* --- restrict ------------------------------------------------------------ */

enum { THROUGH_WRITTEN = 0x80 };

/* Memory of two arguments, one of them restrict: a byte may be used through
 * several of them only if nobody writes it. */
void access_argument(check_session *s, uint32_t site, uint32_t object,
                     const check_extent *p, uint32_t n, bool write)
{
    const sim_object *o = &s->sites->objects[object];
    const check_region *r = s->through_of;

    if (!r || p->memory.kind != SIM_MEM_ARG || p->memory.local ||
        p->memory.buffer != r->number || o->kind != SIM_MEM_ARG)
        return;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t *t = &s->through[p->memory.offset + i];
        uint32_t other = (*t & ~THROUGH_WRITTEN) - 1u;
        bool written = write || *t & THROUGH_WRITTEN;

        if (*t && other != o->index && written) {
            const sim_object *q = &s->sites->objects[1 + other];

            if (o->restricted || q->restricted)
                check_finding_add(
                    s, CHECK_RESTRICT, site, p, other,
                    "'%s' and '%s' are the same memory here, and '%s' "
                    "is restrict",
                    o->name, q->name, o->restricted ? o->name : q->name);
        }
        *t = (uint8_t)((*t ? *t & ~THROUGH_WRITTEN : o->index + 1) |
                       (written ? THROUGH_WRITTEN : 0));
    }
}

/* --- phases -------------------------------------------------------------- */

static void check_phase(check_session *s, uint32_t site, const check_extent *p,
                        bool write)
{
    const sim_object *o = &s->sites->objects[s->sites->sites[site].object];

    if (p->cmx || p->memory.kind == SIM_MEM_CONSTANT)
        return;
    if (s->phase == MACH_PRE && write)
        check_finding_add(s, CHECK_DMA_PHASE, site, p, 0,
                          "preload writes global memory while the group before "
                          "still computes");
    else if (s->phase == MACH_POST && !write && o->written)
        check_finding_add(s, CHECK_DMA_PHASE, site, p, 1,
                          "postwrite reads global memory while the next group "
                          "computes and may write it");
}

/* --- from compiled code -------------------------------------------------- */

static void outside(check_session *s, uint32_t site, const check_extent *p,
                    int64_t off, uint64_t n)
{
    const sim_site *at = &s->sites->sites[site];
    bool write = at->kind != SITE_LOAD && at->kind != SITE_BLOCK_READ;
    long long behind = (long long)(off + (int64_t)n - p->memory.bytes);
    check_extent e = *p;

    /* The first byte outside. */
    e.memory.offset = off < 0 || off >= p->memory.bytes ? off : p->memory.bytes;
    if (off < 0)
        check_finding_add(s, CHECK_BOUNDS, site, &e, 0,
                          "%s %llu byte%s %lld byte%s in front of",
                          write ? "writes" : "reads", (unsigned long long)n,
                          n == 1 ? "" : "s", (long long)-off,
                          off == -1 ? "" : "s");
    else if (off >= p->memory.bytes)
        check_finding_add(s, CHECK_BOUNDS, site, &e, 0,
                          "%s %llu byte%s %lld byte%s behind the end of",
                          write ? "writes" : "reads", (unsigned long long)n,
                          n == 1 ? "" : "s",
                          (long long)(off - p->memory.bytes + 1),
                          off == p->memory.bytes ? "" : "s");
    else
        check_finding_add(
            s, CHECK_BOUNDS, site, &e, 0,
            "%s %llu bytes, the last %lld of them behind the end of",
            write ? "writes" : "reads", (unsigned long long)n, behind);
}

/* The bytes are there. */
static check_use use_of(const check_session *s, const sim_site *at,
                        uint32_t addr)
{
    uint32_t found;

    if (at->kind == SITE_LOAD || at->kind == SITE_BLOCK_READ)
        return CHECK_READS;
    if (at->kind != SITE_ATOMIC)
        return CHECK_WRITES;
    if (!at->conditional)
        return CHECK_ATOMIC;
    memcpy(&found, s->window + addr, sizeof found);
    return found == s->wg->check.expected ? CHECK_ATOMIC : CHECK_LOOKS;
}

/* False: not to be made. */
static bool make(check_session *s, uint32_t site, uint32_t addr, uint32_t root,
                 uint32_t n)
{
    const sim_site *at = &s->sites->sites[site];
    sim_site_kind kind = at->kind;
    bool write = kind != SITE_LOAD && kind != SITE_BLOCK_READ;
    check_extent p;
    check_use use;

    s->atomic_origin = 0;
    if (!bounds_find(s, at->object, root, addr, &p)) {
        check_finding_add(
            s, CHECK_BOUNDS, site, NULL, 0,
            "%s %u bytes at 0x%08x, which no buffer and no array has",
            write ? "writes" : "reads", n, addr);
        return false;
    }
    if (p.memory.offset < 0 || p.memory.offset + (int64_t)n > p.memory.bytes) {
        outside(s, site, &p, p.memory.offset, n);
        return false;
    }
    if (at->align > 1 && addr % at->align)
        check_finding_add(
            s, CHECK_ALIGN, site, &p, 0,
            "a vector of %u bytes at an address that is no multiple of "
            "%u, but %u more:",
            at->bytes, at->align, addr % at->align);
    use = use_of(s, at, addr);
    check_phase(s, site, &p, check_changes(use));
    access_mark(s, &p,
                &(const check_access){
                    .site = site, .address = addr, .n = n, .use = use});
    access_argument(s, site, at->object, &p, n, check_changes(use));
    return true;
}

/* Are the n words from at all alike? */
static bool uniform(const uint32_t *at, uint32_t n)
{
    uint32_t differ = 0;

    for (uint32_t i = 1; i < n; i++)
        differ |= at[i] ^ at[0];
    return !differ;
}

/* The usual of global memory: nobody used it before in this launch. */
static bool settle_first(check_session *s, const sim_site *at, uint32_t addr)
{
    bool store = at->kind == SITE_STORE;
    uint32_t *words = &s->shadow[addr];
    uint32_t next =
        check_session_word(s, false, store ? SHADOW_WROTE : SHADOW_READ) |
        SHADOW_INIT;

    runs_make(s, addr, at->bytes);
    if (words[0] & ~SHADOW_INIT || !uniform(words, at->bytes))
        return false;
    if (!store && !words[0])
        return false;
    for (uint32_t i = 0; i < at->bytes; i++)
        words[i] = next;
    return true;
}

/* Accesses that need no more than other words; those to local memory that
 * compiled code does not know are rare. */
static bool settle(check_session *s, const sim_site *at, uint32_t addr,
                   uint32_t root)
{
    const sim_object *o = &s->sites->objects[at->object];
    uint64_t end = (uint64_t)(addr - root) + at->bytes;

    if (s->every_access || at->kind > SITE_STORE || (addr & (at->align - 1)))
        return false;
    return o->kind == SIM_MEM_ARG && !o->local && end <= s->limits[o->index] &&
           s->phase == MACH_COMP && settle_first(s, at, addr);
}

/* What a load that leaves its memory gets: the bytes that are in it, and zeros.
 * Code that loads a vector and drops the lanes outside goes on as it would. */
static void fill_sink(check_session *s, uint32_t site, uint32_t addr,
                      uint32_t root)
{
    const sim_site *at = &s->sites->sites[site];
    uint32_t n = at->bytes < SINK_BYTES ? at->bytes : SINK_BYTES;
    check_extent p;

    memset(s->window + s->sink, 0, SINK_BYTES);
    if (at->kind != SITE_LOAD || !bounds_find(s, at->object, root, addr, &p))
        return;
    for (uint32_t i = 0; i < n; i++)
        if (p.memory.offset + i >= 0 && p.memory.offset + i < p.memory.bytes)
            s->window[s->sink + i] = s->window[addr + i];
}

uint32_t access_look(sim_wg *wg, uint32_t site, uint32_t addr, uint32_t root)
{
    check_session *s = check_session_of(wg);

    if (s->pending.bytes)
        access_settle(s);
    if (settle(s, &s->sites->sites[site], addr, root))
        return addr;
    if (make(s, site, addr, root, s->sites->sites[site].bytes))
        return addr;
    fill_sink(s, site, addr, root);
    return s->sink;
}

/* Padding of a structure, which nobody misses. */
static bool is_padding(const check_session *s, uint32_t addr)
{
    const sim_object *o = s->block_object;

    return o && o->padding &&
           o->padding[(addr - s->block_root) % o->padding_period];
}

/* What was not written in the source of a memcpy is not in its destination
 * either; global memory must not get it. */
static void pass_undefined(check_session *s, uint32_t site, uint32_t addr,
                           uint32_t n)
{
    bool tracked = bounds_tracked(s, s->block_from), any = false;
    bool global = bounds_region(s, addr) != NULL;

    runs_make(s, s->block_from, n);
    for (uint32_t i = 0; i < n && tracked; i++) {
        uint32_t from = s->block_from + i;

        if (s->shadow[from] & SHADOW_INIT)
            continue;
        if (is_padding(s, from)) /* nor in memory without a type */
            continue;
        if (global && origins_converted(s, from))
            continue;
        any = true;
        if (global) /* that is told here, once */
            continue;
        s->shadow[addr + i] &= ~(uint32_t)SHADOW_INIT;
        if (s->origins)
            s->origins[addr + i] = s->origins[from];
    }
    if (any && global)
        check_finding_add(s, CHECK_UNINIT, site, NULL, 1,
                          "global memory gets bytes of '%s' nobody wrote",
                          s->block_object ? s->block_object->name : "");
}

/* A memcpy's read comes before its write. */
uint32_t check_on_block(sim_wg *wg, uint32_t site, uint32_t addr, uint32_t root,
                        uint32_t n)
{
    check_session *s = check_session_of(wg);
    const sim_site *at = &s->sites->sites[site];
    bool needs_taint = s->needs_taint[s->number], ok;

    access_settle(s);

    ok = !n || make(s, site, addr, root, n);
    if (at->kind == SITE_BLOCK_READ) {
        s->needs_taint[s->number] = needs_taint; /* a copy is no use */
        s->block_from = ok ? addr : 0;
        s->block_root = root;
        s->block_object = &s->sites->objects[at->object];
    } else if (ok && s->block_from) {
        pass_undefined(s, site, addr, n);
        s->block_from = 0;
    }
    return ok;
}

void check_on_array(sim_wg *wg, uint32_t site, uint32_t addr)
{
    check_session *s = check_session_of(wg);
    uint32_t n = s->sites->sites[site].bytes;

    memset(&s->shadow[addr], 0, (size_t)n * 4);
    if (s->origins)
        for (uint32_t i = 0; i < n; i++)
            s->origins[addr + i] = site;
}
