/* The machine code of kernels, looked at from outside (tests/support/scan.h):
 * that of every kernel in the tree and of random ones keeps to the rules, and
 * code that breaks one is found out. */
#include <check.h>
#include <glob.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/kernel_gen.h"
#include "tests/support/rig.h"
#include "tests/support/scan.h"

/* --- kernels ------------------------------------------------------------- */

static const char *const folders[] = {"kernels/*/*.cl",
                                      "tests/kernels/cl/*.cl",
                                      "tests/fidelity/kernels/*.cl",
                                      "tests/bench/*.cl",
                                      "tests/check/faults/*/*.cl",
                                      "tests/hostile/*.cl",
                                      "runtime/graph/*.cl"};

static glob_t files;

static void find_files(void)
{
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++)
        glob(folders[k], k ? GLOB_APPEND : 0, NULL, &files);
}

static void scan_kernel(const sim_kernel *k, const char *who, arena *a)
{
    const char *wrong =
        scan_object(k->object, k->object_bytes, k->args_bytes, a);

    ck_assert_msg(!wrong, "%s, kernel %s: %s", who, k->name, wrong);
}

/* The names of a file's kernels, from the message that there is no other. */
static char *names_of(const kernel_unit *u, const kernel_compile_config *cfg,
                      arena *a)
{
    static const char before[] = "the file has: ";
    sim_kernel *k;
    vpu_error err;
    char *at;

    if (!kernel_of_unit(u, "no such kernel", cfg, a, &k, &err))
        return NULL;
    at = strstr(err.msg, before);
    return at ? arena_strdup(a, at + strlen(before)) : NULL;
}

/* Those that compile, with the source's lines noted and without. */
static unsigned scan_unit(const kernel_unit *u, const char *who, arena *a)
{
    kernel_compile_config cfg = {.user.no_cache = true, .hooks = &exec_hooks};
    char *names = names_of(u, &cfg, a);
    unsigned n = 0;

    for (char *name = names ? strtok(names, ", \n") : NULL; name;
         name = strtok(NULL, ", \n"))
        for (int lines = 0; lines < 2; lines++) {
            sim_kernel *k;
            vpu_error err;

            cfg.track_lines = lines;
            if (kernel_of_unit(u, name, &cfg, a, &k, &err))
                continue;
            scan_kernel(k, who, a);
            kernel_release(k);
            n++;
        }
    return n;
}

START_TEST(file)
{
    const char *path = files.gl_pathv[_i];
    const kernel_compile_config cfg = {.user.no_cache = true,
                                       .hooks = &exec_hooks};
    arena *a = arena_create(0);
    kernel_unit *u;
    vpu_error err;

    if (!kernel_unit_open(path, &cfg, a, &u, &err)) {
        unsigned n = scan_unit(u, path, a);

        ck_assert_msg(n || strncmp(path, "kernels/", 8),
                      "%s: no kernel was scanned", path);
    }
    arena_destroy(a);
}
END_TEST

enum { N_RANDOM = 10, A_FILE = 10 };

START_TEST(random_kernels)
{
    str opencl = {0}, c = {0};
    rig r;

    rig_open(&r);
    gen_file((uint64_t)_i * A_FILE, A_FILE, &opencl, &c);
    ck_assert_msg(!rig_try_open_unit(&r, str_text(&opencl)), "%s", r.err.msg);
    for (unsigned k = 0; k < A_FILE; k++) {
        ck_assert_msg(!rig_try_unit_kernel(&r, arena_printf(r.arena, "k%u", k)),
                      "%s", r.err.msg);
        scan_kernel(r.kernel, "random", r.arena);
    }
    str_free(&opencl);
    str_free(&c);
    rig_close(&r);
}
END_TEST

/* --- code made by hand -----------------------------------------------------
 *
 * Assembly of a function f(sim_wg in rdi, window in rsi, arguments in rdx, log
 * in rcx), with 16 bytes of arguments, and what the scan says of it; NULL: it
 * is as it should be. */

#define RETURN "\nret\n"
#define HOOK(name) "sub rsp, 8\ncall " name "@PLT\nadd rsp, 8\n"
#define LOAD "mov eax, [rdx]\n"
#define TABLE                                             \
    "\nret\n.size f, .-f\n.section .rodata\n.p2align 2\n" \
    "table: .long one-table\n.long two-table\n.text\n"
#define JUMP                                                   \
    "lea r8, table[rip]\nmovsxd rax, dword ptr [r8 + 4*rax]\n" \
    "add rax, r8\njmp rax\none: nop\ntwo: nop\nend:"

