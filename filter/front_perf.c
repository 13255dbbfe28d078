// SPDX-License-Identifier: MIT
/*
 * front_perf.c - the dlfilter: perf decodes the trace, this takes its PTWRITE samples.
 *
 * perf loads this object, calls start, then filter_event_early for each sample in time order, then stop
 * (perf_dlfilter.h). The early hook runs before perf looks up symbols, which would take most of its time. No sample is
 * left for perf to print. This is perf's process: nothing here exits, and errors are returned as negative numbers with
 * one line on stderr.
 *
 * perf's own thread only gathers words: another one analyses them (gather.h). perf's functions are called in its thread
 * alone, and its signals come there. With a single CPU it does both.
 *
 * A ptwrite sample never carries a cycle count, in no version of perf; cycles are the time in TSC
 * ticks, by the frequency in the code table's header.
 */
#include <errno.h>
#include <fcntl.h>
#include <perf/perf_dlfilter.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/text.h"
#include "gather.h"
#include "mapped.h"
#include "pipe.h"
#include "recording.h"

#define EXPORT __attribute__((visibility("default")))

/* What perf makes of PTWRITE packets: attr.type PERF_TYPE_SYNTH, config PERF_SYNTH_INTEL_PTWRITE
 * (tools/perf/util/event.h). Its raw data: u32 flags, then the payload (struct perf_synth_intel_ptwrite). */
#define TYPE_SYNTH	 0x80000000u
#define CONFIG_PTWRITE	 0
#define CONFIG_PSB	 6
#define PTWRITE_RAW_SIZE 12

/*
 * In quick mode (itrace q) perf makes an `instructions` sample at the target of each TIP packet, and does not walk the
 * code (perf-intel-pt(1)). It is not a `branches` sample.
 */
#define TYPE_HARDWARE	    0
#define CONFIG_INSTRUCTIONS 1 /* PERF_COUNT_HW_INSTRUCTIONS */
#define PTWRITE_RAW_PAYLOAD 4

/* Bytes a marker takes in a recording of ours (docs/marker.md): only for the progress line. */
#define BYTES_PER_MARKER 12

/*
 * perf maps the whole recording: what it has read of it is given back after so many words, 0.3 MB, and later after an
 * eighth of all until then, up to 4 to 5 MB. These at once where the mapping has to be found again, which is dear.
 */
#define WORDS_KEPT	 (1u << 15)
#define WORDS_KEPT_MOST	 (1u << 19)
#define WORDS_KEPT_SHARE 8

/* perf fills this in before it calls start; perf gives it its name. */
EXPORT struct perf_dlfilter_fns perf_dlfilter_fns;

struct front {
	const char *ptwrite; /* perf's name of the event: the same pointer for each of its samples */
	int32_t pid, tid;    /* the thread of the last words in the room, */
	uint32_t at;	     /* which end here */
	bool off;	     /* nothing to do: help was asked for, or the analysis failed */
	struct gather g;
	pthread_t thread;  /* if g.pipe is set: this one analyses */
	int failed;	   /* its result, once it has ended */
	struct words room; /* of one thread alone */
	struct progress progress;
	struct analysis analysis;
	struct recording recording;
	char *path; /* the recording's whole name; NULL: not known */
	struct mapped mapped;
	uint64_t given_back; /* words whose memory was given back, */
	uint32_t words;	     /* and since then; */
	uint32_t keeps;	     /* it is done after so many */
	struct options options;
	const char *tips, *psbs;
	uint64_t psb_ip; /* of the last PSB, 0: none since a TIP */
	int32_t psb_tid;
	int err;
};

/* Not a name of perf's. */
static const char unknown_name[] = "";

static int complain(const struct front *f, const char *why, int err)
{
	fputs("ocular: ", stderr);
	text_plain(stderr, why);
	fputc('\n', stderr);
	if (f->options.status >= 0)
		dprintf(f->options.status, "error: %s\n", why);
	return err;
}

static void free_front(struct front *f)
{
	recording_free(&f->recording);
	free(f->path);
	free(f);
}

static void *analyse(void *front)
{
	struct front *f = front;

	f->failed = gather_take_all(&f->g);
	return NULL;
}

