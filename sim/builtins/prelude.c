/* Carries vpusim/kernel.h inside the program. */
#include "sim/builtins/prelude.h"

__asm__(".section .rodata\n"
        "vpu_prelude_start:\n"
        ".incbin \"include/vpusim/kernel.h\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char vpu_prelude_start[];

const char *builtin_prelude_text(void)
{
    return vpu_prelude_start;
}
