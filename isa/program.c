#include "isa/program.h"
const char *isa_verify(const isa_function *f, uint32_t *block, uint32_t *instr){(void)f;(void)block;(void)instr;return 0;}
size_t isa_encode(const isa_function *fs, uint32_t n, uint8_t *out, size_t cap){(void)fs;(void)n;(void)out;(void)cap;return 0;}
