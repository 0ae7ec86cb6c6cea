/* What clang says of a source, as its author is to read it. */
#ifndef VPU_SIM_COMPILER_FRONT_DIAGNOSTICS_H
#define VPU_SIM_COMPILER_FRONT_DIAGNOSTICS_H

#include "base/arena.h"

/* Clang's text without what speaks of our prelude and of clang's own header. A
 * call that none of their declarations fits gets notes in their place: how the
 * function is called, and why the candidates do not do. In the arena; text is
 * cut up. */
char *fe_diagnostics(char *text, const char *prelude_path, arena *a);

#endif
