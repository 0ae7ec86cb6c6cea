/* vpu cl: an OpenCL program on the simulated VPU. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/file.h"
#include "base/temp.h"
#include "runtime/cli/cli.h"
#include "runtime/icd/settings.h"

/* As they are given; the driver's own reader says what they may be. */
typedef struct {
#define SETTING(field, name, value, about) options_list field;
#include "runtime/icd/settings.def"
} cl_options;

#define AT(field) offsetof(cl_options, field)

static const cli_option rows[] = {
#define SETTING(field, name, value, about) \
    {name, value, OPTION_LIST, AT(field), .help = about},
#include "runtime/icd/settings.def"
};
static const cli_options own_options = CLI_OPTIONS(rows);
static const cli_table tables[] = {{&own_options, 0}};

#define DRIVER "libvpusim-opencl.so"

/* --- the command line ----------------------------------------------------- */

/* Words in front of the program. */
static int count_options(int argc, char **argv)
{
    int i = 1;

    while (i < argc && *argv[i] == '-' && strcmp(argv[i], "--")) {
        int n = options_words(rows, sizeof rows / sizeof *rows, argv[i]);

        i += n ? n : 1;
    }
    return i < argc ? i : argc;
}

/* A value as the driver's reader takes a word. */
static void put_value(str *s, const char *name, const char *value)
{
    str_printf(s, "%s--%s=\"", s->n ? " " : "", name);
    for (; *value; value++)
        str_printf(s, "%s%c", *value == '"' || *value == '\\' ? "\\" : "",
                   *value);
    str_puts(s, "\"");
}

/* Files are opened where the program may have gone elsewhere. */
static const char *whole(const char *name, const char *value, arena *a)
{
    static const char *const files[] = {
        "machine", "launches", "findings", "suppress", "dump", "trace", "json"};
    bool file = false;
    char *here;
    const char *path;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        file |= !strcmp(name, files[i]);
    here = file && *value != '/' ? getcwd(NULL, 0) : NULL;
    path = here ? file_join(a, here, value) : value;

    free(here);
    return path;
}

static void put_settings(const cl_options *o, str *s, arena *a)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const options_list *l =
            (const options_list *)((const char *)o + rows[i].at);

        for (uint32_t k = 0; k < l->n; k++)
            put_value(s, rows[i].name,
                      l->items[k] ? whole(rows[i].name, l->items[k], a) : "");
    }
}

/* --- the driver ----------------------------------------------------------- */

/* Beside this program, or where make install puts it. */
static const char *find_driver(arena *a, vpu_error *err)
{
    static const char *const places[] = {DRIVER, "../lib/vpusim/" DRIVER};
    char *self = realpath("/proc/self/exe", NULL);
    const char *found = NULL;

    for (size_t i = 0; self && i < 2 && !found; i++) {
        const char *path = file_join(a, file_dirname(a, self), places[i]);

        if (file_exists(path))
            found = path;
    }
    free(self);
    if (!found)
        err_set(err, VPU_ERR_IO,
                DRIVER
                ": not found; expected it beside vpu, or in ../lib/vpusim");
    return found;
}

/* A folder that every loader takes for the one of its drivers. */
static vpu_status make_folder(char **folder, arena *a, vpu_error *err)
{
    const char *driver = find_driver(a, err);
    const char *text;
    vpu_status st = driver ? temp_dir(a, "vpu-cl-", folder, err) : VPU_ERR_IO;

    if (st)
        return st;
    text = arena_printf(a, "%s\n", driver);
    return file_write(file_join(a, *folder, "vpusim.icd"), text, strlen(text),
                      err);
}

/* --- the program ---------------------------------------------------------- */

