/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of requests and answers on their way: framed as they say, searched where there is something to look for. */
#include "proxy/exchange.h"

#include "base/buf.h"

#include <stdio.h>
#include <string.h>

#define EXCHANGE_SEEN (4 * 1024 * 1024) /* what was held back of a body comes at once */

void exchange_message_start(struct exchange_message *m, const struct http_head *head)
{
	*m = (struct exchange_message){
		.has_head = true,
		.is_kept = head->is_kept,
		.body = head->body,
		.left = head->body_len,
	};
	m->is_done = head->body == HTTP_BODY_NONE;
}

/* How many of these bytes belong to the message's body; -1: they are no body.  data: gets them without what frames
 * them; may be NULL. */
static ssize_t exchange_body(struct exchange_message *m, const char *bytes, size_t len,
			     struct buf *data)
{
	bool is_done = false;
	ssize_t n;

	if (m->body == HTTP_BODY_CHUNKED) {
		n = http_chunks_copy(&m->chunks, bytes, len, data, &is_done);
		m->is_done = is_done;
		return n;
	}
	n = m->body == HTTP_BODY_CLOSE || m->left > len ? (ssize_t)len : (ssize_t)m->left;
	if (m->body != HTTP_BODY_CLOSE) {
		m->left -= (uint64_t)n;
		m->is_done = m->left == 0;
	}
	if (data)
		buf_add(data, bytes, (size_t)n);
	return n;
}

static size_t exchange_room(const struct exchange_out *out, size_t len)
{
	size_t room = EXCHANGE_BODY > out->len ? EXCHANGE_BODY - out->len : 0;

	return len < room ? len : room;
}

bool exchange_pass(struct exchange_message *m, char *bytes, size_t *len, struct exchange_out *out)
{
	size_t some = exchange_room(out, *len);
	ssize_t n;

	if (m->is_done || some == 0)
		return true;
	n = exchange_body(m, bytes, some, NULL);
	if (n < 0 || !exchange_add(out, bytes, (size_t)n))
		return false;
	*len -= (size_t)n;
	memmove(bytes, bytes + n, *len);
	return true;
}

/* What is left of a body to be seen, framed anew if it is in chunks. */
static bool exchange_add_seen(struct exchange *x, const struct buf *seen)
{
	bool is_chunked = x->request.body == HTTP_BODY_CHUNKED;
	char size[32];
	bool is_good = buf_error(seen) == 0;

	if (is_good && is_chunked && seen->len > 0) {
		int n = snprintf(size, sizeof(size), "%zx\r\n", seen->len);

		is_good = exchange_add(&x->up, size, (size_t)n);
	}
	is_good = is_good && exchange_add(&x->up, buf_cstr(seen), seen->len);
	if (is_good && is_chunked && seen->len > 0)
		is_good = exchange_add(&x->up, "\r\n", 2);
	if (is_good && is_chunked && x->request.is_done)
		is_good = exchange_add(&x->up, "0\r\n\r\n", 5);
	return is_good;
}

static void exchange_refuse_trailer(struct conn *c, const char *what)
{
	static const char remedy[] = "send its fields in the head";

	loop_record(c->loop, c->host.name, c->port, false, what, remedy, 0);
	conn_refuse(c, 400, what, "", remedy);
}

bool exchange_has_trailer(struct conn *c)
{
	if (!c->exchange->reads || c->exchange->request.chunks.trailer == 0)
		return false;
	exchange_refuse_trailer(c, "a trailer, whose fields are not judged");
	return true;
}

bool exchange_request_body(struct conn *c)
{
	struct exchange *x = c->exchange;
	struct buf data = BUF_INIT(EXCHANGE_OUT);
	struct buf seen = BUF_SECRET(EXCHANGE_SEEN);
	struct buf whole = BUF_SECRET(EXCHANGE_OUT);
	struct guard_refusal refusal;
	size_t some = exchange_room(&x->up, c->in_len);
	ssize_t n = 0;
	bool is_good = true;

	if (x->request.is_done || some == 0)
		return true;
	n = exchange_body(&x->request, c->in, some, &data);
	if (n < 0 || buf_error(&data) < 0) {
		conn_refuse(c, 400, "a body that is not framed as it says", "", "");
		is_good = false;
	} else if (x->request.chunks.trailer > 0) {
		exchange_refuse_trailer(c, EXCHANGE_TRAILER);
		is_good = false;
	} else if (!guard_screen_body(x->guard, buf_cstr(&data), data.len, x->request.is_done,
				      &seen, &refusal) ||
		   !guard_body(x->guard, buf_cstr(&seen), seen.len, x->request.is_done, &refusal) ||
		   (x->guard->gathers && x->request.is_done &&
		    !guard_put_body(x->guard, &whole, &refusal))) {
		exchange_withhold(c, &refusal);
		is_good = false;
	} else if (x->guard->gathers ? buf_error(&whole) < 0 ||
					       !exchange_add(&x->up, buf_cstr(&whole), whole.len)
		   : x->guard->withholds
			   ? x->request.is_done && !exchange_add_seen(x, &x->guard->gathered)
		   : guard_covers(x->guard) ? !exchange_add_seen(x, &seen)
					    : !exchange_add(&x->up, c->in, (size_t)n)) {
		conn_refuse(c, 413, "a request that is too large with its secrets", "", "");
		is_good = false;
	}
	if (is_good) {
		c->in_len -= (size_t)n;
		memmove(c->in, c->in + n, c->in_len);
	}
	buf_done(&data);
	buf_done(&seen);
	buf_done(&whole);
	return is_good;
}

bool exchange_answer_body(struct exchange *x)
{
	struct buf data = BUF_INIT(EXCHANGE_OUT);
	struct buf out = BUF_INIT(EXCHANGE_OUT);
	size_t some = exchange_room(&x->down, x->in_len);
	ssize_t n;
	bool is_good;

	if (x->answer.is_done || some == 0)
		return true;
	n = exchange_body(&x->answer, x->in, some, &data);
	is_good = n >= 0 && buf_error(&data) == 0 &&
		  guard_answer_body(x->guard, buf_cstr(&data), data.len, x->answer.is_done, &out) ==
			  0 &&
		  exchange_add(&x->down, buf_cstr(&out), out.len);
	if (is_good) {
		x->in_len -= (size_t)n;
		memmove(x->in, x->in + n, x->in_len);
	}
	buf_done(&data);
	buf_done(&out);
	return is_good;
}
