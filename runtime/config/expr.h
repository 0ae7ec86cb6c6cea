/* Expressions of work sizes and buffer sizes.
 *
 *   expr   = number | name | func | "+" "-" "*" "/" "%" | "(" | ")" in any
 *            order a shunting-yard accepts; no unary sign
 *   number = starts with a digit; the longest prefix strtof accepts
 *   name   = letter (letter | digit | "_")*
 *   func   = floor | ceil | round | abs | sqrt
 *
 * "*" "/" "%" bind tighter than "+" "-", functions tighter than both, and all
 * are left-associative. Values are int32 or float32: two ints give an int ("/"
 * truncates toward zero), otherwise both become float; functions give floats
 * (round takes halves away from zero). The result is an int32, a float being
 * truncated toward zero. These are the rules of OpenVINO 2021.2 to 2022; 2020.4
 * to 2021.1 truncated float literals, earlier releases knew ints only.
 *
 * Where the vendor's compiler has undefined behaviour (division by zero,
 * overflow, a result that does not fit), this one reports an error.
 * Thread safe; allocates nothing. */
#ifndef VPU_RUNTIME_CONFIG_EXPR_H
#define VPU_RUNTIME_CONFIG_EXPR_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "runtime/config/number.h"

enum { CONFIG_EXPR_MAX = 1024 }; /* characters of one expression */

typedef struct {
    const char *name;
    config_value value;
} config_var;

/* An expression where it stands: n characters at text, in a file. */
typedef struct {
    const char *text;
    size_t length;
    const char *path; /* for messages */
    uint32_t line, col;
} config_expr;

/* Evaluate. The first of equal names in vars counts.
 *
 * VPU_ERR_PARSE    not an expression: unknown token, parentheses that do not
 *                  match, values and operators that do not fit together
 * VPU_ERR_INVALID  no value: division by zero, overflow, "%" of floats, a
 *                  result outside int32
 * VPU_ERR_LIMIT    longer than CONFIG_EXPR_MAX
 * The message is "path:line:col: error: expression 'text': reason". */
vpu_status config_expr_eval(const config_expr *e, const config_var *vars,
                            size_t n_vars, int32_t *out, vpu_error *err);

/* Only what the compiler checks when it looks for a suitable layer: every name
 * known, parentheses matching. Errors as above, without VPU_ERR_INVALID. */
vpu_status config_expr_check(const config_expr *e, const config_var *vars,
                             size_t n_vars, vpu_error *err);

/* What an expression uses that not every release knows. */
typedef enum {
    CONFIG_EXPR_NAMES = 1,    /* functions, layer parameters, long names */
    CONFIG_EXPR_FRACTIONS = 2 /* floating-point literals and variables */
} config_expr_use;

/* The config_expr_use of an expression that config_expr_check accepts. */
unsigned config_expr_uses(const config_expr *e, const config_var *vars,
                          size_t n_vars);

/* The next name from *at on that is no function and none of B, F, Y, X, *n
 * characters; *at is behind it then. NULL: there is none left. */
const char *config_expr_name(const config_expr *e, size_t *at, size_t *n);

/* Split a comma-separated list into at most max expressions; *n is their
 * number. An empty text is one empty expression.
 *
 * VPU_ERR_INVALID  more than max */
vpu_status config_expr_split(const config_expr *list, size_t max,
                             config_expr *items, size_t *n, vpu_error *err);

#endif
