/* A SHAVE program as a listing for people, which the assembler takes, too:
 * everything that isa_print does not have is in comments. */
#ifndef VPU_RUNTIME_REPORT_LISTING_H
#define VPU_RUNTIME_REPORT_LISTING_H

#include "base/str.h"
#include "isa/program.h"

/* The lines of a source file. */
typedef struct {
    const char *const *lines;
    size_t *lengths;
    uint32_t n;
} listing_source;

/* Figures, a table of blocks, then bundle by bundle: cycle, operations, source
 * position, and what each waits for. src may be NULL; else a line's text stands
 * before the first bundle that comes from it. f is verified. */
void listing_print(const isa_function *f, const listing_source *src, str *out);

#endif
