/* SPDX-License-Identifier: Apache-2.0 */
/* See boundary.h. */
#include "proxy/boundary.h"

#include "base/glob.h"
#include "base/mem.h"
#include "base/parse.h"
#include "net/authority.h"
#include "proxy/form.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#define BOUNDARY_FORMS_EACH 48
#define BOUNDARY_ROOM ((size_t)BOUNDARY_VALUE_MAX * 8) /* for one form */
#define BOUNDARY_BASIC_MAX 16384                       /* bytes of credentials */
#define BOUNDARY_TAIL 32                               /* of a placeholder: its random part */

static const char boundary_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static const char boundary_lower[] = "0123456789abcdef";
static const char boundary_upper[] = "0123456789ABCDEF";

struct boundary_form {
	struct form form;
	char *bytes; /* of it */
	const struct boundary_secret *secret;
};

/* ---- ways to write a value ---- */

static void boundary_base64(const char *bytes, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		unsigned v = (unsigned)(unsigned char)bytes[i] << 16;

		if (n > 1)
			v |= (unsigned)(unsigned char)bytes[i + 1] << 8;
		if (n > 2)
			v |= (unsigned char)bytes[i + 2];
		buf_char(out, boundary_digits[v >> 18]);
		buf_char(out, boundary_digits[v >> 12 & 63]);
		buf_char(out, n > 1 ? boundary_digits[v >> 6 & 63] : '=');
		buf_char(out, n > 2 ? boundary_digits[v & 63] : '=');
	}
}

static void boundary_percent(const char *bytes, size_t len, const char *hex, struct buf *out)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c < 0x80 && (isalnum(c) || (c && strchr("-._~", c)))) {
			buf_char(out, (char)c);
			continue;
		}
		buf_char(out, '%');
		buf_char(out, hex[c >> 4]);
		buf_char(out, hex[c & 15]);
	}
}

static void boundary_json(const char *bytes, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c == '"' || c == '\\')
			buf_char(out, '\\');
		if (c < ' ')
			buf_printf(out, "\\u%04x", c);
		else
			buf_char(out, (char)c);
	}
}

/* ---- set-up ---- */

/* Takes a copy of the bytes. */
static int boundary_add_form(struct boundary *b, const struct boundary_secret *s, struct form form)
{
	struct boundary_form *to = &b->forms[b->n_forms];

	if (form.is_digits && form.len < BOUNDARY_FORM_MIN)
		return 0;
	for (size_t i = 0; i < b->n_forms; i++) {
		const struct form *f = &b->forms[i].form;

		if (f->len == form.len && f->is_digits == form.is_digits &&
		    f->is_hex == form.is_hex && f->escapes_percent == form.escapes_percent &&
		    f->escapes_ampersand == form.escapes_ampersand &&
		    f->escapes_backslash == form.escapes_backslash &&
		    memcmp(f->bytes, form.bytes, form.len) == 0)
			return 0;
	}
	if (b->n_forms == b->n * BOUNDARY_FORMS_EACH)
		return -EINVAL;
	to->bytes = malloc(form.len);
	if (!to->bytes)
		return -ENOMEM;
	memcpy(to->bytes, form.bytes, form.len);
	to->form = form;
	to->form.bytes = to->bytes;
	to->secret = s;
	b->n_forms++;
	return 0;
}

/* The value, once for each way in which its own '%', '\' and '&' can be meant; and backwards. */
static int boundary_add_value(struct boundary *b, const struct boundary_secret *s)
{
	bool has_percent = memchr(s->value, '%', s->value_len) != NULL;
	bool has_backslash = memchr(s->value, '\\', s->value_len) != NULL;
	bool has_ampersand = memchr(s->value, '&', s->value_len) != NULL;
	struct buf back = BUF_SECRET(BOUNDARY_VALUE_MAX);
	int r = 0;

	for (int i = 0; r == 0 && i < 8; i++)
		r = boundary_add_form(b, s,
				      (struct form){.bytes = s->value,
						    .len = s->value_len,
						    .escapes_percent = has_percent && i & 1,
						    .escapes_backslash = has_backslash && i & 2,
						    .escapes_ampersand = has_ampersand && i & 4});
	for (size_t i = s->value_len; i > 0; i--)
		buf_char(&back, s->value[i - 1]);
	if (r == 0)
		r = buf_error(&back) < 0
			    ? -ENOMEM
			    : boundary_add_form(b, s,
						(struct form){.bytes = back.data, .len = back.len});
	buf_done(&back);
	return r;
}

