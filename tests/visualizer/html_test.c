/* The page as a file: its structure, its data against a plain list of slices,
 * names that mean harm, and failures. What a browser does with it is asked by
 * scripts/check-html. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/terminal.h"
#include "visualizer/html.h"

enum { MANY = 5000, FEW = 70 };

static const char *const names[] = {"issue", "DDR stall", "DMA wait", "idle"};
static const tl_class classes[] = {TL_ISSUE, TL_DDR, TL_DMA_WAIT, TL_IDLE};

typedef struct {
    uint64_t begin, length;
    int name;
} plain;

static plain many[MANY];
static terminal p;
static tl_timeline tl;
static view v;

static void add_slice(uint32_t row, uint64_t begin, uint64_t end,
                      const char *name)
{
    tl_add_begin(&tl, row, begin, name);
    tl_add_end(&tl, row, end);
}

/* A SHAVE with MANY causes, a track with FEW numbered slices with arguments, a
 * counter. */
static void make(void)
{
    uint64_t t = 0, seed = 88172645463325252u;
    vpu_error err;
    uint32_t row;

    ck_assert(!tl_init(&tl, &err));
    tl.clk_mhz = 700;
    row = tl_row_at(&tl, 4);
    tl_row_describe(&tl, row, 3, "SHAVE 0", false);
    for (int i = 0; i < MANY; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        many[i].name = (int)(seed % 4);
        many[i].begin = t += seed / 4 % 3 ? 0 : seed / 16 % 300;
        many[i].length = seed / 32 % 5 ? seed / 64 % 700 : 0;
        t += many[i].length;
        add_slice(row, many[i].begin, t, names[many[i].name]);
    }
    row = tl_row_at(&tl, 9);
    tl_row_describe(&tl, row, 0, "track", false);
    for (uint64_t i = 0; i < FEW; i++) {
        char name[32];
        tl_args args = {
            .n = 3,
            .keys = {tl_key_of(tl_intern(&tl, "bytes", 5), TL_ARG_UINT),
                     tl_key_of(tl_intern(&tl, "why", 3), TL_ARG_TEXT),
                     tl_key_of(tl_intern(&tl, "rate", 4), TL_ARG_REAL)},
            .values = {i * 1000, tl_intern(&tl, "because", 7),
                       UINT64_C(0x3fe0000000000000)}};

        snprintf(name, sizeof name, "part %u", (unsigned)(i * i));
        tl_add_begin(&tl, row, i * 100, name);
        tl_add_args(&tl, row, &args);
        tl_add_end(&tl, row, i * 100 + 60);
    }
    row = tl_row_at(&tl, 11);
    tl_row_describe(&tl, row, 0, "level", true);
    tl_add_value(&tl, row, 0, 1);
    tl_add_value(&tl, row, 500, 2.5);
    tl_row_describe(&tl, tl_row_at(&tl, 12), 0, "DDR banks", false);
    for (uint64_t i = 0; i < 2; i++) {
        char name[16];

        row = tl_row_at(&tl, 13 + i);
        snprintf(name, sizeof name, "bank %d", (int)i);
        tl_row_describe(&tl, row, 12, name, true);
        for (uint64_t k = 0; k < (i ? 10000 : 2); k++)
            tl_add_value(&tl, row, 40 * k, i ? 0.3 : 0.1);
    }
    tl_finish(&tl);
    ck_assert(!view_init(&v, &tl, &err));
}

static void setup(void)
{
    terminal_open(&p);
}

static void teardown(void)
{
    view_free(&v);
    tl_free(&tl);
    terminal_close(&p);
}

static const char *path_of(const char *name)
{
    return arena_printf(p.arena, "%s/%s", p.dir, name);
}

static const char *page(const html_options *o, size_t *n)
{
    vpu_error err;
    vpu_status st = html_write(&v, o, path_of("out.html"), &err);

    ck_assert_msg(!st, "%s", err.msg);
    return terminal_bytes(&p, "out.html", n);
}

