/* What the vendor's guide warns of in a kernel itself. Cycles come from the
 * programs of this kernel and of changed copies of its source. */
#include <stdio.h>
#include <string.h>

#include "runtime/lint/lint_priv.h"
#include "runtime/lint/loops.h"
#include "runtime/lint/walks.h"

/* Each pragma costs two or three compilations: what stands behind so many is
 * not looked at. */
enum { MAX_PRAGMAS = 64 };

/* Work-groups of one item, as written in the binding: nothing to join. */
static bool one_item(const lint_stage *s)
{
    return s->local[0] == 1 && s->local[1] == 1 && s->local[2] == 1;
}

static uint32_t line_at(const lint_source_text *s, size_t at)
{
    uint32_t line, col;

    lint_source_position(s, at, &line, &col);
    return line;
}

/* --- the vectorizer ------------------------------------------------------ */

/* "path:line:col: why", either number left out, to a place. */
static void refused_at(const lint_stage *s, uint32_t *line, uint32_t *col,
                       const char **why)
{
    const char *t = s->kernel->not_vectorized;
    size_t n = strlen(s->src->path);
    unsigned a = 0, b = 0;
    int len = 0;

    *line = line_at(s->src, s->shown ? s->in_src.name : 0);
    *col = 0;
    *why = t;
    if (!strncmp(t, s->src->path, n) && t[n] == ':') {
        t += n;
        if (sscanf(t, ":%u:%u: %n", &a, &b, &len) == 2 && len) {
            *line = a;
            *col = b;
        } else if (sscanf(t, ":%u: %n", &a, &len) == 1 && len) {
            *line = a;
        } else {
            len = 2;
        }
        *why = t + len;
    }
}

static bool moves_vectors(const isa_function *f)
{
    for (uint32_t i = 0; f && i < f->n_instrs; i++) {
        const isa_instr *in = &f->instrs[i];
        bool scalar = isa_ops[in->op].types;

        if (isa_ops[in->op].sub == ISA_SUB_SPACE && !scalar &&
            in->src[0].kind != ISA_SP && in->src[1].kind != ISA_SP &&
            in->sub != ISA_CONST)
            return true;
    }
    return false;
}

/* The return whose removal lets the vectorizer in; 0 = there is none. */
static size_t guilty_return(lint_state *l, const lint_stage *s,
                            uint32_t *factor)
{
    const isa_function *programs[SIM_N_VARIANTS] = {0};
    size_t at = s->shown ? lint_source_early_return(s->src, &s->in_src) : 0;
    sim_kernel k = {0};

    if (!at ||
        !lint_variant(l, s, lint_source_replace(s->src, at, 6, "", l->arena),
                      &k, programs))
        return 0;
    *factor = k.variants[SIM_VECTORIZED].factor;
    return k.variants[SIM_VECTORIZED].present ? at : 0;
}

static void check_vectorizer(lint_state *l, const lint_stage *s)
{
    uint32_t line, col, factor = 0;
    const char *why;
    size_t exit_at;

    if (s->kernel->variants[SIM_VECTORIZED].present ||
        !s->kernel->not_vectorized || one_item(s))
        return;
    refused_at(s, &line, &col, &why);
    if (strstr(why, "uses vector types")) {
        size_t at = s->shown ? lint_source_vector_type(s->src, &s->in_src) : 0;

        if (at)
            lint_source_position(s->src, at, &line, &col);
        if (!moves_vectors(s->programs[SIM_SCALAR]))
            lint_report(l, LINT_VECTOR_TYPES, s->src->path, line, col,
                        "kernel '%s' is not vectorized because it uses vector "
                        "types, but no access to memory moves a vector",
                        s->kernel->name);
        return;
    }
    exit_at = guilty_return(l, s, &factor);
    if (exit_at)
        lint_report_at(l, LINT_EARLY_EXIT, s->src, exit_at,
                       "kernel '%s' is not vectorized because items leave it "
                       "here; without, %u work-items run at once",
                       s->kernel->name, factor);
    else
        lint_report(l, LINT_VECTORIZER, s->src->path, line, col,
                    "kernel '%s' is not vectorized: %s", s->kernel->name, why);
}

