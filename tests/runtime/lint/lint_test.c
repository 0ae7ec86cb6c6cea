/* vpu lint from outside: each check finds its fault at its line, and nothing in
 * the corrected twin. */
#include <check.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/terminal.h"

/* A binding of kernel k in k.cl. What varies starts at line 5. */
#define HEAD                                                 \
    "<CustomLayer name=\"L\" type=\"MVCL\" version=\"1\">\n" \
    "<Kernel entry=\"k\">\n"                                 \
    "<Source filename=\"k.cl\"/>\n"                          \
    "<Parameters>\n"
#define SIZES(global, local)                                     \
    "</Parameters>\n<WorkSizes dim=\"input,0\" global=\"" global \
    "\" local=\"" local "\"/>\n</Kernel></CustomLayer>\n"
#define TAIL SIZES("X,Y,B*F", "X,1,1")
#define TENSOR(arg, type, port, format)                                 \
    "<Tensor arg-name=\"" arg "\" type=\"" type "\" port-index=\"" port \
    "\" format=\"" format "\"/>\n"
#define IN TENSOR("src", "input", "0", "BFYX")
#define OUT TENSOR("dst", "output", "0", "BFYX")
#define SCALAR(arg, type, more) \
    "<Scalar arg-name=\"" arg "\" type=\"" type "\" " more "/>\n"
#define LOCAL(arg, size)    \
    "<Data arg-name=\"" arg \
    "\" type=\"local_data\" dim=\"input,0\" size=\"" size "\"/>\n"
#define PLAIN HEAD IN OUT TAIL

#define GLOBALS                                                              \
    "__kernel void k(__global const half *restrict src,\n                  " \
    "__global half *restrict dst"
#define COPY "    int i = get_global_id(0);\n    dst[i] = src[i] * 2;\n}\n"
#define COPY_CL GLOBALS ")\n{\n" COPY

typedef struct {
    const char *check;
    const char *xml, *cl, *args;                /* the faulty form */
    const char *at;                             /* the first finding's place */
    const char *says;                           /* and a part of its text */
    const char *twin_xml, *twin_cl, *twin_args; /* NULL = as above */
} fault;

/* All items follow one pointer, p, n times. Loops start at line 7. */
#define WALK_XML HEAD IN OUT SCALAR("n", "int", "source=\"3\"") TAIL
#define WALK(loop)                                           \
    GLOBALS ", int n)\n{\n    float sum = 0;\n"              \
            "    __global const half *p = src;\n\n    " loop \
            "\n    dst[get_global_id(0)] = sum;\n}\n"
#define LOCAL_WALK_XML \
    HEAD IN OUT SCALAR("n", "int", "source=\"3\"") LOCAL("t", "64") TAIL
#define LOCAL_WALK(loop)                                                      \
    GLOBALS ", int n, __local half *restrict t)\n{\n"                         \
            "    float sum = 0;\n    __local const half *p = t;\n\n    " loop \
            "\n    dst[get_global_id(0)] = sum;\n}\n"

#define SHAPE "--shape in0=1x4x32x32"

