/* Releases of the vendor's compiler, and what each of them refuses.
 *
 * A binding file is read for one release, or for none in particular. In the
 * second case, what some compiler refuses is accepted where its meaning is
 * clear, with a note in the log that names those compilers. */
#ifndef VPU_RUNTIME_CONFIG_RELEASE_H
#define VPU_RUNTIME_CONFIG_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"

/* Oldest first. */
typedef enum {
    CONFIG_EVERY_RELEASE, /* no release in particular: notes, not errors */
    CONFIG_2019R3,
    CONFIG_2020_1,
    CONFIG_2020_2,
    CONFIG_2020_3,
    CONFIG_2020_4,
    CONFIG_2021_1,
    CONFIG_2021_2,
    CONFIG_2021_3,
    CONFIG_2021_4,
    CONFIG_2022_1,
    CONFIG_2022_2,
    CONFIG_2022_3
} config_release;

/* Both ends included. */
typedef struct {
    config_release first, last;
} config_range;

/* Those there are, and those that read the flat and the nested form. */
#define CONFIG_RELEASES ((config_range){CONFIG_2019R3, CONFIG_2022_3})
#define CONFIG_FLAT_RELEASES ((config_range){CONFIG_2019R3, CONFIG_2020_3})
#define CONFIG_NESTED_RELEASES ((config_range){CONFIG_2020_4, CONFIG_2022_3})

/* "2019R3", "2020.1" ... "2022.3", any case; false for other text. */
bool config_release_parse(const char *text, config_release *out);
const char *config_release_name(config_release r);
/* All names, blank-separated, for messages. */
const char *config_release_names(void);

/* Who reads what, where it stands, and where remarks go. */
typedef struct {
    config_release strict;
    config_range readers; /* compilers that get as far as this place */
    const char *path;
    const log_sink *log;
    vpu_error *err;
} config_context;

/* What the text describes is refused by, or means something else to, the
 * compilers `by`: VPU_ERR_PARSE when the file is read for one of them; else
 * VPU_OK, with a note when one of c->readers is among them. The message is
 * "path:line:col: [error: ]text; the compilers of OpenVINO A to B refuse it"
 * (what = "refuse it"). */
vpu_status config_refused_by(const config_context *c, config_range by,
                             uint32_t line, uint32_t col, const char *what,
                             const char *fmt, ...) VPU_PRINTF(6, 7);

#endif
