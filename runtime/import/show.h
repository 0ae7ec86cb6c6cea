/* A blob as a table and as a picture: what its stages read and write. */
#ifndef VPU_RUNTIME_IMPORT_SHOW_H
#define VPU_RUNTIME_IMPORT_SHOW_H

#include "runtime/blob/blob.h"

/* Header, inputs and outputs, then a line a stage: its number, its type, where
 * it runs, what it reads and writes, what hardware operations are. Shapes are
 * as the IR has them, the outermost dim first. Of a stage that is not run it is
 * not known which tensors are read and which written: all stand as read. */
void import_table(const blob *b, arena *a, str *out);

/* The same as a graph in the language of Graphviz: stages are nodes, an edge
 * leads from the stage that wrote some bytes last to one that reads them. */
void import_dot(const blob *b, arena *a, str *out);

#endif
