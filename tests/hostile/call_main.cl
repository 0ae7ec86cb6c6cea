/* Calls: main. */
int main(void) { return 1; }
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = main();
}
