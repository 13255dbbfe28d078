// SPDX-License-Identifier: MIT
#include "gil.h"

#include "gil_apart.h"
#include "shared/marker.h"
#include "thread.h"

void gil_until(struct gil *g, uint64_t ns)
{
	if (ns <= g->since_ns)
		return;
	if (g->waiting && g->holder)
		thread_held_gil(g->holder, (ns - g->since_ns) * g->waiting);
	g->since_ns = ns;
}

static void change_hold(struct gil *g, struct thread *t, uint64_t ns, bool maybe)
{
	g->apart->holder = 0;
	gil_apart_waited(g->apart, g->waiting, ns);
	if (g->holder)
		gil_apart_leave(g->apart, g->holder, ns);
	if (t)
		gil_apart_take(g->apart, maybe, ns);
}

/* NULL: none of the own threads. maybe: it only seems so, until its next event of code. */
static void hold(struct gil *g, struct thread *t, uint64_t ns, bool maybe)
{
	if (g->apart)
		change_hold(g, t, ns, maybe);
	if (g->holder)
		g->holder->holds_gil = false;
	g->holder = t;
	if (t)
		t->holds_gil = !maybe;
}

/* Another thread seems to have had it since a wait of this one ended: what others waited until now may be its. */
static void end_left(struct gil *g, struct thread *t, uint64_t ns)
{
	if (!g->apart || !t->left_gil)
		return;
	gil_apart_waited(g->apart, g->waiting, ns);
	gil_apart_left_until(g->apart, t->left_gil);
	t->left_gil = 0;
}

void gil_take(struct gil *g, struct thread *t, uint64_t ns)
{
	gil_until(g, ns);
	end_left(g, t, ns);
	hold(g, t, ns, false);
}

static void count_waiting(struct gil *g, int more, uint64_t ns)
{
	if (g->apart)
		gil_apart_waited(g->apart, g->waiting, ns);
	g->waiting += more;
}

static void want(struct gil *g, struct thread *t, bool wants, uint64_t ns)
{
	count_waiting(g, wants - t->wants_gil, ns);
	t->wants_gil = wants;
}

/* After another wait a thread has it only if no wait for it follows, and nobody has it. */
static void may_hold(struct gil *g, struct thread *t, uint64_t ns)
{
	if (g->holder ? g->holder == t && !t->holds_gil : !(g->apart && g->apart->holder))
		hold(g, t, ns, true);
	else if (g->apart && g->holder != t) {
		gil_apart_waited(g->apart, g->waiting, ns);
		t->left_gil = gil_apart_left(g->apart, ns);
	}
}

/* What a WAIT word says. */
struct said {
	bool begins, is_gil, got, is_ring;
};

static struct said said_of(uint64_t payload)
{
	unsigned kind = payload >> MARKER_WAIT_SHIFT & MARKER_WAIT_MASK;
	bool begins = payload & MARKER_WAIT_BEGINS, is_gil = kind == WAIT_FOR_GIL;

	return (struct said){ begins, is_gil, is_gil && !begins && !(payload & MARKER_GIL_NOT_GOT),
			      kind == WAIT_FOR_RING };
}

/* It should come after all that others said until then. */
static void count_word(struct gil_apart *a, const struct thread *t, uint64_t payload, uint64_t ns)
{
	a->words += gil_apart_sum(t->tid, payload, ns);
	a->lost |= ns < a->heard_ns;
}

/*
 * Another thread has an event of code in the same nanosecond: CPython woke one that waited, which found the GIL taken
 * and waits again. Whichever of the two comes first here, that one has it.
 */
static bool is_in_vain(const struct gil *g, const struct thread *t, uint64_t ns)
{
	if (g->holder)
		return g->holder != t && g->holder->holds_gil && g->holder->last_ns == ns;
	return g->apart && g->apart->holder && g->apart->took_ns == ns;
}

/* In vain it begins a hold where that is not known, which is over before what the one that has it does next. */
static void go_on(struct gil *g, uint64_t ns)
{
	if (!g->apart || !g->holder)
		return;
	gil_apart_waited(g->apart, g->waiting, ns);
	gil_apart_go_on(g->apart, g->holder, ns);
}

/* The end of its wait says that it has got it. */
static void get(struct gil *g, struct thread *t, uint64_t ns)
{
	if (is_in_vain(g, t, ns))
		go_on(g, ns);
	else
		hold(g, t, ns, false);
}

void gil_word(struct gil *g, struct thread *t, uint64_t payload, uint64_t ns)
{
	struct said s = said_of(payload);

	g->told |= s.is_gil;
	gil_until(g, ns);
	if (g->apart)
		count_word(g->apart, t, payload, ns);
	if (s.is_ring) /* with the GIL */
		return;
	if (s.begins || s.got || !s.is_gil)
		end_left(g, t, ns);
	want(g, t, s.begins && s.is_gil, ns);
	if (s.begins && g->holder == t)
		hold(g, NULL, ns, false);
	else if (s.got)
		get(g, t, ns);
	else if (!s.begins && !s.is_gil)
		may_hold(g, t, ns);
}

