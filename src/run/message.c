/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See message.h.  A row is a phrase and where programs put what it is about: before it ("cat: X: phrase",
 * "open X: phrase", "X (phrase)") or after it ("phrase: 'X'", "phrase, open 'X'").  A limit has no place.
 */
#include "run/message.h"

#include "base/limits.h"
#include "base/mem.h"

#include <string.h>
#include <strings.h>

enum message_place {
	PLACE_PATH,   /* in quotes after the phrase, else before it */
	PLACE_BEFORE, /* a name, before ": phrase" */
	PLACE_AFTER,  /* a name, the next word */
	PLACE_NOWHERE /* a limit */
};

struct message_row {
	const char *phrase;
	enum message_place place;
	enum seen_cause cause;
};

/* Without regard to case; in small letters here, and a phrase begins with a word. */
static const struct message_row message_rows[] = {
	{"permission denied", PLACE_PATH, SEEN_CAUSE_DENIED},
	{"operation not permitted", PLACE_PATH, SEEN_CAUSE_DENIED},
	{"read-only file system", PLACE_PATH, SEEN_CAUSE_READ_ONLY},
	/* What the kernel says when something that belongs to nobody is to be removed, moved or changed: the
	 * placeholder of a protected name.  It is the kernel's one answer to that. */
	{"value too large for defined data type", PLACE_PATH, SEEN_CAUSE_READ_ONLY},
	{"no such file or directory", PLACE_PATH, SEEN_CAUSE_MISSING},
	{"directory nonexistent", PLACE_PATH, SEEN_CAUSE_MISSING}, /* dash, of a redirection */
	/* A protected name that is not on the host is there inside. */
	{"file exists", PLACE_PATH, SEEN_CAUSE_EXISTS},
	{"too many open files", PLACE_NOWHERE, SEEN_CAUSE_NONE},
	{"cannot fork", PLACE_NOWHERE, SEEN_CAUSE_NONE},                            /* dash */
	{"fork: resource temporarily unavailable", PLACE_NOWHERE, SEEN_CAUSE_NONE}, /* make */
	{"fork: retry: resource temporarily unavailable", PLACE_NOWHERE,
	 SEEN_CAUSE_NONE}, /* bash */
	{"could not resolve hostname", PLACE_AFTER, SEEN_CAUSE_NONE},
	{"could not resolve host:", PLACE_AFTER, SEEN_CAUSE_NONE},
	{"unable to resolve host address", PLACE_AFTER, SEEN_CAUSE_NONE},
	{"getaddrinfo eai_again", PLACE_AFTER, SEEN_CAUSE_NONE},
	{"getaddrinfo enotfound", PLACE_AFTER, SEEN_CAUSE_NONE},
	{"temporary failure in name resolution", PLACE_BEFORE, SEEN_CAUSE_NONE},
	{"name or service not known", PLACE_BEFORE, SEEN_CAUSE_NONE},
};

/* Words before the target that say that it was to be changed. */
static const char *const message_writes[] = {
	"cannot create",    "cannot touch",     "cannot remove", "could not create",
	"can't create",     "cannot move",      "cannot copy",   "cannot make",
	"unable to create", "failed to create", "cannot write",  "mkdir",
};

struct message_quote {
	const char *open;
	const char *close;
};

static const struct message_quote message_quotes[] = {
	{"'", "'"},
	{"\"", "\""},
	{"`", "'"},
	{"\xe2\x80\x98", "\xe2\x80\x99"}, /* ‘’ */
	{"\xe2\x80\x9c", "\xe2\x80\x9d"}, /* “” */
};

struct span {
	const char *at;
	size_t len;
};

static bool span_starts(struct span s, const char *text)
{
	return s.len >= strlen(text) && memcmp(s.at, text, strlen(text)) == 0;
}

static bool span_ends(struct span s, const char *text)
{
	size_t len = strlen(text);

	return s.len >= len && memcmp(s.at + s.len - len, text, len) == 0;
}

static struct span span_from(struct span s, size_t skip)
{
	return (struct span){s.at + skip, s.len - skip};
}

