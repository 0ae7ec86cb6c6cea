/* Macros that double, sixteen times. */
#define A0(x) x + x
#define A1(x) A0(x) + A0(x)
#define A2(x) A1(x) + A1(x)
#define A3(x) A2(x) + A2(x)
#define A4(x) A3(x) + A3(x)
#define A5(x) A4(x) + A4(x)
#define A6(x) A5(x) + A5(x)
#define A7(x) A6(x) + A6(x)
#define A8(x) A7(x) + A7(x)
#define A9(x) A8(x) + A8(x)
#define A10(x) A9(x) + A9(x)
#define A11(x) A10(x) + A10(x)
__kernel void k(__global int *out) { out[0] = A11(out[1]); }
