/* Recordings: written, read, replayed; changed, cut and foreign ones. */
#include "runtime/diff/record.h"

#include <check.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/file.h"
#include "runtime/backend/identity.h"
#include "runtime/backend/ops.h"
#include "runtime/record/format.h"
#include "tests/kernels/program.h"
#include "tests/runtime/backend/bound.h"

static arena *a;
static char *dir, *path;
static vpu_error err;
static bound b;
static backend_config cfg;

static const bound_request mvn = {.folder = "mvn",
                                  .layer = "MVN",
                                  .shapes = {"in0=1x3x4x5"},
                                  .params = {"eps=0.5"}};

static void setup(void)
{
    a = arena_create(0);
    dir = program_temp_dir(a);
    path = arena_strdup(a, file_join(a, dir, "x.vpurec"));
    memset(&err, 0, sizeof err);
    bound_layer(a, &mvn, &b);
    bound_simulate(&b);
    cfg = (backend_config){
        .device = path, .params = b.params, .n_params = b.n_params};
}

static void teardown(void)
{
    program_remove_dir(dir);
    arena_destroy(a);
}

static void record(const char *to, bool stages)
{
    recording r;

    ck_assert_msg(
        !diff_record(
            &(const diff_record_job){
                .backend = &(backend){&canned_ops, canned_new(&b, true)},
                .config = &cfg,
                .graph = b.graph,
                .inputs = b.data,
                .stages = stages},
            a, &r, &err),
        "%s", err.msg);
    ck_assert_msg(!recording_write(to, &r, &err), "%s", err.msg);
}

static char *bytes_of(const char *file, size_t *n)
{
    char *data;

    ck_assert(!file_read(file, 1 << 24, a, &data, n, &err));
    return data;
}

static vpu_status replay_inputs(void *self)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < b.graph->n_buffers && !st; i++)
        if (b.graph->buffers[i].role == GRAPH_INPUT)
            st = backend_replay_ops.write(self, i, b.data[i], &err);
    return st;
}

START_TEST(replay_gives_back)
{
    uint32_t n = b.graph->n_launches, scratch = 0, out = bound_output(&b);
    backend_result r[8];
    char data[4096];
    void *self;

    ck_assert_uint_ge(n, 2);
    while (b.graph->buffers[scratch].role != GRAPH_SCRATCH)
        scratch++;
    record(path, _i);
    ck_assert_msg(!backend_replay_ops.open(&cfg, b.graph, &self, &err), "%s",
                  err.msg);
    ck_assert_int_eq(backend_replay_ops.caps(self)->stages, _i);
    ck_assert(backend_replay_ops.caps(self)->cycles);
    ck_assert(!backend_replay_ops.caps(self)->timed);
    ck_assert_int_eq(backend_replay_ops.run(self, 0, n, r, &err),
                     VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(err.msg, "'in0' was not given"));
    ck_assert(!replay_inputs(self));
    if (_i) {
        ck_assert(!backend_replay_ops.run(self, 0, 1, r, &err));
        ck_assert(!backend_replay_ops.read(self, scratch, data, &err));
        ck_assert_mem_eq(data, b.data[scratch],
                         b.graph->buffers[scratch].bytes);
        ck_assert_int_eq(backend_replay_ops.read(self, out, data, &err),
                         VPU_ERR_UNSUPPORTED);
        ck_assert(!backend_replay_ops.run(self, 1, n - 1, r, &err));
    } else {
        ck_assert_int_eq(backend_replay_ops.run(self, 0, 1, r, &err),
                         VPU_ERR_INVALID);
        ck_assert(!backend_replay_ops.run(self, 0, n, r, &err));
    }
    ck_assert_uint_eq(r[0].cycles, 1000);
    ck_assert(!backend_replay_ops.read(self, out, data, &err));
    ck_assert_mem_eq(data, b.data[out], b.graph->buffers[out].bytes);
    backend_replay_ops.close(self);
}
END_TEST

