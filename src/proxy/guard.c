/* SPDX-License-Identifier: Apache-2.0 */
/* See guard.h. */
#include "proxy/guard.h"

#include "base/mem.h"
#include "proxy/exfil.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define GUARD_PIECE_MAX (4 * 1024 * 1024) /* a bound for buffers that others bound tighter */

struct guard *guard_new(const struct boundary *b)
{
	struct guard *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->boundary = b;
	g->head = BUF_SECRET(HTTP_HEAD_MAX * 2);
	g->gathered = BUF_SECRET(BOUNDARY_BODY_MAX);
	g->down = BOUNDARY_STREAM;
	return g;
}

static void guard_wipe(struct buf *b)
{
	if (b->data)
		explicit_bzero(b->data, b->cap);
	buf_clear(b);
}

void guard_free(struct guard *g)
{
	if (!g)
		return;
	guard_wipe(&g->head);
	guard_wipe(&g->gathered);
	unpack_free(g->unpack);
	exfil_free(g->exfil);
	buf_done(&g->head);
	buf_done(&g->gathered);
	boundary_stream_done(&g->down);
	free(g);
}

static bool guard_refuse(struct guard_refusal *ret, const struct boundary_secret *who,
			 bool is_alarm, const char *what)
{
	*ret = (struct guard_refusal){
		.status = is_alarm ? 403 : 413, .what = what, .who = who, .is_alarm = is_alarm};
	return false;
}

/* What exfil.h says of it. */
static bool guard_refuse_leak(const struct guard *g, int r, struct guard_refusal *ret)
{
	static const char remedy[] =
		"bind the secret to the host, or say 'warn' in policy.secret_scanning.action";

	*ret = (struct guard_refusal){.status = r == -EACCES ? 403 : 413,
				      .what = r == -EACCES ? exfil_found(g->exfil)
							   : "a request that cannot be searched",
				      .remedy = r == -EACCES ? remedy : NULL,
				      .is_leak = r == -EACCES};
	return false;
}

bool guard_screen(struct guard *g, struct loop *l, const struct host *host, uint16_t port,
		  char *bytes, size_t len, bool *ret_changed, struct guard_refusal *ret)
{
	int r = -ENOMEM;

	exfil_free(g->exfil);
	g->exfil = exfil_new(l, host, port);
	g->exfil_holds = exfil_holds(l);
	g->exfil_reads = g->exfil && exfil_reads(g->exfil);
	if (g->exfil)
		r = exfil_head(g->exfil, bytes, len);
	*ret_changed = r > 0;
	return r >= 0 || guard_refuse_leak(g, r, ret);
}

bool guard_covers(const struct guard *g)
{
	return g->exfil && g->exfil_holds && g->coding == UNPACK_NONE;
}

bool guard_screen_body(struct guard *g, const char *bytes, size_t len, bool is_end, struct buf *out,
		       struct guard_refusal *ret)
{
	int r = 0;

	if (g->exfil && g->coding == UNPACK_NONE)
		r = exfil_body(g->exfil, bytes, len, is_end, out);
	else
		buf_add(out, bytes, len); /* one in a coding is looked at when it is opened */
	return r == 0 || guard_refuse_leak(g, r, ret);
}

static bool guard_refuse_coding(struct guard_refusal *ret, int error)
{
	*ret = (struct guard_refusal){
		.status = error == -E2BIG ? 413 : 415,
		.what = error == -E2BIG
				? "a body that is far larger than it is long"
				: "a body in a coding in which secrets cannot be looked for",
		.remedy = "send it without a coding, or in gzip or deflate"};
	return false;
}

static bool guard_refuse_held(struct guard_refusal *ret)
{
	*ret = (struct guard_refusal){
		.status = 413,
		.what = "a body in a coding that is too long to be looked at before it goes",
		.remedy = "send it without a coding, or in at most 65536 bytes"};
	return false;
}

/* What a result of boundary_put() means. */
static bool guard_result(int r, const struct boundary_secret *who, struct guard_refusal *ret)
{
	if (r >= 0)
		return true;
	if (r == -EACCES)
		return guard_refuse(ret, who, true, "to where it is not bound");
	return guard_refuse(ret, who, false, "into a place where its value cannot stand");
}

static enum boundary_place guard_place(const struct http_head *head)
{
	const struct http_field *type = http_find(head, "content-type");
	struct http_slice v = type ? type->value : (struct http_slice){.p = "", .len = 0};
	size_t n = 0;

