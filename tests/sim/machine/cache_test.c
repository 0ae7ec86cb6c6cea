/* Cache tags: sequences by hand, and random streams against a naive model. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sim/machine/cache.h"

static arena *mem;
static mach_desc desc;
static mach_cache *c;
static vpu_error err;

static void setup(void)
{
    mem = arena_create(0);
    ck_assert(!mach_desc_load(NULL, mem, &desc, &err));
}
static void teardown(void)
{
    mach_cache_destroy(c);
    arena_destroy(mem);
}
static void make(uint32_t n_sharing)
{
    ck_assert_msg(!mach_cache_create(&desc, n_sharing, &c, &err), "%s",
                  err.msg);
}
static void expect(uint32_t l1, uint32_t l2, uint32_t fills, uint32_t sfills,
                   uint32_t wb)
{
    mach_mem_counts n = mach_cache_take(c);

    ck_assert_uint_eq(n.load_l1_hits, l1);
    ck_assert_uint_eq(n.load_l2_hits, l2);
    ck_assert_uint_eq(n.load_fills, fills);
    ck_assert_uint_eq(n.store_fills, sfills);
    ck_assert_uint_eq(n.write_backs, wb);
}

/* L1 lines are 32 bytes, L2 lines 64. */
START_TEST(lines)
{
    make(1);
    mach_cache_load(c, 0x1000, 16);
    expect(0, 0, 1, 0, 0);
    mach_cache_load(c, 0x1010, 16);
    expect(1, 0, 0, 0, 0);
    mach_cache_load(c, 0x1020, 4); /* the L2 line's other half */
    expect(0, 1, 0, 0, 0);
    mach_cache_load(c, 0x103c, 8); /* crosses into the next L2 line */
    expect(1, 0, 1, 0, 0);
    mach_cache_load(c, 0xffffffff, 1); /* the last byte there is */
    expect(0, 0, 1, 0, 0);
}
END_TEST

START_TEST(stores_allocate_in_l2_and_are_written_back)
{
    make(1);
    mach_cache_store(c, 0x2000, 16);
    mach_cache_store(c, 0x2010, 16);
    expect(0, 0, 0, 1, 0);
    mach_cache_load(c, 0x2000, 4);
    expect(0, 1, 0, 0, 0);
    mach_cache_flush(c);
    expect(0, 0, 0, 0, 1);
    mach_cache_flush(c);
    expect(0, 0, 0, 0, 0);
    mach_cache_load(c, 0x2000, 4);
    expect(0, 0, 1, 0, 0);
}
END_TEST

/* 7 SHAVEs: 37449 bytes each, rounded down to 256 sets of 2 ways. So addresses
 * 16 KiB apart share a set, and the third evicts the first. */
START_TEST(plane_strides_conflict)
{
    make(7);
    for (int round = 0; round < 3; round++)
        for (uint32_t k = 0; k < 3; k++)
            mach_cache_store(c, 0x80000000 + k * 16384, 4);
    expect(0, 0, 0, 9, 7); /* all but the two still inside */
}
END_TEST

START_TEST(lru_order)
{
    make(7);
    mach_cache_load(c, 0, 4);
    mach_cache_load(c, 16384, 4);
    mach_cache_store(c, 0, 4);     /* 0 is the most recent */
    mach_cache_store(c, 32768, 4); /* so 16384 goes, which is clean */
    mach_cache_store(c, 0, 4);
    expect(0, 0, 2, 1, 0);
}
END_TEST

START_TEST(sharing_bounds)
{
    ck_assert_int_eq(mach_cache_create(&desc, 0, &c, &err), VPU_ERR_INVALID);
    ck_assert_int_eq(mach_cache_create(&desc, 17, &c, &err), VPU_ERR_INVALID);
    ck_assert_ptr_null(c);
}
END_TEST

/* --- the naive model: time stamps, linear search ------------------------- */

typedef struct {
    struct {
        bool valid, dirty;
        uint32_t line;
        uint64_t used;
    } way[16384];
    uint32_t sets, ways;
    uint64_t clock;
} naive;

/* Store fills of each bank of DDR since the last load fill. */
static uint32_t posted[16];

