# tilec: `make demo` and `make test` do everything, the install of what is missing included.
# All that is built lies under build/.

MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.SECONDARY:

PREFIX ?= /usr/local
PC_PREFIX = $(PREFIX)
LDCONFIG ?= ldconfig
BUILD ?= build
CC = gcc
CXX = g++
LLVM_CONFIG ?= llvm-config-22
SANITIZE ?=

# What is run is shown in short; in full with V=1.
Q = $(if $(V),,@)
say = $(if $(V),@:,@printf '  %-8s %s\n' '$(1)' '$(2)')

WARN = -Wall -Wextra -Wpedantic -Werror
OPT ?= -O2 -g
CFLAGS_COMMON = $(OPT) $(WARN) -MMD -MP -D_GNU_SOURCE -ffunction-sections -fdata-sections $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all)
LLVM_INCLUDE = $(shell $(LLVM_CONFIG) --includedir 2>/dev/null)
# Position-independent, since they are a shared library too.
CFLAGS_COMPILER = -std=c17 $(CFLAGS_COMMON) -fPIC -fvisibility=hidden -Icompiler -I$(BUILD)/gen -Iruntime -Iruntime/include -isystem $(LLVM_INCLUDE)
CFLAGS_RUNTIME = -std=c11 $(CFLAGS_COMMON) -fPIC -fvisibility=hidden -Iruntime -Iruntime/include

.PHONY: all build deps demo test unit reference grammar golden exec samples layers check-layers docs manual html install format clean fuzz fuzzers mutants coverage gpu-bundle editors
all: build
build: $(BUILD)/tilec $(BUILD)/libtile.a $(BUILD)/libtile.so $(BUILD)/libtile_emulator.a $(BUILD)/libtile_emulator.so $(BUILD)/libtilec.so editors

# ---- generated sources ---------------------------------------------------------------------------

GEN = $(BUILD)/gen
$(GEN)/tile_grammar.h $(GEN)/tile_grammar.c &: grammar/tile.y
	@mkdir -p $(GEN)
	$(call say,LEMON,$@)
	$(Q)lemon -d$(GEN) -l -q $<
	mv $(GEN)/tile.c $(GEN)/tile_grammar.c
	mv $(GEN)/tile.h $(GEN)/tile_grammar.h
$(GEN)/%_tokens.c: grammar/%.re
	@mkdir -p $(GEN)
	$(call say,RE2C,$@)
	$(Q)re2c -W -Werror -i --no-generation-date -o $@ $<
# The standard library as one C array: the compiler carries it.
STDLIB = $(sort $(shell find stdlib -name '*.tile' 2>/dev/null))
$(GEN)/stdlib_text.c: compiler/eval/python/embed.awk $(STDLIB)
	@mkdir -p $(GEN)
	LC_ALL=C awk -f compiler/eval/python/embed.awk $(STDLIB) > $@
# The pages of `tilec explain`, a text for each row of diag.def.
$(GEN)/explain_text.c: compiler/base/explain.awk compiler/base/diag.def compiler/base/explain.txt
	@mkdir -p $(GEN)
	LC_ALL=C awk -f $^ > $@

# What the language server says of the dialects' names.
$(GEN)/sentences_text.c: compiler/lsp/sentences.awk $(sort $(wildcard man/reference/*.txt))
	@mkdir -p $(GEN)
	LC_ALL=C awk -f $^ > $@

# ---- the compiler: one archive a folder, so that the linker holds the include table a second time ---

FOLDERS = base target syntax ir eval passes codegen emit
sources = $(wildcard compiler/$(1)/*.c compiler/$(1)/*/*.c)
objects = $(patsubst compiler/%.c,$(BUILD)/obj/%.o,$(call sources,$(1)))
GEN_base = $(GEN)/explain_text.c
GEN_syntax = $(GEN)/tile_grammar.c $(GEN)/tile_tokens.c
GEN_ir = $(GEN)/ir_tokens.c
GEN_eval = $(GEN)/stdlib_text.c
define folder
OBJ_$(1) = $(call objects,$(1)) $$(patsubst $(GEN)/%.c,$(BUILD)/obj/gen/%.o,$$(GEN_$(1)))
$(BUILD)/lib/$(1).a: $$(OBJ_$(1))
	@mkdir -p $$(@D)
	$$(call say,AR,$$@)
	$$(Q)rm -f $$@; ar qcs $$@ $$^
.PHONY: folder-$(1)
folder-$(1): $(BUILD)/lib/$(1).a
endef
$(foreach f,$(FOLDERS),$(eval $(call folder,$(f))))

$(OBJ_syntax): | $(GEN)/tile_grammar.h
$(BUILD)/obj/%.o: compiler/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS_COMPILER) -c $< -o $@
$(BUILD)/obj/gen/%.o: $(GEN)/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS_COMPILER) -Wno-unused-parameter -Wno-unused-variable -c $< -o $@

