/* Commands: reading, finding, doing. */
#include <stdlib.h>
#include <string.h>

#include "runtime/debug/session.h"

typedef enum { STAY, GO, AGAIN } outcome;

static void say(dbg_session *s, const char *text)
{
    str_printf(&s->buf, "%s\n", text);
}

/* --- going on ------------------------------------------------------------ */

/* "" is 1. */
static bool count(dbg_session *s, const char *text, uint64_t most,
                  uint64_t *out)
{
    unsigned long long n = 1;

    if (*text && (!str_to_u64(text, &n) || !n || n > most)) {
        str_printf(&s->buf, "'%s' is no number from 1 to %llu\n", text,
                   (unsigned long long)most);
        return false;
    }
    *out = n;
    return true;
}

static dbg_goal goal_here(const dbg_session *s, dbg_goal_mode mode,
                          dbg_goal_want want)
{
    dbg_goal g = {.mode = mode,
                  .want = want,
                  .points = true,
                  .item = s->cur,
                  .group = s->group,
                  .count = 1,
                  .target = s->pos,
                  .origin = s->pos};

    if (s->place == AT_EVENT && s->site)
        g.depth = s->site->depth;
    if (s->place == AT_END)
        g.target = g.origin = (dbg_pos){.launch = UINT32_MAX};
    return g;
}

static outcome forward(dbg_session *s, dbg_goal_want want, const char *arg)
{
    uint64_t n;

    if (s->place == AT_END) {
        say(s, "the run has ended: run begins it again, back goes back");
        return STAY;
    }
    if (!count(s, arg, UINT32_MAX, &n))
        return STAY;
    s->goal = goal_here(s, GO_FORWARD,
                        s->place == AT_START && want != WANT_NOTHING ? WANT_ANY
                                                                     : want);
    s->goal.count = n;
    return GO;
}

static outcome backward(dbg_session *s, dbg_goal_want want, const char *arg)
{
    uint64_t n;

    if (s->place == AT_START) {
        say(s, "the run has not begun");
        return STAY;
    }
    if (!count(s, arg, MAX_BACK, &n))
        return STAY;
    s->goal = goal_here(s, GO_SEARCH, want);
    s->goal.count = n;
    return AGAIN;
}

static outcome do_run(dbg_session *s, char *arg)
{
    (void)arg;
    s->goal = goal_here(s, GO_FORWARD, WANT_NOTHING);
    return s->place == AT_START ? GO : AGAIN;
}

static outcome do_continue(dbg_session *s, char *arg)
{
    return forward(s, WANT_NOTHING, arg);
}

static outcome do_step(dbg_session *s, char *arg)
{
    return forward(s, s->cfg->bundles ? WANT_LINE : WANT_STEP, arg);
}

static outcome do_next(dbg_session *s, char *arg)
{
    return forward(s, s->cfg->bundles ? WANT_LINE : WANT_NEXT, arg);
}

static outcome do_bundle(dbg_session *s, char *arg)
{
    if (!s->cfg->bundles) {
        say(s, "bundles are stepped through under vpu debug --bundles");
        return STAY;
    }
    return forward(s, WANT_ANY, arg);
}

static outcome do_back(dbg_session *s, char *arg)
{
    dbg_goal_want want =
        s->cfg->bundles || s->place == AT_END ? WANT_ANY : WANT_ITEM_ANY;
    outcome r = backward(s, want, arg);

    s->goal.points = false;
    s->goal.one_group = s->place == AT_EVENT;
    s->goal.none = s->cfg->bundles ? "this is the group's first bundle"
                                   : "this is the item's first line";
    return r;
}

static outcome do_reverse_continue(dbg_session *s, char *arg)
{
    outcome r = backward(s, WANT_NOTHING, arg);

    s->goal.none = "no breakpoint or watch before";
    return r;
}

/* "X,Y,Z"; missing ones are 0. */
static bool triple(const char *text, uint32_t out[3])
{
    const char *p = text;

    memset(out, 0, 3 * sizeof *out);
    for (int d = 0; d < 3; d++) {
        char *end;
        unsigned long v;

        if (*p < '0' || *p > '9')
            return false;
        v = strtoul(p, &end, 10);
        if (v > UINT32_MAX)
            return false;
        out[d] = (uint32_t)v;
        p = end + strspn(end, " ");
        if (!*p)
            return true;
        if (*p++ != ',')
            return false;
        p += strspn(p, " ");
    }
    return false;
}

