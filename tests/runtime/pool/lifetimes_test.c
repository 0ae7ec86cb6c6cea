/* Lifetimes to blobs, blobs to sets of memory, sets between threads. */
#include "runtime/pool/lifetimes.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/random.h"

static pool_manager *m;
static pool_group *g;
static vpu_error err;

static void setup(void)
{
    m = pool_manager_create();
    g = pool_group_create(m);
}

static void teardown(void)
{
    pool_manager_destroy(m);
}

static void begin(uint64_t key)
{
    ck_assert_int_eq(pool_manage(g, key, &err), VPU_OK);
}

static void end(uint64_t key, uint64_t bytes, uint64_t alignment)
{
    ck_assert_int_eq(pool_end(g, key, bytes, alignment, &err), VPU_OK);
}

static void finalize(void)
{
    ck_assert_int_eq(pool_finalize(g, &err), VPU_OK);
}

/* One buffer alone in a group. */
static void only(pool_group *group, uint64_t bytes, uint64_t alignment)
{
    g = group;
    begin(1);
    end(1, bytes, alignment);
    finalize();
}

#define REFUSED(call, status, text)                     \
    do {                                                \
        ck_assert_int_eq((call), (status));             \
        ck_assert_int_eq(err.code, (status));           \
        ck_assert_ptr_nonnull(strstr(err.msg, (text))); \
    } while (0)

static void check_blob(const pool_blob *b, uint64_t bytes, uint64_t alignment,
                       size_t owners)
{
    ck_assert_uint_eq(b->bytes, bytes);
    ck_assert_uint_eq(b->alignment, alignment);
    ck_assert_uint_eq(b->owners, owners);
}

static uint32_t blob_of(uint64_t key)
{
    size_t n;
    const pool_mapping *maps = pool_mappings(g, &n);

    for (size_t i = 0; i < n; i++)
        if (maps[i].key == key)
            return maps[i].blob;
    ck_abort_msg("no mapping");
    return 0;
}

/* --- Blobs */

static void three_buffers(void)
{
    begin('a');
    begin('b');
    end('a', 12, 8);
    begin('c');
    end('b', 128, 16);
    end('c', 32, 0);
}

START_TEST(two_blobs)
{
    const pool_mapping *maps;
    size_t n;

    three_buffers();
    ck_assert_ptr_null(pool_group_blobs(g, &n));
    ck_assert_uint_eq(n, 0);
    pool_mappings(g, &n);
    ck_assert_uint_eq(n, 0);
    finalize();
    ck_assert_ptr_nonnull(pool_group_blobs(g, &n));
    ck_assert_uint_eq(n, 2);
    check_blob(&pool_blobs(m, &n)[0], 128, 16, 1);
    check_blob(&pool_blobs(m, &n)[1], 32, 8, 2);
    ck_assert_uint_eq(n, 2);
    maps = pool_mappings(g, &n);
    ck_assert_uint_eq(n, 3);
    ck_assert(maps[0].key == 'a' && maps[0].blob == 1);
    ck_assert(maps[1].key == 'b' && maps[1].blob == 0);
    ck_assert(maps[2].key == 'c' && maps[2].blob == 1);
    ck_assert_uint_eq(pool_usage_of(m).buffers, 172);
    ck_assert_uint_eq(pool_usage_of(m).peak, 160);
    ck_assert_uint_eq(pool_usage_of(m).saved, 12);
}
END_TEST

/* By begin, the small one would take the only free blob, and the largest one
 * would need another: 190. By size the largest is first, and shares with one
 * before it in time. */
START_TEST(by_size_is_better)
{
    size_t n;
    const pool_blob *blobs;

    begin(1);
    end(1, 90, 0);
    begin(2);
    begin(3);
    end(3, 100, 0);
    end(2, 1, 0);
    finalize();
    blobs = pool_blobs(m, &n);
    ck_assert_uint_eq(n, 2);
    check_blob(&blobs[0], 100, 0, 2);
    check_blob(&blobs[1], 1, 0, 1);
    ck_assert(blob_of(1) == 0 && blob_of(2) == 1 && blob_of(3) == 0);
}
END_TEST

