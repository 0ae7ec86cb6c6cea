/* Runs clang's preprocessor, files in memory on both sides. */
#include "runtime/backend/preprocess.h"

#include <errno.h>
#include <stdbool.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define CLANG "clang-" VPU_LLVM

static const char *const fixed[] = {CLANG,
                                    "-E",
                                    "-x",
                                    "cl",
                                    "-cl-std=CL1.2",
                                    "-cl-no-stdinc",
                                    "-target",
                                    "spir-unknown-unknown",
                                    "-Xclang",
                                    "-cl-ext=-cl_khr_fp64",
                                    "-D__VPU__=1",
                                    "-D__MYRIAD__=1"};
enum { N_FIXED = sizeof fixed / sizeof *fixed };

static vpu_status run(char *const *argv, int in, int out, vpu_error *err)
{
    posix_spawn_file_actions_t fa;
    pid_t pid;
    int rc, status = 0;

    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, in, 0);
    posix_spawn_file_actions_adddup2(&fa, out, 1);
    posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", 1 /* write */, 0);
    rc = posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    if (rc == ENOENT)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "%s is not installed (scripts/deps installs it)",
                       argv[0]);
    if (rc)
        return err_set(err, VPU_ERR_IO, "%s: %s", argv[0], strerror(rc));
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_set(err, VPU_ERR_IO, "waitpid: %s", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        return err_set(err, VPU_ERR_COMPILE, "%s: the preprocessor of %s fails",
                       argv[N_FIXED], CLANG);
    return VPU_OK;
}

static bool put(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t k = write(fd, p, n);

        if (k < 0 && errno != EINTR)
            return false;
        p += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
    return true;
}

static char *get(int fd, arena *a)
{
    struct stat sb;
    size_t n = 0, size;
    char *text;

    if (fstat(fd, &sb))
        return NULL;
    size = (size_t)sb.st_size;
    text = arena_array(a, char, size + 1);
    while (n < size) {
        ssize_t k = pread(fd, text + n, size - n, (off_t)n);

        if (k == 0 || (k < 0 && errno != EINTR))
            return NULL;
        n += k > 0 ? (size_t)k : 0;
    }
    return text;
}

vpu_status preprocess(const char *path, const char *text,
                      const char *const *options, uint32_t n_options, arena *a,
                      char **out, vpu_error *err)
{
    char **argv = arena_array(a, char *, N_FIXED + n_options + 3);
    int in = memfd_create("vpu-source", MFD_CLOEXEC);
    int to = memfd_create("vpu-text", MFD_CLOEXEC);
    char *head = text ? arena_printf(a, "#line 1 \"%s\"\n", path) : NULL;
    vpu_status st = VPU_OK;
    size_t n = 0;

    for (int i = 0; i < N_FIXED; i++)
        argv[n++] = (char *)fixed[i];
    argv[n++] = text ? (char *)"-" : (char *)path;
    for (uint32_t i = 0; i < n_options; i++)
        argv[n++] = (char *)options[i];
    *out = NULL;
    if (in < 0 || to < 0 ||
        (text && (!put(in, head, strlen(head)) ||
                  !put(in, text, strlen(text)) || lseek(in, 0, SEEK_SET) < 0)))
        st = err_set(err, VPU_ERR_IO, "%s: no file in memory: %s", path,
                     strerror(errno));
    if (!st)
        st = run(argv, in, to, err);
    if (!st && !(*out = get(to, a)))
        st = err_set(err, VPU_ERR_IO, "%s: reading preprocessed text: %s", path,
                     strerror(errno));
    if (in >= 0)
        close(in);
    if (to >= 0)
        close(to);
    return st;
}
