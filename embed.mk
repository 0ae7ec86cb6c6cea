# Files the program carries inside: .incbin is invisible to the compiler's -MMD.
$(OUT)/sim/builtins/prelude.o: include/vpusim/kernel.h
$(OUT)/sim/machine/desc.o: sim/machine/ma2x8x.xml
$(OUT)/runtime/cli/gdb.o: runtime/cli/gdb_frames.py
$(OUT)/runtime/openvino/process.o: runtime/openvino/vendor.py
$(OUT)/runtime/graph/convert.o: runtime/graph/convert.cl
$(OUT)/runtime/backend/opencl_text.o: runtime/backend/opencl_prelude.cl
$(OUT)/runtime/api/builtin.o: runtime/api/operations.cl
$(OUT)/runtime/api/border.o: runtime/api/border.cl
$(OUT)/runtime/api/program.o: include/vpusim/images.h
$(OUT)/runtime/init/init.o: $(wildcard runtime/init/templates/*)
$(OUT)/runtime/calibrate/design.o: $(wildcard runtime/calibrate/kernels/*.cl)
$(OUT)/visualizer/html.o: $(wildcard visualizer/html/page.*)
