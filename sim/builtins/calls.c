/* The table of runtime calls, and the way from a symbol to its row. */
#include "sim/builtins/calls.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef enum {
    KIND_NONE,
    KIND_ID,
    KIND_RUNTIME,
    KIND_DIVISION,
    KIND_VALUE,
    KIND_ROUTINE,
    KIND_CHECK,
    KIND_DEBUG,
    KIND_STAND_IN
} kind;

typedef struct {
    const char *symbol;
    kind kind;
    call_effect effect;
    bool numbered, is_long;
    uint8_t words;                  /* RUNTIME */
    bool of_floats, half;           /* VALUE, ROUTINE */
    uint8_t word, dimension;        /* ID */
    const builtin_routine *routine; /* ROUTINE */
    void *code;                     /* VALUE */
    const char *standard;           /* STAND_IN */
    bool plain;                     /* likewise */
} row;

/* Of routines.def, in the order of builtin_routines. */
enum {
#define ROUTINE(name, n_args, cost16, cost32, about) ROUTINE_##name,
#define ROUTINE_D(name, n_args, cost16, cost32, about) ROUTINE_##name,
#define ROUTINE_TI(name, cost16, cost32, about) ROUTINE_##name,
#define ROUTINE_IT(name, n_args, cost16, cost32, about) ROUTINE_##name,
#include "sim/builtins/routines.def"
    N_ROUTINES
};

/* The effects of the RUNTIME column who. */
#define COLLECTIVE CALL_MEETS
#define EACH CALL_ANYTHING
#define END CALL_ENDS

enum { SHORT, LONG };
enum { ONE, NUMBERED };
enum { MANGLED, PLAIN, TYPE };

#define TAKES_INTEGERS(form) \
    ((form) == CALL_I64_TO_FLOAT || (form) == CALL_U64_TO_FLOAT)
#define CODE(f) ((void *)(uintptr_t)(f))
#define ID_ROW(name, w, d)                              \
    [CALL_##name##d] = {.symbol = CALL_PREFIX #name #d, \
                        .kind = KIND_ID,                \
                        .effect = CALL_VALUE,           \
                        .word = SIM_ID_##w,             \
                        .dimension = (d)},
