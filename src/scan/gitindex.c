/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See gitindex.h.  An entry is 40 bytes of numbers, a hash, two bytes of flags (two more when a bit of them says so) and
 * the path; before version 4 with zeros up to a multiple of eight, from then on as the number of bytes to cut off the
 * path before and what comes behind it.  Repositories with SHA-256 have longer hashes: what does not fit one length is
 * tried with the other.
 */
#include "scan/gitindex.h"

#include "base/limits.h"

#include <errno.h>
#include <string.h>

enum {
	GITINDEX_HEAD = 12,
	GITINDEX_NUMBERS = 40,
	GITINDEX_SHA1 = 20,
	GITINDEX_SHA256 = 32,
	GITINDEX_EXTENDED = 0x4000,
};

struct gitindex_reader {
	const unsigned char *text;
	size_t len, at;
	uint32_t version;
	size_t hash;
	char path[LIMIT_PATH_BYTES]; /* the entry before */
	size_t path_len;
};

static uint32_t gitindex_number(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* How much of the path before is cut off, in git's own variable length. */
static bool gitindex_strip(struct gitindex_reader *r, size_t *ret)
{
	size_t value = 0;

	for (int i = 0; i < 5 && r->at < r->len; i++) {
		unsigned char c = r->text[r->at++];

		value = (i ? value + 1 : 0) << 7 | (c & 0x7f);
		if (!(c & 0x80)) {
			*ret = value;
			return value <= r->path_len;
		}
	}
	return false;
}

static bool gitindex_entry(struct gitindex_reader *r)
{
	size_t start = r->at, fixed = GITINDEX_NUMBERS + r->hash + 2, strip = r->path_len, n;
	const unsigned char *end;

	if (r->len - r->at < fixed + 2)
		return false;
	if ((r->text[start + fixed - 2] << 8 | r->text[start + fixed - 1]) & GITINDEX_EXTENDED) {
		if (r->version < 3)
			return false;
		fixed += 2;
	}
	r->at += fixed;
	if (r->version == 4 && !gitindex_strip(r, &strip))
		return false;
	end = r->at < r->len ? memchr(r->text + r->at, '\0', r->len - r->at) : NULL;
	if (!end)
		return false;
	n = (size_t)(end - (r->text + r->at));
	if (n == 0 || r->path_len - strip + n >= sizeof(r->path))
		return false;
	memcpy(r->path + r->path_len - strip, r->text + r->at, n);
	r->path_len = r->path_len - strip + n;
	r->at += n + 1;
	if (r->version < 4)
		r->at = start + ((fixed + n + 8) & ~(size_t)7);
	return r->at <= r->len;
}

/* Behind the entries: "link" says that others are in another file. */
static bool gitindex_is_whole(const struct gitindex_reader *r)
{
	size_t at = r->at;

	while (r->len - at >= r->hash + 8) {
		uint32_t n = gitindex_number(r->text + at + 4);

		if (memcmp(r->text + at, "link", 4) == 0 || n > r->len - at - 8)
			return false;
		at += 8 + n;
	}
	return r->len - at == r->hash;
}

static bool gitindex_try(struct gitindex_reader *r, uint32_t count, struct gitindex *ret)
{
	buf_clear(&ret->paths);
	buf_char(&ret->paths, '\0');
	r->at = GITINDEX_HEAD;
	r->path_len = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (!gitindex_entry(r))
			return false;
		buf_add(&ret->paths, r->path, r->path_len);
		buf_char(&ret->paths, '\0');
		if (buf_error(&ret->paths) < 0)
			return false;
	}
	return gitindex_is_whole(r);
}

int gitindex_read(const char *text, size_t len, struct gitindex *ret)
{
	struct gitindex_reader r = {.text = (const unsigned char *)text, .len = len};
	bool is_whole = false;

	*ret = (struct gitindex){.paths = BUF_INIT(LIMIT_SCAN_INDEX)};
	r.version = len >= GITINDEX_HEAD ? gitindex_number(r.text + 4) : 0;
	if (len >= GITINDEX_HEAD && memcmp(text, "DIRC", 4) == 0 && r.version >= 2 &&
	    r.version <= 4) {
		r.hash = GITINDEX_SHA256;
		is_whole = gitindex_try(&r, gitindex_number(r.text + 8), ret);
		r.hash = GITINDEX_SHA1;
		if (!is_whole)
			is_whole = gitindex_try(&r, gitindex_number(r.text + 8), ret);
	}
	ret->is_partial = !is_whole;
	return buf_error(&ret->paths) == -ENOMEM ? -ENOMEM : 0;
}

void gitindex_done(struct gitindex *i)
{
	buf_done(&i->paths);
}

static bool gitindex_find(const struct gitindex *i, const char *path, char behind)
{
	struct buf b = BUF_INIT(LIMIT_PATH_BYTES + 2);
	bool found;

	buf_char(&b, '\0');
	buf_str(&b, path);
	buf_char(&b, behind);
	found = buf_error(&b) < 0 ||
		(i->paths.len > 0 && memmem(i->paths.data, i->paths.len, b.data, b.len) != NULL);
	buf_done(&b);
	return found;
}

bool gitindex_has(const struct gitindex *i, const char *path)
{
	return gitindex_find(i, path, '\0');
}

bool gitindex_may_have_below(const struct gitindex *i, const char *dir)
{
	return i->is_partial || gitindex_find(i, dir, '/');
}
