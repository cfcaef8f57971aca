/* SPDX-License-Identifier: Apache-2.0 */
/* See fsnames.h: without the C library's list, which allocates for each directory. */
#include "core/fsnames.h"

#include "base/fd.h"

#include <dirent.h>
#include <fcntl.h>

#define FSNAMES_CHUNK_BYTES 8192
#define FSNAMES_CHUNKS_MAX 16 /* some 4,000 names; beyond that most bits would be set */

void fsnames_list(struct fsnames *n, const char *dir)
{
	_Alignas(struct dirent64) char chunk[FSNAMES_CHUNK_BYTES] __attribute__((uninitialized));
	AUTO_CLOSE int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	for (int i = 0; fd >= 0 && i < FSNAMES_CHUNKS_MAX; i++) {
		ssize_t len = getdents64(fd, chunk, sizeof(chunk));

		if (len < 0)
			return;
		n->is_known = len == 0;
		if (n->is_known)
			return;
		for (ssize_t at = 0; at < len;) {
			const struct dirent64 *e = (const void *)(chunk + at);

			fsnames_add(n, e->d_name);
			at += e->d_reclen;
		}
	}
}
