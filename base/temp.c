/* Temporaries by slot, so that a signal handler can remove them without locks:
 * a slot's name is published after the string is complete and withdrawn before
 * it is freed. */
#include "base/temp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum {
    MAX_TEMPS = 64,
    MAX_DEPTH = 8 /* of folders in a folder: a handler's stack is small */
};

typedef struct {
    const char *_Atomic path;
    atomic_bool is_dir;
} slot;

static slot slots[MAX_TEMPS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void publish(const char *path, bool is_dir)
{
    for (int i = 0; i < MAX_TEMPS; i++)
        if (!slots[i].path) {
            slots[i].is_dir = is_dir;
            slots[i].path = path;
            return;
        }
}

void temp_forget(const char *path)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_TEMPS; i++)
        if (slots[i].path == path)
            slots[i].path = NULL;
    pthread_mutex_unlock(&lock);
}

void temp_disown(void)
{
    for (int i = 0; i < MAX_TEMPS; i++)
        slots[i].path = NULL;
}

/* Created and published with signals held back: a handler must not come in
 * between. */
static int create(char *path, bool is_dir)
{
    sigset_t all, before;
    int result;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&lock);
    if (is_dir)
        result = mkdtemp(path) ? 0 : -1;
    else
        result = mkostemp(path, O_CLOEXEC);
    if (result >= 0)
        publish(path, is_dir);
    pthread_mutex_unlock(&lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

int temp_file(char *path)
{
    return create(path, false);
}

static vpu_status create_dir(char *path, vpu_error *err)
{
    if (create(path, true) < 0)
        return err_set(err, VPU_ERR_IO, "%s: cannot create a folder: %s", path,
                       strerror(errno));
    return VPU_OK;
}

vpu_status temp_dir(arena *a, const char *stem, char **path, vpu_error *err)
{
    const char *base = getenv("TMPDIR");

    base = file_plain_name(a, base && *base ? base : "/tmp");
    *path = arena_printf(a, "%s/%sXXXXXX", base, stem);
    return create_dir(*path, err);
}

vpu_status temp_dir_beside(arena *a, const char *path, char **out,
                           vpu_error *err)
{
    *out = arena_printf(a, "%s.XXXXXX", file_plain_name(a, path));
    return create_dir(*out, err);
}

static void remove_dir_at(int at, const char *name, int depth);

/* The system's own listing: opendir takes memory. */
static void remove_inside(int dir, int depth)
{
    _Alignas(struct dirent64) char list[4096];
    ssize_t n;

    while ((n = getdents64(dir, list, sizeof list)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *e = (const struct dirent64 *)(list + at);
            bool self = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");

            if (!self && unlinkat(dir, e->d_name, 0) && depth)
                remove_dir_at(dir, e->d_name, depth - 1);
            at += e->d_reclen;
        }
}

static void remove_dir_at(int at, const char *name, int depth)
{
    int dir = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (dir >= 0) {
        remove_inside(dir, depth);
        close(dir);
    }
    unlinkat(at, name, AT_REMOVEDIR);
}

static void remove_dir(const char *path)
{
    remove_dir_at(AT_FDCWD, path, MAX_DEPTH);
}

void temp_dir_remove(const char *path)
{
    remove_dir(path);
    temp_forget(path);
}

void temp_remove_all(void)
{
    for (int i = 0; i < MAX_TEMPS; i++) {
        const char *path = slots[i].path;

        if (path && slots[i].is_dir)
            remove_dir(path);
        else if (path)
            unlink(path);
    }
}
