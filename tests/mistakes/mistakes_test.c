/* Every mistake of mistakes.txt gets the message that stands there, to the
 * letter; none is silent, none ends with status 0. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "tests/support/terminal.h"

#define TABLE "tests/mistakes/mistakes.txt"

enum { MAX_MISTAKES = 256 };

static const char layer[] =
    "<CustomLayer name=\"Add\" type=\"MVCL\" version=\"1\">\n"
    "  <Kernel entry=\"add\">\n"
    "    <Source filename=\"add.cl\"/>\n"
    "    <Parameters>\n"
    "      <Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "      <Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "      <Scalar arg-name=\"bias\" type=\"float\" source=\"bias\"/>\n"
    "    </Parameters>\n"
    "    <WorkSizes dim=\"input,0\" global=\"X,Y,B*F\" local=\"X,1,1\"/>\n"
    "  </Kernel>\n"
    "</CustomLayer>\n";

static const char kernel[] =
    "__kernel void add(__global const half *src, __global half *dst, "
    "float bias)\n"
    "{\n"
    "    int i = get_global_id(1) * get_global_size(0) + get_global_id(0);\n"
    "\n"
    "    dst[i] = src[i] + (half)bias;\n"
    "}\n";

typedef struct {
    const char *name, *changes; /* lines in front of the command */
    const char *command;
    int status;
    const char *says;
} mistake;

static arena *mem;
static const char *head; /* what stands in front of the first one */
static mistake mistakes[MAX_MISTAKES];
static int n_mistakes;

/* --- the table ----------------------------------------------------------- */

/* Cuts the text at `end` and returns what is behind it; NULL: not there. */
static char *cut(char *text, const char *end)
{
    char *at = text ? strstr(text, end) : NULL;

    if (!at)
        return NULL;
    *at = 0;
    return at + strlen(end);
}

static void read_mistake(char *text)
{
    mistake *m = &mistakes[n_mistakes++];
    char *command, *status, *says;

    m->name = text;
    m->changes = cut(text, "\n");
    command = cut((char *)(uintptr_t)m->changes, "$ ");
    status = cut(command, "\n");
    m->command = command;
    if (!status) {
        printf(TABLE ": '%s' has no command\n", m->name);
        exit(1);
    }
    m->status = (int)strtol(status, &says, 10);
    m->says = says == status ? "" : says + (*says == '\n');
}

static void read_table(void)
{
    char *text, *next;
    size_t n;

    if (file_read(TABLE, 1 << 20, mem, &text, &n, NULL))
        exit(1);
    head = text;
    for (next = cut(text, "\n== "); next && n_mistakes < MAX_MISTAKES;) {
        char *one = next;

        next = cut(next, "\n== ");
        read_mistake(one);
    }
}

/* --- a mistake ----------------------------------------------------------- */

/* "\n" for new lines. */
static char *unescaped(const char *text, size_t n)
{
    char *out = arena_strndup(mem, text, n), *to = out;

    for (const char *p = out; *p; p++)
        *to++ = *p == '\\' && p[1] == 'n' ? (p++, '\n') : *p;
    *to = 0;
    return out;
}

/* text with "OLD => NEW" of a line done; without OLD it is NEW. */
static const char *changed(const char *text, const char *line, size_t n)
{
    char *old = unescaped(line, n), *new = strstr(old, "=>");
    const char *at;
    size_t length;

    ck_assert_msg(new != NULL, "no => in '%s'", old);
    length = (size_t)(new - old) - (new > old &&new[-1] == ' ');
    new += 2;
    new += *new == ' ';
    old[length] = 0;
    if (!*old)
        return new;
    at = strstr(text, old);
    ck_assert_msg(at != NULL, "'%s' is not in\n%s", old, text);
    return arena_printf(mem, "%.*s%s%s", (int)(at - text), text, new,
                        at + length);
}

static bool is_line(const char *line, const char *kind, const char **rest)
{
    size_t n = strlen(kind);

    *rest = line + n;
    return !strncmp(line, kind, n);
}

static void make_files(terminal *p, const mistake *m)
{
    const char *xml = layer, *cl = kernel, *rest, *gone = "";

    for (const char *line = m->changes; *line;) {
        size_t n = strcspn(line, "\n");
        const char *end = line + n;

        if (is_line(line, "layer: ", &rest)) {
            xml = changed(xml, rest, (size_t)(end - rest));
        } else if (is_line(line, "kernel: ", &rest)) {
            cl = changed(cl, rest, (size_t)(end - rest));
        } else if (is_line(line, "remove ", &rest)) {
            gone = arena_strndup(mem, rest, (size_t)(end - rest));
        } else if (is_line(line, "file ", &rest)) {
            size_t name = strcspn(rest, ":");

            terminal_text(
                p, arena_strndup(mem, rest, name),
                unescaped(rest + name + 2, (size_t)(end - rest) - name - 2));
        }
        line = end + (*end == '\n');
    }
    terminal_text(p, "layer.xml", xml);
    if (strcmp(gone, "add.cl"))
        terminal_text(p, "add.cl", cl);
}

static void run(terminal *p, const mistake *m)
{
    terminal_open(p);
    make_files(p, m);
    terminal_run(p, m->command);
}

START_TEST(message)
{
    const mistake *m = &mistakes[_i];
    terminal p;

    run(&p, m);
    ck_assert_msg(p.status != 0 && *p.err, "%s: status %d, says '%s'", m->name,
                  p.status, p.err);
    ck_assert_msg(p.status == m->status, "%s: status %d: %s", m->name, p.status,
                  p.err);
    ck_assert_msg(!strcmp(p.err, m->says), "%s:\n%sexpected:\n%s", m->name,
                  p.err, m->says);
    terminal_close(&p);
}
END_TEST

/* The table as it is found now. */
START_TEST(update)
{
    str out = {0};

    str_puts(&out, head);
    for (int i = 0; i < n_mistakes; i++) {
        const mistake *m = &mistakes[i];
        terminal p;

        run(&p, m);
        str_printf(&out, "\n== %s\n%s$ %s\n%d\n%s", m->name, m->changes,
                   m->command, p.status, p.err);
        terminal_close(&p);
    }
    ck_assert(!file_write(TABLE, out.data, out.n, NULL));
    str_free(&out);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mistakes");
    TCase *c = tcase_create("mistakes");
    SRunner *r;
    int failed;

    mem = arena_create(0);
    read_table();
    tcase_set_timeout(c, 60);
    if (getenv("MISTAKES_UPDATE"))
        tcase_add_test(c, update);
    else
        tcase_add_loop_test(c, message, 0, n_mistakes);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    arena_destroy(mem);
    return failed != 0;
}
