/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the policy's tests and fuzz targets share: a context with fixed paths, simple host and CIDR
 * checks (the real ones live on a higher floor), and finding the tests' data.
 */
#pragma once

#include "base/io.h"
#include "base/mem.h"
#include "base/str.h"
#include "policy/load.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int kit_host(const char *text, struct cordon_error *err)
{
	if (text[0] && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					 "0123456789-.:*[]")] == '\0')
		return 0;
	return cordon_fail(err, CORDON_E_INVALID, "'%.100s' is not a host", text);
}

static int kit_cidr(const char *text, struct cordon_error *err)
{
	if (strchr(text, '/') && text[strspn(text, "0123456789abcdef.:/")] == '\0')
		return 0;
	return cordon_fail(err, CORDON_E_INVALID, "'%.100s' is not a CIDR", text);
}

static bool kit_host_covers(const char *wide, const char *narrow)
{
	if (strcmp(wide, narrow) == 0)
		return true;
	return wide[0] == '*' && wide[1] == '.' && str_ends(narrow, wide + 1);
}

static bool kit_cidr_covers(const char *wide, const char *narrow)
{
	return strcmp(wide, narrow) == 0;
}

static const struct policy_checks kit_checks = {kit_host, kit_cidr, kit_host_covers,
						kit_cidr_covers};

static const struct policy_context kit_context = {
	.workspace = "/srv/repo",
	.home = "/home/u",
	.venv = NULL,
	.tmp = "/tmp",
	.checks = &kit_checks,
};

/* The path of a file of this repository, in a static buffer. */
static inline const char *kit_source(const char *path)
{
	static char buffer[4096];
	const char *root = secure_getenv("SRCDIR");

	(void)snprintf(buffer, sizeof(buffer), "%s/%s", root && *root ? root : ".", path);
	return buffer;
}

/* The same below the shared corpora; NULL when they are not there. */
static inline const char *kit_shared(const char *path)
{
	static char buffer[4096];
	const char *root = secure_getenv("SHARED");

	if (!root || !*root)
		return NULL;
	(void)snprintf(buffer, sizeof(buffer), "%s/%s", root, path);
	return buffer;
}

#define KIT_NEED_SHARED()                                                                          \
	do {                                                                                       \
		if (!kit_shared("")) {                                                             \
			printf("# skip: ../shared not there\n");                                   \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

/* Reads a whole file of at most 64 MiB; the caller frees. */
static inline char *kit_read(const char *path, size_t *ret_len)
{
	char *text = NULL;
	size_t len = 0;

	if (io_read_file_at(AT_FDCWD, path, 64 << 20, &text, &len) < 0) {
		(void)fprintf(stderr, "cannot read %s\n", path);
		return NULL;
	}
	if (ret_len)
		*ret_len = len;
	return text;
}
