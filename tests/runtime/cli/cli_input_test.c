/* vpu run on bad input: exit status 2, a message that names file and line or
 * argument, what was found and what was expected, and nothing left behind. */
#include <check.h>
#include <string.h>

#include "tests/support/terminal.h"

/* --- pieces of a good layer, on known lines ------------------------------ */

#define HEAD /* line 1 */ \
    "<CustomLayer name=\"Add\" type=\"MVCL\" version=\"1\">\n"
#define KERNEL /* lines 2, 3 */  \
    "  <Kernel entry=\"add\">\n" \
    "    <Source filename=\"add.cl\"/>\n"
#define PARAMS "    <Parameters>\n" /* line 4 */
#define SRC                         /* line 5 */                      \
    "      <Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" " \
    "format=\"BFYX\"/>\n"
#define DST /* line 6 */                                               \
    "      <Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" " \
    "format=\"BFYX\"/>\n"
#define BIAS /* line 7 */ \
    "      <Scalar arg-name=\"bias\" type=\"float\" source=\"bias\"/>\n"
#define END "    </Parameters>\n" /* line 8 */
#define SIZES                     /* line 9 */ \
    "    <WorkSizes dim=\"input,0\" global=\"X,Y,F\" local=\"X,1,1\"/>\n"
#define TAIL "  </Kernel>\n</CustomLayer>\n"
#define GOOD HEAD KERNEL PARAMS SRC DST BIAS END SIZES TAIL
#define BINDING(line7) HEAD KERNEL PARAMS SRC DST line7 END SIZES TAIL
#define WORK(sizes) HEAD KERNEL PARAMS SRC DST BIAS END sizes TAIL
#define LOCAL(size)                                              \
    BINDING("      <Data arg-name=\"bias\" type=\"local_data\" " \
            "dim=\"input,0\" size=\"" size "\"/>\n")

#define INDEX                                           \
    "int i = (get_global_id(2) * get_global_size(1) + " \
    "get_global_id(1)) * get_global_size(0) + get_global_id(0);\n"
/* The body begins on line 3. */
#define ADD(third, body)                                                     \
    "__kernel void add(__global const half *src, __global half *dst, " third \
    ")\n{   " INDEX body "}\n"
#define GOOD_CL ADD("float bias", "dst[i] = src[i] + (half)bias;\n")

#define SHAPE "--shape in0=1x2x4x16 "
#define GOOD_ARGS SHAPE "--param bias=1"

typedef struct {
    const char *name;
    const char *xml, *cl, *args; /* NULL: the good one */
    const char *want[6];         /* fragments of the message */
} bad_case;

