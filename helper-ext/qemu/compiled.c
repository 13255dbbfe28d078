/* SPDX-License-Identifier: MIT */
/* compiled.c - see compiled.h. What does not fit into memory is not counted. */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiled.h"
#include "shared/array.h"
#include "shared/marker.h"

/* --- ranges and sums ----------------------------------------------------------------------------------- */

static struct compiled_sum *sum_of(struct compiled *c, uint64_t entry, uint32_t id)
{
	for (size_t i = 0; i < c->nsums; i++)
		if (c->sums[i].entry == entry && c->sums[i].id == id)
			return &c->sums[i];
	if (!ARRAY_ONE_MORE(c->sums, c->nsums))
		return NULL;
	c->sums[c->nsums] = (struct compiled_sum){ .entry = entry, .id = id };
	return &c->sums[c->nsums++];
}

static void add(struct compiled *c, uint64_t entry, uint32_t id, uint64_t n, uint64_t ns)
{
	struct compiled_sum *sum = sum_of(c, entry, id);

	if (!sum)
		return;
	sum->n += n;
	sum->ns += ns;
}

/* Another executor gets the address. Until then the old one keeps it, though its memory is gone. */
static void throw_away(struct compiled *c, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < c->nsums; i++) {
		struct compiled_sum gone = c->sums[i];

		if (gone.entry < start || gone.entry >= end)
			continue;
		c->sums[i--] = c->sums[--c->nsums];
		add(c, 0, gone.id, gone.n, gone.ns);
	}
}

static void add_range(struct compiled *c, uint64_t start, uint64_t end)
{
	if (!ARRAY_ONE_MORE(c->ranges, c->nranges))
		return;
	throw_away(c, start, end);
	c->ranges[c->nranges++] = (struct compiled_range){ start, end };
}

void compiled_protect(struct compiled *c, uint64_t start, uint64_t size, bool executable)
{
	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < c->nranges; i++) {
		struct compiled_range *r = &c->ranges[i];

		if (r->start >= start + size || start >= r->end)
			continue;
		*r = c->ranges[--c->nranges];
		i--;
	}
	if (executable)
		add_range(c, start, start + size);
	pthread_mutex_unlock(&c->lock);
}

bool compiled_holds(struct compiled *c, uint64_t ip)
{
	bool holds = false;

	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < c->nranges && !holds; i++)
		holds = ip >= c->ranges[i].start && ip < c->ranges[i].end;
	pthread_mutex_unlock(&c->lock);
	return holds;
}

/* --- a thread ------------------------------------------------------------------------------------------ */

static struct compiled_stay *top_of(struct compiled_thread *t)
{
	return t->n && t->n <= COMPILED_DEEPEST ? &t->stays[t->n - 1] : NULL;
}

static void begin(struct compiled_thread *t, uint64_t entry, uint64_t tsc)
{
	t->n++;
	if (top_of(t))
		*top_of(t) = (struct compiled_stay){ .entry = entry,
						     .since = tsc,
						     .id = t->ncalls ? t->calls[t->ncalls - 1] : 0 };
}

static void end(struct compiled *c, struct compiled_thread *t, uint64_t tsc)
{
	const struct compiled_stay *s = top_of(t);

	if (s && s->id) {
		pthread_mutex_lock(&c->lock);
		add(c, s->entry, s->id, 1, s->ns + tsc - s->since);
		pthread_mutex_unlock(&c->lock);
	}
	t->n -= t->n > 0;
}

/* A C function that compiled code has called returns to it. */
static void come_back(struct compiled_thread *t, uint64_t tsc)
{
	struct compiled_stay *s = top_of(t);

	if (!s || !s->called)
		return;
	s->called = 0;
	s->since = tsc;
}

static bool leads_in(const struct block *b)
{
	return b &&
	       (b->kind == INSN_CALL || b->kind == INSN_CALL_IND || b->kind == INSN_JUMP || b->kind == INSN_JUMP_IND);
}

