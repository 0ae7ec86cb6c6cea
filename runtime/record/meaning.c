/* The meaning of a layer's run stands apart from how it is computed; see
 * meaning.h. */
#include "runtime/record/meaning.h"

#include <string.h>

#include "base/str.h"

typedef struct {
    const recording *recorded, *now;
    arena *a;
    recording_match *out;
    const char **differs;
    size_t n, cap;
    vpu_error *err;
} matching;

static void differs(matching *m, const char *text)
{
    *arena_append(m->a, m->differs, m->n, m->cap) = text;
}

/* --- parameters ---------------------------------------------------------- */

/* The value of "name=value" in a list, by the name of another one; NULL. */
static const char *value_of(const char *const *list, uint32_t n,
                            const char *param)
{
    size_t length = strcspn(param, "=") + 1;

    for (uint32_t i = 0; i < n; i++)
        if (!strncmp(list[i], param, length))
            return list[i] + length;
    return NULL;
}

static bool same_value(const char *x, const char *y)
{
    double u, v;

    return !strcmp(x, y) || (str_to_f64(x, &u) && str_to_f64(y, &v) && u == v);
}

static vpu_status match_params(matching *m)
{
    const recording *now = m->now, *recorded = m->recorded;

    for (uint32_t i = 0; i < now->n_params; i++) {
        const char *param = now->params[i];
        const char *was = value_of(recorded->params, recorded->n_params, param);

        if (!was)
            differs(m,
                    arena_printf(m->a, "parameter %s was not recorded", param));
        else if (!same_value(strchr(param, '=') + 1, was))
            return err_set(m->err, VPU_ERR_MISMATCH,
                           "parameter %s, recorded with %s", param, was);
    }
    for (uint32_t i = 0; i < recorded->n_params; i++)
        if (!value_of(now->params, now->n_params, recorded->params[i]))
            differs(m, arena_printf(m->a,
                                    "parameter %s was recorded and is not "
                                    "given",
                                    recorded->params[i]));
    return VPU_OK;
}

/* --- tensors ------------------------------------------------------------- */

static bool same_desc(const tensor_desc *x, const tensor_desc *y, bool layouts)
{
    return x->dtype == y->dtype && x->rank == y->rank &&
           (!layouts || x->layout == y->layout) &&
           !memcmp(x->dims, y->dims, x->rank * sizeof *x->dims);
}

static bool is_port(const recording_buffer *b)
{
    return b->role == GRAPH_INPUT || b->role == GRAPH_OUTPUT;
}

/* Ports go by number, all others by name. */
static bool same_place(const recording_buffer *x, const recording_buffer *y)
{
    return x->role == y->role &&
           (is_port(x) ? x->port == y->port : !strcmp(x->name, y->name));
}

/* The recorded counterpart of a buffer, of the same layout rather than of
 * another: constants of one name stand there in both. */
static uint32_t counterpart(const recording *of, const recording_buffer *b)
{
    uint32_t found = RECORDING_NO_BUFFER;

    for (uint32_t i = 0; i < of->n_buffers; i++)
        if (same_place(&of->buffers[i], b) &&
            (found == RECORDING_NO_BUFFER ||
             of->buffers[i].desc.layout == b->desc.layout))
            found = i;
    return found;
}

static vpu_status other_tensor(const matching *m, const recording_buffer *now,
                               const recording_buffer *recorded)
{
    return err_set(m->err, VPU_ERR_MISMATCH, "'%s' is %s, recorded '%s' is %s",
                   now->name, tensor_desc_text(m->a, &now->desc),
                   recorded->name, tensor_desc_text(m->a, &recorded->desc));
}

static vpu_status match_buffer(matching *m, uint32_t i, uint32_t *to)
{
    const recording_buffer *b = &m->now->buffers[i], *was;

    *to = counterpart(m->recorded, b);
    if (*to == RECORDING_NO_BUFFER) {
        if (b->role == GRAPH_OUTPUT)
            return err_set(m->err, VPU_ERR_MISMATCH,
                           "output '%s' was not recorded", b->name);
        if (b->role != GRAPH_SCRATCH)
            differs(m, arena_printf(m->a, "%s '%s' was not recorded",
                                    is_port(b) ? "input" : "data", b->name));
        return VPU_OK;
    }
    was = &m->recorded->buffers[*to];
    if (same_desc(&b->desc, &was->desc, b->role == GRAPH_SCRATCH))
        return VPU_OK;
    if (b->role != GRAPH_SCRATCH)
        return other_tensor(m, b, was);
    *to = RECORDING_NO_BUFFER;
    return VPU_OK;
}

