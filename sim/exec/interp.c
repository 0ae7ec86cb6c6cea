/* The interpreter's environment: runtime calls, routines, 64-bit arithmetic and
 * atomics. Names are looked up once, when a program is prepared. */
#include "sim/exec/interp.h"

#include <math.h>
#include <string.h>

#include "sim/builtins/calls.h"
#include "sim/exec/profile.h"
#include "sim/shave/abi.h"

typedef struct call_frame {
    const uint32_t *args;
    uint32_t n, line;
    uint32_t *ret;
    sim_wg *wg;
    uint8_t *window;
    uint64_t *log;
    const sim_hooks *hooks;
    profile_shave *profile; /* NULL: none */
} call_frame;

typedef uint32_t combiner(uint32_t old, uint32_t x);

/* One of these is there; the last is a compare and exchange. */
typedef struct {
    bool (*run)(const call_frame *f); /* false: does not come back */
    const builtin_routine *routine;
    combiner *combine;
    bool exchange;
    bool half;   /* of routine */
    bool global; /* of combine and exchange: the memory */
} callee;

struct interp_code {
    const isa_function *f;
    isa_code *steps; /* NULL: none were made */
    callee *callees;
};

/* --- values -------------------------------------------------------------- */

static float as_float(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, 4);
    return f;
}

static uint32_t of_float(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, 4);
    return bits;
}

static builtin_half as_half(uint32_t bits)
{
    uint16_t low = (uint16_t)bits;
    builtin_half h;

    memcpy(&h, &low, 2);
    return h;
}

static uint32_t of_half(builtin_half h)
{
    uint16_t bits;

    memcpy(&bits, &h, 2);
    return bits;
}

static uint64_t arg64(const call_frame *f, unsigned k)
{
    return f->args[2 * k] | (uint64_t)f->args[2 * k + 1] << 32;
}

static bool give64(const call_frame *f, uint64_t v)
{
    f->ret[0] = (uint32_t)v;
    f->ret[1] = (uint32_t)(v >> 32);
    return true;
}

/* --- 64-bit integers ----------------------------------------------------- */

/* Division by zero and the one overflow are undefined; anything but a trap. */
static uint64_t quotient(int64_t a, int64_t b)
{
    if (!b)
        return 0;
    return b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b);
}

static uint64_t rest(int64_t a, int64_t b)
{
    return !b || b == -1 ? 0 : (uint64_t)(a % b);
}

static unsigned count64(uint64_t x, bool leading)
{
    if (!x)
        return 64;
    return (unsigned)(leading ? __builtin_clzll(x) : __builtin_ctzll(x));
}

static uint64_t funnel64(uint64_t hi, uint64_t lo, uint64_t n, bool left)
{
    n &= 63;
    if (!n)
        return left ? hi : lo;
    return left ? hi << n | lo >> (64 - n) : hi << (64 - n) | lo >> n;
}

static uint64_t saturated(uint64_t a, uint64_t b, bool add, bool is_signed)
{
    int64_t s;
    uint64_t u;

    if (is_signed) {
        bool over = add ? __builtin_add_overflow((int64_t)a, (int64_t)b, &s)
                        : __builtin_sub_overflow((int64_t)a, (int64_t)b, &s);

        if (!over)
            return (uint64_t)s;
        return (int64_t)a < 0 ? (uint64_t)INT64_MIN : (uint64_t)INT64_MAX;
    }
    if (add ? __builtin_add_overflow(a, b, &u)
            : __builtin_sub_overflow(a, b, &u))
        return add ? UINT64_MAX : 0;
    return u;
}

static uint64_t from_float(float x, bool is_signed)
{
    if (isnan(x))
        return 0;
    if (is_signed)
        return x >= 0x1p63f   ? (uint64_t)INT64_MAX
               : x < -0x1p63f ? (uint64_t)INT64_MIN
                              : (uint64_t)(int64_t)x;
    return x >= 0x1p64f ? UINT64_MAX : x <= 0 ? 0 : (uint64_t)x;
}