static int boundary_add_digits(struct boundary *b, const struct boundary_secret *s,
			       const struct buf *digits, bool is_hex)
{
	if (buf_error(digits) < 0)
		return -ENOMEM;
	if (digits->len == 0)
		return 0;
	return boundary_add_form(b, s,
				 (struct form){.bytes = digits->data,
					       .len = digits->len,
					       .is_digits = true,
					       .is_hex = is_hex});
}

static void boundary_hex(const struct buf *bytes, const char *digits, struct buf *ret)
{
	buf_clear(ret);
	for (size_t i = 0; i < bytes->len; i++) {
		buf_char(ret, digits[(unsigned char)bytes->data[i] >> 4]);
		buf_char(ret, digits[(unsigned char)bytes->data[i] & 15]);
	}
}

/* Base64 of bytes wherever they stand in what was encoded: the digits that depend on nothing else. */
static void boundary_inner(const struct buf *bytes, size_t offset, struct buf *ret)
{
	static const size_t first[] = {0, 2, 3};
	struct buf room = BUF_SECRET(BOUNDARY_ROOM);
	size_t last = (offset + bytes->len) * 8 / 6;

	buf_clear(ret);
	buf_add(&room, "\0\0", offset);
	buf_add(&room, bytes->data, bytes->len);
	boundary_base64(buf_cstr(&room), room.len, ret);
	if (buf_error(&room) < 0 && ret->error == 0)
		ret->error = -ENOMEM;
	if (buf_error(ret) == 0) {
		last = last > first[offset] ? last : first[offset];
		buf_truncate(ret, last);
		memmove(ret->data, ret->data + first[offset], last - first[offset]);
		buf_truncate(ret, last - first[offset]);
	}
	buf_done(&room);
}

/* Base64 of something that is a form already. */
static int boundary_add_outer(struct boundary *b, const struct boundary_secret *s,
			      const struct buf *inner)
{
	struct buf digits = BUF_SECRET(BOUNDARY_ROOM);
	int r = 0;

	for (size_t offset = 0; r == 0 && offset < 3; offset++) {
		boundary_inner(inner, offset, &digits);
		r = boundary_add_digits(b, s, &digits, /* is_hex= */ false);
	}
	buf_done(&digits);
	return r;
}

/* Base64 in one alphabet, and that in hex and in base64. */
static int boundary_add_64(struct boundary *b, const struct boundary_secret *s,
			   const struct buf *digits, bool is_twice)
{
	struct buf hex = BUF_SECRET(BOUNDARY_ROOM);
	int r = boundary_add_digits(b, s, digits, /* is_hex= */ false);

	if (r == 0 && is_twice && digits->len > 0) {
		boundary_hex(digits, boundary_lower, &hex);
		r = boundary_add_digits(b, s, &hex, /* is_hex= */ true);
		if (r == 0)
			r = boundary_add_outer(b, s, digits);
	}
	buf_done(&hex);
	return r;
}

/* Hex, and base64 of it. */
static int boundary_add_hex(struct boundary *b, const struct boundary_secret *s,
			    const struct buf *value, bool is_twice)
{
	struct buf hex = BUF_SECRET(BOUNDARY_ROOM);
	int r;

	boundary_hex(value, boundary_lower, &hex);
	r = boundary_add_digits(b, s, &hex, /* is_hex= */ true);
	if (r == 0 && is_twice)
		r = boundary_add_outer(b, s, &hex);
	boundary_hex(value, boundary_upper, &hex);
	if (r == 0 && is_twice)
		r = boundary_add_outer(b, s, &hex);
	buf_done(&hex);
	return r;
}

