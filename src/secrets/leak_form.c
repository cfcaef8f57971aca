/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See leak_form.h.  Values that are variables, templates or stand-ins are left alone by all of them.
 */
#include "secrets/leak_form.h"

#include "base/json_check.h"
#include "base/limits.h"
#include "base/mem.h"
#include "secrets/leak.h"
#include "secrets/name.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
	FORM_SCHEME_MAX = 24,  /* letters of the name of a scheme of authorization */
	FORM_PASSWORD_MIN = 4, /* a shorter one is no password */
};

static bool form_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Ends a value that is not quoted. */
static const bool form_ends_value[256] = {
	[' '] = true, ['\t'] = true, ['\n'] = true, ['\r'] = true, ['\v'] = true, ['\f'] = true,
	['"'] = true, ['\''] = true, ['`'] = true,  [','] = true,  [';'] = true,  ['<'] = true,
	['>'] = true, ['&'] = true,  [')'] = true,  [']'] = true,  ['}'] = true,  ['|'] = true,
};

bool leak_value(const struct leak_text *t, size_t at, size_t *ret_start, size_t *ret_end,
		bool *ret_is_quoted)
{
	const char *p = t->text;
	size_t end = t->end, n;
	char quote = 0;

	while (at < end && form_is_blank(p[at]))
		at++;
	/* b'...' and @"..." */
	if (at + 1 < end && leak_is_any(p[at], "@bBuUrRL") &&
	    (p[at + 1] == '"' || p[at + 1] == '\''))
		at++;
	/* \" of a string in a string */
	if (at + 1 < end && p[at] == '\\' && (p[at + 1] == '"' || p[at + 1] == '\''))
		at++;
	if (at < end && (p[at] == '"' || p[at] == '\'' || p[at] == '`'))
		quote = p[at++];
	for (n = at; n < end; n++) {
		if (n - at > LIMIT_LEAK_VALUE)
			return false;
		if (quote ? p[n] == quote || (p[n] == '\\' && n + 1 < end && p[n + 1] == quote)
			  : form_ends_value[(unsigned char)p[n]])
			break;
		/* a line's end in a string that holds a whole file */
		if (p[n] == '\\' && n + 1 < end && !quote && leak_is_any(p[n + 1], "nr"))
			break;
		if (p[n] == '\\' && n + 1 < end && !quote)
			n++;
	}
	if (n > end)
		n = end;
	if (n == at || (quote && n == end))
		return false;
	*ret_start = at;
	*ret_end = n;
	*ret_is_quoted = quote;
	return true;
}

static bool form_set(struct leak_hit *hit, size_t start, size_t end, double confidence)
{
	hit->start = start;
	hit->end = end;
	hit->confidence = confidence;
	return true;
}

/* How many characters of base64 follow, over blanks, line ends and their escaped forms. */
static size_t form_body(const char *p, size_t len, size_t *ret_bytes)
{
	size_t n = 0, count = 0;

	while (n < len) {
		if (p[n] == '\\' && n + 1 < len && leak_is_any(p[n + 1], "nrt\\"))
			n += 2;
		else if (isalnum((unsigned char)p[n]) || p[n] == '+' || p[n] == '/' || p[n] == '=')
			n++, count++;
		else if (isspace((unsigned char)p[n]) || leak_is_any(p[n], "\"',+#>"))
			n++;
		else
			break;
	}
	*ret_bytes = n;
	return count;
}

/* -----BEGIN [...] PRIVATE KEY[ BLOCK]-----, a body, and the end line when it is in sight. */
bool form_pem(const struct leak_text *t, struct leak_hit *hit)
{
	const char *p = t->text + t->at, *dashes, *end;
	size_t len = t->len - t->at, label, from, body = 0, count;
	bool is_encrypted;

	dashes = memmem(p, len < 64 ? len : 64, "-----", 5);
	if (!dashes)
		return false;
	label = (size_t)(dashes - p);
	if (!memmem(p, label, "PRIVATE KEY", 11) && !memmem(p, label, "OpenVPN Static key", 18))
		return false;
	from = label + 5;
	/* "Proc-Type: 4,ENCRYPTED" and its kind end with an empty line. */
	end = memmem(p + from, len - from, "-----END", 8);
	is_encrypted = memmem(p, end ? (size_t)(end - p) : len, "ENCRYPTED", 9);
	if (is_encrypted || memmem(p, label, "PGP", 3)) {
		size_t head = (end ? (size_t)(end - p) : len) - from;
		const char *empty = memmem(p + from, head, "\n\n", 2);

		from = empty ? (size_t)(empty - p) : from;
	}
	count = form_body(p + from, len - from, &body);
	if (count < 48 || (end && end < p + from))
		return false;
	/* A stand-in is one word repeated. */
	if (leak_entropy(p + from, body < 256 ? body : 256) < 3)
		return false;
	from += body;
	if (end && (size_t)(end - p) >= from - 8) {
		size_t left;

		from = (size_t)(end - p) + 8;
		left = len - from < 64 ? len - from : 64;
		end = memchr(p + from, '\n', left);
		dashes = memmem(p + from, end ? (size_t)(end - p) - from : left, "-----", 5);
		from = dashes ? (size_t)(dashes - p) + 5 : from;
	}
	return form_set(hit, t->at - strlen("-----BEGIN "), t->at + from,
			is_encrypted ? 0.85 : 0.98);
}

