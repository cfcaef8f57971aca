/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can a control group with memory and pids be made below ours, given limits, and removed?  The name is
 * the parent's choice, so that it can remove what a child that was killed left behind.
 */
#include "core/doctor_probe.h"

#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CGROUP_FILE_MAX (1 << 20) /* of /proc/self/mountinfo and cgroup */

struct cgroup_files {
	char *mounts; /* /proc/self/mountinfo */
	char *ours;   /* /proc/self/cgroup */
};

struct cgroup_limit {
	const char *file;
	const char *value;
};

/* What is asked of each hierarchy; version 2 has both controllers in one group. */
static const struct cgroup_hierarchy {
	const char *controller; /* "": version 2 */
	size_t n_limits;
	struct cgroup_limit limits[2];
} cgroup_hierarchies[] = {
	{"", 2, {{"memory.max", "67108864"}, {"pids.max", "64"}}},
	{"memory", 1, {{"memory.limit_in_bytes", "67108864"}}},
	{"pids", 1, {{"pids.max", "64"}}},
};

static void cgroup_files_done(struct cgroup_files *f)
{
	free(f->mounts);
	free(f->ours);
}

static int cgroup_read(struct cgroup_files *f)
{
	size_t len;
	int r = io_read_file_at(AT_FDCWD, "/proc/self/mountinfo", CGROUP_FILE_MAX, &f->mounts,
				&len);

	return r < 0 ? r
		     : io_read_file_at(AT_FDCWD, "/proc/self/cgroup", CGROUP_FILE_MAX, &f->ours,
				       &len);
}

/* Is word one of the words between commas in the first len bytes of s? */
static bool cgroup_has_word(const char *s, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= len; i++)
		if ((i == 0 || s[i - 1] == ',') && strncmp(s + i, word, n) == 0 &&
		    (i + n == len || s[i + n] == ','))
			return true;
	return false;
}

/* Our group, from a line "ID:CONTROLLERS:PATH"; controller "" is version 2.  Gives a copy or NULL. */
static char *cgroup_path(const char *lines, const char *controller)
{
	for (const char *line = lines; *line;) {
		size_t len = strcspn(line, "\n");
		const char *words = memchr(line, ':', len);
		const char *path = words ? memchr(words + 1, ':', len - (size_t)(words + 1 - line))
					 : NULL;

		if (path && (*controller ? cgroup_has_word(words + 1, (size_t)(path - words - 1),
							   controller)
					 : path == words + 1))
			return strndup(path + 1, len - (size_t)(path + 1 - line));
		line += len + (line[len] == '\n');
	}
	return NULL;
}

/* The field of that number, from 0, of a text of fields between blanks. */
static bool cgroup_field(const char *text, size_t number, char *ret, size_t size)
{
	size_t len;

	while (number-- > 0) {
		text += strcspn(text, " ");
		text += *text == ' ';
	}
	len = strcspn(text, " ");
	if (len == 0 || len >= size)
		return false;
	memcpy(ret, text, len);
	ret[len] = '\0';
	return true;
}

/* "ID PARENT DEVICE ROOT POINT … - TYPE SOURCE OPTIONS": is it a mount with the controller ("" for
 * version 2)?  Names with blanks are written in octal there; such a place is not found, which is no
 * harm. */
static bool cgroup_mount_line(const char *line, size_t len, const char *controller,
			      char root[static LIMIT_PATH_BYTES],
			      char point[static LIMIT_PATH_BYTES])
{
	char type[16], options[512];
	AUTO_FREE char *copy = strndup(line, len);
	const char *rest = copy ? strstr(copy, " - ") : NULL;

	if (!rest || !cgroup_field(rest + 3, 0, type, sizeof(type)) ||
	    !cgroup_field(rest + 3, 2, options, sizeof(options)) ||
	    !cgroup_field(copy, 3, root, LIMIT_PATH_BYTES) ||
	    !cgroup_field(copy, 4, point, LIMIT_PATH_BYTES))
		return false;
	return *controller ? strcmp(type, "cgroup") == 0 &&
				     cgroup_has_word(options, strlen(options), controller)
			   : strcmp(type, "cgroup2") == 0;
}

