/* SPDX-License-Identifier: MIT */
/*
 * ring.h - how the traced process hands markers to ocular-record (software emitter).
 *
 * Each thread writes into a ring of its own: one producer (the thread), one consumer (the recorder),
 * in a memfd that the producer makes, seals and passes over the recorder's socket. Being shared
 * memory, what was written survives any death of the producer. A ring of a thread that ended is
 * handed to the next new thread: a RING_THREAD record says whose markers follow.
 *
 * The socket is a SOCK_SEQPACKET at DIR/.ocular.sock (mode 0600 in a 0700 folder). A client connects,
 * sends one message, reads one answer (struct ring_config) and closes: no descriptor stays open in
 * the traced process. The kernel vouches for the sender's pid (SO_PEERCRED).
 */
#ifndef OCULAR_RING_H
#define OCULAR_RING_H

#include <stdatomic.h>
#include <stdint.h>

#define RING_MAGIC	0x474e4952u /* "RING" */
#define RING_VERSION	1u
#define RING_SOCKET	".ocular.sock"
#define RING_HEADER	4096u /* bytes before the first record: one page */
#define RING_RECORDS_MIN 256u
#define RING_RECORDS_MAX (1u << 24)

struct ring_record {
	uint64_t tsc;  /* RDTSC at emission, or unused for RING_THREAD */
	uint64_t word; /* marker.h; for RING_THREAD: op 31 and, below it, the thread's tid */
};

struct ring {
	/* Written once by the producer, before the ring is announced. */
	uint32_t magic;
	uint32_t version;
	uint32_t nrecords; /* a power of two */
	uint32_t reserved;

	/* The producer's line: records ever written. Release store after the record. */
	_Alignas(64) _Atomic uint64_t head;
	_Atomic uint64_t lost;	   /* words dropped and not yet told by a LOST word in the ring */
	_Atomic uint32_t finished; /* 1: the producer will write no more */

	/* The recorder's line: records ever read. Release store after reading. */
	_Alignas(64) _Atomic uint64_t tail;
	_Atomic uint32_t closed; /* 1: the recorder will read no more; do not wait for it */
};

static inline struct ring_record *ring_records(struct ring *r)
{
	return (struct ring_record *)((char *)r + RING_HEADER);
}

static inline size_t ring_size(uint32_t nrecords)
{
	return RING_HEADER + (size_t)nrecords * sizeof(struct ring_record);
}

enum ring_request {
	RING_ASK = 1,	 /* a process starts tracing: the answer tells it how */
	RING_ADD = 2,	 /* a new ring; its memfd comes along (SCM_RIGHTS) */
	RING_FINISH = 3, /* end the recording now; the answer comes when perf.data is complete */
};

struct ring_message {
	uint32_t magic;	  /* RING_MAGIC */
	uint32_t version; /* RING_VERSION */
	uint32_t request; /* enum ring_request */
	uint32_t tid;	  /* RING_ADD: the first thread to write into it */
};

struct ring_config {
	uint32_t magic;
	uint32_t version;
	int32_t error;	      /* 0 or a negative errno */
	uint32_t nrecords;    /* size of rings to make, a power of two */
	uint32_t wait_ms;     /* how long a thread may wait for room before it drops and counts */
	uint32_t recorder_pid; /* to notice that the recorder is gone */
	uint64_t tsc_hz;      /* the recorder's calibration at its start */
};

#endif
