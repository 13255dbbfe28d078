/* SPDX-License-Identifier: MIT */
/*
 * array.h - arrays of malloc that grow.
 *
 * Both are true if there is room for one more element behind the first n, and false if there is no memory: then the
 * array is as it was. New elements are not set.
 */
#pragma once

#include <stdbool.h>
#include <stdlib.h>

/* Of arrays that get long: `room` is how many elements there is memory for, and doubles. */
#define ARRAY_ROOM(array, n, room) \
	((n) < (room) || ({ \
		 typeof(room) array_room = (room) ? 2 * (room) : 16; \
		 bool array_grown = array_room > (room) && ARRAY_RESIZE(array, array_room); \
		 if (array_grown) \
			 (room) = array_room; \
		 array_grown; \
	 }))

/* Of arrays that stay short: it is as long as what is in it. */
#define ARRAY_ONE_MORE(array, n) ARRAY_RESIZE(array, (size_t)(n) + 1)

#define ARRAY_RESIZE(array, n) \
	({ \
		typeof(array) array_moved = reallocarray((array), (n), sizeof(*(array))); \
		if (array_moved) \
			(array) = array_moved; \
		array_moved != NULL; \
	})
