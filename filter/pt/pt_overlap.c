// SPDX-License-Identifier: MIT
/*
 * The last PSB+ read so far has a TSC. If a PSB+ of the new bytes has the same one and as many bytes behind it, they
 * are the same place, and what follows continues. All older new bytes are repetition.
 */
#include "pt_overlap.h"

#include "pt_packet.h"

#define TSC_HALF    (1ull << 55)
#define PADDING_MAX 7 /* recordings are padded to 8 bytes */

static const uint8_t *last_psb(struct pt_span s)
{
	const uint8_t *found = NULL;

	for (const uint8_t *p = s.p; (p = packet_find_psb(p, s.end)); p++)
		found = p;
	return found;
}

/* The TSC of the PSB+ at s.p; *left: bytes from there to the end. */
static bool tsc_of_psb(struct pt_span s, uint64_t *tsc, size_t *left)
{
	packet_block block = 0;
	struct packet pkt;

	for (; s.p < s.end && packet_read(s.p, s.end, &block, &pkt) > 0; s.p += pkt.size) {
		if (pkt.kind == PKT_PSBEND)
			return false;
		if (pkt.kind != PKT_TSC)
			continue;
		*tsc = pkt.payload;
		*left = s.end - s.p;
		return true;
	}
	return false;
}

/* `before` may end with padding that is not in `next`: go back over what is equal. */
static const uint8_t *unpad(const uint8_t *next, struct pt_span before)
{
	const uint8_t *p = next - PADDING_MAX, *q = before.end - PADDING_MAX;

	while (p < next && *p == *q)
		p++, q++;
	return p;
}

/* TSCs have 56 bits here: the difference, in either direction, is less than half the range. */
static bool is_before(uint64_t a, uint64_t b)
{
	return a != b && ((b - a) & (2 * TSC_HALF - 1)) < TSC_HALF;
}

/* The TSC of the last PSB+. If that was cut off, it is removed from s. */
static bool last_tsc(struct pt_span *s, uint64_t *tsc, size_t *left)
{
	for (int tries = 0; tries < 2; tries++) {
		const uint8_t *psb = last_psb(*s);

		if (!psb)
			return false;
		if (tsc_of_psb((struct pt_span){ psb, s->end }, tsc, left))
			return true;
		s->end = psb;
	}
	return false;
}

const uint8_t *pt_overlap(struct pt_span before, struct pt_span next, bool *continues)
{
	uint64_t tsc, next_tsc;
	size_t left, next_left;

	*continues = false;
	next.p = packet_find_psb(next.p, next.end);
	if (!next.p)
		return next.end;
	if (!last_tsc(&before, &tsc, &left))
		return next.p;
	for (const uint8_t *p = next.p; p; p = packet_find_psb(p + 1, next.end)) {
		if (!tsc_of_psb((struct pt_span){ p, next.end }, &next_tsc, &next_left))
			continue;
		if (tsc == next_tsc && next_left >= left) {
			*continues = true;
			return unpad(next.end - (next_left - left), before);
		}
		if (is_before(tsc, next_tsc))
			return p;
	}
	return next.end;
}
