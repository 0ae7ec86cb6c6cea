/* Inputs are opened without blocking and checked for their kind; outputs are
 * written under a temporary name and renamed. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temp.h"

/* --- reading ------------------------------------------------------------- */

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a directory"
           : S_ISFIFO(mode) ? "a FIFO"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

/* What this process was started with: /dev/stdin, <(command). */
static bool is_own_stream(const char *path, mode_t mode)
{
    return (S_ISFIFO(mode) || S_ISCHR(mode)) &&
           (!strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6));
}

static vpu_status check_kind(const char *path, const struct stat *sb,
                             bool streams, vpu_error *err)
{
    if (S_ISREG(sb->st_mode) || (streams && is_own_stream(path, sb->st_mode)))
        return VPU_OK;
    return err_set(err, VPU_ERR_IO, "%s: not a regular file but %s", path,
                   kind_of(sb->st_mode));
}

/* Looked at before it is opened, as opening a device may do something; opened
 * so that a FIFO does not stop us; looked at again, as it may have changed. */
static vpu_status open_input(const char *path, bool streams, int *fd,
                             struct stat *sb, vpu_error *err)
{
    vpu_status st;

    *fd = -1;
    if (stat(path, sb))
        return err_set(err, VPU_ERR_IO, "%s: %s", path, strerror(errno));
    if ((st = check_kind(path, sb, streams, err)))
        return st;
    *fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (*fd < 0 || fstat(*fd, sb))
        st = err_set(err, VPU_ERR_IO, "%s: %s", path, strerror(errno));
    else
        st = check_kind(path, sb, streams, err);
    if (!st)
        fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) & ~O_NONBLOCK);
    else if (*fd >= 0)
        close(*fd);
    return st;
}

vpu_status file_in_open(file_in *f, const char *path, uint64_t max_bytes,
                        vpu_error *err)
{
    struct stat sb;
    vpu_status st = open_input(path, false, &f->fd, &sb, err);

    if (st)
        return st;
    f->path = path;
    f->bytes = (uint64_t)sb.st_size;
    if (f->bytes <= max_bytes)
        return VPU_OK;
    file_in_close(f);
    return err_set(err, VPU_ERR_LIMIT, "%s: %lld bytes, the limit is %llu",
                   path, (long long)sb.st_size, (unsigned long long)max_bytes);
}

/* How many bytes there were at that place; fewer than n: errno, 0 = the end. */
static size_t read_at(int fd, uint64_t at, void *out, size_t n)
{
    size_t got = 0;

    while (got < n) {
        ssize_t k = pread(fd, (char *)out + got, n - got, (off_t)(at + got));

        if (k < 0 && errno == EINTR)
            continue;
        if (k == 0)
            errno = 0;
        if (k <= 0)
            break;
        got += (size_t)k;
    }
    return got;
}

vpu_status file_in_read(const file_in *f, uint64_t at, void *out, size_t n,
                        vpu_error *err)
{
    size_t got = read_at(f->fd, at, out, n);

    if (got == n)
        return VPU_OK;
    return errno ? err_set(err, VPU_ERR_IO, "%s: %s", f->path, strerror(errno))
                 : err_set(err, VPU_ERR_IO, "%s: %zu of %zu bytes read",
                           f->path, got, n);
}

size_t file_peek(const char *path, void *out, size_t n)
{
    vpu_error why;
    file_in f;

    if (file_in_open(&f, path, UINT64_MAX, &why))
        return 0;
    n = f.bytes < n ? (size_t)f.bytes : n;
    if (file_in_read(&f, 0, out, n, &why))
        n = 0;
    file_in_close(&f);
    return n;
}

vpu_status file_in_all(const file_in *f, arena *a, char **data, size_t *n_bytes,
                       vpu_error *err)
{
    char *p = arena_push(a, f->bytes + 1, 1, 64);
    vpu_status st = file_in_read(f, 0, p, f->bytes, err);

    *data = st ? NULL : p;
    *n_bytes = st ? 0 : f->bytes;
    return st;
}

