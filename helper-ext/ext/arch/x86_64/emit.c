/* SPDX-License-Identifier: MIT */
/*
 * emit.c - the callbacks, into rings, of the first interpreter's events that have an instruction's offset.
 *
 * They do what emit_path.h says, but fix the order of their instructions and some of the registers: no move is left
 * over, 26 instructions instead of 29 and 35 instead of 40, 0.1 to 0.4 ns less an event (tests/bench/README.md). A
 * compiler that deviates makes them slower, not wrong.
 */
#include "ext/emit_path.h"

/* As few cache lines of code as possible. */
#define PATH __attribute__((aligned(64)))

/* The listed values are computed before this point, and what uses them comes later. */
#define PIN(...) __asm__ volatile("" : __VA_ARGS__)

/*
 * The place in a word, from a number as in emit_path.h: 32 bits, enough for what a ready id allows. Multiplying as it
 * is loaded takes one instruction less than shifting.
 */
#define PLACE(place, n) \
	__asm__ volatile("imull %2, %1, %k0" \
			 : "=a"(place) \
			 : "m"(((PyLongObject *)(n))->long_value.ob_digit[0]), "i"(1 << (MARKER_OFFSET_SHIFT - 1)) \
			 : "cc")

/* lane_put() of a record whose address is known. */
static inline __attribute__((always_inline)) PyObject *put_at(struct ring_record *r, _Atomic uint64_t *published,
							      uint64_t word)
{
	PyObject *none = Py_None;

	PIN("+r"(none));
	arch_prefetch(r + LANE_AHEAD);
	PIN("+r"(word), "+r"(r), "+r"(published));
	arch_stamp(&r->tsc);
	r->word = word;
	atomic_store_explicit(published, (uintptr_t)(r + 1), memory_order_release);
	return none;
}

/* How far a jump goes, in bytes, from two numbers as in emit_path.h. */
static inline __attribute__((always_inline)) uint32_t distance(PyObject *n, PyObject *dest)
{
	uint32_t dist = callback_number(dest);

	PIN("+r"(dist));
	return dist - callback_number(n);
}

/*
 * An event's, and if `far` is not 0 a destination's: from this distance + DIST_MAX on it takes the slow path. `ours`: C
 * code cannot fire it (callback_is_code).
 */
static inline __attribute__((always_inline)) PyObject *emit_place(PyObject *self, PyObject *const *args, uint32_t far,
								  bool ours)
{
	struct callback *cb = (struct callback *)self;
	const struct cursor *c = &lane_cursor[LANE_FIRST];
	PyObject *code = args[0], *n = args[1];
	const struct code_extra *e;
	uint64_t place, low;
	uint32_t dist = 0;
	register uint64_t word __asm__("rcx");
	register _Atomic uint64_t *published __asm__("r9");
	register uint64_t head __asm__("r10");

	PIN("+r"(code), "+r"(n));
	if (!ours && unlikely(!callback_is_code(cb, code)))
		return callback_slow(cb, args);
	e = codes_extra(code);
	published = c->head;
	PIN("+r"(e), "+r"(published));
	if (unlikely(!e))
		return callback_slow(cb, args);
	word = CODES_LOAD(e->values[0]);
	PIN("+r"(word));
	head = atomic_load_explicit(published, memory_order_relaxed);
	PIN("+r"(head));
	if (far) {
		dist = distance(n, args[2]);
		PIN("+r"(dist));
	}
	if (unlikely(word < CODE_READY || head >= c->limit || (far && dist + DIST_MAX >= far)))
		return callback_slow(cb, args);
	PLACE(place, n);
	word |= cb->head;
	PIN("+r"(word));
	word |= place;
	if (far) {
		low = (uint8_t)(dist / 2);
		PIN("+r"(low), "+r"(word));
		word |= low;
	}
	PIN("+r"(word) : "D"(cb), "S"(args));
	return put_at((struct ring_record *)head, published, word);
}

PATH static PyObject *emit_offset(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
	return emit_place(self, args, 0, false);
}

PATH static PyObject *emit_dest(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
	return emit_place(self, args, 2 * DIST_MAX + 1, false);
}

/* A forward jump counts as too far: one comparison for both. */
PATH static PyObject *emit_backward(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
	return emit_place(self, args, DIST_MAX + 1, false);
}

/*
 * For INSTRUCTION on 3.12, where each conditional branch that was ever taken is expensive: 4.1 ns over the empty
 * callback with branches, 2.8 without. CALL takes 0.4 more without, INSTRUCTION on 3.13 0.5 (AMD EPYC;
 * tests/bench/README.md).
 */
#if PY_VERSION_HEX < 0x030d0000
/*
 * The slow path and the fast one: both get all values, in the registers of a call. RDX, which RDTSC overwrites, has
 * `n`.
 */
typedef PyObject *(*way_fn)(struct callback *cb, PyObject *const *args, PyObject *n, uint64_t word,
			    struct ring_record *r, _Atomic uint64_t *published);

PATH static PyObject *way_hot(struct callback *cb, PyObject *const *args, PyObject *n, uint64_t word,
			      struct ring_record *r, _Atomic uint64_t *published)
{
	return put_at(r, published, word);
}

static PyObject *way_slow(struct callback *cb, PyObject *const *args, PyObject *n, uint64_t word, struct ring_record *r,
			  _Atomic uint64_t *published)
{
	return callback_slow(cb, args);
}

/*
 * The same without a conditional branch: CMOV chooses the path by a pointer. For code that has no array yet the id is
 * that of `nothing`; the slow path uses neither word nor record.
 */
PATH static PyObject *emit_instruction(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
	static const struct code_extra nothing = { .values = { 0 } };
	struct callback *cb = (struct callback *)self;
	const struct cursor *c = &lane_cursor[LANE_FIRST];
	register const struct code_extra *none __asm__("rax") = &nothing;
	uint64_t place;
	register PyObject *code __asm__("rcx");
	register PyObject *n __asm__("rdx");
	register const struct code_extra *e __asm__("rcx");
	register _Atomic uint64_t *published __asm__("r9");
	register uint64_t head __asm__("r8");
	register uint64_t word __asm__("rcx");
	register way_fn way __asm__("r11"), slow __asm__("rax");

	code = args[0];
	n = args[1];
	PIN("+r"(code), "+r"(n));
	e = codes_extra(code);
	published = c->head;
	PIN("+r"(e), "+r"(published), "+r"(none));
	e = e ? e : none;
	PIN("+r"(e));
	head = atomic_load_explicit(published, memory_order_relaxed);
	PIN("+r"(head));
	word = CODES_LOAD(e->values[0]);
	PIN("+r"(word));
	way = way_hot;
	slow = way_slow;
	PIN("+r"(way), "+r"(slow));
	way = word < CODE_READY ? slow : way;
	PIN("+r"(way));
	way = head >= c->limit ? slow : way;
	PIN("+r"(way));
	PLACE(place, n);
	word |= cb->head;
	PIN("+r"(word), "+r"(n));
	word |= place;
	PIN("+r"(word));
	return way(cb, args, n, word, (struct ring_record *)head, published);
}
#else
/* Only the interpreter itself fires INSTRUCTION. */
PATH static PyObject *emit_instruction(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
	return emit_place(self, args, 0, true);
}
#endif

PUTS(lane_put)
EMITTERS(emitters_software, emit_offset, emit_dest, emit_backward, emit_instruction, lane_put_none);
