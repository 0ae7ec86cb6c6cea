/* Stores that follow each other, told by one entry: of each block of a buffer
 * nobody used before, the bytes written first, as long as each store begins
 * where the one before it ended and the words go up evenly: by the same item,
 * the next, or an item of the next group. Their words are not made until
 * somebody wants to know more, so most are never made. */
#include <stdlib.h>

#include "sim/check/session_priv.h"

static uint64_t n_blocks(const check_region *r)
{
    return (r->bytes + SIM_RUN_BYTES - 1) / SIM_RUN_BYTES;
}

static sim_check_run *run_at(const check_region *r, uint64_t off)
{
    return &r->runs[off / SIM_RUN_BYTES];
}

static bool is_made(const sim_check_run *b)
{
    return b->element == SIM_RUN_MADE;
}

void runs_open(check_region *r)
{
    /* Without memory for it each byte has its word from the start. */
    r->runs = calloc(n_blocks(r) + 1, sizeof *r->runs);
}

void runs_close(check_region *r)
{
    free(r->runs);
    r->runs = NULL;
}

static void make(const check_session *s, const check_region *r, uint64_t block)
{
    sim_check_run *b = run_at(r, block * SIM_RUN_BYTES);
    uint32_t *words = s->shadow + r->address + block * SIM_RUN_BYTES;
    uint32_t word = b->next_word - b->count * b->step;

    words += b->from;
    for (uint32_t k = 0; k < b->count; k++, word += b->step)
        for (uint32_t i = 0; i < b->element; i++)
            *words++ = word;
    *b = (sim_check_run){.next = (uint32_t)SIM_RUN_ENDS,
                         .element = SIM_RUN_MADE};
}

static void make_from(const check_session *s, const check_region *r,
                      uint64_t from, uint64_t n)
{
    uint64_t end = from + n < r->bytes ? from + n : r->bytes;

    for (uint64_t k = from / SIM_RUN_BYTES; k * SIM_RUN_BYTES < end; k++)
        if (!is_made(run_at(r, k * SIM_RUN_BYTES)))
            make(s, r, k);
}

void runs_make(check_session *s, uint32_t addr, uint64_t n)
{
    const check_region *r = bounds_region(s, addr);

    if (r && r->runs && n)
        make_from(s, r, addr - r->address, n);
}

void runs_make_all(check_session *s, check_region *r)
{
    if (r->runs)
        make_from(s, r, 0, r->bytes);
    runs_close(r);
}

/* Is there room in the block of a store for n bytes behind it? */
static uint32_t place_behind(uint32_t off, uint32_t n)
{
    return off % SIM_RUN_BYTES + 2 * n <= SIM_RUN_BYTES
               ? off + n
               : (uint32_t)SIM_RUN_ENDS;
}

/* Notes the store; false: nothing is changed. Compiled code does the same
 * (sim/compiler/host/check.c). */
static bool goes_on_at(const check_region *r, uint32_t off, uint32_t n,
                       uint32_t word)
{
    uint32_t in = off % SIM_RUN_BYTES;
    sim_check_run *b = run_at(r, off);

    if (is_made(b) || in + n > SIM_RUN_BYTES || n >= SIM_RUN_MADE)
        return false;
    if (!b->count)
        *b = (sim_check_run){
            .next_word = word, .from = (uint8_t)in, .element = (uint8_t)n};
    else if (b->next != off || b->element != n)
        return false;
    else if (b->count == 1) {
        b->step = word - b->next_word;
        b->next_word = word;
    } else if (b->next_word != word)
        return false;
    b->next = place_behind(off, n);
    b->next_word += b->step;
    b->count++;
    return true;
}

bool runs_take(const check_region *r, uint32_t off, uint32_t n, uint32_t k,
               uint32_t word, uint32_t step, bool note)
{
    sim_check_run *at = run_at(r, off), b = *at;
    uint32_t in = off % SIM_RUN_BYTES, last = word + (k - 1) * step;

    if (is_made(&b))
        return false;
    if (!b.count)
        b = (sim_check_run){.step = k > 1 ? step : 0,
                            .from = (uint8_t)in,
                            .element = (uint8_t)n};
    else if (b.next != off || b.element != n)
        return false;
    else if (b.count == 1)
        b.step = word - b.next_word;
    else if (b.next_word != word)
        return false;
    if (k > 1 && b.step != step)
        return false;
    if (!note)
        return true;
    b.next = place_behind(off + (k - 1) * n, n);
    b.next_word = last + b.step;
    b.count = (uint16_t)(b.count + k);
    *at = b;
    return true;
}

bool runs_store(check_session *s, const check_region *r, uint32_t addr,
                uint32_t n, uint32_t word)
{
    if (goes_on_at(r, addr - r->address, n, word))
        return true;
    make_from(s, r, addr - r->address, n);
    return false;
}

/* What a run takes needs no look; compiled code calls for what it does not note
 * itself. */
uint32_t check_on_access(sim_wg *wg, uint32_t site, uint32_t addr,
                         uint32_t root)
{
    check_session *s = check_session_of(wg);
    const sim_site *at = &s->sites->sites[site];
    const sim_object *o = &s->sites->objects[at->object];
    const check_region *r;

    if (at->kind != SITE_STORE || o->kind != SIM_MEM_ARG || s->every_access ||
        s->pending.bytes || s->phase != MACH_COMP || addr & (at->align - 1))
        return access_look(wg, site, addr, root);
    r = s->regions[o->index];
    if (r && r->runs &&
        (uint64_t)(addr - root) + at->bytes <= s->limits[o->index] &&
        goes_on_at(r, addr - r->address, at->bytes,
                   check_session_word(s, false, SHADOW_WROTE) | SHADOW_INIT))
        return addr;
    return access_look(wg, site, addr, root);
}

bool runs_hold(const check_session *s, const check_region *r, uint64_t off,
               uint32_t n)
{
    uint32_t in = (uint32_t)(off % SIM_RUN_BYTES);
    const sim_check_run *b;

    if (!r->runs)
        return false;
    b = run_at(r, off);
    if (is_made(b) && in + n <= SIM_RUN_BYTES)
        return false;
    if (!is_made(b) && in >= b->from &&
        in + n <= b->from + (uint32_t)b->count * b->element)
        return true;
    make_from(s, r, off, n);
    return false;
}

bool runs_unused(check_session *s, const check_region *r, uint64_t off)
{
    const sim_check_run *b;

    if (!r->runs)
        return false;
    b = run_at(r, off);
    if (!is_made(b) && !b->count)
        return true;
    make_from(s, r, off, 1);
    return false;
}

void runs_tell(check_session *s)
{
    for (uint32_t i = 0; i < s->launch->kernel->n_args; i++) {
        const check_region *r = s->regions[i];
        bool has = r && r->runs && s->phase == MACH_COMP;

        s->runs[i] = (sim_check_runs){has ? (uint64_t)(uintptr_t)r->runs : 0,
                                      has ? r->address : 0};
    }
}

bool runs_fill(const check_region *r)
{
    if (!r->runs)
        return false;
    for (uint64_t off = 0; off < r->bytes; off += SIM_RUN_BYTES) {
        const sim_check_run *b = run_at(r, off);
        uint64_t left = r->bytes - off;

        if (is_made(b) || (uint64_t)b->count * b->element !=
                              (left < SIM_RUN_BYTES ? left : SIM_RUN_BYTES))
            return false;
    }
    return true;
}
