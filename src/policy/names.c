/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the policy's enumerations; see names.h for the orders. */
#include "policy/names.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

/* Defines names_NAME; the assertion keeps table and enum in step. */
#define NAMES(name, count_, ...)                                                                   \
	static const char *const words_##name[] = {__VA_ARGS__};                                   \
	static_assert(ARRAY_LEN(words_##name) == (count_), "table and enum differ");               \
	const struct names names_##name = {words_##name, (count_)}

/* loose → tight, as policy/level.h has them */
#define NAMES_LEVEL_WORD(id, name, doc) name,
NAMES(level, LEVEL_COUNT, LEVEL_TABLE(NAMES_LEVEL_WORD));
NAMES(runtime, RUNTIME_COUNT, "docker", "apple-container", "wasmtime", "firecracker", "gvisor",
      "native");
NAMES(net_mode, NET_MODE_COUNT, "deny", "allowlist", "allow-all");
NAMES(fs_mode, FS_MODE_COUNT, "deny", "read-only", "scoped", "full");
NAMES(permission, PERMISSION_COUNT, "ro", "rw");
NAMES(injection, INJECT_COUNT, "host-boundary", "file-mount", "environment");
NAMES(shell_mode, SHELL_MODE_COUNT, "deny", "restricted", "full");
NAMES(memory_scope, MEMORY_SCOPE_COUNT, "tree", "process");
NAMES(workspace, WORKSPACE_COUNT, "direct", "cow", "discard");
NAMES(rule_action, RULE_ACTION_COUNT, "allow", "audit-only", "require-approval", "deny");
NAMES(rule_scope, SCOPE_COUNT, "tool", "category", "all");
NAMES(timeout_default, TIMEOUT_DEFAULT_COUNT, "deny", "allow");
NAMES(detection, DETECTION_COUNT, "none", "pattern", "llm-based", "hybrid");
NAMES(injection_action, PI_ACTION_COUNT, "ignore", "log-only", "warn", "block-and-log");
NAMES(scan_scope, SCAN_SCOPE_COUNT, "input", "output", "both");
NAMES(scan_action, SCAN_ACTION_COUNT, "warn", "redact", "block");
NAMES(audit_destination, AUDIT_DEST_COUNT, "file", "sqlite", "webhook", "syslog");
NAMES(action, ACTION_COUNT, "allow", "log", "constrain", "block");
NAMES(adapter, ADAPTER_COUNT, "auto", "noop", "landlock", "seatbelt", "docker", "gvisor",
      "firecracker", "wasm", "native", "bwrap", "nsjail", "chroot", "podman", "qemu",
      "apple-container");
NAMES(constrain, CONSTRAIN_COUNT, "auto", "ask");
NAMES(fallback, FALLBACK_COUNT, "refuse", "noop");
NAMES(simple_net, SIMPLE_NET_COUNT, "deny", "allow");
NAMES(engine_net, ENGINE_NET_COUNT, "none", "bridge");
NAMES(sequence_mode, SEQUENCE_COUNT, "off", "advisory", "enforce");
NAMES(scan_mode, SCAN_MODE_COUNT, "lenient", "standard", "strict");
NAMES(egress_action, EGRESS_COUNT, "allow", "deny");
NAMES(taint_action, TAINT_COUNT, "ignore", "log", "deny-egress");
NAMES(encoding, ENCODING_COUNT, "any", "utf-8", "ascii");

int names_find(const struct names *n, const char *word)
{
	for (int i = 0; i < n->count; i++)
		if (strcmp(n->words[i], word) == 0)
			return i;
	return -1;
}

const char *names_word(const struct names *n, int index)
{
	return index >= 0 && index < n->count ? n->words[index] : "?";
}
