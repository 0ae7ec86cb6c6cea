/* Makes a work-item function tell what it does: calls that later passes keep
 * and host/check.c gives their meaning.
 *
 *   void check_array(i32 site, ptr)      a private array begins to exist
 *   T    undef.N(i32 site)               a private variable's first value
 *   ptr  check.asN(i32 site, ptr, ptr root)   before each access: the
 *                                              address to use
 *   i32  check_block(i32 site, i32 ptr, i32 root, i32 n)  0 = do not
 *   void check_if(i32 site, i1 wrong, i64 x, i64 y)
 *   void check_at(i32 site)              before a collective call
 *   void check_events(i32 site, i32 n, ptr, ptr root)    before a wait
 *   void check_expected(i32 value)       before a compare and exchange
 *   void check_same(i32 site, i32 hash)  of a transfer's arguments
 *
 * The line operand of dma becomes the transfer's site. */
#ifndef VPU_SIM_COMPILER_CHECK_INSTRUMENT_H
#define VPU_SIM_COMPILER_CHECK_INSTRUMENT_H

#include <llvm-c/Core.h>

#include "base/arena.h"
#include "sim/compiler/abi/types.h"

typedef struct instrument instrument;

/* One for all variants of a kernel; k's arguments are described already.
 * sites: filled, in arena a. */
instrument *instrument_begin(LLVMModuleRef m, const char *path,
                             const sim_kernel *k, const sim_checking *what,
                             arena *a, sim_sites *sites);

/* As clang wrote fn, with calls of vloadN still in it: a vector that it reads
 * or writes through a pointer is aligned as its type, also where clang knows
 * better, since the pointer was cast from one to elements. Members of packed
 * structures stay as they are. */
void instrument_alignment(instrument *x, LLVMValueRef fn);
/* First, before anything promotes variables to values: arrays stay in memory,
 * other variables get a first value that can be told from others. */
void instrument_variables(instrument *x, LLVMValueRef fn,
                          sim_variant_kind variant);
/* Then, with built-ins expanded and those variables promoted: the accesses. */
void instrument_accesses(instrument *x, LLVMValueRef fn,
                         sim_variant_kind variant);
/* Behind all instrument_accesses: which loads of local memory
 * meet no store between the same barriers. */
void instrument_intervals(instrument *x, LLVMValueRef fn);
/* Behind all instrument_accesses, once: which arrays are used by whole
 * elements. */
void instrument_elements(instrument *x);
/* Behind the last variant. */
void instrument_end(instrument *x);

/* For taint.c: a site of kind at instruction i; its number. */
uint32_t instrument_site(instrument *x, sim_site_kind kind, LLVMValueRef i,
                         sim_variant_kind variant, uint32_t object);

#endif
