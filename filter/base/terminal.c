// SPDX-License-Identifier: MIT
#include "terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>

#define MOST 100000 /* columns: what is more is a mistake */

unsigned terminal_columns(int fd)
{
	const char *wanted = getenv("COLUMNS");
	struct winsize size;
	char *end;
	unsigned long n = wanted ? strtoul(wanted, &end, 10) : 0;

	if (wanted && *wanted >= '0' && *wanted <= '9' && !*end && n <= MOST)
		return n;
	return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}
