/* SPDX-License-Identifier: Apache-2.0 */
/* Heads written anew, so that who reads them reads what we read. */
#include "proxy/exchange.h"

#include "base/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char exchange_go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

bool exchange_add(struct exchange_out *out, const char *bytes, size_t len)
{
	if (out->sent > 0) {
		out->len -= out->sent;
		memmove(out->bytes, out->bytes + out->sent, out->len);
		out->sent = 0;
	}
	if (!out->bytes)
		out->bytes = malloc(EXCHANGE_OUT);
	if (!out->bytes || len > EXCHANGE_OUT - out->len)
		return false;
	memcpy(out->bytes + out->len, bytes, len);
	out->len += len;
	return true;
}

static void exchange_value(const struct guard *guard, const struct http_head *head,
			   struct http_slice value, struct buf *out)
{
	struct guard_refusal refusal;

	if (!guard)
		buf_add(out, value.p, value.len);
	else if (head->method.len == 0)
		guard_answer_field(guard, value, out);
	else if (!guard_put_field(guard, value, out, &refusal) && out->error == 0)
		out->error = -EINVAL; /* guard_request() has looked at all of them */
}

/* is_websocket: of the upgrade there are our own words only. */
static void exchange_fields(const struct http_head *head, bool is_upgrade, bool is_websocket,
			    const struct guard *guard, struct buf *out)
{
	if (is_upgrade && is_websocket)
		buf_str(out, "Connection: Upgrade\r\nUpgrade: websocket\r\n");
	for (size_t i = 0; i < head->n; i++) {
		const struct http_field *f = &head->fields[i];
		bool is_switch =
			is_upgrade && !is_websocket &&
			(http_slice_is(f->name, "upgrade") || http_slice_is(f->name, "connection"));

		if ((http_is_hop(head, f->name) && !is_switch) ||
		    (head->method.len > 0 && http_slice_is(f->name, "host")))
			continue;
		if (guard && head->method.len > 0 && guard_drops(guard, f->name))
			continue;
		if (is_switch && http_slice_is(f->name, "connection")) {
			buf_str(out, "Connection: Upgrade\r\n");
			continue;
		}
		buf_add(out, f->name.p, f->name.len);
		buf_str(out, ": ");
		exchange_value(guard, head, f->value, out);
		buf_str(out, "\r\n");
	}
}

bool exchange_write_request(struct exchange *x, const struct http_head *head)
{
	struct buf out = BUF_SECRET(HTTP_HEAD_MAX * 2);
	struct guard_refusal refusal;
	struct guard *g = x->guard;
	bool is_good = true;

	buf_add(&out, head->method.p, head->method.len);
	buf_char(&out, ' ');
	if (g)
		is_good = guard_put_target(g, head->path, &out, &refusal);
	else
		buf_add(&out, head->path.p, head->path.len);
	/* As the client said it: one of old cannot read chunks. */
	buf_printf(&out, " HTTP/1.%u\r\n", head->minor);
	{
		/* The name that was judged, as it was judged. */
		char host[HOST_FORMAT_SIZE];
		struct host h = x->host;

		h.port = x->port == x->default_port ? 0 : x->port;
		host_format(&h, host);
		buf_printf(&out, "Host: %s\r\n", host);
	}
	exchange_fields(head, x->is_upgrade, x->is_websocket, g, &out);
	if (!head->is_kept && !x->is_light)
		buf_str(&out, "Connection: close\r\n");
	if (g && g->searches)
		buf_str(&out, "Accept-Encoding: identity\r\n");
	is_good = is_good && buf_error(&out) == 0;
	if (is_good && g && g->gathers) {
		buf_add(&g->head, out.data, out.len);
		is_good = buf_error(&g->head) == 0 &&
			  (!head->expects ||
			   exchange_add(&x->down, exchange_go_on, sizeof(exchange_go_on) - 1));
	} else if (is_good) {
		buf_str(&out, "\r\n");
		is_good = buf_error(&out) == 0 && exchange_add(&x->up, out.data, out.len);
	}
	buf_done(&out);
	return is_good;
}

bool exchange_write_answer(struct exchange *x, const struct http_head *head, bool is_last)
{
	struct buf out = BUF_INIT(HTTP_HEAD_MAX * 2);
	bool is_good;

	buf_printf(&out, "HTTP/1.%u ", head->minor);
	buf_printf(&out, "%u ", head->status);
	buf_str(&out, "\r\n");
	exchange_fields(head, head->is_upgrade, x->is_websocket, x->guard, &out);
	if (is_last)
		buf_str(&out, "Connection: close\r\n");
	buf_str(&out, "\r\n");
	is_good = buf_error(&out) == 0 && exchange_add(&x->down, out.data, out.len);
	buf_done(&out);
	return is_good;
}
