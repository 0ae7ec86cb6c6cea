/* Mistakes planted into the samples, and whether the suite finds them.
 *
 * For one case of every sample, and every place a mistake can be planted at: if
 * the output of the changed sample is not what it was (which this test finds
 * out by itself, from two tensors), the case must come out different and name
 * the first element that is, with the work-group that wrote it; if the sample
 * cannot run any more, the case must fail. Of each kind of mistake that a
 * sample has places for, one place at least must matter. */
#include <check.h>
#include <glob.h>
#include <jansson.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "tests/kernels/program.h"

enum { MAX_PLACES = 12 };

/* Of the device's time, not the host's: a busy host is no mistake. The longest
 * of the unchanged cases takes 3.6 million; a kernel that a mistake keeps from
 * ending must not take minutes in a slow build. */
#define MAX_CYCLES "--max-cycles=40000000"

/* Of the first and the third some mistake must matter in every sample. */
typedef enum { ADDRESS, NUMBER, SHAPE, ORDER, N_CLASSES } class;

/* What is found becomes before + group 1 + middle + group 2 + after. */
typedef struct {
    const char *name;
    class class;
    const char *pattern, *middle, *after;
} mistake;

static const mistake mistakes[] = {
    {"wrong index", ADDRESS, "([a-z_]+\\[)([^]=[;#\"]+)\\]", "(", ") ^ 1]"},
    {"wrong offset", ADDRESS, "(\\+ *)([a-z_]+)([^a-zA-Z_(.[]|$)", "1 + ", ""},
    {"wrong stride", ADDRESS, "(\\* *)([a-zA-Z_]+)([^a-zA-Z_(.[]|$)", "(1 + ",
     ")"},
    {"changed constant", NUMBER, "([^a-zA-Z_0-9.])([0-9]+\\.[0-9]+)", "1.5f + ",
     ""},
    {"changed number", NUMBER, "([-+*=(,] *)([1-9])([^0-9a-zA-Z.\"])", "1 + ",
     ""},
    {"work size off by one", SHAPE, "(global=\"[^\"]*,)([^\",]+)\"", "",
     "-1\""},
    {"dropped barrier", ORDER, "()()barrier\\([A-Z_| ]*\\);", "", ";"},
};
enum { N_MISTAKES = sizeof mistakes / sizeof *mistakes };

static arena *mem;
static char *dir;
static glob_t cases;

static void setup(void)
{
    mem = arena_create(0);
    dir = program_temp_dir(mem);
}

static void teardown(void)
{
    program_remove_dir(dir);
    arena_destroy(mem);
}

/* The match number n (from 0) of the mistake's pattern in text, changed; NULL:
 * there are fewer. Lines that begin with '#' and comments stay. */
static char *plant(const mistake *m, const char *text, int n)
{
    const char *at = text;
    regmatch_t g[4];
    regex_t re;
    char *out = NULL;

    ck_assert(!regcomp(&re, m->pattern, REG_EXTENDED | REG_NEWLINE));
    while (!out && !regexec(&re, at, 4, g, at == text ? 0 : REG_NOTBOL)) {
        const char *begin = at + g[0].rm_so, *line = begin, *p;
        bool code;

        while (line > text && line[-1] != '\n')
            line--;
        for (p = line; *p == ' '; p++)
            ;
        code = *p != '#' && *p != '*' && strncmp(p, "/*", 2);
        if (code && !n--) {
            str s = {0};

            str_add(&s, text, (size_t)(begin - text));
            str_add(&s, at + g[1].rm_so, (size_t)(g[1].rm_eo - g[1].rm_so));
            str_puts(&s, m->middle);
            str_add(&s, at + g[2].rm_so, (size_t)(g[2].rm_eo - g[2].rm_so));
            str_puts(&s, m->after);
            if (g[3].rm_so >= 0)
                str_add(&s, at + g[3].rm_so, (size_t)(g[3].rm_eo - g[3].rm_so));
            str_puts(&s, at + g[0].rm_eo);
            out = arena_strdup(mem, str_text(&s));
            str_free(&s);
        }
        at += g[0].rm_eo > 0 ? g[0].rm_eo : 1;
    }
    regfree(&re);
    return out;
}

/* --- one sample ---------------------------------------------------------- */

typedef struct {
    char *folder; /* kernels/X */
    char *words;  /* of its case, without the two sides */
    char *copy;   /* of the folder */
    char *output; /* elements of the unchanged sample */
    size_t n_bytes;
    uint32_t element_bytes;
} sample;

