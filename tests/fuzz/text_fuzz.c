/* Any text as a kernel: through the front end and the compiler, then on both
 * engines, in a child, since a kernel may run for ever. Bytes alone would
 * seldom get past the front end; half of the changes are of whole words. */
#include <string.h>

#include "sim/exec/exec.h"
#include "tests/fuzz/fuzz_child.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t cap);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t cap,
                               unsigned seed);

enum { BUFFER = 4096, MAX_ARGS = 16, MAX_TEXT = 4096 };

/* --- running it ---------------------------------------------------------- */

static bool values(const sim_kernel *k, memory *mem, exec_value *v)
{
    vpu_error err;

    if (k->n_args > MAX_ARGS)
        return false;
    for (uint32_t i = 0; i < k->n_args; i++) {
        v[i] = (exec_value){0};
        if (k->args[i].space == SIM_ARG_LOCAL)
            v[i].as.bytes = 256;
        else if (k->args[i].space == SIM_ARG_SCALAR)
            v[i].as.raw[0] = 7;
        else if (memory_alloc(mem, "buffer", BUFFER, &v[i].as.address, &err))
            return false;
    }
    return true;
}

static void run(const sim_kernel *k, arena *a)
{
    mach_desc desc;
    exec_value v[MAX_ARGS];
    exec_result result;
    vpu_error err;
    memory *mem;

    if (mach_desc_load(NULL, a, &desc, &err) ||
        memory_create(&desc, &mem, &err) || !values(k, mem, v))
        return;
    for (int engine = 0; engine < 2; engine++) {
        exec_launch l = {.name = "fuzz",
                         .kernel = k,
                         .values = v,
                         .groups = {2, 1, 1},
                         .local = {8, 1, 1},
                         .how.n_shaves = 2,
                         .how.n_threads = 1,
                         .how.engine =
                             engine ? EXEC_INTERPRETED : EXEC_COMPILED,
                         .how.max_cycles = 100000,
                         .how.timeout_s = 1};

        exec_run(mem, &desc, &l, &result, &err);
    }
    memory_destroy(mem);
}

static void compile_and_run(const uint8_t *data, size_t n)
{
    kernel_compile_config cfg = {.user.no_cache = true, .hooks = &exec_hooks};
    arena *a = arena_create(0);
    const kernel_source source = {
        .path = "<fuzz>/k.cl", .text = arena_strndup(a, (const char *)data, n)};
    sim_kernel *k;
    vpu_error err;

    if (!kernel_compile(&source, &cfg, a, &k, &err))
        run(k, a);
}

/* No file of anybody's is to be read: neither #include nor its kin. */
static bool reads_files(const uint8_t *data, size_t n)
{
    return memmem(data, n, "include", 7) || memmem(data, n, "embed", 5) ||
           memmem(data, n, "import", 6) || memmem(data, n, "\\\n", 2) ||
           memmem(data, n,
                  "?"
                  "?/",
                  3) ||
           memchr(data, 0, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n <= MAX_TEXT && !reads_files(data, n))
        fuzz_child(compile_and_run, data, n, 20000);
    return 0;
}

/* --- changing words ------------------------------------------------------ */

static const char *const words[] = {
    "int",
    "uint",
    "half",
    "float",
    "char",
    "uchar",
    "short",
    "long",
    "half8",
    "float4",
    "int4",
    "uchar16",
    "short2",
    "0",
    "1",
    "7",
    "31",
    "32",
    "-1",
    "65535",
    "0x80000000u",
    "1.5h",
    "1e30f",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<<",
    ">>",
    "&",
    "|",
    "^",
    "<",
    ">=",
    "==",
    "&&",
    "?",
    ":",
    "=",
    "+=",
    "get_local_id(0)",
    "get_global_id(0)",
    "i",
    "n",
    "src[i]",
    "dst[i]",
    "tmp[i]",
    "vload8",
    "vstore8",
    "convert_half",
    "convert_uchar_sat",
    "exp",
    "sqrt",
    "fma",
    "mad24",
    "min",
    "max",
    "clamp",
    "select",
    "dot",
    "as_int",
    "as_half4",
    "barrier(CLK_LOCAL_MEM_FENCE);",
    ".s0",
    ".lo",
    ".xyzw",
    "for",
    "if",
    "while",
    "return;",
    "break;",
    "continue;",
    "__local",
    "__private",
    "volatile",
};
enum { N_WORDS = sizeof words / sizeof *words };

static unsigned kind(uint8_t c)
{
    if (c == ' ' || c == '\n' || c == '\t')
        return 0;
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                   (c >= 'A' && c <= 'Z') || c == '_' || c >= 128
               ? 1
               : 2;
}

/* The word around data[at]. */
static void word_at(const uint8_t *data, size_t n, size_t at, size_t *from,
                    size_t *to)
{
    *from = *to = at;
    while (*from && kind(data[*from - 1]) == kind(data[at]))
        --*from;
    while (*to < n && kind(data[*to]) == kind(data[at]))
        ++*to;
}

/* data[from .. to) becomes these bytes; 0 = there is no room. */
static size_t put(uint8_t *data, size_t n, size_t cap, size_t from, size_t to,
                  const void *with, size_t n_with)
{
    if (n - (to - from) + n_with > cap)
        return 0;
    memmove(data + from + n_with, data + to, n - to);
    memcpy(data + from, with, n_with);
    return n - (to - from) + n_with;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t cap,
                               unsigned seed)
{
    const char *word = words[(seed >> 8) % N_WORDS];
    uint8_t other[64];
    size_t from, to, a, b, done = 0;

    if (!n || seed % 4 == 0)
        return LLVMFuzzerMutate(data, n, cap);
    word_at(data, n, seed / 7 % n, &from, &to);
    if (seed % 4 == 1) { /* another word of the table */
        done = put(data, n, cap, from, to, word, strlen(word));
    } else if (seed % 4 == 2) { /* one more */
        done = put(data, n, cap, to, to, word, strlen(word));
    } else { /* one of the text's own */
        word_at(data, n, seed / 11 % n, &a, &b);
        if (b - a > sizeof other)
            b = a + sizeof other;
        memcpy(other, data + a, b - a);
        done = put(data, n, cap, from, to, other, b - a);
    }
    return done ? done : LLVMFuzzerMutate(data, n, cap);
}
