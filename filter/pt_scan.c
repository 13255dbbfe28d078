// SPDX-License-Identifier: MIT
/* The state of the walk is in registers here; times are made of cycles only where somebody asks for them. */
#include "pt_scan.h"

#include "pt_common.h"

#define MOST 0x1p52	      /* cycles: doubles count them one by one */
#define LATEST (1ull << 62) /* ticks: far from what a clock can count */
#define MARGIN (1 - 0x1p-10)

struct scan {
	const uint8_t *p, *step; /* behind the last step that nobody is told of by itself; NULL: there was none */
	uint64_t ip;
	uint64_t cycles, most; /* since the clock's base; of which so many may come */
	uint64_t skipped;      /* what they are ahead of pt_walk.core; with `off`: up to there */
	uint64_t off;	       /* where tracing went off, in cycles; ON: it is on */
	uint32_t n;
};

#define ON UINT64_MAX

/* How many cycles since the clock's base are surely before the time up to which steps need not be told. */
static uint64_t cycles_before(const struct pt_walk *w)
{
	const struct pt_time *t = &w->time;
	uint64_t until = w->quiet_until < LATEST ? w->quiet_until : LATEST;
	double ratio = pt_time_ratio(t), room;

	if (w->stamp > t->now || t->now >= until)
		return 0;
	if (!(ratio > 0))
		return UINT64_MAX;
	room = ((double)until - (double)t->base) / ratio * MARGIN;
	if (!(room > 1))
		return 0;
	if (room > MOST)
		room = MOST;
	return pt_time_at(t, (uint64_t)room, t->now) < until ? (uint64_t)room : 0;
}

static inline uint64_t core_at(const struct scan *s)
{
	return (s->off == ON ? s->cycles : s->off) - s->skipped;
}

static inline bool add_cycles(struct scan *s, uint64_t cycles, unsigned size)
{
	if (cycles > s->most - s->cycles)
		return false;
	s->cycles += cycles;
	s->p += size;
	return true;
}

static inline bool long_cyc(struct scan *s)
{
	struct packet pkt;

	if (!(s->p[1] & 1))
		return add_cycles(s, *s->p >> 3 | (uint64_t)(s->p[1] >> 1) << 5, 2);
	return packet_read_cyc(s->p, &pkt) > 0 && add_cycles(s, pkt.payload, pkt.size);
}

static inline void read_ip(struct scan *s)
{
	unsigned form = *s->p >> 5;
	uint64_t kept = pt_ip_kept[form], bytes;

	memcpy(&bytes, s->p + 1, sizeof(bytes));
	s->ip = (s->ip & kept) | (bytes & ~kept);
	s->p += pt_ip_sizes[form];
	s->step = s->p;
}

/* False: there is no room for another one. */
static inline bool put_row(struct scan *s, struct pt_rows *rows, bool enters)
{
	rows->at[s->n++] = (struct pt_row){ s->ip, s->cycles, core_at(s), enters };
	return s->n < PT_ROWS;
}

static inline bool add_row(struct scan *s, struct pt_rows *rows, bool enters)
{
	read_ip(s);
	return put_row(s, rows, enters);
}

/* The commonest, without tables. */
static inline bool add_row_2(struct scan *s, struct pt_rows *rows)
{
	uint16_t bytes;

	memcpy(&bytes, s->p + 1, sizeof(bytes));
	s->ip = (s->ip & ~0xffffull) | bytes;
	s->step = s->p += 3;
	return put_row(s, rows, false);
}

/* False: something else than a long TNT. */
static inline bool long_tnt(struct scan *s)
{
	uint64_t bits;

	memcpy(&bits, s->p, sizeof(bits));
	if (s->p[1] != 0xa3 || !(bits >> 16))
		return false;
	bits >>= 16;
	s->p += 8;
	if (bits & (bits - 1))
		s->step = s->p;
	return true;
}

