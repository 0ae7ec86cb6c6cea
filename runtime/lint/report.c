/* Findings as text, JSON and SARIF. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/lint/lint.h"
#include "sim/base/file.h"

enum { MAX_BYTES = 16 << 20 };

/* --- text ----------------------------------------------------------------- */

/* The last file read: findings come sorted by it. */
typedef struct {
    const char *path;
    char *text;
} shown_file;

static const char *line_of(shown_file *f, const lint_finding *x, arena *a,
                           size_t *n)
{
    size_t bytes;
    const char *s;

    if (!f->path || strcmp(f->path, x->path)) {
        f->path = x->path;
        if (file_read(x->path, MAX_BYTES, a, &f->text, &bytes, NULL))
            f->text = NULL;
    }
    if (!f->text)
        return NULL;
    s = f->text;
    for (uint32_t k = 1; k < x->line && s; k++) {
        s = strchr(s, '\n');
        s = s ? s + 1 : NULL;
    }
    *n = s ? strcspn(s, "\r\n") : 0;
    return s;
}

/* Tabs stay tabs, so that the caret is below its character. */
static void caret(const char *line, size_t n, uint32_t col, str *out)
{
    for (size_t i = 0; i + 1 < col && i < n; i++)
        if (((unsigned char)line[i] & 0xc0) != 0x80)
            str_puts(out, line[i] == '\t' ? "\t" : " ");
    str_puts(out, "^\n");
}

static void print_one(const lint_finding *x, shown_file *f, arena *a, str *out)
{
    const lint_check_info *info = &lint_checks[x->check];
    uint32_t col = x->col;
    size_t n;
    const char *line = line_of(f, x, a, &n);

    if (!col && line)
        col = (uint32_t)strspn(line, " \t") + 1;
    str_printf(out, "%s:%u:%u: warning: %s [%s]\n", x->path, x->line,
               col ? col : 1, x->text, info->name);
    if (line && n) {
        str_add(out, line, n);
        str_puts(out, "\n");
        caret(line, n, col, out);
    }
    str_printf(out, "%s:%u:%u: note: %s\n", x->path, x->line, col ? col : 1,
               info->tip);
}

static const char *plural(uint32_t n)
{
    return n == 1 ? "" : "s";
}

void lint_print_text(const lint_result *r, const char *binding, arena *a,
                     str *out)
{
    shown_file f = {0};
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

/* --- JSON ----------------------------------------------------------------- */

static void dump(json_t *j, str *out)
{
    char *text = json_dumps(j, JSON_INDENT(2));

    str_puts(out, text ? text : "null");
    str_puts(out, "\n");
    free(text);
    json_decref(j);
}

/* Paths and names are whatever bytes the user has. */
static json_t *text_of(const char *s)
{
    json_t *j = json_string(s);
    str clean = {0};

    if (j)
        return j;
    str_puts_xml(&clean, s);
    j = json_string(str_text(&clean));
    str_free(&clean);
    return j;
}

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
        json_object_set_new(j, "file", text_of(x->path));
        json_object_set_new(j, "line", json_integer(x->line));
        json_object_set_new(j, "column", json_integer(x->col));
        json_object_set_new(j, "message", text_of(x->text));
        json_object_set_new(j, "tip", json_string(lint_checks[x->check].tip));
        json_array_append_new(list, j);
    }
    json_object_set_new(root, "binding", text_of(binding));
    json_object_set_new(root, "layers", json_integer(r->n_layers));
    json_object_set_new(root, "kernels", json_integer(r->n_kernels));
    json_object_set_new(root, "sizes_known", json_boolean(r->sizes));
    json_object_set_new(root, "checks", on);
    json_object_set_new(root, "findings", list);
    dump(root, out);
}

/* --- SARIF ---------------------------------------------------------------- */

static json_t *message(const char *s)
{
    return json_pack("{s:o}", "text", text_of(s));
}

static json_t *sarif_rules(void)
{
    json_t *rules = json_array();

    for (int c = 0; c < LINT_N_CHECKS; c++)
        json_array_append_new(rules,
                              json_pack("{s:s,s:o,s:o}", "id",
                                        lint_checks[c].name, "shortDescription",
                                        message(lint_checks[c].summary), "help",
                                        message(lint_checks[c].tip)));
    return rules;
}

static json_t *sarif_result(const lint_finding *x)
{
    json_t *region = json_pack("{s:i}", "startLine", (int)x->line);

    if (x->col)
        json_object_set_new(region, "startColumn", json_integer(x->col));
    return json_pack("{s:s,s:i,s:s,s:o,s:[{s:{s:{s:o},s:o}}]}", "ruleId",
                     lint_checks[x->check].name, "ruleIndex", (int)x->check,
                     "level", "warning", "message", message(x->text),
                     "locations", "physicalLocation", "artifactLocation", "uri",
                     text_of(x->path), "region", region);
}

void lint_print_sarif(const lint_result *r, str *out)
{
    json_t *results = json_array();

    for (uint32_t i = 0; i < r->n_findings; i++)
        json_array_append_new(results, sarif_result(&r->findings[i]));
    dump(json_pack("{s:s,s:s,s:[{s:{s:{s:s,s:s,s:o}},s:o}]}", "version",
                   "2.1.0", "$schema",
                   "https://json.schemastore.org/sarif-2.1.0.json", "runs",
                   "tool", "driver", "name", "vpu lint", "version", VPU_VERSION,
                   "rules", sarif_rules(), "results", results),
         out);
}
