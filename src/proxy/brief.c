/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See brief.h.  Numbers are 32 bits in the machine's order (both programs run on this one), texts a number and their
 * bytes without a NUL among them; lists a number and their entries.  A host is written as people write it and read by
 * the parser that reads policies, so that no host can come in that no policy could name.
 */
#include "proxy/brief.h"

#include "base/mem.h"

#include <errno.h>
#include <string.h>

#define BRIEF_MAGIC 0x33706463u
#define BRIEF_END 0x65706463u

/* Memory of what was read: a list of pieces, each wiped before it is freed. */
struct brief_room {
	struct brief_room *next;
	size_t len;
	_Alignas(max_align_t) char bytes[];
};

/* What is left to read; the first thing that is wrong ends it. */
struct brief_view {
	const char *p;
	size_t len;
	struct brief *brief;
	int error;
};

static void brief_number(struct buf *out, uint64_t value)
{
	uint32_t four = (uint32_t)value;

	if (value > UINT32_MAX && out->error == 0)
		out->error = -E2BIG;
	buf_add(out, &four, sizeof(four));
}

static void brief_bytes(struct buf *out, const char *bytes, size_t len)
{
	brief_number(out, len);
	buf_add(out, bytes, len);
}

static void brief_text(struct buf *out, const char *text)
{
	brief_bytes(out, text ? text : "", text ? strlen(text) : 0);
}

static void brief_words(struct buf *out, const char *const *words)
{
	uint32_t n = 0;

	while (words && words[n])
		n++;
	brief_number(out, n);
	for (uint32_t i = 0; i < n; i++)
		brief_text(out, words[i]);
}

static void brief_host(struct buf *out, const struct hostrule *rule)
{
	char text[HOSTRULE_FORMAT_SIZE];

	hostrule_format(rule, text);
	brief_text(out, text);
}

static void brief_entries(struct buf *out, const struct authority_entry *entries, size_t n)
{
	brief_number(out, n);
	for (size_t i = 0; i < n; i++) {
		brief_host(out, &entries[i].host);
		brief_text(out, entries[i].name);
	}
}

static void brief_secret(struct buf *out, const struct boundary_secret *s)
{
	brief_text(out, s->name);
	brief_text(out, s->placeholder);
	brief_bytes(out, s->value, s->value_len);
	brief_number(out, s->n_hosts);
	for (size_t i = 0; i < s->n_hosts; i++)
		brief_host(out, &s->hosts[i]);
	brief_words(out, s->methods);
	brief_words(out, s->paths);
	brief_number(out, s->is_inside);
}

void brief_write(const struct proxy_options *o, struct buf *out)
{
	const struct authority *a = o->authority;

	brief_number(out, BRIEF_MAGIC);
	brief_text(out, CORDON_VERSION);
	brief_number(out, (uint64_t)a->mode);
	brief_number(out, a->opens_private);
	brief_number(out, a->is_alone);
	brief_entries(out, a->allowed, a->n_allowed);
	brief_entries(out, a->blocked, a->n_blocked);
	brief_number(out, a->n_rules);
	for (size_t i = 0; i < a->n_rules; i++) {
		brief_host(out, &a->rules[i].host);
		brief_words(out, a->rules[i].methods);
		brief_words(out, a->rules[i].paths);
		brief_number(out, a->rules[i].is_denial);
		brief_text(out, a->rules[i].name);
	}
	brief_number(out, a->n_exceptions);
	for (size_t i = 0; i < a->n_exceptions; i++) {
		buf_add(out, a->exceptions[i].addr, ADDR_LEN);
		brief_number(out, a->exceptions[i].bits);
	}
	brief_number(out, o->limits.connections);
	brief_number(out, (uint64_t)o->limits.handshake_ms);
	brief_number(out, (uint64_t)o->limits.connect_ms);
	brief_number(out, (uint64_t)o->limits.idle_ms);
	brief_number(out, (uint64_t)o->ask_ms);
	brief_number(out, o->is_alone);
	brief_text(out, o->resolver);
	brief_text(out, o->trust);
	brief_number(out, o->leaks.is_on);
	brief_number(out, o->leaks.has_rules);
	brief_number(out, (uint64_t)o->leaks.action);
	brief_number(out, o->n_secrets);
	for (size_t i = 0; i < o->n_secrets; i++)
		brief_secret(out, &o->secrets[i]);
	brief_number(out, BRIEF_END);
}

