/* SPDX-License-Identifier: Apache-2.0 */
/* See privileges.h. */
#include "backend/confine/privileges.h"

#include "base/fd.h"
#include "base/raw.h"
#include "base/shield.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int privileges_bound(void)
{
	if (shield_is_off(SHIELD_CAPABILITIES))
		return 0;
	/* Up to the first that this kernel does not know.  To look is cheap, new credentials are not. */
	for (int cap = 0;; cap++) {
		long r = raw_call(SYS_prctl, PR_CAPBSET_READ, cap);

		if (r == 1)
			r = raw_call(SYS_prctl, PR_CAPBSET_DROP, cap);
		if (r < 0)
			return r == -EINVAL && cap > 0 ? 0 : (int)r;
	}
}

/*
 * A core_pattern with a pipe starts a program of the machine's as root and in its own namespaces, with the dead
 * process's memory, name and numbers, for the limit 0 as for any other: that is the handler's to look at.  The kernel
 * itself stops at 1 (what it gives to such handlers, so that none is started for them), and writes no file of one byte
 * either.  The filter keeps it so.  A hard limit of 0 cannot be raised; then it stays.
 */
static int privileges_no_core(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CORE, &limit) < 0)
		return -errno;
	if (limit.rlim_max < 1)
		return 0;
	limit.rlim_cur = limit.rlim_max = 1;
	return setrlimit(RLIMIT_CORE, &limit) < 0 ? -errno : 0;
}

/* What does not need a capability. */
static int privileges_bind(void)
{
	int r = privileges_no_core();

	if (r < 0)
		return r;
	if (!shield_is_off(SHIELD_NO_NEW_PRIVS) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return !shield_is_off(SHIELD_DUMPABLE) && prctl(PR_SET_DUMPABLE, 0) < 0 ? -errno : 0;
}

int privileges_drop(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};

	int r;

	if (shield_is_off(SHIELD_CAPABILITIES))
		return shield_keep_capabilities() < 0 ? -errno : privileges_bind();
	r = privileges_bound();
	if (r < 0)
		return r;
	if (prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
					     SECBIT_NO_SETUID_FIXUP_LOCKED |
					     SECBIT_NO_CAP_AMBIENT_RAISE |
					     SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED) < 0 ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
	    syscall(SYS_capset, &header, none) < 0)
		return -errno;
	return privileges_bind();
}

int privileges_renounce(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};

	/* Root outside a namespace may do all of it. */
	if (prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN) == 0)
		return privileges_drop();
	if (errno != EPERM)
		return -errno;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
	    syscall(SYS_capset, &header, none) < 0)
		return -errno;
	return privileges_bind();
}

int privileges_renounced(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct have[2] = {0};

	if (syscall(SYS_capget, &header, have) < 0)
		return -errno;
	for (size_t i = 0; i < ARRAY_LEN(have); i++)
		if (have[i].effective || have[i].permitted || have[i].inheritable)
			return -EPERM;
	if (!shield_is_off(SHIELD_DUMPABLE) && prctl(PR_GET_DUMPABLE) != 0)
		return -EPERM;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : -EPERM;
}

int privileges_bare(void)
{
	int r = privileges_bind();

	if (r == 0)
		r = privileges_renounced();
	for (int cap = 0; r == 0; cap++) {
		int bound = prctl(PR_CAPBSET_READ, cap);

		if (bound < 0)
			return errno == EINVAL && cap > 0 ? 0 : -errno;
		if (bound > 0)
			r = -EPERM;
	}
	return r;
}

int privileges_verify(int parent_death_signal)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct have[2] = {0};
	int signal_number = 0;

	if (syscall(SYS_capget, &header, have) < 0 || prctl(PR_GET_PDEATHSIG, &signal_number) < 0)
		return -errno;
	if (shield_is_off(SHIELD_CAPABILITIES) || shield_is_off(SHIELD_NO_NEW_PRIVS))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(have); i++)
		if (have[i].effective || have[i].permitted || have[i].inheritable)
			return -EPERM;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 || prctl(PR_CAPBSET_READ, CAP_CHOWN) != 0 ||
	    prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN) != 0)
		return -EPERM;
	return signal_number == parent_death_signal ? 0 : -EPERM;
}
