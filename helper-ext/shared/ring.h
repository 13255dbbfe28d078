/* SPDX-License-Identifier: MIT */
/*
 * ring.h - how the traced process passes markers to ocular-record (software emitter).
 *
 * Each thread writes into a ring of its own: one producer (the thread), one consumer (the recorder), in a memfd that
 * the producer makes, seals and passes over the recorder's socket. Because it is shared memory, what was written
 * survives the death of the producer, however it dies. The ring of an ended thread is passed to the next new thread: a
 * RING_THREAD record says whose markers follow. The recorder numbers the words (marker.h: seq) as it takes them: a ring
 * loses none, and its thread reports what it drops by LOST.
 *
 * The producer keeps the address of its next record in its own memory, so it need not compute one (4 instructions an
 * event fewer than with a count). Readers use the count, the head: ring_head().
 *
 * In flight mode (ring_config.flight) nobody reads until something happens: the ring overwrites itself, the head may be
 * any distance ahead of `tail`, and the recorder copies the newest records while they are being written. It reads the
 * head before and after the copy and discards what the producer may have overwritten meanwhile, so neither ever waits
 * for the other.
 *
 * The socket is a SOCK_SEQPACKET at DIR/.ocular.sock (mode 0600 in a 0700 folder). A client connects, sends one
 * message, reads one answer (struct ring_config) and closes: no descriptor stays open in the traced process. The kernel
 * guarantees the sender's pid (SO_PEERCRED).
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_MAGIC	 0x474e4952u /* "RING" */
#define RING_VERSION	 5u
#define RING_SOCKET	 ".ocular.sock"
#define RING_HEADER	 4096u /* bytes before the first record: one page */
#define RING_RECORDS_MIN 256u
#define RING_UNPUBLISHED 2u /* records that a thread writes before it moves the head, at most (lane_put_pair()) */
#define RING_RECORDS_MAX (1u << 24)
#define RING_TRIES \
	1000u /* of ring_head(): a lap takes longer than one; they run out only if the memory is not a producer's */
/*
 * With a coarse clock (ring_config.coarse) one record of so many has a time for sure: a power of two, and a page has
 * room for them. Reading the time takes up to 21 ns on a Xeon, so a marker's part is 1.3 ns; with 4, 8 and 64 an EPYC
 * showed no difference (docs/benchmarks.md).
 */
#define RING_COARSE  16u
#define RING_NO_TIME 0u /* instead of one, in the others */

_Static_assert(RING_HEADER % (RING_COARSE * 16) == 0 && RING_RECORDS_MIN % (2 * RING_COARSE) == 0,
	       "a record's place in the ring says whether it has a time");

struct ring_record {
	uint64_t tsc;  /* RDTSC at emission; RING_NO_TIME: not read */
	uint64_t word; /* marker.h, its seq 0; for RING_THREAD: op 31, the previous tid (bits 53..32), the tid */
};

enum ring_closed {
	RING_OPEN,
	RING_ENDED,  /* what comes now is no part of the recording */
	RING_FAILED, /* the file cannot be written: what is dropped from here on is counted in `lost` as before */
};

struct ring {
	/* Written once by the producer, before the ring is announced. */
	uint32_t magic;
	uint32_t version;
	uint32_t nrecords;  /* a power of two */
	uint32_t populated; /* how many have memory; the producer's field, and it grows (ext/rings.h) */
	uint64_t first;	    /* address of the first record in the producer's memory */

	/* The producer's line. */
	_Alignas(
		64) _Atomic uint64_t at; /* where the next record goes, or the ring's end: a release store after each */
	_Atomic uint64_t laps;		 /* twice the number of times `at` went back to `first`; odd while it does */
	_Atomic uint64_t lost;		 /* words dropped and not yet reported by a LOST word in the ring */
	_Atomic uint32_t finished;	 /* 1: the producer will write no more */
	_Atomic uint32_t tid;		 /* whose records the newest are */
	_Atomic uint64_t hello;		 /* where the last HELLO is, and its interpreter: ring_hello() */

	/* The recorder's line: records ever read. Release store after reading. */
	_Alignas(64) _Atomic uint64_t tail;
	_Atomic uint32_t closed; /* enum ring_closed; not 0: the recorder will read no more; do not wait for it */
};

static inline struct ring_record *ring_records(struct ring *r)
{
	return (struct ring_record *)((char *)r + RING_HEADER);
}

