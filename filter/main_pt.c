// SPDX-License-Identifier: MIT
/*
 * ocular-pt [KEY=VALUE ...] DIR|FILE: analyses a recording as perf with the dlfilter does, without perf. Exit 0, or 1
 * with one line on stderr; with leave_to_perf=yes also 3, with a line, where perf must read the recording: then nothing
 * was written. It also reports on stderr what the trace lacks.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "front_live.h"
#include "front_workers.h"
#include "pt/only_perf.h"
#include "shared/version.h"

#define DATA "perf.data"

/* Bytes a marker takes in a recording of ours (docs/marker.md): only for the progress line. */
#define BYTES_PER_MARKER 12

#define EXIT_LEFT_TO_PERF 3

#define NO_PROCESSES "processes= is for recordings that have ended, and not for mode opcodes"

#define USAGE "usage: ocular-pt [KEY=VALUE ...] DIR|FILE"

static void say(const char *what)
{
	fputs("ocular-pt: ", stderr);
	text_plain(stderr, what);
	fputc('\n', stderr);
}

static int fail(const struct options *o, const char *why)
{
	say(why);
	if (o->status >= 0)
		dprintf(o->status, "error: %s\n", why);
	return EXIT_FAILURE;
}

static int leave_to_perf(const char *why)
{
	fprintf(stderr, "ocular-pt: perf reads this recording: it %s\n", why);
	return EXIT_LEFT_TO_PERF;
}

struct place {
	char file[PATH_MAX], dir[PATH_MAX];
};

/* DIR stands for DIR/perf.data; code tables are beside the file. */
static bool find(struct place *p, const char *arg)
{
	struct stat st;
	bool is_dir = !stat(arg, &st) && S_ISDIR(st.st_mode);
	const char *slash = strrchr(arg, '/');
	int length = is_dir ? (int)strlen(arg) : slash == arg ? 1 : slash ? (int)(slash - arg) : 0;

	if (snprintf(p->file, sizeof(p->file), is_dir ? "%s/" DATA : "%s", arg) >= PATH_MAX)
		return false;
	snprintf(p->dir, sizeof(p->dir), "%.*s", length ? length : 1, length ? arg : ".");
	return true;
}

