/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See lookup.h.  execvpe() is not used because it would search in the new process, where a failed
 * attempt costs more, and because the search must follow the planned environment and directory, not
 * ours.
 */
#include "backend/lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOKUP_DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

static const char *lookup_env(char *const *envp, const char *name)
{
	size_t len = strlen(name);

	for (; *envp; envp++)
		if (strncmp(*envp, name, len) == 0 && (*envp)[len] == '=')
			return *envp + len + 1;
	return NULL;
}

/* Is there a file that we may execute?  0 or -errno. */
static int lookup_check(const char *path)
{
	struct stat st;

	/* A directory of PATH that we may not search has nothing for us, as shells see it. */
	if (stat(path, &st) < 0)
		return errno == EACCES ? -ENOENT : -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

int lookup_command(const char *name, char *const *envp, const char *cwd,
		   char ret_path[static LIMIT_PATH_BYTES])
{
	const char *dirs = lookup_env(envp, "PATH");
	int result = -ENOENT;
	int n;

	if (!*name)
		return -ENOENT;
	if (strchr(name, '/')) {
		/* Relative ones are resolved by execve() after the change of directory. */
		n = snprintf(ret_path, LIMIT_PATH_BYTES, "%s", name);
		return n < 0 || n >= LIMIT_PATH_BYTES ? -ENAMETOOLONG : 0;
	}
	if (!dirs)
		dirs = LOOKUP_DEFAULT_PATH;
	for (;;) {
		size_t len = strcspn(dirs, ":");
		bool is_relative = len == 0 || dirs[0] != '/';
		int r;

		n = snprintf(ret_path, LIMIT_PATH_BYTES, "%s%s%.*s%s%s",
			     is_relative && cwd ? cwd : "", is_relative && cwd ? "/" : "", (int)len,
			     dirs,
			     len                   ? "/"
			     : is_relative && !cwd ? "./"
						   : "",
			     name);
		r = n < 0 || n >= LIMIT_PATH_BYTES ? -ENAMETOOLONG : lookup_check(ret_path);
		if (r == 0)
			return 0;
		if (r == -EACCES)
			result = r; /* what people need to hear, unless a later entry has it */
		if (!dirs[len])
			return result;
		dirs += len + 1;
	}
}
