/* Several work-groups with one call: what a short group takes is mostly the
 * call, its arguments and its numbers.
 *
 * Behind its end a group begins again as the next one of the row (sim_row). */
#include <string.h>

#include "sim/compiler/abi/hostabi.h"
#include "sim/compiler/host/hostcode_priv.h"

/* Longer code gains nothing, and would keep its arguments in registers. */
enum { ROW_MOST_INSTRUCTIONS = 256 };

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

/* Where the row is; LLVM makes registers of it. */
void host_row_restore(host *h)
{
    LLVMBuildStore(h->builder, host_load_field(h, h->i32, ROW_FIELD(ended)),
                   h->row.ended);
}

LLVMValueRef host_row_begin(host *h)
{
    const size_t group = offsetof(sim_wg, ids) + SIM_ID_GROUP * sizeof(int32_t);

    h->row.ended = LLVMBuildAlloca(h->builder, h->i32, "ended");
    h->row.used = LLVMBuildAlloca(h->builder, h->i64, "used");
    h->row.group = LLVMBuildAlloca(h->builder, h->i32, "group");
    host_row_restore(h);
    LLVMBuildStore(h->builder, k64(h, 0), h->row.used);
    LLVMBuildStore(h->builder, host_load_field(h, h->i32, group), h->row.group);
    h->row.head = LLVMAppendBasicBlockInContext(h->context, h->fn, "");
    LLVMBuildBr(h->builder, h->row.head);
    LLVMPositionBuilderAtEnd(h->builder, h->row.head);
    LLVMBuildStore(h->builder, k64(h, 0), h->cycles);
    return LLVMBuildLoad2(h->builder, h->i32, h->row.group, "");
}

/* The group's entry of sim_row.ran. Returns the cycles used with it. */
static LLVMValueRef note_ran(host *h, LLVMValueRef ended)
{
    LLVMValueRef cycles = LLVMBuildLoad2(h->builder, h->i64, h->cycles, ""),
                 log_n = LLVMBuildLoad2(h->builder, h->i64, h->log_n, ""),
                 used = LLVMBuildLoad2(h->builder, h->i64, h->row.used, ""), at,
                 field;

    /* A mask, so that no number there leads out of the table. */
    at = LLVMBuildAnd(h->builder, ended,
                      LLVMConstInt(h->i32, SIM_ROW - 1, false), "");
    at = LLVMBuildMul(h->builder, LLVMBuildZExt(h->builder, at, h->i64, ""),
                      k64(h, sizeof(sim_ran)), "");
    at = LLVMBuildInBoundsGEP2(h->builder, h->i8,
                               host_field_ptr(h, ROW_FIELD(ran)), &at, 1, "");
    LLVMBuildStore(h->builder, cycles, at);
    field = k64(h, offsetof(sim_ran, log_end));
    LLVMBuildStore(h->builder, log_n,
                   LLVMBuildInBoundsGEP2(h->builder, h->i8, at, &field, 1, ""));
    used = LLVMBuildAdd(h->builder, used, cycles, "");
    LLVMBuildStore(h->builder, used, h->row.used);
    return used;
}

void host_row_end(host *h)
{
    LLVMBasicBlockRef on = LLVMAppendBasicBlockInContext(h->context, h->fn, ""),
                      out =
                          LLVMAppendBasicBlockInContext(h->context, h->fn, "");
    LLVMValueRef ended = LLVMBuildLoad2(h->builder, h->i32, h->row.ended, ""),
                 used = note_ran(h, ended), more, group, store;

    ended = LLVMBuildAdd(h->builder, ended, LLVMConstInt(h->i32, 1, false), "");
    LLVMBuildStore(h->builder, ended, h->row.ended);
    /* A fault of the next group must find it. */
    store =
        LLVMBuildStore(h->builder, ended, host_field_ptr(h, ROW_FIELD(ended)));
    LLVMSetVolatile(store, true);
    more = LLVMBuildAnd(
        h->builder,
        LLVMBuildICmp(h->builder, LLVMIntULT, ended,
                      host_load_field(h, h->i32, ROW_FIELD(n)), ""),
        LLVMBuildICmp(h->builder, LLVMIntULT, used,
                      host_load_field(h, h->i64, ROW_FIELD(most)), ""),
        "");
    LLVMBuildCondBr(h->builder, more, on, out);
    LLVMPositionBuilderAtEnd(h->builder, on);
    group = LLVMBuildLoad2(h->builder, h->i32, h->row.group, "");
    group = LLVMBuildAdd(h->builder, group,
                         host_load_field(h, h->i32, ROW_FIELD(stride)), "");
    LLVMBuildStore(h->builder, group, h->row.group);
    LLVMBuildBr(h->builder, h->row.head);
    LLVMPositionBuilderAtEnd(h->builder, out);
    host_save_state(h);
    LLVMBuildRetVoid(h->builder);
}