/* Signals are perf's: Ctrl-C ends its loop. Not those that a thread causes itself: whoever reads our output is gone. */
static int create_thread(struct front *f)
{
	static const int own[] = { SIGPIPE, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
	sigset_t all, before;
	int err;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&all, own[i]);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&f->thread, NULL, analyse, f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

static struct pipe *make_pipe(void)
{
	struct pipe *p = calloc(1, sizeof(*p));

	if (!p || !pipe_init(p))
		return p;
	free(p);
	return NULL;
}

static void free_pipe(struct front *f)
{
	pipe_free(f->g.pipe);
	free(f->g.pipe);
	f->g.pipe = NULL;
}

/* One thread where there is no second CPU, or no second thread can be had. */
static void begin_gathering(struct front *f)
{
	f->g = gather_new();
	f->g.analysis = &f->analysis;
	f->g.progress = &f->progress;
	f->g.pipe = cpus() > 1 ? make_pipe() : NULL;
	if (f->g.pipe && create_thread(f))
		free_pipe(f);
	f->g.room = f->g.pipe ? pipe_words(f->g.pipe) : &f->room;
}

static uint32_t keeps_next(const struct front *f)
{
	uint64_t share = f->given_back / WORDS_KEPT_SHARE;

	return share < WORDS_KEPT ? WORDS_KEPT : share < WORDS_KEPT_MOST ? share : WORDS_KEPT_MOST;
}

static COLD void give_back(struct front *f)
{
	f->given_back += f->words;
	f->words = 0;
	f->keeps = mapped_give_back(&f->mapped) ? keeps_next(f) : WORDS_KEPT_MOST;
}

/* The thread that had the last words has no more for now, or the room is full. */
static int end_run(struct front *f)
{
	uint32_t n = f->at - f->g.room->n;
	int err = n ? gather_run(&f->g, f->pid, f->tid, n, RUN_WORDS) : 0;

	f->at = f->g.room->n;
	f->words += n;
	if (f->words >= f->keeps)
		give_back(f);
	return err;
}

/* All that was gathered is analysed. 0, or what the analysis said. The report needs the recording's pages no more. */
static int end_gathering(struct front *f)
{
	int err = end_run(f);

	give_back(f);
	if (!f->g.pipe)
		return err || gather_pass_on(&f->g) ? f->g.err : 0;
	pipe_end(f->g.pipe);
	pthread_join(f->thread, NULL);
	free_pipe(f);
	return f->failed;
}

static int open_analysis(struct front *f)
{
	struct recording *r = &f->recording;
	int err;

	recording_find(r);
	if (r->file && asprintf(&f->path, "%s/%s", r->dir, r->file) < 0)
		f->path = NULL;
	f->mapped.path = f->path;
	err = analysis_open(&f->analysis, &f->options, f->options.codes ? f->options.codes : r->dir);
	f->analysis.trace.profile.cut = r->cut;
	f->analysis.trace.profile.file = r->file;
	progress_init(&f->progress, options_when(f->options.progress, STDERR_FILENO), r->size / BYTES_PER_MARKER,
		      f->options.progress_what);
	return err;
}

/*
 * perf itself prints to standard output too, such as the instruction trace errors that itrace e asks for: they would
 * mix with a summary or events. The sinks have a descriptor of their own by now, so perf's lines go to stderr; or
 * nowhere if a program reads our status, because perf counts them on stderr at its end.
 */
static void part_from_perf(const struct front *f)
{
	int fd = f->options.status >= 0 ? open("/dev/null", O_WRONLY | O_CLOEXEC) : dup(STDERR_FILENO);

	fflush(stdout);
	if (fd < 0)
		return;
	dup2(fd, STDOUT_FILENO);
	close(fd);
}

EXPORT int start(void **data, void *ctx)
{
	int argc = 0, err;
	char **argv = perf_dlfilter_fns.args(ctx, &argc);
	char error[OPTIONS_ERROR];
	struct front *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	*data = f;
	f->ptwrite = unknown_name;
	f->keeps = WORDS_KEPT;
	err = options_parse(&f->options, argc, argv, error);
	f->off = f->options.help;
	if (err)
		err = complain(f, error, err);
	else if (f->options.help)
		options_help(stdout, "  perf script -i DIR/perf.data --itrace=we --dlfilter ocular.so "
				     "[--dlarg KEY=VALUE ...]\n");
	else if ((err = open_analysis(f)))
		complain(f, f->analysis.error, err);
	else {
		part_from_perf(f);
		begin_gathering(f);
	}
	if (err) {
		free_front(f);
		*data = NULL;
	}
	return err;
}

/* A name not seen before: the event's attributes decide. */
static COLD bool is_ptwrite(struct front *f, const struct perf_dlfilter_sample *s, void *ctx)
{
	const struct perf_event_attr *attr;

	if (!s->event)
		return false;
	if (!perf_dlfilter_fns.attr) /* perf before 6.0 */
		return !strncmp(s->event, "ptwrite", strlen("ptwrite"));
	attr = perf_dlfilter_fns.attr(ctx);
	if (!attr || attr->type != TYPE_SYNTH || attr->config != CONFIG_PTWRITE)
		return false;
	f->ptwrite = s->event;
	return true;
}

static bool is_event(const char **name, const struct perf_dlfilter_sample *s, void *ctx, uint32_t type, uint64_t config)
{
	const struct perf_event_attr *attr;

	if (s->event == *name && s->event)
		return true;
	if (*name || !s->event || !perf_dlfilter_fns.attr)
		return false;
	attr = perf_dlfilter_fns.attr(ctx);
	if (!attr || attr->type != type || attr->config != config)
		return false;
	*name = s->event;
	return true;
}

/*
 * The target of a TIP packet. The state that a PSB repeats makes such a sample, too, behind that of the PSB (itrace p)
 * and with its ip: it is not a branch. Called only if a code table has the handlers' addresses.
 */
static __attribute__((noinline)) bool is_tip(struct front *f, const struct perf_dlfilter_sample *s, void *ctx)
{
	bool repeated;

	if (is_event(&f->tips, s, ctx, TYPE_HARDWARE, CONFIG_INSTRUCTIONS)) {
		repeated = f->psb_ip == s->ip && f->psb_tid == s->tid;
		f->psb_ip = 0;
		return !repeated;
	}
	if (is_event(&f->psbs, s, ctx, TYPE_SYNTH, CONFIG_PSB)) {
		f->psb_ip = s->ip;
		f->psb_tid = s->tid;
	}
	return false;
}

static __attribute__((noinline)) int take_tip(struct front *f, const struct perf_dlfilter_sample *s)
{
	struct word w = { .pid = s->pid, .tid = s->tid, .time = s->time, .bits = s->ip };
	int err = end_run(f) ?: gather_word(&f->g, &w, RUN_BRANCHES);

	f->at = f->g.room->n;
	return err;
}

/* The analysis wants no more: it failed. */
static COLD int fail(struct front *f)
{
	int err = f->g.pipe ? end_gathering(f) : f->g.err;

	f->err = err;
	f->off = true;
	f->ptwrite = unknown_name;
	analysis_fail(&f->analysis, err);
	/* perf would add text of its own; whoever gave us a status descriptor reads errors there. */
	return f->options.status >= 0 ? 1 : err;
}

static __attribute__((noinline)) int fill_room(struct front *f)
{
	return end_run(f) ? fail(f) : 1;
}

/* There is a sample for each marker: nothing here but what each of them needs, and each call is the last thing done. */
static inline int put(struct front *f, const struct perf_dlfilter_sample *s)
{
	struct words *room = f->g.room;
	uint32_t at = f->at++;

	room->ns[at] = s->time;
	memcpy(&room->bits[at], (const char *)s->raw_data + PTWRITE_RAW_PAYLOAD, sizeof(room->bits[at]));
	return at + 1 == WORDS_MAX ? fill_room(f) : 1;
}

static __attribute__((noinline)) int change_thread(struct front *f, const struct perf_dlfilter_sample *s)
{
	if (end_run(f))
		return fail(f);
	f->pid = s->pid;
	f->tid = s->tid;
	return put(f, s);
}

static inline int take(struct front *f, const struct perf_dlfilter_sample *s)
{
	if (s->raw_size < PTWRITE_RAW_SIZE)
		return 1;
	return s->tid == f->tid && s->pid == f->pid ? put(f, s) : change_thread(f, s);
}

/* Not a sample of PTWRITE, or the first one; or there is nothing to do. */
static __attribute__((noinline)) int take_other(struct front *f, const struct perf_dlfilter_sample *s, void *ctx)
{
	if (f->off)
		return 1;
	if (is_ptwrite(f, s, ctx))
		return take(f, s);
	return f->analysis.recovers && is_tip(f, s, ctx) && take_tip(f, s) ? fail(f) : 1;
}

/* The event's name is compared as a pointer: it is the same for nearly every sample. */
EXPORT int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	struct front *f = data;

	if (!f)
		return 1;
	return sample->event == f->ptwrite ? take(f, sample) : take_other(f, sample, ctx);
}

