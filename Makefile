# Ocular. `make demo` and `make test` set up what the machine lacks; everything made goes to build/.
#
#   make            recorder, plugin, and the extension for every CPython >= 3.12 found (PYTHON=… for one)
#   make demo       set up, build, record a real program, show its loops, write a Perfetto trace
#   make test       set up, build, run all tests; also: unit sanitize fuzz test-newest bench
#   make test-hardware  every claim about Intel PT, on a machine that has it
#   make install    to PREFIX (/usr/local), and the plugin to where perf looks; uninstall undoes it
ifneq ($(words $(CURDIR)),1)
$(error make takes blanks for the end of a name: move this folder to a path without: $(CURDIR))
endif

CC      ?= cc
CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
override CFLAGS += -std=gnu11 -D_GNU_SOURCE $(WARN) -fvisibility=hidden -fPIC -Ihelper-ext/shared -I$B/gen

# The two readers are optimised as a whole: 13 to 16 % faster for ocular-pt. Objects hold both forms, so that
# tests, which link the same ones with -fno-lto, need not; a compiler that cannot do it does without.
LTO     := $(shell echo | $(CC) -x c -flto=auto -ffat-lto-objects -c -o /dev/null - 2>/dev/null && echo -flto=auto -ffat-lto-objects)

B       := build
# One spelling, for it is the name of targets in dependency files too.
override B := $(patsubst $(CURDIR)/%,%,$(abspath $B))
export OCULAR_BUILD := $(abspath $B)
PREFIX  := /usr/local
LIB      = $(DESTDIR)$(PREFIX)/lib/ocular
# Where perf looks for a plugin named without a path; empty where there is no perf.
DLFILTERS = $(patsubst %,$(DESTDIR)%/dlfilters,$(shell perf --exec-path 2>/dev/null))
COMPLETIONS = $(DESTDIR)$(PREFIX)/share/bash-completion/completions

