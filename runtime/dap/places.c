/* The client, threads, frames, sources and the SHAVE program. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/dap/server.h"
#include "runtime/json/jsontext.h"

enum { MAX_ROWS = 1 << 16 };

/* --- lines and paths ----------------------------------------------------- */

json_t *dap_line_out(const dap_server *s, uint32_t line)
{
    return json_integer((json_int_t)line - (s->lines_from_0 && line ? 1 : 0));
}

json_t *dap_column_out(const dap_server *s, uint32_t column)
{
    return json_integer((json_int_t)column -
                        (s->columns_from_0 && column ? 1 : 0));
}

uint32_t dap_line_in(const dap_server *s, json_int_t line)
{
    line += s->lines_from_0;
    return line > 0 && line < UINT32_MAX ? (uint32_t)line : 0;
}

static bool is_plain(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || strchr("/-_.~", c);
}

static const char *uri_of(const char *path, arena *a)
{
    str out = {.arena = a};

    str_puts(&out, "file://");
    for (; *path; path++)
        if (is_plain((unsigned char)*path))
            str_add(&out, path, 1);
        else
            str_printf(&out, "%%%02X", (unsigned)(unsigned char)*path);
    return str_text(&out);
}

static const char *path_of_uri(const char *uri, arena *a)
{
    str out = {.arena = a};
    char two[3] = {0};

    for (uri += 7; *uri; uri++) {
        char c = *uri;

        if (c == '%' && uri[1] && uri[2]) {
            memcpy(two, uri + 1, 2);
            c = (char)strtol(two, NULL, 16);
            uri += 2;
        }
        if (c)
            str_add(&out, &c, 1);
    }
    return str_text(&out);
}

static json_int_t reference_of(dap_server *s, const char *file)
{
    for (size_t k = 0; k < s->n_sources; k++)
        if (!strcmp(s->sources[k], file))
            return (json_int_t)k + 1;
    *arena_append(s->kept, s->sources, s->n_sources, s->cap_sources) =
        arena_strdup(s->kept, file);
    return (json_int_t)s->n_sources;
}

json_t *dap_source_out(dap_server *s, const char *file)
{
    const char *base = strrchr(file, '/');
    /* A whole name stays as the client has it, links and all. */
    char *path = *file == '/' && !access(file, R_OK) ? strdup(file)
                                                     : realpath(file, NULL);
    json_t *o = json_object();

    json_object_set_new(o, "name", jsontext_string(base ? base + 1 : file));
    if (path)
        json_object_set_new(
            o, "path",
            jsontext_string(s->uris ? uri_of(path, s->arena) : path));
    else
        json_object_set_new(o, "sourceReference",
                            json_integer(reference_of(s, file)));
    free(path);
    return o;
}

const char *dap_path_in(dap_server *s, const json_t *source)
{
    json_int_t at = dap_number(source, "sourceReference", 0);
    const char *path = dap_text(source, "path");

    if (at > 0 && (size_t)at <= s->n_sources)
        return s->sources[at - 1];
    if (!path)
        return NULL;
    return !strncmp(path, "file://", 7) ? path_of_uri(path, s->kept)
                                        : arena_strdup(s->kept, path);
}

/* --- the client ---------------------------------------------------------- */

static const char *const abilities[] = {"supportsConfigurationDoneRequest",
                                        "supportsFunctionBreakpoints",
                                        "supportsConditionalBreakpoints",
                                        "supportsHitConditionalBreakpoints",
                                        "supportsLogPoints",
                                        "supportsEvaluateForHovers",
                                        "supportsStepBack",
                                        "supportsSetVariable",
                                        "supportsExceptionInfoRequest",
                                        "supportsDelayedStackTraceLoading",
                                        "supportsLoadedSourcesRequest",
                                        "supportsTerminateRequest",
                                        "supportsDataBreakpoints",
                                        "supportsDisassembleRequest",
                                        "supportsReadMemoryRequest",
                                        "supportsSteppingGranularity",
                                        "supportsCancelRequest",
                                        "supportsCompletionsRequest"};

vpu_status dap_do_initialize(dap_server *s, const json_t *args, json_t *body,
                             vpu_error *err)
{
    const char *format = dap_text(args, "pathFormat");

    if (s->initialized)
        return err_set(err, VPU_ERR_INVALID, "initialize came before");
    s->initialized = true;
    s->lines_from_0 = !dap_flag(args, "linesStartAt1", true);
    s->columns_from_0 = !dap_flag(args, "columnsStartAt1", true);
    s->uris = format && !strcmp(format, "uri");
    for (size_t k = 0; k < sizeof abilities / sizeof *abilities; k++)
        json_object_set_new(body, abilities[k], json_true());
    json_object_set_new(
        body, "exceptionBreakpointFilters",
        json_pack("[{s:s, s:s, s:s, s:b}]", "filter", "fault", "label",
                  "Kernel faults", "description",
                  "Stop on the line that a kernel does not get over: an access "
                  "outside its memory, a barrier not all items reach.",
                  "default", 1));
    dap_event(s, "initialized", NULL);
    return VPU_OK;
}

/* --- threads and frames -------------------------------------------------- */

vpu_status dap_do_threads(dap_server *s, const json_t *args, json_t *body,
                          vpu_error *err)
{
    str name = {0};

    (void)args;
    (void)err;
    str_puts(&name, "SHAVE 0");
    if (s->session) {
        str who = {0};

        debug_who(s->session, &who);
        if (who.n)
            str_printf(&name, ": %s", str_text(&who));
        str_free(&who);
    }
    json_object_set_new(body, "threads",
                        json_pack("[{s:i, s:o}]", "id", DAP_THREAD, "name",
                                  jsontext_string(str_text(&name))));
    str_free(&name);
    return VPU_OK;
}

