/* What names mean at a stop, and everything that is shown. */
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "isa/text.h"
#include "runtime/debug/session.h"

enum { MAX_SOURCE = 16 << 20, LIST_LINES = 10, MAX_OP = 256 };

/* --- names --------------------------------------------------------------- */

typedef struct {
    dbg_session *s;
    bool item_used;
} looker;

static const dbg_type *scalar_type(tensor_dtype t)
{
    static const dbg_type types[TENSOR_N_DTYPES] = {
        [TENSOR_F16] = {.kind = DBG_FLOAT, .bytes = 2},
        [TENSOR_F32] = {.kind = DBG_FLOAT, .bytes = 4},
        [TENSOR_I32] = {.kind = DBG_INT, .bytes = 4},
        [TENSOR_U8] = {.kind = DBG_UINT, .bytes = 1},
        [TENSOR_I8] = {.kind = DBG_INT, .bytes = 1},
        [TENSOR_I16] = {.kind = DBG_INT, .bytes = 2},
        [TENSOR_U16] = {.kind = DBG_UINT, .bytes = 2},
        [TENSOR_I64] = {.kind = DBG_INT, .bytes = 8},
    };

    return &types[t];
}

dbg_value look_buffer(uint32_t buffer, const graph_buffer *b, arena *a)
{
    dbg_type *t = arena_new(a, dbg_type);

    *t = (dbg_type){
        .kind = DBG_TENSOR, .count = buffer, .of = scalar_type(b->desc.dtype)};
    return (dbg_value){.type = t};
}

static dbg_value whole_buffer(dbg_session *s, uint32_t buffer)
{
    return look_buffer(buffer, &s->graph->buffers[buffer], s->scratch);
}

bool look_argument(const dbg_session *s, const char *name, arena *a,
                   dbg_value *out)
{
    const graph_launch *l = dbg_session_launch(s);
    const graph_arg *arg = NULL;

    for (uint32_t k = 0; l && k < l->n_args; k++)
        if (!strcmp(l->args[k].name, name))
            arg = &l->args[k];
    if (!arg)
        return false;
    if (arg->kind == GRAPH_ARG_BUFFER)
        *out = look_buffer(arg->buffer, &s->graph->buffers[arg->buffer], a);
    else if (arg->kind == GRAPH_ARG_FLOAT)
        *out = (dbg_value){.real = true, .floating = (double)arg->real};
    else if (arg->kind == GRAPH_ARG_INT)
        *out = (dbg_value){.integer = arg->integer};
    else
        return false;
    return true;
}

static vpu_status variable(void *user, const char *name, dbg_value *out,
                           vpu_error *err)
{
    looker *k = user;
    dbg_session *s = k->s;
    const dbg_item *it =
        s->place == AT_EVENT && !s->cfg->bundles ? &s->items[s->cur] : NULL;
    const dbg_var *v = it ? track_find(s, it, name) : NULL;

    if (v) {
        k->item_used = true;
        *out = (dbg_value){.type = v->type, .at = track_at(it, v)};
        return VPU_OK;
    }
    for (uint32_t i = 0; i < s->graph->n_buffers; i++)
        if (!strcmp(s->graph->buffers[i].name, name)) {
            *out = whole_buffer(s, i);
            return VPU_OK;
        }
    if (look_argument(s, name, s->scratch, out))
        return VPU_OK;
    return err_set(err, VPU_ERR_INVALID, "there is no '%s' here", name);
}

static const uint8_t *bytes_at(void *user, uint32_t address, uint64_t bytes)
{
    const looker *k = user;
    const memory *m = backend_memory(&k->s->sim);

    return memory_readable(m, address, bytes) ? memory_window(m) + address
                                              : NULL;
}

static void address_text(void *user, uint32_t address, str *out)
{
    const looker *k = user;

    memory_describe(backend_memory(&k->s->sim), address, out);
}

/* --- tensors ------------------------------------------------------------- */

static void indices_text(const int64_t *index, uint32_t n, str *out)
{
    for (uint32_t d = 0; d < n; d++)
        str_printf(out, "%s%" PRId64, d ? "," : "", index[d]);
}

