/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overlayfs writes attributes on the directories that exist in both layers, and on their parents, when it first
 * looks them up: which directory below belongs to them, for uses of an upper layer that this one is never put to.
 * They are the host's directories, so the attributes are taken away again.  What was looked up stays in the
 * kernel for as long as something is mounted there, so they do not come back.
 */
#include "backend/view/build.h"

#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *const trace_names[] = {
	"user.overlay.uuid",
	"user.overlay.impure",
	"user.overlay.origin",
};

/* The command runs by now and may have put links anywhere: none is followed. */
static void trace_remove(const char *path, size_t len)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	char copy[LIMIT_PATH_BYTES];
	AUTO_CLOSE int fd = -1;

	if (len >= sizeof(copy))
		return;
	memcpy(copy, path, len);
	copy[len] = '\0';
	fd = (int)syscall(SYS_openat2, AT_FDCWD, copy, &how, sizeof(how));
	for (size_t i = 0; fd >= 0 && i < ARRAY_LEN(trace_names); i++)
		(void)fremovexattr(fd, trace_names[i]); /* those that are there */
}

/* Was the first len bytes of plan->ops[i].path seen in an earlier op? */
static bool trace_is_repeated(const struct plan *plan, size_t i, size_t len)
{
	const char *path = plan->ops[i].path;

	while (i-- > 0) {
		const struct plan_op *op = &plan->ops[i];

		if ((op->kind == PLAN_OP_PROTECT || op->kind == PLAN_OP_DENY) &&
		    strncmp(op->path, path, len) == 0 && op->path[len] == '/')
			return true;
	}
	return false;
}

void view_traces_remove(const struct view_program *p)
{
	const struct plan *plan = p->plan;

	for (size_t i = 0; plan && p->guarded && i < plan->op_count; i++) {
		const struct plan_op *op = &plan->ops[i];
		int owner;

		if (p->guarded[i] && op->kind != PLAN_OP_COW)
			trace_remove(op->path, strlen(op->path));
		if (op->kind != PLAN_OP_PROTECT && op->kind != PLAN_OP_DENY)
			continue;
		owner = view_owner(plan, op->path);
		if (owner < 0 || !p->guarded[owner] || view_is_cow(p, owner) ||
		    strlen(op->path) <= strlen(plan->ops[owner].path))
			continue;
		for (const char *at = op->path + strlen(plan->ops[owner].path) + 1;
		     (at = strchr(at, '/')); at++)
			if (!trace_is_repeated(plan, i, (size_t)(at - op->path)))
				trace_remove(op->path, (size_t)(at - op->path));
	}
}
