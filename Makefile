# vpusim. One make, one graph.
#
#   make            the program, at build/vpu
#   make demo       install what is missing, build, run the GRN sample
#   make check      install what is missing, build, run all tests
#   make check-engines  the tests, all of them on both engines (long)
#   make check-hostile  kernels that mean harm: tests/hostile
#   make check-scan     no access and no jump of compiled code leads out of it
#   make check-random   2,000 random kernels on both engines and in C; SEEDS=FIRST:COUNT
#   make check-checked  tests/sim once more, with every kernel under the checkers
#   make check-usb  the USB tests, on a Linux USB stack in QEMU
#   make check-openvino  OpenVINO's own host library against a virtual stick
#   make check-opencl    OpenCL programs of others on the driver
#   make check-calibrate  does vpu calibrate find machines that virtual sticks are?
#                   -long: thirty of them
#   make check-slurm     sweeps as jobs of a real Slurm, on loopback; -long: and its
#                   node fails
#   make check-perfetto  traces through Perfetto's own message definitions
#   make python     the Python package's wheel, build/python/vpusim-*.whl
#   make check-python  its tests, examples/*.py and the notebook, on an installed copy
#   make check-dap  vpu dap with an editor's client, dap-python
#   make check-clangd  the samples, and what vpu init writes, in clangd-19
#   make check-html  pages of vpu view --html in Chromium, without a screen
#   make asan       the tests again under address and undefined sanitizers
#   make check-asan, check-tsan, check-fuzz  what CI has time for of sanitizers
#                   and fuzzers
#   make nightly    all of asan, both engines, the checkers, ten minutes for each
#                   fuzz target: hours
#   make fuzz       every reader of bytes from outside, for FUZZ_SECONDS each
#   make mutate     MUTANTS small changes of the program: do the tests notice?
#   make bench      figures against Oclgrind and PoCL, build/bench.json; networks
#                   beside OpenVINO's CPU plug-in
#   make bench-library  what the library adds to a launch, contexts in THREADS threads
#   make bench-cache  what each fast way of the cache model gains
#   make fidelity   published ratios and times of networks beside ours,
#                   build/fidelity.json
#   make fidelity-pin  tests/fidelity/pinned.txt again, when the model changed
#   make sensitivity  the ratios at both ends of every parameter's range
#   make conflicts  a search for machines that bring ratios that exclude each other
#                   into their windows, MACHINES for each
#   make docs       the output of commands in README.md and docs/*.md, again
#   make docs-check  compares it, changes nothing
#   make check-extending  recipes of docs/extending.md, carried out on a copy
#   make site       the documents as a site, build/site/index.html; its links are checked
#   make opencl-c   docs/opencl-c.md, the list of built-ins, again
#   make docs-pictures  the pictures of docs/viewer.md, again
#   make window-references  the pictures tests/visualizer/window_test compares with
#   make lint       formatting, headers, layers, prefixes, citations; make format rewrites
#   make plugins    the sample layers' definitions, build/plugins/NAME.so
#   make install    the program, the library, plug-ins, headers, samples, documents; with
#   make uninstall  honours DESTDIR, PREFIX, UDEVDIR and ICDDIR
#   make dist       build/vpusim-VERSION.tar.gz, the sources of the last commit
#
# V=1 shows commands; CONF=debug|release|asan|tsan|fuzz picks the object folder.

CONF    ?= release
PREFIX  ?= /usr/local
UDEVDIR ?= /lib/udev/rules.d
ICDDIR  ?= /etc/OpenCL/vendors
# Of shared libraries; a distribution may have a folder for each architecture.
LIBDIR  ?= $(PREFIX)/lib
LLVM    := 19
VERSION := $(shell cat VERSION)
# Of the library: changes only when a function goes, or what it means.
SONAME  := 0

OUT    := build/$(CONF)
GEN    := build/gen
LAYERS := base isa sim visualizer runtime

# cc is whatever the machine calls its C compiler; the fuzzers need clang.
CC      ?= cc
LLVM_CONFIG  ?= llvm-config-$(LLVM)
CLANG_FORMAT ?= clang-format-$(LLVM)
CLANG_TIDY   ?= clang-tidy-$(LLVM)
PKGS    := libxml-2.0 jansson libprotobuf-c libxxhash libpng libzip libturbojpeg libusb-1.0 sdl2 SDL2_ttf libedit sqlite3

WARN := -Wall -Wextra -Wpedantic -Werror -Wshadow -Wstrict-prototypes \
        -Wmissing-prototypes -Wvla -Wno-overlength-strings
