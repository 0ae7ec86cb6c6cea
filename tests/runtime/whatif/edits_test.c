/* Recorded steps in other forms: made-up launches keep their work whatever is
 * done to them, and no edit is beaten by what it claims to leave out. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runtime/whatif/edits.h"
#include "sim/machine/cache.h"
#include "sim/machine/engine.h"

static mach_desc desc;
static arena *mem;
static vpu_error err;

static void setup(void)
{
    mem = arena_create(0);
    ck_assert_int_eq(mach_desc_load(NULL, mem, &desc, &err), VPU_OK);
}

static void teardown(void)
{
    arena_destroy(mem);
}

/* --- made-up launches ----------------------------------------------------- */

enum { MOST_SHAVES = 16, SEEDS = 60 };

typedef struct {
    uint64_t state;
    uint32_t n_shaves, n_groups;
    bool phases, copies, memory;
} made;

static uint32_t draw(made *x, uint32_t below)
{
    x->state = x->state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)((x->state >> 33) % below);
}

static made make(uint64_t seed)
{
    made x = {.state = seed * 77 + 5};

    x.n_shaves = 1 + draw(&x, MOST_SHAVES);
    x.n_groups = 1 + draw(&x, 200);
    x.phases = draw(&x, 2);
    x.copies = draw(&x, 2);
    x.memory = draw(&x, 4) > 0;
    return x;
}

static void add_run(made *x, mach_record *r, uint32_t shave, bool touches)
{
    mach_step s = {.kind = MACH_STEP_RUN, .issue_cycles = draw(x, 3000)};
    mach_mem_counts *m = &s.detail.mem;

    if (touches && draw(x, 8)) {
        m->load_l1_hits = draw(x, 100);
        m->load_l2_hits = draw(x, 50);
        m->load_fills = draw(x, 40);
        m->stores = draw(x, 60);
        m->store_fills = draw(x, m->stores + 1);
        m->write_backs = draw(x, 10);
        m->loads_behind = draw(x, m->load_fills + 1);
        m->lines_before = m->loads_behind ? draw(x, 9) : 0;
        m->load_bytes = 8 * (m->load_l1_hits + m->load_l2_hits + m->load_fills);
        m->store_bytes = 8 * m->stores;
        m->bank_lines[draw(x, (uint32_t)desc.ddr_banks)] =
            m->load_fills + m->store_fills + m->write_backs;
    }
    mach_record_add(r, shave, &s);
}

static uint64_t add_copy(made *x, mach_record *r, uint32_t shave, bool in)
{
    mach_step s = {.kind = MACH_STEP_DMA};

    s.detail.dma = (mach_transfer){
        .bytes = 64 + draw(x, 2000), .lines = 1 + draw(x, 20), .to_cmx = in};
    mach_record_add(r, shave, &s);
    return s.detail.dma.bytes;
}

static void add(mach_record *r, uint32_t shave, mach_step_kind kind,
                uint64_t id)
{
    mach_record_add(r, shave, &(const mach_step){.kind = kind, .id = id});
}

static uint64_t add_group(made *x, mach_record *r, uint32_t shave, uint64_t g)
{
    uint64_t copied = 0;

    add(r, shave, MACH_STEP_GROUP, g);
    if (x->phases) {
        add(r, shave, MACH_STEP_PHASE, MACH_PRE);
        add_run(x, r, shave, false);
        copied += add_copy(x, r, shave, true);
    }
    add(r, shave, MACH_STEP_PHASE, MACH_COMP);
    add_run(x, r, shave, x->memory);
    if (x->copies && !x->phases) {
        copied += add_copy(x, r, shave, true);
        add(r, shave, MACH_STEP_WAIT, 1);
    }
    add_run(x, r, shave, x->memory);
    if (x->phases) {
        add(r, shave, MACH_STEP_PHASE, MACH_POST);
        copied += add_copy(x, r, shave, false);
    }
    return copied;
}

static mach_record *record_of(made *x, uint64_t *copied)
{
    const mach_launch l = {.name = "test",
                           .n_shaves = x->n_shaves,
                           .n_groups = x->n_groups,
                           .local_bytes = 512,
                           .double_buffered = x->phases};
    mach_record *r = mach_record_create(64 << 20);

    *copied = 0;
    mach_record_begin(r, &l);
    for (uint32_t i = 0; i < x->n_shaves; i++)
        for (uint64_t g = x->n_groups * i / x->n_shaves;
             g < x->n_groups * (i + 1) / x->n_shaves; g++)
            *copied += add_group(x, r, i, g);
    ck_assert(mach_record_complete(r));
    return r;
}

