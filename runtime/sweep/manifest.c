/* Manifests: lines into dimensions; see manifest.h for the form. */
#include "runtime/sweep/manifest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"
#include "runtime/sweep/figures.h"
#include "runtime/sweep/ranges.h"
#include "runtime/sweep/samples.h"

typedef struct {
    sweep_manifest *m;
    arena *a;
    uint32_t line;
    size_t cap_dims, cap_runs;
    const char *by; /* halving: name of the rounds' dimension */
    vpu_error *err;
} parser;

#define FAIL(p, ...) \
    err_at((p)->err, VPU_ERR_PARSE, (p)->m->path, (p)->line, 0, __VA_ARGS__)

static const char *const method_names[SWEEP_N_METHODS] = {
    "grid", "random", "latin", "sobol", "one-at-a-time", "halving"};

const char *sweep_method_name(sweep_method m)
{
    return method_names[m];
}

/* --- values --------------------------------------------------------------- */

/* Options whose values are KEY=VALUE: "vary --set KEY value value". */
static bool has_keys(const char *option)
{
    static const char *const names[] = {"--set",   "--param", "--shape",
                                        "--input", "--blob",  "--pad"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], option))
            return true;
    return false;
}

/* --- dimensions ----------------------------------------------------------- */

static sweep_words words_of(arena *a, const char *option, const char *value)
{
    sweep_words w = {arena_array(a, char *, 3), 2};

    w.items[0] = arena_strdup(a, option);
    w.items[1] = arena_strdup(a, value);
    return w;
}

static vpu_status add_choice(parser *p, sweep_dimension *d, size_t *cap,
                             const sweep_choice *c)
{
    if (d->n >= SWEEP_MAX_CHOICES)
        return FAIL(p, "more than %d values in one line", SWEEP_MAX_CHOICES);
    *arena_append(p->a, d->choices, d->n, *cap) = *c;
    return VPU_OK;
}

/* KEY= in front of a value, in the arena; "" when there is no key. */
static const char *front(arena *a, const char *key)
{
    return key ? arena_printf(a, "%s=", key) : "";
}

static vpu_status add_range(parser *p, sweep_dimension *d, size_t *cap,
                            const char *key, const sweep_range *r)
{
    vpu_status st = VPU_OK;

    if (!(r->low < r->high))
        return FAIL(p,
                    "the range %g..%g has no room: its first number must be "
                    "the smaller one",
                    r->low, r->high);
    if (!r->n) {
        d->key = key;
        d->low = r->low;
        d->high = r->high;
        d->whole = r->whole;
        return VPU_OK;
    }
    if (r->n < 2 || r->n > SWEEP_MAX_CHOICES)
        return FAIL(p, "a range of %llu values: 2 to %d are possible", r->n,
                    SWEEP_MAX_CHOICES);
    for (unsigned long long i = 0; i < r->n && !st; i++) {
        double x = r->low + (r->high - r->low) * (double)i / (double)(r->n - 1);
        const char *text = sweep_number_text(p->a, x, r->whole);

        st = add_choice(
            p, d, cap,
            &(const sweep_choice){
                .words = words_of(
                    p->a, d->option,
                    arena_printf(p->a, "%s%s", front(p->a, key), text)),
                .text = text,
                .line = p->line});
    }
    return st;
}

/* `word` after the option: a value, a range, perhaps with KEY= in front. */
static vpu_status add_value(parser *p, sweep_dimension *d, size_t *cap,
                            const char *key, const char *word)
{
    const char *eq = key ? NULL : strchr(word, '=');
    sweep_range r;

    if (sweep_range_read(eq ? eq + 1 : word, p->a, &r)) {
        if (eq)
            key = arena_strndup(p->a, word, (size_t)(eq - word));
        return add_range(p, d, cap, key, &r);
    }
    return add_choice(
        p, d, cap,
        &(const sweep_choice){
            .words =
                words_of(p->a, d->option,
                         arena_printf(p->a, "%s%s", front(p->a, key), word)),
            .text = word,
            .line = p->line});
}

