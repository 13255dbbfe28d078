/* SPDX-License-Identifier: MIT */
/* report.h - the parts of the console report, each written to a stream. */
#pragma once

#include <stdio.h>

#include "base/noise.h"
#include "model/opcodes_view.h"
#include "report_write.h"
#include "summed.h"

/* noise_preempted() of all threads. 0: that is not known. */
double report_preempted(const struct profile *p);

/* What ran, for how long, and what a cycle is. */
void report_head(const struct report *r);

/* What is ranked: own code first, unless the report is unfolded. */
struct report_top {
	struct summed *functions, *loops, *c_functions;
	size_t nfunctions, nloops, nc_functions;
};

/*
 * The tables of functions and loops, as much of them as fits on a screen of 24 lines below `lines` lines; all that is
 * worth a row if unfolded. loops: at least so many, LOOPS_AUTO: any number; 0: no table of them. 0 or -ENOMEM.
 */
int report_first(const struct report *r, const struct report_top *top, unsigned lines, unsigned loops);

/* Functions, and loops if wanted, by process, thread or task (r->by): instead of report_first()'s. 0 or -ENOMEM. */
int report_parts(const struct report *r, const struct parts *parts, bool loops);

/*
 * The part of a function's self time on a CPU, 0..1, that CPython took to find the lines of LINE events; 0: too
 * little to be told. And a list of those with such a part.
 */
double report_lookups_share(const struct report *r, const struct summed *s);
void report_lookups(const struct report *r, const struct report_top *top);

/* What a trip of these loops is, and what tracing cost it, in the mode of the recording. */
void report_meaning(const struct report *r, const struct summed *loops, size_t n);

/* With a coarse clock: what is exact all the same, and what is not. */
void report_interpolated(const struct report *r);

/* What shares of functions and loops are of: "CPU time", of all threads. */
const char *report_base(const struct profile *p);

/* The part of the time, 0..1, that is its own, and with all in it: of what summed.h ranks by. */
double report_share(const struct report *r, const struct summed *s);
double report_total_share(const struct report *r, const struct summed *s);

/* The paths through a loop's body, if they were asked for. */
void report_paths(const struct report *r, const struct loop *loop);

/* One loop: its source, trips of its entries, at most so many instructions. 0 or -ENOMEM. */
int report_body(struct report *r, const struct summed *s, size_t most);

/* The mean of a loop's timed trips, ns; NAN: none was. */
double report_trip_ns(const struct report *r, const struct summed *s);

/* Those that wait longest, if it is known and there is something to tell. 0 or -ENOMEM. */
int report_waiting(const struct report *r, size_t most);

/* The locks that were waited for longest, where they were made, if they were waited for for long. 0 or -ENOMEM. */
int report_locks(const struct report *r, size_t most);

/* The program's own spans, if there are any. 0 or -ENOMEM. */
int report_spans(const struct report *r, size_t most);

/* Likewise greenlets, by what they run. */
int report_greenlets(const struct report *r, size_t most);

/* Tasks by their coroutines, if there are any. 0 or -ENOMEM. */
int report_tasks(const struct report *r, size_t most);

/*
 * Requests, if there are any, and where the time of one went: the slowest, or the `wanted` one: "slowest", its number,
 * or the slowest of a name. 0 or -ENOMEM.
 */
int report_requests(const struct report *r, const char *wanted, size_t most);

/* Those that had the GIL longest while other threads waited for it, if they waited for long. 0 or -ENOMEM. */
int report_gil(const struct report *r, size_t most);

/* The table of C functions, if any was recorded. 0 or -ENOMEM. */
int report_c_functions(const struct report *r, const struct report_top *top);

/* What the events of calls cost, if there were any. For the head. */
void report_calls(const struct report *r);

/* In which C functions they were, by samples, if there are some. 0 or -ENOMEM. */
int report_native(const struct report *r);

/* How base opcodes were specialized: in all code that ran, and in the `most` hottest functions. 0 or -ENOMEM. */
int report_specialization(const struct report *r, size_t most);

/* Where threads specialize copies of their own: which of the first n functions' differ, and how. */
void report_copies(const struct report *r, struct code *const *functions, size_t n);

/* The same while the program ran, if it is known (mode opcodes). 0 or -ENOMEM. */
int report_forms(const struct report *r);

/* How long which loops ran as the JIT's machine code, where that is known. 0 or -ENOMEM. */
int report_compiled(const struct report *r);

/* Events by kind: how many, how often, and what their callbacks cost. */
void report_events(const struct report *r);

/* The code objects with most events, and which. 0 or -ENOMEM. */
int report_events_by_code(const struct report *r, size_t most);

/*
 * Opcodes and pairs, of the whole program, a function, a loop; without restrictions in the view, at most
 * `most` rows of each. 0 or -ENOMEM.
 */
int report_opcodes(const struct report *r, const struct opcodes_view *v, uint32_t most);
int report_function_opcodes(const struct report *r, const struct opcodes_view *v, uint32_t most,
			    const struct code *code);
int report_loop_opcodes(const struct report *r, const struct opcodes_view *v, uint32_t most, const struct loop *loop);

/*
 * What was waited for, most first; what is less than a hundredth of it is left out. Workers of pools that wait for a
 * job are told apart, behind them. Likewise a text.
 */
void report_waits(FILE *f, const struct profile *p);

/* Has it anything to tell: was anything waited for, be it that no call tells for what? */
bool report_has_waits(const struct profile *p);

/* How many garbage collections, and how long; the same. */
void report_collections(FILE *f, const struct profile *p);

/* How many modules were imported, and how long that took; the same. */
void report_imports(FILE *f, const struct profile *p);

/* How many exceptions, and how they ended; the same. */
void report_exceptions(FILE *f, const struct profile *p);

/* Where most were raised, how far they went, and where they were handled, if any was recorded. 0 or -ENOMEM. */
int report_raised(const struct report *r, size_t most);

/* The tree of imports, each with its own time and what took most of it. 0 or -ENOMEM. */
int report_imports_tree(const struct report *r);

/* The clock of the cycles, as text without a line of its own. */
void report_clock(FILE *f, const struct profile *p);

void report_losses(const struct report *r);
