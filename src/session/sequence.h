/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that are harmless one by one and not one after another: a file with secrets is read, then something is
 * sent.  Pure functions on what a session remembers; store.h keeps that between processes.
 *
 * Theory of operation.  A call gives facts, either because its words say so or because the kernel saw it
 * (enum session_source).  Facts stay with the session for good as marks, and the last SEQUENCE_RING calls with
 * their facts in order.  A rule fires when a call gives the facts that it waits for and what has to come before
 * is among the marks, or in the last calls where the rule has a window, or in the same call.
 */
#pragma once

#include "policy/policy.h"
#include "verdict/verdict.h"

#include <stdint.h>

/* X(id, word): what is known of a call; a set of bits. */
#define SESSION_FACTS(X)                                                                           \
	X(SENSITIVE, "sensitive-read")      /* a file that holds secrets was opened */             \
	X(FETCH, "fetch")                   /* a tool talks to a host out there */                 \
	X(NETWORK, "network")               /* a command does, or asks for names there */          \
	X(RELAY, "relay")                   /* a command talks to this machine */                  \
	X(MCP, "mcp")                       /* a tool of an MCP server */                          \
	X(SENDS, "sends")                   /* whose name says that it sends */                    \
	X(BUILD_FILE, "build-file")         /* written: what a build reads */                      \
	X(BUILD, "build")                   /* a build command */                                  \
	X(AGENT_CONFIG, "agent-config")     /* written: what an agent or editor obeys */           \
	X(PACKAGE_CONFIG, "package-config") /* written: where packages come from */                \
	X(GIT_CONFIG, "git-config")         /* written */                                          \
	X(GIT_RUNS, "git-runs")             /* a repository or hook that runs commands was made */ \
	X(GIT, "git")                       /* git was called */                                   \
	X(OUTSIDE, "outside")               /* written outside of workspace and /tmp */            \
	X(REMOTE, "remote")                 /* a program sends to a service that is configured */

enum session_fact_bit {
#define SESSION_FACT_BIT(id, word) SESSION_BIT_##id,
	SESSION_FACTS(SESSION_FACT_BIT)
#undef SESSION_FACT_BIT
		SESSION_FACT_COUNT
};
enum session_fact {
#define SESSION_FACT_ENUM(id, word) SESSION_##id = 1 << SESSION_BIT_##id,
	SESSION_FACTS(SESSION_FACT_ENUM)
#undef SESSION_FACT_ENUM
};

enum session_source {
	SESSION_CLAIMED, /* the words of the call say so */
	SESSION_KERNEL,  /* it happened: seen while the call ran in a sandbox */
	SESSION_SOURCE_COUNT
};

/* One thing that a call does or did.  Also what the egress side reports: a host that was contacted is a NETWORK
 * fact of SESSION_KERNEL with the host as its target, unless the policy allows that host. */
struct session_event {
	enum session_source source;
	unsigned facts;     /* of enum session_fact */
	const char *tool;   /* borrowed; never NULL */
	const char *target; /* path, host or ""; borrowed; never NULL */
};

enum {
	SEQUENCE_RING = 50,   /* calls that a session remembers in order */
	SEQUENCE_WINDOW = 10, /* how far rules with a window look back */
	SEQUENCE_SAME_TOOL = 5,
};

struct sequence_call {
	unsigned facts;
	char tool[96]; /* cut; only compared */
};

/* What is remembered; oldest call first. */
struct sequence_state {
	unsigned marks; /* facts of any call so far */
	struct sequence_call calls[SEQUENCE_RING];
	size_t n;
};

struct sequence_rule {
	const char *id;
	unsigned before;  /* all of these; 0: nothing has to come before */
	unsigned now;     /* all of these */
	bool has_window;  /* before must be in the last SEQUENCE_WINDOW calls */
	bool counts_tool; /* fires when the tool was used more than SEQUENCE_SAME_TOOL times there */
	enum sequence_mode mode; /* unless the policy says otherwise */
	double advisory;         /* confidence of the finding in mode advisory */
	const char *message;
	/* calls, one a line: "TOOL PATH", "Bash COMMAND", "WebFetch URL" */
	const char *hit;
	const char *miss; /* must not fire it */
};

extern const struct sequence_rule sequence_rules[];
extern const size_t sequence_rule_count;

const char *session_fact_word(enum session_fact_bit bit);
/* What the policy (may be NULL) says about a rule. */
enum sequence_mode sequence_rule_mode(const struct sequence_rule *rule, const struct policy *p);
/* What the call would be after all that is remembered.  Adds a finding per rule that fires; 0 or -ENOMEM. */
CORDON_MUST_CHECK int sequence_judge(const struct sequence_state *s,
				     const struct session_event *event, const struct policy *p,
				     struct findings *ret);
/* Remembers the call. */
void sequence_add(struct sequence_state *s, const struct session_event *event);
