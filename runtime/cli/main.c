/* Entry of the vpu program: picks the subcommand. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/clock.h"
#include "base/nearest.h"
#include "base/oom.h"
#include "base/str.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/complete.h"
#include "runtime/cli/ending.h"
#include "runtime/cli/manual.h"
#include "runtime/cli/stop.h"

static const cli_command *const commands[] = {
    &cli_init, &cli_run,    &cli_debug,   &cli_dap,       &cli_check,
    &cli_lint, &cli_diff,   &cli_record,  &cli_suite,     &cli_port,
    &cli_tune, &cli_whatif, &cli_sweep,   &cli_cc,        &cli_asm,
    &cli_view, &cli_trace,  &cli_machine, &cli_calibrate, &cli_devices,
    &cli_blob, &cli_cl,     &cli_stick,   &cli_reset,     &cli_stick_report};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static bool quiet_log, progress_shown;

void cli_progress_done(void)
{
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}

/* A text that begins as compilers' do, "FILE:LINE: error: ": what reads their
 * messages, an editor's list of problems, expects nothing in front of it. */
static bool is_diagnostic(const char *text)
{
    static const char *const kinds[] = {
        ": error: ", ": fatal error: ", ": warning: "};
    size_t n = strcspn(text, "\n");

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (memmem(text, n, kinds[i], strlen(kinds[i])))
            return true;
    return false;
}

static void on_line(void *user, log_level level, const char *text)
{
    (void)user;
    if (level == LOG_NOTE && quiet_log)
        return;
    cli_progress_done();
    if (!is_diagnostic(text)) {
        const char *front =
            level == LOG_WARNING ? "vpu: warning: " : "vpu: note: ";

        cli_put_shown(stderr, front, strlen(front));
    }
    cli_put_shown(stderr, text, strlen(text));
    fputs("\n", stderr);
}

/* A layer that is bound twice, as the sides of a comparison are, has the same
 * notes twice. */
static void on_line_once(void *user, log_level level, const char *text)
{
    static str told; /* ended by NUL each */
    size_t i = 0;

    while (i < told.n && strcmp(told.data + i, text))
        i += strlen(told.data + i) + 1;
    if (i < told.n)
        return;
    str_add(&told, text, strlen(text) + 1);
    on_line(user, level, text);
}

/* --- colours ------------------------------------------------------------- */

/* On a terminal that has them, unless the user wants none (no-color.org). */
static bool has_colours(FILE *f)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(fileno(f)) && (!none || !*none) && term &&
           strcmp(term, "dumb");
}

/* What a line says of itself behind its place: "k.cl:3:4: error: ...". */
static const struct {
    const char *word, *colour;
} levels[] = {{": fatal error: ", "1;31"},
              {": error: ", "1;31"},
              {": warning: ", "1;35"},
              {": note: ", "1;36"}};

static void add_line(str *out, const char *line, size_t n)
{
    const char *at = NULL;
    size_t word = 0, k;

    for (k = 0; k < sizeof levels / sizeof *levels && !at; k++) {
        word = strlen(levels[k].word);
        at = memmem(line, n, levels[k].word, word);
    }
    if (at) {
        str_add(out, line, (size_t)(at - line) + 2);
        str_printf(out, "\033[%sm%.*s\033[0m", levels[k - 1].colour,
                   (int)word - 3, levels[k - 1].word + 2);
        n -= (size_t)(at - line) + word - 1;
        line = at + word - 1;
    }
    str_add(out, line, n);
}

static void add_coloured(str *out, const str *text)
{
    const char *line = str_text(text), *end = line + text->n;

    while (line < end) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        size_t n = (size_t)((next ? next + 1 : end) - line);

        add_line(out, line, n);
        line += n;
    }
}

void cli_put(FILE *f, const char *text, size_t n)
{
    if (isatty(fileno(f)))
        cli_put_shown(f, text, n);
    else if (f == stdout)
        ending_print(text, n);
    else
        fwrite(text, 1, n, f);
}

