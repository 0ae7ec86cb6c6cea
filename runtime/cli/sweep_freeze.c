/* The files that a manifest's words name: found by parsing them as vpu run
 * does, so that no list of options stands here a second time. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "runtime/cli/run_options.h"
#include "runtime/cli/sweep.h"
#include "runtime/config/layer.h"

typedef struct {
    sweep_manifest m;
    sweep_frozen frozen;
    sweep_files files;
    arena *a;
    const char *path; /* of the manifest */
    size_t layer;     /* with that run line */
    size_t d, c;      /* the choice that is looked at */
} freezer;

/* --- one command line ----------------------------------------------------- */

/* All dimensions at their first value, but for the layer and one other. */
static sweep_words words_with(freezer *z, size_t layer, size_t d, size_t c)
{
    const sweep_manifest *m = &z->m;
    sweep_value *values = arena_array(z->a, sweep_value, m->n_dims);

    for (size_t i = 0; i < m->n_dims; i++)
        values[i] = (sweep_value){0, m->dims[i].low};
    values[0].choice = layer;
    values[d].choice = c;
    return sweep_point_words(m, values, z->a);
}

static bool is_file(const char *path)
{
    struct stat sb;

    return path && !stat(path, &sb) && S_ISREG(sb.st_mode);
}

static bool is_folder(const char *path)
{
    struct stat sb;

    return path && !stat(path, &sb) && S_ISDIR(sb.st_mode);
}

/* Where a path stands in a word, or at its end behind = and -I; NULL: it is
 * none of this word's. */
static const char *place_in(const char *word, const char *path)
{
    size_t n = strlen(word), k = strlen(path);

    return k && n >= k && !strcmp(word + n - k, path) &&
                   (n == k || word[n - k - 1] == '=' ||
                    (n - k == 2 && !strncmp(word, "-I", 2)) ||
                    word[n - k - 1] == ':')
               ? word + n - k
               : NULL;
}

/* Whether a word of the choice that is looked at ends with the path. */
static bool is_of_choice(const freezer *z, const char *path)
{
    const sweep_words *w = &z->m.dims[z->d].choices[z->c].words;

    for (size_t i = 0; path && i < w->n; i++)
        if (place_in(w->items[i], path))
            return true;
    return false;
}

/* The line of the choice whose words have the option: that which is looked at,
 * or another one that stands in the same command. */
static uint32_t line_of(const freezer *z, const char *option)
{
    const sweep_manifest *m = &z->m;
    size_t n = strlen(option);

    for (size_t d = 0; d < m->n_dims; d++) {
        size_t c = d == z->d ? z->c : d ? 0 : z->layer;
        const sweep_words *w = &m->dims[d].choices[c].words;

        for (size_t i = 0; m->dims[d].n && i < w->n; i++)
            if (!strncmp(w->items[i], option, n))
                return m->dims[d].choices[c].line;
    }
    return m->dims[z->d].choices[z->c].line;
}

static vpu_status refuse(const freezer *z, const char *what, const char *why,
                         vpu_error *err)
{
    return err_at(err, VPU_ERR_INVALID, z->path, line_of(z, what), 0, "%s %s",
                  what, why);
}

/* vpu run has said why. With the first values of all dimensions any line may be
 * the wrong one. */
static vpu_status refuse_words(const freezer *z, const sweep_words *w,
                               vpu_error *err)
{
    str text = {.arena = z->a};

    for (size_t i = 0; i < w->n; i++)
        str_printf(&text, " %s", w->items[i]);
    return err_at(err, VPU_ERR_INVALID, z->path,
                  z->d ? z->m.dims[z->d].choices[z->c].line : 0, 0,
                  "`vpu run` does not take:%s", str_text(&text));
}

/* --- what it names -------------------------------------------------------- */

/* A file of this choice, if the path is one. */
static vpu_status add_file(freezer *z, const char *path, vpu_error *err)
{
    if (!is_of_choice(z, path) || !is_file(path))
        return VPU_OK;
    return sweep_files_add(&z->files, path, &z->frozen.sets[z->d][z->c], err);
}

/* "NAME=FILE" of --input and --blob. */
static vpu_status add_values(freezer *z, const options_list *list,
                             vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < list->n && !st; i++) {
        const char *eq = strchr(list->items[i], '=');

        if (eq)
            st = add_file(z, eq + 1, err);
    }
    return st;
}

static vpu_status add_includes(freezer *z, const options_list *clang,
                               vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < clang->n && !st; i++) {
        const char *dir = clang->items[i] + 2;

        if (!strncmp(clang->items[i], "-I", 2) && is_of_choice(z, dir) &&
            is_folder(dir))
            st = sweep_files_add(&z->files, dir, &z->frozen.sets[z->d][z->c],
                                 err);
    }
    return st;
}

/* The source, and the .cl of a .bin: in the folder of --source-dir, and beside
 * it. */
