/* SPDX-License-Identifier: Apache-2.0 */
/* See env.h. */
#include "base/env.h"

#include "base/darwin.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#ifdef __APPLE__
#include <crt_externs.h>

/* Nothing of ours has more rights than its caller there; should it, the environment is not believed. */
static char *secure_getenv(const char *name)
{
	size_t len = strlen(name);

	for (char **v = *_NSGetEnviron(); v && *v && !issetugid(); v++)
		if (strncmp(*v, name, len) == 0 && (*v)[len] == '=')
			return *v + len + 1;
	return NULL;
}
#endif

const char *env_get(const char *name)
{
	const char *v = secure_getenv(name);

	return v && *v ? v : NULL;
}

/* Field 6 of the first line of /etc/passwd whose field 3 is uid. */
static int env_passwd_home(uid_t uid, char **ret)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r;

	r = io_read_file_at(AT_FDCWD, "/etc/passwd", LIMIT_PASSWD_BYTES, &text, &len);
	if (r < 0)
		return r;
	for (char *line = text, *next; line && *line; line = next) {
		char *field[7] = {0};
		size_t n = 0;
		int64_t id = 0;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		for (char *p = line; n < ARRAY_LEN(field);) {
			field[n++] = p;
			p = strchr(p, ':');
			if (!p)
				break;
			*p++ = '\0';
		}
		if (n == ARRAY_LEN(field) && parse_int(field[2], 0, UINT32_MAX, &id) == 0 &&
		    (uid_t)id == uid && field[5][0] == '/')
			return path_normalise(field[5], ret);
	}
	return -ENOENT;
}

int env_home(char **ret)
{
	const char *home = env_get("HOME");

	if (home && home[0] == '/')
		return path_normalise(home, ret);
	return env_passwd_home(getuid(), ret);
}

static int env_dir(const char *own, const char *xdg, const char *under_home, char **ret)
{
	AUTO_FREE char *home = NULL;
	const char *v = env_get(own);
	int r;

	if (v)
		return v[0] == '/' ? path_normalise(v, ret) : -EINVAL;
	v = env_get(xdg);
	if (v && v[0] == '/')
		return path_join(v, "cordon", ret);
	r = env_home(&home);
	if (r < 0)
		return r;
	return path_join(home, under_home, ret);
}

int env_config_dir(char **ret)
{
	return env_dir("CORDON_CONFIG_DIR", "XDG_CONFIG_HOME", ".config/cordon", ret);
}

int env_state_dir(char **ret)
{
	return env_dir("CORDON_STATE_DIR", "XDG_STATE_HOME", ".local/state/cordon", ret);
}

int env_runtime_dir(char **ret)
{
	const char *v = env_get("XDG_RUNTIME_DIR");

	return v && v[0] == '/' ? path_join(v, "cordon", ret) : -ENOENT;
}
