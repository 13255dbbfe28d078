// SPDX-License-Identifier: MIT
/* One packet at a time, except a CYC with the PTW behind it, which make up nearly all of a trace. */
#include "pt_walk.h"

#include "pt_common.h"
#include "pt_scan.h"
#include "pt_words.h"

#define CBR_NONE UINT32_MAX

/* Packets that PSB+ cannot contain (SDM, "PSB+"; perf calls each of them an error). */
static const bool not_in_psb[PKT_KINDS] = {
	[PKT_TNT] = true,    [PKT_TIP] = true,	[PKT_TIP_PGE] = true, [PKT_TIP_PGD] = true, [PKT_PTW] = true,
	[PKT_PTW_IP] = true, [PKT_STOP] = true, [PKT_PSB] = true,     [PKT_EXSTOP] = true,  [PKT_MWAIT] = true,
	[PKT_PWRE] = true,   [PKT_PWRX] = true, [PKT_BBP] = true,     [PKT_BIP] = true,	    [PKT_BEP] = true,
	[PKT_CFE] = true,    [PKT_EVD] = true,
};

void pt_walk_init(struct pt_walk *w, const struct pt_clocks *clocks, bool branches)
{
	*w = (struct pt_walk){ .branches = branches, .cbr_reported = CBR_NONE };
	w->time.clocks = clocks;
}

void pt_walk_chunk(struct pt_walk *w, const uint8_t *p, const uint8_t *end, uint64_t reference, bool anew)
{
	w->p = p;
	w->end = end;
	w->time.chunk_reference = reference;
	if (!anew)
		return;
	w->plain = w->synced = w->in_psb = w->wants_fup = false;
	pt_time_restart(&w->time, reference);
}

/* A step at `time`. Until a time is known there are none. */
static enum pt_step step(struct pt_walk *w, enum pt_step what, uint64_t time)
{
	w->cbr_reported = w->time.cbr;
	if (!w->started && !time) {
		w->untimed += what == STEP_WORD;
		return STEP_END;
	}
	if (!w->started || time > w->stamp)
		w->stamp = time;
	w->started = true;
	return what;
}

/* Tracing begins: like perf's clock, the clock is set to the trace's here, even backwards. */
static enum pt_step begin(struct pt_walk *w)
{
	w->enabled = true;
	w->stamp = w->time.now;
	return step(w, STEP_QUIET, w->time.now);
}

static enum pt_step fail(struct pt_walk *w, enum pt_step what)
{
	w->in_psb = w->wants_fup = false;
	if (w->started)
		w->stamp = w->time.now;
	return what;
}

static enum pt_step damage(struct pt_walk *w)
{
	w->synced = w->holds = w->time.crystal.known = false;
	w->block = 0;
	return fail(w, STEP_DAMAGE);
}

static enum pt_step overflow(struct pt_walk *w)
{
	w->holds = w->enabled = false;
	w->overflowed = true;
	return fail(w, STEP_OVERFLOW);
}

static void find_psb(struct pt_walk *w)
{
	const uint8_t *psb = packet_find_psb(w->p, w->end);

	w->p = psb ? psb + PSB_SIZE : w->end;
	w->synced = w->in_psb = w->first_psb = psb;
	w->ip = 0;
	w->enabled = w->after_cyc = false;
}

static enum pt_step fup(struct pt_walk *w, const struct packet *pkt)
{
	bool overflowed = w->overflowed;

	if (w->in_psb)
		w->enabled = true;
	if (w->in_psb || pkt->size == 1)
		return STEP_END;
	w->overflowed = false;
	if (w->holds) {
		w->holds = false;
		w->word = w->held;
		return step(w, STEP_WORD, w->time.now);
	}
	return overflowed && !w->enabled ? begin(w) : STEP_END;
}

/* What changes at the end of PSB+: its own time is that of its TSC, even if the trace was ahead of it. */
static enum pt_step psbend(struct pt_walk *w)
{
	if (!w->in_psb)
		return STEP_END;
	w->in_psb = false;
	return step(w, STEP_QUIET, w->time.tsc ? w->time.tsc : w->time.now);
}

/* A packet that cannot be in PSB+: the PSB+ was cut off. */
static bool psb_is_cut(struct pt_walk *w, const struct packet *pkt)
{
	if (!w->in_psb || !not_in_psb[pkt->kind] || (w->first_psb && pkt->kind == PKT_PSB))
		return false;
	w->in_psb = false;
	w->time.crystal.known = false;
	return true;
}

static enum pt_step quiet_if(struct pt_walk *w, bool condition)
{
	return condition ? step(w, STEP_QUIET, w->time.now) : STEP_END;
}

