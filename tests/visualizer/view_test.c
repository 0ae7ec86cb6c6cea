/* vpu view from outside: pictures of a real run, and everything it refuses. */
#include <check.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/terminal.h"

static terminal p;

static void setup(void)
{
    terminal_open(&p);
    terminal_text(&p, "layer.xml",
                  "<CustomLayer name=\"L\" type=\"MVCL\" version=\"1\">"
                  "<Kernel entry=\"k\"><Source filename=\"k.cl\"/>"
                  "<Parameters><Tensor arg-name=\"in\" type=\"input\" "
                  "port-index=\"0\" format=\"BFYX\"/><Tensor arg-name=\"out\" "
                  "type=\"output\" port-index=\"0\" format=\"BFYX\"/>"
                  "</Parameters><WorkSizes dim=\"input,0\" global=\"Y,F,B\" "
                  "local=\"1,1,1\"/></Kernel></CustomLayer>");
    terminal_text(&p, "k.cl",
                  "__kernel void k(__global const half *in, __global half "
                  "*out) { int i = get_global_id(0) + get_global_id(1) * "
                  "get_global_size(0); for (int x = 0; x < 16; x++) out[i * 16 "
                  "+ x] = in[i * 16 + x] * (half)2; }");
    terminal_run(&p, "run layer.xml --shape in0=1x4x8x16 --input 0=random:1 "
                     "--trace t.pftrace");
    ck_assert_msg(!p.status, "%s", p.err);
}

static void teardown(void)
{
    terminal_close(&p);
}

/* How many pixels have that colour. */
static int count_color(const char *name, uint32_t rgb, png_image *image)
{
    uint8_t *bytes;
    int n = 0;

    *image = (png_image){.version = PNG_IMAGE_VERSION};
    ck_assert_msg(png_image_begin_read_from_file(
                      image, arena_printf(p.arena, "%s/%s", p.dir, name)),
                  "%s", image->message);
    image->format = PNG_FORMAT_RGB;
    bytes = arena_push(p.arena, PNG_IMAGE_SIZE(*image), 1, 1);
    ck_assert(png_image_finish_read(image, NULL, bytes, 0, NULL));
    for (size_t i = 0; i < PNG_IMAGE_SIZE(*image); i += 3)
        n += (uint32_t)(bytes[i] << 16 | bytes[i + 1] << 8 | bytes[i + 2]) ==
             rgb;
    return n;
}

START_TEST(pictures)
{
    png_image image;
    char *a, *b, *svg;
    size_t na, nb, ns;
    vpu_error err;

    terminal_run(&p, "view t.pftrace --png a.png --svg a.svg --csv a.csv");
    ck_assert_msg(!p.status, "%s", p.err);
    terminal_run(&p, "view t.pftrace --png b.png");
    ck_assert(!file_read(arena_printf(p.arena, "%s/a.png", p.dir), 1 << 24,
                         p.arena, &a, &na, &err));
    ck_assert(!file_read(arena_printf(p.arena, "%s/b.png", p.dir), 1 << 24,
                         p.arena, &b, &nb, &err));
    ck_assert_uint_eq(na, nb);
    ck_assert_mem_eq(a, b, na);
    /* Computing is somewhere, in its colour; the page is white. */
    ck_assert_int_gt(count_color("a.png", 0x009e73, &image), 20);
    ck_assert_uint_eq(image.width, 1600);
    ck_assert_int_gt(count_color("a.png", 0xffffff, &image), 10000);
    ck_assert(!file_read(arena_printf(p.arena, "%s/a.svg", p.dir), 1 << 24,
                         p.arena, &svg, &ns, &err));
    ck_assert(strstr(svg, "SHAVE 0</text>"));
    ck_assert(!strcmp(svg + ns - 7, "</svg>\n"));
    terminal_run(&p, "view t.pftrace --png c.png --size 640x300 --scale 2 "
                     "--theme dark --range 1us..5us --select comp");
    ck_assert_msg(!p.status, "%s", p.err);
    ck_assert_int_eq(count_color("c.png", 0xffffff, &image) > 10000, 0);
    ck_assert_uint_eq(image.width, 1280);
    ck_assert_uint_eq(image.height, 600);
    terminal_run(&p, "view t.pftrace --compare t.pftrace --png d.png");
    ck_assert_msg(!p.status, "%s", p.err);
}
END_TEST

