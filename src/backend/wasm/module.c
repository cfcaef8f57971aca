/* SPDX-License-Identifier: Apache-2.0 */
/* See module.h. */
#include "backend/wasm/module.h"

#include "backend/wasm/call.h"
#include "backend/wasm/imports.h"
#include "backend/wasm/wasm.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/path.h"
#include "base/str.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

bool wasm_has_module_name(const char *command)
{
	return str_ends(command, ".wasm") || str_ends(command, ".wat");
}

int wasm_module_path(const char *command, const char *cwd, char **ret)
{
	return path_join(cwd ? cwd : "/", command, ret);
}

bool wasm_is_module(const char *command, const char *cwd)
{
	AUTO_FREE char *path = NULL;
	AUTO_CLOSE int fd = -1;
	char magic[WASM_MAGIC_LEN];
	struct stat st;

	if (wasm_has_module_name(command))
		return true;
	if (wasm_module_path(command, cwd, &path) < 0)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       io_read(fd, magic, sizeof(magic), CLOCK_NEVER) == sizeof(magic) &&
	       memcmp(magic, WASM_MAGIC, WASM_MAGIC_LEN) == 0;
}

bool wasm_is_out_of_fuel(const struct cordon_backend *backend, int signal)
{
	return backend && backend->info == &backend_infos[BACKEND_WASM] &&
	       signal == WASM_FUEL_SIGNAL;
}
