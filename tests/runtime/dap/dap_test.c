/* The debug adapter, driven through its descriptors: what comes in which order,
 * what is refused, and that it ends. What a variable must be is computed here
 * from the item's id; the input is a ramp. */
#include <check.h>
#include <string.h>

#include "tests/runtime/dap/editor.h"
#include "tests/runtime/debug/twist.h"

static const char endless_cl[] =
    "__kernel void twist(__global const half *src, __global half *dst,\n"
    "                    float bias)\n"       /* 2 */
    "{\n"                                     /* 3 */
    "    int k = 0;\n"                        /* 4 */
    "    while (src[0] == src[0])\n"          /* 5 */
    "        k++;\n"                          /* 6 */
    "    dst[get_global_id(0)] = k + bias;\n" /* 7 */
    "}\n";

static const char fault_cl[] =
    "__kernel void twist(__global const half *src, __global half *dst,\n"
    "                    float bias)\n" /* 2 */
    "{\n"                               /* 3 */
    "    int at = get_global_id(0);\n"  /* 4 */
    "    if (at == 3)\n"                /* 5 */
    "        dst[1 << 28] = 1;\n"       /* 6 */
    "    printf(\"item %d\\n\", at);\n" /* 7 */
    "    dst[at] = src[at] + bias;\n"   /* 8 */
    "}\n";

static void open_all(void)
{
    twist_open();
    editor_open();
}

static void close_all(void)
{
    editor_close();
    twist_close();
}

static const char *source(const char *breakpoints)
{
    return arena_printf(
        twist.arena, "{'source': {'path': '%s/twist.cl'}, 'breakpoints': [%s]}",
        twist.dir, breakpoints);
}

static json_int_t number_at(json_t *of, const char *path)
{
    return json_integer_value(editor_at(of, path));
}

static const char *text_at(json_t *of, const char *path)
{
    return json_string_value(editor_at(of, path));
}

/* jansson's are macros that look twice. */
static bool is_true(json_t *v)
{
    return json_is_true(v);
}

static bool is_false(json_t *v)
{
    return json_is_false(v);
}

static void expect_event(const char *name)
{
    json_t *m = editor_read();

    ck_assert_str_eq(text_at(m, "type"), "event");
    ck_assert_str_eq(text_at(m, "event"), name);
    json_decref(m);
}

/* Message by message: no event before the response that causes it, and no step
 * of the kernel before configurationDone. */
START_TEST(order)
{
    json_t *m;
    int seq;

    editor_send("initialize", "{'adapterID': 'vpu'}");
    m = editor_read();
    ck_assert_str_eq(text_at(m, "type"), "response");
    ck_assert(is_true(editor_at(m, "body.supportsStepBack")));
    json_decref(m);
    expect_event("initialized");
    m = editor_ask("setBreakpoints", source("{'line': 16}"));
    ck_assert(is_false(editor_at(m, "breakpoints[0].verified")));
    seq = editor_send(
        "launch",
        arena_printf(twist.arena, "{'program': '%s/layer.xml'}", twist.dir));
    m = editor_response(seq);
    ck_assert(is_true(editor_at(m, "success")));
    ck_assert_int_eq(editor_kept("breakpoint"), 0);
    m = editor_event("breakpoint");
    ck_assert(is_true(editor_at(m, "breakpoint.verified")));
    ck_assert_int_eq(number_at(m, "breakpoint.line"), 17); /* 16 is empty */
    editor_refused("continue", "{'threadId': 1}", "configurationDone");
    ck_assert_int_eq(editor_kept("stopped"), 0);
    editor_ask("configurationDone", NULL);
    ck_assert_int_eq(editor_kept("stopped"), 0);
    m = editor_event("stopped");
    ck_assert_str_eq(text_at(m, "reason"), "breakpoint");
    ck_assert_int_eq(number_at(m, "hitBreakpointIds[0]"), 1);
    seq = editor_send("next", "{'threadId': 1}");
    m = editor_read();
    ck_assert_int_eq(number_at(m, "request_seq"), seq);
    json_decref(m);
    expect_event("stopped");
    editor_ask("setBreakpoints", source(""));
    editor_ask("continue", "{'threadId': 1}");
    ck_assert_int_eq(number_at(editor_event("exited"), "exitCode"), 0);
    editor_event("terminated");
    editor_refused("stackTrace", "{'threadId': 1}", "no session");
    editor_ask("disconnect", NULL);
    ck_assert(editor_read() == NULL); /* it has ended */
}
END_TEST