/* One trace in the other's rows: causes that only one of them has. */
START_TEST(the_legend_of_both)
{
    const char *svg;
    char root[1024];
    size_t n;

    ck_assert(getcwd(root, sizeof root) != NULL);
    terminal_run(&p, arena_printf(p.arena,
                                  "run %s/kernels/grn/layer.xml --layer GRNDma "
                                  "--shape in0=1x4x8x16 --param bias=1.0 "
                                  "--trace dma.pftrace",
                                  root));
    ck_assert_msg(!p.status, "%s", p.err);
    terminal_run(&p, "view t.pftrace --compare dma.pftrace --compare-view "
                     "overlay --svg a.svg");
    ck_assert_msg(!p.status, "%s", p.err);
    svg = terminal_bytes(&p, "a.svg", &n);
    ck_assert(strstr(svg, ">waits for DDR loads<"));
    ck_assert(strstr(svg, ">waits for DMA<"));
    terminal_run(&p, "view t.pftrace --compare dma.pftrace --compare-view a "
                     "--svg a.svg");
    ck_assert(!strstr(terminal_bytes(&p, "a.svg", &n), ">waits for DMA<"));
}
END_TEST

/* Of equal SHAVEs one is on the path: little of the others' colour is left. The
 * path's own row keeps it. */
START_TEST(what_is_not_on_the_path_is_dimmed)
{
    png_image image;
    int all, rest;

    terminal_run(&p, "view t.pftrace --png all.png");
    ck_assert_msg(!p.status, "%s", p.err);
    terminal_run(&p, "view t.pftrace --png rest.png --critical-path");
    ck_assert_msg(!p.status, "%s", p.err);
    all = count_color("all.png", 0xd55e00, &image);
    rest = count_color("rest.png", 0xd55e00, &image);
    ck_assert_int_gt(rest, all / 20);
    ck_assert_int_lt(rest, all / 2);
}
END_TEST

/* A row of the table per group's phase. */
START_TEST(table_has_every_group)
{
    char *csv, *at;
    size_t n;
    vpu_error err;
    int groups = 0;

    terminal_run(&p, "view t.pftrace --csv a.csv");
    ck_assert(!file_read(arena_printf(p.arena, "%s/a.csv", p.dir), 1 << 24,
                         p.arena, &csv, &n, &err));
    for (at = csv; (at = strstr(at, "\"comp ")); at++)
        groups++;
    ck_assert_int_eq(groups, 32);
    /* Of some rows: those of two SHAVEs. */
    terminal_run(&p, "view t.pftrace --csv b.csv --rows SHAVE");
    ck_assert_msg(!p.status, "%s", p.err);
    ck_assert(!file_read(arena_printf(p.arena, "%s/b.csv", p.dir), 1 << 24,
                         p.arena, &csv, &n, &err));
    ck_assert(strstr(csv, "\"comp ") && !strstr(csv, "\"stages\""));
    terminal_run(&p, "view t.pftrace --csv b.csv --rows nobody");
    terminal_expect(&p, 2, "--rows: no row of t holds 'nobody'");
}
END_TEST

/* The figures of "comp" in the table of slices are those of its single slices
 * in the other table; twice it is the same, byte by byte. */
/* A picture of several: as many titles, the fastest framed; what is about one
 * trace is refused, and a file that is none. */
