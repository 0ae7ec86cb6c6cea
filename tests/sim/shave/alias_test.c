/* Pointers that are chosen, swapped, stored and loaded again: what is written
 * through one of them must be what another one reads, on both engines. Each
 * kernel stands beside the same in C. */
#include <check.h>
#include <string.h>

#include "tests/support/rig.h"

enum { ITEMS = 32, GROUPS = 2, TOTAL = ITEMS * GROUPS };

/* What item l of a group leaves, with argument s. */
typedef int reference(int l, int s);

/* Every kernel has (__global int *out, int s, __local int *a, __local int *b),
 * both with ITEMS + 1 words, and writes out[get_global_id(0)]. */
typedef struct {
    const char *body;
    reference *c;
} kernel_case;

static int address_in_volatile(int l, int s)
{
    (void)l;
    return s + 1;
}

static int chosen_local(int l, int s)
{
    return s ? 5 + l : 1;
}

static int chosen_private(int l, int s)
{
    int x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, 8};
    int *p = s & 1 ? x : y;

    x[l & 3] = 50;
    p[l & 3] = 70;
    return x[l & 3] * 100 + y[l & 3];
}

static int swapped(int l, int s)
{
    int x = l, y = -l, *cur = &x, *next = &y;

    for (int k = 0; k < 5 + s; k++) {
        int *t = cur;

        *next = *cur * 2 + k;
        cur = next;
        next = t;
        *next += 3;
    }
    return x * 7 + y;
}

static int by_index(int l, int s)
{
    int x[2] = {l, 1};

    for (int k = 0; k < 9; k++) {
        x[k & 1] += x[(k + s) & 1] * 3;
        x[s & 1] ^= k;
    }
    return x[0] * 11 + x[1];
}

static int in_structure(int l, int s)
{
    int x = l, y = 2 * l;
    struct {
        int *p, *q;
    } pair = {s ? &x : &y, &x};

    *pair.p = 40;
    *pair.q += 2;
    return *pair.p * 1000 + x + y;
}

static int through_integer(int l, int s)
{
    int x[3] = {l, l + 1, l + 2};

    x[1] = s;
    x[1] += 9;
    return x[1] * 100 + x[2];
}

static int restrict_chosen(int l, int s)
{
    int x = 3 + l, y = 4 + l;

    *(s ? &y : &x) = 90;
    return x * 100 + y;
}

static int list(int l, int s)
{
    int x[3] = {l, l * 2, l * 3}, sum = 0;
    int order[3] = {s, (s + 1) % 3, (s + 2) % 3};

    for (int k = 0; k < 3; k++) {
        x[order[k]] += 5;
        sum = sum * 10 + x[order[(k + 1) % 3]] + x[0];
    }
    return sum;
}

