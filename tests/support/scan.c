/* Follows a function's machine code, with scan_state for what is known. */
#include "tests/support/scan.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/compiler/abi/hostabi.h"
#include "sim/exec/memory.h"
#include "tests/support/scan_walk.h"

enum { MAX_ROUNDS = 12, MANY_PASSES = 40, WIDEN_AFTER = 4 };

/* --- calls --------------------------------------------------------------- */

static const char *const functions[] = {"__vpu_half_z",
                                        "__vpu_half_p",
                                        "__vpu_half_n",
                                        "__vpu_float_iz",
                                        "__vpu_float_ip",
                                        "__vpu_float_in",
                                        "__vpu_float_uz",
                                        "__vpu_float_up",
                                        "__vpu_float_un",
                                        "__vpu_nextafter_f16",
                                        "__vpu_nextafter_f32",
                                        "__extendhfsf2",
                                        "__truncsfhf2",
                                        "__truncdfhf2",
                                        "sqrtf",
                                        "fmodf",
                                        "floorf",
                                        "ceilf",
                                        "truncf",
                                        "rintf",
                                        "roundf",
                                        "fminf",
                                        "fmaxf"};

static bool is_function_of_values(const char *name)
{
    char routine[64];

    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        if (!strcmp(functions[k], name))
            return true;
    for (uint32_t k = 0; k < builtin_n_routines; k++)
        for (int half = 0; half < 2; half++) {
            snprintf(routine, sizeof routine, "__vpu_%s_%s",
                     builtin_routines[k].name, half ? "f16" : "f32");
            if (!strcmp(routine, name))
                return true;
        }
    return false;
}

/* Hooks that every kernel may call, and what their arguments are: 'w' sim_wg,
 * 'l' the log, 'd' arguments of a transfer on the stack, '-' a number. */
static const struct {
    const char *name, *arguments;
    bool returns;
} hooks[] = {
    {"vpu_hook_flush", "wl", true},        {"vpu_hook_dma", "wld", true},
    {"vpu_hook_wait", "wl-", true},        {"vpu_hook_touch", "w---", true},
    {"vpu_hook_print", "w---", true},      {"vpu_hook_divergence", "w-", false},
    {"vpu_hook_unreachable", "w-", false}, {"vpu_hook_limit", "w", false}};

static const int arguments[] = {SCAN_RDI, SCAN_RSI, SCAN_RDX, SCAN_RCX};

static void check_argument(scan *x, scan_value v, char what)
{
    scan_base base = what == 'w' ? SCAN_WG : SCAN_LOG;

    if (what == '-')
        return;
    if (what == 'd')
        scan_check_access(x, v, SIM_DMA_N * 4, false);
    if (what == 'd' ? v.base != SCAN_STACK && v.base != SCAN_FRAME
                    : v.base != base || v.lo || v.hi)
        scan_refuse(x, "a hook's argument '%c' is something else", what);
}

static void call_hook(scan *x, size_t k)
{
    for (size_t n = 0; hooks[k].arguments[n]; n++)
        check_argument(x, x->s.reg[arguments[n]], hooks[k].arguments[n]);
    scan_forget_name(&x->s, scan_new_name(x, 30));
    x->s.log_n = scan_number(
        0, strcmp(hooks[k].name, "vpu_hook_flush") ? x->s.log_n.hi : 0);
    x->s.log_n.name = scan_new_name(x, 30);
}

/* A block of memory, of rdx bytes, somewhere in the window. */
static void call_memory(scan *x, const char *name)
{
    int n = strcmp(name, "memset") ? 2 : 1;
    scan_value bytes = x->s.reg[SCAN_RDX];

    for (int k = 0; k < n; k++) {
        scan_value p = x->s.reg[arguments[k]];

        if (p.base != SCAN_WINDOW || p.lo < 0 ||
            !scan_is_within(bytes, 0, SCAN_U32) ||
            p.hi > (int64_t)MEMORY_RESERVED - bytes.hi)
            scan_refuse(x, "%s outside the window", name);
    }
}

