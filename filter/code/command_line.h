/* SPDX-License-Identifier: MIT */
/* command_line.h - what a command line of Python starts, as people call it. */
#pragma once

#include <jansson.h>

/*
 * Of the words that a header lists: "app.py" without its folders, "-m uvicorn", "-c"; the interpreter's name where it
 * is all that was started. A string for free(), or NULL: no words, or no memory.
 */
char *command_line_program(const json_t *argv);
