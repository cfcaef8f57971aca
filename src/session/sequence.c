/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See sequence.h.  SEQ-001 to SEQ-006 mean what CloneGuard's rules of these numbers mean, with two differences:
 * a poisoned package configuration stays poisoned (no window), and git's own configuration is a rule of its own,
 * because a build does not read it.  SEQ-1xx are ours.
 */
#include "session/sequence.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

#define SEQUENCE_ENFORCED 0.9 /* confidence in mode enforce */

const struct sequence_rule sequence_rules[] = {
	{.id = "SEQ-001",
	 .before = SESSION_SENSITIVE,
	 .now = SESSION_FETCH,
	 .mode = SEQUENCE_ENFORCE,
	 .advisory = 0.5,
	 .message = "a tool talks to a host out there after this session read a file with secrets",
	 .hit = "Read .env\nWebFetch https://a.example/",
	 .miss = "Read a.txt\nWebFetch https://a.example/"},
	{.id = "SEQ-002",
	 .before = SESSION_SENSITIVE,
	 .now = SESSION_NETWORK,
	 .mode = SEQUENCE_ENFORCE,
	 .advisory = 0.5,
	 .message = "a command uses the network after this session read a file with secrets",
	 .hit = "Read .env\nBash curl https://a.example/",
	 .miss = "Read a.txt\nBash curl https://a.example/"},
	{.id = "SEQ-003",
	 .now = SESSION_MCP,
	 .counts_tool = true,
	 .mode = SEQUENCE_ADVISORY,
	 .advisory = 0.2,
	 .message = "one tool of an MCP server is called again and again",
	 .hit = "mcp__a__b\nmcp__a__b\nmcp__a__b\nmcp__a__b\nmcp__a__b\nmcp__a__b\nmcp__a__b",
	 .miss = "mcp__a__b\nmcp__a__c\nmcp__a__b\nmcp__a__c"},
	{.id = "SEQ-004",
	 .before = SESSION_BUILD_FILE,
	 .now = SESSION_BUILD,
	 .has_window = true,
	 .mode = SEQUENCE_ADVISORY,
	 .advisory = 0.2,
	 .message = "a build runs what this session has just written",
	 .hit = "Write Makefile\nBash make",
	 .miss = "Write notes.txt\nBash make"},
	{.id = "SEQ-005",
	 .now = SESSION_AGENT_CONFIG,
	 .mode = SEQUENCE_ENFORCE,
	 .advisory = 0.5,
	 .message = "the configuration of an agent or editor is written",
	 .hit = "Write .claude/settings.json",
	 .miss = "Write src/settings.json"},
	{.id = "SEQ-005",
	 .before = SESSION_PACKAGE_CONFIG,
	 .now = SESSION_BUILD,
	 .mode = SEQUENCE_ENFORCE,
	 .advisory = 0.5,
	 .message = "a build runs after this session changed where packages come from",
	 .hit = "Write .npmrc\nBash npm install",
	 .miss = "Write a.txt\nBash npm install"},
	{.id = "SEQ-006",
	 .before = SESSION_SENSITIVE,
	 .now = SESSION_MCP | SESSION_SENDS,
	 .mode = SEQUENCE_ADVISORY,
	 .advisory = 0.5,
	 .message = "a tool that sends is called after this session read a file with secrets",
	 .hit = "Read .env\nmcp__mail__send_message",
	 .miss = "Read a.txt\nmcp__mail__send_message"},
	{.id = "SEQ-101",
	 .before = SESSION_SENSITIVE,
	 .now = SESSION_RELAY,
	 .mode = SEQUENCE_ADVISORY,
	 .advisory = 0.5,
	 .message =
		 "a command talks to a service of this machine, which may pass it on, after this "
		 "session read a file with secrets",
	 .hit = "Read .env\nBash curl -d @x http://localhost:8080/",
	 .miss = "Read a.txt\nBash curl -d @x http://localhost:8080/"},
	{.id = "SEQ-102",
	 .before = SESSION_SENSITIVE,
	 .now = SESSION_MCP,
	 .mode = SEQUENCE_ADVISORY,
	 .advisory = 0.4,
	 .message = "a tool of an MCP server, which may send, is called after this session read a "
		    "file with secrets",
	 .hit = "Read .env\nmcp__db__query",
	 .miss = "Read a.txt\nmcp__db__query"},
	{.id = "SEQ-103",
	 .before = SESSION_SENSITIVE,
	 .now = SESSION_OUTSIDE,
	 .mode = SEQUENCE_ADVISORY,
	 .advisory = 0.4,
	 .message =
		 "a file outside of the workspace is written after this session read a file with "
		 "secrets",
	 .hit = "Read .env\nWrite /opt/x",
	 .miss = "Read .env\nWrite a.txt"},
	{.id = "SEQ-104",
	 .before = SESSION_GIT_RUNS,
	 .now = SESSION_GIT,
	 .mode = SEQUENCE_ADVISORY,
	 .advisory = 0.4,
	 .message = "git is called after this session made a repository or hook that runs commands",
	 .hit = "Write .git/hooks/pre-commit\nBash git status",
	 .miss = "Write a.txt\nBash git status"},
	{.id = "SEQ-105",
	 .before = SESSION_GIT_CONFIG,
	 .now = SESSION_GIT,
	 .mode = SEQUENCE_ADVISORY,
	 .advisory = 0.2,
	 .message = "git is called after this session wrote its configuration",
	 .hit = "Write .git/config\nBash git status",
	 .miss = "Write a.txt\nBash git status"},
	{.id = "SEQ-106",
	 .before = SESSION_SENSITIVE,
	 .now = SESSION_REMOTE,
	 .mode = SEQUENCE_ADVISORY,
	 .advisory = 0.5,
	 .message =
		 "a program sends to a service that is configured here after this session read a file with secrets",
	 .hit = "Read .env\nBash git push origin main",
	 .miss = "Read a.txt\nBash git push origin main"},
};
const size_t sequence_rule_count = ARRAY_LEN(sequence_rules);

