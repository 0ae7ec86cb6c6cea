/* Undefined lanes through random programs of vectors: shuffles, parts, bits
 * taken for other lanes, arithmetic, choices. Which byte of a value is
 * undefined is computed here beside the program, twice: byte by byte, as the
 * source has it, and by whole lanes, as an operation on lanes may spread it.
 * What is undefined either way must be found, what is defined either way must
 * not. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/terminal.h"

enum { SEEDS = 30, BYTES = 16, MAX_VALUES = 12, STEPS = 14 };

static const struct {
    const char *name;
    int bytes; /* of a lane */
} types[] = {{"uchar16", 1}, {"ushort8", 2}, {"uint4", 4}};
enum { N_TYPES = sizeof types / sizeof *types };

/* A bit per byte that is undefined. */
typedef struct {
    int type;
    uint32_t least, most;
} value;

typedef struct {
    uint64_t state;
    str text;
    value v[MAX_VALUES];
    int n;
} program;

static uint32_t below(program *p, uint32_t n)
{
    p->state = p->state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(p->state >> 33) % n;
}

static int lanes_of(int type)
{
    return BYTES / types[type].bytes;
}

static uint32_t lane_mask(int type, int lane)
{
    return ((1u << types[type].bytes) - 1) << (lane * types[type].bytes);
}

/* Every lane with an undefined byte. */
static uint32_t by_lanes(int type, uint32_t bytes)
{
    uint32_t out = 0;

    for (int k = 0; k < lanes_of(type); k++)
        if (bytes & lane_mask(type, k))
            out |= lane_mask(type, k);
    return out;
}

static uint32_t moved(int type, uint32_t bytes, int from, int to)
{
    int n = types[type].bytes;

    return (bytes >> (from * n) & ((1u << n) - 1)) << (to * n);
}

/* A value of that type: one there is, or its bits. */
static int any(program *p, int type)
{
    int from = (int)below(p, (uint32_t)p->n), to = p->n;

    if (p->v[from].type == type)
        return from;
    if (p->n == MAX_VALUES)
        return -1;
    str_printf(&p->text, "    %s v%d = as_%s(v%d);\n", types[type].name, to,
               types[type].name, from);
    p->v[p->n++] =
        (value){type, p->v[from].least, by_lanes(type, p->v[from].most)};
    return to;
}

static char digit(int lane)
{
    return "0123456789abcdef"[lane];
}

/* Lanes of a in another order, some twice. */
static value shuffle(program *p, int a, int type)
{
    value v = {type, 0, 0};

    str_printf(&p->text, "v%d.s", a);
    for (int k = 0; k < lanes_of(type); k++) {
        int from = (int)below(p, (uint32_t)lanes_of(type));

        str_printf(&p->text, "%c", digit(from));
        v.least |= moved(type, p->v[a].least, from, k);
        v.most |= moved(type, p->v[a].most, from, k);
    }
    return v;
}

static value halves(program *p, int a, int b, int type)
{
    value v = {type, 0, 0};
    int half = lanes_of(type) / 2;

    str_printf(&p->text, "(%s)(v%d.hi, v%d.lo)", types[type].name, a, b);
    for (int k = 0; k < half; k++) {
        v.least |= moved(type, p->v[a].least, half + k, k) |
                   moved(type, p->v[b].least, k, half + k);
        v.most |= moved(type, p->v[a].most, half + k, k) |
                  moved(type, p->v[b].most, k, half + k);
    }
    return v;
}

/* Lane by lane; a carry spreads within its lane. */
static value both(program *p, int a, int b, int type)
{
    value v = {type, 0, 0};

    str_printf(&p->text, "v%d ^ v%d", a, b);
    v.least = p->v[a].least | p->v[b].least;
    v.most = by_lanes(type, p->v[a].most | p->v[b].most);
    return v;
}

static value more(program *p, int a, int type)
{
    str_printf(&p->text, "v%d + (%s)(1)", a, types[type].name);
    return (value){type, p->v[a].least, by_lanes(type, p->v[a].most)};
}

static value step(program *p, int a, int b, int type)
{
    switch (below(p, 4)) {
    case 0:
        return shuffle(p, a, type);
    case 1:
        return halves(p, a, b, type);
    case 2:
        return both(p, a, b, type);
    default:
        return more(p, a, type);
    }
}

