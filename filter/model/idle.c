// SPDX-License-Identifier: MIT
#include "idle.h"

#include <string.h>

#define DEEPEST 8 /* functions from the worker's to the one that waits: queues of Python wait in a condition */

/* Functions that take jobs, each by a queue's get() or by a lock of its own, and what they are the worker of. */
static const struct {
	const char *file, *qualname;
} workers[] = {
	{ "concurrent/futures/thread.py", "_worker" },
	{ "concurrent/futures/process.py", "_process_worker" },
	{ "multiprocessing/pool.py", "worker" },
	{ "anyio/_backends/_asyncio.py", "WorkerThread.run" },
	{ "trio/_core/_thread_cache.py", "WorkerThread._work" },
	{ "twisted/_threads/_threadworker.py", "ThreadWorker.__init__.<locals>.work" },
	{ "distributed/threadpoolexecutor.py", "_worker" },
	{ "loky/process_executor.py", "_process_worker" },
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), most = strlen(end);

	return n >= most && !strcmp(text + n - most, end);
}

static bool is_worker(const struct code *code)
{
	for (size_t i = 0; i < sizeof(workers) / sizeof(workers[0]); i++)
		if (!strcmp(code->qualname, workers[i].qualname) && ends_with(code->file, workers[i].file))
			return true;
	return false;
}

/* What the worker called, if anything, is the get(): not the job. */
bool idle_is_worker(const struct stack *s)
{
	for (uint32_t i = s->nframes; i > 0 && s->nframes - i < DEEPEST; i--)
		if (is_worker(s->frames[i - 1].a.code))
			return i == s->nframes || ends_with(s->frames[i].a.code->qualname, ".get");
	return false;
}
