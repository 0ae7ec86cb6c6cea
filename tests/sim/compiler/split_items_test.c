/* Conditions that compare a work-item's number with something all items agree
 * on: host code runs the items on either side of the change in loops of their
 * own. Against the same conditions in C; the interpreter of the SHAVE program
 * must come to the same bytes after the same cycles. */
#include <check.h>
#include <limits.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>
#include <string.h>

#include "sim/compiler/host/split_items.h"
#include "tests/support/rig.h"

typedef unsigned uint;

enum {
    GROUPS_X = 2,
    GROUPS_Y = 2,
    MAX_LOCAL = 933,
    MAX_ITEMS = GROUPS_X * GROUPS_Y * MAX_LOCAL
};

/* The same text in C and OpenCL C. l: the item's number, i: the global one,
 * L: items of the group in this dimension, y: the item's number in the other
 * one; n and m: arguments, n changes in the kernel. */
#define CONDITIONS(X)                                                  \
    X(below, l < n)                                                    \
    X(from, l >= n)                                                    \
    X(limit_first, n > l)                                              \
    X(limit_first_from, n <= l)                                        \
    X(to, l <= n)                                                      \
    X(above, l > n)                                                    \
    X(unsigned_below, (uint)l < (uint)n)                               \
    X(unsigned_above, (uint)n < (uint)l)                               \
    X(unsigned_to, (uint)l <= (uint)n)                                 \
    X(unsigned_from, (uint)n <= (uint)l)                               \
    X(one, l == n)                                                     \
    X(all_but_one, n != l)                                             \
    X(first_or_below, l == 0 || l < n)                                 \
    X(global_below, i < n)                                             \
    X(sum_below, (int)((uint)l + (uint)m) < n)                         \
    X(sum_to, (int)((uint)m + (uint)l + 3u) <= n)                      \
    X(sum_from, (int)((uint)i + (uint)m) >= n)                         \
    X(unsigned_sum_below, (uint)l + (uint)m < (uint)n)                 \
    X(unsigned_sum_above, (uint)l + (uint)m > (uint)n)                 \
    X(window, (uint)l - (uint)m < (uint)n)                             \
    X(difference, (int)((uint)l - (uint)m) < (int)((uint)n - (uint)l)) \
    X(is_sum, (int)((uint)l + (uint)m) == n)                           \
    X(between, l > m && l < n)                                         \
    X(outside, l > m || l < n)                                         \
    X(different, (l < n) != (l < m))                                   \
    X(three, (l < n) != (l < m) && l != (int)((uint)n + (uint)m) / 2)  \
    X(five, l == n || l == m || l == 4 || l > 9 || (uint)l + 1u > 30u) \
    X(odd_below, l < n && (l & 1))                                     \
    X(other_dimension, y < n && l >= m)                                \
    X(scaled, (int)((uint)l * 3u) < n)                                 \
    X(of_the_group, l < (int)((uint)L - (uint)n))                      \
    X(halved, l < (int)((uint)n >> 1))                                 \
    X(masked, (uint)l >= (((uint)n & 31u) ^ (uint)m))

typedef bool condition(int l, int i, int y, int L, int n, int m);

#define HOST(name, text)                                       \
    static bool name(int l, int i, int y, int L, int n, int m) \
    {                                                          \
        (void)l, (void)i, (void)y, (void)L, (void)n, (void)m;  \
        return text;                                           \
    }
CONDITIONS(HOST)

static const struct {
    const char *name, *text;
    condition *host;
} conditions[] = {
#define ROW(name, text) {#name, #text, name},
    CONDITIONS(ROW)};
enum { N_CONDITIONS = sizeof conditions / sizeof *conditions };

