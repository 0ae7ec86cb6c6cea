/* Kernels that give what they declare the symbols of others: built-ins with
 * other types, functions of the compiler's own, LLVM's intrinsics. Each is an
 * error or compiles; none ends the compiler. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tests/support/rig.h"

/* --- one by one ---------------------------------------------------------- */

static const struct {
    const char *text; /* declares or defines what `use` uses */
    const char *use;
    const char *says; /* NULL: compiles */
} cases[] = {
    {"void f(void) __asm(\"__vpu_barrier\");", "f();", "reserved"},
    {"int f(int) __asm(\"__vpu_dma\");", "out[0] = f(1);", "reserved"},
    {"int f(void) __asm(\"__vpu_lid0\");", "out[0] = f();", "reserved"},
    {"void __vpu_wait(int n) { }", "__vpu_wait(1);", "reserved"},
    {"__constant int __vpu_table[2] = {1, 2};", "out[0] = __vpu_table[out[1]];",
     "reserved"},
    {"void f(int) __asm(\"__vpu_wait_group_events\");", "f(1);", "types"},
    {"void f(void) __asm(\"llvm.trap\");", "f();", "nothing a SHAVE has"},
    {"void f(void) __asm(\"llvm.debugtrap\");", "f();", "nothing a SHAVE has"},
    {"int *f(int) __asm(\"llvm.returnaddress\");", "out[0] = (int)f(0);",
     "nothing a SHAVE has"},
    {"int f(int) __asm(\"llvm.x86.sse.stmxcsr\");", "out[0] = f(0);",
     "Intrinsic"},
    {"ulong f(void) __asm(\"llvm.readcyclecounter\");", "out[0] = (int)f();",
     "nothing a SHAVE has"},
    {"float f(float4) __asm(\"llvm.fabs.f32\");",
     "out[0] = (int)f((float4)(1.0f));", "Intrinsic"},
    {"int f(int) __asm(\"llvm.nosuch\");", "out[0] = f(0);",
     "nothing a SHAVE has"},
    {"int f(float) __asm(\"llvm.fabs.f32\");", "out[0] = f(1.0f);",
     "Intrinsic"},
    {"float f(float4) __asm(\"_Z4sqrtf\");", "out[0] = (int)f((float4)(2));",
     "types"},
    {"float f(void) __asm(\"_Z4sqrtf\");", "out[0] = (int)f();", "types"},
    {"float4 f(float) __asm(\"_Z4sqrtf\");", "out[0] = (int)f(1.0f).x;",
     "'sqrt'"},
    {"struct s { int a[9]; }; struct s f(float) __asm(\"_Z4sqrtf\");",
     "out[0] = f(1.0f).a[3];", "types"},
    {"void f(float) __asm(\"_Z4sqrtf\");", "f(1.0f);", "types"},
    {"float f(float) __asm(\"_Z4sqrtf\");", "out[0] = (int)f(16.0f);", NULL},
    {"int f(int, int, int) __asm(\"_Z3maxii\");", "out[0] = f(1, 2, 3);",
     "types"},
    {"int f(int) __asm(\"printf\");", "out[0] = f(1);", "types"},
    {"void f(int) __asm(\"_Z\");", "f(1);", "neither"},
    {"void f(int) __asm(\"_Z99x\");", "f(1);", "neither"},
    {"void f(int) __asm(\"_Z4sqrtDv\");", "f(1);", "types"},
    {"void f(int) __asm(\"memcpy\");", "f(1);", "neither"},
    {"void f(int) __asm(\"vpu_hook_limit\");", "f(1);", "neither"},
    {"half __attribute__((overloadable)) convert_half_rtq(float);",
     "out[0] = (int)convert_half_rtq(1.5f);", "not a rounding"},
    {"float __attribute__((overloadable)) convert_float_rtq(int);",
     "out[0] = (int)convert_float_rtq(3);", "not a rounding"},
    {"void __attribute__((overloadable))\n"
     "vstore_half_rtq(float, uint, __global half *);",
     "vstore_half_rtq(1.0f, 0, (__global half *)out);", "not a rounding"},
    {"", "__asm__ volatile(\"nop\");", "inline assembly"},
    {"", "int x; __asm__(\"mov $1, %0\" : \"=r\"(x)); out[0] = x;",
     "inline assembly"},
    {"__asm__(\".globl g\\n g:\");", "out[0] = 1;", "assembly between"},
    {"", "__builtin_trap();", "nothing a SHAVE has"},
    {"", "__builtin_debugtrap();", "nothing a SHAVE has"},
    {"", "out[0] = (int)__builtin_return_address(0);", "nothing a SHAVE has"},
    {"", "out[0] = (int)__builtin_frame_address(0);", "nothing a SHAVE has"},
    {"", "out[0] = __builtin_popcount(out[1]) + __builtin_clz(out[1] | 1);",
     NULL},
    {"float sqrt(float) __attribute__((overloadable));",
     "out[0] = (int)sqrt(9.0f);", NULL},
    {"static int h(int x) { return x + 1; }\n"
     "int g(int) __attribute__((alias(\"h\")));",
     "out[0] = g(1);", ""},
};
enum { N_CASES = sizeof cases / sizeof *cases };

