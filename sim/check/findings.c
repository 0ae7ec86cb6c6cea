/* The list of findings, and who the other side of one was. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sim/check/session_priv.h"

enum { MAX_EVENTS = 1 << 16 };

typedef enum { LEVEL_ERROR, LEVEL_NOTE } level;
typedef enum { FROM_ACCESSES, FROM_ORDERS, FROM_LAUNCH } from;

static const struct {
    const char *name, *about, *advice;
    bool on;
    level level;
    from from;
} checkers[] = {
#define CHECK(id, name, on, level, from, about, advice) \
    {name, about, advice, on, LEVEL_##level, FROM_##from},
#include "sim/check/check.def"
#undef CHECK
};

const char *check_name(check_kind k)
{
    return checkers[k].name;
}

bool check_is_note(check_kind k)
{
    return checkers[k].level == LEVEL_NOTE;
}

bool check_set_accesses(check_set set)
{
    for (int k = 0; k < CHECK_N; k++)
        if (set & CHECK_BIT(k) && checkers[k].from == FROM_ACCESSES)
            return true;
    return false;
}

const char *check_about(check_kind k)
{
    return checkers[k].about;
}

const char *check_advice(check_kind k)
{
    return checkers[k].advice;
}

check_set check_default(void)
{
    check_set set = 0;

    for (int k = 0; k < CHECK_N; k++)
        set |= checkers[k].on ? CHECK_BIT(k) : 0;
    return set;
}

/* --- names --------------------------------------------------------------- */

static vpu_status unknown(const char *word, size_t n, vpu_error *err)
{
    str list = {0};
    vpu_status st;

    for (int k = 0; k < CHECK_N; k++)
        str_printf(&list, "%s%s", k ? ", " : "", checkers[k].name);
    st = err_set(err, VPU_ERR_INVALID,
                 "no checker '%.*s'; there are all, none, default, %s", (int)n,
                 word, str_text(&list));
    str_free(&list);
    return st;
}

static bool is(const char *word, size_t n, const char *name)
{
    return strlen(name) == n && !memcmp(word, name, n);
}

static bool find(const char *word, size_t n, check_set *out)
{
    *out = 0;
    if (is(word, n, "all"))
        *out = (1u << CHECK_N) - 1;
    else if (is(word, n, "default"))
        *out = check_default();
    else if (is(word, n, "none"))
        return true;
    for (int k = 0; k < CHECK_N; k++)
        if (is(word, n, checkers[k].name))
            *out = CHECK_BIT(k);
    return *out;
}

vpu_status check_set_parse(const char *text, check_set *out, vpu_error *err)
{
    check_set set = *text == '-' ? check_default() : 0, one;

    for (;;) {
        size_t n = strcspn(text, ",");
        bool minus = *text == '-';

        if (!find(text + minus, n - minus, &one))
            return unknown(text, n, err);
        set = minus ? set & ~one : set | one;
        if (!text[n])
            break;
        text += n + 1;
    }
    *out = set;
    return VPU_OK;
}

/* --- findings ------------------------------------------------------------ */

static const char *verb(const sim_site *s)
{
    switch (s->kind) {
    case SITE_LOAD:
    case SITE_BLOCK_READ:
        return "reads";
    case SITE_STORE:
    case SITE_BLOCK_WRITE:
        return "writes";
    case SITE_ATOMIC:
        return "changes atomically";
    case SITE_COPY:
        return "copies";
    case SITE_BARRIER:
        return "waits at a barrier";
    case SITE_WAIT:
        return "waits for a transfer";
    default:
        return "";
    }
}

static bool by_group_alone(sim_site_kind k)
{
    return k == SITE_COPY || k == SITE_WAIT || k == SITE_NONE;
}

static check_party party(check_session *s, uint32_t site)
{
    static const sim_site none;
    const sim_site *at = s->sites ? &s->sites->sites[site] : &none;

    return (check_party){.at = site ? &at->at : NULL,
                         .what = verb(at),
                         .has_group = s->args != NULL,
                         .has_item =
                             s->args != NULL && !by_group_alone(at->kind),
                         .group = s->group,
                         .item = s->wg->check.item};
}

static check_finding *known(check_session *s, const check_finding_key *k)
{
    for (size_t i = 0; i < s->n_findings; i++)
        if (!memcmp(&s->keys[i], k, sizeof *k)) {
            s->findings[i].count++;
            return &s->findings[i];
        }
    return NULL;
}

