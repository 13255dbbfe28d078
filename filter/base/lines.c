// SPDX-License-Identifier: MIT
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOM_FIRST 65536 /* of this size a piece is still in the processor's cache when its lines are read */

/* What is left moves to the front; a line that fills all of it gets twice the room. */
static bool make_room(struct lines *l)
{
	size_t left = l->to - l->from, room = left < l->room ? l->room : l->room ? 2 * l->room : ROOM_FIRST;
	char *bytes = room > l->room ? realloc(l->bytes, room) : l->bytes;

	if (!bytes) {
		l->failed = true;
		return false;
	}
	memmove(bytes, bytes + l->from, left);
	l->bytes = bytes;
	l->room = room;
	l->from = 0;
	l->to = left;
	return true;
}

/* False: there is no more. */
static bool read_more(struct lines *l)
{
	ssize_t n;

	if (!make_room(l))
		return false;
	do
		n = read(l->fd, l->bytes + l->to, l->room - l->to);
	while (n < 0 && errno == EINTR);
	l->to += n > 0 ? n : 0;
	return n > 0;
}

static const char *find_end(const struct lines *l, size_t looked)
{
	return looked < l->to - l->from ? memchr(l->bytes + l->from + looked, '\n', l->to - l->from - looked) : NULL;
}

const char *lines_next(struct lines *l, size_t *length)
{
	const char *end = find_end(l, 0), *line;

	for (size_t looked = l->to - l->from; !end && read_more(l); looked = l->to - l->from)
		end = find_end(l, looked);
	if (l->failed || l->from == l->to)
		return NULL;
	line = l->bytes + l->from;
	*length = end ? (size_t)(end + 1 - line) : l->to - l->from;
	l->from += *length;
	return line;
}

void lines_free(struct lines *l)
{
	free(l->bytes);
	*l = (struct lines){ 0 };
}