static _Noreturn void become(char **words, const char *folder,
                             const char *settings)
{
    child_default_signals();
    setenv("OCL_ICD_VENDORS", folder, 1);
    setenv("OPENCL_VENDOR_PATH", folder, 1);
    unsetenv("OCL_ICD_FILENAMES");
    setenv("VPU_CL", settings, 1);
    execvp(*words, words);
    fprintf(stderr, "vpu: cl: %s: %s\n", *words, strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

static vpu_status run(char **words, const char *folder, const char *settings,
                      int *status, vpu_error *err)
{
    pid_t self = getpid(), pid;

    fflush(stdout);
    fflush(stderr);
    pid = fork();
    if (pid < 0)
        return err_set(err, VPU_ERR_IO, "no process for %s: %s", *words,
                       strerror(errno));
    if (!pid) {
        child_follow(self);
        become(words, folder, settings);
    }
    child_add(pid, false);
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return err_set(err, VPU_ERR_IO, "waitpid: %s", strerror(errno));
    child_forget(pid);
    return VPU_OK;
}

/* What the driver of each process has written: contexts, launches, launches
 * that failed, cycles, findings. The findings of all. */
static unsigned long long tell_proof(const char *path, arena *a,
                                     const icd_settings *s)
{
    unsigned long long all[5] = {0}, n[5];
    char *text;
    size_t bytes;

    if (file_read(path, 1 << 20, a, &text, &bytes, NULL)) {
        fputs("vpu: cl: the program made no context on the device\n", stderr);
        return 0;
    }
    for (char *line; (line = strsep(&text, "\n"));)
        if (sscanf(line, "%llu %llu %llu %llu %llu", &n[0], &n[1], &n[2], &n[3],
                   &n[4]) == 5)
            for (int i = 0; i < 5; i++)
                all[i] += n[i];
    fprintf(stderr, "vpu: cl: %llu context%s, %llu launch%s", all[0],
            all[0] == 1 ? "" : "s", all[1], all[1] == 1 ? "" : "es");
    if (all[2])
        fprintf(stderr, " (%llu failed)", all[2]);
    fprintf(stderr, ", %llu cycles (%.3f ms)", all[3],
            (double)all[3] / (double)s->desc.clk_mhz * 1e-3);
    if (s->check)
        fprintf(stderr, ", %llu finding%s", all[4], all[4] == 1 ? "" : "s");
    fputs("\n", stderr);
    return all[4];
}

static int start(const cl_options *o, char **words, arena *a)
{
    str settings = {.arena = a};
    icd_settings read;
    char *folder = NULL;
    const char *proof;
    unsigned long long findings = 0;
    vpu_error err;
    int status = 0;
    vpu_status st;

    put_settings(o, &settings, a);
    st = icd_settings_read(str_text(&settings), a, &read, &err);
    if (!st)
        st = make_folder(&folder, a, &err);
    if (!st) {
        proof = file_join(a, folder, "proof");
        put_value(&settings, "proof", proof);
        st = run(words, folder, str_text(&settings), &status, &err);
        if (!st)
            findings = tell_proof(proof, a, &read);
    }
    if (folder)
        temp_dir_remove(folder);
    return st                    ? cli_fail(&err)
           : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
           : WEXITSTATUS(status) ? WEXITSTATUS(status)
           : findings            ? CLI_DIFFERS
                                 : CLI_OK;
}

static int cl_main(int argc, char **argv)
{
    arena *a = arena_create(0);
    cl_options *o = arena_new(a, cl_options);
    int first = count_options(argc, argv);
    char **words = argv + first;
    options_line line = {.argc = first,
                         .argv = arena_array(a, char *, argc + 1)};
    int rc;

    memcpy(line.argv, argv, (size_t)first * sizeof *argv);
    rc = cli_parse(&cli_cl, o, &line, a);
    if (*words && !strcmp(*words, "--"))
        words++;
    if (!rc && !*words)
        rc = cli_usage(&cli_cl, "no program is given");
    if (!rc)
        rc = start(o, words, a);
    arena_destroy(a);
    return rc;
}

const cli_command cli_cl = {
    .name = "cl",
    .summary = "run an OpenCL program on the simulated VPU",
    .head =
        "usage: vpu cl [OPTIONS] PROGRAM [ARGUMENTS]\n\n"
        "Runs a program of OpenCL with the simulated VPU as its only device: ICD loaders,\n"
        "also those that a program opens by itself, find the driver in a folder of vpu's.\n"
        "When the program has ended a line on standard error says what it did there. The\n"
        "variable VPU_CL takes the options, too, for programs that find the driver where\n"
        "it is installed. docs/opencl.md tells what the device is.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail =
        "\n"
        "Exit status: the program's, or 1 where that is 0 and checkers have found something;\n"
        "128 and the number of the signal that ended it; 2 when an option is wrong; 127 when\n"
        "there is no such program.\n"
        "\n"
        "Examples:\n"
        "  vpu cl clinfo\n"
        "  vpu cl --shaves 8 --launches l.jsonl python3 program.py\n"
        "  vpu cl --check ./program\n"
        "  vpu cl --dump launches ./program; vpu run launches/0001-scale.vpugraph\n"
        "  vpu cl --as gpu --set ddr_eff_bw=3.5 ./program --size 1024\n",
    .main = cl_main};
