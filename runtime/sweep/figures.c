/* A report's numbers, stages and outputs added up. */
#include "runtime/sweep/figures.h"

#include <string.h>

typedef enum { OF_REPORT, SUM_OF_STAGES, MOST_OF_STAGES, SUM_OF_OUTPUTS } rule;

static const struct {
    const char *name, *path;
    rule rule;
} figures[] = {
#define X(name, path, rule) {name, path, rule},
#include "runtime/sweep/figures.def"
#undef X
};
enum { N_FIGURES = sizeof figures / sizeof *figures };
_Static_assert(sizeof figures / sizeof *figures <= SWEEP_MAX_FIGURES,
               "more room for figures");

const char *sweep_figure_name(size_t i)
{
    return i < N_FIGURES ? figures[i].name : NULL;
}

int sweep_figure_find(const char *name)
{
    for (int i = 0; i < N_FIGURES; i++)
        if (!strcmp(figures[i].name, name))
            return i;
    return -1;
}

/* The number at "name" or "name.name"; NULL: there is none. */
static const json_t *at_path(const json_t *o, const char *path)
{
    const char *dot = strchr(path, '.');
    char front[64];
    const json_t *x;

    if (!dot) {
        x = json_object_get(o, path);
        return json_is_number(x) ? x : NULL;
    }
    if ((size_t)(dot - path) >= sizeof front)
        return NULL;
    memcpy(front, path, (size_t)(dot - path));
    front[dot - path] = 0;
    return at_path(json_object_get(o, front), dot + 1);
}

static json_t *over(const json_t *list, const char *path, rule r)
{
    json_int_t sum = 0, most = 0;
    const json_t *one;
    size_t i;
    bool any = false;

    json_array_foreach(list, i, one)
    {
        const json_t *x = at_path(one, path);
        json_int_t v = json_integer_value(x);

        if (!json_is_integer(x))
            continue;
        any = true;
        sum += v;
        most = v > most ? v : most;
    }
    return any ? json_integer(r == MOST_OF_STAGES ? most : sum) : NULL;
}

static json_t *value_of(const json_t *report, int i)
{
    const json_t *x;

    switch (figures[i].rule) {
    case OF_REPORT:
        x = at_path(report, figures[i].path);
        return json_is_integer(x) ? json_integer(json_integer_value(x))
               : x                ? json_real(json_real_value(x))
                                  : NULL;
    case SUM_OF_OUTPUTS:
        return over(json_object_get(report, "outputs"), figures[i].path,
                    figures[i].rule);
    default:
        return over(json_object_get(report, "stages"), figures[i].path,
                    figures[i].rule);
    }
}

json_t *sweep_figures_of(const json_t *report)
{
    json_t *out = json_object();

    for (int i = 0; i < N_FIGURES; i++) {
        json_t *x = value_of(report, i);

        if (x)
            json_object_set_new(out, figures[i].name, x);
    }
    return out;
}
