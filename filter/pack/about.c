// SPDX-License-Identifier: MIT
#include "about.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "shared/perf_format.h"

#define HEADER_MOST (16u << 20) /* of the first line of a code table */
#define FILES_MOST  10000u

static const char read_me[] =
	"A recording of a Python program, packed by Ocular. `ocular report FILE` reads it; `ocular unpack "
	"FILE` makes the folder again. perf.data and code tables are in pieces, as docs/pack.md of Ocular describes "
	"them.";

/* What `ocular view` makes, and would make again; what recorder and traced program use while they run. */
static const char *const others[] = { "report.html", "trace.pftrace", ".ocular.*", ".attach*" };

bool about_is_data(const char *name)
{
	size_t n = strlen(ABOUT_DATA);

	return !strncmp(name, ABOUT_DATA, n) && (!name[n] || (name[n] == '.' && name[n + 1] == '2'));
}

bool about_is_table(const char *name)
{
	return !strncmp(name, "codes-", 6);
}

bool about_is_name(const char *name)
{
	for (const char *c = name; *c; c++)
		if (*c == '/' || *c == '\\' || (unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f)
			return false;
	return *name && *name != '.' && strcmp(name, ABOUT_NAME) && strlen(name) <= ABOUT_NAME_MOST;
}

bool about_is_other(const char *name)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!fnmatch(others[i], name, 0))
			return true;
	return false;
}

static int add(struct about *a, const char *name, uint64_t size, time_t changed)
{
	struct about_file *files = a->files;

	if (!(a->n & (a->n - 1))) /* full when the number is a power of two */
		files = realloc(files, (a->n ? 2 * a->n : 1) * sizeof(*files));
	if (!files)
		return -ENOMEM;
	a->files = files;
	files[a->n] = (struct about_file){ .size = size, .changed = changed };
	strcpy(files[a->n++].name, name);
	return 0;
}

static int look_at(struct about *a, int folder, const char *name)
{
	struct stat st;

	if (about_is_other(name) || !strcmp(name, ".") || !strcmp(name, ".."))
		return 0;
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (about_is_name(name) && S_ISREG(st.st_mode) &&
	    (about_is_data(name) || (uint64_t)st.st_size <= TAR_SIZE_MOST))
		return add(a, name, st.st_size, st.st_mtime);
	snprintf(a->left, sizeof(a->left), "%s", name);
	return 0;
}

static int by_kind_and_name(const void *a, const void *b)
{
	const struct about_file *one = a, *two = b;
	int kind = about_is_data(one->name) - about_is_data(two->name);

	return kind ? kind : strcmp(one->name, two->name);
}

int about_add(struct about *a, const char *name, uint64_t size, time_t changed)
{
	int err = add(a, name, size, changed);

	if (!err)
		qsort(a->files, a->n, sizeof(*a->files), by_kind_and_name);
	return err;
}

int about_list(struct about *a, int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	*a = (struct about){ 0 };
	if (!d)
		return -errno;
	for (struct dirent *e; !err && (e = readdir(d));)
		err = look_at(a, folder, e->d_name);
	closedir(d);
	if (a->n)
		qsort(a->files, a->n, sizeof(*a->files), by_kind_and_name);
	return err;
}

/* --- what the recording is of ------------------------------------------------------------------------------ */

/* The first line of the first code table, which says how its process was recorded; NULL: there is none. */
static json_t *header_of(const struct about *a, int folder)
{
	json_t *header = NULL;
	char *line = NULL;
	size_t room = 0;

	for (size_t i = 0; i < a->n && !header; i++) {
		int fd = !about_is_table(a->files[i].name) ? -1
							   : openat(folder, a->files[i].name, O_RDONLY | O_CLOEXEC);
		FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
		ssize_t n = f ? getline(&line, &room, f) : -1;

		if (n > 0 && (size_t)n < HEADER_MOST)
			header = json_loadb(line, n, 0, NULL);
		if (f)
			fclose(f);
	}
	free(line);
	return header;
}

