// SPDX-License-Identifier: MIT
/* One table of keys; the rows for files, and their makers, come from sinks.h. */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/pid_list.h"
#include "base/terminal.h"
#include "export/sink_bridges.h"
#include "report/sink_console.h"
#include "export/sink_snapshots.h"
#include "report/sink_live.h"
#include "timeline/source_link.h"

#define MAX_SIZE_LEAST 16384 /* bytes: room for the marks and names at the end */

typedef bool (*setter)(void *field, const char *value);

static bool set_string(void *field, const char *value)
{
	*(const char **)field = value;
	return *value;
}

static bool set_source_url(void *field, const char *value)
{
	return set_string(field, value) && source_link_is_valid(value);
}

/* Which of `names`, up to a NULL, value is. */
static bool find_name(const char *const *names, const char *value, unsigned *i)
{
	for (*i = 0; names[*i] && strcmp(names[*i], value); ++*i)
		;
	return names[*i];
}

static bool set_when(void *field, const char *value)
{
	return find_name((const char *const[]){ "auto", "always", "never", NULL }, value, field);
}

static bool set_iterations(void *field, const char *value)
{
	static const char *const names[] = {
		[ITERATIONS_INSTANTS] = "instants",
		[ITERATIONS_SLICES] = "slices",
		[ITERATIONS_NONE] = "none",
		NULL,
	};

	return find_name(names, value, field);
}

static bool set_by(void *field, const char *value)
{
	static const char *const names[] = {
		[BY_NOTHING] = "nothing", [BY_PROCESS] = "process", [BY_THREAD] = "thread", [BY_TASK] = "task", NULL,
	};

	return find_name(names, value, field);
}

struct unit {
	const char *name;
	uint64_t factor;
};

/* A whole number and one of `units`. */
static bool read_quantity(const char *value, const struct unit *units, uint64_t *quantity)
{
	char *end;

	errno = 0;
	*quantity = strtoull(value, &end, 10);
	for (; units->name; units++)
		if (!strcmp(end, units->name))
			return *value >= '0' && *value <= '9' && !errno &&
			       !__builtin_mul_overflow(*quantity, units->factor, quantity);
	return false;
}

static bool set_duration(void *field, const char *value)
{
	static const struct unit units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { NULL, 0 }
	};

	return read_quantity(value, units, field);
}

static bool set_size(void *field, const char *value)
{
	static const struct unit units[] = {
		{ "", 1 }, { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 }, { NULL, 0 }
	};

	return read_quantity(value, units, field) && *(uint64_t *)field >= MAX_SIZE_LEAST;
}

static bool set_processes(void *field, const char *value)
{
	*(const char **)field = value;
	return pid_list_valid(value);
}

static bool set_yes(void *field, const char *value)
{
	*(bool *)field = !strcmp(value, "yes");
	return *(bool *)field || !strcmp(value, "no");
}

static bool set_number(void *field, const char *value)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	*(unsigned *)field = n;
	return *value >= '0' && *value <= '9' && !*end && n <= 100000;
}

static bool set_window(void *field, const char *value)
{
	return time_span_parse(field, value);
}

static bool set_opcodes(void *field, const char *value)
{
	return opcodes_view_parse(field, value);
}

/* Whom a key is for. */
enum reader {
	FOR_USERS, /* of ocular report, too */
	FOR_PERF,  /* those who call perf or ocular-pt directly */
};

/* Instead of patterns of file names: of an option that may be repeated, and then has its values with ':' between. */
#define LIST ":"

