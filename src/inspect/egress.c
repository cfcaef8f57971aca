/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See egress.h.  A text of no known kind is read twice: as a whole, which follows variables and pipes from line to
 * line, and from each name of a network program to the end of its line, since prose, logs and JSON have commands in the
 * middle of what is none.
 */
#include "inspect/egress.h"

#include "base/limits.h"
#include "inspect/allow.h"
#include "inspect/command.h"
#include "inspect/kind.h"
#include "inspect/shell/model.h"
#include "inspect/shell/net.h"
#include "net/hostrule.h"

#include <stdio.h>
#include <string.h>

/* Programs that only ever speak to a network. */
static const char *const egress_programs[] = {
	"aria2c", "axel", "curl", "ftp",   "lftp", "nc",     "ncat", "netcat", "rclone",
	"rsync",  "sftp", "scp",  "socat", "ssh",  "telnet", "tftp", "wget",   "wget2",
};

struct egress_reading {
	const struct strv *allowed;
	struct findings *out;
	size_t first;          /* of our findings in out */
	unsigned line, column; /* of the piece that is read */
	bool is_piece; /* found in the middle of something: what looks like a word may be one */
	int r;
};

int egress_check_list(const struct strv *allowed, struct cordon_error *err)
{
	struct hostrule rule;
	int r = 0;

	for (size_t i = 0; r == 0 && i < allowed->n; i++)
		r = hostrule_parse(allowed->v[i], strlen(allowed->v[i]), &rule, err);
	return r;
}

/* One finding of a kind for a line: both readings find the same. */
static void egress_add(struct egress_reading *e, struct finding *f)
{
	if (f->line > 1)
		f->line += e->line - 1;
	else {
		f->line = e->line;
		f->column += e->column - 1;
	}
	for (size_t i = e->first; i < e->out->n; i++) {
		const struct finding *old = &e->out->items[i];

		if (old->line == f->line && strcmp(old->rule, f->rule) == 0 &&
		    strcmp(old->message, f->message) == 0)
			return;
	}
	e->r = findings_add(e->out, f);
}

/* "ssh keys are needed on both machines." names no host: there is a dot or a colon inside of one. */
static bool egress_is_word(const struct net_host *h)
{
	size_t n = strcspn(h->name, ".:");

	return h->kind != NET_URL && (!h->name[n] || !h->name[n + 1]);
}

static void egress_see(void *data, const struct shell_model *m)
{
	struct egress_reading *e = data;

	for (size_t i = 0; e->r == 0 && i < m->n; i++) {
		const struct shell_command *c = &m->commands[i];

		for (size_t k = 0; e->r == 0 && k < c->n_hosts; k++) {
			const struct net_host *h = &c->hosts[k];
			struct finding f = {.type = FINDING_EGRESS,
					    .level = THREAT_HIGH,
					    .confidence = 0.7,
					    .line = c->line,
					    .column = c->column};
			struct buf shown = BUF_INIT(4096);

			if (net_is_local(h) || (e->is_piece && egress_is_word(h)) ||
			    allow_listed(e->allowed, h->name, strlen(h->name), h->port))
				continue;
			str_escape(&shown, h->name, strlen(h->name));
			(void)snprintf(f.rule, sizeof(f.rule), EGRESS_RULE_HOST);
			(void)snprintf(f.message, sizeof(f.message),
				       "It would contact the %s '%.180s', which is not allowed.",
				       net_kind_name(h->kind), buf_cstr(&shown));
			buf_done(&shown);
			command_snippet(c, f.snippet, sizeof(f.snippet));
			egress_add(e, &f);
		}
	}
}

static int egress_read(struct egress_reading *e, const struct inspect_context *c, const char *text,
		       size_t len, struct cordon_error *err)
{
	struct inspect_context own = *c;
	struct findings found = {0};
	int r;

	own.policy = NULL; /* the list is the caller's */
	own.see = egress_see;
	own.see_data = e;
	own.depth++; /* what it says to a model is not the question */
	r = command_inspect(&own, text, len, &found, err);
	for (size_t i = 0; r == 0 && e->r == 0 && i < found.n; i++)
		if (found.items[i].type == FINDING_DATA_LEAK ||
		    found.items[i].type == FINDING_NETWORK_ACCESS ||
		    str_ends(found.items[i].rule, "-LIMIT"))
			egress_add(e, &found.items[i]);
	findings_done(&found);
	return r == 0 && e->r < 0 ? cordon_nomem(err) : r;
}

static bool egress_is_part(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-' || c == '.';
}

/* How long the name of a network program is that begins here as a word with something behind it; 0: none does. */
static size_t egress_program(const char *text, size_t len, size_t at)
{
	if (at > 0 && egress_is_part(text[at - 1]))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(egress_programs); i++) {
		size_t n = strlen(egress_programs[i]);

		if (len - at > n && memcmp(text + at, egress_programs[i], n) == 0 &&
		    (text[at + n] == ' ' || text[at + n] == '\t' || text[at + n] == '\\'))
			return n;
	}
	return 0;
}

/* Where the command that begins here ends: with its line, or with the quote that it stands in. */
static size_t egress_end(const char *text, size_t len, size_t at)
{
	char quote = at > 0 && strchr("`\"'", text[at - 1]) ? text[at - 1] : '\n';
	size_t end = at;

	while (end < len && text[end] != quote) {
		if (text[end] == '\n' && text[end - 1] != '\\')
			break;
		end++;
	}
	return end;
}

static int egress_limit(struct egress_reading *e, size_t n, struct cordon_error *err)
{
	struct finding f = {.rule = EGRESS_RULE_LIMIT,
			    .type = FINDING_INPUT,
			    .level = THREAT_MEDIUM,
			    .confidence = 1,
			    .line = 1,
			    .column = 1};

	(void)snprintf(f.message, sizeof(f.message), "only the first %zu commands in it were read",
		       n);
	return findings_add(e->out, &f) < 0 ? cordon_nomem(err) : 0;
}

static int egress_pieces(struct egress_reading *e, const struct inspect_context *c,
			 const char *text, size_t len, struct cordon_error *err)
{
	unsigned line = 1;
	size_t start = 0, n = 0, bytes = 0;
	int r = 0;

	e->is_piece = true;
	for (size_t at = 0; r == 0 && at < len; at++) {
		size_t end;

		if (text[at] == '\n') {
			line++;
			start = at + 1;
		}
		if (egress_program(text, len, at) == 0)
			continue;
		end = egress_end(text, len, at);
		bytes += end - at;
		if (n++ == LIMIT_EGRESS_PIECES || bytes > LIMIT_EGRESS_BYTES)
			return egress_limit(e, n - 1, err);
		e->line = line;
		e->column = (unsigned)(at - start) + 1;
		r = egress_read(e, c, text + at, end - at, err);
	}
	return r;
}

int egress_inspect(const struct inspect_context *c, const struct strv *allowed, const char *text,
		   size_t len, struct findings *ret, struct cordon_error *err)
{
	struct egress_reading e = {
		.allowed = allowed, .out = ret, .first = ret->n, .line = 1, .column = 1};
	enum inspect_kind kind = kind_guess(text, len, NULL);
	struct inspect_context own = *c;
	int r;

	inspect_context_begin(&own, len);
	e.is_piece = kind != INSPECT_COMMAND && kind != INSPECT_BASH;
	r = egress_read(&e, &own, text, len, err);
	return r == 0 ? egress_pieces(&e, &own, text, len, err) : r;
}
