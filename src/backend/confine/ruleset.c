/* SPDX-License-Identifier: Apache-2.0 */
/* See ruleset.h.  The filesystem modes are those of the manual: deny, read-only, scoped, full. */
#include "backend/confine/ruleset.h"

#include "base/limits.h"
#include "base/path.h"
#include "policy/names.h"
#include "workspace/system.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *path;
	enum landlock_access access;
	const char *why;
} ruleset_builtin[] = {
	{"/proc", LANDLOCK_READ_NOEXEC, "processes"},
	{"/dev/null", LANDLOCK_WRITE_NOEXEC, "device"},
	{"/dev/zero", LANDLOCK_WRITE_NOEXEC, "device"},
	{"/dev/full", LANDLOCK_WRITE_NOEXEC, "device"},
	{"/dev/tty", LANDLOCK_WRITE_NOEXEC, "device"},
	{"/dev/random", LANDLOCK_READ_NOEXEC, "device"},
	{"/dev/urandom", LANDLOCK_READ_NOEXEC, "device"},
};

void ruleset_done(struct ruleset *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->entries[i].path);
	free(r->entries);
	strv_done(&r->not_held);
	*r = (struct ruleset){0};
}

static int ruleset_add(struct ruleset *r, const char *path, enum landlock_access access,
		       const char *why)
{
	char *copy;

	if (mem_grow((void **)&r->entries, &r->cap, r->n + 1, sizeof(r->entries[0]),
		     LIMIT_POLICY_ITEMS * 4) < 0)
		return -ENOMEM;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	r->entries[r->n++] = (struct ruleset_entry){copy, access, why};
	return 0;
}

static bool ruleset_is_noexec(const struct policy *p, const struct mount *m)
{
	for (size_t i = 0; i < p->executable.n; i++)
		if (path_is_within(m->path, p->executable.items[i].text))
			return false;
	return p->write_xor_execute;
}

static int ruleset_add_mounts(struct ruleset *r, const struct policy *p, bool is_read_only)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < p->mounts.n; i++) {
		const struct mount *m = p->mounts.records[i];
		bool is_write = m->permissions == PERMISSION_RW && !is_read_only;

		error = ruleset_add(r, m->path,
				    !is_write                 ? LANDLOCK_READ
				    : ruleset_is_noexec(p, m) ? LANDLOCK_WRITE_NOEXEC
							      : LANDLOCK_WRITE,
				    "policy");
	}
	return error;
}

static int ruleset_add_mode(struct ruleset *r, const struct policy *p, const char *workspace)
{
	int error;

	switch ((enum fs_mode)p->fs_mode) {
	case FS_DENY:
		return 0;
	case FS_READ_ONLY:
		error = ruleset_add(r, workspace, LANDLOCK_READ, "workspace");
		return error < 0 ? error : ruleset_add_mounts(r, p, /* is_read_only= */ true);
	case FS_SCOPED:
		return ruleset_add_mounts(r, p, /* is_read_only= */ false);
	case FS_FULL:
		return ruleset_add(r, "/", LANDLOCK_WRITE, "mode full");
	case FS_MODE_COUNT:
		break;
	}
	return -EINVAL;
}

static int ruleset_add_not_held(struct ruleset *r, const struct policy *p)
{
	int error = strv_add(&r->not_held, "a private /tmp and home");

	if (error == 0 && p->denied.n)
		error = strv_addf(
			&r->not_held,
			"%zu denied paths: a rule cannot close a part of what another opens",
			p->denied.n);
	if (error == 0)
		error = strv_add(&r->not_held,
				 "protected paths and credentials inside what is granted");
	if (error == 0 && p->net_mode != NET_ALLOW_ALL)
		error = strv_add(&r->not_held, "network other than TCP: the system call filter");
	if (error == 0)
		error = strv_add(&r->not_held, "that files exist: stat() is not an access");
	return error;
}

int ruleset_from_policy(const struct policy *p, const char *workspace, struct ruleset *ret,
			struct cordon_error *err)
{
	AUTO(ruleset_done) struct ruleset r = {.denies_tcp = p->net_mode == NET_DENY};
	int error = 0;

	for (size_t i = 0; error == 0 && i < SYSTEM_DIRS; i++)
		error = ruleset_add(&r, system_dirs[i], LANDLOCK_READ, "system");
	for (size_t i = 0; error == 0 && i < ARRAY_LEN(ruleset_builtin); i++)
		error = ruleset_add(&r, ruleset_builtin[i].path, ruleset_builtin[i].access,
				    ruleset_builtin[i].why);
	if (error == 0)
		error = ruleset_add_mode(&r, p, workspace);
	for (size_t i = 0; error == 0 && i < p->devices.n; i++)
		error = ruleset_add(&r, p->devices.items[i].text, LANDLOCK_WRITE_NOEXEC, "device");
	if (error == 0)
		error = ruleset_add_not_held(&r, p);
	if (error < 0)
		return cordon_fail_leaf(err, error, "rules of the policy");
	*ret = r;
	r = (struct ruleset){0};
	return 0;
}
