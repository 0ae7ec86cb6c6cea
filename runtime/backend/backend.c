/* The list of backends, and looking one up. */
#include "runtime/backend/host.h"
#include "runtime/backend/ops.h"
#include "runtime/backend/usb.h"

#include <string.h>

#include "base/str.h"

const backend_ops *const backend_all[] = {
    &backend_null_ops,
    &backend_sim_ops,
    &backend_opencl_ops,
    &backend_host,
    &backend_replay,
    &backend_usb,
    NULL, /* the end */
};

vpu_status backend_find(const char *id, const backend_ops **ops,
                        const char **device, vpu_error *err)
{
    size_t n = strcspn(id, ":");
    str names = {0};

    for (int i = 0; backend_all[i]; i++) {
        const char *name = backend_all[i]->name;

        if (strlen(name) == n && !strncmp(name, id, n)) {
            *ops = backend_all[i];
            *device = id + n + (id[n] == ':');
            str_free(&names);
            return VPU_OK;
        }
        str_printf(&names, "%s%s", i ? ", " : "", name);
    }
    err_set(err, VPU_ERR_INVALID, "no backend '%.*s'; there are %s", (int)n, id,
            str_text(&names));
    str_free(&names);
    return VPU_ERR_INVALID;
}
