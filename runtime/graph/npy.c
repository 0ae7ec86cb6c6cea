/* A .npy file: magic, version, header length, a Python dict literal, elements.
 *
 *   \x93NUMPY  major minor  len(2 or 4 bytes)  {'descr': '<f2', ...}\n  data
 *
 * The dict is parsed as what NumPy writes: three known keys in any order,
 * either quote, blanks anywhere. */
#include "runtime/graph/npy.h"

#include <stdarg.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"

static const char magic[] = "\x93NUMPY";
enum { N_MAGIC = 6, MAX_HEADER = NPY_MAX_FRONT - 12 };

static const char descrs[TENSOR_N_DTYPES][3] = {
    [TENSOR_F16] = "f2", [TENSOR_F32] = "f4", [TENSOR_I32] = "i4",
    [TENSOR_U8] = "u1",  [TENSOR_I8] = "i1",  [TENSOR_I16] = "i2",
    [TENSOR_U16] = "u2", [TENSOR_I64] = "i8"};

typedef struct {
    const char *p, *end;
    const char *path;
    tensor_desc desc;
    bool has_descr, has_order, has_shape;
    vpu_error *err;
} header;

static vpu_status bad(const header *h, const char *what)
{
    return err_set(h->err, VPU_ERR_PARSE, "%s: .npy header: %s", h->path, what);
}

static void blanks(header *h)
{
    while (h->p < h->end && (*h->p == ' ' || *h->p == '\n' || *h->p == '\t'))
        h->p++;
}

static bool take(header *h, char c)
{
    blanks(h);
    if (h->p == h->end || *h->p != c)
        return false;
    h->p++;
    return true;
}

/* A quoted string without escapes. */
static bool take_string(header *h, const char **text, size_t *n)
{
    char quote;
    const char *close;

    blanks(h);
    if (h->p == h->end || (*h->p != '\'' && *h->p != '"'))
        return false;
    quote = *h->p++;
    close = memchr(h->p, quote, (size_t)(h->end - h->p));
    if (!close)
        return false;
    *text = h->p;
    *n = (size_t)(close - h->p);
    h->p = close + 1;
    return true;
}

static bool take_word(header *h, const char *word)
{
    size_t n = strlen(word);

    blanks(h);
    if ((size_t)(h->end - h->p) < n || memcmp(h->p, word, n))
        return false;
    h->p += n;
    return true;
}

static vpu_status take_descr(header *h)
{
    const char *s;
    size_t n;

    if (!take_string(h, &s, &n))
        return err_set(h->err, VPU_ERR_UNSUPPORTED,
                       "%s: .npy header: descr is not a plain element type",
                       h->path);
    if (n == 3 && (*s == '<' || *s == '|' || *s == '='))
        for (int i = 0; i < TENSOR_N_DTYPES; i++)
            if (!memcmp(s + 1, descrs[i], 2)) {
                h->desc.dtype = (tensor_dtype)i;
                h->has_descr = true;
                return VPU_OK;
            }
    return err_set(h->err, VPU_ERR_UNSUPPORTED,
                   "%s: .npy element type '%.*s'; supported are <f2 <f4 <i4 "
                   "|u1 |i1 <i2 <u2 <i8%s",
                   h->path, n > 20 ? 20 : (int)n, s,
                   n == 3 && !memcmp(s + 1, "f8", 2)
                       ? "; save it with .astype(numpy.float16), or float32"
                       : "");
}

static vpu_status take_order(header *h)
{
    if (take_word(h, "True"))
        return err_set(h->err, VPU_ERR_UNSUPPORTED,
                       "%s: .npy file in Fortran order; save "
                       "numpy.ascontiguousarray of it",
                       h->path);
    if (!take_word(h, "False"))
        return bad(h, "fortran_order is neither True nor False");
    h->has_order = true;
    return VPU_OK;
}

