/* Values nobody wrote, in code compiled with taint: where they come from, and
 * what they are used for. */
#include "sim/check/session_priv.h"

uint32_t origins_of(const check_session *s, uint32_t site, uint32_t addr)
{
    uint32_t o = s->origins ? s->origins[addr] : 0;

    if (o == ORIGIN_STALE)
        return ORIGIN_STALE | site;
    return o ? o : site;
}

void check_on_origins(sim_wg *wg, uint32_t site, uint32_t addr, uint32_t *out)
{
    check_session *s = check_session_of(wg);
    const sim_site *at = &s->sites->sites[site];
    uint32_t element = at->element_bytes ? at->element_bytes : at->bytes;
    uint32_t lanes = element ? at->bytes / element : 1;
    bool plain = s->sites->objects[at->object].kind == SIM_MEM_CONSTANT ||
                 addr == s->sink || !bounds_tracked(s, addr);

    if (at->kind == SITE_ATOMIC) { /* by now there is a value in it */
        out[0] = plain ? 0 : s->atomic_origin;
        return;
    }
    /* A vector of three is four in memory. */
    for (uint32_t k = 0; k < lanes; k++) {
        out[k] = 0;
        for (uint32_t b = 0; b < element && !plain && !out[k]; b++) {
            uint32_t a = addr + k * element + b;

            if (!(s->shadow[a] & SHADOW_INIT))
                out[k] = origins_of(s, site, a);
        }
    }
}

void check_on_taint(sim_wg *wg, uint32_t site, uint32_t addr,
                    const uint32_t *origins)
{
    check_session *s = check_session_of(wg);
    const sim_site *at = &s->sites->sites[site];
    uint32_t element = at->element_bytes ? at->element_bytes : at->bytes;

    if (addr == s->sink || !element)
        return;
    for (uint32_t i = 0; i < at->bytes; i++) {
        uint32_t o = origins[i / element];

        if (!o)
            continue;
        s->shadow[addr + i] &= ~(uint32_t)SHADOW_INIT;
        if (s->origins)
            s->origins[addr + i] = o;
    }
}

bool origins_converted(check_session *s, uint32_t addr)
{
    uint32_t o = s->origins ? s->origins[addr] & ~ORIGIN_STALE : 0;

    if (!o || s->sites->sites[o].kind != SITE_TO_INT)
        return false;
    check_finding_matters(s, CHECK_CONVERT, o);
    return true;
}

void check_on_use(sim_wg *wg, uint32_t site, uint32_t origin)
{
    static const char *const what[] = {[SITE_DECIDE] = "a condition depends on",
                                       [SITE_ADDRESS] =
                                           "an address or size is made from",
                                       [SITE_OUTPUT] = "global memory gets"};
    check_session *s = check_session_of(wg);
    bool stale = origin & ORIGIN_STALE;
    const sim_site *from, *at = &s->sites->sites[site];
    check_finding *f;

    origin &= ~ORIGIN_STALE;
    from = &s->sites->sites[origin];
    if (from->kind == SITE_TO_INT) {
        check_finding_matters(s, CHECK_CONVERT, origin);
        return;
    }
    if (from->kind == SITE_UNDEF || from->kind == SITE_ARRAY)
        f = check_finding_add(s, CHECK_UNINIT, site, NULL, origin,
                              "%s a value nobody gave%s%s%s", what[at->kind],
                              *from->name ? " '" : "", from->name,
                              *from->name ? "'" : "");
    else if (stale && check_finding_known(s, CHECK_UNINIT, site, origin))
        f = NULL; /* the first group on a SHAVE finds nothing there */
    else
        f = check_finding_add(
            s, stale ? CHECK_STALE : CHECK_UNINIT, site, NULL, origin,
            stale ? "%s what an earlier work-group left in '%s'"
                  : "%s bytes of '%s' nobody wrote",
            what[at->kind], s->sites->objects[from->object].name);
    if (f)
        f->other = (check_party){
            .at = &from->at,
            .what = from->kind == SITE_LOAD ? "read" : "it begins to exist"};
}
