// SPDX-License-Identifier: MIT
/* Two tables: what a key sets, and what makes a sink. */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/out.h"
#include "export/sink_bridges.h"
#include "export/sink_callgrind.h"
#include "export/sink_calls.h"
#include "report/sink_console.h"
#include "export/sink_events.h"
#include "report/sink_html.h"
#include "timeline/sink_perfetto.h"
#include "export/sink_pypylog.h"
#include "export/sink_snapshots.h"
#include "report/sink_summary.h"

#define LOOPS_DEFAULT  5
#define MAX_SIZE_LEAST 16384 /* bytes: room for what was left out, and names */

typedef bool (*setter)(struct options *o, void *field, const char *value);

static bool set_string(struct options *o, void *field, const char *value)
{
	(void)o;
	*(const char **)field = value;
	return *value;
}

static bool set_when(struct options *o, void *field, const char *value)
{
	static const char *const names[] = { "auto", "always", "never" };

	(void)o;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(value, names[i])) {
			*(enum when *)field = i;
			return true;
		}
	return false;
}

static bool set_iterations(struct options *o, void *field, const char *value)
{
	static const char *const names[] = {
		[ITERATIONS_INSTANTS] = "instants",
		[ITERATIONS_SLICES] = "slices",
		[ITERATIONS_NONE] = "none",
	};

	(void)o;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(value, names[i])) {
			*(enum iterations *)field = i;
			return true;
		}
	return false;
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

static bool set_duration(struct options *o, void *field, const char *value)
{
	static const struct unit units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { NULL, 0 }
	};

	(void)o;
	return read_quantity(value, units, field);
}

static bool set_size(struct options *o, void *field, const char *value)
{
	static const struct unit units[] = {
		{ "", 1 }, { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 }, { NULL, 0 }
	};

	(void)o;
	return read_quantity(value, units, field) && *(uint64_t *)field >= MAX_SIZE_LEAST;
}

static bool set_yes(struct options *o, void *field, const char *value)
{
	(void)o;
	*(bool *)field = !strcmp(value, "yes");
	return *(bool *)field || !strcmp(value, "no");
}

static bool set_number(struct options *o, void *field, const char *value)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	(void)o;
	*(unsigned *)field = n;
	return *value >= '0' && *value <= '9' && !*end && n <= 100000;
}

/* Seconds, as perf script prints and takes them: up to 9 decimals, exact. */
static bool read_time(const char **text, uint64_t *ns)
{
	char *end;
	uint64_t unit = 1000000000, seconds = strtoull(*text, &end, 10);

	if (**text < '0' || **text > '9' || seconds > UINT64_MAX / unit - 1)
		return false;
	*ns = seconds * unit;
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++)
			*ns += (*end - '0') * (unit /= 10);
	*text = end;
	return true;
}

static bool set_window(struct options *o, void *field, const char *value)
{
	(void)field;
	o->from_ns = 0;
	o->until_ns = UINT64_MAX;
	if (*value != ',' && !read_time(&value, &o->from_ns))
		return false;
	if (*value++ != ',')
		return false;
	if (*value && !read_time(&value, &o->until_ns))
		return false;
	return !*value && o->from_ns < o->until_ns;
}

static bool set_opcodes(struct options *o, void *field, const char *value)
{
	(void)field;
	return opcodes_view_parse(&o->opcodes, value);
}

static const struct {
	const char *key;
	size_t field;
	setter set;
	const char *value, *help;
} keys[] = {
#define KEY(key, set, value, help) \
	{ \
#key, offsetof(struct options, key), set, value, help \
	}
	KEY(codes, set_string, "DIR", "folder of codes-PID.jsonl (default: that of the perf.data)"),
	KEY(perfetto, set_string, "FILE", "write a Perfetto trace: Chrome JSON; protobuf if *.pftrace; *.gz: gzip"),
	KEY(summary, set_string, "FILE", "write the summary as JSON"),
	KEY(html, set_string, "FILE", "write the report as a page for a browser"),
	KEY(events, set_string, "FILE", "write one line for each event"),
	KEY(collapsed, set_string, "FILE", "write folded stacks, for flamegraph.pl and others"),
	KEY(flamegraph, set_string, "FILE", "the same"),
	KEY(speedscope, set_string, "FILE", "write a profile for speedscope"),
	KEY(callgrind, set_string, "FILE", "write a profile for KCachegrind"),
	KEY(pypylog, set_string, "FILE", "write which loop each thread is in, as PyPy logs it"),
	KEY(pstats, set_string, "FILE", "write call counts and times for Python's pstats"),
	KEY(console, set_when, "auto|always|never", "report (default: when no other is asked for)"),
	KEY(bridges, set_yes, "yes|no", "tell which ways trips took through loops' bodies (default: no)"),
	KEY(loops, set_number, "N", "loops that the report takes apart (default: 5)"),
	KEY(opcodes, set_opcodes, "SORT[:RESTRICT]", "tables of opcodes and pairs, as pstats sorts"),
	{ "counts", offsetof(struct options, events_by_code), set_number, "N",
	  "events by kind, of the N code objects with most" },
	KEY(iterations, set_iterations, "slices|instants|none", "trips of loops in the Perfetto trace"),
	KEY(min_duration, set_duration, "N{ns|us|ms|s}", "shorter slices are left out of it"),
	KEY(max_size, set_size, "N[K|M|G]", "its size at most, from 16K; what is left out is told in it"),
	{ "time", 0, set_window, "FROM,TO", "only this part: seconds, as perf script --time" },
	KEY(color, set_when, "auto|always|never", "colours (default: on a terminal)"),
	KEY(progress, set_when, "auto|always|never", "progress on stderr (default: on a terminal)"),
	KEY(status, set_number, "FD", "write \"ok\" or \"error: ...\" there at the end"),
#undef KEY
};