static const char kernel[] =
    "#define SYNC barrier(CLK_LOCAL_MEM_FENCE)\n"
    "__kernel void k(__global int *out, __global const int *in,\n"
    "                __local int *t, int n, int m)\n"
    "{\n"
    "    const int l = get_local_id(0), y = get_local_id(1);\n"
    "    const int i = get_global_id(0), L = get_local_size(0);\n"
    "    const int w = y * L + l, all = L * get_local_size(1);\n"
    "    const int at = get_global_id(1) * get_global_size(0) + i;\n"
    "    t[w] = in[at];\n"
    "    SYNC;\n"
    "    if (C)\n"
    "        t[w] += 1000;\n"
    "    SYNC;\n"
    "    if (C)\n"
    "        out[at] = t[w] * 3;\n"
    "    else\n"
    "        out[at] = in[at] + 1;\n"
    "    SYNC;\n"
    "    for (int k = 0; k < 3; k++) {\n"
    "        int other = t[(w + 1) % all];\n"
    "        SYNC;\n"
    "        if (C)\n"
    "            t[w] += other;\n"
    "        SYNC;\n"
    "        n = (int)((uint)n - (uint)L / 3u);\n"
    "    }\n"
    "    if (!(C))\n"
    "        return;\n"
    "    out[at] += t[w] + (l < m ? 7 : 0);\n"
    "}\n";

/* The items of one group, one phase after another. */
typedef struct {
    condition *holds;
    const uint32_t *group, *local;
    int n, m;
} one_group;

static bool holds(const one_group *g, uint32_t w)
{
    uint32_t l = w % g->local[0], y = w / g->local[0];

    return g->holds((int)l, (int)(g->group[0] * g->local[0] + l), (int)y,
                    (int)g->local[0], g->n, g->m);
}

static void run_group(one_group g, uint *out, const uint *in)
{
    static uint t[MAX_LOCAL], other[MAX_LOCAL];
    uint32_t all = g.local[0] * g.local[1], at[MAX_LOCAL];

    for (uint32_t w = 0; w < all; w++) {
        uint32_t y = g.group[1] * g.local[1] + w / g.local[0];

        at[w] = y * GROUPS_X * g.local[0] + g.group[0] * g.local[0] +
                w % g.local[0];
        t[w] = in[at[w]] + (holds(&g, w) ? 1000 : 0);
        out[at[w]] = holds(&g, w) ? t[w] * 3 : in[at[w]] + 1;
    }
    for (int k = 0; k < 3; k++) {
        for (uint32_t w = 0; w < all; w++)
            other[w] = t[(w + 1) % all];
        for (uint32_t w = 0; w < all; w++)
            t[w] += holds(&g, w) ? other[w] : 0;
        g.n = (int)((uint)g.n - g.local[0] / 3);
    }
    for (uint32_t w = 0; w < all; w++)
        if (holds(&g, w))
            out[at[w]] += t[w] + ((int)(w % g.local[0]) < g.m ? 7 : 0);
}

static const int limits[][2] = {
    {0, 0},
    {1, 0},
    {5, 2},
    {16, 15},
    {17, 9},
    {40, 39},
    {1000, 20},
    {-1, 1},
    {-7, -3},
    {3, -9},
    {INT_MAX, INT_MAX},
    {INT_MAX, INT_MAX - 4},
    {INT_MIN, INT_MAX - 4},
    {INT_MIN + 6, INT_MAX - 2},
    {INT_MIN + 6, INT_MIN + 1},
    {-3, INT_MIN},
    {2, -5},
    {-2, -12},
};
enum { N_LIMITS = sizeof limits / sizeof *limits };

static const uint32_t locals[][3] = {
    {16, 1, 1}, {1, 1, 1}, {13, 3, 1}, {1, 7, 1}, {311, 3, 1}};
enum { N_LOCALS = sizeof locals / sizeof *locals };

