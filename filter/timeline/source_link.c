// SPDX-License-Identifier: MIT
#include "source_link.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "code/origin.h"

static const char file_word[] = "{file}", line_word[] = "{line}";

static size_t word_at(const char *at, const char *word)
{
	size_t n = strlen(word);

	return strncmp(at, word, n) ? 0 : n;
}

bool source_link_is_valid(const char *pattern)
{
	if (!word_at(pattern, "http://") && !word_at(pattern, "https://"))
		return false;
	for (const char *at = pattern; (at = strpbrk(at, "{}"));) {
		size_t n = word_at(at, file_word) ?: word_at(at, line_word);

		if (!n)
			return false;
		at += n;
	}
	return strstr(pattern, file_word);
}

/* All that has a meaning of its own in an address, or is no ASCII, is written as %XX. */
static void put_file(FILE *f, const char *path)
{
	for (; *path; path++)
		if (isalnum((unsigned char)*path) || strchr("/-._~", *path))
			fputc(*path, f);
		else
			fprintf(f, "%%%02X", (unsigned char)*path);
}

static void put_link(FILE *f, const char *pattern, const char *path, int64_t line)
{
	while (*pattern) {
		if (word_at(pattern, file_word)) {
			put_file(f, path);
			pattern += strlen(file_word);
		} else if (word_at(pattern, line_word)) {
			fprintf(f, "%" PRId64, line);
			pattern += strlen(line_word);
		} else {
			fputc(*pattern++, f);
		}
	}
}

char *source_link(const char *pattern, const struct code *code)
{
	const char *path = pattern ? origin_in_folder(code) : NULL;
	char *link = NULL;
	size_t size;
	FILE *f;

	if (!path)
		return text_utf8(code->file);
	f = open_memstream(&link, &size);
	if (!f)
		return NULL;
	put_link(f, pattern, path, code->firstlineno);
	if (fclose(f)) {
		free(link);
		link = NULL;
	}
	return link;
}
