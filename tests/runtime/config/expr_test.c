/* Expressions: the language, the values and every error. */
#include "runtime/config/expr.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const config_var vars[] = {
    {"X", {.integer = 100}},
    {"Y", {.integer = 7}},
    {"F", {.integer = 24}},
    {"B", {.integer = 1}},
    {"x", {.integer = 100}},
    {"big", {.integer = 2147483647}},
    {"low", {.integer = INT32_MIN}},
    {"minus", {.integer = -1}},
    {"neg", {.integer = -7}},
    {"factor", {.is_float = true, .real = 2.5f}},
    {"huge", {.too_large = true, .real = 1e11f}},
    {"X", {.integer = 5}},
    {"half_scale", {.is_float = true, .real = 0.5f}},
};
enum { N_VARS = sizeof vars / sizeof *vars };

static config_expr at(const char *text)
{
    return (config_expr){text, strlen(text), "layer.xml", 12, 30};
}

static const struct {
    const char *text;
    int32_t value;
} values[] = {
    {"1", 1},
    {"X*Y", 700},
    {" X\t+ 1 ", 101},
    {"2+3*4", 14},
    {"(2+3)*4", 20},
    {"10-4-3", 3},
    {"100/10/2", 5},
    {"7/2", 3},
    {"neg/2", -3},
    {"neg%4", -3},
    {"((Y+7)/8)*8", 8},
    {"X%8", 4},
    {"7/2.0", 3},
    {"7.9", 7},
    {"neg/2.0", -3},
    {"1.5*2", 3},
    {"1e2", 100},
    {"2e3+1", 2001},
    {"Y*factor", 17},
    {"round(Y*factor)", 18},
    {"floor(X/3)*3", 99},
    {"ceil(X/3.0)", 34},
    {"floor X/3", 33}, /* a function outranks the operator */
    {"round(2.5)", 3}, /* half away from zero */
    {"round(0-2.5)", -3},
    {"abs(neg)", 7},
    {"abs neg", 7},
    {"sqrt(X)", 10},
    {"sqrt(abs(neg)+2)", 3},
    {"floor(ceil(1.2))", 2},
    {"((((1))))", 1},
    {"2 3 +", 5}, /* whatever the shunting-yard takes */
    {"X*half_scale", 50},
    {"16777217", 16777217}, /* ints do not pass through a float */
    {"2147483647", 2147483647},
    {"big+0", 2147483647},
    {"low+0", INT32_MIN},
    {"0x10", 16},
    {"X", 100}, /* the first of equal names */
    {"(1)(2)+", 3},
};

START_TEST(evaluates)
{
    config_expr e = at(values[_i].text);
    vpu_error err = {0};
    int32_t v = -99;

    ck_assert_msg(!config_expr_eval(&e, vars, N_VARS, &v, &err), "%s", err.msg);
    ck_assert_msg(v == values[_i].value, "%s is %d, not %d", values[_i].text, v,
                  values[_i].value);
}
END_TEST

