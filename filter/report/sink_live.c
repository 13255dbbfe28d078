// SPDX-License-Identifier: MIT
/*
 * A second is what the totals have more than was told before. So the sums of all lines are the totals, whatever the
 * time of an event was, and nothing is kept but what was told of each function.
 */
#include "sink_live.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "model/profile.h"
#include "model/sink_file.h"

struct told {
	uint64_t calls, self_ns;
};

struct live {
	struct sink_file file;
	struct map told; /* struct code * -> struct told */
	uint64_t events, lost;
	uint64_t ns; /* up to when */
};

struct row {
	const struct code *code;
	struct told more;
};

/* What it has more than `*told`, which becomes all of it. What a gap ends may have less than when open. */
static struct told take(struct told *told, const struct function *f)
{
	struct told now = { f->calls, f->self_ns + f->open_ns }, before = *told;

	if (now.self_ns < before.self_ns)
		now.self_ns = before.self_ns;
	*told = now;
	return (struct told){ now.calls - before.calls, now.self_ns - before.self_ns };
}

static int place_order(const struct code *a, const struct code *b)
{
	int order = strcmp(a->file, b->file) ?: strcmp(a->qualname, b->qualname);

	return order ?: (a->firstlineno > b->firstlineno) - (a->firstlineno < b->firstlineno);
}

static int by_place(const void *a, const void *b)
{
	return place_order(((const struct row *)a)->code, ((const struct row *)b)->code);
}

static int by_self(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	if (a->more.self_ns != b->more.self_ns)
		return a->more.self_ns > b->more.self_ns ? -1 : 1;
	return by_place(x, y);
}

/* The same place in several processes is one row. */
static size_t merge(struct row *rows, size_t n)
{
	size_t to = 0;

	qsort(rows, n, sizeof(*rows), by_place);
	for (size_t i = 1; i < n; i++) {
		if (by_place(&rows[to], &rows[i])) {
			rows[++to] = rows[i];
			continue;
		}
		rows[to].more.calls += rows[i].more.calls;
		rows[to].more.self_ns += rows[i].more.self_ns;
	}
	n = n ? to + 1 : 0;
	qsort(rows, n, sizeof(*rows), by_self);
	return n;
}

/* Those with anything to tell; NULL: no memory. */
static struct row *rows_of(struct live *l, const struct profile *p, size_t *n)
{
	size_t all, used = 0;
	struct code **codes = profile_functions(p, &all, RANK_TIME);
	struct row *rows = codes ? calloc(all + 1, sizeof(*rows)) : NULL;

	for (size_t i = 0; rows && i < all; i++) {
		uint64_t key = (uintptr_t)codes[i];
		struct told *told = map_get(&l->told, key) ?: map_add(&l->told, key, sizeof(*told));

		if (!told) {
			free(rows);
			rows = NULL;
			break;
		}
		rows[used] = (struct row){ codes[i], take(told, codes[i]->function) };
		used += rows[used].more.calls || rows[used].more.self_ns;
	}
	free(codes);
	*n = rows ? merge(rows, used) : 0;
	return rows;
}

static json_t *json_of(const struct row *r)
{
	return json_pack("{s:o?,s:o?,s:I,s:I,s:I}", "file", json_text(r->code->file), "qualname",
			 json_text(r->code->qualname), "line", (json_int_t)r->code->firstlineno, "calls",
			 (json_int_t)r->more.calls, "self_ns", (json_int_t)r->more.self_ns);
}

static uint64_t events_of(const struct profile *p)
{
	uint64_t n = 0;

	for (unsigned op = 0; op <= OP_EVENT_LAST; op++)
		n += p->events[op];
	return n;
}

/* What became more since the last time. */
static json_int_t since(uint64_t *told, uint64_t now)
{
	uint64_t before = *told;

	*told = now;
	return now - before;
}

static json_t *functions_of(struct live *l, const struct profile *p)
{
	size_t n;
	struct row *rows = rows_of(l, p, &n);
	json_t *functions = rows ? json_array() : NULL;

	for (size_t i = 0; functions && i < n; i++)
		functions = json_append(functions, json_of(&rows[i]));
	free(rows);
	return functions;
}

static json_t *line_of(struct live *l, const struct profile *p, uint64_t ns)
{
	json_t *functions = functions_of(l, p);

	return functions ? json_pack("{s:I,s:I,s:I,s:o}", "time_ns", (json_int_t)ns, "events",
				     since(&l->events, events_of(p)), "lost", since(&l->lost, p->lost_markers),
				     "functions", functions)
			 : NULL;
}

static int live_second(struct sink *s, const struct profile *p, uint64_t ns)
{
	struct live *l = (struct live *)s;
	json_t *line = line_of(l, p, l->ns = ns);
	char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;

	json_decref(line);
	if (!text)
		return sink_file_no_memory(s);
	out_put(&l->file.out, text, strlen(text));
	out_put(&l->file.out, "\n", 1);
	free(text);
	out_flush(&l->file.out);
	return sink_file_status(s);
}

/* The rest of the last second, which begins where the one before it ended, even if only late words are in it. */
static int live_finish(struct sink *s, const struct profile *p)
{
	const struct live *l = (const struct live *)s;
	int err = live_second(s, p, p->end_ns > l->ns ? p->end_ns : l->ns);

	return err ?: sink_file_close(s);
}

static void live_free(struct sink *s)
{
	map_free_all(&((struct live *)s)->told);
	sink_file_free(s);
}

static const struct sink_ops live_ops = { .second = live_second, .finish = live_finish, .free = live_free };

int sink_live_open(struct sink **out, const struct sink_options *o, char *error)
{
	return sink_file_open(out, sizeof(struct live), &live_ops, o, error);
}
