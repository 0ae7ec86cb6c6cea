/* The kernel cache: what its keys see, damaged entries, whose it is, how much
 * room it takes, several processes at once. */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/temp.h"
#include "isa/text.h"
#include "sim/compiler/kernel.h"
#include "sim/compiler/store/kcache.h"
#include "sim/exec/exec.h"
#include "tests/support/util.h"

static const char kernel_cl[] =
    "#include \"part.h\"\n"
    "__kernel void add(__global int *d) { d[get_global_id(0)] = N + PART; }\n"
    "#ifdef TWO\n__kernel void sub(__global int *d) { d[0] = 5; }\n#endif\n";

static arena *a;
static test_log noticed;
static char *dir, *cache, *source, *header;

static void put_text(const char *path, const char *text)
{
    vpu_error err = {0};

    ck_assert_msg(!file_write(path, text, strlen(text), &err), "%s", err.msg);
}

static void setup(void)
{
    vpu_error err = {0};

    a = arena_create(0);
    test_log_init(&noticed);
    ck_assert_msg(!temp_dir(a, "vpu-cache-test-", &dir, &err), "%s", err.msg);
    setenv("XDG_CACHE_HOME", dir, 1);
    cache = arena_printf(a, "%s/vpusim", dir);
    source = arena_printf(a, "%s/k.cl", dir);
    header = arena_printf(a, "%s/part.h", dir);
    put_text(source, kernel_cl);
    put_text(header, "#define PART 100\n");
}

static void teardown(void)
{
    if (chmod(cache, 0700))
        unlink(cache);
    temp_dir_remove(cache);
    unlink(cache);
    temp_dir_remove(dir);
    test_log_fini(&noticed);
    arena_destroy(a);
}

/* --- compiling ----------------------------------------------------------- */

typedef struct {
    bool from_cache;
    const uint8_t *program;
    size_t n;
} result;

static result compile(const char *entry, const char *option)
{
    const char *options[] = {option};
    kernel_compile_config cfg = {.user.options = options,
                                 .user.n_options = 1,
                                 .hooks = &exec_hooks,
                                 .log = &noticed.sink};
    vpu_error err = {0};
    const kernel_source of = {.path = source, .entry = entry};
    sim_kernel *k;
    result r;

    ck_assert_msg(!kernel_compile(&of, &cfg, a, &k, &err), "%s", err.msg);
    r = (result){k->from_cache, k->program, k->program_bytes};
    kernel_release(k);
    return r;
}

/* The whole .bin; from_cache is not told. */
static result build_bin(const char *entry, const char *option)
{
    const char *options[] = {option};
    kernel_compile_config cfg = {
        .user.options = options, .user.n_options = 1, .log = &noticed.sink};
    const kernel_source of = {.path = source, .entry = entry};
    vpu_error err = {0};
    kernel_bin bin;

    ck_assert_msg(!kernel_build_bin(&of, &cfg, a, &bin, &err), "%s", err.msg);
    return (result){.program = bin.bytes, .n = bin.n};
}

static result (*const makers[])(const char *, const char *) = {compile,
                                                               build_bin};

static bool same(result x, result y)
{
    return x.n == y.n && !memcmp(x.program, y.program, x.n);
}

/* The only entry's file. */
static char *entry_path(void)
{
    DIR *d = opendir(cache);
    const struct dirent *e;
    char *path = NULL;

    ck_assert_ptr_nonnull(d);
    while ((e = readdir(d)))
        if (e->d_name[0] != '.') {
            ck_assert_msg(!path, "%s and %s", path, e->d_name);
            path = arena_printf(a, "%s/%s", cache, e->d_name);
        }
    closedir(d);
    ck_assert_ptr_nonnull(path);
    return path;
}

START_TEST(hit_is_the_same)
{
    result first = compile("add", "-DN=1"), second = compile("add", "-DN=1");

    ck_assert(!first.from_cache);
    ck_assert(second.from_cache);
    ck_assert(same(first, second));
}
END_TEST

/* --- what keys see ------------------------------------------------------- */

START_TEST(options_count)
{
    result one = makers[_i]("add", "-DN=1"), two = makers[_i]("add", "-DN=2");

    ck_assert(!two.from_cache);
    ck_assert(!same(one, two));
    ck_assert(same(one, makers[_i]("add", "-DN=1")));
}
END_TEST

