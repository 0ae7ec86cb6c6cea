/* vpu sweep plan, run, work: a folder from a manifest, and its points. */
#include "runtime/cli/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "runtime/cli/ending.h"
#include "runtime/cli/stop.h"
#include "runtime/sweep/gather.h"
#include "runtime/sweep/rounds.h"
#include "runtime/sweep/workers.h"

typedef struct {
    const char *dir; /* --dir */
    uint32_t jobs;
    cli_sweep_limits limits;
    uint64_t part, parts;
    bool quiet;
} sweep_options;

#define AT(field) offsetof(sweep_options, field)

/* --- options -------------------------------------------------------------- */

static bool take_memory(void *fields, const char *value, arena *a)
{
    cli_sweep_limits *o = fields;
    unsigned long long bytes;

    (void)a;
    if (!str_to_bytes(value, &bytes))
        return false;
    o->memory = bytes;
    return true;
}

static bool take_part(void *fields, const char *value, arena *a)
{
    sweep_options *o = fields;
    const char *slash = strchr(value, '/');
    unsigned long long part, parts;

    if (!slash || !str_to_u64(slash + 1, &parts) ||
        !str_to_u64(arena_strndup(a, value, (size_t)(slash - value)), &part) ||
        part >= parts)
        return false;
    o->part = part;
    o->parts = parts;
    return true;
}

static const cli_option dir_rows[] = {
    {"dir", "DIR", OPTION_NAME, AT(dir),
     .help = "the sweep's folder (default: the manifest's name with .d "
             "behind it)"}};
static const cli_option part_rows[] = {
    {"part", "I/K", OPTION_OTHER, .take = take_part,
     .help = "points I, I+K, I+2K, \u2026, I from 0 on (default: all)"}};
static const cli_option work_rows[] = {
    {"jobs", "N", OPTION_COUNT, AT(jobs), .most = SWEEP_MAX_WORKERS,
     .help = "so many points at a time, each in a process (default: "
             "processors); tables do not depend on it"}};
static const cli_option limit_rows[] = {
    {"timeout", "SECONDS", OPTION_SECONDS,
     offsetof(cli_sweep_limits, timeout_s),
     .help = "a point that takes more of the host's time has failed (default "
             "3600, 0 = never)"},
    {"memory", "SIZE", OPTION_OTHER, .take = take_memory,
     .help = "of each process, with K, M or G behind; a point that needs more "
             "has failed (default: what there is)"}};
static const cli_option quiet_rows[] = {
    {"quiet", NULL, OPTION_FLAG, AT(quiet), .help = "no sum, no progress"}};
const cli_options cli_sweep_limit_options = CLI_OPTIONS(limit_rows);
static const cli_options dir_options = CLI_OPTIONS(dir_rows),
                         part_options = CLI_OPTIONS(part_rows),
                         work_options = CLI_OPTIONS(work_rows),
                         quiet_options = CLI_OPTIONS(quiet_rows);
static const cli_table plan_tables[] = {{&dir_options, 0}, {&quiet_options, 0}},
                       run_tables[] = {{&dir_options, 0},
                                       {&work_options, 0},
                                       {&cli_sweep_limit_options, AT(limits)},
                                       {&quiet_options, 0}},
                       part_tables[] = {{&part_options, 0},
                                        {&work_options, 0},
                                        {&cli_sweep_limit_options, AT(limits)},
                                        {&quiet_options, 0}};

#define TABLES(list) .tables = list, .n_tables = sizeof list / sizeof *list

static uint32_t processors(void)
{
    cpu_set_t allowed;
    int n;

    /* A job of a cluster may use fewer than the node has. */
    CPU_ZERO(&allowed);
    n = sched_getaffinity(0, sizeof allowed, &allowed) ? 0
                                                       : CPU_COUNT(&allowed);
    return n > 0 ? (uint32_t)n : 1;
}

uint32_t cli_sweep_threads(uint32_t jobs)
{
    return processors() > jobs ? processors() / jobs : 1;
}

/* One word, into *word. */
static int parse(const cli_command *c, int argc, char **argv, sweep_options *o,
                 const char **word, const char *what, arena *a)
{
    options_line line = {.argc = argc, .argv = argv};
    int rc;

    *o = (sweep_options){.jobs = processors(),
                         .limits.timeout_s = CLI_SWEEP_TIMEOUT};
    rc = cli_parse(c, o, &line, a);
    if (!rc && line.n_words != 1)
        rc = line.n_words ? cli_usage(c, "unexpected '%s'", line.words[1])
                          : cli_usage(c, "no %s", what);
    *word = rc ? NULL : line.words[0];
    return rc;
}

/* --- planning ------------------------------------------------------------- */

static const char *absolute(arena *a, const char *path)
{
    char *cwd = *path == '/' ? NULL : getcwd(NULL, 0);
    const char *out = cwd ? file_join(a, cwd, path) : arena_strdup(a, path);

    free(cwd);
    return out;
}

