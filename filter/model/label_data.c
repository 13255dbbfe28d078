// SPDX-License-Identifier: MIT
#include "label_data.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "shared/array.h"
#include "shared/marker.h"

#define UNTOLD "\xe2\x80\xa6" /* for a text that is not known: as for what is cut */

int label_data_add(struct label_data *d, uint64_t payload, const struct code *named)
{
	if (d->n < MARKER_VALUES_MAX) {
		if (!ARRAY_ROOM(d->all, d->n, d->room))
			return -ENOMEM;
		d->all[d->n] = (struct label_value){ payload, named };
	}
	d->n += d->n <= MARKER_VALUES_MAX;
	return 0;
}

void label_data_forget(struct label_data *d)
{
	d->n = 0;
}

double label_data_number(const struct label_data *d, uint64_t label)
{
	uint64_t high = d->n && d->n <= MARKER_VALUES_MAX ? d->all[d->n - 1].payload : 0;
	uint64_t bits = high << MARKER_LABEL_LOW | (label & ((1u << MARKER_LABEL_LOW) - 1));
	double number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

static bool is_of(const struct label_value *v, enum value_what what, const char *file)
{
	return marker_value_what(v->payload) == what && v->named && !strcmp(v->named->file, file);
}

bool label_data_is_whole(const struct label_data *d)
{
	const struct label_value *last = d->n && d->n <= MARKER_VALUES_MAX ? &d->all[d->n - 1] : NULL;

	if (!last)
		return false;
	if (is_of(last, VALUE_DATA, CODE_DATA_FILE))
		return d->n == 1;
	return is_of(last, VALUE_KEYS, CODE_KEYS_FILE) && marker_keys_words(last->payload) == d->n - 1;
}

/* --- as text ----------------------------------------------------------------------------------------------- */

static json_t *constant(uint64_t payload)
{
	switch ((enum value_constant)(payload & MARKER_VALUE_MAX)) {
	case CONSTANT_FALSE:
	case CONSTANT_TRUE:
		return json_boolean((payload & MARKER_VALUE_MAX) == CONSTANT_TRUE);
	case CONSTANT_UNTOLD:
		return json_string(UNTOLD);
	case CONSTANT_NONE:
		break;
	}
	return json_null();
}

static json_t *integer(uint64_t payload, const struct label_value *rest)
{
	uint64_t high = rest ? rest->payload << MARKER_VALUE_SHIFT : 0;
	int64_t alone = (int64_t)(payload << MARKER_VALUE_REST) >> MARKER_VALUE_REST;

	return json_integer(rest ? (int64_t)(high | (payload & MARKER_VALUE_MAX)) : alone);
}

/* JSON has no infinity. */
static json_t *real(uint64_t payload, const struct label_value *rest)
{
	uint64_t low = rest ? rest->payload & ((1u << MARKER_VALUE_REST) - 1) : 0;
	uint64_t bits = payload << MARKER_VALUE_REST | low;
	double number;

	memcpy(&number, &bits, sizeof(number));
	return json_real(number);
}

/* From the word *i on, which it leaves at the text's last one. */
static json_t *text(const struct label_data *d, uint32_t *i)
{
	char bytes[MARKER_VALUES_MAX * MARKER_TEXT_BYTES];
	size_t n = 0;

	for (;; ++*i) {
		uint64_t payload = d->all[*i].payload;
		uint32_t count = payload >> MARKER_TEXT_COUNT_SHIFT & MARKER_TEXT_COUNT_MASK;

		for (uint32_t b = 0; b < count && b < MARKER_TEXT_BYTES; b++)
			bytes[n++] = (char)(payload >> 8 * b);
		if (!(payload & MARKER_TEXT_CONTINUES) || *i + 2 >= d->n ||
		    marker_value_what(d->all[*i + 1].payload) != VALUE_TEXT)
			break;
	}
	return json_stringn(bytes, n);
}

static json_t *value(const struct label_data *d, uint32_t *i);

/* Likewise of the values that come after *i, as many of them as there are. */
static json_t *list(const struct label_data *d, uint32_t *i)
{
	json_t *made = json_array();

	for (uint64_t left = d->all[(*i)++].payload & MARKER_VALUE_MAX; left && *i + 1 < d->n; left--)
		json_array_append_new(made, value(d, i) ?: json_null());
	return made;
}

static json_t *map(const struct label_data *d, uint32_t *i)
{
	json_t *made = json_object();

	for (uint64_t left = d->all[(*i)++].payload & MARKER_VALUE_MAX; left && *i + 2 < d->n; left--) {
		json_t *key = value(d, i), *of = *i + 1 < d->n ? value(d, i) : NULL;

		json_object_set_new(made, json_string_value(key) ?: UNTOLD, of ?: json_null());
		json_decref(key);
	}
	return made;
}

/* The value whose words begin with *i, which it leaves behind them. NULL: none that JSON has. */
static json_t *value(const struct label_data *d, uint32_t *i)
{
	const struct label_value *rest = marker_value_what(d->all[*i].payload) == VALUE_REST ? &d->all[*i] : NULL;
	const struct label_value *v = rest ? &d->all[++*i] : &d->all[*i];
	json_t *made = NULL;

	switch (marker_value_what(v->payload)) {
	case VALUE_INT:
		made = integer(v->payload, rest);
		break;
	case VALUE_FLOAT:
		made = real(v->payload, rest);
		break;
	case VALUE_TEXT:
		made = text(d, i);
		break;
	case VALUE_NAMED:
		made = json_string(is_of(v, VALUE_NAMED, CODE_TEXT_FILE) ? v->named->qualname : UNTOLD);
		break;
	case VALUE_CONSTANT:
		made = constant(v->payload);
		break;
	case VALUE_LIST:
		return list(d, i);
	case VALUE_MAP:
		return map(d, i);
	case VALUE_DATA:
	case VALUE_KEYS:
	case VALUE_REST:
		break;
	}
	++*i;
	return made;
}

static char *object_text(const struct label_data *d)
{
	json_t *keys = json_loads(d->all[d->n - 1].named->qualname, 0, NULL), *object = json_object(), *key;
	uint32_t i = 0;
	char *made;
	size_t k;

	json_array_foreach (keys, k, key)
		if (i + 1 < d->n)
			json_object_set_new(object, json_string_value(key), value(d, &i) ?: json_null());
	made = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	json_decref(keys);
	return made;
}

char *label_data_text(const struct label_data *d)
{
	return marker_value_what(d->all[d->n - 1].payload) == VALUE_DATA ? strdup(d->all[0].named->qualname)
									 : object_text(d);
}

void label_data_free(struct label_data *d)
{
	free(d->all);
}