static const struct {
    const char *text, *says;
} cases[] = {
    {RETURN, NULL},
    /* sim_wg */
    {"mov rax, [rdi + 16]" RETURN, NULL},
    {"mov qword ptr [rdi], 5" RETURN, NULL},
    {"mov [rdi + 0x10000], rax" RETURN, "sim_wg"},
    {"mov [rdi - 8], rax" RETURN, "sim_wg"},
    {"mov qword ptr [rdi + 8], 5" RETURN, "sim_wg"}, /* max_cycles */
    {"vmovups [rdi], xmm0" RETURN, "sim_wg"},
    {"mov qword ptr [rdi + 16], 5000" RETURN, "log_n"},
    {"mov dword ptr [rdi + 20], 0" RETURN, "log_n"},
    /* the window */
    {LOAD "mov [rsi + rax], eax" RETURN, NULL},
    {LOAD "vmovups zmm0, [rsi + rax + 64]" RETURN, NULL},
    {LOAD "lock add dword ptr [rsi + rax], 1" RETURN, NULL},
    {LOAD "add eax, 12345\nimul eax, eax, 77\nmov [rsi + rax], eax" RETURN,
     NULL},
    {LOAD "mov [rsi + rax - 1], al" RETURN, "the window"},
    {LOAD "mov [rsi + 4*rax], al" RETURN, "the window"},
    {LOAD "imul rax, rax, 77\nmov [rsi + rax], al" RETURN, "the window"},
    {LOAD "movsxd rax, eax\nmov [rsi + rax], al" RETURN, "the window"},
    {"mov rax, [rdx]\nmov [rsi + rax], al" RETURN, "the window"},
    {"mov rax, [rdx]\nlock add dword ptr [rsi + rax], 1" RETURN, "the window"},
    {"mov rax, [rdx]\nvmovups zmm0, [rsi + rax]" RETURN, "the window"},
    {"mov rax, [rdx]\nmov ax, 3\nmov [rsi + rax], al" RETURN, "the window"},
    {"mov rax, [rdx]\nmov eax, eax\nmov [rsi + rax], al" RETURN, NULL},
    {"mov rax, [rdx]\nmov [rax], al" RETURN, "a number"},
    {"mov al, [1234]" RETURN, "a number"},
    {"mov [rsi], rdi" RETURN, "may be an address"},
    {"mov [rsi], rax" RETURN, "may be an address"},
    {"mov eax, eax\nmov [rsi], rax" RETURN, NULL},
    {"mov edx, [rdx]\nmov eax, edx\nmov r8b, 9\ndiv r8b\nmov [rsi + rdx], "
     "al" RETURN,
     NULL},
    {"mov edx, [rdx]\nmov eax, edx\nmov r8b, 9\ndiv r8b\nmov [rsi + rax], "
     "al" RETURN,
     "the window"},
    {"mov edx, [rdx]\nmov eax, edx\nmov r8w, 9\ndiv r8w\nmov [rsi + rdx], "
     "al" RETURN,
     "the window"},
    /* conditions */
    {"mov rax, [rdx]\nmov r8, rax\ncmp rax, 100\nja 1f\nmov [rsi + r8], "
     "al\n1:" RETURN,
     NULL},
    {"mov rax, [rdx]\nmov r8, rax\ncmp rax, 100\njg 1f\nmov [rsi + r8], "
     "al\n1:" RETURN,
     "the window"},
    {"mov rax, [rdx]\ncmp rax, 100\nja 1f\nmov rax, [rdx]\n"
     "mov [rsi + rax], al\n1:" RETURN,
     "the window"},
    {"mov rax, [rdx]\ncmp eax, 100\nja 1f\nmov [rsi + rax], al\n1:" RETURN,
     "the window"},
    {"xor eax, eax\n1: mov [rsi + rax], al\nadd rax, 8\ncmp rax, 4096\njb "
     "1b" RETURN,
     NULL},
    {"xor eax, eax\n1: mov [rsi + rax], al\nadd rax, 8\ncmp rax, [rdx]\njb "
     "1b" RETURN,
     "the window"},
    {"xor eax, eax\n1: mov [rsi + rax], al\nadd rax, 8\njmp 1b", "the window"},
    {"xor eax, eax\n1: mov [rsi + rax], al\nadd eax, 8\njmp 1b", NULL},
    {"mov rax, [rdx]\nmov r9, [rdx + 8]\n"
     "1: mov r8, rax\nmov rax, r9\ncmp rax, 100\nja 2f\n"
     "mov [rsi + r8], al\njmp 1b\n2:" RETURN,
     "the window"},
    /* arguments, log */
    {"mov rax, [rdx + 8]" RETURN, NULL},
    {"mov rax, [rdx + 9]" RETURN, "the arguments"},
    {"mov [rdx], eax" RETURN, "the arguments"},
    {"mov rax, [rdi + 16]\nmov [rcx + 8*rax], rax" RETURN, "the log"},
    {"mov rax, [rdi + 16]\ncmp rax, 2047\nja 1f\nmov [rcx + 8*rax], rax\n"
     "inc rax\nmov [rdi + 16], rax\n1:" RETURN,
     NULL},
    {"mov rax, [rdi + 16]\ncmp rax, 2048\nja 1f\nmov [rcx + 8*rax], "
     "rax\n1:" RETURN,
     "the log"},
    {"mov rax, [rdi + 16]\ninc rax\nmov [rdi + 16], rax" RETURN, "log_n"},
    /* the stack */
    {"push rbx\nmov ebx, 1\npop rbx" RETURN, NULL},
    {"push rbx", "falls off"},
    {"push rbx" RETURN, "another stack"},
    {"mov ebx, 1" RETURN, "of the caller"},
    {"push rbx\nmov dword ptr [rsp], 1\npop rbx" RETURN, "of the caller"},
    {"mov [rsp], rax" RETURN, "the stack"},
    {"mov rax, [rsp + 8]" RETURN, "the stack"},
    {"mov [rsp - 128], rax" RETURN, NULL},
    {"mov [rsp - 136], rax" RETURN, "the stack"},
    {LOAD "mov [rsp - 8], rax\nmov rax, [rsp - 8]\nmov [rsi + rax], al" RETURN,
     NULL},
    {LOAD "mov [rsp - 8], rax\nmov [rsp - 4], eax\nmov rax, [rsp - 8]\n"
          "mov [rsi + rax], al" RETURN,
     "anything"},
    {LOAD "mov [rsp - 8], rax\nvmovups [rsp - 16], xmm0\nmov rax, [rsp - 8]\n"
          "mov [rsi + rax], al" RETURN,
     "anything"},
    {LOAD "mov [rsp - 8], rax\nmov r8d, [rdx + 4]\nand r8d, 1\n"
          "mov [rsp + 4*r8 - 12], r8d\nmov rax, [rsp - 8]\nmov [rsi + rax], "
          "al" RETURN,
     "anything"},
    {LOAD "mov [rsp - 4*rax - 8], rax" RETURN, "the stack"},
    {"mov rsp, [rdx]" RETURN, "another stack"},
    {"push rbp\nmov rbp, rsp\nand rsp, -64\nsub rsp, 64\nvmovaps [rsp], zmm0\n"
     "mov rsp, rbp\npop rbp" RETURN,
     NULL},
    {"push rbp\nmov rbp, rsp\nand rsp, -64\nsub rsp, 64\n"
     "vmovaps [rsp + 64], zmm0\nmov rsp, rbp\npop rbp" RETURN,
     "the frame"},
    /* jumps */
    {"mov rax, [rdx]\njmp rax", "unknown"},
    {"jmp rdi", "unknown"},
    {"jmp qword ptr [rdx]", "unknown"},
    {LOAD "cmp eax, 1\nja end\n" JUMP TABLE, NULL},
    {LOAD JUMP TABLE, "a section"},
    {LOAD "cmp eax, 2\nja end\n" JUMP TABLE, "a section"},
    {"mov rax, [rdx]\ncmp rax, 1\njg end\n" JUMP TABLE, "a section"},
    {"jmp other", "out of the function"},
    {"je other\n" RETURN, "out of the function"},
    {"nop", "falls off"},
    {"je 1f\nret\n1: nop", "falls off"},
    {"mov eax, 0xc3c3c3c3\ncmp eax, [rdx]\n.byte 0x74, 0xf8" RETURN,
     "the middle"},
    /* calls */
    {HOOK("vpu_hook_flush") RETURN, "'l'"},
    {"mov r8, rcx\nmov rsi, rcx\n" HOOK("vpu_hook_flush") RETURN, NULL},
    {"sub rsp, 8\ncall vpu_hook_limit@PLT\n", NULL},
    {"sub rsp, 8\ncall vpu_hook_flush@PLT\n", "'l'"},
    {"mov rdi, rsi\n" HOOK("vpu_hook_limit"), "'w'"},
    {"mov rsi, rcx\nmov rdx, rcx\n" HOOK("vpu_hook_dma") RETURN, "'d'"},
    {"mov rsi, rcx\nmov rdx, rsp\n" HOOK("vpu_hook_dma") RETURN, "the stack"},
    {"mov rsi, rcx\nsub rsp, 72\nmov rdx, rsp\ncall vpu_hook_dma@PLT\n"
     "add rsp, 72" RETURN,
     NULL},
    {HOOK("__vpu_exp_f32") RETURN, NULL},
    {HOOK("system") RETURN, "'system'"},
    {HOOK("vpu_hook_var") RETURN, "'vpu_hook_var'"},
    {HOOK("mmap") RETURN, "'mmap'"},
    {"call rax" RETURN, "unknown"},
    {"call qword ptr [rdx]" RETURN, "unknown"},
    {"call other" RETURN, "unknown"},
    {"mov rax, qword ptr memset@GOTPCREL[rip]\nmov r8d, [rdx]\n"
     "lea rdi, [rsi + r8]\nmov edx, 64\nsub rsp, 8\ncall rax\nadd rsp, "
     "8" RETURN,
     NULL},
    {"movabs rax, offset memset\nmov r8d, [rdx]\nlea rdi, [rsi + r8]\n"
     "mov edx, edx\nsub rsp, 8\ncall rax\nadd rsp, 8" RETURN,
     NULL},
    {HOOK("memset") RETURN, "outside the window"},
    {"mov rdi, rsi\nmov rdx, [rdx]\n" HOOK("memset") RETURN,
     "outside the window"},
    {"mov rdi, rsi\nmov rsi, rsp\nmov edx, 8\n" HOOK("memcpy") RETURN,
     "outside the window"},
    /* instructions */
    {"syscall" RETURN, "not known"},
    {"int3" RETURN, "not known"},
    {"int 0x80" RETURN, "not known"},
    {"ud2", "not known"},
    {"hlt" RETURN, "not known"},
    {"in al, dx" RETURN, "not known"},
    {"out dx, al" RETURN, "not known"},
    {"wrmsr" RETURN, "not known"},
    {"cpuid" RETURN, "not known"},
    {"rdtsc" RETURN, "not known"},
    {"rdfsbase rax" RETURN, "not known"},
    {"mov rax, fs:[0]" RETURN, "not known"},
    {"mov rax, cr3" RETURN, "not known"},
    {"xsave [rdi]" RETURN, "not known"},
    {"rep stosb" RETURN, "not known"},
    {"movsb" RETURN, "not known"},
    {"fstp dword ptr [rsi]" RETURN, "not known"},
    {"vmaskmovdqu xmm0, xmm1" RETURN, "not known"},
    {"vpgatherdd xmm0, [rsi + 4*xmm1], xmm2" RETURN, "not known"},
    {"mov eax, [rdx]\nbt [rsi], rax" RETURN, "a bit far away"},
    {".byte 0x06" RETURN, "no instruction"},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static LLVMMemoryBufferRef assemble(const char *text)
{
    char *triple = LLVMGetDefaultTargetTriple(), *message = NULL;
    LLVMModuleRef m = LLVMModuleCreateWithName("f");
    LLVMTargetMachineRef tm;
    LLVMMemoryBufferRef out;
    LLVMTargetRef target;

    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    ck_assert(!LLVMGetTargetFromTriple(triple, &target, &message));
    tm = LLVMCreateTargetMachine(target, triple, "", "+avx512f",
                                 LLVMCodeGenLevelNone, LLVMRelocPIC,
                                 LLVMCodeModelSmall);
    LLVMSetTarget(m, triple);
    LLVMSetModuleInlineAsm2(m, text, strlen(text));
    ck_assert_msg(!LLVMTargetMachineEmitToMemoryBuffer(tm, m, LLVMObjectFile,
                                                       &message, &out),
                  "%s", message);
    LLVMDisposeTargetMachine(tm);
    LLVMDisposeModule(m);
    LLVMDisposeMessage(triple);
    return out;
}

START_TEST(by_hand)
{
    static const char frame[] =
        ".intel_syntax noprefix\n.text\nother: nop\n.p2align 4\n"
        ".globl f\n.type f, @function\nf:\n%s%s\n.att_syntax\n";
    arena *a = arena_create(0);
    const char *text = cases[_i].text, *wrong;
    const bool has_size = strstr(text, ".size") != NULL;
    LLVMMemoryBufferRef b = assemble(
        arena_printf(a, frame, text, has_size ? "" : "\n.size f, .-f\n"));

    wrong = scan_object((const uint8_t *)LLVMGetBufferStart(b),
                        LLVMGetBufferSize(b), 16, a);
    if (cases[_i].says)
        ck_assert_msg(wrong && strstr(wrong, cases[_i].says), "%s\n%s", text,
                      wrong ? wrong : "nothing is said");
    else
        ck_assert_msg(!wrong, "%s\n%s", text, wrong);
    LLVMDisposeMemoryBuffer(b);
    arena_destroy(a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("scan");
    TCase *c = tcase_create("scan");
    SRunner *r;
    int failed;

    find_files();
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, by_hand, 0, N_CASES);
    tcase_add_loop_test(c, file, 0, (int)files.gl_pathc);
    tcase_add_loop_test(c, random_kernels, 0, N_RANDOM);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    globfree(&files);
    return failed != 0;
}