void file_in_close(file_in *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

vpu_status file_read(const char *path, size_t max_bytes, arena *a, char **data,
                     size_t *n_bytes, vpu_error *err)
{
    file_in f;
    vpu_status st = file_in_open(&f, path, max_bytes, err);

    *data = NULL;
    *n_bytes = 0;
    if (st)
        return st;
    st = file_in_all(&f, a, data, n_bytes, err);
    file_in_close(&f);
    return st;
}

vpu_status file_stream_open(const char *path, FILE **f, vpu_error *err)
{
    struct stat sb;
    int fd;
    vpu_status st = open_input(path, true, &fd, &sb, err);

    *f = NULL;
    if (st)
        return st;
    *f = fdopen(fd, "rb");
    if (*f)
        return VPU_OK;
    close(fd);
    return err_set(err, VPU_ERR_NOMEM, "%s: cannot be opened", path);
}

/* --- names --------------------------------------------------------------- */

bool file_exists(const char *path)
{
    struct stat sb;

    return !stat(path, &sb);
}

char *file_join(arena *a, const char *dir, const char *name)
{
    if (name[0] == '/' || !dir || !strcmp(dir, ".") || !*dir)
        return arena_strdup(a, name);
    return arena_printf(a, "%s/%s", dir, name);
}

const char *file_plain_name(arena *a, const char *name)
{
    return *name == '-' || *name == '@' ? arena_printf(a, "./%s", name) : name;
}

const char *file_basename(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

char *file_dirname(arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return arena_strdup(a, ".");
    if (slash == path)
        return arena_strdup(a, "/");
    return arena_strndup(a, path, (size_t)(slash - path));
}

char *file_state_path(arena *a, const char *name)
{
    const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

    if (base && *base == '/')
        return arena_printf(a, "%s/vpusim/%s", base, name);
    return home && *home
               ? arena_printf(a, "%s/.local/state/vpusim/%s", home, name)
               : NULL;
}

vpu_status file_mkdirs(const char *path, vpu_error *err)
{
    char *copy = strdup(path);
    vpu_status st = VPU_OK;

    if (!copy)
        return err_set(err, VPU_ERR_NOMEM, "out of memory");
    for (char *p = copy + 1; !st; p++) {
        char was = *p;

        if (was && was != '/')
            continue;
        *p = '\0';
        if (mkdir(copy, 0777) && errno != EEXIST)
            st = err_set(err, VPU_ERR_IO, "%s: %s", copy, strerror(errno));
        *p = was;
        if (!was)
            break;
    }
    free(copy);
    if (!st) {
        struct stat sb;

        if (stat(path, &sb) || !S_ISDIR(sb.st_mode))
            st = err_set(err, VPU_ERR_IO, "%s: not a directory", path);
    }
    return st;
}

/* --- writing ------------------------------------------------------------- */

/* A FIFO nobody reads must not stop us. */
static vpu_status open_to_write(const char *path, int flags, FILE **f,
                                vpu_error *err)
{
    int fd =
        open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags, 0666);

    *f = NULL;
    if (fd < 0)
        return err_set(err, VPU_ERR_IO, "%s: cannot be written: %s", path,
                       errno == ENXIO ? "nobody reads this FIFO"
                                      : strerror(errno));
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    *f = fdopen(fd, "wb");
    if (*f)
        return VPU_OK;
    close(fd);
    return err_set(err, VPU_ERR_NOMEM, "%s: cannot be opened", path);
}

/* Of the process; asking umask() would change it for other threads. */
static mode_t creation_mask(void)
{
    FILE *f = fopen("/proc/self/status", "re");
    char line[256];
    unsigned mask = 022;

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Umask: %o", &mask) == 1)
            break;
    if (f)
        fclose(f);
    return (mode_t)mask;
}

static vpu_status open_temp(file_out *o, const char *path, vpu_error *err)
{
    size_t n = strlen(path) + 8;
    int fd, why;

    o->temp = malloc(n);
    if (!o->temp)
        return err_set(err, VPU_ERR_NOMEM, "out of memory");
    snprintf(o->temp, n, "%s.XXXXXX", path);
    fd = temp_file(o->temp);
    if (fd < 0) {
        why = errno;
        free(o->temp);
        o->temp = NULL;
        return err_set(err, VPU_ERR_IO, "%s: cannot be written: %s", path,
                       strerror(why));
    }
    fchmod(fd, 0666 & ~creation_mask());
    o->stream = fdopen(fd, "w+b");
    if (!o->stream) {
        close(fd);
        return err_set(err, VPU_ERR_NOMEM, "%s: cannot be opened", path);
    }
    return VPU_OK;
}

/* The descriptor that a name stands for; below 0: none. */
static int descriptor_named(const char *path)
{
    unsigned n;
    char more;

    if (!strcmp(path, "/dev/stdout"))
        return STDOUT_FILENO;
    if (!strcmp(path, "/dev/stderr"))
        return STDERR_FILENO;
    return sscanf(path, "/dev/fd/%u%c", &n, &more) == 1 ||
                   sscanf(path, "/proc/self/fd/%u%c", &n, &more) == 1
               ? (int)(n & INT_MAX)
               : -1;
}

/* A name of the system's that leads to a file: the file itself is meant, which
 * others may have open, and no name may be replaced. */
static bool is_of_system(const char *path)
{
    return descriptor_named(path) >= 0 || !strncmp(path, "/proc/", 6);
}

/* Its own place in the file goes on: opened anew, a regular file would be
 * written from its beginning, or over what comes later. */
static vpu_status open_descriptor(int number, const char *path, FILE **f,
                                  vpu_error *err)
{
    int fd = fcntl(number, F_DUPFD_CLOEXEC, 0);

    *f = fd < 0 ? NULL : fdopen(fd, "wb");
    if (*f)
        return VPU_OK;
    err_set(err, VPU_ERR_IO, "%s: cannot be written: %s", path,
            strerror(errno));
    if (fd >= 0)
        close(fd);
    return VPU_ERR_IO;
}

enum { MOST_LINKS = 40 };

/* What symbolic links lead to, so that they stay: in `place`, PATH_MAX bytes.
 * False: there are too many, or too long ones. */
static bool follow_links(const char *path, char *place)
{
    char to[PATH_MAX];

    if ((size_t)snprintf(place, PATH_MAX, "%s", path) >= PATH_MAX)
        return false;
    for (int i = 0; i < MOST_LINKS && !is_of_system(place); i++) {
        ssize_t n = readlink(place, to, sizeof to - 1);
        char *slash = strrchr(place, '/');
        size_t dir = slash ? (size_t)(slash + 1 - place) : 0;

        if (n < 0)
            return true; /* no link, or nothing yet */
        to[n] = 0;
        dir = *to == '/' ? 0 : dir;
        if ((size_t)snprintf(place + dir, PATH_MAX - dir, "%s", to) >=
            PATH_MAX - dir)
            return false;
    }
    return is_of_system(place);
}

vpu_status file_out_open(file_out *o, const char *path, vpu_error *err)
{
    char place[PATH_MAX];
    struct stat sb;
    bool there = !stat(path, &sb);
    vpu_status st;

    *o = (file_out){0};
    if (there && S_ISDIR(sb.st_mode))
        return err_set(err, VPU_ERR_IO, "%s: is a directory", path);
    if (!follow_links(path, place))
        return err_set(err, VPU_ERR_IO, "%s: cannot be written: %s", path,
                       strerror(ELOOP));
    o->path = strdup(place);
    if (!o->path)
        return err_set(err, VPU_ERR_NOMEM, "out of memory");
    /* Something else that can be written to stays: /dev/null, a FIFO. */
    if (descriptor_named(place) >= 0)
        st = open_descriptor(descriptor_named(place), path, &o->stream, err);
    else if (there && (!S_ISREG(sb.st_mode) || is_of_system(place)))
        st = open_to_write(path, O_APPEND, &o->stream, err);
    else
        st = open_temp(o, place, err);
    if (st)
        file_out_abandon(o);
    return st;
}

vpu_status file_close_written(FILE *f, const char *path, vpu_error *err)
{
    bool bad = ferror(f);
    int why = 0;

    errno = 0;
    if (fclose(f)) {
        bad = true;
        why = errno;
    }
    return bad ? err_set(err, VPU_ERR_IO, "%s: %s", path,
                         why ? strerror(why) : "not all of it could be written")
               : VPU_OK;
}

vpu_status file_out_commit(file_out *o, vpu_error *err)
{
    vpu_status st = file_close_written(o->stream, o->path, err);

    o->stream = NULL;
    if (!st && o->temp && rename(o->temp, o->path))
        st = err_set(err, VPU_ERR_IO, "%s: %s", o->path, strerror(errno));
    if (!st && o->temp) {
        temp_forget(o->temp);
        free(o->temp);
        o->temp = NULL;
    }
    file_out_abandon(o);
    return st;
}

void file_out_abandon(file_out *o)
{
    if (o->stream)
        fclose(o->stream);
    if (o->temp) {
        unlink(o->temp);
        temp_forget(o->temp);
    }
    free(o->temp);
    free(o->path);
    *o = (file_out){0};
}

vpu_status file_write(const char *path, const void *data, size_t n_bytes,
                      vpu_error *err)
{
    file_out o;
    vpu_status st = file_out_open(&o, path, err);

    if (st)
        return st;
    errno = 0;
    if (n_bytes && fwrite(data, 1, n_bytes, o.stream) != n_bytes) {
        st = err_set(err, VPU_ERR_IO, "%s: %s", path,
                     errno ? strerror(errno) : "cannot be written");
        file_out_abandon(&o);
        return st;
    }
    return file_out_commit(&o, err);
}

bool file_fd_put(int fd, const void *data, size_t n)
{
    const char *p = data;

    while (n) {
        ssize_t k = write(fd, p, n);

        if (k < 0 && errno != EINTR)
            return false;
        p += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
    return true;
}

char *file_fd_get(int fd, size_t most, arena *a, size_t *n)
{
    struct stat sb;
    char *data;

    *n = 0;
    if (fstat(fd, &sb))
        return NULL;
    *n = (uint64_t)sb.st_size < most ? (size_t)sb.st_size : most;
    data = arena_push(a, *n + 1, 1, 64);
    return read_at(fd, 0, data, *n) == *n ? data : NULL;
}

vpu_status file_log_open(const char *path, FILE **f, vpu_error *err)
{
    vpu_status st = open_to_write(path, O_CREAT | O_TRUNC, f, err);

    if (!st)
        setvbuf(*f, NULL, _IOLBF, 0);
    return st;
}
