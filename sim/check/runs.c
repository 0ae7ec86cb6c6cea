/* Stores that follow each other, told by one word: of each block of a buffer
 * nobody used before, the bytes written first, as long as each store begins
 * where the one before it ended and the words go up evenly: by the same item,
 * the next, or an item of the next group. Their words are not made until
 * somebody wants to know more, so most are never made. */
#include <stdlib.h>

#include "sim/check/session_priv.h"

static uint64_t n_blocks(const check_region *r)
{
    return (r->bytes + CHECK_RUN_BYTES - 1) / CHECK_RUN_BYTES;
}

/* Planes of a tensor, a power of two apart, that an item goes through: a bit of
 * shift keeps their runs from one set of the host's cache. */
static uint64_t place(uint64_t block)
{
    return block + (block >> 7);
}

static check_run *run_at(const check_region *r, uint64_t off)
{
    return &r->runs[place(off / CHECK_RUN_BYTES)];
}

void runs_open(check_region *r)
{
    /* Without memory for it each byte has its word from the start. */
    r->runs = calloc(place(n_blocks(r)) + 1, sizeof *r->runs);
}

void runs_close(check_region *r)
{
    free(r->runs);
    r->runs = NULL;
}

static void make(const check_session *s, const check_region *r, uint64_t block)
{
    check_run *b = run_at(r, block * CHECK_RUN_BYTES);
    uint32_t *words = s->shadow + r->address + block * CHECK_RUN_BYTES;
    uint32_t word = b->word;

    words += b->from;
    for (uint32_t k = 0; k < b->count; k++, word += b->step)
        for (uint32_t i = 0; i < b->element; i++)
            *words++ = word;
    *b = (check_run){.made = true};
}

static void make_from(const check_session *s, const check_region *r,
                      uint64_t from, uint64_t n)
{
    uint64_t end = from + n < r->bytes ? from + n : r->bytes;

    for (uint64_t k = from / CHECK_RUN_BYTES; k * CHECK_RUN_BYTES < end; k++)
        if (!run_at(r, k * CHECK_RUN_BYTES)->made)
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

/* May the store be the run's next? */
static bool goes_on(check_run *b, uint32_t in, uint32_t n, uint32_t word)
{
    if (n != b->element || in != b->from + b->count * n)
        return false;
    if (b->count == 1)
        b->step = word - b->word;
    return word == b->word + b->count * b->step;
}

/* Notes the store; false: nothing is changed. */
static bool goes_on_at(const check_region *r, uint32_t off, uint32_t n,
                       uint32_t word)
{
    uint32_t in = off % CHECK_RUN_BYTES;
    check_run *b = run_at(r, off);

    if (!b->made && in + n <= CHECK_RUN_BYTES) {
        if (!b->count)
            *b = (check_run){
                .word = word, .from = (uint8_t)in, .element = (uint8_t)n};
        if (!b->count || goes_on(b, in, n, word)) {
            b->count++;
            return true;
        }
    }
    return false;
}

bool runs_store(check_session *s, const check_region *r, uint32_t addr,
                uint32_t n, uint32_t word)
{
    if (goes_on_at(r, addr - r->address, n, word))
        return true;
    make_from(s, r, addr - r->address, n);
    return false;
}

/* A function of its own, and this short, for it is called for most stores to
 * global memory. */
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
    uint32_t in = (uint32_t)(off % CHECK_RUN_BYTES);
    const check_run *b;

    if (!r->runs)
        return false;
    b = run_at(r, off);
    if (b->made && in + n <= CHECK_RUN_BYTES)
        return false;
    if (!b->made && in >= b->from &&
        in + n <= b->from + (uint32_t)b->count * b->element)
        return true;
    make_from(s, r, off, n);
    return false;
}

bool runs_unused(check_session *s, const check_region *r, uint64_t off)
{
    const check_run *b;

    if (!r->runs)
        return false;
    b = run_at(r, off);
    if (!b->made && !b->count)
        return true;
    make_from(s, r, off, 1);
    return false;
}

bool runs_fill(const check_region *r)
{
    if (!r->runs)
        return false;
    for (uint64_t off = 0; off < r->bytes; off += CHECK_RUN_BYTES) {
        const check_run *b = run_at(r, off);
        uint64_t left = r->bytes - off;

        if (b->made || (uint64_t)b->count * b->element !=
                           (left < CHECK_RUN_BYTES ? left : CHECK_RUN_BYTES))
            return false;
    }
    return true;
}
