// SPDX-License-Identifier: MIT
#include "tar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct head {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100], magic[6], version[2],
		rest[247];
};

_Static_assert(sizeof(struct head) == TAR_BLOCK, "a head fills a block");

/* As if the sum itself were blanks. */
static unsigned sum_of(const uint8_t *block)
{
	const size_t at = offsetof(struct head, sum), end = at + sizeof(((struct head *)0)->sum);
	unsigned sum = 0;

	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += i >= at && i < end ? ' ' : block[i];
	return sum;
}

/* Octal digits and a NUL fill the field. */
static void put_octal(char *field, size_t size, uint64_t n)
{
	for (field[--size] = 0; size; n >>= 3)
		field[--size] = '0' + (n & 7);
}

void tar_put(uint8_t *block, const char *name, uint64_t size, time_t changed)
{
	struct head *h = (struct head *)block;

	memset(block, 0, TAR_BLOCK);
	memcpy(h->name, name, strlen(name));
	put_octal(h->mode, sizeof(h->mode), 0600);
	put_octal(h->uid, sizeof(h->uid), 0);
	put_octal(h->gid, sizeof(h->gid), 0);
	put_octal(h->size, sizeof(h->size), size);
	put_octal(h->mtime, sizeof(h->mtime), changed > 0 ? changed : 0);
	h->type = '0';
	memcpy(h->magic, "ustar", 6);
	memcpy(h->version, "00", 2);
	put_octal(h->sum, 7, sum_of(block));
	h->sum[7] = ' ';
}

static bool get_octal(const char *field, size_t size, uint64_t *n)
{
	*n = 0;
	for (size_t i = 0; i + 1 < size; i++) {
		if (field[i] < '0' || field[i] > '7')
			return false;
		*n = *n << 3 | (field[i] - '0');
	}
	return true;
}

bool tar_get(const uint8_t *block, char *name, uint64_t *size)
{
	const struct head *h = (const struct head *)block;
	uint64_t sum;

	memcpy(name, h->name, TAR_NAME_MOST);
	name[TAR_NAME_MOST] = 0;
	return !memcmp(h->magic, "ustar", 6) && h->type == '0' && !h->name[TAR_NAME_MOST] &&
	       get_octal(h->sum, 7, &sum) && sum == sum_of(block) && get_octal(h->size, sizeof(h->size), size);
}