START_TEST(several_traces)
{
    char *svg;
    size_t n;
    vpu_error err;

    terminal_run(&p, "view t.pftrace t.pftrace t.pftrace --png a.png --svg "
                     "a.svg --size 700x300 --theme dark");
    terminal_expect(&p, 0, "");
    ck_assert(!file_read(arena_printf(p.arena, "%s/a.svg", p.dir), 1 << 24,
                         p.arena, &svg, &n, &err));
    for (int i = 0; i < 3; i++) {
        svg = strstr(svg, ">t</text>");
        ck_assert(svg != NULL);
        svg++;
    }
    ck_assert(strstr(svg, ", 1.00 times the first, issue "));
    terminal_run(&p, "view t.pftrace t.pftrace");
    terminal_expect(&p, 2, "two of them: --compare");
    terminal_run(&p, "view t.pftrace t.pftrace --png b.png --text");
    terminal_expect(&p, 2, "several files");
    terminal_run(&p, "view t.pftrace nix.pftrace --png b.png");
    terminal_expect(&p, 2, "nix.pftrace");
    ck_assert(!terminal_has(&p, "b.png"));
    terminal_run(&p, "view t.pftrace t.pftrace --png b.gif");
    terminal_expect(&p, 2, "expected a name that ends with .svg or .png");
}
END_TEST

START_TEST(memory_ends_a_trace)
{
    terminal_run(&p, "view t.pftrace --text --memory 1");
    terminal_expect(&p, 0, "");
    /* Looked at now and then: a short trace is there before. */
    ck_assert_ptr_null(strstr(p.out, "partial"));
    terminal_run(&p, "view t.pftrace --text --memory much");
    terminal_expect(&p, 2, "--memory");
}
END_TEST

START_TEST(slices_add_up)
{
    uint64_t n = 0, sum = 0, least = UINT64_MAX, most = 0;
    char want[160], *at;
    size_t bytes, again;
    const char *csv;

    terminal_run(&p, "view t.pftrace --csv all.csv");
    csv = terminal_bytes(&p, "all.csv", &bytes);
    for (at = (char *)csv; (at = strstr(at, "\"comp ")); at++) {
        unsigned long long begin, length;

        ck_assert_int_eq(sscanf(strchr(at, ','), ",%llu,%llu", &begin, &length),
                         2);
        n++;
        sum += length;
        least = length < least ? length : least;
        most = length > most ? length : most;
    }
    ck_assert_uint_eq(n, 32);
    terminal_run(&p, "view t.pftrace --panel slices --csv slices.csv");
    ck_assert_msg(!p.status, "%s", p.err);
    csv = terminal_bytes(&p, "slices.csv", &bytes);
    ck_assert(strstr(csv, "name,kind,stage,kernel,count,total_cycles,share,"));
    snprintf(want, sizeof want, "\n\"comp\",SHAVE phase,\"\",\"\",%llu,%llu,",
             (unsigned long long)n, (unsigned long long)sum);
    at = strstr(csv, want);
    ck_assert_msg(at, "%s is not in %s", want, csv);
    snprintf(want, sizeof want, ",%llu,%llu,1,0,0,0,0,0,0,0,0,\"",
             (unsigned long long)least, (unsigned long long)most);
    ck_assert(strstr(at, want) && strstr(at, want) < strchr(at + 1, '\n'));
    terminal_run(&p, "view t.pftrace --panel slices --csv again.csv");
    ck_assert_mem_eq(terminal_bytes(&p, "again.csv", &again), csv, bytes);
    ck_assert_uint_eq(again, bytes);
    terminal_run(&p, "view t.pftrace --slices-by stage --csv stage.csv");
    csv = terminal_bytes(&p, "stage.csv", &bytes);
    ck_assert_msg(strstr(csv, ",stage,\"\",\"k\",1,"), "%s", csv);
    terminal_run(&p, "view t.pftrace --slices-by cause --csv cause.csv --png "
                     "cause.png --range 1us..2us");
    ck_assert_msg(!p.status, "%s", p.err);
    ck_assert(terminal_has(&p, "cause.png"));
    csv = terminal_bytes(&p, "cause.csv", &bytes);
    ck_assert(strstr(csv, ",SHAVE cause,") && !strstr(csv, ",SHAVE phase,"));
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        const char *args, *says;
    } bad[] = {
        {"view --png x.png", "which FILE"},
        {"view --select comp", "which FILE"},
        {"view --rows comp", "which FILE"},
        {"view t.pftrace --follow --rows comp", "--rows"},
        {"view t.pftrace u.pftrace", "u.pftrace"},
        {"view none.pftrace --png x.png", "none.pftrace"},
        {"view k.cl --png x.png", "not a trace packet"},
        {"view empty --png x.png", "without events"},
        {"view t.pftrace --png x.png --size 5", "--size does not take '5'"},
        {"view t.pftrace --png x.png --size 99999x9", "--size"},
        {"view t.pftrace --png x.png --size 20x20", "200 x 100"},
        {"view t.pftrace --png x.png --scale 9", "--scale"},
        {"view t.pftrace --png x.png --theme pink", "--theme"},
        {"view t.pftrace --png x.png --slices-by pink", "--slices-by"},
        {"view t.pftrace --png x.png --slices-by name --panel source",
         "--panel source"},
        {"view t.pftrace --panel slices --csv no/such.csv --png x.png",
         "no/such"},
        {"view t.pftrace --png x.png --unit years", "--unit"},
        {"view t.pftrace --png x.png --range 5", "--range"},
        {"view t.pftrace --png x.png --range 9..5", "TIME..TIME"},
        {"view t.pftrace --png x.png --select zzz", "zzz"},
        {"view s.pftrace --png x.png --critical-path", "level summary"},
        {"view t.pftrace --png no/such/x.png", "no/such"},
        {"view t.pftrace --png x.png --compare none", "none"},
        {"view t.pftrace --frob", "--help"}};

    terminal_text(&p, "empty", "");
    terminal_run(&p, "run layer.xml --shape in0=1x4x8x16 --input 0=random:1 "
                     "--trace s.pftrace --trace-level summary");
    ck_assert_msg(!p.status, "%s", p.err);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        terminal_run(&p, bad[i].args);
        ck_assert_msg(p.status == 2, "%s: %d", bad[i].args, p.status);
        ck_assert_msg(strstr(p.err, bad[i].says), "%s: %s", bad[i].args, p.err);
        ck_assert(!terminal_has(&p, "x.png"));
    }
}
END_TEST