void compiled_block(struct compiled *c, struct compiled_thread *t, const struct block *last, const struct block *b,
		    uint64_t tsc)
{
	bool was_inside = t->inside;

	t->inside = b->compiled;
	if (!was_inside && b->compiled) {
		if (leads_in(last))
			begin(t, b->start, tsc);
		else
			come_back(t, tsc);
	} else if (was_inside && !b->compiled && last && last->kind == INSN_RET) {
		end(c, t, tsc);
	}
}

static void call(struct compiled_thread *t, uint32_t id)
{
	if (!t->calls)
		t->calls = calloc(COMPILED_CALLS, sizeof(*t->calls));
	if (!t->calls)
		return;
	if (t->ncalls == COMPILED_CALLS)
		t->ncalls = 0;
	t->calls[t->ncalls++] = id;
}

static void name_word(struct compiled_thread *t, uint64_t word)
{
	if (t->naming >= t->nwords && ARRAY_RESIZE(t->words, 2 * (size_t)t->naming)) {
		memset(t->words + t->nwords, 0, (2 * (size_t)t->naming - t->nwords) * sizeof(*t->words));
		t->nwords = 2 * (size_t)t->naming;
	}
	if (t->naming < t->nwords)
		t->words[t->naming] = word;
	t->naming = 0;
}

/* The word that a number stands for, or `word` itself; 0: it is not known. */
static uint64_t event_word(struct compiled_thread *t, uint64_t word)
{
	if (marker_is_short(word))
		return marker_number(word) < t->nwords ? t->words[marker_number(word)] : 0;
	if (t->naming && marker_is_event(word))
		name_word(t, word);
	if (marker_is_extension(word) && marker_kind(word) == KIND_NUMBER)
		t->naming = marker_number(word);
	return word;
}

void compiled_word(struct compiled_thread *t, uint64_t written, uint64_t tsc)
{
	static const enum stack_effect effects[OP_COUNT] = {
#define X(op, name, stack, far) [op] = stack,
		OCULAR_EVENTS(X)
#undef X
	};
	uint64_t word = event_word(t, written);
	enum stack_effect effect = effects[marker_op(word)];
	struct compiled_stay *s = top_of(t);

	if (effect == STACK_PUSH)
		call(t, word >> MARKER_CODE_SHIFT & MARKER_CODE_MAX);
	if (effect == STACK_PUSH && s && !s->called++)
		s->ns += tsc - s->since;
	if (effect == STACK_POP && s && s->called && !--s->called)
		s->since = tsc;
	if (effect == STACK_POP)
		t->ncalls -= t->ncalls > 0;
}

/* --- the table ----------------------------------------------------------------------------------------- */

static int open_table(const char *folder, uint32_t pid)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/codes-%u.jsonl", folder, pid) >= PATH_MAX)
		return -1;
	return open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
}

void compiled_write(struct compiled *c, const char *folder, uint32_t pid)
{
	int fd = c->nsums ? open_table(folder, pid) : -1;
	char line[160];

	for (size_t i = 0; fd >= 0 && i < c->nsums; i++) {
		snprintf(line, sizeof(line),
			 "{\"kind\":\"compiled\",\"id\":%" PRIu32 ",\"entry\":\"0x%" PRIx64 "\",\"count\":%" PRIu64
			 ",\"ns\":%" PRIu64 "}\n",
			 c->sums[i].id, c->sums[i].entry, c->sums[i].n, c->sums[i].ns);
		(void)!write(fd, line, strlen(line));
	}
	if (fd >= 0)
		close(fd);
	compiled_forget(c);
}

void compiled_thread_free(struct compiled_thread *t)
{
	free(t->calls);
	free(t->words);
}

void compiled_forget(struct compiled *c)
{
	free(c->sums);
	c->sums = NULL;
	c->nsums = 0;
}
