// SPDX-License-Identifier: MIT
/*
 * Time never goes back, except where the trace begins anew. A TSC that is a little behind overtook the packets before
 * it; one that is far behind has wrapped around its 56 bits.
 */
#include "pt_time.h"

#define TSC_WRAP     (1ull << 56)
#define TSC_UPPER    (0xffull << 56)
#define TSC_SLIP     0x10000	  /* ticks by which perf accepts a late TSC */
#define RATIO_EXCESS 1.25	  /* a measured ratio this far above CBR's is a mistake */
#define MOST	     0x1p52	  /* cycles: doubles hold them exactly */
#define LATEST	     (1ull << 62) /* ticks: far from what a clock can count */

/* The TSC whose lower 56 bits are given, next to `reference`. */
static uint64_t near(uint64_t tsc, uint64_t reference)
{
	tsc |= reference & TSC_UPPER;
	if (tsc < reference && reference - tsc > TSC_WRAP / 2)
		return tsc + TSC_WRAP;
	if (tsc > reference && tsc - reference > TSC_WRAP / 2)
		return tsc - TSC_WRAP;
	return tsc;
}

/* The TSC whose lower 56 bits are given, at or after `now`. */
static uint64_t after(struct pt_time *t, uint64_t payload)
{
	uint64_t tsc = payload | (t->now & TSC_UPPER);

	t->tsc = tsc;
	if (tsc >= t->now || t->now - tsc < TSC_SLIP)
		return tsc >= t->now ? tsc : t->now;
	if (t->chunk_reference && tsc + TSC_WRAP >= t->chunk_reference)
		return t->now; /* no wrap: the chunk is older */
	return t->tsc = tsc + TSC_WRAP;
}

static void rebase(struct pt_time *t)
{
	t->base = t->now;
	t->cycles = 0;
}

void pt_time_tsc(struct pt_time *t, uint64_t payload, bool after_cyc)
{
	t->crystal.known = false;
	if (t->reference)
		t->now = t->tsc = near(payload, t->reference);
	else if (t->now)
		t->now = after(t, payload);
	t->reference = 0;
	if (after_cyc) {
		rebase(t);
		t->measured = false;
	}
}

static uint64_t crystal_to_tsc(const struct pt_clocks *c, uint64_t ticks)
{
	if (c->ctc_num % c->ctc_den == 0)
		return ticks * (c->ctc_num / c->ctc_den);
	return ticks / c->ctc_den * c->ctc_num + ticks % c->ctc_den * c->ctc_num / c->ctc_den;
}

void pt_time_tma(struct pt_time *t, uint64_t payload)
{
	const struct pt_clocks *c = t->clocks;
	uint32_t ctc = payload & 0xffff, fast = payload >> 24 & 0x1ff;
	uint32_t rest = ctc & ((1u << c->mtc_shift) - 1);

	if (!c->ctc_den)
		return;
	t->crystal = (struct pt_crystal){
		.known = true,
		.last_mtc = ctc >> c->mtc_shift & 0xff,
		.tsc = t->tsc - fast - crystal_to_tsc(c, rest),
	};
}

/* TMA has 16 bits of the CTC. If MTC's 8 reach above these, take the upper ones from the MTC. */
static void complete(struct pt_crystal *x, uint32_t mtc, unsigned shift)
{
	uint32_t missing = 1u << (16 - shift);

	x->last_mtc |= mtc & ~(missing - 1);
	if (x->last_mtc >= mtc)
		x->last_mtc = (x->last_mtc - missing) & 0xff;
}

/* Advances the crystal clock to an MTC; returns the time. */
static uint64_t advance(struct pt_crystal *x, const struct pt_clocks *c, uint32_t mtc)
{
	uint32_t passed;

	if (c->mtc_shift > 8 && !x->upper_known)
		complete(x, mtc, c->mtc_shift);
	x->upper_known = true;
	passed = mtc > x->last_mtc ? mtc - x->last_mtc : mtc + 256 - x->last_mtc;
	x->ticks += passed << c->mtc_shift;
	x->last_mtc = mtc;
	return x->tsc + crystal_to_tsc(c, x->ticks);
}

