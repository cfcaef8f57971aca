/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See name.h.
 */
#include "secrets/name.h"

#include "base/mem.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { NAME_MAX_LOOKED_AT = 128 }; /* of a longer name only the end */

/* Names whose value is a secret: these anywhere in the name, without regard to case. */
static const char *const name_anywhere[] = {
	"password",    "passwd",    "passphrase", "secret",        "credential", "apikey",
	"api_key",     "api-key",   "accesskey",  "privatekey",    "signingkey", "masterkey",
	"encryptionk", "sessionid", "session_id", "authorization", "authtoken",  "accesstoken",
};

/* And these as a part of the name between its edges: DB_PASS, --auth, userToken, but not author. */
static const char *const name_parts[] = {
	"pass", "pwd", "key", "token", "auth", "bearer", "cookie", "pat", "jwt", "otp",
};

static const char *const name_passwords[] = {"password", "passwd", "passphrase"};
static const char *const name_password_parts[] = {"pass", "pwd"};

/* As the last part they turn the name into one about a secret. */
static const char *const name_about_last[] = {
	"name",      "names",        "id",        "ids",      "file",        "files",
	"path",      "paths",        "dir",       "url",      "uri",         "type",
	"types",     "length",       "len",       "size",     "count",       "expiry",
	"expires",   "expiration",   "ttl",       "version",  "policy",      "alg",
	"algorithm", "field",        "fields",    "label",    "placeholder", "prompt",
	"hint",      "regex",        "pattern",   "format",   "prefix",      "suffix",
	"param",     "params",       "header",    "headers",  "column",      "index",
	"class",     "provider",     "manager",   "store",    "storage",     "pair",
	"word",      "words",        "code",      "event",    "map",         "table",
	"list",      "set",          "enabled",   "required", "reset",       "endpoint",
	"host",      "user",         "username",  "arn",      "ref",         "service",
	"handler",   "callback",     "error",     "message",  "status",      "state",
	"scope",     "scopes",       "audience",  "issuer",   "method",      "function",
	"func",      "fn",           "validator", "strength", "min",         "max",
	"confirm",   "confirmation", "input",     "box",      "button",      "text",
	"title",     "description",  "env",       "var",      "vault",       "secrets",
	"keys",      "tokens",       "bits",      "usage",    "schema",      "value_from",
	"valuefrom", "number",       "num",       "domain",   "mode",        "module",
	"level",     "limit",        "timeout",   "date",     "time",        "at",
	"image",     "tag",          "ring",      "source",   "dn",
};

/* Anywhere between edges: the value is for everybody, or of another trade. */
static const char *const name_about_part[] = {
	"public",    "pub",     "publishable", "csrf",      "xsrf",        "authenticity",
	"primary",   "foreign", "sort",        "partition", "cache",       "checksum",
	"sha",       "sha1",    "sha256",      "sha512",    "md5",         "digest",
	"integrity", "commit",  "etag",        "revision",  "fingerprint", "thumbprint",
	"cursor",    "page",    "next",        "keyword",   "keyboard",    "keystore",
	"keypress",  "monkey",  "turkey",      "hotkey",    "shortcut",    "tokenizer",
	"tokenize",  "css",     "i18n",        "locale",    "translation", "bypass",
	"compass",   "author",  "not",         "no",        "non",         "example",
	"uuid",
};

bool name_has(const char *name, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (size_t at = 0; at + n <= len; at++)
		if (strncasecmp(name + at, word, n) == 0)
			return true;
	return false;
}

/* Does a part begin or end between a and b: at the edge of letters, or where camel case turns? */
static bool name_is_edge(char a, char b)
{
	return !isalpha((unsigned char)a) || !isalpha((unsigned char)b) ||
	       (islower((unsigned char)a) && isupper((unsigned char)b));
}

static bool name_part_at(const char *name, size_t len, size_t at, const char *part, size_t n)
{
	return strncasecmp(name + at, part, n) == 0 &&
	       (at == 0 || name_is_edge(name[at - 1], name[at])) &&
	       (at + n == len || name_is_edge(name[at + n - 1], name[at + n]));
}

bool name_has_part(const char *name, size_t len, const char *part)
{
	size_t n = strlen(part);

	for (size_t at = 0; at + n <= len; at++)
		if (name_part_at(name, len, at, part, n))
			return true;
	return false;
}

static bool name_ends(const char *name, size_t len, const char *part)
{
	size_t n = strlen(part);

	return n <= len && name_part_at(name, len, len - n, part, n);
}

static void name_shorten(const char **name, size_t *len)
{
	if (*len > NAME_MAX_LOOKED_AT) {
		*name += *len - NAME_MAX_LOOKED_AT;
		*len = NAME_MAX_LOOKED_AT;
	}
}

bool name_is_secret(const char *name, size_t len)
{
	name_shorten(&name, &len);
	/* $PWD is a directory. */
	if ((len == 3 && memcmp(name, "PWD", 3) == 0) ||
	    (len == 6 && memcmp(name, "OLDPWD", 6) == 0))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(name_anywhere); i++)
		if (name_has(name, len, name_anywhere[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(name_parts); i++)
		if (name_has_part(name, len, name_parts[i]))
			return true;
	return false;
}

enum name_kind name_kind(const char *name, size_t len)
{
	name_shorten(&name, &len);
	if (!name_is_secret(name, len))
		return NAME_PLAIN;
	for (size_t i = 0; i < ARRAY_LEN(name_about_last); i++)
		if (name_ends(name, len, name_about_last[i]))
			return NAME_PLAIN;
	for (size_t i = 0; i < ARRAY_LEN(name_about_part); i++)
		if (name_has_part(name, len, name_about_part[i]))
			return NAME_PLAIN;
	for (size_t i = 0; i < ARRAY_LEN(name_passwords); i++)
		if (name_has(name, len, name_passwords[i]))
			return NAME_PASSWORD;
	for (size_t i = 0; i < ARRAY_LEN(name_password_parts); i++)
		if (name_has_part(name, len, name_password_parts[i]))
			return NAME_PASSWORD;
	return NAME_SECRET;
}
