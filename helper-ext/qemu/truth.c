/* SPDX-License-Identifier: MIT */
/* truth.c - see truth.h. Each line is one write(2) at the end of the file. */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "truth.h"

static void append(const char *spools, const char *line)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", spools, TRUTH_FILE);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	(void)!write(fd, line, strlen(line));
	close(fd);
}

/* A trace's idx is its file's number: all files become traces. */
void truth_word(const struct side *s, const char *kind, uint64_t instructions, uint64_t word, const struct spool *trace)
{
	char line[200];

	snprintf(line, sizeof(line), "%s %u %u %" PRIu64 " %" PRIu64 " %" PRIx64 " %ld %" PRIu64 "\n", kind, s->pid,
		 s->tid, s->tsc, instructions, word, strtol(strrchr(trace->path, '/') + 1, NULL, 10),
		 trace->head->used);
	append(s->spools, line);
}

void truth_trace(const char *spools, uint32_t idx, const struct spool_head *h)
{
	char line[160];

	snprintf(line, sizeof(line), "trace %u %u %d %d %" PRIu64 " %" PRIu64 "\n", idx, h->pid, (int)h->tid,
		 (int)h->cpu, h->instructions, h->surprises);
	append(spools, line);
}
