/* SPDX-License-Identifier: MIT */
/*
 * mapped.h - the memory that a program takes by reading a file that it maps as a whole, as perf does.
 *
 * Pages of a shared mapping that cannot be written are the file's: given back, they come again when they are read.
 */
#pragma once

#include <stdbool.h>

struct mapped {
	const char *path;	  /* the file's whole name; NULL: not known */
	unsigned long begin, end; /* of its mapping when it was last found; 0: not yet */
};

/*
 * Gives back what this process has of the file. Without /proc nothing. Half a millisecond where the mapping has to be
 * found; 30 us where it is still there, and as many again for half a MB. False: the next call will have to find it,
 * too.
 */
bool mapped_give_back(struct mapped *m);
