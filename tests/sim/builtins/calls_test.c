/* The table of runtime calls: every symbol leads to its row and nothing else
 * does, the properties that passes ask about, and the other tables that name
 * rows of it. */
#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/builtins/calls.h"
#include "sim/builtins/prelude.h"

/* --- symbols ------------------------------------------------------------- */

/* A symbol of the row, with a number where it is one of several. */
static void put_symbol(call_id id, unsigned number, char *out, size_t n)
{
    if (call_is_numbered(id))
        snprintf(out, n, "%s%u", call_symbol(id), number);
    else
        snprintf(out, n, "%s", call_symbol(id));
}

START_TEST(every_row_resolves_to_itself)
{
    call_id id = (call_id)_i;
    char symbol[64];

    ck_assert_msg(!strncmp(call_symbol(id), "__vpu_", 6), "%s",
                  call_symbol(id));
    ck_assert(call_is_reserved(call_symbol(id)));
    put_symbol(id, 0, symbol, sizeof symbol);
    ck_assert_int_eq(call_find(symbol), id);
    ck_assert_int_eq(call_named(symbol + 6), id);
    put_symbol(id, 4096, symbol, sizeof symbol);
    ck_assert_int_eq(call_find(symbol), id);
}
END_TEST

/* Not a row; or, changed into another one, that row and no other. */
static void is_no_other(const char *symbol)
{
    call_id id = call_find(symbol);

    if (id)
        ck_assert_msg(!strcmp(call_symbol(id), symbol), "%s is taken for %s",
                      symbol, call_symbol(id));
}

START_TEST(near_misses_do_not_resolve)
{
    char symbol[64], wrong[80];
    size_t n;

    put_symbol((call_id)_i, 3, symbol, sizeof symbol);
    n = strlen(symbol);
    ck_assert_int_eq(call_find(symbol + 1), CALL_NONE);
    ck_assert_int_eq(call_find(symbol + 6), CALL_NONE);
    snprintf(wrong, sizeof wrong, "_%s", symbol);
    ck_assert_int_eq(call_find(wrong), CALL_NONE);
    snprintf(wrong, sizeof wrong, "%sx", symbol);
    ck_assert_int_eq(call_find(wrong), CALL_NONE);
    snprintf(wrong, sizeof wrong, "%s.1", symbol);
    ck_assert_int_eq(call_find(wrong), CALL_NONE);
    for (size_t k = 6; k < n; k++) {
        memcpy(wrong, symbol, n + 1);
        wrong[k] = (char)toupper(wrong[k]);
        if (wrong[k] != symbol[k])
            ck_assert_int_eq(call_find(wrong), CALL_NONE);
        memmove(wrong + k, symbol + k + 1, n - k);
        is_no_other(wrong);
        memcpy(wrong, symbol, n + 1);
        wrong[k] = 0;
        is_no_other(wrong);
    }
}
END_TEST

static const char *const unknown[] = {"",
                                      "_",
                                      "__vpu",
                                      "__vpu_",
                                      "__vpu_.",
                                      "__vpu_1",
                                      "__vpu_nosuch",
                                      "__vpu_lid",
                                      "__vpu_lid3",
                                      "__vpu_exp",
                                      "__vpu_exp_f64",
                                      "__vpu_check",
                                      "__vpu_check.as",
                                      "__vpu_check.as4",
                                      "__vpu_check_origins",
                                      "__vpu_check_origins.",
                                      "__vpu_check_origins.x",
                                      "__vpu_undef.-1",
                                      "__vpu_dma.1",
                                      "exp_f16",
                                      "printf",
                                      "llvm.memcpy.p0.p0.i32",
                                      "i64.mul"};

START_TEST(other_names_do_not_resolve)
{
    ck_assert_int_eq(call_find(unknown[_i]), CALL_NONE);
}
END_TEST

START_TEST(every_row_has_a_symbol_of_its_own)
{
    for (int a = CALL_NONE + 1; a < CALL_N; a++)
        for (int b = a + 1; b < CALL_N; b++)
            ck_assert_str_ne(call_symbol((call_id)a), call_symbol((call_id)b));
}
END_TEST

/* --- properties ---------------------------------------------------------- */