static const bad_case cases[] = {
    /* --- the binding file --------------------------------------------------
     */
    {"no such binding file", NULL, NULL, "nowhere.xml " GOOD_ARGS, {""}},
    {"not XML",
     "hello, I am a text file\n",
     NULL,
     NULL,
     {"layer.xml", "found no element", "expected CustomLayer"}},
    {"empty file", "", NULL, NULL, {"layer.xml", "expected CustomLayer"}},
    {"broken XML",
     HEAD KERNEL "  </Kernel\n",
     NULL,
     NULL,
     {"layer.xml:5", "expected '>'"}},
    {"wrong end tag",
     HEAD KERNEL "  </Kernell>\n</CustomLayer>\n",
     NULL,
     NULL,
     {"layer.xml:4", "Kernell"}},
    {"binary file",
     "\x7f"
     "ELF\x01\x02\x03",
     NULL,
     NULL,
     {"layer.xml:1"}},
    {"entity bomb",
     "<!DOCTYPE b [<!ENTITY a \"aaaaaaaaaa\">"
     "<!ENTITY c \"&a;&a;&a;&a;&a;&a;&a;&a;\">"
     "<!ENTITY d \"&c;&c;&c;&c;&c;&c;&c;&c;\">"
     "<!ENTITY e \"&d;&d;&d;&d;&d;&d;&d;&d;\">]>\n"
     "<CustomLayer name=\"&e;\" type=\"MVCL\" version=\"1\"/>\n",
     NULL,
     NULL,
     {"layer.xml:1", "entity declarations are refused"}},
    {"external entity",
     "<!DOCTYPE b [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>\n"
     "<CustomLayer name=\"&x;\" type=\"MVCL\" version=\"1\"/>\n",
     NULL,
     NULL,
     {"layer.xml:1", "entity declarations are refused"}},
    {"another root element",
     "<Layers>\n" GOOD "</Layers>\n",
     NULL,
     NULL,
     {"layer.xml:1", "found element Layers", "expected CustomLayer"}},
    /* --- numbers that do not fit -------------------------------------------
     */
    {"global size of 67 bits",
     WORK("    <WorkSizes dim=\"input,0\" "
          "global=\"99999999999999999999,Y,F\" local=\"1,1,1\"/>\n"),
     NULL,
     NULL,
     {"layer.xml:9", "99999999999999999999 does not fit 32 bits"}},
    {"local size of 33 bits",
     WORK("    <WorkSizes dim=\"input,0\" global=\"X,Y,F\" "
          "local=\"4294967297,1,1\"/>\n"),
     NULL,
     NULL,
     {"layer.xml:9", "4294967297 does not fit 32 bits"}},
    {"parameter of 33 bits in an expression",
     WORK("    <WorkSizes dim=\"input,0\" global=\"N,Y,F\" "
          "local=\"1,1,1\"/>\n"),
     NULL,
     GOOD_ARGS " --param N=4294967296",
     {"layer.xml:9", "the parameter 'N'", "does not fit 32 bits"}},
    {"integer argument of 33 bits",
     BINDING("      <Scalar arg-name=\"bias\" type=\"int\" "
             "source=\"4294967296\"/>\n"),
     ADD("int bias", "dst[i] = src[i] + (half)bias;\n"),
     SHAPE,
     {"layer.xml:7", "bias", "'4294967296' does not fit"}},
    {"integer argument from a parameter of 33 bits",
     BINDING("      <Scalar arg-name=\"bias\" type=\"int\" "
             "source=\"N\"/>\n"),
     ADD("int bias", "dst[i] = src[i] + (half)bias;\n"),
     SHAPE "--param N=-2147483649",
     {"layer.xml:7", "bias", "'-2147483649' does not fit"}},
    {"dim index of 34 bits",
     WORK("    <WorkSizes dim=\"input,9999999999\" global=\"X,Y,F\"/>\n"),
     NULL,
     NULL,
     {"layer.xml:9", "'9999999999' is not a tensor index"}},
    {"local_data size of 34 bits",
     LOCAL("9999999999"),
     ADD("__local half *bias", "dst[i] = src[i];\n"),
     SHAPE,
     {"layer.xml:7", "9999999999 does not fit 32 bits"}},
    {"missing name",
     "<CustomLayer type=\"MVCL\" version=\"1\">\n" KERNEL PARAMS SRC DST BIAS
         END SIZES TAIL,
     NULL,
     NULL,
     {"layer.xml:1", "CustomLayer", "missing", "name"}},
    {"type is not MVCL",
     "<CustomLayer name=\"Add\" type=\"CPU\" version=\"1\"></CustomLayer>\n",
     NULL,
     NULL,
     {"layer.xml:1", "MVCL", "CPU"}},
    {"version is not 1",
     "<CustomLayer name=\"Add\" type=\"MVCL\" version=\"2\"></CustomLayer>\n",
     NULL,
     NULL,
     {"layer.xml:1", "version 1", "2"}},
    {"duplicate attribute",
     HEAD
     "  <Kernel entry=\"add\" entry=\"sub\">\n"
     "    <Source filename=\"add.cl\"/>\n" PARAMS SRC DST BIAS END SIZES TAIL,
     NULL,
     NULL,
     {"layer.xml:2", "entry"}},
    {"empty attribute",
     HEAD
     "  <Kernel entry=\"\">\n"
     "    <Source filename=\"add.cl\"/>\n" PARAMS SRC DST BIAS END SIZES TAIL,
     NULL,
     NULL,
     {"layer.xml:2", "Kernel", "empty attribute entry"}},
    {"missing entry",
     HEAD
     "  <Kernel>\n"
     "    <Source filename=\"add.cl\"/>\n" PARAMS SRC DST BIAS END SIZES TAIL,
     NULL,
     NULL,
     {"layer.xml:2", "Kernel", "missing", "entry"}},
    {"no Kernel",
     HEAD "</CustomLayer>\n",
     NULL,
     NULL,
     {"layer.xml:1", "Kernel", "not found"}},
    {"no Source",
     HEAD "  <Kernel entry=\"add\">\n" PARAMS SRC DST BIAS END SIZES TAIL,
     NULL,
     NULL,
     {"layer.xml:2", "Source", "not found"}},
    {"no Parameters",
     HEAD KERNEL SIZES TAIL,
     NULL,
     NULL,
     {"layer.xml:2", "Parameters", "not found"}},
    {"no WorkSizes",
     HEAD KERNEL PARAMS SRC DST BIAS END TAIL,
     NULL,
     NULL,
     {"layer.xml:2", "WorkSizes", "not found"}},
    {"two WorkSizes",
     WORK(SIZES SIZES),
     NULL,
     NULL,
     {"layer.xml:10", "several definitions", "WorkSizes", "line 9"}},
    {"two Parameters",
     HEAD KERNEL PARAMS SRC DST BIAS END PARAMS END SIZES TAIL,
     NULL,
     NULL,
     {"layer.xml:9", "several definitions", "Parameters", "line 4"}},
    {"missing arg-name",
     BINDING("      <Scalar type=\"float\" source=\"bias\"/>\n"),
     NULL,
     NULL,
     {"layer.xml:7", "Scalar", "missing", "arg-name"}},
    {"unknown Scalar type",
     BINDING("      <Scalar arg-name=\"bias\" type=\"double\"/>\n"),
     NULL,
     NULL,
     {"layer.xml:7", "double", "expected int or float"}},
    {"unknown format",
     BINDING("      <Tensor arg-name=\"bias\" type=\"input\" "
             "port-index=\"0\" format=\"NCHW\"/>\n"),
     NULL,
     NULL,
     {"layer.xml:7", "NCHW", "BFYX"}},
    {"port-index is not a number",
     BINDING("      <Tensor arg-name=\"bias\" type=\"input\" "
             "port-index=\"first\"/>\n"),
     NULL,
     NULL,
     {"layer.xml:7", "first", "integer"}},
    {"input that is not there",
     BINDING("      <Tensor arg-name=\"bias\" type=\"input\" "
             "port-index=\"3\"/>\n"),
     NULL,
     NULL,
     {"layer.xml:7", "3"}},
    {"a parameter nothing looks at",
     NULL,
     NULL,
     GOOD_ARGS " --param scale=3",
     {"'scale'", "layer.xml", "known: bias"}},
    {"a misspelt parameter",
     NULL,
     NULL,
     GOOD_ARGS " --param bais=1",
     {"'bais'", "layer.xml", "did you mean 'bias'?"}},
    {"no such parameter", NULL, NULL, SHAPE, {"layer.xml:7", "bias"}},
    {"unknown name in a work size",
     WORK("    <WorkSizes dim=\"input,0\" global=\"X,Q,F\" local=\"X\"/>\n"),
     NULL,
     NULL,
     {"layer.xml:9", "Q"}},
    {"work size is no expression",
     WORK("    <WorkSizes dim=\"input,0\" global=\"X,(Y,F\" local=\"X\"/>\n"),
     NULL,
     NULL,
     {"layer.xml:9"}},
    {"division by zero in a work size",
     WORK("    <WorkSizes dim=\"input,0\" global=\"X/(Y-4),Y,F\" "
          "local=\"1\"/>\n"),
     NULL,
     NULL,
     {"layer.xml:9", "zero"}},
    {"four dimensions",
     WORK("    <WorkSizes dim=\"input,0\" global=\"X,Y,F,B\" local=\"1\"/>\n"),
     NULL,
     NULL,
     {"layer.xml:9", "3"}},
    {"global size 0",
     WORK("    <WorkSizes dim=\"input,0\" global=\"X,Y-4,F\" local=\"1\"/>\n"),
     NULL,
     NULL,
     {"layer.xml:9", "0"}},
    {"local size 0",
     WORK("    <WorkSizes dim=\"input,0\" global=\"X,Y,F\" "
          "local=\"X-16\"/>\n"),
     NULL,
     NULL,
     {"layer.xml:9", "0"}},
    {"local larger than global",
     WORK("    <WorkSizes dim=\"input,0\" global=\"X,Y,F\" local=\"32\"/>\n"),
     NULL,
     NULL,
     {"layer.xml:9", "16", "32"}},
    /* --- binding and signature ----------------------------------------------
     */
    {"argument without binding",
     BINDING(""),
     NULL,
     SHAPE,
     {"layer.xml:", "bias", "kernel 'add'"}},
    {"scalar for a pointer",
     BINDING("      <Scalar arg-name=\"dst\" type=\"int\" source=\"bias\"/>\n"
             "      <Scalar arg-name=\"bias\" type=\"int\" "
             "source=\"bias\"/>\n"),
     NULL,
     NULL,
     {"layer.xml:7", "'dst'", "__global half", "add.cl", "an int scalar"}},
    {"tensor for a scalar",
     BINDING("      <Tensor arg-name=\"bias\" type=\"input\" "
             "port-index=\"0\"/>\n"),
     NULL,
     SHAPE,
     {"layer.xml:7", "'bias'", "float", "add.cl", "tensor"}},
    {"int for a float",
     BINDING("      <Scalar arg-name=\"bias\" type=\"int\" "
             "source=\"bias\"/>\n"),
     NULL,
     NULL,
     {"layer.xml:7", "'bias'", "is float in ", "add.cl:1", "an int scalar",
      "type=\"float\""}},
    {"a fraction as int",
     BINDING("      <Scalar arg-name=\"bias\" type=\"int\" "
             "source=\"bias\"/>\n"),
     NULL,
     "--shape in0=1x2x4x16 --param bias=-0.0137",
     {"layer.xml:7", "bias", "'-0.0137' is no integer", "type=\"float\""}},
    {"float for an int",
     NULL,
     ADD("int bias", "dst[i] = src[i];\n"),
     NULL,
     {"layer.xml:7", "'bias'", "int", "a float scalar"}},
    {"local_data for a global pointer",
     LOCAL("X"),
     ADD("__global half *bias", "dst[i] = src[i];\n"),
     SHAPE,
     {"layer.xml:7", "'bias'", "__global half*", "local_data"}},
    {"tensor for a local pointer",
     BINDING("      <Tensor arg-name=\"bias\" type=\"input\" "
             "port-index=\"0\"/>\n"),
     ADD("__local half *bias", "dst[i] = src[i];\n"),
     SHAPE,
     {"layer.xml:7", "'bias'", "__local half*", "tensor"}},
    {"half kernel, float tensor",
     NULL,
     NULL,
     "--shape in0=1x2x4x16:f32 --param bias=1",
     {"layer.xml:5", "'src'", "__global half*", "f32", "f16"}},
    {"float kernel, half tensor",
     NULL,
     "__kernel void add(__global const float *src, __global half *dst, "
     "float bias) { dst[0] = src[0]; }\n",
     NULL,
     {"layer.xml:5", "'src'", "__global float*", "f16", "f32"}},
    {"byte kernel, half tensor",
     NULL,
     "__kernel void add(__global const uchar *src, __global half *dst, "
     "float bias) { dst[0] = src[0]; }\n",
     NULL,
     {"layer.xml:5", "'src'", "__global uchar*", "f16", "in0=", ":u8"}},
    {"byte vectors, half tensor",
     NULL,
     "__kernel void add(__global const half *src, __global char4 *dst, "
     "float bias) { dst[0] = (char4)src[0]; }\n",
     NULL,
     {"layer.xml:6", "'dst'", "__global char4*", "f16", "out0=", ":i8"}},
    {"short kernel, int tensor",
     NULL,
     "__kernel void add(__global const short *src, __global half *dst, "
     "float bias) { dst[0] = src[0]; }\n",
     "--shape in0=1x2x4x16:i32 --shape out0=1x2x4x16 --param bias=1",
     {"layer.xml:5", "'src'", "__global short*", "i32", ":i16"}},
    {"no such kernel",
     NULL,
     "__kernel void first(__global half *d) {}\n"
     "__kernel void second(__global half *d) {}\n",
     NULL,
     {"add.cl", "no kernel named 'add'", "first", "second"}},
    {"no kernel at all",
     NULL,
     "int f(int x) { return x; }\n",
     NULL,
     {"add.cl", "no kernel named 'add'", "no kernels"}},
    {"preload of another kind",
     NULL,
     GOOD_CL "__kernel void __dma_preload_add(__global half *src) {}\n",
     NULL,
     {"add.cl", "__dma_preload_add", "arguments"}},
    {"required local size",
     NULL,
     "__attribute__((reqd_work_group_size(8, 1, 1)))\n" GOOD_CL,
     NULL,
     {"'add'", "8x1x1", "16x1x1"}},
    /* --- limits
       --------------------------------------------------------------- */
    {"local_data over 100 KB",
     LOCAL("60000*2"),
     ADD("__local uchar *bias", "bias[0] = 1; dst[i] = src[i];\n"),
     SHAPE,
     {"'add'", "120000", "102400", "local_data 'bias'"}},
    {"arrays over 100 KB",
     NULL,
     ADD("float bias", "__local float big[20000];\n"
                       "__local float small[8000];\n"
                       "big[i] = bias; small[i] = bias;\n"
                       "barrier(CLK_LOCAL_MEM_FENCE);\n"
                       "dst[i] = (half)(big[i ^ 1] + small[i ^ 1]);\n"),
     NULL,
     {"112000", "102400", "__local array", "80000", "32000"}},
    {"local_data that does not fit once, with DMA",
     LOCAL("110000"),
     ADD("__local uchar *bias",
         "dst[i] = src[i] + bias[0];\n") "__kernel void "
                                         "__dma_preload_add(__global const "
                                         "half *src,\n"
                                         "    __global half *dst, __local "
                                         "uchar *bias)\n"
                                         "{ "
                                         "WorkGroupDmaCreateTransaction((__"
                                         "global const uchar *)src, bias,\n"
                                         "    64, 0); }\n",
     SHAPE,
     {"110000", "102400", "local_data"}},
    {"private arrays",
     NULL,
     ADD("float bias",
         "float a[30000];\n"
         "for (int k = 0; k < 30000; k++) a[(k * 7 + i) % 30000] = k * bias;\n"
         "dst[i] = (half)(a[i * 5] + a[(int)(float)src[i] & 15]);\n"),
     NULL,
     {"120000", "102400", "private arrays"}},
    {"values kept across barriers",
     NULL,
     ADD("float bias",
         "float a[2000];\n"
         "for (int k = 0; k < 2000; k++) a[(k * 7 + i) % 2000] = k * bias;\n"
         "barrier(CLK_LOCAL_MEM_FENCE);\n"
         "dst[i] = (half)(a[i * 5] + a[(int)(float)src[i] & 15]);\n"),
     NULL,
     {"102400", "kept across barriers"}},
    {"buffers over 512 MB",
     NULL,
     NULL,
     "--shape in0=1x64x2048x2048 --param bias=1",
     {"1073741824 bytes", "536870912 bytes of DDR", "536870912  in0", "out0"}},
    {"shape with a 0",
     NULL,
     NULL,
     "--shape in0=1x0x4x16 --param bias=1",
     {"in0=1x0x4x16", "0"}},
    {"shape beyond 4 GiB",
     NULL,
     NULL,
     "--shape in0=1x65536x65536x65536 --param bias=1",
     {"in0=", "4 GiB"}},
    {"no shape", NULL, NULL, "--param bias=1", {"in0"}},
    {"shape that is none",
     NULL,
     NULL,
     "--shape in0=1xtwo --param bias=1",
     {"in0=1xtwo", "expected"}},
    {"shape of unknown type",
     NULL,
     NULL,
     "--shape in0=1x2x4x16:f64 --param bias=1",
     {"f64"}},
    {"parameter that is none",
     NULL,
     NULL,
     SHAPE "--param bias",
     {"bias", "name=value"}},
    /* --- compiling
       ------------------------------------------------------------- */
    {"syntax error",
     NULL,
     ADD("float bias", "dst[i] = src[i] +;\n"),
     NULL,
     {"add.cl:3:18: error: expected expression"}},
    {"undeclared name",
     NULL,
     ADD("float bias", "dst[i] = source[i];\n"),
     NULL,
     {"add.cl:3:10: error: use of undeclared identifier 'source'"}},
    {"wrong arguments of a built-in",
     NULL,
     ADD("float bias", "dst[i] = clamp(src, 1, dst, 4);\n"),
     NULL,
     {"add.cl:3:10: error:"}},
    {"wrong arguments of a copy",
     NULL,
     ADD("float bias", "async_work_group_copy(dst, src, 4, 0);\n"),
     NULL,
     {"add.cl:3:1: error: no matching function", "'async_work_group_copy'"}},
    {"too few arguments of a copy",
     NULL,
     ADD("float bias", "WorkGroupDmaCreateTransaction(src, dst, 4);\n"),
     NULL,
     {"add.cl:3:1: note: WorkGroupDmaCreateTransaction(const T *src, T *dst, "
      "size_t size, event_t event); size: bytes;",
      "add.cl:3:1: note: this call does not fit: requires 4 arguments, but 3 "
      "were provided\n"}},
    {"a standard copy with memories that do not fit",
     NULL,
     ADD("float bias", "async_work_group_copy(src, dst, 4, 0);\n"),
     NULL,
     {"add.cl:3:1: note: async_work_group_copy(T *dst, const T *src, size_t n, "
      "event_t event); n: elements;",
      "does not fit: cannot pass pointer to address space '__global' as a "
      "pointer to address space '__local' in 2nd argument"}},
    {"a built-in of two types",
     NULL,
     ADD("float bias", "dst[i] = max(src[i], bias);\n"),
     NULL,
     {"add.cl:3:10: error: call to 'max' is ambiguous",
      "add.cl:3:10: note: max(T, T) or max(T, e); T: half, float or an "
      "integer, scalar or vector; e: one element of it;"}},
    {"a vector load without an offset",
     NULL,
     ADD("float bias", "dst[i] = vload8(src).s0;\n"),
     NULL,
     {"add.cl:3:10: error:", "add.cl:3:10: note: vload8(int, pointer);"}},
    {"a call of the kernel's own function",
     NULL,
     "half twice(half x) { return 2 * x; }\n" ADD(
         "float bias", "dst[i] = twice(src[i], bias);\n"),
     NULL,
     {"add.cl:4:24: error: too many arguments",
      "add.cl:1:6: note: 'twice' declared here"}},
    {"size_t argument",
     NULL,
     ADD("size_t bias", "dst[i] = src[i];\n"),
     NULL,
     {"add.cl:1:", "size_t", "kernel parameter"}},
    {"double",
     NULL,
     ADD("float bias", "double d = src[i];\ndst[i] = (half)d;\n"),
     NULL,
     {"add.cl:3:1", "error:", "double"}},
    {"recursion",
     NULL,
     "int f(int n) { return n ? n * f(n - 1) : 1; }\n" ADD(
         "float bias", "dst[i] = (half)f(i);\n"),
     NULL,
     {"add.cl", "recursive", "f"}},
    {"undefined function",
     NULL,
     "int f(int n);\n" ADD("float bias", "dst[i] = (half)f(i);\n"),
     NULL,
     {"add.cl:4", "'f'", "neither defined"}},
    {"a kernel of an included file has no line of the file that is named",
     NULL,
     "#line 7 \"beside.h\"\n" ADD("int bias", "dst[i] = src[i] + bias;\n"),
     NULL,
     {"layer.xml:7: error:", "is int in add.cl, but"}},
    {"another kernel has one",
     NULL,
     "\n\n" ADD("int bias", "dst[i] = src[i] + bias;\n"),
     NULL,
     {"layer.xml:7: error:", "is int in add.cl:3, but"}},
    {"missing include",
     NULL,
     "#include \"nothing.h\"\n" GOOD_CL,
     NULL,
     {"add.cl:1:10", "nothing.h"}},
    {"missing source",
     HEAD
     "  <Kernel entry=\"add\">\n"
     "    <Source filename=\"other.cl\"/>\n" PARAMS SRC DST BIAS END SIZES TAIL,
     NULL,
     NULL,
     {"layer.xml:", "there is no kernel file other.cl", "--source-dir"}},
    {"missing binary and source",
     HEAD "  <Kernel entry=\"add\">\n"
          "    <Source filename=\"other.bin\"/>\n" PARAMS SRC DST BIAS END SIZES
              TAIL,
     NULL,
     NULL,
     {"layer.xml:", "other.bin", "other.cl", "there is no kernel file"}},
    /* --- running
       --------------------------------------------------------------- */
    {"read out of bounds",
     NULL,
     ADD("float bias", "dst[i] =\n src[i + 600];\n"),
     NULL,
     {"add.cl:4:", "'add'", "work-group (0, 0, 0)", "read", "in0"}},
    {"write out of bounds",
     NULL,
     ADD("float bias", "if (get_group_id(1) == 2)\n  dst[i + 100000] = 1;\n"),
     NULL,
     {"add.cl:4:", "'add'", "work-group (0, 2, 0)", "write", "out0"}},
    {"write just behind",
     NULL,
     ADD("float bias", "dst[i + 32] = src[i];\n"),
     NULL,
     {"'add'", "out0"}},
    {"write just before",
     NULL,
     ADD("float bias", "dst[i - 8] = src[i];\n"),
     NULL,
     {"'add'", "out0"}},
    {"null pointer",
     NULL,
     ADD("float bias", "__global half *p = 0;\nif (bias > 0)\n p[i] = 1;\n"),
     NULL,
     {"add.cl:5:", "'add'", "write", "0x0000"}},
    {"wild pointer",
     NULL,
     ADD("float bias",
         "__global half *p = (__global half *)(size_t)(i * 64 + 4096);\n"
         "dst[i] = *p;\n"),
     NULL,
     {"add.cl:4:", "'add'", "read"}},
    {"out of bounds with items in lockstep",
     NULL,
     ADD("float bias", "dst[i] = src[i * 16 + 200] + src[i];\n"),
     NULL,
     {"add.cl:3:", "'add'", "read", "in0"}},
    {"divergent barrier",
     NULL,
     ADD("float bias", "if (get_local_id(0) < 3)\n"
                       " barrier(CLK_LOCAL_MEM_FENCE);\ndst[i] = 1;\n"),
     NULL,
     {"add.cl:4", "'add'", "work-group (0, 0, 0)", "same barrier"}},
    {"copy of empty lines",
     LOCAL("64"),
     ADD("__local half *bias",
         "WorkGroupDmaCreateStrideTransaction(src, bias, 0, 0, 8, 8, 64, 0);\n"
         "dst[i] = src[i];\n"),
     SHAPE,
     {"add.cl:3", "'add'", "zero"}},
    {"copy out of bounds",
     LOCAL("64"),
     ADD("__local half *bias",
         "async_work_group_copy(bias, src + 1000000, 4, 0);\n"
         "dst[i] = src[i];\n"),
     SHAPE,
     {"add.cl:3", "'add'", "read"}},
    {"endless, with a time limit",
     NULL,
     ADD("float bias", "while (1) dst[i] += 1;\n"),
     GOOD_ARGS " --timeout 0.3",
     {"'add'", "work-group", "0.3 s", "--timeout"}},
    {"endless, with a cycle limit",
     NULL,
     ADD("float bias", "while (1) dst[i] += 1;\n"),
     GOOD_ARGS " --max-cycles 50000",
     {"'add'", "work-group", "50000 cycles", "--max-cycles"}},
};