bool form_pem_base64(const struct leak_text *t, struct leak_hit *hit)
{
	size_t start = t->at - strlen("LS0tLS1CRUdJTi"), n = t->at;
	char head[64];

	if (!memmem(head, leak_base64(t->text + start, t->len - start, head, sizeof(head)),
		    "PRIVATE", 7))
		return false;
	while (n < t->len && (isalnum((unsigned char)t->text[n]) || leak_is_any(t->text[n], "+/=")))
		n++;
	return n - start >= 80 && form_set(hit, start, n, 0.95);
}

bool form_putty(const struct leak_text *t, struct leak_hit *hit)
{
	size_t n = t->at;

	while (n < t->end && !isspace((unsigned char)t->text[n]))
		n++;
	return n - t->at >= 6 && form_set(hit, t->at, n, 0.85);
}

static size_t form_segment(const struct leak_text *t, size_t at, size_t max)
{
	size_t n = at;

	while (n < t->end && n - at < max &&
	       (isalnum((unsigned char)t->text[n]) || t->text[n] == '_' || t->text[n] == '-'))
		n++;
	return n;
}

/* Is the segment the base64 of a JSON object? */
static bool form_is_json(const char *s, size_t len)
{
	char out[LIMIT_LEAK_JSON];
	size_t n = leak_base64(s, len, out, sizeof(out));

	return n >= 2 && n < sizeof(out) && out[0] == '{' && json_check(out, n) == 0;
}

bool form_jwt(const struct leak_text *t, struct leak_hit *hit)
{
	size_t start = t->at - 11, head, body, sign;

	if (start > 0 && isalnum((unsigned char)t->text[start - 1]))
		return false;
	head = form_segment(t, start, LIMIT_LEAK_VALUE);
	if (head + 10 >= t->end || t->text[head] != '.' || t->text[head + 1] != 'e')
		return false;
	if (!form_is_json(t->text + start, head - start))
		return false;
	body = form_segment(t, head + 1, 2 * LIMIT_LEAK_JSON);
	if (!form_is_json(t->text + head + 1, body - head - 1))
		return false;
	sign = body < t->end && t->text[body] == '.' ? form_segment(t, body + 1, LIMIT_LEAK_VALUE)
						     : body;
	return form_set(hit, start, sign, sign > body + 20 ? 0.9 : 0.75);
}

bool form_discord(const struct leak_text *t, struct leak_hit *hit)
{
	size_t dot = t->at - 35, start = dot, end = t->at;

	while (start > 0 && isalnum((unsigned char)t->text[start - 1]) && dot - start < 27)
		start--;
	while (end < t->end && end - t->at < 12 &&
	       (isalnum((unsigned char)t->text[end]) || leak_is_any(t->text[end], "_-")))
		end++;
	if (dot - start < 24 || dot - start > 26 || (end != t->at && end != t->at + 11) ||
	    !leak_is_any(t->text[start], "MNOA"))
		return false;
	return leak_entropy(t->text + start, end - start) >= 4 && form_set(hit, start, end, 0.92);
}

bool form_truenas(const struct leak_text *t, struct leak_hit *hit)
{
	size_t start = t->at - 66;

	while (start > 0 && isdigit((unsigned char)t->text[start - 1]) && t->at - start < 70)
		start--;
	if ((start > 0 && isalnum((unsigned char)t->text[start - 1])) ||
	    (t->at < t->end && isalnum((unsigned char)t->text[t->at])))
		return false;
	return leak_entropy(t->text + t->at - 64, 64) >= 4.5 && form_set(hit, start, t->at, 0.75);
}