static const fault faults[] = {
    {"arg-missing", PLAIN, GLOBALS ", int n)\n{\n" COPY, "", "l.xml:2:",
     "argument 'n' (int) of kernel 'k' has no binding", NULL, COPY_CL, NULL},
    {"arg-missing", HEAD IN TAIL, COPY_CL, "", "l.xml:2:", "'dst'", PLAIN, NULL,
     NULL},
    {"arg-unknown", HEAD IN OUT SCALAR("nn", "int", "source=\"3\"") TAIL,
     COPY_CL, "", "l.xml:7:", "no argument 'nn'", PLAIN, NULL, NULL},
    {"arg-duplicate", HEAD IN OUT OUT TAIL, COPY_CL, "",
     "l.xml:7:", "'dst' is bound more than once", PLAIN, NULL, NULL},
    {"arg-kind", HEAD IN OUT LOCAL("n", "64") TAIL,
     GLOBALS ", int n)\n{\n" COPY, "", "l.xml:7:", "gives local_data",
     HEAD IN OUT SCALAR("n", "int", "source=\"3\"") TAIL, NULL, NULL},
    {"arg-kind", HEAD IN OUT SCALAR("t", "int", "source=\"3\"") TAIL,
     GLOBALS ", __local half *t)\n{\n" COPY, "",
     "l.xml:7:", "__local half*, but the binding gives an int scalar",
     HEAD IN OUT LOCAL("t", "64") TAIL, NULL, NULL},
    {"arg-kind", HEAD IN OUT TENSOR("n", "input", "1", "ANY") TAIL,
     GLOBALS ", float n)\n{\n" COPY, "", "l.xml:7:", "gives a tensor",
     HEAD IN OUT SCALAR("n", "float", "source=\"3\"") TAIL, NULL, NULL},
    {"arg-type", HEAD IN OUT SCALAR("n", "float", "source=\"3\"") TAIL,
     GLOBALS ", int n)\n{\n" COPY, "", "l.xml:7:", "hands over a float",
     HEAD IN OUT SCALAR("n", "int", "source=\"3\"") TAIL, NULL, NULL},
    {"arg-type",
     HEAD IN OUT SCALAR("n", "float", "port-index=\"0\" source=\"I.X\"") TAIL,
     GLOBALS ", float n)\n{\n" COPY, "", "l.xml:7:",
     "a dimension, which is an int", NULL, GLOBALS ", int n)\n{\n" COPY, NULL},
    {"arg-type", HEAD IN OUT SCALAR("n", "int", "source=\"3\"") TAIL,
     GLOBALS ", short n)\n{\n" COPY, "", "l.xml:7:", "hands over 32 bits", NULL,
     GLOBALS ", int n)\n{\n" COPY, NULL},
    {"port-index",
     HEAD IN OUT SCALAR("n", "int", "port-index=\"0\" source=\"I0.X\"") TAIL,
     GLOBALS ", int n)\n{\n" COPY, "", "l.xml:7:", "of an output",
     HEAD IN OUT SCALAR("n", "int", "port-index=\"0\" source=\"I.X\"") TAIL,
     NULL, NULL},
    {"port-index", HEAD IN OUT SCALAR("n", "int", "source=\"I.X\"") TAIL,
     GLOBALS ", int n)\n{\n" COPY, "", "l.xml:7:", "needs a port-index",
     HEAD IN OUT SCALAR("n", "int", "port-index=\"0\" source=\"I.X\"") TAIL,
     NULL, NULL},
    {"port-index",
     HEAD OUT "<Tensor arg-name=\"src\" type=\"input_buffer\" "
              "port-index=\"1\" dim=\"input,0\" size=\"X\"/>\n" TAIL,
     COPY_CL, "", "l.xml:6:", "which no stage before this one writes", PLAIN,
     NULL, NULL},
    {"format", HEAD TENSOR("src", "input", "0", "ANY") OUT TAIL, COPY_CL, "",
     "l.xml:5:", "format ANY", PLAIN, NULL, NULL},
    {"format", HEAD TENSOR("more", "input", "1", "BYXF") IN OUT TAIL,
     GLOBALS ", __global const half *restrict more)\n{\n" COPY, "",
     "l.xml:5:", "brings number 1 into order BYXF",
     HEAD IN TENSOR("more", "input", "1", "BYXF") OUT TAIL, NULL, NULL},
    {"work-size", HEAD IN OUT SIZES("20,1,1", "16,1,1"), COPY_CL, "",
     "l.xml:8:", "the last 4 work-items do not run",
     HEAD IN OUT SIZES("32,1,1", "16,1,1"), NULL, NULL},
    {"work-size", PLAIN,
     "__attribute__((reqd_work_group_size(16, 1, 1))) " COPY_CL, SHAPE,
     "l.xml:8:",
     "the local size is 32, but reqd_work_group_size of kernel 'k' "
     "says 16",
     HEAD IN OUT SIZES("X,Y,B*F", "16,1,1"), NULL, NULL},
    /* 17 groups on 16 SHAVEs: 2 of 32 places each; 17 on 7: 3 x 7 = 21. */
    {"split", HEAD IN OUT SIZES("X,17,1", "X,1,1"), COPY_CL, SHAPE,
     "l.xml:8:", "on 16 SHAVEs the busiest has 2 of them and 47 %",
     HEAD IN OUT SIZES("X,112,1", "X,1,1"), NULL, NULL},
    {"split", HEAD IN OUT SIZES("64,16,1", "64,1,1"), COPY_CL, "",
     "l.xml:8:", "on 7 SHAVEs the busiest has 3 of them and 24 %",
     HEAD IN OUT SIZES("64,112,1", "64,1,1"), NULL, NULL},
    {"local-multiple", HEAD IN OUT SIZES("X,Y,B*F", "20,1,1"), COPY_CL, "",
     "l.xml:8:", "20 of dimension 0 is not a multiple of 8",
     HEAD IN OUT SIZES("X,Y,B*F", "16,1,1"), NULL, NULL},
    {"local-multiple", PLAIN, COPY_CL, "--shape in0=1x4x32x30",
     "l.xml:8:", "30 of dimension 0", NULL, NULL, SHAPE},
    {"local-memory", HEAD IN OUT LOCAL("t", "X*Y*F*2*14") TAIL,
     GLOBALS ", __local half *t)\n{\n" COPY, SHAPE,
     "l.xml:2:", "needs 114688 bytes",
     HEAD IN OUT LOCAL("t", "X*Y*F*2*12") TAIL, NULL, NULL},
    /* 60000 bytes fit once, not twice. */
    {"local-memory", HEAD IN OUT LOCAL("t", "60000") TAIL,
     GLOBALS ", __local half *t)\n{\n" COPY
             "__kernel void __dma_preload_k(__global const half *restrict src,"
             "__global half *restrict dst, __local half *t)\n{\n"
             "    WorkGroupDmaCreateStrideTransaction(src, t, 64, 64, 64, 64,"
             " 64, 0);\n}\n",
     "", "l.xml:2:", "has one buffer, for two need 120000 bytes",
     HEAD IN OUT LOCAL("t", "50000") TAIL, NULL, NULL},
    {"early-exit", HEAD IN OUT SCALAR("n", "int", "source=\"3\"") TAIL,
     GLOBALS ", int n)\n{\n    int i = get_global_id(0);\n"
             "    if (i >= n)\n        return;\n    dst[i] = src[i] * 2;\n}\n",
     "", "k.cl:6:9:", "without, 8 work-items run at once", NULL,
     GLOBALS ", int n)\n{\n    int i = min((int)get_global_id(0), n);\n"
             "    dst[i] = src[i] * 2;\n}\n",
     NULL},
    {"missing-restrict", HEAD IN OUT SCALAR("n", "int", "source=\"3\"") TAIL,
     "__kernel void k(__global const half *src,\n"
     "                __global half *dst, int n)\n{\n"
     "    int i = get_global_id(0);\n"
     "#pragma unroll 4\n    for (int c = 0; c < n; c++)\n"
     "        dst[c * 64 + i] = src[c * 64 + i] * 2;\n}\n",
     "", "k.cl:1:38:",
     "'src', 'dst' of kernel 'k' have no restrict; with it an iteration of the "
     "loop at line 6 takes",
     NULL,
     GLOBALS ", int n)\n{\n    int i = get_global_id(0);\n"
             "#pragma unroll 4\n    for (int c = 0; c < n; c++)\n"
             "        dst[c * 64 + i] = src[c * 64 + i] * 2;\n}\n",
     NULL},
    {"missing-restrict", PLAIN,
     "__kernel void k(__global const half *restrict src,\n"
     "                __global half *dst)\n{\n" COPY,
     "", "k.cl:2:32:", "'dst' of kernel 'k' has no restrict", NULL, COPY_CL,
     NULL},
    {"vector-types", PLAIN,
     GLOBALS ")\n{\n    int i = get_global_id(0);\n"
             "    float4 v = (float4)(src[i], 1, 2, 3);\n    v *= v;\n"
             "    dst[i] = v.x + v.y + v.z + v.w;\n}\n",
     "", "k.cl:5:5:", "no access to memory moves a vector", NULL,
     GLOBALS ")\n{\n    int i = get_global_id(0);\n"
             "    vstore8(vload8(i, src) * (half8)2, i, dst);\n}\n",
     NULL},
    {"not-vectorized", PLAIN,
     GLOBALS ")\n{\n    int i = get_global_id(0);\n"
             "    for (int c = 0; c < i; c++)\n        dst[i] += src[c];\n}\n",
     "", "k.cl:5:", "control flow differs between items", NULL, COPY_CL, NULL},
    {"ddr-loop", HEAD IN OUT SCALAR("n", "int", "source=\"3\"") TAIL,
     GLOBALS ", int n)\n{\n    int i = get_global_id(0);\n    float sum = 0;\n"
             "    for (int c = 0; c < n; c++)\n"
             "        sum += (float)src[c];\n"
             "    dst[i] = sum;\n}\n",
     "", "k.cl:7:", "element by element in a loop",
     HEAD IN OUT SCALAR("n", "int", "source=\"3\"") LOCAL("t", "64") TAIL,
     GLOBALS ", int n, __local half *restrict t)\n{\n"
             "    int i = get_global_id(0);\n    float sum = 0;\n"
             "    for (int c = 0; c < n; c++)\n"
             "        sum += (float)t[c];\n"
             "    dst[i] = sum;\n}\n",
     NULL},
    /* Pointers that are advanced, on their own and beside a counter. */
    {"ddr-loop", WALK_XML,
     WALK("for (int c = 0; c < n; c++) {\n"
          "        sum += *p;\n        ++p;\n    }"),
     "", "k.cl:8:", "element by element in a loop", LOCAL_WALK_XML,
     LOCAL_WALK("for (int c = 0; c < n; c++) {\n"
                "        sum += *p;\n        ++p;\n    }"),
     NULL},
    {"ddr-loop", WALK_XML,
     WALK("for (int c = 0; c < n; c++)\n"
          "        sum += *p++;"),
     "", "k.cl:8:", "element by element in a loop", LOCAL_WALK_XML,
     LOCAL_WALK("for (int c = 0; c < n; c++)\n        sum += *p++;"), NULL},
    {"ddr-loop", WALK_XML,
     WALK("for (int c = 0; c < n; c++, p += n)\n        sum += *p;"), "",
     "k.cl:8:", "element by element in a loop", NULL,
     WALK("for (int c = 0; c < n; c++, p += n)\n        sum += c;\n"
          "    sum += *p;"),
     NULL},
    {"ddr-loop", WALK_XML,
     WALK("while (n-- > 0) {\n        sum += *p;\n        p -= 2;\n    }"), "",
     "k.cl:8:", "element by element in a loop", NULL,
     WALK("while (n-- > 0) {\n        sum += *p;\n"
          "        p += sum > 2;\n    }"),
     NULL},
    {"ddr-loop", WALK_XML,
     WALK("do {\n        sum += *p;\n        p += 3;\n    } while (--n);"), "",
     "k.cl:8:", "element by element in a loop", NULL,
     WALK("do {\n        sum += *p;\n        if (sum > 9) {\n"
          "            p += 3;\n            sum = exp(sum) + n / 7;\n"
          "        }\n    } while (--n);"),
     NULL},
    /* A loop of several blocks: what it reads is on every way through it. */
    {"ddr-loop", WALK_XML,
     WALK("for (int c = 0; c < n; c++) {\n        float v = *p++;\n"
          "        if (v > 3)\n            for (int k = 0; k < c; k++)\n"
          "                sum = exp(sum) * v;\n    }"),
     "", "k.cl:8:", "element by element in a loop", NULL,
     WALK("for (int c = 0; c < n; c++) {\n        float v = src[(int)sum];\n"
          "        if (v > 3)\n            for (int k = 0; k < c; k++)\n"
          "                sum = exp(sum) * v;\n    }"),
     NULL},
    /* Where the next element is, the last one says. */
    {"ddr-loop", WALK_XML,
     WALK("for (int c = 0; c < n; c++)\n        if (sum < 100)\n"
          "            sum += p[c * n + 1];"),
     "", "k.cl:9:", "element by element in a loop", NULL,
     WALK("int at = n;\n    for (int c = 0; c < n; c++)\n"
          "        at = ((__global const short *)p)[at];\n    sum = at;"),
     NULL},
};
enum { N_FAULTS = sizeof faults / sizeof *faults };