static const struct {
    const char *text;
    vpu_status st;
    const char *says;
} errors[] = {
    {"", VPU_ERR_PARSE, "nothing to evaluate"},
    {" ", VPU_ERR_PARSE, "nothing to evaluate"},
    {"()", VPU_ERR_PARSE, "nothing to evaluate"},
    {"1 2", VPU_ERR_PARSE, "not enough operators"},
    {"-1", VPU_ERR_PARSE, "not enough values for operator"},
    {"X*-1", VPU_ERR_PARSE, "not enough values for operator"},
    {"X*", VPU_ERR_PARSE, "not enough values for operator"},
    {"floor()", VPU_ERR_PARSE, "not enough values for function"},
    {"(X", VPU_ERR_PARSE, "mismatched parentheses"},
    {"X)", VPU_ERR_PARSE, "mismatched parentheses"},
    {"Z+1", VPU_ERR_PARSE, "unknown name 'Z'"},
    {"kernel_x*2", VPU_ERR_PARSE, "unknown name 'kernel_x'"},
    {"Floor(X)", VPU_ERR_PARSE, "unknown name 'Floor'"},
    {"X&Y", VPU_ERR_PARSE, "unknown token '&'"},
    {"X,Y", VPU_ERR_PARSE, "unknown token ','"},
    {"_a", VPU_ERR_PARSE, "unknown token '_'"},
    {".5", VPU_ERR_PARSE, "unknown token '.'"},
    {"X\n", VPU_ERR_PARSE, "unknown token (byte 10)"},
    {"\xc3\xa4", VPU_ERR_PARSE, "unknown token (byte -61)"},
    {"1e99", VPU_ERR_PARSE, "does not fit a float"},
    {"2147483648", VPU_ERR_INVALID, "the number 2147483648 does not fit"},
    {"99999999999999999999", VPU_ERR_INVALID, "does not fit 32 bits"},
    {"X*4294967297", VPU_ERR_INVALID, "4294967297 does not fit 32 bits"},
    {"huge+1", VPU_ERR_INVALID, "the parameter 'huge' is about 1e+11"},
    {"1/0", VPU_ERR_INVALID, "division by zero"},
    {"X%(Y-7)", VPU_ERR_INVALID, "division by zero"},
    {"1/0.0", VPU_ERR_INVALID, "division by zero"},
    {"big+1", VPU_ERR_INVALID, "overflows 32 bits"},
    {"low-1", VPU_ERR_INVALID, "overflows 32 bits"},
    {"big*2", VPU_ERR_INVALID, "2147483647 * 2 overflows 32 bits"},
    {"low/minus", VPU_ERR_INVALID, "overflows 32 bits"},
    {"low%minus", VPU_ERR_INVALID, "overflows 32 bits"},
    {"5%2.0", VPU_ERR_INVALID, "floating point"},
    {"1e38*1e38", VPU_ERR_INVALID, "overflows a float"},
    {"1e10", VPU_ERR_INVALID, "does not fit 32 bits"},
    {"0-1e10", VPU_ERR_INVALID, "does not fit 32 bits"},
    {"big*1.0", VPU_ERR_INVALID, "does not fit 32 bits"},
    {"sqrt(neg)", VPU_ERR_INVALID, "sqrt of the negative value -7"},
};

START_TEST(refuses)
{
    config_expr e = at(errors[_i].text);
    vpu_error err = {0};
    int32_t v;
    vpu_status st = config_expr_eval(&e, vars, N_VARS, &v, &err);

    ck_assert_msg(st == errors[_i].st, "'%s' gives %d", errors[_i].text, st);
    ck_assert_msg(strstr(err.msg, errors[_i].says) != NULL, "%s", err.msg);
    ck_assert_msg(!strncmp(err.msg, "layer.xml:12:30: error: expression '", 36),
                  "%s", err.msg);
    ck_assert_uint_eq(err.line, 12);
}
END_TEST

START_TEST(checks_without_evaluating)
{
    config_expr good = at("1/0"), odd = at("X*"), bad = at("X*Q");
    vpu_error err;

    ck_assert_int_eq(config_expr_check(&good, vars, N_VARS, &err), VPU_OK);
    ck_assert_int_eq(config_expr_check(&odd, vars, N_VARS, &err), VPU_OK);
    ck_assert_int_eq(config_expr_check(&bad, vars, N_VARS, &err),
                     VPU_ERR_PARSE);
}
END_TEST

START_TEST(long_ones)
{
    static char text[4 * CONFIG_EXPR_MAX];
    config_expr e;
    vpu_error err;
    int32_t v;

    memset(text, '(', CONFIG_EXPR_MAX / 2 - 1);
    text[CONFIG_EXPR_MAX / 2 - 1] = '1';
    memset(text + CONFIG_EXPR_MAX / 2, ')', CONFIG_EXPR_MAX / 2 - 1);
    e = at(text);
    ck_assert_int_eq(config_expr_eval(&e, NULL, 0, &v, &err), VPU_OK);
    ck_assert_int_eq(v, 1);
    memset(text, '(', sizeof text - 1);
    e = at(text);
    ck_assert_int_eq(config_expr_eval(&e, NULL, 0, &v, &err), VPU_ERR_LIMIT);
    e.length = CONFIG_EXPR_MAX;
    ck_assert_int_eq(config_expr_eval(&e, NULL, 0, &v, &err), VPU_ERR_PARSE);
}
END_TEST

START_TEST(splits_lists)
{
    config_expr list = at("X*2, Y ,1"), items[3];
    vpu_error err;
    size_t n;

    ck_assert_int_eq(config_expr_split(&list, 3, items, &n, &err), VPU_OK);
    ck_assert_uint_eq(n, 3);
    ck_assert_mem_eq(items[1].text, " Y ", 3);
    ck_assert_uint_eq(items[1].length, 3);
    ck_assert_uint_eq(items[2].col, 38);
    ck_assert_int_eq(config_expr_split(&list, 2, items, &n, &err),
                     VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(err.msg, "3 comma-separated parts"));
    list = at("");
    ck_assert_int_eq(config_expr_split(&list, 3, items, &n, &err), VPU_OK);
    ck_assert_uint_eq(n, 1);
}
END_TEST

