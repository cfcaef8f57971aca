/* SPDX-License-Identifier: Apache-2.0 */
/* See checks.h. */
#include "core/checks.h"

#include "net/addr.h"
#include "net/hostrule.h"

#include <string.h>

static int checks_host(const char *text, struct cordon_error *err)
{
	struct hostrule rule;

	return hostrule_parse(text, strlen(text), &rule, err);
}

static int checks_cidr(const char *text, struct cordon_error *err)
{
	struct addr_cidr cidr;

	return addr_cidr_parse(text, &cidr, err);
}

static bool checks_host_covers(const char *wide, const char *narrow)
{
	struct hostrule a, b;

	return hostrule_parse(wide, strlen(wide), &a, NULL) == 0 &&
	       hostrule_parse(narrow, strlen(narrow), &b, NULL) == 0 && hostrule_covers(&a, &b);
}

static bool checks_cidr_covers(const char *wide, const char *narrow)
{
	struct addr_cidr a, b;

	return addr_cidr_parse(wide, &a, NULL) == 0 && addr_cidr_parse(narrow, &b, NULL) == 0 &&
	       addr_cidr_covers(&a, &b);
}

const struct policy_checks core_checks = {
	.host = checks_host,
	.cidr = checks_cidr,
	.host_covers = checks_host_covers,
	.cidr_covers = checks_cidr_covers,
};
