/* JSON values as text. Values are references of jansson. */
#ifndef VPU_RUNTIME_JSON_JSONTEXT_H
#define VPU_RUNTIME_JSON_JSONTEXT_H

#include <jansson.h>

#include "base/str.h"

/* Digits that give every double back as it was. */
enum { JSONTEXT_EXACT = 17 };

/* Appends j, indented by two, with `digits` (1 to 17) significant digits in
 * real numbers, and a newline. Takes the reference. A shortage of memory leaves
 * the oom_scope (base/oom.h), as it does when j is NULL: the value could not be
 * made. */
void jsontext_add(str *out, json_t *j, int digits);

/* A string value of bytes that may not be UTF-8: each byte that JSON cannot
 * hold becomes '?'. A new reference. */
json_t *jsontext_string(const char *s);

#endif
