/* SPDX-License-Identifier: Apache-2.0 */
/* See base.h. */
#include "workspace/cow/base.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/parse.h"
#include "workspace/cow/node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BASE_VERSION "cordon-copy 1"

/* "INO CTIME MTIME MODE UID GID PATH" */
void base_add(struct buf *b, const char *path, const struct stat *copy)
{
	if (b->len == 0)
		buf_add(b, BASE_VERSION, sizeof(BASE_VERSION));
	buf_printf(b, "%llu %lld %lld %u %u %u %s", (unsigned long long)copy->st_ino,
		   (long long)node_ns(&copy->st_ctim), (long long)node_ns(&copy->st_mtim),
		   copy->st_mode, copy->st_uid, copy->st_gid, path);
	buf_char(b, '\0');
}

static int base_parse_row(char *line, struct base_row *ret)
{
	int64_t v[6];

	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		const char *word = strsep(&line, " ");

		if (!line ||
		    parse_int(word, i == 1 || i == 2 ? INT64_MIN : 0, INT64_MAX, &v[i]) < 0)
			return -EINVAL;
	}
	if (!*line)
		return -EINVAL;
	*ret = (struct base_row){.path = line, .ino = (uint64_t)v[0], .ctime_ns = v[1]};
	ret->was.st_mtim.tv_sec = v[2] / 1000000000;
	ret->was.st_mtim.tv_nsec = v[2] % 1000000000;
	ret->was.st_mode = (mode_t)v[3];
	ret->was.st_uid = (uid_t)v[4];
	ret->was.st_gid = (gid_t)v[5];
	return 0;
}

static int base_order(const void *a, const void *b)
{
	return strcmp(((const struct base_row *)a)->path, ((const struct base_row *)b)->path);
}

int base_parse(char *text, size_t len, struct base *ret)
{
	size_t at = sizeof(BASE_VERSION), cap = 0;
	int r = 0;

	*ret = (struct base){.text = text};
	if (len < at || memcmp(text, BASE_VERSION, at) != 0 || text[len - 1] != '\0')
		return -EINVAL;
	while (r == 0 && at < len) {
		size_t next = at + strlen(text + at) + 1;
		void *v = ret->v;

		r = mem_grow(&v, &cap, ret->n + 1, sizeof(*ret->v), LIMIT_COW_COPY_FILES + 1);
		ret->v = v;
		if (r == 0)
			r = base_parse_row(text + at, &ret->v[ret->n]);
		ret->n += r == 0;
		at = next;
	}
	if (r == 0 && ret->n > 0)
		qsort(ret->v, ret->n, sizeof(*ret->v), base_order);
	return r;
}

void base_done(struct base *b)
{
	free(b->text);
	free(b->v);
	*b = (struct base){0};
}

const struct base_row *base_find(const struct base *b, const char *path)
{
	const struct base_row key = {.path = path};

	return b->n == 0 ? NULL : bsearch(&key, b->v, b->n, sizeof(*b->v), base_order);
}

bool base_is_untouched(const struct base_row *row, const struct stat *copy)
{
	return row->ino == copy->st_ino && row->ctime_ns == node_ns(&copy->st_ctim);
}