/* --- restrict ------------------------------------------------------------ */

/* The loop that gains most, as text; "" when none does. */
static const char *loop_gain(lint_state *l, const lint_stage *s,
                             const char *text)
{
    const isa_function *programs[SIM_N_VARIANTS] = {0};
    const isa_function *now = lint_program(s->programs), *then;
    double best = 0, from = 0, to = 0;
    uint32_t where = 0;
    sim_kernel k = {0};

    if (s->src->includes || !lint_variant(l, s, text, &k, programs))
        return "";
    then = lint_program(programs);
    for (uint32_t i = 0; now && then && i < s->src->n_loops; i++) {
        uint32_t first = line_at(s->src, s->src->loops[i].first);
        uint32_t last = line_at(s->src, s->src->loops[i].end);
        double b, a;

        if (loops_compare(now, then, first, last, &b, &a) && b - a > best) {
            best = b - a;
            from = b;
            to = a;
            where = first;
        }
    }
    return where ? arena_printf(l->arena,
                                "; with it an iteration of the loop at line %u "
                                "takes %.4g issue cycles instead of %.4g",
                                where, to, from)
                 : "";
}

static void check_restrict(lint_state *l, const lint_stage *s)
{
    const lint_source_param *first = NULL;
    unsigned pointers = 0, written = 0, bare = 0;
    str names = {0};

    for (uint32_t i = 0; s->shown && i < s->in_src.n_params; i++) {
        const lint_source_param *p = &s->in_src.params[i];

        if (!p->star || !p->global)
            continue;
        pointers++;
        written += !p->is_const;
        if (p->restricted)
            continue;
        bare++;
        first = first ? first : p;
        str_printf(&names, "%s'%.*s'", names.n ? ", " : "", (int)p->n_name,
                   s->src->text + p->name);
    }
    /* One pointer alone cannot alias; nor can those nobody writes through. */
    if (bare && pointers > 1 && written && lint_is_on(l, LINT_RESTRICT))
        lint_report_at(
            l, LINT_RESTRICT, s->src, first->name,
            "%s of kernel '%s' %s no restrict%s", str_text(&names),
            s->kernel->name, bare > 1 ? "have" : "has",
            loop_gain(l, s,
                      lint_source_with_restrict(s->src, &s->in_src, l->arena)));
    str_free(&names);
}

/* --- unrolling ----------------------------------------------------------- */

/* Does the preprocessor leave what stands there in? */
static bool active(lint_state *l, const lint_stage *s, size_t at, size_t n)
{
    const isa_function *programs[SIM_N_VARIANTS] = {0};
    sim_kernel k = {0};

    return !lint_variant(l, s,
                         lint_source_replace(s->src, at, n, "#error", l->arena),
                         &k, programs);
}

static void check_pragma(lint_state *l, const lint_stage *s, size_t at,
                         const lint_source_span *loop)
{
    const isa_function *programs[SIM_N_VARIANTS] = {0};
    const isa_function *now = lint_program(s->programs), *then;
    size_t n = strcspn(s->src->text + at, "\r\n");
    double with, without;
    sim_kernel k = {0};

    /* A factor of 1 asks for none. */
    if (!strncmp(s->src->code + at + n - 2, " 1", 2) ||
        !lint_variant(l, s, lint_source_replace(s->src, at, n, "", l->arena),
                      &k, programs))
        return;
    then = lint_program(programs);
    if (!then ||
        !loops_compare(now, then, line_at(s->src, loop->first),
                       line_at(s->src, loop->end), &with, &without) ||
        with < without * 0.97 || !active(l, s, at, n))
        return;
    lint_report_at(
        l, LINT_UNROLL, s->src, at,
        "unrolling gains kernel '%s' less than 3 %% here: an iteration "
        "takes %.4g issue cycles with the pragma and %.4g without",
        s->kernel->name, with, without);
}

