// SPDX-License-Identifier: MIT
/* The state of the walk is in registers here; cycles become times only where a time is needed. */
#include "pt_scan.h"

#include "pt_common.h"
#include "base/cold.h"

/* Kept in registers while packets come: pass its address only to inlined functions. */
struct scan {
	const uint8_t *p, *reported; /* after the last packet with an ip, or PTW; NULL: there was none */
	uint64_t ip;
	uint64_t cycles, most; /* since the clock's base; at most `most` */
	uint64_t core, counts; /* pt_walk.core; ~0 while tracing is on, else 0 */
	struct row *row;       /* the next one */
};

#define INLINE static inline __attribute__((always_inline))
#define TIP_2  0x2d
#define PGD_4  0x41
#define PGE_4  0x51

INLINE bool add_cycles(struct scan *s, uint64_t cycles, unsigned size)
{
	if (cycles > s->most - s->cycles)
		return false;
	s->cycles += cycles;
	s->core += cycles & s->counts;
	s->p += size;
	return true;
}

static COLD struct packet longer_cyc(const uint8_t *p)
{
	struct packet pkt;

	return packet_read_cyc(p, &pkt) > 0 ? pkt : (struct packet){ PKT_BAD, 0, UINT64_MAX };
}

INLINE bool is_cyc_2(const uint8_t *p)
{
	return (p[0] & 7) == 7 && !(p[1] & 1);
}

INLINE bool cyc_2(struct scan *s)
{
	return add_cycles(s, s->p[0] >> 3 | (uint64_t)(s->p[1] >> 1) << 5, 2);
}

INLINE bool long_cyc(struct scan *s)
{
	struct packet pkt;

	if (is_cyc_2(s->p))
		return cyc_2(s);
	pkt = longer_cyc(s->p);
	return pkt.kind == PKT_CYC && add_cycles(s, pkt.payload, pkt.size);
}

INLINE void read_ip(struct scan *s)
{
	const struct pt_ip_form *form = &pt_ip_forms[*s->p >> 5];
	uint64_t bytes;

	memcpy(&bytes, s->p + 1, sizeof(bytes));
	s->ip = (s->ip & form->kept) | (bytes & ~form->kept);
	s->p += __builtin_expect(form->size == 5, 1) ? 5 : form->size;
	s->reported = s->p;
}

INLINE void put_row(struct scan *s, uint64_t bits, enum row_kind kind)
{
	*s->row++ = (struct row){ bits, s->cycles, s->core, kind };
}

/* The most common ones, without tables. */
INLINE void tip_2(struct scan *s)
{
	uint16_t bytes;

	memcpy(&bytes, s->p + 1, sizeof(bytes));
	s->ip = (s->ip & ~0xffffull) | bytes;
	s->reported = s->p += 3;
	put_row(s, s->ip, ROW_BRANCH);
}

INLINE void tip(struct scan *s)
{
	read_ip(s);
	put_row(s, s->ip, ROW_BRANCH);
}

INLINE void come_on(struct scan *s)
{
	s->counts = ~0ull;
	read_ip(s);
	put_row(s, s->ip, ROW_ENTER);
}

INLINE void come_on_4(struct scan *s)
{
	uint32_t bytes;

	memcpy(&bytes, s->p + 1, sizeof(bytes));
	s->ip = (s->ip & ~0xffffffffull) | bytes;
	s->reported = s->p += 5;
	s->counts = ~0ull;
	put_row(s, s->ip, ROW_ENTER);
}

/* Tracing goes off and on again at once: usually a call of C. One ip replaces the other. */
INLINE void call_of_c(struct scan *s)
{
	s->p += 5;
	come_on_4(s);
}

/* And here perhaps some cycles later. */
INLINE bool go_off(struct scan *s)
{
	read_ip(s);
	s->counts = 0;
	if (is_cyc_2(s->p) && !cyc_2(s))
		return false;
	if (*s->p == PGE_4)
		come_on_4(s);
	return true;
}

/* False: neither a long TNT nor a PTW. */
INLINE bool longer(struct scan *s)
{
	uint64_t bits;

	if (s->p[1] == 0x32) {
		memcpy(&bits, s->p + 2, sizeof(bits));
		s->reported = s->p += 10;
		put_row(s, bits, ROW_WORD);
		return true;
	}
	memcpy(&bits, s->p, sizeof(bits));
	if (s->p[1] != 0xa3 || !(bits >> 16))
		return false;
	s->p += 8;
	return true;
}

/* False: there are many, and nothing will be collected soon. */
INLINE bool skip_pads(struct scan *s)
{
	uint64_t bytes;

	memcpy(&bytes, s->p, sizeof(bytes));
	s->p += bytes != 0;
	return bytes;
}

