/* Files of one folder; see kcache.h. */
#include "sim/compiler/store/kcache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/file.h"
#include "base/temp.h"

#define MAX_DATA ((uint64_t)256 << 20)
#define NEW_SUFFIX ".new-"
/* Of each entry that was put the bytes, eight of them: a list of the folder
 * takes 2 us an entry, their sum does not. */
#define ACCOUNT ".account"
enum {
    ACCOUNT_ENTRIES = 1024, /* then the folder is listed, whatever the sum */
    FORMAT = 1,
    NAME_BYTES = 64,
    OTHERS_MAY_WRITE = 022,
    STALE_SECONDS = 3600, /* a file being written that nobody finished */
};

static const char magic[8] = "VPUCACHE";

typedef struct {
    char magic[8];
    uint32_t format, head_bytes;
    kcache_key key;
    uint64_t n_bytes, zero;
    uint8_t digest[16];
} head;

_Static_assert(sizeof(head) == 64, "the form on disk");

static _Atomic uint64_t limit = KCACHE_DEFAULT_BYTES;

void kcache_limit(uint64_t bytes)
{
    atomic_store(&limit, bytes);
}

/* A folder within the cache that is this process's; NULL: the cache itself. */
static const char *_Atomic own_name;

/* --- keys ---------------------------------------------------------------- */

void kcache_part(str *s, const void *data, size_t n)
{
    uint64_t length = n;

    str_add(s, &length, sizeof length);
    str_add(s, data, n);
}

kcache_key kcache_key_of(const str *parts)
{
    XXH128_canonical_t c;
    kcache_key key;

    XXH128_canonicalFromHash(&c, XXH3_128bits(parts->data, parts->n));
    memcpy(key.bytes, c.digest, sizeof key.bytes);
    return key;
}

static void entry_name(const kcache_key *key, char out[NAME_BYTES])
{
    for (size_t i = 0; i < sizeof key->bytes; i++)
        snprintf(out + 2 * i, NAME_BYTES - 2 * i, "%02x.kernel", key->bytes[i]);
}

static void digest(const head *h, const void *data, uint8_t out[16])
{
    XXH3_state_t *s = XXH3_createState();
    XXH128_canonical_t c;

    if (!s)
        abort();
    XXH3_128bits_reset(s);
    XXH3_128bits_update(s, h, offsetof(head, digest));
    XXH3_128bits_update(s, data, h->n_bytes);
    XXH128_canonicalFromHash(&c, XXH3_128bits_digest(s));
    XXH3_freeState(s);
    memcpy(out, c.digest, 16);
}

/* --- the folder ---------------------------------------------------------- */

static const char *dir_name(arena *a)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (xdg && xdg[0] == '/')
        return arena_printf(a, "%s/vpusim", xdg);
    return home && home[0] == '/' ? arena_printf(a, "%s/.cache/vpusim", home)
                                  : NULL;
}

/* Where entries are put. */
static const char *own_dir(arena *a)
{
    const char *dir = dir_name(a), *name = atomic_load(&own_name);

    return dir && name ? arena_printf(a, "%s/%s", dir, name) : dir;
}

static void warn_once(const log_sink *log, const char *dir, const char *why)
{
    static atomic_flag warned = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&warned))
        log_warn(log, "kernel cache %s is not used: %s", dir, why);
}

/* What is wrong with a file or folder that must be ours; NULL: nothing. */
static const char *not_ours(const struct stat *sb)
{
    return sb->st_uid != geteuid() ? "it belongs to another user"
           : sb->st_mode & OTHERS_MAY_WRITE
               ? "other users may write to it (chmod go-w)"
               : NULL;
}

/* -1: there is none, or none to be trusted. */
static int open_dir(const char *dir, const log_sink *log)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const char *why = NULL;
    struct stat sb;

    if (fd < 0) {
        if (errno == ELOOP || errno == ENOTDIR)
            warn_once(log, dir, "it is no folder");
        return -1;
    }
    if (fstat(fd, &sb))
        why = strerror(errno);
    else
        why = not_ours(&sb);
    if (!why)
        return fd;
    warn_once(log, dir, why);
    close(fd);
    return -1;
}

static int make_dir(const char *dir, arena *a, const log_sink *log)
{
    if (file_mkdirs(file_dirname(a, dir), NULL) ||
        (mkdir(dir, 0700) && errno != EEXIST))
        return -1;
    return open_dir(dir, log);
}