/* work in the manifest's folder, from which it names files. */
static vpu_status in_folder(const char *manifest, const char *dir,
                            vpu_status (*work)(const char *, const char *,
                                               arena *, vpu_error *),
                            arena *a, vpu_error *err)
{
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const char *folder = file_dirname(a, manifest);
    const char *slash = strrchr(manifest, '/');
    const char *target = absolute(a, dir);
    vpu_status st;

    if (here < 0 || chdir(folder)) {
        st = err_set(err, VPU_ERR_IO, "%s: %s", folder, strerror(errno));
    } else {
        st = work(slash ? slash + 1 : manifest, target, a, err);
        if (fchdir(here) && !st)
            st = err_set(err, VPU_ERR_IO, ".: %s", strerror(errno));
    }
    if (here >= 0)
        close(here);
    return st;
}

static bool is_folder(const char *path)
{
    struct stat sb;

    return !stat(path, &sb) && S_ISDIR(sb.st_mode);
}

static bool is_planned(const char *dir, arena *a)
{
    return file_exists(file_join(a, dir, SWEEP_POINTS));
}

static const char *dir_of(const sweep_options *o, const char *manifest,
                          arena *a)
{
    return o->dir ? o->dir : arena_printf(a, "%s.d", manifest);
}

static int plan_main(int argc, char **argv)
{
    arena *a = arena_create(0);
    const char *manifest;
    sweep_options o;
    vpu_error err = {0};
    int rc = parse(&cli_sweep_plan, argc, argv, &o, &manifest, "manifest", a);

    if (!rc &&
        in_folder(manifest, dir_of(&o, manifest, a), cli_sweep_freeze, a, &err))
        rc = cli_fail(&err);
    arena_destroy(a);
    return rc;
}

/* --- the frozen program --------------------------------------------------- */

char **cli_sweep_line(int argc, char **argv, arena *a)
{
    char **out = arena_array(a, char *, (size_t)argc + 3);

    out[0] = arena_strdup(a, "vpu");
    out[1] = arena_strdup(a, "sweep");
    memcpy(out + 2, argv, (size_t)argc * sizeof *argv);
    return out;
}

vpu_status cli_sweep_become(const char *dir, char **argv, arena *a,
                            vpu_error *err)
{
    char mine[SWEEP_HASH], its[SWEEP_HASH];
    const char *program = file_join(a, dir, "program");
    vpu_status st = sweep_file_hash("/proc/self/exe", mine, err);

    if (!st)
        st = sweep_file_hash(program, its, err);
    if (st || !strcmp(mine, its))
        return st;
    fflush(NULL);
    ending_forget();
    execv(program, argv);
    return err_set(err, VPU_ERR_IO, "%s: cannot be started: %s", program,
                   strerror(errno));
}

/* --- computing ------------------------------------------------------------ */

static void begin_worker(void *user)
{
    (void)user;
    ending_begin_anew();
    stop_leave_crashes();
    atomic_store(&cli_sessions, 0);
}

static void end_worker(void *user)
{
    (void)user;
    ending_status(CLI_OK);
}

static vpu_status no_row(void *user, const sweep_row *row, vpu_error *err)
{
    (void)user;
    (void)row;
    (void)err;
    return VPU_OK;
}

/* Of points that have failed, the first few with the reason. */
static vpu_status tell_failures(const sweep_store *s, arena *a, vpu_error *err)
{
    sweep_gathered g;
    vpu_status st = sweep_each_row(s, no_row, NULL, a, &g, err);

    for (uint32_t i = 0; i < g.n_named && !st; i++)
        if (g.why[i]) {
            const char *text = arena_printf(a, "vpu: point %" PRIu64 ": %s\n",
                                            g.named[i], g.why[i]);

            cli_put_shown(stderr, text, strlen(text));
        }
    return st;
}

static int tell(const sweep_options *o, const sweep_store *s, const char *shown,
                const sweep_tally *t, arena *a)
{
    vpu_error err = {0};

    cli_progress_done();
    if (t->failed && tell_failures(s, a, &err))
        return cli_fail(&err);
    if (t->stopped)
        ending_doing(arena_printf(a,
                                  "%" PRIu64 " of %" PRIu64
                                  " points were done; `vpu sweep run %s` "
                                  "goes on",
                                  t->there + t->computed, t->points, shown));
    else if (!o->quiet)
        printf("%" PRIu64 " points: %" PRIu64 " computed, %" PRIu64
               " there already, %" PRIu64 " failed\n",
               t->points, t->computed, t->there, t->failed);
    return t->failed || t->stopped ? CLI_DIFFERS : CLI_OK;
}

sweep_workers_config cli_sweep_config(uint32_t *threads)
{
    return (sweep_workers_config){.n_workers = 1,
                                  .stop = &cli_stop,
                                  .begin = begin_worker,
                                  .compute = cli_sweep_point,
                                  .end = end_worker,
                                  .user = threads};
}

static vpu_status compute_round(const sweep_options *o, const sweep_store *s,
                                const log_sink *log, sweep_tally *t,
                                vpu_error *err)
{
    uint32_t threads = cli_sweep_threads(o->jobs);
    sweep_workers_config config = cli_sweep_config(&threads);

    config.n_workers = o->jobs;
    config.timeout_s = o->limits.timeout_s;
    config.memory = o->limits.memory;
    config.part = o->part;
    config.parts = o->parts;
    config.log = log;
    return sweep_workers_run(s, &config, t, err);
}

