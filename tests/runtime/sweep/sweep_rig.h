/* What tests of vpu sweep share. */
#ifndef VPU_TESTS_RUNTIME_SWEEP_SWEEP_RIG_H
#define VPU_TESTS_RUNTIME_SWEEP_SWEEP_RIG_H

#include "tests/support/add_layer.h"

#define RUN "run layer.xml --layer Add --param bias=1\n"
#define SHAPES "vary --shape in0=1x2x4x16 in0=1x2x8x16\n"

/* Runs the program: it ends with that status, and says these words. */
void sweep_expect(terminal *p, const char *command, int status,
                  const char *words);
/* A file's text, in the arena. */
const char *sweep_file(terminal *p, const char *name);
/* Row i's cell of a table in the column of that name, in the arena. */
const char *sweep_cell(terminal *p, const char *csv, int row,
                       const char *column);

#endif