# The halves share nothing but helper-ext/shared. Front ends and `main` files stay out of what tests link.
# pt is the second decoder: it stands on the filter, which knows nothing of it.
PT         := filter/pt_%.c filter/perf_%.c
DIR_filter := filter
DIR_pt     := filter
DIR_diff   := filter
DIR_record := helper-ext/record
DIR_ext    := helper-ext/ext
DIR_qemu   := helper-ext/qemu -Ihelper-ext/record
SRC_shared := $(wildcard helper-ext/shared/*.c)
SRC_filter := $(filter-out filter/front_% filter/main% filter/diff% $(PT),$(wildcard filter/*.c))
SRC_pt     := $(SRC_filter) $(filter $(PT),$(wildcard filter/*.c)) $(SRC_shared)
SRC_diff   := $(wildcard filter/diff*.c) filter/figure.c filter/json.c filter/text.c
SRC_ext    := $(addprefix helper-ext/ext/,processor.c dispatch.c image.c sites.c tails.c)# what of it needs no Python
SRC_qemu   := $(filter-out %/plugin.c %/guest.c %/main.c,$(wildcard helper-ext/qemu/*.c))
SRC_record := $(filter-out helper-ext/record/main%,$(wildcard helper-ext/record/*.c)) $(SRC_shared)
PACKAGE  := $(patsubst helper-ext/%,$B/python/%,$(wildcard helper-ext/ocular/*.py helper-ext/hook/*.py))
OBJ_filter := $(SRC_filter:%.c=$B/obj/%.o)
OBJ_pt     := $(SRC_pt:%.c=$B/obj/%.o)
OBJ_diff   := $(SRC_diff:%.c=$B/obj/%.o)
OBJ_ext    := $(SRC_ext:%.c=$B/obj/%.o)
OBJ_record := $(SRC_record:%.c=$B/obj/%.o)
OBJ_qemu   := $(SRC_qemu:%.c=$B/obj/%.o) $(OBJ_record)
LIB_filter := -ljansson -lz -lm
LIB_pt     := -ljansson -lz -lipt -lzstd -lm -pthread
LIB_diff   := -ljansson -lm
LIB_record := -lipt
LIB_qemu   := -lipt
# Which half a test is of: NAME.c says it, or the prefix diff, record_, qemu_, pt_ or perf_, or NAME.h in ext alone.
in_record   = $(wildcard helper-ext/record/$1.c helper-ext/shared/$1.c)
half        = $(if $(filter qemu_%,$1),qemu,$(if $(filter diff%,$1),diff,$(if $(filter pt_% perf_%,$1),pt,$(if $(filter record_%,$1)$(if $(wildcard filter/$1.c),,$(call in_record,$1)),record,$(call in_ext,$1)))))
in_ext      = $(if $(wildcard filter/$1.c),filter,$(if $(wildcard helper-ext/ext/$1.h),ext,filter))
UNIT     := $(patsubst tests/unit/%.c,$B/tests/%,$(wildcard tests/unit/test_*.c))
FUZZ     := $(patsubst tests/fuzz/%.c,$B/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))

# `make PYTHON=…` is for that one; a PYTHON of the environment is a candidate among others.
ONLY     = $(if $(findstring command,$(origin PYTHON)),$(PYTHON))
# V=1 shows whole commands.
say      = $(if $V,,@printf '  %-6s %s\n' '$1' '$@';)

.PHONY: all tools ext unit test run-tests doors demo sanitize fuzz bench test-newest test-hardware install uninstall clean
all: tools ext

tools: $(addprefix $B/bin/ocular-,record fsck feed pt qemu qemu-pt.so qemu-guest.so diff) $B/perf/ocular.so

$B/bin/ocular-record: $B/obj/helper-ext/record/main.o $(OBJ_record)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_record)

# The emulated processor: a launcher, a plugin for QEMU, a library for the program that runs there.
$B/obj/helper-ext/qemu/%.o: override CFLAGS += -Ihelper-ext/record

$B/bin/ocular-qemu: $B/obj/helper-ext/qemu/main.o $(OBJ_qemu)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_qemu)

$B/bin/ocular-qemu-pt.so: $B/obj/helper-ext/qemu/plugin.o $(filter-out %/recording.o,$(SRC_qemu:%.c=$B/obj/%.o)) \
		$(addprefix $B/obj/helper-ext/record/,perfdata.o perffeat.o)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $^

$B/bin/ocular-qemu-guest.so: $B/obj/helper-ext/qemu/guest.o
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $^ -ldl

$B/bin/ocular-fsck: $B/obj/helper-ext/record/main_fsck.o $(OBJ_record)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_record)

$B/bin/ocular-feed: $(OBJ_filter) $B/obj/filter/front_feed.o
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_filter)

$B/bin/ocular-pt: $(OBJ_pt) $B/obj/filter/front_ipt.o $B/obj/filter/main_pt.o
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $(LTO) $(LDFLAGS) -o $@ $^ $(LIB_pt)

$B/bin/ocular-diff: $(OBJ_diff) $B/obj/filter/main_diff.o
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_diff)

$B/perf/ocular.so: $(OBJ_filter) $B/obj/filter/front_perf.o
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $(LTO) $(LDFLAGS) -shared -o $@ $^ $(LIB_filter)

ext: $(PACKAGE)
	+@pythons=$$(scripts/find-pythons $(ONLY)) && echo "$$pythons" | while read -r py; do \
		printf '  EXT    %s\n' "$$py" && \
		$(MAKE) $(if $V,,-s) --no-print-directory -f helper-ext/ext/build.mk PY="$$py" B=$B </dev/null || exit; done

$B/python/%.py: helper-ext/%.py
	@mkdir -p $(@D)
	$(call say,COPY)cp $< $@

# The style sheet of the HTML report, as C string literals.
$B/gen/%.css.inc: filter/%.css
	@mkdir -p $(@D)
	$(call say,GEN)sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $< >$@
$B/obj/filter/html.o: $B/gen/report.css.inc
$(FUZZ): | $B/gen/report.css.inc

$B/obj/filter/%.o $B/obj/helper-ext/shared/%.o: override CFLAGS += $(LTO)
$B/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<

.SECONDEXPANSION:
$B/tests/test_%: tests/unit/test_%.c $$(OBJ_$$(call half,$$*))
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) -fno-lto $(LDFLAGS) -I$(DIR_$(call half,$*)) -MMD -MP -MF $B/obj/test_$*.d -o $@ \
		$(filter %.c %.o,$^) -lcmocka $(LIB_$(call half,$*))

# A traced program without Python, for tests of the recorder.
$B/tests/producer: tests/unit/producer.c tests/unit/ring_write.h $(wildcard helper-ext/shared/*.h)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $<

# For tests of PTWRITE where the processor has none.
$B/tests/ptwrite-catch.so: tests/unit/ptwrite_catch.c tests/unit/ptwrite_site.h
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $<

# --- tests: every one prints TAP, tests/run adds them up ---------------------------------------------

PYTHONS  = $(shell scripts/find-pythons $(ONLY))
DOORS   := $(addprefix tests/doors/test_,truth.py numbers.py transparency.py regression.py losses.py badinput.py exports.py pypylog.py qemu_python.py opcodes.py opcode_analyses.py)
# Unit tests run under each interpreter, the doors lead into each, everything else runs once.
EACH     = $(foreach p,$(PYTHONS),$(foreach t,$(wildcard tests/unit_py/test_*.py),'$p $t') \
	   $(foreach t,$(wildcard $(DOORS)),'$t --python $p'))
ONCE    := $(filter-out tests/unit_py/% $(DOORS),$(wildcard tests/*/test_*.py tests/*/test_*.sh))
EMULATED := 'tests/hardware/test_intel_pt.py --emulated'

unit: tools $(UNIT)
	tests/run $(UNIT) tests/golden/test_golden.sh

# A make for each step: it expands all lines of a recipe before the first one runs, which may install a Python.
test:
	scripts/setup --for test
	+$(MAKE) all $(UNIT) $B/tests/producer $B/tests/ptwrite-catch.so
	+$(MAKE) run-tests

run-tests:
	@scripts/find-pythons $(ONLY) >/dev/null
	tests/run $(UNIT) $(EACH) $(ONCE) $(EMULATED)

doors: all $B/tests/ptwrite-catch.so
	tests/run $(EACH)

sanitize:
	+$(MAKE) B=$B/sanitize LTO= CFLAGS='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined' unit

fuzz: all $(FUZZ)
	tests/run tests/fuzz/run

# Compiled whole: libFuzzer steers by the coverage of the code under test.
$B/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $$(SRC_$$(call half,$$*))
	@mkdir -p $(@D)
	$(call say,FUZZ)clang $(CFLAGS) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
		-I$(DIR_$(call half,$*)) -o $@ $^ $(LIB_$(call half,$*))

test-hardware: all
	tests/run 'tests/hardware/test_intel_pt.py $(addprefix --python ,$(lastword $(PYTHONS)))'

test-newest:
	scripts/newest

bench: all $B/bench-recover
	python3 tests/bench/bench.py --build $B

# Recovery without what comes behind it, for the bench.
$B/bench-recover: tests/bench/recover.c $(OBJ_pt) $B/obj/filter/front_ipt.o
	$(call say,LINK)$(CC) $(CFLAGS) $(LTO) $(LDFLAGS) -Ifilter -o $@ $^ $(LIB_pt)

demo:
	scripts/setup --for demo
	+$(MAKE) all
	scripts/demo

# --- installation ------------------------------------------------------------------------------------

install: all
	install -d $(LIB)/commands $(LIB)/bin $(LIB)/perf $(LIB)/python $(DESTDIR)$(PREFIX)/bin $(COMPLETIONS)
	install -m 755 scripts/ocular scripts/find-pythons $(LIB)
	install -m 644 scripts/commands/*.sh $(LIB)/commands
	install -m 755 $(addprefix $B/bin/ocular-,record fsck pt diff qemu qemu-pt.so qemu-guest.so) $(LIB)/bin
	install -m 644 $B/perf/ocular.so $(LIB)/perf
	cp -R $B/python/. $(LIB)/python
	chmod -R a+rX $(LIB)/python
	install -m 644 scripts/completion.bash $(COMPLETIONS)/ocular
	ln -sfn ../lib/ocular/ocular $(DESTDIR)$(PREFIX)/bin/ocular
	install -d '$(DLFILTERS)' && install -m 644 $B/perf/ocular.so '$(DLFILTERS)' || \
		echo "perf finds the plugin only by its path: $(LIB)/perf/ocular.so"

uninstall:
	rm -rf $(LIB) $(DESTDIR)$(PREFIX)/bin/ocular $(COMPLETIONS)/ocular $(DLFILTERS:%=%/ocular.so)

clean:
	rm -rf $B

-include $(shell find $B/obj -name '*.d' 2>/dev/null)