OPT.debug   := -O0 -g3
# Aligned functions, and branches that cross no 32 bytes: else hot loops of a file
# run up to twice as long when another file in front of them in the link grows (access_mark of
# sim/check did, on a Xeon whose microcode takes such branches out of the cache).
OPT.release := -O2 -g -falign-functions=64 -Wa,-mbranches-within-32B-boundaries
OPT.asan    := -O1 -g -fsanitize=address,undefined \
               -fno-sanitize-recover=all -fno-omit-frame-pointer
# Without our warnings, which are gcc's; with counters that libFuzzer reads. Kernels'
# host code has no type in front of it that a call could be checked against.
OPT.fuzz    := -O1 -g -w -fsanitize=fuzzer-no-link,address,undefined \
               -fno-sanitize=function -fno-sanitize-recover=all -fno-omit-frame-pointer
# clang's, too: a child of several threads has no memory under gcc 12's, which
# forks while another thread holds the allocator.
OPT.tsan    := -O1 -g3 -w -fsanitize=thread -fno-omit-frame-pointer
# Simulated time is integer arithmetic, but results must not depend on the
# compiler's taste in fused multiply-add either.
FLOAT := -ffp-contract=off
ifeq ($(OPT.$(CONF)),)
$(error CONF=$(CONF) is not one of debug release asan tsan fuzz)
endif
ifneq ($(filter fuzz tsan,$(CONF)),)
CC := clang-$(LLVM)
endif

LIB_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null) \
              $(shell $(LLVM_CONFIG) --cflags 2>/dev/null | \
                      tr ' ' '\n' | grep '^-[ID]' | sed 's/^-I/-isystem /')
LIB_LDLIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null) \
              $(shell $(LLVM_CONFIG) --ldflags --libs 2>/dev/null) -lm -lpthread -ldl

ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(WARN) $(FLOAT) -I. -I$(GEN) -Wa,-I. \
             -DVPU_VERSION='"$(VERSION)"' -DVPU_LLVM='"$(LLVM)"' \
             $(OPT.$(CONF)) $(LIB_CFLAGS) -pthread $(CPPFLAGS) $(CFLAGS)
# The layers' objects make a program and a library. What the library shows is what
# include/vpusim/vpu.h exports; its few thread-local variables are at fixed places,
# since the fastest loops look at them.
LAYER_CFLAGS := -fPIC -fvisibility=hidden -ftls-model=initial-exec
ALL_LDFLAGS = $(filter -fsanitize=%,$(OPT.$(CONF))) -rdynamic $(LDFLAGS)

ifndef V
say = @printf '  %-4s %s\n' $(1) $@;
endif

SRC   := $(sort $(shell find $(LAYERS) -name '*.c'))
HDR   := $(sort $(shell find include $(LAYERS) tests -name '*.h'))
MAIN  := runtime/cli/main.c
ICD   := runtime/icd/exports.c
GENC  := $(patsubst %.proto,$(GEN)/%.pb-c.c,$(shell find $(LAYERS) -name '*.proto'))
OBJ   := $(patsubst %.c,$(OUT)/%.o,$(filter-out $(MAIN) $(ICD),$(SRC))) \
         $(patsubst $(GEN)/%.c,$(OUT)/gen/%.o,$(GENC))
TESTSRC := $(sort $(shell find tests -name '*_test.c'))
TESTS   := $(patsubst %.c,$(OUT)/%,$(TESTSRC))
# What a sanitizer's run in CI leaves to make nightly, so that it stays within ten
# minutes: built-ins value by value and drivers of others, whose code is not
# instrumented; random kernels, damaged sources and faults by the hundred, of
# which the rest has examples; a window, a stick, limits and endings that mostly
# wait; debuggers, shell scripts, and the pages' examples that they run; whole samples, ports
# of all of them and sweeps that are killed, whose code other tests run on less.
ASAN_LONG := $(patsubst %,$(OUT)/tests/%_test,check/faults check/lanes check/samples fidelity/fidelity \
             kernels/determinism kernels/items kernels/layers kernels/samples kernels/smooth \
             runtime/advice/advice runtime/api/resize runtime/cli/cli_ending runtime/cli/compile_limits \
             runtime/cli/gpu_run runtime/debug/gdb runtime/lint/lint runtime/port/port runtime/sweep/killed \
             runtime/tune/tune_cli runtime/backend/backend_layers \
             runtime/backend/backend_opencl runtime/suite/mutation runtime/survey/stick_report \
             sim/builtins/builtins_convert sim/builtins/builtins_edge sim/builtins/builtins_float \
             sim/builtins/builtins_half sim/builtins/builtins_int sim/builtins/builtins_memory \
             scripts/library scripts/scripts sim/compiler/hoist sim/compiler/hooks sim/compiler/limits \
             sim/compiler/names sim/compiler/random_kernels sim/compiler/scan visualizer/window)
