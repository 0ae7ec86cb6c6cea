/* A temporary folder, files in it, and the program run there with its output
 * kept. */
#include "tests/support/terminal.h"

#include <check.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

enum { MAX_WORDS = 64, MAX_OUTPUT = 16 << 20, MAX_FILES = 256 };

static const char *path_of(terminal *p, const char *name)
{
    return arena_printf(p->arena, "%s/%s", p->dir, name);
}

void terminal_open(terminal *p)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGQUIT};

    /* nohup and shells' backgrounds have programs ignore them. */
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        signal(ends[i], SIG_DFL);
    *p = (terminal){.arena = arena_create(0), .dir = "/tmp/vpu-test-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(p->dir));
    ck_assert(!mkdir(path_of(p, "tmp"), 0700));
}

static int remove_one(const char *path, const struct stat *sb, int flag,
                      struct FTW *ftw)
{
    (void)sb;
    (void)flag;
    (void)ftw;
    return remove(path);
}

void terminal_close(terminal *p)
{
    nftw(p->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    arena_destroy(p->arena);
}

void terminal_file(terminal *p, const char *name, const void *data, size_t n)
{
    vpu_error err = {0};

    if (strchr(name, '/'))
        ck_assert(!file_mkdirs(file_dirname(p->arena, path_of(p, name)), &err));
    ck_assert_msg(!file_write(path_of(p, name), data, n, &err), "%s", err.msg);
}

void terminal_text(terminal *p, const char *name, const char *text)
{
    terminal_file(p, name, text, strlen(text));
}

bool terminal_has(terminal *p, const char *name)
{
    struct stat sb;

    return !stat(path_of(p, name), &sb);
}

static _Noreturn void become_it(terminal *p, char **argv)
{
    if (chdir(p->dir) || !freopen("/dev/null", "r", stdin) ||
        !freopen(".out", "w", stdout) || !freopen(".err", "w", stderr))
        _exit(99);
    if (p->out_fd > 0)
        dup2(p->out_fd, 1);
    if (p->out_fd < 0)
        close(1);
    setenv("XDG_CACHE_HOME", path_of(p, ".cache"), 1);
    setenv("TMPDIR", path_of(p, p->tmp ? p->tmp : "tmp"), 1);
    alarm(60);
    execv(argv[0], argv);
    _exit(98);
}

pid_t terminal_start(terminal *p, const char *args)
{
    const char *vpu = getenv("VPU");
    char *words = arena_strdup(p->arena, args), *save = NULL;
    char *argv[MAX_WORDS + 2];
    int n = 0;
    pid_t pid;

    argv[n++] = realpath(vpu && *vpu ? vpu : "build/vpu", NULL);
    ck_assert_msg(argv[0] != NULL, "no program at $VPU or build/vpu");
    for (char *w = strtok_r(words, " ", &save); w && n < MAX_WORDS;
         w = strtok_r(NULL, " ", &save))
        argv[n++] = w;
    argv[n] = NULL;
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (!pid)
        become_it(p, argv);
    free(argv[0]);
    return pid;
}

static const char *slurp(terminal *p, const char *name)
{
    char *data;
    size_t n;
    vpu_error err = {0};

    ck_assert_msg(
        !file_read(path_of(p, name), MAX_OUTPUT, p->arena, &data, &n, &err),
        "%s", err.msg);
    return data;
}

void terminal_wait(terminal *p, pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    p->status =
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    p->out = slurp(p, ".out");
    p->err = slurp(p, ".err");
}

void terminal_run(terminal *p, const char *args)
{
    terminal_wait(p, terminal_start(p, args));
}

/* nftw takes no user data. */
static struct {
    const char *names[MAX_FILES];
    size_t n, skip;
    arena *a;
} found;

static int note_file(const char *path, const struct stat *sb, int flag,
                     struct FTW *ftw)
{
    const char *name = path + found.skip;

    (void)sb;
    (void)ftw;
    if (flag == FTW_F && strncmp(name, ".cache/", 7) && strcmp(name, ".out") &&
        strcmp(name, ".err") && found.n < MAX_FILES)
        found.names[found.n++] = arena_strdup(found.a, name);
    return 0;
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static bool listed(const char *lines, const char *name)
{
    size_t n = strlen(name);

    for (const char *l = lines; l && *l; l = strchr(l, '\n')) {
        l += *l == '\n';
        if (!strncmp(l, name, n) && (!l[n] || l[n] == '\n'))
            return true;
    }
    return false;
}

const char *terminal_files(terminal *p, const char *except)
{
    str s = {0};
    const char *text;

    found.n = 0;
    found.skip = strlen(p->dir) + 1;
    found.a = p->arena;
    nftw(p->dir, note_file, 16, FTW_PHYS);
    qsort(found.names, found.n, sizeof *found.names, by_name);
    for (size_t i = 0; i < found.n; i++)
        if (!listed(except, found.names[i]))
            str_printf(&s, "%s%s", s.n ? "\n" : "", found.names[i]);
    text = arena_strdup(p->arena, str_text(&s));
    str_free(&s);
    return text;
}

void terminal_expect(const terminal *p, int status, const char *words)
{
    ck_assert_msg(p->status == status, "exit status %d, expected %d\n%s%s",
                  p->status, status, p->err, p->out);
    ck_assert_msg((!status && strstr(p->out, words)) || strstr(p->err, words),
                  "'%s' is not in\n%s%s", words, p->err, p->out);
}

const char *terminal_bytes(terminal *p, const char *name, size_t *n)
{
    char *data;
    vpu_error err = {0};

    ck_assert_msg(!file_read(arena_printf(p->arena, "%s/%s", p->dir, name),
                             1 << 26, p->arena, &data, n, &err),
                  "%s", err.msg);
    return data;
}
