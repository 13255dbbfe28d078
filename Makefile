# Ocular. `make demo` and `make test` set up what the machine lacks; everything made goes to build/.
#
#   make            recorder, plugin, and the extension for every CPython >= 3.12 found (PYTHON=… for one)
#   make demo       set up, build, record a real program, show its loops, write a Perfetto trace
#   make test       set up, build, run all tests; also: unit sanitize fuzz test-generic test-newest
#                   test-free-threaded test-bare test-spark bench
#   make one T=stat build and run the tests of that name: tests/**/test_stat.*, or the golden case tests/golden/stat
#   make types      check the type hints of the Python package (mypy --strict)
#   make format     format C files by .clang-format; check-format lists those that need it
#   make test-go    an OpenTelemetry collector and google/pprof from the Go module proxy (two minutes to build) read our files
#   make test-stores ocular fleet in S3's, Google's and Azure's buckets and in HDFS, of servers on this machine (minutes to build)
#   make test-hardware  every claim about Intel PT, on a machine that has it
#   make wheels     what PyPI gets, into build/wheels/dist: sources, and a wheel for each CPython (scripts/wheels)
#   make deb        a package for the Debian it runs on (13 or newer), into build/deb, with perf's plugin where perf looks
#   make man        manual pages, into build/man; make release: check the commit, make its tar, say how to tag it
#   make install    the release build, to PREFIX (/usr/local), and the plugin to where perf looks; uninstall undoes it
ifneq ($(words $(CURDIR)),1)
$(error make cannot build in a path that contains blanks; move this folder: $(CURDIR))
endif

CC      ?= cc
CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
override CFLAGS += -std=gnu11 -D_GNU_SOURCE $(WARN) -fvisibility=hidden -fPIC -Ifilter -Ihelper-ext -I$B/gen

# RELEASE=1, which `make install` and `make bench` set: optimised at link time, 13 to 16 % faster for ocular-pt.
# A compiler without it skips that.
LTO     := $(if $(RELEASE),$(shell echo | $(CC) -x c -flto=auto -ffat-lto-objects -c -o /dev/null - 2>/dev/null && \
	echo -flto=auto -ffat-lto-objects))

# A folder of helper-ext/ext/arch/; ARCH=generic builds for any other processor, with a clock instead of the TSC.
ARCH    := $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),x86_64,generic)
override CFLAGS += $(if $(filter generic,$(ARCH)),-DARCH_GENERIC)

# The version's only place; ocular.__version__, pyproject.toml and every --version take it from there, too.
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"$$/\1/p' helper-ext/ocular/__init__.py)

B       := build
# One spelling, because targets in dependency files have this name too.
override B := $(patsubst $(CURDIR)/%,%,$(abspath $B))
export OCULAR_BUILD := $(abspath $B)
PREFIX  := /usr/local
R       := $B/release
LIB      = $(DESTDIR)$(PREFIX)/lib/ocular
# Where perf looks for a plugin named without a path; empty where there is no perf.
DLFILTERS = $(patsubst %,$(DESTDIR)%/dlfilters,$(shell perf --exec-path 2>/dev/null))
COMPLETIONS = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
MAN      = $(DESTDIR)$(PREFIX)/share/man/man1
PAGES    = ocular ocular-pt ocular-record

