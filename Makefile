# Ocular. `make demo` and `make test` set up what the machine lacks; everything made goes to build/.
CC      ?= cc
CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
override CFLAGS += -std=gnu11 $(WARN) -fvisibility=hidden -fPIC -Ihelper-ext/shared

B       := build
SHARED  := $(wildcard helper-ext/shared/*.h)

FILTER_C := $(wildcard filter/*.c)
RECORD_C := $(wildcard helper-ext/record/*.c)
FILTER_O := $(FILTER_C:%.c=$B/obj/%.o)
RECORD_O := $(RECORD_C:%.c=$B/obj/%.o)
# Programs and the plugin keep their `main` files out of what unit tests link.
CORE_O   := $(filter-out $B/obj/filter/front_%.o,$(FILTER_O))
PARTS_O  := $(filter-out $B/obj/helper-ext/record/main%.o,$(RECORD_O))
UNIT     := $(patsubst tests/unit/%.c,$B/tests/%,$(wildcard tests/unit/test_*.c))

.PHONY: all tools ext unit clean
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

unit: $(UNIT)

clean:
	rm -rf $B

-include $(shell find $B/obj -name '*.d' 2>/dev/null)
