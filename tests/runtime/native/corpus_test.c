/* Whole blobs of the vendor's compiler, run stage by stage and compared with
 * what its CPU plug-in computed: folders of a corpus (model.blob, in_N_*.npy,
 * out_N_*.npy, case.json). VPU_CORPUS names the folder of such folders; without
 * it there is nothing to test. With folders as arguments, these alone, and a
 * line for each. */
#include <check.h>
#include <glob.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "runtime/blob/stage.h"
#include "runtime/graph/npy.h"
#include "runtime/graph/tensor.h"
#include "runtime/native/native.h"

enum { MAX_FILE = 1 << 30, WORDS = 512 };

typedef struct {
    arena *a;
    const char *dir;
    blob b;
    json_t *facts;
    uint8_t *areas[BLOB_N_LOCATIONS];
    char why[WORDS]; /* empty: as it should be */
    char note[WORDS];
} run;

static void say(char *to, const char *fmt, ...) VPU_PRINTF(2, 3);
static void say(char *to, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(to, WORDS, fmt, ap);
    va_end(ap);
}

/* --- running ------------------------------------------------------------- */

static uint8_t *place(const run *r, const blob_buffer *f, uint32_t item)
{
    const blob_io *io = f->location == BLOB_INPUT    ? r->b.inputs
                        : f->location == BLOB_OUTPUT ? r->b.outputs
                                                     : NULL;
    uint8_t *at = r->areas[f->location] + f->offset;

    if (!io)
        return at;
    io += f->data.index;
    return at + io->offset + item * blob_desc_bytes(&io->desc);
}

static bool run_stage(run *r, uint32_t i, uint32_t item)
{
    arena *a = arena_create(0);
    vpu_error err = {0};
    native_op *op;
    vpu_status st = native_make(&r->b, &r->b.stages[i], a, &op, &err);

    if (!st) {
        uint32_t n = native_n_operands(op);
        void **data = arena_array(a, void *, n + 1);

        for (uint32_t k = 0; k < n; k++)
            data[k] = place(r, native_operand_at(op, k)->buffer, item);
        native_run(op, data, a, NULL);
    } else {
        say(r->why, "stage %u: %s", i, err.msg);
    }
    arena_destroy(a);
    return !st;
}

/* Files of inputs and outputs by their number. */
static bool read_tensor(run *r, const char *kind, uint32_t i, tensor *t)
{
    char pattern[WORDS];
    vpu_error err = {0};
    glob_t g;
    bool found;

    snprintf(pattern, sizeof pattern, "%s/%s_%u_*.npy", r->dir, kind, i);
    found = glob(pattern, 0, NULL, &g) == 0;
    if (!found)
        say(r->why, "no %s", pattern);
    else if (npy_read(g.gl_pathv[0], r->a, t, &err))
        say(r->why, "%s", err.msg);
    globfree(&g);
    return !*r->why;
}

static void fill_inputs(run *r)
{
    for (uint32_t i = 0; i < r->b.n_inputs && !*r->why; i++) {
        const blob_io *io = &r->b.inputs[i];
        tensor t;

        if (!read_tensor(r, "in", i, &t))
            return;
        if (tensor_bytes(&t.desc) != blob_desc_bytes(&io->desc) * r->b.batch)
            say(r->why, "input %u has %llu bytes", i,
                (unsigned long long)tensor_bytes(&t.desc));
        else
            memcpy(r->areas[BLOB_INPUT] + io->offset, t.data,
                   tensor_bytes(&t.desc));
    }
}

static void make_areas(run *r)
{
    const uint64_t sizes[BLOB_N_LOCATIONS] = {
        [BLOB_INPUT] = r->b.inputs_size,
        [BLOB_OUTPUT] = r->b.outputs_size,
        [BLOB_CONST] = r->b.n_constants,
        [BLOB_BSS] = r->b.bss_size,
        [BLOB_CMX] = (uint64_t)r->b.n_slices * BLOB_SLICE};

    for (uint32_t i = 1; i < BLOB_N_LOCATIONS; i++) {
        r->areas[i] = arena_push(r->a, sizes[i] + 64, 1, 64);
        /* Not a number, of halves and floats: what is not written is seen. */
        memset(r->areas[i], i == BLOB_OUTPUT ? 0 : 0xff, sizes[i]);
    }
    memcpy(r->areas[BLOB_CONST], r->b.constants, r->b.n_constants);
}

