/* SPDX-License-Identifier: MIT */
/*
 * images.c - see images.h. QEMU maps the guest's code without the right to execute it; its own code has that right. So
 * a file without an executable mapping is the guest's.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "images.h"

struct mapping {
	uint64_t start, end, offset;
	bool executable;
	char file[PATH_MAX];
};

/* START-END PERMISSIONS OFFSET DEVICE INODE FILE (proc(5)). False: no file. */
static bool read_mapping(const char *line, struct mapping *m)
{
	unsigned long start, end, offset;
	char permissions[5], file[PATH_MAX];

	if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %4095[^\n]", &start, &end, permissions, &offset, file) != 5 ||
	    file[0] != '/')
		return false;
	*m = (struct mapping){ start, end, offset, permissions[2] == 'x', "" };
	memcpy(m->file, file, sizeof(file));
	return true;
}

/* One image: consecutive mappings of one file. */
struct image {
	struct mapping maps[16];
	unsigned n;
};

static void report(const struct side *s, struct settings *set, const struct mapping *m)
{
	side_mmap(s, m->start, m->end - m->start, m->offset, m->file);
	settings_map(set, m->start, m->end - m->start, m->offset, m->file);
}

static void record_image(const struct side *s, struct settings *set, const struct image *i)
{
	for (unsigned k = 0; k < i->n; k++)
		if (i->maps[k].executable)
			return;
	for (unsigned k = 0; k < i->n; k++)
		report(s, set, &i->maps[k]);
}

static void add_mapping(const struct side *s, struct settings *set, struct image *i, const struct mapping *m)
{
	if (i->n && (strcmp(i->maps[0].file, m->file) != 0 || m->offset <= i->maps[i->n - 1].offset)) {
		record_image(s, set, i);
		i->n = 0;
	}
	if (i->n < sizeof(i->maps) / sizeof(*i->maps))
		i->maps[i->n++] = *m;
}

static bool is_of_program(const struct mapping *m, const char *program)
{
	const char *base = strrchr(m->file, '/') + 1;

	return strcmp(m->file, program) == 0 || strncmp(base, "ld-linux", 8) == 0 || strncmp(base, "ld-2.", 5) == 0 ||
	       strncmp(base, "ld.so", 5) == 0 || strncmp(base, "ld-musl", 7) == 0;
}

void images_first(const struct side *s, struct settings *set, const char *program)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	struct image *image = calloc(1, sizeof(*image));
	char real[PATH_MAX], line[PATH_MAX + 128];
	struct mapping m;

	if (!realpath(program, real))
		real[0] = '\0';
	while (maps && image && fgets(line, sizeof(line), maps))
		if (read_mapping(line, &m) && is_of_program(&m, real))
			add_mapping(s, set, image, &m);
	if (image)
		record_image(s, set, image);
	free(image);
	if (maps)
		fclose(maps);
}

void images_mapped(const struct side *s, struct settings *set, uint64_t start, uint64_t size, int fd, uint64_t offset)
{
	char link[32], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0 || path[0] != '/')
		return;
	path[length] = '\0';
	side_mmap(s, start, size, offset, path);
	settings_map(set, start, size, offset, path);
}

/* The command line is ours (main.c, guest.c): options that have a value, then the program. */
void images_program(char *path, uint64_t size)
{
	char words[2 * PATH_MAX + 256];
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, words, sizeof(words) - 1);
	const char *p = words, *end = words + (n > 0 ? n : 0);

	*path = '\0';
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return;
	words[n] = '\0';
	p += strlen(p) + 1;
	while (p < end && *p == '-') {
		p += strlen(p) + 1;
		p += p < end ? strlen(p) + 1 : 0;
	}
	if (p < end)
		snprintf(path, size, "%s", p);
}
