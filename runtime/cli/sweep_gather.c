/* vpu sweep list, gather: points, and the table of their figures. */
#include "runtime/cli/sweep.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "runtime/sweep/gather.h"

/* --- list ----------------------------------------------------------------- */

typedef struct {
    bool missing, one;
    uint64_t point;
} list_options;

static bool take_point(void *fields, const char *value, arena *a)
{
    list_options *o = fields;
    unsigned long long n;

    (void)a;
    if (!str_to_u64(value, &n))
        return false;
    o->point = n;
    return o->one = true;
}

static const cli_option list_rows[] = {
    {"missing", NULL, OPTION_FLAG, offsetof(list_options, missing),
     .help = "only points without a result"},
    {"point", "N", OPTION_OTHER, .take = take_point,
     .help = "only the point of that number"}};
static const cli_options own_list_options = CLI_OPTIONS(list_rows);
static const cli_table list_tables[] = {{&own_list_options, 0}};

/* As a shell takes it for one word. */
static void put_word(str *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./=:,+@%^";

    if (*word && !word[strspn(word, plain)]) {
        str_printf(out, " %s", word);
        return;
    }
    str_puts(out, " '");
    for (; *word; word++)
        str_printf(out, *word == '\'' ? "'\\''" : "%c", *word);
    str_puts(out, "'");
}

static void print_point(uint64_t number, const char *state, const char *program,
                        const sweep_words *words, arena *a)
{
    char **argv = arena_array(a, char *, words->n + 2);
    options_list expects;
    int n = cli_sweep_arguments(words, &expects, argv, a);
    str line = {0};

    str_printf(&line, "%6" PRIu64 " %s%s", number, state, program);
    for (int i = 0; i < n; i++)
        put_word(&line, argv[i]);
    str_puts(&line, "\n");
    cli_put(stdout, line.data, line.n);
    str_free(&line);
}

static vpu_status list_manifest(const char *path, const list_options *o,
                                arena *a, vpu_error *err)
{
    sweep_manifest m;
    sweep_plan *p;
    sweep_value *values;
    uint64_t n = 0;
    vpu_status st = sweep_manifest_read(path, a, &m, err);

    if (!st)
        st = sweep_points_count(&m, &n, err);
    if (st)
        return st;
    p = sweep_plan_open(&m, a);
    values = arena_array(a, sweep_value, m.n_dims);
    for (uint64_t i = 0; i < n; i++) {
        arena_mark mark = arena_save(a);
        sweep_words words;

        sweep_plan_values(p, i, values);
        words = sweep_point_words(&m, values, a);
        if (!o->one || o->point == i)
            print_point(i, "", "vpu", &words, a);
        arena_restore(a, mark);
    }
    return VPU_OK;
}

typedef struct {
    sweep_store store;
    const list_options *o;
    arena *scratch;
} listing;

static vpu_status list_point(void *user, const sweep_point *p, vpu_error *err)
{
    const listing *l = user;
    const list_options *o = l->o;
    json_t *figures = sweep_store_result(&l->store, p->name);
    const char *state = figures ? "done   "
                        : sweep_store_failure(&l->store, p->name, l->scratch)
                            ? "failed "
                            : "missing";

    (void)err;
    if ((!figures || !o->missing) && (!o->one || o->point == p->number))
        print_point(p->number, arena_printf(l->scratch, "%s ", state),
                    "../program", &p->words, l->scratch);
    json_decref(figures);
    return VPU_OK;
}

static vpu_status list_folder(const char *dir, const list_options *o, arena *a,
                              vpu_error *err)
{
    listing l = {.o = o, .scratch = arena_create(0)};
    sweep_cursor c = {0};
    vpu_status st = sweep_store_open(dir, a, &l.store, err);

    if (!st)
        st = sweep_cursor_each(&c, &l.store, SWEEP_POINTS, l.scratch,
                               list_point, &l, err);
    sweep_cursor_close(&c);
    arena_destroy(l.scratch);
    return st;
}

static bool is_folder(const char *path)
{
    struct stat sb;

    return !stat(path, &sb) && S_ISDIR(sb.st_mode);
}

