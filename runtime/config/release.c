/* The table of releases. */
#include "runtime/config/release.h"

#include <strings.h>

static const char *const names[] = {
    "",       "2019R3", "2020.1", "2020.2", "2020.3", "2020.4", "2021.1",
    "2021.2", "2021.3", "2021.4", "2022.1", "2022.2", "2022.3"};

bool config_release_parse(const char *text, config_release *out)
{
    for (int i = CONFIG_2019R3; i <= CONFIG_2022_3; i++)
        if (!strcasecmp(text, names[i])) {
            *out = (config_release)i;
            return true;
        }
    return false;
}

const char *config_release_name(config_release r)
{
    return names[r];
}

const char *config_release_names(void)
{
    return "2019R3 2020.1 2020.2 2020.3 2020.4 2021.1 2021.2 2021.3 2021.4 "
           "2022.1 2022.2 2022.3";
}

static bool includes(config_range r, config_release x)
{
    return x >= r.first && x <= r.last;
}

vpu_status config_refused_by(const config_context *c, config_range by,
                             uint32_t line, uint32_t col, const char *what,
                             const char *fmt, ...)
{
    vpu_error text;
    va_list ap;

    va_start(ap, fmt);
    err_vset(&text, VPU_OK, fmt, ap);
    va_end(ap);
    if (includes(by, c->strict))
        return err_at(c->err, VPU_ERR_PARSE, c->path, line, col,
                      "%s; the compilers of OpenVINO %s to %s %s, and "
                      "this is a strict reading for %s",
                      text.msg, names[by.first], names[by.last], what,
                      names[c->strict]);
    if (by.first <= c->readers.last && by.last >= c->readers.first)
        log_note(c->log, "%s:%u: %s; the compilers of OpenVINO %s to %s %s",
                 c->path, line, text.msg, names[by.first], names[by.last],
                 what);
    return VPU_OK;
}