static terminal p;

static void setup(void)
{
    terminal_open(&p);
}

static void teardown(void)
{
    terminal_close(&p);
}

static void lint(const char *xml, const char *cl, const char *check,
                 const char *args)
{
    terminal_text(&p, "l.xml", xml);
    terminal_text(&p, "k.cl", cl);
    terminal_run(&p, arena_printf(p.arena, "lint l.xml --quiet --checks %s %s",
                                  check, args));
}

START_TEST(each_fault_is_found_and_its_twin_is_clean)
{
    const fault *f = &faults[_i];

    lint(f->xml, f->cl, f->check, f->args);
    ck_assert_msg(p.status == 1, "%s %d: status %d\n%s%s", f->check, _i,
                  p.status, p.out, p.err);
    ck_assert_msg(
        !strncmp(p.out, f->at, strlen(f->at)) && strstr(p.out, f->says) &&
            strstr(p.out, arena_printf(p.arena, "[%s]\n", f->check)),
        "%s %d: expected %s %s in\n%s", f->check, _i, f->at, f->says, p.out);
    lint(f->twin_xml ? f->twin_xml : f->xml, f->twin_cl ? f->twin_cl : f->cl,
         f->check, f->twin_args ? f->twin_args : f->args);
    ck_assert_msg(!p.status && strstr(p.out, "l.xml: no findings: 1 layer, "
                                             "1 kernel, checked for "),
                  "twin of %s %d: status %d\n%s%s", f->check, _i, p.status,
                  p.out, p.err);
}
END_TEST

