/* Blobs: the reference's worked example, round trips of generated ones, and
 * what damaged ones do. */
#include "runtime/blob/blob.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/blob/check.h"
#include "runtime/blob/plan.h"
#include "runtime/blob/stage.h"

static arena *a;
static vpu_error err;
static str bytes;

static void setup(void)
{
    a = arena_create(0);
    memset(&err, 0, sizeof err);
    bytes = (str){0};
}

static void teardown(void)
{
    str_free(&bytes);
    arena_destroy(a);
}

/* --- the worked example -------------------------------------------------- */

enum { ELF_BYTES = 5000 };

static uint8_t elf[ELF_BYTES];

static void example(config_release release, blob *out)
{
    static const stage_arg args[] = {{0, 0}, {0, 2}, {8, STAGE_ARG_INT}};
    const stage_custom custom = {.groups = {1, 4, 1},
                                 .local = {8, 1, 1},
                                 .n_data = 1,
                                 .n_buffers = 3,
                                 .args = args,
                                 .n_args = 3};
    const blob_release *r = blob_release_of(release);
    const plan_tensor tensors[] = {
        {"data",
         BLOB_INPUT,
         BLOB_F16,
         0x4321,
         4,
         {8, 4, 2, 1},
         NULL,
         false,
         0,
         0},
        {"elf", BLOB_CONST, BLOB_U8, 0x3, 1, {ELF_BYTES}, elf, false, 0, 0},
        {"out",
         BLOB_OUTPUT,
         BLOB_F16,
         0x4321,
         4,
         {8, 4, 2, 1},
         NULL,
         false,
         0,
         0},
        {"temp",
         BLOB_BSS,
         r->temp_in_bytes ? BLOB_U8 : BLOB_F16,
         0x3,
         1,
         {ELF_BYTES + 1024},
         NULL,
         false,
         0,
         0}};
    static const uint32_t order[] = {0, 1, 2, 3};
    plan_stage stage = {.tensors = order, .n_tensors = 4};
    blob_stage params;
    const plan p = {r, 9, 7, tensors, 4, &stage, 1};

    for (int i = 0; i < ELF_BYTES; i++)
        elf[i] = (uint8_t)(i * 7 + 1);
    stage_custom_write(&custom, r->custom, a, &params);
    stage.type = params.type;
    stage.params = params.params;
    stage.n_params = params.n_params;
    ck_assert_msg(!plan_blob(&p, a, out, &err), "%s", err.msg);
}

/* Scratch tensors of 64 bytes: of two free places of one size the first is
 * taken, of two sizes the one that fits. */
START_TEST(scratch_memory)
{
    static const struct {
        uint32_t bytes[5], at[5];
    } cases[] = {{{64, 64, 64, 64, 64}, {0, 64, 128, 192, 0}},
                 {{128, 64, 64, 64, 64}, {0, 128, 192, 256, 192}},
                 {{64, 64, 128, 64, 128}, {0, 64, 128, 256, 128}}};
    static const uint32_t all[] = {0, 1, 2, 3}, later[] = {1, 3, 4};
    const plan_stage stages[] = {
        {.type = STAGE_COPY, .tensors = all, .n_tensors = 4},
        {.type = STAGE_COPY, .tensors = later, .n_tensors = 3}};
    plan_tensor tensors[5];
    const plan p = {
        blob_release_of(CONFIG_2021_3), 1, 1, tensors, 5, stages, 2};

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        blob b;

        for (uint32_t i = 0; i < 5; i++)
            tensors[i] = (plan_tensor){.location = BLOB_BSS,
                                       .type = BLOB_U8,
                                       .order = 0x3,
                                       .rank = 1,
                                       .dims = {cases[k].bytes[i]}};
        ck_assert_msg(!plan_blob(&p, a, &b, &err), "%s", err.msg);
        for (uint32_t i = 0; i < 4; i++)
            ck_assert_uint_eq(b.stages[0].buffers[i].offset, cases[k].at[i]);
        ck_assert_uint_eq(b.stages[1].buffers[2].offset, cases[k].at[4]);
    }
}
END_TEST

static void put(uint8_t *file, size_t at, size_t n, const uint32_t *words)
{
    for (size_t i = 0; i < 4 * n; i++)
        file[at + i] = (uint8_t)(words[i / 4] >> (8 * (i % 4)));
}