#define A arg64(f, 0)
#define B arg64(f, 1)
#define SA ((int64_t)A)
#define SB ((int64_t)B)
#define WIDE(name, value)                        \
    static bool wide_##name(const call_frame *f) \
    {                                            \
        return give64(f, (uint64_t)(value));     \
    }
WIDE(mul, A *B)
WIDE(udiv, B ? A / B : 0)
WIDE(sdiv, quotient(SA, SB))
WIDE(urem, B ? A % B : 0)
WIDE(srem, rest(SA, SB))
WIDE(shl, B < 64 ? A << B : 0)
WIDE(lshr, B < 64 ? A >> B : 0)
WIDE(ashr, SA >> (B < 64 ? B : 63))
WIDE(umin, A < B ? A : B)
WIDE(umax, A > B ? A : B)
WIDE(smin, SA < SB ? A : B)
WIDE(smax, SA > SB ? A : B)
WIDE(abs, SA < 0 ? 0 - A : A)
WIDE(ctlz, count64(A, true))
WIDE(cttz, count64(A, false))
WIDE(ctpop, __builtin_popcountll(A))
WIDE(fshl, funnel64(A, B, arg64(f, 2), true))
WIDE(fshr, funnel64(A, B, arg64(f, 2), false))
WIDE(uadd, saturated(A, B, true, false))
WIDE(sadd, saturated(A, B, true, true))
WIDE(usub, saturated(A, B, false, false))
WIDE(ssub, saturated(A, B, false, true))
WIDE(bswap, __builtin_bswap64(A))
WIDE(from_f32_s, from_float(as_float(f->args[0]), true))
WIDE(from_f32_u, from_float(as_float(f->args[0]), false))
WIDE(from_f16_s, from_float((float)as_half(f->args[0]), true))
WIDE(from_f16_u, from_float((float)as_half(f->args[0]), false))

#define NARROW(name, value)                        \
    static bool narrow_##name(const call_frame *f) \
    {                                              \
        f->ret[0] = (value);                       \
        return true;                               \
    }
NARROW(to_f32_s, of_float((float)SA))
NARROW(to_f32_u, of_float((float)A))
NARROW(to_f16_s, of_half((builtin_half)SA))
NARROW(to_f16_u, of_half((builtin_half)A))
#undef A
#undef B
#undef SA
#undef SB

/* --- words --------------------------------------------------------------- */

#define A f->args[0]
#define B f->args[1]
NARROW(frem16,
       of_half((builtin_half)fmodf((float)as_half(A), (float)as_half(B))))
NARROW(frem32, of_float(fmodf(as_float(A), as_float(B))))
NARROW(uadd32, A + B < A ? UINT32_MAX : A + B)
NARROW(usub32, A < B ? 0 : A - B)
NARROW(swap, __builtin_bswap32(A))

static bool narrow_sadd32(const call_frame *f)
{
    int32_t r;

    if (__builtin_add_overflow((int32_t)A, (int32_t)B, &r))
        r = (int32_t)A < 0 ? INT32_MIN : INT32_MAX;
    f->ret[0] = (uint32_t)r;
    return true;
}

static bool narrow_ssub32(const call_frame *f)
{
    int32_t r;

    if (__builtin_sub_overflow((int32_t)A, (int32_t)B, &r))
        r = (int32_t)A < 0 ? INT32_MIN : INT32_MAX;
    f->ret[0] = (uint32_t)r;
    return true;
}

static bool narrow_reverse(const call_frame *f)
{
    uint32_t r = 0;

    for (int k = 0; k < 32; k++)
        r |= (A >> k & 1) << (31 - k);
    f->ret[0] = r;
    return true;
}

#define OVERFLOW(name, type, builtin)                \
    static bool overflow_##name(const call_frame *f) \
    {                                                \
        type r;                                      \
                                                     \
        f->ret[1] = builtin((type)A, (type)B, &r);   \
        f->ret[0] = (uint32_t)r;                     \
        return true;                                 \
    }