static bool is_letter(unsigned char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Where text stands in s, without regard to case; NULL when it does not. */
static const char *span_find(struct span s, const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; len <= s.len && i <= s.len - len; i++)
		if (strncasecmp(s.at + i, text, len) == 0)
			return s.at + i;
	return NULL;
}

/* The last place of text in s, or NULL. */
static const char *span_find_last(struct span s, const char *text)
{
	size_t len = strlen(text);

	for (size_t i = s.len; i >= len; i--)
		if (memcmp(s.at + i - len, text, len) == 0)
			return s.at + i - len;
	return NULL;
}

/* The first quoted text of s. */
static bool message_quoted_first(struct span s, struct span *ret)
{
	for (size_t i = 0; i < s.len; i++)
		for (size_t q = 0; q < ARRAY_LEN(message_quotes); q++) {
			struct span rest = span_from(s, i);
			const char *end;

			if (!span_starts(rest, message_quotes[q].open))
				continue;
			rest = span_from(rest, strlen(message_quotes[q].open));
			end = memmem(rest.at, rest.len, message_quotes[q].close,
				     strlen(message_quotes[q].close));
			if (!end)
				continue;
			*ret = (struct span){rest.at, (size_t)(end - rest.at)};
			return ret->len > 0;
		}
	return false;
}

/* The quoted text that s ends with. */
static bool message_quoted_last(struct span s, struct span *ret)
{
	for (size_t q = 0; q < ARRAY_LEN(message_quotes); q++) {
		struct span inner = s;
		const char *open;

		if (!span_ends(s, message_quotes[q].close))
			continue;
		inner.len -= strlen(message_quotes[q].close);
		open = span_find_last(inner, message_quotes[q].open);
		if (!open)
			continue;
		open += strlen(message_quotes[q].open);
		*ret = (struct span){open, (size_t)(inner.at + inner.len - open)};
		return ret->len > 0;
	}
	return false;
}

/* "cannot create X" means X. */
static struct span message_object(struct span s)
{
	for (size_t i = 0; i < ARRAY_LEN(message_writes); i++) {
		size_t len = strlen(message_writes[i]);

		if (s.len > len && s.at[len] == ' ' &&
		    strncasecmp(s.at, message_writes[i], len) == 0)
			return span_from(s, len + 1);
	}
	return s;
}

/* "cat: X" and "open X" mean X; a relative one only without blanks. */
static bool message_bare(struct span s, struct span *ret)
{
	const char *colon = span_find_last(s, ": ");
	const char *path;

	if (colon)
		s = span_from(s, (size_t)(colon + 2 - s.at));
	if (s.len == 0)
		return false;
	if (s.at[0] == '/') {
		*ret = s;
		return true;
	}
	path = memmem(s.at, s.len, " /", 2);
	if (path) {
		*ret = span_from(s, (size_t)(path + 1 - s.at));
		return true;
	}
	s = message_object(s);
	/* "line 1" of a shell is no file, and neither is the program's own name at the start */
	if (!colon || memchr(s.at, ' ', s.len))
		return false;
	*ret = s;
	return true;
}

/* What stands before the phrase: ends with ": ", or with " (" where the phrase is in brackets. */
static bool message_before(struct span s, struct span *ret)
{
	if (span_ends(s, ": "))
		s.len -= 2;
	else if (span_ends(s, " ("))
		s.len -= 2;
	else
		return false;
	return message_quoted_last(s, ret) || message_bare(s, ret);
}

static bool message_word(struct span s, struct span *ret)
{
	size_t len = 0;

	while (s.len && (s.at[0] == ' ' || s.at[0] == ':'))
		s = span_from(s, 1);
	for (size_t q = 0; q < ARRAY_LEN(message_quotes); q++)
		if (span_starts(s, message_quotes[q].open)) {
			s = span_from(s, strlen(message_quotes[q].open));
			break;
		}
	while (len < s.len && (unsigned char)s.at[len] < 0x80 && s.at[len] > ' ' &&
	       !strchr("'\"`;,()", s.at[len]))
		len++;
	if (len && s.at[len - 1] == ':')
		len--;
	*ret = (struct span){s.at, len};
	return len > 0;
}

