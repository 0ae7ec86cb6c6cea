/* What of blobs depends on the OpenVINO release whose compiler writes them. */
#ifndef VPU_RUNTIME_BLOB_RELEASE_H
#define VPU_RUNTIME_BLOB_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/config/release.h"

typedef struct {
    config_release release;
    uint32_t major, minor;
    uint32_t custom;      /* stage id of custom layers */
    bool old_custom;      /* custom stages hold global sizes and an address */
    bool name_terminated; /* names of inputs have room for a zero byte */
    bool shared_dims;     /* equal dims are stored once */
    bool temp_in_bytes;   /* a custom stage's temporary is U8, else FP16 */
    bool neo;             /* kernels have .neo_metadata, else symbols */
    bool unbatched;       /* output Converts of a batch of 1 say so */
    const char *firmware; /* default package, "" = not known */
} blob_release;

/* r is not CONFIG_EVERY_RELEASE. */
const blob_release *blob_release_of(config_release r);
/* "2020.4 to 2022.3", NULL for a version no release writes. */
const char *blob_version_releases(uint32_t major, uint32_t minor);

#endif
