/* XLink headers against dumps of sessions with published hosts, over random
 * headers, and with one thing wrong at a time. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/link/xlink_wire.h"

#define A XLINK_LAYOUT_A
#define B XLINK_LAYOUT_B
#define C XLINK_LAYOUT_C

#define REQ(ev) .event = XLINK_##ev, .flags = 1
#define RESP(ev) .event = XLINK_##ev, .response = true, .flags = 1

/* Rows "offset: bytes"; what no row covers is 0. The flags come last. */
static const struct {
    xlink_layout layout;
    xlink_header h;
    const char *dump;
} dumps[] = {
    {A, {REQ(PING), .id = 10}, "0:0a000000 05 50:01"},
    {A, {RESP(PING), .id = 10}, "0:0a000000 0d 50:01"},
    {A,
     {REQ(CREATE_STREAM), .id = 11, .name = "deviceMonitor",
      .stream = XLINK_NO_STREAM, .size = 2048},
     "0:0b000000 03000000 6465766963654d6f 10:6e69746f72 48:addeadde 00080000 "
     "50:01"},
    {A,
     {RESP(CREATE_STREAM), .id = 11, .name = "deviceMonitor", .size = 2048},
     "0:0b000000 0b000000 6465766963654d6f 10:6e69746f72 4c:00080000 50:01"},
    {A, {REQ(WRITE), .id = 12, .size = 8}, "0:0c 4c:08 50:01"},
    {A, {RESP(WRITE), .id = 12, .size = 8}, "0:0c 4:08 4c:08 50:01"},
    {A, {REQ(READ_REL), .id = 0x101, .size = 8}, "0:0101 4:02 4c:08 50:01"},
    {A, {RESP(READ_REL), .id = 0x101}, "0:0101 4:0a 50:01"},
    {A, {REQ(WRITE), .id = 0x102, .size = 40}, "0:0201 4c:28 50:01"},
    {A, {RESP(WRITE), .id = 0x102, .size = 40}, "0:0201 4:08 4c:28 50:01"},
    {A, {REQ(READ_REL), .id = 14, .size = 40}, "0:0e 4:02 4c:28 50:01"},
    {A, {RESP(READ_REL), .id = 14, .size = 40}, "0:0e 4:0a 4c:28 50:01"},
    {A, {REQ(CLOSE_STREAM), .id = 15}, "0:0f 4:04 50:01"},
    {A, {RESP(CLOSE_STREAM), .id = 15}, "0:0f 4:0c 50:01"},
    {A, {REQ(RESET), .id = 16}, "0:10 4:06 50:01"},
    {A, {RESP(RESET), .id = 16}, "0:10 4:0e 50:01"},

    {B, {REQ(PING), .id = 10}, "0:0a 4:06 50:01"},
    {B, {RESP(PING), .id = 10}, "0:0a 4:0f 50:01"},
    {B,
     {REQ(CREATE_STREAM), .id = 11, .name = "deviceMonitor", .size = 2048},
     "0:0b000000 04000000 6465766963654d6f 10:6e69746f72 4c:00080000 50:01"},
    {B,
     {RESP(CREATE_STREAM), .id = 11, .name = "deviceMonitor", .size = 2048},
     "0:0b000000 0d000000 6465766963654d6f 10:6e69746f72 4c:00080000 50:01"},
    {B, {REQ(WRITE), .id = 12, .size = 8}, "0:0c 4c:08 50:01"},
    {B, {RESP(WRITE), .id = 12, .size = 8}, "0:0c 4:09 4c:08 50:01"},
    {B, {REQ(READ_REL), .id = 0x101, .size = 8}, "0:0101 4:02 4c:08 50:01"},
    {B, {RESP(READ_REL), .id = 0x101}, "0:0101 4:0b 50:01"},
    {B, {REQ(CLOSE_STREAM), .id = 15}, "0:0f 4:05 50:01"},
    {B, {RESP(CLOSE_STREAM), .id = 15}, "0:0f 4:0e 50:01"},
    {B, {REQ(RESET), .id = 16}, "0:10 4:07 50:01"},
    {B, {RESP(RESET), .id = 16}, "0:10 4:10 50:01"},

    {C, {REQ(PING), .id = 10}, "0:0a 4:06 58:01"},
    {C, {RESP(PING), .id = 10}, "0:0a 4:10 58:01"},
    {C,
     {REQ(CREATE_STREAM), .id = 11, .name = "deviceMonitor", .size = 2048,
      .can_be_served = 1},
     "0:0b000000 04000000 6465766963654d6f 10:6e69746f72 4c:00080000 54:01 "
     "58:01"},
    {C,
     {RESP(CREATE_STREAM), .id = 11, .name = "deviceMonitor", .size = 2048},
     "0:0b000000 0e000000 6465766963654d6f 10:6e69746f72 4c:00080000 58:01"},
    {C,
     {REQ(WRITE), .id = 12, .size = 8, .can_be_served = 1},
     "0:0c 4c:08 54:01 58:01"},
    {C, {RESP(WRITE), .id = 12, .size = 8}, "0:0c 4:0a 4c:08 58:01"},
    {C, {REQ(READ_REL), .id = 0x101, .size = 8}, "0:0101 4:02 4c:08 58:01"},
    {C, {RESP(READ_REL), .id = 0x101}, "0:0101 4:0c 58:01"},
    {C, {RESP(CLOSE_STREAM), .id = 15}, "0:0f 4:0f 58:01"},
    {C, {RESP(RESET), .id = 16}, "0:10 4:11 58:01"},
};

