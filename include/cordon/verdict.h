/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings and verdicts.  A finding of level HIGH or CRITICAL claims that a call is MALICIOUS, one of
 * LOW or MEDIUM that it is SUSPICIOUS; its confidence must reach the threshold of what it claims, and a
 * claim of MALICIOUS that reaches only the lower one makes the call SUSPICIOUS.  More findings can only
 * raise a verdict.
 */
#pragma once

#include <cordon/error.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum cordon_verdict {
	CORDON_VERDICT_SAFE,
	CORDON_VERDICT_SUSPICIOUS,
	CORDON_VERDICT_MALICIOUS,
	CORDON_VERDICT_COUNT
};

enum cordon_threat {
	CORDON_THREAT_NONE,
	CORDON_THREAT_LOW,
	CORDON_THREAT_MEDIUM,
	CORDON_THREAT_HIGH,
	CORDON_THREAT_CRITICAL,
	CORDON_THREAT_COUNT
};

enum cordon_action {
	CORDON_ACTION_ALLOW,
	CORDON_ACTION_LOG,
	CORDON_ACTION_CONSTRAIN,
	CORDON_ACTION_BLOCK,
	CORDON_ACTION_COUNT
};

/* SAFE, NONE, allow and so on; "?" for a value outside of the enum.  Constant. */
CORDON_API const char *cordon_verdict_name(enum cordon_verdict verdict);
CORDON_API const char *cordon_threat_name(enum cordon_threat level);
CORDON_API const char *cordon_action_name(enum cordon_action action);

#define CORDON_FINDING_RULE_MAX 63     /* bytes; a longer one is an error */
#define CORDON_FINDING_MESSAGE_MAX 255 /* a longer one is cut at a character */
#define CORDON_FINDING_SNIPPET_MAX 127 /* likewise */

struct cordon_finding {
	size_t struct_size;
	const char *rule; /* the name of what found it */
	const char *type; /* prompt_injection, egress, data_leak, blocked_module,
				     blocked_function, dangerous_pattern, file_access, network_access,
				     system_call or input */
	enum cordon_threat level;
	double confidence;   /* 0 to 1 */
	unsigned line;       /* from 1; 0 when unknown */
	unsigned column;     /* likewise */
	const char *message; /* may be NULL */
	const char *snippet; /* may be NULL; must not show a secret */
};

struct cordon_findings;

CORDON_API CORDON_MUST_CHECK int cordon_findings_new(struct cordon_findings **ret,
						     struct cordon_error *err);
CORDON_API void cordon_findings_free(struct cordon_findings *f);
/* Adds a copy.  Of more than 256 the weakest are dropped. */
CORDON_API CORDON_MUST_CHECK int cordon_findings_add(struct cordon_findings *f,
						     const struct cordon_finding *finding,
						     struct cordon_error *err);
CORDON_API size_t cordon_findings_count(const struct cordon_findings *f);
/* The finding at index.  Set ret->struct_size before; its strings are borrowed. */
CORDON_API CORDON_MUST_CHECK int cordon_findings_get(const struct cordon_findings *f, size_t index,
						     struct cordon_finding *ret,
						     struct cordon_error *err);

/* Confidence from which a claim counts, 0 to 1; suspicious is not above malicious. */
struct cordon_thresholds {
	size_t struct_size;
	double suspicious;
	double malicious;
};

struct cordon_decision {
	size_t struct_size;
	enum cordon_verdict verdict;
	double confidence; /* of the finding that decided; 0 for SAFE */
	char matched[96]; /* "malicious(confidence=0.90)", "suspicious(tool=Bash, confidence=0.50)", "safe" */
};

/* The verdict of findings.  thresholds NULL: the built-in ones, 0.3 and 0.7.  tool may be NULL.  Set
 * ret->struct_size before. */
CORDON_API CORDON_MUST_CHECK int cordon_verdict_decide(const struct cordon_findings *f,
						       const struct cordon_thresholds *thresholds,
						       const char *tool,
						       struct cordon_decision *ret,
						       struct cordon_error *err);

#ifdef __cplusplus
}
#endif
