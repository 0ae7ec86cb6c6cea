/* See late.h. The table is scripts/late-libraries', and ends with a row without
 * a file; weak, since a program need not have it. */
#include "base/late.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LIBRARIES = 16 };

extern const late_library late_libraries[] __attribute__((weak));
/* For the jumps: where the library's function is, by its number among all. */
void *late_address(uint64_t number);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded[MAX_LIBRARIES];

static vpu_status load(const late_library *l, vpu_error *err)
{
    void *handle = dlopen(l->file, RTLD_LAZY | RTLD_LOCAL);

    if (!handle)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "%s; install %s (its name on Debian)", dlerror(),
                       l->package);
    for (uint64_t i = 0; i < l->n; i++) {
        void *at = dlsym(handle, l->names[i]);

        if (!at)
            return err_set(err, VPU_ERR_UNSUPPORTED,
                           "%s has no function %s; install %s of the version "
                           "this program was built with",
                           l->file, l->names[i], l->package);
        __atomic_store_n(&l->places[i], at, __ATOMIC_RELEASE);
    }
    return VPU_OK;
}

static vpu_status load_once(const late_library *l, vpu_error *err)
{
    size_t i = (size_t)(l - late_libraries);
    vpu_status st = VPU_OK;

    pthread_mutex_lock(&lock);
    if (i >= MAX_LIBRARIES || !loaded[i]) {
        st = load(l, err);
        if (i < MAX_LIBRARIES)
            loaded[i] = !st;
    }
    pthread_mutex_unlock(&lock);
    return st;
}

vpu_status late_need(const char *library, vpu_error *err)
{
    for (const late_library *l = late_libraries; l && l->file; l++)
        if (!strncmp(l->file, library, strlen(library)))
            return load_once(l, err);
    return VPU_OK; /* it came with the program */
}

void *late_address(uint64_t number)
{
    const late_library *l = late_libraries;
    vpu_error err;

    while (number >= l->n)
        number -= l++->n;
    if (load_once(l, &err)) {
        /* Nobody asked first: there is no caller to tell. */
        fprintf(stderr, "vpusim: %s\n", err.msg);
        abort();
    }
    return l->places[number];
}
