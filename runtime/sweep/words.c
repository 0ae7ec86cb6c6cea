/* A manifest's text, line by line. */
#include "runtime/sweep/words.h"

#include <string.h>

#include "base/str.h"

void sweep_reader_open(sweep_reader *r, const file_bytes *text)
{
    const char *data = text->data;

    *r = (sweep_reader){
        .path = text->path, .at = data, .end = data + text->n, .line = 1};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* To the next word of the line, or to its end. */
static void skip_blanks(sweep_reader *r)
{
    while (r->at < r->end) {
        if (r->at + 1 < r->end && r->at[0] == '\\' && r->at[1] == '\n') {
            r->at += 2;
            r->line++;
        } else if (is_blank(*r->at)) {
            r->at++;
        } else if (*r->at == '#') {
            while (r->at < r->end && *r->at != '\n')
                r->at++;
        } else {
            return;
        }
    }
}

/* The word at r->at, which is no blank. */
static vpu_status read_word(sweep_reader *r, str *word, vpu_error *err)
{
    uint32_t opened = r->line;
    char quote = 0;

    for (; r->at < r->end; r->at++) {
        char c = *r->at;

        if (!c)
            return err_at(err, VPU_ERR_PARSE, r->path, r->line, 0,
                          "a byte of value 0: this is not a text file");
        if (!quote && (is_blank(c) || c == '\n'))
            return VPU_OK;
        r->line += c == '\n';
        if (c == '\\' && r->at + 1 < r->end && quote != '\'') {
            if (*++r->at != '\n')
                str_add(word, r->at, 1);
            r->line += *r->at == '\n';
        } else if (quote && c == quote) {
            quote = 0;
        } else if (!quote && (c == '"' || c == '\'')) {
            quote = c;
            opened = r->line;
        } else {
            str_add(word, &c, 1);
        }
    }
    return quote ? err_at(err, VPU_ERR_PARSE, r->path, opened, 0,
                          "a quote %c is opened and never closed", quote)
                 : VPU_OK;
}

static vpu_status read_words(sweep_reader *r, arena *a, sweep_words *out,
                             size_t *cap, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (skip_blanks(r); !st && r->at < r->end && *r->at != '\n';
         skip_blanks(r)) {
        str word = {.arena = a};

        st = read_word(r, &word, err);
        *arena_append(a, out->items, out->n, *cap) =
            arena_strdup(a, str_text(&word));
    }
    return st;
}

vpu_status sweep_read_line(sweep_reader *r, arena *a, sweep_words *out,
                           vpu_error *err)
{
    size_t cap = 0;
    vpu_status st = VPU_OK;

    *out = (sweep_words){0};
    while (r->at < r->end && !out->n && !st) {
        r->opened = r->line;
        st = read_words(r, a, out, &cap, err);
        if (!st && r->at < r->end) { /* at a line's end */
            r->at++;
            r->line++;
        }
    }
    *arena_append(a, out->items, out->n, cap) = NULL;
    out->n--;
    return st;
}
