/* SPDX-License-Identifier: Apache-2.0 */
/* See approvals.h.  A line: when it ends, scope, digest of the owner, host, who.  Only the last has blanks. */
#include "core/approvals.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define APPROVALS_FILE "approvals"
#define APPROVALS_BYTES (1024 * 1024)
#define APPROVALS_LOCK_MS 2000

static const char *const approval_scopes[APPROVAL_SCOPE_COUNT] = {"once", "session", "project"};

const char *approval_scope_name(enum approval_scope s)
{
	return (unsigned)s < APPROVAL_SCOPE_COUNT ? approval_scopes[s] : "?";
}

/* "SCOPE DIGEST HOST " of the line. */
static void approvals_key(const struct approval_of *of, struct buf *out)
{
	char hex[SHA256_HEX_LEN];

	sha256_hex(of->owner, strlen(of->owner), hex);
	buf_printf(out, "%s %s %s ", approval_scope_name(of->scope), hex, of->host);
}

/* The end of a line's time, and what stands behind it; 0: it is over, or no line of ours. */
static int64_t approvals_until(char *line, char **ret_rest)
{
	char *blank = strchr(line, ' ');
	int64_t until = 0;

	if (!blank)
		return 0;
	*blank = '\0';
	*ret_rest = blank + 1;
	if (parse_int(line, 1, INT64_MAX, &until) < 0 || until <= clock_wall_ms())
		return 0;
	return until;
}

/* Locked, and read.  A file that is not there is empty. */
static int approvals_read(const char *state_dir, int flags, int *ret_fd, char **ret,
			  struct cordon_error *err)
{
	AUTO_FREE char *path = NULL;
	AUTO_CLOSE int fd = -1;
	size_t len = 0;
	int r;

	if (path_join(state_dir, APPROVALS_FILE, &path) < 0)
		return cordon_nomem(err);
	fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 && errno == ENOENT && !(flags & O_CREAT)) {
		*ret_fd = -1;
		*ret = NULL;
		return 0;
	}
	if (fd < 0)
		return cordon_fail_errno(err, errno, "open '%s'", path);
	r = fd_flock(fd, flags & O_CREAT ? LOCK_EX : LOCK_SH, clock_deadline(APPROVALS_LOCK_MS));
	if (r == 0)
		r = io_read_all(fd, APPROVALS_BYTES, CLOCK_NEVER, ret, &len);
	if (r < 0)
		return cordon_fail_leaf(err, r, "read '%s'", path);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int approvals_find(const char *state_dir, const struct approval_of *of,
		   char ret_who[static APPROVAL_WHO_MAX], struct cordon_error *err)
{
	AUTO_FREE char *text = NULL;
	AUTO_CLOSE int fd = -1;
	struct buf key = BUF_INIT(4096);
	char *at;
	int r = approvals_read(state_dir, O_RDONLY, &fd, &text, err);

	approvals_key(of, &key);
	if (r == 0 && buf_error(&key) < 0)
		r = cordon_nomem(err);
	at = text;
	for (char *line; r == 0 && at && (line = strsep(&at, "\n"));) {
		char *rest;

		if (approvals_until(line, &rest) == 0 ||
		    strncmp(rest, buf_cstr(&key), key.len) != 0)
			continue;
		(void)snprintf(ret_who, APPROVAL_WHO_MAX, "%s", rest + key.len);
		r = 1;
	}
	buf_done(&key);
	return r;
}

int approvals_add(const char *state_dir, const struct approval_of *of, const char *who,
		  struct cordon_error *err)
{
	AUTO_FREE char *text = NULL;
	AUTO_CLOSE int fd = -1;
	struct buf all = BUF_INIT(APPROVALS_BYTES);
	int64_t lasts = of->scope == APPROVAL_SESSION ? APPROVAL_SESSION_MS : APPROVAL_PROJECT_MS;
	char *at;
	int r = approvals_read(state_dir, O_RDWR | O_CREAT, &fd, &text, err);

	if (r < 0)
		return r;
	at = text;
	for (char *line; at && (line = strsep(&at, "\n"));) {
		char *rest;
		int64_t until = approvals_until(line, &rest);

		if (until > 0)
			buf_printf(&all, "%lld %s\n", (long long)until, rest);
	}
	buf_printf(&all, "%lld ", (long long)(clock_wall_ms() + lasts));
	approvals_key(of, &all);
	buf_printf(&all, "%s\n", who);
	r = buf_error(&all);
	/* What was cut off in the middle is no line of ours, and allows nothing. */
	if (r == 0 && (lseek(fd, 0, SEEK_SET) < 0 || ftruncate(fd, 0) < 0))
		r = -errno;
	if (r == 0)
		r = io_write(fd, all.data, all.len, CLOCK_NEVER);
	buf_done(&all);
	return r < 0 ? cordon_fail_leaf(err, r, "keep the approval of '%s'", of->host) : 0;
}
