/* report_table REPORT.json...: reports of single-stage layers side by side, one
 * column each; speed-ups are against the first. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_COLUMNS = 6, COLUMN = 14 };

typedef struct {
    json_t *report, *stage;
} column;

static column columns[MAX_COLUMNS];
static int n_columns;

static double number(const column *c, const char *key)
{
    return json_number_value(json_object_get(c->stage, key));
}

static void cell(const char *text)
{
    printf(" %*s", COLUMN, text);
}

/* One cell per column; fmt has one %, for a double. */
static void row(const char *label, const char *fmt,
                double (*value)(const column *c))
{
    char text[64];

    printf("  %-28s", label);
    for (int i = 0; i < n_columns; i++) {
        snprintf(text, sizeof text, fmt, value(&columns[i]));
        cell(text);
    }
    printf("\n");
}

static double cycles(const column *c)
{
    return number(c, "cycles");
}
static double ms(const column *c)
{
    return number(c, "ms");
}
static double utilisation(const column *c)
{
    return number(c, "utilisation") * 100;
}
static double dma_mib(const column *c)
{
    return (number(c, "dma_in_bytes") + number(c, "dma_out_bytes")) / (1 << 20);
}
static double load_mib(const column *c)
{
    return number(c, "load_bytes") / (1 << 20);
}
static double store_mib(const column *c)
{
    return number(c, "store_bytes") / (1 << 20);
}
static double local_kib(const column *c)
{
    return number(c, "local_bytes") / (1 << 10);
}
static double speed_up(const column *c)
{
    return cycles(&columns[0]) / cycles(c);
}

static int load(const char *path)
{
    column *c = &columns[n_columns];
    json_error_t e;

    c->report = json_load_file(path, 0, &e);
    if (!c->report) {
        fprintf(stderr, "%s:%d: %s\n", path, e.line, e.text);
        return 2;
    }
    c->stage = json_array_get(json_object_get(c->report, "stages"), 0);
    if (!c->stage) {
        fprintf(stderr, "%s: no stages\n", path);
        return 2;
    }
    n_columns++;
    return 0;
}

static void print_table(void)
{
    char label[40];

    printf("  %-28s", "");
    for (int i = 0; i < n_columns; i++)
        cell(json_string_value(json_object_get(columns[i].report, "layer")));
    printf("\n");
    row("cycles", "%.0f", cycles);
    snprintf(label, sizeof label, "time at %.0f MHz",
             json_number_value(json_object_get(columns[0].report, "clk_mhz")));
    row(label, "%.3f ms", ms);
    row("SHAVE utilisation", "%.1f %%", utilisation);
    row("moved by DMA, both ways", "%.1f MiB", dma_mib);
    row("moved by loads", "%.1f MiB", load_mib);
    row("moved by stores", "%.1f MiB", store_mib);
    row("local memory per work-group", "%.1f KiB", local_kib);
    row("speed-up", "%.1f", speed_up);
}

int main(int argc, char **argv)
{
    int rc = 0;

    if (argc < 2 || argc > 1 + MAX_COLUMNS) {
        fprintf(stderr, "usage: report_table REPORT.json... (up to %d)\n",
                MAX_COLUMNS);
        return 2;
    }
    for (int i = 1; i < argc && !rc; i++)
        rc = load(argv[i]);
    if (!rc)
        print_table();
    for (int i = 0; i < n_columns; i++)
        json_decref(columns[i].report);
    return rc;
}
