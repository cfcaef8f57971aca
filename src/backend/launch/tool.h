/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs of the machine that hold a sandbox: found in the system's own directories only, and used only when
 * nobody but root can have written them.  PATH is not looked at: it may lead into a workspace.
 */
#pragma once

#include "base/error.h"

#define TOOL_PATH_MAX 64
#define TOOL_WHY_MAX 160

/* The open program and its path, or -errno with the reason in ret_why.  -ENOENT: it is not there. */
CORDON_MUST_CHECK int tool_open(const char *name, char ret_path[static TOOL_PATH_MAX],
				char ret_why[static TOOL_WHY_MAX]);
