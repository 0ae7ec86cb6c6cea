/* What may be changed. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "runtime/whatif/whatif.h"

/* Settings in a text, with blanks or commas between them. False: too many. */
static bool split_settings(const char *text, const char *between, arena *a,
                           whatif_knob *k)
{
    char *rest = arena_strdup(a, text), *word;

    while ((word = strsep(&rest, between))) {
        if (!*word)
            continue;
        if (k->n_settings == WHATIF_MAX_SETTINGS)
            return false;
        k->settings[k->n_settings++] = word;
    }
    return true;
}

static void add_shaves(whatif_knob *list, size_t *n, uint32_t shaves, arena *a)
{
    list[(*n)++] = (whatif_knob){
        .name = arena_printf(a, "shaves=%u", shaves),
        .about = arena_printf(a, "%u SHAVE%s", shaves, shaves == 1 ? "" : "s"),
        .shaves = shaves};
}

const whatif_knob *whatif_knobs(const mach_desc *desc, uint32_t n_shaves,
                                arena *a, size_t *n)
{
    static const whatif_knob rows[] = {
#define WHATIF_KNOB(id, what, text) \
    {.name = id, .about = what, .settings = {text}, .n_settings = 1},
#include "runtime/whatif/whatif.def"
    };
    size_t n_rows = sizeof rows / sizeof *rows;
    whatif_knob *list = arena_array(a, whatif_knob, WHATIF_MAX_KNOBS);

    *n = 0;
    for (size_t i = 0; i < n_rows; i++) {
        whatif_knob *k = &list[(*n)++];

        *k = rows[i];
        k->n_settings = 0;
        split_settings(rows[i].settings[0], " ", a, k);
    }
    list[(*n)++] = (whatif_knob){.name = "issue",
                                 .about = "operations take no cycles",
                                 .scale = {.on = true, .stall = 1}};
    for (whatif_edit e = WHATIF_NO_EDIT + 1; e < WHATIF_N_EDITS; e++)
        list[(*n)++] = (whatif_knob){.name = whatif_edit_name(e),
                                     .about = whatif_edit_about(e),
                                     .edit = e};
    /* One less, for crowds that one SHAVE more makes; halves; all. */
    if (n_shaves > 2)
        add_shaves(list, n, n_shaves - 1, a);
    for (uint32_t s = n_shaves / 2; s > 0; s /= 2)
        add_shaves(list, n, s, a);
    if (n_shaves < desc->num_shaves)
        add_shaves(list, n, (uint32_t)desc->num_shaves, a);
    list[(*n)++] = (whatif_knob){.name = "reverse",
                                 .about = "the last work-group first",
                                 .reverse = true};
    return list;
}

static vpu_status take_shaves(const char *value, const mach_desc *desc,
                              whatif_knob *out, vpu_error *err)
{
    unsigned long long n;

    if (!str_to_u64(value, &n) || !n || n > desc->num_shaves)
        return err_set(err, VPU_ERR_INVALID,
                       "shaves=%s: expected 1 to %llu, those of the machine",
                       value, (unsigned long long)desc->num_shaves);
    out->shaves = (uint32_t)n;
    return VPU_OK;
}

/* "grn.cl:18*0.5", "18*0". */
static vpu_status take_line(const char *value, bool issue, arena *a,
                            whatif_knob *out, vpu_error *err)
{
    char *text = arena_strdup(a, value), *star = strchr(text, '*'), *colon;
    char *end = NULL;
    double factor = star ? strtod(star + 1, &end) : -1;
    unsigned long long line = 0;

    if (star)
        *star = 0;
    colon = strrchr(text, ':');
    if (!star || !star[1] || *end || !(factor >= 0 && factor <= 1) ||
        !str_to_u64(colon ? colon + 1 : text, &line) || !line ||
        line > UINT32_MAX)
        return err_set(err, VPU_ERR_INVALID,
                       "%s=%s: expected [FILE:]LINE*FACTOR, FACTOR from 0 to 1",
                       issue ? "issue" : "stall", value);
    if (colon)
        *colon = 0;
    out->scale = (whatif_scale){.on = true,
                                .line = (uint32_t)line,
                                .file = colon ? text : NULL,
                                .issue = issue ? factor : 1,
                                .stall = issue ? 1 : factor};
    return VPU_OK;
}

