/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be recorded.  The table is closed and the one place where an event is described: the
 * writer takes its names from here, the reader knows them, the exporters their OCSF class, and the
 * documentation is made from the summaries.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* X(NAME, "name", OCSF class, "summary")
 * OCSF 1.1: 1007 process activity, 2004 detection finding, 4001 network activity, 6002 application
 * lifecycle.  The audit.* rows are the log's own bookkeeping; only the writer itself makes them. */
#define AUDIT_EVENT_TABLE(X)                                                                       \
	X(START, "start", 1007, "a call was let in and is about to run")                           \
	X(CALL, "call", 1007, "a call that was let in has ended; what became of it")               \
	X(REFUSED, "refused", 2004,                                                                \
	  "a call was refused by verdict, policy or backend and did not run")                      \
	X(HOOK, "hook", 2004,                                                                      \
	  "an agent's hook asked about a call or its output; what it was told")                    \
	X(FINDING, "finding", 2004, "a detector found something outside of a call, as in a scan")  \
	X(APPROVAL, "approval", 2004, "a person or a timeout answered a request for approval")     \
	X(NETWORK, "network", 4001, "a connection was allowed or blocked by the egress rules")     \
	X(POLICY, "policy", 6002, "a policy was loaded, changed or rejected")                      \
	X(SESSION, "session", 6002, "a named sandbox or session began, changed state or ended")    \
	X(AUDIT_OPEN, "audit.open", 6002, "first record of a new log")                             \
	X(AUDIT_ROTATE, "audit.rotate", 6002,                                                      \
	  "first record after rotation; names the old file and its head")                          \
	X(AUDIT_EXPIRE, "audit.expire", 6002,                                                      \
	  "a rotated file was deleted by retention; names its last head")                          \
	X(AUDIT_REPAIR, "audit.repair", 6002,                                                      \
	  "the bytes of an unfinished write were moved to audit.torn")

enum audit_event_type {
#define AUDIT_EVENT_ENUM(id, name, ocsf, summary) AUDIT_EVENT_##id,
	AUDIT_EVENT_TABLE(AUDIT_EVENT_ENUM)
#undef AUDIT_EVENT_ENUM
		AUDIT_EVENT_COUNT
};

struct audit_event_row {
	const char *name;
	unsigned ocsf_class;
	const char *summary;
};

/* Borrows; type < AUDIT_EVENT_COUNT. */
const struct audit_event_row *audit_event_row(enum audit_event_type type);
/* AUDIT_EVENT_COUNT when the name is not in the table. */
enum audit_event_type audit_event_by_name(const char *name, size_t len);
/* Is it one of audit.*, which callers may not write? */
bool audit_event_is_own(enum audit_event_type type);