/* By size, the first and the last of a chain would share, and nobody else
 * could: 296. Then 99 bytes go where they just fit, and leave 100 for the next.
 */
START_TEST(by_begin_is_better)
{
    size_t n;
    const pool_blob *blobs;

    begin(1);
    begin(2);
    end(1, 100, 0);
    begin(3);
    end(2, 98, 0);
    begin(4);
    end(3, 97, 0);
    end(4, 99, 0);
    begin(5);
    begin(6);
    end(5, 99, 0);
    end(6, 100, 0);
    finalize();
    blobs = pool_blobs(m, &n);
    ck_assert_uint_eq(n, 2);
    check_blob(&blobs[0], 100, 0, 3);
    check_blob(&blobs[1], 99, 0, 3);
    ck_assert(blob_of(1) == 0 && blob_of(3) == 0 && blob_of(6) == 0);
    ck_assert(blob_of(2) == 1 && blob_of(4) == 1 && blob_of(5) == 1);
}
END_TEST

/* Equal sizes: the blob with the earliest owner is the first. */
START_TEST(equal_blobs)
{
    begin(7);
    begin(5);
    end(5, 10, 2);
    end(7, 10, 1);
    finalize();
    ck_assert(blob_of(7) == 0 && blob_of(5) == 1);
}
END_TEST

START_TEST(buffers_of_no_bytes)
{
    size_t n;

    begin(1);
    begin(2);
    end(1, 0, 4);
    end(2, 0, 0);
    finalize();
    check_blob(&pool_blobs(m, &n)[0], 0, 4, 1);
    check_blob(&pool_blobs(m, &n)[1], 0, 0, 1);
    ck_assert_uint_eq(n, 2);
}
END_TEST