START_TEST(a_cut_file_is_shown_in_part)
{
    char *bytes;
    size_t n;
    vpu_error err;

    ck_assert(!file_read(arena_printf(p.arena, "%s/t.pftrace", p.dir), 1 << 24,
                         p.arena, &bytes, &n, &err));
    terminal_file(&p, "cut", bytes, n - 1); /* in the last packet */
    terminal_run(&p, "view cut --png x.png");
    ck_assert_int_eq(p.status, 0);
    ck_assert(strstr(p.err, "shown in part"));
    ck_assert(terminal_has(&p, "x.png"));
}
END_TEST

START_TEST(without_a_display_it_says_what_to_do)
{
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    unsetenv("SDL_VIDEODRIVER");
    terminal_run(&p, "view t.pftrace");
    ck_assert_int_eq(p.status, 5);
    ck_assert_msg(strstr(p.err, "--png"), "%s", p.err);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("view");
    TCase *t = tcase_create("view");
    SRunner *r = srunner_create(s);
    int failed;

    suite_add_tcase(s, t);
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, pictures);
    tcase_add_test(t, the_legend_of_both);
    tcase_add_test(t, what_is_not_on_the_path_is_dimmed);
    tcase_add_test(t, table_has_every_group);
    tcase_add_test(t, slices_add_up);
    tcase_add_test(t, memory_ends_a_trace);
    tcase_add_test(t, several_traces);
    tcase_add_test(t, refusals);
    tcase_add_test(t, a_cut_file_is_shown_in_part);
    tcase_add_test(t, without_a_display_it_says_what_to_do);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