/* Digit by digit, with as many digits as there are banks. */
static uint32_t naive_bank(uint32_t line)
{
    uint32_t row = line * 64 / (uint32_t)desc.ddr_row_bytes;
    uint32_t banks = (uint32_t)desc.ddr_banks, bank = row % banks;

    while (desc.ddr_bank_hash && row >= banks) {
        row /= banks;
        bank ^= row % banks;
    }
    return bank;
}

static void naive_stored(mach_mem_counts *n, uint32_t line)
{
    posted[naive_bank(line)]++;
    n->bank_lines[naive_bank(line)]++;
}

static void naive_loaded(mach_mem_counts *n, uint32_t line)
{
    uint32_t *p = &posted[naive_bank(line)];

    n->bank_lines[naive_bank(line)]++;
    n->loads_behind += *p > 0;
    n->lines_before += *p;
    memset(posted, 0, sizeof posted);
}

/* n: NULL for L1, which DDR does not see. */
static bool naive_access(naive *v, uint32_t line, bool store,
                         mach_mem_counts *n)
{
    uint32_t base = line % v->sets * v->ways, victim = base;

    v->clock++;
    for (uint32_t i = base; i < base + v->ways; i++) {
        if (v->way[i].valid && v->way[i].line == line) {
            v->way[i].used = v->clock;
            v->way[i].dirty |= store;
            return true;
        }
        if (!v->way[i].valid)
            v->way[i].used = 0;
        if (v->way[i].used < v->way[victim].used)
            victim = i;
    }
    if (n && store)
        naive_stored(n, line);
    else if (n)
        naive_loaded(n, line);
    if (n && v->way[victim].valid && v->way[victim].dirty) {
        n->write_backs++;
        n->bank_lines[naive_bank(v->way[victim].line)]++;
    }
    v->way[victim].valid = true;
    v->way[victim].dirty = store;
    v->way[victim].line = line;
    v->way[victim].used = v->clock;
    return false;
}

static naive n1, n2;

START_TEST(equals_naive_model)
{
    static const char *const ways[] = {"l2_ways=1", "l2_ways=2", "l2_ways=8",
                                       "ddr_bank_hash=0", "ddr_banks=4"};
    uint32_t x = 99;

    ck_assert(!mach_desc_set(&desc, mem, ways[_i], &err));
    make(16);
    memset(&n1, 0, sizeof n1);
    memset(&n2, 0, sizeof n2);
    memset(posted, 0, sizeof posted);
    n1.ways = 2;
    n1.sets = 16;
    n2.ways = (uint32_t)desc.l2_ways;
    n2.sets = 256 / n2.ways;
    for (int k = 0; k < 200000; k++) {
        mach_mem_counts want = {0}, got;
        uint32_t addr, bytes;

        x = x * 1664525 + 1013904223;
        addr = x >> 8 & (x >> 29 & 1 ? 0xff : 0xffff);
        bytes = 1 + (x >> 24 & 31);
        if (x >> 31) {
            want.stores = 1;
            want.store_bytes = bytes;
            for (uint32_t l = addr / 64; l <= (addr + bytes - 1) / 64; l++)
                want.store_fills += !naive_access(&n2, l, true, &want);
            mach_cache_store(c, addr, bytes);
        } else {
            want.load_bytes = bytes;
            for (uint32_t l = addr / 32; l <= (addr + bytes - 1) / 32; l++) {
                if (naive_access(&n1, l, false, NULL))
                    want.load_l1_hits++;
                else if (naive_access(&n2, l / 2, false, &want))
                    want.load_l2_hits++;
                else
                    want.load_fills++;
            }
            mach_cache_load(c, addr, bytes);
        }
        got = mach_cache_take(c);
        ck_assert_mem_eq(&got, &want, sizeof got);
    }
}
END_TEST

/* A batch counts what one call per access counts: other ways, other line sizes,
 * batches longer and shorter than those the code works in. */
