/* A file of sections behind a head, every byte of it under a hash or 0
 * (docs/formats.md, "Recordings"). Recordings are such files, and graphs; the
 * first section is a manifest of JSON. */
#ifndef VPU_RUNTIME_RECORD_CONTAINER_H
#define VPU_RUNTIME_RECORD_CONTAINER_H

#include "base/arena.h"
#include "base/err.h"

typedef struct {
    const char *magic; /* 8 bytes */
    const char *begin; /* the same for messages */
    const char *called;
    uint32_t oldest, version; /* that are read; what is written */
    uint64_t max_bytes;
} container_kind;

typedef struct {
    const void *data;
    uint64_t bytes;
    uint64_t hash; /* XXH64 of them; filled by the functions below */
} container_section;

/* What was read; data is aligned to 64 if the bytes of the file are. */
typedef struct {
    const container_kind *kind;
    const unsigned char *p;
    size_t n;
    const char *path;
    uint32_t version, n_sections;
    vpu_error *err; /* never NULL */
} container;

/* The file appears whole or not at all. Fills hashes.
 *
 * VPU_ERR_IO  it cannot be written */
vpu_status container_write(const char *path, const container_kind *kind,
                           container_section *sections, uint32_t n,
                           vpu_error *err);

/* Checks head, table and every section of c->p, c->n bytes; the caller has
 * filled kind, p, n, path and err.
 *
 * VPU_ERR_PARSE        no such file, truncated, or changed (message: the byte,
 *                      and what was expected there)
 * VPU_ERR_UNSUPPORTED  of another version (message: those that are read) */
vpu_status container_check(container *c);
container_section container_at(const container *c, uint32_t i);
/* The byte where section i begins, or where its row of the table is. */
uint64_t container_place(const container *c, uint32_t i);
uint64_t container_row(const container *c, uint32_t i);
/* VPU_ERR_PARSE, "path: byte N: …". */
vpu_status container_bad(const container *c, uint64_t at, const char *fmt, ...)
    VPU_PRINTF(3, 4);

/* A file read into the arena, not checked; of what is no such file only the
 * head. Errors of container_check for the head; VPU_ERR_IO; VPU_ERR_LIMIT: more
 * than kind->max_bytes. */
vpu_status container_load(const char *path, const container_kind *kind,
                          arena *a, const void **data, size_t *n,
                          vpu_error *err);

#endif
