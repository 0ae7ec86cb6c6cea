/* A sweep's folder as jobs of Slurm: an array job whose tasks compute the
 * points, and a job behind it that gathers the table. What they need is in the
 * folder's slurm/:
 *
 *   array.sh, gather.sh   the scripts for sbatch, which people may edit
 *   plan.json             {"tasks": 8, "at_once": 0}, what a submission needs
 *   jobs.json             {"submissions": [{"array": 5, "gather": 6, "tasks":
 * 8, "parts": "0-7"}]}, the newest last
 *
 * Names in the scripts are meant from the sweep's folder, so that it may move.
 * Functions work on what they are given; jobs_run (suite/jobs.h), which
 * slurm_submit and slurm_ask use, is for one thread at a time. */
#ifndef VPU_RUNTIME_SWEEP_SLURM_H
#define VPU_RUNTIME_SWEEP_SLURM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "base/str.h"

/* Most sites keep Slurm's own limit of an array, MaxArraySize=1001. */
enum { SLURM_MAX_TASKS = 1000, SLURM_MAX_BYTES = 16 << 20 };

typedef struct {
    const char *name; /* of the jobs; what a name may not hold becomes '-' */
    uint32_t
        n_tasks; /* of the array: task i computes points i, i + n_tasks … */
    uint32_t at_once; /* so many tasks run at a time; 0 = no limit */
    uint32_t n_cpus;  /* of each task */
    uint64_t bytes;   /* of memory of each task; 0 = the site's default */
    uint32_t minutes; /* that a task may take; 0 = the partition's default */
    char *const *options; /* words for sbatch, lines of both scripts */
    size_t n_options;
} slurm_plan;

/* One submission. */
typedef struct {
    uint64_t array;    /* job ids */
    uint64_t gather;   /* 0: it could not be submitted */
    uint32_t n_tasks;  /* of the plan */
    const char *parts; /* the tasks that were wanted, "0-3,7" */
} slurm_submission;

typedef struct {
    slurm_submission *items;
    size_t n, cap;
} slurm_record;

/* The texts of the two scripts. */
void slurm_array_script(const slurm_plan *p, str *out);
void slurm_gather_script(const slurm_plan *p, str *out);

/* Writes the scripts and the plan of the sweep in dir, each whole or not at
 * all; those that are there are replaced.
 *
 * VPU_ERR_INVALID  an option with a control character
 * VPU_ERR_IO       a file cannot be written */
vpu_status slurm_write(const char *dir, const slurm_plan *p, arena *a,
                       vpu_error *err);
/* Whether one of the scripts is there. */
bool slurm_is_written(const char *dir, arena *a);
/* n_tasks and at_once of the plan that was written; the rest becomes zero.
 *
 * VPU_ERR_IO     it cannot be read
 * VPU_ERR_PARSE  it is damaged */
vpu_status slurm_read_plan(const char *dir, arena *a, slurm_plan *out,
                           vpu_error *err);

/* The same from memory; the path stands for it in messages. */
vpu_status slurm_plan_parse(const file_bytes *text, slurm_plan *out,
                            vpu_error *err);

/* "0-3,7" of the n members that are true. */
void slurm_parts(const bool *wanted, uint32_t n, str *out);

/* What was submitted, in the arena; empty where nothing was.
 *
 * VPU_ERR_IO     the file cannot be read
 * VPU_ERR_LIMIT  longer than SLURM_MAX_BYTES
 * VPU_ERR_PARSE  it is damaged */
vpu_status slurm_record_read(const char *dir, arena *a, slurm_record *out,
                             vpu_error *err);
/* The same from memory; the path stands for it in messages. */
vpu_status slurm_record_parse(const file_bytes *text, arena *a,
                              slurm_record *out, vpu_error *err);

typedef struct {
    const char *dir, *parts; /* of slurm_parts */
    const slurm_plan *plan;  /* n_tasks and at_once count */
    char *const *options;    /* more words for sbatch */
    size_t n_options;
} slurm_order;

/* Submits the array job for these parts and the job that gathers, and adds both
 * to the record; out->parts is borrowed. When the array job was submitted, and
 * the other one was not, out has the former and the record, too.
 *
 * VPU_ERR_IO  there is no sbatch, it refuses, or fails (message: its own
 * words), or the record cannot be written */
vpu_status slurm_submit(const slurm_order *o, arena *a, slurm_submission *out,
                        vpu_error *err);

/* A program of Slurm, found in PATH; its whole name is in the arena.
 *
 * VPU_ERR_IO  it is not there */
vpu_status slurm_find(const char *name, arena *a, char **path, vpu_error *err);
/* Runs one; words end with NULL, words[0] is its name. Its output is in the
 * arena. seconds: it may take, 0 = for ever. dir: to run it in.
 *
 * VPU_ERR_IO  it is not in PATH, fails (message: its last words), or is late */
vpu_status slurm_ask(char **words, const char *dir, double seconds, arena *a,
                     char **output, vpu_error *err);

#endif