static void check_groups(rig *r, condition *c, const char *text,
                         const uint32_t local[3], const int limit[2],
                         const uint *out, const uint *in)
{
    static uint want[MAX_ITEMS];
    uint32_t n = GROUPS_X * GROUPS_Y * local[0] * local[1];

    r->n_values = 2;
    rig_local(r, 4 * local[0] * local[1]);
    rig_int(r, limit[0]);
    rig_int(r, limit[1]);
    for (uint32_t g = 0; g < GROUPS_X * GROUPS_Y; g++) {
        const uint32_t at[2] = {g % GROUPS_X, g / GROUPS_X};

        run_group((one_group){c, at, local, limit[0], limit[1]}, want, in);
    }
    rig_run_3d(r, (uint32_t[]){GROUPS_X, GROUPS_Y, 1}, local);
    for (uint32_t i = 0; i < n; i++)
        ck_assert_msg(out[i] == want[i],
                      "%s, n %d, m %d, groups of %ux%u, element %u: %u, "
                      "expected %u",
                      text, limit[0], limit[1], local[0], local[1], i, out[i],
                      want[i]);
}

START_TEST(conditions_on_items)
{
    const char *text = conditions[_i].text;
    uint *out, *in;
    rig r;

    rig_open(&r);
    rig_compile(&r, arena_printf(r.arena, "#define C (%s)\n%s", text, kernel),
                "k");
    out = rig_buffer(&r, 4 * MAX_ITEMS);
    in = rig_buffer(&r, 4 * MAX_ITEMS);
    for (uint32_t i = 0; i < MAX_ITEMS; i++)
        in[i] = rig_noise(i) >> 8;
    for (int k = 0; k < N_LOCALS; k++)
        for (int v = 0; v < N_LIMITS; v += 1 + 2 * (locals[k][0] > 100))
            check_groups(&r, conditions[_i].host, text, locals[k], limits[v],
                         out, in);
    rig_close(&r);
}
END_TEST

/* --- which loops --------------------------------------------------------- */

/* The loop that the work-group pass makes, its parts to be exchanged. */
#define LOOP(first, condition, next, more, mark)         \
    "define void @f(i32 %n, i32 %items, ptr %out) {\n"   \
    "entry:\n"                                           \
    "  br label %head\n"                                 \
    "head:\n"                                            \
    "  %i = phi i32 [ 0, %entry ], [ %next, %latch ]\n"  \
    "  %p = getelementptr i32, ptr %out, i32 %i\n" first \
    "  %c = icmp " condition "\n"                        \
    "  br i1 %c, label %then, label %latch\n"            \
    "then:\n"                                            \
    "  store i32 %i, ptr %p\n"                           \
    "  br label %latch\n"                                \
    "latch:\n"                                           \
    "  %next = " next "\n"                               \
    "  %more = icmp " more "\n"                          \
    "  br i1 %more, label %head, label %exit" mark "\n"  \
    "exit:\n"                                            \
    "  ret void\n"                                       \
    "}\n"                                                \
    "!0 = !{}\n"
#define NEXT "add i32 %i, 1"
#define MORE "ult i32 %next, %items"
#define MARK ", !vpu.items !0"