OVERFLOW(sadd, int32_t, __builtin_add_overflow)
OVERFLOW(uadd, uint32_t, __builtin_add_overflow)
OVERFLOW(ssub, int32_t, __builtin_sub_overflow)
OVERFLOW(usub, uint32_t, __builtin_sub_overflow)
OVERFLOW(smul, int32_t, __builtin_mul_overflow)
OVERFLOW(umul, uint32_t, __builtin_mul_overflow)
#undef A
#undef B

/* --- memory -------------------------------------------------------------- */

static void log_access(const call_frame *f, uint32_t addr, uint32_t bytes,
                       bool store)
{
    if (f->wg->log_n == SIM_LOG_ENTRIES)
        f->hooks->flush(f->wg, f->log);
    if (f->profile)
        profile_logged(f->profile, f->wg->log_n);
    f->log[f->wg->log_n++] = SIM_LOG_ENTRY(addr, bytes, store);
}

#define COMBINE(name, value)                                 \
    static uint32_t combine_##name(uint32_t old, uint32_t x) \
    {                                                        \
        return value;                                        \
    }
COMBINE(add, old + x)
COMBINE(sub, old - x)
COMBINE(and, (old & x))
COMBINE(or, old | x)
COMBINE(xor, old ^ x)
COMBINE(max, (int32_t)old > (int32_t)x ? old : x)
COMBINE(min, (int32_t)old < (int32_t)x ? old : x)
COMBINE(umax, old > x ? old : x)
COMBINE(umin, old < x ? old : x)
COMBINE(xchg, ((void)old, x))

static bool atomic(const call_frame *f, const callee *c)
{
    uint32_t at = f->args[0], old, fresh;

    if (c->global) {
        log_access(f, at, 4, false);
        log_access(f, at, 4, true);
    }
    /* One thread runs a kernel with global atomics; local ones are a SHAVE's
     * own. */
    memcpy(&old, f->window + at, 4);
    if (c->exchange)
        fresh = old == f->args[1] ? f->args[2] : old;
    else
        fresh = c->combine(old, f->args[1]);
    memcpy(f->window + at, &fresh, 4);
    f->ret[0] = old;
    f->ret[1] = c->exchange && old == f->args[1];
    return true;
}

static void touch(const call_frame *f, uint32_t at, uint32_t global, bool store)
{
    if (global)
        f->hooks->touch(f->wg, at, f->args[2], store);
}

static bool mem_set(const call_frame *f)
{
    touch(f, f->args[0], f->args[3], true);
    memset(f->window + f->args[0], (int)(f->args[1] & 255), f->args[2]);
    return true;
}

static bool mem_move(const call_frame *f)
{
    touch(f, f->args[0], f->args[3], true);
    touch(f, f->args[1], f->args[4], false);
    memmove(f->window + f->args[0], f->window + f->args[1], f->args[2]);
    return true;
}

/* --- the runtime --------------------------------------------------------- */

/* A row's function run_name, by the form and the result of its hook. */
#define WORDS_0
#define WORDS_1 , f->args[0]
#define WORDS_2 WORDS_1, f->args[1]
#define WORDS_3 WORDS_2, f->args[2]
#define WORDS_4 WORDS_3, f->args[3]
#define WORD f->ret[0] =
#define VOID
#define COLLECTIVE true
#define EACH true
#define END false
#define RUN(name, returns, ...)                 \
    static bool run_##name(const call_frame *f) \
    {                                           \
        __VA_ARGS__;                            \
        return returns;                         \
    }
