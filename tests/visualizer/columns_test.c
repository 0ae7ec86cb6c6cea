/* What was put into a timeline comes back: slices, numbers and arguments of any
 * width, in blocks and behind them. The oracle is a plain list. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/random.h"
#include "visualizer/timeline.h"

enum { KEPT = 1000, KEPT_NAMES = 700, ARG_NAMES = 40, LISTS = 5 };

typedef struct {
    uint32_t name; /* "a7" */
    unsigned kind;
    uint64_t value; /* TEXT: of "t7" */
} kept_arg;

typedef struct {
    uint64_t begin, end;
    uint32_t number, name;
    size_t n_args;
    kept_arg args[3 * TL_MAX_ARGS];
} kept;

static uint64_t seed;
static kept all[KEPT];

static uint64_t below(uint64_t n)
{
    return random_next(&seed) % n;
}

/* Values of any width, so that blocks of all widths come. */
static uint64_t any_width(unsigned most_bits)
{
    unsigned bits = (unsigned)below(most_bits + 1);

    return bits ? random_next(&seed) >> (64 - bits) : 0;
}

static tl_name intern(tl_timeline *tl, char letter, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof text, "%c%u", letter, (unsigned)number);
    return tl_intern(tl, text, strlen(text));
}

/* --- arguments, drawn ---------------------------------------------------- */

/* Names and kinds only. */
static size_t draw_list(kept_arg *to, size_t most)
{
    size_t n = below(most + 1);

    for (size_t i = 0; i < n; i++)
        to[i] = (kept_arg){(uint32_t)below(ARG_NAMES), (unsigned)below(3), 0};
    return n;
}

static void draw_values(kept_arg *args, size_t n)
{
    for (size_t i = 0; i < n; i++)
        args[i].value = args[i].kind == TL_ARG_TEXT ? below(300)
                        : args[i].name % 3 == 0     ? args[i].name
                                                    : any_width(64);
}

static void to_args(tl_timeline *tl, const kept_arg *from, size_t n,
                    tl_args *to)
{
    ck_assert_uint_le(n, TL_MAX_ARGS);
    to->n = n;
    for (size_t i = 0; i < n; i++) {
        to->keys[i] = tl_key_of(intern(tl, 'a', from[i].name), from[i].kind);
        to->values[i] = from[i].kind == TL_ARG_TEXT
                            ? intern(tl, 't', from[i].value)
                            : from[i].value;
    }
}

static void same_args(const tl_timeline *tl, const kept_arg *want,
                      const tl_arg *args, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char name[24], text[24];
        double real;

        snprintf(name, sizeof name, "a%u", want[i].name);
        snprintf(text, sizeof text, "t%u", (unsigned)want[i].value);
        memcpy(&real, &want[i].value, sizeof real);
        ck_assert_str_eq(tl_text(tl, args[i].name), name);
        ck_assert_uint_eq(args[i].kind, want[i].kind);
        if (want[i].kind == TL_ARG_UINT)
            ck_assert_uint_eq(args[i].number, want[i].value);
        else if (want[i].kind == TL_ARG_TEXT)
            ck_assert_str_eq(tl_text(tl, args[i].text), text);
        else /* NaNs, too */
            ck_assert(!memcmp(&args[i].real, &real, sizeof real));
    }
}

/* --- slices -------------------------------------------------------------- */

/* Its arguments come with its begin and its end, and perhaps once more. */
static void keep_slice(tl_timeline *tl, uint32_t row, kept *k, uint64_t *t)
{
    size_t cut[4] = {0, k->n_args / 3, k->n_args * 2 / 3, k->n_args};
    char name[40];
    tl_args args;

    k->begin = *t += below(2) ? any_width(34) : 0;
    k->end = *t += any_width(34);
    k->name = (uint32_t)below(KEPT_NAMES);
    k->number = below(4) ? (uint32_t)any_width(31) : TL_NO_NUMBER;
    draw_values(k->args, k->n_args);
    if (k->number == TL_NO_NUMBER)
        snprintf(name, sizeof name, "n%u", k->name);
    else
        snprintf(name, sizeof name, "n%u %u", k->name, k->number);
    tl_add_begin(tl, row, k->begin, name);
    for (int i = 0; i < 3; i++) {
        to_args(tl, k->args + cut[i], cut[i + 1] - cut[i], &args);
        tl_add_args(tl, row, &args);
    }
    tl_add_end(tl, row, k->end);
}

static void same_slice(const tl_timeline *tl, const tl_lane *l, uint64_t i)
{
    size_t n = all[i].n_args < TL_SLICE_ARGS ? all[i].n_args : TL_SLICE_ARGS;
    tl_arg args[TL_SLICE_ARGS];
    char name[16];

    snprintf(name, sizeof name, "n%u", all[i].name);
    ck_assert_uint_eq(tl_begin(l, i), all[i].begin);
    ck_assert_uint_eq(tl_length(l, i), all[i].end - all[i].begin);
    ck_assert_uint_eq(tl_end(l, i), all[i].end);
    ck_assert_uint_eq(tl_number(l, i), all[i].number);
    ck_assert_str_eq(tl_text(tl, tl_name_of(l, i)), name);
    ck_assert_uint_eq(tl_slice_args(tl, l, i, args, TL_SLICE_ARGS), n);
    same_args(tl, all[i].args, args, n);
    memset(args, 0x55, sizeof args);
    ck_assert_uint_eq(tl_slice_args(tl, l, i, args, n / 2), n / 2);
    same_args(tl, all[i].args, args, n / 2);
    if (n)
        ck_assert_uint_eq(args[n / 2].name, 0x55555555);
}

/* Few lists, so that slices of a block share them; or a new one for each; or,
 * with `most` above TL_SLICE_ARGS, more than are kept. */
