/* Random factors, by their number. */
#include "runtime/stick/noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { MAX_PERCENT = 20, MAX_DEVIATIONS = 4 };

bool stick_noise_parse(const char *text, stick_noise *out)
{
    char *end;
    double percent = strtod(text, &end);
    unsigned long long seed = 1;

    if (end == text || !(percent >= 0 && percent <= MAX_PERCENT) ||
        (*end && *end != ':') || (*end && !str_to_u64(end + 1, &seed)))
        return false;
    *out = (stick_noise){percent, seed};
    return true;
}

/* From 0 to 1, neither of them: 53 bits of a mixed counter (splitmix64). */
static double uniform(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return ((double)(x >> 11) + 0.5) / 9007199254740992.0;
}

double stick_noise_factor(const stick_noise *x, uint64_t n)
{
    const double two_pi = 6.28318530717958647692;
    uint64_t from = (x->seed << 40) + 2 * n;
    double g;

    if (x->percent <= 0)
        return 1;
    /* Box and Muller's pair, of which one is enough. */
    g = sqrt(-2 * log(uniform(from))) * cos(two_pi * uniform(from + 1));
    if (g > MAX_DEVIATIONS)
        g = MAX_DEVIATIONS;
    if (g < -MAX_DEVIATIONS)
        g = -MAX_DEVIATIONS;
    return 1 + x->percent / 100 * g;
}
