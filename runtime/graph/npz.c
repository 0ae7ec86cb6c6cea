/* An array of an archive: found in the directory, its header read, then its
 * elements, straight to where they belong. */
#include "runtime/graph/npz.h"

#include <string.h>
#include <zip.h>

#include "base/late.h"
#include "base/str.h"
#include "runtime/graph/npy.h"

enum { MOST_LISTED = 16 };

struct npz {
    zip_t *zip;
    zip_file_t *file;
    zip_stat_t stat;
    tensor_desc desc;
    const char *path;   /* "x.npz:NAME", once the array is found */
    char *front;        /* the first bytes of the member */
    size_t n_front, at; /* and where elements begin in them */
    arena *a;
};

/* --- the directory ------------------------------------------------------- */

static vpu_status broken(const char *path, int code, vpu_error *err)
{
    zip_error_t why;

    zip_error_init_with_code(&why, code);
    err_set(err, VPU_ERR_PARSE, "%s: the archive is damaged: %s", path,
            zip_error_strerror(&why));
    zip_error_fini(&why);
    return VPU_ERR_PARSE;
}

static vpu_status open_zip(npz *z, const char *path, vpu_error *err)
{
    file_in f;
    int code = 0;
    vpu_status st = file_in_open(&f, path, NPZ_MAX_BYTES, err);

    if (st)
        return st;
    z->zip = zip_fdopen(f.fd, 0, &code); /* which has the descriptor now */
    if (z->zip)
        return VPU_OK;
    file_in_close(&f);
    return broken(path, code, err);
}

/* The length of member i's name without ".npy"; false: it is no array. */
static bool array_name(const npz *z, zip_uint64_t i, const char **name,
                       size_t *n)
{
    static const char ending[] = ".npy";
    size_t all;

    *name = zip_get_name(z->zip, i, ZIP_FL_ENC_RAW);
    all = *name ? strlen(*name) : 0;
    *n = all - strlen(ending);
    return all > strlen(ending) && !strcmp(*name + *n, ending);
}

/* "there are a, b and 3 more" */
static vpu_status none_chosen(const npz *z, const char *what, vpu_error *err)
{
    zip_uint64_t n_members = (zip_uint64_t)zip_get_num_entries(z->zip, 0);
    size_t n_arrays = 0, n;
    const char *name;
    str names = {0};

    for (zip_uint64_t i = 0; i < n_members; i++)
        if (array_name(z, i, &name, &n) && n_arrays++ < MOST_LISTED) {
            str_puts(&names, n_arrays > 1 ? ", " : "");
            str_add_shown(&names, name, n < 80 ? n : 80);
            str_puts(&names, n < 80 ? "" : "\u2026");
        }
    if (n_arrays > MOST_LISTED)
        str_printf(&names, " and %zu more", n_arrays - MOST_LISTED);
    if (n_arrays)
        err_set(err, VPU_ERR_INVALID, "%s: %s; there %s %s", z->path, what,
                n_arrays > 1 ? "are" : "is", str_text(&names));
    else
        err_set(err, VPU_ERR_INVALID,
                "%s: the archive has no array, that is, no member NAME.npy",
                z->path);
    str_free(&names);
    return VPU_ERR_INVALID;
}

static vpu_status find(npz *z, const char *wanted, zip_uint64_t *index,
                       vpu_error *err)
{
    zip_int64_t n_members = zip_get_num_entries(z->zip, 0);
    size_t n_found = 0, n;
    const char *name;

    if (n_members > NPZ_MAX_MEMBERS)
        return err_set(err, VPU_ERR_LIMIT,
                       "%s: %lld members in the archive, the limit is %d",
                       z->path, (long long)n_members, NPZ_MAX_MEMBERS);
    for (zip_uint64_t i = 0; i < (zip_uint64_t)n_members; i++)
        if (array_name(z, i, &name, &n) &&
            (!wanted || (strlen(wanted) == n && !memcmp(name, wanted, n)))) {
            n_found++;
            *index = i;
        }
    if (n_found == 1)
        return VPU_OK;
    if (!wanted)
        return none_chosen(z, "which array? put :NAME behind the file", err);
    return none_chosen(z,
                       arena_printf(z->a, "%s array '%s'",
                                    n_found ? "more than one" : "no", wanted),
                       err);
}

