/* Findings as text, JSON and SARIF. */
#include "runtime/findings/sarif.h"
#include "runtime/findings/snippet.h"
#include "runtime/json/jsontext.h"
#include "runtime/lint/lint.h"

/* --- text ---------------------------------------------------------------- */

static void print_one(const lint_finding *x, snippet_file *f, arena *a,
                      str *out)
{
    const lint_check_info *info = &lint_checks[x->check];
    uint32_t col = snippet_column(f, x->path, x->line, x->col, a);

    str_printf(out, "%s:%u:%u: warning: %s [%s]\n", x->path, x->line, col,
               x->text, info->name);
    snippet_print(f, x->path, x->line, x->col, a, out);
    str_printf(out, "%s:%u:%u: note: %s\n", x->path, x->line, col, info->tip);
}

static const char *plural(uint32_t n)
{
    return n == 1 ? "" : "s";
}

void lint_print_text(const lint_result *r, const char *binding, arena *a,
                     str *out)
{
    snippet_file f = {0};
    uint32_t on = 0;

    for (uint32_t i = 0; i < r->n_findings; i++)
        print_one(&r->findings[i], &f, a, out);
    if (r->n_findings) {
        str_printf(out, "%u finding%s\n", r->n_findings, plural(r->n_findings));
        return;
    }
    str_printf(out, "%s: no findings: %u layer%s, %u kernel%s, checked for ",
               binding, r->n_layers, plural(r->n_layers), r->n_kernels,
               plural(r->n_kernels));
    for (int c = 0; c < LINT_N_CHECKS; c++)
        if (r->checks >> c & 1)
            str_printf(out, "%s%s", on++ ? ", " : "", lint_checks[c].name);
    str_printf(out, "%s%s\n", on ? "" : "nothing",
               r->sizes ? "" : " (sizes only where constant: no --shape)");
}

/* --- JSON ---------------------------------------------------------------- */

void lint_print_json(const lint_result *r, const char *binding, str *out)
{
    json_t *root = json_object(), *list = json_array(), *on = json_array();

    for (int c = 0; c < LINT_N_CHECKS; c++)
        if (r->checks >> c & 1)
            json_array_append_new(on, json_string(lint_checks[c].name));
    for (uint32_t i = 0; i < r->n_findings; i++) {
        const lint_finding *x = &r->findings[i];
        json_t *j = json_object();

        json_object_set_new(j, "check",
                            json_string(lint_checks[x->check].name));
        json_object_set_new(j, "file", jsontext_string(x->path));
        json_object_set_new(j, "line", json_integer(x->line));
        json_object_set_new(j, "column", json_integer(x->col));
        json_object_set_new(j, "message", jsontext_string(x->text));
        json_object_set_new(j, "tip", json_string(lint_checks[x->check].tip));
        json_array_append_new(list, j);
    }
    json_object_set_new(root, "binding", jsontext_string(binding));
    json_object_set_new(root, "layers", json_integer(r->n_layers));
    json_object_set_new(root, "kernels", json_integer(r->n_kernels));
    json_object_set_new(root, "sizes_known", json_boolean(r->sizes));
    json_object_set_new(root, "checks", on);
    json_object_set_new(root, "findings", list);
    jsontext_add(out, root, JSONTEXT_EXACT);
}

/* --- SARIF --------------------------------------------------------------- */

static json_t *sarif_rules(void)
{
    json_t *rules = json_array();

    for (int c = 0; c < LINT_N_CHECKS; c++)
        json_array_append_new(rules, sarif_rule(lint_checks[c].name,
                                                lint_checks[c].summary,
                                                lint_checks[c].tip));
    return rules;
}

static json_t *sarif_result(const lint_finding *x)
{
    return json_pack("{s:s,s:i,s:s,s:o,s:[o]}", "ruleId",
                     lint_checks[x->check].name, "ruleIndex", (int)x->check,
                     "level", "warning", "message", sarif_message(x->text),
                     "locations", sarif_location(x->path, x->line, x->col));
}

void lint_print_sarif(const lint_result *r, str *out)
{
    json_t *results = json_array();

    for (uint32_t i = 0; i < r->n_findings; i++)
        json_array_append_new(results, sarif_result(&r->findings[i]));
    sarif_write("vpu lint", sarif_rules(), results, out);
}