static const char good_files[] = "layer.xml\nadd.cl";

/* Exit statuses of cases that do not stop with 2. */
static const struct {
    const char *name;
    int status;
} statuses[] = {
    {"entity bomb", 5},
    {"external entity", 5},
    {"local_data over 100 KB", 7},
    {"arrays over 100 KB", 7},
    {"local_data that does not fit once, with DMA", 7},
    {"private arrays", 7},
    {"values kept across barriers", 7},
    {"buffers over 512 MB", 7},
    {"shape beyond 4 GiB", 7},
    {"read out of bounds", 3},
    {"write out of bounds", 3},
    {"write just behind", 3},
    {"write just before", 3},
    {"null pointer", 3},
    {"wild pointer", 3},
    {"out of bounds with items in lockstep", 3},
    {"divergent barrier", 4},
    {"copy of empty lines", 4},
    {"copy out of bounds", 3},
    {"endless, with a time limit", 7},
    {"endless, with a cycle limit", 7},
};

static int status_of(const bad_case *c)
{
    for (size_t k = 0; k < sizeof statuses / sizeof *statuses; k++)
        if (!strcmp(statuses[k].name, c->name))
            return statuses[k].status;
    return 2;
}

/* By exit status. */
static const char *const kinds[8] = {
    [3] = "vpu: kernel bug: ",
    [4] = "vpu: undefined behaviour on the device: ",
    [5] = "vpu: unsupported feature: ",
    [6] = "vpu: untested part of the model: ",
    [7] = "vpu: limit: ",
};

