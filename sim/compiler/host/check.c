/* Checks inline as far as an access is like one seen before, calls for the
 * rest.
 *
 * An access is fine without a call when it lies within what its pointer points
 * to, is aligned, and all shadow words of its bytes say that it changes nothing
 * (hostabi.h). Memory nobody writes in this launch needs no look at the words.
 */
#include "sim/compiler/host/check.h"

#include <stddef.h>
#include <string.h>

#include "sim/compiler/abi/hostabi.h"

/* Words compared inline; longer accesses call. */
enum { MAX_INLINE_BYTES = 64 };

static LLVMValueRef k32(host *h, uint32_t v)
{
    return LLVMConstInt(h->i32, v, false);
}

static LLVMValueRef state(host *h, LLVMTypeRef t, size_t offset)
{
    return host_load_field(h, t, offsetof(sim_wg, check) + offset);
}

static void set_state(host *h, LLVMValueRef v, size_t offset)
{
    LLVMBuildStore(h->builder, v,
                   host_field_ptr(h, offsetof(sim_wg, check) + offset));
}

/* --- what the code keeps itself ------------------------------------------- */

static const size_t told_at[HOST_TOLD] = {
    [HOST_ITEM] = offsetof(sim_check, item),
    [HOST_AT] = offsetof(sim_check, at),
    [HOST_AT_ITEM] = offsetof(sim_check, at_item),
    [HOST_BEFORE] = offsetof(sim_check, before)};

static LLVMValueRef keep(host *h, size_t offset)
{
    LLVMValueRef at = LLVMBuildAlloca(h->builder, h->i32, "");

    LLVMBuildStore(h->builder, state(h, h->i32, offset), at);
    return at;
}

static LLVMValueRef kept(host *h, LLVMValueRef at)
{
    return LLVMBuildLoad2(h->builder, h->i32, at, "");
}

void host_check_save(host *h)
{
    for (unsigned k = 0; k < HOST_TOLD; k++)
        set_state(h, kept(h, h->told[k]), told_at[k]);
}

void host_check_prologue(host *h, unsigned n_args)
{
    LLVMValueRef at;

    for (unsigned k = 0; k < HOST_TOLD; k++)
        h->told[k] = keep(h, told_at[k]);
    for (size_t k = 0; k < 2; k++)
        h->mine[k] = keep(h, offsetof(sim_check, mine) + k * sizeof(uint32_t));

    h->shadow = LLVMBuildIntToPtr(h->builder,
                                  state(h, h->i64, offsetof(sim_check, shadow)),
                                  h->ptr, "shadow");
    at = LLVMBuildIntToPtr(h->builder,
                           state(h, h->i64, offsetof(sim_check, limits)),
                           h->ptr, "limits");
    h->limits = arena_array(h->arena, LLVMValueRef, n_args + 1);
    for (unsigned k = 0; k < n_args; k++) {
        LLVMValueRef i = LLVMConstInt(h->i64, k, false);

        h->limits[k] = LLVMBuildLoad2(
            h->builder, h->i64,
            LLVMBuildGEP2(h->builder, h->i64, at, &i, 1, ""), "");
    }
}

static uint32_t operand(LLVMValueRef i, unsigned k)
{
    return (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(i, k));
}

/* --- accesses ------------------------------------------------------------ */

static LLVMValueRef splat(host *h, LLVMValueRef v, uint32_t n)
{
    LLVMTypeRef t = LLVMVectorType(h->i32, n);
    LLVMValueRef one =
        LLVMBuildInsertElement(h->builder, LLVMGetUndef(t), v, k32(h, 0), "");

    return LLVMBuildShuffleVector(h->builder, one, LLVMGetUndef(t),
                                  LLVMConstNull(t), "");
}

static LLVMValueRef word_ptr(host *h, LLVMValueRef addr)
{
    LLVMValueRef i = LLVMBuildZExt(h->builder, addr, h->i64, "");

    return LLVMBuildInBoundsGEP2(h->builder, h->i32, h->shadow, &i, 1, "");
}