/* Other folder, locale and threads: the same bytes. */
START_TEST(same_bytes_anywhere)
{
    char *there = arena_strdup(a, file_join(a, dir, "kernels")), *other, *was;
    size_t n, m;
    char *first, *second;

    record(path, true);
    first = bytes_of(path, &n);
    ck_assert_int_eq(system(arena_printf(a, "cp -r kernels %s", there)), 0);
    was = getcwd(NULL, 0);
    other = arena_strdup(a, file_join(a, dir, "sub/y.vpurec"));
    ck_assert(!file_mkdirs(file_dirname(a, other), &err));
    ck_assert_int_eq(chdir(dir), 0);
    setlocale(LC_ALL, "de_DE.UTF-8");
    bound_layer(a, &mvn, &b);
    bound_simulate(&b);
    cfg.how.n_threads = 1;
    record(other, true);
    setlocale(LC_ALL, "C");
    ck_assert_int_eq(chdir(was), 0);
    free(was);
    second = bytes_of(other, &m);
    ck_assert_uint_eq(n, m);
    ck_assert_mem_eq(first, second, n);
    ck_assert_ptr_null(memmem(first, n, dir, strlen(dir)));
}
END_TEST

static void refused(const bound_request *q, const char *say)
{
    void *self;
    vpu_status st;

    bound_layer(a, q, &b);
    cfg.params = b.params;
    cfg.n_params = b.n_params;
    st = backend_replay_ops.open(&cfg, b.graph, &self, &err);
    if (!st) {
        b.data[0] =
            memset(arena_push(a, b.graph->buffers[0].bytes, 1, 64), 1, 1);
        st = replay_inputs(self);
        backend_replay_ops.close(self);
    }
    ck_assert_msg(st == VPU_ERR_MISMATCH, "%d: %s", st, err.msg);
    ck_assert_msg(strstr(err.msg, say) != NULL, "'%s' is not in: %s", say,
                  err.msg);
}

START_TEST(names_what_differs)
{
    bound_request q = mvn;

    record(path, true);
    q.params[0] = "eps=0.25";
    refused(&q, "parameter eps=0.25, recorded with 0.5");
    q = mvn;
    q.shapes[0] = "in0=1x3x4x6";
    refused(&q, "'in0' is f16 1x3x4x6, recorded 'in0' is f16 1x3x4x5");
    q = (bound_request){.folder = "grn",
                        .layer = "GRN",
                        .shapes = {"in0=1x3x4x5"},
                        .params = {"bias=1"}};
    refused(&q, "type is 'GRN', recorded 'MVN'");
    refused(&mvn, "input 'in0' is not the recorded one: ");
}
END_TEST

START_TEST(names_kernel_and_binding)
{
    void *self;
    graph_launch l;

    record(path, true);
    cfg.exact_source = true;
    l = b.graph->launches[0];
    b.graph->launches[0].local[0] = 3;
    ck_assert_int_eq(backend_replay_ops.open(&cfg, b.graph, &self, &err),
                     VPU_ERR_MISMATCH);
    ck_assert_msg(strstr(err.msg, "local = 3x1x1") &&
                      strstr(err.msg, "local = 1x1x1"),
                  "%s", err.msg);
    b.graph->launches[0] = l;
    ck_assert_int_eq(
        system(arena_printf(a, "cp kernels/mvn/*.cl %s && echo >>%s/%s", dir,
                            dir, "mvn_apply.cl")),
        0);
    cfg.source_dir = dir;
    ck_assert_int_eq(backend_replay_ops.open(&cfg, b.graph, &self, &err),
                     VPU_ERR_MISMATCH);
    ck_assert_msg(strstr(err.msg, "source of kernel 'mvn_apply'") != NULL, "%s",
                  err.msg);
    ck_assert_int_eq(system(arena_printf(a, "cp kernels/mvn/*.cl %s", dir)), 0);
    ck_assert_msg(!backend_replay_ops.open(&cfg, b.graph, &self, &err), "%s",
                  err.msg);
    backend_replay_ops.close(self);
    cfg.compile.options = (const char *const[]){"-DX=1"};
    cfg.compile.n_options = 1;
    ck_assert_int_eq(backend_replay_ops.open(&cfg, b.graph, &self, &err),
                     VPU_ERR_MISMATCH);
}
END_TEST