/* scheme://user:password@host; the place is behind the @. */
bool form_url(const struct leak_text *t, struct leak_hit *hit)
{
	const char *p = t->text, *colon;
	size_t at = t->at - 1, start, len, user;
	bool is_stock;

	/* The @ may be the last byte that there is. */
	if (at < t->line + 3)
		return false;
	start = at - 3;
	while (start > t->line && memcmp(p + start, "://", 3) != 0)
		start--;
	colon = memchr(p + start + 3, ':', at - start - 3);
	if (!colon || t->at >= t->end || !isalnum((unsigned char)p[t->at]))
		return false;
	start = (size_t)(colon - p) + 1;
	len = at - start;
	if (len < 3 || leak_is_any(p[start], "${%:*"))
		return false;
	for (size_t i = start; i < at; i++)
		if (leak_is_any(p[i], "`\\,;|()[]") || (p[i] == '*' && p[i + 1] == '*'))
			return false;
	is_stock = leak_is_stock_word(p + start, len);
	if (!is_stock && leak_is_placeholder(p + start, len))
		return false;
	/* user:password@ is what documents write. */
	user = start - 1;
	while (user > t->line && p[user - 1] != '/')
		user--;
	if (is_stock && leak_is_stock_word(p + user, start - 1 - user))
		return form_set(hit, start, at, LEAK_NOTICE);
	return form_set(hit, start, at,
			is_stock                         ? 0.3
			: leak_is_strong(p + start, len) ? 0.8
							 : 0.5);
}

/* user:password in base64, as Basic has it. */
static bool form_is_basic(const char *s, size_t len)
{
	char out[256];
	size_t n = leak_base64(s, len, out, sizeof(out)), odd = 0;

	if (n < 4 || !memchr(out, ':', n))
		return false;
	for (size_t i = 0; i < n; i++)
		odd += !isprint((unsigned char)out[i]);
	return odd * 8 <= n;
}

/* The value of a header or a scheme, from at. */
static bool form_credential(const struct leak_text *t, size_t at, bool is_basic,
			    struct leak_hit *hit)
{
	const char *p = t->text;
	size_t n = at;
	bool is_uuid;

	while (n < t->end && n - at <= LIMIT_LEAK_VALUE &&
	       (isalnum((unsigned char)p[n]) || leak_is_any(p[n], "+/=_-.~:|")))
		n++;
	if (n - at > LIMIT_LEAK_VALUE)
		return false;
	if (is_basic)
		return n - at >= 8 && form_is_basic(p + at, n - at) && form_set(hit, at, n, 0.75);
	is_uuid = leak_is_uuid(p + at, n - at);
	if (n - at < 20 || (!is_uuid && leak_is_placeholder(p + at, n - at)))
		return false;
	return (is_uuid || leak_is_random(p + at, n - at)) && form_set(hit, at, n, 0.7);
}

static bool form_skip_word(const struct leak_text *t, size_t *at, const char *word)
{
	size_t n = strlen(word);

	if (*at + n >= t->end || strncasecmp(t->text + *at, word, n) != 0)
		return false;
	*at += n;
	return true;
}

/* Bearer, token, ApiKey and what else providers call their own. */
static size_t form_skip_scheme(const struct leak_text *t, size_t at)
{
	size_t n = at;

	while (n < t->end && n - at <= FORM_SCHEME_MAX &&
	       (isalpha((unsigned char)t->text[n]) || t->text[n] == '-'))
		n++;
	return n > at && n < t->end && t->text[n] == ' ' ? n + 1 : at;
}

/* Authorization: Bearer VALUE, Basic VALUE, token VALUE or VALUE. */
bool form_authorization(const struct leak_text *t, struct leak_hit *hit)
{
	size_t at = t->at;
	bool has_sign = false, is_basic;

	for (; at < t->end &&
	       (form_is_blank(t->text[at]) || leak_is_any(t->text[at], "\"'\\:=,>[]("));
	     at++)
		/* A quote is one where a server is told which header to send on. */
		has_sign |= leak_is_any(t->text[at], ":=,\"");
	if (!has_sign)
		return false;
	is_basic = form_skip_word(t, &at, "Basic ");
	if (!is_basic)
		at = form_skip_scheme(t, at);
	while (at < t->end && form_is_blank(t->text[at]))
		at++;
	return form_credential(t, at, is_basic, hit);
}

