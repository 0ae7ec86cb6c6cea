/* See lines.h. */
#include "base/file.h"
#include "runtime/whatif/lines.h"

#include <stdlib.h>
#include <string.h>

/* --- the run --------------------------------------------------------------- */

static vpu_status profile_all(const whatif_config *cfg, const backend *b,
                              const graph *g, arena *a, exec_profile *out,
                              vpu_error *err)
{
    vpu_status st = cfg->fill(cfg->fill_user, b, err);

    b->ops->observe->profile(b->self, "what if", true);
    for (uint32_t i = 0; i < g->n_launches && !st; i++) {
        const backend_launch *l;

        st = backend_run_one(b, i, err);
        if (st)
            break;
        l = backend_launch_of(b, i);
        out[i] =
            (exec_profile){arena_memdup(a, l->profile.rows,
                                        l->profile.n * sizeof *l->profile.rows),
                           l->profile.n};
    }
    return st;
}

vpu_status lines_learn(const whatif_config *cfg, const graph *g, arena *a,
                       exec_profile **out, vpu_error *err)
{
    backend_config run = cfg->run;
    backend b = {0};
    vpu_status st;

    *out = arena_array(a, exec_profile, g->n_launches + 1);
    run.how.engine = EXEC_INTERPRETED;
    st = backend_open(cfg->ops, &run, g, &b, err);
    if (!st)
        st = profile_all(cfg, &b, g, a, *out, err);
    backend_close(&b);
    return st;
}

/* --- what is left ---------------------------------------------------------- */

static const char *file_of(const graph_launch *l)
{
    return l->n_sources ? file_basename(l->sources[0]) : "";
}

static uint64_t stall_of(const exec_profile_row *r)
{
    return r->cycles[MACH_CAUSE_L2] + r->cycles[MACH_CAUSE_DDR] +
           r->cycles[MACH_CAUSE_STORE];
}

void lines_scale(const graph *g, uint32_t i, const exec_profile *rows,
                 const whatif_scale *s, double *issue, double *accesses)
{
    uint64_t issued = 0, stalled = 0, line_issued = 0, line_stalled = 0;

    if (!s->line) {
        *issue *= s->issue;
        *accesses *= s->stall;
        return;
    }
    if (!rows || (s->file && strcmp(s->file, file_of(&g->launches[i])) != 0))
        return;
    for (uint32_t k = 0; k < rows->n; k++) {
        const exec_profile_row *r = &rows->rows[k];

        issued += r->cycles[MACH_CAUSE_ISSUE];
        stalled += stall_of(r);
        if (r->place != EXEC_AT_LINE || r->line != s->line)
            continue;
        line_issued += r->cycles[MACH_CAUSE_ISSUE];
        line_stalled += stall_of(r);
    }
    if (issued)
        *issue *= 1 - (1 - s->issue) * (double)line_issued / (double)issued;
    if (stalled)
        *accesses *=
            1 - (1 - s->stall) * (double)line_stalled / (double)stalled;
}

/* --- knobs ----------------------------------------------------------------- */

typedef struct {
    const char *file;
    uint32_t line;
    uint64_t issue, stall;
} hot_line;

static hot_line *find(hot_line *list, size_t n, const char *file, uint32_t line)
{
    for (size_t k = 0; k < n; k++)
        if (list[k].line == line && !strcmp(list[k].file, file))
            return &list[k];
    return NULL;
}

static int by_cycles(const void *a, const void *b)
{
    const hot_line *x = a, *y = b;
    uint64_t nx = x->issue + x->stall, ny = y->issue + y->stall;

    if (nx != ny)
        return nx > ny ? -1 : 1;
    return strcmp(x->file, y->file) ? strcmp(x->file, y->file)
                                    : (x->line > y->line) - (x->line < y->line);
}

static hot_line *hottest(const graph *g, const exec_profile *profiles, arena *a,
                         size_t *n)
{
    hot_line *list = NULL;
    size_t cap = 0;

    *n = 0;
    for (uint32_t i = 0; i < g->n_launches; i++)
        for (uint32_t k = 0; k < profiles[i].n; k++) {
            const exec_profile_row *r = &profiles[i].rows[k];
            const char *file = file_of(&g->launches[i]);
            hot_line *x;

            if (r->place != EXEC_AT_LINE || !r->line)
                continue;
            x = find(list, *n, file, r->line);
            if (!x) {
                x = arena_append(a, list, *n, cap);
                *x = (hot_line){.file = file, .line = r->line};
            }
            x->issue += r->cycles[MACH_CAUSE_ISSUE];
            x->stall += stall_of(r);
        }
    if (*n)
        qsort(list, *n, sizeof *list, by_cycles);
    return list;
}

static whatif_knob line_knob(const hot_line *x, bool issue, bool half, arena *a)
{
    const char *what = issue ? "issue" : "stall";
    double left = half ? 0.5 : 0;

    return (whatif_knob){
        .name = arena_printf(a, "%s=%s:%u*%s", what, x->file, x->line,
                             half ? "0.5" : "0"),
        .about =
            arena_printf(a, "line %u %s", x->line,
                         issue  ? half ? "in half the cycles" : "in no cycles"
                         : half ? "with half its stalls"
                                : "without its stalls"),
        .scale = {.on = true,
                  .line = x->line,
                  .file = x->file,
                  .issue = issue ? left : 1,
                  .stall = issue ? 1 : left}};
}

vpu_status whatif_line_knobs(const whatif_config *cfg, const graph *g,
                             uint32_t n_lines, arena *a,
                             const whatif_knob **list, size_t *n,
                             vpu_error *err)
{
    exec_profile *profiles;
    whatif_knob *all;
    hot_line *lines;
    size_t n_hot;
    vpu_status st = lines_learn(cfg, g, a, &profiles, err);

    if (st)
        return st;
    lines = hottest(g, profiles, a, &n_hot);
    if (n_hot > n_lines)
        n_hot = n_lines;
    all = arena_array(a, whatif_knob, *n + 4 * n_hot + 1);
    memcpy(all, *list, *n * sizeof *all);
    for (size_t k = 0; k < n_hot; k++)
        for (int half = 0; half < 2; half++) {
            if (lines[k].issue)
                all[(*n)++] = line_knob(&lines[k], true, half, a);
            if (lines[k].stall)
                all[(*n)++] = line_knob(&lines[k], false, half, a);
        }
    *list = all;
    return VPU_OK;
}