static int boundary_add(struct boundary *b, const struct boundary_secret *s)
{
	struct buf value = BUF_SECRET(BOUNDARY_ROOM);
	struct buf digits = BUF_SECRET(BOUNDARY_ROOM);
	/* In two codings at once, too: the forms of the longest value have half a mebibyte. */
	bool is_twice = s->value_len >= BOUNDARY_FORM_MIN;
	int r = boundary_add_value(b, s);

	buf_add(&value, s->value, s->value_len);
	if (r == 0 && buf_error(&value) < 0)
		r = -ENOMEM;
	for (size_t offset = 0; r == 0 && offset < 3; offset++) {
		boundary_inner(&value, offset, &digits);
		r = boundary_add_64(b, s, &digits, is_twice);
		for (size_t i = 0; i < digits.len; i++)
			digits.data[i] = digits.data[i] == '+'   ? '-'
					 : digits.data[i] == '/' ? '_'
								 : digits.data[i];
		if (r == 0)
			r = boundary_add_64(b, s, &digits, is_twice);
	}
	if (r == 0 && s->value_len >= BOUNDARY_FORM_MIN)
		r = boundary_add_hex(b, s, &value, is_twice);
	buf_done(&value);
	buf_done(&digits);
	return r;
}

/* Which forms are worth a look, by the byte that is there. */
static int boundary_index(struct boundary *b)
{
	size_t n = 0;

	for (int pass = 0; pass < 2; pass++) {
		n = 0;
		for (size_t c = 0; c < 256; c++) {
			b->start[c] = n;
			for (size_t i = 0; i < b->n_forms; i++) {
				if (!form_can_start(&b->forms[i].form, (char)c))
					continue;
				if (b->by_start)
					b->by_start[n] = (uint16_t)i;
				n++;
			}
		}
		b->start[256] = n;
		if (!b->by_start)
			b->by_start = calloc(n + 1, sizeof(*b->by_start));
		if (!b->by_start)
			return -ENOMEM;
	}
	return 0;
}

int boundary_make(const struct boundary_secret *secrets, size_t n, struct boundary *ret)
{
	int r = 0;

	*ret = (struct boundary){.secrets = secrets, .n = n};
	if (n > BOUNDARY_SECRETS_MAX)
		return -EINVAL;
	ret->forms = calloc(n * BOUNDARY_FORMS_EACH + 1, sizeof(*ret->forms));
	if (!ret->forms)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < n; i++) {
		size_t len = secrets[i].is_inside ? BOUNDARY_PLACEHOLDER_MIN
						  : strlen(secrets[i].placeholder);

		if (len < BOUNDARY_PLACEHOLDER_MIN || len > BOUNDARY_PLACEHOLDER_MAX ||
		    secrets[i].value_len == 0 || secrets[i].value_len > BOUNDARY_VALUE_MAX)
			return -EINVAL;
		r = boundary_add(ret, &secrets[i]);
	}
	return r < 0 ? r : boundary_index(ret);
}

void boundary_done(struct boundary *b)
{
	for (size_t i = 0; i < b->n_forms; i++) {
		explicit_bzero(b->forms[i].bytes, b->forms[i].form.len);
		free(b->forms[i].bytes);
	}
	free(b->forms);
	free(b->by_start);
	*b = (struct boundary){0};
}

/* ---- where ---- */

static bool boundary_has_hostrule(const struct boundary_secret *s, const struct host *host,
				  uint16_t port)
{
	for (size_t i = 0; i < s->n_hosts; i++)
		if (hostrule_match(&s->hosts[i], host, port))
			return true;
	return false;
}