/* Words w[0 .. n) as an alternative: they begin with the line's option unless
 * the first one is an option itself; "-" alone is no word at all. */
static vpu_status add_words(parser *p, sweep_dimension *d, size_t *cap,
                            char *const *w, size_t n)
{
    bool none = n == 1 && !strcmp(w[0], "-");
    bool own = none || (n && w[0][0] == '-' && w[0][1]);
    sweep_choice c = {.line = p->line};
    str text = {.arena = p->a};
    size_t k = 0;

    if (!n)
        return FAIL(p, "an alternative without words beside |; write - for "
                       "\"without the option\"");
    c.words.items = arena_array(p->a, char *, n + 2);
    if (!own)
        c.words.items[k++] = arena_strdup(p->a, d->option);
    for (size_t i = 0; i < n; i++) {
        str_printf(&text, "%s%s", i ? " " : "", w[i]);
        if (!none)
            c.words.items[k++] = w[i];
    }
    c.words.n = k;
    c.text = str_text(&text);
    return add_choice(p, d, cap, &c);
}

/* The KEY= that all texts begin with, in the arena; NULL: there is none. */
static const char *common_key(const parser *p, const sweep_dimension *d)
{
    const char *first = d->choices[0].text;
    size_t n = strcspn(first, "=") + 1;

    if (!first[n - 1] || strpbrk(first, " \t"))
        return NULL;
    for (size_t i = 0; i < d->n; i++)
        if (strncmp(d->choices[i].text, first, n) ||
            strpbrk(d->choices[i].text, " \t"))
            return NULL;
    return arena_strndup(p->a, first, n - 1);
}

/* A column's name, when the line gives none: the key of --set and --param,
 * which users know, else the option. Texts lose a key that all have. */
static void name_dimension(parser *p, sweep_dimension *d, const char *key)
{
    const char *common = d->n && !key ? common_key(p, d) : NULL;
    const char *option = d->option + strspn(d->option, "-");

    for (size_t i = 0; i < d->n && common; i++)
        d->choices[i].text += strlen(common) + 1;
    key = key ? key : d->key ? d->key : common;
    if (d->name)
        return;
    if (key && (!strcmp(d->option, "--set") || !strcmp(d->option, "--param") ||
                !strcmp(d->option, "-D")))
        d->name = key;
    else
        d->name = arena_strndup(p->a, option, strcspn(option, "="));
}

static vpu_status check_name(parser *p, const char *name)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

    if (!*name || name[strspn(name, legal)])
        return FAIL(p,
                    "'%s' names no column: letters, digits, _ . and - make "
                    "one; `name COLUMN` in place of `vary` gives another",
                    name);
    if (!strcmp(name, p->m->dims[0].name))
        p->m->dims[0].name = "run"; /* `vary --layer` has that name */
    for (size_t i = 0; i < p->m->n_dims; i++)
        if (!strcmp(p->m->dims[i].name, name))
            return FAIL(p,
                        "two columns are called %s, the other is of line "
                        "%u; `name COLUMN` in place of `vary` gives another",
                        name, p->m->dims[i].line);
    return VPU_OK;
}

static bool has_bar(const sweep_words *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (!strcmp(w->items[i], "|"))
            return true;
    return false;
}

static vpu_status add_alternatives(parser *p, sweep_dimension *d, size_t *cap,
                                   const sweep_words *w, size_t at)
{
    vpu_status st = VPU_OK;
    size_t from = at;

    for (size_t i = at; i <= w->n && !st; i++)
        if (i == w->n || !strcmp(w->items[i], "|")) {
            st = add_words(p, d, cap, w->items + from, i - from);
            from = i + 1;
        }
    return st;
}

