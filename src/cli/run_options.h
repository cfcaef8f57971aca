/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the options of `run` say, as they were written: nothing is resolved, merged or judged here.
 * Shared by every verb that takes the options of run.
 */
#pragma once

#include "cli/option.h"

/* What --enforce and --dry-run say about verdict actions. */
enum run_enforcement {
	RUN_AS_POLICY, /* neither was given: the policy decides */
	RUN_ENFORCE,
	RUN_DRY_RUN,
	RUN_ENFORCEMENT_COUNT
};

/* NULL, empty or not given means that the option was not there.  Strings are borrowed from argv. */
struct run_options {
	struct strv policies;
	const char *level;
	const char *backend;
	const char *cwd;
	struct strv read;
	struct strv write;
	struct strv deny;
	const char *fs;
	const char *net; /* --allow-host alone implies allowlist: see policy/load.c */
	struct strv allow_host;
	struct strv allow_private;
	struct option_number memory_bytes;
	struct option_number cpu_shares;
	struct option_number cpu_percent;
	struct option_number max_processes;
	struct option_number max_open_files;
	struct option_number timeout_ms;
	struct option_number grace_ms;
	struct option_number max_output_bytes;
	struct strv env;     /* NAME or NAME=VALUE; the names are checked */
	struct strv secrets; /* NAME or NAME@HOST,… */
	const char *workspace;
	bool rollback_on_failure;
	bool constrain;
	struct strv allow_socket;
	struct strv publish; /* as policy/publish.h says */
	bool ask_hosts;
	struct strv allow_port; /* 1 to 65535, in decimal */
	struct strv cache;
	struct strv device;
	bool gpu;
	bool write_xor_execute;
	struct strv exec;
	struct strv submount;
	struct strv deny_syscall;
	bool allow_debug;
	const char *image;
	int enforcement;    /* enum run_enforcement */
	const char *report; /* a file, or fd:N with N >= 0 */
	bool json;
	const char *command; /* of -c; may be "" */
	const char *tool;    /* NULL means RUN_TOOL_DEFAULT */
	const char *agent;
	const char *session;
};

#define RUN_TOOL_DEFAULT "Bash"

extern const struct option run_option_rows[];

void run_options_done(struct run_options *o);
/* What the rows alone cannot say: forms of names and ports, and options that exclude each other. */
CORDON_MUST_CHECK int run_options_check(const struct run_options *o, struct cordon_error *err);
