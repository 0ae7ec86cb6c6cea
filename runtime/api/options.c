/* Option structures of callers, and what all functions refuse. */
#include <string.h>

#include "runtime/api/api_priv.h"

vpu_status api_take_options(void *to, size_t size, const void *given,
                            const char *type, vpu_error *err)
{
    size_t has;

    memset(to, 0, size);
    if (!given)
        return VPU_OK;
    memcpy(&has, given, sizeof has);
    if (has < sizeof has)
        return err_set(err, VPU_ERR_INVALID,
                       "%s: struct_size is %zu; its _INIT macro sets it", type,
                       has);
    if (has > size)
        return err_set(err, VPU_ERR_INVALID,
                       "%s: struct_size is %zu, this library knows %zu bytes: "
                       "the program was built for a newer one",
                       type, has, size);
    memcpy(to, given, has);
    return VPU_OK;
}

vpu_status api_need(const void *p, const char *what, vpu_error *err)
{
    return p ? VPU_OK : err_set(err, VPU_ERR_INVALID, "%s is NULL", what);
}

vpu_status api_check_enum(uint32_t value, uint32_t last, const char *what,
                          vpu_error *err)
{
    return value <= last ? VPU_OK
                         : err_set(err, VPU_ERR_INVALID,
                                   "%s is %u, which this library does not know",
                                   what, value);
}

const char *const *api_copy_list(arena *a, const char *const *list, size_t n)
{
    const char **copy = arena_array(a, const char *, n + 1);

    for (size_t i = 0; i < n; i++)
        copy[i] = arena_strdup(a, list[i]);
    return copy;
}