/* The rows as bytes; the size of a header of the layout. */
static size_t undump(xlink_layout layout, const char *p, uint8_t *out)
{
    size_t size = layout == C ? 92 : 84, at = 0;

    memset(out, 0, size);
    while (*p) {
        if (strcspn(p, ":") < strcspn(p, " ")) {
            char *end;

            at = strtoul(p, &end, 16);
            p = end + 1;
        }
        for (; *p && *p != ' '; p += 2) {
            unsigned byte;

            ck_assert_int_eq(sscanf(p, "%2x", &byte), 1);
            out[at++] = (uint8_t)byte;
        }
        p += *p == ' ';
    }
    return size;
}

START_TEST(headers_are_those_of_the_dumps)
{
    uint8_t want[XLINK_HEADER_MAX], got[XLINK_HEADER_MAX];
    size_t n = undump(dumps[_i].layout, dumps[_i].dump, want);
    xlink_header h;
    vpu_error err;

    ck_assert_uint_eq(n, xlink_header_size(dumps[_i].layout));
    ck_assert_msg(
        !xlink_encode(dumps[_i].layout, &dumps[_i].h, got, sizeof got, &err),
        "%s", err.msg);
    ck_assert_mem_eq(got, want, n);
    ck_assert_msg(!xlink_decode(dumps[_i].layout, want, n, &h, &err), "%s",
                  err.msg);
    ck_assert_mem_eq(&h, &dumps[_i].h, sizeof h);
}
END_TEST

static uint64_t state;