static sim_kernel *compile_for(const uint32_t *local)
{
    const char *options[] = {"-DN=1"};
    const kernel_compile_config cfg = {.user.options = options,
                                       .user.n_options = 1,
                                       .hooks = &exec_hooks,
                                       .local = local};
    vpu_error err = {0};
    sim_kernel *k;

    ck_assert_msg(!kernel_compile(&(const kernel_source){.path = source}, &cfg,
                                  a, &k, &err),
                  "%s", err.msg);
    return k;
}

/* Words in groups of multiples of four run vectorized. Code and program are
 * there for the sizes they were asked for, and no others. */
START_TEST(local_sizes_count)
{
    static const struct {
        uint32_t local[3];
        bool vectorized, cached;
    } asked[] = {{{12, 1, 1}, true, false},
                 {{1, 2, 3}, false, false},
                 {{20, 7, 1}, true, true},
                 {{7, 1, 1}, false, true}};
    const uint32_t even[] = {4, 1, 1}, odd[] = {3, 1, 1};
    sim_kernel *all = compile_for(NULL);

    ck_assert(all->variants[SIM_VECTORIZED].present);
    ck_assert(!sim_lacks_code(all, even) && !sim_lacks_code(all, odd));
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        sim_kernel *k = compile_for(asked[i].local);
        const sim_variant *v = k->variants;
        const isa_function *programs[SIM_N_VARIANTS];
        vpu_error err;

        ck_assert(!kernel_programs(k, a, programs, &err));
        ck_assert_int_eq(k->from_cache, asked[i].cached);
        ck_assert_int_eq(sim_lacks_code(k, even), !asked[i].vectorized);
        ck_assert_int_eq(sim_lacks_code(k, odd), asked[i].vectorized);
        ck_assert(k->code && k->code_bytes < all->code_bytes);
        for (int n = 0; n < SIM_N_VARIANTS; n++) {
            const sim_variant *w = &all->variants[n];
            bool runs;

            ck_assert_int_eq(v[n].present, w->present);
            ck_assert_uint_eq(v[n].factor, w->factor);
            runs = sim_runs_variant(k, (sim_variant_kind)n, asked[i].local);
            ck_assert_uint_eq(v[n].n_bundles, runs ? w->n_bundles : 0);
            ck_assert_uint_eq(v[n].stack_bytes, runs ? w->stack_bytes : 0);
            ck_assert_int_eq(programs[n] != NULL, runs);
        }
        ck_assert_uint_lt(k->program_bytes, all->program_bytes);
        kernel_release(k);
    }
    kernel_release(all);
}
END_TEST

/* Loops whose results are computed without the loop, in wider integers than a
 * SHAVE has; and what an item keeps across a barrier. */
static const char *const shared_kernels[] = {
    kernel_cl,
    "__kernel void sum(__global const int *in, __global int *out) {\n"
    "    long n = in[0], s = 1;\n"
    "    for (long k = 0; k < n; k++) s += k * k;\n"
    "    out[get_global_id(0)] = (int)s;\n"
    "}\n",
    "__kernel void turn(__global const float *in, __global float *out) {\n"
    "    __local float part[64];\n"
    "    uint i = get_local_id(0), n = get_local_size(0);\n"
    "    float own = in[get_global_id(0)] * 3.0f;\n"
    "    part[i] = own;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    out[get_global_id(0)] = own - part[n - 1 - i];\n"
    "}\n"};

static char *program_text(const sim_kernel *k, int variant)
{
    const isa_function *programs[SIM_N_VARIANTS];
    vpu_error err;
    size_t n;
    char *text;

    ck_assert(!kernel_programs(k, a, programs, &err));
    ck_assert_ptr_nonnull(programs[variant]);
    n = isa_print(programs[variant], NULL, 0) + 1;
    text = arena_push(a, n, 1, 1);
    isa_print(programs[variant], text, n);
    return text;
}