START_TEST(one)
{
    rig r;
    vpu_status st;

    rig_open(&r);
    st = rig_try_compile(&r,
                         arena_printf(r.arena,
                                      "%s\n__kernel void k(__global int *out)\n"
                                      "{\n%s\n}\n",
                                      cases[_i].text, cases[_i].use),
                         "k");
    if (cases[_i].says) {
        ck_assert_msg(st == VPU_ERR_COMPILE, "status %d: %s\n%s", st,
                      st ? r.err.msg : "compiled", cases[_i].text);
        ck_assert_msg(strstr(r.err.msg, cases[_i].says) != NULL, "%s",
                      r.err.msg);
    } else {
        ck_assert_msg(!st, "%s", r.err.msg);
        rig_buffer(&r, 64);
        rig_run_1d(&r, 1, 1);
    }
    rig_close(&r);
}
END_TEST

/* --- every built-in with types that are not its own ---------------------- */

static const char *const builtins[] = {
#define BUILTIN(name, fn, data, types) #name,
#define FAMILY(name, fn, types) #name,
#include "sim/builtins/builtins.def"
    "convert_float4", "convert_char_sat", "convert_int8_rtz", "vload4",
    "vload_half2",    "vstore8",          "vstore_half4_rtz", "as_int"};
enum {
    N_BUILTINS = sizeof builtins / sizeof *builtins,
    A_FILE = 50,
    N_FILES = 20
};

/* A type in OpenCL C, how it is mangled, and a value of it. */
static const struct {
    const char *c, *mangled, *value;
} types[] = {{"int", "i", "out[0]"},
             {"uint", "j", "out[1]"},
             {"float", "f", "(float)out[2]"},
             {"half", "Dh", "(half)out[3]"},
             {"char", "c", "(char)out[4]"},
             {"ulong", "m", "(ulong)out[5]"},
             {"float4", "Dv4_f", "(float4)((float)out[6])"},
             {"float3", "Dv3_f", "(float3)((float)out[7])"},
             {"half8", "Dv8_Dh", "(half8)((half)out[8])"},
             {"int16", "Dv16_i", "(int16)(out[9])"},
             {"short2", "Dv2_s", "(short2)((short)out[10])"},
             {"__global float *", "PU3AS1f", "(__global float *)out"},
             {"__local int4 *", "PU3AS3Dv4_i", "(__local int4 *)out[11]"},
             {"__private float *", "Pf", "(__private float *)out[12]"},
             {"struct s", "1s", "*(__global struct s *)out"},
             {"bool", "b", "out[13] != 0"}};
enum { N_TYPES = sizeof types / sizeof *types };

static uint32_t pick(uint64_t *state, uint32_t n)
{
    return rig_noise((*state)++) % n;
}

/* A function f<k> with a built-in's symbol and types picked at random, of which
 * the symbol tells the truth two times in three, and kernel k<k>, which calls
 * it. */
static void put_pair(str *s, const char *name, unsigned k, uint64_t seed)
{
    uint64_t state = seed * 100;
    unsigned n = pick(&state, 4), t[4], result = pick(&state, N_TYPES + 1);
    bool lies = !pick(&state, 3), any = result < N_TYPES;

    str_printf(s, "%s f%u(%s", any ? types[result].c : "void", k,
               n ? "" : "void");
    for (unsigned i = 0; i < n; i++) {
        t[i] = pick(&state, N_TYPES);
        str_printf(s, "%s%s", i ? ", " : "", types[t[i]].c);
    }
    str_printf(s, ") __asm(\"_Z%zu%s%s", strlen(name), name, n ? "" : "v");
    for (unsigned i = 0; i < n; i++)
        str_puts(s, types[lies ? pick(&state, N_TYPES) : t[i]].mangled);
    str_printf(s, "\");\n__kernel void k%u(__global int *out)\n{\n    ", k);
    if (any)
        str_printf(s, "%s r = ", types[result].c);
    str_printf(s, "f%u(", k);
    for (unsigned i = 0; i < n; i++)
        str_printf(s, "%s%s", i ? ", " : "", types[t[i]].value);
    str_puts(s, ");\n");
    if (any)
        str_puts(s, "    if (*(char *)&r) out[1] = 1;\n");
    str_puts(s, "}\n");
}

/* The status, not the meaning: a built-in called so is nonsense. */
static void compile_pair(rig *r, unsigned k, const char *name)
{
    vpu_status st = rig_try_unit_kernel(r, arena_printf(r->arena, "k%u", k));

    ck_assert_msg(!st || st == VPU_ERR_COMPILE || st == VPU_ERR_UNSUPPORTED,
                  "%s, k%u: status %d: %s", name, k, st, r->err.msg);
}

START_TEST(every_builtin)
{
    str s = {0};
    rig r;

    rig_open(&r);
    str_puts(&s, "struct s { int a; float b[3]; };\n");
    for (unsigned k = 0; k < A_FILE; k++)
        put_pair(&s, builtins[(unsigned)(_i * A_FILE + (int)k) % N_BUILTINS], k,
                 (uint64_t)(_i * A_FILE) + k);
    ck_assert_msg(!rig_try_open_unit(&r, str_text(&s)), "%s", r.err.msg);
    for (unsigned k = 0; k < A_FILE; k++)
        compile_pair(&r, k,
                     builtins[(unsigned)(_i * A_FILE + (int)k) % N_BUILTINS]);
    str_free(&s);
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("names");
    TCase *c = tcase_create("names");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, one, 0, N_CASES);
    tcase_add_loop_test(c, every_builtin, 0, N_FILES);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
