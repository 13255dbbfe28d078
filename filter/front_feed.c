// SPDX-License-Identifier: MIT
/*
 * ocular-feed [KEY=VALUE ...] FILE: analyses an events text as the dlfilter analyses a recording.
 * "-" is standard input. Exit 0, or 1 with one line on stderr.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "feed.h"
#include "shared/version.h"

#define USAGE "usage: ocular-feed [KEY=VALUE ...] FILE"

static int fail(const char *why)
{
	fprintf(stderr, "ocular-feed: %s\n", why);
	return EXIT_FAILURE;
}

static int analyse(struct analysis *a, FILE *f)
{
	int err = feed_file(f, &a->codes, analysis_feed, a, a->error, sizeof(a->error));

	return err ? analysis_fail(a, err) : analysis_finish(a, false);
}

int main(int argc, char **argv)
{
	struct options o;
	struct analysis a;
	char error[OPTIONS_ERROR];
	FILE *f = stdin;
	int err;

	if (version_asked(argc, argv, "ocular-feed"))
		return EXIT_SUCCESS;
	if (argc < 2)
		return fail(USAGE);
	if (argc == 2 && options_is_help(argv[1])) {
		options_help(stdout, USAGE "\n");
		return EXIT_SUCCESS;
	}
	if (options_parse(&o, argc - 2, argv + 1, error))
		return fail(error);
	if (strcmp(argv[argc - 1], "-"))
		f = fopen(argv[argc - 1], "re");
	if (!f)
		return fail(strerror(errno));
	if (analysis_open(&a, &o, o.codes))
		return fail(a.error);
	err = analyse(&a, f);
	if (err)
		fail(a.error);
	else if (a.recovers)
		recover_report(&a.recover, stderr);
	analysis_close(&a);
	fclose(f);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
