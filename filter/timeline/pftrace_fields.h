/* SPDX-License-Identifier: MIT */
/*
 * pftrace_fields.h - the fields of Perfetto's messages that are written (perfetto/protos/perfetto/trace), and our
 * numbers in them.
 */
#pragma once

#include <stdint.h>

/* Fields, by message. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_COMPRESSED = 50,
	PACKET_CLOCK = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
	PACKET_UI_STATE = 78,
};
enum { UI_FROM = 1, UI_UNTIL = 2 };
enum { FLAG_STATE_CLEARED = 1 };
enum { SNAPSHOT_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_INCREMENTAL = 3 };
enum { DEFAULTS_EVENT = 11, DEFAULTS_CLOCK = 58 };
enum {
	INTERNED_CATEGORY = 1,
	INTERNED_NAME = 2,
	INTERNED_KEY = 3,
	INTERNED_SOURCE = 4,
	INTERNED_IID = 1,
	INTERNED_TEXT = 2
};
enum { SOURCE_FILE = 2, SOURCE_LINE = 4 };
enum {
	EVENT_CATEGORY = 3,
	EVENT_ARG = 4,
	EVENT_LEGACY = 6,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_CATEGORY_TEXT = 22,
	EVENT_NAME_TEXT = 23,
	EVENT_COUNTER = 30,
	EVENT_SOURCE = 34,
	EVENT_COUNTER_DOUBLE = 44,
};
enum { TYPE_LEGACY, TYPE_BEGIN, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };
enum { ARG_KEY = 1, ARG_INT = 4, ARG_STRING = 6, ARG_JSON = 9, ARG_KEY_TEXT = 10 };
enum { LEGACY_PHASE = 2, LEGACY_ID = 6, LEGACY_ENCLOSING = 12 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, PROCESS_LABELS = 8, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };

/* builtin_clock.proto: BOOTTIME is the clock of a trace; 64 and on are a sequence's own. */
enum { CLOCK_TRACE = 6, CLOCK_SEQUENCE = 64 };

/* The definitions at the beginning of every sequence (pftrace_tracks.c): keys of args, some categories and names. */
enum {
	KEY_CALLS = 1,
	KEY_CYCLES,
	KEY_UOPS,
	KEY_TRIP,
	KEY_CODE_PTR,
	KEY_CPU,
	KEY_WAITING,
	KEY_TRIP_CYCLES /* perfetto.h */
};
enum { CATEGORY_LOOP = 1, CATEGORY_CODE, CATEGORY_RESUME, CATEGORIES };
enum { NAME_RESUME = 1 };

/* A track's number on the wire: which kind of thing, and which one. */
enum uuid { UUID_PROCESS = 1, UUID_THREAD, UUID_COUNTERS, UUID_VALUES, UUID_CODES };

static inline uint64_t pftrace_uuid(enum uuid kind, uint64_t number)
{
	return (uint64_t)kind << 40 | number;
}

/* Unknown ids are 0: Perfetto accepts no negative ones. */
static inline int32_t pftrace_known(int32_t id)
{
	return id < 0 ? 0 : id;
}
