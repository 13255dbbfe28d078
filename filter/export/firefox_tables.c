// SPDX-License-Identifier: MIT
#include "firefox_tables.h"

#include <errno.h>

#include "code/origin.h"
#include "firefox_json.h"
#include "shared/array.h"

/* Of functions. The viewer needs a grey one, and takes it where it knows none. */
enum category { OTHER, OF_ORIGIN, C_FUNCTION = OF_ORIGIN + ORIGINS, COLLECTOR, CATEGORIES };

static const struct {
	const char *name, *color;
} categories[CATEGORIES] = {
	[OTHER] = { "Other", "grey" },
	[OF_ORIGIN + ORIGIN_OWN] = { "The program's own code", "yellow" },
	[OF_ORIGIN + ORIGIN_STDLIB] = { "Standard library", "lightblue" },
	[OF_ORIGIN + ORIGIN_SITE] = { "Installed packages", "purple" },
	[OF_ORIGIN + ORIGIN_IMPORTS] = { "Imports", "brown" },
	[C_FUNCTION] = { "C functions", "green" },
	[COLLECTOR] = { "Garbage collector", "orange" },
};

/* Of each category, by enum firefox_state. */
#define SUBCATEGORIES "[\"Other\",\"On a CPU\",\"Waiting\",\"Ready, but not on a CPU\"]"

void firefox_put_categories(struct out *out)
{
	for (int i = 0; i < CATEGORIES; i++) {
		firefox_put(out, i ? ",\n{\"name\":" : "[\n{\"name\":");
		firefox_put_text(out, categories[i].name);
		firefox_put(out, ",\"color\":");
		firefox_put_text(out, categories[i].color);
		firefox_put(out, ",\"subcategories\":" SUBCATEGORIES "}");
	}
	firefox_put(out, "]");
}

static int64_t frame_of(struct firefox_tables *t, uint32_t function, enum firefox_state state)
{
	uint64_t key = map_pair(function, state);
	uintptr_t found = (uintptr_t)map_get(&t->frame_numbers, key);

	if (found)
		return found - 1;
	if (!ARRAY_ROOM(t->frames, t->nframes, t->frames_size) ||
	    map_put(&t->frame_numbers, key, (void *)(uintptr_t)(t->nframes + 1)))
		return -ENOMEM;
	t->frames[t->nframes] = (struct firefox_frame){ function, state };
	return t->nframes++;
}

static int64_t stack_of(struct firefox_tables *t, uint32_t caller, uint32_t function, enum firefox_state state)
{
	int64_t frame = frame_of(t, function, state);

	return frame < 0 ? frame : stacks_number(&t->stacks, caller, frame);
}

int64_t firefox_stack(struct firefox_tables *t, uint32_t caller, struct code *code, enum firefox_state state)
{
	int64_t function = places_number(&t->functions, code);

	return function < 0 ? function : stack_of(t, caller, function, state);
}

int64_t firefox_stack_in(struct firefox_tables *t, uint32_t stack, enum firefox_state state)
{
	return stack_of(t, t->stacks.of[stack].caller, t->frames[t->stacks.of[stack].frame].function, state);
}

/* --- columns --------------------------------------------------------------------------------------------------- */

static const struct code *function_at(const void *of, uint32_t row)
{
	return ((const struct firefox_tables *)of)->functions.codes[row];
}

static const struct firefox_frame *frame_at(const void *of, uint32_t row)
{
	return &((const struct firefox_tables *)of)->frames[row];
}

static enum category category_of(const struct firefox_tables *t, const struct code *code)
{
	if (code->collects)
		return COLLECTOR;
	return code->c ? C_FUNCTION : OF_ORIGIN + origin_of(t->codes, code);
}

/* How far up its caller is; 0: there is none. */
static void put_prefix(struct out *out, const void *of, uint32_t row)
{
	uint32_t caller = ((const struct firefox_tables *)of)->stacks.of[row].caller;

	firefox_put_number(out, caller == STACKS_NONE ? 0 : row - caller);
}

static void put_frame(struct out *out, const void *of, uint32_t row)
{
	firefox_put_number(out, ((const struct firefox_tables *)of)->stacks.of[row].frame);
}

static void put_category(struct out *out, const void *of, uint32_t row)
{
	firefox_put_number(out, category_of(of, function_at(of, frame_at(of, row)->function)));
}

static void put_state(struct out *out, const void *of, uint32_t row)
{
	firefox_put_number(out, frame_at(of, row)->state);
}

static void put_function(struct out *out, const void *of, uint32_t row)
{
	firefox_put_number(out, frame_at(of, row)->function);
}

/* Of functions, files and resources: their texts lie in that order. */
static void put_row(struct out *out, const void *of, uint32_t row)
{
	(void)of;
	firefox_put_number(out, row);
}

static void put_file(struct out *out, const void *of, uint32_t row)
{
	firefox_put_number(out, ((const struct firefox_tables *)of)->functions.n + row);
}

static void put_origin(struct out *out, const void *of, uint32_t row)
{
	const struct firefox_tables *t = of;

	firefox_put_number(out, t->functions.n + t->files.n + row);
}