/* Words that an access is judged by: in local memory the first alone where it
 * stands for the whole element. Buffers may be used in other units as well, by
 * another argument or another kernel. */
static uint32_t judged(const host *h, const sim_site *s)
{
    const sim_object *o = &h->sites->objects[s->object];

    return sim_object_is_local(o) && o->element ? 1 : s->bytes;
}

static LLVMValueRef load_words(host *h, const sim_site *s, LLVMValueRef addr)
{
    LLVMTypeRef t = LLVMVectorType(h->i32, judged(h, s));
    LLVMValueRef words = LLVMBuildLoad2(h->builder, t, word_ptr(h, addr), "");

    LLVMSetAlignment(words, 4);
    return words;
}

static void store_words(host *h, LLVMValueRef words, LLVMValueRef addr)
{
    LLVMSetAlignment(LLVMBuildStore(h->builder, words, word_ptr(h, addr)), 4);
}

static LLVMValueRef all_words(host *h, const sim_site *s, uint32_t v)
{
    return splat(h, k32(h, v), judged(h, s));
}

static LLVMValueRef all_state(host *h, const sim_site *s, size_t field)
{
    return splat(h, state(h, h->i32, field), judged(h, s));
}

/* The word of a store by the item, to the memory the site is about. */
static LLVMValueRef all_mine(host *h, const sim_site *s)
{
    bool local = sim_object_is_local(&h->sites->objects[s->object]);

    return splat(h, kept(h, h->mine[!local]), judged(h, s));
}

/* Of a load many items made. */
static LLVMValueRef all_many(host *h, const sim_site *s)
{
    bool local = sim_object_is_local(&h->sites->objects[s->object]);

    return all_state(
        h, s, offsetof(sim_check, many) + (local ? 0 : sizeof(uint32_t)));
}

static LLVMValueRef all_true(host *h, const sim_site *s, LLVMValueRef lanes)
{
    LLVMTypeRef bits = LLVMIntTypeInContext(h->context, judged(h, s));

    return LLVMBuildICmp(h->builder, LLVMIntEQ,
                         LLVMBuildBitCast(h->builder, lanes, bits, ""),
                         LLVMConstAllOnes(bits), "");
}

/* words, with these bits set, are what is given. */
static LLVMValueRef words_are(host *h, const sim_site *s, LLVMValueRef words,
                              uint32_t bits, LLVMValueRef given)
{
    if (bits)
        words = LLVMBuildOr(h->builder, words, all_words(h, s, bits), "");
    return all_true(h, s,
                    LLVMBuildICmp(h->builder, LLVMIntEQ, words, given, ""));
}

/* The lanes where words, of these bits, have those wanted. */
static LLVMValueRef lanes_with(host *h, LLVMValueRef words, LLVMValueRef bits,
                               LLVMValueRef wanted)
{
    return LLVMBuildICmp(h->builder, LLVMIntEQ,
                         LLVMBuildAnd(h->builder, words, bits, ""), wanted, "");
}

static LLVMValueRef lanes_of_group(host *h, const sim_site *s,
                                   LLVMValueRef words)
{
    return LLVMBuildICmp(h->builder, LLVMIntUGE, words,
                         all_state(h, s, offsetof(sim_check, floor)), "");
}

static LLVMValueRef lanes_of_before(host *h, const sim_site *s,
                                    LLVMValueRef words)
{
    return LLVMBuildICmp(h->builder, LLVMIntULT, words,
                         all_state(h, s, offsetof(sim_check, now_floor)), "");
}

/* The words are of this group, and written. */
static LLVMValueRef words_are_ours(host *h, const sim_site *s,
                                   LLVMValueRef words)
{
    LLVMValueRef init = all_words(h, s, SIM_CHECK_INIT);

    return all_true(h, s,
                    LLVMBuildAnd(h->builder, lanes_of_group(h, s, words),
                                 lanes_with(h, words, init, init), ""));
}