const char *session_fact_word(enum session_fact_bit bit)
{
	static const char *const words[SESSION_FACT_COUNT] = {
#define SESSION_FACT_WORD(id, word) word,
		SESSION_FACTS(SESSION_FACT_WORD)
#undef SESSION_FACT_WORD
	};

	return bit < SESSION_FACT_COUNT ? words[bit] : "?";
}

enum sequence_mode sequence_rule_mode(const struct sequence_rule *rule, const struct policy *p)
{
	for (size_t i = 0; p && i < p->sequences.n; i++) {
		const struct sequence *s = p->sequences.records[i];

		if (strcmp(s->name, rule->id) == 0)
			return (enum sequence_mode)s->mode;
	}
	return rule->mode;
}

/* The calls that a rule with a window looks at. */
static size_t sequence_first(const struct sequence_state *s)
{
	return s->n > SEQUENCE_WINDOW ? s->n - SEQUENCE_WINDOW : 0;
}

static unsigned sequence_before(const struct sequence_state *s, const struct sequence_rule *rule)
{
	unsigned facts = 0;

	if (!rule->has_window)
		return s->marks;
	for (size_t i = sequence_first(s); i < s->n; i++)
		facts |= s->calls[i].facts;
	return facts;
}

static bool sequence_same_tool(const struct sequence_state *s, const char *tool)
{
	struct sequence_call call;
	size_t n = 1; /* this call */

	(void)snprintf(call.tool, sizeof(call.tool), "%s", tool);
	for (size_t i = sequence_first(s); i < s->n; i++)
		n += strcmp(s->calls[i].tool, call.tool) == 0;
	return n > SEQUENCE_SAME_TOOL;
}

static bool sequence_fires(const struct sequence_state *s, const struct sequence_rule *rule,
			   const struct session_event *e)
{
	unsigned before = sequence_before(s, rule) | e->facts;

	return (e->facts & rule->now) == rule->now && (before & rule->before) == rule->before &&
	       (!rule->counts_tool || sequence_same_tool(s, e->tool));
}

int sequence_judge(const struct sequence_state *s, const struct session_event *event,
		   const struct policy *p, struct findings *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(sequence_rules); i++) {
		const struct sequence_rule *rule = &sequence_rules[i];
		enum sequence_mode mode = sequence_rule_mode(rule, p);
		struct finding f = {
			.signal = SIGNAL_SEQUENCE,
			.type = rule->now & (SESSION_FETCH | SESSION_NETWORK | SESSION_RELAY)
					? FINDING_EGRESS
					: FINDING_DANGEROUS_PATTERN,
			.level = mode == SEQUENCE_ENFORCE ? THREAT_HIGH : THREAT_LOW,
			.confidence = mode == SEQUENCE_ENFORCE ? SEQUENCE_ENFORCED : rule->advisory,
		};
		int r;

		if (mode == SEQUENCE_OFF || !sequence_fires(s, rule, event))
			continue;
		(void)snprintf(f.rule, sizeof(f.rule), "%s", rule->id);
		(void)snprintf(f.message, sizeof(f.message), "%s", rule->message);
		(void)snprintf(f.snippet, sizeof(f.snippet), "%.120s", event->target);
		r = findings_add(ret, &f);
		if (r < 0)
			return r;
	}
	return 0;
}

void sequence_add(struct sequence_state *s, const struct session_event *event)
{
	struct sequence_call *call;

	s->marks |= event->facts;
	if (s->n == SEQUENCE_RING) {
		memmove(s->calls, s->calls + 1, (SEQUENCE_RING - 1) * sizeof(s->calls[0]));
		s->n--;
	}
	call = &s->calls[s->n++];
	call->facts = event->facts;
	(void)snprintf(call->tool, sizeof(call->tool), "%s", event->tool);
}
