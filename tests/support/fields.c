/* The program's JSON, read by tests. */
#include "tests/support/fields.h"

#include <check.h>

json_t *fields_read(const char *text)
{
    json_error_t e;
    json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, &e);

    ck_assert_msg(j != NULL, "%d: %s\n%s", e.line, e.text, text);
    return j;
}

static const json_t *field(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);

    ck_assert_msg(v != NULL, "no field '%s'", key);
    return v;
}

uint64_t fields_number(const json_t *o, const char *key)
{
    const json_t *v = field(o, key);

    ck_assert_msg(json_is_integer(v), "'%s' is no whole number", key);
    return (uint64_t)json_integer_value(v);
}

double fields_real(const json_t *o, const char *key)
{
    const json_t *v = field(o, key);

    ck_assert_msg(json_is_number(v), "'%s' is no number", key);
    return json_number_value(v);
}

const char *fields_text(const json_t *o, const char *key)
{
    const json_t *v = field(o, key);

    ck_assert_msg(json_is_string(v), "'%s' is no text", key);
    return json_string_value(v);
}