/* Nothing of this ends the adapter. */
START_TEST(malformed)
{
    static const char half[] = "Content-Length: 5\r\n\r\n{\"a\"";
    static const char large[] = "Content-Length: 99999999999999999999999\r\n"
                                "\r\n{\"seq\": 1}";
    static const char none[] = "Content-Type: x\r\n\r\n";
    char line[2000];

    editor_bytes(none, sizeof none - 1);
    editor_refused(NULL, NULL, "without Content-Length");
    memset(line, 'x', sizeof line);
    editor_bytes(line, sizeof line);
    editor_text("[1, 2]");
    editor_refused(NULL, NULL, "no JSON object");
    editor_text("{\"seq\": ");
    editor_refused(NULL, NULL, "no JSON object");
    editor_text("");
    editor_refused(NULL, NULL, "no JSON object");
    editor_text("\"\\xff\"");
    editor_refused(NULL, NULL, "no JSON object");
    editor_text("{}");
    editor_refused(NULL, NULL, "no request");
    editor_text("{\"type\": \"request\", \"command\": 7}");
    editor_refused(NULL, NULL, "no request");
    editor_bytes(large, sizeof large - 1);
    editor_refused(NULL, NULL, "Content-Length is no number");
    editor_refused("fly", NULL, "there is no request 'fly'");
    editor_refused("stackTrace", NULL, "initialize comes first");
    editor_ask("initialize", "{'adapterID': 7, 'linesStartAt1': 'no'}");
    editor_refused("initialize", NULL, "came before");
    editor_refused("launch", "7", "needs");
    editor_refused("threads2", "[]", "no request");
    editor_ask("threads", "null");
    editor_refused("setBreakpoints", "{'source': 3}", "needs a path");
    editor_refused("next", NULL, "no session");
    editor_bytes(half, sizeof half - 1); /* and then the end */
}
END_TEST

START_TEST(no_launch)
{
    int seq;
    json_t *m;

    editor_ask("initialize", "{'adapterID': 'vpu'}");
    terminal_text(&twist, "twist.cl",
                  "__kernel void twist(int a) { wrong; }\n");
    seq = editor_send(
        "launch",
        arena_printf(twist.arena, "{'program': '%s/layer.xml'}", twist.dir));
    m = editor_response(seq);
    ck_assert(is_false(editor_at(m, "success")));
    ck_assert_msg(strstr(text_at(m, "message"), "wrong") != NULL, "%s",
                  text_at(m, "message"));
    editor_event("terminated");
    editor_refused("launch", "{'program': 'layer.xml'}", "already");
    editor_ask("disconnect", NULL);
}
END_TEST

/* A kernel that never ends: what is refused, what is done at once. */
START_TEST(while_running)
{
    json_t *m;

    terminal_text(&twist, "twist.cl", endless_cl);
    editor_launch("");
    editor_refused("stackTrace", "{'threadId': 1}", "notStopped");
    editor_refused("continue", "{'threadId': 1}", "notStopped");
    editor_refused("evaluate", "{'expression': 'k'}", "notStopped");
    editor_ask("threads", NULL);
    editor_ask("pause", "{'threadId': 1}");
    m = editor_event("stopped");
    ck_assert_str_eq(text_at(m, "reason"), "pause");
    editor_ask("continue", "{'threadId': 1}");
    m = editor_ask("setBreakpoints", source("{'line': 6}"));
    ck_assert(is_true(editor_at(m, "breakpoints[0].verified")));
    editor_stops("breakpoint", 6);
    editor_ask("pause", "{'threadId': 1}"); /* it stands already */
    editor_ask("setBreakpoints", source(""));
    editor_ask("continue", "{'threadId': 1}");
    editor_ask("disconnect", NULL);
    ck_assert(editor_read() == NULL);
}
END_TEST

START_TEST(end_while_running)
{
    terminal_text(&twist, "twist.cl", endless_cl);
    editor_launch("");
    editor_ask("threads", NULL); /* close_all waits a second at most */
}
END_TEST

