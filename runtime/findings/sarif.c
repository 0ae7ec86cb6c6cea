/* SARIF 2.1.0, as far as findings need it. */
#include "runtime/findings/sarif.h"

#include "runtime/json/jsontext.h"

json_t *sarif_message(const char *s)
{
    return json_pack("{s:o}", "text", jsontext_string(s));
}

json_t *sarif_location(const char *path, uint32_t line, uint32_t col)
{
    json_t *j = json_pack("{s:{s:{s:o}}}", "physicalLocation",
                          "artifactLocation", "uri", jsontext_string(path));
    json_t *region;

    if (!line)
        return j;
    region = json_pack("{s:i}", "startLine", (int)line);
    if (col)
        json_object_set_new(region, "startColumn", json_integer(col));
    json_object_set_new(json_object_get(j, "physicalLocation"), "region",
                        region);
    return j;
}

json_t *sarif_rule(const char *id, const char *summary, const char *help)
{
    return json_pack("{s:s,s:o,s:o}", "id", id, "shortDescription",
                     sarif_message(summary), "help", sarif_message(help));
}

void sarif_write(const char *tool, json_t *rules, json_t *results, str *out)
{
    json_t *j =
        json_pack("{s:s,s:s,s:[{s:{s:{s:s,s:s,s:o}},s:o}]}", "version", "2.1.0",
                  "$schema", "https://json.schemastore.org/sarif-2.1.0.json",
                  "runs", "tool", "driver", "name", tool, "version",
                  VPU_VERSION, "rules", rules, "results", results);

    jsontext_add(out, j, JSONTEXT_EXACT);
}
