/* SPDX-License-Identifier: MIT */
/* running.c - see running.h. */
#include "running.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "image.h"

/*
 * Where the calling thread has a variable of a module (ELF Handling For Thread-Local Storage, 2013, section 3.4). Not
 * each processor's loader has it. Some add a constant to the offset: so it is only used for differences.
 */
struct tls_index {
	unsigned long module, offset;
};
extern void *__tls_get_addr(struct tls_index *index) __attribute__((weak));

_Thread_local PyThreadState *const *running_word;

/* Threads that look for it at once find the same. */
static struct {
	atomic_bool sought;
	_Atomic size_t module; /* 0: not found */
	_Atomic ptrdiff_t offset;
} running;

/* More that refer to the thread state are too many to choose from. */
#define WORDS 8

struct words {
	PyThreadState *const *all[WORDS];
	size_t n;
};

/* Aligned words of the memory with that value. */
static void words_with(struct words *w, const struct range *memory, const PyThreadState *value)
{
	uint64_t size = sizeof(value), at = (memory->start + size - 1) / size * size;

	for (w->n = 0; at + size <= memory->end; at += size) {
		PyThreadState *const *word = (PyThreadState *const *)at;

		if (*word != value)
			continue;
		if (w->n == WORDS) {
			w->n = 0;
			return;
		}
		w->all[w->n++] = word;
	}
}

/* Those of the words that have this value now. */
static void words_now(struct words *w, const PyThreadState *value)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		if (*w->all[i] == value)
			w->all[n++] = w->all[i];
	w->n = n;
}

/* The only word of the calling thread's storage that follows it when it is detached and attached again, or NULL. */
static PyThreadState *const *word_in(const struct range *storage)
{
	PyThreadState *state = running_asked();
	struct words w;

	words_with(&w, storage, state);
	if (!w.n)
		return NULL;
	PyEval_SaveThread();
	words_now(&w, NULL);
	PyEval_RestoreThread(state);
	words_now(&w, state);
	return w.n == 1 ? w.all[0] : NULL;
}

static const char *storage_of(size_t module)
{
	struct tls_index index = { .module = module };

	return __tls_get_addr(&index);
}

void running_find(void)
{
	PyThreadState *const *word;
	struct image cpython;

	if (running.sought)
		return;
	if (__tls_get_addr && image_of(&cpython, (const void *)PyEval_SaveThread)) {
		word = word_in(&cpython.tls);
		running.offset = word ? (const char *)word - storage_of(cpython.tls_module) : 0;
		running.module = word ? cpython.tls_module : 0;
	}
	running.sought = true;
}

PyThreadState *running_meet(void)
{
	PyThreadState *state = running_asked();
	PyThreadState *const *word;
	size_t module = running.module;

	if (!module)
		return state;
	word = (PyThreadState *const *)(storage_of(module) + running.offset);
	if (*word == state)
		running_word = word;
	else
		running.module = 0;
	return state;
}
