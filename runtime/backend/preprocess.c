/* Runs clang's preprocessor, files in memory on both sides. */
#include "runtime/backend/preprocess.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/oom.h"
#include "base/file.h"
#include "sim/compiler/front/clang.h"

static const char *const fixed[] = {FE_CLANG,
                                    FE_CLANG_WORDS,
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
enum { N_FIXED = sizeof fixed / sizeof *fixed, MAX_SOURCE_BYTES = 16 << 20 };

static vpu_status run(const char *path, char *const *argv, int in, int out,
                      vpu_error *err)
{
    const int files[3] = {in, out, -1};
    int code = 0;
    vpu_status st = fe_clang(argv, files, NULL, NULL, &code, err);

    if (!st && code == FE_EXIT_UNKNOWN)
        st = err_set(err, VPU_ERR_IO,
                     "%s: this program waits for all its children, or ignores "
                     "SIGCHLD: what became of %s is not known",
                     path, FE_CLANG);
    else if (!st && code)
        st = err_set(err, VPU_ERR_COMPILE, "%s: the preprocessor of %s fails",
                     path, FE_CLANG);
    return st;
}

/* The text as a file in memory, its line mark before it. */
static vpu_status put_text(int in, const char *path, const char *text, arena *a,
                           vpu_error *err)
{
    const char *mark = fe_line_mark(a, path);

    if (file_fd_put(in, mark, strlen(mark)) &&
        file_fd_put(in, text, strlen(text)) && lseek(in, 0, SEEK_SET) == 0)
        return VPU_OK;
    return err_set(err, VPU_ERR_IO, "%s: no file in memory: %s", path,
                   strerror(errno));
}

/* One run of clang: files in memory for its input and its output. */
typedef struct {
    int in, to;
    preprocess_job job;
} clang_run;

static vpu_status preprocess_in(const clang_run *r, arena *a, char **out,
                                vpu_error *err)
{
    const preprocess_job *j = &r->job;
    char **argv = arena_array(a, char *, N_FIXED + j->n_options + 2);
    vpu_status st =
        j->text ? put_text(r->in, j->path, j->text, a, err) : VPU_OK;
    size_t n = 0, length;

    for (int i = 0; i < N_FIXED; i++)
        argv[n++] = (char *)fixed[i];
    for (uint32_t i = 0; i < j->n_options; i++)
        argv[n++] = (char *)j->options[i];
    argv[n++] = (char *)(j->text ? "-" : j->path);
    if (!st)
        st = run(j->path, argv, r->in, r->to, err);
    if (!st && !(*out = file_fd_get(r->to, SIZE_MAX - 1, a, &length)))
        st = err_set(err, VPU_ERR_IO, "%s: reading preprocessed text: %s",
                     j->path, errno ? strerror(errno) : "it ends early");
    return st;
}

typedef struct {
    clang_run r;
    arena *a;
    char **out;
} preprocessing;

static vpu_status preprocess_job_of(void *user, vpu_error *err)
{
    preprocessing *x = user;
    clang_run *r = &x->r;
    const char *path = r->job.path;
    vpu_status st =
        r->in < 0 || r->to < 0
            ? err_set(err, VPU_ERR_IO, "%s: no file in memory: %s", path,
                      strerror(errno))
            : fe_check_options(r->job.options, r->job.n_options, err);
    char *source;
    size_t n;

    if (!st && !r->job.text && !fe_takes_name(path)) {
        st = file_read(path, MAX_SOURCE_BYTES, x->a, &source, &n, err);
        r->job.text = source;
        r->job.options =
            fe_look_in(x->a, path, r->job.options, &r->job.n_options);
    }
    return st ? st : preprocess_in(r, x->a, x->out, err);
}

static void close_files(void *user)
{
    const preprocessing *x = user;

    if (x->r.in >= 0)
        close(x->r.in);
    if (x->r.to >= 0)
        close(x->r.to);
}

vpu_status preprocess(const preprocess_job *job, arena *a, char **out,
                      vpu_error *err)
{
    preprocessing x = {.r = {.in = memfd_create("vpu-source", MFD_CLOEXEC),
                             .to = memfd_create("vpu-text", MFD_CLOEXEC),
                             .job = *job},
                       .a = a,
                       .out = out};

    *out = NULL;
    return oom_finally(preprocess_job_of, close_files, &x, err);
}
