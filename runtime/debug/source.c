/* Places of the source: which lines have code, and what a person means by the
 * name of one. */
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "isa/program.h"
#include "runtime/debug/session.h"

/* --- reading ------------------------------------------------------------- */

static void add_line(dbg_session *s, const char *file, const char *function,
                     uint32_t line)
{
    for (size_t k = 0; k < s->n_code; k++)
        if (s->code[k].line == line && !strcmp(s->code[k].file, file) &&
            !strcmp(s->code[k].function, function))
            return;
    *arena_append(s->arena, s->code, s->n_code, s->cap_code) =
        (dbg_code_line){file, function, line};
}

/* Code that tells its lines (exec_observer.line): each place once. */
static void read_texts(dbg_session *s, const sim_kernel *k)
{
    for (const char *p = k->lines; p && p < k->lines + k->lines_bytes;
         p += strlen(p) + 1) {
        dbg_site *x = track_read_site(s, p);

        for (uint32_t f = 0; f < x->n_frames; f++)
            if (x->frames[f].line && x->kind != 's')
                add_line(s, x->frames[f].file, x->frames[f].function,
                         x->frames[f].line);
    }
}

/* SHAVE programs know the lines of the kernel's own file. */
static void read_programs(dbg_session *s, const graph_launch *l,
                          const sim_kernel *k)
{
    const isa_memory mem = {arena_bytes, s->arena};
    isa_function *fs;
    uint32_t n = 0;

    if (!k->program || isa_decode(k->program, k->program_bytes, &mem, &fs, &n))
        return;
    for (uint32_t f = 0; f < n; f++)
        for (uint32_t i = 0; i < fs[f].n_instrs; i++)
            if (fs[f].instrs[i].line)
                add_line(s, k->source, l->entry, fs[f].instrs[i].line);
}

void dbg_source_read(dbg_session *s)
{
    for (uint32_t i = 0; i < s->graph->n_launches; i++) {
        const graph_launch *l = &s->graph->launches[i];
        const backend_launch *b = backend_launch_of(&s->sim, i);

        if (graph_is_internal(l) || !b || !b->kernel)
            continue;
        if (s->cfg->bundles)
            read_programs(s, l, b->kernel);
        else
            read_texts(s, b->kernel);
    }
}

/* --- asking -------------------------------------------------------------- */

bool dbg_source_is(const char *path, const char *given)
{
    size_t n = strlen(path), m = strlen(given);

    return m <= n && !strcmp(path + n - m, given) &&
           (m == n || path[n - m - 1] == '/');
}

static const char *default_file(const dbg_session *s)
{
    return s->list_file ? s->list_file : dbg_session_launch(s)->sources[0];
}

/* The names of all files or functions that have code, each once. */
static void list_names(dbg_session *s, bool files, nearest *like)
{
    const char *between = "";

    for (size_t k = 0; k < s->n_code; k++) {
        const dbg_code_line *c = &s->code[k];
        const char *name = files ? c->file : c->function;
        size_t before = 0;

        while (before < k && strcmp(name, files ? s->code[before].file
                                                : s->code[before].function))
            before++;
        if (before < k)
            continue;
        nearest_offer(like, name);
        str_printf(&s->buf, "%s%s", between, name);
        between = ", ";
    }
}

static bool unknown(dbg_session *s, bool file, const char *name)
{
    nearest like = {.word = name};

    str_printf(&s->buf, "no %s '%s' has code here; there is code in ",
               file ? "file" : "function", name);
    list_names(s, file, &like);
    if (like.best)
        str_printf(&s->buf, "; did you mean '%s'?", like.best);
    str_puts(&s->buf, "\n");
    return false;
}

/* The first line at or behind the one that is asked for; false: none. */
static bool with_code(dbg_session *s, dbg_place *out)
{
    uint32_t best = UINT32_MAX, last = 0;
    bool any = false;

    for (size_t k = 0; k < s->n_code; k++) {
        const dbg_code_line *c = &s->code[k];

        if (!dbg_source_is(c->file, out->file))
            continue;
        any = true;
        if (c->line >= out->asked && c->line < best)
            best = c->line;
        if (c->line > last)
            last = c->line;
    }
    if (!any)
        return unknown(s, true, out->file);
    if (best == UINT32_MAX) {
        str_printf(&s->buf,
                   "%s has no code at line %u or behind it: its last line "
                   "with code is %u\n",
                   out->file, out->asked, last);
        return false;
    }
    out->line = best;
    if (best != out->asked)
        str_printf(&s->buf, "line %u has no code: line %u in its place\n",
                   out->asked, best);
    return true;
}

static bool is_function(const dbg_session *s, const char *name)
{
    for (size_t k = 0; k < s->n_code; k++)
        if (!strcmp(s->code[k].function, name))
            return true;
    return false;
}

bool dbg_source_place(dbg_session *s, char *text, dbg_place *out)
{
    char *colon = strrchr(text, ':');
    unsigned long long line;

    *out = (dbg_place){0};
    if (!str_to_u64(colon ? colon + 1 : text, &line)) {
        out->function = text;
        if (*text && !colon)
            return !s->n_code || is_function(s, text) ||
                   unknown(s, false, text);
    } else if (line && line <= UINT32_MAX && colon != text) {
        if (colon)
            *colon = 0;
        out->asked = out->line = (uint32_t)line;
        out->file = colon ? text : s->n_code ? default_file(s) : "";
        return !s->n_code || with_code(s, out);
    }
    dbg_refuse(s, "'%s' is no FILE:LINE, LINE or FUNCTION", text);
    return false;
}

/* --- for programs -------------------------------------------------------- */

static bool are_same(const char *a, const char *b)
{
    char *x = realpath(a, NULL), *y = realpath(b, NULL);
    bool same = x && y && !strcmp(x, y);

    free(x);
    free(y);
    return same;
}

const char *debug_file_named(const debug_session *s, const char *path)
{
    const char *like = NULL;

    for (size_t k = 0; k < s->n_code; k++) {
        const char *file = s->code[k].file;

        if (k && !strcmp(file, s->code[k - 1].file))
            continue;
        if (!strcmp(file, path) || are_same(file, path))
            return file;
        if (!like && (dbg_source_is(file, path) || dbg_source_is(path, file)))
            like = file;
    }
    return like;
}

uint32_t debug_files(const debug_session *s, arena *a, const char *const **out)
{
    const char **list = NULL;
    size_t n = 0, cap = 0;

    for (size_t k = 0; k < s->n_code; k++) {
        size_t at = 0;

        while (at < n && strcmp(list[at], s->code[k].file))
            at++;
        if (at == n)
            *arena_append(a, list, n, cap) = s->code[k].file;
    }
    *out = list;
    return (uint32_t)n;
}
