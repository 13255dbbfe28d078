/* SPDX-License-Identifier: MIT */
/* report_write.h - what all parts of the console report share: the output, and how numbers and places are written. */
#pragma once

#include <stdio.h>

#include "model/profile.h"
#include "model/sink.h"
#include "base/source.h"
#include "names.h"

#define WIDTH_LEAST 80 /* columns of a line */

/* Escape sequences, or empty strings. */
struct paint {
	const char *title, *special, *faint, *plain;
};

struct report {
	FILE *f;
	const struct profile *p;
	const struct paint *c;
	enum by by;	/* what functions are taken apart by, */
	bool unfold;	/* libraries are shown as the program's own code is */
	unsigned width; /* columns of a line: WIDTH_LEAST or more. Disassembly and names in full may be longer */
	struct sources sources;
	struct names_seen *seen; /* of the table that is being written: write_title() begins another one */
};

/* After an empty line. */
void write_title(const struct report *r, const char *title);

/* In seven columns, beginning with a blank; in eleven; in eight, with three digits. */
void write_number(const struct report *r, double n);
void write_duration(const struct report *r, uint64_t ns);
void write_span(const struct report *r, uint64_t ns);

/* "~33 cycles", or "33 to 45 cycles" where it differs. */
void write_callback(const struct report *r, const struct callback *c);

/* "12.3%" in six columns; of nothing: 0. */
void write_share(const struct report *r, double part, double whole);

/* "BASE -> SPECIALIZED", names of opcodes; NULL: it is not specialized. */
void write_form(const struct report *r, const char *base, const char *specialized);

/*
 * The last column, two blanks and "QUALNAME, FILE:LINE", and the end of the line; without a line "QUALNAME,
 * FILE, offset N". `used` columns of the line are taken; names.h says what becomes of a name that does not fit.
 */
void write_place(const struct report *r, const struct code *code, int64_t line, int64_t offset, unsigned used);
