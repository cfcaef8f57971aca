/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation.  host_parse() refuses every byte that has no business in a host before it
 * looks for structure, so that nothing below ever sees a control, a blank, '%', '@', '/' or '\'.
 * Then it splits off the port, and the rest is an IPv6 address (it has a colon) or goes through
 * host_read_name(): IDNA if it is not ASCII, lower case, labels.  Whether a name is an IPv4
 * address is asked last, of the canonical form, so that full-width digits and dots of other
 * scripts cannot hide one.  ASCII never reaches libidn2.
 */
#include "net/host.h"

#include <assert.h>
#include <errno.h>
#include <idn2.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"

#define HOST_LABEL_MAX 63
#define HOST_SHOWN_BYTES 100 /* of the input, in messages */

static const char host_hint_quad[] =
	"write an IPv4 address as four decimal numbers without leading zeros, such as 192.0.2.1";
static const char host_hint_bare[] = "give the host alone, such as example.com or example.com:8443";

/* Why a host is refused; constant texts only. */
struct host_why {
	int code;
	const char *reason;
	const char *detail; /* in parentheses after the reason, may be NULL */
	const char *hint;
};

static int host_bad(struct host_why *why, const char *reason)
{
	*why = (struct host_why){.code = CORDON_E_INVALID, .reason = reason};
	return why->code;
}

static int host_bad_hint(struct host_why *why, const char *reason, const char *hint)
{
	*why = (struct host_why){.code = CORDON_E_INVALID, .reason = reason, .hint = hint};
	return why->code;
}

static int host_too_long(struct host_why *why, const char *reason)
{
	*why = (struct host_why){.code = CORDON_E_LIMIT, .reason = reason};
	return why->code;
}

/* "host '<escaped start of the text>': reason (detail)" */
static int host_raise(struct cordon_error *err, const char *text, size_t len,
		      const struct host_why *why)
{
	struct buf shown = BUF_INIT(HOST_SHOWN_BYTES * 16);

	if (err) {
		bool is_cut = len > HOST_SHOWN_BYTES;

		str_escape(&shown, text, is_cut ? HOST_SHOWN_BYTES : len);
		(void)cordon_fail(err, why->code, "host '%s%s': %s%s%s%s", buf_cstr(&shown),
				  is_cut ? "…" : "", why->reason, why->detail ? " (" : "",
				  why->detail ? why->detail : "", why->detail ? ")" : "");
		if (why->hint)
			(void)cordon_hint(err, why->code, "%s", why->hint);
		buf_done(&shown);
	}
	return why->code;
}

static bool host_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool host_is_hex(char c)
{
	return host_is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool host_is_alnum(char c)
{
	return host_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Refuses bytes that no host has, with a reason for those that attacks use. */
static int host_check_bytes(const char *text, size_t len, bool *ret_is_ascii, struct host_why *why)
{
	bool is_ascii = true;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c >= 0x80)
			is_ascii = false;
		else if (c == '\0')
			return host_bad(why, "a NUL byte");
		else if (c == ' ' || (c >= '\t' && c <= '\r'))
			return host_bad(why, "a blank or line break");
		else if (c < 0x20 || c == 0x7f)
			return host_bad(why, "a control character");
		else if (c == '%')
			return host_bad(why,
					"'%' (neither percent-encoding nor zone ids are accepted)");
		else if (c == '@')
			return host_bad_hint(why, "'@' (user names are not accepted)",
					     host_hint_bare);
		else if (c == '/')
			return host_bad_hint(why,
					     "'/' (a URL, path or network where a host is meant)",
					     host_hint_bare);
		else if (c == '\\')
			return host_bad(why, "a backslash");
		else if (c == '*')
			return host_bad(why, "'*' (a wildcard where one host is meant)");
		else if (!host_is_alnum((char)c) && !strchr(".-_:[]", c))
			return host_bad(why, "a character that host names do not have");
	}
	if (!is_ascii && !utf8_is_valid(text, len))
		return host_bad(why, "not valid UTF-8");
	*ret_is_ascii = is_ascii;
	return 0;
}

