/* Functions that call two of the one before. */
int f0(int x) { return x * 3; }
int f1(int x) { return f0(x) + f0(x + 1); }
int f2(int x) { return f1(x) + f1(x + 1); }
int f3(int x) { return f2(x) + f2(x + 1); }
int f4(int x) { return f3(x) + f3(x + 1); }
int f5(int x) { return f4(x) + f4(x + 1); }
int f6(int x) { return f5(x) + f5(x + 1); }
int f7(int x) { return f6(x) + f6(x + 1); }
int f8(int x) { return f7(x) + f7(x + 1); }
int f9(int x) { return f8(x) + f8(x + 1); }
int f10(int x) { return f9(x) + f9(x + 1); }
int f11(int x) { return f10(x) + f10(x + 1); }
__kernel void k(__global int *out) { out[0] = f11(out[1]); }