static void write_text(const char *folder, const char *name, const char *text)
{
    vpu_error err;

    ck_assert_msg(
        !file_write(file_join(mem, folder, name), text, strlen(text), &err),
        "%s", err.msg);
}

static void copy_files(const char *from, const char *to)
{
    glob_t files;
    vpu_error err;

    ck_assert(!glob(arena_printf(mem, "%s/*", from), GLOB_MARK, NULL, &files));
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *name = strrchr(files.gl_pathv[i], '/') + 1;
        size_t n;
        char *data;

        if (!*name) /* a folder: gpu, which layer.xml does not need */
            continue;
        data = program_file(mem, from, name, &n);
        ck_assert(!file_write(file_join(mem, to, name), data, n, &err));
    }
    globfree(&files);
}

/* The words of the case after its binding, paths as seen from the copy. */
static char *case_words(const char *path)
{
    size_t n;
    char *text = program_file(mem, ".", path, &n), *save = NULL;
    str s = {0};

    for (char *line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save))
        if (*line != '#' && strncmp(line, "--b ", 4))
            str_printf(&s, " %s",
                       line + (strncmp(line, "layer.xml", 9) ? 0 : 9));
    text = arena_strdup(mem, str_text(&s));
    str_free(&s);
    return text;
}

static void add_words(program_args *p, const sample *s, bool tolerance)
{
    char *words = arena_strdup(mem, s->words), *save = NULL;

    for (char *w = strtok_r(words, " ", &save); w;
         w = strtok_r(NULL, " ", &save)) {
        if (!strcmp(w, "--tolerance") && !tolerance)
            strtok_r(NULL, " ", &save);
        else if (!strncmp(w, "weights=", 8))
            program_args_add(p, "weights=%s/%s", s->copy, w + 8);
        else
            program_args_add(p, "%s", w);
    }
}

/* Runs the sample as it is now; its output, NULL when it cannot. */
static char *run_copy(const sample *s, size_t *n_bytes, uint32_t *element_bytes)
{
    program_args p;
    char *file;
    size_t n, header;

    program_args_init(&p, mem, "run",
                      arena_printf(mem, "%s/layer.xml", s->copy), NULL);
    add_words(&p, s, false);
    program_args_add(&p, "--timing=none");
    program_args_add(&p, MAX_CYCLES);
    program_args_add(&p, "--threads=1"); /* some mistakes make groups race */
    program_args_add(&p, "--output");
    program_args_add(&p, "%s/out", dir);
    if (program_run(&p, dir))
        return NULL;
    file = program_file(mem, dir, "out/out0.npy", &n);
    header = 10 + (uint8_t)file[8] + 256 * (size_t)(uint8_t)file[9];
    *element_bytes =
        (uint32_t)(strchr(strchr(file + 10, '<') ? strchr(file + 10, '<')
                                                 : strchr(file + 10, '|'),
                          '\'')[-1] -
                   '0');
    *n_bytes = n - header;
    return file + header;
}

static int diff_copy(const sample *s, json_t **report)
{
    program_args p;
    size_t n;
    int rc;

    program_args_init(&p, mem, "diff",
                      arena_printf(mem, "%s/layer.xml", s->copy), "--b", NULL);
    program_args_add(&p, "host:build/plugins/%s.so", s->folder + 8);
    add_words(&p, s, true);
    program_args_add(&p, "--report");
    program_args_add(&p, "json");
    program_args_add(&p, MAX_CYCLES);
    program_args_add(&p, "--threads=1");
    rc = program_run(&p, dir);
    *report = json_loads(program_file(mem, dir, "stdout", &n), 0, NULL);
    return rc;
}

static json_t *output_of(json_t *report)
{
    json_t *b, *found = NULL;
    size_t i;

    json_array_foreach(json_object_get(report, "buffers"), i,
                       b) if (json_is_true(json_object_get(b, "output")))
        found = b;
    return found;
}

/* The verdict on the copy as it is now against what really changed. True: the
 * mistake matters. */
