/* Colours that people with any colour vision tell apart, by a published model
 * of their vision, and text that can be read, by the contrast that WCAG 2 asks.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "visualizer/theme.h"

typedef struct {
    double v[3];
} triple;

static double linear(uint32_t byte)
{
    double x = byte / 255.0;

    return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

static triple linear_rgb(cv_color c)
{
    return (triple){
        {linear(c >> 16 & 255), linear(c >> 8 & 255), linear(c & 255)}};
}

static triple apply(const double m[3][3], triple x)
{
    triple y;

    for (int i = 0; i < 3; i++)
        y.v[i] = m[i][0] * x.v[0] + m[i][1] * x.v[1] + m[i][2] * x.v[2];
    return y;
}

/* CIE L*a*b*, of white D65. */
static triple lab(triple rgb)
{
    static const double to_xyz[3][3] = {{0.4124, 0.3576, 0.1805},
                                        {0.2126, 0.7152, 0.0722},
                                        {0.0193, 0.1192, 0.9505}},
                        white[3] = {0.9505, 1, 1.089};
    triple x = apply(to_xyz, rgb);
    double f[3];

    for (int i = 0; i < 3; i++) {
        double t = fmax(x.v[i] / white[i], 0);

        f[i] = t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
    }
    return (triple){
        {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])}};
}

static double difference(const double vision[3][3], cv_color a, cv_color b)
{
    triple x = apply(vision, linear_rgb(a)), y = apply(vision, linear_rgb(b));
    double sum = 0;

    for (int i = 0; i < 3; i++) {
        x.v[i] = fmin(fmax(x.v[i], 0), 1);
        y.v[i] = fmin(fmax(y.v[i], 0), 1);
    }
    x = lab(x);
    y = lab(y);
    for (int i = 0; i < 3; i++)
        sum += (x.v[i] - y.v[i]) * (x.v[i] - y.v[i]);
    return sqrt(sum);
}

/* Machado, Oliveira, Fernandes 2009, severity 1, on linear light. */
static const double visions[][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868}, /* protanopia */
     {0.114503, 0.786281, 0.099216},
     {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968}, /* deuteranopia */
     {0.280085, 0.672501, 0.047413},
     {-0.011820, 0.042940, 0.968881}},
    {{1.255528, -0.076749, -0.178779}, /* tritanopia */
     {-0.078411, 0.930809, 0.147602},
     {0.004733, 0.691367, 0.303900}}};

/* A just noticeable difference is about 2.3 of these; areas beside each other,
 * and a legend away from them, want several of those. */
enum { APART = 15 };

/* Causes and directions of transfers: two of one pattern differ in colour. */
START_TEST(classes)
{
    const theme *t = _i % 2 ? &theme_dark : &theme_light;
    int vision = _i / 2;

    for (int a = 0; a < TL_OTHER; a++)
        for (int b = 0; b < a; b++) {
            double d = difference(visions[vision], t->class_color[a],
                                  t->class_color[b]);

            ck_assert_msg(t->class_pattern[a] != t->class_pattern[b] ||
                              d >= APART,
                          "%s and %s: %.1f", tl_class_name((tl_class)a),
                          tl_class_name((tl_class)b), d);
        }
}
END_TEST

static double luminance(cv_color c)
{
    triple x = linear_rgb(c);

    return 0.2126 * x.v[0] + 0.7152 * x.v[1] + 0.0722 * x.v[2];
}

static double contrast(cv_color a, cv_color b)
{
    double x = luminance(a) + 0.05, y = luminance(b) + 0.05;

    return x > y ? x / y : y / x;
}

/* Text on all it stands on; names on slices. */
START_TEST(text)
{
    const theme *t = _i ? &theme_dark : &theme_light;
    const cv_color on[] = {t->page, t->panel, t->row, t->row_alternate},
                   texts[] = {t->text, t->dim, t->warn};

    for (size_t i = 0; i < sizeof on / sizeof *on; i++)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            ck_assert_msg(contrast(on[i], texts[k]) >= 4.5,
                          "text %zu on %zu: %.2f", k, i,
                          contrast(on[i], texts[k]));
    for (int k = 0; k < CODE_N_KINDS; k++)
        ck_assert_msg(contrast(t->panel, t->code[k]) >= 4.5 &&
                          contrast(t->page, t->code[k]) >= 4.5,
                      "code %d", k);
    for (int c = 0; c < TL_N_CLASSES; c++)
        ck_assert_msg(
            contrast(t->class_color[c], theme_on(t->class_color[c])) >= 3,
            "class %d: %.2f", c,
            contrast(t->class_color[c], theme_on(t->class_color[c])));
    for (int i = 0; i < 3; i++)
        ck_assert_double_ge(contrast(t->phase[i], theme_on(t->phase[i])), 3);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("themes");
    TCase *tc = tcase_create("themes");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_loop_test(tc, classes, 0, 8);
    tcase_add_loop_test(tc, text, 0, 2);
    suite_add_tcase(s, tc);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
