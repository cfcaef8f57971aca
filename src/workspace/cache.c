/* SPDX-License-Identifier: Apache-2.0 */
/* See cache.h. */
#include "workspace/cache.h"

#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/sha256.h"
#include "workspace/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define CACHE_KEY_LEN 32 /* hex digits of the digest: 128 bits */
#define CACHE_NOTE "workspace"

/* The names are those of the policy's check (policy/text.c). */
static const struct cache_kind cache_kinds[] = {
	{"npm", {{"npm_config_cache", ""}}},
	{"pip", {{"PIP_CACHE_DIR", ""}}},
	{"cargo", {{"CARGO_HOME", ""}}},
	{"go", {{"GOMODCACHE", "/mod"}, {"GOCACHE", "/build"}}},
};

const struct cache_kind *cache_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(cache_kinds); i++)
		if (strcmp(cache_kinds[i].name, name) == 0)
			return &cache_kinds[i];
	return NULL;
}

static int cache_project(const char *state_dir, const char *workspace, struct buf *out)
{
	char hex[SHA256_HEX_LEN];

	sha256_hex(workspace, strlen(workspace), hex);
	buf_printf(out, "%s/caches/%.*s", state_dir, CACHE_KEY_LEN, hex);
	return buf_error(out);
}

int cache_dir(const char *state_dir, const char *workspace, const char *name, char **ret)
{
	struct buf b = BUF_INIT(LIMIT_PATH_BYTES);
	size_t len;
	int r = cache_project(state_dir, workspace, &b);

	buf_printf(&b, "/%s", name);
	r = r < 0 ? r : buf_take(&b, ret, &len);
	buf_done(&b);
	return r;
}

int cache_make(const char *state_dir, const char *workspace, const char *name,
	       struct cordon_error *err)
{
	struct buf project = BUF_INIT(LIMIT_PATH_BYTES);
	AUTO_FREE char *dir = NULL;
	int r = cache_project(state_dir, workspace, &project);

	if (r == 0)
		r = cache_dir(state_dir, workspace, name, &dir);
	if (r == 0)
		r = path_make_private_dir(buf_cstr(&project), 0700);
	if (r == 0)
		r = path_make_private_dir(dir, 0700);
	if (r == 0) {
		AUTO_CLOSE int fd =
			open(buf_cstr(&project), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		struct stat st;

		if (fd < 0)
			r = -errno;
		else if (fstatat(fd, CACHE_NOTE, &st, AT_SYMLINK_NOFOLLOW) < 0)
			r = io_write_file_at(fd, CACHE_NOTE, workspace, strlen(workspace), 0600);
	}
	buf_done(&project);
	return r < 0 ? cordon_fail_leaf(err, r, "make the cache '%s'", name) : 0;
}

static int cache_visit(const char *path, const struct walk_names *names, void *arg,
		       struct cordon_error *err)
{
	AUTO_CLOSE int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	uint64_t *total = arg;

	(void)err;
	if (fd < 0)
		return WALK_SKIP;
	for
		WALK_EACH(name, names)
		{
			struct stat st;

			if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
				*total += (uint64_t)st.st_blocks * 512;
		}
	return WALK_INTO;
}

int cache_size(const char *dir, uint64_t *ret_bytes, struct cordon_error *err)
{
	*ret_bytes = 0;
	return walk_tree(dir, cache_visit, ret_bytes, err);
}
