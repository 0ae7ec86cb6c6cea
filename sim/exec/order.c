/* The random order is a four-round Feistel network over the next power of four,
 * walked until it lands below n: a bijection for every n and seed. */
#include "sim/exec/order.h"

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

uint64_t exec_order_at(exec_order order, uint64_t seed, uint64_t n, uint64_t i)
{
    unsigned half = 1;
    uint64_t mask;

    if (order == EXEC_SEQUENTIAL || n < 2)
        return i;
    if (order == EXEC_REVERSE)
        return n - 1 - i;
    while (half < 32 && (UINT64_C(1) << 2 * half) < n)
        half++;
    mask = (UINT64_C(1) << half) - 1;
    do {
        uint64_t l = i >> half, r = i & mask;

        for (uint64_t round = 0; round < 4; round++) {
            uint64_t t = l ^ (mix(r + mix(seed + round)) & mask);

            l = r;
            r = t;
        }
        i = l << half | r;
    } while (i >= n);
    return i;
}
