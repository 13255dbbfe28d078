// SPDX-License-Identifier: MIT
/* Dates are the C library's (mktime), so that days of 23 and 25 hours are right. */
#include "time_span.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND 1000000000ull
#define DAY    (86400 * SECOND)

/* Digits at *text, which moves past them; at most `most`. */
static bool read_number(const char **text, uint64_t most, uint64_t *n)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*n = strtoull(*text, &end, 10);
	*text = end;
	return !errno && *n <= most;
}

/* After whole seconds: an optional point and up to 9 decimals, exact. */
static void add_decimals(const char **text, uint64_t *ns)
{
	uint64_t unit = SECOND;

	if (**text != '.')
		return;
	for (++*text; **text >= '0' && **text <= '9'; ++*text)
		*ns += (**text - '0') * (unit /= 10);
}

static bool read_seconds(const char **text, uint64_t *ns)
{
	uint64_t seconds;

	if (!read_number(text, UINT64_MAX / SECOND - 1, &seconds))
		return false;
	*ns = seconds * SECOND;
	add_decimals(text, ns);
	return true;
}

/* HH:MM or HH:MM:SS, as ns since midnight. */
static bool read_daily(const char **text, uint64_t *ns)
{
	uint64_t hours, minutes, seconds = 0;

	if (!read_number(text, 23, &hours) || *(*text)++ != ':' || !read_number(text, 59, &minutes))
		return false;
	if (**text == ':') {
		++*text;
		if (!read_number(text, 60, &seconds))
			return false;
	}
	*ns = (hours * 3600 + minutes * 60 + seconds) * SECOND;
	add_decimals(text, ns);
	return true;
}

/* The epoch's ns of a time of day, `days` after the day of `date`. */
static bool at_day(struct tm date, int days, uint64_t daily, uint64_t *ns)
{
	time_t seconds;

	date.tm_mday += days;
	date.tm_hour = daily / SECOND / 3600;
	date.tm_min = daily / SECOND / 60 % 60;
	date.tm_sec = daily / SECOND % 60;
	date.tm_isdst = -1;
	seconds = mktime(&date);
	*ns = seconds * SECOND + daily % SECOND;
	return seconds > 0;
}

/* YYYY-MM-DD, T or a blank, and a time of day. */
static bool read_wall(const char **text, uint64_t *ns)
{
	struct tm date = { 0 };
	uint64_t daily;
	int length = 0;

	if (sscanf(*text, "%4d-%2d-%2d%*1[T ]%n", &date.tm_year, &date.tm_mon, &date.tm_mday, &length) < 3 || !length)
		return false;
	*text += length;
	date.tm_year -= 1900;
	date.tm_mon--;
	return read_daily(text, &daily) && at_day(date, 0, daily, ns);
}

/* The text before the next ',' decides the kind. */
static bool read_moment(const char **text, struct time_point *m)
{
	size_t length = strcspn(*text, ",");

	*m = (struct time_point){ .kind = TIME_NONE };
	if (!length)
		return true;
	m->kind = **text == '@'		       ? TIME_CLOCK
		  : memchr(*text, '-', length) ? TIME_WALL
		  : memchr(*text, ':', length) ? TIME_DAILY
					       : TIME_SINCE;
	*text += m->kind == TIME_CLOCK;
	if (m->kind == TIME_WALL)
		return read_wall(text, &m->ns);
	return m->kind == TIME_DAILY ? read_daily(text, &m->ns) : read_seconds(text, &m->ns);
}

bool time_span_parse(struct time_span *w, const char *text)
{
	w->text = text;
	if (!read_moment(&text, &w->from) || *text++ != ',' || !read_moment(&text, &w->until) || *text)
		return false;
	/* From 23:59 to 00:01 spans two days. */
	return w->from.kind != w->until.kind || w->from.kind == TIME_NONE || w->from.kind == TIME_DAILY ||
	       w->from.ns < w->until.ns;
}

bool time_span_is_all(const struct time_span *w)
{
	return w->from.kind == TIME_NONE && w->until.kind == TIME_NONE;
}

/* The wall clock at the first event, in ns since the epoch. */
static uint64_t wall_at(const struct wall *wall, uint64_t first)
{
	return wall->realtime_ns + (wall->at_ns ? first - wall->at_ns : 0);
}

/* The time of day at or after `least`; else that of the day of `began`, at most half a day before `began`. */
static uint64_t daily_at(uint64_t daily, uint64_t began, uint64_t least)
{
	time_t seconds = began / SECOND;
	uint64_t ns = 0;
	struct tm date;

	if (!localtime_r(&seconds, &date))
		return 0;
	for (int days = 0; days < 3 && (ns <= least || ns + DAY / 2 < began); days++)
		if (!at_day(date, days, daily, &ns))
			return 0;
	return ns;
}

/* From a wall clock that was `began` at `first`. A time before the recording's clock began becomes 0. */
static uint64_t from_wall(uint64_t ns, uint64_t began, uint64_t first)
{
	return ns < began && began - ns > first ? 0 : first + (ns - began);
}

int time_span_resolve(const struct time_span *w, uint64_t first, const struct wall *wall, uint64_t *from,
		      uint64_t *until)
{
	const struct time_point *ends[2] = { &w->from, &w->until };
	uint64_t *to[2] = { from, until }, began = wall_at(wall, first), least = 0;

	*from = 0;
	*until = UINT64_MAX;
	for (int i = 0; i < 2; i++) {
		uint64_t ns = ends[i]->ns;

		if (ends[i]->kind >= TIME_DAILY && !wall->realtime_ns)
			return -ENODATA;
		if (ends[i]->kind == TIME_SINCE && __builtin_add_overflow(ns, first, to[i]))
			*to[i] = UINT64_MAX;
		if (ends[i]->kind == TIME_CLOCK)
			*to[i] = ns;
		if (ends[i]->kind == TIME_DAILY)
			ns = least = daily_at(ns, began, least);
		if (ends[i]->kind >= TIME_DAILY)
			*to[i] = from_wall(ns, began, first);
	}
	return 0;
}

/* Local time with milliseconds. */
static const char *date_of(char *text, size_t size, uint64_t ns, const char *format)
{
	time_t seconds = ns / SECOND;
	struct tm date;
	size_t used = localtime_r(&seconds, &date) ? strftime(text, size, format, &date) : 0;

	snprintf(text + used, size - used, ".%03" PRIu64, ns / 1000000 % 1000);
	return text;
}

void time_span_describe(char *text, size_t size, uint64_t first, uint64_t last, const struct wall *wall)
{
	char from[64], until[64];
	uint64_t began = wall_at(wall, first);
	int used = snprintf(text, size, "0 to %.6f s", (last - first) / 1e9);

	if (wall->realtime_ns && (size_t)used < size)
		used += snprintf(text + used, size - used, ", %s to %s",
				 date_of(from, sizeof(from), began, "%Y-%m-%dT%H:%M:%S"),
				 date_of(until, sizeof(until), began + (last - first), "%H:%M:%S"));
	if ((size_t)used < size)
		snprintf(text + used, size - used, ", @%" PRIu64 ".%06" PRIu64 " to @%" PRIu64 ".%06" PRIu64,
			 (uint64_t)(first / SECOND), (uint64_t)(first % SECOND / 1000), (uint64_t)(last / SECOND),
			 (uint64_t)(last % SECOND / 1000));
}
