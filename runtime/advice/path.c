/* See path.h. */
#include "runtime/advice/path.h"

#include "sim/machine/critical.h"

const char *path_name(int kind)
{
    return kind == PATH_TRANSFER   ? "transfers"
           : kind == PATH_CHANNELS ? "busy channels"
                                   : mach_cause_name((mach_cause)kind);
}

/* --- adding up ------------------------------------------------------------ */

static void add_up(const critical_result *r, path_result *out)
{
    for (size_t i = 0; i < r->n_segments; i++) {
        const critical_segment *s = &r->segments[i];

        for (int c = 0; s->by_cause && c < MACH_N_CAUSES; c++)
            out->cycles[c] += s->by_cause[c];
        if (s->kind == CRITICAL_TRANSFER)
            out->cycles[PATH_TRANSFER] += s->end - s->begin;
        else if (s->kind == CRITICAL_CHANNELS)
            out->cycles[PATH_CHANNELS] += s->end - s->begin;
    }
    for (size_t i = 0; i < r->n_groups; i++) {
        uint64_t slack = r->groups[i].slack;

        if (!i || slack < out->group_slack[0])
            out->group_slack[0] = slack;
        if (slack > out->group_slack[1])
            out->group_slack[1] = slack;
    }
    out->shave = r->shave;
    out->slack_most = r->slack_most;
}

vpu_status path_of(const mach_record *r, const mach_desc *desc,
                   path_result *out, vpu_error *err)
{
    mach_watch watch = {.path = critical_create(CRITICAL_BYTES)};
    critical_result found;
    mach_profile p;
    vpu_status st;

    *out = (path_result){.total = 0};
    if (!watch.path)
        return err_set(err, VPU_ERR_NOMEM, "no memory for a critical path");
    st = mach_record_replay(r, desc, NULL, &watch, &p, err);
    if (!st)
        st = critical_finish(watch.path, mach_record_launch(r)->n_shaves,
                             p.cycles, &found, err);
    if (!st) {
        out->total = p.cycles;
        add_up(&found, out);
    }
    critical_free(watch.path);
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
