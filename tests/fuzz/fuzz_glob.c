/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The glob matcher against a slow one that follows the definition in glob.h by trying everything.  The
 * input is a pattern, a NUL and a text; both are cut short so that trying everything ends.
 *
 * Beyond agreement: an ill-formed pattern matches nothing, what matches as a path also matches as text,
 * and a pattern without magic matches itself.
 */
#include "base/glob.h"
#include "base/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REF_MAX = 16, FAR_MAX = 512, REF_BAD_BYTE = 0x110000 };

/* A string as characters; a byte that is not UTF-8 is a character of its own. */
struct ref_text {
	uint32_t c[REF_MAX];
	size_t n;
};

static void ref_decode(const char *s, struct ref_text *ret)
{
	size_t len = strlen(s), i = 0;

	ret->n = 0;
	while (i < len) {
		uint32_t c = 0;
		size_t n = utf8_decode(s + i, len - i, &c);

		ret->c[ret->n++] = n ? c : REF_BAD_BYTE + (uint32_t)(unsigned char)s[i];
		i += n ? n : 1;
	}
}

/* Index behind the ']' that ends the set at '[', and whether c is in it.  The pattern is well-formed. */
static size_t ref_set(const struct ref_text *p, size_t i, uint32_t c, int *ret_has)
{
	int negated = 0, has = 0;
	size_t first;

	i++;
	if (p->c[i] == '!' || p->c[i] == '^') {
		negated = 1;
		i++;
	}
	for (first = i; i == first || p->c[i] != ']';) {
		uint32_t low, high;

		i += p->c[i] == '\\';
		low = high = p->c[i++];
		if (p->c[i] == '-' && p->c[i + 1] != ']') {
			i++;
			i += p->c[i] == '\\';
			high = p->c[i++];
		}
		has |= low <= c && c <= high;
	}
	*ret_has = has != negated;
	return i + 1;
}

/* component: nothing or a slash item stands before pattern index i. */
static int ref_match(const struct ref_text *p, size_t i, int component, const struct ref_text *t,
		     size_t k, int crosses)
{
	uint32_t c = k < t->n ? t->c[k] : 0;
	int wild = k < t->n && (crosses || c != '/');

	if (i == p->n)
		return k == t->n;
	if (p->c[i] == '*') {
		size_t stars = 0;

		while (i + stars < p->n && p->c[i + stars] == '*')
			stars++;
		i += stars;
		if (stars > 1 && component && i < p->n && p->c[i] == '/' &&
		    ref_match(p, i + 1, 1, t, k, crosses))
			return 1;
		for (;; k++) {
			if (ref_match(p, i, 0, t, k, crosses))
				return 1;
			if (k == t->n || (stars == 1 && !crosses && t->c[k] == '/'))
				return 0;
		}
	}
	if (p->c[i] == '?')
		return wild && ref_match(p, i + 1, 0, t, k + 1, crosses);
	if (p->c[i] == '[') {
		int has;
		size_t next = ref_set(p, i, c, &has);

		return wild && has && ref_match(p, next, 0, t, k + 1, crosses);
	}
	i += p->c[i] == '\\';
	return k < t->n && p->c[i] == c && ref_match(p, i + 1, c == '/', t, k + 1, crosses);
}

static void require(int claim)
{
	if (!claim)
		abort();
}

static void check_pair(const char *pattern, const char *text)
{
	int path = glob_match(pattern, text), name = glob_match_text(pattern, text);
	struct ref_text p = {0}, t = {0};

	if (glob_check(pattern) != 0) {
		require(!path && !name);
		return;
	}
	require(!path || name);
	if (!glob_has_magic(pattern) && !strchr(pattern, '\\'))
		require(path == (strcmp(pattern, text) == 0) && name == path);
	if (strlen(pattern) > REF_MAX || strlen(text) > REF_MAX)
		return;
	ref_decode(pattern, &p);
	ref_decode(text, &t);
	require(path == ref_match(&p, 0, 1, &t, 0, /* crosses= */ 0));
	require(name == ref_match(&p, 0, 1, &t, 0, /* crosses= */ 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char pattern[FAR_MAX + 1] = "", text[FAR_MAX + 1] = "";
	size_t n = 0;

	while (n < size && data[n])
		n++;
	memcpy(pattern, data, n < FAR_MAX ? n : FAR_MAX);
	if (n < size) {
		const uint8_t *rest = data + n + 1;
		size_t left = size - n - 1;

		memcpy(text, rest, left < FAR_MAX ? left : FAR_MAX);
	}
	check_pair(pattern, text);
	/* Short inputs agree more often than long ones: both halves again, cut to what can be tried out. */
	pattern[REF_MAX] = text[REF_MAX] = '\0';
	check_pair(pattern, text);
	return 0;
}