static int count(const char *text, const char *what)
{
    int n = 0;

    while ((text = strstr(text, what))) {
        n++;
        text += strlen(what);
    }
    return n;
}

static json_t *data_of(const char *text)
{
    const char *at = strstr(text, "id=\"data\">"), *end;
    json_error_t why;
    json_t *j;

    ck_assert(at && (end = strstr(at, "</script>")));
    at += 10;
    j = json_loadb(at, (size_t)(end - at), 0, &why);
    ck_assert_msg(j, "%s", why.text);
    return j;
}

/* --- base64 of varints, once more ---------------------------------------- */

typedef struct {
    const char *text;
    size_t at; /* bytes read */
} bytes;

static int next_byte(bytes *b)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *four = b->text + b->at / 3 * 4;
    uint32_t all = 0;

    if (strlen(four) < 4 || four[b->at % 3 + 1] == '=')
        return -1;
    for (int i = 0; i < 4; i++)
        all =
            all << 6 |
            (four[i] == '=' ? 0 : (uint32_t)(strchr(digits, four[i]) - digits));
    return (int)(all >> (16 - 8 * (b->at++ % 3)) & 255);
}

static uint64_t next_number(bytes *b)
{
    uint64_t n = 0;

    for (int shift = 0;; shift += 7) {
        int byte = next_byte(b);

        ck_assert_int_ge(byte, 0);
        n |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return n;
    }
}

static json_t *lane_of(json_t *data, const char *row, size_t lane)
{
    json_t *rows = json_object_get(data, "rows");

    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *r = json_array_get(rows, i);

        if (!strcmp(json_string_value(json_object_get(r, "name")), row))
            return json_array_get(json_object_get(r, "lanes"), lane);
    }
    ck_abort_msg("no row %s", row);
}

static const char *name_of(json_t *data, uint64_t i)
{
    return json_string_value(
        json_array_get(json_object_get(data, "names"), (size_t)i));
}

/* --- tests --------------------------------------------------------------- */

START_TEST(one_file_that_loads_nothing)
{
    size_t n, again;
    const char *text;
    char *first;

    make();
    text = page(&(html_options){.title = "a <title> & more"}, &n);
    first = strdup(text);
    ck_assert_int_eq(count(text, "<script"), 2);
    ck_assert_int_eq(count(text, "</script>"), 2);
    ck_assert_int_eq(count(text, "@@"), 0);
    ck_assert_int_eq(count(text, "://"), 0);
    ck_assert_int_eq(count(text, "src="), 0);
    ck_assert_int_eq(count(text, "innerHTML"), 0);
    ck_assert(strstr(text, "default-src 'none'"));
    ck_assert(strstr(text, "<title>a &lt;title&gt; &amp; more</title>"));
    ck_assert(!strcmp(text + n - 8, "</html>\n"));
    text = page(&(html_options){.title = "a <title> & more"}, &again);
    ck_assert_uint_eq(n, again);
    ck_assert_mem_eq(first, text, n);
    free(first);
}
END_TEST

