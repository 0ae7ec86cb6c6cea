/* The routines on the host. Half versions compute in double and round once. */
#include "sim/builtins/routines.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static double powr(double x, double y)
{
    return x < 0 ? NAN : pow(x, y);
}
static float powrf(float x, float y)
{
    return x < 0 ? NAN : powf(x, y);
}
static double rsqrt(double x)
{
    return 1.0 / sqrt(x);
}
static float rsqrtf(float x)
{
    /* Two roundings in float would cost up to 1 ulp; OpenCL allows 2, but the
     * double path is as fast and correctly rounded almost always. */
    return (float)(1.0 / sqrt((double)x));
}
/* A half product has at most 22 significant bits, so fma in double is exact
 * unless the addend lies more than 30 binary places away; the double result then
 * still holds the sticky bits a single rounding to half needs. */

#define ARGS_1(t, c) t a
#define ARGS_2(t, c) t a, t b
#define ARGS_3(t, c) t a, t b, t d
#define PASS_1(c) (c) a
#define PASS_2(c) (c) a, (c) b
#define PASS_3(c) (c) a, (c) b, (c) d

#define ROUTINE(name, n, cost16, cost32, about)                 \
    static sim_half name##_16(ARGS_##n(sim_half, double))       \
    {                                                           \
        return (sim_half)name(PASS_##n(double));                \
    }                                                           \
    static float name##_32(ARGS_##n(float, float))              \
    {                                                           \
        return name##f(PASS_##n(float));                        \
    }
#include "sim/builtins/routines.def"

const sim_routine sim_routines[] = {
#define ROUTINE(name, n, c16, c32, about) \
    {#name, n, c16, c32, (void *)(uintptr_t)name##_16, \
     (void *)(uintptr_t)name##_32},
#include "sim/builtins/routines.def"
};
const uint32_t sim_n_routines = sizeof sim_routines / sizeof *sim_routines;

const sim_routine *sim_routine_find(const char *name)
{
    size_t n;

    if (!strncmp(name, "__vpu_", 6))
        name += 6;
    n = strlen(name);
    if (n > 4 && (!strcmp(name + n - 4, "_f16") || !strcmp(name + n - 4, "_f32")))
        n -= 4;
    for (uint32_t i = 0; i < sim_n_routines; i++)
        if (strlen(sim_routines[i].name) == n &&
            !strncmp(sim_routines[i].name, name, n))
            return &sim_routines[i];
    return NULL;
}

sim_half sim_half_directed(float x, int direction)
{
    sim_half h = (sim_half)x;
    uint16_t bits;
    bool up, away;

    if (isnan(x) || (float)h == x)
        return h;
    /* h is one of the two neighbours of x: step to the other one if the
     * direction asks for it. */
    up = direction == 'p' || (direction == 'z' && x < 0);
    if (up ? (float)h > x : (float)h < x)
        return h;
    memcpy(&bits, &h, 2);
    away = up == !(bits & 0x8000);
    if (!(bits & 0x7fff))
        bits = up ? 0x0001 : 0x8001;
    else
        bits = (uint16_t)(away ? bits + 1 : bits - 1);
    memcpy(&h, &bits, 2);
    return h;
}
