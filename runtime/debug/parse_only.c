/* Everything that reads text from a person, without a session: for fuzzing. */
#include <string.h>

#include "runtime/debug/session.h"

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

static bool nowhere(void *user, const uint8_t *at, uint32_t *address)
{
    (void)user;
    (void)at;
    *address = 0;
    return false;
}

static const uint8_t *no_tensor(void *user, const dbg_value *v)
{
    (void)user;
    (void)v;
    return NULL;
}

void debug_parse_only(const char *line)
{
    arena *a = arena_create(0);
    dbg_session *s = arena_new(a, dbg_session);
    const dbg_type *t =
        dbg_type_parse("{64;0 a=a4:i32;16 v=v4:f32;32 p=p:f16;}", a);
    dbg_env env = {any_variable, no_memory, no_element, no_address,
                   nowhere,      no_tensor, &t};
    dbg_format format;
    uint32_t ids[3];
    dbg_value v, n;
    uint8_t bytes[8];
    vpu_error err;
    str out = {0};
    char *rest;

    s->arena = s->scratch = a;
    points_add_break(s, arena_strdup(a, line), false);
    points_list(s);
    points_delete(s, line);
    dbg_triple(line, ids);
    rest = dbg_command_line(a, line, strlen(line));
    dbg_command_find(s, &rest);
    rest = arena_strdup(a, line);
    dbg_read_format(s, &rest, &format);
    if (!dbg_evaluate(line, &env, a, &v, &err)) {
        dbg_show(&v, &env, 0, &out);
        dbg_show(&v, &env, format.letter, &out);
        if (!dbg_number(&v, &n, &err)) {
            dbg_true(&n);
            if (v.type)
                dbg_store(&n, v.type, bytes, &err);
        }
    }
    dbg_type_parse(line, a);
    str_free(&out);
    str_free(&s->buf);
    arena_destroy(a);
}