START_TEST(data_are_the_slices)
{
    size_t n;
    json_t *data, *lane;
    uint64_t end = 0;
    bytes b = {0};

    make();
    data = data_of(page(&(html_options){.title = "t"}, &n));
    lane = lane_of(data, "SHAVE 0", 1);
    ck_assert_int_eq(json_integer_value(json_object_get(lane, "n")), MANY);
    b.text = json_string_value(json_object_get(lane, "slices"));
    for (int i = 0; i < MANY; i++) {
        ck_assert_uint_eq(end + next_number(&b), many[i].begin);
        end = many[i].begin + many[i].length;
        ck_assert_uint_eq(next_number(&b), many[i].length);
        ck_assert_str_eq(name_of(data, next_number(&b)), names[many[i].name]);
    }
    ck_assert_int_eq(next_byte(&b), -1);
    lane = lane_of(data, "track", 0);
    b = (bytes){json_string_value(json_object_get(lane, "slices")), 0};
    for (uint64_t i = 0; i < FEW; i++) {
        ck_assert_uint_eq(next_number(&b), i ? 40 : 0);
        ck_assert_uint_eq(next_number(&b), 60);
        ck_assert_str_eq(name_of(data, next_number(&b)), "part");
        ck_assert_uint_eq(next_number(&b), i * i + 1);
    }
    b = (bytes){json_string_value(json_object_get(lane, "args")), 0};
    for (uint64_t i = 0; i < FEW; i++) {
        ck_assert_uint_eq(next_number(&b), 0); /* no slack */
        ck_assert_uint_eq(next_number(&b), 3);
        ck_assert_str_eq(name_of(data, next_number(&b)), "bytes");
        ck_assert_uint_eq(next_number(&b), 0);
        ck_assert_uint_eq(next_number(&b), i * 1000);
        ck_assert_str_eq(name_of(data, next_number(&b)), "why");
        ck_assert_uint_eq(next_number(&b), 2);
        ck_assert_str_eq(name_of(data, next_number(&b)), "because");
        ck_assert_str_eq(name_of(data, next_number(&b)), "rate");
        ck_assert_uint_eq(next_number(&b), 1);
        b.at += 8;
    }
    ck_assert_int_eq(next_byte(&b), -1);
    json_decref(data);
}
END_TEST

/* The longest rows are sums, as few as need be; sums are exact. */
START_TEST(above_the_limit_there_are_sums)
{
    static const uint64_t limits[] = {MANY + FEW + 2, MANY + FEW + 1, FEW, 1};
    size_t n;

    make();
    for (int k = 0; k < 4; k++) {
        json_t *data = data_of(
            page(&(html_options){.title = "t", .max_items = limits[k]}, &n));
        json_t *lane = lane_of(data, "SHAVE 0", 1);
        uint64_t sums[TL_N_CLASSES] = {0}, want[TL_N_CLASSES] = {0}, buckets;
        bytes b = {json_string_value(json_object_get(lane, "sums")), 0};

        ck_assert_int_eq(!b.text, k == 0);
        ck_assert_int_eq(!json_object_get(lane_of(data, "track", 0), "sums"),
                         k < 2);
        buckets =
            (uint64_t)json_integer_value(json_object_get(lane, "buckets"));
        for (uint64_t i = 0; b.text && i < buckets; i++) {
            uint64_t occurs = next_number(&b);

            for (int c = 0; c < TL_N_CLASSES; c++)
                sums[c] += occurs >> c & 1 ? next_number(&b) : 0;
        }
        for (int i = 0; i < MANY; i++)
            want[classes[many[i].name]] += many[i].length;
        if (b.text) {
            ck_assert_uint_eq(buckets, HTML_BUCKETS);
            ck_assert_int_eq(next_byte(&b), -1);
            ck_assert_mem_eq(sums, want, sizeof sums);
        }
        json_decref(data);
    }
}
END_TEST

START_TEST(names_cannot_become_markup)
{
    static const char *const bad[] = {"</script><img src=x onerror=alert(1)>",
                                      "<!--<script>",
                                      "\xe2\x80\xa8\xe2\x80\xa9",
                                      "\"\\\x01\x1b\r\n\t",
                                      "\xff\xc0\xaf",
                                      "@@DATA@@"};
    size_t n;
    const char *text;
    json_t *data;
    vpu_error err;
    uint32_t row;

    ck_assert(!tl_init(&tl, &err));
    row = tl_row_at(&tl, 9);
    tl_row_describe(&tl, row, 0, bad[0], false);
    for (uint64_t i = 0; i < sizeof bad / sizeof *bad; i++)
        add_slice(row, i * 100, i * 100 + 50, bad[i]);
    tl_finish(&tl);
    snprintf(tl.partial, sizeof tl.partial, "%s", bad[0]);
    ck_assert(!view_init(&v, &tl, &err));
    text = page(&(html_options){.title = bad[0]}, &n);
    ck_assert_uint_eq(strlen(text), n);
    ck_assert_int_eq(count(text, "<script"), 2);
    ck_assert_int_eq(count(text, "</script>"), 2);
    ck_assert_int_eq(count(text, "<img"), 0);
    ck_assert_int_eq(count(text, "<!--"), 0);
    ck_assert_int_eq(count(text, bad[2]), 0);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg((unsigned char)text[i] >= 32 || text[i] == '\n',
                      "byte %d", text[i]);
    data = data_of(text);
    ck_assert_str_eq(name_of(data, 0), bad[0]);
    ck_assert_str_eq(name_of(data, 1), bad[1]);
    ck_assert_str_eq(name_of(data, 2), bad[2]);
    ck_assert_str_eq(name_of(data, 3), "\"\\\\x01\\x1b\\x0d\n\t");
    ck_assert_str_eq(name_of(data, 4), "\\xff\\xc0\\xaf");
    ck_assert_str_eq(name_of(data, 5), bad[5]);
    ck_assert_str_eq(
        json_string_value(json_object_get(lane_of(data, bad[0], 0), "sums")
                              ? NULL
                              : json_object_get(data, "title")),
        bad[0]);
    json_decref(data);
}
END_TEST

