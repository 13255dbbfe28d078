// SPDX-License-Identifier: MIT
/*
 * floor PERF.DATA: what reading a recording by software costs at least, on one core: ns a marker of its bytes' sum, of
 * a walk through its packets, and of that with a stack, self and total times and a histogram of each code object.
 *
 * It checks nothing: no sequence, no losses, no order of threads, which share one stack here. Prints the number of
 * markers, which must be the recording's, and the three figures.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "shared/marker.h"

#define CODES 1024 /* ids modulo this */
#define DEPTH 4096

static struct total {
	uint64_t calls, self, total, histogram[64];
} totals[CODES];

static struct frame {
	struct total *of;
	uint64_t start, callees;
} stack[DEPTH];

struct bytes {
	const uint8_t *p, *end;
	uint64_t sum, markers, cycles;
	unsigned depth;
	uint32_t number; /* of the next word; 0: none */
	uint64_t numbered[MARKER_NUMBER_MAX + 1];
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void sum(struct bytes *b)
{
	uint64_t word;

	for (const uint8_t *p = b->p; p < b->end; p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		b->sum += word;
	}
}

static inline void keep(struct bytes *b, uint64_t word)
{
	b->sum += word;
}

static inline void act(struct bytes *b, uint64_t word)
{
	enum marker_op op = marker_op(word);
	struct frame *f = &stack[b->depth - 1];
	uint64_t took;

	if (op == OP_PY_START && b->depth < DEPTH) {
		stack[b->depth++] = (struct frame){ &totals[marker_code(word) % CODES], b->cycles, 0 };
	} else if (op == OP_PY_RETURN && b->depth) {
		took = b->cycles - f->start;
		f->of->calls++;
		f->of->total += took;
		f->of->self += took - f->callees;
		f->of->histogram[63 - __builtin_clzll(took | 1)]++;
		if (--b->depth)
			f[-1].callees += took;
	}
}

/* A word by its number, if it is short; one whose number was told is kept. */
static inline uint64_t whole(struct bytes *b, uint64_t word)
{
	if (!(word >> 32))
		return b->numbered[marker_number(word)];
	if (b->number)
		b->numbered[b->number] = word;
	b->number = marker_is_extension(word) && marker_kind(word) == KIND_NUMBER ? marker_number(word) : 0;
	return word;
}

/* CYC of one or two bytes, PTW; any other byte is passed over. */
static inline __attribute__((always_inline)) void walk(struct bytes *b, void (*take)(struct bytes *b, uint64_t word))
{
	for (const uint8_t *p = b->p; p < b->end;) {
		unsigned size = (p[0] & 7) == 3 ? 1 : (p[0] & 7) == 7 && !(p[1] & 1) ? 2 : 0;
		uint64_t word;

		bool is_short = p[size + 1] == 0x12;

		if (p[size] != 0x02 || (!is_short && p[size + 1] != 0x32)) {
			p++;
			continue;
		}
		b->cycles += size ? p[0] >> 3 | (size == 2 ? (uint64_t)(p[1] >> 1) << 5 : 0) : 0;
		memcpy(&word, p + size + 2, sizeof(word));
		b->markers++;
		take(b, whole(b, is_short ? (uint32_t)word : word));
		p += size + (is_short ? 6 : 10);
	}
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	static struct bytes b;
	struct stat st;
	double at[4];

	if (fd < 0 || fstat(fd, &st) || st.st_size < 64)
		return 1;
	b.p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (b.p == MAP_FAILED)
		return 1;
	b.end = b.p + st.st_size - 32;
	at[0] = now();
	sum(&b);
	at[1] = now();
	walk(&b, keep);
	at[2] = now();
	walk(&b, act);
	at[3] = now();
	b.markers /= 2;
	printf("%" PRIu64 " %.2f %.2f %.2f %" PRIu64 "\n", b.markers, (at[1] - at[0]) / b.markers,
	       (at[2] - at[1]) / b.markers, (at[3] - at[2]) / b.markers, b.sum + totals[1].self);
	return 0;
}
