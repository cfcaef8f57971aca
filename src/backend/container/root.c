/* SPDX-License-Identifier: Apache-2.0 */
/* See root.h. */
#include "backend/container/root.h"

#include "backend/container/spec.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct root {
	const struct plan *plan;
	const char *from; /* where it is; "": it is the container's own root */
	struct plan_op *ops;
	size_t n;
	size_t cap;
};

/* Is the name at the top ours, the kernel's, or private in every call? */
static bool root_is_own(const char *name)
{
	static const char *const names[] = {&SPEC_DIR[1], ".dockerenv", "dev", "proc",
					    "sys",        "run",        "tmp"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool root_keeps(const struct plan_op *op)
{
	return op->kind != PLAN_OP_SYSTEM &&
	       (op->kind != PLAN_OP_SYMLINK || strchr(op->path + 1, '/'));
}

/* Does a step of the plan need a place of its own there, which a mount of the whole would not have?  An engine has made it in
 * an image's root, and nobody in a directory of the host. */
static bool root_lacks(const struct root *r, const char *path)
{
	char source[LIMIT_PATH_BYTES + sizeof(SPEC_ROOT)];
	struct stat st;

	for (size_t i = 0; *r->from && i < r->plan->op_count; i++) {
		const struct plan_op *op = &r->plan->ops[i];

		if (!root_keeps(op) || op->kind == PLAN_OP_PROTECT || op->kind == PLAN_OP_DENY ||
		    !path_is_within(op->path, path))
			continue;
		(void)snprintf(source, sizeof(source), "%s%s", r->from, op->path);
		if (strcmp(op->path, path) == 0 || lstat(source, &st) < 0 || S_ISLNK(st.st_mode))
			return true;
	}
	return false;
}

static int root_add(struct root *r, const char *path, const char *source, const char *link)
{
	void *ops = r->ops;
	struct plan_op op = {.kind = link ? PLAN_OP_SYMLINK : PLAN_OP_SYSTEM, .path = strdup(path)};

	op.text = link || *r->from ? strdup(link ? link : source) : NULL;
	if (!op.path || (!op.text && (link || *r->from)))
		return -ENOMEM;
	if (mem_grow(&ops, &r->cap, r->n + 1, sizeof(*r->ops), LIMIT_PLAN_OPS) < 0)
		return -E2BIG;
	r->ops = ops;
	r->ops[r->n++] = op;
	return 0;
}

static int root_dir(struct root *r, const char *dir);

/* One name of a directory, as a step, or as those of what is in it. */
static int root_name(struct root *r, const char *dir, const char *name, bool wants_links)
{
	char path[LIMIT_PATH_BYTES];
	char source[LIMIT_PATH_BYTES + sizeof(SPEC_ROOT)];
	char link[LIMIT_PATH_BYTES];
	struct stat st;
	ssize_t n;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
		return -ENAMETOOLONG;
	(void)snprintf(source, sizeof(source), "%s%s", r->from, path);
	if (lstat(source, &st) < 0 || S_ISLNK(st.st_mode) != wants_links)
		return 0;
	if (wants_links) {
		n = readlink(source, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = '\0';
		return root_lacks(r, path) ? 0 : root_add(r, path, source, link);
	}
	/* Files at the top are nothing of a system's. */
	if (!S_ISDIR(st.st_mode) && (!*dir || !S_ISREG(st.st_mode)))
		return 0;
	if (!root_lacks(r, path))
		return root_add(r, path, source, NULL);
	return S_ISDIR(st.st_mode) ? root_dir(r, path) : 0;
}

/* Each path of a step ends somewhere: no deeper than the longest of them. */
static int root_dir(struct root *r, const char *dir)
{
	char source[LIMIT_PATH_BYTES + sizeof(SPEC_ROOT)];
	size_t before = r->n;
	int result = 0;
	DIR *d;

	(void)snprintf(source, sizeof(source), "%s%s", r->from, dir);
	d = opendir(*source ? source : "/");
	if (!d)
		return -errno;
	for (int turn = 0; result == 0 && turn < 2; turn++) {
		const struct dirent *e;

		/* A link needs a directory, which a mount has made. */
		if (turn > 0 && *dir && r->n == before)
			break;
		rewinddir(d);
		while (result == 0 && (e = readdir(d)))
			if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
			    (*dir || !root_is_own(e->d_name)))
				result = root_name(r, dir, e->d_name, /* wants_links= */ turn > 0);
	}
	(void)closedir(d);
	return result;
}

int root_replace(struct plan *plan)
{
	struct root r = {.plan = plan,
			 .from = plan_image_is_directory(plan->image) ? SPEC_ROOT : ""};
	void *ops;
	int result = root_dir(&r, "");

	if (result < 0)
		return result;
	ops = r.ops;
	if (mem_grow(&ops, &r.cap, r.n + plan->op_count, sizeof(*r.ops), LIMIT_PLAN_OPS) < 0)
		return -E2BIG;
	r.ops = ops;
	for (size_t i = 0; i < plan->op_count; i++)
		if (root_keeps(&plan->ops[i]))
			r.ops[r.n++] = plan->ops[i];
	plan->ops = r.ops;
	plan->op_count = r.n;
	return 0;
}