START_TEST(batches_equal_single_calls)
{
    static const char *const sets[] = {"l2_ways=2", "l2_ways=4", "l1d_ways=1",
                                       "l2_line=128", "l1d_line=64"};
    static uint64_t list[1300];
    mach_cache *single;
    uint32_t x = 7;

    ck_assert(!mach_desc_set(&desc, mem, sets[_i], &err));
    make(16);
    ck_assert(!mach_cache_create(&desc, 16, &single, &err));
    for (int round = 0; round < 300; round++) {
        mach_mem_counts want, got;
        size_t n;

        x = x * 1664525 + 1013904223;
        n = x >> 8 & 1023;
        for (size_t k = 0; k < n; k++) {
            uint32_t addr, bytes;

            x = x * 1664525 + 1013904223;
            /* some near, some far, some in one set */
            addr = x >> 28 & 1   ? x >> 8 & 0xff
                   : x >> 28 & 2 ? x >> 8 & 0xffff
                                 : 0x80000000u + (x >> 8 & 0xf) * 16384;
            bytes = 1 + (x >> 20 & 127);
            list[k] = MACH_ACCESS(addr, bytes, x >> 31);
            if (x >> 31)
                mach_cache_store(single, addr, bytes);
            else
                mach_cache_load(single, addr, bytes);
        }
        mach_cache_run(c, list, n);
        if (round % 50 == 49) {
            mach_cache_flush(c);
            mach_cache_flush(single);
        }
        want = mach_cache_take(single);
        got = mach_cache_take(c);
        ck_assert_mem_eq(&got, &want, sizeof got);
    }
    mach_cache_destroy(single);
}
END_TEST

static uint32_t draw(uint32_t *x, uint32_t n)
{
    *x = *x * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)*x * n >> 32);
}

/* Loops over neighbouring addresses: sites near each other, a multiple of a
 * page apart or anywhere, now and then an access that is not part of one. */
static size_t make_loops(uint64_t *list, size_t n, uint32_t *x)
{
    static const uint32_t strides[] = {1, 2, 4, 8, 16, 32, 64, 12, 128, 0};
    uint64_t sites[70];
    size_t k = 0;

    while (k < n) {
        uint32_t period = 1 + draw(x, draw(x, 4) ? 12 : 70);
        uint32_t times = 1 + draw(x, draw(x, 3) ? 400 : 20);
        uint32_t stride = strides[draw(x, draw(x, 4) ? 7 : 10)];
        uint32_t near = draw(x, 0x40000), bytes = 1u << draw(x, 5);

        for (uint32_t i = 0; i < period; i++) {
            uint32_t kind = draw(x, 3);
            uint32_t at = !kind ? draw(x, 0x100000)
                          : kind == 1
                              ? near + draw(x, 40)
                              : near + draw(x, 8) * 4160 + draw(x, 2) * 0x20000;

            if (!draw(x, 50))
                at = UINT32_MAX - draw(x, 0x800); /* may wrap */
            if (!draw(x, 5))
                bytes = 1 + draw(x, 40);
            sites[i] = MACH_ACCESS(at, bytes, !draw(x, 4));
        }
        for (uint32_t t = 0; t < times && k < n; t++)
            for (uint32_t i = 0; i < period && k < n; i++) {
                uint32_t at = MACH_ACCESS_ADDR(sites[i]) + t * stride;

                list[k++] = MACH_ACCESS(at, MACH_ACCESS_BYTES(sites[i]),
                                        MACH_ACCESS_IS_STORE(sites[i]));
            }
        if (k < n && !draw(x, 3))
            list[k++] = MACH_ACCESS(draw(x, 0x40000), 4, 0);
    }
    return k;
}

/* Repetitions in lists are not looked up access by access, and count as if they
 * were: caches of the usual and of other shapes, in lists of all lengths. */
