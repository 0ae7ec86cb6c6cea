/* Breakpoints: lists that the client replaces as a whole. What is the same in
 * the new list stays as it is, so that it goes on counting. */
#include <stdio.h>
#include <string.h>

#include "runtime/dap/server.h"
#include "runtime/json/jsontext.h"

enum { MAX_LIST = 1024 };

uint32_t dap_point_id(const dap_server *s, uint32_t number)
{
    for (size_t k = 0; k < s->n_points; k++)
        if (s->points[k].number == number)
            return s->points[k].id;
    return 0;
}

void dap_points_free(dap_server *s)
{
    for (size_t k = 0; k < s->n_points; k++)
        json_decref(s->points[k].wanted);
}

/* --- one ----------------------------------------------------------------- */

static vpu_status set_line(dap_server *s, dap_point *p,
                           debug_breakpoint *wanted, vpu_error *err)
{
    const char *path = dap_text(p->wanted, "path");

    wanted->file = path ? debug_file_named(s->session, path) : NULL;
    wanted->line = (uint32_t)dap_number(p->wanted, "line", 0);
    if (!wanted->file)
        return err_set(err, VPU_ERR_INVALID, "no kernel of this run is in %s",
                       path ? path : "a source without a path");
    return debug_break(s->session, wanted, &p->number, &p->line, err);
}

static vpu_status set_function(dap_server *s, dap_point *p,
                               debug_breakpoint *wanted, vpu_error *err)
{
    wanted->function = dap_text(p->wanted, "name");
    if (!wanted->function)
        return err_set(err, VPU_ERR_INVALID, "a name is missing");
    return debug_break(s->session, wanted, &p->number, &p->line, err);
}

static vpu_status set_data(dap_server *s, dap_point *p, vpu_error *err)
{
    const char *what = dap_text(p->wanted, "dataId");
    const char *access = dap_text(p->wanted, "accessType");

    if (!what)
        return err_set(err, VPU_ERR_INVALID, "dataId is missing");
    if (access && strcmp(access, "write") != 0)
        return err_set(err, VPU_ERR_UNSUPPORTED, "only writes are watched");
    if (dap_text(p->wanted, "condition") || dap_text(p->wanted, "hitCondition"))
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "data breakpoints have no conditions");
    return debug_watch(s->session, what, &p->number, err);
}

static void set(dap_server *s, dap_point *p)
{
    debug_breakpoint wanted = {.condition = dap_text(p->wanted, "condition"),
                               .hits = dap_text(p->wanted, "hitCondition"),
                               .log = dap_text(p->wanted, "logMessage")};
    vpu_error err = {0};
    vpu_status st;

    if (!s->session || s->no_debug) {
        p->why = s->no_debug ? "the run is without debugging"
                             : "the kernel is not compiled yet";
        return;
    }
    if (wanted.condition && !*wanted.condition)
        wanted.condition = NULL;
    if (wanted.hits && !*wanted.hits)
        wanted.hits = NULL;
    if (wanted.log && !*wanted.log)
        wanted.log = NULL;
    st = p->kind == DAP_LINE       ? set_line(s, p, &wanted, &err)
         : p->kind == DAP_FUNCTION ? set_function(s, p, &wanted, &err)
                                   : set_data(s, p, &err);
    p->why = st ? arena_strdup(s->kept, err.msg) : "";
}

static json_t *describe(dap_server *s, const dap_point *p)
{
    json_t *o =
        json_pack("{s:i, s:b}", "id", (int)p->id, "verified", p->number != 0);
    uint32_t line = p->line ? p->line
                    : p->kind == DAP_LINE
                        ? (uint32_t)dap_number(p->wanted, "line", 0)
                        : 0;

    if (line)
        json_object_set_new(o, "line", dap_line_out(s, line));
    if (!p->number)
        json_object_set_new(o, "message", jsontext_string(p->why));
    if (p->kind == DAP_LINE && dap_text(p->wanted, "path"))
        json_object_set_new(o, "source",
                            dap_source_out(s, dap_text(p->wanted, "path")));
    return o;
}

void dap_points_set(dap_server *s)
{
    for (size_t k = 0; k < s->n_points; k++) {
        if (s->points[k].number)
            continue;
        set(s, &s->points[k]);
        dap_event(s, "breakpoint",
                  json_pack("{s:s, s:o}", "reason", "changed", "breakpoint",
                            describe(s, &s->points[k])));
    }
}

/* --- a list -------------------------------------------------------------- */

static bool belongs(const dap_point *p, dap_kind kind, const char *path)
{
    const char *of = dap_text(p->wanted, "path");

    return p->kind == kind && (!path || (of && !strcmp(of, path)));
}

/* The one that is like it and not used yet, or a new one. Takes wanted. */
static dap_point *point_of(dap_server *s, dap_kind kind, json_t *wanted)
{
    for (size_t k = 0; k < s->n_points; k++) {
        dap_point *p = &s->points[k];

        if (p->kind == kind && !p->used && json_equal(p->wanted, wanted)) {
            json_decref(wanted);
            p->used = true;
            return p;
        }
    }
    *arena_append(s->kept, s->points, s->n_points, s->cap_points) = (dap_point){
        .kind = kind, .id = ++s->last_id, .wanted = wanted, .used = true};
    return &s->points[s->n_points - 1];
}

