// SPDX-License-Identifier: MIT
#include "sink_perfetto.h"

#include <string.h>

#include "chrome.h"
#include "pftrace.h"

static bool ends_in(const char *path, size_t length, const char *end)
{
	size_t n = strlen(end);

	return length >= n && !strncmp(path + length - n, end, n);
}

int sink_perfetto_open(struct sink **out, const struct sink_options *o, char *error)
{
	size_t length = strlen(o->path);

	if (ends_in(o->path, length, ".gz"))
		length -= strlen(".gz");
	return timeline_open(out, ends_in(o->path, length, ".pftrace") ? &pftrace_format : &chrome_format, o, error);
}
