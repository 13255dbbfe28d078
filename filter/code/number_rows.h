/* SPDX-License-Identifier: MIT */
/*
 * number_rows.h - the member of a code table's line that is rows of whole numbers:
 * ..,"instructions":[[0,12,2,-1],[2,13,9,-1]]..
 *
 * Nearly all bytes of a table are such rows. As the extension writes them, without blanks, they are read here and
 * nothing is allocated for each number; in any other notation, with jansson.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The last two numbers of a row, as text and numbers: most rows of a table end as another one did. */
struct row_end {
	uint64_t text; /* 0: none */
	int32_t third, fourth;
};

#define ROW_ENDS_BITS 11

struct number_rows {
	const char *member; /* its name; NULL: the line has none that was cut out */
	unsigned width;	    /* numbers in a row */
	size_t n, room;
	int32_t *all;				 /* width * n */
	bool damaged;				 /* behind these comes what is no row */
	struct row_end ends[1 << ROW_ENDS_BITS]; /* by a hash of their text */
};

/* A line's text without the member. */
struct cut_line {
	const char *head; /* {, and members */
	size_t head_length;
	const char *tail; /* maybe a comma and members, and } */
	size_t tail_length;
};

/*
 * The rows of the first member that has them. False: there is none, it is in another notation, or there is no memory.
 * Whether it is a member, and not within another one or a text, is known only when the rest has been read as members.
 */
bool number_rows_cut(struct number_rows *r, const char *text, size_t length, struct cut_line *rest);

/* The same of a value, up to the first that is no row of at least `width` whole numbers of 32 bits. 0 or -ENOMEM. */
int number_rows_read(struct number_rows *r, const json_t *array, unsigned width);

/* The numbers a row has under that name; 0: no such member. */
unsigned number_rows_width(const char *member);

void number_rows_free(struct number_rows *r);