/* Round after round, as far as results allow. */
static vpu_status compute_rounds(const sweep_options *o, const sweep_store *s,
                                 const log_sink *log, sweep_tally *sum,
                                 vpu_error *err)
{
    uint64_t computed = 0;
    bool more = true;
    vpu_status st = VPU_OK;

    while (!st && more) {
        more = false;
        st = compute_round(o, s, log, sum, err);
        sum->there -= computed;
        sum->computed += computed;
        computed = sum->computed;
        if (!st && !sum->failed && !sum->stopped)
            st = sweep_rounds_extend(s, &more, err);
    }
    return st;
}

static int compute(const sweep_options *o, const char *dir, arena *a)
{
    log_sink log = cli_log(o->quiet);
    sweep_store s;
    sweep_tally t = {0};
    vpu_error err = {0};
    vpu_status st = sweep_store_open(dir, a, &s, &err);

    if (st)
        return cli_fail(&err);
    if (o->quiet)
        log.progress = NULL;
    atomic_fetch_add(&cli_sessions, 1); /* so that a signal ends it in order */
    st = compute_rounds(o, &s, &log, &t, &err);
    atomic_fetch_sub(&cli_sessions, 1);
    return st ? cli_fail(&err) : tell(o, &s, dir, &t, a);
}

/* Plans what is not planned, and looks whether the rest is still the same. */
static vpu_status prepare(const char *word, const char *dir, arena *a,
                          vpu_error *err)
{
    if (is_folder(word))
        return VPU_OK;
    return in_folder(
        word, dir, is_planned(dir, a) ? cli_sweep_unchanged : cli_sweep_freeze,
        a, err);
}

static int run_main(int argc, char **argv)
{
    arena *a = arena_create(0);
    char **line = cli_sweep_line(argc, argv, a);
    const char *word, *dir = NULL;
    sweep_options o;
    vpu_error err = {0};
    int rc = parse(&cli_sweep_run, argc, argv, &o, &word,
                   "manifest and no folder", a);

    if (!rc && is_folder(word) && o.dir)
        rc = cli_usage(&cli_sweep_run,
                       "--dir is for a manifest, and %s is a "
                       "sweep's folder",
                       word);
    if (!rc) {
        dir = is_folder(word) ? word : dir_of(&o, word, a);
        if ((is_planned(dir, a) && cli_sweep_become(dir, line, a, &err)) ||
            prepare(word, dir, a, &err))
            rc = cli_fail(&err);
    }
    if (!rc)
        rc = compute(&o, dir, a);
    arena_destroy(a);
    return rc;
}

static int work_main(int argc, char **argv)
{
    arena *a = arena_create(0);
    char **line = cli_sweep_line(argc, argv, a);
    const char *dir;
    sweep_options o;
    vpu_error err = {0};
    int rc = parse(&cli_sweep_work, argc, argv, &o, &dir, "folder", a);

    if (!rc && is_planned(dir, a) && cli_sweep_become(dir, line, a, &err))
        rc = cli_fail(&err);
    if (!rc)
        rc = compute(&o, dir, a);
    arena_destroy(a);
    return rc;
}

/* --- rows ----------------------------------------------------------------- */

#define STATUS                                                                 \
    "\n"                                                                       \
    "Exit status: 0 all points have results, 1 some have failed or were not\n" \
    "reached, 2 and above: why nothing ran (docs/debugging.md).\n"

const cli_command cli_sweep_plan = {
    .name = "sweep plan",
    .summary = "a sweep's folder from a manifest: points, files, program",
    .head =
        "usage: vpu sweep plan MANIFEST [--dir DIR]\n\n"
        "Makes the sweep's folder: the manifest, a line for each point, copies of all\n"
        "files that the layers name, and of this program. The folder needs nothing\n"
        "outside of it, and may be moved. Files are named from the manifest's folder.\n\n",
    TABLES(plan_tables),
    .main = plan_main};

const cli_command cli_sweep_run = {
    .name = "sweep run",
    .summary = "compute all points that have no result",
    .head =
        "usage: vpu sweep run MANIFEST [--dir DIR] [OPTIONS]\n"
        "       vpu sweep run DIR [OPTIONS]\n\n"
        "Plans the folder, unless it is there, and computes what has no result yet: after\n"
        "an interruption the same command goes on. A point that crashes, hangs or needs\n"
        "too much memory has failed; it costs no other, and is tried again by the next\n"
        "run. The program that computes is the copy in the folder.\n\n",
    TABLES(run_tables),
    .tail = STATUS,
    .main = run_main};

const cli_command cli_sweep_work = {
    .name = "sweep work",
    .summary = "compute a part of them, beside others who do the rest",
    .head =
        "usage: vpu sweep work DIR [--part I/K] [OPTIONS]\n\n"
        "As run, for a folder that is planned, and every K-th point alone. Any number of\n"
        "processes on any number of machines may work on a folder.\n\n",
    TABLES(part_tables),
    .tail = STATUS,
    .main = work_main};
