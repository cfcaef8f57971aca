/* SPDX-License-Identifier: Apache-2.0 */
/* See sample.h: macOS's half.  A process that ends while it is looked at is left out. */
#include "run/sample.h"

#include "base/limits.h"
#include "base/mem.h"

#include <errno.h>
#include <libproc.h>
#include <stdlib.h>

/* The children of one, appended; what there is no room for is more than any look can take in.  They are counted here,
 * where the list is all zero before: no call of this family says in the same unit how many it found. */
static void sample_children(pid_t *pids, size_t *n, pid_t pid)
{
	size_t room = LIMIT_SAMPLE_PROCESSES - *n;

	if (room == 0 || proc_listchildpids(pid, pids + *n, (int)(room * sizeof(*pids))) <= 0)
		return;
	while (*n < LIMIT_SAMPLE_PROCESSES && pids[*n] > 0)
		(*n)++;
}

int sample_tree(pid_t root, uint64_t enough, struct sample *ret)
{
	AUTO_FREE pid_t *pids = calloc(LIMIT_SAMPLE_PROCESSES, sizeof(*pids));
	struct sample now = {0};
	size_t n = 1;

	(void)enough; /* what a process shares is not counted twice by its footprint */
	if (!pids)
		return -ENOMEM;
	pids[0] = root;
	for (size_t i = 0; i < n; i++) {
		struct rusage_info_v2 usage = {0};

		sample_children(pids, &n, pids[i]);
		if (proc_pid_rusage(pids[i], RUSAGE_INFO_V2, (rusage_info_t *)&usage) == 0)
			now.bytes += usage.ri_phys_footprint;
		else if (i == 0)
			return -ESRCH;
	}
	now.processes = n;
	*ret = now;
	return 0;
}
