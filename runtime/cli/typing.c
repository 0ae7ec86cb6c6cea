#include "runtime/cli/typing.h"

#include <histedit.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/late.h"

enum { HISTORY = 1000 };

struct typing {
    arena *a;
    const char *prompt;
    const char *file; /* of the history; NULL: it is not kept */
    EditLine *el;
    History *h;
    debug_session *s; /* while a line is asked for */
    bool dropped;
};

static typing *typing_of(EditLine *el)
{
    void *t = NULL;

    el_get(el, EL_CLIENTDATA, &t);
    return t;
}

static const char *prompt_of(EditLine *el)
{
    return typing_of(el)->prompt;
}

/* Ctrl-C: whoever pressed it wants an empty line. */
static unsigned char drop_line(EditLine *el, int ch)
{
    (void)ch;
    typing_of(el)->dropped = true;
    return CC_NEWLINE;
}

static size_t common(const char *const *words, size_t n)
{
    size_t len = strlen(words[0]);

    for (size_t k = 1; k < n; k++) {
        size_t same = 0;

        while (same < len && words[k][same] == words[0][same])
            same++;
        len = same;
    }
    return len;
}

static unsigned char list(const char *const *words, size_t n)
{
    putchar('\n');
    for (size_t k = 0; k < n; k++)
        printf("%s%s", words[k], k + 1 < n ? "  " : "\n");
    fflush(stdout);
    return CC_REDISPLAY;
}

/* Tab: as far as all words go together; where that is no further, all of
 * them. */
static unsigned char complete(EditLine *el, int ch)
{
    typing *t = typing_of(el);
    const LineInfo *info = el_line(el);
    const char *line = arena_strndup(t->a, info->buffer,
                                     (size_t)(info->cursor - info->buffer));
    const char *const *words;
    size_t n, have = strlen(line), from, len;

    (void)ch;
    from = debug_complete(t->s, line, t->a, &words, &n);
    if (!n)
        return CC_REFRESH_BEEP;
    len = common(words, n);
    if (len > have - from)
        el_insertstr(el,
                     arena_printf(t->a, "%.*s%s", (int)(len - (have - from)),
                                  words[0] + (have - from), n == 1 ? " " : ""));
    else if (n > 1)
        return list(words, n);
    else
        el_insertstr(el, " ");
    return CC_REFRESH;
}

static void keys(typing *t)
{
    el_set(t->el, EL_CLIENTDATA, t);
    el_set(t->el, EL_PROMPT, prompt_of);
    el_set(t->el, EL_EDITOR, "emacs");
    el_set(t->el, EL_HIST, history, t->h);
    el_set(t->el, EL_ADDFN, "vpu-complete", "complete a word", complete);
    el_set(t->el, EL_BIND, "^I", "vpu-complete", NULL);
    el_set(t->el, EL_ADDFN, "vpu-drop", "drop the line", drop_line);
    /* As keys, not as a signal: the line is libedit's meanwhile. */
    el_set(t->el, EL_SETTY, "-d", "-isig", NULL);
    el_set(t->el, EL_BIND, "^C", "vpu-drop", NULL);
    el_set(t->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_source(t->el, NULL);
}

typing *typing_open(const char *prompt)
{
    arena *a;
    typing *t;
    HistEvent e;
    vpu_error err;

    if (late_need("libedit", &err))
        return NULL;
    a = arena_create(0);
    t = arena_new(a, typing);
    t->a = a;
    t->prompt = prompt;
    t->file = file_state_path(a, "debug_history");
    t->el = el_init("vpu", stdin, stdout, stderr);
    t->h = history_init();
    if (!t->el || !t->h) {
        typing_close(t);
        return NULL;
    }
    history(t->h, &e, H_SETSIZE, HISTORY);
    history(t->h, &e, H_SETUNIQUE, 1);
    if (t->file)
        history(t->h, &e, H_LOAD, t->file);
    keys(t);
    return t;
}

const char *typing_ask(void *user, debug_session *s)
{
    typing *t = user;
    const char *line;
    HistEvent e;
    int n = 0;

    t->s = s;
    t->dropped = false;
    line = el_gets(t->el, &n);
    t->s = NULL;
    if (t->dropped) {
        fputs("^C\n", stdout);
        return "#";
    }
    if (!line || n <= 0) {
        fputs("\n", stdout);
        return NULL;
    }
    if (line[strspn(line, " \t\r\n")])
        history(t->h, &e, H_ENTER, line);
    return line;
}

/* Nobody's session fails because its commands cannot be kept. */
static void save(const typing *t)
{
    HistEvent e;

    if (t->file && !file_mkdirs(file_dirname(t->a, t->file), NULL))
        history(t->h, &e, H_SAVE, t->file);
}

void typing_close(typing *t)
{
    if (!t)
        return;
    if (t->h && t->el)
        save(t);
    if (t->h)
        history_end(t->h);
    if (t->el)
        el_end(t->el);
    arena_destroy(t->a);
}
