/* SPDX-License-Identifier: Apache-2.0 */
/* See undo.h. */
#include "core/undo.h"

#include "backend/checkpoint.h"
#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool undo_is_due(const struct report *r)
{
	return !r->is_dry_run && r->verdict.kind == VERDICT_SUSPICIOUS && r->selection.backend;
}

/* What the call can write: the workspace, or the part of it that is granted, and what else is granted by name.  Where
 * the whole machine is, the workspace alone. */
static int undo_paths(const struct report *r, const struct plan *plan, const char *workspace,
		      bool sees_all, struct strv *ret)
{
	if (r->selection.backend->info->level == LEVEL_NONE)
		return strv_add(ret, workspace);
	for (size_t i = 0; i < plan->op_count; i++) {
		const struct plan_op *op = &plan->ops[i];
		const char *path = op->path;
		int e;

		if (op->kind != PLAN_OP_BIND_RW)
			continue;
		if (path_is_within(workspace, path))
			path = workspace;
		else if (sees_all && !path_is_within(path, workspace))
			continue;
		e = strv_has(ret, path) ? 0 : strv_add(ret, path);
		if (e < 0)
			return e;
	}
	return 0;
}

int undo_prepare(const struct policy *p, const struct request *request, const char *state_dir,
		 const struct plan *plan, struct report *r, struct cordon_error *err)
{
	struct strv paths = {0};
	struct checkpoint c = {
		.state_dir = state_dir,
		.owner = UNDO_OWNER,
		.paths = &paths,
		.timeout_ms = UNDO_MS,
		.skips_unreadable = true,
	};
	char *name = NULL;
	int e = 0;

	if (!undo_is_due(r))
		return 0;
	if (undo_paths(r, plan, request->cwd, p->fs_mode == FS_FULL, &paths) < 0)
		e = cordon_nomem(err);
	else if (paths.n > 0)
		e = checkpoint_take(&c, &name, err);
	strv_done(&paths);
	if (e < 0) {
		e = cordon_wrap(err, e, "save what a SUSPICIOUS call may write");
		return cordon_hint(err, e, "let it write less, or work in a smaller directory");
	}
	(void)snprintf(r->checkpoint, sizeof(r->checkpoint), "%s", name ? name : "");
	free(name);
	return 0;
}
