/* SPDX-License-Identifier: MIT */
/* options.c - getopt_long and its table. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/marker.h"
#include "options.h"
#include "shared/ring.h"

#define EXIT_USAGE 2

/*
 * 131072 records are 2 MiB: what the fastest program emits in 3 ms. The recorder naps for up to one, and on a virtual
 * machine may be away for another: with half as many, threads waited for room for 15 ms of 370, now for 2.
 */
#define DEFAULT_RECORDS	  131072u
#define DEFAULT_WAIT_MS	  10000u
#define DEFAULT_SNAPSHOTS 100u
#define WAIT_MS_MAX	  3600000u

static const char help[] =
	"Usage: ocular-record [OPTIONS] -- COMMAND [ARGS...]\n"
	"       ocular-record -o DIR --serve | --folder\n"
	"\n"
	"Records the markers of Python programs that trace themselves with Ocular, and of\n"
	"their children, into DIR/perf.data, an Intel PT recording that perf script reads.\n"
	"Ends as COMMAND ends: with its exit status, or by its signal.\n"
	"\n"
	"  -o, --output DIR      folder of the recording (default: ocular.data); a recording\n"
	"                        that is there is kept as DIR.old, one under way is refused\n"
	"      --ring-records N  records of 16 bytes in each thread's ring, a power of two\n"
	"                        from 256 to 16777216 (default: 131072)\n"
	"      --wait-ms N       how long a thread whose ring is full waits before it drops\n"
	"                        markers and counts them (default: 10000)\n"
	"      --flight LENGTH   flight recorder: rings overwrite themselves, and what is written are\n"
	"                        snapshots: the last LENGTH (10ms, 2s), or what rings of that size\n"
	"                        hold (512K, 4M a thread), before something happened: the program\n"
	"                        calls ocular.take_snapshot(), the recorder gets SIGUSR2, a process\n"
	"                        dies; if nothing has, before the end\n"
	"      --max-snapshots N take no more than so many (default: 100)\n"
	"      --trigger-symbol [OBJECT:]SYMBOL\n"
	"                        take one when any thread comes to that function of the program or\n"
	"                        of a library (libc.so.6:fsync), by a hardware breakpoint; up to 4\n"
	"      --duty PERCENT    trace in short windows that make up that share of the time (5%),\n"
	"                        at even spacing; between them the program runs as if untraced\n"
	"      --duty-window LENGTH\n"
	"                        of one window (default: 100ms)\n"
	"      --switch-output WHEN\n"
	"                        go on in a new perf.data when the file has that size (100M, 2G),\n"
	"                        that age (30s, 10m, 1h, 1d), or on SIGUSR2 (signal); the older ones\n"
	"                        are perf.data.TIMESTAMP; may be given for size and for age\n"
	"      --switch-max-files N\n"
	"                        keep only the newest N of them\n"
	"      --max-size SIZE   stop recording, not the program, when the recording has that size\n"
	"                        (500M, 20G; none: never); default: a tenth of what is free on its\n"
	"                        disk, at most 4G; none with --switch-max-files\n"
	"      --keep-last SIZE  keep only the end of the recording, so much of it, from 1M on; what came\n"
	"                        before is a hole in the file\n"
	"      --until-exit main|all\n"
	"                        record until COMMAND has ended, or until the last Python of those\n"
	"                        that it started has, too (default: all)\n"
	"      --serve           record without a command, in the background, until a client\n"
	"                        asks to finish or all clients have ended\n"
	"      --tied PID        with --serve: end when that process, which started it, has ended;\n"
	"                        with --folder: a control FIFO is there until then, too\n"
	"      --folder          only make the folder, for perf record to write into\n"
	"  -q, --quiet           no progress and no summary, only errors and losses\n"
	"  -h, --help            this text; --version\n"
	"\n"
	"Ctrl-C and SIGTERM go to COMMAND; a second one, or the first after COMMAND has ended, ends the\n"
	"recording at once, a third one does not wait for COMMAND any more. Those within 0.3 s of the last one are "
	"that one.\n"
	"\n"
	"Examples:\n"
	"  ocular-record -o app.data -- python3 -m ocular app.py\n"
	"  ocular-record --wait-ms 0 -- make test    # never slow down, count what is lost\n"
	"  ocular-record --flight 10ms -o app.data -- python3 -m ocular app.py\n"
	"  perf script -i app.data/perf.data --itrace=we --dlfilter ocular.so\n";

