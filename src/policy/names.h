/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The enumerations of the policy and their words.  Each table is ordered from tight to loose or from
 * loose to tight as its comment says; the order is what "may only tighten" compares.
 */
#pragma once

#include "policy/level.h"

#include <stddef.h>

struct names {
	const char *const *words; /* indexed by the enum's value */
	int count;
};

enum runtime {
	RUNTIME_DOCKER,
	RUNTIME_APPLE_CONTAINER,
	RUNTIME_WASMTIME,
	RUNTIME_FIRECRACKER,
	RUNTIME_GVISOR,
	RUNTIME_NATIVE,
	RUNTIME_COUNT
};
/* tight → loose */
enum net_mode { NET_DENY, NET_ALLOWLIST, NET_ALLOW_ALL, NET_MODE_COUNT };
/* tight → loose */
enum fs_mode { FS_DENY, FS_READ_ONLY, FS_SCOPED, FS_FULL, FS_MODE_COUNT };
/* tight → loose */
enum permission { PERMISSION_RO, PERMISSION_RW, PERMISSION_COUNT };
/* tight → loose: nearer to the command is looser */
enum injection { INJECT_HOST_BOUNDARY, INJECT_FILE_MOUNT, INJECT_ENVIRONMENT, INJECT_COUNT };
/* tight → loose */
enum shell_mode { SHELL_DENY, SHELL_RESTRICTED, SHELL_FULL, SHELL_MODE_COUNT };
/* tight → loose */
enum memory_scope { MEMORY_SCOPE_TREE, MEMORY_SCOPE_PROCESS, MEMORY_SCOPE_COUNT };
/* loose → tight: discard and cow keep the real tree untouched */
enum workspace { WORKSPACE_DIRECT, WORKSPACE_COW, WORKSPACE_DISCARD, WORKSPACE_COUNT };
/* loose → tight */
enum rule_action {
	RULE_ALLOW,
	RULE_AUDIT_ONLY,
	RULE_REQUIRE_APPROVAL,
	RULE_DENY,
	RULE_ACTION_COUNT
};
enum rule_scope { SCOPE_TOOL, SCOPE_CATEGORY, SCOPE_ALL, SCOPE_COUNT };
/* tight → loose */
enum timeout_default { TIMEOUT_DENY, TIMEOUT_ALLOW, TIMEOUT_DEFAULT_COUNT };
/* loose → tight */
enum detection { DETECT_NONE, DETECT_PATTERN, DETECT_LLM, DETECT_HYBRID, DETECTION_COUNT };
/* loose → tight */
enum injection_action { PI_IGNORE, PI_LOG_ONLY, PI_WARN, PI_BLOCK_AND_LOG, PI_ACTION_COUNT };
enum scan_scope { SCAN_INPUT, SCAN_OUTPUT, SCAN_BOTH, SCAN_SCOPE_COUNT };
/* loose → tight */
enum scan_action { SECRET_WARN, SECRET_REDACT, SECRET_BLOCK, SCAN_ACTION_COUNT };
enum audit_destination { AUDIT_FILE, AUDIT_SQLITE, AUDIT_WEBHOOK, AUDIT_SYSLOG, AUDIT_DEST_COUNT };
/* loose → tight */
enum action { ACTION_ALLOW, ACTION_LOG, ACTION_CONSTRAIN, ACTION_BLOCK, ACTION_COUNT };
enum adapter {
	ADAPTER_AUTO,
	ADAPTER_NOOP,
	ADAPTER_LANDLOCK,
	ADAPTER_SEATBELT,
	ADAPTER_DOCKER,
	ADAPTER_GVISOR,
	ADAPTER_FIRECRACKER,
	ADAPTER_WASM,
	ADAPTER_NATIVE,
	ADAPTER_BWRAP,
	ADAPTER_NSJAIL,
	ADAPTER_CHROOT,
	ADAPTER_PODMAN,
	ADAPTER_QEMU,
	ADAPTER_APPLE_CONTAINER,
	ADAPTER_COUNT
};
/* loose → tight */
enum constrain_mode { CONSTRAIN_AUTO, CONSTRAIN_ASK, CONSTRAIN_COUNT };
/* tight → loose */
enum fallback { FALLBACK_REFUSE, FALLBACK_NOOP, FALLBACK_COUNT };
/* tight → loose */
enum simple_net { SIMPLE_NET_DENY, SIMPLE_NET_ALLOW, SIMPLE_NET_COUNT };
/* tight → loose */
enum engine_net { ENGINE_NET_NONE, ENGINE_NET_BRIDGE, ENGINE_NET_COUNT };
/* loose → tight */
enum sequence_mode { SEQUENCE_OFF, SEQUENCE_ADVISORY, SEQUENCE_ENFORCE, SEQUENCE_COUNT };
/* loose → tight */
enum scan_mode { SCAN_LENIENT, SCAN_STANDARD, SCAN_STRICT, SCAN_MODE_COUNT };
/* loose → tight */
enum egress_action { EGRESS_ALLOW, EGRESS_DENY, EGRESS_COUNT };
/* loose → tight */
enum taint_action { TAINT_IGNORE, TAINT_LOG, TAINT_DENY_EGRESS, TAINT_COUNT };
enum encoding { ENCODING_ANY, ENCODING_UTF8, ENCODING_ASCII, ENCODING_COUNT };

extern const struct names names_level, names_runtime, names_net_mode, names_fs_mode,
	names_permission, names_injection, names_shell_mode, names_workspace, names_memory_scope,
	names_rule_action, names_rule_scope, names_timeout_default, names_detection,
	names_injection_action, names_scan_scope, names_scan_action, names_audit_destination,
	names_action, names_adapter, names_constrain, names_fallback, names_simple_net,
	names_engine_net, names_sequence_mode, names_scan_mode, names_egress_action,
	names_taint_action, names_encoding;

/* The index of word, or -1. */
int names_find(const struct names *n, const char *word);
/* The word of an index; "?" when it is out of range. */
const char *names_word(const struct names *n, int index);
