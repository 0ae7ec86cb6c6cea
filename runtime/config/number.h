/* Numbers as binding files write them, in the C locale whatever the process
 * uses. The rules are those of the vendor's compiler; they differ between
 * places, hence several readers. */
#ifndef VPU_RUNTIME_CONFIG_NUMBER_H
#define VPU_RUNTIME_CONFIG_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value of an expression: int32 or float32, never both. */
typedef struct {
    bool is_float;
    bool too_large;  /* an integer, but not of 32 bits: real is near it */
    int32_t integer; /* when neither */
    float real;      /* when one of them */
} config_value;

/* Characters of the longest decimal floating-point number at text (leading
 * blanks and a sign allowed; no hexadecimal, no "inf", no "nan"), 0 when there
 * is none. *out is rounded to float, infinite when out of range. */
size_t config_number_float(const char *text, float *out);

/* Characters of the decimal integer at text (leading blanks and a sign
 * allowed), 0 when there is none. *fits: it has 32 bits; else *out is the
 * nearest that has. */
size_t config_number_int(const char *text, int32_t *out, bool *fits);

/* A whole attribute as an integer: as config_number_int, but false unless it
 * takes all of text and fits. */
bool config_number_int_whole(const char *text, int32_t *out);

/* A layer parameter as a value: int, or too_large, when an integer takes all of
 * text, else float when a finite number does (blanks may follow); false
 * otherwise. An empty text counts as the integer 0. */
bool config_number_value(const char *text, config_value *out);

#endif
