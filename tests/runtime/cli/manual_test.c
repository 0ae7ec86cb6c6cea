/* Manual pages and completion against help: whatever `--help` shows is in the
 * command's page and is offered; pages are what mandoc expects; bash completes
 * words with the file that is installed. */
#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/add_layer.h"

static terminal p;

static void setup(void)
{
    terminal_open(&p);
    add_layer_put(&p);
}

static void teardown(void)
{
    terminal_close(&p);
}

static const char *output(const char *args)
{
    terminal_run(&p, args);
    terminal_expect(&p, 0, "");
    return arena_strdup(p.arena, p.out);
}

/* A line of the text begins with the word, and a blank or its end follows. */
static bool has_line(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = text; at && *at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (!strncmp(at, word, n) && (!at[n] || strchr("\t\n =[", at[n])))
            return true;
    }
    return false;
}

/* --- all commands --------------------------------------------------------- */

/* The word at the beginning of each offered line, but for options and ":files";
 * the next one of the text, or NULL. */
static char *next_word(const char **text)
{
    while (**text) {
        const char *line = *text;
        size_t n = strcspn(line, "\t\n");

        *text += strcspn(line, "\n");
        *text += **text == '\n';
        if (n && *line != '-' && *line != ':')
            return arena_printf(p.arena, "%.*s", (int)n, line);
    }
    return NULL;
}

/* "--name" of a line of help, "  --name VALUE  text"; NULL: it has none. */
static char *option_of(const char *line)
{
    size_t n;

    if (strncmp(line, "  -", 3))
        return NULL;
    n = strcspn(line + 2, " \n=[");
    return arena_printf(p.arena, "%.*s", (int)n, line + 2);
}

/* As mdoc has it: ".It Fl \-name". */
static bool is_in_page(const char *page, const char *option)
{
    str item = {0};
    bool there;

    str_puts(&item, ".It Fl ");
    for (const char *s = option + 1; *s; s++)
        str_printf(&item, "%s%c", *s == '-' ? "\\" : "", *s);
    there = has_line(page, str_text(&item));
    str_free(&item);
    return there;
}

/* Returns the number of options. */
static size_t compare(const char *command)
{
    const char *help = output(arena_printf(p.arena, "%s --help", command));
    const char *page = output(arena_printf(p.arena, "--man %s", command));
    size_t n = 0;

    for (const char *line = help; line && *line; line = strchr(line, '\n')) {
        char *option;
        const char *offered;

        line += *line == '\n';
        option = option_of(line);
        /* Options of one letter take their value without a blank. */
        if (!option || option[1] != '-')
            continue;
        offered =
            output(arena_printf(p.arena, "--complete %s %s", command, option));
        ck_assert_msg(has_line(offered, option), "%s: %s is not offered",
                      command, option);
        ck_assert_msg(is_in_page(page, option), "%s: %s is not in its page",
                      command, option);
        n++;
    }
    return n;
}

START_TEST(help_page_and_completion)
{
    /* An offer of commands ends in "v", which none begins with: all of them
     * come from the empty word, that a terminal cannot pass. */
    const char *list = output("--help");
    size_t commands = 0, options = 0;

    for (const char *line = list; line && *line; line = strchr(line, '\n')) {
        char *name;

        line += *line == '\n';
        if (strncmp(line, "  ", 2) || !islower((unsigned char)line[2]))
            continue;
        name = arena_printf(p.arena, "%.*s", (int)strcspn(line + 2, " "),
                            line + 2);
        if (!strcmp(name, "help") || !strcmp(name, "version") ||
            !strcmp(name, "vpu"))
            continue;
        ck_assert_msg(
            has_line(output(arena_printf(p.arena, "--complete %s", name)),
                     name),
            "%s is not offered", name);
        options += compare(name);
        commands++;
    }
    ck_assert_uint_gt(commands, 20);
    ck_assert_uint_gt(options, 200);
}
END_TEST

START_TEST(parts_of_a_command)
{
    const char *offered = output("--complete sweep r");
    size_t n = 0;

    for (char *part; (part = next_word(&offered)); n++)
        compare(arena_printf(p.arena, "sweep %s", part));
    ck_assert_uint_ge(n, 2); /* run, report */
}
END_TEST

/* --- values -------------------------------------------------------------- */

