/* SPDX-License-Identifier: MIT */
/* progress.c - prints the figures. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "progress.h"

#define RENEW_NS 500000000ull

static double megabytes(const struct trace_out *out)
{
	return (out->before + perfdata_size(&out->file)) / 1e6;
}

/* Those of the traced threads. */
static uint64_t markers(const struct trace_out *out)
{
	return out->markers - out->added;
}

/* Likewise. */
static uint64_t unwritten(const struct trace_out *out)
{
	return out->discarded - out->discarded_added;
}

static const char *plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

void progress_start(struct progress *p, bool quiet, uint64_t now_ns)
{
	*p = (struct progress){
		.quiet = quiet,
		.terminal = isatty(STDERR_FILENO),
		.start_ns = now_ns,
		.sized_ns = now_ns,
		.next_ns = now_ns + RENEW_NS,
	};
}

/* A stopped terminal (Ctrl-S) would stop us, and all threads that wait for room in a ring. */
static bool takes_text(int fd)
{
	struct pollfd pfd = { fd, POLLOUT, 0 };

	return poll(&pfd, 1, 0) > 0 && pfd.revents & POLLOUT;
}

/* MB a second since the previous line. */
static double rate(struct progress *p, double size, uint64_t now_ns)
{
	double mb = size - p->size, s = (now_ns - p->sized_ns) / 1e9;

	p->size = size;
	p->sized_ns = now_ns;
	return mb / s;
}

void progress_show(struct progress *p, const struct figures *f, uint64_t now_ns)
{
	if (p->quiet || !p->terminal || now_ns < p->next_ns)
		return;
	p->next_ns = now_ns + RENEW_NS;
	if (!takes_text(STDERR_FILENO))
		return;
	p->shown = true;
	fprintf(stderr,
		"\r\033[K[ ocular: %" PRIu64 " markers, %.1f MB, %.1f MB/s, %.0f s, %u %s in %u %s, %" PRIu64 " lost ]",
		markers(f->out), megabytes(f->out), rate(p, megabytes(f->out), now_ns), (now_ns - p->start_ns) / 1e9,
		f->threads, plural(f->threads, "thread", "threads"), f->processes,
		plural(f->processes, "process", "processes"), f->out->lost + unwritten(f->out));
}

void progress_clear(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}

static void show_flight(const struct progress *p, const struct figures *f)
{
	if (!p->quiet)
		fprintf(stderr, "[ ocular: %u %s, copied in %.2f ms at most ]\n", f->snapshots,
			plural(f->snapshots, "snapshot", "snapshots"), f->stall_ns / 1e6);
	if (f->refused)
		fprintf(stderr, "[ ocular: %u %s beyond --max-snapshots not taken ]\n", f->refused,
			plural(f->refused, "snapshot", "snapshots"));
}

void progress_end(struct progress *p, const struct figures *f)
{
	const struct trace_out *out = f->out;

	progress_clear(p);
	if (!p->quiet)
		fprintf(stderr, "[ ocular: %" PRIu64 " markers of %u %s in %u %s, %.3f MB in %s ]\n", markers(out),
			f->threads, plural(f->threads, "thread", "threads"), f->processes,
			plural(f->processes, "process", "processes"), megabytes(out), f->path);
	if (f->flight)
		show_flight(p, f);
	if (out->lost)
		fprintf(stderr, "[ ocular: %" PRIu64 " markers lost, no room in their ring ]\n", out->lost);
	if (unwritten(out) && !p->quiet) /* the error was told when it came */
		fprintf(stderr, "[ ocular: %" PRIu64 " markers not written ]\n", unwritten(out));
	if (f->damaged)
		fprintf(stderr, "[ ocular: %u %s damaged by the traced program ]\n", f->damaged,
			plural(f->damaged, "ring was", "rings were"));
}