MAIN_OBJ = $(patsubst compiler/%.c,$(BUILD)/obj/%.o,$(wildcard compiler/*.c compiler/build/*.c compiler/lsp/*.c compiler/command/*.c compiler/command/*/*.c)) $(BUILD)/obj/gen/sentences_text.o
LIBS = $(foreach f,emit codegen passes eval ir syntax target base,$(BUILD)/lib/$(f).a)
LLVM_LIBS = $(shell $(LLVM_CONFIG) --link-static --ldflags --libs nvptx x86 aarch64 passes orcjit 2>/dev/null)
SYSTEM_LIBS = -static-libstdc++ -static-libgcc -Wl,-Bstatic -ljansson -lz -lzstd -Wl,-Bdynamic -lpthread -ldl -lm

$(BUILD)/tilec: $(MAIN_OBJ) $(LIBS) $(BUILD)/exported/libtile.a $(BUILD)/exported/libtile_emulator.a
	$(call say,LINK,$@)
	$(Q)$(CXX) $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -o $@ $(MAIN_OBJ) -Wl,--start-group $(LIBS) -Wl,--end-group \
	  -Wl,--whole-archive $(BUILD)/exported/libtile_emulator.a $(BUILD)/exported/libtile.a -Wl,--no-whole-archive \
	  $(LLVM_LIBS) $(SYSTEM_LIBS) -Wl,--gc-sections -Wl,--export-dynamic-symbol='tile_*' $(if $(SANITIZE),,-s)

