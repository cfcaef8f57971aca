/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock for a view: see view_landlock() in step.h.  System calls only, no allocation. */
#include "backend/view/step.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

int view_landlock(const struct view_program *p, int abi)
{
	struct landlock_policy policy = {
		.abi = abi,
		.rules = p->open_rules,
		.scopes_signals = abi >= LANDLOCK_ABI_SCOPES,
		.scopes_abstract_unix = abi >= LANDLOCK_ABI_SCOPES,
	};
	int r = 0;

	/* Below that ABI it forbids what the plan allows (moving files between directories). */
	if (abi < LANDLOCK_ABI_REFER)
		return 0;
	for (size_t i = 0; i <= p->n_rules && r == 0; i++) {
		const char *path = i < p->n_rules ? p->rules[i].path : "/";
		int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		struct stat st;

		if (fd < 0 || fstat(fd, &st) < 0)
			return -errno;
		p->open_rules[i] = (struct landlock_rule){
			.fd = fd,
			.is_dir = S_ISDIR(st.st_mode),
			.access = i < p->n_rules            ? p->rules[i].access
				  : p->plan->separates_exec ? LANDLOCK_READ_NOEXEC
							    : LANDLOCK_READ,
		};
	}
	policy.n = p->n_rules + 1;
	r = landlock_apply(&policy);
	for (size_t i = 0; i < policy.n; i++)
		(void)fd_close(p->open_rules[i].fd);
	return r;
}