void cli_put_json(json_t *j, int digits)
{
    str out = {0};

    jsontext_add(&out, j, digits);
    cli_put(stdout, out.data, out.n);
    str_free(&out);
}

void cli_put_shown(FILE *f, const char *text, size_t n)
{
    str shown = {0}, coloured = {0};

    str_add_shown(&shown, text, n);
    if (has_colours(f)) {
        add_coloured(&coloured, &shown);
        str_free(&shown);
        shown = coloured;
    }
    if (f == stdout)
        ending_print(str_text(&shown), shown.n);
    else
        fwrite(str_text(&shown), 1, shown.n, f);
    str_free(&shown);
}

/* Shown only once something has taken a second, and only to a person. */
static void on_progress(void *user, const log_step *step)
{
    static double first, last, begun, told;
    static const char *of; /* what began then */
    const unsigned long long done = step->done, total = step->total;
    double t = clock_seconds();

    (void)user;
    if (!first)
        first = t;
    if (step->of != of || !step->done)
        begun = t;
    of = step->of;
    if (t - told >= 0.2) {
        char text[128];

        snprintf(text, sizeof text, "%llu of %llu %s of %s were done", done,
                 total, step->units, step->of);
        ending_doing(text);
        told = t;
    }
    if (!isatty(2) || t - first < 1 || t - last < 0.2)
        return;
    last = t;
    if (total)
        fprintf(stderr, "\r\033[K%s: %llu of %llu %s (%.0f %%)", step->of, done,
                total, step->units, 100.0 * (double)done / (double)total);
    if (total && done && t > begun)
        fprintf(stderr, ", %.0f s left",
                (t - begun) * (double)(total - done) / (double)done);
    fflush(stderr);
    progress_shown = true;
}

log_sink cli_log(bool quiet)
{
    quiet_log = quiet;
    return (log_sink){.line = on_line_once, .progress = on_progress};
}

log_sink cli_log_events(bool quiet)
{
    quiet_log = quiet;
    return (log_sink){.line = on_line, .progress = on_progress};
}

/* --- of the library's contexts -------------------------------------------- */

static str hints; /* ended by NUL each */

static void on_context_line(void *user, vpu_log_level level, const char *text)
{
    str line = {0};

    cli_spell(text, &line);
    if (level == VPU_LOG_HINT)
        str_add(&hints, str_text(&line), line.n + 1);
    else
        on_line_once(user, level == VPU_LOG_WARNING ? LOG_WARNING : LOG_NOTE,
                     str_text(&line));
    str_free(&line);
}

static void on_context_progress(void *user, const char *of, const char *units,
                                uint64_t done, uint64_t total)
{
    on_progress(user, &(log_step){of, units, done, total});
}

void cli_context_log(vpu_context_options *o, bool quiet)
{
    quiet_log = quiet;
    o->log = on_context_line;
    o->progress = on_context_progress;
}

void cli_tell_hints(void)
{
    for (size_t i = 0; i < hints.n; i += strlen(hints.data + i) + 1)
        on_line_once(NULL, LOG_NOTE, hints.data + i);
    str_free(&hints);
}

void cli_drop_hints(void)
{
    str_free(&hints);
}

void cli_spell(const char *text, str *out)
{
    /* Members of option structures that messages begin with. */
    static const char *const members[] = {
        "shaves",  "tuned",  "kanata_group", "break_at",
        "profile", "folded", "kanata",       "trace_bundles"};

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        size_t n = strlen(members[i]);

        if (strncmp(text, members[i], n) || text[n] != ' ')
            continue;
        str_puts(out, "--");
        for (size_t k = 0; k < n; k++)
            str_printf(out, "%c", text[k] == '_' ? '-' : text[k]);
        text += n;
    }
    str_puts(out, text);
}

int cli_fail(const vpu_error *err)
{
    const char *kind = stop_kind(err->code);
    str text = {0};

    cli_spell(err->msg[0] ? err->msg : err_status_text(err->code), &text);
    cli_progress_done();
    fflush(stdout); /* what kernels printed comes first */
    if (kind || !is_diagnostic(str_text(&text)))
        fprintf(stderr, "vpu: %s%s", kind ? kind : "", kind ? ": " : "");
    cli_put_shown(stderr, str_text(&text), text.n);
    fputs("\n", stderr);
    str_free(&text);
    return err->code ? stop_status(err->code) : CLI_ERROR;
}

