/* SPDX-License-Identifier: MIT */
/* ocular-fsck - says whether a perf.data is intact, and makes one that was cut readable again. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "shared/perfcheck.h"
#include "shared/version.h"

static const char help[] = "Usage: ocular-fsck [-n] DIR|FILE\n"
			   "\n"
			   "Checks a recording's perf.data. One that was cut, by a full disk or a copy that did\n"
			   "not end, is repaired in place: its header then covers the intact records,\n"
			   "and every report says that the end is missing.\n"
			   "\n"
			   "  -n          only say what is wrong\n"
			   "  -h, --help  this text; --version\n"
			   "\n"
			   "Exit status: 0 intact, 1 repaired (with -n: can be), 2 cannot be used.\n"
			   "\n"
			   "Examples:\n"
			   "  ocular-fsck ocular.data\n"
			   "  ocular-fsck -n perf.data || echo damaged\n";

static int fail(const char *path, const char *what)
{
	fprintf(stderr, "ocular-fsck: %s: %s\n", path, what);
	return PERF_UNUSABLE;
}

static int check(const char *path, int fd, bool repair)
{
	struct perfcheck c;
	int err = perfcheck_file(&c, fd);

	if (err)
		return fail(path, strerror(-err));
	if (!c.finding[0])
		return PERF_WHOLE;
	fprintf(stderr, "ocular-fsck: %s %s\n", path, c.finding);
	if (c.verdict != PERF_REPAIRABLE || !repair)
		return c.verdict;
	err = perfcheck_repair(&c, fd);
	if (err)
		return fail(path, strerror(-err));
	fprintf(stderr, "ocular-fsck: %s repaired\n", path);
	return PERF_REPAIRABLE;
}

/* DIR stands for DIR/perf.data. */
static int check_path(const char *arg, bool repair)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, ret;

	if (stat(arg, &st) == 0 && S_ISDIR(st.st_mode))
		ret = snprintf(path, sizeof(path), "%s/" FOLDER_DATA, arg);
	else
		ret = snprintf(path, sizeof(path), "%s", arg);
	if (ret >= (int)sizeof(path))
		return fail(arg, strerror(ENAMETOOLONG));
	fd = open(path, (repair ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && repair) /* a read-only recording may well be intact */
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fail(path, strerror(errno));
	ret = check(path, fd, repair);
	close(fd);
	return ret;
}

int main(int argc, char **argv)
{
	bool repair = true;
	int opt = 1;

	if (version_asked(argc, argv, "ocular-fsck"))
		return 0;
	if (argc > 1 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0)) {
		fputs(help, stdout);
		return 0;
	}
	if (argc > opt && strcmp(argv[opt], "-n") == 0) {
		repair = false;
		opt++;
	}
	if (argc != opt + 1 || argv[opt][0] == '-') {
		fputs("Usage: ocular-fsck [-n] DIR|FILE (see --help)\n", stderr);
		return PERF_UNUSABLE;
	}
	return check_path(argv[opt], repair);
}
