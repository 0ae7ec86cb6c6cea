/* XML into a plain tree with exact positions, over libxml2.
 *
 * Binding files are not XML documents: they may have several root elements with
 * comments and stray text between them. The reader therefore accepts any
 * sequence of elements. It takes a byte-order mark and an XML declaration
 * (UTF-8 or ASCII) at the start, and refuses document type and entity
 * declarations, so nothing outside the text is ever read and nothing expands.
 * Prints nothing; the tree lives in the arena passed in. */
#ifndef VPU_RUNTIME_CONFIG_XML_H
#define VPU_RUNTIME_CONFIG_XML_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"

enum {
    CONFIG_XML_MAX_DEPTH = 64,
    CONFIG_XML_MAX_ATTRS = 1024, /* of one element */
    CONFIG_XML_MAX_TEXT = 256    /* bytes of text kept per element */
};

typedef struct {
    const char *name, *value; /* value: references resolved, may be "" */
    uint32_t line, col;       /* of the value (of the element if unknown) */
} config_xml_attr;

typedef struct config_xml_node {
    const char *name; /* with its prefix, if it has one */
    uint32_t line, col;
    const config_xml_attr *attrs; /* document order, names unique */
    size_t n_attrs;
    struct config_xml_node *first, *next; /* children, siblings in order */
    const char *text; /* leading CONFIG_XML_MAX_TEXT bytes of the element's own
                         text without surrounding blanks; "" if none */
} config_xml_node;

typedef struct {
    size_t max_bytes;
    size_t max_elements;
} config_xml_limits;

/* Parse a text.
 *
 * *roots  the first root, the others through next; NULL when there is none
 *
 * VPU_ERR_PARSE        not well-formed
 * VPU_ERR_UNSUPPORTED  a DOCTYPE or entity declaration, UTF-16, or an XML
 *                      declaration with another encoding
 * VPU_ERR_LIMIT        too long, too deep, too many elements or attributes */
vpu_status config_xml_parse(const file_bytes *text,
                            const config_xml_limits *limits, arena *a,
                            config_xml_node **roots, vpu_error *err);

/* The attribute, NULL when there is none. Exact case. */
const config_xml_attr *config_xml_attr_get(const config_xml_node *node,
                                           const char *name);
/* The first child element of that name, NULL when there is none. */
const config_xml_node *config_xml_child(const config_xml_node *node,
                                        const char *name);

#endif
