/* SPDX-License-Identifier: Apache-2.0 */
/* See fsnames.h: macOS's half. */
#include "core/fsnames.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#define FSNAMES_MAX 4096 /* beyond that most bits would be set */

void fsnames_list(struct fsnames *n, const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e = NULL;

	if (!d) {
		(void)fd_close(fd);
		return;
	}
	errno = 0;
	for (int i = 0; i < FSNAMES_MAX && (e = readdir(d)); i++)
		fsnames_add(n, e->d_name);
	n->is_known = !e && errno == 0;
	(void)closedir(d);
}
