/* SPDX-License-Identifier: Apache-2.0 */
/* See fsgitconfig.h. */
#include "core/fsgitconfig.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/path.h"
#include "core/grants.h"
#include "workspace/gitconfig.h"

#include <fcntl.h>

int fsgitconfig_write(const struct policy *p, const char *home, const char *agent, struct buf *out)
{
	static const char *const files[] = {".config/git/config", ".gitconfig"};
	bool can_sign = agent && grants_has_socket(p, agent);
	bool signs = false;

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		AUTO_FREE char *path = NULL;
		AUTO_FREE char *own = NULL;
		size_t len;

		if (path_join(home, files[i], &path) == 0 &&
		    io_read_file_at(AT_FDCWD, path, FSGITCONFIG_MAX, &own, &len) == 0) {
			gitconfig_subset(own, len, out);
			signs |= can_sign && gitconfig_signing(own, len, home, out);
		}
	}
	/* Without its agent a signature that is asked for would stop every commit. */
	if (!signs)
		buf_str(out, "[commit]\n\tgpgSign = false\n[tag]\n\tgpgSign = false\n");
	return buf_error(out);
}