START_TEST(repetitions_equal_single_calls)
{
    static const char *const sets[] = {"ddr_banks=8", "l1d_line=64",
                                       "l2_line=128", "l2_bytes=65536",
                                       "l1d_bytes=4096"};
    static uint64_t list[4096];
    mach_cache *single;
    uint32_t x = (uint32_t)_i + 11;

    ck_assert(!mach_desc_set(&desc, mem, sets[_i], &err));
    make(12);
    ck_assert(!mach_cache_create(&desc, 12, &single, &err));
    for (int round = 0; round < 400; round++) {
        size_t n = make_loops(list, 1 + draw(&x, 4096), &x);
        mach_mem_counts want, got;

        for (size_t k = 0; k < n; k++)
            if (MACH_ACCESS_IS_STORE(list[k]))
                mach_cache_store(single, MACH_ACCESS_ADDR(list[k]),
                                 MACH_ACCESS_BYTES(list[k]));
            else
                mach_cache_load(single, MACH_ACCESS_ADDR(list[k]),
                                MACH_ACCESS_BYTES(list[k]));
        mach_cache_run(c, list, n);
        if (round % 50 == 49) {
            mach_cache_flush(c);
            mach_cache_flush(single);
        }
        want = mach_cache_take(single);
        got = mach_cache_take(c);
        ck_assert_mem_eq(&got, &want, sizeof got);
    }
    mach_cache_destroy(single);
}
END_TEST

static mach_cache *other;

/* The list to c at once, to `other` one by one. */
static void run_both(const uint64_t *list, size_t n)
{
    mach_mem_counts want, got;

    mach_cache_run(c, list, n);
    for (size_t k = 0; k < n; k++)
        mach_cache_run(other, &list[k], 1);
    got = mach_cache_take(c);
    want = mach_cache_take(other);
    ck_assert_mem_eq(&got, &want, sizeof got);
}

/* A loop over neighbouring addresses, as one work-group after the other runs
 * it: some way further on, in lists that end anywhere in it, now and then with
 * an access in between or with other loops. Sites lie in one set, or in a few,
 * or follow each other. */
static size_t make_groups(uint64_t *list, size_t n, uint32_t *x)
{
    static const uint32_t strides[] = {4, 8, 16, 16, 16, 32, 64, 12, 24, 192};
    static const uint32_t apart[] = {0x80000, 0x80000, 0x4000, 4160, 48, 20};
    uint32_t period = 1 + draw(x, draw(x, 3) ? 12 : 64);
    uint32_t times = 20 + draw(x, 400), stride = strides[draw(x, 10)];
    uint32_t pitch = apart[draw(x, 6)], bytes = 1u << draw(x, 5);
    uint32_t between = draw(x, 3) ? 64 * draw(x, 1000) : draw(x, 10000);
    uint32_t n_places = 1 + draw(x, period), at = draw(x, 1u << 20);
    uint64_t sites[64];
    size_t k = 0;

    for (uint32_t i = 0; i < period; i++)
        sites[i] = MACH_ACCESS(
            0x10000000 + i % n_places * pitch + (draw(x, 9) ? 0 : draw(x, 40)),
            bytes, i % n_places * 2 > n_places || !draw(x, 9));
    for (; k < n; at += between)
        for (uint32_t t = 0; t < times && k < n; t++) {
            for (uint32_t i = 0; i < period && k < n; i++)
                list[k++] = sites[i] + at + t * stride;
            if (k < n && !draw(x, 3000))
                list[k++] = MACH_ACCESS(draw(x, 1u << 20), 4, 0);
        }
    return k;
}

START_TEST(groups_equal_single_calls)
{
    static const char *const sets[] = {"ddr_banks=8", "ddr_banks=4",
                                       "l2_line=128", "l2_bytes=65536",
                                       "l1d_bytes=4096"};
    static uint64_t list[60000];
    uint32_t x = (uint32_t)_i + 5;

    ck_assert(!mach_desc_set(&desc, mem, sets[_i], &err));
    make(12);
    ck_assert(!mach_cache_create(&desc, 12, &other, &err));
    for (int round = 0; round < 60; round++) {
        size_t n = make_groups(list, draw(&x, 60000), &x);

        for (size_t at = 0, now; at < n; at += now) {
            now = draw(&x, 4) ? 2000 + draw(&x, 48) : 1 + draw(&x, 400);
            now = now < n - at ? now : n - at;
            run_both(list + at, now);
            if (!draw(&x, 20)) { /* something from outside lists */
                uint32_t addr = MACH_ACCESS_ADDR(list[at + now / 2]);

                mach_cache_load(c, addr, 4);
                mach_cache_load(other, addr, 4);
            }
        }
        if (round % 20 == 19) {
            mach_cache_flush(c);
            mach_cache_flush(other);
        }
    }
    mach_cache_destroy(other);
}
END_TEST

