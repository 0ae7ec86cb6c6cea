/* Takes apart the lines that LLVM's disassembler writes. */
#include "tests/support/scan_decode.h"

#include <ctype.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names64[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                      "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                      "r12", "r13", "r14", "r15"};
static const char *const names32[] = {
    "eax", "ecx", "edx",  "ebx",  "esp",  "ebp",  "esi",  "edi",
    "r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d"};
static const char *const names16[] = {
    "ax",  "cx",  "dx",   "bx",   "sp",   "bp",   "si",   "di",
    "r8w", "r9w", "r10w", "r11w", "r12w", "r13w", "r14w", "r15w"};
static const char *const names8[] = {
    "al",  "cl",  "dl",   "bl",   "spl",  "bpl",  "sil",  "dil",
    "r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b", "r15b"};
static const char *const names_high[] = {"ah", "ch", "dh", "bh"};

static int find(const char *const *names, int n, const char *s)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], s))
            return i;
    return -1;
}

static bool is_vector(const char *s)
{
    static const char *const kinds[] = {"xmm", "ymm", "zmm", "mm", "k"};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i]);

        if (!strncmp(s, kinds[i], n) && isdigit((unsigned char)s[n]))
            return true;
    }
    return false;
}

static bool parse_register(const char *s, scan_operand *o)
{
    static const struct {
        const char *const *names;
        int n, bits;
        bool high;
    } sets[] = {{names64, 16, 64, false},
                {names32, 16, 32, false},
                {names16, 16, 16, false},
                {names8, 16, 8, false},
                {names_high, 4, 8, true}};

    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        int r = find(sets[i].names, sets[i].n, s);

        if (r < 0)
            continue;
        *o = (scan_operand){.kind = SCAN_REGISTER,
                            .reg = r,
                            .bits = sets[i].bits,
                            .high = sets[i].high};
        return true;
    }
    return false;
}

static uint32_t bytes_of(const char *word)
{
    static const struct {
        const char *word;
        uint32_t bytes;
    } sizes[] = {{"byte", 1},     {"word", 2},     {"dword", 4},
                 {"qword", 8},    {"xmmword", 16}, {"ymmword", 32},
                 {"zmmword", 64}, {"tbyte", 10}};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = strlen(sizes[i].word);

        if (!strncmp(word, sizes[i].word, n) && !strncmp(word + n, " ptr ", 5))
            return sizes[i].bytes;
    }
    return 0;
}

/* One term of an address: a number, REG, or N*REG. */
static bool parse_term(const char *term, int sign, scan_operand *o)
{
    scan_operand r;
    char *end;
    long long v = (long long)strtoull(term, &end, 10);

    if (end != term && !*end) {
        o->number += sign * v;
        return true;
    }
    if (sign < 0)
        return false;
    if (end != term && *end == '*') {
        if (!parse_register(end + 1, &r) || r.bits != 64)
            return false;
        o->index = r.reg;
        o->scale = (int)v;
        return true;
    }
    if (!strcmp(term, "rip")) {
        o->reg = SCAN_RIP;
        return true;
    }
    if (!parse_register(term, &r) || r.bits != 64)
        return false;
    if (o->reg == SCAN_NO_REGISTER) {
        o->reg = r.reg;
    } else {
        o->index = r.reg;
        o->scale = 1;
    }
    return true;
}

/* What stands between brackets. */
static bool parse_address(char *s, scan_operand *o)
{
    int sign = 1;

    for (char *w = strtok(s, " "); w; w = strtok(NULL, " ")) {
        if (!strcmp(w, "+") || !strcmp(w, "-")) {
            sign = *w == '-' ? -1 : 1;
            continue;
        }
        if (*w == '-') {
            sign = -1;
            w++;
        }
        if (!parse_term(w, sign, o))
            return false;
        sign = 1;
    }
    return true;
}

static void parse_memory(const char *s, scan_operand *o)
{
    const char *open = strchr(s, '['), *close = strchr(s, ']');
    char inside[64];

    *o = (scan_operand){.kind = SCAN_MEMORY,
                        .reg = SCAN_NO_REGISTER,
                        .index = SCAN_NO_REGISTER,
                        .bytes = bytes_of(s)};
    if (!close || strchr(s, ':') || close - open > (long)sizeof inside) {
        o->kind = SCAN_STRANGE;
        return;
    }
    snprintf(inside, sizeof inside, "%.*s", (int)(close - open - 1), open + 1);
    if (!parse_address(inside, o))
        o->kind = SCAN_STRANGE;
}

