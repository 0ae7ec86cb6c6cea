/* The manifest of a container: JSON of which nothing is believed. The first
 * problem counts; what is read after it is something harmless. */
#ifndef VPU_RUNTIME_RECORD_MANIFEST_H
#define VPU_RUNTIME_RECORD_MANIFEST_H

#include <jansson.h>
#include <stdbool.h>

#include "runtime/record/container.h"

typedef struct {
    const container *file;
    arena *a;
    bool failed; /* file->err says why */
} manifest;

/* Section 0 as JSON, a new reference.
 *
 * VPU_ERR_PARSE  it is none; VPU_ERR_LIMIT: larger than max_bytes */
vpu_status manifest_open(manifest *m, uint64_t max_bytes, json_t **out);
/* VPU_ERR_PARSE at the byte where the manifest begins: "where.key: expected …".
 */
void manifest_wrong(manifest *m, const char *where, const char *key,
                    const char *expected);
/* The value of a key of object o, which is called `where` in messages. Texts in
 * the arena, without zero bytes; where it may be null, NULL. */
const char *manifest_text(manifest *m, const json_t *o, const char *where,
                          const char *key);
const char *manifest_text_or_null(manifest *m, const json_t *o,
                                  const char *where, const char *key);
bool manifest_bool(manifest *m, const json_t *o, const char *where,
                   const char *key);
int64_t manifest_number(manifest *m, const json_t *value, const char *where,
                        const char *key, int64_t least, int64_t most);
const json_t *manifest_list(manifest *m, const json_t *o, const char *where,
                            const char *key, uint32_t *n);
const char *const *manifest_texts(manifest *m, const json_t *o,
                                  const char *where, const char *key,
                                  uint32_t *n);
/* Texts "name=value". */
const char *const *manifest_pairs(manifest *m, const json_t *o,
                                  const char *where, const char *key,
                                  uint32_t *n);
/* The index of a text among n names. */
int manifest_one_of(manifest *m, const json_t *o, const char *where,
                    const char *key, const char *const *names, int n);

#endif
