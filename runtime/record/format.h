/* Numbers of the file that writer and reader share. All little-endian. */
#ifndef VPU_RUNTIME_RECORD_FORMAT_H
#define VPU_RUNTIME_RECORD_FORMAT_H

#include <stdint.h>
#include <string.h>

#define FORMAT_MAGIC "\211VPUREC\n"

enum {
    FORMAT_HEAD = 64,          /* bytes; from FORMAT_HEAD_USED on zeros */
    FORMAT_VERSION_AT = 8,     /* u32 */
    FORMAT_SECTIONS_AT = 12,   /* u32 */
    FORMAT_BYTES_AT = 16,      /* u64, of the whole file */
    FORMAT_TABLE_HASH_AT = 24, /* u64 */
    FORMAT_HEAD_HASH_AT = 32,  /* u64, of the bytes before it */
    FORMAT_HEAD_USED = 40,
    FORMAT_ENTRY = 24, /* per section: u64 offset, u64 bytes, u64 XXH64 */
    FORMAT_ALIGN = 64  /* of sections; zeros between */
};

static inline uint64_t format_get(const unsigned char *p, int n)
{
    uint64_t v = 0;

    for (int i = n; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

static inline void format_put(unsigned char *p, int n, uint64_t v)
{
    for (int i = 0; i < n; i++, v >>= 8)
        p[i] = (unsigned char)v;
}

static inline uint64_t format_align(uint64_t n)
{
    return (n + FORMAT_ALIGN - 1) / FORMAT_ALIGN * FORMAT_ALIGN;
}

#endif