bool form_bearer(const struct leak_text *t, struct leak_hit *hit)
{
	return form_credential(t, t->at, false, hit);
}

/* Is one of the words, parted by commas, on this line before the place? */
static bool form_line_has(const struct leak_text *t, const char *word)
{
	return name_has(t->text + t->line, t->at - t->line, word);
}

static bool form_password(const char *s, size_t len, bool is_sure, struct leak_hit *hit, size_t at)
{
	if (len < FORM_PASSWORD_MIN || len > 200 || leak_is_placeholder(s, len) ||
	    leak_is_stock_word(s, len))
		return false;
	if (leak_is_strong(s, len))
		return form_set(hit, at, at + len, 0.6);
	return is_sure && form_set(hit, at, at + len, 0.35);
}

bool form_curl(const struct leak_text *t, struct leak_hit *hit)
{
	size_t start, end, colon, user;
	bool is_quoted;
	const char *p;

	if (!leak_value(t, t->at, &start, &end, &is_quoted))
		return false;
	p = memchr(t->text + start, ':', end - start);
	if (!p)
		return false;
	colon = (size_t)(p - t->text);
	user = colon - start;
	/* Many programs have a -u; what a machine made is a password for any of them. */
	if (!form_line_has(t, "curl") && !form_line_has(t, "http"))
		return user > 0 && !memchr(t->text + start, ' ', end - start) &&
		       !memchr(t->text + start, '/', end - start) &&
		       leak_is_random(t->text + colon + 1, end - colon - 1) &&
		       form_password(t->text + colon + 1, end - colon - 1, false, hit, colon + 1);
	if (leak_is_placeholder(t->text + start, user) &&
	    !leak_is_strong(t->text + colon + 1, end - colon - 1))
		return false;
	if (end - colon <= 1) /* the key as the user, without a password */
		return form_password(t->text + start, user, false, hit, start);
	return form_password(t->text + colon + 1, end - colon - 1, is_quoted, hit, colon + 1);
}

/* Programs whose -p or -password is one. */
static const char *const form_tools[] = {
	"psexec", "sshpass",  "docker login", "viserver", "net use",      "mysql",
	"mongo",  "ldap",     "rdesktop",     "curl",     "podman login", "helm registry login",
	"plink",  "az login", "cf login",     "oc login", "sqlcmd",       "snowsql"};

/* Is one of those on the line before the place? */
static bool form_has_tool(const struct leak_text *t)
{
	for (size_t i = 0; i < ARRAY_LEN(form_tools); i++)
		if (form_line_has(t, form_tools[i]))
			return true;
	return false;
}

bool form_option(const struct leak_text *t, struct leak_hit *hit)
{
	char last = t->text[t->at - 2];
	bool is_known, is_quoted;
	size_t start, end;

	/* What costs least is asked first: most places are options of other programs.  -P is another one, too. */
	if ((last == 'P' && !form_line_has(t, "sqlcmd")) || last == 'W' ||
	    !leak_value(t, t->at, &start, &end, &is_quoted) || t->text[start] == '-' ||
	    end - start < FORM_PASSWORD_MIN || memchr(t->text + start, '/', end - start))
		return false;
	if (last == 'w' && t->text[t->at - 3] == '-' && !form_line_has(t, "ldap"))
		return false;
	/* openssl's word for where the password stands */
	if (name_has(t->text + start, end - start < 6 ? end - start : 6, "file:") ||
	    name_has(t->text + start, end - start < 6 ? end - start : 6, "env:") ||
	    name_has(t->text + start, end - start < 6 ? end - start : 6, "stdin"))
		return false;
	is_known = form_has_tool(t);
	if ((last == 'p' || last == 'P' || last == 'w') && !is_known) /* as most -p are */
		return false;
	if (is_known && leak_is_stock_word(t->text + start, end - start))
		return form_set(hit, start, end, LEAK_NOTICE);
	return form_password(t->text + start, end - start, is_known, hit, start);
}

/* echo VALUE | sudo -S: the place is behind the option. */
bool form_piped(const struct leak_text *t, struct leak_hit *hit)
{
	const char *bar = memrchr(t->text + t->line, '|', t->at - t->line);
	struct leak_text own = *t;
	size_t at = bar ? (size_t)(bar - t->text) : t->line, start, end;
	bool is_quoted;

	own.end = at;
	while (at > t->line && strncasecmp(t->text + at, "echo ", 5) != 0)
		at--;
	if (at + 5 > own.end || strncasecmp(t->text + at, "echo ", 5) != 0 ||
	    !leak_value(&own, at + 5, &start, &end, &is_quoted) || t->text[start] == '-')
		return false;
	return form_password(t->text + start, end - start, is_quoted, hit, start);
}

