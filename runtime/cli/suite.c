/* vpu suite: many comparisons, each a `vpu diff` in a process of its own. */
#include <jansson.h>
#include <libxml/xmlwriter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/diff.h"
#include "runtime/diff/record.h"
#include "runtime/suite/case.h"
#include "runtime/suite/jobs.h"

typedef struct {
    const char *junit, *filter, *max_slowdown;
    uint32_t n_jobs;
    double timeout_s;
    bool update, list, quiet;
} suite_options;

typedef enum { NOT_RUN, EQUAL, SLOWER, DIFFERENT, FAILED } outcome;

typedef struct {
    suite_options o;
    arena *a;
    suite_case *cases;
    size_t n;
    job *jobs;
    outcome *outcomes;
    const char **texts; /* what to say of each */
    size_t done;
} suite;

#define AT(field) offsetof(suite_options, field)

static const cli_option rows[] = {
    {"jobs", "N", OPTION_COUNT, AT(n_jobs), .most = 1024,
     .help = "so many at a time (default: processors)"},
    {"timeout", "SECONDS", OPTION_SECONDS, AT(timeout_s),
     .help = "kill a case after so much time (default 600, 0 = never)"},
    {"filter", "TEXT", OPTION_TEXT, AT(filter),
     .help = "only cases with TEXT in their name"},
    {"max-slowdown", "X", OPTION_TEXT, AT(max_slowdown),
     .help = "as of vpu diff, for cases that count cycles on both sides and "
             "say no limit of their own"},
    {"junit", "FILE", OPTION_TEXT, AT(junit),
     .help = "results for CI, as JUnit XML"},
    {"update", NULL, OPTION_FLAG, AT(update),
     .help = "record anew, instead of comparing with, the recordings cases "
             "name (--a or --b replay:FILE); look at what changed before you "
             "commit it"},
    {"list", NULL, OPTION_FLAG, AT(list),
     .help = "names of the cases, run nothing"},
    {"quiet", NULL, OPTION_FLAG, AT(quiet),
     .help = "only what is not equal, and the sum"}};
static const cli_options own_options = CLI_OPTIONS(rows);
static const cli_table tables[] = {{&own_options, 0}};

static int parse(options_line *line, suite_options *o, arena *a)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    cli_limit limit;
    int rc;

    *o = (suite_options){.n_jobs = cpus > 0 ? (uint32_t)cpus : 1,
                         .timeout_s = 600};
    rc = cli_parse(&cli_suite, o, line, a);
    if (!rc && !line->n_words)
        rc = cli_usage(&cli_suite, "no folder and no case");
    if (!rc && o->max_slowdown && !cli_take_limit(&limit, o->max_slowdown, a))
        rc = cli_usage(&cli_suite,
                       "--max-slowdown %s: expected a number above 0",
                       o->max_slowdown);
    return rc;
}

static vpu_status find_cases(suite *s, char *const *words, int n_words,
                             vpu_error *err)
{
    size_t cap = 0;
    vpu_status st = VPU_OK;

    for (int i = 0; i < n_words && !st; i++) {
        suite_case *found;
        size_t n;

        st = case_find(words[i], s->a, &found, &n, err);
        for (size_t k = 0; k < n && !st; k++)
            if (!s->o.filter || strstr(found[k].name, s->o.filter))
                *arena_append(s->a, s->cases, s->n, cap) = found[k];
    }
    if (!st && !s->n)
        st = err_set(err, VPU_ERR_INVALID, "--filter %s: no case of that name",
                     s->o.filter);
    return st;
}

/* --- commands ------------------------------------------------------------ */

static char *self_path(arena *a)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    return arena_strndup(a, path, n > 0 ? (size_t)n : 0);
}