static const struct {
	const char *key;
	size_t field;
	setter set;
	const char *value, *patterns, *help;
	enum reader whom;
} keys[] = {
#define X(name, patterns, help) \
	{ #name, offsetof(struct options, name), set_string, "FILE", patterns, help, FOR_USERS },
	SINKS(X)
#undef X
#define SELECT(key, value, help) \
	{ \
#key, offsetof(struct options, select.key), set_string, value, LIST, help, FOR_USERS \
	}
#define KEY(key, set, value, help, whom) \
	{ \
#key, offsetof(struct options, key), set, value, NULL, help, whom \
	}
		KEY(iterations, set_iterations, "slices|instants|none",
		    "iterations of loops in that trace: instants (default), slices or none", FOR_USERS),
	KEY(min_duration, set_duration, "N{ns|us|ms|s}",
	    "leave slices shorter than that out of it: 500ns, 10us, 2ms, 1s", FOR_USERS),
	KEY(max_size, set_size, "N[K|M|G]",
	    "its maximum size, e.g. 200M, at least 16K; the shortest slices are left out, and\nthe trace says how many",
	    FOR_USERS),
	KEY(source_url, set_source_url, "https://...{file}",
	    "functions in a .pftrace link to their source there, if it is in the program's\n"
	    "folder: https://example.com/shop/blob/v1.4/{file}#L{line}",
	    FOR_USERS),
	KEY(bridges, set_yes, "yes|no",
	    "show which paths iterations took through loop bodies (modes precise and full):\nconsole, summary, PYPYLOG",
	    FOR_USERS),
	KEY(loops, set_number, "N",
	    "show the N hottest loops instruction by instruction (default: the hottest one, if\n"
	    "10 per cent of the time are its own, and the first 40 instructions of it)",
	    FOR_USERS),
	KEY(by, set_by, "process|thread|task",
	    "take functions and loops apart by process, thread or task, instead of summing them", FOR_USERS),
	KEY(all, set_yes, "yes|no",
	    "show functions and loops of libraries as those of the program: without, the\n"
	    "standard library, site-packages and imports are one row each",
	    FOR_USERS),
	KEY(imports, set_yes, "yes|no", "the tree of imports, as -X importtime has it, and what took longest in each",
	    FOR_USERS),
	KEY(for_diff, set_yes, "yes|no",
	    "the summary also has the call tree, distributions of iterations and source lines,\n"
	    "for ocular diff --html: made right after recording, it keeps what the source was",
	    FOR_USERS),
	KEY(for_fleet, set_yes, "yes|no",
	    "the summary also has callers, distributions of calls and iterations, and hashes of\n"
	    "bytecode, for ocular fleet",
	    FOR_USERS),
	KEY(event_memory, set_string, "MEMORY,FREED,ROWS",
	    "columns of events go through memory that their reader shares: the numbers of two\n"
	    "open files, and how many rows it takes at a time (docs/exports.md), for ocular fleet",
	    FOR_USERS),
	KEY(request, set_string, "slowest|N|NAME|ID",
	    "where the time of that request went, in full: its number, or the slowest of a name\n"
	    "(ocular.request) or of OpenTelemetry's trace id; without, the slowest one, shortened",
	    FOR_USERS),
	KEY(opcodes, set_opcodes, "SORT[:RESTRICT]",
	    "tables of opcodes and of what follows what: whole program, hottest loops and\n"
	    "functions, console and summary. SORT: time, calls, percall or name; RESTRICT as\n"
	    "pstats takes it: a number of rows, a share (0.1), a regular expression.\n"
	    "chains:N or chains:N:SORT[:RESTRICT]: also chains of N opcodes (3 to 8)",
	    FOR_USERS),
	{ "counts", offsetof(struct options, events_by_code), set_number, "N", NULL,
	  "events of each kind, of the N code objects with most", FOR_USERS },
	KEY(time, set_window, "FROM,TO",
	    "only this time span: seconds since the first event, as Perfetto shows them\n"
	    "(1.5,2), wall clock (14:03:02,14:04 or 2026-11-23T14:03,), or, with @, perf's\n"
	    "clock (@8123.4,@8123.5); FROM or TO may be omitted",
	    FOR_USERS),
	SELECT(include, "PATTERN",
	       "only this code: a module or package (json.decoder), or, with a slash or .py, a\n"
	       "pattern of file names ('*/site-packages/*'); may be repeated. Its time outside\n"
	       "of that is its caller's, as if it had been recorded so"),
	SELECT(exclude, "PATTERN", "all but this code; may be repeated"),
	SELECT(thread, "NAME", "only threads of that name or number; may be repeated, and may have *"),
	{ "function", offsetof(struct options, select.function), set_string, "[WHERE:]NAME", NULL,
	  "only what runs in that function, and in what it calls: search, 'Flask.*',\n"
	  "shop.web:search; WHERE as --include has it",
	  FOR_USERS },
	{ "task", offsetof(struct options, select.task), set_string, "[WHERE:]NAME", NULL,
	  "only tasks of that name: their outermost coroutine's", FOR_USERS },
	KEY(follow, set_yes, "yes|no",
	    "while the recording is being written, and until it ends: one JSON object a second,\n"
	    "of the functions that ran in it (Ctrl-C stops following, not the program)",
	    FOR_USERS),
	KEY(callers, set_yes, "yes|no",
	    "with --follow: also who calls one function, which a line of standard input names:\n"
	    "{\"file\": ..., \"qualname\": ..., \"line\": ...}, as the object of each second has it",
	    FOR_USERS),
	KEY(codes, set_string, "DIR", "folder of codes-PID.jsonl (default: that of the perf.data)", FOR_PERF),
	KEY(console, set_when, "auto|always|never", "report (default: when no other is asked for)", FOR_PERF),
	KEY(color, set_when, "auto|always|never", "colours (default: on a terminal)", FOR_PERF),
	KEY(progress, set_when, "auto|always|never", "progress on stderr (default: on a terminal)", FOR_PERF),
	KEY(progress_what, set_string, "TEXT", "what is read, where others are, too: begins that line", FOR_PERF),
	KEY(status, set_number, "FD", "write \"ok\" or \"error: ...\" there at the end", FOR_PERF),
	KEY(leave_to_perf, set_yes, "yes|no",
	    "ocular-pt: where perf must read the recording, say why and end with status 3", FOR_PERF),
	KEY(as_perf, set_yes, "yes|no", "ocular-pt: leave out the kernel's switch records, which perf does not tell",
	    FOR_PERF),
	KEY(workers, set_number, "N",
	    "ocular-pt: how many threads read a recording of several processes, each some of them,\n"
	    "if no output needs all events in the order of time; 0 (default): as many as CPUs,\n"
	    "and four at least",
	    FOR_PERF),
	KEY(processes, set_processes, "[^]PID,...",
	    "ocular-pt: only what these processes did, or with ^ all but these; whether the file\n"
	    "lacks some of its words as a whole is not told then",
	    FOR_PERF),
#undef KEY
#undef SELECT
};

#define NKEYS (sizeof(keys) / sizeof(keys[0]))

/* Each line of a text but the first is preceded by `before`. */
static void print_lines(FILE *f, const char *text, const char *before)
{
	for (const char *end; (end = strchr(text, '\n')); text = end + 1)
		fprintf(f, "%.*s%s", (int)(end - text), text, before);
	fprintf(f, "%s\n", text);
}

void options_help(FILE *f, const char *usage)
{
	fprintf(f, "ocular: Python stacks, loops and cycles from PTWRITE markers\n\n%s\n", usage);
	for (size_t i = 0; i < NKEYS; i++) {
		fprintf(f, "  %s=%-*s ", keys[i].key, 27 - (int)strlen(keys[i].key), keys[i].value);
		print_lines(f, keys[i].help, "\n                               ");
	}
	fprintf(f, "  %-28s %s\n", "help", "this text");
	fprintf(f, "\nFILE \"-\" is standard output.\n");
}

void options_table(FILE *f)
{
	for (size_t i = 0; i < NKEYS; i++) {
		if (keys[i].whom != FOR_USERS)
			continue;
		fprintf(f, "%s\t%s\t%s\t%s\t", keys[i].key, keys[i].value,
			keys[i].patterns && !strcmp(keys[i].patterns, LIST) ? "list"
			: keys[i].patterns				    ? "file"
			: keys[i].set == set_yes			    ? "flag"
									    : "value",
			keys[i].patterns && *keys[i].patterns && strcmp(keys[i].patterns, LIST) ? keys[i].patterns
												: "-");
		print_lines(f, keys[i].help, "\\n");
	}
}

bool options_is_help(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "--help");
}