static bool check_copy(const sample *s, const char *what)
{
    size_t n_bytes, at = 0;
    uint32_t element_bytes;
    const char *now = run_copy(s, &n_bytes, &element_bytes);
    json_t *report, *out, *first;
    int rc;

    rc = diff_copy(s, &report);
    if (!now) {
        ck_assert_msg(rc >= 2, "%s: it does not run, diff says %d", what, rc);
        json_decref(report);
        return true;
    }
    ck_assert_uint_eq(n_bytes, s->n_bytes);
    while (at < n_bytes && now[at] == s->output[at])
        at++;
    if (at == n_bytes) {
        ck_assert_msg(rc == 0, "%s: same output, diff says %d", what, rc);
        json_decref(report);
        return false;
    }
    /* Within a tolerance of the case a change may be right. */
    if (rc == 0 && strstr(s->words, "--tolerance")) {
        json_decref(report);
        return false;
    }
    ck_assert_msg(rc == 1, "%s: another output, diff says %d", what, rc);
    out = output_of(report);
    first = json_object_get(out, "first");
    if (!strstr(s->words, "--tolerance"))
        ck_assert_msg((size_t)json_integer_value(json_object_get(
                          first, "offset")) == at / element_bytes,
                      "%s: first at %lld, not %zu", what,
                      json_integer_value(json_object_get(first, "offset")),
                      at / element_bytes);
    json_decref(report);
    return true;
}

typedef enum { NO_PLACE, NO_MATTER, MATTERS } effect;

static effect mutate(const sample *s, const mistake *m, const char *name)
{
    size_t n;
    const char *text = program_file(mem, s->folder, name, &n);
    effect e = NO_PLACE;

    for (int k = 0; k < MAX_PLACES && e != MATTERS; k++) {
        char *changed = plant(m, text, k);
        char *what = arena_printf(mem, "%s/%s: %s, place %d", s->folder, name,
                                  m->name, k);

        if (!changed)
            break;
        write_text(s->copy, name, changed);
        e = check_copy(s, what) ? MATTERS : NO_MATTER;
        if (e == MATTERS)
            printf("%-24s %-22s place %d\n", s->folder + 8, m->name, k);
    }
    write_text(s->copy, name, text);
    return e;
}

/* The next kernel file of the case's layer, from *at in the binding on; NULL =
 * none. Layers of one name may differ in their Where. */
static const char *next_kernel(const sample *s, const char **at)
{
    const char *layer = strstr(s->words, "--layer ");
    const char *lead = "<CustomLayer ", *file;

    if (layer)
        lead = arena_printf(mem, "<CustomLayer name=\"%.*s\"",
                            (int)strcspn(layer + 8, " "), layer + 8);
    *at = strstr(*at, lead);
    if (!*at)
        return NULL;
    file = strstr(*at, "filename=\"");
    ck_assert_ptr_nonnull(file);
    file += 10;
    *at = file;
    return arena_strndup(mem, file, strcspn(file, "\""));
}

START_TEST(mistakes_are_found)
{
    sample s = {.words = case_words(cases.gl_pathv[_i])};
    effect most[N_CLASSES] = {NO_PLACE};
    size_t n;

    s.folder = file_dirname(mem, cases.gl_pathv[_i]);
    s.copy = file_join(mem, dir, "copy");
    ck_assert(!file_mkdirs(s.copy, NULL));
    copy_files(s.folder, s.copy);
    s.output = run_copy(&s, &s.n_bytes, &s.element_bytes);
    ck_assert_msg(s.output, "%s", program_file(mem, dir, "stderr", &s.n_bytes));
    check_copy(&s, "unchanged");
    for (int k = 0; k < N_MISTAKES; k++) {
        const mistake *m = &mistakes[k];
        const char *at = program_file(mem, s.folder, "layer.xml", &n), *kernel;

        if (m->class == SHAPE)
            most[SHAPE] = mutate(&s, m, "layer.xml");
        else
            while ((kernel = next_kernel(&s, &at))) {
                effect e = mutate(&s, m, kernel);

                most[m->class] = e > most[m->class] ? e : most[m->class];
            }
    }
    ck_assert_msg(most[ADDRESS] == MATTERS, "%s: no wrong address matters",
                  s.folder);
    ck_assert_msg(most[SHAPE] == MATTERS, "%s: no wrong work size matters",
                  s.folder);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("mutations");
    Suite *suite = suite_create("planted mistakes");
    SRunner *runner = srunner_create(suite);
    const char *last = "";
    int failed;

    glob("kernels/*/*-host.case", 0, NULL, &cases);
    tcase_set_timeout(t, 300);
    tcase_add_checked_fixture(t, setup, teardown);
    /* The first case of each folder that is of layer.xml. */
    for (size_t i = 0; i < cases.gl_pathc; i++) {
        size_t n =
            (size_t)(strrchr(cases.gl_pathv[i], '/') - cases.gl_pathv[i]);

        if (strstr(cases.gl_pathv[i], "-gpu-"))
            continue;
        if (strncmp(last, cases.gl_pathv[i], n + 1))
            tcase_add_loop_test(t, mistakes_are_found, (int)i, (int)i + 1);
        last = cases.gl_pathv[i];
    }
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    globfree(&cases);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
