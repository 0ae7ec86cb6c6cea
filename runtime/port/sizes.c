/* Formulas of a SimpleGPU layer as expressions of MVCL, which names the dims of
 * a shape otherwise and wants a local size. */
#include "runtime/port/port_priv.h"

#include <ctype.h>
#include <string.h>

/* What each of the plug-in's letters is in MVCL's expressions: a letter, or "1"
 * or "0" where the plug-in has that. */
static void translate_letters(const port_state *p, const port_tensor *t,
                              const char *out[4])
{
    uint32_t rank = t->desc.rank, seen = p->tensors[p->n_tensors - 1].desc.rank;

    for (uint32_t i = 0; i < 4; i++) {
        bool has = t->output ? i < rank : 4 - i <= seen && 4 - i <= rank;
        uint32_t d = t->output ? i : rank + i - 4;

        out[i] = has ? arena_printf(p->a, "%c", t->letters[d])
                     : (t->output ? "1" : "0");
    }
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

vpu_status port_find_sizes(port_state *p, port_sizes *out)
{
    const config_kernel *k = p->kernel;
    const port_tensor *t = k->dim.output || !k->global.text
                               ? &p->tensors[p->n_tensors - 1]
                               : &p->tensors[k->dim.index];
    const char *global = k->global.text ? k->global.text : "B*F*Y*X";
    const char *words[4], *first;
    uint32_t value = 0;

    for (uint32_t i = 0; i < p->job->graph->n_launches; i++)
        if (p->job->graph->launches[i].macros)
            value = p->job->graph->launches[i].global[0];
    translate_letters(p, t, words);
    first = translate(p, global, strcspn(global, ","), words);
    out->dim =
        arena_printf(p->a, "%s,%u", t->output ? "output" : "input", t->port);
    out->global = translate(p, global, strlen(global), words);
    out->local = k->local.text
                     ? translate(p, k->local.text, strlen(k->local.text), words)
                     : local_of(p, first, value, t);
    return VPU_OK;
}