/* ---- reading ---- */

static void *brief_bad(struct brief_view *v, int error)
{
	if (v->error == 0)
		v->error = error;
	v->len = 0;
	return NULL;
}

/* Zeroed memory that lives as long as the brief. */
static void *brief_take(struct brief_view *v, size_t n, size_t size)
{
	struct brief_room *room = NULL;
	size_t len;

	if (v->error)
		return NULL;
	if (!__builtin_mul_overflow(n, size, &len) && len <= BRIEF_MAX)
		room = calloc(1, sizeof(*room) + len);
	if (!room)
		return brief_bad(v, -ENOMEM);
	room->len = len;
	room->next = v->brief->room;
	v->brief->room = room;
	return room->bytes;
}

static bool brief_get(struct brief_view *v, void *out, size_t len)
{
	if (v->error || len > v->len) {
		(void)brief_bad(v, -EBADMSG);
		memset(out, 0, len);
		return false;
	}
	memcpy(out, v->p, len);
	v->p += len;
	v->len -= len;
	return true;
}

static uint32_t brief_get_number(struct brief_view *v, uint32_t max)
{
	uint32_t value;

	if (brief_get(v, &value, sizeof(value)) && value > max) {
		(void)brief_bad(v, -EBADMSG);
		return 0;
	}
	return value;
}

static char *brief_get_text(struct brief_view *v, size_t *ret_len)
{
	uint32_t len = brief_get_number(v, BRIEF_TEXT_MAX);
	char *text = len <= v->len ? brief_take(v, 1, (size_t)len + 1) : brief_bad(v, -EBADMSG);

	if (!text || !brief_get(v, text, len))
		return NULL;
	if (memchr(text, '\0', len))
		return brief_bad(v, -EBADMSG);
	if (ret_len)
		*ret_len = len;
	return text;
}

/* A list's length: every entry has at least that many bytes, so that a short text cannot ask for much memory. */
static uint32_t brief_get_count(struct brief_view *v, size_t entry)
{
	uint32_t n = brief_get_number(v, BRIEF_ITEMS_MAX);

	if (n > v->len / entry) {
		(void)brief_bad(v, -EBADMSG);
		return 0;
	}
	return n;
}

static const char *const *brief_get_words(struct brief_view *v)
{
	uint32_t n = brief_get_count(v, sizeof(uint32_t));
	const char **words = n > 0 ? brief_take(v, (size_t)n + 1, sizeof(*words)) : NULL;

	for (uint32_t i = 0; words && i < n; i++) {
		words[i] = brief_get_text(v, NULL);
		if (!words[i])
			return NULL;
	}
	return words;
}

static void brief_get_host(struct brief_view *v, struct hostrule *ret)
{
	size_t len = 0;
	const char *text = brief_get_text(v, &len);

	if (text && hostrule_parse(text, len, ret, NULL) < 0)
		(void)brief_bad(v, -EBADMSG);
}

static const struct authority_entry *brief_get_entries(struct brief_view *v, size_t *ret_n)
{
	uint32_t n = brief_get_count(v, 2 * sizeof(uint32_t));
	struct authority_entry *entries = brief_take(v, (size_t)n + 1, sizeof(*entries));

	for (uint32_t i = 0; entries && i < n; i++) {
		brief_get_host(v, &entries[i].host);
		entries[i].name = brief_get_text(v, NULL);
	}
	*ret_n = n;
	return entries;
}

static const struct authority_rule *brief_get_rules(struct brief_view *v, size_t *ret_n)
{
	uint32_t n = brief_get_count(v, 5 * sizeof(uint32_t));
	struct authority_rule *rules = brief_take(v, (size_t)n + 1, sizeof(*rules));

	for (uint32_t i = 0; rules && i < n; i++) {
		brief_get_host(v, &rules[i].host);
		rules[i].methods = brief_get_words(v);
		rules[i].paths = brief_get_words(v);
		rules[i].is_denial = brief_get_number(v, 1) != 0;
		rules[i].name = brief_get_text(v, NULL);
	}
	*ret_n = n;
	return rules;
}

