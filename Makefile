# SPDX-License-Identifier: MIT
# Everything is built under build/ (O=...). `make V=1` shows the commands, WERROR=1 makes warnings errors.
#
#   make            build/libpftshim.so and the programs of pft beside it
#   make demo       from a fresh Debian to a trace of a real program
#   make check      from a fresh Debian to "N passed, N failed"; check-slow adds the long tests
#   make asan tsan  the unit tests under the sanitizers
#   make fuzz       feeds the readers what nobody would write, FUZZ_SECONDS each
#   make bench format lint install uninstall clean

O := build
PREFIX := /usr/local
DESTDIR :=
CC := gcc
CXX := g++
OBJCOPY := objcopy

.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')
# Recipes that build on use every processor, unless the user said -j himself.
parallel = --no-print-directory $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

# ---- sources ----------------------------------------------------------------------------------------

# Programs that stand on the encoder are no part of the library.
encoder_programs := $(wildcard encoder/convert.c encoder/clean.c encoder/ctl.c encoder/diff.c encoder/ls.c encoder/open.c encoder/recover.c encoder/report.c \
	encoder/merge.c)
# The library reports at exit; only pft-report reads traces for that.
report_sources := encoder/report/feed.c encoder/report/html.c encoder/report/page.S
encoder_sources := $(filter-out $(encoder_programs) $(report_sources),$(wildcard encoder/*.c encoder/base/*.c encoder/report/*.c))
read_sources := $(wildcard encoder/read/*.c)
recover_sources := $(wildcard encoder/recover/*.c)
page_sources := $(wildcard encoder/report/page/*)
merge_sources := $(wildcard encoder/merge/*.c)
diff_sources := $(wildcard encoder/diff/*.c)
terminal_sources := $(wildcard encoder/terminal/*.c)
executions_sources := $(wildcard encoder/executions/*.c)
serve_sources := $(wildcard encoder/serve/*.c)
shim_sources := $(wildcard shim/*.c shim/*.S)
hot_sources := $(wildcard shim/hot/*.c shim/hot/*.S)
test_sources := $(wildcard tests/unit/*.c tests/unit/*.S)
fuzz_sources := $(filter-out tests/fuzz/entry.c tests/fuzz/pieces.c,$(wildcard tests/fuzz/*.c))

objects_of = $(addprefix $(O)/,$(addsuffix .o,$(basename $(1))))
proto_object := $(O)/proto/pftrace.pb-c.o
encoder_objects := $(call objects_of,$(encoder_sources)) $(proto_object)
hot_objects := $(call objects_of,$(hot_sources))
shim_objects := $(call objects_of,$(shim_sources)) $(hot_objects)
fuzz_support_objects := $(call objects_of,$(fuzz_sources))
test_objects := $(call objects_of,$(test_sources)) $(fuzz_support_objects)
read_objects := $(call objects_of,$(read_sources))
recover_objects := $(call objects_of,$(recover_sources))
report_objects := $(call objects_of,$(report_sources))
merge_objects := $(call objects_of,$(merge_sources))
diff_objects := $(call objects_of,$(diff_sources))
terminal_objects := $(call objects_of,$(terminal_sources))
executions_objects := $(call objects_of,$(executions_sources))
serve_objects := $(call objects_of,$(serve_sources))
program_objects := $(call objects_of,$(encoder_programs)) $(read_objects) $(recover_objects) $(report_objects) \
	$(merge_objects) $(diff_objects) $(terminal_objects) $(executions_objects) $(serve_objects)
programs := $(patsubst encoder/%.c,$(O)/pft-%,$(encoder_programs))
objects := $(encoder_objects) $(shim_objects) $(test_objects) $(program_objects)

# ---- flags ------------------------------------------------------------------------------------------

# Defined as nothing, so that a file may define it as well.
language := -std=gnu11 -D_GNU_SOURCE=
cflags := $(language) -O2 -g -fPIC -Wall -Wextra $(if $(WERROR),-Werror) -I. -I$(O) -MMD -MP
cflags += $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# initial-exec: a dynamic TLS access calls __tls_get_addr, which may allocate, in the middle of anything.
# The library must also run where a shadow stack or indirect branch tracking is on.
library_cflags := -fvisibility=hidden -ftls-model=initial-exec -fcf-protection
# Hot code runs between a caller and its callee: vector registers may hold arguments, and the stack
# protector reads a canary that a foreign stack's thread block need not have.
hot_cflags := -mgeneral-regs-only -fno-stack-protector

$(encoder_objects) $(shim_objects): cflags += $(library_cflags)
$(filter-out $(proto_object),$(hot_objects)): cflags += $(hot_cflags)
$(O)/encoder/base/string.o: cflags += -ffreestanding $(if $(filter clang%,$(CC)),,-fno-tree-loop-distribute-patterns)

# initfirst: our constructor runs before those of the program's libraries, our destructor after them.
library_ldflags := -shared -static-libgcc -Wl,-z,defs,-z,now,-z,relro,-z,initfirst \
	-Wl,--exclude-libs,ALL -Wl,--version-script=shim/exports.map

# ---- the library ------------------------------------------------------------------------------------

all: $(O)/libpftshim.so $(programs)
	@:

# Static copies that call us where they would call the program's allocator, which may be locked, hooked or
# waiting, or stdio, which looks at a locale: encoder/libiberty.c defines the names with __wrap_ in front.
# Renaming symbols in a copy of the archive, and not --wrap for the whole link, serves the library and the
# unit tests alike: the tests and their framework keep their own.
guest_libraries := $(O)/libiberty.a $(O)/libprotobuf-c.a $(O)/libz.a $(O)/libzstd.a
guest_symbols := malloc calloc realloc free sprintf snprintf __sprintf_chk __snprintf_chk

$(O)/lib%.a: | $(O)
	$(call say,OBJCOPY,$@)
	$(Q)$(OBJCOPY) $(foreach symbol,$(guest_symbols),--redefine-sym $(symbol)=__wrap_$(symbol)) \
		"$$($(CC) -print-file-name=lib$*.a)" $@

$(O)/libpftshim.so: $(encoder_objects) $(shim_objects) $(guest_libraries) shim/exports.map
	$(call say,LD,$@)
	$(Q)$(CC) $(library_ldflags) $(LDFLAGS) -o $@ $(encoder_objects) $(shim_objects) $(guest_libraries)

$(programs): $(O)/pft-%: $(O)/encoder/%.o $(encoder_objects) $(terminal_objects) $(guest_libraries)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -Wl,--gc-sections -o $@ $(filter-out %.a,$^) $(guest_libraries) $(program_libraries)

$(O)/pft-recover: $(recover_objects)

# What was recorded.
$(O)/pft-ls $(O)/pft-clean: $(executions_objects) $(recover_objects) $(read_objects) $(O)/encoder/report/units.o

$(O)/pft-open: $(serve_objects) $(read_objects)

# Programs that read traces.
$(O)/pft-convert $(O)/pft-report $(O)/pft-merge: $(read_objects)
$(O)/pft-report: $(report_objects)
$(O)/pft-merge: $(merge_objects) $(recover_objects)
$(O)/pft-diff: $(diff_objects) $(read_objects) $(report_objects) $(merge_objects) $(recover_objects)
$(O)/pft-diff: program_libraries := -lm

# The page of pft report --html. npm's part is asked for until it is there.
$(O)/page/node_modules/.package-lock.json: encoder/report/page/package-lock.json
	$(call say,NPM,$(O)/page)
	$(Q)scripts/bootstrap page $(O)/page

$(O)/page/head.html $(O)/page/tail.html &: $(page_sources) scripts/make-page $(O)/page/node_modules/.package-lock.json
	$(call say,PAGE,$(O)/page)
	@mkdir -p $(O)/page
	$(Q)scripts/make-page $(O)/page/node_modules $(O)/page

$(O)/encoder/report/page.o: $(O)/page/head.html $(O)/page/tail.html

$(O)/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(cflags) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

# No line numbers: a debugger steps over what has none, and would look for the thunks' second line in vain.
$(O)/%.o: %.S
	$(call say,AS,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(cflags) $(CPPFLAGS) $(CFLAGS) -g0 -c -o $@ $<

$(O)/proto/%.o: $(O)/proto/%.c
	$(call say,CC,$<)
	$(Q)$(CC) $(cflags) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(O)/proto/%.pb-c.c $(O)/proto/%.pb-c.h: proto/%.proto
	$(call say,PROTOC,$<)
	@mkdir -p $(O)
	$(Q)protoc-c --c_out=$(O) $<

$(filter-out $(proto_object),$(objects)): Makefile | $(O)/proto/pftrace.pb-c.h

$(O):
	@mkdir -p $@

-include $(objects:.o=.d)

# ---- tests ------------------------------------------------------------------------------------------

# One binary: all unit tests, and the library's objects but for its constructor and destructor, and for what
# the loader would call in it, and a sanitizer, before the sanitizer's own memory is there.
untested_objects := $(addprefix $(O)/shim/,shim.o loader.o loader_x86_64.o)
tested_objects := $(encoder_objects) $(recover_objects) $(terminal_objects) $(executions_objects) \
	$(serve_objects) $(filter-out $(untested_objects),$(shim_objects))
unit_tests := $(O)/tests/unit/all
test_framework := -lcriterion

# One small program a scenario; lib*.c become shared objects beside the programs. What a source needs
# stands in it: a line "// build: FLAGS" is added to its command line.
libraries_of = $(patsubst %.c,$(O)/%.so,$(wildcard $(1)/lib*.c))
programs_of = $(patsubst %,$(O)/%,$(basename $(filter-out $(1)/lib%,$(wildcard $(1)/*.c $(1)/*.cc))))
unit_libraries := $(call libraries_of,tests/unit/fixtures)
test_libraries := $(call libraries_of,tests/programs)
test_programs := $(call programs_of,tests/programs)
bench_programs := $(call programs_of,tests/bench)
program_cflags = -O2 -g -Wall -Wextra $(if $(WERROR),-Werror) -pthread -I. -MMD -MP -MF $@.d -L$(O)/tests/programs
own_flags = $(shell sed -n 's|^// build: ||p' $<)

$(unit_tests): $(test_objects) $(tested_objects) $(read_objects) $(report_objects) $(merge_objects) $(diff_objects) $(guest_libraries) | $(unit_libraries)
	$(call say,LD,$@)
	$(Q)$(CC) $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(LDFLAGS) -o $@ \
		$(test_objects) $(tested_objects) $(read_objects) $(report_objects) $(merge_objects) $(diff_objects) $(guest_libraries) $(test_framework) -lm -pthread

$(unit_libraries): $(wildcard tests/unit/fixtures/*.map)
$(test_programs) $(bench_programs): | $(test_libraries)
$(filter %/libopened_plugin.so %/libopened_bare.so %/libopened_next.so,$(test_libraries)): | $(O)/tests/programs/libcalls.so

$(O)/tests/%.so: tests/%.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(program_cflags) -fPIC -shared -o $@ $< $(own_flags)

$(O)/tests/%: tests/%.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(program_cflags) -o $@ $< $(own_flags)

$(O)/tests/%: tests/%.cc
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(program_cflags) -o $@ $< $(own_flags)

-include $(addsuffix .d,$(unit_libraries) $(test_libraries) $(test_programs) $(bench_programs))

tests: $(unit_tests) $(test_libraries) $(test_programs)
	@:

benches: $(bench_programs)
	@:

check check-slow:
	@scripts/bootstrap build
	@scripts/bootstrap test
	$(if $(filter check-slow,$@),@scripts/bootstrap slow)
	@$(MAKE) $(parallel) all tests
	@scripts/check $(if $(filter check-slow,$@),--slow) $(O)

asan:
	@scripts/bootstrap build
	@scripts/bootstrap test
	@$(MAKE) $(parallel) O=$(O)/asan SANITIZE=address,undefined $(O)/asan/tests/unit/all
	$(Q)$(O)/asan/tests/unit/all

# What threads share: a ring, between the thread that writes it and the flusher that drains it. Criterion does not run
# under this sanitizer, nor does the flusher's own thread, a bare clone: tests/unit/plain stands in for both.
threaded_tests := $(wildcard tests/unit/plain/*.c) $(filter-out tests/unit/test_%,$(test_sources)) \
	$(filter tests/unit/test_ring% tests/unit/test_stacks% tests/unit/test_flusher%,$(test_sources))

tsan:
	@scripts/bootstrap build
	@scripts/bootstrap test
	@$(MAKE) $(parallel) O=$(O)/tsan SANITIZE=thread CPPFLAGS=-Itests/unit/plain test_framework= \
		test_sources='$(threaded_tests)' hot_sources='$(filter-out shim/hot/guest%,$(hot_sources))' \
		$(O)/tsan/tests/unit/all
	$(Q)$(O)/tsan/tests/unit/all

# Each target is a program of libFuzzer's, built by clang. What it finds new goes to FUZZ_FOUND; what it trips
# over to a file that its last lines name.
FUZZ_SECONDS := 60
FUZZ_FOUND := $(O)/fuzz/found
fuzz_targets := $(patsubst tests/fuzz/target_%.c,%,$(wildcard tests/fuzz/target_*.c))
fuzz_programs := $(addprefix $(O)/tests/fuzz/,$(fuzz_targets))
# The page is no reader, and npm's part is not needed for the rest.
fuzz_objects := $(encoder_objects) $(read_objects) $(recover_objects) $(merge_objects) $(terminal_objects) $(fuzz_support_objects) \
	$(filter-out %/html.o %/page.o,$(report_objects))

$(O)/tests/fuzz/entry_%.o: tests/fuzz/entry.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(cflags) -DPFT_FUZZ_TARGET=pft_fuzz_$* -c -o $@ $<

$(fuzz_programs): $(O)/tests/fuzz/%: $(O)/tests/fuzz/entry_%.o $(fuzz_objects) $(guest_libraries)
	$(call say,LD,$@)
	$(Q)$(CC) -fsanitize=$(SANITIZE),fuzzer -o $@ $^ -lm

fuzz_build = $(parallel) O=$(O)/fuzz CC=clang SANITIZE=address,undefined CFLAGS=-fsanitize=fuzzer-no-link

fuzz-programs: $(fuzz_programs)

fuzz:
	@scripts/bootstrap build
	@scripts/bootstrap fuzz
	@$(MAKE) $(fuzz_build) fuzz-programs
	$(Q)for target in $(fuzz_targets); do \
		mkdir -p $(FUZZ_FOUND)/$$target && \
		$(O)/fuzz/tests/fuzz/$$target -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=1024 \
			-max_len=16384 -artifact_prefix=$(O)/fuzz/$$target- -print_final_stats=1 $(FUZZ_FOUND)/$$target \
			tests/fuzz/corpus/$$([ $$target = recover ] && echo session || echo trace) || exit 1; \
	done

bench:
	@scripts/bootstrap build
	@$(MAKE) $(parallel) all benches
	$(Q)for bench in tests/bench/*.sh; do $$bench $(O) || exit 1; done

demo:
	@scripts/bootstrap build
	@$(MAKE) $(parallel) all
	@scripts/demo $(O)

# ---- upkeep -----------------------------------------------------------------------------------------

shell_files := scripts/bootstrap scripts/check scripts/demo scripts/pft scripts/pft.bash-completion .ci/run $(wildcard tests/run/*.sh)
c_files := $(shell find shim encoder tests -name '*.[ch]' -o -name '*.cc')

format:
	$(Q)clang-format -i $(c_files)

# varFuncNullUB: NULL is as wide as a pointer here. allocaCalled: execl may be called where malloc may not.
# SC2317, SC2053, SC2059: tests call functions by name, match patterns and print bytes.
lint: $(O)/proto/pftrace.pb-c.h
	$(Q)clang-format --dry-run -Werror $(c_files)
	$(Q)clang-tidy --quiet $(filter %.c,$(encoder_sources) $(read_sources) $(recover_sources) $(report_sources) $(merge_sources) $(diff_sources) \
		$(terminal_sources) $(executions_sources) $(serve_sources) $(encoder_programs) \
		$(shim_sources) $(hot_sources)) -- $(language) -I. -I$(O)
	$(Q)cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
		--suppress=varFuncNullUB --suppress=allocaCalled -I. shim encoder
	$(Q)shellcheck -e SC2317,SC2053,SC2059 $(shell_files)

install: all
	install -D -m 755 $(O)/libpftshim.so $(DESTDIR)$(PREFIX)/lib/pftshim/libpftshim.so
	install -m 755 $(programs) $(DESTDIR)$(PREFIX)/lib/pftshim
	install -D -m 755 scripts/pft $(DESTDIR)$(PREFIX)/bin/pft
	install -D -m 644 README.md $(DESTDIR)$(PREFIX)/share/doc/pftshim/README.md
	install -D -m 644 docs/pft.1 $(DESTDIR)$(PREFIX)/share/man/man1/pft.1
	install -D -m 644 docs/libpftshim.7 $(DESTDIR)$(PREFIX)/share/man/man7/libpftshim.7
	install -D -m 644 scripts/pft.bash-completion $(DESTDIR)$(PREFIX)/share/bash-completion/completions/pft

uninstall:
	rm -rf $(DESTDIR)$(PREFIX)/lib/pftshim $(DESTDIR)$(PREFIX)/share/doc/pftshim
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/pft share/man/man1/pft.1 share/man/man7/libpftshim.7 \
		share/bash-completion/completions/pft)

clean:
	rm -rf $(O)

.PHONY: all tests benches check check-slow asan tsan fuzz fuzz-programs bench demo format lint install uninstall clean
