/* Parses command lines by tables of options, and writes their help. */
#include "runtime/cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

bool options_count(const char *text, uint32_t *out)
{
    unsigned long long v;

    if (!str_to_u64(text, &v) || !v || v > UINT32_MAX)
        return false;
    *out = (uint32_t)v;
    return true;
}

/* --- taking -------------------------------------------------------------- */

static bool take_list(options_list *l, const char *value)
{
    if (l->n == OPTION_MAX_LIST)
        return false;
    l->items[l->n++] = value;
    return true;
}

/* Which of the words between bars; false: none of them. */
static bool take_choice(int *to, const char *words, const char *value)
{
    size_t n = strlen(value);

    for (int i = 0;; i++) {
        size_t w = strcspn(words, "|");

        if (w == n && !strncmp(words, value, n)) {
            *to = i;
            return true;
        }
        if (!words[w])
            return false;
        words += w + 1;
    }
}

static bool take_number(uint64_t *to, const char *value)
{
    unsigned long long v;

    if (!str_to_u64(value, &v))
        return false;
    *to = v;
    return true;
}

static bool take_seconds(double *to, const char *value)
{
    double v;

    if (!str_to_f64(value, &v) || !(v >= 0 && v <= 1e9))
        return false;
    *to = v;
    return true;
}

/* Of a COUNT. */
static uint32_t most(const cli_option *o)
{
    return o->most ? o->most : UINT32_MAX;
}

static bool take(const cli_option *o, void *fields, const char *value, arena *a)
{
    void *at = (char *)fields + o->at;

    switch (o->kind) {
    case OPTION_HEADING:
        break;
    case OPTION_FLAG:
        *(bool *)at = true;
        return true;
    case OPTION_NAME:
        *(const char **)at = value;
        return *value;
    case OPTION_TEXT:
        *(const char **)at = value;
        return true;
    case OPTION_COUNT:
        return options_count(value, at) && *(uint32_t *)at <= most(o);
    case OPTION_NUMBER:
        return take_number(at, value);
    case OPTION_SECONDS:
        return take_seconds(at, value);
    case OPTION_CHOICE:
        return take_choice(at, o->value, value);
    case OPTION_LIST:
        return take_list(at, value);
    case OPTION_OTHER:
        return o->take(at, value, a);
    }
    return false;
}

/* --- parsing ------------------------------------------------------------- */

/* One row of one table, as getopt's number N_LETTERS + i says it. */
typedef struct {
    const cli_option *row;
    void *fields;
} bound_row;

typedef struct {
    bound_row *rows;
    size_t n;
    struct option *words;
    char *letters;
} lists;

enum { FIRST_WORD = 256 }; /* behind every letter */

static size_t count_rows(const options_table *t, size_t n_tables)
{
    size_t n = 0;

    for (size_t k = 0; k < n_tables; k++)
        n += t[k].n_rows;
    return n;
}

/* "[=N]": the value may be left out, and stands behind "=". */
static bool is_optional(const cli_option *o)
{
    return !strncmp(o->value, "[=", 2);
}

static int has_value(const cli_option *o)
{
    return !o->value        ? no_argument
           : is_optional(o) ? optional_argument
                            : required_argument;
}

static const char ellipsis[] = "\u2026";

/* Bytes in front of the ellipsis; 0: it is no row for words of all endings. */
static size_t prefix_of(const cli_option *o)
{
    const char *end = strstr(o->name, ellipsis);

    return end ? (size_t)(end - o->name) : 0;
}

static bool is_letter(const cli_option *o)
{
    return o->name[0] == '-' && !o->name[2];
}

static const char *dashes(const cli_option *o)
{
    return o->name[0] == '-' ? "" : "--";
}

static bool is_listed(const lists *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->rows[i].row->name, name))
            return true;
    return false;
}

/* getopt's two lists; of rows with the same name the first counts. */
static void make_lists(const options_table *t, size_t n_tables, arena *a,
                       lists *l)
{
    size_t n = count_rows(t, n_tables), n_words = 0, n_letters = 0;

    l->rows = arena_array(a, bound_row, n + 1);
    l->words = arena_array(a, struct option, n + 1);
    l->letters = arena_array(a, char, 2 * n + 3);
    l->letters[n_letters++] = ':'; /* tell a missing value from a bad option */
    for (size_t k = 0; k < n_tables; k++)
        for (size_t i = 0; i < t[k].n_rows; i++) {
            const cli_option *o = &t[k].rows[i];

            if (o->kind == OPTION_HEADING || is_listed(l, o->name))
                continue;
            l->rows[l->n] = (bound_row){o, t[k].fields};
            if (prefix_of(o)) {
                /* taken before getopt sees the words */
            } else if (!is_letter(o)) {
                l->words[n_words++] = (struct option){
                    o->name, has_value(o), NULL, FIRST_WORD + (int)l->n};
            } else {
                l->letters[n_letters++] = o->name[1];
                if (o->value)
                    l->letters[n_letters++] = ':';
            }
            l->n++;
        }
}

