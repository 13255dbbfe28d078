// SPDX-License-Identifier: MIT
#include "pid_list.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* The number at *at, which is put behind it; -1: there is none. */
static long next(const char **at)
{
	char *end;
	long pid;

	errno = 0;
	pid = **at >= '0' && **at <= '9' ? strtol(*at, &end, 10) : -1;
	if (pid < 0 || errno || pid > INT32_MAX)
		return -1;
	*at = end;
	return pid;
}

bool pid_list_valid(const char *list)
{
	list += *list == '^';
	while (next(&list) >= 0) {
		if (!*list)
			return true;
		if (*list++ != ',')
			return false;
	}
	return false;
}

bool pid_list_has(const char *list, int32_t pid)
{
	bool others = list && *list == '^', found = false;

	if (!list)
		return true;
	list += others;
	while (*list && !found) {
		found = next(&list) == pid;
		list += *list == ',';
	}
	return found != others;
}
