/* Clang's messages, line by line. The prelude declares a function many times,
 * by macros, and clang shows no declaration of a built-in: in place of the
 * notes about all of them stands the form of a call, and each reason once. */
#include "sim/compiler/front/diagnostics.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "sim/builtins/calls.h"
#include "sim/builtins/lacking.h"
#include "sim/compiler/front/clang.h"

enum { MAX_TEXTS = 2, MAX_TOLD = 32 };

typedef struct {
    const char *items[MAX_TEXTS];
    uint32_t n;
    bool more;
} texts;

/* The message about a call, and what the notes left out below it say. */
typedef struct {
    const char *place; /* PATH:LINE:COLUMN */
    const char *name;  /* NULL = the last message is about no call */
    texts reasons;
} call;

/* The message about something that a VPU lacks. */
typedef struct {
    const char *place;
    const lacking_row *row; /* NULL = the last message is about no such thing */
} lack;

typedef struct {
    const char *prelude_path;
    arena *a;
    str out;
    call call;
    lack lack;
    const lacking_row *told[MAX_TOLD]; /* once is enough of each */
    uint32_t n_told;
} digest;

/* A line of source, or of marks below it, that belongs to the message above. */
static bool is_snippet(const char *l)
{
    l += strspn(l, " ");
    l += strspn(l, "0123456789");
    l += strspn(l, " ");
    return *l == '|';
}

/* Names of the prelude that stand in for the standard's. */
static void put_names(str *s, const char *l)
{
    static const char *const names[][2] = {
#define STAND_IN(name, standard, symbol) {CALL_PREFIX #name, standard},
#include "sim/builtins/calls.def"
    };
    enum { N_NAMES = sizeof names / sizeof *names };
    size_t i;

    for (; *l; l += i < N_NAMES ? strlen(names[i][0]) : 1) {
        for (i = 0; i < N_NAMES; i++)
            if (!strncmp(l, names[i][0], strlen(names[i][0])))
                break;
        if (i < N_NAMES)
            str_puts(s, names[i][1]);
        else
            str_add(s, l, 1);
    }
}

static void put_line(digest *d, const char *l)
{
    if (d->out.n)
        str_puts(&d->out, "\n");
    put_names(&d->out, l);
}

/* --- calls --------------------------------------------------------------- */

static const struct {
    const char *name, *parameters, *meaning;
} signatures[] = {
#define SIGNATURE(name, parameters, meaning) {#name, parameters, meaning},
#include "sim/builtins/signatures.def"
};
enum { N_SIGNATURES = sizeof signatures / sizeof *signatures };

/* The forms of a built-in, with the letters of builtins.def. */
static const struct {
    const char *name, *forms;
    bool is_family; /* the name is the beginning of many */
} builtins[] = {
#define BUILTIN(name, expander, data, types) {#name, types, false},
#define FAMILY(name, expander, types) {#name, types, true},
#include "sim/builtins/builtins.def"
};
enum { N_BUILTINS = sizeof builtins / sizeof *builtins };

/* Letters of the forms: how a form shows one, and what the legend says of it;
 * NULL: nothing, it is the type itself. */
static const struct {
    char letter;
    const char *shown, *legend;
} letters[] = {
    {'F', "F", "half or float, scalar or vector"},
    {'G', "G", "an integer, scalar or vector"},
    {'T', "T", "half, float or an integer, scalar or vector"},
    {'e', "e", "one element of it"},
    {'I', "I", "as many ints"},
    {'B', "B", "as many integers of its size"},
    {'S', "S", "as many integers of its size, one int for a scalar"},
    {'D', "D", "as many integers of twice its size"},
    {'N', "N", "its element in any number of lanes"},
    {'U', "U", "integers of its size in as many lanes"},
    {'A', "A", "any type"},
    {'P', "pointer", NULL},
    {'c', "char", NULL},
    {'s', "short", NULL},
    {'i', "int", NULL},
    {'l', "long", NULL},
    {'h', "half", NULL},
    {'f', "float", NULL},
    {'.', "\u2026", NULL},
};
enum { N_LETTERS = sizeof letters / sizeof *letters };