/* False: there are many, and nothing is to be gathered soon. */
static inline bool skip_pads(struct scan *s)
{
	uint64_t bytes;

	memcpy(&bytes, s->p, sizeof(bytes));
	s->p += bytes != 0;
	return bytes;
}

static inline bool come_on(struct scan *s, struct pt_walk *w)
{
	w->overflowed = false;
	if (s->off != ON)
		s->skipped += s->cycles - s->off;
	s->off = ON;
	return add_row(s, &w->rows, true);
}

static inline void go_off(struct scan *s)
{
	if (s->off == ON)
		s->off = s->cycles;
	read_ip(s);
}

/* One packet. False: it is not for here, or was the last one. */
static inline __attribute__((always_inline)) bool take(struct scan *s, struct pt_walk *w)
{
	switch ((enum pt_common)pt_commons[*s->p]) {
	case COMMON_CYC:
		return add_cycles(s, *s->p >> 3, 1);
	case COMMON_CYC_LONG:
		return long_cyc(s);
	case COMMON_TNT:
		s->step = ++s->p;
		return true;
	case COMMON_PAD:
		return skip_pads(s);
	case COMMON_TNT_NONE:
		s->p++;
		return true;
	case COMMON_LONG:
		return long_tnt(s);
	case COMMON_TIP_2:
		return add_row_2(s, &w->rows);
	case COMMON_TIP:
		return add_row(s, &w->rows, false);
	case COMMON_PGE:
		return come_on(s, w);
	case COMMON_PGD:
		go_off(s);
		return true;
	case COMMON_OTHER:
		return false;
	}
	__builtin_unreachable();
}

/* What came behind the last step, or in all: its cycles, and whether a CYC was the last of it. */
static uint64_t cycles_behind(struct pt_walk *w, const struct scan *s)
{
	const uint8_t *p = s->step ? s->step : w->p;
	uint64_t cycles = 0;
	struct packet pkt;

	if (s->step)
		w->after_cyc = false;
	for (; p < s->p; p += pkt.size) {
		pkt = (struct packet){ PKT_TNT, pt_commons[*p] == COMMON_LONG ? 8 : 1, 0 };
		if ((*p & 3) == 3)
			packet_read_cyc(p, &pkt);
		cycles += pkt.payload;
		if (*p)
			w->after_cyc = pkt.kind == PKT_CYC;
	}
	return cycles;
}

static void settle_rows(struct pt_walk *w, const struct scan *s)
{
	struct pt_rows *rows = &w->rows;

	rows->n = s->n;
	rows->clocks = w->time.clocks;
	rows->ratio = pt_time_ratio(&w->time);
	rows->base = rows->ratio > 0 ? (int64_t)w->time.base : 0;
	rows->since = w->time.now;
}

static void settle(struct pt_walk *w, const struct scan *s)
{
	uint64_t behind = cycles_behind(w, s);

	w->core = core_at(s);
	if (s->step) {
		w->stamp = pt_time_at(&w->time, s->cycles - behind, w->time.now);
		w->passed.stamp = w->stamp;
		w->passed.core = w->core - (s->off == ON ? behind : 0);
	}
	w->time.now = pt_time_at(&w->time, s->cycles, w->time.now);
	w->time.cycles = s->cycles;
	w->p = s->p;
	w->ip = s->ip;
	w->enabled = s->off == ON;
}

bool pt_scan(struct pt_walk *w)
{
	struct scan s = { .p = w->p, .ip = w->ip, .cycles = w->time.cycles, .most = cycles_before(w),
			  .skipped = w->time.cycles - w->core, .off = w->enabled ? ON : w->time.cycles };
	const uint8_t *last = w->end - 2 * PACKET_SIZE_MAX;

	if (s.most <= s.cycles || w->end - w->p < 2 * PACKET_SIZE_MAX)
		return false;
	while (s.p <= last && take(&s, w))
		;
	settle_rows(w, &s);
	settle(w, &s);
	return s.n;
}