static vpu_status add_source(freezer *z, const char *source, const char *dir,
                             vpu_error *err)
{
    const char *slash = strrchr(source, '/'), *dot = strrchr(source, '.');
    const char *name = slash ? slash + 1 : source;
    size_t stem = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    const char *cl = arena_printf(z->a, "%.*s.cl", (int)stem, name);
    const char *places[4] = {source,
                             file_join(z->a, file_dirname(z->a, source), cl)};
    vpu_status st = VPU_OK;

    if (dir) {
        places[2] = file_join(z->a, dir, name);
        places[3] = file_join(z->a, dir, cl);
    }
    for (int i = 0; i < 4 && !st; i++)
        if (is_file(places[i]))
            st = sweep_files_add_source(&z->files, places[i],
                                        &z->frozen.sets[z->d][z->c], err);
    return st;
}

static vpu_status add_kernel(freezer *z, const config_layer *l,
                             const config_kernel *k, const char *source_dir,
                             vpu_error *err)
{
    const char *dir = file_dirname(z->a, l->path);
    size_t n = strlen(dir);
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < k->n_sources && !st; i++) {
        if (*k->sources[i] == '/' && strncmp(k->sources[i], dir, n))
            return err_at(err, VPU_ERR_INVALID, l->path, k->line, 0,
                          "the source %s has an absolute name: a sweep's "
                          "folder holds copies, which it would not mean; "
                          "expected a name from the binding file on",
                          k->sources[i]);
        st = add_source(z, k->sources[i], source_dir, err);
    }
    return st;
}

static bool is_xml(const char *path)
{
    char front[64];
    size_t n = file_peek(path, front, sizeof front), i = 0;

    if (n > 3 && !memcmp(front, "\xef\xbb\xbf", 3))
        i = 3;
    while (i < n && strchr(" \t\r\n", front[i]))
        i++;
    return i < n && front[i] == '<';
}

/* The kernels of a binding file: all of the layer's name, or of the file. */
static vpu_status add_kernels(freezer *z, const char *binding,
                              const target_options *t, vpu_error *err)
{
    config_file file;
    vpu_status st =
        config_file_read(binding, z->a, NULL, CONFIG_EVERY_RELEASE, &file, err);

    for (size_t i = 0; i < (st ? 0 : file.n_layers) && !st; i++) {
        const config_layer *l = &file.layers[i];

        if (t->layer && !config_layer_is_for(l, t->layer))
            continue;
        for (size_t k = 0; k < l->n_kernels && !st; k++)
            st = add_kernel(z, l, &l->kernels[k], t->source_dir, err);
    }
    return st;
}

static vpu_status add_binding(freezer *z, const char *binding,
                              const target_options *t, vpu_error *err)
{
    bool own = is_of_choice(z, binding);
    vpu_status st = VPU_OK;

    if (own && !is_file(binding))
        return refuse(z, binding, "is not there", err);
    st = add_file(z, binding, err);
    if (st || !is_xml(binding) || !(own || is_of_choice(z, t->source_dir)))
        return st;
    return add_kernels(z, binding, t, err);
}

/* A model's weights have its name. */
static vpu_status add_model(freezer *z, const char *model, vpu_error *err)
{
    size_t n = model ? strlen(model) : 0;
    vpu_status st = add_file(z, model, err);

    if (!st && n > 4 && is_of_choice(z, model)) {
        const char *bin = arena_printf(z->a, "%.*s.bin", (int)n - 4, model);

        if (is_file(bin))
            st = sweep_files_add(&z->files, bin, &z->frozen.sets[z->d][z->c],
                                 err);
    }
    return st;
}

static vpu_status add_named(freezer *z, const run_options *o, vpu_error *err)
{
    const target_options *t = &o->target;
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < t->n_bindings && !st; i++)
        st = add_binding(z, t->bindings[i], t, err);
    if (!st && t->custom)
        st = add_binding(z, t->custom, t, err);
    if (!st)
        st = add_model(z, t->model, err);
    if (!st && is_of_choice(z, t->source_dir) && is_folder(t->source_dir))
        st = sweep_files_add(&z->files, t->source_dir,
                             &z->frozen.sets[z->d][z->c], err);
    if (!st)
        st = add_file(z, t->machine, err);
    if (!st)
        st = add_file(z, o->tuned, err);
    if (!st)
        st = add_values(z, &t->inputs, err);
    if (!st)
        st = add_values(z, &t->blobs, err);
    return st ? st : add_includes(z, &t->clang, err);
}

/* --- what sweeps have no use for ------------------------------------------ */

static vpu_status check_options(const freezer *z, const run_options *o,
                                vpu_error *err)
{
    const struct {
        bool given;
        const char *name;
    } of_one_run[] = {
        {o->output, "--output"},    {o->json, "--json"},
        {o->trace, "--trace"},      {o->trace_json, "--trace-json"},
        {o->vcd, "--vcd"},          {o->folded, "--folded"},
        {o->kanata, "--kanata"},    {o->profile, "--profile"},
        {o->view, "--view"},        {o->check, "--check"},
        {o->gdb, "--gdb"},          {o->executors, "--executors"},
        {o->repeat > 1, "--repeat"}};

    for (size_t i = 0; i < sizeof of_one_run / sizeof *of_one_run; i++)
        if (of_one_run[i].given)
            return refuse(z, of_one_run[i].name,
                          "is for a single run: a point keeps its figures "
                          "alone; `vpu sweep list` has the command of each "
                          "point, to which it can be added",
                          err);
    if (o->target.openvino)
        return refuse(z, "--openvino",
                      "names an installed package, which cannot be copied; "
                      "`vpu blob` and graph files hold networks",
                      err);
    if (!(backend_extras(o->ops) & BACKEND_MACHINE))
        return refuse(z, "--backend",
                      "is not the simulator: other backends have no cycles, "
                      "and times that are never the same twice",
                      err);
    return VPU_OK;
}