static const struct {
    const char *what, *text;
    bool split;
} loops[] = {
    {"below", LOOP("", "slt i32 %i, %n", NEXT, MORE, MARK), true},
    {"limit first", LOOP("", "ule i32 %n, %i", NEXT, MORE, MARK), true},
    {"a sum",
     LOOP("  %s = add i32 %n, %i\n", "sgt i32 %s, 7", NEXT, MORE, MARK), true},
    {"one item", LOOP("", "eq i32 %i, 5", NEXT, MORE, MARK), true},
    {"the first item", LOOP("", "eq i32 %i, 0", NEXT, MORE, MARK), false},
    {"no mark", LOOP("", "slt i32 %i, %n", NEXT, MORE, ""), false},
    {"every second item",
     LOOP("", "slt i32 %i, %n", "add i32 %i, 2", MORE, MARK), false},
    {"a product", LOOP("", "slt i32 %i, %n", "mul i32 %i, 1", MORE, MARK),
     false},
    {"a step that is not constant",
     LOOP("", "slt i32 %i, %n", "add i32 %i, %n", MORE, MARK), false},
    {"until an item",
     LOOP("", "slt i32 %i, %n", NEXT, "ne i32 %next, %items", MARK), false},
    {"a count that the loop changes",
     LOOP("  %m = load i32, ptr %out\n", "slt i32 %i, %n", NEXT,
          "ult i32 %next, %m", MARK),
     false},
    {"a limit that the loop changes",
     LOOP("  %m = load i32, ptr %p\n", "slt i32 %i, %m", NEXT, MORE, MARK),
     false},
    {"a limit that each item computes",
     LOOP("  %h = lshr i32 %n, 1\n  %m = xor i32 %h, %items\n",
          "slt i32 %i, %m", NEXT, MORE, MARK),
     true},
    {"a limit of the item",
     LOOP("  %m = lshr i32 %i, 1\n", "slt i32 %i, %m", NEXT, MORE, MARK),
     false},
    {"a limit that may not be computed elsewhere",
     LOOP("  %m = udiv i32 %items, %n\n", "slt i32 %i, %m", NEXT, MORE, MARK),
     false},
    {"a multiple",
     LOOP("  %m = mul i32 %i, 3\n", "slt i32 %m, %n", NEXT, MORE, MARK), false},
};

/* The text with k for each @ and k + 1 for each ^. */
static void put_numbered(str *out, const char *text, unsigned k)
{
    for (; *text; text++)
        if (*text == '@' || *text == '^')
            str_printf(out, "%u", k + (*text == '^'));
        else
            str_add(out, text, 1);
}

/* Function f of a module, which is its own. */
static LLVMValueRef parse(LLVMContextRef c, const char *text)
{
    char *message = NULL;
    LLVMModuleRef m;

    ck_assert_msg(
        !LLVMParseIRInContext(c,
                              LLVMCreateMemoryBufferWithMemoryRangeCopy(
                                  text, strlen(text), "loops"),
                              &m, &message),
        "%s", message);
    return LLVMGetNamedFunction(m, "f");
}

/* n loops, one after the other, each with a condition of its own. */
START_TEST(every_loop_is_split)
{
    LLVMContextRef c = LLVMContextCreate();
    arena *a = arena_create(0);
    str text = {0};
    LLVMValueRef f;
    unsigned before, n = (unsigned)_i;

    str_puts(&text, "define void @f(i32 %n, i32 %items, ptr %out) {\n"
                    "exit0:\n");
    for (unsigned k = 0; k < n; k++)
        put_numbered(&text,
                     "  br label %head^\n"
                     "head^:\n"
                     "  %i^ = phi i32 [ 0, %exit@ ], [ %next^, %latch^ ]\n"
                     "  %p^ = getelementptr i32, ptr %out, i32 %i^\n"
                     "  %c^ = icmp slt i32 %i^, %n\n"
                     "  br i1 %c^, label %then^, label %latch^\n"
                     "then^:\n"
                     "  store i32 %i^, ptr %p^\n"
                     "  br label %latch^\n"
                     "latch^:\n"
                     "  %next^ = add i32 %i^, 1\n"
                     "  %more^ = icmp ult i32 %next^, %items\n"
                     "  br i1 %more^, label %head^, label %exit^" MARK "\n"
                     "exit^:\n",
                     k);
    str_puts(&text, "  ret void\n}\n!0 = !{}\n");
    f = parse(c, str_text(&text));
    before = LLVMCountBasicBlocks(f);
    split_item_loops(f, false, a);
    ck_assert(!LLVMVerifyFunction(f, LLVMReturnStatusAction));
    ck_assert_uint_eq(LLVMCountBasicBlocks(f), before + 2 * n);
    LLVMDisposeModule(LLVMGetGlobalParent(f));
    LLVMContextDispose(c);
    arena_destroy(a);
    str_free(&text);
}
END_TEST

