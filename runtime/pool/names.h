/* Private to runtime/pool: how reports call an item. */
#ifndef VPU_RUNTIME_POOL_NAMES_H
#define VPU_RUNTIME_POOL_NAMES_H

#include "base/str.h"

/* names[i], or "item I" where there is none, in place of what is in out. */
void pool_name_of(const char *const *names, size_t i, str *out);

#endif
