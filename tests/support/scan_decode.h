/* Instructions of x86-64 as text, taken apart. Internal to scan. */
#ifndef VPU_TESTS_SUPPORT_SCAN_DECODE_H
#define VPU_TESTS_SUPPORT_SCAN_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCAN_RAX, SCAN_RCX, SCAN_RDX, SCAN_RBX, SCAN_RSP, SCAN_RBP, SCAN_RSI };
enum { SCAN_RDI = 7, SCAN_N_REGISTERS = 16, SCAN_NO_REGISTER = -1 };
enum { SCAN_RIP = 16 };

typedef enum {
    SCAN_NOTHING,
    SCAN_REGISTER,
    SCAN_IMMEDIATE,
    SCAN_MEMORY,
    SCAN_VECTOR, /* and mask registers */
    SCAN_STRANGE
} scan_kind;

typedef struct {
    scan_kind kind;
    int reg;   /* or base of an address; SCAN_RIP, SCAN_NO_REGISTER */
    int bits;  /* of a register */
    bool high; /* ah … bh */
    int index, scale;
    int64_t number; /* immediate or displacement */
    uint32_t bytes; /* of an access, 0 = not said */
} scan_operand;

enum { SCAN_MAX_OPERANDS = 5 };

typedef struct {
    uint64_t at;
    uint32_t length; /* bytes, 0 = none such */
    char text[120];
    char name[24];
    bool lock, rep, masked;
    scan_operand op[SCAN_MAX_OPERANDS];
    int n_ops;
} scan_instruction;

/* The instruction at code + at. */
void scan_decode(const uint8_t *code, uint64_t n, uint64_t at,
                 scan_instruction *out);

#endif
