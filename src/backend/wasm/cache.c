/* SPDX-License-Identifier: Apache-2.0 */
/* See cache.h. */
#include "backend/wasm/cache.h"

#include "backend/wasm/call.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void wasm_cache_name(const char *const *parts, size_t n, char ret[static 65])
{
	struct sha256 s;
	uint8_t digest[SHA256_LEN];

	sha256_init(&s);
	for (size_t i = 0; i < n; i++)
		sha256_add(&s, parts[i], strlen(parts[i]) + 1);
	sha256_finish(&s, digest);
	sha256_to_hex(digest, ret);
}

static int cache_open(const char *state_dir, bool makes)
{
	AUTO_FREE char *path = NULL;
	int r = path_join(state_dir, WASM_CACHE_DIR, &path);

	if (r == 0 && makes)
		r = path_make_private_dir(path, 0700);
	if (r < 0)
		return r;
	r = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return r < 0 ? -errno : r;
}

static int cache_distrust(const char *name, const char *why, struct cordon_error *err)
{
	return cordon_hint(
		err,
		cordon_fail(err, CORDON_E_REFUSED,
			    "what was made of a module before cannot be trusted: '" WASM_CACHE_DIR
			    "/%s' in the state directory %s",
			    name, why),
		"find out who changed it, and remove it");
}

int wasm_cache_get(const char *state_dir, const char *name, struct buf *out,
		   struct cordon_error *err)
{
	AUTO_CLOSE int dir = cache_open(state_dir, /* makes= */ false);
	AUTO_CLOSE int fd = dir < 0 ? -1 : openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	AUTO_FREE char *data = NULL;
	char digest[SHA256_HEX_LEN];
	struct stat st;
	size_t len = 0;

	if (dir == -ENOENT || (dir >= 0 && fd < 0 && errno == ENOENT))
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return cache_distrust(name, "cannot be opened", err);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return cache_distrust(name, "belongs to somebody else", err);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return cache_distrust(name, "can be written by others", err);
	if (io_read_all(fd, WASM_MODULE_MAX, CLOCK_NEVER, &data, &len) < 0 || len < SHA256_HEX_LEN)
		return cache_distrust(name, "cannot be read", err);
	sha256_hex(data + SHA256_HEX_LEN, len - SHA256_HEX_LEN, digest);
	if (memcmp(data, digest, SHA256_HEX_LEN - 1) != 0)
		return cache_distrust(name, "was changed", err);
	buf_add(out, data + SHA256_HEX_LEN, len - SHA256_HEX_LEN);
	return buf_error(out) < 0 ? cordon_nomem(err) : 1;
}

/* Removes the oldest while there are too many. */
static void cache_sweep(int dir)
{
	AUTO_CLOSE int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = again < 0 ? NULL : fdopendir(again);
	char oldest[SHA256_HEX_LEN] = "";
	time_t age = 0;
	size_t n = 0;
	struct stat st;

	if (!list)
		return;
	again = -1; /* closedir() closes it */
	for (struct dirent *e; (e = readdir(list));) {
		if (strlen(e->d_name) != SHA256_HEX_LEN - 1 ||
		    fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		n++;
		if (!oldest[0] || st.st_mtime < age) {
			memcpy(oldest, e->d_name, sizeof(oldest));
			age = st.st_mtime;
		}
	}
	if (n >= WASM_CACHE_FILES)
		(void)unlinkat(dir, oldest, 0); /* somebody else may have been faster */
	(void)closedir(list);
}

void wasm_cache_put(const char *state_dir, const char *name, const void *data, size_t len)
{
	AUTO_CLOSE int dir = cache_open(state_dir, /* makes= */ true);
	struct buf whole = BUF_INIT(WASM_MODULE_MAX);
	char digest[SHA256_HEX_LEN];

	if (dir < 0)
		return;
	cache_sweep(dir);
	sha256_hex(data, len, digest);
	buf_str(&whole, digest);
	buf_char(&whole, '\n');
	buf_add(&whole, data, len);
	if (buf_error(&whole) == 0 && io_write_file_at(dir, name, whole.data, whole.len, 0600) < 0)
		(void)unlinkat(dir, name, 0); /* it is made again */
	buf_done(&whole);
}
