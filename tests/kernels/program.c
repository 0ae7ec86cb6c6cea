/* posix_spawn, files in a temporary folder, and nothing of the simulator. */
#include "tests/kernels/program.h"

#include <check.h>
#include <ftw.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

extern char **environ;

static void add(program_args *p, const char *word)
{
    ck_assert_uint_lt(p->n_args, PROGRAM_MAX_ARGS);
    p->argv[p->n_args++] = word;
    p->argv[p->n_args] = NULL;
}

void program_args_init(program_args *p, arena *a, const char *first, ...)
{
    const char *vpu = getenv("VPU");
    va_list ap;

    p->arena = a;
    p->n_args = 0;
    add(p, vpu && *vpu ? vpu : "build/vpu");
    va_start(ap, first);
    for (const char *w = first; w; w = va_arg(ap, const char *))
        add(p, w);
    va_end(ap);
}

void program_args_add(program_args *p, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    ck_assert_int_lt(n, (int)sizeof text);
    add(p, arena_strdup(p->arena, text));
}

int program_run(const program_args *p, const char *dir)
{
    const int flags = 0x241; /* write, create, truncate */
    posix_spawn_file_actions_t fa;
    pid_t pid;
    int status;

    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", 0, 0);
    posix_spawn_file_actions_addopen(&fa, 1, file_join(p->arena, dir, "stdout"),
                                     flags, 0600);
    posix_spawn_file_actions_addopen(&fa, 2, file_join(p->arena, dir, "stderr"),
                                     flags, 0600);
    ck_assert_int_eq(posix_spawnp(&pid, p->argv[0], &fa, NULL,
                                  (char **)(uintptr_t)p->argv, environ),
                     0);
    posix_spawn_file_actions_destroy(&fa);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

char *program_temp_dir(arena *a)
{
    const char *base = getenv("TMPDIR");
    char *dir = arena_strdup(
        a, file_join(a, base && *base ? base : "/tmp", "vpu-test-XXXXXX"));

    ck_assert_ptr_nonnull(mkdtemp(dir));
    return dir;
}

static int remove_one(const char *path, const struct stat *sb, int type,
                      struct FTW *f)
{
    (void)sb;
    (void)type;
    (void)f;
    return remove(path);
}

void program_remove_dir(const char *dir)
{
    nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

char *program_file(arena *a, const char *dir, const char *name, size_t *n)
{
    vpu_error err = {0};
    char *data = NULL;

    ck_assert_msg(
        !file_read(file_join(a, dir, name), (size_t)1 << 30, a, &data, n, &err),
        "%s", err.msg);
    return data;
}
