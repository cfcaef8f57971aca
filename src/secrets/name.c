/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See name.h.
 */
#include "secrets/name.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum {
	NAME_MAX_LOOKED_AT = 128, /* of a longer name only the end */
	NAME_CUT_MAX = 2 * NAME_MAX_LOOKED_AT + 2,
};

/* Names whose value is a secret: these anywhere in the name, without regard to case. */
static const char *const name_anywhere[] = {
	"password",    "passwd",    "passphrase", "secret",        "credential", "apikey",
	"api_key",     "api-key",   "accesskey",  "privatekey",    "signingkey", "masterkey",
	"encryptionk", "sessionid", "session_id", "authorization", "authtoken",  "accesstoken",
};

/* And these as a part of the name between its edges: DB_PASS, --auth, userToken, but not author. */
static const char *const name_parts[] = {
	"pass", "pwd", "key",  "token", "auth",    "bearer", "cookie", "pat",        "jwt",
	"otp",  "psk", "skey", "pw",    "authtok", "dbpass", "bindpw", "remotepass", "userpass",
};

static const char *const name_passwords[] = {"password", "passwd", "passphrase"};
static const char *const name_password_parts[] = {"pass",     "pwd",      "psk",    "pw",
						  "authtok",  "dbpass",   "bindpw", "remotepass",
						  "userpass", "cpassword"};

/* As the last part they turn the name into one about a secret. */
static const char *const name_about_last[] = {
	"name",        "names",        "id",      "ids",       "file",     "files",      "path",
	"paths",       "dir",          "url",     "uri",       "type",     "types",      "length",
	"len",         "size",         "count",   "expiry",    "expires",  "expiration", "ttl",
	"version",     "policy",       "alg",     "algorithm", "field",    "fields",     "label",
	"placeholder", "prompt",       "hint",    "regex",     "pattern",  "format",     "prefix",
	"suffix",      "param",        "params",  "header",    "headers",  "column",     "index",
	"class",       "provider",     "manager", "store",     "storage",  "pair",       "word",
	"words",       "code",         "event",   "map",       "table",    "list",       "set",
	"enabled",     "required",     "reset",   "endpoint",  "host",     "user",       "username",
	"arn",         "ref",          "service", "handler",   "callback", "error",      "message",
	"status",      "state",        "scope",   "scopes",    "audience", "issuer",     "method",
	"function",    "func",         "fn",      "validator", "strength", "min",        "max",
	"confirm",     "confirmation", "input",   "box",       "button",   "text",       "title",
	"description", "env",          "var",     "vault",     "secrets",  "keys",       "tokens",
	"bits",        "usage",        "schema",  "number",    "num",      "domain",     "mode",
	"module",      "level",        "limit",   "timeout",   "date",     "time",       "at",
	"image",       "tag",          "ring",    "source",    "dn",
};

/* Anywhere between edges: the value is for everybody, or of another trade. */
static const char *const name_about_part[] = {
	"public",       "pub",         "site",       "publishable", "csrf",      "xsrf",
	"authenticity", "primary",     "foreign",    "sort",        "partition", "cache",
	"checksum",     "sha",         "digest",     "integrity",   "commit",    "etag",
	"revision",     "fingerprint", "thumbprint", "cursor",      "page",      "next",
	"continuation", "keyword",     "keyboard",   "keypress",    "monkey",    "turkey",
	"hotkey",       "shortcut",    "tokenizer",  "tokenize",    "css",       "locale",
	"translation",  "bypass",      "compass",    "author",      "not",       "no",
	"non",          "example",     "uuid",       "hash",        "hashed",    "verification",
};

static char name_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

bool name_has(const char *name, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (size_t at = 0; at + n <= len; at++)
		if (name_lower(name[at]) == word[0] && strncasecmp(name + at, word, n) == 0)
			return true;
	return false;
}

