/* See say.h. */
#include "runtime/calibrate/say.h"

#include <math.h>
#include <stdio.h>

#include "runtime/json/jsontext.h"

enum { TEXT = 24 };

static void number(const design_param *p, double x, char out[TEXT])
{
    snprintf(out, TEXT, design_param_is_real(p) ? "%.4g" : "%.0f", x);
}

static void interval(const fit_value *v, char out[2 * TEXT + 4])
{
    char low[TEXT], high[TEXT];

    number(v->param, v->low, low);
    number(v->param, v->high, high);
    snprintf(out, 2 * TEXT + 4, "%s..%s", low, high);
}

/* A row of the table of parameters. */
typedef struct {
    char value[TEXT], before[TEXT], range[2 * TEXT + 4];
} value_text;

static value_text text_of(const fit_value *v, const mach_desc *start)
{
    value_text x;

    number(v->param, v->value, x.value);
    number(v->param, design_param_get(v->param, start), x.before);
    interval(v, x.range);
    return x;
}

/* Of a block. */
typedef struct {
    uint32_t n, n_unexplained;
    double worst;
} block_sum;

static block_sum sum_of(const measure_result *m, const fit_result *f,
                        design_block b)
{
    block_sum s = {0};

    for (size_t i = 0; i < f->n_cases; i++) {
        if (m->cases[i].block != b)
            continue;
        s.n++;
        s.n_unexplained += !f->cases[i].explained;
        if (fabs(f->cases[i].residual) > s.worst)
            s.worst = fabs(f->cases[i].residual);
    }
    return s;
}

static void add_values(const fit_config *cfg, const fit_result *f, str *out)
{
    str_printf(out, "%-18s %10s  %-18s %-8s %10s  %s\n", "parameter", "value",
               "95 %", "unit", "before", "");
    for (size_t i = 0; i < f->n_values; i++) {
        const fit_value *v = &f->values[i];
        const value_text x = text_of(v, cfg->start);

        str_printf(out, "%-18s %10s  %-18s %-8s %10s  %s", v->param->name,
                   x.value, x.range, design_param_unit(v->param), x.before,
                   fit_verdict_name(v->verdict));
        if (*v->with)
            str_printf(out, ", only together with %s", v->with);
        str_puts(out, "\n");
    }
}

static void add_unexplained(const measure_result *m, const fit_result *f,
                            str *out)
{
    if (!f->n_unexplained)
        return;
    str_printf(out,
               "\n%zu cases are not explained: the device does something that "
               "the model does not.\n",
               f->n_unexplained);
    for (size_t i = 0; i < f->n_cases; i++)
        if (!f->cases[i].explained)
            str_printf(out,
                       "  %-22s measured %11.3f us, model %11.3f us, %+6.1f %%"
                       "  %s\n",
                       m->cases[i].name, m->times[i].seconds * 1e6,
                       f->cases[i].seconds * 1e6,
                       expm1(f->cases[i].residual) * 100, m->cases[i].about);
    str_puts(out,
             "Parameters of their blocks are in doubt, and as they were in the "
             "machine's file.\n");
}

static void add_temperature(const measure_result *m, str *out)
{
    if (m->hottest > 0)
        str_printf(out, ", at %.1f to %.1f degrees Celsius", m->coldest,
                   m->hottest);
}

void calibrate_text(const measure_result *m, const fit_config *cfg,
                    const fit_result *f, str *out)
{
    str_printf(out, "%s: %zu cases, %u times each", m->device, m->n_cases,
               m->n_times);
    add_temperature(m, out);
    str_puts(out, "\n\n");
    add_values(cfg, f, out);
    str_printf(out, "\n%-8s %6s %14s %12s\n", "block", "cases",
               "worst residual", "unexplained");
    for (int b = 0; b < DESIGN_N_BLOCKS; b++) {
        block_sum s = sum_of(m, f, (design_block)b);

        str_printf(out, "%-8s %6u %12.2f %% %12u\n",
                   design_block_name((design_block)b), s.n, s.worst * 100,
                   s.n_unexplained);
    }
    add_unexplained(m, f, out);
}

/* --- a page --------------------------------------------------------------- */

static const char style[] =
    "body{font:14px sans-serif;margin:2em;max-width:70em}"
    "table{border-collapse:collapse}td,th{padding:2px 8px;text-align:left;"
    "border-bottom:1px solid #ddd}td.n{text-align:right}"
    ".b{position:relative;width:20em;height:1em;background:#f2f2f2}"
    ".b i{position:absolute;top:0;bottom:0;background:#3a7}"
    ".b i.x{background:#c33}.v{color:#a60}.d{color:#c33}";

static void html_values(const fit_config *cfg, const fit_result *f, str *out)
{
    static const char *const classes[] = {"", "v", "d"};

    str_puts(out, "<table><tr><th>parameter<th>value<th>95 %<th>unit<th>before"
                  "<th></tr>\n");
    for (size_t i = 0; i < f->n_values; i++) {
        const fit_value *v = &f->values[i];
        const value_text x = text_of(v, cfg->start);

        str_printf(out,
                   "<tr class=\"%s\"><td>%s<td class=n>%s<td>%s<td>%s"
                   "<td class=n>%s<td>%s%s%s</tr>\n",
                   classes[v->verdict], v->param->name, x.value, x.range,
                   design_param_unit(v->param), x.before,
                   fit_verdict_name(v->verdict),
                   *v->with ? ", only together with " : "", v->with);
    }
    str_puts(out, "</table>\n");
}

