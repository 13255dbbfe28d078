/* SPDX-License-Identifier: MIT */
/*
 * threads.h - the names that Python gave its threads.
 */
#pragma once

#include <stdint.h>

/*
 * Write the calling thread's name into the code table, if it is a threading.Thread: its outermost frame is then
 * Thread._bootstrap, whose `self` is the Thread. Other threads have no name. In a subclass the name may be a property,
 * which runs Python code.
 */
void threads_record(uint32_t tid);