/* Does a part begin or end between a and b: at the edge of letters, or where camel case turns? */
static bool name_is_edge(char a, char b)
{
	return !isalpha((unsigned char)a) || !isalpha((unsigned char)b) ||
	       (islower((unsigned char)a) && isupper((unsigned char)b));
}

/* A name cut at its edges, in lower case, each part with a blank before and behind: one search finds a
 * part, however many of them there are to look for. */
struct name_cut {
	char text[NAME_CUT_MAX];
	size_t len;
	uint32_t first; /* letters that parts begin with */
};

static void name_cut(const char *name, size_t len, struct name_cut *ret)
{
	ret->len = 0;
	ret->first = 0;
	ret->text[ret->len++] = ' ';
	for (size_t i = 0; i < len; i++) {
		char c = name_lower(name[i]);
		bool is_letter = c >= 'a' && c <= 'z';

		if (i > 0 && name_is_edge(name[i - 1], name[i]))
			ret->text[ret->len++] = ' ';
		if (!is_letter)
			continue;
		if (ret->text[ret->len - 1] == ' ')
			ret->first |= UINT32_C(1) << (c - 'a');
		ret->text[ret->len++] = c;
	}
	while (ret->len > 1 && ret->text[ret->len - 1] == ' ')
		ret->len--;
	ret->text[ret->len++] = ' ';
}

static bool name_cut_has(const struct name_cut *cut, const char *part)
{
	size_t n = strlen(part);

	if (!(cut->first & UINT32_C(1) << (part[0] - 'a')))
		return false;
	for (size_t at = 1; at + n < cut->len; at++)
		if (cut->text[at] == part[0] && cut->text[at - 1] == ' ' &&
		    memcmp(cut->text + at, part, n) == 0 && cut->text[at + n] == ' ')
			return true;
	return false;
}

static bool name_cut_ends(const struct name_cut *cut, const char *part)
{
	size_t n = strlen(part);

	return n + 2 <= cut->len && cut->text[cut->len - n - 2] == ' ' &&
	       memcmp(cut->text + cut->len - n - 1, part, n) == 0;
}

static void name_shorten(const char **name, size_t *len)
{
	if (*len > NAME_MAX_LOOKED_AT) {
		*name += *len - NAME_MAX_LOOKED_AT;
		*len = NAME_MAX_LOOKED_AT;
	}
}

static bool name_promises(const char *name, size_t len, const struct name_cut *cut)
{
	/* $PWD is a directory. */
	if ((len == 3 && memcmp(name, "PWD", 3) == 0) ||
	    (len == 6 && memcmp(name, "OLDPWD", 6) == 0))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(name_parts); i++)
		if (name_cut_has(cut, name_parts[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(name_anywhere); i++)
		if (name_has(name, len, name_anywhere[i]))
			return true;
	return false;
}

bool name_is_secret(const char *name, size_t len)
{
	struct name_cut cut;

	name_shorten(&name, &len);
	name_cut(name, len, &cut);
	return name_promises(name, len, &cut);
}

enum name_kind name_kind(const char *name, size_t len)
{
	struct name_cut cut;

	name_shorten(&name, &len);
	name_cut(name, len, &cut);
	for (size_t i = 0; i < ARRAY_LEN(name_about_last); i++)
		if (name_cut_ends(&cut, name_about_last[i]))
			return NAME_PLAIN;
	for (size_t i = 0; i < ARRAY_LEN(name_about_part); i++)
		if (name_cut_has(&cut, name_about_part[i]))
			return NAME_PLAIN;
	if (!name_promises(name, len, &cut))
		return NAME_PLAIN;
	for (size_t i = 0; i < ARRAY_LEN(name_password_parts); i++)
		if (name_cut_has(&cut, name_password_parts[i]))
			return NAME_PASSWORD;
	for (size_t i = 0; i < ARRAY_LEN(name_passwords); i++)
		if (name_has(name, len, name_passwords[i]))
			return NAME_PASSWORD;
	return NAME_SECRET;
}
