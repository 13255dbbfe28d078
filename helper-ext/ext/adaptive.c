/* SPDX-License-Identifier: MIT */
/*
 * adaptive.c - see adaptive.h: the only file that knows CPython's private layouts. They change with each version, and
 * what a later one has is not guessed.
 */
#include <patchlevel.h>

#if PY_VERSION_HEX >= 0x03100000
#error "Ocular does not know the internals of CPython 3.16 and newer: use a newer Ocular"
#endif
#if PY_VERSION_HEX >= 0x030e0000
#define Py_BUILD_CORE /* required by pycore_instruments.h */
#endif
#include "adaptive.h"
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_instruments.h>
#endif

#if defined(Py_GIL_DISABLED) && PY_VERSION_HEX >= 0x030e0000
#define THREADS_COPY 1
#include <internal/pycore_tstate.h>
#else
#define THREADS_COPY 0
#endif

#define EXECUTORS (PY_VERSION_HEX >= 0x030e0000)

#if EXECUTORS
#include <internal/pycore_backoff.h>
#include <internal/pycore_code.h>
#include <internal/pycore_optimizer.h>
#endif

#if THREADS_COPY
Py_ssize_t adaptive_copies(PyCodeObject *code)
{
	return __atomic_load_n(&code->co_tlbc, __ATOMIC_ACQUIRE)->size;
}

/* An array that became too short is freed when no thread can be using it any more (QSBR). */
const uint8_t *adaptive_copy(PyCodeObject *code, Py_ssize_t copy)
{
	_PyCodeArray *all = __atomic_load_n(&code->co_tlbc, __ATOMIC_ACQUIRE);

	return copy < all->size ? (const uint8_t *)__atomic_load_n(&all->entries[copy], __ATOMIC_ACQUIRE) : NULL;
}

int adaptive_own_copy(void)
{
	return ((_PyThreadStateImpl *)PyThreadState_Get())->tlbc_index;
}
#else
Py_ssize_t adaptive_copies(PyCodeObject *code)
{
	(void)code;
	return 1;
}

const uint8_t *adaptive_copy(PyCodeObject *code, Py_ssize_t copy)
{
	return copy ? NULL : (const uint8_t *)code->co_code_adaptive;
}

int adaptive_own_copy(void)
{
	return -1;
}
#endif

/*
 * 3.13.3 changed the entries from {opcode, delta} to bytes_per_entry bytes, the opcode first
 * (gh-127953). One binary serves all of 3.13, so the version that runs decides, not the headers.
 */
#define LINES_OF_ANY_WIDTH 0x030d0300

uint8_t adaptive_under_line(PyCodeObject *code, Py_ssize_t i)
{
	const uint8_t *lines;

	if (!code->_co_monitoring || !code->_co_monitoring->lines)
		return 0;
	lines = (const uint8_t *)code->_co_monitoring->lines;
	return Py_Version >= LINES_OF_ANY_WIDTH ? lines[1 + i * lines[0]] : lines[2 * i];
}

uint8_t adaptive_under_instruction(PyCodeObject *code, Py_ssize_t i)
{
	if (!code->_co_monitoring || !code->_co_monitoring->per_instruction_opcodes)
		return 0;
	return code->_co_monitoring->per_instruction_opcodes[i];
}

#if EXECUTORS
bool adaptive_executor(PyCodeObject *code, Py_ssize_t i, struct adaptive_executor *e)
{
	const _PyExecutorArray *all = code->co_executors;

	if (!all || i >= all->size)
		return false;
	*e = (struct adaptive_executor){ 0 };
	if (all->executors[i]) {
		e->unit = all->executors[i]->vm_data.index;
		e->entry = (uintptr_t)all->executors[i]->jit_code;
	}
	return true;
}
#else
bool adaptive_executor(PyCodeObject *code, Py_ssize_t i, struct adaptive_executor *e)
{
	(void)code, (void)i, (void)e;
	return false;
}
#endif
