/* What users want to know of launches and memory besides what OpenCL tells:
 * checkers, launches as files. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "runtime/icd/icd.h"

/* With the device's lock. */
static struct {
    uint64_t dumped;
    bool no_folder; /* it cannot be made, which was told */
} state;

/* --- what is written ------------------------------------------------------ */

static cl_mem root_of(cl_mem m)
{
    return m->parent ? m->parent : m;
}

bool icd_watch_new_memory(cl_mem m)
{
    if (icd_setting()->check)
        m->written = calloc(m->bytes / 8 + 1, 1);
    return m->written || !icd_setting()->check;
}

void icd_watch_written(cl_mem m, size_t offset, size_t bytes)
{
    uint8_t *bits = root_of(m)->written;

    offset += m->origin;
    for (size_t i = 0; bits && i < bytes; i++)
        bits[(offset + i) / 8] |= (uint8_t)(1u << (offset + i) % 8);
}

static bool is_written(cl_mem m, size_t at)
{
    const uint8_t *bits = root_of(m)->written;

    at += m->origin;
    return !bits || bits[at / 8] >> at % 8 & 1;
}

void icd_watch_copied(cl_mem from, size_t from_offset, cl_mem to,
                      size_t to_offset, size_t bytes)
{
    for (size_t i = 0; root_of(to)->written && i < bytes; i++)
        if (is_written(from, from_offset + i))
            icd_watch_written(to, to_offset + i, 1);
}

/* An error that no kernel's line has, to standard error and to the list. */
static void tell_finding(const char *check, const char *kernel, char *message)
{
    char json[768];

    fprintf(stderr, "vpusim: error: %s [%s]\n", message, check);
    for (char *p = message; *p; p++)
        if (*p == '\n')
            *p = ';';
    snprintf(json, sizeof json,
             "{\"check\":\"%s\",\"level\":\"error\",\"kernel\":\"%.63s\","
             "\"message\":\"%.511s\"}\n",
             check, kernel, message);
    icd_record_findings(1, json);
}

/* Told once for a buffer: what follows of it is most likely the same. */
void icd_watch_read(cl_mem m, size_t offset, size_t bytes)
{
    cl_mem root = root_of(m);
    size_t first = 0, n = 0;
    char text[400];

    if (!root->written || root->told)
        return;
    for (size_t i = 0; i < bytes; i++)
        if (!is_written(m, offset + i) && !n++)
            first = offset + i;
    if (!n)
        return;
    root->told = true;
    snprintf(text, sizeof text,
             "the program reads %zu bytes that nothing has written, the "
             "first is byte %zu of a buffer of %zu bytes%s%.200s%s",
             n, first, m->bytes, *root->writer ? ", which kernel '" : "",
             root->writer, *root->writer ? "' writes" : "");
    tell_finding("unwritten", root->writer, text);
}

/* --- a launch ------------------------------------------------------------- */

static bool is_wanted(const core_launch *l)
{
    const icd_settings *s = icd_setting();

    for (uint32_t i = 0; i < s->n_kernels; i++)
        if (!strcmp(s->kernels[i], l->kernel->name))
            return true;
    return !s->n_kernels;
}

static bool meets(const core_object *o, uint64_t address, uint64_t bytes)
{
    return o->address < address + bytes && address < o->address + o->bytes;
}

/* Two parts of a buffer that are not the same make it one object. */
static void add_memory(cl_mem m, const char *name, core_object *list,
                       uint32_t *n)
{
    cl_mem root = root_of(m);

    for (uint32_t i = 0; i < *n; i++) {
        core_object *o = &list[i];

        if (o->address == m->address && o->bytes == m->bytes)
            return;
        if (!meets(o, root->address, root->bytes))
            continue;
        o->address = root->address;
        o->bytes = root->bytes;
        o->written = root->written;
        return;
    }
    list[(*n)++] = (core_object){
        .name = name,
        .address = m->address,
        .bytes = m->bytes,
        .written = root->written ? root->written + m->origin / 8 : NULL};
}

/* The objects of the arguments; room for as many as the kernel has. */
static uint32_t find_objects(const icd_command *c, core_object *list)
{
    const sim_kernel *k = c->data.kernel.kernel->sim;
    uint32_t n = 0, next = 0;

    for (uint32_t i = 0; i < k->n_args; i++) {
        const sim_arg *p = &k->args[i];
        uint32_t at = c->data.kernel.values[i].as.address;

        if (p->object_bytes)
            list[n++] = (core_object){
                .name = p->name, .address = at, .bytes = p->object_bytes};
        else if (next < c->data.kernel.n_memories &&
                 p->space != SIM_ARG_SCALAR && p->space != SIM_ARG_LOCAL &&
                 c->data.kernel.memories[next]->address == at)
            add_memory(c->data.kernel.memories[next++], p->name, list, &n);
    }
    return n;
}

