// SPDX-License-Identifier: MIT
/* O_NONBLOCK in case of a FIFO without a writer, O_NOCTTY in case of a terminal that would become ours. */
#include "regular.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int regular_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}
