/* SPDX-License-Identifier: MIT */
/* adaptive.c - see adaptive.h: the only file that knows CPython's private layouts. */
#include <patchlevel.h>

#if PY_VERSION_HEX >= 0x030e0000
#define Py_BUILD_CORE /* what pycore_instruments.h asks for */
#endif
#include "adaptive.h"
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_instruments.h>
#endif

uint8_t adaptive_raw(PyCodeObject *code, Py_ssize_t i)
{
	return (uint8_t)code->co_code_adaptive[2 * i];
}

uint8_t adaptive_under_line(PyCodeObject *code, Py_ssize_t i)
{
	if (!code->_co_monitoring || !code->_co_monitoring->lines)
		return 0;
#if PY_VERSION_HEX >= 0x030e0000
	return code->_co_monitoring->lines->data[i * code->_co_monitoring->lines->bytes_per_entry];
#else
	return code->_co_monitoring->lines[i].original_opcode;
#endif
}

uint8_t adaptive_under_instruction(PyCodeObject *code, Py_ssize_t i)
{
	if (!code->_co_monitoring || !code->_co_monitoring->per_instruction_opcodes)
		return 0;
	return code->_co_monitoring->per_instruction_opcodes[i];
}
