/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bodies of the verbs and the options that they get.  cmd_NAME.c has the verb's table, parses,
 * and calls the body; words that are no options are in cli->words.  A body returns the exit code.
 * Strings are borrowed from argv; a member that is NULL, empty or not given was not there.
 */
#pragma once

#include "cli/option.h"
#include "cli/run_options.h"

struct cli;

/* Rows that several verbs have, so that their text is written once. */
#define COMMAND_OPTION_POLICY(type, member, group_)                                                \
	{                                                                                          \
		'p', "policy", "FILE", OPTION_INTO_LIST(type, member),                             \
			.complete = COMPLETE_FILE, .group = (group_),                              \
			.help = "manifest; later ones may only tighten"                            \
	}
#define COMMAND_OPTION_DIR(type, member)                                                            \
	{                                                                                           \
		'C', "cwd", "DIR", OPTION_INTO_PATH(type, member),                                  \
			.complete = COMPLETE_DIR,                                                   \
			.help = "the project whose policy applies (default: the current directory)" \
	}
#define COMMAND_OPTION_JSON(type, member)                                                          \
	{                                                                                          \
		0, "json", OPTION_INTO_FLAG(type, member), .help = "answer in JSON"                \
	}

/* words: the command; empty with options->command.  Exactly one of the two is there. */
int cmd_run_main(struct cli *cli, const struct run_options *options);

struct learn_options {
	struct run_options run; /* first: its rows fill it here too */
	const char *output;     /* NULL or "-": stdout, and the command's goes to stderr */
	struct option_number rounds;
};
int cmd_learn_main(struct cli *cli, const struct learn_options *options);

struct backends_options {
	bool json;
};
int cmd_backends_main(struct cli *cli, const struct backends_options *options);

struct select_options {
	const char *isolation; /* never NULL */
	bool json;
};
int cmd_select_main(struct cli *cli, const struct select_options *options);

struct doctor_options {
	bool json;
};
int cmd_doctor_main(struct cli *cli, const struct doctor_options *options);

struct policy_options {
	struct strv policies;
	const char *cwd;
	bool json;
};
void policy_options_done(struct policy_options *o);

/* words: the files, at least one; only cwd of the options is used. */
int cmd_policy_validate_main(struct cli *cli, const struct policy_options *options);
int cmd_policy_show_main(struct cli *cli, const struct policy_options *options);
int cmd_policy_explain_main(struct cli *cli, const struct policy_options *options);
int cmd_policy_schema_main(struct cli *cli);

struct profile_seccomp_options {
	struct strv allow; /* words of the table */
	const char *arch;
	bool host;
	bool text;
};
int cmd_profile_seccomp_main(struct cli *cli, const struct profile_seccomp_options *options);
int cmd_profile_landlock_main(struct cli *cli, const struct policy_options *options);
int cmd_profile_seatbelt_main(struct cli *cli, const struct policy_options *options);

/* words: the file. */
struct verify_options {
	const char *language; /* never NULL */
	struct strv modules;
	struct strv functions;
	struct strv patterns;
	struct strv paths;
	bool json;
};
int cmd_verify_main(struct cli *cli, const struct verify_options *options);

/* Exactly one of path, host and command is there; write only with path. */
struct why_options {
	struct policy_options policy; /* json, too */
	const char *path;
	const char *host;
	const char *command;
	bool write;
};
int cmd_why_main(struct cli *cli, const struct why_options *options);

struct check_options {
	struct policy_options policy; /* json, too */
	const char *kind;
	const char *command;
	const char *tool;
	const char *agent;
	bool explain;
	bool jsonl;
};
/* words: at most one file; none with command. */
int cmd_check_main(struct cli *cli, const struct check_options *options);
int cmd_check_lines_main(struct cli *cli, const struct check_options *options);

