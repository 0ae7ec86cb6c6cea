/* A session's life: launches, groups, intervals. */
#include <string.h>
#include <sys/mman.h>

#include "sim/check/session_priv.h"

#define SHADOW_BYTES ((UINT64_C(4) << 32) + (1 << 20))

enum { MAX_ITEM_BITS = 20, PROGRESS_GROUPS = 16 };

/* --- words --------------------------------------------------------------- */

/* Tags begin again: the words keep what still matters of their order. */
static void renumber(check_session *s, uint32_t *words, uint64_t n, bool cmx)
{
    const check_clock *c = check_session_clock(s, cmx);
    uint32_t flags = (1u << s->tag_shift) - 1;

    for (uint64_t i = 0; i < n; i++) {
        uint32_t w = words[i], tag = check_session_tag(s, w);

        if (!w)
            continue;
        if (tag >= c->group)
            words[i] = (w & flags) | 2u << s->tag_shift;
        else if (cmx)
            words[i] = 0;
        else if (tag >= c->launch)
            words[i] = (w & flags) | 1u << s->tag_shift;
        else
            words[i] = w & SHADOW_INIT;
    }
}

static void begin_again(check_session *s, bool cmx)
{
    check_clock *c = &s->clocks[cmx ? CLOCK_LOCAL : CLOCK_GLOBAL];

    if (cmx)
        renumber(s, s->shadow + s->wg->local_base, memory_cmx_bytes(s->mem),
                 true);
    for (size_t i = 0; i < s->n_buffers && !cmx; i++) {
        check_region *r = &s->buffers[i];

        runs_make_all(s, r);
        if (!r->blank)
            renumber(s, s->shadow + r->address, r->bytes, false);
    }
    runs_tell(s);
    c->launch = 1;
    c->group = 2;
    c->now = 3;
}

static void tell_code(check_session *s)
{
    sim_check *c = &s->wg->check;

    c->shadow = (uint64_t)(uintptr_t)s->shadow;
    c->limits = (uint64_t)(uintptr_t)s->limits;
    c->runs = (uint64_t)(uintptr_t)s->runs;
    c->user = s;
    c->init = SHADOW_INIT;
    for (int k = 0; k < 2; k++) {
        uint32_t now =
            s->clocks[k].now << s->tag_shift | SHADOW_INIT | SHADOW_WRITTEN;

        c->many[k] = now | SHADOW_MANY;
        c->interval[k] = now | SHADOW_WROTE;
        if (s->every_access) /* words that never are */
            c->many[k] = c->interval[k] = UINT32_MAX;
        c->mine[k] = c->interval[k];
    }
    c->floor = s->every_access ? UINT32_MAX
                               : s->clocks[CLOCK_LOCAL].group << s->tag_shift;
    c->now_floor =
        s->every_access ? 0 : s->clocks[CLOCK_LOCAL].now << s->tag_shift;
}

static void advance(check_session *s, bool cmx)
{
    check_clock *c = &s->clocks[cmx ? CLOCK_LOCAL : CLOCK_GLOBAL];

    if (c->now == s->max_tag)
        begin_again(s, cmx);
    else
        c->now++;
    c->interval++;
}

/* A new interval begins: what items did before is ordered before it. */
static void begin_interval(check_session *s, bool local, bool global)
{
    if (local)
        advance(s, true);
    if (global)
        advance(s, false);
    tell_code(s);
}

/* --- what the code and the engine tell ----------------------------------- */

/* Code for checking counts a cycle a block, for --max-cycles alone: what
 * happens here takes the host as long as so many. */
enum { ADVANCE_CYCLES = 500 };

void check_on_barrier(sim_wg *wg)
{
    check_session *s = check_session_of(wg);
    uint32_t fences = s->sites->sites[wg->check.at].fences;

    access_settle(s);
    begin_interval(s, fences & 1, fences & 2);
    exec_charge(wg, ADVANCE_CYCLES);
}

void check_on_undef(sim_wg *wg, uint32_t site)
{
    check_session *s = check_session_of(wg);

    (void)site;
    s->needs_taint[s->number] = true;
}