static vpu_status match_buffers(matching *m)
{
    uint32_t *list = arena_array(m->a, uint32_t, m->now->n_buffers + 1);
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < m->now->n_buffers && !st; i++)
        st = match_buffer(m, i, &list[i]);
    for (uint32_t i = 0; i < m->recorded->n_buffers && !st; i++) {
        const recording_buffer *b = &m->recorded->buffers[i];

        if (is_port(b) && counterpart(m->now, b) == RECORDING_NO_BUFFER) {
            if (b->role == GRAPH_OUTPUT)
                return err_set(m->err, VPU_ERR_MISMATCH,
                               "output '%s' was recorded and is not made",
                               b->name);
            differs(m, arena_printf(m->a,
                                    "input '%s' was recorded and is not "
                                    "used",
                                    b->name));
        }
    }
    m->out->buffers = list;
    return st;
}

/* --- launches ------------------------------------------------------------ */

static bool has_stages(const matching *m)
{
    const recording *now = m->now, *recorded = m->recorded;

    if (now->n_launches != recorded->n_launches)
        return false;
    for (uint32_t i = 0; i < now->n_launches; i++)
        if (strcmp(now->launches[i].name, recorded->launches[i].name))
            return false;
    for (uint32_t i = 0; i < now->n_buffers; i++)
        if (now->buffers[i].role == GRAPH_SCRATCH && !now->buffers[i].untyped &&
            m->out->buffers[i] == RECORDING_NO_BUFFER)
            return false;
    return true;
}

static void match_lines(matching *m, const recording_launch *now,
                        const recording_launch *was)
{
    for (uint32_t i = 0; i < now->n_binding || i < was->n_binding; i++) {
        const char *x = i < now->n_binding ? now->binding[i] : "nothing";
        const char *y = i < was->n_binding ? was->binding[i] : "nothing";

        if (strcmp(x, y))
            differs(m, arena_printf(m->a, "binding of '%s': %s, recorded %s",
                                    now->name, x, y));
    }
}

static void match_launch(matching *m, const recording_launch *now,
                         const recording_launch *was)
{
    if (strcmp(now->entry, was->entry))
        differs(m, arena_printf(m->a, "kernel of '%s': %s, recorded %s",
                                now->name, now->entry, was->entry));
    else if (now->kernel != was->kernel)
        differs(m, arena_printf(m->a,
                                "the source of kernel '%s' (%s) is not the "
                                "recorded one",
                                now->entry, now->sources));
    match_lines(m, now, was);
}

static void match_launches(matching *m)
{
    m->out->stages = has_stages(m);
    if (!m->out->stages) {
        differs(m, arena_printf(m->a,
                                "other stages (%u, recorded %u): outputs alone "
                                "can be compared",
                                m->now->n_launches, m->recorded->n_launches));
        return;
    }
    for (uint32_t i = 0; i < m->now->n_launches; i++)
        match_launch(m, &m->now->launches[i], &m->recorded->launches[i]);
}

/* --- the rest ------------------------------------------------------------ */

static void match_machines(matching *m)
{
    const recording *now = m->now, *recorded = m->recorded;

    if (!recorded->n_machine)
        return;
    for (uint32_t i = 0; i < now->n_machine; i++) {
        const char *was =
            value_of(recorded->machine, recorded->n_machine, now->machine[i]);

        if (!was || strcmp(strchr(now->machine[i], '=') + 1, was))
            differs(m,
                    arena_printf(m->a, "the machine has %s, recorded %s",
                                 now->machine[i], was ? was : "the default"));
    }
    for (uint32_t i = 0; i < recorded->n_machine; i++)
        if (!value_of(now->machine, now->n_machine, recorded->machine[i]))
            differs(m, arena_printf(m->a, "the recorded machine had %s",
                                    recorded->machine[i]));
}

vpu_status recording_meaning(const recording *recorded, const recording *now,
                             arena *a, recording_match *out, vpu_error *err)
{
    matching m = {recorded, now, a, out, NULL, 0, 0, err};
    vpu_status st;

    *out = (recording_match){0};
    if (strcmp(now->type, recorded->type))
        return err_set(err, VPU_ERR_MISMATCH,
                       "the layer's type is '%s', recorded '%s'", now->type,
                       recorded->type);
    st = match_params(&m);
    if (!st)
        st = match_buffers(&m);
    if (st)
        return st;
    if (strcmp(now->layer, recorded->layer))
        differs(&m, arena_printf(a, "the layer is '%s', recorded '%s'",
                                 now->layer, recorded->layer));
    match_launches(&m);
    match_machines(&m);
    if (strcmp(now->tool, recorded->tool))
        differs(&m, arena_printf(a, "version %s, recorded by %s", now->tool,
                                 recorded->tool));
    out->differs = m.differs;
    out->n_differs = (uint32_t)m.n;
    return VPU_OK;
}
