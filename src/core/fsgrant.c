/* SPDX-License-Identifier: Apache-2.0 */
/* See fsgrant.h. */
#include "core/fsgrant.h"

#include "base/mem.h"
#include "base/path.h"
#include "workspace/system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Grants that would hand over the machine or the sandbox itself. */
static const char *const fsgrant_refused[] = {"/dev", "/proc", "/sys", "/run", "/boot"};

int fsgrant_check(const char *path, bool is_rw, const char *home, const char *state_dir,
		  struct cordon_error *err)
{
	const char *why = strcmp(path, "/") == 0 || (is_rw && system_has(path)) ? "the system"
										: NULL;

	for (size_t i = 0; i < ARRAY_LEN(fsgrant_refused); i++)
		if (path_is_within(path, fsgrant_refused[i]))
			why = "the machine";
	if (home && is_rw && strcmp(path, home) != 0 && path_is_within(home, path))
		why = "it holds your home directory";
	if (path_is_within(path, state_dir))
		why = "cordon's own state";
	if (!why)
		return 0;
	return cordon_hint(
		err, cordon_fail(err, CORDON_E_INVALID, "'%s' cannot be granted: %s", path, why),
		"run in, or name, a directory of your own work");
}

static int fsgrant_exempt(const char *path, struct plan_op *ops, size_t n, struct strv *ret_parts,
			  struct cordon_error *err)
{
	AUTO_FREE char *real = realpath(path, NULL);
	bool is_written = false;
	bool is_whole = false;

	if (!real)
		return cordon_fail_errno(err, errno, "executable path '%s'", path);
	for (size_t i = 0; i < n; i++) {
		if (!plan_op_is_writable(ops[i].kind))
			continue;
		if (path_is_within(ops[i].path, real))
			ops[i].is_noexec = false;
		is_written |= path_is_within(real, ops[i].path);
		is_whole |= strcmp(real, ops[i].path) == 0;
	}
	if (!is_written)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "executable path '%s' is not writable", real),
				   "--write %s", real);
	return is_whole || strv_add(ret_parts, real) == 0 ? 0 : cordon_nomem(err);
}

int fsgrant_executable(const struct policy *p, struct plan_op *ops, size_t n,
		       struct strv *ret_parts, struct cordon_error *err)
{
	int r = 0;

	for (size_t i = 0; p->write_xor_execute && r == 0 && i < p->executable.n; i++)
		r = fsgrant_exempt(p->executable.items[i].text, ops, n, ret_parts, err);
	return r;
}

int fsgrant_check_parts(const struct strv *parts, const char *workspace, struct cordon_error *err)
{
	for (size_t i = 0; i < parts->n; i++)
		if (path_is_within(parts->v[i], workspace))
			return cordon_hint(err,
					   cordon_fail(err, CORDON_E_UNSUPPORTED,
						       "'%s' cannot be executable alone in a "
						       "workspace whose changes are kept apart",
						       parts->v[i]),
					   "--exec for the whole workspace, or --workspace direct");
	return 0;
}

int fsgrant_by_path(const void *a, const void *b)
{
	const struct plan_op *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	/* Of two grants of one path the wider one comes last. */
	return order ? order : (int)x->kind - (int)y->kind;
}

bool fsgrant_leads_out(const char *workspace, const char *path, const char *real)
{
	AUTO_FREE char *plain = NULL;

	return path_normalise(path, &plain) == 0 && path_is_within(plain, workspace) &&
	       !path_is_within(real, workspace);
}

bool fsgrant_is_submount(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->submounts.n; i++)
		if (strcmp(p->submounts.items[i].text, path) == 0)
			return true;
	return false;
}

bool fsgrant_is_writable(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->mounts.n && p->fs_mode != FS_READ_ONLY; i++) {
		const struct mount *m = p->mounts.records[i];

		if (strcmp(m->path, path) == 0)
			return m->permissions == PERMISSION_RW;
	}
	return false;
}

bool fsgrant_may_write(const struct policy *p, const char *real)
{
	return !fsgrant_is_submount(p, real) || fsgrant_is_writable(p, real);
}

bool fsgrant_is_part(const struct plan_op *op, const struct plan_op *others, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (path_is_within(op->path, others[i].path) &&
		    (op->kind != PLAN_OP_BIND_RW || others[i].kind != PLAN_OP_COW))
			return true;
	return false;
}

int fsgrant_check_submounts(const struct policy *p, const char *cow_dir, struct cordon_error *err)
{
	if (p->submounts.n == 0 || cow_dir)
		return 0;
	return cordon_hint(err,
			   cordon_fail(err, CORDON_E_UNSUPPORTED,
				       "mounts are listed, and the workspace is written through"),
			   "--workspace cow or discard leaves them out of the change set");
}

int fsgrant_submounts(const struct policy *p, const char *workspace, struct strv *ret,
		      struct cordon_error *err)
{
	for (size_t i = 0; i < p->submounts.n; i++) {
		const char *path = p->submounts.items[i].text;
		AUTO_FREE char *real = realpath(path, NULL);

		if (!real)
			return cordon_fail_errno(err, errno, "submount '%.300s'", path);
		if (strcmp(real, path) != 0 || strcmp(real, workspace) == 0 ||
		    !path_is_within(real, workspace))
			return cordon_hint(err,
					   cordon_fail(err, CORDON_E_INVALID,
						       "submount '%.300s' is not in the workspace "
						       "'%.300s'",
						       path, workspace),
					   "name it by its real path, below the workspace");
		if (strv_add(ret, path) < 0)
			return cordon_nomem(err);
	}
	return 0;
}
