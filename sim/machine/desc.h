/* The machine description: every number of the timing model, with its source.
 *
 * The default is sim/machine/ma2x8x.xml, which the program carries inside. A
 * field below exists once in params.def; the XML gives value, unit, source and
 * status (documented | inferred | calibrated | assumed) of each. */
#ifndef VPU_SIM_MACHINE_DESC_H
#define VPU_SIM_MACHINE_DESC_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* Integers are uint64_t, reals double. Units are in params.def and the XML. */
typedef struct mach_desc {
#define INT(name, min, max, unit, about) uint64_t name;
#define REAL(name, min, max, unit, about) double name;
#define MODE(name, max, value, about) uint64_t name;
#include "sim/machine/params.def"
    const char *machine; /* name, e.g. "MA2485" */
    const struct mach_param_note
        *notes; /* one per row of params.def, in order; empty for a MODE */
} mach_desc;

typedef enum {
    MACH_DOCUMENTED,
    MACH_INFERRED,
    MACH_CALIBRATED,
    MACH_ASSUMED,
    MACH_OVERRIDDEN /* by --set */
} mach_status;

/* "documented", "overridden". */
const char *mach_status_name(mach_status s);

typedef struct mach_param_note {
    const char *source;
    mach_status status;
    const char *interval; /* "198..203", what is as likely as the value; NULL:
                             not told */
} mach_param_note;

/* path NULL = the built-in description. Everything in the arena.
 *
 * VPU_ERR_IO     cannot be read
 * VPU_ERR_LIMIT  longer than 1 MiB
 * VPU_ERR_PARSE  file:line, what was found and expected: not XML, a DOCTYPE,
 *                unknown, missing or repeated parameter, a mode of the
 *                simulator, wrong unit, not a number, out of range, parameters
 *                that contradict each other
 *
 * After an error *out is not to be used. */
vpu_status mach_desc_load(const char *path, arena *a, mach_desc *out,
                          vpu_error *err);
/* The same from memory; name stands for the path in messages. */
vpu_status mach_desc_parse(const char *name, const char *data, size_t n_bytes,
                           arena *a, mach_desc *out, vpu_error *err);
/* "key=value" from --set. VPU_ERR_INVALID: unknown key (names the nearest),
 * not a number, out of range. */
vpu_status mach_desc_set(mach_desc *d, arena *a, const char *assignment,
                         vpu_error *err);
/* What bounds of single numbers cannot say: NULL, or the complaint. */
const char *mach_desc_contradiction(const mach_desc *d);
/* The table `vpu machine` prints: name, value, unit, status, source, about.
 * Below it the modes of the simulator, and the fast ways of the cache model. */
void mach_desc_print(const mach_desc *d, str *out);
/* "key=value" for each parameter that `from` gives another value; in a. */
const char *const *mach_desc_changes(const mach_desc *d, const mach_desc *from,
                                     arena *a, uint32_t *n);
/* The XML, which mach_desc_load reads again. */
void mach_desc_write(const mach_desc *d, str *out);
/* Another source, status and interval for a parameter; texts are borrowed. d's
 * notes are its own then, in a. False: there is none of that name. */
bool mach_desc_note(mach_desc *d, const char *parameter,
                    const mach_param_note *note, arena *a);
double mach_desc_seconds(const mach_desc *d, uint64_t cycles);

#endif