static void forget_registers(scan *x)
{
    static const int lost[] = {SCAN_RAX, SCAN_RCX, SCAN_RDX, SCAN_RSI, SCAN_RDI,
                               8,        9,        10,       11};
    scan_value sp = x->s.reg[SCAN_RSP];

    for (size_t k = 0; k < sizeof lost / sizeof *lost; k++)
        x->s.reg[lost[k]] = scan_unknown();
    x->s.flags = (scan_flags){.compared = false};
    if (sp.base == SCAN_STACK || sp.base == SCAN_FRAME)
        scan_forget_slots(&x->s, sp.base, INT64_MIN, sp.lo);
    else
        scan_refuse(x, "a call without a stack");
}

/* Does it come back? */
static bool do_call(scan *x)
{
    const scan_relocation *r = scan_relocation_of(x);
    const scan_operand *o = &x->i->op[0];
    const char *name = NULL;
    bool returns = true;

    if (o->kind == SCAN_IMMEDIATE) {
        if (r && r->section < 0 && r->addend == -4 &&
            (r->type == R_X86_64_PLT32 || r->type == R_X86_64_PC32))
            name = r->symbol;
    } else {
        scan_value v = scan_read_operand(x, o, 64);

        if (v.base == SCAN_SYMBOL)
            name = scan_symbol_of(x, v);
    }
    if (!name) {
        scan_refuse(x, "a call of something unknown");
        return false;
    }
    if (!strcmp(name, "memcpy") || !strcmp(name, "memmove") ||
        !strcmp(name, "memset")) {
        call_memory(x, name);
    } else if (!is_function_of_values(name)) {
        size_t k = 0;

        while (k < sizeof hooks / sizeof *hooks && strcmp(hooks[k].name, name))
            k++;
        if (k == sizeof hooks / sizeof *hooks) {
            scan_refuse(x, "a call of '%s'", name);
            return false;
        }
        call_hook(x, k);
        returns = hooks[k].returns;
    }
    forget_registers(x);
    return returns;
}

static void do_return(scan *x)
{
    static const int kept[] = {SCAN_RBX, SCAN_RBP, 12, 13, 14, 15};
    scan_value sp = x->s.reg[SCAN_RSP];

    if (x->i->n_ops || x->i->rep || sp.base != SCAN_STACK || sp.lo || sp.hi)
        scan_refuse(x, "returns with another stack");
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
        if (x->s.reg[kept[k]].base != SCAN_CALLER ||
            x->s.reg[kept[k]].of != kept[k])
            scan_refuse(x, "a register of the caller is lost");
}

/* --- control ------------------------------------------------------------- */

static scan_block *block_for(scan *x, uint64_t at)
{
    uint32_t *n = &x->block_at[at - x->begin];
    scan_block *b;

    if (*n)
        return x->blocks[*n - 1];
    b = arena_new(x->a, scan_block);
    b->at = at;
    *arena_append(x->a, x->blocks, x->n_blocks, x->cap_blocks) = b;
    *n = (uint32_t)x->n_blocks;
    return b;
}

/* Control may go from the instruction to `at`. */
static void go(scan *x, uint64_t at)
{
    scan_state *to;
    scan_block *b;

    if (at < x->begin || at >= x->end) {
        scan_refuse(x, at == x->end ? "falls off the function's end"
                                    : "jumps out of the function");
        return;
    }
    b = block_for(x, at);
    if (x->phase == SCAN_DESCEND) {
        scan_join(&b->next, &x->s, x->block_at[at - x->begin], NULL, 0, x->a);
        return;
    }
    to = &b->in;
    scan_copy(&x->was, to, x->a);
    scan_join(to, &x->s, x->block_at[at - x->begin], x->limits,
              b->visits > WIDEN_AFTER ? x->n_limits : 0, x->a);
    if (scan_equal(to, &x->was))
        return;
    if (x->phase == SCAN_JUDGE) {
        scan_copy(to, &x->was, x->a);
        x->changed = true;
        return;
    }
    b->waits = true;
}

/* Every entry of the table between the bounds. */
static void jump_through(scan *x, scan_value v)
{
    const scan_section *s = &x->sections[v.of];

    if (v.base != SCAN_TARGET || v.lo < v.from || v.hi < v.lo ||
        v.hi + v.step > (int64_t)s->length) {
        scan_refuse(x, "a jump to something unknown");
        return;
    }
    for (int64_t at = v.lo; at <= v.hi; at += v.step) {
        const scan_relocation *r =
            scan_relocation_at(s, (uint64_t)at, (uint64_t)at + v.step);
        uint32_t type = v.step == 8 ? R_X86_64_PC64 : R_X86_64_PC32;

        if (!r || r->at != (uint64_t)at || r->type != type ||
            r->section != x->code)
            scan_refuse(x,
                        "a jump's table has an entry that is no place in the "
                        "function");
        else
            go(x, (uint64_t)(r->addend + v.from - at));
    }
}

