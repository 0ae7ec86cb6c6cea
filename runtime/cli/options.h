/* Options of subcommands as rows: one row gives the parser, the help, the
 * backends that take the option, completion and the manual page. */
#ifndef VPU_RUNTIME_CLI_OPTIONS_H
#define VPU_RUNTIME_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

enum { OPTION_MAX_LIST = 256 };

/* The values of an option that may be given several times. */
typedef struct {
    const char *items[OPTION_MAX_LIST];
    uint32_t n;
} options_list;

/* What a value may be, and what the field at `at` of the command's structure
 * becomes. */
typedef enum {
    OPTION_HEADING, /* no option: `help` is a line above those that follow */
    OPTION_FLAG,    /* bool: true */
    OPTION_TEXT,    /* const char *: any text */
    OPTION_NAME,    /* const char *: any text but the empty one */
    OPTION_COUNT,   /* uint32_t: 1 .. most */
    OPTION_NUMBER,  /* uint64_t */
    OPTION_SECONDS, /* double: 0 .. 1e9 */
    OPTION_CHOICE,  /* int or enum: which word of `value`, "one|two|three" */
    OPTION_LIST,    /* options_list: one more */
    OPTION_OTHER    /* what `take` makes of it */
} options_kind;

typedef struct {
    /* "shaves", given as --shaves; "-D", a letter; "-cl-…", any word that
     * begins with -cl-, which is the value itself. */
    const char *name;
    /* How help shows the value: "FILE"; "[=N]" when it may be left out; NULL:
     * the option has none. */
    const char *value;
    options_kind kind;
    size_t at; /* offsetof; not of HEADING */
    /* OTHER: to is what stands at `at`, the whole structure without one. False:
     * the option does not take this value (NULL: none given). */
    bool (*take)(void *to, const char *value, arena *a);
    uint32_t most;  /* COUNT: 0 = UINT32_MAX */
    uint32_t needs; /* extras (backend_extra) of the backend, 0 = none */
    /* What it does, in lower case, without a point at the end. Lines are broken
     * where there is room; "\n" breaks where it stands. NULL: not shown, an
     * older spelling of another option. */
    const char *help;
    /* Appends what the value may be to *out, a line each: "word\tabout"; for
     * completion. words: the command line so far, NULL at the end; some may be
     * wrong. NULL: the words between the bars of `value`, else files. */
    void (*offer)(char *const *words, str *out);
} cli_option;

/* A table, and the structure it fills: tables of several structures make the
 * options of a command. */
typedef struct {
    const cli_option *rows;
    size_t n_rows;
    void *fields;
} options_table;

/* The options that were given and need extras, for messages. */
typedef struct {
    const cli_option *given[OPTION_MAX_LIST];
    uint32_t n;
} options_needs;

/* A command line. argv and words end with NULL. */
typedef struct {
    int argc; /* in: as main gets them, the command's name first */
    char **argv;
    int n_words;         /* out: words that are no option, */
    char **words;        /* in their order */
    options_needs needs; /* out */
} options_line;

/* Takes the words behind the command's name, and changes their order in argv. A
 * value stands behind "=" or is the next word; of an option of one letter it
 * may follow at once. Names may be cut short as long as they are clear. "--"
 * ends the options. Of rows with the same name the first counts.
 *
 * VPU_ERR_INVALID  an unknown or unclear option, a value that is missing, too
 *                  much, or not taken; the message is for people */
vpu_status options_parse(const options_table *tables, size_t n_tables,
                         options_line *line, arena *a, vpu_error *err);

/* Appends the table as help shows it: names at the left, texts in a column. */
void options_help(const cli_option *rows, size_t n, str *out);
/* The same without texts: headings, and below them the options in lines. *at:
 * the column that the last line has reached, 0 at first. */
void options_names(const cli_option *rows, size_t n, size_t *at, str *out);

/* Words of a command line that an option of these rows takes, itself included:
 * 1 or 2; 0 when word, spelled in full, is none of them. */
int options_words(const cli_option *rows, size_t n, const char *word);

/* A number from 1 to UINT32_MAX. False: text is none; *out stays. */
bool options_count(const char *text, uint32_t *out);

#endif