const char *kcache_apart(const char *name, arena *a, const log_sink *log)
{
    const char *cache = dir_name(a), *own;
    int fd = cache ? make_dir(cache, a, log) : -1;

    atomic_store(&own_name, name);
    if (fd < 0)
        return NULL;
    close(fd);
    own = own_dir(a);
    fd = make_dir(own, a, log);
    if (fd < 0)
        return NULL;
    close(fd);
    return own;
}

/* --- reading ------------------------------------------------------------- */

static bool read_all(int fd, void *data, size_t n)
{
    char *p = data;

    while (n) {
        ssize_t k = read(fd, p, n);

        if (k == 0 || (k < 0 && errno != EINTR))
            return false;
        p += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
    return true;
}

/* What is wrong with an entry; NULL: nothing, its data is in *data. */
static const char *read_entry(int fd, const kcache_key *key, arena *a,
                              uint8_t **data, size_t *n)
{
    struct stat sb;
    uint8_t sum[16];
    const char *why;
    head h;

    if (fstat(fd, &sb) || !S_ISREG(sb.st_mode))
        return "it is no file";
    if ((why = not_ours(&sb)))
        return why;
    if (sb.st_size < (off_t)sizeof h || !read_all(fd, &h, sizeof h))
        return "it is too short";
    if (memcmp(h.magic, magic, sizeof magic) || h.format != FORMAT ||
        memcmp(&h.key, key, sizeof *key) || h.n_bytes > MAX_DATA ||
        h.n_bytes != (uint64_t)sb.st_size - sizeof h)
        return "its head is damaged";
    *n = h.n_bytes;
    *data = arena_push(a, *n + 1, 1, 64);
    if (!read_all(fd, *data, *n))
        return "it cannot be read";
    digest(&h, *data, sum);
    return memcmp(sum, h.digest, sizeof sum)
               ? "its bytes do not have its digest"
               : NULL;
}

static void remove_entry(int dir, const char *name, const log_sink *log,
                         const char *why)
{
    if (!unlinkat(dir, name, 0))
        log_note(log, "kernel cache: entry %s removed: %s", name, why);
}

/* Non-blocking: a FIFO of that name must not stop us. */
static uint8_t *get_from(int dir, const kcache_key *key, const log_sink *log,
                         arena *a, size_t *n)
{
    char name[NAME_BYTES];
    uint8_t *data = NULL;
    const char *why;
    int fd;

    entry_name(key, name);
    fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        if (errno != ENOENT)
            remove_entry(dir, name, log, "it cannot be opened");
        return NULL;
    }
    why = read_entry(fd, key, a, &data, n);
    if (why)
        remove_entry(dir, name, log, why);
    else
        futimens(fd, NULL); /* used just now: see make_room */
    close(fd);
    return why ? NULL : data;
}

static uint8_t *get_in(const char *name, const kcache_key *key,
                       const log_sink *log, arena *a, size_t *n)
{
    int dir = name && atomic_load(&limit) ? open_dir(name, log) : -1;
    uint8_t *data;

    if (dir < 0)
        return NULL;
    data = get_from(dir, key, log, a, n);
    close(dir);
    return data;
}

uint8_t *kcache_get(const kcache_key *key, const log_sink *log, arena *a,
                    size_t *n)
{
    uint8_t *data = get_in(own_dir(a), key, log, a, n);

    return data || !atomic_load(&own_name)
               ? data
               : get_in(dir_name(a), key, log, a, n);
}

/* --- making room --------------------------------------------------------- */

typedef struct {
    char name[NAME_BYTES];
    struct timespec used;
    uint64_t bytes;
} entry;

typedef struct {
    entry *list;
    size_t n, cap;
    uint64_t bytes;
} listing;

