/* SPDX-License-Identifier: MIT */
/*
 * forms.h - how instructions changed their form while the program ran, and when (mode opcodes).
 *
 * An instruction that can be specialised is dispatched in its base form or in a specialised one. A specialised one
 * whose guess fails ("miss") does the base form's work without a dispatch of its own, so a single miss is not seen.
 * After enough of them CPython calls its specialiser again, and that is seen: the instruction is dispatched once more,
 * in the form it got. So each such attempt is one certain miss, the last of a series.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "function.h"
#include "sample.h"

enum form_count {
	FORMS_SPECIALIZED, /* executions by the form they ended in */
	FORMS_BASE,
	FORMS_GAINED,  /* was base, and got a specialised form */
	FORMS_CHANGED, /* was specialised, and got another form, or the same one anew */
	FORMS_LOST,    /* was specialised, and is base again */
	FORMS_FAILED,  /* was base, and the specialiser left it so */
	FORMS_MISSED,  /* began in a specialised form, which it gave up on the way */
	FORMS_COUNTS,
};

/* "specialized", "base", "gained", ... */
extern const char *const forms_names[FORMS_COUNTS];

#define FORMS_BUCKETS 64 /* a power of two */

/* What happened to an instruction, and in which of its forms it ran. */
struct form_counts {
	uint64_t n[FORMS_COUNTS];
};

/* Of the whole program, by time: when it is full, widths double, so that the number of buckets stays the same. */
struct forms {
	bool known; /* some instruction has its form */
	uint64_t start_ns;
	unsigned shift; /* a bucket is 1 << shift ns wide */
	unsigned used;
	struct form_counts buckets[FORMS_BUCKETS];
};

/* How a form stands to what the compiler wrote. */
enum form_kind { FORM_BASE, FORM_SPECIAL, FORM_OTHER /* instrumented, or cannot be specialised */ };

enum form_kind form_kind(const struct code *code, const struct instr *instr, uint8_t opcode);

/* The instruction ran: an INSTRUCTION sample that has its form. 0 or -ENOMEM. */
int forms_ran(struct forms *f, const struct instr *instr, struct instr_cost *cost, const struct instr_form *form,
	      const struct sample *s);

/* All of one instruction. */
struct form_counts forms_of(const struct instr_cost *cost);

/* Sums over all buckets. */
struct form_counts forms_sum(const struct forms *f);

/* Did more happen to it than staying the same, or being specialised once? */
bool forms_changed(const struct form_counts *c);