#define PUT(at, ...)                                                    \
    put(file, at, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), \
        (uint32_t[]){__VA_ARGS__})

/* docs/formats.md, "A small blob, part by part". */
static void example_bytes(uint8_t file[5760])
{
    static const uint8_t head[] = {0x7f, 0x65, 0x6c, 0x66};

    memset(file, 0, 5760);
    memcpy(file, head, 4);
    file[16] = 1;
    file[18] = 2;
    file[20] = 2;
    file[40] = 0xa0;
    file[41] = 0x01;
    PUT(52, 9709, 5760, 6, 0, 1, 1, 1, 128, 128, 1, 6080, 9, 7, 0, 1, 0, 192,
        256, 320, 640);
    PUT(192, 0, 0, 16);
    memcpy(file + 204, "data", 4);
    PUT(220, 0, 0x4321, 4, 3, 5056, 3, 5072);
    PUT(256, 0, 0, 16);
    memcpy(file + 268, "out", 3);
    PUT(284, 0, 0x4321, 4, 3, 5056, 3, 5096);
    PUT(320, 264, 115, 7, 84, 1, 4, 1, 8, 1, 1, 0, 0, 0, 0, 0, 1, 3, 3, 0, 0, 0,
        2, 8, 0xffffffff);
    PUT(416, 0, 0x4321, 4, 3, 5056, 3, 5072, 1, 0, 128, 0);
    PUT(460, 1, 0x3, 1, 3, 5088, 3, 5092, 3, 0);
    PUT(496, 0, 0x4321, 4, 3, 5056, 3, 5096, 2, 0, 128, 0);
    PUT(540, 1, 0x3, 1, 3, 5112, 3, 5116, 4, 0);
    PUT(576, 115, 0x7f83ff19);
    memcpy(file + 640, elf, ELF_BYTES);
    PUT(640 + 5056, 8, 4, 2, 1, 2, 16, 64, 128, ELF_BYTES, 1, 2, 16, 64, 128,
        ELF_BYTES + 1024, 1);
}

START_TEST(worked_example)
{
    static const char hex[] =
        "7f656c6600000000000000000000000001000200020000000000000000000000"
        "0000000000000000a00100000000000000000000ed2500008016000006000000"
        "0000000001000000010000000100000080000000800000000100000"
        "0c0170000090000000700000000000000010000000000000"
        "0c0000000000100004001000080020000";
    uint8_t expected[5760];
    char text[2 * BLOB_HEADER + 1];
    blob b;

    example(CONFIG_2021_3, &b);
    ck_assert_msg(!blob_build(&b, &bytes, &err), "%s", err.msg);
    example_bytes(expected);
    ck_assert_uint_eq(bytes.n, sizeof expected);
    for (size_t i = 0; i < bytes.n; i++)
        ck_assert_msg((uint8_t)bytes.data[i] == expected[i], "byte %zu", i);
    for (int i = 0; i < BLOB_HEADER; i++)
        sprintf(text + 2 * i, "%02x", (uint8_t)bytes.data[i]);
    ck_assert_str_eq(text, hex);
}
END_TEST

/* Dims not shared, a temporary of halves. */
START_TEST(worked_example_2021_1)
{
    blob b;

    example(CONFIG_2021_1, &b);
    ck_assert_uint_eq(b.bss_size, 12096);
    ck_assert_uint_ne(b.outputs[0].desc.dims_at, b.inputs[0].desc.dims_at);
    ck_assert_uint_eq(b.stages[0].buffers[3].desc.strides[0], 2);
}
END_TEST

/* --- generated blobs ----------------------------------------------------- */

static uint64_t state;

