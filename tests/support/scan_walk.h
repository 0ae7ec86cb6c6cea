/* What the files of the scanner share: a function on the way through it. */
#ifndef VPU_TESTS_SUPPORT_SCAN_WALK_H
#define VPU_TESTS_SUPPORT_SCAN_WALK_H

#include "tests/support/scan.h"
#include "tests/support/scan_state.h"

enum { SCAN_MAX_LIMITS = 512 };

typedef struct {
    uint64_t at;
    scan_state in, next; /* next: of the descending pass */
    bool waits;
    unsigned visits;
} scan_block;

typedef struct {
    const scan_section *sections;
    size_t n_sections;
    int code;
    uint64_t begin, end;
    uint32_t args_bytes;
    arena *a;
    scan_block **blocks; /* by number */
    size_t n_blocks, cap_blocks;
    uint32_t *block_at; /* number + 1, by offset from begin */
    scan_instruction **decoded;
    uint32_t *owner; /* of each byte: offset of its instruction + 1 */
    int64_t limits[SCAN_MAX_LIMITS];
    size_t n_limits;
    enum { SCAN_ASCEND, SCAN_DESCEND, SCAN_JUDGE } phase;
    bool changed;
    const char *wrong;
    /* While a block is walked. */
    scan_state s, before, was;
    const scan_instruction *i;
} scan;

/* --- memory (scan_memory.c) --- */

/* Keeps the first words about what is wrong, in the last pass alone. */
__attribute__((format(printf, 2, 3))) void scan_refuse(scan *x, const char *fmt,
                                                       ...);
const scan_section *scan_code_of(const scan *x);
uint64_t scan_next_of(const scan_instruction *i);
const scan_relocation *scan_relocation_at(const scan_section *s, uint64_t from,
                                          uint64_t to);
/* The one in the instruction x->i, NULL: none. */
const scan_relocation *scan_relocation_of(const scan *x);
const char *scan_symbol_of(const scan *x, scan_value v);
scan_value scan_immediate_relocation(scan *x, const scan_relocation *r);
scan_value scan_address_of(scan *x, const scan_operand *o);
/* Refuses it unless it is inside what v counts from. */
void scan_check_access(scan *x, scan_value v, uint32_t bytes, bool write);
scan_value scan_load(scan *x, scan_value at, uint32_t bytes);
/* A name for the k-th value that the instruction x->i makes. */
uint32_t scan_new_name(const scan *x, int k);
void scan_store(scan *x, scan_value at, uint32_t bytes, scan_value v,
                bool is_vector);

/* --- instructions (scan_step.c) --- */

scan_value scan_read_operand(scan *x, const scan_operand *o, unsigned bits);
/* What is known where condition c of the last comparison holds. */
void scan_learn_branch(scan *x, const char *c);
const char *scan_condition_of(const char *c);
/* The instruction x->i, which is no jump, call or return. */
void scan_do_plain(scan *x);

#endif
