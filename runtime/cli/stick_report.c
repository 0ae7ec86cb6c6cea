/* vpu stick-report: what a stick does where we only assume. */
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "runtime/backend/backend.h"
#include "runtime/cli/cli.h"
#include "runtime/link/xlink_log.h"
#include "runtime/survey/survey.h"
#include "runtime/usb/firmware.h"

typedef struct {
    backend_stick_options usb;
    survey_config survey;
    const char *output;
    bool quiet;
} report_options;

static bool seconds(const char *text, unsigned least, unsigned *out)
{
    unsigned long long n;

    if (!str_to_u64(text, &n) || n < least || n > 86400)
        return false;
    *out = (unsigned)n;
    return true;
}

static bool take_watchdog(void *fields, const char *value, arena *a)
{
    (void)a;
    return seconds(value, 0, &((report_options *)fields)->survey.watchdog_s);
}

static bool take_timeout(void *fields, const char *value, arena *a)
{
    (void)a;
    return seconds(value, 1, &((report_options *)fields)->survey.timeout_s);
}

#define AT(field) offsetof(report_options, field)

static const cli_option rows[] = {
    {"output", "FILE", OPTION_NAME, AT(output), .help = "the report"},
    {"to", "FILE", OPTION_NAME, AT(output), .help = NULL},
    {"watchdog", "SECONDS", OPTION_OTHER, .take = take_watchdog,
     .help = "how long to wait for the watchdog (default 30; 0 = do not ask)"},
    {"timeout", "SECONDS", OPTION_OTHER, .take = take_timeout,
     .help = "begin no session after this long (default 180)"},
    {"quiet", NULL, OPTION_FLAG, AT(quiet),
     .help = "print nothing but errors"}};
static const cli_options own_options = CLI_OPTIONS(rows);
static const cli_table tables[] = {{&own_options, 0},
                                   {&cli_stick_options, AT(usb)}};

static int parse(int argc, char **argv, report_options *o, arena *a,
                 vpu_error *err)
{
    const backend_ops *ops = backend_offering(BACKEND_STICK);
    options_line line = {.argc = argc, .argv = argv};
    int rc = cli_parse(&cli_stick_report, o, &line, a);

    if (rc)
        return rc;
    if (line.n_words > 1)
        return cli_usage(&cli_stick_report, "one device at a time");
    if (!o->output)
        return cli_usage(&cli_stick_report, "--output FILE is missing");
    o->survey.device = "";
    o->survey.firmware = o->usb.firmware;
    o->survey.take_booted = o->usb.take_booted;
    if (line.n_words &&
        backend_find(line.words[0], &ops, &o->survey.device, err))
        return cli_fail(err);
    if (!ops->stick)
        return cli_usage(&cli_stick_report, "'%s' is no stick: usb\u2026",
                         line.words[0]);
    o->survey.is_virtual = !strncmp(o->survey.device, "unix:", 5) ||
                           !strncmp(o->survey.device, "tcp:", 4);
    return ops->stick->layout(&o->usb, &o->survey.layout, err) ? cli_fail(err)
                                                               : CLI_OK;
}

/* --- the file ------------------------------------------------------------ */

static json_t *text_or_null(const char *s)
{
    /* What sticks say need not be UTF-8. */
    json_t *o = s ? json_string(s) : json_null();

    return o ? o : json_string("(not UTF-8)");
}

static json_t *entry_json(const survey_entry *e)
{
    json_t *o = json_object();

    json_object_set_new(o, "id", json_string(e->id));
    json_object_set_new(o, "session", json_string(e->session));
    json_object_set_new(o, "mark", json_string(e->mark));
    json_object_set_new(o, "question", json_string(e->question));
    json_object_set_new(o, "assumed",
                        text_or_null(*e->assumed ? e->assumed : NULL));
    json_object_set_new(o, "seen", text_or_null(e->seen));
    json_object_set_new(o, "verdict",
                        json_string(survey_verdict_name(e->verdict)));
    json_object_set_new(o, "why", text_or_null(e->why));
    return o;
}

static json_t *firmware_json(const char *path)
{
    enum { MAX_FIRMWARE = 64 << 20 };
    arena *a = arena_create(0);
    json_t *o = path ? json_object() : json_null();
    const char *release = NULL;
    xlink_layout layout;
    char *data;
    size_t n;

    if (path && !file_read(path, MAX_FIRMWARE, a, &data, &n, NULL)) {
        firmware_layout((const uint8_t *)data, n, &layout, &release);
        json_object_set_new(o, "file", text_or_null(path));
        json_object_set_new(o, "bytes", json_integer((json_int_t)n));
        json_object_set_new(o, "known_as", text_or_null(release));
    }
    arena_destroy(a);
    return o;
}