static vpu_status check_member(const npz *z, vpu_error *err)
{
    static const zip_uint64_t need =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    const zip_stat_t *s = &z->stat;

    if ((s->valid & need) != need)
        return err_set(err, VPU_ERR_PARSE,
                       "%s: the archive does not say how long it is", z->path);
    if (s->encryption_method != ZIP_EM_NONE)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "%s: encrypted; write the archive without a password",
                       z->path);
    if (s->comp_method != ZIP_CM_STORE && s->comp_method != ZIP_CM_DEFLATE)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "%s: compressed by method %u; supported are 0 (stored) "
                       "and 8 (deflated), as numpy.savez and "
                       "numpy.savez_compressed write them",
                       z->path, s->comp_method);
    if (s->size > TENSOR_MAX_BYTES + NPY_MAX_FRONT)
        return err_set(err, VPU_ERR_LIMIT, "%s: %llu bytes, the limit is %llu",
                       z->path, (unsigned long long)s->size,
                       (unsigned long long)TENSOR_MAX_BYTES);
    return VPU_OK;
}

/* --- one member ---------------------------------------------------------- */

/* Exactly n bytes. */
static vpu_status take(npz *z, void *out, size_t n, vpu_error *err)
{
    size_t got = 0;

    while (got < n) {
        zip_int64_t k = zip_fread(z->file, (char *)out + got, n - got);

        if (k < 0)
            return err_set(err, VPU_ERR_PARSE, "%s: damaged: %s", z->path,
                           zip_file_strerror(z->file));
        if (!k)
            return err_set(err, VPU_ERR_PARSE,
                           "%s: damaged: it ends before the %llu bytes that "
                           "the archive announces",
                           z->path, (unsigned long long)z->stat.size);
        got += (size_t)k;
    }
    return VPU_OK;
}

/* The checksum is compared when the end is read. */
static vpu_status take_end(npz *z, vpu_error *err)
{
    char more;
    zip_int64_t k = zip_fread(z->file, &more, 1);

    if (!k)
        return VPU_OK;
    if (k > 0)
        return err_set(err, VPU_ERR_PARSE,
                       "%s: damaged: it goes on behind the %llu bytes that "
                       "the archive announces",
                       z->path, (unsigned long long)z->stat.size);
    return err_set(err, VPU_ERR_PARSE, "%s: damaged: %s", z->path,
                   zip_file_strerror(z->file));
}

static vpu_status open_member(npz *z, zip_uint64_t i, vpu_error *err)
{
    vpu_status st;

    if (zip_stat_index(z->zip, i, 0, &z->stat))
        return err_set(err, VPU_ERR_PARSE, "%s: damaged: %s", z->path,
                       zip_strerror(z->zip));
    if ((st = check_member(z, err)))
        return st;
    z->file = zip_fopen_index(z->zip, i, 0);
    if (!z->file)
        return err_set(err, VPU_ERR_PARSE, "%s: damaged: %s", z->path,
                       zip_strerror(z->zip));
    z->n_front =
        z->stat.size < NPY_MAX_FRONT ? (size_t)z->stat.size : NPY_MAX_FRONT;
    z->front = arena_push(z->a, NPY_MAX_FRONT, 1, 1);
    st = take(z, z->front, z->n_front, err);
    if (st)
        return st;
    return npy_parse_front(
        &(const file_bytes){z->front, (size_t)z->stat.size, z->path}, z->a,
        &z->desc, &z->at, err);
}

/* --- entry points -------------------------------------------------------- */

vpu_status npz_open(const char *path, const char *name, npz **out,
                    vpu_error *err)
{
    arena *a = arena_create(0);
    npz *z = arena_new(a, npz);
    zip_uint64_t i = 0;
    vpu_status st = late_need("libzip", err);

    *out = NULL;
    z->a = a;
    z->path = path;
    if (!st)
        st = open_zip(z, path, err);
    if (!st)
        st = find(z, name, &i, err);
    if (!st) {
        str full = {.arena = a};
        const char *found;
        size_t n;

        array_name(z, i, &found, &n);
        str_printf(&full, "%s:", path);
        str_add_shown(&full, found, n < 200 ? n : 200);
        z->path = str_text(&full);
        st = open_member(z, i, err);
    }
    if (!st)
        *out = z;
    else
        npz_close(z);
    return st;
}

const tensor_desc *npz_desc(const npz *z)
{
    return &z->desc;
}

const char *npz_path(const npz *z)
{
    return z->path;
}

vpu_status npz_read(npz *z, void *data, vpu_error *err)
{
    uint64_t bytes = tensor_bytes(&z->desc);
    size_t have = z->n_front - z->at;
    vpu_status st;

    memcpy(data, z->front + z->at, have);
    st = take(z, (char *)data + have, (size_t)bytes - have, err);
    return st ? st : take_end(z, err);
}

void npz_close(npz *z)
{
    if (!z)
        return;
    if (z->file)
        zip_fclose(z->file);
    if (z->zip)
        zip_discard(z->zip);
    arena_destroy(z->a);
}
