/* Frames and variables as values, for programs; look.c has the same as text. */
#include <inttypes.h>
#include <string.h>

#include "runtime/debug/session.h"

uint32_t debug_frames(debug_session *s, arena *a, const debug_frame **out)
{
    const dbg_site *x = s->place == AT_EVENT ? s->site : NULL;
    debug_frame *list = x ? arena_array(a, debug_frame, x->n_frames) : NULL;

    for (uint32_t k = 0; x && k < x->n_frames; k++)
        list[k] = (debug_frame){.function = x->frames[k].function,
                                .file = x->frames[k].file,
                                .line = x->frames[k].line,
                                .column = k ? 0 : x->col};
    if (x && s->cfg->bundles)
        list->at_bundle = dbg_rows_here(s, &list->address);
    *out = list;
    return x ? x->n_frames : 0;
}

/* --- one ----------------------------------------------------------------- */

/* "4x8": the dimensions behind the coordinates given so far. */
static void dims_text(const tensor_desc *d, uint32_t from, str *out)
{
    for (uint32_t k = from; k < d->rank; k++)
        str_printf(out, "%s%u", k > from ? "x" : "", d->dims[k]);
}

/* Dimensions of one element need no step of their own. */
static void skip_ones(const tensor_desc *d, debug_variable *v)
{
    while (v->n_index + 1 < d->rank && d->dims[v->n_index] == 1)
        v->index[v->n_index++] = 0;
}

static void describe_tensor(debug_session *s, debug_variable *v, arena *a)
{
    const tensor_desc *d = &s->graph->buffers[v->buffer].desc;
    str text = {.arena = a}, type = {.arena = a};

    dims_text(d, v->n_index, &text);
    dbg_type_text(
        look_buffer(v->buffer, &s->graph->buffers[v->buffer], a).type->of,
        &type);
    str_puts(&type, " ");
    str_puts(&type, str_text(&text));
    v->text = !v->n_index && v->value.type->kind == DBG_POINTER
                  ? arena_printf(a, "%s %s", v->text, str_text(&text))
                  : str_text(&text);
    v->type = str_text(&type);
    skip_ones(d, v);
    v->indexed = d->dims[v->n_index];
}

/* Is it a tensor, or a pointer to where one begins? */
static bool tensor_of(const debug_session *s, const dbg_value *v,
                      uint32_t *buffer)
{
    dbg_kind k = v->type ? v->type->kind : DBG_INT;
    dbg_value n;

    if (k == DBG_TENSOR)
        *buffer = (uint32_t)v->type->count;
    if (k == DBG_TENSOR || k != DBG_POINTER || dbg_number(v, &n, NULL))
        return k == DBG_TENSOR;
    for (uint32_t i = 0; i < s->graph->n_buffers; i++)
        if (backend_address(&s->sim, i) == (uint32_t)n.integer) {
            *buffer = i;
            return true;
        }
    return false;
}

static void describe(debug_session *s, debug_variable *v, arena *a)
{
    const dbg_type *t = v->value.type;
    str type = {.arena = a};
    size_t before = s->buf.n;

    look_show(s, &v->value, 0);
    v->text = arena_strndup(a, str_text(&s->buf) + before, s->buf.n - before);
    if (s->buf.n > before) {
        s->buf.n = before;
        s->buf.data[before] = 0;
    }
    if (t)
        dbg_type_text(t, &type);
    else
        str_puts(&type, v->value.real ? "double" : "long");
    v->type = str_text(&type);
    v->in_memory = v->value.at && look_address(s, v->value.at, &v->address);
    if (tensor_of(s, &v->value, &v->buffer) &&
        s->graph->buffers[v->buffer].desc.rank) {
        v->tensor = true;
        v->base = v->path;
        describe_tensor(s, v, a);
    } else if (t && v->value.at &&
               (t->kind == DBG_ARRAY || t->kind == DBG_VECTOR)) {
        v->indexed = t->count;
    } else if (t && v->value.at && t->kind == DBG_STRUCT) {
        v->named = t->count;
    } else if (t && t->kind == DBG_POINTER && t->of->bytes) {
        v->indexed = 1;
    }
}

static debug_variable variable_of(debug_session *s, const char *name,
                                  const char *path, const dbg_value *value,
                                  arena *a)
{
    debug_variable v = {.name = arena_strdup(a, name),
                        .path = arena_strdup(a, path),
                        .value = *value};

    if (value->type) /* types of a command live no longer than it */
        v.value.type = arena_memdup(a, value->type, sizeof *value->type);
    describe(s, &v, a);
    return v;
}

