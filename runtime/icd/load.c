/* The simulator's library, when it is first needed. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "runtime/icd/icd.h"

#define LIBRARY "libvpusim.so.0"

/* Beside this library, where both are built; in the folder above, where `make
 * install` puts it; else where the linker looks. */
static void *open_library(void)
{
    static const char *const places[] = {"/" LIBRARY, "/../" LIBRARY};
    char path[4096];
    Dl_info here;
    const char *slash;
    void *lib = NULL;

    if (dladdr(&icd_platform, &here) && here.dli_fname &&
        (slash = strrchr(here.dli_fname, '/')) && slash - here.dli_fname < 4000)
        for (size_t k = 0; k < sizeof places / sizeof *places && !lib; k++) {
            snprintf(path, sizeof path, "%.*s%s", (int)(slash - here.dli_fname),
                     here.dli_fname, places[k]);
            lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
    return lib ? lib : dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

const core_table *icd_core_load(vpu_error *err)
{
    void *lib = open_library();
    const core_table *core = lib ? dlsym(lib, "vpusim_icd_core") : NULL;

    if (!core) {
        err_set(err, VPU_ERR_IO,
                "%s; expected " LIBRARY
                " beside the driver or in the folder above",
                dlerror());
        return NULL;
    }
    if (strcmp(core->version, VPU_VERSION)) {
        err_set(err, VPU_ERR_MISMATCH,
                LIBRARY " is of version %.40s, the driver of " VPU_VERSION,
                core->version);
        return NULL;
    }
    return core;
}