/* One form, "result(arguments)", as a call; used: of the letters. Behind it. */
static const char *put_form(const char *form, const char *name, str *s,
                            bool *used)
{
    const char *separator = "";

    str_printf(s, "%s(", name);
    for (form = strchr(form, '(') + 1; *form != ')'; form++) {
        size_t i = 0;

        while (i < N_LETTERS && letters[i].letter != *form)
            i++;
        if (i == N_LETTERS) {
            str_add(s, form, *form >= '0' && *form <= '9'); /* lanes */
            continue;
        }
        str_printf(s, "%s%s", separator, letters[i].shown);
        used[i] = true;
        separator = ", ";
    }
    str_puts(s, ")");
    return form + 1;
}

/* "max(T, T) or max(T, e); T: ..."; false: the name is no built-in's. */
static bool put_forms(const char *name, str *s)
{
    bool used[N_LETTERS] = {false};
    const char *form = NULL;
    size_t longest = 0;

    for (size_t i = 0; i < N_BUILTINS; i++) {
        size_t n = strlen(builtins[i].name);

        if (n >= longest && !strncmp(name, builtins[i].name, n) &&
            (builtins[i].is_family || !name[n])) {
            form = builtins[i].forms;
            longest = n;
        }
    }
    if (!form)
        return false;
    for (const char *intro = ""; *form; intro = " or ") {
        str_puts(s, intro);
        form = put_form(form, name, s, used);
        form += *form == ' ';
    }
    for (size_t i = 0; i < N_LETTERS; i++)
        if (used[i] && letters[i].legend)
            str_printf(s, "; %s: %s", letters[i].shown, letters[i].legend);
    str_puts(s, "; arguments are not converted");
    return true;
}

/* The text behind `before`, up to `end`; NULL: l does not have both. */
static char *between(digest *d, const char *l, const char *before,
                     const char *end)
{
    const char *from = strstr(l, before), *to;

    if (!from)
        return NULL;
    from += strlen(before);
    to = strstr(from, end);
    return to ? arena_strndup(d->a, from, (size_t)(to - from)) : NULL;
}

/* The standard's name for one that the prelude has in its place. */
static const char *standard_name(digest *d, const char *name)
{
    str s = {0};

    put_names(&s, name);
    name = arena_strdup(d->a, str_text(&s));
    str_free(&s);
    return name;
}

/* A message that is about a call: what the notes below it say belongs to it. */
static void begin_call(digest *d, const char *l)
{
    const char *error = strstr(l, ": error: ");
    const char *name =
        !error ? NULL
               : between(d, error, "no matching function for call to '", "'");

    if (error && !name)
        name = between(d, error, ": call to '", "' is ambiguous");
    if (name)
        d->call = (call){.place = arena_strndup(d->a, l, (size_t)(error - l)),
                         .name = standard_name(d, name)};
}

static void add_once(texts *list, const char *text)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (!strcmp(list->items[i], text))
            return;
    if (list->n == MAX_TEXTS)
        list->more = true;
    else
        list->items[list->n++] = text;
}

/* A note of a candidate that is left out. */
static void add_reason(digest *d, const char *note)
{
    const char *why = strstr(note, "not viable: ");

    if (why)
        add_once(&d->call.reasons,
                 standard_name(d, why + strlen("not viable: ")));
}

/* How the function is called; nothing is known of the user's own. */
static void put_signature(digest *d, const call *c)
{
    str s = {0};
    bool known = false;

    str_printf(&s, "%s: note: ", c->place);
    for (size_t i = 0; i < N_SIGNATURES && !known; i++)
        if (!strcmp(signatures[i].name, c->name)) {
            str_printf(&s, "%s(%s); %s", c->name, signatures[i].parameters,
                       signatures[i].meaning);
            known = true;
        }
    if (known || put_forms(c->name, &s))
        put_line(d, str_text(&s));
    str_free(&s);
}

