/* Runs clang on a kernel and collects bitcode, diagnostics and dependencies. */
#include "sim/compiler/frontend.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/file.h"
#include "sim/base/str.h"
#include "sim/base/temp.h"
#include "sim/builtins/prelude.h"
#include "sim/compiler/clang.h"

enum { MAX_SOURCE_BYTES = 16 << 20, MAX_BITCODE_BYTES = 256 << 20 };

/* What every compilation gets. No double on the device: the extension is
 * withdrawn, and unsuffixed literals are single precision. */
static const char *const fixed_options[] = {
    FE_CLANG_WORDS, "-x", "cl", "-cl-std=CL1.2", "-target",
    "spir-unknown-unknown", "-Xclang", "-finclude-default-header", "-Xclang",
    "-cl-ext=-cl_khr_fp64", "-cl-single-precision-constant",
    "-cl-kernel-arg-info", "-O2", "-Xclang", "-disable-llvm-passes",
    "-ffp-contract=off",
    /* LLVM ends a process that reads what does not hold together; clang's own
     * may, and leaves nothing behind. */
    "-fverify-intermediate-code", "-fno-crash-diagnostics",
    "-fno-strict-aliasing", "-gcolumn-info", "-fno-color-diagnostics",
    "-Wno-unknown-pragmas",
    "-Wno-ignored-pragmas", /* extensions only the vendor's compiler has */
    "-Wno-incompatible-pointer-types",
    "-Wno-incompatible-pointer-types-discards-qualifiers", "-D__VPU__=1",
    "-D__MYRIAD__=1", "-emit-llvm", "-c"};
enum { N_FIXED = sizeof fixed_options / sizeof *fixed_options };

/* Lines for messages and profiles, the same wherever the source lies. */
static const char *const line_options[] = {"-ffile-compilation-dir=.",
                                           "-gline-tables-only"};

const char *fe_fingerprint(arena *a)
{
    str s = {0};
    const char *text;
    struct stat sb = {0};

    for (int i = 0; i < N_FIXED; i++)
        str_printf(&s, "%s ", fixed_options[i]);
    for (int i = 0; i < 2; i++)
        str_printf(&s, "%s ", line_options[i]);
    if (!stat("/usr/bin/" FE_CLANG, &sb))
        str_printf(&s, "clang %lld %lld ", (long long)sb.st_size,
                   (long long)sb.st_mtime);
    str_puts(&s, sim_prelude_text());
    text = arena_strdup(a, str_text(&s));
    str_free(&s);
    return text;
}

