/* A layer that adds a number to each element, for tests of the vpu program. */
#ifndef VPU_TESTS_SUPPORT_ADD_LAYER_H
#define VPU_TESTS_SUPPORT_ADD_LAYER_H

#include "tests/support/terminal.h"

#define ADD_HEAD "<CustomLayer name=\"Add\" type=\"MVCL\" version=\"1\">\n"
#define ADD_BODY(source, sizes)                                           \
    "  <Kernel entry=\"add\">\n"                                          \
    "    <Source filename=\"" source "\"/>\n"                             \
    "    <Parameters>\n"                                                  \
    "      <Tensor arg-name=\"src\" type=\"input\" port-index=\"0\"/>\n"  \
    "      <Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\"/>\n" \
    "      <Scalar arg-name=\"bias\" type=\"float\" source=\"bias\"/>\n"  \
    "    </Parameters>\n"                                                 \
    "    <WorkSizes dim=\"input,0\" " sizes "/>\n"                        \
    "  </Kernel>\n"
#define ADD_SIZES "global=\"X,Y,F\" local=\"X,1,1\""
#define ADD_LAYER ADD_HEAD ADD_BODY("add.cl", ADD_SIZES) "</CustomLayer>\n"

#define ADD_RUN "run layer.xml --shape in0=1x2x4x16 --param bias=1 "
#define ADD_OUT "--output out --trace t.pftrace --trace-json t.json "

extern const char add_layer_cl[];

/* Writes layer.xml and add.cl, which it names. */
void add_layer_put(terminal *p);

/* The same layer with another source. */
const char *add_layer_of(terminal *p, const char *source);

/* Asserts that there is nothing beside these two, temporaries included, and the
 * files given, one a line. */
void add_layer_files(terminal *p, const char *more);

#endif
