/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that only read and judge shut themselves in before they read (backend/confine/reader.h). */
#pragma once

#include "base/error.h"

/* path: what will be read; NULL: only what is open.  Where the kernel cannot do it there is a warning, and the verb goes
 * on: a verdict is no boundary. */
CORDON_MUST_CHECK int cage_enter(const char *path, struct cordon_error *err);