/* clang, its messages in the file diag_path. */
static vpu_status run_clang(char *const *argv, const char *diag_path,
                            int *exit_code, vpu_error *err)
{
    int files[3] = {-1, -1, -1};
    vpu_status st;

    files[2] = open(diag_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (files[2] < 0)
        return err_set(err, VPU_ERR_IO, "%s: %s", diag_path, strerror(errno));
    st = fe_clang(argv, files, exit_code, err);
    close(files[2]);
    return st;
}

/* A line of source, or of marks below it, that belongs to the message above. */
static bool is_snippet(const char *l)
{
    l += strspn(l, " ");
    l += strspn(l, "0123456789");
    l += strspn(l, " ");
    return *l == '|';
}

/* Names of the prelude that stand in for the standard's. */
static void put_names(str *s, const char *l)
{
    static const char *const names[][2] = {
        {"__vpu_async_copy", "async_work_group_copy"},
        {"__vpu_async_strided_copy", "async_work_group_strided_copy"},
        {"__vpu_wait_group_events", "wait_group_events"},
        {"__vpu_prefetch", "prefetch"},
        {"__vpu_event_t", "event_t"}};
    enum { N_NAMES = sizeof names / sizeof *names };
    size_t i;

    for (; *l; l += i < N_NAMES ? strlen(names[i][0]) : 1) {
        for (i = 0; i < N_NAMES; i++)
            if (!strncmp(l, names[i][0], strlen(names[i][0])))
                break;
        if (i < N_NAMES)
            str_puts(s, names[i][1]);
        else
            str_add(s, l, 1);
    }
}

/* Clang's text without what speaks of our prelude and of clang's own header
 * ("In file included from …/prelude.h:3:", notes on declarations there). */
static char *hide_prelude(arena *a, char *diag, const char *prelude_path)
{
    str s = {0};
    char *save = NULL, *text;
    bool hidden = false;

    for (char *l = strtok_r(diag, "\n", &save); l;
         l = strtok_r(NULL, "\n", &save)) {
        if (!strncmp(l, "PLEASE submit", 13)) /* a stack of clang's follows */
            break;
        if (hidden && is_snippet(l))
            continue;
        hidden = strstr(l, prelude_path) || strstr(l, "opencl-c-base.h") ||
                 strstr(l, "opencl-c.h");
        if (hidden || strstr(l, "too many errors") ||
            !strncmp(l, FE_CLANG, strlen(FE_CLANG)))
            continue;
        if (s.n)
            str_puts(&s, "\n");
        put_names(&s, l);
    }
    text = arena_strdup(a, str_text(&s));
    str_free(&s);
    return text;
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

static vpu_status compile_in(const char *dir, const char *source,
                             const char *const *options, uint32_t n_options,
                             bool debug, const log_sink *log, arena *a,
                             fe_unit *out, vpu_error *err)
{
    char *prelude = arena_printf(a, "%s/vpusim-prelude.h", dir);
    char *bc = arena_printf(a, "%s/out.bc", dir);
    char *dep = arena_printf(a, "%s/out.d", dir);
    char *diag_path = arena_printf(a, "%s/diag", dir), *diag, *deps;
    char **argv = arena_array(a, char *, N_FIXED + n_options + 20);
    const char *text = sim_prelude_text();
    vpu_status st;
    size_t n = 0, len;
    int code = 0;

    argv[n++] = (char *)FE_CLANG;
    for (int i = 0; i < N_FIXED; i++)
        argv[n++] = (char *)fixed_options[i];
    for (int i = 0; i < 2 && !debug; i++)
        argv[n++] = (char *)line_options[i];
    if (debug)
        argv[n++] = (char *)"-g";
    argv[n++] = (char *)"-include";
    argv[n++] = prelude;
    for (uint32_t i = 0; i < n_options; i++)
        argv[n++] = (char *)options[i];
    argv[n++] = (char *)"-MD";
    argv[n++] = (char *)"-MF";
    argv[n++] = dep;
    argv[n++] = (char *)"-o";
    argv[n++] = bc;
    argv[n++] = (char *)source;
    st = file_write(prelude, text, strlen(text), err);
    if (!st)
        st = run_clang(argv, diag_path, &code, err);
    if (!st)
        st = file_read(diag_path, MAX_SOURCE_BYTES, a, &diag, &len, err);
    if (st)
        return st;
    diag = hide_prelude(a, diag, prelude);
    if (code)
        return err_set(err, VPU_ERR_COMPILE, "%s",
                       *diag ? diag : "clang failed without a message");
    pass_on_warnings(log, diag);
    st = file_read(bc, MAX_BITCODE_BYTES, a, &out->bitcode, &out->n_bytes, err);
    if (!st && !file_read(dep, MAX_SOURCE_BYTES, a, &deps, &len, NULL))
        parse_deps(a, deps, source, prelude, out);
    return st;
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

vpu_status fe_compile(const char *source_path, const char *text,
                      const char *const *options, uint32_t n_options,
                      bool debug, const log_sink *log, arena *a, fe_unit *out,
                      vpu_error *err)
{
    const char *path = source_path;
    char *dir, *source;
    size_t n;
    vpu_status st;

    *out = (fe_unit){0};
    st = fe_check_options(options, n_options, err);
    /* Our own message for what clang would complain about at length. */
    if (!st && !text)
        st = file_read(source_path, MAX_SOURCE_BYTES, a, &source, &n, err);
    if (!st)
        st = temp_dir(a, "vpu-", &dir, err);
    if (st)
        return st;
    if (!text && !fe_takes_name(source_path)) {
        text = source;
        options = fe_look_in(a, source_path, options, &n_options);
    }
    if (text)
        st = write_text(dir, source_path, text, a, &path, err);
    if (!st)
        st = compile_in(dir, path, options, n_options, debug, log, a, out, err);
    temp_dir_remove(dir);
    return st;
}