START_TEST(terminated_while_running)
{
    terminal_text(&twist, "twist.cl", endless_cl);
    editor_launch("");
    editor_ask("terminate", NULL);
    editor_event("terminated");
    editor_ask("disconnect", NULL);
}
END_TEST

/* What waits behind others is not done when it is cancelled. */
START_TEST(cancelled)
{
    const char *text = "{\"seq\": 50, \"type\": \"request\", \"command\": "
                       "\"threads\"}";
    const char *both = arena_printf(
        twist.arena,
        "Content-Length: %zu\r\n\r\n%sContent-Length: 90\r\n\r\n%-90s",
        strlen(text), text,
        "{\"seq\": 51, \"type\": \"request\", \"command\": \"cancel\", "
        "\"arguments\": {\"requestId\": 50}}");
    int seq;
    json_t *m;

    editor_ask("initialize", NULL);
    /* Compiling takes some time, while which both wait. */
    seq = editor_send(
        "launch",
        arena_printf(twist.arena, "{'program': '%s/layer.xml'}", twist.dir));
    editor_bytes(both, strlen(both));
    editor_response(seq);
    m = editor_response(50);
    ck_assert_str_eq(text_at(m, "message"), "cancelled");
    ck_assert(is_true(editor_at(editor_response(51), "success")));
}
END_TEST

START_TEST(from_zero)
{
    json_t *m;
    int seq;

    editor_ask("initialize", "{'adapterID': 'vpu', 'linesStartAt1': false, "
                             "'columnsStartAt1': false, 'pathFormat': 'uri'}");
    seq = editor_send(
        "launch",
        arena_printf(twist.arena, "{'program': '%s/layer.xml'}", twist.dir));
    editor_response(seq);
    m = editor_ask("setBreakpoints",
                   arena_printf(twist.arena,
                                "{'source': {'path': 'file://%s/tw%%69st.cl'}, "
                                "'breakpoints': [{'line': 21}]}",
                                twist.dir));
    ck_assert_int_eq(number_at(m, "breakpoints[0].line"), 21);
    ck_assert(is_true(editor_at(m, "breakpoints[0].verified")));
    editor_ask("configurationDone", NULL);
    editor_stops("breakpoint", 21);
    m = editor_ask("stackTrace", "{'threadId': 1}");
    ck_assert_str_eq(
        text_at(m, "stackFrames[0].source.path"),
        arena_printf(twist.arena, "file://%s/twist.cl", twist.dir));
    /* f.x += other; */
    ck_assert_int_eq(number_at(m, "stackFrames[0].column"), 11);
}
END_TEST

/* References are of one stop. */
START_TEST(stale)
{
    json_t *m;
    int frame, ref;

    editor_launch(", 'stopOnEntry': true");
    editor_stops("entry", 11);
    frame = editor_frame();
    m = editor_ask("scopes",
                   arena_printf(twist.arena, "{'frameId': %d}", frame));
    ref = (int)number_at(m, "scopes[0].variablesReference");
    ck_assert_int_gt(ref, 0);
    editor_ask("variables",
               arena_printf(twist.arena, "{'variablesReference': %d}", ref));
    editor_ask("next", "{'threadId': 1}");
    editor_stops("step", 12);
    editor_refused("variables",
                   arena_printf(twist.arena, "{'variablesReference': %d}", ref),
                   "earlier stop");
    editor_refused("scopes",
                   arena_printf(twist.arena, "{'frameId': %d}", frame),
                   "earlier stop");
    editor_refused(
        "evaluate",
        arena_printf(twist.arena, "{'expression': 'l', 'frameId': %d}", frame),
        "earlier stop");
    ck_assert(editor_frame() != frame);
}
END_TEST

