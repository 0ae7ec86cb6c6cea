/* The choices of a folder's manifest as a file, points made of them, and the
 * names of points. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/nearest.h"
#include "base/oom.h"
#include "runtime/json/jsontext.h"
#include "runtime/sweep/store_priv.h"

#define CHOICES "choices.jsonl"

enum { MAX_BYTES = 256 << 20 };

/* --- names ---------------------------------------------------------------- */

static XXH3_state_t *new_hash(void)
{
    XXH3_state_t *h = XXH3_createState();

    if (!h)
        oom_raise(1);
    XXH3_128bits_reset(h);
    return h;
}

static void end_hash(XXH3_state_t *h, char out[SWEEP_HASH])
{
    XXH128_hash_t x = XXH3_128bits_digest(h);

    XXH3_freeState(h);
    snprintf(out, SWEEP_HASH, "%016" PRIx64 "%016" PRIx64, (uint64_t)x.high64,
             (uint64_t)x.low64);
}

void sweep_point_name(const sweep_choices *c, const sweep_value *values,
                      const sweep_words *words, char out[SWEEP_HASH])
{
    const sweep_manifest *m = &c->manifest;
    XXH3_state_t *h = new_hash();

    for (size_t i = 0; i < words->n; i++)
        XXH3_128bits_update(h, words->items[i], strlen(words->items[i]) + 1);
    XXH3_128bits_update(h, "", 1);
    for (size_t d = 0; d < m->n_dims; d++)
        if (m->dims[d].n)
            XXH3_128bits_update(h, c->digests[d][values[d].choice], SWEEP_HASH);
    XXH3_128bits_update(h, c->identity, SWEEP_HASH);
    end_hash(h, out);
}

/* --- writing -------------------------------------------------------------- */

/* Of the files that a choice uses: their places and contents. */
static void hash_set(const sweep_frozen *z, const sweep_file_set *set,
                     char out[SWEEP_HASH])
{
    XXH3_state_t *h = new_hash();

    for (size_t i = 0; i < set->n; i++) {
        const sweep_file *f = &z->files->items[set->items[i]];

        XXH3_128bits_update(h, f->frozen, strlen(f->frozen) + 1);
        XXH3_128bits_update(h, f->hash, strlen(f->hash) + 1);
    }
    end_hash(h, out);
}

static void put_line(FILE *to, json_t *j)
{
    char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

    json_decref(j);
    if (!text)
        oom_raise(1);
    fprintf(to, "%s\n", text);
    free(text);
}

static void put_choice(FILE *to, const sweep_choices *c, size_t d, size_t k)
{
    const sweep_words *w = &c->manifest.dims[d].choices[k].words;
    json_t *words = json_array();

    for (size_t i = 0; i < w->n; i++)
        json_array_append_new(words, jsontext_string(w->items[i]));
    put_line(to, json_pack("{s:I, s:I, s:o, s:s}", "dimension", (json_int_t)d,
                           "choice", (json_int_t)k, "words", words, "files",
                           c->digests[d][k]));
}

static void make_room(sweep_choices *c, arena *a)
{
    const sweep_manifest *m = &c->manifest;

    c->digests = arena_push(a, m->n_dims, sizeof *c->digests, 16);
    for (size_t d = 0; d < m->n_dims; d++)
        c->digests[d] =
            arena_push(a, m->dims[d].n + 1, sizeof *c->digests[d], 16);
}

vpu_status sweep_choices_write(const char *dir, const sweep_manifest *m,
                               const sweep_frozen *z, arena *a,
                               sweep_choices *out, vpu_error *err)
{
    file_out file;
    vpu_status st;

    *out = (sweep_choices){.manifest = *m};
    make_room(out, a);
    st = sweep_file_hash(file_join(a, dir, "program"), out->identity, err);
    if (!st)
        st = file_out_open(&file, file_join(a, dir, CHOICES), err);
    if (st)
        return st;
    put_line(file.stream, json_pack("{s:s}", "program", out->identity));
    for (size_t d = 0; d < m->n_dims; d++)
        for (size_t k = 0; k < m->dims[d].n; k++) {
            hash_set(z, &z->sets[d][k], out->digests[d][k]);
            put_choice(file.stream, out, d, k);
        }
    return file_out_commit(&file, err);
}

/* --- reading -------------------------------------------------------------- */

static bool take_hash(const json_t *x, char out[SWEEP_HASH])
{
    const char *text = json_string_value(x);

    if (!text || strlen(text) != SWEEP_HASH - 1)
        return false;
    memcpy(out, text, SWEEP_HASH);
    return true;
}

