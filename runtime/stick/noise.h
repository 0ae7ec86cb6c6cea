/* Measured times scatter; those of a simulator do not. A virtual stick that
 * stands for a real one in a measurement tells times with noise. */
#ifndef VPU_RUNTIME_STICK_NOISE_H
#define VPU_RUNTIME_STICK_NOISE_H

#include <stdbool.h>
#include <stdint.h>

/* Each time is multiplied by 1 + percent / 100 * g, where g is normally
 * distributed, of a deviation of 1, and cut at four of them. percent 0: none.
 * The same seed gives the same factors. */
typedef struct {
    double percent; /* 0 to 20 */
    uint64_t seed;
} stick_noise;

/* "PERCENT" or "PERCENT:SEED". False: it is neither, or percent is out of
 * range; *out stays. */
bool stick_noise_parse(const char *text, stick_noise *out);

/* The factor of time number n. */
double stick_noise_factor(const stick_noise *x, uint64_t n);

#endif
