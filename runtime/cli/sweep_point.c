/* A point of a sweep: what `vpu run` does with its words, and the figures of
 * its report. */
#include <string.h>
#include <unistd.h>

#include "runtime/cli/run_options.h"
#include "runtime/cli/sweep.h"
#include "runtime/cli/target_graph.h"
#include "runtime/sweep/figures.h"

typedef struct {
    run_options o;
    arena *a;
    target_graph t;
    options_list expects;
} session;

static void say_nothing(void *user, vpu_log_level level, const char *text)
{
    (void)user;
    (void)level;
    (void)text;
}

static void print_nothing(void *user, const char *text, size_t n)
{
    (void)user;
    (void)text;
    (void)n;
}

static vpu_status fill(void *user, vpu_graph *g, vpu_error *err)
{
    return target_graph_fill(&((session *)user)->t, g, err);
}

static vpu_status read_figures(session *s, vpu_result *r, json_t **out,
                               vpu_error *err)
{
    const char *text = vpu_result_json(r);
    json_t *report = text ? json_loads(text, 0, NULL) : NULL;
    double worst = 0;
    vpu_status st;

    if (!report)
        return err_set(err, VPU_ERR_NOMEM, "no memory for the report");
    st = cli_sweep_measure(&s->expects, s->t.graph, s->a, &worst, err);
    if (s->expects.n)
        json_object_set_new(report, "error", json_real(worst));
    *out = st ? NULL : sweep_figures_of(report);
    json_decref(report);
    return st;
}

static vpu_status run(session *s, json_t **out, vpu_error *err)
{
    target_words words = target_words_of(&s->o.target, s->o.backend);
    vpu_run_options options = run_options_words(&s->o);
    vpu_result *r = NULL;
    vpu_status st;

    words.context.log = say_nothing;
    words.context.print = print_nothing;
    words.context.tuned = s->o.tuned;
    words.context.local = s->o.local;
    options.fill = fill;
    options.user = s;
    st = target_graph_open(&s->o.target, &words, s->a, &s->t, err);
    if (!st)
        st = target_graph_check_inputs(&s->t, err);
    if (!st)
        st = vpu_graph_run(s->t.graph, &options, &r, err);
    if (!st)
        st = read_figures(s, r, out, err);
    vpu_result_free(r);
    target_graph_close(&s->t);
    return st;
}

vpu_status cli_sweep_point(void *user, const sweep_words *words, json_t **out,
                           vpu_error *err)
{
    const uint32_t *threads = user;
    session s = {.a = arena_create(0)};
    char **argv = arena_array(s.a, char *, words->n + 2);
    int n = cli_sweep_arguments(words, &s.expects, argv, s.a);
    vpu_status st = VPU_ERR_INVALID;

    /* A line that is refused says why on standard error, which is kept. */
    if (!run_options_parse(n, argv, &s.o, s.a)) {
        if (!s.o.target.how.n_threads)
            s.o.target.how.n_threads = *threads;
        st = run(&s, out, err);
    }
    arena_destroy(s.a);
    return st;
}