/* One lane of a value put into another one. */
static void put_lane(program *p, int type)
{
    int a = any(p, type), b = any(p, type);
    int to = (int)below(p, (uint32_t)lanes_of(type));
    int from = (int)below(p, (uint32_t)lanes_of(type));
    value *x;

    if (a < 0 || b < 0)
        return;
    x = &p->v[a];
    str_printf(&p->text, "    v%d.s%c = v%d.s%c;\n", a, digit(to), b,
               digit(from));
    {
        uint32_t least = moved(type, p->v[b].least, from, to);
        uint32_t most = moved(type, p->v[b].most, from, to);

        x->least = (x->least & ~lane_mask(type, to)) | least;
        x->most = (x->most & ~lane_mask(type, to)) | most;
    }
}

/* The kernel: some words of an array in local memory are written, the program
 * works on it and on the input, one lane reaches the output. */
static value generate(program *p, uint64_t seed)
{
    uint32_t written, out_lane;
    int out, type;
    value v;

    p->state = seed * 77 + 5;
    below(p, 2);
    written = 1 + below(p, (1u << 8) - 2);
    str_puts(&p->text,
             "__kernel void k(__global const ushort *src, __global uint *dst)\n"
             "{\n    __local ushort tile[8];\n");
    for (int k = 0; k < 8; k++)
        if (written >> k & 1)
            str_printf(&p->text, "    tile[%d] = src[%d];\n", k, k);
    str_puts(&p->text, "    ushort8 v0 = vload8(0, tile);\n"
                       "    ushort8 v1 = vload8(0, src);\n");
    p->n = 2;
    p->v[0] = p->v[1] = (value){1, 0, 0};
    for (int k = 0; k < 8; k++)
        if (!(written >> k & 1))
            p->v[0].least |= lane_mask(1, k);
    p->v[0].most = p->v[0].least;
    for (int s = 0; s < STEPS && p->n < MAX_VALUES - 3; s++) {
        int a, b, to;

        type = (int)below(p, N_TYPES);
        if (below(p, 4) == 0) {
            put_lane(p, type);
            continue;
        }
        a = any(p, type);
        b = any(p, type);
        if (a < 0 || b < 0)
            break;
        to = p->n;
        str_printf(&p->text, "    %s v%d = ", types[type].name, to);
        v = step(p, a, b, type);
        str_puts(&p->text, ";\n");
        p->v[p->n++] = v;
    }
    out = p->n - 1;
    type = p->v[out].type;
    out_lane = below(p, (uint32_t)lanes_of(type));
    str_printf(&p->text, "    dst[0] = v%d.s%c;\n}\n", out,
               digit((int)out_lane));
    v = p->v[out];
    v.least &= lane_mask(type, (int)out_lane);
    v.most &= lane_mask(type, (int)out_lane);
    return v;
}

#define LAYER                                                            \
    "<CustomLayer name=\"T\" type=\"MVCL\" version=\"1\">\n"             \
    " <Kernel entry=\"k\"><Source filename=\"k.cl\"/>\n  <Parameters>\n" \
    "   <Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" "       \
    "format=\"BFYX\"/>\n"                                                \
    "   <Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" "      \
    "format=\"BFYX\"/>\n"                                                \
    "  </Parameters>\n  <WorkSizes dim=\"input,0\" global=\"1,1,1\" "    \
    "local=\"1,1,1\"/>\n </Kernel>\n</CustomLayer>\n"

static bool is_found(terminal *p, const char *text)
{
    json_t *j;
    bool found;

    terminal_text(p, "k.cl", text);
    terminal_run(p, "check layer.xml --shape in0=1x1x1x8:u16 "
                    "--shape out0=1x1x1x1:i32 --checks uninit --json --quiet");
    ck_assert_msg(p->status <= 1, "%s\n%s", p->err, text);
    j = json_loads(p->out, 0, NULL);
    ck_assert_ptr_nonnull(j);
    found = json_array_size(json_object_get(j, "findings")) > 0;
    json_decref(j);
    return found;
}

static int n_undefined, n_defined;

START_TEST(undefined_lanes)
{
    terminal p;

    terminal_open(&p);
    terminal_text(&p, "layer.xml", LAYER);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        program x = {0};
        value out = generate(&x, seed);
        bool found = is_found(&p, str_text(&x.text));

        ck_assert_msg(found || !out.least, "seed %d: nothing found in\n%s",
                      (int)seed, str_text(&x.text));
        ck_assert_msg(!found || out.most, "seed %d: found in\n%s", (int)seed,
                      str_text(&x.text));
        n_undefined += out.least != 0;
        n_defined += !out.most;
        str_free(&x.text);
    }
    /* Programs of both kinds, or nothing was tried. */
    ck_assert_int_gt(n_undefined, SEEDS / 8);
    ck_assert_int_gt(n_defined, SEEDS / 8);
    terminal_close(&p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lanes");
    TCase *c = tcase_create("lanes");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_test(c, undefined_lanes);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
