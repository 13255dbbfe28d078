/* SPDX-License-Identifier: MIT */
/* stream.c - writes chunks of packets as AUXTRACE records. */
#include "stream.h"

void stream_open(struct stream *s, struct trace_out *out, uint32_t pid, uint32_t tid, const char *comm)
{
	s->out = out;
	s->idx = out->streams++;
	s->pid = pid;
	s->tid = tid;
	s->clock = s->words = s->written = s->reference = s->cpu = 0;
	s->markers = s->added = s->used = 0;
	s->wide = false;
	perfdata_comm(&out->file, pid, tid, comm);
}

static void add(struct stream *s, uint64_t tsc, uint64_t word)
{
	stream_append(s, tsc, word);
	s->added++;
}

/* An event word, or a C_CALL, for which no number stands. */
static __attribute__((noinline)) void append_event(struct stream *s, uint64_t tsc, uint64_t word)
{
	uint32_t number = s->wide ? 0 : numbers_meet(&s->numbers, numbers_slot(&s->numbers, word), word);

	s->wide = false;
	if (number)
		add(s, tsc, numbers_definition(&word, number));
	stream_append(s, tsc, word);
}

void stream_append_other(struct stream *s, uint64_t tsc, uint64_t word)
{
	if (marker_is_event(word) || marker_is_c_call(word)) {
		append_event(s, tsc, word);
		return;
	}
	if (marker_op(word) == OP_WIDE)
		s->wide = true;
	stream_append(s, tsc, word);
}

void stream_begin(struct stream *s, uint64_t tsc)
{
	uint64_t cycles;
	int size;

	if (!s->clock)
		s->clock = tsc;
	cycles = stream_advance(s, tsc);
	s->reference = s->clock ? s->clock : 1;
	size = ptframe_psb(s->chunk, s->clock, cycles);
	if (size < 0)
		s->out->file.error = size;
	else
		s->used = size;
	s->numbers.chunk++;
	if (s->cpu)
		add(s, tsc, s->cpu);
}

/* PAD is a packet of one zero byte: this keeps packets complete and records at multiples of 8. */
static void pad(struct stream *s)
{
	while (s->used % 8)
		s->chunk[s->used++] = 0;
}

void stream_flush(struct stream *s)
{
	struct aux_chunk chunk = {
		.idx = s->idx,
		.tid = s->tid,
		.offset = s->written,
		.reference = s->reference,
		.bytes = s->chunk,
	};

	if (!s->used)
		return;
	pad(s);
	chunk.size = s->used;
	if (perfdata_aux(&s->out->file, &chunk) == 0) {
		s->written += chunk.size;
		s->out->markers += s->markers;
		s->out->added += s->added;
	} else {
		s->out->discarded += s->markers;
		s->out->discarded_added += s->added;
	}
	s->markers = s->added = s->used = 0;
}

void stream_added(struct stream *s, uint64_t tsc, uint64_t word)
{
	if (!stream_room(s))
		stream_flush(s);
	if (!s->used)
		stream_begin(s, tsc);
	add(s, tsc, word);
}

void stream_cpu(struct stream *s, uint64_t tsc, uint64_t word)
{
	stream_added(s, tsc, word);
	s->cpu = word & ~MARKER_CPU_LOST;
}

void stream_lost(struct stream *s, uint64_t tsc, uint64_t count)
{
	if (s->out->file.error) { /* that is why they were dropped */
		s->out->discarded += count;
		return;
	}
	if (!stream_room(s))
		stream_flush(s);
	stream_put(s, tsc, marker_lost(0, count));
	s->words += count;
	s->out->lost += count;
}
