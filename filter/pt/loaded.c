// SPDX-License-Identifier: MIT
/* Nearly all parts of a recording have one size, so its memory is rarely made anew. */
#include "loaded.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int make_room(struct loaded *l, size_t size)
{
	if (l->room >= size)
		return 0;
	free(l->bytes);
	l->bytes = malloc(size);
	l->room = l->bytes ? size : 0;
	return l->bytes ? 0 : -ENOMEM;
}

int loaded_get(struct loaded *l, int fd, uint64_t at, size_t size)
{
	int err = make_room(l, size);
	ssize_t n;

	for (size_t done = 0; !err && done < size; done += n) {
		n = pread(fd, l->bytes + done, size - done, at + done);
		if (n <= 0)
			err = n ? -errno : -ENODATA;
	}
	return err;
}

void loaded_drop(struct loaded *l)
{
	free(l->bytes);
	*l = (struct loaded){ 0 };
}