/* A header that a kernel includes is part of it. */
START_TEST(includes_count)
{
    char *cl = arena_strdup(a, file_join(a, dir, "mvn_apply.cl"));
    char *h = arena_strdup(a, file_join(a, dir, "inc.h"));
    const char text[] = "  #  include \"inc.h\"\nint x;\n";
    recording r, s;

    ck_assert_int_eq(system(arena_printf(a, "cp kernels/mvn/*.cl %s", dir)), 0);
    ck_assert(!file_write(cl, text, sizeof text - 1, &err));
    ck_assert(!file_write(h, "1\n", 2, &err));
    cfg.source_dir = dir;
    ck_assert(!backend_identity(&cfg, b.graph, a, &r, &err));
    ck_assert(!file_write(h, "2\n", 2, &err));
    ck_assert(!backend_identity(&cfg, b.graph, a, &s, &err));
    ck_assert_uint_eq(r.launches[0].kernel, s.launches[0].kernel);
    ck_assert_uint_ne(r.launches[1].kernel, s.launches[1].kernel);
    ck_assert(!file_write(h, "#include \"inc.h\"\n", 17, &err));
    ck_assert_int_eq(backend_identity(&cfg, b.graph, a, &s, &err),
                     VPU_ERR_LIMIT);
}
END_TEST

/* --- files that are not as they were ------------------------------------- */

static vpu_status parse(const char *data, size_t n)
{
    char *exact = malloc(n + 1); /* so that sanitizers see what is behind */
    recording r;
    vpu_status st;

    memcpy(exact, data, n);
    st = recording_parse(exact, n, "x.vpurec", a, &r, &err);
    free(exact);
    return st;
}

START_TEST(every_flipped_bit)
{
    size_t n;
    char *data;

    record(path, false);
    data = bytes_of(path, &n);
    ck_assert_msg(!parse(data, n), "%s", err.msg);
    for (size_t i = 0; i < n; i++) {
        arena_mark m = arena_save(a);
        vpu_status st;

        data[i] = (char)(data[i] ^ 1 << i % 8);
        err.msg[0] = 0;
        st = parse(data, n);
        ck_assert_msg(st == VPU_ERR_PARSE || st == VPU_ERR_UNSUPPORTED,
                      "byte %zu: %d", i, st);
        ck_assert_msg(strstr(err.msg, "x.vpurec: byte ") == err.msg, "%s",
                      err.msg);
        data[i] = (char)(data[i] ^ 1 << i % 8);
        arena_restore(a, m);
    }
}
END_TEST

START_TEST(every_truncation)
{
    size_t n;
    char *data;

    record(path, false);
    data = bytes_of(path, &n);
    for (size_t i = 0; i < n; i++)
        ck_assert_int_eq(parse(data, i), VPU_ERR_PARSE);
    data = memcpy(arena_push(a, n + 1, 1, 1), data, n);
    ck_assert_int_eq(parse(data, n + 1), VPU_ERR_PARSE);
}
END_TEST

/* Hashes of section i, table and head as they are now. */
static void seal(unsigned char *p, uint32_t i)
{
    unsigned char *e = p + FORMAT_HEAD + FORMAT_ENTRY * i;
    uint64_t n = format_get(p + FORMAT_SECTIONS_AT, 4);

    format_put(e + 16, 8, XXH64(p + format_get(e, 8), format_get(e + 8, 8), 0));
    format_put(p + FORMAT_TABLE_HASH_AT, 8,
               XXH64(p + FORMAT_HEAD, n * FORMAT_ENTRY, 0));
    format_put(p + FORMAT_HEAD_HASH_AT, 8, XXH64(p, FORMAT_HEAD_HASH_AT, 0));
}

static vpu_status read_bytes(const unsigned char *p, size_t n)
{
    recording r;

    ck_assert(!file_write(path, p, n, &err));
    return recording_read(path, a, &r, &err);
}

