/* SPDX-License-Identifier: MIT */
/* stream_read.h - what is in a stream's chunk, as libipt reads it, for tests. */
#pragma once

#include <intel-pt.h>

#include "record/stream.h"

/* Decodes what is in the chunk now: the TSC of each PTW, by PSB+'s TSC and the cycles since. */
static inline size_t stream_read(const struct stream *s, uint64_t *tsc, uint64_t *word, size_t max)
{
	struct pt_config config;
	struct pt_packet_decoder *dec;
	struct pt_packet p;
	uint64_t clock = 0;
	size_t n = 0;

	pt_config_init(&config);
	config.begin = (uint8_t *)s->chunk;
	config.end = (uint8_t *)s->chunk + s->used;
	dec = pt_pkt_alloc_decoder(&config);
	assert_int_equal(pt_pkt_sync_forward(dec), 0);
	while (pt_pkt_next(dec, &p, sizeof(p)) > 0) {
		if (p.type == ppt_tsc)
			clock = p.payload.tsc.tsc;
		else if (p.type == ppt_cyc)
			clock += p.payload.cyc.value;
		else if (p.type == ppt_ptw && n < max)
			tsc[n] = clock, word[n++] = p.payload.ptw.payload;
	}
	pt_pkt_free_decoder(dec);
	return n;
}