/* A variant is the same whether the others are built beside it or not. */
START_TEST(built_alone_as_among_others)
{
    static const uint32_t locals[][3] = {{16, 1, 1}, {7, 1, 1}};
    sim_kernel *all;

    put_text(source, shared_kernels[_i]);
    all = compile_for(NULL);
    ck_assert(all->variants[SIM_VECTORIZED].present);
    for (int l = 0; l < 2; l++) {
        sim_kernel *k = compile_for(locals[l]);
        sim_variant_kind v = sim_pick_variant(k, locals[l]);

        ck_assert_int_eq(v, l ? SIM_SCALAR : SIM_VECTORIZED);
        ck_assert_str_eq(program_text(k, v), program_text(all, v));
        ck_assert_uint_eq(k->variants[v].item_bytes,
                          all->variants[v].item_bytes);
        ck_assert(_i != 2 || k->variants[v].item_bytes);
        kernel_release(k);
    }
    kernel_release(all);
}
END_TEST

START_TEST(included_files_count)
{
    result one = makers[_i]("add", "-DN=1"), two;

    put_text(header, "#define PART 200\n");
    two = makers[_i]("add", "-DN=1");
    ck_assert(!two.from_cache);
    ck_assert(!same(one, two));
    put_text(header, "#define PART 100\n");
    ck_assert(same(one, makers[_i]("add", "-DN=1")));
}
END_TEST

START_TEST(included_file_must_be_there)
{
    const char *options[] = {"-DN=1"};
    kernel_compile_config cfg = {.user.options = options, .user.n_options = 1};
    const kernel_source of = {.path = source, .entry = "add"};
    vpu_error err = {0};
    sim_kernel *k;

    compile("add", "-DN=1");
    unlink(header);
    ck_assert_int_eq(kernel_compile(&of, &cfg, a, &k, &err), VPU_ERR_COMPILE);
}
END_TEST

START_TEST(source_counts)
{
    result one = makers[_i]("add", "-DN=1"), two;

    put_text(source, "__kernel void add(__global int *d) { d[1] = 7; }\n");
    two = makers[_i]("add", "-DN=1");
    ck_assert(!two.from_cache);
    ck_assert(!same(one, two));
}
END_TEST

START_TEST(entry_counts)
{
    result one, two;

    put_text(header, "#define PART 1\n#define N 1\n#define TWO\n");
    one = makers[_i]("add", "-DM=1");
    two = makers[_i]("sub", "-DM=1");
    ck_assert(!two.from_cache);
    ck_assert(!same(one, two));
}
END_TEST

/* --- damaged entries ----------------------------------------------------- */

static char *read_file(const char *path, size_t *n)
{
    vpu_error err = {0};
    char *data;

    ck_assert_msg(!file_read(path, 1 << 26, a, &data, n, &err), "%s", err.msg);
    return data;
}

/* In place: mode and owner stay. */
static void overwrite(const char *path, const char *data, size_t n)
{
    FILE *f = fopen(path, "wb");

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fwrite(data, 1, n, f), n);
    ck_assert(!fclose(f));
}

static void expect_replaced(result (*make)(const char *, const char *),
                            const char *path, const char *good, size_t n,
                            result right, const char *what, size_t at)
{
    result r = make("add", "-DN=1");
    size_t n_now;
    const char *now = read_file(path, &n_now);

    ck_assert_msg(!r.from_cache, "%s %zu: taken from the cache", what, at);
    ck_assert_msg(same(r, right), "%s %zu: another result", what, at);
    ck_assert_msg(n_now == n && !memcmp(now, good, n), "%s %zu: entry stays",
                  what, at);
}

enum { N_FLIPS = 48 };

START_TEST(damaged_entry_is_replaced)
{
    result right = makers[_i]("add", "-DN=1");
    char *path = entry_path(), *good, *bad;
    size_t n;

    good = read_file(path, &n);
    bad = arena_memdup(a, good, n);
    for (size_t k = 0; k < N_FLIPS; k++) {
        size_t at = k < 8 ? k * 8 : k * n / N_FLIPS; /* the head, densely */

        bad[at] ^= (char)(1 << k % 8);
        overwrite(path, bad, n);
        bad[at] = good[at];
        expect_replaced(makers[_i], path, good, n, right, "bit flip at", at);
    }
    ck_assert_int_eq(test_log_count(&noticed, "note: kernel cache: entry"),
                     N_FLIPS);
}
END_TEST

