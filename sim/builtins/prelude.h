/* What every kernel sees before its own first line. */
#ifndef VPU_SIM_BUILTINS_PRELUDE_H
#define VPU_SIM_BUILTINS_PRELUDE_H

/* The text of include/vpusim/kernel.h, zero-terminated, static. */
const char *builtin_prelude_text(void);

#endif
