/* SPDX-License-Identifier: MIT */
/*
 * emit_offset.c - the callbacks of the first interpreter's events that tell an instruction's offset, into rings.
 *
 * They do what emit_path.h says. But the order of their instructions is written down here, and some of the
 * registers: no move is left over, 30 instructions instead of 33, 0.1 to 0.4 ns less an event
 * (docs/benchmarks.md). A compiler that does it otherwise makes them slower, not wrong.
 */
#include "emit_path.h"

/* As few cache lines of code as can be. */
#define PATH __attribute__((aligned(64)))

/* What is listed has been computed here, and what uses it comes later. */
#define PIN(...) __asm__ volatile("" : __VA_ARGS__)

/*
 * The place in a word, of a number as in emit_path.h: 32 bits, enough for what a ready id allows. To multiply as
 * it is loaded is one instruction less than to shift.
 */
#define PLACE(place, n)                                                                            \
	__asm__ volatile("imull %2, %1, %k0"                                                       \
			 : "=a"(place)                                                             \
			 : "m"(((PyLongObject *)(n))->long_value.ob_digit[0]),                     \
			   "i"(1 << (MARKER_OFFSET_SHIFT - 1))                                     \
			 : "cc")

/* lane_put() of a record that is known already. */
static inline __attribute__((always_inline)) PyObject *
put_at(struct ring_record *r, _Atomic uint64_t *published, uint64_t next, uint64_t word)
{
	PyObject *none = Py_None;

	PIN("+r"(none), "+r"(next));
	lane_prefetch(r);
	PIN("+r"(word), "+r"(r), "+r"(published));
	lane_stamp(r);
	r->word = word;
	atomic_store_explicit(published, next, memory_order_release);
	return none;
}

PATH PyObject *emit_offset(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
	struct callback *cb = (struct callback *)self;
	const struct cursor *c = &lane_cursor[LANE_FIRST];
	PyObject *code = args[0], *n = args[1];
	const struct code_extra *e;
	uint64_t place;
	register uint64_t word __asm__("rcx");
	register _Atomic uint64_t *published __asm__("r9");
	register uint64_t head __asm__("r10");
	register uint64_t at __asm__("r11");

	PIN("+r"(code), "+r"(n));
	e = ((PyCodeObject *)code)->co_extra;
	published = c->head;
	PIN("+r"(e), "+r"(published));
	if (unlikely(!e))
		return emit_slowly(cb, args);
	word = e->values[0];
	PIN("+r"(word));
	head = atomic_load_explicit(published, memory_order_relaxed);
	PIN("+r"(head));
	if (unlikely(word < CODE_READY || head == c->limit))
		return emit_slowly(cb, args);
	at = c->mask;
	PIN("+r"(at));
	PLACE(place, n);
	word |= cb->head;
	PIN("+r"(word));
	at = (at & head) * sizeof(struct ring_record);
	PIN("+r"(at));
	at += (uintptr_t)published - offsetof(struct ring, head) + RING_HEADER;
	head++;
	PIN("+r"(at), "+r"(head));
	word |= place;
	PIN("+r"(word) : "D"(cb), "S"(args));
	return put_at((struct ring_record *)at, published, head, word);
}

#ifdef EMIT_INSTRUCTION
/* A rare way and the other: both are given all that there is, in the registers of a call. */
typedef PyObject *(*way_fn)(struct callback *cb, PyObject *const *args, uint64_t head,
			    uint64_t word, struct ring_record *r, _Atomic uint64_t *published);

PATH static PyObject *way_hot(struct callback *cb, PyObject *const *args, uint64_t head,
			      uint64_t word, struct ring_record *r, _Atomic uint64_t *published)
{
	return put_at(r, published, head + 1, word);
}

static PyObject *way_rare(struct callback *cb, PyObject *const *args, uint64_t head, uint64_t word,
			  struct ring_record *r, _Atomic uint64_t *published)
{
	return emit_slowly(cb, args);
}

/*
 * The same without a conditional branch: the way is a pointer, chosen by CMOV. Of code that has no array yet
 * the id is that of `nothing`; the rare way asks neither for word nor for record.
 */
PATH PyObject *emit_instruction(PyObject *self, PyObject *const *args, size_t nargsf,
				PyObject *kwnames)
{
	static const struct code_extra nothing = { .values = { 0 } };
	struct callback *cb = (struct callback *)self;
	const struct cursor *c = &lane_cursor[LANE_FIRST];
	PyObject *code = args[0], *n = args[1];
	const struct code_extra *none = &nothing;
	uint64_t place;
	register const struct code_extra *e __asm__("rcx");
	register _Atomic uint64_t *published __asm__("r9");
	register uint64_t head __asm__("rdx");
	register uint64_t word __asm__("rcx");
	register uint64_t at __asm__("r8");
	register way_fn way __asm__("r11"), rare __asm__("r10");

	PIN("+r"(code), "+r"(n));
	e = ((PyCodeObject *)code)->co_extra;
	published = c->head;
	PIN("+r"(e), "+r"(published), "+r"(none));
	e = e ? e : none;
	PIN("+r"(e));
	head = atomic_load_explicit(published, memory_order_relaxed);
	PIN("+r"(head));
	word = e->values[0];
	PIN("+r"(word));
	PLACE(place, n);
	way = way_hot;
	rare = way_rare;
	PIN("+r"(way), "+r"(rare));
	way = word < CODE_READY ? rare : way;
	PIN("+r"(way));
	way = head == c->limit ? rare : way;
	PIN("+r"(way));
	at = c->mask;
	PIN("+r"(at));
	word |= cb->head;
	PIN("+r"(word));
	at = (at & head) * sizeof(struct ring_record);
	PIN("+r"(at));
	word |= place;
	at += (uintptr_t)published - offsetof(struct ring, head) + RING_HEADER;
	PIN("+r"(word), "+r"(at));
	return way(cb, args, head, word, (struct ring_record *)at, published);
}
#endif