START_TEST(truncated_entry_is_replaced)
{
    result right = compile("add", "-DN=1");
    char *path = entry_path(), *good;
    size_t n, lengths[] = {0, 1, 63, 64, 65, 1000, 0, 0};

    good = read_file(path, &n);
    lengths[6] = n / 2;
    lengths[7] = n - 1;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        overwrite(path, good, lengths[k]);
        expect_replaced(compile, path, good, n, right, "cut at", lengths[k]);
    }
    overwrite(path, good, n);
    ck_assert(compile("add", "-DN=1").from_cache);
}
END_TEST

/* An entry of another key under this one's name. */
START_TEST(entry_of_another_key)
{
    result one = compile("add", "-DN=1");
    char *path = entry_path(), *other;
    const char *aside = arena_printf(a, "%s/aside", dir);

    ck_assert(!rename(path, aside));
    compile("add", "-DN=2");
    other = entry_path();
    ck_assert(!rename(other, path));
    ck_assert(same(one, compile("add", "-DN=1")));
    ck_assert_int_eq(test_log_count(&noticed, "its head is damaged"), 1);
}
END_TEST

/* --- whose it is --------------------------------------------------------- */

static void expect_refused(const char *why)
{
    ck_assert(!compile("add", "-DN=1").from_cache);
    ck_assert(!compile("add", "-DN=1").from_cache);
    ck_assert_msg(test_log_count(&noticed, why) == 1, "'%s' in\n%s", why,
                  str_text(&noticed.lines));
    ck_assert_int_eq(test_log_count(&noticed, "is not used"), 1);
}

START_TEST(folder_of_others)
{
    static const mode_t modes[] = {0720, 0702, 0777};

    compile("add", "-DN=1");
    ck_assert(!chmod(cache, modes[_i]));
    expect_refused("other users may write to it");
}
END_TEST

START_TEST(folder_is_a_link)
{
    const char *there = arena_printf(a, "%s/there", dir);

    compile("add", "-DN=1");
    ck_assert(!rename(cache, there));
    ck_assert(!symlink(there, cache));
    expect_refused("it is no folder");
    unlink(cache);
    ck_assert(!rename(there, cache));
}
END_TEST

START_TEST(folder_is_a_file)
{
    put_text(cache, "");
    expect_refused("it is no folder");
}
END_TEST

START_TEST(folder_of_another_user)
{
    if (geteuid())
        return; /* only root can give it away */
    compile("add", "-DN=1");
    ck_assert(!chown(cache, 12345, (gid_t)-1));
    expect_refused("belongs to another user");
}
END_TEST

START_TEST(entry_of_others)
{
    char *path;

    compile("add", "-DN=1");
    path = entry_path();
    ck_assert(!chmod(path, 0622));
    ck_assert(!compile("add", "-DN=1").from_cache);
    ck_assert_int_eq(test_log_count(&noticed, "other users may write"), 1);
    ck_assert(compile("add", "-DN=1").from_cache);
}
END_TEST

START_TEST(entry_is_no_file)
{
    char *path;

    compile("add", "-DN=1");
    path = entry_path();
    unlink(path);
    if (_i)
        ck_assert(!mkfifo(path, 0600));
    else
        ck_assert(!symlink("/dev/zero", path));
    ck_assert(!compile("add", "-DN=1").from_cache);
    ck_assert(compile("add", "-DN=1").from_cache);
}
END_TEST

START_TEST(only_this_user_has_a_say)
{
    struct stat sb;

    umask(0);
    compile("add", "-DN=1");
    ck_assert(!stat(cache, &sb));
    ck_assert_int_eq(sb.st_mode & 0777, 0700);
    ck_assert(!stat(entry_path(), &sb));
    ck_assert_int_eq(sb.st_mode & 0777, 0600);
    ck_assert(compile("add", "-DN=1").from_cache);
}
END_TEST

/* --- room ---------------------------------------------------------------- */

enum { PIECE = 1000, ROOM = 3 * (PIECE + 64) };

static kcache_key key_of(int i)
{
    str s = {0};
    kcache_key key;

    kcache_part(&s, &i, sizeof i);
    key = kcache_key_of(&s);
    str_free(&s);
    return key;
}

