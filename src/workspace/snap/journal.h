/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A restore that is under way: enough to do it again from the beginning, which comes to the same however far it got.
 * Until the first change of a tree it is undone instead.
 */
#pragma once

#include "base/limits.h"
#include "workspace/snap/store.h"

#include <time.h>

struct snap_goner {
	size_t root;
	char *path; /* in the tree */
};

struct snap_journal {
	bool is_changing; /* the trees; else files are only being prepared */
	bool is_foreign;
	uint8_t listing[SNAP_DIGEST];
	char stage[17];     /* of the directories with prepared files */
	const char *target; /* "", or the directory in the place of the only tree */
	const char *const *only;
	size_t only_count;
	const struct snap_goner *goners;
	size_t goner_count;
	struct timespec times[LIMIT_SNAPSHOT_ROOTS]; /* of the trees' own directories, before */
	size_t time_count;
	/* what was read is owned here */
	char *data;
	const char **only_owned;
	struct snap_goner *goners_owned;
};
void snap_journal_done(struct snap_journal *j);

/* Only one process at a time takes or restores these trees.  The descriptor holds the lock. */
CORDON_MUST_CHECK int snap_journal_lock(struct snap_store *s, const char *key, bool waits,
					int *ret_fd, struct cordon_error *err);
CORDON_MUST_CHECK int snap_journal_write(struct snap_store *s, const char *key,
					 const struct snap_journal *j, struct cordon_error *err);
/* Pure; takes data. 0, -EBADMSG, -ENOMEM. */
CORDON_MUST_CHECK int snap_journal_decode(char *data, size_t len, struct snap_journal *ret);
int snap_journal_remove(struct snap_store *s, const char *key, struct cordon_error *err);
/* The name of the directory with prepared files, in a tree. */
#define JOURNAL_STAGE_PREFIX ".cordon-restore-"
#define JOURNAL_STAGE_NAME (sizeof(JOURNAL_STAGE_PREFIX) + 16)
void snap_journal_stage_name(const char stage[static 17], char ret[static JOURNAL_STAGE_NAME]);
