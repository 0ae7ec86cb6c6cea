/* Formulas of a SimpleGPU layer as expressions of MVCL, which names the dims of
 * a shape otherwise and wants a local size. */
#include "runtime/port/port_priv.h"

#include <ctype.h>
#include <string.h>

const graph_launch *port_launch(const port_state *p)
{
    const graph *g = p->job->graph;
    uint32_t i = 0;

    while (!g->launches[i].macros)
        i++;
    return &g->launches[i];
}

/* What each of the plug-in's letters is, of the words for the dims of t: one of
 * them, or "1" or "0" where the plug-in has that. */
static void words_of(const port_state *p, const port_tensor *t,
                     const char *const dims[4], const char *out[4])
{
    uint32_t rank = t->desc.rank, seen = p->tensors[p->n_tensors - 1].desc.rank;

    for (uint32_t i = 0; i < 4; i++) {
        bool has = t->output ? i < rank : 4 - i <= seen && 4 - i <= rank;

        out[i] =
            has ? dims[t->output ? i : rank + i - 4] : (t->output ? "1" : "0");
    }
}

/* The same of MVCL's letters. */
static void letters_of(const port_state *p, const port_tensor *t,
                       const char *out[4])
{
    const char *letters[4] = {NULL};

    for (uint32_t d = 0; d < t->desc.rank; d++)
        letters[d] = arena_printf(p->a, "%c", t->letters[d]);
    words_of(p, t, letters, out);
}

static const char *translate(const port_state *p, const char *text, size_t n,
                             const char *const words[4])
{
    static const char letters[] = "BFYX";
    const char *out;
    str s = {0};

    for (size_t i = 0; i < n; i++) {
        const char *at = isalpha((unsigned char)text[i])
                             ? strchr(letters, toupper((unsigned char)text[i]))
                             : NULL;

        if (at && *at)
            str_puts(&s, words[at - letters]);
        else if (!isspace((unsigned char)text[i]))
            str_add(&s, &text[i], 1);
    }
    out = arena_strdup(p->a, str_text(&s));
    str_free(&s);
    return out;
}

/* Whether an expression is a product with the letter among its factors: then
 * the letter divides it, whatever the sizes. */
static bool has_factor(const char *e, char letter)
{
    bool found = false;

    for (const char *f = e; *f;) {
        size_t n = strcspn(f, "*");

        if (strcspn(f, "+-/%(") < n)
            return false;
        found |= n == 1 && *f == letter;
        f += n + (f[n] == '*');
    }
    return found;
}

/* A size of work-groups in dimension 0 that divides the global size of every
 * shape: all of it where that is not much, else a letter of it. */
static const char *local_of(const port_state *p, const char *global,
                            uint32_t value, const port_tensor *t)
{
    enum { MOST = 1024 };
    const char *best = value <= MOST ? global : "1";
    uint32_t best_value = value <= MOST ? value : 1;

    for (uint32_t d = 0; d < t->desc.rank; d++)
        if (t->desc.dims[d] <= MOST && t->desc.dims[d] > best_value &&
            has_factor(global, t->letters[d])) {
            best = arena_printf(p->a, "%c", t->letters[d]);
            best_value = t->desc.dims[d];
        }
    return best;
}

/* A piece of a formula as an expression of the kernel's arguments. */
static const char *in_words(const port_state *p, const port_tensor *t,
                            const char *text, size_t n)
{
    const char *words[4];

    words_of(p, t, t->dims, words);
    text = translate(p, text, n, words);
    return strcspn(text, "+-*/%") == strlen(text)
               ? text
               : arena_printf(p->a, "(%s)", text);
}

static const port_tensor *source_of_dims(const port_state *p)
{
    const config_kernel *k = p->kernel;

    return k->dim.output || !k->global.text ? &p->tensors[p->n_tensors - 1]
                                            : &p->tensors[k->dim.index];
}

static const char *global_of(const port_state *p)
{
    return p->kernel->global.text ? p->kernel->global.text : "B*F*Y*X";
}

void port_find_sizes(const port_state *p, port_sizes *out)
{
    const config_kernel *k = p->kernel;
    const port_tensor *t = source_of_dims(p);
    const char *global = global_of(p);
    const char *words[4], *first;
    uint32_t value = port_launch(p)->global[0];

    letters_of(p, t, words);
    first = translate(p, global, strcspn(global, ","), words);
    out->dim =
        arena_printf(p->a, "%s,%u", t->output ? "output" : "input", t->port);
    out->global = translate(p, global, strlen(global), words);
    out->local = k->local.text
                     ? translate(p, k->local.text, strlen(k->local.text), words)
                     : local_of(p, first, value, t);
}

void port_find_local(const port_state *p, const uint32_t wanted[3],
                     port_local *out)
{
    const port_tensor *t = source_of_dims(p);
    const char *global = global_of(p), *given = p->kernel->local.text;
    const char *list = given ? given : global;
    const graph_launch *l = port_launch(p);
    const char *words[4];
    str local = {0};

    port_find_sizes(p, &out->mvcl);
    letters_of(p, t, words);
    out->groups = 1;
    for (uint32_t d = 0; d < 3; d++) {
        size_t length = strcspn(list, ",");
        uint32_t n = given ? l->local[d] : wanted[d];
        bool whole = length && (given || n == l->global[d]) && n > 1;

        out->values[d] = n;
        out->texts[d] =
            whole ? in_words(p, t, list, length) : arena_printf(p->a, "%u", n);
        out->one_group[d] = whole && !given;
        out->groups *= l->global[d] / n;
        str_printf(&local, "%s%s", d ? "," : "",
                   whole ? translate(p, list, length, words) : out->texts[d]);
        list += length + (list[length] == ',');
    }
    out->mvcl.local = arena_strdup(p->a, str_text(&local));
    str_free(&local);
}