/* Clocks that count from long ago, and traces too long for a page. */
START_TEST(times_that_a_page_can_count)
{
    uint64_t ago = UINT64_C(1) << 60;
    vpu_error err;
    uint32_t row;
    size_t n;
    json_t *data;
    bytes b;

    ck_assert(!tl_init(&tl, &err));
    row = tl_row_at(&tl, 9);
    tl_row_describe(&tl, row, 0, "t", false);
    add_slice(row, ago, ago + 7, "x");
    tl_finish(&tl);
    ck_assert(!view_init(&v, &tl, &err));
    data = data_of(page(&(html_options){.title = "t"}, &n));
    ck_assert_str_eq(json_string_value(json_object_get(data, "base")),
                     "1152921504606846976");
    ck_assert_int_eq(json_integer_value(json_object_get(data, "end")), 7);
    b = (bytes){
        json_string_value(json_object_get(lane_of(data, "t", 0), "slices")), 0};
    ck_assert_uint_eq(next_number(&b), 0);
    ck_assert_uint_eq(next_number(&b), 7);
    json_decref(data);
    unlink(path_of("out.html"));
    view_free(&v);
    tl_free(&tl);
    ck_assert(!tl_init(&tl, &err));
    row = tl_row_at(&tl, 9);
    tl_row_describe(&tl, row, 0, "t", false);
    add_slice(row, 0, 1, "x");
    add_slice(row, ago, ago + 7, "x");
    tl_finish(&tl);
    ck_assert(!view_init(&v, &tl, &err));
    ck_assert_int_eq(html_write(&v, &(html_options){.title = "t"},
                                path_of("out.html"), &err),
                     VPU_ERR_INVALID);
    ck_assert(strstr(err.msg, "2^53"));
    ck_assert(!terminal_has(&p, "out.html"));
}
END_TEST

START_TEST(whole_or_not_at_all)
{
    vpu_error err;
    size_t n;

    make();
    ck_assert_int_eq(html_write(&v, &(html_options){.title = "t"},
                                path_of("no/such/out.html"), &err),
                     VPU_ERR_IO);
    ck_assert(strstr(err.msg, "no/such"));
    ck_assert_int_eq(
        html_write(&v, &(html_options){.title = "t"}, "/dev/full", &err),
        VPU_ERR_IO);
    terminal_text(&p, "out.html", "before");
    page(&(html_options){.title = "t"}, &n);
    ck_assert_uint_gt(n, 10000);
    ck_assert_str_eq(terminal_files(&p, NULL), "out.html");
}
END_TEST

