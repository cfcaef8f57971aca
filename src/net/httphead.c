/* SPDX-License-Identifier: Apache-2.0 */
/* Line by line; the first thing that is not exactly as RFC 9112 wants it ends the reading. */
#include "net/httphead.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

#include "base/mem.h"

static int http_refuse(struct http_head *h, unsigned error, const char *reason)
{
	h->error = error;
	h->reason = reason;
	return -EBADMSG;
}

bool http_slice_is(struct http_slice s, const char *text)
{
	return strlen(text) == s.len && strncasecmp(s.p, text, s.len) == 0;
}

static bool http_is_token_byte(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool http_is_token(struct http_slice s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!http_is_token_byte(s.p[i]))
			return false;
	return s.len > 0;
}

/* Takes one line off the front, without its CRLF.  1, 0 (not whole yet) or -EBADMSG. */
static int http_line(const char *bytes, size_t len, size_t *at, struct http_slice *ret,
		     struct http_head *h)
{
	size_t i = *at;

	while (i < len && bytes[i] != '\r' && bytes[i] != '\n' && bytes[i] != '\0')
		i++;
	if (i >= HTTP_HEAD_MAX)
		return http_refuse(h, 431, "a head that is too long");
	if (i == len || (bytes[i] == '\r' && i + 1 == len))
		return 0;
	if (bytes[i] == '\0')
		return http_refuse(h, 400, "a NUL byte in the head");
	if (bytes[i] != '\r' || bytes[i + 1] != '\n')
		return http_refuse(h, 400, "a line that does not end in CRLF");
	*ret = (struct http_slice){.p = bytes + *at, .len = i - *at};
	*at = i + 2;
	return 1;
}

/* Cuts s at the first blank: the part before it is returned, s is the rest. */
static struct http_slice http_word(struct http_slice *s)
{
	const char *blank = memchr(s->p, ' ', s->len);
	struct http_slice word = {.p = s->p, .len = blank ? (size_t)(blank - s->p) : s->len};
	size_t used = blank ? word.len + 1 : word.len;

	s->p += used;
	s->len -= used;
	return word;
}

static int http_version(struct http_slice s, struct http_head *h)
{
	if (s.len != 8 || memcmp(s.p, "HTTP/", 5) != 0 || !isdigit((unsigned char)s.p[5]) ||
	    s.p[6] != '.' || !isdigit((unsigned char)s.p[7]))
		return http_refuse(h, 400, "no version of HTTP");
	if (s.p[5] != '1' || s.p[7] > '1')
		return http_refuse(h, 505, "a version of HTTP that is neither 1.0 nor 1.1");
	h->minor = s.p[7] == '1';
	return 0;
}

/* Bytes that a target may have.  No other reader may see another target in it. */
static int http_check_target(struct http_slice t, struct http_head *h)
{
	for (size_t i = 0; i < t.len; i++) {
		unsigned char c = (unsigned char)t.p[i];

		if (c <= ' ' || c >= 0x7f || strchr("\"<>\\^`{|}#", c))
			return http_refuse(h, 400, "a byte in the target that no URL has");
		if (c != '%')
			continue;
		if (t.len - i < 3 || !isxdigit((unsigned char)t.p[i + 1]) ||
		    !isxdigit((unsigned char)t.p[i + 2]))
			return http_refuse(h, 400, "a '%' in the target without two digits");
		if (t.p[i + 1] == '0' && t.p[i + 2] == '0')
			return http_refuse(h, 400, "an encoded NUL in the target");
	}
	return 0;
}

static int http_set_host(struct http_slice text, unsigned flags, struct http_head *h)
{
	if (host_parse(text.p, text.len, flags, &h->host, NULL) < 0)
		return http_refuse(h, 400, "a host that is none");
	h->has_host = true;
	return 0;
}