	while (n < v.len && v.p[n] != ';' && v.p[n] != ' ')
		n++;
	v.len = n;
	if (http_slice_is(v, "application/x-www-form-urlencoded"))
		return BOUNDARY_QUERY;
	if (http_slice_is(v, "application/json") ||
	    (v.len > 5 && strncasecmp(v.p + v.len - 5, "+json", 5) == 0))
		return BOUNDARY_JSON;
	return BOUNDARY_BODY;
}

bool guard_request(struct guard *g, bool is_tls, const struct host *host, uint16_t port,
		   const char *method, const char *path, const char *raw,
		   const struct http_head *head, struct guard_refusal *ret)
{
	const struct boundary *b = g->boundary;
	const struct boundary_secret *who = NULL;
	struct buf sink = BUF_SECRET(HTTP_HEAD_MAX * 4);
	int r = 0;

	g->can_put = false;
	for (size_t i = 0; i < b->n; i++) {
		g->is_allowed[i] = is_tls &&
				   boundary_is_bound(&b->secrets[i], host, port, method, path);
		g->can_put = g->can_put || g->is_allowed[i];
	}
	g->searches = boundary_has_host(b, host, port);
	g->gathers = g->can_put && head->body == HTTP_BODY_LENGTH &&
		     head->body_len <= BOUNDARY_BODY_MAX;
	g->body = guard_place(head);
	g->coding = head->body == HTTP_BODY_NONE ? UNPACK_NONE : unpack_coding(head);
	unpack_free(g->unpack);
	g->unpack = NULL;
	/* To others it goes as it is, unless something is looked for that the call may have. */
	if (g->coding == UNPACK_OTHER && (g->searches || g->exfil_reads))
		return guard_refuse_coding(ret, -EBADMSG);
	if (g->coding == UNPACK_OTHER)
		g->coding = UNPACK_NONE;
	g->withholds = g->coding != UNPACK_NONE && !g->gathers && g->exfil_reads;
	if (g->withholds && head->body == HTTP_BODY_LENGTH && head->body_len > BOUNDARY_BODY_MAX)
		return guard_refuse_held(ret);
	if (g->coding != UNPACK_NONE && !g->gathers && !(g->unpack = unpack_new(g->coding)))
		return guard_refuse_coding(ret, -ENOMEM);
	g->scan = (struct boundary_scan){0};
	guard_wipe(&g->gathered);
	guard_wipe(&g->head);
	if (!is_tls && (who = boundary_find(b, raw, head->len)))
		return guard_refuse(ret, who, true, "in plain HTTP");
	who = boundary_find(b, path, strcspn(path, "?"));
	if (who)
		return guard_refuse(ret, who, true, "in the path of a URL");
	for (size_t i = 0; i < head->n; i++)
		if ((who = boundary_find(b, head->fields[i].name.p, head->fields[i].name.len)))
			return guard_refuse(ret, who, true, "in the name of a field");
	r = boundary_put(b, g->is_allowed, BOUNDARY_QUERY, path, strlen(path), &sink, &who);
	/* Fields that do not go on, and all others, also inside of credentials. */
	for (size_t i = 0; r >= 0 && i < head->n; i++) {
		buf_clear(&sink);
		r = boundary_put_field(b, g->is_allowed, head->fields[i].value.p,
				       head->fields[i].value.len, &sink, &who);
	}
	guard_wipe(&sink);
	buf_done(&sink);
	return guard_result(r, who, ret);
}

bool guard_drops(const struct guard *g, struct http_slice name)
{
	/* An answer in another coding could not be searched. */
	if (g->searches && http_slice_is(name, "accept-encoding"))
		return true;
	/* Nor one that shows the middle of a value, and the rest of it another time. */
	if (g->searches && (http_slice_is(name, "range") || http_slice_is(name, "if-range")))
		return true;
	if (g->gathers && g->coding != UNPACK_NONE && http_slice_is(name, "content-encoding"))
		return true;
	return g->gathers &&
	       (http_slice_is(name, "content-length") || http_slice_is(name, "expect"));
}

bool guard_put_target(const struct guard *g, struct http_slice path, struct buf *out,
		      struct guard_refusal *ret)
{
	const char *query = memchr(path.p, '?', path.len);
	size_t n = query ? (size_t)(query - path.p) : path.len;
	const struct boundary_secret *who = NULL;

	buf_add(out, path.p, n);
	return guard_result(boundary_put(g->boundary, g->is_allowed, BOUNDARY_QUERY, path.p + n,
					 path.len - n, out, &who),
			    who, ret);
}

