/* Machine descriptions as JSON. */
#include "runtime/report/machine.h"

static json_t *parameter(const mach_param_note *note, const char *name,
                         json_t *value, const char *unit, const char *about)
{
    return json_pack("{s:s,s:o,s:s,s:s,s:s,s:s}", "name", name, "value", value,
                     "unit", unit, "status", mach_status_name(note->status),
                     "about", about, "source", note->source);
}

static json_t *modes_of(const mach_desc *d)
{
    json_t *list = json_array();

#define MODE(name, max, standard, about)                                     \
    json_array_append_new(list,                                              \
                          json_pack("{s:s,s:I,s:s}", "name", #name, "value", \
                                    (json_int_t)d->name, "about", about));
#include "sim/machine/params.def"
    return list;
}

static json_t *fast_ways(void)
{
    json_t *list = json_array();

#define WAY(name, bit, about)                                             \
    json_array_append_new(list, json_pack("{s:s,s:i,s:s}", "name", #name, \
                                          "bit", (int)(bit), "about", about));
#include "sim/machine/fast.def"
    return list;
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
#define MODE(name, max, standard, about) note++;
#include "sim/machine/params.def"
    return json_pack("{s:s,s:o,s:o,s:o}", "machine", d->machine, "parameters",
                     list, "modes", modes_of(d), "fast_cache_bits",
                     fast_ways());
}