static void check_unroll(lint_state *l, const lint_stage *s)
{
    lint_source_span loop;
    unsigned n = 0;
    bool found;

    if (s->src->includes || !lint_is_on(l, LINT_UNROLL))
        return;
    for (size_t at = lint_source_next_unroll(s->src, 0, &loop, &found);
         at != SIZE_MAX && n++ < MAX_PRAGMAS;
         at = lint_source_next_unroll(s->src, at + 1, &loop, &found))
        if (found)
            check_pragma(l, s, at, &loop);
}

/* --- loops of the program ------------------------------------------------ */

/* Of one element; what moves a vector is another matter. */
static bool is_scalar_access(const isa_instr *in)
{
    return (in->op == ISA_OP_ld || in->op == ISA_OP_st ||
            in->op == ISA_OP_ldp || in->op == ISA_OP_stp) &&
           in->sub == ISA_GLOBAL;
}

/* Loops over work-items are the compiler's; those the source has are meant. */
static void check_ddr(lint_state *l, const lint_stage *s, const lint_walks *w,
                      const isa_function *f, uint32_t b)
{
    const isa_block *x = &f->blocks[b];
    const isa_instr *first = NULL;

    for (uint32_t i = x->first; i < x->first + x->n_instrs; i++) {
        const isa_instr *in = &f->instrs[i];

        if (!is_scalar_access(in) || s->src->includes ||
            !lint_source_in_loop(
                s->src, lint_source_offset(s->src, in->line, in->col)) ||
            !lint_walks_access(w, b, in))
            continue;
        if (!first || in->line < first->line ||
            (in->line == first->line && in->col < first->col))
            first = in;
    }
    if (first)
        lint_report(l, LINT_DDR_LOOP, s->src->path, first->line, first->col,
                    "kernel '%s' walks through global memory element by "
                    "element in a loop",
                    s->kernel->name);
}

static bool on_stack(const isa_instr *in)
{
    return isa_ops[in->op].sub == ISA_SUB_SPACE &&
           (in->src[0].kind == ISA_SP || in->src[1].kind == ISA_SP);
}

/* An array is on the stack only when it is indexed by a variable, and then its
 * address is computed from sp; spills are at fixed places. */
static bool has_arrays(const isa_function *f)
{
    for (uint32_t i = 0; i < f->n_instrs; i++) {
        const isa_instr *in = &f->instrs[i];
        bool sp = false;

        for (int k = 0; k < ISA_MAX_SRC; k++)
            sp |= in->src[k].kind == ISA_SP;
        if (sp && isa_ops[in->op].sub != ISA_SUB_SPACE)
            return true;
    }
    return false;
}

/* Private arrays are on the stack, too: then nothing is said. */
static void check_spills(lint_state *l, const lint_stage *s,
                         const isa_function *f, uint32_t b)
{
    const isa_block *x = &f->blocks[b];
    uint32_t n = 0, line = 0, col = 0;

    if (!f->n_spills || has_arrays(f))
        return;
    for (uint32_t i = x->first; i < x->first + x->n_instrs; i++) {
        const isa_instr *in = &f->instrs[i];

        n += on_stack(in);
        if (in->line && (!line || in->line < line)) {
            line = in->line;
            col = in->col;
        }
    }
    /* Fewer find free slots beside the loop's own work. */
    if (n * 10 >= x->cycles && n)
        lint_report(l, LINT_SPILLS, s->src->path,
                    line ? line : line_at(s->src, s->in_src.name), col,
                    "kernel '%s': this loop needs more registers than there "
                    "are: %u loads and stores of spilled values among the %u "
                    "cycles of a pass",
                    s->kernel->name, n, x->cycles);
}

static void check_loops(lint_state *l, const lint_stage *s)
{
    const isa_function *f = lint_program(s->programs);
    const lint_walks *w = f ? lint_walks_find(f, l->arena) : NULL;

    for (uint32_t b = 0; f && b < f->n_blocks; b++) {
        check_ddr(l, s, w, f, b);
        if (loops_is_loop(f, b))
            check_spills(l, s, f, b);
    }
}

void lint_check_kernel(lint_state *l, const lint_stage *s)
{
    check_vectorizer(l, s);
    check_restrict(l, s);
    check_unroll(l, s);
    check_loops(l, s);
}
