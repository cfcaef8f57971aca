/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a text of unknown kind is.  Only what is certain is answered; of the rest nothing is assumed, and more
 * than one inspector reads it.
 */
#pragma once

#include "inspect/inspect.h"

/* path may be NULL.  INSPECT_AUTO when it could be a command or prose.  The text's author can steer it, so it only says
 * how a text is read first. */
enum inspect_kind kind_guess(const char *text, size_t len, const char *path);
/* What the name alone says; INSPECT_AUTO when that is nothing. */
enum inspect_kind kind_of_name(const char *path);
/* Is there, anywhere in the text, what could be this language? */
bool kind_may_be(const char *text, size_t len, enum inspect_kind kind);
