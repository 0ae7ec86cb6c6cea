/* A timeline as text: its letters against a plain list of slices, its bytes,
 * and vpu view --text from outside. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/terminal.h"
#include "visualizer/text.h"

enum { MAX = 900, LABEL = 26 };

static const char *const causes[] = {"issue",       "L2 stall",  "DDR stall",
                                     "store stall", "DMA setup", "DMA wait",
                                     "dispatch",    "idle"};

typedef struct {
    uint64_t begin, end;
    int class;
} plain;

static plain put[MAX];
static uint64_t seed;

static uint64_t next_random(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

/* One SHAVE with n causes, gaps between some. */
static void make(tl_timeline *tl, int n)
{
    uint64_t t = 0;
    vpu_error err;
    uint32_t row;

    seed = (uint64_t)n * 7919 + 1;
    ck_assert(!tl_init(tl, &err));
    tl->clk_mhz = 700;
    row = tl_row_at(tl, 4);
    tl_row_describe(tl, row, 3, "SHAVE 0", false);
    for (int i = 0; i < n; i++) {
        plain *p = &put[i];

        p->class = (int)next_random(8);
        p->begin = t += next_random(3) ? 0 : next_random(50);
        p->end = t += next_random(5) ? next_random(400) : 0;
        tl_add_begin(tl, row, p->begin, causes[p->class]);
        tl_add_end(tl, row, p->end);
    }
    tl_finish(tl);
}

static char letter_of(int n, uint64_t a, uint64_t b)
{
    static const char large[] = "#LDSUWP.", small[] = "+ldsuwp.";
    uint64_t sums[8] = {0};
    int best = 0;

    for (int i = 0; i < n; i++) {
        uint64_t lo = put[i].begin > a ? put[i].begin : a;
        uint64_t hi = put[i].end < b ? put[i].end : b;

        sums[put[i].class] += hi > lo ? hi - lo : 0;
    }
    for (int c = 1; c < 8; c++)
        if (sums[c] > sums[best])
            best = c;
    return !sums[best]               ? ' '
           : sums[best] * 2 >= b - a ? large[best]
                                     : small[best];
}

/* The line that begins with those words, its cells up to its end. */
static char *cells_of(const char *text, const char *name)
{
    const char *at = text, *end;

    while (strncmp(at, name, strlen(name)) != 0) {
        at = strchr(at, '\n');
        ck_assert_msg(at, "no line %s in\n%s", name, text);
        at++;
    }
    ck_assert(at = strchr(at, '|'));
    end = strchr(at, '\n');
    return strndup(at + 1, (size_t)(end - at - 1));
}

START_TEST(letters_are_what_most_of_a_column_is)
{
    static const int sizes[] = {1, 7, 60, 64, 200, MAX};
    int n = sizes[_i];
    tl_timeline tl;
    vpu_error err;
    view v;

    make(&tl, n);
    ck_assert(!view_init(&v, &tl, &err));
    for (uint32_t columns = 40; columns <= 400; columns = columns * 2 + 3) {
        for (int k = 0; k < 3; k++) {
            str out = {0};
            char *got;
            uint32_t wide = columns - LABEL;

            view_move(&v, (double)tl.end * k / 5, (double)tl.end * (k + 2) / 5);
            text_timeline(&v, &(text_options){.columns = columns}, &out);
            got = cells_of(str_text(&out), "SHAVE 0");
            ck_assert_uint_le(strlen(got), wide);
            for (uint32_t i = 0; i < wide; i++) {
                uint64_t a = (uint64_t)(v.from + (v.to - v.from) * i / wide);
                uint64_t b =
                    (uint64_t)(v.from + (v.to - v.from) * (i + 1) / wide);
                char want = letter_of(n, a, b);

                ck_assert_msg(want == (i < strlen(got) ? got[i] : ' '),
                              "%d slices, %u columns, column %u: %c in '%s'", n,
                              columns, i, want, got);
            }
            free(got);
            /* The first mark of the axis stands above tick 0's column. */
            got = strchr(strchr(str_text(&out), '\n') + 1, '\n') + 1;
            ck_assert(k || strspn(got, " ") == LABEL);
            str_free(&out);
        }
    }
    view_free(&v);
    tl_free(&tl);
}
END_TEST

