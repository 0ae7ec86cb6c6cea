/* Scopes, variables and expressions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/dap/server.h"
#include "runtime/json/jsontext.h"

enum { MAX_BYTES = 1 << 20 };

/* --- references ---------------------------------------------------------- */

static json_int_t new_handle(dap_server *s, const dap_handle *h)
{
    *arena_append(s->arena, s->handles, s->n_handles, s->cap_handles) = *h;
    return (json_int_t)(s->first_handle + s->n_handles);
}

static const dap_handle *handle_of(const dap_server *s, const json_t *args)
{
    json_int_t at =
        dap_number(args, "variablesReference", 0) - s->first_handle - 1;

    return at >= 0 && (size_t)at < s->n_handles ? &s->handles[at] : NULL;
}

static vpu_status no_reference(vpu_error *err)
{
    return err_set(err, VPU_ERR_INVALID,
                   "the variablesReference is of an earlier stop, or of none");
}

bool dap_frame_of(const dap_server *s, const json_t *args, uint32_t *frame)
{
    json_int_t id = dap_number(args, "frameId", 0);

    *frame = 0;
    if (!json_object_get(args, "frameId"))
        return true;
    id -= (json_int_t)s->generation * DAP_MAX_FRAMES + 1;
    *frame = (uint32_t)id;
    return id >= 0 && id < DAP_MAX_FRAMES;
}

void dap_value_out(dap_server *s, const debug_variable *v, uint32_t frame,
                   const char *as, json_t *to)
{
    bool parts = v->named + v->indexed > 0;
    dap_handle h = {.frame = frame, .of = *v};
    char address[32];
    uint32_t at;

    json_object_set_new(to, as, jsontext_string(v->text));
    json_object_set_new(to, "type", jsontext_string(v->type));
    json_object_set_new(to, "variablesReference",
                        json_integer(parts ? new_handle(s, &h) : 0));
    if (v->named)
        json_object_set_new(to, "namedVariables",
                            json_integer((json_int_t)v->named));
    if (v->indexed)
        json_object_set_new(to, "indexedVariables",
                            json_integer((json_int_t)v->indexed));
    if (debug_address(s->session, v, &at)) {
        snprintf(address, sizeof address, "0x%" PRIx32, at);
        json_object_set_new(to, "memoryReference", json_string(address));
    }
}

/* --- scopes -------------------------------------------------------------- */

static const struct {
    const char *name, *hint;
    bool expensive;
} scopes[DEBUG_N_SCOPES] = {
    [DEBUG_LOCALS] = {"Locals", "locals", false},
    [DEBUG_ARGUMENTS] = {"Arguments", "arguments", false},
    [DEBUG_ITEM] = {"Work-item", NULL, false},
    [DEBUG_LOCAL_MEMORY] = {"Local memory", NULL, false},
    [DEBUG_TENSORS] = {"Tensors", NULL, true}};

vpu_status dap_do_scopes(dap_server *s, const json_t *args, json_t *body,
                         vpu_error *err)
{
    json_t *list = json_array();
    uint32_t frame;

    json_object_set_new(body, "scopes", list);
    if (!dap_frame_of(s, args, &frame))
        return err_set(err, VPU_ERR_INVALID,
                       "the frameId is of an earlier stop, or of none");
    for (int k = 0; k < DEBUG_N_SCOPES; k++) {
        const debug_variable *ignored;
        dap_handle h = {.frame = frame, .scope = true, .which = (debug_scope)k};
        uint32_t n = debug_variables(s->session, frame, (debug_scope)k,
                                     s->arena, &ignored);
        json_t *o;

        if (!n && k != DEBUG_LOCALS)
            continue;
        o = json_pack("{s:s, s:I, s:i, s:b}", "name", scopes[k].name,
                      "variablesReference", new_handle(s, &h), "namedVariables",
                      (int)n, "expensive", scopes[k].expensive);
        if (scopes[k].hint)
            json_object_set_new(o, "presentationHint",
                                json_string(scopes[k].hint));
        json_array_append_new(list, o);
    }
    return VPU_OK;
}