/* A loop again and again, each time the same way further on and of whole lines:
 * as work-groups of one SHAVE follow each other. What is known at the end of
 * one is used for the next, until something else is looked up in between: at
 * the end of one, or at any place in one. */
START_TEST(next_groups_equal_single_calls)
{
    static const char *const sets[] = {"ddr_banks=8", "ddr_banks=4",
                                       "l2_line=128", "l2_bytes=65536",
                                       "l1d_bytes=4096"};
    static const uint32_t strides[] = {4, 8, 16, 32, 64, 128, 192, 512};
    static const uint32_t apart[] = {4160, 2112, 64, 4096, 0x4000, 0x80000};
    static uint64_t list[50000];
    uint32_t x = (uint32_t)_i + 77;

    ck_assert(!mach_desc_set(&desc, mem, sets[_i], &err));
    for (int round = 0; round < 1000; round++) {
        uint32_t period = 2 + draw(&x, 8), times = 32 * (1 + draw(&x, 5));
        uint32_t stride = strides[draw(&x, 8)], pitch = apart[draw(&x, 6)];
        uint32_t next = 128 * (draw(&x, 3) ? draw(&x, 200) : 0) + pitch;
        uint32_t at = 0x10000000 + 128 * draw(&x, 5000);
        uint32_t stores = draw(&x, 4) ? 1u << draw(&x, 9) : draw(&x, 512);
        size_t n = 0, group = (size_t)period * times, cut;
        size_t stop = group * (3 + draw(&x, 4)); /* something else */
        uint32_t near;

        make(12); /* which has not looked for loops in vain */
        ck_assert(!mach_cache_create(&desc, 12, &other, &err));
        if (draw(&x, 3))
            stop += draw(&x, (2 + draw(&x, 10)) * (1 + 64 / stride) * period) %
                    group;
        for (; n + group <= 50000 && n < 8 * group; at += next)
            for (uint32_t t = 0; t < times; t++)
                for (uint32_t i = 0; i < period; i++)
                    list[n++] = MACH_ACCESS(at + i * pitch + t * stride + i % 3,
                                            1 + 15 * (i % 2), stores >> i & 1);
        for (size_t k = 0; k < n; k += cut) {
            size_t left = group - k % group;

            cut = draw(&x, 2) ? left : 1 + draw(&x, (uint32_t)left);
            if (k < stop && k + cut > stop)
                cut = stop - k;
            run_both(list + k, cut);
            /* Who is still there? */
            near = 16 * (1 + 64 / stride) * period;
            if (near > stop || !draw(&x, 4))
                near = (uint32_t)stop;
            for (int i = 0; i < 100 && k + cut == stop; i++)
                run_both(&list[stop - 1 - draw(&x, near)], 1);
        }
        mach_cache_destroy(other);
        mach_cache_destroy(c);
    }
    c = NULL;
}
END_TEST

/* Planes of which `times` lines are read, one after the other. */
typedef struct {
    uint32_t planes, pitch, bytes, stride, next, last;
} plane_groups;

static void run_planes(const plane_groups *p, uint32_t at, uint32_t times)
{
    uint64_t list[4 * 200];
    size_t n = 0;

    for (uint32_t t = 0; t < times; t++)
        for (uint32_t k = 0; k < p->planes; k++)
            list[n++] =
                MACH_ACCESS(at + k * p->pitch + t * p->stride, p->bytes, 0);
    run_both(list, n);
}

/* Is what the group before left still there when the next one has begun? Lines
 * that both touch, and sets that only one comes to. */