/* Loads of a line, stores of another, group after group. */
static exec_sample *sample_of(made *x)
{
    exec_sample *s = arena_new(mem, exec_sample);

    s->n_shaves = x->n_shaves;
    for (uint32_t k = 0; k < 3000; k++)
        s->list[s->n++] =
            MACH_ACCESS(desc.ddr_base + k * 8 + draw(x, 64) * 4096, 8,
                        (uint64_t)(k % 3 == 0));
    return s;
}

static mach_profile replayed(const mach_record *r)
{
    mach_profile p;

    ck_assert_msg(!mach_record_replay(r, &desc, NULL, NULL, &p, &err), "%s",
                  err.msg);
    return p;
}

static uint64_t issue_of(const mach_profile *p, uint32_t n)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += p->by_cause[i][MACH_CAUSE_ISSUE];
    return sum;
}

/* --- properties ----------------------------------------------------------- */

/* Whatever the launch, an edit applies or does not, takes what it takes twice
 * and beside others, and does as much as before: as many bytes, or none where
 * loads become copies; as many issue cycles, but for what it leaves out. */
START_TEST(work_is_kept)
{
    made x = make((uint64_t)_i);
    uint64_t copied;
    mach_record *r = record_of(&x, &copied);
    const mach_profile before = replayed(r);
    const whatif_launch l = {.steps = r,
                             .sample = x.memory ? sample_of(&x) : NULL,
                             .n_items = x.n_groups * UINT64_C(32),
                             .waste = {0.5, 0.25, 0.125}};
    whatif_launch sharing = l;

    sharing.shared = whatif_share(mem);
    for (whatif_edit e = WHATIF_NO_EDIT + 1; e < WHATIF_N_EDITS; e++) {
        whatif_edited a, b;
        bool possible, again;

        ck_assert_msg(!whatif_edit_launch(&l, e, &desc, &possible, &a, &err),
                      "%s", err.msg);
        ck_assert_msg(!whatif_edit_launch(&sharing, e, &desc, &again, &b, &err),
                      "%s", err.msg);
        ck_assert(possible == again);
        if (!possible)
            continue;
        ck_assert_uint_eq(a.profile.cycles, b.profile.cycles);
        ck_assert_uint_eq(a.profile.groups, a.n_groups);
        ck_assert_uint_gt(a.profile.cycles, 0);
        if (e == WHATIF_GROUPS || e == WHATIF_PHASES ||
            e == WHATIF_TWO_BUFFERS) {
            ck_assert_uint_eq(issue_of(&a.profile, x.n_shaves),
                              issue_of(&before, x.n_shaves));
            ck_assert_uint_eq(a.profile.dma_in_bytes + a.profile.dma_out_bytes,
                              copied);
            ck_assert_uint_eq(a.profile.load_bytes, before.load_bytes);
        }
        if (e == WHATIF_DMA_FORM) {
            ck_assert_uint_eq(a.profile.load_bytes, 0);
            ck_assert_uint_gt(a.profile.dma_in_bytes, 0);
            ck_assert_uint_le(a.local_bytes, desc.ocl_local_budget);
        }
        if (e == WHATIF_DIVISIONS)
            ck_assert_uint_le(issue_of(&a.profile, x.n_shaves),
                              issue_of(&before, x.n_shaves) / 2 + x.n_shaves);
    }
    mach_record_free(r);
}
END_TEST

/* Of a launch with so many groups that a part of them is replayed each edit
 * takes as long alone as after others, which have replayed that part as it is.
 */
START_TEST(samples_are_shared)
{
    made x = {.state = 9, .n_shaves = 2, .n_groups = 1200, .memory = true};
    uint64_t copied;
    mach_record *r = record_of(&x, &copied);
    const whatif_launch l = {.steps = r,
                             .sample = sample_of(&x),
                             .n_items = x.n_groups * UINT64_C(32),
                             .cycles = replayed(r).cycles,
                             .waste = {0.5, 0.25, 0.125}};
    const whatif_edit edits[] = {WHATIF_SETS, WHATIF_BANKS, WHATIF_DIVISIONS,
                                 WHATIF_BRANCHES, WHATIF_SPILLS};
    whatif_launch sharing = l;
    uint32_t n = 0;

    sharing.shared = whatif_share(mem);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        whatif_edited a, b;
        bool possible, again;

        ck_assert(
            !whatif_edit_launch(&l, edits[i], &desc, &possible, &a, &err));
        ck_assert(
            !whatif_edit_launch(&sharing, edits[i], &desc, &again, &b, &err));
        ck_assert(possible == again);
        if (!possible)
            continue;
        ck_assert_uint_eq(a.profile.cycles, b.profile.cycles);
        ck_assert_mem_eq(a.profile.by_cause, b.profile.by_cause,
                         sizeof a.profile.by_cause);
        n++;
    }
    ck_assert_uint_ge(n, 4);
    mach_record_free(r);
}
END_TEST