bool boundary_has_host(const struct boundary *b, const struct host *host, uint16_t port)
{
	for (size_t i = 0; i < b->n; i++)
		if (!b->secrets[i].is_inside && boundary_has_hostrule(&b->secrets[i], host, port))
			return true;
	return false;
}

void boundary_passes(const struct boundary *b, const struct host *host, uint16_t port, bool *ret)
{
	for (size_t i = 0; i < b->n; i++)
		ret[i] = boundary_has_hostrule(&b->secrets[i], host, port);
}

bool boundary_is_narrow(const struct boundary *b, const struct host *host, uint16_t port)
{
	for (size_t i = 0; i < b->n; i++)
		if (!b->secrets[i].is_inside && (b->secrets[i].methods || b->secrets[i].paths) &&
		    boundary_has_hostrule(&b->secrets[i], host, port))
			return true;
	return false;
}

bool boundary_is_bound(const struct boundary_secret *s, const struct host *host, uint16_t port,
		       const char *method, const char *path)
{
	char clean[AUTHORITY_PATH_MAX];
	bool is_listed;

	if (s->is_inside || !boundary_has_hostrule(s, host, port))
		return false;
	is_listed = !s->methods;
	for (size_t i = 0; s->methods && s->methods[i] && !is_listed; i++)
		is_listed = authority_is_method(s->methods[i], method);
	if (!is_listed || !s->paths)
		return is_listed;
	if (!authority_path(path, clean))
		return false;
	for (size_t i = 0; s->paths[i]; i++)
		if (glob_match(s->paths[i], clean))
			return true;
	return false;
}

/* ---- placeholders ---- */

/* The secret whose placeholder is at this place. */
static const struct boundary_secret *boundary_at(const struct boundary *b, const char *bytes,
						 size_t len, size_t *ret_index)
{
	const struct boundary_secret *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < b->n; i++) {
		size_t n = b->secrets[i].is_inside ? 0 : strlen(b->secrets[i].placeholder);

		if (n > longest && n <= len && memcmp(bytes, b->secrets[i].placeholder, n) == 0) {
			found = &b->secrets[i];
			longest = n;
			if (ret_index)
				*ret_index = i;
		}
	}
	return found;
}

const struct boundary_secret *boundary_find(const struct boundary *b, const char *bytes, size_t len)
{
	for (size_t i = 0; i < b->n; i++) {
		const char *p = b->secrets[i].placeholder;

		if (!b->secrets[i].is_inside && memmem(bytes, len, p, strlen(p)))
			return &b->secrets[i];
	}
	return NULL;
}

const struct boundary_secret *boundary_find_name(const struct boundary *b, const char *name)
{
	char plain[HOST_TEXT_SIZE];
	size_t n = 0;

	for (; *name && n + 1 < sizeof(plain); name++)
		if (*name != '.')
			plain[n++] = (char)tolower((unsigned char)*name);
	plain[n] = '\0';
	for (size_t i = 0; i < b->n; i++) {
		const char *p = b->secrets[i].placeholder;
		size_t len;

		if (b->secrets[i].is_inside)
			continue;
		len = strlen(p);
		/* All of it does not fit into a label. */
		if (strcasestr(plain, len > BOUNDARY_TAIL ? p + len - BOUNDARY_TAIL : p))
			return &b->secrets[i];
	}
	return NULL;
}

static bool boundary_has_control(const struct boundary_secret *s)
{
	for (size_t i = 0; i < s->value_len; i++)
		if ((unsigned char)s->value[i] < ' ' || s->value[i] == 0x7f)
			return true;
	return false;
}

static bool boundary_write(const struct boundary_secret *s, enum boundary_place place,
			   struct buf *out)
{
	switch (place) {
	case BOUNDARY_QUERY:
		boundary_percent(s->value, s->value_len, "0123456789ABCDEF", out);
		return true;
	case BOUNDARY_JSON:
		boundary_json(s->value, s->value_len, out);
		return true;
	case BOUNDARY_BODY:
		buf_add(out, s->value, s->value_len);
		return true;
	case BOUNDARY_FIELD:
	case BOUNDARY_BASIC:
	case BOUNDARY_PLACE_COUNT:
		break;
	}
	if (boundary_has_control(s))
		return false;
	buf_add(out, s->value, s->value_len);
	return true;
}

