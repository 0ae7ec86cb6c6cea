/* The program, its files, its tables. */
#include "tests/runtime/sweep/sweep_rig.h"

#include <check.h>
#include <string.h>

void sweep_expect(terminal *p, const char *command, int status,
                  const char *words)
{
    terminal_run(p, command);
    ck_assert_msg(p->status == status &&
                      (strstr(p->err, words) || strstr(p->out, words)),
                  "%s: %d: %s%s", command, p->status, p->err, p->out);
}

const char *sweep_file(terminal *p, const char *name)
{
    size_t n;
    const char *bytes = terminal_bytes(p, name, &n);

    return arena_strndup(p->arena, bytes, n);
}

const char *sweep_cell(terminal *p, const char *csv, int row,
                       const char *column)
{
    const char *line = csv, *head = csv;
    int n = 0;

    for (; strncmp(head, column, strlen(column)) ||
           !strchr(",\n", head[strlen(column)]);
         n++) {
        head = strpbrk(head, ",\n");
        ck_assert_msg(*head == ',', "no column %s in %s", column, csv);
        head++;
    }
    for (int i = 0; i <= row; i++)
        line = strchr(line, '\n') + 1;
    for (; n; n--)
        line = strchr(line, ',') + 1;
    return arena_strndup(p->arena, line, strcspn(line, ",\n"));
}
