# What .incbin carries: one line per object file.
$(OUT)/sim/machine/desc.o: sim/machine/ma2x8x.xml
