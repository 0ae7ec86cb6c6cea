/* Looks into the machine code of a kernel and says whether it keeps to what the
 * compiler promises of all such code, from the bytes alone: nothing here knows
 * how the compiler works.
 *
 * Each function is followed from its first instruction along every way control
 * can take, with an interval for each register and stack slot, and what the
 * interval counts from: the arguments of sim_wg_fn, the stack, a section.
 * What must hold:
 *   - each access is inside what it counts from: sim_wg, the argument block,
 *     the log, the function's own frame, a section of constants, or the window;
 *     of sim_wg only cycles, log_n, line and col are written, and of its row
 *     the entries and their number, of the argument block and the constants
 *     nothing; no host address goes into the window
 *   - control leaves the function by a return to the caller alone, with the
 *     stack and the registers that belong to the caller as they were; a jump
 *     through a table stays in the table and the function
 *   - nothing is called but what jit.c offers; memory functions get the window
 *   - an instruction that is not known here does not occur
 *
 * What is taken on trust: LLVM's disassembler tells what an instruction is;
 * hooks keep the calling convention, none makes log_n larger, flush leaves 0
 * there, it is at most SIM_LOG_ENTRIES at the entry, and hooks that do not
 * return do not.
 *
 * LLVM's disassembler, not Capstone's: Debian's 4.0.2 does not decode all of
 * AVX-512, and scales some displacements wrongly. */
#ifndef VPU_TESTS_SUPPORT_SCAN_H
#define VPU_TESTS_SUPPORT_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* Every function of an object file, as sim_kernel.object. NULL: as it should
 * be, else what is not, in the arena. */
const char *scan_object(const uint8_t *object, size_t n, uint32_t args_bytes,
                        arena *a);

/* A relocation at a place in a section: the value is that of a symbol of the
 * host (section < 0) or a place in a section, plus addend. */
typedef struct {
    uint64_t at;
    uint32_t type; /* R_X86_64_… */
    const char *symbol;
    int section;
    int64_t addend; /* with the symbol's own value */
} scan_relocation;

typedef struct {
    const uint8_t *bytes;
    size_t length;
    const scan_relocation *relocations;
    size_t n_relocations;
    int executable, present;
} scan_section;

/* One function: n bytes from `begin` on in section `code` of n_sections. */
const char *scan_function(const scan_section *sections, size_t n_sections,
                          int code, uint64_t begin, uint64_t n,
                          uint32_t args_bytes, arena *a);

#endif
