/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See dialect.h.  Left out on purpose: Claude Code's `defer` (only without a person), its PermissionRequest
 * (exit code 2 is not honoured there), Codex's `ask`, `continue`, `stopReason` and `suppressOutput`
 * (unsupported: the call would go on), Cursor's afterShellExecution (its answer is thrown away).
 */
#include "hook/dialect.h"

#include "base/mem.h"
#include "base/str.h"

#include <assert.h>
#include <string.h>

/* What is written down anyway, without an answer, is not here: a hook is only asked about tools. */
static const struct hook_event hook_claude_events[] = {
	{"PreToolUse", HOOK_BEFORE,
	 HOOK_CAN_SAY_NO | HOOK_CAN_ASK | HOOK_CAN_REWRITE | HOOK_CAN_ALLOW, NULL},
	{"PostToolUse", HOOK_AFTER, HOOK_CAN_SAY_NO | HOOK_CAN_ADD | HOOK_CAN_REPLACE, NULL},
	{0},
};

static const struct hook_event hook_codex_events[] = {
	{"PreToolUse", HOOK_BEFORE, HOOK_CAN_SAY_NO | HOOK_CAN_ALLOW, NULL},
	{"PostToolUse", HOOK_AFTER, HOOK_CAN_SAY_NO | HOOK_CAN_ADD | HOOK_CAN_REPLACE_TEXT, NULL},
	{0},
};

static const struct hook_event hook_gemini_events[] = {
	{"BeforeTool", HOOK_BEFORE, HOOK_CAN_SAY_NO | HOOK_CAN_REWRITE, NULL},
	{"AfterTool", HOOK_AFTER, HOOK_CAN_SAY_NO | HOOK_CAN_ADD | HOOK_CAN_REPLACE_TEXT, NULL},
	{0},
};

/* "ask" is only documented where a command or an MCP tool is about to run. */
static const struct hook_event hook_cursor_events[] = {
	{"beforeShellExecution", HOOK_BEFORE, HOOK_CAN_SAY_NO | HOOK_CAN_ASK, "Shell"},
	{"beforeMCPExecution", HOOK_BEFORE, HOOK_CAN_SAY_NO | HOOK_CAN_ASK, NULL, true},
	{"beforeReadFile", HOOK_BEFORE, HOOK_CAN_SAY_NO, "Read"},
	{"preToolUse", HOOK_BEFORE, HOOK_CAN_SAY_NO | HOOK_CAN_REWRITE, NULL},
	{"postToolUse", HOOK_AFTER, HOOK_CAN_ADD | HOOK_CAN_REPLACE_MCP, NULL},
	{0},
};

static const struct hook_entry hook_claude_entries[] = {
	{"PreToolUse", "*"},
	{"PostToolUse", "*"},
	{0},
};
static const struct hook_entry hook_gemini_entries[] = {
	{"BeforeTool", "*"},
	{"AfterTool", "*"},
	{0},
};
/* MCP tools and reads have events of their own. */
static const struct hook_entry hook_cursor_entries[] = {
	{"beforeShellExecution", NULL},    {"beforeMCPExecution", NULL}, {"beforeReadFile", NULL},
	{"preToolUse", "^(?!MCP:|Read$)"}, {"postToolUse", NULL},        {0},
};

