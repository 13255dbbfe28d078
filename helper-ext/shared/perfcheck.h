/* SPDX-License-Identifier: MIT */
/*
 * perfcheck.h - is a perf.data intact, and does it hold an Intel PT trace?
 *
 * perf trusts the header: where the file ends before the header says so, perf dies of SIGBUS or never ends. A file that
 * was cut inside its data can be repaired: the header is made to cover the intact records. Works on any perf.data, not
 * only on ours.
 *
 * A repair leaves a note in the file itself, so that the note moves with the file and disappears when an intact one
 * replaces it: the feature bit PERF_FEAT_CUT, of which a reader needs the header alone. Its section is empty.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum perf_verdict {
	PERF_WHOLE,	 /* perf can read it */
	PERF_REPAIRABLE, /* perf can read it after perfcheck_repair() */
	PERF_UNUSABLE,
};

struct perfcheck {
	enum perf_verdict verdict;
	char finding[160];   /* what is wrong, as text; "" if nothing is */
	uint64_t data_size;  /* of the intact records */
	uint64_t lost;	     /* bytes of data that a repair drops */
	uint64_t file_size;  /* that was looked through */
	bool drop_features;  /* the sections after the data are incomplete */
	bool cut;	     /* records are missing: a repair will drop them, or has done so */
	uint64_t end;	     /* of the intact records, in the file */
	uint64_t records;    /* intact ones */
	uint64_t trace_size; /* bytes of Intel PT in them */
};

/* Checks an open file. Returns 0, or a negative errno if it could not be read. */
int perfcheck_file(struct perfcheck *c, int fd);

/*
 * Makes the header cover what is intact; fd must be writable. Returns 0 or a negative errno; -EBUSY: the file has
 * another size than when it was checked, so somebody writes it.
 */
int perfcheck_repair(const struct perfcheck *c, int fd);
