/* SPDX-License-Identifier: MIT */
/* options.c - the options of ocular-record, by getopt_long. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/marker.h"
#include "options.h"
#include "record_options.h"
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

static const char help_head[] = "Usage: ocular-record [OPTIONS] -- COMMAND [ARGS...]\n"
				"       ocular-record -o DIR --serve | --folder\n"
				"       ocular-record --clocks\n"
				"\n"
				"Records the markers of Python programs that trace themselves with Ocular, and of\n"
				"their children, into DIR/perf.data, an Intel PT recording that perf script reads.\n"
				"Ends as COMMAND ends: with its exit status, or by its signal.\n"
				"\n";

static const char help_tail[] =
	"\n"
	"Ctrl-C and SIGTERM go to COMMAND; a second one, or the first after COMMAND has ended, ends\n"
	"the recording at once; a third one does not wait for COMMAND any more. Interrupts within\n"
	"0.3 s of each other count as one.\n"
	"\n"
	"Examples:\n"
	"  ocular-record -o app.data -- python3 -m ocular app.py\n"
	"  ocular-record --wait-ms 0 -- make test    # never slow down, count what is lost\n"
	"  ocular-record --flight 10ms -o app.data -- python3 -m ocular app.py\n"
	"  perf script -i app.data/perf.data --itrace=we --dlfilter ocular.so\n";

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
		return usage("not a number in range: ", arg);
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

/* Sizes and ages in perf record's form. */
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

/* A number above 0 with one of the units in `of`, each between blanks; *n is in bytes or ns. NULL: it is not one. */
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
 * A ring has room for what the fastest program emits in the time: 13 records a microsecond, on the machines that were
 * measured (tests/bench/README.md). A long window of a slower program would take memory for nothing, so it is bounded;
 * a snapshot reports when it was too small.
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

static int set_flight(const char *arg, struct options *o)
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

/*
 * A window must hold something of interest completely, a request or some trips of a loop, and be long compared with the
 * cost of switching, which instruments all running code again.
 */
#define DUTY_WINDOW_NS	   100000000ull
#define DUTY_WINDOW_NS_MAX 60000000000ull
#define DUTY_LEAST	   0.01 /* per cent */

static int set_duty(const char *arg, struct options *o)
{
	double *percent = &o->duty_percent;
	char *end;

	*percent = strtod(arg, &end);
	if (strcmp(end, "%") || *arg < '0' || *arg > '9' || !(*percent >= DUTY_LEAST) || !(*percent < 100))
		return usage("not a share of the time (5%, 0.5%): ", arg);
	return OPTIONS_RUN;
}

static int set_duty_window(const char *arg, struct options *o)
{
	if (!parse_amount(arg, " us ms s ", &o->duty_window_ns) || o->duty_window_ns > DUTY_WINDOW_NS_MAX)
		return usage("not a time of at most a minute (100ms, 1s): ", arg);
	return OPTIONS_RUN;
}

/* Smaller files would hold little but their headers. */
/* A few chunks for each of some threads. */
#define KEEP_MIN	 (1u << 20)
#define SIZE_MIN	 65536u
#define SWITCH_FILES_MAX 1000000u

