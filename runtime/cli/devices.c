/* vpu devices: what there is to run on. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "runtime/backend/backend.h"
#include "runtime/cli/cli.h"

static void put_memory(str *o, uint64_t bytes)
{
    if (bytes >= 10ull << 30)
        str_printf(o, ", %.1f GiB", (double)bytes / (1 << 30));
    else if (bytes)
        str_printf(o, ", %.1f MiB", (double)bytes / (1 << 20));
}

static void put_text(const backend_ops *ops, const backend_device *d, str *o)
{
    str_printf(o, "%-12s ", d->id);
    if (!d->usable) {
        str_printf(o, "not usable%s%s: %s\n", d->name ? ": " : "",
                   d->name ? d->name : "", d->why);
        return;
    }
    str_printf(o, "%s\n%-12s %s; version %s", d->name, "", ops->about,
               d->version);
    put_memory(o, d->memory_bytes);
    str_puts(o, d->half ? "; half\n" : "; no half: promoted to float\n");
}

static json_t *text_or_null(const char *s)
{
    return s ? json_string(s) : json_null();
}

static json_t *device_json(const backend_ops *ops, const backend_device *d)
{
    json_t *o = json_object();

    json_object_set_new(o, "id", json_string(d->id));
    json_object_set_new(o, "backend", json_string(ops->name));
    json_object_set_new(o, "usable", json_boolean(d->usable));
    json_object_set_new(o, "name", text_or_null(d->name));
    json_object_set_new(o, "version", text_or_null(d->version));
    json_object_set_new(o, "memory_bytes",
                        d->memory_bytes
                            ? json_integer((json_int_t)d->memory_bytes)
                            : json_null());
    json_object_set_new(o, "half", json_boolean(d->half));
    json_object_set_new(o, "why", text_or_null(d->why));
    return o;
}

static vpu_status list(arena *a, str *text, json_t *devices, vpu_error *err)
{
    for (int i = 0; backend_all[i]; i++) {
        backend_device *found;
        uint32_t n;
        vpu_status st = backend_all[i]->probe(a, &found, &n, err);

        if (st)
            return st;
        for (uint32_t k = 0; k < n; k++) {
            put_text(backend_all[i], &found[k], text);
            json_array_append_new(devices,
                                  device_json(backend_all[i], &found[k]));
        }
    }
    return VPU_OK;
}

typedef struct {
    bool json;
} device_options;

static const cli_option rows[] = {
    {"json", NULL, OPTION_FLAG, offsetof(device_options, json),
     .help = "one JSON object on standard output"}};
static const cli_options own_options = CLI_OPTIONS(rows);
static const cli_table tables[] = {{&own_options, 0}};

static int show(bool as_json, arena *a)
{
    json_t *o = json_object(), *devices = json_array();
    vpu_error err = {0};
    str text = {0};
    int rc = CLI_OK;

    json_object_set_new(o, "devices", devices);
    if (list(a, &text, devices, &err)) {
        rc = cli_fail(&err);
    } else if (as_json) {
        cli_put_json(json_incref(o), JSONTEXT_EXACT);
    } else {
        fputs(str_text(&text), stdout);
    }
    json_decref(o);
    str_free(&text);
    return rc;
}

static int devices_main(int argc, char **argv)
{
    arena *a = arena_create(0);
    device_options o = {.json = false};
    options_line line = {.argc = argc, .argv = argv};
    int rc = cli_parse(&cli_devices, &o, &line, a);

    if (!rc && line.n_words)
        rc = cli_usage(&cli_devices, "unexpected '%s'", line.words[0]);
    if (!rc)
        rc = show(o.json, a);
    arena_destroy(a);
    return rc;
}

const cli_command cli_devices = {
    .name = "devices",
    .summary = "list what layers can run on",
    .head =
        "usage: vpu devices [--json]\n\n"
        "Lists what each backend finds: id for vpu run --backend, name, version,\n"
        "memory, whether it computes in half (else halves are promoted to float),\n"
        "and why something cannot be used.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail = "\n"
            "Example:\n"
            "  vpu devices\n",
    .main = devices_main};