/* `vpu diff` with the case's words. */
static char **diff_words(suite *s, const suite_case *c)
{
    char **w = arena_array(s->a, char *, c->n_words + 8);
    size_t n = 0;

    w[n++] = self_path(s->a);
    w[n++] = arena_strdup(s->a, "diff");
    if (s->o.max_slowdown) { /* a later one of the case counts */
        w[n++] = arena_strdup(s->a, "--max-slowdown");
        w[n++] = arena_printf(s->a, "if-known:%s", s->o.max_slowdown);
    }
    for (size_t i = 0; i < c->n_words; i++)
        w[n++] = c->words[i];
    w[n++] = arena_strdup(s->a, "--report");
    w[n++] = arena_strdup(s->a, "json");
    w[n++] = arena_strdup(s->a, "--quiet");
    return w;
}

/* The recording the case compares with, and the side that makes it. */
static bool recording_of(const suite_case *c, const char **file,
                         const char **maker)
{
    const char *a = case_option(c, "--a"), *b = case_option(c, "--b");
    static const char scheme[] = "replay:";

    a = a ? a : "sim";
    if (b && !strncmp(b, scheme, sizeof scheme - 1)) {
        *file = b + sizeof scheme - 1;
        *maker = a;
        return true;
    }
    if (b && !strncmp(a, scheme, sizeof scheme - 1)) {
        *file = a + sizeof scheme - 1;
        *maker = b;
        return true;
    }
    return false;
}

/* `vpu record` with what of the case's words is not about comparing. NULL: the
 * case has no recording. */
static char **record_words(suite *s, const suite_case *c)
{
    char **w = arena_array(s->a, char *, c->n_words + 10);
    const char *file, *maker;
    double limit;
    size_t n = 0;

    if (!recording_of(c, &file, &maker))
        return NULL;
    w[n++] = self_path(s->a);
    w[n++] = arena_strdup(s->a, "record");
    for (size_t i = 0; i < c->n_words; i++) {
        int words = cli_diff_own_option(c->words[i]);

        if (words)
            i += (size_t)words - 1;
        else
            w[n++] = c->words[i];
    }
    w[n++] = arena_strdup(s->a, "--backend");
    w[n++] = arena_strdup(s->a, maker);
    w[n++] = arena_strdup(s->a, "--to");
    w[n++] = arena_strdup(s->a, file);
    w[n++] = arena_strdup(s->a, "--quiet");
    file = *file == '/' ? file : file_join(s->a, c->dir, file);
    limit = diff_recorded_limit(file); /* a new one keeps it */
    if (limit > 0) {
        w[n++] = arena_strdup(s->a, "--max-slowdown");
        w[n++] = arena_printf(s->a, "if-known:%.17g", limit);
    }
    return w;
}

/* --- results ------------------------------------------------------------- */

/* The line that says what was wrong: the first that is no note or warning. */
static const char *complaint(arena *a, const str *text)
{
    const char *at = str_text(text), *first = at;

    while (*at) {
        size_t n = strcspn(at, "\n");

        if (n && strncmp(at, "vpu: note:", 10) &&
            strncmp(at, "vpu: warning:", 13))
            return arena_strndup(a, at, n);
        at += n + (at[n] == '\n');
    }
    return *first ? arena_strndup(a, first, strcspn(first, "\n"))
                  : "it said nothing";
}

/* What a comparison that ran found. */
static void read_report(suite *s, size_t i)
{
    const job *j = &s->jobs[i];
    json_t *report = json_loadb(str_text(&j->out), j->out.n, 0, NULL);
    const char *text = json_string_value(json_object_get(report, "summary"));
    const char *verdict = json_string_value(json_object_get(report, "verdict"));
    bool slower = verdict && !strcmp(verdict, "slower");

    s->texts[i] = text ? arena_strdup(s->a, text) : "no summary in the report";
    s->outcomes[i] = !j->exit_status ? EQUAL : slower ? SLOWER : DIFFERENT;
    json_decref(report);
}

