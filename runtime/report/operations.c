/* Operations that are several launches, as one. */
#include <jansson.h>

#include "runtime/report/report_priv.h"

/* Of the last run. */
static backend_result sum_of(const report_source *r, const report_operation *op)
{
    const backend_result *last =
        r->results + (size_t)(r->repeat - 1) * r->graph->n_launches;
    backend_result sum = {0};

    for (uint32_t i = op->first; i < op->first + op->n; i++) {
        sum.cycles += last[i].cycles;
        sum.seconds += last[i].seconds;
    }
    return sum;
}

void report_operations_text(const report_source *r, str *out)
{
    for (uint32_t k = 0; k < r->n_operations; k++) {
        const report_operation *op = &r->operations[k];
        const backend_result sum = sum_of(r, op);

        str_printf(out, "%s: an operation of %u stages\n", op->name, op->n);
        if (sum.cycles)
            str_printf(out, "  %-26s %llu (%.3f ms)\n", "cycles",
                       (unsigned long long)sum.cycles, sum.seconds * 1e3);
        else
            str_printf(out, "  %-26s %.6f ms\n", "time", sum.seconds * 1e3);
    }
}

void report_operations_json(const report_source *r, json_t *o)
{
    json_t *list;

    if (!r->n_operations)
        return;
    list = json_array();
    for (uint32_t k = 0; k < r->n_operations; k++) {
        const report_operation *op = &r->operations[k];
        const backend_result sum = sum_of(r, op);

        json_array_append_new(
            list, json_pack("{s:s,s:I,s:I,s:I,s:f}", "name", op->name,
                            "first_stage", (json_int_t)op->first, "stages",
                            (json_int_t)op->n, "cycles", (json_int_t)sum.cycles,
                            "seconds", sum.seconds));
    }
    json_object_set_new(o, "operations", list);
}