/* The time that the agent gives is longer than our own (HOOK_DEADLINE_MS), so that ours is the one that counts. */
static const struct hook_dialect hook_dialects[] = {
	[HOOK_CLAUDE_CODE] = {.id = HOOK_CLAUDE_CODE,
			      .name = "claude-code",
			      .events = hook_claude_events,
			      .settings = ".claude/settings.json",
			      .project = "CLAUDE_PROJECT_DIR",
			      .entries = hook_claude_entries,
			      .timeout = 10,
			      .off_switch = "disableAllHooks"},
	[HOOK_CODEX] = {.id = HOOK_CODEX,
			.name = "codex",
			.events = hook_codex_events,
			.mark = "turn_id",
			.settings = ".codex/hooks.json",
			.entries = hook_claude_entries,
			.timeout = 10},
	[HOOK_GEMINI] = {.id = HOOK_GEMINI,
			 .name = "gemini",
			 .events = hook_gemini_events,
			 .mark = "timestamp",
			 .settings = ".gemini/settings.json",
			 .project = "GEMINI_PROJECT_DIR",
			 .entries = hook_gemini_entries,
			 .timeout = 10000, /* milliseconds */
			 .has_comments = true},
	[HOOK_CURSOR] = {.id = HOOK_CURSOR,
			 .name = "cursor",
			 .events = hook_cursor_events,
			 .mark = "cursor_version",
			 .settings = ".cursor/hooks.json",
			 .project = "CURSOR_PROJECT_DIR",
			 .entries = hook_cursor_entries,
			 .timeout = 10,
			 .has_flat_entries = true,
			 .can_fail_closed = true},
};
static_assert(ARRAY_LEN(hook_dialects) == HOOK_DIALECT_COUNT, "one row per dialect");

const struct hook_dialect *hook_dialect(enum hook_dialect_id id)
{
	return &hook_dialects[id];
}

const struct hook_dialect *hook_dialect_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(hook_dialects); i++)
		if (strcmp(hook_dialects[i].name, name) == 0)
			return &hook_dialects[i];
	return NULL;
}

const struct hook_event *hook_event_find(const struct hook_dialect *d, const char *name)
{
	for (const struct hook_event *e = d->events; e->name; e++)
		if (strcmp(e->name, name) == 0)
			return e;
	return NULL;
}

/* The names of all agents together: none means two things. */
static const struct {
	const char *name;
	enum hook_tool tool;
} hook_tools[] = {
	{"Bash", HOOK_TOOL_SHELL},          {"PowerShell", HOOK_TOOL_SHELL},
	{"Shell", HOOK_TOOL_SHELL},         {"shell", HOOK_TOOL_SHELL},
	{"local_shell", HOOK_TOOL_SHELL},   {"exec_command", HOOK_TOOL_SHELL},
	{"unified_exec", HOOK_TOOL_SHELL},  {"run_shell_command", HOOK_TOOL_SHELL},
	{"Monitor", HOOK_TOOL_SHELL},       {"Write", HOOK_TOOL_WRITE},
	{"Edit", HOOK_TOOL_WRITE},          {"MultiEdit", HOOK_TOOL_WRITE},
	{"NotebookEdit", HOOK_TOOL_WRITE},  {"StrReplace", HOOK_TOOL_WRITE},
	{"TabWrite", HOOK_TOOL_WRITE},      {"Delete", HOOK_TOOL_WRITE},
	{"write_file", HOOK_TOOL_WRITE},    {"replace", HOOK_TOOL_WRITE},
	{"apply_patch", HOOK_TOOL_PATCH},   {"Read", HOOK_TOOL_READ},
	{"NotebookRead", HOOK_TOOL_READ},   {"Grep", HOOK_TOOL_READ},
	{"Glob", HOOK_TOOL_READ},           {"LS", HOOK_TOOL_READ},
	{"read_file", HOOK_TOOL_READ},      {"read_many_files", HOOK_TOOL_READ},
	{"list_directory", HOOK_TOOL_READ}, {"search_file_content", HOOK_TOOL_READ},
	{"grep_search", HOOK_TOOL_READ},    {"glob", HOOK_TOOL_READ},
	{"WebFetch", HOOK_TOOL_FETCH},      {"web_fetch", HOOK_TOOL_FETCH},
};

enum hook_tool hook_tool_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(hook_tools); i++)
		if (strcmp(hook_tools[i].name, name) == 0)
			return hook_tools[i].tool;
	return HOOK_TOOL_OTHER;
}

bool hook_tool_is_mcp(const char *name)
{
	return str_starts(name, "mcp__") || str_starts(name, HOOK_MCP_MARK) ||
	       str_starts(name, "mcp_");
}
