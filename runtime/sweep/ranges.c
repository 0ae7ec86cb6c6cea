/* Ranges of numbers in manifests. */
#include "runtime/sweep/ranges.h"

#include <math.h>
#include <string.h>

#include "base/str.h"

static bool is_whole(double x)
{
    return x == floor(x) && fabs(x) < 1e15;
}

/* Numbers that are written without a point are whole. */
static bool writes_whole(const char *low, const char *high,
                         const sweep_range *r)
{
    return !strpbrk(low, ".eExX") && !strpbrk(high, ".eExX") &&
           is_whole(r->low) && is_whole(r->high);
}

bool sweep_range_read(const char *text, arena *a, sweep_range *out)
{
    const char *dots = strstr(text, ".."), *slash, *low, *high;

    if (!dots)
        return false;
    *out = (sweep_range){0};
    slash = strchr(dots, '/');
    low = arena_strndup(a, text, (size_t)(dots - text));
    high = slash ? arena_strndup(a, dots + 2, (size_t)(slash - dots - 2))
                 : dots + 2;
    if ((slash && !str_to_u64(slash + 1, &out->n)) ||
        !str_to_f64(low, &out->low) || !str_to_f64(high, &out->high))
        return false;
    out->whole =
        writes_whole(low, high, out) &&
        (out->n < 2 || is_whole((out->high - out->low) / (double)(out->n - 1)));
    return isfinite(out->low) && isfinite(out->high) && (!slash || out->n);
}

const char *sweep_number_text(arena *a, double x, bool whole)
{
    return whole ? arena_printf(a, "%.0f", floor(x + 0.5))
                 : arena_printf(a, "%.12g", x);
}
