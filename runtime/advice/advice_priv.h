/* What rules look at, and say. Private to runtime/advice. */
#ifndef VPU_RUNTIME_ADVICE_ADVICE_PRIV_H
#define VPU_RUNTIME_ADVICE_ADVICE_PRIV_H

#include "base/str.h"
#include "runtime/advice/advice.h"
#include "runtime/whatif/edits.h"

typedef struct {
    const graph_launch *launch;
    const backend_launch *run;
    const mach_desc *desc;
    const whatif_edited *edited;
    mach_cause cause; /* that the edit saves most of */
    const char *file; /* set by say_ functions with the place */
    uint32_t line;
    arena *a;
} advice_case;

/* Write the sentence, and the place if there is one. */
typedef void advice_say(advice_case *c, str *out);
#define ADVICE_RULE(id, edit, say) advice_say say;
#include "runtime/advice/rules.def"

#endif