static uint32_t rnd(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static blob_desc random_desc(const blob *b)
{
    blob_desc d = {.type = rnd(7), .order = rnd(1u << 31), .rank = rnd(9)};
    uint32_t room = b->n_constants - 4 * d.rank;

    if (b->major < 6) {
        for (uint32_t i = 0; i < d.rank; i++) {
            d.dims[i] = rnd(1u << 31);
            d.strides[i] = rnd(1u << 31);
        }
        return d;
    }
    d.dims_location = rnd(3) ? BLOB_CONST : rnd(7);
    d.strides_location = rnd(3) ? BLOB_CONST : rnd(7);
    d.dims_at = rnd(room + 1);
    d.strides_at = rnd(room + 1);
    if (d.dims_location == BLOB_CONST)
        memcpy(d.dims, b->constants + d.dims_at, 4 * d.rank);
    if (d.strides_location == BLOB_CONST)
        memcpy(d.strides, b->constants + d.strides_at, 4 * d.rank);
    return d;
}

static const char *random_text(uint32_t most)
{
    char *text = arena_array(a, char, most + 1);

    for (uint32_t i = 0, n = rnd(most); i < n; i++)
        text[i] = (char)(1 + rnd(255));
    return text;
}

static blob_io *random_ios(const blob *b, uint32_t *n)
{
    blob_io *list = arena_array(a, blob_io, *n = rnd(4));

    for (uint32_t i = 0; i < *n; i++) {
        size_t length;

        list[i] = (blob_io){.offset = rnd(1000),
                            .name = random_text(40),
                            .desc = random_desc(b)};
        length = strlen(list[i].name);
        list[i].name_bytes = (uint32_t)blob_align(length + rnd(2), 16);
    }
    return list;
}

static blob_buffer random_buffer(const blob *b)
{
    blob_buffer f = {
        .desc = random_desc(b), .location = rnd(8), .offset = rnd(1u << 31)};

    if (f.location == BLOB_INPUT || f.location == BLOB_OUTPUT)
        f.data = (blob_owner){rnd(9), rnd(999)};
    if (f.desc.dims_location == BLOB_OUTPUT)
        f.dims = (blob_owner){rnd(9), rnd(999)};
    if (f.desc.strides_location == BLOB_OUTPUT)
        f.strides = (blob_owner){rnd(9), rnd(999)};
    return f;
}

static void random_stage(const blob *b, blob_stage *s)
{
    uint32_t *params = arena_array(a, uint32_t, 40);
    blob_buffer *buffers = arena_array(a, blob_buffer, 8);

    *s = (blob_stage){.type = rnd(150),
                      .n_shaves = rnd(17),
                      .params = params,
                      .n_params = rnd(40),
                      .buffers = buffers,
                      .n_buffers = rnd(8)};
    for (uint32_t i = 0; i < s->n_params; i++)
        params[i] = rnd(1u << 31);
    for (uint32_t i = 0; i < s->n_buffers; i++)
        buffers[i] = random_buffer(b);
}

static blob_node *random_nodes(uint32_t *n, bool result)
{
    blob_node *list = arena_array(a, blob_node, *n = rnd(4));

    for (uint32_t i = 0; i < *n; i++) {
        uint64_t *shape = arena_array(a, uint64_t, 6);
        const char **names = arena_array(a, const char *, 4);

        for (int k = 0; k < 6; k++)
            shape[k] = (uint64_t)rnd(1u << 31) << rnd(30);
        for (int k = 0; k < 4; k++)
            names[k] = random_text(20);
        list[i] = (blob_node){.name = random_text(30),
                              .shape = shape,
                              .rank = rnd(6),
                              .element = (int32_t)rnd(18) - 1,
                              .names = names,
                              .n_names = rnd(4),
                              .producer = result ? random_text(9) : NULL};
    }
    return list;
}

static void random_blob(blob *b)
{
    uint32_t n = 64 * (1 + rnd(4));
    uint8_t *constants = arena_array(a, uint8_t, n);
    blob_stage *stages = arena_array(a, blob_stage, 5);
    uint32_t *words = &b->inputs_size;

    *b = (blob){.major = 4 + rnd(3), .n_constants = n, .n_stages = rnd(5)};
    for (; words <= &b->has_dma; words++)
        *words = rnd(1u << 31);
    for (uint32_t i = 0; i < n; i++)
        constants[i] = (uint8_t)rnd(256);
    b->constants = constants;
    b->inputs = random_ios(b, &b->n_inputs);
    b->outputs = random_ios(b, &b->n_outputs);
    b->stages = stages;
    for (uint32_t i = 0; i < b->n_stages; i++)
        random_stage(b, &stages[i]);
    b->has_trailer = rnd(2);
    if (b->has_trailer) {
        b->parameters = random_nodes(&b->n_parameters, false);
        b->results = random_nodes(&b->n_results, true);
    }
}

static void same_ios(const blob_io *x, const blob_io *y, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        ck_assert_uint_eq(x[i].offset, y[i].offset);
        ck_assert_uint_eq(x[i].name_bytes, y[i].name_bytes);
        ck_assert_str_eq(x[i].name, y[i].name);
        ck_assert_mem_eq(&x[i].desc, &y[i].desc, sizeof x[i].desc);
    }
}