/*
 * Only the part of an ip is written that differs from the last one (SDM, "IP Compression"): the lower 2, 4 or 6 bytes,
 * 6 bytes with sign extension, or all 8. Returns whether the packet has one.
 */
static bool read_ip(struct pt_walk *w, const struct packet *pkt)
{
	const struct pt_ip_form *form = &pt_ip_forms[w->p[-(int)pkt->size] >> 5];
	uint64_t payload = pkt->payload;

	if (!~form->kept)
		return false;
	if (form == &pt_ip_forms[PT_IP_SIGNED])
		payload = (uint64_t)((int64_t)(payload << 16) >> 16);
	w->ip = (w->ip & form->kept) | (payload & ~form->kept);
	return true;
}

/* A step to the packet's ip, if those are wanted. `otherwise`: the step if not. */
static enum pt_step branch(struct pt_walk *w, const struct packet *pkt, enum pt_step otherwise)
{
	if (!w->tips || !read_ip(w, pkt) || otherwise == STEP_END)
		return otherwise;
	w->word = w->ip;
	return pkt->kind == PKT_TIP ? STEP_BRANCH : STEP_ENTER;
}

/* Without a ratio CYC packets have no time, and `from` would be too early. */
static void take_tsc(struct pt_walk *w, uint64_t payload, bool after_cyc)
{
	struct pt_time *t = &w->time;
	uint64_t from = t->now;

	pt_time_tsc(t, payload, after_cyc);
	if (w->breaks && from && t->now > from && (t->cbr || t->measured))
		w->breaks[w->nbreaks++ % PT_BREAKS] = (struct pt_break){ from, t->now, w->core };
}

/* STEP_END: goes on. */
static enum pt_step take(struct pt_walk *w, const struct packet *pkt, bool after_cyc)
{
	struct pt_time *t = &w->time;

	switch (pkt->kind) {
	case PKT_TSC:
		take_tsc(w, pkt->payload, after_cyc);
		return STEP_END;
	case PKT_TMA:
		pt_time_tma(t, pkt->payload);
		return STEP_END;
	case PKT_MTC:
		pt_time_mtc(t, pkt->payload, after_cyc, w->p, w->end);
		return STEP_END;
	case PKT_CBR:
		pt_time_cbr(t, pkt->payload);
		return quiet_if(w, !w->in_psb && t->cbr != w->cbr_reported);
	case PKT_PSB:
		w->ip = 0;
		w->first_psb &= w->in_psb;
		w->in_psb = true;
		return STEP_END;
	case PKT_PSBEND:
		return psbend(w);
	case PKT_OVF:
		return overflow(w);
	case PKT_FUP:
		read_ip(w, pkt);
		return fup(w, pkt);
	case PKT_PTW_IP:
		w->held = pkt->payload;
		w->wants_fup = true;
		return STEP_END;
	case PKT_TIP_PGE:
		w->overflowed = false;
		w->enabled = true;
		return branch(w, pkt, pkt->size > 1 ? begin(w) : STEP_END);
	case PKT_STOP:
		w->enabled = t->crystal.known = false;
		return STEP_END;
	case PKT_TIP_PGD:
		w->enabled = false;
		read_ip(w, pkt);
		return quiet_if(w, w->branches);
	case PKT_TIP:
		return branch(w, pkt, quiet_if(w, w->branches));
	case PKT_TNT:
		return quiet_if(w, w->branches && packet_takes_branch(pkt));
	default:
		return STEP_END;
	}
}

/* Neither CYC nor PAD. */
static enum pt_step take_any(struct pt_walk *w, const struct packet *pkt, bool after_cyc)
{
	bool first = w->first_psb;

	if (w->wants_fup) {
		w->wants_fup = false;
		w->holds |= pkt->kind == PKT_FUP;
	}
	if (psb_is_cut(w, pkt) && first)
		return fail(w, STEP_DAMAGE);
	if (pkt->kind != PKT_PTW)
		return take(w, pkt, after_cyc);
	w->word = pkt->payload;
	return step(w, STEP_WORD, w->time.now);
}

static __attribute__((noinline)) enum pt_step next_step(struct pt_walk *w)
{
	enum pt_step what = STEP_END;
	struct packet pkt;
	int size;

	while (what == STEP_END && w->p < w->end) {
		bool after_cyc = w->after_cyc;

		if (!w->synced) {
			find_psb(w);
			continue;
		}
		size = packet_read(w->p, w->end, &w->block, &pkt);
		if (size < 0) {
			w->p = size == -ENODATA ? w->end : w->p + 1;
			return damage(w);
		}
		w->p += size;
		if (pkt.kind == PKT_PAD)
			continue;
		w->after_cyc = pkt.kind == PKT_CYC;
		if (pkt.kind == PKT_CYC) {
			w->wants_fup = false;
			w->core += w->enabled || !w->branches ? pkt.payload : 0;
			pt_time_cyc(&w->time, pkt.payload);
		} else {
			what = take_any(w, &pkt, after_cyc);
		}
	}
	return what;
}

