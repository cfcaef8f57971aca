/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command's own error messages say was refused: "cat: /x: Permission denied" and the like.  A guess,
 * and told as one.  Pure: lines in, facts out; the output itself passes untouched.
 */
#pragma once

#include "backend/seen.h"

#include <stdbool.h>
#include <stddef.h>

struct message {
	enum seen_kind kind; /* SEEN_PATH, SEEN_NAME or SEEN_LIMIT (the phrase) */
	enum seen_cause cause;
	enum seen_want want;
	const char *text; /* in the line */
	size_t len;
};

/* Does the line, without its end, name something that could not be had? */
bool message_parse(const char *line, size_t len, struct message *ret);

/* Collects lines from pieces of a stream.  Longer ones than LIMIT_MESSAGE_LINE are passed by. */
struct message_reader {
	struct seen *seen; /* borrowed */
	char *line;        /* allocated with the first piece */
	size_t len;
	bool is_too_long;
	bool is_in_escape; /* colours are left out */
};

void message_reader_done(struct message_reader *r);
void message_feed(struct message_reader *r, const char *data, size_t len);
/* The stream has ended: what is there counts as a line. */
void message_finish(struct message_reader *r);
