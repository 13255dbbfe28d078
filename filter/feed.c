// SPDX-License-Identifier: MIT
/* Splits a line at its tabs, looks up the names, and passes the sample on. Cycles are the ns. */
#include "feed.h"

#include "model/named.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/sink_events.h"
#include "shared/marker.h"

enum column { TIME, PID, TID, EVENT, FILENAME, QUALNAME, FIRSTLINE, OFFSET, TARGET, WHAT, OBJECT, TASK, COLUMNS };

/*
 * The character that \x and two digits, or \u and four, stand for at *s, which moves to the last one; 0: it is neither.
 */
static unsigned take_hex(char **s)
{
	size_t n = (*s)[1] == 'x' ? 2 : (*s)[1] == 'u' ? 4 : 0;
	char digits[5] = "";

	n = **s == '\\' ? n : 0;
	memcpy(digits, *s + 2, n ? strnlen(*s + 2, n) : 0);
	if (!n || strspn(digits, "0123456789abcdef") != n)
		return 0;
	*s += 1 + n;
	return strtoul(digits, NULL, 16);
}

static char *put_utf8(char *to, unsigned c)
{
	if (c < 0x80) {
		*to++ = c;
		return to;
	}
	if (c >= 0x800)
		*to++ = 0xe0 | c >> 12;
	*to++ = (c < 0x800 ? 0xc0 : 0x80) | (c >> 6 & (c < 0x800 ? 0x1f : 0x3f));
	*to++ = 0x80 | (c & 0x3f);
	return to;
}

static void unescape(char *s)
{
	static const char plain[256] = { ['t'] = '\t', ['n'] = '\n', ['r'] = '\r', ['\\'] = '\\' };
	char *to = s;
	unsigned c;

	for (; *s; s++) {
		if (*s == '\\' && plain[(unsigned char)s[1]])
			*to++ = plain[(unsigned char)*++s];
		else if ((c = take_hex(&s)))
			to = put_utf8(to, c);
		else
			*to++ = *s;
	}
	*to = '\0';
}

static bool split(char *line, char *column[COLUMNS])
{
	int n = 0;

	column[WHAT] = column[OBJECT] = NULL; /* may be absent */
	while (n < COLUMNS && line)
		column[n++] = strsep(&line, "\t");
	return n >= WHAT && !line;
}

static bool to_int(const char *text, int64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoll(text, &end, 10);
	return end != text && !*end && !errno;
}

static bool read_numbers(char *column[COLUMNS], struct sample *s)
{
	int64_t time, pid, tid;

	if (!to_int(column[TIME], &time) || !to_int(column[PID], &pid) || !to_int(column[TID], &tid) ||
	    !to_int(column[OFFSET], &s->offset) || time < 0)
		return false;
	s->time = s->cycles = time;
	s->pid = pid;
	s->tid = tid;
	s->target = SAMPLE_NOWHERE;
	return !*column[TARGET] || to_int(column[TARGET], &s->target);
}

/* As in decode.c: the destination is 0 for the beginning, 1 for the end. */
static int feed_segment(struct sample *s, const struct process *p, sample_fn feed, void *to)
{
	if (s->target != 0 && s->target != 1)
		return -EINVAL;
	s->number = s->offset;
	s->offset = 0;
	s->ends = s->target;
	s->target = SAMPLE_NOWHERE;
	s->window = p->duty.period_ns != 0;
	return feed(to, s);
}

/* Likewise: kind and payload. */
static int feed_extension(struct sample *s, struct codes *codes, struct process *p, sample_fn feed, void *to)
{
	if (s->offset < 1 || s->offset > (int64_t)MARKER_KIND_MASK || s->target < 0 ||
	    s->target > (int64_t)MARKER_PAYLOAD_MAX)
		return -EINVAL;
	s->kind = s->offset;
	s->payload = s->target;
	s->target = SAMPLE_NOWHERE;
	return named_find(codes, p, s) ?: feed(to, s);
}

/* A CALL's C function, or the opcode that ran. False: no memory. */
static bool read_what(char *what, struct process *p, struct sample *s)
{
	unescape(what);
	if (s->op != OP_CALL) {
		s->opcode = process_opcode(p, what);
		return true;
	}
	s->callee = codes_intern(p, CODE_C_FILE, what, 0);
	if (s->callee && !s->callee->c)
		s->callee->c = s->callee->profiled = true;
	return s->callee;
}

/* The number of what the event is about, for its address: no two that live have the same. */
static bool read_object(const char *number, struct sample *s)
{
	int64_t n;

	if (!*number)
		return true;
	if (!to_int(number, &n) || n < 1 || s->op < OP_PY_START || s->op > OP_PY_THROW)
		return false;
	s->code->generator = true;
	s->whose = n;
	return true;
}

/* One line without its newline, split in place. 0, -EINVAL, -ENOMEM, or what feed returned. */
static int feed_line(char *line, struct codes *codes, sample_fn feed, void *to)
{
	char *column[COLUMNS];
	struct sample s = { 0 };
	struct process *p;
	int64_t firstlineno;

	if (!split(line, column) || !read_numbers(column, &s))
		return -EINVAL;
	s.op = sample_op_by_name(column[EVENT]);
	if (!s.op)
		return -EINVAL;
	p = codes_process(codes, s.pid);
	if (!p)
		return -ENOMEM;
	if (s.op == SAMPLE_TIP) /* the address is the destination */
		return feed(to, &s);
	if (s.op == OP_SNAPSHOT)
		return feed_segment(&s, p, feed, to);
	if (s.op == OP_EXTENSION)
		return feed_extension(&s, codes, p, feed, to);
	if (s.op >= SAMPLE_GAP) {
		s.count = s.offset;
		s.offset = 0;
		return feed(to, &s);
	}
	if (!to_int(column[FIRSTLINE], &firstlineno))
		return -EINVAL;
	unescape(column[FILENAME]);
	unescape(column[QUALNAME]);
	if (column[WHAT] && *column[WHAT] && !read_what(column[WHAT], p, &s))
		return -ENOMEM;
	s.code = codes_intern(p, column[FILENAME], column[QUALNAME], firstlineno);
	if (!s.code)
		return -ENOMEM;
	if (column[OBJECT] && !read_object(column[OBJECT], &s))
		return -EINVAL;
	return feed(to, &s);
}

int feed_file(FILE *f, struct codes *codes, sample_fn feed, void *to, char *error, size_t size)
{
	char *line = NULL;
	size_t room = 0, number = 1;
	int err = 0;

	if (getline(&line, &room, f) < 0 || strcmp(line, EVENTS_TITLE "\n")) {
		snprintf(error, size, "not an events text: line 1 must be '" EVENTS_TITLE "'");
		err = -EPROTO;
	}
	while (!err && getline(&line, &room, f) >= 0) {
		number++;
		line[strcspn(line, "\n")] = '\0';
		err = *line && *line != '#' ? feed_line(line, codes, feed, to) : 0;
	}
	if (err == -EINVAL)
		snprintf(error, size, "line %zu is not an event", number);
	free(line);
	return err;
}
