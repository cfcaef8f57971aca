/* SPDX-License-Identifier: Apache-2.0 */
/* See system.h. */
#include "workspace/system.h"

const char *const system_dirs[SYSTEM_DIRS] = {
	"/usr",    "/bin", "/sbin", "/lib", "/lib32", "/lib64",
	"/libx32", "/etc", "/opt",  "/nix", "/snap",
};
