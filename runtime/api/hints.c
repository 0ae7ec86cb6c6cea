/* What nobody said, told where something went wrong with it. */
#include <string.h>

#include "runtime/api/api_priv.h"

static void tell(const vpu_graph *g, const char *text)
{
    g->context->log_user(g->context->user, VPU_LOG_HINT, text);
}

/* A batch that runs item by item. */
static void hint_items(const vpu_graph *g, arena *a)
{
    tell(g, arena_printf(
                a,
                "each stage runs once for each of %u items, with the work "
                "sizes of all of them: a kernel that counts the batch in its "
                "work sizes goes beyond its item (--batch whole)",
                g->g.batch));
}

/* An output that was taken to be as the input. */
static void hint_outputs(const vpu_graph *g, const vpu_operation *op, arena *a)
{
    for (size_t i = 0; i < op->n_outputs; i++)
        tell(g, arena_printf(
                    a,
                    "no shape of %s is given: it was taken to be as in0, %s; "
                    "--shape out0=... says otherwise",
                    op->outputs[i]->name,
                    tensor_desc_text(
                        a, &g->g.buffers[op->outputs[i]->buffer].desc)));
}

/* The layer whose output the text names; NULL: none. */
static const vpu_operation *layer_of_output(const vpu_graph *g,
                                            const char *what)
{
    for (const vpu_operation *op = g->operations; op; op = op->next)
        if (op->request && op->n_outputs && strstr(what, op->outputs[0]->name))
            return op;
    return NULL;
}

bool api_graph_names_output(const vpu_graph *g, const char *what)
{
    return layer_of_output(g, what) != NULL;
}

void api_graph_hint(const vpu_graph *g, const char *what)
{
    const vpu_operation *about = layer_of_output(g, what);
    arena *a;

    if (!g->context->log_user)
        return;
    a = arena_create(0);
    if (g->g.by_item && strstr(what, "@batch="))
        hint_items(g, a);
    if (about && about->output_assumed)
        hint_outputs(g, about, a);
    arena_destroy(a);
}
