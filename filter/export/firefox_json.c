// SPDX-License-Identifier: MIT
#include "firefox_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void firefox_put(struct out *out, const char *json)
{
	out_put(out, json, strlen(json));
}

void firefox_put_number(struct out *out, uint64_t n)
{
	char *to = out_reserve(out, OUT_DIGITS);

	if (to)
		out_commit(out, out_dec(to, n));
}

void firefox_put_text(struct out *out, const char *text)
{
	char *json = NULL;
	size_t size;
	FILE *f = text ? open_memstream(&json, &size) : NULL;

	if (!text) {
		firefox_put(out, "null");
		return;
	}
	if (f)
		text_json(f, text);
	if (f && !fclose(f))
		out_put(out, json, size);
	else if (!out->err)
		out->err = -ENOMEM;
	free(json);
}

void firefox_put_ms(struct out *out, uint64_t ns)
{
	char *to = out_reserve(out, OUT_DIGITS + 8), *end;
	uint64_t below = ns % 1000000;

	if (!to)
		return;
	end = out_dec(to, ns / 1000000);
	if (below) {
		*end++ = '.';
		for (uint64_t unit = 100000; below; below %= unit, unit /= 10)
			*end++ = '0' + below / unit;
	}
	out_commit(out, end);
}

static void put_column(struct out *out, uint32_t n, const struct firefox_column *column, const void *of)
{
	firefox_put(out, ",\n\"");
	firefox_put(out, column->name);
	firefox_put(out, "\":[");
	for (uint32_t i = 0; i < n && !out->err; i++) {
		if (i)
			firefox_put(out, ",");
		if (column->cell)
			column->cell(out, of, i);
		else
			firefox_put(out, column->same);
	}
	firefox_put(out, "]");
}

void firefox_put_columns(struct out *out, uint32_t n, const struct firefox_column *columns, const void *of)
{
	firefox_put(out, "\"length\":");
	firefox_put_number(out, n);
	for (; columns->name; columns++)
		put_column(out, n, columns, of);
}
