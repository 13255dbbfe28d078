// SPDX-License-Identifier: MIT
/* One bit for each number, because each event looks up a name. */
#include "pftrace_sequence.h"

#include <stdlib.h>
#include <string.h>

#include "base/proto.h"
#include "pftrace_fields.h"
#include "shared/array.h"

struct pftrace_sequence *pftrace_sequence_new(uint32_t number)
{
	struct pftrace_sequence *s = calloc(1, sizeof(*s));

	if (s)
		s->id_length = proto_number(s->id, PACKET_SEQUENCE, number) - s->id;
	return s;
}

uint64_t *pftrace_sequence_word(struct pftrace_sequence *s, uint64_t number)
{
	size_t words = number / 64 + 1;

	if (words > s->words) {
		words *= 2;
		if (!ARRAY_RESIZE(s->known, words))
			return NULL;
		memset(s->known + s->words, 0, (words - s->words) * sizeof(*s->known));
		s->words = words;
	}
	return &s->known[number / 64];
}

void pftrace_sequence_free(struct pftrace_sequence *s)
{
	free(s ? s->known : NULL);
	free(s);
}