static int parse_word(struct options *o, const char *word, char *error)
{
	size_t length = strcspn(word, "=");

	if (options_is_help(word)) {
		o->help = true;
		return 0;
	}
	for (size_t i = 0; i < NKEYS; i++) {
		if (strlen(keys[i].key) != length || strncmp(keys[i].key, word, length))
			continue;
		if (word[length] && keys[i].set((char *)o + keys[i].field, word + length + 1))
			return 0;
		snprintf(error, OPTIONS_ERROR, "argument '%s': want %s=%s", word, keys[i].key, keys[i].value);
		return -EINVAL;
	}
	snprintf(error, OPTIONS_ERROR, "unknown argument '%s'; 'help' lists them", word);
	return -EINVAL;
}

bool options_when(enum when w, int fd)
{
	return w == WHEN_ALWAYS || (w == WHEN_AUTO && isatty(fd));
}

#define X(name, ...) int sink_##name##_open(struct sink **out, const struct sink_options *o, char *error);
SINKS(X)
#undef X

static const struct {
	const char *name;
	sink_maker make;
} files[OPTIONS_FILES] = {
#define X(name, ...) { #name, sink_##name##_open },
	SINKS(X)
#undef X
};

/* Each would overwrite the other. */
static int check_files(const struct options *o, char *error)
{
	for (size_t i = 0; i < OPTIONS_FILES; i++)
		for (size_t k = 0; k < i; k++) {
			const char *a = o->files[k], *b = o->files[i];

			if (!a || !b || !out_same(a, b))
				continue;
			snprintf(error, OPTIONS_ERROR, "%s and %s cannot both be written to '%s': name two files",
				 files[k].name, files[i].name, b);
			return -EINVAL;
		}
	return 0;
}

