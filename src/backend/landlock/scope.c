/* SPDX-License-Identifier: Apache-2.0 */
/* See scope.h.  The steps of the plan are read in their order: a later one covers an earlier one. */
#include "backend/landlock/scope.h"

#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The minimal /dev.  No terminals but the one that we have: another one of the user's would be his own. */
static const struct {
	const char *path;
	enum landlock_access access;
} scope_devices[] = {
	{"/dev/null", LANDLOCK_WRITE_NOEXEC},  {"/dev/zero", LANDLOCK_WRITE_NOEXEC},
	{"/dev/full", LANDLOCK_WRITE_NOEXEC},  {"/dev/tty", LANDLOCK_WRITE_NOEXEC},
	{"/dev/random", LANDLOCK_READ_NOEXEC}, {"/dev/urandom", LANDLOCK_READ_NOEXEC},
};

void scope_done(struct scope *s)
{
	s->set = fd_close(s->set);
	free(s->grants);
	free(s->guards);
	free(s->kept);
	scratch_done(&s->scratch);
	strv_done(&s->strings);
	strv_done(&s->names);
	strv_done(&s->env);
	strv_done(&s->own);
	strv_done(&s->search);
	*s = (struct scope){.set = -1, .scratch = SCRATCH_NONE};
}

static bool scope_access_writes(enum landlock_access access)
{
	return access == LANDLOCK_WRITE || access == LANDLOCK_WRITE_NOEXEC;
}

bool scope_is_writable(const struct scope *s, const char *path)
{
	for (size_t i = 0; i < s->grant_count; i++)
		if (scope_access_writes(s->grants[i].access) &&
		    path_is_within(path, s->grants[i].path))
			return true;
	return false;
}

/* Is path what is guarded, or below it? */
static bool scope_covers(const struct scope_guard *g, const char *path)
{
	if (!path_is_within(path, g->path))
		return false;
	return !g->except || !path_is_within(path, g->except) || strcmp(path, g->except) == 0;
}

bool scope_is_given_back(const struct scope *s, const struct scope_guard *g, const char *path,
			 enum scope_act act)
{
	size_t number = (size_t)(g - s->guards);

	for (size_t i = 0; g->is_grant && i < s->grant_count; i++) {
		const struct scope_path *p = &s->grants[i];

		if (p->guards_before <= number || !scope_access_writes(p->access) ||
		    !path_is_within(p->path, g->path) || !path_is_within(path, p->path))
			continue;
		/* Its own name is one of the directory around it. */
		if ((act != SCOPE_MOVE && act != SCOPE_REMOVE) || strcmp(path, p->path) != 0)
			return true;
	}
	return false;
}

bool scope_is_guarded(const struct scope *s, const char *path, enum scope_act act)
{
	for (size_t i = 0; i < s->guard_count; i++) {
		const struct scope_guard *g = &s->guards[i];

		if (act == SCOPE_READ && !g->is_denied)
			continue;
		if ((scope_covers(g, path) && !scope_is_given_back(s, g, path, act)) ||
		    (act == SCOPE_MOVE && path_is_within(g->path, path)))
			return true;
	}
	return false;
}

static int scope_grant(struct scope *s, const char *path, enum landlock_access access,
		       bool is_public_only)
{
	void *grants = s->grants;

	if (mem_grow(&grants, &s->grant_cap, s->grant_count + 1, sizeof(*s->grants),
		     LIMIT_PLAN_OPS) < 0)
		return -ENOMEM;
	s->grants = grants;
	s->grants[s->grant_count++] =
		(struct scope_path){path, access, is_public_only, s->guard_count};
	return 0;
}

int scope_guard(struct scope *s, const char *path, bool is_denied)
{
	void *guards = s->guards;

	if (mem_grow(&guards, &s->guard_cap, s->guard_count + 1, sizeof(*s->guards),
		     LIMIT_PLAN_OPS) < 0)
		return -ENOMEM;
	s->guards = guards;
	s->guards[s->guard_count++] = (struct scope_guard){.path = path, .is_denied = is_denied};
	return 0;
}

/* A directory in the last guard that is left as it is, if it is there. */
static int scope_except(struct scope *s, const char *name)
{
	struct scope_guard *g = &s->guards[s->guard_count - 1];
	struct stat st;
	const char *path;

	if (!name)
		return 0;
	if (strv_addf(&s->names, "%s/%s", g->path, name) < 0)
		return -ENOMEM;
	path = s->names.v[s->names.n - 1];
	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
		g->except = path;
	return 0;
}

static int scope_unsupported(const struct plan_op *op, const char *why, struct cordon_error *err)
{
	return cordon_hint(err,
			   cordon_fail(err, CORDON_E_UNSUPPORTED,
				       "backend 'landlock' cannot give '%s': %s", op->path, why),
			   "use --backend native where user namespaces are allowed");
}

/* A link that the plan makes has to be there already. */
static int scope_check_link(const struct plan_op *op, struct cordon_error *err)
{
	char target[LIMIT_PATH_BYTES];
	ssize_t n = readlink(op->path, target, sizeof(target) - 1);

	target[n > 0 ? n : 0] = '\0';
	return strcmp(target, op->text) == 0 ? 0 : scope_unsupported(op, "it makes no links", err);
}