static LLVMBasicBlockRef new_block(host *h)
{
    return LLVMAppendBasicBlockInContext(h->context, h->fn, "");
}

static void branch_likely(host *h, LLVMValueRef cond, LLVMBasicBlockRef yes,
                          LLVMBasicBlockRef no)
{
    LLVMValueRef br = LLVMBuildCondBr(h->builder, cond, yes, no);
    LLVMMetadataRef w[3] = {
        LLVMMDStringInContext2(h->context, "branch_weights", 14),
        LLVMValueAsMetadata(k32(h, 1 << 10)), LLVMValueAsMetadata(k32(h, 1))};

    LLVMSetMetadata(br, LLVMGetMDKindIDInContext(h->context, "prof", 4),
                    LLVMMetadataAsValue(
                        h->context, LLVMMDNodeInContext2(h->context, w, 3)));
}

/* Bytes the pointer's memory has from root on, as i64. */
static LLVMValueRef limit_of(host *h, const sim_object *o)
{
    if (o->kind == SIM_MEM_ARG)
        return h->limits[o->index];
    return LLVMConstInt(h->i64, o->bytes, false);
}

static LLVMValueRef inside(host *h, const sim_site *s, const sim_object *o,
                           LLVMValueRef addr, LLVMValueRef root)
{
    LLVMValueRef off = LLVMBuildSub(h->builder, addr, root, ""), end, ok;

    end = LLVMBuildAdd(h->builder, LLVMBuildZExt(h->builder, off, h->i64, ""),
                       LLVMConstInt(h->i64, s->bytes, false), "");
    ok = LLVMBuildICmp(h->builder, LLVMIntULE, end, limit_of(h, o), "");
    if (s->align > 1)
        ok = LLVMBuildAnd(h->builder, ok,
                          LLVMBuildICmp(h->builder, LLVMIntEQ,
                                        LLVMBuildAnd(h->builder, addr,
                                                     k32(h, s->align - 1), ""),
                                        k32(h, 0), ""),
                          "");
    return ok;
}

static LLVMValueRef call_access(host *h, LLVMValueRef site, LLVMValueRef addr,
                                LLVMValueRef root)
{
    LLVMValueRef args[4] = {h->wg, site, addr, root};

    return host_hook(h, "vpu_hook_access", h->i32, args, 4);
}

/* --- words of local memory that change in the usual ways ----------------- */

/* A store of bytes that nobody used since the last barrier, or this item alone.
 */
static LLVMValueRef may_store(host *h, const sim_site *s, LLVMValueRef words)
{
    LLVMValueRef special = all_words(h, s, SIM_CHECK_SPECIAL);
    LLVMValueRef before =
        LLVMBuildAnd(h->builder, lanes_of_before(h, s, words),
                     lanes_with(h, words, special, all_words(h, s, 0)), "");
    LLVMValueRef mine = LLVMBuildICmp(
        h->builder, LLVMIntEQ,
        LLVMBuildOr(h->builder, words,
                    all_words(h, s, SIM_CHECK_LOAD_MINE | SIM_CHECK_INIT), ""),
        all_mine(h, s), "");

    return all_true(h, s, LLVMBuildOr(h->builder, before, mine, ""));
}

/* A load of bytes this group has written that nobody used since the last
 * barrier, or another item has read. *next: the words then. */
