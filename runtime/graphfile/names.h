/* What writer and reader of graphs share. */
#ifndef VPU_RUNTIME_GRAPHFILE_NAMES_H
#define VPU_RUNTIME_GRAPHFILE_NAMES_H

#include "runtime/record/container.h"

enum { GRAPHFILE_N_ROLES = 4, GRAPHFILE_N_KINDS = 6, GRAPHFILE_N_FORMS = 3 };

/* As graph_role, graph_arg_kind count. */
extern const char *const graphfile_roles[GRAPHFILE_N_ROLES];
extern const char *const graphfile_kinds[GRAPHFILE_N_KINDS];
/* What a launch's kernel is made from. */
typedef enum {
    GRAPHFILE_CONVERSION, /* a text of this program's own */
    GRAPHFILE_TEXT,
    GRAPHFILE_BIN
} graphfile_form;
extern const char *const graphfile_forms[GRAPHFILE_N_FORMS];
extern const container_kind graphfile_kind;

#endif