static int by_age(const void *a, const void *b)
{
    const struct timespec *x = &((const entry *)a)->used;
    const struct timespec *y = &((const entry *)b)->used;

    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static bool is_stale(const char *name, const struct stat *sb)
{
    return strstr(name, NEW_SUFFIX) &&
           sb->st_mtim.tv_sec < time(NULL) - STALE_SECONDS;
}

static void list_one(int dir, const char *name, arena *a, listing *l)
{
    struct stat sb;
    entry *e;

    if (strlen(name) >= NAME_BYTES || !strstr(name, ".kernel") ||
        fstatat(dir, name, &sb, AT_SYMLINK_NOFOLLOW))
        return;
    if (is_stale(name, &sb)) {
        unlinkat(dir, name, 0);
        return;
    }
    e = arena_append(a, l->list, l->n, l->cap);
    *e = (entry){.used = sb.st_mtim, .bytes = (uint64_t)sb.st_size};
    memcpy(e->name, name, strlen(name) + 1);
    l->bytes += e->bytes;
}

static void list_entries(int dir, arena *a, listing *l)
{
    int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = again < 0 ? NULL : fdopendir(again);
    const struct dirent *e;

    if (!d) {
        if (again >= 0)
            close(again);
        return;
    }
    while ((e = readdir(d)))
        list_one(dir, e->d_name, a, l);
    closedir(d);
}

/* What the account says that the entries have; false: the folder has to be
 * listed. Files that somebody else removed, or put twice, make the sum too
 * large, which a list puts right. */
static bool accounted(int dir, uint64_t *bytes)
{
    uint64_t list[ACCOUNT_ENTRIES];
    int fd =
        openat(dir, ACCOUNT, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat sb;
    bool ok = fd >= 0 && !fstat(fd, &sb) && S_ISREG(sb.st_mode) &&
              !not_ours(&sb) && sb.st_size > 0 &&
              sb.st_size % (off_t)sizeof *list == 0 &&
              sb.st_size <= (off_t)sizeof list &&
              read_all(fd, list, (size_t)sb.st_size);

    *bytes = 0;
    for (size_t i = 0; ok && i < (size_t)sb.st_size / sizeof *list; i++)
        ok = !__builtin_add_overflow(*bytes, list[i], bytes);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* `how`: O_APPEND, one more entry, whoever else adds one; O_TRUNC, all of them.
 * What fails is put right by the next list. */
static void account(int dir, uint64_t bytes, int how)
{
    int fd = openat(
        dir, ACCOUNT,
        O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | how, 0600);

    if (fd < 0)
        return;
    if (!file_fd_put(fd, &bytes, sizeof bytes))
        unlinkat(dir, ACCOUNT, 0);
    close(fd);
}

/* Before `more` bytes are added: the oldest go. */
static void make_room(int dir, uint64_t more, uint64_t most, arena *a)
{
    listing l = {0};
    uint64_t bytes;

    if (accounted(dir, &bytes) && bytes <= most && more <= most - bytes)
        return;
    list_entries(dir, a, &l);
    if (l.bytes + more > most)
        qsort(l.list, l.n, sizeof *l.list, by_age);
    for (size_t i = 0; i < l.n && l.bytes + more > most; i++)
        if (!unlinkat(dir, l.list[i].name, 0) || errno == ENOENT)
            l.bytes -= l.list[i].bytes;
    account(dir, l.bytes, O_TRUNC);
}

/* --- writing ------------------------------------------------------------- */

/* Written beside and renamed: readers see the old entry or the new one. */
static void write_entry(int dir, const char *dir_path, const head *h,
                        const void *data, arena *a)
{
    char name[NAME_BYTES], *path;
    bool ok;
    int fd;

    entry_name(&h->key, name);
    path = arena_printf(a, "%s/%s" NEW_SUFFIX "XXXXXX", dir_path, name);
    fd = temp_file(path);
    if (fd < 0)
        return;
    ok = file_fd_put(fd, h, sizeof *h) && file_fd_put(fd, data, h->n_bytes);
    ok = !close(fd) && ok && !renameat(AT_FDCWD, path, dir, name);
    if (!ok)
        unlink(path);
    temp_forget(path);
}

static head head_of(const kcache_key *key, const void *data, size_t n)
{
    head h = {
        .format = FORMAT, .head_bytes = sizeof h, .key = *key, .n_bytes = n};

    memcpy(h.magic, magic, sizeof magic);
    digest(&h, data, h.digest);
    return h;
}

void kcache_put(const kcache_key *key, const log_sink *log, const void *data,
                size_t n)
{
    arena *a = arena_create(0);
    const char *path = own_dir(a);
    uint64_t most = atomic_load(&limit);
    int dir = -1;

    if (path && n <= MAX_DATA && sizeof(head) + n <= most)
        dir = make_dir(path, a, log);
    if (dir >= 0) {
        head h = head_of(key, data, n);

        make_room(dir, sizeof h + n, most, a);
        write_entry(dir, path, &h, data, a);
        account(dir, sizeof h + n, O_APPEND);
        close(dir);
    }
    arena_destroy(a);
}