# Each half is a library from which tests link what they need. Front ends and `main` files stay out.
HALVES     := filter record ext qemu
SRC_shared := $(wildcard helper-ext/shared/*.c)
SRC_filter := $(filter-out filter/front_% filter/main%,$(wildcard filter/*.c filter/*/*.c)) $(SRC_shared)
SRC_record := $(filter-out helper-ext/record/main%,$(wildcard helper-ext/record/*.c helper-ext/native/*.c)) $(SRC_shared)
SRC_ext    := $(addprefix helper-ext/ext/,processor.c dispatch.c got.c image.c) \
	$(filter-out %/emit.c,$(wildcard helper-ext/ext/arch/$(ARCH)/*.c))# what of it needs no Python
SRC_qemu   := $(filter-out %/plugin.c %/guest.c %/main.c,$(wildcard helper-ext/qemu/*.c))
LIB_filter := -ljansson -lz -ldeflate -lipt -lzstd -lm -pthread
LIB_record := -lipt
LIB_qemu   := $B/lib/record.a -lipt -ljansson
# The plugin has perf's decoder: the second one, and what it links, stay out.
SRC_plugin := $(filter-out filter/pt/% filter/diff/% filter/pack/% helper-ext/%,$(SRC_filter))
# The kernel maps 16 pages of a file around the one that is needed: what the console needs nothing of is linked behind the rest.
LATE       := $(addprefix filter/,export/% timeline/% recover/% report/html% report/summary% report/live% \
	$(addsuffix .c,$(addprefix report/,sink_html sink_summary sink_live flame heat pyramid pyramid_cells) \
	model/calltree model/calltree_join model/costs feed exchange others together base/deflate base/huffman))
SRC_late   := $(filter-out filter/export/sink_snapshots.c filter/recover/recover.c,$(filter $(LATE),$(SRC_plugin)))
OBJ        = $(patsubst %.c,$B/obj/%.o,$1)
PACKAGE  := $(patsubst helper-ext/%,$B/python/%,$(wildcard helper-ext/ocular/*.py helper-ext/ocular/py.typed \
	    helper-ext/ocular/*.pyi helper-ext/ocular/include/*.h helper-ext/hook/*.py))
# tests/unit/ mirrors the folders of the tested files; the first names say which half that is.
half      = $(or $(filter filter,$(firstword $1)),$(patsubst native,record,$(patsubst shared,record,$(word 2,$1))))
half_of   = $(call half,$(subst /, ,$1))
UNIT     := $(patsubst tests/unit/%.c,$B/tests/%,$(shell find tests/unit -name 'test_*.c' | sort))
# A front end, in parts.
FRONT_IPT := $(call OBJ,$(wildcard filter/front_ipt*.c))
MAINS    := $(call OBJ,$(addprefix filter/,main_pt.c main_diff.c main_pack.c front_feed.c) \
	    $(addprefix helper-ext/,record/main.c record/main_fsck.c qemu/main.c))
FUZZ     := $(patsubst tests/fuzz/%.c,$B/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))

# `make PYTHON=…` is for that one; a PYTHON of the environment is a candidate among others.
ONLY     = $(if $(findstring command,$(origin PYTHON)),$(PYTHON))
# Looked for once, when first needed.
PYTHONS  = $(eval PYTHONS := $(shell scripts/find-pythons $(ONLY)))$(PYTHONS)
# V=1 shows whole commands.
say      = $(if $V,,@printf '  %-6s %s\n' '$1' '$@';)

.SECONDEXPANSION:
.PHONY: all tools ext unit test run-tests one doors demo sanitize fuzz bench test-newest test-bare test-spark test-free-threaded run-free-threaded run-newest test-generic test-hardware test-go test-stores
.PHONY: types format check-format build-unit build-sanitize build-fuzz build-types build-generic build-newest man release wheels deb parts install uninstall clean
all: tools ext $B/tables.sh

# feed is for tests: no release has it, which would take long to optimise it.
tools: $(addprefix $B/bin/ocular-,record fsck $(if $(RELEASE),,feed) pt qemu qemu-pt.so qemu-guest.so diff pack) $B/perf/ocular.so $B/options $B/ocular

$(foreach half,$(HALVES),$B/lib/$(half).a): $B/lib/%.a: $$(call OBJ,$$(SRC_$$*))
	@mkdir -p $(@D)
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $^

link = $(CC) $(CFLAGS) $(LTO) $(LDFLAGS) -o $@ $(filter %.o %.a,$^)

$B/bin/ocular-record: $B/obj/helper-ext/record/main.o $B/lib/record.a
	@mkdir -p $(@D)
	$(call say,LINK)$(link) $(LIB_record)

# The emulated processor: a launcher, a plugin for QEMU, a library for the program that runs there.
$B/bin/ocular-qemu: $B/obj/helper-ext/qemu/main.o $B/lib/qemu.a $B/lib/record.a
	@mkdir -p $(@D)
	$(call say,LINK)$(link) $(LIB_qemu)

$B/bin/ocular-qemu-pt.so: $B/obj/helper-ext/qemu/plugin.o $(filter-out %/recording.o %/numbering.o,$(call OBJ,$(SRC_qemu))) \
		$(addprefix $B/obj/helper-ext/record/,perfdata.o perffeat.o)
	@mkdir -p $(@D)
	$(call say,LINK)$(link) -shared

$B/bin/ocular-qemu-guest.so: $B/obj/helper-ext/qemu/guest.o
	@mkdir -p $(@D)
	$(call say,LINK)$(link) -shared -ldl

$B/bin/ocular-fsck: $B/obj/helper-ext/record/main_fsck.o $B/lib/record.a
	@mkdir -p $(@D)
	$(call say,LINK)$(link) $(LIB_record)

$B/bin/ocular-feed: $B/obj/filter/front_feed.o $B/lib/filter.a
	@mkdir -p $(@D)
	$(call say,LINK)$(link) $(LIB_filter)

$B/bin/ocular-pt: $B/obj/filter/main_pt.o $(FRONT_IPT) $B/obj/filter/front_live.o $B/obj/filter/front_workers.o $B/lib/filter.a
	@mkdir -p $(@D)
	$(call say,LINK)$(link) $(LIB_filter)

# The command beside its parts, as where it is installed: for python -m ocular.
$B/ocular:
	@mkdir -p $(@D)
	$(call say,LINK)ln -sfn $(CURDIR)/scripts/ocular $@

# The options of `ocular report`, for scripts/ocular.
$B/options: $B/bin/ocular-pt
	$(call say,GEN)$< options >$@

$B/bin/ocular-diff: $B/obj/filter/main_diff.o $B/lib/filter.a
	@mkdir -p $(@D)
	$(call say,LINK)$(link) $(LIB_filter)

$B/bin/ocular-pack: $B/obj/filter/main_pack.o $B/lib/filter.a
	@mkdir -p $(@D)
	$(call say,LINK)$(link) $(LIB_filter)

$B/perf/ocular.so: $B/obj/filter/front_perf.o $(call OBJ,$(filter-out $(SRC_late),$(SRC_plugin)) $(SRC_late))
	@mkdir -p $(@D)
	$(call say,LINK)$(link) -shared -ljansson -lz -ldeflate -lm -pthread

# The options of recording, for scripts/ocular.
LISTS := $(addprefix $B/,record-options modes backends)
$(LISTS): helper-ext/ocular/options.py
	@mkdir -p $(@D)
	$(call say,GEN)$(firstword $(PYTHONS)) -I $< $(@F) >$@

$B/gen/record_options.h: helper-ext/ocular/options.py
	@mkdir -p $(@D)
	$(call say,GEN)$(firstword $(PYTHONS)) -I $< $(@F) >$@
$B/obj/helper-ext/record/options.o: $B/gen/record_options.h

ext: $(PACKAGE) $(LISTS)
	+@pythons=$$(scripts/find-pythons $(ONLY)) && echo "$$pythons" | while read -r py; do \
		printf '  EXT    %s\n' "$$py" && \
		$(MAKE) $(if $V,,-s) --no-print-directory -f helper-ext/ext/build.mk PY="$$py" B=$B ARCH=$(ARCH) </dev/null || exit; done

# What of these lists the command needs before the program, as variables of the shell.
$B/tables.sh: $B/options $(LISTS) scripts/ocular $(wildcard scripts/commands/*.sh)
	$(call say,GEN)scripts/ocular tables >$@.part && mv $@.part $@

$(PACKAGE): $B/python/%: helper-ext/%
	@mkdir -p $(@D)
	$(call say,COPY)cp $< $@

# The style sheet of the HTML report, as C string literals.
$B/gen/%.css.inc: filter/report/%.css
	@mkdir -p $(@D)
	$(call say,GEN)sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $< >$@
# Its script likewise, and the script's hash.
$B/gen/report.js.inc: scripts/page-script $(wildcard filter/report/*.js)
	@mkdir -p $(@D)
	$(call say,GEN)$(firstword $(PYTHONS)) -I $^ >$@.part && mv $@.part $@
$B/obj/filter/report/html.o: $B/gen/report.css.inc $B/gen/report.js.inc

$B/obj/filter/%.o $B/obj/helper-ext/shared/%.o: override CFLAGS += $(LTO)
# Two neighbours that are added up are put into a vector and taken out again: more instructions, not fewer.
$B/obj/filter/model/thread_quick.o: override CFLAGS += -fno-tree-slp-vectorize
$(MAINS): override CFLAGS += -DOCULAR_VERSION='"$(VERSION)"'
$(MAINS): helper-ext/ocular/__init__.py
$B/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<

$(UNIT): $B/tests/%: tests/unit/%.c $B/lib/$$(call half_of,$$*).a $B/lib/record.a
	@mkdir -p $(@D) $B/obj/$(<D)
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -MMD -MP -MF $B/obj/$(<:.c=.d) -o $@ $< \
		$B/lib/$(call half_of,$*).a -lcmocka $(LIB_$(call half_of,$*))

# A traced program without Python, for tests of the recorder.
$B/tests/producer: tests/unit/helper-ext/record/producer.c $(wildcard tests/unit/helper-ext/record/*.h helper-ext/shared/*.h)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $<

# For tests of PTWRITE on a processor without it.
$B/tests/ptwrite-catch.so: tests/unit/helper-ext/ext/ptwrite_catch.c tests/unit/helper-ext/ext/ptwrite_site.h
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $<

# --- tests: every one prints TAP, tests/run adds them up ---------------------------------------------

DOORS   := $(addprefix tests/doors/test_,truth.py free_threads.py c_functions.py collections.py imports.py exceptions.py spans.py identity.py tasks.py greenlets.py greenlet_libraries.py cpu.py waits.py locks.py first_screen.py selection.py workers.py numbers.py strikes.py loops.py transparency.py regression.py losses.py badinput.py exports.py ocular_stat.py cut.py repaired.py opcode_tables.py pypylog.py qemu_python.py jit.py opcodes.py opcode_analyses.py)
# Only with a Python without a GIL: make test-free-threaded.
RACES   := tests/doors/test_races.py
# Needs a reader of its own: make sanitize.
READER_RACES := tests/doors/test_reader_races.py
# Builds programs from the Go module proxy, which takes minutes: make test-go.
GO_TESTS := tests/go/test_go.py
# Unit tests in Python and the doors run with each interpreter, everything else runs once. What takes long comes first, and
# what takes moments last: in the end no core is idle for minutes.
SLOW    := $(patsubst %,tests/doors/test_%.py,truth opcodes ocular_stat loops regression repaired opcode_analyses free_threads tasks)
# These test what is made of a recording, in which versions of CPython do not differ (test_truth.py and others see to
# that): they run with the newest one only. So does what threads do, where they take turns: without a GIL it runs, too.
ONE_PYTHON := $(patsubst %,tests/doors/test_%.py,badinput cut repaired ocular_stat selection workers first_screen opcode_tables pypylog \
	    exports opcode_analyses free_threads)
# With this interpreter these run whole: every program in every mode; with others, --sparse: what versions do differently.
SPARSE  := $(patsubst %,tests/doors/test_%.py,truth opcodes)
WHOLE    = $(lastword $(PYTHONS))
slowest  = $(foreach t,$(SLOW),$(filter $t,$1)) $(filter-out $(SLOW),$1)
with     = $(if $(filter $(ONE_PYTHON),$1),$(lastword $(PYTHONS)),$(PYTHONS))
extent   = $(if $(filter $(SPARSE),$1),$(if $(filter $(WHOLE),$2),, --sparse))
each     = $(foreach t,$(call slowest,$(filter $(DOORS),$1)),$(foreach p,$(call with,$t),'$t --python $p$(call extent,$t,$p)')) \
	   $(foreach p,$(PYTHONS),$(foreach t,$(filter tests/unit_py/%,$1),'$p $t'))
EACH     = $(call each,$(wildcard tests/unit_py/test_*.py $(DOORS)))
ONCE    := $(filter-out tests/unit_py/% tests/spark/% $(DOORS) $(RACES) $(READER_RACES) $(GO_TESTS),$(shell find tests -name 'test_*.py' -o -name 'test_*.sh' | sort))
LONG     := $(filter $(addprefix tests/wrapper/test_,wheels.sh pip.sh agent.py fleet.py bucket.py reader.py),$(ONCE))
EMULATED := 'tests/hardware/test_intel_pt.py --emulated'

# `make one`: T is a test's name with or without test_, its path, or the name of a golden case. Names that several
# tests have mean all of them. Only a test of another kind than these needs more than its own program built.
T_CASE   := $(if $T,$(wildcard tests/golden/$T/events.txt))
T_FILES  := $(if $T,$(filter %/test_$T.c %/test_$T.py %/test_$T.sh $(addprefix %/$T,.c .py .sh) $T, \
	    $(shell find tests -name 'test_*.[cps]*' | sort)))
T_UNIT   := $(patsubst tests/unit/%.c,$B/tests/%,$(filter %.c,$(T_FILES)))
T_ONCE   := $(filter-out tests/unit_py/% $(DOORS) tests/hardware/%,$(filter-out %.c,$(T_FILES)))
T_HARD   := $(if $(filter tests/hardware/%,$(T_FILES)),$(EMULATED))
T_NEEDS  := $(if $(filter-out %.c,$(T_FILES)),all $B/tests/producer $B/tests/ptwrite-catch.so) $(if $(T_CASE),tools)

build-unit: tools $(UNIT)
unit: build-unit
	tests/run $(UNIT) tests/golden/test_golden.sh

# One make for each step: make expands all lines of a recipe before the first runs, which may install a Python.
test:
	scripts/setup --for test
	+$(MAKE) all $(UNIT) $B/tests/producer $B/tests/ptwrite-catch.so
	+$(MAKE) run-tests

one: $(T_UNIT) $(T_NEEDS)
	$(if $(T_FILES)$(T_CASE),,$(error no test is called '$T': make one T=NAME, of tests/**/test_NAME.* or tests/golden/NAME))
	tests/run $(T_UNIT) $(call each,$(T_FILES)) $(T_ONCE) $(T_HARD) $(if $(T_CASE),'tests/golden/test_golden.sh $T')

