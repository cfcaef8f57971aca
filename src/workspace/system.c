/* SPDX-License-Identifier: Apache-2.0 */
/* See system.h. */
#include "workspace/system.h"

#include "base/mem.h"
#include "base/path.h"

#include <string.h>

const char *const system_dirs[SYSTEM_DIRS] = {
	"/usr",    "/bin", "/sbin", "/lib", "/lib32", "/lib64",
	"/libx32", "/etc", "/opt",  "/nix", "/snap",
};

static bool system_leads_to(const char *dir, const char *path)
{
	AUTO_FREE char *real = NULL;

	return path_resolve(dir, &real) == 0 && strcmp(real, path) == 0;
}

bool system_has(const char *path)
{
	for (size_t i = 0; i < SYSTEM_DIRS; i++)
		if (strcmp(system_dirs[i], path) == 0 || system_leads_to(system_dirs[i], path))
			return true;
	return false;
}