/* Two loops unrolled by the same pragma: one with work to overlap, one of
 * calls that follow each other whatever the factor. */
START_TEST(unrolling_without_gain_is_told_from_unrolling_with)
{
    static const char head[] =
        GLOBALS ", int n)\n{\n    int i = get_global_id(0);\n"
                "    float sum = 0;\n";
    const char *xml = HEAD IN OUT SCALAR("n", "int", "source=\"3\"") TAIL;
    const char *gains =
        arena_printf(p.arena,
                     "%s#pragma unroll 4\n    for (int c = 0; c < n; c++)\n"
                     "        dst[c * 64 + i] = src[c * 64 + i] * 2;\n}\n",
                     head);
    const char *chain =
        arena_printf(p.arena,
                     "%s    float x = 2;\n#pragma unroll 2\n"
                     "    for (int c = 0; c < n; c++) {\n"
                     "        x = pow((float)src[c], x);\n"
                     "        x = pow((float)src[c], x);\n"
                     "        x = pow((float)src[c], x);\n    }\n"
                     "    dst[i] = x + sum;\n}\n",
                     head);

    lint(xml, gains, "unroll", "");
    ck_assert_msg(!p.status, "%s%s", p.out, p.err);
    lint(xml, chain, "unroll", "");
    ck_assert_msg(p.status == 1 && !strncmp(p.out, "k.cl:7:1:", 9) &&
                      strstr(p.out, "issue cycles with the pragma and"),
                  "%s%s", p.out, p.err);
    /* What the preprocessor drops is no pragma. */
    lint(xml,
         arena_printf(p.arena,
                      "%s    float x = 2;\n#if 0\n#pragma unroll 2\n#endif\n"
                      "    for (int c = 0; c < n; c++)\n"
                      "        x = pow((float)src[c], x);\n"
                      "    dst[i] = x + sum;\n}\n",
                      head),
         "unroll", "");
    ck_assert_msg(!p.status, "%s%s", p.out, p.err);
}
END_TEST

