/* Tuned sizes in a file: what has been found for which launch.
 *
 * A file is text. Its first line is "vpu-tune 1"; each further one that is not
 * empty and does not begin with '#' is a row of nine words:
 *
 *   KERNEL MACHINE ARGUMENTS GX,GY,GZ LX,LY,LZ SHAVES COST UNIT ENTRY
 *
 * KERNEL, MACHINE and ARGUMENTS are hashes of 16 hexadecimal digits (key.h),
 * G the global and L the tuned local size, which divides it, SHAVES a limit or
 * 0 for none of the tuner's, COST of a run with that size in UNIT, "cycles" or
 * "ns", ENTRY the name of the kernel, for people. Rows are written in the order
 * of their keys, so that the same tuning gives the same file. Threading: a
 * tune_file belongs to one thread at a time. */
#ifndef VPU_RUNTIME_TUNE_TUNE_FILE_H
#define VPU_RUNTIME_TUNE_TUNE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { TUNE_FILE_MAX_BYTES = 16 << 20 };

/* What a row is for. */
typedef struct {
    uint64_t kernel, machine, arguments;
    uint32_t global[3];
} tune_key;

/* How a launch may run. */
typedef struct {
    uint32_t local[3];
    uint32_t shaves; /* at most so many; 0 = no limit of the tuner's */
} tune_choice;

typedef struct {
    tune_key key;
    tune_choice choice;
    uint64_t cost;
    bool cycles;       /* cost is cycles; else nanoseconds */
    const char *entry; /* a word */
} tune_entry;

/* All zero: an empty file. */
typedef struct {
    tune_entry *rows; /* ascending by key, which is unique */
    size_t n, cap;
} tune_file;

/* Everything in the arena. After an error *out is empty.
 *
 * VPU_ERR_IO     there is none, or it cannot be read
 * VPU_ERR_LIMIT  longer than TUNE_FILE_MAX_BYTES
 * VPU_ERR_PARSE  another first line; a row that is none (message: file, line,
 *                what was found and expected); two rows of one key */
vpu_status tune_file_read(const char *path, arena *a, tune_file *out,
                          vpu_error *err);
/* The same from memory; path stands for it in messages. data has one zero byte
 * behind its n bytes. */
vpu_status tune_file_parse(const char *path, const char *data, size_t n,
                           arena *a, tune_file *out, vpu_error *err);
/* The whole text. */
void tune_file_print(const tune_file *f, str *out);
/* Whole or not at all. VPU_ERR_IO. */
vpu_status tune_file_write(const tune_file *f, const char *path,
                           vpu_error *err);

/* NULL: no row has this key. */
const tune_entry *tune_file_find(const tune_file *f, const tune_key *key);
/* A row more, or another one in the place of that of its key. entry is copied
 * into the arena. */
void tune_file_put(tune_file *f, arena *a, const tune_entry *e);

#endif
