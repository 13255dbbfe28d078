/* SPDX-License-Identifier: MIT */
/*
 * label_data.h - what the VALUE words before a LABEL say: a counter's number, or data that goes with it.
 *
 * Values count only together with their keys, which come last and say how many words there are: of data whose
 * beginning is missing nothing is shown.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "code/code.h"

/* Of a thread, zeroed: the words since its last LABEL. */
struct label_data {
	struct label_value {
		uint64_t payload;
		const struct code *named; /* what it names, or NULL */
	} * all;
	uint32_t n, room; /* words that are no data anyway are only counted */
};

/* A VALUE word. 0 or -ENOMEM. */
int label_data_add(struct label_data *d, uint64_t payload, const struct code *named);

/* The LABEL has come, or words are missing. */
void label_data_forget(struct label_data *d);

/* A counter's number, whose low bits the LABEL's payload has. */
double label_data_number(const struct label_data *d, uint64_t label);

/* Do they belong together, and are they data? */
bool label_data_is_whole(const struct label_data *d);

/* An object of JSON, to free(), of words that are whole. NULL: no memory. */
char *label_data_text(const struct label_data *d);

void label_data_free(struct label_data *d);