/* Whole sections of zeros at the end, of which the head knows or not. */
START_TEST(bytes_at_the_end)
{
    size_t n;
    unsigned char *p;

    record(path, false);
    p = (unsigned char *)bytes_of(path, &n);
    p = memcpy(arena_push(a, n + FORMAT_ALIGN, 1, 1), p, n);
    ck_assert_msg(!read_bytes(p, n), "%s", err.msg);
    for (size_t more = 1; more <= FORMAT_ALIGN; more++) {
        ck_assert_int_eq(read_bytes(p, n + more), VPU_ERR_PARSE);
        ck_assert_msg(strstr(err.msg, "the file should have") != NULL, "%s",
                      err.msg);
    }
    format_put(p + FORMAT_BYTES_AT, 8, n + FORMAT_ALIGN);
    seal(p, 0);
    ck_assert_int_eq(read_bytes(p, n + FORMAT_ALIGN), VPU_ERR_PARSE);
    ck_assert_msg(strstr(err.msg, "64 bytes behind the last section") != NULL,
                  "%s", err.msg);
}
END_TEST

/* A tensor's section with a byte more or less than the tensor: 3 x 4 x 5 halves
 * are 120 bytes, in 128 of the file. */
START_TEST(sections_as_long_as_their_tensors)
{
    for (int change = -1; change <= 1; change++) {
        unsigned char *p, *e;
        size_t n;

        record(path, false);
        p = (unsigned char *)bytes_of(path, &n);
        e = p + FORMAT_HEAD + FORMAT_ENTRY;
        ck_assert_uint_eq(format_get(e + 8, 8), 120);
        p[format_get(e, 8) + 119] = 0;
        format_put(e + 8, 8, (uint64_t)(120 + change));
        seal(p, 1);
        if (!change) {
            ck_assert_msg(!read_bytes(p, n), "%s", err.msg);
            continue;
        }
        ck_assert_int_eq(read_bytes(p, n), VPU_ERR_PARSE);
        ck_assert_msg(strstr(err.msg, "as long as its tensor") != NULL, "%s",
                      err.msg);
    }
}
END_TEST

START_TEST(future_version)
{
    size_t n;
    char *data;

    record(path, false);
    data = bytes_of(path, &n);
    data[8] = RECORDING_VERSION + 1;
    ck_assert_int_eq(parse(data, n), VPU_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.msg, "version 3"));
    ck_assert_ptr_nonnull(strstr(err.msg, "reads versions 1 to 2"));
    ck_assert_int_eq(recording_read("/nowhere/x", a, &(recording){0}, &err),
                     VPU_ERR_IO);
}
END_TEST

START_TEST(failed_writes_leave_nothing)
{
    recording r;
    char *full = arena_strdup(a, file_join(a, dir, "none/x.vpurec"));

    ck_assert(!diff_record(
        &(const diff_record_job){
            .backend = &(backend){&canned_ops, canned_new(&b, true)},
            .config = &cfg,
            .graph = b.graph,
            .inputs = b.data,
            .stages = true},
        a, &r, &err));
    ck_assert_int_eq(recording_write(full, &r, &err), VPU_ERR_IO);
    r.layer = "\xff\xfe";
    ck_assert_int_eq(recording_write(path, &r, &err), VPU_ERR_INVALID);
    ck_assert(!file_exists(path));
    r.layer = "x";
    r.contents[0].buffer = 999;
    ck_assert_int_eq(recording_write(path, &r, &err), VPU_ERR_INVALID);
    ck_assert(!file_exists(path));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("record");
    TCase *tc = tcase_create("recordings");
    SRunner *sr;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, replay_gives_back, 0, 2);
    tcase_add_test(tc, same_bytes_anywhere);
    tcase_add_test(tc, names_what_differs);
    tcase_add_test(tc, names_kernel_and_binding);
    tcase_add_test(tc, includes_count);
    tcase_add_test(tc, every_flipped_bit);
    tcase_add_test(tc, every_truncation);
    tcase_add_test(tc, bytes_at_the_end);
    tcase_add_test(tc, sections_as_long_as_their_tensors);
    tcase_add_test(tc, future_version);
    tcase_add_test(tc, failed_writes_leave_nothing);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
