// SPDX-License-Identifier: MIT
#include "sink_file.h"

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

static struct out *out_of(struct sink *s)
{
	return &((struct sink_file *)s)->out;
}

int sink_file_open(struct sink **out, size_t size, const struct sink_ops *ops, const struct sink_options *o,
		   char *error)
{
	struct sink_file *f = calloc(1, size);
	int err = f ? out_open(&f->out, o->path, error, SINK_ERROR) : -ENOMEM;

	if (err) {
		free(f);
		return err;
	}
	f->sink.ops = ops;
	*out = &f->sink;
	return 0;
}

int sink_file_part(struct sink **out, size_t size, const struct sink *of)
{
	struct sink_file *f = calloc(1, size);

	if (!f)
		return -ENOMEM;
	f->sink.ops = of->ops;
	f->out.fd = -1;
	f->out.path = strdup(((const struct sink_file *)of)->out.path);
	*out = &f->sink;
	return f->out.path ? 0 : -ENOMEM;
}

int sink_file_status(struct sink *s)
{
	struct out *o = out_of(s);

	return o->err ? out_position(o, s->error, SINK_ERROR) : 0;
}

int sink_file_no_memory(struct sink *s)
{
	snprintf(s->error, SINK_ERROR, "no memory for %s", out_of(s)->path);
	return -ENOMEM;
}

int sink_file_close(struct sink *s)
{
	return out_close(out_of(s), s->error, SINK_ERROR);
}

int sink_file_finish(struct sink *s, const struct profile *p)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int err;

	if (f)
		__fsetlocking(f, FSETLOCKING_BYCALLER); /* nobody else has it */
	err = f ? s->ops->render(f, s, p) : -ENOMEM;
	if (f && fclose(f))
		err = -ENOMEM;
	if (!err)
		out_put(out_of(s), text, size);
	free(text);
	return err ? sink_file_no_memory(s) : sink_file_close(s);
}

void sink_file_free(struct sink *s)
{
	out_discard(out_of(s));
	free(s);
}