int cli_usage(const cli_command *c, const char *fmt, ...)
{
    va_list ap;
    str text = {0};

    va_start(ap, fmt);
    str_vprintf(&text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "vpu %s: ", c->name);
    cli_put_shown(stderr, str_text(&text), text.n);
    str_free(&text);
    fprintf(stderr, "\nTry 'vpu %s --help'.\n", c->name);
    return CLI_ERROR;
}

/* --- options ------------------------------------------------------------- */

void cli_help(const cli_command *c, str *out)
{
    str_puts(out, c->head);
    cli_help_parts(c, out);
    for (size_t k = 0; k < c->n_tables; k++)
        options_help(c->tables[k].options->rows, c->tables[k].options->n, out);
    if (c->tail)
        str_puts(out, c->tail);
}

vpu_status cli_take(const cli_table *tables, size_t n, void *fields,
                    options_line *line, arena *a, vpu_error *err)
{
    options_table *list = arena_array(a, options_table, n + 1);

    for (size_t k = 0; k < n; k++)
        list[k] = (options_table){tables[k].options->rows, tables[k].options->n,
                                  (char *)fields + tables[k].at};
    return options_parse(list, n, line, a, err);
}

int cli_parse(const cli_command *c, void *fields, options_line *line, arena *a)
{
    vpu_error err;

    if (cli_take(c->tables, c->n_tables, fields, line, a, &err))
        return cli_usage(c, "%s", err.msg);
    return CLI_OK;
}

static int say_need(const cli_command *c, const cli_option *o,
                    const char *where)
{
    str with = {0};
    int rc;

    backend_with((backend_extra)(o->needs & -o->needs), &with);
    rc = cli_usage(c, "--%s is about %s: %s", o->name, str_text(&with), where);
    str_free(&with);
    return rc;
}

int cli_check_needs(const cli_command *c, const options_needs *needs,
                    const backend_ops *const *ops, size_t n, const char *where)
{
    uint32_t there = 0;

    for (size_t i = 0; i < n; i++)
        there |= backend_extras(ops[i]);
    for (uint32_t k = 0; k < needs->n; k++)
        if (!(needs->given[k]->needs & there))
            return say_need(c, needs->given[k], where);
    return CLI_OK;
}

static bool take_xlink(void *fields, const char *value, arena *a)
{
    backend_stick_options *o = fields;
    xlink_layout layout;

    (void)a;
    o->layout = value;
    return xlink_layout_parse(value, &layout);
}

static bool take_xlink_log(void *fields, const char *value, arena *a)
{
    backend_stick_options *o = fields;

    (void)a;
    o->log = value ? value : "-";
    return *o->log;
}

#define AT(field) offsetof(backend_stick_options, field)

static const cli_option stick_rows[] = {
    {"xlink", "A|B|C", OPTION_OTHER, .take = take_xlink, .needs = BACKEND_STICK,
     .help = "layout of its packets, which its firmware decides: A up to "
             "OpenVINO 2021.4.0, B 2021.4.2 and 2022.1, C from 2022.2 on "
             "(default: what --firmware is known to speak)"},
    {"firmware", "FILE", OPTION_NAME, AT(firmware), .needs = BACKEND_STICK,
     .help = "usb-ma2x8x.mvcmd of an OpenVINO, to boot it with"},
    {"take-booted", NULL, OPTION_FLAG, AT(take_booted), .needs = BACKEND_STICK,
     .help = "a stick that is booted already, too: it may be in use"},
    {"xlink-log", "[=FILE]", OPTION_OTHER, .take = take_xlink_log,
     .needs = BACKEND_STICK,
     .help = "every packet as a line, to FILE or standard error"}};
const cli_options cli_stick_options = CLI_OPTIONS(stick_rows);