static const struct addr_cidr *brief_get_exceptions(struct brief_view *v, size_t *ret_n)
{
	uint32_t n = brief_get_count(v, ADDR_LEN + sizeof(uint32_t));
	struct addr_cidr *nets = brief_take(v, (size_t)n + 1, sizeof(*nets));

	for (uint32_t i = 0; nets && i < n; i++) {
		(void)!brief_get(v, nets[i].addr, ADDR_LEN);
		nets[i].bits = (uint8_t)brief_get_number(v, ADDR_LEN * 8);
	}
	*ret_n = n;
	return nets;
}

static void brief_get_secret(struct brief_view *v, struct boundary_secret *s)
{
	struct hostrule *hosts;
	size_t len = 0;

	s->name = brief_get_text(v, NULL);
	s->placeholder = brief_get_text(v, &len);
	s->value = brief_get_text(v, &s->value_len);
	if (s->value_len == 0 || s->value_len > BOUNDARY_VALUE_MAX)
		(void)brief_bad(v, -EBADMSG);
	s->n_hosts = brief_get_count(v, sizeof(uint32_t));
	s->hosts = hosts = brief_take(v, s->n_hosts + 1, sizeof(*hosts));
	for (size_t i = 0; hosts && i < s->n_hosts; i++)
		brief_get_host(v, &hosts[i]);
	s->methods = brief_get_words(v);
	s->paths = brief_get_words(v);
	s->is_inside = brief_get_number(v, 1) != 0;
	if (!s->is_inside && (len < BOUNDARY_PLACEHOLDER_MIN || len > BOUNDARY_PLACEHOLDER_MAX))
		(void)brief_bad(v, -EBADMSG);
}

static void brief_get_all(struct brief_view *v, struct authority *a, struct proxy_options *o)
{
	struct boundary_secret *secrets;
	size_t len = 0;

	if (brief_get_number(v, UINT32_MAX) != BRIEF_MAGIC)
		(void)brief_bad(v, -EBADMSG);
	v->brief->version = brief_get_text(v, NULL);
	a->mode = (enum authority_mode)brief_get_number(v, AUTHORITY_MODE_COUNT - 1);
	a->opens_private = brief_get_number(v, 1) != 0;
	a->is_alone = brief_get_number(v, 1) != 0;
	a->allowed = brief_get_entries(v, &a->n_allowed);
	a->blocked = brief_get_entries(v, &a->n_blocked);
	a->rules = brief_get_rules(v, &a->n_rules);
	a->exceptions = brief_get_exceptions(v, &a->n_exceptions);
	o->limits.connections = brief_get_number(v, UINT32_MAX);
	o->limits.handshake_ms = brief_get_number(v, UINT32_MAX);
	o->limits.connect_ms = brief_get_number(v, UINT32_MAX);
	o->limits.idle_ms = brief_get_number(v, UINT32_MAX);
	o->ask_ms = brief_get_number(v, UINT32_MAX);
	o->is_alone = brief_get_number(v, 1) != 0;
	o->resolver = brief_get_text(v, &len);
	if (len == 0)
		o->resolver = NULL;
	o->trust = brief_get_text(v, NULL);
	o->leaks.is_on = brief_get_number(v, 1) != 0;
	o->leaks.has_rules = brief_get_number(v, 1) != 0;
	o->leaks.action = (enum scan_action)brief_get_number(v, SCAN_ACTION_COUNT - 1);
	o->n_secrets = brief_get_number(v, BOUNDARY_SECRETS_MAX);
	o->secrets = secrets = brief_take(v, o->n_secrets + 1, sizeof(*secrets));
	for (size_t i = 0; secrets && i < o->n_secrets; i++)
		brief_get_secret(v, &secrets[i]);
	if (brief_get_number(v, UINT32_MAX) != BRIEF_END || v->len > 0)
		(void)brief_bad(v, -EBADMSG);
}

int brief_read(const void *bytes, size_t len, struct brief *ret)
{
	struct brief_view v = {.p = bytes, .len = len, .brief = ret};

	*ret = (struct brief){0};
	brief_get_all(&v, &ret->authority, &ret->options);
	ret->options.authority = &ret->authority;
	ret->options.ends_tls = true;
	return v.error;
}

void brief_done(struct brief *b)
{
	while (b->room) {
		struct brief_room *room = b->room;

		b->room = room->next;
		explicit_bzero(room->bytes, room->len);
		free(room);
	}
	*b = (struct brief){0};
}