/* Variables first .. first + count - 1 of a reference. */
static uint32_t variables_of(dap_server *s, const dap_handle *h, uint64_t first,
                             uint64_t count, const debug_variable **out)
{
    uint32_t n;

    if (!h->scope)
        return debug_parts(s->session, &h->of, first, count, s->arena, out);
    n = debug_variables(s->session, h->frame, h->which, s->arena, out);
    if (first >= n)
        return 0;
    *out += first;
    return count < n - first ? (uint32_t)count : n - (uint32_t)first;
}

/* "indexed" and "named" ask for one kind alone; a reference has one. */
static bool is_filtered(const dap_handle *h, const char *filter)
{
    bool indexed = !h->scope && h->of.indexed;

    return filter && strcmp(filter, indexed ? "indexed" : "named") != 0;
}

vpu_status dap_do_variables(dap_server *s, const json_t *args, json_t *body,
                            vpu_error *err)
{
    const dap_handle *at = handle_of(s, args);
    json_int_t start = dap_number(args, "start", 0);
    json_int_t count = dap_number(args, "count", 0);
    const debug_variable *v = NULL;
    json_t *list = json_array();
    dap_handle h;
    uint32_t n;

    json_object_set_new(body, "variables", list);
    if (!at)
        return no_reference(err);
    h = *at; /* the list grows below */
    if (is_filtered(&h, dap_text(args, "filter")))
        return VPU_OK;
    n = variables_of(s, &h, start > 0 ? (uint64_t)start : 0,
                     count > 0 ? (uint64_t)count : UINT64_MAX, &v);
    for (uint32_t k = 0; k < n; k++) {
        json_t *o = json_object();

        json_object_set_new(o, "name", jsontext_string(v[k].name));
        if (v[k].path)
            json_object_set_new(o, "evaluateName", jsontext_string(v[k].path));
        dap_value_out(s, &v[k], h.frame, "value", o);
        json_array_append_new(list, o);
    }
    return VPU_OK;
}

/* The last number of "[0,2,5]"; false: the name has none. */
static bool index_of(const char *name, uint64_t *out)
{
    const char *at = strrchr(name, ',');

    if (*name != '[')
        return false;
    *out = strtoull(at ? at + 1 : name + 1, NULL, 10);
    return true;
}

bool dap_named(dap_server *s, const json_t *args, uint32_t *frame,
               debug_variable *out)
{
    const dap_handle *h = handle_of(s, args);
    const char *name = dap_text(args, "name");
    const debug_variable *v;
    uint64_t first = 0;
    uint32_t n;

    if (!h || !name)
        return false;
    *frame = h->frame;
    n = !h->scope && index_of(name, &first)
            ? variables_of(s, h, first, 1, &v)
            : variables_of(s, h, 0, UINT64_MAX, &v);
    for (uint32_t k = 0; k < n; k++)
        if (!strcmp(v[k].name, name)) {
            *out = v[k];
            return true;
        }
    return false;
}

vpu_status dap_do_setVariable(dap_server *s, const json_t *args, json_t *body,
                              vpu_error *err)
{
    const char *value = dap_text(args, "value");
    debug_variable v, now;
    uint32_t frame;
    vpu_status st;

    if (!handle_of(s, args))
        return no_reference(err);
    if (!value || !dap_named(s, args, &frame, &v) || !v.path)
        return err_set(err, VPU_ERR_INVALID,
                       "there is no such variable, or no value");
    st = debug_assign(s->session, frame, v.path, value, s->arena, &now, err);
    if (!st)
        dap_value_out(s, &now, frame, "value", body);
    return st;
}

/* --- expressions --------------------------------------------------------- */

/* A line of vpu debug. */
static vpu_status command(dap_server *s, uint32_t frame, const char *line,
                          json_t *body, vpu_error *err)
{
    str out = {0};
    debug_answer r = debug_command(s->session, frame, line, &out);
    vpu_status st = VPU_OK;

    while (out.n && out.data[out.n - 1] == '\n')
        out.data[--out.n] = 0;
    if (r == DEBUG_REFUSED)
        st = err_set(err, VPU_ERR_INVALID, "%s", str_text(&out));
    json_object_set_new(body, "result", jsontext_string(str_text(&out)));
    json_object_set_new(body, "variablesReference", json_integer(0));
    str_free(&out);
    if (r == DEBUG_MOVES) {
        s->moved = true;
        s->stands = false;
        dap_event(s, "continued",
                  json_pack("{s:i, s:b}", "threadId", DAP_THREAD,
                            "allThreadsContinued", 1));
    }
    return st;
}

