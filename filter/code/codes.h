/* SPDX-License-Identifier: MIT */
/*
 * codes.h - the code tables of a recording (codes-PID.jsonl, docs/marker.md).
 *
 * A process's table is read completely when its pid or a fork's is first asked for, or together with all others in the
 * folder's order, on which nothing may depend. Memory grows with the program's size, not with the length of its trace.
 * All objects live until codes_free.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code.h"
#include "base/map.h"
#include "natives.h"

/* A longer chain of forks than this is taken for a loop in damaged headers. */
#define CODES_PARENTS_MAX 64

#define CODES_VERSION 1 /* of the table format */

/* What made a flight recorder save its last moments (docs/marker.md). Strings may be NULL. */
struct snapshot {
	uint32_t number;
	uint64_t from_ns, at_ns; /* in the clock of the recording */
	int32_t pid, tid;	 /* where the trigger was seen; 0: not known */
	uint32_t threads, cut;	 /* threads in it; those whose rings did not reach back far enough */
	uint64_t words;		 /* of all threads, including words counted by LOST words; 0: not known */
	char *trigger, *label;
	char *data;   /* JSON object */
	char **stack; /* innermost first, ends with NULL */
};

/* A pattern of --include, --exclude or a trigger that matched no code of some processes. */
struct unmatched {
	char *option, *pattern;
	char **nearest;	    /* names that may have been meant; ends with NULL; may be NULL */
	uint64_t processes; /* processes that say so */
	struct unmatched *next;
};

/* One of the files that a recording is in. */
struct piece {
	char *file;	 /* its name in the folder */
	uint32_t number; /* from 0 */
	uint32_t most;	 /* how many were kept, the newest; 0: all */
	uint64_t words;	 /* codes_words() */
};

struct codes {
	char *dir; /* NULL: no tables, every code is unknown */
	struct map processes;
	pthread_mutex_t lock;	    /* of codes_process(): one thread may decode while another one analyses */
	uint32_t ndata;		    /* `data` lines that are kept */
	struct snapshot *snapshots; /* ascending numbers, once each */
	size_t nsnapshots;
	struct unmatched *unmatched; /* use codes_unmatched() */
	uint64_t tsc_hz;	     /* of some process, once it was needed */
	bool read_all;		     /* same */
	bool grows;		     /* the tables are still being written: codes_more() */
	struct piece *pieces;	     /* those that were completed, in any order */
	size_t npieces;
	char **packages; /* what the processes' command lines started: once each, in any order */
	size_t npackages;
	uint32_t switched; /* how often another file was begun; the tables cover all of them */
	bool trimmed;	   /* the beginning of the recording was dropped */
	bool limited;	   /* the recording ended at its maximum size, before the program */
	uint64_t damaged;  /* lines that are not JSON or lack required keys */
	uint64_t missing;  /* processes without a table */
	uint64_t unknown;  /* code ids without a line */
	struct natives natives;
	uint64_t handlers; /* mode opcodes: handlers without room, or of another CPython */
	char error[256];   /* why codes_process returned NULL */
};

/* dir may be NULL; it is copied. 0 or -ENOMEM. */
int codes_init(struct codes *c, const char *dir);
void codes_free(struct codes *c);

/* The process, its table read if there is one. NULL: no memory, or a newer format (c->error). */
struct process *codes_process(struct codes *c, int32_t pid);

/* Reads the tables of all processes of the folder, those without a single event too. 0 or negative. */
int codes_read_all(struct codes *c);

/*
 * Reads what was added to the tables since they were read; a line that is half there waits. c->grows must have been set
 * before the first was read. 0 or negative, with c->error.
 */
int codes_more(struct codes *c);

/*
 * Ticks of the TSC a second, for this process: from its table, else from another one, since all are of one machine. 0:
 * no table has it.
 */
uint64_t codes_tsc_hz(struct codes *c, int32_t pid);

/* That of the lowest pid among all that have one, so that the folder's order does not matter. */
uint64_t codes_some_tsc_hz(struct codes *c);

/*
 * Does any table have the addresses of opcode handlers? One that cannot be read counts as having none and is reported
 * later.
 */
bool codes_have_dispatch(struct codes *c);

/* Did any process write its words by that backend ("emulated"); by any, if it is NULL? */
bool codes_have_backend(struct codes *c, const char *backend);

/* The first pattern, or the one after `after`, that matched nothing in any process with a table. NULL: no more. */
const struct unmatched *codes_unmatched(const struct codes *c, const struct unmatched *after);

/* The wall clock when the first process began. */
struct wall codes_wall(struct codes *c);

/* The code object of the process's own table, or NULL. */
static inline struct code *codes_own(const struct process *p, uint32_t id)
{
	return id - p->base < p->ncodes ? p->codes[id - p->base] : NULL;
}

/* The code object, or NULL if the tables of pid and its parents have none of that id. */
struct code *codes_find(struct codes *c, struct process *p, uint32_t id);

/* The same, but makes an unknown one where there is none. NULL: no memory. */
struct code *codes_find_or_make(struct codes *c, struct process *p, uint32_t id);

/* What stands for garbage collections of a generation: no Python function, named so, without an id. NULL: no memory. */
struct code *codes_collection(struct process *p, unsigned generation);

/* A code object by its names, as the events text has them: found or made. NULL: no memory. */
struct code *codes_intern(struct process *p, const char *file, const char *qualname, int64_t firstlineno);

/*
 * How many words went into the file of that name (NULL: unknown), or into the only one there is, whatever its name is
 * now; dropped ones too, from LOST words. If its recorder died, those of its snapshots. 0: not known.
 */
uint64_t codes_words(const struct codes *c, const char *file);

/*
 * Did the recorder close this file, in order? Then it had taken all that the processes wrote until their end, however
 * they ended, or until the recording went on in another file: codes_words() are all that the file should have.
 */
bool codes_closed(const struct codes *c, const char *file);

/* Of a recording in several files, one of which is `file` in the tables' folder: how many are not there, but should. */
unsigned codes_missing_pieces(const struct codes *c, const char *file);

/* The snapshot of that number, or NULL. */
const struct snapshot *codes_snapshot(const struct codes *c, uint32_t number);
