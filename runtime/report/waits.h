/* Why an operation of a finished program is not a cycle earlier, read off the
 * program itself: a result that arrives just then, a unit that is taken. */
#ifndef VPU_RUNTIME_REPORT_WAITS_H
#define VPU_RUNTIME_REPORT_WAITS_H

#include "base/str.h"
#include "isa/program.h"

/* Operation k of the function, in that block: "waits for i5 (ld at 4, 7)".
 * Nothing is added for what stands at the block's start or has no reason that
 * can be seen. True when the reason keeps the unit or the whole SHAVE waiting,
 * false when it is about order or there is none. */
bool waits_of_op(const isa_function *f, uint32_t block, uint32_t k, str *out);

/* Why the bundles from `from` to the next operation, or to the block's end,
 * are empty. */
void waits_of_gap(const isa_function *f, uint32_t block, uint32_t from,
                  str *out);

#endif
