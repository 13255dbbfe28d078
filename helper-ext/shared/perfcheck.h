/* SPDX-License-Identifier: MIT */
/*
 * perfcheck.h - is a perf.data whole, and does it hold an Intel PT trace?
 *
 * perf trusts the header: where the file ends before the header says so, perf dies of SIGBUS or
 * never ends. A file that was cut inside its data can be repaired: the header is made to cover the
 * records that are whole. Works on anybody's perf.data, not only on ours.
 *
 * A repair leaves a note in the file itself, so that it goes where the file goes and is gone when a whole one takes
 * its place: the feature bit PERF_FEAT_CUT, of which a reader needs the header alone. Its section is empty.
 */
#ifndef OCULAR_PERFCHECK_H
#define OCULAR_PERFCHECK_H

#include <stdbool.h>
#include <stdint.h>

enum perf_verdict {
	PERF_WHOLE,	 /* perf can read it */
	PERF_REPAIRABLE, /* perf can read it after perfcheck_repair() */
	PERF_UNUSABLE,
};

struct perfcheck {
	enum perf_verdict verdict;
	char finding[160];   /* what is wrong, in words; "" if nothing is */
	uint64_t data_size;  /* of the whole records */
	uint64_t lost;	     /* bytes of data that a repair gives up */
	uint64_t file_size;  /* that was looked through */
	bool drop_features;  /* the sections behind the data are not whole */
	bool cut;	     /* records are missing: a repair will give them up, or did so once */
	uint64_t end;	     /* of the whole records, in the file */
	uint64_t records;    /* whole ones */
	uint64_t trace_size; /* bytes of Intel PT in them */
};

/* Looks through an open file. Returns 0, or the negative errno for which it could not be read. */
int perfcheck_file(struct perfcheck *c, int fd);

/*
 * Makes the header cover what is whole; fd must be writable. Returns 0 or a negative errno; -EBUSY: the file has
 * another size than when it was checked, so somebody writes it.
 */
int perfcheck_repair(const struct perfcheck *c, int fd);

#endif
