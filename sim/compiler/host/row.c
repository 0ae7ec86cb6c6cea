/* Several work-groups with one call: what a short group takes is mostly the
 * call, its arguments and its numbers.
 *
 * Behind its end a group begins again as the next one of the row (sim_row). */
#include <string.h>

#include "sim/compiler/abi/hostabi.h"
#include "sim/compiler/host/hostcode_priv.h"

/* Longer code gains nothing, and would keep its arguments in registers. */
enum { ROW_MOST_INSTRUCTIONS = 256 };

_Static_assert(offsetof(sim_ran, more) == offsetof(sim_ran, log_end) + 4,
               "one store writes both");

#define ROW_FIELD(name) (offsetof(sim_wg, row) + offsetof(sim_row, name))

static LLVMValueRef k64(host *h, uint64_t v)
{
    return LLVMConstInt(h->i64, v, false);
}

/* Hooks that look at the group, but for those that end it, want one that is
 * alone. */
static bool looks_at_group(LLVMValueRef i)
{
    call_id id = ir_call_id(i);

    return !strncmp(ir_callee(i), "llvm.mem", 8) ||
           ((call_is_collective(id) || call_is_long(id)) && !call_ends(id));
}

bool host_row_suits(const host *h)
{
    uint32_t n = 0;

    if (h->sites || h->debug || h->track_lines)
        return false;
    for (uint32_t b = 0; b < h->cfg.n_blocks; b++)
        ir_each_inst(i, h->cfg.blocks[b])
            if (looks_at_group(i) || ++n > ROW_MOST_INSTRUCTIONS)
                return false;
    return true;
}

static LLVMValueRef k32(host *h, uint32_t v)
{
    return LLVMConstInt(h->i32, v, false);
}

static LLVMValueRef load(host *h, LLVMTypeRef t, LLVMValueRef from)
{
    return LLVMBuildLoad2(h->builder, t, from, "");
}

static LLVMValueRef load32(host *h, LLVMValueRef from)
{
    return load(h, h->i32, from);
}

static void add_one(host *h, LLVMValueRef to)
{
    LLVMBuildStore(h->builder,
                   LLVMBuildAdd(h->builder, load32(h, to), k32(h, 1), ""), to);
}

static LLVMBasicBlockRef new_block(host *h)
{
    return LLVMAppendBasicBlockInContext(h->context, h->fn, "");
}

/* Where the row is; LLVM makes registers of it. */
void host_row_restore(host *h)
{
    LLVMBuildStore(h->builder, host_load_field(h, h->i32, ROW_FIELD(ended)),
                   h->row.ended);
    if (!h->row.quiet)
        return;
    LLVMBuildStore(h->builder, k32(h, 0), h->row.logged);
    LLVMBuildStore(h->builder, load(h, h->i64, h->log_n), h->row.from);
}

LLVMValueRef host_row_begin(host *h)
{
    const size_t group = offsetof(sim_wg, ids) + SIM_ID_GROUP * sizeof(int32_t);

    h->row.ended = LLVMBuildAlloca(h->builder, h->i32, "ended");
    h->row.used = LLVMBuildAlloca(h->builder, h->i64, "used");
    h->row.group = LLVMBuildAlloca(h->builder, h->i32, "group");
    h->row.head = new_block(h);
    if (host_is_regular(h)) {
        h->row.quiet = new_block(h);
        h->row.logged = LLVMBuildAlloca(h->builder, h->i32, "logged");
        h->row.from = LLVMBuildAlloca(h->builder, h->i64, "from");
        h->row.more = LLVMBuildAlloca(h->builder, h->i32, "more");
        h->row.left = LLVMBuildAlloca(h->builder, h->i32, "left");
    }
    host_row_restore(h);
    LLVMBuildStore(h->builder, k64(h, 0), h->row.used);
    LLVMBuildStore(h->builder, host_load_field(h, h->i32, group), h->row.group);
    LLVMBuildBr(h->builder, h->row.head);
    LLVMPositionBuilderAtEnd(h->builder, h->row.head);
    LLVMBuildStore(h->builder, k64(h, 0), h->cycles);
    return load32(h, h->row.group);
}

/* A field of entry k of sim_row.ran. A mask, so that no number there leads out
 * of the table; the offset apart, so that the mask is seen in the code. */
static LLVMValueRef ran_field(host *h, LLVMValueRef k, size_t offset)
{
    LLVMValueRef at = LLVMBuildAnd(h->builder, k, k32(h, SIM_ROW - 1), ""),
                 field = k64(h, offset);

    at = LLVMBuildMul(h->builder, LLVMBuildZExt(h->builder, at, h->i64, ""),
                      k64(h, sizeof(sim_ran)), "");
    at = LLVMBuildInBoundsGEP2(h->builder, h->i8,
                               host_field_ptr(h, ROW_FIELD(ran)), &at, 1, "");
    return LLVMBuildInBoundsGEP2(h->builder, h->i8, at, &field, 1, "");
}

/* The group's entry. Returns the cycles used with it. */
static LLVMValueRef note_ran(host *h, LLVMValueRef ended)
{
    LLVMValueRef cycles = load(h, h->i64, h->cycles),
                 log_n = load(h, h->i64, h->log_n),
                 used = load(h, h->i64, h->row.used);

    LLVMBuildStore(h->builder, cycles,
                   ran_field(h, ended, offsetof(sim_ran, cycles)));
    /* `more` is 0 with it: the log has few entries. */
    LLVMBuildStore(h->builder, log_n,
                   ran_field(h, ended, offsetof(sim_ran, log_end)));
    used = LLVMBuildAdd(h->builder, used, cycles, "");
    LLVMBuildStore(h->builder, used, h->row.used);
    return used;
}

