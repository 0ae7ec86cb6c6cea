/* clang as a child: an environment of its own, nothing inherited by chance. */
#include "sim/compiler/front/clang.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/file.h"
#include "base/str.h"
#include "sim/compiler/front/budget.h"

/* --- options ------------------------------------------------------------- */

/* prefix: an option begins so and goes on; else it is the whole option. */
static const struct {
    const char *text;
    bool prefix;
} allowed[] = {
    {"-D", true},
    {"-U", true},
    {"-I", true},
    {"-cl-", true},
    {"-w", false},
    {"-Werror", false},
    {"-fno-discard-value-names", false}, /* ours, for names */
};

static bool is_allowed(const char *option)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        size_t n = strlen(allowed[i].text);

        /* clang takes "-I@file" apart and reads options from the file. */
        if (!strncmp(option, allowed[i].text, n) && option[n] != '@' &&
            (option[n] != 0) == allowed[i].prefix)
            return true;
    }
    return false;
}

vpu_status fe_check_options(const char *const *options, uint32_t n,
                            vpu_error *err)
{
    for (uint32_t i = 0; i < n; i++)
        if (!is_allowed(options[i]))
            return err_set(
                err, VPU_ERR_INVALID,
                "'%s' is no option for kernels: expected -DNAME, "
                "-DNAME=VALUE, -UNAME, -IFOLDER (-I./@x for @x), -w, -Werror or "
                "-cl-…",
                options[i]);
    return VPU_OK;
}

/* --- names --------------------------------------------------------------- */

/* clang hands the last part of a name on to a second command line of its own.
 */
bool fe_takes_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *last = slash ? slash + 1 : path;

    return *path != '-' && *path != '@' && *last != '@';
}

const char *fe_line_mark(arena *a, const char *name)
{
    str s = {.arena = a};

    str_puts(&s, "#line 1 \"");
    for (; *name; name++)
        if (*name == '"' || *name == '\\' || *name == '\n')
            str_printf(&s, "\\%03o", (unsigned)*name);
        else
            str_add(&s, name, 1);
    str_puts(&s, "\"\n");
    return str_text(&s);
}

const char *const *fe_look_in(arena *a, const char *path,
                              const char *const *options, uint32_t *n)
{
    const char **all = arena_array(a, const char *, *n + 1);

    all[0] =
        arena_printf(a, "-iquote%s", file_plain_name(a, file_dirname(a, path)));
    for (uint32_t i = 0; i < *n; i++)
        all[i + 1] = options[i];
    *n += 1;
    return all;
}

/* --- running ------------------------------------------------------------- */

/* What clang needs to be found and to start. Everything else could change what
 * it compiles or where it writes: CPATH, CCC_OVERRIDE_OPTIONS,
 * DEPENDENCIES_OUTPUT, … */
static const char *const inherited[] = {"PATH", "LD_LIBRARY_PATH", "HOME",
                                        "TMPDIR"};
enum { N_INHERITED = sizeof inherited / sizeof *inherited };

static const char *variable(const char *name)
{
    extern char **environ;
    size_t n = strlen(name);

    for (char **e = environ; *e; e++)
        if (!strncmp(*e, name, n) && (*e)[n] == '=')
            return *e;
    return NULL;
}

static void environment(const char *out[N_INHERITED + 2])
{
    size_t n = 0;

    for (size_t i = 0; i < N_INHERITED; i++)
        if ((out[n] = variable(inherited[i])))
            n++;
    out[n++] = "LC_ALL=C";
    out[n] = NULL;
}

static bool set_files(const int files[3])
{
    bool ok = true;

    for (int i = 0; i < 3; i++) {
        int fd = files[i] >= 0 ? files[i]
                               : open("/dev/null", i ? O_WRONLY : O_RDONLY);

        ok &= fd >= 0 && dup2(fd, i) == i;
    }
    return ok;
}

/* In the child; does not return. say: where errno goes when it fails. */
static _Noreturn void become(char *const *argv, char *const *env,
                             const int files[3], const child_limits *limits,
                             int say)
{
    struct rlimit r = {limits->bytes, limits->bytes};
    int why;

    child_default_signals();
    if (set_files(files) && (!limits->bytes || !setrlimit(RLIMIT_DATA, &r)))
        execvpe(argv[0], argv, env);
    why = errno;
    _exit(write(say, &why, sizeof why) == sizeof why ? 127 : 126);
}

/* Not posix_spawn: it sets no limits. Returns errno. */
static int spawn(char *const *argv, const int files[3],
                 const child_limits *limits, pid_t *pid)
{
    const char *env[N_INHERITED + 2];
    int ends[2], why = 0;

    environment(env);
    if (pipe2(ends, O_CLOEXEC))
        return errno;
    *pid = fork();
    if (!*pid)
        become(argv, (char *const *)env, files, limits, ends[1]);
    why = *pid < 0 ? errno : 0;
    close(ends[1]);
    if (!why && read(ends[0], &why, sizeof why) == sizeof why)
        waitpid(*pid, NULL, 0);
    close(ends[0]);
    return why;
}

/* Until it ends. */
static vpu_status await(pid_t pid, const char *name, const child_limits *limits,
                        const fe_clang_meanwhile *m, int *exit_code,
                        vpu_error *err)
{
    const child_signs signs = {m ? m->is_put : NULL, m ? m->user : NULL, -1};
    int status = 0;

    switch (child_wait(pid, limits, &signs, &status)) {
    case CHILD_ENDED:
        *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
        return VPU_OK;
    case CHILD_TIME:
        return err_set(err, VPU_ERR_LIMIT,
                       "%s took more than %g s of the processor's "
                       "time" BUDGET_TIME_ADVICE,
                       name, limits->seconds);
    case CHILD_IDLE: /* as for ever when a file it includes is a FIFO */
        return err_set(err, VPU_ERR_IO,
                       "%s did nothing for %d s and was stopped: is a file the "
                       "kernel includes a FIFO, or on a disk that does not "
                       "answer?",
                       name, CHILD_IDLE_SECONDS);
    default:
        if (errno != ECHILD)
            return err_set(err, VPU_ERR_IO, "waitpid: %s", strerror(errno));
        *exit_code = FE_EXIT_UNKNOWN;
        return VPU_OK;
    }
}

vpu_status fe_clang(char *const *argv, const int files[3],
                    const child_limits *given,
                    const fe_clang_meanwhile *meanwhile, int *exit_code,
                    vpu_error *err)
{
    const child_limits limits = budget_or_default(given);
    sigset_t all, before;
    vpu_status st;
    pid_t pid = 0;
    int rc;

    /* A handler must not come between its start and our knowing of it. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = spawn(argv, files, &limits, &pid);
    if (!rc)
        child_add(pid, false);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == ENOENT)
        return err_set(
            err, VPU_ERR_IO,
            "%s, which compiles kernels, is not installed; expected it "
            "on the PATH (Debian, Ubuntu: apt-get install %s)",
            argv[0], argv[0]);
    if (rc)
        return err_set(err, VPU_ERR_IO, "%s: %s", argv[0], strerror(rc));
    if (meanwhile && meanwhile->begun)
        meanwhile->begun(meanwhile->user);
    st = await(pid, argv[0], &limits, meanwhile, exit_code, err);
    child_forget(pid);
    return st;
}
