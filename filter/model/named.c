// SPDX-License-Identifier: MIT
#include "named.h"

#include <errno.h>

#include "collections.h"
#include "shared/marker.h"

/* 0: there is none. */
static uint32_t id_of(const struct sample *s)
{
	switch (s->kind) {
	case KIND_IMPORT:
	case KIND_EXCEPTION:
		return s->payload & MARKER_CODE_MAX;
	case KIND_WAIT:
		return s->payload >> MARKER_PLACE_SHIFT & MARKER_CODE_MAX;
	case KIND_LABEL:
		return s->payload >> MARKER_LABEL_ID_SHIFT & MARKER_CODE_MAX;
	case KIND_SUBJECT:
		if (marker_subject_what(s->payload) != SUBJECT_NAME || s->payload & MARKER_NUMBERED_TASK)
			return 0;
		return s->payload & MARKER_CODE_MAX;
	default:
		return 0;
	}
}

static bool names_data(uint64_t payload)
{
	enum value_what what = marker_value_what(payload);

	return what == VALUE_DATA || what == VALUE_KEYS || what == VALUE_NAMED;
}

int named_find(struct codes *c, struct process *p, struct sample *s)
{
	uint32_t id = id_of(s);

	if (s->kind == KIND_VALUE) { /* of a counter or not: the LABEL behind it tells */
		s->named = names_data(s->payload) ? codes_find(c, p, s->payload & MARKER_CODE_MAX) : NULL;
		return 0;
	}
	s->named = id ? codes_find_or_make(c, p, id) : NULL;
	if (s->kind == KIND_COLLECTION)
		s->named = codes_collection(p, collection_of(s->payload).generation);
	return s->named || (!id && s->kind != KIND_COLLECTION) ? 0 : -ENOMEM;
}
