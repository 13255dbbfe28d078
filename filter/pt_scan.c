// SPDX-License-Identifier: MIT
/* The state of the walk is in registers here; times are made of cycles only where somebody asks for them. */
#include "pt_scan.h"

#include "pt_common.h"

#define MOST 0x1p52	      /* cycles: doubles count them one by one */
#define LATEST (1ull << 62) /* ticks: far from what a clock can count */
#define MARGIN (1 - 0x1p-10)

struct scan {
	const uint8_t *p;
	uint64_t ip;
	uint64_t cycles, most; /* since the clock's base; of which so many may come */
	uint64_t core, counts; /* all ones: cycles count as the core's, too; or 0 */
	uint64_t step_cycles, step_core; /* at the last step that nobody is told of by itself */
	uint32_t n;
	bool after_cyc, stepped;
};

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

/* A CYC of several bytes. False: it is damaged. */
static inline bool long_cyc(struct scan *s, uint64_t *cycles)
{
	struct packet pkt;

	if (!(s->p[1] & 1)) {
		*cycles = *s->p >> 3 | (uint64_t)(s->p[1] >> 1) << 5;
		s->p += 2;
		return true;
	}
	if (packet_read_cyc(s->p, &pkt) < 0)
		return false;
	*cycles = pkt.payload;
	s->p += pkt.size;
	return true;
}

static inline void step(struct scan *s)
{
	s->step_cycles = s->cycles;
	s->step_core = s->core;
	s->stepped = true;
	s->after_cyc = false;
}

static inline void read_ip(struct scan *s)
{
	unsigned form = *s->p >> 5;
	uint64_t kept = pt_ip_kept[form], bytes;

	memcpy(&bytes, s->p + 1, sizeof(bytes));
	s->ip = (s->ip & kept) | (bytes & ~kept);
	s->p += pt_ip_sizes[form];
}

static inline void add_row(struct scan *s, struct pt_rows *rows, bool enters)
{
	read_ip(s);
	step(s);
	rows->at[s->n++] = (struct pt_row){ s->ip, s->cycles, s->core, enters };
}

/* A long TNT; false: something else. */
static inline bool long_tnt(struct scan *s)
{
	uint64_t bits;

	memcpy(&bits, s->p, sizeof(bits));
	if (s->p[1] != 0xa3 || !(bits >> 16))
		return false;
	bits >>= 16;
	s->p += 8;
	if (bits & (bits - 1))
		step(s);
	s->after_cyc = false;
	return true;
}

static inline bool add_cycles(struct scan *s, uint64_t cycles, const uint8_t *before)
{
	if (cycles > s->most - s->cycles) {
		s->p = before;
		return false;
	}
	s->cycles += cycles;
	s->core += cycles & s->counts;
	s->after_cyc = true;
	return true;
}

/* One packet. False: it is not for here. */
static inline __attribute__((always_inline)) bool take(struct scan *s, struct pt_walk *w)
{
	const uint8_t *p = s->p;
	uint64_t cycles;

	switch ((enum pt_common)pt_commons[*p]) {
	case COMMON_PAD:
		s->p++;
		return true;
	case COMMON_CYC:
		s->p++;
		return add_cycles(s, *p >> 3, p);
	case COMMON_CYC_LONG:
		return long_cyc(s, &cycles) && add_cycles(s, cycles, p);
	case COMMON_TNT:
		s->p++;
		step(s);
		return true;
	case COMMON_TNT_NONE:
		s->p++;
		s->after_cyc = false;
		return true;
	case COMMON_LONG:
		return long_tnt(s);
	case COMMON_TIP:
		add_row(s, &w->rows, false);
		return true;
	case COMMON_PGE:
		w->overflowed = false;
		s->counts = ~0ull;
		add_row(s, &w->rows, true);
		return true;
	case COMMON_PGD:
		s->counts = 0;
		read_ip(s);
		step(s);
		return true;
	default:
		return false;
	}
}

static void settle(struct pt_walk *w, const struct scan *s)
{
	w->rows.n = s->n;
	w->rows.time = &w->time;
	w->rows.since = w->time.now;
	if (s->stepped) {
		w->stamp = pt_time_at(&w->time, s->step_cycles, w->time.now);
		w->passed.stamp = w->stamp;
		w->passed.core = s->step_core;
	}
	w->time.now = pt_time_at(&w->time, s->cycles, w->time.now);
	w->time.cycles = s->cycles;
	w->p = s->p;
	w->ip = s->ip;
	w->core = s->core;
	w->enabled = s->counts;
	w->after_cyc = s->after_cyc;
}

bool pt_scan(struct pt_walk *w)
{
	struct scan s = { .p = w->p, .ip = w->ip, .cycles = w->time.cycles, .most = cycles_before(w), .core = w->core,
			  .counts = w->enabled ? ~0ull : 0, .after_cyc = w->after_cyc };

	if (s.most <= s.cycles)
		return false;
	while (w->end - s.p >= 2 * PACKET_SIZE_MAX && s.n < PT_ROWS && take(&s, w))
		;
	settle(w, &s);
	return s.n;
}
