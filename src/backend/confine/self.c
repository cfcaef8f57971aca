/* SPDX-License-Identifier: Apache-2.0 */
/* See self.h. */
#include "backend/confine/self.h"

#include "backend/confine/landlock.h"
#include "backend/confine/seccomp.h"
#include "base/path.h"

#include <errno.h>
#include <string.h>

/* What PLAN_OP_DEV shows.  Nodes of other terminals and shared memory are the machine's, not the call's. */
static const struct {
	const char *path;
	enum landlock_access access;
} self_devices[] = {
	{"/dev/null", LANDLOCK_WRITE_NOEXEC},  {"/dev/zero", LANDLOCK_WRITE_NOEXEC},
	{"/dev/full", LANDLOCK_WRITE_NOEXEC},  {"/dev/tty", LANDLOCK_WRITE_NOEXEC},
	{"/dev/random", LANDLOCK_READ_NOEXEC}, {"/dev/urandom", LANDLOCK_READ_NOEXEC},
};

static int self_add(struct landlock_set *set, const struct plan_op *op, struct cordon_error *err)
{
	int r = 0;

	switch (op->kind) {
	case PLAN_OP_SYSTEM:
		return landlock_set_add(set, op->path, LANDLOCK_READ, true, err);
	case PLAN_OP_BIND_RO:
		return landlock_set_add(set, op->path,
					op->is_noexec ? LANDLOCK_READ_NOEXEC : LANDLOCK_READ, false,
					err);
	case PLAN_OP_BIND_RW:
		return landlock_set_add(set, op->path,
					op->is_noexec ? LANDLOCK_WRITE_NOEXEC : LANDLOCK_WRITE,
					false, err);
	case PLAN_OP_DEVICE:
		return landlock_set_add(set, op->path, LANDLOCK_WRITE_NOEXEC, false, err);
	case PLAN_OP_PROC:
		return landlock_set_add(set, op->path, LANDLOCK_READ_NOEXEC, false, err);
	case PLAN_OP_DEV:
		for (size_t i = 0; r == 0 && i < sizeof(self_devices) / sizeof(*self_devices); i++)
			r = landlock_set_add(set, self_devices[i].path, self_devices[i].access,
					     true, err);
		return r;
	case PLAN_OP_COW:
	case PLAN_OP_CACHE:
	case PLAN_OP_SOCKET:
	case PLAN_OP_TMPFS:
	case PLAN_OP_SYMLINK:
	case PLAN_OP_FILE:
	case PLAN_OP_SHOWN:
	case PLAN_OP_PROTECT:
	case PLAN_OP_DENY:
	case PLAN_OP_COUNT:
		break;
	}
	return cordon_fail(err, CORDON_E_UNSUPPORTED,
			   "'%s' cannot be kept from a process that already runs", op->path);
}

/* An executable grant around a writable one that is not: Landlock takes the union of
 * what is granted above a file, so that the inner one would be executable. */
static int self_check_nesting(const struct plan *plan, struct cordon_error *err)
{
	for (size_t i = 0; i < plan->op_count; i++) {
		const struct plan_op *inner = &plan->ops[i];

		for (size_t k = 0; inner->is_noexec && k < plan->op_count; k++) {
			const struct plan_op *outer = &plan->ops[k];

			if (outer->kind > PLAN_OP_BIND_RW || outer->is_noexec ||
			    !path_is_within(inner->path, outer->path))
				continue;
			return cordon_hint(
				err,
				cordon_fail(err, CORDON_E_UNSUPPORTED,
					    "'%.200s' would be executable through '%.200s'",
					    inner->path, outer->path),
				"keep writable paths outside readable ones, or list it as "
				"executable_writable");
		}
	}
	return 0;
}

static int self_filters(const struct plan *plan, struct seccomp_program *base,
			struct seccomp_program *denied, struct cordon_error *err)
{
	struct seccomp_policy policy = SECCOMP_POLICY_HOST;
	bool has_net = plan->net == PLAN_NET_HOST;
	int r;

	policy.allows_inet = policy.allows_netlink_route = has_net;
	policy.allows_unix = has_net && !plan->seals_unix;
	policy.allows_ptrace = plan->allows_ptrace;
	policy.denies_memfd = plan->separates_exec;
	policy.denies_set_id = true;
	r = seccomp_build(&policy, base);
	if (r == 0 && plan->denied_calls)
		r = seccomp_build_denied(plan->denied_calls, denied);
	return r == -EOPNOTSUPP
		       ? cordon_fail(err, CORDON_E_UNSUPPORTED,
				     "there is no table of system calls for this architecture")
	       : r < 0 ? cordon_fail_leaf(err, r, "make the system call filter")
		       : 0;
}

int self_apply(const struct plan *plan, struct buf *log, struct cordon_error *err)
{
	AUTO(landlock_set_done) struct landlock_set set = {0};
	struct landlock_policy policy = {.abi = landlock_abi()};
	struct seccomp_program base;
	struct seccomp_program denied;
	int r = plan->separates_exec ? self_check_nesting(plan, err) : 0;

	if (r == 0 && plan->net == PLAN_NET_PROXY)
		r = cordon_hint(err,
				cordon_fail(err, CORDON_E_UNSUPPORTED,
					    "a list of hosts cannot be held for this process"),
				"run a command under it: it gets a network of its own");
	for (size_t i = 0; r == 0 && i < plan->op_count; i++)
		r = self_add(&set, &plan->ops[i], err);
	if (r == 0)
		r = self_filters(plan, &base, &denied, err);
	if (r < 0)
		return r;
	policy.denies_tcp = plan->net == PLAN_NET_NONE && policy.abi >= LANDLOCK_ABI_TCP;
	policy.scopes_signals = policy.abi >= LANDLOCK_ABI_SCOPES;
	policy.scopes_abstract_unix = policy.abi >= LANDLOCK_ABI_SCOPES;
	r = landlock_set_restrict_self(&set, &policy, err);
	if (r == 0)
		r = seccomp_load_self(&base, err);
	if (r == 0 && plan->denied_calls)
		r = seccomp_load_self(&denied, err);
	if (r == 0)
		buf_printf(log, "\"landlock_abi\":%d,\"rules\":%zu,\"filters\":%d", policy.abi,
			   set.n, plan->denied_calls ? 2 : 1);
	return r;
}
