// SPDX-License-Identifier: MIT
#include "perfetto.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "code/origin.h"

static bool ends_in(const char *text, size_t length, const char *end)
{
	size_t n = strlen(end);

	return length >= n && !strncmp(text + length - n, end, n);
}

/* From a folder of sys.path on: "asyncio/events.py" -> "asyncio.events". NULL: no memory. */
static char *dotted(const char *path, size_t length)
{
	char *title = strndup(path, length);

	for (char *c = title; c && (c = strchr(c, '/'));)
		*c = '.';
	return title;
}

/* Of a file that is in no known folder: its name, with the package's if that is all that it says. */
static const char *last_name(const char *path, size_t length)
{
	unsigned names = ends_in(path, length, "/__init__.py") ? 2 : 1;

	for (const char *c = path + length; c > path; c--)
		if (c[-1] == '/' && !--names)
			return c;
	return path;
}

static char *module_title(const struct code *code)
{
	const char *path = origin_path(code);
	size_t n = strlen(path);

	if (!ends_in(path, n, ".py"))
		return strdup(code->qualname);
	if (*path == '/')
		return strdup(last_name(path, n));
	n -= strlen(".py");
	return dotted(path, ends_in(path, n, "/__init__") ? n - strlen("/__init__") : n);
}

static bool is_import(const struct code *code)
{
	return !strcmp(code->file, CODE_IMPORT_FILE);
}

char *perfetto_title(const struct code *code)
{
	char *title;

	if (is_import(code))
		return asprintf(&title, "import %s", code->qualname) < 0 ? NULL : title;
	return strcmp(code->qualname, "<module>") ? strdup(code->qualname) : module_title(code);
}

void perfetto_end(FILE *f, const void *of)
{
	char *title = perfetto_title(of);

	if (!title)
		return;
	fputs("\"name\":", f);
	text_json(f, title);
	free(title);
}

char *perfetto_place(const struct code *code)
{
	const char *slash = strrchr(code->file, '/');
	char *place;

	if (code->c)
		return strdup("C function");
	if (code->label)
		return strdup(strcmp(code->file, CODE_SUBJECT_FILE) ? "span" : "request");
	if (is_import(code))
		return strdup("import");
	if (asprintf(&place, "%s:%" PRId64, slash ? slash + 1 : code->file, code->firstlineno) < 0)
		return NULL;
	return place;
}

/* The code object's, in the traced process, if the table has it. */
static void put_address(FILE *f, const struct code *code, const char *behind)
{
	if (code->address)
		fprintf(f, "\"code_ptr\":\"0x%" PRIx64 "\"%s", code->address, behind);
}

void perfetto_begin(FILE *f, const void *of)
{
	const struct code *code = of;
	char *place = perfetto_place(code);

	if (!place)
		return;
	fputs("\"cat\":", f);
	text_json(f, place);
	free(place);
	fputc(',', f);
	perfetto_end(f, code);
	fputs(",\"args\":{", f);
	put_address(f, code, "");
	fputc('}', f);
}

void perfetto_code(FILE *f, const void *of)
{
	const struct code *code = of;

	fputs("\"s\":\"p\",\"cat\":\"code\",", f);
	perfetto_end(f, code);
	fputs(",\"args\":{", f);
	put_address(f, code, ",");
	fputs("\"file\":", f);
	text_json(f, code->file);
	fprintf(f, ",\"line\":%" PRId64 "}", code->firstlineno);
}

char *perfetto_loop(const struct loop *loop)
{
	char *title = perfetto_title(loop->code), *name = NULL;
	int32_t line = loop->line;

	if (title && asprintf(&name, "loop %s%c%" PRId64, title, line ? ':' : '+', line ? line : loop->head) < 0)
		name = NULL;
	free(title);
	return name;
}

void perfetto_trip(FILE *f, const void *of)
{
	char *name = perfetto_loop(of);

	if (!name)
		return;
	fputs("\"cat\":\"loop\",\"name\":", f);
	text_json(f, name);
	free(name);
	fputs(",\"args\":{", f);
}

const char *const perfetto_cycles[PERFETTO_CYCLES] = {
	[CYCLES_CORE] = "Hardware Cycles",
	[CYCLES_TSC] = "TSC Cycles",
	[CYCLES_EMULATED] = "Emulated Cycles",
	[CYCLES_NS] = "Cycles of 1 ns",
};

/* The profile has the clock from the beginning only where it is not the TSC. */
enum perfetto_cycles perfetto_cycles_of(const struct profile *p, const struct loop *loop)
{
	const struct process *process = loop->code->process;

	if (!p || !p->clock)
		return process && process->tsc_hz ? CYCLES_TSC : CYCLES_NS;
	if (!strcmp(p->clock, "core"))
		return CYCLES_CORE;
	if (!strcmp(p->clock, "emulated"))
		return CYCLES_EMULATED;
	return strcmp(p->clock, "tsc") ? CYCLES_NS : CYCLES_TSC;
}

void perfetto_opcode(FILE *f, const void *name)
{
	fputs("\"cat\":\"opcode\",\"name\":", f);
	text_json(f, name);
}

void perfetto_function(FILE *f, const void *of)
{
	fputs(",\"args\":{\"function\":", f);
	text_json(f, ((const struct code *)of)->qualname);
}

const char *perfetto_data(const struct snapshot *s)
{
	return s->data ? s->data : "{}";
}

void perfetto_stack(FILE *f, const struct snapshot *s)
{
	fputc('[', f);
	for (int i = 0; s->stack && s->stack[i]; i++) {
		fputs(i ? "," : "", f);
		text_json(f, s->stack[i]);
	}
	fputc(']', f);
}

static void put_label(FILE *f, const struct snapshot *s)
{
	fputs("\"name\":", f);
	text_json(f, s->label ? s->label : "?");
}

void perfetto_snapshot_begin(FILE *f, const void *of)
{
	fputs("\"cat\":\"snapshot\",", f);
	put_label(f, of);
	fputs(",\"args\":{}", f);
}

void perfetto_snapshot_end(FILE *f, const void *of)
{
	const struct snapshot *s = of;

	put_label(f, s);
	fputs(",\"args\":{\"trigger\":", f);
	text_json(f, s->trigger ? s->trigger : "?");
	fprintf(f, ",\"number\":%u,\"threads\":%u,\"cut\":%u,\"pid\":%d,\"tid\":%d,\"data\":%s,\"stack\":", s->number,
		s->threads, s->cut, s->pid, s->tid, perfetto_data(s));
	perfetto_stack(f, s);
	fputc('}', f);
}

void perfetto_name(FILE *f, const char *what, const char *key, const char *name)
{
	fprintf(f, "\"name\":\"%s\",\"args\":{\"%s\":", what, key);
	text_json(f, name);
	fputc('}', f);
}
