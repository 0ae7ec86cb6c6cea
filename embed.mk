# Files the program carries inside: .incbin is invisible to the compiler's -MMD.
$(OUT)/sim/builtins/prelude.o: sim/builtins/prelude.cl
