/* Sites and objects of code for checking as JSON: rows of numbers in the order
 * of the tables below. */
#include <jansson.h>
#include <stddef.h>
#include <string.h>

#include "sim/compiler/store/artifact_priv.h"

/* A number in a record: 1 byte or 4. */
typedef struct {
    size_t at, bytes;
} field;

#define FIELD(T, name) {offsetof(T, name), sizeof(((T *)0)->name)}

static const field site_fields[] = {
    FIELD(sim_site, kind),        FIELD(sim_site, variant),
    FIELD(sim_site, object),      FIELD(sim_site, bytes),
    FIELD(sim_site, align),       FIELD(sim_site, element_bytes),
    FIELD(sim_site, only_read),   FIELD(sim_site, is_signed),
    FIELD(sim_site, bits),        FIELD(sim_site, fences),
    FIELD(sim_site, conditional), FIELD(sim_site, from),
    FIELD(sim_site, by_item)};
static const field object_fields[] = {
    FIELD(sim_object, kind),       FIELD(sim_object, index),
    FIELD(sim_object, bytes),      FIELD(sim_object, written),
    FIELD(sim_object, restricted), FIELD(sim_object, local),
    FIELD(sim_object, copied),     FIELD(sim_object, element),
    FIELD(sim_object, sent),       FIELD(sim_object, padding_period)};
enum {
    N_SITE = sizeof site_fields / sizeof *site_fields,
    N_OBJECT = sizeof object_fields / sizeof *object_fields
};

/* --- writing ------------------------------------------------------------- */

static json_t *numbers(const void *record, const field *fields, size_t n)
{
    json_t *row = json_array();

    for (size_t i = 0; i < n; i++) {
        const uint8_t *p = (const uint8_t *)record + fields[i].at;
        uint32_t v = *p;

        if (fields[i].bytes == sizeof v)
            memcpy(&v, p, sizeof v);
        json_array_append_new(row, json_integer(v));
    }
    return row;
}

/* null, or the string. A name need not be text. */
static json_t *text_or_null(const char *s)
{
    return s ? json_stringn_nocheck(s, strlen(s)) : json_null();
}

/* Whoever inlined it behind it: [file, line, col, file, line, col, …]. */
static json_t *place(const sim_place *p)
{
    json_t *row = json_array();

    for (; p; p = p->in) {
        json_array_append_new(row, text_or_null(p->file));
        json_array_append_new(row, json_integer(p->line));
        json_array_append_new(row, json_integer(p->col));
    }
    return row;
}

static json_t *padding(const sim_object *o)
{
    json_t *row = json_array();

    for (uint32_t i = 0; o->padding && i < o->padding_period; i++)
        json_array_append_new(row, json_boolean(o->padding[i]));
    return row;
}

char *artifact_sites_text(const sim_sites *s)
{
    json_t *sites = json_array(), *objects = json_array(), *all;
    char *text;

    for (uint32_t i = 0; i < s->n_sites; i++)
        json_array_append_new(
            sites,
            json_pack("[o,o,o]", numbers(&s->sites[i], site_fields, N_SITE),
                      text_or_null(s->sites[i].name), place(&s->sites[i].at)));
    for (uint32_t i = 0; i < s->n_objects; i++)
        json_array_append_new(
            objects, json_pack("[o,o,o]",
                               numbers(&s->objects[i], object_fields, N_OBJECT),
                               text_or_null(s->objects[i].name),
                               padding(&s->objects[i])));
    all = json_pack("{s:o,s:o,s:b}", "sites", sites, "objects", objects,
                    "tainted", (int)s->tainted);
    text = json_dumps(all, JSON_COMPACT);
    json_decref(all);
    return text;
}

/* --- reading back -------------------------------------------------------- */

static bool read_number(json_t *v, uint32_t *out)
{
    json_int_t i = json_integer_value(v);

    *out = (uint32_t)i;
    return json_is_integer(v) && i >= 0 && i <= UINT32_MAX;
}

static bool read_numbers(json_t *row, const field *fields, size_t n,
                         void *record)
{
    bool ok = json_array_size(row) == n;

    for (size_t i = 0; i < n && ok; i++) {
        uint8_t *p = (uint8_t *)record + fields[i].at;
        uint32_t v;

        ok = read_number(json_array_get(row, i), &v);
        if (fields[i].bytes == sizeof v)
            memcpy(p, &v, sizeof v);
        else
            *p = (uint8_t)v;
    }
    return ok;
}

static const char *read_text(json_t *v, arena *a)
{
    return arena_strdup(a, json_string_value(v));
}

/* From the outermost call inwards, since each knows the one around it. */
static bool read_place(json_t *row, arena *a, sim_place *out)
{
    size_t n = json_array_size(row);
    const sim_place *in = NULL;
    bool ok = n >= 3 && n % 3 == 0;

    for (size_t i = n; i >= 3 && ok; i -= 3) {
        sim_place *p = i == 3 ? out : arena_new(a, sim_place);

        p->file = read_text(json_array_get(row, i - 3), a);
        ok = read_number(json_array_get(row, i - 2), &p->line) &&
             read_number(json_array_get(row, i - 1), &p->col);
        p->in = in;
        in = p;
    }
    return ok;
}

static bool read_padding(json_t *row, arena *a, sim_object *o)
{
    size_t n = json_array_size(row);
    bool *list;

    if (!n)
        return true;
    list = arena_array(a, bool, n);
    for (size_t i = 0; i < n; i++)
        list[i] = json_is_true(json_array_get(row, i));
    o->padding = list;
    return n == o->padding_period;
}

static bool read_all(json_t *all, arena *a, sim_sites *out)
{
    json_t *sites = json_object_get(all, "sites"), *row;
    json_t *objects = json_object_get(all, "objects");
    bool ok = json_is_array(sites) && json_is_array(objects);
    size_t i;

    out->tainted = json_is_true(json_object_get(all, "tainted"));
    out->n_sites = (uint32_t)json_array_size(sites);
    out->sites = arena_array(a, sim_site, out->n_sites + 1);
    json_array_foreach(sites, i, row)
    {
        sim_site *s = &out->sites[i];

        ok = ok && read_numbers(json_array_get(row, 0), site_fields, N_SITE, s);
        s->name = read_text(json_array_get(row, 1), a);
        ok = ok && read_place(json_array_get(row, 2), a, &s->at);
    }
    out->n_objects = (uint32_t)json_array_size(objects);
    out->objects = arena_array(a, sim_object, out->n_objects + 1);
    json_array_foreach(objects, i, row)
    {
        sim_object *o = &out->objects[i];

        ok = ok &&
             read_numbers(json_array_get(row, 0), object_fields, N_OBJECT, o);
        o->name = read_text(json_array_get(row, 1), a);
        ok = ok && read_padding(json_array_get(row, 2), a, o);
    }
    return ok;
}

bool artifact_sites_read(const char *text, size_t n, arena *a, sim_sites *out)
{
    json_t *all = json_loadb(text, n, 0, NULL);
    bool ok = all && read_all(all, a, out);

    json_decref(all);
    return ok;
}
