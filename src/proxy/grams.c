/* SPDX-License-Identifier: Apache-2.0 */
/* See grams.h. */
#include "proxy/grams.h"

#include "base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GRAMS_MAX ((size_t)16 * 1024 * 1024) /* of all secrets; the longest one has 130,000 */
#define GRAMS_ROOM ((size_t)BOUNDARY_VALUE_MAX * 4)
#define GRAMS_SHORT_MIN 8
#define GRAMS_SHORTS 16 /* forms of one value */

static const char grams_hex[] = "0123456789abcdef";
/* Without case, as names are. */
static const char grams_base32[] = "abcdefghijklmnopqrstuvwxyz234567";
static const char grams_base64[] =
	"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz0123456789-_";

static bool grams_is_name_byte(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

static uint64_t grams_hash(const char *bytes)
{
	uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */

	for (size_t i = 0; i < GRAMS_LEN; i++)
		h = (h ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
	return h;
}

static int grams_add(struct grams *g, const char *bytes, uint32_t secret)
{
	int r = mem_grow((void **)&g->items, &g->cap, g->n + 1, sizeof(*g->items), GRAMS_MAX);

	if (r == 0)
		g->items[g->n++] = (struct gram){.hash = grams_hash(bytes), .secret = secret};
	return r < 0 ? -ENOMEM : 0;
}

/* Not a word that any name may have. */
static bool grams_is_telling(const struct buf *form)
{
	for (size_t i = 0; form->len >= GRAMS_SHORT_MIN && i < form->len; i++)
		if (isdigit((unsigned char)form->data[i]))
			return true;
	return false;
}

/* One form, in small letters.  Its runs of characters that a name can have; a whole one that is short. */
static int grams_form(struct grams *g, const struct buf *form, uint32_t secret)
{
	const char *p = buf_cstr(form);
	size_t run = 0;
	int r = buf_error(form) < 0 ? -ENOMEM : 0;

	for (size_t i = 0; r == 0 && i < form->len; i++) {
		run = grams_is_name_byte(p[i]) ? run + 1 : 0;
		if (run >= GRAMS_LEN)
			r = grams_add(g, p + i + 1 - GRAMS_LEN, secret);
	}
	if (r == 0 && run == form->len && form->len < GRAMS_LEN && grams_is_telling(form)) {
		g->shorts[g->n_shorts] = strndup(p, form->len);
		g->short_secrets[g->n_shorts] = secret;
		r = g->shorts[g->n_shorts] ? 0 : -ENOMEM;
		g->n_shorts += r == 0;
	}
	return r;
}

/* The digits of `bits` bits each that all come of the value, with `before` bytes before it that we do not know. */
static void grams_digits(const struct boundary_secret *s, const char *alphabet, size_t bits,
			 size_t before, struct buf *out)
{
	size_t end = 8 * (before + s->value_len);

	for (size_t at = (8 * before + bits - 1) / bits * bits; at + bits <= end; at += bits) {
		unsigned v = 0;

		for (size_t b = at; b < at + bits; b++) {
			size_t i = b - 8 * before;

			v = v << 1 | ((unsigned char)s->value[i / 8] >> (7 - i % 8) & 1u);
		}
		buf_char(out, alphabet[v]);
	}
}

static int grams_secret(struct grams *g, const struct boundary_secret *s, uint32_t secret)
{
	struct buf form = BUF_SECRET(GRAMS_ROOM);
	int r = 0;

	for (size_t i = 0; i < s->value_len; i++)
		if (s->value[i] != '.') /* names are compared without dots */
			buf_char(&form, (char)tolower((unsigned char)s->value[i]));
	r = grams_form(g, &form, secret);
	for (size_t i = 0; i < form.len / 2; i++) {
		char c = form.data[i];

		form.data[i] = form.data[form.len - 1 - i];
		form.data[form.len - 1 - i] = c;
	}
	if (r == 0)
		r = grams_form(g, &form, secret);
	buf_clear(&form);
	grams_digits(s, grams_hex, 4, 0, &form);
	if (r == 0)
		r = grams_form(g, &form, secret);
	for (size_t before = 0; r == 0 && before < 5; before++) {
		buf_clear(&form);
		grams_digits(s, grams_base32, 5, before, &form);
		r = grams_form(g, &form, secret);
	}
	for (size_t before = 0; r == 0 && before < 3; before++) {
		buf_clear(&form);
		grams_digits(s, grams_base64, 6, before, &form);
		r = grams_form(g, &form, secret);
	}
	buf_done(&form);
	return r;
}

static int grams_by_hash(const void *a, const void *b)
{
	uint64_t x = ((const struct gram *)a)->hash;
	uint64_t y = ((const struct gram *)b)->hash;

	return x < y ? -1 : x > y;
}

int grams_make(const struct boundary *b, struct grams *ret)
{
	int r = 0;

	*ret = (struct grams){0};
	ret->shorts = calloc(b->n * GRAMS_SHORTS + 1, sizeof(*ret->shorts));
	ret->short_secrets = calloc(b->n * GRAMS_SHORTS + 1, sizeof(*ret->short_secrets));
	if (!ret->shorts || !ret->short_secrets)
		r = -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < b->n; i++)
		if (b->secrets[i].value_len >= BOUNDARY_FORM_MIN)
			r = grams_secret(ret, &b->secrets[i], i);
	if (r < 0)
		grams_done(ret);
	else if (ret->n > 0)
		qsort(ret->items, ret->n, sizeof(*ret->items), grams_by_hash);
	return r;
}

void grams_done(struct grams *g)
{
	for (size_t i = 0; i < g->n_shorts; i++) {
		explicit_bzero(g->shorts[i], strlen(g->shorts[i]));
		free(g->shorts[i]);
	}
	free(g->shorts);
	free(g->short_secrets);
	free(g->items);
	*g = (struct grams){0};
}

/* Does the value speak of the host itself? */
static bool grams_speaks_of(const struct boundary_secret *s, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; strchr(name, '.') && i + len <= s->value_len; i++)
		if (strncasecmp(s->value + i, name, len) == 0)
			return true;
	return false;
}

const struct boundary_secret *grams_find(const struct grams *g, const struct boundary *b,
					 const char *name)
{
	char plain[HOST_TEXT_SIZE];
	size_t n = 0;

	for (const char *p = name; *p && n + 1 < sizeof(plain); p++)
		if (*p != '.')
			plain[n++] = (char)tolower((unsigned char)*p);
	plain[n] = '\0';
	for (size_t i = 0; g->n > 0 && i + GRAMS_LEN <= n; i++) {
		struct gram key = {.hash = grams_hash(plain + i)};
		const struct gram *found =
			bsearch(&key, g->items, g->n, sizeof(*g->items), grams_by_hash);

		if (found && !grams_speaks_of(&b->secrets[found->secret], name))
			return &b->secrets[found->secret];
	}
	for (size_t i = 0; i < g->n_shorts; i++)
		if (strstr(plain, g->shorts[i]) &&
		    !grams_speaks_of(&b->secrets[g->short_secrets[i]], name))
			return &b->secrets[g->short_secrets[i]];
	return NULL;
}