const sim_hooks check_hooks = {
#define HOOK_EVERY(returns, name, parameters) .name = exec_##name,
#define HOOK_COPIES(returns, name, parameters) .name = check_on_##name,
#define HOOK_ORDERS(returns, name, parameters) .name = check_on_##name,
#define HOOK_CHECKS(returns, name, parameters) .name = check_on_##name,
#include "sim/compiler/abi/hooks.def"
};

static void group_begin(void *user, sim_wg *wg, uint64_t index, uint64_t group,
                        const uint8_t *args)
{
    check_session *s = user;
    const uint32_t *n = s->launch->groups;

    /* Without time all groups are one round, which tells of its end alone. */
    if (index % PROGRESS_GROUPS == 0)
        log_progress(s->launch->log,
                     &(log_step){s->launch->name, "work-groups", index,
                                 (uint64_t)n[0] * n[1] * n[2]});
    s->wg = wg;
    s->group = group;
    s->args = args;
    wg->check = (sim_check){0};
    begin_interval(s, true, true);
    exec_charge(wg, ADVANCE_CYCLES);
    for (int k = 0; k < 2; k++)
        s->clocks[k].group = s->clocks[k].now;
    tell_code(s);
}

static void phase_begin(void *user, sim_wg *wg, mach_phase phase,
                        const isa_function *f)
{
    check_session *s = user;

    (void)f;
    s->phase = phase;
    runs_tell(s);
    s->n_transfers = s->first_open = 0;
    s->n_events = 0;
    s->same_site = 0;
    wg->check.at = wg->check.before = wg->check.item = 0;
    wg->check.at_item = UINT32_MAX;
    if (phase != MACH_PRE) /* phases come one after the other */
        begin_interval(s, true, true);
}

static void phase_end(void *user, sim_wg *wg, mach_phase phase, uint64_t cycles)
{
    (void)cycles;
    (void)wg;
    (void)phase;
    access_settle(user);
    copies_end(user);
}

static void diverged(check_session *s, uint32_t line)
{
    const sim_check *c = &s->wg->check;
    bool reached = c->at_item == c->item;
    uint32_t here = reached ? c->at : 0, there = reached ? c->before : c->at;
    check_finding *f = check_finding_add(
        s, CHECK_DIVERGENCE, here ? here : there, NULL, line,
        reached ? "not all work-items of the group get here"
                : "a work-item ends while others of its group "
                  "wait here");

    if (!f)
        return;
    if (reached && there)
        f->other = (check_party){.at = &s->sites->sites[there].at,
                                 .what = "items before it wait",
                                 .has_group = true,
                                 .group = s->group};
    else if (reached)
        f->other = (check_party){.what = "items before it have ended"};
}

static void stopped(void *user, sim_wg *wg, const exec_stop *why)
{
    check_session *s = user;

    (void)wg;
    access_settle(s);
    if (why->kind == EXEC_STOP_DIVERGENCE)
        diverged(s, why->line);
    else if (why->kind == EXEC_STOP_ACCESS)
        check_finding_add(s, CHECK_BOUNDS, 0, NULL, why->address,
                          "%s address 0x%08x, which no buffer has",
                          why->write ? "writes" : "reads", why->address);
}

/* --- sessions ------------------------------------------------------------ */