static bool take_words(const json_t *list, arena *a, sweep_words *out)
{
    size_t n = json_array_size(list);

    *out = (sweep_words){arena_array(a, char *, n + 1), 0};
    for (size_t i = 0; i < n; i++) {
        const char *w = json_string_value(json_array_get(list, i));

        if (!w)
            return false;
        out->items[out->n++] = arena_strdup(a, w);
    }
    return json_is_array(list);
}

static bool take_line(sweep_choices *c, const json_t *j, size_t d, size_t k,
                      arena *a)
{
    return json_integer_value(json_object_get(j, "dimension")) ==
               (json_int_t)d &&
           json_integer_value(json_object_get(j, "choice")) == (json_int_t)k &&
           take_hash(json_object_get(j, "files"), c->digests[d][k]) &&
           take_words(json_object_get(j, "words"), a,
                      &c->manifest.dims[d].choices[k].words);
}

static json_t *next_line(const char **at)
{
    size_t n = strcspn(*at, "\n");
    json_t *j = json_loadb(*at, n, JSON_REJECT_DUPLICATES, NULL);

    *at += n + ((*at)[n] == '\n');
    return j;
}

static bool take_lines(sweep_choices *c, const char *text, arena *a)
{
    const sweep_manifest *m = &c->manifest;
    json_t *j = next_line(&text);
    bool good = take_hash(json_object_get(j, "program"), c->identity);

    json_decref(j);
    for (size_t d = 0; d < m->n_dims; d++)
        for (size_t k = 0; k < m->dims[d].n && good; k++) {
            j = next_line(&text);
            good = take_line(c, j, d, k, a);
            json_decref(j);
        }
    return good;
}

vpu_status sweep_choices_read(const sweep_store *s, arena *a,
                              sweep_choices *out, vpu_error *err)
{
    const char *path = file_join(a, s->dir, CHOICES);
    char *text;
    size_t n;
    vpu_status st = file_read(path, MAX_BYTES, a, &text, &n, err);

    /* A manifest of its own, whose words change. */
    if (!st)
        st = sweep_manifest_read(file_join(a, s->dir, "sweep.manifest"), a,
                                 &out->manifest, err);
    if (st)
        return st;
    make_room(out, a);
    return take_lines(out, text, a)
               ? VPU_OK
               : err_set(err, VPU_ERR_PARSE,
                         "%s: not the choices of the manifest beside it; the "
                         "file is written by `vpu sweep plan`",
                         path);
}

/* --- points --------------------------------------------------------------- */

static vpu_status no_choice(const sweep_dimension *d, const char *text,
                            vpu_error *err)
{
    nearest n = {.word = text};

    if (!d->n)
        return err_set(err, VPU_ERR_INVALID,
                       "%s '%s': expected a%s number from %g to %g", d->name,
                       text, d->whole ? " whole" : "", d->low, d->high);
    for (size_t i = 0; i < d->n; i++)
        nearest_offer(&n, d->choices[i].text);
    return err_set(err, VPU_ERR_INVALID,
                   "%s '%s': the manifest has no such value%s%s; it has %zu, "
                   "from '%s' to '%s'",
                   d->name, text, n.best ? ", perhaps " : "",
                   n.best ? n.best : "", d->n, d->choices[0].text,
                   d->choices[d->n - 1].text);
}

static vpu_status take_value(const sweep_dimension *d, const char *text,
                             sweep_value *out, vpu_error *err)
{
    *out = (sweep_value){.number = d->low};
    if (!text)
        return VPU_OK;
    if (d->n) {
        while (out->choice < d->n && strcmp(d->choices[out->choice].text, text))
            out->choice++;
        return out->choice < d->n ? VPU_OK : no_choice(d, text, err);
    }
    if (!str_to_f64(text, &out->number) || !(out->number >= d->low) ||
        !(out->number <= d->high) ||
        (d->whole && out->number != (double)(long long)out->number))
        return no_choice(d, text, err);
    return VPU_OK;
}

vpu_status sweep_choices_point(const sweep_choices *c, const char *const *texts,
                               arena *a, sweep_point *out, vpu_error *err)
{
    const sweep_manifest *m = &c->manifest;
    sweep_value *values = arena_array(a, sweep_value, m->n_dims);
    vpu_status st = VPU_OK;

    *out = (sweep_point){.texts = arena_array(a, const char *, m->n_dims)};
    for (size_t d = 0; d < m->n_dims && !st; d++) {
        st = take_value(&m->dims[d], texts[d], &values[d], err);
        if (!st)
            out->texts[d] = sweep_value_text(&m->dims[d], &values[d], a);
    }
    if (st)
        return st;
    out->words = sweep_point_words(m, values, a);
    sweep_point_name(c, values, &out->words, out->name);
    return VPU_OK;
}
