/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grants beside directories: devices, graphics processors, caches and single Unix sockets of the host.  What
 * would hand over the machine is refused; what nearly does is said (grants_warnings()).
 */
#pragma once

#include "backend/plan.h"
#include "base/str.h"
#include "policy/policy.h"

/* Adds a step; path and text are copied. */
typedef int grants_add_fn(void *arg, const struct plan_op *op);

struct grants_input {
	const struct policy *policy;
	const char *workspace; /* canonical */
	const char *state_dir;
	grants_add_fn *add;
	void *arg;
};

/* The steps for devices, caches and sockets.  Looks at the host and changes nothing. */
CORDON_MUST_CHECK int grants_add(const struct grants_input *in, struct cordon_error *err);
/* With a granted socket Unix sockets cannot be taken away altogether.  Instead nobody listens on those in the
 * directories of these steps. */
CORDON_MUST_CHECK int grants_seal(const struct grants_input *in, struct plan_op *ops, size_t n,
				  struct cordon_error *err);

/* Makes the directories behind the caches; before a call. */
CORDON_MUST_CHECK int grants_make_caches(const struct policy *p, const char *workspace,
					 const char *state_dir, struct cordon_error *err);
/* Is this path one of the granted sockets, as written or by where it leads? */
bool grants_has_socket(const struct policy *p, const char *path);
/* Adds the variables that belong to what is granted, unless they are there. */
CORDON_MUST_CHECK int grants_environment(const struct policy *p, char *const *environ,
					 struct strv *env);
/* One line for each cache: where it is and how large.  Takes as long as the caches are large. */
CORDON_MUST_CHECK int grants_describe_caches(const struct policy *p, const char *workspace,
					     const char *state_dir, struct strv *ret);
/* One line for each grant that is as good as the machine itself. */
CORDON_MUST_CHECK int grants_warnings(const struct policy *p, struct strv *ret);
