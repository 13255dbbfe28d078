// SPDX-License-Identifier: MIT
/*
 * fuzz_feed.c - any bytes as an events text: through stacks, loops and every sink.
 */
#include <stdlib.h>

#include "analysis.h"
#include "feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *words[] = { "perfetto=/dev/null", "summary=/dev/null", "events=/dev/null" };
	char error[ANALYSIS_ERROR];
	struct options o;
	struct analysis a;
	FILE *f;

	if (!size)
		return 0;
	if (options_parse(&o, 3, words, error) || analysis_open(&a, &o, NULL))
		abort();
	f = fmemopen((void *)data, size, "r");
	feed_file(f, &a.codes, trace_feed, &a.trace, error, sizeof(error));
	fclose(f);
	analysis_finish(&a, false);
	analysis_close(&a);
	return 0;
}
