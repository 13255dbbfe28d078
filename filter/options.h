/* SPDX-License-Identifier: MIT */
/*
 * options.h - KEY=VALUE words (perf's --dlarg) -> what to analyse and which sinks to make.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "model/opcodes_view.h"
#include "model/selection.h"
#include "model/sink.h"
#include "base/time_span.h"
#include "sinks.h"

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

#define X(...) +1
enum { OPTIONS_FILES = 0 SINKS(X) };
#undef X

struct options {
	const char *codes; /* folder of the code tables; NULL: not given */
	union {		   /* files to write, NULL: not asked for */
		struct {
#define X(name, ...) const char *name;
			SINKS(X)
#undef X
		};
		const char *files[OPTIONS_FILES];
	};
	bool bridges; /* paths through loops */
	enum by by;
	bool all; /* libraries unfolded */
	bool imports;
	bool for_diff, for_fleet;
	const char *request;
	const char *event_memory;
	enum when console, color, progress;
	const char *progress_what; /* the line begins with it; NULL: nothing */
	unsigned loops, events_by_code;
	struct opcodes_view opcodes;
	enum iterations iterations;
	uint64_t min_duration; /* ns */
	uint64_t max_size;     /* bytes; 0: any */
	const char *source_url;
	struct time_span time;
	struct select select; /* what the report is of */
	int status;	      /* descriptor for the closing line, -1: none */
	bool leave_to_perf;
	bool as_perf;
	const char *processes; /* only these (pid_list.h); NULL: all */
	unsigned workers;      /* threads that read it, each some processes; 0: as many as CPUs, and four at least */
	bool follow;	       /* the recording is being written */
	bool callers;	       /* and tells those of what standard input asks for */
	bool help;
};

#define OPTIONS_ERROR 256

/*
 * Reads argc words into *o, whose strings point into argv. 0; -EINVAL with one line in error[OPTIONS_ERROR], also if
 * two files would be in one place.
 */
int options_parse(struct options *o, int argc, char **argv, char *error);

/* Is it "help" or, as programs are asked, "--help"? */
bool options_is_help(const char *word);

/* Lists the words, after how to call the program that takes them. */
void options_help(FILE *f, const char *usage);

/*
 * The same for scripts: those for users of `ocular report`. One line each, separated by tabs: key, value, kind (`file`:
 * an output; `flag`: it means key=yes; `list`: it may be repeated, and its values are joined by ':'; `value`), patterns
 * of file names or "-", help with \n between its lines.
 */
void options_table(FILE *f);

/* Does `when` mean yes for output to fd? AUTO: if that is a terminal. */
bool options_when(enum when w, int fd);

/*
 * Makes the requested sinks, in one list; the console if there is none. 0, or a negative errno with one line in
 * error[SINK_ERROR] and no sink made.
 */
int options_sinks(const struct options *o, struct sink **sinks, char *error);
