/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets that stop at the boundary.  Inside the sandbox there is only a placeholder; on its way out, over TLS that
 * ends here and only towards what the secret is bound to, it becomes the value.
 */
#pragma once

#include "net/hostrule.h"

#define BOUNDARY_SECRETS_MAX 64     /* of one call */
#define BOUNDARY_VALUE_MAX 8192     /* bytes of one */
#define BOUNDARY_PLACEHOLDER_MIN 16 /* a shorter one would be found by accident */
#define BOUNDARY_PLACEHOLDER_MAX 256

/* Borrows all it points to. */
struct boundary_secret {
	const char *name;
	const char *placeholder;
	const char *value;
	size_t value_len;
	const struct hostrule *hosts;
	size_t n_hosts;
	const char *const *methods; /* NULL-terminated; NULL: all */
	const char *const *paths;   /* globs; NULL: all */
};