#define GIL_WANTS      ((void *)1)
#define GIL_HAS_WANTED ((void *)2)

/* 0 or -ENOMEM. */
static int other_wants(struct gil *g, int32_t tid, bool wants, uint64_t ns)
{
	bool did = map_get(&g->apart->wanting, (uint32_t)tid) == GIL_WANTS;

	if (wants == did)
		return 0;
	count_waiting(g, wants - did, ns);
	return map_put(&g->apart->wanting, (uint32_t)tid, wants ? GIL_WANTS : GIL_HAS_WANTED);
}

static void other_takes(struct gil *g, int32_t tid, uint64_t ns, uint64_t took_ns)
{
	hold(g, NULL, ns, false);
	g->apart->holder = tid;
	g->apart->took_ns = took_ns;
}

static void other_gets(struct gil *g, int32_t tid, uint64_t ns)
{
	if (is_in_vain(g, NULL, ns))
		go_on(g, ns);
	else
		other_takes(g, tid, ns, UINT64_MAX);
}

static int other_waits(struct gil *g, int32_t tid, uint64_t payload, uint64_t ns)
{
	struct said s = said_of(payload);
	int err;

	g->told |= s.is_gil;
	if (s.is_ring)
		return 0;
	err = other_wants(g, tid, s.begins && s.is_gil, ns);
	if (s.begins && g->apart->holder == tid)
		g->apart->holder = 0;
	if (s.got)
		other_gets(g, tid, ns);
	else if (!s.begins && !s.is_gil && !g->holder && !g->apart->holder)
		other_takes(g, tid, ns, UINT64_MAX);
	return err;
}

int gil_other_word(struct gil *g, int32_t tid, uint64_t word, uint64_t ns)
{
	g->apart->lost |= ns < g->apart->heard_ns;
	g->apart->heard_ns = ns;
	gil_until(g, ns);
	if (!gil_is_taken_by(word))
		return other_waits(g, tid, marker_payload(word), ns);
	if (g->apart->holder != tid)
		other_takes(g, tid, ns, ns);
	g->apart->took_ns = ns;
	return 0;
}

void gil_lose(struct gil *g, struct thread *t)
{
	want(g, t, false, g->since_ns);
	if (g->apart)
		g->apart->lost = true;
	if (g->holder == t)
		hold(g, NULL, g->since_ns, false);
}

/* What a word does to the holder. */
enum act {
	ACT_NONE,
	ACT_TAKES,    /* an event of code, */
	ACT_GOT,      /* or the end of a wait for it */
	ACT_MAY_TAKE, /* the end of another wait */
	ACT_LEAVES,   /* a wait begins */
	ACTS,
};

static enum act act_of(uint64_t word)
{
	uint64_t payload = marker_payload(word);
	unsigned kind = payload >> MARKER_WAIT_SHIFT & MARKER_WAIT_MASK;

	if (!(word >> 32) || !marker_is_extension(word))
		return ACT_TAKES;
	if (marker_kind(word) != KIND_WAIT || kind == WAIT_FOR_RING)
		return marker_kind(word) == KIND_C_CALL ? ACT_TAKES : ACT_NONE;
	if (payload & MARKER_WAIT_BEGINS)
		return ACT_LEAVES;
	if (kind != WAIT_FOR_GIL)
		return ACT_MAY_TAKE;
	return payload & MARKER_GIL_NOT_GOT ? ACT_NONE : ACT_GOT;
}

bool gil_is_taken_by(uint64_t word)
{
	return marker_is_event(word) || marker_is_numbered(word) || marker_is_c_call(word) || !(word >> 32);
}

/*
 * Where both take it, or both get it, the later one has it; and who may take it does so unless it is held. In all else
 * they agree.
 */
bool gil_order_matters(uint64_t one, uint64_t other)
{
	static const bool matters[ACTS][ACTS] = {
		[ACT_TAKES] = { [ACT_TAKES] = true },
		[ACT_GOT] = { [ACT_GOT] = true },
		[ACT_MAY_TAKE] = { [ACT_MAY_TAKE] = true, [ACT_LEAVES] = true },
		[ACT_LEAVES] = { [ACT_MAY_TAKE] = true },
	};

	return matters[act_of(one)][act_of(other)];
}

void gil_end(struct gil *g, uint64_t ns)
{
	gil_until(g, ns);
	gil_apart_waited(g->apart, g->waiting, g->since_ns);
	if (g->holder)
		gil_apart_leave(g->apart, g->holder, UINT64_MAX);
}