static void put_all(tl_timeline *tl, uint32_t row, uint64_t n, size_t most,
                    bool shared)
{
    static kept_arg lists[LISTS][3 * TL_MAX_ARGS];
    size_t n_list[LISTS];
    uint64_t t = 0;

    for (int i = 0; i < LISTS; i++)
        n_list[i] = i ? draw_list(lists[i], most) : 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t which = below(LISTS);

        all[i].n_args = shared ? n_list[which] : draw_list(all[i].args, most);
        if (shared)
            memcpy(all[i].args, lists[which], sizeof all[i].args);
        keep_slice(tl, row, &all[i], &t);
        same_slice(tl, &tl->rows[row].lanes[0], below(i + 1));
    }
}

START_TEST(every_slice_comes_back)
{
    static const size_t most[] = {0, 1, 3, 12, 3 * TL_MAX_ARGS};
    uint64_t n = 1 + (uint64_t)_i * 33;
    tl_timeline tl;
    vpu_error err;
    uint32_t row;

    seed = (uint64_t)_i + 1;
    ck_assert(!tl_init(&tl, &err));
    row = tl_row_at(&tl, 4);
    put_all(&tl, row, n, most[_i % 5], _i % 2);
    tl_finish(&tl);
    ck_assert_uint_eq(tl.rows[row].lanes[0].n_slices, n);
    for (uint64_t i = 0; i < n; i++)
        same_slice(&tl, &tl.rows[row].lanes[0], i);
    tl_free(&tl);
}
END_TEST

/* What slices have in common is kept once. */
START_TEST(equal_arguments_take_little)
{
    enum { N = 32000, ARGS = 12 };
    tl_timeline tl, bare;
    tl_args args = {.n = ARGS};
    vpu_error err;

    ck_assert(!tl_init(&tl, &err) && !tl_init(&bare, &err));
    for (unsigned i = 0; i < ARGS; i++) {
        args.keys[i] = tl_key_of(intern(&tl, 'a', i), TL_ARG_UINT);
        args.values[i] = UINT64_C(123456789) << i;
    }
    for (uint64_t i = 0; i < N; i++) {
        tl_add_begin(&tl, tl_row_at(&tl, 4), 10 * i, "x");
        args.values[3] = 1000000 + 7 * i % 50;
        tl_add_args(&tl, tl_row_at(&tl, 4), &args);
        tl_add_end(&tl, tl_row_at(&tl, 4), 10 * i + 5);
        tl_add_begin(&bare, tl_row_at(&bare, 4), 10 * i, "x");
        tl_add_end(&bare, tl_row_at(&bare, 4), 10 * i + 5);
    }
    /* One column of bytes, and of each block what its columns are. */
    ck_assert_uint_le(tl_bytes(&tl) - tl_bytes(&bare), N * 5);
    tl_free(&tl);
    tl_free(&bare);
}
END_TEST

/* --- instants and names -------------------------------------------------- */

START_TEST(instants_keep_their_arguments)
{
    enum { N = 200 };
    static kept_arg kept_args[N][TL_MAX_ARGS];
    size_t n[N];
    tl_timeline tl;
    vpu_error err;

    seed = (uint64_t)_i + 77;
    ck_assert(!tl_init(&tl, &err));
    for (uint64_t i = 0; i < N; i++) {
        tl_args args;

        n[i] = draw_list(kept_args[i], TL_MAX_ARGS);
        draw_values(kept_args[i], n[i]);
        to_args(&tl, kept_args[i], n[i], &args);
        tl_add_instant(&tl, tl_row_at(&tl, 4), i, "note", &args);
    }
    ck_assert_uint_eq(tl.n_instants, N);
    for (uint64_t i = 0; i < N; i++) {
        tl_arg args[TL_MAX_ARGS];

        ck_assert_uint_eq(
            tl_instant_args(&tl, &tl.instants[i], args, TL_MAX_ARGS), n[i]);
        same_args(&tl, kept_args[i], args, n[i]);
    }
    tl_free(&tl);
}
END_TEST

/* Texts that begin alike and are as long, or one the other's begin. */
START_TEST(a_text_has_one_number)
{
    enum { TEXTS = 300, ASKED = 5000 };
    static tl_name known[TEXTS];
    tl_timeline tl;
    vpu_error err;

    seed = 5;
    memset(known, 0, sizeof known);
    ck_assert(!tl_init(&tl, &err));
    for (int i = 0; i < ASKED; i++) {
        uint64_t k = below(TEXTS);
        char text[24];
        tl_name name;

        snprintf(text, sizeof text, "%c%o", k % 2 ? 'x' : 'y', (unsigned)k);
        /* What stands behind it is not of it. */
        name = tl_intern(&tl, text, strlen(text));
        ck_assert(name && (!known[k] || known[k] == name));
        known[k] = name;
        ck_assert_str_eq(tl_text(&tl, name), text);
        text[strlen(text)] = 'z';
        ck_assert_uint_eq(tl_intern(&tl, text, strlen(tl_text(&tl, name))),
                          name);
    }
    for (int i = 0; i < TEXTS; i++)
        for (int k = 0; k < i; k++)
            ck_assert(!known[i] || known[i] != known[k]);
    tl_free(&tl);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("columns");
    TCase *t = tcase_create("columns");
    SRunner *r = srunner_create(s);
    int failed;

    suite_add_tcase(s, t);
    tcase_add_loop_test(t, every_slice_comes_back, 0, 30);
    tcase_add_test(t, equal_arguments_take_little);
    tcase_add_loop_test(t, instants_keep_their_arguments, 0, 4);
    tcase_add_test(t, a_text_has_one_number);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