static LLVMValueRef may_load(host *h, const sim_site *s, LLVMValueRef words,
                             LLVMValueRef *next)
{
    LLVMValueRef before = lanes_of_before(h, s, words);
    LLVMValueRef bits = LLVMBuildSelect(
        h->builder, before, all_words(h, s, SIM_CHECK_SPECIAL | SIM_CHECK_INIT),
        all_words(h, s, SIM_CHECK_KIND | SIM_CHECK_INIT), "");
    LLVMValueRef wanted =
        LLVMBuildSelect(h->builder, before, all_words(h, s, SIM_CHECK_INIT),
                        all_words(h, s, SIM_CHECK_READ | SIM_CHECK_INIT), "");

    /* `mine` less what a store has and a load has not. */
    *next = LLVMBuildXor(h->builder, all_mine(h, s),
                         all_words(h, s, SIM_CHECK_WROTE ^ SIM_CHECK_READ), "");
    *next = LLVMBuildSelect(h->builder, before, *next, all_many(h, s), "");
    *next = LLVMBuildAnd(
        h->builder, *next,
        LLVMBuildOr(h->builder, words,
                    all_words(h, s, ~(uint32_t)SIM_CHECK_WRITTEN), ""),
        "");
    return all_true(h, s,
                    LLVMBuildAnd(h->builder, lanes_of_group(h, s, words),
                                 lanes_with(h, words, bits, wanted), ""));
}

/* --- the ways of an access ----------------------------------------------- */

enum { MAX_WAYS = 3 };

/* Where an access goes on without a call, and the blocks it comes from. */
typedef struct {
    LLVMBasicBlockRef on, call, from[MAX_WAYS];
    unsigned n;
} ways;

/* Notes a store to a private array, of which nobody else knows. */
static void note_private(host *h, const sim_site *s, LLVMValueRef addr, ways *w)
{
    LLVMValueRef init = state(h, h->i32, offsetof(sim_check, init));

    store_words(h, splat(h, init, s->bytes), addr);
    w->from[w->n++] = LLVMGetInsertBlock(h->builder);
    LLVMBuildBr(h->builder, w->on);
}

static void one_way(host *h, ways *w, LLVMValueRef fine, LLVMBasicBlockRef no)
{
    w->from[w->n++] = LLVMGetInsertBlock(h->builder);
    branch_likely(h, fine, w->on, no);
}

/* Goes on with other words. */
static void change_words(host *h, const sim_site *s, LLVMValueRef addr,
                         LLVMValueRef words, ways *w)
{
    LLVMBasicBlockRef change = new_block(h);
    LLVMValueRef next, may;

    if (s->kind == SITE_STORE) {
        may = may_store(h, s, words);
        next = all_mine(h, s);
    } else {
        may = may_load(h, s, words, &next);
    }
    branch_likely(h, may, change, w->call);
    LLVMPositionBuilderAtEnd(h->builder, change);
    if (judged(h, s) < s->bytes)
        next =
            splat(h, LLVMBuildExtractElement(h->builder, next, k32(h, 0), ""),
                  s->bytes);
    store_words(h, next, addr);
    LLVMBuildBr(h->builder, w->on);
    w->from[w->n++] = change;
}

/* Goes on when the words say that nothing changes, or how they do. */
static void branch_on_words(host *h, const sim_site *s, LLVMValueRef addr,
                            ways *w)
{
    const sim_object *o = &h->sites->objects[s->object];
    bool local = sim_object_is_local(o);
    LLVMValueRef words = load_words(h, s, addr);
    LLVMBasicBlockRef more;

    if (o->kind == SIM_MEM_PRIVATE) {
        one_way(h, w,
                words_are(h, s, words, 0,
                          all_state(h, s, offsetof(sim_check, init))),
                w->call);
        return;
    }
    if (s->only_read) {
        one_way(h, w, words_are_ours(h, s, words), w->call);
        return;
    }
    if (s->kind == SITE_STORE && local) {
        change_words(h, s, addr, words, w);
        return;
    }
    if (s->kind == SITE_STORE) {
        one_way(h, w, words_are(h, s, words, 0, all_mine(h, s)), w->call);
        return;
    }
    more = new_block(h);
    one_way(h, w, words_are(h, s, words, SIM_CHECK_LOAD_MANY, all_many(h, s)),
            more);
    LLVMPositionBuilderAtEnd(h->builder, more);
    more = local ? new_block(h) : w->call;
    one_way(h, w, words_are(h, s, words, SIM_CHECK_LOAD_MINE, all_mine(h, s)),
            more);
    if (!local)
        return;
    LLVMPositionBuilderAtEnd(h->builder, more);
    change_words(h, s, addr, words, w);
}