static bool take_compile_time(void *fields, const char *value, arena *a)
{
    child_limits *l = fields;
    double s;

    (void)a;
    if (!str_to_f64(value, &s) || !(s >= 0 && s <= 1e9))
        return false;
    l->seconds = s;
    return true;
}

static bool take_compile_memory(void *fields, const char *value, arena *a)
{
    child_limits *l = fields;
    unsigned long long bytes;

    (void)a;
    if (!str_to_bytes(value, &bytes))
        return false;
    l->bytes = bytes;
    return true;
}

static const cli_option compile_rows[] = {
    {"compile-timeout", "SECONDS", OPTION_OTHER, .take = take_compile_time,
     .help = "of the processor's time that compiling a kernel may take, "
             "clang's part and ours (default 60, 0 = as long as it takes)"},
    {"compile-memory", "SIZE", OPTION_OTHER, .take = take_compile_memory,
     .help = "and of memory, with K, M or G behind (default 2G, 0 = what "
             "there is)"}};
const cli_options cli_compile_options = CLI_OPTIONS(compile_rows);

static bool add_word(options_list *l, char letter, const char *value, arena *a)
{
    if (l->n == OPTION_MAX_LIST)
        return false;
    l->items[l->n++] = arena_printf(a, "-%c%s", letter, value);
    return true;
}

bool cli_take_define(void *list, const char *value, arena *a)
{
    return add_word(list, 'D', value, a);
}

bool cli_take_include(void *list, const char *value, arena *a)
{
    return add_word(list, 'I', value, a);
}

bool cli_take_report(void *json, const char *value, arena *a)
{
    bool *to = json;

    (void)a;
    *to = !strcmp(value, "json");
    return *to || !strcmp(value, "text");
}

static bool take_undefine(void *list, const char *value, arena *a)
{
    return add_word(list, 'U', value, a);
}

static const cli_option clang_rows[] = {
    {"-D", "NAME[=VALUE]", OPTION_OTHER, .take = cli_take_define,
     .help = "a macro for the preprocessor"},
    {"-U", "NAME", OPTION_OTHER, .take = take_undefine,
     .help = "no such macro"},
    {"-I", "DIR", OPTION_OTHER, .take = cli_take_include,
     .help = "a folder for #include"},
    {"-cl-\u2026", NULL, OPTION_LIST, offsetof(cli_clang, words),
     .help = "passed to clang"}};
const cli_options cli_clang_options = CLI_OPTIONS(clang_rows);

