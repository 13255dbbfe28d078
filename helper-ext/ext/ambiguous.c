/* SPDX-License-Identifier: MIT */
/*
 * ambiguous.c - see ambiguous.h: walks from both sides of a branch in step, as long as the opcodes are the same. The
 * branch is ambiguous if the walks meet, end alike, come to a call (all of whose instructions would have to wait), or
 * go on for longer than STEPS.
 */
#include <stdlib.h>

#include "ambiguous.h"

#define STEPS  8
#define BUDGET 256 /* pairs looked at for one branch */

struct walk {
	const uint8_t *units;
	uint32_t n;
	const struct opcode_tables *ops;
	const struct flow_tables *flow;
	unsigned int budget;
};

static uint8_t op_at(const struct walk *w, uint32_t unit)
{
	return w->units[2 * unit];
}

static uint8_t flow_at(const struct walk *w, uint32_t unit)
{
	return w->flow->flow[op_at(w, unit)];
}

static uint32_t next(const struct walk *w, uint32_t unit)
{
	return unit + 1 + w->ops->caches[op_at(w, unit)];
}

static uint32_t target(const struct walk *w, uint32_t unit)
{
	uint32_t arg = w->units[2 * unit + 1];

	for (uint32_t i = 1; i <= unit && i < 4 && op_at(w, unit - i) == w->ops->extended_arg; i++)
		arg |= (uint32_t)w->units[2 * (unit - i) + 1] << (8 * i);
	return next(w, unit) + (uint32_t)(w->ops->jump[op_at(w, unit)] * (int32_t)arg);
}

static uint32_t skip(const struct walk *w, uint32_t unit, unsigned int n)
{
	while (n-- && unit < w->n)
		unit = next(w, unit);
	return unit;
}

/* Where the sides that leave the instruction lead. */
static unsigned int ways(const struct walk *w, uint32_t unit, uint32_t to[3])
{
	unsigned int n = 0;

	switch ((enum ambiguous_flow)flow_at(w, unit)) {
	case WAY_JUMP:
		to[n++] = target(w, unit);
		break;
	case WAY_FOR: /* generators come to the target, others to what is after the skipped instructions */
		to[n++] = target(w, unit);
		to[n++] = skip(w, to[0], w->flow->for_skips);
		to[n++] = next(w, unit);
		break;
	case WAY_BRANCH:
		to[n++] = target(w, unit);
		/* fall through */
	default:
		to[n++] = next(w, unit);
	}
	return n;
}

static bool are_alike(struct walk *w, uint32_t a, uint32_t b, int steps)
{
	uint32_t from_a[3], from_b[3];
	unsigned int na, nb;
	uint8_t flow;

	while (a < w->n && flow_at(w, a) == WAY_SKIPPED)
		a = next(w, a);
	while (b < w->n && flow_at(w, b) == WAY_SKIPPED)
		b = next(w, b);
	if (a == b || a >= w->n || b >= w->n)
		return true;
	if (op_at(w, a) != op_at(w, b))
		return false;
	flow = flow_at(w, a);
	if (flow == WAY_END || flow == WAY_CALL || !steps || !w->budget--)
		return true;
	na = ways(w, a, from_a);
	nb = ways(w, b, from_b);
	for (unsigned int i = 0; i < na; i++)
		for (unsigned int k = 0; k < nb; k++)
			if (are_alike(w, from_a[i], from_b[k], steps - 1))
				return true;
	return false;
}

static bool is_ambiguous(struct walk *w, uint32_t unit)
{
	uint32_t to[3];
	unsigned int n = ways(w, unit, to);

	w->budget = BUDGET;
	for (unsigned int i = 0; i + 1 < n; i++)
		if (are_alike(w, to[i], to[n - 1], STEPS))
			return true;
	return false;
}

static bool mark(struct walk *w, uint8_t *bits)
{
	bool any = false;

	for (uint32_t unit = 0; unit < w->n; unit = next(w, unit)) {
		uint8_t flow = flow_at(w, unit);

		if ((flow != WAY_BRANCH && flow != WAY_FOR) || !is_ambiguous(w, unit))
			continue;
		bits[unit >> 3] |= (uint8_t)(1 << (unit & 7));
		any = true;
	}
	return any;
}

uint8_t *ambiguous_find(const struct opcode_tables *ops, const struct flow_tables *flow, PyCodeObject *code)
{
	PyObject *bytes = PyCode_GetCode(code);
	struct walk w = { .ops = ops, .flow = flow };
	uint8_t *bits = NULL;

	if (bytes) {
		w.units = (const uint8_t *)PyBytes_AS_STRING(bytes);
		w.n = (uint32_t)PyBytes_GET_SIZE(bytes) / 2;
		bits = calloc(w.n / 8 + 1, 1);
	}
	if (bits && !mark(&w, bits)) {
		free(bits);
		bits = NULL;
	}
	Py_XDECREF(bytes);
	PyErr_Clear();
	return bits;
}