static void report_faults(const struct pt_faults *f)
{
	const struct {
		uint64_t count;
		const char *what;
	} faults[] = {
		{ f->overflows, "overflows in the processor" },
		{ f->truncated, "trace buffers were full" },
		{ f->damages, "damaged places, left out up to the next PSB" },
		{ f->lost, "records of threads and switches lost" },
		{ f->untimed, "PTWRITEs before the first timestamp, left out" },
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (faults[i].count)
			fprintf(stderr, "ocular-pt: %" PRIu64 " %s\n", faults[i].count, faults[i].what);
	if (f->switches)
		say("switches of threads are missing: from there on CPU times are not known");
}

/* Where a program was traced, the report tells what is missing. */
static void report_empty(const struct pt_config *c, bool traced)
{
	if (c->ptwrite && !traced)
		say("found no PTWRITE packets: was the program traced (ocular record, python -m ocular)?");
	if (!c->ptwrite)
		say("was recorded without PTWRITE packets: ask for -e intel_pt/ptw,cyc,branch=0/u");
	if (!c->ptwrite && c->branches)
		say("cannot read markers from branches (backend emulated): use perf with ocular.so");
}

/* What ocular-pt can read, but perf tells more of; NULL: nothing. */
static const char *perf_knows_more(const struct front_ipt *f, struct analysis *a)
{
	const struct only_perf_codes codes = { codes_have_backend(&a->codes, "emulated"), a->recovers };

	return only_perf(&f->trace.config, &codes);
}

static int analyse(struct front_ipt *f, const struct options *o, const char *dir, const char *path);

/* It has shown that its processes cannot be read apart from each other (front_workers.h). */
static int analyse_together(struct front_ipt *f, const struct options *o, const char *dir, const char *path)
{
	struct options together = *o;
	int err;

	together.workers = 1;
	front_ipt_close(f);
	err = front_ipt_open(f, path);
	return err ? fail(o, f->trace.error) : analyse(f, &together, dir, path);
}

static int analyse(struct front_ipt *f, const struct options *o, const char *dir, const char *path)
{
	uint64_t size = f->trace.file.check.trace_size;
	struct progress progress;
	struct analysis a;
	const char *why;
	bool ended = true;
	int err = analysis_open_codes(&a, dir, o->follow);

	if (!err && o->processes && (o->follow || a.recovers)) {
		codes_free(&a.codes);
		return fail(o, NO_PROCESSES);
	}
	why = err || !o->leave_to_perf ? NULL : perf_knows_more(f, &a);
	if (why) {
		codes_free(&a.codes);
		return leave_to_perf(why);
	}
	err = err ?: analysis_open_sinks(&a, o);
	if (err)
		return fail(o, a.error);
	a.recover.compressed = f->trace.config.compressed;
	a.trace.profile.cut = f->trace.file.check.cut;
	a.trace.profile.file = basename(path);
	progress_init(&progress, options_when(o->progress, STDERR_FILENO), size / BYTES_PER_MARKER, o->progress_what);
	f->as_perf = o->as_perf;
	f->g.processes = o->processes;
	err = o->follow ? front_live_feed(f, &a, dir, &ended) : workers_feed(f, &a, o, &progress);
	err = err ? analysis_fail(&a, err) : analysis_finish(&a, ended);
	progress_end(&progress);
	if (err == -EAGAIN && o->workers != 1 && !o->follow) {
		analysis_close(&a);
		return analyse_together(f, o, dir, path);
	}
	report_faults(&f->trace.faults);
	if (!err && a.recovers)
		recover_report(&a.recover, stderr);
	if (!err && !a.decoder.words)
		report_empty(&f->trace.config, codes_have_backend(&a.codes, NULL));
	if (!err && analysis_is_foreign(&a))
		say(ANALYSIS_FOREIGN);
	if (err)
		fail(o, f->trace.error[0] ? f->trace.error : a.error);
	else if (o->status >= 0)
		dprintf(o->status, "ok\n");
	analysis_close(&a);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void tell_finding(const struct front_ipt *f, const char *file)
{
	if (f->trace.file.check.finding[0])
		fprintf(stderr, "ocular-pt: %s %s\n", file, f->trace.file.check.finding);
}

/* Ctrl-C stops following, in order. */
static int follow(struct front_ipt *f, const char *file)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return front_live_open(f, file);
}

static int run(const struct options *o, const char *arg)
{
	struct front_ipt f;
	struct place place;
	int err, status;

	if (!find(&place, arg))
		return fail(o, strerror(ENAMETOOLONG));
	err = o->follow ? follow(&f, place.file) : front_ipt_open(&f, place.file);
	if (err == -EOPNOTSUPP && o->leave_to_perf)
		return leave_to_perf(f.trace.error);
	if (err)
		return fail(o, f.trace.error);
	if (!o->follow)
		tell_finding(&f, place.file);
	status = analyse(&f, o, o->codes ? o->codes : place.dir, place.file);
	if (o->follow && f.trace.file.check.cut) /* by the recorder's end; until then the file is not complete */
		tell_finding(&f, place.file);
	front_ipt_close(&f);
	return status;
}

int main(int argc, char **argv)
{
	struct options o = { .status = -1 };
	char error[OPTIONS_ERROR];

	if (version_asked(argc, argv, "ocular-pt"))
		return EXIT_SUCCESS;
	if (argc < 2)
		return fail(&o, USAGE "; 'help' lists the keys");
	if (argc == 2 && !strcmp(argv[1], "options")) { /* for scripts/ocular */
		options_table(stdout);
		return EXIT_SUCCESS;
	}
	if (argc == 2 && options_is_help(argv[1])) {
		options_help(stdout, USAGE "\n  ocular-pt summary=out.json DIR\n");
		return EXIT_SUCCESS;
	}
	if (options_parse(&o, argc - 2, argv + 1, error))
		return fail(&o, error);
	return run(&o, argv[argc - 1]);
}
