/* SPDX-License-Identifier: MIT */
/* control.c - see control.h. Opened for writing too, so that it never reads as ended. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control.h"

int control_open(struct control *c, int dirfd)
{
	int err = 0;

	*c = (struct control){ .fd = -1 };
	if (mkfifoat(dirfd, CONTROL_FIFO, 0600) == 0)
		c->fd = openat(dirfd, CONTROL_FIFO, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	if (c->fd < 0)
		err = -errno;
	return err;
}

/* Replaces what JSON would read differently: a label is for people. */
static void copy_label(char *to, const char *from, size_t n)
{
	size_t i;

	for (i = 0; i < n && i < CONTROL_LABEL; i++) {
		unsigned char c = from[i];

		to[i] = c < ' ' || c > '~' || c == '"' || c == '\\' ? '?' : c;
	}
	to[i] = '\0';
}

static const struct {
	const char *word;
	enum order order;
} orders[] = { { "snapshot", ORDER_SNAPSHOT }, { "stop", ORDER_STOP } };

static enum order parse(const char *line, size_t n, char *label)
{
	const char *space = memchr(line, ' ', n);
	size_t word = space ? (size_t)(space - line) : n;

	*label = '\0';
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		if (strlen(orders[i].word) != word || memcmp(orders[i].word, line, word))
			continue;
		if (space)
			copy_label(label, space + 1, n - word - 1);
		return orders[i].order;
	}
	return ORDER_UNKNOWN;
}

enum order control_next(struct control *c, char label[static CONTROL_LABEL + 1])
{
	char *end = memchr(c->text, '\n', c->used);
	ssize_t n;
	enum order order;

	if (!end && c->used < sizeof(c->text)) {
		n = read(c->fd, c->text + c->used, sizeof(c->text) - c->used);
		c->used += n > 0 ? n : 0;
		end = memchr(c->text, '\n', c->used);
	}
	if (!end && c->used < sizeof(c->text))
		return ORDER_NONE;
	n = end ? end - c->text : (ssize_t)c->used; /* a line that is too long still counts as one */
	order = parse(c->text, n, label);
	if (c->within)
		order = ORDER_UNKNOWN;
	c->within = !end;
	n += end != NULL;
	c->used -= n;
	memmove(c->text, c->text + n, c->used);
	return order;
}

void control_close(struct control *c, int dirfd)
{
	if (c->fd < 0)
		return;
	close(c->fd);
	unlinkat(dirfd, CONTROL_FIFO, 0);
	c->fd = -1;
}
