/* The log's functions and the arena's fixture. */
#include "tests/support/util.h"

#include <string.h>

static void keep(void *user, log_level level, const char *text)
{
    str_printf(user, "%s: %s\n", level == LOG_WARNING ? "warning" : "note",
               text);
}

void test_log_init(test_log *l)
{
    *l = (test_log){.sink = {.line = keep}};
    l->sink.user = &l->lines;
}

void test_log_fini(test_log *l)
{
    str_free(&l->lines);
}

int test_log_count(const test_log *l, const char *text)
{
    int n = 0;

    for (const char *p = str_text(&l->lines); *p;) {
        const char *end = strchr(p, '\n');

        n += memmem(p, (size_t)(end - p), text, strlen(text)) != NULL;
        p = end + 1;
    }
    return n;
}
