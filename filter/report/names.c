// SPDX-License-Identifier: MIT
/* A name is tried in one form after the other, from the most telling to the shortest. */
#include "names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "code/origin.h"
#include "shared/array.h"

#define QUALNAME_LEAST 8
#define WHOLE	       100 /* columns: with so much room a path is shown whole, if it fits */

static void write_line(FILE *f, const struct name *n)
{
	if (n->line > 0)
		fprintf(f, ":%" PRId64, n->line);
	if (n->offset >= 0 && (n->line <= 0 || n->exact))
		fprintf(f, ", offset %" PRId64, n->offset);
}

/* The file's own name, and the last `folders` before it. */
static const char *end_of(const char *path, unsigned folders)
{
	const char *at = path + strlen(path);

	for (;; at--) {
		while (at > path && at[-1] != '/')
			at--;
		if (at == path || !folders--)
			return at;
	}
}

static char *finish(FILE *f, char **text)
{
	if (f && !fclose(f))
		return *text;
	free(*text);
	return NULL;
}

/* Without ".<locals>", which says nothing that ".<genexpr>" or the file does not. */
static void write_compact(FILE *f, const char *qualname, size_t columns)
{
	static const char locals[] = ".<locals>";
	char *text = strdup(qualname);

	for (char *at = text; at && (at = strstr(at, locals));)
		memmove(at, at + sizeof(locals) - 1, strlen(at + sizeof(locals) - 1) + 1);
	if (text)
		text_elided(f, text, columns);
	free(text);
}

/* "QUALNAME, HEAD GAP TAIL:LINE", without blanks. columns: of the qualname, which is compact then; 0: any. */
static char *form(const struct name *n, size_t columns, const char *path, size_t head, const char *gap,
		  const char *tail)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	if (columns)
		write_compact(f, n->code->qualname, columns);
	else
		fputs(n->code->qualname, f);
	fprintf(f, ", %.*s%s%s", (int)head, path, gap, tail);
	write_line(f, n);
	return finish(f, &text);
}

/* Does it fit? What does not is freed. No memory passes for fitting: there is no shorter form of nothing. */
static bool fits(char **text, size_t most)
{
	if (!*text || text_columns(*text) <= most)
		return true;
	free(*text);
	*text = NULL;
	return false;
}

/* How many bytes of a path its first folder has, with the slash; 0: it has none. */
static size_t first_folder(const char *path)
{
	const char *slash = strchr(path + (*path == '/'), '/');

	return slash ? slash + 1 - path : 0;
}

/* Its name; of a package's own file also the package, as in "json/__init__.py". */
static const char *file_of(const char *path)
{
	const char *name = end_of(path, 0);

	return strncmp(name, "__init__.", 9) && strncmp(name, "__main__.", 9) ? name : end_of(path, 1);
}

/* Of a name that fits in no way its ends remain. */
static char *elide(char *text, size_t most)
{
	char *shorter = NULL;
	size_t size;
	FILE *f = text ? open_memstream(&shorter, &size) : NULL;

	if (f)
		text_elided(f, text, most);
	free(text);
	return f ? finish(f, &shorter) : NULL;
}

/* The qualname has what the file leaves, and if that is too little, both are cut. */
static char *short_form(const struct name *n, const char *path, size_t most)
{
	struct code nameless = *n->code;
	struct name file = { .code = &nameless, .line = n->line, .offset = n->offset, .exact = n->exact };
	char *text;
	size_t used;

	nameless.qualname = (char *)"";
	text = form(&file, 0, path, 0, "", file_of(path));
	used = text ? text_columns(text) : 0;
	free(text);
	if (used + QUALNAME_LEAST > most)
		return elide(form(n, 0, path, 0, "", file_of(path)), most);
	return form(n, most - used, path, 0, "", file_of(path));
}

static char *make_in_file(const struct name *n, size_t most)
{
	unsigned folders = n->folders;
	const char *path = *origin_path(n->code) == '/' && !folders ? file_of(n->code->file) : origin_path(n->code);
	const char *tail = folders ? end_of(path, folders) : file_of(path);
	size_t head = first_folder(path);
	char *text = most >= WHOLE ? form(n, 0, n->code->file, 0, "", n->code->file) : NULL;

	if (text && fits(&text, most))
		return text;
	text = form(n, 0, path, 0, "", path);
	if (fits(&text, most))
		return text;
	if (head && path + head < tail) {
		text = form(n, 0, path, head, ".../", tail);
		if (fits(&text, most))
			return text;
	}
	text = form(n, 0, path, 0, folders && tail > path ? ".../" : "", tail);
	if (folders || fits(&text, most))
		return text;
	return short_form(n, path, most);
}