static void same_stages(const blob_stage *x, const blob_stage *y, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        ck_assert_uint_eq(x[i].type, y[i].type);
        ck_assert_uint_eq(x[i].n_shaves, y[i].n_shaves);
        ck_assert_uint_eq(x[i].n_params, y[i].n_params);
        ck_assert_uint_eq(x[i].n_buffers, y[i].n_buffers);
        for (uint32_t k = 0; k < x[i].n_params; k++)
            ck_assert_uint_eq(x[i].params[k], y[i].params[k]);
        for (uint32_t k = 0; k < x[i].n_buffers; k++) {
            blob_buffer f = y[i].buffers[k];

            f.at = x[i].buffers[k].at;
            ck_assert_mem_eq(&x[i].buffers[k], &f, sizeof f);
        }
    }
}

static void same_nodes(const blob_node *x, const blob_node *y, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        ck_assert_str_eq(x[i].name, y[i].name);
        ck_assert_uint_eq(x[i].rank, y[i].rank);
        ck_assert_int_eq(x[i].element, y[i].element);
        ck_assert_uint_eq(x[i].n_names, y[i].n_names);
        for (uint32_t k = 0; k < x[i].rank; k++)
            ck_assert_uint_eq(x[i].shape[k], y[i].shape[k]);
        for (uint32_t k = 0; k < x[i].n_names; k++)
            ck_assert_str_eq(x[i].names[k], y[i].names[k]);
        ck_assert_pstr_eq(x[i].producer, y[i].producer);
    }
}

static void same_blob(const blob *x, const blob *y)
{
    ck_assert_mem_eq(x, y, offsetof(blob, has_dma) + 4);
    ck_assert_uint_eq(x->n_inputs, y->n_inputs);
    ck_assert_uint_eq(x->n_outputs, y->n_outputs);
    ck_assert_uint_eq(x->n_stages, y->n_stages);
    ck_assert_uint_eq(x->n_constants, y->n_constants);
    ck_assert_int_eq(x->has_trailer, y->has_trailer);
    ck_assert_uint_eq(x->n_parameters, y->n_parameters);
    ck_assert_uint_eq(x->n_results, y->n_results);
    same_ios(x->inputs, y->inputs, x->n_inputs);
    same_ios(x->outputs, y->outputs, x->n_outputs);
    same_stages(x->stages, y->stages, x->n_stages);
    ck_assert_mem_eq(x->constants, y->constants, x->n_constants);
    same_nodes(x->parameters, y->parameters, x->n_parameters);
    same_nodes(x->results, y->results, x->n_results);
}

START_TEST(round_trips)
{
    for (state = 1; state < 1000;) {
        uint64_t seed = state;
        str again = {0};
        blob b, back;
        char *anywhere; /* in memory; constants are read as numbers all the same
                         */

        random_blob(&b);
        bytes.n = 0;
        ck_assert_msg(!blob_build(&b, &bytes, &err), "%s", err.msg);
        anywhere = (char *)arena_push(a, bytes.n + 16, 1, 16) + seed % 16;
        memcpy(anywhere, bytes.data, bytes.n);
        ck_assert_msg(!blob_parse(anywhere, bytes.n, "x", a, &back, &err), "%s",
                      err.msg);
        same_blob(&b, &back);
        ck_assert_uint_eq((uintptr_t)back.constants % 16, 0);
        ck_assert(!blob_build(&back, &again, &err));
        ck_assert_uint_eq(bytes.n, again.n);
        ck_assert_mem_eq(bytes.data, again.data, again.n);
        str_free(&again);
        state = seed + 1;
    }
}
END_TEST

/* --- damage -------------------------------------------------------------- */

/* n bytes, in memory of just that size: refused, naming a byte, or written
 * again as they are. */
