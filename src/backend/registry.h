/* SPDX-License-Identifier: Apache-2.0 */
/* The backends that this build has, listed by hand: what is not in the list cannot be chosen. */
#pragma once

#include "backend/backend.h"
#include "backend/select.h"

#include <stddef.h>

/* Why a known backend that is not in the list cannot be used. */
#define REGISTRY_ABSENT_REASON "not part of this build; a later version brings it"

/* What no backend of this build gives, whatever it says of itself: what stands below them is not there. */
extern const guarantee_set registry_lacks;
/* The backends of this build, strongest first; borrows, *ret_count of them. */
const struct cordon_backend *const *registry_all(size_t *ret_count);
/* A backend by name.  CORDON_E_INVALID for a name that nobody knows (with the nearest one),
 * CORDON_E_NO_BACKEND for a known one that this build does not have. */
CORDON_MUST_CHECK int registry_find(const char *name, const struct cordon_backend **ret,
				    struct cordon_error *err);
/* Probes one.  Code of every level below vm runs on the processor itself; a backend of that level says whether its own
 * does. */
void registry_ask(const struct cordon_backend *b, enum probe_form form, guarantee_set wanted,
		  struct probe *ret);
/* Probes every backend of this build, in the quick form for the wanted guarantees only.  Returns how many
 * candidates were written. */
size_t registry_probe(enum probe_form form, guarantee_set wanted,
		      struct candidate ret[static BACKEND_COUNT]);
/* Probes what backend_select() would look at for the request, best first, and stops at the first that is eligible:
 * no other can be chosen then, and the weaker ones cost nothing.  A name: that one alone. */
size_t registry_probe_for(enum probe_form form, const struct select_request *request,
			  struct candidate ret[static BACKEND_COUNT]);
