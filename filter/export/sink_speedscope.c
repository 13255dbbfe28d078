// SPDX-License-Identifier: MIT
/*
 * speedscope's own format (https://www.speedscope.app/file-format-schema.json): one profile for each thread, with each
 * call path once, as long as all calls along it. So its left-heavy and sandwich views mean what they always do; the
 * order in time is that of first appearance; for a timeline speedscope can open the Perfetto trace.
 *
 * Of its two kinds of profiles this is the "evented" one: a "sampled" one would repeat the whole stack for each path,
 * the square of the depth in deep recursion.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/profile.h"
#include "sink_calls.h"
#include "base/text.h"
#include "shared/array.h"

struct writing {
	struct sink_calls *sink;
	struct map frames;   /* struct code -> number + 1 */
	struct code **codes; /* [frame] */
	uint32_t nframes, size;
	uint64_t at; /* ns: the end of the open path so far */
	bool any;    /* an event was written: the next needs a comma */
};

static int64_t frame_of(struct writing *w, struct code *code)
{
	uintptr_t found = (uintptr_t)map_get(&w->frames, (uintptr_t)code);

	if (found)
		return found - 1;
	if (!ARRAY_ROOM(w->codes, w->nframes, w->size) ||
	    map_put(&w->frames, (uintptr_t)code, (void *)(uintptr_t)(w->nframes + 1)))
		return -1;
	w->codes[w->nframes] = code;
	return w->nframes++;
}

static void put_text(struct writing *w, const char *text)
{
	out_put(&w->sink->file.out, text, strlen(text));
}

#define EVENT_ROOM 96

static int put_event(struct writing *w, const char *type, struct code *code)
{
	int64_t frame = frame_of(w, code);
	char *to = frame < 0 ? NULL : out_reserve(&w->sink->file.out, EVENT_ROOM);

	if (!to)
		return -ENOMEM;
	to = stpcpy(to, w->any ? ",\n{\"type\":\"" : "\n{\"type\":\"");
	to = stpcpy(to, type);
	to = stpcpy(to, "\",\"frame\":");
	to = out_dec(to, frame);
	to = stpcpy(to, ",\"at\":");
	to = out_dec(to, w->at);
	*to++ = '}';
	out_commit(&w->sink->file.out, to);
	w->any = true;
	return 0;
}

static int enter(void *to, uint32_t node)
{
	struct writing *w = to;
	const struct call_node *n = &w->sink->tree.nodes[node];
	int err = put_event(w, "O", n->code);

	w->at += n->self_ns;
	return err;
}

static int leave(void *to, uint32_t node)
{
	struct writing *w = to;

	return put_event(w, "C", w->sink->tree.nodes[node].code);
}

/* Writes what `print` prints as a JSON string. 0 or -ENOMEM. */
static int put_thread(struct writing *w, const struct profile *p, const struct call_root *r)
{
	char *name = NULL, *text = NULL;
	size_t size;
	FILE *f = open_memstream(&name, &size), *quoted = NULL;

	if (f) {
		sink_calls_thread(f, p, r);
		if (fclose(f))
			name[0] = '\0';
		quoted = open_memstream(&text, &size);
	}
	if (quoted) {
		text_json(quoted, name);
		fclose(quoted);
		put_text(w, text);
	}
	free(name);
	free(text);
	return quoted ? 0 : -ENOMEM;
}

static int put_profile(struct writing *w, const struct profile *p, const struct call_root *r)
{
	char number[OUT_DIGITS + 1] = "";
	int err;

	put_text(w, "{\"type\":\"evented\",\"name\":");
	err = put_thread(w, p, r);
	put_text(w, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"events\":[");
	w->at = 0;
	w->any = false;
	err = err ?: calltree_walk(&w->sink->tree, r->root, enter, leave, w);
	put_text(w, "],\"endValue\":");
	*out_dec(number, w->at) = '\0';
	put_text(w, number);
	put_text(w, "}");
	return err;
}

static int print_frames(FILE *f, const struct writing *w)
{
	for (uint32_t i = 0; i < w->nframes; i++) {
		const struct code *code = w->codes[i];

		fprintf(f, "%s\n{\"name\":", i ? "," : "");
		text_json(f, code->qualname);
		if (!code->label) {
			fputs(",\"file\":", f);
			text_json(f, code->file);
		}
		if (code->firstlineno > 0)
			fprintf(f, ",\"line\":%" PRId64, code->firstlineno);
		fputc('}', f);
	}
	return fclose(f) ? -ENOMEM : 0;
}

static int put_frames(struct writing *w)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int err = f ? print_frames(f, w) : -ENOMEM;

	if (!err)
		out_put(&w->sink->file.out, text, size);
	free(text);
	return err;
}

#define NO_PROFILE \
	"{\"type\":\"evented\",\"name\":\"no event\",\"unit\":\"nanoseconds\"," \
	"\"startValue\":0,\"events\":[],\"endValue\":0}"

static int put_all(struct writing *w, const struct profile *p)
{
	size_t n;
	const struct call_root **roots = calltree_roots(&w->sink->tree, &n);
	int err = roots ? 0 : -ENOMEM;

	put_text(w, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		    "\"exporter\":\"Ocular\",\"activeProfileIndex\":0,\"profiles\":[");
	for (size_t i = 0; i < n && !err; i++) {
		put_text(w, i ? ",\n" : "\n");
		err = put_profile(w, p, roots[i]);
	}
	if (!n) /* speedscope opens nothing without a profile */
		put_text(w, NO_PROFILE);
	put_text(w, "],\"shared\":{\"frames\":[");
	err = err ?: put_frames(w);
	put_text(w, "]}}\n");
	free(roots);
	return err;
}

static int write_speedscope(struct sink_calls *s, const struct profile *p)
{
	struct writing w = { .sink = s };
	int err = put_all(&w, p);

	map_free(&w.frames);
	free(w.codes);
	return err;
}

int sink_speedscope_open(struct sink **out, const struct sink_options *o, char *error)
{
	int err = sink_calls_open(out, o, error, write_speedscope);

	if (!err)
		((struct sink_calls *)*out)->with_spans = true;
	return err;
}
