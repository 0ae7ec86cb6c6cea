/* A received blob, ready to run: custom stages, permutations and conversions on
 * the simulator, copies and what it has no kernel for as they are. One thread
 * at a time. */
#ifndef VPU_RUNTIME_STICK_PROGRAM_H
#define VPU_RUNTIME_STICK_PROGRAM_H

#include "runtime/backend/backend.h"
#include "runtime/stick/noise.h"

typedef struct stick_program stick_program;

typedef struct {
    const char *kernels;   /* folder of .cl files, for kernels that another
                              compiler made; NULL = none */
    uint32_t n_threads;    /* of the host; 0 = all */
    double timeout_s;      /* per stage, host time; 0 = no limit */
    const mach_desc *desc; /* the machine it is; NULL = the default one */
    stick_noise noise;     /* of the times it tells */
    bool no_cache;
    const log_sink *log;
    /* What kernels print; NULL = dropped. */
    void (*print)(void *user, const char *text, size_t n);
    void *print_user;
} stick_program_config;

typedef struct {
    uint32_t input_bytes, output_bytes, n_stages, batch;
    uint64_t memory_bytes; /* of blob, scratch, input and output */
} stick_program_info;

/* The file's bytes are copied; cfg's texts must outlive the program.
 *
 * VPU_ERR_PARSE        malformed, or its numbers do not agree
 * VPU_ERR_UNSUPPORTED  a version, a stage, a batch or dynamic shapes that are
 *                      not run here; a kernel of another compiler without
 *                      a .cl that has it
 * VPU_ERR_LIMIT        more memory than the device has
 * and errors of compiling kernels */
vpu_status stick_program_load(const void *file, size_t n,
                              const stick_program_config *cfg,
                              stick_program **out, vpu_error *err);
void stick_program_free(stick_program *p); /* NULL is fine */
stick_program_info stick_program_about(const stick_program *p);

/* The stages that run, a line each: number, name, how. */
void stick_stages(str *out);

/* One inference: input_bytes in, output_bytes out, a time per stage in
 * milliseconds of simulated cycles, as they are while at_once inferences run
 * (1: this one alone; a machine that has no room for them runs fewer).
 *
 * Errors are backend_run_one's. */
vpu_status stick_program_run(stick_program *p, const void *input, void *output,
                             uint32_t at_once, float *ms, vpu_error *err);

#endif