/* What passes are told of the calls that are not values of their arguments. */
static const struct {
    const char *name;
    call_effect effect;
    bool collective, each, ends, is_long, needs_defined, check, access;
} likes[] = {
    {"barrier", CALL_MEETS, true, false, false, false, true, false, false},
    {"dma", CALL_MEETS, true, false, false, true, true, false, false},
    {"wait", CALL_MEETS, true, false, false, false, true, false, false},
    {"printf", CALL_ANYTHING, false, true, false, true, false, false, false},
    {"divergence", CALL_ENDS, false, false, true, false, false, false, false},
    {"check.as0", CALL_OBSERVES, false, false, false, false, false, true, true},
    {"check.as3", CALL_OBSERVES, false, false, false, false, false, true, true},
    {"check_block", CALL_OBSERVES, false, false, false, false, true, true,
     false},
    {"check_array", CALL_OBSERVES, false, false, false, false, false, true,
     false},
    {"check_if", CALL_TESTS, false, false, false, false, false, true, false},
    {"check_at", CALL_OBSERVES, false, false, false, false, false, true, false},
    {"check_events", CALL_READS, false, false, false, false, false, true,
     false},
    {"check_item", CALL_TELLS, false, false, false, false, false, true, false},
    {"check_barrier", CALL_TELLS, false, false, false, false, false, true,
     false},
    {"check_taint.8", CALL_OBSERVES, false, false, false, false, false, true,
     false},
    {"undef.0", CALL_MAKES, false, false, false, false, false, false, false},
    {"var", CALL_ANYTHING, false, false, false, false, false, false, false},
    {"line", CALL_ANYTHING, false, false, false, false, false, false, false},
    {"udiv", CALL_VALUE, false, false, false, false, false, false, false},
    {"lid1", CALL_VALUE, false, false, false, false, false, false, false},
    {"exp_f16", CALL_VALUE, false, false, false, false, false, false, false},
};

START_TEST(what_a_call_is_like)
{
    call_id id = call_named(likes[_i].name);

    ck_assert_int_ne(id, CALL_NONE);
    ck_assert_int_eq(call_effect_of(id), likes[_i].effect);
    ck_assert_int_eq(call_is_collective(id), likes[_i].collective);
    ck_assert_int_eq(call_is_for_each(id), likes[_i].each);
    ck_assert_int_eq(call_ends(id), likes[_i].ends);
    ck_assert_int_eq(call_is_long(id), likes[_i].is_long);
    ck_assert_int_eq(call_needs_defined(id), likes[_i].needs_defined);
    ck_assert_int_eq(call_is_check(id), likes[_i].check);
    ck_assert_int_eq(call_is_access(id), likes[_i].access);
}
END_TEST

START_TEST(no_call_has_no_property)
{
    bool half;

    ck_assert_int_eq(call_effect_of(CALL_NONE), CALL_ANYTHING);
    ck_assert(!call_is_collective(CALL_NONE) && !call_ends(CALL_NONE));
    ck_assert(!call_is_long(CALL_NONE) && !call_needs_defined(CALL_NONE));
    ck_assert(!call_is_id(CALL_NONE) && !call_is_check(CALL_NONE));
    ck_assert(!call_is_access(CALL_NONE) && !call_takes_floats(CALL_NONE));
    ck_assert(!call_is_plain(CALL_NONE) && !call_is_numbered(CALL_NONE));
    ck_assert_int_eq(call_item_dimension(CALL_NONE), -1);
    ck_assert_ptr_null(call_routine(CALL_NONE, &half));
    ck_assert_ptr_null(call_code(CALL_NONE));
    ck_assert_ptr_null(call_standard_name(CALL_NONE));
}
END_TEST

static const struct {
    const char *name;
    unsigned word;
    uint32_t beyond;
} ids[] = {{"grp", 0, 0}, {"lsz", 3, 1}, {"ngrp", 6, 1}, {"off", 9, 0}};

START_TEST(ids_of_a_group)
{
    char name[16];

    for (unsigned d = 0; d < 3; d++) {
        call_id id = call_of_id(ids[_i].name, d);

        snprintf(name, sizeof name, "%s%u", ids[_i].name, d);
        ck_assert_int_eq(id, call_named(name));
        ck_assert(call_is_id(id));
        ck_assert_uint_eq(call_word(id), ids[_i].word);
        ck_assert_uint_eq(call_dimension(id), d);
        ck_assert_int_eq(call_item_dimension(id), -1);
    }
    ck_assert_int_eq(call_of_id(ids[_i].name, 3), CALL_NONE);
    ck_assert_uint_eq(call_id_beyond(ids[_i].name), ids[_i].beyond);
}
END_TEST

