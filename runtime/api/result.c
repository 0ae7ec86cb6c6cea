/* What a run cost. Cycles and seconds are there at once; the report is made
 * when somebody asks for it, or before the device runs again. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/oom.h"
#include "runtime/api/api_priv.h"
#include "runtime/report/profile.h"

struct vpu_result {
    arena *arena;
    vpu_graph *graph;
    backend_result *all;            /* a row for each repetition */
    const backend_result *launches; /* the last row, graph->g.n_launches */
    uint32_t repeat;
    double *hosts;                /* seconds; graph->n_hosts */
    report_operation *operations; /* the composed ones */
    uint32_t n_operations;
    uint64_t copied;
    uint32_t profile_lines; /* 0: no profile */
    uint32_t n_executors;
    mach_executors_result executors;
    const report_insight *insight; /* NULL: not found out yet */
    const char *text, *json;       /* NULL: not made yet */
    json_t *tree;                  /* of json */
    const char **counters;         /* paths of numbers */
    size_t n_counters, counters_cap;
};

/* --- the report ----------------------------------------------------------- */

report_source api_result_source(const vpu_result *r)
{
    const vpu_graph *g = r->graph;

    return (report_source){.graph = &g->g,
                           .run = &g->open,
                           .desc = &g->context->desc,
                           .timing = g->cfg.how.timing,
                           .results = r->all,
                           .hosts = r->hosts,
                           .operations = r->operations,
                           .n_operations = r->n_operations,
                           .repeat = r->repeat,
                           .n_executors = r->n_executors,
                           .executors = r->executors,
                           .insight = r->insight};
}

/* Once for the texts and the trace: it replays the launches. */
static report_source with_insight(vpu_result *r)
{
    report_source source = api_result_source(r);

    if (!r->insight && source.run->ops->inspect)
        source.insight = r->insight = report_insight_of(&source, r->arena);
    return source;
}

static vpu_status make_text(void *user, vpu_error *err)
{
    vpu_result *r = user;
    const report_source source = with_insight(r);
    str text = {.arena = r->arena};

    (void)err;
    report_text(&source, &text);
    if (r->profile_lines)
        report_profile_text(&source, r->profile_lines, &text);
    r->text = str_text(&text);
    return VPU_OK;
}

static vpu_status make_json(void *user, vpu_error *err)
{
    vpu_result *r = user;
    const report_source source = with_insight(r);
    str json = {.arena = r->arena};

    (void)err;
    report_json(&source, &json);
    r->json = str_text(&json);
    return VPU_OK;
}

void api_result_trace_advice(vpu_result *r, trc_writer *w)
{
    const report_source source = with_insight(r);

    report_advice_trace(&source, w);
}

/* Of a run that is not the graph's latest the backend knows nothing more. */
static vpu_status need(vpu_result *r, const char *text,
                       vpu_status (*make)(void *user, vpu_error *err),
                       vpu_error *err)
{
    if (text)
        return VPU_OK;
    if (r->graph->latest != r)
        return err_set(err, VPU_ERR_NOMEM, "no memory for the report");
    return oom_guard(make, r, err);
}

static vpu_status need_text(vpu_result *r, vpu_error *err)
{
    return need(r, r->text, make_text, err);
}

static vpu_status need_report(vpu_result *r, vpu_error *err)
{
    return need(r, r->json, make_json, err);
}

void api_result_settle(vpu_graph *g)
{
    /* Where memory is short the report says so when it is asked for. */
    if (g->latest) {
        need_text(g->latest, NULL);
        need_report(g->latest, NULL);
    }
    g->latest = NULL;
}

/* --- life ----------------------------------------------------------------- */

static void take_operations(vpu_result *r)
{
    const vpu_graph *g = r->graph;

    r->operations =
        arena_array(r->arena, report_operation, g->n_operations + 1);
    for (const vpu_operation *op = g->operations; op; op = op->next)
        if (op->composed && op->n_launches)
            r->operations[r->n_operations++] =
                (report_operation){op->name, op->launch, op->n_launches};
}

vpu_status api_result_create(vpu_result **out, const api_run *run,
                             vpu_error *err)
{
    size_t n = run->graph->g.n_launches;
    arena *a = arena_create(0);
    vpu_result *r = arena_new(a, vpu_result);

    (void)err;
    r->arena = a;
    r->graph = api_graph_keep(run->graph);
    r->all = arena_memdup(a, run->results, run->repeat * n * sizeof *r->all);
    r->launches = r->all + (run->repeat - 1) * n;
    r->repeat = run->repeat;
    if (run->hosts)
        r->hosts =
            arena_memdup(a, run->hosts, run->graph->n_hosts * sizeof *r->hosts);
    take_operations(r);
    r->copied = run->copied;
    r->profile_lines = run->profile_lines;
    r->n_executors = run->n_executors;
    r->executors = run->executors;
    run->graph->latest = r;
    *out = r;
    return VPU_OK;
}

void vpu_result_free(vpu_result *result)
{
    vpu_graph *g;

    if (!result)
        return;
    g = result->graph;
    if (g->latest == result)
        g->latest = NULL;
    json_decref(result->tree);
    arena_destroy(result->arena);
    vpu_graph_free(g);
}

/* --- figures -------------------------------------------------------------- */

uint64_t vpu_result_cycles(const vpu_result *result)
{
    uint64_t n = 0;

    for (size_t i = 0; i < vpu_result_launch_count(result); i++)
        n += result->launches[i].cycles;
    return n;
}

double vpu_result_seconds(const vpu_result *result)
{
    double s = 0;

    for (size_t i = 0; i < vpu_result_launch_count(result); i++)
        s += result->launches[i].seconds;
    return s;
}