/* All of the work is the same steps; none of it, no stalls; half, half. */
START_TEST(scaled)
{
    made x = make((uint64_t)_i);
    uint64_t copied;
    mach_record *r = record_of(&x, &copied);
    mach_record *all = whatif_scaled(r, 1, 1), *half = whatif_scaled(r, 0.5, 1);
    mach_record *none = whatif_scaled(r, 0, 0);
    const mach_profile before = replayed(r), same = replayed(all);
    const mach_profile less = replayed(half), idle = replayed(none);

    ck_assert_uint_eq(same.cycles, before.cycles);
    ck_assert_mem_eq(same.by_cause, before.by_cause, sizeof same.by_cause);
    ck_assert_uint_eq(issue_of(&idle, x.n_shaves), 0);
    ck_assert_uint_eq(idle.mem.load_fills, 0);
    ck_assert_uint_le(issue_of(&less, x.n_shaves),
                      issue_of(&before, x.n_shaves) / 2 + 1);
    ck_assert_uint_ge(issue_of(&less, x.n_shaves) + x.n_shaves,
                      issue_of(&before, x.n_shaves) / 2);
    mach_record_free(r);
    mach_record_free(all);
    mach_record_free(half);
    mach_record_free(none);
}
END_TEST

/* --- single edits --------------------------------------------------------- */

/* A conversion of a layout knows one edit, after which it is gone. */
START_TEST(conversions)
{
    const whatif_launch l = {.conversion = true};

    for (whatif_edit e = WHATIF_NO_EDIT + 1; e < WHATIF_N_EDITS; e++) {
        whatif_edited out;
        bool possible;

        ck_assert(!whatif_edit_launch(&l, e, &desc, &possible, &out, &err));
        ck_assert(possible == (e == WHATIF_LAYOUT));
        ck_assert_uint_eq(out.profile.cycles, 0);
    }
}
END_TEST

/* Groups that all use one bank at a time still do when they are cut anew: only
 * `banks` spreads them. */
START_TEST(banks_stay_together)
{
    const mach_launch like = {.name = "test", .n_shaves = 8, .n_groups = 64};
    mach_record *r = mach_record_create(1 << 20);
    const whatif_launch l = {.steps = r, .n_items = 4096};
    whatif_edited cut, spread;
    bool possible;

    mach_record_begin(r, &like);
    for (uint32_t i = 0; i < 8; i++)
        for (uint64_t g = 0; g < 8; g++) {
            mach_step s = {.kind = MACH_STEP_RUN, .issue_cycles = 10};

            add(r, i, MACH_STEP_GROUP, i * 8 + g);
            add(r, i, MACH_STEP_PHASE, MACH_COMP);
            s.detail.mem.load_fills = 500;
            s.detail.mem.load_bytes = 4000;
            s.detail.mem.bank_lines[g] = 500; /* all SHAVEs the same one */
            mach_record_add(r, i, &s);
        }
    ck_assert(
        !whatif_edit_launch(&l, WHATIF_GROUPS, &desc, &possible, &cut, &err));
    ck_assert(possible);
    ck_assert(
        !whatif_edit_launch(&l, WHATIF_BANKS, &desc, &possible, &spread, &err));
    ck_assert(possible);
    ck_assert_uint_lt(spread.profile.cycles * 5, cut.profile.cycles * 4);
    mach_record_free(r);
}
END_TEST

START_TEST(incomplete)
{
    mach_record *r = mach_record_create(10);
    const whatif_launch l = {.steps = r};
    whatif_edited out;
    bool possible;

    ck_assert_int_eq(
        whatif_edit_launch(&l, WHATIF_GROUPS, &desc, &possible, &out, &err),
        VPU_ERR_INVALID);
    ck_assert_ptr_null(whatif_scaled(r, 1, 1));
    mach_record_free(r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("whatif: other forms");
    TCase *t = tcase_create("edits");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, work_is_kept, 0, SEEDS);
    tcase_add_test(t, samples_are_shared);
    tcase_add_loop_test(t, scaled, 0, SEEDS);
    tcase_add_test(t, conversions);
    tcase_add_test(t, banks_stay_together);
    tcase_add_test(t, incomplete);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
