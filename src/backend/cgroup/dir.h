/* SPDX-License-Identifier: Apache-2.0 */
/* One directory of a group: its files, its processes, its end.  Leaves: 0 or -errno. */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define CGROUP_NAME_PREFIX "cordon-"
#define CGROUP_SELF_PREFIX "cordon-self-"
#define CGROUP_NAME_BYTES 96

/* Reads a control file of at most LIMIT_CGROUP_FILE bytes.  *ret is given. */
CORDON_MUST_CHECK int cgroup_dir_read(int fd, const char *file, char **ret);
CORDON_MUST_CHECK int cgroup_dir_read_number(int fd, const char *file, uint64_t *ret);
/* The number behind a key.  -ENOENT: no such file or key. */
CORDON_MUST_CHECK int cgroup_dir_read_stat(int fd, const char *file, const char *key,
					   uint64_t *ret);
CORDON_MUST_CHECK int cgroup_dir_write(int fd, const char *file, const char *text);

/* Makes, opens and locks a directory, so that a cleaner cannot take it for a leftover.  Returns the
 * descriptor; closing it releases the lock. */
CORDON_MUST_CHECK int cgroup_dir_make(int parent_fd, const char *name);
/* SIGKILL to every process in the directory and those below it. */
void cgroup_dir_kill(int fd);
/* The same where there is no cgroup.kill: stops forking if it can, then signals by the list. */
void cgroup_dir_kill_listed(int fd);
/* Removes the directory and those below it.  -EBUSY: processes are in it. */
CORDON_MUST_CHECK int cgroup_dir_remove(int parent_fd, const char *name);
/* Ends and removes "cordon-*" directories in parent_fd that nobody holds a lock on; at most
 * LIMIT_CGROUP_STALE of them.  Returns how many were removed. */
size_t cgroup_dir_clean(int parent_fd);
/* The same for the one of that name. */
void cgroup_dir_clean_one(int parent_fd, const char *name);
