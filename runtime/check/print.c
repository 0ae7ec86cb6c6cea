/* Findings as text, JSON and SARIF. */
#include <stdlib.h>
#include <string.h>

#include "runtime/check/layer.h"
#include "runtime/findings/sarif.h"
#include "runtime/findings/snippet.h"
#include "runtime/json/jsontext.h"

/* --- text ---------------------------------------------------------------- */

static void put_place(const char *file, uint32_t line, uint32_t col, str *out)
{
    str_puts(out, file);
    if (line)
        str_printf(out, ":%u", line);
    if (line && col)
        str_printf(out, ":%u", col);
    str_puts(out, ": ");
}

static void put_inlined(const sim_place *p, str *out)
{
    for (p = p ? p->in : NULL; p; p = p->in) {
        put_place(p->file, p->line, p->col, out);
        str_puts(out, "note: called from here\n");
    }
}

static void put_note(const char *file, uint32_t line, uint32_t col,
                     const char *text, str *out)
{
    put_place(file, line, col, out);
    str_printf(out, "note: %s\n", text);
}

static const char *level_of(const layer_check_shown *f)
{
    return f->note ? "note" : "error";
}

static void print_one(const layer_check_shown *f, snippet_file *src, arena *a,
                      str *out)
{
    put_place(f->file, f->line, f->col, out);
    str_printf(out, "%s: %s [%s]\n", level_of(f), f->text, check_name(f->kind));
    snippet_print(src, f->file, f->line, f->col, a, out);
    put_inlined(f->at, out);
    if (*f->who)
        str_printf(out, "  %s%s of %s", *f->kernel ? "kernel " : "", f->kernel,
                   f->stage);
    else
        str_printf(out, "  %s", f->stage);
    if (*f->who)
        str_printf(out, ": %s", f->who);
    if (f->address)
        str_printf(out, "; address 0x%08x", f->address);
    if (f->count > 1)
        str_printf(out, "; %llu times in all", (unsigned long long)f->count);
    str_puts(out, "\n");
    if (f->other.text && f->other.at) {
        put_note(f->other.at->file, f->other.at->line, f->other.at->col,
                 f->other.text, out);
        snippet_print(src, f->other.at->file, f->other.at->line,
                      f->other.at->col, a, out);
        put_inlined(f->other.at, out);
    } else if (f->other.text) {
        put_note(f->file, f->line, f->col, f->other.text, out);
    }
    if (*check_advice(f->kind))
        put_note(f->file, f->line, f->col, check_advice(f->kind), out);
}

/* Orders are looked at when asked for. */
static void put_checkers(check_set set, bool orders, str *out)
{
    bool any = false;

    for (int k = 0; k < CHECK_N; k++)
        if (set & CHECK_BIT(k) && (k != CHECK_ORDER || orders)) {
            str_printf(out, "%s%s", any ? ", " : "", check_name((check_kind)k));
            any = true;
        }
    if (!any)
        str_puts(out, "nothing");
}

/* The lines of a text that no file has. */
static void take_text(const graph *g, const char *file, snippet_file *src)
{
    for (uint32_t i = 0; i < g->n_launches; i++) {
        const char *text = graph_launch_text(&g->launches[i], file);

        if (text) {
            src->path = file;
            src->text = text;
        }
    }
}

void layer_check_print_findings(const layer_check_report *r, const graph *g,
                                arena *a, str *out)
{
    snippet_file src = {0};

    for (uint32_t i = 0; i < r->n_findings; i++) {
        take_text(g, r->findings[i].file, &src);
        print_one(&r->findings[i], &src, a, out);
    }
}

void layer_check_print_text(const layer_check_report *r, const graph *g,
                            arena *a, str *out)
{
    uint32_t notes = r->n_findings - r->n_errors;

    layer_check_print_findings(r, g, a, out);
    str_printf(out, "%s: ", g->layer);
    if (r->n_errors)
        str_printf(out, "%u finding%s", r->n_errors,
                   r->n_errors == 1 ? "" : "s");
    else
        str_printf(out, "no findings in %llu work-group%s of %u launch%s",
                   (unsigned long long)r->n_groups, r->n_groups == 1 ? "" : "s",
                   r->n_launches, r->n_launches == 1 ? "" : "es");
    if (r->n_orders)
        str_printf(out, ", each in %u orders", r->n_orders + 1);
    if (notes)
        str_printf(out, ", %u note%s", notes, notes == 1 ? "" : "s");
    if (r->suppressed)
        str_printf(out, ", %u suppressed", r->suppressed);
    if (r->dropped)
        str_printf(out, ", %llu more not shown",
                   (unsigned long long)r->dropped);
    if (!r->n_errors) {
        str_puts(out, "; checked for ");
        put_checkers(r->enabled, r->n_orders, out);
    }
    str_puts(out, "\n");
}

/* --- JSON ---------------------------------------------------------------- */

static json_t *ids(const uint32_t *v)
{
    return json_pack("[i,i,i]", (int)v[0], (int)v[1], (int)v[2]);
}