static int http_absolute(struct http_slice t, struct http_head *h)
{
	static const char scheme[] = "http://";
	size_t start = sizeof(scheme) - 1;
	size_t end = start;

	if (t.len < start || strncasecmp(t.p, scheme, start) != 0)
		return http_refuse(h, 400, "a target that is neither a path nor an http URL");
	while (end < t.len && t.p[end] != '/' && t.p[end] != '?')
		end++;
	h->form = HTTP_ABSOLUTE;
	h->path = end < t.len ? (struct http_slice){.p = t.p + end, .len = t.len - end}
			      : (struct http_slice){.p = "/", .len = 1};
	if (h->path.p[0] != '/')
		return http_refuse(h, 400, "a query without a path");
	return http_set_host((struct http_slice){.p = t.p + start, .len = end - start},
			     HOST_PORT_ALLOWED | HOST_BRACKETS_REQUIRED, h);
}

static int http_target(struct http_slice t, struct http_head *h)
{
	int r;

	if (t.len == 0)
		return http_refuse(h, 400, "no target");
	if (t.len > HTTP_TARGET_MAX)
		return http_refuse(h, 414, "a target that is too long");
	r = http_check_target(t, h);
	if (r < 0)
		return r;
	h->target = t;
	h->path = t;
	if (h->method.len == 7 && memcmp(h->method.p, "CONNECT", 7) == 0) {
		h->form = HTTP_AUTHORITY;
		return http_set_host(t, HOST_PORT_REQUIRED | HOST_BRACKETS_REQUIRED, h);
	}
	if (t.p[0] == '/') {
		h->form = HTTP_ORIGIN;
		return 0;
	}
	if (t.len == 1 && t.p[0] == '*') {
		h->form = HTTP_ASTERISK;
		return h->method.len == 7 && memcmp(h->method.p, "OPTIONS", 7) == 0
			       ? 0
			       : http_refuse(h, 400, "'*' is a target of OPTIONS alone");
	}
	return http_absolute(t, h);
}

static int http_request_line(struct http_slice line, struct http_head *h)
{
	int r;

	h->method = http_word(&line);
	if (!http_is_token(h->method) || h->method.len > 32)
		return http_refuse(h, 400, "no method");
	{
		struct http_slice target = http_word(&line);

		r = http_target(target, h);
	}
	return r < 0 ? r : http_version(line, h);
}

static int http_status_line(struct http_slice line, struct http_head *h)
{
	struct http_slice version = http_word(&line);
	struct http_slice status = http_word(&line);
	int r = http_version(version, h);

	if (r < 0)
		return r;
	if (status.len != 3)
		return http_refuse(h, 400, "no status");
	for (size_t i = 0; i < 3; i++) {
		if (!isdigit((unsigned char)status.p[i]))
			return http_refuse(h, 400, "no status");
		h->status = h->status * 10 + (unsigned)(status.p[i] - '0');
	}
	if (h->status < 100 || h->status > 599)
		return http_refuse(h, 400, "a status that there is not");
	return 0;
}

static int http_field_line(struct http_slice line, struct http_head *h)
{
	const char *colon = memchr(line.p, ':', line.len);
	struct http_field *f;

	if (line.p[0] == ' ' || line.p[0] == '\t')
		return http_refuse(h, 400, "a folded line");
	if (!colon)
		return http_refuse(h, 400, "a line of the head without a colon");
	if (h->n == HTTP_FIELDS_MAX)
		return http_refuse(h, 431, "too many fields");
	f = &h->fields[h->n++];
	f->name = (struct http_slice){.p = line.p, .len = (size_t)(colon - line.p)};
	if (!http_is_token(f->name))
		return http_refuse(h, 400, "a field's name that is none");
	f->value = (struct http_slice){.p = colon + 1, .len = line.len - f->name.len - 1};
	while (f->value.len > 0 && (f->value.p[0] == ' ' || f->value.p[0] == '\t')) {
		f->value.p++;
		f->value.len--;
	}
	while (f->value.len > 0 &&
	       (f->value.p[f->value.len - 1] == ' ' || f->value.p[f->value.len - 1] == '\t'))
		f->value.len--;
	for (size_t i = 0; i < f->value.len; i++) {
		unsigned char c = (unsigned char)f->value.p[i];

		if ((c < ' ' && c != '\t') || c == 0x7f)
			return http_refuse(h, 400, "a control character in a field");
	}
	return 0;
}