static void drop_unused(dap_server *s, dap_kind kind, const char *path)
{
    size_t n = 0;

    for (size_t k = 0; k < s->n_points; k++) {
        dap_point *p = &s->points[k];

        if (!belongs(p, kind, path) || p->used) {
            s->points[n++] = *p;
            continue;
        }
        if (p->number && s->session)
            debug_forget(s->session, p->number);
        json_decref(p->wanted);
    }
    s->n_points = n;
}

static void replace(dap_server *s, dap_kind kind, const char *path,
                    const json_t *list, json_t *body)
{
    json_t *out = json_array(), *v;
    uint32_t ids[MAX_LIST], n = 0;
    size_t i;

    for (size_t k = 0; k < s->n_points; k++)
        s->points[k].used = !belongs(&s->points[k], kind, path);
    json_array_foreach(list, i, v)
    {
        json_t *wanted = json_is_object(v) ? json_copy(v) : json_object();

        if (n == MAX_LIST) {
            json_decref(wanted);
            break;
        }
        if (path) {
            json_object_set_new(wanted, "path", json_string(path));
            json_object_set_new(
                wanted, "line",
                json_integer(dap_line_in(s, dap_number(v, "line", 0))));
        }
        ids[n++] = point_of(s, kind, wanted)->id;
    }
    drop_unused(s, kind, path); /* first: there may be room for few */
    for (uint32_t k = 0; k < n; k++)
        for (size_t at = 0; at < s->n_points; at++)
            if (s->points[at].id == ids[k]) {
                if (!s->points[at].number)
                    set(s, &s->points[at]);
                json_array_append_new(out, describe(s, &s->points[at]));
            }
    while (json_array_size(out) < json_array_size(list)) /* one for each */
        json_array_append_new(out,
                              json_pack("{s:b, s:s}", "verified", 0, "message",
                                        "there are too many breakpoints"));
    json_object_set_new(body, "breakpoints", out);
}

/* --- requests ------------------------------------------------------------ */

vpu_status dap_do_setBreakpoints(dap_server *s, const json_t *args,
                                 json_t *body, vpu_error *err)
{
    const char *path = dap_path_in(s, json_object_get(args, "source"));

    if (!path)
        return err_set(err, VPU_ERR_INVALID,
                       "source needs a path, or a reference of this session");
    replace(s, DAP_LINE, path, json_object_get(args, "breakpoints"), body);
    return VPU_OK;
}

vpu_status dap_do_setFunctionBreakpoints(dap_server *s, const json_t *args,
                                         json_t *body, vpu_error *err)
{
    (void)err;
    replace(s, DAP_FUNCTION, NULL, json_object_get(args, "breakpoints"), body);
    return VPU_OK;
}

vpu_status dap_do_setDataBreakpoints(dap_server *s, const json_t *args,
                                     json_t *body, vpu_error *err)
{
    (void)err;
    replace(s, DAP_DATA, NULL, json_object_get(args, "breakpoints"), body);
    return VPU_OK;
}

static bool has_fault(const json_t *list, const char *member)
{
    json_t *v;
    size_t i;

    json_array_foreach(list, i, v)
    {
        const char *name = member ? dap_text(v, member) : json_string_value(v);

        if (name && !strcmp(name, "fault"))
            return true;
    }
    return false;
}

vpu_status dap_do_setExceptionBreakpoints(dap_server *s, const json_t *args,
                                          json_t *body, vpu_error *err)
{
    (void)body;
    (void)err;
    s->stops_at_faults =
        has_fault(json_object_get(args, "filters"), NULL) ||
        has_fault(json_object_get(args, "filterOptions"), "filterId");
    if (s->session)
        debug_stop_at_faults(s->session, s->stops_at_faults && !s->no_debug);
    return VPU_OK;
}

/* Why a change of it cannot be waited for; NULL: it can. */
static const char *no_place(const debug_variable *v)
{
    if (!v->path || v->tensor || v->indexed || v->named)
        return "one number can be watched: an element or field";
    if (!v->in_memory)
        return "that is not in the device's memory";
    return NULL;
}

vpu_status dap_do_dataBreakpointInfo(dap_server *s, const json_t *args,
                                     json_t *body, vpu_error *err)
{
    const char *name = dap_text(args, "name");
    debug_variable v = {0};
    const char *why;
    uint32_t frame;

    if (!name)
        return err_set(err, VPU_ERR_INVALID, "name is missing");
    if (dap_number(args, "variablesReference", 0) > 0) {
        why = dap_named(s, args, &frame, &v) ? no_place(&v)
                                             : "there is no such variable";
    } else if (!dap_frame_of(s, args, &frame)) {
        why = "the frame is of an earlier stop";
    } else {
        why = debug_evaluate(s->session, frame, name, s->arena, &v, err)
                  ? err->msg
                  : no_place(&v);
    }
    json_object_set_new(body, "dataId",
                        why ? json_null() : jsontext_string(v.path));
    json_object_set_new(body, "description",
                        jsontext_string(why ? why : v.path));
    if (!why)
        json_object_set_new(body, "accessTypes", json_pack("[s]", "write"));
    json_object_set_new(body, "canPersist", json_false());
    return VPU_OK;
}