# What has threads: host threads of a launch, jobs of a suite, both ends of a
# stick, sets of memory, the compile cache, traces that are written beside a run.
TSAN_TESTS := $(patsubst %,$(OUT)/tests/%_test,kernels/determinism \
              runtime/api/clone runtime/api/endurance runtime/api/manager runtime/backend/threads runtime/diff/diff_run runtime/icd/icd runtime/lint/stages runtime/cli/printf runtime/dap/dap runtime/pool/lifetimes runtime/stick/stick runtime/suite/suite \
              runtime/link/transport runtime/stick/usbip runtime/link/xlink_link \
              sim/compiler/kernel_cache sim/exec/threads visualizer/model visualizer/run_trace)
# What make demo and make bench run besides the program itself.
DEMO    := $(OUT)/tests/kernels/grn_check $(OUT)/tests/kernels/report_table
BENCH   := $(OUT)/tests/bench/bench
FIDELITY := $(OUT)/tests/fidelity/fidelity
# Writes the table of docs/memory.md.
POOLS   := $(OUT)/tests/runtime/pool/pool_table
# Preloaded into the vendor's host library: libusb over USB/IP, and a bus without a stick.
PRELOAD := $(OUT)/tests/usb/usbip_libusb.so $(OUT)/tests/networks/no_stick.so
# Writes docs/opencl-c.md.
LIST    := $(OUT)/tests/conformance/opencl_c
# Each reads bytes from outside (make fuzz); what writes most of their first ones.
FUZZ    := $(patsubst %.c,$(OUT)/%,$(sort $(wildcard tests/fuzz/*_fuzz.c)))
SEEDER  := $(OUT)/tests/fuzz/seeds
# Everything else in tests/ is shared by tests.
TESTLIB := $(filter-out $(DEMO:=.o) $(POOLS:=.o),$(patsubst %.c,$(OUT)/%.o,\
             $(sort $(shell find tests -name '*.c' ! -name '*_test.c' \
             ! -path 'tests/bench/*' ! -path 'tests/fuzz/*' \
             ! -path 'tests/fidelity/*' ! -path 'tests/conformance/*' \
             ! -path 'tests/usb/*' ! -path 'tests/networks/*' ! -path 'tests/opencl/*'))))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

ifeq ($(CONF),release)
all: build/vpu $(OUT)/libvpusim.so.$(SONAME) $(OUT)/libvpusim-opencl.so
build/vpu: $(OUT)/vpu
	@ln -sf release/vpu $@
else
all: $(OUT)/vpu
endif

# Libraries that are loaded when they are needed (base/late.h), and their packages:
# in what users run; a sanitizer looks at them from the beginning.
LATE_LIBRARIES = $(shell $(LLVM_CONFIG) --libfiles):libllvm$(LLVM) \
    $(shell $(CC) -print-file-name=libSDL2.so):libsdl2-2.0-0 \
    $(shell $(CC) -print-file-name=libSDL2_ttf.so):libsdl2-ttf-2.0-0 \
    $(shell $(CC) -print-file-name=libpng.so):libpng16-16 \
    $(shell $(CC) -print-file-name=libedit.so):libedit2 \
    $(shell $(CC) -print-file-name=libsqlite3.so):libsqlite3-0 \
    $(shell $(CC) -print-file-name=libzip.so):libzip4 \
    $(shell $(CC) -print-file-name=libturbojpeg.so):libturbojpeg0
ifneq ($(and $(filter release debug,$(CONF)),$(filter x86_64-%,$(shell $(CC) -dumpmachine))),)
LATE := $(OUT)/late.o
endif
late-packages: # which have them, for a package's dependencies
	@echo $(foreach l,$(LATE_LIBRARIES),$(lastword $(subst :, ,$l)))
.PHONY: late-packages
$(OUT)/late.s: $(OUT)/libvpu.a $(OUT)/runtime/cli/main.o scripts/late-libraries
	$(call say,GEN)scripts/late-libraries "$(filter %.a %.o,$^)" $(LATE_LIBRARIES) >$@.new
	@mv $@.new $@
$(OUT)/late.o: $(OUT)/late.s
	$(call say,AS)$(CC) -c -o $@ $<

$(OUT)/vpu: $(OUT)/runtime/cli/main.o $(LATE) $(OUT)/libvpu.a
	$(call say,LD)$(CC) -o $@ $^ $(ALL_LDFLAGS) -Wl,--as-needed $(LIB_LDLIBS)
# The program with a mechanism that the model does not have (sim/machine/cache.c),
# for virtual sticks of make check-calibrate.
FOREIGN := $(patsubst %.c,%.o,$(filter sim/machine/%,$(SRC)))
$(OUT)/foreign-%/vpu: $(OUT)/libvpu.a $(OUT)/runtime/cli/main.o $(LATE) $(filter sim/machine/%,$(SRC) $(HDR))
	@mkdir -p $(@D)/sim/machine
	$(call say,CC)for o in $(FOREIGN); do \
	    $(CC) $(ALL_CFLAGS) -DMACH_FOREIGN=$* -c -o $(@D)/$$o $${o%.o}.c || exit 1; done
	$(call say,LD)$(CC) -o $@ $(OUT)/runtime/cli/main.o $(addprefix $(@D)/,$(FOREIGN)) \
	    $(LATE) $(OUT)/libvpu.a $(ALL_LDFLAGS) -Wl,--as-needed $(LIB_LDLIBS)
$(OUT)/libvpu.a: $(OBJ)
	$(call say,AR)rm -f $@ && ar rcs $@ $^
# Everything but the program, behind include/vpusim/vpu.h.
$(OUT)/libvpusim.so.$(SONAME): $(filter-out $(OUT)/runtime/cli/%,$(OBJ)) $(LATE) runtime/api/exports.map
	$(call say,LD)$(CC) -shared -o $@ $(filter %.o,$^) -Wl,-soname,$(@F) \
	    -Wl,--version-script=runtime/api/exports.map -Wl,-z,defs -Wl,--as-needed \
	    $(filter-out -rdynamic,$(ALL_LDFLAGS)) $(LIB_LDLIBS)
	@ln -sf $(@F) $(@D)/libvpusim.so
# The OpenCL driver: a small one, which loads the library above when it is used.
$(OUT)/libvpusim-opencl.so: $(patsubst %.c,$(OUT)/%.o,$(filter-out runtime/icd/core/%,$(filter runtime/icd/%,$(SRC)))) \
                            $(OUT)/libvpu.a runtime/icd/exports.map
	$(call say,LD)$(CC) -shared -o $@ $(filter %.o %.a,$^) -Wl,-soname,$(@F) \
	    -Wl,--version-script=runtime/icd/exports.map -Wl,-z,defs -Wl,--as-needed \
	    $(filter-out -rdynamic,$(ALL_LDFLAGS)) $(LIB_LDLIBS)
$(OBJ) $(ICD:%.c=$(OUT)/%.o): private ALL_CFLAGS += $(LAYER_CFLAGS)
# Loops over tensors, over lanes in the interpreter's steps, and over what a machine
# has a few of: -O2 leaves those of unknown length as they are, and some of the others.
ifeq ($(CONF),release)
$(filter $(OUT)/runtime/native/% $(OUT)/isa/steps.o $(OUT)/sim/machine/%,$(OBJ)): private ALL_CFLAGS += -O3
endif
$(OUT)/%.o: %.c $(OUT)/flags | $(GENC)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
# Generated by protoc-c, so not ours to keep warning-free.
$(OUT)/gen/%.o: $(GEN)/%.c $(OUT)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -w -c -o $@ $<
.SECONDARY: $(GENC)
$(GEN)/%.pb-c.c: %.proto
	@mkdir -p $(GEN)
	$(call say,GEN)protoc-c --c_out=$(GEN) $<
# Files that the program carries inside (.incbin) are not seen by -MMD.
include $(wildcard embed.mk) $(wildcard plugins.mk)
$(OUT)/flags: FORCE
	@mkdir -p $(@D); echo '$(subst ','\'',$(CC) $(ALL_CFLAGS) $(LAYER_CFLAGS))' | cmp -s - $@ || \
	    echo '$(subst ','\'',$(CC) $(ALL_CFLAGS) $(LAYER_CFLAGS))' > $@

# Two hundred programs: binutils' other linker takes a third of the time.
TEST_LD := $(if $(shell command -v ld.gold),-fuse-ld=gold)
$(TESTS): %: %.o $(TESTLIB) $(OUT)/libvpu.a
	$(call say,LD)$(CC) -o $@ $^ $(TEST_LD) $(ALL_LDFLAGS) $(shell pkg-config --libs check) -lmpfr -lgmp $(LIB_LDLIBS)
# private: flags is a prerequisite too, and must not see this one.
$(TESTS:=.o): private ALL_CFLAGS += -Wno-pedantic
$(DEMO): %: %.o $(OUT)/tests/kernels/ref.o $(OUT)/libvpu.a
	$(call say,LD)$(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIB_LDLIBS)
# Never with a sanitizer, which would have to come first.
$(PRELOAD): %.so: %.o
	$(call say,LD)$(CC) -shared -o $@ $^ $(LDFLAGS) -lpthread
$(PRELOAD:.so=.o): private OPT.$(CONF) := -O2 -g
$(PRELOAD:.so=.o): private ALL_CFLAGS += -fPIC -Wno-pedantic
$(OUT)/tests/usb/preload_test: | $(PRELOAD)
$(POOLS): %: %.o $(OUT)/tests/runtime/pool/networks.o $(OUT)/libvpu.a
	$(call say,LD)$(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIB_LDLIBS)
$(BENCH): $(patsubst %.c,$(OUT)/%.o,$(filter-out %/clhost.c %/timeline.c %/library.c,\
            $(sort $(wildcard tests/bench/*.c)))) $(LATE) $(OUT)/libvpu.a
	$(call say,LD)$(CC) -o $@ $^ $(ALL_LDFLAGS) -Wl,--as-needed $(LIB_LDLIBS)
$(FUZZ): private ALL_LDFLAGS += -fsanitize=fuzzer
$(FIDELITY): $(patsubst %.c,$(OUT)/%.o,$(filter-out %_test.c,\
               $(sort $(wildcard tests/fidelity/*.c)))) $(OUT)/libvpu.a
	$(call say,LD)$(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIB_LDLIBS)
$(SEEDER): $(OUT)/tests/support/small_net.o
$(FUZZ) $(LIST) $(SEEDER): %: %.o $(OUT)/libvpu.a
	$(call say,LD)$(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIB_LDLIBS)
# The viewer's figures.
$(OUT)/tests/bench/timeline: $(addprefix $(OUT)/tests/bench/,timeline.o proc.o quiet.o) $(OUT)/libvpu.a
	$(call say,LD)$(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIB_LDLIBS)
# The library's.
$(OUT)/tests/bench/library: $(OUT)/tests/bench/library.o $(OUT)/libvpu.a
	$(call say,LD)$(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIB_LDLIBS)
# An OpenCL host program that our own library has no part in.
$(OUT)/tests/bench/clhost: $(OUT)/tests/bench/clhost.o
	$(call say,LD)$(CC) -o $@ $^ $(ALL_LDFLAGS) -lOpenCL

-include $(shell find $(OUT) -name '*.d' 2>/dev/null)

# NO_DEPS=1: nothing is installed, as in a distribution's build.
deps:
	@$(if $(NO_DEPS),:,scripts/deps)

# Package flags are read when make starts, so what deps installs needs a new make.
check demo fidelity fidelity-pin sensitivity conflicts: deps
	@$(MAKE) --no-print-directory run-$@
# All kernels that mean harm, and a look at the machine code of very many: some
# minutes each.
HOSTILE := $(OUT)/tests/hostile/hostile_test
SCAN    := $(OUT)/tests/sim/compiler/scan_test
# Not under AddressSanitizer, which forks while another thread holds its
# allocator: a kernel that is compiled beside others then waits for ever.
# Libraries come with the program there.
NOT_ASAN := $(OUT)/tests/runtime/backend/threads_test $(OUT)/tests/base/late_test
# There is one driver's library, of the release build.
DRIVEN   := $(if $(filter-out release,$(CONF)),$(patsubst %,$(OUT)/tests/runtime/icd/%_test,cl faults linked loader samples))
CHECKS  := $(filter-out $(HOSTILE) $(SCAN) \
             $(if $(filter asan,$(CONF)),$(NOT_ASAN)) $(DRIVEN),$(TESTS))
run-check: all plugins $(CHECKS) $(FIDELITY) $(DEMO) $(POOLS) headers layers prefixes citations
	@scripts/run-tests $(OUT) $(CHECKS)
check-scan: deps
	@$(MAKE) --no-print-directory run-check-scan
run-check-scan: all $(SCAN)
	@scripts/run-tests $(OUT) $(SCAN)
check-hostile: deps
	@$(MAKE) --no-print-directory run-check-hostile
run-check-hostile: all $(HOSTILE)
	@scripts/run-tests $(OUT) $(HOSTILE)
# The heavy tests, too, on the interpreter of the SHAVE program.
check-engines: deps
	@VPU_BOTH=1 $(MAKE) --no-print-directory run-check
# Two processes, each with every second half.
SEEDS ?= 100000:2000
check-random: deps
	@$(MAKE) --no-print-directory run-check-random
run-check-random: $(OUT)/tests/sim/compiler/random_kernels_test
	@scripts/check-random $(OUT) $(SEEDS)
check-checked: deps
	@VPU_CHECKED=1 $(MAKE) --no-print-directory run-check-checked
run-check-checked: all $(filter $(OUT)/tests/sim/%,$(TESTS))
	@scripts/run-tests $(OUT) $(filter $(OUT)/tests/sim/%,$(TESTS))
check-usb: deps
	@scripts/deps usb
	@$(MAKE) --no-print-directory run-check-usb
run-check-usb: all
	@scripts/check-usb build/vpu
check-openvino: deps
	@scripts/deps usb
	@$(MAKE) --no-print-directory run-check-openvino
run-check-openvino: all $(PRELOAD)
	@scripts/check-openvino build/vpu $(OUT)
check-opencl: deps
	@scripts/deps opencl
	@$(MAKE) --no-print-directory run-check-opencl
run-check-opencl: all plugins
	@scripts/check-opencl build/vpu
check-slurm: deps
	@$(MAKE) --no-print-directory run-check-slurm
run-check-slurm: all
	@scripts/check-slurm build/vpu
# Virtual sticks that are other machines: does vpu calibrate find them? Three with a
# mechanism that the model does not have: does it say so?
FOREIGN_STICKS := $(patsubst %,$(OUT)/foreign-%/vpu,1 2 3)
check-calibrate check-calibrate-long: deps
	@$(MAKE) --no-print-directory run-$@
run-check-calibrate: all $(FOREIGN_STICKS)
	@scripts/check-calibrate build/vpu --machines 2 --foreign $(FOREIGN_STICKS)
run-check-calibrate-long: all $(FOREIGN_STICKS) # some half an hour
	@scripts/check-calibrate build/vpu --machines 30 --foreign $(FOREIGN_STICKS) --doc docs/calibration.md
check-slurm-long: deps # some minutes: Slurm waits for a node that does not answer
	@$(MAKE) --no-print-directory run-check-slurm-long
run-check-slurm-long: all
	@scripts/check-slurm build/vpu --long
check-perfetto: deps
	@$(MAKE) --no-print-directory run-check-perfetto
run-check-perfetto: all
	@scripts/check-perfetto build/vpu
python: deps
	@$(if $(NO_DEPS),:,scripts/deps python)
	@scripts/python-wheel
check-python: python
	@$(MAKE) --no-print-directory run-check-python
run-check-python: all plugins
	@scripts/check-python
check-dap: deps
	@scripts/deps dap
	@$(MAKE) --no-print-directory run-check-dap
run-check-dap: all
	@scripts/check-dap build/vpu
check-clangd: deps
	@scripts/deps clangd
	@$(MAKE) --no-print-directory run-check-clangd
run-check-clangd: all
	@scripts/check-clangd build/vpu
check-html: deps
	@$(if $(NO_DEPS),:,scripts/deps html)
	@$(MAKE) --no-print-directory run-check-html
run-check-html: all
	@scripts/check-html build/vpu
asan: deps
	@$(MAKE) --no-print-directory CONF=asan run-check
check-asan: deps # the part of it that takes ten minutes
	@$(MAKE) --no-print-directory CONF=asan run-check-asan
ASAN_SHORT = $(filter-out $(ASAN_LONG) $(HOSTILE) $(NOT_ASAN) $(DRIVEN),$(TESTS))
run-check-asan: all plugins $(ASAN_SHORT)
	@scripts/run-tests $(OUT) $(ASAN_SHORT)
check-tsan: deps
	@scripts/deps clang
	@$(MAKE) --no-print-directory CONF=tsan run-check-tsan
run-check-tsan: all plugins $(TSAN_TESTS)
	@scripts/run-tests $(OUT) $(TSAN_TESTS)
nightly: # hours: what is too long for each change
	@$(MAKE) --no-print-directory asan
	@$(MAKE) --no-print-directory check-tsan
	@$(MAKE) --no-print-directory check-engines
	@$(MAKE) --no-print-directory check-checked
	@$(MAKE) --no-print-directory check-slurm-long
	@$(MAKE) --no-print-directory check-calibrate-long
	@$(MAKE) --no-print-directory check-random
	VPU_TIMED=1 $(OUT)/tests/sim/compiler/limits_test
	VPU_WHOLE=1 $(OUT)/tests/runtime/icd/faults_test
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-600} $(MAKE) --no-print-directory fuzz
run-demo: all $(DEMO)
	@scripts/demo build/vpu
bench: deps
	@scripts/deps bench
	@$(MAKE) --no-print-directory run-bench
run-bench: all $(BENCH) $(OUT)/tests/bench/clhost $(OUT)/tests/bench/timeline
	@scripts/bench build/vpu
	@scripts/networks build/vpu speed

bench-library: all $(OUT)/tests/bench/library # THREADS contexts side by side
	@$(OUT)/tests/bench/library $${THREADS:-2}

bench-cache: all $(BENCH)
	@$(BENCH) --ways build/vpu

run-fidelity: all $(FIDELITY)
	@scripts/fidelity build/vpu --doc docs/timing.md
	@scripts/networks build/vpu times --doc docs/networks.md
run-fidelity-pin: all $(FIDELITY)
	@scripts/fidelity build/vpu --doc docs/timing.md --pin tests/fidelity/pinned.txt
run-sensitivity: all $(FIDELITY)
	@scripts/fidelity build/vpu --sensitivity --doc docs/timing.md
run-conflicts: all $(FIDELITY)
	@scripts/fidelity build/vpu --conflicts $${MACHINES:-300} --doc docs/timing.md
opencl-c: deps # docs/opencl-c.md, from what the tests measure
	@$(MAKE) --no-print-directory run-opencl-c
run-opencl-c: $(LIST) $(OUT)/tests/sim/builtins/builtins_half_test $(OUT)/tests/sim/builtins/builtins_float_test
	@scripts/opencl-c $(OUT)

docs: all $(DEMO) $(POOLS)
	@scripts/docs build/vpu
docs-check: all $(DEMO) $(POOLS)
	@scripts/docs --check build/vpu && echo "  ok   docs"

check-extending: all
	@scripts/extending

headers: # every header compiles alone
	@for h in $(HDR); do printf '#include "%s"\n' $$h | $(CC) $(ALL_CFLAGS) \
	    -fsyntax-only -x c - || exit 1; done; echo "  ok   headers"
layers: # includes only go downhill
	@scripts/check-layers && echo "  ok   layers"
prefixes: # public names say where they are declared
	@scripts/check-prefixes && echo "  ok   prefixes"
citations: # files, sections and rows that a text names are there
	@scripts/check-citations && echo "  ok   citations"
python-cdef: # the Python package's declarations are the header's
	@scripts/python-cdef --check && echo "  ok   python-cdef"
lint: headers layers prefixes citations python-cdef
	@$(CLANG_FORMAT) --dry-run -Werror $(SRC) $(HDR) $(shell find tests -name '*.c')
	@shellcheck $$(grep -l '^#!/bin/sh' scripts/*) .ci/run tests/usb/guest tests/usb/openvino_guest tests/networks/wrong_layer
format:
	@$(CLANG_FORMAT) -i $(SRC) $(HDR) $(shell find tests -name '*.c')
tidy: compile_commands.json
	@$(CLANG_TIDY) --quiet $(SRC)
compile_commands.json: FORCE
	@scripts/compile-commands '$(subst ','\'',$(CC) $(ALL_CFLAGS))' $(SRC) $(TESTSRC) > $@
site: deps
	@$(if $(NO_DEPS),:,scripts/deps site)
	@scripts/site
.PHONY: site
# What install puts there, and uninstall takes away: single files, and folders
# that are all ours.
BIN     := $(DESTDIR)$(PREFIX)/bin/vpu
HEADER  := $(DESTDIR)$(PREFIX)/include/vpu_plugin.h
HEADERS := $(DESTDIR)$(PREFIX)/include/vpusim
QUERIES := $(DESTDIR)$(PREFIX)/include/CL/cl_vpusim.h
SHARED  := $(DESTDIR)$(LIBDIR)/libvpusim.so
PC      := $(DESTDIR)$(LIBDIR)/pkgconfig/vpusim.pc
RULES   := $(DESTDIR)$(UDEVDIR)/70-vpusim.rules
VENDOR  := $(DESTDIR)$(ICDDIR)/vpusim.icd
DRIVER  := $(DESTDIR)$(PREFIX)/lib/vpusim/libvpusim-opencl.so
SHARE   := $(DESTDIR)$(PREFIX)/share/vpusim
LIB     := $(DESTDIR)$(PREFIX)/lib/vpusim
DOC     := $(DESTDIR)$(PREFIX)/share/doc/vpusim
MAN     := $(DESTDIR)$(PREFIX)/share/man
BASH    := $(DESTDIR)$(PREFIX)/share/bash-completion/completions/vpu
ZSH     := $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_vpu
FISH    := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/vpu.fish
ENTRY   := $(DESTDIR)$(PREFIX)/share/applications/vpusim.desktop
ICON    := $(DESTDIR)$(PREFIX)/share/icons/hicolor/scalable/apps/vpusim.svg
MIME    := $(DESTDIR)$(PREFIX)/share/mime/packages/vpusim.xml
install: all plugins
	install -D -m 755 $(OUT)/vpu $(BIN)
	install -D -m 644 include/vpusim/vpu_plugin.h $(HEADER)
	install -D -m 644 -t $(HEADERS) $(addprefix include/vpusim/,vpu.h status.h images.h kernel.h)
	install -D -m 644 include/CL/cl_vpusim.h $(QUERIES)
	install -D -m 755 $(OUT)/libvpusim.so.$(SONAME) $(SHARED).$(SONAME)
	ln -sf libvpusim.so.$(SONAME) $(SHARED)
	install -D -m 755 $(OUT)/libvpusim-opencl.so $(DRIVER)
	@mkdir -p $(dir $(VENDOR))
	echo $(PREFIX)/lib/vpusim/libvpusim-opencl.so > $(VENDOR)
	@mkdir -p $(dir $(PC))
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'Name: vpusim' \
	    'Description: OpenCL custom layers on a simulated Myriad X VPU' \
	    'Version: $(VERSION)' 'Cflags: -I$${prefix}/include' \
	    'Libs: -L$${libdir} -lvpusim' > $(PC)
	install -D -m 644 runtime/usb/70-vpusim.rules $(RULES)
	install -D -m 644 sim/machine/ma2x8x.xml $(SHARE)/ma2x8x.xml
	install -D -m 644 -t $(LIB)/plugins build/plugins/*.so
	install -D -m 644 -t $(DOC) README.md CHANGELOG.md LICENSE docs/*.md
	install -D -m 644 -t $(DOC)/examples $(wildcard docs/examples/*.*)
	install -D -m 644 -t $(DOC)/pictures docs/pictures/*
	install -D -m 644 -t $(DOC)/ci docs/ci/*
	scripts/manuals $(OUT)/vpu $(MAN)
	install -D -m 644 runtime/cli/shells/vpu.bash $(BASH)
	install -D -m 644 runtime/cli/shells/_vpu $(ZSH)
	install -D -m 644 runtime/cli/shells/vpu.fish $(FISH)
	install -D -m 644 visualizer/desktop/vpusim.desktop $(ENTRY)
	install -D -m 644 visualizer/desktop/vpusim.svg $(ICON)
	install -D -m 644 visualizer/desktop/vpusim.xml $(MIME)
	cp -r kernels $(SHARE)/
	sed -i 's|\.\./\.\./build/plugins/|../../../../lib/vpusim/plugins/|' \
	    $(SHARE)/kernels/*/*.case
uninstall:
	rm -f $(BIN) $(HEADER) $(QUERIES) $(RULES) $(VENDOR) $(DRIVER) $(SHARED) $(SHARED).$(SONAME) $(PC)
	rm -f $(ENTRY) $(ICON) $(MIME)
	rm -f $(BASH) $(ZSH) $(FISH) $(MAN)/man1/vpu.1 $(MAN)/man*/vpu-*.[15] $(MAN)/man3/libvpusim.3
	rm -rf $(HEADERS) $(SHARE) $(LIB) $(DOC)
# The files of the last commit as a source package.
dist:
	@mkdir -p build
	git archive --format=tar.gz --prefix=vpusim-$(VERSION)/ \
	    -o build/vpusim-$(VERSION).tar.gz HEAD
# Debian's packages of the last commit, in build/deb.
deb:
	@scripts/deps deb
	@$(MAKE) --no-print-directory dist
	@scripts/deb build/vpusim-$(VERSION).tar.gz build/deb
check-deb: # what make deb left: built again, looked at, installed, used, removed
	@scripts/deps deb
	@scripts/check-deb build/vpusim-$(VERSION).tar.gz build/deb
.PHONY: deb check-deb
clean:
	rm -rf build
est: # rows of the tables whose numbers are estimates
	@grep -nH 'EST("' isa/*.def sim/shave/*.def || true
# Every target for FUZZ_SECONDS (10); FUZZ_ONLY=npy is one alone.
fuzz: deps
	@scripts/deps clang
	@$(MAKE) --no-print-directory CONF=fuzz run-fuzz
run-fuzz: $(if $(FUZZ_ONLY),$(OUT)/tests/fuzz/$(FUZZ_ONLY)_fuzz,$(FUZZ)) $(SEEDER)
	@scripts/fuzz $(OUT) $(filter-out $(SEEDER),$^)
check-fuzz: # its seeds and a few seconds more
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-5} $(MAKE) --no-print-directory fuzz
# Which small changes of the program no test notices; see scripts/mutate --help.
mutate: deps
	@scripts/mutate --sample $${MUTANTS:-20} $${MUTATE_ONLY:+--only $$MUTATE_ONLY}
FORCE:
window-references: all $(OUT)/tests/visualizer/window_test # look at them then
	@VPU_WRITE_REFERENCES=1 VPU=$(OUT)/vpu $(OUT)/tests/visualizer/window_test
docs-pictures: all # what the viewer makes of the GRN sample
	@scripts/docs-pictures build/vpu
.PHONY: check-calibrate run-check-calibrate check-calibrate-long run-check-calibrate-long check-slurm run-check-slurm check-slurm-long run-check-slurm-long check-opencl run-check-opencl check-usb run-check-usb check-openvino run-check-openvino check-perfetto run-check-perfetto fidelity run-fidelity fidelity-pin run-fidelity-pin sensitivity run-sensitivity conflicts run-conflicts check-engines check-checked run-check-checked docs-pictures window-references check-random run-check-random
.PHONY: check-scan run-check-scan check-hostile run-check-hostile mutate check-asan run-check-asan check-tsan run-check-tsan nightly
.PHONY: install uninstall dist est fuzz run-fuzz check-fuzz opencl-c run-opencl-c all deps check demo run-check run-demo asan bench run-bench bench-library bench-cache headers \
        layers prefixes citations docs docs-check check-extending lint format tidy install clean FORCE
.PHONY: python python-cdef check-python run-check-python check-dap run-check-dap check-clangd run-check-clangd check-html run-check-html