/* The element's place in the buffer's order. */
static vpu_status place_of(const graph_buffer *b, const int64_t *index,
                           uint32_t n, uint64_t *out, vpu_error *err)
{
    const tensor_desc *d = &b->desc;
    uint32_t order[TENSOR_MAX_RANK], k = 0;
    uint32_t channels = d->layout == TENSOR_CHANNEL_MINOR && d->rank >= 3
                            ? (d->rank == 3 ? 0 : 1)
                            : d->rank;
    uint64_t at = 0;

    if (n != d->rank)
        return err_set(err, VPU_ERR_INVALID,
                       "%s has %u dimensions, not %u coordinates", b->name,
                       d->rank, n);
    for (uint32_t i = 0; i < n; i++)
        if (index[i] < 0 || (uint64_t)index[i] >= d->dims[i]) {
            str text = {0};

            indices_text(index, n, &text);
            err_set(err, VPU_ERR_INVALID,
                    "%s[%s]: dimension %u has %u elements", b->name,
                    str_text(&text), i, d->dims[i]);
            str_free(&text);
            return VPU_ERR_INVALID;
        }
    for (uint32_t i = 0; i < d->rank; i++)
        if (i != channels)
            order[k++] = i;
    if (channels < d->rank)
        order[k++] = channels;
    for (uint32_t i = 0; i < k; i++)
        at = at * d->dims[order[i]] + (uint64_t)index[order[i]];
    *out = at;
    return VPU_OK;
}

/* The buffer a pointer points to the beginning of, or into. */
static vpu_status pointed_to(dbg_session *s, const dbg_value *p,
                             uint32_t *buffer, vpu_error *err)
{
    dbg_value n;
    vpu_status st = dbg_number(p, &n, err);

    for (uint32_t i = 0; !st && i < s->graph->n_buffers; i++) {
        uint32_t from = backend_address(&s->sim, i);

        if ((uint32_t)n.integer == from) {
            *buffer = i;
            return VPU_OK;
        }
    }
    return st ? st
              : err_set(err, VPU_ERR_INVALID,
                        "coordinates: 0x%08" PRIx32
                        " is not where a tensor begins",
                        (uint32_t)n.integer);
}

vpu_status look_element(dbg_session *s, const dbg_value *base,
                        const int64_t *index, uint32_t n, dbg_value *out,
                        vpu_error *err)
{
    uint32_t buffer = (uint32_t)base->type->count;
    const graph_buffer *b;
    uint64_t at = 0, bytes;
    vpu_status st = VPU_OK;

    if (base->type->kind == DBG_POINTER)
        st = pointed_to(s, base, &buffer, err);
    if (st)
        return st;
    b = &s->graph->buffers[buffer];
    bytes = tensor_dtype_bytes(b->desc.dtype);
    if (n == 1 && b->desc.rank != 1) {
        at = (uint64_t)index[0];
        if (index[0] < 0 || at >= b->bytes / bytes)
            return err_set(err, VPU_ERR_INVALID, "%s has %llu elements",
                           b->name, (unsigned long long)(b->bytes / bytes));
    } else {
        st = place_of(b, index, n, &at, err);
    }
    if (!st && (at + 1) * bytes > b->bytes)
        st = err_set(err, VPU_ERR_INVALID, "%s ends before that", b->name);
    if (!st)
        *out =
            (dbg_value){.type = scalar_type(b->desc.dtype),
                        .at = (const uint8_t *)backend_buffer(&s->sim, buffer) +
                              at * bytes};
    return st;
}

static vpu_status element(void *user, const dbg_value *base,
                          const int64_t *index, uint32_t n, dbg_value *out,
                          vpu_error *err)
{
    looker *k = user;

    return look_element(k->s, base, index, n, out, err);
}

bool look_address(const dbg_session *s, const uint8_t *at, uint32_t *address)
{
    const memory *m = backend_memory(&s->sim);
    const uint8_t *window = memory_window(m);

    if (at < window || at - window > (ptrdiff_t)UINT32_MAX)
        return false;
    *address = (uint32_t)(at - window);
    return memory_readable(m, *address, 1);
}

static bool where_is(void *user, const uint8_t *at, uint32_t *address)
{
    const looker *k = user;

    return look_address(k->s, at, address);
}

static const uint8_t *tensor_at(void *user, const dbg_value *t)
{
    const looker *k = user;

    return backend_buffer(&k->s->sim, (uint32_t)t->type->count);
}

static dbg_env env_of(looker *k)
{
    return (dbg_env){variable, bytes_at,  element, address_text,
                     where_is, tensor_at, k};
}

vpu_status look_evaluate(dbg_session *s, const char *text, bool *item_used,
                         dbg_value *out, vpu_error *err)
{
    looker k = {s, false};
    dbg_env env = env_of(&k);
    vpu_status st = dbg_evaluate(text, &env, s->scratch, out, err);

    if (item_used)
        *item_used = k.item_used;
    return st;
}

