/* SPDX-License-Identifier: MIT */
/*
 * names.h - the places that a table lists, "QUALNAME, FILE:LINE", as short as it needs them.
 *
 * In a wide column paths are whole where they fit; else they begin where the program's folder, the standard library's
 * or site-packages end. A name that is too long loses the middle of its path first, then all folders, then the middle
 * of its qualname. Two places never look alike: where they would, as much of their paths is shown as tells them apart,
 * even past the end of the line.
 */
#pragma once

#include <stddef.h>

#include "code/code.h"

struct name {
	const struct code *code;
	int64_t line;	  /* 0: not known; then */
	int64_t offset;	  /* is shown; negative: neither */
	bool exact;	  /* names_make()'s: the offset, too, */
	unsigned folders; /* and so many more folders than needed */
	char *text; /* made by names_make(); freed by names_free(). May have control characters: for text_plain() */
};

/* Sets the text of all n names, each in at most `most` columns where possible. 0 or -ENOMEM. */
int names_make(struct name *names, size_t n, size_t most);
void names_free(struct name *names, size_t n);

/* Of a table that is written row by row. Zeroed: none yet. */
struct names_seen {
	struct name *all;
	size_t n, room;
};

/* The text of one more place, unlike those of the others before it; valid until names_forget(). NULL: no memory. */
const char *names_next(struct names_seen *s, const struct name *n, size_t most);

/* The table has ended. */
void names_forget(struct names_seen *s);
