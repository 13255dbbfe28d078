/* SPDX-License-Identifier: MIT */
/* settings.c - one table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"

static const struct setting {
	const char *name;
	size_t at;
	uint64_t least, most;
} settings[] = {
	{ "branch", offsetof(struct settings, branch), 0, 1 },
	{ "cyc", offsetof(struct settings, cyc), 0, 1 },
	{ "cyc_thresh", offsetof(struct settings, cyc_thresh), 0, 15 },
	{ "mtc", offsetof(struct settings, mtc), 0, 1 },
	{ "mtc_period", offsetof(struct settings, mtc_period), 0, 15 },
	{ "noretcomp", offsetof(struct settings, noretcomp), 0, 1 },
	{ "defer", offsetof(struct settings, defer), 0, SETTINGS_TIPS },
	{ "fup_on_ptw", offsetof(struct settings, fup_on_ptw), 0, 1 },
	{ "overflow", offsetof(struct settings, overflow), 0, UINT32_MAX },
	{ "full", offsetof(struct settings, full), 0, UINT32_MAX },
	{ "migrate", offsetof(struct settings, migrate), 0, UINT32_MAX },
	{ "snapshot", offsetof(struct settings, snapshot), 0, UINT32_MAX },
	{ "every", offsetof(struct settings, every), 0, UINT32_MAX },
	{ "numbered", offsetof(struct settings, numbered), 0, 1 },
	{ "truth", offsetof(struct settings, truth), 0, 1 },
	{ "psb", offsetof(struct settings, psb), 256, UINT32_MAX },
};

void settings_init(struct settings *s)
{
	*s = (struct settings){ .cyc = 1, .psb = 65536 };
}

static const struct setting *find(const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		if (strlen(settings[i].name) == size && memcmp(settings[i].name, name, size) == 0)
			return &settings[i];
	return NULL;
}

static bool is_named(const char *name, const char *word, size_t size)
{
	return size > strlen(name) && memcmp(word, name, strlen(name)) == 0;
}

int settings_word(struct settings *s, const char *word, size_t size)
{
	const char *equals = memchr(word, '=', size);
	const struct setting *which = find(word, equals ? (size_t)(equals - word) : size);
	uint64_t value = 1;
	char *end;

	if (is_named("filter=", word, size))
		return ranges_add(&s->filter, equals + 1, size - strlen("filter="));
	if (is_named("tool=", word, size))
		return ranges_add(&s->tool, equals + 1, size - strlen("tool="));
	if (is_named("handler=", word, size))
		return handlers_add(&s->handlers, equals + 1, size - strlen("handler="));
	if (!which)
		return -ENOENT;
	if (equals) {
		errno = 0;
		value = strtoull(equals + 1, &end, 0);
		if (errno || end == equals + 1 || end != word + size || equals[1] == '-')
			return -EINVAL;
	}
	if (value < which->least || value > which->most)
		return -EINVAL;
	memcpy((char *)s + which->at, &value, sizeof(value));
	return 0;
}

int settings_words(struct settings *s, const char *words)
{
	int err = 0;

	while (!err && *(words += strspn(words, " "))) {
		size_t size = strcspn(words, " ");

		err = settings_word(s, words, size);
		words += size;
	}
	return err;
}

void settings_map(struct settings *s, uint64_t start, uint64_t size, uint64_t offset, const char *file)
{
	ranges_map(&s->filter, start, size, offset, file);
	ranges_map(&s->tool, start, size, offset, file);
	handlers_map(&s->handlers, start, size, offset, file);
}
