/* JSON values as text. */
#include "runtime/json/jsontext.h"

#include <stdlib.h>

#include "base/oom.h"

void jsontext_add(str *out, json_t *j, int digits)
{
    size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(digits);
    char *text = j ? json_dumps(j, flags) : NULL;

    json_decref(j);
    if (!text)
        oom_raise(1);
    str_puts(out, text);
    str_puts(out, "\n");
    free(text);
}

json_t *jsontext_string(const char *s)
{
    json_t *j = json_string(s);
    str clean = {0};

    if (j)
        return j;
    str_puts_xml(&clean, s);
    j = json_string(str_text(&clean));
    str_free(&clean);
    return j;
}
