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
_Static_assert((int)N_COMMANDS <= (int)DBG_MAX_COMMANDS, "DBG_MAX_COMMANDS");

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

char *dbg_command_line(arena *a, const char *text, size_t n)
{
    char *line = arena_push(a, n + LINE_ROOM, 1, 1);

    memcpy(line, text, n);
    line[n] = 0;
    return line;
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

const dbg_command *dbg_command_named(char **line)
{
    char *rest = cut_word(*line), family[MAX_WORD + 2];
    const dbg_command *c = find("", *line);

    *line = rest;
    if (!c)
        return NULL;
    snprintf(family, sizeof family, "%s ", c->name);
    if (!*rest || !dbg_command_matches(family, "", NULL))
        return c;
    *line = cut_word(rest);
    return find(family, rest);
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

static bool is_person(const debug_input *in)
{
    return in->ask != NULL;
}

dbg_outcome dbg_command_do(dbg_session *s, char *line)
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

static void take_line(dbg_session *s, const char *text)
{
    size_t n = strcspn(text, "\n");

    if (n >= MAX_LINE) {
        dbg_refuse(s, "that line is too long");
        n = 0;
        s->failed |= !is_person(&s->cfg->in[s->in_at]);
    }
    memcpy(s->line, text, n);
    s->line[n] = 0;
}

/* A log of a script shows what was asked, too. */
static void echo(dbg_session *s)
{
    str_printf(&s->buf, "(vpu) %s\n", s->line);
    dbg_session_flush(s);
}

static bool read_script(dbg_session *s, FILE *f)
{
    char *text = NULL;
    size_t room = 0;
    bool any = getline(&text, &room, f) >= 0;

    if (any) {
        s->line_number++;
        take_line(s, text);
        echo(s);
    }
    free(text);
    return any;
}

/* The next line into s->line; false: there is none any more. */
static bool read_line(dbg_session *s)
{
    for (; s->in_at < s->cfg->n_in; s->in_at++, s->line_number = 0) {
        const debug_input *in = &s->cfg->in[s->in_at];
        const char *text;

        if (!is_person(in)) {
            if (read_script(s, in->file))
                return true;
        } else if ((text = in->ask(in->user, s))) {
            take_line(s, text);
            return true;
        }
    }
    return false;
}

/* What a script's command that was not done leads to. */
static void fail(dbg_session *s)
{
    const debug_input *in = &s->cfg->in[s->in_at];

    if (is_person(in))
        return;
    s->failed = true;
    if (!in->goes_on) {
        str_printf(&s->buf, "%s:%u: the rest of the script is not done\n",
                   in->name, s->line_number);
        s->in_at++;
        s->line_number = 0;
    }
}

/* An empty line stands for the last one that moved, or for more of a list. */
static dbg_outcome do_next_line(dbg_session *s)
{
    bool empty = s->line[strspn(s->line, " \t\r\n")] == 0;
    dbg_outcome r;

    if (empty)
        memcpy(s->line, s->last, sizeof s->line);
    else
        memcpy(s->last, s->line, sizeof s->last);
    s->repeat = NULL;
    r = dbg_command_do(s, s->line);
    if (r == DBG_STAY || r == DBG_FAILED)
        snprintf(s->last, sizeof s->last, "%s", s->repeat ? s->repeat : "");
    if (r == DBG_FAILED)
        fail(s);
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