static int list_main(int argc, char **argv)
{
    options_line line = {.argc = argc, .argv = argv};
    arena *a = arena_create(0);
    list_options o = {0};
    vpu_error err = {0};
    int rc = cli_parse(&cli_sweep_list, &o, &line, a);

    if (!rc && line.n_words != 1)
        rc = cli_usage(&cli_sweep_list,
                       "expected one manifest, or one sweep's folder");
    if (!rc &&
        (is_folder(line.words[0]) ? list_folder(line.words[0], &o, a, &err)
                                  : list_manifest(line.words[0], &o, a, &err)))
        rc = cli_fail(&err);
    arena_destroy(a);
    return rc;
}

/* --- gather --------------------------------------------------------------- */

#define AT(field) offsetof(sweep_gather_config, field)

static const cli_option gather_rows[] = {
    {"csv", "FILE", OPTION_NAME, AT(csv),
     .help = "the table as CSV (default: to standard output, when no other "
             "file is named)"},
    {"json", "FILE", OPTION_NAME, AT(json),
     .help = "as JSON: an array with a line for each point"},
    {"sqlite", "FILE", OPTION_NAME, AT(sqlite),
     .help = "as an SQLite database with a table `points`"},
    {"partial", NULL, OPTION_FLAG, AT(partial),
     .help = "a table of the points that have results, and status 0, although "
             "some are missing"}};
static const cli_options own_gather_options = CLI_OPTIONS(gather_rows);
static const cli_table gather_tables[] = {{&own_gather_options, 0}};

static void tell_missing(const sweep_gathered *g, const char *dir)
{
    str text = {0};

    str_printf(&text, "vpu: %" PRIu64 " of %" PRIu64 " points missing:\n",
               g->missing, g->points);
    for (uint32_t i = 0; i < g->n_named; i++)
        str_printf(&text, "  point %" PRIu64 ": %s\n", g->named[i],
                   g->why[i] ? g->why[i] : "not computed yet");
    if (g->unplanned)
        str_printf(&text,
                   "  %" PRIu64 " of later rounds, which follow from "
                   "this one's results: `vpu sweep run %s`\n",
                   g->unplanned, dir);
    if (g->missing - g->unplanned > g->n_named)
        str_printf(&text,
                   "  and %" PRIu64 " more; `vpu sweep list %s "
                   "--missing` has all\n",
                   g->missing - g->unplanned - g->n_named, dir);
    cli_put_shown(stderr, str_text(&text), text.n);
    str_free(&text);
}

static int gather(sweep_gather_config *c, const char *dir, arena *a)
{
    sweep_store s;
    sweep_gathered g = {0};
    vpu_error err = {0};
    vpu_status st = sweep_store_open(dir, a, &s, &err);

    if (!c->csv && !c->json && !c->sqlite)
        c->csv = "/dev/stdout";
    if (!st)
        st = sweep_gather(&s, c, a, &g, &err);
    if (st)
        return cli_fail(&err);
    if (g.missing)
        tell_missing(&g, dir);
    return g.missing && !c->partial ? CLI_DIFFERS : CLI_OK;
}

static int gather_main(int argc, char **argv)
{
    options_line line = {.argc = argc, .argv = argv};
    arena *a = arena_create(0);
    sweep_gather_config c = {0};
    int rc = cli_parse(&cli_sweep_gather, &c, &line, a);

    if (!rc && line.n_words != 1)
        rc = cli_usage(&cli_sweep_gather, "expected one sweep's folder");
    if (!rc)
        rc = gather(&c, line.words[0], a);
    arena_destroy(a);
    return rc;
}

const cli_command cli_sweep_list = {
    .name = "sweep list",
    .summary = "points, and the command that repeats each",
    .head =
        "usage: vpu sweep list DIR|MANIFEST [--missing] [--point N]\n\n"
        "A line for each point: its number, whether it is done, and the command that\n"
        "computes it, which is meant in DIR/files; of a manifest as it stands there.\n\n",
    .tables = list_tables,
    .n_tables = sizeof list_tables / sizeof *list_tables,
    .main = list_main};

const cli_command cli_sweep_gather = {
    .name = "sweep gather",
    .summary = "one table of all results; names missing points",
    .head =
        "usage: vpu sweep gather DIR [--csv FILE] [--json FILE] [--sqlite FILE]\n\n"
        "The figures of all points, in their order. When points are missing it names\n"
        "them, with the reason why they have failed, writes no table, and ends with\n"
        "status 1.\n\n",
    .tables = gather_tables,
    .n_tables = sizeof gather_tables / sizeof *gather_tables,
    .tail =
        "\nExit status: 0 a whole table, or --partial; 1 points are missing; "
        "2 an error.\n",
    .main = gather_main};
