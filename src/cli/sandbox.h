/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `cordon sandbox` and its bodies; the tables are in cmd_sandbox.c. */
#pragma once

#include "cli/cli.h"
#include "cli/run_options.h"
#include "core/effective.h"
#include "core/sandbox.h"

struct sandbox_create_options {
	struct run_options run; /* first: its rows fill it here too */
	const char *name;
	struct option_number idle_ms;
	struct option_number max;
};

/* Filled from a table of its own, with rows of the same meaning as run's. */
struct sandbox_exec_options {
	struct run_options run;
};

struct sandbox_list_options {
	bool json;
};

struct sandbox_logs_options {
	bool follow;
};

struct sandbox_rm_options {
	bool force;
};

struct sandbox_cleanup_options {
	struct option_number max_age_ms;
};

struct sandbox_diff_options {
	bool unified;
};

struct sandbox_commit_options {
	bool force;
};

struct sandbox_snapshot_options {
	const char *name;
};

struct sandbox_restore_options {
	bool dry_run;
};

/* What every body begins with. */
struct sandbox_door {
	struct effective effective;
	struct sandbox_manager manager;
};

CORDON_MUST_CHECK int sandbox_door_open(struct sandbox_door *d, const char *cwd,
					struct cordon_error *err);
void sandbox_door_done(struct sandbox_door *d);

int cmd_sandbox_create_main(struct cli *cli, const struct sandbox_create_options *options);
int cmd_sandbox_list_main(struct cli *cli, const struct sandbox_list_options *options);
/* words: at most one sandbox. */
int cmd_sandbox_status_main(struct cli *cli, const struct sandbox_list_options *options);
/* words: the sandbox, and the command unless there is -c. */
int cmd_sandbox_exec_main(struct cli *cli, const struct sandbox_exec_options *options);
/* words: the sandbox. */
int cmd_sandbox_logs_main(struct cli *cli, const struct sandbox_logs_options *options);
int cmd_sandbox_pause_main(struct cli *cli);
int cmd_sandbox_resume_main(struct cli *cli);
int cmd_sandbox_diff_main(struct cli *cli, const struct sandbox_diff_options *options);
/* words: the sandbox, and the paths of the workspace that are meant, if not all. */
int cmd_sandbox_commit_main(struct cli *cli, const struct sandbox_commit_options *options);
int cmd_sandbox_discard_main(struct cli *cli);
int cmd_sandbox_snapshot_main(struct cli *cli, const struct sandbox_snapshot_options *options);
/* words: the sandbox, and the snapshot; without that the newest is meant. */
int cmd_sandbox_restore_main(struct cli *cli, const struct sandbox_restore_options *options);
/* words: the sandboxes. */
int cmd_sandbox_rm_main(struct cli *cli, const struct sandbox_rm_options *options);
int cmd_sandbox_cleanup_main(struct cli *cli, const struct sandbox_cleanup_options *options);
