/* Programs for tests of isa/: from text, and random ones. */
#ifndef VPU_TESTS_ISA_ISA_RIG_H
#define VPU_TESTS_ISA_ISA_RIG_H

#include "base/arena.h"
#include "isa/interp.h"
#include "isa/text.h"

isa_memory isa_rig_memory(arena *a);

/* The text's only function; a text that does not read fails the test. */
isa_function *isa_rig_read(arena *a, const char *text);

/* Prepares the program and runs it, with scratch of its own; env.bundle is
 * called where it is given. */
isa_outcome isa_rig_run(arena *a, const isa_function *f, isa_env env);

uint32_t isa_rig_random(uint64_t *seed, uint32_t below);

/* Random fields for the operation, most of which fit its row. */
isa_instr isa_rig_instr(uint64_t *seed, isa_op op);

/* A sound program with each operation in it at least once, straight blocks,
 * branches, calls, predicates and a pipelined loop. */
isa_function isa_rig_program(arena *a, uint64_t seed);

/* Fails the test where the two differ. */
void isa_rig_same(const isa_function *f, const isa_function *g);

#endif
