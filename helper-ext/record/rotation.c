/* SPDX-License-Identifier: MIT */
/* rotation.c - see rotation.h. If there is no memory for a name or a pid, that file or table is kept. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "folder.h"
#include "rotation.h"
#include "shared/own_file.h"
#include "shared/array.h"

bool rotation_due(const struct rotation *p, const struct rotation_limits *limits, uint64_t bytes, uint64_t words,
		  uint64_t now_ns)
{
	if (words == p->words)
		return false;
	return (limits->bytes && bytes >= limits->bytes) || (limits->ns && now_ns - p->begun_ns >= limits->ns);
}

/* As in perf: local time, and hundredths of a second. */
static void name_of(struct timeval at, struct rotated_name *name)
{
	struct tm tm;
	size_t n = snprintf(name->text, sizeof(name->text), FOLDER_DATA ".");

	localtime_r(&at.tv_sec, &tm);
	n += strftime(name->text + n, sizeof(name->text) - n, "%Y%m%d%H%M%S", &tm);
	snprintf(name->text + n, sizeof(name->text) - n, "%02u", (unsigned)(at.tv_usec / 10000) % 100);
}

/* Not every file system has RENAME_NOREPLACE. Nobody else makes files of that name here. */
static int rename_new(int dirfd, const char *name)
{
	struct stat st;

	if (renameat2(dirfd, FOLDER_DATA, dirfd, name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL)
		return -errno;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(dirfd, FOLDER_DATA, dirfd, name) < 0 ? -errno : 0;
}

/* Two files may be closed within a hundredth of a second: the next time, behind all names that were given before. */
static int rename_piece(struct rotation *p, int dirfd, struct rotated_name *name)
{
	struct timeval now, step = { 0, 10000 };
	int err;

	gettimeofday(&now, NULL);
	if (timercmp(&now, &p->next, >))
		p->next = now;
	do {
		name_of(p->next, name);
		err = rename_new(dirfd, name->text);
		timeradd(&p->next, &step, &p->next);
	} while (err == -EEXIST);
	return err;
}

int rotation_close(struct rotation *p, int dirfd, uint64_t words, uint64_t now_ns, struct rotated_name *name)
{
	int err = rename_piece(p, dirfd, name);

	if (err)
		return err;
	if (ARRAY_ONE_MORE(p->closed, p->nclosed))
		p->closed[p->nclosed++] = *name;
	p->number++;
	p->words = words;
	p->begun_ns = now_ns;
	return 0;
}

/* The parent named in a table's header, 0: none. It comes before anything that may be long. */
static uint32_t parent_of(int dirfd, const char *name)
{
	char head[256] = "";
	int fd = own_file(dirfd, name, O_RDONLY);
	const char *found;

	if (fd < 0)
		return 0;
	(void)!read(fd, head, sizeof(head) - 1);
	close(fd);
	found = strstr(head, "\"parent\":");
	return found ? strtoul(found + strlen("\"parent\":"), NULL, 10) : 0;
}

static bool is_parent(int dirfd, uint32_t pid)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool found = !d; /* not known: keep it */

	while (d && !found && (entry = readdir(d)))
		found = strncmp(entry->d_name, "codes-", 6) == 0 && parent_of(dirfd, entry->d_name) == pid;
	if (d)
		closedir(d);
	return found;
}

static bool trim_table(struct rotation *p, int dirfd, size_t i)
{
	char name[32];

	if (p->ended[i].number >= p->number - p->nclosed || is_parent(dirfd, p->ended[i].pid))
		return false;
	snprintf(name, sizeof(name), "codes-%u.jsonl", p->ended[i].pid);
	unlinkat(dirfd, name, 0);
	p->ended[i] = p->ended[--p->nended];
	return true;
}

/* The table that goes may have been the last to refer to another: repeat until none goes. */
static void trim_tables(struct rotation *p, int dirfd)
{
	for (bool gone = true; gone;) {
		gone = false;
		for (size_t i = 0; i < p->nended && !gone; i++)
			gone = trim_table(p, dirfd, i);
	}
}

void rotation_trim(struct rotation *p, int dirfd, const struct rotation_limits *limits)
{
	size_t n = limits->files && p->nclosed >= limits->files ? p->nclosed + 1 - limits->files : 0;

	for (size_t i = 0; i < n; i++)
		unlinkat(dirfd, p->closed[i].text, 0);
	p->nclosed -= n;
	if (!n)
		return;
	memmove(p->closed, p->closed + n, p->nclosed * sizeof(*p->closed));
	trim_tables(p, dirfd);
}

void rotation_met(struct rotation *p, uint32_t pid)
{
	for (size_t i = 0; i < p->nended; i++)
		if (p->ended[i].pid == pid)
			p->ended[i--] = p->ended[--p->nended];
}

void rotation_ended(struct rotation *p, uint32_t pid)
{
	if (ARRAY_ONE_MORE(p->ended, p->nended))
		p->ended[p->nended++] = (struct ended){ pid, p->number };
}

void rotation_free(struct rotation *p)
{
	free(p->closed);
	free(p->ended);
	*p = (struct rotation){ 0 };
}