const struct http_field *http_find(const struct http_head *h, const char *name)
{
	for (size_t i = 0; i < h->n; i++)
		if (http_slice_is(h->fields[i].name, name))
			return &h->fields[i];
	return NULL;
}

bool http_each_is(const struct http_head *h, const char *name, const char *value)
{
	for (size_t i = 0; i < h->n; i++)
		if (http_slice_is(h->fields[i].name, name) &&
		    !http_slice_is(h->fields[i].value, value))
			return false;
	return http_find(h, name) != NULL;
}

/* Calls for each element of a list such as "keep-alive, upgrade": is one of them that word? */
static bool http_list_has(struct http_slice list, const char *word)
{
	while (list.len > 0) {
		const char *comma = memchr(list.p, ',', list.len);
		struct http_slice item = {.p = list.p,
					  .len = comma ? (size_t)(comma - list.p) : list.len};
		size_t used = comma ? item.len + 1 : item.len;

		while (item.len > 0 && (item.p[0] == ' ' || item.p[0] == '\t')) {
			item.p++;
			item.len--;
		}
		while (item.len > 0 &&
		       (item.p[item.len - 1] == ' ' || item.p[item.len - 1] == '\t'))
			item.len--;
		if (http_slice_is(item, word))
			return true;
		list.p += used;
		list.len -= used;
	}
	return false;
}

static bool http_connection_has(const struct http_head *h, const char *word)
{
	for (size_t i = 0; i < h->n; i++)
		if (http_slice_is(h->fields[i].name, "connection") &&
		    http_list_has(h->fields[i].value, word))
			return true;
	return false;
}

bool http_is_hop(const struct http_head *h, struct http_slice name)
{
	static const char *const hops[] = {
		"connection",         "keep-alive", "proxy-connection", "proxy-authorization",
		"proxy-authenticate", "te",         "trailer",          "upgrade",
		"http2-settings",
	};
	char text[64];

	for (size_t i = 0; i < ARRAY_LEN(hops); i++)
		if (http_slice_is(name, hops[i]))
			return true;
	if (name.len >= sizeof(text))
		return false;
	memcpy(text, name.p, name.len);
	text[name.len] = '\0';
	/* A client must not have us drop what frames the message. */
	if (http_slice_is(name, "host") || http_slice_is(name, "content-length") ||
	    http_slice_is(name, "transfer-encoding"))
		return false;
	return http_connection_has(h, text);
}

static int http_length(struct http_slice s, struct http_head *h)
{
	uint64_t value = 0;

	if (s.len == 0 || s.len > 18)
		return http_refuse(h, 400, "a length that is none");
	for (size_t i = 0; i < s.len; i++) {
		if (!isdigit((unsigned char)s.p[i]))
			return http_refuse(h, 400, "a length that is none");
		value = value * 10 + (uint64_t)(s.p[i] - '0');
	}
	h->body = value ? HTTP_BODY_LENGTH : HTTP_BODY_NONE;
	h->body_len = value;
	return 0;
}

/* Does it look like a field that frames the message, to a server that turns names into variables: Content_Length? */
static bool http_is_disguised(struct http_slice name)
{
	static const char *const names[] = {"content-length", "transfer-encoding"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t n = 0;

		if (strlen(names[i]) != name.len || http_slice_is(name, names[i]))
			continue;
		while (n < name.len &&
		       (names[i][n] == '-' ? !isalnum((unsigned char)name.p[n])
					   : tolower((unsigned char)name.p[n]) == names[i][n]))
			n++;
		if (n == name.len)
			return true;
	}
	return false;
}