/* The directory of our group in that hierarchy.  0, -ENOENT (no such hierarchy) or -ENOMEM. */
static int cgroup_dir(const struct cgroup_files *f, const char *controller, struct buf *out)
{
	char root[LIMIT_PATH_BYTES], point[LIMIT_PATH_BYTES];
	AUTO_FREE char *path = cgroup_path(f->ours, controller);

	for (const char *line = f->mounts; path && *line;) {
		size_t len = strcspn(line, "\n");

		if (cgroup_mount_line(line, len, controller, root, point) &&
		    path_is_within(path, root)) {
			const char *below = path + (strcmp(root, "/") == 0 ? 0 : strlen(root));

			buf_printf(out, "%s%s", point, strcmp(below, "/") == 0 ? "" : below);
			return buf_error(out);
		}
		line += len + (line[len] == '\n');
	}
	return -ENOENT;
}

static int cgroup_write(const char *dir, const char *name, const char *text)
{
	AUTO_FREE char *path = NULL;
	AUTO_CLOSE int fd = -1;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

/* Makes the group, sets the limits, removes the group. */
static int cgroup_try_dir(const char *dir, const struct cgroup_limit *limits, size_t n)
{
	int r = mkdir(dir, 0755) < 0 ? -errno : 0;

	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = cgroup_write(dir, limits[i].file, limits[i].value);
	if (rmdir(dir) < 0 && r == 0)
		r = -errno;
	return r;
}

/* One hierarchy.  *ret_dir gets the place, for the message. */
static int cgroup_try(const struct cgroup_files *f, const char *group,
		      const struct cgroup_hierarchy *h, struct buf *ret_dir)
{
	int r = cgroup_dir(f, h->controller, ret_dir);

	if (r == 0) {
		size_t len = ret_dir->len;

		buf_printf(ret_dir, "/%s", group);
		r = buf_error(ret_dir);
		if (r == 0)
			r = cgroup_try_dir(buf_cstr(ret_dir), h->limits, h->n_limits);
		buf_truncate(ret_dir, len);
	}
	return r;
}

void doctor_try_cgroup(const struct doctor_context *c, struct doctor_row *ret)
{
	static const char fix[] =
		"delegate a group to us, for example: systemd-run --user --scope -p Delegate=yes "
		"cordon …; or as root. Without it memory and pids of a whole tree cannot be limited";
	struct cgroup_files f = {0};
	struct buf dir = BUF_INIT(2 * LIMIT_PATH_BYTES);
	int r = cgroup_read(&f), v2 = 0;

	if (r == 0) {
		v2 = cgroup_try(&f, c->group, &cgroup_hierarchies[0], &dir);
		r = v2;
	}
	/* A version 2 without controllers beside a version 1 with them is common. */
	for (size_t i = 1; v2 < 0 && i < ARRAY_LEN(cgroup_hierarchies) && (i == 1 || r == 0); i++) {
		buf_clear(&dir);
		r = cgroup_try(&f, c->group, &cgroup_hierarchies[i], &dir);
	}
	if (r < 0)
		doctor_bad(ret, -r, "make a group with limits for memory and pids", fix);
	else
		doctor_good(ret,
			    "version %d: a group with limits for memory and pids was made and "
			    "removed",
			    v2 < 0 ? 1 : 2);
	buf_done(&dir);
	cgroup_files_done(&f);
}

void doctor_after_cgroup(const struct doctor_context *c)
{
	struct cgroup_files f = {0};

	if (cgroup_read(&f) == 0) {
		for (size_t i = 0; i < ARRAY_LEN(cgroup_hierarchies); i++) {
			struct buf dir = BUF_INIT(2 * LIMIT_PATH_BYTES);

			if (cgroup_dir(&f, cgroup_hierarchies[i].controller, &dir) == 0) {
				buf_printf(&dir, "/%s", c->group);
				if (buf_error(&dir) == 0)
					(void)rmdir(buf_cstr(&dir)); /* usually gone already */
			}
			buf_done(&dir);
		}
	}
	cgroup_files_done(&f);
}