/* --- stores one behind the other ------------------------------------------ */

/* Memory of compiled code's state: a field of what `at` points to. */
static LLVMValueRef field_at(host *h, LLVMValueRef at, size_t offset)
{
    LLVMValueRef n = LLVMConstInt(h->i64, offset, false);

    return LLVMBuildInBoundsGEP2(h->builder, LLVMInt8TypeInContext(h->context),
                                 at, &n, 1, "");
}

static LLVMValueRef load_at(host *h, LLVMTypeRef t, LLVMValueRef at,
                            size_t offset)
{
    return LLVMBuildLoad2(h->builder, t, field_at(h, at, offset), "");
}

/* The run of the block that a store is in, `off` behind where runs begin. */
static LLVMValueRef run_of(host *h, LLVMValueRef runs, LLVMValueRef off)
{
    LLVMValueRef n = LLVMBuildUDiv(h->builder, off, k32(h, SIM_RUN_BYTES), "");

    n = LLVMBuildMul(h->builder, LLVMBuildZExt(h->builder, n, h->i64, ""),
                     LLVMConstInt(h->i64, sizeof(sim_check_run), false), "");
    runs = LLVMBuildIntToPtr(h->builder, runs, h->ptr, "");
    return LLVMBuildInBoundsGEP2(h->builder, LLVMInt8TypeInContext(h->context),
                                 runs, &n, 1, "");
}

static void store_at(host *h, LLVMValueRef v, LLVMValueRef at, size_t offset)
{
    LLVMBuildStore(h->builder, v, field_at(h, at, offset));
}

/* A run, as compiled code looks at it for a store `off` behind where runs
 * begin. */
typedef struct {
    LLVMValueRef at, off, in; /* in: its block */
    LLVMValueRef next, next_word, step, count, from, element;
    LLVMValueRef mine;  /* the store's word */
    LLVMValueRef first; /* nobody used the block */
} run;

static run load_run(host *h, LLVMValueRef runs, LLVMValueRef off)
{
    LLVMTypeRef i8 = LLVMInt8TypeInContext(h->context);
    LLVMTypeRef i16 = LLVMInt16TypeInContext(h->context);
    run r = {.at = run_of(h, runs, off), .off = off};

    r.in = LLVMBuildAnd(h->builder, off, k32(h, SIM_RUN_BYTES - 1), "");
    r.next = load_at(h, h->i32, r.at, offsetof(sim_check_run, next));
    r.next_word = load_at(h, h->i32, r.at, offsetof(sim_check_run, next_word));
    r.step = load_at(h, h->i32, r.at, offsetof(sim_check_run, step));
    r.count = load_at(h, i16, r.at, offsetof(sim_check_run, count));
    r.from = load_at(h, i8, r.at, offsetof(sim_check_run, from));
    r.element = load_at(h, i8, r.at, offsetof(sim_check_run, element));
    r.mine = kept(h, h->mine[1]);
    r.first =
        LLVMBuildICmp(h->builder, LLVMIntEQ, r.element, LLVMConstNull(i8), "");
    return r;
}

static LLVMValueRef is_number(host *h, LLVMValueRef v, uint64_t n)
{
    return LLVMBuildICmp(h->builder, LLVMIntEQ, v,
                         LLVMConstInt(LLVMTypeOf(v), n, false), "");
}

/* The store begins a run, or goes on with it: it is as long as the others,
 * begins where the last one ended, and its word is the next one. */