/* password VALUE on a line of its own, as the files of netrc and of mail programs have it: the machine stands before. */
bool form_netrc(const struct leak_text *t, struct leak_hit *hit)
{
	struct leak_text own = *t;

	own.at--;
	return (memmem(t->text, t->line, "machine ", 8) ||
		memmem(t->text, t->line, "\nhost ", 6)) &&
	       form_word(&own, hit);
}

/* The private part of a JSON web key; the kind of key stands before it. */
bool form_jwk(const struct leak_text *t, struct leak_hit *hit)
{
	const char *p = t->text;
	size_t start = t->at, end = t->at;

	while (start > t->line && p[start - 1] != '"')
		start--;
	while (end < t->end && p[end] != '"')
		end++;
	return memmem(p, t->end, "\"kty\"", 5) && end - start <= LIMIT_LEAK_VALUE &&
	       leak_entropy(p + start, end - start) >= 4 && form_set(hit, start, end, 0.95);
}

/* Behind a quote that is open: up to its end. */
bool form_prose(const struct leak_text *t, struct leak_hit *hit)
{
	char quote = t->text[t->at - 1];
	const char *end = memchr(t->text + t->at, quote, t->end - t->at);
	size_t len;

	if (!end)
		return false;
	len = (size_t)(end - t->text) - t->at;
	if (len < 4 || len > 64 || memchr(t->text + t->at, ' ', len) ||
	    leak_is_placeholder(t->text + t->at, len))
		return false;
	return form_set(hit, t->at, t->at + len,
			leak_is_strong(t->text + t->at, len) ? 0.55 : 0.32);
}

bool form_word(const struct leak_text *t, struct leak_hit *hit)
{
	size_t start, end;
	bool is_quoted;

	return leak_value(t, t->at, &start, &end, &is_quoted) &&
	       form_password(t->text + start, end - start, false, hit, start);
}

/* net use ... /user:NAME VALUE */
bool form_share(const struct leak_text *t, struct leak_hit *hit)
{
	return form_line_has(t, "net use") && t->at < t->end && t->text[t->at] != '/' &&
	       form_word(t, hit);
}

/* net user NAME VALUE */
bool form_account(const struct leak_text *t, struct leak_hit *hit)
{
	return t->at < t->end && t->text[t->at] != '/' && form_word(t, hit);
}

/* ("name", "VALUE"): the quote is open. */
bool form_quoted(const struct leak_text *t, struct leak_hit *hit)
{
	struct leak_text own = *t;

	own.at--;
	return form_word(&own, hit);
}

/* user:VALUE@host:port without a scheme: only what a machine made. */
bool form_host(const struct leak_text *t, struct leak_hit *hit)
{
	const char *p = t->text, *at = memrchr(p + t->line, '@', t->at - t->line), *colon;

	colon = at ? memrchr(p + t->line, ':', (size_t)(at - p) - t->line) : NULL;
	return colon && leak_is_random(colon + 1, (size_t)(at - colon) - 1) &&
	       form_password(colon + 1, (size_t)(at - colon) - 1, false, hit,
			     (size_t)(colon - p) + 1);
}

/* <D>...</D> of a key in XML: the place is within it. */
bool form_xml_key(const struct leak_text *t, struct leak_hit *hit)
{
	size_t start = t->at, end = t->at;

	while (start > t->line && t->text[start - 1] != '>')
		start--;
	while (end < t->end && t->text[end] != '<')
		end++;
	return end - start <= LIMIT_LEAK_VALUE && leak_entropy(t->text + start, end - start) >= 4 &&
	       form_set(hit, start, end, 0.9);
}

/* user:VALUE@tcp(...); the place is behind the parenthesis. */
bool form_source(const struct leak_text *t, struct leak_hit *hit)
{
	const char *at = memrchr(t->text + t->line, '@', t->at - t->line);
	const char *colon = at ? memrchr(t->text + t->line, ':', (size_t)(at - t->text) - t->line)
			       : NULL;

	return colon && form_password(colon + 1, (size_t)(at - colon) - 1, true, hit,
				      (size_t)(colon - t->text) + 1);
}

