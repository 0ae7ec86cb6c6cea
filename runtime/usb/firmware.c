/* Walks the commands of an image by their first bytes; finds the places to
 * patch and the release of images that are known. */
#include "runtime/usb/firmware.h"

#include <string.h>
#include <xxhash.h>

static const uint8_t magic[4] = {'M', 'A', '2', 'x'};

enum {
    CMD_NOP = 0x00,
    CMD_READ = 0x84,        /* address, length 16: answers; Luxonis only */
    CMD_WRITE_WORDS = 0x8a, /* address, count 16, count words */
    CMD_WRITE_BYTE = 0x98,  /* address, byte */
    CMD_WRITE_WORD = 0x9a,  /* address, word */
    CMD_EXECUTE = 0xa4,     /* address; the last */
    CMD_COMMENT = 0xa8,     /* length 16, text */
    CMD_CALL = 0xba,        /* address */
    CMD_C9 = 0xc9 /* two bytes, ff 55 in all images seen; meaning unknown [U] */
};

enum { EXECUTE_BYTES = 5, WRITE_BYTE_BYTES = 6 };

/* Where the firmware looks [S]. */
#define WATCHDOG_FLAG UINT32_C(0x80200000)
#define DDR_TYPE UINT32_C(0x70200c00)

/* Images inside the Python packages of these releases, by their XXH64. */
static const struct {
    uint64_t hash;
    size_t bytes;
    xlink_layout layout;
    const char *release;
} known[] = {
    {UINT64_C(0x5309c309e681ca4d), 2278824, XLINK_LAYOUT_A,
     "OpenVINO 2021.4.0"},
    /* Its plug-in knows no READ_REL_SPEC. */
    {UINT64_C(0x07a5976d682ec2b7), 2285336, XLINK_LAYOUT_A,
     "OpenVINO 2021.4.1"},
    {UINT64_C(0xde92a0a070c2843f), 2298632, XLINK_LAYOUT_B,
     "OpenVINO 2021.4.2 or 2022.1"},
    {UINT64_C(0x8d27eddeee24a859), 2298808, XLINK_LAYOUT_C, "OpenVINO 2022.2"},
};

/* The calls in front of which hosts write the DDR type. A host knows those of
 * its release and sends other images without: 2022.2's does so with its own
 * one, which calls 7000e9dc. */
static const uint32_t ddr_calls[] = {
    0x7021e6f4, 0x7021e724, /* 2020.4, 2021.1 */
    0x7000e978,             /* to 2021.4.0 */
    0x7000e9d0,             /* 2021.4.2, 2022.1 */
    0x7000e99c              /* 2022.3 [U] */
};

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static size_t get16(const uint8_t *p)
{
    return (size_t)p[0] | (size_t)p[1] << 8;
}

/* Bytes of the command at p, of which n are there; 0 = not known. One whose
 * length is not there yet is as long as its fixed part. */
static size_t command_bytes(const uint8_t *p, size_t n)
{
    switch (p[0]) {
    case CMD_NOP:
        return 1;
    case CMD_C9:
        return 3;
    case CMD_CALL:
    case CMD_EXECUTE:
        return EXECUTE_BYTES;
    case CMD_WRITE_BYTE:
        return WRITE_BYTE_BYTES;
    case CMD_READ:
        return 7;
    case CMD_WRITE_WORD:
        return 9;
    case CMD_COMMENT:
        return 3 + (n < 3 ? 0 : get16(p + 1));
    case CMD_WRITE_WORDS:
        return 7 + (n < 7 ? 0 : 4 * get16(p + 5));
    default:
        return 0;
    }
}

vpu_status firmware_scan(const uint8_t *data, size_t n, firmware_info *out,
                         vpu_error *err)
{
    size_t at = sizeof magic;

    *out = (firmware_info){.end = n < at ? n : at};
    if (memcmp(data, magic, out->end))
        return err_set(err, VPU_ERR_PARSE,
                       "byte 0: not a firmware image, which begins with "
                       "\"MA2x\"");
    while (at < n && !out->complete) {
        size_t bytes = command_bytes(data + at, n - at);

        if (!bytes)
            return err_set(err, VPU_ERR_PARSE,
                           "byte %zu: command 0x%02x is not known", at,
                           data[at]);
        if (bytes > n - at)
            break;
        if (data[at] == CMD_CALL) {
            out->last_call_at = at;
            out->last_call = get32(data + at + 1);
        } else if (data[at] == CMD_EXECUTE) {
            out->complete = true;
            out->execute_at = at;
            out->entry = get32(data + at + 1);
        }
        if (data[at] == CMD_READ)
            out->reads = get16(data + at + 5);
        else if (data[at] != CMD_NOP)
            out->reads = 0;
        out->n_commands++;
        at += bytes;
        out->end = at;
    }
    return VPU_OK;
}

static void add_write_byte(str *out, uint32_t address, uint8_t value)
{
    uint8_t cmd[WRITE_BYTE_BYTES] = {CMD_WRITE_BYTE};

    for (int i = 0; i < 4; i++)
        cmd[1 + i] = (uint8_t)(address >> (8 * i));
    cmd[5] = value;
    str_add(out, cmd, sizeof cmd);
}

static bool takes_ddr_type(const firmware_info *info, unsigned type)
{
    bool known_call = false;

    for (size_t i = 0; i < sizeof ddr_calls / sizeof *ddr_calls; i++)
        known_call |= info->last_call == ddr_calls[i];
    return info->last_call_at && (type || known_call);
}

/* Published hosts search the last byte 0xa4 and the last bytes of a call they
 * know; following the commands finds the same places in all images seen, and
 * still does when an address holds such bytes. */
vpu_status firmware_patch(const uint8_t *data, size_t n,
                          const firmware_options *o, str *out, vpu_error *err)
{
    firmware_info info;
    vpu_status st = firmware_scan(data, n, &info, err);

    if (st)
        return st;
    if (!info.complete)
        return err_set(err, VPU_ERR_PARSE,
                       "byte %zu: the image ends before the command that "
                       "starts it",
                       info.end);
    if (o->ddr_type > 4)
        return err_set(err, VPU_ERR_INVALID, "DDR type %u, expected 0 to 4",
                       o->ddr_type);
    str_add(out, data, info.last_call_at);
    if (takes_ddr_type(&info, o->ddr_type))
        add_write_byte(out, DDR_TYPE, o->ddr_type);
    str_add(out, data + info.last_call_at, info.execute_at - info.last_call_at);
    add_write_byte(out, WATCHDOG_FLAG, o->watchdog);
    str_add(out, data + info.execute_at, n - info.execute_at);
    return VPU_OK;
}

bool firmware_layout(const uint8_t *data, size_t n, xlink_layout *out,
                     const char **release)
{
    uint64_t hash = XXH64(data, n, 0);

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (n == known[i].bytes && hash == known[i].hash) {
            *out = known[i].layout;
            if (release)
                *release = known[i].release;
            return true;
        }
    return false;
}