static void print_help(FILE *f)
{
    fputs("vpu: simulator of the Myriad X VPU for OpenCL custom layers\n\n"
          "usage: vpu COMMAND [OPTIONS]\n\n",
          f);
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(f, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
    fputs("  help         what a command does: vpu help COMMAND\n"
          "  version      version of this program\n\n"
          "Example:\n"
          "  vpu run kernels/grn/layer.xml --layer GRN "
          "--shape in0=1x16x64x64 \\\n"
          "      --param bias=1.0 --input 0=random:1 --output out\n",
          f);
}

static int no_command(const char *word);

static void show_help(const cli_command *c)
{
    str text = {0};

    cli_help(c, &text);
    fputs(str_text(&text), stdout);
    str_free(&text);
}

/* "November 27, 2026": today, or the day of SOURCE_DATE_EPOCH, so that packages
 * can be built twice with the same bytes. */
static void page_date(char *out, size_t n)
{
    const char *text = getenv("SOURCE_DATE_EPOCH");
    unsigned long long s;
    time_t day = text && str_to_u64(text, &s) ? (time_t)s : time(NULL);
    struct tm t;
    char month[32];

    gmtime_r(&day, &t);
    strftime(month, sizeof month, "%B", &t);
    snprintf(out, n, "%s %d, %d", month, t.tm_mday, t.tm_year + 1900);
}

/* vpu --man [COMMAND [PART]]. */
static int show_page(char *const *words)
{
    const cli_command *c, *of;
    str text = {0};
    char date[64];
    int n = 0;

    page_date(date, sizeof date);
    if (!*words) {
        manual_front(commands, N_COMMANDS, date, &text);
    } else if ((c = cli_find(commands, N_COMMANDS, words, &n))) {
        of = n > 1
                 ? cli_find(commands, N_COMMANDS, (char *[]){*words, NULL}, &n)
                 : NULL;
        manual_page(c, of, date, &text);
    } else {
        return no_command(*words);
    }
    ending_print(text.data, text.n);
    str_free(&text);
    return CLI_OK;
}

/* vpu --complete WORD...: see complete.h. */
static int show_words(char *const *words)
{
    str text = {0};

    complete_words(commands, N_COMMANDS, words, &text);
    if (text.n)
        ending_print(text.data, text.n);
    str_free(&text);
    return CLI_OK;
}

/* -h, for users who know what the options mean. */
static void show_names(const cli_command *c)
{
    str text = {0};
    size_t at = 0;

    str_add(&text, c->head, strcspn(c->head, "\n"));
    str_puts(&text, "\n\n");
    for (size_t k = 0; k < c->n_tables; k++)
        options_names(c->tables[k].options->rows, c->tables[k].options->n, &at,
                      &text);
    str_printf(&text, "%svpu %s --help says what each one does.\n",
               at ? "\n" : "", c->name);
    fputs(str_text(&text), stdout);
    str_free(&text);
}

static int no_command(const char *word)
{
    nearest n = {.word = word};

    for (int i = 0; i < N_COMMANDS; i++)
        nearest_offer(&n, commands[i]->name);
    fprintf(stderr, "vpu: no command '%s'", word);
    if (n.best)
        fprintf(stderr, "; did you mean %s?", n.best);
    fputs("\nvpu --help lists the commands\n", stderr);
    return CLI_ERROR;
}

/* What one launch gives back the next one takes again: from the C library, not
 * page by page from the system, which takes longer than a short launch. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    enum { KEPT = 64 << 20, AT_ONCE = 1 << 20 };

    mallopt(M_TRIM_THRESHOLD, KEPT);
    mallopt(M_MMAP_THRESHOLD, KEPT / 2);
    mallopt(M_TOP_PAD, AT_ONCE);
#endif
}

static int dispatch(int argc, char **argv)
{
    const cli_command *c;
    const char *word = argc > 1 ? argv[1] : "--help";
    int n;

    if (!strcmp(word, "help") && argc > 2) {
        if (!(c = cli_find(commands, N_COMMANDS, argv + 2, &n)))
            return no_command(argv[2]);
        show_help(c);
        return CLI_OK;
    }
    if (!strcmp(word, "--help") || !strcmp(word, "-h") ||
        !strcmp(word, "help")) {
        print_help(argc > 1 ? stdout : stderr);
        return argc > 1 ? CLI_OK : CLI_ERROR;
    }
    if (!strcmp(word, "--version") || !strcmp(word, "version")) {
        printf("vpu %s (LLVM %s)\n", VPU_VERSION, VPU_LLVM);
        return CLI_OK;
    }
    if (!strcmp(word, "--man"))
        return show_page(argv + 2);
    if (!strcmp(word, "--complete"))
        return show_words(argv + 2);
    c = cli_find(commands, N_COMMANDS, argv + 1, &n);
    if (!c)
        return no_command(word);
    for (int i = n + 1; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            (argv[i][1] == 'h' ? show_names : show_help)(c);
            return CLI_OK;
        }
    return c->main(argc - n, argv + n);
}

typedef struct {
    int argc;
    char **argv;
    int status;
} command_line;

static vpu_status run_command(void *user, vpu_error *err)
{
    command_line *c = user;

    (void)err;
    c->status = dispatch(c->argc, c->argv);
    return VPU_OK;
}

int main(int argc, char **argv)
{
    command_line c = {argc, argv, CLI_OK};
    vpu_error err;

    ending_watch();
    keep_memory();
    stop_watch_crashes();
    if (oom_guard(run_command, &c, &err)) {
        fprintf(stderr, "vpu: %s\n", err.msg);
        return ending_status(CLI_ERROR);
    }
    return ending_status(c.status);
}