static outcome do_group(dbg_session *s, char *arg)
{
    uint32_t at[3], n[3];

    dbg_session_groups(s, n);
    if (!triple(arg, at) || at[0] >= n[0] || at[1] >= n[1] || at[2] >= n[2]) {
        str_printf(&s->buf,
                   "'%s' is no work-group of %s: X,Y,Z below %u,%u,%u\n", arg,
                   dbg_session_launch(s)->name, n[0], n[1], n[2]);
        return STAY;
    }
    s->goal = goal_here(s, GO_FORWARD, WANT_GROUP);
    s->goal.points = false;
    s->goal.group = ((uint64_t)at[2] * n[1] + at[1]) * n[0] + at[0];
    s->goal.origin.launch = s->pos.launch;
    return s->place == AT_START ? GO : AGAIN;
}

static outcome do_item(dbg_session *s, char *arg)
{
    const graph_launch *l = dbg_session_launch(s);
    const dbg_item *it = &s->items[s->cur];
    uint32_t at[3];

    if (s->place != AT_EVENT || s->cfg->bundles) {
        say(s, "there is no item here");
        return STAY;
    }
    if (!triple(arg, at) || at[0] >= l->local[0] || at[1] >= l->local[1] ||
        at[2] >= l->local[2]) {
        str_printf(&s->buf, "'%s' is no item: X,Y,Z below %u,%u,%u\n", arg,
                   l->local[0], l->local[1], l->local[2]);
        return STAY;
    }
    s->goal = goal_here(s, GO_SEARCH, WANT_ITEM);
    s->goal.points = false;
    s->goal.one_group = true;
    s->goal.item = (at[2] * l->local[1] + at[1]) * l->local[0] + at[0];
    s->goal.line = s->site->line;
    s->goal.hits = s->site->line < it->n_hits ? it->hits[s->site->line] : 0;
    s->goal.target.event = UINT64_MAX;
    s->goal.none = "that item does not come to this line so often";
    return AGAIN;
}

/* --- looking ------------------------------------------------------------- */

static outcome do_break(dbg_session *s, char *arg)
{
    points_add_break(s, arg);
    return STAY;
}

static outcome do_watch(dbg_session *s, char *arg)
{
    points_add_watch(s, arg);
    return STAY;
}

static outcome do_delete(dbg_session *s, char *arg)
{
    points_delete(s, arg);
    return STAY;
}

static outcome do_points(dbg_session *s, char *arg)
{
    (void)arg;
    points_list(s);
    return STAY;
}

static outcome do_where(dbg_session *s, char *arg)
{
    (void)arg;
    look_where(s);
    return STAY;
}

static outcome do_print(dbg_session *s, char *arg)
{
    dbg_value v;
    vpu_error err;

    if (!*arg) {
        say(s, "print what?");
    } else if (look_evaluate(s, arg, NULL, &v, &err)) {
        str_printf(&s->buf, "error: %s\n", err.msg);
    } else {
        str_printf(&s->buf, "%s = ", arg);
        look_show(s, &v);
        say(s, "");
    }
    return STAY;
}

static outcome do_locals(dbg_session *s, char *arg)
{
    (void)arg;
    look_locals(s);
    return STAY;
}

static outcome do_list(dbg_session *s, char *arg)
{
    const graph_launch *l = dbg_session_launch(s);
    const char *file = s->list_file ? s->list_file : l->sources[0];
    unsigned long long line = s->list_line ? s->list_line : 1;

    if (*arg && (!str_to_u64(arg, &line) || !line || line > UINT32_MAX - 64))
        str_printf(&s->buf, "'%s' is no line\n", arg);
    else
        look_list(s, file, (uint32_t)line);
    return STAY;
}

static outcome do_help(dbg_session *s, char *arg);

static outcome do_quit(dbg_session *s, char *arg)
{
    (void)arg;
    s->quit = true;
    return AGAIN;
}

/* --- the table ----------------------------------------------------------- */

