/* The runtime calls of compiled kernels, by number: rows of calls.def.
 *
 * Passes ask ir_call_id (sim/ir/ir.h) once which call an instruction is, and
 * the functions below what a call is like. Thread safe. */
#ifndef VPU_SIM_BUILTINS_CALLS_H
#define VPU_SIM_BUILTINS_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/builtins/routines.h"

/* What symbols of ours begin with; a source may name none of them but those of
 * PLAIN rows. */
#define CALL_PREFIX "__vpu_"

typedef enum {
    CALL_NONE,
#define ID(name, word, beyond) CALL_##name##0, CALL_##name##1, CALL_##name##2,
#define RUNTIME(name, who, form, hook, result, words, time, cost) CALL_##name,
#define DIVISION(name, opcode) CALL_##name,
#define VALUE(name, form, function, cost) CALL_##name,
#define ROUTINE_CALLS(name) CALL_##name##_f16, CALL_##name##_f32,
#define CHECK(name, symbol, many, effect, code) CALL_##name,
#define DEBUG(name) CALL_##name,
#define STAND_IN(name, standard, symbol) CALL_##name,
#include "sim/builtins/calls.def"
    CALL_N
} call_id;

/* Words that a work-group has and every item reads: three of each, one for a
 * dimension. In this order they are in sim_wg.ids (hostabi.h), behind the
 * arguments of a work-group function, and among the words that a SHAVE program
 * loads (sim/shave/abi.h). */
enum {
    SIM_ID_GROUP = 0,      /* number of the group */
    SIM_ID_LOCAL_SIZE = 3, /* items of a group */
    SIM_ID_N_GROUPS = 6,
    SIM_ID_OFFSET = 9, /* of the global id */
    SIM_ID_WORK_DIM = 12,
    SIM_N_IDS = 15,
    SIM_N_HIDDEN, /* arguments behind a kernel's own: the words, and where
                     values are kept across barriers */
    SIM_ID_ITEM = SIM_N_IDS /* local id: none of the group's words */
};

/* What the optimiser may take for granted; sim/ir makes attributes of it. */
typedef enum {
    CALL_ANYTHING, /* nothing */
    CALL_VALUE,    /* its value depends on the arguments alone, and it may be
                      made where the source does not make it */
    CALL_MEETS,    /* it stays where it is, and there is one of it */
    CALL_ENDS,     /* it does not return, and is rare */
    CALL_OBSERVES, /* it touches no memory of the kernel's */
    CALL_READS,    /* and reads what its arguments point to */
    CALL_TESTS,    /* as CALL_OBSERVES, but it may not return: an optimiser that
                      knows that a test returns knows that what it tests for
                      does not hold, as a division by zero that follows */
    CALL_MAKES,    /* it touches no memory at all */
    CALL_TELLS     /* it is C: nothing unwinds */
} call_effect;

/* Types of a VALUE row's host function. */
typedef enum {
    CALL_FLOAT_TO_HALF,
    CALL_I64_TO_FLOAT,
    CALL_U64_TO_FLOAT,
    CALL_HALVES_TO_HALF,
    CALL_FLOATS_TO_FLOAT
} call_form;

/* The call with this symbol; with this name, which is the symbol without
 * CALL_PREFIX. CALL_NONE: there is none. */
call_id call_find(const char *symbol);
call_id call_named(const char *name);
/* Its symbol; of numbered ones what stands before the number. */
const char *call_symbol(call_id id);
/* Are there several functions of it, with a number behind the symbol? */
bool call_is_numbered(call_id id);
/* Does the symbol begin as ours do? */
bool call_is_reserved(const char *symbol);

call_effect call_effect_of(call_id id);
/* All items of a group come there, and it happens once for all of them. */
bool call_is_collective(call_id id);
/* The engine does it for each item that comes there: what it gives is the
 * item's own. */
bool call_is_for_each(call_id id);
/* Control does not return from it. */
bool call_ends(call_id id);
/* It takes as long as the kernel likes. */
bool call_is_long(call_id id);
/* It reads or writes, or waits for what does so, at places and of sizes that
 * its arguments say. */
bool call_needs_defined(call_id id);
/* i32 arguments of a RUNTIME row, at most CALL_MAX_WORDS; CALL_WORDS_name for
 * the compiler. */
enum {
#define RUNTIME(name, who, form, hook, result, words, time, cost) \
    CALL_WORDS_##name = (words),
#include "sim/builtins/calls.def"
    CALL_MAX_WORDS = 16
};
unsigned call_words(call_id id);
/* A number of the item or its group. */
bool call_is_id(call_id id);
/* Of those: SIM_ID_…, the dimension. */
unsigned call_word(call_id id);
unsigned call_dimension(call_id id);
/* The dimension of the item's own id that the call gives; -1: another call. */
int call_item_dimension(call_id id);
/* Tells the checkers something. (CALL_undef does not: it makes a value.) */
bool call_is_check(call_id id);
/* The check in front of an access. */
bool call_is_access(call_id id);
/* Its arguments are floats: a mathematical routine, or a rounding of floats. */
bool call_takes_floats(call_id id);
/* The row of routines.def, NULL for other calls; *half: its form for half. */
const builtin_routine *call_routine(call_id id, bool *half);
/* Host code of VALUE rows and routines, for the linker; NULL: other calls. */
void *call_code(call_id id);

/* The name that the standard gives what a STAND_IN row stands for; NULL: other
 * calls. */
const char *call_standard_name(call_id id);
/* A STAND_IN whose symbol is not mangled. */
bool call_is_plain(call_id id);

/* The call for a dimension of an ID row, by the row's name; CALL_NONE: there is
 * no such row. */
call_id call_of_id(const char *name, unsigned dimension);
/* What a dimension after the third has. */
uint32_t call_id_beyond(const char *name);
/* The call of a routine (routines.def), or of a VALUE row that has both
 * precisions, by name; CALL_NONE: there is none. */
call_id call_of_routine(const char *name, bool half);
/* Float to half, 64-bit integer to float with a direction, 'z' 'p' 'n' as the
 * standard's _rtz _rtp _rtn; CALL_NONE: it is none of these. */
call_id call_half_directed(char direction);
call_id call_float_directed(bool is_signed, char direction);
/* The check in front of accesses to an address space. */
call_id call_of_space(unsigned space);

#endif
