/* See complete.h. */
#include "runtime/cli/complete.h"

#include <ctype.h>
#include <string.h>

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* "word\tabout\n" if the word can be continued so. */
static void offer(str *out, const char *typed, const char *front,
                  const char *word, const char *about)
{
    str whole = {0};

    str_printf(&whole, "%s%s", front, word);
    if (begins(str_text(&whole), typed))
        str_printf(out, "%s\t%.*s\n", str_text(&whole),
                   (int)strcspn(about, "\n"), about);
    str_free(&whole);
}

static const char *dashes_of(const cli_option *o)
{
    return o->name && *o->name == '-' ? "" : "--";
}

/* --- values -------------------------------------------------------------- */

/* Each of the words between bars, "sequential|reverse|random:SEED"; of what
 * stands for something else the part in front of it. False: the text has no
 * bars, or no word that is typed as it is. */
static bool offer_choices(str *out, const char *typed, const char *front,
                          const char *value)
{
    bool any = false;

    if (!strchr(value, '|'))
        return false;
    while (*value) {
        size_t n = strcspn(value, "|"), k = 0;
        str word = {0};

        while (k < n && !isupper((unsigned char)value[k]) && value[k] != '[')
            k++;
        str_add(&word, value, k);
        if (k)
            offer(out, typed, front, str_text(&word), "");
        any |= k > 0;
        str_free(&word);
        value += n + (value[n] == '|');
    }
    return any;
}

/* Those lines of an offer that continue what is typed. Of a list of values the
 * last one is completed: those before are in front of it. */
static void offer_lines(str *out, const char *typed, const char *front,
                        const char *lines)
{
    const char *comma = strrchr(typed, ',');
    str before = {0};

    if (comma)
        str_add(&before, typed, (size_t)(comma + 1 - typed));
    else
        str_puts(&before, front);
    while (*lines) {
        size_t n = strcspn(lines, "\n"), w = strcspn(lines, "\t\n");
        str word = {0}, about = {0};

        str_add(&word, lines, w);
        str_add(&about, lines + w + (w < n), n - w - (w < n));
        offer(out, typed, str_text(&before), str_text(&word), str_text(&about));
        str_free(&word);
        str_free(&about);
        lines += n + (lines[n] == '\n');
    }
    str_free(&before);
}

/* A value that is a file, or begins as one may: "NAME=FILE.npy". */
static bool names_file(const char *value)
{
    static const char *const names[] = {"FILE", "DIR", "PATH", "SPEC", "."};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(value, names[i]))
            return true;
    return false;
}

/* typed: the word, of which front is what stands before the value, "--set=". */
static void offer_values(str *out, const cli_option *o, char *const *words,
                         const char *typed, const char *front)
{
    if (o->offer) {
        str lines = {0};

        o->offer(words, &lines);
        offer_lines(out, typed, front, str_text(&lines));
        str_free(&lines);
    } else if (!offer_choices(out, typed, front, o->value) &&
               names_file(o->value)) {
        str_puts(out, ":files\n");
    }
}

/* --- options ------------------------------------------------------------- */

/* The row that a word names: --name, or --name=value. */
static const cli_option *row_of(const cli_command *c, const char *word,
                                bool with_value)
{
    size_t n = with_value ? strcspn(word, "=") : strlen(word);

    for (size_t k = 0; k < c->n_tables; k++)
        for (size_t i = 0; i < c->tables[k].options->n; i++) {
            const cli_option *o = &c->tables[k].options->rows[i];
            const char *dashes = dashes_of(o);

            if (o->kind != OPTION_HEADING && n > strlen(dashes) &&
                begins(word, dashes) && strlen(o->name) == n - strlen(dashes) &&
                !strncmp(o->name, word + strlen(dashes), strlen(o->name)))
                return o;
        }
    return NULL;
}

static void offer_options(str *out, const cli_command *c, const char *typed)
{
    for (size_t k = 0; k < c->n_tables; k++)
        for (size_t i = 0; i < c->tables[k].options->n; i++) {
            const cli_option *o = &c->tables[k].options->rows[i];

            /* "-cl-…" stands for any word that begins so. */
            if (o->help && o->kind != OPTION_HEADING)
                offer(out, typed, dashes_of(o), o->name, o->help);
        }
    offer(out, typed, "", "--help", "what the command does");
}

static bool takes_next_word(const cli_option *o)
{
    return o && o->value && *o->value != '[';
}

static void complete_option(const cli_command *c, char *const *words,
                            const char *before, const char *typed, str *out)
{
    const cli_option *o = before ? row_of(c, before, false) : NULL;

    if (takes_next_word(o)) {
        offer_values(out, o, words, typed, "");
    } else if (*typed == '-' && strchr(typed, '=')) {
        str front = {0};

        o = row_of(c, typed, true);
        str_add(&front, typed, strcspn(typed, "=") + 1);
        if (o && o->value)
            offer_values(out, o, words, typed, str_text(&front));
        str_free(&front);
    } else if (*typed == '-') {
        offer_options(out, c, typed);
    } else {
        str_puts(out, ":files\n");
    }
}

/* --- words --------------------------------------------------------------- */

static void offer_commands(const cli_command *const *list, size_t n,
                           const char *typed, str *out)
{
    for (size_t i = 0; i < n; i++) {
        const char *space = strrchr(list[i]->name, ' ');

        offer(out, typed, "", space ? space + 1 : list[i]->name,
              list[i]->summary);
    }
}

static size_t count_parts(const cli_command *c)
{
    size_t n = 0;

    while (c->parts && c->parts[n])
        n++;
    return n;
}

void complete_words(const cli_command *const *list, size_t n,
                    char *const *words, str *out)
{
    const cli_command *c;
    size_t last = 0;
    int taken = 0;

    if (!*words)
        return;
    while (words[last + 1])
        last++;
    if (last && !strcmp(words[0], "help")) {
        words++;
        last--;
    } else if (!last) {
        offer(out, words[0], "", "help", "what a command does");
        offer(out, words[0], "", "version", "version of this program");
        offer(out, words[0], "", "--help", "the commands");
        offer(out, words[0], "", "--version", "version of this program");
    }
    if (!last) {
        offer_commands(list, n, words[0], out);
        return;
    }
    if (!(c = cli_find(list, n, words, &taken)))
        return;
    if (last == 1 && c->parts)
        offer_commands(c->parts, count_parts(c), words[1], out);
    if (last >= (size_t)taken)
        complete_option(c, words, last > (size_t)taken ? words[last - 1] : NULL,
                        words[last], out);
}
