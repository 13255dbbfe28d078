// SPDX-License-Identifier: MIT
/* One bit for each number, because each event looks up a name. */
#include "pftrace_sequence.h"

#include <stdlib.h>
#include <string.h>

struct pftrace_sequence *pftrace_sequence_new(void)
{
	return calloc(1, sizeof(struct pftrace_sequence));
}

uint64_t *pftrace_sequence_word(struct pftrace_sequence *s, uint64_t number)
{
	size_t words = number / 64 + 1;
	uint64_t *more;

	if (words > s->words) {
		words *= 2;
		more = realloc(s->known, words * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + s->words, 0, (words - s->words) * sizeof(*more));
		s->known = more;
		s->words = words;
	}
	return &s->known[number / 64];
}

void pftrace_sequence_free(struct pftrace_sequence *s)
{
	free(s ? s->known : NULL);
	free(s);
}