/* Values by parts: a structure, a vector, local memory, a tensor. */
START_TEST(values)
{
    json_t *m, *scope;
    size_t k;
    const char *names[] = {"Locals", "Arguments", "Work-item", "Local memory",
                           "Tensors"};
    int refs[5] = {0};

    editor_ask("initialize", "{'adapterID': 'vpu'}");
    editor_ask("setBreakpoints",
               source("{'line': 22, 'condition': 'global_id[0] == 11 && "
                      "global_id[1] == 1'}"));
    editor_response(editor_send(
        "launch",
        arena_printf(twist.arena, "{'program': '%s/layer.xml'}", twist.dir)));
    editor_ask("configurationDone", NULL);
    editor_stops("breakpoint", 22);
    m = editor_ask("threads", NULL);
    ck_assert_str_eq(text_at(m, "threads[0].name"),
                     "SHAVE 0: group (1,1,0), item (3,0,0)");
    m = editor_ask(
        "scopes", arena_printf(twist.arena, "{'frameId': %d}", editor_frame()));
    json_array_foreach(editor_at(m, "scopes"), k, scope)
    {
        ck_assert_str_eq(text_at(scope, "name"), names[k]);
        refs[k] = (int)number_at(scope, "variablesReference");
        ck_assert_int_eq(is_true(editor_at(scope, "expensive")), k == 4);
    }
    ck_assert_uint_eq(k, 5);
    m = editor_ask(
        "variables",
        arena_printf(twist.arena, "{'variablesReference': %d}", refs[0]));
    json_array_foreach(editor_at(m, "variables"), k,
                       scope) if (!strcmp(text_at(scope, "name"), "pair"))
    {
        ck_assert_str_eq(text_at(scope, "value"), "{a = 3, v = (0.5, 3)}");
        ck_assert_int_eq(number_at(scope, "namedVariables"), 2);
        m = editor_ask(
            "variables",
            arena_printf(twist.arena, "{'variablesReference': %d}",
                         (int)number_at(scope, "variablesReference")));
        ck_assert_str_eq(text_at(m, "variables[1].evaluateName"), "pair.v");
        ck_assert_str_eq(text_at(m, "variables[1].type"), "float2");
        break;
    }
    m = editor_ask(
        "variables",
        arena_printf(twist.arena, "{'variablesReference': %d}", refs[3]));
    ck_assert_str_eq(text_at(m, "variables[0].name"), "tile");
    ck_assert_str_eq(text_at(m, "variables[0].type"), "half[8]");
    m = editor_ask(
        "variables",
        arena_printf(twist.arena,
                     "{'variablesReference': %d, 'start': 6, "
                     "'count': 1, 'filter': 'indexed'}",
                     (int)number_at(m, "variables[0].variablesReference")));
    ck_assert_uint_eq(json_array_size(editor_at(m, "variables")), 1);
    ck_assert_str_eq(text_at(m, "variables[0].evaluateName"), "tile[6]");
    ck_assert_str_eq(text_at(m, "variables[0].value"),
                     arena_printf(twist.arena, "%.5g", twist_ramp(30)));
    /* in0[0,2,1,14..]: tensor, rows, row */
    m = editor_ask(
        "variables",
        arena_printf(twist.arena, "{'variablesReference': %d}", refs[4]));
    ck_assert_int_eq(number_at(m, "variables[0].indexedVariables"), 3);
    for (int d = 0; d < 2; d++)
        m = editor_ask(
            "variables",
            arena_printf(twist.arena,
                         "{'variablesReference': %d, 'start': %d, 'count': 1}",
                         (int)number_at(m, "variables[0].variablesReference"),
                         2 - d));
    ck_assert_str_eq(text_at(m, "variables[0].name"), "[0,2,1]");
    m = editor_ask(
        "variables",
        arena_printf(twist.arena,
                     "{'variablesReference': %d, 'start': 14, 'count': 9}",
                     (int)number_at(m, "variables[0].variablesReference")));
    ck_assert_uint_eq(json_array_size(editor_at(m, "variables")), 2);
    ck_assert_str_eq(text_at(m, "variables[1].evaluateName"), "in0[0,2,1,15]");
    ck_assert_str_eq(text_at(m, "variables[1].value"),
                     arena_printf(twist.arena, "%.5g", twist_ramp(95)));
    /* An element is changed by its name in its parent. */
    m = editor_ask(
        "variables",
        arena_printf(twist.arena, "{'variablesReference': %d}", refs[3]));
    m = editor_ask(
        "setVariable",
        arena_printf(twist.arena,
                     "{'variablesReference': %d, 'name': '[2]', "
                     "'value': 'l + 0.5'}",
                     (int)number_at(m, "variables[0].variablesReference")));
    ck_assert_str_eq(text_at(m, "value"), "3.5");
    ck_assert_str_eq(editor_value("tile[2]"), "3.5");
}
END_TEST

