/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claw:// URIs: claw://local/KIND/NAME[@VERSION], claw://registry/NAMESPACE/NAME@VERSION, and the
 * alias claw://KIND/NAME, which stands for the first.  Anything else is refused.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

#define URI_NAME_MAX 64

enum uri_authority { URI_LOCAL, URI_REGISTRY };

struct claw_uri {
	enum uri_authority authority;
	char kind[URI_NAME_MAX];  /* local: "sandbox", "policy", "world-model" … */
	char space[URI_NAME_MAX]; /* registry: the namespace */
	char name[URI_NAME_MAX];
	char version[URI_NAME_MAX]; /* "" when there is none */
};

CORDON_MUST_CHECK int claw_uri_parse(const char *text, struct claw_uri *ret,
				     struct cordon_error *err);
bool claw_uri_is(const char *text);
/* 1 to 63 letters, digits and hyphens, not starting with a hyphen. */
bool claw_name_is_valid(const char *name);
/* MAJOR.MINOR.PATCH with an optional -suffix. */
bool claw_version_is_valid(const char *version);