/* w->items[at]: the option; behind it its values. */
static vpu_status add_values(parser *p, sweep_dimension *d, size_t *cap,
                             const sweep_words *w, size_t at, const char **key)
{
    vpu_status st = VPU_OK;

    if (at + 1 < w->n && has_keys(d->option) && !strchr(w->items[at], '='))
        *key = w->items[at++];
    for (size_t i = at; i < w->n && !st; i++) {
        st = add_value(p, d, cap, *key, w->items[i]);
        if (!st && d->low < d->high && (d->n || i + 1 < w->n))
            return FAIL(p, "a range without a number of values stands alone; "
                           "60..200/5 is five values");
    }
    return st;
}

/* "vary OPTION ..." with at = 1, "name COLUMN OPTION ..." with at = 2. */
static vpu_status add_dimension(parser *p, const sweep_words *w, size_t at)
{
    sweep_dimension d = {.line = p->line};
    const char *key = NULL;
    size_t cap = 0;
    vpu_status st;

    if (at == 2)
        d.name = w->n > 1 ? w->items[1] : "";
    if (at >= w->n || w->items[at][0] != '-' || !w->items[at][1])
        return FAIL(p,
                    "expected an option of vpu run, and its values: %s "
                    "--shaves 1 2 4",
                    at == 2 ? "name COLUMN" : "vary");
    if (p->m->n_dims >= SWEEP_MAX_DIMENSIONS)
        return FAIL(p, "more than %d dimensions", SWEEP_MAX_DIMENSIONS);
    d.option = w->items[at];
    if (at + 1 == w->n)
        return FAIL(p,
                    "%s has no values here; `vary %s | -` is with and without "
                    "it",
                    d.option, d.option);
    if (!strcmp(w->items[at + 1], "|"))
        at--; /* the option alone is the first alternative */
    st = has_bar(w) ? add_alternatives(p, &d, &cap, w, at + 1)
                    : add_values(p, &d, &cap, w, at + 1, &key);
    if (st)
        return st;
    name_dimension(p, &d, key);
    st = check_name(p, d.name);
    if (!st)
        *arena_append(p->a, p->m->dims, p->m->n_dims, p->cap_dims) = d;
    return st;
}

/* --- layers --------------------------------------------------------------- */

/* The value of --layer, else the file's name without its end. */
static const char *layer_name(parser *p, const sweep_words *w)
{
    const char *name = w->items[1], *slash;

    for (size_t i = 1; i < w->n; i++) {
        if (!strcmp(w->items[i], "--layer") && i + 1 < w->n)
            return w->items[i + 1];
        if (!strncmp(w->items[i], "--layer=", 8))
            return w->items[i] + 8;
    }
    for (size_t i = w->n; i-- > 1;)
        if (strstr(w->items[i], ".xml"))
            name = w->items[i];
    slash = strrchr(name, '/');
    name = slash ? slash + 1 : name;
    return arena_strndup(p->a, name, strcspn(name, "."));
}

static const char *distinct_name(parser *p, const char *name)
{
    const sweep_dimension *d = &p->m->dims[0];
    const char *tried = name;

    for (unsigned n = 2;; n++) {
        size_t i = 0;

        while (i < d->n && strcmp(d->choices[i].text, tried))
            i++;
        if (i == d->n)
            return tried;
        tried = arena_printf(p->a, "%s-%u", name, n);
    }
}

static vpu_status add_run(parser *p, const sweep_words *w)
{
    sweep_choice c = {.line = p->line};

    if (w->n < 2)
        return FAIL(p, "expected what stands behind `vpu run`: a binding file "
                       "and options");
    c.words = (sweep_words){w->items + 1, w->n - 1};
    c.text = distinct_name(p, layer_name(p, w));
    return add_choice(p, &p->m->dims[0], &p->cap_runs, &c);
}

/* --- methods -------------------------------------------------------------- */