bool guard_put_field(const struct guard *g, struct http_slice value, struct buf *out,
		     struct guard_refusal *ret)
{
	const struct boundary_secret *who = NULL;

	return guard_result(boundary_put_field(g->boundary, g->is_allowed, value.p, value.len, out,
					       &who),
			    who, ret);
}

/* What is found in the pieces of an opened body, and their beginning as far as it may be changed. */
struct guard_opened {
	struct guard *guard;
	const struct boundary_secret *who;
	struct buf *text; /* or NULL: who is looked for, and that is all */
};

static int guard_open_piece(void *data, const char *bytes, size_t len)
{
	struct guard_opened *o = data;

	if (!o->who)
		o->who = boundary_scan(o->guard->boundary, &o->guard->scan, bytes, len);
	if (o->guard->exfil) {
		int r = exfil_look(o->guard->exfil, bytes, len, /* is_end= */ false);

		if (r < 0)
			return r;
	}
	if (o->text)
		buf_add(o->text, bytes, len); /* what does not fit is an error of the buffer's */
	return 0;
}

/* What the result of opening it means. */
static bool guard_opened(const struct guard *g, int r, struct guard_refusal *ret)
{
	return r == 0 ||
	       (r == -EACCES ? guard_refuse_leak(g, r, ret) : guard_refuse_coding(ret, r));
}

/* Some of a body that is opened as it passes. */
static bool guard_open_some(struct guard *g, const char *bytes, size_t len, bool is_end,
			    const struct boundary_secret **ret_who, struct guard_refusal *ret)
{
	struct guard_opened o = {.guard = g};
	int r = unpack_feed(g->unpack, bytes, len, guard_open_piece, &o);

	if (r == 0 && is_end && g->withholds && g->gathered.len > 0 && !unpack_is_whole(g->unpack))
		r = -EBADMSG;
	if (r == 0 && is_end && g->exfil)
		r = exfil_look(g->exfil, "", 0, /* is_end= */ true);
	*ret_who = o.who;
	return guard_opened(g, r, ret);
}

/* A body that is whole: *ret_who is in it, and it goes to text then. */
static bool guard_open_whole(struct guard *g, struct buf *text,
			     const struct boundary_secret **ret_who, struct guard_refusal *ret)
{
	struct guard_opened o = {.guard = g, .text = text};
	int r;

	g->unpack = unpack_new(g->coding);
	r = g->unpack ? unpack_feed(g->unpack, buf_cstr(&g->gathered), g->gathered.len,
				    guard_open_piece, &o)
		      : -ENOMEM;
	if (r == 0 && g->gathered.len > 0 && !unpack_is_whole(g->unpack))
		r = -EBADMSG;
	if (r == 0 && g->exfil)
		r = exfil_look(g->exfil, "", 0, /* is_end= */ true);
	unpack_free(g->unpack);
	g->unpack = NULL;
	*ret_who = o.who;
	return guard_opened(g, r, ret);
}

bool guard_body(struct guard *g, const char *bytes, size_t len, bool is_end,
		struct guard_refusal *ret)
{
	const struct boundary_secret *who;

	if (g->gathers) {
		buf_add(&g->gathered, bytes, len);
		return buf_error(&g->gathered) == 0 ||
		       guard_refuse(ret, NULL, false, "a body that is too large");
	}
	if (g->withholds) {
		buf_add(&g->gathered, bytes, len);
		if (buf_error(&g->gathered) < 0)
			return guard_refuse_held(ret);
	}
	if (!g->unpack)
		who = boundary_scan(g->boundary, &g->scan, bytes, len);
	else if (!guard_open_some(g, bytes, len, is_end, &who, ret))
		return false;
	if (!who)
		return true;
	return g->is_allowed[who - g->boundary->secrets]
		       ? guard_refuse(ret, who, false,
				      "in a body without a length, or of more than 65536 bytes")
		       : guard_refuse(ret, who, true, "to where it is not bound");
}

