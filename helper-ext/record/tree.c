/* SPDX-License-Identifier: MIT */
/* tree.c - two lists: processes that joined, and /proc. */
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "procfs.h"
#include "tree.h"

static FILE *open_of(const char *pid, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
	return fopen(path, "re");
}

/* Is one of the strings in a file of the process the one looked for? */
static bool has(const char *pid, const char *file, char separator, bool (*is)(const char *, const char *),
		const char *what)
{
	FILE *f = open_of(pid, file);
	char *string = NULL;
	size_t size = 0;
	bool found = false;

	while (f && !found && getdelim(&string, &size, separator, f) > 0)
		found = is(string, what);
	free(string);
	if (f)
		fclose(f);
	return found;
}

static bool is_dir_variable(const char *string, const char *dir)
{
	static const char name[] = "OCULAR_DIR=";

	return !strncmp(string, name, sizeof(name) - 1) && !strcmp(string + sizeof(name) - 1, dir);
}

static bool contains(const char *string, const char *what)
{
	return strstr(string, what);
}

static bool runs_python(const char *pid)
{
	char path[64], exe[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%.16s/exe", pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	if (n <= 0)
		return false;
	exe[n] = '\0';
	return !strncmp(strrchr(exe, '/') + 1, "python", 6);
}

static bool has_extension(const char *pid)
{
	return has(pid, "maps", '\n', contains, "/ocular/_core.");
}

size_t tree_joined(const struct processes *ps, uint32_t *pids, size_t most)
{
	size_t n = 0;

	for (struct process *p = ps->first; p && n < most; p = p->next)
		if (!process_ended(p))
			pids[n++] = p->pid;
	return n;
}

size_t tree_beginning(const char *dir, bool started, uint32_t *pids, size_t most)
{
	DIR *proc = opendir("/proc");
	size_t n = 0;

	for (struct dirent *e; proc && n < most && (e = readdir(proc));) {
		uint32_t pid = (uint32_t)strtoul(e->d_name, NULL, 10);

		if (pid && has(e->d_name, "environ", '\0', is_dir_variable, dir) &&
		    (has_extension(e->d_name) || (started && runs_python(e->d_name))))
			pids[n++] = pid;
	}
	if (proc)
		closedir(proc);
	return n;
}

void tree_names(const uint32_t *pids, size_t n, char *text, size_t size)
{
	char comm[PROCFS_COMM];
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < n && used < size; i++) {
		procfs_comm(pids[i], pids[i], comm);
		used += (size_t)snprintf(text + used, size - used, "%s%u %s", i ? ", " : "", pids[i], comm);
	}
}