static bool refused(const void *data, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);
    arena *mine = arena_create(0);
    str again = {0};
    vpu_status st;
    blob b;

    memcpy(copy, data, n);
    st = blob_parse(copy, n, "x.blob", mine, &b, &err);
    if (st) {
        ck_assert(st == VPU_ERR_PARSE || st == VPU_ERR_UNSUPPORTED);
        ck_assert_msg(!strncmp(err.msg, "x.blob: byte ", 13), "%s", err.msg);
        ck_assert_msg(strstr(err.msg, "expected") != NULL, "%s", err.msg);
    } else {
        ck_assert_msg(!blob_build(&b, &again, &err), "%s", err.msg);
        ck_assert_uint_eq(again.n, n);
        ck_assert_mem_eq(again.data, data, n);
    }
    str_free(&again);
    arena_destroy(mine);
    free(copy);
    return st != VPU_OK;
}

START_TEST(every_truncation)
{
    blob b;

    state = 11;
    do
        random_blob(&b);
    while (b.has_trailer || b.n_stages < 3 || b.n_inputs < 2);
    ck_assert(!blob_build(&b, &bytes, &err));
    for (size_t n = 0; n < bytes.n; n++)
        ck_assert_msg(refused(bytes.data, n), "%zu bytes", n);
    ck_assert(!refused(bytes.data, bytes.n));
}
END_TEST

/* The example's stage ends 8 bytes before 320 + 264; the length of its params,
 * 84, is at 332. */
START_TEST(params_end_with_their_stage)
{
    static const uint8_t wrong[] = {0, 2, 85, 248};
    uint8_t file[5760];
    blob b;

    example_bytes(file);
    ck_assert_msg(!blob_parse(file, sizeof file, "x", a, &b, &err), "%s",
                  err.msg);
    ck_assert_uint_eq(b.stages[0].n_params, 84 / 4 - 1);
    for (size_t i = 0; i < sizeof wrong; i++) {
        file[332] = wrong[i];
        ck_assert_int_eq(blob_parse(file, sizeof file, "x", a, &b, &err),
                         VPU_ERR_PARSE);
        ck_assert_str_eq(
            err.msg,
            arena_printf(a,
                         "x: byte 332: params of %u bytes, expected a multiple "
                         "of 4 from 4 to 244",
                         wrong[i]));
    }
}
END_TEST

START_TEST(every_changed_byte)
{
    static const uint8_t changes[] = {0x01, 0x80, 0xff};
    size_t n_refused = 0;
    blob b;

    state = 100 + (uint64_t)_i;
    do
        random_blob(&b);
    while (b.n_stages < 2 || !b.n_inputs || !b.n_outputs);
    ck_assert(!blob_build(&b, &bytes, &err));
    for (size_t i = 0; i < bytes.n; i++)
        for (size_t k = 0; k < sizeof changes; k++) {
            bytes.data[i] = (char)((uint8_t)bytes.data[i] ^ changes[k]);
            n_refused += refused(bytes.data, bytes.n);
            bytes.data[i] = (char)((uint8_t)bytes.data[i] ^ changes[k]);
        }
    ck_assert_uint_gt(n_refused, 3 * 100);
}
END_TEST

START_TEST(builder_refuses)
{
    static const blob_io io = {.name = "sixteen letters!", .name_bytes = 48};
    const blob odd = {.major = 6, .n_constants = 63};
    const blob version = {.major = 7};
    const blob name = {.major = 6, .inputs = &io, .n_inputs = 1};
    blob_buffer f = {
        .desc = {.rank = 2, .dims_location = BLOB_CONST, .dims_at = 60}};
    blob_stage s = {.buffers = &f, .n_buffers = 1};
    static const uint8_t zeros[64];
    const blob shape = {.major = 6,
                        .constants = zeros,
                        .n_constants = 64,
                        .stages = &s,
                        .n_stages = 1};

    ck_assert_int_eq(blob_build(&odd, &bytes, &err), VPU_ERR_INVALID);
    ck_assert_int_eq(blob_build(&version, &bytes, &err), VPU_ERR_UNSUPPORTED);
    ck_assert_int_eq(blob_build(&name, &bytes, &err), VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(err.msg, "sixteen"));
    ck_assert_int_eq(blob_build(&shape, &bytes, &err), VPU_ERR_INVALID);
    f.desc.dims_at = 56;
    ck_assert_int_eq(blob_build(&shape, &bytes, &err), VPU_OK);
    f.desc.dims[0] = 1;
    ck_assert_int_eq(blob_build(&shape, &bytes, &err), VPU_ERR_INVALID);
}
END_TEST