START_TEST(empty_group)
{
    size_t n;

    finalize();
    pool_blobs(m, &n);
    ck_assert_uint_eq(n, 0);
    pool_mappings(g, &n);
    ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(groups_share)
{
    pool_group *first = g, *second = pool_group_create(m);
    pool_group *third = pool_group_create(m);
    size_t n;

    three_buffers();
    finalize();
    only(second, 64, 32);
    ck_assert_uint_eq(pool_blobs(m, &n)[0].bytes, 128);
    only(third, 200, 1);
    check_blob(&pool_blobs(m, &n)[0], 200, 32, 3);
    check_blob(&pool_blobs(m, &n)[1], 32, 8, 2);
    ck_assert_uint_eq(n, 2);
    check_blob(&pool_group_blobs(second, &n)[0], 64, 32, 1);
    ck_assert_uint_eq(pool_usage_of(m).buffers, 172 + 64 + 200);
    ck_assert_uint_eq(pool_usage_of(m).peak, 232);
    ck_assert_uint_eq(pool_usage_of(m).saved, 172 + 64 + 200 - 232);

    ck_assert_int_eq(pool_release(third, &err), VPU_OK);
    check_blob(&pool_blobs(m, &n)[0], 128, 32, 2);
    ck_assert_int_eq(pool_release(first, &err), VPU_OK);
    pool_mappings(first, &n);
    ck_assert_uint_eq(n, 0);
    check_blob(&pool_blobs(m, &n)[0], 64, 32, 1);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(pool_release(second, &err), VPU_OK);
    pool_blobs(m, &n);
    ck_assert_uint_eq(n, 0);
    ck_assert_uint_eq(pool_usage_of(m).buffers, 0);
    only(first, 5, 0); /* it records anew */
    ck_assert_uint_eq(pool_blobs(m, &n)[0].bytes, 5);
}
END_TEST

/* --- Errors of recording */

START_TEST(refused)
{
    size_t n;

    REFUSED(pool_end(g, 0x1a, 1, 0, &err), VPU_ERR_INVALID,
            "no buffer with key 0x1a");
    begin(0x1a);
    REFUSED(pool_manage(g, 0x1a, &err), VPU_ERR_INVALID,
            "key 0x1a is managed already");
    REFUSED(pool_end(g, 0x1a, 1, 12, &err), VPU_ERR_INVALID,
            "alignment 12 of the buffer with key 0x1a");
    begin(0x1b);
    begin(0x1c);
    end(0x1a, 3, 0);
    REFUSED(pool_end(g, 0x1a, 4, 0, &err), VPU_ERR_INVALID,
            "key 0x1a ended before");
    REFUSED(pool_manage(g, 0x1a, &err), VPU_ERR_INVALID, "managed already");
    REFUSED(pool_finalize(g, &err), VPU_ERR_INVALID,
            "2 of 3 lifetimes have not ended, the first is that of key 0x1b");
    REFUSED(pool_end(g, 0x1b, UINT64_MAX - 2, 0, &err), VPU_ERR_LIMIT,
            "do not fit 64 bits");
    end(0x1b, UINT64_MAX - 3, (uint64_t)1 << 63);
    end(0x1c, 0, 0);
    finalize();
    finalize(); /* stays as it is */
    check_blob(&pool_blobs(m, &n)[0], UINT64_MAX - 3, (uint64_t)1 << 63, 1);
    check_blob(&pool_blobs(m, &n)[1], 3, 0, 1);
    REFUSED(pool_manage(g, 1, &err), VPU_ERR_INVALID, "is finalized");
    REFUSED(pool_end(g, 0x1a, 1, 0, &err), VPU_ERR_INVALID, "is finalized");
}
END_TEST

/* The sum is that of all groups; a released one no longer counts. */
START_TEST(size_overflow)
{
    pool_group *first = g;

    only(first, UINT64_MAX, 0);
    g = pool_group_create(m);
    begin(1);
    REFUSED(pool_end(g, 1, 1, 0, &err), VPU_ERR_LIMIT, "key 0x1");
    ck_assert_int_eq(pool_release(first, &err), VPU_OK);
    end(1, UINT64_MAX, 0);
}
END_TEST

/* --- Random sequences */

enum { MOST = 300 };

typedef struct {
    uint64_t bytes, alignment;
    unsigned begin, end;
} life;

/* Records n lives by seed; with at most `open` at a time. */
static void record(uint64_t seed, life *lives, unsigned n, unsigned open)
{
    unsigned now[MOST], n_now = 0, next = 0, time = 0;

    while (next < n || n_now) {
        bool more = next < n && n_now < open;

        if (more && (!n_now || random_below(&seed, 2))) {
            begin(next * 4096u);
            lives[next].begin = ++time;
            now[n_now++] = next++;
        } else {
            unsigned at = random_below(&seed, n_now);
            life *l = &lives[now[at]];

            l->bytes = random_below(&seed, 8) ? random_below(&seed, 1000) : 0;
            l->alignment = (1u << random_below(&seed, 8)) & ~1u;
            l->end = ++time;
            end(now[at] * 4096u, l->bytes, l->alignment);
            now[at] = now[--n_now];
        }
    }
}

static void check_lives(const life *lives, unsigned n)
{
    pool_blob largest[MOST] = {0};
    uint64_t all = 0, sum = 0;
    size_t n_blobs, n_maps;
    const pool_blob *blobs = pool_group_blobs(g, &n_blobs);
    const pool_mapping *maps = pool_mappings(g, &n_maps);

    ck_assert_uint_eq(n_maps, n);
    for (unsigned i = 0; i < n; i++) {
        pool_blob *b = &largest[maps[i].blob];

        ck_assert_uint_eq(maps[i].key, i * 4096u);
        ck_assert_uint_lt(maps[i].blob, n_blobs);
        b->owners++;
        b->bytes = lives[i].bytes > b->bytes ? lives[i].bytes : b->bytes;
        if (lives[i].alignment > b->alignment)
            b->alignment = lives[i].alignment;
        all += lives[i].bytes;
        for (unsigned k = 0; k < i; k++)
            if (maps[k].blob == maps[i].blob && lives[k].end > lives[i].begin &&
                lives[i].end > lives[k].begin)
                ck_abort_msg("buffers %u and %u share a blob", k, i);
    }
    for (size_t i = 0; i < n_blobs; i++) {
        check_blob(&blobs[i], largest[i].bytes, largest[i].alignment,
                   largest[i].owners);
        ck_assert_uint_gt(blobs[i].owners, 0);
        ck_assert(!i || blobs[i - 1].bytes >= blobs[i].bytes);
        sum += blobs[i].bytes;
    }
    ck_assert_uint_eq(pool_usage_of(m).buffers, all);
    ck_assert_uint_eq(pool_usage_of(m).peak, sum);
}

START_TEST(random_lives)
{
    static life lives[MOST];
    static pool_mapping before[MOST];
    unsigned n = 1 + (unsigned)_i * 37 % MOST;
    unsigned open = 1 + (unsigned)_i % 13;
    size_t n_maps;

    for (int again = 0; again < 2; again++) {
        const pool_mapping *maps;

        record((uint64_t)_i, lives, n, open);
        finalize();
        check_lives(lives, n);
        maps = pool_mappings(g, &n_maps);
        if (again) /* the same calls, the same blobs */
            ck_assert_int_eq(memcmp(before, maps, n_maps * sizeof *maps), 0);
        memcpy(before, maps, n_maps * sizeof *maps);
        ck_assert_int_eq(pool_release(g, &err), VPU_OK);
    }
}
END_TEST

/* --- Sets */

/* A heap that counts, and that fails at a call. */
typedef struct {
    unsigned calls, fail_at; /* 0 = never */
    int blocks;
    uint64_t bytes;
    uint64_t alignments; /* all that were asked for, as bits */
} heap;

static void *take(void *user, uint64_t bytes, uint64_t alignment)
{
    heap *h = user;
    void *p = NULL;

    ck_assert_uint_gt(bytes, 0);
    ck_assert(alignment && !(alignment & (alignment - 1)));
    if (++h->calls == h->fail_at)
        return NULL;
    ck_assert(!posix_memalign(&p, alignment < 8 ? 8 : alignment, bytes));
    h->blocks++;
    h->bytes += bytes;
    h->alignments |= alignment;
    return p;
}

static void drop(void *user, void *memory, uint64_t bytes)
{
    heap *h = user;

    h->blocks--;
    h->bytes -= bytes;
    free(memory);
}

static void populate(heap *h, uint32_t n)
{
    pool_memory memory = {take, drop, h};

    ck_assert_int_eq(pool_populate(m, n, &memory, &err), VPU_OK);
    ck_assert_uint_eq(pool_n_sets(m), n);
}

static void *address_of(uint64_t key, uint32_t set)
{
    void *p = &err;

    ck_assert_int_eq(pool_address(g, key, set, &p, &err), VPU_OK);
    return p;
}

START_TEST(addresses)
{
    heap h = {0};
    uint32_t sets[2];

    three_buffers();
    begin('z');
    begin('y');
    begin('x');
    begin('w');
    end('w', 8, 0);
    end('x', 0, 0);
    end('y', 2, 0);
    end('z', 4, 0);
    finalize();
    populate(&h, 2);
    ck_assert_uint_eq(h.alignments, 16 | 8 | 1);
    ck_assert_int_eq(h.blocks, 6);
    ck_assert_uint_eq(h.bytes, 2 * (128 + 32 + 2));
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_int_eq(pool_acquire(m, &sets[i], &err), VPU_OK);
        ck_assert_uint_eq(sets[i], i);
        memset(address_of('b', i), 1, 128);
        memset(address_of('c', i), 2, 32);
        ck_assert_ptr_eq(address_of('a', i), address_of('c', i));
        ck_assert_uint_eq((uintptr_t)address_of('b', i) % 16, 0);
        ck_assert_uint_eq((uintptr_t)address_of('a', i) % 8, 0);
    }
    ck_assert_ptr_ne(address_of('b', 0), address_of('b', 1));
    ck_assert_ptr_ne(address_of('b', 0), address_of('a', 0));
    ck_assert_ptr_null(address_of('x', 1)); /* alone in the fourth blob */
    pool_manager_destroy(m);                /* what is acquired, too */
    ck_assert_int_eq(h.blocks, 0);
    ck_assert_uint_eq(h.bytes, 0);
    m = NULL;
}
END_TEST