uint32_t vpu_result_repetitions(const vpu_result *result)
{
    return result ? result->repeat : 0;
}

double vpu_result_repetition_seconds(const vpu_result *result, uint32_t i)
{
    size_t n = vpu_result_launch_count(result);
    double s = 0;

    if (i >= vpu_result_repetitions(result))
        return 0;
    for (size_t k = 0; k < n; k++)
        s += result->all[i * n + k].seconds;
    return s;
}

uint64_t vpu_result_copied_bytes(const vpu_result *result)
{
    return result ? result->copied : 0;
}

size_t vpu_result_launch_count(const vpu_result *result)
{
    return result ? result->graph->g.n_launches : 0;
}

const char *vpu_result_launch_name(const vpu_result *result, size_t i)
{
    return i < vpu_result_launch_count(result)
               ? result->graph->g.launches[i].name
               : NULL;
}

uint64_t vpu_result_launch_cycles(const vpu_result *result, size_t i)
{
    return i < vpu_result_launch_count(result) ? result->launches[i].cycles : 0;
}

double vpu_result_launch_seconds(const vpu_result *result, size_t i)
{
    return i < vpu_result_launch_count(result) ? result->launches[i].seconds
                                               : 0;
}

/* Of launches of the graph. */
static bool is_of(const vpu_result *r, const vpu_operation *op)
{
    return r && op && op->graph == r->graph;
}

static bool is_part(const vpu_operation *op, const vpu_operation *whole)
{
    while (op && op != whole)
        op = op->outer;
    return op != NULL;
}

uint64_t vpu_result_operation_cycles(const vpu_result *result,
                                     const vpu_operation *operation)
{
    uint64_t n = 0;

    for (uint32_t i = 0; is_of(result, operation) && i < operation->n_launches;
         i++)
        n += result->launches[operation->launch + i].cycles;
    return n;
}

double vpu_result_operation_seconds(const vpu_result *result,
                                    const vpu_operation *operation)
{
    double s = 0;

    for (uint32_t i = 0; is_of(result, operation) && i < operation->n_launches;
         i++)
        s += result->launches[operation->launch + i].seconds;
    for (size_t i = 0; is_of(result, operation) && i < result->graph->n_hosts;
         i++)
        if (is_part(result->graph->hosts[i].operation, operation))
            s += result->hosts[i];
    return s;
}

const char *vpu_result_text(vpu_result *result)
{
    return result && !need_text(result, NULL) ? result->text : NULL;
}

const char *vpu_result_json(vpu_result *result)
{
    return result && !need_report(result, NULL) ? result->json : NULL;
}

/* --- counters ------------------------------------------------------------- */

static bool is_counter(const json_t *j)
{
    return json_is_number(j) || json_is_boolean(j);
}

static void list(vpu_result *r, const char *path, const json_t *j)
{
    const char *dot = *path ? "." : "", *key;
    json_t *member;
    size_t i;

    if (is_counter(j))
        *arena_append(r->arena, r->counters, r->n_counters, r->counters_cap) =
            path;
    /* jansson's iterators want a pointer that may change. */
    if (json_is_object(j))
        json_object_foreach((json_t *)(uintptr_t)j, key, member)
            list(r, arena_printf(r->arena, "%s%s%s", path, dot, key), member);
    json_array_foreach((json_t *)(uintptr_t)j, i, member)
        list(r, arena_printf(r->arena, "%s%s%zu", path, dot, i), member);
}

static vpu_status read_tree(void *user, vpu_error *err)
{
    vpu_result *r = user;

    if (r->tree)
        return VPU_OK;
    r->tree = json_loads(r->json, 0, NULL);
    if (!r->tree)
        return err_set(err, VPU_ERR_NOMEM, "no memory for the counters");
    list(r, "", r->tree);
    return VPU_OK;
}

static vpu_status need_tree(vpu_result *r, vpu_error *err)
{
    vpu_status st = need_report(r, err);

    return st ? st : oom_guard(read_tree, r, err);
}

/* The value at a path; NULL: there is none. */
static const json_t *value_at(const json_t *j, const char *path)
{
    while (j && *path) {
        size_t n = strcspn(path, ".");
        char key[128];

        if (n >= sizeof key)
            return NULL;
        memcpy(key, path, n);
        key[n] = 0;
        j = json_is_array(j) && strspn(key, "0123456789") == n && n
                ? json_array_get(j, strtoul(key, NULL, 10))
                : json_object_get(j, key);
        path += n + (path[n] == '.');
    }
    return j;
}

vpu_status vpu_result_counter(vpu_result *result, const char *path, double *out,
                              vpu_error *err)
{
    const json_t *j;
    vpu_status st = api_need(result, "result", err);

    if (!st)
        st = api_need(path, "path", err);
    if (!st)
        st = api_need(out, "out", err);
    if (!st)
        st = need_tree(result, err);
    if (st)
        return st;
    j = value_at(result->tree, path);
    if (j && is_counter(j)) {
        *out = json_is_boolean(j) ? json_is_true(j) : json_number_value(j);
        return VPU_OK;
    }
    return err_set(err, VPU_ERR_INVALID,
                   "counter '%s': the report has %s there; "
                   "vpu_result_counter_name lists its numbers",
                   path,
                   !j                  ? "nothing"
                   : json_is_object(j) ? "an object"
                   : json_is_array(j)  ? "a list"
                   : json_is_string(j) ? "a text"
                                       : "null");
}

const char *vpu_result_counter_name(vpu_result *result, size_t i)
{
    return result && !need_tree(result, NULL) && i < result->n_counters
               ? result->counters[i]
               : NULL;
}
