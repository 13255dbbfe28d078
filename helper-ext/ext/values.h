/* SPDX-License-Identifier: MIT */
/*
 * values.h - what goes with a span or an instant, as the words before its LABEL (docs/marker.md: VALUE).
 *
 * Numbers, None, True, False and short texts are in the words themselves. A longer text and the keys have ids, which
 * are told once; so many of them at most, so that neither memory nor the table grows with what the program says.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "names.h"
#include "shared/marker.h"

#define VALUES_TEXT_MAX 100 /* bytes of a text in words */

struct values {
	unsigned int n;
	uint64_t words[MARKER_VALUES_MAX + 1]; /* with room for the LABEL */
};

/* The ids of what values have in the table: keys, as tuples, and texts. */
struct value_ids {
	struct names keys, texts;
};

/*
 * The words of the values with these keys, a tuple of str. False: they are too many, or a dict among them has a key
 * that is no str. No exception; no code of the values' own is run.
 */
bool values_take(struct values *v, struct value_ids *ids, PyObject *keys, PyObject *const *values, uint32_t session);
