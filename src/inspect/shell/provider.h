/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables that hold a credential of one provider by custom (GITHUB_TOKEN), and the hosts where it belongs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The provider of a variable with this name, as one bit; 0 when it holds no credential that we know the owner of. */
unsigned provider_of(const char *name, size_t len);
/* Does the host belong to one of the providers? */
bool provider_has(unsigned providers, const char *host);