static vpu_status find_method(parser *p, const char *name)
{
    nearest n = {.word = name};

    for (int i = 0; i < SWEEP_N_METHODS; i++) {
        if (!strcmp(method_names[i], name)) {
            p->m->method = (sweep_method)i;
            return VPU_OK;
        }
        nearest_offer(&n, method_names[i]);
    }
    return FAIL(p,
                "no method '%s'%s%s: grid, random N, latin N, sobol N, "
                "one-at-a-time or halving COLUMN",
                name, n.best ? "; did you mean " : "", n.best ? n.best : "");
}

static vpu_status take_number(parser *p, const sweep_words *w, size_t i,
                              unsigned long long most, unsigned long long *out)
{
    if (i < w->n && str_to_u64(w->items[i], out) && *out <= most)
        return VPU_OK;
    return FAIL(p, "expected a number up to %llu behind '%s', found %s%s%s",
                most, w->items[i - 1], i < w->n ? "'" : "the end of the line",
                i < w->n ? w->items[i] : "", i < w->n ? "'" : "");
}

static vpu_status take_samples(parser *p, const sweep_words *w)
{
    unsigned long long n = 0, seed = 0;
    vpu_status st = take_number(p, w, 2, SWEEP_MAX_POINTS, &n);

    if (!st && !n)
        return FAIL(p, "0 points: 1 to %d are possible", SWEEP_MAX_POINTS);
    p->m->n_samples = (uint32_t)n;
    if (st || w->n == 3)
        return st;
    if (p->m->method == SWEEP_SOBOL || strcmp(w->items[3], "seed"))
        return FAIL(p, "unexpected '%s'%s", w->items[3],
                    p->m->method == SWEEP_SOBOL
                        ? ": the points of sobol have no seed"
                        : "; `seed S` may stand here");
    st = take_number(p, w, 4, UINT64_MAX, &seed);
    p->m->seed = seed;
    return st || w->n == 5 ? st : FAIL(p, "unexpected '%s'", w->items[5]);
}

/* "halving COLUMN [by FIGURE]" */
static vpu_status take_halving(parser *p, const sweep_words *w)
{
    if (w->n < 3)
        return FAIL(p, "expected the column whose values are the rounds, the "
                       "cheapest first: method halving shape");
    p->by = w->items[2];
    p->m->objective = "cycles";
    if (w->n == 3)
        return VPU_OK;
    if (strcmp(w->items[3], "by") || w->n != 5)
        return FAIL(p,
                    "expected `by FIGURE` behind the column, as in method "
                    "halving %s by cycles",
                    p->by);
    p->m->objective = w->items[4];
    return VPU_OK;
}

static vpu_status take_method(parser *p, const sweep_words *w)
{
    vpu_status st;

    if (p->m->method_line)
        return FAIL(p, "a second method; the first is in line %u",
                    p->m->method_line);
    p->m->method_line = p->line;
    st = find_method(p, w->n > 1 ? w->items[1] : "");
    if (st)
        return st;
    switch (p->m->method) {
    case SWEEP_RANDOM:
    case SWEEP_LATIN:
    case SWEEP_SOBOL:
        return take_samples(p, w);
    case SWEEP_HALVING:
        return take_halving(p, w);
    default:
        return w->n == 2 ? VPU_OK : FAIL(p, "unexpected '%s'", w->items[2]);
    }
}

/* --- the whole ------------------------------------------------------------ */

static vpu_status read_key(parser *p, const sweep_words *w)
{
    static const char *const keys[] = {"run", "vary", "name", "method"};
    nearest n = {.word = w->items[0]};

    if (!strcmp(w->items[0], "run"))
        return add_run(p, w);
    if (!strcmp(w->items[0], "vary"))
        return add_dimension(p, w, 1);
    if (!strcmp(w->items[0], "name"))
        return add_dimension(p, w, 2);
    if (!strcmp(w->items[0], "method"))
        return take_method(p, w);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        nearest_offer(&n, keys[i]);
    return FAIL(p,
                "no line begins with '%s'%s%s%s; run, vary, name or method "
                "begin one",
                w->items[0], n.best ? "; did you mean " : "",
                n.best ? n.best : "", n.best ? "?" : "");
}

