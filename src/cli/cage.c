/* SPDX-License-Identifier: Apache-2.0 */
/* See cage.h. */
#include <jansson.h> /* first: see base/json.h */

#include "cli/cage.h"

#include "backend/confine/landlock.h"
#include "backend/confine/reader.h"
#include "base/fd.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>

int cage_enter(const char *path, struct cordon_error *err)
{
	AUTO_CLOSE int tree = path ? open(path, O_PATH | O_CLOEXEC) : -1;
	int r;

	/* It would open a file for that at its first object. */
	json_object_seed(0);
	if (path && tree < 0)
		return cordon_fail_errno(err, errno, "open '%.200s'", path);
	/* Without a tree the filter lets nothing be opened. */
	if (path && landlock_abi() <= 0)
		log_warning("the kernel has no Landlock, every file can be read by what reads the "
			    "tree");
	r = reader_confine(tree);
	if (r == -EOPNOTSUPP) {
		log_warning("the kernel has no filter of system calls, reading unconfined");
		return 0;
	}
	return r < 0 ? cordon_fail_leaf(err, r, "confine the reading of hostile text") : 0;
}
