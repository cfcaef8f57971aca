/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claw:// URIs: what is accepted, written out again, is the text (or, for the alias claw://KIND/NAME, what
 * it stands for), and its parts are what may stand in a file name.
 */
#include "policy/uri.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 1024 };

static void require(int claim)
{
	if (!claim)
		abort();
}

static void write_out(const struct claw_uri *u, char ret[static TEXT_MAX])
{
	int n = snprintf(ret, TEXT_MAX, "claw://%s/%s/%s%s%s",
			 u->authority == URI_LOCAL ? "local" : "registry",
			 u->authority == URI_LOCAL ? u->kind : u->space, u->name,
			 u->version[0] ? "@" : "", u->version);

	require(n > 0 && n < TEXT_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[TEXT_MAX] = "", out[TEXT_MAX], alias[TEXT_MAX] = "claw://local/";
	struct claw_uri u, v;
	struct cordon_error err = {0};
	int r;

	memcpy(text, data, size < TEXT_MAX - 1 ? size : TEXT_MAX - 1);
	r = claw_uri_parse(text, &u, &err);
	if (r < 0) {
		require(r == CORDON_E_INVALID && err.message[0] && err.hint[0]);
		return 0;
	}
	require(claw_uri_is(text));
	write_out(&u, out);
	if (strcmp(out, text) != 0) {
		(void)snprintf(alias + strlen(alias), sizeof(alias) - strlen(alias), "%s",
			       text + strlen("claw://"));
		require(strcmp(out, alias) == 0);
	}
	require(claw_uri_parse(out, &v, &err) == 0 && memcmp(&u, &v, sizeof(u)) == 0);
	require(claw_name_is_valid(u.name) && !strchr(u.name, '/') && u.name[0] != '.');
	require(u.authority == URI_LOCAL || u.version[0]);
	return 0;
}