START_TEST(offered_values)
{
    ck_assert(has_line(output("--complete run layer.xml --layer A"), "Add"));
    ck_assert(has_line(output("--complete run --timing f"), "flow"));
    ck_assert(
        has_line(output("--complete run --timing=t"), "--timing=transaction"));
    ck_assert(has_line(output("--complete run --order r"), "random:"));
    ck_assert(has_line(output("--complete machine --set clk"), "clk_mhz="));
    ck_assert(
        has_line(output("--complete check --checks race,b"), "race,bounds"));
    ck_assert(has_line(output("--complete run --backend s"), "sim"));
    ck_assert(has_line(output("--complete run --machine x"), ":files"));
    ck_assert_str_eq(output("--complete run --threads x"), "");
    ck_assert_str_eq(output("--complete nothing x"), "");
    ck_assert_str_eq(output("--complete run --nothing=x"), "");
    ck_assert_str_eq(output("--complete run absent.xml --layer A"), "");
}
END_TEST

/* --- bash ---------------------------------------------------------------- */

/* What bash makes of the last of the words, as it takes them apart itself: at
 * '=' and ':', too. */
static const char *in_bash(const char *words)
{
    FILE *f;
    char *text = arena_array(p.arena, char, 1 << 16);
    char *script = arena_printf(
        p.arena,
        "bash --norc -c 'cd %s; source \"$1\"; shift; COMP_WORDS=(\"$VPU\" "
        "\"$@\"); COMP_CWORD=$#; _vpu; printf \"%%s\\n\" \"${COMPREPLY[@]}\"' "
        "- $PWD/runtime/cli/shells/vpu.bash %s",
        p.dir, words);

    f = popen(script, "r");
    ck_assert(f != NULL);
    ck_assert_uint_lt(fread(text, 1, (1 << 16) - 1, f), (1 << 16) - 1);
    ck_assert_int_eq(pclose(f), 0);
    return text;
}

START_TEST(bash_completes)
{
    ck_assert_str_eq(in_bash("wha"), "whatif\n");
    ck_assert_str_eq(in_bash("run --kanata-g"), "--kanata-group\n");
    ck_assert_str_eq(in_bash("run --timing = tr"), "transaction\n");
    ck_assert_str_eq(in_bash("run --order random : ''"), "\n");
    ck_assert_str_eq(in_bash("run layer.xml --layer ''"), "Add\n");
    ck_assert_str_eq(in_bash("run layer.x"), "layer.xml\n");
    ck_assert_str_eq(in_bash("run --machine = layer.x"), "layer.xml\n");
}
END_TEST

/* --- mandoc -------------------------------------------------------------- */

/* Nothing but pages that are not installed: those are looked for here. */
START_TEST(pages_are_clean)
{
    /* Those that are made of documents: what their sections tell of. */
    static const struct {
        const char *page, *word;
    } sections[] = {{"man5/vpu-binding.5", "CustomLayer"},
                    {"man5/vpu-case.5", "tolerance"},
                    {"man5/vpu-machine.5", "clk_mhz"},
                    {"man5/vpu-recording.5", "replay:FILE"},
                    {"man5/vpu-manifest.5", "vary"},
                    {"man3/libvpusim.3", "vpu_context_create"}};
    char line[512];
    size_t other = 0;
    char *script = arena_printf(
        p.arena,
        "scripts/manuals \"$VPU\" %s && cd %s && mandoc -Tlint man*/*.?", p.dir,
        p.dir);
    FILE *f = popen(script, "r");

    ck_assert(f != NULL);
    while (fgets(line, sizeof line, f)) {
        char *name = strstr(line, "referenced manual not found: Xr ");

        if (name) {
            name += strlen("referenced manual not found: Xr ");
            name[strcspn(name, " ")] = '\0';
            if (terminal_has(&p, arena_printf(p.arena, "man1/%s.1", name)))
                continue;
        }
        fprintf(stderr, "%s", line);
        other++;
    }
    pclose(f);
    ck_assert_uint_eq(other, 0);
    ck_assert(terminal_has(&p, "man1/vpu.1"));
    ck_assert(terminal_has(&p, "man1/vpu-run.1"));
    ck_assert(terminal_has(&p, "man1/vpu-sweep-gather.1"));
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        size_t n;
        const char *text = terminal_bytes(&p, sections[i].page, &n);

        ck_assert_msg(
            memmem(text, n, sections[i].word, strlen(sections[i].word)) != NULL,
            "%s says nothing of %s", sections[i].page, sections[i].word);
    }
}
END_TEST

int main(void)
{
    SRunner *run;
    Suite *s = suite_create("manual pages and completion");
    TCase *t = tcase_create("manual");
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 300);
    tcase_add_test(t, help_page_and_completion);
    tcase_add_test(t, parts_of_a_command);
    tcase_add_test(t, offered_values);
    tcase_add_test(t, bash_completes);
    tcase_add_test(t, pages_are_clean);
    suite_add_tcase(s, t);
    run = srunner_create(s);
    srunner_run_all(run, CK_NORMAL);
    failed = srunner_ntests_failed(run);
    srunner_free(run);
    return failed != 0;
}