/* --- scopes -------------------------------------------------------------- */

typedef struct {
    arena *a;
    debug_variable *list;
    size_t n, cap;
} gathered;

static void gather(debug_session *s, gathered *g, const char *name,
                   const dbg_value *value)
{
    *arena_append(g->a, g->list, g->n, g->cap) =
        variable_of(s, name, name, value, g->a);
}

static const sim_kernel *kernel_here(const debug_session *s)
{
    const backend_launch *b = backend_launch_of(&s->sim, s->pos.launch);

    return b ? b->kernel : NULL;
}

/* What a variable of the kernel's own function belongs to. */
static debug_scope scope_of(const debug_session *s, const dbg_var *v)
{
    const sim_kernel *k = kernel_here(s);

    if (!v->line)
        return DEBUG_ITEM;
    for (uint32_t i = 0; k && i < k->n_locals; i++)
        if (!strcmp(k->locals[i].name, v->name))
            return DEBUG_LOCAL_MEMORY;
    for (uint32_t i = 0; k && i < k->n_args; i++)
        if (!strcmp(k->args[i].name, v->name))
            return DEBUG_ARGUMENTS;
    return DEBUG_LOCALS;
}

static void gather_frame(debug_session *s, gathered *g, uint32_t frame,
                         debug_scope scope)
{
    const dbg_item *it = &s->items[s->cur];
    const dbg_site *x = s->site;
    uint32_t last = track_scopes_end(x, frame);
    bool kernel = frame + 1 == x->n_frames;

    for (uint32_t k = x->frames[frame].first; k < last; k++)
        for (size_t n = 0; n < s->n_numbers; n++) {
            const dbg_var *v = s->by_number[n];
            debug_scope of =
                kernel && k + 1 == last ? scope_of(s, v) : DEBUG_LOCALS;
            dbg_value value = {.type = v->type, .at = track_at(it, v)};

            if (v->scope == x->scopes[k] && of == scope &&
                !look_hidden(s, it, v, &x->frames[frame]))
                gather(s, g, v->name, &value);
        }
}

/* The SHAVE program has no variables: arguments as the binding has them. */
static void gather_arguments(debug_session *s, gathered *g)
{
    const graph_launch *l = dbg_session_launch(s);
    dbg_value value;

    for (uint32_t k = 0; l && k < l->n_args; k++)
        if (look_argument(s, l->args[k].name, g->a, &value))
            gather(s, g, l->args[k].name, &value);
}

static void gather_tensors(debug_session *s, gathered *g)
{
    for (uint32_t i = 0; i < s->graph->n_buffers; i++) {
        const graph_buffer *b = &s->graph->buffers[i];
        dbg_value value = look_buffer(i, b, g->a);

        gather(s, g, b->name, &value);
    }
}

uint32_t debug_variables(debug_session *s, uint32_t frame, debug_scope scope,
                         arena *a, const debug_variable **out)
{
    gathered g = {.a = a};

    *out = NULL;
    if (s->place != AT_EVENT || frame >= s->site->n_frames)
        return 0;
    /* Of the kernel, whatever it has called. */
    if (scope != DEBUG_LOCALS)
        frame = s->site->n_frames - 1;
    s->frame = frame;
    if (scope == DEBUG_TENSORS)
        gather_tensors(s, &g);
    else if (!s->cfg->bundles)
        gather_frame(s, &g, frame, scope);
    else if (scope == DEBUG_ARGUMENTS)
        gather_arguments(s, &g);
    s->frame = 0;
    *out = g.list;
    return (uint32_t)g.n;
}

/* --- parts --------------------------------------------------------------- */

static void tensor_part(debug_session *s, const debug_variable *of, uint64_t k,
                        arena *a, debug_variable *out)
{
    const tensor_desc *d = &s->graph->buffers[of->buffer].desc;
    debug_variable v = *of;
    str name = {.arena = a};
    dbg_value element;

    v.index[v.n_index++] = (int64_t)k;
    str_puts(&name, "[");
    for (uint32_t i = 0; i < v.n_index; i++)
        str_printf(&name, "%s%" PRId64, i ? "," : "", v.index[i]);
    str_puts(&name, "]");
    v.name = str_text(&name);
    v.path = NULL;
    if (v.n_index < d->rank) {
        describe_tensor(s, &v, a);
        *out = v;
    } else if (look_element(s, &of->value, v.index, v.n_index, &element,
                            NULL)) {
        *out = (debug_variable){
            .name = v.name, .text = "behind the end", .type = ""};
    } else {
        *out = variable_of(s, v.name, arena_printf(a, "%s%s", of->base, v.name),
                           &element, a);
    }
}

