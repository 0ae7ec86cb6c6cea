/* Words of a preprocessed kernel's text. */
#ifndef VPU_RUNTIME_BACKEND_OPENCL_WORDS_H
#define VPU_RUNTIME_BACKEND_OPENCL_WORDS_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>

static inline bool opencl_is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static inline size_t opencl_name_length(const char *p)
{
    size_t n = 0;

    while (opencl_is_name_char(p[n]))
        n++;
    return n;
}

/* Of a string or a character that begins at p, quotes included. */
static inline size_t opencl_literal_length(const char *p)
{
    size_t n = 1;

    while (p[n] && p[n] != *p && p[n] != '\n')
        n += p[n] == '\\' && p[n + 1] ? 2 : 1;
    return n + (p[n] == *p);
}

#endif