/* --- all choices ---------------------------------------------------------- */

static vpu_status look_at(freezer *z, size_t layer, size_t d, size_t c,
                          vpu_error *err)
{
    sweep_words w = words_with(z, layer, d, c);
    char **argv = arena_array(z->a, char *, w.n + 2);
    options_list expects;
    run_options o;
    int n = cli_sweep_arguments(&w, &expects, argv, z->a);
    vpu_status st;

    z->layer = layer;
    z->d = d;
    z->c = c;
    if (run_options_parse(n, argv, &o, z->a)) /* says why */
        return refuse_words(z, &w, err);
    st = check_options(z, &o, err);
    if (!st)
        st = add_values(z, &expects, err);
    return st ? st : add_named(z, &o, err);
}

static vpu_status look_at_all(freezer *z, vpu_error *err)
{
    const sweep_manifest *m = &z->m;
    vpu_status st = VPU_OK;

    z->frozen.sets = arena_array(z->a, sweep_file_set *, m->n_dims);
    for (size_t d = 0; d < m->n_dims; d++)
        z->frozen.sets[d] = arena_array(z->a, sweep_file_set, m->dims[d].n + 1);
    for (size_t l = 0; l < m->dims[0].n && !st; l++) {
        st = look_at(z, l, 0, l, err);
        for (size_t d = 1; d < m->n_dims && !st; d++)
            for (size_t c = 0; c < m->dims[d].n && !st; c++)
                st = look_at(z, l, d, c, err);
    }
    sweep_files_place(&z->files);
    return st;
}

/* The word with the frozen name of the file that it ends with. */
static char *rewritten(freezer *z, char *word)
{
    const char *at = word;

    if (!strncmp(word, "-I", 2) && word[2] && is_folder(word + 2))
        at = word + 2;
    else if (!is_file(word) && !is_folder(word))
        at = strrchr(word, '=') ? strrchr(word, '=') + 1 : NULL;
    if (at && *at && (is_file(at) || is_folder(at))) {
        const sweep_file *f = sweep_files_find(&z->files, at);

        if (f)
            return arena_printf(z->a, "%.*s%s", (int)(at - word), word,
                                f->frozen);
    }
    return word;
}

static void rewrite_words(freezer *z)
{
    for (size_t d = 0; d < z->m.n_dims; d++)
        for (size_t c = 0; c < z->m.dims[d].n; c++) {
            sweep_words *w = &z->m.dims[d].choices[c].words;

            for (size_t i = 0; i < w->n; i++)
                w->items[i] = rewritten(z, w->items[i]);
        }
}

/* Paths of a manifest are meant from its folder. */
static vpu_status find_files(freezer *z, vpu_error *err)
{
    vpu_status st = sweep_manifest_read(z->path, z->a, &z->m, err);

    z->files.arena = z->a;
    z->frozen.files = &z->files;
    z->frozen.program = "/proc/self/exe";
    return st ? st : look_at_all(z, err);
}

static vpu_status read_text(const char *path, arena *a, file_bytes *out,
                            vpu_error *err)
{
    char *text;
    size_t n;
    vpu_status st = file_read(path, SWEEP_MAX_BYTES, a, &text, &n, err);

    *out = (file_bytes){text, n, path};
    return st;
}

vpu_status cli_sweep_freeze(const char *manifest, const char *dir, arena *a,
                            vpu_error *err)
{
    freezer z = {.a = a, .path = manifest};
    file_bytes text;
    vpu_status st = read_text(manifest, a, &text, err);

    if (!st)
        st = find_files(&z, err);
    if (st)
        return st;
    rewrite_words(&z);
    return sweep_store_plan(dir, &z.m, &text, &z.frozen, a, err);
}

vpu_status cli_sweep_unchanged(const char *manifest, const char *dir, arena *a,
                               vpu_error *err)
{
    freezer z = {.a = a, .path = manifest};
    file_bytes now, then;
    vpu_status st = read_text(manifest, a, &now, err);

    if (!st)
        st = read_text(file_join(a, dir, "sweep.manifest"), a, &then, err);
    if (!st && (now.n != then.n || memcmp(now.data, then.data, now.n)))
        return err_set(err, VPU_ERR_MISMATCH,
                       "%s is not the manifest that %s was planned from: "
                       "another --dir for what it says now, or `vpu sweep run "
                       "%s` for what was planned",
                       manifest, dir, dir);
    if (!st)
        st = find_files(&z, err);
    return st ? st : sweep_files_compare(&z.files, dir, err);
}