run-tests:
	@scripts/find-pythons $(ONLY) >/dev/null
	tests/run $(LONG) $(EACH) $(EMULATED) $(filter-out $(LONG),$(ONCE)) $(UNIT)

format:
	scripts/check-format --fix

check-format:
	tests/run scripts/check-format

# Type hints of the package, by a mypy of one version in a venv of its own, fetched once.
MYPY     := 1.13.0
$B/mypy-$(MYPY)/bin/mypy:
	python=$$(scripts/find-pythons $(ONLY) | tail -n 1) && env -u PYTHONPATH "$$python" -m venv $B/mypy-$(MYPY) && \
		$B/mypy-$(MYPY)/bin/pip install -q --disable-pip-version-check mypy==$(MYPY)

build-types: $B/mypy-$(MYPY)/bin/mypy
types: build-types
	tests/run 'tests/check_types.py $B/mypy-$(MYPY)/bin/mypy'

doors: all $B/tests/ptwrite-catch.so
	tests/run $(EACH)

# What a step of tests compiles for itself: build-STEP, which .ci/run has made before, beside other steps.
# Not optimized: most of the time goes into compiling.
build-sanitize:
	+$(MAKE) B=$B/sanitize LTO= CFLAGS='$(SANITIZED)' build-unit
	+$(MAKE) B=$B/tsan-reader LTO= CFLAGS='-O0 -g1 -fsanitize=thread' $B/tsan-reader/bin/ocular-pt