static LLVMValueRef takes_store(host *h, const sim_site *s, const run *r)
{
    LLVMValueRef begins = LLVMBuildICmp(h->builder, LLVMIntULE, r->in,
                                        k32(h, SIM_RUN_BYTES - s->bytes), "");
    LLVMValueRef word = LLVMBuildOr(
        h->builder, is_number(h, r->count, 1),
        LLVMBuildICmp(h->builder, LLVMIntEQ, r->next_word, r->mine, ""), "");
    LLVMValueRef place = LLVMBuildAnd(
        h->builder, is_number(h, r->element, s->bytes),
        LLVMBuildICmp(h->builder, LLVMIntEQ, r->next, r->off, ""), "");

    return LLVMBuildSelect(h->builder, r->first, begins,
                           LLVMBuildAnd(h->builder, place, word, ""), "");
}

/* As goes_on_at of sim/check/runs.c. */
static void note_store(host *h, const sim_site *s, const run *r)
{
    LLVMTypeRef i8 = LLVMTypeOf(r->from);
    LLVMValueRef room = LLVMBuildICmp(h->builder, LLVMIntULE, r->in,
                                      k32(h, SIM_RUN_BYTES - 2 * s->bytes), "");
    LLVMValueRef next =
        LLVMBuildSelect(h->builder, room,
                        LLVMBuildAdd(h->builder, r->off, k32(h, s->bytes), ""),
                        k32(h, (uint32_t)SIM_RUN_ENDS), "");
    LLVMValueRef step = LLVMBuildSelect(
        h->builder, is_number(h, r->count, 1),
        LLVMBuildSub(h->builder, r->mine, r->next_word, ""), r->step, "");
    LLVMValueRef from =
        LLVMBuildSelect(h->builder, r->first,
                        LLVMBuildTrunc(h->builder, r->in, i8, ""), r->from, "");

    /* Of a first store the step is 0, as all of the run was. */
    store_at(h, next, r->at, offsetof(sim_check_run, next));
    store_at(h, LLVMBuildAdd(h->builder, r->mine, step, ""), r->at,
             offsetof(sim_check_run, next_word));
    store_at(h, step, r->at, offsetof(sim_check_run, step));
    store_at(h,
             LLVMBuildAdd(h->builder, r->count,
                          LLVMConstInt(LLVMTypeOf(r->count), 1, false), ""),
             r->at, offsetof(sim_check_run, count));
    store_at(h, from, r->at, offsetof(sim_check_run, from));
    store_at(h, LLVMConstInt(i8, s->bytes, false), r->at,
             offsetof(sim_check_run, element));
}

/* Goes on when a run of the argument's buffer does; else the builder is where
 * words are looked at. */
static void branch_on_run(host *h, const sim_site *s, const sim_object *o,
                          LLVMValueRef addr, ways *w)
{
    LLVMBasicBlockRef look = new_block(h), note = new_block(h);
    LLVMBasicBlockRef words = new_block(h);
    LLVMValueRef at = LLVMBuildIntToPtr(
        h->builder, state(h, h->i64, offsetof(sim_check, runs)), h->ptr, "");
    size_t entry = o->index * sizeof(sim_check_runs);
    LLVMValueRef runs =
        load_at(h, h->i64, at, entry + offsetof(sim_check_runs, runs));
    LLVMValueRef off;
    run r;

    LLVMBuildCondBr(
        h->builder,
        LLVMBuildICmp(h->builder, LLVMIntNE, runs, LLVMConstNull(h->i64), ""),
        look, words);
    LLVMPositionBuilderAtEnd(h->builder, look);
    off = load_at(h, h->i64, at, entry + offsetof(sim_check_runs, from));
    off = LLVMBuildSub(h->builder, addr,
                       LLVMBuildTrunc(h->builder, off, h->i32, ""), "");
    r = load_run(h, runs, off);
    branch_likely(h, takes_store(h, s, &r), note, words);
    LLVMPositionBuilderAtEnd(h->builder, note);
    note_store(h, s, &r);
    w->from[w->n++] = note;
    LLVMBuildBr(h->builder, w->on);
    LLVMPositionBuilderAtEnd(h->builder, words);
}

