/* The host's processor in a line, without LLVM: what decides which instructions
 * LLVM chooses for it. */
#include "sim/compiler/store/artifact.h"

#ifdef __x86_64__
#include <cpuid.h>

/* What LLVM's Host.cpp asks about, but for what differs from core to core. */
static const struct {
    unsigned leaf, sub;
    bool with_ebx;
} leaves[] = {{0, 0, true},         {1, 0, false},   {7, 0, true},
              {7, 1, true},         {0xd, 1, false}, {0x14, 0, true},
              {0x19, 0, true},      {0x24, 0, true}, {0x80000001, 0, false},
              {0x80000008, 0, true}};

/* Registers that the operating system saves; needs OSXSAVE. */
static unsigned long long saved_registers(void)
{
    unsigned low, high;

    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (unsigned long long)high << 32 | low;
}

const char *artifact_host_cpu(arena *a)
{
    const char *all = "x86-64";

    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;

        __get_cpuid_count(leaves[i].leaf, leaves[i].sub, &eax, &ebx, &ecx,
                          &edx);
        all = arena_printf(a, "%s %x:%x:%x:%x", all, eax,
                           leaves[i].with_ebx ? ebx : 0, ecx, edx);
        if (leaves[i].leaf == 1 && (ecx & bit_OSXSAVE))
            all = arena_printf(a, "%s %llx", all, saved_registers());
    }
    return all;
}
#else
#include <llvm-c/TargetMachine.h>

const char *artifact_host_cpu(arena *a)
{
    char *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
    const char *all = arena_printf(a, "%s %s", cpu, features);

    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    return all;
}
#endif
