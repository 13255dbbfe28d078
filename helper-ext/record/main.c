/* SPDX-License-Identifier: MIT */
/*
 * ocular-record - drains the rings of traced processes into a perf.data with an Intel PT stream.
 *
 *   options -> folder, file, socket -> target -> { rings -> streams -> file } -> exit as the target
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control.h"
#include "recorder.h"
#include "serve.h"
#include "skew.h"
#include "shared/version.h"

#define EXIT_CANNOT_RUN 126 /* as shells and env(1) do */
#define EXIT_NOT_FOUND	127

/* Starts the target; on failure removes what was made for it and returns an exit status. */
static int start_target(struct recorder *r, char **command)
{
	int err = target_start(&r->target, command, r->folder.path, &r->inherit);

	if (!err)
		return 0;
	fprintf(stderr, "ocular-record: cannot run %s: %s\n", command[0], strerror(-err));
	recorder_cancel(r);
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

static int record(const struct options *options)
{
	struct recorder r;
	int status, err;

	if (recorder_open(&r, options, -1) < 0)
		return EXIT_FAILURE;
	status = start_target(&r, options->command);
	if (status)
		return status;
	recorder_run(&r);
	err = recorder_close(&r);
	status = target_exit_status(&r.target);
	return !status && err ? EXIT_FAILURE : status;
}

static int report_untied(uint32_t pid)
{
	fprintf(stderr, "ocular-record: cannot wait for the end of process %u: %s\n", pid, strerror(errno));
	return EXIT_FAILURE;
}

static int serve(const struct options *options)
{
	struct recorder r;
	/* Our parent may have died by now: then getppid() would be another process, which lives for ever. */
	int starter = process_open(options->tied ? options->tied : (uint32_t)getppid()), report;

	if (options->tied && starter < 0)
		return report_untied(options->tied);
	report = serve_detach();
	if (report < 0 || recorder_open(&r, options, starter) < 0)
		return EXIT_FAILURE;
	serve_ready(report, EXIT_SUCCESS);
	recorder_run(&r);
	return recorder_close(&r) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* perf reads its orders from a FIFO, but does not remove it: it stays until that process, which becomes perf, ends. */
static int lend_control(const struct folder *folder, uint32_t pid)
{
	struct pollfd perf = { .fd = process_open(pid), .events = POLLIN };
	struct control control;
	int report;

	if (perf.fd < 0)
		return report_untied(pid);
	report = serve_detach();
	if (report < 0 || control_open(&control, folder->fd))
		return EXIT_FAILURE;
	serve_ready(report, EXIT_SUCCESS);
	while (poll(&perf, 1, -1) < 0 && errno == EINTR)
		;
	control_close(&control, folder->fd);
	return EXIT_SUCCESS;
}

static int make_folder(const struct options *options)
{
	struct folder folder;

	if (recorder_folder(&folder, options->dir))
		return EXIT_FAILURE;
	return options->tied ? lend_control(&folder, options->tied) : EXIT_SUCCESS;
}

static int compare_clocks(void)
{
	struct clock clock;
	struct skew skew;
	int err;

	clock_start(&clock);
	err = skew_measure(&skew);
	if (err) {
		fprintf(stderr, "ocular-record: cannot compare the processors' clocks: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	clock_update(&clock);
	return skew_tell(&skew, clock_hz(&clock));
}

int main(int argc, char **argv)
{
	struct options options;
	int status;

	if (version_asked(argc, argv, "ocular-record"))
		return EXIT_SUCCESS;
	inherit_standard();
	status = options_parse(&options, argc, argv);
	if (status != OPTIONS_RUN)
		return status;
	if (options.clocks)
		return compare_clocks();
	if (options.folder)
		return make_folder(&options);
	return options.serve ? serve(&options) : record(&options);
}
