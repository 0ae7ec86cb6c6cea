/* Networks through a package that behaves as the vendor's does: a Python module
 * that takes a prepared blob for what it compiled, draws its picture of it, and
 * computes the layers with plain loops. The real one is make check-openvino's.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "tests/kernels/program.h"
#include "tests/support/small_net.h"

static arena *a;
static char *dir;

/* openvino.inference_engine, and ngraph and numpy as far as they are used. */
static const char engine[] =
    "import os\n"
    "class Info:\n"
    "    precision = 'FP32'\n"
    "class Net:\n"
    "    input_info = {'data': Info()}\n"
    "    outputs = {'prob': Info()}\n"
    "class IECore:\n"
    "    cache = ''\n"
    "    def read_network(self, ir):\n"
    "        if 'broken' in open(ir).read():\n"
    "            raise RuntimeError('the IR is broken')\n"
    "        return Net()\n"
    "    def set_config(self, words, device):\n"
    "        IECore.cache = words['CACHE_DIR']\n"
    "    def load_network(self, net, device, words):\n"
    "        here = os.path.dirname(os.path.abspath(__file__))\n"
    "        with open(here + '/count', 'a') as f:\n"
    "            f.write('x')\n"
    "        if os.path.exists(here + '/refuses'):\n"
    "            raise RuntimeError('Unsupported layer Foo')\n"
    "        with open(here + '/net.blob', 'rb') as f:\n"
    "            data = f.read()\n"
    "        with open(IECore.cache + '/1.blob', 'wb') as f:\n"
    "            f.write(data)\n"
    "        with open(words['MYRIAD_DUMP_INTERNAL_GRAPH_FILE_NAME'], 'w') as f:\n"
    "            f.write(open(here + '/net.dot').read())\n"
    "        raise RuntimeError('no device')\n";

static const char picture[] =
    "digraph g {\n"
    "    data_0x1 [\n"
    "        shape=box\n"
    "        label=\"Data relu\\lusage = Intermediate\\lorigData = [\\l    name "
    "= relu\\l]\\l\"\n"
    "    ];\n"
    "    stage_0x1 [\n"
    "        shape=ellipse\n"
    "        label=\"[0 / 1] Stage conv@soh=01/01\\ltype = "
    "MyriadXHwOp\\lorigLayer = [\\l    name = conv\\l    type = "
    "Convolution\\l]\\l\"\n"
    "    ];\n"
    "    stage_0x2 [\n"
    "        shape=ellipse\n"
    "        label=\"[1 / 2] Stage prob@copy-for-0x7ffd3\\ltype = "
    "SoftMax\\lorigLayer = [\\l    name = prob\\l    type = SoftMax\\l]\\l\"\n"
    "    ];\n"
    "    stage_0x1 -> data_0x1 [\n"
    "    ];\n"
    "}\n";

static const char *in(const char *name)
{
    return file_join(a, dir, name);
}

static void put(const char *name, const char *text)
{
    ck_assert_int_eq(file_write(in(name), text, strlen(text), NULL), VPU_OK);
}

static void setup(void)
{
    const uint8_t *data;
    size_t n;
    blob b;

    a = arena_create(0);
    dir = program_temp_dir(a);
    setenv("XDG_CACHE_HOME", in("cache"), 1);
    unsetenv("VPU_OPENVINO");
    mkdir(in("packages"), 0777);
    mkdir(in("packages/openvino"), 0777);
    put("packages/openvino/__init__.py", "");
    put("packages/openvino/libmyriadPlugin.so", "");
    put("packages/openvino/inference_engine.py", engine);
    put("packages/openvino/net.dot", picture);
    small_net(a, 1, &b);
    small_bytes(&b, a, &data, &n);
    ck_assert_int_eq(
        file_write(in("packages/openvino/net.blob"), data, n, NULL), VPU_OK);
    put("net.xml", "<?xml version=\"1.0\"?>\n<!-- <no> -->\n"
                   "<net name=\"x\" version=\"10\"></net>\n");
}

static void teardown(void)
{
    program_remove_dir(dir);
    arena_destroy(a);
}

static const char *said(const char *name)
{
    size_t n;

    return program_file(a, dir, name, &n);
}

static size_t calls(void)
{
    size_t n = 0;

    program_file(a, dir, "packages/openvino/count", &n);
    return n;
}

static int run(const char *network, const char *package)
{
    program_args p;

    program_args_init(&p, a, "run", in(network), NULL);
    if (package) {
        program_args_add(&p, "--openvino");
        program_args_add(&p, "%s", in(package));
    }
    return program_run(&p, dir);
}

/* Stages have the compiler's names, without addresses; the second time nothing
 * is compiled; another network is. */
START_TEST(a_network_is_compiled_once)
{
    ck_assert_msg(run("net.xml", "packages") == 0, "%s", said("stderr"));
    ck_assert_ptr_nonnull(
        strstr(said("stdout"), "conv@soh=01/01: MyriadXHwOp"));
    ck_assert_ptr_nonnull(strstr(said("stdout"), "prob@copy-for: SoftMax"));
    ck_assert_uint_eq(calls(), 1);
    ck_assert_int_eq(run("net.xml", "packages"), 0);
    ck_assert_uint_eq(calls(), 1);
    put("net.xml", "<net name=\"y\" version=\"10\"></net>\n");
    setenv("VPU_OPENVINO", in("packages"), 1);
    ck_assert_int_eq(run("net.xml", NULL), 0);
    ck_assert_uint_eq(calls(), 2);
}
END_TEST

START_TEST(what_can_go_wrong)
{
    program_args p;

    ck_assert_int_eq(run("net.xml", "nowhere"), 5);
    ck_assert_ptr_nonnull(strstr(said("stderr"), "pip install openvino"));
    mkdir(in("empty"), 0777);
    ck_assert_int_eq(run("net.xml", "empty"), 5);
    ck_assert_ptr_nonnull(strstr(said("stderr"), "no package openvino"));
    put("packages/openvino/refuses", "");
    ck_assert_int_ne(run("net.xml", "packages"), 0);
    ck_assert_ptr_nonnull(strstr(said("stderr"), "Unsupported layer Foo"));
    remove(in("packages/openvino/refuses"));
    put("net.xml", "<net>broken</net>");
    ck_assert_int_ne(run("net.xml", "packages"), 0);
    ck_assert_ptr_nonnull(strstr(said("stderr"), "the IR is broken"));
    remove(in("packages/openvino/libmyriadPlugin.so"));
    put("net.xml", "<net>z</net>");
    ck_assert_int_eq(run("net.xml", "packages"), 5);
    ck_assert_ptr_nonnull(strstr(said("stderr"), "has no MYRIAD plug-in"));
    remove(in("packages/openvino/inference_engine.py"));
    ck_assert_int_eq(run("net.xml", "packages"), 5);
    ck_assert_ptr_nonnull(strstr(said("stderr"), "no package openvino of"));
    program_args_init(&p, a, "run", in("net.xml"), "--custom", in("no.xml"),
                      "--openvino", in("packages"), NULL);
    ck_assert_int_ne(program_run(&p, dir), 0);
    ck_assert_ptr_nonnull(strstr(said("stderr"), "no.xml"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("openvino");
    TCase *t = tcase_create("openvino");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_network_is_compiled_once);
    tcase_add_test(t, what_can_go_wrong);
    tcase_set_timeout(t, 120);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