int boundary_put(const struct boundary *b, const bool *is_allowed, enum boundary_place place,
		 const char *bytes, size_t len, struct buf *out,
		 const struct boundary_secret **ret_who)
{
	int count = 0;
	size_t done = 0;

	for (size_t i = 0; i < len; i++) {
		size_t index = 0;
		const struct boundary_secret *s = boundary_at(b, bytes + i, len - i, &index);

		if (!s)
			continue;
		*ret_who = s;
		if (!is_allowed[index])
			return -EACCES;
		/* In credentials a colon ends the name. */
		if (place == BOUNDARY_BASIC && memchr(s->value, ':', s->value_len) &&
		    memchr(bytes + i, ':', len - i))
			return -EINVAL;
		buf_add(out, bytes + done, i - done);
		if (!boundary_write(s, place, out))
			return -EINVAL;
		i += strlen(s->placeholder) - 1;
		done = i + 1;
		count++;
	}
	buf_add(out, bytes + done, len - done);
	return count;
}

/* Decodes whole base64; false when it is none. */
static bool boundary_decode(const char *text, size_t len, struct buf *out)
{
	unsigned bits = 0;
	unsigned have = 0;

	while (len > 0 && text[len - 1] == '=')
		len--;
	for (size_t i = 0; i < len; i++) {
		int digit = parse_base64_digit(text[i]);

		if (digit < 0)
			return false;
		bits = bits << 6 | (unsigned)digit;
		have += 6;
		if (have >= 8) {
			have -= 8;
			buf_char(out, (char)(bits >> have & 0xff));
		}
	}
	return buf_error(out) == 0;
}

/* "Basic abcd": the credentials inside.  As boundary_put(). */
static int boundary_put_basic(const struct boundary *b, const bool *is_allowed, const char *text,
			      size_t len, struct buf *out, const struct boundary_secret **ret_who)
{
	struct buf plain = BUF_SECRET(BOUNDARY_BASIC_MAX);
	struct buf put = BUF_SECRET((size_t)BOUNDARY_BASIC_MAX * 4);
	int r = 0;

	if (boundary_decode(text, len, &plain) && plain.len > 0)
		r = boundary_put(b, is_allowed, BOUNDARY_BASIC, plain.data, plain.len, &put,
				 ret_who);
	if (r > 0 && buf_error(&put) == 0)
		boundary_base64(put.data, put.len, out);
	else if (r > 0)
		r = -EINVAL;
	buf_done(&plain);
	buf_done(&put);
	return r;
}

int boundary_put_field(const struct boundary *b, const bool *is_allowed, const char *value,
		       size_t len, struct buf *out, const struct boundary_secret **ret_who)
{
	static const char basic[] = "basic ";
	size_t skip = sizeof(basic) - 1;

	if (len > skip && strncasecmp(value, basic, skip) == 0) {
		size_t before = out->len;
		int r;

		while (skip < len && value[skip] == ' ')
			skip++;
		buf_add(out, value, skip);
		r = boundary_put_basic(b, is_allowed, value + skip, len - skip, out, ret_who);
		if (r != 0)
			return r;
		buf_truncate(out, before); /* nothing in it */
	}
	return boundary_put(b, is_allowed, BOUNDARY_FIELD, value, len, out, ret_who);
}

