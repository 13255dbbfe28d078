// SPDX-License-Identifier: MIT
#include "json.h"

#include <stdlib.h>

#include "text.h"

json_t *json_text(const char *s)
{
	char *valid = s ? text_utf8(s) : NULL;
	json_t *v = s ? json_string(valid) : json_null();

	free(valid);
	return v;
}

json_t *json_join(json_t *o, json_t *more)
{
	if (o && more && !json_object_update(o, more)) {
		json_decref(more);
		return o;
	}
	json_decref(o);
	json_decref(more);
	return NULL;
}

json_t *json_append(json_t *array, json_t *value)
{
	if (!json_array_append_new(array, value))
		return array;
	json_decref(array);
	return NULL;
}

json_t *json_numbers(const struct json_number *rows, size_t n)
{
	json_t *o = json_object();
	int err = !o;

	for (size_t i = 0; i < n && !err; i++)
		err = json_object_set_new(o, rows[i].key, json_integer(rows[i].value));
	return err ? json_decref(o), NULL : o;
}