START_TEST(beginnings_leave_the_rest_alone)
{
    enum { TIMES = 200, GROUPS = 7 };
    static const plane_groups cases[] = {
        {3, 0x80000, 16, 64, 64 * 200, 3},
        {3, 0x80000, 16, 64, 64 * 200, 9},
        {3, 0x80000, 16, 128, 64 * 401, 3},
        {3, 0x80000, 16, 128, 64 * 401, 48},
        {3, 0x80000, 16, 128, 64 * 400, 48},
        {2, 0x80100, 68, 64, 64 * 200, 8},
        {2, 0x80100, 68, 64, 64 * 200, 9},
        {2, 0x80100, 68, 64, 64 * 200, 11},
        {4, 0x80080, 68, 64, 64 * 200, 4},
        {4, 0x80080, 68, 64, 64 * 200, 5},
    };
    const plane_groups *p = &cases[_i];
    uint32_t at = 0x10000000;

    make(12);
    ck_assert(!mach_cache_create(&desc, 12, &other, &err));
    for (int g = 0; g < GROUPS; g++, at += p->next)
        run_planes(p, at, TIMES);
    run_planes(p, at, p->last);
    for (uint32_t l = 0; l < 48; l++)
        for (uint32_t k = 0; k < p->planes; k++) {
            uint64_t begin =
                MACH_ACCESS(at + k * p->pitch + l / 2 * p->stride, 4, 0);
            uint64_t end =
                MACH_ACCESS(at - p->next + k * p->pitch +
                                (TIMES - 1 - l / 2) * p->stride + 32 * (l & 1),
                            4, 0);

            run_both(l & 1 ? &begin : &end, 1);
        }
    mach_cache_destroy(other);
}
END_TEST

/* Beyond the last address entries go on with the same difference, but are
 * accesses to the first addresses, of one byte more: in the list where the loop
 * is found, in one that goes on with it, in one where it begins again, and
 * where it begins again in front of the first address. */
START_TEST(no_loop_passes_the_last_address)
{
    static const struct {
        uint64_t begins[2];
        size_t split;
    } cases[] = {{{0xffffc000}, 4096},
                 {{0xffffc000}, 1024},
                 {{0x80000000, 0xffffc000}, 4096},
                 {{0x80000000, 0xffffc000}, 1024},
                 {{0x80000000, 0x100000040}, 4096},
                 {{0x100000100, 0xffffffc0}, 4096}};
    static uint64_t list[4096];

    make(12);
    ck_assert(!mach_cache_create(&desc, 12, &other, &err));
    for (int g = 0; g < 2 && cases[_i].begins[g]; g++) {
        for (uint64_t k = 0; k < 4096; k++)
            list[k] = MACH_ACCESS(0, 8, 0) + cases[_i].begins[g] + k * 8;
        run_both(list, cases[_i].split);
        if (cases[_i].split < 4096)
            run_both(list + cases[_i].split, 4096 - cases[_i].split);
        if (g || !cases[_i].begins[1])
            run_both(list + 4000, 96); /* the last lines again */
    }
    mach_cache_destroy(other);
}
END_TEST

/* What is recorded is what is counted, in the order of the accesses. */
/* What each owner's accesses did, beside one call and one take each; and all of
 * them together. */
START_TEST(accesses_by_owner)
{
    enum { N = 3000, OWNERS = 5 };
    uint32_t x = (uint32_t)_i + 1, owner[N];
    uint64_t list[N];
    mach_mem_counts by[OWNERS] = {0}, want[OWNERS] = {0}, all = {0}, got;
    mach_cache *single;

    make(16);
    ck_assert_int_eq(mach_cache_create(&desc, 16, &single, NULL), VPU_OK);
    for (unsigned round = 0; round < 3; round++) {
        for (size_t k = 0; k < N; k++) {
            list[k] = MACH_ACCESS(draw(&x, 1 << (8 + 4 * round)) * 4,
                                  1 + draw(&x, 128), draw(&x, 3) == 0);
            owner[k] = draw(&x, 2) && k ? owner[k - 1] : draw(&x, OWNERS);
        }
        mach_cache_run(c, list, N); /* by the fast ways */
        mach_cache_run(single, list, N);
        mach_cache_take(c);
        mach_cache_take(single);
        mach_cache_run_owned(c, list, N, owner, by);
        for (size_t k = 0; k < N; k++) {
            mach_mem_counts n;

            mach_cache_run(single, &list[k], 1);
            n = mach_cache_take(single);
            mach_mem_add(&all, &n);
            memset(n.bank_lines, 0, sizeof n.bank_lines);
            mach_mem_add(&want[owner[k]], &n);
        }
        got = mach_cache_take(c);
        ck_assert_mem_eq(&got, &all, sizeof got);
        ck_assert_mem_eq(by, want, sizeof by);
        all = (mach_mem_counts){0};
    }
    mach_cache_destroy(single);
}
END_TEST