int host_parse_port(const char *text, size_t len, uint16_t *ret_port)
{
	unsigned port = 0;

	if (len == 0 || len > 5 || text[0] == '0')
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		if (!host_is_digit(text[i]))
			return -EINVAL;
		port = port * 10 + (unsigned)(text[i] - '0');
	}
	if (port > UINT16_MAX)
		return -EINVAL;
	*ret_port = (uint16_t)port;
	return 0;
}

/* The text in its parts; borrows. */
struct host_parts {
	const char *host;
	size_t host_len;
	const char *port; /* NULL: there was no colon for one */
	size_t port_len;
	bool is_v6;
};

static int host_split_bracketed(const char *text, size_t len, struct host_parts *ret,
				struct host_why *why)
{
	const char *close = memchr(text, ']', len);
	size_t after;

	if (!close)
		return host_bad(why, "'[' without ']'");
	*ret = (struct host_parts){
		.host = text + 1, .host_len = (size_t)(close - text) - 1, .is_v6 = true};
	after = len - (size_t)(close - text) - 1;
	if (after == 0)
		return 0;
	if (close[1] != ':')
		return host_bad(why, "only ':PORT' may follow ']'");
	ret->port = close + 2;
	ret->port_len = after - 1;
	return 0;
}

static int host_split(const char *text, size_t len, unsigned flags, struct host_parts *ret,
		      struct host_why *why)
{
	const char *colon;

	if (text[0] == '[')
		return host_split_bracketed(text, len, ret, why);
	if (memchr(text, '[', len) || memchr(text, ']', len))
		return host_bad(why, "brackets may only stand around an IPv6 address");
	*ret = (struct host_parts){.host = text, .host_len = len};
	colon = memchr(text, ':', len);
	if (!colon)
		return 0;
	if (memchr(colon + 1, ':', len - (size_t)(colon - text) - 1)) {
		if (flags & HOST_BRACKETS_REQUIRED)
			return host_bad_hint(why, "more than one ':' outside brackets",
					     "write an IPv6 address as [ADDRESS]");
		ret->is_v6 = true;
		return 0;
	}
	ret->host_len = (size_t)(colon - text);
	ret->port = colon + 1;
	ret->port_len = len - ret->host_len - 1;
	return 0;
}

static int host_read_port(const struct host_parts *parts, unsigned flags, struct host *h,
			  struct host_why *why)
{
	if (!parts->port) {
		if (flags & HOST_PORT_REQUIRED)
			return host_bad_hint(why, "a port is needed", "write HOST:PORT");
		return 0;
	}
	if (!(flags & (HOST_PORT_ALLOWED | HOST_PORT_REQUIRED)))
		return host_bad(why, "a port is not accepted here");
	if (host_parse_port(parts->port, parts->port_len, &h->port) < 0)
		return host_bad(why, "the port is not a plain number from 1 to 65535");
	return 0;
}

/* Non-ASCII to its ASCII form.  Writes at most size bytes with the NUL. */
static int host_to_ascii(const char *text, size_t len, char *dst, size_t size, size_t *ret_len,
			 struct host_why *why)
{
	uint8_t in[LIMIT_HOST_INPUT + 1];
	uint8_t *out = NULL;
	size_t out_len;
	int r;