const struct boundary_secret *boundary_scan(const struct boundary *b, struct boundary_scan *s,
					    const char *bytes, size_t len)
{
	char joined[2 * BOUNDARY_PLACEHOLDER_MAX];
	size_t some = len < BOUNDARY_PLACEHOLDER_MAX ? len : BOUNDARY_PLACEHOLDER_MAX;
	const struct boundary_secret *found;

	/* What lies across the seam, then what lies behind it. */
	memcpy(joined, s->last, s->len);
	memcpy(joined + s->len, bytes, some);
	found = boundary_find(b, joined, s->len + some);
	if (!found && len > some)
		found = boundary_find(b, bytes, len);
	if (len >= sizeof(s->last)) {
		memcpy(s->last, bytes + len - sizeof(s->last), sizeof(s->last));
		s->len = sizeof(s->last);
	} else {
		size_t all = s->len + len;
		size_t kept = all < sizeof(s->last) ? all : sizeof(s->last);

		memcpy(s->last, joined + all - kept, kept);
		s->len = kept;
	}
	return found;
}

/* ---- values ---- */

/* What is at this place: the bytes of the longest form, 0, or -EAGAIN when more bytes may make one.  skips: those that
 * are not looked for, or NULL. */
static ssize_t boundary_form_at(const struct boundary *b, const bool *skips, const char *bytes,
				size_t len, bool is_end, const struct boundary_secret **ret)
{
	ssize_t found = 0;

	for (size_t i = b->start[(unsigned char)*bytes]; i < b->start[(unsigned char)*bytes + 1];
	     i++) {
		const struct boundary_form *f = &b->forms[b->by_start[i]];
		ssize_t n = skips && skips[f->secret - b->secrets]
				    ? 0
				    : form_match(&f->form, bytes, len);

		if (n < 0 && !is_end)
			return n;
		if (n >= BOUNDARY_FORM_MIN && n > found) {
			found = n;
			*ret = f->secret;
		}
	}
	return found;
}

static void boundary_hide(const struct boundary_secret *s, size_t n, bool keeps_length,
			  bool is_noted, struct buf *out)
{
	const char *p = is_noted || s->is_inside ? "" : s->placeholder;
	size_t len = strlen(p);

	if (!keeps_length) {
		buf_add(out, p, len);
		return;
	}
	for (size_t i = 0; i < n; i++)
		buf_char(out, i < len ? p[i] : '*');
}

int boundary_redact(const struct boundary *b, struct boundary_stream *s, const char *bytes,
		    size_t len, bool is_end, bool keeps_length, struct buf *out)
{
	size_t done = 0;
	size_t i = 0;
	int count = 0;

	buf_add(&s->held, bytes, len);
	if (buf_error(&s->held) < 0)
		return -ENOMEM;
	if (s->held.len == 0)
		return 0;
	while (i < s->held.len) {
		const struct boundary_secret *who = NULL;
		ssize_t r = boundary_form_at(b, s->passes, s->held.data + i, s->held.len - i,
					     is_end, &who);

		if (r < 0)
			break;
		if (r == 0) {
			i++;
			continue;
		}
		buf_add(out, s->held.data + done, i - done);
		boundary_hide(who, (size_t)r, keeps_length, s->note != NULL, out);
		if (s->note)
			s->note(s->data, who);
		i += (size_t)r;
		done = i;
		count++;
	}
	buf_add(out, s->held.data + done, i - done);
	memmove(s->held.data, s->held.data + i, s->held.len - i);
	buf_truncate(&s->held, s->held.len - i);
	return buf_error(out) < 0 ? -ENOMEM : count;
}

void boundary_stream_done(struct boundary_stream *s)
{
	buf_done(&s->held);
}

bool boundary_has(const struct boundary *b, const bool *wanted, const char *bytes, size_t len)
{
	bool skips[BOUNDARY_SECRETS_MAX];
	const struct boundary_secret *who;

	for (size_t i = 0; i < b->n; i++)
		skips[i] = !wanted[i];
	if (boundary_find(b, bytes, len))
		return true;
	for (size_t i = 0; i < len; i++)
		if (boundary_form_at(b, skips, bytes + i, len - i, /* is_end= */ true, &who) > 0)
			return true;
	return false;
}
