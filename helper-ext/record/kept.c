/* SPDX-License-Identifier: MIT */
/* kept.c - see kept.h. */
#include <stdlib.h>
#include <string.h>

#include "kept.h"
#include "shared/array.h"

/* Moves them to the beginning where that is no more work than taking them was. */
static void close_up(struct kept *k)
{
	if (!k->first || k->n < k->room || k->first < k->n / 2)
		return;
	k->n -= k->first;
	memmove(k->all, k->all + k->first, k->n * sizeof(*k->all));
	k->first = 0;
}

bool kept_add(struct kept *k, const struct switched *sw, uint32_t stack)
{
	close_up(k);
	if (!ARRAY_ROOM(k->all, k->n, k->room))
		return false;
	k->all[k->n++] = (struct kept_switch){ *sw, stack };
	return true;
}

const struct kept_switch *kept_oldest(const struct kept *k)
{
	return k->first < k->n ? &k->all[k->first] : NULL;
}

void kept_take(struct kept *k)
{
	if (++k->first == k->n)
		kept_free(k);
}

bool kept_full(const struct kept *k)
{
	return k->n - k->first > KEPT_MOST;
}

void kept_free(struct kept *k)
{
	free(k->all);
	*k = (struct kept){ 0 };
}
