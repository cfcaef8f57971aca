/* SPDX-License-Identifier: Apache-2.0 */
/* See sensitive.h. */
#include "workspace/sensitive.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

static const char *const sensitive_dotted[] = {
	".env",   ".envrc",  ".git-credentials", ".htpasswd",    ".netrc",
	".npmrc", ".pgpass", ".pypirc",          ".vault-token",
};

/* Templates without values. */
static const char *const sensitive_harmless[] = {
	".env.dist",
	".env.example",
	".env.sample",
	".env.template",
};

static const char *const sensitive_endings[] = {
	".jks", ".kdbx", ".key", ".keystore", ".p12", ".pem", ".pfx", ".ppk", ".tfstate",
};

static const char *const sensitive_names[] = {
	"credentials.json", "id_dsa",       "id_ecdsa",     "id_ed25519",
	"id_rsa",           "secrets.json", "secrets.yaml", "secrets.yml",
};

static bool sensitive_is_in(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

bool sensitive_name(const char *name)
{
	const char *dot;

	if (name[0] == '.')
		return sensitive_is_in(name, sensitive_dotted, ARRAY_LEN(sensitive_dotted)) ||
		       (str_starts(name, ".env.") &&
			!sensitive_is_in(name, sensitive_harmless, ARRAY_LEN(sensitive_harmless)));
	if (strchr("cis", name[0]) && name[0] &&
	    sensitive_is_in(name, sensitive_names, ARRAY_LEN(sensitive_names)))
		return true;
	dot = strrchr(name, '.');
	return dot && strchr("jkpt", dot[1]) && dot[1] &&
	       sensitive_is_in(dot, sensitive_endings, ARRAY_LEN(sensitive_endings));
}

void sensitive_each(void (*fn)(const char *name, void *arg), void *arg)
{
	static const struct {
		const char *const *names;
		size_t n;
	} tables[] = {
		{sensitive_dotted, ARRAY_LEN(sensitive_dotted)},
		{sensitive_harmless, ARRAY_LEN(sensitive_harmless)},
		{sensitive_endings, ARRAY_LEN(sensitive_endings)},
		{sensitive_names, ARRAY_LEN(sensitive_names)},
	};

	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		for (size_t j = 0; j < tables[i].n; j++)
			fn(tables[i].names[j], arg);
}
