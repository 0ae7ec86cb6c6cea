/* The sessions of twist.h. */
#include "tests/runtime/debug/twist.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "runtime/graph/tensor.h"

#define XML(file)                                                         \
    "<CustomLayer name=\"T\" type=\"MVCL\" version=\"1\">\n"              \
    "  <Kernel entry=\"twist\">\n"                                        \
    "    <Source filename=\"" file "\"/>\n"                               \
    "    <Parameters>\n"                                                  \
    "      <Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" "     \
    "format=\"BFYX\"/>\n"                                                 \
    "      <Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" "    \
    "format=\"BFYX\"/>\n"                                                 \
    "      <Scalar arg-name=\"bias\" type=\"float\" source=\"bias\"/>\n"  \
    "    </Parameters>\n"                                                 \
    "    <WorkSizes dim=\"input,0\" global=\"X,Y,1\" local=\"8,1,1\"/>\n" \
    "  </Kernel>\n"                                                       \
    "</CustomLayer>\n"

static const char twist_cl[] =
    "float scaled(float x, int by)\n" /* 1 */
    "{\n"                             /* 2 */
    "    float product = x * by;\n"   /* 3 */
    "    return product;\n"           /* 4 */
    "}\n"                             /* 5 */
    "typedef struct { int a; float2 v; } both;\n"
    "__kernel void twist(__global const half *src, __global half *dst,\n"
    "                    float bias)\n"                         /* 8 */
    "{\n"                                                       /* 9 */
    "    __local half tile[8];\n"                               /* 10 */
    "    int l = get_local_id(0), g = get_global_id(0);\n"      /* 11 */
    "    int at = get_global_id(1) * get_global_size(0) + g;\n" /* 12 */
    "    float4 f = (float4)(g, 2, 3, 4);\n"                    /* 13 */
    "    both pair = {l, (float2)(0.5f, l)};\n"                 /* 14 */
    "    int mine[3];\n"                                        /* 15 */
    "\n"                                                        /* 16 */
    "    for (int i = 0; i < 3; i++)\n"                         /* 17 */
    "        mine[i] = 100 * l + i;\n"                          /* 18 */
    "    tile[l] = src[at];\n"                                  /* 19 */
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"                       /* 20 */
    "    float other = scaled(tile[7 - l], 2);\n"               /* 21 */
    "    f.x += other;\n"                                       /* 22 */
    "    dst[at] = (half)(f.x + bias + mine[1]);\n"             /* 23 */
    "}\n";

terminal twist;

void twist_open(void)
{
    terminal_open(&twist);
    terminal_text(&twist, "layer.xml", XML("twist.cl"));
    terminal_text(&twist, "twist.cl", twist_cl);
}

void twist_close(void)
{
    terminal_close(&twist);
}

const char *twist_log_of(const char *args, const char *commands, int *status)
{
    const char *vpu = getenv("VPU");
    char *path = realpath(vpu && *vpu ? vpu : "build/vpu", NULL);
    char *line, *out = arena_push(twist.arena, 1 << 18, 1, 1);
    FILE *f;
    size_t n;
    int st;

    terminal_text(&twist, "commands", commands);
    line = arena_printf(twist.arena,
                        "cd %s && XDG_CACHE_HOME=%s/.c timeout 60 %s debug %s "
                        "< commands 2>&1",
                        twist.dir, twist.dir, path, args);
    f = popen(line, "r");
    ck_assert_ptr_nonnull(f);
    n = fread(out, 1, (1 << 18) - 1, f);
    out[n] = 0;
    st = pclose(f);
    free(path);
    *status = WIFEXITED(st) ? WEXITSTATUS(st) : 255;
    return out;
}

/* Without the lines that show the commands again. */
static void drop_echoes(char *out)
{
    char *to = out;

    for (const char *line = out, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        end += *end == '\n';
        if (!strncmp(line, "(vpu) ", 6))
            continue;
        memmove(to, line, (size_t)(end - line));
        to += end - line;
    }
    *to = 0;
}

const char *twist_session_of(const char *args, const char *commands,
                             int *status)
{
    char *out = arena_strdup(twist.arena, twist_log_of(args, commands, status));

    drop_echoes(out);
    return out;
}

const char *twist_session(const char *commands)
{
    int status;
    const char *out = twist_session_of(TWIST_ARGS, commands, &status);

    ck_assert_msg(status <= 1, "exit status %d\n%s", status, out);
    return out;
}

void twist_expect(const char *out, const char *want)
{
    ck_assert_msg(strstr(out, want) != NULL, "'%s' is not in\n%s", want, out);
}

/* In this order, without overlap. */
void twist_expect_in_order(const char *out, const char *const *want)
{
    const char *at = out;

    for (; *want; want++) {
        const char *next = strstr(at, *want);

        ck_assert_msg(next != NULL,
                      "'%s' is not in, or not behind what is "
                      "before it, in\n%s",
                      *want, out);
        at = next + strlen(*want);
    }
}

/* Element k of the ramp, as the half it is. */
double twist_ramp(int k)
{
    return (double)tensor_f16_to_f32(tensor_f32_to_f16((float)k / 256));
}
