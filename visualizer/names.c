/* Texts kept once, with the class of each. */
#include "visualizer/names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "visualizer/timeline.h"

enum { MAX_NAMES = 1 << 24, MAX_BYTES = 256 << 20 };

static const char *const class_names[TL_N_CLASSES] = {
    [TL_ISSUE] = "issue",
    [TL_L2] = "L2 stall",
    [TL_DDR] = "DDR stall",
    [TL_STORE] = "store stall",
    [TL_DMA_SETUP] = "DMA setup",
    [TL_DMA_WAIT] = "DMA wait",
    [TL_DISPATCH] = "dispatch",
    [TL_IDLE] = "idle",
    [TL_IN] = "in",
    [TL_OUT] = "out"};

const char *tl_class_name(tl_class c)
{
    return class_names[c] ? class_names[c] : "other";
}

/* One of n classes, the same in each run. */
static uint32_t any_class(const char *text, size_t len, uint32_t n)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return (h ^ h >> 15) % n;
}

static tl_class classify(const char *text, size_t n)
{
    /* A group's phases are drawn in shades of their own. */
    static const char *const phases[] = {"pre", "comp", "post"};

    for (int c = 0; c < TL_OTHER; c++)
        if (strlen(class_names[c]) == n && !memcmp(class_names[c], text, n))
            return (tl_class)c;
    for (int k = 0; k < 3; k++)
        if (strlen(phases[k]) == n && !memcmp(phases[k], text, n))
            return (tl_class)(TL_OTHER + k);
    return (tl_class)(TL_OTHER + any_class(text, n, TL_N_CLASSES - TL_OTHER));
}

tl_names *tl_names_create(void)
{
    tl_names *n = calloc(1, sizeof *n);

    if (!n)
        return NULL;
    n->cap = 256;
    n->text = calloc(n->cap, sizeof *n->text);
    n->class = calloc(n->cap, 1);
    if (!slots_init(&n->slots) || !n->text || !n->class ||
        !(n->text[0] = strdup(""))) {
        tl_names_free(n);
        return NULL;
    }
    n->class[0] = TL_OTHER;
    n->n = 1;
    return n;
}

void tl_names_free(tl_names *n)
{
    if (!n)
        return;
    for (uint32_t i = 0; i < n->n; i++)
        free(n->text[i]);
    free(n->text);
    free(n->class);
    slots_free(&n->slots);
    free(n);
}

static uint64_t hash_of(const slots *s, const void *user, uint32_t i)
{
    const tl_names *n = user;

    return slots_hash_bytes(s, n->text[i], strlen(n->text[i]));
}

static bool grow(tl_names *n)
{
    if (n->n == n->cap) {
        char **text = realloc(n->text, 2 * n->cap * sizeof *text);
        uint8_t *class = text ? realloc(n->class, 2 * n->cap) : NULL;

        if (text)
            n->text = text;
        if (!class)
            return false;
        n->class = class;
        n->cap *= 2;
    }
    return slots_reserve(&n->slots, n->n - 1, hash_of, n);
}

static inline bool is_text(const tl_names *n, uint32_t i, const char *text,
                           size_t len)
{
    return !strncmp(n->text[i], text, len) && !n->text[i][len];
}

/* Where its number is, or would be. */
static uint32_t *slot_of(const tl_names *n, const char *text, size_t len)
{
    for (uint64_t at = slots_hash_bytes(&n->slots, text, len);; at++) {
        uint32_t *slot = slots_at(&n->slots, at);

        if (!*slot || is_text(n, *slot, text, len))
            return slot;
    }
}

/* One that was not asked for recently. */
static uint32_t find(tl_names *n, const char *text, size_t len)
{
    uint32_t known = *slot_of(n, text, len);

    if (known)
        return known;
    if (n->n == MAX_NAMES || n->bytes + len > MAX_BYTES || !grow(n))
        return 0;
    if (!(n->text[n->n] = strndup(text, len)))
        return 0;
    n->class[n->n] = (uint8_t)classify(text, len);
    n->bytes += len + 1;
    *slot_of(n, text, len) = n->n;
    return n->n++;
}

uint32_t tl_names_add(tl_names *n, const char *text, size_t len)
{
    uint32_t *recent;

    if (!len)
        return 0;
    recent = &n->recent[((unsigned char)text[0] ^ len) % TL_RECENT_NAMES];
    if (!is_text(n, *recent, text, len))
        *recent = find(n, text, len);
    return *recent;
}
