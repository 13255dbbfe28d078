/* SPDX-License-Identifier: MIT */
/*
 * sinks.h - the files that an analysis can write: the one list of them.
 *
 * A row: X(name, patterns, help)
 *   name      the option: `name=FILE` of the plugin and of ocular-pt, `--name FILE` of ocular report. Its maker is
 *             sink_NAME_open(), of type sink_maker
 *   patterns  names that such files usually have, for the shell's completion; "": any
 *   help      for people; further lines after \n
 *
 * Everything that lists them comes from here: docs/adding-a-sink.md.
 */
#pragma once

/* clang-format off */
#define SINKS(X) \
	X(perfetto, "*.pftrace *.json *.gz", \
	  "write a trace for https://ui.perfetto.dev: protobuf if FILE ends in .pftrace\n" \
	  "(much smaller), else JSON; compressed if it ends in .gz") \
	X(summary, "*.json", "write functions, loops and losses as JSON") \
	X(html, "*.html", "write the report as one page for a browser, with source and distributions") \
	X(events, "", "write one line for each decoded event") \
	X(event_columns, "", "write the same as columns of numbers, for programs") \
	X(objects, "*.tsv", "write one line for each generator and coroutine: how long it ran, waited and lived") \
	X(pstats, "*.pstats *.prof", "write call counts, times and callers for pstats.Stats, as cProfile counts them") \
	X(opcode_pstats, "*.pstats *.prof", \
	  "write counts and times of opcodes for pstats.Stats; an opcode's callers are those\n" \
	  "that ran before it") \
	X(opcode_arrays, "*.npz", "write the same as arrays for numpy.load, pairs as a matrix") \
	X(collapsed, "*.folded *.txt", "write folded stacks with their ns, for flamegraph.pl and others") \
	X(speedscope, "*.json", "write the call tree of each thread for https://www.speedscope.app") \
	X(pprof, "*.pb.gz *.pprof", "write the calls, CPU, wall time and waiting of each call path for go tool pprof") \
	X(firefox, "*.json *.json.gz", \
	  "write CPU, wall time, waiting and calls of each call path for\n" \
	  "https://profiler.firefox.com") \
	X(otlp, "*.otlp *.otlp.gz *.pb", "write the same as OpenTelemetry's profiles signal, v1development") \
	X(callgrind, "callgrind.out*", "write costs by line for KCachegrind; by instruction in mode precise") \
	X(pypylog, "*.log *.pypylog", "write when each thread entered and left which loop, as PyPy logs it")
/* clang-format on */