static const struct {
    const char *name, *shorter, *args, *about;
    outcome (*run)(dbg_session *s, char *arg);
} commands[] = {
#define C(name, shorter, args, about) {#name, #shorter, args, about, do_##name},
#include "runtime/debug/commands.def"
#undef C
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

/* The name as it is typed: '-' for '_'. */
static bool is_named(const char *word, const char *name)
{
    for (; *word && *name; word++, name++)
        if (*word != *name && !(*word == '-' && *name == '_'))
            return false;
    return !*word && !*name;
}

static outcome do_help(dbg_session *s, char *arg)
{
    (void)arg;
    for (int k = 0; k < N_COMMANDS; k++) {
        char name[64];
        int n = snprintf(name, sizeof name, "%s %s", commands[k].name,
                         commands[k].args);

        for (char *p = name; *p && *p != ' '; p++)
            *p = *p == '_' ? '-' : *p;
        str_printf(&s->buf, "%-4s %s%*s %s\n", commands[k].shorter, name,
                   n < 24 ? 24 - n : 0, "", commands[k].about);
    }
    say(s, "An empty line does the last command that moved once more.");
    return STAY;
}

static outcome do_line(dbg_session *s, char *line)
{
    char *word, *arg;
    size_t n;

    line += strspn(line, " \t");
    n = strlen(line);
    while (n && strchr(" \t\r\n", line[n - 1]))
        line[--n] = 0;
    if (!*line || *line == '#')
        return STAY;
    word = line;
    arg = line + strcspn(line, " \t");
    if (*arg)
        *arg++ = 0;
    arg += strspn(arg, " \t");
    for (int k = 0; k < N_COMMANDS; k++)
        if (is_named(word, commands[k].name) ||
            !strcmp(word, commands[k].shorter))
            return commands[k].run(s, arg);
    str_printf(&s->buf, "there is no command '%.60s': help lists them\n", word);
    return STAY;
}

/* --- reading ------------------------------------------------------------- */

/* The next line into s->line; false: there is none any more. */
static bool read_line(dbg_session *s)
{
    FILE *f;
    size_t n;

    while (s->in_at < s->cfg->n_in) {
        f = s->cfg->in[s->in_at];
        if (s->cfg->prompt && s->in_at + 1 == s->cfg->n_in) {
            fputs("(vpu) ", s->cfg->out);
            fflush(s->cfg->out);
        }
        if (fgets(s->line, sizeof s->line, f)) {
            n = strlen(s->line);
            if (n + 1 == sizeof s->line && s->line[n - 1] != '\n') {
                int c;

                while ((c = fgetc(f)) != EOF && c != '\n')
                    ;
                say(s, "that line is too long");
                s->line[0] = '#';
            }
            return true;
        }
        s->in_at++;
    }
    return false;
}

bool dbg_command_loop(dbg_session *s)
{
    for (;;) {
        arena_mark m = arena_save(s->scratch);
        outcome r = AGAIN;

        if (!read_line(s))
            s->quit = true;
        else {
            bool empty = s->line[strspn(s->line, " \t\r\n")] == 0;

            if (empty)
                memcpy(s->line, s->last, sizeof s->line);
            else
                memcpy(s->last, s->line, sizeof s->last);
            r = do_line(s, s->line);
            if (r == STAY)
                s->last[0] = 0;
        }
        arena_restore(s->scratch, m);
        dbg_session_flush(s);
        if (r == GO)
            return true;
        if (r == AGAIN)
            return false;
    }
}

/* --- for fuzzing --------------------------------------------------------- */

static vpu_status any_variable(void *user, const char *name, dbg_value *out,
                               vpu_error *err)
{
    static const uint8_t bytes[256];
    const dbg_type *const *t = user;

    if (name[0] == 'n')
        return err_set(err, VPU_ERR_INVALID, "no %s", name);
    *out = (dbg_value){.type = *t, .at = bytes};
    return VPU_OK;
}

static const uint8_t *no_memory(void *user, uint32_t address, uint64_t bytes)
{
    (void)user;
    (void)address;
    (void)bytes;
    return NULL;
}

static vpu_status no_element(void *user, const dbg_value *base,
                             const int64_t *index, uint32_t n, dbg_value *out,
                             vpu_error *err)
{
    (void)user;
    (void)base;
    (void)index;
    (void)n;
    (void)out;
    return err_set(err, VPU_ERR_INVALID, "no tensor");
}

static void no_address(void *user, uint32_t address, str *out)
{
    (void)user;
    (void)address;
    str_puts(out, "nowhere");
}

void debug_parse_only(const char *line)
{
    arena *a = arena_create(0);
    dbg_session *s = arena_new(a, dbg_session);
    const dbg_type *t =
        dbg_type_parse("{64;0 a=a4:i32;16 v=v4:f32;32 p=p:f16;}", a);
    dbg_env env = {any_variable, no_memory, no_element, no_address, &t};
    uint32_t ids[3];
    dbg_value v, n;
    vpu_error err;
    str out = {0};

    s->arena = s->scratch = a;
    points_add_break(s, arena_strdup(a, line));
    points_list(s);
    points_delete(s, line);
    triple(line, ids);
    if (!dbg_evaluate(line, &env, a, &v, &err)) {
        dbg_show(&v, &env, &out);
        if (!dbg_number(&v, &n, &err))
            dbg_true(&n);
    }
    dbg_type_parse(line, a);
    str_free(&out);
    str_free(&s->buf);
    arena_destroy(a);
}
