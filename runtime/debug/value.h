/* Types and values of kernels, and expressions over them. The names come from
 * whoever stands behind dbg_env; nothing here runs anything. */
#ifndef VPU_RUNTIME_DEBUG_VALUE_H
#define VPU_RUNTIME_DEBUG_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

typedef enum {
    DBG_INT,
    DBG_UINT,
    DBG_FLOAT,
    DBG_VECTOR,
    DBG_ARRAY,
    DBG_POINTER, /* 32-bit device address */
    DBG_STRUCT,
    DBG_TENSOR, /* a buffer of the graph, as a whole */
    DBG_UNKNOWN
} dbg_kind;

typedef struct dbg_type dbg_type;

typedef struct {
    const char *name;
    uint64_t offset;
    const dbg_type *type;
} dbg_field;

struct dbg_type {
    dbg_kind kind;
    uint64_t bytes;
    uint64_t count;     /* elements, fields; TENSOR: the buffer's number */
    const dbg_type *of; /* VECTOR, ARRAY, POINTER, TENSOR */
    const dbg_field *fields;
};

/* Type texts of exec_observer.var. Anything that is none gives DBG_UNKNOWN. In
 * the arena. */
const dbg_type *dbg_type_parse(const char *text, arena *a);

/* "half4", "int[3]", "half *"; appended. */
void dbg_type_text(const dbg_type *t, str *out);

/* Something in memory (at), or a number that is nowhere. */
typedef struct {
    const dbg_type *type;
    const uint8_t *at; /* NULL: the number */
    bool real;
    double floating;
    int64_t integer;
} dbg_value;

enum { DBG_MAX_INDEX = 8 };

/* What names mean. Errors: VPU_ERR_INVALID, with the name or address. */
typedef struct {
    vpu_status (*variable)(void *user, const char *name, dbg_value *out,
                           vpu_error *err);
    /* The bytes at a device address; NULL: they cannot be read. */
    const uint8_t *(*memory)(void *user, uint32_t address, uint64_t bytes);
    /* Element of a tensor by its coordinates; base is a DBG_TENSOR or a pointer
     * into a buffer. */
    vpu_status (*element)(void *user, const dbg_value *base,
                          const int64_t *index, uint32_t n, dbg_value *out,
                          vpu_error *err);
    void (*address)(void *user, uint32_t address, str *out); /* in words */
    /* The device address of these bytes; false: they have none. */
    bool (*where)(void *user, const uint8_t *at, uint32_t *address);
    /* A tensor's first byte. */
    const uint8_t *(*tensor)(void *user, const dbg_value *v);
    void *user;
} dbg_env;

/* C's operators over numbers (|| && == != < <= > >= + - * / % unary - ! * &),
 * names, x[i], x[n,c,y,x], x.field, x.s0, x->field, parentheses, and x@n: the n
 * elements from where x begins (an array, a buffer), points to (a pointer) or
 * stands (any other). All of text must be one expression. Types made on the way
 * are in the arena.
 *
 * VPU_ERR_PARSE    text is no expression
 * VPU_ERR_INVALID  unknown name, index outside, address that cannot be read,
 *                  division by zero, operands that are no numbers
 * VPU_ERR_LIMIT    nested deeper than 64 */
vpu_status dbg_evaluate(const char *text, const dbg_env *env, arena *a,
                        dbg_value *out, vpu_error *err);
/* A number (a scalar in memory, too). VPU_ERR_INVALID: it is none. */
vpu_status dbg_number(const dbg_value *v, dbg_value *out, vpu_error *err);
bool dbg_true(const dbg_value *number);
/* How a number is written: x d u o t (binary) c f, 0 = by its type; of the bits
 * that it has in memory. unit: b h w g, 0 = none given. */
typedef struct {
    char letter, unit;
    uint32_t count; /* 0 = none given */
} dbg_format;

/* As text; long arrays are cut. letter: as dbg_format's. */
void dbg_show(const dbg_value *v, const dbg_env *env, char letter, str *out);
/* Writes a number as the type of a scalar in memory has it.
 *
 * VPU_ERR_INVALID  to is no scalar, or the number does not fit it */
vpu_status dbg_store(const dbg_value *number, const dbg_type *to,
                     uint8_t bytes[8], vpu_error *err);

#endif
