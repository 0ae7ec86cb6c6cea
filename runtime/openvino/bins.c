/* Kernels for the vendor's compiler. */
#include "runtime/openvino/bins.h"

#include <libxml/parser.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "sim/compiler/kernel.h"

#define MAX_FILE ((size_t)16 << 20)

typedef struct {
    const char *binding;
    arena *a;
    const openvino_config *c; /* making */
    bins *made;
    const char *folder; /* writing; NULL: making */
    vpu_error *err;
    vpu_status st;
} walk;

static vpu_status make_bin(walk *w, const char *source, bins_file *out)
{
    const char *path = file_join(w->a, file_dirname(w->a, w->binding), source);
    const kernel_source file = {.path = path};
    const kernel_compile_config cfg = {.user.no_cache = w->c->no_cache,
                                       .log = w->c->log};
    size_t length = strlen(source);
    kernel_bin made;
    char *data;
    vpu_status st;

    out->source = arena_strdup(w->a, source);
    if (length > 4 && !strcmp(source + length - 4, ".bin")) {
        st = file_read(path, MAX_FILE, w->a, &data, &out->n, w->err);
        out->bytes = (const uint8_t *)data;
        return st;
    }
    st = kernel_build_bin(&file, &cfg, w->a, &made, w->err);
    out->bytes = made.bytes;
    out->n = made.n;
    return st;
}

static bins_file *find(const bins *b, const char *source)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (!strcmp(b->list[i].source, source))
            return &b->list[i];
    return NULL;
}

static void write_bin(walk *w, xmlNode *node, const char *source)
{
    const bins_file *b = find(w->made, source);
    const char *name; /* beside the binding file, where it is looked for */

    if (!b)
        return;
    name = arena_printf(w->a, "kernel%u.bin", (unsigned)(b - w->made->list));
    w->st =
        file_write(file_join(w->a, w->folder, name), b->bytes, b->n, w->err);
    xmlSetProp(node, (const xmlChar *)"filename", (const xmlChar *)name);
}

static void visit(walk *w, xmlNode *node)
{
    xmlChar *name;

    if (node->type != XML_ELEMENT_NODE ||
        strcmp((const char *)node->name, "Source") != 0)
        return;
    name = xmlGetProp(node, (const xmlChar *)"filename");
    if (!name)
        return;
    if (w->folder) {
        write_bin(w, node, (const char *)name);
    } else if (!find(w->made, (const char *)name)) {
        size_t n = w->made->n;
        bins_file *b = arena_append(w->a, w->made->list, n, w->made->cap);

        w->made->n = (uint32_t)n;
        *b = (bins_file){0};
        w->st = make_bin(w, (const char *)name, b);
    }
    xmlFree(name);
}

static void over(walk *w, xmlNode *node, int depth)
{
    for (; node && !w->st && depth < 64; node = node->next) {
        visit(w, node);
        over(w, node->children, depth + 1);
    }
}

static xmlDoc *read_text(const char *text, size_t n, const char *path)
{
    return xmlReadMemory(text, (int)n, path, NULL,
                         XML_PARSE_NONET | XML_PARSE_NOERROR |
                             XML_PARSE_NOWARNING);
}

static bool is_layer(const xmlDoc *doc)
{
    const xmlNode *root = xmlDocGetRootElement((xmlDoc *)(uintptr_t)doc);

    return root && !strcmp((const char *)root->name, "CustomLayer");
}

/* A binding file may have several elements side by side, which is no XML until
 * something is around them. */
static xmlDoc *parse(walk *w, const char *path)
{
    char *data, *whole;
    size_t n;
    xmlDoc *doc;

    w->st = file_read(path, MAX_FILE, w->a, &data, &n, w->err);
    if (w->st)
        return NULL;
    doc = read_text(data, n, path);
    if (!doc || is_layer(doc)) {
        const char *from = data;

        if (!strncmp(from, "<?xml", 5) && strstr(from, "?>"))
            from = strstr(from, "?>") + 2;
        xmlFreeDoc(doc);
        whole = arena_printf(w->a, "<layers>%s</layers>", from);
        doc = read_text(whole, strlen(whole), path);
    }
    if (!doc)
        w->st = err_set(w->err, VPU_ERR_PARSE, "%s: is no binding file", path);
    return doc;
}

vpu_status bins_make(const openvino_config *c, arena *a, bins *out,
                     vpu_error *err)
{
    walk w = {.binding = c->custom, .a = a, .c = c, .made = out, .err = err};
    xmlDoc *doc = parse(&w, c->custom);

    if (doc)
        over(&w, xmlDocGetRootElement(doc), 0);
    xmlFreeDoc(doc);
    return w.st;
}

/* The vendor's reader takes CustomLayer elements one behind the other, and
 * nothing around them. */
static void add_layers(xmlDoc *doc, str *out)
{
    xmlBuffer *text = xmlBufferCreate();
    xmlNode *node = xmlDocGetRootElement(doc)->children;

    for (; node && text; node = node->next)
        if (node->type == XML_ELEMENT_NODE) {
            xmlNodeDump(text, doc, node, 0, 0);
            xmlBufferWriteChar(text, "\n");
        }
    if (text)
        str_add(out, xmlBufferContent(text), (size_t)xmlBufferLength(text));
    xmlBufferFree(text);
}

vpu_status bins_write(const bins *b, const char *binding, const char *folder,
                      arena *a, const char **out, vpu_error *err)
{
    walk w = {.binding = binding, .a = a, .folder = folder, .err = err};
    bins made = *b;
    xmlDoc *doc = parse(&w, binding);
    str text = {0};

    w.made = &made;
    if (!doc)
        return w.st;
    over(&w, xmlDocGetRootElement(doc), 0);
    if (!w.st) {
        *out = file_join(a, folder, "layers.xml");
        add_layers(doc, &text);
        w.st = file_write(*out, str_text(&text), text.n, err);
    }
    str_free(&text);
    xmlFreeDoc(doc);
    return w.st;
}