/* More sums alive at once than there are registers, and few. */
static const char *sums(unsigned n)
{
    str s = {0};
    const char *text;

    str_puts(&s, GLOBALS ", int n)\n{\n    int i = get_global_id(0);\n");
    for (unsigned k = 0; k < n; k++)
        str_printf(&s, "    float s%u = %u;\n", k, k);
    str_puts(&s, "    for (int c = 0; c < n; c++) {\n"
                 "        float v = src[c * 64 + i];\n");
    for (unsigned k = 0; k < n; k++)
        str_printf(&s, "        s%u = s%u * v + s%u;\n", k, k, (k + 1) % n);
    str_puts(&s, "    }\n    dst[i] = 0");
    for (unsigned k = 0; k < n; k++)
        str_printf(&s, " + s%u", k);
    str_puts(&s, ";\n}\n");
    text = arena_strdup(p.arena, str_text(&s));
    str_free(&s);
    return text;
}

START_TEST(spills_in_a_loop_are_found)
{
    const char *xml = HEAD IN OUT SCALAR("n", "int", "source=\"3\"") TAIL;

    lint(xml, sums(60), "spills", "");
    ck_assert_msg(p.status == 1 && strstr(p.out, "of spilled values") &&
                      !strncmp(p.out, "k.cl:65:", 8),
                  "%s%s", p.out, p.err);
    lint(xml, sums(4), "spills", "");
    ck_assert_msg(!p.status, "%s%s", p.out, p.err);
}
END_TEST