START_TEST(the_id_of_an_item)
{
    for (unsigned d = 0; d < 3; d++) {
        call_id id = call_of_id("lid", d);

        ck_assert_int_eq(id, CALL_lid0 + d);
        ck_assert(call_is_id(id));
        ck_assert_int_eq(call_item_dimension(id), d);
    }
    ck_assert_int_eq(call_of_id("global_id", 0), CALL_NONE);
    ck_assert_uint_eq(call_id_beyond("lid"), 0);
}
END_TEST

START_TEST(routines)
{
    const builtin_routine *r = &builtin_routines[_i];

    for (int half = 0; half < 2; half++) {
        call_id id = call_of_routine(r->name, half);
        bool is_half;

        ck_assert_ptr_eq(call_routine(id, &is_half), r);
        ck_assert_int_eq(is_half, half);
        ck_assert_ptr_eq(call_code(id), half ? r->fn16 : r->fn32);
        ck_assert(call_takes_floats(id));
    }
}
END_TEST

START_TEST(values)
{
    static const struct {
        char direction;
        float half, i64;
    } rows[] = {{'z', 1.0f, -16777216.0f},
                {'p', 1.0009765625f, -16777216.0f},
                {'n', 1.0f, -16777218.0f}};
    bool half;

    for (int k = 0; k < 3; k++) {
        char c = rows[k].direction;
        builtin_half (*h)(float) =
            (builtin_half(*)(float))(uintptr_t)call_code(call_half_directed(c));
        float (*f)(int64_t) = (float (*)(int64_t))(uintptr_t)call_code(
            call_float_directed(true, c));
        float (*u)(uint64_t) = (float (*)(uint64_t))(uintptr_t)call_code(
            call_float_directed(false, c));

        ck_assert_float_eq((float)h(1.0001f), rows[k].half);
        ck_assert_float_eq(f(-16777217), rows[k].i64);
        ck_assert_float_eq(u(UINT64_C(1) << 63), 0x1p63f);
        ck_assert(call_takes_floats(call_half_directed(c)));
        ck_assert(!call_takes_floats(call_float_directed(true, c)));
        ck_assert_ptr_null(call_routine(call_half_directed(c), &half));
    }
    ck_assert_int_eq(call_half_directed('e'), CALL_NONE);
    ck_assert_int_eq(call_float_directed(true, 'q'), CALL_NONE);
    ck_assert(call_takes_floats(call_of_routine("nextafter", true)));
    ck_assert_int_eq(call_of_routine("nosuch", true), CALL_NONE);
    for (unsigned space = 0; space < 4; space++)
        ck_assert_int_eq(call_of_space(space), CALL_check_as0 + space);
}
END_TEST

/* --- other tables -------------------------------------------------------- */

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Does the prelude define the name as a macro? */
static bool is_macro(const char *name, size_t n)
{
    static const char define[] = "#define ";
    const char *p = builtin_prelude_text();

    while ((p = strstr(p, define))) {
        p += sizeof define - 1;
        if (!strncmp(p, name, n) && !is_letter(p[n]))
            return true;
    }
    return false;
}

START_TEST(the_prelude_names_rows_alone)
{
    bool found[CALL_N] = {false};
    unsigned n_names = 0;

    for (const char *p = builtin_prelude_text();
         (p = strstr(p, CALL_PREFIX));) {
        size_t n = 0;
        char name[64];

        while (is_letter(p[n]))
            n++;
        ck_assert_uint_lt(n, sizeof name);
        memcpy(name, p, n);
        name[n] = 0;
        if ((p == builtin_prelude_text() || !is_letter(p[-1])) &&
            !is_macro(p, n)) {
            call_id id = call_find(name);

            ck_assert_msg(call_standard_name(id) != NULL, "%s", name);
            found[id] = true;
            n_names++;
        }
        p += n;
    }
    ck_assert_uint_gt(n_names, 0);
    for (int id = 1; id < CALL_N; id++)
        ck_assert_msg(found[id] == (call_standard_name((call_id)id) != NULL),
                      "%s", call_symbol((call_id)id));
}
END_TEST

static const char *const signatures[] = {
#define SIGNATURE(name, parameters, meaning) #name,
#include "sim/builtins/signatures.def"
};
enum { N_SIGNATURES = sizeof signatures / sizeof *signatures };

/* Of functions that return nothing or an event; "" behind the last. */
static const char *next_declared(const char **at, char *name, size_t most)
{
    static const char *const results[] = {"event_t ", "void "};

    for (const char *p = *at; *p; p++)
        for (int i = 0; i < 2; i++) {
            size_t n = 0, r = strlen(results[i]);

            if (strncmp(p, results[i], r))
                continue;
            while (is_letter(p[r + n]))
                n++;
            if (!n || n >= most || p[r + n] != '(')
                continue;
            memcpy(name, p + r, n);
            name[n] = 0;
            *at = p + r + n;
            return name;
        }
    return "";
}