void look_show(dbg_session *s, const dbg_value *v, char letter)
{
    looker k = {s, false};
    dbg_env env = env_of(&k);

    if (v->type && v->type->kind == DBG_TENSOR) {
        const graph_buffer *b = &s->graph->buffers[v->type->count];

        str_printf(&s->buf, "%s%s, %" PRIu64 " bytes at 0x%08" PRIx32,
                   tensor_desc_text(s->scratch, &b->desc),
                   b->desc.layout == TENSOR_CHANNEL_MINOR
                       ? ", channels innermost in memory"
                       : "",
                   b->bytes,
                   backend_address(&s->sim, (uint32_t)v->type->count));
        return;
    }
    dbg_show(v, &env, letter, &s->buf);
}

bool look_print(dbg_session *s, const char *text, char letter)
{
    dbg_value v;
    vpu_error err;

    if (look_evaluate(s, text, NULL, &v, &err)) {
        str_printf(&s->buf, "error: %s\n", err.msg);
        return false;
    }
    str_printf(&s->buf, "%s = ", text);
    look_show(s, &v, letter);
    str_puts(&s->buf, "\n");
    return true;
}

/* --- source -------------------------------------------------------------- */

const char *look_source(dbg_session *s, const char *file)
{
    const graph_launch *l = dbg_session_launch(s);
    const char *held = l ? graph_launch_text(l, file) : NULL;
    char *text;
    size_t n;

    if (held)
        return held;
    return file_read(file, MAX_SOURCE, s->scratch, &text, &n, NULL) ? NULL
                                                                    : text;
}

/* "22<tab>text" of one line; false: there is none. */
static bool show_line(dbg_session *s, const char *text, uint32_t line,
                      bool here)
{
    uint32_t n = 1;

    for (; text && n < line; n++) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (!text || !*text)
        return false;
    str_printf(&s->buf, "%u%s\t%.*s\n", line, here ? " >" : "",
               (int)strcspn(text, "\r\n"), text);
    return true;
}

bool look_line(dbg_session *s, const char *file, uint32_t line)
{
    return show_line(s, look_source(s, file), line, false);
}

void look_list_at(dbg_session *s, const char *file, uint32_t line)
{
    s->list_file = file;
    s->list_line = line > LIST_LINES / 2 ? line - LIST_LINES / 2 : 1;
}

dbg_outcome look_list(dbg_session *s, const char *file, uint32_t line)
{
    const char *text = look_source(s, file);

    if (!text)
        return dbg_refuse(s, "%s cannot be read", file);
    for (uint32_t k = 0; k < LIST_LINES; k++)
        if (!show_line(s, text, line + k,
                       s->place == AT_EVENT && s->site &&
                           line + k == s->site->line &&
                           !strcmp(file, s->site->file))) {
            if (!k)
                return dbg_refuse(s, "%s has no line %u", file, line);
            break;
        }
    s->list_file = file;
    s->list_line = line + LIST_LINES;
    return DBG_STAY;
}

/* --- where --------------------------------------------------------------- */

static const char *const phases[MACH_N_PHASES] = {
    [MACH_PRE] = "preload", [MACH_COMP] = "compute", [MACH_POST] = "postwrite"};

static void triple(str *out, const uint32_t v[3])
{
    str_printf(out, "(%u,%u,%u)", v[0], v[1], v[2]);
}

void look_group(const dbg_session *s, str *out)
{
    uint32_t n[3], g[3];

    dbg_session_groups(s, n);
    g[0] = (uint32_t)(s->group % n[0]);
    g[1] = (uint32_t)(s->group / n[0] % n[1]);
    g[2] = (uint32_t)(s->group / n[0] / n[1]);
    str_puts(out, "group ");
    triple(out, g);
    if (s->phase != MACH_COMP)
        str_printf(out, ", %s phase", phases[s->phase]);
}

void look_item(const dbg_session *s, uint32_t item, str *out)
{
    uint32_t id[3];

    track_item_id(s, item, id);
    str_puts(out, "item ");
    triple(out, id);
}

static void show_bundle(dbg_session *s)
{
    const isa_block *b = s->fn->blocks;
    uint32_t block = 0, index = (uint32_t)(s->in - s->fn->instrs);
    char op[MAX_OP];

    while (block + 1 < s->fn->n_blocks &&
           index - b[block].first >= b[block].n_instrs)
        block++;
    str_printf(&s->buf, "cycle %" PRIu64 ", block %u:", s->cycle, block);
    for (uint32_t k = 0; k < s->n_in; k++) {
        isa_print_op(&s->in[k], op, sizeof op);
        str_printf(&s->buf, "%s %s", k ? " ||" : "", op);
    }
    str_puts(&s->buf, "\n");
}

