/* strtof in the C locale, shared by the number and expression readers. */
#ifndef VPU_RUNTIME_CONFIG_NUMBER_PRIV_H
#define VPU_RUNTIME_CONFIG_NUMBER_PRIV_H

float config_strtof(const char *text, char **end);

#endif