static bool needs_words(const sim_object *o)
{
    return o->kind != SIM_MEM_CONSTANT &&
           (o->kind != SIM_MEM_ARG || o->written || o->local);
}

/* It, or arrays nobody knows, may be under way while stores are made. */
static bool in_transfers(const host *h, const sim_object *o)
{
    const sim_object *unknown = &h->sites->objects[0];

    return o->copied || o->sent || unknown->copied || unknown->sent;
}

static LLVMValueRef do_access(host *h, LLVMValueRef i)
{
    const sim_site *s = &h->sites->sites[operand(i, 0)];
    const sim_object *o = &h->sites->objects[s->object];
    LLVMValueRef site = k32(h, operand(i, 0)), phi, called;
    LLVMValueRef addr = host_operand(h, i, 1), root = host_operand(h, i, 2);
    LLVMBasicBlockRef words;
    ways w = {.n = 0};

    if (o->kind == SIM_MEM_UNKNOWN || s->bytes > MAX_INLINE_BYTES ||
        s->kind == SITE_ATOMIC)
        return call_access(h, site, addr, root);
    w.call = new_block(h);
    w.on = new_block(h);
    if (!needs_words(o)) {
        one_way(h, &w, inside(h, s, o, addr, root), w.call);
    } else {
        words = new_block(h);
        branch_likely(h, inside(h, s, o, addr, root), words, w.call);
        LLVMPositionBuilderAtEnd(h->builder, words);
        if (o->kind == SIM_MEM_PRIVATE && s->kind == SITE_STORE &&
            !in_transfers(h, o))
            note_private(h, s, addr, &w);
        else {
            if (s->kind == SITE_STORE && o->kind == SIM_MEM_ARG && !o->local &&
                !s->only_read)
                branch_on_run(h, s, o, addr, &w);
            branch_on_words(h, s, addr, &w);
        }
    }
    LLVMPositionBuilderAtEnd(h->builder, w.call);
    called = call_access(h, site, addr, root);
    LLVMBuildBr(h->builder, w.on);
    LLVMPositionBuilderAtEnd(h->builder, w.on);
    phi = LLVMBuildPhi(h->builder, h->i32, "");
    for (unsigned k = 0; k < w.n; k++)
        LLVMAddIncoming(phi, &addr, &w.from[k], 1);
    LLVMAddIncoming(phi, &called, &w.call, 1);
    return phi;
}

/* --- the other calls ----------------------------------------------------- */

static LLVMTypeRef nothing(host *h)
{
    return LLVMVoidTypeInContext(h->context);
}

/* The call's own arguments behind wg. */
static LLVMValueRef forward(host *h, LLVMValueRef i, const char *hook,
                            LLVMTypeRef ret)
{
    LLVMValueRef args[8];
    unsigned n = LLVMGetNumArgOperands(i);

    args[0] = h->wg;
    for (unsigned k = 0; k < n; k++)
        args[1 + k] = host_operand(h, i, k);
    return host_hook(h, hook, ret, args, n + 1);
}

static LLVMValueRef do_undef(host *h, LLVMValueRef i)
{
    forward(h, i, "vpu_hook_undef", nothing(h));
    return LLVMConstNull(host_type(h, LLVMTypeOf(i)));
}

static LLVMValueRef do_expected(host *h, LLVMValueRef i)
{
    set_state(h, host_operand(h, i, 0), offsetof(sim_check, expected));
    return NULL;
}

static LLVMValueRef do_if(host *h, LLVMValueRef i)
{
    LLVMBasicBlockRef on = host_unlikely(h, host_operand(h, i, 1));
    LLVMValueRef args[4] = {h->wg, host_operand(h, i, 0), host_operand(h, i, 2),
                            host_operand(h, i, 3)};

    host_hook(h, "vpu_hook_value", nothing(h), args, 4);
    LLVMBuildBr(h->builder, on);
    LLVMPositionBuilderAtEnd(h->builder, on);
    return NULL;
}

