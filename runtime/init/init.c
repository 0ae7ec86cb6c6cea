/* Templates filled in, beside their place, and renamed. */
#include "runtime/init/init.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "base/temp.h"
#include "sim/builtins/prelude.h"
#include "sim/compiler/front/frontend.h"

#define TEMPLATE(id, file)                                  \
    __asm__(".section .rodata\n"                            \
            "vpu_init_" #id ":\n"                           \
            ".incbin \"runtime/init/templates/" file "\"\n" \
            "vpu_init_" #id "_end:\n"                       \
            ".byte 0\n"                                     \
            ".previous\n");                                 \
    extern const char vpu_init_##id[], vpu_init_##id##_end[];
#include "runtime/init/templates.def"

enum {
#define TEMPLATE(id, file) T_##id,
#include "runtime/init/templates.def"
};

static const struct {
    const char *at, *end;
} templates[] = {
#define TEMPLATE(id, file) {vpu_init_##id, vpu_init_##id##_end},
#include "runtime/init/templates.def"
};

typedef struct {
    bool dma, two_stage;
    int kernel, binding, reference, input, output; /* templates */
    const char *shape, *parameter, *value;
    unsigned budget;
} variant;

static const variant variants[] = {
#define VARIANT(kernel, dma, two_stage, reference, input, output, shape, \
                parameter, value, budget)                                \
    {dma,                                                                \
     two_stage,                                                          \
     T_##kernel##_cl,                                                    \
     T_##kernel##_xml,                                                   \
     T_##reference##_py,                                                 \
     T_##input,                                                          \
     T_##output,                                                         \
     shape,                                                              \
     parameter,                                                          \
     value,                                                              \
     budget},
#include "runtime/init/variants.def"
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

/* --- names ---------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_of_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

#define EXPECTED                                                             \
    "expected a letter, then letters, digits and _, such as leaky_relu (it " \
    "becomes part of the kernels' names)"

vpu_status init_check_name(const char *name, vpu_error *err)
{
    size_t n = strlen(name), at = 0;

    if (!n)
        return err_set(err, VPU_ERR_INVALID,
                       "the name of the layer is empty; " EXPECTED);
    if (n > INIT_MAX_NAME)
        return err_set(err, VPU_ERR_INVALID,
                       "the name of the layer has %zu bytes; expected %d at "
                       "most",
                       n, INIT_MAX_NAME);
    while (at < n && (at ? is_of_word(name[at]) : is_letter(name[at])))
        at++;
    if (at == n)
        return VPU_OK;
    if (isprint((unsigned char)name[at]))
        return err_set(
            err, VPU_ERR_INVALID,
            "the name of the layer, '%s', has '%c' at place %zu; " EXPECTED,
            name, name[at], at + 1);
    return err_set(
        err, VPU_ERR_INVALID,
        "the name of the layer has byte 0x%02x at place %zu; " EXPECTED,
        (unsigned)(unsigned char)name[at], at + 1);
}

/* --- what editors are told ------------------------------------------------ */

#define HEADER "vpusim/kernel.h"

/* From the running program: PREFIX/bin/vpu, or build/CONF/vpu in the sources.
 */
static const char *find_include(arena *a)
{
    static const char *const ways[] = {"../include", "../../include"};
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *dir, *found = NULL;

    if (n <= 0)
        return NULL;
    dir = file_dirname(a, arena_strndup(a, self, (size_t)n));
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !found; i++) {
        char *whole = realpath(file_join(a, dir, ways[i]), NULL);

        if (whole && file_exists(file_join(a, whole, HEADER)))
            found = arena_strdup(a, whole);
        free(whole);
    }
    return found;
}

const char *init_flags(const char *include, arena *a)
{
    uint32_t n;
    const char *const *words = fe_language_options(&n);
    str s = {.arena = a};

    for (uint32_t i = 0; i < n; i++)
        str_printf(&s, "%s\n", words[i]);
    str_printf(&s, "-I%s\n-include\n" HEADER "\n",
               include ? include : "include");
    return str_text(&s);
}

/* --- writing -------------------------------------------------------------- */

typedef struct {
    const init_job *job;
    const variant *v;
    const char *dir; /* where files are put */
    init_result *out;
    arena *a;
    vpu_error *err;
} making;

/* "1x2x3x4" as "1, 2, 3, 4". */
static const char *dims_of(const char *shape, arena *a)
{
    str s = {.arena = a};

    for (; *shape; shape++)
        if (*shape == 'x')
            str_puts(&s, ", ");
        else
            str_add(&s, shape, 1);
    return str_text(&s);
}