static void finish(struct front *f)
{
	int err = f->err ? f->err : end_gathering(f);

	if (err && !f->err)
		analysis_fail(&f->analysis, err);
	err = err ?: analysis_finish(&f->analysis, true);

	progress_end(&f->progress);
	if (!err && !f->analysis.decoder.words)
		fprintf(stderr, "ocular: perf found no PTWRITE packets: was --itrace=we given, was the "
				"program traced (ocular record, python -m ocular), and were they "
				"recorded (-e intel_pt/ptw,cyc,branch=0/u)?\n");
	if (!err && analysis_is_foreign(&f->analysis))
		fprintf(stderr, "ocular: " ANALYSIS_FOREIGN "\n");
	if (!err && f->analysis.recovers)
		recover_report(&f->analysis.recover, stderr);
	if (err)
		complain(f, f->analysis.error, err);
	else if (f->options.status >= 0)
		dprintf(f->options.status, "ok\n");
	analysis_close(&f->analysis);
}

EXPORT int stop(void *data, void *ctx)
{
	struct front *f = data;

	(void)ctx;
	if (f && !f->options.help)
		finish(f);
	if (f)
		free_front(f);
	return 0;
}

EXPORT const char *filter_description(const char **long_description)
{
	*long_description = "Reads PTWRITE markers of Python events (record with 'ocular record').\n"
			    "\tAnalyse with:  perf script -i DIR/perf.data --itrace=we "
			    "--dlfilter ocular.so\n"
			    "\tArguments:     --dlarg help";
	return "Ocular: Python call stacks, loops and cycles from PTWRITE markers";
}