/* Where the condition is decided, which "head" branches on. */
static LLVMBasicBlockRef decided_in(LLVMBasicBlockRef head)
{
    return LLVMGetInstructionParent(
        LLVMGetCondition(LLVMGetBasicBlockTerminator(head)));
}

/* Split, a loop has one block in front of each piece, in which the condition is
 * decided, and one behind it, which leads to the next piece or out. */
START_TEST(loops_that_are_split)
{
    LLVMContextRef c = LLVMContextCreate();
    arena *a = arena_create(0);
    LLVMModuleRef m;
    LLVMValueRef f;
    LLVMBasicBlockRef head;
    char *before, *after;
    unsigned n;

    f = parse(c, loops[_i].text);
    m = LLVMGetGlobalParent(f);
    head = LLVMGetNextBasicBlock(LLVMGetEntryBasicBlock(f));
    n = LLVMCountBasicBlocks(f);
    before = LLVMPrintModuleToString(m);
    split_item_loops(f, false, a);
    after = LLVMPrintModuleToString(m);
    ck_assert(!LLVMVerifyFunction(f, LLVMReturnStatusAction));
    if (loops[_i].split) {
        LLVMBasicBlockRef pieces = decided_in(head);

        ck_assert_msg(pieces != head, "%s: %s", loops[_i].what, after);
        ck_assert_uint_eq(LLVMCountBasicBlocks(f), n + 2);
        ck_assert_ptr_eq(
            LLVMGetSuccessor(LLVMGetBasicBlockTerminator(pieces), 0), head);
        ck_assert_ptr_eq(
            LLVMGetSuccessor(
                LLVMGetBasicBlockTerminator(LLVMGetEntryBasicBlock(f)), 0),
            pieces);
    } else {
        ck_assert_msg(!strcmp(before, after), "%s: %s", loops[_i].what, after);
    }
    LLVMDisposeMessage(before);
    LLVMDisposeMessage(after);
    LLVMDisposeModule(m);
    LLVMContextDispose(c);
    arena_destroy(a);
}
END_TEST

/* A loop with so many instructions that its condition does not decide about is
 * split; of one with checks, so many. */
START_TEST(long_loops)
{
    static const struct {
        unsigned n;
        bool plain, checked;
    } cases[] = {{20, true, true}, {200, false, true}, {600, false, false}};
    LLVMContextRef c = LLVMContextCreate();
    arena *a = arena_create(0);
    str first = {0}, text = {0};
    unsigned before;
    LLVMValueRef f;

    for (unsigned k = 0; k < cases[_i / 2].n; k++)
        str_printf(&first, "  %%x%u = mul i32 %%i, %%n\n", k);
    for (const char *at = LOOP("@", "slt i32 %i, %n", NEXT, MORE, MARK); *at;
         at++)
        if (*at == '@' && at[1] == ' ')
            str_puts(&text, str_text(&first));
        else
            str_add(&text, at, 1);
    f = parse(c, str_text(&text));
    before = LLVMCountBasicBlocks(f);
    split_item_loops(f, _i % 2, a);
    ck_assert_int_eq(LLVMCountBasicBlocks(f) > before,
                     _i % 2 ? cases[_i / 2].checked : cases[_i / 2].plain);
    LLVMDisposeModule(LLVMGetGlobalParent(f));
    LLVMContextDispose(c);
    arena_destroy(a);
    str_free(&first);
    str_free(&text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("host code: conditions on items");
    TCase *c = tcase_create("conditions");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, conditions_on_items, 0, N_CONDITIONS);
    tcase_add_loop_test(c, loops_that_are_split, 0,
                        sizeof loops / sizeof *loops);
    tcase_add_loop_test(c, every_loop_is_split, 0, 6);
    tcase_add_loop_test(c, long_loops, 0, 6);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
