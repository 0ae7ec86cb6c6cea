/* vpu sweep serve: points asked for one by one, for programs that search. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/nearest.h"
#include "runtime/cli/ending.h"
#include "runtime/cli/sweep.h"

static const cli_table tables[] = {{&cli_sweep_limit_options, 0}};

typedef struct {
    sweep_store store;
    sweep_choices choices;
    sweep_workers_config config;
    sweep_single worker;
    arena *a;
} session;

/* A line, at once. Takes the reference. */
static void say(json_t *j)
{
    char *text = json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(17));

    json_decref(j);
    if (text) {
        ending_print(text, strlen(text));
        ending_print("\n", 1);
    }
    free(text);
    fflush(stdout);
}

/* --- columns -------------------------------------------------------------- */

static json_t *json_dimension(const sweep_dimension *d)
{
    json_t *choices;

    if (!d->n)
        return json_pack("{s:s, s:f, s:f, s:b}", "name", d->name, "low", d->low,
                         "high", d->high, "whole", d->whole);
    choices = json_array();
    for (size_t i = 0; i < d->n; i++)
        json_array_append_new(choices, jsontext_string(d->choices[i].text));
    return json_pack("{s:s, s:o}", "name", d->name, "choices", choices);
}

static void say_columns(const session *s)
{
    const sweep_manifest *m = &s->choices.manifest;
    json_t *list = json_array();

    for (size_t d = 0; d < m->n_dims; d++)
        json_array_append_new(list, json_dimension(&m->dims[d]));
    say(json_pack("{s:o}", "columns", list));
}

/* --- questions ------------------------------------------------------------ */

static vpu_status find_column(const sweep_manifest *m, const char *name,
                              size_t *out, vpu_error *err)
{
    nearest n = {.word = name};

    for (*out = 0; *out < m->n_dims; ++*out) {
        if (!strcmp(m->dims[*out].name, name))
            return VPU_OK;
        nearest_offer(&n, m->dims[*out].name);
    }
    return err_set(err, VPU_ERR_INVALID, "'%s' is no column%s%s%s", name,
                   n.best ? "; did you mean " : "", n.best ? n.best : "",
                   n.best ? "?" : "");
}

/* As a manifest would write it; NULL: neither a text nor a number. */
static const char *text_of(const json_t *x, arena *a)
{
    if (json_is_integer(x))
        return arena_printf(a, "%" JSON_INTEGER_FORMAT, json_integer_value(x));
    if (json_is_real(x))
        return arena_printf(a, "%.12g", json_real_value(x));
    return arena_strdup(a, json_string_value(x));
}

static vpu_status read_question(session *s, const char *line, size_t n,
                                sweep_point *out, vpu_error *err)
{
    const sweep_manifest *m = &s->choices.manifest;
    const char **texts = arena_array(s->a, const char *, m->n_dims);
    json_t *j = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL), *x;
    vpu_status st = VPU_OK;
    const char *name;
    size_t d;

    if (!json_is_object(j))
        st = err_set(err, VPU_ERR_PARSE,
                     "expected a line with a JSON object: a value for each "
                     "column");
    json_object_foreach(j, name, x)
    {
        if (!st)
            st = find_column(m, name, &d, err);
        if (st)
            break;
        texts[d] = text_of(x, s->a);
        if (!texts[d])
            st = err_set(err, VPU_ERR_INVALID,
                         "%s: expected a text or a number", name);
    }
    json_decref(j);
    return st ? st : sweep_choices_point(&s->choices, texts, s->a, out, err);
}

/* Figures, or why there are none. */
static void say_result(session *s, const sweep_point *p)
{
    json_t *figures = sweep_store_result(&s->store, p->name);
    const char *why = sweep_store_failure(&s->store, p->name, s->a);

    if (figures)
        say(json_pack("{s:o}", "figures", figures));
    else
        say(json_pack("{s:o}", "failed",
                      jsontext_string(why ? why : "it was not computed")));
}

static vpu_status answer(session *s, const char *line, size_t n, vpu_error *err)
{
    sweep_point p;
    vpu_status st = read_question(s, line, n, &p, err);

    if (st) {
        say(json_pack("{s:o}", "error", jsontext_string(err->msg)));
        return VPU_OK;
    }
    st = sweep_single_compute(&s->worker, &s->store, &s->config, &p, err);
    if (!st)
        say_result(s, &p);
    return st;
}

static vpu_status serve(session *s, vpu_error *err)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    vpu_status st = VPU_OK;

    say_columns(s);
    while (!st && (n = getline(&line, &cap, stdin)) > 0) {
        arena_mark m = arena_save(s->a);

        st = answer(s, line, (size_t)n, err);
        arena_restore(s->a, m);
    }
    free(line);
    return st;
}

static int serve_main(int argc, char **argv)
{
    options_line line = {.argc = argc, .argv = argv};
    cli_sweep_limits limits = {.timeout_s = CLI_SWEEP_TIMEOUT};
    uint32_t threads = cli_sweep_threads(1);
    session s = {.a = arena_create(0)};
    char **words = cli_sweep_line(argc, argv, s.a);
    vpu_error err = {0};
    int rc = cli_parse(&cli_sweep_serve, &limits, &line, s.a);

    if (!rc && line.n_words != 1)
        rc = cli_usage(&cli_sweep_serve, "expected one sweep's folder");
    s.config = cli_sweep_config(&threads);
    s.config.timeout_s = limits.timeout_s;
    s.config.memory = limits.memory;
    if (!rc) {
        if (sweep_store_open(line.words[0], s.a, &s.store, &err) ||
            cli_sweep_become(s.store.dir, words, s.a, &err) ||
            sweep_choices_read(&s.store, s.a, &s.choices, &err) ||
            serve(&s, &err))
            rc = cli_fail(&err);
    }
    sweep_single_end(&s.worker);
    arena_destroy(s.a);
    return rc;
}

const cli_command cli_sweep_serve = {
    .name = "sweep serve",
    .summary = "answer for points asked one by one, for search programs",
    .head =
        "usage: vpu sweep serve DIR [OPTIONS]\n\n"
        "Prints the columns of the manifest as a line of JSON; then, for each line of\n"
        "standard input, an object with a value for each column, a line: the figures of\n"
        "that point, \"failed\" and why, or \"error\" for a question that is none. A column\n"
        "that is left out has its first value. Points need not be planned; results are kept\n"
        "in the folder, and what has one is not computed again. docs/sweep.md.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .main = serve_main};
