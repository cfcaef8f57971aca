/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See approvals.h.  A line: when it ends, scope, digest of the owner, host, "=" and the owner, who.  Only the last has
 * blanks; the owner's are escaped.  A line without an owner is one of an older version.
 */
#include "core/approvals.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/sha256.h"

#include <ctype.h>
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

/* The owner as one word: what is no letter, digit or one of "/._-" is written as %XX. */
static void approvals_escape(const char *owner, struct buf *out)
{
	for (; *owner; owner++) {
		unsigned char c = (unsigned char)*owner;

		if (c < 0x80 && (isalnum(c) || strchr("/._-", c)))
			buf_char(out, (char)c);
		else
			buf_printf(out, "%%%02x", c);
	}
}

/* In place; false: that is not how we write it. */
static bool approvals_unescape(char *word)
{
	static const char digits[] = "0123456789abcdef";
	char *to = word;

	for (const char *at = word; *at; at++) {
		const char *high, *low;

		if (*at != '%') {
			*to++ = *at;
			continue;
		}
		high = at[1] ? strchr(digits, at[1]) : NULL;
		low = high && at[2] ? strchr(digits, at[2]) : NULL;
		if (!low)
			return false;
		*to++ = (char)((high - digits) << 4 | (low - digits));
		at += 2;
	}
	*to = '\0';
	return true;
}

/* One line, which is changed; what is given points into it. */
struct approval_line {
	struct approval_kept approval;
	const char *digest; /* of the owner */
};

/* False: it is over, or no line of ours. */
static bool approvals_parse(char *line, struct approval_line *ret)
{
	char *at = line;
	const char *until = strsep(&at, " ");
	const char *scope = strsep(&at, " ");
	const char *digest = strsep(&at, " ");
	const char *host = strsep(&at, " ");
	char hex[SHA256_HEX_LEN];
	char *owner = NULL;

	*ret = (struct approval_line){.digest = digest, .approval.host = host};
	if (!at || parse_int(until, 1, INT64_MAX, &ret->approval.until_ms) < 0 ||
	    ret->approval.until_ms <= clock_wall_ms())
		return false;
	while (strcmp(scope, approval_scopes[ret->approval.scope]) != 0)
		if (++ret->approval.scope == APPROVAL_SCOPE_COUNT)
			return false;
	if (ret->approval.scope == APPROVAL_ONCE)
		return false;
	if (*at == '=') {
		owner = strsep(&at, " ") + 1;
		if (!at || !approvals_unescape(owner))
			return false;
		sha256_hex(owner, strlen(owner), hex);
		if (strcmp(hex, digest) != 0)
			return false;
	}
	ret->approval.owner = owner;
	ret->approval.who = at;
	return true;
}

static bool approvals_match(const struct approval_line *line, const struct approval_of *of)
{
	char hex[SHA256_HEX_LEN];

	if (line->approval.scope != of->scope || strcmp(line->approval.host, of->host) != 0)
		return false;
	sha256_hex(of->owner, strlen(of->owner), hex);
	return strcmp(line->digest, hex) == 0;
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
	struct approval_line line;
	char *at;
	int r = approvals_read(state_dir, O_RDONLY, &fd, &text, err);

	at = text;
	for (char *one; r == 0 && at && (one = strsep(&at, "\n"));) {
		if (!approvals_parse(one, &line) || !approvals_match(&line, of))
			continue;
		(void)snprintf(ret_who, APPROVAL_WHO_MAX, "%s", line.approval.who);
		r = 1;
	}
	return r;
}

/* In place of what is there.  What was cut off in the middle is no line of ours, and allows nothing. */
static int approvals_write(int fd, const struct buf *all)
{
	int r = buf_error(all);

	if (r == 0 && (lseek(fd, 0, SEEK_SET) < 0 || ftruncate(fd, 0) < 0))
		r = -errno;
	return r < 0 ? r : io_write(fd, all->data, all->len, CLOCK_NEVER);
}