static void do_jump(scan *x)
{
    const scan_operand *o = &x->i->op[0];

    if (scan_relocation_of(x) && o->kind == SCAN_IMMEDIATE)
        scan_refuse(x, "jumps out of the function");
    else if (o->kind == SCAN_IMMEDIATE)
        go(x, scan_next_of(x->i) + (uint64_t)o->number);
    else
        jump_through(x, scan_read_operand(x, o, 64));
}

static void do_branch(scan *x, const char *c)
{
    const scan_operand *o = &x->i->op[0];

    if (scan_relocation_of(x) || o->kind != SCAN_IMMEDIATE) {
        scan_refuse(x, "jumps out of the function");
        return;
    }
    scan_copy(&x->before, &x->s, x->a);
    scan_learn_branch(x, c);
    go(x, scan_next_of(x->i) + (uint64_t)o->number);
    scan_copy(&x->s, &x->before, x->a);
    scan_learn_branch(x, scan_opposite(c));
    go(x, scan_next_of(x->i));
}

/* Does control go on behind the instruction? */
static bool step(scan *x)
{
    const char *name = x->i->name, *c;

    if (!strcmp(name, "jmp")) {
        do_jump(x);
        return false;
    }
    if (*name == 'j' && (c = scan_condition_of(name + 1))) {
        do_branch(x, c);
        return false;
    }
    if (!strcmp(name, "ret")) {
        do_return(x);
        return false;
    }
    if (!strcmp(name, "call"))
        return do_call(x);
    scan_do_plain(x);
    return true;
}

static const scan_instruction *instruction_at(scan *x, uint64_t at)
{
    scan_instruction **d = &x->decoded[at - x->begin];

    if (!*d) {
        *d = arena_new(x->a, scan_instruction);
        scan_decode(scan_code_of(x)->bytes, x->end, at, *d);
    }
    return *d;
}

/* No byte is part of two instructions. */
static void claim(scan *x)
{
    for (uint64_t k = x->i->at; k < scan_next_of(x->i); k++) {
        uint32_t *o = &x->owner[k - x->begin];
        uint32_t mine = (uint32_t)(x->i->at - x->begin) + 1;

        if (*o && *o != mine)
            scan_refuse(x, "jumps into the middle of an instruction");
        *o = mine;
    }
}

static void walk(scan *x, const scan_block *b)
{
    uint64_t at = b->at;

    scan_copy(&x->s, &b->in, x->a);
    while (!x->wrong) {
        x->i = instruction_at(x, at);
        if (!x->i->length) {
            scan_refuse(x, "no instruction");
            return;
        }
        if (x->phase == SCAN_JUDGE)
            claim(x);
        if (!step(x))
            return;
        at = scan_next_of(x->i);
        if (at >= x->end || x->block_at[at - x->begin]) {
            go(x, at);
            return;
        }
    }
}

/* --- to a fixed point ---------------------------------------------------- */

static void enter(scan_state *s)
{
    static const int kept[] = {SCAN_RBX, SCAN_RBP, 12, 13, 14, 15};

    *s = (scan_state){
        .reached = true, .slots = s->slots, .cap_slots = s->cap_slots};
    s->reg[SCAN_RDI] = scan_at(SCAN_WG, 0, 0);
    s->reg[SCAN_RSI] = scan_at(SCAN_WINDOW, 0, 0);
    s->reg[SCAN_RDX] = scan_at(SCAN_ARGS, 0, 0);
    s->reg[SCAN_RCX] = scan_at(SCAN_LOG, 0, 0);
    s->reg[SCAN_RSP] = scan_at(SCAN_STACK, 0, 0);
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
        s->reg[kept[k]] = scan_at(SCAN_CALLER, kept[k], 0);
    s->log_n = scan_number(0, SIM_LOG_ENTRIES);
    s->log_n.name = 0x7fffffff;
}

