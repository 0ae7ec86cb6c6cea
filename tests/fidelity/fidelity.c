/* fidelity [OPTIONS] VPU: the published performance ratios beside ours.
 *
 *   --json FILE      the ratios as JSON
 *   --pin FILE       the ratios and the curve as tests/fidelity/pinned.txt has
 *                    them
 *   --doc FILE       replace the table between the marker comments of FILE
 *   --sensitivity    every parameter with a published range at both its ends
 *   --conflicts N    a search of N machines for each conflict
 *   --with WORDS     options added to every run, "--set ddr_load_stall=200"
 *   --small          small shapes: for tests of this program, not for reading
 *
 * Ends with 1 when a ratio is outside its window and no conflict explains it
 * (explore.h), or when a search finds that a conflict is none. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fidelity/explore.h"

/* --- output -------------------------------------------------------------- */

static bool is_inside(const outcomes *o, goal g)
{
    return is_within(&ratios[g.ratio], o->value[g.of][g.ratio]);
}

/* "yes", or what speaks against it, for both numbers of SHAVEs. */
static void print_verdict(FILE *f, const outcomes *o, ratio_id r)
{
    bool any = false;

    for (int n = 0; n < N_COUNTS; n++) {
        goal g = {r, (shave_count)n};
        const conflict *c = conflict_of(g);
        char id[16];

        if (isnan(o->value[n][r]) || is_inside(o, g))
            continue;
        fprintf(f, "%s%s: ", any ? "; " : "", n == OF_7 ? "7" : "16");
        any = true;
        if (!c)
            fprintf(f, "no");
        for (int i = 0; c && i < c->n_with; i++) {
            print_id(c->with[i], id);
            fprintf(f, "%s%s", i ? ", " : "against ", id);
        }
    }
    fprintf(f, "%s |\n", any ? "" : "yes");
}

static void print_table(FILE *f, const outcomes *o)
{
    fprintf(f, "| id | what | 16 SHAVEs | 7 SHAVEs | window | within |\n"
               "|---|---|---:|---:|---|---|\n");
    for (int i = 0; i < N_RATIOS; i++) {
        const ratio *r = &ratios[i];

        fprintf(f, "| %s | %s | %.3f |", r->id, r->what, o->value[OF_16][i]);
        if (isnan(o->value[OF_7][i]))
            fprintf(f, " |");
        else
            fprintf(f, " %.3f |", o->value[OF_7][i]);
        if (r->high > 0) {
            fprintf(f, " %.2f to %.2f | ", r->low, r->high);
            print_verdict(f, o, (ratio_id)i);
        } else {
            fprintf(f, " | |\n");
        }
    }
    fprintf(f, "\nGRN on DDR, 1x16x256x512, by number of SHAVEs:\n\n"
               "| SHAVEs | cycles | speed-up | |\n|---:|---:|---:|---|\n");
    for (int n = 1; n <= MAX_SHAVES; n++) {
        double s = o->curve[0] / o->curve[n - 1];

        fprintf(f, "| %d | %.0f | %.2f | `%.*s` |\n", n, o->curve[n - 1], s,
                (int)(2 * s + 0.5), "################################");
    }
}

/* Calls add for each ratio that has a value. */
static void for_each_value(const outcomes *o,
                           void (*add)(void *user, goal g, const outcomes *o),
                           void *user)
{
    for (int n = 0; n < N_COUNTS; n++)
        for (int r = 0; r < N_RATIOS; r++)
            if (!isnan(o->value[n][r]))
                add(user, (goal){(ratio_id)r, (shave_count)n}, o);
}

static void add_json(void *user, goal g, const outcomes *o)
{
    const ratio *r = &ratios[g.ratio];
    json_t *list = user, *entry;
    char id[16];

    print_id(g, id);
    entry = json_pack("{s:s,s:s,s:f}", "id", id, "what", r->what, "value",
                      o->value[g.of][g.ratio]);
    if (r->high > 0)
        json_object_update_new(
            entry, json_pack("{s:f,s:f,s:b,s:b}", "low", r->low, "high",
                             r->high, "within", is_inside(o, g), "conflict",
                             conflict_of(g) != NULL));
    json_array_append_new(list, entry);
}

static void write_json(const char *path, const outcomes *o)
{
    json_t *list = json_array(), *points = json_array();

    for_each_value(o, add_json, list);
    for (int n = 1; n <= MAX_SHAVES; n++)
        json_array_append_new(points,
                              json_pack("{s:i,s:f,s:f}", "shaves", n, "cycles",
                                        o->curve[n - 1], "speed_up",
                                        o->curve[0] / o->curve[n - 1]));
    json_array_append_new(list,
                          json_pack("{s:s,s:s,s:o}", "id", "points", "what",
                                    "GRN on DDR, 1x16x256x512, by SHAVEs",
                                    "points", points));
    if (json_dump_file(list, path, JSON_INDENT(2) | JSON_REAL_PRECISION(10)))
        fail("cannot write %s", path);
    json_decref(list);
}