/* The first of a=b; c=d that logs somebody in. */
bool form_cookie(const struct leak_text *t, struct leak_hit *hit)
{
	static const char *const words[] = {"sess", "auth", "token", "sid", "jwt"};
	const char *p = t->text;
	size_t at = t->at, name;

	while (at < t->end) {
		bool is_login = false;

		while (at < t->end && (form_is_blank(p[at]) || leak_is_any(p[at], "\"';")))
			at++;
		name = at;
		while (at < t->end && (isalnum((unsigned char)p[at]) || leak_is_any(p[at], "_.-")))
			at++;
		if (at == name || at >= t->end || p[at] != '=')
			return false;
		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			is_login |= name_has(p + name, at - name, words[i]);
		name = ++at;
		while (at < t->end &&
		       (isalnum((unsigned char)p[at]) || leak_is_any(p[at], "+/=_-.~%:")))
			at++;
		if (is_login && at - name <= LIMIT_LEAK_VALUE && at - name >= 20 &&
		    leak_is_random(p + name, at - name) &&
		    !leak_is_placeholder(p + name, at - name))
			return form_set(hit, name, at, 0.6);
	}
	return false;
}

/* Twelve to twenty-four plain words, a multiple of three. */
bool form_seed(const struct leak_text *t, struct leak_hit *hit)
{
	const char *p = t->text;
	size_t at = t->at, start, words = 0, end = at;

	while (at < t->end && (form_is_blank(p[at]) || leak_is_any(p[at], "\"'`")))
		at++;
	start = at;
	while (at < t->end && words <= 24) {
		size_t n = at;

		while (n < t->end && islower((unsigned char)p[n]))
			n++;
		if (n - at < 3 || n - at > 8)
			break;
		words++;
		end = n;
		at = n + (n < t->end && p[n] == ' ');
		if (at == n)
			break;
	}
	return words >= 12 && words <= 24 && words % 3 == 0 && form_set(hit, start, end, 0.8);
}

/* mysql -pVALUE: the trigger holds its first character. */
bool form_attached(const struct leak_text *t, struct leak_hit *hit)
{
	struct leak_text own = *t;

	own.at--;
	return form_word(&own, hit);
}

/* zip -P VALUE, 7z -pVALUE: the trigger holds its first character.  unzip -p is another option. */
bool form_archive(const struct leak_text *t, struct leak_hit *hit)
{
	bool is_apart = t->text[t->at - 2] == ' ';
	char option = t->text[t->at - (is_apart ? 3 : 2)];

	if (is_apart ? option != 'P' || !form_line_has(t, "zip")
		     : option != 'p' || !(form_line_has(t, "7z") || form_line_has(t, "rar")))
		return false;
	return form_attached(t, hit);
}

/* scheme://VALUE@host, scheme://VALUE:@host: only what a machine made.  32 digits are the public key of those who watch
 * for errors. */
bool form_url_token(const struct leak_text *t, struct leak_hit *hit)
{
	const char *p = t->text;
	size_t end = t->at - 1, start;

	end -= p[end - 1] == ':';
	for (start = end; start > t->line && p[start - 1] != '/';)
		start--;
	return t->at < t->end && isalnum((unsigned char)p[t->at]) &&
	       !(end - start == 32 && leak_is_hex(p + start, 32)) &&
	       leak_is_random(p + start, end - start) &&
	       !leak_is_placeholder(p + start, end - start) && form_set(hit, start, end, 0.7);
}

/* //host/:_authToken=VALUE */
bool form_npm(const struct leak_text *t, struct leak_hit *hit)
{
	const char *slashes = memmem(t->text + t->line, t->at - t->line, "//", 2);
	size_t start, end;
	bool is_quoted;

	if (!slashes || slashes[2] == '/' || !leak_value(t, t->at, &start, &end, &is_quoted))
		return false;
	if (t->text[start] == '$' || t->text[start] == '{' || t->text[start] == '<' ||
	    end - start < 8)
		return false;
	return form_set(hit, start, end,
			leak_is_placeholder(t->text + start, end - start) ? 0.31 : 0.85);
}

bool leak_form_ask(enum leak_form_id form, const struct leak_text *t, struct leak_hit *hit)
{
	switch (form) {
#define LEAK_FORM(id, what, trigger, function, hit_, miss)                                         \
	case LEAK_FORM_##id:                                                                       \
		return function(t, hit);
#include "secrets/leak_forms.def"
#undef LEAK_FORM
	case LEAK_FORM_COUNT:
		break;
	}
	return false;
}