static const struct {
    const char *text;
    bool ok, is_float;
    double value;
} numbers[] = {
    {"3", true, false, 3},     {"-3", true, false, -3},
    {" 3 ", true, false, 3},   {"3.7", true, true, 3.7f},
    {"", true, false, 0},      {"1e3", true, true, 1000},
    {".5", true, true, 0.5},   {"3,3", false, false, 0},
    {"true", false, false, 0}, {"0x10", false, false, 0},
    {"inf", false, false, 0},  {"nan", false, false, 0},
    {"1e99", false, false, 0}, {"99999999999", true, false, 99999999999},
    {"-", false, false, 0},    {"-99999999999", true, false, -99999999999},
};

START_TEST(parameter_values)
{
    config_value v;
    bool ok = config_number_value(numbers[_i].text, &v);

    ck_assert_msg(ok == numbers[_i].ok, "'%s'", numbers[_i].text);
    if (ok) {
        ck_assert_int_eq(v.is_float, numbers[_i].is_float);
        ck_assert_int_eq(v.too_large, fabs(numbers[_i].value) > 1e10);
        ck_assert_double_eq(
            v.is_float || v.too_large ? (double)v.real : v.integer,
            v.too_large ? (double)(float)numbers[_i].value : numbers[_i].value);
    }
}
END_TEST

static const struct {
    const char *text;
    unsigned uses;
} uses[] = {
    {"X+y*2", 0},
    {"(X - 1) % 3", 0},
    {"round(X)", CONFIG_EXPR_NAMES},
    {"big", CONFIG_EXPR_NAMES},
    {"1.5*X", CONFIG_EXPR_FRACTIONS},
    {"2e3", CONFIG_EXPR_FRACTIONS},
    {"floor(Y*0.5)", CONFIG_EXPR_NAMES | CONFIG_EXPR_FRACTIONS},
    {"", 0},
};

START_TEST(features)
{
    config_expr e = at(uses[_i].text);

    ck_assert_uint_eq(config_expr_uses(&e, vars, N_VARS), uses[_i].uses);
}
END_TEST

static bool is_dimension(const char *name)
{
    return strlen(name) == 1 && strchr("bBfFyYxX", *name);
}

static bool is_found(const char *text, const char *name)
{
    config_expr e = at(text);
    const char *found;
    size_t from = 0, n;

    while ((found = config_expr_name(&e, &from, &n)))
        if (n == strlen(name) && !memcmp(found, name, n))
            return true;
    return false;
}

/* An expression can be read without the parameters that are not found in it,
 * and not without one that is. */
START_TEST(names)
{
    const char *text = values[_i].text;
    config_var some[N_VARS];
    config_expr e = at(text);
    vpu_error err;
    size_t n = 0, k;

    for (size_t i = 0; i < N_VARS; i++)
        if (is_dimension(vars[i].name) || is_found(text, vars[i].name))
            some[n++] = vars[i];
    ck_assert_msg(!config_expr_check(&e, some, n, &err), "%s", err.msg);
    for (size_t i = 0; i < n; i++) {
        config_var without[N_VARS];

        if (is_dimension(some[i].name))
            continue;
        memcpy(without, some, sizeof without);
        k = n - 1;
        without[i] = some[k];
        ck_assert_msg(config_expr_check(&e, without, k, &err) == VPU_ERR_PARSE,
                      "%s without %s", text, some[i].name);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("expr");
    TCase *t = tcase_create("expr");
    SRunner *r;
    int failed;

    tcase_add_loop_test(t, evaluates, 0, sizeof values / sizeof *values);
    tcase_add_loop_test(t, names, 0, sizeof values / sizeof *values);
    tcase_add_loop_test(t, features, 0, sizeof uses / sizeof *uses);
    tcase_add_loop_test(t, refuses, 0, sizeof errors / sizeof *errors);
    tcase_add_test(t, checks_without_evaluating);
    tcase_add_test(t, long_ones);
    tcase_add_test(t, splits_lists);
    tcase_add_loop_test(t, parameter_values, 0,
                        sizeof numbers / sizeof *numbers);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
