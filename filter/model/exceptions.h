/* SPDX-License-Identifier: MIT */
/*
 * exceptions.h - which exceptions were raised where, how far each went, and where that ended.
 *
 * One journey: from the first RAISE to the handler that keeps it, through all frames that it leaves, and through
 * handlers that raise it again (finally, with, `raise`, `raise e`). It is the same exception if it is the same object:
 * by its type and 23 bits of its address, and because its traceback was not empty where it is raised again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "code/code.h"

/* Exceptions of a type, by its name, that were raised in one line. */
struct raised {
	const struct code *type; /* one of that name; NULL: not known */
	const struct code *code;
	int64_t line; /* 0: not known */
	uint64_t n;
	uint64_t handled; /* in Python; */
	uint64_t dropped; /* in C: by a C function that had called the code that raised; */
	uint64_t left;	  /* left the outermost frame that is known. Of the rest the end was not seen */
	uint64_t frames;  /* that they left, in all: of those whose end was seen */
	uint32_t frames_most;
	uint32_t nhandlers;
	struct handler {
		const struct code *code;
		int64_t line;
		uint64_t n;
		uint64_t first_ns; /* when that was first */
	} * handlers;		   /* where they were handled, in that order */
};

/* Zeroed: none was raised. */
struct exceptions {
	struct map all; /* struct raised, by all that tells one from another */
	struct raised **in_order;
	size_t n;
};

/* An exception on its way. */
struct flight {
	struct raised *row;
	const struct code *type;
	uint32_t object;
	uint32_t depth;	  /* of the frame that it is in; 1: the outermost; 0: it has left that */
	uint32_t frames;  /* that it has left */
	uint32_t handler; /* of the row's; of those that were handled */
	bool imports;	  /* the last frame that it left was importlib's, and CPython has cut off its traceback */
	bool finds;	  /* or zipimport's: where that is the outermost, C code asked it for a script or a module */
};

#define FLIGHTS_KEPT 16 /* that were handled and may be raised again; older ones count as handled */

/* Those of one stack. Zeroed: none. */
struct flights {
	struct flight *on_way;
	size_t n;
	struct flight kept[FLIGHTS_KEPT];
	uint32_t nkept;
};

/* An EXCEPTION word's payload (docs/marker.md), and where the RAISE or RERAISE after it is. */
struct raise {
	bool first; /* of a RAISE */
	bool again; /* a RERAISE: of one that was handled in this frame, or of what `except*` left of it */
	uint32_t object;
	const struct code *type, *code;
	int64_t line;
	uint32_t depth;
};

/* *flight: the exception's. True in *begun: its journey begins here. 0 or -ENOMEM. */
int flights_raise(struct flights *f, struct exceptions *all, const struct raise *at, bool *begun);

/* EXCEPTION_HANDLED, at ns: the flight that ended so, or an empty one. 0 or -ENOMEM. */
int flights_handle(struct flights *f, const struct code *code, int64_t line, uint32_t depth, uint64_t ns,
		   struct flight *ended);

/* The frame of that depth, of that code, has ended by an exception; in another way; how is not known. */
void flights_unwind(struct flights *f, uint32_t depth, const struct code *code);
void flights_return(struct flights *f, uint32_t depth);
void flights_lose(struct flights *f, uint32_t depth);

/* The thread has ended. */
void flights_end(struct flights *f);

/*
 * Those of another part of the recording (codes_part.h), which is over. 0; -ENOMEM; -EAGAIN: two were handled first at
 * the same time, and which one is to come first is not known.
 */
int exceptions_join(struct exceptions *to, const struct exceptions *more);

/* Where most of them were handled; NULL: nowhere. */
const struct handler *raised_handler(const struct raised *r);

/* In the order of their number, most first. */
void exceptions_rank(struct exceptions *all);

uint64_t exceptions_count(const struct exceptions *all);

void flights_free(struct flights *f);
void exceptions_free(struct exceptions *all);