/* Memory from where a variable stands or points, as far as there is some. */
START_TEST(bytes)
{
    static const struct {
        int offset, count, unreadable;
        const char *data;
    } reads[] = {{0, 0, 0, ""},
                 {7, 1, 0, "Ig=="}, /* 3/256 is 0x2200, 1/256 0x1c00 */
                 {2, 2, 0, "ABw="},
                 {2, 4, 0, "ABwAIA=="},
                 {-2, 4, 4, ""}};
    json_t *m;
    const char *at;

    editor_launch(", 'stopOnEntry': true");
    editor_stops("entry", 11);
    for (int k = 0; k < 2; k++) {
        m = editor_ask("evaluate",
                       arena_printf(twist.arena, "{'expression': '%s'}",
                                    k ? "in0" : "src"));
        at = text_at(m, "memoryReference");
        ck_assert_ptr_nonnull(at);
        for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
            m = editor_ask(
                "readMemory",
                arena_printf(twist.arena,
                             "{'memoryReference': '%s', 'offset': %d, "
                             "'count': %d}",
                             at, reads[i].offset, reads[i].count));
            ck_assert_str_eq(text_at(m, "data"), reads[i].data);
            ck_assert_int_eq(number_at(m, "unreadableBytes"),
                             reads[i].unreadable);
        }
    }
    m = editor_ask("readMemory",
                   arena_printf(twist.arena,
                                "{'memoryReference': '%s', 'count': 65536}",
                                at));
    ck_assert_int_lt(number_at(m, "unreadableBytes"), 65536 - 191);
    ck_assert_int_gt(number_at(m, "unreadableBytes"), 0);
    m = editor_ask("readMemory",
                   "{'memoryReference': '0xffffffffffff', 'count': 8}");
    ck_assert_int_eq(number_at(m, "unreadableBytes"), 8);
    editor_refused("readMemory", "{'memoryReference': '', 'count': 8}",
                   "an address");
}
END_TEST

/* Inlined functions are frames, each with its own variables. */
START_TEST(frames)
{
    json_t *m;

    editor_ask("initialize", "{'adapterID': 'vpu'}");
    m = editor_ask("setFunctionBreakpoints",
                   "{'breakpoints': [{'name': 'scaled', 'condition': 'by == "
                   "2', 'hitCondition': '3'}, {'name': 'nowhere'}]}");
    editor_response(editor_send(
        "launch",
        arena_printf(twist.arena, "{'program': '%s/layer.xml'}", twist.dir)));
    ck_assert(
        is_true(editor_at(editor_event("breakpoint"), "breakpoint.verified")));
    m = editor_event("breakpoint");
    ck_assert(is_false(editor_at(m, "breakpoint.verified")));
    ck_assert_msg(strstr(text_at(m, "breakpoint.message"), "nowhere") != NULL,
                  "%s", text_at(m, "breakpoint.message"));
    editor_ask("configurationDone", NULL);
    editor_stops("breakpoint", 3);
    /* The third item. */
    ck_assert_str_eq(editor_value("local_id[0]"), "2");
    m = editor_ask("stackTrace", "{'threadId': 1}");
    ck_assert_int_eq(number_at(m, "totalFrames"), 2);
    ck_assert_str_eq(text_at(m, "stackFrames[0].name"), "scaled");
    ck_assert_str_eq(text_at(m, "stackFrames[1].name"), "twist");
    ck_assert_int_eq(number_at(m, "stackFrames[1].line"), 21);
    m = editor_ask("evaluate",
                   arena_printf(twist.arena,
                                "{'expression': 'at', 'frameId': %d}",
                                (int)number_at(m, "stackFrames[1].id")));
    ck_assert_str_eq(text_at(m, "result"), "2");
    m = editor_ask("evaluate",
                   arena_printf(twist.arena,
                                "{'expression': 'print l', 'context': 'repl', "
                                "'frameId': %d}",
                                editor_frame() + 1));
    ck_assert_str_eq(text_at(m, "result"), "l = 2");
    m = editor_ask("stackTrace", "{'threadId': 1, 'startFrame': 1}");
    ck_assert_uint_eq(json_array_size(editor_at(m, "stackFrames")), 1);
    editor_ask("stepOut", "{'threadId': 1}");
    editor_stops("step", 21);
    editor_ask("setFunctionBreakpoints", "{'breakpoints': []}");
    editor_ask("next", "{'threadId': 1}");
    editor_stops("step", 22);
    editor_ask("stepBack", "{'threadId': 1}");
    editor_event("stopped");
}
END_TEST