static uint32_t rnd(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

static xlink_header random_header(xlink_layout layout)
{
    static const uint32_t resp[] = {1, 2, 0x40, 0};
    xlink_header h = {0};

    do {
        h.event = (xlink_event)(rnd() % XLINK_N_EVENTS);
    } while (!xlink_has_event(layout, h.event));
    h.response = rnd() % 2;
    h.id = rnd();
    h.stream = rnd();
    h.size = rnd();
    h.flags = h.response ? resp[rnd() % 4] : 1 | (rnd() % 2 ? 8 : 0);
    if (h.event == XLINK_CREATE_STREAM)
        for (uint32_t i = 0, n = 1 + rnd() % 63; i < n; i++)
            h.name[i] = (char)(1 + rnd() % 255);
    if (layout == C) {
        h.can_be_served = rnd();
        h.dropped = h.event == XLINK_WRITE && !h.response ? 0 : rnd();
    }
    return h;
}

START_TEST(random_headers_come_back)
{
    for (int i = 0; i < 20000; i++) {
        xlink_header h, back;
        uint8_t bytes[XLINK_HEADER_MAX];
        vpu_error err;

        state = (uint64_t)i;
        rnd();
        h = random_header((xlink_layout)_i);
        ck_assert_msg(
            !xlink_encode((xlink_layout)_i, &h, bytes, sizeof bytes, &err),
            "%d: %s", i, err.msg);
        ck_assert_msg(!xlink_decode((xlink_layout)_i, bytes,
                                    xlink_header_size((xlink_layout)_i), &back,
                                    &err),
                      "%d: %s", i, err.msg);
        ck_assert_mem_eq(&h, &back, sizeof h);
    }
}
END_TEST

/* Every type number, and random bytes behind it: each is either one of the
 * table's or an error with the number in it. */
START_TEST(types_outside_the_table_are_errors)
{
    static const char *const good[] = {
        "0 2 3 4 5 6 8 10 11 12 13 14", "0 2 3 4 5 6 7 9 11 12 13 14 15 16",
        "0 2 3 4 5 6 7 8 10 12 13 14 15 16 17 18"};
    int n_good = 0, n_want = 1;

    for (const char *p = good[_i]; *p; p++)
        n_want += *p == ' ';
    for (int type = 0; type < 256; type++) {
        uint8_t bytes[XLINK_HEADER_MAX] = {0};
        char word[24], all[128];
        xlink_header h;
        vpu_error err;

        bytes[4] = (uint8_t)type;
        bytes[8] = 'x';
        bytes[_i == C ? 88 : 80] = 1;
        snprintf(word, sizeof word, " %d ", type);
        snprintf(all, sizeof all, " %s ", good[_i]);
        if (!xlink_decode((xlink_layout)_i, bytes,
                          xlink_header_size((xlink_layout)_i), &h, &err)) {
            n_good++;
            ck_assert_msg(strstr(all, word), "type %d", type);
        } else {
            snprintf(word, sizeof word, "type %d", type);
            ck_assert_int_eq(err.code, VPU_ERR_PARSE);
            ck_assert_msg(strstr(err.msg, word), "%s", err.msg);
        }
    }
    ck_assert_int_eq(n_good, n_want);
}
END_TEST

static const struct {
    xlink_layout layout;
    const char *dump, *text;
} bad_bytes[] = {
    {A, "0:0a 4:05", "PING request: flags 0x0, expected the ack bit"},
    {A, "0:0a 4:05 50:03", "flags 0x3, expected no bits but 0x9"},
    {A, "0:0a 4:05 50:05", "flags 0x5"},
    {A, "0:0a 4:0d 50:03", "expected ack (0x1) or a refusal"},
    {A, "0:0a 4:0d 50:08", "flags 0x8, expected no bits but 0x43"},
    {C, "0:0a 4:06 59:01", "flags 0x100"},
    {A, "0:0a 4:07 50:01", "type 7, expected a request 0 to 6"},
    {A, "0:0a 4:01 50:01", "type 1 (READ), expected one that crosses"},
    {B, "0:0a 4:11 50:01", "type 17"},
    {A, "0:0a 4:0000ff 50:01", "type 16711680"},
    {A, "0:0b 4:03 50:01", "name is empty, expected 1 to 63 bytes"},
    {A,
     "4:03 8:61616161616161616161616161616161 18:"
     "61616161616161616161616161616161 28:61616161616161616161616161616161 "
     "38:61616161616161616161616161616161 50:01",
     "name 'aaaaaaaaaaaaaaaa...' does not end"},
};

START_TEST(wrong_bytes_are_named)
{
    uint8_t bytes[XLINK_HEADER_MAX];
    xlink_layout layout = bad_bytes[_i].layout;
    size_t n = undump(layout, bad_bytes[_i].dump, bytes);
    xlink_header h;
    vpu_error err;

    ck_assert_int_eq(xlink_decode(layout, bytes, n, &h, &err), VPU_ERR_PARSE);
    ck_assert_msg(strstr(err.msg, bad_bytes[_i].text), "%s", err.msg);
    ck_assert_msg(strstr(err.msg, "layout "), "%s", err.msg);
}
END_TEST

START_TEST(a_header_of_another_size_is_an_error)
{
    uint8_t bytes[128] = {0};
    xlink_header h;
    vpu_error err;

    bytes[4] = 5;
    bytes[80] = 1;
    ck_assert(!xlink_decode(A, bytes, 84, &h, &err));
    for (size_t n = 0; n < 128; n++)
        if (n != 84)
            ck_assert_int_eq(xlink_decode(A, bytes, n, &h, &err),
                             VPU_ERR_PARSE);
    ck_assert_int_eq(xlink_decode(C, bytes, 84, &h, &err), VPU_ERR_PARSE);
    ck_assert(strstr(err.msg, "84 bytes, expected 92"));
}
END_TEST

static const struct {
    xlink_layout layout;
    xlink_header h;
    const char *text;
} bad_headers[] = {
    {A, {REQ(READ)}, "event READ"},
    {A, {REQ(DROP)}, "event DROP"},
    {A, {REQ(READ_REL_SPEC)}, "event READ_REL_SPEC"},
    {B, {REQ(DROP)}, "event DROP"},
    {B, {REQ(PING), .can_be_served = 1}, "can_be_served 1, expected 0"},
    {A, {REQ(WRITE), .dropped = 7}, "dropped 7"},
    {C, {REQ(WRITE), .dropped = 1}, "WRITE request: dropped 1, expected 0"},
    {A, {REQ(PING), .name = "abc"}, "name 'abc', expected none"},
    {A, {REQ(CREATE_STREAM)}, "name is empty"},
    {A, {.event = XLINK_PING}, "flags 0x0"},
    {A, {.event = XLINK_N_EVENTS, .flags = 1}, "outside the table"},
};

START_TEST(wrong_headers_are_not_sent)
{
    uint8_t bytes[XLINK_HEADER_MAX], before[XLINK_HEADER_MAX];
    vpu_error err;

    memset(bytes, 0xa5, sizeof bytes);
    memcpy(before, bytes, sizeof bytes);
    ck_assert_int_eq(xlink_encode(bad_headers[_i].layout, &bad_headers[_i].h,
                                  bytes, sizeof bytes, &err),
                     VPU_ERR_INVALID);
    ck_assert_msg(strstr(err.msg, bad_headers[_i].text), "%s", err.msg);
    ck_assert_mem_eq(bytes, before, sizeof bytes);
}
END_TEST

START_TEST(events_read_as_text)
{
    static const uint8_t payload[40] = {1, 2, 0xff};
    xlink_header h = {RESP(CREATE_STREAM), .id = 11, .name = "a\"\n\xff",
                      .stream = XLINK_NO_STREAM};
    str s = {0};

    h.flags = 0x40;
    xlink_text(A, &h, NULL, 0, &s);
    ck_assert_str_eq(str_text(&s),
                     "CREATE_STREAM response id 11 \"a\\x22\\x0a\\xff\" stream "
                     "none size 0 flags SIZE_TOO_BIG");
    str_free(&s);
    h = (xlink_header){REQ(WRITE), .id = 3, .stream = 2, .size = 3};
    xlink_text(C, &h, payload, 3, &s);
    ck_assert_str_eq(str_text(&s), "WRITE request id 3 stream 2 size 3 dropped "
                                   "0 can_be_served 0 flags ACK: 01 02 ff");
    str_free(&s);
    xlink_text(A, &h, payload, 40, &s);
    ck_assert(strstr(str_text(&s), " 00 .. (40 bytes)"));
    str_free(&s);
}
END_TEST

START_TEST(layouts_have_names)
{
    xlink_layout layout = B;

    ck_assert(xlink_layout_parse("C", &layout) && layout == C);
    ck_assert(!xlink_layout_parse("c", &layout) &&
              !xlink_layout_parse("", &layout) &&
              !xlink_layout_parse("AB", &layout) && layout == C);
    ck_assert_str_eq(xlink_layout_name(A), "A");
    ck_assert(!xlink_host_allocates(A) && xlink_host_allocates(B) &&
              xlink_host_allocates(C));
}
END_TEST

#define COUNT(x) (int)(sizeof(x) / sizeof(x)[0])

int main(void)
{
    Suite *s = suite_create("xlink");
    TCase *t = tcase_create("wire");
    SRunner *r;
    int failed;

    tcase_add_loop_test(t, headers_are_those_of_the_dumps, 0, COUNT(dumps));
    tcase_add_loop_test(t, random_headers_come_back, 0, XLINK_N_LAYOUTS);
    tcase_add_loop_test(t, types_outside_the_table_are_errors, 0,
                        XLINK_N_LAYOUTS);
    tcase_add_loop_test(t, wrong_bytes_are_named, 0, COUNT(bad_bytes));
    tcase_add_test(t, a_header_of_another_size_is_an_error);
    tcase_add_loop_test(t, wrong_headers_are_not_sent, 0, COUNT(bad_headers));
    tcase_add_test(t, events_read_as_text);
    tcase_add_test(t, layouts_have_names);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