static const bound_row *row_of(const lists *l, int c)
{
    size_t i = 0;

    if (c >= FIRST_WORD)
        return &l->rows[c - FIRST_WORD];
    while (!is_letter(l->rows[i].row) || l->rows[i].row->name[1] != c)
        i++; /* getopt knows no other letters */
    return &l->rows[i];
}

/* What the option takes, in words; own is for those that are made here. */
static const char *expected(const cli_option *o, char own[64])
{
    switch (o->kind) {
    case OPTION_HEADING:
    case OPTION_FLAG:
    case OPTION_TEXT:
        break;
    case OPTION_NAME:
        return "a word that is not empty";
    case OPTION_COUNT:
        snprintf(own, 64, "a whole number from 1 to %u", most(o));
        return own;
    case OPTION_NUMBER:
        return "a whole number from 0";
    case OPTION_SECONDS:
        return "seconds, from 0 to 1e9";
    case OPTION_LIST:
        return "at most 256 of them";
    case OPTION_CHOICE:
    case OPTION_OTHER:
        return o->value;
    }
    return "another value";
}

static vpu_status refuse(const cli_option *o, const char *value, vpu_error *err)
{
    char own[64];
    const char *form = expected(o, own);
    int n = (int)strlen(form);

    if (!strncmp(form, "[=", 2)) { /* the brackets are no part of the value */
        form += 2;
        n -= 3;
    }
    if (!value)
        return err_set(err, VPU_ERR_INVALID, "%s%s needs a value here: %.*s",
                       dashes(o), o->name, n, form);
    return err_set(err, VPU_ERR_INVALID,
                   "%s%s does not take '%s': expected %.*s", dashes(o), o->name,
                   value, n, form);
}

/* Of rows that help shows, the one like a word of two dashes; NULL: none. */
static const char *like(const lists *l, const char *word)
{
    size_t n = strcspn(word, "=");
    char name[NEAREST_LONGEST + 1];
    nearest x = {.word = name};

    if (strncmp(word, "--", 2) || n - 2 > NEAREST_LONGEST)
        return NULL;
    memcpy(name, word + 2, n - 2);
    name[n - 2] = 0;
    for (size_t i = 0; i < l->n; i++)
        if (l->rows[i].row->help && !is_letter(l->rows[i].row))
            nearest_offer(&x, l->rows[i].row->name);
    return x.best;
}

/* getopt found no option of ours, or none that is clear. */
static vpu_status bad_word(int c, const lists *l, char **argv, vpu_error *err)
{
    const char *word = argv[optind - 1], *near = like(l, word);

    if (c == ':')
        return err_set(err, VPU_ERR_INVALID, "%s needs a value", word);
    if (optopt >= FIRST_WORD)
        return err_set(err, VPU_ERR_INVALID, "%s takes no value", word);
    if (optopt)
        return err_set(err, VPU_ERR_INVALID, "unknown option -%c", optopt);
    return err_set(err, VPU_ERR_INVALID, "unknown option %s%s%s%s", word,
                   near ? "; did you mean --" : "", near ? near : "",
                   near ? "?" : "");
}

static const bound_row *prefixed(const lists *l, const char *word)
{
    for (size_t i = 0; i < l->n; i++) {
        size_t n = prefix_of(l->rows[i].row);

        if (n && !strncmp(word, l->rows[i].row->name, n))
            return &l->rows[i];
    }
    return NULL;
}

/* Takes words like -cl-fast-relaxed-math, which getopt would read as letters,
 * and closes the gaps. */
static vpu_status take_prefixed(const lists *l, options_line *line, arena *a,
                                vpu_error *err)
{
    char **argv = line->argv;
    int n = 1;
    bool options = true;

    for (int i = 1; i < line->argc; i++) {
        const bound_row *r = options ? prefixed(l, argv[i]) : NULL;

        options = options && strcmp(argv[i], "--") != 0;
        if (!r)
            argv[n++] = argv[i];
        else if (!take(r->row, r->fields, argv[i], a))
            return refuse(r->row, argv[i], err);
    }
    argv[n] = NULL;
    line->argc = n;
    return VPU_OK;
}