void look_place(dbg_session *s)
{
    const dbg_site *x = s->site;

    if (s->place == AT_START)
        str_puts(&s->buf, "the run has not begun\n");
    else if (s->place == AT_END)
        str_puts(&s->buf, "the run has ended\n");
    if (s->place != AT_EVENT || !x)
        return;
    str_puts(&s->buf, x->file);
    if (x->line)
        str_printf(&s->buf, ":%u", x->line);
    if (x->function && *x->function)
        str_printf(&s->buf, " in %s", x->function);
    str_puts(&s->buf, ", ");
    if (!s->cfg->bundles) {
        look_item(s, s->cur, &s->buf);
        str_puts(&s->buf, " of ");
    }
    look_group(s, &s->buf);
    str_puts(&s->buf, x->kind == 'e' ? ", at its end\n" : "\n");
    if (x->line)
        show_line(s, look_source(s, x->file), x->line, false);
    if (s->cfg->bundles)
        show_bundle(s);
    look_list_at(s, x->file, x->line);
}

/* What one item does, in words; equal words are told together. */
static void state_text(const dbg_session *s, uint32_t item, str *out)
{
    const dbg_item *it = &s->items[item];

    switch (it->state) {
    case ITEM_NOT_BEGUN:
        str_puts(out, "not begun");
        break;
    case ITEM_DONE:
        str_puts(out, item == s->cur ? "at its end" : "done");
        break;
    case ITEM_WAITS:
        str_printf(out, "waits at the barrier, copy or wait of line %u",
                   it->site->line);
        break;
    case ITEM_RUNNING:
        str_printf(out, "line %u", it->site->line);
    }
    if (item == s->cur)
        str_puts(out, "  <- here");
}

static void show_items(dbg_session *s)
{
    str now = {0}, next = {0};
    uint32_t from = 0;

    state_text(s, 0, &now);
    for (uint32_t k = 1; k <= s->n_items; k++) {
        str_free(&next);
        if (k < s->n_items)
            state_text(s, k, &next);
        if (k < s->n_items && !strcmp(str_text(&now), str_text(&next)))
            continue;
        str_puts(&s->buf, "  ");
        look_item(s, from, &s->buf);
        if (k - from > 1) {
            str_puts(&s->buf, " to ");
            look_item(s, k - 1, &s->buf);
        }
        str_printf(&s->buf, ": %s\n", str_text(&now));
        from = k;
        str_free(&now);
        str_puts(&now, str_text(&next));
    }
    str_free(&now);
    str_free(&next);
}

void look_where(dbg_session *s)
{
    const graph_launch *l = dbg_session_launch(s);
    uint32_t n[3];

    if (s->place != AT_EVENT) {
        look_place(s);
        return;
    }
    dbg_session_groups(s, n);
    str_printf(&s->buf, "%s, kernel %s: ", l->name, l->entry);
    look_group(s, &s->buf);
    str_printf(&s->buf, " of %ux%ux%u, event %" PRIu64 "\n", n[0], n[1], n[2],
               s->pos.event);
    if (s->cfg->bundles)
        show_bundle(s);
    else
        show_items(s);
}

/* --- locals -------------------------------------------------------------- */

bool look_hidden(const dbg_session *s, const dbg_item *it, const dbg_var *v,
                 const dbg_frame *f)
{
    return !track_at(it, v) || track_find(s, it, v->name) != v ||
           (v->line > f->line && v->scope == it->site->scopes[f->first]);
}

static void show_scope(dbg_session *s, const dbg_item *it, uint32_t scope,
                       const dbg_frame *f, bool source)
{
    for (size_t n = 0; n < s->n_numbers; n++) {
        const dbg_var *v = s->by_number[n];
        dbg_value value = {.type = v->type, .at = track_at(it, v)};

        /* The ids of the item are of no line. */
        if (v->scope != scope || (source && !v->line) ||
            look_hidden(s, it, v, f))
            continue;
        str_printf(&s->buf, "%s = ", v->name);
        look_show(s, &value, 0);
        str_puts(&s->buf, "\n");
    }
}

dbg_outcome look_locals(dbg_session *s, bool callers)
{
    const dbg_item *it = &s->items[s->cur];
    const dbg_site *x = s->site;
    size_t before = s->buf.n;

    if (s->place != AT_EVENT || s->cfg->bundles)
        return dbg_refuse(s, "there are no variables here");
    for (uint32_t f = s->frame; f < (callers ? x->n_frames : s->frame + 1); f++)
        for (uint32_t k = x->frames[f].first; k < track_scopes_end(x, f); k++)
            show_scope(s, it, x->scopes[k], &x->frames[f], !callers);
    if (s->buf.n == before)
        str_puts(&s->buf, "no variables\n");
    return DBG_STAY;
}