void pt_time_cbr(struct pt_time *t, unsigned cbr)
{
	if (t->cbr == cbr)
		return;
	t->cbr = cbr;
	t->by_cbr = (double)t->clocks->max_ratio / cbr;
	rebase(t);
}

/* Packets across which core cycles and the crystal clock do not advance together. */
static bool breaks_clocks(unsigned kind)
{
	static const bool breaks[PKT_KINDS] = {
		[PKT_TSC] = true,    [PKT_TMA] = true,	 [PKT_TIP_PGD] = true, [PKT_STOP] = true, [PKT_OVF] = true,
		[PKT_EXSTOP] = true, [PKT_MWAIT] = true, [PKT_PWRE] = true,    [PKT_PWRX] = true,
	};

	return breaks[kind];
}

/* From one MTC to the next one right behind a CYC: the ratio of ticks to cycles. */
struct span {
	struct pt_crystal crystal;
	uint64_t time, cycles;
	unsigned cbr; /* 0: none in between */
	bool after_cyc;
};

enum span_end { SPAN_GOES_ON, SPAN_COMPLETE, SPAN_USELESS };

static enum span_end span_packet(struct span *s, const struct pt_clocks *c, const struct packet *pkt)
{
	uint64_t time;

	if (breaks_clocks(pkt->kind) || (pkt->kind == PKT_CBR && s->cbr && s->cbr != pkt->payload))
		return SPAN_USELESS;
	if (pkt->kind == PKT_CYC)
		s->cycles += pkt->payload;
	if (pkt->kind == PKT_CBR)
		s->cbr = pkt->payload;
	if (pkt->kind != PKT_MTC || !s->crystal.known)
		return SPAN_GOES_ON;
	time = advance(&s->crystal, c, pkt->payload);
	if (time < s->time)
		return SPAN_USELESS;
	s->time = time;
	return s->after_cyc ? SPAN_COMPLETE : SPAN_GOES_ON;
}

static bool span_read(struct span *s, const struct pt_clocks *c, const uint8_t *p, const uint8_t *end)
{
	enum span_end how = SPAN_GOES_ON;
	packet_block block = 0;
	struct packet pkt;

	while (how == SPAN_GOES_ON && p < end && packet_read(p, end, &block, &pkt) > 0) {
		p += pkt.size;
		if (pkt.kind == PKT_PAD)
			continue;
		how = span_packet(s, c, &pkt);
		s->after_cyc = pkt.kind == PKT_CYC;
	}
	return how == SPAN_COMPLETE && s->cycles;
}

static void measure(struct pt_time *t, const uint8_t *p, const uint8_t *end)
{
	struct span s = { .crystal = t->crystal, .time = t->now, .after_cyc = true };
	double ratio, by_cbr;

	if (!span_read(&s, t->clocks, p, end))
		return;
	ratio = (double)(s.time - t->now) / s.cycles;
	by_cbr = s.cbr ? (double)t->clocks->max_ratio / s.cbr : t->by_cbr;
	if ((s.cbr || t->cbr) && ratio > by_cbr && ratio / by_cbr > RATIO_EXCESS)
		return;
	t->by_mtc = ratio;
	t->measured = true;
}

void pt_time_mtc(struct pt_time *t, uint32_t mtc, bool after_cyc, const uint8_t *rest, const uint8_t *end)
{
	uint64_t time;

	if (!t->crystal.known)
		return;
	time = advance(&t->crystal, t->clocks, mtc);
	if (time > t->now)
		t->now = time;
	if (!after_cyc)
		return;
	rebase(t);
	t->measured = false;
	measure(t, rest, end);
}

/* The first guess is too high by rounding at most. */
uint64_t pt_time_cycles_before(const struct pt_time *t, uint64_t until)
{
	double ratio = pt_time_ratio(t), room;
	uint64_t most, less = 1;

	until = until < LATEST ? until : LATEST;
	if (t->now >= until)
		return 0;
	if (!(ratio > 0))
		return UINT64_MAX;
	room = ((double)until - (double)t->base) / ratio;
	if (!(room > 1))
		return 0;
	for (most = room < MOST ? room : MOST; most && pt_time_at(t, most, t->now) >= until; less *= 2)
		most -= most < less ? most : less;
	return most;
}
