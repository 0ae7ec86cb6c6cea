/* See path.h. */
#include "runtime/advice/path.h"

#include <stdlib.h>

#include "base/oom.h"

const char *path_name(int kind)
{
    return kind == PATH_TRANSFER   ? "transfers"
           : kind == PATH_CHANNELS ? "busy channels"
                                   : mach_cause_name((mach_cause)kind);
}

/* --- what is watched ------------------------------------------------------ */

/* Of a SHAVE, one behind the other from cycle 0 on. */
typedef struct {
    uint64_t end;
    mach_cause cause;
} stretch;

typedef struct {
    uint64_t asked, begin, end;
} moved;

typedef struct {
    stretch *stretches;
    size_t n, cap;
    moved *transfers; /* in the order of their ends */
    size_t n_moved, cap_moved;
} shave;

/* Together; more are not looked at. */
enum { MOST = 4 << 20 };

typedef struct {
    shave shaves[MACH_MAX_SHAVES];
    size_t n; /* of all */
} watching;

static void *grow(void *items, size_t n, size_t *cap, size_t bytes)
{
    if (n < *cap)
        return items;
    *cap = *cap ? 2 * *cap : 64;
    return oom_realloc(items, *cap * bytes);
}

static void on_cause(void *user, uint32_t i, uint64_t now, uint64_t cycles,
                     mach_cause cause)
{
    watching *w = user;
    shave *s = &w->shaves[i];
    uint64_t begin = s->n ? s->stretches[s->n - 1].end : 0;

    (void)now;
    if (s->n && s->stretches[s->n - 1].cause == cause) {
        s->stretches[s->n - 1].end += cycles;
        return;
    }
    if (w->n++ >= MOST)
        return;
    s->stretches = grow(s->stretches, s->n, &s->cap, sizeof *s->stretches);
    s->stretches[s->n++] = (stretch){begin + cycles, cause};
}

static void on_transfer(void *user, const mach_moved *m)
{
    watching *w = user;
    shave *s = &w->shaves[m->shave];

    if (w->n++ >= MOST)
        return;
    s->transfers =
        grow(s->transfers, s->n_moved, &s->cap_moved, sizeof *s->transfers);
    s->transfers[s->n_moved++] = (moved){m->asked, m->begin, m->end};
}

/* --- backwards ------------------------------------------------------------ */

/* Where the SHAVE is done: its last stretch that is not idle. */
static uint64_t done_at(const shave *s)
{
    size_t n = s->n;

    while (n && s->stretches[n - 1].cause == MACH_CAUSE_IDLE)
        n--;
    return n ? s->stretches[n - 1].end : 0;
}

/* The stretch that contains the cycle before t. */
static size_t stretch_at(const shave *s, uint64_t t)
{
    size_t low = 0, high = s->n - 1;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (s->stretches[middle].end < t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The SHAVE's last transfer that ended by t; NULL: none. */
static const moved *moved_by(const shave *s, uint64_t t)
{
    size_t low = 0, high = s->n_moved;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (s->transfers[middle].end <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &s->transfers[low - 1] : NULL;
}

static void walk(const shave *s, path_result *out)
{
    uint64_t t = done_at(s);

    while (t && s->n) {
        size_t k = stretch_at(s, t);
        uint64_t begin = k ? s->stretches[k - 1].end : 0;
        mach_cause cause = s->stretches[k].cause;
        const moved *m = cause == MACH_CAUSE_DMA_WAIT ? moved_by(s, t) : NULL;

        if (m && m->end > begin && m->asked < t) {
            /* What passes between its end and the SHAVE's going on counts for
             * the transfer, too. */
            out->cycles[PATH_TRANSFER] += t - m->begin;
            out->cycles[PATH_CHANNELS] += m->begin - m->asked;
            t = m->asked;
        } else {
            out->cycles[cause] += t - begin;
            t = begin;
        }
    }
}

static void look(const watching *w, uint32_t n_shaves, path_result *out)
{
    uint64_t first = UINT64_MAX, last = 0;

    for (uint32_t i = 0; i < n_shaves; i++) {
        uint64_t end = done_at(&w->shaves[i]);

        if (end > last) {
            last = end;
            out->shave = i;
        }
        first = end < first ? end : first;
    }
    out->slack_most = last - (first < last ? first : last);
    walk(&w->shaves[out->shave], out);
    /* What the launch does when all SHAVEs are done. */
    out->cycles[MACH_CAUSE_DISPATCH] += out->total - last;
}

typedef struct {
    const mach_record *r;
    const mach_desc *desc;
    watching w;
    path_result *out;
} finding;

static vpu_status find(void *user, vpu_error *err)
{
    finding *f = user;
    const mach_watch watch = {
        .cause = on_cause, .transfer = on_transfer, .user = &f->w};
    mach_profile p;
    vpu_status st = mach_record_replay(f->r, f->desc, NULL, &watch, &p, err);

    if (st)
        return st;
    if (f->w.n > MOST)
        return err_set(err, VPU_ERR_LIMIT, "more than %d steps", MOST);
    f->out->total = p.cycles;
    look(&f->w, mach_record_launch(f->r)->n_shaves, f->out);
    return VPU_OK;
}

vpu_status path_of(const mach_record *r, const mach_desc *desc,
                   path_result *out, vpu_error *err)
{
    finding f = {.r = r, .desc = desc, .out = out};
    vpu_status st;

    *out = (path_result){.total = 0};
    st = oom_guard(find, &f, err);
    for (int i = 0; i < MACH_MAX_SHAVES; i++) {
        free(f.w.shaves[i].stretches);
        free(f.w.shaves[i].transfers);
    }
    return st;
}

/* --- words ---------------------------------------------------------------- */

static bool is_memory(int kind)
{
    return kind == MACH_CAUSE_L2 || kind == MACH_CAUSE_DDR ||
           kind == MACH_CAUSE_STORE;
}

void path_text(const path_result *p, const char *where, str *out)
{
    bool told[PATH_N_KINDS] = {false};

    for (uint32_t n = 0;; n++) {
        int best = -1;

        for (int k = 0; k < PATH_N_KINDS; k++)
            if (!told[k] && (best < 0 || p->cycles[k] > p->cycles[best]))
                best = k;
        if (best < 0 || p->cycles[best] * 100 < p->total)
            return;
        told[best] = true;
        str_printf(out, "%s%s %.0f %%", n ? ", " : "", path_name(best),
                   100 * (double)p->cycles[best] / (double)p->total);
        if (where && is_memory(best))
            str_printf(out, " (%s)", where);
    }
}