/* --- the most common packets, where nothing before changes their meaning ------------------------------------- */

/* Until the next other packet: only those change what is tested here. */
static bool is_plain(const struct pt_walk *w)
{
	return w->synced && w->started && !w->block && !w->in_psb && !w->wants_fup && w->cbr_reported == w->time.cbr;
}

/* An ip packet at w->p. */
static inline void take_ip(struct pt_walk *w, unsigned kind, struct packet *pkt)
{
	*pkt = (struct packet){ kind, pt_ip_forms[*w->p >> 5].size, 0 };
	memcpy(&pkt->payload, w->p + 1, sizeof(pkt->payload));
	if (pkt->size == 7) /* as in packet_read(): what is behind the packet does not belong to it */
		pkt->payload &= ~0ull >> 16;
	w->p += pkt->size;
}

/* 02: a PTW or a long TNT; OTHER: neither. */
static inline int take_long(struct pt_walk *w, const uint8_t *p)
{
	uint64_t bits;

	if (p[1] == 0x32) {
		memcpy(&w->word, p + 2, sizeof(w->word));
		w->p += 10;
		return STEP_WORD;
	}
	memcpy(&bits, p, sizeof(bits));
	if (p[1] != 0xa3 || !(bits >> 16))
		return -1;
	w->p += 8;
	bits >>= 16;
	return w->branches && (bits & (bits - 1)) ? STEP_QUIET : STEP_END;
}

/* PADs come in long runs at the end of a buffer. */
static inline unsigned pads(const uint8_t *p)
{
	uint64_t bytes;

	memcpy(&bytes, p, sizeof(bytes));
	return bytes ? 1 : sizeof(bytes);
}

/* A step, or STEP_END before a packet that is not for this function. */
static enum pt_step run(struct pt_walk *w)
{
	struct packet pkt;
	int what;

	while (w->end - w->p >= 2 * PACKET_SIZE_MAX) {
		const uint8_t *p = w->p;

		switch ((enum pt_common)pt_commons[*p]) {
		case COMMON_PAD:
			w->p += pads(p);
			continue;
		case COMMON_CYC:
		case COMMON_CYC_LONG:
			what = packet_read_cyc(p, &pkt);
			if (what < 0)
				return STEP_END;
			w->p += what;
			w->after_cyc = true;
			w->core += w->enabled || !w->branches ? pkt.payload : 0;
			pt_time_cyc(&w->time, pkt.payload);
			continue;
		case COMMON_TNT:
		case COMMON_TNT_NONE:
			w->p++;
			what = w->branches && pt_commons[*p] == COMMON_TNT ? STEP_QUIET : STEP_END;
			break;
		case COMMON_LONG:
			what = take_long(w, p);
			if (what < 0)
				return STEP_END;
			break;
		case COMMON_TIP_2:
		case COMMON_TIP:
			take_ip(w, PKT_TIP, &pkt);
			what = branch(w, &pkt, w->branches ? STEP_QUIET : STEP_END);
			break;
		case COMMON_PGE:
			w->overflowed = false;
			w->enabled = true;
			take_ip(w, PKT_TIP_PGE, &pkt);
			if (pkt.size > 1)
				w->stamp = w->time.now;
			what = branch(w, &pkt, pkt.size > 1 ? STEP_QUIET : STEP_END);
			break;
		case COMMON_PGD:
			w->enabled = false;
			take_ip(w, PKT_TIP_PGD, &pkt);
			read_ip(w, &pkt);
			what = w->branches ? STEP_QUIET : STEP_END;
			break;
		default:
			return STEP_END;
		}
		w->after_cyc = false;
		if (what == STEP_END)
			continue;
		if (w->time.now > w->stamp)
			w->stamp = w->time.now;
		if (what != STEP_QUIET || w->stamp >= w->quiet_until)
			return what;
		w->passed.stamp = w->stamp;
		w->passed.core = w->core;
	}
	return STEP_END;
}

enum pt_step pt_walk_next(struct pt_walk *w)
{
	enum pt_step what;

	if (w->plain && w->rows && pt_scan(w))
		return STEP_ROWS;
	if (w->plain && w->words && pt_words(w))
		return STEP_WORDS;
	what = w->plain ? run(w) : STEP_END;
	if (what != STEP_END)
		return what;
	what = next_step(w);
	w->plain = is_plain(w);
	return what;
}