static json_t *place(const sim_place *p)
{
    return json_pack("{s:o,s:i,s:i}", "file", jsontext_string(p->file), "line",
                     (int)p->line, "column", (int)p->col);
}

static json_t *finding_json(const layer_check_shown *f)
{
    json_t *j = json_object(), *chain;

    json_object_set_new(j, "check", json_string(check_name(f->kind)));
    json_object_set_new(j, "level", json_string(level_of(f)));
    json_object_set_new(j, "stage", jsontext_string(f->stage));
    json_object_set_new(j, "kernel", jsontext_string(f->kernel));
    json_object_set_new(j, "file", jsontext_string(f->file));
    json_object_set_new(j, "line", json_integer(f->line));
    json_object_set_new(j, "column", json_integer(f->col));
    json_object_set_new(j, "message", jsontext_string(f->text));
    json_object_set_new(j, "count", json_integer((json_int_t)f->count));
    json_object_set_new(j, "advice", json_string(check_advice(f->kind)));
    if (*f->buffer) {
        json_object_set_new(j, "memory", jsontext_string(f->buffer));
        json_object_set_new(j, "byte", json_integer(f->offset));
        if (f->address)
            json_object_set_new(j, "address", json_integer(f->address));
    }
    if (f->has_group)
        json_object_set_new(j, "work_group", ids(f->group));
    if (f->has_item) {
        json_object_set_new(j, "local_id", ids(f->local));
        json_object_set_new(j, "global_id", ids(f->global));
    }
    chain = json_array();
    for (const sim_place *p = f->at ? f->at->in : NULL; p; p = p->in)
        json_array_append_new(chain, place(p));
    json_object_set_new(j, "called_from", chain);
    if (f->other.text) {
        json_t *o = f->other.at ? place(f->other.at) : json_object();

        json_object_set_new(o, "message", jsontext_string(f->other.text));
        json_object_set_new(j, "other", o);
    }
    return j;
}

void layer_check_print_json(const layer_check_report *r, const graph *g,
                            str *out)
{
    json_t *root = json_object(), *list = json_array(), *on = json_array();

    for (int k = 0; k < CHECK_N; k++)
        if (r->enabled & CHECK_BIT(k) && (k != CHECK_ORDER || r->n_orders))
            json_array_append_new(on, json_string(check_name((check_kind)k)));
    for (uint32_t i = 0; i < r->n_findings; i++)
        json_array_append_new(list, finding_json(&r->findings[i]));
    json_object_set_new(root, "layer", jsontext_string(g->layer));
    json_object_set_new(root, "launches", json_integer(r->n_launches));
    json_object_set_new(root, "work_groups",
                        json_integer((json_int_t)r->n_groups));
    json_object_set_new(root, "checks", on);
    json_object_set_new(root, "orders", json_integer(r->n_orders));
    json_object_set_new(root, "suppressed", json_integer(r->suppressed));
    json_object_set_new(root, "not_shown",
                        json_integer((json_int_t)r->dropped));
    json_object_set_new(root, "findings", list);
    jsontext_add(out, root, JSONTEXT_EXACT);
}

void layer_check_print_lines(const layer_check_report *r, str *out)
{
    for (uint32_t i = 0; i < r->n_findings; i++) {
        json_t *j = finding_json(&r->findings[i]);
        char *line = json_dumps(j, JSON_COMPACT);

        if (line)
            str_printf(out, "%s\n", line);
        free(line);
        json_decref(j);
    }
}

/* --- SARIF --------------------------------------------------------------- */

static json_t *result(const layer_check_shown *f)
{
    json_t *related = json_array(), *text, *j, *o;
    str s = {0};

    str_printf(&s, "%s (%s%s%s)", f->text, f->stage, *f->who ? ": " : "",
               f->who);
    text = sarif_message(str_text(&s));
    str_free(&s);
    if (f->other.at) {
        o = sarif_location(f->other.at->file, f->other.at->line,
                           f->other.at->col);
        json_object_set_new(o, "message", sarif_message(f->other.text));
        json_array_append_new(related, o);
    }
    for (const sim_place *p = f->at ? f->at->in : NULL; p; p = p->in) {
        o = sarif_location(p->file, p->line, p->col);
        json_object_set_new(o, "message", sarif_message("called from here"));
        json_array_append_new(related, o);
    }
    j = json_pack("{s:s,s:i,s:s,s:o,s:[o]}", "ruleId", check_name(f->kind),
                  "ruleIndex", (int)f->kind, "level", level_of(f), "message",
                  text, "locations", sarif_location(f->file, f->line, f->col));
    if (json_array_size(related))
        json_object_set(j, "relatedLocations", related);
    json_decref(related);
    return j;
}

void layer_check_print_sarif(const layer_check_report *r, str *out)
{
    json_t *rules = json_array(), *results = json_array();

    for (int k = 0; k < CHECK_N; k++)
        json_array_append_new(rules, sarif_rule(check_name((check_kind)k),
                                                check_about((check_kind)k),
                                                check_advice((check_kind)k)));
    for (uint32_t i = 0; i < r->n_findings; i++)
        json_array_append_new(results, result(&r->findings[i]));
    sarif_write("vpu check", rules, results, out);
}