static int set_switch_output(const char *arg, struct options *o)
{
	struct rotation_limits *l = &o->rotation;
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

static int set_max_size(const char *arg, struct options *o)
{
	if (strcmp(arg, "none"))
		return parse_size(arg, SIZE_MIN, &o->max_size);
	o->max_size = UINT64_MAX;
	return OPTIONS_RUN;
}

static int set_until_exit(const char *arg, struct options *o)
{
	o->until_main = !strcmp(arg, "main");
	return o->until_main || !strcmp(arg, "all") ? OPTIONS_RUN : usage("not main or all: ", arg);
}

static int set_clock(const char *arg, struct options *o)
{
	o->coarse = !strcmp(arg, "coarse");
	return o->coarse || !strcmp(arg, "exact") ? OPTIONS_RUN : usage("not exact or coarse: ", arg);
}

static int set_trigger_symbol(const char *arg, struct options *o)
{
	for (int i = 0; *arg && i < OPTIONS_SYMBOLS; i++)
		if (!o->symbols[i]) {
			o->symbols[i] = arg;
			return OPTIONS_RUN;
		}
	return usage("no symbol, or more than 4: ", arg);
}

static int set_output(const char *arg, struct options *o)
{
	o->dir = arg;
	return OPTIONS_RUN;
}

static int set_ring_records(const char *arg, struct options *o)
{
	return parse_records(arg, &o->ring_records);
}

static int set_keep_last(const char *arg, struct options *o)
{
	return parse_size(arg, KEEP_MIN, &o->keep_last);
}

#define NUMBER(name, field, min, max) \
	static int set_##name(const char *arg, struct options *o) \
	{ \
		return parse_number(arg, min, max, &o->field); \
	}
#define NATIVE_MAX 10000u /* a sample takes some 10 us */
NUMBER(native, native_hz, 1, NATIVE_MAX)
NUMBER(wait_ms, wait_ms, 0, WAIT_MS_MAX)
NUMBER(max_snapshots, max_snapshots, 1, MARKER_OFFSET_MAX)
NUMBER(switch_max_files, rotation.files, 1, SWITCH_FILES_MAX)
NUMBER(tied, tied, 1, INT32_MAX)
#undef NUMBER

#define FLAG(name) \
	static int set_##name(const char *arg, struct options *o) \
	{ \
		(void)arg; \
		o->name = true; \
		return OPTIONS_RUN; \
	}
FLAG(serve)
FLAG(folder)
FLAG(clocks)
FLAG(quiet)
#undef FLAG

static int set_help(const char *arg, struct options *o)
{
	(void)arg;
	(void)o;
	printf("%s%s%s", help_head, RECORD_HELP, help_tail);
	return EXIT_SUCCESS;
}

/* The list is in helper-ext/ocular/options.py: what getopt takes, what sets it, and what --help says. */
static const struct row {
	char letter; /* 0: none */
	const char *name;
	bool takes_value;
	int (*set)(const char *arg, struct options *o); /* OPTIONS_RUN, or the exit status */
} rows[] = {
#define ROW(...) { __VA_ARGS__ },
	RECORD_ROWS(ROW)
#undef ROW
};

#define ROWS (sizeof(rows) / sizeof(*rows))

/* getopt's two forms of the rows; an option is identified by its row's number, or by its letter. */
#define LONG_OPTION 256

static void getopt_tables(struct option longs[ROWS + 1], char shorts[2 * ROWS + 2])
{
	*shorts++ = '+'; /* words after the command are its own */
	for (size_t i = 0; i < ROWS; i++) {
		longs[i] = (struct option){ rows[i].name, rows[i].takes_value ? required_argument : no_argument, NULL,
					    LONG_OPTION + (int)i };
		if (rows[i].letter)
			*shorts++ = rows[i].letter;
		if (rows[i].letter && rows[i].takes_value)
			*shorts++ = ':';
	}
	longs[ROWS] = (struct option){ 0 };
	*shorts = '\0';
}

static int parse_one(struct options *o, int opt)
{
	for (size_t i = 0; i < ROWS; i++)
		if (opt == LONG_OPTION + (int)i || (rows[i].letter && opt == rows[i].letter))
			return rows[i].set(optarg, o);
	return EXIT_USAGE; /* getopt has printed the error */
}

/* Checks combinations, and sets what follows from other options. */
static int settle(struct options *o)
{
	if (!o->ring_records)
		o->ring_records = o->flight ? o->flight_records : DEFAULT_RECORDS;
	if (o->symbols[0] && !o->flight)
		return usage("--trigger-symbol needs --flight", "");
	if (o->native_hz && o->flight)
		return usage("--native and --flight cannot be combined", "");
	if (o->duty_percent > 0 && o->flight)
		return usage("--duty and --flight cannot be combined", "");
	if (o->rotation.files && !o->rotation.bytes && !o->rotation.ns && !o->rotation.signal)
		return usage("--switch-max-files needs --switch-output", "");
	if (o->rotation.signal && o->flight)
		return usage("with --flight SIGUSR2 takes a snapshot: switch by size or age", "");
	if (o->keep_last && (o->flight || o->rotation.bytes || o->rotation.ns || o->rotation.signal))
		return usage("--keep-last cannot be combined with --flight or --switch-output", "");
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
	struct option longs[ROWS + 1];
	char shorts[2 * ROWS + 2];
	int opt, ret;
	bool alone;

	getopt_tables(longs, shorts);
	*o = (struct options){
		.dir = "ocular.data",
		.max_snapshots = DEFAULT_SNAPSHOTS,
		.wait_ms = DEFAULT_WAIT_MS,
	};
	while ((opt = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		ret = parse_one(o, opt);
		if (ret != OPTIONS_RUN)
			return ret;
	}
	ret = settle(o);
	if (ret != OPTIONS_RUN)
		return ret;
	alone = o->serve || o->folder || o->clocks;
	if (alone && optind < argc)
		return usage("--serve, --folder and --clocks take no command: ", argv[optind]);
	if (!alone && optind == argc)
		return usage("no command to record", "");
	o->command = optind < argc ? argv + optind : NULL;
	return OPTIONS_RUN;
}
