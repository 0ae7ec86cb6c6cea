/* vpu dap as a program: standard output is the protocol's alone, options of a
 * launch are the command line's, and it ends when its input does. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/debug/twist.h"

static const char prints_cl[] =
    "__kernel void twist(__global const half *src, __global half *dst,\n"
    "                    float bias)\n"
    "{\n"
    "    printf(\"Content-Length: %d\\n\", (int)get_global_id(0));\n"
    "    dst[get_global_id(0)] = src[get_global_id(0)] + bias;\n"
    "}\n";

static void add(str *out, int seq, const char *command, const char *args)
{
    str text = {0};

    str_printf(&text,
               "{\"seq\": %d, \"type\": \"request\", \"command\": \"%s\", "
               "\"arguments\": %s}",
               seq, command, args);
    str_printf(out, "Content-Length: %zu\r\n\r\n%s", text.n, str_text(&text));
    str_free(&text);
}

/* Runs it with these requests; its input stays open until the session is over.
 * What it writes, as messages; each must be one. */
static json_t *session(const str *requests)
{
    const char *vpu = getenv("VPU");
    char *path = realpath(vpu && *vpu ? vpu : "build/vpu", NULL), *out;
    json_t *list = json_array();
    const char *at;
    size_t n;

    terminal_file(&twist, "requests", requests->data, requests->n);
    ck_assert_int_eq(
        system(arena_printf(
            twist.arena,
            "cd %s && mkdir -p elsewhere && : > out && cd elsewhere && "
            "(cat ../requests; n=0; while ! grep -q terminated ../out && "
            "[ $n -lt 400 ]; do n=$((n + 1)); sleep 0.1; done) | "
            "XDG_CACHE_HOME=%s/.c timeout 50 %s dap > ../out",
            twist.dir, twist.dir, path)),
        0);
    free(path);
    at = terminal_bytes(&twist, "out", &n);
    out = arena_strndup(twist.arena, at, n);
    while (*out) {
        size_t bytes;
        int head = 0;
        json_t *m;

        ck_assert_msg(
            sscanf(out, "Content-Length: %zu\r\n\r\n%n", &bytes, &head) == 1 &&
                head > 0,
            "stray bytes: %.60s", out);
        ck_assert(strlen(out + head) >= bytes);
        m = json_loadb(out + head, bytes, 0, NULL);
        ck_assert_msg(m != NULL, "no JSON: %.*s", (int)bytes, out + head);
        json_array_append_new(list, m);
        out += (size_t)head + bytes;
    }
    return list;
}

static const char *text_of(const json_t *m, const char *name)
{
    const char *text = json_string_value(json_object_get(m, name));

    return text ? text : "";
}

START_TEST(output)
{
    str requests = {0};
    json_t *list, *m;
    size_t k;
    int printed = 0;
    bool ended = false;

    terminal_text(&twist, "twist.cl", prints_cl);
    add(&requests, 1, "initialize", "{}");
    add(&requests, 2, "launch",
        arena_printf(twist.arena,
                     "{\"program\": \"layer.xml\", \"cwd\": \"%s\", \"shapes\":"
                     " {\"in0\": \"1x3x2x16\"}, \"params\": {\"bias\": 0.25}, "
                     "\"inputs\": [\"0=ramp\"]}",
                     twist.dir));
    add(&requests, 3, "configurationDone", "{}");
    list = session(&requests);
    json_array_foreach(list, k, m)
    {
        if (json_object_get(m, "success"))
            ck_assert_msg(!strcmp(text_of(m, "message"), ""), "%s",
                          text_of(m, "message"));
        printed += !strcmp(text_of(m, "event"), "output");
        ended |= !strcmp(text_of(m, "event"), "terminated");
    }
    ck_assert_int_eq(printed, 32);
    ck_assert(ended);
    json_decref(list);
    str_free(&requests);
}
END_TEST

static const struct {
    const char *args, *words;
} refused[] = {
    {"{\"program\": \"layer.xml\", \"args\": [\"--sheep\"]}", "--sheep"},
    {"{\"program\": \"none.xml\"}", "none.xml"},
    {"{\"program\": \"../layer.xml\", \"args\": [\"--model\", \"m.xml\", "
     "\"--shape\", \"in0=1x1\"]}",
     "exclude each other"},
    {"{\"program\": \"layer.xml\", \"cwd\": \"/nowhere\"}", "/nowhere"}};

START_TEST(wrong_launch)
{
    str requests = {0};
    json_t *list, *m;
    size_t k;
    bool told = false, ended = false;

    add(&requests, 1, "initialize", "{}");
    add(&requests, 2, "launch", refused[_i].args);
    list = session(&requests);
    json_array_foreach(list, k, m)
    {
        if (!strcmp(text_of(m, "command"), "launch"))
            told = strstr(text_of(m, "message"), refused[_i].words) != NULL;
        ended |= !strcmp(text_of(m, "event"), "terminated");
    }
    ck_assert(told && ended);
    json_decref(list);
    str_free(&requests);
}
END_TEST

START_TEST(words)
{
    terminal_run(&twist, "dap layer.xml");
    terminal_expect(&twist, 2, "the layer is the launch request's");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vpu dap");
    TCase *c = tcase_create("vpu dap");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, twist_open, twist_close);
    tcase_add_test(c, output);
    tcase_add_loop_test(c, wrong_launch, 0, sizeof refused / sizeof *refused);
    tcase_add_test(c, words);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
