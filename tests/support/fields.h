/* The program's JSON, read by tests: what is missing or of another type ends
 * the test with the field's name. */
#ifndef VPU_TESTS_SUPPORT_FIELDS_H
#define VPU_TESTS_SUPPORT_FIELDS_H

#include <jansson.h>
#include <stdint.h>

/* The caller's reference. No key may stand twice in an object. */
json_t *fields_read(const char *text);
uint64_t fields_number(const json_t *o, const char *key); /* whole */
double fields_real(const json_t *o, const char *key);     /* any number */
const char *fields_text(const json_t *o, const char *key);

#endif
