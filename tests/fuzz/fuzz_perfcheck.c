// SPDX-License-Identifier: MIT
/*
 * fuzz_perfcheck.c - any bytes as a perf.data: checked, repaired, and whole after the repair.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perf_mutator.h"
#include "shared/perfcheck.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfcheck c;
	int fd = memfd_create("perf.data", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (!perfcheck_file(&c, fd) && c.verdict == PERF_REPAIRABLE)
		if (perfcheck_repair(&c, fd) || perfcheck_file(&c, fd) || c.verdict != PERF_WHOLE)
			abort();
	close(fd);
	return 0;
}
