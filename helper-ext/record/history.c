/* SPDX-License-Identifier: MIT */
/* history.c - see history.h. */
#include <errno.h>
#include <stdlib.h>

#include "history.h"

int histories_copy(struct histories *h, const struct met *met)
{
	size_t n = 0;

	for (const struct met *m = met; m; m = m->next)
		n++;
	*h = (struct histories){ .all = calloc(n + 1, sizeof(*h->all)) };
	if (!h->all)
		return -ENOMEM;
	for (const struct met *m = met; m; m = m->next) {
		struct history *at = &h->all[h->n];
		int copied = switches_copy(&m->switches, &at->list, &at->whole);

		if (copied < 0)
			return copied;
		at->pid = m->pid;
		at->tid = m->tid;
		at->n = (size_t)copied;
		h->n++;
	}
	return 0;
}

const struct history *histories_find(const struct histories *h, uint32_t pid, uint32_t tid)
{
	for (size_t i = 0; h && i < h->n; i++)
		if (h->all[i].pid == pid && h->all[i].tid == tid)
			return &h->all[i];
	return NULL;
}

void histories_free(struct histories *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->all[i].list);
	free(h->all);
	*h = (struct histories){ 0 };
}