#define NKEYS (sizeof(keys) / sizeof(keys[0]))

void options_help(FILE *f, const char *usage)
{
	fprintf(f, "ocular: Python stacks, loops and cycles from PTWRITE markers\n\n%s\n", usage);
	for (size_t i = 0; i < NKEYS; i++)
		fprintf(f, "  %s=%-*s %s\n", keys[i].key, 27 - (int)strlen(keys[i].key), keys[i].value, keys[i].help);
	fprintf(f, "  %-28s %s\n", "help", "this text");
	fprintf(f, "\nFILE \"-\" is standard output.\n");
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
		if (word[length] && keys[i].set(o, (char *)o + keys[i].field, word + length + 1))
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

/* What writes a file, and where the file is named. */
static const struct {
	sink_maker make;
	size_t path;
} files[] = {
	{ sink_events_open, offsetof(struct options, events) },
	{ sink_perfetto_open, offsetof(struct options, perfetto) },
	{ sink_summary_open, offsetof(struct options, summary) },
	{ sink_html_open, offsetof(struct options, html) },
	{ sink_collapsed_open, offsetof(struct options, collapsed) },
	{ sink_collapsed_open, offsetof(struct options, flamegraph) }, /* its other usual name */
	{ sink_speedscope_open, offsetof(struct options, speedscope) },
	{ sink_callgrind_open, offsetof(struct options, callgrind) },
	{ sink_pypylog_open, offsetof(struct options, pypylog) },
	{ sink_pstats_open, offsetof(struct options, pstats) },
};

#define NFILES (sizeof(files) / sizeof(files[0]))

static const char *path_of(const struct options *o, size_t i)
{
	return *(const char *const *)((const char *)o + files[i].path);
}

static const char *key_of(size_t file)
{
	size_t i = 0;

	while (keys[i].field != files[file].path || keys[i].set != set_string)
		i++;
	return keys[i].key;
}

/* Of two in one place nobody could read either. */
static int check_files(const struct options *o, char *error)
{
	for (size_t i = 0; i < NFILES; i++)
		for (size_t k = 0; k < i; k++) {
			const char *a = path_of(o, k), *b = path_of(o, i);

			if (!a || !b || !out_same(a, b))
				continue;
			snprintf(error, OPTIONS_ERROR, "%s and %s are to be one file, '%s'", key_of(k), key_of(i), b);
			return -EINVAL;
		}
	return 0;
}

int options_parse(struct options *o, int argc, char **argv, char *error)
{
	int err = 0;

	*o = (struct options){ .loops = LOOPS_DEFAULT, .until_ns = UINT64_MAX, .status = -1 };
	for (int i = 0; i < argc && !err; i++)
		err = parse_word(o, argv[i], error);
	return err ? err : check_files(o, error);
}

static bool wants_console(const struct options *o)
{
	bool other = false;

	for (size_t i = 0; i < NFILES; i++)
		other |= path_of(o, i) != NULL;
	return o->console == WHEN_ALWAYS || (o->console == WHEN_AUTO && !other);
}

/* 0 where it is no terminal, or does not say. */
static unsigned columns_of(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

/* Appends a sink to the list that ends at *end. Nothing to do without a path. */
static int append(struct sink ***end, sink_maker make, const char *path, const struct options *o, char *error)
{
	struct sink_options so = {
		.path = path,
		.loops = o->loops,
		.color = options_when(o->color, STDOUT_FILENO),
		.width = columns_of(STDOUT_FILENO),
		.opcodes = &o->opcodes,
		.events_by_code = o->events_by_code,
		.whole = !o->from_ns,
		.zoomed = o->from_ns || o->until_ns != UINT64_MAX,
		.iterations = o->iterations,
		.min_ns = o->min_duration,
		.max_size = o->max_size,
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
	for (size_t i = 0; i < NFILES && !err; i++)
		err = append(&end, files[i].make, path_of(o, i), o, error);
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
