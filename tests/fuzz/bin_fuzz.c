/* Any bytes as a compiled kernel, down to its last work-group: read, its source
 * text looked at, its program decoded, verified, and run on the interpreter.
 * What is no ELF file is taken for the text and for the program section of a
 * good kernel, so that more of it gets as far. */
#include <stdlib.h>
#include <string.h>

#include "sim/compiler/front/source.h"
#include "sim/compiler/store/artifact.h"
#include "sim/compiler/store/object.h"
#include "sim/exec/exec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { BUFFER = 4096, MAX_ARGS = 32 };

/* The kernel of seeds.c: three buffers, a number, a barrier. */
static sim_arg good_args[] = {
    {"src", "half*", SIM_ARG_GLOBAL, 4, 0, 2, .is_const = true},
    {"dst", "half*", SIM_ARG_GLOBAL, 4, 4, 2},
    {"tmp", "half*", SIM_ARG_LOCAL, 4, 8, 2},
    {"n", "int", SIM_ARG_SCALAR, 4, 12, .is_signed = true},
};

static sim_kernel good_kernel(const uint8_t *program, size_t n)
{
    return (sim_kernel){.name = "k",
                        .source = "k.cl",
                        .args = good_args,
                        .n_args = sizeof good_args / sizeof *good_args,
                        .args_bytes = 16,
                        .variants[SIM_SCALAR] = {.present = true,
                                                 .factor = 1,
                                                 .item_bytes = 64,
                                                 .stack_bytes = 256},
                        .program = program,
                        .program_bytes = n};
}

static bool values(const sim_kernel *k, memory *mem, exec_value *v)
{
    int32_t number = 13;
    vpu_error err;

    if (k->n_args > MAX_ARGS)
        return false;
    for (uint32_t i = 0; i < k->n_args; i++) {
        v[i] = (exec_value){0};
        if (k->args[i].space == SIM_ARG_SCALAR)
            memcpy(v[i].as.raw, &number, sizeof number);
        else if (k->args[i].space == SIM_ARG_LOCAL)
            v[i].as.bytes = 256;
        else if (memory_alloc(mem, "buffer", BUFFER, &v[i].as.address, &err))
            return false;
    }
    return true;
}

static void launch(const sim_kernel *k)
{
    static mach_desc desc;
    static memory *mem;
    static arena *kept;
    exec_value v[MAX_ARGS];
    exec_launch l = {.name = "fuzz",
                     .kernel = k,
                     .values = v,
                     .groups = {2, 1, 1},
                     .local = {8, 1, 1},
                     .how.n_shaves = 2,
                     .how.n_threads = 1,
                     .how.engine = EXEC_INTERPRETED,
                     .how.max_cycles = 200000,
                     .how.timeout_s = 2};
    exec_result result;
    uint32_t at;
    vpu_error err;

    if (!kept) {
        kept = arena_create(0);
        if (mach_desc_load(NULL, kept, &desc, &err) ||
            memory_create(&desc, &mem, &err))
            abort();
    }
    if (values(k, mem, v))
        exec_run(mem, &desc, &l, &result, &err);
    memory_check(mem, &at);
    memory_release(mem, 0);
}

/* What passes holds no line that clang would read another file for. */
static void check_text(const uint8_t *text, size_t n, arena *a)
{
    char *plain;
    vpu_error err;

    if (source_check(text, n, a, &plain, &err))
        return;
    for (const char *l = plain; l; l = strchr(l, '\n')) {
        l += strspn(l, " \t\n");
        if (*l == '#' && strstr(l, "include") == l + 1 + strspn(l + 1, " \t"))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    /* An exact copy, so that reading past the end is seen. */
    uint8_t *copy = malloc(n ? n : 1);
    const isa_function *programs[SIM_N_VARIANTS];
    arena *a = arena_create(0);
    const uint8_t *text = copy;
    sim_kernel k = {0};
    vpu_error err;
    size_t n_text = n;
    bool read;

    memcpy(copy, data, n);
    if (object_classify(copy, n) == OBJECT_NOT_ELF) {
        k = good_kernel(copy, n);
        read = true;
    } else {
        read = !artifact_read(copy, n, a, &k, NULL, &err);
        if (!object_find(copy, n, ".vpusim.source", &text, &n_text))
            n_text = 0;
    }
    check_text(text, n_text, a);
    if (read && !kernel_programs(&k, a, programs, &err))
        launch(&k);
    arena_destroy(a);
    free(copy);
    return 0;
}
