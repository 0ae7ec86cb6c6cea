/* Packets of mvnc. */
#include "runtime/link/mvnc_wire.h"

#include <string.h>

#include "base/word.h"

const char *mvnc_graph_name(uint32_t type)
{
    switch (type) {
#define MVNC_GRAPH_COMMAND(name, number, bytes) \
    case number:                                \
        return #name;
#include "runtime/link/mvnc_commands.def"
    default:
        return NULL;
    }
}

const char *mvnc_device_name(uint32_t type)
{
    switch (type) {
#define MVNC_DEVICE_COMMAND(name, number, reply) \
    case number:                                 \
        return #name;
#include "runtime/link/mvnc_commands.def"
    default:
        return NULL;
    }
}

const char *mvnc_status_text(uint32_t status)
{
    switch (status) {
#define MVNC_STATUS(name, number, text) \
    case number:                        \
        return text;
#include "runtime/link/mvnc_commands.def"
    default:
        return "a status that is in no table";
    }
}

uint32_t mvnc_reply_bytes(uint32_t type)
{
    switch (type) {
#define MVNC_DEVICE_COMMAND(name, number, reply) \
    case number:                                 \
        return reply;
#include "runtime/link/mvnc_commands.def"
    default:
        return 0;
    }
}

static uint32_t command_bytes(uint32_t type)
{
    switch (type) {
#define MVNC_GRAPH_COMMAND(name, number, bytes) \
    case number:                                \
        return bytes;
#include "runtime/link/mvnc_commands.def"
    default:
        return 0;
    }
}

void mvnc_encode_tensor(const mvnc_tensor *t, uint8_t out[MVNC_TENSOR])
{
    const uint32_t v[] = {t->batch, t->channels, t->w, t->h, t->bytes};

    for (int i = 0; i < 5; i++)
        word_set(out + 4 * i, v[i]);
}

mvnc_tensor mvnc_decode_tensor(const uint8_t in[MVNC_TENSOR])
{
    return (mvnc_tensor){word_get(in), word_get(in + 4), word_get(in + 8),
                         word_get(in + 12), word_get(in + 16)};
}

uint32_t mvnc_encode(const mvnc_command *c, uint8_t out[MVNC_MAX_COMMAND])
{
    memset(out, 0, MVNC_MAX_COMMAND);
    word_set(out, c->type);
    word_set(out + 4, c->id);
    switch (c->type) {
    case MVNC_GRAPH_ALLOCATE:
    case MVNC_GRAPH_VERIFY:
    case MVNC_GRAPH_ALLOCATION_VERIFY:
        memcpy(out + 8, c->stream, MVNC_NAME);
        word_set(out + 80, c->executors);
        break;
    case MVNC_GRAPH_TRIGGER:
        word_set(out + 72, c->input);
        word_set(out + 76, c->output);
        break;
    case MVNC_GRAPH_BUFFER_ALLOCATE:
        memcpy(out + 8, c->stream, MVNC_NAME);
        word_set(out + 72, c->elements);
        mvnc_encode_tensor(&c->tensor, out + 76);
        out[96] = c->host_reads;
        out[97] = c->host_writes;
        break;
    default:
        break;
    }
    return command_bytes(c->type);
}

static vpu_status decode_name(const uint8_t *p, mvnc_command *out,
                              vpu_error *err)
{
    size_t n = strnlen((const char *)p + 8, MVNC_NAME);

    if (n == 0 || n == MVNC_NAME)
        return err_set(err, VPU_ERR_PARSE,
                       "%s: expected a stream's name of 1 to %d characters at "
                       "byte 8",
                       mvnc_graph_name(out->type), MVNC_NAME - 1);
    memcpy(out->stream, p + 8, n + 1); /* behind the NUL is garbage */
    return VPU_OK;
}

vpu_status mvnc_decode(const void *data, size_t n, mvnc_command *out,
                       vpu_error *err)
{
    const uint8_t *p = data;
    uint32_t bytes;

    *out = (mvnc_command){0};
    if (n < 8)
        return err_set(err, VPU_ERR_PARSE,
                       "a command of %zu bytes, expected at least 8", n);
    out->type = word_get(p);
    out->id = word_get(p + 4);
    bytes = command_bytes(out->type);
    if (!bytes)
        return err_set(err, VPU_ERR_PARSE, "command %u, expected 0 to %d",
                       out->type, MVNC_GRAPH_GET_DEBUG_DATA);
    if (n < bytes)
        return err_set(err, VPU_ERR_PARSE, "%s of %zu bytes, expected %u",
                       mvnc_graph_name(out->type), n, bytes);
    switch (out->type) {
    case MVNC_GRAPH_ALLOCATE:
    case MVNC_GRAPH_VERIFY:
    case MVNC_GRAPH_ALLOCATION_VERIFY:
        out->executors = word_get(p + 80);
        return decode_name(p, out, err);
    case MVNC_GRAPH_TRIGGER:
        out->input = word_get(p + 72);
        out->output = word_get(p + 76);
        return VPU_OK;
    case MVNC_GRAPH_BUFFER_ALLOCATE:
        out->elements = word_get(p + 72);
        out->tensor = mvnc_decode_tensor(p + 76);
        out->host_reads = p[96];
        out->host_writes = p[97];
        return decode_name(p, out, err);
    default:
        return VPU_OK;
    }
}

void mvnc_encode_capabilities(const mvnc_capabilities *c,
                              uint8_t out[MVNC_CAPABILITIES])
{
    word_set(out, c->max_graphs);
    word_set(out + 4, c->max_fifos);
    word_set(out + 8, c->max_memory);
    word_set(out + 12, c->max_executors);
    for (int i = 0; i < 4; i++)
        word_set(out + 16 + 4 * i, c->firmware[i]);
    for (int i = 0; i < 2; i++)
        word_set(out + 32 + 4 * i, c->tensor[i]);
}

mvnc_capabilities mvnc_decode_capabilities(const uint8_t in[MVNC_CAPABILITIES])
{
    mvnc_capabilities c = {word_get(in),
                           word_get(in + 4),
                           word_get(in + 8),
                           word_get(in + 12),
                           {0},
                           {0}};

    for (int i = 0; i < 4; i++)
        c.firmware[i] = word_get(in + 16 + 4 * i);
    for (int i = 0; i < 2; i++)
        c.tensor[i] = word_get(in + 32 + 4 * i);
    return c;
}