#define ROUTINE_ROW(name, suffix, is_half)                        \
    [CALL_##name##suffix] = {.symbol = CALL_PREFIX #name #suffix, \
                             .kind = KIND_ROUTINE,                \
                             .effect = CALL_VALUE,                \
                             .of_floats = true,                   \
                             .half = (is_half),                   \
                             .routine = &builtin_routines[ROUTINE_##name]},

static const row rows[CALL_N] = {
#define ID(name, word, beyond) \
    ID_ROW(name, word, 0) ID_ROW(name, word, 1) ID_ROW(name, word, 2)
#define RUNTIME(name, who, form, hook, result, n, time, cost) \
    [CALL_##name] = {.symbol = CALL_PREFIX #name,             \
                     .kind = KIND_RUNTIME,                    \
                     .effect = (who),                         \
                     .is_long = (time),                       \
                     .words = (n)},
#define DIVISION(name, opcode)                    \
    [CALL_##name] = {.symbol = CALL_PREFIX #name, \
                     .kind = KIND_DIVISION,       \
                     .effect = CALL_VALUE},
#define VALUE(name, form, function, cost)                       \
    [CALL_##name] = {.symbol = CALL_PREFIX #name,               \
                     .kind = KIND_VALUE,                        \
                     .effect = CALL_VALUE,                      \
                     .of_floats = !TAKES_INTEGERS(CALL_##form), \
                     .code = CODE(function)},
#define ROUTINE_CALLS(name) \
    ROUTINE_ROW(name, _f16, true) ROUTINE_ROW(name, _f32, false)
#define CHECK(name, text, many, does, code)      \
    [CALL_##name] = {.symbol = CALL_PREFIX text, \
                     .kind = KIND_CHECK,         \
                     .effect = CALL_##does,      \
                     .numbered = (many)},
#define DEBUG(name) \
    [CALL_##name] = {.symbol = CALL_PREFIX #name, .kind = KIND_DEBUG},
#define STAND_IN(name, other, form)               \
    [CALL_##name] = {.symbol = CALL_PREFIX #name, \
                     .kind = KIND_STAND_IN,       \
                     .standard = (other),         \
                     .plain = (form) == PLAIN},
#include "sim/builtins/calls.def"
};

#define RUNTIME(name, who, form, hook, result, words, time, cost) \
    _Static_assert((words) <= CALL_MAX_WORDS, #name);
#include "sim/builtins/calls.def"

/* --- from a symbol ------------------------------------------------------- */

/* Rows by the hash of their symbols: a power of two, at least twice as many
 * places as rows. */
enum { PLACES = 512 };
_Static_assert(2 * CALL_N <= PLACES, "make the table of symbols larger");

static uint16_t places[PLACES]; /* CALL_NONE: free */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t place_of(const char *s, size_t n)
{
    uint32_t h = 2166136261u;

    for (size_t k = 0; k < n; k++)
        h = (h ^ (unsigned char)s[k]) * 16777619u;
    return (h ^ h >> 16) & (PLACES - 1);
}

static void fill_places(void)
{
    for (uint32_t id = CALL_NONE + 1; id < CALL_N; id++) {
        uint32_t at = place_of(rows[id].symbol, strlen(rows[id].symbol));

        while (places[at])
            at = (at + 1) & (PLACES - 1);
        places[at] = (uint16_t)id;
    }
}

bool call_is_reserved(const char *symbol)
{
    return !strncmp(symbol, CALL_PREFIX, sizeof CALL_PREFIX - 1);
}

/* Length of the symbol without the number that follows its last point. */
static size_t without_number(const char *symbol)
{
    size_t n = strlen(symbol), k = n;

    while (k && symbol[k - 1] >= '0' && symbol[k - 1] <= '9')
        k--;
    return k && symbol[k - 1] == '.' ? k : n;
}

call_id call_find(const char *symbol)
{
    size_t n;

    if (!call_is_reserved(symbol))
        return CALL_NONE;
    pthread_once(&once, fill_places);
    n = without_number(symbol);
    for (uint32_t at = place_of(symbol, n); places[at];
         at = (at + 1) & (PLACES - 1)) {
        const row *r = &rows[places[at]];

        if (!strncmp(r->symbol, symbol, n) && !r->symbol[n])
            return r->numbered == (symbol[n] != '\0') ? (call_id)places[at]
                                                      : CALL_NONE;
    }
    return CALL_NONE;
}

/* --- what a call is like ------------------------------------------------- */

const char *call_symbol(call_id id)
{
    return rows[id].symbol;
}

bool call_is_numbered(call_id id)
{
    return rows[id].numbered;
}

call_effect call_effect_of(call_id id)
{
    return rows[id].effect;
}

bool call_is_collective(call_id id)
{
    return rows[id].effect == CALL_MEETS;
}

bool call_is_for_each(call_id id)
{
    return rows[id].kind == KIND_RUNTIME && rows[id].effect == CALL_ANYTHING;
}

bool call_ends(call_id id)
{
    return rows[id].effect == CALL_ENDS;
}

bool call_is_long(call_id id)
{
    return rows[id].is_long;
}

unsigned call_words(call_id id)
{
    return rows[id].words;
}

bool call_needs_defined(call_id id)
{
    return call_is_collective(id) || id == CALL_check_block;
}

bool call_is_id(call_id id)
{
    return rows[id].kind == KIND_ID;
}

unsigned call_word(call_id id)
{
    return rows[id].word;
}

unsigned call_dimension(call_id id)
{
    return rows[id].dimension;
}

int call_item_dimension(call_id id)
{
    return call_is_id(id) && rows[id].word == SIM_ID_ITEM ? rows[id].dimension
                                                          : -1;
}

bool call_is_check(call_id id)
{
    return rows[id].kind == KIND_CHECK && id != CALL_undef;
}

bool call_is_access(call_id id)
{
    return id >= CALL_check_as0 && id <= CALL_check_as3;
}

bool call_takes_floats(call_id id)
{
    return rows[id].of_floats;
}

const builtin_routine *call_routine(call_id id, bool *half)
{
    *half = rows[id].half;
    return rows[id].routine;
}

void *call_code(call_id id)
{
    const row *r = &rows[id];

    if (r->kind != KIND_ROUTINE)
        return r->code;
    return r->half ? r->routine->fn16 : r->routine->fn32;
}

const char *call_standard_name(call_id id)
{
    return rows[id].standard;
}

bool call_is_plain(call_id id)
{
    return rows[id].plain;
}

/* --- which call ---------------------------------------------------------- */

static const struct {
    const char *name;
    call_id first;
    uint32_t beyond;
} ids[] = {
#define ID(name, word, beyond) {#name, CALL_##name##0, beyond},
#include "sim/builtins/calls.def"
};

enum { N_ID_ROWS = sizeof ids / sizeof *ids };

call_id call_of_id(const char *name, unsigned dimension)
{
    for (size_t k = 0; k < N_ID_ROWS; k++)
        if (!strcmp(ids[k].name, name) && dimension < 3)
            return ids[k].first + dimension;
    return CALL_NONE;
}

uint32_t call_id_beyond(const char *name)
{
    for (size_t k = 0; k < N_ID_ROWS; k++)
        if (!strcmp(ids[k].name, name))
            return ids[k].beyond;
    return 0;
}

call_id call_named(const char *name)
{
    char symbol[64];

    snprintf(symbol, sizeof symbol, CALL_PREFIX "%s", name);
    return call_find(symbol);
}

call_id call_of_routine(const char *name, bool half)
{
    char full[48];

    snprintf(full, sizeof full, "%s%s", name, half ? "_f16" : "_f32");
    return call_named(full);
}

call_id call_half_directed(char direction)
{
    switch (direction) {
    case 'z':
        return CALL_half_z;
    case 'p':
        return CALL_half_p;
    case 'n':
        return CALL_half_n;
    default:
        return CALL_NONE;
    }
}

call_id call_float_directed(bool is_signed, char direction)
{
    switch (direction) {
    case 'z':
        return is_signed ? CALL_float_iz : CALL_float_uz;
    case 'p':
        return is_signed ? CALL_float_ip : CALL_float_up;
    case 'n':
        return is_signed ? CALL_float_in : CALL_float_un;
    default:
        return CALL_NONE;
    }
}

call_id call_of_space(unsigned space)
{
    static const call_id of[] = {CALL_check_as0, CALL_check_as1, CALL_check_as2,
                                 CALL_check_as3};

    return of[space & 3];
}