bool check_finding_known(check_session *s, check_kind kind, uint32_t site,
                         uint32_t extra)
{
    check_finding_key key = {.kind = kind,
                             .launch = s->number,
                             .site = site,
                             .object = s->sites->sites[site].object,
                             .extra = extra};

    return known(s, &key) != NULL;
}

void check_finding_matters(check_session *s, check_kind kind, uint32_t site)
{
    check_finding_key key = {.kind = kind,
                             .launch = s->number,
                             .site = site,
                             .object = s->sites->sites[site].object};

    for (size_t i = 0; i < s->n_findings; i++)
        if (!memcmp(&s->keys[i], &key, sizeof key))
            s->findings[i].note = false;
}

void check_findings_free(check_finding *f)
{
    free(f->text);
}

check_finding *check_finding_add(check_session *s, check_kind kind,
                                 uint32_t site, const check_extent *where,
                                 uint32_t extra, const char *fmt, ...)
{
    const sim_site *at = s->sites ? &s->sites->sites[site] : NULL;
    check_finding_key key = {.kind = kind,
                             .launch = s->number,
                             .site = site,
                             .object = at ? at->object : 0,
                             .extra = extra};
    check_finding *f;
    va_list ap;
    str text = {0};

    if (!(s->cfg.enabled & CHECK_BIT(kind)) || known(s, &key))
        return NULL;
    if (s->n_findings == MAX_FINDINGS) {
        s->dropped++;
        return NULL;
    }
    va_start(ap, fmt);
    str_vprintf(&text, fmt, ap);
    va_end(ap);
    *arena_append(s->arena, s->keys, s->n_keys, s->cap_keys) = key;
    *arena_append(s->arena, s->watched_at, s->n_watched, s->cap_watched) = 0;
    f = arena_append(s->arena, s->findings, s->n_findings, s->cap_findings);
    *f = (check_finding){.kind = kind,
                         .launch = s->number,
                         .kernel = s->launch->kernel->name,
                         .text = text.data,
                         .by = party(s, site),
                         .element_bytes = at ? at->element_bytes : 0,
                         .count = 1};
    f->memory.name = f->memory.arg = "";
    if (where) {
        f->memory = where->memory;
        /* CMX lies elsewhere, with more room than the device's. */
        if (!where->cmx)
            f->memory.address = (uint32_t)(where->base + where->memory.offset);
    }
    memcpy(f->groups, s->launch->groups, sizeof f->groups);
    memcpy(f->local, s->launch->local, sizeof f->local);
    return f;
}

const check_finding *check_findings(const check_session *s, size_t *n)
{
    *n = s->n_findings;
    return s->findings;
}

uint64_t check_dropped(const check_session *s)
{
    return s->dropped;
}

/* --- the other side ------------------------------------------------------ */

static check_watch *watch_of(check_session *s, uint32_t address)
{
    for (size_t i = 0; i < s->n_watches; i++)
        if (s->watches[i].address == address &&
            s->watches[i].launch == s->number)
            return &s->watches[i];
    return NULL;
}

void check_finding_watch(check_session *s, const check_access *x, bool cmx)
{
    for (size_t i = 0; i < s->n_watches; i++) {
        check_watch *w = &s->watches[i];

        if (w->launch != s->number || w->address < x->address ||
            w->address - x->address >= x->n || w->n_events == MAX_EVENTS)
            continue;
        *arena_append(s->arena, w->events, w->n_events, w->cap_events) =
            (check_event){.site = x->site,
                          .item = s->wg->check.item,
                          .group = s->group,
                          .interval = check_session_clock(s, cmx)->interval,
                          .write = check_changes(x->use),
                          .copy = x->copy};
    }
}

void check_finding_other(check_session *s, check_finding *f, uint32_t address,
                         bool cmx, bool other_group, bool only_writes)
{
    const check_watch *w = watch_of(s, address);
    uint64_t now = check_session_clock(s, cmx)->interval;

    s->watched_at[f - s->findings] = address;
    for (size_t i = w ? w->n_events : 0; i-- > 0;) {
        const check_event *e = &w->events[i];
        bool other = other_group
                         ? e->group != s->group
                         : e->group == s->group && e->interval == now &&
                               (e->copy || e->item != s->wg->check.item);

        if (!other || (only_writes && !e->write))
            continue;
        f->other = party(s, e->site);
        f->other.group = e->group;
        f->other.item = e->item;
        f->other.has_item &= !e->copy;
        return;
    }
}
