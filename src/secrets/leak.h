/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials in text, by rules.  A scanner takes a stream of any size in pieces of any size with
 * bounded memory; places are offsets in the whole stream, and how the stream was cut makes no
 * difference.
 */
#pragma once

#include "base/error.h"
#include "verdict/verdict.h"

#include <stdint.h>

struct leak_scanner;

/* One credential.  rule is the id of the rule and stays valid; the text itself is not in here. */
struct leak {
	const char *rule;
	const char *what; /* for people: "GitHub personal access token" */
	uint64_t start;   /* of the secret itself, not of the words around it */
	uint64_t end;
	double confidence;
};

/* The confidence of what is no credential and still worth a line to who asks: the name of a bucket, an
 * account or a tenant, a password that is a stock word.  Such notices change no verdict, are never
 * hidden, and are reported only by leak_inspect_all(). */
#define LEAK_NOTICE 0.1

typedef void leak_fn(void *data, const struct leak *leak);

CORDON_MUST_CHECK int leak_scanner_new(leak_fn *fn, void *data, struct leak_scanner **ret,
				       struct cordon_error *err);
/* Notices, too.  Before anything is fed. */
void leak_scanner_notice(struct leak_scanner *s);
CORDON_MUST_CHECK int leak_feed(struct leak_scanner *s, const char *bytes, size_t len,
				struct cordon_error *err);
/* Judges what is complete: all whole lines, but for a private key whose end has not come. */
CORDON_MUST_CHECK int leak_flush(struct leak_scanner *s, struct cordon_error *err);
/* The end of the stream: what was held back is judged. */
CORDON_MUST_CHECK int leak_end(struct leak_scanner *s, struct cordon_error *err);
void leak_scanner_free(struct leak_scanner *s);

/* All before this offset is final: no leak that is still to be reported begins before it. */
uint64_t leak_settled(const struct leak_scanner *s);
/* What would be reported if the stream ended here; nothing is settled by it. */
CORDON_MUST_CHECK int leak_peek(struct leak_scanner *s, leak_fn *fn, void *data,
				struct cordon_error *err);

/* How many families of credentials are looked for: what a policy's leak_detection.patterns counts. */
size_t leak_rule_count(void);

/* The credentials of a whole text as findings, each with its line and a snippet that hides it. */
CORDON_MUST_CHECK int leak_inspect(const char *text, size_t len, struct findings *ret,
				   struct cordon_error *err);
/* The same, and notices. */
CORDON_MUST_CHECK int leak_inspect_all(const char *text, size_t len, struct findings *ret,
				       struct cordon_error *err);
