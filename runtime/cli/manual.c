/* See manual.h. The texts of a command are those of its help: paragraphs, and
 * lines that begin with spaces, which stay as they are. mandoc -Tlint is
 * content with what comes out: each sentence begins a line, none is longer than
 * 80 columns. */
#include "runtime/cli/manual.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 76 };

/* --- text ---------------------------------------------------------------- */

/* What roff would take for something else. A '-' that is to be typed stays one:
 * a hyphen looks alike and cannot be copied into a command line. */
static void put_char(str *out, const char *text, size_t i, bool typed)
{
    static const struct {
        char c;
        const char *as;
    } others[] = {
        {'\\', "\\e"}, {'~', "\\(ti"}, {'^', "\\(ha"}, {'`', "\\(ga"}};
    char before = i ? text[i - 1] : ' ';

    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (text[i] == others[k].c) {
            str_puts(out, others[k].as);
            return;
        }
    if (text[i] == '-' && (typed || before == '-' || isspace(before) ||
                           before == '(' || before == '['))
        str_puts(out, "\\-");
    else if (text[i] == '"' && typed)
        str_puts(out, "\\(dq");
    else if (text[i] == '\'' && typed)
        str_puts(out, "\\(aq");
    else
        str_add(out, text + i, 1);
}

static void put_text(str *out, const char *text, size_t n, bool typed)
{
    if (n && (*text == '.' || *text == '\''))
        str_puts(out, "\\&");
    for (size_t i = 0; i < n; i++)
        put_char(out, text, i, typed);
}

/* An argument of a macro: one word. */
static void put_argument(str *out, const char *text, size_t n)
{
    str_puts(out, "\"");
    if (n == 1 && ispunct(*text)) /* else it is taken for punctuation */
        str_puts(out, "\\&");
    put_text(out, text, n, true);
    str_puts(out, "\"");
}

static bool ends_sentence(const char *word, size_t n)
{
    while (n > 1 && (word[n - 1] == ')' || word[n - 1] == '\''))
        n--;
    return n > 1 && strchr(".!?", word[n - 1]);
}

/* Words, filled; every sentence begins a line. A newline in the text is a break
 * that is shown. */
static void put_filled(str *out, const char *text, size_t n)
{
    size_t width = 0;

    for (size_t i = 0; i < n;) {
        size_t w = 0;

        if (text[i] == ' ' || text[i] == '\n') {
            if (text[i] == '\n' && i + 1 < n) {
                str_puts(out, "\n.br\n");
                width = 0;
            }
            i++;
            continue;
        }
        while (i + w < n && text[i + w] != ' ' && text[i + w] != '\n')
            w++;
        if (width)
            str_puts(out, width + 1 + w > WIDTH ? "\n" : " ");
        if (width + 1 + w > WIDTH)
            width = 0;
        put_text(out, text + i, w, false);
        width += w + 1;
        i += w;
        if (ends_sentence(text + i - w, w) && i < n && text[i] == ' ') {
            str_puts(out, "\n");
            width = 0;
        }
    }
    if (width)
        str_puts(out, "\n");
}

/* --- paragraphs ---------------------------------------------------------- */

typedef enum { ABOUT, STATUS, EXAMPLES } part;

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static size_t line_of(const char *text)
{
    size_t n = strcspn(text, "\n");

    return n + (text[n] == '\n');
}

static bool is_empty(const char *line)
{
    return *line == '\n' || !*line;
}

/* Lines that are alike: indented ones, or text. */
static size_t run_of(const char *text, bool *indented)
{
    size_t n = 0;

    *indented = *text == ' ';
    while (!is_empty(text + n) && (text[n] == ' ') == *indented)
        n += line_of(text + n);
    return n;
}

static void put_literal(str *out, const char *text, size_t n)
{
    size_t margin = strspn(text, " ");

    str_puts(out, ".Bd -literal -offset indent\n");
    for (size_t i = 0; i < n; i += line_of(text + i)) {
        size_t spaces = strspn(text + i, " ");
        size_t from = spaces < margin ? spaces : margin;

        put_text(out, text + i + from, strcspn(text + i + from, "\n"), true);
        str_puts(out, "\n");
    }
    str_puts(out, ".Ed\n");
}

/* A paragraph; false: nothing of it is to be shown. *first: the section has
 * just begun, and needs no space above. */
static void put_paragraph(str *out, const char *text, size_t n, bool *first)
{
    for (size_t i = 0; i < n;) {
        bool indented;
        size_t w = run_of(text + i, &indented);
        str joined = {0};

        if (indented) {
            put_literal(out, text + i, w);
        } else {
            if (!*first)
                str_puts(out, ".Pp\n");
            for (size_t k = 0; k < w; k++)
                str_add(&joined, text[i + k] == '\n' ? " " : text + i + k, 1);
            put_filled(out, str_text(&joined), joined.n);
            str_free(&joined);
        }
        *first = false;
        i += w;
    }
}