static void add_pin(void *user, goal g, const outcomes *o)
{
    char id[16];

    print_id(g, id);
    fprintf(user, "%-10s %.9f\n", id, o->value[g.of][g.ratio]);
}

/* All of it with the digits that tell two results apart, a line each. */
static void write_pin(const char *path, const outcomes *o)
{
    FILE *f = fopen(path, "w");

    if (!f)
        fail("cannot write %s", path);
    for_each_value(o, add_pin, f);
    for (int n = 1; n <= MAX_SHAVES; n++)
        fprintf(f, "curve/%-4d %.0f\n", n, o->curve[n - 1]);
    if (ferror(f) | fclose(f))
        fail("cannot write %s", path);
}

static void count_unexplained(void *user, goal g, const outcomes *o)
{
    *(int *)user +=
        ratios[g.ratio].high > 0 && !is_inside(o, g) && !conflict_of(g);
}

/* --- documents ----------------------------------------------------------- */

static char *read_all(FILE *f, size_t *n)
{
    char *text = NULL;
    size_t cap = 0;

    *n = 0;
    do {
        cap = 2 * cap + 4096;
        text = realloc(text, cap);
        if (!text)
            fail("out of memory");
        *n += fread(text + *n, 1, cap - *n - 1, f);
    } while (*n == cap - 1);
    text[*n] = 0;
    return text;
}

/* Put text between <!-- name:begin --> and <!-- name:end --> of a file. */
static void replace(const char *path, const char *name, const char *text)
{
    char begin[64], end[64], *all, *from, *to;
    FILE *f = fopen(path, "r");
    size_t n;

    if (!f)
        fail("cannot read %s", path);
    all = read_all(f, &n);
    fclose(f);
    snprintf(begin, sizeof begin, "<!-- %s:begin -->\n", name);
    snprintf(end, sizeof end, "<!-- %s:end -->", name);
    from = strstr(all, begin);
    to = from ? strstr(from, end) : NULL;
    if (!to)
        fail("%s has no markers of %s", path, name);
    from += strlen(begin);
    f = fopen(path, "w");
    if (!f || fprintf(f, "%.*s%s%s", (int)(from - all), all, text, to) < 0 ||
        fclose(f))
        fail("cannot write %s", path);
    free(all);
}

typedef struct {
    const char *json, *doc, *pin;
    bool sensitivity;
    int conflicts; /* machines for each search; 0: none */
    bench b;
} options;

static options parse(int argc, char **argv)
{
    options o = {.b.more = ""};

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--small"))
            o.b.small = true;
        else if (!strcmp(argv[i], "--sensitivity"))
            o.sensitivity = true;
        else if (!strcmp(argv[i], "--conflicts") && i + 1 < argc)
            o.conflicts = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--with") && i + 1 < argc)
            o.b.more = argv[++i];
        else if (!strcmp(argv[i], "--json") && i + 1 < argc)
            o.json = argv[++i];
        else if (!strcmp(argv[i], "--pin") && i + 1 < argc)
            o.pin = argv[++i];
        else if (!strcmp(argv[i], "--doc") && i + 1 < argc)
            o.doc = argv[++i];
        else if (argv[i][0] != '-' && !o.b.vpu)
            o.b.vpu = argv[i];
        else
            fail("what is %s?", argv[i]);
    }
    if (!o.b.vpu)
        fail("usage: fidelity [--json FILE] [--doc FILE] [--pin FILE] "
             "[--sensitivity] [--conflicts N] [--with WORDS] [--small] VPU");
    return o;
}

/* The ratios; returns how many are outside without an explanation. */
static int run_ratios(FILE *f, const options *o)
{
    outcomes out;
    int unexplained = 0;

    measure_all(&o->b, &out);
    print_table(f, &out);
    if (o->json)
        write_json(o->json, &out);
    if (o->pin)
        write_pin(o->pin, &out);
    for_each_value(&out, count_unexplained, &unexplained);
    return o->b.small ? 0 : unexplained;
}

int main(int argc, char **argv)
{
    options o = parse(argc, argv);
    const char *marker = "fidelity";
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    int wrong = 0;

    if (!f)
        fail("out of memory");
    if (o.sensitivity) {
        marker = "sensitivity";
        print_sensitivity(f, &o.b);
    } else if (o.conflicts) {
        marker = "conflicts";
        wrong = print_conflicts(f, &o.b, o.conflicts);
    } else {
        wrong = run_ratios(f, &o);
    }
    fclose(f);
    fputs(text, stdout);
    if (o.doc)
        replace(o.doc, marker, text);
    free(text);
    if (wrong)
        fprintf(stderr, "fidelity: %d %s\n", wrong,
                o.conflicts ? "conflicts are none: a machine has all of their "
                              "ratios inside"
                            : "ratios are outside their windows, and no "
                              "conflict says why");
    return wrong > 0;
}