/* Nothing stands in front of "FILE:LINE: error: ", but the kind of the end
 * where the exit status is another than 2. */
static bool is_for_editors(const char *text)
{
    size_t n = strcspn(text, "\n");
    bool is_diagnostic = memmem(text, n, ": error: ", 9) != NULL;

    return !is_diagnostic || !strncmp(text, "layer.xml:", 10) ||
           !strncmp(text, "add.cl:", 7) || !strncmp(text, "m.xml", 5) ||
           !strncmp(text, "vpu: limit: ", 12) ||
           !strncmp(text, "vpu: unsupported feature: ", 26);
}

START_TEST(is_refused)
{
    const bad_case *c = &cases[_i];
    const char *args = c->args ? c->args : GOOD_ARGS, *left;
    terminal p;

    terminal_open(&p);
    terminal_text(&p, "layer.xml", c->xml ? c->xml : GOOD);
    terminal_text(&p, "add.cl", c->cl ? c->cl : GOOD_CL);
    terminal_run(&p,
                 arena_printf(p.arena,
                              "run %s%s --output out --trace t.pftrace "
                              "--trace-json t.json",
                              strstr(args, ".xml") ? "" : "layer.xml ", args));
    ck_assert_msg(p.status == status_of(c), "%s: exit status %d\n%s%s", c->name,
                  p.status, p.err, p.out);
    for (int k = 0; k < 8; k++)
        ck_assert_msg(!kinds[k] ||
                          !strstr(p.err, kinds[k]) == (k != status_of(c)),
                      "%s: '%s'\n%s", c->name, kinds[k], p.err);
    for (int i = 0; i < 6 && c->want[i]; i++)
        ck_assert_msg(strstr(p.err, c->want[i]) != NULL,
                      "%s: '%s' is not in the message\n%s", c->name, c->want[i],
                      p.err);
    ck_assert_msg(!strstr(p.err, "prelude.h") && !strstr(p.err, p.dir) &&
                      !strstr(p.err, "/tmp/") && !strstr(p.err, "__vpu") &&
                      !strstr(p.err, "__SIZE_TYPE__"),
                  "%s: the message speaks of the prelude or temporaries\n%s",
                  c->name, p.err);
    ck_assert_msg(is_for_editors(p.err), "%s: a place behind 'vpu: '\n%s",
                  c->name, p.err);
    ck_assert_msg(!*p.out, "%s: printed a report\n%s", c->name, p.out);
    left = terminal_files(&p, good_files);
    ck_assert_msg(!*left, "%s: left behind:\n%s", c->name, left);
    terminal_close(&p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vpu run: bad input");
    TCase *c = tcase_create("refused");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, is_refused, 0, sizeof cases / sizeof *cases);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
