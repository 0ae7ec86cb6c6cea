/* The table of ratios is complete and its JSON is what readers expect; with the
 * shapes of the table the values are those of pinned.txt, to the last digit,
 * and of docs/timing.md. */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const with_window[] = {
    "R1",   "R2",   "R3",   "R3/6", "R4",   "R5",   "R6",
    "R7",   "R8",   "R9",   "R2/7", "R3/7", "R4/7", "R3/6/7",
    "R5/7", "R6/7", "R7/7", "R8/7", "R9/7", "curve"};

static const char *env(const char *name, const char *otherwise)
{
    const char *v = getenv(name);

    return v && *v ? v : otherwise;
}

static json_t *find(json_t *list, const char *id)
{
    json_t *o;
    size_t i;

    json_array_foreach(list, i, o)
    {
        const char *this = json_string_value(json_object_get(o, "id"));

        if (this && !strcmp(this, id))
            return o;
    }
    ck_abort_msg("no %s", id);
    return NULL;
}

static double number(json_t *o, const char *key)
{
    json_t *v = json_object_get(o, key);

    ck_assert_msg(json_is_number(v), "no number %s", key);
    return json_number_value(v);
}

static void check_curve(json_t *list)
{
    json_t *points = json_object_get(find(list, "points"), "points"), *o;
    size_t i;

    ck_assert_uint_eq(json_array_size(points), 16);
    json_array_foreach(points, i, o)
    {
        ck_assert(number(o, "shaves") == (double)(i + 1));
        ck_assert(number(o, "cycles") > 0);
    }
}

static char *contents(const char *path)
{
    char *text = calloc(1, 1 << 17);
    FILE *f = fopen(path, "r");

    ck_assert_msg(f != NULL, "cannot open %s", path);
    ck_assert(text && fread(text, 1, (1 << 17) - 1, f) > 0);
    fclose(f);
    return text;
}

/* Each ratio that may be outside has a row in the page's table of searches. */
static void check_conflicts(json_t *list)
{
    char *page = contents("docs/timing.md"), row[32];
    const char *at = strstr(page, "<!-- conflicts:begin -->");
    const char *end = strstr(page, "<!-- conflicts:end -->");
    size_t i, rows = 0, conflicts = 0;
    json_t *o;

    ck_assert(at && end && at < end);
    for (const char *line = at; line < end; line = strchr(line, '\n') + 1)
        rows += *line == '|';
    json_array_foreach(list, i, o)
    {
        const char *found;

        if (!json_is_true(json_object_get(o, "conflict")))
            continue;
        conflicts++;
        snprintf(row, sizeof row, "\n| %s |",
                 json_string_value(json_object_get(o, "id")));
        found = strstr(at, row);
        ck_assert_msg(found && found < end, "no row%s", row);
    }
    ck_assert_uint_eq(rows, conflicts + 2); /* and the head's */
    free(page);
}

START_TEST(table)
{
    char path[] = "/tmp/vpu-fidelity-XXXXXX", command[1024];
    int fd = mkstemp(path);
    json_error_t e;
    json_t *list;

    ck_assert_int_ge(fd, 0);
    close(fd);
    snprintf(command, sizeof command,
             "'%s/tests/fidelity/fidelity' --small --json %s '%s' >/dev/null",
             env("VPU_BUILD", "build/release"), path, env("VPU", "build/vpu"));
    ck_assert_int_eq(system(command), 0);
    list = json_load_file(path, 0, &e);
    unlink(path);
    ck_assert_msg(json_is_array(list), "%s", e.text);
    for (size_t i = 0; i < sizeof with_window / sizeof *with_window; i++) {
        json_t *o = find(list, with_window[i]);
        double v = number(o, "value");

        ck_assert(isfinite(v) && v > 0);
        ck_assert(number(o, "low") < number(o, "high"));
        ck_assert(json_is_boolean(json_object_get(o, "within")));
        ck_assert(json_is_boolean(json_object_get(o, "conflict")));
    }
    ck_assert(number(find(list, "R10"), "value") > 0);
    ck_assert_ptr_null(json_object_get(find(list, "R10"), "within"));
    check_curve(list);
    check_conflicts(list);
    json_decref(list);
}
END_TEST

/* Takes the file at path away. */
static void same_lines(const char *path, const char *wanted)
{
    char *got = contents(path), *want = contents(wanted);
    char *line, *other, *save[2];

    unlink(path);
    line = strtok_r(got, "\n", &save[0]);
    other = strtok_r(want, "\n", &save[1]);
    while (line && other) {
        ck_assert_msg(!strcmp(line, other), "%s: is \"%s\", was \"%s\"", wanted,
                      line, other);
        line = strtok_r(NULL, "\n", &save[0]);
        other = strtok_r(NULL, "\n", &save[1]);
    }
    ck_assert_msg(!line && !other, "%s has other rows", wanted);
    free(got);
    free(want);
}

/* Cycles do not depend on machine, threads or run, so a change of the model
 * shows here; `make fidelity-pin` takes it over, and the commit says why. */
START_TEST(pinned)
{
    static const char page[] = "docs/timing.md";
    char pins[] = "/tmp/vpu-fidelity-XXXXXX", doc[] = "/tmp/vpu-timing-XXXXXX";
    char command[1024];
    int fds[] = {mkstemp(pins), mkstemp(doc)};

    for (int i = 0; i < 2; i++) {
        ck_assert_int_ge(fds[i], 0);
        close(fds[i]);
    }
    snprintf(command, sizeof command,
             "cp %s %s && '%s/tests/fidelity/fidelity' --pin %s --doc %s '%s' "
             ">/dev/null",
             page, doc, env("VPU_BUILD", "build/release"), pins, doc,
             env("VPU", "build/vpu"));
    ck_assert_int_eq(system(command), 0);
    same_lines(pins, "tests/fidelity/pinned.txt");
    same_lines(doc, page);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fidelity");
    TCase *c = tcase_create("fidelity");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_test(c, table);
    tcase_add_test(c, pinned);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