/* Counted breakpoints mean the same time on every way; log messages stop
 * nothing. */
START_TEST(counted)
{
    json_t *m;

    editor_ask("initialize", "{'adapterID': 'vpu'}");
    editor_ask("setBreakpoints",
               source("{'line': 18, 'hitCondition': '% 5'}, {'line': 19, "
                      "'logMessage': 'at {at}: {l + 1}, {nothing}'}"));
    editor_response(editor_send(
        "launch",
        arena_printf(twist.arena, "{'program': '%s/layer.xml'}", twist.dir)));
    editor_ask("configurationDone", NULL);
    editor_stops("breakpoint", 18); /* 5th: item 1, i == 1 */
    ck_assert_str_eq(editor_value("l * 10 + i"), "11");
    m = editor_event("output");
    ck_assert_str_eq(text_at(m, "output"), "at 0: 1, {there is no 'nothing' "
                                           "here}\n");
    m = editor_ask("evaluate", "{'expression': 'points', 'context': 'repl'}");
    ck_assert_str_eq(
        text_at(m, "result"),
        arena_printf(twist.arena,
                     "breakpoint 1: %s/twist.cl, line 18, when the time is a "
                     "multiple of 5; it was 5 so far\n"
                     "breakpoint 2: %s/twist.cl, line 19, says 'at {at}: {l + "
                     "1}, {nothing}'",
                     twist.dir, twist.dir));
    editor_ask("continue", "{'threadId': 1}");
    editor_stops("breakpoint", 18); /* 10th: item 3, i == 0 */
    ck_assert_str_eq(editor_value("l * 10 + i"), "30");
    editor_ask("continue", "{'threadId': 1}");
    editor_stops("breakpoint", 18);
    ck_assert_str_eq(editor_value("l * 10 + i"), "42");
    editor_ask("reverseContinue", "{'threadId': 1}");
    editor_stops("breakpoint", 18);
    ck_assert_str_eq(editor_value("l * 10 + i"), "30");
    editor_ask("continue", "{'threadId': 1}");
    editor_stops("breakpoint", 18);
    ck_assert_str_eq(editor_value("l * 10 + i"), "42");
    m = editor_ask("setBreakpoints",
                   source("{'line': 18, 'hitCondition': 'often'}"));
    ck_assert(is_false(editor_at(m, "breakpoints[0].verified")));
    ck_assert(strstr(text_at(m, "breakpoints[0].message"), "often") != NULL);
}
END_TEST

/* An answer for each, however many there are. */
START_TEST(many)
{
    str list = {.arena = twist.arena};
    json_t *m, *b;
    size_t k, verified = 0;

    editor_launch(", 'stopOnEntry': true");
    editor_stops("entry", 11);
    for (int i = 0; i < 1100; i++)
        str_printf(&list, "%s{'line': 22, 'condition': 'l == %d'}",
                   i ? ", " : "", i);
    m = editor_ask("setBreakpoints", source(str_text(&list)));
    json_array_foreach(editor_at(m, "breakpoints"), k, b) verified +=
        is_true(editor_at(b, "verified"));
    ck_assert_uint_eq(k, 1100);
    ck_assert_uint_eq(verified, DEBUG_MAX_POINTS);
    m = editor_ask("setBreakpoints", source("{'line': 23}"));
    ck_assert(is_true(editor_at(m, "breakpoints[0].verified")));
}
END_TEST