/* The callback without memory at each of the calls. */
START_TEST(no_memory)
{
    heap h = {.fail_at = (unsigned)_i};
    pool_memory memory = {take, drop, &h};
    uint32_t set;

    three_buffers();
    finalize();
    REFUSED(pool_populate(m, 2, &memory, &err), VPU_ERR_NOMEM,
            _i % 2 ? "128 bytes of blob 0" : "32 bytes of blob 1");
    ck_assert_ptr_nonnull(strstr(err.msg, _i < 3 ? "set 0" : "set 1"));
    ck_assert_uint_eq(h.calls, (unsigned)_i);
    ck_assert_int_eq(h.blocks, 0);
    ck_assert_uint_eq(h.bytes, 0);
    ck_assert_uint_eq(pool_n_sets(m), 0);
    REFUSED(pool_acquire(m, &set, &err), VPU_ERR_INVALID, "no sets");
    populate(&h, 2);
    ck_assert_int_eq(pool_clear(m, &err), VPU_OK);
    ck_assert_int_eq(h.blocks, 0);
}
END_TEST

START_TEST(sets_refused)
{
    heap h = {0};
    pool_memory memory = {take, drop, &h};
    pool_group *late = pool_group_create(m);
    uint32_t set = 77;
    void *p;

    three_buffers();
    REFUSED(pool_populate(m, 1, &memory, &err), VPU_ERR_INVALID,
            "a group of 3 buffers is not finalized");
    finalize();
    REFUSED(pool_try_acquire(m, &set, &err), VPU_ERR_INVALID, "no sets");
    ck_assert_uint_eq(set, 77);
    populate(&h, 0);
    ck_assert_int_eq(pool_clear(m, &err), VPU_OK);
    populate(&h, 1);
    REFUSED(pool_populate(m, 1, &memory, &err), VPU_ERR_INVALID, "has 1 sets");
    REFUSED(pool_release(g, &err), VPU_ERR_INVALID, "clear them first");
    REFUSED(pool_finalize(late, &err), VPU_ERR_INVALID, "clear them first");
    REFUSED(pool_give_back(m, 0, &err), VPU_ERR_INVALID, "acquired set 0");
    REFUSED(pool_address(g, 'a', 0, &p, &err), VPU_ERR_INVALID, "set 0");
    ck_assert_int_eq(pool_try_acquire(m, &set, &err), VPU_OK);
    REFUSED(pool_address(g, 'q', 0, &p, &err), VPU_ERR_INVALID, "key 0x71");
    REFUSED(pool_address(late, 'a', 0, &p, &err), VPU_ERR_INVALID, "key 0x61");
    REFUSED(pool_address(g, 'a', 1, &p, &err), VPU_ERR_INVALID, "set 1");
    REFUSED(pool_try_acquire(m, &set, &err), VPU_ERR_LIMIT, "all 1 sets");
    REFUSED(pool_clear(m, &err), VPU_ERR_INVALID, "1 sets are acquired");
    ck_assert_int_eq(h.blocks, 2);
    REFUSED(pool_give_back(m, 1, &err), VPU_ERR_INVALID, "set 1");
    ck_assert_int_eq(pool_give_back(m, 0, &err), VPU_OK);
    REFUSED(pool_give_back(m, 0, &err), VPU_ERR_INVALID, "set 0");
    ck_assert_int_eq(pool_clear(m, &err), VPU_OK);
    ck_assert_int_eq(h.blocks, 0);
    ck_assert_uint_eq(pool_n_sets(m), 0);
    ck_assert_int_eq(pool_release(g, &err), VPU_OK);
}
END_TEST