static int scope_grant_devices(struct scope *s)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(scope_devices); i++)
		if (access(scope_devices[i].path, F_OK) == 0)
			r = scope_grant(s, scope_devices[i].path, scope_devices[i].access, false);
	return r;
}

static int scope_grant_op(struct scope *s, const struct plan_op *op)
{
	bool is_write = op->kind == PLAN_OP_BIND_RW;
	int r;

	/* For reading inside what can be written: the rights of the outer rule stay, so it is kept. */
	if (!is_write && scope_is_writable(s, op->path)) {
		r = scope_guard(s, op->path, /* is_denied= */ false);
		if (r < 0)
			return r;
		s->guards[s->guard_count - 1].is_grant = true;
	}
	if (is_write)
		return scope_grant(s, op->path,
				   op->is_noexec ? LANDLOCK_WRITE_NOEXEC : LANDLOCK_WRITE, false);
	return scope_grant(s, op->path, op->is_noexec ? LANDLOCK_READ_NOEXEC : LANDLOCK_READ,
			   op->is_public_only);
}

static int scope_take(struct scope *s, const struct plan_op *op, struct cordon_error *err)
{
	int r = 0;

	switch (op->kind) {
	case PLAN_OP_SYSTEM:
	case PLAN_OP_BIND_RO:
	case PLAN_OP_BIND_RW:
		r = scope_grant_op(s, op);
		break;
	case PLAN_OP_TMPFS:
		/* Stands in another place; what an earlier step gives here is covered by it. */
		for (size_t i = 0; r == 0 && i < s->grant_count; i++)
			if (path_is_within(op->path, s->grants[i].path))
				r = scope_guard(s, op->path, /* is_denied= */ true);
		break;
	case PLAN_OP_SYMLINK:
		return scope_check_link(op, err);
	case PLAN_OP_FILE:
		break; /* with the private directories */
	case PLAN_OP_DEV:
		r = scope_grant_devices(s);
		break;
	case PLAN_OP_PROC:
		r = scope_grant(s, op->path, LANDLOCK_READ_NOEXEC, false);
		break;
	case PLAN_OP_DEVICE:
		r = scope_grant(s, op->path, LANDLOCK_WRITE_NOEXEC, false);
		break;
	case PLAN_OP_PROTECT:
	case PLAN_OP_DENY:
		r = scope_guard(s, op->path, op->kind == PLAN_OP_DENY);
		if (r == 0)
			r = scope_except(s, op->except);
		break;
	case PLAN_OP_SHOWN:
		/* The host's own must not be seen, and nothing can stand in its place: programs do without. */
		r = scope_guard(s, op->path, /* is_denied= */ true);
		break;
	case PLAN_OP_COW:
	case PLAN_OP_CACHE:
	case PLAN_OP_SOCKET:
		return scope_unsupported(op, "it stands in another place", err);
	case PLAN_OP_COUNT:
		return scope_unsupported(op, "unknown step", err);
	}
	return r < 0 ? cordon_nomem(err) : 0;
}

/* The broker looks at its callers there. */
static int scope_check(const struct scope *s, struct cordon_error *err)
{
	for (size_t i = 0; i < s->plan->op_count; i++)
		if (s->plan->ops[i].kind == PLAN_OP_PROC &&
		    strcmp(s->plan->ops[i].path, "/proc") == 0)
			return 0;
	return cordon_fail(err, CORDON_E_UNSUPPORTED, "backend 'landlock' needs /proc in the plan");
}

/* Which calls have to be answered.  Also without guards those that Landlock does not look at. */
static void scope_choose_files(struct scope *s)
{
	s->files = s->plan->watch == PLAN_WATCH_PATHS ? SECCOMP_FILES_ALL : SECCOMP_FILES_WRITES;
	for (size_t i = 0; i < s->guard_count; i++)
		if (s->guards[i].is_denied && scope_is_writable(s, s->guards[i].path))
			s->files = SECCOMP_FILES_ALL;
}

int scope_compile(const struct plan *plan, uint16_t tcp_port, struct scope *ret,
		  struct cordon_error *err)
{
	int abi = landlock_abi();
	int r;

	*ret = (struct scope){
		.plan = plan,
		.set = -1,
		.scratch = SCRATCH_NONE,
		.policy = {.abi = abi,
			   .denies_tcp = plan->net != PLAN_NET_HOST && abi >= LANDLOCK_ABI_TCP,
			   .tcp_port = tcp_port,
			   .scopes_signals = abi >= LANDLOCK_ABI_SCOPES,
			   .scopes_abstract_unix = abi >= LANDLOCK_ABI_SCOPES},
	};
	if (abi < LANDLOCK_ABI_TRUNCATE)
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_UNSUPPORTED,
				    "Landlock ABI %d cannot keep files from being emptied", abi),
			"Linux 6.2 or newer with landlock in the kernel's lsm= list");
	r = scope_check(ret, err);
	for (size_t i = 0; r == 0 && i < plan->op_count; i++)
		r = scope_take(ret, &plan->ops[i], err);
	if (r == 0)
		r = scope_make_private(ret, err);
	if (r < 0)
		return r;
	scope_choose_files(ret);
	if (scope_make_search(ret) < 0)
		return cordon_nomem(err);
	r = scope_keep_files(ret, err);
	return r < 0 ? r : scope_add_rules(ret, err);
}