/* Who wrote an element last: from the end backwards. */
START_TEST(data)
{
    json_t *m;

    editor_launch(", 'stopOnEntry': true, 'stopAtEnd': true");
    editor_stops("entry", 11);
    m = editor_ask("dataBreakpointInfo", "{'name': 'dst'}");
    ck_assert(json_is_null(editor_at(m, "dataId")));
    m = editor_ask("dataBreakpointInfo", "{'name': 'dst[0,0,1,13]'}");
    ck_assert_str_eq(text_at(m, "dataId"), "dst[0,0,1,13]");
    m = editor_ask("setDataBreakpoints",
                   "{'breakpoints': [{'dataId': 'dst[0,0,1,13]', 'accessType': "
                   "'read'}, {'dataId': 'dst[0,0,9,9]'}]}");
    ck_assert(is_false(editor_at(m, "breakpoints[0].verified")));
    ck_assert(is_false(editor_at(m, "breakpoints[1].verified")));
    editor_ask("continue", "{'threadId': 1}");
    m = editor_event("stopped");
    ck_assert_str_eq(text_at(m, "reason"), "pause");
    ck_assert_str_eq(text_at(m, "text"), "the run has ended");
    m = editor_ask("stackTrace", "{'threadId': 1}");
    ck_assert_int_eq(number_at(m, "totalFrames"), 0);
    editor_refused("next", "{'threadId': 1}", "has ended");
    m = editor_ask("setDataBreakpoints",
                   "{'breakpoints': [{'dataId': 'out0[0,0,1,13]', "
                   "'accessType': 'write'}]}");
    ck_assert(is_true(editor_at(m, "breakpoints[0].verified")));
    editor_ask("reverseContinue", "{'threadId': 1}");
    m = editor_event("stopped");
    ck_assert_str_eq(text_at(m, "reason"), "data breakpoint");
    ck_assert_int_eq(number_at(m, "hitBreakpointIds[0]"), 3);
    ck_assert_str_eq(editor_value("global_id"), "(13, 1, 0)");
    editor_ask("reverseContinue", "{'threadId': 1}");
    m = editor_event("stopped");
    ck_assert_str_eq(text_at(m, "reason"), "step");
    ck_assert(strstr(text_at(m, "text"), "before") != NULL);
    editor_ask("terminate", NULL);
    editor_event("terminated");
}
END_TEST

/* A fault stops on its line, once; without the filter the run just fails. */
START_TEST(faults)
{
    json_t *m;

    terminal_text(&twist, "twist.cl", fault_cl);
    editor_ask("initialize", "{'adapterID': 'vpu'}");
    editor_ask("setExceptionBreakpoints",
               _i ? "{'filters': []}" : "{'filters': ['fault']}");
    editor_response(editor_send(
        "launch",
        arena_printf(twist.arena, "{'program': '%s/layer.xml'}", twist.dir)));
    editor_ask("configurationDone", NULL);
    if (!_i) {
        editor_stops("exception", 6);
        m = editor_ask("exceptionInfo", "{'threadId': 1}");
        ck_assert_msg(strstr(text_at(m, "description"), "kernel") != NULL, "%s",
                      text_at(m, "description"));
        ck_assert_str_eq(editor_value("at"), "3");
        editor_ask("stepBack", "{'threadId': 1}");
        editor_stops("step", 5);
        editor_refused("exceptionInfo", "{'threadId': 1}", "no fault");
        editor_ask("next", "{'threadId': 1}");
        editor_stops("step", 6);
        editor_ask("next", "{'threadId': 1}");
        editor_stops("exception", 6);
        editor_ask("continue", "{'threadId': 1}");
    }
    ck_assert_int_eq(number_at(editor_event("exited"), "exitCode"), 1);
    editor_event("terminated");
    m = editor_event("output"); /* printf, each once */
    ck_assert_str_eq(text_at(m, "category"), "stdout");
    ck_assert_str_eq(text_at(m, "output"), "item 0\n");
}
END_TEST

