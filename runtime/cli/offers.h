/* What values of options may be, for completion; see cli_option.offer. What
 * cannot be found out is left out: nobody is told of an error while typing. */
#ifndef VPU_RUNTIME_CLI_OFFERS_H
#define VPU_RUNTIME_CLI_OFFERS_H

#include "base/str.h"

/* Layers of the binding file, the first word that ends with .xml. */
void offers_layers(char *const *words, str *out);
/* Numbers of the machine description, "clk_mhz=". */
void offers_numbers(char *const *words, str *out);
/* Checkers of vpu check. */
void offers_checks(char *const *words, str *out);
/* Findings of vpu lint. */
void offers_findings(char *const *words, str *out);
/* What vpu devices lists, usable ones. */
void offers_devices(char *const *words, str *out);

#endif
