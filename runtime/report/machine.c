/* Machine descriptions as JSON. */
#include "runtime/report/machine.h"

static json_t *parameter(const mach_param_note *note, const char *name,
                         json_t *value, const char *unit, const char *about)
{
    return json_pack("{s:s,s:o,s:s,s:s,s:s,s:s}", "name", name, "value", value,
                     "unit", unit, "status", mach_status_name(note->status),
                     "about", about, "source", note->source);
}

json_t *report_machine_json(const mach_desc *d)
{
    const mach_param_note *note = d->notes;
    json_t *list = json_array();

#define INT(name, min, max, unit, about)                                     \
    json_array_append_new(list, parameter(note++, #name,                     \
                                          json_integer((json_int_t)d->name), \
                                          unit, about));
#define REAL(name, min, max, unit, about) \
    json_array_append_new(                \
        list, parameter(note++, #name, json_real(d->name), unit, about));
#include "sim/machine/params.def"
    return json_pack("{s:s,s:o}", "machine", d->machine, "parameters", list);
}