static void approvals_format(const struct approval_line *line, struct buf *out)
{
	const struct approval_kept *a = &line->approval;

	buf_printf(out, "%lld %s %s %s ", (long long)a->until_ms, approval_scope_name(a->scope),
		   line->digest, a->host);
	if (a->owner) {
		buf_char(out, '=');
		approvals_escape(a->owner, out);
		buf_char(out, ' ');
	}
	buf_printf(out, "%s\n", a->who);
}

int approvals_add(const char *state_dir, const struct approval_of *of, const char *who,
		  struct cordon_error *err)
{
	AUTO_FREE char *text = NULL;
	AUTO_CLOSE int fd = -1;
	struct buf all = BUF_INIT(APPROVALS_BYTES);
	int64_t lasts = of->scope == APPROVAL_SESSION ? APPROVAL_SESSION_MS : APPROVAL_PROJECT_MS;
	struct approval_line line;
	char hex[SHA256_HEX_LEN];
	char *at;
	int r = approvals_read(state_dir, O_RDWR | O_CREAT, &fd, &text, err);

	if (r < 0)
		return r;
	at = text;
	for (char *one; at && (one = strsep(&at, "\n"));)
		if (approvals_parse(one, &line) && !approvals_match(&line, of))
			approvals_format(&line, &all);
	sha256_hex(of->owner, strlen(of->owner), hex);
	line = (struct approval_line){.approval = {.until_ms = clock_wall_ms() + lasts,
						   .scope = of->scope,
						   .owner = of->owner,
						   .host = of->host,
						   .who = who},
				      .digest = hex};
	approvals_format(&line, &all);
	r = approvals_write(fd, &all);
	buf_done(&all);
	return r < 0 ? cordon_fail_leaf(err, r, "keep the approval of '%s'", of->host) : 0;
}

int approvals_each(const char *state_dir, approval_fn *fn, void *data, struct cordon_error *err)
{
	AUTO_FREE char *text = NULL;
	AUTO_CLOSE int fd = -1;
	struct approval_line line;
	char *at;
	int r = approvals_read(state_dir, O_RDONLY, &fd, &text, err);

	at = text;
	for (char *one; r == 0 && at && (one = strsep(&at, "\n"));)
		if (approvals_parse(one, &line))
			r = fn(data, &line.approval, err);
	return r;
}

static bool approvals_is_chosen(const struct approval_line *line,
				const struct approval_choice *which)
{
	const struct {
		enum approval_scope scope;
		const char *owner;
	} rows[] = {{APPROVAL_SESSION, which->session}, {APPROVAL_PROJECT, which->project}};
	bool is_anybody = true;

	if (which->host && strcmp(which->host, line->approval.host) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct approval_of of = {rows[i].scope, rows[i].owner, line->approval.host};

		if (!rows[i].owner)
			continue;
		if (approvals_match(line, &of))
			return true;
		is_anybody = false;
	}
	return is_anybody;
}

int approvals_revoke(const char *state_dir, const struct approval_choice *which, approval_fn *fn,
		     void *data, struct cordon_error *err)
{
	AUTO_FREE char *text = NULL;
	AUTO_CLOSE int fd = -1;
	struct buf all = BUF_INIT(APPROVALS_BYTES);
	struct approval_line line;
	char *at;
	int n = 0;
	int r = approvals_read(state_dir, O_RDWR | O_CREAT, &fd, &text, err);

	at = text;
	for (char *one; r == 0 && at && (one = strsep(&at, "\n"));) {
		if (!approvals_parse(one, &line))
			continue;
		if (!approvals_is_chosen(&line, which)) {
			approvals_format(&line, &all);
			continue;
		}
		r = fn(data, &line.approval, err);
		n++;
	}
	if (r == 0) {
		r = approvals_write(fd, &all);
		if (r < 0)
			r = cordon_fail_leaf(err, r, "revoke approvals");
	}
	buf_done(&all);
	return r < 0 ? r : n;
}