/* --- stages -------------------------------------------------------------- */

START_TEST(permutes)
{
    static const struct {
        uint32_t from, to, params[4];
    } cases[] = {{0x4321, 0x4213, {2, 0, 1, 3}},
                 {0x4213, 0x4321, {1, 2, 0, 3}},
                 {0x321, 0x213, {2, 0, 1, UINT32_MAX}}};
    uint32_t p[8];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stage_permute_params(cases[i].from, cases[i].to, p);
        ck_assert_mem_eq(p, cases[i].params, sizeof cases[i].params);
        for (int k = 4; k < 8; k++)
            ck_assert_uint_eq(p[k], UINT32_MAX);
    }
}
END_TEST

/* A permute of the dims of the worked example, and what blob_check says of it
 * with one dim changed. */
static const struct {
    uint32_t at, value;
    const char *expected;
} permute_wrongs[] = {
    {0, 2, NULL},
    {1, 2, "dim 1 comes from 2, expected each of 4 once"},
    {3, 0, "dim 3 comes from 0, expected each of 4 once"},
    {2, 4, "dim 2 comes from 4, expected each of 4 once"},
    {2, 9, "dim 2 comes from 9, expected each of 4 once"},
    {4, 4, "dim 4 comes from 4, expected each of 4 once"},
};

START_TEST(permutes_checked)
{
    uint32_t params[8];
    str text = {0};
    blob_stage *stage;
    blob b;

    example(CONFIG_2021_3, &b);
    ck_assert(!blob_build(&b, &bytes, &err));
    ck_assert(!blob_parse(bytes.data, bytes.n, "x", a, &b, &err));
    stage = arena_memdup(a, b.stages, sizeof *stage);
    stage_permute_params(0x4321, 0x4213, params);
    params[permute_wrongs[_i].at] = permute_wrongs[_i].value;
    stage->type = STAGE_PERMUTE;
    stage->params = params;
    stage->n_params = 8;
    stage->n_buffers = 2;
    b.stages = stage;
    blob_check(&b, a, &text);
    if (permute_wrongs[_i].expected)
        ck_assert_msg(strstr(str_text(&text), permute_wrongs[_i].expected),
                      "%s", str_text(&text));
    else
        ck_assert_msg(!strstr(str_text(&text), "comes from"), "%s",
                      str_text(&text));
    str_free(&text);
}
END_TEST

/* What people read of a Permute and of a model's names. */
START_TEST(shown_as_text)
{
    static const char *const names[] = {"data", "data:0"};
    static const uint64_t shape[] = {1, 2, 4, 8};
    const blob_node input = {.name = "in",
                             .element = 2,
                             .shape = shape,
                             .rank = 4,
                             .names = names,
                             .n_names = 2};
    uint32_t params[8];
    blob_stage stage;
    blob b;

    example(CONFIG_2022_1, &b);
    stage = b.stages[0];
    stage_permute_params(0x4321, 0x4213, params);
    stage.type = STAGE_PERMUTE;
    stage.params = params;
    stage.n_params = 8;
    b.stages = &stage;
    b.has_trailer = true;
    b.parameters = &input;
    b.n_parameters = 1;
    blob_show(&b, a, &bytes);
    ck_assert_msg(
        strstr(str_text(&bytes), "\n  dims from 2 0 1 3 -1 -1 -1 -1\n") &&
            strstr(str_text(&bytes), " 1 2 4 8, names 'data', 'data:0'\n"),
        "%s", str_text(&bytes));
}
END_TEST

