/* See stick_rig.h. */
#include "tests/runtime/stick/stick_rig.h"

#include <check.h>
#include <string.h>

#include "runtime/backend/binaries.h"

static void *serve(void *arg)
{
    rig_stick *r = arg;

    r->st = stick_serve(r->device_end, &r->config, &r->how, &r->err);
    transport_reset(r->device_end); /* as a stick that leaves the bus */
    return NULL;
}

void rig_stick_prepare(rig_stick *r, xlink_layout layout, const char *fault)
{
    transport *ends[2];
    vpu_error err;

    memset(r, 0, sizeof *r);
    ck_assert(!transport_pair(ends, &err));
    r->host_end = ends[0];
    r->device_end = ends[1];
    r->config = (stick_config){
        .layout = layout, .timeout_ms = 500, .ping_ms = 5000, .stop = &r->stop};
    if (fault) {
        ck_assert_msg(!stick_fault_parse(fault, &r->fault, &err), "%s",
                      err.msg);
        r->config.faults = &r->fault;
        r->config.n_faults = 1;
    }
}

void rig_stick_run(rig_stick *r)
{
    ck_assert(!pthread_create(&r->thread, NULL, serve, r));
}

void rig_stick_start(rig_stick *r, xlink_layout layout, const char *fault)
{
    rig_stick_prepare(r, layout, fault);
    rig_stick_run(r);
}

void rig_stick_end(rig_stick *r)
{
    atomic_store(&r->stop, true);
    pthread_join(r->thread, NULL);
    transport_close(r->host_end);
    transport_close(r->device_end);
}

void rig_blob(arena *a, const bound_request *q, bound *b, blob *out, str *bytes)
{
    backend_binaries_config bins = {.simulator = true};
    network_config net = {
        .release = CONFIG_2021_4, .n_shaves = 7, .n_slices = 9};
    network_kernel *kernels;
    vpu_error err;

    bound_layer(a, q, b);
    ck_assert_msg(!backend_binaries(b->graph, &bins, a, &kernels, &err), "%s",
                  err.msg);
    net.kernels = kernels;
    ck_assert_msg(!network_blob(&net, b->graph, a, out, &err), "%s", err.msg);
    ck_assert_msg(!blob_build(out, bytes, &err), "%s", err.msg);
    bound_simulate(b);
}
