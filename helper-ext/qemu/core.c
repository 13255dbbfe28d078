/* SPDX-License-Identifier: MIT */
/* core.c - see core.h. */
#include "core.h"
#include "packets.h"

/* The most that one call below writes: PSB+ with all its packets, and a TNT and CYCs before it. */
#define ROOM 128u

/* How much of a window's end may be left empty to end it at a good place. */
#define ROOM_TO_END 8192u

static void leave_window_with(struct core *c, uint64_t room)
{
	if (c->p + room <= c->spool.window + SPOOL_WINDOW)
		return;
	spool_next(&c->spool);
	c->p = c->spool.window;
}

static void make_room(struct core *c)
{
	leave_window_with(c, ROOM);
}

/*
 * A window becomes a record of perf.data, and perf looks for the 64 bits of an emulated PTWRITE in one record
 * (intel-pt-decoder.c, intel_pt_pkt_lookahead()): it gives up a word whose bits are in two. There is never a TIP among
 * them. When a kernel ends a record it has stopped the trace, and there is a TIP.PGD.
 */
static void end_window_at_tip(struct core *c)
{
	leave_window_with(c, ROOM_TO_END);
}

static void commit(struct core *c)
{
	spool_commit(&c->spool, c->p);
}

/* Cycles wait for the next packet until there are as many as CycThresh says (SDM, IA32_RTIT_CTL). */
static void put_cyc(struct core *c, uint64_t cycles)
{
	uint64_t least = c->set->cyc_thresh ? 1ull << (c->set->cyc_thresh - 1) : 1;

	if (!c->set->cyc || cycles < least)
		return;
	c->p = ptput_cyc(c->p, cycles);
	c->cycles -= cycles;
}

static uint64_t mtc_ticks(const struct core *c)
{
	return (uint64_t)CORE_CTC << c->set->mtc_period;
}

/* MTCs that are due; each has the time at which it was due. */
static void put_mtcs(struct core *c)
{
	while (c->set->mtc && c->next_mtc <= c->tsc) {
		uint64_t since = c->tsc - c->next_mtc;

		make_room(c);
		put_cyc(c, c->cycles > since ? c->cycles - since : 0);
		c->p = packet_mtc(c->p, c->next_mtc / mtc_ticks(c));
		c->next_mtc += mtc_ticks(c);
	}
}

/* Before any packet that has a time. */
static void stamp(struct core *c)
{
	put_mtcs(c);
	make_room(c);
	put_cyc(c, c->cycles);
}

static void put_ip(struct core *c, enum packet_tip kind, uint64_t ip)
{
	c->p = packet_ip(c->p, kind, ip, &c->last_ip);
}

static void put_tip(struct core *c, uint64_t to)
{
	end_window_at_tip(c);
	stamp(c);
	put_ip(c, PACKET_TIP, to);
}

/* Deferred TIPs wait for outcomes, so without these there are none. */
static void put_tnt(struct core *c)
{
	if (!c->noutcomes)
		return;
	stamp(c);
	c->p = packet_tnt(c->p, c->outcomes, c->noutcomes);
	c->outcomes = c->noutcomes = 0;
	for (unsigned i = 0; i < c->ntips; i++)
		put_tip(c, c->tips[i]);
	c->ntips = 0;
}

/* Waiting outcomes, then the next packet, with its time. */
static void begin(struct core *c)
{
	put_tnt(c);
	stamp(c);
}

static void put_tsc(struct core *c)
{
	uint64_t ctc = c->tsc / CORE_CTC;

	c->p = packet_tsc(c->p, c->tsc);
	if (!c->set->mtc)
		return;
	c->p = packet_tma(c->p, (uint16_t)ctc, c->tsc % CORE_CTC);
	c->next_mtc = (c->tsc / mtc_ticks(c) + 1) * mtc_ticks(c);
}

