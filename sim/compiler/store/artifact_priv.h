/* Between building the compiled form and packing it. */
#ifndef VPU_SIM_COMPILER_STORE_ARTIFACT_PRIV_H
#define VPU_SIM_COMPILER_STORE_ARTIFACT_PRIV_H

#include "base/str.h"
#include "isa/program.h"
#include "sim/compiler/store/artifact.h"

typedef struct {
    const sim_kernel *kernel;
    const isa_function *programs;
    uint32_t n_programs;
    const uint8_t *object; /* NULL = none */
    size_t n_object;
    const sim_sites *sites; /* NULL = none */
    const str *lines;       /* texts, each with its NUL; may be empty */
} artifact_parts;

void artifact_pack(const artifact_job *job, const artifact_parts *parts,
                   arena *a, artifact *out);

/* Sites as text, malloc'ed, and read back; false: damaged. */
char *artifact_sites_text(const sim_sites *sites);
bool artifact_sites_read(const char *text, size_t n, arena *a, sim_sites *out);

#endif
