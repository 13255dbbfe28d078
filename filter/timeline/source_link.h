/* SPDX-License-Identifier: MIT */
/*
 * source_link.h - where a function's source is on the web, for viewers that make links of what begins with http://.
 *
 * A pattern such as https://example.com/shop/blob/v1.4/{file}#L{line}: {file} is the path from the program's current
 * folder on. Files outside of it, and libraries in it, have no link.
 */
#pragma once

#include "code/code.h"

/* Is it http:// or https://, with a {file} and no other names in braces than {line}? */
bool source_link_is_valid(const char *pattern);

/* pattern: NULL: none. Without a link the code's file, as UTF-8. To be freed; NULL: no memory. */
char *source_link(const char *pattern, const struct code *code);