static const kernel_case cases[] = {
    {"int v = 7, n = s + 1;\n"
     "int *volatile p = &v;\n"
     "*p = n;\n"
     "out[i] = v;\n",
     address_in_volatile},
    {"__local int *p = s ? b : a;\n"
     "a[l] = 5 + l;\n"
     "p[l] = 1;\n"
     "out[i] = a[l];\n",
     chosen_local},
    {"__local int x[ITEMS], y[ITEMS];\n"
     "__local int *p = s ? x : y;\n"
     "y[l] = 5 + l;\n"
     "p[l] = 1;\n"
     "out[i] = y[l];\n",
     chosen_local},
    {"int x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, 8};\n"
     "int *p = s & 1 ? x : y;\n"
     "x[l & 3] = 50;\n"
     "p[l & 3] = 70;\n"
     "out[i] = x[l & 3] * 100 + y[l & 3];\n",
     chosen_private},
    {"__local int x[ITEMS], y[ITEMS], *cur = x, *next = y;\n"
     "x[l] = l;\n"
     "y[l] = -l;\n"
     "for (int k = 0; k < 5 + s; k++) {\n"
     "    __local int *t = cur;\n"
     "    next[l] = cur[l] * 2 + k;\n"
     "    cur = next;\n"
     "    next = t;\n"
     "    next[l] += 3;\n"
     "}\n"
     "out[i] = x[l] * 7 + y[l];\n",
     swapped},
    {"__local int *cur = a, *next = b;\n"
     "a[l] = l;\n"
     "b[l] = -l;\n"
     "for (int k = 0; k < 5 + s; k++) {\n"
     "    __local int *t = cur;\n"
     "    next[l] = cur[l] * 2 + k;\n"
     "    barrier(CLK_LOCAL_MEM_FENCE);\n"
     "    cur = next;\n"
     "    next = t;\n"
     "    next[l] += 3;\n"
     "}\n"
     "out[i] = a[l] * 7 + b[l];\n",
     swapped},
    {"int x[2] = {l, 1};\n"
     "for (int k = 0; k < 9; k++) {\n"
     "    x[k & 1] += x[(k + s) & 1] * 3;\n"
     "    x[s & 1] ^= k;\n"
     "}\n"
     "out[i] = x[0] * 11 + x[1];\n",
     by_index},
    {"int x = l, y = 2 * l;\n"
     "volatile struct { int *p, *q; } pair;\n"
     "pair.p = s ? &x : &y;\n"
     "pair.q = &x;\n"
     "*pair.p = 40;\n"
     "*pair.q += 2;\n"
     "out[i] = *pair.p * 1000 + x + y;\n",
     in_structure},
    {"int x[3] = {l, l + 1, l + 2};\n"
     "volatile uint at = (uint)x;\n"
     "x[1] = s;\n"
     "*(int *)(at + 4) += 9;\n"
     "out[i] = x[1] * 100 + x[2];\n",
     through_integer},
    {"__local int x[ITEMS], y[ITEMS];\n"
     "__local int *volatile p = s ? y : x;\n"
     "x[l] = 3 + l;\n"
     "y[l] = 4 + l;\n"
     "p[l] = 90;\n"
     "out[i] = x[l] * 100 + y[l];\n",
     restrict_chosen},
    {"__local int *restrict r = s ? b : a;\n"
     "__local int *p = r;\n"
     "a[l] = 3 + l;\n"
     "b[l] = 4 + l;\n"
     "p[l] = 90;\n"
     "out[i] = a[l] * 100 + b[l];\n",
     restrict_chosen},
    {"int x[3] = {l, l * 2, l * 3}, sum = 0;\n"
     "int *p[3] = {x + s, x + (s + 1) % 3, x + (s + 2) % 3};\n"
     "for (int k = 0; k < 3; k++) {\n"
     "    *p[k] += 5;\n"
     "    sum = sum * 10 + *p[(k + 1) % 3] + x[0];\n"
     "}\n"
     "out[i] = sum;\n",
     list},
};
enum { N_CASES = sizeof cases / sizeof *cases, N_S = 3 };

START_TEST(chosen_pointers)
{
    const kernel_case *k = &cases[_i / N_S];
    int s = _i % N_S, *out;
    rig r;

    rig_open(&r);
    rig_compile(
        &r,
        arena_printf(r.arena,
                     "#define ITEMS %d\n"
                     "__kernel void k(__global int *out, int s,\n"
                     "                __local int *a, __local int *b)\n"
                     "{\nint i = get_global_id(0), l = get_local_id(0);\n"
                     "%s}\n",
                     ITEMS, k->body),
        "k");
    out = rig_buffer(&r, TOTAL * sizeof *out);
    rig_int(&r, s);
    rig_local(&r, (ITEMS + 1) * sizeof(int));
    rig_local(&r, (ITEMS + 1) * sizeof(int));
    rig_run_1d(&r, GROUPS, ITEMS);
    for (int i = 0; i < TOTAL; i++)
        ck_assert_msg(out[i] == k->c(i % ITEMS, s),
                      "%s\ns = %d: out[%d] is %d, in C %d", k->body, s, i,
                      out[i], k->c(i % ITEMS, s));
    rig_close(&r);
}
END_TEST

/* What restrict promises is still used: a load goes ahead of a store to
 * another pointer. */
START_TEST(restrict_saves_cycles)
{
    static const char *const text[] = {
        "__kernel void k(__global const float *a, __global float *b)\n"
        "{\n    float s = 0;\n"
        "    for (int j = 0; j < 256; j++) { b[j] = s; s = s * a[j] + 1; }\n"
        "}\n",
        "__kernel void k(__global const float *restrict a,\n"
        "                __global float *restrict b)\n"
        "{\n    float s = 0;\n"
        "    for (int j = 0; j < 256; j++) { b[j] = s; s = s * a[j] + 1; }\n"
        "}\n"};
    uint64_t cycles[2];

    for (int k = 0; k < 2; k++) {
        rig r;

        rig_open(&r);
        rig_compile(&r, text[k], "k");
        rig_buffer(&r, 1024);
        rig_buffer(&r, 1024);
        rig_run_1d(&r, 1, 1);
        cycles[k] = r.result.profile.cycles;
        rig_close(&r);
    }
    ck_assert_uint_lt(cycles[1], cycles[0]);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("aliases");
    TCase *c = tcase_create("aliases");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, chosen_pointers, 0, N_CASES * N_S);
    tcase_add_test(c, restrict_saves_cycles);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
