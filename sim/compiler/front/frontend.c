/* Runs clang on a kernel and collects bitcode, diagnostics and dependencies. */
#include "sim/compiler/front/frontend.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/oom.h"
#include "base/str.h"
#include "base/task.h"
#include "base/temp.h"
#include "sim/builtins/calls.h"
#include "sim/builtins/prelude.h"
#include "sim/compiler/front/budget.h"
#include "sim/compiler/front/clang.h"
#include "sim/compiler/front/diagnostics.h"
#include "sim/compiler/front/source.h"

enum { MAX_SOURCE_BYTES = 16 << 20, MAX_BITCODE_BYTES = 256 << 20 };

/* What a kernel's text means. No double on the device: the extension is
 * withdrawn, and unsuffixed literals are single precision. */
static const char *const language_options[] = {
    "-x",
    "cl",
    "-cl-std=CL1.2",
    "-target",
    "spir-unknown-unknown",
    "-Xclang",
    "-finclude-default-header",
    "-Xclang",
    "-cl-ext=-cl_khr_fp64",
    "-cl-single-precision-constant",
    "-Wno-unknown-pragmas",
    "-Wno-ignored-pragmas", /* extensions only the vendor's compiler has */
    "-Wno-incompatible-pointer-types",
    "-Wno-incompatible-pointer-types-discards-qualifiers",
    "-D__VPU__=1",
    "-D__MYRIAD__=1"};
enum { N_LANGUAGE = sizeof language_options / sizeof *language_options };

/* What every compilation gets besides. */
static const char *const fixed_options[] = {
    FE_CLANG_WORDS, "-cl-kernel-arg-info", "-O2", "-Xclang",
    "-disable-llvm-passes", "-ffp-contract=off",
    /* LLVM ends a process that reads what does not hold together; clang's own
     * may, and leaves nothing behind. */
    "-fverify-intermediate-code", "-fno-crash-diagnostics",
    "-fno-strict-aliasing", "-gcolumn-info", "-fno-color-diagnostics"};
enum { N_FIXED = sizeof fixed_options / sizeof *fixed_options };

/* Lines for messages and profiles, the same wherever the source lies. */
static const char *const line_options[] = {"-ffile-compilation-dir=.",
                                           "-gline-tables-only"};

const char *const *fe_language_options(uint32_t *n)
{
    *n = N_LANGUAGE;
    return language_options;
}

const char *fe_fingerprint(arena *a)
{
    str s = {.arena = a};

    for (int i = 0; i < N_LANGUAGE; i++)
        str_printf(&s, "%s ", language_options[i]);
    for (int i = 0; i < N_FIXED; i++)
        str_printf(&s, "%s ", fixed_options[i]);
    for (int i = 0; i < 2; i++)
        str_printf(&s, "%s ", line_options[i]);
    str_puts(&s, builtin_prelude_text());
    return str_text(&s);
}

const char *fe_clang_fingerprint(arena *a)
{
    const char *path = getenv("PATH");
    char *rest = arena_strdup(a, path ? path : ""), *one;
    struct stat sb;

    while ((one = strsep(&rest, ":"))) {
        const char *file = file_join(a, *one ? one : ".", FE_CLANG);

        if (!stat(file, &sb) && S_ISREG(sb.st_mode) && !access(file, X_OK))
            return arena_printf(a, "clang %lld %lld", (long long)sb.st_size,
                                (long long)sb.st_mtime);
    }
    return NULL;
}

