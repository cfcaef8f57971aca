/* SPDX-License-Identifier: Apache-2.0 */
/* See sample.h.  A process that ends while it is looked at has no memory any more: it is left out. */
#include "run/sample.h"

#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/parse.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SAMPLE_PATH_MAX 64
#define SAMPLE_FILE_MAX 65536 /* the children of one thread; more are left out */
#define SAMPLE_ROLLUP_MAX 4096

struct sample_list {
	pid_t *pids;
	size_t n;
	size_t cap;
};

static void sample_add(struct sample_list *l, pid_t pid)
{
	void *pids = l->pids;

	if (mem_grow(&pids, &l->cap, l->n + 1, sizeof(*l->pids), LIMIT_SAMPLE_PROCESSES) < 0)
		return; /* so many are more than any look can take in */
	l->pids = pids;
	l->pids[l->n++] = pid;
}

/* The numbers in the text, between blanks. */
static void sample_add_all(struct sample_list *l, char *text)
{
	while (*text) {
		size_t len = strcspn(text, " \n");
		char *next = text + len + (text[len] != '\0');
		int64_t pid;

		text[len] = '\0';
		if (parse_int(text, 1, INT32_MAX, &pid) == 0)
			sample_add(l, (pid_t)pid);
		text = next;
	}
}

/* Every thread has its own children. */
static int sample_children(struct sample_list *l, pid_t pid)
{
	char path[SAMPLE_PATH_MAX];
	const struct dirent *e;
	DIR *d;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		AUTO_FREE char *text = NULL;
		char name[sizeof(e->d_name) + 16];
		size_t len = 0;

		if (e->d_name[0] == '.')
			continue;
		(void)snprintf(name, sizeof(name), "%s/children", e->d_name);
		if (io_read_file_at(dirfd(d), name, SAMPLE_FILE_MAX, &text, &len) == 0)
			sample_add_all(l, text);
	}
	(void)closedir(d);
	return 0;
}

/* The second number of statm, in pages. */
static uint64_t sample_resident(pid_t pid)
{
	AUTO_FREE char *text = NULL;
	char path[SAMPLE_PATH_MAX];
	size_t len = 0;
	int64_t pages = 0;
	char *second;

	(void)snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	if (io_read_file_at(AT_FDCWD, path, 256, &text, &len) < 0)
		return 0;
	second = text + strcspn(text, " ");
	second += *second == ' ';
	second[strcspn(second, " ")] = '\0';
	if (parse_int(second, 0, INT64_MAX >> 16, &pages) < 0)
		return 0;
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* "Pss_Anon:      1234 kB".  Is the line there? */
static bool sample_line(const char *text, const char *name, uint64_t *bytes)
{
	const char *line = strstr(text, name);
	char number[24];
	size_t len;
	int64_t kb;

	if (!line)
		return false;
	line += strlen(name);
	line += strspn(line, " ");
	len = strspn(line, "0123456789");
	if (len == 0 || len >= sizeof(number))
		return false;
	memcpy(number, line, len);
	number[len] = '\0';
	if (parse_int(number, 0, INT64_MAX >> 16, &kb) < 0)
		return false;
	*bytes += (uint64_t)kb * 1024;
	return true;
}

/* The process's share; all that is resident where it does not let itself be looked at. */
static uint64_t sample_share(pid_t pid)
{
	AUTO_FREE char *text = NULL;
	char path[SAMPLE_PATH_MAX];
	uint64_t bytes = 0;
	size_t len = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	if (io_read_file_at(AT_FDCWD, path, SAMPLE_ROLLUP_MAX, &text, &len) == 0 &&
	    sample_line(text, "\nPss_Anon:", &bytes) && sample_line(text, "\nPss_Shmem:", &bytes))
		return bytes;
	return sample_resident(pid);
}

static uint64_t sample_sum(const struct sample_list *l, uint64_t (*of)(pid_t pid))
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->n; i++)
		sum += of(l->pids[i]);
	return sum;
}

int sample_tree(pid_t root, uint64_t enough, struct sample *ret)
{
	struct sample_list list = {0};
	int r;

	sample_add(&list, root);
	r = list.n == 1 ? sample_children(&list, root) : -ENOMEM;
	for (size_t i = 1; r == 0 && i < list.n; i++)
		(void)!sample_children(&list, list.pids[i]); /* fails when it is gone */
	if (r == 0) {
		*ret = (struct sample){.bytes = sample_sum(&list, sample_resident),
				       .processes = list.n};
		if (ret->bytes > enough)
			ret->bytes = sample_sum(&list, sample_share);
	}
	free(list.pids);
	return r;
}
