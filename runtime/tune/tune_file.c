#include "runtime/tune/tune_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static const char first_line[] = "vpu-tune 1";

enum { N_WORDS = 9, HASH_DIGITS = 16 };

/* --- keys ----------------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_keys(const tune_key *a, const tune_key *b)
{
    int c = compare_numbers(a->kernel, b->kernel);

    c = c ? c : compare_numbers(a->machine, b->machine);
    c = c ? c : compare_numbers(a->arguments, b->arguments);
    for (int d = 0; d < 3 && !c; d++)
        c = compare_numbers(a->global[d], b->global[d]);
    return c;
}

/* The first row whose key is not below; f->n when all are. */
static size_t place_of(const tune_file *f, const tune_key *key)
{
    size_t low = 0, high = f->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_keys(&f->rows[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const tune_entry *tune_file_find(const tune_file *f, const tune_key *key)
{
    size_t i = place_of(f, key);

    return i < f->n && !compare_keys(&f->rows[i].key, key) ? &f->rows[i] : NULL;
}

void tune_file_put(tune_file *f, arena *a, const tune_entry *e)
{
    size_t i = place_of(f, &e->key), n = f->n;

    if (i == n || compare_keys(&f->rows[i].key, &e->key)) {
        (void)arena_append(a, f->rows, f->n, f->cap);
        memmove(f->rows + i + 1, f->rows + i, (n - i) * sizeof *f->rows);
    }
    f->rows[i] = *e;
    f->rows[i].entry = arena_strdup(a, e->entry);
}

/* --- reading -------------------------------------------------------------- */

/* A row of a file, and where it stands. */
typedef struct {
    tune_entry entry;
    uint32_t line;
} line_row;

typedef struct {
    const char *path;
    uint32_t line;
    arena *a;
    line_row *rows; /* in the order of the file */
    size_t n, cap;
    vpu_error *err;
} reader;

static vpu_status fail(const reader *r, const char *found, const char *wanted)
{
    return err_at(r->err, VPU_ERR_PARSE, r->path, r->line, 0,
                  "'%s'; expected %s", found, wanted);
}

static bool take_hash(const char *word, uint64_t *out)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t n = 0;

    if (strlen(word) != HASH_DIGITS)
        return false;
    for (const char *p = word; *p; p++) {
        const char *digit = strchr(digits, *p);

        if (!digit)
            return false;
        n = n << 4 | (uint64_t)(digit - digits);
    }
    *out = n;
    return true;
}

static bool take_number(const char *word, uint64_t most, uint64_t *out)
{
    unsigned long long n;

    if (*word < '0' || *word > '9' || !str_to_u64(word, &n) || n > most)
        return false;
    *out = n;
    return true;
}

/* "40,24,1", each from 1 on. */
static bool take_sizes(char *word, uint32_t out[3])
{
    for (int d = 0; d < 3; d++) {
        char *comma = strchr(word, ',');
        uint64_t n;

        if ((d < 2) != (comma != NULL))
            return false;
        if (comma)
            *comma = 0;
        if (!take_number(word, UINT32_MAX, &n) || !n)
            return false;
        out[d] = (uint32_t)n;
        word = comma ? comma + 1 : word;
    }
    return true;
}

static vpu_status take_size_words(const reader *r, char *const *words,
                                  tune_entry *e)
{
    const char *global = arena_strdup(r->a, words[3]);
    const char *local = arena_strdup(r->a, words[4]);

    if (!take_sizes(words[3], e->key.global))
        return fail(r, global, "a global size, as 40,24,1");
    if (!take_sizes(words[4], e->choice.local))
        return fail(r, local, "a local size, as 40,1,1");
    for (int d = 0; d < 3; d++)
        if (e->key.global[d] % e->choice.local[d])
            return fail(r, local, "a local size that divides the global one");
    return VPU_OK;
}

static vpu_status take_words(const reader *r, char *const *words, tune_entry *e)
{
    uint64_t *const hashes[] = {&e->key.kernel, &e->key.machine,
                                &e->key.arguments};
    uint64_t shaves;
    vpu_status st;

    for (int i = 0; i < 3; i++)
        if (!take_hash(words[i], hashes[i]))
            return fail(r, words[i], "a hash of 16 digits 0-9, a-f");
    st = take_size_words(r, words, e);
    if (st)
        return st;
    if (!take_number(words[5], UINT32_MAX, &shaves))
        return fail(r, words[5], "a number of SHAVEs, 0 for no limit");
    if (!take_number(words[6], UINT64_MAX, &e->cost))
        return fail(r, words[6], "the cost of a run, a whole number");
    e->cycles = !strcmp(words[7], "cycles");
    if (!e->cycles && strcmp(words[7], "ns"))
        return fail(r, words[7], "cycles or ns");
    e->choice.shaves = (uint32_t)shaves;
    e->entry = words[8];
    return VPU_OK;
}

static vpu_status take_row(reader *r, char *line)
{
    char *words[N_WORDS + 1], *rest = line, *word;
    const char *whole = arena_strdup(r->a, line);
    tune_entry e = {.entry = ""};
    int n = 0;
    vpu_status st;

    while (n <= N_WORDS && (word = strtok_r(rest, " \t\r", &rest)))
        words[n++] = word;
    if (!n || *words[0] == '#')
        return VPU_OK;
    if (n != N_WORDS)
        return fail(r, whole, "a row of nine words (docs/tuning.md)");
    st = take_words(r, words, &e);
    if (!st)
        *arena_append(r->a, r->rows, r->n, r->cap) = (line_row){e, r->line};
    return st;
}

static vpu_status take_first(const reader *r, const char *line)
{
    size_t n = strcspn(line, "\r");

    return n == strlen(first_line) && !strncmp(line, first_line, n)
               ? VPU_OK
               : fail(r, line,
                      "the line 'vpu-tune 1', with which a file of "
                      "tuned sizes begins");
}

static int by_key_and_line(const void *x, const void *y)
{
    const line_row *a = x, *b = y;
    int c = compare_keys(&a->entry.key, &b->entry.key);

    return c ? c : compare_numbers(a->line, b->line);
}

static vpu_status sort_rows(const reader *r, tune_file *out)
{
    if (r->n)
        qsort(r->rows, r->n, sizeof *r->rows, by_key_and_line);
    for (size_t i = 1; i < r->n; i++)
        if (!compare_keys(&r->rows[i - 1].entry.key, &r->rows[i].entry.key))
            return err_at(r->err, VPU_ERR_PARSE, r->path, r->rows[i].line, 0,
                          "a row of the same key as that of line %" PRIu32
                          "; expected one of each",
                          r->rows[i - 1].line);
    out->rows = arena_array(r->a, tune_entry, r->n + 1);
    out->cap = r->n + 1;
    for (size_t i = 0; i < r->n; i++)
        out->rows[out->n++] = r->rows[i].entry;
    return VPU_OK;
}

vpu_status tune_file_parse(const char *path, const char *data, size_t n,
                           arena *a, tune_file *out, vpu_error *err)
{
    reader r = {.path = path, .line = 1, .a = a, .err = err};
    const char *end = data + n, *line = data;
    vpu_status st = VPU_OK;

    *out = (tune_file){.n = 0};
    if (strlen(data) != n)
        return err_at(err, VPU_ERR_PARSE, path, 0, 0,
                      "a zero byte: not a text file");
    for (; !st && (line < end || r.line == 1); r.line++) {
        size_t length = strcspn(line, "\n");
        char *text = arena_strndup(a, line, length);

        st = r.line == 1 ? take_first(&r, text) : take_row(&r, text);
        line += length + (line[length] == '\n');
    }
    return st ? st : sort_rows(&r, out);
}

vpu_status tune_file_read(const char *path, arena *a, tune_file *out,
                          vpu_error *err)
{
    char *data;
    size_t n;
    vpu_status st = file_read(path, TUNE_FILE_MAX_BYTES, a, &data, &n, err);

    *out = (tune_file){.n = 0};
    return st ? st : tune_file_parse(path, data, n, a, out, err);
}

/* --- writing -------------------------------------------------------------- */

static void print_row(const tune_entry *e, str *out)
{
    const uint32_t *g = e->key.global, *l = e->choice.local;

    str_printf(out, "%016" PRIx64 " %016" PRIx64 " %016" PRIx64, e->key.kernel,
               e->key.machine, e->key.arguments);
    str_printf(out,
               " %" PRIu32 ",%" PRIu32 ",%" PRIu32 " %" PRIu32 ",%" PRIu32
               ",%" PRIu32 " %" PRIu32,
               g[0], g[1], g[2], l[0], l[1], l[2], e->choice.shaves);
    str_printf(out, " %" PRIu64 " %s %s\n", e->cost,
               e->cycles ? "cycles" : "ns", e->entry);
}

void tune_file_print(const tune_file *f, str *out)
{
    str_printf(out, "%s\n", first_line);
    for (size_t i = 0; i < f->n; i++)
        print_row(&f->rows[i], out);
}

vpu_status tune_file_write(const tune_file *f, const char *path, vpu_error *err)
{
    str text = {0};
    vpu_status st;

    tune_file_print(f, &text);
    st = file_write(path, str_text(&text), text.n, err);
    str_free(&text);
    return st;
}