START_TEST(a_finding_looks_as_clang_prints_it)
{
    lint(HEAD IN OUT SCALAR("nn", "int", "source=\"3\"") TAIL, COPY_CL, "all",
         "");
    ck_assert_int_eq(p.status, 1);
    ck_assert_str_eq(
        p.out,
        "l.xml:7:1: warning: kernel 'k' has no argument 'nn': the binding does "
        "nothing [arg-unknown]\n"
        "<Scalar arg-name=\"nn\" type=\"int\" source=\"3\"/>\n^\n"
        "l.xml:7:1: note: an MVCL layer binds by name, and a misspelt one is "
        "silently ignored; a SimpleGPU layer binds as many as the kernel has\n"
        "1 finding\n");
}
END_TEST

START_TEST(json_and_sarif_say_the_same)
{
    json_t *j, *sarif, *result;
    const char *file, *line_text;
    int line;

    lint(HEAD IN OUT OUT TAIL, COPY_CL, "arg-duplicate,split",
         "--json --sarif out.sarif");
    ck_assert_int_eq(p.status, 1);
    j = json_loads(p.out, 0, NULL);
    ck_assert_ptr_nonnull(j);
    ck_assert_uint_eq(json_array_size(json_object_get(j, "checks")), 2);
    ck_assert_uint_eq(json_array_size(json_object_get(j, "findings")), 1);
    ck_assert_int_eq(json_unpack(j, "{s:[{s:s,s:i,s:s}]}", "findings", "file",
                                 &file, "line", &line, "check", &line_text),
                     0);
    ck_assert_str_eq(file, "l.xml");
    ck_assert_int_eq(line, 7);
    ck_assert_str_eq(line_text, "arg-duplicate");
    json_decref(j);
    sarif =
        json_load_file(arena_printf(p.arena, "%s/out.sarif", p.dir), 0, NULL);
    ck_assert_ptr_nonnull(sarif);
    result = json_array_get(
        json_object_get(json_array_get(json_object_get(sarif, "runs"), 0),
                        "results"),
        0);
    ck_assert_int_eq(json_unpack(result, "{s:s,s:[{s:{s:{s:s},s:{s:i}}}]}",
                                 "ruleId", &line_text, "locations",
                                 "physicalLocation", "artifactLocation", "uri",
                                 &file, "region", "startLine", &line),
                     0);
    ck_assert_str_eq(line_text, "arg-duplicate");
    ck_assert_str_eq(file, "l.xml");
    ck_assert_int_eq(line, 7);
    json_decref(sarif);
}
END_TEST

