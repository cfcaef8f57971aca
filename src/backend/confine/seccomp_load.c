/* SPDX-License-Identifier: Apache-2.0 */
/* Filters in use: what one answers, and putting one on a thread or on this process. */
#include "backend/confine/seccomp.h"

#include "base/shield.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

uint32_t seccomp_evaluate(const struct seccomp_program *p, const struct seccomp_data *data)
{
	const unsigned char *bytes = (const unsigned char *)data;
	uint32_t a = 0;

	for (size_t pc = 0; pc < p->len; pc++) {
		const struct sock_filter *i = &p->insns[pc];

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (i->k > sizeof(*data) - sizeof(a))
				return SECCOMP_RET_KILL_PROCESS;
			memcpy(&a, bytes + i->k, sizeof(a));
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= i->k ? i->jt : i->jf;
			break;
		case BPF_RET | BPF_K:
			return i->k;
		default:
			return SECCOMP_RET_KILL_PROCESS;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

void seccomp_mute(struct seccomp_program *p)
{
	for (size_t i = 0; i < p->len; i++)
		if (p->insns[i].code == (BPF_RET | BPF_K) &&
		    p->insns[i].k == SECCOMP_RET_USER_NOTIF)
			p->insns[i].k = SECCOMP_RET_ALLOW;
}

static int seccomp_load(const struct seccomp_program *p, unsigned flags)
{
	/* the kernel only reads it; its struct has no const */
	union {
		const struct sock_filter *in;
		struct sock_filter *out;
	} insns = {.in = p->insns};
	struct sock_fprog program = {.len = p->len, .filter = insns.out};
	long r;

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return -EPERM;
	r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	if (r > 0)
		return -ESRCH; /* TSYNC: the thread that could not follow */
	return r < 0 ? -errno : 0;
}

int seccomp_install(const struct seccomp_program *p)
{
	return shield_is_off(SHIELD_SECCOMP) ? 0 : seccomp_load(p, /* flags= */ 0);
}

struct seccomp_policy seccomp_self_policy(void)
{
	struct seccomp_policy p = SECCOMP_POLICY_HOST;

	p.allows_inet = true;
	p.allows_unix = true;
	p.allows_netlink_route = true;
	return p;
}

int seccomp_restrict_self(struct cordon_error *err)
{
	struct seccomp_policy policy = seccomp_self_policy();
	struct seccomp_program program;
	int r = seccomp_build(&policy, &program);

	if (r == -EOPNOTSUPP)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "there is no table of system calls for this architecture");
	if (r < 0)
		return cordon_fail_leaf(err, r, "make the system call filter");
	return seccomp_load_self(&program, err);
}

int seccomp_load_self(const struct seccomp_program *p, struct cordon_error *err)
{
	int r;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return cordon_fail_errno(err, errno, "set no_new_privs");
	r = seccomp_load(p, SECCOMP_FILTER_FLAG_TSYNC);
	if (r == -ESRCH)
		return cordon_fail(err, CORDON_E_SYSTEM,
				   "a thread of this process has a filter of its own");
	if (r == -EINVAL || r == -ENOSYS)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "the kernel has no system call filters");
	return r < 0 ? cordon_fail_errno(err, -r, "install the system call filter") : 0;
}
