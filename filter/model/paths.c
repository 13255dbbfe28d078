// SPDX-License-Identifier: MIT
#include "paths.h"

/* FNV-1a with 64 bits (draft-eastlake-fnv), one number at a time, and a shift so that high bits reach low ones. */
#define FNV_BASIS 0xcbf29ce484222325u
#define FNV_PRIME 0x100000001b3u

static uint64_t mix(uint64_t hash, uint64_t n)
{
	hash = (hash ^ n) * FNV_PRIME;
	return hash ^ hash >> 29;
}

void way_clear(struct way *w)
{
	*w = (struct way){ .hash = FNV_BASIS };
}

static void reach_line(struct way *w, int32_t line)
{
	if (line <= 0 || w->nlines > PATH_LINES)
		return;
	if (w->nlines && w->nlines <= PATH_LINES && w->lines[w->nlines - 1] == line)
		return;
	if (w->nlines < PATH_LINES)
		w->lines[w->nlines] = line;
	w->nlines++;
}

void way_step(struct way *w, int64_t offset, int64_t target, int32_t line)
{
	if (!w->steps++)
		w->start = offset;
	w->hash = mix(mix(w->hash, offset), target);
	reach_line(w, line);
}

/* The number of the path, a new one if need be; PATHS_MAX: there are too many. */
static uint32_t find(struct paths *p, const struct way *w)
{
	uint32_t i = 0;

	while (i < p->n && (p->path[i].way.hash != w->hash || p->path[i].way.steps != w->steps))
		i++;
	if (i == p->n && i < PATHS_MAX)
		p->path[p->n++] = (struct path){ .way = *w };
	return i;
}

void paths_add(struct paths *p, const struct way *w, bool timed, uint64_t ns, uint64_t cycles)
{
	struct path *path;

	p->last = w ? find(p, w) : PATHS_MAX;
	p->unknown += !w;
	p->others += w && p->last == PATHS_MAX;
	if (p->last == PATHS_MAX)
		return;
	path = &p->path[p->last];
	path->trips++;
	path->timed += timed;
	path->ns += ns;
	path->cycles += cycles;
}

bool paths_recorded(const uint64_t events[OP_COUNT])
{
	return events[OP_INSTRUCTION] || events[OP_BRANCH] || events[OP_BRANCH_LEFT] || events[OP_BRANCH_RIGHT];
}

uint64_t paths_known(const struct paths *p)
{
	uint64_t known = p->others;

	for (uint32_t i = 0; i < p->n; i++)
		known += p->path[i].trips;
	return known;
}

void paths_order(const struct paths *p, uint32_t order[PATHS_MAX])
{
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t to = i;

		for (; to && p->path[order[to - 1]].trips < p->path[i].trips; to--)
			order[to] = order[to - 1];
		order[to] = i;
	}
}