bool guard_put_body(struct guard *g, struct buf *out, struct guard_refusal *ret)
{
	const struct boundary_secret *who = NULL;
	struct buf body = BUF_SECRET((size_t)BOUNDARY_BODY_MAX * 2);
	struct buf opened = BUF_SECRET(BOUNDARY_BODY_MAX);
	const struct buf *from = &g->gathered;
	bool is_good = true;

	/* In a coding it goes on as it came, unless there is something to put into it: then without the coding. */
	if (g->coding != UNPACK_NONE) {
		is_good = guard_open_whole(g, &opened, &who, ret);
		if (is_good && who && buf_error(&opened) < 0)
			is_good =
				g->is_allowed[who - g->boundary->secrets]
					? guard_refuse(ret, who, false,
						       "in a body of more than 65536 bytes")
					: guard_refuse(ret, who, true, "to where it is not bound");
		if (who)
			from = &opened;
	}
	if (is_good && g->coding != UNPACK_NONE && !who)
		buf_add(&body, buf_cstr(from), from->len);
	else if (is_good)
		is_good = guard_result(boundary_put(g->boundary, g->is_allowed, g->body,
						    buf_cstr(from), from->len, &body, &who),
				       who, ret);
	if (is_good && buf_error(&body) < 0)
		is_good = guard_refuse(ret, who, false, "into a body that is too large then");
	if (is_good) {
		buf_add(out, buf_cstr(&g->head), g->head.len);
		if (g->coding != UNPACK_NONE && from == &g->gathered)
			buf_printf(out, "Content-Encoding: %s\r\n", unpack_name(g->coding));
		buf_printf(out, "Content-Length: %zu\r\n\r\n", body.len);
		buf_add(out, buf_cstr(&body), body.len);
	}
	guard_wipe(&opened);
	buf_done(&opened);
	guard_wipe(&body);
	buf_done(&body);
	guard_wipe(&g->head);
	guard_wipe(&g->gathered);
	return is_good;
}

bool guard_answer(struct guard *g, const struct http_head *head)
{
	bool is_plain = unpack_coding(head) == UNPACK_NONE;

	buf_clear(&g->down.held);
	g->is_chunked = head->body == HTTP_BODY_CHUNKED;
	return !g->searches || head->body == HTTP_BODY_NONE || (is_plain && head->status != 206);
}

void guard_answer_field(const struct guard *g, struct http_slice value, struct buf *out)
{
	struct boundary_stream s = BOUNDARY_STREAM;

	if (!g->searches)
		buf_add(out, value.p, value.len);
	else if (boundary_redact(g->boundary, &s, value.p, value.len, /* is_end= */ true,
				 /* keeps_length= */ false, out) < 0 &&
		 out->error == 0)
		out->error = -ENOMEM;
	boundary_stream_done(&s);
}

int guard_answer_body(struct guard *g, const char *bytes, size_t len, bool is_end, struct buf *out)
{
	struct buf data = BUF_INIT(GUARD_PIECE_MAX);
	int r = boundary_redact(g->boundary, &g->down, bytes, len, is_end, /* keeps_length= */ true,
				&data);

	if (r >= 0 && g->is_chunked && data.len > 0) {
		buf_printf(out, "%zx\r\n", data.len);
		buf_add(out, data.data, data.len);
		buf_str(out, "\r\n");
	} else if (r >= 0) {
		buf_add(out, buf_cstr(&data), data.len);
	}
	if (r >= 0 && g->is_chunked && is_end)
		buf_str(out, "0\r\n\r\n");
	buf_done(&data);
	return r < 0 || buf_error(out) < 0 ? -ENOMEM : 0;
}

void guard_alarm(struct loop *l, const char *host, uint16_t port, const struct boundary_secret *who,
		 const char *where)
{
	struct proxy_tally *t = l->tally;
	char rule[256];

	(void)snprintf(rule, sizeof(rule), "secret '%.100s' was on its way %s", who->name, where);
	loop_record(l, host, port, false, rule,
		    "a secret goes only to the hosts that it is bound to, over TLS", 0);
	t->alarms++; /* also when no record is left for it */
	for (uint32_t i = 0; i < t->n; i++)
		if (!t->records[i].is_allowed && t->records[i].port == port &&
		    strcmp(t->records[i].host, host) == 0 && strcmp(t->records[i].rule, rule) == 0)
			t->records[i].is_alarm = true;
}

bool guard_name(struct loop *l, const char *name, uint16_t port, const char *where)
{
	const struct boundary_secret *who = l->boundary ? boundary_find_name(l->boundary, name)
							: NULL;

	if (!who && exfil_name(l, name, port)) {
		loop_record(l, name, port, false, "a stored secret or a credential in a name",
			    "secrets do not go into names", 0);
		return true;
	}
	if (!who)
		return false;
	guard_alarm(l, name, port, who, where);
	return true;
}
