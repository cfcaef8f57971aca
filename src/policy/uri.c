/* SPDX-License-Identifier: Apache-2.0 */
/* See uri.h. */
#include "policy/uri.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"

#include <string.h>

static const char *const uri_kinds[] = {
	"identity", "provider", "channel", "tool",      "skill",       "memory",
	"sandbox",  "policy",   "swarm",   "telemetry", "world-model", "claw",
};

static bool uri_is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool uri_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool claw_uri_is(const char *text)
{
	return str_starts(text, "claw://");
}

bool claw_name_is_valid(const char *name)
{
	size_t n = 0;

	if (!uri_is_alnum(name[0]))
		return false;
	for (; name[n]; n++)
		if (!uri_is_alnum(name[n]) && name[n] != '-')
			return false;
	return n < URI_NAME_MAX;
}

bool claw_version_is_valid(const char *version)
{
	const char *p = version;

	for (int part = 0; part < 3; part++) {
		if (!uri_is_digit(*p))
			return false;
		while (uri_is_digit(*p))
			p++;
		if (part < 2 && *p++ != '.')
			return false;
	}
	if (*p == '\0')
		return true;
	if (*p++ != '-' || *p == '\0')
		return false;
	for (; *p; p++)
		if (!uri_is_alnum(*p) && *p != '-' && *p != '.' && *p != '+')
			return false;
	return strlen(version) < URI_NAME_MAX;
}

static bool uri_space_is_valid(const char *s)
{
	if (!uri_is_alnum(*s))
		return false;
	for (; *s; s++)
		if (!uri_is_alnum(*s) && *s != '-' && *s != '.')
			return false;
	return true;
}

static bool uri_kind_is_valid(const char *kind)
{
	for (size_t i = 0; i < ARRAY_LEN(uri_kinds); i++)
		if (strcmp(uri_kinds[i], kind) == 0)
			return true;
	return false;
}

/* Copies up to the next delimiter; moves *p past the piece.  False when it does not fit. */
static bool uri_piece(const char **p, const char *delimiters, char ret[static URI_NAME_MAX])
{
	size_t n = strcspn(*p, delimiters);

	if (n == 0 || n >= URI_NAME_MAX)
		return false;
	memcpy(ret, *p, n);
	ret[n] = '\0';
	*p += n;
	return true;
}

static bool uri_split(const char *p, struct claw_uri *u)
{
	char first[URI_NAME_MAX] = "";

	if (!uri_piece(&p, "/", first) || *p++ != '/')
		return false;
	if (strcmp(first, "registry") == 0) {
		u->authority = URI_REGISTRY;
		if (!uri_piece(&p, "/", u->space) || *p++ != '/' || !uri_space_is_valid(u->space))
			return false;
	} else if (strcmp(first, "local") == 0) {
		if (!uri_piece(&p, "/", u->kind) || *p++ != '/')
			return false;
	} else {
		memcpy(u->kind, first, sizeof(u->kind));
	}
	if (u->authority == URI_LOCAL && !uri_kind_is_valid(u->kind))
		return false;
	if (!uri_piece(&p, "@/", u->name) || !claw_name_is_valid(u->name))
		return false;
	if (*p == '@') {
		p++;
		if (!uri_piece(&p, "/", u->version) || !claw_version_is_valid(u->version))
			return false;
	}
	return *p == '\0' && (u->authority == URI_LOCAL || u->version[0]);
}

int claw_uri_parse(const char *text, struct claw_uri *ret, struct cordon_error *err)
{
	struct claw_uri u = {0};
	int r;

	if (claw_uri_is(text) && strlen(text) <= LIMIT_URI_BYTES &&
	    uri_split(text + strlen("claw://"), &u)) {
		*ret = u;
		return 0;
	}
	r = cordon_fail(err, CORDON_E_INVALID, "not a claw:// URI: '%.200s'", text);
	return cordon_hint(err, r,
			   "claw://local/KIND/NAME[@VERSION] or "
			   "claw://registry/NAMESPACE/NAME@VERSION");
}