SANITIZED := -O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
sanitize: build-sanitize
	+$(MAKE) B=$B/sanitize LTO= CFLAGS='$(SANITIZED)' unit
	tests/run '$(READER_RACES) $(addprefix --python ,$(lastword $(PYTHONS)))'

build-fuzz: $(FUZZ)
# Each has a processor: they run for a time.
fuzz: all build-fuzz
	tests/fuzz/run seeds
	tests/run -j $$(nproc) $(FUZZ:$B/fuzz/%='tests/fuzz/run %')

# A library of its own: libFuzzer is guided by the coverage of the code under test. -O1 compiles sooner.
FUZZED   := $(patsubst %.c,$B/fuzz/obj/%.o,$(SRC_filter) $(addprefix helper-ext/native/,elf_file.c symbols.c cfi.c))
fuzzing   = clang $(CFLAGS) -O1 -g1 -fsanitize=fuzzer$1,address,undefined -fno-sanitize-recover=undefined -MMD -MP
$(FUZZED): $B/fuzz/obj/%.o: %.c | $B/gen/report.css.inc $B/gen/report.js.inc
	@mkdir -p $(@D)
	$(call say,CC)$(call fuzzing,-no-link) -c -o $@ $<

$B/fuzz/fuzzed.a: $(FUZZED)
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $^