static bool message_is_write(struct span before)
{
	for (size_t i = 0; i < ARRAY_LEN(message_writes); i++)
		if (span_find(before, message_writes[i]))
			return true;
	return false;
}

static bool message_take(const struct message_row *row, struct span before, struct span after,
			 struct message *ret)
{
	struct span target;

	if (row->place == PLACE_NOWHERE) {
		*ret = (struct message){.kind = SEEN_LIMIT,
					.want = SEEN_EITHER,
					.text = before.at + before.len,
					.len = strlen(row->phrase)};
		return true;
	}
	if (row->place == PLACE_AFTER ? !message_word(after, &target)
	    : row->place == PLACE_BEFORE
		    ? !message_before(before, &target)
		    : !message_quoted_first(after, &target) && !message_before(before, &target))
		return false;
	*ret = (struct message){
		.kind = row->place == PLACE_PATH ? SEEN_PATH : SEEN_NAME,
		.cause = row->cause,
		.want = SEEN_EITHER,
		.text = target.at,
		.len = target.len,
	};
	if (row->place != PLACE_PATH)
		ret->want = SEEN_READ;
	else if (row->cause == SEEN_CAUSE_READ_ONLY || row->cause == SEEN_CAUSE_EXISTS ||
		 message_is_write(before))
		ret->want = SEEN_WRITE;
	return target.len < LIMIT_PATH_BYTES && !memchr(target.at, '\0', target.len);
}

/* Where each row's phrase stands first, in one walk over the beginnings of words: most lines have none. */
static bool message_places(struct span s, const char *ret[static ARRAY_LEN(message_rows)])
{
	bool is_found = false;
	unsigned char before = ' ';

	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.at[i];

		if (is_letter(c) && !is_letter(before))
			for (size_t k = 0; k < ARRAY_LEN(message_rows); k++) {
				const char *phrase = message_rows[k].phrase;

				if (!ret[k] && (c | 0x20) == (unsigned char)phrase[0] &&
				    s.len - i >= strlen(phrase) &&
				    strncasecmp(s.at + i, phrase, strlen(phrase)) == 0) {
					ret[k] = s.at + i;
					is_found = true;
				}
			}
		before = c;
	}
	return is_found;
}

bool message_parse(const char *line, size_t len, struct message *ret)
{
	const char *places[ARRAY_LEN(message_rows)] = {0};
	struct span s = {line, len};

	if (!message_places(s, places))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(message_rows); i++) {
		size_t before = places[i] ? (size_t)(places[i] - line) : 0;

		if (places[i] &&
		    message_take(&message_rows[i], (struct span){line, before},
				 span_from(s, before + strlen(message_rows[i].phrase)), ret))
			return true;
	}
	return false;
}

void message_reader_done(struct message_reader *r)
{
	free(r->line);
	r->line = NULL;
	r->len = 0;
}

static void message_end_line(struct message_reader *r)
{
	struct seen_event *event;
	struct message m;

	if (!r->is_too_long && r->len > 0 && message_parse(r->line, r->len, &m))
		(void)seen_add(
			r->seen,
			&(struct seen_event){.kind = m.kind, .want = m.want, .cause = m.cause},
			m.text, m.len, &event);
	r->len = 0;
	r->is_too_long = false;
	r->is_in_escape = false;
}

void message_feed(struct message_reader *r, const char *data, size_t len)
{
	if (!r->line)
		r->line = malloc(LIMIT_MESSAGE_LINE);
	if (!r->line)
		return; /* a guess less */
	for (size_t i = 0; i < len; i++) {
		char c = data[i];

		if (c == '\n' || c == '\r') {
			message_end_line(r);
		} else if (c == '\033') {
			r->is_in_escape = true;
		} else if (r->is_in_escape) {
			r->is_in_escape = !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
		} else if (r->len < LIMIT_MESSAGE_LINE) {
			r->line[r->len++] = c;
		} else {
			r->is_too_long = true;
		}
	}
}

void message_finish(struct message_reader *r)
{
	if (r->line)
		message_end_line(r);
}
