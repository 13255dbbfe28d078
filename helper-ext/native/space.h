/* SPDX-License-Identifier: MIT */
/* space.h - which files are mapped where in a process, as far as code can run there. */
#pragma once

#include "object.h"

struct mapping {
	uint64_t start, end, offset; /* offset: in the file */
	uint64_t inode;
	char *path;	       /* "" for memory of no file */
	struct object *object; /* NULL: not asked for yet */
};

struct space {
	uint32_t pid;
	struct mapping *all; /* ascending, apart from each other */
	size_t n;
};

/* As /proc/PID/maps has it now, in place of what was known. 0 or a negative errno: it stays as it was. */
int space_read(struct space *s, uint32_t pid);

/* One more; it takes the place of what it covers. 0 or -ENOMEM. */
int space_map(struct space *s, uint64_t start, uint64_t end, uint64_t offset, uint64_t inode, const char *path);
void space_free(struct space *s);

/* NULL: nothing that is known of is there. */
struct mapping *space_find(const struct space *s, uint64_t address);