static vpu_status write_report(const report_options *o, const survey *s,
                               vpu_error *err)
{
    json_t *j = json_object(), *entries = json_array();
    vpu_status st;
    str text = {0};

    json_object_set_new(j, "format", json_string("vpu stick-report"));
    json_object_set_new(j, "version", json_integer(1));
    json_object_set_new(j, "program", json_string(VPU_VERSION));
    json_object_set_new(j, "stick", text_or_null(s->stick));
    json_object_set_new(j, "virtual_link", json_boolean(o->survey.is_virtual));
    json_object_set_new(j, "layout",
                        json_string(xlink_layout_name(o->survey.layout)));
    json_object_set_new(j, "firmware", firmware_json(o->survey.firmware));
    json_object_set_new(j, "entries", entries);
    for (int i = 0; i < SURVEY_N; i++)
        json_array_append_new(entries, entry_json(&s->entries[i]));
    jsontext_add(&text, j, JSONTEXT_EXACT);
    st = file_write(o->output, text.data, text.n, err);
    str_free(&text);
    return st;
}

/* --- the command --------------------------------------------------------- */

static void print_summary(const report_options *o, const survey *s)
{
    static const survey_verdict shown[] = {SURVEY_DIFFERS, SURVEY_NO_ANSWER};

    for (int k = 0; k < 2; k++)
        for (int i = 0; i < SURVEY_N; i++) {
            const survey_entry *e = &s->entries[i];

            if (e->verdict != shown[k])
                continue;
            printf("%s: %s: %s\n", e->id, survey_verdict_name(e->verdict),
                   e->question);
            if (e->verdict == SURVEY_DIFFERS)
                printf("  assumed %s %s\n  seen    %s\n", e->mark, e->assumed,
                       e->seen);
            else
                printf("  %s\n", e->why ? e->why : "");
        }
    printf("%s: %u agree, %u differ, %u noted, %u not applicable, %u without "
           "answer\n",
           o->output, survey_count(s, SURVEY_AGREES),
           survey_count(s, SURVEY_DIFFERS), survey_count(s, SURVEY_NOTED),
           survey_count(s, SURVEY_NOT_APPLICABLE),
           survey_count(s, SURVEY_NO_ANSWER));
}

static vpu_status open_log(const report_options *o, FILE **file,
                           xlink_log **log, vpu_error *err)
{
    const char *path = o->usb.log;
    xlink_log_config c = {.layout = o->survey.layout};

    if (path && strcmp(path, "-")) {
        vpu_status st = file_log_open(path, file, err);

        if (st)
            return st;
    }
    c.file = *file ? *file : path ? stderr : NULL;
    return c.file ? xlink_log_create(&c, log, err) : VPU_OK;
}

static int run(report_options *o, arena *a)
{
    survey *s = arena_new(a, survey);
    xlink_log *packets = NULL;
    FILE *file = NULL;
    vpu_error err, late;
    vpu_status st = open_log(o, &file, &packets, &err), written;

    if (st)
        return cli_fail(&err);
    if (packets)
        o->survey.watch = xlink_log_watch(packets);
    atomic_fetch_add(&cli_sessions, 1);
    st = survey_run(&o->survey, a, s, &err);
    atomic_fetch_sub(&cli_sessions, 1);
    xlink_log_free(packets);
    written = file ? file_close_written(file, o->usb.log, &late) : VPU_OK;
    if (!written)
        written = write_report(o, s, &late);
    if (written)
        return cli_fail(&late);
    if (!o->quiet)
        print_summary(o, s);
    if (st)
        return cli_fail(&err);
    return survey_count(s, SURVEY_NO_ANSWER) ? CLI_DIFFERS : CLI_OK;
}

static int report_main(int argc, char **argv)
{
    report_options o = {.survey = {.timeout_s = 180, .watchdog_s = 30}};
    vpu_error err = {0};
    log_sink log;
    arena *a = arena_create(0);
    int rc = parse(argc, argv, &o, a, &err);

    if (!rc) {
        log = cli_log_events(o.quiet);
        o.survey.log = &log;
        o.survey.stop = &cli_stop;
        rc = run(&o, a);
    }
    arena_destroy(a);
    return rc;
}

const cli_command cli_stick_report = {
    .name = "stick-report",
    .summary = "ask a stick what is only assumed of sticks",
    .head =
        "usage: vpu stick-report [DEVICE] --output FILE [OPTIONS]\n\n"
        "Asks a stick, real or virtual, what is only inferred or not known of sticks:\n"
        "descriptors, times of boot, answers and releases, capabilities, words nobody can\n"
        "read, two Copy stages, blobs that are wrong, the watchdog. Writes question,\n"
        "assumption and answer to a JSON file (docs/formats.md), prints where they\n"
        "differ. Boots and resets the stick up to five times; give it one that nobody\n"
        "uses. An answer that does not come is recorded with its reason. DEVICE is usb\n"
        "(default: the first), usb:BUS-PORT, usb:unix:PATH or usb:tcp:ADDRESS:PORT (see\n"
        "vpu devices).\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail =
        "\n"
        "Exit status: 0 all was answered, 1 something was not, 2 and above nothing was, or the\n"
        "report could not be written.\n\n"
        "Example:\n"
        "  vpu stick-report --firmware usb-ma2x8x.mvcmd --output stick.json\n",
    .main = report_main};
