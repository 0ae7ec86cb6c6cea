/* Lines that a person types at a terminal: edited, remembered, completed.
 *
 * Lines of former sessions lie in $XDG_STATE_HOME/vpusim/debug_history (default
 * ~/.local/state), HISTORY of them; without a home nothing is kept. */
#ifndef VPU_RUNTIME_CLI_TYPING_H
#define VPU_RUNTIME_CLI_TYPING_H

#include "runtime/debug/debug.h"

typedef struct typing typing;

/* On standard input and output. NULL: the terminal cannot be set up, or libedit
 * is not on this machine. */
typing *typing_open(const char *prompt);
/* debug_input.ask, with the typing as user. Ctrl-C drops what was typed: "#".
 */
const char *typing_ask(void *user, debug_session *s);
void typing_close(typing *t); /* NULL is fine */

#endif