START_TEST(custom_params)
{
    const stage_arg args[] = {{0, 3}, {5, -1}, {0x3f800000, -2}, {64, -3}};
    const stage_custom c = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, 10, 11,
                            12,        13,        args,      4};
    static const uint32_t fixed[][14] = {
        {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 4},
        {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 11, 13, 4}};
    stage_custom back;
    blob_stage s = {0};

    stage_custom_write(&c, _i ? STAGE_OLD_CUSTOM : STAGE_CUSTOM, a, &s);
    ck_assert_uint_eq(s.n_params, 14 + 2 * 4);
    ck_assert_mem_eq(s.params, fixed[_i], sizeof fixed[_i]);
    ck_assert(stage_custom_read(&s, a, &back));
    ck_assert_mem_eq(back.args, args, sizeof args);
    back.args = c.args;
    /* What lies between it and args is nobody's. */
    ck_assert_mem_eq(&back, &c,
                     offsetof(stage_custom, n_buffers) + sizeof c.n_buffers);
    s.n_params--;
    ck_assert(!stage_custom_read(&s, a, &back));
    s.n_params--;
    ck_assert(!stage_custom_read(&s, a, &back));
    ck_assert_uint_eq(stage_order_rank(0x4321), 4);
    ck_assert_uint_eq(stage_order_rank(0x4301), 0);
    ck_assert_uint_eq(stage_order_rank(0x33), 0);
    ck_assert_uint_eq(stage_order_rank(0), 0);
}
END_TEST

/* --- what does not agree ------------------------------------------------- */

/* One word of the worked example changed, one line of what is wrong. Its kernel
 * is no ELF file, which makes another. */
static const struct {
    size_t at;
    uint32_t value;
    const char *expected;
} wrongs[] = {
    {96, 0, "0 slices, expected 1 to 19"},
    {96, 20, "20 slices, expected 1 to 19"},
    {100, 0, "0 SHAVEs, expected 1 to 16"},
    {100, 17, "17 SHAVEs, expected 1 to 16"},
    {88, 0, "batch 0, expected at least 1"},
    {92, 6016, "6024 bytes at 0 of bss, expected them within 6016"},
    {104, 1, "byte 104: flag of hardware stages is 1, expected 0"},
    {196, 64, "'data' at 64 of the inputs, expected 0"},
    {80, 192, "byte 80: inputs of 192 bytes, expected 128"},
    {224, 0x3321, "4 dims in order 0x3321"},
    {100, 6, "byte 328: 7 SHAVEs, expected at most 6"},
    {336, 0, "work size 0: 0 of 8"},
    {396, (uint32_t)-4, "argument 0 has tag -4, expected -3 to 2"},
    {404, 3, "argument 1 has tag 3, expected -3 to 2"},
    {384, 4, "4 inputs and outputs, the record has 4 buffers"},
    {448, 1, "input 1, expected less than 1"},
    {452, 64, "owner 'data' of 64 bytes, expected 128"},
    {488, 6, "location 6, expected 0 to 5"},
    {456, 2, "128 bytes at 2 of input, expected them within 128"},
    {492, 1, "a constant at 1, expected a multiple of 64"},
};

START_TEST(check_names)
{
    str text = {0};
    uint32_t plain;
    blob b;

    example(CONFIG_2021_3, &b);
    ck_assert(!blob_build(&b, &bytes, &err));
    ck_assert(!blob_parse(bytes.data, bytes.n, "x", a, &b, &err));
    plain = blob_check(&b, a, &text);
    ck_assert_uint_eq(plain, 1);
    ck_assert_ptr_nonnull(strstr(str_text(&text), "not an ELF file"));
    ck_assert_ptr_null(strstr(str_text(&text), wrongs[_i].expected));
    text.n = 0;
    put((uint8_t *)bytes.data, wrongs[_i].at, 1, &wrongs[_i].value);
    ck_assert_msg(!blob_parse(bytes.data, bytes.n, "x", a, &b, &err), "%s",
                  err.msg);
    ck_assert_uint_ge(blob_check(&b, a, &text), 1);
    ck_assert_msg(strstr(str_text(&text), wrongs[_i].expected) != NULL, "%s",
                  str_text(&text));
    str_free(&text);
}
END_TEST

