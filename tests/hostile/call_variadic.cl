/* Calls: variadic. */
int f(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); int x = __builtin_va_arg(l, int); __builtin_va_end(l); return x; }
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = f(1, 2, 3);
}
