/* How the program ends: by a signal, with output that nobody takes, or as its
 * command wants. Whatever it is, temporaries and children go first. */
#ifndef VPU_RUNTIME_CLI_ENDING_H
#define VPU_RUNTIME_CLI_ENDING_H

#include <stddef.h>

#include "include/vpusim/vpu.h"

/* First of all in main: standard streams that are closed are opened on
 * /dev/null, so that no other file gets their numbers; signals that end a
 * program are caught, but for those that were ignored when it started. */
void ending_watch(void);

/* A handler for a signal, unless that was ignored when the program started. */
void ending_handle(int sig, void (*handler)(int));
/* Ends children and removes temporaries. Async-signal-safe, like the next. */
void ending_clean_up(void);
/* Cleans up and ends the program by this signal, from a handler for it. */
void ending_die_of(int sig);

/* How far the program is, which is said when a signal ends it: "120 of 512
 * work-groups of GRN were done". Long texts are cut. */
void ending_doing(const char *text);

/* In a child that goes on as this program, with signals held back: it ends as
 * the program does, and cleans up what is its own from now on. */
void ending_begin_anew(void);

/* From now on a signal ends the sessions of this context in order, as it does
 * those that cli_sessions counts; until ending_forgets. At most two contexts.
 */
void ending_interrupts(vpu_context *c);
void ending_forgets(const vpu_context *c);

/* Signals as a new program expects them. For a child before it becomes one. */
void ending_forget(void);

/* Write to standard output; ends the program when that fails: who prints a lot
 * should not go on for nobody. */
void ending_print(const void *text, size_t n);

/* Last of all in main: the program's status, status unless standard output
 * could not be written (2, and a message) or a signal came during a session
 * with a stick (then this does not return). */
int ending_status(int status);

#endif
