/* Packets of mvnc as bytes, by the table mvnc_commands.def. Both ends use them.
 * Pure functions, any thread. */
#ifndef VPU_RUNTIME_LINK_MVNC_WIRE_H
#define VPU_RUNTIME_LINK_MVNC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef enum {
#define MVNC_DEVICE_COMMAND(name, number, reply) MVNC_##name = number,
#include "runtime/link/mvnc_commands.def"
} mvnc_device_type;

typedef enum {
#define MVNC_GRAPH_COMMAND(name, number, bytes) MVNC_GRAPH_##name = number,
#include "runtime/link/mvnc_commands.def"
} mvnc_graph_type;

typedef enum {
#define MVNC_STATUS(name, number, text) MVNC_STATUS_##name = number,
#include "runtime/link/mvnc_commands.def"
} mvnc_status;

enum {
    MVNC_NAME = 64,         /* bytes of a stream's name in a command */
    MVNC_MAX_COMMAND = 100, /* bytes */
    MVNC_DEVICE_BYTES = 8,  /* of a command: type, argument */
    MVNC_CAPABILITIES = 40,
    MVNC_TENSOR = 20,
    MVNC_N_THERMAL =
        26,           /* floats: throttling level, temperature, 24 more [U] */
    MVNC_DEBUG = 120, /* bytes of text */
    MVNC_DEVICE_STREAM = 2000, /* write sizes hosts open the streams with */
    MVNC_GRAPH_STREAM = 4096,
    MVNC_CONSOLE_STREAM = 10240,
    MVNC_RESULT_STREAM = 8,
};
#define MVNC_STOP UINT32_C(0xdead) /* a packet that ends an input FIFO */

typedef struct {
    uint32_t batch, channels, w, h,
        bytes; /* bytes of one element; in this order */
} mvnc_tensor;

/* A command on graphMonitor. */
typedef struct {
    uint32_t type;          /* mvnc_graph_type */
    uint32_t id;            /* of the graph; of the FIFO for BUFFER_* */
    char stream[MVNC_NAME]; /* ALLOCATE, VERIFY, ALLOCATION_VERIFY,
                               BUFFER_ALLOCATE */
    uint32_t input, output; /* TRIGGER: FIFOs */
    uint32_t executors;     /* ALLOCATE, VERIFY, ALLOCATION_VERIFY */
    uint32_t elements;      /* the rest: BUFFER_ALLOCATE */
    mvnc_tensor tensor;
    bool host_reads, host_writes;
} mvnc_command;

typedef struct {
    uint32_t max_graphs, max_fifos, max_memory, max_executors;
    uint32_t firmware[4]; /* [1] is the platform: 0x2480 = Myriad X */
    uint32_t tensor[2];
} mvnc_capabilities;

/* Bytes written. */
uint32_t mvnc_encode(const mvnc_command *c, uint8_t out[MVNC_MAX_COMMAND]);
/* VPU_ERR_PARSE  no such type, too few bytes, a name without its NUL. Longer
 *                packets are taken, as their fields are. */
vpu_status mvnc_decode(const void *data, size_t n, mvnc_command *out,
                       vpu_error *err);

void mvnc_encode_tensor(const mvnc_tensor *t, uint8_t out[MVNC_TENSOR]);
mvnc_tensor mvnc_decode_tensor(const uint8_t in[MVNC_TENSOR]);
void mvnc_encode_capabilities(const mvnc_capabilities *c,
                              uint8_t out[MVNC_CAPABILITIES]);
mvnc_capabilities mvnc_decode_capabilities(const uint8_t in[MVNC_CAPABILITIES]);

const char *mvnc_graph_name(uint32_t type);  /* "VERIFY"; NULL: no such */
const char *mvnc_device_name(uint32_t type); /* "GET_CAPABILITIES"; likewise */
const char *mvnc_status_text(uint32_t status); /* never NULL */
/* Bytes of the reply packet of a device command, 0 = none. */
uint32_t mvnc_reply_bytes(uint32_t type);

#endif
