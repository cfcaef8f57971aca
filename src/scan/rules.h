/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of a scan, one row each; a test is made of every row.  What inspectors find has their own rules. */
#pragma once

#include "verdict/verdict.h"

enum scan_rule_id {
	SCAN_AGENT_ENV,
	SCAN_AGENT_BYPASS,
	SCAN_AGENT_ALLOW,
	SCAN_AGENT_HELPER,
	SCAN_AGENT_MCP_ALL,
	SCAN_AGENT_REACH,
	SCAN_AGENT_PLUGIN,
	SCAN_MCP_PLAIN,
	SCAN_MD_RUN,
	SCAN_DEV_PRIVILEGED,
	SCAN_DEV_MOUNT,
	SCAN_DEV_HOST,
	SCAN_COMPOSE_HOST,
	SCAN_VSCODE_AUTO,
	SCAN_VSCODE_SETTING,
	SCAN_START_FILE,
	SCAN_MODELINE,
	SCAN_CI_TARGET,
	SCAN_CI_EXPRESSION,
	SCAN_CI_SECRETS,
	SCAN_PY_BACKEND,
	SCAN_PY_PTH,
	SCAN_BUILD_PROGRAM,
	SCAN_GIT_CONFIG,
	SCAN_GIT_HOOKS_PATH,
	SCAN_GIT_MODULE,
	SCAN_GIT_FILTER,
	SCAN_REGISTRY,
	SCAN_PLAIN_SOURCE,
	SCAN_REGISTRY_TOKEN,
	SCAN_NPM_OPTION,
	SCAN_ENV_FILE,
	SCAN_SECRET,
	SCAN_SECRET_TRACKED,
	SCAN_LINK_OUT,
	SCAN_LINK_SECRET,
	SCAN_TAGS,
	SCAN_BIDI,
	SCAN_INVISIBLE,
	SCAN_HIDDEN_NAME,
	SCAN_INPUT_SENT,
	SCAN_SOURCE_TAKES,
	SCAN_NPM_BIN,
	SCAN_PROGRAM,
	SCAN_MALFORMED,
	SCAN_UNREADABLE,
	SCAN_LIMIT,
	SCAN_RULE_COUNT
};

/* How a row's examples are given to the scan. */
enum scan_example {
	SCAN_BY_TEXT,
	SCAN_BY_LINK,
	SCAN_BY_TRACKED,
	SCAN_BY_REAL_LINK, /* in a tree on the disk: where the link of that path leads */
	SCAN_BY_DEPTH,     /* in a tree on the disk: how many directories are inside one another */
};

struct scan_rule {
	const char *id;
	const char *reason;
	enum finding_type type;
	enum threat level;
	double confidence;
	enum scan_example example;
	const char *path; /* of the examples */
	const char *hit;
	const char *miss;
};

extern const struct scan_rule scan_rules[SCAN_RULE_COUNT];
