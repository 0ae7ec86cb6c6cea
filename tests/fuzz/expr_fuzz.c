/* Any bytes as an expression: no crash, no undefined behaviour. */
#include "runtime/config/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const config_var vars[] = {{"X", {.integer = 13}},
                                      {"Y", {.integer = INT32_MAX}},
                                      {"F", {.integer = INT32_MIN}},
                                      {"p", {.is_float = true, .real = 0.3f}}};
    config_expr e = {(const char *)data, n, "fuzz", 1, 1}, parts[3];
    vpu_error err;
    int32_t v;
    size_t n_parts;

    config_expr_uses(&e, vars, 4);
    config_expr_eval(&e, vars, 4, &v, &err);
    config_expr_split(&e, 3, parts, &n_parts, &err);
    return 0;
}