/* --- comparing ----------------------------------------------------------- */

static double value_at(uint32_t type, const uint8_t *p)
{
    uint16_t h;
    int32_t i;
    float f;

    memcpy(&h, p, 2);
    if (type == BLOB_F16)
        return (double)tensor_f16_to_f32(h);
    memcpy(&i, p, 4);
    memcpy(&f, p, 4);
    return type == BLOB_S32 ? i : type == BLOB_F32 ? (double)f : *p;
}

typedef struct {
    double worst, most; /* difference, largest expected */
    double dot, got, want;
    double beyond; /* the largest part of the tolerance that was used */
    uint64_t at;
} sums;

static void add_value(sums *s, const char *kind, double limit, double got,
                      double want, uint64_t i)
{
    double d = fabs(got - want), allowed = limit;

    if (isnan(got) != isnan(want) || isinf(got) != isinf(want))
        d = INFINITY;
    else if (got == want || isnan(got))
        d = 0;
    if (!strcmp(kind, "hw"))
        allowed *= s->most;
    else if (!strcmp(kind, "rel"))
        allowed *= fabs(want) + s->most / 1000;
    /* Of two stages, one behind the other, halves are no nearer than that. */
    allowed += fabs(want) * ldexp(1, -10) + 1e-12;
    if (d > s->worst || d != d) {
        s->worst = d;
        s->at = i;
    }
    s->beyond = d / allowed > s->beyond ? d / allowed : s->beyond;
    if (isinf(want))
        return;
    s->dot += got * want;
    s->got += got * got;
    s->want += want * want;
}

/* Rows whose scores are alike may stand in another order: each that is expected
 * is somewhere. */
static bool has_row(const double *row, uint64_t n, const double *all,
                    uint64_t rows, double limit)
{
    for (uint64_t k = 0; k < rows; k++) {
        uint64_t i = 0;

        while (i < n && fabs(all[k * n + i] - row[i]) <=
                            limit + fabs(row[i]) * ldexp(1, -9))
            i++;
        if (i == n)
            return true;
    }
    return false;
}

static bool has_rows(const tensor *want, const double *got, double limit)
{
    uint64_t n = want->desc.dims[want->desc.rank - 1];
    uint64_t rows = tensor_elements(&want->desc) / n;
    bool all = true;

    for (uint64_t k = 0; k < rows && all; k++) {
        double row[16];

        for (uint64_t i = 0; i < n && i < 16; i++)
            row[i] = (double)((float *)want->data)[k * n + i];
        all = has_row(row, n < 16 ? n : 16, got, rows, limit);
    }
    return all;
}

