/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a text of unknown kind is.  Only what is certain is answered; of the rest nothing is assumed, and more
 * than one inspector reads it.
 */
#pragma once

#include "inspect/inspect.h"

/* path may be NULL.  INSPECT_AUTO when it could be a command or prose. */
enum inspect_kind kind_guess(const char *text, size_t len, const char *path);
