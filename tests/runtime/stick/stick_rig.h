/* A virtual stick on a thread, and a blob to send it. */
#ifndef VPU_TESTS_RUNTIME_STICK_STICK_RIG_H
#define VPU_TESTS_RUNTIME_STICK_STICK_RIG_H

#include <pthread.h>

#include "runtime/blob/blob.h"
#include "runtime/stick/stick.h"
#include "tests/runtime/backend/bound.h"

/* One session behind host_end, which is this process's. */
typedef struct {
    transport *host_end, *device_end;
    stick_config config;
    stick_fault fault;
    atomic_bool stop;
    pthread_t thread;
    stick_end how;
    vpu_status st;
    vpu_error err;
} rig_stick;

/* fault: as on a command line, or NULL. Fails the test when something is wrong.
 */
void rig_stick_start(rig_stick *r, xlink_layout layout, const char *fault);
/* The same in two steps, c to be changed in between. */
void rig_stick_prepare(rig_stick *r, xlink_layout layout, const char *fault);
void rig_stick_run(rig_stick *r);
/* Ends it if it still runs. */
void rig_stick_end(rig_stick *r);

/* A sample as a blob for OpenVINO 2021.4, in a; what it should give is in
 * b->data. */
void rig_blob(arena *a, const bound_request *q, bound *b, blob *out,
              str *bytes);

#endif
