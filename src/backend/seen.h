/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was seen of a call: refused system calls, hosts that were tried, paths that were asked for,
 * sensitive files that were opened.  Every fact is kept once, with a count; beyond LIMIT_SEEN different ones
 * only their number is.  Nothing is judged here: whether a path was denied is found out afterwards.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum seen_kind {
	SEEN_SYSCALL, /* refused by the filter; text: "ptrace", "socket AF_ALG" */
	SEEN_HOST, /* an address that is not this sandbox; text: "192.0.2.1:443", "[2001:db8::1]:443" */
	SEEN_NAME,   /* a host's name, from a message */
	SEEN_PATH,   /* asked for; text: the path, absolute unless it is from a message */
	SEEN_SOCKET, /* a Unix socket that was connected to; text: the path */
	SEEN_USED,   /* something below a grant; text: the grant */
	SEEN_OPENED, /* a sensitive file */
	SEEN_LIMIT,  /* a message speaks of; text: its words */
	SEEN_KIND_COUNT
};

enum seen_want {
	SEEN_READ,
	SEEN_LOOK,  /* whether it is there, and what it is */
	SEEN_WRITE, /* its contents */
	SEEN_MAKE,  /* the name: create, remove, rename */
	SEEN_EXEC,
	SEEN_EITHER, /* a message does not say */
	SEEN_WANT_COUNT
};

/* What a message says about the reason; NONE for what the kernel told us. */
enum seen_cause {
	SEEN_CAUSE_NONE,
	SEEN_CAUSE_DENIED,
	SEEN_CAUSE_READ_ONLY,
	SEEN_CAUSE_MISSING,
	SEEN_CAUSE_EXISTS, /* to make it failed, because it is there */
	SEEN_CAUSE_COUNT
};

static inline bool seen_is_write(enum seen_want want)
{
	return want == SEEN_WRITE || want == SEEN_MAKE;
}

#define SEEN_COMM_MAX 16 /* TASK_COMM_LEN */

struct seen_event {
	enum seen_kind kind;
	enum seen_want want;
	enum seen_cause cause;
	bool is_refused; /* PATH: we answered with an error ourselves */
	bool is_listed;  /* SYSCALL: by the policy's own list */
	char *text;
	const char *why; /* SYSCALL: the reason in the table; static */
	uint64_t count;
	pid_t pid; /* of the first; 0 when not known */
	char comm[SEEN_COMM_MAX];
};

struct seen {
	struct seen_event *events;
	size_t n;
	size_t cap;
	uint32_t *slots;   /* index + 1 into events, by hash; 0: free */
	size_t n_inferred; /* that were added so */
	uint64_t dropped;  /* facts beyond the limit, repetitions among them */
	uint64_t lost;     /* of those, what no message told */
};

/* A message tells it, which the command can write as it likes. */
static inline bool seen_is_inferred(const struct seen_event *e)
{
	return e->cause != SEEN_CAUSE_NONE || e->kind == SEEN_NAME || e->kind == SEEN_LIMIT;
}

void seen_done(struct seen *s);
/* Counts the fact; text of len bytes is copied.  True when it is new, and then *ret is its place until the
 * next call, to be filled further (why, pid, comm); also when only a message had told it before: then it is known now.  False
 * when it was known, or could not be kept.  Messages have a part of the room, so that they leave some to the rest. */
bool seen_add(struct seen *s, const struct seen_event *fact, const char *text, size_t len,
	      struct seen_event **ret);