static vpu_status take_shape(header *h)
{
    if (!take(h, '('))
        return bad(h, "shape is not a tuple");
    while (!take(h, ')')) {
        uint64_t v = 0;
        const char *start;

        blanks(h);
        start = h->p;
        for (; h->p < h->end && *h->p >= '0' && *h->p <= '9'; h->p++) {
            v = v * 10 + (uint64_t)(*h->p - '0');
            if (v > UINT32_MAX)
                return err_set(h->err, VPU_ERR_LIMIT,
                               "%s: .npy header: a dim above %u", h->path,
                               UINT32_MAX);
        }
        if (h->p == start)
            return bad(h, "shape is not a tuple of numbers");
        if (h->desc.rank == TENSOR_MAX_RANK)
            return err_set(h->err, VPU_ERR_UNSUPPORTED,
                           "%s: .npy shape has more than %d dims", h->path,
                           TENSOR_MAX_RANK);
        h->desc.dims[h->desc.rank++] = (uint32_t)v;
        if (!take(h, ',')) {
            if (!take(h, ')') || h->desc.rank == 1)
                return bad(h, "shape is not a tuple of numbers");
            break;
        }
    }
    h->has_shape = true;
    return VPU_OK;
}

static vpu_status take_entry(header *h)
{
    static const struct {
        const char *name;
        vpu_status (*take)(header *);
    } keys[] = {{"descr", take_descr},
                {"fortran_order", take_order},
                {"shape", take_shape}};
    bool *const seen[] = {&h->has_descr, &h->has_order, &h->has_shape};
    const char *key;
    size_t n;

    if (!take_string(h, &key, &n))
        return bad(h, "expected a key");
    if (!take(h, ':'))
        return bad(h, "expected ':' after a key");
    for (size_t i = 0; i < 3; i++)
        if (strlen(keys[i].name) == n && !memcmp(keys[i].name, key, n))
            return *seen[i] ? bad(h, "a key occurs twice") : keys[i].take(h);
    return bad(h, "unknown key; expected descr, fortran_order, shape");
}

static vpu_status parse_header(header *h)
{
    if (!take(h, '{'))
        return bad(h, "expected '{'");
    while (!take(h, '}')) {
        vpu_status st = take_entry(h);

        if (st)
            return st;
        if (!take(h, ',')) {
            if (!take(h, '}'))
                return bad(h, "expected ',' or '}'");
            break;
        }
    }
    blanks(h);
    if (h->p != h->end)
        return bad(h, "text behind the closing '}'");
    if (!h->has_descr || !h->has_order || !h->has_shape)
        return bad(h, "one of descr, fortran_order, shape is missing");
    return VPU_OK;
}

/* Find the header's text; *at is where it begins. */
static vpu_status find_header(const unsigned char *b, size_t n,
                              const char *path, size_t *at, size_t *len,
                              vpu_error *err)
{
    if (n < N_MAGIC + 4 || memcmp(b, magic, N_MAGIC))
        return err_set(err, VPU_ERR_PARSE,
                       "%s: not a .npy file (it does not begin with "
                       "\\x93NUMPY)",
                       path);
    if (b[6] < 1 || b[6] > 3 || b[7])
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "%s: .npy version %u.%u; supported are 1.0, 2.0, 3.0",
                       path, b[6], b[7]);
    *at = b[6] == 1 ? 10 : 12;
    *len = b[8] | (size_t)b[9] << 8;
    if (b[6] > 1 && n >= 12)
        *len |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (n < *at || *len > n - *at)
        return err_set(err, VPU_ERR_PARSE,
                       "%s: .npy header of %zu bytes in a file of %zu", path,
                       *len, n);
    if (*len > MAX_HEADER)
        return err_set(err, VPU_ERR_LIMIT,
                       "%s: .npy header of %zu bytes, the limit is %d", path,
                       *len, MAX_HEADER);
    return VPU_OK;
}

vpu_status npy_parse_front(const file_bytes *f, arena *a, tensor_desc *desc,
                           size_t *at, vpu_error *err)
{
    header h = {.path = f->path, .err = err};
    size_t len = 0;
    uint64_t want;
    vpu_status st = find_header(f->data, f->n, f->path, at, &len, err);

    if (st)
        return st;
    h.p = (const char *)f->data + *at;
    h.end = h.p + len;
    st = parse_header(&h);
    if (st)
        return st;
    st = tensor_desc_check(&h.desc, err);
    if (st)
        return err_in(err, st, "%s", f->path);
    *at += len;
    *desc = h.desc;
    want = tensor_bytes(&h.desc);
    if (want != f->n - *at)
        return err_set(err, VPU_ERR_PARSE,
                       "%s: %zu bytes of elements; the shape, %s, needs %llu",
                       f->path, f->n - *at, tensor_desc_text(a, &h.desc),
                       (unsigned long long)want);
    return VPU_OK;
}

