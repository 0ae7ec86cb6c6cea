/* Starting clang: what it is told, what it inherits, how it ends. */
#ifndef VPU_SIM_COMPILER_FRONT_CLANG_H
#define VPU_SIM_COMPILER_FRONT_CLANG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/child.h"
#include "base/err.h"

#define FE_CLANG "clang-" VPU_LLVM

/* Words for every call of it: no configuration files, no files about a crash
 * outside of our own folder. */
#define FE_CLANG_WORDS "--no-default-config", "-fno-crash-diagnostics"

/* Options a user may give for kernels: -D, -U, -I, -w and -cl-…, value and name
 * in one word. Others make clang load code, write files or read options from
 * files.
 *
 * VPU_ERR_INVALID  another option; the message names it */
vpu_status fe_check_options(const char *const *options, uint32_t n,
                            vpu_error *err);

/* Whether it reads a source file of this name as one: not as an option (-x.cl)
 * or as a file with options in it (dir/@k.cl). Otherwise it is given the text
 * alone, behind a line mark with the name, and fe_look_in's options. */
bool fe_takes_name(const char *path);
/* A line of OpenCL C that says: here begins line 1 of the file name. */
const char *fe_line_mark(arena *a, const char *name);
/* The options and one more: included files are looked for beside path. */
const char *const *fe_look_in(arena *a, const char *path,
                              const char *const *options, uint32_t *n);

enum { FE_EXIT_UNKNOWN = -1 };

/* Called while clang runs; each may be NULL. */
typedef struct {
    void (*begun)(void *user);
    /* Called now and then, until it is true: has clang put its result into its
     * place? It does that once the result is whole, some milliseconds before it
     * ends; it may not be asked. */
    bool (*is_put)(void *user);
    void *user;
} fe_clang_meanwhile;

/* Run it to its end with these files as its standard input, output and error
 * output; -1: /dev/null. It gets none of the environment that changes what it
 * does. limits: NULL = budget.h's. meanwhile: or NULL. *exit_code: 128 when a
 * signal ended it, FE_EXIT_UNKNOWN when somebody else waited for it: the
 * program around us ignores SIGCHLD, or waits for all of its children.
 *
 * VPU_ERR_IO     not installed, or cannot be started; it waited for ever
 * VPU_ERR_LIMIT  it took more time than it may; when it took more memory, it
 *                says so itself and ends */
vpu_status fe_clang(char *const *argv, const int files[3],
                    const child_limits *limits,
                    const fe_clang_meanwhile *meanwhile, int *exit_code,
                    vpu_error *err);

#endif
