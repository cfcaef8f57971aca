/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of change sets share: a place with a workspace and a state directory, files in it, and a listing of a
 * tree in which everything stands that can differ.
 */
#pragma once

#include "base/fd.h"
#include "base/limits.h"
#include "base/prune.h"
#include "base/sha256.h"
#include "workspace/cow/commit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

static char kit_dir[256];
static char kit_work[300];
static char kit_state[300];

static inline int kit_setup(void **state)
{
	char name[] = "/var/tmp/cordon-cow-XXXXXX"; /* not on a tmpfs that has no attributes */
	char *real = mkdtemp(name) ? realpath(name, NULL) : NULL;

	(void)state;
	if (!real)
		return -1;
	(void)snprintf(kit_dir, sizeof(kit_dir), "%s", real);
	free(real);
	(void)snprintf(kit_work, sizeof(kit_work), "%s/work", kit_dir);
	(void)snprintf(kit_state, sizeof(kit_state), "%s/state", kit_dir);
	(void)umask(022);
	return mkdir(kit_work, 0755) == 0 && mkdir(kit_state, 0700) == 0 ? 0 : -1;
}

static inline int kit_teardown(void **state)
{
	(void)state;
	return prune_tree(AT_FDCWD, kit_dir);
}

/* top/name; valid until the eighth call after. */
static inline const char *kit_path(const char *top, const char *name)
{
	static char paths[8][1200];
	static unsigned next;
	char *path = paths[next++ % 8];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
	return path;
}

static inline void kit_write(const char *top, const char *name, const char *text)
{
	int fd = open(kit_path(top, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
}

static inline void kit_mkdir(const char *top, const char *name)
{
	assert_int_equal(mkdir(kit_path(top, name), 0755), 0);
}

static inline void kit_whiteout(const char *top, const char *name)
{
	assert_int_equal(mknod(kit_path(top, name), S_IFCHR | 0600, makedev(0, 0)), 0);
}

static inline void kit_xattr(const char *top, const char *name, const char *attr, const char *value)
{
	assert_int_equal(setxattr(kit_path(top, name), attr, value, strlen(value), 0), 0);
}

static inline const char *kit_read(const char *top, const char *name)
{
	static char text[8192];
	int fd = open(kit_path(top, name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	(void)fd_close(fd);
	if (n < 0)
		return NULL;
	text[n] = '\0';
	return text;
}

enum kit_detail {
	KIT_PLAIN,   /* what a call decides */
	KIT_TIMES,   /* and times */
	KIT_HISTORY, /* and inode and change of status: is it the same file, untouched? */
};

static inline void kit_list_dir(int dir, const char *prefix, enum kit_detail detail,
				struct buf *out);

static inline void kit_list_xattrs(int fd, struct buf *out)
{
	char names[4096];
	ssize_t len = flistxattr(fd, names, sizeof(names));

	for (const char *s = names; len > 0 && s < names + len; s += strlen(s) + 1) {
		char value[256];
		ssize_t n = fgetxattr(fd, s, value, sizeof(value));

		if (strncmp(s, "user.", 5) == 0 && strncmp(s, "user.overlay.", 13) != 0)
			buf_printf(out, " %s=%.*s", s, (int)n, value);
	}
}

static inline void kit_list_one(int dir, const char *name, const char *path, enum kit_detail detail,
				struct buf *out)
{
	char target[4096];
	struct stat st;
	int fd;

	assert_int_equal(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	str_escape(out, path, strlen(path)); /* one line for each, whatever its name */
	buf_printf(out, " %o %u:%u", st.st_mode, st.st_uid, st.st_gid);
	if (detail >= KIT_TIMES)
		buf_printf(out, " %lld.%09ld", (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	if (detail >= KIT_HISTORY)
		buf_printf(out, " %llu %lld.%09ld", (unsigned long long)st.st_ino,
			   (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
	if (S_ISLNK(st.st_mode)) {
		ssize_t n = readlinkat(dir, name, target, sizeof(target));

		buf_str(out, " -> ");
		str_escape(out, target, (size_t)n);
	}
	fd = S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)
		     ? openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
		     : -1;
	if (S_ISREG(st.st_mode) && fd >= 0) {
		struct sha256 sha;
		uint8_t digest[SHA256_LEN];
		char hex[SHA256_HEX_LEN];
		char chunk[4096];
		ssize_t n;

		sha256_init(&sha);
		while ((n = read(fd, chunk, sizeof(chunk))) > 0)
			sha256_add(&sha, chunk, (size_t)n);
		sha256_finish(&sha, digest);
		sha256_to_hex(digest, hex);
		buf_printf(out, " %lld %s", (long long)st.st_size, hex);
	}
	if (fd >= 0)
		kit_list_xattrs(fd, out);
	buf_char(out, '\n');
	if (S_ISDIR(st.st_mode) && fd >= 0)
		kit_list_dir(fd, path, detail, out);
	(void)fd_close(fd);
}

static inline int kit_by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static inline void kit_list_dir(int dir, const char *prefix, enum kit_detail detail,
				struct buf *out)
{
	struct dirent **names;
	int n = scandirat(dir, ".", &names, NULL, kit_by_name);

	assert_true(n >= 0);
	for (int i = 0; i < n; i++) {
		char path[4096];

		(void)snprintf(path, sizeof(path), "%s/%s", prefix, names[i]->d_name);
		if (strcmp(names[i]->d_name, ".") != 0 && strcmp(names[i]->d_name, "..") != 0)
			kit_list_one(dir, names[i]->d_name, path, detail, out);
		free(names[i]);
	}
	free(names);
}

/* All of the tree, the top too; buf_done() it. */
static inline struct buf kit_list(const char *top, enum kit_detail detail)
{
	struct buf out = BUF_INIT(64 << 20);

	kit_list_one(AT_FDCWD, top, ".", detail, &out);
	assert_int_equal(buf_error(&out), 0);
	return out;
}

/* A set of the workspace, as a call would have had it. */
static inline void kit_create(struct cow *ret)
{
	const struct cow_options o = {.state_dir = kit_state, .workspace = kit_work};
	const char *guarded = kit_path(kit_work, ".git/hooks");
	const struct cow_guard guards[] = {{.path = guarded}};
	struct cordon_error err = {0};

	if (cow_create(&o, ret, &err) < 0 || cow_prepare(ret, guards, 1, &err) < 0)
		fail_msg("%s", err.message);
}

static inline const char *kit_upper(const struct cow *c)
{
	static char path[600];

	(void)snprintf(path, sizeof(path), "%s/upper", c->dir);
	return path;
}

/* The lines of a diff; the next call forgets them. */
static inline const char *kit_names(const struct cow *c)
{
	static struct buf out;
	struct changes changes;
	struct cordon_error err = {0};

	buf_done(&out);
	out = BUF_INIT(1 << 20);
	if (changes_read(c, &changes, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(changes_diff_names(&changes, &out), 0);
	changes_done(&changes);
	return buf_cstr(&out);
}
