/* SPDX-License-Identifier: Apache-2.0 */
/* See reach.h. */
#include "backend/reach.h"

#include "base/mem.h"
#include "base/path.h"

#include <string.h>

static const char *const reach_devices[] = {
	"null",  "zero",   "full",   "random", "urandom", "tty",  "fd",
	"stdin", "stdout", "stderr", "shm",    "pts",     "ptmx",
};

static const enum reach reach_kinds[PLAN_OP_COUNT] = {
	[PLAN_OP_SYSTEM] = REACH_READ,   [PLAN_OP_BIND_RO] = REACH_READ,
	[PLAN_OP_BIND_RW] = REACH_WRITE, [PLAN_OP_TMPFS] = REACH_PRIVATE,
	[PLAN_OP_COW] = REACH_WRITE,     [PLAN_OP_SYMLINK] = REACH_READ,
	[PLAN_OP_FILE] = REACH_PRIVATE,  [PLAN_OP_SHOWN] = REACH_READ,
	[PLAN_OP_DEV] = REACH_PRIVATE,   [PLAN_OP_PROC] = REACH_PRIVATE,
	[PLAN_OP_DEVICE] = REACH_WRITE,  [PLAN_OP_PROTECT] = REACH_PROTECTED,
	[PLAN_OP_DENY] = REACH_DENIED,
};

bool reach_has_device(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(reach_devices); i++)
		if (path_is_within(name, reach_devices[i]))
			return true;
	return false;
}

enum reach reach_of(const struct plan *plan, const char *path, const struct plan_op **ret_op)
{
	enum reach reach = REACH_NONE;

	*ret_op = NULL;
	for (size_t i = 0; i < plan->op_count; i++) {
		const struct plan_op *op = &plan->ops[i];

		if (path_is_within(path, op->path)) {
			if (reach == REACH_DENIED && op->kind == PLAN_OP_PROTECT)
				continue; /* of two guards the first one holds */
			reach = reach_kinds[op->kind];
			*ret_op = op;
		} else if (reach == REACH_NONE && path_is_within(op->path, path)) {
			reach = REACH_READ;
			*ret_op = op;
		}
	}
	if (*ret_op && (*ret_op)->kind == PLAN_OP_DEV && strlen(path) > strlen("/dev/") &&
	    !reach_has_device(path + strlen("/dev/"))) {
		*ret_op = NULL;
		return REACH_NONE;
	}
	return reach;
}
