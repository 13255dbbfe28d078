# Ocular. `make demo` and `make test` set up what the machine lacks; everything made goes to build/.
#
#   make            recorder, plugin, and the extension for every CPython >= 3.12 found (PYTHON=… for one)
#   make demo       set up, build, record a real program, show its loops, write a Perfetto trace
#   make test       set up, build, run all tests; also: unit sanitize fuzz test-newest bench
#   make install    to PREFIX (/usr/local), and the plugin to where perf looks; uninstall undoes it
CC      ?= cc
CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
override CFLAGS += -std=gnu11 -D_GNU_SOURCE $(WARN) -fvisibility=hidden -fPIC -Ihelper-ext/shared

B       := build
PREFIX  := /usr/local
LIB      = $(DESTDIR)$(PREFIX)/lib/ocular
DLFILTERS = $(DESTDIR)$(shell perf --exec-path 2>/dev/null)/dlfilters
COMPLETIONS = $(DESTDIR)$(PREFIX)/share/bash-completion/completions

FILTER_C := $(wildcard filter/*.c)
RECORD_C := $(wildcard helper-ext/record/*.c)
FILTER_O := $(FILTER_C:%.c=$B/obj/%.o)
RECORD_O := $(RECORD_C:%.c=$B/obj/%.o)
# Programs and the plugin keep their `main` files out of what unit tests link.
CORE_O   := $(filter-out $B/obj/filter/front_%.o,$(FILTER_O))
PARTS_O  := $(filter-out $B/obj/helper-ext/record/main%.o,$(RECORD_O))
UNIT     := $(patsubst tests/unit/%.c,$B/tests/%,$(wildcard tests/unit/test_*.c))
FUZZ     := $(patsubst tests/fuzz/%.c,$B/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))

.PHONY: all tools ext unit test demo sanitize fuzz bench test-newest install uninstall clean
all: tools ext

tools: $B/bin/ocular-record $B/bin/ocular-fsck $B/perf/ocular.so

$B/bin/ocular-record: $B/obj/helper-ext/record/main.o $(PARTS_O)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lipt

$B/bin/ocular-fsck: $B/obj/helper-ext/record/main_fsck.o $(PARTS_O)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lipt

$B/perf/ocular.so: $(CORE_O) $B/obj/filter/front_perf.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $^ -ljansson

$B/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<

$B/tests/%: tests/unit/%.c $(CORE_O) $(PARTS_O)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -Ifilter -Ihelper-ext/record -MMD -MP -MF $B/obj/$*.d -o $@ $(filter %.c %.o,$^) -lcmocka -ljansson -lipt

# --- tests: every one prints TAP, tests/run adds them up ---------------------------------------------

# Each once, but those that look at an interpreter once for each.
PYTHONS  = $(shell scripts/find-pythons)
BY_EACH := $(wildcard tests/unit_py/test_*.py) tests/doors/test_truth.py
TESTS    = $(filter-out $(BY_EACH),$(wildcard tests/*/test_*.py tests/*/test_*.sh)) \
	   $(foreach p,$(PYTHONS),$(foreach t,$(wildcard $(BY_EACH)),'$p $t $p'))

unit: $(UNIT)
	tests/run $(UNIT)

test:
	scripts/setup --for test
	+$(MAKE) all $(UNIT)
	tests/run $(UNIT) $(TESTS)

sanitize:
	+$(MAKE) B=$B/sanitize CFLAGS='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined' unit

fuzz: $(FUZZ)
	tests/run tests/fuzz/run

# Compiled whole: libFuzzer steers by the coverage of the code under test.
$B/fuzz/%: tests/fuzz/%.c $(FILTER_C) $(RECORD_C)
	@mkdir -p $(@D)
	clang $(CFLAGS) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -Ifilter -Ihelper-ext/record \
		-o $@ $< $(filter-out filter/front_%,$(FILTER_C)) $(filter-out helper-ext/record/main%,$(RECORD_C)) -ljansson -lipt

test-newest:
	scripts/newest

bench: all
	tests/bench/run

demo:
	scripts/setup --for demo
	+$(MAKE) all
	scripts/demo

# --- installation ------------------------------------------------------------------------------------

install: all
	install -d $(LIB)/commands $(LIB)/bin $(LIB)/perf $(LIB)/python $(DESTDIR)$(PREFIX)/bin $(COMPLETIONS)
	install -m 755 scripts/ocular scripts/find-pythons $(LIB)
	install -m 644 scripts/commands/*.sh $(LIB)/commands
	install -m 755 $B/bin/ocular-record $B/bin/ocular-fsck $(LIB)/bin
	install -m 644 $B/perf/ocular.so $(LIB)/perf
	cp -R $B/python/. $(LIB)/python
	install -m 644 scripts/completion.bash $(COMPLETIONS)/ocular
	ln -sfn ../lib/ocular/ocular $(DESTDIR)$(PREFIX)/bin/ocular
	install -d $(DLFILTERS) && install -m 644 $B/perf/ocular.so $(DLFILTERS)

uninstall:
	rm -rf $(LIB) $(DESTDIR)$(PREFIX)/bin/ocular $(COMPLETIONS)/ocular $(DLFILTERS)/ocular.so

clean:
	rm -rf $B

-include $(shell find $B/obj -name '*.d' 2>/dev/null)
