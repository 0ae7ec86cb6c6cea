/* Commands: their table, finding one by its name, reading lines. */
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "runtime/debug/session.h"

static const dbg_command commands[] = {
#define C(handler, name, shorter, args, argument, about) \
    {name, shorter, args, about, DBG_##argument, dbg_do_##handler},
#include "runtime/debug/commands.def"
#undef C
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

enum { MAX_WORD = 60, NAME_WIDTH = 40 };

/* --- finding ------------------------------------------------------------- */

/* The row's word in a family: "" has the first words, "info " the second ones
 * of `info`. NULL: the row belongs to another family. */
static const char *word_in(const dbg_command *c, const char *family)
{
    size_t n = strlen(family);

    return strncmp(c->name, family, n) || strchr(c->name + n, ' ')
               ? NULL
               : c->name + n;
}

static bool is_short_form(const dbg_command *c, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = c->shorter; *p; p += strspn(p, " ")) {
        size_t m = strcspn(p, " ");

        if (m == n && !memcmp(p, word, n))
            return true;
        p += m;
    }
    return false;
}

uint32_t dbg_command_matches(const char *family, const char *word,
                             const dbg_command **out)
{
    uint32_t n = 0;

    for (int k = 0; k < N_COMMANDS; k++) {
        const char *name = word_in(&commands[k], family);

        if (name && !strncmp(name, word, strlen(word))) {
            if (out)
                out[n] = &commands[k];
            n++;
        }
    }
    return n;
}

/* A name, a short form, or the beginning of one name alone. */
static const dbg_command *find(const char *family, const char *word)
{
    const dbg_command *matches[N_COMMANDS];
    uint32_t n = dbg_command_matches(family, word, matches);

    for (uint32_t k = 0; k < n; k++)
        if (!strcmp(word_in(matches[k], family), word))
            return matches[k];
    for (int k = 0; k < N_COMMANDS && !*family; k++)
        if (is_short_form(&commands[k], word))
            return &commands[k];
    return n == 1 ? matches[0] : NULL;
}

/* Why find() found nothing. */
static dbg_outcome not_found(dbg_session *s, const char *family,
                             const char *word)
{
    const dbg_command *matches[N_COMMANDS];
    uint32_t n = dbg_command_matches(family, word, matches);
    nearest like = {.word = word};

    for (uint32_t k = 0; k < n; k++)
        str_printf(&s->buf, "%s%s",
                   k ? ", "
                     : arena_printf(s->scratch, "'%s%s' is the beginning of: ",
                                    family, word),
                   matches[k]->name);
    if (n) {
        str_puts(&s->buf, "\n");
        return DBG_FAILED;
    }
    for (int k = 0; k < N_COMMANDS; k++)
        if (word_in(&commands[k], family))
            nearest_offer(&like, word_in(&commands[k], family));
    str_printf(&s->buf, "there is no command '%s%.*s'", family, MAX_WORD, word);
    if (like.best)
        str_printf(&s->buf, "; did you mean '%s%s'?\n", family, like.best);
    else
        str_puts(&s->buf, ": help lists them\n");
    return DBG_FAILED;
}

/* Cuts the first word off; returns what stands behind it. */
static char *cut_word(char *line)
{
    char *rest = line + strcspn(line, *line == '/' ? " \t" : " \t/");

    /* "x/4": the letters behind the stroke belong to the argument. */
    if (*rest == '/') {
        memmove(rest + 1, rest, strlen(rest) + 1);
        *rest = ' ';
    }
    if (*rest)
        *rest++ = 0;
    return rest + strspn(rest, " \t");
}

const dbg_command *dbg_command_find(dbg_session *s, char **line)
{
    char *word = *line, *rest = cut_word(word);
    const dbg_command *c = find("", word), *second;
    const char *family;

    *line = rest;
    if (!c) {
        not_found(s, "", word);
        return NULL;
    }
    family = arena_printf(s->scratch, "%s ", c->name);
    if (!*rest || !dbg_command_matches(family, "", NULL))
        return c;
    *line = cut_word(rest);
    second = find(family, rest);
    if (!second)
        not_found(s, family, rest);
    return second;
}

/* --- help ---------------------------------------------------------------- */

static void show_help(dbg_session *s, const dbg_command *c)
{
    char name[2 * NAME_WIDTH];
    const char *first = c->shorter;

    snprintf(name, sizeof name, "%s%s%s", c->name, *c->args ? " " : "",
             c->args);
    str_printf(&s->buf, "%-4.*s %s%*s %s\n", (int)strcspn(first, " "), first,
               name,
               strlen(name) < NAME_WIDTH ? NAME_WIDTH - (int)strlen(name) : 0,
               "", c->about);
}

dbg_outcome dbg_do_help(dbg_session *s, char *arg)
{
    const dbg_command *c;

    if (*arg) {
        c = dbg_command_find(s, &arg);
        if (c)
            show_help(s, c);
        return c ? DBG_STAY : DBG_FAILED;
    }
    for (int k = 0; k < N_COMMANDS; k++)
        show_help(s, &commands[k]);
    str_puts(&s->buf,
             "A name may be cut where no other begins so. An empty line does "
             "the last command that moved once more.\n");
    return DBG_STAY;
}

/* --- reading ------------------------------------------------------------- */

static dbg_outcome do_line(dbg_session *s, char *line)
{
    const dbg_command *c;
    size_t n;

    line += strspn(line, " \t");
    n = strlen(line);
    while (n && strchr(" \t\r\n", line[n - 1]))
        line[--n] = 0;
    if (!*line || *line == '#')
        return DBG_STAY;
    c = dbg_command_find(s, &line);
    return c ? c->run(s, line) : DBG_FAILED;
}

/* The next line into s->line; false: there is none any more. */
static bool read_line(dbg_session *s)
{
    FILE *f;
    size_t n;

    while (s->in_at < s->cfg->n_in) {
        f = s->cfg->in[s->in_at];
        if (s->cfg->prompt && s->in_at + 1 == s->cfg->n_in) {
            fputs("(vpu) ", s->cfg->out);
            fflush(s->cfg->out);
        }
        if (fgets(s->line, MAX_LINE, f)) {
            n = strlen(s->line);
            if (n + 1 == MAX_LINE && s->line[n - 1] != '\n') {
                int c;

                while ((c = fgetc(f)) != EOF && c != '\n')
                    ;
                str_puts(&s->buf, "that line is too long\n");
                s->line[0] = '#';
            }
            return true;
        }
        s->in_at++;
    }
    return false;
}

/* An empty line stands for the last one that moved. */
static dbg_outcome do_next_line(dbg_session *s)
{
    bool empty = s->line[strspn(s->line, " \t\r\n")] == 0;
    dbg_outcome r;

    if (empty)
        memcpy(s->line, s->last, sizeof s->line);
    else
        memcpy(s->last, s->line, sizeof s->last);
    r = do_line(s, s->line);
    if (r == DBG_STAY || r == DBG_FAILED)
        s->last[0] = 0;
    return r;
}

bool dbg_command_loop(dbg_session *s)
{
    for (;;) {
        arena_mark m = arena_save(s->scratch);
        dbg_outcome r = DBG_AGAIN;

        if (read_line(s))
            r = do_next_line(s);
        else
            s->quit = true;
        arena_restore(s->scratch, m);
        dbg_session_flush(s);
        if (r == DBG_GO)
            return true;
        if (r == DBG_AGAIN)
            return false;
    }
}
