/* SPDX-License-Identifier: MIT */
/* options.c - getopt_long and its table. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "ring.h"

#define EXIT_USAGE 2

/*
 * 65536 records are 1 MiB: what the fastest program emits in 2 ms, while the recorder naps for one,
 * and what still fits the second-level cache.
 */
#define DEFAULT_RECORDS 65536u
#define DEFAULT_WAIT_MS 10000u
#define WAIT_MS_MAX	3600000u

static const char help[] =
	"Usage: ocular-record [OPTIONS] -- COMMAND [ARGS...]\n"
	"       ocular-record -o DIR --serve\n"
	"\n"
	"Records the markers of Python programs that trace themselves with Ocular, and of\n"
	"their children, into DIR/perf.data, an Intel PT recording that perf script reads.\n"
	"Ends as COMMAND ends: with its exit status, or by its signal.\n"
	"\n"
	"  -o, --output DIR      folder of the recording (default: ocular.data); a recording\n"
	"                        that is there is kept as DIR.old\n"
	"      --ring-records N  records of 16 bytes in each thread's ring, a power of two\n"
	"                        from 256 to 16777216 (default: 65536)\n"
	"      --wait-ms N       how long a thread whose ring is full waits before it drops\n"
	"                        markers and counts them (default: 10000)\n"
	"      --serve           record without a command, in the background, until a client\n"
	"                        asks to finish or all clients have ended\n"
	"  -q, --quiet           no progress and no summary, only errors and losses\n"
	"  -h, --help            this text\n"
	"\n"
	"Ctrl-C goes to COMMAND; a second one ends the recording at once, a third one does not\n"
	"wait for COMMAND any more.\n"
	"\n"
	"Examples:\n"
	"  ocular-record -o app.data -- python3 -m ocular app.py\n"
	"  ocular-record --wait-ms 0 -- make test    # never slow down, count what is lost\n"
	"  perf script -i app.data/perf.data --itrace=we --dlfilter ocular.so\n";

enum { OPT_RING = 256, OPT_WAIT, OPT_SERVE };

static const struct option table[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "ring-records", required_argument, NULL, OPT_RING },
	{ "wait-ms", required_argument, NULL, OPT_WAIT },
	{ "serve", no_argument, NULL, OPT_SERVE },
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
	case OPT_RING:
		return parse_records(optarg, &o->ring_records);
	case OPT_WAIT:
		return parse_number(optarg, 0, WAIT_MS_MAX, &o->wait_ms);
	case 'h':
		fputs(help, stdout);
		return EXIT_SUCCESS;
	default:
		return EXIT_USAGE; /* getopt has said what is wrong */
	}
}

int options_parse(struct options *o, int argc, char **argv)
{
	int opt, ret;

	*o = (struct options){
		.dir = "ocular.data",
		.ring_records = DEFAULT_RECORDS,
		.wait_ms = DEFAULT_WAIT_MS,
	};
	while ((opt = getopt_long(argc, argv, "+o:qh", table, NULL)) != -1) {
		ret = parse_one(o, opt);
		if (ret != OPTIONS_RUN)
			return ret;
	}
	if (o->serve && optind < argc)
		return usage("--serve takes no command: ", argv[optind]);
	if (!o->serve && optind == argc)
		return usage("no command to record", "");
	o->command = o->serve ? NULL : argv + optind;
	return OPTIONS_RUN;
}
