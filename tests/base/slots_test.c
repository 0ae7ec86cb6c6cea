/* Numbers found by what they stand for: each key finds its own, whichever keys
 * a file was made of, in a few steps. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/slots.h"

/* Half of a table is free, so walks are short: of so many keys the longest has
 * some 60 steps. Keys that meet take half as many steps as there are keys. */
enum { KEYS = 1 << 16, LONGEST = 1000 };

static slots s;
static uint64_t keys[KEYS + 1]; /* by number */

static uint64_t hash_of_key(const slots *t, const void *user, uint32_t i)
{
    return slots_hash(t, ((const uint64_t *)user)[i], 7);
}

/* Where key is or would be; *steps: how far it was. */
static uint32_t *find(uint64_t key, uint32_t *steps)
{
    uint64_t first = slots_hash(&s, key, 7), at = first;

    while (*slots_at(&s, at) && keys[*slots_at(&s, at)] != key)
        at++;
    *steps = (uint32_t)(at - first);
    return slots_at(&s, at);
}

static void take_all(void)
{
    uint32_t steps, longest = 0;

    ck_assert(slots_init(&s));
    for (uint32_t i = 1; i <= KEYS; i++) {
        ck_assert(slots_reserve(&s, i - 1, hash_of_key, keys));
        ck_assert_uint_le(2 * (uint64_t)i, s.n);
        *find(keys[i], &steps) = i;
    }
    for (uint32_t i = 1; i <= KEYS; i++) {
        ck_assert_uint_eq(*find(keys[i], &steps), i);
        longest = steps > longest ? steps : longest;
    }
    ck_assert_uint_eq(*find(UINT64_C(0xfedcba9876543210), &steps), 0);
    ck_assert_msg(longest < LONGEST, "%u steps", longest);
    slots_free(&s);
}

/* What stands for 1 in products with the odd number n. */
static uint64_t inverse(uint64_t n)
{
    uint64_t x = n;

    for (int k = 0; k < 6; k++)
        x *= 2 - n * x;
    return x;
}

/* Steps between keys: by the last one all products with the number that hash
 * functions often take begin with 32 zeros. */
START_TEST(keys_in_rows)
{
    const uint64_t rows[] = {1, 64, UINT64_C(1) << 32, UINT64_C(1) << 47,
                             inverse(UINT64_C(0x9e3779b97f4a7c15))};

    for (uint32_t i = 1; i <= KEYS; i++)
        keys[i] = i * rows[_i];
    take_all();
}
END_TEST

/* --- texts --------------------------------------------------------------- */

enum { PAIRS = 16, BLOCK = 8, TRIES = 1 << 18 };

typedef struct {
    uint32_t hash;
    char block[BLOCK];
} tried;

static tried tries[TRIES];
static char pairs[PAIRS][2][BLOCK];

static uint32_t common_hash(uint32_t h, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h;
}

static int by_hash(const void *a, const void *b)
{
    uint32_t x = ((const tried *)a)->hash, y = ((const tried *)b)->hash;

    return (x > y) - (x < y);
}

/* Two blocks that lead from a hash to the same one, and so on from there: of
 * each pair either may stand in a text, and all 2^16 texts have one hash. */
static uint32_t find_pair(uint32_t from, char pair[2][BLOCK])
{
    for (uint32_t k = 0; k < TRIES; k++) {
        uint64_t drawn = (k + 1) * UINT64_C(0xd1342543de82ef95);

        for (int c = 0; c < BLOCK; c++)
            tries[k].block[c] = (char)('0' + (drawn >> (8 + 6 * c) & 63));
        tries[k].hash = common_hash(from, tries[k].block, BLOCK);
    }
    qsort(tries, TRIES, sizeof *tries, by_hash);
    for (uint32_t k = 1; k < TRIES; k++)
        if (tries[k].hash == tries[k - 1].hash) {
            memcpy(pair[0], tries[k - 1].block, BLOCK);
            memcpy(pair[1], tries[k].block, BLOCK);
            return tries[k].hash;
        }
    ck_abort_msg("no pair");
    return 0;
}

static void put_text(uint32_t i, char text[PAIRS * BLOCK])
{
    for (int p = 0; p < PAIRS; p++)
        memcpy(text + p * BLOCK, pairs[p][i >> p & 1], BLOCK);
}

static uint64_t hash_of_text(const slots *t, const void *user, uint32_t i)
{
    char text[PAIRS * BLOCK];

    (void)user;
    put_text(i - 1, text);
    return slots_hash_bytes(t, text, sizeof text);
}

START_TEST(texts_that_were_made_to_meet)
{
    uint32_t h = 2166136261u, longest = 0;

    for (int p = 0; p < PAIRS; p++)
        h = find_pair(h, pairs[p]);
    ck_assert(slots_init(&s));
    for (uint32_t i = 1; i <= KEYS; i++) {
        uint64_t first, at;
        char text[PAIRS * BLOCK];

        put_text(i - 1, text);
        ck_assert_uint_eq(common_hash(2166136261u, text, sizeof text), h);
        ck_assert(slots_reserve(&s, i - 1, hash_of_text, NULL));
        first = at = hash_of_text(&s, NULL, i);
        while (*slots_at(&s, at))
            at++;
        *slots_at(&s, at) = i;
        longest = at - first > longest ? (uint32_t)(at - first) : longest;
    }
    ck_assert_msg(longest < LONGEST, "%u steps", longest);
    slots_free(&s);
}
END_TEST

/* Two tables of the same keys have other places. */
START_TEST(each_table_has_its_own_seeds)
{
    slots other;

    ck_assert(slots_init(&s) && slots_init(&other));
    ck_assert(s.seeds[0] != other.seeds[0] && s.seeds[1] != other.seeds[1]);
    ck_assert(slots_hash(&s, 1, 2) != slots_hash(&other, 1, 2));
    ck_assert(slots_hash_bytes(&s, "a", 1) != slots_hash_bytes(&other, "a", 1));
    slots_free(&s);
    slots_free(&other);
    slots_free(&other); /* an empty one */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("slots");
    TCase *t = tcase_create("slots");
    SRunner *r = srunner_create(suite);
    int failed;

    tcase_add_loop_test(t, keys_in_rows, 0, 5);
    tcase_add_test(t, texts_that_were_made_to_meet);
    tcase_add_test(t, each_table_has_its_own_seeds);
    suite_add_tcase(suite, t);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