/* Names as they come; the sizes of things that cannot be drawn. */
static void add_others(tl_timeline *tl)
{
    static const char *const names[] = {"\x1b[2J\r\nx",
                                        "h\xc3\xa9t\xc3\xa9roclite", "\xff\xfe",
                                        "plain 7", "\xe2\x80\xae reversed"};
    uint32_t row = tl_row_at(tl, 9);

    tl_row_describe(tl, row, 0, "t\x1b\x07r\xe2\x80\xa8k", false);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tl_add_begin(tl, row, i * 10000, names[i]);
        tl_add_end(tl, row, i * 10000 + 9000);
    }
    row = tl_row_at(tl, 11);
    tl_row_describe(tl, row, 0, "DDR bytes/cycle", true);
    tl_add_value(tl, row, 0, 0);
    tl_add_value(tl, row, 20000, 4);
    tl_add_value(tl, row, 30000, 10);
    tl_finish(tl);
}

START_TEST(only_printable_ascii_in_so_many_columns)
{
    tl_timeline tl;
    vpu_error err;
    view_slice found;
    view v;

    make(&tl, 200);
    add_others(&tl);
    ck_assert(!view_init(&v, &tl, &err));
    ck_assert(view_search(&v, "reversed", 1, &found));
    view_select(&v, &found);
    for (uint32_t columns = 0; columns < 1100; columns += 55) {
        text_options o = {.columns = columns,
                          .title = "\x9b"
                                   "31m\ttitle"};
        uint32_t most = columns < 40 ? 40 : columns > 1000 ? 1000 : columns;
        str a = {0}, b = {0};
        size_t at = 0;

        text_timeline(&v, &o, &a);
        text_timeline(&v, &o, &b);
        ck_assert_uint_eq(a.n, b.n);
        ck_assert_mem_eq(a.data, b.data, a.n);
        for (size_t i = 0; i < a.n; i++, at++) {
            ck_assert_msg(a.data[i] == '\n' ||
                              (a.data[i] >= 32 && a.data[i] < 127),
                          "byte %d", a.data[i]);
            if (a.data[i] == '\n' && at && i > at &&
                strchr("SDt ", a.data[i - at]) && columns >= 120)
                ck_assert_uint_le(at, most);
            if (a.data[i] == '\n')
                at = (size_t)-1;
        }
        if (columns > 300)
            ck_assert_msg(strstr(a.data, "[plain 7-") &&
                              strstr(a.data, "[h?t?roclite-"),
                          "%s", a.data);
        ck_assert(strstr(a.data, "selected: ? reversed on t??r?k, from "));
        str_free(&a);
        str_free(&b);
    }
    view_free(&v);
    tl_free(&tl);
}
END_TEST

/* Colours change nothing else. */
START_TEST(colors_are_codes_around_the_same_text)
{
    tl_timeline tl;
    vpu_error err;
    view v;
    str plain_text = {0}, colored = {0}, without = {0};

    make(&tl, 200);
    ck_assert(!view_init(&v, &tl, &err));
    text_timeline(&v, &(text_options){.columns = 120}, &plain_text);
    text_timeline(&v, &(text_options){.columns = 120, .color = true}, &colored);
    for (const char *p = str_text(&colored); *p; p++) {
        if (*p == '\033')
            ck_assert(p = strchr(p, 'm'));
        else
            str_add(&without, p, 1);
    }
    ck_assert_str_eq(str_text(&plain_text), str_text(&without));
    /* 0x009e73: 16 + 36 * 0 + 6 * 3 + 2 of the 216 colours */
    ck_assert(strstr(str_text(&colored), "\033[38;5;36m#"));
    str_free(&plain_text);
    str_free(&colored);
    str_free(&without);
    view_free(&v);
    tl_free(&tl);
}
END_TEST

/* Tenths of what DDR has at most. */
/* What a damaged trace may hold: no row but a counter's, and slices on a track
 * that is said to be one. Nothing is selected in either. */