/* perf counts cycles from a TSC right behind a CYC, so there is always one. */
static void put_time(struct core *c)
{
	if (c->set->cyc)
		c->p = ptput_cyc(c->p, c->cycles);
	c->cycles = 0;
	put_tsc(c);
}

static void forget_calls(struct core *c)
{
	c->oldest = c->ncalls;
}

/* PSB+ has everything that a decoder needs to begin here. */
static void put_psb(struct core *c, uint64_t ip)
{
	make_room(c);
	c->p = packet_psb(c->p);
	c->last_ip = 0;
	put_time(c);
	c->p = packet_cbr(c->p, CORE_RATIO);
	c->mode_reported = c->set->branch && c->enabled;
	if (c->mode_reported) {
		c->p = packet_mode_64(c->p);
		put_ip(c, PACKET_FUP, ip);
	}
	c->p = packet_psbend(c->p);
	forget_calls(c);
	c->next_psb = core_at(c) + c->set->psb;
}

void core_psb(struct core *c, uint64_t ip)
{
	begin(c);
	put_psb(c, ip);
	commit(c);
}

int core_open(struct core *c, const struct settings *set, const char *path, const struct spool_head *head)
{
	int err;

	*c = (struct core){ .set = set, .tsc = head->tsc, .cpu = head->cpu };
	err = spool_open(&c->spool, path, head);
	if (err)
		return err;
	c->p = c->spool.window;
	put_psb(c, 0);
	commit(c);
	return 0;
}

void core_sleep(struct core *c, uint64_t tsc)
{
	if (tsc <= c->tsc)
		return;
	if (c->silent) {
		c->tsc = tsc;
		return;
	}
	begin(c);
	if (c->set->cyc)
		c->p = ptput_cyc(c->p, c->cycles);
	c->cycles = 0;
	c->tsc = tsc;
	put_tsc(c);
	commit(c);
}

static bool flows(const struct core *c)
{
	return c->set->branch && c->enabled && !c->silent;
}

void core_cond(struct core *c, bool taken)
{
	if (!flows(c))
		return;
	c->outcomes = c->outcomes << 1 | taken;
	if (++c->noutcomes < PACKET_TNT_MAX)
		return;
	put_tnt(c);
	commit(c);
}

static void indirect_now(struct core *c, uint64_t to)
{
	if (!flows(c))
		return;
	put_tnt(c);
	put_tip(c, to);
	commit(c);
}

/* SDM, "Deferred TIPs". */
void core_indirect(struct core *c, uint64_t to)
{
	if (!flows(c) || !c->noutcomes || c->ntips == c->set->defer) {
		indirect_now(c, to);
		return;
	}
	c->tips[c->ntips++] = to;
}

void core_call(struct core *c, uint64_t back)
{
	if (!flows(c))
		return;
	c->calls[c->ncalls++ % CORE_CALLS] = back;
	if (c->ncalls - c->oldest > CORE_CALLS)
		c->oldest = c->ncalls - CORE_CALLS;
}

/*
 * A return that does not match does not change the stack: decoders do the same. Its TIP is not deferred: with a TNT in
 * progress they would take it for a matching one (SDM, "RET Compression").
 */
void core_return(struct core *c, uint64_t to)
{
	if (!c->set->noretcomp && flows(c) && c->ncalls > c->oldest && c->calls[(c->ncalls - 1) % CORE_CALLS] == to) {
		c->ncalls--;
		core_cond(c, true);
		return;
	}
	indirect_now(c, to);
}

/*
 * A processor spends cycles in the kernel. Here none pass; but without a CYC perf guesses the time of a return to user
 * code from what it has walked since the last one (intel-pt.c, intel_pt_run_decoder(), est_tsc).
 */
static void stamp_enable(struct core *c)
{
	bool none = c->set->cyc && !c->set->cyc_thresh && !c->cycles;

	stamp(c);
	if (none)
		c->p = ptput_cyc(c->p, 0);
}