	/* U+1E9E, capital sharp s: "ss" up to Unicode 15.0, a sharp s since; so two names. */
	if (memmem(text, len, "\xe1\xba\x9e", 3))
		return host_bad(why, "U+1E9E, which readers turn into different names");
	assert(len < sizeof(in));
	memcpy(in, text, len);
	in[len] = '\0';
	/* Not IDN2_USE_STD3_ASCII_RULES: libidn2 2.3.3 does not refuse what STD3 forbids, it leaves it
	 * out, so that a full-width percent sign between a and b gives "ab".  Without the flag such
	 * characters come out as they are, and host_check_label() enforces STD3. */
	r = idn2_lookup_u8(in, &out, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
	if (r != IDN2_OK) {
		bool is_nomem = r == IDN2_MALLOC;

		*why = (struct host_why){
			.code = is_nomem ? CORDON_E_NOMEM : CORDON_E_INVALID,
			.reason = is_nomem ? "out of memory" : "not a valid internationalised name",
			.detail = is_nomem ? NULL : idn2_strerror_name(r),
		};
		return why->code;
	}
	out_len = strlen((const char *)out);
	if (out_len < size)
		memcpy(dst, out, out_len + 1);
	idn2_free(out);
	if (out_len >= size)
		return host_too_long(why, "the name is longer than 253 bytes");
	*ret_len = out_len;
	return 0;
}

/* One label of a lower-case name. */
static int host_check_label(const char *label, size_t len, bool is_last, struct host_why *why)
{
	if (len == 0)
		return host_bad(why, "an empty label");
	if (len > HOST_LABEL_MAX)
		return host_too_long(why, "a label is longer than 63 bytes");
	if (label[0] == '-' || label[len - 1] == '-')
		return host_bad(why, "a label starts or ends with '-'");
	for (size_t i = 0; i < len; i++) {
		if (label[i] == '_' && is_last)
			return host_bad(why, "'_' in the last label");
		if (!host_is_alnum(label[i]) && label[i] != '-' && label[i] != '_')
			return host_bad(why, "a character that host names do not have");
	}
	return 0;
}

/* Would some reader of addresses take this label for a number? */
static bool host_is_number(const char *label, size_t len)
{
	bool is_hex = len >= 2 && label[0] == '0' && label[1] == 'x';

	for (size_t i = is_hex ? 2 : 0; i < len; i++)
		if (is_hex ? !host_is_hex(label[i]) : !host_is_digit(label[i]))
			return false;
	return len > 0;
}

/* Says which of the forms that inet_aton() would read this is.  The name is known to end in a
 * number and not to be a strict dotted quad. */
static int host_bad_number(const char *name, struct host_why *why)
{
	size_t labels = 0;
	bool is_octal = false;
	bool is_hex = false;
	bool is_mixed = false;

	for (const char *p = name; *p;) {
		size_t len = strcspn(p, ".");

		labels++;
		if (!host_is_number(p, len))
			is_mixed = true;
		else if (len >= 2 && p[1] == 'x')
			is_hex = true;
		else if (len >= 2 && p[0] == '0')
			is_octal = true;
		p += len + (p[len] == '.');
	}
	if (is_mixed)
		return host_bad(why, "a host name may not end in a number");
	if (is_hex)
		return host_bad_hint(why, "an address with a hexadecimal number", host_hint_quad);
	if (is_octal)
		return host_bad_hint(why, "an address with a leading zero (octal to some readers)",
				     host_hint_quad);
	if (labels == 1)
		return host_bad_hint(why, "an address as a single number", host_hint_quad);
	if (labels < 4)
		return host_bad_hint(why, "an address with fewer than four numbers",
				     host_hint_quad);
	return host_bad_hint(why,
			     labels > 4 ? "an address with more than four numbers"
					: "an address with a number above 255",
			     host_hint_quad);
}

/* Checks the labels of h->name and turns it into an address if it is one. */
static int host_read_labels(struct host *h, size_t len, struct host_why *why)
{
	const char *last = h->name;
	int r;

	for (size_t start = 0; start <= len;) {
		size_t label_len = strcspn(h->name + start, ".");
		bool is_last = start + label_len == len;

		r = host_check_label(h->name + start, label_len, is_last, why);
		if (r < 0)
			return r;
		last = h->name + start;
		start += label_len + 1;
	}
	h->kind = HOST_NAME;
	if (!host_is_number(last, strlen(last)))
		return 0;
	if (addr_parse(h->name, len, h->addr) < 0)
		return host_bad_number(h->name, why);
	h->kind = HOST_IPV4;
	return 0;
}

static int host_read_name(const struct host_parts *parts, bool is_ascii, struct host *h,
			  struct host_why *why)
{
	char name[LIMIT_HOST_BYTES + 2]; /* a final dot and the NUL */
	size_t len = parts->host_len;
	int r;