static vpu_status check_objective(parser *p)
{
    nearest n = {.word = p->m->objective};

    if (sweep_figure_find(p->m->objective) >= 0)
        return VPU_OK;
    for (size_t i = 0; sweep_figure_name(i); i++)
        nearest_offer(&n, sweep_figure_name(i));
    return FAIL(p,
                "no figure '%s'%s%s%s; cycles, ms, error, cmx_bytes and "
                "ddr_bytes are some",
                p->m->objective, n.best ? "; did you mean " : "",
                n.best ? n.best : "", n.best ? "?" : "");
}

static vpu_status check_halving(parser *p)
{
    const sweep_manifest *m = p->m;

    for (size_t i = 0; i < m->n_dims; i++)
        if (!strcmp(m->dims[i].name, p->by))
            p->m->by = i + 1;
    if (!m->by)
        return FAIL(p, "no column '%s' for the rounds of halving", p->by);
    p->m->by--;
    if (m->dims[m->by].n < 2)
        return FAIL(p,
                    "column %s has one value: halving needs a round for "
                    "each of several",
                    p->by);
    return check_objective(p);
}

static vpu_status check_sobol(parser *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->m->n_dims; i++)
        n += p->m->dims[i].n != 1;
    return n <= SAMPLES_SOBOL_MOST
               ? VPU_OK
               : FAIL(p,
                      "%zu dimensions: sobol has %d; `method latin N` takes "
                      "any number",
                      n, SAMPLES_SOBOL_MOST);
}

static bool takes_ranges(sweep_method m)
{
    return m == SWEEP_RANDOM || m == SWEEP_LATIN || m == SWEEP_SOBOL;
}

static vpu_status check(parser *p)
{
    const sweep_manifest *m = p->m;

    if (!m->dims[0].n)
        return err_at(p->err, VPU_ERR_PARSE, m->path, 0, 0,
                      "no `run` line: expected one that says what runs, "
                      "run layer.xml --layer NAME ...");
    for (size_t i = 1; i < m->n_dims && !takes_ranges(m->method); i++)
        if (!m->dims[i].n) {
            p->line = m->dims[i].line;
            return FAIL(p,
                        "method %s needs a number of values here: %g..%g/5 "
                        "is five",
                        sweep_method_name(m->method), m->dims[i].low,
                        m->dims[i].high);
        }
    p->line = m->method_line;
    return m->method == SWEEP_HALVING ? check_halving(p)
           : m->method == SWEEP_SOBOL ? check_sobol(p)
                                      : VPU_OK;
}

vpu_status sweep_manifest_parse(const file_bytes *text, arena *a,
                                sweep_manifest *out, vpu_error *err)
{
    parser p = {.m = out, .a = a, .err = err};
    sweep_reader r;
    sweep_words w;
    vpu_status st;

    *out = (sweep_manifest){.path = text->path};
    *arena_append(a, out->dims, out->n_dims, p.cap_dims) =
        (sweep_dimension){.name = "layer"};
    sweep_reader_open(&r, text);
    do {
        st = sweep_read_line(&r, a, &w, err);
        p.line = r.opened;
        if (!st && w.n)
            st = read_key(&p, &w);
    } while (!st && w.n);
    return st ? st : check(&p);
}

vpu_status sweep_manifest_read(const char *path, arena *a, sweep_manifest *out,
                               vpu_error *err)
{
    size_t n;
    char *text;
    vpu_status st = file_read(path, SWEEP_MAX_BYTES, a, &text, &n, err);

    return st ? st
              : sweep_manifest_parse(&(const file_bytes){text, n, path}, a, out,
                                     err);
}
