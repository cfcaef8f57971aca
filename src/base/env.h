/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's environment, read in one place. */
#pragma once

#include "base/error.h"

/* secure_getenv(), NULL for empty values too; borrows. */
const char *env_get(const char *name);
/* HOME, else the home of the real uid from /etc/passwd (read by hand: no NSS in a static program).
 * Gives an absolute path; -ENOENT when there is none. */
CORDON_MUST_CHECK int env_home(char **ret);
/* $CORDON_CONFIG_DIR, or $XDG_CONFIG_HOME/cordon, or ~/.config/cordon. */
CORDON_MUST_CHECK int env_config_dir(char **ret);
/* $CORDON_STATE_DIR, or $XDG_STATE_HOME/cordon, or ~/.local/state/cordon. */
CORDON_MUST_CHECK int env_state_dir(char **ret);
/* $XDG_RUNTIME_DIR/cordon, for sockets; -ENOENT when there is none. */
CORDON_MUST_CHECK int env_runtime_dir(char **ret);