/* A C function is in no file. */
static char *make(const struct name *n, size_t most)
{
	return n->code->c ? elide(strdup(n->code->qualname), most) : make_in_file(n, most);
}

struct shown {
	const char *text;
	size_t place;
};

static int by_text(const void *left, const void *right)
{
	return strcmp(((const struct shown *)left)->text, ((const struct shown *)right)->text);
}

static bool same_place(const struct name *a, const struct name *b)
{
	return a->line == b->line && a->offset == b->offset && !strcmp(a->code->file, b->code->file) &&
	       !strcmp(a->code->qualname, b->code->qualname);
}

/* Two loops in one line differ by their offsets only. */
static void tell_apart(struct name *n, bool same_line)
{
	if (same_line && !n->exact)
		n->exact = true;
	else
		n->folders++;
}

static bool same_line(const struct name *a, const struct name *b)
{
	return a->line == b->line && !strcmp(a->code->file, b->code->file);
}

enum alike { DIFFERENT, ALIKE, ALIKE_IN_LINE };

/* Marks names that look like another one's, but are another place. Returns whether there are any. */
static bool find_alike(const struct name *names, struct shown *order, size_t n, enum alike *alike)
{
	bool any = false;

	for (size_t i = 0; i < n; i++)
		order[i] = (struct shown){ names[i].text, i };
	qsort(order, n, sizeof(*order), by_text);
	memset(alike, 0, n * sizeof(*alike));
	for (size_t i = 1; i < n; i++) {
		const struct name *a = &names[order[i - 1].place], *b = &names[order[i].place];

		if (strcmp(a->text, b->text) || same_place(a, b))
			continue;
		alike[order[i].place] = alike[order[i - 1].place] = same_line(a, b) ? ALIKE_IN_LINE : ALIKE;
		any = true;
	}
	return any;
}

static unsigned most_folders(const struct name *names, size_t n)
{
	unsigned most = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned folders = 1;

		for (const char *at = names[i].code->file; (at = strchr(at, '/')); at++)
			folders++;
		most = folders > most ? folders : most;
	}
	return most;
}

/* Longer names for those that are alike. Returns false when there is no memory. */
static bool remake(struct name *names, size_t n, const enum alike *alike, size_t most)
{
	for (size_t i = 0; i < n; i++) {
		if (alike[i] == DIFFERENT)
			continue;
		tell_apart(&names[i], alike[i] == ALIKE_IN_LINE);
		free(names[i].text);
		names[i].text = make(&names[i], most);
		if (!names[i].text)
			return false;
	}
	return true;
}

int names_make(struct name *names, size_t n, size_t most)
{
	struct shown *order = calloc(n + 1, sizeof(*order));
	enum alike *alike = calloc(n + 1, sizeof(*alike));
	bool ok = order && alike;

	for (size_t i = 0; i < n && ok; i++) {
		names[i].exact = false;
		names[i].folders = 0;
		names[i].text = make(&names[i], most);
		ok = names[i].text;
	}
	for (unsigned tries = most_folders(names, n) + 1; ok && tries && find_alike(names, order, n, alike); tries--)
		ok = remake(names, n, alike, most);
	free(order);
	free(alike);
	return ok ? 0 : -ENOMEM;
}

void names_free(struct name *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i].text);
}

static const struct name *find_like(const struct names_seen *s, const struct name *n)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->all[i].text, n->text) && !same_place(&s->all[i], n))
			return &s->all[i];
	return NULL;
}

const char *names_next(struct names_seen *s, const struct name *n, size_t most)
{
	const struct name *like;
	struct name *made;

	if (!ARRAY_ROOM(s->all, s->n, s->room))
		return NULL;
	made = &s->all[s->n];
	*made = *n;
	made->text = make(made, most);
	for (unsigned tries = most_folders(made, 1) + 1; made->text && tries && (like = find_like(s, made)); tries--) {
		tell_apart(made, same_line(made, like));
		free(made->text);
		made->text = make(made, most);
	}
	s->n += made->text != NULL;
	return made->text;
}

void names_forget(struct names_seen *s)
{
	names_free(s->all, s->n);
	free(s->all);
	*s = (struct names_seen){ 0 };
}