enum {
	OPT_RING = 256,
	OPT_WAIT,
	OPT_SERVE,
	OPT_FLIGHT,
	OPT_MOST,
	OPT_FOLDER,
	OPT_SYMBOL,
	OPT_TIED,
	OPT_DUTY,
	OPT_DUTY_WINDOW,
	OPT_SWITCH,
	OPT_SWITCH_FILES,
	OPT_MAX_SIZE,
	OPT_UNTIL,
	OPT_KEEP,
};

static const struct option table[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "ring-records", required_argument, NULL, OPT_RING },
	{ "wait-ms", required_argument, NULL, OPT_WAIT },
	{ "flight", required_argument, NULL, OPT_FLIGHT },
	{ "max-snapshots", required_argument, NULL, OPT_MOST },
	{ "trigger-symbol", required_argument, NULL, OPT_SYMBOL },
	{ "duty", required_argument, NULL, OPT_DUTY },
	{ "duty-window", required_argument, NULL, OPT_DUTY_WINDOW },
	{ "switch-output", required_argument, NULL, OPT_SWITCH },
	{ "switch-max-files", required_argument, NULL, OPT_SWITCH_FILES },
	{ "max-size", required_argument, NULL, OPT_MAX_SIZE },
	{ "keep-last", required_argument, NULL, OPT_KEEP },
	{ "until-exit", required_argument, NULL, OPT_UNTIL },
	{ "serve", no_argument, NULL, OPT_SERVE },
	{ "tied", required_argument, NULL, OPT_TIED },
	{ "folder", no_argument, NULL, OPT_FOLDER },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int usage(const char *what, const char *arg)
{
	fprintf(stderr, "ocular-record: %s%s (see --help)\n", what, arg);
	return EXIT_USAGE;
}

static int parse_number(const char *arg, uint32_t min, uint32_t max, uint32_t *value)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(arg, &end, 10);
	if (errno || *end || end == arg || *arg == '-' || n < min || n > max)
		return usage("not a possible number: ", arg);
	*value = n;
	return OPTIONS_RUN;
}

static int parse_records(const char *arg, uint32_t *value)
{
	int ret = parse_number(arg, RING_RECORDS_MIN, RING_RECORDS_MAX, value);

	if (ret == OPTIONS_RUN && *value & (*value - 1))
		return usage("not a power of two: ", arg);
	return ret;
}

/* Sizes and ages as perf record has them. */
static const struct unit {
	const char *name;
	uint64_t bytes, ns; /* one of the two */
} units[] = {
	{ "B", 1, 0 },
	{ "K", 1 << 10, 0 },
	{ "M", 1 << 20, 0 },
	{ "G", 1 << 30, 0 },
	{ "us", 0, 1000 },
	{ "ms", 0, 1000000 },
	{ "s", 0, 1000000000 },
	{ "m", 0, 60000000000 },
	{ "h", 0, 3600000000000 },
	{ "d", 0, 86400000000000 },
};

/* A number above 0 with one of the units in `of`, each between blanks; *n is in bytes or ns. NULL: it is not. */
static const struct unit *parse_amount(const char *arg, const char *of, uint64_t *n)
{
	char *end, name[8];

	*n = strtoul(arg, &end, 10);
	snprintf(name, sizeof(name), " %s ", end);
	for (size_t i = 0; *n && *arg >= '0' && *arg <= '9' && i < sizeof(units) / sizeof(*units); i++) {
		uint64_t one = units[i].bytes + units[i].ns;

		if (strcmp(end, units[i].name) || !strstr(of, name) || *n > INT64_MAX / one)
			continue;
		*n *= one;
		return &units[i];
	}
	return NULL;
}

/*
 * A ring has room for what the fastest program emits in the time: 13 records a microsecond, on the
 * machines that were measured (docs/benchmarks.md). A long window of a program that never is that
 * fast would take memory for nothing, so it is bounded; a snapshot tells when it was too little.
 */