/* The fields that frame the message.  Each at most once. */
static int http_framing(struct http_head *h)
{
	bool has_length = false;
	bool has_coding = false;

	for (size_t i = 0; i < h->n; i++) {
		struct http_field *f = &h->fields[i];
		int r = 0;

		if (http_is_disguised(f->name))
			return http_refuse(h, 400, "a field like one that frames the message");
		if (http_slice_is(f->name, "content-length")) {
			if (has_length)
				return http_refuse(h, 400, "two lengths");
			has_length = true;
			r = http_length(f->value, h);
		} else if (http_slice_is(f->name, "transfer-encoding")) {
			if (has_coding)
				return http_refuse(h, 400, "two transfer codings");
			has_coding = true;
			if (!http_slice_is(f->value, "chunked"))
				return http_refuse(h, 501, "a transfer coding that is not chunked");
		}
		if (r < 0)
			return r;
	}
	if (has_coding && has_length)
		return http_refuse(h, 400, "a length beside a transfer coding");
	if (has_coding && h->minor == 0)
		return http_refuse(h, 400, "a transfer coding in HTTP/1.0");
	if (has_coding)
		h->body = HTTP_BODY_CHUNKED;
	h->is_kept = h->minor == 1 ? !http_connection_has(h, "close")
				   : http_connection_has(h, "keep-alive");
	return 0;
}

static int http_host_field(struct http_head *h)
{
	const struct http_field *host = http_find(h, "host");
	struct host said;

	if (!host)
		return h->minor == 1 ? http_refuse(h, 400, "no Host field") : 0;
	for (size_t i = (size_t)(host - h->fields) + 1; i < h->n; i++)
		if (http_slice_is(h->fields[i].name, "host"))
			return http_refuse(h, 400, "two Host fields");
	if (host_parse(host->value.p, host->value.len, HOST_PORT_ALLOWED | HOST_BRACKETS_REQUIRED,
		       &said, NULL) < 0)
		return http_refuse(h, 400, "a Host field that names no host");
	if (h->has_host) {
		uint16_t fallback = h->form == HTTP_AUTHORITY ? h->host.port : 80;
		uint16_t a = h->host.port ? h->host.port : 80;
		uint16_t b = said.port ? said.port : fallback;

		if (!host_equal(&said, &h->host) || a != b)
			return http_refuse(h, 400, "a Host field that is not the target's host");
		return 0;
	}
	h->host = said;
	h->has_host = true;
	return 0;
}

/* The first line and the fields.  1, 0 or -EBADMSG. */
static int http_read(const char *bytes, size_t len,
		     int first(struct http_slice, struct http_head *), struct http_head *h)
{
	struct http_slice line;
	size_t at = 0;
	int r;

	memset(h, 0, offsetof(struct http_head, fields));
	h->error = 0;
	r = http_line(bytes, len, &at, &line, h);
	if (r > 0)
		r = first(line, h) < 0 ? -EBADMSG : 1;
	while (r > 0) {
		r = http_line(bytes, len, &at, &line, h);
		if (r > 0 && line.len == 0)
			break;
		if (r > 0 && http_field_line(line, h) < 0)
			r = -EBADMSG;
	}
	if (r <= 0)
		return r;
	h->len = at;
	return http_framing(h) < 0 ? -EBADMSG : 1;
}

int http_request_parse(const char *bytes, size_t len, struct http_head *ret)
{
	const struct http_field *expect;
	int r = http_read(bytes, len, http_request_line, ret);

	if (r <= 0)
		return r;
	if (http_host_field(ret) < 0)
		return -EBADMSG;
	if (ret->form == HTTP_AUTHORITY && ret->body != HTTP_BODY_NONE)
		return http_refuse(ret, 400, "a body after CONNECT");
	expect = http_find(ret, "expect");
	if (expect && !http_slice_is(expect->value, "100-continue"))
		return http_refuse(ret, 417, "an expectation that is not 100-continue");
	ret->expects = expect != NULL;
	ret->is_upgrade = ret->minor == 1 && http_connection_has(ret, "upgrade") &&
			  http_find(ret, "upgrade");
	return 1;
}

int http_answer_parse(const char *bytes, size_t len, struct http_slice method,
		      struct http_head *ret)
{
	int r = http_read(bytes, len, http_status_line, ret);
	bool is_bodiless;

	if (r <= 0)
		return r;
	is_bodiless = ret->status < 200 || ret->status == 204 || ret->status == 304 ||
		      (method.len == 4 && memcmp(method.p, "HEAD", 4) == 0);
	if (is_bodiless)
		ret->body = HTTP_BODY_NONE;
	else if (ret->body == HTTP_BODY_NONE && !http_find(ret, "content-length"))
		ret->body = HTTP_BODY_CLOSE;
	if (ret->body == HTTP_BODY_CLOSE)
		ret->is_kept = false;
	ret->is_upgrade = ret->status == 101;
	return 1;
}

