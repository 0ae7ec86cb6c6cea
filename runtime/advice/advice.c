/* See advice.h. */
#include "runtime/advice/advice.h"

#include <stdlib.h>
#include <string.h>

#include "base/oom.h"
#include "runtime/advice/advice_priv.h"

static const struct {
    const char *name;
    whatif_edit edit;
    advice_say *say;
} rules[] = {
#define ADVICE_RULE(id, form, sentence) {id, form, sentence},
#include "runtime/advice/rules.def"
};

typedef struct {
    const graph *g;
    const backend *b;
    const mach_desc *desc;
    arena *a;
    uint64_t total; /* cycles of all launches */
    advice_finding *all;
    size_t n, cap;
} advising;

/* The cause that there is most less of afterwards. */
static mach_cause saved(const mach_profile *before, const mach_profile *after,
                        uint32_t n_shaves)
{
    uint64_t most = 0;
    mach_cause best = MACH_CAUSE_ISSUE;

    for (int c = 0; c < MACH_N_CAUSES; c++) {
        uint64_t was = mach_profile_sum(before, n_shaves, (mach_cause)c);
        uint64_t is = mach_profile_sum(after, n_shaves, (mach_cause)c);

        if (was > is && was - is > most) {
            most = was - is;
            best = (mach_cause)c;
        }
    }
    return best;
}

static bool is_worth_it(const advising *x, uint64_t before, uint64_t after)
{
    return after < before &&
           (double)(before - after) >= ADVICE_WORTH * (double)x->total;
}

static void add(advising *x, size_t rule, uint32_t launch,
                const whatif_edited *edited)
{
    const backend_launch *run = backend_launch_of(x->b, launch);
    advice_case c = {
        .launch = &x->g->launches[launch],
        .run = run,
        .desc = x->desc,
        .edited = edited,
        .cause = saved(&run->exec.profile, &edited->profile, run->n_shaves),
        .file = "",
        .a = x->a};
    str text = {.arena = x->a};

    rules[rule].say(&c, &text);
    *arena_append(x->a, x->all, x->n, x->cap) =
        (advice_finding){.rule = rules[rule].name,
                         .launch = launch,
                         .file = arena_strdup(x->a, c.file),
                         .line = c.line,
                         .cause = mach_cause_name(c.cause),
                         .before = run->exec.profile.cycles,
                         .after = edited->profile.cycles,
                         .text = str_text(&text),
                         .knob = whatif_edit_name(rules[rule].edit)};
}

typedef struct {
    advising *x;
    uint32_t launch;
} question;

static vpu_status ask_rules(void *user, arena *scratch, vpu_error *err)
{
    const question *q = user;
    advising *x = q->x;
    uint32_t i = q->launch;
    const backend_launch *run = backend_launch_of(x->b, i);
    whatif_launch w;
    vpu_status st = VPU_OK;

    whatif_launch_of(&x->g->launches[i], run, x->a, &w);
    w.cycles = run->exec.profile.cycles;
    w.shared = whatif_share(scratch);
    for (size_t r = 0; r < sizeof rules / sizeof *rules && !st; r++) {
        whatif_edited edited;
        bool possible;

        st = whatif_edit_launch(&w, rules[r].edit, x->desc, &possible, &edited,
                                err);
        if (!st && possible &&
            is_worth_it(x, run->exec.profile.cycles, edited.profile.cycles))
            add(x, r, i, &edited);
    }
    return st;
}

static int by_gain(const void *a, const void *b)
{
    const advice_finding *x = a, *y = b;
    uint64_t nx = x->before - x->after, ny = y->before - y->after;

    if (nx != ny)
        return nx > ny ? -1 : 1;
    if (x->launch != y->launch)
        return x->launch < y->launch ? -1 : 1;
    return strcmp(x->rule, y->rule);
}

vpu_status advice_of(const graph *g, const backend *b, const mach_desc *desc,
                     arena *a, advice_findings *out, vpu_error *err)
{
    advising x = {.g = g, .b = b, .desc = desc, .a = a};
    vpu_status st = VPU_OK;

    *out = (advice_findings){.n = 0};
    for (uint32_t i = 0; i < g->n_launches; i++)
        x.total += backend_launch_of(b, i)->exec.profile.cycles;
    for (uint32_t i = 0; i < g->n_launches && !st; i++) {
        const backend_launch *run = backend_launch_of(b, i);

        if (!run->steps || !mach_record_complete(run->steps))
            continue;
        out->known = true;
        st = oom_scratch(ask_rules, &(question){&x, i}, err);
    }
    if (x.n)
        qsort(x.all, x.n, sizeof *x.all, by_gain);
    for (size_t k = 0; k < x.n && k < ADVICE_MAX; k++)
        out->list[out->n++] = x.all[k];
    return st;
}