/* What is known to be another's fault, by the names of cases. */
static bool is_known(const char *name)
{
    static const char *const names[] = {
        "conv1x16",                /* the compiler adds biases to both halves */
        "deconv3-s2-p1-g4",        /* and mixes the weights of groups up */
        "deconv3-s2-p1-g4-sw",     /* likewise */
        "interp1-linear-plain",    /* writes what half_pixel has */
        "interp1-nearest-corners", /* likewise */
        "loop",                    /* loops are not of stages alone */
        "lstm-loop",
        "lstm-loop-back",
        "lstm-loop-pure"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

static void compare(run *r, uint32_t o)
{
    const blob_io *io = &r->b.outputs[o];
    const json_t *tolerance = json_object_get(r->facts, "tolerance");
    const char *kind = json_string_value(json_object_get(tolerance, "kind"));
    double limit = json_number_value(json_object_get(tolerance, "value"));
    double cosine;
    uint32_t bytes = blob_type_bytes(io->desc.type);
    const uint8_t *got = r->areas[BLOB_OUTPUT] + io->offset;
    char old[WORDS];
    sums s = {0};
    tensor t;
    uint64_t n;

    if (strstr(io->name, "@shape") || !read_tensor(r, "out", o, &t))
        return;
    n = tensor_elements(&t.desc);
    if (n * bytes != blob_desc_bytes(&io->desc) * r->b.batch) {
        say(r->why, "output %u has %llu elements", o, (unsigned long long)n);
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        double v = fabs((double)((float *)t.data)[i]);

        if (isfinite(v) && v > s.most)
            s.most = v;
    }
    for (uint64_t i = 0; i < n; i++)
        add_value(&s, kind, limit, value_at(io->desc.type, got + i * bytes),
                  (double)((float *)t.data)[i], i);
    if (!strcmp(kind, "boxes")) {
        double *all = arena_array(r->a, double, n);

        for (uint64_t i = 0; i < n; i++)
            all[i] = value_at(io->desc.type, got + i * bytes);
        s.beyond = has_rows(&t, all, limit) ? 0 : INFINITY;
    }
    cosine = s.dot / sqrt(s.got * s.want);
    memcpy(old, r->note, WORDS);
    say(r->note,
        "%.200s  %s: worst %.4g of %.4g at %llu, %.3f of %s %g, cos %.6f", old,
        io->name, s.worst, s.most, (unsigned long long)s.at, s.beyond, kind,
        limit, cosine);
    if (!strcmp(kind, "net") ? !(cosine >= limit) && o == 0 : !(s.beyond <= 1))
        say(r->why, "output %u is beyond the tolerance", o);
}

static void run_blob(run *r)
{
    make_areas(r);
    fill_inputs(r);
    for (uint32_t item = 0; item < r->b.batch && !*r->why; item++)
        for (uint32_t i = 0; i < r->b.n_stages && !*r->why; i++)
            run_stage(r, i, item);
    for (uint32_t o = 0; o < r->b.n_outputs && !*r->why; o++)
        if (!json_object_get(r->facts, "no_oracle"))
            compare(r, o);
}

/* False: there is no blob. */
static bool run_folder(const char *dir, char why[WORDS], char note[WORDS])
{
    run r = {.a = arena_create(0), .dir = dir};
    vpu_error err = {0};
    char *data;
    size_t n;
    bool is_there = !file_read(file_join(r.a, dir, "model.blob"), MAX_FILE, r.a,
                               &data, &n, &err);

    if (is_there && blob_parse(data, n, dir, r.a, &r.b, &err)) {
        say(r.why, "%s", err.msg);
    } else if (is_there) {
        r.facts = json_load_file(file_join(r.a, dir, "case.json"), 0, NULL);
        run_blob(&r);
        json_decref(r.facts);
    }
    memcpy(why, r.why, WORDS);
    memcpy(note, r.note, WORDS);
    arena_destroy(r.a);
    return is_there;
}

static int run_all(char *const *dirs, size_t n, bool quiet)
{
    char why[WORDS], note[WORDS];
    int bad = 0;

    for (size_t i = 0; i < n; i++) {
        const char *name = strrchr(dirs[i], '/');

        name = name ? name + 1 : dirs[i];
        if ((quiet && is_known(name)) || !run_folder(dirs[i], why, note))
            continue;
        bad += *why != 0;
        if (*why || !quiet)
            printf("%s %s: %s%s\n", *why ? "BAD" : "ok ", name, why, note);
        fflush(stdout);
    }
    return bad;
}

START_TEST(vendors_blobs)
{
    char pattern[WORDS];
    glob_t g;
    int bad;

    snprintf(pattern, sizeof pattern, "%s/*", getenv("VPU_CORPUS"));
    ck_assert_int_eq(glob(pattern, 0, NULL, &g), 0);
    bad = run_all(g.gl_pathv, g.gl_pathc, true);
    globfree(&g);
    ck_assert_int_eq(bad, 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s;
    TCase *t;
    SRunner *r;
    int bad;

    if (argc > 1)
        return run_all(argv + 1, (size_t)argc - 1, false) != 0;
    s = suite_create("corpus");
    t = tcase_create("corpus");
    tcase_set_timeout(t, 3600);
    if (getenv("VPU_CORPUS"))
        tcase_add_test(t, vendors_blobs);
    else
        puts("skipped 1: VPU_CORPUS names no folder of compiled blobs");
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    bad = srunner_ntests_failed(r);
    srunner_free(r);
    return bad != 0;
}
