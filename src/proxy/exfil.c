/* SPDX-License-Identifier: Apache-2.0 */
/* See exfil.h. */
#include "proxy/exfil.h"

#include "base/mem.h"
#include "proxy/grams.h"
#include "secrets/leak_redact.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define EXFIL_PIECE_MAX (4 * 1024 * 1024) /* a bound for buffers that others bound tighter */

struct exfil {
	struct loop *loop;
	struct host host;
	uint16_t port;
	const char *where; /* a constant: what is looked at */
	bool only_looks;   /* what is found cannot be covered */
	bool is_refused;   /* something was found that must not go */
	bool has_found;    /* since the last time that it was asked */
	char found[160];   /* what, the first time */
	bool passes[BOUNDARY_SECRETS_MAX];
	struct boundary_stream values;
	struct leak_redactor *rules; /* NULL: not asked for, or nothing fed yet */
};

bool exfil_is_on(const struct loop *l)
{
	return l->leaks.is_on;
}

bool exfil_holds(const struct loop *l)
{
	return l->leaks.action != SECRET_WARN;
}

int exfil_prepare(struct loop *l)
{
	return l->leaks.is_on && l->boundary->n > 0 ? grams_make(l->boundary, &l->grams) : 0;
}

/* ---- what was found ---- */

static bool exfil_must_stop(const struct loop *l, bool can_be_covered)
{
	return l->leaks.action == SECRET_BLOCK ||
	       (l->leaks.action == SECRET_REDACT && !can_be_covered);
}

static void exfil_tell(struct loop *l, const char *host, uint16_t port, const char *rule,
		       const char *what, const char *where, enum proxy_leak_end end)
{
	struct proxy_tally *t = l->tally;
	struct proxy_leak *k = NULL;

	if (strcmp(rule, PROXY_LEAK_STORED) == 0)
		t->leaked.stored++;
	else
		t->leaked.by_rule++;
	for (uint32_t i = 0; i < t->n_leaks && !k; i++)
		if (t->leaks[i].port == port && t->leaks[i].end == end &&
		    strcmp(t->leaks[i].host, host) == 0 && strcmp(t->leaks[i].rule, rule) == 0 &&
		    strncmp(t->leaks[i].what, what, sizeof(k->what) - 1) == 0 &&
		    strcmp(t->leaks[i].where, where) == 0)
			k = &t->leaks[i];
	if (!k && t->n_leaks < PROXY_LEAKS) {
		k = &t->leaks[t->n_leaks];
		k->port = port;
		k->end = end;
		(void)snprintf(k->host, sizeof(k->host), "%s", host);
		(void)snprintf(k->rule, sizeof(k->rule), "%s", rule);
		(void)snprintf(k->what, sizeof(k->what), "%s", what);
		(void)snprintf(k->where, sizeof(k->where), "%s", where);
		t->n_leaks++;
	}
	if (k)
		k->count++;
}

static void exfil_add(struct exfil *e, const char *rule, const char *what)
{
	bool is_stop = exfil_must_stop(e->loop, !e->only_looks);

	e->has_found = true;
	e->is_refused = e->is_refused || is_stop;
	if (!e->found[0])
		(void)snprintf(e->found, sizeof(e->found), "%.120s %s", what, e->where);
	exfil_tell(e->loop, e->host.name, e->port, rule, what, e->where,
		   is_stop                                  ? PROXY_LEAK_REFUSED
		   : e->loop->leaks.action == SECRET_REDACT ? PROXY_LEAK_HIDDEN
							    : PROXY_LEAK_PASSED);
}

static void exfil_value(void *data, const struct boundary_secret *who)
{
	char what[128];

	(void)snprintf(what, sizeof(what), "stored secret '%.100s'", who->name);
	exfil_add(data, PROXY_LEAK_STORED, what);
}

static void exfil_leak(void *data, const struct leak *leak)
{
	exfil_add(data, leak->rule, leak->what);
}

/* A credential that is a placeholder, or a value on its way to where it may go. */
static bool exfil_passes(void *data, const char *text, size_t len)
{
	const struct exfil *e = data;

	return boundary_has(e->loop->boundary, e->passes, text, len);
}

/* ---- requests ---- */

struct exfil *exfil_new(struct loop *l, const struct host *host, uint16_t port)
{
	struct exfil *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->loop = l;
	e->host = *host;
	e->port = port;
	e->values = BOUNDARY_STREAM;
	e->values.passes = e->passes;
	e->values.note = exfil_value;
	e->values.data = e;
	boundary_passes(l->boundary, host, port, e->passes);
	return e;
}

void exfil_free(struct exfil *e)
{
	if (!e)
		return;
	leak_redactor_free(e->rules);
	boundary_stream_done(&e->values);
	free(e);
}

bool exfil_reads(const struct exfil *e)
{
	const struct boundary *b = e->loop->boundary;
	bool is_sought = e->loop->leaks.has_rules;

	/* A value that is put in at the boundary the call does not have. */
	for (size_t i = 0; i < b->n && !is_sought; i++)
		is_sought = b->secrets[i].is_inside && !e->passes[i];
	return is_sought && exfil_holds(e->loop);
}

const char *exfil_found(const struct exfil *e)
{
	return e->found;
}

