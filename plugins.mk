# make plugins: the sample layers' definitions, build/plugins/NAME.so, which
# `host:build/plugins/NAME.so` loads. They use include/vpusim/vpu_plugin.h alone.
PLUGINS := $(patsubst kernels/%/plugin.c,build/plugins/%.so,\
             $(sort $(wildcard kernels/*/plugin.c)))

plugins: $(PLUGINS)
build/plugins/%.so: kernels/%/plugin.c include/vpusim/vpu_plugin.h
	@mkdir -p $(@D)
	$(call say,LD)$(CC) -std=c99 -Wall -Wextra -Werror -O2 $(FLOAT) -Iinclude/vpusim \
	    $(CPPFLAGS) $(CFLAGS) -shared -fPIC -fvisibility=hidden $(LDFLAGS) -o $@ $< -lm
.PHONY: plugins