/* One of the known knobs beside what is there. False: they contradict. */
static bool join(whatif_knob *to, const whatif_knob *k)
{
    if ((to->shaves && k->shaves) || (to->edit && k->edit) ||
        (to->scale.on && k->scale.on) || (to->local && k->local) ||
        to->n_settings + k->n_settings > WHATIF_MAX_SETTINGS)
        return false;
    for (uint32_t i = 0; i < k->n_settings; i++)
        to->settings[to->n_settings++] = k->settings[i];
    to->shaves = to->shaves ? to->shaves : k->shaves;
    to->edit = to->edit ? to->edit : k->edit;
    to->local = to->local ? to->local : k->local;
    to->reverse |= k->reverse;
    if (k->scale.on)
        to->scale = k->scale;
    return true;
}

typedef struct {
    const mach_desc *desc;
    const whatif_knob *known;
    size_t n_known;
    arena *a;
} parsing;

static vpu_status take_name(const parsing *p, const char *name,
                            whatif_knob *out, vpu_error *err)
{
    str names = {.arena = p->a};

    for (size_t i = 0; i < p->n_known; i++)
        if (!strcmp(p->known[i].name, name))
            return join(out, &p->known[i])
                       ? VPU_OK
                       : err_set(err, VPU_ERR_INVALID,
                                 "%s: another one of the list excludes it",
                                 name);
    for (size_t i = 0; i < p->n_known; i++)
        str_printf(&names, "%s%s", i ? ", " : "", p->known[i].name);
    return err_set(err, VPU_ERR_INVALID,
                   "%s: expected KEY=VALUE, as for --set, or one of %s", name,
                   str_text(&names));
}

static vpu_status take_word(const parsing *p, char *word, whatif_knob *out,
                            vpu_error *err)
{
    mach_desc trial = *p->desc;
    whatif_knob own = {.name = word};
    vpu_status st = VPU_OK;

    if (!strchr(word, '=') || !strncmp(word, "shaves=", 7)) {
        if (strchr(word, '='))
            st = take_shaves(word + 7, p->desc, &own, err);
        else
            return take_name(p, word, out, err);
    } else if (!strncmp(word, "local=", 6)) {
        own.local = word + 6; /* looked at with the launches */
    } else if (!strncmp(word, "issue=", 6) || !strncmp(word, "stall=", 6)) {
        st = take_line(word + 6, *word == 'i', p->a, &own, err);
    } else {
        own.settings[own.n_settings++] = word;
        st = mach_desc_set(&trial, p->a, word, err);
    }
    if (!st && !join(out, &own))
        st = err_set(err, VPU_ERR_INVALID,
                     "%s: given twice, or more than %d settings", word,
                     WHATIF_MAX_SETTINGS);
    return st;
}

vpu_status whatif_knob_parse(const char *text, const mach_desc *desc,
                             const whatif_knob *known, size_t n_known, arena *a,
                             whatif_knob *out, vpu_error *err)
{
    const parsing p = {desc, known, n_known, a};
    char *rest = arena_strdup(a, text), *word;
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < n_known; i++)
        if (!strcmp(known[i].name, text)) {
            *out = known[i];
            return VPU_OK;
        }
    *out = (whatif_knob){.name = text, .about = ""};
    if (!*text)
        return take_name(&p, text, out, err);
    while ((word = strsep(&rest, ",")) && !st)
        if (*word)
            st = take_word(&p, word, out, err);
    return st;
}