int options_parse(struct options *o, int argc, char **argv, char *error)
{
	int err = 0;

	*o = (struct options){ .loops = LOOPS_AUTO, .status = -1 };
	for (int i = 0; i < argc && !err; i++)
		err = parse_word(o, argv[i], error);
	if (!err && o->callers && !o->follow) {
		snprintf(error, OPTIONS_ERROR, "callers are told by follow: ask for both");
		err = -EINVAL;
	}
	return err ? err : check_files(o, error);
}

static bool wants_console(const struct options *o)
{
	bool other = o->follow;

	for (size_t i = 0; i < OPTIONS_FILES; i++)
		other |= o->files[i] != NULL;
	return o->console == WHEN_ALWAYS || (o->console == WHEN_AUTO && !other);
}

/* Appends a sink to the list that ends at *end. Nothing to do without a path. */
static int append(struct sink ***end, sink_maker make, const char *path, const struct options *o, char *error)
{
	struct sink_options so = {
		.path = path,
		.loops = o->loops,
		.by = o->by,
		.unfold = o->all,
		.imports = o->imports,
		.request = o->request,
		.color = options_when(o->color, STDOUT_FILENO),
		.width = terminal_columns(STDOUT_FILENO),
		.opcodes = &o->opcodes,
		.for_diff = o->for_diff,
		.for_fleet = o->for_fleet,
		.event_memory = o->event_memory,
		.events_by_code = o->events_by_code,
		.whole = o->time.from.kind == TIME_NONE,
		.zoomed = !time_span_is_all(&o->time),
		.iterations = o->iterations,
		.callers = o->callers,
		.min_ns = o->min_duration,
		.max_size = o->max_size,
		.source_url = o->source_url,
	};
	int err = path ? make(*end, &so, error) : 0;

	if (path && !err)
		*end = &(**end)->next;
	return err;
}

int options_sinks(const struct options *o, struct sink **sinks, char *error)
{
	struct sink **end = sinks;
	int err = 0;

	*sinks = NULL;
	err = append(&end, sink_bridges_open, o->bridges ? "" : NULL, o, error);
	for (size_t i = 0; i < OPTIONS_FILES && !err; i++)
		err = append(&end, files[i].make, o->files[i], o, error);
	if (!err)
		err = append(&end, sink_live_open, o->follow ? "-" : NULL, o, error);
	if (!err)
		err = append(&end, sink_snapshots_open, wants_console(o) ? "-" : NULL, o, error);
	if (!err)
		err = append(&end, sink_console_open, wants_console(o) ? "-" : NULL, o, error);
	for (struct sink *k = *sinks, *next; err && k; k = next) {
		next = k->next;
		k->ops->free(k);
	}
	if (err)
		*sinks = NULL;
	return err;
}