static void judge(suite *s, size_t i)
{
    const job *j = &s->jobs[i];

    s->outcomes[i] = FAILED;
    if (j->timed_out)
        s->texts[i] =
            arena_printf(s->a, "killed after %g s (--timeout)", s->o.timeout_s);
    else if (j->signal)
        s->texts[i] = arena_printf(s->a, "ended by signal %d (%s)", j->signal,
                                   strsignal(j->signal));
    else if (s->o.update && !j->exit_status) {
        s->outcomes[i] = EQUAL;
        s->texts[i] = "recorded";
    } else if (!s->o.update && j->exit_status <= CLI_DIFFERS) {
        read_report(s, i);
    } else
        s->texts[i] = complaint(s->a, &j->errors);
}

static void on_done(void *user, size_t i)
{
    static const char *const words[] = {"", "ok", "SLOWER", "DIFFERENT",
                                        "FAILED"};
    suite *s = user;

    if (s->jobs[i].interrupted)
        return;
    judge(s, i);
    s->done++;
    if (s->o.quiet && s->outcomes[i] == EQUAL)
        return;
    printf("%*zu/%zu %-9s %6.2f s  %-32s %s\n", s->n < 10 ? 1 : 3, s->done,
           s->n, words[s->outcomes[i]], s->jobs[i].seconds, s->cases[i].name,
           s->texts[i]);
    fflush(stdout);
}

static size_t count(const suite *s, outcome o)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += s->outcomes[i] == o;
    return n;
}

#define X(text) BAD_CAST(text)

static void write_attribute(xmlTextWriter *w, const char *name,
                            const char *value)
{
    str text = {0};

    str_puts_xml(&text, value);
    xmlTextWriterWriteAttribute(w, X(name), X(str_text(&text)));
    str_free(&text);
}

static void write_failure(xmlTextWriter *w, const suite *s, size_t i)
{
    enum { MOST = 1 << 16 }; /* bytes of what the case said */
    const suite_case *c = &s->cases[i];
    const char *said = str_text(&s->jobs[i].errors);
    str text = {0};

    xmlTextWriterStartElement(w, s->outcomes[i] == FAILED ? X("error")
                                                          : X("failure"));
    write_attribute(w, "message", s->texts[i]);
    str_puts_xml(&text,
                 arena_printf(s->a, "vpu suite %s\n%.*s", c->path, MOST, said));
    xmlTextWriterWriteString(w, X(str_text(&text)));
    xmlTextWriterEndElement(w);
    str_free(&text);
}

static void write_case(xmlTextWriter *w, const suite *s, size_t i)
{
    xmlTextWriterStartElement(w, X("testcase"));
    xmlTextWriterWriteAttribute(w, X("classname"), X("vpu.suite"));
    write_attribute(w, "name", s->cases[i].name);
    xmlTextWriterWriteFormatAttribute(w, X("time"), "%.3f", s->jobs[i].seconds);
    if (s->outcomes[i] == NOT_RUN)
        xmlTextWriterWriteElement(w, X("skipped"), NULL);
    else if (s->outcomes[i] != EQUAL)
        write_failure(w, s, i);
    xmlTextWriterEndElement(w);
}

static vpu_status write_junit(const suite *s, vpu_error *err)
{
    xmlBuffer *buffer = xmlBufferCreate();
    xmlTextWriter *w = xmlNewTextWriterMemory(buffer, 0);
    vpu_status st;

    xmlTextWriterSetIndent(w, 1);
    xmlTextWriterStartDocument(w, NULL, "UTF-8", NULL);
    xmlTextWriterStartElement(w, X("testsuite"));
    xmlTextWriterWriteAttribute(w, X("name"), X("vpu suite"));
    xmlTextWriterWriteFormatAttribute(w, X("tests"), "%zu", s->n);
    xmlTextWriterWriteFormatAttribute(w, X("failures"), "%zu",
                                      count(s, DIFFERENT) + count(s, SLOWER));
    xmlTextWriterWriteFormatAttribute(w, X("errors"), "%zu", count(s, FAILED));
    xmlTextWriterWriteFormatAttribute(w, X("skipped"), "%zu",
                                      count(s, NOT_RUN));
    for (size_t i = 0; i < s->n; i++)
        write_case(w, s, i);
    xmlTextWriterEndDocument(w);
    xmlFreeTextWriter(w);
    st = file_write(s->o.junit, buffer->content, buffer->use, err);
    xmlBufferFree(buffer);
    return st;
}