/* The SHAVE program: exactly so many rows, also outside of it. */
START_TEST(bundles)
{
    const char *at;
    json_t *m, *row;
    size_t k, invalid = 0, here = 0, lines = 0;

    editor_launch(", 'stopOnEntry': true, 'bundles': true");
    editor_event("stopped");
    m = editor_ask("stackTrace", "{'threadId': 1}");
    at = text_at(m, "stackFrames[0].instructionPointerReference");
    ck_assert_ptr_nonnull(at);
    m = editor_ask("disassemble", arena_printf(twist.arena,
                                               "{'memoryReference': '%s', "
                                               "'instructionOffset': -100, "
                                               "'instructionCount': 200}",
                                               at));
    json_array_foreach(editor_at(m, "instructions"), k, row)
    {
        invalid += editor_at(row, "presentationHint") != NULL;
        here += !strcmp(text_at(row, "address"), at);
        lines += editor_at(row, "line") != NULL;
    }
    ck_assert_uint_eq(k, 200);
    ck_assert_uint_eq(here, 1);
    ck_assert_str_eq(text_at(m, "instructions[100].address"), at);
    ck_assert(invalid > 0 && invalid < 200 && lines > 0);
    m = editor_ask("disassemble", "{'memoryReference': '0x0', "
                                  "'instructionOffset': -3, "
                                  "'instructionCount': 5}");
    ck_assert_uint_eq(json_array_size(editor_at(m, "instructions")), 5);
    ck_assert_str_eq(text_at(m, "instructions[4].presentationHint"), "invalid");
    editor_refused("disassemble",
                   "{'memoryReference': 'here', "
                   "'instructionCount': 5}",
                   "address");
    editor_ask("next", "{'threadId': 1, 'granularity': 'instruction'}");
    editor_event("stopped");
    m = editor_ask("stackTrace", "{'threadId': 1}");
    ck_assert_str_ne(text_at(m, "stackFrames[0].instructionPointerReference"),
                     at);
    editor_ask("stepBack", "{'threadId': 1, 'granularity': 'instruction'}");
    editor_event("stopped");
    m = editor_ask("stackTrace", "{'threadId': 1}");
    ck_assert_str_eq(text_at(m, "stackFrames[0].instructionPointerReference"),
                     at);
    m = editor_ask(
        "scopes", arena_printf(twist.arena, "{'frameId': %d}", editor_frame()));
    ck_assert_str_eq(text_at(m, "scopes[1].name"), "Arguments");
}
END_TEST

/* The commands of vpu debug, and expressions where a line is none. */
START_TEST(commands)
{
    json_t *m;

    editor_launch(", 'stopOnEntry': true");
    editor_stops("entry", 11);
    m = editor_ask("evaluate", "{'expression': 'break 22 if l == 5', "
                               "'context': 'repl'}");
    ck_assert(strstr(text_at(m, "result"), "line 22, if l == 5") != NULL);
    m = editor_ask("evaluate", "{'expression': '2 * bias', 'context': 'repl'}");
    ck_assert_str_eq(text_at(m, "result"), "0.5");
    editor_refused("evaluate",
                   "{'expression': 'break nowhere', 'context': 'repl'}",
                   "nowhere");
    editor_ask("evaluate", "{'expression': 'continue', 'context': 'repl'}");
    ck_assert_int_eq(editor_kept("continued"), 0);
    editor_event("continued");
    editor_stops("breakpoint", 22);
    editor_ask("evaluate", "{'expression': 'back 2', 'context': 'repl'}");
    editor_event("continued");
    editor_stops("step", 3);
    editor_ask("evaluate", "{'expression': 'run', 'context': 'repl'}");
    editor_event("continued");
    editor_stops("breakpoint", 22);
    m = editor_ask("completions", "{'text': 'rever', 'column': 6}");
    ck_assert_str_eq(text_at(m, "targets[0].label"), "reverse-continue");
    m = editor_ask("loadedSources", NULL);
    ck_assert_uint_eq(json_array_size(editor_at(m, "sources")), 1);
    m = editor_ask("source", arena_printf(twist.arena,
                                          "{'source': {'path': "
                                          "'%s/twist.cl'}}",
                                          twist.dir));
    ck_assert(strstr(text_at(m, "content"), "barrier(") != NULL);
    editor_ask("evaluate", "{'expression': 'quit', 'context': 'repl'}");
    editor_event("terminated");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("dap");
    TCase *c = tcase_create("dap");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, open_all, close_all);
    tcase_add_test(c, order);
    tcase_add_test(c, malformed);
    tcase_add_test(c, no_launch);
    tcase_add_test(c, while_running);
    tcase_add_test(c, end_while_running);
    tcase_add_test(c, terminated_while_running);
    tcase_add_test(c, cancelled);
    tcase_add_test(c, from_zero);
    tcase_add_test(c, stale);
    tcase_add_test(c, values);
    tcase_add_test(c, bytes);
    tcase_add_test(c, frames);
    tcase_add_test(c, counted);
    tcase_add_test(c, many);
    tcase_add_test(c, data);
    tcase_add_loop_test(c, faults, 0, 2);
    tcase_add_test(c, bundles);
    tcase_add_test(c, commands);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
