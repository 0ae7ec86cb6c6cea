/* Backends of this folder that are registered by name: a plug-in and a
 * recording. See backend.h for what the operations promise.
 *
 * host:FILE.so    a C plug-in (runtime/vpu_plugin.h), one layer at a time. It
 *                 runs in a process of its own for every run: crash, exit and
 *                 time-out end that process only. Halves are as the plug-in
 *                 rounds them; no stages, no cycles, times are the host's.
 * replay:FILE     a recording (runtime/record/recording.h). open refuses
 *                 another layer, binding, kernel or parameters, run refuses
 *                 other inputs; the message names the first thing that
 *                 differs. Times and cycles are the recorded ones. */
#ifndef VPU_RUNTIME_BACKEND_HOST_H
#define VPU_RUNTIME_BACKEND_HOST_H

#include "runtime/backend/backend.h"

extern const backend_ops backend_host, backend_replay;

#endif