/* --- all of it ----------------------------------------------------------- */

/* Drops the cases there is nothing to do for. */
static void prepare(suite *s)
{
    size_t n = 0;

    s->jobs = arena_array(s->a, job, s->n + 1);
    s->outcomes = arena_array(s->a, outcome, s->n + 1);
    s->texts = arena_array(s->a, const char *, s->n + 1);
    for (size_t i = 0; i < s->n; i++) {
        char **words = s->o.update ? record_words(s, &s->cases[i])
                                   : diff_words(s, &s->cases[i]);

        if (!words)
            continue;
        s->cases[n] = s->cases[i];
        s->jobs[n++] = (job){.argv = words, .dir = s->cases[i].dir};
    }
    s->n = n;
}

static int run(suite *s)
{
    vpu_error err = {0};

    vpu_status st;

    atomic_fetch_add(&cli_sessions, 1); /* so that a signal leaves a sum */
    st = jobs_run(s->jobs, s->n,
                  &(const jobs_config){.n_parallel = s->o.n_jobs,
                                       .timeout_s = s->o.timeout_s,
                                       .stop = &cli_stop,
                                       .done = on_done,
                                       .user = s},
                  &err);
    atomic_fetch_sub(&cli_sessions, 1);
    if (st)
        return cli_fail(&err);
    printf("%zu %s", count(s, EQUAL), s->o.update ? "recorded" : "equal");
    if (!s->o.update)
        printf(", %zu different", count(s, DIFFERENT));
    if (count(s, SLOWER))
        printf(", %zu slower", count(s, SLOWER));
    printf(", %zu failed", count(s, FAILED));
    if (count(s, NOT_RUN))
        printf("; interrupted, %zu not run", count(s, NOT_RUN));
    printf("\n");
    if (s->o.junit && write_junit(s, &err))
        return cli_fail(&err);
    return count(s, FAILED)                         ? CLI_ERROR
           : count(s, DIFFERENT) + count(s, SLOWER) ? CLI_DIFFERS
                                                    : CLI_OK;
}

static int suite_main(int argc, char **argv)
{
    suite s = {.a = arena_create(0)};
    options_line line = {.argc = argc, .argv = argv};
    vpu_error err = {0};
    int rc = parse(&line, &s.o, s.a);

    if (!rc && find_cases(&s, line.words, line.n_words, &err))
        rc = cli_fail(&err);
    if (!rc && s.o.list)
        for (size_t i = 0; i < s.n; i++)
            printf("%s\n", s.cases[i].name);
    else if (!rc) {
        prepare(&s);
        rc = run(&s);
    }
    for (size_t i = 0; s.jobs && i < s.n; i++)
        job_free(&s.jobs[i]);
    arena_destroy(s.a);
    return rc;
}

const cli_command cli_suite = {
    .name = "suite",
    .summary = "compare many cases, for CI",
    .head =
        "usage: vpu suite DIR|FILE.case... [OPTIONS]\n\n"
        "Runs every case of a folder, and those below it, and says which came out\n"
        "equal. A case is a text file NAME.case with what one would write behind\n"
        "`vpu diff`, paths meant from its folder; # begins a comment:\n\n"
        "    # GRN against its definition\n"
        "    layer.xml --layer GRN --shape in0=1x16x24x40 --param bias=1.0\n"
        "    --b host:../../build/plugins/grn.so\n\n"
        "Each case runs by itself: one that crashes or hangs spoils no other.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail =
        "\n"
        "Exit status: 0 all equal, 1 some different, 2 some could not run.\n\n"
        "Example:\n"
        "  vpu suite kernels --junit build/suite.xml\n",
    .main = suite_main};