/* A packet, and a TNT before it or a PGE behind it. False: it is not for this function, or was the last one. */
INLINE bool take(struct scan *s)
{
	if (__builtin_expect(pt_tnts[*s->p], 1))
		s->p++;
	if (__builtin_expect(*s->p == TIP_2, 1))
		return tip_2(s), true;
	if (__builtin_expect(*s->p == PGD_4 && s->p[5] == PGE_4, 1))
		return call_of_c(s), true;
	switch ((enum pt_common)pt_commons[*s->p]) {
	case COMMON_CYC:
		return add_cycles(s, *s->p >> 3, 1);
	case COMMON_CYC_LONG:
		return long_cyc(s);
	case COMMON_TNT:
	case COMMON_TNT_NONE:
		s->p++;
		return true;
	case COMMON_PAD:
		return skip_pads(s);
	case COMMON_LONG:
		return longer(s);
	case COMMON_TIP_2:
	case COMMON_TIP:
		return tip(s), true;
	case COMMON_PGE:
		return come_on(s), true;
	case COMMON_PGD:
		return go_off(s);
	case COMMON_OTHER:
		return false;
	}
	__builtin_unreachable();
}

/* Where the last packet may begin. A row takes at least three bytes, so one limit serves both until few are left. */
INLINE const uint8_t *bound(const struct pt_walk *w, const struct scan *s)
{
	const uint8_t *last = w->end - 2 * PACKET_SIZE_MAX + 1;
	ptrdiff_t rows = w->rows->at + ROWS_MAX - s->row;

	if (rows < ROWS_MAX / 8)
		return s->p;
	return last - s->p > 3 * rows ? s->p + 3 * rows : last;
}

static inline struct scan take_all(const struct pt_walk *w, struct scan s)
{
	const uint8_t *end;
	bool more = true;

	while (more && s.p < (end = bound(w, &s))) {
		while (s.p < end && (more = take(&s)))
			;
	}
	return s;
}

/* What came after the last step, or in all: its cycles, and whether a CYC was the last of it. */
static uint64_t cycles_behind(struct pt_walk *w, const struct scan *s, bool *step)
{
	const uint8_t *p = s->reported ? s->reported : w->p;
	uint64_t cycles = 0;
	packet_block block = 0;
	struct packet pkt;

	*step = s->reported;
	if (s->reported)
		w->after_cyc = false;
	for (; p < s->p; p += pkt.size) {
		packet_read(p, w->end, &block, &pkt);
		if (pkt.kind != PKT_PAD)
			w->after_cyc = pkt.kind == PKT_CYC;
		if (pkt.kind == PKT_CYC)
			cycles += pkt.payload;
		if (pkt.kind != PKT_TNT || !packet_takes_branch(&pkt))
			continue;
		*step = true;
		cycles = 0;
	}
	return cycles;
}

static void settle_rows(struct pt_walk *w, const struct scan *s)
{
	struct rows *rows = w->rows;

	rows->n = s->row - rows->at;
	rows->conv = &w->time.clocks->conv;
	rows->ratio = pt_time_ratio(&w->time);
	rows->base = rows->ratio > 0 ? (int64_t)w->time.base : 0;
	rows->since = w->time.now;
	rows->first = w->time.cycles;
}

/* Only a CYC advances it: computed in doubles it would be rounded, months after the machine was started. */
static uint64_t time_at(const struct pt_walk *w, uint64_t cycles)
{
	return cycles == w->time.cycles ? w->time.now : pt_time_at(&w->time, cycles, w->time.now);
}

static void settle(struct pt_walk *w, const struct scan *s)
{
	bool step;
	uint64_t behind = cycles_behind(w, s, &step);

	w->core = s->core;
	if (step) {
		w->stamp = time_at(w, s->cycles - behind);
		w->passed.stamp = w->stamp;
		w->passed.core = w->core - (behind & s->counts);
	}
	w->time.now = time_at(w, s->cycles);
	w->time.cycles = s->cycles;
	w->p = s->p;
	w->ip = s->ip;
	w->enabled = s->counts;
}

__attribute__((noinline)) bool pt_scan(struct pt_walk *w)
{
	struct scan s = { .p = w->p,
			  .ip = w->ip,
			  .cycles = w->time.cycles,
			  .most = w->stamp > w->time.now ? 0 : pt_time_cycles_before(&w->time, w->quiet_until),
			  .core = w->core,
			  .counts = w->enabled ? ~0ull : 0,
			  .row = w->rows->at };

	if (w->overflowed || s.most <= s.cycles || w->end - w->p < 2 * PACKET_SIZE_MAX)
		return false;
	s = take_all(w, s);
	settle_rows(w, &s);
	settle(w, &s);
	return s.row > w->rows->at;
}