static void end_call(digest *d)
{
    const texts *reasons = &d->call.reasons;
    str s = {0};

    if (!d->call.name)
        return;
    put_signature(d, &d->call);
    str_printf(&s, "%s: note: this call does not fit: ", d->call.place);
    for (uint32_t i = 0; i < reasons->n; i++)
        str_printf(&s, "%s%s", i ? "; " : "", reasons->items[i]);
    str_puts(&s, reasons->more ? "; \u2026" : "");
    if (reasons->n)
        put_line(d, str_text(&s));
    str_free(&s);
    d->call = (call){0};
}

/* --- what a VPU lacks ---------------------------------------------------- */

static void begin_lack(digest *d, const char *l)
{
    const char *error = strstr(l, ": error: ");
    const lacking_row *row = error ? lacking_in_message(error) : NULL;

    if (row)
        d->lack = (lack){arena_strndup(d->a, l, (size_t)(error - l)), row};
}

static bool is_told(const digest *d, const lacking_row *row)
{
    for (uint32_t i = 0; i < d->n_told; i++)
        if (d->told[i] == row)
            return true;
    return false;
}

static void end_lack(digest *d)
{
    const lacking_row *row = d->lack.row;
    str s = {0};

    if (row && !is_told(d, row)) {
        str_printf(&s, "%s: note: " LACKING_FORMAT, d->lack.place, row->name,
                   row->why, row->instead);
        put_line(d, str_text(&s));
        if (d->n_told < MAX_TOLD)
            d->told[d->n_told++] = row;
    }
    str_free(&s);
    d->lack = (lack){0};
}

/* Clang names candidates of its own where the call is. They do not help: the
 * function is not there. Another candidate is the user's: then it is, and
 * nothing lacks. */
static bool is_candidate(digest *d, const char *l)
{
    const char *note = strstr(l, ": note: candidate ");
    size_t n = note ? (size_t)(note - l) : 0;

    if (!d->lack.row || !note)
        return false;
    if (n == strlen(d->lack.place) && !memcmp(l, d->lack.place, n))
        return true;
    d->lack.row = NULL;
    return false;
}

/* --- all ----------------------------------------------------------------- */

/* What is lacking is so whatever the call looks like. */
static void begin_message(digest *d, const char *l)
{
    begin_lack(d, l);
    if (!d->lack.row)
        begin_call(d, l);
}

static void end_message(digest *d)
{
    end_lack(d);
    end_call(d);
}

static bool is_ours(const digest *d, const char *l)
{
    return strstr(l, d->prelude_path) || strstr(l, "opencl-c-base.h") ||
           strstr(l, "opencl-c.h");
}

char *fe_diagnostics(char *text, const char *prelude_path, arena *a)
{
    digest d = {.prelude_path = prelude_path, .a = a};
    bool hidden = false;
    char *save = NULL, *out;

    for (char *l = strtok_r(text, "\n", &save); l;
         l = strtok_r(NULL, "\n", &save)) {
        bool shown = is_snippet(l);

        if (!strncmp(l, "PLEASE submit", 13)) /* a stack of clang's follows */
            break;
        if (shown && hidden)
            continue;
        if (!shown)
            hidden = is_ours(&d, l) || is_candidate(&d, l);
        if (hidden && d.call.name)
            add_reason(&d, l);
        if (hidden || strstr(l, "too many errors") ||
            !strncmp(l, FE_CLANG, strlen(FE_CLANG)))
            continue;
        if (!shown) {
            end_message(&d);
            begin_message(&d, l);
        }
        put_line(&d, l);
    }
    end_message(&d);
    out = arena_strdup(a, str_text(&d.out));
    str_free(&d.out);
    return out;
}