/* A call that fits no declaration is answered with a signature. */
START_TEST(what_the_prelude_declares_has_a_signature)
{
    bool found[N_SIGNATURES] = {false};
    const char *at = builtin_prelude_text();
    char word[64];

    while (*next_declared(&at, word, sizeof word)) {
        const char *standard = call_standard_name(call_find(word));
        const char *name = standard ? standard : word;
        int k = 0;

        if (!strncmp(name, "__builtin_", 10))
            continue;
        while (k < N_SIGNATURES && strcmp(signatures[k], name))
            k++;
        ck_assert_msg(k < N_SIGNATURES, "%s", name);
        found[k] = true;
    }
    for (int k = 0; k < N_SIGNATURES; k++)
        ck_assert_msg(found[k], "%s", signatures[k]);
}
END_TEST

START_TEST(the_prelude_says_what_rows_stand_for)
{
    unsigned n_rows = 0;
    const char *at;
    char text[128];

    for (int id = 1; id < CALL_N; id++) {
        const char *standard = call_standard_name((call_id)id);

        if (!standard)
            continue;
        snprintf(text, sizeof text, "#define %s ", standard);
        at = strstr(builtin_prelude_text(), text);
        ck_assert_msg(at != NULL, "%s", text);
        at += strlen(text);
        if (!strncmp(at, "/*", 2)) /* what editors show of it */
            at = strstr(at, "*/") + 2;
        at += strspn(at, " \\\n");
        snprintf(text, sizeof text, "%s\n", call_symbol((call_id)id));
        ck_assert_msg(!strncmp(at, text, strlen(text)), "%s: %.40s", standard,
                      at);
        n_rows++;
    }
    ck_assert_uint_gt(n_rows, 0);
}
END_TEST

static const struct {
    const char *name, *expander, *data;
} builtins[] = {
#define BUILTIN(name, fn, data, types) {#name, #fn, data},
#define FAMILY(name, fn, types)
#include "sim/builtins/builtins.def"
};

START_TEST(rows_of_built_ins_name_rows)
{
    const char *data = builtins[_i].data, *expander = builtins[_i].expander;

    if (call_is_reserved(builtins[_i].name))
        ck_assert_ptr_nonnull(call_standard_name(call_find(builtins[_i].name)));
    if (!strcmp(expander, "runtime"))
        ck_assert_int_ne(call_named(data), CALL_NONE);
    if (!strcmp(expander, "routine") || !strcmp(expander, "routine_i"))
        for (int half = 0; half < 2; half++)
            ck_assert_int_ne(call_of_routine(data, half), CALL_NONE);
    if (!strcmp(expander, "id") && strncmp(data, "global_", 7))
        ck_assert_int_ne(call_of_id(data, 0), CALL_NONE);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("runtime calls");
    TCase *symbol = tcase_create("symbols"), *like = tcase_create("properties");
    TCase *other = tcase_create("other tables");
    SRunner *r;
    int failed;

    tcase_add_loop_test(symbol, every_row_resolves_to_itself, 1, CALL_N);
    tcase_add_loop_test(symbol, near_misses_do_not_resolve, 1, CALL_N);
    tcase_add_loop_test(symbol, other_names_do_not_resolve, 0,
                        sizeof unknown / sizeof *unknown);
    tcase_add_test(symbol, every_row_has_a_symbol_of_its_own);
    tcase_add_loop_test(like, what_a_call_is_like, 0,
                        sizeof likes / sizeof *likes);
    tcase_add_test(like, no_call_has_no_property);
    tcase_add_loop_test(like, ids_of_a_group, 0, sizeof ids / sizeof *ids);
    tcase_add_test(like, the_id_of_an_item);
    tcase_add_loop_test(like, routines, 0, (int)builtin_n_routines);
    tcase_add_test(like, values);
    tcase_add_test(other, the_prelude_names_rows_alone);
    tcase_add_test(other, what_the_prelude_declares_has_a_signature);
    tcase_add_test(other, the_prelude_says_what_rows_stand_for);
    tcase_add_loop_test(other, rows_of_built_ins_name_rows, 0,
                        sizeof builtins / sizeof *builtins);
    suite_add_tcase(s, symbol);
    suite_add_tcase(s, like);
    suite_add_tcase(s, other);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
