/* Commands that have commands of their own. */
#include <string.h>

#include "base/nearest.h"
#include "runtime/cli/cli.h"

static const char *word_of(const cli_command *part)
{
    return strrchr(part->name, ' ') + 1;
}

static const cli_command *part_of(const cli_command *c, const char *word)
{
    for (size_t i = 0; word && c->parts && c->parts[i]; i++)
        if (!strcmp(word_of(c->parts[i]), word))
            return c->parts[i];
    return NULL;
}

const cli_command *cli_find(const cli_command *const *list, size_t n,
                            char *const *argv, int *words)
{
    const cli_command *part;

    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i]->name, argv[0])) {
            part = part_of(list[i], argv[1]);
            *words = part ? 2 : 1;
            return part ? part : list[i];
        }
    return NULL;
}

int cli_no_part(const cli_command *c, const char *word)
{
    nearest n = {.word = word};
    str names = {0};
    int rc;

    for (size_t i = 0; c->parts[i]; i++) {
        str_printf(&names, "%s%s",
                   !i                ? ""
                   : c->parts[i + 1] ? ", "
                                     : " or ",
                   word_of(c->parts[i]));
        if (word)
            nearest_offer(&n, word_of(c->parts[i]));
    }
    if (!word)
        rc = cli_usage(c, "expected %s", str_text(&names));
    else if (n.best)
        rc = cli_usage(c, "no '%s'; did you mean %s?", word, n.best);
    else
        rc = cli_usage(c, "no '%s': expected %s", word, str_text(&names));
    str_free(&names);
    return rc;
}

void cli_help_parts(const cli_command *c, str *out)
{
    for (size_t i = 0; c->parts && c->parts[i]; i++)
        str_printf(out, "  %-12s %s\n", word_of(c->parts[i]),
                   c->parts[i]->summary);
}
