/* Doubtful operations on values: the code found the condition to hold. */
#include <string.h>

#include "sim/builtins/routines.h"
#include "sim/check/session_priv.h"

/* A scalar operand from its bits; bytes = 0: a lane of a vector, not told. */
static double number(uint64_t bits, uint32_t bytes)
{
    uint32_t n = (uint32_t)bits;
    float f;

    if (bytes == 2) {
        uint16_t b = (uint16_t)bits;
        builtin_half h;

        memcpy(&h, &b, sizeof h);
        return (double)h;
    }
    memcpy(&f, &n, sizeof f);
    return (double)f;
}

void check_on_value(sim_wg *wg, uint32_t site, uint64_t x, uint64_t y)
{
    check_session *s = check_session_of(wg);
    const sim_site *at = &s->sites->sites[site];
    check_finding *f;

    switch (at->kind) {
    case SITE_DIVIDE:
        if (y)
            check_finding_add(s, CHECK_DIVIDE, site, NULL, 0,
                              "divides the least number there is by -1");
        else
            check_finding_add(s, CHECK_DIVIDE, site, NULL, 0,
                              "divides by zero");
        return;
    case SITE_SHIFT:
        check_finding_add(s, CHECK_SHIFT, site, NULL, 0,
                          "shifts %u bits by %lld places", at->bits,
                          (long long)x);
        return;
    case SITE_TO_INT:
        f = check_finding_add(
            s, CHECK_CONVERT, site, NULL, 0,
            "converts %g to an %sinteger of %u bits, which cannot hold "
            "it",
            number(x, at->element_bytes), at->is_signed ? "" : "unsigned ",
            at->bits);
        /* Whether that matters, code with taint finds out. */
        s->needs_taint[s->number] = true;
        if (f)
            f->note = s->sites->tainted;
        return;
    case SITE_HALF:
        check_finding_add(
            s, CHECK_HALF, site, NULL, 0,
            "a finite operand (%g) makes infinity: half ends at 65504",
            at->bits ? (double)(int64_t)x : number(x, at->element_bytes));
        return;
    case SITE_INDEX:
        check_finding_add(s, CHECK_BOUNDS, site, NULL, 0,
                          "index %lld of an array of %u elements", (long long)x,
                          at->bits);
        return;
    case SITE_NAN:
        check_finding_add(s, CHECK_NAN, site, NULL, 0,
                          "finite operands (%g) make NaN or infinity",
                          number(x, at->element_bytes));
        return;
    default:
        return;
    }
}
