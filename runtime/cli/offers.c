/* See offers.h. */
#include "runtime/cli/offers.h"

#include <string.h>

#include "runtime/backend/backend.h"
#include "runtime/config/layer.h"

static bool ends_with(const char *word, const char *end)
{
    size_t n = strlen(word), e = strlen(end);

    return n > e && !strcmp(word + n - e, end);
}

void offers_layers(char *const *words, str *out)
{
    arena *a = arena_create(0);
    config_file file;

    while (*words && !ends_with(*words, ".xml"))
        words++;
    if (*words &&
        !config_file_read(*words, a, NULL, CONFIG_EVERY_RELEASE, &file, NULL))
        for (size_t i = 0; i < file.n_layers; i++)
            str_printf(out, "%s\tline %u\n", file.layers[i].type,
                       (unsigned)file.layers[i].line);
    arena_destroy(a);
}

void offers_numbers(char *const *words, str *out)
{
    (void)words;
#define INT(name, min, max, unit, about) \
    str_puts(out, #name "=\t" about ", " unit "\n");
#define REAL(name, min, max, unit, about) INT(name, min, max, unit, about)
#define MODE(name, max, value, about) str_puts(out, #name "=\t" about "\n");
#include "sim/machine/params.def"
}

void offers_checks(char *const *words, str *out)
{
    (void)words;
#define CHECK(id, name, on, level, from, about, advice) \
    str_puts(out, name "\t" about "\n");
#include "sim/check/check.def"
#undef CHECK
}

void offers_findings(char *const *words, str *out)
{
    (void)words;
#define CHECK(id, name, summary, tip) str_puts(out, name "\t" summary "\n");
#include "runtime/lint/checks.def"
#undef CHECK
}

void offers_devices(char *const *words, str *out)
{
    arena *a = arena_create(0);

    (void)words;
    for (int i = 0; backend_all[i]; i++) {
        backend_device *found;
        uint32_t n;

        if (backend_all[i]->probe(a, &found, &n, NULL))
            continue;
        for (uint32_t k = 0; k < n; k++)
            if (found[k].usable)
                str_printf(out, "%s\t%s\n", found[k].id, found[k].name);
    }
    arena_destroy(a);
}