static void ascend(scan *x)
{
    x->phase = SCAN_ASCEND;
    for (bool any_waits = true; any_waits;) {
        scan_block *next = NULL;

        for (size_t k = 0; k < x->n_blocks; k++)
            if (x->blocks[k]->waits && (!next || x->blocks[k]->at < next->at))
                next = x->blocks[k];
        any_waits = next != NULL;
        if (!next)
            break;
        next->waits = false;
        next->visits++;
        walk(x, next);
    }
}

static void descend(scan *x, int passes)
{
    bool changed = true;

    x->phase = SCAN_DESCEND;
    for (int pass = 0; pass < passes && changed; pass++) {
        changed = false;
        for (size_t k = 0; k < x->n_blocks; k++)
            x->blocks[k]->next.reached = false;
        enter(&x->blocks[0]->next);
        for (size_t k = 0; k < x->n_blocks; k++)
            if (x->blocks[k]->in.reached)
                walk(x, x->blocks[k]);
        for (size_t k = 0; k < x->n_blocks; k++) {
            scan_block *b = x->blocks[k];

            if (b->in.reached == b->next.reached &&
                (!b->in.reached || scan_equal(&b->in, &b->next)))
                continue;
            scan_copy(&b->in, &b->next, x->a);
            changed = true;
        }
    }
}

/* What was found holds at each instruction, and the rules with it. */
static bool judge(scan *x)
{
    x->phase = SCAN_JUDGE;
    x->changed = false;
    memset(x->owner, 0, (x->end - x->begin) * sizeof *x->owner);
    for (size_t k = 0; k < x->n_blocks; k++)
        if (x->blocks[k]->in.reached)
            walk(x, x->blocks[k]);
    return !x->changed;
}

static int by_number(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Where growing intervals stop: powers of two, what the log holds, and what
 * code compares with. */
static void find_limits(scan *x)
{
    static const int64_t some[] = {-SCAN_U32 - 1,
                                   -SCAN_U32 / 2 - 1,
                                   -1,
                                   0,
                                   1,
                                   255,
                                   SIM_LOG_ENTRIES,
                                   65535,
                                   SCAN_U32 / 2,
                                   SCAN_U32 / 2 + 1,
                                   SCAN_U32,
                                   SCAN_U32 + 1,
                                   2 * SCAN_U32};

    memcpy(x->limits, some, sizeof some);
    x->n_limits = sizeof some / sizeof *some;
    for (uint64_t at = x->begin; at < x->end;) {
        const scan_instruction *i = instruction_at(x, at);

        at += i->length ? i->length : 1;
        if (!strcmp(i->name, "cmp") && i->op[1].kind == SCAN_IMMEDIATE)
            for (int k = -1; k <= 1 && x->n_limits < SCAN_MAX_LIMITS; k++)
                x->limits[x->n_limits++] = i->op[1].number + k;
    }
    qsort(x->limits, x->n_limits, sizeof *x->limits, by_number);
}

const char *scan_function(const scan_section *sections, size_t n_sections,
                          int code, uint64_t begin, uint64_t n,
                          uint32_t args_bytes, arena *out)
{
    arena *a = arena_create(0);
    scan x = {.sections = sections,
              .n_sections = n_sections,
              .code = code,
              .begin = begin,
              .end = begin + n,
              .args_bytes = args_bytes,
              .a = a,
              .block_at = arena_array(a, uint32_t, n + 1),
              .decoded = arena_array(a, scan_instruction *, n + 1),
              .owner = arena_array(a, uint32_t, n + 1)};
    const char *wrong;
    bool settled = false;

    find_limits(&x);
    enter(&block_for(&x, begin)->in);
    for (int round = 0; round < MAX_ROUNDS && !settled; round++) {
        x.wrong = NULL;
        for (size_t k = 0; k < x.n_blocks; k++)
            x.blocks[k]->waits = x.blocks[k]->in.reached;
        ascend(&x);
        descend(&x,
                round < MAX_ROUNDS / 2 ? MANY_PASSES : MAX_ROUNDS - 1 - round);
        settled = judge(&x);
    }
    if (!settled && !x.wrong)
        scan_refuse(&x, "the analysis does not settle");
    wrong = arena_strdup(out, x.wrong);
    arena_destroy(a);
    return wrong;
}