static part part_of(const char *paragraph)
{
    return begins(paragraph, "Exit status") ? STATUS
           : begins(paragraph, "Example")   ? EXAMPLES
                                            : ABOUT;
}

/* Those paragraphs of a text that belong to a section. The line "Example:" is
 * the section's heading already. Returns how many came. */
static size_t put_part(str *out, const char *text, part which, bool *first)
{
    size_t n_put = 0;

    while (text && *text) {
        size_t n = 0;

        while (!is_empty(text + n))
            n += line_of(text + n);
        if (n && part_of(text) == which) {
            size_t skip = which == EXAMPLES ? line_of(text) : 0;

            put_paragraph(out, text + skip, n - skip, first);
            n_put++;
        }
        text += n;
        text += *text == '\n';
    }
    return n_put;
}

/* --- a command ----------------------------------------------------------- */

void manual_name(const cli_command *c, str *out)
{
    str_puts(out, "vpu-");
    for (const char *s = c->name; *s; s++)
        str_add(out, *s == ' ' ? "-" : s, 1);
}

static void put_upper(str *out, const char *text)
{
    for (; *text; text++) {
        char c = (char)toupper((unsigned char)*text);

        str_add(out, &c, 1);
    }
}

static void put_head(str *out, const char *name, const char *section,
                     const char *summary, const char *date)
{
    str_printf(out, ".Dd %s\n.Dt ", date);
    put_upper(out, name);
    str_printf(out, " %s\n.Os\n.Sh NAME\n.Nm %s\n.Nd ", section, name);
    put_text(out, summary, strlen(summary), false);
    str_puts(out, "\n");
}

/* A word of a usage line: an option, what stands for something else, or what is
 * typed as it is. */
static void put_usage_word(str *out, const char *word, size_t n)
{
    bool upper = false;

    if (n > 1 && *word == '-') {
        str_puts(out, ".Fl ");
        put_argument(out, word + 1, n - 1);
    } else {
        for (size_t i = 0; i < n; i++)
            upper |= isupper((unsigned char)word[i]) || word[i] == '.';
        str_puts(out, upper ? ".Ar " : n == 1 ? ".No " : ".Cm ");
        put_argument(out, word, n);
    }
    str_puts(out, "\n");
}

/* "vpu run LAYER.xml [OPTIONS]". */
static void put_usage(str *out, const char *line, size_t n)
{
    static const char marks[] = " []|";

    str_puts(out, ".Nm vpu\n");
    for (size_t i = strlen("vpu"); i < n;) {
        size_t w = 0;

        if (line[i] == '[')
            str_puts(out, ".Oo\n");
        else if (line[i] == ']')
            str_puts(out, ".Oc\n");
        else if (line[i] == '|')
            str_puts(out, "\\&|\n");
        if (strchr(marks, line[i])) {
            i++;
            continue;
        }
        while (i + w < n && !strchr(marks, line[i + w]))
            w++;
        put_usage_word(out, line + i, w);
        i += w;
    }
}

/* The usage's lines; returns the text behind. */
static const char *put_synopsis(str *out, const char *head)
{
    const size_t indent = strlen("usage: ");

    str_puts(out, ".Sh SYNOPSIS\n");
    while (!is_empty(head)) {
        put_usage(out, head + indent, strcspn(head, "\n") - indent);
        head += line_of(head);
    }
    return head;
}

static void put_option(str *out, const cli_option *o)
{
    const char *name = *o->name == '-' ? o->name + 1 : o->name;

    str_puts(out, ".It Fl ");
    if (*o->name != '-')
        str_puts(out, "\\-");
    put_text(out, name, strlen(name), true);
    if (o->value) {
        str_puts(out, *o->value == '[' ? " Ns Ar " : " Ar ");
        put_argument(out, o->value, strlen(o->value));
    }
    str_puts(out, "\n");
    put_filled(out, o->help, strlen(o->help));
}

static void put_options(str *out, const cli_option *rows, size_t n, bool *list)
{
    for (size_t i = 0; i < n; i++) {
        const cli_option *o = &rows[i];

        if (!o->help)
            continue;
        if (o->kind == OPTION_HEADING) {
            if (*list)
                str_puts(out, ".El\n");
            *list = false;
            str_puts(out, ".Ss ");
            put_text(out, o->help, strcspn(o->help, ":"), false);
            str_puts(out, "\n");
            continue;
        }
        if (!*list)
            str_puts(out, ".Bl -tag -width Ds\n");
        *list = true;
        put_option(out, o);
    }
}

static void put_all_options(str *out, const cli_command *c)
{
    bool list = false;

    if (!c->n_tables)
        return;
    str_puts(out, ".Sh OPTIONS\n");
    for (size_t k = 0; k < c->n_tables; k++)
        put_options(out, c->tables[k].options->rows, c->tables[k].options->n,
                    &list);
    if (list)
        str_puts(out, ".El\n");
}

