/* Writes the layer's files into a folder. */
#include "tests/support/add_layer.h"

#include <check.h>
#include <string.h>

const char add_layer_cl[] =
    "__kernel void add(__global const half *src, __global half *dst,\n"
    "                  float bias)\n{\n"
    "    int i = (get_global_id(2) * get_global_size(1) + get_global_id(1)) *\n"
    "            get_global_size(0) + get_global_id(0);\n"
    "    dst[i] = src[i] + (half)bias;\n}\n";

void add_layer_put(terminal *p)
{
    terminal_text(p, "layer.xml", ADD_LAYER);
    terminal_text(p, "add.cl", add_layer_cl);
}

const char *add_layer_of(terminal *p, const char *source)
{
    const char *body = strstr(ADD_BODY("", ADD_SIZES), "    <Parameters>");

    return arena_printf(p->arena,
                        ADD_HEAD "  <Kernel entry=\"add\">\n"
                                 "    <Source filename=\"%s\"/>\n"
                                 "%s</CustomLayer>\n",
                        source, body);
}

void add_layer_files(terminal *p, const char *more)
{
    const char *left = terminal_files(
        p, arena_printf(p->arena, "layer.xml\nadd.cl\n%s", more));

    ck_assert_msg(!*left, "unexpected files:\n%s", left);
}
