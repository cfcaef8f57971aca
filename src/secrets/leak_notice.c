/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that are no credentials and tell where data lies: buckets, tenants, resources.  Scanners for
 * secrets list them, because who finds one next to a credential knows what it is for.  Public addresses
 * of machines were left out: every log is full of them.
 */
#include "secrets/leak.h"
#include "secrets/leak_form.h"

#include <ctype.h>
#include <string.h>

static bool notice_is_host(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '.' || c == '_';
}

static bool notice_set(const struct leak_text *t, size_t end, struct leak_hit *hit)
{
	size_t start = t->at;

	while (start > t->line && notice_is_host(t->text[start - 1]))
		start--;
	hit->start = start;
	hit->end = end;
	hit->confidence = LEAK_NOTICE;
	return start < end;
}

/* NAME.s3.amazonaws.com and its like.  With a path it is a link to one object, as every page of
 * downloads has. */
bool form_bucket(const struct leak_text *t, struct leak_hit *hit)
{
	const char *p = t->text;

	if (t->at < t->end && notice_is_host(p[t->at]))
		return false;
	if (t->at + 1 < t->end && p[t->at] == '/' && isgraph((unsigned char)p[t->at + 1]) &&
	    !leak_is_any(p[t->at + 1], "\"'`<>)],;"))
		return false;
	return notice_set(t, t->at, hit);
}

/* //s3.amazonaws.com/NAME: the place is behind the name's first character. */
bool form_bucket_path(const struct leak_text *t, struct leak_hit *hit)
{
	size_t start = t->at - 1, end = t->at;

	while (end < t->end && notice_is_host(t->text[end]))
		end++;
	hit->start = start;
	hit->end = end;
	hit->confidence = LEAK_NOTICE;
	return end - start >= 3;
}

bool form_tenant(const struct leak_text *t, struct leak_hit *hit)
{
	return (t->at == t->end || !notice_is_host(t->text[t->at])) && notice_set(t, t->at, hit);
}

/* arn:partition:service:region:account:resource; region and account may be empty.  Looked at so far only: a line that
 * is made of its beginnings would be read once for each. */
bool form_arn(const struct leak_text *t, struct leak_hit *hit)
{
	enum { ARN_LONGEST = 512 };
	const char *p = t->text;
	size_t end = t->at, colons = 0;

	while (end < t->end && end - t->at < ARN_LONGEST &&
	       (isalnum((unsigned char)p[end]) || leak_is_any(p[end], ":/_.+=@-"))) {
		colons += p[end] == ':';
		end++;
	}
	return colons >= 2 && p[end - 1] != ':' && notice_set(t, end, hit);
}
