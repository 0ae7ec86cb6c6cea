/* The rows of ops.def: what the rest of isa/ takes for granted. */
#include <check.h>
#include <string.h>

#include "isa/program.h"

static unsigned n_set(unsigned mask)
{
    return (unsigned)__builtin_popcount(mask);
}

START_TEST(rows_are_complete)
{
    for (unsigned op = 0; op < ISA_N_OPS; op++) {
        const isa_op_info *row = &isa_ops[op];

        ck_assert_ptr_nonnull(row->name);
        ck_assert_msg(row->source && *row->source, "%s: no source", row->name);
        ck_assert_msg(row->about && *row->about, "%s: no about", row->name);
        ck_assert_uint_ge(row->lat, 1);
        ck_assert_uint_le(row->lat, ISA_MAX_WAIT);
        ck_assert_uint_ge(row->interval, 1);
        ck_assert_uint_le(row->interval, ISA_MAX_WAIT);
        ck_assert_uint_eq(row->units >> ISA_N_UNITS, 0);
        for (unsigned k = 0; k < op; k++)
            ck_assert_str_ne(row->name, isa_ops[k].name);
    }
}
END_TEST

START_TEST(forms_are_well_formed)
{
    for (unsigned op = 0; op < ISA_N_OPS; op++) {
        const char *form = isa_ops[op].form, *colon = strchr(form, ':');

        ck_assert_ptr_nonnull(colon);
        ck_assert_uint_eq(strspn(form, "iv"), (size_t)(colon - form));
        ck_assert_uint_eq(strspn(colon + 1, "ivj"), strlen(colon + 1));
        ck_assert_uint_eq(isa_n_dst((isa_op)op), (size_t)(colon - form));
        ck_assert_uint_eq(isa_n_src((isa_op)op), strlen(colon + 1));
        ck_assert_uint_le(isa_n_dst((isa_op)op), ISA_MAX_DST);
        ck_assert_uint_le(isa_n_src((isa_op)op), ISA_MAX_SRC);
    }
}
END_TEST

START_TEST(flags_agree)
{
    for (unsigned op = 0; op < ISA_N_OPS; op++) {
        const isa_op_info *row = &isa_ops[op];
        unsigned access = row->flags & (ISA_F_LOAD | ISA_F_STORE);
        unsigned imm = row->flags & (ISA_F_OFFSET | ISA_F_TABLE | ISA_F_CALLEE |
                                     ISA_F_TARGET);

        ck_assert_uint_le(n_set(imm), 1);
        ck_assert_uint_le(n_set(access), 1);
        ck_assert_int_eq(access != 0, row->sub == ISA_SUB_SPACE);
        if (access)
            ck_assert_uint_eq(imm, ISA_F_OFFSET);
        if (row->flags & ISA_F_FROM)
            ck_assert(row->types);
        if (row->sub == ISA_SUB_COND)
            ck_assert(row->types);
        ck_assert_int_eq((row->flags & ISA_F_BRANCH) != 0,
                         row->units == 1u << ISA_UNIT_BRU && op != ISA_OP_call);
        if (row->all_units)
            ck_assert_uint_gt(n_set(row->units), 1);
    }
}
END_TEST

/* What computes says what, in types it can be computed in. */
START_TEST(evaluations_agree)
{
    const unsigned compute = 1u << ISA_UNIT_IAU | 1u << ISA_UNIT_SAU |
                             1u << ISA_UNIT_VAU | 1u << ISA_UNIT_CMU;
    const unsigned floats = 1u << ISA_F16 | 1u << ISA_F32;

    for (unsigned op = 0; op < ISA_N_OPS; op++) {
        const isa_op_info *row = &isa_ops[op];
        bool evaluated = row->lanes || row->whole;
        bool is_float = row->lanes >= ISA_LANES_float_add;

        ck_assert_msg(!(row->lanes && row->whole), "%s", row->name);
        ck_assert_msg(!evaluated || isa_n_dst((isa_op)op) == 1, "%s",
                      row->name);
        if (row->units & compute && op != ISA_OP_ldret)
            ck_assert_msg(evaluated, "%s computes nothing", row->name);
        if (row->flags & (ISA_F_LOAD | ISA_F_STORE | ISA_F_BRANCH))
            ck_assert_msg(!evaluated, "%s", row->name);
        ck_assert_msg(!(row->types && row->as), "%s", row->name);
        if (is_float)
            ck_assert_msg(row->as ? floats >> row->as & 1
                                  : row->types == floats,
                          "%s is about floats", row->name);
    }
}
END_TEST

START_TEST(accesses_have_sizes)
{
    for (unsigned op = 0; op < ISA_N_OPS; op++) {
        const isa_op_info *row = &isa_ops[op];
        unsigned n = isa_access_bytes((isa_op)op, ISA_U16);

        if (!(row->flags & (ISA_F_LOAD | ISA_F_STORE)))
            continue;
        if (row->types)
            ck_assert_uint_eq(n, 2);
        else
            ck_assert_uint_eq(n, strstr(row->name, "128") ? 16 : 8);
        /* Sixteen bytes need both ports. */
        ck_assert_int_eq(row->all_units, n == 16);
    }
}
END_TEST

/* Registers that an operation reads. */
static unsigned reads(unsigned op, char class)
{
    unsigned n = 0;

    for (unsigned k = 0; k < isa_n_src((isa_op)op); k++) {
        char c = isa_src_class((isa_op)op, k);

        n += c == class || (c == 'j' && class == 'i');
    }
    return n;
}

/* The fullest bundle still has a port for each register it reads: that is why
 * the verifier does not count them. */
START_TEST(ports_suffice)
{
    unsigned most[2] = {0, 0};

    for (unsigned u = 0; u < ISA_N_UNITS; u++)
        for (unsigned c = 0; c < 2; c++) {
            unsigned n = 0;

            for (unsigned op = 0; op < ISA_N_OPS; op++)
                if (isa_ops[op].units >> u & 1 && reads(op, "iv"[c]) > n)
                    n = reads(op, "iv"[c]);
            most[c] += n;
        }
    ck_assert_uint_gt(most[0], 8); /* else we counted something else */
    ck_assert_uint_gt(most[1], 4);
    ck_assert_uint_le(most[0], ISA_I_PORTS);
    ck_assert_uint_le(most[1], ISA_V_PORTS);
}
END_TEST

static void all_named(const char *const *names, unsigned n, unsigned first)
{
    for (unsigned k = first; k < n; k++) {
        ck_assert_msg(names[k] && *names[k], "name %u of %u", k, n);
        for (unsigned j = first; j < k; j++)
            ck_assert_str_ne(names[k], names[j]);
    }
}

START_TEST(names_differ)
{
    all_named(isa_unit_names, ISA_N_UNITS, 0);
    all_named(isa_type_names, ISA_N_TYPES, 1);
    all_named(isa_cond_names, ISA_N_CONDS, 0);
    all_named(isa_round_names, ISA_N_ROUNDS, 0);
    all_named(isa_reduce_names, ISA_N_REDUCES, 0);
    all_named(isa_space_names, ISA_N_SPACES, 0);
    all_named(isa_area_names, ISA_N_AREAS, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("isa table");
    TCase *t = tcase_create("rows");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_test(t, rows_are_complete);
    tcase_add_test(t, forms_are_well_formed);
    tcase_add_test(t, flags_agree);
    tcase_add_test(t, evaluations_agree);
    tcase_add_test(t, accesses_have_sizes);
    tcase_add_test(t, ports_suffice);
    tcase_add_test(t, names_differ);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
