/* JSON that findings are written in. Values are new references (jansson). */
#ifndef VPU_RUNTIME_FINDINGS_SARIF_H
#define VPU_RUNTIME_FINDINGS_SARIF_H

#include <jansson.h>
#include <stdint.h>

#include "base/str.h"

/* {"text": s} */
json_t *sarif_message(const char *s);
/* A location; col 0 = the whole line, line 0 = the whole file. */
json_t *sarif_location(const char *path, uint32_t line, uint32_t col);
json_t *sarif_rule(const char *id, const char *summary, const char *help);
/* The log of one run; takes rules and results. */
void sarif_write(const char *tool, json_t *rules, json_t *results, str *out);

#endif