static const struct {
    const char *args, *says;
} bad[] = {
    {"lint", "no binding file"},
    {"lint none.xml", "none.xml"},
    {"lint l.xml --checks speed", "no check is called 'speed'"},
    {"lint l.xml --checks split,", "no check is called ''"},
    {"lint l.xml --layer M", "no CustomLayer named 'M'"},
    {"lint l.xml other.cl", "other.cl: no kernel of l.xml is in it"},
    {"lint l.xml none.cl", "none.cl"},
    {"lint l.xml -D src=1", "error"},
    {"lint l.xml --param a=1", "--shape"},
    {"lint l.xml --shape in0=x", "in0=x"},
    {"lint l.xml --threads 2", "unknown option --threads"},
    {"lint l.xml --sarif none/x.sarif", "none/x.sarif"},
};
enum { N_BAD = sizeof bad / sizeof *bad };

/* Findings about sizes begin where they say. 72 groups leave a tenth of 16
 * SHAVEs' time idle (5 on the busiest, 80 places), 73 a little less; of local
 * memory 102400 bytes are there. */
static const struct {
    const char *check, *xml, *says; /* NULL: nothing */
} edges[] = {
    {"split", HEAD IN OUT SIZES("72,1,1", "1,1,1"),
     "72 work-groups: on 16 SHAVEs the busiest has 5 of them and 10 % of"},
    {"split", HEAD IN OUT SIZES("73,1,1", "1,1,1"), NULL},
    {"split", HEAD IN OUT SIZES("80,1,1", "1,1,1"), NULL},
    {"split", HEAD IN OUT SIZES("81,1,1", "1,1,1"),
     "81 work-groups: on 16 SHAVEs the busiest has 6 of them and 16 % of"},
    {"local-memory", HEAD IN OUT LOCAL("t", "102400") TAIL, NULL},
    {"local-memory", HEAD IN OUT LOCAL("t", "102401") TAIL,
     "kernel 'k' needs 102416 bytes of local memory per work-group, the device "
     "has 102400"},
};

START_TEST(thresholds_are_where_they_say)
{
    lint(edges[_i].xml, GLOBALS ", __local half *t)\n{\n" COPY, edges[_i].check,
         "");
    ck_assert_msg(p.status == (edges[_i].says != NULL) &&
                      (!edges[_i].says || strstr(p.out, edges[_i].says)),
                  "%s %d: status %d\n%s%s", edges[_i].check, _i, p.status,
                  p.out, p.err);
}
END_TEST

START_TEST(bad_input_is_status_2)
{
    terminal_text(&p, "l.xml", PLAIN);
    terminal_text(&p, "k.cl", COPY_CL);
    terminal_text(&p, "other.cl", "__kernel void m(__global int *p) {}\n");
    terminal_run(&p, bad[_i].args);
    ck_assert_msg(p.status == 2 && strstr(p.err, bad[_i].says),
                  "%s: status %d\n%s%s", bad[_i].args, p.status, p.out, p.err);
}
END_TEST

START_TEST(a_source_of_the_command_line_is_taken_instead)
{
    terminal_text(&p, "l.xml", PLAIN);
    terminal_text(&p, "k.cl", COPY_CL);
    terminal_text(&p, "draft.cl",
                  "__kernel void k(__global const half *src,\n"
                  "                __global half *dst)\n{\n" COPY);
    terminal_run(&p, "lint l.xml --quiet");
    ck_assert_msg(!p.status, "%s%s", p.out, p.err);
    terminal_run(&p, "lint l.xml draft.cl --quiet");
    ck_assert_msg(p.status == 1 && !strncmp(p.out, "draft.cl:1:38:", 14),
                  "%s%s", p.out, p.err);
    terminal_run(&p, "lint l.xml draft.cl --quiet --checks none");
    ck_assert_msg(!p.status && strstr(p.out, "checked for nothing"), "%s%s",
                  p.out, p.err);
}
END_TEST

/* What each sample is told without shapes, looked at by hand; their READMEs say
 * why it stays. */
