/* An editor's end of the protocol, for tests of the server: it runs in a thread
 * of this process, on the kernel of tests/runtime/debug/twist.h. */
#ifndef VPU_TESTS_RUNTIME_DAP_EDITOR_H
#define VPU_TESTS_RUNTIME_DAP_EDITOR_H

#include <jansson.h>

#include "runtime/dap/dap.h"

/* Starts a server; twist_open was called. */
void editor_open(void);
/* Closes its input and waits for it, a second at most. */
void editor_close(void);
/* Bytes as they are. */
void editor_bytes(const char *bytes, size_t n);
/* A text as a message with its header. */
void editor_text(const char *text);
/* A request; args: JSON with ' for ", or NULL. Its number. */
int editor_send(const char *command, const char *args);
/* The next message, at most five seconds later; a new reference. NULL: the
 * server has ended. */
json_t *editor_read(void);
/* Messages up to the response to that request, whose events are kept; the
 * response, valid until the test ends. */
json_t *editor_response(int seq);
/* send and response; it must succeed: its body. */
json_t *editor_ask(const char *command, const char *args);
/* It must fail, with these words in its message. */
void editor_refused(const char *command, const char *args, const char *words);
/* The next event of that name, kept or still to come: its body. */
json_t *editor_event(const char *name);
/* How many events of that name are kept. */
int editor_kept(const char *name);
/* initialize, launch with these arguments behind program and more, JSON as
 * above; then configurationDone. */
void editor_launch(const char *more);
/* stopped with that reason, on that line of the innermost frame. */
void editor_stops(const char *reason, int line);
/* frameId of the innermost frame; the text of a variable of a scope. */
int editor_frame(void);
const char *editor_value(const char *expression);
/* "a.b[2].c" of a value; NULL: not there. */
json_t *editor_at(json_t *of, const char *path);

#endif