static LLVMValueRef do_item(host *h, LLVMValueRef i)
{
    LLVMValueRef item = host_operand(h, i, 0), word;

    LLVMBuildStore(h->builder, item, h->told[HOST_ITEM]);
    item = LLVMBuildShl(h->builder, item, k32(h, SIM_CHECK_ITEM_SHIFT), "");
    for (size_t k = 0; k < 2; k++) {
        size_t at = offsetof(sim_check, interval) + k * sizeof(uint32_t);

        word = LLVMBuildOr(h->builder, item, state(h, h->i32, at), "");
        LLVMBuildStore(h->builder, word, h->mine[k]);
    }
    return NULL;
}

static LLVMValueRef do_at(host *h, LLVMValueRef i)
{
    LLVMBuildStore(h->builder, kept(h, h->told[HOST_AT]), h->told[HOST_BEFORE]);
    LLVMBuildStore(h->builder, host_operand(h, i, 0), h->told[HOST_AT]);
    LLVMBuildStore(h->builder, kept(h, h->told[HOST_ITEM]),
                   h->told[HOST_AT_ITEM]);
    return NULL;
}

static LLVMValueRef do_origins(host *h, LLVMValueRef i)
{
    LLVMTypeRef t = LLVMTypeOf(i);
    LLVMValueRef out = host_scratch(h, t), v;
    LLVMValueRef args[4] = {h->wg, host_operand(h, i, 0), host_operand(h, i, 1),
                            out};

    host_hook(h, "vpu_hook_origins", nothing(h), args, 4);
    v = LLVMBuildLoad2(h->builder, t, out, "");
    LLVMSetAlignment(v, 4);
    return v;
}

static LLVMValueRef do_taint(host *h, LLVMValueRef i)
{
    LLVMValueRef v = host_operand(h, i, 2), bad, s;
    LLVMTypeRef t = LLVMTypeOf(v), bits;
    LLVMValueRef in = host_scratch(h, t);
    LLVMValueRef args[4] = {h->wg, host_operand(h, i, 0), host_operand(h, i, 1),
                            in};
    LLVMBasicBlockRef on;

    s = LLVMBuildStore(h->builder, v, in);
    LLVMSetAlignment(s, 4);
    bad = LLVMBuildICmp(h->builder, LLVMIntNE, v, LLVMConstNull(t), "");
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) {
        bits = LLVMIntTypeInContext(h->context, LLVMGetVectorSize(t));
        bad = LLVMBuildICmp(h->builder, LLVMIntNE,
                            LLVMBuildBitCast(h->builder, bad, bits, ""),
                            LLVMConstNull(bits), "");
    }
    on = host_unlikely(h, bad);
    host_hook(h, "vpu_hook_taint", nothing(h), args, 4);
    LLVMBuildBr(h->builder, on);
    LLVMPositionBuilderAtEnd(h->builder, on);
    return NULL;
}

static LLVMValueRef do_use(host *h, LLVMValueRef i)
{
    LLVMValueRef origin = host_operand(h, i, 1);
    LLVMBasicBlockRef on = host_unlikely(
        h, LLVMBuildICmp(h->builder, LLVMIntNE, origin, k32(h, 0), ""));

    forward(h, i, "vpu_hook_use", nothing(h));
    LLVMBuildBr(h->builder, on);
    LLVMPositionBuilderAtEnd(h->builder, on);
    return NULL;
}

bool host_check_call(host *h, LLVMValueRef i, LLVMValueRef *v)
{
    switch (ir_call_id(i)) {
#define FORWARD(hook) forward(h, i, "vpu_hook_" #hook, LLVMTypeOf(i))
#define OWN(name) do_##name(h, i)
#define CHECK(name, symbol, many, effect, code) \
    case CALL_##name:                           \
        *v = code;                              \
        break;
#include "sim/builtins/calls.def"
    default:
        return false;
    }
    if (LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVoidTypeKind)
        *v = NULL;
    return true;
}