static uint32_t *reserve(void)
{
    void *at = mmap(NULL, SHADOW_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    madvise(at, SHADOW_BYTES, MADV_HUGEPAGE); /* fewer faults */
    return at;
}

/* What the session before found and a second look tells more of. */
static void set_watches(check_session *s)
{
    const check_session *o = s->cfg.again;

    for (size_t i = 0; o && i < o->n_findings; i++)
        if (o->watched_at[i])
            *arena_append(s->arena, s->watches, s->n_watches, s->cap_watches) =
                (check_watch){.address = o->watched_at[i],
                              .launch = o->findings[i].launch};
}

vpu_status check_open(memory *mem, const check_config *cfg, check_session **out,
                      vpu_error *err)
{
    arena *a = arena_create(0);
    check_session *s = arena_new(a, check_session);
    vpu_status st;

    *out = NULL;
    s->arena = a;
    s->cfg = *cfg;
    s->mem = mem;
    s->window = memory_window(mem);
    s->shadow = reserve();
    st = s->shadow ? memory_alloc(mem, "(checker)", SINK_BYTES, &s->sink, err)
                   : err_set(err, VPU_ERR_NOMEM,
                             "cannot reserve 16 GiB of address space for "
                             "checking (ulimit -v?)");
    set_watches(s);
    if (st) {
        check_close(s);
        return st;
    }
    *out = s;
    return VPU_OK;
}

void check_end(check_session *s)
{
    for (size_t i = 0; i < s->n_buffers; i++)
        runs_close(&s->buffers[i]);
    if (s->shadow)
        munmap(s->shadow, SHADOW_BYTES);
    if (s->origins)
        munmap(s->origins, SHADOW_BYTES);
    s->shadow = s->origins = NULL;
}

void check_close(check_session *s)
{
    if (!s)
        return;
    check_end(s);
    for (size_t i = 0; i < s->n_findings; i++)
        check_findings_free(&s->findings[i]);
    arena_destroy(s->arena);
}

void check_buffer(check_session *s, const char *name, uint32_t number,
                  uint32_t address, uint64_t bytes, bool written)
{
    bool alone = true;
    check_region *r;

    /* What is known of a byte that two have is in its word. */
    for (size_t i = 0; i < s->n_buffers; i++) {
        r = &s->buffers[i];
        if (address >= r->address + r->bytes || r->address >= address + bytes)
            continue;
        runs_make_all(s, r);
        r->shared = true;
        alone = false;
    }
    r = arena_append(s->arena, s->buffers, s->n_buffers, s->cap_buffers);
    *r = (check_region){.name = arena_strdup(s->arena, name),
                        .number = number,
                        .address = address,
                        .bytes = bytes,
                        .full = written,
                        .blank = written,
                        .shared = !alone};
    if (alone && !written)
        runs_open(r);
}

static void make_words(check_session *s, check_region *r)
{
    for (uint64_t i = 0; i < r->bytes && r->blank; i++)
        s->shadow[r->address + i] = SHADOW_INIT;
    r->blank = false;
}

/* --- launches ------------------------------------------------------------ */

/* Of the words there is left who is written. Are all? */
static bool forget_words(check_session *s, check_region *r)
{
    bool full = true;

    if (runs_fill(r)) { /* as an input: nobody looked at its words */
        runs_close(r);
        r->blank = true;
    }
    for (uint64_t k = 0; k < r->bytes && !r->blank; k++) {
        uint32_t w;

        if (k % SIM_RUN_BYTES == 0 && runs_unused(s, r, k)) {
            full = false;
            k += SIM_RUN_BYTES - 1;
            continue;
        }
        w = s->shadow[r->address + k];
        if (w & ~SHADOW_INIT)
            s->shadow[r->address + k] = w & SHADOW_INIT;
        full &= (w & SHADOW_INIT) != 0;
    }
    return full;
}

/* What launches before did is ordered before this one. */
static void forget_order(check_session *s)
{
    uint32_t shaves = s->launch->how.n_shaves;
    uint64_t from = memory_cmx(s->mem, 0);
    uint64_t to =
        memory_cmx(s->mem, shaves - 1) + (uint64_t)memory_cmx_bytes(s->mem);

    for (size_t i = 0; i < s->n_buffers; i++)
        s->buffers[i].full = forget_words(s, &s->buffers[i]);
    from = (from * 4 + 4095) / 4096 * 4096;
    to = to * 4 / 4096 * 4096;
    madvise((char *)s->shadow + from, to - from, MADV_DONTNEED);
}

/* Some access is through a pointer of which nobody knows where it is from. */
static bool has_unknown(const check_session *s)
{
    for (uint32_t i = 1; i < s->sites->n_sites; i++)
        if (!s->sites->sites[i].object &&
            s->sites->sites[i].kind <= SITE_BLOCK_READ)
            return true;
    return false;
}

static bool shares_buffer(check_session *s, uint32_t i, uint32_t k)
{
    const sim_kernel *kernel = s->launch->kernel;
    const exec_value *v = s->launch->values;

    return i != k && kernel->args[k].space != SIM_ARG_SCALAR &&
           kernel->args[k].space != SIM_ARG_LOCAL &&
           bounds_region(s, v[i].as.address) ==
               bounds_region(s, v[k].as.address);
}

/* Sets the argument's limit, and what two arguments with one buffer need. */
static void prepare_arg(check_session *s, uint32_t i)
{
    const sim_arg *g = &s->launch->kernel->args[i];
    const exec_value *v = &s->launch->values[i];
    const sim_object *o = &s->sites->objects[1 + i];
    check_region *r;
    bool written = o->written;

    s->limits[i] = 0;
    s->regions[i] = NULL;
    if (g->space == SIM_ARG_LOCAL)
        s->limits[i] = v->as.bytes;
    if (g->space == SIM_ARG_SCALAR || g->space == SIM_ARG_LOCAL)
        return;
    r = bounds_region(s, v->as.address);
    if (!r)
        return;
    s->regions[i] = r;
    for (uint32_t k = 0; k < s->launch->kernel->n_args; k++) {
        const sim_object *p = &s->sites->objects[1 + k];

        if (!shares_buffer(s, i, k))
            continue;
        written |= p->written;
        if ((o->restricted || p->restricted) && written) {
            s->through_of = r;
            s->every_access = true;
        }
    }
    if (written)
        make_words(s, r);
    if (o->written) {
        r->launch = s->number;
        r->kernel = s->launch->kernel->name;
    }
    /* Code that takes a buffer for one nobody writes looks at no words. */
    if (o->written || (!written && r->full))
        s->limits[i] = r->address + r->bytes - v->as.address;
}

static void prepare(check_session *s)
{
    uint64_t items = 1;

    s->n_items = 1;
    for (int d = 0; d < 3; d++)
        items *= s->launch->local[d];
    s->n_items = (uint32_t)items;
    for (s->item_bits = 0;
         s->item_bits < MAX_ITEM_BITS && (UINT64_C(1) << s->item_bits) < items;)
        s->item_bits++;
    s->tag_shift = SHADOW_ITEM_SHIFT + s->item_bits;
    s->max_tag = UINT32_MAX >> s->tag_shift;
    for (int k = 0; k < 2; k++)
        s->clocks[k] = (check_clock){1, 1, 1, s->clocks[k].interval};
    forget_order(s);
    check_rows_forget(s);
    s->rows.in_vain = 0;
    s->through_of = NULL;
    s->every_access = false;
    for (size_t i = 0; i < s->n_watches; i++)
        s->every_access |= s->watches[i].launch == s->number;
    for (uint32_t i = 0; i < s->launch->kernel->n_args; i++)
        prepare_arg(s, i);
    if (s->through_of)
        s->through = arena_push(s->arena, s->through_of->bytes, 1, 1);
    if (s->through_of)
        memset(s->through, 0, s->through_of->bytes);
    if (s->every_access)
        memset(s->limits, 0, sizeof s->limits);
    if (s->every_access || s->sites->tainted || has_unknown(s))
        for (size_t i = 0; i < s->n_buffers; i++) {
            make_words(s, &s->buffers[i]);
            runs_make_all(s, &s->buffers[i]);
        }
    if (s->sites->tainted && !s->origins)
        s->origins = reserve();
}

static bool size_fits(check_session *s)
{
    const uint32_t *want = s->launch->kernel->reqd_local;
    const uint32_t *is = s->launch->local;

    for (int d = 0; d < 3; d++)
        if (want[d] && want[d] != is[d]) {
            check_finding_add(
                s, CHECK_GROUP_SIZE, 0, NULL, 0,
                "the kernel requires work-groups of %ux%ux%u, the "
                "launch has %ux%ux%u: it does not run",
                want[0], want[1], want[2], is[0], is[1], is[2]);
            return false;
        }
    return true;
}

vpu_status check_launch(check_session *s, const mach_desc *desc,
                        const exec_launch *l, uint32_t number, vpu_error *err)
{
    const exec_observer observer = {.name = "the checkers",
                                    .needs =
                                        EXEC_NEED_ORDER | EXEC_NEED_HOST_CODE |
                                        EXEC_NEED_NO_TIME | EXEC_NEED_SITES,
                                    .user = s,
                                    .group_begin = group_begin,
                                    .phase_begin = phase_begin,
                                    .phase_end = phase_end,
                                    .stopped = stopped};
    const exec_observer *const list = &observer;
    exec_launch el = *l;
    exec_result r;
    vpu_status st;

    while (s->n_launches <= number)
        *arena_append(s->arena, s->needs_taint, s->n_launches,
                      s->cap_launches) = false;
    s->launched = *l;
    s->launch = &s->launched;
    s->sites = l->kernel->sites;
    s->number = number;
    s->wg = &s->nobody;
    s->group = 0;
    if (!size_fits(s)) {
        s->skipped = true;
        return VPU_OK;
    }
    prepare(s);
    el.how.timing = EXEC_NO_TIMING;
    el.how.engine = EXEC_COMPILED;
    el.observers = &list;
    el.n_observers = 1;
    st = exec_run(s->mem, desc, &el, &r, err);
    s->wg = &s->nobody;
    s->args = NULL;
    return st;
}

bool check_local_memory(check_session *s, const mach_desc *desc,
                        const exec_launch *plain, uint32_t number)
{
    str list = {0};
    uint32_t n =
        exec_local_bytes(plain, sim_pick_variant(plain->kernel, plain->local),
                         desc->ocl_local_budget, &list);

    s->launched = *plain;
    s->launch = &s->launched;
    s->sites = NULL;
    s->number = number;
    s->wg = &s->nobody;
    if (n > desc->ocl_local_budget)
        check_finding_add(
            s, CHECK_LOCAL_MEMORY, 0, NULL, 0,
            "a work-group needs %u bytes of local memory, the device "
            "has %llu:%s",
            n, (unsigned long long)desc->ocl_local_budget, str_text(&list));
    str_free(&list);
    s->skipped |= n > desc->ocl_local_budget;
    return n <= desc->ocl_local_budget;
}

static void note_unwritten(check_session *s, const check_region *r,
                           uint32_t element, uint64_t first, uint64_t n)
{
    check_extent e = {.memory = {.kind = SIM_MEM_ARG,
                                 .name = r->name,
                                 .arg = "",
                                 .buffer = r->number,
                                 .bytes = (int64_t)r->bytes,
                                 .offset = (int64_t)(first * element)},
                      .base = r->address};
    check_finding *f = check_finding_add(
        s, CHECK_UNWRITTEN, 0, &e, r->number,
        "%llu of %llu elements were never written", (unsigned long long)n,
        (unsigned long long)(r->bytes / element));

    if (!f)
        return;
    f->element_bytes = element;
    f->elements = n;
    f->by = (check_party){0};
    if (r->kernel) {
        f->launch = r->launch;
        f->kernel = r->kernel;
    }
}

void check_filled(check_session *s, uint32_t address, uint64_t bytes)
{
    runs_make(s, address, bytes);
    for (uint64_t i = 0; i < bytes; i++)
        s->shadow[address + i] |= SHADOW_INIT;
}

void check_written(check_session *s, uint32_t number, uint32_t element_bytes)
{
    if (s->skipped)
        return;
    for (size_t i = 0; i < s->n_buffers; i++) {
        const check_region *r = &s->buffers[i];
        uint64_t n = 0, first = 0;

        if (r->number != number || r->blank || runs_fill(r))
            continue;
        for (uint64_t k = 0; k < r->bytes / element_bytes; k++) {
            uint32_t all = SHADOW_INIT;

            if (runs_hold(s, r, k * element_bytes, element_bytes))
                continue;
            for (uint32_t b = 0; b < element_bytes; b++)
                all &= s->shadow[r->address + k * element_bytes + b];
            if (!all && !n++)
                first = k;
        }
        if (n)
            note_unwritten(s, r, element_bytes, first, n);
    }
}

void check_written_bits(const check_session *s, uint32_t number, uint8_t *bits)
{
    for (size_t i = 0; i < s->n_buffers; i++) {
        const check_region *r = &s->buffers[i];

        if (r->number == number && (r->blank || r->full)) {
            memset(bits, 0xff, (r->bytes + 7) / 8);
            continue;
        }
        for (uint64_t k = 0; k < r->bytes && r->number == number; k++)
            if (runs_hold(s, r, k, 1) ||
                s->shadow[r->address + k] & SHADOW_INIT)
                bits[k / 8] |= (uint8_t)(1u << k % 8);
    }
}

bool check_ran_all(const check_session *s)
{
    return !s->skipped;
}

bool check_needs_taint(const check_session *s, uint32_t number)
{
    return number < s->n_launches && s->needs_taint[number];
}

bool check_needs_again(const check_session *s)
{
    for (size_t i = 0; i < s->n_findings; i++)
        if (s->watched_at[i])
            return true;
    return false;
}