/* --- Threads */

enum { N_THREADS = 8, N_TURNS = 1000, N_SETS = 3 };

static atomic_int inside, owner[N_SETS], wrong;

static void *turns(void *user)
{
    vpu_error mine;
    bool tries = user != NULL;

    for (int i = 0; i < N_TURNS; i++) {
        uint32_t set;
        void *p = NULL;
        vpu_status st = tries ? pool_try_acquire(m, &set, &mine)
                              : pool_acquire(m, &set, &mine);

        if (tries && st == VPU_ERR_LIMIT) {
            i--;
            continue;
        }
        wrong += st || set >= N_SETS;
        wrong += atomic_fetch_add(&inside, 1) >= N_SETS;
        wrong += atomic_exchange(&owner[set], 1) != 0;
        wrong += pool_address(g, 'b', set, &p, &mine) || !p;
        if (p)
            memset(p, i, 128); /* two at a time are seen by ThreadSanitizer */
        wrong += atomic_exchange(&owner[set], 0) != 1;
        atomic_fetch_sub(&inside, 1);
        wrong += pool_give_back(m, set, &mine) != VPU_OK;
    }
    return NULL;
}

START_TEST(many_threads)
{
    pthread_t threads[N_THREADS];
    heap h = {0};

    three_buffers();
    finalize();
    populate(&h, N_SETS);
    for (int i = 0; i < N_THREADS; i++)
        ck_assert(!pthread_create(&threads[i], NULL, turns, i % 4 ? NULL : &h));
    for (int i = 0; i < N_THREADS; i++)
        ck_assert(!pthread_join(threads[i], NULL));
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_eq(pool_clear(m, &err), VPU_OK);
    ck_assert_int_eq(h.blocks, 0);
}
END_TEST