static void put_resource(struct out *out, const void *of, uint32_t row)
{
	const struct code *code = function_at(of, row);

	if (code->c)
		firefox_put(out, "-1");
	else
		firefox_put_number(out, category_of(of, code) - OF_ORIGIN);
}

static void put_source(struct out *out, const void *of, uint32_t row)
{
	const struct code *code = function_at(of, row);

	if (code->c)
		firefox_put(out, "null");
	else
		firefox_put_number(out, texts_find(&((const struct firefox_tables *)of)->files, code->file));
}

static void put_line(struct out *out, const void *of, uint32_t row)
{
	const struct code *code = function_at(of, row);

	if (code->c || code->firstlineno <= 0)
		firefox_put(out, "null");
	else
		firefox_put_number(out, code->firstlineno);
}

static const struct firefox_column stack_columns[] = {
	{ .name = "prefixOffset", .cell = put_prefix },
	{ .name = "frame", .cell = put_frame },
	{ 0 },
};

static const struct firefox_column frame_columns[] = {
	{ .name = "address", .same = "-1" },
	{ .name = "lib", .same = "-1" },
	{ .name = "inlineDepth", .same = "0" },
	{ .name = "category", .cell = put_category },
	{ .name = "subcategory", .cell = put_state },
	{ .name = "func", .cell = put_function },
	{ .name = "nativeSymbol", .same = "null" },
	{ .name = "innerWindowID", .same = "0" },
	{ .name = "line", .same = "null" },
	{ .name = "column", .same = "null" },
	{ .name = "originalLocation", .same = "null" },
	{ 0 },
};

static const struct firefox_column function_columns[] = {
	{ .name = "name", .cell = put_row },
	{ .name = "isJS", .same = "false" },
	{ .name = "relevantForJS", .same = "false" },
	{ .name = "resource", .cell = put_resource },
	{ .name = "source", .cell = put_source },
	{ .name = "lineNumber", .cell = put_line },
	{ .name = "columnNumber", .same = "null" },
	{ .name = "originalLocation", .same = "null" },
	{ 0 },
};

/* Whose code it is: the viewer can make one frame of all of a resource. */
static const struct firefox_column resource_columns[] = {
	{ .name = "name", .cell = put_origin },
	{ .name = "host", .same = "null" },
	{ .name = "type", .same = "1" }, /* a library */
	{ 0 },
};

static const struct firefox_column source_columns[] = {
	{ .name = "id", .same = "null" },
	{ .name = "filename", .cell = put_file },
	{ .name = "startLine", .same = "1" },
	{ .name = "startColumn", .same = "1" },
	{ .name = "sourceMapURL", .same = "null" },
	{ .name = "content", .same = "null" },
	{ 0 },
};

static const struct firefox_column symbol_columns[] = {
	{ .name = "libIndex" }, { .name = "address" }, { .name = "name" }, { .name = "functionSize" }, { 0 },
};

static const struct firefox_column location_columns[] = {
	{ .name = "source" },
	{ .name = "line" },
	{ .name = "column" },
	{ 0 },
};

/* --- tables ------------------------------------------------------------------------------------------------------ */

static int find_files(struct firefox_tables *t)
{
	int64_t file = 0;

	for (uint32_t i = 0; i < t->functions.n && file >= 0; i++)
		if (!t->functions.codes[i]->c)
			file = texts_number(&t->files, t->functions.codes[i]->file);
	return file < 0 ? file : 0;
}

static void put_strings(struct firefox_tables *t, struct out *out)
{
	uint32_t n = t->functions.n, files = t->files.n;

	firefox_put(out, ",\n\"stringArray\":[");
	for (uint32_t i = 0; i < n + files + ORIGINS && !out->err; i++) {
		firefox_put(out, i ? ",\n" : "\n");
		firefox_put_text(out, i < n	      ? t->functions.codes[i]->qualname
				      : i - n < files ? t->files.of[i - n]
						      : categories[OF_ORIGIN + i - n - files].name);
	}
	firefox_put(out, "]");
}

int firefox_put_tables(struct firefox_tables *t, struct out *out)
{
	int err = find_files(t);
	const struct {
		const char *name;
		uint32_t n;
		const struct firefox_column *columns;
	} tables[] = {
		{ "stackTable", t->stacks.n, stack_columns },
		{ "frameTable", t->nframes, frame_columns },
		{ "funcTable", t->functions.n, function_columns },
		{ "resourceTable", ORIGINS, resource_columns },
		{ "nativeSymbols", 0, symbol_columns },
		{ "sources", t->files.n, source_columns },
		{ "sourceLocationTable", 0, location_columns },
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !err; i++) {
		firefox_put(out, i ? ",\n\"" : "{\n\"");
		firefox_put(out, tables[i].name);
		firefox_put(out, "\":{");
		firefox_put_columns(out, tables[i].n, tables[i].columns, t);
		firefox_put(out, "}");
	}
	put_strings(t, out);
	firefox_put(out, "}");
	return err;
}

void firefox_tables_free(struct firefox_tables *t)
{
	places_free(&t->functions);
	texts_free(&t->files);
	map_free(&t->frame_numbers);
	free(t->frames);
	stacks_free(&t->stacks);
}