vpu_status dap_do_evaluate(dap_server *s, const json_t *args, json_t *body,
                           vpu_error *err)
{
    const char *text = dap_text(args, "expression");
    const char *context = dap_text(args, "context");
    debug_variable v;
    uint32_t frame;
    vpu_status st;

    if (!text)
        return err_set(err, VPU_ERR_INVALID, "expression is missing");
    if (!dap_frame_of(s, args, &frame))
        return err_set(err, VPU_ERR_INVALID,
                       "the frameId is of an earlier stop");
    if (context && !strcmp(context, "repl") && debug_is_command(text)) {
        if (s->stop.state == DEBUG_NOT_BEGUN && !s->configured)
            return err_set(err, VPU_ERR_INVALID,
                           "the run begins with configurationDone");
        return command(s, frame, text, body, err);
    }
    st = debug_evaluate(s->session, frame, text, s->arena, &v, err);
    if (!st)
        dap_value_out(s, &v, frame, "result", body);
    return st;
}

vpu_status dap_do_completions(dap_server *s, const json_t *args, json_t *body,
                              vpu_error *err)
{
    const char *text = dap_text(args, "text");
    json_int_t column =
        dap_number(args, "column", 1) - (s->columns_from_0 ? 0 : 1);
    json_t *list = json_array();
    const char *const *words;
    size_t n, from, len;

    json_object_set_new(body, "targets", list);
    if (!text)
        return err_set(err, VPU_ERR_INVALID, "text is missing");
    len = strlen(text);
    if (column >= 0 && (size_t)column < len)
        len = (size_t)column;
    from = debug_complete(s->session, arena_strndup(s->arena, text, len),
                          s->arena, &words, &n);
    for (size_t k = 0; k < n; k++)
        json_array_append_new(
            list,
            json_pack("{s:o, s:I, s:I}", "label", jsontext_string(words[k]),
                      "start", (json_int_t)(from + (s->columns_from_0 ? 0 : 1)),
                      "length", (json_int_t)(len - from)));
    return VPU_OK;
}

/* --- memory -------------------------------------------------------------- */

/* RFC 4648, "Base 64 Encoding". */
static void base64(const uint8_t *in, uint64_t n, str *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";

    for (uint64_t k = 0; k < n; k += 3) {
        uint64_t left = n - k;
        uint32_t v = (uint32_t)in[k] << 16;
        char four[4];

        v |= left > 1 ? (uint32_t)in[k + 1] << 8 : 0;
        v |= left > 2 ? in[k + 2] : 0;
        for (int d = 0; d < 4; d++)
            four[d] = digits[v >> (18 - 6 * d) & 63];
        if (left < 3)
            four[3] = '=';
        if (left < 2)
            four[2] = '=';
        str_add(out, four, 4);
    }
}

vpu_status dap_do_readMemory(dap_server *s, const json_t *args, json_t *body,
                             vpu_error *err)
{
    const char *from = dap_text(args, "memoryReference");
    json_int_t count = dap_number(args, "count", -1);
    str text = {.arena = s->arena};
    const uint8_t *bytes;
    char *end = NULL, address[32];
    uint64_t at = from ? strtoull(from, &end, 0) : 0, n;

    if (!from || end == from || *end || count < 0 || count > MAX_BYTES)
        return err_set(err, VPU_ERR_INVALID,
                       "readMemory needs memoryReference, an address, and "
                       "count, up to %d",
                       MAX_BYTES);
    at += (uint64_t)dap_number(args, "offset", 0);
    n = (uint64_t)count;
    bytes = debug_memory(s->session, at, &n);
    base64(bytes, n, &text);
    snprintf(address, sizeof address, "0x%" PRIx64, at);
    json_object_set_new(body, "address", json_string(address));
    json_object_set_new(body, "unreadableBytes",
                        json_integer(count - (json_int_t)n));
    json_object_set_new(body, "data", json_string(str_text(&text)));
    return VPU_OK;
}