static void *one_turn(void *user)
{
    vpu_error mine;
    uint32_t set;
    vpu_status st = pool_acquire(m, &set, &mine);

    (void)user;
    if (st)
        wrong += st != VPU_ERR_INVALID;
    else
        wrong += pool_give_back(m, set, &mine) != VPU_OK;
    return NULL;
}

/* Whoever waits when the sets are cleared is told so and does not hang. */
START_TEST(cleared_while_others_wait)
{
    pthread_t threads[N_THREADS];
    heap h = {0};
    uint32_t set;

    three_buffers();
    finalize();
    populate(&h, 1);
    ck_assert_int_eq(pool_acquire(m, &set, &err), VPU_OK);
    for (int i = 0; i < N_THREADS; i++)
        ck_assert(!pthread_create(&threads[i], NULL, one_turn, NULL));
    usleep(20000); /* most of them wait by now */
    ck_assert_int_eq(pool_give_back(m, set, &err), VPU_OK);
    while (pool_clear(m, &err))
        ;
    for (int i = 0; i < N_THREADS; i++)
        ck_assert(!pthread_join(threads[i], NULL));
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_eq(h.blocks, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lifetimes");
    TCase *c = tcase_create("lifetimes");
    SRunner *sr = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, two_blobs);
    tcase_add_test(c, by_size_is_better);
    tcase_add_test(c, by_begin_is_better);
    tcase_add_test(c, equal_blobs);
    tcase_add_test(c, buffers_of_no_bytes);
    tcase_add_test(c, empty_group);
    tcase_add_test(c, groups_share);
    tcase_add_test(c, refused);
    tcase_add_test(c, size_overflow);
    tcase_add_loop_test(c, random_lives, 0, 60);
    tcase_add_test(c, addresses);
    tcase_add_loop_test(c, no_memory, 1, 5);
    tcase_add_test(c, sets_refused);
    tcase_add_test(c, many_threads);
    tcase_add_test(c, cleared_while_others_wait);
    suite_add_tcase(s, c);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