static void parse_operand(const char *s, scan_operand *o)
{
    char *end;
    long long v;

    *o = (scan_operand){.kind = SCAN_STRANGE};
    if (strchr(s, '[')) {
        parse_memory(s, o);
        return;
    }
    if (parse_register(s, o))
        return;
    if (is_vector(s)) {
        o->kind = SCAN_VECTOR;
        return;
    }
    v = *s == '-' ? strtoll(s, &end, 10) : (long long)strtoull(s, &end, 10);
    if (end != s && !*end) {
        o->kind = SCAN_IMMEDIATE;
        o->number = v;
    }
}

/* "{k1}", "{z}", "{1to16}", "{rn-sae}" behind operands. */
static void drop_braces(char *s, scan_instruction *out)
{
    char *open, *close;

    while ((open = strchr(s, '{')) && (close = strchr(open, '}'))) {
        if (open[1] == 'k' || open[1] == 'z')
            out->masked = true;
        memmove(open, close + 1, strlen(close + 1) + 1);
    }
    for (size_t n = strlen(s); n && s[n - 1] == ' ';)
        s[--n] = 0;
}

static void parse_operands(char *s, scan_instruction *out)
{
    while (*s && out->n_ops < SCAN_MAX_OPERANDS) {
        char *end = s + strcspn(s, ","), *next = *end ? end + 1 : end;

        *end = 0;
        while (*s == ' ')
            s++;
        drop_braces(s, out);
        if (*s)
            parse_operand(s, &out->op[out->n_ops++]);
        s = next;
    }
}

/* The word at *s; moves behind it and the tab that follows. */
static void take_word(char **s, char *out, size_t room)
{
    size_t n;

    *s += strspn(*s, "\t ");
    n = strcspn(*s, "\t ");
    snprintf(out, room, "%.*s", (int)n, *s);
    *s += n;
    *s += strspn(*s, "\t ");
}

static LLVMDisasmContextRef disassembler(void)
{
    static LLVMDisasmContextRef d;

    if (d)
        return d;
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
    d = LLVMCreateDisasm("x86_64-unknown-linux-gnu", NULL, 0, NULL, NULL);
    LLVMSetDisasmOptions(d, LLVMDisassembler_Option_AsmPrinterVariant);
    return d;
}

/* A prefix comes as an instruction of its own. */
static bool is_prefix(const char *name)
{
    return !strcmp(name, "lock") || !strncmp(name, "rep", 3) ||
           *name == '{'; /* {vex}, {evex}: of two encodings */
}

static void decode_text(char *s, scan_instruction *out)
{
    take_word(&s, out->name, sizeof out->name);
    while (is_prefix(out->name)) {
        out->lock |= out->name[0] == 'l';
        out->rep |= out->name[0] == 'r';
        take_word(&s, out->name, sizeof out->name);
    }
    s[strcspn(s, "#")] = 0;
    parse_operands(s, out);
}

void scan_decode(const uint8_t *code, uint64_t n, uint64_t at,
                 scan_instruction *out)
{
    char text[2 * sizeof out->text] = "";
    uint32_t size = 0;

    *out = (scan_instruction){.at = at};
    do {
        size = at + out->length < n
                   ? (uint32_t)LLVMDisasmInstruction(
                         disassembler(),
                         (uint8_t *)(uintptr_t)(code + at) + out->length,
                         n - at - out->length, at + out->length, out->text,
                         sizeof out->text)
                   : 0;
        out->length = size ? out->length + size : 0;
        if (strlen(text) + strlen(out->text) < sizeof text)
            strcat(text, out->text);
    } while (size && is_prefix(out->text + strspn(out->text, "\t ")) &&
             !strchr(out->text + 1, '\t') && !strchr(out->text, ' '));
    snprintf(out->text, sizeof out->text, "%.*s", (int)sizeof out->text - 1,
             text);
    if (out->length)
        decode_text(text, out);
}