START_TEST(a_recording_agrees_with_the_counts)
{
    static uint64_t list[1000];
    mach_cache *plain;
    uint32_t x = 3;

    make(16);
    mach_cache_record(c);
    ck_assert(!mach_cache_create(&desc, 16, &plain, &err));
    for (int round = 0; round < 50; round++) {
        mach_mem_counts want, got, sum = {0};
        uint32_t hits = 0, before = 0;
        mach_step step = {.n_misses = 9};

        for (size_t k = 0; k < 1000; k++) {
            x = x * 1664525 + 1013904223;
            list[k] = MACH_ACCESS(x >> 8 & 0x3ffc, 4, x >> 31);
        }
        mach_cache_run(c, list, 1000);
        mach_cache_run(plain, list, 1000);
        ck_assert(mach_cache_take_misses(c, &step));
        want = mach_cache_take(plain);
        got = mach_cache_take(c);
        ck_assert_mem_eq(&got, &want, sizeof got);
        ck_assert_uint_eq(step.n_accesses, 1000);
        for (uint32_t k = 0; k < step.n_misses; k++) {
            const mach_miss *m = &step.misses[k];

            ck_assert_uint_ge(m->access, before);
            ck_assert_uint_ge(m->l2_hits, sum.load_l2_hits);
            before = m->access;
            sum.load_l2_hits = m->l2_hits;
            sum.load_fills += m->kind == MACH_LOAD_FILL;
            sum.store_fills += m->kind == MACH_STORE_FILL;
            sum.write_backs += m->kind == MACH_WRITE_BACK;
            hits += m->kind == MACH_STORE_HIT;
            if (m->kind != MACH_STORE_HIT)
                sum.bank_lines[naive_bank(m->addr / 64)]++;
        }
        ck_assert_uint_eq(sum.load_fills, want.load_fills);
        ck_assert_uint_eq(sum.store_fills, want.store_fills);
        ck_assert_uint_eq(sum.write_backs, want.write_backs);
        ck_assert_mem_eq(sum.bank_lines, want.bank_lines,
                         sizeof sum.bank_lines);
        ck_assert_uint_eq(hits + sum.store_fills, want.stores);
        free(step.misses);
    }
    mach_cache_destroy(plain);
}
END_TEST

static double measure(uint32_t stride)
{
    enum { N = 20000000 };
    double start = clock_seconds();

    for (uint32_t k = 0, a = 0; k < N; k++, a += stride)
        mach_cache_load(c, a, 4);
    return (clock_seconds() - start) * 1e9 / N;
}

/* Reports only: machines differ. */
START_TEST(speed)
{
    make(16);
    printf("same line %.2f ns, streaming 4 B %.2f ns, every line %.2f ns\n",
           measure(0), measure(4), measure(64));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cache");
    TCase *t = tcase_create("cache");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, lines);
    tcase_add_test(t, stores_allocate_in_l2_and_are_written_back);
    tcase_add_test(t, plane_strides_conflict);
    tcase_add_test(t, lru_order);
    tcase_add_test(t, sharing_bounds);
    tcase_add_loop_test(t, equals_naive_model, 0, 5);
    tcase_add_loop_test(t, batches_equal_single_calls, 0, 5);
    tcase_add_loop_test(t, repetitions_equal_single_calls, 0, 5);
    tcase_add_loop_test(t, groups_equal_single_calls, 0, 5);
    tcase_add_loop_test(t, next_groups_equal_single_calls, 0, 5);
    tcase_add_loop_test(t, beginnings_leave_the_rest_alone, 0, 10);
    tcase_add_loop_test(t, no_loop_passes_the_last_address, 0, 6);
    tcase_add_loop_test(t, accesses_by_owner, 0, 5);
    tcase_add_test(t, a_recording_agrees_with_the_counts);
    tcase_add_test(t, speed);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
