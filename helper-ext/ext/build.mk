# The extension for one interpreter: make -f helper-ext/ext/build.mk PY=/path/to/python [B=build]
# Included by nobody; the Makefile's `ext` calls it for each line of scripts/find-pythons.
CC      ?= cc
CFLAGS  ?= -O2 -g
B       ?= build
# A folder of helper-ext/ext/arch/.
ARCH    ?= $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),x86_64,generic)
# scripts/wheels knows them, without an interpreter.
ifneq ($(origin INCLUDE),command line)
ABI     := $(shell "$(PY)" -ES -c 'import sysconfig; print(sysconfig.get_config_var("SOABI"))')
INCLUDE := $(shell "$(PY)" -ES -c 'import sysconfig; print(sysconfig.get_path("include"))')
endif
# CPython's own headers are no model of -Wextra, and its calling conventions leave arguments unused.
override CFLAGS += -std=gnu11 -D_GNU_SOURCE -DNDEBUG -Wall -Wextra -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wno-unused-parameter -Wno-missing-field-initializers \
	-fvisibility=hidden -fPIC -Ihelper-ext -isystem $(INCLUDE) \
	$(if $(filter generic,$(ARCH)),-DARCH_GENERIC)

OBJ := $(patsubst %.c,$B/obj/$(ABI)/%.o,$(wildcard helper-ext/ext/*.c helper-ext/ext/arch/$(ARCH)/*.c))

all: $B/python/ocular/_core.$(ABI).so $B/obj/$(ABI)/bytecode

$B/python/ocular/_core.$(ABI).so: $(OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $^

# The package's bytecode, valid by the hash of the source: whoever runs it may not be allowed to write it, and compiling takes
# longer than all the rest of the start.
PYC := $B/obj/$(ABI)/bytecode
$(PYC): $(wildcard $B/python/ocular/*.py $B/python/hook/*.py)
	@mkdir -p $(@D)
	"$(PY)" -ES -m compileall -q --invalidation-mode checked-hash $B/python/ocular $B/python/hook && touch $@

$B/obj/$(ABI)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<

-include $(OBJ:.o=.d)