#define FLIGHT_RECORDS_US  13u
#define FLIGHT_RECORDS_MAX (1u << 20)
#define FLIGHT_NS_MAX	   3600000000000ull

static uint32_t power_of_two(uint64_t n, uint32_t min, uint32_t most)
{
	uint32_t records = min;

	while (records < n && records < most)
		records *= 2;
	return records;
}

static int parse_flight(const char *arg, struct options *o)
{
	uint64_t n;
	const struct unit *unit = parse_amount(arg, " us ms s K M ", &n);

	if (!unit || n > (unit->ns ? FLIGHT_NS_MAX : RING_RECORDS_MAX * 16ull))
		return usage("not a time (10ms, 2s) or a size (512K, 4M): ", arg);
	o->flight = true;
	o->flight_ns = unit->ns ? n : 0;
	o->flight_records = unit->ns ? power_of_two(n / 1000 * FLIGHT_RECORDS_US, 4096, FLIGHT_RECORDS_MAX)
				     : power_of_two(n / 16, RING_RECORDS_MIN, RING_RECORDS_MAX);
	return OPTIONS_RUN;
}

/* A time no longer than `most`. */
static int parse_time(const char *arg, uint64_t most, uint64_t *ns)
{
	if (!parse_amount(arg, " us ms s ", ns) || *ns > most)
		return usage("not a time of at most a minute (100ms, 1s): ", arg);
	return OPTIONS_RUN;
}

/*
 * A window has to hold what is of interest whole, a request or some trips of a loop, and to be long
 * against what switching costs, which is that all code that runs is instrumented again.
 */
#define DUTY_WINDOW_NS	   100000000ull
#define DUTY_WINDOW_NS_MAX 60000000000ull
#define DUTY_LEAST	   0.01 /* per cent */

static int parse_duty(const char *arg, double *percent)
{
	char *end;

	*percent = strtod(arg, &end);
	if (strcmp(end, "%") || *arg < '0' || *arg > '9' || !(*percent >= DUTY_LEAST) || !(*percent < 100))
		return usage("not a share of the time (5%, 0.5%): ", arg);
	return OPTIONS_RUN;
}

/* Smaller files would hold little but their headers. */
/* A few chunks of each of some threads. */
#define KEEP_MIN	 (1u << 20)
#define SIZE_MIN	 65536u
#define SWITCH_FILES_MAX 1000000u

static int parse_switch(const char *arg, struct rotation_limits *l)
{
	const struct unit *unit;
	uint64_t n;

	if (!strcmp(arg, "signal")) {
		l->signal = true;
		return OPTIONS_RUN;
	}
	unit = parse_amount(arg, " B K M G s m h d ", &n);
	if (!unit || (unit->bytes && n < SIZE_MIN))
		return usage("not a size from 64K on (100M, 2G), an age (30s, 10m, 1h, 1d) or signal: ", arg);
	*(unit->bytes ? &l->bytes : &l->ns) = n;
	return OPTIONS_RUN;
}

static int parse_size(const char *arg, uint64_t least, uint64_t *bytes)
{
	if (!parse_amount(arg, " B K M G ", bytes) || *bytes < least)
		return usage(least > SIZE_MIN ? "not a size from 1M on (100M, 2G): "
					      : "not a size from 64K on (100M, 2G) or none: ",
			     arg);
	return OPTIONS_RUN;
}

static int parse_max_size(const char *arg, uint64_t *bytes)
{
	if (strcmp(arg, "none"))
		return parse_size(arg, SIZE_MIN, bytes);
	*bytes = UINT64_MAX;
	return OPTIONS_RUN;
}

static int parse_until(const char *arg, bool *main_only)
{
	*main_only = !strcmp(arg, "main");
	return *main_only || !strcmp(arg, "all") ? OPTIONS_RUN : usage("not main or all: ", arg);
}

static int parse_symbol(const char *arg, struct options *o)
{
	for (int i = 0; *arg && i < OPTIONS_SYMBOLS; i++)
		if (!o->symbols[i]) {
			o->symbols[i] = arg;
			return OPTIONS_RUN;
		}
	return usage("no symbol, or more than 4: ", arg);
}