/* A bar from the middle to the left or the right; all of it are 5 percent. */
static void html_bar(const fit_case *c, str *out)
{
    double half = fabs(c->residual) / 0.05 * 50;

    half = half > 50 ? 50 : half;
    str_printf(
        out, "<div class=b><i%s style=\"left:%.2f%%;width:%.2f%%\"></i></div>",
        c->explained ? "" : " class=x", c->residual < 0 ? 50 - half : 50, half);
}

static void html_cases(const measure_result *m, const fit_result *f, str *out)
{
    str_puts(out, "<table><tr><th>case<th>block<th>what<th>measured, us"
                  "<th>error<th>model, us<th>residual<th>-5 % to 5 %</tr>\n");
    for (size_t i = 0; i < f->n_cases; i++) {
        str_printf(out,
                   "<tr><td>%s<td>%s<td>%s<td class=n>%.3f<td class=n>%.2f %%"
                   "<td class=n>%.3f<td class=n>%+.2f %%<td>",
                   m->cases[i].name, design_block_name(m->cases[i].block),
                   m->cases[i].about, m->times[i].seconds * 1e6,
                   m->times[i].error * 100, f->cases[i].seconds * 1e6,
                   f->cases[i].residual * 100);
        html_bar(&f->cases[i], out);
        str_puts(out, "</tr>\n");
    }
    str_puts(out, "</table>\n");
}

void calibrate_html(const measure_result *m, const fit_config *cfg,
                    const fit_result *f, str *out)
{
    str_printf(out,
               "<!DOCTYPE html>\n<html lang=en><meta charset=utf-8>\n"
               "<title>vpu calibrate</title>\n<style>%s</style>\n<h1>",
               style);
    str_puts_markup(out, m->device);
    str_printf(out, "</h1>\n<p>%zu cases, %u times each", m->n_cases,
               m->n_times);
    add_temperature(m, out);
    str_printf(out,
               "; residuals have a root mean square of %.2f %%, %zu cases are "
               "not explained.\n",
               f->rms * 100, f->n_unexplained);
    str_puts(out, "<h2>Parameters</h2>\n");
    html_values(cfg, f, out);
    str_puts(out, "<h2>Cases</h2>\n");
    html_cases(m, f, out);
    str_puts(out, "</html>\n");
}

/* --- for programs --------------------------------------------------------- */

static json_t *json_values(const fit_config *cfg, const fit_result *f)
{
    json_t *list = json_array();

    for (size_t i = 0; i < f->n_values; i++) {
        const fit_value *v = &f->values[i];

        json_array_append_new(
            list,
            json_pack("{s:s, s:f, s:f, s:f, s:f, s:s, s:s, s:s}", "parameter",
                      v->param->name, "value", v->value, "low", v->low, "high",
                      v->high, "before", design_param_get(v->param, cfg->start),
                      "unit", design_param_unit(v->param), "verdict",
                      fit_verdict_name(v->verdict), "with", v->with));
    }
    return list;
}

json_t *calibrate_json(const measure_result *m, const fit_config *cfg,
                       const fit_result *f)
{
    json_t *cases = json_array();

    for (size_t i = 0; i < f->n_cases; i++)
        json_array_append_new(
            cases,
            json_pack("{s:s, s:s, s:f, s:f, s:i, s:f, s:f, s:b}", "case",
                      m->cases[i].name, "block",
                      design_block_name(m->cases[i].block), "measured_s",
                      m->times[i].seconds, "error", m->times[i].error, "n_used",
                      (int)m->times[i].n_used, "model_s", f->cases[i].seconds,
                      "residual", f->cases[i].residual, "explained",
                      (int)f->cases[i].explained));
    return json_pack(
        "{s:o, s:f, s:f, s:i, s:o, s:I, s:f, s:I, s:I, s:o}", "device",
        jsontext_string(m->device), "coldest", m->coldest, "hottest",
        m->hottest, "times", (int)m->n_times, "parameters", json_values(cfg, f),
        "unexplained", (json_int_t)f->n_unexplained, "rms", f->rms, "runs",
        (json_int_t)f->runs, "replays", (json_int_t)f->replays, "cases", cases);
}

void calibrate_machine(const measure_result *m, const fit_result *f, arena *a,
                       str *out)
{
    mach_desc d = f->machine;

    d.machine = arena_printf(a, "%s, calibrated", d.machine);
    for (size_t i = 0; i < f->n_values; i++) {
        const fit_value *v = &f->values[i];
        char range[2 * TEXT + 4];

        if (v->verdict == FIT_DOUBT)
            continue;
        interval(v, range);
        mach_desc_note(
            &d, v->param->name,
            &(const mach_param_note){
                .source = arena_printf(
                    a, "vpu calibrate: %s%zu cases, %u times each, on %s",
                    v->verdict == FIT_VAGUE ? "not determined, goes with the "
                                              "others; "
                                            : "",
                    m->n_cases, m->n_times, m->device),
                .status =
                    v->verdict == FIT_FOUND ? MACH_CALIBRATED : MACH_ASSUMED,
                .interval = arena_strdup(a, range)},
            a);
    }
    mach_desc_write(&d, out);
}