static bool plain_part(debug_session *s, const debug_variable *of, uint64_t k,
                       arena *a, debug_variable *out)
{
    const dbg_type *t = of->value.type;
    const char *name;
    dbg_value part;

    if (t->kind == DBG_STRUCT) {
        name = t->fields[k].name;
        part = (dbg_value){.type = t->fields[k].type,
                           .at = of->value.at + t->fields[k].offset};
        *out = variable_of(s, name, arena_printf(a, "%s.%s", of->path, name),
                           &part, a);
        return true;
    }
    name = arena_printf(a, "[%" PRIu64 "]", k);
    if (t->kind == DBG_POINTER) {
        dbg_value p;
        const memory *m = backend_memory(&s->sim);

        if (dbg_number(&of->value, &p, NULL) ||
            !memory_readable(m, (uint32_t)p.integer, t->of->bytes))
            return false;
        part = (dbg_value){.type = t->of,
                           .at = memory_window(m) + (uint32_t)p.integer};
    } else {
        part =
            (dbg_value){.type = t->of, .at = of->value.at + k * t->of->bytes};
    }
    *out =
        variable_of(s, name, arena_printf(a, "%s%s", of->path, name), &part, a);
    return true;
}

uint32_t debug_parts(debug_session *s, const debug_variable *of, uint64_t first,
                     uint64_t count, arena *a, const debug_variable **out)
{
    uint64_t all = of->indexed + of->named;
    uint64_t n = first < all ? all - first : 0;
    debug_variable *list;
    uint32_t got = 0;

    if (n > count)
        n = count;
    list = arena_array(a, debug_variable, n + 1);
    for (uint64_t k = 0; k < n; k++) {
        if (of->tensor)
            tensor_part(s, of, first + k, a, &list[got++]);
        else
            got += plain_part(s, of, first + k, a, &list[got]);
    }
    *out = list;
    return got;
}

/* --- expressions --------------------------------------------------------- */

void dbg_choose_frame(dbg_session *s, uint32_t frame)
{
    s->frame = s->place == AT_EVENT && s->site && frame < s->site->n_frames
                   ? frame
                   : 0;
}

vpu_status debug_evaluate(debug_session *s, uint32_t frame, const char *text,
                          arena *a, debug_variable *out, vpu_error *err)
{
    dbg_value v;
    vpu_status st;

    dbg_choose_frame(s, frame);
    st = look_evaluate(s, text, NULL, &v, err);
    if (!st)
        *out = variable_of(s, text, text, &v, a);
    s->frame = 0;
    return st;
}

vpu_status debug_assign(debug_session *s, uint32_t frame, const char *to,
                        const char *value, arena *a, debug_variable *out,
                        vpu_error *err)
{
    vpu_status st = VPU_OK;
    size_t gone;

    if (s->place != AT_EVENT)
        return err_set(err, VPU_ERR_INVALID,
                       "a variable is changed where the kernel stands");
    dbg_choose_frame(s, frame);
    st = dbg_change_make(s, to, value, &gone, err);
    s->frame = 0;
    return st ? st : debug_evaluate(s, frame, to, a, out, err);
}

/* --- memory -------------------------------------------------------------- */

bool debug_address(const debug_session *s, const debug_variable *v,
                   uint32_t *address)
{
    dbg_value n;

    if (v->tensor)
        *address = backend_address(&s->sim, v->buffer);
    else if (v->value.type && v->value.type->kind == DBG_POINTER &&
             !dbg_number(&v->value, &n, NULL))
        *address = (uint32_t)n.integer;
    else
        *address = v->address;
    return v->tensor || v->in_memory ||
           (v->value.type && v->value.type->kind == DBG_POINTER);
}

const uint8_t *debug_memory(const debug_session *s, uint64_t address,
                            uint64_t *bytes)
{
    const memory *m = backend_memory(&s->sim);
    uint64_t some = 0,
             all = *bytes; /* there are the former, not all of these */

    *bytes = 0;
    if (address > UINT32_MAX || !all)
        return NULL;
    if (memory_readable(m, (uint32_t)address, all))
        some = all;
    while (all - some > 1) {
        uint64_t half = some + (all - some) / 2;

        if (memory_readable(m, (uint32_t)address, half))
            some = half;
        else
            all = half;
    }
    *bytes = some;
    return some ? memory_window(m) + address : NULL;
}