static const struct {
    const char *sample, *findings; /* "file:line check", one a line */
} samples[] = {
    {"binary_convolution",
     "binary1x1.cl:24 ddr-loop\nbinary3x3.cl:27 ddr-loop\n"},
    {"convolution1x1", "convolution1x1.cl:22 ddr-loop\n"},
    {"convolution3x3", "convolution3x3.cl:33 ddr-loop\n"},
    {"copy_item_dma", ""},
    {"correlation",
     "correlation.cl:30 not-vectorized\ncorrelation.cl:47 ddr-loop\n"},
    {"ctc", "ctc.cl:16 ddr-loop\nctc.cl:21 ddr-loop\nctc.cl:29 ddr-loop\n"},
    {"cvtf32f16", ""},
    {"cvtu8f16", ""},
    {"grn", "grn_vector.cl:15 ddr-loop\ngrn_vector.cl:23 ddr-loop\n"},
    {"leaky_relu", ""},
    {"matmul", "matmul.cl:28 spills\nmatmul_edge.cl:20 not-vectorized\n"
               "matmul_edge.cl:20 ddr-loop\n"
               "matmul_edge_f32.cl:19 not-vectorized\n"
               "matmul_edge_f32.cl:19 ddr-loop\n"},
    {"mvn", "mvn_stats.cl:19 ddr-loop\nmvn_stats.cl:24 ddr-loop\n"},
    {"permute", ""},
    {"prelu", ""},
    {"prior_grid", ""},
    {"quantize", ""},
    {"region", ""},
    {"reorg", "reorg_dma.cl:26 not-vectorized\n"
              "reorg_exit.cl:12 early-exit\nreorg_last_line.cl:21 ddr-loop\n"
              "reorg_line.cl:22 ddr-loop\nreorg_unrolled.cl:10 "
              "not-vectorized\nreorg_unrolled.cl:25 ddr-loop\n"},
    {"resample", ""},
    {"shuffle_channels", ""},
    {"softmax", "softmax_rows.cl:18 ddr-loop\nsoftmax_rows.cl:20 ddr-loop\n"
                "softmax_rows.cl:22 ddr-loop\n"},
    {"spatial_transformer", "spatial_transformer.cl:22 spills\n"},
};
enum { N_SAMPLES = sizeof samples / sizeof *samples };

START_TEST(samples_are_told_what_is_true)
{
    char here[4096];
    json_t *j, *x;
    str found = {0};
    size_t i;

    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    terminal_run(&p,
                 arena_printf(p.arena, "lint %s/kernels/%s/layer.xml --json",
                              here, samples[_i].sample));
    j = json_loads(p.out, 0, NULL);
    ck_assert_msg(j, "%s%s", p.out, p.err);
    json_array_foreach(json_object_get(j, "findings"), i, x)
    {
        const char *file = json_string_value(json_object_get(x, "file"));

        str_printf(&found, "%s:%d %s\n", strrchr(file, '/') + 1,
                   (int)json_integer_value(json_object_get(x, "line")),
                   json_string_value(json_object_get(x, "check")));
    }
    ck_assert_str_eq(str_text(&found), samples[_i].findings);
    ck_assert_int_eq(p.status, found.n != 0);
    str_free(&found);
    json_decref(j);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vpu lint");
    TCase *c = tcase_create("lint");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, each_fault_is_found_and_its_twin_is_clean, 0,
                        N_FAULTS);
    tcase_add_test(c, unrolling_without_gain_is_told_from_unrolling_with);
    tcase_add_test(c, spills_in_a_loop_are_found);
    tcase_add_test(c, a_finding_looks_as_clang_prints_it);
    tcase_add_test(c, json_and_sarif_say_the_same);
    tcase_add_loop_test(c, thresholds_are_where_they_say, 0,
                        sizeof edges / sizeof *edges);
    tcase_add_loop_test(c, bad_input_is_status_2, 0, N_BAD);
    tcase_add_test(c, a_source_of_the_command_line_is_taken_instead);
    tcase_add_loop_test(c, samples_are_told_what_is_true, 0, N_SAMPLES);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
