/* SPDX-License-Identifier: Apache-2.0 */
/* See system.h. */
#include "workspace/system.h"

#include <string.h>

const char *const system_dirs[SYSTEM_DIRS] = {
	"/usr",    "/bin", "/sbin", "/lib", "/lib32", "/lib64",
	"/libx32", "/etc", "/opt",  "/nix", "/snap",
};

bool system_has(const char *path)
{
	for (size_t i = 0; i < SYSTEM_DIRS; i++)
		if (strcmp(system_dirs[i], path) == 0)
			return true;
	return false;
}
