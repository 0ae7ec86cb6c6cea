/* Files: whole reads, atomic writes. */
#include "sim/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

vpu_status file_read(const char *path, size_t max_bytes, arena *a, char **data,
                     size_t *n_bytes, vpu_error *err)
{
    vpu_status st = VPU_OK;
    struct stat sb;
    FILE *f = fopen(path, "rb");
    size_t want, got;

    *data = NULL;
    *n_bytes = 0;
    if (!f)
        return err_set(err, VPU_ERR_IO, "%s: %s", path, strerror(errno));
    if (fstat(fileno(f), &sb) || !S_ISREG(sb.st_mode)) {
        st = err_set(err, VPU_ERR_IO, "%s: not a regular file", path);
        goto out;
    }
    if ((unsigned long long)sb.st_size > max_bytes) {
        st = err_set(err, VPU_ERR_LIMIT, "%s: %lld bytes, the limit is %zu",
                     path, (long long)sb.st_size, max_bytes);
        goto out;
    }
    want = (size_t)sb.st_size;
    *data = arena_push(a, want + 1, 1, 64);
    got = fread(*data, 1, want, f);
    if (got != want) {
        *data = NULL;
        st = err_set(err, VPU_ERR_IO, "%s: %zu of %zu bytes read", path, got,
                     want);
        goto out;
    }
    *n_bytes = want;
out:
    fclose(f);
    return st;
}

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

char *file_dirname(arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return arena_strdup(a, ".");
    if (slash == path)
        return arena_strdup(a, "/");
    return arena_strndup(a, path, (size_t)(slash - path));
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

/* Temporaries by slot, so that a signal handler can remove them without locks:
 * a slot's pointer is published after the string is complete and withdrawn
 * before it is freed. */
enum { MAX_TEMPS = 64 };
static char *volatile temps[MAX_TEMPS];
static pthread_mutex_t temps_lock = PTHREAD_MUTEX_INITIALIZER;

static void temp_publish(char *temp)
{
    pthread_mutex_lock(&temps_lock);
    for (int i = 0; i < MAX_TEMPS; i++)
        if (!temps[i]) {
            temps[i] = temp;
            break;
        }
    pthread_mutex_unlock(&temps_lock);
}

static void temp_withdraw(const char *temp)
{
    pthread_mutex_lock(&temps_lock);
    for (int i = 0; i < MAX_TEMPS; i++)
        if (temps[i] == temp)
            temps[i] = NULL;
    pthread_mutex_unlock(&temps_lock);
}

void file_out_remove_all(void)
{
    for (int i = 0; i < MAX_TEMPS; i++)
        if (temps[i])
            unlink(temps[i]);
}

vpu_status file_out_open(file_out *o, const char *path, vpu_error *err)
{
    size_t n = strlen(path) + 8;
    struct stat sb;
    mode_t mask;
    int fd;

    *o = (file_out){0};
    if (!stat(path, &sb) && S_ISDIR(sb.st_mode))
        return err_set(err, VPU_ERR_IO, "%s: is a directory", path);
    o->path = strdup(path);
    o->temp = malloc(n);
    if (!o->path || !o->temp) {
        file_out_abandon(o);
        return err_set(err, VPU_ERR_NOMEM, "out of memory");
    }
    snprintf(o->temp, n, "%s.XXXXXX", path);
    fd = mkstemp(o->temp);
    if (fd < 0) {
        free(o->temp);
        o->temp = NULL;
        file_out_abandon(o);
        return err_set(err, VPU_ERR_IO, "%s: cannot be written: %s", path,
                       strerror(errno));
    }
    temp_publish(o->temp);
    mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    o->f = fdopen(fd, "w+b");
    if (!o->f) {
        close(fd);
        file_out_abandon(o);
        return err_set(err, VPU_ERR_NOMEM, "%s: cannot be opened", path);
    }
    return VPU_OK;
}

vpu_status file_out_commit(file_out *o, vpu_error *err)
{
    bool bad = ferror(o->f) || fflush(o->f);
    int why = errno;

    if (fclose(o->f) && !bad) {
        bad = true;
        why = errno;
    }
    o->f = NULL;
    if (!bad && rename(o->temp, o->path)) {
        bad = true;
        why = errno;
    }
    if (bad) {
        err_set(err, VPU_ERR_IO, "%s: %s", o->path, strerror(why));
        file_out_abandon(o);
        return VPU_ERR_IO;
    }
    temp_withdraw(o->temp);
    free(o->temp);
    free(o->path);
    *o = (file_out){0};
    return VPU_OK;
}

void file_out_abandon(file_out *o)
{
    if (o->f)
        fclose(o->f);
    if (o->temp) {
        unlink(o->temp);
        temp_withdraw(o->temp);
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
    if (n_bytes && fwrite(data, 1, n_bytes, o.f) != n_bytes) {
        st = err_set(err, VPU_ERR_IO, "%s: %s", path, strerror(errno));
        file_out_abandon(&o);
        return st;
    }
    return file_out_commit(&o, err);
}
