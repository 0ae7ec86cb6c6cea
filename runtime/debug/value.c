/* Types and values; see value.h. */
#include "runtime/debug/value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/tensor.h"

enum { MAX_NESTED = 16, MAX_FIELDS = 64, MAX_SHOWN = 64 };

/* --- types --------------------------------------------------------------- */

typedef struct {
    const char *p;
    arena *a;
    int nested;
} reader;

static uint64_t read_number(reader *r)
{
    uint64_t v = 0;

    while (*r->p >= '0' && *r->p <= '9') {
        if (v < UINT32_MAX)
            v = v * 10 + (uint64_t)(*r->p - '0');
        r->p++;
    }
    return v;
}

static bool take(reader *r, char c)
{
    if (*r->p != c)
        return false;
    r->p++;
    return true;
}

static const dbg_type *read_type(reader *r);

static void read_fields(reader *r, dbg_type *t)
{
    dbg_field *f = arena_array(r->a, dbg_field, MAX_FIELDS);

    t->kind = DBG_STRUCT;
    t->bytes = read_number(r);
    t->fields = f;
    take(r, ';');
    while (*r->p && *r->p != '}' && t->count < MAX_FIELDS) {
        const char *name;

        f[t->count].offset = read_number(r);
        take(r, ' ');
        name = r->p;
        r->p += strcspn(r->p, "=;}");
        f[t->count].name = arena_strndup(r->a, name, (size_t)(r->p - name));
        if (!take(r, '='))
            break;
        f[t->count++].type = read_type(r);
        if (!take(r, ';'))
            break;
    }
    take(r, '}');
}

static void read_scalar(dbg_type *t, char c, uint64_t bits)
{
    bool whole = bits == 8 || bits == 16 || bits == 32 || bits == 64;

    t->bytes = bits / 8;
    if (whole && (c != 'f' || bits > 8))
        t->kind = c == 'f' ? DBG_FLOAT : c == 'u' ? DBG_UINT : DBG_INT;
}

static const dbg_type *read_type(reader *r)
{
    dbg_type *t = arena_new(r->a, dbg_type);
    char c = *r->p;

    t->kind = DBG_UNKNOWN;
    if (!c || r->nested == MAX_NESTED)
        return t;
    r->p++;
    r->nested++;
    if (c == 'f' || c == 'i' || c == 'u') {
        read_scalar(t, c, read_number(r));
    } else if (c == 'v' || c == 'a') {
        t->count = read_number(r);
        take(r, ':');
        t->of = read_type(r);
        t->kind = c == 'v' ? DBG_VECTOR : DBG_ARRAY;
        t->bytes = (c == 'v' && t->count == 3 ? 4 : t->count) * t->of->bytes;
    } else if (c == 'p') {
        take(r, ':');
        t->of = read_type(r);
        t->kind = DBG_POINTER;
        t->bytes = 4;
    } else if (c == '{') {
        read_fields(r, t);
    } else if (c == '?') {
        t->bytes = read_number(r);
    }
    r->nested--;
    return t;
}

const dbg_type *dbg_type_parse(const char *text, arena *a)
{
    reader r = {text, a, 0};

    return read_type(&r);
}

/* --- values -------------------------------------------------------------- */

static void load(const dbg_value *v, dbg_value *out)
{
    uint64_t n = v->type->bytes, raw = 0;
    unsigned shift = (unsigned)(64 - 8 * n);

    memcpy(&raw, v->at, n);
    *out = (dbg_value){.type = v->type};
    if (v->type->kind == DBG_FLOAT) {
        float f;
        double d;

        out->real = true;
        memcpy(&f, v->at, n == 4 ? 4 : 0);
        memcpy(&d, v->at, n == 8 ? 8 : 0);
        out->floating = n == 2   ? (double)tensor_f16_to_f32((uint16_t)raw)
                        : n == 4 ? (double)f
                                 : d;
    } else if (v->type->kind == DBG_INT && shift) {
        raw = raw << shift;
        out->integer = (int64_t)raw >> shift;
    } else {
        out->integer = (int64_t)raw;
    }
}

vpu_status dbg_number(const dbg_value *v, dbg_value *out, vpu_error *err)
{
    dbg_kind k = v->type ? v->type->kind : DBG_INT;

    if (!v->at) {
        *out = *v;
        return VPU_OK;
    }
    if (k != DBG_INT && k != DBG_UINT && k != DBG_FLOAT && k != DBG_POINTER)
        return err_set(err, VPU_ERR_INVALID, "that is not a number");
    load(v, out);
    return VPU_OK;
}

bool dbg_true(const dbg_value *number)
{
    return number->real ? number->floating != 0 : number->integer != 0;
}

static void show_number(const dbg_value *n, str *out)
{
    uint64_t bytes = n->type ? n->type->bytes : 8;
    dbg_kind k = n->type ? n->type->kind : n->real ? DBG_FLOAT : DBG_INT;

    if (n->real)
        str_printf(out, "%.*g",
                   bytes == 2   ? 5
                   : bytes == 4 ? 9
                                : 17,
                   n->floating);
    else if (k == DBG_UINT)
        str_printf(out, "%" PRIu64, (uint64_t)n->integer);
    else
        str_printf(out, "%" PRId64, n->integer);
}

static void show(const dbg_value *v, const dbg_env *env, int nested, str *out);

static void show_elements(const dbg_value *v, const dbg_env *env, int nested,
                          str *out)
{
    const dbg_type *t = v->type;
    bool vector = t->kind == DBG_VECTOR;
    uint64_t n = t->count < MAX_SHOWN ? t->count : MAX_SHOWN;

    str_puts(out, vector ? "(" : "{");
    for (uint64_t k = 0; k < n; k++) {
        dbg_value e = {.type = t->of, .at = v->at + k * t->of->bytes};

        str_puts(out, k ? ", " : "");
        show(&e, env, nested + 1, out);
    }
    str_puts(out, t->count > n ? ", …" : "");
    str_puts(out, vector ? ")" : "}");
}

static void show_fields(const dbg_value *v, const dbg_env *env, int nested,
                        str *out)
{
    str_puts(out, "{");
    for (uint64_t k = 0; k < v->type->count; k++) {
        const dbg_field *f = &v->type->fields[k];
        dbg_value e = {.type = f->type, .at = v->at + f->offset};

        str_printf(out, "%s%s = ", k ? ", " : "", f->name);
        show(&e, env, nested + 1, out);
    }
    str_puts(out, "}");
}

static void show(const dbg_value *v, const dbg_env *env, int nested, str *out)
{
    dbg_kind k = v->type ? v->type->kind : DBG_INT;
    dbg_value n;

    if (nested > 4)
        str_puts(out, "…");
    else if (v->at && (k == DBG_VECTOR || k == DBG_ARRAY))
        show_elements(v, env, nested, out);
    else if (v->at && k == DBG_STRUCT)
        show_fields(v, env, nested, out);
    else if (k == DBG_TENSOR)
        str_puts(out, "a tensor: give coordinates");
    else if (dbg_number(v, &n, NULL))
        str_printf(out, "(%" PRIu64 " bytes)", v->type->bytes);
    else if (k == DBG_POINTER) {
        str_printf(out, "0x%08" PRIx32 " (", (uint32_t)n.integer);
        env->address(env->user, (uint32_t)n.integer, out);
        str_puts(out, ")");
    } else
        show_number(&n, out);
}

void dbg_show(const dbg_value *v, const dbg_env *env, str *out)
{
    show(v, env, 0, out);
}