static void check(const icd_command *c, const core_launch *l)
{
    const icd_settings *s = icd_setting();
    const core_checking how = {*s->check ? s->check : NULL, s->suppress,
                               s->n_random > 0, s->n_random};
    core_findings found = {0};
    vpu_error err;

    if (icd_device.core->check(icd_device.machine, l, &how, &found, &err))
        icd_tell(c->queue->context, err.msg);
    if (found.text.n)
        fputs(str_text(&found.text), stderr);
    icd_record_findings(found.n, str_text(&found.json));
    str_free(&found.text);
    str_free(&found.json);
}

/* What a launch is refused for is a finding, too. */
void icd_watch_refused(cl_context context, cl_kernel k, bool sizes,
                       const char *text)
{
    char message[512];

    snprintf(message, sizeof message, "kernel '%.60s': %.400s", k->sim->name,
             text);
    if (icd_setting()->check)
        tell_finding(sizes ? "group-size" : "local-memory", k->sim->name,
                     message);
    else
        icd_tell(context, message);
}

/* The launch that is dumped: a folder beside its file, for what it writes. */
static void dump_path(const core_launch *l, const char *end, char *to, size_t n)
{
    snprintf(to, n, "%s/%04" PRIu64 "-%.100s%s", icd_setting()->dump,
             state.dumped, l->kernel->name, end);
}

static void dump(const icd_command *c, const core_launch *l)
{
    const char *folder = icd_setting()->dump;
    char path[4096];
    vpu_error err;
    vpu_status st = VPU_OK;

    if (state.no_folder)
        return;
    if (!state.dumped)
        st = file_mkdirs(folder, &err);
    state.no_folder = st != VPU_OK;
    state.dumped++;
    dump_path(l, ".vpugraph", path, sizeof path);
    if (!st)
        st = icd_device.core->dump(icd_device.machine, l, path, &err);
    if (st)
        icd_tell(c->queue->context, err.msg);
}

/* What is not looked at may write all it can. */
static void assume_written(const icd_command *c, bool checked)
{
    const sim_kernel *k = c->data.kernel.kernel->sim;

    for (uint32_t i = 0; i < c->data.kernel.n_memories; i++) {
        cl_mem m = c->data.kernel.memories[i];
        bool writes = false;

        for (uint32_t a = 0; a < k->n_args; a++)
            writes |= core_writes(&k->args[a]) &&
                      c->data.kernel.values[a].as.address == m->address;
        if (!writes || !root_of(m)->written)
            continue;
        snprintf(root_of(m)->writer, sizeof m->writer, "%s", k->name);
        if (!checked)
            icd_watch_written(m, 0, m->bytes);
    }
}

void icd_watch_launch(icd_command *c)
{
    const icd_settings *s = icd_setting();
    core_launch *l = &c->data.kernel.launch;
    bool wanted = is_wanted(l);
    core_object *list;

    l->counted = s->profile || s->json;
    l->profiled = s->profile && wanted;
    l->start_cycle = (icd_device.clock * icd_desc()->clk_mhz + 999) / 1000;
    if (!s->check && !s->dump)
        return;
    list = calloc(l->kernel->n_args + 1, sizeof *list);
    if (!list) {
        icd_tell(c->queue->context, "no memory to look at a launch");
        return;
    }
    l->objects = list;
    l->n_objects = find_objects(c, list);
    if (s->dump && wanted)
        dump(c, l);
    if (s->check && wanted)
        check(c, l);
    if (s->check)
        assume_written(c, wanted);
}

static void dump_results(const icd_command *c, const core_launch *l)
{
    char path[4096];
    vpu_error err;

    dump_path(l, "", path, sizeof path);
    if (!state.no_folder &&
        icd_device.core->results(icd_device.machine, l, path, &err))
        icd_tell(c->queue->context, err.msg);
}

void icd_watch_ran(icd_command *c, bool well)
{
    core_launch *l = &c->data.kernel.launch;

    if (well && l->objects && icd_setting()->dump && is_wanted(l))
        dump_results(c, l);
    free((void *)l->objects);
    l->objects = NULL;
    l->n_objects = 0;
}