#define RUN_none(name, returns, result, hook, words)
#define RUN_words(name, returns, result, hook, words) \
    RUN(name, returns, result f->hooks->hook(f->wg WORDS_##words))
#define RUN_logged(name, returns, result, hook, words) \
    RUN(name, returns, result f->hooks->hook(f->wg, f->log WORDS_##words))
#define RUN_block(name, returns, result, hook, words) \
    RUN(name, returns, sim_dma a = dma_of(f);         \
        result f->hooks->hook(f->wg, f->log, &a))

/* The last argument may be left out. */
static sim_dma dma_of(const call_frame *f)
{
    sim_dma a = {0};

    memcpy(&a, f->args,
           (f->n < SIM_DMA_N ? f->n : SIM_DMA_N) * sizeof *f->args);
    return a;
}

#define RUNTIME(name, who, form, hook, result, words, time, cost) \
    RUN_##form(name, who, result, hook, words)
#include "sim/builtins/calls.def"

/* A row's function value_name, by the types of its host function. */
#define FLOAT_TO_HALF(fn) of_half(fn(as_float(f->args[0])))
#define I64_TO_FLOAT(fn) of_float(fn((int64_t)arg64(f, 0)))
#define U64_TO_FLOAT(fn) of_float(fn(arg64(f, 0)))
#define HALVES_TO_HALF(fn) of_half(fn(as_half(f->args[0]), as_half(f->args[1])))
#define FLOATS_TO_FLOAT(fn) \
    of_float(fn(as_float(f->args[0]), as_float(f->args[1])))
#define VALUE(name, form, function, cost)         \
    static bool value_##name(const call_frame *f) \
    {                                             \
        f->ret[0] = form(function);               \
        return true;                              \
    }
#include "sim/builtins/calls.def"

static bool run_unreachable(const call_frame *f)
{
    f->hooks->unreachable(f->wg, f->args[0]);
    return false;
}

/* --- names --------------------------------------------------------------- */

static const struct {
    const char *name;
    bool (*run)(const call_frame *);
} table[] = {
    {"i64.mul", wide_mul},
    {"i64.udiv", wide_udiv},
    {"i64.sdiv", wide_sdiv},
    {"i64.urem", wide_urem},
    {"i64.srem", wide_srem},
    {"i64.shl", wide_shl},
    {"i64.lshr", wide_lshr},
    {"i64.ashr", wide_ashr},
    {"i64.umin", wide_umin},
    {"i64.umax", wide_umax},
    {"i64.smin", wide_smin},
    {"i64.smax", wide_smax},
    {"i64.abs", wide_abs},
    {"i64.ctlz", wide_ctlz},
    {"i64.cttz", wide_cttz},
    {"i64.ctpop", wide_ctpop},
    {"i64.fshl", wide_fshl},
    {"i64.fshr", wide_fshr},
    {"i64.uadd.sat", wide_uadd},
    {"i64.sadd.sat", wide_sadd},
    {"i64.usub.sat", wide_usub},
    {"i64.ssub.sat", wide_ssub},
    {"i64.bswap", wide_bswap},
    {"i64.from_f32_s", wide_from_f32_s},
    {"i64.from_f32_u", wide_from_f32_u},
    {"i64.from_f16_s", wide_from_f16_s},
    {"i64.from_f16_u", wide_from_f16_u},
    {"i64.sat_f32_s", wide_from_f32_s},
    {"i64.sat_f32_u", wide_from_f32_u},
    {"i64.sat_f16_s", wide_from_f16_s},
    {"i64.sat_f16_u", wide_from_f16_u},
    {"i64.to_f32_s", narrow_to_f32_s},
    {"i64.to_f32_u", narrow_to_f32_u},
    {"i64.to_f16_s", narrow_to_f16_s},
    {"i64.to_f16_u", narrow_to_f16_u},
    {"frem.f16", narrow_frem16},
    {"frem.f32", narrow_frem32},
    {"sat.uadd", narrow_uadd32},
    {"sat.sadd", narrow_sadd32},
    {"sat.usub", narrow_usub32},
    {"sat.ssub", narrow_ssub32},
    {"bits.reverse", narrow_reverse},
    {"bits.swap", narrow_swap},
    {"overflow.sadd", overflow_sadd},
    {"overflow.uadd", overflow_uadd},
    {"overflow.ssub", overflow_ssub},
    {"overflow.usub", overflow_usub},
    {"overflow.smul", overflow_smul},
    {"overflow.umul", overflow_umul},
    {"mem.set", mem_set},
    {"mem.move", mem_move},
    {"unreachable", run_unreachable},
};

/* Of runtime calls that programs have. */
static bool (*const runtime[CALL_N])(const call_frame *) = {
#define ENTRY_none(name)
#define ENTRY_words(name) [CALL_##name] = run_##name,
#define ENTRY_logged(name) [CALL_##name] = run_##name,
#define ENTRY_block(name) [CALL_##name] = run_##name,
#define RUNTIME(name, who, form, hook, result, words, time, cost) \
    ENTRY_##form(name)
#define VALUE(name, form, function, cost) [CALL_##name] = value_##name,
#include "sim/builtins/calls.def"
};

/* "atomic.add.global": the operation, then the memory. */
static bool find_atomic(const char *name, callee *out)
{
    static const struct {
        const char *name;
        combiner *combine;
    } rows[] = {
        {"add", combine_add},   {"sub", combine_sub},   {"and", combine_and},
        {"or", combine_or},     {"xor", combine_xor},   {"max", combine_max},
        {"min", combine_min},   {"umax", combine_umax}, {"umin", combine_umin},
        {"xchg", combine_xchg}, {"cmpxchg", NULL}};
    static const char prefix[] = "atomic.";
    const char *what, *where;

    if (strncmp(name, prefix, sizeof prefix - 1))
        return false;
    what = name + sizeof prefix - 1;
    where = strchr(what, '.');
    if (!where || (strcmp(where, ".global") && strcmp(where, ".local")))
        return false;
    out->global = !strcmp(where, ".global");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (strlen(rows[k].name) == (size_t)(where - what) &&
            !strncmp(rows[k].name, what, (size_t)(where - what))) {
            out->combine = rows[k].combine;
            out->exchange = !rows[k].combine;
            return true;
        }
    return false;
}

static bool find(const char *name, callee *out)
{
    call_id id = call_find(name);

    *out = (callee){.run = runtime[id]};
    out->routine = call_routine(id, &out->half);
    for (size_t k = 0; k < sizeof table / sizeof *table && !out->run; k++)
        if (!strcmp(table[k].name, name))
            out->run = table[k].run;
    return out->run || out->routine || find_atomic(name, out);
}

/* A file's program may ask for words that nobody gives. */
static vpu_status check_areas(const isa_function *f, uint32_t args_bytes,
                              vpu_error *err)
{
    const uint32_t words_bytes = SHAVE_N_WORDS * 4;

    for (uint32_t k = 0; k < f->n_instrs; k++) {
        const isa_instr *in = &f->instrs[k];
        uint32_t have = in->sub == ISA_ARGS ? args_bytes : words_bytes;
        uint32_t bytes = isa_type_bytes((isa_type)in->type);

        if (in->op == ISA_OP_ldarg &&
            (have < bytes || (uint32_t)in->imm > have - bytes))
            return err_set(err, VPU_ERR_PARSE,
                           "%s: SHAVE program: ldarg of byte %d of %u: the "
                           "file is damaged or not one of ours; compile the "
                           "kernel again",
                           f->name, (int)in->imm, have);
    }
    return VPU_OK;
}

void interp_make_steps(interp_code *c, bool watched, arena *a)
{
    c->steps = isa_prepare(c->f, watched, &(isa_memory){arena_bytes, a});
}

vpu_status interp_prepare(const isa_function *f, uint32_t args_bytes, arena *a,
                          interp_code **out, vpu_error *err)
{
    interp_code *c = arena_new(a, interp_code);
    vpu_status st = check_areas(f, args_bytes, err);

    if (st)
        return st;
    c->f = f;
    c->callees = arena_array(a, callee, f->n_callees + 1);
    for (uint32_t k = 0; k < f->n_callees; k++)
        if (!find(f->callees[k], &c->callees[k]))
            return err_set(err, VPU_ERR_INTERNAL,
                           "%s: the interpreter has no routine '%s'", f->name,
                           f->callees[k]);
    *out = c;
    return VPU_OK;
}

/* --- routines of the table ----------------------------------------------- */

#define CALL(R, T, expr_of, arg)                                               \
    switch (r->n_args) {                                                       \
    case 1:                                                                    \
        return expr_of(((R(*)(T))code)(arg(f->args[0])));                      \
    case 2:                                                                    \
        return expr_of(((R(*)(T, T))code)(arg(f->args[0]), arg(f->args[1])));  \
    default:                                                                   \
        return expr_of(((R(*)(T, T, T))code)(arg(f->args[0]), arg(f->args[1]), \
                                             arg(f->args[2])));                \
    }

static uint32_t routine16(const builtin_routine *r, const call_frame *f)
{
    uintptr_t code = (uintptr_t)r->fn16;

    if (r->form == SIM_T_OF_INT)
        return of_half(((builtin_half(*)(builtin_half, int))code)(
            as_half(f->args[0]), (int)f->args[1]));
    if (r->form == SIM_INT_OF_T)
        CALL(int, builtin_half, (uint32_t), as_half)
    CALL(builtin_half, builtin_half, of_half, as_half)
}

static uint32_t routine32(const builtin_routine *r, const call_frame *f)
{
    uintptr_t code = (uintptr_t)r->fn32;

    if (r->form == SIM_T_OF_INT)
        return of_float(((float (*)(float, int))code)(as_float(f->args[0]),
                                                      (int)f->args[1]));
    if (r->form == SIM_INT_OF_T)
        CALL(int, float, (uint32_t), as_float)
    CALL(float, float, of_float, as_float)
}

/* --- a group ------------------------------------------------------------- */

typedef struct {
    const interp_code *code;
    call_frame frame;
    uint64_t cycles;
    interp_watch watch;
} running;

static bool on_block(void *user, uint32_t block, uint32_t cycles)
{
    running *r = user;
    sim_wg *wg = r->frame.wg;

    if (r->frame.profile)
        profile_block(r->frame.profile, block);
    r->cycles += cycles;
    wg->cycles += cycles;
    if (wg->cycles > wg->max_cycles) {
        r->frame.hooks->limit(wg);
        return false;
    }
    return true;
}

static void on_global(void *user, uint32_t line, uint32_t addr, uint32_t bytes,
                      bool store)
{
    running *r = user;

    if (r->frame.profile)
        profile_line(r->frame.profile, line);
    log_access(&r->frame, addr, bytes, store);
}

static bool on_call(void *user, uint32_t n_callee, const uint32_t *args,
                    uint32_t n, uint32_t line, uint32_t ret[2])
{
    running *r = user;
    const callee *c = &r->code->callees[n_callee];
    call_frame f = r->frame;

    if (f.profile)
        profile_line(f.profile, line);
    f.args = args;
    f.n = n;
    f.line = line;
    f.ret = ret;
    if (c->run)
        return c->run(&f);
    if (!c->routine)
        return atomic(&f, c);
    ret[0] = c->half ? routine16(c->routine, &f) : routine32(c->routine, &f);
    return true;
}

static void on_bundle(void *user, uint64_t cycle, const isa_instr *in,
                      uint32_t n)
{
    const running *r = user;

    r->watch.bundle(r->watch.user, r->code->f, cycle, in, n);
}

uint64_t interp_group(const interp_code *c, const interp_job *job)
{
    const sim_wg *wg = job->wg;
    uint32_t words[SHAVE_N_WORDS];
    running r = {c,
                 {.wg = job->wg,
                  .window = job->window,
                  .log = job->log,
                  .hooks = job->hooks,
                  .profile = job->watch.profile},
                 .watch = job->watch};
    isa_env env = {.window = job->window,
                   .args = job->args,
                   .group = words,
                   .sp = wg->stack_base,
                   .scratch = job->scratch,
                   .user = &r,
                   .block = on_block,
                   .global = on_global,
                   .bundle = job->watch.bundle ? on_bundle : NULL,
                   .call = on_call};

    memcpy(words + SHAVE_WORD_IDS, wg->ids, sizeof wg->ids);
    words[SHAVE_WORD_LOCAL] = wg->local_base;
    words[SHAVE_WORD_KEPT] = wg->kept_base;
    words[SHAVE_WORD_CONST] = wg->const_base;
    isa_run(c->steps, &env);
    return r.cycles;
}

const isa_function *interp_function(const interp_code *c)
{
    return c->f;
}

size_t interp_scratch_size(const interp_code *c)
{
    return isa_scratch_size(c->steps);
}
