// SPDX-License-Identifier: MIT
#include "exceptions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "code/codes_part.h"
#include "shared/array.h"

#define IMPORTLIB "<frozen importlib"
#define ZIPIMPORT "<frozen zipimport"

static uint64_t key_of(const struct raise *at)
{
	uint64_t key = (uintptr_t)at->code ^ (uint64_t)at->line << 48;

	return hash_text(key, at->type ? at->type->qualname : "");
}

static bool is_same_type(const struct code *a, const struct code *b)
{
	return a == b || (a && b && !strcmp(a->qualname, b->qualname));
}

static bool is_of(const struct raised *r, const struct raise *at)
{
	return is_same_type(r->type, at->type) && r->code == at->code && r->line == at->line;
}

static struct raised *row_of(struct exceptions *all, const struct raise *at)
{
	uint64_t key = key_of(at);
	struct raised *r;

	while ((r = map_get(&all->all, key)) && !is_of(r, at))
		key++;
	if (r || !ARRAY_ONE_MORE(all->in_order, all->n) || !(r = map_add(&all->all, key, sizeof(*r))))
		return r;
	r->type = at->type;
	r->code = at->code;
	r->line = at->line;
	all->in_order[all->n++] = r;
	return r;
}

static void end(const struct flight *f, uint64_t *how)
{
	++*how;
	f->row->frames += f->frames;
	if (f->frames > f->row->frames_most)
		f->row->frames_most = f->frames;
}

static struct flight *innermost(struct flights *f)
{
	return f->n ? &f->on_way[f->n - 1] : NULL;
}

/* Those in frames from that depth on: C code did not pass them on. */
static void drop(struct flights *f, uint32_t depth)
{
	for (struct flight *x; (x = innermost(f)) && x->depth >= depth; f->n--)
		end(x, x->depth || x->finds ? &x->row->dropped : &x->row->left);
}

void flights_end(struct flights *f)
{
	drop(f, 0);
}

static void forget(struct flights *f, uint32_t i)
{
	memmove(&f->kept[i], &f->kept[i + 1], (--f->nkept - i) * sizeof(f->kept[0]));
}

/* What was handled in frames that have ended can only come from elsewhere now. */
static void forget_from(struct flights *f, uint32_t depth)
{
	while (f->nkept && f->kept[f->nkept - 1].depth >= depth)
		f->nkept--;
}

/* A handler raises it again: it was not handled there. */
static void take_back(struct flights *f, uint32_t i)
{
	struct raised *r = f->kept[i].row;

	r->handled--;
	r->handlers[f->kept[i].handler].n--;
	r->frames -= f->kept[i].frames;
	forget(f, i);
}

static int push(struct flights *f, const struct flight *x)
{
	if (!ARRAY_ONE_MORE(f->on_way, f->n))
		return -ENOMEM;
	f->on_way[f->n++] = *x;
	return 0;
}

/* The one that was handled, newest first; FLIGHTS_KEPT: none. What is left of a group is another object. */
static uint32_t find_kept(const struct flights *f, const struct raise *at)
{
	for (uint32_t i = f->nkept; i-- > 0;)
		if (f->kept[i].object == at->object && f->kept[i].type == at->type)
			return i;
	for (uint32_t i = f->nkept; i-- > 0 && at->again;)
		if (f->kept[i].depth == at->depth && f->kept[i].type == at->type)
			return i;
	return FLIGHTS_KEPT;
}

static int begin(struct flights *f, struct exceptions *all, const struct raise *at)
{
	struct flight x = { .row = row_of(all, at), .type = at->type, .object = at->object, .depth = at->depth };

	if (!x.row)
		return -ENOMEM;
	x.row->n++;
	return push(f, &x);
}

/* The same object, in the frame that it had come to; or the trace has not seen that one begin. */
static bool comes_on(const struct flight *x, const struct raise *at)
{
	return x && (x->depth == at->depth || (!x->depth && at->depth == 1)) && x->object == at->object &&
	       x->type == at->type && (!at->first || x->imports);
}

int flights_raise(struct flights *f, struct exceptions *all, const struct raise *at, bool *begun)
{
	struct flight *x;
	struct flight again;
	uint32_t kept;

	*begun = false;
	drop(f, at->depth + 1);
	x = innermost(f);
	if (comes_on(x, at)) {
		x->depth = at->depth;
		return 0;
	}
	drop(f, at->depth == 1 ? 0 : at->depth);
	kept = find_kept(f, at);
	if (kept < FLIGHTS_KEPT && !at->first) {
		again = f->kept[kept];
		again.depth = at->depth;
		again.object = at->object;
		take_back(f, kept);
		return push(f, &again);
	}
	if (kept < FLIGHTS_KEPT)
		forget(f, kept);
	*begun = true;
	return begin(f, all, at);
}

/* Made on first use, then. 0 or -ENOMEM. */
static int find_handler(struct raised *r, const struct code *code, int64_t line, uint64_t ns, uint32_t *at)
{
	for (*at = 0; *at < r->nhandlers; ++*at)
		if (r->handlers[*at].code == code && r->handlers[*at].line == line)
			return 0;
	if (!ARRAY_ONE_MORE(r->handlers, r->nhandlers))
		return -ENOMEM;
	r->handlers[r->nhandlers++] = (struct handler){ .code = code, .line = line, .first_ns = ns };
	return 0;
}

