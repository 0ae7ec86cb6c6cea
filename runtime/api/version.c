/* Which library it is, and what its statuses mean. */
#include "include/vpusim/vpu.h"

#include "base/err.h"

const char *vpu_version(void)
{
    return VPU_VERSION;
}

uint32_t vpu_api_version(void)
{
    return VPU_API_VERSION;
}

const char *vpu_status_text(vpu_status status)
{
    return err_status_text(status);
}