/* The ends of ranges are still right: no more is said than of the example. */
START_TEST(check_accepts_the_ends)
{
    static const struct {
        size_t at;
        uint32_t value;
    } ends[] = {{96, 1}, {96, 19}, {100, 16}, {100, 7}, {88, 1}, {92, 6024}};
    str text = {0};
    blob b;

    example(CONFIG_2021_3, &b);
    ck_assert(!blob_build(&b, &bytes, &err));
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        uint8_t *file = arena_memdup(a, bytes.data, bytes.n);

        put(file, ends[i].at, 1, &ends[i].value);
        ck_assert(!blob_parse(file, bytes.n, "x", a, &b, &err));
        ck_assert_msg(blob_check(&b, a, &text) == 1, "%zu: %s", ends[i].at,
                      str_text(&text));
    }
    str_free(&text);
}
END_TEST

static const struct {
    uint32_t type;
    const char *kind;
} kinds[] = {{STAGE_HW, "hardware"},    {STAGE_CUSTOM, "SHAVE"},
             {STAGE_PERMUTE, "SHAVE"},  {STAGE_COPY, "DMA"},
             {STAGE_LOOP_START, "DMA"}, {STAGE_LOOP_END, "DMA"}};

/* The header says which engines the stages need: no more and no less. */
START_TEST(check_flags_of_engines)
{
    static const char *const engines[] = {"hardware", "SHAVE", "DMA"};
    str text = {0};
    blob b;

    example(CONFIG_2021_3, &b);
    for (uint32_t flags = 0; flags < 8; flags++) {
        blob_stage stage = b.stages[0];
        blob said = b;

        stage.type = kinds[_i].type;
        said.stages = &stage;
        said.has_hw = flags & 1;
        said.has_shave = flags >> 1 & 1;
        said.has_dma = flags >> 2 & 1;
        text.n = 0;
        blob_check(&said, a, &text);
        for (int e = 0; e < 3; e++) {
            bool needed = !strcmp(engines[e], kinds[_i].kind);
            bool right = needed == (flags >> e & 1);
            char *complaint =
                arena_printf(a, "flag of %s stages is %u, expected %u",
                             engines[e], flags >> e & 1, needed);

            ck_assert_msg(right == !strstr(str_text(&text), complaint),
                          "stage %u, flags %u: %s", kinds[_i].type, flags,
                          str_text(&text));
        }
    }
    str_free(&text);
}
END_TEST

/* Whichever of a custom stage's buffers is a constant. */
START_TEST(check_places_of_constants)
{
    str text = {0};
    blob b;

    example(CONFIG_2021_3, &b);
    for (uint32_t k = 0; k < b.stages[0].n_buffers; k++)
        for (uint32_t offset = 0; offset < 192; offset += 32) {
            blob_stage stage = b.stages[0];
            blob_buffer *buffers = arena_memdup(
                a, stage.buffers, stage.n_buffers * sizeof *buffers);
            blob moved = b;

            buffers[k].location = BLOB_CONST;
            buffers[k].offset = offset;
            stage.buffers = buffers;
            moved.stages = &stage;
            text.n = 0;
            blob_check(&moved, a, &text);
            ck_assert_int_eq(
                strstr(str_text(&text),
                       arena_printf(a,
                                    "a constant at %u, expected a multiple "
                                    "of 64",
                                    offset)) != NULL,
                offset % 64 != 0);
        }
    str_free(&text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("blob");
    TCase *tc = tcase_create("blobs");
    SRunner *sr;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, worked_example);
    tcase_add_test(tc, scratch_memory);
    tcase_add_test(tc, worked_example_2021_1);
    tcase_add_test(tc, round_trips);
    tcase_add_test(tc, every_truncation);
    tcase_add_test(tc, params_end_with_their_stage);
    tcase_add_loop_test(tc, every_changed_byte, 0, 6);
    tcase_add_test(tc, builder_refuses);
    tcase_add_test(tc, permutes);
    tcase_add_loop_test(tc, permutes_checked, 0,
                        sizeof permute_wrongs / sizeof *permute_wrongs);
    tcase_add_test(tc, shown_as_text);
    tcase_add_loop_test(tc, custom_params, 0, 2);
    tcase_add_loop_test(tc, check_names, 0, sizeof wrongs / sizeof *wrongs);
    tcase_add_test(tc, check_accepts_the_ends);
    tcase_add_test(tc, check_places_of_constants);
    tcase_add_loop_test(tc, check_flags_of_engines, 0,
                        sizeof kinds / sizeof *kinds);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
