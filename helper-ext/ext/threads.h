/* SPDX-License-Identifier: MIT */
/*
 * threads.h - what the code table says of a thread: its name, and which copies of bytecode it runs.
 */
#pragma once

#include <stdint.h>

/*
 * Write both for the calling thread: the number of its copies, if threads have copies (adaptive.h), and its name, if it
 * is a threading.Thread: its outermost frame is then Thread._bootstrap, whose `self` is the Thread. Other threads
 * have no name. In a subclass the name may be a property, which runs Python code.
 */
void threads_record(uint32_t tid);