struct session_options {
	bool json;
};
int cmd_session_list_main(struct cli *cli, const struct session_options *options);
/* words: the session. */
int cmd_session_show_main(struct cli *cli, const struct session_options *options);
int cmd_session_lift_main(struct cli *cli);
int cmd_session_approvals_main(struct cli *cli, const struct session_options *options);

struct session_revoke_options {
	const char *session;
	const char *project;
	bool all;
};
/* words: hosts; none with options->all. */
int cmd_session_revoke_main(struct cli *cli, const struct session_revoke_options *options);

struct snapshot_list_options {
	bool json;
};
int cmd_snapshot_list_main(struct cli *cli, const struct snapshot_list_options *options);
/* words: the snapshot; none: all. */
int cmd_snapshot_verify_main(struct cli *cli);
struct snapshot_restore_options {
	const char *target;
	struct strv removed;
	bool is_dry_run;
};
/* words: the snapshot. */
int cmd_snapshot_restore_main(struct cli *cli, const struct snapshot_restore_options *options);
/* words: the snapshot and the file. */
int cmd_snapshot_export_main(struct cli *cli);
struct snapshot_import_options {
	const char *name;
};
/* words: the file. */
int cmd_snapshot_import_main(struct cli *cli, const struct snapshot_import_options *options);
/* words: the snapshots. */
int cmd_snapshot_rm_main(struct cli *cli);

struct secret_set_options {
	struct strv hosts; /* each of the lists: words separated by commas */
	struct strv methods;
	struct strv paths;
	const char *file;
	struct option_number fd;
	const char *key;
	bool raw;
};
/* words: the name. */
int cmd_secret_set_main(struct cli *cli, const struct secret_set_options *options);
struct secret_list_options {
	bool json;
};
int cmd_secret_list_main(struct cli *cli, const struct secret_list_options *options);
/* words: the names. */
int cmd_secret_rm_main(struct cli *cli);
struct secret_rekey_options {
	const char *key;
};
int cmd_secret_rekey_main(struct cli *cli, const struct secret_rekey_options *options);

struct audit_tail_options {
	struct option_number lines;
	bool follow;
};
int cmd_audit_tail_main(struct cli *cli, const struct audit_tail_options *options);

struct audit_show_options {
	const char *type;  /* kind of event */
	const char *since; /* a duration back from now, or an RFC 3339 time */
	const char *call;  /* id of a call */
	bool json;
};
int cmd_audit_show_main(struct cli *cli, const struct audit_show_options *options);

int cmd_audit_verify_main(struct cli *cli);

struct audit_export_options {
	const char *format; /* "sarif" or "ocsf" */
	const char *output; /* NULL or "-": stdout */
};
int cmd_audit_export_main(struct cli *cli, const struct audit_export_options *options);

struct hook_agent_options {
	struct strv policies;
	struct option_number deadline;
	bool always_reply;
};
int cmd_hook_agent_main(struct cli *cli, const struct hook_agent_options *options);

struct hook_install_options {
	struct strv policies;
	const char *settings;
	bool project;
};
/* words: the agent. */
int cmd_hook_install_main(struct cli *cli, const struct hook_install_options *options);
int cmd_hook_uninstall_main(struct cli *cli, const struct hook_install_options *options);
int cmd_hook_test_main(struct cli *cli, const struct hook_install_options *options);

struct scan_cli_options {
	struct policy_options policy;
	bool sarif;
};
/* words: the directory or file. */
int cmd_scan_main(struct cli *cli, const struct scan_cli_options *options);

struct proxy_cli_options {
	struct policy_options policy; /* policies, cwd, json */
	const char *listen;
	const char *unix_path;
	const char *mode; /* NULL: allowlist */
	struct strv allow;
	struct strv block;
	struct strv allow_private;
	bool dev;
	const char *log; /* a file, or "-": stderr */
	const char *ca_file;
	struct option_number connections;
};
/* words: a command to run meanwhile; may be none. */
int cmd_proxy_main(struct cli *cli, const struct proxy_cli_options *options);
