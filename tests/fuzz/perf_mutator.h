/* SPDX-License-Identifier: MIT */
/*
 * perf_mutator.h - changes to a perf.data that leave most of it readable: a field of its header, its event or a record
 * takes another value; a record is dropped, told twice, or told elsewhere; its packets get others among them.
 *
 * Bytes that change at random end most readers at the first record. A fuzzer of perf.data includes this once: it is
 * libFuzzer's hook for changes (https://llvm.org/docs/LibFuzzer.html).
 */
#pragma once

#include "mutator.h"
#include "pt/perf_layout.h"

/* Where records begin, by the header's word and their own. */
static void find_records(struct mutated *m)
{
	const struct perf_header *h = (const void *)m->bytes;
	size_t at = h->data.offset < m->size ? h->data.offset : m->size;
	struct perf_auxtrace rec = { 0 };

	m->nrecords = 0;
	while (m->nrecords < RECORDS_MAX && m->size - at >= sizeof(rec.header)) {
		size_t size, left = m->size - at;

		memcpy(&rec, m->bytes + at, left < sizeof(rec) ? left : sizeof(rec));
		size = rec.header.size;
		if (rec.header.type == PERF_AUXTRACE && rec.size < left)
			size += rec.size;
		if (size < sizeof(rec.header) || size > left)
			break;
		m->records[m->nrecords++] = at;
		at += size;
	}
	m->records[m->nrecords] = at;
}

static void change_header(struct mutated *m)
{
	mutator_change_field(m, offsetof(struct perf_header, attr_size), sizeof(struct perf_header));
}

static void change_attr(struct mutated *m)
{
	const struct perf_header *h = (const void *)m->bytes;

	if (h->attrs.offset < m->size && h->attrs.size <= m->size - h->attrs.offset)
		mutator_change_field(m, h->attrs.offset, h->attrs.offset + h->attrs.size);
}

static void move_record(struct mutated *m, unsigned i)
{
	size_t before = m->size;

	mutator_repeat(m, i);
	if (m->size == before)
		return;
	find_records(m);
	if (m->nrecords)
		mutator_drop(m, mutator_draw(m, m->nrecords));
}

static void change_type(struct mutated *m, unsigned i)
{
	static const uint32_t types[] = {
		PERF_MMAP,
		PERF_LOST,
		PERF_COMM,
		PERF_EXIT,
		PERF_FORK,
		PERF_SAMPLE,
		PERF_MMAP2,
		PERF_AUX,
		PERF_ITRACE_START,
		PERF_SWITCH,
		PERF_SWITCH_CPU_WIDE,
		PERF_FINISHED_ROUND,
		PERF_ID_INDEX,
		PERF_AUXTRACE_INFO,
		PERF_AUXTRACE,
		PERF_COMPRESSED,
		PERF_COMPRESSED2,
	};

	memcpy(m->bytes + m->records[i], &types[mutator_draw(m, sizeof(types) / sizeof(types[0]))], sizeof(types[0]));
}

static void change_size(struct mutated *m, unsigned i)
{
	size_t at = m->records[i] + offsetof(struct perf_record, size);
	uint16_t size;

	memcpy(&size, m->bytes + at, sizeof(size));
	size = mutator_value(m, size);
	memcpy(m->bytes + at, &size, sizeof(size));
}

static void change_misc(struct mutated *m, unsigned i)
{
	m->bytes[m->records[i] + offsetof(struct perf_record, misc) + mutator_draw(m, 2)] ^= 1u << mutator_draw(m, 8);
}

static void change_body(struct mutated *m, unsigned i)
{
	uint16_t size;

	memcpy(&size, m->bytes + m->records[i] + offsetof(struct perf_record, size), sizeof(size));
	mutator_change_field(m, m->records[i] + sizeof(struct perf_record), m->records[i] + size);
}

/* Packets of a trace, after Intel's SDM, volume 3, "Trace Packets and Data Types". */
static const struct {
	uint8_t size, bytes[16];
} packets[] = {
	{ 16, { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 } }, /* PSB */
	{ 2, { 2, 0x23 } },								    /* PSBEND */
	{ 2, { 2, 0xf3 } },								    /* OVF */
	{ 2, { 2, 0x83 } },								    /* TraceStop */
	{ 8, { 0x19, 1 } },								    /* TSC */
	{ 7, { 2, 0x73 } },								    /* TMA */
	{ 2, { 0x59, 200 } },								    /* MTC */
	{ 4, { 2, 3, 9 } },								    /* CBR */
	{ 10, { 2, 0x32 } },								    /* PTW, of 8 bytes */
	{ 6, { 2, 0x12 } },								    /* PTW, of 4 */
	{ 1, { 0x23 } },								    /* CYC */
	{ 3, { 0xff, 0xff, 0x7e } },							    /* a long CYC */
	{ 7, { 0x7d } },								    /* FUP */
	{ 7, { 0x71 } },								    /* TIP.PGE */
	{ 3, { 0x2d } },								    /* TIP, of 2 bytes */
	{ 1, { 1 } },									    /* TIP.PGD, suppressed */
	{ 2, { 0x99, 1 } },								    /* MODE.Exec */
	{ 8, { 2, 0x43 } },								    /* PIP */
	{ 8, { 2, 0xa3 } },								    /* long TNT */
	{ 11, { 2, 0xc3, 0x88 } },							    /* MNT */
	{ 7, { 2, 0xc8 } },								    /* VMCS */
};

/* One more packet inside a trace; what is behind it stays eight bytes from where it was, or the trace loses its end. */
static void add_packet(struct mutated *m, unsigned i)
{
	size_t begin = m->records[i] + sizeof(struct perf_auxtrace), n = m->records[i + 1] - begin;
	unsigned which = mutator_draw(m, sizeof(packets) / sizeof(packets[0]));
	size_t at, size = packets[which].size;

	if (m->records[i + 1] <= begin + size)
		return change_body(m, i);
	at = begin + mutator_draw(m, n - size);
	if (mutator_draw(m, 4))
		memmove(m->bytes + at + size, m->bytes + at, begin + n - at - size);
	memcpy(m->bytes + at, packets[which].bytes, size);
}

static void change_record(struct mutated *m)
{
	static void (*const ways[])(struct mutated * m, unsigned i) = { mutator_drop, mutator_repeat, move_record,
									change_type,  change_size,    change_misc,
									change_body,  change_body,    change_body,
									add_packet,   add_packet };

	struct perf_header *h = (void *)m->bytes;
	size_t before = m->size;

	find_records(m);
	if (m->nrecords)
		ways[mutator_draw(m, sizeof(ways) / sizeof(ways[0]))](m, mutator_draw(m, m->nrecords));
	if (h->data.size)
		h->data.size += m->size - before;
}

/* Ends anywhere, most often inside the last records. */
static void cut_file(struct mutated *m)
{
	m->size -= mutator_draw(m, mutator_draw(m, 4) ? 100 : m->size - sizeof(struct perf_header));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct mutated m = { .bytes = data, .size = size, .max = max_size, .state = seed };

	if (size < sizeof(struct perf_header) + 128 || !mutator_draw(&m, 5))
		return LLVMFuzzerMutate(data, size, max_size);
	for (unsigned n = 1 + mutator_draw(&m, 4); n && m.size >= sizeof(struct perf_header) + 128; n--) {
		unsigned what = mutator_draw(&m, 16);

		if (what < 3)
			change_header(&m);
		else if (what < 5)
			change_attr(&m);
		else if (what == 5)
			cut_file(&m);
		else
			change_record(&m);
	}
	return m.size;
}