static void put_parts(str *out, const cli_command *c)
{
    if (!c->parts)
        return;
    str_puts(out, ".Bl -tag -width Ds\n");
    for (size_t i = 0; c->parts[i]; i++) {
        str_puts(out, ".It Xr ");
        manual_name(c->parts[i], out);
        str_puts(out, " 1\n");
        put_filled(out, c->parts[i]->summary, strlen(c->parts[i]->summary));
    }
    str_puts(out, ".El\n");
}

static void put_status(str *out, const cli_command *c, const char *head)
{
    bool first = true;

    str_puts(out, ".Sh EXIT STATUS\n");
    if (put_part(out, head, STATUS, &first) +
        put_part(out, c->tail, STATUS, &first))
        return;
    str_puts(out, "0 when it is done, 2 and above when it is not: ");
    str_puts(out, strcmp(c->name, "run") ? "see\n.Xr vpu-run 1 .\n" : "\n");
}

void manual_page(const cli_command *c, const cli_command *parent,
                 const char *date, str *out)
{
    str name = {0}, examples = {0};
    const char *head;
    bool first = true;

    manual_name(c, &name);
    put_head(out, str_text(&name), "1", c->summary, date);
    head = put_synopsis(out, c->head);
    str_puts(out, ".Sh DESCRIPTION\n");
    put_part(out, head, ABOUT, &first);
    put_parts(out, c);
    put_part(out, c->tail, ABOUT, &first);
    put_all_options(out, c);
    put_status(out, c, head);
    first = true;
    if (put_part(&examples, head, EXAMPLES, &first) +
        put_part(&examples, c->tail, EXAMPLES, &first))
        str_printf(out, ".Sh EXAMPLES\n%s", str_text(&examples));
    str_puts(out, ".Sh SEE ALSO\n.Xr vpu 1");
    if (parent) {
        str_puts(out, " ,\n.Xr ");
        manual_name(parent, out);
        str_puts(out, " 1");
    }
    str_puts(out, "\n");
    str_free(&examples);
    str_free(&name);
}

/* --- vpu(1) -------------------------------------------------------------- */

/* What the program asks the environment for. */
static const struct {
    const char *name, *about;
} variables[] = {
    {"NO_COLOR", "if it is set and not empty, messages have no colours"},
    {"TMPDIR", "where temporary files are made, /tmp without it"},
    {"VPU_CL", "options of the OpenCL driver, as those of vpu cl"},
    {"VPU_DUMP", "steps of the compiler to print: items, groups, device, host"},
    {"VPU_FONT_DIR", "the folder of the viewer's fonts"},
    {"VPU_OPENVINO", "where the OpenVINO is that networks are compiled by"},
    {"XDG_CACHE_HOME",
     "compiled kernels are kept in vpusim below it, ~/.cache without it"},
    {"XDG_STATE_HOME",
     "what the viewer and the debugger remember, ~/.local/state without it"}};

static int by_name(const void *a, const void *b)
{
    const cli_command *const *x = a, *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

void manual_front(const cli_command *const *list, size_t n, const char *date,
                  str *out)
{
    const cli_command **sorted = calloc(n + 1, sizeof *sorted);

    put_head(out, "vpu", "1",
             "simulator of the Myriad X VPU for OpenCL custom layers", date);
    str_puts(out,
             ".Sh SYNOPSIS\n.Nm\n.Ar COMMAND\n.Op Ar OPTIONS\n"
             ".Nm\n.Cm help\n.Ar COMMAND\n.Nm\n.Fl \\-version\n"
             ".Sh DESCRIPTION\nThe commands, each with a page of its own:\n"
             ".Bl -tag -width Ds\n");
    for (size_t i = 0; i < n; i++) {
        str_puts(out, ".It Xr ");
        manual_name(list[i], out);
        str_puts(out, " 1\n");
        put_filled(out, list[i]->summary, strlen(list[i]->summary));
        sorted[i] = list[i];
    }
    str_puts(out, ".El\n.Sh ENVIRONMENT\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        str_printf(out, ".It Ev %s\n", variables[i].name);
        put_filled(out, variables[i].about, strlen(variables[i].about));
    }
    str_puts(out, ".El\n.Sh EXIT STATUS\n0 when it is done, 1 when results "
                  "differ or something was found,\n2 and above when it could "
                  "not be done:\n.Xr vpu-run 1\nhas the list.\n.Sh EXAMPLES\n"
                  ".Bd -literal -offset indent\n"
                  "vpu run kernels/grn/layer.xml \\-\\-layer GRN \\e\n"
                  "    \\-\\-shape in0=1x16x64x64 \\-\\-param bias=1.0 "
                  "\\-\\-output out\n.Ed\n.Sh SEE ALSO\n");
    qsort(sorted, n, sizeof(const cli_command *), by_name);
    for (size_t i = 0; i < n; i++) {
        str_puts(out, ".Xr ");
        manual_name(sorted[i], out);
        str_puts(out, i + 1 < n ? " 1 ,\n" : " 1\n");
    }
    free(sorted);
}