/* In place of the one that was in the same handler before: that has left it. */
static void keep(struct flights *f, const struct flight *x)
{
	uint32_t i = 0;

	while (i < f->nkept &&
	       (f->kept[i].depth != x->depth || f->kept[i].row != x->row || f->kept[i].handler != x->handler))
		i++;
	if (i < f->nkept)
		forget(f, i);
	else if (f->nkept == FLIGHTS_KEPT)
		forget(f, 0);
	f->kept[f->nkept++] = *x;
}

int flights_handle(struct flights *f, const struct code *code, int64_t line, uint32_t depth, uint64_t ns,
		   struct flight *ended)
{
	struct flight *x;

	*ended = (struct flight){ 0 };
	drop(f, depth + 1);
	x = innermost(f);
	if (!x || x->depth != depth)
		return 0;
	if (find_handler(x->row, code, line, ns, &x->handler))
		return -ENOMEM;
	end(x, &x->row->handled);
	x->row->handlers[x->handler].n++;
	*ended = *x;
	keep(f, x);
	f->n--;
	return 0;
}

void flights_unwind(struct flights *f, uint32_t depth, const struct code *code)
{
	struct flight *x;

	drop(f, depth + 1);
	forget_from(f, depth);
	x = innermost(f);
	if (!x || x->depth != depth)
		return;
	x->frames += !code->c;
	x->imports = !strncmp(code->file, IMPORTLIB, strlen(IMPORTLIB));
	x->finds = x->imports || !strncmp(code->file, ZIPIMPORT, strlen(ZIPIMPORT));
	x->depth--;
}

void flights_return(struct flights *f, uint32_t depth)
{
	drop(f, depth);
	forget_from(f, depth);
}

void flights_lose(struct flights *f, uint32_t depth)
{
	while (f->n && innermost(f)->depth >= depth)
		f->n--;
	forget_from(f, depth);
}

/* --- two of them --------------------------------------------------------------------------------------------- */

/* Handlers are in the order of their first time. */
static int join_handler(struct raised *to, const struct handler *more)
{
	const struct code *code = codes_same(more->code);
	struct handler h;
	uint32_t at;

	if (!code || find_handler(to, code, more->line, more->first_ns, &at))
		return -ENOMEM;
	h = to->handlers[at];
	h.n += more->n;
	h.first_ns = more->first_ns < h.first_ns ? more->first_ns : h.first_ns;
	for (; at && to->handlers[at - 1].first_ns >= h.first_ns; at--) {
		if (to->handlers[at - 1].first_ns == h.first_ns)
			return -EAGAIN;
		to->handlers[at] = to->handlers[at - 1];
	}
	to->handlers[at] = h;
	return 0;
}

static int join_handlers(struct raised *to, const struct raised *more)
{
	int err = 0;

	for (uint32_t i = 0; i < more->nhandlers && !err; i++)
		err = join_handler(to, &more->handlers[i]);
	return err;
}

static int join_row(struct exceptions *to, const struct raised *more)
{
	struct raise at = { .code = codes_same(more->code), .line = more->line };
	struct raised *r;

	at.type = more->type ? codes_same(more->type) : NULL;
	r = at.code && (at.type || !more->type) ? row_of(to, &at) : NULL;
	if (!r)
		return -ENOMEM;
	r->n += more->n;
	r->handled += more->handled;
	r->dropped += more->dropped;
	r->left += more->left;
	r->frames += more->frames;
	r->frames_most = more->frames_most > r->frames_most ? more->frames_most : r->frames_most;
	return join_handlers(r, more);
}

int exceptions_join(struct exceptions *to, const struct exceptions *more)
{
	int err = 0;

	for (size_t i = 0; i < more->n && !err; i++)
		err = join_row(to, more->in_order[i]);
	return err;
}

/* --- the end ------------------------------------------------------------------------------------------------- */

const struct handler *raised_handler(const struct raised *r)
{
	const struct handler *most = NULL;

	for (uint32_t i = 0; i < r->nhandlers; i++)
		if (r->handlers[i].n && (!most || r->handlers[i].n > most->n))
			most = &r->handlers[i];
	return most;
}

static int by_number(const void *left, const void *right)
{
	const struct raised *a = *(struct raised *const *)left, *b = *(struct raised *const *)right;
	int order = (a->n < b->n) - (a->n > b->n);

	order = order ?: code_order(a->code, b->code);
	order = order ?: (a->line > b->line) - (a->line < b->line);
	order = order ?: !b->type - !a->type;
	return order || !a->type ? order : code_order(a->type, b->type);
}

void exceptions_rank(struct exceptions *all)
{
	if (all->n)
		qsort(all->in_order, all->n, sizeof(*all->in_order), by_number);
}

uint64_t exceptions_count(const struct exceptions *all)
{
	uint64_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += all->in_order[i]->n;
	return n;
}

void flights_free(struct flights *f)
{
	if (f)
		free(f->on_way);
	free(f);
}

void exceptions_free(struct exceptions *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->in_order[i]->handlers);
	map_free_all(&all->all);
	free(all->in_order);
}