START_TEST(rows_of_other_kinds)
{
    tl_timeline tl = {0};
    vpu_error err;
    view v;
    str out = {0};
    uint32_t row;

    ck_assert(!tl_init(&tl, &err));
    row = tl_row_at(&tl, 4);
    tl_row_describe(&tl, row, 3, "mixed", true);
    if (_i) {
        tl_add_begin(&tl, row, 10, "work");
        tl_add_end(&tl, row, 100);
    }
    tl_add_value(&tl, row, 0, 5); /* behind slices it is dropped */
    tl_add_value(&tl, row, 200, 7);
    tl_finish(&tl);
    ck_assert_int_eq(tl.rows[row].kind, _i ? TL_ROW_OTHER : TL_ROW_COUNTER);
    ck_assert(!view_init(&v, &tl, &err));
    text_timeline(&v, &(const text_options){.columns = 60}, &out);
    ck_assert_msg(strstr(str_text(&out), "mixed") != NULL, "%s",
                  str_text(&out));
    str_free(&out);
    view_free(&v);
    tl_free(&tl);
}
END_TEST

START_TEST(counters_are_digits)
{
    tl_timeline tl;
    vpu_error err;
    view v;
    str out = {0};
    char *got;

    ck_assert(!tl_init(&tl, &err));
    add_others(&tl);
    ck_assert(!view_init(&v, &tl, &err));
    view_move(&v, 0, 40000);
    text_timeline(&v, &(text_options){.columns = LABEL + 40}, &out);
    got = cells_of(str_text(&out), "DDR bytes");
    ck_assert_str_eq(got, "                    44444444449999999999");
    free(got);
    str_free(&out);
    view_free(&v);
    tl_free(&tl);
}
END_TEST

/* --- from outside -------------------------------------------------------- */

static terminal p;

static void setup(void)
{
    terminal_open(&p);
    terminal_text(&p, "layer.xml",
                  "<CustomLayer name=\"L\" type=\"MVCL\" version=\"1\">"
                  "<Kernel entry=\"k\"><Source filename=\"k.cl\"/>"
                  "<Parameters><Tensor arg-name=\"in\" type=\"input\" "
                  "port-index=\"0\" format=\"BFYX\"/><Tensor arg-name=\"out\" "
                  "type=\"output\" port-index=\"0\" format=\"BFYX\"/>"
                  "</Parameters><WorkSizes dim=\"input,0\" global=\"Y,F,B\" "
                  "local=\"1,1,1\"/></Kernel></CustomLayer>");
    terminal_text(&p, "k.cl",
                  "__kernel void k(__global const half *in, __global half "
                  "*out) { int i = get_global_id(0) + get_global_id(1) * "
                  "get_global_size(0); for (int x = 0; x < 16; x++) out[i * 16 "
                  "+ x] = in[i * 16 + x] * (half)2; }");
    terminal_run(&p, "run layer.xml --shape in0=1x4x8x16 --input 0=random:1 "
                     "--trace t.pftrace");
    ck_assert_msg(!p.status, "%s", p.err);
}

static void teardown(void)
{
    terminal_close(&p);
}

/* Cycles of "issue" of all SHAVEs in the CSV. */
static double issued(void)
{
    size_t n;
    const char *csv = terminal_bytes(&p, "t.csv", &n);
    double sum = 0;

    for (const char *at = csv; (at = strstr(at, "\n\"SHAVE ")); at++) {
        const char *cause = strstr(at, ",1,\"issue\",");

        if (cause && cause < strchr(at + 1, '\n'))
            sum += atof(strchr(cause + 11, ',') + 1);
    }
    return sum;
}

