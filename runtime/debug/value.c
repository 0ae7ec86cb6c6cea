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

static const char *scalar_name(const dbg_type *t)
{
    static const char *const names[][4] = {{"char", "uchar", "", ""},
                                           {"short", "ushort", "half", ""},
                                           {"int", "uint", "float", ""},
                                           {"long", "ulong", "double", ""}};
    int size = t->bytes == 1 ? 0 : t->bytes == 2 ? 1 : t->bytes == 4 ? 2 : 3;

    return names[size][t->kind - DBG_INT];
}

void dbg_type_text(const dbg_type *t, str *out)
{
    switch (t->kind) {
    case DBG_INT:
    case DBG_UINT:
    case DBG_FLOAT:
        str_puts(out, scalar_name(t));
        break;
    case DBG_VECTOR:
        dbg_type_text(t->of, out);
        str_printf(out, "%" PRIu64, t->count);
        break;
    case DBG_ARRAY:
        dbg_type_text(t->of, out);
        str_printf(out, "[%" PRIu64 "]", t->count);
        break;
    case DBG_POINTER:
        dbg_type_text(t->of, out);
        str_puts(out, " *");
        break;
    case DBG_STRUCT:
        str_printf(out, "struct of %" PRIu64 " bytes", t->bytes);
        break;
    case DBG_TENSOR:
        dbg_type_text(t->of, out);
        str_puts(out, " tensor");
        break;
    default:
        str_printf(out, "%" PRIu64 " bytes", t->bytes);
    }
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

/* Bits of a number as it is in memory; *n: how many. A number that is nowhere
 * has 64. */
static uint64_t bits_of(const dbg_value *v, unsigned *n)
{
    uint64_t bytes = v->type ? v->type->bytes : 8, raw = 0;

    if (v->at)
        memcpy(&raw, v->at, bytes);
    else if (v->real)
        memcpy(&raw, &v->floating, sizeof raw);
    else
        raw = (uint64_t)v->integer;
    if (!v->at && v->real)
        bytes = 8;
    *n = (unsigned)(8 * bytes);
    return bytes < 8 ? raw & ((UINT64_C(1) << *n) - 1) : raw;
}

static double bits_as_real(uint64_t raw, unsigned n)
{
    uint32_t low = (uint32_t)raw;
    float f;
    double d;

    memcpy(&f, &low, sizeof f);
    memcpy(&d, &raw, sizeof d);
    return n == 16   ? (double)tensor_f16_to_f32((uint16_t)raw)
           : n == 32 ? (double)f
                     : d;
}

static void show_real(double d, unsigned bits, str *out)
{
    str_printf(out, "%.*g", bits == 16 ? 5 : bits == 32 ? 9 : 17, d);
}

static void show_binary(uint64_t raw, str *out)
{
    int k = 63;

    while (k && !(raw >> k & 1))
        k--;
    for (; k >= 0; k--)
        str_puts(out, raw >> k & 1 ? "1" : "0");
}

static void show_char(uint64_t raw, str *out)
{
    str_printf(out, "%d '", (int)(int8_t)raw);
    if (raw == '\'' || raw == '\\')
        str_puts(out, "\\");
    if (raw >= ' ' && raw < 127)
        str_printf(out, "%c'", (int)raw);
    else
        str_printf(out, "\\%03o'", (unsigned)(raw & 255));
}

static void show_bits(const dbg_value *v, char letter, str *out)
{
    unsigned n, shift;
    uint64_t raw = bits_of(v, &n);

    shift = n < 64 ? 64 - n : 0;
    switch (letter) {
    case 'x':
        str_printf(out, "0x%" PRIx64, raw);
        break;
    case 'u':
        str_printf(out, "%" PRIu64, raw);
        break;
    case 'o':
        str_printf(out, "0%" PRIo64, raw);
        break;
    case 't':
        show_binary(raw, out);
        break;
    case 'c':
        show_char(raw & 255, out);
        break;
    case 'f':
        if (n > 8) {
            show_real(bits_as_real(raw, n), n, out);
            break;
        }
        /* fall through */
    default:
        str_printf(out, "%" PRId64, (int64_t)(raw << shift) >> shift);
    }
}

static void show_number(const dbg_value *n, str *out)
{
    dbg_kind k = n->type ? n->type->kind : n->real ? DBG_FLOAT : DBG_INT;

    if (n->real)
        show_real(n->floating, n->type ? (unsigned)(8 * n->type->bytes) : 64,
                  out);
    else if (k == DBG_UINT)
        str_printf(out, "%" PRIu64, (uint64_t)n->integer);
    else
        str_printf(out, "%" PRId64, n->integer);
}

/* How values are shown, and how deep within others. */
typedef struct {
    const dbg_env *env;
    char letter;
    int nested;
} manner;

static void show(const dbg_value *v, const manner *how, str *out);

static manner within(const manner *how)
{
    return (manner){how->env, how->letter, how->nested + 1};
}

static void show_elements(const dbg_value *v, const manner *how, str *out)
{
    manner inner = within(how);
    const dbg_type *t = v->type;
    bool vector = t->kind == DBG_VECTOR;
    uint64_t n = t->count < MAX_SHOWN ? t->count : MAX_SHOWN;

    str_puts(out, vector ? "(" : "{");
    for (uint64_t k = 0; k < n; k++) {
        dbg_value e = {.type = t->of, .at = v->at + k * t->of->bytes};

        str_puts(out, k ? ", " : "");
        show(&e, &inner, out);
    }
    str_puts(out, t->count > n ? ", …" : "");
    str_puts(out, vector ? ")" : "}");
}

static void show_fields(const dbg_value *v, const manner *how, str *out)
{
    manner inner = within(how);

    str_puts(out, "{");
    for (uint64_t k = 0; k < v->type->count; k++) {
        const dbg_field *f = &v->type->fields[k];
        dbg_value e = {.type = f->type, .at = v->at + f->offset};

        str_printf(out, "%s%s = ", k ? ", " : "", f->name);
        show(&e, &inner, out);
    }
    str_puts(out, "}");
}

static void show_pointer(uint32_t address, const dbg_env *env, str *out)
{
    str_printf(out, "0x%08" PRIx32 " (", address);
    env->address(env->user, address, out);
    str_puts(out, ")");
}

static void show(const dbg_value *v, const manner *how, str *out)
{
    dbg_kind k = v->type ? v->type->kind : DBG_INT;
    dbg_value n;

    if (how->nested > 4)
        str_puts(out, "…");
    else if (v->at && (k == DBG_VECTOR || k == DBG_ARRAY))
        show_elements(v, how, out);
    else if (v->at && k == DBG_STRUCT)
        show_fields(v, how, out);
    else if (k == DBG_TENSOR)
        str_puts(out, "a tensor: give coordinates");
    else if (dbg_number(v, &n, NULL))
        str_printf(out, "(%" PRIu64 " bytes)", v->type->bytes);
    else if (how->letter)
        show_bits(v, how->letter, out);
    else if (k == DBG_POINTER)
        show_pointer((uint32_t)n.integer, how->env, out);
    else
        show_number(&n, out);
}

void dbg_show(const dbg_value *v, const dbg_env *env, char letter, str *out)
{
    manner how = {env, letter, 0};

    show(v, &how, out);
}

/* --- writing ------------------------------------------------------------- */

static vpu_status store_whole(const dbg_value *v, const dbg_type *to,
                              uint8_t bytes[8], vpu_error *err)
{
    unsigned bits = (unsigned)(8 * to->bytes);
    int64_t i = v->integer;
    bool fits = bits == 64 ||
                (i >= -(INT64_C(1) << (bits - 1)) && i < INT64_C(1) << bits);

    if (v->real) {
        /* What a conversion of C drops is a fraction, nothing else. */
        fits = v->floating > -0x1p63 && v->floating < 0x1p63;
        i = fits ? (int64_t)v->floating : 0;
        fits = fits && (bits == 64 || (i >= -(INT64_C(1) << (bits - 1)) &&
                                       i < INT64_C(1) << bits));
    }
    if (!fits)
        return err_set(err, VPU_ERR_INVALID,
                       "the value does not fit an integer of %u bits", bits);
    memcpy(bytes, &i, to->bytes);
    return VPU_OK;
}

vpu_status dbg_store(const dbg_value *number, const dbg_type *to,
                     uint8_t bytes[8], vpu_error *err)
{
    double d = number->real ? number->floating : (double)number->integer;
    float f = (float)d;
    uint16_t h = tensor_f32_to_f16(f);

    if (to->kind == DBG_INT || to->kind == DBG_UINT || to->kind == DBG_POINTER)
        return store_whole(number, to, bytes, err);
    if (to->kind != DBG_FLOAT)
        return err_set(err, VPU_ERR_INVALID,
                       "only a number can be changed: give one element or "
                       "field");
    memcpy(bytes,
           to->bytes == 8   ? (void *)&d
           : to->bytes == 4 ? (void *)&f
                            : (void *)&h,
           to->bytes);
    return VPU_OK;
}