/* The value of the word between two @ at text; NULL: it is none of ours. */
static const char *value_of(const making *m, const char *word, size_t n)
{
    const struct {
        const char *word, *value;
    } all[] = {
        {"NAME", m->job->name},
        {"SHAPE", m->v->shape},
        {"DIMS", dims_of(m->v->shape, m->a)},
        {"PARAMETER", m->v->parameter},
        {"VALUE", m->v->value},
        {"BUDGET", arena_printf(m->a, "%u", m->v->budget)},
        {"WORDS", m->out->words},
        {"OPTIONS", arena_printf(m->a, "%s%s", m->job->dma ? " --dma" : "",
                                 m->job->two_stage ? " --two-stage" : "")}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strlen(all[i].word) == n && !memcmp(all[i].word, word, n))
            return all[i].value;
    return NULL;
}

static void fill(const making *m, int template, str *out)
{
    const char *at = templates[template].at, *end = templates[template].end;

    while (at < end) {
        const char *open = memchr(at, '@', (size_t)(end - at));
        const char *close =
            open ? memchr(open + 1, '@', (size_t)(end - open - 1)) : NULL;
        const char *value =
            close ? value_of(m, open + 1, (size_t)(close - open - 1)) : NULL;

        if (!close) {
            str_add(out, at, (size_t)(end - at));
            return;
        }
        str_add(out, at, (size_t)((value ? open : close) - at));
        if (value)
            str_puts(out, value);
        at = close + (value != NULL);
    }
}

static vpu_status put(const making *m, const char *name, const void *data,
                      size_t n)
{
    const char *path = file_join(m->a, m->dir, name);
    vpu_status st = file_mkdirs(file_dirname(m->a, path), m->err);

    m->out->n_files++;
    return st ? st : file_write(path, data, n, m->err);
}

static vpu_status put_filled(const making *m, const char *name, int template)
{
    str text = {.arena = m->a};

    fill(m, template, &text);
    return put(m, name, str_text(&text), text.n);
}

static vpu_status put_bytes(const making *m, const char *name, int template)
{
    return put(m, name, templates[template].at,
               (size_t)(templates[template].end - templates[template].at));
}

static vpu_status put_all(const making *m)
{
    const variant *v = m->v;
    const char *name = m->job->name;
    const char *flags = init_flags(m->out->include, m->a);
    const char *header = builtin_prelude_text();
    const struct {
        const char *name;
        int template;
    } filled[] = {{arena_printf(m->a, "%s.cl", name), v->kernel},
                  {"layer.xml", v->binding},
                  {"reference.py", v->reference},
                  {arena_printf(m->a, "%s.case", name), T_layer_case},
                  {"README.md", T_readme_md},
                  {".gitignore", T_gitignore},
                  {".clangd", T_clangd}};
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < sizeof filled / sizeof *filled && !st; i++)
        st = put_filled(m, filled[i].name, filled[i].template);
    if (!st)
        st = put_bytes(m, "golden/in0.npy", v->input);
    if (!st)
        st = put_bytes(m, "golden/out0.npy", v->output);
    if (!st)
        st = put(m, "compile_flags.txt", flags, strlen(flags));
    if (!st && !m->out->include)
        st = put(m, "include/" HEADER, header, strlen(header));
    return st;
}

/* --- the folder ----------------------------------------------------------- */

static vpu_status is_there(const char *name, vpu_error *err)
{
    return err_set(err, VPU_ERR_INVALID,
                   "%s is there already, and is no empty folder; choose "
                   "another name, or move it away",
                   name);
}

/* A folder that is not empty is not replaced by rename, whoever fills it
 * meanwhile. */
static vpu_status rename_folder(const char *from, const char *to,
                                vpu_error *err)
{
    if (!rename(from, to))
        return VPU_OK;
    if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)
        return is_there(to, err);
    return err_set(err, VPU_ERR_IO, "%s: %s", to, strerror(errno));
}

/* Before anything is written, for the message that says so; rename decides. */
static vpu_status check_place(const char *name, vpu_error *err)
{
    struct stat info;

    if (lstat(name, &info) || S_ISDIR(info.st_mode))
        return VPU_OK;
    return is_there(name, err);
}

vpu_status init_layer(const init_job *job, arena *a, init_result *out,
                      vpu_error *err)
{
    making m = {.job = job, .out = out, .a = a, .err = err};
    char *beside;
    vpu_status st = init_check_name(job->name, err);

    for (int i = 0; i < N_VARIANTS; i++)
        if (variants[i].dma == job->dma &&
            variants[i].two_stage == job->two_stage)
            m.v = &variants[i];
    *out = (init_result){
        .words = arena_printf(a, "--shape in0=%s --param %s=%s", m.v->shape,
                              m.v->parameter, m.v->value),
        .include = find_include(a)};
    if (!st)
        st = check_place(job->name, err);
    if (!st)
        st = temp_dir_beside(a, job->name, &beside, err);
    if (st)
        return st;
    /* The folder itself is made inside, with the rights the user's have. */
    m.dir = file_join(a, beside, job->name);
    st = put_all(&m);
    if (!st)
        st = rename_folder(m.dir, job->name, err);
    temp_dir_remove(beside);
    return st;
}