/*
 * A processor's cycles outside the address filter come before the TIP.PGE, and decoders leave them out. If only the
 * program's own count, C code that it calls is the program's: its cycles come after the TIP.PGE.
 */
static bool counts_all(const struct core *c)
{
	return c->set->tool.ngiven;
}

void core_enable(struct core *c, uint64_t ip)
{
	c->enabled = true;
	if (!flows(c))
		return;
	end_window_at_tip(c);
	if (!counts_all(c))
		stamp_enable(c);
	if (!c->mode_reported)
		c->p = packet_mode_64(c->p);
	c->mode_reported = true;
	put_ip(c, PACKET_TIP_PGE, ip);
	if (counts_all(c))
		put_cyc(c, c->cycles);
	commit(c);
}

/* The calls on the stack may have returned meanwhile. */
static bool disable(struct core *c)
{
	bool flowed = flows(c);

	if (flowed)
		begin(c);
	forget_calls(c);
	c->enabled = false;
	return flowed;
}

void core_disable(struct core *c)
{
	if (!disable(c))
		return;
	c->p = packet_no_ip(c->p, PACKET_TIP_PGD);
	commit(c);
}

void core_disable_to(struct core *c, uint64_t to)
{
	if (!disable(c))
		return;
	put_ip(c, PACKET_TIP_PGD, to);
	commit(c);
}

void core_interrupt(struct core *c, uint64_t at)
{
	if (!disable(c))
		return;
	put_ip(c, PACKET_FUP, at);
	c->p = packet_no_ip(c->p, PACKET_TIP_PGD);
	commit(c);
}

/* --- losses -------------------------------------------------------------------------------------------- */

/* The processor cannot write its packets as fast as they come. */
static void begin_overflow(struct core *c)
{
	c->outcomes = c->noutcomes = c->ntips = 0;
	forget_calls(c);
	c->mode_reported = false;
}

/* Packets resume: OVF, then the time and the place, which were lost too (SDM, "OVF", "Overflow"). */
static void end_overflow(struct core *c, uint64_t ip)
{
	make_room(c);
	c->p = packet_ovf(c->p);
	put_time(c);
	if (c->set->branch && c->enabled)
		put_ip(c, PACKET_FUP, ip);
}

/* The buffer is full: the kernel stops the trace, and its bytes so far are a record of perf.data. */
static void begin_full(struct core *c, uint64_t ip)
{
	core_interrupt(c, ip);
	spool_next(&c->spool);
	c->p = c->spool.window;
}

/* There is room again, and the trace restarts. */
static void end_full(struct core *c)
{
	c->enabled = false;
	c->cycles = 0;
	put_psb(c, 0);
}

void core_turn(struct core *c, uint64_t ip)
{
	bool full = c->set->full;

	c->turns = false;
	if (!c->silent && full)
		begin_full(c, ip);
	else if (!c->silent)
		begin_overflow(c);
	else if (full)
		end_full(c);
	else
		end_overflow(c, ip);
	c->silent = !c->silent;
	commit(c);
}

/* The buffer is read: its end identifies its contents later. */
static void take_snapshot(struct core *c)
{
	struct spool_head *head = c->spool.head;

	if (head->npoints < SPOOL_POINTS)
		head->points[head->npoints++] = (struct spool_point){ head->used, c->tsc };
}

bool core_ptwrite(struct core *c, uint64_t word, uint64_t ip, unsigned bytes)
{
	uint64_t each = c->set->full ? c->set->full : c->set->overflow;

	c->words++;
	c->turns = each && c->words % each == 0;
	if (c->set->every && c->words % c->set->every == 0)
		take_snapshot(c);
	if (c->silent)
		return false;
	begin(c);
	c->p = packet_ptw(c->p, word, bytes, c->set->fup_on_ptw);
	if (c->set->fup_on_ptw)
		put_ip(c, PACKET_FUP, ip);
	commit(c);
	return true;
}