vpu_status npy_parse(const char *data, size_t n, const char *path, arena *a,
                     tensor *out, vpu_error *err)
{
    tensor_desc desc = {0};
    size_t at = 0;
    vpu_status st =
        npy_parse_front(&(const file_bytes){data, n, path}, a, &desc, &at, err);

    *out = (tensor){0};
    if (st)
        return st;
    out->desc = desc;
    if ((uintptr_t)(data + at) % tensor_dtype_bytes(desc.dtype))
        out->data = arena_memdup(a, data + at, n - at);
    else
        out->data = (void *)(uintptr_t)(data + at);
    return VPU_OK;
}

/* What is no tensor, or not as long as its shape wants, is refused before it is
 * read as a whole. */
static vpu_status check_front(const file_in *f, arena *a, vpu_error *err)
{
    size_t n = f->bytes < NPY_MAX_FRONT ? f->bytes : NPY_MAX_FRONT, at = 0;
    char *front = arena_push(a, NPY_MAX_FRONT, 1, 1);
    tensor_desc desc;
    vpu_status st = file_in_read(f, 0, front, n, err);

    return st ? st
              : npy_parse_front(&(const file_bytes){front, f->bytes, f->path},
                                a, &desc, &at, err);
}

vpu_status npy_read(const char *path, arena *a, tensor *out, vpu_error *err)
{
    arena *scratch = arena_create(0);
    char *data = NULL;
    size_t n = 0;
    file_in f;
    vpu_status st =
        file_in_open(&f, path, TENSOR_MAX_BYTES + NPY_MAX_FRONT, err);

    *out = (tensor){0};
    if (!st) {
        st = check_front(&f, scratch, err);
        if (!st)
            st = file_in_all(&f, a, &data, &n, err);
        file_in_close(&f);
    }
    arena_destroy(scratch);
    return st ? st : npy_parse(data, n, path, a, out, err);
}

static void format_header(const tensor_desc *d, str *s)
{
    size_t pad;

    str_add(s, "\x93NUMPY\x01\x00\x00\x00", 10);
    str_printf(s, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
               tensor_dtype_bytes(d->dtype) == 1 ? '|' : '<', descrs[d->dtype]);
    for (uint32_t i = 0; i < d->rank; i++)
        str_printf(s, "%s%u%s", i ? " " : "", d->dims[i],
                   i + 1 < d->rank || d->rank == 1 ? "," : "");
    str_puts(s, "), }");
    /* Elements begin at a multiple of 64; the last header byte is '\n'. */
    pad = (64 - (s->n + 1) % 64) % 64;
    str_printf(s, "%*s\n", (int)pad, "");
    s->data[8] = (char)((s->n - 10) & 0xff);
    s->data[9] = (char)((s->n - 10) >> 8);
}

vpu_status npy_write(const char *path, const tensor *t, vpu_error *err)
{
    uint64_t bytes = tensor_bytes(&t->desc);
    const void *plain = t->data;
    arena *scratch = NULL;
    str head = {0};
    file_out out;
    vpu_status st = tensor_desc_check(&t->desc, err);

    if (st)
        return err_in(err, st, "%s", path);
    st = file_out_open(&out, path, err);
    if (st)
        return st;
    if (t->desc.layout != TENSOR_PLAIN) {
        void *copy;

        scratch = arena_create(0);
        copy = arena_push(scratch, bytes, 1, 64);
        tensor_relayout(&t->desc, t->data, TENSOR_PLAIN, copy);
        plain = copy;
    }
    format_header(&t->desc, &head);
    /* A short write is an error of the stream, which commit reports. */
    fwrite(head.data, 1, head.n, out.stream);
    fwrite(plain, 1, bytes, out.stream);
    st = file_out_commit(&out, err);
    str_free(&head);
    arena_destroy(scratch);
    return st;
}