static json_t *frame_out(dap_server *s, const debug_frame *f, uint32_t k)
{
    json_t *o = json_pack(
        "{s:I, s:o, s:o, s:o, s:o}", "id",
        (json_int_t)s->generation * DAP_MAX_FRAMES + k + 1, "name",
        jsontext_string(f->function && *f->function ? f->function : "kernel"),
        "source", dap_source_out(s, f->file), "line", dap_line_out(s, f->line),
        "column", dap_column_out(s, f->column ? f->column : 1));

    if (f->at_bundle) {
        char address[32];

        snprintf(address, sizeof address, "0x%" PRIx64, f->address);
        json_object_set_new(o, "instructionPointerReference",
                            json_string(address));
    }
    return o;
}

vpu_status dap_do_stackTrace(dap_server *s, const json_t *args, json_t *body,
                             vpu_error *err)
{
    const debug_frame *frames;
    uint32_t n = debug_frames(s->session, s->arena, &frames);
    json_int_t start = dap_number(args, "startFrame", 0);
    json_int_t levels = dap_number(args, "levels", 0);
    json_t *list = json_array();

    (void)err;
    for (uint32_t k = 0; k < n && k < DAP_MAX_FRAMES; k++)
        if (k >= start && (levels <= 0 || k - start < levels))
            json_array_append_new(list, frame_out(s, &frames[k], k));
    json_object_set_new(body, "stackFrames", list);
    json_object_set_new(body, "totalFrames", json_integer(n));
    return VPU_OK;
}

vpu_status dap_do_exceptionInfo(dap_server *s, const json_t *args, json_t *body,
                                vpu_error *err)
{
    (void)args;
    if (s->stop.state != DEBUG_STANDS || s->stop.cause != DEBUG_BY_FAULT)
        return err_set(err, VPU_ERR_INVALID, "no fault has stopped the kernel");
    json_object_set_new(body, "exceptionId",
                        json_string(err_status_text(s->stop.status)));
    json_object_set_new(body, "description", jsontext_string(s->stop_text));
    json_object_set_new(body, "breakMode", json_string("always"));
    return VPU_OK;
}

/* --- sources ------------------------------------------------------------- */

vpu_status dap_do_source(dap_server *s, const json_t *args, json_t *body,
                         vpu_error *err)
{
    json_t *from = json_object_get(args, "source");
    const char *path = dap_path_in(s, from ? from : args), *file, *text;

    file = path ? debug_file_named(s->session, path) : NULL;
    text = file ? debug_source(s->session, file) : NULL;
    if (!text)
        return err_set(err, VPU_ERR_INVALID, "there is no such source");
    json_object_set_new(body, "content", jsontext_string(text));
    json_object_set_new(body, "mimeType", json_string("text/x-opencl-src"));
    return VPU_OK;
}

vpu_status dap_do_loadedSources(dap_server *s, const json_t *args, json_t *body,
                                vpu_error *err)
{
    const char *const *files;
    json_t *list = json_array();
    uint32_t n = debug_files(s->session, s->arena, &files);

    (void)args;
    (void)err;
    for (uint32_t k = 0; k < n; k++)
        json_array_append_new(list, dap_source_out(s, files[k]));
    json_object_set_new(body, "sources", list);
    return VPU_OK;
}

/* --- the SHAVE program --------------------------------------------------- */

static json_t *row_out(dap_server *s, const debug_row *r)
{
    char address[32];
    json_t *o;

    snprintf(address, sizeof address, "0x%" PRIx64, r->address);
    o = json_pack("{s:s, s:o}", "address", address, "instruction",
                  jsontext_string(r->text ? r->text : "(no bundle)"));
    if (!r->text)
        json_object_set_new(o, "presentationHint", json_string("invalid"));
    if (r->symbol)
        json_object_set_new(o, "symbol", jsontext_string(r->symbol));
    if (r->line) {
        json_object_set_new(o, "location", dap_source_out(s, r->file));
        json_object_set_new(o, "line", dap_line_out(s, r->line));
        if (r->column)
            json_object_set_new(o, "column", dap_column_out(s, r->column));
    }
    return o;
}

static int64_t within(json_int_t n)
{
    const int64_t most = INT64_C(1) << 40;

    return n > most ? most : n < -most ? -most : n;
}

vpu_status dap_do_disassemble(dap_server *s, const json_t *args, json_t *body,
                              vpu_error *err)
{
    const char *from = dap_text(args, "memoryReference");
    json_int_t n = dap_number(args, "instructionCount", 0);
    json_t *list = json_array();
    const debug_row *rows;
    char *end = NULL;
    uint64_t address = from ? strtoull(from, &end, 0) : 0;

    json_object_set_new(body, "instructions", list);
    if (!from || end == from || *end || n < 0 || n > MAX_ROWS)
        return err_set(err, VPU_ERR_INVALID,
                       "disassemble needs memoryReference, an address, and "
                       "instructionCount, up to %d",
                       MAX_ROWS);
    address += (uint64_t)within(dap_number(args, "offset", 0));
    debug_rows(s->session, address,
               within(dap_number(args, "instructionOffset", 0)), (uint32_t)n,
               s->arena, &rows);
    for (json_int_t k = 0; k < n; k++)
        json_array_append_new(list, row_out(s, &rows[k]));
    return VPU_OK;
}