static void keep(int i)
{
    kcache_key key = key_of(i);
    char data[PIECE];

    memset(data, i, sizeof data);
    kcache_put(&key, &noticed.sink, data, sizeof data);
    usleep(20000); /* ages differ */
}

static bool is_kept(int i)
{
    kcache_key key = key_of(i);
    size_t n = 0;
    const uint8_t *data = kcache_get(&key, &noticed.sink, a, &n);

    if (data) {
        ck_assert_int_eq(n, PIECE);
        for (size_t k = 0; k < n; k++)
            ck_assert_int_eq(data[k], (uint8_t)i);
    }
    return data != NULL;
}

START_TEST(least_recently_used_go)
{
    kcache_limit(ROOM);
    for (int i = 0; i < 3; i++)
        keep(i);
    ck_assert(is_kept(0)); /* used again: now 1 is the oldest */
    usleep(20000);
    keep(3);
    ck_assert(!is_kept(1));
    ck_assert(is_kept(0) && is_kept(2) && is_kept(3));
    for (int i = 4; i < 20; i++)
        keep(i);
    ck_assert(is_kept(17) && is_kept(18) && is_kept(19));
    for (int i = 0; i < 17; i++)
        ck_assert(!is_kept(i));
}
END_TEST

/* What has been put is not counted anew each time; whatever that count says,
 * the limit holds and what fits is kept. */
START_TEST(wrong_accounts)
{
    static const char *const texts[] = {"", "xyz",
                                        "\xff\xff\xff\xff"
                                        "\xff\xff\xff\x7f"};
    const char *path = arena_printf(a, "%s/.account", cache);

    kcache_limit(ROOM);
    for (int i = 0; i < 3; i++)
        keep(i);
    for (int i = 0; i < 4; i++) {
        unlink(path);
        if (i < 3)
            put_text(path, texts[i]);
        else
            ck_assert(!symlink("/dev/zero", path));
        keep(3 + i);
        ck_assert(!is_kept(i));
        for (int k = 1; k < 4; k++) {
            ck_assert_msg(is_kept(i + k), "%d: %d", i, k);
            usleep(20000); /* used now: ages differ */
        }
    }
}
END_TEST