enum http_chunk_state {
	HTTP_CHUNK_SIZE,
	HTTP_CHUNK_SIZE_LF,
	HTTP_CHUNK_DATA,
	HTTP_CHUNK_DATA_CR,
	HTTP_CHUNK_DATA_LF,
	HTTP_CHUNK_TRAILER, /* at the start of a line */
	HTTP_CHUNK_FIELD,   /* inside one */
	HTTP_CHUNK_FIELD_LF,
	HTTP_CHUNK_LAST_LF,
};

#define HTTP_CHUNK_DIGITS 15
#define HTTP_TRAILER_MAX 8192

/* One byte outside the data.  1 at the end of the body, 0, or -EBADMSG. */
static int http_chunk_byte(struct http_chunks *c, char byte)
{
	switch ((enum http_chunk_state)c->state) {
	case HTTP_CHUNK_SIZE:
		if (isxdigit((unsigned char)byte) && c->digits < HTTP_CHUNK_DIGITS) {
			int digit = isdigit((unsigned char)byte) ? byte - '0'
								 : tolower(byte) - 'a' + 10;

			c->left = c->left << 4 | (uint64_t)digit;
			c->digits++;
			return 0;
		}
		if (byte != '\r' || c->digits == 0)
			return -EBADMSG; /* extensions too: nobody needs them, and readers differ */
		c->state = HTTP_CHUNK_SIZE_LF;
		return 0;
	case HTTP_CHUNK_SIZE_LF:
		c->digits = 0;
		c->state = c->left ? HTTP_CHUNK_DATA : HTTP_CHUNK_TRAILER;
		return byte == '\n' ? 0 : -EBADMSG;
	case HTTP_CHUNK_DATA_CR:
		c->state = HTTP_CHUNK_DATA_LF;
		return byte == '\r' ? 0 : -EBADMSG;
	case HTTP_CHUNK_DATA_LF:
		c->state = HTTP_CHUNK_SIZE;
		return byte == '\n' ? 0 : -EBADMSG;
	case HTTP_CHUNK_TRAILER:
		if (byte == '\r') {
			c->state = HTTP_CHUNK_LAST_LF;
			return 0;
		}
		c->state = HTTP_CHUNK_FIELD;
		return http_is_token_byte(byte) ? 0 : -EBADMSG;
	case HTTP_CHUNK_FIELD:
		if (++c->trailer > HTTP_TRAILER_MAX || byte == '\n' || byte == '\0')
			return -EBADMSG;
		if (byte == '\r')
			c->state = HTTP_CHUNK_FIELD_LF;
		return 0;
	case HTTP_CHUNK_FIELD_LF:
		c->state = HTTP_CHUNK_TRAILER;
		return byte == '\n' ? 0 : -EBADMSG;
	case HTTP_CHUNK_LAST_LF:
		return byte == '\n' ? 1 : -EBADMSG;
	case HTTP_CHUNK_DATA:
		break;
	}
	return -EBADMSG;
}

ssize_t http_chunks_take(struct http_chunks *c, const char *bytes, size_t len, bool *ret_done)
{
	return http_chunks_copy(c, bytes, len, /* data= */ NULL, ret_done);
}

ssize_t http_chunks_copy(struct http_chunks *c, const char *bytes, size_t len, struct buf *data,
			 bool *ret_done)
{
	size_t at = 0;

	*ret_done = false;
	while (at < len) {
		int r;

		if (c->state == HTTP_CHUNK_DATA) {
			size_t n = c->left < len - at ? (size_t)c->left : len - at;

			if (data)
				buf_add(data, bytes + at, n);
			at += n;
			c->left -= n;
			if (c->left == 0)
				c->state = HTTP_CHUNK_DATA_CR;
			continue;
		}
		r = http_chunk_byte(c, bytes[at++]);
		if (r < 0)
			return r;
		if (r > 0) {
			*ret_done = true;
			break;
		}
	}
	return (ssize_t)at;
}
