/* SPDX-License-Identifier: Apache-2.0 */
/* What a restore has to do: the trees as they are beside the listing.  Changes nothing. */
#pragma once

#include "workspace/snap/index.h"
#include "workspace/snap/journal.h"
#include "workspace/snap/map.h"
#include "workspace/snap/place.h"

enum snap_act {
	ACT_META,     /* mode, owner, times and attributes */
	ACT_WRITE,    /* a file, by another inode */
	ACT_IN_PLACE, /* a file of several names, in the inode that it had */
	ACT_JOIN,     /* a further name of a file */
	ACT_MAKE,     /* a directory, link, FIFO or whiteout */
};

struct snap_action {
	const struct snap_entry *entry;
	const struct snap_entry *leader; /* of ACT_JOIN */
	enum snap_act act;
	bool exists;          /* something has the name */
	bool is_other;        /* of another kind */
	bool is_dir_in_place; /* namely a directory */
};

struct snap_plan {
	struct snap_store *store;
	const struct snap_manifest *manifest;
	struct snap_place *places; /* of each tree */
	const char *const *paths;  /* of each tree, where it is now */
	const struct snap_restore_options *options;
	struct snap_index now; /* what the last snapshot saw */
	struct snap_map groups;
	struct plan_group *group_list;
	size_t n_groups, group_cap;
	struct snap_action *actions; /* in the order of the listing */
	size_t n, cap;
	struct snap_goner *goners; /* deepest first */
	size_t n_goners, goner_cap;
	int64_t deadline_ms;
	struct snap_changes *changes;
	size_t conflicts;
	struct cordon_error *err;
};
void snap_plan_done(struct snap_plan *p);
/* Fills actions, goners and changes.  The goners of a journal are taken as they are, if it is given. */
CORDON_MUST_CHECK int snap_plan_make(struct snap_plan *p, const struct snap_journal *again);
/* Is the entry meant by the caller's choice? */
bool snap_plan_is_chosen(const struct snap_plan *p, const struct snap_entry *e);