static int parse_one(struct options *o, int opt)
{
	switch (opt) {
	case 'o':
		o->dir = optarg;
		return OPTIONS_RUN;
	case 'q':
		o->quiet = true;
		return OPTIONS_RUN;
	case OPT_SERVE:
		o->serve = true;
		return OPTIONS_RUN;
	case OPT_FOLDER:
		o->folder = true;
		return OPTIONS_RUN;
	case OPT_RING:
		return parse_records(optarg, &o->ring_records);
	case OPT_FLIGHT:
		return parse_flight(optarg, o);
	case OPT_MOST:
		return parse_number(optarg, 1, MARKER_OFFSET_MAX, &o->max_snapshots);
	case OPT_TIED:
		return parse_number(optarg, 1, INT32_MAX, &o->tied);
	case OPT_SYMBOL:
		return parse_symbol(optarg, o);
	case OPT_DUTY:
		return parse_duty(optarg, &o->duty_percent);
	case OPT_DUTY_WINDOW:
		return parse_time(optarg, DUTY_WINDOW_NS_MAX, &o->duty_window_ns);
	case OPT_SWITCH:
		return parse_switch(optarg, &o->rotation);
	case OPT_SWITCH_FILES:
		return parse_number(optarg, 1, SWITCH_FILES_MAX, &o->rotation.files);
	case OPT_MAX_SIZE:
		return parse_max_size(optarg, &o->max_size);
	case OPT_KEEP:
		return parse_size(optarg, KEEP_MIN, &o->keep_last);
	case OPT_UNTIL:
		return parse_until(optarg, &o->until_main);
	case OPT_WAIT:
		return parse_number(optarg, 0, WAIT_MS_MAX, &o->wait_ms);
	case 'h':
		fputs(help, stdout);
		return EXIT_SUCCESS;
	default:
		return EXIT_USAGE; /* getopt has said what is wrong */
	}
}

/* What fits together, and what follows from the rest. */
static int settle(struct options *o)
{
	if (!o->ring_records)
		o->ring_records = o->flight ? o->flight_records : DEFAULT_RECORDS;
	if (o->symbols[0] && !o->flight)
		return usage("--trigger-symbol needs --flight", "");
	if (o->duty_percent > 0 && o->flight)
		return usage("--duty and --flight: one of the two", "");
	if (o->rotation.files && !o->rotation.bytes && !o->rotation.ns && !o->rotation.signal)
		return usage("--switch-max-files needs --switch-output", "");
	if (o->rotation.signal && o->flight)
		return usage("with --flight SIGUSR2 takes a snapshot: switch by size or age", "");
	if (o->keep_last && (o->flight || o->rotation.bytes || o->rotation.ns || o->rotation.signal))
		return usage("--keep-last goes with neither --flight nor --switch-output", "");
	if ((o->rotation.files || o->keep_last) && !o->max_size)
		o->max_size = UINT64_MAX;
	if (o->duty_window_ns && !(o->duty_percent > 0))
		return usage("--duty-window needs --duty", "");
	if (o->duty_percent > 0) {
		if (!o->duty_window_ns)
			o->duty_window_ns = DUTY_WINDOW_NS;
		o->duty_period_ns = o->duty_window_ns * 100 / o->duty_percent;
	}
	return OPTIONS_RUN;
}

int options_parse(struct options *o, int argc, char **argv)
{
	int opt, ret;

	*o = (struct options){
		.dir = "ocular.data",
		.max_snapshots = DEFAULT_SNAPSHOTS,
		.wait_ms = DEFAULT_WAIT_MS,
	};
	while ((opt = getopt_long(argc, argv, "+o:qh", table, NULL)) != -1) {
		ret = parse_one(o, opt);
		if (ret != OPTIONS_RUN)
			return ret;
	}
	ret = settle(o);
	if (ret != OPTIONS_RUN)
		return ret;
	if ((o->serve || o->folder) && optind < argc)
		return usage("with --serve and --folder there is no command: ", argv[optind]);
	if (!o->serve && !o->folder && optind == argc)
		return usage("no command to record", "");
	o->command = optind < argc ? argv + optind : NULL;
	return OPTIONS_RUN;
}