START_TEST(figures_are_the_tables)
{
    const char *first, *at;
    double share;

    terminal_run(&p, "view t.pftrace --text --csv t.csv --unit cycles");
    ck_assert_msg(!p.status, "%s", p.err);
    first = strdup(p.out);
    ck_assert(at = strstr(first, "  issue "));
    share = 16 * atof(strpbrk(at, "0123456789")) / 100;
    ck_assert(at = strstr(first, "t  "));
    /* "t  1 234 cycles at 700 MHz" */
    {
        double all = 0;

        for (at += 3; strncmp(at, " cycles", 7) != 0; at++)
            all = *at == ' ' ? all : all * 10 + (*at - '0');
        ck_assert_msg(share * all > issued() - 0.001 * 16 * all &&
                          share * all < issued() + 0.001 * 16 * all,
                      "%f of %f: %f\n%s", share, all, issued(), first);
    }
    terminal_run(&p, "view t.pftrace --text --unit cycles");
    ck_assert_str_eq(p.out, first);
    ck_assert(!strchr(first, '\033'));
    free((char *)first);
}
END_TEST

START_TEST(ranges_units_and_selections)
{
    terminal_run(&p, "view t.pftrace --text --range 1us..5us --columns 80 "
                     "--unit ns --select comp");
    ck_assert_msg(!p.status, "%s", p.err);
    ck_assert_msg(strstr(p.out, "; here 1 000 ns to 5 000 ns\n"), "%s", p.out);
    ck_assert(strstr(p.out, "\nselected: comp "));
    for (const char *at = p.out; (at = strstr(at, "\nSHAVE ")); at++)
        ck_assert_int_le(strchr(at + 1, '\n') - at - 1, 80);
}
END_TEST

START_TEST(a_terminal_has_colors_unless_not_wanted)
{
    static const struct {
        const char *term, *none;
        bool colored;
    } cases[] = {{"xterm", NULL, true},
                 {"xterm", "", true},
                 {"xterm", "1", false},
                 {"dumb", NULL, false}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int master = posix_openpt(O_RDWR | O_NOCTTY);
        bool colored = false;
        char bytes[512];
        ssize_t n;
        pid_t pid;

        ck_assert(master >= 0 && !grantpt(master) && !unlockpt(master));
        p.out_fd = open(ptsname(master), O_RDWR | O_NOCTTY);
        ck_assert_int_ge(p.out_fd, 0);
        setenv("TERM", cases[i].term, 1);
        if (cases[i].none)
            setenv("NO_COLOR", cases[i].none, 1);
        else
            unsetenv("NO_COLOR");
        pid = terminal_start(&p, "view t.pftrace --text");
        close(p.out_fd);
        p.out_fd = 0;
        while ((n = read(master, bytes, sizeof bytes)) > 0)
            colored |= memchr(bytes, '\033', (size_t)n) != NULL;
        terminal_wait(&p, pid);
        close(master);
        ck_assert_int_eq(p.status, 0);
        ck_assert_int_eq(colored, cases[i].colored);
    }
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        const char *args, *says;
    } bad[] = {{"view t.pftrace --columns 80 --png x.png", "--text"},
               {"view t.pftrace --text --columns 39", "--columns"},
               {"view t.pftrace --text --columns 1001", "--columns"},
               {"view t.pftrace --text --columns many", "--columns"},
               {"view t.pftrace --text --compare t.pftrace", "--compare"},
               {"view t.pftrace --text --follow", "--follow"}};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        terminal_run(&p, bad[i].args);
        terminal_expect(&p, 2, bad[i].says);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("text");
    TCase *t = tcase_create("text"), *outside = tcase_create("outside");
    SRunner *r = srunner_create(s);
    int failed;

    suite_add_tcase(s, t);
    tcase_add_loop_test(t, letters_are_what_most_of_a_column_is, 0, 6);
    tcase_add_test(t, only_printable_ascii_in_so_many_columns);
    tcase_add_test(t, colors_are_codes_around_the_same_text);
    tcase_add_test(t, counters_are_digits);
    tcase_add_loop_test(t, rows_of_other_kinds, 0, 2);
    suite_add_tcase(s, outside);
    tcase_set_timeout(outside, 120);
    tcase_add_checked_fixture(outside, setup, teardown);
    tcase_add_test(outside, figures_are_the_tables);
    tcase_add_test(outside, ranges_units_and_selections);
    tcase_add_test(outside, a_terminal_has_colors_unless_not_wanted);
    tcase_add_test(outside, refusals);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