/* A text that perf.data has of the machine: a length, and a NUL at its end. `at`: of the feature's section. */
static json_t *feature_text(int fd, uint64_t at)
{
	struct perf_section s;
	char text[256] = "";

	if (pread(fd, &s, sizeof(s), at) != sizeof(s) || s.size <= sizeof(uint32_t) ||
	    pread(fd, text, sizeof(text) - 1, s.offset + sizeof(uint32_t)) <= 0)
		return json_null();
	return json_text(text);
}

static json_t *machine_of(int folder)
{
	static const struct {
		enum perf_feature bit;
		const char *key;
	} texts[] = {
		{ PERF_FEAT_HOSTNAME, "host" },
		{ PERF_FEAT_OSRELEASE, "kernel" },
		{ PERF_FEAT_ARCH, "processor" },
	};
	int fd = openat(folder, ABOUT_DATA, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	json_t *machine = json_object();
	struct perf_header h;
	size_t next = 0;

	if (fd < 0 || pread(fd, &h, sizeof(h), 0) != sizeof(h) || h.magic != PERF_MAGIC)
		h = (struct perf_header){ 0 };
	for (uint32_t bit = 0, nth = 0; bit < PERF_FEATURE_BITS && next < sizeof(texts) / sizeof(texts[0]); bit++) {
		bool there = h.features[bit / 64] >> bit % 64 & 1;

		if (bit == texts[next].bit && there)
			json_object_set_new(
				machine, texts[next].key,
				feature_text(fd, h.data.offset + h.data.size + nth * sizeof(struct perf_section)));
		next += bit == texts[next].bit;
		nth += there;
	}
	if (fd >= 0)
		close(fd);
	return machine;
}

char *about_text(const struct about *a, int folder, const char *version)
{
	json_t *header = header_of(a, folder), *files = json_array();
	json_t *about = json_pack("{s:s, s:i, s:s, s:O?, s:O?, s:O?, s:o}", "read_me", read_me, "packed", ABOUT_FORMAT,
				  "ocular", version, "command", json_object_get(header, "argv"), "folder",
				  json_object_get(header, "folder"), "python", json_object_get(header, "python"),
				  "machine", machine_of(folder));
	char *text;

	for (size_t i = 0; i < a->n; i++)
		files = json_append(files, json_pack("{s:s%, s:I}", "name", a->files[i].name, strlen(a->files[i].name),
						     "size", (json_int_t)a->files[i].size));
	about = files ? json_join(about, json_pack("{s:o}", "files", files)) : NULL;
	text = about ? json_dumps(about, JSON_INDENT(1)) : NULL;
	json_decref(about);
	json_decref(header);
	return text;
}

/* --- reading ---------------------------------------------------------------------------------------------- */

static bool read_file(struct about *a, json_t *file)
{
	const char *name = json_string_value(json_object_get(file, "name"));
	json_t *size = json_object_get(file, "size");

	return name && about_is_name(name) && !about_find(a, name) && json_is_integer(size) &&
	       json_integer_value(size) >= 0 && !add(a, name, json_integer_value(size), 0);
}

bool about_read(struct about *a, const char *text, size_t n)
{
	json_t *about = json_loadb(text, n, 0, NULL), *files = json_object_get(about, "files");
	bool ok = json_integer_value(json_object_get(about, "packed")) == ABOUT_FORMAT && json_array_size(files) > 0 &&
		  json_array_size(files) < FILES_MOST;

	*a = (struct about){ 0 };
	for (size_t i = 0; ok && i < json_array_size(files); i++)
		ok = read_file(a, json_array_get(files, i));
	json_decref(about);
	return ok;
}

const struct about_file *about_find(const struct about *a, const char *name)
{
	for (size_t i = 0; i < a->n; i++)
		if (!strcmp(a->files[i].name, name))
			return &a->files[i];
	return NULL;
}

uint64_t about_size(const struct about *a)
{
	uint64_t size = 0;

	for (size_t i = 0; i < a->n; i++)
		size += a->files[i].size;
	return size;
}

void about_free(struct about *a)
{
	free(a->files);
	*a = (struct about){ 0 };
}