START_TEST(from_outside)
{
    static const struct {
        const char *args, *says;
    } bad[] = {
        {"view none.pftrace --html x.html", "none.pftrace"},
        {"view t.xml --html x.html", "not a trace packet"},
        {"view t.pftrace --html no/such/x.html", "no/such"},
        {"view t.pftrace --html x.html --compare t.pftrace", "--compare"},
        {"view t.pftrace --html x.html --follow", "--follow"},
        {"view t.pftrace --html x.html --range 9..5", "TIME..TIME"}};
    /* A track "t", a slice "s" of it from 5 to 9: Perfetto's field numbers. */
    static const unsigned char trace[] = {
        10, 10, 80, 1, 0xe2, 3, 5,  8, 7,  18, 1,    't', 10, 14,
        80, 1,  64, 5, 90,   8, 72, 1, 88, 7,  0xba, 1,   1,  's',
        10, 10, 80, 1, 64,   9, 90, 4, 72, 2,  88,   7};
    const char *text;
    size_t n;

    terminal_text(&p, "t.xml", "<x/>");
    terminal_file(&p, "t.pftrace", trace, sizeof trace);
    terminal_run(&p, "view t.pftrace --html x.html --theme dark");
    ck_assert_msg(!p.status, "%s", p.err);
    text = terminal_bytes(&p, "x.html", &n);
    ck_assert(strstr(text, "\"theme\":\"dark\""));
    ck_assert(strstr(text, "\"names\":[\"s\"]"));
    unlink(path_of("x.html"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        terminal_run(&p, bad[i].args);
        terminal_expect(&p, 2, bad[i].says);
        ck_assert(!terminal_has(&p, "x.html"));
    }
}
END_TEST

static double next_real(bytes *b)
{
    uint8_t raw[8];
    double x;

    for (int i = 0; i < 8; i++)
        raw[i] = (uint8_t)next_byte(b);
    memcpy(&x, raw, 8);
    return x;
}

/* A heat map has its lanes' values, of many values the means of as many
 * stretches as other counters, and the share of the last colour. */
START_TEST(heat_maps_have_lanes)
{
    json_t *data, *rows, *heat = NULL;
    size_t n;

    make();
    data = data_of(page(&(html_options){.title = "t"}, &n));
    rows = json_object_get(data, "rows");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *r = json_array_get(rows, i);

        ck_assert_ptr_null(
            strstr(json_string_value(json_object_get(r, "name")), "bank "));
        if (!strcmp(json_string_value(json_object_get(r, "kind")), "heat"))
            heat = r;
    }
    ck_assert(heat);
    ck_assert_double_eq(json_real_value(json_object_get(heat, "heatTop")), 0.5);
    ck_assert_uint_eq(json_array_size(json_object_get(heat, "heat")), 2);
    for (size_t k = 0; k < 2; k++) {
        json_t *lane = json_array_get(json_object_get(heat, "heat"), k);
        json_t *counter = json_object_get(lane, "counter");
        bytes b = {json_string_value(json_object_get(counter, "values")), 0};

        ck_assert_str_eq(json_string_value(json_object_get(lane, "name")),
                         k ? "bank 1" : "bank 0");
        ck_assert(json_is_true(json_object_get(counter, "summed")) == (k == 1));
        for (int i = 0; i < (k ? HTML_BUCKETS : 2); i++) {
            uint64_t t = next_number(&b);

            ck_assert_uint_eq(t > 0, i > 0);
            ck_assert_double_eq_tol(next_real(&b), k ? 0.3 : 0.1, 1e-9);
            ck_assert_double_eq_tol(next_real(&b), k ? 0.3 : 0.1, 1e-9);
        }
        ck_assert_int_eq(next_byte(&b), -1);
    }
    json_decref(data);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("html");
    TCase *t = tcase_create("html");
    SRunner *r = srunner_create(s);
    int failed;

    suite_add_tcase(s, t);
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, one_file_that_loads_nothing);
    tcase_add_test(t, data_are_the_slices);
    tcase_add_test(t, above_the_limit_there_are_sums);
    tcase_add_test(t, names_cannot_become_markup);
    tcase_add_test(t, times_that_a_page_can_count);
    tcase_add_test(t, whole_or_not_at_all);
    tcase_add_test(t, heat_maps_have_lanes);
    tcase_add_test(t, from_outside);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