	if (len == 0)
		return host_bad(why, "no host before the port");
	if (!is_ascii) {
		r = host_to_ascii(parts->host, len, name, sizeof(name), &len, why);
		if (r < 0)
			return r;
	} else if (len >= sizeof(name)) {
		return host_too_long(why, "the name is longer than 253 bytes");
	} else {
		memcpy(name, parts->host, len);
	}
	if (len > 1 && name[len - 1] == '.')
		len--;
	if (len > LIMIT_HOST_BYTES)
		return host_too_long(why, "the name is longer than 253 bytes");
	for (size_t i = 0; i < len; i++)
		h->name[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] + ('a' - 'A'))
							      : name[i];
	return host_read_labels(h, len, why);
}

static int host_read_v6(const struct host_parts *parts, struct host *h, struct host_why *why)
{
	if (addr_parse(parts->host, parts->host_len, h->addr) < 0 ||
	    !memchr(parts->host, ':', parts->host_len))
		return host_bad(why, "not an IPv6 address");
	h->kind = addr_is_v4(h->addr) ? HOST_IPV4 : HOST_IPV6;
	addr_format(h->addr, h->name);
	return 0;
}

static int host_read(const char *text, size_t len, unsigned flags, struct host *h,
		     struct host_why *why)
{
	struct host_parts parts;
	bool is_ascii = true;
	int r;

	if (len == 0)
		return host_bad(why, "empty");
	if (len > LIMIT_HOST_INPUT)
		return host_too_long(why, "too long for a host");
	r = host_check_bytes(text, len, &is_ascii, why);
	if (r < 0)
		return r;
	r = host_split(text, len, flags, &parts, why);
	if (r < 0)
		return r;
	r = parts.is_v6 ? host_read_v6(&parts, h, why) : host_read_name(&parts, is_ascii, h, why);
	if (r < 0)
		return r;
	return host_read_port(&parts, flags, h, why);
}

int host_parse(const char *text, size_t len, unsigned flags, struct host *ret,
	       struct cordon_error *err)
{
	struct host_why why = {0};
	struct host h;

	memset(&h, 0, sizeof(h)); /* padding too: equal hosts have equal bytes */
	if (host_read(text, len, flags, &h, &why) < 0)
		return host_raise(err, text, len, &why);
	memcpy(ret, &h, sizeof(h));
	return 0;
}

bool host_equal(const struct host *a, const struct host *b)
{
	return a->kind == b->kind && strcmp(a->name, b->name) == 0;
}

bool host_is_below(const struct host *host, const struct host *base)
{
	size_t len = strlen(host->name);
	size_t base_len = strlen(base->name);

	if (host->kind != HOST_NAME || base->kind != HOST_NAME || len <= base_len + 1)
		return false;
	return host->name[len - base_len - 1] == '.' &&
	       memcmp(host->name + len - base_len, base->name, base_len) == 0;
}

void host_format(const struct host *host, char ret_text[static HOST_FORMAT_SIZE])
{
	const char *open = host->kind == HOST_IPV6 ? "[" : "";
	const char *close = host->kind == HOST_IPV6 ? "]" : "";
	int n;

	if (host->port)
		n = snprintf(ret_text, HOST_FORMAT_SIZE, "%s%s%s:%u", open, host->name, close,
			     (unsigned)host->port);
	else
		n = snprintf(ret_text, HOST_FORMAT_SIZE, "%s%s%s", open, host->name, close);
	assert(n > 0 && n < HOST_FORMAT_SIZE);
}