vpu_status options_parse(const options_table *tables, size_t n_tables,
                         options_line *line, arena *a, vpu_error *err)
{
    lists l = {.n = 0};
    vpu_status st;
    int c;

    make_lists(tables, n_tables, a, &l);
    st = take_prefixed(&l, line, a, err);
    if (st)
        return st;
    line->needs.n = 0;
    optind = 0; /* anew */
    while ((c = getopt_long(line->argc, line->argv, l.letters, l.words,
                            NULL)) != -1) {
        const bound_row *r;

        if (c == '?' || c == ':')
            return bad_word(c, &l, line->argv, err);
        r = row_of(&l, c);
        if (!take(r->row, r->fields, optarg, a))
            return refuse(r->row, optarg, err);
        if (r->row->needs && line->needs.n < OPTION_MAX_LIST)
            line->needs.given[line->needs.n++] = r->row;
    }
    line->words = line->argv + optind;
    line->n_words = line->argc - optind;
    return VPU_OK;
}

int options_words(const cli_option *rows, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++) {
        const cli_option *o = &rows[i];
        size_t w, d;

        if (o->kind == OPTION_HEADING)
            continue;
        d = strlen(dashes(o));
        w = strlen(o->name);
        if (strncmp(word, dashes(o), d) || strncmp(word + d, o->name, w))
            continue;
        if (word[d + w] == '=')
            return 1;
        if (!word[d + w])
            return has_value(o) == required_argument ? 2 : 1;
    }
    return 0;
}

/* --- help ---------------------------------------------------------------- */

enum { TEXT_COLUMN = 26, WIDTH = 80 };

/* Columns that a text takes: its code points. */
static size_t columns(const char *s, size_t n)
{
    size_t w = 0;

    for (size_t i = 0; i < n; i++)
        w += (s[i] & 0xc0) != 0x80;
    return w;
}

static void indent(str *out, size_t from)
{
    for (; from < TEXT_COLUMN; from++)
        str_puts(out, " ");
}

/* Words up to the next line break; at: the column the line has reached. */
static const char *put_line(const char *text, size_t at, str *out)
{
    bool first = true;

    while (*text && *text != '\n') {
        size_t n = strcspn(text, " \n"), w = columns(text, n);

        if (!first && at + 1 + w > WIDTH) {
            str_puts(out, "\n");
            indent(out, 0);
            at = TEXT_COLUMN;
            first = true;
        }
        if (!first)
            str_puts(out, " ");
        at += w + !first;
        str_add(out, text, n);
        first = false;
        text += n;
        text += *text == ' ';
    }
    return *text ? text + 1 : text;
}

static void put_row(const cli_option *o, str *out)
{
    const char *text = o->help;
    str left = {0};
    size_t w;

    str_printf(&left, "  %s%s", dashes(o), o->name);
    if (o->value)
        str_printf(&left, "%s%s", is_optional(o) ? "" : " ", o->value);
    w = columns(left.data, left.n);
    str_add(out, left.data, left.n);
    str_free(&left);
    if (w + 1 >= TEXT_COLUMN) {
        str_puts(out, "\n");
        w = 0;
    }
    indent(out, w);
    text = put_line(text, TEXT_COLUMN, out);
    str_puts(out, "\n");
    while (*text) {
        indent(out, 0);
        text = put_line(text, TEXT_COLUMN, out);
        str_puts(out, "\n");
    }
}

void options_help(const cli_option *rows, size_t n, str *out)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].kind == OPTION_HEADING)
            str_printf(out, "%s\n", rows[i].help);
        else if (rows[i].help)
            put_row(&rows[i], out);
}

void options_names(const cli_option *rows, size_t n, size_t *at, str *out)
{
    for (size_t i = 0; i < n; i++) {
        const cli_option *o = &rows[i];
        str text = {0};
        size_t w;

        if (!o->help)
            continue;
        if (o->kind == OPTION_HEADING) {
            str_printf(out, "%s%s\n", *at ? "\n" : "", o->help);
            *at = 0;
            continue;
        }
        str_printf(&text, "%s%s", dashes(o), o->name);
        if (o->value)
            str_printf(&text, "%s%s", is_optional(o) ? "" : " ", o->value);
        w = columns(text.data, text.n) + 2;
        if (*at && *at + w > WIDTH) {
            str_puts(out, "\n");
            *at = 0;
        }
        str_puts(out, "  ");
        str_add(out, text.data, text.n);
        str_free(&text);
        *at += w;
    }
}
