/* A SHAVE program as a listing for people, which the assembler takes, too:
 * everything that isa_print does not have is in comments. */
#ifndef VPU_RUNTIME_REPORT_LISTING_H
#define VPU_RUNTIME_REPORT_LISTING_H

#include <jansson.h>

#include "base/str.h"
#include "isa/program.h"

/* The lines of a source file. */
typedef struct {
    const char *const *lines;
    size_t *lengths;
    uint32_t n_lines;
} listing_source;

/* Figures, a table of blocks, then bundle by bundle: cycle, operations, source
 * position, and what each waits for. src may be NULL; else a line's text stands
 * before the first bundle that comes from it. f is verified. */
void listing_print(const isa_function *f, const listing_source *src, str *out);

/* The same program as a JSON object with the members figures, blocks and, in
 * each block, operations in the order of issue (docs/formats.md). A new
 * reference; NULL: no memory. */
json_t *listing_json(const isa_function *f);

/* What both forms count. */
typedef struct {
    uint64_t bundles;                  /* empty ones included */
    uint32_t filled;                   /* bundles with operations */
    uint32_t i_registers, v_registers; /* that the program names */
} listing_figures;

listing_figures listing_count(const isa_function *f);
/* "plain", "kernel", …, of an isa_block_kind. */
const char *listing_block_kind(uint8_t kind);

#endif
