/* Writes a kernel that calls the function, runs it over the inputs, and keeps
 * the worst error. */
#include "tests/support/math_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tests/support/rig.h"

static const char *kernel_text(arena *a, const oracle_fn *f, const char *t,
                               unsigned width)
{
    const char *second = f->kind == ORACLE_TI ? "int" : t;
    const char *result = f->kind == ORACLE_IT ? "int" : t, *text;
    str call = {0};

    str_printf(&call, "%s(", f->name);
    for (unsigned i = 0; i < f->n_args; i++)
        if (width == 1)
            str_printf(&call, "%s%c[i]", i ? ", " : "", 'a' + i);
        else
            str_printf(&call, "%svload%u(i, %c)", i ? ", " : "", width,
                       'a' + i);
    str_printf(&call, ")");
    text = arena_printf(a,
                        "__kernel void k(__global %s *o, __global const %s *a, "
                        "__global const %s *b, __global const %s *c)\n{\n"
                        "    int i = get_global_id(0);\n    ",
                        result, t, second, t);
    text = width == 1 ? arena_printf(a, "%so[i] = %s;\n}\n", text, call.data)
                      : arena_printf(a, "%svstore%u(%s, i, o);\n}\n", text,
                                     width, call.data);
    str_free(&call);
    return text;
}

static void put(void *p, uint32_t i, bool half, double v)
{
    if (half)
        ((builtin_half *)p)[i] = (builtin_half)v;
    else
        ((float *)p)[i] = (float)v;
}

static double get(const void *p, uint32_t i, bool half)
{
    return half ? (double)((const builtin_half *)p)[i]
                : (double)((const float *)p)[i];
}

static void *run(rig *r, const oracle_fn *f, bool half, unsigned width,
                 uint32_t n, math_input *input)
{
    size_t bytes = half ? 2 : 4;
    void *out, *a, *b, *c;
    double x, y, z;

    rig_compile(r, kernel_text(r->arena, f, half ? "half" : "float", width),
                "k");
    out = rig_buffer(r, n * (f->kind == ORACLE_IT ? 4 : bytes));
    a = rig_buffer(r, n * bytes);
    b = rig_buffer(r, n * (f->kind == ORACLE_TI ? 4 : bytes));
    c = rig_buffer(r, n * bytes);
    for (uint32_t i = 0; i < n; i++) {
        x = y = z = 0;
        input(i, &x, &y, &z);
        put(a, i, half, x);
        if (f->kind == ORACLE_TI)
            ((int *)b)[i] = (int)y;
        else
            put(b, i, half, y);
        put(c, i, half, z);
    }
    rig_run_1d(r, n / width / 16, 16);
    return out;
}

static bool both_nan(double x, double y)
{
    return isnan(x) && isnan(y);
}

math_result math_check(const oracle_fn *f, bool half, unsigned width,
                       uint32_t n, math_input *input)
{
    math_result m = {.n_values = n = n / (16 * width) * (16 * width)};
    bool loose = f->kind == ORACLE_LOOSE, ints = f->kind == ORACLE_IT;
    rig r;
    void *out, *wide;

    rig_open(&r);
    rig_heavy(&r);
    out = run(&r, f, half, 1, n, input);
    wide = run(&r, f, half, width, n, input);
    for (uint32_t i = 0; i < n; i++) {
        double x = 0, y = 0, z = 0, got, other, want, e;

        input(i, &x, &y, &z);
        got = ints ? ((int *)out)[i] : get(out, i, half);
        other = ints ? ((int *)wide)[i] : get(wide, i, half);
        want = oracle_eval(f, x, y, z);
        m.n_vector_wrong += got != other && !both_nan(got, other);
        e = ints   ? (got == want ? 0 : HUGE_VAL)
            : half ? oracle_error_half((builtin_half)got, want, loose)
                   : oracle_error_float((float)got, want, loose);
        want = ints   ? want
               : half ? (double)(builtin_half)want
                      : (double)(float)want;
        m.n_wrong += got != want && !both_nan(got, want);
        if (e > m.worst) {
            m.worst = e;
            m.x = x;
            m.y = y;
            m.z = z;
            m.got = got;
            m.want = want;
        }
    }
    rig_close(&r);
    return m;
}

static void to_file(const oracle_fn *f, bool half, const math_result *r)
{
    const char *path = getenv("VPU_ULP_FILE");
    FILE *out = path && *path ? fopen(path, "a") : NULL;

    if (!out)
        return;
    fprintf(out, "%s %s %.17g %g %u\n", f->name, half ? "half" : "float",
            r->worst, f->ulps, r->n_values);
    fclose(out);
}

void math_report(const oracle_fn *f, bool half, const math_result *r)
{
    printf("%-14s worst %10.4f ulp at (%a, %a, %a): %a, nearest %a; %u of %u "
           "not nearest\n",
           f->name, r->worst, r->x, r->y, r->z, r->got, r->want, r->n_wrong,
           r->n_values);
    to_file(f, half, r);
}
