/* SPDX-License-Identifier: Apache-2.0 */
/* See splice.h. */
#include "hook/splice.h"

#include "base/limits.h"

#include <string.h>

static size_t splice_blanks(const char *t, size_t len, size_t i)
{
	while (i < len && (t[i] == ' ' || t[i] == '\t' || t[i] == '\n' || t[i] == '\r'))
		i++;
	return i;
}

/* Behind the string that begins at i. */
static size_t splice_string(const char *t, size_t len, size_t i)
{
	for (i++; i < len && t[i] != '"'; i++)
		if (t[i] == '\\')
			i++;
	return i < len ? i + 1 : len;
}

/* Behind the value that begins at i. */
static size_t splice_value(const char *t, size_t len, size_t i)
{
	size_t depth = 0;

	do {
		if (i >= len)
			return len;
		if (t[i] == '"') {
			i = splice_string(t, len, i);
			continue;
		}
		if (t[i] == '{' || t[i] == '[')
			depth++;
		else if ((t[i] == '}' || t[i] == ']') && depth > 0)
			depth--;
		else if (depth == 0) { /* a word or a number */
			while (i < len && !strchr(",]} \t\r\n", t[i]))
				i++;
			return i;
		}
		i++;
	} while (depth > 0);
	return i;
}

size_t splice_root(const char *text, size_t len)
{
	size_t skip = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	return splice_blanks(text, len, skip);
}

/* Goes from member to member, or element to element.  index: of an element; key: of a member.  With neither the
 * last one. */
static bool splice_find(const char *t, size_t len, size_t at, const char *key, size_t index,
			struct splice_place *ret)
{
	bool is_object = at < len && t[at] == '{';
	size_t key_len = key ? strlen(key) : 0;
	size_t i, n = 0;

	if (at >= len || (t[at] != '{' && t[at] != '['))
		return false;
	*ret = (struct splice_place){.is_first = true, .before = at + 1};
	for (i = splice_blanks(t, len, at + 1); i < len && t[i] != '}' && t[i] != ']'; n++) {
		size_t start = i, next;
		bool is_it = !is_object && n == index;

		if (is_object) {
			size_t end = t[i] == '"' ? splice_string(t, len, i) : len;

			is_it = key && end - i == key_len + 2 &&
				memcmp(t + i + 1, key, key_len) == 0;
			i = splice_blanks(t, len, end);
			if (i >= len || t[i] != ':')
				return false;
			i = splice_blanks(t, len, i + 1);
		}
		ret->value.start = i;
		ret->value.end = splice_value(t, len, i);
		if (ret->value.end <= i)
			return false;
		ret->whole = (struct splice_span){start, ret->value.end};
		next = splice_blanks(t, len, ret->value.end);
		ret->is_last = next >= len || t[next] != ',';
		ret->after = ret->is_last ? next : splice_blanks(t, len, next + 1);
		if (is_it || (ret->is_last && !key && index == SIZE_MAX))
			return true;
		if (ret->is_last)
			return false;
		ret->is_first = false;
		ret->before = ret->value.end;
		i = ret->after;
	}
	return false;
}

bool splice_member(const char *text, size_t len, size_t at, const char *key,
		   struct splice_place *ret)
{
	return at < len && text[at] == '{' && splice_find(text, len, at, key, SIZE_MAX, ret);
}

bool splice_element(const char *text, size_t len, size_t at, size_t index, struct splice_place *ret)
{
	return at < len && text[at] == '[' && splice_find(text, len, at, NULL, index, ret);
}

void splice_remove(const char *text, size_t len, const struct splice_place *place, struct buf *out)
{
	size_t from = place->before, to = place->whole.end;

	if (place->is_first && place->is_last) {
		to = place->after; /* the bracket that closes */
	} else if (place->is_first) {
		from = place->whole.start;
		to = place->after;
	}
	buf_add(out, text, from);
	buf_add(out, text + to, len - to);
}

/* The blanks at the beginning of the line of i. */
static struct splice_span splice_indent(const char *t, size_t len, size_t i)
{
	struct splice_span s;

	while (i > 0 && t[i - 1] != '\n')
		i--;
	s.start = s.end = i;
	while (s.end < len && (t[s.end] == ' ' || t[s.end] == '\t'))
		s.end++;
	return s;
}

bool splice_append(const char *text, const char *read, size_t len, size_t at, const char *key,
		   const char *value, struct buf *out)
{
	struct splice_place last;
	struct splice_span indent = splice_indent(read, len, at);
	bool has_one = splice_find(read, len, at, NULL, SIZE_MAX, &last);
	size_t place;

	if (at >= len || (read[at] != '{' && read[at] != '['))
		return false;
	if (has_one && memchr(text + at, '\n', last.whole.start - at))
		indent = splice_indent(read, len, last.whole.start);
	place = has_one ? last.value.end : splice_blanks(read, len, at + 1);
	buf_add(out, text, has_one ? place : at + 1);
	buf_str(out, has_one ? ",\n" : "\n");
	buf_add(out, text + indent.start, indent.end - indent.start);
	if (!has_one || !memchr(text + at, '\n', last.whole.start - at))
		buf_str(out, "  ");
	if (key)
		buf_printf(out, "\"%s\": ", key);
	buf_str(out, value);
	if (!has_one) {
		buf_char(out, '\n');
		buf_add(out, text + indent.start, indent.end - indent.start);
	}
	buf_add(out, text + place, len - place);
	return true;
}
