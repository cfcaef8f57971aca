/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dialects of agents' hooks as tables: which events there are, what an answer to each may say, where the
 * settings lie, and which tools have which names.  An agent that gets a field or a word that it does not know
 * marks the hook as failed and lets the call go on, so an answer never has one that its row does not list.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* X(id, name): the words of `cordon hook`. */
#define HOOK_DIALECTS(X)                                                                           \
	X(CLAUDE_CODE, "claude-code")                                                              \
	X(CODEX, "codex")                                                                          \
	X(GEMINI, "gemini")                                                                        \
	X(CURSOR, "cursor")

enum hook_dialect_id {
#define HOOK_DIALECT_ENUM(id, name) HOOK_##id,
	HOOK_DIALECTS(HOOK_DIALECT_ENUM)
#undef HOOK_DIALECT_ENUM
		HOOK_DIALECT_COUNT
};

/* Before the tool runs, or after it. */
enum hook_phase { HOOK_BEFORE, HOOK_AFTER, HOOK_PHASE_COUNT };

/* What an answer to an event may say besides "no". */
enum hook_can {
	HOOK_CAN_ASK = 1 << 0,         /* a person is asked */
	HOOK_CAN_REWRITE = 1 << 1,     /* the tool's input is replaced; alone, it decides nothing */
	HOOK_CAN_ALLOW = 1 << 2,       /* with the new input it must say "allow" */
	HOOK_CAN_ADD = 1 << 3,         /* text for the model beside the tool's output */
	HOOK_CAN_REPLACE = 1 << 4,     /* the tool's output */
	HOOK_CAN_REPLACE_MCP = 1 << 5, /* only that of MCP tools */
	HOOK_CAN_REPLACE_TEXT = 1 << 6, /* the "no" itself is what the model gets instead */
	HOOK_CAN_SAY_NO = 1 << 7, /* there is a field for it; else the exit code alone says it */
};

struct hook_event {
	const char *name; /* NULL ends a list */
	enum hook_phase phase;
	unsigned can;
	const char *tool; /* what the event is about where the input does not name a tool */
	bool is_mcp;      /* the tool is an MCP server's, though its name does not say so */
};

/* One entry of the agent's settings. */
struct hook_entry {
	const char *event; /* NULL ends a list */
	const char *matcher;
};

struct hook_dialect {
	enum hook_dialect_id id;
	const char *name;
	const struct hook_event *events;
	const char *mark;     /* a member of the input that only this dialect has; NULL: none */
	const char *settings; /* file, relative to home or the project */
	const char *project;  /* environment variable that names the project's directory */
	const struct hook_entry *entries;
	int timeout;           /* written to the settings, in the agent's unit */
	bool has_flat_entries; /* an entry is the handler itself, without a list of handlers */
	bool can_fail_closed;  /* the agent can be told to refuse when the hook fails */
	bool has_comments;     /* in its settings */
	const char *
		off_switch; /* a member of its settings that turns all hooks off; NULL: none is known */
};

/* NULL when there is none of that name. */
const struct hook_dialect *hook_dialect_find(const char *name);
const struct hook_dialect *hook_dialect(enum hook_dialect_id id);
/* NULL when the dialect has none of that name that is about a tool. */
const struct hook_event *hook_event_find(const struct hook_dialect *d, const char *name);

/* What a tool does, as far as its input must be read differently. */
enum hook_tool {
	HOOK_TOOL_SHELL, /* a command for a shell */
	HOOK_TOOL_WRITE, /* a file is made or changed */
	HOOK_TOOL_PATCH, /* several, named in the text */
	HOOK_TOOL_READ,
	HOOK_TOOL_FETCH, /* a URL */
	HOOK_TOOL_OTHER, /* everything else, MCP tools too: all its texts are looked at */
	HOOK_TOOL_COUNT
};

enum hook_tool hook_tool_find(const char *name);
/* In front of the name of an MCP server's tool, in Cursor's words. */
#define HOOK_MCP_MARK "MCP:"
/* Is it a tool of an MCP server? */
bool hook_tool_is_mcp(const char *name);
