/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SelectSandbox: five words for how much isolation is wanted, answered by the name of a backend and a
 * sentence.  It asks only what is there; a policy is not looked at (that is select.h).
 */
#pragma once

#include "backend/select.h"

#define ISOLATION_TABLE(X)                                                                         \
	X(DEFAULT, "default")                                                                      \
	X(ENHANCED, "enhanced")                                                                    \
	X(CONTAINER, "container")                                                                  \
	X(MAXIMUM, "maximum")                                                                      \
	X(OFF, "off")

enum isolation {
#define ISOLATION_ENUM(id, name) ISOLATION_##id,
	ISOLATION_TABLE(ISOLATION_ENUM)
#undef ISOLATION_ENUM
		ISOLATION_COUNT
};

struct isolation_choice {
	const char *backend; /* a backend's name, or "none" */
	const char *reason;
};

/* Borrows; "invalid" for a value outside the enum. */
const char *isolation_name(enum isolation isolation);
/* 0 or -EINVAL. */
CORDON_MUST_CHECK int isolation_from_name(const char *name, enum isolation *ret);
/* Never fails: "none" is an answer. */
struct isolation_choice select_isolation(enum isolation isolation,
					 const struct candidate *candidates, size_t count);