static void next_group(host *h)
{
    LLVMBuildStore(h->builder,
                   LLVMBuildAdd(h->builder, load32(h, h->row.group),
                                host_load_field(h, h->i32, ROW_FIELD(stride)),
                                ""),
                   h->row.group);
}

/* A fault of the next group must find it. */
static void store_for_faults(host *h, LLVMValueRef v, LLVMValueRef at)
{
    LLVMSetVolatile(LLVMBuildStore(h->builder, v, at), true);
}

static LLVMValueRef least(host *h, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSelect(
        h->builder, LLVMBuildICmp(h->builder, LLVMIntULT, a, b, ""), a, b, "");
}

/* How many groups may follow, of which each begins before `most` cycles are
 * used and takes as many as the last. */
static LLVMValueRef groups_left(host *h, LLVMValueRef used)
{
    LLVMValueRef cycles = load(h, h->i64, h->cycles), n,
                 most = host_load_field(h, h->i64, ROW_FIELD(most)),
                 moved = host_load_field(h, h->i32, ROW_FIELD(moved));

    cycles = LLVMBuildSelect(
        h->builder, LLVMBuildICmp(h->builder, LLVMIntEQ, cycles, k64(h, 0), ""),
        k64(h, 1), cycles, "");
    n = LLVMBuildSub(h->builder, LLVMBuildSub(h->builder, most, used, ""),
                     k64(h, 1), "");
    n = LLVMBuildAdd(h->builder, LLVMBuildUDiv(h->builder, n, cycles, ""),
                     k64(h, 1), "");
    n = least(h, n, LLVMBuildZExt(h->builder, moved, h->i64, ""));
    return LLVMBuildTrunc(h->builder, n, h->i32, "");
}

/* On with the next group: where two tell the accesses of all, quietly. */
static void go_on(host *h, LLVMValueRef used)
{
    LLVMBasicBlockRef quiet = new_block(h);
    LLVMValueRef log_n = load(h, h->i64, h->log_n), told, few, left;

    add_one(h, h->row.logged);
    told = LLVMBuildICmp(h->builder, LLVMIntUGE, load32(h, h->row.logged),
                         k32(h, 2), "");
    few = LLVMBuildSub(h->builder, log_n, load(h, h->i64, h->row.from), "");
    few = LLVMBuildICmp(h->builder, LLVMIntULE, few, k64(h, SIM_MOVED), "");
    left = host_load_field(h, h->i32, ROW_FIELD(moved));
    few = LLVMBuildAnd(
        h->builder, few,
        LLVMBuildICmp(h->builder, LLVMIntNE, left, k32(h, 0), ""), "");
    LLVMBuildStore(h->builder, log_n, h->row.from);
    LLVMBuildCondBr(h->builder, LLVMBuildAnd(h->builder, told, few, ""), quiet,
                    h->row.head);
    LLVMPositionBuilderAtEnd(h->builder, quiet);
    LLVMBuildStore(h->builder, groups_left(h, used), h->row.left);
    LLVMBuildStore(h->builder, k32(h, 0), h->row.more);
    LLVMBuildBr(h->builder, h->row.quiet);
}

static void leave(host *h)
{
    host_save_state(h);
    LLVMBuildRetVoid(h->builder);
}

static void end_quiet(host *h)
{
    LLVMBasicBlockRef on = new_block(h), out = new_block(h);
    LLVMValueRef last = LLVMBuildSub(h->builder, load32(h, h->row.ended),
                                     k32(h, 1), ""),
                 more;

    add_one(h, h->row.more);
    more = load32(h, h->row.more);
    store_for_faults(h, more, ran_field(h, last, offsetof(sim_ran, more)));
    LLVMBuildCondBr(
        h->builder,
        LLVMBuildICmp(h->builder, LLVMIntULT, more, load32(h, h->row.left), ""),
        on, out);
    LLVMPositionBuilderAtEnd(h->builder, on);
    next_group(h);
    LLVMBuildBr(h->builder, h->row.quiet);
    LLVMPositionBuilderAtEnd(h->builder, out);
    leave(h);
}

LLVMValueRef host_row_begin_quiet(host *h)
{
    LLVMPositionBuilderAtEnd(h->builder, h->row.quiet);
    return load32(h, h->row.group);
}

void host_row_end(host *h)
{
    LLVMBasicBlockRef on, out;
    LLVMValueRef ended = load32(h, h->row.ended), used, more;

    if (h->is_quiet) {
        end_quiet(h);
        return;
    }
    on = new_block(h);
    out = new_block(h);
    used = note_ran(h, ended);
    ended = LLVMBuildAdd(h->builder, ended, k32(h, 1), "");
    LLVMBuildStore(h->builder, ended, h->row.ended);
    store_for_faults(h, ended, host_field_ptr(h, ROW_FIELD(ended)));
    more = LLVMBuildAnd(
        h->builder,
        LLVMBuildICmp(h->builder, LLVMIntULT, ended,
                      host_load_field(h, h->i32, ROW_FIELD(n)), ""),
        LLVMBuildICmp(h->builder, LLVMIntULT, used,
                      host_load_field(h, h->i64, ROW_FIELD(most)), ""),
        "");
    LLVMBuildCondBr(h->builder, more, on, out);
    LLVMPositionBuilderAtEnd(h->builder, on);
    next_group(h);
    if (h->row.quiet)
        go_on(h, used);
    else
        LLVMBuildBr(h->builder, h->row.head);
    LLVMPositionBuilderAtEnd(h->builder, out);
    leave(h);
}