/* clang, its messages in the file diag_path. */
static vpu_status run_clang(char *const *argv, const char *diag_path,
                            const fe_job *job,
                            const fe_clang_meanwhile *meanwhile, int *exit_code,
                            vpu_error *err)
{
    int files[3] = {-1, -1, -1};
    vpu_status st;

    files[2] = open(diag_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (files[2] < 0)
        return err_set(err, VPU_ERR_IO, "%s: %s", diag_path, strerror(errno));
    st = fe_clang(argv, files, job->limits, meanwhile, exit_code, err);
    close(files[2]);
    return st;
}

/* Makefile-syntax dependencies: "out: a b \<newline> c", blanks escaped and
 * every $ twice. */
static void parse_deps(arena *a, const char *d, const char *source,
                       const char *prelude, fe_unit *out)
{
    size_t cap = 0, n = 0;
    const char **list = NULL;
    const char *p = strstr(d, ": ");

    for (p = p ? p + 1 : ""; *p;) {
        str one = {0};

        while (*p == ' ' || *p == '\n' || (*p == '\\' && p[1] == '\n'))
            p += *p == '\\' ? 2 : 1;
        while (*p && *p != ' ' && *p != '\n') {
            if (*p == '\\' && p[1])
                p++;
            else if (*p == '$' && p[1] == '$')
                p++;
            if (*p == '\n')
                break;
            str_add(&one, p++, 1);
        }
        if (one.n && strcmp(one.data, source) && strcmp(one.data, prelude) &&
            !strstr(one.data, "opencl-c"))
            *arena_append(a, list, n, cap) = arena_strdup(a, one.data);
        str_free(&one);
    }
    out->deps = list;
    out->n_deps = (uint32_t)n;
}

/* One message a diagnostic: what clang shows of the source belongs to it. */
static void pass_on_warnings(const log_sink *log, const char *diag)
{
    str message = {0};

    while (*diag) {
        size_t n = strcspn(diag, "\n");
        bool starts = memmem(diag, n, ": warning: ", 11) ||
                      memmem(diag, n, " generated.", 11);

        if (starts && message.n) {
            log_warn(log, "%s", str_text(&message));
            str_free(&message);
        }
        if (!memmem(diag, n, " generated.", 11))
            str_printf(&message, "%s%.*s", message.n ? "\n" : "", (int)n, diag);
        diag += n + (diag[n] != 0);
    }
    if (message.n)
        log_warn(log, "%s", str_text(&message));
    str_free(&message);
}

/* The files of one compilation, in a folder of ours. */
typedef struct {
    const char *text;   /* of the kernel */
    const char *source; /* a file of it, or the user's own file */
    char *prelude, *result, *deps, *messages;
} fe_files;

/* --- what the prelude need not declare ------------------------------------ */

static bool in_word(char c)
{
    return c == '_' || isalnum((unsigned char)c);
}

static bool names_word(const char *text, const char *word, size_t n)
{
    for (const char *p = text; (p = strstr(p, word)); p += n)
        if (!in_word(p[n]) && (p == text || !in_word(p[-1])))
            return true;
    return false;
}

static bool kernel_names(const fe_job *job, const char *text, const char *word)
{
    size_t n = strlen(word);

    if (names_word(text, word, n))
        return true;
    for (uint32_t i = 0; i < job->n_options; i++) /* -DCOPY=… */
        if (strstr(job->options[i], word))
            return true;
    return false;
}

/* Options that leave out of the prelude what the kernel does not name (see
 * kernel.h); none when it includes files, which may name anything. A name that
 * a macro pastes together is missed. */
static const char *const *leave_out(const fe_job *job, const char *text,
                                    arena *a, uint32_t *n)
{
    static const char mark[] = "__without_";
    const char **out = NULL;
    size_t count = 0, cap = 0;

    *n = 0;
    if (strstr(text, "include"))
        return NULL;
    for (const char *p = builtin_prelude_text(); (p = strstr(p, mark));) {
        size_t len = 0;
        const char *word;

        p += strlen(mark);
        while (in_word(p[len]))
            len++;
        word = arena_printf(a, "%.*s", (int)len, p);
        if (len && !kernel_names(job, text, word))
            *arena_append(a, out, count, cap) =
                arena_printf(a, "-D%s%s", mark, word);
    }
    *n = (uint32_t)count;
    return out;
}

/* --- running -------------------------------------------------------------- */

/* Options between those for all kernels and the kernel's own; how: NULL ends.
 */
typedef struct {
    const char *const *how, *const *without;
    uint32_t n_without;
    const fe_clang_meanwhile *meanwhile; /* or NULL */
} fe_words;

/* clang's command line. */
static char **command_line(const fe_job *job, const fe_files *f,
                           const fe_words *words, arena *a)
{
    char **argv = arena_array(a, char *,
                              N_LANGUAGE + N_FIXED + words->n_without +
                                  job->n_options + 20);
    const char *const *how = words->how;
    size_t n = 0;

    argv[n++] = (char *)FE_CLANG;
    for (int i = 0; i < N_LANGUAGE; i++)
        argv[n++] = (char *)language_options[i];
    for (int i = 0; i < N_FIXED; i++)
        argv[n++] = (char *)fixed_options[i];
    for (; *how; how++)
        argv[n++] = (char *)*how;
    for (uint32_t i = 0; i < words->n_without; i++)
        argv[n++] = (char *)words->without[i];
    argv[n++] = (char *)"-include";
    argv[n++] = f->prelude;
    for (uint32_t i = 0; i < job->n_options; i++)
        argv[n++] = (char *)job->options[i];
    argv[n++] = (char *)"-o";
    argv[n++] = f->result;
    argv[n++] = (char *)f->source;
    return argv;
}

static vpu_status short_of_memory(const fe_job *job, vpu_error *err)
{
    const child_limits limits = budget_or_default(job->limits);

    return err_set(err, VPU_ERR_LIMIT,
                   "%s: %s needed more than %llu MB of "
                   "memory" BUDGET_MEMORY_ADVICE,
                   job->path, FE_CLANG, (unsigned long long)limits.bytes >> 20);
}

/* Runs clang once. *failed: it objects to the kernel, with these messages. */
static vpu_status attempt(const fe_job *job, const fe_files *f,
                          const fe_words *words, arena *a, bool *failed,
                          char **diag, vpu_error *err)
{
    size_t len;
    int code = 0;
    vpu_status st;

    unlink(f->result); /* of an attempt before */
    st = run_clang(command_line(job, f, words, a), f->messages, job,
                   words->meanwhile, &code, err);
    if (st)
        return st == VPU_ERR_LIMIT ? err_in(err, st, "%s", job->path) : st;
    st = file_read(f->messages, MAX_SOURCE_BYTES, a, diag, &len, err);
    if (st)
        return st;
    /* clang puts its result there when it is whole. */
    if (code == FE_EXIT_UNKNOWN)
        code = !file_exists(f->result);
    *failed = code != 0;
    return *failed && task_says_short(*diag) ? short_of_memory(job, err)
                                             : VPU_OK;
}

/* Run clang; warnings go to the log. */
static vpu_status run(const fe_job *job, const fe_files *f,
                      const char *const *how,
                      const fe_clang_meanwhile *meanwhile, arena *a,
                      vpu_error *err)
{
    const char *prelude = builtin_prelude_text();
    fe_words words = {.how = how, .meanwhile = meanwhile};
    bool failed = false;
    char *diag;
    vpu_status st = file_write(f->prelude, prelude, strlen(prelude), err);

    words.without = leave_out(job, f->text, a, &words.n_without);
    if (!st)
        st = attempt(job, f, &words, a, &failed, &diag, err);
    /* A compiler that was killed says nothing, and is not started again. */
    if (!st && failed && *diag && words.n_without) {
        words.n_without = 0;
        st = attempt(job, f, &words, a, &failed, &diag, err);
    }
    if (st)
        return st;
    diag = fe_diagnostics(diag, f->prelude, a);
    if (failed)
        return err_set(err, VPU_ERR_COMPILE, "%s",
                       *diag ? diag : "clang failed without a message");
    pass_on_warnings(job->log, diag);
    return VPU_OK;
}

/* What clang has made, on its way into *out. */
typedef struct {
    const fe_job *job;
    const fe_files *f;
    arena *a;
    fe_unit *out;
    bool is_read;
} compiling;

static void clang_has_begun(void *user)
{
    compiling *c = user;

    c->is_read = false;
    if (c->job->meanwhile.begun)
        c->job->meanwhile.begun(c->job->meanwhile.user);
}

static vpu_status read_result(compiling *c, vpu_error *err)
{
    const fe_files *f = c->f;
    fe_unit *out = c->out;
    char *deps;
    size_t len;
    vpu_status st = file_read(f->result, MAX_BITCODE_BYTES, c->a, &out->bitcode,
                              &out->n_bytes, err);

    /* clang writes this file first. */
    if (!st && !file_read(f->deps, MAX_SOURCE_BYTES, c->a, &deps, &len, NULL))
        parse_deps(c->a, deps, f->source, f->prelude, out);
    return st;
}

static vpu_status hand_over(void *user, vpu_error *err)
{
    compiling *c = user;
    vpu_status st = read_result(c, err);

    if (!st)
        c->job->meanwhile.compiled(c->job->meanwhile.user, c->out);
    return st;
}

/* What goes wrong here is seen again, and told, when clang has ended. */
static bool result_is_put(void *user)
{
    compiling *c = user;

    if (!file_exists(c->f->result))
        return false;
    c->is_read = !oom_guard(hand_over, c, NULL);
    return true;
}

static vpu_status compile_in(const fe_job *job, const fe_files *f, arena *a,
                             void *result, vpu_error *err)
{
    const char *how[] = {"-emit-llvm", "-c",    "-MD",
                         "-MF",        f->deps, job->debug ? "-g" : NULL,
                         NULL,         NULL};
    compiling c = {job, f, a, result, false};
    const fe_clang_meanwhile meanwhile = {
        clang_has_begun, job->meanwhile.compiled ? result_is_put : NULL, &c};
    vpu_status st;

    for (int i = 0; i < 2 && !job->debug; i++)
        how[5 + i] = line_options[i];
    /* clang would leave out the folders that an absolute name shares with the
     * current one, and a debugger that is given the name would not find it. */
    if (job->debug && *f->source == '/')
        how[6] = line_options[0];
    st = run(job, f, how, &meanwhile, a, err);
    return st || c.is_read ? st : read_result(&c, err);
}

static vpu_status preprocess_in(const fe_job *job, const fe_files *f, arena *a,
                                void *result, vpu_error *err)
{
    static const char *const how[] = {"-E", NULL};
    char **out = result, *text;
    size_t n;
    vpu_status st = run(job, f, how, NULL, a, err);

    if (!st)
        st = file_read(f->result, MAX_BITCODE_BYTES, a, &text, &n, err);
    if (!st)
        st = source_plain(text, f->prelude, a, out, err);
    return st && st != VPU_ERR_COMPILE ? err_in(err, st, "%s", job->path) : st;
}

/* A text as a file of dir whose diagnostics name it `name`. */
static vpu_status write_text(const char *dir, const char *name,
                             const char *text, arena *a, const char **path,
                             vpu_error *err)
{
    char *whole = arena_printf(a, "%s%s", fe_line_mark(a, name), text);

    *path = arena_printf(a, "%s/text.cl", dir);
    return file_write(*path, whole, strlen(whole), err);
}

typedef vpu_status fe_step(const fe_job *job, const fe_files *f, arena *a,
                           void *result, vpu_error *err);

/* A step with the files it wants, which are gone then. */
static vpu_status in_folder(const fe_job *given, fe_step *step, arena *a,
                            void *result, vpu_error *err)
{
    fe_job job = *given;
    fe_files f = {.source = job.path};
    char *dir, *source;
    size_t n;
    vpu_status st;

    st = fe_check_options(job.options, job.n_options, err);
    /* Our own message for what clang would complain about at length. */
    if (!st && !job.text)
        st = file_read(job.path, MAX_SOURCE_BYTES, a, &source, &n, err);
    if (!st)
        st = temp_dir(a, "vpu-", &dir, err);
    if (st)
        return st;
    f.text = job.text ? job.text : source;
    if (!job.text && !fe_takes_name(job.path)) {
        job.text = source;
        job.options = fe_look_in(a, job.path, job.options, &job.n_options);
    }
    if (job.text)
        st = write_text(dir, job.path, job.text, a, &f.source, err);
    f.prelude = arena_printf(a, "%s/vpusim-prelude.h", dir);
    f.result = arena_printf(a, "%s/out", dir);
    f.deps = arena_printf(a, "%s/out.d", dir);
    f.messages = arena_printf(a, "%s/diag", dir);
    if (!st)
        st = step(&job, &f, a, result, err);
    temp_dir_remove(dir);
    return st;
}

vpu_status fe_compile(const fe_job *job, arena *a, fe_unit *out, vpu_error *err)
{
    *out = (fe_unit){0};
    return in_folder(job, compile_in, a, out, err);
}

/* Preprocessed again it must stay as it is: a name the user has undefined and
 * taken for something else would become a macro of OpenCL's header again. */
vpu_status fe_preprocess(const fe_job *job, arena *a, char **out,
                         vpu_error *err)
{
    fe_job again = *job;
    char *twice;
    vpu_status st = in_folder(job, preprocess_in, a, out, err);

    if (st)
        return st;
    again.text = *out;
    again.n_options = 0;
    again.log = NULL;
    st = in_folder(&again, preprocess_in, a, &twice, err);
    if (!st && !source_same(*out, twice))
        st = err_set(err, VPU_ERR_UNSUPPORTED,
                     "%s: it cannot be put into a .bin: it gives a name of "
                     "OpenCL's header another meaning",
                     job->path);
    return st;
}
