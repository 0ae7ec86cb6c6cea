/* Number readers over strtof_l and hand-written integer parsing. */
#include "runtime/config/number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/config/number_priv.h"

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void c_locale_init(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

float config_strtof(const char *text, char **end)
{
    pthread_once(&c_locale_once, c_locale_init);
    return c_locale ? strtof_l(text, end, c_locale) : strtof(text, end);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t skip_blanks(const char *text)
{
    return strspn(text, " \t\r\n\v\f");
}

size_t config_number_float(const char *text, float *out)
{
    const char *p = text + skip_blanks(text);
    const char *digits;
    char *end;
    float v;

    digits = *p == '+' || *p == '-' ? p + 1 : p;
    if (!is_digit(digits[0]) && !(digits[0] == '.' && is_digit(digits[1])))
        return 0;
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
        *out = *p == '-' ? -0.0f : 0.0f;
        return (size_t)(digits + 1 - text);
    }
    v = config_strtof(p, &end);
    *out = v;
    return (size_t)(end - text);
}

size_t config_number_int(const char *text, int32_t *out, bool *fits)
{
    const char *p = text + skip_blanks(text);
    bool minus = *p == '-';
    int64_t v = 0;

    *fits = true;
    if (*p == '+' || *p == '-')
        p++;
    if (!is_digit(*p))
        return 0;
    for (; is_digit(*p); p++) {
        v = v * 10 + (*p - '0');
        if (v > (int64_t)INT32_MAX + minus) {
            v = (int64_t)INT32_MAX + minus;
            *fits = false;
        }
    }
    *out = (int32_t)(minus ? -v : v);
    return (size_t)(p - text);
}

bool config_number_int_whole(const char *text, int32_t *out)
{
    bool fits;
    int32_t v;
    size_t n = config_number_int(text, &v, &fits);

    if (!n || text[n] || !fits)
        return false;
    *out = v;
    return true;
}

bool config_number_value(const char *text, config_value *out)
{
    config_value v = {0};
    bool fits = true;
    size_t n = config_number_int(text, &v.integer, &fits);

    if (!*text || (n && !text[n + skip_blanks(text + n)])) {
        v.too_large = !fits;
        if (!fits)
            config_number_float(text, &v.real);
        *out = v;
        return true;
    }
    v = (config_value){.is_float = true};
    n = config_number_float(text, &v.real);
    if (!n || text[n + skip_blanks(text + n)] || !isfinite(v.real))
        return false;
    *out = v;
    return true;
}