$(FUZZ): $B/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $B/fuzz/fuzzed.a
	$(call say,FUZZ)$(call fuzzing) -MF $B/fuzz/obj/$(*F).d -o $@ $< $B/fuzz/fuzzed.a $(LIB_filter)

test-hardware: all
	tests/run 'tests/hardware/test_intel_pt.py $(addprefix --python ,$(lastword $(PYTHONS)))'

# The extension and the recorder as built for a processor without a folder of its own. What reads is the same for all.
READING  := $(addprefix bin/ocular-,pt diff pack feed) perf/ocular.so options
build-generic:
	+$(MAKE) ARCH=generic B=$B/generic PYTHON=$(lastword $(PYTHONS)) $(addprefix $B/generic/,bin/ocular-record bin/ocular-fsck ocular) ext
test-generic: tools build-generic
	mkdir -p $B/generic/perf
	$(foreach r,$(READING),ln -sfn $(abspath $B/$r) $B/generic/$r &&) true
	! objdump -d $B/generic/python/ocular/*.so $B/generic/bin/ocular-record | grep -wE 'rdtscp?|cpuid|prefetchw|ptwriteq?'
	! $(CC) -E -DARCH_GENERIC -D_GNU_SOURCE -Ihelper-ext $(wildcard helper-ext/record/*.c) 2>/dev/null | grep PERF_REG_X86
	ARCH=generic OCULAR_BUILD=$(abspath $B/generic) tests/run 'tests/doors/test_truth.py --sparse --python $(lastword $(PYTHONS))' \
		$(foreach t,process lane duty flight triggers codes,'$(lastword $(PYTHONS)) tests/unit_py/test_$t.py')

test-newest:
	scripts/newest

# What meets CPython, with each of them: scripts/newest adds mode opcodes, where it can be recorded. What meets perf, or is
# run by whichever Python there is, with one.
NEWEST   := $(addprefix tests/doors/test_,truth.py identity.py tasks.py losses.py) $(addprefix tests/unit_py/test_,attach.py callees.py \
	    codes.py lane.py process.py triggers.py prefork.py flight.py api.py duty.py guest.py instruction.py dispatch.py running.py)
NEWEST1  := $(filter-out $(NEWEST),tests/doors/test_badinput.py $(wildcard tests/unit_py/test_*.py))
build-newest: all $B/tests/ptwrite-catch.so
run-newest: build-newest
	tests/run $(call each,$(MORE) $(NEWEST)) $(foreach PYTHONS,$(lastword $(PYTHONS)),$(call each,$(NEWEST1)))

# A collector of OpenTelemetry's, and google/pprof.
test-go: all
	tests/run '$(GO_TESTS) --python $(lastword $(PYTHONS))'

# A fleet store that is in no folder: make test has the same by moto, without those who are killed in the middle.
STORES   ?= versitygw fake-gcs-server azurite hdfs
test-stores: all
	tests/run -j 1 --limit 3600 $(STORES:%='tests/wrapper/test_bucket.py --server %')

# The wheels in trees of Debian 12, 13 and sid that have nothing but a Python.
test-bare:
	scripts/bare

test-spark: all
	tests/run -j 1 --limit 3600 'tests/spark/test_spark.py' 'tests/spark/test_file_systems.py'

# With a CPython without a GIL, which is built first: what threads may meet there. Of the emulated processor only what needs
# no specialization.
FREE     := $(filter-out $(addprefix tests/unit_py/test_,backends.py choices.py dispatch.py fleet.py fleet_events.py options.py \
	    program.py push.py rotation.py top.py),$(wildcard tests/unit_py/test_*.py)) \
	    $(addprefix tests/doors/test_,truth.py regression.py free_threads.py c_functions.py strikes.py transparency.py losses.py workers.py)
test-free-threaded:
	+python=$$(scripts/free-threaded) && $(MAKE) PYTHON="$$python" all $B/tests/ptwrite-catch.so && \
		$(MAKE) PYTHON="$$python" run-free-threaded

# The one that needs another CPython in the middle, which may still be being built.
run-free-threaded: WHOLE =
run-free-threaded: SLOW = $(patsubst %,tests/doors/test_%.py,regression free_threads losses truth)
run-free-threaded:
	tests/run $(call each,$(filter tests/doors/%,$(FREE))) $(RACES) $(call each,$(filter tests/unit_py/%,$(FREE)))

bench:
	+$(MAKE) RELEASE=1 B=$R all $R/bench-recover
	python3 tests/bench/bench.py --build $R

# Recovery without the stages after it, for the bench.
$B/bench-recover: $B/obj/tests/bench/recover.o $(FRONT_IPT) $B/lib/filter.a
	$(call say,LINK)$(link) $(LIB_filter)

# Manual pages, from the programs' --help.
man: tools
	scripts/manpages . $B

release:
	scripts/release

wheels:
	scripts/wheels

deb:
	scripts/deb

demo:
	scripts/setup --for demo
	+$(MAKE) all
	scripts/demo

# --- installation ------------------------------------------------------------------------------------

# What the command ocular needs around it, into LIB: for `make install` and for pip (scripts/pip_build.py).
parts: tools $B/tables.sh
	install -d $(LIB)/commands $(LIB)/bin $(LIB)/perf
	install -m 755 scripts/ocular scripts/find-pythons $(LIB)
	install -m 644 scripts/probe.py $(LIB)
	install -m 644 scripts/commands/*.sh $(LIB)/commands
	install -m 755 $(addprefix $B/bin/ocular-,record fsck pt diff pack qemu qemu-pt.so qemu-guest.so) $(LIB)/bin
	install -m 644 $B/perf/ocular.so $(LIB)/perf
	install -m 644 $B/options $(LISTS) $B/tables.sh $(LIB)

install:
	+$(MAKE) RELEASE=1 B=$R all man parts
	install -d $(LIB)/python $(DESTDIR)$(PREFIX)/bin $(COMPLETIONS) $(MAN)
	cp -R $R/python/. $(LIB)/python
	chmod -R a+rX $(LIB)/python
	install -m 644 scripts/completion.bash $(COMPLETIONS)/ocular
	install -m 644 $(PAGES:%=$R/man/%.1) $(MAN)
	ln -sfn ../lib/ocular/ocular $(DESTDIR)$(PREFIX)/bin/ocular
	install -d '$(DLFILTERS)' && install -m 644 $R/perf/ocular.so '$(DLFILTERS)' || \
		echo "perf finds the plugin only by its path: $(LIB)/perf/ocular.so"

uninstall:
	rm -rf $(LIB) $(DESTDIR)$(PREFIX)/bin/ocular $(COMPLETIONS)/ocular $(PAGES:%=$(MAN)/%.1) $(DLFILTERS:%=%/ocular.so)

clean:
	rm -rf $B

-include $(shell find $B/obj $B/fuzz/obj -name '*.d' 2>/dev/null)
