/* Entry of the vpu program: picks the subcommand. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/clock.h"
#include "base/oom.h"
#include "base/str.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/ending.h"
#include "runtime/cli/stop.h"

static const cli_command *const commands[] = {
    &cli_run,    &cli_debug,       &cli_check,   &cli_lint, &cli_diff,
    &cli_record, &cli_suite,       &cli_cc,      &cli_asm,  &cli_view,
    &cli_trace,  &cli_machine,     &cli_devices, &cli_blob, &cli_stick,
    &cli_reset,  &cli_stick_report};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static bool quiet_log, progress_shown;

void cli_progress_done(void)
{
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}

static void on_line(void *user, log_level level, const char *text)
{
    (void)user;
    if (level == LOG_NOTE && quiet_log)
        return;
    cli_progress_done();
    fprintf(stderr, "vpu: %s: ", level == LOG_WARNING ? "warning" : "note");
    cli_put_shown(stderr, text, strlen(text));
    fputs("\n", stderr);
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

void cli_put_shown(FILE *f, const char *text, size_t n)
{
    str shown = {0};

    str_add_shown(&shown, text, n);
    if (f == stdout)
        ending_print(str_text(&shown), shown.n);
    else
        fwrite(str_text(&shown), 1, shown.n, f);
    str_free(&shown);
}

/* Shown only once something has taken a second, and only to a person. */
static void on_progress(void *user, const char *what, uint64_t done,
                        uint64_t total)
{
    static double first, last;
    double t = clock_seconds();

    (void)user;
    if (!first)
        first = t;
    if (!isatty(2) || t - first < 1 || t - last < 0.2)
        return;
    last = t;
    if (total)
        fprintf(stderr, "\r\033[K%s: %llu of %llu work-groups (%.0f %%)", what,
                (unsigned long long)done, (unsigned long long)total,
                100.0 * (double)done / (double)total);
    fflush(stderr);
    progress_shown = true;
}

log_sink cli_log(bool quiet)
{
    quiet_log = quiet;
    return (log_sink){.line = on_line, .progress = on_progress};
}

int cli_fail(const vpu_error *err)
{
    const char *kind = stop_kind(err->code);
    const char *text = err->msg[0] ? err->msg : vpu_status_text(err->code);

    cli_progress_done();
    fflush(stdout); /* what kernels printed comes first */
    fprintf(stderr, "vpu: %s%s", kind ? kind : "", kind ? ": " : "");
    cli_put_shown(stderr, text, strlen(text));
    fputs("\n", stderr);
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

bool cli_compile_time(const char *text, child_limits *out)
{
    return str_to_f64(text, &out->seconds) && out->seconds >= 0 &&
           out->seconds <= 1e9;
}

bool cli_compile_memory(const char *text, child_limits *out)
{
    unsigned long long bytes;

    if (!str_to_bytes(text, &bytes))
        return false;
    out->bytes = bytes;
    return true;
}

/* --compile-timeout and --compile-memory with the value behind them. */
static bool limit_option(const cli_command *c, int argc, char **argv, int *i,
                         cli_clang *out, int *rc)
{
    const char *s = argv[*i];
    bool time = !strcmp(s, "--compile-timeout");

    if (!time && strcmp(s, "--compile-memory"))
        return false;
    if (++*i == argc)
        *rc = cli_usage(c, "%s needs a value", s);
    else if (!(time ? cli_compile_time : cli_compile_memory)(argv[*i],
                                                             &out->limits))
        *rc = cli_usage(c, "%s does not take '%s'", s, argv[*i]);
    return true;
}

bool cli_clang_option(const cli_command *c, arena *a, int argc, char **argv,
                      int *i, cli_clang *out, int *rc)
{
    const char *s = argv[*i];
    bool valued =
        s[0] == '-' && s[1] && strchr("DIU", s[1]); /* -D NAME or -DNAME */

    if (limit_option(c, argc, argv, i, out, rc))
        return true;
    if (!valued && strncmp(s, "-cl-", 4))
        return false;
    if (valued && !s[2]) {
        if (*i + 1 == argc) {
            *rc = cli_usage(c, "%s needs a value", s);
            return true;
        }
        s = arena_printf(a, "%s%s", s, argv[++*i]);
    }
    *arena_append(a, out->words, out->n, out->cap) = s;
    return true;
}

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

static const cli_command *find(const char *name)
{
    for (int i = 0; i < N_COMMANDS; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
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

    if (!strcmp(word, "help") && argc > 2 && (c = find(argv[2]))) {
        fputs(c->help, stdout);
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
    c = find(word);
    if (!c) {
        fprintf(stderr, "vpu: no command '%s'\n\n", word);
        print_help(stderr);
        return CLI_ERROR;
    }
    for (int i = 2; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(c->help, stdout);
            return CLI_OK;
        }
    return c->main(argc - 1, argv + 1);
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