/* Many entries, and the folder is looked through now and then only. */
START_TEST(many_entries)
{
    enum { MANY = 3000 };
    struct timespec begin, end;
    double seconds;

    kcache_limit(KCACHE_DEFAULT_BYTES);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    for (int i = 0; i < MANY; i++) {
        kcache_key key = key_of(i);

        kcache_put(&key, &noticed.sink, "data", 4);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    seconds = (double)(end.tv_sec - begin.tv_sec) +
              (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
    if (getenv("VPU_TIMED"))
        ck_assert_double_lt(seconds, 2);
    for (int i = 0; i < MANY; i++) {
        kcache_key key = key_of(i);
        size_t n;

        ck_assert(kcache_get(&key, &noticed.sink, a, &n) && n == 4);
    }
}
END_TEST

START_TEST(too_large_for_the_limit)
{
    kcache_limit(PIECE);
    keep(1);
    ck_assert(!is_kept(1));
    kcache_limit(PIECE + 64);
    keep(1);
    ck_assert(is_kept(1));
}
END_TEST

START_TEST(limit_of_zero_is_no_cache)
{
    kcache_limit(0);
    keep(1);
    ck_assert(!is_kept(1));
    ck_assert(!file_exists(cache));
}
END_TEST

/* What a process puts apart it finds, with what the cache has; others do not.
 */
START_TEST(a_part_of_its_own)
{
    int status;

    keep(1);
    if (!fork()) {
        const char *own = kcache_apart("own", a, &noticed.sink);
        bool good = own && !strcmp(own, arena_printf(a, "%s/own", cache));

        keep(2);
        _exit(!(good && is_kept(1) && is_kept(2)));
    }
    ck_assert(wait(&status) > 0 && !status);
    ck_assert(is_kept(1) && !is_kept(2));
}
END_TEST

START_TEST(a_part_of_others)
{
    ck_assert(!mkdir(cache, 0700) &&
              !mkdir(arena_printf(a, "%s/own", cache), 0700) &&
              !chmod(arena_printf(a, "%s/own", cache), 0777));
    ck_assert(!kcache_apart("own", a, &noticed.sink));
    ck_assert_int_eq(test_log_count(&noticed, "other users may write"), 1);
    keep(1);
    ck_assert(!is_kept(1));
}
END_TEST

START_TEST(unfinished_files_go)
{
    const char *old = arena_printf(a, "%s/00.kernel.new-aaaaaa", cache);
    const char *young = arena_printf(a, "%s/00.kernel.new-bbbbbb", cache);
    struct timespec times[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};

    keep(1);
    put_text(old, "");
    put_text(young, "");
    ck_assert(!utimensat(AT_FDCWD, old, times, 0));
    unlink(arena_printf(a, "%s/.account", cache)); /* the folder is listed */
    keep(2);
    ck_assert(!file_exists(old));
    ck_assert(file_exists(young));
    ck_assert(is_kept(1) && is_kept(2));
}
END_TEST

/* --- several processes --------------------------------------------------- */

enum { N_PROCESSES = 4, N_ROUNDS = 400, N_KEYS = 6 };

/* Puts and gets in a cache with room for half the keys; one process damages
 * what it finds. */
static _Noreturn void use_cache(int who)
{
    for (int i = 0; i < N_ROUNDS; i++) {
        kcache_key key = key_of((i * (who + 1)) % N_KEYS);
        char data[PIECE];

        memset(data, (i * (who + 1)) % N_KEYS, sizeof data);
        if (i % 3 == 0)
            kcache_put(&key, &noticed.sink, data, sizeof data);
        else
            is_kept((i * (who + 1)) % N_KEYS);
    }
    exit(0);
}

static void damage_entries(void)
{
    DIR *d = opendir(cache);
    const struct dirent *e;

    while (d && (e = readdir(d))) {
        FILE *f = fopen(arena_printf(a, "%s/%s", cache, e->d_name), "r+b");

        if (f && !fseek(f, 100, SEEK_SET))
            fputs("damage", f);
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
}

START_TEST(several_processes)
{
    pid_t pids[N_PROCESSES];

    kcache_limit(ROOM);
    for (int i = 0; i < N_PROCESSES; i++) {
        pids[i] = fork();
        ck_assert_int_ge(pids[i], 0);
        if (!pids[i])
            use_cache(i);
    }
    for (int i = 0; i < 20; i++) {
        damage_entries();
        usleep(2000);
    }
    for (int i = 0; i < N_PROCESSES; i++) {
        int status;

        ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
        ck_assert_int_eq(status, 0);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kernel cache");
    TCase *c = tcase_create("all");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 120);
    tcase_add_test(c, hit_is_the_same);
    tcase_add_loop_test(c, options_count, 0, 2);
    tcase_add_test(c, local_sizes_count);
    tcase_add_loop_test(c, built_alone_as_among_others, 0, 3);
    tcase_add_loop_test(c, included_files_count, 0, 2);
    tcase_add_test(c, included_file_must_be_there);
    tcase_add_loop_test(c, source_counts, 0, 2);
    tcase_add_loop_test(c, entry_counts, 0, 2);
    tcase_add_loop_test(c, damaged_entry_is_replaced, 0, 2);
    tcase_add_test(c, truncated_entry_is_replaced);
    tcase_add_test(c, entry_of_another_key);
    tcase_add_loop_test(c, folder_of_others, 0, 3);
    tcase_add_test(c, folder_is_a_link);
    tcase_add_test(c, folder_is_a_file);
    tcase_add_test(c, folder_of_another_user);
    tcase_add_test(c, entry_of_others);
    tcase_add_loop_test(c, entry_is_no_file, 0, 2);
    tcase_add_test(c, only_this_user_has_a_say);
    tcase_add_test(c, least_recently_used_go);
    tcase_add_test(c, wrong_accounts);
    tcase_add_test(c, many_entries);
    tcase_add_test(c, too_large_for_the_limit);
    tcase_add_test(c, limit_of_zero_is_no_cache);
    tcase_add_test(c, a_part_of_its_own);
    tcase_add_test(c, a_part_of_others);
    tcase_add_test(c, unfinished_files_go);
    tcase_add_test(c, several_processes);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