/* Before the ring is announced: `r` is the producer's own mapping of it. */
static inline void ring_init(struct ring *r, uint32_t nrecords)
{
	r->magic = RING_MAGIC;
	r->version = RING_VERSION;
	r->nrecords = nrecords;
	r->populated = 0;
	r->first = (uintptr_t)ring_records(r);
	atomic_init(&r->at, r->first);
	atomic_init(&r->laps, 0);
}

/* For the producer, at the ring's end: the next record is the first again. */
static inline void ring_wrap(struct ring *r)
{
	uint64_t laps = atomic_load_explicit(&r->laps, memory_order_relaxed);

	atomic_store_explicit(&r->laps, laps + 1, memory_order_release);
	atomic_store_explicit(&r->at, r->first, memory_order_release);
	atomic_store_explicit(&r->laps, laps + 2, memory_order_release);
}

/*
 * Records ever written, for any reader; any number if the ring is damaged. `first` and `nrecords` as they were when the
 * ring was announced. If a producer died on its way back to `first`, its lap has ended.
 */
static inline uint64_t ring_head(const struct ring *r, uint64_t first, uint32_t nrecords)
{
	uint64_t laps, at;
	unsigned int tries = 0;

	do {
		laps = atomic_load_explicit(&r->laps, memory_order_acquire);
		at = atomic_load_explicit(&r->at, memory_order_acquire);
	} while (atomic_load_explicit(&r->laps, memory_order_relaxed) != laps && ++tries < RING_TRIES);
	if (laps % 2)
		return (laps / 2 + 1) * nrecords;
	return laps / 2 * nrecords + (at - first) / sizeof(struct ring_record);
}

/* A place in the ring and an interpreter in one word, so that they always belong to the same HELLO. */
static inline uint64_t ring_hello(uint64_t head, uint64_t interpreter)
{
	return head << 20 | (interpreter & 0xfffff);
}

/*
 * Do records at this address have a time whatever they are? Of its position in the ring the same can be said: the first
 * record is at the beginning of a page.
 */
static inline bool ring_is_timed(uint64_t address)
{
	return !(address & (RING_COARSE * sizeof(struct ring_record) - 1));
}

static inline size_t ring_size(uint32_t nrecords)
{
	return RING_HEADER + (size_t)nrecords * sizeof(struct ring_record);
}

enum ring_request {
	RING_ASK = 1,	   /* a process starts tracing: the answer has the configuration */
	RING_ADD = 2,	   /* a new ring; its memfd comes along (SCM_RIGHTS) */
	RING_FINISH = 3,   /* end the recording now; the answer comes when perf.data is complete */
	RING_SNAPSHOT = 4, /* flight mode: take a snapshot now. There is no answer */
	RING_MEET = 5,	   /* a thread takes over a ring of another one, if ring_config.meet */
};

struct ring_message {
	uint32_t magic;	  /* RING_MAGIC */
	uint32_t version; /* RING_VERSION */
	uint32_t request; /* enum ring_request */
	uint32_t tid;	  /* RING_ADD: the first thread to write into it; RING_MEET, RING_SNAPSHOT: the sender's */
	uint64_t tsc;	  /* RING_SNAPSHOT: when */
};

/* After the message of RING_SNAPSHOT: members of a JSON object, without braces and newlines. */
#define RING_TEXT_MAX 16384u

/*
 * A duty cycle: processes trace themselves in windows only, all in the same ones. Window n, from 1, is [start + (n - 1)
 * * period, + window) of CLOCK_MONOTONIC. period 0: there is no duty cycle.
 */
struct ring_duty {
	uint64_t start_ns, window_ns, period_ns;
};

struct ring_config {
	uint32_t magic;
	uint32_t version;
	int32_t error;	       /* 0 or a negative errno */
	uint32_t nrecords;     /* size of rings to make, a power of two */
	uint32_t wait_ms;      /* how long a thread may wait for room before it drops and counts */
	uint32_t recorder_pid; /* to notice that the recorder is gone */
	uint64_t tsc_hz;       /* the recorder's calibration at its start */
	uint32_t flight;       /* 1: overwrite, do not wait */
	uint32_t meet;	       /* 1: the recorder wants to see every thread before it writes */
	uint32_t coarse;       /* RING_COARSE: that often the time is read at least; 0: for each record */
	struct ring_duty duty;
};
