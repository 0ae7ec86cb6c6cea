/* What Tab offers: commands, and what stands behind them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "runtime/debug/session.h"

typedef struct {
    arena *a;
    const char *word; /* so far */
    const char **list;
    size_t n, cap;
} offer;

static void add(offer *o, const char *name)
{
    if (!strncmp(name, o->word, strlen(o->word)))
        *arena_append(o->a, o->list, o->n, o->cap) = arena_strdup(o->a, name);
}

static void add_commands(offer *o, const char *family)
{
    const dbg_command *found[DBG_MAX_COMMANDS];
    uint32_t n = dbg_command_matches(family, o->word, found);

    for (uint32_t k = 0; k < n; k++)
        add(o, found[k]->name + strlen(family));
}

static void add_places(const dbg_session *s, offer *o)
{
    for (size_t k = 0; k < s->n_code; k++) {
        add(o, s->code[k].function);
        add(o, file_basename(s->code[k].file));
    }
}

/* Every name that could begin an expression here. */
static void add_names(const dbg_session *s, offer *o)
{
    const graph_launch *l = dbg_session_launch(s);
    bool item = s->place == AT_EVENT && !s->cfg->bundles;

    for (size_t k = 0; k < s->n_numbers && item; k++) {
        const dbg_var *v = s->by_number[k];

        if (track_find(s, &s->items[s->cur], v->name))
            add(o, v->name);
    }
    for (uint32_t k = 0; k < s->graph->n_buffers; k++)
        add(o, s->graph->buffers[k].name);
    for (uint32_t k = 0; l && k < l->n_args; k++)
        add(o, l->args[k].name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort(offer *o)
{
    size_t n = 0;

    if (o->n)
        qsort(o->list, o->n, sizeof *o->list, by_name);
    for (size_t k = 0; k < o->n; k++)
        if (!n || strcmp(o->list[n - 1], o->list[k]))
            o->list[n++] = o->list[k];
    o->n = n;
}

/* Where the word before the cursor begins: a name, or what stands alone. */
static size_t word_begin(const char *line, dbg_argument argument)
{
    size_t n = strlen(line);

    while (n && !strchr(" \t", line[n - 1]) &&
           (argument != DBG_EXPRESSION || isalnum((unsigned char)line[n - 1]) ||
            line[n - 1] == '_'))
        n--;
    return n;
}

size_t debug_complete(debug_session *s, const char *line, arena *a,
                      const char *const **words, size_t *n)
{
    offer o = {.a = a};
    size_t skip = strspn(line, " \t"), from = word_begin(line, DBG_NOTHING);
    const char *family = "";
    const dbg_command *c = NULL;

    if (from > skip) {
        char *head = dbg_command_line(a, line + skip, from - skip);

        c = dbg_command_named(&head);
        if (c)
            family = arena_printf(a, "%s ", c->name);
    }
    if (c)
        from = word_begin(line, c->argument);
    o.word = line + from;
    if (from <= skip || (c && c->argument == DBG_COMMAND))
        add_commands(&o,
                     c && dbg_command_matches(family, "", NULL) ? family : "");
    else if (c && c->argument == DBG_PLACE)
        add_places(s, &o);
    else if (c && c->argument == DBG_EXPRESSION)
        add_names(s, &o);
    sort(&o);
    *words = o.list;
    *n = o.n;
    return from;
}