# The compiler inside other programs: what the commands and main add is left out, and an internal error is no exit.
LIBRARY_OBJ = $(patsubst compiler/%.c,$(BUILD)/obj/%.o,$(filter-out compiler/main.c,$(wildcard compiler/*.c)) $(wildcard compiler/build/*.c compiler/library/*.c))
$(BUILD)/libtilec.so: $(LIBRARY_OBJ) $(LIBS)
	$(call say,LINK,$@)
	$(Q)$(CXX) $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -shared -Wl,-soname,libtilec.so.0 -o $@ $(LIBRARY_OBJ) \
	  -Wl,--start-group $(LIBS) -Wl,--end-group $(LLVM_LIBS) $(SYSTEM_LIBS) -Wl,--exclude-libs,ALL -Wl,-Bsymbolic \
	  -Wl,--gc-sections $(if $(SANITIZE),,-Wl,-z,defs -s)

# ---- the runtime ------------------------------------------------------------------------------------

# Twice: in the static libraries nothing is seen outside of what they are linked into, so that plug-ins with a libtile each get their
# own; the shared ones, and tilec, whose code in memory calls the emulator, show what the headers declare.
RUNTIME_SOURCES = $(wildcard runtime/*.c)
EMULATOR_SOURCES = $(wildcard runtime/emulator/*.c)
EXPORTED = $(BUILD)/exported
RUNTIME_OBJ = $(RUNTIME_SOURCES:runtime/%.c=$(BUILD)/obj/runtime/%.o)
EMULATOR_OBJ = $(EMULATOR_SOURCES:runtime/%.c=$(BUILD)/obj/runtime/%.o)
$(BUILD)/obj/runtime/%.o: runtime/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS_RUNTIME) -c $< -o $@
$(BUILD)/obj/runtime_static/%.o: runtime/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS_RUNTIME) '-DTILE_API=__attribute__((visibility("hidden")))' -c $< -o $@
$(BUILD)/libtile.a: $(RUNTIME_SOURCES:runtime/%.c=$(BUILD)/obj/runtime_static/%.o)
$(BUILD)/libtile_emulator.a: $(EMULATOR_SOURCES:runtime/%.c=$(BUILD)/obj/runtime_static/%.o)
$(EXPORTED)/libtile.a: $(RUNTIME_OBJ)
$(EXPORTED)/libtile_emulator.a: $(EMULATOR_OBJ)
$(foreach a,libtile.a libtile_emulator.a,$(BUILD)/$(a) $(EXPORTED)/$(a)):
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@; ar qcs $@ $^
$(BUILD)/libtile.so: $(RUNTIME_OBJ)
	$(call say,CC,$@)
	$(Q)$(CC) $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -shared -Wl,-soname,libtile.so.0 -o $@ $^ -ldl -lpthread
# For programs that are not linked, as Python is: it finds the libtile that lies beside it.
$(BUILD)/libtile_emulator.so: $(EMULATOR_OBJ) $(BUILD)/libtile.so
	$(call say,CC,$@)
	$(Q)$(CC) $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -shared -Wl,-soname,libtile_emulator.so.0 -o $@ $(EMULATOR_OBJ) \
	  $(BUILD)/libtile.so -Wl,-rpath,'$$ORIGIN' -lm -lpthread

# ---- tests --------------------------------------------------------------------------------------------

NEEDS_base = base
NEEDS_target = target base
NEEDS_cost = target base
NEEDS_syntax = syntax base
NEEDS_ir = ir base
NEEDS_dtype = ir base
NEEDS_layout = ir base
NEEDS_layout_relate = ir base
NEEDS_eval = eval ir syntax target base
NEEDS_passes = passes ir target base
NEEDS_codegen = codegen ir target base
NEEDS_codegen_emulator = codegen ir target base
NEEDS_codegen_orders = codegen ir target base
NEEDS_cache = codegen base
UNIT_FOLDERS = $(foreach f,$(FOLDERS),$(if $(wildcard tests/unit/$(f)_test.c),$(f)))
UNIT = $(patsubst tests/unit/%_test.c,$(BUILD)/unit/%_test,$(wildcard tests/unit/*_test.c))
.SECONDEXPANSION:
$(BUILD)/unit/%_test: tests/unit/%_test.c $$(foreach f,$$(NEEDS_$$*),$(BUILD)/lib/$$(f).a) $$(UNIT_EXTRA_$$*)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS_COMPILER) -Wno-missing-field-initializers -o $@ $< $(filter %.a,$^) -lcmocka -ldl -lpthread -lm $(UNIT_LIBS_$*)
UNIT_EXTRA_tensor = $(BUILD)/libtile.a
UNIT_EXTRA_launch = $(BUILD)/libtile.a
UNIT_EXTRA_library = $(BUILD)/libtilec.so
UNIT_EXTRA_interpreter = $(BUILD)/libtilec.so
UNIT_EXTRA_tune = $(BUILD)/libtile.a $(BUILD)/unit/libfake_cuda.so
UNIT_EXTRA_runtime = $(BUILD)/libtile.a $(BUILD)/unit/libfake_cuda.so
UNIT_EXTRA_tape = $(BUILD)/libtile.a $(BUILD)/unit/libfake_cuda.so
UNIT_EXTRA_devices = $(BUILD)/libtile.a $(BUILD)/unit/libfake_cuda.so $(BUILD)/unit/libfake_graphs.so
# The driver that the runtime's test runs against; it lies beside the test program.
$(BUILD)/unit/libfake_cuda.so: tests/tools/fake_cuda.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS_RUNTIME) $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -shared -o $@ $< -lpthread
# The same with streams and graphs, for programs.
$(BUILD)/unit/libfake_graphs.so: tests/tools/fake_graphs.c tests/tools/fake_cuda.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS_RUNTIME) $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -shared -o $@ $< -lpthread
# libtile's allocations go through the test; the plug-in that it loads and unloads has a libtile of its own.
UNIT_EXTRA_faults = $(BUILD)/libtile.a $(BUILD)/unit/libfake_cuda.so $(BUILD)/unit/libkernel.so
UNIT_LIBS_faults = $(foreach f,malloc calloc realloc aligned_alloc free,-Wl,--wrap=$(f))
$(BUILD)/unit/libkernel.so: tests/tools/kernel_library.c $(BUILD)/libtile.a
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS_RUNTIME) -Wno-missing-field-initializers $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -shared -o $@ $^ -ldl -lpthread
# How fast text becomes a tree.
$(BUILD)/bench/parse_speed: tests/bench/parse_speed.c $(BUILD)/lib/syntax.a $(BUILD)/lib/base.a
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS_COMPILER) -o $@ $< $(filter %.a,$^) -lm
# Broken texts for the parser.
$(BUILD)/unit/mutate: tests/tools/mutate.c $(BUILD)/lib/syntax.a $(BUILD)/lib/base.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_COMPILER) -o $@ $< $(filter %.a,$^) -lm
# The errors of math.tile; NUMERICS_ARCH may name GPUs too.
NUMERICS_ARCH ?= emulator
$(BUILD)/numerics/check: tests/numerics/check.c tests/numerics/functions.def tests/numerics/kernels.tile $(BUILD)/tilec $(BUILD)/libtile.a $(BUILD)/libtile_emulator.a
	@mkdir -p $(@D)
	$(BUILD)/tilec tests/numerics/kernels.tile --arch=$(NUMERICS_ARCH) -o $(@D)/kernels.o -H $(@D)/kernels.h
	$(call say,CC,$@)
	$(Q)$(CC) -std=gnu11 $(OPT) $(filter-out -Wpedantic,$(WARN)) -D_GNU_SOURCE $(if $(SANITIZE),-fsanitize=$(SANITIZE)) \
	  -Iruntime/include -I$(@D) -o $@ $< $(@D)/kernels.o $(BUILD)/libtile_emulator.a $(BUILD)/libtile.a -lm -lpthread -ldl
UNIT_EXTRA_emulator = $(BUILD)/libtile_emulator.a $(BUILD)/libtile.a
UNIT_EXTRA_codegen = $(EXPORTED)/libtile_emulator.a $(EXPORTED)/libtile.a
UNIT_EXTRA_codegen_emulator = $(UNIT_EXTRA_codegen)
UNIT_EXTRA_codegen_orders = $(UNIT_EXTRA_codegen)
# The reference interpreter of tile IR: it may link ir/ alone.
INTERPRETER = $(foreach f,interpret memory threads arithmetic,$(BUILD)/reference/$(f).o)
$(BUILD)/reference/%.o: tests/reference/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS_COMPILER) -Itests/reference -c $< -o $@
$(BUILD)/reference/interpret: $(BUILD)/reference/main.o $(INTERPRETER) $(BUILD)/lib/ir.a $(BUILD)/lib/base.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -o $@ $^ -lm
# `tilec run` with the interpreter looking on.
$(BUILD)/reference/differ: $(BUILD)/reference/differ.o $(INTERPRETER) $(filter-out %/obj/main.o,$(MAIN_OBJ)) $(LIBS) $(EXPORTED)/libtile.a $(EXPORTED)/libtile_emulator.a
	$(call say,LINK,$@)
	$(Q)$(CXX) $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -o $@ $(filter %.o,$^) -Wl,--start-group $(LIBS) -Wl,--end-group \
	  -Wl,--whole-archive $(BUILD)/exported/libtile_emulator.a $(BUILD)/exported/libtile.a -Wl,--no-whole-archive \
	  $(LLVM_LIBS) $(SYSTEM_LIBS) -Wl,--gc-sections -Wl,--export-dynamic-symbol='tile_*'
# The tests load what they compile, which calls the emulator in the test itself.
UNIT_LIBS_codegen_emulator = $(UNIT_LIBS_codegen)
UNIT_LIBS_codegen_orders = $(UNIT_LIBS_codegen)
UNIT_LIBS_cache = $(foreach f,open read write close rename unlink stat lstat mkdir opendir readdir utimensat,-Wl,--wrap=$(f)) \
  $(LLVM_LIBS) -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic $(SYSTEM_LIBS) -Wl,--gc-sections
UNIT_LIBS_codegen = -Wl,-u,tile_emulator_run $(LLVM_LIBS) -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic $(SYSTEM_LIBS) -Wl,--gc-sections -Wl,--export-dynamic-symbol='tile_*'

# ---- libFuzzer: `make fuzz` gives each target FUZZ_SECONDS, `make test FUZZ_SECONDS=N` too; clang with its run-time libraries is needed

FUZZ_CC ?= clang
FUZZ ?= parse eval ir tune cache object
FUZZ_SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-sanitize=function
FUZZ_INCLUDE = -D_GNU_SOURCE -Icompiler -I$(GEN) -Iruntime -Iruntime/include -isystem $(LLVM_INCLUDE)
FUZZ_FLAGS = -w -O1 -g -MMD -MP -fno-omit-frame-pointer -ffunction-sections -fdata-sections $(FUZZ_SANITIZE) $(FUZZ_INCLUDE)
FUZZ_PARTS = base target syntax ir eval passes
FUZZ_LINK = -Wl,--wrap=internal_error -Wl,--gc-sections -lpthread -lm
FUZZ_EXTRA_cache = compiler/build/units.c
FUZZ_EXTRA_object = compiler/command/object_view.c compiler/command/object_print.c
$(patsubst $(BUILD)/obj/%,$(BUILD)/fuzz/obj/%,$(OBJ_syntax)): | $(GEN)/tile_grammar.h
$(BUILD)/fuzz/obj/%.o: compiler/%.c
	@mkdir -p $(@D)
	$(call say,CLANG,$@)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -std=c17 -fsanitize=fuzzer-no-link -c $< -o $@
$(BUILD)/fuzz/obj/gen/%.o: $(GEN)/%.c
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -std=c17 -fsanitize=fuzzer-no-link -c $< -o $@
$(BUILD)/fuzz/compiler.a: $(foreach f,$(FUZZ_PARTS),$(patsubst $(BUILD)/obj/%,$(BUILD)/fuzz/obj/%,$(OBJ_$(f))))
	$(Q)rm -f $@; ar qcs $@ $^
$(BUILD)/fuzz/%: tests/fuzz/targets/%.c $(wildcard tests/fuzz/targets/*.h) $(BUILD)/fuzz/compiler.a $$(FUZZ_EXTRA_$$*)
	$(call say,CLANG,$@)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -std=c17 -fsanitize=fuzzer -o $@ $< $(FUZZ_EXTRA_$*) $(BUILD)/fuzz/compiler.a $(FUZZ_LINK)
$(BUILD)/fuzz/ir.dict: compiler/ir/ops.def compiler/ir/dtypes.def compiler/ir/attrs.def
	LC_ALL=C sed -nE 's/^[A-Z_]+\(([a-zA-Z0-9_]+).*/"\1"/p; $$a"#l0"\n"#l0 = {shape"' $^ > $@
$(BUILD)/fuzz/eval.dict: $(wildcard compiler/eval/*/builtins.def) compiler/ir/dtypes.def
	LC_ALL=C sed -nE 's/^BUILTIN\("[^"]*", ("[^"]*").*/\1/p; s/^CORE\(("[^"]*").*/\1/p; s/^DTYPE\(([a-z0-9_]+).*/"\1"/p' $^ | sort -u > $@
# Which lines the tests run. Another build folder, as the objects count for themselves. A test that fails is no reason for no report.
COVERAGE = gcc --coverage -fprofile-update=atomic
coverage:
	@find $(BUILD)/coverage -name '*.gcda' -delete 2>/dev/null; true
	@+status=0; \
	$(MAKE) --no-print-directory test BUILD=$(BUILD)/coverage OPT=-O1 CC='$(COVERAGE)' CXX='g++ --coverage' || status=1; \
	python3 tests/coverage.py $(BUILD)/coverage --least 90 compiler/syntax compiler/eval compiler/ir compiler/passes && exit $$status
# Each barrier, fence, commit, wait and condition of an access of each program of the suite left out, an hour or two of one
# core; what nobody misses is listed in build/fuzz/silent_mutants.txt under what the emulator saw of why. What is killed goes on where it was. The sample is
# what the tests look at each time.
.PHONY: mutants-sample
mutants-sample: build
	python3 tests/fuzz/fault_injection.py --sample --write tests/fuzz/surviving_sample.txt $(BUILD)/tilec
MUTANTS = $(BUILD)/fuzz/fault_injection.json
mutants: build
	@mkdir -p $(dir $(MUTANTS)); touch $(MUTANTS)
	python3 tests/fuzz/fault_injection.py --which all --skip $(MUTANTS) --json $(MUTANTS) --write $(BUILD)/fuzz/silent_mutants.txt \
	  $(BUILD)/tilec tests/exec/*.accept
	rm $(MUTANTS)
# What a run finds stays in build/fuzz/corpus; what crashes, in build/fuzz. Where each target starts: tests/fuzz/long.py.
fuzzers: $(FUZZ:%=$(BUILD)/fuzz/%) $(BUILD)/fuzz/ir.dict $(BUILD)/fuzz/eval.dict
fuzz: fuzzers
	python3 tests/fuzz/long.py --seconds $(or $(FUZZ_SECONDS),60) --jobs 2 $(BUILD)/fuzz $(FUZZ)
# The same without libFuzzer, on what is kept in tests/fuzz/corpus: part of the tests.
REPLAY = $(FUZZ:%=$(BUILD)/fuzz/replay_%)
$(BUILD)/fuzz/replay_%: tests/fuzz/targets/replay.c tests/fuzz/targets/%.c $(wildcard tests/fuzz/targets/*.h) $(foreach f,passes eval ir syntax target base,$(BUILD)/lib/$(f).a) $$(FUZZ_EXTRA_$$*)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -w -g -ffunction-sections -fdata-sections $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(FUZZ_INCLUDE) -std=c17 -o $@ $(wordlist 1,2,$^) $(FUZZ_EXTRA_$*) \
	  -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(FUZZ_LINK)

# `deps` may install llvm-config, which the variables above ask: hence the second make.
test: DEBIAN += mandoc cmark-gfm cmake ninja-build python3-numpy python3-pytest
test: deps
	@+$(MAKE) --no-print-directory build $(UNIT) $(REPLAY) $(BUILD)/unit/mutate $(BUILD)/reference/interpret $(BUILD)/reference/differ \
	  $(if $(FUZZ_SECONDS),fuzzers)
	@BUILD=$(BUILD) tests/run
unit: $(UNIT)
	@BUILD=$(BUILD) tests/run unit
grammar: $(BUILD)/unit/mutate
reference: $(BUILD)/reference/interpret $(BUILD)/reference/differ
reference grammar golden exec samples: build
	@BUILD=$(BUILD) tests/run $@
layers check-layers:
	@LC_ALL=C awk -f tests/layers.awk $$(find compiler runtime -name '*.[ch]')

# ---- set-up, demo, documents, installation ----------------------------------------------------------------

DEBIAN = gcc g++ pkg-config llvm-22-dev zlib1g-dev libzstd-dev libjansson-dev re2c lemon libcmocka-dev
deps:
	@missing=$$(for p in $(DEBIAN); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then \
	  echo "installing:" $$missing; \
	  sudo=$$([ $$(id -u) = 0 ] || echo sudo); \
	  $$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; \
	fi

# Relative, as names above the tree may have blanks, which make cannot handle.
FROM_SAMPLE = $(if $(filter /%,$(BUILD)),$(BUILD),../../$(BUILD))
demo: deps
	@+$(MAKE) --no-print-directory build
	@+$(MAKE) --no-print-directory -C samples/add_one TILE_BUILD=$(FROM_SAMPLE) TILE_OUT=$(FROM_SAMPLE)/samples/add_one run

VERSION = $(shell sed -n 's/.define TILEC_VERSION "\(.*\)"/\1/p' compiler/options.h)
# Each page with the table that its lists come from.
MAN = $(BUILD)/man
WRITTEN = tilec-lsp.1 libtile.3 libtilec.3 tilec-python.7
DIALECTS = tilus tilelang warp
PAGES = $(addprefix $(MAN)/,tilec.1 $(WRITTEN) tile.5 tile-core.7 tile-errors.7 tile-host.7 tile-ops.7 tile-passes.7 $(DIALECTS:%=tile-%.7))
$(foreach d,$(DIALECTS),$(eval TABLES_tile-$d.7 = dialect.awk reference/$d.txt))
$(DIALECTS:%=$(MAN)/tile-%.7): man/signatures.awk $(STDLIB)
TABLES_tilec.1 = options.awk ../compiler/options.def ../compiler/commands.def
TABLES_tile.5 = script.awk ../stdlib/tilus/script.tile ../stdlib/tilus/threads.tile ../stdlib/tilus/barriers.tile
TABLES_tile-errors.7 = errors.awk ../compiler/base/diag.def ../compiler/base/explain.txt
TABLES_tile-core.7 = core.awk $(addprefix ../compiler/eval/,$(addsuffix /builtins.def,python staging surface export))
TABLES_tile-host.7 = host.awk ../compiler/command/array/functions.c $(addprefix ../stdlib/compat/,array_methods.tile torch_methods.tile torch_arrays.tile torch.tile numpy.tile tile/host.tile arrays.tile)
TABLES_tile-passes.7 = passes.awk ../compiler/passes/passes.def
TABLES_tile-ops.7 = ops.awk ../compiler/ir/ops.def ../compiler/ir/traits.def ../compiler/ir/attrs.def
manual: $(PAGES) $(BUILD)/tilec.bash
# HTML is made where the tools for it are.
docs: manual
	@+if command -v mandoc >/dev/null && command -v cmark-gfm >/dev/null; then $(MAKE) --no-print-directory html; \
	else echo "no HTML without mandoc and cmark-gfm"; fi
html: manual
	$(call say,HTML,$(BUILD)/html)
	$(Q)docs/html.sh $(BUILD)/html $(PAGES)
$(BUILD)/tilec.bash: man/completion.awk compiler/options.def compiler/commands.def
	@mkdir -p $(@D)
	$(call say,AWK,$@)
	$(Q)LC_ALL=C awk -f $^ > $@
$(WRITTEN:%=$(MAN)/%): $(MAN)/%: man/%
	@mkdir -p $(@D)
	cp $< $@
$(MAN)/%: man/%.in man/text.awk $$(addprefix man/,$$(TABLES_$$*))
	@mkdir -p $(@D)
	$(call say,AWK,$@)
	$(Q)LC_ALL=C awk -f man/text.awk -f $(addprefix man/,$(TABLES_$*)) $< > $@

# For editors: the language's words come from the compiler's tables.
EDITORS = $(BUILD)/editors
EDITOR_FILES = $(addprefix $(EDITORS)/,README.md textmate/tile.tmLanguage.json vim/syntax/tile.vim vim/ftdetect/tile.vim vim/ftplugin/tile.vim vim/lsp/tilec.lua \
  vscode/tile.tmLanguage.json vscode/package.json vscode/language-configuration.json vscode/extension.js)
EDITOR_TABLES = compiler/syntax/token.c compiler/ir/dtype.c $(wildcard compiler/eval/*/builtins.def) stdlib/prelude.tile

editors: $(EDITOR_FILES)
$(EDITORS)/textmate/tile.tmLanguage.json: editors/words.awk $(EDITOR_TABLES) editors/textmate/tile.json.in
	@mkdir -p $(@D)
	$(call say,AWK,$@)
	$(Q)LC_ALL=C awk -v separator='|' -f $^ > $@
$(EDITORS)/vscode/tile.tmLanguage.json: $(EDITORS)/textmate/tile.tmLanguage.json
	@mkdir -p $(@D)
	cp $< $@
$(EDITORS)/vim/syntax/tile.vim: editors/words.awk $(EDITOR_TABLES) editors/vim/syntax/tile.vim.in
	@mkdir -p $(@D)
	$(call say,AWK,$@)
	$(Q)LC_ALL=C awk -v separator=' ' -f $^ > $@
$(EDITORS)/%: editors/%
	@mkdir -p $(@D)
	cp $< $@

.PHONY: ARCHITECTURE.md
ARCHITECTURE.md: build
	man/architecture.sh $(BUILD)/tilec > $@.new && mv $@.new $@

install: build manual editors
	install -D $(BUILD)/tilec "$(DESTDIR)$(PREFIX)"/bin/tilec
	install -D -m 644 -t "$(DESTDIR)$(PREFIX)"/lib $(BUILD)/libtile.a $(BUILD)/libtile_emulator.a
	install -D $(BUILD)/libtile.so "$(DESTDIR)$(PREFIX)"/lib/libtile.so.0
	install $(BUILD)/libtilec.so "$(DESTDIR)$(PREFIX)"/lib/libtilec.so.0
	install $(BUILD)/libtile_emulator.so "$(DESTDIR)$(PREFIX)"/lib/libtile_emulator.so.0
	for name in libtile libtile_emulator libtilec; do ln -sf $$name.so.0 "$(DESTDIR)$(PREFIX)"/lib/$$name.so || exit; done
	install -D -m 644 -t "$(DESTDIR)$(PREFIX)"/include/tile runtime/include/tile/*.h
	install -D -m 644 -t "$(DESTDIR)$(PREFIX)"/share/tile runtime/tile.mk
	install -D -m 644 -t "$(DESTDIR)$(PREFIX)"/lib/cmake/tilec runtime/tilec-config.cmake
	sed 's|@VERSION@|$(VERSION)|' runtime/tilec-config-version.cmake.in > "$(DESTDIR)$(PREFIX)"/lib/cmake/tilec/tilec-config-version.cmake
	for page in $(PAGES); do install -D -m 644 -t "$(DESTDIR)$(PREFIX)"/share/man/man$${page##*.} $$page || exit; done
	install -D -m 644 $(BUILD)/tilec.bash "$(DESTDIR)$(PREFIX)"/share/bash-completion/completions/tilec
	for file in $(EDITOR_FILES:$(EDITORS)/%=%); do install -D -m 644 $(EDITORS)/$$file "$(DESTDIR)$(PREFIX)"/share/tile/editors/$$file || exit; done
	mkdir -p "$(DESTDIR)$(PREFIX)"/lib/pkgconfig
	for name in libtile libtile_emulator libtilec; do \
	  sed 's|@PREFIX@|$(PC_PREFIX)|; s|@VERSION@|$(VERSION)|' runtime/$$name.pc.in > "$(DESTDIR)$(PREFIX)"/lib/pkgconfig/$$name.pc || exit; done
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ] && $(LDCONFIG) -Nv 2>/dev/null | grep -q '^$(PREFIX)/lib:'; then \
	  echo $(LDCONFIG); $(LDCONFIG); fi

# An archive to unpack anywhere, and a package for Debian and what is like it: build/package. What `make install` puts down, with
# nothing in it that varies.
.PHONY: tarball deb
PACKAGE ?= $(BUILD)/package
MACHINE = $(shell uname -m)
export SOURCE_DATE_EPOCH ?= $(or $(shell git log -1 --format=%ct 2>/dev/null),0)
RELEASE = tilec-$(VERSION)-linux-$(MACHINE)
tarball: build docs
	rm -rf $(PACKAGE)/$(RELEASE)
	+$(Q)$(MAKE) --no-print-directory -s install DESTDIR='$(abspath $(PACKAGE))/$(RELEASE)' PREFIX= PC_PREFIX='$$$${pcfiledir}/../..'
	cp LICENSE README.md SECURITY.md $(PACKAGE)/$(RELEASE)
	tar -C $(PACKAGE) --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime=@$(SOURCE_DATE_EPOCH) -c $(RELEASE) | \
	  gzip -n $(GZIP_LEVEL) > $(PACKAGE)/$(RELEASE).tar.gz
deb: build docs
	rm -rf $(PACKAGE)/deb
	+$(Q)$(MAKE) --no-print-directory -s install DESTDIR='$(abspath $(PACKAGE))/deb' PREFIX=/usr
	PACKAGE="$(PACKAGE)" VERSION=$(VERSION) DEB_COMPRESSION=$(DEB_COMPRESSION) packaging/deb.sh

# The package for Python, with the libraries in it; they are this machine's: PYTHON names whose tag it gets.
.PHONY: wheel
PYTHON ?= python3
wheel: build
	$(call say,WHEEL,$(BUILD)/wheel)
	$(Q)$(PYTHON) python/wheel.py $(VERSION) $(BUILD) $(BUILD)/wheel

format:
	clang-format -i $$(find compiler runtime tests samples -name '*.[ch]')

# What a GPU machine without LLVM or network needs: unpack, and run ./gpu.sh.
gpu-bundle: build $(UNIT)
	BUILD=$(BUILD) tests/bench/bundle.sh

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