static int exfil_rules(struct exfil *e, const struct buf *bytes, bool is_end, struct buf *out)
{
	int r = 0;

	if (!e->rules) {
		r = leak_redactor_new(&e->rules, NULL);
		if (r < 0)
			return -ENOMEM;
		leak_redactor_cover(e->rules, exfil_leak, exfil_passes, e);
	}
	r = leak_redact_feed(e->rules, buf_cstr(bytes), bytes->len, out, NULL);
	if (r == 0 && is_end)
		r = leak_redact_end(e->rules, out, NULL);
	if (is_end) {
		leak_redactor_free(e->rules);
		e->rules = NULL;
	}
	return r < 0 ? -ENOMEM : 0;
}

/* Both, one after the other. */
static int exfil_sift(struct exfil *e, const char *bytes, size_t len, bool is_end, struct buf *out)
{
	struct buf between = BUF_SECRET(EXFIL_PIECE_MAX);
	bool has_rules = e->loop->leaks.has_rules;
	int r = boundary_redact(e->loop->boundary, &e->values, bytes, len, is_end,
				/* keeps_length= */ true, has_rules ? &between : out);

	if (r >= 0 && has_rules)
		r = exfil_rules(e, &between, is_end, out);
	buf_done(&between);
	if (r < 0 || buf_error(out) < 0)
		return -ENOMEM;
	return e->is_refused ? -EACCES : 0;
}

int exfil_head(struct exfil *e, char *bytes, size_t len)
{
	struct buf out = BUF_SECRET(EXFIL_PIECE_MAX);
	int r;

	e->where = "in the head of a request";
	e->only_looks = false;
	e->has_found = false;
	r = exfil_sift(e, bytes, len, /* is_end= */ true, &out);
	if (r == 0 && e->has_found && e->loop->leaks.action == SECRET_REDACT) {
		r = out.len == len ? 1 : -ENOMEM;
		if (r > 0)
			memcpy(bytes, out.data, len);
	}
	buf_done(&out);
	return r;
}

int exfil_body(struct exfil *e, const char *bytes, size_t len, bool is_end, struct buf *out)
{
	struct buf covered = BUF_SECRET(EXFIL_PIECE_MAX);
	bool covers = exfil_holds(e->loop);
	int r;

	e->where = "in the body of a request";
	e->only_looks = false;
	r = exfil_sift(e, bytes, len, is_end, covers ? out : &covered);
	if (r == 0 && !covers)
		buf_add(out, bytes, len);
	buf_done(&covered);
	return r == 0 && buf_error(out) < 0 ? -ENOMEM : r;
}

int exfil_look(struct exfil *e, const char *bytes, size_t len, bool is_end)
{
	struct buf sink = BUF_SECRET(EXFIL_PIECE_MAX);
	int r;

	e->where = "in a coded body of a request";
	e->only_looks = true;
	r = exfil_sift(e, bytes, len, is_end, &sink);
	buf_done(&sink);
	return r;
}

/* ---- names ---- */

/* A name that the policy itself writes out says nothing that is not known. */
static bool exfil_is_listed(const struct authority *a, const char *name)
{
	for (size_t i = 0; i < a->n_allowed; i++)
		if (!a->allowed[i].host.is_wildcard &&
		    strcasecmp(a->allowed[i].host.host.name, name) == 0)
			return true;
	for (size_t i = 0; i < a->n_rules; i++)
		if (!a->rules[i].host.is_wildcard &&
		    strcasecmp(a->rules[i].host.host.name, name) == 0)
			return true;
	return false;
}

struct exfil_name_search {
	struct loop *loop;
	const char *name;
	uint16_t port;
	bool is_found;
};

static void exfil_name_tell(struct exfil_name_search *s, const char *rule, const char *what)
{
	s->is_found = true;
	exfil_tell(s->loop, s->name, s->port, rule, what, "in a name",
		   exfil_must_stop(s->loop, /* can_be_covered= */ false) ? PROXY_LEAK_REFUSED
									 : PROXY_LEAK_PASSED);
}

static void exfil_name_leak(void *data, const struct leak *leak)
{
	exfil_name_tell(data, leak->rule, leak->what);
}

bool exfil_name(struct loop *l, const char *name, uint16_t port)
{
	struct exfil_name_search s = {.loop = l, .name = name, .port = port};
	const struct boundary_secret *who;
	struct leak_scanner *scanner = NULL;

	if (!l->leaks.is_on || exfil_is_listed(l->authority, name))
		return false;
	who = grams_find(&l->grams, l->boundary, name);
	if (who) {
		char what[128];

		(void)snprintf(what, sizeof(what), "stored secret '%.100s'", who->name);
		exfil_name_tell(&s, PROXY_LEAK_STORED, what);
	}
	if (l->leaks.has_rules) {
		int r = leak_scanner_new(exfil_name_leak, &s, &scanner, NULL);

		if (r == 0)
			r = leak_feed(scanner, name, strlen(name), NULL);
		if (r == 0)
			r = leak_end(scanner, NULL);
		leak_scanner_free(scanner);
		if (r < 0)
			return true; /* what could not be looked at does not go */
	}
	return s.is_found && exfil_must_stop(l, /* can_be_covered= */ false);
}
