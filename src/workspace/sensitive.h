/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of files that usually hold secrets although they lie in a workspace: they can be opened, and that
 * is written down.
 */
#pragma once

#include <stdbool.h>

/* name: without directory.  Called for every name of a workspace, so most are dismissed by one character. */
bool sensitive_name(const char *name);
/* Every name that decides about it, in a fixed order. */
void sensitive_each(void (*fn)(const char *name, void *arg), void *arg);
