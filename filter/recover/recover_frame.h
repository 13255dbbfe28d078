/* SPDX-License-Identifier: MIT */
/*
 * recover_frame.h - a frame of a recovered thread: the places where its last instruction may be.
 *
 * One place: known. Several: undecided, and undecided.h keeps the steps that led to them. None: lost.
 */
#pragma once

#include "undecided.h"
#include "walk.h"

struct recover_frame {
	struct code *code; /* NULL: no marker named it */
	struct walk *walk;
	uint32_t interpreter;
	enum {
		FRAME_BEGAN,
		FRAME_OPEN,	/* from before its interpreter was traced: its next marker names the code */
		FRAME_UNTRACED, /* stands for all frames of an interpreter that is no longer traced */
	} kind;
	uint64_t step; /* its last undecided one; UNDECIDED_NONE */
	uint8_t n;     /* places where its last instruction may be; 0: lost */
	uint8_t side;  /* enum side: where its last instruction, a branch, led */
	bool follows;  /* the second of a pair may have run behind the places, at this time: */
	uint64_t time, cycles;
	bool arrives; /* the next dispatch is at the places, not behind them */
	uint8_t last; /* if it is lost: its last base opcode */
	uint32_t ran; /* and how many it ran since */
	struct undecided_place at[UNDECIDED_PLACES];
};

/* Its place is not known any more. */
void recover_frame_lose(struct recover_frame *f, struct undecided *d);

/* It is at this place, WALK_NOWHERE: lost. This decides what was undecided of it. */
void recover_frame_put(struct recover_frame *f, struct undecided *d, uint32_t place);

/* The place of an event's offset; WALK_NOWHERE. */
uint32_t recover_frame_place(const struct recover_frame *f, int64_t offset);

/* Does the opcode follow any of its possible places when the same opcode runs before? */
bool recover_frame_repeats(const struct recover_frame *f, uint8_t base, bool pair);

/* It is at a branch that s, a marker, reported. */
void recover_frame_branch(struct recover_frame *f, struct undecided *d, const struct sample *s);

/* Which places with this opcode can be reached. More than UNDECIDED_PLACES: too many to follow. */
unsigned recover_frame_reach(const struct recover_frame *f, uint8_t base,
			     struct undecided_place places[UNDECIDED_PLACES]);

/* Is the opcode this far behind any of its places? */
bool recover_frame_has(const struct recover_frame *f, uint32_t behind, uint8_t base);

/* To the place behind each of its places. False: there is none, and it is lost. */
bool recover_frame_next(struct recover_frame *f, struct undecided *d);
