// SPDX-License-Identifier: MIT
#include "command_line.h"

#include <stdio.h>
#include <string.h>

static const char *word(const json_t *argv, size_t i)
{
	return json_string_value(json_array_get(argv, i));
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static char *module(const char *name)
{
	char *text = NULL;

	return asprintf(&text, "-m %s", name) < 0 ? NULL : text;
}

/*
 * Options of one word: "-Bm" is "-B -m", and what follows m, c, W or X in the word, or else the next word, goes with
 * it. 0, or the letter that ends them all, c or m; *value: what goes with it.
 */
static char take_options(const json_t *argv, size_t *i, const char **value)
{
	const char *options = word(argv, *i);

	for (const char *at = options + 1; *at; at++) {
		if (!strchr("cmWX", *at))
			continue;
		*value = at[1] ? at + 1 : word(argv, ++*i);
		return strchr("cm", *at) ? *at : 0;
	}
	return 0;
}

char *command_line_program(const json_t *argv)
{
	const char *first = word(argv, 0), *value = NULL;

	for (size_t i = 1; i < json_array_size(argv) && word(argv, i); i++) {
		const char *arg = word(argv, i);
		char ends;

		if (!strcmp(arg, "--check-hash-based-pycs"))
			i++;
		else if (*arg != '-' || !strcmp(arg, "-"))
			return strdup(last_part(arg));
		if (!strncmp(arg, "--", 2))
			continue;
		ends = take_options(argv, &i, &value);
		if (ends)
			return ends == 'm' && value ? module(value) : strdup(ends == 'm' ? "-m" : "-c");
	}
	return first ? strdup(last_part(first)) : NULL;
}
